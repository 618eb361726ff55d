//! `create --shard` and `--join`: several processes write one archive, with the bytes that one process writes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use crate::bytes::sha256;
use crate::experiment::{Experiment, UINT8, ra_pack};
use crate::run::{Ran, create, names_in, ra};

/// Files of these sizes, and the small files of the standard experiment.
fn experiment(sizes: &[usize]) -> Experiment {
    let experiment = Experiment::standard();
    sizes.iter().enumerate().fold(experiment, |experiment, (number, size)| {
        let data: Vec<u8> = (0..=u8::MAX).cycle().skip(number).step_by(7).take(*size).collect();
        let name = format!("long/{number:02}");
        experiment.array(&format!("{name}.ra"), UINT8, &[*size as u64], &data).describe(
            &format!("{name}.yaml"),
            &format!("[{size}]"),
            "uint8",
        )
    })
}

struct Shared<'a> {
    source: &'a Path,
    archive: PathBuf,
    options: Vec<&'a str>,
}

impl Shared<'_> {
    fn run(&self, options: &[&str]) -> Ran {
        create(self.source, &self.archive, &[&self.options, options].concat())
    }

    fn shard(&self, shard: &str) -> Ran {
        self.run(&["--shard", shard])
    }

    fn records(&self) -> PathBuf {
        self.archive.with_added_extension("shards")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    #[ignore = "slow"]
    fn shards_give_the_bytes_of_one_run(
        sizes in proptest::collection::vec(prop_oneof![0..100_usize, 32_000..34_000_usize, 60_000..200_000_usize], 0..8),
        count in 1..6_u32,
        rotation in 0..6_u32,
        ending in proptest::sample::select(vec!["zip", "tar"]),
        options in proptest::sample::select(vec![
            vec![],
            vec!["--layout", "bagit", "--digest", "sha256,sha512"],
            vec!["--describe", "--block-digests=16K"],
            vec!["--preserve-mtime", "--archive-digest"],
        ]),
    ) {
        let (experiment, scratch) = (experiment(&sizes), TempDir::new().unwrap());
        let home = |name: &str| {
            let home = scratch.path().join(name);
            fs::create_dir(&home).unwrap();
            home.join(format!("a.{ending}"))
        };
        let (alone, archive) = (home("alone"), home("shared"));
        create(experiment.path(), &alone, &options).exits(0);
        let for_shards = options.iter().copied().filter(|option| *option != "--archive-digest");
        let shared = Shared { source: experiment.path(), archive, options: for_shards.collect() };
        for number in 0..count {
            shared.shard(&format!("{}/{count}", (number + rotation) % count + 1)).exits(0);
        }
        create(experiment.path(), &shared.archive, &[&options[..], &["--join"]].concat()).exits(0);
        let homes = [&alone, &shared.archive].map(|archive| archive.parent().unwrap());
        let names = names_in(homes[0]);
        prop_assert_eq!(&names, &names_in(homes[1]));
        for name in names {
            let [one, other] = homes.map(|home| sha256(&fs::read(home.join(&name)).unwrap()));
            prop_assert_eq!(one, other, "{}", name);
        }
        ra("verify", &[&shared.archive], &[]).exits(0);
    }
}

#[test]
fn each_file_is_in_one_shard() {
    let (experiment, scratch) = (experiment(&[50_000; 9]), TempDir::new().unwrap());
    let archive = scratch.path().join("a.zip");
    let shared = Shared { source: experiment.path(), archive, options: vec!["--json"] };
    let reports: Vec<Value> =
        (1..=4).map(|number| shared.shard(&format!("{number}/4")).exits(0).json()).collect();
    let files: Vec<_> = reports.iter().map(|report| report["files"].as_u64().unwrap()).collect();
    assert_eq!(files.iter().sum::<u64>(), 9);
    assert!(files.iter().all(|count| (2..=3).contains(count)), "{files:?}");
    let bytes: u64 = reports.iter().map(|report| report["bytes"].as_u64().unwrap()).sum();
    assert_eq!(bytes, 9 * (50_000 + 56));
    assert_eq!(names_in(scratch.path()), ["a.zip.shards", "a.zip.unfinished"]);
}

