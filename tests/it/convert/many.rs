//! Formats that hold several arrays, and pictures.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::{convert, floats, npy};
use crate::experiment::{Element, Experiment, FLOAT32, UINT8, raw_array, read_tree};
use crate::python::Python;
use crate::run::{pack, ra};

/// Returns every array of a pack by name, in the order of its shape.
fn elements(archive: &Path) -> Vec<(String, Vec<u8>)> {
    let scratch = TempDir::new().unwrap();
    let out = scratch.path().join("x.npy");
    let list = ra("list", &[archive], &["--json"]).exits(0).json();
    let members = list["members"].as_array().unwrap().iter();
    let arrays = members.filter(|member| member.get("array").is_some());
    arrays
        .map(|member| {
            let name = member["name"].as_str().unwrap();
            let options = ["--member", name, "--order", "row", "--as", "void", "--force", "-q"];
            convert(archive, &out, &options).exits(0);
            (name.to_owned(), fs::read(&out).unwrap())
        })
        .collect()
}

#[test]
fn a_pack_survives_conversion_to_npz() {
    let home = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), home.path(), "x.zip", &[]);
    let path = |name: &str| home.path().join(name);
    for (npz, options) in [("stored.npz", &[][..]), ("small.npz", &["--compression", "deflate"])] {
        let ran = convert(&archive, &path(npz), options).exits(0);
        assert!(ran.err.contains("run2/quality: its dimension names"), "{}", ran.err);
        for back in ["back.zip", "back/"] {
            convert(&path(npz), &path(back), &["--force"]).exits(0);
            ra("validate", &[&path(back)], &[]).exits(0);
            assert_eq!(elements(&path(back)), elements(&archive), "{npz} {back}");
            fs::remove_dir_all(path(back)).ok();
        }
        // The same arrays give the same file.
        convert(&archive, &path("again.npz"), options).exits(0);
        assert!(fs::read(path("again.npz")).unwrap() == fs::read(path(npz)).unwrap());
        fs::remove_file(path("again.npz")).unwrap();
    }
    let length = |name: &str| fs::metadata(path(name)).unwrap().len();
    assert!(length("small.npz") < length("stored.npz"));
}

#[test]
fn trailing_bytes_in_a_member_of_an_npz_are_reported() {
    let home = TempDir::new().unwrap();
    let array = npy("'|u1'", false, "(2,)", &[1, 2]);
    let members = [("a.npy", array.clone()), ("b.npy", [array, b"more".to_vec()].concat())];
    let members = members.map(|(name, content)| (name.to_owned(), content));
    let from = home.path().join("x.npz");
    fs::write(&from, crate::raw_zip::Zip::of(&members).to_bytes()).unwrap();
    let ran = convert(&from, &home.path().join("x/"), &[]).exits(0);
    assert!(ran.err.contains("b: 4 bytes after its elements are lost"), "{}", ran.err);
    assert!(!ran.err.contains("warning: a:"), "{}", ran.err);
}

