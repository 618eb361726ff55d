//! `ra-pack verify`: valid packs pass, and every kind of damage is found and named.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::bytes::{
    MAKERS, Part, link, manifest, part, sha256, tar, with_manifest, zip, zip_entries,
};
use crate::experiment::{Element, Experiment, UINT8, raw_array, read_tree};
use crate::foreign::installed;
use crate::run::{ENDINGS, Ran, extract, pack, ra, run};
#[cfg(target_os = "linux")]
use crate::skips::skip_always;

const DESCRIPTION: &str = "ndarrays:\n  a:\n    shape: [200]\n    type: uint8\n";

fn values() -> Vec<u8> {
    (0..200).collect()
}

/// Returns an array, its description and a note.
fn parts() -> Vec<Part> {
    vec![
        part("run1/a.ra", raw_array(UINT8, &[200], &values())),
        part("run1/a.yaml", DESCRIPTION),
        part("run1/notes.txt", "nothing wrong here\n"),
    ]
}

fn experiment() -> Experiment {
    parts()
        .into_iter()
        .fold(Experiment::new(), |experiment, part| experiment.file(&part.name, part.data))
}

fn write(scratch: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = scratch.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn verify(target: &Path, options: &[&str]) -> Ran {
    ra("verify", &[target], options)
}

/// Verifies an archive with these bytes, which must fail with status 1. Returns codes and members.
#[track_caller]
fn findings(name: &str, bytes: impl AsRef<[u8]>) -> Vec<(String, String)> {
    let scratch = TempDir::new().unwrap();
    let archive = write(&scratch, name, bytes);
    verify(&archive, &["--json"]).exits(1).findings()
}

#[track_caller]
fn assert_found(found: &[(String, String)], code: &str, member: &str) {
    let is_it = |(c, m): &(String, String)| c == code && m == member;
    assert!(found.iter().any(is_it), "no {code} of `{member}` in {found:?}");
}

/// Verifies many archives in one run and returns their reports.
fn reports(ending: &str, variants: impl IntoIterator<Item = Vec<u8>>) -> Vec<Value> {
    let scratch = TempDir::new().unwrap();
    let mut arguments = vec!["verify".to_owned(), "--json".to_owned()];
    for (index, bytes) in variants.into_iter().enumerate() {
        let archive = write(&scratch, &format!("{index:05}{ending}"), bytes);
        arguments.push(archive.into_os_string().into_string().unwrap());
    }
    let count = arguments.len() - 2;
    let ran = run(arguments);
    assert!(ran.code == Some(0) || ran.code == Some(1), "{}", ran.said());
    assert_eq!(ran.err, "");
    let text = String::from_utf8(ran.out).unwrap();
    let reports: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports.len(), count);
    reports
}

fn has_error(report: &Value) -> bool {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().any(|finding| finding["severity"] == "error")
}

#[test]
fn a_valid_pack_passes_in_every_container_and_layout() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        for layout in ["plain", "bagit"] {
            let name = format!("{layout}{ending}");
            let archive = pack(&experiment, scratch.path(), &name, &["--layout", layout]);
            verify(&archive, &[]).exits(0).says(&[": valid (11 arrays", "manifest-sha256.txt"]);
            let ran = verify(&archive, &["--fast"]).exits(0);
            assert!(!ran.said().contains(": valid"), "{}", ran.said());
            ran.says(&["contents not read"]);
            for jobs in ["1", "3"] {
                verify(&archive, &["--jobs", jobs]).exits(0).says(&[": valid"]);
            }
            let into = TempDir::new().unwrap();
            extract(&archive, into.path(), &[]).exits(0);
            verify(into.path(), &[]).exits(0).says(&[": valid (11 arrays"]);
        }
    }
}

#[test]
fn json_reports_what_was_checked() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment(), scratch.path(), "x.zip", &[]);
    let json = verify(&archive, &["--json"]).exits(0).json();
    assert_eq!(json["target"], archive.to_str().unwrap());
    for (key, value) in [
        ("container", Value::from("zip")),
        ("layout", "plain".into()),
        ("contents_read", true.into()),
        ("files", 5.into()),
        ("arrays", 1.into()),
        ("manifests", vec!["manifest-sha256.txt"].into()),
        ("findings", Value::Array(Vec::new())),
    ] {
        assert_eq!(json[key], value, "{key}");
    }
    assert!(json["seconds"].is_number() && json["bytes"].is_number());
    assert_eq!(verify(&archive, &["--json", "--fast"]).exits(0).json()["contents_read"], false);
}

