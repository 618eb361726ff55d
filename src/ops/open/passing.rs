//! Elements of an array that cannot be reached but by reading everything before them: they are taken as they
//! pass, and the rest is not kept.

use std::io::{self, BufRead, Read};

use ndarray::{ArrayD, SliceInfoElem};

use super::PackedArray;
use crate::error::{Error, Result};
use crate::path::escape;
use crate::ra::{
    self, AnyArray, Element, Encoding, EncodingProbe, Header, Picked, ReadError, SliceError,
    checked_slice, resolve_slice,
};

/// Most bytes that an encoded array is decoded to on the way, once for each pass over it. A file of 60 MiB may
/// stand for 15 GiB, and an archive of 3 KB may hold such a file. No current writer encodes arrays.
const MAX_DECODED: u64 = 1 << 28;

/// Elements that are looked at one by one for each byte of memory that an archive may make anyone take. What deflate
/// makes of numbers is always less.
const LOOKED_AT: u64 = 16;

/// Bytes of elements that may be kept whatever the archive is: a mask of zeros is large and compresses to nothing.
const ALWAYS_KEPT: u64 = 192 << 20;

impl PackedArray<'_> {
    /// How the data is encoded, when the header says that it is.
    pub(super) fn encoding(&self, header: &Header) -> Result<Option<Encoding>> {
        if !header.is_encoded() {
            return Ok(None);
        }
        check_decoded(self.name(), header)?;
        let mut reader = self.pack().archive.read(&self.member)?;
        let told = Header::read(&mut reader).and_then(|header| tell(header, &mut reader));
        told.map(|(encoding, _)| Some(encoding)).map_err(|error| self.unreadable(error))
    }

    /// Refuses to keep so many bytes of it in memory at once, if that is more than its archive may make anyone take
    /// and more than [`ALWAYS_KEPT`].
    pub(in crate::ops) fn check_memory(&self, bytes: u64) -> Result<()> {
        let limit = self.pack().archive.allowance()?.limit().max(ALWAYS_KEPT);
        if bytes <= limit {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "`{}` takes {bytes} bytes of memory in this format, more than the {limit} that an archive of \
             this size may make it take; choose parts by --slice, or get it as it is by `ra-pack extract`",
            escape(self.name())
        )))
    }

    /// Refuses to look at so many elements one by one, if that would take far longer than the archive is long.
    pub(in crate::ops) fn check_elements(&self, elements: u64) -> Result<()> {
        let limit = self.pack().archive.allowance()?.limit().saturating_mul(LOOKED_AT);
        if elements <= limit {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "`{}` has {elements} elements to look at, more than the {limit} of an archive of this size; choose \
             fewer by --slice, or unpack it by `ra-pack extract`",
            escape(self.name())
        )))
    }

    /// A part of the array.
    pub(super) fn slice_passing<T: Element>(&self, slice: &[SliceInfoElem]) -> Result<ArrayD<T>> {
        let header = self.laid_out(self.header()?);
        header.check_type::<T>().map_err(|error| self.unreadable(error.into()))?;
        let (rising, turned) = self.rising(&header, slice)?;
        let (part, _) = self.with_data(true, |header, read_at| {
            let header = self.laid_out(header.clone());
            ra::read_slice(&header, file_len(&header), &rising, read_at)
        })?;
        let Some(turned) = turned else { return Ok(part) };
        let part = checked_slice(&part, &turned).map_err(|error| self.unfit(&error))?;
        // A copy with the first index fastest, as everything else that is read.
        let elements = part.t().iter().copied().collect();
        let reversed: Vec<usize> = part.shape().iter().rev().copied().collect();
        ArrayD::from_shape_vec(reversed, elements)
            .map(ArrayD::reversed_axes)
            .map_err(|error| self.mismatch(error.to_string()))
    }

    /// A part of the array, of whatever type the file says.
    pub(super) fn slice_any_passing(&self, slice: &[SliceInfoElem]) -> Result<AnyArray> {
        let (rising, turned) = self.rising(&self.laid_out(self.header()?), slice)?;
        let (part, _) = self.with_data(true, |header, read_at| {
            let header = self.laid_out(header.clone());
            AnyArray::read_slice(&header, file_len(&header), &rising, read_at)
        })?;
        let Some(turned) = turned else { return Ok(part) };
        part.slice(&turned).map_err(|error| self.unfit(&error))
    }

    fn unfit(&self, error: &SliceError) -> Error {
        self.mismatch(error.to_string())
    }

    /// The same elements with positions that rise, as they pass, and the slice of these that is the one asked
    /// for, where that is another.
    fn rising(&self, header: &Header, slice: &[SliceInfoElem]) -> Result<(Slice, Option<Slice>)> {
        let picked = resolve_slice(header.dims(), slice).map_err(|error| self.unfit(&error))?;
        let mut picked = picked.into_iter();
        let (mut rising, mut turned, mut is_turned) = (Vec::new(), Vec::new(), false);
        for entry in slice {
            let axis = if entry.is_new_axis() { None } else { picked.next() };
            let forward = axis.filter(|_| entry.is_slice()).and_then(forward);
            is_turned |= forward.is_some();
            if !entry.is_index() {
                let step = if forward.is_some() { -1 } else { 1 };
                turned.push(SliceInfoElem::Slice { start: 0, end: None, step });
            }
            rising.push(forward.unwrap_or(*entry));
        }
        Ok((rising, is_turned.then_some(turned)))
    }
}

