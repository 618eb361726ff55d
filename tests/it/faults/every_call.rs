//! Runs are killed at each of their file system calls, and each of these calls fails once. With one thread, the calls are
//! the same in every run. A long run tries every call, another one of [`SHARE`].

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::scenario::Scenario;
use super::strace::{self, Call, Ended, Fault};
use crate::experiment::read_tree;
use crate::page;
use crate::run::ra;
use crate::skips::one_of;

/// Smallest number of tested calls of each command, as on the page about reliability.
const POINTS: [(&str, usize, usize); 6] = [
    ("create", 400, 500),
    ("add", 300, 300),
    ("extract", 250, 350),
    ("get", 120, 200),
    ("describe", 40, 50),
    ("convert", 250, 450),
];

/// One of this number of calls is tried, except in a long run. The number has no factor in common with the lengths of
/// usual sequences of calls, so that each kind of call has its turn.
const SHARE: usize = 13;

/// Calls that fail on a full disk.
const NEED_ROOM: [&str; 11] = [
    "openat",
    "write",
    "pwrite64",
    "ftruncate",
    "fsync",
    "mkdir",
    "mkdirat",
    "rename",
    "renameat",
    "renameat2",
    "linkat",
];
/// Calls that are repeated after an interrupting signal.
const RESTARTED: [&str; 7] =
    ["openat", "read", "pread64", "write", "pwrite64", "fsync", "ftruncate"];

fn faults(call: &Call) -> Vec<Fault> {
    let mut faults = vec![Fault::Kill];
    // The standard library panics if a directory cannot be closed, and does not repeat opening one after a signal.
    // No local file system does either.
    // Staging directories are gone after the run.
    let is_staged = call.line.contains(".ra-pack-unfinished");
    if call.name != "close" || !(call.is_of_directory || is_staged) {
        faults.push(Fault::Error("EIO"));
    }
    if NEED_ROOM.contains(&&*call.name) && !call.line.contains("O_RDONLY") {
        faults.push(Fault::Error("ENOSPC"));
    }
    if RESTARTED.contains(&&*call.name) && !call.line.contains("O_DIRECTORY") {
        faults.push(Fault::Error("EINTR"));
    }
    faults
}

#[derive(Debug, Default)]
struct Counts {
    kills: usize,
    errors: usize,
    /// Number of runs that were not killed, by outcome.
    endings: BTreeMap<String, usize>,
    objections: Vec<String>,
}

/// Runs with `fault` at `call`; repeats if threads ended in another order and another call failed.
fn run(scenario: &Scenario, call: &Call, fault: Fault, log: &Path) -> Ended {
    let mut ended = strace::run(&scenario.arguments, call, fault, log);
    let base = scenario.base().to_str().unwrap();
    for _ in 0..9 {
        let of_kind = |met: &String| call.is_of_directory == strace::is_of_directory(met);
        if ended.met.as_ref().is_some_and(|met| met.contains(base) && of_kind(met)) {
            break;
        }
        scenario.reset();
        ended = strace::run(&scenario.arguments, call, fault, log);
    }
    ended
}

/// Tries every fault at one of `share` calls of one scenario.
fn try_calls(scenario: &Scenario, share: usize) -> Counts {
    let log = scenario.base().with_extension("strace");
    let calls = strace::calls(&scenario.arguments, scenario.base(), &log);
    scenario.reset();
    let surroundings = scenario.surroundings();
    let mut counts = Counts::default();
    for call in calls.iter().step_by(share) {
        for fault in faults(call) {
            let ended = run(scenario, call, fault, &log);
            let mut wrong = scenario.objections(ended.code, &ended.err);
            match ended.met {
                None => wrong.push("the fault did not happen".to_owned()),
                Some(met) if !met.contains(scenario.base().to_str().unwrap()) => {
                    wrong.push(format!("the fault happened to {met}"));
                }
                Some(_) => {}
            }
            match fault {
                Fault::Kill => counts.kills += 1,
                Fault::Error(error) => {
                    counts.errors += 1;
                    let ending = format!("{error}, exit {}", ended.code.unwrap_or(-1));
                    *counts.endings.entry(ending).or_default() += 1;
                    if error == "EINTR" && ended.code != Some(0) {
                        wrong.push("not repeated".to_owned());
                    }
                }
            }
            if scenario.surroundings() != surroundings {
                wrong.push("the input was changed".to_owned());
            }
            let name = &scenario.name;
            let said = &ended.err;
            counts.objections.extend(
                wrong.iter().map(|wrong| {
                    format!("{name}, {fault:?} at {}: {wrong}\n    {said}", call.line)
                }),
            );
            scenario.reset();
        }
    }
    std::fs::remove_file(log).unwrap();
    counts
}

