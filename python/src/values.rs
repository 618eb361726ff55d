//! Attributes and other values of descriptions as Python objects.

use std::collections::BTreeSet;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use ra_pack::ndl::{Attribute, Datatype, Ndarray, Value};
use ra_pack::read::time_units;
use ra_pack::time::Calendar;

use crate::errors;
use crate::numpy::numpy;

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

/// Returns a dict that refuses changes, which would not change the pack.
pub(crate) fn read_only(dict: Bound<'_, PyDict>) -> PyResult<Bound<'_, PyAny>> {
    dict.py().import("ra_pack._array")?.getattr("ReadOnly")?.call1((dict,))
}

/// Returns attributes as a dict from names to values.
pub(crate) fn attributes<'py>(
    py: Python<'py>,
    attributes: &[Attribute],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for attribute in attributes {
        dict.set_item(&attribute.name, attribute_object(py, attribute)?)?;
    }
    Ok(dict)
}

/// Returns the value of an attribute. Numbers of types that Python does not have are those of NumPy.
fn attribute_object<'py>(py: Python<'py>, attribute: &Attribute) -> PyResult<Bound<'py, PyAny>> {
    let value = object(py, &attribute.value)?;
    if attribute.short || !is_of_numpy(&attribute.datatype) {
        return Ok(value);
    }
    let array =
        numpy(py)?.call_method1(intern!(py, "array"), (value, attribute.datatype.word()))?;
    if attribute.shape.is_empty() { array.get_item(PyTuple::empty(py)) } else { Ok(array) }
}

/// Returns whether NumPy has this type of numbers and Python does not.
fn is_of_numpy(datatype: &Datatype) -> bool {
    let is_integer = datatype.integer().is_some_and(|_| *datatype != Datatype::Int64);
    is_integer || matches!(datatype, Datatype::Float16 | Datatype::Float32)
}

/// Returns the attributes of an array as a dict, with the names of an enum as those of the CF conventions.
pub(crate) fn of_array<'py>(
    py: Python<'py>,
    stated: &[Attribute],
    datatype: &Datatype,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = attributes(py, stated)?;
    let kind = dtype.map(|dtype| dtype.getattr(intern!(py, "kind"))?.extract::<String>());
    // A truth value needs no names.
    if kind.transpose()?.as_deref() != Some("b") {
        dict.update(attributes(py, &datatype.flags(stated))?.as_mapping())?;
    }
    Ok(dict)
}

/// Takes the names that attributes give to integers of this type, and returns the enum; `None` if they do not name them
/// as [`Datatype::flags`] does, or do not name the fill value, which must be a member of an enum.
pub(crate) fn take_enum(
    datatype: &Datatype,
    attributes: &mut Vec<Attribute>,
    fill_value: Option<&Value>,
) -> Option<Datatype> {
    let base = datatype.integer()?;
    let find = |name: &str| attributes.iter().find(|attribute| attribute.name == name);
    let (values, meanings) = (find("flag_values")?, find("flag_meanings")?.value.as_str()?);
    let Value::List(numbers) = &values.value else { return None };
    let numbers: Vec<_> = numbers.iter().map(Value::as_integer).collect::<Option<_>>()?;
    let names: Vec<_> = meanings.split(' ').map(str::to_owned).collect();
    let is_unique = numbers.iter().collect::<BTreeSet<_>>().len() == numbers.len()
        && names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let is_plain = |name: &String| !name.is_empty() && !name.contains(char::is_whitespace);
    if numbers.len() != names.len()
        || !is_unique
        || !names.iter().all(is_plain)
        || !numbers.iter().all(|number| base.holds(*number))
        || find("flag_masks").is_some()
        || fill_value.is_some_and(|fill| !numbers.iter().any(|it| fill.as_integer() == Some(*it)))
    {
        return None;
    }
    attributes.retain(|one| one.name != "flag_values" && one.name != "flag_meanings");
    Some(Datatype::Enum { base: Some(base), members: names.into_iter().zip(numbers).collect() })
}