type Slice = Vec<SliceInfoElem>;

/// That an encoded array is not decoded to more than [`MAX_DECODED`].
pub(in crate::ops) fn check_decoded(name: &str, header: &Header) -> Result<()> {
    let decoded = header.data_len();
    if !header.is_encoded() || decoded <= MAX_DECODED {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "`{}` decodes to {decoded} bytes, more than the {MAX_DECODED} that are decoded here; \
         store it plainly by `ra-pack convert`, after `ra-pack extract` if it is in an archive",
        escape(name)
    )))
}

/// How the data behind `header` is encoded, which `section` gives with all that follows it, and how many bytes
/// of that it took.
pub(in crate::ops) fn tell(
    header: Header,
    section: &mut dyn BufRead,
) -> Result<(Encoding, u64), ReadError> {
    let mut probe = EncodingProbe::new(header);
    loop {
        let block = section.fill_buf()?;
        if block.is_empty() {
            return Ok(probe.finish()?);
        }
        probe.update(block);
        let count = block.len();
        section.consume(count);
    }
}

/// The same positions from the lowest to the highest, for an axis that is taken backwards.
fn forward(axis: Picked) -> Option<SliceInfoElem> {
    let Picked { first, count, step } = axis;
    if step >= 0 || count <= 0 {
        return None;
    }
    let lowest = first.checked_add(step.checked_mul(count.checked_sub(1)?)?)?;
    Some(SliceInfoElem::Slice {
        start: isize::try_from(lowest).ok()?,
        end: Some(isize::try_from(first.checked_add(1)?).ok()?),
        step: isize::try_from(step.checked_neg()?).ok()?,
    })
}

/// The length of a file with this header and its data: that these are there is seen as they pass.
fn file_len(header: &Header) -> u64 {
    header.header_len().saturating_add(header.data_len())
}

/// Fills `out` from an offset of the data, of which so many bytes have passed.
pub(super) fn read_passing(
    data: &mut impl Read,
    passed: &mut u64,
    at: u64,
    out: &mut [u8],
) -> io::Result<()> {
    let between = at.checked_sub(*passed).ok_or(io::ErrorKind::InvalidInput)?;
    io::copy(&mut data.take(between), &mut io::sink())?;
    data.read_exact(out)?;
    *passed = at.saturating_add(u64::try_from(out.len()).unwrap_or(u64::MAX));
    Ok(())
}
