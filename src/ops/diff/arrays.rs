//! How two arrays differ: in their headers, and element by element in their own type.

use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::DiffOptions;
use super::blob::{self, Blob};
use super::distance::Tally;
use crate::error::{Error, Result};
use crate::fs::File;
use crate::ndl::Order;
use crate::ops::open::{check_decoded, tell};
use crate::ops::single_file;
use crate::pack::shape_of;
use crate::progress::Progress;
use crate::ra::{self, DecodeError, Decoder, ElementType, Encoding, Flags, Header, Reversal};

/// Elements are compared in blocks of so many bytes, or one element.
const BLOCK: u64 = 1 << 20;

/// The differences of two arrays.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArrayDiff {
    /// The first array, by its path as given.
    pub a: PathBuf,
    /// The second, by its path as given.
    pub b: PathBuf,
    /// The type of the elements of the first.
    #[serde(rename = "type")]
    pub element: String,
    /// The shape of the first, in the order of its description.
    pub shape: Vec<u64>,
    /// The differences of the headers, and of the bytes after the data.
    pub header: Vec<FieldDifference>,
    /// The differences of the elements; absent when types or shapes differ, and elements have no counterparts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<ElementsDiff>,
}

/// A field that is not the same.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FieldDifference {
    /// The name of the field. A header has `type`, `shape` and `metadata`, the bytes after the data; the way that an array
    /// is stored has `type`, `order`, `byte order`, `encoding` and `flags`.
    #[cfg_attr(test, schemars(extend("enum" = ["type", "shape", "metadata", "order", "byte order", "encoding", "flags"])))]
    pub field: &'static str,
    /// The value of the first array.
    pub a: String,
    /// The value of the second.
    pub b: String,
}

/// The differences of elements. Two that are not numbers (NaN) are equal.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ElementsDiff {
    /// The number of elements.
    pub count: u64,
    /// The number of elements that differ by more than is tolerated.
    pub differing: u64,
    /// The number of these that are NaN on one side alone. Distances leave them out.
    pub nan: u64,
    /// The first of the differing ones, in the order of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Place>,
    /// The two that are furthest apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub furthest: Option<Place>,
    /// The distances, over all elements; absent for elements that are not numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
}

/// An element of both arrays.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "DiffPlace"))]
pub struct Place {
    /// Its index in the order of the shape.
    pub index: Vec<u64>,
    /// The element of the first array.
    pub a: String,
    /// The element of the second.
    pub b: String,
}

/// The distances of two arrays, over all elements, tolerated or not. Of complex numbers, the distance of
/// two is the magnitude of their difference.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Distance {
    /// The sum of all distances; null when it is infinite.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub l1: f64,
    /// The square root of the sum of their squares; null when it is infinite.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub l2: f64,
    /// The largest; null when it is infinite.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub max: f64,
    /// The largest part that a distance is of the larger magnitude of its two elements.
    pub relative: f64,
}

impl ArrayDiff {
    /// Whether nothing differs by more than is tolerated.
    pub fn is_same(&self) -> bool {
        self.header.is_empty()
            && self.elements.as_ref().is_some_and(|elements| elements.differing == 0)
    }
}

/// Compares the arrays in the files `a` and `b`, element by element.
///
/// Elements with the same index in both shapes are compared, however the files store them: byte order,
/// encoding and, where descriptions tell of it, the order of dimensions may differ.
///
/// # Errors
///
/// When one of them cannot be read or is no whole RawArray.
pub fn diff_arrays(a: &Path, b: &Path, options: &DiffOptions) -> Result<ArrayDiff> {
    let progress = &options.progress;
    let (first, second) = (OpenArray::open(a, progress)?, OpenArray::open(b, progress)?);
    progress.stage("comparing", first.data_len().saturating_add(second.data_len()), 0);
    progress.begin(&b.to_string_lossy(), second.data_len());
    let (element, shape) = (first.element().to_string(), first.shape());
    let (header, elements) = compare(&first, second, options)?;
    Ok(ArrayDiff { a: a.to_owned(), b: b.to_owned(), element, shape, header, elements })
}

/// What two headers say differently, and how the elements differ where they have counterparts.
pub(super) fn compare(
    first: &OpenArray,
    mut second: OpenArray,
    options: &DiffOptions,
) -> Result<(Vec<FieldDifference>, Option<ElementsDiff>)> {
    let header = differences(first, &second)?;
    if header.iter().any(|field| field.field != "metadata") {
        return Ok((header, None));
    }
    if first.is_row() != second.is_row() {
        second.reverse()?;
    }
    let element = first.element();
    let elbyte = element.elbyte();
    let mut tally = Tally::new(element, options);
    let step = BLOCK.checked_div(elbyte).unwrap_or(1).max(1).saturating_mul(elbyte);
    let mut at = 0;
    let too_large = |_| Error::Unsupported(format!("elements of {elbyte} bytes are too large"));
    let mut blocks = (Vec::new(), Vec::new());
    while at < first.data_len() {
        let len = step.min(first.data_len().saturating_sub(at));
        let len = usize::try_from(len).map_err(too_large)?;
        blocks.0.resize(len, 0);
        blocks.1.resize(len, 0);
        first.read(&mut blocks.0, at)?;
        second.read(&mut blocks.1, at)?;
        tally.add(&blocks.0, &blocks.1);
        at = at.saturating_add(len as u64);
    }
    Ok((header, Some(tally.finish(|number| first.index(number)))))
}