/// Tries all scenarios of one command in parallel, and compares the number of calls with the page.
fn survive(command: &str, scenarios: &[Scenario]) {
    if !strace::is_there() {
        return;
    }
    let share = one_of(SHARE);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(try_calls(scenario, share));
        }
        done
    };
    let counts: Vec<Counts> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let kills: usize = counts.iter().map(|counts| counts.kills).sum();
    let errors: usize = counts.iter().map(|counts| counts.errors).sum();
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    for (ending, count) in counts.iter().flat_map(|counts| &counts.endings) {
        *endings.entry(ending).or_default() += count;
    }
    writeln!(io::stderr(), "{command}: killed at {kills} calls, {errors} failed: {endings:?}")
        .unwrap();
    let objections: Vec<_> = counts.into_iter().flat_map(|counts| counts.objections).collect();
    assert!(objections.is_empty(), "{}\n{}", objections.len(), objections.join("\n"));
    let (_, least_kills, least_errors) =
        POINTS.into_iter().find(|(name, ..)| *name == command).unwrap();
    assert!(
        kills * share >= least_kills && errors * share >= least_errors * 9 / 10,
        "{kills} {errors}"
    );
}

#[test]
#[ignore = "slow"]
fn create_survives_a_fault_at_any_call() {
    let create = Scenario::create;
    survive(
        "create",
        &[
            create(".zip", "--compression=zstd", true),
            create(".tar", "--layout=bagit", false),
            create(".tar.gz", "--layout=plain", true),
            create(".zip", "--layout=plain", false),
        ],
    );
}

#[test]
#[ignore = "slow"]
fn add_survives_a_fault_at_any_call() {
    let scenarios = [
        Scenario::add(".zip", &["--archive-digest"]),
        Scenario::add(".tar", &["--layout=bagit"]),
        Scenario::add(".tar.zst", &[]),
    ];
    survive("add", &scenarios);
}

/// A signature cannot be made again, so it must come back with its archive.
#[test]
fn the_files_next_to_an_archive_come_back_after_a_kill() {
    if !strace::is_there() {
        return;
    }
    let scenario = Scenario::add(".zip", &["--archive-digest"]);
    let log = scenario.base().with_extension("strace");
    let calls = strace::calls(&scenario.arguments, scenario.base(), &log);
    let is_rename = |call: &&Call| call.name.starts_with("rename");
    let mut set_aside = 0;
    for call in calls.iter().filter(is_rename) {
        scenario.reset();
        let before = read_tree(&scenario.place());
        run(&scenario, call, Fault::Kill, &log);
        let archive = scenario.place().join("x.zip");
        let now = read_tree(&scenario.place());
        if now["x.zip"] != before["x.zip"] {
            continue;
        }
        set_aside += usize::from(!now.contains_key("x.zip.manifest-sha256.txt.minisig"));
        ra("verify", &[&archive], &[]).exits(0);
        // A run that is refused brings them back.
        ra("add", &[&archive, Path::new("-C"), scenario.base()], &["none.txt"]).exits(2);
        let now = read_tree(&scenario.place());
        assert!(before.iter().all(|(name, bytes)| now.get(name) == Some(bytes)), "{}", call.line);
    }
    assert!(set_aside > 0);
}

#[test]
#[ignore = "slow"]
fn extract_survives_a_fault_at_any_call() {
    let scenarios = [(".zip", false), (".tar", true), (".tar.gz", false), (".tar.zst", true)]
        .map(|(ending, replaces)| Scenario::extract(ending, replaces));
    survive("extract", &scenarios);
}

#[test]
fn get_survives_a_fault_at_any_call() {
    let get = Scenario::get;
    survive(
        "get",
        &[
            get(".zip", "run1/a.ra", false),
            get(".zip", "run1/a.ra --slice 5:900", true),
            get(".tar", "run1/a.ra --format raw", false),
            get(".zip", "README.txt --no-check", false),
            get(".tar", "README.txt", true),
            get(".tar.gz", "run1/a.ra", true),
            get(".tar.zst", "b.ra", false),
        ],
    );
}

#[test]
#[ignore = "slow"]
fn convert_survives_a_fault_at_any_call() {
    let convert = Scenario::convert;
    survive(
        "convert",
        &[
            convert("{archive} --member run1/a --order row", "x.ra", false),
            convert("{source}/b.ra", "x.npy", true),
            convert("{archive}", "x.npz", false),
            convert("{archive}", "x.ds", true),
            convert("{archive}", "dir/", false),
        ],
    );
}

#[test]
fn describe_survives_a_fault_at_any_call() {
    survive("describe", &[Scenario::describe()]);
}

#[test]
fn the_table_of_faults_is_generated_from_the_tested_calls() {
    let rows =
        POINTS.map(|(command, kills, errors)| format!("| `{command}` | {kills} | {errors} |\n"));
    let head = "| command | killed at | calls that failed |\n|---|---|---|\n";
    page::check_tables("docs/reliability.md", &format!("{head}{}", rows.concat()));
}
