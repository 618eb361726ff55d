//! Directories of files in any format, and several inputs at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{convert, description, npy};
use crate::experiment::{FLOAT32, INT16, UINT8, raw_array, read_tree};
use crate::run::{ENDINGS, Ran, create, names_in, ra};

/// Returns a typical directory: arrays in several formats, descriptions of some, and notes.
fn data() -> TempDir {
    let home = TempDir::new().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = home.path().join("data").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    let bytes = |text: &str| npy("'|u1'", false, "(2, 3)", text.as_bytes());
    write("a.npy", &bytes("abcdef"));
    write("run1/time.npy", &npy("'|u1'", false, "(3,)", b"123"));
    write("run1/b.NPY", &bytes("ghijkl"));
    let members = [("c.npy".to_owned(), bytes("mnopqr")), ("d.npy".to_owned(), bytes("stuvwx"))];
    write("results.npz", &crate::raw_zip::Zip::of(&members).to_bytes());
    write("run1/old.ra", &raw_array(INT16, &[2], &[1, 0, 2, 0]));
    write("run1/old.yaml", OLD.as_bytes());
    write("notes.txt", b"calibrated in May");
    write("run1/setup.yaml", b"gain: 3\n");
    fs::create_dir_all(home.path().join("data/later")).unwrap();
    home
}

/// Hand-written description.
const OLD: &str = "# by hand\nndarrays: {old: {shape: [2], type: int16, attributes: {units: K}}}\n";

fn broken(home: &TempDir) {
    let data = home.path().join("data");
    fs::write(data.join("run1/object.npy"), npy("'|O'", false, "(1,)", b"cos\nsystem\n.")).unwrap();
    fs::write(data.join("cut.npy"), npy("'|u1'", false, "(2, 3)", b"abc")).unwrap();
    fs::write(data.join("cut.ra"), b"rawarr").unwrap();
}

const CONVERTED: [&str; 15] = [
    "a.ra",
    "a.yaml",
    "later/",
    "notes.txt",
    "results/c.ra",
    "results/c.yaml",
    "results/d.ra",
    "results/d.yaml",
    "run1/b.ra",
    "run1/b.yaml",
    "run1/old.ra",
    "run1/old.yaml",
    "run1/setup.yaml",
    "run1/time.ra",
    "run1/time.yaml",
];

fn names(tree: &BTreeMap<String, Vec<u8>>) -> Vec<&str> {
    tree.keys().map(String::as_str).collect()
}

#[test]
fn a_directory_keeps_its_tree_and_its_other_files() {
    let home = data();
    let path = |name: &str| home.path().join(name);
    let ran = convert(&path("data"), &path("mine"), &[]).exits(0);
    ran.says(&[
        "a.npy -> a.ra: uint8 [2, 3], column, reordered",
        "results.npz/d -> results/d.ra",
        "run1/b.NPY -> run1/b.ra",
        "notes.txt: copied",
        "wrote 6 arrays and 2 other files",
    ]);
    let tree = read_tree(&path("mine"));
    assert_eq!(names(&tree), CONVERTED);
    assert!(path("mine/later").is_dir());
    assert_eq!(tree["a.ra"], raw_array(UINT8, &[2, 3], b"adbecf"));
    assert_eq!(tree["run1/old.yaml"], OLD.as_bytes());
    assert_eq!(tree["notes.txt"], b"calibrated in May");
    ra("validate", &[&path("mine")], &[]).exits(0);
    for ending in ENDINGS {
        let archive = path(&format!("mine{ending}"));
        convert(&path("data"), &archive, &[]).exits(0);
        ra("verify", &[&archive], &[]).exits(0).says(&["6 arrays"]);
        let out = path(&format!("out{ending}.d"));
        crate::run::extract(&archive, &out, &["-q"]).exits(0);
        let mut unpacked = read_tree(&out);
        unpacked.retain(|name, _| !name.starts_with("manifest"));
        assert_eq!(unpacked, tree, "{ending}");
    }
    // The directory can be converted to another format.
    convert(&path("data"), &path("x.npz"), &[]).exits(0).says(&["run1/b", "notes.txt"]);
    convert(&path("data"), &path("b.npy"), &["--member", "run1/b", "--order", "row"]).exits(0);
    assert_eq!(fs::read(path("b.npy")).unwrap(), fs::read(path("data/run1/b.NPY")).unwrap());
    convert(&path("data"), &path("d.ra"), &["--member", "results/d"]).exits(0);
    convert(&path("data"), &path("e.ra"), &["--member", "results/e"]).exits(2).says(&["results/d"]);
}