#[test]
fn a_flipped_bit_is_found_in_its_member() {
    let scratch = TempDir::new().unwrap();
    for ending in [".zip", ".tar"] {
        let archive = pack(&experiment(), scratch.path(), &format!("x{ending}"), &[]);
        let sound = fs::read(&archive).unwrap();
        let description = DESCRIPTION.as_bytes();
        for (content, offset, member) in [
            (&values()[..], 100, "run1/a.ra"),
            (b"rawarray", 1, "run1/a.ra"),
            (description, description.len() - 2, "run1/a.yaml"),
            (b"nothing wrong", 3, "run1/notes.txt"),
        ] {
            let start = sound.windows(content.len()).position(|window| window == content);
            let mut bytes = sound.clone();
            bytes[start.unwrap() + offset] ^= 1;
            let found = findings(&format!("y{ending}"), &bytes);
            if ending == ".zip" {
                assert_found(&found, "ARC006", member);
            } else {
                assert_found(&found, "MAN003", member);
            }
            assert!(
                found.iter().all(|(_, found)| found == member || member == "run1/a.yaml"),
                "{found:?}"
            );
        }
    }
}

/// Flips one bit of every `step`th byte in turn, and returns the offsets where `verify` found no error.
fn unnoticed(sound: &[u8], ending: &str, step: usize) -> Vec<usize> {
    let places = (0..sound.len()).step_by(step);
    let flipped = places.clone().map(|at| {
        let mut bytes = sound.to_vec();
        bytes[at] ^= 1 << (at % 8);
        bytes
    });
    let is_clean = |report: &Value| report["findings"].as_array().unwrap().is_empty();
    let reports = places.zip(reports(ending, flipped));
    reports.filter(|(_, report)| is_clean(report)).map(|(at, _)| at).collect()
}

#[test]
#[ignore = "slow"]
fn every_flipped_bit_of_a_zip_with_a_meaning_is_found() {
    let scratch = TempDir::new().unwrap();
    for (method, step) in [("stored", 1), ("deflate", 5)] {
        let name = format!("{method}.zip");
        let archive = pack(&experiment(), scratch.path(), &name, &["--compression", method]);
        let sound = fs::read(archive).unwrap();
        let mut unnoticed = unnoticed(&sound, ".zip", step);
        for entry in zip_entries(&sound) {
            // Versions, times, modes and padding, which have no effect.
            let (local, central) = (entry.header, entry.central);
            let name = local + 30 + entry.name.len();
            let free = [local + 4..local + 6, local + 10..local + 14, name..entry.data];
            let attributes = [central + 4..central + 8, central + 12..central + 16];
            // The last byte of a deflate stream has unused bits.
            let last = entry.data + entry.packed - 1;
            unnoticed.retain(|at| entry.method == 0 || *at != last);
            let all = free
                .into_iter()
                .chain(attributes)
                .chain(std::iter::once(central + 36..central + 42));
            for range in all {
                unnoticed.retain(|at| !range.contains(at));
            }
        }
        assert_eq!(unnoticed, [0_usize; 0], "{method}");
    }
}

#[test]
fn every_flipped_bit_of_a_tar_with_a_meaning_is_found() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment(), scratch.path(), "x.tar", &[]);
    let sound = fs::read(archive).unwrap();
    let mut unnoticed = unnoticed(&sound, ".tar", 7);
    // The first zero of a header's checksum may become a space, and a digit of a digest a capital letter.
    unnoticed.retain(|at| at % 512 != 148 && !(at % 8 == 5 && sound[*at].is_ascii_hexdigit()));
    assert_eq!(unnoticed, [0_usize; 0]);
}

#[test]
fn a_truncated_archive_is_found_at_every_length() {
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive = pack(&experiment(), scratch.path(), &format!("x{ending}"), &[]);
        let sound = fs::read(archive).unwrap();
        let lengths: Vec<_> =
            (0..sound.len()).step_by(37).chain(sound.len() - 9..sound.len()).collect();
        let cut = lengths.iter().map(|length| sound[..*length].to_vec());
        for (length, report) in lengths.iter().zip(reports(ending, cut)) {
            let findings = &report["findings"];
            // A tar without its last zeros is complete, which is only a warning.
            let only_end =
                !has_error(&report) && ending == ".tar" && findings[0]["code"] == "ARC009";
            assert!(has_error(&report) || only_end, "{ending} at {length}: {report}");
            if only_end {
                assert!(sound.len() - length <= 1024, "{length}");
            }
        }
    }
}

#[test]
fn bytes_before_or_after_an_archive_are_found() {
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive = pack(&experiment(), scratch.path(), &format!("x{ending}"), &[]);
        let sound = fs::read(archive).unwrap();
        let variants = [b"x".to_vec(), b"#!/bin/sh\n".to_vec(), vec![7; 512], vec![0; 700]];
        for junk in variants {
            let after = [&sound[..], &junk].concat();
            let before = [&junk[..], &sound].concat();
            for (place, report) in ["after", "before"].iter().zip(reports(ending, [after, before]))
            {
                let zeros = junk[0] == 0 && *place == "after" && ending != ".zip";
                assert!(zeros || has_error(&report), "{} {place} {ending}: {report}", junk.len());
            }
        }
        let twice = [&sound[..], &sound].concat();
        assert!(has_error(&reports(ending, [twice])[0]), "{ending}");
    }
}

