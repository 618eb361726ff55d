//! `ra-pack reshape`: changed dims, the same elements.

use std::fs;

use crate::experiment::{Element, Experiment, UINT8, raw_array};
use crate::run::{Ran, ra};

fn reshape(home: &Experiment, name: &str, shape: &[&str]) -> Ran {
    ra("reshape", &[&home.path().join(name)], shape)
}

fn text(home: &Experiment, name: &str) -> String {
    fs::read_to_string(home.path().join(name)).unwrap()
}

fn bytes(home: &Experiment, name: &str) -> Vec<u8> {
    fs::read(home.path().join(name)).unwrap()
}

const DATA: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

#[test]
fn data_and_metadata_stay_and_the_description_is_updated() {
    let home = Experiment::new()
        .file("a.ra", [raw_array(UINT8, &[3, 4], &DATA), b"metadata".to_vec()].concat())
        .file(
            "a.yaml",
            "# mine\nndarrays:\n  a:\n    shape: [3, 4]  # and mine\n    type: uint8\n",
        );
    for (shape, dims) in [
        (&["2", "6"][..], &[2, 6][..]),
        (&["6", "2"], &[6, 2]), // the reversed shape
        (&["2", "3", "-1"], &[2, 3, 2]),
        (&["12"], &[12]),
        (&["1", "1", "3", "1", "4"], &[1, 1, 3, 1, 4]),
        (&["3", "4"], &[3, 4]),
    ] {
        reshape(&home, "a.ra", shape).exits(0).says(&["is now", "a.yaml: updated"]);
        let expected = [raw_array(UINT8, dims, &DATA), b"metadata".to_vec()].concat();
        assert_eq!(bytes(&home, "a.ra"), expected);
        let said =
            format!("# mine\nndarrays:\n  a:\n    shape: {dims:?}  # and mine\n    type: uint8\n");
        assert_eq!(text(&home, "a.yaml"), said);
        ra("validate", &[&home.path().join("a.ra")], &[]).exits(0);
    }
    let left = crate::run::names_in(home.path());
    assert_eq!(left, ["a.ra", "a.yaml"]);
}

#[test]
fn lengths_are_in_the_order_of_the_shape() {
    let home = Experiment::new()
        .array("a.ra", UINT8, &[4, 3], &DATA)
        .file("a.yaml", "ndarrays: {a: {shape: [3, 4], type: uint8, storage: {order: row}}}\n");
    reshape(&home, "a.ra", &["2", "6"]).exits(0);
    assert_eq!(bytes(&home, "a.ra"), raw_array(UINT8, &[6, 2], &DATA));
    assert!(text(&home, "a.yaml").contains("shape: [2, 6]"));
}

#[test]
fn a_single_element_has_any_number_of_dims() {
    let home = Experiment::new().array("a.ra", UINT8, &[], &[5]);
    reshape(&home, "a.ra", &["1", "1"]).exits(0);
    assert_eq!(bytes(&home, "a.ra"), raw_array(UINT8, &[1, 1], &[5]));
    reshape(&home, "a.ra", &[]).exits(0);
    assert_eq!(bytes(&home, "a.ra"), raw_array(UINT8, &[], &[5]));
}

#[test]
fn flags_and_the_encoded_data_stay() {
    // Two LEB128 integers, 300 and 1, with the flag.
    let mut file = raw_array(Element(2, 2), &[2], &[0xac, 0x02, 0x01, 0]);
    file.truncate(59);
    file[8] = 2;
    let home = Experiment::new().file("a.ra", &file);
    reshape(&home, "a.ra", &["1", "2"]).exits(0);
    let after = bytes(&home, "a.ra");
    assert_eq!((after[8], &after[64..]), (2, &[0xac, 0x02, 0x01][..]));
    ra("info", &[&home.path().join("a.ra")], &["--field", "dims"]).exits(0).says(&["1 2"]);
}

#[test]
fn rejected_shapes_change_nothing() {
    let coordinates = "ndarrays: {a: {shape: [time, 4], type: uint8}}\ndimcoords: {time: {size: 3, type: uint8}}\n";
    let home = Experiment::new()
        .array("a.ra", UINT8, &[3, 4], &DATA)
        .file("a.yaml", coordinates)
        .array("plain.ra", UINT8, &[3, 4], &DATA)
        .array("wrong.ra", UINT8, &[3, 4], &DATA)
        .file("wrong.yaml", "ndarrays: {wrong: {shpe: [3, 4], type: uint8}}\n")
        .file("cut.ra", &raw_array(UINT8, &[12], &DATA)[..60])
        .file("notes.txt", "no array");
    let before = crate::experiment::read_tree(home.path());
    let many = ["1"; 65];
    for (name, shape, status, words) in [
        ("plain.ra", &["5", "2"][..], 2, &["expected 10 elements", "found 12"][..]),
        ("plain.ra", &["-1", "-1"], 2, &["only one length"]),
        ("plain.ra", &["-1", "5"], 2, &["do not divide", "12 elements"]),
        ("plain.ra", &["-2", "6"], 2, &["or -1"]),
        ("plain.ra", &["x"], 2, &["expected a length"]),
        ("plain.ra", &["99999999999999999999"], 2, &["expected a length"]),
        ("plain.ra", &["4294967296", "4294967296"], 2, &["2^64"]),
        ("plain.ra", &many, 2, &["at most 64 dimensions"]),
        ("plain.ra", &["0"], 2, &["expected 0 elements"]),
        ("a.ra", &["4", "3"], 1, &["a.yaml", "time"]),
        ("a.ra", &["2", "2", "3"], 1, &["contains `time`"]),
        ("wrong.ra", &["12"], 1, &["wrong.yaml", "shpe"]),
        ("cut.ra", &["3", "4"], 1, &["byte 60"]),
        ("notes.txt", &["3"], 2, &["is a text file, not an array"]),
        ("nowhere.ra", &["3"], 2, &["nowhere.ra"]),
    ] {
        reshape(&home, name, shape).exits(status).says(words);
        assert_eq!(crate::experiment::read_tree(home.path()), before, "{name} {shape:?}");
    }
}

#[test]
#[cfg(unix)] // links and permissions
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Experiment::new().array("data/a.ra", UINT8, &[3, 4], &DATA);
    let (array, link) = (home.path().join("data/a.ra"), home.path().join("link.ra"));
    fs::set_permissions(&array, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("data/a.ra", &link).unwrap();
    reshape(&home, "link.ra", &["12"]).exits(0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&array).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(bytes(&home, "data/a.ra"), raw_array(UINT8, &[12], &DATA));
}

#[test]
#[cfg(unix)] // links
fn the_description_of_the_target_of_a_link_is_updated() {
    let home = Experiment::new().array("data/a.ra", UINT8, &[3, 4], &DATA).describe(
        "data/a.yaml",
        "[3, 4]",
        "uint8",
    );
    std::os::unix::fs::symlink("data/a.ra", home.path().join("link.ra")).unwrap();
    reshape(&home, "link.ra", &["12"]).exits(0);
    assert!(String::from_utf8_lossy(&bytes(&home, "data/a.yaml")).contains("shape: [12]"));
    // A description of the link itself is refused.
    let own = "ndarrays:\n  link:\n    shape: [12]\n    type: uint8\n";
    fs::write(home.path().join("link.yaml"), own).unwrap();
    reshape(&home, "link.ra", &["4", "3"]).exits(2).says(&["is a link"]);
    assert_eq!(bytes(&home, "data/a.ra"), raw_array(UINT8, &[12], &DATA));
}
