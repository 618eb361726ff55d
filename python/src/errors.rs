//! Exceptions of Python for the errors of the library. The classes are in `ra_pack/_errors.py`.

use std::io;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use ra_pack::finding::Place;
use ra_pack::interchange::FormatError;
use ra_pack::message::Words;
use ra_pack::{Error, Finding};

/// Returns the exception for an error.
#[expect(clippy::needless_pass_by_value, reason = "a function for `map_err`")]
pub(crate) fn raised(error: Error) -> PyErr {
    Python::attach(|py| exception(py, &error).unwrap_or_else(|other| other))
}

/// Returns an exception of the class `class` with a message.
pub(crate) fn named(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let made = errors(py).and_then(|errors| errors.getattr(class)?.call1((message,)));
    made.map_or_else(|other| other, PyErr::from_value)
}

/// Returns the exception for an operation that Python or NumPy does not support.
pub(crate) fn unsupported(py: Python<'_>, message: &str) -> PyErr {
    named(py, "Unsupported", message)
}

fn errors(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module =
        MODULE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("ra_pack._errors")?.unbind()));
    Ok(module?.bind(py))
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let message = error.message().in_words(Words::Python);
    let (class, findings) = match error {
        Error::Io { path, source, .. } => return system(py, &message, path, source),
        Error::AlreadyExists { path } => {
            let exception = errors(py)?.getattr("AlreadyExists")?;
            return Ok(PyErr::from_value(exception.call1((
                io_number(io::ErrorKind::AlreadyExists),
                message,
                path.as_os_str(),
            ))?));
        }
        Error::Damaged { finding, .. } => ("Damaged", std::slice::from_ref(&**finding)),
        Error::Refused { findings, .. } => ("Refused", &findings[..]),
        Error::Array { .. } | Error::ReadBack(_) => ("Damaged", &[][..]),
        Error::Interchange { source, .. } => match source {
            FormatError::NoCounterpart { .. } => ("Unsupported", &[][..]),
            _ => ("Damaged", &[][..]),
        },
        Error::NotAPack { .. } => ("NotAPack", &[][..]),
        Error::NotAnArray { .. } => ("NotAnArray", &[][..]),
        Error::NoSuchMember { .. } | Error::IsDirectory { .. } | Error::SeveralMembers { .. } => {
            ("NotFound", &[][..])
        }
        Error::Mismatch { .. }
        | Error::Structure { .. }
        | Error::Incomplete { .. }
        | Error::Slice { .. }
        | Error::SliceText { .. }
        | Error::Length { .. }
        | Error::InvalidPath(_) => ("Mismatch", &[][..]),
        Error::Limit(_) | Error::TooLarge { .. } => ("TooLarge", &[][..]),
        Error::NotViewable { .. } | Error::Unsupported(_) => ("Unsupported", &[][..]),
        Error::Options(_) => ("InvalidOption", &[][..]),
        Error::WrongTarget { .. } => ("WrongTarget", &[][..]),
        Error::Changed { .. } => ("Changed", &[][..]),
        Error::Interrupted => ("Interrupted", &[][..]),
        _ => ("Error", &[][..]),
    };
    let findings: Vec<_> = findings.iter().map(|one| finding(py, one)).collect::<PyResult<_>>()?;
    let arguments = (message, PyTuple::new(py, findings)?);
    Ok(PyErr::from_value(errors(py)?.getattr(class)?.call1(arguments)?))
}

/// Returns the exception for an error of the system. Its class is also that of Python, such as `FileNotFoundError`.
fn system(
    py: Python<'_>,
    message: &str,
    path: &std::path::Path,
    source: &io::Error,
) -> PyResult<PyErr> {
    let number = source.raw_os_error().unwrap_or_else(|| io_number(source.kind()));
    let class = match source.kind() {
        io::ErrorKind::NotFound => "NoSuchFile",
        io::ErrorKind::PermissionDenied => "NoPermission",
        io::ErrorKind::AlreadyExists => "AlreadyExists",
        _ => "IoError",
    };
    let arguments = (number, message, path.as_os_str());
    let exception = PyErr::from_value(errors(py)?.getattr(class)?.call1(arguments)?);
    // A file object of Python raised it.
    if let Some(cause) = source.get_ref().and_then(|inner| inner.downcast_ref::<PyErr>()) {
        if !cause.is_instance_of::<PyException>(py) {
            return Ok(cause.clone_ref(py)); // such as `KeyboardInterrupt`
        }
        exception.set_cause(py, Some(cause.clone_ref(py)));
    }
    Ok(exception)
}

/// Returns the number of an error that has none: that of Unix for its kind, or `EIO`.
fn io_number(kind: io::ErrorKind) -> i32 {
    match kind {
        io::ErrorKind::NotFound => 2,
        io::ErrorKind::PermissionDenied => 13,
        io::ErrorKind::AlreadyExists => 17,
        _ => 5,
    }
}

/// Returns a finding as an object of `ra_pack/_reports.py`.
pub(crate) fn finding<'py>(py: Python<'py>, finding: &Finding) -> PyResult<Bound<'py, PyAny>> {
    let (mut line, mut column, mut offset) = (None, None, None);
    match finding.place {
        Some(Place::Byte { offset: at }) => offset = Some(at),
        Some(Place::Line { line: at }) => line = Some(at),
        Some(Place::Text { line: at, column: within, start, .. }) => {
            (line, column, offset) = (Some(at), Some(within), Some(start));
        }
        _ => {}
    }
    let fields = PyDict::new(py);
    fields.set_item("code", pythonize::pythonize(py, &finding.code)?)?;
    fields.set_item("severity", pythonize::pythonize(py, &finding.severity)?)?;
    fields.set_item("message", &finding.message)?;
    fields.set_item("member", &finding.member)?;
    fields.set_item("array", &finding.array)?;
    fields.set_item("line", line)?;
    fields.set_item("column", column)?;
    fields.set_item("offset", offset)?;
    fields.set_item("expected", &finding.expected)?;
    fields.set_item("found", &finding.found)?;
    let hint = finding.hint.as_ref().map(|hint| hint.in_words(Words::Python));
    fields.set_item("hint", hint)?;
    fields.set_item("text", finding.line().in_words(Words::Python))?;
    reports(py)?.getattr("Finding")?.call((), Some(&fields))
}

/// Returns the module with the classes of reports.
pub(crate) fn reports(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module =
        MODULE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("ra_pack._reports")?.unbind()));
    Ok(module?.bind(py))
}
