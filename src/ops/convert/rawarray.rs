//! The elements of a RawArray file, whatever they went through.

use std::io::{self, BufReader, Read, Seek as _, SeekFrom};

use super::data::{Data, Placed};
use crate::error::Result;
use crate::fs::{File, Stamp};
use crate::ops::open::tell;
use crate::ra::{self, Decoder, Encoding, Flags, Header, ReadError};

/// Most bytes that are swapped at once.
const BLOCK: usize = 64 * 1024;

/// A RawArray file of which the header is read.
pub(super) struct RawArrayFile {
    file: File,
    /// What it looked like, unless nobody else knows it.
    stamp: Option<Stamp>,
    len: u64,
    pub(super) header: Header,
}

/// Bytes that follow the elements of an array.
#[derive(Debug)]
pub(super) enum Metadata {
    None,
    /// In the file, from an offset on: so many.
    Placed(File, u64, u64),
}

impl Metadata {
    /// How many.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::Placed(_, _, len) => *len,
        }
    }

    /// Writes them into `target`, from `offset` on.
    pub(super) fn write_at(&self, target: &File, offset: u64) -> Result<()> {
        match self {
            Self::None => Ok(()),
            Self::Placed(file, from, len) => file.copy_to(*from, *len, target, offset),
        }
    }
}

impl RawArrayFile {
    /// Reads the header of a file from its beginning.
    pub(super) fn open(mut file: File, stamp: Option<Stamp>) -> Result<Self, ReadError> {
        let len = match &stamp {
            Some(stamp) => stamp.len(),
            None => file.len().map_err(io::Error::from)?,
        };
        file.rewind().map_err(io::Error::from)?;
        let header = Header::read(&mut file)?;
        header.check_file_len(len)?;
        Ok(Self { file, stamp, len, header })
    }

    /// The elements, little-endian unless `keep_big`, and what follows them. `name` is what errors call the
    /// file.
    pub(super) fn elements(
        self,
        name: &str,
        keep_big: bool,
    ) -> Result<(Data<'static>, Metadata), ReadError> {
        let Self { file, stamp, len, header } = self;
        if header.is_encoded() {
            return decoded(file, header, len);
        }
        let (offset, data_len) = (header.header_len(), header.data_len());
        let metadata = match header.check_file_len(len)? {
            0 => Metadata::None,
            trailing => {
                let file = file.try_clone().map_err(io::Error::from)?;
                Metadata::Placed(file, offset.saturating_add(data_len), trailing)
            }
        };
        let placed = Placed::new(file, offset, stamp);
        if !header.flags().contains(Flags::BIG_ENDIAN) || keep_big || data_len == 0 {
            return Ok((Data::Placed(placed), metadata));
        }
        let width = swap_width(&header)?;
        if width < 2 {
            return Ok((Data::Placed(placed), metadata));
        }
        if width > BLOCK {
            return Err(header.unswappable().into());
        }
        let swapped = Swapped {
            inner: placed.into_reader(data_len),
            width,
            left: data_len,
            block: Vec::new(),
            at: 0,
        };
        Ok((Data::Passing(Box::new(swapped), name.to_owned()), metadata))
    }
}

/// Decodes a data section of a file of `len` bytes, which is read twice: first to tell how it is encoded.
fn decoded(
    mut file: File,
    header: Header,
    len: u64,
) -> Result<(Data<'static>, Metadata), ReadError> {
    let start = header.header_len();
    file.seek(SeekFrom::Start(start))?;
    let (encoding, used) = tell(header.clone(), &mut BufReader::new(&mut file))?;
    let end = start.saturating_add(used);
    let metadata = match len.saturating_sub(end) {
        0 => Metadata::None,
        trailing => Metadata::Placed(file.try_clone().map_err(io::Error::from)?, end, trailing),
    };
    file.seek(SeekFrom::Start(start))?;
    let is_little = match encoding {
        Encoding::Raw | Encoding::Lz4 | Encoding::StrayFlag => {
            !header.flags().contains(Flags::BIG_ENDIAN)
        }
        Encoding::Leb128 | Encoding::Bits => cfg!(target_endian = "little"),
    };
    let (plain, left) = (header.decoded(), header.data_len());
    let decoder = Decoder::new(BufReader::new(file), header, encoding);
    if is_little || left == 0 {
        return Ok((Data::Passing(Box::new(decoder), String::new()), metadata));
    }
    let width = swap_width(&plain)?;
    if width > BLOCK {
        return Err(plain.unswappable().into());
    }
    let swapped = Swapped { inner: decoder, width, left, block: Vec::new(), at: 0 };
    Ok((Data::Passing(Box::new(swapped), String::new()), metadata))
}

/// Bytes that change places with each other; an error for elements of which nobody knows.
fn swap_width(header: &Header) -> Result<usize, ReadError> {
    match header.element().swap_width().and_then(|width| usize::try_from(width).ok()) {
        Some(width) => Ok(width),
        None => Err(header.unswappable().into()),
    }
}

/// Reverses the bytes of each number that passes.
struct Swapped<R> {
    inner: R,
    width: usize,
    left: u64,
    block: Vec<u8>,
    /// How much of the block was given.
    at: usize,
}

impl<R: Read> Read for Swapped<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.block.len() && self.left > 0 {
            let whole = BLOCK.saturating_sub(BLOCK.checked_rem(self.width).unwrap_or(0));
            let len = usize::try_from(self.left).unwrap_or(whole).min(whole);
            self.block.resize(len, 0);
            self.inner.read_exact(&mut self.block)?;
            self.left = self.left.saturating_sub(u64::try_from(len).unwrap_or(0));
            ra::reverse_each(&mut self.block, self.width);
            self.at = 0;
        }
        let rest = self.block.get(self.at..).unwrap_or_default();
        let count = rest.len().min(out.len());
        let (given, _) = rest.split_at_checked(count).unwrap_or_default();
        out.get_mut(..count).unwrap_or_default().copy_from_slice(given);
        self.at = self.at.saturating_add(count);
        Ok(count)
    }
}
