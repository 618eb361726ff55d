//! One of two arrays: its elements by their offset, whatever way they are stored.

use std::io::{BufReader, Read as _};
use std::path::Path;

use super::blob::{self, Blob};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::ndl::Order;
use crate::ops::lone;
use crate::ops::open::{check_decoded, tell};
use crate::pack::shape_of;
use crate::progress::Progress;
use crate::ra::{self, DecodeError, Decoder, ElementType, Encoding, Flags, Header, Reversal};

/// Bytes of metadata that are compared at once.
const BLOCK: u64 = 1 << 16;

/// An array, opened.
pub(super) struct Side {
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

impl Side {
    /// The array in a file.
    pub(super) fn open(path: &Path, progress: &Progress) -> Result<Self> {
        let blob = Blob::whole(File::open(path)?.watched(progress))?;
        let name = path.to_string_lossy().into_owned();
        let described = lone::description_beside(path)?;
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
        let block = BLOCK.saturating_sub(BLOCK.checked_rem(element).unwrap_or(0)).max(element);
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
            let step = left.min(BLOCK);
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
