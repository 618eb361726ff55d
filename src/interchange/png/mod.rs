//! PNG images: arrays of `uint8` or `uint16` with the shape `[height, width]` or `[height, width, channels]`,
//! row-major.
//!
//! | PNG | array |
//! | --- | --- |
//! | grey | `[height, width]` |
//! | grey and alpha, RGB, RGB and alpha | `[height, width, 2]`, 3, 4 |
//! | samples of 16 bits | `uint16` |
//! | samples of 1, 2, 4 bits | `uint8`, scaled to 0 to 255, with a loss |
//! | a palette | RGB, or with transparent colours RGB and alpha, with a loss |
//! | a transparent colour | an alpha channel, with a loss |
//! | texts, colour profiles, times, other images of an animation | dropped, with a loss |
//!
//! Rows are read and written one at a time. Only interlaced images are kept in memory, up to [`MAX_WHOLE`].

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use png::{
    BitDepth, ColorType, DecodeOptions, Decoder, DecodingError, Encoder, EncodingError, Limits,
    Transformations,
};

use super::{Block, FormatError, Variable, read_all, row_order_extents, wrong_length};
use crate::ndl::{Datatype, Extent, Ndarray, Order, Storage};
use crate::ra::header::reverse_each;
use crate::ra::{ElementType, Flags, Header};

/// Largest interlaced image in bytes, because it is decoded in one piece, and largest single row.
pub const MAX_WHOLE: usize = 256 << 20;

/// An image opened for reading. Its bytes are the pixels: little-endian, row-major, channels fastest.
///
/// The checksums of the file are verified while its pixels are read. An I/O error caused by the file contains a
/// [`FormatError::Malformed`], which `FormatError::from` extracts.
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
/// let mut picture = png::PngReader::open(Cursor::new(file), "grey")?;
/// assert_eq!(*picture.variable(), variable);
/// let mut read = Vec::new();
/// picture.read_to_end(&mut read)?;
/// assert_eq!(read, pixels);
/// # Ok::<(), ra_pack::interchange::FormatError>(())
/// ```
pub struct PngReader<R: Read + Seek> {
    decoder: png::Reader<CountedReader<R>>,
    at: Arc<AtomicU64>,
    variable: Variable,
    is_interlaced: bool,
    /// Length of a row in bytes.
    row: usize,
    /// Decoded pixels.
    pixels: Block,
    is_done: bool,
}

impl<R: Read + Seek> std::fmt::Debug for PngReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PngReader").field("variable", &self.variable).finish_non_exhaustive()
    }
}

impl<R: Read + Seek> PngReader<R> {
    /// Reads everything before the pixels of a file, from the beginning of `reader`. The array gets the name `name`.
    ///
    /// # Errors
    ///
    /// - [`FormatError::Io`] if the reader fails.
    /// - [`FormatError::Malformed`] if it is not a PNG, or is truncated or invalid before its pixels.
    /// - [`FormatError::NoCounterpart`] if it is interlaced and larger than [`MAX_WHOLE`].
    pub fn open(mut reader: R, name: &str) -> Result<Self, FormatError> {
        let chunks = ChunkList::scan(&mut reader)?;
        let at = Arc::new(AtomicU64::new(0));
        let counted = CountedReader { inner: BufReader::new(reader), at: Arc::clone(&at) };
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
        let is_interlaced = info.interlaced;
        let mut losses = chunks.losses();
        if info.color_type == ColorType::Indexed {
            losses.push("the palette is replaced by the colour of each pixel".to_owned());
        }
        let bits = info.bit_depth as u8;
        if bits < 8 && info.color_type != ColorType::Indexed {
            losses.push(format!("samples of {bits} bits are scaled to 0 to 255"));
        }
        if info.trns.is_some() {
            losses.push("transparent colours are converted to an alpha channel".to_owned());
        }
        chunks.check(info.raw_bytes() as u64)?;
        let too_large = || refuse(DecodingError::LimitsExceeded, at.load(Ordering::Relaxed));
        let row = decoder.output_line_size(width).ok_or_else(too_large)?;
        let whole = decoder.output_buffer_size().ok_or_else(too_large)?;
        if row > MAX_WHOLE || (is_interlaced && whole > MAX_WHOLE) {
            return Err(too_large());
        }
        let (color, depth) = decoder.output_color_type();
        let variable = describe(name, [height, width], color, depth, losses)?;
        let (pixels, is_done) = (Block::default(), false);
        Ok(Self { decoder, at, variable, is_interlaced, row, pixels, is_done })
    }

