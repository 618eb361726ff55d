//! `Pack`: an open pack as a mapping from names to arrays.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use ra_pack::remote::{is_url, name};
use ra_pack::verify::VerifyOptions;
use ra_pack::{Container, Error, PackedArray, Progress, Result};

use crate::array::Array;
use crate::interrupt::{Stopped, long, short};
use crate::source::{self, FileObject, Target};
use crate::{errors, memory, operations, outline, values};

/// Bytes from which a read is a long call.
const LONG: u64 = 4 << 20;

/// The extension of array files.
const EXTENSION: &str = ".ra";

/// A pack that is open in this process.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) pack: ra_pack::Pack,
    progress: Progress,
    process: u32,
}

impl Opened {
    /// Returns whether the pack can be read here. An interrupted pack cannot be read any more. After a fork, locks of
    /// the pack may be held by threads that only the other process has.
    fn is_usable(&self) -> bool {
        !self.progress.is_cancelled() && self.process == std::process::id()
    }
}

/// The state that a pack and its arrays share.
///
/// The lock is taken only while this thread has the lock of the interpreter, so no other thread has it during a fork.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The path, as given, or the name of the file object.
    path: PathBuf,
    /// The path from the root of the file system, for other processes.
    absolute: PathBuf,
    /// The file object, if the pack is in one.
    object: Option<Py<PyAny>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    opened: Option<Arc<Opened>>,
    mapped: Option<ra_pack::Pack>,
    is_closed: bool,
}

impl State {
    fn check_open(&self) -> PyResult<()> {
        if self.is_closed {
            return Err(PyValueError::new_err("the pack is closed"));
        }
        Ok(())
    }
}

