//! The functions of NumPy that the module calls, and dtypes.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyComplex, PyDict, PyTuple};
use ra_pack::interchange::npy::{Descr, NpyPlan};
use ra_pack::interchange::{ExportOptions, Variable};
use ra_pack::message::Words;
use ra_pack::ndl::{Datatype, Extent, Ndarray, Order, Value};
use ra_pack::ra::{ElementType, Flags, Header};

use crate::{errors, values};

/// Returns the module `numpy`.
pub(crate) fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Ok(MODULE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("numpy")?.unbind()))?.bind(py))
}

/// Returns a new array of zeros with the first index fastest (`F`) or slowest (`C`).
pub(crate) fn zeros<'py>(
    py: Python<'py>,
    shape: &[u64],
    dtype: &Bound<'py, PyAny>,
    order: &str,
) -> PyResult<Bound<'py, PyAny>> {
    static ZEROS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let zeros = ZEROS
        .get_or_try_init(py, || Ok::<_, PyErr>(numpy(py)?.getattr("zeros")?.unbind()))?
        .bind(py);
    zeros.call1((PyTuple::new(py, shape)?, dtype, order))
}

/// Returns the array with these bytes, without copying them.
pub(crate) fn of_bytes<'py>(
    owner: Bound<'py, PyAny>,
    shape: &Bound<'py, PyTuple>,
    dtype: &Bound<'py, PyAny>,
    order: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    let bytes = numpy(py)?.call_method1(intern!(py, "asarray"), (owner,))?;
    let options = PyDict::new(py);
    options.set_item(intern!(py, "buffer"), bytes)?;
    options.set_item(intern!(py, "order"), order)?;
    numpy(py)?.getattr(intern!(py, "ndarray"))?.call((shape, dtype), Some(&options))
}

/// Returns the dtype of the elements, with the byte order of the file.
pub(crate) fn dtype<'py>(
    py: Python<'py>,
    name: &str,
    header: &Header,
    description: &Ndarray,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = numpy(py)?;
    let refused = |reason: String| {
        let message = format!("`{}`: {reason}", ra_pack::path::escape(name));
        errors::unsupported(py, &message)
    };
    // The type of Julia's `Bool`. Encoded bits are decoded to one byte each.
    if matches!(header.element(), ElementType::BOOL | ElementType::BITS) {
        return numpy.call_method1(intern!(py, "dtype"), ("bool",));
    }
    let is_big = header.flags().contains(Flags::BIG_ENDIAN) && !header.is_encoded();
    if header.element() == ElementType::BFLOAT16 {
        let Ok(types) = py.import("ml_dtypes") else {
            return Err(refused(
                "NumPy reads bfloat16 only if `ml_dtypes` is installed".to_owned(),
            ));
        };
        if is_big {
            return Err(refused("`ml_dtypes` has no big-endian bfloat16".to_owned()));
        }
        return numpy.call_method1(intern!(py, "dtype"), (types.getattr("bfloat16")?,));
    }
    let plain = header.decoded();
    let plain = if is_big { plain.big_endian() } else { plain };
    // Attributes are left out because a unit makes an integer a time in `.npy`. Programs that know the conventions, such
    // as xarray, decode times themselves.
    let shape = if is_text(description) { 0 } else { plain.dims().len() };
    let bare = Ndarray {
        name: String::new(),
        shape: vec![Extent::Fixed(0); shape],
        datatype: description.datatype.clone(),
        value: None,
        attributes: Vec::new(),
        storage: None,
    };
    let variable = Variable { header: plain, description: bare, losses: Vec::new() };
    let planned = NpyPlan::new(&variable, ExportOptions::default());
    let descr =
        planned.map_err(|error| refused(error.message().in_words(Words::Python)))?.header.descr;
    let written = descr.to_string();
    if let Descr::Scalar(_) = descr {
        return numpy.call_method1(intern!(py, "dtype"), (written.trim_matches('\''),));
    }
    let literal = py.import("ast")?.call_method1("literal_eval", (written,))?;
    py.import("numpy.lib.format")?.call_method1("descr_to_dtype", (literal,))
}

/// Returns the element that means "nothing was written", or None.
pub(crate) fn fill_value<'py>(
    py: Python<'py>,
    description: &Ndarray,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let storage = description.storage.as_ref();
    let Some(value) = storage.and_then(|storage| storage.fillvalue.as_ref()) else {
        return Ok(py.None().into_bound(py));
    };
    let kind: String = dtype.getattr(intern!(py, "kind"))?.extract()?;
    let value = match (&*kind, value) {
        ("c", Value::List(parts)) => {
            let parts: Vec<_> =
                parts.iter().map(|part| values::object(py, part)).collect::<PyResult<_>>()?;
            py.get_type::<PyComplex>().call1(PyTuple::new(py, parts)?)?
        }
        ("S", Value::String(text)) => PyBytes::new(py, text.as_bytes()).into_any(),
        (_, value) => values::object(py, value)?,
    };
    if "iufbcS".contains(&*kind) {
        return dtype.getattr(intern!(py, "type"))?.call1((value,));
    }
    Ok(value)
}

/// Returns the preferred shape of chunks: about 4 MiB, which are adjacent in the file.
pub(crate) fn chunks<'py>(
    py: Python<'py>,
    shape: &[u64],
    dtype: &Bound<'py, PyAny>,
    order: Order,
) -> PyResult<Bound<'py, PyTuple>> {
    const CHUNK: u64 = 4 << 20;
    let width: u64 = dtype.getattr(intern!(py, "itemsize"))?.extract()?;
    let (mut chunk, mut room) = (shape.to_vec(), CHUNK / width.max(1));
    // From the fastest index to the slowest: whole lengths while they fit, then a part, then single ones.
    let fit = |length: &mut u64| {
        let taken = (*length).min(room.max(1));
        room /= (*length).max(1);
        *length = taken;
    };
    if letter(order) == "F" {
        chunk.iter_mut().for_each(fit);
    } else {
        chunk.iter_mut().rev().for_each(fit);
    }
    PyTuple::new(py, chunk)
}

/// Returns NumPy's letter for the order in memory of an array whose indices have the order of the description.
pub(crate) fn letter(order: Order) -> &'static str {
    if order == Order::Column { "F" } else { "C" }
}

/// Returns whether an array is one text, whose bytes are the elements in the file.
pub(crate) fn is_text(description: &Ndarray) -> bool {
    description.datatype == Datatype::String && description.shape.is_empty()
}

/// Returns the elements that a description contains; `None` if it has none.
pub(crate) fn stated<'py>(
    py: Python<'py>,
    description: &Ndarray,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(value) = &description.value else { return Ok(None) };
    let number = description.datatype.word().filter(|word| *word != "string");
    let value = values::object(py, value)?;
    numpy(py)?.call_method1(intern!(py, "array"), (value, number)).map(Some)
}