/// Returns the attributes in a dict; `None` has none.
pub(crate) fn entries(dict: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Attribute>> {
    let Some(given) = dict else { return Ok(Vec::new()) };
    let made = given.py().get_type::<PyDict>().call1((given,))?;
    let mut entries = Vec::new();
    for (key, value) in made.cast::<PyDict>()?.iter() {
        let name: String = key.extract()?;
        let attribute =
            attribute_of(&name, &value).map_err(|error| named(&name, &error, given.py()))?;
        entries.push(attribute);
    }
    Ok(entries)
}

fn named(name: &str, error: &PyErr, py: Python<'_>) -> PyErr {
    let message = format!("the attribute `{}`: {}", ra_pack::path::escape(name), error.value(py));
    if error.is_instance_of::<PyValueError>(py) {
        return PyValueError::new_err(message);
    }
    errors::unsupported(py, &message)
}

fn attribute_of(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Attribute> {
    if let Some(attribute) = typed_attribute(name, object)? {
        return Ok(attribute);
    }
    Attribute::new(name, value_of(object)?).ok_or_else(|| {
        let message = "expected a number, a text, or a list of at least one number or text";
        errors::unsupported(object.py(), message)
    })
}

/// Returns an attribute with the type of a number or an array of NumPy; `None` if a plain value has that type.
fn typed_attribute(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Option<Attribute>> {
    let py = object.py();
    // The type of a list of numbers of NumPy is that of an array of them.
    let has_dtype = |one: &Bound<'_, PyAny>| one.hasattr(intern!(py, "dtype"));
    let first = object.cast::<PyList>().ok().and_then(|list| list.get_item(0).ok());
    let object = &match first {
        Some(first) if has_dtype(&first)? => {
            numpy(py)?.call_method1(intern!(py, "array"), (object,))?
        }
        _ => object.clone(),
    };
    let Ok(dtype) = object.getattr(intern!(py, "dtype")) else { return Ok(None) };
    let word: String = dtype.getattr(intern!(py, "name"))?.extract()?;
    let datatype = Datatype::from_word(&word);
    let datatype =
        datatype.filter(|it| it.integer().is_some() || *it == Datatype::Float64 || is_of_numpy(it));
    let Some(datatype) = datatype else { return Ok(None) };
    let shape: Vec<u64> = object.getattr(intern!(py, "shape"))?.extract()?;
    if shape.is_empty() && !is_of_numpy(&datatype) {
        return Ok(None);
    }
    let (value, storage) = (value_of(&plain(object)?)?, None);
    Ok(Some(Attribute { name: name.to_owned(), shape, datatype, value, storage, short: false }))
}

/// Returns a number or an array of NumPy as numbers and lists of Python. Narrow floats are the numbers with the fewest
/// digits that are stored in the same way.
fn plain<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let mut object = object.clone();
    if let Ok(dtype) = object.getattr(intern!(py, "dtype")) {
        let word: String = dtype.getattr(intern!(py, "name"))?.extract()?;
        if matches!(&*word, "float16" | "float32") {
            let astype = intern!(py, "astype");
            object = object.call_method1(astype, ("U",))?.call_method1(astype, ("f8",))?;
        }
    }
    object.call_method0(intern!(py, "tolist"))
}

/// Returns a Python object as a value. Scalars and arrays of NumPy become numbers and lists.
pub(crate) fn value_of(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_within(object, MOST_DEPTH)
}

/// Deepest nesting of lists in a value, as in an array of NumPy. A list may contain itself.
const MOST_DEPTH: usize = 64;

fn value_within(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let py = object.py();
    let Some(below) = depth.checked_sub(1) else {
        let message = format!("expected lists nested at most {MOST_DEPTH} deep");
        return Err(PyValueError::new_err(message));
    };
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
        let parts = object.try_iter()?.map(|part| value_within(&part?, below));
        return Ok(Value::List(parts.collect::<PyResult<_>>()?));
    }
    if !object.hasattr(intern!(py, "tolist"))? {
        return Err(refused(py, object));
    }
    let plain = plain(object)?;
    if plain.hasattr(intern!(py, "tolist"))? {
        return Err(refused(py, object));
    }
    value_within(&plain, below)
}

fn refused(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyErr {
    let shown = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    let message = format!(
        "expected a number of up to 64 bits, a text, or a list of numbers or texts, found `{shown}`"
    );
    errors::unsupported(py, &message)
}

/// Returns the units of times: the date of the number 0, the nanoseconds of 1, and whether the calendar is Julian before
/// 1582; `None` for calendars that NumPy does not have.
pub(crate) fn times(description: &Ndarray) -> Option<(String, i64, Option<bool>)> {
    let units = time_units(description)?;
    let is_mixed = match units.calendar {
        Calendar::Standard => Some(true),
        Calendar::ProlepticGregorian => Some(false),
        _ => None,
    };
    Some((units.text(units.epoch)?, units.unit, is_mixed))
}
