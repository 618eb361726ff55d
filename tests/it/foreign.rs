//! Other tools must read an archive and extract the packed files.
//!
//! A tool that is not installed is skipped with a message; with `RA_PACK_REQUIRE_TOOLS=1` the test fails.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::experiment::read_tree;
use crate::skips::skip;

/// A command that reads an archive, with placeholders `{archive}` and `{into}`, a new directory.
struct Reader {
    /// Programs that must be installed; the first is run.
    programs: &'static [&'static str],
    arguments: &'static [&'static str],
    /// Extensions of the archives that it reads.
    reads: &'static [&'static str],
}

const fn reader(
    programs: &'static [&'static str],
    arguments: &'static [&'static str],
    reads: &'static [&'static str],
) -> Reader {
    Reader { programs, arguments, reads }
}

const TARS: &[&str] = &[".tar", ".tar.gz", ".tgz"];
const TAR_ZST: &[&str] = &[".tar.zst"];
const ZIP: &[&str] = &[".zip"];
const ALL: &[&str] = &[".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst"];

const TEST_ZIP: &str = "import sys, zipfile
bad = zipfile.ZipFile(sys.argv[1]).testzip()
sys.exit(bad and f'{bad} is damaged')";

/// Tools that must accept archives of ra-pack.
const READERS: &[Reader] = &[
    reader(&["unzip"], &["-tqq", "{archive}"], ZIP),
    reader(&["unzip"], &["-qq", "{archive}", "-d", "{into}"], ZIP),
    reader(&["7z"], &["t", "-bd", "{archive}"], &[".zip", ".tar"]),
    reader(&["7z"], &["x", "-bd", "-o{into}", "{archive}"], &[".zip", ".tar"]),
    reader(&["bsdtar"], &["-tf", "{archive}"], ALL),
    reader(&["bsdtar"], &["-xf", "{archive}", "-C", "{into}"], ALL),
    reader(&["tar"], &["-tf", "{archive}"], TARS),
    reader(&["tar"], &["-xf", "{archive}", "-C", "{into}"], TARS),
    reader(&["tar", "zstd"], &["-xf", "{archive}", "-C", "{into}"], TAR_ZST),
    reader(&["python3"], &["-c", TEST_ZIP, "{archive}"], ZIP),
    reader(&["python3"], &["-m", "zipfile", "-e", "{archive}", "{into}"], ZIP),
    reader(&["python3"], &["-m", "tarfile", "-e", "{archive}", "{into}"], TARS),
];

impl Reader {
    /// Runs the tool. Returns its error, or the extracted files, `None` if it only tests.
    fn run(&self, archive: &Path) -> Result<Option<TempDir>, String> {
        let into = TempDir::new().unwrap();
        let fill = |argument: &&str| {
            let archive = archive.to_str().unwrap();
            argument.replace("{archive}", archive).replace("{into}", into.path().to_str().unwrap())
        };
        let mut command = Command::new(self.programs[0]);
        complaint(command.args(self.arguments.iter().map(fill)))?;
        let extracts = self.arguments.iter().any(|argument| argument.contains("{into}"));
        Ok(extracts.then_some(into))
    }
}

/// Has every tool read `archive` and compares the extracted files with `expected`, a tree from [`read_tree`].
///
/// # Panics
///
/// If a tool refuses the archive or extracts other files. The message names the tool.
pub(crate) fn assert_accepted(archive: &Path, expected: &BTreeMap<String, Vec<u8>>) {
    let objections = objections(archive, expected);
    assert!(objections.is_empty(), "{}:\n{}", archive.display(), objections.join("\n"));
}

fn objections(archive: &Path, expected: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let name = archive.file_name().unwrap().to_str().unwrap();
    let is_for_it = |reader: &&Reader| reader.reads.iter().any(|end| name.ends_with(end));
    let mut objections = Vec::new();
    let mut readers = 0;
    for reader in READERS.iter().filter(is_for_it) {
        readers += 1;
        if !installed(reader.programs) {
            continue;
        }
        let what = format!("`{} {}`", reader.programs[0], reader.arguments.join(" "));
        match reader.run(archive) {
            Err(refusal) => objections.push(format!("{what} refused it: {refusal}")),
            Ok(None) => {}
            Ok(Some(into)) => {
                let differences = differences(&read_tree(into.path()), expected);
                if !differences.is_empty() {
                    objections.push(format!("{what} extracted {}", differences.join(", ")));
                }
            }
        }
    }
    assert!(readers > 0, "no tool is known for `{name}`");
    objections
}

/// Checks the tree at `directory` with `sha256sum`.
///
/// # Panics
///
/// If a line of the manifest is malformed, a file is missing, or a digest differs.
pub(crate) fn assert_sha256sum_passes(directory: &Path, manifest: &str) {
    if let Err(refusal) = sha256sum(directory, manifest) {
        panic!("`sha256sum -c --strict {manifest}` in {}: {refusal}", directory.display());
    }
}

fn sha256sum(directory: &Path, manifest: &str) -> Result<(), String> {
    if !installed(&["sha256sum"]) {
        return Ok(());
    }
    let mut command = Command::new("sha256sum");
    complaint(command.args(["-c", "--strict", "--quiet", manifest]).current_dir(directory))
}

