//! The formats of NetCDF-3: classic, 64-bit offset and 64-bit data.
//!
//! A header gives the offset of each variable. Variables whose first dimension can grow are stored record by record.

use std::io::{self, Read};

use super::{
    ByteRanges, Contents, GroupedVariable, NextBlock, ReadElements, attribute, text, values_of,
};
use crate::interchange::{BlockReader, FormatError};
use crate::ndl::{Attribute, Datatype, Group, Value};
use crate::ra::header::reverse_each;

/// Number of bytes read at once.
const READ_AT_ONCE: u64 = 1 << 20;

/// Number of bytes of the header read at once.
const HEADER_AT_ONCE: u64 = 1 << 14;

/// The types by number, without those that a version does not have.
const TYPES: [Datatype; 11] = [
    Datatype::Int8,
    Datatype::String,
    Datatype::Int16,
    Datatype::Int32,
    Datatype::Float32,
    Datatype::Float64,
    Datatype::UInt8,
    Datatype::UInt16,
    Datatype::UInt32,
    Datatype::Int64,
    Datatype::UInt64,
];

/// Number of types in the versions 1 and 2.
const OLD_TYPES: usize = 6;

/// The elements of a variable in the file.
#[derive(Debug)]
struct Place {
    at: u64,
    /// Size of an element in bytes.
    width: u64,
    /// Number of bytes that are stored together, and how often.
    row: u64,
    rows: u64,
    /// Distance between the beginnings of rows in bytes.
    stride: u64,
}

struct ClassicFile {
    bytes: ByteRanges,
    places: Vec<Place>,
}

/// Opens a file of this version.
pub(super) fn open(
    bytes: &ByteRanges,
    version: u8,
) -> Result<(Contents, Box<dyn ReadElements>), FormatError> {
    let mut header = HeaderReader::new(bytes, version);
    let records = header.count()?;
    let dims = header.list(0x0A, |header| Ok((header.name()?, header.count()?)))?;
    let mut contents = Contents::default();
    let attributes = header.attributes("the file", &mut contents.losses)?;
    if !attributes.is_empty() {
        contents.groups.push(Group { attributes, ..Group::new("/") });
    }
    let entries = header.list(0x0B, |header| header.variable(&dims))?;
    let growing = entries.iter().filter(|(variable, _)| variable.shape.first() == Some(&0));
    let growing: Vec<_> = growing.map(|(_, place)| place).collect();
    // A single variable with records has no padding between them.
    let padded = |sum: u64, place: &&Place| sum.checked_add(place.row.checked_next_multiple_of(4)?);
    let stride = match &growing[..] {
        [place] => Some(place.row),
        places => places.iter().try_fold(0, padded),
    };
    let stride = stride.ok_or_else(|| header.fault("records of fewer than 2^64 bytes", "more"))?;
    let is_open_end = records == if version == 5 { u64::MAX } else { u64::from(u32::MAX) };
    let first = growing.first().map_or(0, |place| place.at);
    let whole = bytes.len.saturating_sub(first).checked_div(stride).unwrap_or(0);
    let records = if is_open_end { whole } else { records };
    let mut places = Vec::with_capacity(entries.len());
    for (mut variable, mut place) in entries {
        if let Some(length @ 0) = variable.shape.first_mut() {
            *length = records;
            (place.rows, place.stride) = (records, stride);
        }
        variable.join_characters();
        let [rows, stride, row, at] =
            [place.rows, place.stride, place.row, place.at].map(u128::from);
        let end = rows.saturating_sub(1) * stride + row + at;
        if row > 0 && rows > 0 && end > bytes.len.into() {
            let reason = format!(
                "expected {end} bytes up to the end of {:?}, found {} and the end of the file",
                variable.path, bytes.len
            );
            return Err(FormatError::malformed(place.at, reason));
        }
        contents.variables.push(variable);
        places.push(place);
    }
    Ok((contents, Box::new(ClassicFile { bytes: bytes.clone(), places })))
}

