//! `convert` and `refs`. Their signatures and documentation are in `ra_pack/_convert.py`.

use std::path::PathBuf;
use std::str::FromStr as _;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use ra_pack::Progress;
use ra_pack::convert::{
    ArrayFormat, ConvertOptions, ConvertReport, RefsOptions, Reinterpret, convert_all, refs_to,
};
use ra_pack::message::Words;
use ra_pack::ndl::Order;

use crate::errors;
use crate::interrupt::long;
use crate::operations::{fields_of, findings_of, patterns};
use crate::options::compression;

/// Options of `convert`, from a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
#[expect(clippy::struct_excessive_bools, reason = "the options of the library")]
pub(crate) struct ConversionOptions {
    from_: Option<String>,
    to: Option<String>,
    member: Option<String>,
    order: Option<String>,
    keep_endian: bool,
    drop_metadata: bool,
    keep_metadata: Option<PathBuf>,
    reinterpret: Option<String>,
    masks: bool,
    compression: Option<String>,
    dimcoords: bool,
    arrays_only: bool,
    exclude: Vec<String>,
    dereference: bool,
    images: bool,
    raw: bool,
    force: bool,
    jobs: Option<usize>,
}

impl ConversionOptions {
    /// Returns the options of the library.
    fn options(self, py: Python<'_>) -> PyResult<ConvertOptions> {
        let refused = |message: &str| errors::named(py, "InvalidOption", message);
        let format = |word: &String| {
            let known = || ArrayFormat::words().collect::<Vec<_>>().join("`, `");
            ArrayFormat::from_str(word).map_err(|_| {
                refused(&format!("expected one of the formats `{}`, found `{word}`", known()))
            })
        };
        let order = |word: &String| {
            let order = Order::from_word(word).filter(|order| *order != Order::RowUnreversed);
            order.ok_or_else(|| {
                refused(&format!("expected the order `column` or `row`, found `{word}`"))
            })
        };
        let reinterpret = |word: &String| match &**word {
            "bfloat16" => Ok(Reinterpret::BFloat16),
            "void" => Ok(Reinterpret::Void),
            _ => Err(refused(&format!("expected the type `bfloat16` or `void`, found `{word}`"))),
        };
        let compress = |text: &String| compression(text).map_err(|message| refused(&message));
        Ok(ConvertOptions {
            from: self.from_.as_ref().map(format).transpose()?,
            to: self.to.as_ref().map(format).transpose()?,
            member: self.member,
            order: self.order.as_ref().map(order).transpose()?,
            keep_endian: self.keep_endian,
            drop_metadata: self.drop_metadata,
            keep_metadata: self.keep_metadata,
            reinterpret: self.reinterpret.as_ref().map(reinterpret).transpose()?,
            masks: self.masks,
            compression: self.compression.as_ref().map(compress).transpose()?,
            dimcoords: self.dimcoords,
            arrays_only: self.arrays_only,
            exclude: patterns(py, &self.exclude)?,
            dereference: self.dereference,
            images: self.images,
            raw: self.raw,
            force: self.force,
            jobs: self.jobs,
            progress: Progress::new(),
        })
    }
}

/// Convert arrays to another format. Return a report.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn convert(
    py: Python<'_>,
    sources: Vec<PathBuf>,
    destination: PathBuf,
    options: ConversionOptions,
) -> PyResult<Bound<'_, PyAny>> {
    let options = options.options(py)?;
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
