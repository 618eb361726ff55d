//! The elements of an array on their way from one file to another.

use std::io::{self, BufReader, Cursor, Read, Seek as _, SeekFrom};
use std::path::Path;

use crate::error::{Error, Result};
use crate::fs::{self, File, Stamp};
use crate::interchange;
use crate::ops::open::tell;
use crate::ra::{self, Decoder, Encoding, Flags, Header, ReadError, Reversal};

/// Bytes that are moved at once.
const BLOCK: usize = 1 << 20;

/// Most bytes that are swapped at once.
const SWAPPED: usize = 64 * 1024;

/// Where the elements of an array come from: as they are to be written, but perhaps in another order.
pub(super) enum Data<'s> {
    /// They lie in a file together.
    Placed(PlacedElements),
    /// They pass by once. Errors are about the file of that name.
    Passing(Box<dyn Read + 's>, String),
}

/// Elements that lie in a file together.
#[derive(Debug)]
pub(super) struct PlacedElements {
    file: File,
    offset: u64,
    /// What the file looked like when its header was read, unless it is our own.
    stamp: Option<Stamp>,
}

impl PlacedElements {
    /// In a file that looked so, if it is one of others.
    pub(super) fn new(file: File, offset: u64, stamp: Option<Stamp>) -> Self {
        Self { file, offset, stamp }
    }

    /// Reads `len` bytes of them, and sees at the end that the file is what it was.
    pub(super) fn into_reader(self, len: u64) -> impl Read {
        PositionalReader { elements: self, at: 0, len }
    }

    fn check_unchanged(&self) -> Result<()> {
        self.stamp.as_ref().map_or(Ok(()), |stamp| self.file.check_unchanged(stamp))
    }
}

/// The elements of an array, and what has to be done to them.
pub(super) struct Arranged<'s> {
    data: Data<'s>,
    /// Bytes of all elements.
    pub(super) len: u64,
    /// How the axes are reversed on the way.
    reversal: Option<Reversal>,
    /// The output: elements that have to lie in a file before they can be written do so beside it.
    output: &'s Path,
    jobs: usize,
}

impl<'s> Arranged<'s> {
    /// The elements of an array with this header, as they come or with the axes reversed.
    pub(super) fn new(
        data: Data<'s>,
        source: &Header,
        reverse: bool,
        output: &'s Path,
        jobs: usize,
    ) -> Self {
        let reversal = reverse.then(|| Reversal::new(source)).filter(|way| !way.is_identity());
        Self { data, len: source.data_len(), reversal, output, jobs }
    }

    /// Writes them into `target`, from `offset` on.
    pub(super) fn write_at(self, target: &File, offset: u64) -> Result<()> {
        let Self { data, len, reversal, output, jobs } = self;
        let placed = match (data, &reversal) {
            (Data::Placed(placed), _) => placed,
            (Data::Passing(mut reader, name), None) => {
                return pour(&mut reader, len, &name, target, offset);
            }
            (Data::Passing(mut reader, name), Some(_)) => {
                let scratch = fs::scratch_file(output)?;
                pour(&mut reader, len, &name, &scratch, 0)?;
                PlacedElements::new(scratch, 0, None)
            }
        };
        match reversal {
            None => placed.file.copy_to(placed.offset, len, target, offset)?,
            Some(reversal) => reversal
                .reverse_at(
                    jobs,
                    |bytes, at| Ok(placed.file.read_exact_at(bytes, placed.offset + at)?),
                    |bytes, at| Ok(target.write_all_at(bytes, offset + at)?),
                )
                .map_err(|error| failed(error, "reorder", target.path()))?,
        }
        placed.check_unchanged()
    }

    /// Has `write` read all of them, one after the other.
    pub(super) fn read_by<T>(self, write: impl FnOnce(&mut dyn Read) -> T) -> Result<T> {
        let (len, output) = (self.len, self.output);
        let data = if self.reversal.is_some() {
            let scratch = fs::scratch_file(output)?;
            self.write_at(&scratch, 0)?;
            Data::Placed(PlacedElements::new(scratch, 0, None))
        } else {
            self.data
        };
        Ok(match data {
            Data::Placed(placed) => write(&mut placed.into_reader(len)),
            Data::Passing(mut reader, name) => {
                // Even no elements may have a sum that is wrong, which is told at the end.
                let end = if len == 0 { read_end(&mut reader).err() } else { None };
                write(&mut NamedReader { reader: reader.take(len), name, end })
            }
        })
    }
}

