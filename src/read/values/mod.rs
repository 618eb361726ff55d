//! The values of an array: the selected part, its meaning, and its conversion to numbers.

mod decode;
mod numbers;
mod selection;

pub use self::decode::{Decoded, Decoder, date_of, member_type_name, time_units, type_name};
pub use self::numbers::{Number, scale_and_offset};

pub(crate) use self::decode::time_of;
pub(crate) use self::numbers::{
    Converter, Floats, ReadNumber, ReadPresent, Scaling, float_of, hull, is_number, meant_type,
    read_named, read_number, read_present, real_type, scaled,
};
pub(crate) use self::selection::{ArraySelection, Taken, for_each};

use self::numbers::integer_of;
use crate::error::Result;
use crate::ndl::{Datatype, Ndarray, Order, Value};
use crate::ra::{ElementKind, ElementType, Header};
use crate::read::open::PackedArray;

/// Converts a count to the nearest float.
#[expect(
    clippy::cast_precision_loss,
    reason = "no other conversion exists, and no array has that many elements"
)]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// The meaning of elements.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// Real numbers.
    Numbers(Converter),
    /// Complex numbers, represented by their magnitude.
    Magnitudes(Converter),
    /// Integers with names, and their type.
    Names(ElementType, Vec<(String, i128)>),
    /// Elements that cannot be counted or drawn, with the reason.
    Other(String),
}

impl Meaning {
    /// With `raw`, numbers are not scaled.
    pub(crate) fn new(element: ElementType, description: Option<&Ndarray>, raw: bool) -> Self {
        let element = if raw { element } else { meant_type(element, description) };
        let datatype = description.map(|description| &description.datatype);
        if datatype == Some(&Datatype::String) {
            return Self::Other("text".to_owned());
        }
        if let Some(names) = names_of(element, description) {
            return Self::Names(element, names);
        }
        match (Converter::new(element, description, raw), element.kind()) {
            (Some(converter), ElementKind::Complex) => Self::Magnitudes(converter),
            (Some(converter), _) => Self::Numbers(converter),
            (None, ElementKind::User) => {
                Self::Other(format!("`{}`, not numbers", type_name(element, datatype)))
            }
            (None, _) => Self::Other(format!(
                "`{element}`, which cannot be converted to a float on this machine"
            )),
        }
    }
}

/// Returns the names of numbers: of the members of an enum, of `flag_values` that `flag_meanings` names, and of booleans.
/// With `flag_masks`, a number may have several meanings, so it has no name.
fn names_of(element: ElementType, description: Option<&Ndarray>) -> Option<Vec<(String, i128)>> {
    if let Some(Datatype::Enum { members, .. }) = description.map(|found| &found.datatype) {
        return Some(members.clone());
    }
    if element == ElementType::BOOL || element == ElementType::BITS {
        return Some(vec![("false".to_owned(), 0), ("true".to_owned(), 1)]);
    }
    let description = description.filter(|found| found.attribute("flag_masks").is_none())?;
    let Value::List(values) = description.attribute("flag_values")? else { return None };
    let names: Vec<&str> =
        description.attribute("flag_meanings")?.as_str()?.split_whitespace().collect();
    let name = |(value, name): (&Value, &str)| Some((name.to_owned(), integer_of(element, value)?));
    let is_integer = matches!(element.kind(), ElementKind::Int | ElementKind::UInt);
    let are_each = is_integer && names.len() == values.len();
    are_each.then(|| values.iter().zip(names).map(name).collect())?
}

/// Removes what a description says about the meaning of stored numbers.
pub(crate) fn without_meaning(mut description: Ndarray) -> Ndarray {
    if scale_and_offset(&description).is_some() || time_units(&description).is_some() {
        description.attributes.retain(|attribute| attribute.name != "units");
    }
    description.attributes.retain(|attribute| attribute.name != "flag_values");
    description.unpack();
    description.forget_missing();
    description
}

/// A selected part of an array.
#[derive(Debug)]
pub(crate) struct ArrayPart<'a> {
    pub(crate) array: &'a PackedArray,
    pub(crate) header: Header,
    pub(crate) description: Option<Ndarray>,
    pub(crate) order: Order,
    pub(crate) selection: ArraySelection,
}

impl<'a> ArrayPart<'a> {
    /// Selects the part of a slice, which is given in the order of the array's indices.
    pub(crate) fn new(array: &'a PackedArray, slice: Option<&str>) -> Result<Self> {
        let description = array.description()?;
        let (header, order) = array.layout()?;
        let selection = ArraySelection::new(&header, order, slice);
        let selection = selection.map_err(|error| array.with_dimensions(error))?;
        Ok(Self { array, header, description, order, selection })
    }

    /// Returns the dimensions that the slice leaves, with their numbers in the file, in the order of the shape.
    pub(crate) fn kept(&self) -> Vec<(usize, Taken)> {
        let axes = self.selection.axes().iter().copied().enumerate();
        let mut kept: Vec<_> = axes.filter(|(_, taken)| !taken.is_index).collect();
        if self.order == Order::Row {
            kept.reverse();
        }
        kept
    }

    pub(crate) fn meaning(&self) -> Meaning {
        Meaning::new(self.header.element(), self.description.as_ref(), false)
    }
}
