//! Attributes of HDF5 objects.

use hdf5_reader::Attribute as StoredAttribute;

use super::fault::Result;
use super::types;
use crate::interchange::grouped::{attribute, number_of, values_of};
use crate::ndl::{Attribute, Datatype, Value};

/// Attributes that the layout of a file needs, and what they say is in the shapes.
const LAYOUT: &[&str] = &[
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_nc3_strict",
];

/// The beginning of the attribute `NAME` of a dimension without a variable.
const NO_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";

/// Returns the attribute with this name.
pub(super) fn find<'a>(all: &'a [StoredAttribute], name: &str) -> Option<&'a StoredAttribute> {
    all.iter().find(|attribute| attribute.name == name)
}

/// Returns whether an object with these attributes is a dimension scale.
pub(super) fn is_scale(all: &[StoredAttribute]) -> bool {
    text(all, "CLASS").is_some_and(|class| class == "DIMENSION_SCALE")
}

/// Returns whether an object with these attributes is a dimension of NetCDF-4 without a variable.
pub(super) fn is_dimension_only(all: &[StoredAttribute]) -> bool {
    is_scale(all) && text(all, "NAME").is_some_and(|name| name.starts_with(NO_VARIABLE))
}

fn text(all: &[StoredAttribute], name: &str) -> Option<String> {
    find(all, name)?.read_string().ok()
}

/// Converts the attributes of an object, which messages call `of`. A loss names each that has no counterpart.
pub(super) fn convert(
    all: &[StoredAttribute],
    of: &str,
    is_netcdf: bool,
    losses: &mut Vec<String>,
) -> Vec<Attribute> {
    let is_scale = is_scale(all);
    let is_layout = |name: &str| match name {
        "CLASS" | "NAME" => is_scale,
        name => LAYOUT.contains(&name),
    };
    let mut attributes = Vec::new();
    for one in all.iter().filter(|one| !is_layout(&one.name)) {
        match convert_one(one, is_netcdf) {
            Ok(attribute) => attribute.put_into(&mut attributes),
            Err(reason) => {
                losses.push(format!("the attribute {:?} of {of} is dropped: {reason}", one.name));
            }
        }
    }
    attributes
}

fn convert_one(found: &StoredAttribute, is_netcdf: bool) -> Result<Attribute> {
    let StoredAttribute { name, shape, .. } = found;
    if name.is_empty() {
        return Err("it has no name".into());
    }
    let count = usize::try_from(found.num_elements()?)?;
    let (datatype, mut values) = if types::text_of(&found.datatype).is_none() {
        let (datatype, changes) = types::convert(&found.datatype, None, &mut Vec::new())?;
        let number = number_of(&datatype).filter(|number| number.packed_size() <= Some(8));
        let number = number.ok_or("it is neither a number nor text")?;
        let mut bytes = found.raw_data.clone();
        types::change(&mut bytes, &changes, hdf5_reader::dtype_element_size(&found.datatype)?);
        let values = values_of(&number, &bytes);
        (number, values)
    } else if *shape == [0] && is_netcdf {
        // Text without elements is an empty text in NetCDF.
        return Ok(attribute(name, Vec::new(), Datatype::String, vec![Value::from("")]));
    } else {
        let texts = match count {
            1 => found.read_string().map(|text| vec![text]),
            _ => found.read_strings(),
        };
        (Datatype::String, texts?.into_iter().map(Value::from).collect())
    };
    // A shape such as `[1000000000, 0]` has no elements but many lists.
    if count > values.len() || (shape.len() > 1 && shape.contains(&0)) {
        let reason = format!("expected elements of shape {shape:?}, found {}", values.len());
        return Err(reason.into());
    }
    values.truncate(count);
    // A list of one element is that element in NetCDF.
    let shape = if is_netcdf && *shape == [1] { Vec::new() } else { shape.clone() };
    Ok(attribute(name, shape, datatype, values))
}
