//! Each pair of formats.

use std::fs;

use tempfile::TempDir;

use super::{convert, description, floats, npy};
use crate::experiment::{Experiment, FLOAT32, INT16, UINT8, le, raw_array, read_tree};
use crate::run::{ENDINGS, pack, ra};

#[test]
fn an_npy_file_becomes_a_column_major_array() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    // 2 by 3, row-major: 0 1 2, 10 11 12.
    fs::write(path("x.npy"), npy("'<f4'", false, "(2, 3)", &floats([0, 1, 2, 10, 11, 12])))
        .unwrap();
    let ran = convert(&path("x.npy"), &path("x.ra"), &[]).exits(0);
    assert_eq!(ran.out, b"");
    let columns = raw_array(FLOAT32, &[2, 3], &floats([0, 10, 1, 11, 2, 12]));
    assert_eq!(fs::read(path("x.ra")).unwrap(), columns);
    assert_eq!(
        description(&path("x.ra")),
        "ndarrays:\n  x:\n    shape: [2, 3]\n    type: float32\n"
    );
    // Unchanged bytes, with the order in the description.
    convert(&path("x.npy"), &path("y.ra"), &["--order", "row"]).exits(0);
    let rows = raw_array(FLOAT32, &[3, 2], &floats([0, 1, 2, 10, 11, 12]));
    assert_eq!(fs::read(path("y.ra")).unwrap(), rows);
    assert!(description(&path("y.ra")).ends_with("    storage:\n      order: row\n"));
    for name in ["x.ra", "y.ra"] {
        ra("validate", &[&path(name)], &[]).exits(0);
    }
    // Back to .npy: neither conversion moves a byte, so one file is column-major.
    convert(&path("y.ra"), &path("z.npy"), &[]).exits(0);
    assert_eq!(fs::read(path("z.npy")).unwrap(), fs::read(path("x.npy")).unwrap());
    convert(&path("x.ra"), &path("f.npy"), &[]).exits(0);
    let fortran = npy("'<f4'", true, "(2, 3)", &floats([0, 10, 1, 11, 2, 12]));
    assert_eq!(fs::read(path("f.npy")).unwrap(), fortran);
    convert(&path("x.ra"), &path("c.npy"), &["--order", "row"]).exits(0);
    assert_eq!(fs::read(path("c.npy")).unwrap(), fs::read(path("x.npy")).unwrap());
}

#[test]
fn one_array_becomes_a_pack_under_the_name_of_its_file() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    fs::write(path("big.x.npy"), npy("'<i2'", false, "(2,)", &[1, 0, 2, 0])).unwrap();
    convert(&path("big.x.npy"), &path("out"), &[]).exits(0);
    let tree = read_tree(&path("out"));
    assert_eq!(tree.keys().collect::<Vec<_>>(), ["big.x.ra", "big.x.yaml"]);
    assert_eq!(tree["big.x.ra"], raw_array(INT16, &[2], &[1, 0, 2, 0]));
    for ending in ENDINGS {
        let archive = path(&format!("a{ending}"));
        convert(&path("big.x.npy"), &archive, &[]).exits(0);
        ra("verify", &[&archive], &[]).exits(0);
        convert(&archive, &path("back.npy"), &["--force"]).exits(0);
        assert_eq!(fs::read(path("back.npy")).unwrap(), fs::read(path("big.x.npy")).unwrap());
    }
    let left: Vec<_> = read_tree(home.path()).into_keys().collect();
    assert!(!left.iter().any(|name| name.contains("unfinished")), "{left:?}");
}

