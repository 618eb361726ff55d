//! Refused conversions, which leave no output.

use std::fs;
use std::io::Write;
use std::path::Path;

use tempfile::TempDir;

use super::{convert, npy};
use crate::experiment::{Experiment, INT16, UINT8, raw_array};
use crate::run::{Ran, names_in, pack};

/// Runs a conversion that must not write anything.
#[track_caller]
fn refused(input: &Path, output: &Path, options: &[&str], code: i32) -> Ran {
    let place = output.parent().unwrap();
    let before = names_in(place);
    let ran = convert(input, output, options).exits(code);
    assert_eq!(ran.out, b"");
    assert_eq!(names_in(place), before, "{}", ran.said());
    ran
}

#[test]
fn malformed_input_is_one_error_with_the_offset() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let whole = npy("'<i2'", false, "(2, 2)", &[1, 0, 2, 0, 3, 0, 4, 0]);
    let array = raw_array(INT16, &[2, 2], &[1, 0, 2, 0, 3, 0, 4, 0]);
    let with = |bytes: &[u8], at: usize, byte: u8| {
        let mut bytes = bytes.to_vec();
        bytes[at] = byte;
        bytes
    };
    for (name, bytes, says) in [
        ("a.npy", whole[..whole.len() - 1].to_vec(), "byte 135"),
        ("b.npy", with(&whole, 0, b'x'), "byte 0"),
        ("c.npy", with(&whole, 6, 9), "byte 6"),
        ("d.npy", whole[..30].to_vec(), "byte 30"),
        ("e.npy", Vec::new(), "byte 0"),
        ("f.ra", array[..array.len() - 1].to_vec(), "byte 71"),
        ("g.ra", with(&array, 0, b'x'), "byte 0"),
        ("h.ra", with(&array, 8, 8), "byte 8"),
        ("i.ra", array[..40].to_vec(), "byte 40"),
        ("k.ra", with(&array[..70], 8, 2), "byte 64"),
        ("j.ra", with(&array, 63, 0xff), "byte 48"),
    ] {
        fs::write(path(name), bytes).unwrap();
        for out in ["o.ra", "o.npy", "o/", "o.zip"] {
            let ran = refused(&path(name), &path(out), &[], 1).says(&[name, says]);
            assert_eq!(ran.err.matches("ra-pack:").count(), 1, "{}", ran.err);
        }
    }
}

#[test]
fn claims_that_no_file_can_hold_are_refused() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let dir = path("in");
    fs::create_dir(&dir).unwrap();
    // With its header, each file would have from 2^63 - 8 to 2^64 + 63 bytes.
    for (nth, len) in
        [u64::MAX, u64::MAX - 1, u64::MAX - 55, u64::MAX - 64, 1 << 63, i64::MAX as u64]
            .into_iter()
            .enumerate()
    {
        let file = npy("'|u1'", false, &format!("({len},)"), &[1; 4]);
        fs::write(dir.join("a.npy"), &file).unwrap();
        let mut zip = zip::ZipWriter::new(fs::File::create(dir.join("a.npz")).unwrap());
        let stored = zip::write::SimpleFileOptions::default();
        zip.start_file("x.npy", stored).unwrap();
        zip.write_all(&file).unwrap();
        zip.finish().unwrap();
        let mut array = raw_array(UINT8, &[4], &[1; 4]);
        array[32..40].copy_from_slice(&len.to_le_bytes());
        array[48..56].copy_from_slice(&len.to_le_bytes());
        fs::write(dir.join("a.ra"), array).unwrap();
        for name in ["a.npy", "a.npz", "a.ra"] {
            for out in ["o.ra", "o.npz", "o.ds", "o/", "o.zip"] {
                refused(&dir.join(name), &path(out), &[], 1).says(&["a"]);
            }
            fs::rename(dir.join(name), path(name)).unwrap();
        }
        // In a directory, the others are converted.
        fs::write(dir.join("b.npy"), npy("'|u1'", false, "(1,)", &[1])).unwrap();
        fs::rename(path("a.npy"), dir.join("a.npy")).unwrap();
        convert(&dir, &path(&format!("out{nth}")), &[]).exits(1).says(&["a.npy"]);
        assert!(path(&format!("out{nth}/b.ra")).exists());
    }
}

