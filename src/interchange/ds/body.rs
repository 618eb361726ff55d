//! The body: everything after the header. Finds the offset of each variable, and reads masks, elements and texts.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::{DsElement, VariableEntry, packed_len};
use crate::interchange::FormatError;
use crate::ndl::Endian;
use crate::ra::header::reverse_each;

/// Number of bytes that are read at once.
const READ_AT_ONCE: usize = 1 << 14;

/// Number of elements at a time: a multiple of 8, so that each part begins at a byte of the mask.
const ELEMENTS: u64 = 1 << 13;

/// Most texts of a variable, because all of them are written in one description.
pub(super) const MAX_TEXTS: u64 = 1 << 20;
const MAX_BYTES: u64 = 8 << 20;

/// The texts of a variable; `None` for each missing one.
pub(super) type Texts = Vec<Option<Vec<u8>>>;

/// A file and the offset of its body.
#[derive(Debug)]
pub(super) struct DsBody<R> {
    pub(super) inner: R,
    /// The offset of the body in the file.
    pub(super) start: u64,
    /// The length of the body in bytes.
    pub(super) len: u64,
}

impl<R: Read + Seek> DsBody<R> {
    /// Reads `len` bytes at `at`. They must be few, because they are allocated at once.
    fn read_at(&mut self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; small(len)];
        self.inner.seek(SeekFrom::Start(self.start + at))?;
        self.inner.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Passes the bytes from `at` on to `each`, in parts.
    pub(super) fn scan(
        &mut self,
        at: u64,
        len: u64,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), FormatError> {
        self.inner.seek(SeekFrom::Start(self.start + at))?;
        let mut left = len;
        let mut buffer = Vec::new();
        while left > 0 {
            buffer.resize(small(left.min(READ_AT_ONCE as u64)), 0);
            self.inner.read_exact(&mut buffer)?;
            each(&buffer);
            left -= buffer.len() as u64;
        }
        Ok(())
    }

    /// Checks that the body has the `len` bytes that a variable needs.
    fn check(&self, entry: &VariableEntry, len: Option<u64>) -> Result<u64, FormatError> {
        let at = entry.offset.min(self.len);
        let found = self.len - at;
        let expected = match len {
            Some(len) if len <= found => return Ok(len),
            Some(len) => format!("{len} bytes"),
            None => "more bytes than 64 bits can count".to_owned(),
        };
        let reason = format!("expected {expected} of {:?}, found {found}", entry.name);
        Err(FormatError::malformed(self.start + at, reason))
    }

    /// Returns the number of elements that are not missing.
    pub(super) fn present(&mut self, entry: &VariableEntry) -> Result<u64, FormatError> {
        let elements = entry.count();
        if !entry.missing {
            return Ok(elements);
        }
        let len = self.check(entry, Some(packed_len(elements)))?;
        let mut left = elements;
        let mut missing = 0_u64;
        self.scan(entry.offset, len, |bytes| {
            for &byte in bytes {
                // The bits that fill the last byte are ignored.
                let used = left.min(8);
                missing += u64::from((u16::from(byte) >> (8 - used)).count_ones());
                left -= used;
            }
        })?;
        Ok(elements - missing)
    }

    /// Returns the actual length of a variable in bytes, all of which exist.
    pub(super) fn real_len(&mut self, entry: &VariableEntry) -> Result<u64, FormatError> {
        if entry.count() == 0 {
            return Ok(0);
        }
        let present = self.present(entry)?;
        let len = entry.element.stored_len(present);
        let len = len.and_then(|len| len.checked_add(entry.mask_len()));
        let mut sum = Some(self.check(entry, len)?);
        if entry.element.is_text() {
            self.scan(entry.offset + entry.mask_len(), present * 8, |bytes| {
                let lengths = bytes.as_chunks().0.iter().map(|length| entry.length(*length));
                sum = lengths.fold(sum, |sum, len| sum?.checked_add(len));
            })?;
        }
        self.check(entry, sum)
    }

    /// Finds the offset of each variable, and returns the number of unused bytes if it is known.
    ///
    /// The reference implementation writes wrong lengths, and therefore wrong offsets, for some texts. If the lengths
    /// do not add up to the body, the variables are measured one after the other.
    pub(super) fn place(&mut self, entries: &mut [VariableEntry]) -> Result<u64, FormatError> {
        // A variable without elements needs no length.
        let len = |entry: &VariableEntry| if entry.count() == 0 { Some(0) } else { entry.len };
        let has_lengths = entries.iter().all(|entry| len(entry).is_some());
        let declared = entries.iter().try_fold(0_u64, |sum, entry| sum.checked_add(len(entry)?));
        if declared != Some(self.len) && has_lengths && self.place_in_order(entries)? {
            return Ok(0);
        }
        let mut sum = 0_u64;
        for entry in entries.iter().filter(|entry| entry.count() > 0) {
            let (name, real) = (&entry.name, self.real_len(entry)?);
            // Otherwise a short header could make a long body be read many times.
            sum += real;
            if sum > self.len {
                let reason = format!(
                    "expected variables that do not overlap, found {name:?} inside another one"
                );
                return Err(FormatError::malformed(entry.at, reason));
            }
            if let Some(len) = entry.len.filter(|len| *len != real) {
                let reason = format!("expected {real} for `.len` of {name:?}, found {len}");
                return Err(FormatError::malformed(entry.at, reason));
            }
        }
        // Lengths of empty variables may exceed the body.
        Ok(declared.map_or(0, |declared| self.len.saturating_sub(declared)))
    }

