//! The body: what lies behind the header, and where each variable lies in it.

use std::io::{self, Read, Seek, SeekFrom};

use super::bits::packed_len;
use super::header::{Element, Entry};
use crate::interchange::Error;
use crate::ndl::Endian;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 14;

/// A file and where in it the body lies.
#[derive(Debug)]
pub(super) struct Body<R> {
    pub(super) inner: R,
    /// The byte of the file at which the body begins.
    pub(super) start: u64,
    /// Bytes of the body.
    pub(super) len: u64,
}

impl<R: Read + Seek> Body<R> {
    /// Reads exactly the bytes at `at` of the body.
    pub(super) fn read_at(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.inner.seek(SeekFrom::Start(self.start.saturating_add(at)))?;
        self.inner.read_exact(buffer)
    }

    /// Gives the bytes from `at` on to `each`, a part after the other.
    pub(super) fn scan(
        &mut self,
        at: u64,
        len: u64,
        mut each: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.inner.seek(SeekFrom::Start(self.start.saturating_add(at)))?;
        let mut buffer = [0; CHUNK];
        let mut left = len;
        while left > 0 {
            let part = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            let part = buffer.get_mut(..part).unwrap_or_default();
            self.inner.read_exact(part)?;
            each(part)?;
            left = left.saturating_sub(count(part.len()));
        }
        Ok(())
    }

    /// The fault of a variable that needs `len` bytes from `at` on when there are fewer.
    fn check(&self, entry: &Entry, at: u64, len: Option<u64>) -> Result<u64, Error> {
        let end = len.and_then(|len| at.checked_add(len));
        if let (Some(len), Some(end)) = (len, end)
            && end <= self.len
        {
            return Ok(len);
        }
        let found = self.len.saturating_sub(at);
        let expected = match len {
            Some(len) => format!("{len} bytes"),
            None => "more bytes than 64 bits can count".to_owned(),
        };
        let reason = format!("expected {expected} of {:?}, found {found}", entry.name);
        Err(Error::malformed(self.start.saturating_add(at.min(self.len)), reason))
    }

    /// Elements that are there, of a variable at `at`.
    pub(super) fn present(&mut self, entry: &Entry, at: u64) -> Result<u64, Error> {
        let elements = entry.count();
        if !entry.missing {
            return Ok(elements);
        }
        let len = self.check(entry, at, Some(packed_len(elements)))?;
        let mut left = elements;
        let mut missing = 0_u64;
        self.scan(at, len, |bytes| {
            for &byte in bytes {
                // What fills the last byte says nothing.
                let used = u32::try_from(left.min(8)).unwrap_or(8);
                let byte = byte & 0xFF_u8.checked_shl(8_u32.saturating_sub(used)).unwrap_or(0);
                missing = missing.saturating_add(u64::from(byte.count_ones()));
                left = left.saturating_sub(8);
            }
            Ok(())
        })?;
        Ok(elements.saturating_sub(missing))
    }

    /// Bytes that a variable at `at` really takes: all of them are there.
    pub(super) fn real_len(&mut self, entry: &Entry, at: u64) -> Result<u64, Error> {
        let present = self.present(entry, at)?;
        let mask = mask_len(entry);
        let with_mask = |len: Option<u64>| len.and_then(|len| len.checked_add(mask));
        match &entry.element {
            Element::Number(_, width) => {
                self.check(entry, at, with_mask(present.checked_mul(*width)))
            }
            Element::Bool => self.check(entry, at, with_mask(Some(packed_len(present)))),
            Element::Str | Element::Unicode => {
                let lengths = present.checked_mul(8);
                let before = self.check(entry, at, with_mask(lengths))?;
                let mut sum = Some(before);
                self.lengths(entry, at, present, |len| {
                    sum = sum.and_then(|sum| sum.checked_add(len));
                })?;
                self.check(entry, at, sum)
            }
        }
    }

    /// Gives the length of each text that is there, of a variable at `at`.
    pub(super) fn lengths(
        &mut self,
        entry: &Entry,
        at: u64,
        present: u64,
        mut each: impl FnMut(u64),
    ) -> Result<(), Error> {
        let at = at.saturating_add(mask_len(entry));
        self.scan(at, present.saturating_mul(8), |bytes| {
            for length in bytes.as_chunks::<8>().0 {
                each(match entry.endian {
                    Endian::Little => u64::from_le_bytes(*length),
                    Endian::Big => u64::from_be_bytes(*length),
                });
            }
            Ok(())
        })
    }

    /// Where each variable lies, and how many bytes belong to none when that can be told.
    ///
    /// The reference implementation writes wrong lengths, and hence wrong offsets, for some texts: where the
    /// lengths do not add up to the body the variables are measured, one after the other.
    pub(super) fn places(&mut self, entries: &[Entry]) -> Result<(Vec<u64>, u64), Error> {
        let declared: Option<u64> = entries.iter().try_fold(0_u64, |sum, entry| {
            // What has no data needs no length.
            let len = if entry.count() == 0 { Some(0) } else { entry.len };
            sum.checked_add(len?)
        });
        if declared != Some(self.len)
            && entries.iter().all(|entry| entry.len.is_some() || entry.count() == 0)
            && let Some(places) = self.walk(entries)?
        {
            return Ok((places, 0));
        }
        let mut sum = 0_u64;
        for entry in entries.iter().filter(|entry| entry.count() > 0) {
            let real = self.real_len(entry, entry.offset)?;
            // Or else a short header could have a long body read many times.
            sum = sum.saturating_add(real);
            if sum > self.len {
                let reason = format!(
                    "expected variables that do not overlap, found {:?} where another one lies",
                    entry.name
                );
                return Err(Error::malformed(entry.at, reason));
            }
            if let Some(len) = entry.len
                && len != real
            {
                let reason = format!("expected {real} for `.len` of {:?}, found {len}", entry.name);
                return Err(Error::malformed(entry.at, reason));
            }
        }
        let places = entries.iter().map(|entry| entry.offset).collect();
        Ok((places, declared.map_or(0, |declared| self.len.saturating_sub(declared))))
    }

    /// Where each variable lies when they lie one after the other; `None` when they do not fill the body.
    fn walk(&mut self, entries: &[Entry]) -> Result<Option<Vec<u64>>, Error> {
        let mut at = 0_u64;
        let mut places = Vec::new();
        for entry in entries {
            places.push(at);
            if entry.count() == 0 {
                continue;
            }
            match self.real_len(entry, at) {
                Ok(len) => at = at.saturating_add(len),
                Err(Error::Io(error)) => return Err(Error::Io(error)),
                Err(_) => return Ok(None),
            }
        }
        Ok((at == self.len).then_some(places))
    }
}

/// Bytes of the mask before the data.
pub(super) fn mask_len(entry: &Entry) -> u64 {
    if entry.missing { packed_len(entry.count()) } else { 0 }
}

pub(super) fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
