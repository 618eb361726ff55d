//! Support: lists the file system calls of a run, and kills a run at or fails one of them. `strace` sees every call, even
//! those that do not use the C library.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use crate::experiment::ra_pack;
use crate::foreign::installed;

/// Fault at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The process is killed at the call.
    Kill,
    /// The call fails with this error.
    Error(&'static str),
}

/// A call of a run.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) name: String,
    /// Number among the calls of the same name, from 1.
    nth: usize,
    /// Line of `strace`.
    pub(super) line: String,
    /// Whether its file descriptor is that of a directory.
    pub(super) is_of_directory: bool,
}

/// Outcome of a run.
#[derive(Debug)]
pub(super) struct Ended {
    /// Exit status; `None` if it was killed.
    pub(super) code: Option<i32>,
    pub(super) err: String,
    /// The call that was killed or failed.
    pub(super) met: Option<String>,
}

/// Whether `strace` is installed and may trace; if not, records the skipped test.
pub(super) fn is_there() -> bool {
    if !cfg!(target_os = "linux") {
        super::skip("strace needs Linux");
        return false;
    }
    if !installed(&["strace"]) {
        return false;
    }
    let may = Command::new("strace").args(["-o", "/dev/null", "true"]).output().unwrap();
    if !may.status.success() {
        super::skip(&format!("strace may not trace: {}", String::from_utf8_lossy(&may.stderr)));
    }
    may.status.success()
}

/// Returns `strace` for calls with these names, which it writes to `log`. To decode others takes as long as the run.
fn strace(log: &Path, names: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-e", &format!("trace={names}"), "-e", "signal=none"]);
    command.arg("-o").arg(log);
    // Absolute paths make the log unambiguous.
    command.env_remove("SOURCE_DATE_EPOCH").env_remove("RUST_BACKTRACE").current_dir("/");
    // With several arenas, the allocator reads a file in /proc when a thread frees memory.
    command.env("MALLOC_ARENA_MAX", "1").args(arguments);
    command
}

/// Returns the calls of the first thread about files below `below`. With one job, other threads only read.
pub(super) fn calls(arguments: &[String], below: &Path, log: &Path) -> Vec<Call> {
    let mut command = strace(log, "%file,%desc", &[]);
    let output = command.arg(ra_pack().get_program()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(log).unwrap();
    let first = log.split(' ').next().unwrap();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let (thread, rest) = line.split_once(' ').unwrap();
        let rest = rest.trim_start();
        let Some((name, _)) = rest.split_once('(').filter(|_| !rest.starts_with(['<', '+'])) else {
            continue;
        };
        // The standard library uses `F_GETFD` only in builds with debug assertions.
        let concerns = rest.contains(below.to_str().unwrap())
            && name != "execve"
            && !rest.contains(", F_GETFD");
        if thread != first {
            let harmless = ["read", "pread64", "close", "fcntl", "statx"].contains(&name);
            assert!(!concerns || harmless, "another thread calls {rest}");
            continue;
        }
        let nth = numbers.entry(name).or_default();
        *nth += 1;
        if concerns {
            let is_of_directory = is_of_directory(rest);
            let line = rest.to_owned();
            calls.push(Call { name: name.to_owned(), nth: *nth, line, is_of_directory });
        }
    }
    calls
}

/// Whether the first argument of a call is the file descriptor of a directory.
pub(super) fn is_of_directory(line: &str) -> bool {
    let of = line.split(['<', '>']).nth(1).unwrap_or_default();
    Path::new(of).is_dir()
}

/// Runs with `fault` at `call`.
pub(super) fn run(arguments: &[String], call: &Call, fault: Fault, log: &Path) -> Ended {
    let how = match fault {
        Fault::Kill => "signal=SIGKILL".to_owned(),
        Fault::Error(error) => format!("error={error}"),
    };
    let inject = format!("inject={}:{how}:when={}", call.name, call.nth);
    let mut command = strace(log, &call.name, &["-e", &inject]);
    let output = command.arg(ra_pack().get_program()).args(arguments).output().unwrap();
    let log = fs::read_to_string(log).unwrap();
    let met = match fault {
        Fault::Kill => output.status.signal().map(|_| call.line.clone()),
        Fault::Error(_) => injected(&log),
    };
    Ended {
        code: output.status.code(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        met,
    }
}

/// Returns the call that failed, joined if the log has it in two parts.
fn injected(log: &str) -> Option<String> {
    let mut lines = log.lines();
    let met = lines.find(|line| line.contains("(INJECTED)"))?;
    if !met.contains(" resumed>") {
        return Some(met.to_owned());
    }
    let thread = met.split(' ').next()?;
    let begins =
        |line: &&str| line.split(' ').next() == Some(thread) && line.ends_with("<unfinished ...>");
    let before = log.split(met).next()?;
    before.lines().rfind(begins).map(|begun| format!("{begun}{met}"))
}