#[test]
fn a_pack_survives_conversion_to_ds_with_coordinates_and_attributes() {
    let data = floats(0..15);
    let numbers = |count: u16| floats((0..count).map(|number| number * 10));
    let coordinate = |name: &str, size: u16| {
        format!(
            "dimcoords:\n  {name}:\n    size: {size}\n    type: float32\n    attributes:\n      units: m\n"
        )
    };
    let experiment = Experiment::new()
        .array("time.ra", FLOAT32, &[5], &numbers(5))
        .file("time.yaml", coordinate("time", 5))
        .array("depth.ra", FLOAT32, &[3], &numbers(3))
        .file("depth.yaml", coordinate("depth", 3))
        .array("t.ra", FLOAT32, &[3, 5], &data)
        .file(
            "t.yaml",
            "attributes:\n  title: a test\nndarrays:\n  t:\n    shape: [depth, time]\n    \
             type: float32\n    attributes:\n      units: K\n      levels:\n        shape: [2]\n        \
             type: int64\n        value: [1, 2]\n",
        )
        .file("note.yaml", "ndarrays:\n  note:\n    shape: [2]\n    type: string\n    value: [a, bc]\n");
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    convert(experiment.path(), &path("x.ds"), &[]).exits(0);
    let ran = convert(&path("x.ds"), &path("back"), &["--json"]).exits(0);
    let json = ran.json();
    assert_eq!(json["losses"], json!([]));
    ra("validate", &[&path("back")], &[]).exits(0);
    let (tree, source) = (read_tree(&path("back")), read_tree(experiment.path()));
    assert_eq!(tree.keys().collect::<Vec<_>>(), source.keys().collect::<Vec<_>>());
    for (name, bytes) in &tree {
        if name.strip_suffix(".ra").is_some() {
            assert_eq!(bytes, &source[name], "{name}");
        }
    }
    let text = |name: &str| String::from_utf8(tree[name].clone()).unwrap();
    for (name, says) in [
        ("time.yaml", "dimcoords:\n  time:\n    size: 5\n"),
        ("t.yaml", "shape: [depth, time]"),
        ("t.yaml", "title: a test"),
        ("t.yaml", "value: [1, 2]"),
        ("note.yaml", "value: [a, bc]"),
    ] {
        assert!(text(name).contains(says), "{name}: {}", text(name));
    }
    // Converting again changes nothing.
    convert(&path("back"), &path("y.ds"), &[]).exits(0);
    assert!(fs::read(path("x.ds")).unwrap() == fs::read(path("y.ds")).unwrap());
}

#[test]
fn coordinates_of_groups_are_found_by_path() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let experiment = Experiment::new()
        .array("a/x.ra", UINT8, &[2], &[1, 2])
        .file("a/x.yaml", "dimcoords:\n  x: {size: 2, type: uint8}\n")
        .array("a/b/y.ra", UINT8, &[2], &[3, 4])
        .file("a/b/y.yaml", "ndarrays:\n  y: {shape: [x], type: uint8}\n");
    convert(experiment.path(), &path("x.ds"), &[]).exits(0);
    let text = fs::read(path("x.ds")).unwrap();
    let header = String::from_utf8_lossy(&text).into_owned();
    assert!(header.contains("\"a/b/y\": {\".dims\": [\"a/x\"]"), "{header}");
    convert(&path("x.ds"), &path("back.zip"), &[]).exits(0);
    ra("verify", &[&path("back.zip")], &[]).exits(0);
    assert_eq!(elements(&path("back.zip")), elements(experiment.path()));
}

#[test]
fn odd_names_become_files_and_are_reported() {
    let Some(python) = Python::with(&["numpy"]) else { return };
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    // words: imports a Python module
    let save = r"
import numpy as np
a = np.arange(3)
np.savez('x.npz', **{'../up': a, '/abs': a, 'C:x': a, 'a/b/x': a, 'manifest': a, '': a, 'plain': a})";
    let ran = python.command().args(["-c", save]).current_dir(home.path()).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let report = convert(&path("x.npz"), &path("out"), &["--json"]).exits(0).json();
    let mut names: Vec<_> = report["arrays"]
        .as_array()
        .unwrap()
        .iter()
        .map(|array| {
            let text = |key: &str| array[key].as_str().unwrap().to_owned();
            (text("from"), text("to"), array["renamed"].as_bool().unwrap())
        })
        .collect();
    names.sort();
    let expected = [
        ("", "unnamed.ra", true),
        ("../up", "__/up.ra", true),
        ("/abs", "abs.ra", true),
        ("C:x", "C_x.ra", true),
        ("a/b/x", "a/b/x.ra", false),
        ("manifest", "manifest_2.ra", true),
        ("plain", "plain.ra", false),
    ];
    let expected = expected.map(|(from, to, renamed)| (from.to_owned(), to.to_owned(), renamed));
    assert_eq!(names, expected);
    ra("validate", &[&path("out")], &[]).exits(0);
    convert(&path("x.npz"), &path("o.zip"), &[]).exits(0).says(&["../up -> __/up.ra", "renamed"]);
    ra("verify", &[&path("o.zip")], &[]).exits(0);
    assert!(!home.path().parent().unwrap().join("up.ra").exists());
    convert(&path("x.npz"), &path("one.ra"), &["--member", "a/b/x"]).exits(0);
    convert(&path("x.npz"), &path("two.ra"), &[]).exits(2).says(&["a/b/x", "../up"]);
    convert(&path("x.npz"), &path("two.ra"), &["--member", "b"]).exits(2).says(&["a/b/x"]);
}

