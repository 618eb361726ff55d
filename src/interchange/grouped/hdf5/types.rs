//! Datatypes of HDF5 as those of descriptions, and the changes that make their elements little-endian.

use std::collections::HashSet;

use hdf5_reader::VarLenKind;
use hdf5_reader::messages::datatype::Datatype as Stored;
use hdf5_reader::{
    ByteOrder, CompoundField, EnumMember, StringEncoding, StringPadding, StringSize,
};

use super::data::{Change, ChangeKind, Elements};
use crate::interchange::grouped::{TEXT_TAG, numbers};
use crate::interchange::{element_of_word, truth};
use crate::ndl::{Datatype, Integer};
use crate::ra::{ElementKind, ElementType};

/// Most changes in one element, because each element is changed in a loop.
const MAX_CHANGES: usize = 1 << 16;

/// A converted datatype.
pub(super) struct Mapped {
    pub(super) datatype: Datatype,
    pub(super) element: ElementType,
    pub(super) elements: Elements,
}

/// Converts a datatype; `raw` is its message, if it is known. An error is the reason why it has no counterpart.
pub(super) fn convert(
    stored: &Stored,
    raw: Option<&[u8]>,
    losses: &mut Vec<String>,
) -> Result<Mapped, String> {
    if let Some(is_utf8) = text_of_any_length(stored) {
        let datatype = Datatype::Opaque { size: 1, tag: Some(TEXT_TAG.to_owned()) };
        let element = ElementType::new(0, 1).map_err(|error| error.to_string())?;
        let elements = Elements { changes: Vec::new(), is_utf8, is_any_length: true };
        return Ok(Mapped { datatype, element, elements });
    }
    let mut converter = Converter { raw, changes: Vec::new(), losses };
    let datatype = converter.datatype(stored, 0)?;
    let changes = converter.changes;
    let size = datatype.packed_size().ok_or("its elements have no fixed size")?;
    let number = match &datatype {
        Datatype::Enum { .. } => datatype.resolved_base().map(Integer::datatype),
        other => Some(other.clone()),
    };
    let element = match (number.as_ref().and_then(element_of_word), is_complex(&datatype)) {
        (Some(element), _) => Ok(element),
        (None, true) => ElementType::new(ElementKind::Complex.eltype(), size),
        (None, false) => ElementType::new(ElementKind::User.eltype(), size),
    };
    let element = element.map_err(|error| error.to_string())?;
    let is_utf8 = matches!(stored, Stored::String { encoding: StringEncoding::Utf8, .. });
    Ok(Mapped { datatype, element, elements: Elements { changes, is_utf8, is_any_length: false } })
}

/// Returns whether a datatype is a number that attributes can have.
pub(super) fn is_number(datatype: &Datatype) -> bool {
    let is_float = matches!(datatype, Datatype::Float16 | Datatype::Float32 | Datatype::Float64);
    datatype.integer().is_some() || is_float
}

/// Returns whether text of any length is in UTF-8; `None` for other types.
pub(super) fn text_of_any_length(stored: &Stored) -> Option<bool> {
    match stored {
        Stored::VarLen { kind: VarLenKind::String, encoding, .. }
        | Stored::String { size: StringSize::Variable, encoding, .. } => {
            Some(*encoding == StringEncoding::Utf8)
        }
        _ => None,
    }
}

/// Returns whether the members are the parts of a complex number.
fn is_complex(datatype: &Datatype) -> bool {
    let Datatype::Compound(members) = datatype else { return false };
    matches!(&members[..], [(r, first), (i, second)] if r == "r" && i == "i" && first == second
        && matches!(first, Datatype::Float32 | Datatype::Float64))
}

/// Returns the word for a number; an error if there is none.
fn number(kind: &str, size: u8) -> Result<Datatype, String> {
    let word = format!("{kind}{}", u64::from(size) * 8);
    Datatype::from_word(&word).ok_or_else(|| format!("it has numbers of the type {word}"))
}

struct Converter<'c> {
    /// The message of the whole datatype, which has the layout of the bits of numbers, unless it is not known.
    raw: Option<&'c [u8]>,
    changes: Vec<Change>,
    losses: &'c mut Vec<String>,
}

