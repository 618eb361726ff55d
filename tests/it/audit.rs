//! `verify --log` and `ra-pack audit`: a line for every target, runs that continue, shards, and summaries of logs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use ra_pack::audit::{AuditLog, PlanOptions, plan};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::experiment::{Experiment, UINT8, ra_pack};
use crate::run::{Ran, pack, run, run_as};

/// Several packs with different contents, and a log that does not exist yet.
struct Store {
    scratch: TempDir,
    packs: Vec<PathBuf>,
}

impl Store {
    fn new(count: u8) -> Self {
        let scratch = TempDir::new().unwrap();
        let experiment = |number: u8| {
            Experiment::new()
                .array("a.ra", UINT8, &[4], &[number; 4])
                .describe("a.yaml", "[4]", "uint8")
        };
        let packs = (0..count)
            .map(|number| {
                pack(&experiment(number), scratch.path(), &format!("p{number:02}.zip"), &[])
            })
            .collect();
        Self { scratch, packs }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn log(&self) -> PathBuf {
        self.file("audit.jsonl")
    }

    /// Runs `verify` on all packs with the log.
    fn verify(&self, options: &[&str]) -> Ran {
        let log = self.log();
        let mut command = ra_pack();
        command.arg("verify").args(&self.packs).arg("--log").arg(log).args(options);
        run_as(&mut command)
    }

    /// Runs `audit` on the log.
    fn audit(&self, options: &[&str]) -> Ran {
        audit(&[&self.log()], options)
    }

    /// Changes a byte of the data of a pack.
    fn damage(&self, number: usize) {
        let mut bytes = fs::read(&self.packs[number]).unwrap();
        let data = [u8::try_from(number).unwrap(); 4];
        // The header of the array ends with the length of its dimension.
        let header = [&4_u64.to_le_bytes()[..], &data].concat();
        let at = bytes.windows(12).position(|window| window == header).unwrap();
        bytes[at + 9] ^= 1;
        fs::write(&self.packs[number], bytes).unwrap();
    }
}

fn audit(logs: &[&Path], options: &[&str]) -> Ran {
    run_as(ra_pack().arg("audit").args(logs).args(options))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn name(line: &Value) -> String {
    let path = Path::new(line["target"].as_str().unwrap());
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The names of the targets in a log.
fn names(path: &Path) -> Vec<String> {
    lines(path).iter().map(name).collect()
}

/// The states of all targets in a summary.
fn states(ran: &Ran) -> BTreeMap<String, String> {
    let report = ran.json();
    let targets = report["targets"].as_array().unwrap().iter();
    targets.map(|target| (name(target), target["state"].as_str().unwrap().to_owned())).collect()
}

/// A line of a log, as a later version could write it.
fn line(target: &str, started: &str, verdict: &str, more: &Value) -> String {
    let mut line = json!({
        "verdict": verdict,
        "error": null,
        "started": started,
        "shard": null,
        "archive_bytes": 100,
        "modified": "2026-01-01T00:00:00Z",
        "manifest_digest": "ab",
        "findings": [],
        "key_of_a_later_version": [1],
    });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let rest = line.to_string();
    // Every line begins with the target.
    format!("{{\"target\":{},{}\n", json!(target), &rest[1..])
}

#[test]
fn json_has_a_line_for_every_target_in_their_order() {
    let store = Store::new(2);
    store.damage(1);
    fs::write(store.file("text.zip"), "no zip").unwrap();
    fs::write(store.file("image.png"), b"\x89PNG\r\n\x1a\nxxxx").unwrap();
    let targets = ["none.zip", "p00.zip", "image.png", "p01.zip", "text.zip", "p00.zip/inside"];
    let paths = targets.map(|target| store.file(target));
    let ran = run_as(ra_pack().arg("verify").args(&paths).arg("--json")).exits(2);
    let text = String::from_utf8(ran.out).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<_> = lines
        .iter()
        .map(|line| {
            let kind = line["error"]["kind"].as_str().unwrap_or("");
            (line["verdict"].as_str().unwrap(), kind, line["exit_status"].as_u64().unwrap())
        })
        .collect();
    let expected = [
        ("unreadable", "missing", 2),
        ("valid", "", 0),
        ("unreadable", "not_a_pack", 2),
        ("not_valid", "", 1),
        ("not_valid", "", 1),
        ("unreadable", "missing", 2),
    ];
    assert_eq!(found, expected, "{text}");
    for (line, path) in lines.iter().zip(&paths) {
        assert_eq!(line["target"].as_str(), path.to_str());
        assert!(line["started"].as_str().unwrap().ends_with('Z'), "{line}");
        assert_eq!(line["version"], env!("CARGO_PKG_VERSION"));
        assert!(line["host"].as_str().is_some_and(|host| !host.is_empty()), "{line}");
        assert_eq!(line["shard"], Value::Null);
    }
    let valid = &lines[1];
    assert_eq!(valid["archive_bytes"], fs::metadata(&paths[1]).unwrap().len());
    let manifest = fs::read(store.file("p00.zip.manifest-sha256.txt")).unwrap();
    let digest = crate::bytes::sha256(&manifest);
    assert_eq!(valid["manifest_digest"], digest);
    assert_eq!(lines[4]["archive_bytes"], 6, "of a file that cannot be opened as a pack");
}

#[test]
fn results_are_in_the_order_of_many_targets() {
    let store = Store::new(9);
    store.damage(3);
    let repeated: Vec<&PathBuf> = store.packs.iter().cycle().take(100).collect();
    for jobs in ["-j1", "-j2", "-j7"] {
        let ran = run_as(ra_pack().arg("verify").args(&repeated).args(["--json", jobs])).exits(1);
        let text = String::from_utf8(ran.out).unwrap();
        let found: Vec<_> =
            text.lines().map(|line| name(&serde_json::from_str(line).unwrap())).collect();
        let expected: Vec<_> =
            repeated.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(found, expected, "{jobs}");
    }
}

#[test]
fn a_log_is_continued_and_recent_results_are_not_repeated() {
    let store = Store::new(4);
    store.verify(&[]).exits(0);
    assert_eq!(names(&store.log()).len(), 4);
    // Nothing is left to verify.
    store.verify(&["--max-age", "1d"]).exits(0).says(&["left out: 4 verified recently"]);
    assert_eq!(names(&store.log()).len(), 4);
    // Another time, another length, and damage found before.
    let later = SystemTime::now() + Duration::from_secs(5);
    fs::File::options().write(true).open(&store.packs[1]).unwrap().set_modified(later).unwrap();
    let time = fs::metadata(&store.packs[3]).unwrap().modified().unwrap();
    store.damage(3);
    fs::File::options().write(true).open(&store.packs[3]).unwrap().set_modified(time).unwrap();
    store.verify(&["--max-age", "1d"]).exits(0).says(&["3 verified recently"]);
    assert_eq!(names(&store.log())[4..], ["p01.zip"], "the time differs");
    let mut grown = fs::read(&store.packs[2]).unwrap();
    grown.push(0);
    fs::write(&store.packs[2], grown).unwrap();
    store.verify(&["--max-age", "1d"]).exits(1);
    assert_eq!(names(&store.log())[5..], ["p02.zip"]);
    // An old result, and one with errors, are repeated.
    store.verify(&["--max-age", "0s"]).exits(1);
    assert_eq!(names(&store.log()).len(), 10);
    store.verify(&["--max-age", "1d"]).exits(1).says(&["2 verified recently"]);
    let again: BTreeSet<_> = names(&store.log())[10..].iter().cloned().collect();
    assert_eq!(again, BTreeSet::from(["p02.zip".to_owned(), "p03.zip".to_owned()]));
    run(["verify", store.packs[0].to_str().unwrap(), "--max-age", "1d"]).exits(2).says(&["--log"]);
}

#[test]
fn a_budget_ends_the_run_with_the_oldest_targets_first() {
    let store = Store::new(4);
    let size = fs::metadata(&store.packs[0]).unwrap().len();
    let path = |number: usize| store.packs[number].to_str().unwrap().to_owned();
    let old = [
        line(&path(0), "2026-03-01T00:00:00Z", "valid", &json!({})),
        line(&path(2), "2026-01-01T00:00:00Z", "valid", &json!({})),
        line(&path(3), "2026-02-01T00:00:00Z", "valid", &json!({})),
    ];
    let verified = |options: &[&str]| {
        fs::write(store.log(), old.concat()).unwrap();
        let options = [&["-j1"], options].concat();
        store.verify(&options).exits(0);
        names(&store.log())[3..].to_vec()
    };
    let order = ["p01.zip", "p02.zip", "p03.zip", "p00.zip"];
    assert_eq!(verified(&["--budget", "1T"]), order);
    assert_eq!(verified(&["--budget", "1h"]), order);
    assert_eq!(verified(&["--budget", "60%"]), order[..2]);
    assert_eq!(verified(&["--budget", "0.001%"]), order[..1], "at least one");
    assert_eq!(verified(&["--budget", "0s"]), [""; 0]);
    assert_eq!(verified(&["--budget", "1K"]).len() as u64, (1024 / size).max(1));
    fs::write(store.log(), old.concat()).unwrap();
    store.verify(&["--budget", "60%"]).exits(0).says(&["left out: 2 beyond the budget"]);
    // Results of other logs count as well.
    fs::remove_file(store.log()).unwrap();
    fs::write(store.file("old.jsonl"), old.concat()).unwrap();
    let history = store.file("old.jsonl");
    store.verify(&["-j1", "--budget", "60%", "--history", history.to_str().unwrap()]).exits(0);
    assert_eq!(names(&store.log()), order[..2]);
}

#[test]
fn shards_of_a_list_have_every_target_once() {
    let store = Store::new(10);
    let mut all = Vec::new();
    for number in 1..=3 {
        let log = store.file(&format!("{number}.jsonl"));
        let shard = format!("{number}/3");
        let mut command = ra_pack();
        command.arg("verify").args(&store.packs).args(["--shard", &shard, "--log"]).arg(&log);
        run_as(&mut command).exits(0).says(&["in other shards"]);
        let names = names(&log);
        assert!((2..=5).contains(&names.len()), "{names:?}");
        all.extend(names);
        assert!(lines(&log).iter().all(|line| line["shard"].is_null()), "packs were read wholly");
    }
    all.sort_unstable();
    assert_eq!(all, (0..10).map(|number| format!("p{number:02}.zip")).collect::<Vec<_>>());
    run(["verify", "x", "--shard", "4/3"]).exits(2).says(&["2/8"]);
    run(["verify", "x", "--shard", "1/3", "--fast"]).exits(2);
}

/// Eight files of 3000 bytes, in different places of the archive.
fn eight() -> Experiment {
    (0..8).fold(Experiment::new(), |experiment, number| {
        experiment.file(&format!("{number}.bin"), [b'a' + number; 3000])
    })
}

#[test]
fn each_file_of_a_pack_is_read_in_one_shard() {
    let scratch = TempDir::new().unwrap();
    let directory = scratch.path().join("dir");
    for name in ["x.zip", "x.tar", "dir"] {
        let archive = if name == "dir" {
            let source = eight();
            run_as(
                ra_pack()
                    .arg("extract")
                    .arg(pack(&source, scratch.path(), "y.zip", &[]))
                    .arg("-C")
                    .arg(&directory),
            )
            .exits(0);
            directory.clone()
        } else {
            pack(&eight(), scratch.path(), name, &[])
        };
        let verify = |shard: &str, log: &Path| {
            run_as(ra_pack().arg("verify").arg(&archive).args(["--shard", shard, "--log"]).arg(log))
        };
        let log = scratch.path().join(format!("{name}.jsonl"));
        for shard in ["1/3", "2/3", "3/3"] {
            assert_eq!(
                states_or_empty(&log).get(name).map(String::as_str),
                match shard {
                    "1/3" => None,
                    _ => Some("incomplete"),
                }
            );
            verify(shard, &log).exits(0).says(&[&format!("contents of shard {shard}")]);
        }
        assert_eq!(states(&audit(&[&log], &["--json"]).exits(0))[name], "good");
        // Damage of one file is found by one shard.
        let mut found = BTreeMap::new();
        for number in 0..8_u8 {
            let (file, content) = if name == "dir" {
                let file = archive.join(format!("{number}.bin"));
                (file.clone(), fs::read(file).unwrap())
            } else {
                (archive.clone(), fs::read(&archive).unwrap())
            };
            let at = content.windows(500).position(|part| part == [b'a' + number; 500]).unwrap();
            let mut damaged = content.clone();
            damaged[at + 100] ^= 1;
            fs::write(&file, damaged).unwrap();
            let scrap = scratch.path().join("scrap.jsonl");
            let codes = ["1/3", "2/3", "3/3"].map(|shard| verify(shard, &scrap).code.unwrap());
            assert_eq!(codes.iter().sum::<i32>(), 1, "{name} {number}: {codes:?}");
            *found.entry(codes).or_insert(0) += 1;
            fs::write(&file, content).unwrap();
        }
        assert_eq!(found.len(), 3, "{name}: every shard has files: {found:?}");
    }
    // Every shard checks the structure.
    let archive = scratch.path().join("x.zip");
    let mut longer = fs::read(&archive).unwrap();
    longer.extend(b"more");
    fs::write(&archive, longer).unwrap();
    for shard in ["1/3", "2/3", "3/3"] {
        run(["verify", archive.to_str().unwrap(), "--shard", shard]).exits(1);
    }
    let compressed = pack(&eight(), scratch.path(), "x.tar.gz", &[]);
    run(["verify", compressed.to_str().unwrap(), "--shard", "1/3"]).exits(2).says(&["shard"]);
}

fn states_or_empty(log: &Path) -> BTreeMap<String, String> {
    if log.exists() { states(&audit(&[log], &["--json"])) } else { BTreeMap::new() }
}

#[test]
fn the_newest_results_decide_on_the_state() {
    let scratch = TempDir::new().unwrap();
    let log = scratch.path().join("log");
    let error = json!({"findings": [
        {"code": "MAN003", "severity": "error", "message": "the digest differs", "member": "a.ra"},
        {"code": "ARC001", "severity": "warning", "message": "odd"},
    ]});
    let missing = json!({"error": {"kind": "missing", "message": "cannot open it"}});
    let denied = json!({"error": {"kind": "permission_denied", "message": "cannot read it"}});
    let shard = |shard: &str, digest: &str| json!({"shard": shard, "manifest_digest": digest});
    let bad_shard = json!({"shard": "1/2", "findings": error["findings"]});
    let (jan, feb, mar) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z");
    let cases: &[(&str, &[String])] = &[
        ("good", &[line("t", jan, "not_valid", &error), line("t", feb, "valid", &json!({}))]),
        ("bad", &[line("t", jan, "valid", &json!({})), line("t", feb, "not_valid", &error)]),
        ("missing", &[line("t", jan, "valid", &json!({})), line("t", feb, "unreadable", &missing)]),
        ("unreadable", &[line("t", feb, "unreadable", &denied)]),
        ("not_verified", &[line("t", feb, "contents_not_read", &json!({}))]),
        ("not_verified", &[line("t", feb, "not_verified", &error)]),
        ("incomplete", &[line("t", feb, "valid", &shard("1/2", "a"))]),
        (
            "good",
            &[
                line("t", feb, "valid", &shard("1/2", "a")),
                line("t", mar, "valid", &shard("2/2", "a")),
            ],
        ),
        (
            "disagreeing",
            &[
                line("t", feb, "valid", &shard("1/2", "a")),
                line("t", mar, "valid", &shard("2/2", "b")),
            ],
        ),
        // Shards of different counts are not combined.
        (
            "incomplete",
            &[
                line("t", feb, "valid", &shard("1/2", "a")),
                line("t", mar, "valid", &shard("2/3", "a")),
            ],
        ),
        (
            "bad",
            &[line("t", feb, "valid", &shard("2/2", "a")), line("t", mar, "not_valid", &bad_shard)],
        ),
        // A complete verification after the error.
        ("good", &[line("t", feb, "not_valid", &bad_shard), line("t", mar, "valid", &json!({}))]),
        // Shards in progress do not replace an earlier result, but those of another manifest do.
        (
            "good",
            &[line("t", feb, "valid", &json!({})), line("t", mar, "valid", &shard("1/2", "a"))],
        ),
        (
            "disagreeing",
            &[
                line("t", jan, "valid", &json!({})),
                line("t", feb, "valid", &shard("1/2", "a")),
                line("t", mar, "valid", &shard("2/2", "b")),
            ],
        ),
    ];
    for (state, lines) in cases {
        // In one log, in one for each line in any order, and twice.
        let text = lines.concat();
        fs::write(&log, &text).unwrap();
        let each = lines.iter().enumerate().map(|(number, line)| {
            let path = scratch.path().join(format!("log{number}"));
            fs::write(&path, line).unwrap();
            path
        });
        let each: Vec<PathBuf> = each.collect();
        let logs: Vec<&Path> = each.iter().map(PathBuf::as_path).collect();
        let reversed: Vec<&Path> = logs.iter().rev().copied().collect();
        for logs in [&[&*log][..], &[&*log, &*log], &logs, &reversed] {
            let ran = audit(logs, &["--json"]).exits(i32::from(*state != "good"));
            assert_eq!(states(&ran)["t"], *state, "{text} {logs:?}");
        }
        fs::write(&log, [&*text, &*text].concat()).unwrap();
        assert_eq!(states(&audit(&[&log], &["--json"]))["t"], *state, "{text} twice");
    }
    fs::write(&log, line("t", jan, "not_valid", &error)).unwrap();
    audit(&[&log], &[]).exits(1).says(&["t: bad, never good: a.ra: the digest differs (MAN003)"]);
    assert_eq!(audit(&[&log], &["--json"]).json()["codes"], json!({"MAN003": 1}));
}

#[test]
fn old_results_are_stale_and_expected_targets_must_have_one() {
    let store = Store::new(2);
    store.verify(&[]).exits(0);
    let old = line("old.zip", "2020-01-01T00:00:00Z", "valid", &json!({}));
    let log = fs::read_to_string(store.log()).unwrap();
    fs::write(store.log(), old + &log).unwrap();
    store.audit(&[]).exits(0).says(&["3 packs: 3 good"]);
    let ran = store.audit(&["--max-age", "90d"]).exits(1);
    ran.says(&["old.zip: stale, last good 2020-01-01 (", "3 packs: 1 stale, 2 good"]);
    let list = store.file("list");
    fs::write(&list, format!("{}\nnew.zip\n", store.packs[0].display())).unwrap();
    let list = list.to_str().unwrap();
    let states = states(&store.audit(&["--max-age", "90d", "--files-from", list, "--json"]));
    let expected = [("new.zip", "never"), ("p00.zip", "good")];
    assert_eq!(states, expected.map(|(name, state)| (name.to_owned(), state.to_owned())).into());
    // A log without results is not a successful audit.
    fs::write(store.log(), "").unwrap();
    store.audit(&[]).exits(1).says(&["0 packs"]);
    fs::remove_file(store.log()).unwrap();
    store.audit(&[]).exits(2).says(&["cannot open"]);
}

#[test]
fn lines_that_cannot_be_read_need_attention() {
    let store = Store::new(1);
    store.verify(&[]).exits(0);
    let good = fs::read_to_string(store.log()).unwrap();
    let cut = &good[..good.len() / 2];
    let no_time = good.replace("\"started\"", "\"begun\"");
    let bad_time = line("t", "yesterday", "valid", &json!({}));
    let parts = [&no_time, "\n", cut, "\n", &good, "[1]\n\u{1b}[31m\n", &bad_time, cut];
    fs::write(store.log(), parts.concat()).unwrap();
    let ran = store.audit(&[]).exits(1);
    let place = |number: u32| format!("audit.jsonl:{number}: the line cannot be read: ");
    let skipped = [1, 3, 5, 6, 7, 8].map(place);
    ran.says(&skipped.each_ref().map(String::as_str)).says(&["1 pack: 1 good", "has no end"]);
    let json = store.audit(&["--json"]).json();
    assert_eq!((&json["lines"], &json["corrupt_lines"]), (&json!(1), &json!(6)));
    // The next line begins after the one that was cut.
    store.verify(&[]).exits(0);
    assert_eq!(store.audit(&["--json"]).json()["lines"], 2);
    // A file system that lost power can leave NULs, and a writer that was killed a part of a line.
    for lost in ["\0".repeat(100), "\0\n".to_owned(), cut.to_owned(), "{".to_owned()] {
        fs::write(store.log(), [&good, &*lost].concat()).unwrap();
        store.audit(&[]).exits(1).says(&["audit.jsonl:2: ", "1 pack: 1 good", "remove the line"]);
        store.verify(&["--max-age", "1d"]).exits(0).says(&["audit.jsonl:2: "]);
    }
}

#[test]
fn a_result_with_errors_is_later_than_the_lines_above_it() {
    let scratch = TempDir::new().unwrap();
    let (log, other) = (scratch.path().join("log"), scratch.path().join("other"));
    let (good, bad) = ("valid", "not_valid");
    let result = |(started, verdict): &(&str, &str)| line("t", started, verdict, &json!({}));
    let state = |log: &Path, lines: &[(&str, &str)]| {
        fs::write(log, lines.iter().map(result).collect::<String>()).unwrap();
        states(&audit(&[log], &["--json"])).remove("t").unwrap()
    };
    let [past, now, soon] =
        ["2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z"];
    let future = "2931-01-01T00:00:00Z";
    for (lines, expected) in [
        // The clock was ahead, and was corrected.
        (&[(soon, good), (now, bad)][..], "bad"),
        (&[(future, good), (now, bad)], "bad"),
        (&[(past, good), (future, good), (now, bad)], "bad"),
        // The same time.
        (&[(now, good), (now, bad)], "bad"),
        (&[(now, bad), (now, good)], "bad"),
        // A later time also shows that a result without errors is later.
        (&[(soon, good), (now, bad), (past, good)], "bad"),
        (&[(future, good), (now, bad), (soon, good)], "good"),
        (&[(future, bad), (now, good)], "good"),
        (&[(now, bad), (future, good)], "bad"),
        // Copies of lines.
        (&[(now, bad), (soon, good), (now, bad)], "good"),
        (&[(now, good), (soon, bad), (now, good)], "bad"),
    ] {
        assert_eq!(state(&log, lines), expected, "{lines:?}");
    }
    // Between two logs, only times can decide, and those in the future cannot.
    for (one, two, expected) in [
        ((now, bad), (soon, good), "good"),
        ((now, bad), (now, good), "bad"),
        ((future, bad), (soon, good), "bad"),
    ] {
        fs::write(&log, result(&one)).unwrap();
        fs::write(&other, result(&two)).unwrap();
        for logs in [[&*log, &*other], [&*other, &*log]] {
            assert_eq!(states(&audit(&logs, &["--json"]))["t"], expected, "{one:?} {two:?}");
        }
    }
}

#[test]
fn a_time_in_the_future_is_not_recent() {
    let store = Store::new(1);
    store.verify(&[]).exits(0);
    let text = fs::read_to_string(store.log()).unwrap();
    fs::write(store.log(), text.replace("\"started\":\"20", "\"started\":\"29")).unwrap();
    store
        .audit(&[])
        .exits(0)
        .says(&["audit.jsonl:1: the line cannot be trusted", "check the clock of"]);
    assert_eq!(store.audit(&["--json"]).json()["future_lines"], 1);
    store.audit(&["--max-age", "90d"]).exits(1).says(&["stale", "is in the future"]);
    let ran = store.verify(&["--max-age", "90d"]).exits(0);
    assert_eq!(names(&store.log()).len(), 2, "{}", ran.err);
    store.audit(&["--max-age", "90d"]).exits(0);
}

#[test]
fn shards_count_together_only_if_they_saw_the_same_file() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&eight(), scratch.path(), "x.zip", &[]);
    let log = scratch.path().join("log");
    let verify = |options: &[&str]| {
        run_as(ra_pack().arg("verify").arg(&archive).args(options).arg("--log").arg(&log))
    };
    verify(&["--shard", "1/2"]).exits(0);
    let mut damaged = fs::read(&archive).unwrap();
    let at = damaged.windows(500).position(|part| part == [b'a'; 500]).unwrap();
    damaged[at] ^= 1;
    fs::write(&archive, damaged).unwrap();
    verify(&["--shard", "2/2"]).exits(0);
    audit(&[&log], &[]).exits(1).says(&["x.zip: disagreeing", "different versions of the file"]);
    assert!(!verify(&["--max-age", "90d"]).exits(1).err.contains("recently"));
    // An entity tag, where there is one, decides.
    for (one, two, expected) in [("a", "b", "disagreeing"), ("a", "a", "good")] {
        let shard =
            |shard: &str, e_tag: &str| json!({"shard": shard, "e_tag": format!("\"{e_tag}\"")});
        let time = "2026-01-01T00:00:00Z";
        let lines = [
            line("t", time, "valid", &shard("1/2", one)),
            line("t", time, "valid", &shard("2/2", two)),
        ];
        fs::write(&log, lines.concat()).unwrap();
        assert_eq!(states(&audit(&[&log], &["--json"]))["t"], expected);
    }
}

#[test]
fn a_manifest_that_changes_without_the_file_is_reported() {
    let scratch = TempDir::new().unwrap();
    let log = scratch.path().join("log");
    let (jan, feb, mar) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z");
    let first = line("t", jan, "valid", &json!({"manifest_digest": "a"}));
    let changed = line("t", feb, "valid", &json!({"manifest_digest": "b"}));
    fs::write(&log, [&*first, &*changed].concat()).unwrap();
    audit(&[&log], &[]).exits(1).says(&["t: disagreeing", "its manifest changed"]);
    // Another version of the file has another manifest.
    let other = line("t", mar, "valid", &json!({"manifest_digest": "c", "modified": feb}));
    fs::write(&log, [first, changed, other].concat()).unwrap();
    audit(&[&log], &[]).exits(0);
}

#[test]
fn other_files_are_not_used_as_logs() {
    let store = Store::new(1);
    let before = fs::read(&store.packs[0]).unwrap();
    let path = store.packs[0].to_str().unwrap();
    run(["verify", path, "--log", path]).exits(2).says(&["not a log"]);
    assert_eq!(fs::read(&store.packs[0]).unwrap(), before);
    fs::write(store.file("notes.json"), "{\"a\": 1}\n").unwrap();
    let notes = store.file("notes.json");
    run(["verify", path, "--log", notes.to_str().unwrap()]).exits(2).says(&["not a log"]);
    run(["verify", path, "--log", store.scratch.path().to_str().unwrap()]).exits(2);
    run(["verify", path, "--log", "/dev/null"]).exits(2).says(&["a device"]);
}

#[test]
fn several_processes_append_to_one_log() {
    let store = Store::new(12);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| store.verify(&["-j2"]).exits(0));
        }
    });
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    for name in names(&store.log()) {
        *found.entry(name).or_default() += 1;
    }
    assert_eq!(found.len(), 12);
    assert!(found.values().all(|count| *count == 4), "{found:?}");
    store.audit(&[]).exits(0).says(&["12 packs: 12 good"]);
}