impl Shared {
    fn open(py: Python<'_>, target: Target) -> PyResult<Self> {
        let (path, absolute, object) = match target {
            Target::Object(object) => {
                let name = source::name(object.bind(py))?;
                (name.clone(), name, Some(object))
            }
            Target::Path(path) => match path.to_str().filter(|_| is_url(&path)) {
                // Messages and representations have no secrets; other processes need them.
                Some(url) => (name(url).into(), path, None),
                None => (path.clone(), std::path::absolute(&path).unwrap_or(path), None),
            },
        };
        let shared = Self { path, absolute, object, state: Mutex::default() };
        shared.opened(py)?;
        Ok(shared)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an error if the pack was closed.
    pub(crate) fn check_open(&self) -> PyResult<()> {
        self.state().check_open()
    }

    /// Returns the pack, which is opened again if it cannot be read here any more.
    pub(crate) fn opened(&self, py: Python<'_>) -> PyResult<Arc<Opened>> {
        let state = self.state();
        state.check_open()?;
        if let Some(opened) = state.opened.as_ref().filter(|opened| opened.is_usable()) {
            return Ok(Arc::clone(opened));
        }
        // The first path is for messages; it may have another meaning after a change of the working directory.
        let path = if state.opened.is_none() { &self.path } else { &self.absolute };
        drop(state);
        let progress = Progress::new();
        let object = self.object.as_ref().map(|object| FileObject::new(object.clone_ref(py)));
        let is_path = object.is_none();
        let open = || match object {
            Some(object) => ra_pack::Pack::open_source_watched(object, path, &progress),
            None => ra_pack::Pack::open_watched(path, &progress),
        };
        let is_remote = is_path && is_url(path);
        let pack = if is_remote { long(py, &progress, open)? } else { short(py, open)? };
        let opened = Arc::new(Opened { pack, progress, process: std::process::id() });
        self.state().opened = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Calls `work` with the pack. It is called again if another thread's interruption ended it.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        is_long: bool,
        mut work: impl FnMut(&ra_pack::Pack) -> Result<T> + Send,
    ) -> PyResult<T> {
        loop {
            let opened = self.opened(py)?;
            match run_on(py, &opened, is_long, || work(&opened.pack)) {
                Err(Stopped::Failed(Error::Interrupted)) => {}
                result => return Ok(result?),
            }
        }
    }

    /// Returns the archive mapped into memory. It is mapped once.
    fn mapped(&self, py: Python<'_>) -> PyResult<ra_pack::Pack> {
        let state = self.state();
        state.check_open()?;
        if let Some(mapped) = &state.mapped {
            return Ok(mapped.clone());
        }
        drop(state);
        if self.object.is_some() {
            let message = "a view needs a file of the system, and this pack is in a file object";
            return Err(errors::unsupported(py, message));
        }
        let mapped = short(py, || memory::map(&self.absolute))?;
        self.state().mapped = Some(mapped.clone());
        Ok(mapped)
    }

    /// Returns an array of the mapped archive.
    pub(crate) fn mapped_array(&self, py: Python<'_>, member: &str) -> PyResult<PackedArray> {
        self.mapped(py)?.array(member).map_err(errors::raised)
    }
}

/// Runs `work`, which uses the pack, in a way that can be interrupted if it takes long.
pub(crate) fn run_on<T: Send>(
    py: Python<'_>,
    opened: &Opened,
    is_long: bool,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T, Stopped> {
    if is_long { long(py, &opened.progress, work) } else { short(py, work) }
}

/// Returns whether reading `bytes` bytes of the pack takes long.
pub(crate) fn is_long(pack: &ra_pack::Pack, bytes: u64) -> bool {
    let is_stream = matches!(pack.container(), Container::TarGz | Container::TarZst);
    bytes >= LONG || is_stream || pack.is_remote()
}

/// Open a pack for reading: a zip, a tar, a compressed tar or a directory.
///
/// Parameters
/// ----------
/// path : str, os.PathLike or file object
///     The archive, the directory, or one `.ra` file. The URL of a zip begins with `https://`, `http://`, `s3://`,
///     `gs://` or `az://`, that of a file with `file://`. A file object of bytes has the methods `read`, `seek` and
///     `tell`, such as `io.BytesIO` and what fsspec opens. It must stay open, and nothing else must move its position.
///
/// Returns
/// -------
/// Pack
///     A mapping from the names of arrays to arrays. No data is read yet.
///
/// Raises
/// ------
/// NotAPack
///     If the file is of another kind, or an archive or a directory without a manifest and without arrays.
/// Damaged
///     If the beginning or the end of the archive is missing.
/// OSError
///     If the file cannot be read.
#[pyfunction]
#[expect(clippy::doc_markdown, reason = "the notation of NumPy")]
pub(crate) fn open(py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<Pack> {
    let shared = Shared::open(py, Target::of(path)?)?;
    let is_long = is_long(&shared.opened(py)?.pack, LONG);
    if shared.run(py, is_long, |pack| Ok(!pack.has_manifest()? && pack.arrays()?.is_empty()))? {
        let path = ra_pack::path::escape_path(&shared.path);
        let message = format!("`{path}` is not a pack: it has no manifest and no arrays");
        return Err(errors::named(py, "NotAPack", &message));
    }
    Ok(Pack { shared: Arc::new(shared) })
}

/// An open pack: a mapping from names such as `run1/temperature` to arrays.
///
/// ``pack["run1/temperature"]`` is an :class:`ra_pack.Array`, and ``pack["run1"]`` a :class:`ra_pack.Group`. Iteration
/// yields the names of all arrays. Use :meth:`read_file` for files that are not arrays.
///
/// :func:`ra_pack.open` returns a pack. It can be used as a context manager, pickled (it is opened again by its path),
/// and used in several threads and after a fork.
#[pyclass(frozen, module = "ra_pack", mapping)]
pub(crate) struct Pack {
    shared: Arc<Shared>,
}

/// Returns the name of the member with the array `name`.
fn member_of(name: &str) -> String {
    format!("{}{EXTENSION}", name.strip_suffix(EXTENSION).unwrap_or(name))
}

impl Pack {
    /// Returns the names of all arrays.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut names = self.shared.run(py, true, ra_pack::Pack::arrays)?;
        for name in &mut names {
            name.truncate(name.len() - EXTENSION.len());
        }
        Ok(names)
    }

    fn array(&self, py: Python<'_>, name: &str) -> PyResult<Option<Array>> {
        let (member, opened) = (member_of(name), self.shared.opened(py)?);
        let is_long = is_long(&opened.pack, 0);
        let found = self.shared.run(py, is_long, |pack| match pack.array(&member) {
            Err(Error::NoSuchMember { .. } | Error::IsDirectory { .. } | Error::InvalidPath(_)) => {
                Ok(None)
            }
            found => found.map(Some),
        })?;
        Ok(found.map(|found| Array::new(Arc::clone(&self.shared), member, opened, found)))
    }

    /// Returns the exception for an array that does not exist, with a similar name.
    fn not_found(&self, py: Python<'_>, name: &str) -> PyErr {
        let near = self.shared.run(py, true, |pack| match pack.resolve(&member_of(name)) {
            Ok(near) | Err(Error::NoSuchMember { suggestion: Some(near), .. }) => Ok(Some(near)),
            Err(Error::SeveralMembers { names, .. }) => Ok(names.into_iter().next()),
            Err(_) => Ok(None),
        });
        let near = near.ok().flatten().filter(|near| near.ends_with(EXTENSION));
        let near = near.map(|near| {
            let near = near.strip_suffix(EXTENSION).unwrap_or(&near).to_owned();
            format!("; did you mean `{}`?", ra_pack::path::escape(&near))
        });
        let message = format!(
            "`{}` has no array `{}`{}",
            ra_pack::path::escape_path(&self.shared.path),
            ra_pack::path::escape(name),
            near.unwrap_or_default()
        );
        errors::named(py, "NotFound", &message)
    }

    /// Returns whether a directory with arrays or attributes has this name.
    fn is_group(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        let is_below =
            |path: &String| path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
        let is_named = |group: &ra_pack::ndl::Group| group.path.trim_matches('/') == name;
        Ok(!name.is_empty()
            && (self.shared.run(py, true, |pack| Ok(pack.arrays()?.iter().any(is_below)))?
                || self.groups_with_attributes(py)?.iter().any(is_named)))
    }

    fn groups_with_attributes(&self, py: Python<'_>) -> PyResult<Vec<ra_pack::ndl::Group>> {
        self.shared.run(py, true, ra_pack::Pack::attributes)
    }
}

#[pymethods]
impl Pack {
    /// The path, as given, or the name of the file object.
    #[getter]
    fn path(&self) -> OsString {
        self.shared.path.clone().into_os_string()
    }

    /// The attributes of the pack, from its `manifest.yaml`, as a read-only dict.
    #[getter]
    fn attrs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::read_only(self.group_attrs(py, "")?)
    }

    /// The names of the groups, which are the directories with arrays or attributes, without the root.
    #[getter]
    fn groups(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut groups = std::collections::BTreeSet::new();
        for name in self.names(py)? {
            for (end, _) in name.match_indices('/') {
                groups.insert(name.split_at(end).0.to_owned());
            }
        }
        for group in self.groups_with_attributes(py)? {
            let name = group.path.trim_matches('/');
            if !name.is_empty() {
                groups.insert(name.to_owned());
            }
        }
        Ok(groups.into_iter().collect())
    }

    /// Return the attributes of a group.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     The name, such as `run1`; empty for the root.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Names and values. It is empty if the group has no attributes.
    fn group_attrs<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let groups = self.groups_with_attributes(py)?;
        let wanted = name.trim_matches('/');
        let group = groups.iter().find(|group| group.path.trim_matches('/') == wanted);
        values::attributes(py, group.map(|group| &group.attributes[..]).unwrap_or_default())
    }