#[test]
fn a_file_that_is_not_an_archive_is_reported_as_such() {
    for content in [&b""[..], b"hello", &[0; 300]] {
        for name in ["x.zip", "x.tar", "x.tar.gz", "x.tgz", "x.tar.zst"] {
            assert!(!findings(name, content).is_empty(), "{name}");
        }
        let directory = TempDir::new().unwrap();
        for (name, code, said) in [("x", 2, "not a pack"), ("x.ra", 1, "[RA001]")] {
            let path = directory.path().join(name);
            fs::write(&path, content).unwrap();
            run(["verify".as_ref(), path.as_os_str()]).exits(code).says(&[said]);
        }
    }
    assert_found(&findings("x.zip", ""), "ARC001", "");
}

#[test]
fn removed_added_and_renamed_members_are_distinguished() {
    let list = manifest(&parts());
    let make = |change: &dyn Fn(&mut Vec<Part>)| {
        let mut parts = parts();
        change(&mut parts);
        parts.push(list.clone());
        parts
    };
    let removed = make(&|parts| drop(parts.remove(2)));
    let added = make(&|parts| parts.push(part("evil.sh", "rm")));
    let renamed = make(&|parts| parts[2].name = "run1/other.txt".to_owned());
    let changed = make(&|parts| parts[2].data = b"all is well\n".to_vec());
    for (name, write) in MAKERS {
        assert_found(&findings(name, write(&removed)), "MAN004", "run1/notes.txt");
        assert_found(&findings(name, write(&added)), "MAN005", "evil.sh");
        let found = findings(name, write(&renamed));
        assert_found(&found, "MAN004", "run1/notes.txt");
        assert_found(&found, "MAN005", "run1/other.txt");
        let found = findings(name, write(&changed));
        assert_eq!(found, [("MAN003".to_owned(), "run1/notes.txt".to_owned())]);
    }
    let scratch = TempDir::new().unwrap();
    let archive = write(&scratch, "x.zip", zip(&changed));
    let (expected, found) = (sha256(b"nothing wrong here\n"), sha256(b"all is well\n"));
    verify(&archive, &[]).exits(1).says(&[
        "NOT VALID, 1 error",
        &expected,
        &found,
        "run1/notes.txt",
    ]);
    // With --fast, contents are not read, and the pack is not called valid.
    verify(&archive, &["--fast"]).exits(0).says(&["contents not read"]);
    let archive = write(&scratch, "y.zip", zip(&removed));
    verify(&archive, &["--fast"]).exits(1).says(&["MAN004"]);
}

#[test]
fn a_pack_without_a_manifest_is_not_verified() {
    for bytes in [zip(&parts()), tar(&parts())] {
        assert_found(&findings("x", bytes), "MAN001", "");
    }
    verify(experiment().path(), &[]).exits(1).says(&["MAN001", "manifest-sha256.txt"]);
    let mut empty = parts();
    empty.push(part("manifest-sha256.txt", ""));
    assert_found(&findings("x.zip", zip(&empty)), "MAN009", "manifest-sha256.txt");
    let mut bad = parts();
    bad.push(part("manifest-sha256.txt", "hello\n"));
    assert_found(&findings("x.zip", zip(&bad)), "MAN002", "manifest-sha256.txt");
}

#[test]
fn a_manifest_next_to_the_archive_or_elsewhere_must_agree() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment(), scratch.path(), "x.zip", &[]);
    let beside = scratch.path().join("x.zip.manifest-sha256.txt");
    let right = fs::read_to_string(&beside).unwrap();
    let wrong = right.replace(&sha256(b"nothing wrong here\n"), &sha256(b"other"));
    let less: String = right.lines().skip(1).flat_map(|line| [line, "\n"]).collect();

    for text in [&wrong, &less] {
        fs::write(&beside, text).unwrap();
        let ran = verify(&archive, &["--json"]).exits(1);
        assert!(ran.findings().iter().all(|(code, _)| code == "MAN006"), "{}", ran.said());
        verify(&archive, &["--fast"]).exits(1).says(&["MAN006"]);
    }
    fs::write(&beside, "rubbish\n").unwrap();
    verify(&archive, &[]).exits(1).says(&["MAN002"]);
    fs::remove_file(&beside).unwrap();

    let elsewhere = TempDir::new().unwrap();
    let safe = write(&elsewhere, "safe.txt", &right);
    let option = ["--manifest", safe.to_str().unwrap()];
    verify(&archive, &option).exits(0).says(&[": valid"]);
    fs::write(&safe, wrong).unwrap();
    verify(&archive, &option).exits(1).says(&["MAN006", "run1/notes.txt"]);
    verify(&archive, &["--manifest", "/nowhere/x.txt"]).exits(2).says(&["/nowhere/x.txt"]);

    // An archive without a manifest is verified against an external one.
    let bare = write(&scratch, "bare.zip", zip(&parts()));
    let kept = write(&elsewhere, "kept.txt", &manifest(&parts()).data);
    verify(&bare, &["--manifest", kept.to_str().unwrap()]).exits(0).says(&[": valid"]);
    write(&scratch, "bare.zip.manifest-sha256.txt", &manifest(&parts()[1..]).data);
    verify(&bare, &[]).exits(1).says(&["MAN005", "run1/a.ra"]);
}

