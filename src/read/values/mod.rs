//! The values of an array: the selected part, its meaning, and its conversion to numbers.

mod numbers;
mod selection;

pub use self::numbers::{Number, scale_and_offset};

pub(crate) use self::numbers::{
    Converter, Floats, ReadNumber, float_of, hull, is_number, read_number, real_type,
};
pub(crate) use self::selection::{ArraySelection, Taken, for_each};

use crate::error::Result;
use crate::ndl::{Datatype, Ndarray, Order};
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
    pub(crate) fn new(element: ElementType, description: Option<&Ndarray>) -> Self {
        let truth = || vec![("false".to_owned(), 0), ("true".to_owned(), 1)];
        match description.map(|description| &description.datatype) {
            Some(Datatype::Enum { members, .. }) => return Self::Names(element, members.clone()),
            Some(Datatype::String) => return Self::Other("text".to_owned()),
            _ => {}
        }
        if element == ElementType::BOOL || element == ElementType::BITS {
            return Self::Names(element, truth());
        }
        match (Converter::new(element, description), element.kind()) {
            (Some(converter), ElementKind::Complex) => Self::Magnitudes(converter),
            (Some(converter), _) => Self::Numbers(converter),
            (None, ElementKind::User) => Self::Other(match description {
                Some(Ndarray { datatype: Datatype::Compound(_), .. }) => "compounds".to_owned(),
                _ => format!("bytes without a meaning (`{element}`)"),
            }),
            (None, _) => Self::Other(format!(
                "`{element}`, which cannot be converted to a float on this machine"
            )),
        }
    }
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
        Meaning::new(self.header.element(), self.description.as_ref())
    }
}