/// Reads the header from the beginning of the file.
struct HeaderReader<'f> {
    bytes: &'f ByteRanges,
    version: u8,
    rest: Box<dyn Read + 'f>,
    /// Offset of the next byte.
    at: u64,
}

impl<'f> HeaderReader<'f> {
    /// Makes a reader for the bytes after those that tell the version.
    fn new(bytes: &'f ByteRanges, version: u8) -> Self {
        let mut next = 4;
        let rest = BlockReader::new(move |block| {
            let at = next;
            next = bytes.len.min(at + HEADER_AT_ONCE);
            *block = bytes.read(at, next - at).map_err(io::Error::other)?;
            Ok(())
        });
        Self { bytes, version, rest: Box::new(rest), at: 4 }
    }

    /// Returns the next `len` bytes.
    fn take(&mut self, len: u64) -> Result<Vec<u8>, FormatError> {
        let mut bytes = vec![0; self.bytes.check(self.at, len)?];
        self.rest.read_exact(&mut bytes)?;
        self.at += len;
        Ok(bytes)
    }

    fn fault(&self, expected: &str, found: impl std::fmt::Display) -> FormatError {
        FormatError::malformed(self.at, format!("expected {expected}, found {found}"))
    }

    /// Returns a number of 4 or 8 bytes.
    fn number(&mut self, len: u64) -> Result<u64, FormatError> {
        let bytes = self.take(len)?;
        Ok(bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    }

    /// Returns a number whose size depends on the version.
    fn count(&mut self) -> Result<u64, FormatError> {
        self.number(if self.version == 5 { 8 } else { 4 })
    }

    /// Returns the next `len` bytes, and skips those that align them.
    fn padded(&mut self, len: u64) -> Result<Vec<u8>, FormatError> {
        let bytes = self.take(len)?;
        // The last attribute may end with the file.
        let padding = (len.next_multiple_of(4) - len).min(self.bytes.len - self.at);
        self.take(padding)?;
        Ok(bytes)
    }

    fn name(&mut self) -> Result<String, FormatError> {
        let (at, len) = (self.at, self.count()?);
        let name = String::from_utf8(self.padded(len)?);
        let is_sound = |name: &String| !name.is_empty() && !name.contains('/');
        name.ok().filter(is_sound).ok_or_else(|| {
            FormatError::malformed(at, "expected a name in UTF-8 without `/`, found other bytes")
        })
    }

    /// Reads a list with this tag.
    fn list<T>(
        &mut self,
        tag: u64,
        mut read: impl FnMut(&mut Self) -> Result<T, FormatError>,
    ) -> Result<Vec<T>, FormatError> {
        let (at, found, count) = (self.at, self.number(4)?, self.count()?);
        if found != tag && (found, count) != (0, 0) {
            let reason = format!("expected the tag {tag} of a list, found {found}");
            return Err(FormatError::malformed(at, reason));
        }
        (0..count).map(|_| read(self)).collect()
    }

    fn datatype(&mut self) -> Result<Datatype, FormatError> {
        let (at, number) = (self.at, self.number(4)?);
        let known = if self.version == 5 { &TYPES[..] } else { TYPES.split_at(OLD_TYPES).0 };
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        index.and_then(|index| known.get(index)).cloned().ok_or_else(|| {
            let reason = format!("expected a type from 1 to {}, found {number}", known.len());
            FormatError::malformed(at, reason)
        })
    }

    fn attributes(
        &mut self,
        of: &str,
        losses: &mut Vec<String>,
    ) -> Result<Vec<Attribute>, FormatError> {
        self.list(0x0C, |header| {
            let (name, datatype, count) = (header.name()?, header.datatype()?, header.count()?);
            let len = count.checked_mul(width(&datatype));
            let len = len.ok_or_else(|| header.fault("fewer than 2^64 bytes", "more"))?;
            let mut bytes = header.padded(len)?;
            if datatype == Datatype::String {
                let text = String::from_utf8(bytes).unwrap_or_else(|error| {
                    losses.push(format!(
                        "the attribute {name:?} of {of} is not UTF-8 and was read as Latin-1"
                    ));
                    error.into_bytes().into_iter().map(char::from).collect()
                });
                let text = Value::from(text.trim_end_matches('\0'));
                return Ok(attribute(&name, Vec::new(), datatype, vec![text]));
            }
            swap(&mut bytes, width(&datatype));
            let shape = if count == 1 { Vec::new() } else { vec![count] };
            let values = values_of(&datatype, &bytes);
            Ok(attribute(&name, shape, datatype, values))
        })
    }

    /// Reads a variable. The place of one with records is that of its first record.
    fn variable(
        &mut self,
        dims: &[(String, u64)],
    ) -> Result<(GroupedVariable, Place), FormatError> {
        let path = self.name()?;
        let (at, rank) = (self.at, self.count()?);
        let (mut names, mut shape) = (Vec::new(), Vec::new());
        for _ in 0..rank {
            let dim = usize::try_from(self.count()?).ok().and_then(|index| dims.get(index));
            let Some((name, length)) = dim else {
                let reason = format!("expected dimensions below {} for {path:?}", dims.len());
                return Err(FormatError::malformed(at, reason));
            };
            names.push(name.clone());
            shape.push(*length);
        }
        let mut losses = Vec::new();
        let attributes = self.attributes(&format!("{path:?}"), &mut losses)?;
        let datatype = self.datatype()?;
        let width = width(&datatype);
        // The size is redundant, and wrong if it does not fit its field.
        self.count()?;
        let at = self.number(if self.version == 1 { 4 } else { 8 })?;
        let is_record = shape.first() == Some(&0);
        let mut inner = shape.iter().skip(usize::from(is_record));
        let row = inner.try_fold(width, |row, length| row.checked_mul(*length));
        let row = row.ok_or_else(|| self.fault("fewer than 2^64 bytes", "more"))?;
        let datatype = if datatype == Datatype::String { text(1) } else { datatype };
        let variable = GroupedVariable { path, shape, dims: names, datatype, attributes, losses };
        Ok((variable, Place { at, width, row, rows: 1, stride: 0 }))
    }
}

/// Returns the size of an element in bytes.
fn width(datatype: &Datatype) -> u64 {
    datatype.packed_size().unwrap_or(1)
}

/// Makes big-endian numbers of `width` bytes little-endian.
fn swap(bytes: &mut [u8], width: u64) {
    reverse_each(bytes, usize::try_from(width).expect("numbers have at most 8 bytes"));
}

impl ReadElements for ClassicFile {
    fn elements(&self, index: usize) -> NextBlock<'_> {
        let Some(&Place { at, width, row: len, rows, stride }) = self.places.get(index) else {
            return Box::new(|_| Ok(()));
        };
        let (mut row, mut done) = (0, 0);
        Box::new(move |block| {
            if len == 0 || row == rows {
                return Ok(());
            }
            // Several records at once, or a part of one.
            let count = (READ_AT_ONCE / stride.max(len)).clamp(1, rows - row);
            let part = (len - done).min(READ_AT_ONCE);
            let bytes = self.bytes.read(at + row * stride + done, (count - 1) * stride + part);
            let step = small(stride.clamp(part, READ_AT_ONCE));
            for record in bytes.map_err(io::Error::other)?.chunks(step) {
                block.extend_from_slice(record.get(..small(part)).expect("a record is complete"));
            }
            done += part;
            if done == len {
                (row, done) = (row + count, 0);
            }
            swap(block, width);
            Ok(())
        })
    }
}

/// Converts a length that is limited by [`READ_AT_ONCE`].
fn small(len: u64) -> usize {
    usize::try_from(len).expect("the length is limited")
}
