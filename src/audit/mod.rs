//! Audits: logs of verifications, the state of each target according to them, and the targets to verify next.

mod history;
mod log;
mod plan;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

pub use self::log::{AuditLog, CorruptLine};
pub use self::plan::{AuditPlan, Budget, PlanOptions, PlannedPart, plan};

use self::history::{History, OpenShards, TargetHistory};
use crate::error::Result;
use crate::path::url::shown;
use crate::time::Timestamp;
use crate::verify::Verdict;

/// Options for [`audit`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AuditOptions {
    /// Largest age of the last verification without errors; no limit if `None`.
    pub max_age: Option<Duration>,
    /// The targets that must have been verified; those in the logs if `None`.
    pub targets: Option<Vec<PathBuf>>,
    /// The time that ages are relative to; the current time if `None`.
    pub now: Option<Timestamp>,
}

/// The state of each target according to logs.
#[derive(Debug, Clone, Serialize)]
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
    pub corrupt: Vec<CorruptLine>,
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
    /// Path of the target, as given to `verify`.
    pub target: String,
    /// The state of the target.
    pub state: AuditState,
    /// Time of the last complete verification without errors; null if there is none.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub last_good: Option<Timestamp>,
    /// Seconds since then.
    pub age: Option<u64>,
    /// Time of the last verification; null if there is none.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub last: Option<Timestamp>,
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
    /// Shards of the target were verified without errors, but against different manifests or with different options.
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
    /// ran.
    pub fn needs_attention(&self) -> bool {
        self.targets.is_empty() || self.counts.keys().any(|state| state.needs_attention())
    }
}

/// Largest number of lines that a report lists because they cannot be read.
const MOST_CORRUPT: usize = 100;

/// Summarizes logs of verifications: for each target, its last verification without errors, and why it needs attention.
///
/// Logs may be given in any order and joined in any way. A line that is there twice counts once. Lines that cannot be
/// read are reported and skipped.
///
/// # Errors
///
/// [`Error::Io`](crate::Error::Io) if a log cannot be read, and
/// [`Error::Unsupported`](crate::Error::Unsupported) for a file of another format.
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
    let (mut history, mut corrupt_lines, mut corrupt) = (History::default(), 0, Vec::new());
    for log in logs {
        history.read(log.as_ref(), |line| {
            corrupt_lines += 1;
            if corrupt.len() < MOST_CORRUPT {
                corrupt.push(line);
            }
        })?;
    }
    let time = options.now.unwrap_or_else(Timestamp::now);
    let mut report = AuditReport {
        time,
        max_age: options.max_age.map(|age| age.as_secs()),
        lines: history.lines,
        corrupt_lines,
        corrupt,
        counts: BTreeMap::new(),
        codes: BTreeMap::new(),
        targets: Vec::new(),
    };
    let wanted = options.targets.as_ref().map(|wanted| {
        let names = wanted.iter().map(|target| shown(target).into_owned());
        names.collect::<std::collections::BTreeSet<String>>()
    });
    let names: Vec<&str> = match &wanted {
        Some(wanted) => wanted.iter().map(String::as_str).collect(),
        None => history.targets(),
    };
    for name in names {
        let known = history.get(name);
        let target = audited(name, known, time, options.max_age);
        if target.state == AuditState::Bad
            && let Some(problem) = known.and_then(|known| known.problem(target.last_good))
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
    now: Timestamp,
    max_age: Option<Duration>,
) -> AuditedTarget {
    let good = known.and_then(TargetHistory::last_good).map(|good| good.started);
    let age = good.map(|good| now.since(good));
    let (state, reason) = match known {
        None => (AuditState::Never, Some("the logs have no line about it".to_owned())),
        Some(known) => state(known, good, age, max_age),
    };
    AuditedTarget {
        target: name.to_owned(),
        state,
        last_good: good,
        age: age.map(|age| age.as_secs()),
        last: known.and_then(TargetHistory::last),
        reason,
    }
}

fn state(
    known: &TargetHistory,
    good: Option<Timestamp>,
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
    match known.open_shards(good) {
        Some(OpenShards::Disagree) => {
            let reason =
                "its shards were verified against different manifests, or with different options";
            return (AuditState::Disagreeing, Some(reason.to_owned()));
        }
        Some(OpenShards::Without(shards)) if good.is_none() => {
            const SHOWN: usize = 8;
            let first = shards.iter().take(SHOWN).map(ToString::to_string);
            let mut first = first.collect::<Vec<_>>().join(", ");
            if shards.len() > SHOWN {
                first = format!("{first} and {} more", shards.len() - SHOWN);
            }
            let reason = format!("not verified without errors: shards {first}");
            return (AuditState::Incomplete, Some(reason));
        }
        _ => {}
    }
    match (age, max_age) {
        (Some(age), Some(max_age)) if age > max_age => {
            (AuditState::Stale, Some("its last verification is too long ago".to_owned()))
        }
        _ => (AuditState::Good, None),
    }
}