    /// Returns the header and the description of the image as an array.
    pub fn variable(&self) -> &Variable {
        &self.variable
    }

    /// Decodes the next row, or all of an interlaced image. After the last row, the end of the file is verified.
    fn fill(&mut self, pixels: &mut Vec<u8>) -> Result<(), FormatError> {
        let fault = |error| refuse(error, self.at.load(Ordering::Relaxed));
        let mut is_last = false;
        if self.is_interlaced {
            let whole = self.decoder.output_buffer_size();
            pixels.resize(whole.expect("`open` compared it with the limit"), 0);
            self.decoder.next_frame(pixels).map_err(fault)?;
            is_last = true;
        } else if let Some(row) = self.decoder.next_row().map_err(fault)? {
            pixels.extend_from_slice(row.data());
            if pixels.len() != self.row {
                let (expected, found) = (self.row, pixels.len());
                let reason = format!("expected {expected} bytes of a row, found {found}");
                return Err(FormatError::malformed(self.at.load(Ordering::Relaxed), reason));
            }
        }
        if is_last || pixels.is_empty() {
            self.is_done = true;
            self.decoder.finish().map_err(fault)?;
        }
        // Samples are big-endian in the file.
        let is_wide = self.variable.header.element() == ElementType::UINT16;
        reverse_each(pixels, if is_wide { 2 } else { 1 });
        Ok(())
    }
}

impl<R: Read + Seek> Read for PngReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut pixels = std::mem::take(&mut self.pixels);
        let read = pixels.read(out, |pixels| {
            let filled = if self.is_done { Ok(()) } else { self.fill(pixels) };
            filled.map_err(|error| match error {
                FormatError::Io(error) => error,
                error => io::Error::new(io::ErrorKind::InvalidData, error),
            })
        });
        self.pixels = pixels;
        read
    }
}

fn describe(
    name: &str,
    [height, width]: [u32; 2],
    color: ColorType,
    depth: BitDepth,
    losses: Vec<String>,
) -> Result<Variable, FormatError> {
    let (datatype, element) = match depth {
        BitDepth::Sixteen => (Datatype::UInt16, ElementType::UINT16),
        _ => (Datatype::UInt8, ElementType::UINT8),
    };
    let mut size = vec![u64::from(height), u64::from(width)];
    // The colours have replaced a palette.
    if color.samples() > 1 {
        size.push(color.samples() as u64);
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
    let header =
        header.map_err(|error| FormatError::no_counterpart(error.to_string(), "crop it"))?;
    Ok(Variable { header, description, losses })
}

/// Returns the error of the decoder, after it read `at` bytes.
fn refuse(error: DecodingError, at: u64) -> FormatError {
    match error {
        DecodingError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            FormatError::malformed(at, "expected more of the image, found the end of the file")
        }
        DecodingError::IoError(error) => FormatError::Io(error),
        DecodingError::Format(error) => FormatError::malformed(at, error.to_string()),
        DecodingError::LimitsExceeded => FormatError::no_counterpart(
            format!("an interlaced image or a row takes more than {MAX_WHOLE} bytes"),
            "save it without interlacing, or in parts",
        ),
        // Only a malformed file can lead to wrong parameters.
        DecodingError::Parameter(error) => FormatError::malformed(at, error.to_string()),
    }
}

/// A reader that counts the bytes that the decoder read.
struct CountedReader<R> {
    inner: BufReader<R>,
    at: Arc<AtomicU64>,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.at.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: Read> BufRead for CountedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
        self.at.fetch_add(amount as u64, Ordering::Relaxed);
    }
}

impl<R: Read + Seek> Seek for CountedReader<R> {
    /// The decoder requires this but does not use it.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = self.inner.seek(to)?;
        self.at.store(at, Ordering::Relaxed);
        Ok(at)
    }
}

/// The first bytes of every file.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1A\n";

/// Length of a chunk without its data: length, name and checksum, in bytes.
const BESIDE: u64 = 12;

/// Most bytes that one byte of deflate can expand to: 1032, and slightly more at the ends.
const MAX_RATIO: u64 = 1100;

/// The chunks of a file, according to their headers.
#[derive(Debug)]
struct ChunkList {
    /// Length of the compressed pixels in bytes.
    compressed: u64,
    /// The number of chunks of each name.
    counts: BTreeMap<[u8; 4], u64>,
    /// Number of bytes after the last chunk.
    trailing: u64,
}

