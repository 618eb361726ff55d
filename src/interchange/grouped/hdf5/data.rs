//! Elements of HDF5 datasets, read in blocks.

use std::io;

use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::datatype::Datatype as Stored;
use hdf5_reader::messages::layout::DataLayout;
use hdf5_reader::{Dataset, H5Type, SliceInfo, SliceInfoElem};

use super::filters;
use super::found::{Found, WITH_PYTHON, fault};
use crate::interchange::FormatError;
use crate::interchange::grouped::{
    FILL_VALUE, GroupedVariable, NextBlock, ReadElements, attribute, text,
};
use crate::ndl::{Datatype, Value};

/// Most bytes that are read at once. Chunks are decoded again for each block that has a part of them, so a block has
/// complete ones if it can.
pub(super) const MAX_READ: usize = 64 << 20;

/// Number of bytes read at once if chunks are smaller.
const READ_AT_ONCE: u64 = 4 << 20;

/// Most bytes of a dataset in a small file, and how much larger than the file it can be: compression makes files smaller
/// by less, and more is a claim of a damaged file.
const MAX_SMALL: u64 = 256 << 20;
const MAX_RATIO: u64 = 1100;

/// The attribute with the encoding of text.
const ENCODING: &str = "_Encoding";

/// How the bytes of elements become those of an array.
#[derive(Debug)]
pub(super) struct Elements {
    pub(super) changes: Vec<Change>,
    /// Whether text is in UTF-8.
    pub(super) is_utf8: bool,
    /// Whether elements are texts of any length.
    pub(super) is_any_length: bool,
}

impl Elements {
    /// Changes each of these elements, which have `size` bytes.
    pub(super) fn change(&self, elements: &mut [u8], size: usize) {
        for element in elements.chunks_exact_mut(size.max(1)).filter(|_| !self.changes.is_empty()) {
            for change in &self.changes {
                change.apply(element);
            }
        }
    }
}

/// A change of a part of each element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) kind: ChangeKind,
    /// Offset and length of the part in bytes.
    pub(super) at: usize,
    pub(super) len: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ChangeKind {
    /// The bytes of a big-endian number are reversed.
    Swapped,
    /// Bytes after the first zero byte of text become zero.
    Terminated,
    /// Spaces at the end of text become zero bytes.
    Spaces,
}

impl Change {
    fn apply(self, element: &mut [u8]) {
        let Self { kind, at, len } = self;
        let Some(part) = at.checked_add(len).and_then(|end| element.get_mut(at..end)) else {
            return;
        };
        match kind {
            ChangeKind::Swapped => part.reverse(),
            ChangeKind::Terminated => {
                part.iter_mut().skip_while(|byte| **byte != 0).for_each(|byte| *byte = 0);
            }
            ChangeKind::Spaces => {
                let spaces = part.iter_mut().rev().take_while(|byte| **byte == b' ');
                spaces.for_each(|byte| *byte = 0);
            }
        }
    }
}

/// Checks that the elements of a dataset can be read. An error is the reason why not.
pub(super) fn check_storage(messages: &[HdfMessage], one: &Found) -> Result<(), String> {
    let (mut layout, mut has_fill) = (None, false);
    for message in messages {
        match message {
            HdfMessage::FilterPipeline(pipeline) => filters::check(&pipeline.filters)?,
            HdfMessage::ExternalFiles(_) => {
                return Err("its elements are in another file".to_owned());
            }
            HdfMessage::DataLayout(found) => layout = Some(&found.layout),
            HdfMessage::FillValue(fill) => has_fill = fill.value.is_some(),
            _ => {}
        }
    }
    // The reader takes the attribute for elements that were not written, but HDF5 takes zeros.
    let differs =
        one.attribute(FILL_VALUE).is_some_and(|fill| fill.raw_data.iter().any(|byte| *byte != 0));
    if has_fill || !differs {
        return Ok(());
    }
    let is_written = match layout {
        Some(DataLayout::Chunked { dims, .. }) => {
            let lengths = one.dataset.shape().iter().zip(dims);
            let chunks = lengths.map(|(length, chunk)| length.div_ceil(u64::from(*chunk).max(1)));
            let expected = chunks.fold(1, u64::saturating_mul);
            let chunks = one.dataset.iter_chunks().map_err(|error| error.to_string())?;
            chunks.flatten().count() as u64 == expected
        }
        Some(DataLayout::Contiguous { size, address }) => {
            *size > 0 && *address < u64::from(u32::MAX) << 32
        }
        _ => true,
    };
    if is_written {
        Ok(())
    } else {
        Err(format!("not all of its elements were written; {WITH_PYTHON}"))
    }
}

