//! The readers in `examples/readers`, which use only the facts in `docs/spec`.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::experiment::{COMPLEX64, Experiment, FLOAT16, FLOAT32, FLOAT64, INT16, INT64};
use crate::experiment::{UINT8, le, ra_pack, raw_array};
use crate::foreign::installed;
use crate::skips::one_of;
use crate::spec::vectors;

/// Returns the directory of the readers.
fn readers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/readers")
}

/// Arrays in every format that the readers support, and their output.
const ARRAYS: [(&str, &str); 8] = [
    ("run1/i16", "1 2 3 2\n-32768\n-1\n0\n1\n2\n32767\n"),
    ("run1/i64", "1 8\n-9223372036854775808\n"),
    ("run1/u8", "2 1 2 1 1\n0\n255\n"),
    ("run1/f32", "3 4 3\n0.10000000149011612\n-inf\nnan\n"),
    ("f64", "3 8 2\n0.10000000000000001\n-2.5e-300\n"),
    ("none", "3 8 0 4\n"),
    ("c64", "4 8 2\n1 -2\n0.5 0\n"),
    ("Größe", "3 2 1\n0.5\n"),
];

/// Packs [`ARRAYS`], one with a name that is not ASCII.
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
#[ignore = "slow"]
fn a_short_program_in_python_reads_any_array() {
    if !installed(&["python3"]) {
        return;
    }
    let reader = readers().join("read_array.py");
    let home = TempDir::new().unwrap();
    for ending in [".zip", ".tar", ".tar.gz"] {
        let archive = pack(&home, ending);
        for (name, expected) in ARRAYS {
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

/// Returns a reader: its program and first arguments, or nothing if the program is not installed.
fn reader(name: &str, home: &TempDir) -> Option<Vec<PathBuf>> {
    let source = readers().join(name);
    let interpreter = match source.extension().unwrap().to_str().unwrap() {
        "py" => "python3",
        "R" => "Rscript",
        "m" => "octave-cli",
        "js" => "node",
        _ => "cc",
    };
    if !installed(&[interpreter]) {
        return None;
    }
    if interpreter != "cc" {
        return Some(vec![interpreter.into(), source]);
    }
    let binary = home.path().join("read_array");
    let built = Command::new("cc").arg("-o").args([&binary, &source]).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(vec![binary])
}

/// Parses a number as any of the languages writes it. Numbers are compared as floats: no vector differs only in digits
/// that a float lacks.
fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}

/// Whether two numbers are equal. NaN equals NaN.
fn is_same(one: f64, other: f64) -> bool {
    one.partial_cmp(&other) == Some(Ordering::Equal) || one.is_nan() && other.is_nan()
}

/// Each reader shows the values of an array, or fails if it does not support its type. It never shows other values, and
/// rejects every invalid file. A reader that takes long to start gets one of `share` files.
fn reads_the_vectors(name: &str, share: usize, least: usize) {
    let home = TempDir::new().unwrap();
    let Some(reader) = reader(name, &home) else { return };
    let run = |arguments: &[&str]| {
        Command::new(&reader[0]).args(&reader[1..]).args(arguments).output().unwrap()
    };
    let vectors_at = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut read = 0;
    for vector in vectors("arrays").into_iter().step_by(share) {
        let file = vectors_at.join(vector["file"].as_str().unwrap());
        let output = run(&[file.to_str().unwrap()]);
        if !output.status.success() {
            continue;
        }
        assert_eq!(vector["valid"], true, "{name}: accepts {}", vector["file"]);
        let text = String::from_utf8(output.stdout).unwrap();
        let (head, elements) = text.split_once('\n').unwrap();
        let numbers: Vec<f64> = elements.split_whitespace().map(number).collect();
        let listed = vector["values"].as_array().unwrap().iter();
        let parts = listed.flat_map(|value| match value.as_array() {
            Some(pair) => pair.clone(),
            None => vec![value.clone()],
        });
        let expected = parts.map(|part| match part.as_str() {
            Some(text) => number(text),
            None => part.as_f64().unwrap(),
        });
        let expected: Vec<f64> = expected.collect();
        let are_same = numbers.len() == expected.len()
            && numbers.iter().zip(&expected).all(|(a, b)| is_same(*a, *b));
        assert!(are_same, "{name}: {}: {numbers:?}", vector["file"]);
        let dims = vector["dims"].as_array().unwrap().iter().map(|dim| format!(" {dim}"));
        let dims: String = dims.collect();
        assert_eq!(head, format!("{} {}{dims}", vector["eltype"], vector["elbyte"]), "{name}");
        read += 1;
    }
    assert!(read >= least / share, "{name}: reads {read} of the vectors");
    let halves = home.path().join("halves.ra");
    let all = le(u16::to_le_bytes, 0..=u16::MAX);
    std::fs::write(&halves, raw_array(FLOAT16, &[1 << 16], &all)).unwrap();
    let text = String::from_utf8(run(&[halves.to_str().unwrap()]).stdout).unwrap();
    let found: Vec<f64> = text.lines().skip(1).map(number).collect();
    let expected = (0..=u16::MAX).map(|bits| half::f16::from_bits(bits).to_f64());
    assert!(found.len() == 1 << 16, "{name}: {} numbers", found.len());
    for (found, expected) in found.into_iter().zip(expected) {
        assert!(is_same(found, expected), "{name}: {found}, expected {expected}");
    }
    let pack = vectors_at.join("packs/plain.zip");
    let output = run(&[pack.to_str().unwrap(), "run/b.ra"]);
    assert_prints(&output, "3 4 2 2\n1\n2\n3\n4\n", name);
    assert!(!run(&[pack.to_str().unwrap(), "run/c.ra"]).status.success(), "{name}");
    let lines = std::fs::read_to_string(readers().join(name)).unwrap().lines().count();
    assert!(lines <= 60, "{name}: {lines} lines");
}

#[test]
#[cfg(unix)] // cc
fn the_reader_in_c_reads_the_vectors() {
    reads_the_vectors("read_array.c", 1, 20);
}

#[test]
#[ignore = "slow"]
fn the_reader_in_python_reads_the_vectors() {
    reads_the_vectors("read_array.py", one_of(4), 20);
}

#[test]
#[ignore = "slow"]
fn the_reader_in_javascript_reads_the_vectors() {
    reads_the_vectors("read_array.js", one_of(4), 20);
}

#[test]
#[ignore = "slow"]
fn the_reader_in_r_reads_the_vectors() {
    reads_the_vectors("read_array.R", one_of(4), 17);
}

#[test]
#[ignore = "slow"]
fn the_reader_in_octave_reads_the_vectors() {
    reads_the_vectors("read_array.m", one_of(4), 19);
}

/// Valid packs that use what the verifier in Python lacks.
const NOT_TOLD: [&str; 7] = [
    "code-page.zip",
    "bag-latin.zip",
    "bag-0.97.zip",
    "bag-normalized.zip",
    "bag-fetch.zip",
    "zstd.zip",
    "plain.tar.zst",
];

/// Packs that break rules of which the verifier says that it does not check them, apart from those of descriptions.
const NOT_CHECKED: [&str; 6] = [
    "bad-copy.zip",
    "bad-archive-digest.zip",
    "bad-zip64-member.zip",
    "bad-extra.zip",
    "bad-pax.tar",
    "bad-pax-twice.tar",
];

/// Runs a program once for each path, and prints the exit status and the message of each as JSON.
const RUN_EACH: &str = "
import contextlib, io, json, runpy, sys
program, *paths = sys.argv[1:]
ended = []
for path in paths:
    sys.argv, status, said = [program, path], 0, io.StringIO()
    with contextlib.redirect_stdout(None), contextlib.redirect_stderr(said):
        try:
            runpy.run_path(program, run_name='__main__')
        except SystemExit as end:
            status = end.code
    ended.append([1, status] if isinstance(status, str) else [status, said.getvalue()])
print(json.dumps(ended))
";

/// The verifier in Python knows the specification and no code of ra-pack. It never takes a pack of the vectors for
/// another kind than it says.
#[test]
fn the_verifier_in_python_agrees_about_every_pack_of_the_vectors() {
    if !installed(&["python3"]) {
        return;
    }
    let verifier = readers().join("verify.py");
    let lines = std::fs::read_to_string(&verifier).unwrap().lines().count();
    assert!(lines <= 150, "{lines} lines");
    let verify = |paths: &[PathBuf]| -> Vec<(i32, String)> {
        let mut python = Command::new("python3");
        let ran = python.args(["-c", RUN_EACH]).arg(&verifier).args(paths).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        serde_json::from_slice(&ran.stdout).unwrap()
    };
    let packs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/packs");
    let vectors = vectors("packs");
    let name = |vector: &Value| {
        vector["file"].as_str().unwrap().strip_prefix("packs/").unwrap().to_owned()
    };
    let paths: Vec<_> = vectors.iter().map(|vector| packs.join(name(vector))).collect();
    for (vector, (status, said)) in vectors.iter().zip(verify(&paths)) {
        let name = &*name(vector);
        let mut codes = vector["errors"].as_array().unwrap().iter();
        let is_of_descriptions =
            |code: &str| ["DESC", "NDL"].iter().any(|family| code.starts_with(family));
        let is_sound = codes.all(|code| is_of_descriptions(code.as_str().unwrap()));
        match (is_sound, NOT_TOLD.contains(&name), NOT_CHECKED.contains(&name)) {
            (true, false, _) | (false, _, true) => assert_eq!(status, 0, "{name}: {said}"),
            (true, true, _) => assert_eq!(status, 2, "{name}: {said}"),
            (false, ..) => assert_ne!(status, 0, "{name}: {said}"),
        }
    }
    // The same bag as a directory.
    let home = TempDir::new().unwrap();
    ra_pack()
        .args(["extract", "-q", "-C"])
        .args([home.path(), &*packs.join("bag.zip")])
        .assert()
        .success();
    assert_eq!(verify(&[home.path().join("bag")]), [(0, String::new())]);
}
