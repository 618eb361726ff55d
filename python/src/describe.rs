//! `describe`. Its signature and documentation are in `ra_pack/_describe.py`.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyString;
use ra_pack::Progress;
use ra_pack::describe::{
    DescribeOptions, MetadataEdits, UpdateReport, describe_target, edit_descriptions,
    metadata_table, update_descriptions, write_descriptions,
};

use crate::cli::files;
use crate::interrupt::long;
use crate::operations::report_object;
use crate::{errors, values};

/// An operation on descriptions.
#[derive(FromPyObject)]
pub(crate) enum Action<'py> {
    /// Return them, or a table; write or update them.
    Word(String),
    /// Edit them.
    Edits(Edits<'py>),
}

/// Edits of descriptions, from a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Edits<'py> {
    apply: Option<PathBuf>,
    set: Vec<(String, Bound<'py, PyAny>)>,
    /// Arrays and the names of their dimensions; those of BART if there are none.
    dims: Vec<(String, Option<Vec<String>>)>,
}

impl Edits<'_> {
    fn edits(&self) -> PyResult<MetadataEdits> {
        let mut edits = match self.apply.as_deref() {
            None => MetadataEdits::default(),
            Some(path) => {
                // A path of one dash would be standard input.
                let path = if path == Path::new("-") { Path::new("./-") } else { path };
                let edits = files::text(path).and_then(|text| MetadataEdits::of_table(&text));
                edits.map_err(errors::raised)?
            }
        };
        for (key, value) in &self.set {
            edits.set(key.as_str(), values::value_of(value)?);
        }
        for (array, names) in &self.dims {
            match names {
                None => edits.bart_dims(array.as_str()),
                Some(names) => edits.dims(array.as_str(), names.iter().map(String::as_str)),
            }
        }
        Ok(edits)
    }
}

/// Return descriptions as text, or change them and return a report.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn describe<'py>(
    py: Python<'py>,
    path: PathBuf,
    action: Action<'py>,
    dimcoords: bool,
    dry_run: bool,
    jobs: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = DescribeOptions { dimcoords, dry_run, jobs, progress: Progress::new() };
    let changed =
        |report: &UpdateReport| report_object(py, "DescribeReport", report, &report.findings);
    let word = match action {
        Action::Edits(edits) => {
            let edits = edits.edits()?;
            let edit = || edit_descriptions(&path, &edits, &options);
            return changed(&long(py, &options.progress, edit)?);
        }
        Action::Word(word) => word,
    };
    match &*word {
        "update" => changed(&long(py, &options.progress, || update_descriptions(&path, &options))?),
        "write" => {
            let report = long(py, &options.progress, || write_descriptions(&path, &options))?;
            report_object(py, "DescribeReport", &report, &report.findings)
        }
        _ => {
            let text = long(py, &options.progress, || match &*word {
                "template" => metadata_table(&path, &options),
                _ => describe_target(&path, &options),
            })?;
            Ok(PyString::new(py, &text).into_any())
        }
    }
}
