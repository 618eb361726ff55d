//! Moving the elements of an array from one file to another.

use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

use super::options::ConvertOptions;
use crate::error::{Error, Result};
use crate::fs::{self, File, Stamp};
use crate::interchange::{self, BlockReader, read_units};
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{self, Decoder, Encoding, Flags, Header, ReadError, Reversal};
use crate::read::open::elements::find_encoding;

/// Number of bytes moved at once.
const MOVED_AT_ONCE: usize = 1 << 20;

/// Maximum size in bytes of a number whose bytes are swapped.
const SWAPPED: usize = 64 * 1024;

/// The elements of an array, which are in the format of the output but perhaps in another order, and the bytes after
/// them.
pub(super) struct ElementSource<'s> {
    data: ElementData<'s>,
    pub(super) metadata: Metadata,
}

enum ElementData<'s> {
    /// Elements that are stored together in a file.
    Placed(PlacedElements),
    /// A stream of elements, and the name of the file for its errors.
    Passing(Box<dyn Read + 's>, String),
}

impl<'s> ElementSource<'s> {
    /// Makes a source of `len` bytes from `offset` on in a file with this stamp.
    pub(super) fn placed(file: File, offset: u64, len: u64, stamp: Stamp) -> Self {
        let data = ElementData::Placed(PlacedElements { file, at: offset, left: len, stamp });
        Self { data, metadata: Metadata::default() }
    }

    /// Makes a source of a stream; errors use `name` for its file.
    pub(super) fn passing(data: impl Read + 's, name: &str) -> Self {
        let data = ElementData::Passing(Box::new(data), name.to_owned());
        Self { data, metadata: Metadata::default() }
    }

    /// Returns a reader of the elements.
    pub(super) fn reader(&mut self) -> &mut (dyn Read + 's) {
        match &mut self.data {
            ElementData::Placed(placed) => placed,
            ElementData::Passing(reader, _) => &mut **reader,
        }
    }
}

/// Elements that are stored together in a file and read once to their end.
struct PlacedElements {
    file: File,
    /// Offset and number of the bytes that are not read yet.
    at: u64,
    left: u64,
    /// Size and time of the file when its header was read.
    stamp: Stamp,
}

impl PlacedElements {
    /// Makes a source of a whole scratch file.
    fn scratch(file: File, len: u64) -> Result<Self> {
        let stamp = file.stamp()?;
        Ok(Self { file, at: 0, left: len, stamp })
    }
}

impl Read for PlacedElements {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.file.check_unchanged(&self.stamp)?;
            return Ok(0);
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        let (out, _) = out.split_at_mut(room);
        let count = self.file.read_at(out, self.at)?;
        if count < out.len() {
            return Err(self.file.changed("it was truncated").into());
        }
        self.at += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}

/// The elements of an array, and the changes to make.
pub(super) struct Arranged<'s> {
    source: ElementSource<'s>,
    /// Size of all elements in bytes.
    len: u64,
    /// How to reverse the dimensions.
    reversal: Option<Reversal>,
    /// The output. Elements that cannot be streamed are staged in a file next to it.
    output: &'s Path,
    options: &'s ConvertOptions,
}

impl<'s> Arranged<'s> {
    /// Prepares the elements of an array with this header, in their order or with the dimensions reversed.
    pub(super) fn new(
        source: ElementSource<'s>,
        header: &Header,
        reverse: bool,
        output: &'s Path,
        options: &'s ConvertOptions,
    ) -> Self {
        let reversal = reverse.then(|| Reversal::new(header)).filter(|way| !way.is_identity());
        Self { source, len: header.data_len(), reversal, output, options }
    }