#[test]
fn a_pack_survives_conversion_through_every_container() {
    let home = TempDir::new().unwrap();
    let experiment = Experiment::standard();
    let first = home.path().join("first");
    convert(experiment.path(), &first, &[]).exits(0).says(&["README.txt: copied"]);
    ra("validate", &[&first], &["--strict"]).code.unwrap();
    let tree = read_tree(&first);
    for (name, bytes) in read_tree(experiment.path()) {
        if name.strip_suffix(".ra").is_some() {
            assert_eq!(tree[&name], bytes, "{name}");
        }
    }
    for ending in ENDINGS {
        let archive = home.path().join(format!("x{ending}"));
        convert(&first, &archive, &[]).exits(0);
        let back = home.path().join(format!("back{ending}/"));
        convert(&archive, &back, &[]).exits(0);
        assert_eq!(read_tree(&back), tree, "{ending}");
    }
}

#[test]
fn one_member_of_a_pack_is_converted_to_a_file() {
    let home = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), home.path(), "x.tar.zst", &[]);
    let out = home.path().join("t.npy");
    for name in ["run1/temperature", "run1/temperature.ra", "/run1/temperature"] {
        let ran = convert(&archive, &out, &["--member", name, "--force", "--json"]).exits(0);
        let json = ran.json();
        assert_eq!(json["arrays"][0]["verified"], true);
        assert_eq!(json["arrays"][0]["shape"], serde_json::json!([3, 5]));
        assert!(ran.err.contains("dimension names (depth, time)"), "{}", ran.err);
    }
    let expected = npy("'<f4'", true, "(3, 5)", &floats(0..15));
    assert_eq!(fs::read(&out).unwrap(), expected);
    // A row-major array stays row-major, and no byte is moved.
    convert(&archive, &out, &["--member", "run2/counts", "--force"]).exits(0);
    let expected = npy("'<i2'", false, "(5, 3)", &le(i16::to_le_bytes, 0..15));
    assert_eq!(fs::read(&out).unwrap(), expected);
}

#[test]
fn scalars_empty_arrays_and_arrays_of_many_dimensions() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let many = vec!["1"; 33].join(", ");
    for (name, shape, data) in [
        ("scalar", "()".to_owned(), vec![7]),
        ("none", "(0,)".to_owned(), vec![]),
        ("flat", "(3, 0, 2)".to_owned(), vec![]),
        ("many", format!("({many})"), vec![9]),
        ("mixed", "(1, 2, 1, 3, 1)".to_owned(), vec![1, 2, 3, 4, 5, 6]),
    ] {
        let file = path(&format!("{name}.npy"));
        fs::write(&file, npy("'|u1'", false, &shape, &data)).unwrap();
        let array = path(&format!("{name}.ra"));
        convert(&file, &array, &[]).exits(0);
        ra("validate", &[&array], &[]).exits(0);
        let back = path(&format!("{name}.back.npy"));
        convert(&array, &back, &["--order", "row"]).exits(0);
        assert_eq!(fs::read(back).unwrap(), fs::read(file).unwrap(), "{name}");
    }
}

#[test]
fn row_unreversed_arrays_become_row_major() {
    // As in pictures of the original implementation: dims in the order of the shape, the last index changes fastest.
    let experiment = Experiment::new().array("p.ra", UINT8, &[2, 3], &[0, 1, 2, 10, 11, 12]).file(
        "p.yaml",
        "ndarrays:\n  p:\n    shape: [2, 3]\n    type: uint8\n    storage: {order: row-unreversed}\n",
    );
    let home = TempDir::new().unwrap();
    let out = home.path().join("p.ra");
    convert(&experiment.path().join("p.ra"), &out, &[]).exits(0);
    assert_eq!(fs::read(&out).unwrap(), raw_array(UINT8, &[3, 2], &[0, 1, 2, 10, 11, 12]));
    assert!(description(&out).contains("order: row\n"));
    ra("validate", &[&out], &[]).exits(0);
    convert(&experiment.path().join("p.ra"), &out, &["--order", "column", "--force"]).exits(0);
    assert_eq!(fs::read(&out).unwrap(), raw_array(UINT8, &[2, 3], &[0, 10, 1, 11, 2, 12]));
}