#[test]
fn types_without_a_counterpart_are_refused_with_a_next_step() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    fs::write(path("o.npy"), npy("'|O'", false, "(1,)", b"cos\nsystem\n.")).unwrap();
    refused(&path("o.npy"), &path("x.ra"), &[], 2).says(&["pickle"]);
    fs::write(path("l.npy"), npy("'<f16'", false, "(1,)", &[0; 16])).unwrap();
    refused(&path("l.npy"), &path("x.ra"), &[], 2);
    let wide = raw_array(crate::experiment::Element(1, 16), &[1], &[7; 16]);
    fs::write(path("w.ra"), wide).unwrap();
    refused(&path("w.ra"), &path("x.npy"), &[], 2).says(&["int128", "--as void"]);
    convert(&path("w.ra"), &path("x.npy"), &["--as", "void"]).exits(0);
    assert_eq!(fs::read(path("x.npy")).unwrap(), npy("'|V16'", false, "(1,)", &[7; 16]));
}

#[test]
fn one_of_several_arrays_must_be_chosen() {
    let home = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), home.path(), "x.zip", &[]);
    let out = home.path().join("o.npy");
    refused(&archive, &out, &[], 2).says(&["--member", "run1/temperature", "time"]);
    refused(&archive, &out, &["--member", "temperature"], 2).says(&["run1/temperature"]);
    let empty = TempDir::new().unwrap();
    refused(empty.path(), &out, &[], 2).says(&["no arrays"]);
    refused(empty.path(), &home.path().join("dir"), &[], 2).says(&["no arrays"]);
}

#[test]
fn files_are_replaced_only_by_force() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    fs::write(path("x.npy"), npy("'|u1'", false, "(1,)", &[5])).unwrap();
    fs::write(path("y.ra"), "mine").unwrap();
    fs::write(path("z.yaml"), "mine").unwrap();
    fs::write(path("u.yml"), "mine").unwrap();
    fs::create_dir_all(path("full/x")).unwrap();
    fs::create_dir_all(path("empty")).unwrap();
    fs::create_dir_all(path("taken")).unwrap();
    fs::write(path("taken/x.yml"), "mine").unwrap();
    for out in ["y.ra", "z.ra", "u.ra", "x.npy", "taken"] {
        refused(&path("x.npy"), &path(out), &[], 2).says(&["--force"]);
    }
    // The directory has no file of that name.
    convert(&path("x.npy"), &path("full"), &[]).exits(0);
    assert_eq!(names_in(&path("full")), ["x", "x.ra", "x.yaml"]);
    fs::write(path("file"), "mine").unwrap();
    refused(&path("x.npy"), &path("file"), &["--force", "--to", "directory"], 2);
    fs::write(path("z.yml"), "mine").unwrap();
    refused(&path("x.npy"), &path("z.ra"), &["--force"], 2).says(&["z.yaml", "z.yml"]);
    fs::remove_file(path("z.yml")).unwrap();
    // Only a description is replaced.
    for out in ["z.ra", "u.ra"] {
        refused(&path("x.npy"), &path(out), &["--force"], 1).says(&["is not a mapping"]);
    }
    fs::write(path("u.yml"), "ndarrays: {u: {shape: [2], type: int8}}").unwrap();
    for out in ["y.ra", "u.ra", "empty"] {
        convert(&path("x.npy"), &path(out), &["--force"]).exits(0);
    }
    let array = raw_array(UINT8, &[1], &[5]);
    assert_eq!(fs::read(path("y.ra")).unwrap(), array);
    assert!(!path("u.yaml").exists(), "one description is enough");
    assert!(fs::read_to_string(path("u.yml")).unwrap().contains("uint8"));
    assert_eq!(names_in(&path("empty")), ["x.ra", "x.yaml"]);
}

#[test]
fn a_file_may_replace_itself() {
    let home = TempDir::new().unwrap();
    let x = home.path().join("x.ra");
    let mut big = raw_array(INT16, &[2], &[0, 1, 0, 2]);
    big[8] = 1;
    fs::write(&x, big).unwrap();
    refused(&x, &x, &[], 2);
    convert(&x, &x, &["--force"]).exits(0);
    assert_eq!(fs::read(&x).unwrap(), raw_array(INT16, &[2], &[1, 0, 2, 0]));
    assert_eq!(names_in(home.path()), ["x.ra", "x.yaml"]);
    let archive = pack(&Experiment::standard(), home.path(), "x.zip", &[]);
    convert(&archive, &archive, &["--force"]).exits(0);
    crate::run::ra("verify", &[&archive], &[]).exits(0);
}

