//! `create` and `verify`. Their signatures and documentation are in `ra_pack/_operations.py`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use ra_pack::Finding;
use ra_pack::verify::VerifyOptions;
use ra_pack::write::CreateReport;
use serde::Serialize;

use crate::errors;
use crate::interrupt::long;
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
        progress: ra_pack::Progress::new(),
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

/// Returns a report as an object of a class in `ra_pack/_reports.py`.
fn report_object<'py>(
    py: Python<'py>,
    class: &str,
    report: &impl Serialize,
    findings: &[Finding],
) -> PyResult<Bound<'py, PyAny>> {
    let fields = pythonize::pythonize(py, report)?;
    let fields = fields.cast::<PyDict>()?;
    let findings: Vec<_> =
        findings.iter().map(|finding| errors::finding(py, finding)).collect::<PyResult<_>>()?;
    fields.set_item("findings", PyList::new(py, findings)?)?;
    errors::reports(py)?.getattr(class)?.call((), Some(fields))
}