    /// Return the structure of the pack from headers and descriptions. Data is not read.
    ///
    /// Parameters
    /// ----------
    /// group : str, optional
    ///     Only this group and the groups below it.
    ///
    /// Returns
    /// -------
    /// dict
    ///     ``attrs`` of the pack, and ``groups``: a list of dicts with ``path`` (such as ``run1``; empty for the root),
    ///     ``attrs``, ``dimensions`` (``name``, ``length`` and ``coordinate``, the name of its array or None),
    ///     ``coordinates`` and ``variables``. Those are lists of dicts with ``name``, ``array`` (the name in the pack;
    ///     None for a coordinate without a file), ``shape``, ``dims``, ``attrs``, ``order``, ``element``,
    ///     ``dtype`` (None if NumPy has none), ``chunks``, ``fill_value`` and ``values``, which are those of a coordinate
    ///     without a file. Dimensions without a name are None. ``empty`` is a list of the names of empty groups.
    #[pyo3(signature = (group=None))]
    fn outline<'py>(&self, py: Python<'py>, group: Option<String>) -> PyResult<Bound<'py, PyDict>> {
        outline::outline(py, &self.shared, group)
    }

    /// Return the content of a file, which is checked against the manifest.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     The name in the pack, such as `notes.txt`.
    ///
    /// Returns
    /// -------
    /// bytes
    fn read_file<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        // Only the member knows its size, and a thread costs little compared with a file.
        let content = self.shared.run(py, true, |pack| pack.read(name))?;
        Ok(PyBytes::new(py, &content))
    }

    /// Close the pack. Arrays of the pack can no longer be read. Views remain valid.
    fn close(&self) {
        let mut state = self.shared.state();
        (state.opened, state.mapped, state.is_closed) = (None, None, true);
    }

    /// Return the array, or the default if the pack has no such array.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The name in the pack, such as `run1/temperature`.
    /// default : object, optional
    ///     The default; None if it is not given.
    ///
    /// Returns
    /// -------
    /// Array
    #[pyo3(signature = (key, default=None, /))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.array(py, key)? {
            Some(array) => Ok(Some(Bound::new(py, array)?.into_any())),
            None => Ok(default),
        }
    }

    /// Return a list of the names of all arrays, in the order of the archive.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.names(py)
    }

    /// Return a list of all arrays. No data is read.
    fn values(&self, py: Python<'_>) -> PyResult<Vec<Array>> {
        Ok(self.items(py)?.into_iter().map(|(_, array)| array).collect())
    }

    /// Return a list of the names and arrays. No data is read.
    fn items(&self, py: Python<'_>) -> PyResult<Vec<(String, Array)>> {
        let names = self.names(py)?;
        let item = |name: String| {
            let array = self.array(py, &name)?.ok_or_else(|| self.not_found(py, &name))?;
            Ok((name, array))
        };
        names.into_iter().map(item).collect()
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let (py, pack) = (slf.py(), slf.get());
        if let Some(array) = pack.array(py, name)? {
            return Ok(Bound::new(py, array)?.into_any());
        }
        let group = name.trim_end_matches('/');
        if pack.is_group(py, group)? {
            return py.import("ra_pack._pack")?.call_method1("Group", (slf, group));
        }
        Err(pack.not_found(py, name))
    }

    /// Return the groups and arrays as text, which notebooks show as a tree to open and close.
    ///
    /// Returns
    /// -------
    /// Tree
    fn tree<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ra_pack._pack")?.call_method1("Tree", (slf,))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::tree(slf)?.call_method0("_repr_html_")
    }

    fn _ipython_key_completions_(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok([self.names(py)?, self.groups(py)?].concat())
    }

    /// Check the pack, as :func:`ra_pack.verify` does.
    ///
    /// Parameters
    /// ----------
    /// fast, only_manifests, strict, jobs, manifest
    ///     As for :func:`ra_pack.verify`.
    ///
    /// Returns
    /// -------
    /// VerifyReport
    ///     All problems. It is true if the pack is valid.
    #[expect(clippy::doc_markdown, reason = "the notation of NumPy")]
    #[pyo3(signature = (*, fast=false, only_manifests=false, strict=false, jobs=None, manifest=None))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        fast: bool,
        only_manifests: bool,
        strict: bool,
        jobs: Option<usize>,
        manifest: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.shared.check_open()?;
        if self.shared.object.is_none() {
            let path = self.shared.absolute.clone();
            let files = [manifest, None, None, None];
            return operations::verify(py, path, fast, only_manifests, strict, jobs, files);
        }
        let options =
            VerifyOptions { fast, only_manifests, strict, jobs, manifest, ..Default::default() };
        let report = self.shared.run(py, true, |pack| pack.verify(&options))?;
        operations::report_object(py, "VerifyReport", &report, &report.findings)
    }

    fn __contains__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(name) = name.extract::<String>() else { return Ok(false) };
        Ok(self.array(py, &name)?.is_some() || self.is_group(py, name.trim_end_matches('/'))?)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.names(py)?.len())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.names(py)?)?.try_iter()?.into_any())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Py<PyAny>,))> {
        let open = py.import("ra_pack")?.getattr("open")?;
        Ok((open, (self.shared.target(py)?,)))
    }

    fn __repr__(&self) -> String {
        format!("<ra_pack.Pack `{}`>", ra_pack::path::escape_path(&self.shared.path))
    }
}

impl Shared {
    /// Returns what another process opens.
    pub(crate) fn target(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.object {
            Some(object) => Ok(object.clone_ref(py)),
            None => Ok(self.absolute.as_os_str().into_pyobject(py)?.into_any().unbind()),
        }
    }
}
