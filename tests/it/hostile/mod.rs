//! Malformed archives: each is a valid pack with one error, and the answer is known.
//!
//! The numbers are those of a catalogue of malformed inputs. `verify` must give the answer in bounded time and memory, and
//! `extract` must never write outside its target, through a link, or an untrusted member.

#![expect(clippy::too_many_lines, reason = "a table is as long as it has rows")]

mod arrays;
mod containers;
mod doors;
mod manifests;
mod members;
mod names;
#[cfg(unix)]
mod pipes;
mod tars;
#[cfg(unix)] // names that other systems do not support
mod terminal;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::experiment::{FLOAT32, le, ra_pack, raw_array, read_tree};
use crate::raw_tar;
use crate::raw_zip::{DEFLATE, Entry, Header, STORED, Zip, deflate_stored};
use crate::run::unhelpful;

/// Longest time for one archive, generous because all are small.
const TIME: Duration = Duration::from_secs(30);
/// Limit of the address space of a run, in KiB, if the shell supports it.
const MEMORY_KIB: u32 = 2 << 20;

/// Expected answer of `verify`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Exit status 1 and an error with this code.
    Reject(&'static str),
    /// Exit status 0 and a warning with this code.
    Warn(&'static str),
    /// Exit status 0 without errors and warnings.
    Accept,
}

use Answer::{Accept, Reject, Warn};

struct Case {
    /// Row of the catalogue, and the error.
    name: &'static str,
    /// Name of the file.
    file: &'static str,
    bytes: Vec<u8>,
    answer: Answer,
    /// Names that `extract` must not create.
    never: &'static [&'static str],
}

fn case(name: &'static str, file: &'static str, bytes: Vec<u8>, answer: Answer) -> Case {
    Case { name, file, bytes, answer, never: &[] }
}

impl Case {
    fn never(self, never: &'static [&'static str]) -> Self {
        Self { never, ..self }
    }
}

type Files = Vec<(String, Vec<u8>)>;

const MANIFEST: &str = "manifest-sha256.txt";
const YAML: &str = "ndarrays:\n  a:\n    shape: [3]\n    type: float32\n";

fn array() -> Vec<u8> {
    raw_array(FLOAT32, &[3], &le(f32::to_le_bytes, [1.0, 2.0, 3.0]))
}

