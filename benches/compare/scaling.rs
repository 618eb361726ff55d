//! The cost per member, from a thousand members to a million.

use super::commands::create;
use super::contestant::{Contestant, Kind, Prepared, words};
use super::runner::Bench;
use super::workloads::Workload;

/// The number of members from which only a few rounds are run, because each takes long.
const MANY: u64 = 500_000;

pub(crate) fn run(bench: &Bench<'_>) {
    for members in &bench.options.members {
        let workload = Workload::Members(*members);
        let tree = bench.tree(workload);
        let ra_pack = &bench.options.ra_pack;
        let (made, out) = (bench.at("made.zip"), bench.at("out"));
        let archive = bench.at("ours.zip");
        let ours =
            Prepared { command: create(ra_pack, &tree.root, &archive), file: archive.clone() };
        let picked = tree.picks()[2];
        let contestant = |name: &str, command: Vec<String>| {
            Contestant::new(name, Kind::Ours, command).after(ours.clone())
        };
        let contestants = vec![
            contestant("create", create(ra_pack, &tree.root, &made))
                .makes(&made, super::contestant::Check::Zip),
            contestant("verify", words![ra_pack, "verify", &archive]),
            contestant("extract", words![ra_pack, "extract", &archive, "-C", &out])
                .into_directory(&out),
            contestant("list", words![ra_pack, "list", &archive]),
            contestant("get", words![ra_pack, "get", &archive, picked, "-o", &out, "--force"])
                .makes(&out, super::contestant::Check::Same(vec![tree.root.join(picked)])),
        ];
        let rounds = bench.options.rounds;
        let rounds = if *members >= MANY { rounds.min(3) } else { rounds };
        bench.compete("scaling", &workload.name(), &tree, contestants, rounds);
        bench.clear();
    }
}