#[test]
fn the_digest_of_the_archive_is_checked_if_it_exists() {
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive =
            pack(&experiment(), scratch.path(), &format!("x{ending}"), &["--archive-digest"]);
        verify(&archive, &[]).exits(0);
        let line = format!("{}  x{ending}\n", sha256(b"another archive"));
        write(&scratch, &format!("x{ending}.sha256"), line);
        let ran = verify(&archive, &["--json"]).exits(1);
        assert_eq!(ran.findings(), [("MAN008".to_owned(), String::new())]);
    }
}

#[test]
fn a_manifest_that_lists_less_than_a_stronger_one_is_a_warning() {
    let files = [part("a.txt", "abc"), part("b.txt", "abc"), part("c.txt", "abc")];
    let sum = |tool: &str, names: &[&str]| {
        let digest = match tool {
            "md5" => "900150983cd24fb0d6963f7d28e17f72",
            "sha256" => "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            _ => {
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
            }
        };
        let lines = names.iter().map(|name| format!("{digest}  {name}\n"));
        part(&format!("manifest-{tool}.txt"), lines.collect::<Vec<_>>().concat())
    };
    let all = ["a.txt", "b.txt", "c.txt"];
    let scratch = TempDir::new().unwrap();
    let lists = [sum("sha256", &all[..1]), sum("sha384", &all), sum("md5", &all[..1])];
    for (ending, write_archive) in MAKERS {
        let parts: Vec<_> = files.iter().chain(&lists).cloned().collect();
        let archive = write(&scratch, &format!("x{ending}"), write_archive(&parts));
        let ran = verify(&archive, &["--json"]).exits(0);
        assert_eq!(ran.findings(), [("MAN006".to_owned(), "manifest-sha256.txt".to_owned())]);
        verify(&archive, &[]).exits(0).says(&["2 files are listed", "`b.txt`"]);
        verify(&archive, &["--strict"]).exits(1);
    }
}

#[test]
fn a_file_named_like_standard_input_is_listed_so_that_sha256sum_opens_it() {
    let experiment = Experiment::new().file("-", "dash").file("a.txt", "a");
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        verify(&archive, &["--strict"]).exits(0);
        let into = scratch.path().join(format!("out{ending}"));
        extract(&archive, &into, &[]).exits(0);
        assert!(fs::read_to_string(into.join("manifest-sha256.txt")).unwrap().contains("  ./-\n"));
        crate::foreign::assert_sha256sum_passes(&into, "manifest-sha256.txt");
        verify(&into, &["--strict"]).exits(0);
        ra("get", &[&archive, Path::new("-")], &[]).exits(0).says(&["dash"]);
        let listed = fs::read_to_string(into.join("manifest-sha256.txt")).unwrap();
        fs::write(into.join("manifest-sha256.txt"), listed.replace("./-", "-")).unwrap();
        verify(&into, &[]).exits(0).says(&["warning[MAN002]", "standard input"]);
    }
}

#[test]
fn a_signature_without_its_manifest_is_a_warning() {
    let scratch = TempDir::new().unwrap();
    let archive = write(&scratch, "x.zip", zip(&with_manifest(parts())));
    let signature = write(&scratch, "x.zip.manifest-sha256.txt.minisig", "signature");
    let ran = verify(&archive, &[]).exits(0).says(&["warning[ARC011]", "does not exist"]);
    assert!(!ran.said().contains("signature: "), "{}", ran.said());
    let list = manifest(&parts());
    write(&scratch, "x.zip.manifest-sha256.txt", list.data);
    verify(&archive, &["--strict"]).exits(0).says(&["signature: "]);
    fs::remove_file(signature).unwrap();

    let mut inside = with_manifest(parts());
    inside.push(part("manifest-sha512.txt.asc", "signature"));
    let archive = write(&scratch, "y.zip", zip(&inside));
    verify(&archive, &["--strict"]).exits(1).says(&["manifest-sha512.txt.asc"]);
}

#[test]
fn the_hint_for_a_missing_manifest_fits_the_target() {
    let experiment = experiment();
    let make = ["`ra-pack manifest --write"];
    verify(experiment.path(), &[]).exits(1).says(&make);
    ra("manifest", &[Path::new("--check"), experiment.path()], &[]).exits(1).says(&make);
    let scratch = TempDir::new().unwrap();
    let archive = write(&scratch, "x.zip", zip(&parts()));
    let ran = extract(&archive, &scratch.path().join("out"), &[]).exits(0);
    ran.says(&["`ra-pack verify --manifest FILE`"]);
}

