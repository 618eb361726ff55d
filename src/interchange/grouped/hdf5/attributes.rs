//! Attributes of HDF5 objects.

use hdf5_reader::{Attribute as StoredAttribute, Datatype as Stored, StringSize, VarLenKind};

use super::types::{self, Mapped};
use crate::interchange::grouped::{attribute, numbers};
use crate::ndl::{Attribute, Datatype, Integer, Value};

/// Attributes that the layout of a file needs, and what they say is in the shapes.
const LAYOUT: &[&str] = &[
    "CLASS",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_nc3_strict",
];

/// The attributes that are wanted of an object.
pub(super) struct Wanted<'w> {
    /// The object in messages.
    pub(super) of: &'w str,
    /// Whether a list of one element is that element, as in `NetCDF`.
    pub(super) is_netcdf: bool,
    /// Whether `CLASS` and `NAME` are those of a dimension scale.
    pub(super) is_scale: bool,
}

impl Wanted<'_> {
    /// Converts attributes; a loss names each that has no counterpart.
    pub(super) fn convert(
        &self,
        found: &[StoredAttribute],
        losses: &mut Vec<String>,
    ) -> Vec<Attribute> {
        let is_layout = |name: &str| match name {
            "CLASS" | "NAME" => self.is_scale,
            name => LAYOUT.contains(&name),
        };
        let mut attributes: Vec<Attribute> = Vec::new();
        for one in found.iter().filter(|one| !is_layout(&one.name)) {
            match self.attribute(one) {
                Ok(attribute) => attribute.put_into(&mut attributes),
                Err(reason) => {
                    let Self { of, .. } = self;
                    losses
                        .push(format!("the attribute {:?} of {of} is dropped: {reason}", one.name));
                }
            }
        }
        attributes
    }

    fn attribute(&self, found: &StoredAttribute) -> Result<Attribute, String> {
        if found.name.is_empty() {
            return Err("it has no name".to_owned());
        }
        let mut shape = found.shape.clone();
        if self.is_netcdf && shape == [1] {
            shape.clear();
        }
        let is_text = matches!(
            found.datatype,
            Stored::String { .. } | Stored::VarLen { kind: VarLenKind::String, .. }
        );
        if is_text {
            // Text without elements is an empty text in NetCDF.
            if shape == [0] && self.is_netcdf {
                return Ok(attribute(&found.name, Vec::new(), Datatype::String, [Value::from("")]));
            }
            let texts = match &found.datatype {
                Stored::String { size: StringSize::Fixed(_), .. } => found.read_strings(),
                _ if shape.is_empty() => found.read_string().map(|text| vec![text]),
                _ => found.read_strings(),
            };
            let texts = texts.map_err(|error| error.to_string())?;
            let texts = texts.into_iter().map(Value::from).collect();
            return complete(found, shape, Datatype::String, texts);
        }
        let Mapped { datatype, elements, .. } =
            types::convert(&found.datatype, None, &mut Vec::new())?;
        let datatype = match &datatype {
            Datatype::Enum { .. } => datatype.resolved_base().map(Integer::datatype),
            number => types::is_number(number).then(|| number.clone()),
        };
        let datatype = datatype.ok_or("it is neither a number nor text")?;
        let mut bytes = found.raw_data.clone();
        let width = datatype.packed_size().and_then(|size| usize::try_from(size).ok());
        elements.change(&mut bytes, width.unwrap_or(1));
        let values = numbers(&datatype, &bytes);
        complete(found, shape, datatype, values)
    }
}

/// Makes an attribute of this shape, which must have a value for each element.
fn complete(
    found: &StoredAttribute,
    shape: Vec<u64>,
    datatype: Datatype,
    mut values: Vec<Value>,
) -> Result<Attribute, String> {
    let count = shape.iter().try_fold(1_u64, |count, length| count.checked_mul(*length));
    let count = count.and_then(|count| usize::try_from(count).ok());
    // A shape such as `[1000000000, 0]` has no elements but many lists.
    let is_small = shape.len() < 2 || !shape.contains(&0);
    let Some(count) = count.filter(|count| *count <= values.len() && is_small) else {
        return Err(format!("expected elements of shape {shape:?}, found {}", values.len()));
    };
    values.truncate(count);
    Ok(attribute(&found.name, shape, datatype, values))
}
