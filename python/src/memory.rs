//! The memory of NumPy arrays as bytes, and mapped archives. All unsafe code of the module is here.

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use ra_pack::{Pack, PackedArray, Result};

use crate::numpy::numpy;

/// Returns the address of the first element of a contiguous array with `len` bytes.
fn address(array: &Bound<'_, PyAny>, len: usize) -> PyResult<usize> {
    let py = array.py();
    // A subclass may give another address.
    if !array.get_type().is(&numpy(py)?.getattr(intern!(py, "ndarray"))?) {
        return Err(PyTypeError::new_err("expected an array of NumPy itself, found a subclass"));
    }
    let interface = array.getattr(intern!(py, "__array_interface__"))?;
    let (address, _): (usize, bool) = interface.get_item(intern!(py, "data"))?.extract()?;
    let found: usize = array.getattr(intern!(py, "nbytes"))?.extract()?;
    if found != len {
        let message = format!("expected an array of {len} bytes, found {found}");
        return Err(PyRuntimeError::new_err(message));
    }
    Ok(address)
}

/// Calls `fill` with the memory of a contiguous array that may be changed: one that `numpy.zeros` made and that nothing
/// else refers to, or one of the caller's program, which must not use it in another thread during the call.
#[expect(unsafe_code, reason = "NumPy owns the memory")]
pub(crate) fn fill<R>(
    array: &Bound<'_, PyAny>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> R,
) -> PyResult<R> {
    if len == 0 {
        return Ok(fill(&mut []));
    }
    let address = address(array, len)?;
    let start = std::ptr::with_exposed_provenance_mut::<u8>(address);
    // SAFETY: the array is contiguous and may be changed, as the caller checks, and its `nbytes` bytes begin at this
    // address; `nbytes` is `len`. `array` keeps them allocated during the call. They are memory of NumPy, which the
    // compiler does not know to be uninitialized even if `numpy.empty` made them. Only the caller has a new array. The
    // documentation of `Array.read` requires that no other thread uses an array that is passed as `out`.
    let bytes = unsafe { std::slice::from_raw_parts_mut(start, len) };
    Ok(fill(bytes))
}

/// Calls `look` with the memory of a contiguous array.
///
/// As with NumPy's own functions that release the lock of the interpreter, the caller's program must not change the
/// array in another thread during the call.
#[expect(unsafe_code, reason = "NumPy owns the memory")]
pub(crate) fn look<R>(
    array: &Bound<'_, PyAny>,
    len: usize,
    look: impl FnOnce(&[u8]) -> R,
) -> PyResult<R> {
    if len == 0 {
        return Ok(look(&[]));
    }
    let address = address(array, len)?;
    let start = std::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: the array is contiguous, as the caller checks, and its `nbytes` initialized bytes begin at this address;
    // `nbytes` is `len`. `array` keeps them allocated during the call. The documentation of `PackWriter.add` requires
    // that no other thread changes them. The bytes are only copied to a file.
    let bytes = unsafe { std::slice::from_raw_parts(start, len) };
    Ok(look(bytes))
}

/// Maps an archive. The documentation of `Array.view` requires that the file does not change or shrink.
#[expect(unsafe_code, reason = "only the user can know that the mapped file does not change")]
pub(crate) fn map(path: &std::path::Path) -> Result<Pack> {
    // SAFETY: the documentation of `Array.view`, the only caller, passes the requirement on to the user.
    unsafe { Pack::map(path) }
}

/// The elements of an array in a mapped archive, for NumPy. It keeps the archive mapped.
#[pyclass(frozen)]
pub(crate) struct Mapped {
    pub(crate) array: PackedArray,
}

#[pymethods]
impl Mapped {
    /// Returns the address and the length of the bytes, for `numpy.asarray`.
    #[getter]
    fn __array_interface__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let bytes = self.array.view_bytes().map_err(crate::errors::raised)?;
        let interface = pyo3::types::PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("shape", (bytes.len(),))?;
        interface.set_item("data", (bytes.as_ptr().expose_provenance(), true))?;
        Ok(interface)
    }
}