    /// Writes the elements and the bytes after them to `target`, from `offset` on. Returns their end.
    pub(super) fn write_at(self, target: &File, offset: u64) -> Result<u64> {
        let Self { source: ElementSource { data, metadata }, len, reversal, output, options } =
            self;
        let end = offset + len;
        let placed = match (data, &reversal) {
            (ElementData::Placed(placed), _) => placed,
            (ElementData::Passing(mut reader, name), None) => {
                pour(&mut reader, len, &name, |block, at| target.write_all_at(block, offset + at))?;
                return metadata.write_at(target, end);
            }
            (ElementData::Passing(mut reader, name), Some(_)) => {
                let scratch = fs::scratch_file(output, &options.progress)?;
                pour(&mut reader, len, &name, |block, at| scratch.write_all_at(block, at))?;
                PlacedElements::scratch(scratch, len)?
            }
        };
        match reversal {
            None => placed.file.copy_to(placed.at, len, target, offset)?,
            Some(reversal) => reversal
                .reverse_at(
                    pipeline::jobs(options.jobs),
                    |bytes, at| Ok(placed.file.read_exact_at(bytes, placed.at + at)?),
                    |bytes, at| Ok(target.write_all_at(bytes, offset + at)?),
                )
                .map_err(|error| failed(error, "reorder", target.path()))?,
        }
        placed.file.check_unchanged(&placed.stamp)?;
        metadata.write_at(target, end)
    }

    /// Passes the elements and the bytes after them to `put`, in blocks.
    pub(super) fn pass(mut self, mut put: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let metadata = std::mem::take(&mut self.source.metadata);
        let (len, name) = (self.len, self.output.to_string_lossy().into_owned());
        self.read_by(|reader| pour(reader, len, &name, |block, _| put(block)))??;
        match metadata.file {
            Some(file) => {
                let (at, stamp) = (metadata.offset, file.stamp()?);
                let mut rest = PlacedElements { file, at, left: metadata.len, stamp };
                pour(&mut rest, metadata.len, &name, |block, _| put(block))
            }
            None => Ok(()),
        }
    }

    /// Calls `write` with a reader of all elements.
    pub(super) fn read_by<T>(self, write: impl FnOnce(&mut dyn Read) -> T) -> Result<T> {
        let (len, progress) = (self.len, &self.options.progress);
        let data = if self.reversal.is_some() {
            let scratch = fs::scratch_file(self.output, &self.options.progress)?;
            self.write_at(&scratch, 0)?;
            ElementData::Placed(PlacedElements::scratch(scratch, len)?)
        } else {
            self.source.data
        };
        Ok(match data {
            ElementData::Placed(mut placed) => write(&mut placed),
            ElementData::Passing(reader, name) => {
                write(&mut NamedReader { reader, name, progress })
            }
        })
    }
}

/// A reader that adds the name of the file to errors and can be cancelled.
struct NamedReader<'p, R> {
    reader: R,
    name: String,
    progress: &'p Progress,
}

impl<R: Read> Read for NamedReader<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // The source may be in memory, where no read is cancelled.
        self.progress.check().map_err(Error::from)?;
        self.reader.read(out).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => failed(error, "read", self.name.as_ref()).into(),
        })
    }
}

/// Passes `len` bytes of `reader` and their offset to `put`, in blocks.
fn pour(
    reader: &mut dyn Read,
    len: u64,
    name: &str,
    mut put: impl FnMut(&[u8], u64) -> Result<()>,
) -> Result<()> {
    let failed = |error| failed(error, "read", name.as_ref());
    let mut block = Vec::new();
    let mut done = 0;
    while done < len {
        let wanted = usize::try_from(len - done).unwrap_or(MOVED_AT_ONCE).min(MOVED_AT_ONCE);
        block.resize(wanted, 0);
        reader.read_exact(&mut block).map_err(failed)?;
        put(&block, done)?;
        done += wanted as u64;
    }
    // A reader reports a wrong checksum at its end.
    io::copy(&mut reader.take(1), &mut io::sink()).map_err(failed)?;
    Ok(())
}

