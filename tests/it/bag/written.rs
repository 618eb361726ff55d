//! Bags of `create --layout bagit`, and bagit-python.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::experiment::{Experiment, ra_pack, read_tree};
use crate::foreign::complaint;
use crate::python::Python;
use crate::run::{create, extract, pack, ra};
use crate::skips::is_long;

fn small() -> Experiment {
    Experiment::new().file("a.txt", "abc").file("run 1/Größe.txt", "more")
}

/// Returns the files of the bag that `create` makes of `experiment`, by name.
fn bag(experiment: &Experiment, options: &[&str]) -> std::collections::BTreeMap<String, String> {
    let scratch = TempDir::new().unwrap();
    let archive =
        pack(experiment, scratch.path(), "exp.zip", &[&["--layout", "bagit"], options].concat());
    let into = TempDir::new().unwrap();
    extract(&archive, into.path(), &[]).exits(0);
    let tree = read_tree(&into.path().join("exp"));
    tree.into_iter().map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap())).collect()
}

#[test]
fn the_files_of_a_bag_follow_the_rfc() {
    let bag = bag(&small(), &["--digest", "sha256,sha512"]);
    assert_eq!(bag["bagit.txt"], "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
    assert_eq!(bag["bag-info.txt"], "Payload-Oxum: 7.2\n");
    for (algorithm, digits) in [("sha256", 64), ("sha512", 128)] {
        let listed = |name: &str| {
            let lines = bag[name].lines().map(|line| line.split_once("  ").unwrap());
            let (digests, names): (Vec<_>, Vec<_>) = lines.unzip();
            assert!(digests.iter().all(|digest| digest.len() == digits), "{digests:?}");
            names
        };
        let payload = listed(&format!("manifest-{algorithm}.txt"));
        assert_eq!(payload, ["data/a.txt", "data/run 1/Größe.txt"]);
        let tags = listed(&format!("tagmanifest-{algorithm}.txt"));
        let expected = [
            "bag-info.txt",
            "bagit.txt",
            "manifest-sha256.txt",
            "manifest-sha512.txt",
            "manifest.yaml",
        ];
        assert_eq!(tags, expected);
    }
}

#[test]
fn metadata_keeps_its_order_and_long_values_are_folded() {
    let long = "word ".repeat(60);
    let long = format!("External-Description={}", long.trim());
    let bag = bag(
        &small(),
        &["--bag-info", "Z-Last=1", "--bag-info", &long, "--bag-info", "Contact-Name=Ü = x: y"],
    );
    let info = &bag["bag-info.txt"];
    assert!(info.starts_with("Z-Last: 1\nExternal-Description: word word"), "{info}");
    assert!(info.ends_with("\nContact-Name: Ü = x: y\nPayload-Oxum: 7.2\n"), "{info}");
    assert!(info.contains("\n  word") && info.lines().all(|line| line.len() < 80), "{info}");
}

#[test]
fn the_bagging_date_is_written_only_if_the_environment_gives_it() {
    let (experiment, scratch) = (small(), TempDir::new().unwrap());
    let archive = scratch.path().join("exp.tar");
    let mut create = ra_pack();
    create.arg("create").arg(experiment.path()).arg("-o").arg(&archive);
    create.args(["--layout", "bagit"]).env("SOURCE_DATE_EPOCH", "1717372800").assert().success();
    let got = ra("get", &[&archive], &["bag-info.txt"]).exits(0);
    assert_eq!(got.out, b"Bagging-Date: 2024-06-03\nPayload-Oxum: 7.2\n");
}

#[test]
fn options_that_contradict_a_bag_are_refused() {
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("exp.zip");
    for (options, words) in [
        (&["--bag-info", "A=b"][..], "--layout bagit"),
        (&["--layout", "bagit", "--bag-info", "A"], "LABEL=VALUE"),
        (&["--layout", "bagit", "--bag-info", "A:b=c"], "colon"),
        (&["--layout", "bagit", "--bag-info", " A=c"], "white space"),
        (&["--layout", "bagit", "--bag-info", "A=b\nc"], "line end"),
        (&["--layout", "bagit", "--bag-info", "Payload-Oxum=1.1"], "computed"),
        (&["--layout", "bagit", "--bag-info", "Bagging-Date=today"], "YYYY-MM-DD"),
        (&["--digest", "sha512"], "include sha256"),
        (&["--digest", "sha256,md5"], "read but not written"),
        (&["--digest", "blake3"], "unknown digest"),
    ] {
        create(small().path(), &archive, options).exits(2).says(&[words]);
        assert!(!archive.exists());
    }
}

#[test]
fn names_that_readers_of_bags_misread_are_refused() {
    for name in ["100%.txt", "line\nend", "carriage\rreturn"] {
        let scratch = TempDir::new().unwrap();
        let archive = scratch.path().join("exp.zip");
        let experiment = small().file(name, "x");
        let ran = create(experiment.path(), &archive, &["--layout", "bagit"]).exits(1);
        ran.says(&["BAG015", "--layout plain"]);
        create(experiment.path(), &archive, &[]).exits(0);
    }
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("exp.zip");
    let twins = small().file("\u{e9}.txt", "x").file("e\u{301}.txt", "y");
    create(twins.path(), &archive, &["--layout", "bagit"]).exits(1).says(&["BAG015"]);
}

#[test]
fn an_empty_payload_has_a_directory() {
    for ending in [".zip", ".tar", ".tar.gz"] {
        let (experiment, scratch) = (Experiment::new(), TempDir::new().unwrap());
        let archive =
            pack(&experiment, scratch.path(), &format!("exp{ending}"), &["--layout", "bagit"]);
        let into = TempDir::new().unwrap();
        extract(&archive, into.path(), &[]).exits(0);
        assert!(into.path().join("exp/data").is_dir(), "{ending}");
        let json = ra("verify", &[&archive], &["--json"]).exits(0).json();
        assert_eq!(json["bag"]["valid"], true, "{ending}");
    }
}

#[test]
fn a_plain_pack_has_a_manifest_for_each_algorithm() {
    let scratch = TempDir::new().unwrap();
    let options = ["--digest", "sha256,sha512"];
    for ending in [".zip", ".tar", ".tar.zst"] {
        let archive = pack(&small(), scratch.path(), &format!("exp{ending}"), &options);
        let json = ra("verify", &[&archive], &["--json"]).exits(0).json();
        assert_eq!(json["manifests"][0], "manifest-sha256.txt");
        assert_eq!(json["manifests"][1], "manifest-sha512.txt");
        assert!(json.get("bag").is_none());
        let into = TempDir::new().unwrap();
        extract(&archive, into.path(), &[]).exits(0);
        for algorithm in ["sha256", "sha512"] {
            let name = format!("manifest-{algorithm}.txt");
            let text = fs::read_to_string(into.path().join(name)).unwrap();
            assert!(!text.contains("manifest-") && text.lines().count() == 3, "{text}");
        }
    }
}

#[test]
fn digests_do_not_depend_on_how_a_file_is_read() {
    // Large enough for a separate hashing thread, and for blocks.
    let large = vec![7_u8; 17 * 1024 * 1024];
    let experiment = small().file("large.bin", &large).file("middle.bin", &large[..700_000]);
    let scratch = TempDir::new().unwrap();
    for (ending, more) in [
        (".zip", &["--compression", "stored"][..]),
        (".zip", &["--compression", "deflate:2"]),
        (".tar", &[]),
        (".tar.gz", &[]),
    ] {
        let options =
            [&["--layout", "bagit", "--digest", "sha256,sha512", "--force"], more].concat();
        let archive = pack(&experiment, scratch.path(), &format!("exp{ending}"), &options);
        let json = ra("verify", &[&archive], &["--json"]).exits(0).json();
        assert_eq!(json["bag"]["valid"], true, "{ending} {more:?}");
    }
}

/// Validates the bag at `path` with bagit-python.
fn bagit_validate(python: &Python, path: &Path) -> Result<(), String> {
    let program = "import sys, bagit\nbagit.Bag(sys.argv[1]).validate(processes=1)";
    complaint(python.command().args(["-c", program]).arg(path))
}

#[test]
#[ignore = "slow"]
fn bagit_python_accepts_bags_and_finds_damage() {
    let Some(python) = Python::with(&["bagit"]) else { return };
    let long = format!("External-Description={}", "a long word ".repeat(30).trim());
    let options = [
        &["--layout", "bagit"][..],
        &["--layout", "bagit", "--digest", "sha256,sha512"],
        &["--layout", "bagit", "--bag-info", "Contact-Name=Ü. Mensch", "--bag-info", &long],
    ];
    for (experiment, payload) in [
        (Experiment::standard(), "run1/notes and spaces Größe.txt"),
        (Experiment::new(), "the only file"),
    ] {
        let experiment = experiment.file(payload, "this text is damaged below");
        for options in options {
            for (ending, module) in
                [(".zip", "zipfile"), (".tar", "tarfile"), (".tar.gz", "tarfile")]
            {
                let scratch = TempDir::new().unwrap();
                let archive = pack(&experiment, scratch.path(), &format!("exp{ending}"), options);
                let mut unpack = python.command();
                unpack.args(["-m", module, "-e"]).arg(&archive).arg(scratch.path().join("out"));
                complaint(&mut unpack).unwrap();
                let bag = scratch.path().join("out/exp");
                bagit_validate(&python, &bag).unwrap();
                ra("verify", &[&bag], &[]).exits(0);
                if ending != ".zip" && !is_long() {
                    continue; // the same bag, as was just confirmed
                }
                let damaged = bag.join("data").join(payload);
                let info = bag.join("bag-info.txt");
                for (path, other) in [
                    (&damaged, Some("This text is damaged below")),
                    (&damaged, None),
                    (&info, Some("A: b\n")),
                ] {
                    let whole = fs::read(path).unwrap();
                    match other {
                        Some(other) => fs::write(path, other).unwrap(),
                        None => fs::remove_file(path).unwrap(),
                    }
                    assert!(bagit_validate(&python, &bag).is_err(), "{}", path.display());
                    ra("verify", &[&bag], &[]).exits(1);
                    fs::write(path, whole).unwrap();
                }
                bagit_validate(&python, &bag).unwrap();
            }
        }
    }
}
