//! What the elements of an array mean, and which of them are looked at.

use super::floats::Converter;
use super::missing::Rules;
use super::selection::Selection;
use crate::error::Result;
use crate::ndl::{Datatype, Ndarray, Order};
use crate::ops::open::PackedArray;
use crate::ra::{ElementKind, ElementType, Header};

/// What elements mean.
#[derive(Debug)]
pub(in crate::ops) enum Meaning {
    /// Numbers.
    Numbers(Converter),
    /// Complex numbers, by their magnitude.
    Magnitudes(Converter),
    /// Integers with names, and how wide they are.
    Names(ElementType, Vec<(String, i128)>),
    /// Nothing that can be counted or drawn, with what they are.
    Other(String),
}

impl Meaning {
    pub(in crate::ops) fn new(element: ElementType, description: Option<&Ndarray>) -> Self {
        let truth = || vec![("false".to_owned(), 0), ("true".to_owned(), 1)];
        match description.map(|description| &description.datatype) {
            Some(Datatype::Enum { members, .. }) => return Self::Names(element, members.clone()),
            Some(Datatype::String) => return Self::Other("text".to_owned()),
            _ => {}
        }
        if element == ElementType::BOOL || element == ElementType::BITS {
            return Self::Names(element, truth());
        }
        let rules = description.map(Rules::new).unwrap_or_default();
        match (Converter::new(element, &rules), element.kind()) {
            (Some(converter), ElementKind::Complex) => Self::Magnitudes(converter),
            (Some(converter), _) => Self::Numbers(converter),
            (None, ElementKind::User) => Self::Other(match description {
                Some(Ndarray { datatype: Datatype::Compound(_), .. }) => "compounds".to_owned(),
                _ => format!("bytes without a meaning (`{element}`)"),
            }),
            (None, _) => Self::Other(format!("`{element}`, which no float of this machine holds")),
        }
    }
}

/// A part of an array that is looked at.
#[derive(Debug)]
pub(in crate::ops) struct Part<'a> {
    pub(in crate::ops) array: &'a PackedArray<'a>,
    pub(in crate::ops) header: Header,
    pub(in crate::ops) description: Option<Ndarray>,
    pub(in crate::ops) order: Order,
    pub(in crate::ops) selection: Selection,
}

impl<'a> Part<'a> {
    /// The part that a slice takes, which is written in the order of the array's indices.
    pub(in crate::ops) fn new(array: &'a PackedArray<'a>, slice: Option<&str>) -> Result<Self> {
        let description = array.description()?;
        let (header, order) = array.layout()?;
        let selection = Selection::new(&header, order, slice)?;
        Ok(Self { array, header, description, order, selection })
    }

    pub(in crate::ops) fn meaning(&self) -> Meaning {
        Meaning::new(self.header.element(), self.description.as_ref())
    }
}
