//! `create`, `verify`, `extract` and `diff`. Their signatures and documentation are in `ra_pack/_operations.py`.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use ra_pack::diff::DiffOptions;
use ra_pack::inspect::Patterns;
use ra_pack::message::Message;
use ra_pack::path::{escape, escape_path};
use ra_pack::verify::VerifyOptions;
use ra_pack::write::{CreateReport, ExtractOptions};
use ra_pack::{Error, Finding, Pack, Progress};
use serde::Serialize;

use crate::cli::common::with_description;
use crate::errors;
use crate::interrupt::{long, short};
use crate::options::{DirectoryOptions, SharedOptions};

/// Pack a directory into an archive. Return a report.
#[pyfunction]
pub(crate) fn create<'py>(
    py: Python<'py>,
    source: PathBuf,
    path: PathBuf,
    options: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let shared = options.extract::<SharedOptions<'py>>()?.options(py)?;
    let options = options.extract::<DirectoryOptions>()?.add_to(py, shared)?;
    let report = long(py, &options.progress, || ra_pack::create(source, path, &options))?;
    create_report(py, &report)
}

/// Check a pack. Return a report.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    path: PathBuf,
    fast: bool,
    only_manifests: bool,
    strict: bool,
    jobs: Option<usize>,
    manifest: Option<PathBuf>,
) -> PyResult<Bound<'_, PyAny>> {
    let options = VerifyOptions {
        fast,
        only_manifests,
        strict,
        jobs,
        manifest,
        progress: Progress::new(),
        ..VerifyOptions::default()
    };
    let report = long(py, &options.progress, || ra_pack::verify(path, &options))?;
    report_object(py, "VerifyReport", &report, &report.findings)
}

/// Returns the report on a new archive as a Python object.
pub(crate) fn create_report<'py>(
    py: Python<'py>,
    report: &CreateReport,
) -> PyResult<Bound<'py, PyAny>> {
    report_object(py, "CreateReport", report, &report.findings)
}

/// Options of `extract`, from a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct UnpackOptions {
    patterns: Vec<String>,
    force: bool,
    max_size: Option<u64>,
    jobs: Option<usize>,
}

/// Unpack a pack. Return a report.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn extract(
    py: Python<'_>,
    path: PathBuf,
    directory: Option<PathBuf>,
    options: UnpackOptions,
) -> PyResult<Bound<'_, PyAny>> {
    let all = options.patterns.iter().flat_map(|pattern| with_description(pattern));
    let unpack = ExtractOptions {
        patterns: patterns(py, &all.collect::<Vec<_>>())?,
        force: options.force,
        own_directory: directory.is_none(),
        jobs: options.jobs,
        max_size: options.max_size,
        progress: Progress::new(),
    };
    let directory = directory.unwrap_or_else(|| ".".into());
    let report = long(py, &unpack.progress, || ra_pack::extract(&path, &directory, &unpack))?;
    if report.files == 0 && report.is_valid() && !options.patterns.is_empty() {
        return Err(no_match(py, &[&path], &options.patterns));
    }
    report_object(py, "ExtractReport", &report, &report.findings)
}

/// Options of `diff`, from a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ComparisonOptions {
    member: Option<String>,
    patterns: Vec<String>,
    tolerance: f64,
    relative: f64,
    read_all: bool,
    generated: bool,
    jobs: Option<usize>,
}