/// In what ways two arrays are stored differently.
pub(super) fn stored_otherwise(a: &OpenArray, b: &OpenArray) -> Vec<FieldDifference> {
    let pairs = a.storage().into_iter().zip(b.storage());
    let others = pairs.filter(|((_, a), (_, b))| a != b);
    let mut fields: Vec<_> =
        others.map(|((field, a), (_, b))| FieldDifference { field, a, b }).collect();
    // Flags are told only where nothing else tells what they say.
    if fields.len() > 1 {
        fields.retain(|field| field.field != "flags");
    }
    fields
}

fn differences(a: &OpenArray, b: &OpenArray) -> Result<Vec<FieldDifference>> {
    let mut fields = Vec::new();
    // A truth value of Julia is read as the number that all others write.
    let read_as = |element| if element == ElementType::BOOL { ElementType::UINT8 } else { element };
    if read_as(a.element()) != read_as(b.element()) {
        let (a, b) = (a.element().to_string(), b.element().to_string());
        fields.push(FieldDifference { field: "type", a, b });
    }
    if a.shape() != b.shape() {
        let (a, b) = (format!("{:?}", a.shape()), format!("{:?}", b.shape()));
        fields.push(FieldDifference { field: "shape", a, b });
    }
    if !a.has_metadata_of(b)? {
        let say = |side: &OpenArray| match side.metadata_len() {
            0 => "none".to_owned(),
            1 => "1 byte".to_owned(),
            many => format!("{many} bytes"),
        };
        let (a, b) = (say(a), say(b));
        let b = if a == b { format!("{b}, others") } else { b };
        fields.push(FieldDifference { field: "metadata", a, b });
    }
    Ok(fields)
}

/// Bytes of metadata that are compared at once.
const METADATA_BLOCK: u64 = 1 << 16;

/// An array, opened.
pub(super) struct OpenArray {
    name: String,
    blob: Blob,
    /// As it stands in the file.
    stored: Header,
    /// Of the elements as they are read.
    header: Header,
    order: Order,
    /// The order before the elements were reordered.
    stored_order: Order,
    encoding: Encoding,
    data: Data,
    /// Where metadata begins in the file, and how long it is.
    metadata: (u64, u64),
}

/// Where the elements are.
enum Data {
    /// In the file, from an offset on, in the byte order that its header says.
    Stored(u64),
    /// In a file without a name, decoded or reordered, in this machine's byte order.
    Scratch(File),
}

impl OpenArray {
    /// The array in a file.
    pub(super) fn open(path: &Path, progress: &Progress) -> Result<Self> {
        let blob = Blob::whole(File::open(path)?.watched(progress))?;
        let name = path.to_string_lossy().into_owned();
        let described = single_file::description_beside(path)?;
        Self::new(&name, blob, described.map_or(Order::Column, |ndarray| ndarray.order()))
    }

    /// The array in `blob`.
    pub(super) fn new(name: &str, blob: Blob, order: Order) -> Result<Self> {
        let unreadable = |error| Error::array_file(name.as_ref(), error);
        let damaged = |error: DecodeError| unreadable(error.into());
        let len = blob.len();
        let stored = Header::read(&mut blob.reader()).map_err(unreadable)?;
        let trailing = stored.check_file_len(len).map_err(damaged)?;
        let mut side = Self {
            header: stored.decoded(),
            order,
            stored_order: order,
            encoding: Encoding::Raw,
            metadata: (len.saturating_sub(trailing), trailing),
            data: Data::Stored(stored.header_len()),
            stored,
            blob,
            name: name.to_owned(),
        };
        if side.stored.is_encoded() {
            // An encoded section can only be decoded as a whole.
            check_decoded(name, &side.stored)?;
            let start = side.stored.header_len();
            let mut section = BufReader::new(side.blob.reader_from(start));
            let (encoding, used) = tell(side.stored.clone(), &mut section).map_err(unreadable)?;
            let end = start.saturating_add(used);
            side.metadata = (end, len.saturating_sub(end));
            side.encoding = encoding;
            side.data = Data::Scratch(side.decode()?);
        }
        Ok(side)
    }