#[test]
fn numpy_reads_an_npz_of_hundreds_of_arrays() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let mut experiment = Experiment::new();
    for number in 0..300_u16 {
        let name = format!("run{}/x{number}", number % 7);
        experiment = experiment
            .array(&format!("{name}.ra"), FLOAT32, &[2, 3], &floats(number..number + 6))
            .describe(&format!("{name}.yaml"), "[2, 3]", "float32");
    }
    convert(experiment.path(), &path("x.tar.gz"), &[]).exits(0).says(&["300 arrays"]);
    convert(&path("x.tar.gz"), &path("x.npz"), &[]).exits(0);
    convert(&path("x.npz"), &path("x.ds"), &[]).exits(0);
    convert(&path("x.ds"), &path("back/"), &["--quiet"]).exits(0);
    for (name, bytes) in read_tree(experiment.path()) {
        if name.strip_suffix(".ra").is_some() {
            assert!(fs::read(path("back").join(&name)).unwrap() == bytes, "{name}");
        }
    }
    let Some(python) = Python::with(&["numpy"]) else { return };
    // words: imports a Python module
    let load = "import numpy as np; z = np.load('x.npz'); assert len(z.files) == 300\n\
                for k in z.files:\n  a = z[k]; n = int(k.split('x')[1])\n  \
                assert a.shape == (2, 3) and a[1, 0] == n + 1 and a[0, 1] == n + 2, k";
    let ran = python.command().args(["-c", load]).current_dir(home.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn ds_format_reads_a_converted_pack() {
    let Some(python) = Python::with(&["numpy", "ds_format"]) else { return };
    let experiment = Experiment::new()
        .array("t.ra", FLOAT32, &[2, 3], &floats(0..6))
        .describe("t.yaml", "[2, 3]", "float32")
        // A multiple of 8 booleans: ds-format cannot read other numbers, not even its own files.
        .array("b.ra", UINT8, &[8], &[0, 1, 1, 0, 0, 0, 0, 1])
        .describe("b.yaml", "[8]", "{enum: {base: uint8, members: {\"false\": 0, \"true\": 1}}}");
    let home = TempDir::new().unwrap();
    convert(experiment.path(), &home.path().join("x.ds"), &[]).exits(0);
    // words: imports a Python module
    let read = "import ds_format as ds, numpy as np\n\
                d = ds.read('x.ds')\n\
                assert d['t'].tolist() == [[0, 2, 4], [1, 3, 5]], d['t']\n\
                assert d['b'].tolist() == [False, True, True, False, False, False, False, True], d['b']";
    let ran = python.command().args(["-c", read]).current_dir(home.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn masks_are_converted_in_both_directions_on_request() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let experiment = Experiment::new().array("x.ra", UINT8, &[4], &[1, 9, 3, 9]).file(
        "x.yaml",
        "ndarrays:\n  x:\n    shape: [4]\n    type: uint8\n    storage: {fillvalue: 9}\n",
    );
    convert(experiment.path(), &path("x.ds"), &["--masks"]).exits(0);
    convert(&path("x.ds"), &path("out"), &["--masks"]).exits(0);
    let tree = read_tree(&path("out"));
    assert_eq!(tree["x.mask.ra"], raw_array(UINT8, &[4], &[0, 1, 0, 1]));
    assert_eq!(tree["x.ra"][56], 1);
    assert!(String::from_utf8_lossy(&tree["x.yaml"]).contains("fillvalue"));
    convert(&path("x.ds"), &path("plain"), &[]).exits(0);
    assert_eq!(read_tree(&path("plain")).len(), 2);
}

#[test]
fn missing_values_of_a_ds_survive_conversion() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    // The second of the four elements is missing; none of the booleans is.
    let head = "ds-1.0\n{\"x\": {\".dims\": [\"n\"], \".size\": [4], \".offset\": 0, \".len\": 4, \".type\": \"uint8\", \
                \".missing\": true, \".endian\": \"b\"}, \"t\": {\".dims\": [\"n\"], \".size\": [4], \".offset\": 4, \
                \".len\": 1, \".type\": \"bool\", \".missing\": false}, \".\": {}}\n";
    let body = [0x40, 7, 8, 9, 0xa0];
    fs::write(path("x.ds"), [head.as_bytes(), &body].concat()).unwrap();
    let ran = convert(&path("x.ds"), &path("y.ds"), &[]).exits(0);
    assert!(fs::read(path("y.ds")).unwrap().ends_with(&body));
    // A warning says that ds-format cannot read the file.
    ran.says(&["\"t\" has 4 booleans", "multiple of 8"]);
}

#[test]
fn pictures_are_arrays_of_rows_and_channels() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let pixels: Vec<u8> = (0..24).collect();
    fs::write(path("x.npy"), npy("'|u1'", false, "(2, 4, 3)", &pixels)).unwrap();
    convert(&path("x.npy"), &path("x.png"), &[]).exits(0);
    convert(&path("x.png"), &path("x.ra"), &[]).exits(0);
    ra("validate", &[&path("x.ra")], &[]).exits(0);
    convert(&path("x.ra"), &path("y.png"), &[]).exits(0);
    assert_eq!(fs::read(path("x.png")).unwrap(), fs::read(path("y.png")).unwrap());
    convert(&path("y.png"), &path("y.npy"), &[]).exits(0);
    assert_eq!(fs::read(path("x.npy")).unwrap(), fs::read(path("y.npy")).unwrap());
    convert(&path("y.png"), &path("z.ra"), &["--order", "row"]).exits(0);
    assert_eq!(fs::read(path("z.ra")).unwrap(), raw_array(Element(2, 1), &[3, 4, 2], &pixels));
    fs::write(path("f.npy"), npy("'<f4'", false, "(2, 2)", &floats(0..4))).unwrap();
    convert(&path("f.npy"), &path("f.png"), &[]).exits(2);
    assert!(!path("f.png").exists());
}

