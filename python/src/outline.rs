//! The structure of a pack as dicts and lists.

use std::path::Path;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use ra_pack::Progress;
use ra_pack::info::{self, OutlineArray, OutlineGroup, OutlineOptions};
use ra_pack::ndl::Ndarray;

use crate::interrupt::long;
use crate::{numpy, values};

/// Returns the structure of the pack at `path`, or of one of its groups.
pub(crate) fn outline<'py>(
    py: Python<'py>,
    path: &Path,
    group: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut options = OutlineOptions::default();
    options.group = group;
    options.progress = Progress::new();
    let outline = long(py, &options.progress, || info::outline(path, &options))?;
    let dict = PyDict::new(py);
    dict.set_item("attrs", values::attributes(py, &outline.attributes)?)?;
    let groups = outline.groups().map(|found| {
        let is_root = found.path == "/";
        let attributes = if is_root { &outline.attributes[..] } else { found.attributes };
        group_dict(py, &found, values::attributes(py, attributes)?)
    });
    dict.set_item("groups", PyList::new(py, groups.collect::<PyResult<Vec<_>>>()?)?)?;
    Ok(dict)
}

fn group_dict<'py>(
    py: Python<'py>,
    group: &OutlineGroup<'_>,
    attrs: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let path = group.path.trim_matches('/');
    dict.set_item("path", path)?;
    dict.set_item("attrs", attrs)?;
    let dimensions = group.dimensions.iter().map(|dimension| {
        let dict = PyDict::new(py);
        let coordinate = dimension.coordinate.as_ref().map(|path| path.trim_start_matches('/'));
        dict.set_item("name", &dimension.name)?;
        dict.set_item("length", dimension.length)?;
        dict.set_item("coordinate", coordinate)?;
        Ok(dict)
    });
    dict.set_item("dimensions", PyList::new(py, dimensions.collect::<PyResult<Vec<_>>>()?)?)?;
    let arrays = |arrays: &mut dyn Iterator<Item = OutlineArray<'_>>| {
        let arrays = arrays.map(|array| array_dict(py, &array));
        PyList::new(py, arrays.collect::<PyResult<Vec<_>>>()?)
    };
    dict.set_item("coordinates", arrays(&mut group.coordinates())?)?;
    dict.set_item("variables", arrays(&mut group.variables())?)?;
    Ok(dict)
}

fn array_dict<'py>(py: Python<'py>, array: &OutlineArray<'_>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let member = array.member.map(|member| member.strip_suffix(".ra").unwrap_or(member));
    dict.set_item(intern!(py, "name"), array.name)?;
    dict.set_item(intern!(py, "array"), member)?;
    let description: Option<&Ndarray> = array.description.as_deref();
    // The elements of a text are its bytes, and NumPy has the text as one element.
    let rank = if description.is_some_and(numpy::is_text) { 0 } else { array.shape.len() };
    let shape: Vec<_> = array.shape.iter().take(rank).collect();
    dict.set_item(intern!(py, "shape"), PyTuple::new(py, shape)?)?;
    let names: Vec<_> = array.dimensions.iter().take(rank).map(Option::as_deref).collect();
    dict.set_item(intern!(py, "dims"), PyTuple::new(py, names)?)?;
    dict.set_item(intern!(py, "attrs"), values::attributes(py, &array.attributes)?)?;
    dict.set_item(intern!(py, "order"), numpy::letter(array.order))?;
    dict.set_item(intern!(py, "element"), array.element.map(|element| element.to_string()))?;
    let storage = description.and_then(|description| description.storage.as_ref());
    let fill = storage.and_then(|storage| storage.fillvalue.as_ref());
    let fill = fill.map(|value| values::object(py, value)).transpose()?;
    dict.set_item(intern!(py, "fill_value"), fill)?;
    let stated = description.filter(|_| array.member.is_none());
    let stated = stated.map(|description| numpy::stated(py, description)).transpose()?;
    dict.set_item(intern!(py, "values"), stated.flatten())?;
    Ok(dict)
}
