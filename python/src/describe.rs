//! `describe`. Its signature and documentation are in `ra_pack/_describe.py`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyString;
use ra_pack::Progress;
use ra_pack::describe::{
    DescribeOptions, MetadataEdits, describe_target, edit_descriptions, metadata_table,
    update_descriptions, write_descriptions,
};

use crate::cli::files;
use crate::interrupt::long;
use crate::operations::report_object;
use crate::{errors, values};

/// Return descriptions as text, or change them and return a report.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments of a function of Python")]
pub(crate) fn describe<'py>(
    py: Python<'py>,
    path: PathBuf,
    action: &str,
    edits: Edits<'py>,
    dimcoords: bool,
    dry_run: bool,
    jobs: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = DescribeOptions { dimcoords, dry_run, jobs, progress: Progress::new() };
    let report = match action {
        "edit" => {
            let edits = edits.edits()?;
            long(py, &options.progress, || edit_descriptions(&path, &edits, &options))?
        }
        "update" => long(py, &options.progress, || update_descriptions(&path, &options))?,
        "write" => {
            let report = long(py, &options.progress, || write_descriptions(&path, &options))?;
            return report_object(py, "DescribeReport", &report, &report.findings);
        }
        action => {
            let text = long(py, &options.progress, || match action {
                "template" => metadata_table(&path, &options),
                _ => describe_target(&path, &options),
            })?;
            return Ok(PyString::new(py, &text).into_any());
        }
    };
    report_object(py, "DescribeReport", &report, &report.findings)
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
        let table = self.apply.as_deref().map(|path| MetadataEdits::of_table(&files::text(path)?));
        let mut edits = table.transpose().map_err(errors::raised)?.unwrap_or_default();
        for (key, value) in &self.set {
            edits.set(key.as_str(), values::value_of(value)?);
        }
        for (array, names) in &self.dims {
            match names {
                None => edits.bart_dims(array.as_str()),
                Some(names) => edits.dims(array.as_str(), names),
            }
        }
        Ok(edits)
    }
}
