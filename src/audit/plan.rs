//! The targets to verify next: a shard of a list, without those verified recently, oldest first within a budget.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::history::History;
use super::log::LogLine;
use crate::error::Result;
use crate::file_kind::FileKind;
use crate::fs::{self, Version, target_name};
use crate::path::url::is_url;
use crate::pipeline;
use crate::time::Timestamp;
use crate::verify::Shard;

/// Number of requests at once.
const REQUESTS_AT_ONCE: usize = 16;

/// Options for [`plan`].
#[derive(Debug, Clone, Default)]
pub struct PlanOptions {
    /// The shard of the targets, by their size.
    pub shard: Option<Shard>,
    /// Logs of earlier verifications.
    pub logs: Vec<PathBuf>,
    /// Skips archives that were verified without errors more recently than this, and whose size and modification time
    /// (or entity tag, at a URL) are the same. Directories are not skipped: nothing shows that their files did not change.
    pub max_age: Option<Duration>,
    /// The part of the work to do. Targets without a result, or whose last result has errors, are first, then those
    /// that were verified longest ago.
    pub budget: Option<Budget>,
    /// The shard of each target that will be verified, for `max_age` and for the order.
    pub shard_of_target: Option<Shard>,
    /// Divides larger targets into shards of about this many bytes, if there is no `shard_of_target`. Compressed tars are
    /// not divided, because they have no shards.
    pub divide: Option<u64>,
    /// The time that ages are relative to; the current time if `None`.
    pub now: Option<Timestamp>,
}

/// A limit of the work.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Budget {
    /// Bytes of the targets that are verified.
    Bytes(u64),
    /// Percent of the bytes of all targets, or of those in the shard.
    Percent(f64),
    /// Time. [`plan`] cannot apply it: the caller begins no target after it.
    Time(Duration),
}

/// The targets to verify, and what was left out.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AuditPlan {
    /// The targets and shards in the order in which they are verified.
    pub parts: Vec<PlannedPart>,
    /// Number of targets in other shards.
    pub elsewhere: u64,
    /// Number of targets, or of their shards, that were verified recently.
    pub recent: u64,
    /// Number of targets, or of their shards, beyond the budget.
    pub beyond: u64,
    /// The first lines of the logs that cannot be read.
    pub corrupt: Vec<LogLine>,
    /// The first lines of the logs whose time is in the future. They are not recent.
    pub future: Vec<LogLine>,
}

/// A target to verify, or a shard of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedPart {
    /// The target.
    pub target: PathBuf,
    /// The shard of its contents; `None` for all of them.
    pub shard: Option<Shard>,
    /// Number of bytes to read.
    pub bytes: u64,
}

