//! Audits: logs of verifications, the state of each target according to them, and the targets to verify next.

mod history;
mod log;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

pub use self::log::{AuditLog, LogLine};
pub use self::plan::{AuditPlan, Budget, PlanOptions, PlannedPart, plan};

use self::history::{GoodRun, History, OpenShards, TargetHistory};
use crate::error::Result;
use crate::fs::target_name;
use crate::message::listed;
use crate::time::Timestamp;
use crate::verify::{StoreWord, Verdict};

/// Maximum number of missing shards that a message names.
const MAX_SHARDS_SHOWN: usize = 8;

/// Options for [`audit`].
#[derive(Debug, Clone, Default)]
pub struct AuditOptions {
    /// Largest age of the last verification without errors; no limit if `None`.
    pub max_age: Option<Duration>,
    /// The targets that must have been verified; those in the logs if `None`.
    pub targets: Option<Vec<PathBuf>>,
    /// The time that ages are relative to; the current time if `None`.
    pub now: Option<Timestamp>,
}

/// The state of each target according to logs.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AuditReport {
    /// Time of the summary: UTC, as in RFC 3339.
    #[cfg_attr(test, schemars(with = "String"))]
    pub time: Timestamp,
    /// The largest age that was allowed, in seconds; null if there is no limit.
    pub max_age: Option<u64>,
    /// Number of lines that were read.
    pub lines: u64,
    /// Number of lines that cannot be read.
    pub corrupt_lines: u64,
    /// The first of the lines that cannot be read.
    pub corrupt: Vec<LogLine>,
    /// Number of lines whose time is in the future, so that the clock was wrong.
    pub future_lines: u64,
    /// The first of the lines whose time is in the future.
    pub future: Vec<LogLine>,
    /// Number of targets whose last verification without errors compared blocks of large files, and not the digests of
    /// the whole files.
    pub by_blocks: u64,
    /// Number of targets of each state, in the order of the states.
    pub counts: BTreeMap<AuditState, u64>,
    /// Number of targets that have each error, by its code.
    pub codes: BTreeMap<String, u64>,
    /// Every target, sorted by name.
    pub targets: Vec<AuditedTarget>,
}

/// The state of one target according to logs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AuditedTarget {
    /// Path of the target, as given to `verify`. Bytes that are not UTF-8 are written as `\xFF`, and the query of a URL
    /// as its digest.
    pub target: String,
    /// The state of the target.
    pub state: AuditState,
    /// Time of the last complete verification without errors; null if there is none.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub last_good: Option<Timestamp>,
    /// Seconds since then; null if its time is in the future.
    pub age: Option<u64>,
    /// Time of the last verification; null if there is none.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub last: Option<Timestamp>,
    /// The signers of its manifest, according to the last complete verification without errors. Signatures that were not
    /// checked do not count.
    pub signed_by: Vec<String>,
    /// The time at which its manifest existed, according to a time-stamp that this verification checked; null if there
    /// is none.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub existed_at: Option<Timestamp>,
    /// The words of a store about its copy, according to the result that decides on the state; absent if none was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreWord>,
    /// Why the target needs attention; null if it does not.
    pub reason: Option<String>,
}

/// The state of a target in an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditState {
    /// The last verification found errors.
    Bad,
    /// The target did not exist at the last verification.
    Missing,
    /// The target could not be read at the last verification.
    Unreadable,
    /// The target was verified without errors, but its shards against different manifests, of different versions of the
    /// file or with different options; or its manifest changed, and the time of the file did not.
    Disagreeing,
    /// The last verification found no manifest, or did not read the contents.
    NotVerified,
    /// Shards of the target have not been verified, and it was never verified completely.
    Incomplete,
    /// The logs have no line about the target.
    Never,
    /// The last verification without errors is too long ago.
    Stale,
    /// The target was verified without errors.
    Good,
}

impl AuditState {
    /// Returns whether somebody must look at the target.
    pub fn needs_attention(self) -> bool {
        self != Self::Good
    }

    /// Returns the state in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Disagreeing => "disagreeing",
            Self::NotVerified => "not verified",
            Self::Incomplete => "incomplete",
            Self::Never => "never verified",
            Self::Stale => "stale",
            Self::Good => "good",
        }
    }
}

impl AuditReport {
    /// Returns whether a target needs attention, or there is none: an empty log is the result of an audit that never
    /// ran. Lines that cannot be read need attention, too: they may have been about errors.
    pub fn needs_attention(&self) -> bool {
        self.targets.is_empty()
            || self.corrupt_lines > 0
            || self.counts.keys().any(|state| state.needs_attention())
    }
}

