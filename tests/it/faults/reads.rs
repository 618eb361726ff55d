//! Files that change while they are read, short reads, and failing reads.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use ra_pack::{Error, Pack};
use tempfile::TempDir;

use super::scenario::Scenario;
use super::{noise, shim};
use crate::experiment::{Experiment, UINT8, read_tree};
use crate::run::{create, names_in, pack, ra};

/// Packs as `name` while `disturb` runs from time to time. Expects only an error that names the changed file.
fn assert_notices(
    experiment: &Experiment,
    name: &str,
    method: &str,
    pause: Duration,
    mut disturb: impl FnMut() + Send,
) {
    let scratch = TempDir::new().unwrap();
    let done = AtomicBool::new(false);
    let ran = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                disturb();
                thread::sleep(pause);
            }
        });
        let archive = scratch.path().join(name);
        let ran = create(experiment.path(), &archive, &["--compression", method]);
        done.store(true, Ordering::Relaxed);
        ran
    });
    ran.exits(2).says(&["run1/changing.bin", "changed while it was read"]);
    assert_eq!(names_in(scratch.path()), [""; 0], "{name}");
}

/// Packs while `change` is applied to a file repeatedly. Expects only an error that names the file.
fn assert_noticed(change: impl Fn(&File, u64) + Sync) {
    let experiment = Experiment::new().file("a.txt", "small").file("run1/changing.bin", "");
    let path = experiment.path().join("run1/changing.bin");
    for (name, method) in
        [("x.zip", "stored"), ("x.zip", "deflate:2"), ("x.tar", "stored"), ("x.tar.zst", "zstd:1")]
    {
        File::create(&path).unwrap().set_len(40_000_000).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        let mut turn = 0;
        assert_notices(&experiment, name, method, Duration::from_micros(300), || {
            turn += 1;
            change(&file, turn);
        });
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_noticed() {
    assert_noticed(|file, turn| file.set_len(40_000_000 + turn).unwrap());
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_noticed() {
    assert_noticed(|file, turn| {
        file.set_len(40_000_000_u64.saturating_sub(turn * 100_000)).unwrap();
    });
}

#[test]
fn a_file_that_is_overwritten_while_it_is_read_is_noticed() {
    assert_noticed(|file, turn| file.write_all_at(&turn.to_le_bytes(), turn % 1000).unwrap());
}

/// Returns runs of every command that reads contents and writes files.
fn readers() -> Vec<Scenario> {
    let mut scenarios = vec![
        Scenario::create(".zip", "--compression=stored", false),
        Scenario::create(".zip", "--compression=deflate", true),
        Scenario::create(".tar.zst", "--layout=bagit", false),
        Scenario::describe(),
    ];
    for line in [
        "show {archive} b.ra --stats",
        "show {source} b.ra",
        "plot {archive} b.ra -o {place}/b.svg -q",
        "plot {source} b.ra -o {place}/b.png -q",
        "report {archive} -o {place}/x.html -q -j1",
        "report {archive} -o {place}/x.html -q -j1 --no-verify",
        "report {source} -o {place}/x.html -q -j1 --no-verify",
    ] {
        // The source is a directory.
        let endings: &[_] = if line.contains("{source}") { &[".zip"] } else { &[".zip", ".tar"] };
        scenarios.extend(endings.iter().map(|ending| Scenario::look(line, ending)));
    }
    for output in ["dir/", "x.zip", "x.npz"] {
        scenarios.push(Scenario::convert("{source}", output, false));
    }
    for ending in [".zip", ".tar", ".tar.gz", ".tar.zst"] {
        scenarios.push(Scenario::extract(ending, false));
        scenarios.push(Scenario::get(ending, "run1/a.ra", true));
        scenarios.push(Scenario::get(ending, "run1/a.ra --slice 5:900", false));
    }
    scenarios
}

#[test]
#[ignore = "slow"]
fn short_reads_and_writes_change_nothing() {
    for scenario in readers() {
        let most_of_each: &[&str] =
            if scenario.name.contains("zst") { &["1000", "7"] } else { &["1000", "1"] };
        for most in most_of_each {
            let settings = [("FAULT_MOST", *most)];
            let Some(ran) = shim::run(&scenario.arguments, scenario.base(), &settings) else {
                return;
            };
            let wrong = scenario.objections(ran.code, &ran.err);
            assert!(ran.code == Some(0) && wrong.is_empty(), "{} {wrong:?}", scenario.name);
            scenario.reset();
        }
    }
}

#[test]
fn verify_takes_short_reads() {
    for ending in [".zip", ".tar", ".tar.gz", ".tar.zst"] {
        let scenario = Scenario::extract(ending, false);
        let arguments = ["verify".to_owned(), scenario.archive().to_str().unwrap().to_owned()];
        let settings = [("FAULT_MOST", "1")];
        let Some(ran) = shim::run(&arguments, scenario.base(), &settings) else { return };
        ran.exits(0);
    }
}

/// Runs with `what` at each read in turn, until a run has fewer reads. Returns the number of runs.
fn at_each_read(
    scenario: &Scenario,
    what: &str,
    file: &str,
    mut check: impl FnMut(crate::run::Ran, usize),
) -> Option<usize> {
    let scratch = TempDir::new().unwrap();
    let mark = scratch.path().join("mark");
    let other = scratch.path().join("other");
    let file = scenario.base().join(file);
    let content = fs::read(&file).unwrap();
    for at in 1.. {
        fs::write(&other, noise(9, content.len())).unwrap();
        // Within one tick of the clock, two files may have the same time.
        let an_hour_ago = SystemTime::now() - Duration::from_hours(1);
        File::options().write(true).open(&file).unwrap().set_modified(an_hour_ago).unwrap();
        let number = at.to_string();
        let settings = [
            ("FAULT_AT", number.as_str()),
            ("FAULT_WHAT", what),
            ("FAULT_FILE", file.to_str().unwrap()),
            ("FAULT_OTHER", other.to_str().unwrap()),
            ("FAULT_MARK", mark.to_str().unwrap()),
        ];
        let ran = shim::run(&scenario.arguments, scenario.base(), &settings)?;
        let is_done = fs::remove_file(&mark).is_err();
        if !is_done {
            check(ran, at);
        }
        scenario.reset();
        fs::write(&file, &content).unwrap();
        if is_done {
            return Some(at - 1);
        }
    }
    None
}

#[test]
#[ignore = "slow"]
fn a_failing_read_is_not_reported_as_damage_and_leaves_nothing() {
    for mut scenario in readers() {
        let tried = at_each_read(&scenario, "error", "source/README.txt", |ran, at| {
            let name = &scenario.name;
            let wrong = scenario.objections(ran.code, &ran.err);
            assert!(wrong.is_empty(), "{name}, read {at}: {wrong:?}\n{}", ran.err);
            // From a compressed tar, more is read ahead than `get` needs.
            if ran.code == Some(0) && name.starts_with("get x.tar.") {
                return;
            }
            let said = ran.err.contains("Input/output error");
            assert!(ran.code == Some(2) && said, "{name}, read {at}: {}", ran.err);
        });
        let Some(tried) = tried else { return };
        assert!(tried >= 2, "{tried}");
        if scenario.arguments[0] == "report" {
            // A page without an error is complete: the read was repeated.
            at_each_read(&scenario, "once", "source/README.txt", |ran, at| {
                let wrong = scenario.objections(ran.code, &ran.err);
                assert!(wrong.is_empty(), "{}, read {at}: {wrong:?}\n{}", scenario.name, ran.err);
                assert!(
                    ran.code == Some(0) || ran.err.contains("Input/output error"),
                    "{}",
                    ran.err
                );
            });
        }
        if scenario.arguments[0] != "extract" {
            continue;
        }
        scenario.arguments = vec!["verify".to_owned(), scenario.arguments[1].clone()];
        at_each_read(&scenario, "error", "source/README.txt", |ran, _| {
            ran.exits(2).says(&["cannot read", "Input/output error"]);
        });
    }
}

#[test]
#[ignore = "slow"]
fn a_source_that_changes_at_any_read_is_noticed_or_unaffected() {
    for ending in [".zip", ".tar", ".tar.gz"] {
        let scenario = Scenario::create(ending, "--layout=plain", false);
        for what in ["truncate", "append", "overwrite", "replace"] {
            let mut noticed = 0;
            let tried = at_each_read(&scenario, what, "source/run1/a.ra", |ran, at| {
                let place = read_tree(&scenario.place());
                let said = format!("{ending}, {what} at read {at}: {}", ran.err);
                match ran.code {
                    // The file was read before or after the change: packed in its old or new version.
                    Some(0) if place == scenario.after => {}
                    Some(0) => {
                        let archive = scenario.place().join(format!("x{ending}"));
                        let packed = Pack::open(&archive).unwrap().read("run1/a.ra").unwrap();
                        let is = fs::read(scenario.base().join("source/run1/a.ra")).unwrap();
                        assert!(packed == is, "{said}");
                        ra("verify", &[&archive], &[]).exits(0);
                    }
                    Some(1 | 2) => {
                        noticed += 1;
                        assert!(place.keys().all(|name| name.ends_with('/')), "{said}");
                        assert!(ran.err.contains("run1/a.ra"), "{said}");
                    }
                    _ => panic!("{said}"),
                }
            });
            let Some(tried) = tried else { return };
            assert!(noticed >= 1 && tried > noticed, "{ending} {what} {noticed} of {tried}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn an_archive_that_changes_at_any_read_gives_complete_files_or_an_error() {
    for ending in [".zip", ".tar", ".tar.gz", ".tar.zst"] {
        for scenario in
            [Scenario::extract(ending, false), Scenario::get(ending, "run1/a.ra", false)]
        {
            let archive = scenario.archive();
            let archive = archive.file_name().unwrap().to_str().unwrap();
            for what in ["truncate", "append", "overwrite", "replace"] {
                let tried = at_each_read(&scenario, what, archive, |ran, at| {
                    let said = format!("{}, {what} at read {at}: {}", scenario.name, ran.err);
                    assert!(matches!(ran.code, Some(0..=2)), "{said}");
                    assert!(!ran.err.contains("panicked"), "{said}");
                    for (name, bytes) in read_tree(&scenario.place()) {
                        let whole =
                            name.ends_with('/') || scenario.after.get(&name) == Some(&bytes);
                        assert!(whole, "{name} is not complete: {said}");
                    }
                });
                let Some(tried) = tried else { return };
                assert!(tried >= 2, "{tried}");
            }
        }
    }
}

#[test]
#[ignore = "slow"]
fn an_open_archive_that_is_truncated_gives_an_error() {
    // More than is kept in memory while a compressed tar is indexed.
    let data = noise(1, 20_000_000);
    let experiment = Experiment::new().array("a.ra", UINT8, &[20_000_000], &data).describe(
        "a.yaml",
        "[20000000]",
        "uint8",
    );
    let scratch = TempDir::new().unwrap();
    for ending in [".zip", ".tar", ".tar.gz", ".tar.zst"] {
        for len in [0, 1000, 2_000_000] {
            let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &["--force"]);
            let opened = Pack::open(&archive).unwrap();
            opened.array("a.ra").unwrap();
            File::options().write(true).open(&archive).unwrap().set_len(len).unwrap();
            let error = opened.read("a.ra").unwrap_err();
            // A tar has no directory, so an empty file is a tar without members.
            let named = matches!(error, Error::Damaged { .. } | Error::Io { .. })
                || len == 0 && matches!(error, Error::NoSuchMember { .. });
            assert!(named, "{ending} {len}: {error}");
            assert!(opened.array("a.ra").and_then(|array| array.read_any()).is_err());
        }
    }
}

#[test]
fn verify_maps_nothing() {
    if !super::strace::is_there() {
        return;
    }
    for ending in [".zip", ".tar", ".tar.gz", ".tar.zst"] {
        let scenario = Scenario::extract(ending, false);
        let archive = scenario.archive();
        ra("verify", &[&archive], &[]).exits(0);
        let arguments = ["verify".to_owned(), archive.to_str().unwrap().to_owned()];
        let log = scenario.base().with_extension("strace");
        let calls = super::strace::calls(&arguments, scenario.base(), &log);
        fs::remove_file(log).unwrap();
        assert!(calls.len() > 3 && calls.iter().all(|call| call.name != "mmap"), "{calls:?}");
    }
}

#[test]
fn a_file_replaced_by_one_of_the_same_size_and_time_is_noticed() {
    let aside = TempDir::new().unwrap();
    let long_ago = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let experiment = Experiment::new().file("run1/changing.bin", "");
    let path = experiment.path().join("run1/changing.bin");
    let lay = |path: &Path| {
        let file = File::create(path).unwrap();
        file.set_len(40_000_000).unwrap();
        file.set_modified(long_ago).unwrap();
    };
    for (name, method) in [("x.zip", "stored"), ("x.zip", "deflate:2"), ("x.tar", "stored")] {
        lay(&path);
        let other = aside.path().join("other");
        assert_notices(&experiment, name, method, Duration::from_millis(1), || {
            lay(&other);
            fs::rename(&other, &path).unwrap();
        });
    }
}
