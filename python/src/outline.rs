//! The structure of a pack as dicts and lists.

use std::borrow::Cow;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use ra_pack::inspect::{OutlineArray, OutlineGroup, OutlineOptions};
use ra_pack::ndl::Ndarray;
use ra_pack::ra::Encoding;

use crate::pack::Shared;
use crate::{numpy, values};

/// Returns the structure of a pack, or of one of its groups.
pub(crate) fn outline<'py>(
    py: Python<'py>,
    pack: &Shared,
    group: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = OutlineOptions { group, ..OutlineOptions::default() };
    let outline = pack.run(py, true, |pack| pack.outline(&options))?;
    let dict = PyDict::new(py);
    dict.set_item("attrs", values::attributes(py, &outline.attributes)?)?;
    let groups = outline.groups().map(|found| {
        let is_root = found.path == "/";
        let attributes = if is_root { &outline.attributes[..] } else { found.attributes };
        group_dict(py, &found, values::attributes(py, attributes)?)
    });
    dict.set_item("groups", PyList::new(py, groups.collect::<PyResult<Vec<_>>>()?)?)?;
    dict.set_item("empty", &outline.empty_directories)?;
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
    dict.set_item(intern!(py, "order"), numpy::letter(array.order))?;
    dict.set_item(intern!(py, "type"), array.element.map(|element| element.to_string()))?;
    // An array that NumPy cannot represent is an error only when it is opened.
    let dtype = array.header().and_then(|header| {
        let made = || Cow::Owned(ra_pack::describe(array.name, header, Encoding::Raw));
        let described = description.map_or_else(made, Cow::Borrowed);
        numpy::dtype(py, array.name, header, &described).ok()
    });
    if let Some(dtype) = &dtype {
        let (shape, order) = (array.shape.get(..rank).unwrap_or_default(), array.order);
        let fill = description.map(|description| numpy::fill_value(py, description, dtype));
        dict.set_item(intern!(py, "chunks"), numpy::chunks(py, shape, dtype, order)?)?;
        dict.set_item(intern!(py, "fill_value"), fill.transpose()?)?;
    }
    let attrs = match description {
        Some(it) => values::of_array(py, &array.attributes, &it.datatype, dtype.as_ref())?,
        None => values::attributes(py, &array.attributes)?,
    };
    dict.set_item(intern!(py, "attrs"), attrs)?;
    dict.set_item(intern!(py, "dtype"), dtype)?;
    let stated = description.filter(|_| array.member.is_none());
    let stated = stated.map(|description| numpy::stated(py, description)).transpose()?;
    dict.set_item(intern!(py, "values"), stated.flatten())?;
    Ok(dict)
}