#[test]
fn missing_and_changed_shards_are_named_and_can_be_packed_again() {
    let (experiment, scratch) = (experiment(&[50_000; 6]), TempDir::new().unwrap());
    let archive = scratch.path().join("a.zip");
    let shared = Shared { source: experiment.path(), archive: archive.clone(), options: vec![] };
    shared.run(&["--join"]).exits(2).says(&["a.zip.shards` does not exist: no shard is packed"]);
    shared.shard("2/3").exits(0);
    let missing = ["a.zip` lacks shards: 1/3, 3/3; pack them with --shard, and join again"];
    shared.run(&["--join"]).exits(2).says(&missing);
    shared.shard("1/3").exits(0);
    shared.shard("3/3").exits(0);

    // Another content of the same length.
    let changed = experiment.path().join("long/05.ra");
    let mut bytes = fs::read(&changed).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&changed, &bytes).unwrap();
    shared
        .run(&["--join"])
        .exits(2)
        .says(&["has files that changed in shards: 3/3; pack them with --shard"]);
    assert!(!archive.exists());
    shared.shard("3/3").exits(0);
    // A file that moves all others.
    fs::write(experiment.path().join("a.txt"), "x").unwrap();
    let words = ["has no place for", "were added, removed or resized", "pack all shards again"];
    shared.run(&["--join"]).exits(2).says(&words);
    for shard in ["1/3", "2/3", "3/3"] {
        shared.shard(shard).exits(0);
    }
    // Digests that no shard has computed.
    shared
        .run(&["--join", "--digest", "sha256,sha512"])
        .exits(2)
        .says(&["has files that changed in shards: 1/3, 2/3, 3/3; pack"]);
    shared.run(&["--join"]).exits(0);
    assert_eq!(names_in(scratch.path()), ["a.zip", "a.zip.manifest-sha256.txt"]);
    ra("verify", &[&archive], &[]).exits(0);
    let alone = scratch.path().join("b.zip");
    create(experiment.path(), &alone, &[]).exits(0);
    assert_eq!(sha256(&fs::read(&alone).unwrap()), sha256(&fs::read(&archive).unwrap()));

    // A shard that comes too late.
    shared.shard("2/3").exits(2).says(&["a.zip` exists; use --force"]);
    assert!(!shared.records().exists());
}

#[test]
fn what_a_killed_shard_left_is_packed_again() {
    let (experiment, scratch) = (experiment(&[4_000_000; 3]), TempDir::new().unwrap());
    let archive = scratch.path().join("a.tar");
    let shared = Shared { source: experiment.path(), archive: archive.clone(), options: vec![] };
    for delay in [0, 5, 20, 60, 150] {
        let mut command = Command::new(ra_pack().get_program());
        command.arg("create").arg(experiment.path()).arg("-o").arg(&archive);
        command.args(["--shard", "1/1"]).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!archive.exists());
    }
    shared.shard("1/1").exits(0);
    shared.run(&["--join"]).exits(0);
    ra("verify", &[&archive], &[]).exits(0);
}

#[cfg(unix)]
#[test]
fn joining_waits_for_shards_that_are_being_packed() {
    let (experiment, scratch) = (experiment(&[50_000]), TempDir::new().unwrap());
    let archive = scratch.path().join("a.zip");
    let shared = Shared { source: experiment.path(), archive: archive.clone(), options: vec![] };
    shared.shard("1/1").exits(0);
    let running = File::open(shared.records()).unwrap();
    running.lock_shared().unwrap();
    // Other shards do not wait.
    shared.shard("1/1").exits(0);
    thread::scope(|scope| {
        let joined = scope.spawn(|| shared.run(&["--join"]));
        thread::sleep(Duration::from_millis(300));
        assert!(!joined.is_finished() && !archive.exists());
        running.unlock().unwrap();
        joined.join().unwrap().exits(0);
    });
    assert!(archive.exists());
}

#[test]
fn records_that_contradict_are_refused() {
    let (experiment, scratch) = (experiment(&[50_000; 2]), TempDir::new().unwrap());
    let archive = scratch.path().join("a.zip");
    let shared = Shared { source: experiment.path(), archive: archive.clone(), options: vec![] };
    shared.shard("1/1").exits(0);
    let record = shared.records().join("1-of-1.json");
    let text = fs::read_to_string(&record).unwrap();
    for (old, new) in [("[{", "[[["), ("\"crc32\":", "\"crc32\":-")] {
        fs::write(&record, text.replacen(old, new, 1)).unwrap();
        shared.run(&["--join"]).exits(2).says(&["1-of-1.json` is not a record of a shard"]);
    }
    let sha256 = text.find("\"sha256\":\"").unwrap() + 10;
    fs::write(&record, format!("{}x{}", &text[..sha256], &text[sha256 + 1..])).unwrap();
    shared.run(&["--join"]).exits(2).says(&["has files that changed in shards: 1/1"]);
    fs::write(&record, &text).unwrap();
    shared.shard("2/2").exits(0);
    shared.run(&["--join"]).exits(2).says(&["has shards of 1 and of 2; delete it"]);
    fs::remove_dir_all(shared.records()).unwrap();
    shared.shard("1/1").exits(2).says(&["a.zip.unfinished` is left by a writer"]);
}

#[test]
fn shards_need_a_file_without_compression() {
    let (experiment, scratch) = (experiment(&[]), TempDir::new().unwrap());
    for (name, options) in [
        ("a.tar.gz", &[][..]),
        ("a.zip", &["--compression", "deflate"]),
        ("-", &["--container=zip"]),
    ] {
        let archive = if name == "-" { name.into() } else { scratch.path().join(name) };
        let shared = Shared { source: experiment.path(), archive, options: options.to_vec() };
        for mode in [&["--shard", "1/2"][..], &["--join"]] {
            shared.run(mode).exits(2).says(&["shards need a file"]);
        }
    }
    assert_eq!(names_in(scratch.path()), [""; 0]);
    let archive = scratch.path().join("a.zip");
    let shared = Shared { source: experiment.path(), archive, options: vec![] };
    shared.shard("3/2").exits(2).says(&["expected a shard such as 2/8"]);
    // Errors of the source are found before anything is written.
    fs::write(experiment.path().join("bad.ra"), "x").unwrap();
    shared.shard("1/2").exits(1).says(&["expected the magic"]);
    assert_eq!(names_in(scratch.path()), [""; 0]);
}
