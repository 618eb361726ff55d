//! What a variable of the header is as a description.

use std::collections::HashSet;

use super::attributes;
use super::header::{Element, Entry};
use crate::interchange::{Error, Variable};
use crate::ndl::{Attribute, Datatype, Extent, Integer, Ndarray, Order, Storage, Value};
use crate::ra::{ElementType, Header};

/// The attribute that names the element for what is missing.
pub(super) const FILL_VALUE: &str = "_FillValue";

/// The number of the member `missing` of a truth value.
pub(super) const MISSING_BOOL: u8 = 2;

/// Truth values, with a third member where some are missing.
pub(super) fn truth(with_missing: bool) -> Datatype {
    let mut members = vec![("false".to_owned(), 0), ("true".to_owned(), 1)];
    if with_missing {
        members.push(("missing".to_owned(), MISSING_BOOL.into()));
    }
    Datatype::Enum { base: Some(Integer::UInt8), members }
}

/// The element of RawArray for a number.
pub(super) fn element_of(datatype: &Datatype) -> Option<ElementType> {
    Some(match datatype {
        Datatype::Int8 => ElementType::INT8,
        Datatype::Int16 => ElementType::INT16,
        Datatype::Int32 => ElementType::INT32,
        Datatype::Int64 => ElementType::INT64,
        Datatype::UInt8 => ElementType::UINT8,
        Datatype::UInt16 => ElementType::UINT16,
        Datatype::UInt32 => ElementType::UINT32,
        Datatype::UInt64 => ElementType::UINT64,
        Datatype::Float32 => ElementType::FLOAT32,
        Datatype::Float64 => ElementType::FLOAT64,
        _ => return None,
    })
}

/// Whether a variable is the coordinate of a dimension: it alone runs along the dimension of its name.
///
/// Without elements it can be none, and neither can a name be that means a path.
pub(super) fn is_coordinate(entry: &Entry) -> bool {
    let alone = entry.dims.as_deref() == Some(std::slice::from_ref(&entry.name));
    let sound = !entry.name.is_empty() && !entry.name.contains('/');
    alone && sound && matches!(entry.size.as_deref(), Some([length]) if *length > 0)
}

/// The description of a variable, without datatype, value and fill: `name` is its own or that of its mask.
pub(super) fn describe(
    entry: &Entry,
    name: &str,
    coordinates: &HashSet<String>,
    losses: &mut Vec<String>,
) -> Ndarray {
    let size = entry.size.as_deref().unwrap_or_default();
    let own = is_coordinate(entry) && name == entry.name;
    let dims = entry.dims.as_deref().unwrap_or_default();
    let mut shape: Vec<Extent> = size.iter().map(|extent| Extent::Fixed(*extent)).collect();
    let mut all_named = true;
    if !own {
        for (extent, dim) in shape.iter_mut().zip(dims) {
            if coordinates.contains(dim) {
                *extent = Extent::Coord(dim.clone());
            } else {
                all_named = false;
            }
        }
    }
    let mut facts: Vec<Attribute> = Vec::new();
    if name == entry.name {
        let of = format!("{name:?}");
        for fact in &entry.attributes {
            if fact.name == attributes::DIMS && !all_named {
                losses.push(format!(
                    "the attribute {:?} of {of} is left out, since it names the dimensions here: {}",
                    fact.name, fact.text
                ));
            } else {
                facts.push(attributes::read(fact, &of, losses));
            }
        }
    }
    if !all_named {
        facts.push(attributes::dims(dims));
    }
    let storage = (size.len() > 1).then(|| Storage { order: Order::Row, ..Storage::default() });
    Ndarray {
        name: name.to_owned(),
        shape,
        datatype: Datatype::String,
        value: None,
        attributes: facts,
        storage,
    }
}

/// Says which element stands for what is missing.
pub(super) fn set_fill(description: &mut Ndarray, value: Value) {
    description.storage.get_or_insert_default().fillvalue = Some(value);
}

/// A variable with data of these elements.
pub(super) fn variable(
    entry: &Entry,
    element: ElementType,
    description: Ndarray,
    losses: Vec<String>,
) -> Result<Variable, Error> {
    let dims = entry.size.iter().flatten().rev().copied().collect();
    let header =
        Header::new(element, dims).map_err(|error| no_header(&entry.name, &error.to_string()))?;
    Ok(Variable { header, description, losses })
}

/// The refusal of a shape that no header of a RawArray has.
pub(super) fn no_header(name: &str, reason: &str) -> Error {
    Error::no_counterpart(format!("{name:?}: {reason}"), "reshape it to fewer dimensions")
}

/// The number that the attribute for missing elements gives, in bits.
pub(super) fn wanted_fill(entry: &Entry) -> Option<Value> {
    let fact = entry.attributes.iter().find(|fact| fact.name == FILL_VALUE)?;
    let attribute = attributes::read(fact, "", &mut Vec::new());
    attribute.shape.is_empty().then_some(attribute.value)
}

/// Whether a variable is a text alone, which has a form of its own.
pub(super) fn is_text(entry: &Entry) -> bool {
    matches!(entry.element, Element::Str | Element::Unicode)
        && entry.size.as_ref().is_some_and(Vec::is_empty)
}