#[test]
fn manifests_with_other_algorithms_are_checked() {
    let digests = [
        ("md5", "900150983cd24fb0d6963f7d28e17f72"),
        ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("sha224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (
            "sha384",
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            "sha512",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
    ];
    let scratch = TempDir::new().unwrap();
    for (algorithm, digest) in digests {
        let list = part(&format!("manifest-{algorithm}.txt"), format!("{digest}  a.txt\n"));
        let right = [part("a.txt", "abc"), list.clone()];
        let wrong = [part("a.txt", "abd"), list];
        for (ending, write_archive) in MAKERS {
            let archive = write(&scratch, &format!("{algorithm}{ending}"), write_archive(&right));
            let ran = verify(&archive, &[]).exits(0).says(&[": valid"]);
            let is_weak = digest.len() <= 40;
            assert_eq!(ran.said().contains("MAN007"), is_weak, "{}", ran.said());
            let strict = i32::from(is_weak);
            verify(&archive, &["--strict"]).exits(strict);
            let found = findings(&format!("y{ending}"), write_archive(&wrong));
            assert_found(&found, "MAN003", "a.txt");
        }
        let tool = format!("{algorithm}sum");
        if installed(&[&tool]) {
            let directory = Experiment::new().file("a.txt", "abc").file("b c/d.txt", "more");
            let mut sum = Command::new(&tool);
            let sums = sum.args(["a.txt", "b c/d.txt"]).current_dir(directory.path()).output();
            let name = format!("manifest-{algorithm}.txt");
            let directory = directory.file(&name, sums.unwrap().stdout);
            verify(directory.path(), &[]).exits(0).says(&[": valid"]);
            let directory = directory.file("b c/d.txt", "moRe");
            verify(directory.path(), &[]).exits(1).says(&["MAN003", "b c/d.txt"]);
        }
    }
}

#[test]
fn other_targets_are_checked_if_one_is_missing() {
    let scratch = TempDir::new().unwrap();
    let good = pack(&experiment(), scratch.path(), "good.zip", &[]);
    let bad = write(&scratch, "bad.zip", zip(&parts()));
    let missing = scratch.path().join("missing.zip");
    let ran = ra("verify", &[&missing, &bad, &good], &[]).exits(2);
    let ran = ran.says(&["missing.zip", "bad.zip: not verified", "good.zip: valid"]);
    assert!(ran.err.contains("missing.zip") && !ran.err.contains("`good.zip`"), "{}", ran.err);
    ra("verify", &[&bad, &good], &[]).exits(1);
    ra("verify", &[&good, &good], &[]).exits(0);
    ra("verify", &[], &[]).exits(2);
    let ran = ra("verify", &[&bad, &missing, &good], &["--json"]).exits(2);
    assert_eq!(String::from_utf8(ran.out).unwrap().lines().count(), 3, "a line for each");
}

#[test]
fn a_directory_with_a_manifest_is_a_pack() {
    let into = TempDir::new().unwrap();
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment(), scratch.path(), "x.zip", &[]);
    extract(&archive, into.path(), &[]).exits(0);
    verify(into.path(), &["--strict"]).exits(0).says(&[": valid"]);
    let notes = into.path().join("run1/notes.txt");
    fs::write(&notes, "changed").unwrap();
    fs::write(into.path().join("new.txt"), "").unwrap();
    fs::remove_file(into.path().join("run1/a.ra")).unwrap();
    let found = verify(into.path(), &["--json"]).exits(1).findings();
    for (code, member) in
        [("MAN003", "run1/notes.txt"), ("MAN004", "run1/a.ra"), ("MAN005", "new.txt")]
    {
        assert_found(&found, code, member);
    }
    std::os::unix::fs::symlink("run1", into.path().join("l")).unwrap();
    assert_found(&verify(into.path(), &["--json"]).exits(1).findings(), "NAME004", "l");
}

#[test]
fn a_pack_inside_one_directory_is_valid() {
    let sound = with_manifest(parts());
    let nested: Vec<Part> = sound
        .iter()
        .map(|part| Part { name: format!("exp/{}", part.name), ..part.clone() })
        .collect();
    let scratch = TempDir::new().unwrap();
    for (name, bytes) in [("x.zip", zip(&nested)), ("x.tar", tar(&nested))] {
        let archive = write(&scratch, name, bytes);
        verify(&archive, &["--strict"]).exits(0).says(&[": valid (1 array, 4 files"]);
    }
    let mut outside = nested;
    outside.insert(0, part("exp/run1/new.txt", ""));
    assert_found(&findings("x.zip", zip(&outside)), "MAN005", "run1/new.txt");
}

