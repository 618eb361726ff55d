//! The readers in `examples/readers`, which use only the facts in `docs/format.md`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::experiment::{COMPLEX64, Experiment, FLOAT16, FLOAT32, FLOAT64, INT16, INT64};
use crate::experiment::{UINT8, le, ra_pack};
use crate::foreign::installed;

/// Returns the directory of the readers.
fn readers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/readers")
}

/// Arrays in every format that the readers support, and their output.
const ARRAYS: [(&str, &str); 7] = [
    ("run1/i16", "1 2 3 2\n-32768\n-1\n0\n1\n2\n32767\n"),
    ("run1/i64", "1 8\n-9223372036854775808\n"),
    ("run1/u8", "2 1 2 1 1\n0\n255\n"),
    ("run1/f32", "3 4 3\n0.10000000149011612\n-inf\nnan\n"),
    ("f64", "3 8 2\n0.10000000000000001\n-2.5e-300\n"),
    ("none", "3 8 0 4\n"),
    ("c64", "4 8 2\n1 -2\n0.5 0\n"),
];

/// Packs [`ARRAYS`], one with a name that is not ASCII and one of a type that only Python supports.
fn pack(into: &TempDir, ending: &str) -> PathBuf {
    let archive = into.path().join(format!("exp{ending}"));
    let source = Experiment::new()
        .array(
            "run1/i16.ra",
            INT16,
            &[3, 2],
            &le(i16::to_le_bytes, [i16::MIN, -1, 0, 1, 2, i16::MAX]),
        )
        .array("run1/i64.ra", INT64, &[], &i64::MIN.to_le_bytes())
        .array("run1/u8.ra", UINT8, &[2, 1, 1], &[0, 255])
        .array(
            "run1/f32.ra",
            FLOAT32,
            &[3],
            &le(f32::to_le_bytes, [0.1, f32::NEG_INFINITY, f32::NAN]),
        )
        .array("f64.ra", FLOAT64, &[2], &le(f64::to_le_bytes, [0.1, -2.5e-300]))
        .array("none.ra", FLOAT64, &[0, 4], &[])
        .array("c64.ra", COMPLEX64, &[2], &le(f32::to_le_bytes, [1.0, -2.0, 0.5, 0.0]))
        .array("Größe.ra", FLOAT16, &[1], &0x3800_u16.to_le_bytes());
    ra_pack()
        .args(["create", "--describe", "-o"])
        .args([&*archive, source.path()])
        .assert()
        .success();
    archive
}

fn run(program: impl AsRef<std::ffi::OsStr>, args: &[&Path], member: &str) -> Output {
    Command::new(program).args(args).arg(member).output().unwrap()
}

#[track_caller]
fn assert_prints(output: &Output, expected: &str, member: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{member}: {said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{member}");
}

#[test]
fn thirty_lines_of_python_read_any_array() {
    if !installed(&["python3"]) {
        return;
    }
    let reader = readers().join("read_array.py");
    let home = TempDir::new().unwrap();
    for ending in [".zip", ".tar", ".tar.gz"] {
        let archive = pack(&home, ending);
        for (name, expected) in ARRAYS.iter().chain(&[("Größe", "3 2 1\n0.5\n")]) {
            let member = format!("{name}.ra");
            assert_prints(&run("python3", &[&reader, &archive], &member), expected, &member);
        }
    }
    let zip = home.path().join("exp.zip");
    let mut bytes = std::fs::read(&zip).unwrap();
    let at = bytes.windows(4).position(|bytes| bytes == 0.1_f32.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&zip, bytes).unwrap();
    assert!(!run("python3", &[&reader, &zip], "run1/f32.ra").status.success(), "damage is found");
}

#[test]
#[cfg(unix)] // mmap
fn a_page_of_c_reads_any_stored_array() {
    if !installed(&["cc"]) {
        return;
    }
    let home = TempDir::new().unwrap();
    let reader = home.path().join("read_array");
    let source = readers().join("read_array.c");
    let strict =
        ["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-O1", "-o"];
    let built = Command::new("cc").args(strict).args([&*reader, &*source]).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let archive = pack(&home, ".zip");
    for (name, expected) in ARRAYS {
        let member = format!("{name}.ra");
        assert_prints(&run(&reader, &[&archive], &member), expected, &member);
    }
    let whole = std::fs::read(&archive).unwrap();
    for (bytes, member) in [
        (&*whole, "run1/none.ra"),
        (&*whole, "manifest.yaml"),
        (&whole[..whole.len() - 1], "f64.ra"),
        (&whole[whole.len() - 22..], "f64.ra"),
        (b"", "f64.ra"),
    ] {
        std::fs::write(&archive, bytes).unwrap();
        let output = run(&reader, &[&archive], member);
        assert_eq!(output.status.code(), Some(2), "{member}");
        assert!(output.stderr.starts_with(b"read_array: "), "{member}");
    }
}
