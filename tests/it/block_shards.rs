//! Large files whose blocks are divided between the shards of `verify`.

use std::fs;
use std::path::{Path, PathBuf};

use ra_pack::verify::{Shard, VerifyOptions, VerifyReport};
use ra_pack::{Code, verify};
use tempfile::TempDir;

use crate::blocks::{content, damage};
use crate::experiment::Experiment;
use crate::run::{extract, pack, ra};

/// Size of the blocks of [`huge`].
const LARGE_BLOCK: usize = 64 << 10;

/// A directory or an archive with a small file, a file of 37 blocks, and another small file.
fn huge(scratch: &Path, name: &str, options: &[&str]) -> (PathBuf, Vec<u8>) {
    let data = content(36 * LARGE_BLOCK + 1000, 7);
    let source = Experiment::new()
        .file("a.bin", content(5000, 8))
        .file("huge.bin", &data)
        .file("z.bin", content(5000, 9));
    let archive = if name == "dir" { "dir.zip" } else { name };
    let archive = pack(&source, scratch, archive, &[&["--block-digests=64K"], options].concat());
    if name != "dir" {
        return (archive, data);
    }
    let target = scratch.join(name);
    extract(&archive, &target, &[]).exits(0);
    (target, data)
}

fn verify_shard(target: &Path, number: u32, count: u32) -> VerifyReport {
    let options = VerifyOptions { shard: Shard::new(number, count), ..VerifyOptions::default() };
    verify(target, &options).unwrap()
}

#[test]
#[ignore = "slow"]
fn each_block_of_a_large_file_is_in_one_shard() {
    for name in ["x.zip", "x.tar", "dir"] {
        let scratch = TempDir::new().unwrap();
        let (target, data) = huge(scratch.path(), name, &[]);
        let whole = verify(&target, &VerifyOptions::default()).unwrap();
        assert_eq!(
            (whole.blocks.unwrap().bytes, whole.shard_block_size),
            (data.len() as u64, None)
        );
        for count in [2, 3, 40] {
            let shards: Vec<_> =
                (1..=count).map(|number| verify_shard(&target, number, count)).collect();
            let mut bytes = 0;
            for shard in &shards {
                assert_eq!(shard.findings, [], "{name}");
                assert!(shard.contents_read, "{name}");
                assert_eq!(shard.shard_block_size, Some(LARGE_BLOCK as u64), "{name}");
                let blocks = shard.blocks.map_or(0, |blocks| blocks.bytes);
                // In a directory, each of the other files counts as one block more.
                let most = data.len() / count as usize + 4 * LARGE_BLOCK;
                assert!(blocks <= most as u64, "{name}, {count} shards: {blocks} bytes");
                bytes += blocks;
            }
            assert_eq!(bytes, data.len() as u64, "{name}, {count} shards");
        }
        let file = if name == "dir" { target.join("huge.bin") } else { target.clone() };
        let intact = fs::read(&file).unwrap();
        let mut found_by = [0; 3];
        for block in (0..37).step_by(3) {
            damage(&file, &data, block * LARGE_BLOCK + 999);
            let shards = [1, 2, 3].map(|number| verify_shard(&target, number, 3));
            let bad: Vec<usize> = (0..3).filter(|at| !shards[*at].is_valid()).collect();
            assert_eq!(bad.len(), 1, "{name}, block {block}: {bad:?}");
            let finding = &shards[bad[0]].findings[0];
            assert_eq!(finding.code, Code::DamagedBlock, "{name}");
            let begins = format!("bytes {} to ", block * LARGE_BLOCK);
            assert!(finding.message.starts_with(&begins), "{name}: {finding}");
            found_by[bad[0]] += 1;
            fs::write(&file, &intact).unwrap();
        }
        assert!(found_by.iter().all(|found| *found >= 3), "{name}: {found_by:?}");
        // If every block is damaged, the ranges of the shards are adjacent.
        for block in 0..37 {
            damage(&file, &data, block * LARGE_BLOCK + 64);
        }
        let ends = [1, 2, 3].map(|number| {
            let report = verify_shard(&target, number, 3);
            let finding = report.findings.iter().find(|it| it.code == Code::DamagedBlock).unwrap();
            let mut words = finding.message.split(' ');
            let mut number = |at: usize| words.nth(at).unwrap().parse::<usize>().unwrap();
            (number(1), number(1))
        });
        assert_eq!((ends[0].0, ends[2].1), (0, data.len() - 1), "{name}");
        assert_eq!([ends[0].1 + 1, ends[1].1 + 1], [ends[1].0, ends[2].0], "{name}");
    }
}

#[test]
fn files_that_block_digests_do_not_prove_are_in_one_shard() {
    let scratch = TempDir::new().unwrap();
    let packs = [
        huge(scratch.path(), "bag.zip", &["--layout", "bagit"]),
        huge(scratch.path(), "c.zip", &["--compression", "deflate"]),
        huge(scratch.path(), "full.zip", &[]),
    ];
    for (archive, _) in packs {
        let is_full = archive.ends_with("full.zip");
        let shards = [1, 2, 3].map(|number| {
            let options = VerifyOptions {
                shard: Shard::new(number, 3),
                full: is_full,
                ..VerifyOptions::default()
            };
            verify(&archive, &options).unwrap()
        });
        assert!(shards.iter().all(|shard| shard.is_valid() && shard.blocks.is_none()));
        let bytes = fs::read(&archive).unwrap();
        let mut damaged = bytes.clone();
        // A byte in the middle of the large file, which the second or third shard does not begin with.
        let at = bytes.len() * 3 / 5;
        damaged[at] ^= 1;
        fs::write(&archive, damaged).unwrap();
        let found = [1, 2, 3].map(|number| {
            let options = VerifyOptions {
                shard: Shard::new(number, 3),
                full: is_full,
                ..VerifyOptions::default()
            };
            let report = verify(&archive, &options).unwrap();
            report.findings.iter().filter(|it| it.member.is_some()).count()
        });
        assert!(found[0] > 0 && found[1..] == [0, 0], "{}: {found:?}", archive.display());
    }
}

#[test]
fn shards_that_divide_files_differently_are_not_a_complete_verification() {
    let scratch = TempDir::new().unwrap();
    let (archive, _) = huge(scratch.path(), "x.zip", &[]);
    let log = |name: &str, shard: &str, more: &[&str]| {
        let log = scratch.path().join(name);
        let options = ["--shard", shard, "--log", log.to_str().unwrap()];
        ra("verify", &[&archive], &[&options[..], more].concat()).exits(0);
        log
    };
    let first = log("first.jsonl", "1/2", &[]);
    let full = log("full.jsonl", "2/2", &["--full"]);
    let audited = ra("audit", &[&first, &full], &[]).exits(1);
    audited.says(&["disagreeing", "different options"]);
    let second = log("second.jsonl", "2/2", &[]);
    ra("audit", &[&first, &second], &[]).exits(0).says(&["1 pack: 1 good"]);
}