/// Checks that the file can contain the elements of a variable. An error is the reason why not.
fn check_size(variable: &GroupedVariable, file_len: u64) -> Result<(), String> {
    let width = variable.element.elbyte();
    let count = variable.shape.iter().try_fold(width, |size, length| size.checked_mul(*length));
    let most = file_len.saturating_mul(MAX_RATIO).max(MAX_SMALL);
    if count.is_some_and(|size| size <= most) || variable.shape.contains(&0) {
        return Ok(());
    }
    Err(format!(
        "its shape {:?} has more than {most} bytes, which a file of {file_len} bytes is not expected to have; \
         {WITH_PYTHON}",
        variable.shape
    ))
}

/// The elements of a dataset.
pub(super) struct Hdf5Elements {
    dataset: Dataset,
    shape: Vec<u64>,
    path: String,
    elements: Elements,
    /// The width of text, padded with zero bytes; 0 for other elements.
    width: usize,
}

impl Hdf5Elements {
    /// Makes the elements of a dataset, and completes the type of text. An error is the reason why they cannot be read.
    pub(super) fn new(
        variable: &mut GroupedVariable,
        elements: Elements,
        dataset: Dataset,
        file_len: u64,
    ) -> Result<Self, String> {
        check_size(variable, file_len)?;
        let (shape, path) = (variable.shape.clone(), variable.path.clone());
        let mut all = Self { dataset, shape, path, elements, width: 0 };
        if all.elements.is_any_length {
            // NumPy has no text of width 0, and xarray joins an axis of text of width 1.
            let width = all.longest()?.max(2);
            (variable.datatype, variable.element) =
                text(width as u64).ok_or("its texts have no width")?;
            all.width = width;
            check_size(variable, file_len)?;
        }
        let is_text = matches!(variable.datatype, Datatype::Opaque { .. }) && all.elements.is_utf8;
        if is_text && !variable.attributes.iter().any(|one| one.name == ENCODING) {
            let encoding = [Value::from("utf-8")];
            variable.attributes.push(attribute(ENCODING, Vec::new(), Datatype::String, encoding));
        }
        Ok(all)
    }

    /// Returns the length of the longest text in bytes.
    fn longest(&self) -> Result<usize, String> {
        let (mut blocks, mut longest) = (Blocks::new(self)?, 0);
        while let Some(selection) = blocks.next() {
            let raw = self.raw(&selection).map_err(|error| error.to_string())?;
            for reference in raw.chunks_exact(self.dataset.vlen_reference_size()) {
                let text = self.text(reference).map_err(|error| error.to_string())?;
                if text.ends_with(b"\0") {
                    return Err("it has text that ends with a zero byte".to_owned());
                }
                if self.elements.is_utf8 && str::from_utf8(&text).is_err() {
                    return Err("it has text that is not UTF-8, as its type says".to_owned());
                }
                longest = longest.max(text.len());
            }
        }
        Ok(longest)
    }

    fn text(&self, reference: &[u8]) -> Result<Vec<u8>, FormatError> {
        let text = self.dataset.resolve_vlen_reference_bytes(reference, 1);
        text.map_err(|error| fault(&self.path, error))
    }

    /// Reads the bytes of a part of the dataset as they are stored.
    fn raw(&self, selection: &SliceInfo) -> Result<Vec<u8>, FormatError> {
        let size = self.dataset.raw_element_size().map_err(|error| fault(&self.path, error))?;
        match size {
            1 => self.read::<Bytes<1>>(selection),
            2 => self.read::<Bytes<2>>(selection),
            4 => self.read::<Bytes<4>>(selection),
            8 => self.read::<Bytes<8>>(selection),
            16 => self.read::<Bytes<16>>(selection),
            _ => self.read::<AnyBytes>(selection),
        }
    }

    fn read<T: H5Type + AsRef<[u8]>>(&self, selection: &SliceInfo) -> Result<Vec<u8>, FormatError> {
        let array = self.dataset.read_slice::<T>(selection);
        let array = array.map_err(|error| fault(&self.path, error))?;
        let mut bytes = Vec::new();
        array.iter().for_each(|element| bytes.extend_from_slice(element.as_ref()));
        Ok(bytes)
    }

    /// Reads the next block of elements as those of the array.
    fn block(&self, selection: &SliceInfo, block: &mut Vec<u8>) -> Result<(), FormatError> {
        let mut raw = self.raw(selection)?;
        if self.elements.is_any_length {
            for reference in raw.chunks_exact(self.dataset.vlen_reference_size()) {
                let end = block.len() + self.width;
                block.extend(self.text(reference)?);
                block.resize(end, 0);
            }
            return Ok(());
        }
        let size = self.dataset.raw_element_size().map_err(|error| fault(&self.path, error))?;
        self.elements.change(&mut raw, size);
        *block = raw;
        Ok(())
    }
}