#[test]
fn descriptions_are_checked_as_create_checks_them() {
    let mut wrong = parts();
    wrong[1].data = DESCRIPTION.replace("200", "100").into_bytes();
    let scratch = TempDir::new().unwrap();
    let archive = write(&scratch, "x.zip", zip(&with_manifest(wrong)));
    let ran = verify(&archive, &[]).exits(1);
    ran.says(&["DESC004", "run1/a.yaml:3:13", "[200]", "[100]"]);
    verify(&archive, &["--fast"]).exits(1).says(&["DESC004"]);
    let undescribed = with_manifest(vec![parts().remove(0)]);
    assert_found(&findings("x.zip", zip(&undescribed)), "DESC001", "run1/a.ra");
    let cut = part("b.ra", &raw_array(UINT8, &[9], &[1; 9])[..60]);
    let description = part("b.yaml", "ndarrays:\n  b: {shape: [9], type: uint8}\n");
    let found = findings("x.tar", tar(&with_manifest(vec![cut, description])));
    assert!(
        found.iter().any(|(code, member)| code.starts_with("RA") && member == "b.ra"),
        "{found:?}"
    );
}

#[test]
fn names_and_members_that_no_pack_may_hold_are_found() {
    for (hostile, code) in [
        (part("../x", ""), "NAME001"),
        (part("/x", ""), "NAME001"),
        (part("a//b", ""), "NAME001"),
        (part("C:\\x", ""), "NAME001"),
        (part("run1/notes.txt", "again"), "NAME002"),
        (part("run1/notes.txt/x", ""), "NAME003"),
        (link("l", "/etc/passwd"), "NAME004"),
        (part("RUN1/NOTES.TXT", ""), "NAME006"),
        (part("bell\u{7}", ""), "NAME008"),
    ] {
        let mut parts = parts();
        parts.push(hostile.clone());
        for (name, bytes) in [("x.zip", zip(&parts)), ("x.tar", tar(&parts))] {
            let found = findings(name, bytes);
            assert!(found.iter().any(|(found, _)| found == code), "{code} {name}: {found:?}");
        }
    }
}

#[test]
fn control_characters_never_reach_the_terminal() {
    let parts = with_manifest(vec![part("a\u{1b}[31m.txt", "x")]);
    let scratch = TempDir::new().unwrap();
    for (name, bytes) in [("x.zip", zip(&parts)), ("x.tar", tar(&parts))] {
        let archive = write(&scratch, name, bytes);
        for command in ["verify", "list"] {
            let ran = ra(command, &[&archive], &[]).exits(0);
            assert!(!ran.said().contains('\u{1b}'), "{}", ran.said());
            ran.says(&["\\u{1b}"]);
        }
    }
}

#[test]
fn foreign_zips_with_the_damage_of_each_member_name_all_of_them() {
    let parts: Vec<Part> =
        (0..20).map(|index| part(&format!("{index:02}.txt"), vec![index; 1000])).collect();
    let mut bytes = zip(&with_manifest(parts));
    for entry in zip_entries(&bytes.clone()).into_iter().take(20) {
        bytes[entry.data + 500] ^= 0x80;
    }
    let found = findings("x.zip", bytes);
    let members: std::collections::BTreeSet<_> =
        found.into_iter().map(|(_, member)| member).collect();
    assert_eq!(members.len(), 20);
}

#[test]
fn verify_changes_nothing() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment(), scratch.path(), "x.zip", &["--archive-digest"]);
    let before = read_tree(scratch.path());
    verify(&archive, &[]).exits(0);
    assert!(read_tree(scratch.path()) == before);
}

#[test]
fn intact_files_are_counted_and_the_damaged_array_is_named() {
    for (name, options) in [("x.zip", &[][..]), ("x.tar", &["--layout=bagit"])] {
        let scratch = TempDir::new().unwrap();
        let experiment = Experiment::new()
            .array("a.ra", UINT8, &[2, 3], &[1; 6])
            .describe("a.yaml", "[2, 3]", "uint8")
            .array("deep/b.ra", UINT8, &[4], &[2; 4])
            .describe("deep/b.yaml", "[4]", "uint8")
            .file("notes.txt", "a note that is found again\n");
        let archive = pack(&experiment, scratch.path(), name, options);
        let whole = ra("verify", &[&archive], &["--json"]).exits(0).json();
        assert_eq!(whole["intact"]["files"], whole["files"]);
        assert_eq!(whole["intact"]["bytes"], whole["bytes"]);
        assert_eq!(whole["intact"]["arrays"], 2);
        let fast = ra("verify", &[&archive], &["--json", "--fast"]).exits(0).json();
        assert!(fast["intact"].is_null());

        let mut bytes = fs::read(&archive).unwrap();
        let text = fs::read(experiment.path().join("deep/b.yaml")).unwrap();
        let at = memchr::memmem::find(&bytes, &text).unwrap();
        bytes[at] ^= 1;
        fs::write(&archive, bytes).unwrap();
        let ran = ra("verify", &[&archive], &["--json"]).exits(1);
        let report = ran.json();
        assert_eq!(report["intact"]["files"].as_u64(), whole["files"].as_u64().map(|n| n - 1));
        assert_eq!(report["intact"]["arrays"], 1, "{}", ran.said());
        for finding in report["findings"].as_array().unwrap() {
            assert_eq!(finding["member"], "deep/b.yaml");
            assert_eq!(finding["array"], "deep/b.ra");
        }
        ra("verify", &[&archive], &[]).exits(1).says(&["intact: 1 of 2 arrays", "next: restore"]);
    }
}

