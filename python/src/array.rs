//! `Array`: an array of a pack.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use ra_pack::ndl::Ndarray;
use ra_pack::ra::Encoding;
use ra_pack::read::StatisticsOptions;
use ra_pack::{Error, PackedArray, Result};

use crate::index::{Selection, is_advanced, select};
use crate::interrupt::{Stopped, attached};
use crate::memory::{self, Mapped};
use crate::pack::{Opened, Shared, is_long, run_on};
use crate::{errors, numpy, values};

/// An array of a pack. No data is read before it is requested.
///
/// Indices, shape and dims are those of the description. Indexing follows NumPy's rules for integers, slices, ``...``
/// and ``None``, and reads only the selected bytes of a stored array. Index arrays and masks read the rows that they
/// select, or the range of these rows. The manifest has digests of whole files: a
/// selection of all elements is checked against it, as :meth:`read` does, and other selections are not.
#[pyclass(frozen, module = "ra_pack")]
pub(crate) struct Array {
    shared: Arc<Shared>,
    /// The name of the file, with its extension.
    pub(crate) member: String,
    /// Locked only with the lock of the interpreter, as the state of the pack.
    found: Mutex<(Arc<Opened>, PackedArray)>,
    // `PyOnceLock` waits for the lock of the interpreter, which its end forbids.
    facts: OnceLock<Facts>,
    attrs: OnceLock<Py<PyAny>>,
    dims: OnceLock<Py<PyTuple>>,
    coords: OnceLock<Py<PyAny>>,
    view: OnceLock<Py<PyAny>>,
    /// [`PROVED`], [`NOT_PROVED`], or both: the elements that were read.
    was_read: AtomicU8,
}

/// Elements that a digest proved were read.
const PROVED: u8 = 1;
/// Elements that no digest proved were read.
const NOT_PROVED: u8 = 2;

/// Facts from the header and the description.
pub(crate) struct Facts {
    shape: Vec<u64>,
    shape_tuple: Py<PyTuple>,
    dtype: Py<PyAny>,
    /// Bytes of an element.
    width: u64,
    /// Length of all elements in bytes.
    bytes: usize,
    /// The order in memory, as NumPy calls it.
    order: &'static str,
    description: Ndarray,
}

impl Array {
    pub(crate) fn new(
        shared: Arc<Shared>,
        member: String,
        opened: Arc<Opened>,
        found: PackedArray,
    ) -> Self {
        Self {
            shared,
            member,
            found: Mutex::new((opened, found)),
            facts: OnceLock::new(),
            attrs: OnceLock::new(),
            dims: OnceLock::new(),
            coords: OnceLock::new(),
            view: OnceLock::new(),
            was_read: AtomicU8::new(0),
        }
    }

    /// Notes whether a digest proved what was read.
    pub(crate) fn note(&self, is_proved: bool) {
        self.was_read.fetch_or(if is_proved { PROVED } else { NOT_PROVED }, Ordering::Relaxed);
    }

    /// Returns the name without the extension.
    fn stem(&self) -> &str {
        self.member.strip_suffix(".ra").unwrap_or(&self.member)
    }

