//! Datatypes of HDF5 as those of descriptions, and the changes that make their elements little-endian.

use std::collections::HashSet;

use hdf5_reader::messages::datatype::Datatype as Stored;
use hdf5_reader::{
    ByteOrder, CompoundField, EnumMember, StringEncoding, StringPadding, StringSize, VarLenKind,
};

use super::fault::Result;
use crate::interchange::grouped::{text, values_of};
use crate::interchange::truth;
use crate::ndl::Datatype;

/// Most changes in one element, because each element is changed in a loop.
const MAX_CHANGES: usize = 1 << 16;

/// The floats by their size in bytes, with the positions and sizes of the exponent and of the mantissa, and the bias.
const FLOATS: [(u8, [u8; 8], Datatype); 4] = [
    (2, [10, 5, 0, 10, 15, 0, 0, 0], Datatype::Float16),
    (2, [7, 8, 0, 7, 127, 0, 0, 0], Datatype::BFloat16),
    (4, [23, 8, 0, 23, 127, 0, 0, 0], Datatype::Float32),
    (8, [52, 11, 0, 52, 255, 3, 0, 0], Datatype::Float64),
];

/// A change of the bytes of each element from an offset on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    at: u64,
    len: u64,
    apply: fn(&mut [u8]),
}

/// Changes each of these elements, which have `size` bytes.
pub(super) fn change(elements: &mut [u8], changes: &[Change], size: usize) {
    for element in elements.chunks_exact_mut(size).filter(|_| !changes.is_empty()) {
        for Change { at, len, apply } in changes {
            let range = usize::try_from(*at).ok().zip(usize::try_from(at + len).ok());
            let part = range.and_then(|(from, to)| element.get_mut(from..to));
            apply(part.expect("the part is in the element"));
        }
    }
}

/// Makes the bytes after the first zero byte of text zero.
fn terminate(text: &mut [u8]) {
    text.iter_mut().skip_while(|byte| **byte != 0).for_each(|byte| *byte = 0);
}

/// Makes spaces at the end of text zero bytes.
fn unpad(text: &mut [u8]) {
    text.iter_mut().rev().take_while(|byte| **byte == b' ').for_each(|byte| *byte = 0);
}

/// Text of a dataset or attribute.
pub(super) struct Text {
    pub(super) is_utf8: bool,
    pub(super) is_any_length: bool,
}

/// Returns what kind of text a datatype is; `None` for other datatypes.
pub(super) fn text_of(stored: &Stored) -> Option<Text> {
    let (encoding, is_any_length) = match stored {
        Stored::VarLen { kind: VarLenKind::String, encoding, .. } => (encoding, true),
        Stored::String { size, encoding, .. } => (encoding, *size == StringSize::Variable),
        _ => return None,
    };
    Some(Text { is_utf8: *encoding == StringEncoding::Utf8, is_any_length })
}

/// Converts a datatype; `raw` is its message, if it is known. An error is the reason why it has no counterpart.
pub(super) fn convert(
    stored: &Stored,
    raw: Option<&[u8]>,
    losses: &mut Vec<String>,
) -> Result<(Datatype, Vec<Change>)> {
    let mut converter = Converter { raw, changes: Vec::new(), losses };
    let datatype = converter.datatype(stored, 0)?;
    let size = hdf5_reader::dtype_element_size(stored)? as u64;
    if size == 0 || datatype.packed_size() != Some(size) {
        return Err("its elements have no fixed size".into());
    }
    Ok((datatype, converter.changes))
}

struct Converter<'c> {
    /// The message of the whole datatype, which has the layout of the bits of numbers, unless it is not known.
    raw: Option<&'c [u8]>,
    changes: Vec<Change>,
    losses: &'c mut Vec<String>,
}