#[test]
fn several_targets_end_with_one_line_of_counts() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    let broken = scratch.path().join("y.zip");
    fs::write(&broken, "no archive").unwrap();
    let absent = scratch.path().join("z.zip");
    ra("verify", &[&archive, &broken, &absent], &[])
        .exits(2)
        .says(&["3 targets: 1 valid, 1 NOT VALID, 1 could not be read"]);
    ra("verify", &[&archive, &archive], &["--fast"])
        .exits(0)
        .says(&["2 targets: 2 without errors, contents not read"]);
}

#[test]
fn files_with_only_strict_errors_are_intact() {
    let scratch = TempDir::new().unwrap();
    let experiment = Experiment::new().array("half.ra", Element(3, 2), &[2], &[0; 4]).describe(
        "half.yaml",
        "[2]",
        "float16",
    );
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    ra("verify", &[&archive], &[]).exits(0).says(&["valid"]);
    ra("verify", &[&archive], &["--strict"]).exits(1).says(&[
        "NDL051",
        "intact: 1 of 1 array",
        "every file is intact",
    ]);
}

/// A long manifest is compared with the one that `create` would write, and parsed only if they differ. The findings are
/// the same.
#[test]
fn a_long_manifest_is_checked_in_every_container() {
    const COUNT: usize = 1_000;
    let files = || -> Vec<Part> {
        (0..COUNT).map(|number| part(&format!("f{number:04}"), format!("{number}"))).collect()
    };
    let text = String::from_utf8(manifest(&files()).data).unwrap();
    assert!(text.len() > 70_000);
    let lines: Vec<&str> = text.lines().collect();
    let middle = format!("{}\n", lines[COUNT / 2]);
    let mut reversed: Vec<&str> = lines.clone();
    reversed.reverse();
    let reversed = reversed.join("\n");
    let other = text.replace(&middle, &format!("{}  f0500\n", sha256(b"other")));
    let variants: [(String, &[(&str, &str)]); 6] = [
        (text.clone(), &[]),
        (reversed, &[]),
        (text.replace('\n', "\r\n"), &[]),
        (other, &[("MAN003", "f0500")]),
        (text.replace(&middle, ""), &[("MAN005", "f0500")]),
        (format!("{text}{}  g\n", sha256(b"")), &[("MAN004", "g")]),
    ];
    let gzip = |parts: &[Part]| -> Vec<u8> {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&tar(parts)).unwrap();
        encoder.finish().unwrap()
    };
    for (text, expected) in variants {
        let mut parts = files();
        parts.push(part("manifest-sha256.txt", text));
        for (ending, bytes) in
            [(".zip", zip(&parts)), (".tar", tar(&parts)), (".tar.gz", gzip(&parts))]
        {
            let scratch = TempDir::new().unwrap();
            let archive = write(&scratch, &format!("x{ending}"), bytes);
            let ran = verify(&archive, &["--json"]).exits(i32::from(!expected.is_empty()));
            let found = ran.findings();
            let found: Vec<_> = found
                .iter()
                .map(|(code, member)| (code.as_str(), member.as_str()))
                .filter(|(code, _)| code.starts_with("MAN"))
                .collect();
            assert_eq!(found, expected, "{ending}");
        }
    }
}