#[test]
fn the_page_has_every_pack_and_no_markup_of_others() {
    let scratch = TempDir::new().unwrap();
    let (log, page) = (scratch.path().join("log"), scratch.path().join("audit.html"));
    let time = "2026-01-01T00:00:00Z";
    let text = [
        line("good.zip", time, "valid", &json!({})),
        line("<script>x</script>", time, "not_valid", &json!({})),
    ];
    fs::write(&log, text.concat()).unwrap();
    let html = page.to_str().unwrap();
    audit(&[&log], &["--html", html]).exits(1).says(&["wrote"]);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("2 packs: 1 bad, 1 good") && text.contains("good.zip"), "{text}");
    assert!(text.contains("&lt;script&gt;x") && !text.contains("<script"), "{text}");
    for (begin, end) in [("<tr>", "</tr>"), ("<td>", "</td>"), ("<main>", "</main>")] {
        assert_eq!(text.matches(begin).count(), text.matches(end).count(), "{begin}");
    }
    audit(&[&log], &["--html", html]).exits(2).says(&["exists"]);
    audit(&[&log], &["--html", html, "--force"]).exits(1);
}

#[test]
#[cfg(target_os = "linux")] // names that are not UTF-8
fn a_name_that_is_not_text_has_a_line() {
    use std::os::unix::ffi::OsStrExt as _;
    let scratch = TempDir::new().unwrap();
    let odd = scratch.path().join(std::ffi::OsStr::from_bytes(b"a\xff.zip"));
    fs::rename(pack(&Experiment::standard(), scratch.path(), "a.zip", &[]), &odd).unwrap();
    let ran = run_as(ra_pack().arg("verify").arg(&odd).arg("--json")).exits(0);
    assert_eq!(name(&ran.json()), r"a\xFF.zip");
    // Names that differ only there, and one that looks the same, are different targets.
    let log = scratch.path().join("log");
    let others = [&b"a\xfe.zip"[..], br"a\xFF.zip", "a\u{fffd}.zip".as_bytes()];
    let others = others.map(|name| scratch.path().join(std::ffi::OsStr::from_bytes(name)));
    for other in &others {
        fs::copy(&odd, other).unwrap();
    }
    let whole = fs::read(&odd).unwrap();
    fs::write(&odd, &whole[..2000]).unwrap();
    let mut command = ra_pack();
    command.arg("verify").arg(&odd).args(&others).arg("--log").arg(&log);
    run_as(&mut command).exits(1).says(&["3 valid, 1 NOT VALID"]);
    let list = scratch.path().join("list");
    let names = others.iter().chain([&odd]).map(|path| path.as_os_str().as_bytes());
    fs::write(&list, names.collect::<Vec<_>>().join(&b'\n')).unwrap();
    for options in [&[][..], &["--files-from", list.to_str().unwrap()]] {
        audit(&[&log], options).exits(1).says(&[r"a\xFF.zip: bad", "4 packs: 1 bad, 3 good"]);
    }
}