impl Converter<'_> {
    /// Converts a datatype that is at an offset of each element.
    fn datatype(&mut self, stored: &Stored, at: usize) -> Result<Datatype, String> {
        match stored {
            Stored::FixedPoint { size, signed, byte_order } => {
                let bits = u16::from(*size) * 8;
                self.check_layout(*size, bits, &[])?;
                self.swap(at, *size, *byte_order)?;
                number(if *signed { "int" } else { "uint" }, *size)
            }
            Stored::FloatingPoint { size, byte_order } => {
                self.swap(at, *size, *byte_order)?;
                self.float(*size)
            }
            Stored::Bitfield { size, byte_order } => {
                self.swap(at, *size, *byte_order)?;
                number("uint", *size)
            }
            Stored::String { size: StringSize::Fixed(size), padding, .. } => {
                let len = usize::try_from(*size).map_err(|error| error.to_string())?;
                match padding {
                    StringPadding::NullPad => {}
                    StringPadding::NullTerminate => self.change(ChangeKind::Terminated, at, len)?,
                    StringPadding::SpacePad => self.change(ChangeKind::Spaces, at, len)?,
                }
                Ok(Datatype::Opaque { size: u64::from(*size), tag: Some(TEXT_TAG.to_owned()) })
            }
            Stored::Opaque { size, tag } => {
                let tag = Some(tag.clone()).filter(|tag| !tag.is_empty());
                Ok(Datatype::Opaque { size: u64::from(*size), tag })
            }
            Stored::Enum { base, members } => self.enumeration(base, members, at),
            Stored::Compound { size, fields } => self.compound(*size, fields, at),
            Stored::Array { base, dims } => self.array(base, dims, at),
            Stored::Reference { .. } => Err("it has references to other objects".to_owned()),
            Stored::VarLen { .. } | Stored::String { .. } => {
                Err("its elements are lists of any length".to_owned())
            }
        }
    }

    fn change(&mut self, kind: ChangeKind, at: usize, len: usize) -> Result<(), String> {
        if self.changes.len() == MAX_CHANGES {
            return Err(format!("its elements have more than {MAX_CHANGES} parts to convert"));
        }
        self.changes.push(Change { kind, at, len });
        Ok(())
    }

    fn swap(&mut self, at: usize, size: u8, order: ByteOrder) -> Result<(), String> {
        if order == ByteOrder::BigEndian && size > 1 {
            self.change(ChangeKind::Swapped, at, usize::from(size))?;
        }
        Ok(())
    }

    /// Returns whether the message has a number of this size with these fields.
    fn has_layout(&self, size: u8, bits: u16, rest: &[u8]) -> bool {
        let bits = bits.to_le_bytes();
        let wanted = [&u32::from(size).to_le_bytes()[..], &[0, 0], &bits, rest].concat();
        let has = |raw: &[u8]| raw.windows(wanted.len()).any(|window| window == wanted);
        self.raw.is_none_or(has)
    }

    /// Checks that a number uses all of its bits in the usual way.
    fn check_layout(&self, size: u8, bits: u16, rest: &[u8]) -> Result<(), String> {
        if self.has_layout(size, bits, rest) {
            return Ok(());
        }
        Err(format!("it has numbers of {size} bytes of an unusual format"))
    }

    fn float(&self, size: u8) -> Result<Datatype, String> {
        // Positions and sizes of the exponent and of the mantissa, and the bias.
        let (rest, word) = match size {
            2 if self.raw.is_some() && self.has_layout(2, 16, &[7, 8, 0, 7, 127, 0, 0, 0]) => {
                return Ok(Datatype::BFloat16);
            }
            2 => ([10, 5, 0, 10, 15, 0, 0, 0], "float16"),
            4 => ([23, 8, 0, 23, 127, 0, 0, 0], "float32"),
            8 => ([52, 11, 0, 52, 255, 3, 0, 0], "float64"),
            size => return Err(format!("it has floats of {size} bytes")),
        };
        self.check_layout(size, u16::from(size) * 8, &rest)?;
        Datatype::from_word(word).ok_or_else(|| format!("`{word}` is unknown"))
    }

    fn enumeration(
        &mut self,
        base: &Stored,
        members: &[EnumMember],
        at: usize,
    ) -> Result<Datatype, String> {
        let Stored::FixedPoint { byte_order, .. } = base else {
            return Err("it has an enum of other elements than integers".to_owned());
        };
        let base = self.datatype(base, at)?;
        let integer = base.integer().ok_or_else(|| format!("it has an enum of `{base}`"))?;
        let converted = |member: &EnumMember| {
            let mut bytes = member.value.clone();
            if *byte_order == ByteOrder::BigEndian {
                bytes.reverse();
            }
            let number = numbers(&base, &bytes).first()?.as_integer()?;
            Some((member.name.clone(), number))
        };
        let members = members.iter().map(converted).collect::<Option<Vec<_>>>();
        let members = members.ok_or("a member of its enum has no value")?;
        let booleans = [("FALSE".to_owned(), 0), ("TRUE".to_owned(), 1)];
        if integer.size() == 1 && members == booleans {
            return Ok(truth());
        }
        let numbers: HashSet<_> = members.iter().map(|(_, number)| *number).collect();
        let names: HashSet<_> = members.iter().map(|(name, _)| name).collect();
        let is_valid = !members.is_empty()
            && numbers.len() == members.len()
            && names.len() == members.len()
            && !names.iter().any(|name| name.is_empty());
        if !is_valid {
            let list: Vec<_> =
                members.iter().map(|(name, number)| format!("{name} {number}")).collect();
            let list = list.join(", ");
            self.losses
                .push(format!("its enum is dropped, whose members are not distinct: {list}"));
            return Ok(base);
        }
        Ok(Datatype::Enum { base: Some(integer), members })
    }

    fn compound(
        &mut self,
        size: u32,
        fields: &[CompoundField],
        at: usize,
    ) -> Result<Datatype, String> {
        let mut fields: Vec<_> = fields.iter().collect();
        fields.sort_by_key(|field| field.byte_offset);
        let names: HashSet<_> = fields.iter().map(|field| field.name.as_str()).collect();
        if names.len() < fields.len() || names.contains("") {
            return Err("members of its compound do not have distinct names".to_owned());
        }
        let mut free = (0..).map(|number| format!("_pad{number}"));
        let (mut members, mut end) = (Vec::new(), 0_u64);
        let mut pad = |members: &mut Vec<_>, from: u64, to: u64| -> Result<(), String> {
            let size = to.checked_sub(from).ok_or("members of its compound overlap")?;
            if size > 0 {
                let name = free.find(|name| !names.contains(name.as_str()));
                let name = name.ok_or("its compound has too many members")?;
                members.push((name, Datatype::Opaque { size, tag: None }));
            }
            Ok(())
        };
        for field in fields {
            let offset = u64::from(field.byte_offset);
            pad(&mut members, end, offset)?;
            let inner = usize::try_from(offset).ok().and_then(|offset| at.checked_add(offset));
            let datatype =
                self.datatype(&field.datatype, inner.ok_or("its compound is too large")?)?;
            let len = datatype.packed_size().ok_or("a member has no fixed size")?;
            end = offset.checked_add(len).ok_or("its compound is too large")?;
            members.push((field.name.clone(), datatype));
        }
        pad(&mut members, end, u64::from(size))?;
        if members.is_empty() {
            return Err("its compound has no members".to_owned());
        }
        Ok(Datatype::Compound(members))
    }

    fn array(&mut self, base: &Stored, dims: &[u64], at: usize) -> Result<Datatype, String> {
        let before = self.changes.len();
        let inner = self.datatype(base, at)?;
        let len = inner.packed_size().and_then(|size| usize::try_from(size).ok());
        let count = dims.iter().try_fold(1_u64, |count, dim| count.checked_mul(*dim));
        let (Some(len), Some(count @ 1..)) = (len, count) else {
            return Err("it has small arrays without a size".to_owned());
        };
        let first = self.changes.split_off(before);
        for index in (0..count).take_while(|_| !first.is_empty()) {
            let offset = usize::try_from(index).ok().and_then(|index| index.checked_mul(len));
            let offset = offset.ok_or("its small arrays are too large")?;
            for change in &first {
                self.change(change.kind, change.at + offset, change.len)?;
            }
        }
        Ok(Datatype::Array { base: Box::new(inner), shape: dims.to_vec() })
    }
}