    /// Places the variables one after the other; returns whether they fill the body exactly.
    fn place_in_order(&mut self, entries: &mut [VariableEntry]) -> Result<bool, FormatError> {
        let mut placed = entries.to_vec();
        let mut at = 0;
        for entry in &mut placed {
            entry.offset = at;
            match self.real_len(entry) {
                Ok(len) => at += len,
                Err(FormatError::Io(error)) => return Err(FormatError::Io(error)),
                Err(_) => return Ok(false),
            }
        }
        if at == self.len {
            entries.clone_from_slice(&placed);
        }
        Ok(at == self.len)
    }

    /// Reads all texts of a variable, which is completely within the body.
    pub(super) fn texts(&mut self, entry: &VariableEntry) -> Result<Texts, FormatError> {
        let (name, elements) = (&entry.name, entry.count());
        if elements == 0 {
            return Ok(Vec::new());
        }
        let present = self.present(entry)?;
        let before = entry.mask_len() + present * 8;
        let len = self.real_len(entry)?;
        let bytes = len - before;
        if elements > MAX_TEXTS || bytes > MAX_BYTES {
            return Err(FormatError::no_counterpart(
                format!(
                    "{name:?} has {elements} texts of {bytes} bytes together, but a description has at most \
                     {MAX_TEXTS} texts of {MAX_BYTES} bytes"
                ),
                "split it into several variables, or leave it out",
            ));
        }
        let all = self.read_at(entry.offset, len)?;
        let (head, mut left) = all.split_at(small(before));
        let (mask, lengths) = head.split_at(small(entry.mask_len()));
        let mut lengths = lengths.as_chunks().0.iter();
        let missing = unpack(mask).chain(std::iter::repeat(false)).take(small(elements));
        missing
            .map(|missing| {
                if missing {
                    return Ok(None);
                }
                let length = lengths.next().expect("there is a length for each text");
                let (text, after) = left.split_at(small(entry.length(*length)));
                if entry.element == DsElement::Unicode
                    && let Err(error) = str::from_utf8(text)
                {
                    let at = len - left.len() as u64 + error.valid_up_to() as u64;
                    return Err(self.not_utf8(entry.offset + at, entry));
                }
                left = after;
                Ok(Some(text.to_owned()))
            })
            .collect()
    }

    /// Returns the error for a `unicode` variable that is not UTF-8 at offset `at`.
    pub(super) fn not_utf8(&self, at: u64, entry: &VariableEntry) -> FormatError {
        let reason = format!("expected UTF-8 in {:?}, found other bytes", entry.name);
        FormatError::malformed(self.start + at, reason)
    }
}

/// How elements are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoredAs {
    /// As numbers of this width in bytes.
    Numbers { width: u64, endian: Endian },
    /// As packed bits, which are returned as bytes.
    Bools,
    /// As the mask itself, which is returned as bytes.
    Mask,
}

/// The elements of a variable, read a few thousand at a time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ElementReader {
    stored: StoredAs,
    /// The offset of its mask in the body.
    mask: Option<u64>,
    /// The offset of its data in the body.
    data: u64,
    /// Number of elements left.
    left: u64,
    /// Number of elements that were read, and how many of them are not missing.
    done: u64,
    present: u64,
}

impl ElementReader {
    pub(super) fn new(stored: StoredAs, mask: Option<u64>, data: u64, elements: u64) -> Self {
        Self { stored, mask, data, left: elements, done: 0, present: 0 }
    }

