//! The history of each target in logs: its last verification, and the last one without errors.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::log::{self, CorruptLine, Entry};
use crate::error::Result;
use crate::fs::Version;
use crate::time::Timestamp;
use crate::verify::{Shard, Verdict};

/// The results of each target, by its path as text.
#[derive(Debug, Default)]
pub(super) struct History {
    targets: HashMap<String, TargetHistory>,
    /// Number of lines that were read.
    pub(super) lines: u64,
}

/// The results of one target. A verification of everything is the only shard of one.
#[derive(Debug, Default)]
pub(super) struct TargetHistory {
    shards: BTreeMap<Shard, ShardHistory>,
}

/// The results of one shard, or of the whole target.
#[derive(Debug)]
struct ShardHistory {
    last: Entry,
    /// The last one without errors, if it is not the last one.
    good: Option<Box<Entry>>,
}

/// A complete verification without errors. If it has several shards, its time is that of the first one.
#[derive(Debug, Clone, Copy)]
pub(super) struct GoodRun<'h> {
    pub(super) started: Timestamp,
    entry: &'h Entry,
}

impl GoodRun<'_> {
    /// Returns whether it verified this version of a file. Without an entity tag that names its exact bytes, the
    /// modification time decides.
    pub(super) fn is_of(&self, now: &Version) -> bool {
        let Version { length, modified, e_tag } = &self.entry.version;
        let is_same = match (e_tag, &now.e_tag) {
            (Some(before), Some(now)) if !before.starts_with("W/") => before == now,
            _ => modified.is_some() && *modified == now.modified,
        };
        is_same && length.is_some() && *length == now.length
    }
}

impl ShardHistory {
    fn last_good(&self) -> Option<&Entry> {
        if self.last.is_good() { Some(&self.last) } else { self.good.as_deref() }
    }

    /// Adds a result. Logs are joined in any order, and one may be given twice.
    fn add(&mut self, entry: Entry) {
        if entry.started < self.last.started {
            let is_newer = self.last_good().is_none_or(|good| good.started < entry.started);
            if entry.is_good() && is_newer {
                self.good = Some(Box::new(entry));
            }
            return;
        }
        let before = std::mem::replace(&mut self.last, entry);
        if self.last.is_good() {
            self.good = None;
        } else if before.is_good() {
            self.good = Some(Box::new(before));
        }
    }
}

impl History {
    /// Adds the lines of a log.
    pub(super) fn read(&mut self, path: &Path, corrupt: impl FnMut(CorruptLine)) -> Result<()> {
        let Self { targets, lines } = self;
        let take = |target, shard, entry| {
            *lines += 1;
            let TargetHistory { shards } = targets.entry(target).or_default();
            match shards.get_mut(&shard) {
                Some(history) => history.add(entry),
                None => {
                    shards.insert(shard, ShardHistory { last: entry, good: None });
                }
            }
        };
        log::read(path, take, corrupt)
    }

    pub(super) fn get(&self, target: &str) -> Option<&TargetHistory> {
        self.targets.get(target)
    }

    /// Returns the names of all targets, sorted.
    pub(super) fn targets(&self) -> Vec<&str> {
        let mut targets: Vec<_> = self.targets.keys().map(String::as_str).collect();
        targets.sort_unstable();
        targets
    }
}