#[test]
fn a_closed_pipe_does_not_make_a_damaged_pack_valid() {
    let scratch = TempDir::new().unwrap();
    let sound = write(&scratch, "sound.zip", zip(&with_manifest(parts())));
    let mut bytes = zip(&parts());
    bytes.truncate(bytes.len() - 5);
    let damaged = write(&scratch, "damaged.zip", bytes);
    for (targets, json, status) in [
        (vec![&damaged], false, 1),
        (vec![&damaged], true, 1),
        (vec![&sound], false, 0),
        // The reader is gone before the result of the second.
        (vec![&sound, &damaged], false, 2),
    ] {
        let mut child = Command::new(crate::experiment::ra_pack().get_program());
        child.arg("verify").args(targets).args(json.then_some("--json"));
        child.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = child.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{json}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
#[ignore = "slow"]
fn a_long_document_of_the_pack_is_checked_like_a_short_one() {
    let said = |of_group: &str, extent: u64| {
        format!(
            "{of_group}:\n  ndarrays:\n    a:\n      shape: [{extent}]\n      type: uint8\n    \
             missing:\n      shape: [3]\n      type: uint8\n"
        )
    };
    let texts = [said("/run1", 200), said("/run1", 7), said("/run2", 200), "a: [".to_owned()];
    for (text, top) in texts.iter().flat_map(|text| [(text, ""), (text, "exp/")]) {
        for (ending, make) in MAKERS {
            let found = |comment: &str| {
                let mut parts = parts();
                parts.push(part("manifest.yaml", format!("{text}# {comment}\n")));
                parts = with_manifest(parts);
                for part in &mut parts {
                    part.name.insert_str(0, top);
                }
                let scratch = TempDir::new().unwrap();
                let archive = write(&scratch, ending, make(&parts));
                verify(&archive, &["--json", "--strict"]).exits(1).findings()
            };
            let long = found(&"x".repeat(100_000));
            assert_eq!(long, found("x"), "{text}");
            assert!(!long.is_empty());
        }
    }
    let title = "x".repeat(100_000);
    let described = format!("{DESCRIPTION}    attributes:\n      long_name: {title}\n");
    let experiment = experiment().file("run1/a.yaml", &described);
    for ending in ENDINGS {
        let scratch = TempDir::new().unwrap();
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        verify(&archive, &["--strict"]).exits(0).says(&[": valid"]);
        let directory = scratch.path().join("out");
        extract(&archive, &directory, &[]).exits(0);
        verify(&directory, &[]).exits(0).says(&[": valid"]);
        let document = directory.join("manifest.yaml");
        let text = fs::read_to_string(&document).unwrap().replace("[200]", "[100]");
        fs::write(&document, text).unwrap();
        let found = verify(&directory, &["--json"]).exits(1).findings();
        assert_found(&found, "MAN003", "manifest.yaml");
        assert!(found.iter().any(|(code, _)| code.starts_with("DESC")), "{found:?}");
    }
}

#[test]
fn packs_below_a_directory_are_verified_as_if_they_were_named() {
    let scratch = TempDir::new().unwrap();
    let path = |name: &str| scratch.path().join(name);
    fs::create_dir_all(path("store/deep")).unwrap();
    let zip = pack(&experiment(), scratch.path(), "store/deep/b.zip", &[]);
    fs::copy(&zip, path("store/a.zip")).unwrap();
    fs::write(path("store/notes.txt"), "not a pack").unwrap();
    extract(&zip, &path("store/c"), &[]).exits(0);
    let line = ["--recursive", "--json"];
    let said = ra("verify", &[&path("store")], &line).exits(0).said();
    let report = |line| serde_json::from_str::<Value>(line).unwrap();
    let targets = said.lines().map(|line| report(line)["target"].as_str().unwrap().to_owned());
    let expected = ["store/a.zip", "store/c", "store/deep/b.zip"];
    let expected = expected.map(|name| path(name).to_str().unwrap().to_owned());
    assert_eq!(targets.collect::<Vec<_>>(), expected);
    ra("verify", &[&path("store")], &["-r"]).exits(0).says(&["3 targets: 3 valid"]);
    let said = ra("validate", &[&path("store"), &zip], &["-r"]).exits(0).said();
    assert_eq!(said.lines().count(), 4, "{said}");
    ra("verify", &[&path("nowhere")], &["-r"]).exits(2).says(&["cannot open `"]);
}

#[cfg(target_os = "linux")]
#[test]
fn no_cache_leaves_the_page_cache_as_it_was() {
    if !installed(&["fincore", "dd", "sync"]) {
        return;
    }
    // Temporary files may be in memory, which has no other place.
    let scratch = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let large = raw_array(UINT8, &[5 << 20], &vec![7; 5 << 20]);
    let experiment = experiment().file("large.ra", large);
    let archive = pack(&experiment, scratch.path(), "exp.zip", &["--describe"]);
    let files = [archive.clone(), scratch.path().join("exp.zip.manifest-sha256.txt")];
    let run = |program: &str, arguments: &[&str], file: &Path| {
        let done = Command::new(program).args(arguments).arg(file).output().unwrap();
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let cached = || {
        let pages = |file: &PathBuf| run("fincore", &["--noheadings", "--output", "PAGES"], file);
        files.each_ref().map(|file| pages(file).trim().parse::<u64>().unwrap())
    };
    for file in &files {
        run("sync", &[], file);
        run(
            "dd",
            &["count=0", "iflag=nocache", &format!("if={}", file.display())],
            "of=/dev/null".as_ref(),
        );
    }
    if cached() != [0, 0] {
        skip_always("the file system keeps files in memory");
        return;
    }
    verify(&archive, &["--no-cache"]).exits(0);
    assert_eq!(cached(), [0, 0]);
    // Another program reads a part.
    let source = format!("if={}", archive.display());
    run("dd", &["bs=4096", "skip=300", "count=100", &source], "of=/dev/null".as_ref());
    let before = cached();
    assert!(before[0] >= 100 && before[0] < 1280, "{before:?}");
    verify(&archive, &["--no-cache"]).exits(0);
    assert_eq!(cached(), before);
    verify(&archive, &[]).exits(0);
    assert!(cached()[0] >= 1280, "{:?}", cached());
}