/// Returns the cause of an error of a format or of I/O, which is more specific.
pub(super) fn failed(
    error: impl Into<interchange::FormatError>,
    action: &'static str,
    path: &Path,
) -> Error {
    let error = match error.into() {
        interchange::FormatError::Io(error) => interchange::FormatError::from(error),
        error => error,
    };
    match error {
        interchange::FormatError::Io(error) => match error.downcast::<Error>() {
            Ok(ours) => ours,
            Err(error) => Error::io(action, path)(error),
        },
        source => Error::Interchange { name: path.to_string_lossy().into_owned(), source },
    }
}

/// A RawArray file whose header was read.
pub(super) struct RawArrayFile {
    file: File,
    /// Size and time of the file when it was opened.
    stamp: Stamp,
    pub(super) header: Header,
}

/// The bytes that follow the elements of an array in a file.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    file: Option<File>,
    offset: u64,
    /// Number of bytes.
    pub(super) len: u64,
}

impl Metadata {
    /// Writes the bytes to `target`, from `offset` on. Returns their end.
    pub(super) fn write_at(&self, target: &File, offset: u64) -> Result<u64> {
        if let Some(file) = &self.file {
            file.copy_to(self.offset, self.len, target, offset)?;
        }
        Ok(offset + self.len)
    }
}

impl RawArrayFile {
    /// Reads the header of a file from its beginning.
    pub(super) fn open(mut file: File) -> Result<Self, ReadError> {
        let stamp = file.stamp().map_err(io::Error::from)?;
        file.rewind().map_err(io::Error::from)?;
        let header = Header::read(&mut file)?;
        header.check_file_len(stamp.len())?;
        Ok(Self { file, stamp, header })
    }

    /// Returns the elements, little-endian unless `keep_big`, and the bytes after them. Errors use `name` for the file.
    /// Encoded elements are read twice, first to find the encoding.
    pub(super) fn elements(
        self,
        name: &str,
        keep_big: bool,
    ) -> Result<ElementSource<'static>, ReadError> {
        let Self { mut file, stamp, header } = self;
        let (start, plain) = (header.header_len(), header.decoded());
        let data_len = plain.data_len();
        let is_marked_big = header.flags().contains(Flags::BIG_ENDIAN);
        let (encoding, stored, is_big) = if header.is_encoded() {
            file.seek(SeekFrom::Start(start))?;
            let (encoding, used) = find_encoding(header.clone(), &mut BufReader::new(&mut file))?;
            file.seek(SeekFrom::Start(start))?;
            let is_big = match encoding {
                Encoding::Raw | Encoding::Lz4 | Encoding::StrayFlag => is_marked_big,
                Encoding::Leb128 | Encoding::Bits => cfg!(target_endian = "big"),
            };
            (Some(encoding), used, is_big)
        } else {
            (None, data_len, is_marked_big && !keep_big)
        };
        let end = start + stored;
        let metadata = match stamp.len().saturating_sub(end) {
            0 => Metadata::default(),
            len => {
                let file = file.try_clone().map_err(io::Error::from)?;
                Metadata { file: Some(file), offset: end, len }
            }
        };
        // The byte order of some elements is not known; for an empty array it does not matter.
        let width = if is_big && data_len > 0 { plain.element().swap_width() } else { Some(1) };
        let width = width.and_then(|width| usize::try_from(width).ok());
        let Some(width) = width.filter(|width| *width <= SWAPPED) else {
            return Err(plain.unswappable().into());
        };
        let mut inner: Box<dyn Read> = match encoding {
            None if width < 2 => {
                let placed = ElementSource::placed(file, start, data_len, stamp);
                return Ok(ElementSource { metadata, ..placed });
            }
            None => Box::new(PlacedElements { file, at: start, left: data_len, stamp }),
            Some(encoding) => Box::new(Decoder::new(BufReader::new(file), header, encoding)),
        };
        let data = if width < 2 {
            ElementSource::passing(inner, name)
        } else {
            let swapped = move |block: &mut Vec<u8>| {
                read_units(&mut inner, width, block)?;
                ra::header::reverse_each(block, width);
                Ok(())
            };
            ElementSource::passing(BlockReader::new(swapped), name)
        };
        Ok(ElementSource { metadata, ..data })
    }
}
