//! The history of each target in logs: the last results of its shards, with and without errors.
//!
//! Clocks can be wrong, so the order of results is not only that of their times. A result with errors counts as late as
//! its place in the log allows: not before any line above it. A result without errors counts from its own time, so it
//! replaces only results with errors that are certainly older.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use super::log::{self, Entry, LogLine};
use crate::error::Result;
use crate::fs::Version;
use crate::time::Timestamp;
use crate::verify::{Shard, Verdict};

/// Largest difference between the clocks of two machines. A result that is later than now by more was made with a wrong
/// clock.
const AHEAD: Duration = Duration::from_secs(300);

/// Largest number of lines that are listed because of a problem.
const MOST_LISTED: usize = 100;

/// The results of each target, by its name in logs.
#[derive(Debug)]
pub(super) struct History {
    pub(super) targets: HashMap<String, TargetHistory>,
    now: Timestamp,
    logs: u32,
    /// Number of lines that were read.
    pub(super) lines: u64,
    /// The lines that cannot be read.
    pub(super) corrupt: Listed,
    /// The lines whose time is in the future.
    pub(super) future: Listed,
}

/// The number of lines with a problem, and the first of them.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) count: u64,
    pub(super) first: Vec<LogLine>,
}

impl Listed {
    fn add(&mut self, line: LogLine) {
        self.count += 1;
        if self.first.len() < MOST_LISTED {
            self.first.push(line);
        }
    }
}

/// The results of one target. A verification of everything is the only shard of one.
#[derive(Debug, Default)]
pub(super) struct TargetHistory {
    /// The last result without errors of each shard.
    good: BTreeMap<Shard, Box<Entry>>,
    /// The last result with errors of each shard in each log, unless one without errors is certainly later.
    bad: BTreeMap<(Shard, u32), Box<Entry>>,
    /// Starts of all results with errors. A line of the same start is a copy of an earlier one.
    starts: BTreeSet<(Shard, Timestamp)>,
    /// The last log with a line, and the latest time in it.
    latest: (u32, Timestamp),
    /// Whether verifications of the same version of the file have seen different manifests.
    pub(super) is_manifest_changed: bool,
}

/// A complete verification without errors, of all shards.
#[derive(Debug, Clone, Copy)]
pub(super) struct GoodRun<'h> {
    /// The first of the shards, or one whose time is in the future.
    pub(super) first: &'h Entry,
    newest: &'h Entry,
}

impl GoodRun<'_> {
    /// Returns whether it verified this version of a file.
    pub(super) fn is_of(&self, now: &Version) -> bool {
        is_same_file(&self.newest.version, now)
    }

    /// Returns the time since then; `None` if its time is in the future.
    pub(super) fn age(&self, now: Timestamp) -> Option<Duration> {
        (!self.first.is_future).then(|| now.since(self.first.started))
    }
}

/// Returns whether two versions are of the same file that did not change. Without an entity tag that names its exact
/// bytes, the modification time decides.
fn is_same_file(one: &Version, other: &Version) -> bool {
    let is_same = match (&one.e_tag, &other.e_tag) {
        (Some(one), Some(other)) if !one.starts_with("W/") => one == other,
        _ => one.modified.is_some() && one.modified == other.modified,
    };
    is_same && one.length.is_some() && one.length == other.length
}

impl Entry {
    /// Returns whether this result without errors is certainly later than one with errors.
    fn is_certainly_after(&self, bad: &Self) -> bool {
        self.since > bad.since && (!bad.is_future || self.log == bad.log)
    }

    /// Sorts results without errors. Those with a time in the future are first.
    fn order(&self) -> (bool, Timestamp) {
        (!self.is_future, self.since)
    }
}

impl History {
    /// Makes an empty history. Results later than `now` have a time that cannot be trusted.
    pub(super) fn new(now: Timestamp) -> Self {
        let (corrupt, future) = (Listed::default(), Listed::default());
        Self { targets: HashMap::new(), now, logs: 0, lines: 0, corrupt, future }
    }

    /// Adds the lines of a log.
    pub(super) fn read(&mut self, path: &Path) -> Result<()> {
        let Self { targets, now, logs, lines, corrupt, future } = self;
        *logs += 1;
        let take = |line, target: String, shard, mut entry: Entry| {
            *lines += 1;
            entry.log = *logs;
            entry.is_future = entry.started.since(*now) > AHEAD;
            if entry.is_future {
                let of_host = entry.host.as_ref().map(|host| format!(" of `{host}`"));
                let of_host = of_host.unwrap_or_default();
                let reason = format!(
                    "its time {} is in the future; check the clock{of_host}",
                    entry.started
                );
                future.add(LogLine { log: path.to_owned(), line, reason });
            }
            targets.entry(target).or_default().add(shard, entry);
        };
        log::read(path, take, |line| corrupt.add(line))
    }
}