#[test]
fn damage_and_wrong_descriptions_exit_with_1() {
    let home = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), home.path(), "x.zip", &[]);
    let mut bytes = fs::read(&archive).unwrap();
    let find = |what: &[u8], from: usize| {
        from + bytes[from..].windows(what.len()).position(|window| window == what).unwrap()
    };
    let at = find(b"rawarray", find(b"run1/temperature.ra", 0)) + 70;
    bytes[at] ^= 1;
    let damaged = home.path().join("d.zip");
    fs::write(&damaged, bytes).unwrap();
    for out in ["o.npy", "o.ra"] {
        let member = ["--member", "run1/temperature"];
        refused(&damaged, &home.path().join(out), &member, 1).says(&["run1/temperature.ra"]);
    }
    for out in ["o/", "o.tar"] {
        refused(&damaged, &home.path().join(out), &[], 1);
    }
    let wrong = Experiment::new()
        .array("a.ra", UINT8, &[2, 3], &[0; 6])
        .describe("a.yaml", "[3, 2]", "uint8");
    for input in [wrong.path().join("a.ra"), wrong.path().to_owned()] {
        refused(&input, &home.path().join("o.npy"), &[], 1).says(&["order: row"]);
    }
}

#[test]
fn options_without_a_meaning_are_refused() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    fs::write(path("x.npy"), npy("'|u1'", false, "(1,)", &[5])).unwrap();
    for (out, options) in [
        ("o.ra", ["--masks"].as_slice()),
        ("o.ra", &["--compression", "deflate"]),
        ("o.ra", &["--keep-metadata", "m"]),
        ("o.ra", &["--as", "void"]),
        ("o.ds", &["--order", "column"]),
        ("o.png", &["--keep-endian"]),
        ("o.npz", &["--compression", "zstd"]),
    ] {
        refused(&path("x.npy"), &path(out), options, 2);
    }
}

#[test]
#[cfg(unix)] // sockets
fn special_files_are_not_replaced() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    fs::write(path("x.npy"), npy("'|u1'", false, "(1,)", &[5])).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("s.ra")).unwrap();
    for form in ["ra", "npy", "npz", "ds", "zip"] {
        refused(&path("x.npy"), &path("s.ra"), &["--force", "--to", form], 2).says(&["a socket"]);
    }
    refused(&path("s.ra"), &path("o.ra"), &["--from", "npy"], 2);
    convert(&path("x.npy"), Path::new("-"), &[]).exits(2).says(&["./-"]);
    convert(Path::new("-"), &path("o.ra"), &[]).exits(2).says(&["./-"]);
}

#[test]
fn trailing_metadata_is_written_to_a_new_file() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let array = [raw_array(UINT8, &[1], &[5]), b"more".to_vec()].concat();
    fs::write(path("x.ra"), array).unwrap();
    for (out, more) in [("o.npy", "o.npy"), ("o.ra", "o.yaml"), ("o.npy", "./o.npy")] {
        let more = path(more);
        for force in [None, Some("--force")] {
            let mut options = vec!["--keep-metadata", more.to_str().unwrap()];
            options.extend(force);
            refused(&path("x.ra"), &path(out), &options, 2).says(&["--keep-metadata"]);
        }
    }
}

#[test]
fn a_refused_array_is_named_and_the_others_can_be_converted() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let object = npy("'|O'", false, "(1,)", b"cos\nsystem\n.");
    let good = npy("'|u1'", false, "(1,)", &[5]);
    let mut zip = zip::ZipWriter::new(fs::File::create(path("x.npz")).unwrap());
    for (name, bytes) in [("good.npy", good), ("bad.npy", object)] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap();
    refused(&path("x.npz"), &path("o"), &[], 2).says(&["`bad.npy`", "pickle", "--member"]);
    let ran = refused(&path("x.npz"), &path("o"), &["--member", "bad"], 2).says(&["`bad.npy`"]);
    assert!(!ran.err.contains("--member"), "{}", ran.err);
    convert(&path("x.npz"), &path("o"), &["--member", "good"]).exits(0);
}