    /// Returns the array of the open pack. It is searched again if the pack was opened again.
    fn packed(&self, py: Python<'_>) -> PyResult<(Arc<Opened>, PackedArray)> {
        let opened = self.shared.opened(py)?;
        {
            let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            if Arc::ptr_eq(&found.0, &opened) {
                return Ok(found.clone());
            }
        }
        let packed = run_on(py, &opened, is_long(&opened.pack, 0), || {
            opened.pack.array(&self.member)?.in_shape_order()
        });
        let found = (opened, packed?);
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&found);
        Ok(found)
    }

    /// Calls `work` with the array. It is called again if another thread's interruption ended it.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        bytes: u64,
        mut work: impl FnMut(&PackedArray) -> Result<T> + Send,
    ) -> PyResult<T> {
        loop {
            let (opened, packed) = self.packed(py)?;
            match run_on(py, &opened, is_long(&opened.pack, bytes), || work(&packed)) {
                Err(Stopped::Failed(Error::Interrupted)) => {}
                result => return Ok(result?),
            }
        }
    }

    /// Returns the facts. They are read once.
    pub(crate) fn facts(&self, py: Python<'_>) -> PyResult<&Facts> {
        if let Some(facts) = self.facts.get() {
            return Ok(facts);
        }
        let read = |packed: &PackedArray| {
            let header = packed.header()?.clone();
            let description = packed.description()?.unwrap_or_else(|| {
                let stem = self.stem().rsplit('/').next().unwrap_or_default();
                ra_pack::describe(stem, &header, Encoding::Raw)
            });
            let packed = packed.clone().in_order(description.order());
            Ok((packed.shape()?, header, description, packed))
        };
        let (mut shape, header, description, packed) = self.run(py, 0, read)?;
        self.found.lock().unwrap_or_else(PoisonError::into_inner).1 = packed;
        let dtype = numpy::dtype(py, self.stem(), &header, &description)?;
        if numpy::is_text(&description) {
            shape.clear();
        }
        let bytes = usize::try_from(header.data_len());
        let facts = Facts {
            shape_tuple: PyTuple::new(py, &shape)?.unbind(),
            width: dtype.getattr(intern!(py, "itemsize"))?.extract()?,
            shape,
            dtype: dtype.unbind(),
            bytes: bytes.map_err(|_| errors::unsupported(py, "the array is larger than memory"))?,
            order: numpy::letter(description.order()),
            description,
        };
        let _ = self.facts.set(facts);
        self.facts.get().ok_or_else(|| PyValueError::new_err("the array has no header"))
    }

    /// Returns the elements that a key selects. With `verify`, a selection of all elements is checked.
    fn selected<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
        verify: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let facts = this.facts(py)?;
        if facts.shape.is_empty() {
            return this.read(py, verify, None, false)?.get_item(key);
        }
        if is_advanced(key) {
            let name = if verify { "__getitem__" } else { "_unchecked" };
            let read = slf.getattr(name)?;
            return py.import("ra_pack._index")?.call_method1("select", (slf, key, read));
        }
        let selection = select(key, &facts.shape)?;
        if verify && selection.is_all(&facts.shape) {
            return this.read(py, true, None, false)?.get_item(key);
        }
        let part = this.part(py, facts, &selection)?;
        if selection.is_element { part.get_item(PyTuple::empty(py)) } else { Ok(part) }
    }

    /// Reads a selected part.
    fn part<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        selection: &Selection,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = numpy::zeros(py, &selection.shape, facts.dtype.bind(py), facts.order)?;
        let elements =
            selection.shape.iter().try_fold(facts.width, |all, one| all.checked_mul(*one));
        let bytes = elements.and_then(|bytes| usize::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| PyValueError::new_err("the part is larger than memory"))?;
        let is_proved = memory::fill(&array, bytes, |out| {
            self.run(py, out.len() as u64, |packed| {
                packed.slice_bytes_into(&selection.slice, out)?;
                packed.is_proved(false)
            })
        })??;
        self.note(is_proved);
        Ok(array)
    }
}

#[pymethods]
impl Array {
    /// The name in the pack, such as `run1/temperature`.
    #[getter]
    fn name(&self) -> &str {
        self.stem()
    }

