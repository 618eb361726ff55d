//! Packs in file objects of Python, such as `io.BytesIO`, open files and files of fsspec.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use ra_pack::read::ReadAt;

use crate::interrupt::reattached;

/// A path or a file object to open.
pub(crate) enum Target {
    Path(PathBuf),
    Object(Py<PyAny>),
}

impl Target {
    /// Returns the target that an object gives: a path, the URL of a file, a file object, or the object that it opens.
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = given.py();
        if let Ok(path) = given.extract::<PathBuf>() {
            return Ok(Self::Path(
                match path.to_str().and_then(|text| text.strip_prefix("file:")) {
                    Some(url) => local(py, url)?,
                    None => path,
                },
            ));
        }
        let object = if given.hasattr(intern!(py, "read"))? {
            given.clone()
        } else if given.hasattr(intern!(py, "open"))? {
            given.call_method0(intern!(py, "open"))?
        } else {
            let kind = given.get_type().name()?;
            let message = format!("expected a path, a URL or a file object, found {kind}");
            return Err(PyTypeError::new_err(message));
        };
        let nothing = object.call_method1(intern!(py, "read"), (0,))?;
        if nothing.extract::<Cow<'_, [u8]>>().is_err() {
            let message = "expected a file object of bytes; open the file with the mode `rb`";
            return Err(PyTypeError::new_err(message));
        }
        Ok(Self::Object(object.unbind()))
    }
}

/// Returns the path of a URL without its `file:`.
fn local(py: Python<'_>, url: &str) -> PyResult<PathBuf> {
    let path = match url.strip_prefix("//") {
        None => url,
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
    };
    if !path.starts_with('/') {
        let message = format!("expected a URL such as `file:///data/run.zip`, found `file:{url}`");
        return Err(PyValueError::new_err(message));
    }
    py.import("urllib.request")?.call_method1("url2pathname", (path,))?.extract()
}

/// Returns the name of a file object for messages.
pub(crate) fn name(object: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    for attribute in ["name", "path"] {
        if let Ok(name) = object.getattr(attribute).and_then(|name| name.extract::<String>()) {
            return Ok(name.into());
        }
    }
    Ok(object.get_type().name()?.to_string().into())
}

/// A file object of Python, whose position is moved.
pub(crate) struct FileObject {
    object: Py<PyAny>,
    /// Locked from `seek` to the end of `read`, and before the lock of the interpreter, which `read` may release.
    position: Mutex<()>,
}

impl FileObject {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self { object, position: Mutex::new(()) }
    }

    fn call<T>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> io::Result<T> {
        let _position = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        reattached(|py| work(self.object.bind(py))).map_err(io::Error::from)
    }
}

impl ReadAt for FileObject {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.call(|object| {
            let py = object.py();
            object.call_method1(intern!(py, "seek"), (offset,))?;
            let content = object.call_method1(intern!(py, "read"), (buffer.len(),))?;
            let bytes: Cow<'_, [u8]> = content.extract()?;
            let Some(start) = buffer.get_mut(..bytes.len()) else {
                let message = format!("`read({})` returned {} bytes", buffer.len(), bytes.len());
                return Err(PyValueError::new_err(message));
            };
            start.copy_from_slice(&bytes);
            Ok(bytes.len())
        })
    }

    fn len(&self) -> io::Result<u64> {
        self.call(|object| {
            let py = object.py();
            object.call_method1(intern!(py, "seek"), (0, 2))?;
            object.call_method0(intern!(py, "tell"))?.extract()
        })
    }
}
