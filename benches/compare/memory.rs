//! The memory peak of every command on every workload.

use super::commands::create;
use super::contestant::{Check, Contestant, Kind, Prepared, words};
use super::runner::Bench;

/// Memory allowed for any command, and for each member.
const BASE_KIB: u64 = 64 << 10;
const PER_MEMBER_BYTES: u64 = 400;

/// Returns the memory that a command may use, in KiB.
pub(crate) fn bound(members: u64) -> u64 {
    BASE_KIB + members * PER_MEMBER_BYTES / 1024
}

pub(crate) fn run(bench: &Bench<'_>) {
    for workload in &bench.options.workloads {
        let tree = bench.tree(*workload);
        let ra_pack = &bench.options.ra_pack;
        let picked = tree.picks()[1];
        let out = bench.at("out");
        let contestant =
            |name: &str, command: Vec<String>| Contestant::new(name, Kind::Ours, command);
        let mut contestants = Vec::new();
        for (name, how) in [
            ("made.zip", "stored"),
            ("made.zip", "deflate"),
            ("made.zip", "zstd"),
            ("made.tar", "stored"),
            ("made.tar.gz", "stored"),
            ("made.tar.zst", "stored"),
        ] {
            let made = bench.at(name);
            let mut command = create(ra_pack, &tree.root, &made);
            let mut title = format!("create {}", name.trim_start_matches("made"));
            if how != "stored" {
                command.extend(words!["--compression", how]);
                title = format!("{title} {how}");
            }
            contestants.push(contestant(&title, command).makes(&made, Check::Success));
        }
        for name in ["ours.zip", "ours.tar.gz", "ours.tar.zst"] {
            let archive = bench.at(name);
            let prepared =
                Prepared { command: create(ra_pack, &tree.root, &archive), file: archive.clone() };
            let reads = |verb: &str, rest: Vec<String>| {
                let command = [words![ra_pack, verb, &archive], rest].concat();
                let title = format!("{verb} {}", name.trim_start_matches("ours"));
                contestant(&title, command).after(prepared.clone())
            };
            contestants.extend([
                reads("verify", vec![]),
                reads("list", vec![]),
                reads("info", vec![]),
                reads("describe", vec![]),
                reads("get", words![picked, "-o", &out]).makes(&out, Check::Success),
                reads("extract", words!["-C", &out]).into_directory(&out),
            ]);
        }
        contestants.extend([
            contestant("validate", words![ra_pack, "validate", &tree.root]),
            contestant("describe", words![ra_pack, "describe", &tree.root]),
        ]);
        bench.compete("memory", &workload.name(), &tree, contestants, 1);
        bench.clear();
    }
}