/// Whether all `programs` are installed. If not, prints a message, and fails if they are required.
pub(crate) fn installed(programs: &[&str]) -> bool {
    let directories: Vec<_> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let stands = |program: &&&str| directories.iter().any(|path| path.join(program).is_file());
    let missing: Vec<_> = programs.iter().filter(|program| !stands(program)).copied().collect();
    if missing.is_empty() {
        return true;
    }
    let missing = missing.join("`, `");
    skip(&format!("`{missing}` is not installed"));
    false
}

/// Runs `command` in a UTF-8 locale.
///
/// # Errors
///
/// The exit status and both outputs, if the command fails.
pub(crate) fn complaint(command: &mut Command) -> Result<(), String> {
    let Output { status, stdout, stderr } =
        command.env("LC_ALL", "C.UTF-8").output().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    let said = [stdout, stderr].concat();
    Err(format!("{status}, {}", String::from_utf8_lossy(&said).trim()))
}

fn differences(
    found: &BTreeMap<String, Vec<u8>>,
    expected: &BTreeMap<String, Vec<u8>>,
) -> Vec<String> {
    let missing = expected.keys().filter(|name| !found.contains_key(*name));
    let surplus = found.keys().filter(|name| !expected.contains_key(*name));
    let changed =
        expected.iter().filter(|(name, bytes)| found.get(*name).is_some_and(|f| f != *bytes));
    missing
        .map(|name| format!("no `{name}`"))
        .chain(surplus.map(|name| format!("a surplus `{name}`")))
        .chain(changed.map(|(name, _)| format!("other bytes in `{name}`")))
        .collect()
}

/// Checks that these tools detect errors. The archives here are made by tools, too, so that only the tools are tested.
mod tests {
    use std::fs;

    use super::*;
    use crate::experiment::Experiment;

    fn packed_by(program: &str, arguments: &[&str], source: &Path, archive: &Path) -> bool {
        let mut command = Command::new(program);
        let run = command.args(arguments).arg(archive).arg(".").current_dir(source);
        installed(&[program]).then(|| complaint(run).unwrap()).is_some()
    }

    const PACKERS: &[(&str, &str, &[&str])] = &[
        ("a.zip", "bsdtar", &["--format=zip", "-cf"]),
        ("a.tar", "tar", &["-cf"]),
        ("a.tar.gz", "tar", &["-czf"]),
        ("a.tar.zst", "bsdtar", &["--zstd", "-cf"]),
    ];

    #[test]
    fn a_valid_archive_is_accepted() {
        let experiment = Experiment::standard();
        let scratch = TempDir::new().unwrap();
        for (name, program, arguments) in PACKERS {
            let archive = scratch.path().join(name);
            if packed_by(program, arguments, experiment.path(), &archive) {
                assert_accepted(&archive, &read_tree(experiment.path()));
            }
        }
    }

    #[test]
    fn every_tool_that_extracts_detects_another_tree() {
        let experiment = Experiment::standard();
        let scratch = TempDir::new().unwrap();
        let mut expected = read_tree(experiment.path());
        expected.remove("README.txt");
        expected.insert("run1/missing.txt".to_owned(), Vec::new());
        expected.insert("time.yaml".to_owned(), b"other".to_vec());
        for (name, program, arguments) in PACKERS {
            let archive = scratch.path().join(name);
            if packed_by(program, arguments, experiment.path(), &archive) {
                let objections = objections(&archive, &expected);
                assert!(objections.len() >= 2, "{name}: {objections:?}");
                for objection in objections {
                    let expected = "extracted no `run1/missing.txt`, a surplus `README.txt`, \
                                    other bytes in `time.yaml`";
                    assert!(objection.ends_with(expected), "{objection}");
                }
            }
        }
    }

    #[test]
    fn a_damaged_archive_is_refused() {
        // Long enough for the cut, and hardly compressible.
        let numbers = (0..10_000_u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes());
        let experiment = Experiment::new().file("data", numbers.collect::<Vec<u8>>());
        let scratch = TempDir::new().unwrap();
        for (name, program, arguments) in PACKERS {
            let archive = scratch.path().join(name);
            if packed_by(program, arguments, experiment.path(), &archive) {
                let mut bytes = fs::read(&archive).unwrap();
                bytes.truncate(bytes.len() / 3);
                fs::write(&archive, bytes).unwrap();
                let objections = objections(&archive, &read_tree(experiment.path()));
                assert!(objections.len() >= 2, "{name}: {objections:?}");
            }
        }
    }

    #[test]
    fn sha256sum_accepts_only_a_correct_manifest() {
        // The digest of "abc", from FIPS 180-2.
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let experiment = Experiment::new()
            .file("a b", "abc")
            .file("true", format!("{digest}  a b\n"))
            .file("false", format!("{}  a b\n", digest.replace('b', "c")))
            .file("malformed", format!("{digest}  a b\n{digest} a b\nx\n"))
            .file("incomplete", format!("{digest}  a b\n{digest}  a c\n"));
        assert_sha256sum_passes(experiment.path(), "true");
        if installed(&["sha256sum"]) {
            for manifest in ["false", "malformed", "incomplete"] {
                assert!(sha256sum(experiment.path(), manifest).is_err(), "{manifest}");
            }
        }
    }
}