impl ChunkList {
    /// Reads all chunk headers, and rewinds the reader to its beginning.
    fn scan(reader: &mut (impl Read + Seek)) -> Result<Self, FormatError> {
        let len = reader.seek(SeekFrom::End(0))?;
        reader.seek(SeekFrom::Start(0))?;
        let mut buffered = BufReader::new(&mut *reader);
        let mut signature = Vec::new();
        buffered.by_ref().take(8).read_to_end(&mut signature)?;
        if signature != SIGNATURE {
            let same = signature.iter().zip(&SIGNATURE).take_while(|(a, b)| a == b).count();
            let found = signature.escape_ascii();
            let reason = format!("expected the signature of PNG, found `{found}`");
            return Err(FormatError::malformed(same as u64, reason));
        }
        let mut chunks = Self { compressed: 0, counts: BTreeMap::new(), trailing: 0 };
        let mut at = 8_u64;
        loop {
            let left = len.saturating_sub(at); // the file may have grown since its length was read
            if left < BESIDE {
                let reason = format!("expected another chunk, found {left} bytes");
                return Err(FormatError::malformed(len, reason));
            }
            let (mut size, mut name) = ([0; 4], [0; 4]);
            buffered.read_exact(&mut size)?;
            buffered.read_exact(&mut name)?;
            let size = u32::from_be_bytes(size);
            let whole = u64::from(size) + BESIDE;
            if whole > left {
                let name = name.escape_ascii();
                let reason = format!("expected {whole} bytes of the chunk `{name}`, found {left}");
                return Err(FormatError::malformed(at, reason));
            }
            *chunks.counts.entry(name).or_default() += 1;
            // The decoder accepts any length, and panics if a colour has fewer than three bytes.
            if name == *b"PLTE" && !(size.is_multiple_of(3) && (3..=768).contains(&size)) {
                let reason = format!("expected a palette of 1 to 256 colours, found {size} bytes");
                return Err(FormatError::malformed(at, reason));
            }
            if name == *b"IDAT" {
                chunks.compressed += u64::from(size);
            }
            at += whole;
            if name == *b"IEND" {
                chunks.trailing = len - at;
                reader.seek(SeekFrom::Start(0))?;
                return Ok(chunks);
            }
            buffered.seek_relative(i64::from(size) + 4)?;
        }
    }

    /// Checks that the compressed pixels can expand to this number of bytes.
    fn check(&self, pixels: u64) -> Result<(), FormatError> {
        let most = (self.compressed + 16).saturating_mul(MAX_RATIO);
        if pixels <= most {
            return Ok(());
        }
        let compressed = self.compressed;
        let reason =
            format!("expected {pixels} bytes of pixels, found only {compressed} compressed bytes");
        // The offset of width and height.
        Err(FormatError::malformed(16, reason))
    }

    /// Returns a message for each part of the file except the pixels.
    fn losses(&self) -> Vec<String> {
        let mut losses = Vec::new();
        for (name, count) in self.counts.iter().filter(|(name, _)| !PIXELS.contains(name)) {
            let row = CHUNKS.iter().find(|(_, names)| names.contains(name));
            let content = row.map_or("unknown content", |(content, _)| content);
            let name = name.escape_ascii();
            let times = if *count > 1 { format!(", {count} times") } else { String::new() };
            losses.push(format!("the chunk `{name}` is dropped: {content}{times}"));
        }
        if self.trailing > 0 {
            losses.push(format!("{} bytes after the image are dropped", self.trailing));
        }
        losses
    }
}

/// Chunks with pixels, and chunks reported elsewhere.
const PIXELS: [[u8; 4]; 7] = [*b"IHDR", *b"IDAT", *b"IEND", *b"PLTE", *b"tRNS", *b"fcTL", *b"fdAT"];

/// The content of other chunks.
const CHUNKS: [(&str, &[[u8; 4]]); 9] = [
    ("text", &[*b"tEXt", *b"zTXt", *b"iTXt"]),
    ("colour information", &[*b"gAMA", *b"cHRM", *b"sRGB", *b"iCCP", *b"cICP", *b"mDCV", *b"cLLI"]),
    ("an animation, of which only the first image is kept", &[*b"acTL"]),
    ("the number of significant bits", &[*b"sBIT"]),
    ("a background colour", &[*b"bKGD"]),
    ("the size of a pixel", &[*b"pHYs"]),
    ("the time of the last change", &[*b"tIME"]),
    ("camera metadata", &[*b"eXIf"]),
    ("a suggested palette", &[*b"hIST", *b"sPLT"]),
];

