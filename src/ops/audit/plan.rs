//! The targets to verify next: a shard of a list, without those verified recently, oldest first within a budget.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::verify::Shard;
use super::history::{GoodRun, History};
use super::log::CorruptLine;
use crate::error::Result;
use crate::fs;
use crate::time::Timestamp;

/// Options for [`plan`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PlanOptions {
    /// The shard of the targets, by their size.
    pub shard: Option<Shard>,
    /// Logs of earlier verifications.
    pub logs: Vec<PathBuf>,
    /// Skips archives that were verified without errors more recently than this, and whose size and modification time
    /// are the same. Directories are not skipped: nothing shows that their files did not change.
    pub max_age: Option<Duration>,
    /// The part of the work to do. Targets without a result, or whose last result has errors, are first, then those
    /// that were verified longest ago.
    pub budget: Option<Budget>,
    /// The shard of each target that will be verified, for `max_age` and for the order.
    pub shard_of_target: Option<Shard>,
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
    /// The targets in the order in which they are verified.
    pub targets: Vec<PathBuf>,
    /// Size of these targets in bytes.
    pub bytes: u64,
    /// Number of targets in other shards.
    pub elsewhere: u64,
    /// Number of targets that were verified recently.
    pub recent: u64,
    /// Number of targets beyond the budget.
    pub beyond: u64,
    /// Lines of the logs that cannot be read.
    pub corrupt: Vec<CorruptLine>,
}

/// A target with the facts that decide whether and when it is verified.
struct Candidate {
    target: PathBuf,
    bytes: u64,
    last_good: Option<Timestamp>,
}

/// Selects targets of a list: first the shard, then those that were not verified recently, then the oldest within the
/// budget. At least one target is selected if there is one, so that a target larger than the budget is verified.
///
/// # Errors
///
/// [`Error::Io`](crate::Error::Io) if a log cannot be read. A target that cannot be accessed is selected.
pub fn plan(targets: Vec<PathBuf>, options: &PlanOptions) -> Result<AuditPlan> {
    let mut plan = AuditPlan::default();
    let mut history = History::default();
    for log in &options.logs {
        history.read(log, |line| plan.corrupt.push(line))?;
    }
    let bytes: Vec<u64> = targets.iter().map(|target| size(target)).collect();
    let mine = options.shard.map_or(0..targets.len(), |shard| shard.of_items(&bytes));
    plan.elsewhere = (targets.len() - mine.len()) as u64;
    let total = bytes
        .iter()
        .skip(mine.start)
        .take(mine.len())
        .fold(0, |total: u64, bytes| total.saturating_add(*bytes));
    let now = options.now.unwrap_or_else(Timestamp::now);
    let all = targets.into_iter().zip(bytes).skip(mine.start).take(mine.len());
    let mut candidates: Vec<Candidate> = all
        .map(|(target, bytes)| {
            let known = history.get(&target.to_string_lossy());
            let good = known.and_then(|known| known.still_good(options.shard_of_target));
            (Candidate { last_good: good.map(|good| good.started), target, bytes }, good)
        })
        .filter_map(|(candidate, good)| {
            let is_recent = options.max_age.zip(good).is_some_and(|(max_age, good)| {
                now.since(good.started) < max_age && is_unchanged(&candidate.target, good)
            });
            plan.recent += u64::from(is_recent);
            (!is_recent).then_some(candidate)
        })
        .collect();
    if let Some(budget) = options.budget {
        candidates.sort_by_key(|candidate| candidate.last_good);
        let limit = match budget {
            Budget::Bytes(bytes) => bytes,
            Budget::Percent(percent) => share_of(total, percent),
            Budget::Time(_) => u64::MAX,
        };
        let mut end = 0_u64;
        let fits = |candidate: &&Candidate| {
            end = end.saturating_add(candidate.bytes);
            end <= limit
        };
        let kept = candidates.iter().take_while(fits).count().max(1).min(candidates.len());
        plan.beyond = (candidates.len() - kept) as u64;
        candidates.truncate(kept);
    }
    for Candidate { target, bytes, .. } in candidates {
        plan.bytes = plan.bytes.saturating_add(bytes);
        plan.targets.push(target);
    }
    Ok(plan)
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

/// Returns the size of an archive, or of all files in a directory; 0 for a target that cannot be accessed.
fn size(target: &Path) -> u64 {
    fs::file_len(target).unwrap_or_else(|| fs::size_below(target))
}

/// Returns whether the archive has the size and the time of an earlier verification.
fn is_unchanged(target: &Path, good: GoodRun<'_>) -> bool {
    let Ok(stamp) = fs::stamp(target) else { return false };
    stamp.time().is_some_and(|modified| good.is_of(stamp.len(), modified))
}
