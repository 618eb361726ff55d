//! Several large members that one thread reads at once: errors are reported for the right one.

use std::fs;

use tempfile::TempDir;

use super::{is_unfinished, noise};
use crate::bytes::{offset_of, part, tar, with_manifest, zip};
use crate::experiment::{Experiment, read_tree};
use crate::foreign::assert_sha256sum_passes;
use crate::run::{create, extract, names_in, ra};

/// Lengths of members that are read in pairs, with few common factors; five, so that one is left over.
const LENGTHS: [usize; 5] = [4_194_305, 5_000_001, 4_300_000, 4_194_368, 4_999_999];

fn name(number: usize) -> String {
    format!("{number}.bin")
}

fn contents() -> Vec<Vec<u8>> {
    (1..).zip(LENGTHS).map(|(seed, length)| noise(seed, length)).collect()
}

#[test]
#[ignore = "slow"]
fn all_members_are_extracted_for_any_number_of_jobs() {
    let mut experiment = Experiment::new().file("small.txt", "small");
    for (number, content) in contents().iter().enumerate() {
        experiment = experiment.file(&name(number), content);
    }
    let source = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    for (ending, compression, jobs) in
        [("zip", "stored", &["1", "2"][..]), ("zip", "deflate", &["1"]), ("tar", "stored", &["2"])]
    {
        let mut first = None;
        for jobs in jobs.iter().copied() {
            let archive = scratch.path().join(format!("{compression}-{jobs}.{ending}"));
            let options = ["--jobs", jobs, "--compression", compression, "--no-external-manifest"];
            create(experiment.path(), &archive, &options).exits(0);
            let bytes = fs::read(&archive).unwrap();
            assert!(*first.get_or_insert_with(|| bytes.clone()) == bytes, "{ending} {jobs}");
            let json = ra("verify", &[&archive], &["--jobs", jobs, "--json"]).exits(0).json();
            assert_eq!(json["findings"].to_string(), "[]");
            let into = TempDir::new().unwrap();
            extract(&archive, into.path(), &["--jobs", jobs]).exits(0);
            assert_sha256sum_passes(into.path(), "manifest-sha256.txt");
            let mut tree = read_tree(into.path());
            tree.retain(|name, _| source.contains_key(name));
            assert!(tree == source, "{ending} {jobs}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn a_damaged_member_is_named_and_the_others_are_intact() {
    let sound = with_manifest(
        contents().iter().enumerate().map(|(number, data)| part(&name(number), data)).collect(),
    );
    let scratch = TempDir::new().unwrap();
    let whole = zip(&sound);
    // In the first block and in the last byte; of two that are read together, and of the remaining one.
    for (number, at, jobs) in [(1, 0, "1"), (4, 4_000_000, "2"), (3, 4_194_367, "1")] {
        let length = LENGTHS[number];
        let mut parts = sound.clone();
        parts[number].data[at] ^= 1;
        // Only the checksum of the container matches, or neither it nor the digest.
        let mut broken = whole.clone();
        let start = &sound[number].data[..64];
        let start = offset_of(start, &broken);
        broken[start + length - 1] ^= 1;
        for (file, code, bytes) in [
            ("x.zip", "MAN003", zip(&parts)),
            ("x.tar", "MAN003", tar(&parts)),
            ("crc.zip", "ARC006", broken),
        ] {
            let archive = scratch.path().join(file);
            fs::write(&archive, bytes).unwrap();
            let ran = ra("verify", &[&archive], &["--jobs", jobs, "--json"]).exits(1);
            assert!(ran.findings().contains(&(code.to_owned(), name(number))), "{file} {jobs}");
            assert!(ran.findings().iter().all(|(_, member)| *member == name(number)));
            let into = TempDir::new().unwrap();
            let ran = extract(&archive, into.path(), &["--jobs", jobs]).exits(1);
            ran.says(&[code, &name(number)]);
            let mut names = names_in(into.path());
            assert!(!names.iter().any(|name| is_unfinished(name)));
            names.retain(|written| *written != name(number));
            assert_eq!(names.len(), LENGTHS.len(), "{file} {jobs}: {names:?}");
        }
    }
}

/// Sixteen members, the largest number that is hashed at once, of which two are damaged.
#[test]
#[ignore = "slow"]
fn two_damaged_members_of_sixteen_are_named() {
    const COUNT: usize = 11;
    let scratch = TempDir::new().unwrap();
    let source = scratch.path().join("source");
    fs::create_dir(&source).unwrap();
    for (number, seed) in (0..COUNT).zip(1..) {
        fs::write(source.join(name(number)), noise(seed, 4_194_305 + 4099 * number)).unwrap();
    }
    let archive = scratch.path().join("x.zip");
    create(&source, &archive, &["--jobs", "1", "--no-external-manifest"]).exits(0);
    let mut bytes = fs::read(&archive).unwrap();
    let damaged = [(2, 70_000), (7, 4_194_305)].map(|(number, at)| {
        let start = offset_of(&fs::read(source.join(name(number))).unwrap()[..64], &bytes);
        bytes[start + at] ^= 1;
        ("ARC006".to_owned(), name(number))
    });
    fs::write(&archive, bytes).unwrap();

    let ran = ra("verify", &[&archive], &["--jobs", "1", "--json"]).exits(1);
    assert!(damaged.iter().all(|finding| ran.findings().contains(finding)));
    assert!(ran.findings().iter().all(|(_, member)| [name(2), name(7)].contains(member)));
    let into = TempDir::new().unwrap();
    extract(&archive, into.path(), &["--jobs", "1"]).exits(1).says(&["ARC006", &name(2), &name(7)]);
    let mut tree = read_tree(into.path());
    let mut expected = read_tree(&source);
    tree.retain(|name, _| expected.contains_key(name));
    expected.retain(|member, _| *member != name(2) && *member != name(7));
    assert!(tree == expected);
}