#[test]
fn files_that_cannot_be_converted_are_named_and_the_others_converted() {
    let home = data();
    broken(&home);
    let path = |name: &str| home.path().join(name);
    let ran = convert(&path("data"), &path("mine"), &[]).exits(1);
    ran.says(&[
        "3 files could not be converted:",
        "  cut.npy: byte 131",
        "error[RA001]",
        "data/cut.ra, byte 6",
        "  cut.ra: expected a header of 48 bytes",
        "  run1/object.npy: the array contains Python objects",
    ]);
    assert_eq!(names(&read_tree(&path("mine"))), CONVERTED);
    let ran = convert(&path("data"), &path("mine.zip"), &["--json"]).exits(1);
    let failed: Vec<_> = ran.json()["failed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failed| failed["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(failed, ["cut.ra", "run1/object.npy", "cut.npy"]);
    ra("verify", &[&path("mine.zip")], &[]).exits(0);
    // A file of several arrays is written only if all can be converted.
    convert(&path("data"), &path("mine.npz"), &[]).exits(1);
    assert!(!path("mine.npz").exists());
    // One array is converted despite errors in the others.
    convert(&path("data"), &path("a.ra"), &["--member", "a"]).exits(0);
    convert(&path("data"), &path("o.ra"), &["--member", "run1/object"]).exits(2).says(&["Python"]);
    // Without any array, there is no output.
    let bad = path("bad");
    fs::create_dir(&bad).unwrap();
    fs::write(bad.join("x.npy"), b"nonsense").unwrap();
    convert(&bad, &path("none"), &[]).exits(1).says(&["x.npy", "byte 0"]);
    assert!(!path("none").exists());
    assert!(names_in(home.path()).iter().all(|name| !name.contains("unfinished")));
}

fn convert_all(inputs: &[&Path], output: &Path, options: &[&str]) -> Ran {
    let paths: Vec<_> = inputs.iter().copied().chain([output]).collect();
    ra("convert", &paths, options)
}

#[test]
fn several_inputs_are_converted_into_one_directory_that_may_exist() {
    let home = data();
    let path = |name: &str| home.path().join(name);
    let (a, b, notes) = (path("data/a.npy"), path("data/run1/b.NPY"), path("data/notes.txt"));
    convert_all(&[&a, &b], &path("x.npy"), &[]).exits(2).says(&["is a .npy"]);
    convert_all(&[&a, &notes], &path("mine"), &[]).exits(0).says(&["1 other file"]);
    assert_eq!(names_in(&path("mine")), ["a.ra", "a.yaml", "notes.txt"]);
    convert_all(&[&b, &path("data/results.npz")], &path("mine/"), &[]).exits(0);
    // `b` exists.
    convert_all(&[&path("data/run1")], &path("mine"), &["--arrays-only"])
        .exits(2)
        .says(&["--force"]);
    let rest = [path("data/run1/old.ra"), path("data/run1/time.npy")];
    convert_all(&[&rest[0], &rest[1]], &path("mine"), &[]).exits(0);
    let before = read_tree(&path("mine"));
    let stems = ["a", "b", "old", "results/c", "results/d", "time"];
    let mut expected: Vec<_> =
        ["ra", "yaml"].iter().flat_map(|end| stems.map(|stem| format!("{stem}.{end}"))).collect();
    expected.push("notes.txt".to_owned());
    expected.sort();
    assert_eq!(names(&before), expected);
    // Existing files are refused before anything is written.
    let new = path("new.npy");
    fs::copy(&a, &new).unwrap();
    let ran = convert_all(&[&new, &a], &path("mine"), &[]).exits(2);
    ran.says(&["2 files exist in", "`a.ra`, `a.yaml`", "--force"]);
    assert_eq!(read_tree(&path("mine")), before);
    // A hand-written description stays as long as it fits.
    let text = fs::read_to_string(path("mine/a.yaml")).unwrap() + "    attributes: {units: K}\n";
    fs::write(path("mine/a.yaml"), &text).unwrap();
    convert_all(&[&new, &a], &path("mine"), &["--force"])
        .exits(0)
        .says(&["still describes the array"]);
    assert_eq!(fs::read_to_string(path("mine/a.yaml")).unwrap(), text);
    fs::write(path("a.npy"), npy("'|u1'", false, "(2,)", b"ab")).unwrap();
    convert(&path("a.npy"), &path("mine"), &["--force"]).exits(0).says(&["another shape"]);
    let now = description(&path("mine/a.ra"));
    assert!(now.contains("shape: [2]") && now.contains("units: K"), "{now}");
    // Directories keep their names.
    convert_all(&[&a, &path("data/run1")], &path("both.zip"), &[]).exits(0);
    ra("list", &[&path("both.zip")], &[]).exits(0).says(&["run1/b.ra", "run1/old.ra", "a.ra"]);
    ra("convert", &[&a, &b, Path::new("-o"), &path("o")], &[]).exits(0);
    assert_eq!(names_in(&path("o")).len(), 4);
    ra("convert", &[&a], &[]).exits(2).says(&["the output is missing"]);
    convert(&path("data"), &path("data/mine"), &[]).exits(2).says(&["would be inside"]);
    convert(&path("data"), &path("data"), &[]).exits(2).says(&["would be inside"]);
}

#[test]
fn a_description_next_to_an_array_of_another_format_is_its_description() {
    let home = data();
    let path = |name: &str| home.path().join(name);
    let describe = |name: &str, text: &str| fs::write(path("data").join(name), text).unwrap();
    let a = "# mine\nndarrays:\n  a:\n    shape: [2, /run1/time]\n    type: uint8\n";
    describe("a.yaml", a);
    describe("run1/time.yaml", "dimcoords:\n  time: {size: 3, type: uint8}\n");
    let row = "ndarrays:\n  b: {shape: [2, time], type: uint8, storage: {order: row}}\n";
    describe("run1/b.yaml", row);
    convert(&path("data"), &path("mine.zip"), &[]).exits(0);
    ra("verify", &[&path("mine.zip")], &[]).exits(0);
    convert(&path("data"), &path("mine"), &[]).exits(0).says(&["a.ra: uint8 [2, /run1/time 3]"]);
    let tree = read_tree(&path("mine"));
    assert_eq!(tree["a.yaml"], a.as_bytes());
    assert_eq!(tree["run1/b.yaml"], row.as_bytes());
    assert_eq!(tree["run1/b.ra"], raw_array(UINT8, &[3, 2], b"ghijkl"), "not a byte was moved");
    // For another order, the description is generated again.
    convert(&path("data"), &path("columns"), &["--order", "column"]).exits(0);
    let columns = read_tree(&path("columns"));
    assert_eq!(columns["run1/b.ra"], raw_array(UINT8, &[2, 3], b"gjhkil"));
    assert!(!String::from_utf8_lossy(&columns["run1/b.yaml"]).contains("order"));
    assert!(String::from_utf8_lossy(&columns["run1/b.yaml"]).contains("[2, time]"));
    // A single array cannot refer to coordinates that do not exist.
    let (a, yaml) = (path("data/a.npy"), path("data/a.yaml"));
    convert_all(&[&a, &yaml], &path("alone.zip"), &[])
        .exits(0)
        .says(&["dimension names (/run1/time)"]);
    ra("verify", &[&path("alone.zip")], &[]).exits(0);
    // A description that does not fit is an error of its array.
    describe("a.yaml", "ndarrays: {a: {shape: [3, 2], type: uint8}}\n");
    let ran = convert(&path("data"), &path("wrong"), &[]).exits(1);
    ran.says(&[
        "error[DESC004]",
        "data/a.yaml:1:23",
        "1 file could not be converted",
        "  a.npy: the shape",
    ]);
}

#[test]
fn the_document_of_a_pack_is_copied() {
    let home = data();
    let path = |name: &str| home.path().join(name);
    let text = "# whole\n/:\n  attributes: {title: a test}\n  ndarrays:\n    a: {shape: [2, 3], type: uint8}\n";
    fs::write(path("data/manifest.yaml"), text).unwrap();
    convert(&path("data"), &path("mine"), &[]).exits(0);
    let tree = read_tree(&path("mine"));
    assert_eq!(tree["manifest.yaml"], text.as_bytes());
    assert!(!tree.contains_key("a.yaml"), "the document describes it");
    ra("validate", &[&path("mine")], &[]).exits(0);
    convert(&path("data"), &path("mine.zip"), &[]).exits(0);
    ra("verify", &[&path("mine.zip")], &[]).exits(0);
    // The document would be wrong after the change.
    let ran = convert(&path("data"), &path("row"), &["--order", "row"]).exits(0);
    ran.says(&["`manifest.yaml` is not copied: the conversion changed arrays"]);
    assert!(description(&path("row/a.ra")).contains("order: row"));
    ra("validate", &[&path("row")], &[]).exits(0);
    // A generated document is generated again.
    crate::run::extract(&path("mine.zip"), &path("out"), &[]).exits(0);
    convert(&path("out"), &path("again"), &["--order", "row"]).exits(0);
    ra("validate", &[&path("again")], &[]).exits(0);
}

#[test]
fn one_dimensional_arrays_of_known_names_become_coordinates() {
    let home = data();
    let path = |name: &str| home.path().join(name);
    let ran = convert(&path("data"), &path("mine"), &["--dimcoords"]).exits(0);
    ran.says(&[
        "run1/b.ra: uint8 [2, time 3]",
        "run1/time.ra: uint8 [time 3]",
        "a.ra: uint8 [2, 3]",
    ]);
    assert!(
        description(&path("mine/run1/time.ra")).starts_with("dimcoords:\n  time:\n    size: 3\n")
    );
    assert!(description(&path("mine/run1/b.ra")).contains("shape: [2, time]"));
    ra("validate", &[&path("mine")], &[]).exits(0);
    convert(&path("data"), &path("x.npz"), &["--dimcoords"]).exits(2).says(&["--dimcoords"]);
    // Also in an existing directory.
    convert(&path("data/run1/time.npy"), &path("later"), &[]).exits(0);
    let ran = convert(&path("data/run1/b.NPY"), &path("later"), &["--dimcoords"]).exits(0);
    ran.says(&["b.ra: uint8 [2, time 3]"]);
    ra("validate", &[&path("later")], &[]).exits(0);
}

#[test]
fn create_suggests_the_command_that_converts_plain_files() {
    let home = data();
    let path = |name: &str| home.path().join(name);
    let ran = create(&path("data"), &path("x.zip"), &[]).exits(0);
    let ran = ran.says(&[
        "3 .npy files and 1 .npz file are packed as plain files",
        "arrays that are not described",
    ]);
    let command = format!("{} {} --force", path("data").display(), path("x.zip").display());
    ran.says(&[&format!("`ra-pack convert {command}`")]);
    crate::run::run(format!("convert {command}").split(' ')).exits(0);
    assert!(
        !create(&path("data"), &path("y.zip"), &["--exclude", "*.np*", "--exclude", "*.NPY"])
            .exits(0)
            .err
            .contains("RA005")
    );
    let foreign = path("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("x.mat"), b"MATLAB 5").unwrap();
    fs::write(foreign.join("x.csv"), b"1,2\n").unwrap();
    let ran = convert(&foreign, &path("out"), &[]).exits(2);
    ran.says(&["no arrays", "1 .csv file and 1 .mat file", ".npy or NetCDF"]);
}

#[test]
fn losses_are_one_line_per_array_and_never_quiet() {
    let home = data();
    let path = |name: &str| home.path().join(name);
    let text = "ndarrays: {x: {shape: [1], type: float32, attributes: {units: K, a: 1, b: 2}, storage: {fillvalue: 9}}}\n";
    fs::write(path("x.ra"), raw_array(FLOAT32, &[1], &[0; 4])).unwrap();
    fs::write(path("x.yaml"), text).unwrap();
    let ran = convert(&path("x.ra"), &path("x.npy"), &[]).exits(0);
    let warnings: Vec<_> = ran.err.lines().filter(|line| line.starts_with("warning")).collect();
    assert_eq!(
        warnings,
        [
            "warning: x: the attributes `units`, `a`, `b` are dropped; `storage.fillvalue` is dropped"
        ]
    );
    let ran = convert(&path("x.ra"), &path("x.npy"), &["-q", "--force"]).exits(0);
    assert_eq!(ran.said(), format!("{}\n", warnings[0]));
    let ran = ra("get", &[&path("x.ra")], &["-q", "-o", path("y.npy").to_str().unwrap()]).exits(0);
    assert_eq!(ran.said().matches("`storage.fillvalue` is dropped").count(), 1);
}

#[test]
fn pictures_are_copied_and_files_left_out_on_request() {
    let home = data();
    let path = |name: &str| home.path().join(name);
    convert(&path("data/a.npy"), &path("data/run1/figure.png"), &[]).exits(0);
    convert(&path("data"), &path("copied"), &["--exclude", "*.npz", "--exclude", "run1/old*"])
        .exits(0)
        .says(&["run1/figure.png: copied", "wrote 3 arrays and 3 other files"]);
    let left_out = ["results/", "run1/old"];
    let mut wanted = CONVERTED.to_vec();
    wanted.retain(|name| left_out.iter().all(|start| !name.starts_with(start)));
    wanted.push("run1/figure.png");
    wanted.sort_unstable();
    assert_eq!(names(&read_tree(&path("copied"))), wanted);
    let ran = convert(&path("data"), &path("converted"), &["--images"]).exits(0);
    ran.says(&["run1/figure.png -> run1/figure.ra: uint8 [2, 3]"]);
    // Several inputs are named one by one.
    let picture = path("data/run1/figure.png");
    convert_all(&[&path("data/a.npy"), &picture], &path("both"), &[])
        .exits(0)
        .says(&["figure.png -> figure.ra"]);
    convert(&path("data"), &path("all.zip"), &[]).exits(0);
    convert(&path("all.zip"), &path("part"), &["--exclude", "run1"]).exits(0);
    assert!(!path("part/run1").exists() && path("part/a.ra").exists());
    convert(&path("data/a.npy"), &path("all.zip"), &[])
        .exits(2)
        .says(&["all.zip` exists", "ra-pack add --convert"]);
}

#[test]
#[cfg(unix)] // links
fn links_are_followed_on_request() {
    let home = data();
    let path = |name: &str| home.path().join(name);
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, path(name)).unwrap();
    fs::rename(path("data/run1"), path("elsewhere")).unwrap();
    fs::rename(path("data/notes.txt"), path("my notes")).unwrap();
    link("../elsewhere", "data/run1");
    link("../my notes", "data/notes.txt");
    convert(&path("data"), &path("without"), &[]).exits(1).says(&[
        "2 files could not be converted",
        "follow it with --dereference, or leave it out with --exclude",
    ]);
    convert(&path("data"), &path("with"), &["--dereference"]).exits(0);
    assert_eq!(names(&read_tree(&path("with"))), CONVERTED);
    link("gone", "data/dangling.npy");
    convert(&path("data"), &path("no"), &["--dereference"]).exits(1).says(&["leads to nothing"]);
    convert(&path("data"), &path("rest"), &["--exclude", "run1", "--exclude", "notes.txt"])
        .exits(1)
        .says(&["1 file could not be converted", "dangling.npy"]);
}

#[test]
#[cfg(unix)] // links
fn links_are_reported_and_not_followed() {
    let home = data();
    let path = |name: &str| home.path().join(name);
    std::os::unix::fs::symlink("/etc", path("data/etc")).unwrap();
    std::os::unix::fs::symlink("a.npy", path("data/z.npy")).unwrap();
    let ran = convert(&path("data"), &path("mine"), &[]).exits(1);
    ran.says(&["2 files could not be converted", "  etc: ", "  z.npy: "]);
    assert_eq!(names(&read_tree(&path("mine"))), CONVERTED);
    // Nothing is written through a link in the output directory.
    fs::remove_dir_all(path("mine/run1")).unwrap();
    std::os::unix::fs::symlink(home.path(), path("mine/run1")).unwrap();
    convert(&path("data/run1"), &path("more"), &[]).exits(0);
    let both = convert_all(&[&path("data/a.npy"), &path("data/run1")], &path("mine"), &["--force"]);
    both.exits(2).says(&["`run1` cannot be created", "not a directory"]);
    assert!(!path("b.ra").exists());
    // Nothing is written if one of the outputs cannot be.
    fs::remove_file(path("mine/run1")).unwrap();
    fs::create_dir_all(path("mine/run1/b.ra")).unwrap();
    fs::remove_file(path("mine/a.ra")).unwrap();
    let ran = convert_all(&[&path("data/a.npy"), &path("data/run1")], &path("mine"), &["--force"]);
    ran.exits(2).says(&["b.ra", "it is a directory"]);
    assert!(!path("mine/a.ra").exists());
}