impl Converter<'_> {
    /// Converts a datatype that is at an offset of each element.
    fn datatype(&mut self, stored: &Stored, at: u64) -> Result<Datatype> {
        match stored {
            Stored::FixedPoint { size, byte_order, .. }
            | Stored::FloatingPoint { size, byte_order }
            | Stored::Bitfield { size, byte_order } => {
                if *byte_order == ByteOrder::BigEndian && *size > 1 {
                    self.change(at, (*size).into(), <[u8]>::reverse)?;
                }
                self.number(stored, *size)
            }
            Stored::String { size: StringSize::Fixed(size), padding, .. } => {
                let size = u64::from(*size);
                match padding {
                    StringPadding::NullPad => {}
                    StringPadding::NullTerminate => self.change(at, size, terminate)?,
                    StringPadding::SpacePad => self.change(at, size, unpad)?,
                }
                Ok(text(size))
            }
            Stored::Opaque { size, tag } => {
                let tag = Some(tag.clone()).filter(|tag| !tag.is_empty());
                Ok(Datatype::Opaque { size: u64::from(*size), tag })
            }
            Stored::Enum { base, members } => self.enumeration(base, members, at),
            Stored::Compound { size, fields } => self.compound((*size).into(), fields, at),
            Stored::Array { base, dims } => self.array(base, dims, at),
            Stored::Reference { .. } => Err("it has references to other objects".into()),
            Stored::VarLen { .. } | Stored::String { .. } => {
                Err("its elements are lists of any length".into())
            }
        }
    }

    fn change(&mut self, at: u64, len: u64, apply: fn(&mut [u8])) -> Result<()> {
        if self.changes.len() == MAX_CHANGES {
            let reason = format!("its elements have more than {MAX_CHANGES} parts to convert");
            return Err(reason.into());
        }
        self.changes.push(Change { at, len, apply });
        Ok(())
    }

    /// Converts a number, which must use all of its bits in the usual way.
    fn number(&self, stored: &Stored, size: u8) -> Result<Datatype> {
        let bits = u16::from(size) * 8;
        let has_layout = |rest: &[u8]| {
            let all = bits.to_le_bytes();
            let wanted = [&u32::from(size).to_le_bytes()[..], &[0, 0], &all, rest].concat();
            let has = |raw: &[u8]| raw.windows(wanted.len()).any(|window| window == wanted);
            self.raw.is_none_or(has)
        };
        let kind = match stored {
            Stored::FloatingPoint { .. } => {
                let mut known = FLOATS.iter().filter(|(len, ..)| *len == size).peekable();
                known.peek().ok_or_else(|| format!("it has floats of {size} bytes"))?;
                let found = known.find(|(_, rest, _)| has_layout(rest));
                return Ok(found.ok_or_else(|| unusual(size))?.2.clone());
            }
            Stored::FixedPoint { .. } if !has_layout(&[]) => return Err(unusual(size).into()),
            Stored::FixedPoint { signed: true, .. } => "int",
            _ => "uint",
        };
        let word = format!("{kind}{bits}");
        Ok(Datatype::from_word(&word)
            .ok_or_else(|| format!("it has numbers of the type {word}"))?)
    }

    fn enumeration(&mut self, base: &Stored, members: &[EnumMember], at: u64) -> Result<Datatype> {
        let Stored::FixedPoint { byte_order, .. } = base else {
            return Err("it has an enum of other elements than integers".into());
        };
        let base = self.datatype(base, at)?;
        let integer = base.integer().ok_or_else(|| format!("it has an enum of `{base}`"))?;
        let converted = |member: &EnumMember| {
            let mut bytes = member.value.clone();
            if *byte_order == ByteOrder::BigEndian {
                bytes.reverse();
            }
            Some((member.name.clone(), values_of(&base, &bytes).first()?.as_integer()?))
        };
        let members = members.iter().map(converted).collect::<Option<Vec<_>>>();
        let members = members.ok_or("a member of its enum has no value")?;
        if integer.size() == 1 && members == [("FALSE".to_owned(), 0), ("TRUE".to_owned(), 1)] {
            return Ok(truth());
        }
        let names: HashSet<_> = members.iter().map(|(name, _)| name.as_str()).collect();
        let numbers: HashSet<_> = members.iter().map(|(_, number)| number).collect();
        let is_distinct = names.len() == members.len() && numbers.len() == members.len();
        if members.is_empty() || !is_distinct || names.contains("") {
            let list = members.iter().map(|(name, number)| format!("{name} {number}"));
            let list = list.collect::<Vec<_>>().join(", ");
            self.losses
                .push(format!("its enum is dropped, whose members are not distinct: {list}"));
            return Ok(base);
        }
        Ok(Datatype::Enum { base: Some(integer), members })
    }

    fn compound(&mut self, size: u64, fields: &[CompoundField], at: u64) -> Result<Datatype> {
        let mut fields: Vec<_> = fields.iter().collect();
        fields.sort_by_key(|field| field.byte_offset);
        let names: HashSet<_> = fields.iter().map(|field| field.name.as_str()).collect();
        if names.len() < fields.len() || names.contains("") {
            return Err("members of its compound do not have distinct names".into());
        }
        let mut free = (0_u64..).map(|number| format!("_pad{number}"));
        let (mut members, mut end) = (Vec::new(), 0_u64);
        let parts = fields.iter().map(|field| (u64::from(field.byte_offset), Some(field)));
        for (offset, field) in parts.chain([(size, None)]) {
            let gap = offset.checked_sub(end).ok_or("members of its compound overlap")?;
            if gap > 0 {
                let name = free.find(|name| !names.contains(name.as_str()));
                let name = name.expect("there are more names than members");
                members.push((name, Datatype::Opaque { size: gap, tag: None }));
            }
            let Some(field) = field else { break };
            let datatype = self.datatype(&field.datatype, at.saturating_add(offset))?;
            let len = datatype.packed_size().ok_or("a member has no fixed size")?;
            end = offset.checked_add(len).ok_or("its compound is too large")?;
            members.push((field.name.clone(), datatype));
        }
        if members.is_empty() {
            return Err("its compound has no members".into());
        }
        Ok(Datatype::Compound(members))
    }

    fn array(&mut self, base: &Stored, dims: &[u64], at: u64) -> Result<Datatype> {
        let before = self.changes.len();
        let inner = self.datatype(base, at)?;
        let len = inner.packed_size().ok_or("it has small arrays without a size")?;
        let array = Datatype::Array { base: Box::new(inner), shape: dims.to_vec() };
        let size = array.packed_size().filter(|size| *size > 0);
        let size = size.ok_or("it has small arrays without a size")?;
        let first = self.changes.split_off(before);
        for index in (0..size / len).take_while(|_| !first.is_empty()) {
            for Change { at, len: part, apply } in &first {
                self.change(at.saturating_add(index * len), *part, *apply)?;
            }
        }
        Ok(array)
    }
}

fn unusual(size: u8) -> String {
    format!("it has numbers of {size} bytes of an unusual format")
}