/// Returns the files of a valid pack without its manifest.
fn files() -> Files {
    [
        ("a.ra", array()),
        ("a.yaml", YAML.into()),
        ("dir/notes.txt", b"The temperature of the sea.\n".to_vec()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .into()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

fn manifest_of(files: &Files) -> String {
    let line = |(name, bytes): &(String, Vec<u8>)| format!("{}  {name}\n", sha256(bytes));
    files.iter().map(line).collect()
}

/// Adds the manifest to the files.
fn listed(mut files: Files) -> Files {
    let manifest = manifest_of(&files);
    files.push((MANIFEST.to_owned(), manifest.into_bytes()));
    files
}

fn replace(files: &mut Files, name: &str, bytes: impl AsRef<[u8]>) {
    files.iter_mut().find(|(file, _)| file == name).unwrap().1 = bytes.as_ref().to_vec();
}

/// Returns a valid zip with a changed structure.
fn zip(change: impl FnOnce(&mut Zip)) -> Vec<u8> {
    let mut zip = Zip::of(&listed(files()));
    change(&mut zip);
    zip.to_bytes()
}

/// Returns a zip of files that are changed before the manifest is made.
fn with_files(change: impl FnOnce(&mut Files)) -> Vec<u8> {
    let mut files = files();
    change(&mut files);
    Zip::of(&listed(files)).to_bytes()
}

/// Returns a zip with another file.
fn with_file(name: &str, bytes: &[u8]) -> Vec<u8> {
    with_files(|files| files.push((name.to_owned(), bytes.to_vec())))
}

/// Returns a zip with a changed manifest.
fn with_manifest(change: impl FnOnce(String) -> Vec<u8>) -> Vec<u8> {
    let mut files = files();
    let manifest = change(manifest_of(&files));
    files.push((MANIFEST.to_owned(), manifest));
    Zip::of(&files).to_bytes()
}

fn with_array(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    with_files(|files| replace(files, "a.ra", bytes))
}

/// Returns an array with these header fields before its dims, and matching data.
fn with_header(fields: [u64; 5], dims: &[u64]) -> Vec<u8> {
    let mut bytes = b"rawarray".to_vec();
    for field in fields.iter().chain(dims) {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend([0; 12]);
    with_array(bytes)
}

fn with_yaml(text: impl AsRef<[u8]>) -> Vec<u8> {
    with_files(|files| replace(files, "a.yaml", text))
}

fn described(shape: &str, datatype: &str) -> Vec<u8> {
    with_yaml(format!("ndarrays:\n  a:\n    shape: {shape}\n    type: {datatype}\n"))
}

fn tar(change: impl FnOnce(&mut Vec<raw_tar::Entry>)) -> Vec<u8> {
    let mut entries = raw_tar::files(&listed(files()));
    change(&mut entries);
    raw_tar::tar(&entries)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate_zeros(length: usize) -> Vec<u8> {
    let mut encoder =
        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    let block = vec![0; 1 << 16];
    for _ in 0..length.div_ceil(block.len()) {
        encoder.write_all(&block).unwrap();
    }
    encoder.finish().unwrap()
}

const NOTES: &str = "dir/notes.txt";
const NOTE: &[u8] = b"The temperature of the sea.\n";

/// Returns a zip with `notes.txt` compressed and changed.
fn deflated(change: impl FnOnce(&mut Entry)) -> Vec<u8> {
    zip(|zip| {
        *zip.entry(NOTES) = Entry::packed(NOTES, DEFLATE, deflate_stored(NOTE), NOTE);
        change(zip.entry(NOTES));
    })
}

/// Returns a zip with a file of another name in the manifest.
fn named(name: &str) -> Vec<u8> {
    with_file(name, b"content")
}

/// Runs the program with bounded time and, if the shell supports it, bounded memory.
fn bounded(arguments: &[&str], directory: &Path) -> Output {
    let program = ra_pack().get_program().to_owned();
    let mut command = if cfg!(target_os = "linux") {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {MEMORY_KIB} && exec \"$0\" \"$@\"")).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.args(arguments).current_dir(directory).timeout(TIME).output().unwrap()
}

/// Returns the difference between the answer of `verify` and the expected one.
fn objection_to_verify(case: &Case, directory: &Path) -> Option<String> {
    let output = bounded(&["verify", "-j", "2", case.file], directory);
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let (status, fits) = match case.answer {
        Reject(code) => (1, said.contains(&format!("error[{code}]"))),
        Warn(code) => (0, said.contains(&format!("warning[{code}]")) && !said.contains("error[")),
        Accept => (0, !said.contains("error[") && !said.contains("warning[")),
    };
    if fits && output.status.code() == Some(status) && !said.contains('\u{1b}') {
        return None;
    }
    let said: String = said.chars().take(1500).collect();
    Some(format!("{}: expected {:?}, found {}:\n{said}", case.name, case.answer, output.status))
}

/// Returns findings of `verify` without a hint.
fn objection_to_hints(case: &Case, directory: &Path) -> Option<String> {
    let output = bounded(&["verify", "--json", case.file], directory);
    let text = String::from_utf8_lossy(&output.stdout);
    let Ok(report) = serde_json::from_str(&text) else {
        return Some(format!("{}: no report: {text}", case.name));
    };
    let unhelpful = unhelpful(&report);
    (!unhelpful.is_empty()).then(|| format!("{}: no help: {unhelpful:#?}", case.name))
}

/// Returns errors of `extract`.
fn objection_to_extract(case: &Case, directory: &Path) -> Option<String> {
    let before: BTreeSet<String> = read_tree(directory).into_keys().collect();
    let output = bounded(&["extract", "-j", "2", "-C", "inner/target", case.file], directory);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let complain = |what: String| {
        let stderr: String = stderr.chars().take(800).collect();
        Some(format!("{}: extract {what} ({}):\n{stderr}", case.name, output.status))
    };
    if !matches!(output.status.code(), Some(0..=2)) || stderr.contains("panicked") {
        return complain("did not end by itself".to_owned());
    }
    if case.answer == Accept && output.status.code() == Some(1) {
        return complain("refused a valid archive".to_owned());
    }
    let target = directory.join("inner/target");
    for name in case.never {
        if fs::symlink_metadata(target.join(name)).is_ok() {
            return complain(format!("made `{name}`"));
        }
    }
    if target.exists() {
        fs::remove_dir_all(&target).unwrap();
    }
    let after: BTreeSet<String> = read_tree(directory).into_keys().collect();
    let made: Vec<_> =
        after.difference(&before).filter(|name| !name.starts_with("inner/")).collect();
    let inside = fs::read_dir(directory.join("inner")).map_or(0, Iterator::count);
    if made.is_empty() && inside == 0 {
        return None;
    }
    complain(format!("wrote outside its target: {made:?}, {inside} in `inner`"))
}

fn judge(cases: &[Case]) {
    let objections: Vec<String> = cases
        .iter()
        .flat_map(|case| {
            let directory = TempDir::new().unwrap();
            fs::write(directory.path().join(case.file), &case.bytes).unwrap();
            let verified = objection_to_verify(case, directory.path());
            let hints = objection_to_hints(case, directory.path());
            let extracted = objection_to_extract(case, directory.path());
            verified.into_iter().chain(hints).chain(extracted)
        })
        .collect();
    let count = objections.len();
    assert!(objections.is_empty(), "{count} objections:\n\n{}", objections.join("\n"));
}

/// Returns the malformed archives that are single files, with their names.
pub(crate) fn malformed() -> Vec<(&'static str, Vec<u8>)> {
    let all = [
        containers::cases(),
        members::cases(),
        names::cases(),
        manifests::cases(),
        arrays::cases(),
        tars::cases(),
    ];
    all.into_iter().flatten().map(|case| (case.file, case.bytes)).collect()
}

#[test]
fn malformed_containers_are_refused() {
    judge(&containers::cases());
}

#[test]
fn malformed_members_are_refused() {
    judge(&members::cases());
}

#[test]
fn unsafe_names_are_refused_and_odd_ones_cause_warnings() {
    judge(&names::cases());
}

#[test]
fn malformed_manifests_are_refused() {
    judge(&manifests::cases());
}

#[test]
#[ignore = "slow"]
fn contradicting_arrays_and_descriptions_are_refused() {
    judge(&arrays::cases());
}

#[test]
#[ignore = "slow"]
fn malformed_tars_are_refused() {
    judge(&tars::cases());
}

/// The unchanged archives of these tests must be correct.
#[test]
fn the_headers_of_a_member_agree_unless_they_are_changed() {
    let entry = Entry::stored("a", b"abc");
    let Header { method, crc, size, .. } = entry.local;
    assert_eq!((method, crc, size), (STORED, 0x3524_41c2, 3));
    assert_eq!(entry.local.name, entry.central.name);
}

/// The archive is valid: other programs decode it on request.
#[test]
fn a_window_that_needs_too_much_memory_is_not_supported_and_takes_none() {
    let directory = TempDir::new().unwrap();
    // A single raw block of one byte, with a window of 2 GiB.
    let frame = b"\x28\xb5\x2f\xfd\x00\xa8\x09\x00\x00x";
    let whole = zstd::encode_all(&tar(|_| {})[..], 3).unwrap();
    for bytes in [frame.to_vec(), [&whole[..], frame].concat()] {
        fs::write(directory.path().join("a.tar.zst"), bytes).unwrap();
        for command in ["verify", "extract", "list"] {
            let output = bounded(&[command, "a.tar.zst"], directory.path());
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{command}: {said}");
            assert!(
                said.contains("`a.tar.zst`") && said.contains("--long=31"),
                "{command}: {said}"
            );
        }
    }
    let zip = zip(|zip| *zip.entry(NOTES) = Entry::packed(NOTES, 93, frame.to_vec(), b"x"));
    fs::write(directory.path().join("a.zip"), zip).unwrap();
    let output = bounded(&["verify", "a.zip"], directory.path());
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(1) && said.contains("error[ARC008]"), "{said}");
}

/// The archive is in the packed directory, and so are its unfinished versions.
#[test]
fn create_does_not_pack_or_report_its_own_output() {
    let directory = TempDir::new().unwrap();
    for (name, bytes) in files() {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let arguments =
        ["create", ".", "-o", "a.zip", "--strict", "--archive-digest", "--exclude", "a.zip*"];
    let output = bounded(&arguments, directory.path());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("unfinished"), "{output:?}");
}