/// Reads elements from where they lie.
struct PositionalReader {
    elements: PlacedElements,
    at: u64,
    len: u64,
}

impl Read for PositionalReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let PlacedElements { file, offset, .. } = &self.elements;
        if self.at == self.len {
            self.elements.check_unchanged()?;
            return Ok(0);
        }
        let room = usize::try_from(self.len - self.at).unwrap_or(usize::MAX).min(out.len());
        let (out, _) = out.split_at_mut(room);
        let count = file.read_at(out, offset + self.at)?;
        if count < out.len() {
            return Err(file.changed("it became shorter").into());
        }
        self.at += count as u64;
        Ok(count)
    }
}

/// Says of errors which file they are about.
struct NamedReader<R> {
    reader: R,
    name: String,
    /// An error that comes first.
    end: Option<io::Error>,
}

impl<R: Read> Read for NamedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let found = self.end.take().map_or_else(|| self.reader.read(out), Err);
        found.map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => failed(error, "read", self.name.as_ref()).into(),
        })
    }
}

/// Writes `len` bytes of `reader` into a file.
fn pour(reader: &mut dyn Read, len: u64, name: &str, target: &File, offset: u64) -> Result<()> {
    let failed = |error| failed(error, "read", name.as_ref());
    let mut block = Vec::new();
    let mut done = 0;
    while done < len {
        let wanted = usize::try_from(len - done).unwrap_or(BLOCK).min(BLOCK);
        block.resize(wanted, 0);
        reader.read_exact(&mut block).map_err(failed)?;
        target.write_all_at(&block, offset + done)?;
        done += wanted as u64;
    }
    read_end(reader).map_err(failed)
}

/// Has a reader say at its end what it has to say: that a sum is wrong.
fn read_end(reader: &mut dyn Read) -> io::Result<()> {
    io::copy(&mut reader.take(1), &mut io::sink()).map(drop)
}

/// The error behind an error of a format or of reading and writing, which says more than that it failed.
pub(super) fn failed(
    error: impl Into<interchange::Error>,
    action: &'static str,
    path: &Path,
) -> Error {
    let error = match error.into() {
        interchange::Error::Io(error) => interchange::Error::from(error),
        error => error,
    };
    match error {
        interchange::Error::Io(error) => match error.downcast::<Error>() {
            Ok(ours) => ours,
            Err(error) => Error::io(action, path)(error),
        },
        source => Error::Interchange { name: path.to_string_lossy().into_owned(), source },
    }
}

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
                Metadata::Placed(file, offset + data_len, trailing)
            }
        };
        let placed = PlacedElements::new(file, offset, stamp);
        let is_swapped = header.flags().contains(Flags::BIG_ENDIAN) && !keep_big && data_len > 0;
        let width = if is_swapped { swap_width(&header)? } else { 1 };
        if width > SWAPPED {
            return Err(header.unswappable().into());
        }
        if width < 2 {
            return Ok((Data::Placed(placed), metadata));
        }
        let inner = placed.into_reader(data_len);
        let swapped = SwappedReader { inner, width, left: data_len, block: Cursor::default() };
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
    if width > SWAPPED {
        return Err(plain.unswappable().into());
    }
    let swapped = SwappedReader { inner: decoder, width, left, block: Cursor::default() };
    Ok((Data::Passing(Box::new(swapped), String::new()), metadata))
}

/// Bytes that change places with each other; an error for elements of which nobody knows.
fn swap_width(header: &Header) -> Result<usize, ReadError> {
    let width = header.element().swap_width().and_then(|width| usize::try_from(width).ok());
    width.ok_or_else(|| header.unswappable().into())
}

/// Reverses the bytes of each number that passes.
struct SwappedReader<R> {
    inner: R,
    width: usize,
    left: u64,
    block: Cursor<Vec<u8>>,
}

impl<R: Read> Read for SwappedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.block.position() == self.block.get_ref().len() as u64 && self.left > 0 {
            let whole = SWAPPED - SWAPPED % self.width;
            let len = usize::try_from(self.left).unwrap_or(whole).min(whole);
            let block = self.block.get_mut();
            block.resize(len, 0);
            self.inner.read_exact(block)?;
            ra::reverse_each(block, self.width);
            self.left -= len as u64;
            self.block.set_position(0);
        }
        self.block.read(out)
    }
}
