//! Reads a picture, row by row.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use png::{BitDepth, ColorType, DecodeOptions, Decoder, DecodingError, Limits, Transformations};

use super::chunks::Chunks;
use crate::interchange::{Error, Variable};
use crate::ndl::{Datatype, Extent, Ndarray, Order, Storage};
use crate::ra::{ElementType, Header};

/// Most bytes of an interlaced picture, since it is decoded as a whole, and of a single row.
pub const MAX_WHOLE: usize = 256 << 20;

/// A picture; what is read from it are its pixels, little-endian, the channels fastest and then the columns.
///
/// The checksums of a file are read with its pixels: an error of reading that comes from the file has an
/// [`Error::Malformed`] in it, which `Error::from` takes out again.
///
/// ```
/// use std::io::{Cursor, Read};
/// use ra_pack::interchange::{Variable, png};
/// use ra_pack::ndl::{Datatype, Extent, Ndarray, Order, Storage};
/// use ra_pack::ra::{ElementType, Header};
///
/// let variable = Variable {
///     header: Header::new(ElementType::UINT16, vec![3, 2]).unwrap(),
///     description: Ndarray {
///         name: "grey".to_owned(),
///         shape: vec![Extent::Fixed(2), Extent::Fixed(3)], // two rows, three columns
///         datatype: Datatype::UInt16,
///         value: None,
///         attributes: Vec::new(),
///         storage: Some(Storage { order: Order::Row, ..Storage::default() }),
///     },
///     losses: Vec::new(),
/// };
/// let pixels = [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0];
/// let mut file = Vec::new();
/// png::write(&variable, pixels.as_slice(), &mut file)?;
///
/// let mut picture = png::Reader::open(Cursor::new(file), "grey")?;
/// assert_eq!(*picture.variable(), variable);
/// let mut read = Vec::new();
/// picture.read_to_end(&mut read)?;
/// assert_eq!(read, pixels);
/// # Ok::<(), ra_pack::interchange::Error>(())
/// ```
pub struct Reader<R: Read + Seek> {
    decoder: png::Reader<Counted<R>>,
    at: Arc<AtomicU64>,
    variable: Variable,
    is_interlaced: bool,
    /// Bytes of a row.
    row: usize,
    /// Pixels that were decoded, and how many of them were given.
    buffer: Vec<u8>,
    given: usize,
    is_done: bool,
}

impl<R: Read + Seek> std::fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("variable", &self.variable).finish_non_exhaustive()
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Reads what is before the pixels of a file, which is the whole of `reader` wherever that stands. `name` is the
    /// name that the array gets.
    ///
    /// # Errors
    ///
    /// When it is no PNG, is cut off or broken before its pixels, is interlaced and larger than [`MAX_WHOLE`],
    /// or reading fails.
    pub fn open(mut reader: R, name: &str) -> Result<Self, Error> {
        let chunks = Chunks::scan(&mut reader)?;
        let at = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner: BufReader::new(reader), at: Arc::clone(&at) };
        let mut options = DecodeOptions::default();
        options.set_skip_ancillary_crc_failures(false);
        options.set_ignore_text_chunk(true);
        options.set_ignore_iccp_chunk(true);
        let mut decoder = Decoder::new_with_options(counted, options);
        decoder.set_limits(Limits { bytes: MAX_WHOLE });
        decoder.set_transformations(Transformations::EXPAND);
        let decoder =
            decoder.read_info().map_err(|error| refuse(error, at.load(Ordering::Relaxed)))?;

        let info = decoder.info();
        let (width, height) = info.size();
        let stored = info.raw_bytes();
        let is_interlaced = info.interlaced;
        let mut losses = chunks.losses();
        if info.color_type == ColorType::Indexed {
            losses.push("the palette is left out: each pixel has its colour".to_owned());
        }
        let bits = match info.bit_depth {
            BitDepth::One => 1,
            BitDepth::Two => 2,
            BitDepth::Four => 4,
            BitDepth::Eight => 8,
            BitDepth::Sixteen => 16,
        };
        if bits < 8 && info.color_type != ColorType::Indexed {
            losses.push(format!("samples of {bits} bits are scaled to 0 to 255"));
        }
        if info.trns.is_some() {
            losses.push("transparent colours became a channel of alpha".to_owned());
        }
        chunks.check(u64::try_from(stored).unwrap_or(u64::MAX))?;
        let too_large = || refuse(DecodingError::LimitsExceeded, at.load(Ordering::Relaxed));
        let row = decoder.output_line_size(width).ok_or_else(too_large)?;
        let whole = decoder.output_buffer_size().ok_or_else(too_large)?;
        if row > MAX_WHOLE || (is_interlaced && whole > MAX_WHOLE) {
            return Err(too_large());
        }
        let (color, depth) = decoder.output_color_type();
        let variable = describe(name, [height, width], color, depth, losses)?;
        let (buffer, given, is_done) = (Vec::new(), 0, false);
        Ok(Self { decoder, at, variable, is_interlaced, row, buffer, given, is_done })
    }

    /// What the picture is as an array.
    pub fn variable(&self) -> &Variable {
        &self.variable
    }

    /// Decodes the next row, or all of an interlaced picture. Without a next row the end of the file is checked.
    fn fill(&mut self) -> Result<(), Error> {
        self.buffer.clear();
        self.given = 0;
        let fault = |error| refuse(error, self.at.load(Ordering::Relaxed));
        if self.is_interlaced {
            self.is_interlaced = false;
            let whole = self.decoder.output_buffer_size().unwrap_or(0);
            self.buffer.resize(whole, 0);
            self.decoder.next_frame(&mut self.buffer).map_err(fault)?;
            self.finish()?;
        } else if let Some(row) = self.decoder.next_row().map_err(fault)? {
            self.buffer.extend_from_slice(row.data());
            if self.buffer.len() != self.row {
                let (expected, found) = (self.row, self.buffer.len());
                let reason = format!("expected {expected} bytes of a row, found {found}");
                return Err(Error::malformed(self.at.load(Ordering::Relaxed), reason));
            }
        } else {
            self.finish()?;
        }
        if self.variable.header.element() == ElementType::UINT16 {
            // Samples are big-endian in the file.
            for sample in self.buffer.as_chunks_mut::<2>().0 {
                sample.reverse();
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.is_done = true;
        self.decoder.finish().map_err(|error| refuse(error, self.at.load(Ordering::Relaxed)))
    }
}

impl<R: Read + Seek> Read for Reader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.given >= self.buffer.len() && !self.is_done {
            self.fill().map_err(|error| match error {
                Error::Io(error) => error,
                error => io::Error::new(io::ErrorKind::InvalidData, error),
            })?;
        }
        let mut left = self.buffer.get(self.given..).unwrap_or_default();
        let read = left.read(out)?;
        self.given = self.given.saturating_add(read);
        Ok(read)
    }
}

