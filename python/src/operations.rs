//! `create`, `verify`, `validate`, `extract` and `diff`. Their signatures and documentation are in `ra_pack/_operations.py`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use ra_pack::diff::DiffOptions;
use ra_pack::inspect::{Patterns, ValidateOptions};
use ra_pack::signature::TrustedKeys;
use ra_pack::verify::VerifyOptions;
use ra_pack::write::{CreateOptions, CreateReport, ExtractOptions};
use ra_pack::{Finding, Progress};
use serde::Serialize;

use crate::cli::common::with_description;
use crate::cli::diff::{array_text, print_packs, summary};
use crate::errors;
use crate::interrupt::{detached, long, short};
use crate::options::{option, shared};

/// Pack a directory into an archive. Return a report.
#[pyfunction]
pub(crate) fn create<'py>(
    py: Python<'py>,
    source: PathBuf,
    path: PathBuf,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = CreateOptions {
        describe: option(options, "describe")?,
        exclude: parsed(py, &option::<Vec<String>>(options, "exclude")?)?,
        dereference: option(options, "dereference")?,
        preserve_mtime: option(options, "preserve_mtime")?,
        bag_info: option(options, "bag_info")?,
        profile: option(options, "profile")?,
        ro_crate: option(options, "ro_crate")?,
        ..shared(options)?
    };
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
    files: [Option<PathBuf>; 4],
) -> PyResult<Bound<'_, PyAny>> {
    let [manifest, signers, minisign_key, time_ca] = files;
    let minisign_keys: Vec<_> = minisign_key.into_iter().collect();
    let trusted =
        short(py, || TrustedKeys::read(signers.as_deref(), &minisign_keys, time_ca.as_deref()))?;
    let options = VerifyOptions {
        fast,
        only_manifests,
        strict,
        jobs,
        manifest,
        trusted,
        progress: Progress::new(),
        ..VerifyOptions::default()
    };
    let report = long(py, &options.progress, || ra_pack::verify(path, &options))?;
    report_object(py, "VerifyReport", &report, &report.findings)
}

/// Check descriptions, metadata and the rules of others. Return a report.
#[pyfunction]
pub(crate) fn validate<'py>(
    py: Python<'py>,
    path: PathBuf,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = ValidateOptions {
        strict: option(options, "strict")?,
        metadata: option(options, "metadata")?,
        profile: option(options, "profile")?,
        repositories: option(options, "repositories")?,
        conventions: option(options, "conventions")?,
        jobs: option(options, "jobs")?,
        ..ValidateOptions::default()
    };
    let report = long(py, &options.progress, || ra_pack::validate(path, &options))?;
    report_object(py, "ValidateReport", &report, &report.findings)
}

/// Returns the report on a new archive as a Python object.
pub(crate) fn create_report<'py>(
    py: Python<'py>,
    report: &CreateReport,
) -> PyResult<Bound<'py, PyAny>> {
    report_object(py, "CreateReport", report, &report.findings)
}

/// Unpack a pack. Return a report.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn extract(
    py: Python<'_>,
    path: PathBuf,
    directory: Option<PathBuf>,
    patterns: Vec<String>,
    force: bool,
    max_size: Option<u64>,
    jobs: Option<usize>,
) -> PyResult<Bound<'_, PyAny>> {
    let all: Vec<_> = patterns.iter().flat_map(|pattern| with_description(pattern)).collect();
    let options = ExtractOptions {
        patterns: parsed(py, &all)?,
        force,
        own_directory: directory.is_none(),
        jobs,
        max_size,
        progress: Progress::new(),
    };
    let directory = directory.unwrap_or_else(|| ".".into());
    let report = long(py, &options.progress, || ra_pack::extract(&path, &directory, &options))?;
    report_object(py, "ExtractReport", &report, &report.findings)
}

/// Compare two packs or two arrays. Return a report.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    a: PathBuf,
    b: PathBuf,
    member: Option<String>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = DiffOptions {
        tolerance: option(options, "tolerance")?,
        relative: option(options, "relative")?,
        patterns: parsed(py, &option::<Vec<String>>(options, "patterns")?)?,
        read_all: option(options, "read_all")?,
        generated: option(options, "generated")?,
        jobs: option(options, "jobs")?,
        progress: Progress::new(),
    };
    let is_pack = |path| short(py, || Ok(member.is_none() && ra_pack::files::is_pack(path)?));
    let (a_is_pack, b_is_pack) = (is_pack(&a)?, is_pack(&b)?);
    if a_is_pack != b_is_pack {
        let message =
            "a pack can be compared with an array only if `member` names one of its arrays";
        return Err(errors::named(py, "InvalidOption", message));
    }
    if a_is_pack {
        let report = long(py, &options.progress, || ra_pack::diff(&a, &b, &options))?;
        let fields = fields_of(py, &report)?;
        for (name, side) in [("a", &report.a), ("b", &report.b)] {
            let findings = findings_of(py, &side.findings)?;
            fields.as_any().get_item(name)?.set_item("findings", findings)?;
        }
        let text = detached(py, || {
            let mut lines = Vec::new();
            print_packs(&report, false, (false, usize::MAX), &mut lines)?;
            let counts = summary(&report, false).replace("--verify", "`read_all=True`");
            let text = String::from_utf8_lossy(&lines).into_owned() + counts.trim_end();
            Ok::<_, std::io::Error>(text)
        })?;
        fields.set_item("text", text)?;
        return errors::reports(py)?.getattr("PackDiff")?.call((), Some(&fields));
    }
    let report = long(py, &options.progress, || match &member {
        Some(member) => ra_pack::diff::diff_members(&a, &b, member, &options),
        None => ra_pack::diff::diff_arrays(&a, &b, &options),
    })?;
    let fields = fields_of(py, &report)?;
    let text = detached(py, || array_text(&report, member.as_deref()));
    fields.set_item("text", text.trim_end())?;
    errors::reports(py)?.getattr("ArrayDiff")?.call((), Some(&fields))
}

/// Returns patterns of names.
pub(crate) fn parsed(py: Python<'_>, patterns: &[String]) -> PyResult<Patterns> {
    let patterns = Patterns::new(patterns);
    patterns.map_err(|error| errors::named(py, "InvalidOption", &error.to_string()))
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
