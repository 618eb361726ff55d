//! Support: runs of the binary, and their output.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::experiment::{Experiment, ra_pack};

/// Extensions of the archives that `create` makes.
pub(crate) const ENDINGS: [&str; 5] = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst"];

/// Exit status and output of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Ran {
    /// Returns the output of both streams.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", String::from_utf8_lossy(&self.out), self.err)
    }

    /// Checks the exit status.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.said());
        assert!(!self.said().contains("panicked"), "{}", self.said());
        self
    }

    /// Checks that the output contains each of `words`.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        let said = self.said();
        for word in words {
            assert!(said.contains(word), "no {word:?} in:\n{said}");
        }
        self
    }

    /// Returns the output of `--json`: one document on one line.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let text = std::str::from_utf8(&self.out).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(text).unwrap()
    }

    /// Returns codes and members of the findings in the output of `--json`, sorted.
    #[track_caller]
    pub(crate) fn findings(&self) -> Vec<(String, String)> {
        let json = self.json();
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or("").to_owned();
        let findings = json["findings"].as_array().unwrap().iter();
        let mut found: Vec<_> =
            findings.map(|finding| (text(finding, "code"), text(finding, "member"))).collect();
        found.sort();
        found
    }
}

/// Codes about the pack as a whole or a file next to it, without a member or place.
const ABOUT_ALL: [&str; 9] =
    ["MAN001", "MAN007", "MAN008", "BAG010", "PROF001", "PROF002", "REPO001", "REPO003", "ARC001"];

/// Returns findings without a hint, a member or a place.
pub(crate) fn unhelpful(report: &Value) -> Vec<Value> {
    let findings = report["findings"].as_array().unwrap().iter();
    let helps = |finding: &&Value| {
        let hint = finding["hint"].as_str().unwrap_or_default();
        let first = hint.chars().next();
        let is_placed = finding.get("member").or(finding.get("place")).is_some();
        // A count of unlisted findings has no place.
        let is_sum = finding["message"].as_str().unwrap().ends_with("not listed");
        first.is_some_and(|first| !first.is_uppercase())
            && !hint.ends_with('.')
            && (is_placed || is_sum || ABOUT_ALL.contains(&finding["code"].as_str().unwrap()))
    };
    findings.filter(|finding| !helps(finding)).cloned().collect()
}

/// Runs the binary.
pub(crate) fn run<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Ran {
    run_as(ra_pack().args(arguments))
}

/// Runs a command that runs the binary.
pub(crate) fn run_as(command: &mut assert_cmd::Command) -> Ran {
    ran(command.output().unwrap())
}

/// Runs the binary with a pipe as standard output whose reader has ended.
pub(crate) fn run_into_closed_pipe<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Ran {
    let mut command = Command::new(ra_pack().get_program());
    let command = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    ran(child.wait_with_output().unwrap())
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        out: output.stdout,
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns Cargo as called from a shell. `cargo test` describes the tested package in variables that the build script of
/// `ring` reads. With these, Cargo would build `ring` and its users again, and once more after the tests.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Runs `ra-pack COMMAND PATH… OPTION…`.
pub(crate) fn ra(command: &str, paths: &[&Path], options: &[&str]) -> Ran {
    let arguments = std::iter::once(OsStr::new(command))
        .chain(paths.iter().map(|path| path.as_os_str()))
        .chain(options.iter().map(OsStr::new));
    run(arguments)
}

/// Runs `ra-pack create SOURCE -o ARCHIVE OPTION…`.
pub(crate) fn create(source: &Path, archive: &Path, options: &[&str]) -> Ran {
    ra("create", &[source, Path::new("-o"), archive], options)
}

/// Runs `ra-pack extract ARCHIVE -C TARGET OPTION…`.
pub(crate) fn extract(archive: &Path, target: &Path, options: &[&str]) -> Ran {
    ra("extract", &[archive, Path::new("-C"), target], options)
}

/// Packs `experiment` as `name` in `scratch`, which must succeed.
#[track_caller]
pub(crate) fn pack(
    experiment: &Experiment,
    scratch: &Path,
    name: &str,
    options: &[&str],
) -> PathBuf {
    let archive = scratch.join(name);
    create(experiment.path(), &archive, options).exits(0);
    archive
}

/// Whether a name is that of an array.
pub(crate) fn is_array(name: &str) -> bool {
    name.strip_suffix(".ra").is_some()
}

/// Returns the sorted names in a directory, without those in subdirectories.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