    /// Decodes the elements into a file.
    fn decode(&self) -> Result<File> {
        let unreadable = |error| Error::array_file(self.name.as_ref(), error);
        let section = BufReader::new(self.blob.reader_from(self.stored.header_len()));
        let mut decoder = Decoder::new(section, self.stored.clone(), self.encoding);
        let element = self.header.element().elbyte().max(1);
        let block = METADATA_BLOCK
            .saturating_sub(METADATA_BLOCK.checked_rem(element).unwrap_or(0))
            .max(element);
        let (scratch, mut at, mut buffer) = (blob::scratch()?, 0, Vec::new());
        while at < self.data_len() {
            let len = block.min(self.data_len().saturating_sub(at));
            buffer.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
            decoder.read_exact(&mut buffer).map_err(|error| unreadable(error.into()))?;
            decoder.swap_to_native(&mut buffer).map_err(|error| unreadable(error.into()))?;
            scratch.write_all_at(&buffer, at)?;
            at = at.saturating_add(len);
        }
        Ok(scratch)
    }

    pub(super) fn element(&self) -> ElementType {
        self.header.element()
    }

    pub(super) fn shape(&self) -> Vec<u64> {
        shape_of(self.header.dims(), self.order)
    }

    pub(super) fn data_len(&self) -> u64 {
        self.header.data_len()
    }

    /// Whether the last index of the shape runs fastest.
    pub(super) fn is_row(&self) -> bool {
        self.order != Order::Column
    }

    /// How it is stored: a word for each way in which files of the same elements may differ.
    pub(super) fn storage(&self) -> [(&'static str, String); 5] {
        let flags = self.stored.flags();
        let is_big = flags.contains(Flags::BIG_ENDIAN);
        let encoding = match self.encoding {
            Encoding::Raw => "none".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        [
            ("type", self.stored.element().to_string()),
            ("order", self.stored_order.word().to_owned()),
            ("byte order", if is_big { "big-endian" } else { "little-endian" }.to_owned()),
            ("encoding", encoding),
            ("flags", format!("{:#x}", flags.bits())),
        ]
    }

    pub(super) fn metadata_len(&self) -> u64 {
        self.metadata.1
    }

    /// The index, in the order of the shape, of an element by its number in the file.
    pub(super) fn index(&self, number: u64) -> Vec<u64> {
        let mut left = number;
        let mut next = |extent: &u64| {
            let index = left.checked_rem(*extent).unwrap_or(0);
            left = left.checked_div(*extent).unwrap_or(0);
            index
        };
        let shape = self.shape();
        if self.is_row() {
            let mut index: Vec<_> = shape.iter().rev().map(&mut next).collect();
            index.reverse();
            index
        } else {
            shape.iter().map(&mut next).collect()
        }
    }

    /// Reads whole elements at an offset of the data, in this machine's byte order.
    pub(super) fn read(&self, buffer: &mut [u8], at: u64) -> Result<()> {
        match &self.data {
            Data::Scratch(file) => file.read_exact_at(buffer, at),
            Data::Stored(start) => {
                self.blob.read_exact_at(buffer, start.saturating_add(at))?;
                let swapped = self.stored.swap_to_native(buffer);
                swapped.map_err(|source| Error::array(self.name.clone(), source))
            }
        }
    }

    /// Brings the elements into the other order of dimensions.
    pub(super) fn reverse(&mut self) -> Result<()> {
        // The order of a file that says `row-unreversed` is that of one that says `row` with its dims reversed.
        let header = match self.order {
            Order::RowUnreversed => self.header.reversed(),
            _ => self.header.clone(),
        };
        let scratch = blob::scratch()?;
        let reversal = Reversal::new(&header);
        let done = reversal.reverse_at(
            crate::pipeline::default_jobs(),
            |run, at| Ok(self.read(run, at)?),
            |run, at| Ok(scratch.write_all_at(run, at)?),
        );
        done.map_err(Error::io("reorder", &self.name))?;
        let shape = self.shape();
        self.order = if self.is_row() { Order::Column } else { Order::Row };
        let refuse = |error: ra::ShapeError| Error::Unsupported(error.to_string());
        self.header =
            Header::new(header.element(), shape_of(&shape, self.order)).map_err(refuse)?;
        self.data = Data::Scratch(scratch);
        Ok(())
    }

    /// Whether the same bytes follow the data in both files.
    pub(super) fn has_metadata_of(&self, other: &Self) -> Result<bool> {
        let ((mut at, len), (mut there, other_len)) = (self.metadata, other.metadata);
        if len != other_len {
            return Ok(false);
        }
        let mut left = len;
        while left > 0 {
            let step = left.min(METADATA_BLOCK);
            let count = usize::try_from(step).unwrap_or(usize::MAX);
            let (mut ours, mut theirs) = (vec![0; count], vec![0; count]);
            self.blob.read_exact_at(&mut ours, at)?;
            other.blob.read_exact_at(&mut theirs, there)?;
            if ours != theirs {
                return Ok(false);
            }
            (at, there) = (at.saturating_add(step), there.saturating_add(step));
            left = left.saturating_sub(step);
        }
        Ok(true)
    }
}