#[test]
fn each_array_of_a_pack_becomes_a_file() {
    let home = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), home.path(), "x.zip", &[]);
    let path = |name: &str| home.path().join(name);
    let files = |name: &str| read_tree(&path(name));
    convert(&archive, &path("npy"), &["--format", "npy"]).exits(0);
    let written = files("npy");
    let arrays = elements(&archive);
    let count =
        written.keys().filter(|name| Path::new(name).extension() == Some("npy".as_ref())).count();
    assert_eq!(count, arrays.len(), "{:?}", written.keys());
    for (name, _) in &arrays {
        let single = path("one.npy");
        convert(&archive, &single, &["--member", name, "--force"]).exits(0);
        let file = format!("{}.npy", name.strip_suffix(".ra").unwrap());
        assert_eq!(written[&file], fs::read(&single).unwrap(), "{name}");
    }
    assert!(!written["README.txt"].is_empty());

    // A table has no place for three dimensions.
    let ran = convert(&archive, &path("csv/"), &["--format", "csv"]).exits(1);
    let ran = ran.says(&["run1/image", "a table has two dimensions, but the array has 3"]);
    assert!(!ran.err.contains("  run2/counts:"), "{}", ran.err);
    assert!(!files("csv").contains_key("run1/image.csv"));
    assert!(files("csv")["run2/counts.csv"].starts_with(b"0,1,2\n"));
    convert(&archive, &path("csv/"), &["--format", "csv"]).exits(2).says(&["--force"]);

    // An array and a file with the same name.
    let source =
        Experiment::new().array("a.ra", UINT8, &[1], &[1]).describe("a.yaml", "[1]", "uint8");
    let other = pack(&source.file("a.npy", "other"), home.path(), "y.zip", &[]);
    convert(&other, &path("same"), &["--format", "npy"])
        .exits(2)
        .says(&["`a.npy`", "--arrays-only"]);
    convert(&other, &path("same"), &["--format", "npy", "--arrays-only"]).exits(0);
    assert_eq!(files("same").into_keys().collect::<Vec<_>>(), ["a.npy"]);
}