    /// Appends the next part to `out`, little-endian, with `fill` for missing elements, or without them; returns
    /// `false` at the end.
    pub(super) fn next<R: Read + Seek>(
        &mut self,
        body: &mut DsBody<R>,
        fill: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let elements = self.left.min(ELEMENTS);
        if elements == 0 {
            return Ok(false);
        }
        let mut missing = Vec::new();
        if let Some(mask) = self.mask {
            let packed = body.read_at(mask + self.done / 8, packed_len(elements))?;
            missing.extend(unpack(&packed).take(small(elements)));
        }
        let here = elements - missing.iter().filter(|missing| **missing).count() as u64;
        let values: Vec<u8> = match self.stored {
            StoredAs::Mask => missing.drain(..).map(u8::from).collect(),
            StoredAs::Numbers { width, endian } => {
                let mut numbers = body.read_at(self.data + self.present * width, here * width)?;
                reverse_each(&mut numbers, if endian == Endian::Big { small(width) } else { 1 });
                numbers
            }
            StoredAs::Bools => {
                let before = self.present % 8;
                let at = self.data + self.present / 8;
                let packed = body.read_at(at, packed_len(before + here))?;
                unpack(&packed).skip(small(before)).take(small(here)).map(u8::from).collect()
            }
        };
        self.left -= elements;
        self.done += elements;
        self.present += here;
        match fill {
            Some(fill) if !missing.is_empty() => {
                let mut values = values.chunks_exact(fill.len());
                for missing in missing {
                    let next = if missing { Some(fill) } else { values.next() };
                    out.extend_from_slice(
                        next.expect("there is an element for each that is not missing"),
                    );
                }
            }
            _ => out.extend_from_slice(&values),
        }
        Ok(true)
    }

    /// Returns the size of an element in bytes.
    pub(super) fn width(&self) -> usize {
        match self.stored {
            StoredAs::Numbers { width, .. } => small(width),
            StoredAs::Bools | StoredAs::Mask => 1,
        }
    }
}

/// Converts a length that is known to be small.
fn small(len: u64) -> usize {
    usize::try_from(len).expect("lengths are limited by the file and the buffers")
}

/// Returns the bits of `packed` in order.
pub(super) fn unpack(packed: &[u8]) -> impl Iterator<Item = bool> {
    packed.iter().flat_map(|&byte| (0..8).rev().map(move |shift| (byte >> shift) & 1 == 1))
}

/// Packs bits into bytes.
#[derive(Debug, Default)]
pub(super) struct BitPacker {
    byte: u8,
    filled: u8,
}

impl BitPacker {
    /// Adds one bit, and appends a byte to `out` once it is full.
    pub(super) fn push(&mut self, bit: bool, out: &mut Vec<u8>) {
        self.byte = (self.byte << 1) | u8::from(bit);
        self.filled += 1;
        if self.filled == 8 {
            out.push(self.byte);
            *self = Self::default();
        }
    }

    /// Appends the remaining bits, padded with zeros.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        while self.filled != 0 {
            self.push(false, out);
        }
    }
}

/// Checks whether bytes that arrive in parts are UTF-8.
#[derive(Debug, Default)]
pub(super) struct Utf8Check {
    /// The first bytes of an incomplete character.
    begun: Vec<u8>,
    /// Number of valid bytes.
    valid: u64,
    is_wrong: bool,
}

impl Utf8Check {
    /// Checks the next part.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.is_wrong {
            return;
        }
        self.begun.extend_from_slice(bytes);
        let (valid, may_go_on) = match str::from_utf8(&self.begun) {
            Ok(text) => (text.len(), true),
            Err(error) => (error.valid_up_to(), error.error_len().is_none()),
        };
        self.valid += valid as u64;
        self.is_wrong = !may_go_on;
        self.begun.drain(..valid);
    }

    /// Returns the offset of the first byte that is not UTF-8.
    pub(super) fn fault(&self) -> Option<u64> {
        (self.is_wrong || !self.begun.is_empty()).then_some(self.valid)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_element_is_the_highest_bit() {
        let mut packed = Vec::new();
        let mut bits = BitPacker::default();
        for bit in [true, false, true, true, false, false, false, false, true, true] {
            bits.push(bit, &mut packed);
        }
        bits.finish(&mut packed);
        assert_eq!(packed, [0xB0, 0xC0]);
        bits.finish(&mut packed);
        assert_eq!(packed.len(), 2);
    }

    proptest! {
        #[test]
        fn packed_bits_are_unpacked_unchanged(bits: Vec<bool>) {
            let mut packed = Vec::new();
            let mut into = BitPacker::default();
            for bit in &bits {
                into.push(*bit, &mut packed);
            }
            into.finish(&mut packed);
            let count = u64::try_from(bits.len()).unwrap();
            prop_assert_eq!(u64::try_from(packed.len()).unwrap(), packed_len(count));
            let mut unpacked = unpack(&packed);
            for bit in bits {
                prop_assert_eq!(unpacked.next(), Some(bit));
            }
            prop_assert!(unpacked.all(|bit| !bit));
        }

        #[test]
        fn parts_are_utf8_if_the_complete_text_is(
            text in prop_oneof![any::<String>().prop_map(String::into_bytes), any::<Vec<u8>>()],
            part in 1_usize..5,
        ) {
            let mut utf8 = Utf8Check::default();
            text.chunks(part).for_each(|part| utf8.push(part));
            let expected = str::from_utf8(&text).err().map(|error| error.valid_up_to() as u64);
            prop_assert_eq!(utf8.fault(), expected);
        }
    }
}
