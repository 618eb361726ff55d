//! Two runs at the same time on the same files: all outputs are from the run that ends last.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::noise;
use crate::experiment::{Experiment, ra_pack};
use crate::foreign::assert_sha256sum_passes;
use crate::run::{create, names_in, pack, ra};

/// Number of races, enough for a missing lock to fail some of them.
const RACES: usize = 12;

fn command<S: AsRef<OsStr>>(arguments: &[S]) -> Command {
    let mut command = Command::new(ra_pack().get_program());
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Runs both at the same time, which must succeed, and returns their output.
#[track_caller]
fn race<S: AsRef<OsStr>>(one: &[S], other: &[S]) -> String {
    let runs = [one, other].map(|arguments| command(arguments).spawn().unwrap());
    let said = runs.map(|run| {
        let output = run.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        said
    });
    said.concat()
}

/// Returns files of the same names and lengths, with different contents for each seed.
fn files(seed: u64) -> Experiment {
    (0..40).fold(Experiment::new(), |experiment, index| {
        experiment.file(&format!("{index}.bin"), noise(100 * seed + index, 10_000))
    })
}

#[test]
fn an_archive_and_its_manifest_are_from_one_run() {
    let sources = [files(1), files(2)];
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    let [one, other] = [0, 1].map(|number| {
        let source: &Path = sources[number].path();
        let options = ["-o", archive.to_str().unwrap(), "--force", "--archive-digest"];
        let mut arguments = vec!["create", source.to_str().unwrap()];
        arguments.extend(options);
        arguments.into_iter().map(str::to_owned).collect::<Vec<_>>()
    });
    for _ in 0..RACES {
        let said = race(&one, &other);
        assert!(!said.contains("interrupted run"), "{said}");
        ra("verify", &[&archive], &["--strict"]).exits(0);
        assert_sha256sum_passes(scratch.path(), "x.zip.sha256");
        let names = ["x.zip", "x.zip.manifest-sha256.txt", "x.zip.sha256"];
        assert_eq!(names_in(scratch.path()), names);
    }
}

#[test]
fn no_file_is_lost_by_updates_through_a_link() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&files(1), scratch.path(), "x.zip", &[]);
    fs::create_dir(scratch.path().join("links")).unwrap();
    let link = scratch.path().join("links/x.zip");
    std::os::unix::fs::symlink("../x.zip", &link).unwrap();
    let mut added = Vec::new();
    for race in 0..RACES {
        let source = Experiment::new();
        let runs = [&archive, &link].map(|archive| {
            let name = format!("{race}-{}.txt", if archive == &link { "link" } else { "own" });
            fs::write(source.path().join(&name), "new").unwrap();
            let words: [&OsStr; 5] = [
                "add".as_ref(),
                archive.as_ref(),
                "-C".as_ref(),
                source.path().as_os_str(),
                name.as_ref(),
            ];
            (command(&words).spawn().unwrap(), name)
        });
        for (run, name) in runs {
            let output = run.wait_with_output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            // A run may find that the other one was faster.
            assert!(output.status.success() || said.contains("changed"), "{said}");
            added.extend(output.status.success().then_some(name));
        }
    }
    let found = ra_pack::Pack::open(&archive).unwrap();
    assert!(added.len() >= RACES && added.iter().all(|name| found.read(name).is_ok()), "{added:?}");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    ra("verify", &[&link], &[]).exits(0);
}

#[test]
fn a_run_that_replaces_files_waits_for_another() {
    let scratch = TempDir::new().unwrap();
    let archives =
        [1, 2].map(|seed| pack(&files(seed), scratch.path(), &format!("{seed}.zip"), &[]));
    let target = scratch.path().join("out");
    let [one, other] = [0, 1].map(|number: usize| {
        let archive: &Path = &archives[number];
        let words: [&OsStr; 6] = [
            "extract".as_ref(),
            archive.as_os_str(),
            "-C".as_ref(),
            target.as_os_str(),
            "--force".as_ref(),
            "--jobs=1".as_ref(),
        ];
        words
    });
    for _ in 0..RACES {
        let said = race(&one, &other);
        assert!(!said.contains("interrupted run"), "{said}");
        assert_sha256sum_passes(&target, "manifest-sha256.txt");
    }
}

#[test]
fn an_array_and_its_description_are_from_one_run() {
    let scratch = TempDir::new().unwrap();
    let at = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    // An `.npy` file of little-endian floats of 8 bytes.
    let npy = |name: &str, rows: usize, columns: usize| {
        let head =
            format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{head:<117}\n").bytes());
        bytes.resize(bytes.len() + 8 * rows * columns, 0);
        fs::write(at(name), bytes).unwrap();
    };
    npy("a.npy", 100, 300);
    npy("b.npy", 300, 100);
    for _ in 0..RACES {
        let convert =
            |from: &str| ["convert".to_owned(), at(from), at("x.ra"), "--force".to_owned()];
        race(&convert("a.npy"), &convert("b.npy"));
        ra("validate", &[&scratch.path().join("x.ra")], &[]).exits(0);
        let reshape = |rows: &str, columns: &str| {
            ["reshape".to_owned(), at("x.ra"), rows.to_owned(), columns.to_owned()]
        };
        race(&reshape("50", "600"), &reshape("10", "3000"));
        ra("validate", &[&scratch.path().join("x.ra")], &[]).exits(0);
    }
}

#[test]
fn a_run_waits_with_renaming_and_reports_no_file_in_progress_as_left_over() {
    let experiment = files(1);
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    let directory = File::open(scratch.path()).unwrap();
    if directory.try_lock().is_err() {
        return super::skip("directories cannot be locked");
    }
    let words: [&OsStr; 4] =
        ["create".as_ref(), experiment.path().as_os_str(), "-o".as_ref(), archive.as_os_str()];
    let mut waiting = command(&words).spawn().unwrap();
    thread::sleep(Duration::from_millis(500));
    assert!(waiting.try_wait().unwrap().is_none() && !archive.exists());
    directory.unlock().unwrap();
    assert!(waiting.wait().unwrap().success());

    let temporary = scratch.path().join(".x.zip.0123.ra-pack-unfinished");
    let written = File::create(&temporary).unwrap();
    written.lock().unwrap();
    let ran = create(experiment.path(), &archive, &["--force"]).exits(0);
    assert!(!ran.err.contains("interrupted run"), "{}", ran.err);
    drop(written);
    create(experiment.path(), &archive, &["--force"])
        .exits(0)
        .says(&["left by an interrupted run"]);
}
