//! Logs of verifications: runs that are killed at any time, and a full disk. No result is lost or counted twice.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{Disk, noise};
use crate::experiment::{Experiment, ra_pack};
use crate::run::{Ran, pack, run_as};

/// Makes packs that take a few milliseconds each.
fn packs(scratch: &Path, count: u64) -> Vec<PathBuf> {
    let one = |number: u64| {
        let experiment = Experiment::new().file("a.bin", noise(number, 300_000));
        pack(&experiment, scratch, &format!("p{number:03}.zip"), &[])
    };
    (0..count).map(one).collect()
}

/// Returns a command that verifies `targets` with a log.
fn verify(targets: &[PathBuf], log: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(ra_pack().get_program());
    command.arg("verify").args(targets).arg("--log").arg(log).args(options);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Runs the command, and kills it after `delay`. Returns the targets of the lines that it printed, and whether it was
/// killed.
fn killed_after(mut command: Command, delay: Duration) -> (Vec<String>, bool) {
    let mut child = command.spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        let parsed = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        parsed.map(|line| line["target"].as_str().unwrap().to_owned()).collect()
    });
    thread::sleep(delay);
    let _ = child.kill();
    let status = child.wait().unwrap();
    (reader.join().unwrap(), !status.success())
}

/// Returns how often each target is in the log, and the number of lines that are not complete.
fn counted(log: &Path) -> (BTreeMap<String, u64>, u64) {
    let (mut targets, mut torn) = (BTreeMap::new(), 0);
    for line in fs::read_to_string(log).unwrap_or_default().lines() {
        match serde_json::from_str::<Value>(line) {
            Ok(line) => {
                *targets.entry(line["target"].as_str().unwrap().to_owned()).or_default() += 1;
            }
            Err(_) => torn += 1,
        }
    }
    (targets, torn)
}

fn audit(logs: &[PathBuf], options: &[&str]) -> Ran {
    run_as(ra_pack().arg("audit").args(logs).args(options))
}

#[test]
fn a_killed_audit_continues_and_repeats_only_the_targets_in_hand() {
    const PACKS: u64 = 60;
    let scratch = TempDir::new().unwrap();
    let packs = packs(scratch.path(), PACKS);
    let log = scratch.path().join("audit.jsonl");
    let begun = Instant::now();
    assert!(verify(&packs, &scratch.path().join("other"), &[]).status().unwrap().success());
    let whole = begun.elapsed();
    let (mut kills, mut runs) = (0, 0);
    while kills < 12 && counted(&log).0.len() < packs.len() {
        let delay = whole * (1 + runs % 7) / 20;
        runs += 1;
        let run = verify(&packs, &log, &["--json", "-j2", "--max-age", "1d"]);
        let (printed, is_killed) = killed_after(run, delay);
        kills += u64::from(is_killed);
        let (found, torn) = counted(&log);
        // A result that was printed is in the log.
        assert!(printed.iter().all(|target| found.contains_key(target)), "{printed:?} {found:?}");
        assert!(torn <= kills, "{torn}");
        // Two threads have one target each in hand, and nothing else is verified again.
        assert!(found.values().sum::<u64>() <= found.len() as u64 + 2 * kills, "{found:?}");
    }
    assert!(kills >= 3, "{kills} runs were killed");
    let mut last = verify(&packs, &log, &["--max-age", "1d"]);
    assert!(last.status().unwrap().success());
    let summary = audit(&[log], &["--json"]).exits(0).json();
    assert_eq!(summary["counts"], serde_json::json!({ "good": PACKS }));
    assert_eq!(summary["targets"].as_array().unwrap().len() as u64, PACKS);
}

#[test]
fn shards_of_several_workers_are_completed_after_kills() {
    let scratch = TempDir::new().unwrap();
    let large = (0..40).fold(Experiment::new(), |experiment, number| {
        experiment.file(&format!("{number:02}.bin"), noise(number, 500_000))
    });
    let target = [pack(&large, scratch.path(), "large.zip", &[])];
    let logs: Vec<PathBuf> =
        (1..=4).map(|number| scratch.path().join(format!("{number}.jsonl"))).collect();
    let shard = |number: usize| format!("--shard={number}/4");
    // Each worker is killed at another time, and begun again until its shard has a result.
    for round in 0..6_u32 {
        for (log, number) in logs.iter().zip(1..) {
            if counted(log).0.is_empty() {
                let run = verify(&target, log, &["--json", &shard(number)]);
                let delay = Duration::from_millis(u64::from(round) * 7 + number as u64);
                let (printed, _) = killed_after(run, delay);
                assert!(printed.is_empty() || !counted(log).0.is_empty(), "it was printed");
            }
        }
    }
    let open = logs.iter().filter(|log| counted(log).0.is_empty()).count();
    let existing: Vec<PathBuf> = logs.iter().filter(|log| log.exists()).cloned().collect();
    if open > 0 && !existing.is_empty() {
        audit(&existing, &[]).exits(1);
    }
    for (log, number) in logs.iter().zip(1..) {
        let mut run = verify(&target, log, &[&shard(number), "--max-age=1d"]);
        assert!(run.status().unwrap().success());
    }
    let joined = scratch.path().join("all.jsonl");
    let text: Vec<String> = logs.iter().map(|log| fs::read_to_string(log).unwrap()).collect();
    fs::write(&joined, [text.concat(), text.concat()].concat()).unwrap();
    let summary = audit(&[joined], &["--json"]).exits(0).json();
    assert_eq!(summary["counts"], serde_json::json!({ "good": 1 }));
}

#[test]
fn a_full_disk_ends_the_run_and_keeps_all_lines() {
    let Some(disk) = Disk::mount("16k") else { return };
    let scratch = TempDir::new().unwrap();
    let packs = packs(scratch.path(), 60);
    let log = disk.path().join("audit.jsonl");
    let mut command = ra_pack();
    command.arg("verify").args(&packs).arg("--log").arg(&log).args(["--json", "-j2"]);
    let ran = run_as(&mut command).exits(2).says(&["audit.jsonl", "No space left", "make room"]);
    let (found, torn) = counted(&log);
    assert_eq!(torn, 0);
    assert!((5..50).contains(&found.len()), "{}", found.len());
    assert!(fs::read_to_string(&log).unwrap().ends_with("}\n"));
    for line in String::from_utf8(ran.out).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(found.contains_key(line["target"].as_str().unwrap()), "{line}");
    }
    // With room, the next run continues.
    let moved = scratch.path().join("audit.jsonl");
    fs::copy(&log, &moved).unwrap();
    let mut rest = ra_pack();
    rest.arg("verify").args(&packs).arg("--log").arg(&moved).args(["--max-age", "1d"]);
    run_as(&mut rest).exits(0);
    let (found, torn) = counted(&moved);
    assert_eq!((found.len(), found.values().sum(), torn), (60, 60, 0));
}