#[test]
fn a_large_target_is_divided_into_the_same_shards_in_every_run() {
    let scratch = TempDir::new().unwrap();
    let archive = |name: &str| pack(&eight(), scratch.path(), name, &[]);
    let targets = vec![archive("x.zip"), archive("x.tar.gz"), scratch.path().join("none")];
    let size = fs::metadata(&targets[0]).unwrap().len();
    let log = scratch.path().join("log");
    fs::write(&log, "").unwrap();
    let options = PlanOptions {
        divide: Some(size.div_ceil(3)),
        logs: vec![log.clone()],
        max_age: Some(Duration::from_secs(3600)),
        ..PlanOptions::default()
    };
    let shards = |options: &PlanOptions| -> Vec<String> {
        let planned = plan(targets.clone(), options).unwrap().parts.into_iter();
        let zip = planned.filter(|part| part.target == targets[0]);
        zip.map(|part| format!("{:?} {}", part.shard.map(|it| it.to_string()), part.bytes))
            .collect()
    };
    let all = shards(&options);
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all.iter().all(|shard| shard.starts_with("Some(\"")), "{all:?}");
    let others = plan(targets.clone(), &options).unwrap().parts.into_iter();
    let whole = others.filter(|part| part.shard.is_none()).map(|part| part.target);
    assert_eq!(whole.collect::<Vec<_>>(), targets[1..], "no shards");
    // A shard that was verified is left out, alone or with the whole.
    let verify = |options: &[&str]| {
        run_as(ra_pack().arg("verify").arg(&targets[0]).args(options).arg("--log").arg(&log))
    };
    verify(&["--shard", "2/3"]).exits(0);
    assert_eq!(shards(&options), [all[0].clone(), all[2].clone()]);
    let lines = fs::read_to_string(&log).unwrap();
    verify(&[]).exits(0);
    assert_eq!(shards(&options), [""; 0]);
    // Damage that a later run finds makes every shard due.
    let bad = lines.replace("\"valid\"", "\"not_valid\"").replace("\"2/3\"", "null");
    let later = bad.replace("\"started\":\"20", "\"started\":\"29");
    fs::write(&log, lines + &later).unwrap();
    assert_eq!(shards(&options), all);
}

