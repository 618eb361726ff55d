//! Elements of HDF5 datasets, read in blocks.

use std::io;

use hdf5_reader::error::{self, Error};
use hdf5_reader::messages::datatype::Datatype as Stored;
use hdf5_reader::{Dataset, H5Type, SliceInfo, SliceInfoElem};

use super::fault::{Result, fault};
use super::types::{self, Change};
use crate::interchange::grouped::{NextBlock, ReadElements};

/// Most bytes that are read at once. Chunks are decoded again for each block that has a part of them, so a block has
/// complete ones if it can.
pub(super) const MAX_READ: usize = 64 << 20;

/// Number of bytes read at once if chunks are smaller.
const READ_AT_ONCE: u64 = 4 << 20;

/// The elements of a dataset.
pub(super) struct Hdf5Elements {
    dataset: Dataset,
    path: String,
    changes: Vec<Change>,
    /// Size of an element as it is stored in bytes.
    size: usize,
    /// The width of texts of any length, which are padded with zero bytes; 0 for other elements.
    width: usize,
}

impl Hdf5Elements {
    /// Makes the elements of a dataset that are not text of any length.
    pub(super) fn new(dataset: Dataset, path: &str, changes: Vec<Change>) -> Result<Self> {
        let size = dataset.raw_element_size()?;
        Ok(Self { dataset, path: path.to_owned(), changes, size, width: 0 })
    }

    /// Pads texts of any length to the length of the longest in bytes, and returns it.
    pub(super) fn pad(&mut self, is_utf8: bool) -> Result<u64> {
        // NumPy has no text of width 0, and xarray joins an axis of text of width 1.
        let mut longest = 2;
        for selection in self.blocks() {
            for reference in self.raw(&selection)?.chunks_exact(self.size) {
                let text = self.dataset.resolve_vlen_reference_bytes(reference, 1)?;
                if text.ends_with(b"\0") {
                    return Err("it has text that ends with a zero byte".into());
                }
                if is_utf8 && str::from_utf8(&text).is_err() {
                    return Err("it has text that is not UTF-8, as its type says".into());
                }
                longest = longest.max(text.len());
            }
        }
        self.width = longest;
        Ok(longest as u64)
    }

    /// Reads the bytes of a part of the dataset as they are stored.
    fn raw(&self, selection: &SliceInfo) -> error::Result<Vec<u8>> {
        let read = match self.size {
            1 => read::<[u8; 1]>,
            2 => read::<[u8; 2]>,
            4 => read::<[u8; 4]>,
            8 => read::<[u8; 8]>,
            16 => read::<[u8; 16]>,
            _ => read::<Box<[u8]>>,
        };
        read(&self.dataset, selection)
    }

    /// Reads the next block of elements as those of the array.
    fn block(&self, selection: &SliceInfo, block: &mut Vec<u8>) -> error::Result<()> {
        let mut raw = self.raw(selection)?;
        if self.width == 0 {
            types::change(&mut raw, &self.changes, self.size);
            *block = raw;
            return Ok(());
        }
        for reference in raw.chunks_exact(self.size) {
            let end = block.len() + self.width;
            block.extend(self.dataset.resolve_vlen_reference_bytes(reference, 1)?);
            block.resize(end, 0);
        }
        Ok(())
    }

    /// Returns the blocks of the dataset in the order of its elements: parts of one dimension, at each index of those
    /// before it.
    fn blocks(&self) -> impl Iterator<Item = SliceInfo> + use<> {
        let (shape, size) = (self.dataset.shape().to_vec(), self.size as u64);
        let inner = |axis: usize| {
            let lengths = shape.iter().skip(axis + 1);
            lengths.fold(size.max(1), |bytes, length| bytes.saturating_mul(*length)).max(1)
        };
        let chunks = self.dataset.chunks().unwrap_or_default();
        let chunk = |axis: usize| chunks.get(axis).map_or(1, |chunk| u64::from(*chunk).max(1));
        let axis = (0..shape.len()).find(|axis| inner(*axis) <= MAX_READ as u64).unwrap_or(0);
        let rows = (READ_AT_ONCE / inner(axis)).max(1);
        let most = (MAX_READ as u64 / inner(axis)).max(1);
        let chunk = chunk(axis).min(most);
        let step = rows.next_multiple_of(chunk).min(most - most % chunk);
        let parts = shape.into_iter().enumerate().map(|(at, length)| match at.cmp(&axis) {
            std::cmp::Ordering::Less => (1, length),
            std::cmp::Ordering::Equal => (step, length),
            std::cmp::Ordering::Greater => (length.max(1), length),
        });
        let parts: Vec<(u64, u64)> = parts.collect();
        let counts = parts.iter().map(|(step, length)| length.div_ceil(*step));
        (0..counts.fold(1, u64::saturating_mul)).map(move |mut number| {
            let part = |(step, length): &(u64, u64)| {
                let count = length.div_ceil(*step);
                let start = number % count * step;
                number /= count;
                let end = start.saturating_add(*step).min(*length);
                SliceInfoElem::Slice { start, end, step: 1 }
            };
            let mut selections: Vec<_> = parts.iter().rev().map(part).collect();
            selections.reverse();
            SliceInfo { selections }
        })
    }
}

impl ReadElements for Vec<Hdf5Elements> {
    fn elements(&self, index: usize) -> NextBlock<'_> {
        let Some(all) = self.get(index) else { return Box::new(|_| Ok(())) };
        let mut blocks = all.blocks();
        Box::new(move |block| match blocks.next() {
            Some(selection) => {
                let read = all.block(&selection, block);
                read.map_err(|error| io::Error::other(fault(&all.path, error)))
            }
            None => Ok(()),
        })
    }
}

/// The bytes of an element as they are stored. Numbers are arrays, because a box for each is slow.
#[derive(Clone)]
struct Bytes<B>(B);

fn read<B>(dataset: &Dataset, selection: &SliceInfo) -> error::Result<Vec<u8>>
where
    B: AsRef<[u8]> + Clone + Send + for<'b> TryFrom<&'b [u8]>,
{
    let mut bytes = Vec::new();
    let elements = dataset.read_slice::<Bytes<B>>(selection)?;
    elements.iter().for_each(|element| bytes.extend_from_slice(element.0.as_ref()));
    Ok(bytes)
}

impl<B: Clone + Send + for<'b> TryFrom<&'b [u8]>> H5Type for Bytes<B> {
    fn hdf5_type() -> Stored {
        Stored::Opaque { size: 1, tag: String::new() }
    }

    fn from_bytes(bytes: &[u8], _: &Stored) -> error::Result<Self> {
        let error = |_| Error::InvalidData("an element has another length".to_owned());
        bytes.try_into().map(Self).map_err(error)
    }

    fn element_size(stored: &Stored) -> usize {
        hdf5_reader::dtype_element_size(stored).unwrap_or(1)
    }
}