fn describe(
    name: &str,
    [height, width]: [u32; 2],
    color: ColorType,
    depth: BitDepth,
    losses: Vec<String>,
) -> Result<Variable, Error> {
    let (datatype, element) = match depth {
        BitDepth::Sixteen => (Datatype::UInt16, ElementType::UINT16),
        _ => (Datatype::UInt8, ElementType::UINT8),
    };
    let mut size = vec![u64::from(height), u64::from(width)];
    match color {
        ColorType::Grayscale | ColorType::Indexed => {}
        ColorType::GrayscaleAlpha => size.push(2),
        ColorType::Rgb => size.push(3),
        ColorType::Rgba => size.push(4),
    }
    let description = Ndarray {
        name: name.to_owned(),
        shape: size.iter().map(|extent| Extent::Fixed(*extent)).collect(),
        datatype,
        value: None,
        attributes: Vec::new(),
        storage: Some(Storage { order: Order::Row, ..Storage::default() }),
    };
    let header = Header::new(element, size.into_iter().rev().collect());
    let header = header.map_err(|error| Error::no_counterpart(error.to_string(), "crop it"))?;
    Ok(Variable { header, description, losses })
}

/// The error of the decoder, after it took `at` bytes.
fn refuse(error: DecodingError, at: u64) -> Error {
    match error {
        DecodingError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Error::malformed(at, "expected more of the picture, found the end of the file")
        }
        DecodingError::IoError(error) => Error::Io(error),
        DecodingError::Format(error) => Error::malformed(at, error.to_string()),
        DecodingError::LimitsExceeded => Error::no_counterpart(
            format!("an interlaced picture or a row takes more than {MAX_WHOLE} bytes"),
            "write it again without interlacing, or in parts",
        ),
        // The decoder was asked wrongly, which only a strange file brings about.
        DecodingError::Parameter(error) => Error::malformed(at, error.to_string()),
    }
}

/// Counts the bytes that the decoder took.
struct Counted<R> {
    inner: BufReader<R>,
    at: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.at.fetch_add(u64::try_from(read).unwrap_or(0), Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: Read> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
        self.at.fetch_add(u64::try_from(amount).unwrap_or(0), Ordering::Relaxed);
    }
}

impl<R: Read + Seek> Seek for Counted<R> {
    /// The decoder asks for this and does not use it.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = self.inner.seek(to)?;
        self.at.store(at, Ordering::Relaxed);
        Ok(at)
    }
}