#[test]
fn a_log_gets_only_lines_of_reports_from_other_processes() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("log");
    let log = AuditLog::open(&path).unwrap();
    let good = line("a.zip", "2026-01-01T00:00:00Z", "valid", &json!({}));
    let good = good.trim_end();
    for wrong in
        ["", "{}", "{\"target\":\"a\"}", &format!("{good}\n{good}"), &good[..90], &good[1..]]
    {
        assert!(log.append_lines(&[good, wrong]).is_err(), "{wrong}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
    log.append_lines(&[good, good]).unwrap();
    log.append_lines(&[""; 0]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{good}\n{good}\n"));
}

#[test]
#[cfg(unix)] // a shell
fn the_script_for_every_night_says_if_something_is_wrong() {
    use std::os::unix::fs::PermissionsExt as _;
    let page = include_str!("../../docs/auditing.md");
    let (_, script) = page.split_once("# audit.sh\n").unwrap();
    let (script, _) = script.split_once("```").unwrap();
    let store = Store::new(2);
    let directory = store.scratch.path();
    fs::write(store.file("packs.txt"), "p00.zip\np01.zip\n").unwrap();
    let program = assert_cmd::cargo::cargo_bin!("ra-pack").display().to_string();
    let night = |start: &str| {
        let wrapper = store.file("ra-pack");
        fs::write(&wrapper, format!("#!/bin/sh\n{start}\nexec {program} \"$@\"\n")).unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
        let mut shell = std::process::Command::new("sh");
        let ran =
            shell.current_dir(directory).env("PATH", path).args(["-c", script]).output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stdout).unwrap())
    };
    // The first night verifies one of them.
    assert_eq!(night("").0, Some(1));
    assert_eq!(night(""), (Some(0), String::new()));
    // `verify` does not run, is killed, or cannot write its log.
    let (code, said) = night("[ $1 = audit ] || { echo no such program; exit 127; }");
    assert_eq!((code, &*said), (Some(1), "verify ended with status 127\nno such program\n"));
    let (code, said) = night("[ $1 = audit ] || kill -9 $$");
    assert!(code == Some(1) && said.contains("status 137"), "{said}");
    let (code, said) = night("[ $1 = audit ] || set -- verify p00.zip --log /dev/full");
    assert!(code == Some(1) && said.contains("/dev/full"), "{said}");
    assert_eq!(night(""), (Some(0), String::new()));
    // A line was cut off.
    let text = fs::read_to_string(store.log()).unwrap();
    fs::write(store.log(), [&text, &text[..100]].concat()).unwrap();
    let (code, said) = night("");
    assert!(code == Some(1) && said.contains("the line cannot be read"), "{said}");
    fs::write(store.log(), text).unwrap();
    store.damage(1);
    night("");
    let (code, said) = night("");
    assert!(code == Some(1) && said.contains("p01.zip: bad"), "{said}");
}
