//! Large members, which a separate thread hashes during copying: damage and full disks are found as for small members, and
//! leave no files.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{Disk, is_unfinished, noise};
use crate::bytes::{offset_of, part, tar, with_manifest, zip};
use crate::experiment::{Experiment, read_tree};
use crate::run::{Ran, extract, names_in, pack, ra};

/// Large enough for a separate thread, and not a multiple of the block size.
const LARGE: usize = 5_000_001;

const WAYS: [(&str, &str); 6] = [
    ("x.zip", "stored"),
    ("x.zip", "deflate"),
    ("x.zip", "zstd"),
    ("x.tar", "stored"),
    ("x.tar.gz", "stored"),
    ("x.tar.zst", "stored"),
];

fn get(archive: &Path, member: &str, out: &Path, options: &[&str]) -> Ran {
    let options = [&[member, "-o", out.to_str().unwrap()], options].concat();
    ra("get", &[archive], &options)
}

fn packed(way: (&str, &str), scratch: &Path, content: &[u8]) -> std::path::PathBuf {
    let experiment = Experiment::new().file("a.txt", "small").file("b/large.bin", content);
    let options = ["--compression", way.1, "--no-external-manifest", "--force"];
    pack(&experiment, scratch, way.0, &options)
}

/// Whether neither the large file nor a part of it exists.
fn is_without_large(directory: &Path) -> bool {
    read_tree(directory).keys().all(|name| !name.contains("large") && !is_unfinished(name))
}

#[test]
fn large_members_are_extracted_for_any_number_of_jobs() {
    let content = noise(1, LARGE);
    let scratch = TempDir::new().unwrap();
    for way in WAYS {
        let archive = packed(way, scratch.path(), &content);
        for jobs in ["1", "2", "5"] {
            let into = TempDir::new().unwrap();
            extract(&archive, into.path(), &["--jobs", jobs]).exits(0);
            assert!(read_tree(into.path())["b/large.bin"] == content, "{way:?} {jobs}");
        }
        let out = scratch.path().join("out");
        get(&archive, "b/large.bin", &out, &["--force"]).exits(0);
        assert!(fs::read(out).unwrap() == content, "{way:?}");
        assert!(ra("get", &[&archive], &["b/large.bin"]).exits(0).out == content, "{way:?}");
    }
}

#[test]
#[ignore = "slow"]
fn a_damaged_large_member_leaves_nothing() {
    let sound = with_manifest(vec![part("a.txt", "small"), part("large.bin", noise(2, LARGE))]);
    let scratch = TempDir::new().unwrap();
    // In the first block, in the middle and in the last byte.
    for at in [0, LARGE / 2, LARGE - 1] {
        let mut parts = sound.clone();
        parts[1].data[at] ^= 1;
        // The checksum of the container matches, and the digest in the manifest does not.
        let mut archives = vec![("x.zip", "MAN003", zip(&parts)), ("x.tar", "MAN003", tar(&parts))];
        // Neither matches.
        let mut bytes = zip(&sound);
        let data = &sound[1].data;
        let start = offset_of(&data[..64], &bytes);
        bytes[start + at] ^= 1;
        archives.push(("crc.zip", "ARC006", bytes));
        for (name, code, bytes) in archives {
            let archive = scratch.path().join(name);
            fs::write(&archive, bytes).unwrap();
            for jobs in ["1", "2"] {
                let into = TempDir::new().unwrap();
                let ran = extract(&archive, into.path(), &["--jobs", jobs]).exits(1);
                ran.says(&[code, "large.bin"]);
                assert_eq!(names_in(into.path()), ["a.txt", "manifest-sha256.txt"], "{name}");
            }
            let into = TempDir::new().unwrap();
            get(&archive, "large.bin", &into.path().join("out"), &[]).exits(1).says(&[code]);
            assert_eq!(names_in(into.path()), [""; 0]);
            let ran = ra("get", &[&archive], &["large.bin"]).exits(1);
            assert_eq!(ran.out, b"", "{name}");
        }
    }
}

#[test]
fn a_truncated_large_member_leaves_nothing() {
    let scratch = TempDir::new().unwrap();
    for way in WAYS.into_iter().filter(|(name, _)| name.starts_with("x.tar")) {
        let archive = packed(way, scratch.path(), &noise(3, LARGE));
        let bytes = fs::read(&archive).unwrap();
        fs::write(&archive, &bytes[..bytes.len() / 2]).unwrap();
        let into = TempDir::new().unwrap();
        let ran = extract(&archive, into.path(), &[]);
        assert_eq!(ran.code, Some(1), "{way:?}: {}", ran.said());
        assert!(is_without_large(into.path()), "{way:?}");
        let into = TempDir::new().unwrap();
        let ran = get(&archive, "b/large.bin", &into.path().join("out"), &[]);
        assert_eq!(ran.code, Some(1), "{way:?}: {}", ran.said());
        assert_eq!(names_in(into.path()), [""; 0], "{way:?}");
    }
    // A zip with an intact directory and a member overwritten with zeros from the middle.
    let archive = packed(("x.zip", "zstd"), scratch.path(), &noise(3, LARGE));
    let mut bytes = fs::read(&archive).unwrap();
    let half = bytes.len() / 2;
    bytes[half..half + 100_000].fill(0);
    fs::write(&archive, bytes).unwrap();
    let into = TempDir::new().unwrap();
    extract(&archive, into.path(), &[]).exits(1).says(&["b/large.bin"]);
    assert!(is_without_large(into.path()));
}

#[test]
fn a_disk_without_space_for_a_large_member_stays_empty() {
    let content = noise(4, LARGE);
    let scratch = TempDir::new().unwrap();
    for way in WAYS {
        let archive = packed(way, scratch.path(), &content);
        let Some(disk) = Disk::mount("3m") else { return };
        for jobs in ["1", "2"] {
            let ran = extract(&archive, disk.path(), &["--jobs", jobs, "b"]).exits(2);
            ran.says(&["large.bin", "No space left"]);
            assert!(is_without_large(disk.path()), "{way:?}");
        }
        let ran = get(&archive, "b/large.bin", &disk.path().join("out"), &[]).exits(2);
        ran.says(&["No space left"]);
        assert!(!names_in(disk.path()).iter().any(|name| name.contains("out")), "{way:?}");
    }
}

#[test]
fn max_size_limits_a_large_member() {
    let scratch = TempDir::new().unwrap();
    let archive = packed(("x.zip", "deflate"), scratch.path(), &vec![0; LARGE]);
    let into = TempDir::new().unwrap();
    extract(&archive, into.path(), &["--max-size", "4M"]).exits(2).says(&["--max-size"]);
    get(&archive, "b/large.bin", &into.path().join("out"), &["--max-size", "4M"]).exits(2);
    assert!(is_without_large(into.path()));
    assert!(!names_in(into.path()).iter().any(|name| name.contains("out")));
}