/// Selects targets of a list: first the shard, then those that were not verified recently, then the oldest within the
/// budget. At least one target is selected if there is one, so that a target larger than the budget is verified.
///
/// # Errors
///
/// [`Error::Io`](crate::Error::Io) if a log cannot be read. A target that cannot be accessed is selected.
pub fn plan(targets: Vec<PathBuf>, options: &PlanOptions) -> Result<AuditPlan> {
    let now = options.now.unwrap_or_else(Timestamp::now);
    let mut history = History::new(now);
    options.logs.iter().try_for_each(|log| history.read(log))?;
    let mut plan = AuditPlan::default();
    plan.corrupt.append(&mut history.corrupt.first);
    plan.future.append(&mut history.future.first);
    let looked = look_at(&targets, options)?;
    let bytes: Vec<u64> = looked.iter().map(|(bytes, _)| *bytes).collect();
    let mine = options.shard.map_or(0..targets.len(), |shard| shard.of_items(&bytes));
    plan.elsewhere = (targets.len() - mine.len()) as u64;
    let of_mine = bytes.get(mine.clone()).unwrap_or_default();
    let total = of_mine.iter().copied().fold(0, u64::saturating_add);
    let all = targets.into_iter().zip(looked).skip(mine.start).take(mine.len());
    // Each part with the time of its last verification without errors.
    let mut candidates: Vec<(Option<Timestamp>, PlannedPart)> = all
        .flat_map(|(target, (bytes, version))| {
            parts(target, bytes, options).into_iter().map(move |part| (part, version.clone()))
        })
        .filter_map(|(part, version)| {
            let known = history.targets.get(&target_name(&part.target));
            let good = known.and_then(|known| {
                let of_all = || known.still_good(None).filter(|_| options.divide.is_some());
                known.still_good(part.shard).or_else(of_all)
            });
            let is_recent = options.max_age.zip(good).is_some_and(|(max_age, good)| {
                let version = || version.or_else(|| fs::version(&part.target).ok());
                let is_young = good.age(now).is_some_and(|age| age < max_age);
                is_young && version().is_some_and(|it| good.is_of(&it))
            });
            plan.recent += u64::from(is_recent);
            let last = good.filter(|good| good.age(now).is_some());
            (!is_recent).then(|| (last.map(|good| good.first.started), part))
        })
        .collect();
    if let Some(budget) = options.budget {
        candidates.sort_by_key(|(last_good, _)| *last_good);
        let limit = match budget {
            Budget::Bytes(bytes) => bytes,
            Budget::Percent(percent) => share_of(total, percent),
            Budget::Time(_) => u64::MAX,
        };
        let mut end = 0_u64;
        let fits = |(_, part): &&(_, PlannedPart)| {
            end = end.saturating_add(part.bytes);
            end <= limit
        };
        let kept = candidates.iter().take_while(fits).count().max(1).min(candidates.len());
        plan.beyond = (candidates.len() - kept) as u64;
        candidates.truncate(kept);
    }
    plan.parts = candidates.into_iter().map(|(_, part)| part).collect();
    Ok(plan)
}

/// Returns the target as one part, or its shards if it is divided. They are the same in every run.
fn parts(target: PathBuf, bytes: u64, options: &PlanOptions) -> Vec<PlannedPart> {
    let shard = options.shard_of_target;
    let count = match options.divide {
        Some(most) if shard.is_none() && bytes > most && has_shards(&target) => {
            u32::try_from(bytes.div_ceil(most.max(1))).unwrap_or(u32::MAX).min(Shard::MAX_COUNT)
        }
        _ => return vec![PlannedPart { target, shard, bytes }],
    };
    let shards = (1..=count).filter_map(|number| Shard::new(number, count));
    shards
        .map(|shard| {
            let part = shard.part(bytes);
            let (target, bytes) = (target.clone(), part.end - part.start);
            PlannedPart { target, shard: Some(shard), bytes }
        })
        .collect()
}

/// Returns whether a target that exists can be divided. A compressed archive can be read only from its beginning.
fn has_shards(target: &Path) -> bool {
    let kind = fs::File::open(target).and_then(|file| file.kind());
    !matches!(kind, Ok(FileKind::Gzip | FileKind::Zstd))
}

/// Returns a percentage of a number of bytes, in thousandths of a percent.
fn share_of(bytes: u64, percent: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 0 and 100,000"
    )]
    let thousandths = (percent.clamp(0.0, 100.0) * 1000.0).round() as u32;
    u64::try_from(u128::from(bytes) * u128::from(thousandths) / 100_000).unwrap_or(u64::MAX)
}

/// Returns the size of each archive, or of all files in each directory; 0 for a target that cannot be accessed. Also
/// returns the versions of archives at URLs, which take one request each if the options need them.
fn look_at(targets: &[PathBuf], options: &PlanOptions) -> Result<Vec<(u64, Option<Version>)>> {
    let PlanOptions { shard, max_age, budget, divide, .. } = options;
    let is_needed = shard.is_some() || max_age.is_some() || budget.is_some() || divide.is_some();
    let is_remote = |target: &PathBuf| is_url(target);
    let jobs = if is_needed && targets.iter().any(is_remote) { REQUESTS_AT_ONCE } else { 1 };
    pipeline::share(
        jobs,
        targets,
        || (),
        |(): &mut (), target| {
            if !is_url(target) {
                return Ok((fs::file_len(target).unwrap_or_else(|| fs::size_below(target)), None));
            }
            let version = if is_needed { fs::version(target).ok() } else { None };
            Ok((version.as_ref().and_then(|version| version.length).unwrap_or(0), version))
        },
    )
}
