//! `convert` and `refs`. Their signatures and documentation are in `ra_pack/_convert.py`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use ra_pack::Progress;
use ra_pack::convert::{
    ArrayFormat, ConvertOptions, ConvertReport, RefsOptions, Reinterpret, convert_all, refs_to,
};
use ra_pack::message::Words;
use ra_pack::ndl::Order;

use crate::errors;
use crate::interrupt::long;
use crate::operations::{fields_of, findings_of, parsed};
use crate::options::{compression, option, word};

/// Convert arrays to another format. Return a report.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    sources: Vec<PathBuf>,
    destination: PathBuf,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let compress = |text: String| {
        compression(&text).map_err(|message| errors::named(py, "InvalidOption", &message))
    };
    let types = [("bfloat16", Reinterpret::BFloat16), ("void", Reinterpret::Void)];
    let formats: Vec<_> =
        ArrayFormat::words().filter_map(|word| Some((word, word.parse().ok()?))).collect();
    let options = ConvertOptions {
        from: word(options, "from_", &formats)?,
        to: word(options, "to", &formats)?,
        member: option(options, "member")?,
        order: word(options, "order", &[("column", Order::Column), ("row", Order::Row)])?,
        keep_endian: option(options, "keep_endian")?,
        drop_metadata: option(options, "drop_metadata")?,
        keep_metadata: option(options, "keep_metadata")?,
        reinterpret: word(options, "reinterpret", &types)?,
        masks: option(options, "masks")?,
        compression: option::<Option<String>>(options, "compression")?.map(compress).transpose()?,
        dimcoords: option(options, "dimcoords")?,
        arrays_only: option(options, "arrays_only")?,
        exclude: parsed(py, &option::<Vec<String>>(options, "exclude")?)?,
        dereference: option(options, "dereference")?,
        images: option(options, "images")?,
        raw: option(options, "raw")?,
        force: option(options, "force")?,
        jobs: option(options, "jobs")?,
        progress: Progress::new(),
    };
    let report = long(py, &options.progress, || convert_all(&sources, &destination, &options))?;
    report_object(py, &report)
}

/// Returns the report as an object of Python, in its words.
fn report_object<'py>(py: Python<'py>, report: &ConvertReport) -> PyResult<Bound<'py, PyAny>> {
    let fields = fields_of(py, report)?;
    // `from` is a keyword of Python.
    fields.set_item("from_", fields.get_item("from")?)?;
    fields.del_item("from")?;
    let part = |name, at: usize| fields.as_any().get_item(name)?.get_item(at);
    for (at, array) in report.arrays.iter().enumerate().filter(|(_, it)| !it.losses.is_empty()) {
        let losses = array.losses.iter().map(|loss| loss.in_words(Words::Python));
        part("arrays", at)?.set_item("losses", PyList::new(py, losses.collect::<Vec<_>>())?)?;
    }
    for (at, failed) in report.failed.iter().enumerate() {
        let entry = part("failed", at)?;
        entry.set_item("reason", failed.reason.in_words(Words::Python))?;
        entry.set_item("findings", findings_of(py, &failed.findings)?)?;
    }
    errors::reports(py)?.getattr("ConvertReport")?.call((), Some(&fields))
}

/// Return references for Zarr readers as JSON, and what they leave out.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn refs(
    py: Python<'_>,
    path: PathBuf,
    url: Option<String>,
    skip: bool,
    jobs: Option<usize>,
) -> PyResult<(Bound<'_, PyBytes>, Vec<String>)> {
    let options = RefsOptions { url, skip, force: false, jobs, progress: Progress::new() };
    let (json, report) = long(py, &options.progress, || {
        let mut json = Vec::new();
        let report = refs_to(&path, &mut json, &options)?;
        Ok((json, report))
    })?;
    let skipped =
        report.skipped.iter().map(|it| format!("`{}` is left out: {}", it.name, it.reason));
    let findings = report.findings.iter().map(|finding| finding.line().in_words(Words::Python));
    let lost = findings.chain(skipped).chain(report.losses.iter().cloned()).collect();
    Ok((PyBytes::new(py, &json), lost))
}
