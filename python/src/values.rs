//! Attributes and other values of descriptions as Python objects.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use ra_pack::ndl::{Attribute, Value};

use crate::errors;

/// Returns a value as a Python object: a number, a text, or a list.
pub(crate) fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::UInt(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::List(parts) => {
            let parts: Vec<_> =
                parts.iter().map(|part| object(py, part)).collect::<PyResult<_>>()?;
            PyList::new(py, parts)?.into_any()
        }
        Value::Map(entries) => {
            let map = PyDict::new(py);
            for (key, value) in entries {
                map.set_item(key, object(py, value)?)?;
            }
            map.into_any()
        }
    })
}

/// Returns attributes as a dict from names to values.
pub(crate) fn attributes<'py>(
    py: Python<'py>,
    attributes: &[Attribute],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for attribute in attributes {
        dict.set_item(&attribute.name, object(py, &attribute.value)?)?;
    }
    Ok(dict)
}

/// Returns the attributes in a dict; `None` has none.
pub(crate) fn entries(dict: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, Value)>> {
    let Some(given) = dict else { return Ok(Vec::new()) };
    let made = given.py().get_type::<PyDict>().call1((given,))?;
    let mut entries = Vec::new();
    for (key, value) in made.cast::<PyDict>()?.iter() {
        let name: String = key.extract()?;
        let value = value_of(&value).map_err(|error| named(&name, &error, given.py()))?;
        entries.push((name, value));
    }
    Ok(entries)
}

fn named(name: &str, error: &PyErr, py: Python<'_>) -> PyErr {
    let message = format!("the attribute `{}`: {}", ra_pack::path::escape(name), error.value(py));
    errors::unsupported(py, &message)
}

/// Returns a Python object as a value. Scalars and arrays of NumPy become numbers and lists.
pub(crate) fn value_of(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = object.py();
    if object.is_none() {
        return Ok(Value::Null);
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(object.extract()?));
    }
    // A float of NumPy is also a float of Python.
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(object.extract()?));
    }
    if object.is_instance_of::<PyInt>() {
        return object
            .extract()
            .map(Value::Int)
            .or_else(|_| object.extract().map(Value::UInt))
            .map_err(|_| refused(py, object));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(text.extract()?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let parts = object.try_iter()?.map(|part| value_of(&part?));
        return Ok(Value::List(parts.collect::<PyResult<_>>()?));
    }
    match object.getattr(intern!(py, "tolist")) {
        Ok(tolist) => {
            let plain = tolist.call0()?;
            if plain.hasattr(intern!(py, "tolist"))? {
                return Err(refused(py, object));
            }
            value_of(&plain)
        }
        Err(_) => Err(refused(py, object)),
    }
}

fn refused(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyErr {
    let shown = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    let message = format!(
        "expected a number of up to 64 bits, a text, or a list of numbers or texts, found `{shown}`"
    );
    errors::unsupported(py, &message)
}
