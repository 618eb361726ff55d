//! The files of `packaging/registry`: the programs that read them recognize arrays and packs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::foreign::installed;
use crate::python::Python;
use crate::skips::is_long;
use crate::spec::vectors;

fn registry(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/registry").join(file)
}

fn vector(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(file)
}

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn file_recognizes_arrays_and_packs() {
    if !installed(&["file"]) {
        return;
    }
    let file = |name: &str, option: &str| {
        let magic = registry("ra-pack.magic");
        let mut command = Command::new("file");
        command.args(["--brief", option, "-m"]).args([&magic, &vector(name)]);
        printed(&mut command).trim_end().to_owned()
    };
    for (name, expected) in [
        ("arrays/int16-3x2.ra", "RawArray data, signed integers of 2 bytes, dimensions 3x2"),
        ("arrays/scalar.ra", "RawArray data, floats of 8 bytes, no dimensions"),
        (
            "arrays/be-int16.ra",
            "RawArray data, big-endian, signed integers of 2 bytes, dimensions 2",
        ),
        ("arrays/lz4.ra", "RawArray data, encoded, unsigned integers of 1 bytes, dimensions 20"),
        ("packs/plain.zip", "ra-pack archive (zip)"),
        ("packs/bag.zip", "ra-pack archive (zip)"),
        ("packs/two-digests.zip", "ra-pack archive (zip)"),
    ] {
        assert_eq!(file(name, "--raw"), expected);
    }
    assert_eq!(file("arrays/scalar.ra", "--mime-type"), "application/x-rawarray");
    assert!(!file("packs/bad-after.zip", "--raw").contains("ra-pack archive"));
}

/// Every array is recognized by its content, also without the extension, which `RealAudio` has too.
#[test]
fn desktops_recognize_arrays() {
    if !installed(&["update-mime-database", "xdg-mime", "mimetype"]) {
        return;
    }
    let home = TempDir::new().unwrap();
    let packages = home.path().join("mime/packages");
    fs::create_dir_all(&packages).unwrap();
    fs::copy(registry("ra-pack.xml"), packages.join("ra-pack.xml")).unwrap();
    let known = Path::new("/usr/share/mime/packages/freedesktop.org.xml");
    if known.exists() {
        fs::copy(known, packages.join("freedesktop.org.xml")).unwrap();
    }
    printed(Command::new("update-mime-database").arg(home.path().join("mime")));
    let nameless = home.path().join("array");
    fs::copy(vector("arrays/float64.ra"), &nameless).unwrap();
    for file in [vector("arrays/float64.ra"), nameless] {
        let mut query = Command::new("xdg-mime");
        query.args(["query", "filetype"]).arg(file);
        query.env("XDG_DATA_HOME", home.path()).env("XDG_DATA_DIRS", home.path());
        assert_eq!(printed(&mut query).trim_end(), "application/x-rawarray");
    }
}

#[test]
fn fido_recognizes_arrays_and_packs() {
    let Some(python) = Python::with(&["fido"]) else { return };
    let mut command = python.command();
    command.args(["-m", "fido.fido", "-q", "-nocontainer", "-loadformats"]);
    command.arg(registry("fido.xml"));
    command.args(["arrays/float64.ra", "packs/plain.zip", "packs/bag.zip"].map(vector));
    let printed = printed(&mut command);
    let types: Vec<_> = printed.lines().map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(types, ["ra-pack/1", "ra-pack/2", "ra-pack/2"], "{printed}");
}