impl TargetHistory {
    /// Adds the next result of a log.
    fn add(&mut self, shard: Shard, mut entry: Entry) {
        let (log, latest) = self.latest;
        let latest = if log == entry.log { latest } else { Timestamp::default() };
        entry.since = if entry.is_future { latest } else { entry.started };
        self.latest = (entry.log, latest.max(entry.since));
        if entry.is_good() {
            let is_covered = |of: Shard| of == shard || shard == Shard::WHOLE;
            self.bad.retain(|(of, _), bad| !(is_covered(*of) && entry.is_certainly_after(bad)));
            if let Some(last) = self.good.get(&shard) {
                let differs = last.manifest_digest != entry.manifest_digest;
                let is_same = is_same_file(&last.version, &entry.version);
                self.is_manifest_changed = is_same && (differs || self.is_manifest_changed);
                if last.order() > entry.order() {
                    return;
                }
            }
            self.good.insert(shard, Box::new(entry));
        } else if self.starts.insert((shard, entry.started)) {
            (_, entry.since) = self.latest;
            let later = [shard, Shard::WHOLE].into_iter().filter_map(|shard| self.good.get(&shard));
            if !later.into_iter().any(|good| good.is_certainly_after(&entry)) {
                self.bad.insert((shard, entry.log), Box::new(entry));
            }
        }
    }

    /// Returns the last complete verification without errors. Shards count when all of them have no errors, have
    /// checked the same manifest of the same version of a file, and were made in the same way.
    pub(super) fn last_good(&self) -> Option<GoodRun<'_>> {
        self.sets().filter_map(|set| set.good()).max_by_key(|good| good.first.order())
    }

    /// Returns the last verification of this shard, or the last complete one, if it has no errors and no later result
    /// of the same bytes has any.
    pub(super) fn still_good(&self, shard: Option<Shard>) -> Option<GoodRun<'_>> {
        let good = match shard {
            Some(shard) => {
                let entry = self.good.get(&shard)?;
                GoodRun { first: entry, newest: entry }
            }
            None => self.last_good()?,
        };
        // Another shard of the same count has other bytes; one of another count may have found errors in the same.
        let is_elsewhere =
            |of: Shard| shard.is_some_and(|shard| of.count() == shard.count() && of != shard);
        let mut problems = self.problems(Some(good)).filter(|(of, _)| !is_elsewhere(*of));
        problems.next().is_none().then_some(good)
    }

    /// Returns the time of the last verification, of a shard or of everything.
    pub(super) fn last(&self) -> Option<Timestamp> {
        let all = self.good.values().chain(self.bad.values());
        all.max_by_key(|entry| (!entry.is_future, entry.started)).map(|entry| entry.started)
    }

    /// Returns the last result that is not without errors, if `good` is not certainly later.
    pub(super) fn problem(&self, good: Option<GoodRun<'_>>) -> Option<&Entry> {
        let problems = self.problems(good).map(|(_, bad)| bad);
        // Errors in the data are more important than a file that was not there once.
        problems.max_by_key(|entry| (entry.verdict == Verdict::NotValid, entry.since))
    }

    fn problems(&self, good: Option<GoodRun<'_>>) -> impl Iterator<Item = (Shard, &Entry)> {
        let is_open =
            move |bad: &Entry| good.is_none_or(|good| !good.first.is_certainly_after(bad));
        self.bad.iter().map(|((shard, _), bad)| (*shard, &**bad)).filter(move |it| is_open(it.1))
    }

    /// Returns why the newest results, if they are newer than `good`, do not form a complete verification.
    pub(super) fn open_shards(&self, good: Option<GoodRun<'_>>) -> Option<OpenShards> {
        let newest = self.sets().max_by_key(Set::last)?;
        let is_newer = newest.last() > good.map(|good| good.first.order());
        (is_newer && newest.good().is_none()).then(|| newest.open())
    }

    /// Returns the shards without errors by their number.
    fn sets(&self) -> impl Iterator<Item = Set<'_>> {
        let mut sets: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for (shard, entry) in &self.good {
            sets.entry(shard.count()).or_default().push((*shard, &**entry));
        }
        sets.into_iter().map(|(count, shards)| Set { count, shards })
    }
}

/// Results of shards that are not a complete verification.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OpenShards {
    /// These have no result without errors.
    Without(Vec<Shard>),
    /// They have checked different manifests or versions of the file, or only some have divided large files.
    Disagree,
}

/// The results of the shards of one count.
struct Set<'h> {
    count: u32,
    shards: Vec<(Shard, &'h Entry)>,
}

impl<'h> Set<'h> {
    fn entries(&self) -> impl Iterator<Item = &'h Entry> {
        self.shards.iter().map(|(_, entry)| *entry)
    }

    fn last(&self) -> Option<(bool, Timestamp)> {
        self.entries().map(Entry::order).max()
    }

    /// Returns the complete verification, if all shards have no errors and agree.
    fn good(&self) -> Option<GoodRun<'h>> {
        let first = self.entries().min_by_key(|entry| entry.order())?;
        let newest = self.entries().max_by_key(|entry| entry.order())?;
        // If only some runs divided large files, some blocks may be in no shard.
        let same = |entry: &Entry| {
            entry.manifest_digest == first.manifest_digest
                && (entry.version == first.version || is_same_file(&entry.version, &first.version))
                && entry.shard_block_size == first.shard_block_size
        };
        let is_complete = self.shards.len() as u64 == u64::from(self.count);
        (is_complete && self.entries().all(same)).then_some(GoodRun { first, newest })
    }

    fn open(&self) -> OpenShards {
        let all = (1..=self.count).filter_map(|number| Shard::new(number, self.count));
        let is_there = |shard: &Shard| self.shards.binary_search_by_key(shard, |it| it.0).is_ok();
        let without: Vec<Shard> = all.filter(|shard| !is_there(shard)).collect();
        if without.is_empty() { OpenShards::Disagree } else { OpenShards::Without(without) }
    }
}