    /// The length of each dimension.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Ok(self.facts(py)?.shape_tuple.bind(py).clone())
    }

    /// The name of each dimension. A dimension without a name is called `dim_0`, `dim_1`, …
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        if let Some(dims) = self.dims.get() {
            return Ok(dims.bind(py).clone());
        }
        if self.facts(py)?.shape.is_empty() {
            return Ok(PyTuple::empty(py));
        }
        let names = self.run(py, 0, PackedArray::dimension_names)?.into_iter().enumerate();
        let names = names.map(|(nth, name)| name.unwrap_or_else(|| format!("dim_{nth}")));
        let dims = PyTuple::new(py, names.collect::<Vec<_>>())?;
        Ok(self.dims.get_or_init(|| dims.unbind()).bind(py).clone())
    }

    /// The type of the elements, with the byte order of the file.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.facts(py)?.dtype.bind(py).clone())
    }

    /// The attributes: a read-only dict of numbers, texts and lists.
    #[getter]
    fn attrs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(attrs) = self.attrs.get() {
            return Ok(attrs.bind(py).clone());
        }
        let Facts { description, dtype, .. } = self.facts(py)?;
        let (stated, datatype) = (&description.attributes, &description.datatype);
        let attrs = values::of_array(py, stated, datatype, Some(dtype.bind(py)))?;
        let attrs = values::read_only(attrs)?;
        Ok(self.attrs.get_or_init(|| attrs.unbind()).bind(py).clone())
    }

    /// The coordinates of the dimensions: arrays of the pack, or NumPy arrays of values in descriptions.
    #[getter]
    fn coords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(coords) = self.coords.get() {
            return Ok(coords.bind(py).clone());
        }
        let coords = PyDict::new(py);
        for axis in self.run(py, 0, PackedArray::axes)? {
            let (Some(name), Some(coordinate)) = (axis.name, axis.coordinate) else { continue };
            if let Some(member) = coordinate.member {
                let opened = self.shared.opened(py)?;
                let found = opened.pack.array(&member).map_err(errors::raised)?;
                coords
                    .set_item(name, Self::new(Arc::clone(&self.shared), member, opened, found))?;
            } else if let Some(description) = coordinate.description
                && let Some(stated) = numpy::stated(py, &description)?
            {
                coords.set_item(name, stated)?;
            }
        }
        let coords = values::read_only(coords)?;
        Ok(self.coords.get_or_init(|| coords.unbind()).bind(py).clone())
    }

    /// The order of the elements: ``F`` if the first index is the fastest, else ``C``.
    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.facts(py)?.order)
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.facts(py)?.shape.len())
    }

    /// The number of elements.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        let product =
            self.facts(py)?.shape.iter().try_fold(1_u64, |all, one| all.checked_mul(*one));
        Ok(product.unwrap_or(0)) // only an array with a length of 0 can have such lengths
    }

    /// The length of the elements in bytes.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.facts(py)?.bytes)
    }

    /// The element that means "nothing was written", or None.
    #[getter]
    fn fill_value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let facts = self.facts(py)?;
        numpy::fill_value(py, &facts.description, facts.dtype.bind(py))
    }

    /// The preferred shape of chunks: about 4 MiB, which are adjacent in the file.
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let facts = self.facts(py)?;
        numpy::chunks(py, &facts.shape, facts.dtype.bind(py), facts.description.order())
    }

    /// Read the whole array.
    ///
    /// Parameters
    /// ----------
    /// verify : bool
    ///     Whether to check the content against the manifest of the pack. An array that the manifest does not list is
    ///     then an error.
    /// out : numpy.ndarray, optional
    ///     A contiguous array of this shape and dtype to fill. It is filled without a copy if it has the order of the
    ///     file. Other threads must not use it during the call, and an error leaves it partly filled.
    /// decode : bool
    ///     Whether to return text and times as :meth:`decode` does. The result is then not `out`.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     `out`, or a new array, which has the order of the file in memory.
    ///
    /// Raises
    /// ------
    /// Damaged
    ///     If the content is not what the manifest lists.
    /// Mismatch
    ///     If `out` has another shape or dtype, or is not contiguous or not writeable.
    #[pyo3(signature = (*, verify=true, out=None, decode=false))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        verify: bool,
        out: Option<Bound<'py, PyAny>>,
        decode: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if decode {
            let read = self.read(py, verify, out, false)?;
            return self.decode(py, &read);
        }
        attached(py, || {
            let facts = self.facts(py)?;
            let fits = |out| {
                let arguments = (out, &facts.shape_tuple, &facts.dtype, facts.order);
                py.import("ra_pack._array")?.call_method1("has_order", arguments)?.is_truthy()
            };
            let array = match &out {
                Some(out) if fits(out)? => out.clone(),
                _ => numpy::zeros(py, &facts.shape, facts.dtype.bind(py), facts.order)?,
            };
            let is_proved = memory::fill(&array, facts.bytes, |bytes| {
                self.run(py, bytes.len() as u64, |packed| {
                    let packed = checked(packed, verify);
                    packed.read_bytes_into(bytes)?;
                    packed.is_proved(true)
                })
            })??;
            self.note(is_proved);
            let Some(out) = out.filter(|out| !out.is(&array)) else { return Ok(array) };
            out.set_item(py.Ellipsis(), array)?;
            Ok(out)
        })
    }

    /// Decode elements of this array, such as `a[:10]`: what was written as text or times of NumPy is that again.
    ///
    /// Numbers with units such as `days since 2024-06-03` become `datetime64`, integers with units such as `seconds`
    /// become `timedelta64`, and missing ones `NaT`. Bytes become text, in UTF-8 if the attribute `_Encoding` names no other
    /// encoding. Other elements are returned as they are, without scale and offset.
    ///
    /// Parameters
    /// ----------
    /// values : array_like
    ///     Elements as they are stored.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///
    /// Raises
    /// ------
    /// Unsupported
    ///     If the times are of a calendar, or earlier than the year 1582 of the calendar, that NumPy does not have.
    /// Mismatch
    ///     If bytes are not text.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, ra_pack, tempfile, pathlib
    /// >>> path = pathlib.Path(tempfile.mkdtemp(), "t.zip")
    /// >>> days = np.array(["2024-06-03", "2024-06-04"], "M8[D]")
    /// >>> _ = ra_pack.write(path, {"time": days})
    /// >>> time = ra_pack.open(path)["time"]
    /// >>> time.read(decode=True)
    /// array(['2024-06-03', '2024-06-04'], dtype='datetime64[D]')
    /// >>> time.decode(time[1])
    /// np.datetime64('2024-06-04')
    #[expect(
        clippy::doc_markdown,
        clippy::doc_link_with_quotes,
        reason = "the notation of NumPy, and an example"
    )]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let times = values::times(&self.facts(py)?.description);
        let arguments = (self.stem(), self.attrs(py)?, self.fill_value(py)?, times, values);
        py.import("ra_pack._array")?.call_method1("decode", arguments)
    }

    /// Whether digests proved everything that was read through this object: by :meth:`read`, :meth:`verify`, indices and
    /// functions of NumPy. None if nothing was read.
    #[getter]
    fn verified(&self) -> Option<bool> {
        match self.was_read.load(Ordering::Relaxed) {
            0 => None,
            what => Some(what == PROVED),
        }
    }

    /// Read the whole array without keeping it, and check it against the manifest of the pack.
    ///
    /// Returns
    /// -------
    /// bool
    ///     Whether a manifest confirms the content. It is false if the pack has no manifest.
    ///
    /// Raises
    /// ------
    /// Damaged
    ///     If the content is not what the manifest lists.
    fn verify(&self, py: Python<'_>) -> PyResult<bool> {
        let is_proved = self.run(py, u64::MAX, PackedArray::verify)?;
        self.note(is_proved);
        Ok(is_proved)
    }

    /// Return the content digest, as :func:`content_digest` does for other arrays. The array is read in bounded memory and
    /// checked against the manifest of the pack.
    ///
    /// Returns
    /// -------
    /// str
    ///     64 hexadecimal digits.
    ///
    /// Raises
    /// ------
    /// Damaged
    ///     If the content is not what the manifest lists.
    fn content_digest(&self, py: Python<'_>) -> PyResult<String> {
        let digest = |packed: &PackedArray| Ok((packed.content_digest()?, packed.is_proved(true)?));
        let (digest, is_proved) = self.run(py, u64::MAX, digest)?;
        self.note(is_proved);
        Ok(digest.to_string())
    }

    /// Compute statistics of the values in bounded memory. The content is checked against the manifest.
    ///
    /// Parameters
    /// ----------
    /// bins : int, optional
    ///     The number of bins of a histogram. None leaves it out.
    /// raw : bool
    ///     Take the numbers as they are stored. By default scale and offset of the description are applied.
    /// jobs : int, optional
    ///     The number of threads; one per core by default.
    ///
    /// Returns
    /// -------
    /// dict
    ///     ``of`` says what the statistics are of: ``numbers``, ``magnitudes`` of complex numbers, ``names`` of an enum or
    ///     of booleans, or ``nothing``. The other items are those of ``ra-pack show --stats --json``, such as ``count``,
    ///     ``missing``, ``min``, ``max``, ``mean``, ``std`` and ``histogram``. Missing values, NaN and infinities are
    ///     counted and otherwise left out.
    ///
    /// Raises
    /// ------
    /// Damaged
    ///     If the content is not what the manifest lists.
    #[pyo3(signature = (*, bins=Some(12), raw=false, jobs=None))]
    fn statistics<'py>(
        &self,
        py: Python<'py>,
        bins: Option<usize>,
        raw: bool,
        jobs: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = StatisticsOptions { slice: None, bins, raw, jobs };
        let (found, is_proved) = self.run(py, u64::MAX, |packed| {
            Ok((packed.statistics(&options)?, packed.is_proved(true)?))
        })?;
        self.note(is_proved);
        // Numbers of names may have 128 bits, which `pythonize` does not take.
        let text = serde_json::to_string(&found);
        let text = text.map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
    }

    /// Return a read-only array of the elements in the mapped archive. Nothing is read or copied.
    ///
    /// The elements are not checked against the manifest. The archive must not be changed or truncated while the view
    /// exists: the view would change, and reading past a truncated end stops the process.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///
    /// Raises
    /// ------
    /// Unsupported
    ///     If the array is compressed, encoded, not aligned, or in a directory. Use :meth:`read`.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(view) = self.view.get() {
            self.shared.check_open()?;
            self.note(false);
            return view.bind(py).call_method0(intern!(py, "view"));
        }
        let facts = self.facts(py)?;
        let array = self.shared.mapped_array(py, &self.member)?;
        let bytes = array.view_bytes().map_err(errors::raised)?;
        let alignment: usize = facts.dtype.bind(py).getattr(intern!(py, "alignment"))?.extract()?;
        if !bytes.as_ptr().addr().is_multiple_of(alignment.max(1)) {
            let message = format!(
                "`{}` cannot be viewed in place and must be read: its elements are not aligned to {alignment} bytes",
                ra_pack::path::escape(self.stem())
            );
            return Err(errors::unsupported(py, &message));
        }
        let owner = Bound::new(py, Mapped { array })?.into_any();
        let view =
            numpy::of_bytes(owner, facts.shape_tuple.bind(py), facts.dtype.bind(py), facts.order)?;
        self.note(false);
        self.view.get_or_init(|| view.unbind()).bind(py).call_method0(intern!(py, "view"))
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        attached(slf.py(), || Self::selected(slf, key, true))
    }

    /// Indices that select along each axis of its own, as in xarray and zarr: ``array.oindex[[0, 2], :, [1, 3]]``.
    #[getter]
    fn oindex<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ra_pack._index")?.call_method1("OuterIndexer", (slf,))
    }

    /// Indices that select points: the dimensions of index arrays come first, as in xarray and zarr.
    #[getter]
    fn vindex<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ra_pack._index")?.call_method1("VectorIndexer", (slf,))
    }

    /// Return the elements with another type, as :meth:`read` does.
    ///
    /// Parameters
    /// ----------
    /// dtype : data-type
    ///     The type.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    fn astype<'py>(
        &self,
        py: Python<'py>,
        dtype: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.__array__(py, Some(dtype), None)
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, true, None, false)?.call_method0(intern!(py, "__float__"))
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, true, None, false)?.call_method0(intern!(py, "__int__"))
    }

    /// Return the elements that a key selects. They are not checked against the manifest, unless it has digests of
    /// blocks.
    #[pyo3(name = "_unchecked")]
    fn unchecked<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        attached(slf.py(), || Self::selected(slf, key, false))
    }

    /// Return the elements for `numpy.asarray`, as :meth:`read` does.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            let message = "reading an array of a pack makes a copy; `view()` does not";
            return Err(PyValueError::new_err(message));
        }
        let array = self.read(py, true, None, false)?;
        let Some(dtype) = dtype else { return Ok(array) };
        let options = PyDict::new(py);
        options.set_item(intern!(py, "copy"), false)?;
        attached(py, || array.call_method(intern!(py, "astype"), (dtype,), Some(&options)))
    }

    /// Return the elements for `from_dlpack` of another library, as :meth:`read` does.
    #[pyo3(signature = (**options))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ra_pack._array")?.getattr("dlpack")?.call((slf,), options)
    }

    /// Return the device of the elements: the processor.
    #[expect(clippy::unused_self, reason = "a method of Python")]
    fn __dlpack_device__(&self) -> (u8, u8) {
        (1, 0) // the number of processors, and that of the first
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let first = self.facts(py)?.shape.first().copied();
        let first = first.ok_or_else(|| {
            pyo3::exceptions::PyTypeError::new_err("len() of an array without dimensions")
        })?;
        Ok(usize::try_from(first)?)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().read(slf.py(), true, None, false)?.call_method0(intern!(slf.py(), "__iter__"))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let open = py.import("ra_pack._array")?.getattr("open_array")?;
        (open, (self.shared.target(py)?, self.stem())).into_pyobject(py)
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ra_pack._array")?.call_method1("shown", (slf,))
    }
}

fn checked(packed: &PackedArray, verify: bool) -> PackedArray {
    let packed = packed.clone();
    if verify { packed } else { packed.unverified() }
}