/// FIDO reads container signatures of DROID. The configuration of this test has only ours, and the formats of PRONOM that
/// FIDO brings.
#[test]
fn fido_recognizes_packs_by_what_is_in_the_container() {
    const KNOWN: &str =
        "import fido, os; print(os.path.join(os.path.dirname(fido.__file__), 'conf'))";
    const FORMATS: &str = "<formats><format><puid>ra-pack/2</puid><mime>application/zip</mime>\
        <name>ra-pack archive</name><extension>zip</extension></format></formats>";
    let Some(python) = Python::with(&["fido"]) else { return };
    let known = printed(python.command().args(["-c", KNOWN]));
    let (known, home) = (Path::new(known.trim_end()), TempDir::new().unwrap());
    let versions = fs::read_to_string(known.join("versions.xml")).unwrap();
    let value = |tag: &str| {
        let (_, rest) = versions.split_once(&format!("<{tag}>")).unwrap();
        rest.split_once('<').unwrap().0
    };
    for file in [value("pronomSignature"), value("fidoExtensionSignature")] {
        fs::copy(known.join(file), home.path().join(file)).unwrap();
    }
    let ours = "droid-container-signature.xml";
    fs::copy(registry(ours), home.path().join(ours)).unwrap();
    let versions_of_test = versions.replace(value("pronomContainerSignature"), ours);
    fs::write(home.path().join("versions.xml"), versions_of_test).unwrap();
    let formats = home.path().join("formats.xml");
    fs::write(&formats, FORMATS).unwrap();
    let mut command = python.command();
    command.args(["-m", "fido.fido", "-q", "-confdir"]).arg(home.path());
    command.arg("-loadformats").arg(&formats);
    // A generated description makes a zip a pack; the last three have none, or one below a directory.
    let names = ["plain", "attributes", "blocks", "empty", "deflate", "bag", "top-directory"];
    command.args(names.map(|name| vector(&format!("packs/{name}.zip"))));
    let printed = printed(&mut command);
    let found = printed.lines().map(|line| {
        let mut cells = line.split(',');
        (cells.nth(2).unwrap(), cells.next_back().unwrap())
    });
    let pack = ("ra-pack/2", "\"container\"");
    let zip = ("x-fmt/263", "\"signature\"");
    assert_eq!(found.collect::<Vec<_>>(), [pack, pack, pack, pack, zip, zip, zip], "{printed}");
}

/// The sequences of the DROID signatures occur at their offsets in each valid vector.
#[test]
fn the_droid_signatures_match_the_vectors() {
    let text = fs::read_to_string(registry("droid-signature.xml")).unwrap();
    let sequences: Vec<Vec<u8>> = text
        .split("<Sequence>")
        .skip(1)
        .map(|rest| {
            let (hex, _) = rest.split_once("</Sequence>").unwrap();
            let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
            pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
        })
        .collect();
    let [array, zip, end] = &sequences[..] else { panic!("{sequences:?}") };
    for vector in vectors("arrays").iter().filter(|vector| vector["valid"] == true) {
        let bytes = fs::read(self::vector(vector["file"].as_str().unwrap())).unwrap();
        assert!(bytes.starts_with(array), "{}", vector["file"]);
    }
    assert!(text.contains("SubSeqMinOffset=\"18\" SubSeqMaxOffset=\"18\""));
    for name in ["plain", "bag", "empty", "bag-empty", "blocks", "minimal"] {
        let bytes = fs::read(vector(&format!("packs/{name}.zip"))).unwrap();
        assert!(bytes.starts_with(zip) && bytes[..bytes.len() - 18].ends_with(end), "{name}");
    }
}

/// The compiler is a large package of npm, which only the long gate installs.
#[test]
#[ignore = "needs the Kaitai compiler"]
fn kaitai_reads_the_vectors() {
    const PROGRAM: &str = "
const fs = require('fs'), [description, ...files] = process.argv.slice(1);
const compiler = require('kaitai-struct-compiler'), Stream = require('kaitai-struct/KaitaiStream');
(async () => {
  const made = await compiler.compile('javascript', require('js-yaml').load(fs.readFileSync(description, 'utf8')), null);
  fs.writeFileSync('Rawarray.js', made['Rawarray.js']);
  const { Rawarray } = require(process.cwd() + '/Rawarray.js');
  for (const file of files) {
    try {
      const read = new Rawarray(new Stream(fs.readFileSync(file)));
      console.log([read.eltype, read.elbyte, ...read.dims].join(' '));
    } catch (error) {
      console.log('rejected');
    }
  }
})();";
    if !is_long() {
        return;
    }
    let Some(modules) = std::env::var_os("RA_PACK_TEST_NODE") else {
        panic!("RA_PACK_TEST_NODE names no directory with the modules");
    };
    let home = TempDir::new().unwrap();
    let all: Vec<_> = vectors("arrays")
        .into_iter()
        .filter(|vector| vector["errors"] != serde_json::json!(["RA002"]))
        .collect();
    let files = all.iter().map(|vector| self::vector(vector["file"].as_str().unwrap()));
    let mut command = Command::new("node");
    command.args(["-e", PROGRAM]).arg(registry("rawarray.ksy")).args(files);
    command.env("NODE_PATH", Path::new(&modules).join("node_modules")).current_dir(home.path());
    for (line, vector) in printed(&mut command).lines().zip(&all) {
        // A description of the layout knows neither the product of the dimensions nor the widths of each kind.
        if vector["valid"] == true {
            let dims = vector["dims"].as_array().unwrap().iter().map(|dim| format!(" {dim}"));
            let dims: String = dims.collect();
            assert_eq!(
                line,
                format!("{} {}{dims}", vector["eltype"], vector["elbyte"]),
                "{}",
                vector["file"]
            );
        }
    }
}
