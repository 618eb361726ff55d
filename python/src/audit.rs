//! Logs of verifications. `ra_pack/_audit.py` has their documentation, and sends work to a cluster.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use ra_pack::audit::{AuditOptions, Budget, PlanOptions};
use ra_pack::remote::is_url;
use ra_pack::verify::{Shard, VerifyOptions, VerifyReport, verify_each};
use ra_pack::{Error, Progress, Result, json};

use crate::cli;
use crate::errors;
use crate::interrupt::{long, short};

/// A time: a text such as `90d`, or a `timedelta`.
#[derive(FromPyObject)]
pub(crate) enum Age {
    Text(String),
    Time(Duration),
}

impl Age {
    fn duration(self, py: Python<'_>) -> PyResult<Duration> {
        match self {
            Self::Time(time) => Ok(time),
            Self::Text(text) => cli::common::duration(&text).map_err(|expected| {
                errors::named(py, "Mismatch", &format!("{expected}, found `{text}`"))
            }),
        }
    }

    fn budget(self, py: Python<'_>) -> PyResult<Budget> {
        match self {
            Self::Time(time) => Ok(Budget::Time(time)),
            Self::Text(text) => cli::common::budget(&text).map_err(|expected| {
                errors::named(py, "Mismatch", &format!("{expected}, found `{text}`"))
            }),
        }
    }
}

/// Options of a verification.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunOptions {
    /// Shard of the contents of each target.
    shard: Option<String>,
    strict: bool,
    jobs: Option<usize>,
    /// Seconds after which no target is begun.
    seconds: Option<f64>,
    /// The directory of targets that are relative, if it is not that of this process.
    directory: Option<PathBuf>,
}

impl RunOptions {
    /// Verifies targets. `ended` gets the report of each, as it is written into a log.
    fn run(
        &self,
        py: Python<'_>,
        targets: &[PathBuf],
        ended: impl Fn(&VerifyReport) -> Result<()> + Send + Sync,
    ) -> PyResult<u64> {
        let mut options = VerifyOptions {
            strict: self.strict,
            jobs: self.jobs,
            progress: Progress::new(),
            ..VerifyOptions::default()
        };
        let shard = self.shard.as_deref().map(str::parse::<Shard>).transpose();
        options.shard = shard.map_err(|error| errors::named(py, "Mismatch", &error.to_string()))?;
        let end = self.seconds.map(|seconds| {
            let seconds = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
            (Instant::now(), seconds)
        });
        let is_time = || end.is_none_or(|(start, most)| start.elapsed() < most);
        let place = |target: &PathBuf| match &self.directory {
            Some(directory) if !is_url(target) => directory.join(target),
            _ => target.clone(),
        };
        // Logs know targets by the paths that were given.
        let given: HashMap<_, _> =
            targets.iter().map(|target| (place(target), target.clone())).collect();
        let ended = |report: &mut VerifyReport| {
            if let Some(target) = given.get(&report.target) {
                report.target.clone_from(target);
            }
            ended(report)
        };
        let mut verified = 0;
        long(py, &options.progress, || {
            let targets = targets.iter().take_while(|_| is_time()).map(|target| Ok(place(target)));
            verify_each(targets, &options, ended, |_| {
                verified += 1;
                ControlFlow::Continue(())
            })
        })?;
        Ok(verified)
    }
}

/// A log of verifications to append to.
#[pyclass(module = "ra_pack._ra_pack", frozen)]
pub(crate) struct AuditLog {
    log: ra_pack::audit::AuditLog,
}

#[pymethods]
impl AuditLog {
    /// Open a log, which is created if needed.
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let log = ra_pack::audit::AuditLog::open(path).map_err(errors::raised)?;
        Ok(Self { log })
    }

    /// Append lines that other processes made, and sync them to disk.
    #[expect(clippy::needless_pass_by_value, reason = "the arguments of a method of Python")]
    fn append(&self, py: Python<'_>, lines: Vec<String>) -> PyResult<()> {
        Ok(short(py, || self.log.append_lines(&lines))?)
    }

    /// Verify targets and append the result of each. Return their number.
    #[expect(clippy::needless_pass_by_value, reason = "the arguments of a method of Python")]
    fn verify(&self, py: Python<'_>, targets: Vec<PathBuf>, options: RunOptions) -> PyResult<u64> {
        options.run(py, &targets, |report| self.log.append(report))
    }
}

/// Verify targets. Return the line of a log for each.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn verify_lines(
    py: Python<'_>,
    targets: Vec<PathBuf>,
    options: RunOptions,
) -> PyResult<Vec<String>> {
    let lines = Mutex::new(Vec::new());
    options.run(py, &targets, |report| {
        let line = line(report)?;
        lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(line);
        Ok(())
    })?;
    Ok(lines.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn line(report: &VerifyReport) -> Result<String> {
    let refused = |source| Error::Io { action: "write", path: report.target.clone(), source };
    json::text(report).map_err(refused)
}

/// Return the line of a log about a target whose verification has no result, with the reason.
#[pyfunction]
pub(crate) fn line_without_result(target: PathBuf, reason: String) -> PyResult<String> {
    let source = std::io::Error::other(reason);
    let error = Error::Io { action: "verify", path: target.clone(), source };
    line(&VerifyReport::without_result(target, &error)).map_err(errors::raised)
}

/// Return what to verify, and how much was left out.
#[pyfunction]
pub(crate) fn plan(
    py: Python<'_>,
    targets: Vec<PathBuf>,
    logs: Vec<PathBuf>,
    max_age: Option<Age>,
    budget: Option<Age>,
    divide: Option<u64>,
) -> PyResult<Bound<'_, PyDict>> {
    let options = PlanOptions {
        logs,
        max_age: max_age.map(|age| age.duration(py)).transpose()?,
        budget: budget.map(|budget| budget.budget(py)).transpose()?,
        divide,
        ..PlanOptions::default()
    };
    let planned = short(py, || ra_pack::audit::plan(targets, &options))?;
    let parts: Vec<_> = planned
        .parts
        .into_iter()
        .map(|part| {
            let shard = part.shard.map(|shard| shard.to_string());
            (part.target.into_os_string(), shard, part.bytes)
        })
        .collect();
    let seconds = match options.budget {
        Some(Budget::Time(time)) => Some(time.as_secs_f64()),
        _ => None,
    };
    let fields = PyDict::new(py);
    fields.set_item("parts", parts)?;
    fields.set_item("recent", planned.recent)?;
    fields.set_item("beyond", planned.beyond)?;
    fields.set_item("seconds", seconds)?;
    Ok(fields)
}

/// Return the state of each target according to logs.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn audit_report(
    py: Python<'_>,
    logs: Vec<PathBuf>,
    targets: Option<Vec<PathBuf>>,
    max_age: Option<Age>,
) -> PyResult<Bound<'_, PyAny>> {
    let options = AuditOptions {
        max_age: max_age.map(|age| age.duration(py)).transpose()?,
        targets,
        ..AuditOptions::default()
    };
    let report = short(py, || ra_pack::audit::audit(&logs, &options))?;
    let fields = pythonize::pythonize(py, &report)?;
    errors::reports(py)?.getattr("AuditReport")?.call_method1("of", (fields,))
}