/// Number of data bytes that are read at once: a multiple of every sample size.
const PIECE: usize = 1 << 16;

/// Writes an array of `uint8` or `uint16` with the shape `[height, width]` or `[height, width, channels]`, where
/// channels are 2 (grey and alpha), 3 (RGB) or 4 (RGB and alpha). `data` are its elements in row-major order. Returns a
/// message for each part of the description that the file cannot store.
///
/// The same array gives the same bytes.
///
/// # Errors
///
/// - [`FormatError::NoCounterpart`] if the array has another shape or type, is empty, or is column-major.
/// - [`FormatError::Io`] if reading or writing fails, or `data` does not have the length in the header.
///
/// ```
/// use ra_pack::interchange::{FormatError, Variable, png};
/// use ra_pack::ndl::{Datatype, Extent, Ndarray};
/// use ra_pack::ra::{ElementType, Header};
///
/// let line = Variable {
///     header: Header::new(ElementType::UINT8, vec![2]).unwrap(),
///     description: Ndarray {
///         name: "line".to_owned(),
///         shape: vec![Extent::Fixed(2)],
///         datatype: Datatype::UInt8,
///         value: None,
///         attributes: Vec::new(),
///         storage: None,
///     },
///     losses: Vec::new(),
/// };
/// let refused = png::write(&line, [1, 2].as_slice(), std::io::sink());
/// assert!(matches!(refused, Err(FormatError::NoCounterpart { .. })));
/// ```
pub fn write(
    variable: &Variable,
    data: impl Read,
    out: impl Write,
) -> Result<Vec<String>, FormatError> {
    let Variable { header, description, .. } = variable;
    let name = &description.name;
    let depth = match (&description.datatype, header.element()) {
        (Datatype::UInt8, ElementType::UINT8) => BitDepth::Eight,
        (Datatype::UInt16, ElementType::UINT16) => BitDepth::Sixteen,
        (datatype, _) => {
            let reason = format!(
                "an image has samples of `uint8` or `uint16`, but {name:?} has `{datatype}`"
            );
            return Err(FormatError::no_counterpart(
                reason,
                "scale the values to uint8 or uint16, or draw them with `ra-pack plot`",
            ));
        }
    };
    let size = row_order_extents(variable, "a picture")?;
    let (height, width, color) = match size[..] {
        [height, width] => (height, width, ColorType::Grayscale),
        [height, width, 2] => (height, width, ColorType::GrayscaleAlpha),
        [height, width, 3] => (height, width, ColorType::Rgb),
        [height, width, 4] => (height, width, ColorType::Rgba),
        _ => {
            return Err(FormatError::no_counterpart(
                format!(
                    "an image has the shape [height, width] or [height, width, 2 to 4 channels], but {name:?} has \
                     {size:?}"
                ),
                "choose a slice of that shape",
            ));
        }
    };
    let extent = |length: u64| u32::try_from(i32::try_from(length).ok()?).ok();
    let (Some(height @ 1..), Some(width @ 1..)) = (extent(height), extent(width)) else {
        let most = i32::MAX;
        return Err(FormatError::no_counterpart(
            format!(
                "an image has 1 to {most} rows and columns, but {name:?} has {height} and {width}"
            ),
            "choose a slice with fewer, and at least one",
        ));
    };
    let row = header.data_len() / u64::from(height);
    if row > MAX_WHOLE as u64 {
        let reason =
            format!("a row of {name:?} has {row} bytes, more than the limit of {MAX_WHOLE}");
        return Err(FormatError::no_counterpart(reason, "write it in parts"));
    }
    let swaps = depth == BitDepth::Sixteen && !header.flags().contains(Flags::BIG_ENDIAN);
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().map_err(unwritable)?;
    let mut pixels = writer.stream_writer_with_size(PIECE).map_err(unwritable)?;
    let len = header.data_len();
    let write = |part: &mut [u8]| {
        reverse_each(part, if swaps { 2 } else { 1 });
        Ok(pixels.write_all(part)?)
    };
    read_all(data, len, PIECE, write, wrong_length(name, len))?;
    pixels.finish().map_err(unwritable)?;
    writer.finish().map_err(unwritable)?;

    let attributes = description.attributes.iter();
    Ok(attributes
        .map(|attribute| format!("the attribute {:?} of {name:?} is dropped", attribute.name))
        .collect())
}

fn unwritable(error: EncodingError) -> FormatError {
    match error {
        EncodingError::IoError(error) => FormatError::Io(error),
        error => FormatError::Io(io::Error::other(error.to_string())),
    }
}
