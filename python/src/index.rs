//! Indices as in NumPy: integers, slices, `...` and `None`.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyList, PySlice, PyTuple};
use ra_pack::ndarray::SliceInfoElem;

/// A selected part of an array.
#[derive(Debug)]
pub(crate) struct Selection {
    /// An entry for each dimension of the array.
    pub(crate) slice: Vec<SliceInfoElem>,
    /// The shape of the result.
    pub(crate) shape: Vec<u64>,
    /// Whether the result is one element and not an array of one element.
    pub(crate) is_element: bool,
}

/// Returns whether a key has index arrays, or booleans, which NumPy treats as such.
pub(crate) fn is_advanced(key: &Bound<'_, PyAny>) -> bool {
    let is_array = |part: &Bound<'_, PyAny>| {
        part.is_instance_of::<PyList>()
            || part.is_instance_of::<PyTuple>()
            || part.is_instance_of::<PyBool>()
            || part.hasattr("__array__").unwrap_or(false) && part.call_method0("__index__").is_err()
    };
    match key.cast::<PyTuple>() {
        Ok(parts) => parts.iter().any(|part| is_array(&part)),
        Err(_) => is_array(key),
    }
}

/// Returns the part of an array of this shape that `key` selects.
pub(crate) fn select(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Selection> {
    let py = key.py();
    let parts: Vec<Bound<'_, PyAny>> = match key.cast::<PyTuple>() {
        Ok(parts) => parts.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    let ellipses = parts.iter().filter(|part| part.is_instance_of::<PyEllipsis>()).count();
    if ellipses > 1 {
        return Err(PyIndexError::new_err("an index can only have a single ellipsis ('...')"));
    }
    let new = parts.iter().filter(|part| part.is_none()).count();
    let named = parts.len() - ellipses - new;
    let Some(unnamed) = shape.len().checked_sub(named) else {
        return Err(PyIndexError::new_err(format!(
            "too many indices for array: array is {}-dimensional, but {named} were indexed",
            shape.len()
        )));
    };
    let mut selection =
        Selection { slice: Vec::with_capacity(shape.len()), shape: Vec::new(), is_element: false };
    let mut axes = shape.iter().copied().enumerate();
    for part in &parts {
        if part.is_none() {
            selection.shape.push(1);
        } else if part.is_instance_of::<PyEllipsis>() {
            axes.by_ref().take(unnamed).for_each(|(_, length)| selection.take_all(length));
        } else if let Some((axis, length)) = axes.next() {
            selection.take(py, part, axis, length)?;
        }
    }
    axes.for_each(|(_, length)| selection.take_all(length));
    selection.is_element = ellipses == 0 && selection.shape.is_empty();
    Ok(selection)
}

impl Selection {
    /// Returns whether the part has all elements of an array of this shape.
    pub(crate) fn is_all(&self, shape: &[u64]) -> bool {
        let count =
            |shape: &[u64]| shape.iter().map(|length| u128::from(*length)).product::<u128>();
        count(&self.shape) == count(shape)
    }

    fn take_all(&mut self, length: u64) {
        self.slice.push(SliceInfoElem::Slice { start: 0, end: None, step: 1 });
        self.shape.push(length);
    }

    fn take(
        &mut self,
        py: Python<'_>,
        part: &Bound<'_, PyAny>,
        axis: usize,
        length: u64,
    ) -> PyResult<()> {
        let extent = isize::try_from(length)?;
        if let Ok(range) = part.cast::<PySlice>() {
            let indices = range.indices(extent)?;
            let count = isize::try_from(indices.slicelength)?;
            self.shape.push(u64::try_from(count)?);
            let (start, step) = (indices.start, indices.step);
            let last = start + (count - 1).max(0) * step;
            // A negative step reverses a range in the library, and walks down from its start in Python.
            let (low, high) = if step < 0 { (last, start + 1) } else { (start, last + 1) };
            let (start, end) = if count == 0 { (0, 0) } else { (low, high) };
            self.slice.push(SliceInfoElem::Slice { start, end: Some(end), step });
            return Ok(());
        }
        let refused = || {
            PyIndexError::new_err(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer \
                 or boolean arrays are valid indices",
            )
        };
        let index: isize = part.extract().map_err(|error: PyErr| {
            let is_large = error.is_instance_of::<pyo3::exceptions::PyOverflowError>(py);
            if is_large { outside(part, axis, length) } else { refused() }
        })?;
        if !(-extent..extent).contains(&index) {
            return Err(outside(part, axis, length));
        }
        self.slice.push(SliceInfoElem::Index(index));
        Ok(())
    }
}

fn outside(index: &Bound<'_, PyAny>, axis: usize, length: u64) -> PyErr {
    PyIndexError::new_err(format!(
        "index {index} is out of bounds for axis {axis} with size {length}"
    ))
}
