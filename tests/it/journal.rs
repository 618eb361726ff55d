//! Writers with a journal: after a kill at any moment, `salvage` gives every array that was promised.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use ndarray::{ArrayD, array};
use ra_pack::verify::VerifyOptions;
use ra_pack::write::{JournalOptions, Layout};
use ra_pack::{Container, Error, Pack, PackWriter, WriteOptions, verify};
use tempfile::TempDir;

use crate::run::{cargo, names_in, ra};
use crate::skips::is_long;

fn options(sync_every: u64) -> WriteOptions {
    WriteOptions { journal: Some(JournalOptions { sync_every }), ..WriteOptions::default() }
}

/// Salvages the archive of a writer that did not finish it, and returns the names of its arrays.
fn salvaged(archive: &Path, code: i32) -> Vec<String> {
    let unfinished = archive.with_added_extension("unfinished");
    let made = archive.with_file_name("salvaged.zip");
    ra("salvage", &[&unfinished, Path::new("-fo"), &made], &[]).exits(code);
    assert!(verify(&made, &VerifyOptions::default()).unwrap().is_valid());
    Pack::open(&made).unwrap().arrays().unwrap()
}

#[test]
fn what_was_synced_is_salvaged() {
    for name in ["a.zip", "a.tar"] {
        let scratch = TempDir::new().unwrap();
        let archive = scratch.path().join(name);
        let mut pack = PackWriter::create(&archive, options(4)).unwrap();
        for number in 0..5_u8 {
            let name = format!("run/{number}");
            pack.array(name, &array![number, 1, 2]).dims(["time"]).write().unwrap();
        }
        // A writer that is dropped leaves what one that is killed leaves.
        drop(pack);
        let journal = format!("{name}.unfinished.manifest-sha256.txt");
        assert_eq!(names_in(scratch.path()), [format!("{name}.unfinished"), journal.clone()]);
        let listed = fs::read_to_string(scratch.path().join(&journal)).unwrap();
        assert_eq!(listed.lines().count(), 8);
        // The last array is not listed.
        let expected = ["run/0.ra", "run/1.ra", "run/2.ra", "run/3.ra"];
        assert_eq!(salvaged(&archive, 1), expected, "{name}");
    }
}

#[test]
fn a_finished_writer_leaves_the_archive_alone() {
    let scratch = TempDir::new().unwrap();
    let write = |name: &str, options| {
        let mut pack = PackWriter::create(scratch.path().join(name), options).unwrap();
        pack.array("x", &array![1, 2]).write().unwrap();
        pack.file("notes.txt", &b"notes"[..]).unwrap();
        pack.sync().unwrap();
        pack.finish().unwrap();
    };
    write("a.zip", options(1));
    write("b.zip", WriteOptions::default());
    let names = ["a.zip", "a.zip.manifest-sha256.txt", "b.zip", "b.zip.manifest-sha256.txt"];
    assert_eq!(names_in(scratch.path()), names);
    let manifest = |name: &str| fs::read(scratch.path().join(name)).unwrap();
    assert_eq!(manifest(names[1]), manifest(names[3]));
}

#[test]
fn a_writer_that_promised_nothing_leaves_nothing() {
    let scratch = TempDir::new().unwrap();
    let mut pack = PackWriter::create(scratch.path().join("a.zip"), options(0)).unwrap();
    pack.array("x", &array![1, 2]).write().unwrap();
    drop(pack);
    assert_eq!(names_in(scratch.path()), [""; 0]);
}

#[test]
fn another_writer_replaces_nothing_that_was_promised() {
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("a.zip");
    let mut pack = PackWriter::create(&archive, options(1)).unwrap();
    pack.array("x", &array![1, 2]).write().unwrap();
    let refused = pack.remove("x").unwrap_err().to_string();
    assert!(refused.contains("cannot remove"), "{refused}");
    drop(pack);
    for force in [false, true] {
        let refused = PackWriter::create(&archive, WriteOptions { force, ..options(1) });
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("a.zip.unfinished") && refused.contains("salvage"), "{refused}");
    }
    // A writer without a journal does not touch them either.
    let mut pack = PackWriter::create(&archive, WriteOptions::default()).unwrap();
    pack.array("y", &array![1, 2]).write().unwrap();
    assert!(pack.finish().unwrap().leftovers.is_empty());
    assert_eq!(salvaged(&archive, 0), ["x.ra"]);
}

#[test]
fn a_journal_needs_a_file_that_takes_members() {
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("a.zip");
    let bag = WriteOptions { layout: Layout::BagIt, ..options(1) };
    let stream = WriteOptions { container: Some(Container::TarZst), ..options(1) };
    for options in [bag, stream] {
        let refused = PackWriter::create(&archive, options).unwrap_err();
        assert!(matches!(refused, Error::Options(_)), "{refused}");
    }
    assert!(PackWriter::new(Vec::new(), options(1)).is_err());
    assert_eq!(names_in(scratch.path()), [""; 0]);
}

/// Builds the example and returns its path.
fn logger() -> PathBuf {
    let built = cargo()
        .args(["build", "--quiet", "--offline", "--example", "logger"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(built.unwrap().success());
    Path::new(env!("CARGO_BIN_EXE_ra-pack")).with_file_name("examples").join("logger")
}

fn kill(times: u64) {
    let logger = logger();
    let mut promised_in_all = 0;
    for time in 0..times {
        let scratch = TempDir::new().unwrap();
        let archive = scratch.path().join("run.zip");
        let mut running =
            Command::new(&logger).arg(&archive).arg("60").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(running.stdout.take().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        thread::sleep(Duration::from_millis(7 * time % 300));
        running.kill().unwrap();
        running.wait().unwrap();
        let mut said = first;
        lines.read_to_string(&mut said).unwrap();
        let line = said.lines().rfind(|line| line.ends_with("disk")).unwrap();
        let promised: u32 = line.split(' ').next().unwrap().parse().unwrap();
        let made = scratch.path().join("new.zip");
        let unfinished = scratch.path().join("run.zip.unfinished");
        let ran = ra("salvage", &[&unfinished, Path::new("-o"), &made], &[]);
        assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.said());
        assert!(verify(&made, &VerifyOptions::default()).unwrap().is_valid());
        let pack = Pack::open(&made).unwrap();
        for number in 0..promised {
            let name = format!("{:04}/{number:07}.ra", number / 1000);
            let sample: ArrayD<u32> = pack.array(&name).unwrap().read().unwrap();
            assert_eq!(sample, ArrayD::from_elem(vec![16], number));
        }
        promised_in_all += promised;
    }
    assert!(promised_in_all > 0);
}

#[test]
#[cfg(unix)] // kill
fn a_logger_that_is_killed_loses_nothing_that_it_promised() {
    kill(3);
}

#[test]
#[cfg(unix)] // kill
#[ignore = "takes a minute"]
fn a_logger_that_is_killed_a_hundred_times_loses_nothing_that_it_promised() {
    if !is_long() {
        return;
    }
    kill(100);
}