impl TargetHistory {
    /// Returns the last complete verification without errors. Shards count when all of them have no errors, have
    /// checked the same manifest, and were made in the same way.
    pub(super) fn last_good(&self) -> Option<GoodRun<'_>> {
        self.sets().filter_map(|set| set.good()).max_by_key(|good| good.started)
    }

    /// Returns the last verification of this shard, or the last complete one, if it has no errors and no later result
    /// of the same bytes has any.
    pub(super) fn still_good(&self, shard: Option<Shard>) -> Option<GoodRun<'_>> {
        match shard {
            Some(shard) => {
                let entry = Some(&self.shards.get(&shard)?.last).filter(|last| last.is_good())?;
                // A shard of another count may have found errors in the same bytes.
                let is_problem = |(other, history): (&Shard, &ShardHistory)| {
                    let last = &history.last;
                    other.count() != shard.count()
                        && !last.is_good()
                        && last.started > entry.started
                };
                let is_good = !self.shards.iter().any(is_problem);
                is_good.then_some(GoodRun { started: entry.started, entry })
            }
            None => self.last_good().filter(|good| self.problem(Some(good.started)).is_none()),
        }
    }

    /// Returns the time of the last verification, of a shard or of everything.
    pub(super) fn last(&self) -> Option<Timestamp> {
        self.shards.values().map(|shard| shard.last.started).max()
    }

    /// Returns the last result that is not without errors, if it is newer than `good`.
    pub(super) fn problem(&self, good: Option<Timestamp>) -> Option<&Entry> {
        let newer = |entry: &&Entry| good.is_none_or(|good| entry.started > good);
        let last = self.shards.values().map(|shard| &shard.last);
        let problems = last.filter(|entry| !entry.is_good()).filter(newer);
        // Errors in the data are more important than a file that was not there once.
        problems.max_by_key(|entry| (entry.verdict == Verdict::NotValid, entry.started))
    }

    /// Returns why the newest results, if they are newer than `good`, do not form a complete verification.
    pub(super) fn open_shards(&self, good: Option<Timestamp>) -> Option<OpenShards> {
        let newest = self.sets().max_by_key(Set::last)?;
        (newest.last() > good && newest.good().is_none()).then(|| newest.open())
    }

    /// Returns the shards by their number.
    fn sets(&self) -> impl Iterator<Item = Set<'_>> {
        let mut sets: Vec<Set<'_>> = Vec::new();
        // Shards are sorted by their count first.
        for (shard, history) in &self.shards {
            match sets.last_mut().filter(|set| set.count == shard.count()) {
                Some(set) => set.shards.push((*shard, history)),
                None => sets.push(Set { count: shard.count(), shards: vec![(*shard, history)] }),
            }
        }
        sets.into_iter()
    }
}

/// Results of shards that are not a complete verification.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OpenShards {
    /// These have no result without errors.
    Without(Vec<Shard>),
    /// They have checked different manifests, or only some have divided large files.
    Disagree,
}

/// The results of the shards of one count.
struct Set<'h> {
    count: u32,
    shards: Vec<(Shard, &'h ShardHistory)>,
}

impl<'h> Set<'h> {
    fn last(&self) -> Option<Timestamp> {
        self.shards.iter().map(|(_, shard)| shard.last.started).max()
    }

    /// Returns the complete verification, if all shards have no errors and agree.
    fn good(&self) -> Option<GoodRun<'h>> {
        let entries: Option<Vec<&Entry>> =
            self.shards.iter().map(|(_, shard)| shard.last_good()).collect();
        let entries = entries.filter(|entries| entries.len() as u64 == u64::from(self.count))?;
        let first = entries.iter().min_by_key(|entry| entry.started)?;
        // If only some runs divided large files, some blocks may be in no shard.
        let same = |entry: &&Entry| {
            entry.manifest_digest == first.manifest_digest
                && entry.version.length == first.version.length
                && entry.shard_block_size == first.shard_block_size
        };
        let agree = entries.iter().all(same);
        // The file that the shards verified last is the one that is there now.
        let newest = entries.iter().max_by_key(|entry| entry.started)?;
        agree.then_some(GoodRun { started: first.started, entry: newest })
    }

    fn open(&self) -> OpenShards {
        let good: Vec<Shard> = self
            .shards
            .iter()
            .filter(|(_, history)| history.last_good().is_some())
            .map(|(shard, _)| *shard)
            .collect();
        let all = (1..=self.count).filter_map(|number| Shard::new(number, self.count));
        let without: Vec<Shard> = all.filter(|shard| !good.contains(shard)).collect();
        if without.is_empty() { OpenShards::Disagree } else { OpenShards::Without(without) }
    }
}