impl ReadElements for Vec<Hdf5Elements> {
    fn elements(&self, index: usize) -> NextBlock<'_> {
        let all = self.get(index);
        let mut blocks = None;
        Box::new(move |block| {
            let Some(all) = all else { return Ok(()) };
            if blocks.is_none() {
                blocks = Some(Blocks::new(all).map_err(io::Error::other)?);
            }
            let next = blocks.as_mut().and_then(Blocks::next);
            next.map_or(Ok(()), |next| all.block(&next, block).map_err(io::Error::other))
        })
    }
}

/// The blocks of a dataset in the order of its elements: parts of one dimension, at each index of those before it.
struct Blocks {
    shape: Vec<u64>,
    /// The dimension that is divided, and the length of its parts.
    axis: usize,
    step: u64,
    /// The first index of the next block along each dimension; `None` at the end.
    at: Option<Vec<u64>>,
}

impl Blocks {
    fn new(elements: &Hdf5Elements) -> Result<Self, String> {
        let Hdf5Elements { dataset, shape, .. } = elements;
        let size = dataset.raw_element_size().map_err(|error| error.to_string())? as u64;
        let inner = |axis: usize| {
            let lengths = shape.iter().skip(axis + 1);
            lengths.fold(size.max(1), |bytes, length| bytes.saturating_mul(*length))
        };
        let chunks = dataset.chunks().unwrap_or_default();
        let chunk = |axis: usize| chunks.get(axis).map_or(1, |chunk| u64::from(*chunk).max(1));
        let fits = |bytes: u64| bytes <= MAX_READ as u64;
        // With complete chunks, or else with parts of them.
        let whole = (0..shape.len()).find(|axis| {
            let before = (0..*axis).all(|axis| chunk(axis) == 1);
            before && fits(inner(*axis).saturating_mul(chunk(*axis)))
        });
        let axis = whole.or_else(|| (0..shape.len()).find(|axis| fits(inner(*axis)))).unwrap_or(0);
        let rows = (READ_AT_ONCE / inner(axis).max(1)).max(1);
        let most = (MAX_READ as u64 / inner(axis).max(1)).max(1);
        let chunk = chunk(axis);
        let step = if chunk <= most {
            rows.next_multiple_of(chunk).min(most - most % chunk)
        } else {
            most
        };
        let at = (!shape.contains(&0)).then(|| vec![0; shape.len()]);
        Ok(Self { shape: shape.clone(), axis, step, at })
    }

    fn next(&mut self) -> Option<SliceInfo> {
        let mut at = self.at.take()?;
        let part = |(axis, (start, length)): (usize, (&u64, &u64))| {
            let end = match axis.cmp(&self.axis) {
                std::cmp::Ordering::Less => start + 1,
                std::cmp::Ordering::Equal => start.saturating_add(self.step).min(*length),
                std::cmp::Ordering::Greater => *length,
            };
            SliceInfoElem::Slice { start: *start, end, step: 1 }
        };
        let selections = at.iter().zip(&self.shape).enumerate().map(part).collect();
        for axis in (0..at.len().min(self.axis + 1)).rev() {
            let (Some(index), Some(length)) = (at.get_mut(axis), self.shape.get(axis)) else {
                break;
            };
            *index = index.saturating_add(if axis == self.axis { self.step } else { 1 });
            if *index < *length {
                self.at = Some(at);
                break;
            }
            *index = 0;
        }
        Some(SliceInfo { selections })
    }
}

/// The bytes of an element of this size, as they are stored.
#[derive(Clone)]
struct Bytes<const N: usize>([u8; N]);

impl<const N: usize> AsRef<[u8]> for Bytes<N> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> H5Type for Bytes<N> {
    fn hdf5_type() -> Stored {
        Stored::Opaque { size: u32::try_from(N).unwrap_or(u32::MAX), tag: String::new() }
    }

    fn from_bytes(bytes: &[u8], _: &Stored) -> hdf5_reader::error::Result<Self> {
        let error = || hdf5_reader::error::Error::InvalidData("an element is too short".to_owned());
        bytes.first_chunk().map(|bytes| Self(*bytes)).ok_or_else(error)
    }

    fn element_size(_: &Stored) -> usize {
        N
    }
}

/// The bytes of an element of any size, as they are stored.
#[derive(Clone)]
struct AnyBytes(Box<[u8]>);

impl AsRef<[u8]> for AnyBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl H5Type for AnyBytes {
    fn hdf5_type() -> Stored {
        Stored::Opaque { size: 1, tag: String::new() }
    }

    fn from_bytes(bytes: &[u8], _: &Stored) -> hdf5_reader::error::Result<Self> {
        Ok(Self(bytes.into()))
    }

    fn element_size(stored: &Stored) -> usize {
        hdf5_reader::dtype_element_size(stored).unwrap_or(1)
    }
}