/// Summarizes logs of verifications: for each target, its last verification without errors, and why it needs attention.
///
/// Logs may be given in any order. In each, a result with errors counts as later than the lines above it, even if its
/// time is earlier: clocks can be wrong. A line that is there twice counts once. Lines that cannot be read are reported.
///
/// # Errors
///
/// [`Error::Io`](crate::Error::Io) if a log cannot be read, and
/// [`Error::WrongTarget`](crate::Error::WrongTarget) for a file of another format.
///
/// ```
/// use ra_pack::audit::{AuditLog, AuditOptions, AuditState, audit};
/// use ra_pack::verify;
///
/// # let scratch = tempfile::tempdir()?;
/// # let (pack, log) = (scratch.path().join("exp.zip"), scratch.path().join("audit.jsonl"));
/// # ra_pack::create("examples/experiment", &pack, &Default::default())?;
/// AuditLog::open(&log)?.append(&verify(&pack, &Default::default())?)?;
/// let report = audit(&[log], &AuditOptions::default())?;
/// assert_eq!(report.targets[0].state, AuditState::Good);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn audit(logs: &[impl AsRef<Path>], options: &AuditOptions) -> Result<AuditReport> {
    let time = options.now.unwrap_or_else(Timestamp::now);
    let mut history = History::new(time);
    logs.iter().try_for_each(|log| history.read(log.as_ref()))?;
    let mut report = AuditReport {
        time,
        max_age: options.max_age.map(|age| age.as_secs()),
        lines: history.lines,
        corrupt_lines: history.corrupt.count,
        corrupt: std::mem::take(&mut history.corrupt.first),
        future_lines: history.future.count,
        future: std::mem::take(&mut history.future.first),
        ..AuditReport::default()
    };
    let names: BTreeSet<String> = match &options.targets {
        Some(wanted) => wanted.iter().map(|target| target_name(target)).collect(),
        None => history.targets.keys().cloned().collect(),
    };
    for name in names {
        let known = history.targets.get(&name);
        let good = known.and_then(TargetHistory::last_good);
        report.by_blocks += u64::from(good.is_some_and(|good| good.first.is_by_blocks));
        let target = audited(&name, known, good, (time, options.max_age));
        if target.state == AuditState::Bad
            && let Some(problem) = known.and_then(|known| known.problem(good))
        {
            for code in &problem.codes {
                *report.codes.entry(code.clone()).or_default() += 1;
            }
        }
        *report.counts.entry(target.state).or_default() += 1;
        report.targets.push(target);
    }
    Ok(report)
}

/// Returns what the history says about a target.
fn audited(
    name: &str,
    known: Option<&TargetHistory>,
    good: Option<GoodRun<'_>>,
    (now, max_age): (Timestamp, Option<Duration>),
) -> AuditedTarget {
    let age = good.and_then(|good| good.age(now));
    let (state, reason) = match known {
        None => (AuditState::Never, Some("the logs have no line about it".to_owned())),
        Some(known) => state(known, good, age, max_age),
    };
    let signatures = good.map_or(&[][..], |good| &good.first.signatures);
    let (times, signatures): (Vec<_>, Vec<_>) =
        signatures.iter().partition(|signature| signature.time.is_some());
    let last = known.and_then(|known| known.problem(good)).or(good.map(|good| good.first));
    AuditedTarget {
        store: last.and_then(|last| last.store.clone()),
        signed_by: signatures.into_iter().filter_map(|it| it.by.clone()).collect(),
        existed_at: times.into_iter().filter_map(|it| it.time).min(),
        target: name.to_owned(),
        state,
        last_good: good.map(|good| good.first.started),
        age: age.map(|age| age.as_secs()),
        last: known.and_then(TargetHistory::last),
        reason,
    }
}

fn state(
    known: &TargetHistory,
    good: Option<GoodRun<'_>>,
    age: Option<Duration>,
    max_age: Option<Duration>,
) -> (AuditState, Option<String>) {
    if let Some(problem) = known.problem(good) {
        let state = match problem.verdict {
            Verdict::Unreadable if problem.is_missing => AuditState::Missing,
            Verdict::Unreadable => AuditState::Unreadable,
            Verdict::NotValid => AuditState::Bad,
            Verdict::NotVerified | Verdict::ContentsNotRead | Verdict::Valid => {
                AuditState::NotVerified
            }
        };
        let reason = problem.reason.clone();
        return (state, reason.or_else(|| Some("the contents were not read".to_owned())));
    }
    if known.is_manifest_changed {
        let reason = "its manifest changed, but the time and the size of the file did not";
        return (AuditState::Disagreeing, Some(reason.to_owned()));
    }
    match known.open_shards(good) {
        Some(OpenShards::Disagree) => {
            let reason = "its shards were verified against different manifests, of different versions of the file, \
                          or with different options";
            return (AuditState::Disagreeing, Some(reason.to_owned()));
        }
        Some(OpenShards::Without(shards)) if good.is_none() => {
            let first = listed(shards.iter(), MAX_SHARDS_SHOWN);
            let reason = format!("not verified without errors: shards {first}");
            return (AuditState::Incomplete, Some(reason));
        }
        _ => {}
    }
    let reason = match (age, max_age) {
        (None, Some(_)) if good.is_some() => "the time of its last verification is in the future",
        (Some(age), Some(max_age)) if age > max_age => "its last verification is too long ago",
        _ => return (AuditState::Good, None),
    };
    (AuditState::Stale, Some(reason.to_owned()))
}