impl ComparisonOptions {
    /// Returns the first option that is only for two packs.
    fn of_packs(&self) -> Option<&'static str> {
        let given = [
            ("patterns", !self.patterns.is_empty()),
            ("read_all", self.read_all),
            ("generated", self.generated),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

/// Compare two packs or two arrays. Return a report.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn diff(
    py: Python<'_>,
    a: PathBuf,
    b: PathBuf,
    options: ComparisonOptions,
) -> PyResult<Bound<'_, PyAny>> {
    let refused = |message: Message| errors::raised(Error::Options(message));
    for (name, distance) in [("tolerance", options.tolerance), ("relative", options.relative)] {
        if distance.is_nan() || distance < 0.0 {
            let message = Message::default().option(name);
            return Err(refused(message.text(format!(" must be at least 0, found {distance}"))));
        }
    }
    let compare = DiffOptions {
        tolerance: options.tolerance,
        relative: options.relative,
        patterns: patterns(py, &options.patterns)?,
        read_all: options.read_all,
        generated: options.generated,
        jobs: options.jobs,
        progress: Progress::new(),
    };
    let are_packs = match options.member {
        Some(_) => (false, false),
        None => short(py, || Ok((ra_pack::files::is_pack(&a)?, ra_pack::files::is_pack(&b)?)))?,
    };
    if let ((false, false), Some(name)) = (are_packs, options.of_packs()) {
        let message = Message::default().option(name);
        return Err(refused(message.text(" is for two packs, not for two arrays")));
    }
    match are_packs {
        (true, true) => {
            let report = long(py, &compare.progress, || ra_pack::diff(&a, &b, &compare))?;
            if report.counts.total() == 0 && !options.patterns.is_empty() {
                return Err(no_match(py, &[&a, &b], &options.patterns));
            }
            let fields = fields_of(py, &report)?;
            for (name, side) in [("a", &report.a), ("b", &report.b)] {
                let found = fields.get_item(name)?;
                found
                    .expect("the report has both sides")
                    .set_item("findings", findings_of(py, &side.findings)?)?;
            }
            errors::reports(py)?.getattr("PackDiff")?.call((), Some(&fields))
        }
        (false, false) => {
            let report = long(py, &compare.progress, || match &options.member {
                Some(member) => ra_pack::diff::diff_members(&a, &b, member, &compare),
                None => ra_pack::diff::diff_arrays(&a, &b, &compare),
            })?;
            errors::reports(py)?.getattr("ArrayDiff")?.call((), Some(&fields_of(py, &report)?))
        }
        (a_is_pack, _) => {
            let (pack, array) = if a_is_pack { (&a, &b) } else { (&b, &a) };
            if !short(py, || ra_pack::files::is_array_file(array))? {
                // Fails with the kind of the file.
                short(py, || Pack::open(array))?;
            }
            let [pack, array] = [pack, array].map(|path| escape_path(path).to_string());
            let message = Message::from(format!(
                "`{pack}` is a pack and `{array}` is an array; choose an array of the pack with "
            ));
            Err(refused(message.option(("member", "NAME"))))
        }
    }
}

/// Returns patterns of names.
pub(crate) fn patterns(py: Python<'_>, texts: &[String]) -> PyResult<Patterns> {
    Patterns::new(texts).map_err(|error| errors::named(py, "InvalidOption", &error.to_string()))
}

/// Returns the exception for patterns that no member matches.
fn no_match(py: Python<'_>, packs: &[&Path], patterns: &[String]) -> PyErr {
    let packs: Vec<_> = packs.iter().map(|path| format!("`{}`", escape_path(path))).collect();
    let patterns: Vec<_> = patterns.iter().map(|text| format!("`{}`", escape(text))).collect();
    let (packs, patterns) = (packs.join(" or "), patterns.join(" or "));
    errors::named(py, "NotFound", &format!("no member of {packs} matches {patterns}"))
}

/// Returns a report as an object of a class in `ra_pack/_reports.py`.
pub(crate) fn report_object<'py>(
    py: Python<'py>,
    class: &str,
    report: &impl Serialize,
    findings: &[Finding],
) -> PyResult<Bound<'py, PyAny>> {
    let fields = fields_of(py, report)?;
    fields.set_item("findings", findings_of(py, findings)?)?;
    errors::reports(py)?.getattr(class)?.call((), Some(&fields))
}

/// Returns the fields of a report.
pub(crate) fn fields_of<'py>(
    py: Python<'py>,
    report: &impl Serialize,
) -> PyResult<Bound<'py, PyDict>> {
    Ok(pythonize::pythonize(py, report)?.cast_into::<PyDict>()?)
}

/// Returns findings as objects, with hints in the words of Python.
pub(crate) fn findings_of<'py>(
    py: Python<'py>,
    findings: &[Finding],
) -> PyResult<Bound<'py, PyList>> {
    let findings: Vec<_> =
        findings.iter().map(|finding| errors::finding(py, finding)).collect::<PyResult<_>>()?;
    PyList::new(py, findings)
}
