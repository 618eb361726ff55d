//! The content of one member, checked against what its container says of it.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use flate2::bufread::DeflateDecoder;

use super::{Member, Method};
use crate::error::{Error, Result};
use crate::fs::File;

/// Bytes that one read of an archive asks for: from 128 KiB on the system call costs nothing.
pub(super) const BLOCK: usize = 256 * 1024;

/// A block for what is read only once and is not long: fresh memory costs more than the calls. And for each of
/// many that are read side by side: all their blocks fit into a core's cache.
pub(super) const SMALL_BLOCK: usize = 64 * 1024;
/// What is not long.
const FEW: u64 = 32 * 1024 * 1024;

/// What can be wrong with a member's content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DataFault {
    /// The container's own checksum does not fit.
    #[error("the CRC-32 is {found:08x}, the archive says {expected:08x}")]
    Checksum {
        /// As the headers say.
        expected: u32,
        /// Of the content.
        found: u32,
    },
    /// The content ends early.
    #[error("the content is {found} bytes long, the archive says {expected}")]
    Short {
        /// As the headers say.
        expected: u64,
        /// Bytes that there are.
        found: u64,
    },
    /// The content goes on.
    #[error("the content is longer than the {expected} bytes that the archive says")]
    Long {
        /// As the headers say.
        expected: u64,
    },
    /// Compressed bytes that the content does not need.
    #[error("{unused} bytes follow the end of the compressed content")]
    Unused {
        /// How many.
        unused: u64,
    },
    /// A frame whose window takes more memory than a member may.
    #[error("the content is compressed with a window above 8 MiB, which is not decoded in a zip")]
    Window,
    /// Compressed bytes that mean nothing.
    #[error("the compressed content cannot be decoded: {0}")]
    Undecodable(String),
}

impl DataFault {
    /// The fault that a read reported, if it was one and not the operating system.
    pub(crate) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<DataFault> for io::Error {
    fn from(fault: DataFault) -> Self {
        Self::new(io::ErrorKind::InvalidData, fault)
    }
}

/// A stretch of a file, read by position, so that many can be read at once.
#[derive(Debug)]
pub(super) struct Stretch(BufReader<Section>);

/// The same without a buffer: its part that is not yet read.
#[derive(Debug)]
struct Section {
    file: Arc<File>,
    next: u64,
    end: u64,
}

impl Stretch {
    pub(super) fn new(file: Arc<File>, start: u64, length: u64) -> Self {
        let section = Section { file, next: start, end: start.saturating_add(length) };
        Self::in_blocks(section, if length <= FEW { SMALL_BLOCK } else { BLOCK })
    }

    /// The same for one of many that are read side by side.
    pub(super) fn in_small_blocks(self) -> Self {
        Self::in_blocks(self.0.into_inner(), SMALL_BLOCK)
    }

    fn in_blocks(section: Section, most: usize) -> Self {
        let block = usize::try_from(section.left()).unwrap_or(most).min(most);
        Self(BufReader::with_capacity(block, section))
    }

    /// Bytes not yet consumed.
    fn left(&self) -> u64 {
        self.0.get_ref().left().saturating_add(self.0.buffer().len() as u64)
    }
}

impl Section {
    fn left(&self) -> u64 {
        self.end.saturating_sub(self.next)
    }
}

impl Read for Section {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = usize::try_from(self.left()).unwrap_or(out.len()).min(out.len());
        let count = self.file.read_at(out.split_at_mut(length).0, self.next)?;
        if count == 0 && length > 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("the archive ends at byte {}, which a member needs", self.next),
            ));
        }
        self.next = self.next.saturating_add(count as u64);
        Ok(count)
    }
}

impl BufRead for Stretch {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.0.consume(amount);
    }
}

impl Read for Stretch {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

/// Anything that can be read, by blocks in a borrowed buffer.
pub(super) struct Blocks<'a, R> {
    reader: R,
    buffer: &'a mut Vec<u8>,
    ready: std::ops::Range<usize>,
}

impl<'a, R: Read> Blocks<'a, R> {
    pub(super) fn new(reader: R, buffer: &'a mut Vec<u8>) -> Self {
        Self { reader, buffer, ready: 0..0 }
    }
}

impl<R: Read> BufRead for Blocks<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.ready.is_empty() {
            self.buffer.resize(BLOCK, 0);
            let count = self.reader.read(self.buffer)?;
            self.ready = 0..count;
        }
        Ok(self.buffer.get(self.ready.clone()).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.ready.start = self.ready.start.saturating_add(amount).min(self.ready.end);
    }
}

impl<R: Read> Read for Blocks<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ready.is_empty() && out.len() >= BLOCK {
            return self.reader.read(out);
        }
        read_buffered(self, out)
    }
}

/// A shared file with a position of its own.
#[derive(Debug)]
pub(super) struct Positioned {
    file: Arc<File>,
    len: u64,
    position: u64,
}

impl Positioned {
    pub(super) fn new(file: Arc<File>, len: u64) -> Self {
        Self { file, len, position: 0 }
    }
}

impl Read for Positioned {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(out, self.position)?;
        self.position = self.position.saturating_add(count as u64);
        Ok(count)
    }
}

impl Seek for Positioned {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = moved(self.position, self.len, to)?;
        Ok(self.position)
    }
}

/// Where a seek leads from `position` in a file of `len` bytes.
pub(super) fn moved(position: u64, len: u64, to: SeekFrom) -> io::Result<u64> {
    let position = match to {
        SeekFrom::Start(position) => Some(position),
        SeekFrom::End(offset) => len.checked_add_signed(offset),
        SeekFrom::Current(offset) => position.checked_add_signed(offset),
    };
    position.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// [`Read::read`] by way of [`BufRead`].
pub(super) fn read_buffered(reader: &mut impl BufRead, out: &mut [u8]) -> io::Result<usize> {
    let ready = reader.fill_buf()?;
    let count = ready.len().min(out.len());
    if let (Some(to), Some(from)) = (out.get_mut(..count), ready.get(..count)) {
        to.copy_from_slice(from);
    }
    reader.consume(count);
    Ok(count)
}

/// Where the packed bytes of a zip member come from.
#[derive(Debug)]
pub(super) enum Packed<'a> {
    /// Bytes in memory.
    Slice(&'a [u8]),
    /// The same, from `at` on.
    Owned { bytes: Vec<u8>, at: usize },
    /// Bytes of the archive file.
    Stretch(Stretch),
}

impl Packed<'_> {
    /// Bytes not yet consumed.
    fn left(&self) -> u64 {
        match self {
            Self::Slice(_) | Self::Owned { .. } => self.ready().len() as u64,
            Self::Stretch(stretch) => stretch.left(),
        }
    }

    /// Bytes that are in memory and not yet consumed.
    fn ready(&self) -> &[u8] {
        match self {
            Self::Slice(slice) => slice,
            Self::Owned { bytes, at } => bytes.get(*at..).unwrap_or_default(),
            Self::Stretch(stretch) => stretch.0.buffer(),
        }
    }
}

impl BufRead for Packed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Self::Stretch(stretch) = self {
            return stretch.fill_buf();
        }
        Ok(self.ready())
    }

    fn consume(&mut self, amount: usize) {
        match self {
            Self::Slice(slice) => *slice = slice.get(amount..).unwrap_or_default(),
            Self::Owned { at, .. } => *at = at.saturating_add(amount),
            Self::Stretch(stretch) => stretch.consume(amount),
        }
    }
}

impl Read for Packed<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, out)
    }
}

/// Whether an error came from reading the archive file, not from decoding what was read.
fn is_from_file(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Error>)
}

/// The packed bytes, decoded.
enum Decoder<'a> {
    Stored(Packed<'a>),
    Deflate(Buffered<DeflateDecoder<Packed<'a>>>),
    Zstd(Buffered<zstd::stream::read::Decoder<'static, Packed<'a>>>),
}

/// A decoder of deflate that is used again. One made anew for each of many small members leaves a gap in
/// memory after each, which what is kept of the member then makes too small for the next.
#[derive(Debug)]
pub(super) struct Inflater<'a>(Buffered<DeflateDecoder<Packed<'a>>>);

/// A decoder's output, in blocks.
#[derive(Debug)]
struct Buffered<R> {
    reader: R,
    buffer: Vec<u8>,
    ready: std::ops::Range<usize>,
}

impl<R: Read> Buffered<R> {
    fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), ready: 0..0 }
    }

    /// As [`BufRead::fill_buf`]; `limit` keeps the buffer of a small member small.
    fn fill(&mut self, limit: u64) -> io::Result<&[u8]> {
        if self.ready.is_empty() {
            let length = usize::try_from(limit).unwrap_or(BLOCK).clamp(1, BLOCK);
            if self.buffer.len() < length {
                self.buffer.resize(length, 0);
            }
            let count = self.reader.read(&mut self.buffer).map_err(|error| {
                // An error of the file itself stays what it is; the decoders make the rest.
                if error.raw_os_error().is_some() || is_from_file(&error) {
                    error
                } else if super::stream::is_wide_window(&error) {
                    DataFault::Window.into()
                } else {
                    DataFault::Undecodable(error.to_string()).into()
                }
            })?;
            self.ready = 0..count;
        }
        Ok(self.ready())
    }

    fn ready(&self) -> &[u8] {
        self.buffer.get(self.ready.clone()).unwrap_or_default()
    }

    fn consume(&mut self, amount: usize) {
        self.ready.start = self.ready.start.saturating_add(amount).min(self.ready.end);
    }
}

/// The content of a zip member. Size and checksum are checked when the end is reached.
pub(super) struct ZipData<'a> {
    decoder: Decoder<'a>,
    checksum: crc32fast::Hasher,
    expected_checksum: u32,
    size: u64,
    left: u64,
    checked: bool,
}

impl<'a> ZipData<'a> {
    /// `None` for a method that is not supported.
    pub(super) fn new(
        packed: Packed<'a>,
        method: Method,
        size: u64,
        crc: u32,
    ) -> io::Result<Option<Self>> {
        Self::with(None, packed, method, size, crc)
    }

    /// The same with the decoder that one before left.
    pub(super) fn with(
        inflater: Option<Inflater<'a>>,
        packed: Packed<'a>,
        method: Method,
        size: u64,
        crc: u32,
    ) -> io::Result<Option<Self>> {
        let decoder = match method {
            Method::Stored => Decoder::Stored(packed),
            Method::Deflate => Decoder::Deflate(match inflater {
                Some(Inflater(mut buffered)) => {
                    buffered.reader.reset(packed);
                    buffered.ready = 0..0;
                    buffered
                }
                None => Buffered::new(DeflateDecoder::new(packed)),
            }),
            Method::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
                decoder.window_log_max(super::stream::ZSTD_MEMBER_WINDOW_LOG_MAX)?;
                Decoder::Zstd(Buffered::new(decoder))
            }
            Method::Solid | Method::Other(_) => return Ok(None),
        };
        Ok(Some(Self {
            decoder,
            checksum: crc32fast::Hasher::new(),
            expected_checksum: crc,
            size,
            left: size,
            checked: false,
        }))
    }

    /// The decoder, for another member.
    pub(super) fn into_inflater(self) -> Option<Inflater<'a>> {
        match self.decoder {
            Decoder::Deflate(buffered) => Some(Inflater(buffered)),
            Decoder::Stored(_) | Decoder::Zstd(_) => None,
        }
    }

    fn check_end(&mut self) -> io::Result<()> {
        if self.checked {
            return Ok(());
        }
        let unused = match &self.decoder {
            Decoder::Stored(packed) => packed.left(),
            Decoder::Deflate(buffered) => buffered.reader.get_ref().left(),
            Decoder::Zstd(buffered) => buffered.reader.get_ref().left(),
        };
        if unused > 0 {
            return Err(DataFault::Unused { unused }.into());
        }
        let found = self.checksum.clone().finalize();
        if found != self.expected_checksum {
            return Err(DataFault::Checksum { expected: self.expected_checksum, found }.into());
        }
        self.checked = true;
        Ok(())
    }

    fn raw_fill(&mut self) -> io::Result<&[u8]> {
        // One byte more than declared is asked for, so that content that goes on is noticed.
        let limit = self.left.saturating_add(1);
        match &mut self.decoder {
            Decoder::Stored(packed) => packed.fill_buf(),
            Decoder::Deflate(buffered) => buffered.fill(limit),
            Decoder::Zstd(buffered) => buffered.fill(limit),
        }
    }
}

impl BufRead for ZipData<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let (left, size) = (self.left, self.size);
        let ready = self.raw_fill()?.len() as u64;
        if ready > left {
            return Err(DataFault::Long { expected: size }.into());
        }
        if ready == 0 {
            if left > 0 {
                let found = size.saturating_sub(left);
                return Err(DataFault::Short { expected: size, found }.into());
            }
            self.check_end()?;
        }
        self.raw_fill()
    }

    fn consume(&mut self, amount: usize) {
        let ready = match &self.decoder {
            Decoder::Stored(packed) => packed.ready(),
            Decoder::Deflate(buffered) => buffered.ready(),
            Decoder::Zstd(buffered) => buffered.ready(),
        };
        self.checksum.update(ready.get(..amount).unwrap_or(ready));
        self.left = self.left.saturating_sub(amount as u64);
        match &mut self.decoder {
            Decoder::Stored(packed) => packed.consume(amount),
            Decoder::Deflate(buffered) => buffered.consume(amount),
            Decoder::Zstd(buffered) => buffered.consume(amount),
        }
    }
}

impl Read for ZipData<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // Content that goes on for longer than it should is noticed where it is buffered.
        if let Decoder::Stored(Packed::Stretch(stretch)) = &mut self.decoder
            && (1..=self.left).contains(&stretch.left())
        {
            let count = stretch.read(out)?;
            self.checksum.update(out.split_at(count).0);
            self.left = self.left.saturating_sub(count as u64);
            return Ok(count);
        }
        read_buffered(self, out)
    }
}

/// Members with a window of up to 8 MiB that are decoded at once by all jobs of the program.
const WINDOWS: usize = 16;

static WINDOWS_LEFT: (Mutex<usize>, Condvar) = (Mutex::new(WINDOWS), Condvar::new());

/// A job's turn to decode a member that may have a large window. Nobody may wait for another member meanwhile.
pub(super) struct WindowTurn(());

impl WindowTurn {
    /// Waits for a turn, if the member needs one: a short content fills no window.
    pub(super) fn of(member: &Member) -> Option<Self> {
        const SHORT: u64 = 1 << 20;
        (member.method == Method::Zstd && member.size > SHORT).then(|| {
            let (left, given_back) = &WINDOWS_LEFT;
            let left = left.lock().unwrap_or_else(PoisonError::into_inner);
            let left = given_back.wait_while(left, |left| *left == 0);
            *left.unwrap_or_else(PoisonError::into_inner) -= 1;
            Self(())
        })
    }
}

impl Drop for WindowTurn {
    fn drop(&mut self) {
        let (left, given_back) = &WINDOWS_LEFT;
        *left.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        given_back.notify_one();
    }
}

/// The content of a member that owns what it reads from.
pub(crate) struct MemberReader(Box<dyn BufRead + Send>);

impl MemberReader {
    pub(super) fn new(reader: impl BufRead + Send + 'static) -> Self {
        Self(Box::new(reader))
    }
}

impl std::fmt::Debug for MemberReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MemberReader")
    }
}

impl Read for MemberReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl BufRead for MemberReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.0.consume(amount);
    }
}

/// Members up to this size, with their headers, are read at once when they are read by name.
pub(super) const SMALL: u64 = 64 * 1024;
/// As much as the headers of nearly all members need, the header of an array included.
const HEADERS: u64 = 512;

/// A block of an archive that holds what is looked at next, so that neighbours are read together.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) file: Arc<File>,
    start: u64,
    bytes: Vec<u8>,
    /// Nothing from here on is read ahead.
    pub(super) limit: u64,
    /// What decodes small members, one after the other.
    pub(super) inflater: Option<Inflater<'static>>,
}

impl Window {
    pub(super) fn new(file: Arc<File>) -> Self {
        Self { file, start: 0, bytes: Vec::new(), limit: 0, inflater: None }
    }

    /// Prepares for a member that is read by its name and lies between `offset` and `end`. Where one is
    /// read behind the other, many are read at once, up to `limit`.
    pub(super) fn aim(&mut self, offset: u64, end: u64, limit: u64) {
        let read = self.bytes.len() as u64;
        let read = self.start..self.start.saturating_add(read).saturating_add(SMALL);
        let ahead = if end.saturating_sub(offset) > SMALL {
            HEADERS
        } else if !self.bytes.is_empty() && read.contains(&offset) {
            u64::try_from(BLOCK).unwrap_or(SMALL)
        } else {
            end.saturating_sub(offset)
        };
        self.limit = offset.saturating_add(ahead).min(limit);
    }

    /// Prepares for the content of a member whose header was read. Where another was looked at since, nothing is
    /// read but the content.
    pub(super) fn aim_back(&mut self, offset: u64, length: usize) {
        let end = self.start.saturating_add(self.bytes.len() as u64);
        if !(self.start..=end).contains(&offset) {
            self.limit = offset.saturating_add(length as u64);
        }
    }

    /// `length` bytes from `offset`; `None` when the file does not hold them.
    pub(super) fn get(&mut self, offset: u64, length: usize) -> Result<Option<&[u8]>> {
        let inside = |this: &Self| {
            let from = usize::try_from(offset.checked_sub(this.start)?).ok()?;
            let range = from..from.checked_add(length)?;
            (range.end <= this.bytes.len()).then_some(range)
        };
        if inside(self).is_none() {
            let ahead = self.limit.saturating_sub(offset);
            let ahead = usize::try_from(ahead).unwrap_or(BLOCK).min(BLOCK);
            self.start = offset;
            self.bytes.resize(length.max(ahead), 0);
            let result = self.file.read_at(&mut self.bytes, offset);
            // What was not read must not be taken for what the file holds.
            self.bytes.truncate(*result.as_ref().unwrap_or(&0));
            result?;
        }
        Ok(inside(self).and_then(|range| self.bytes.get(range)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn deflate(content: &[u8]) -> Vec<u8> {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn read(packed: &[u8], method: Method, size: u64, crc: u32) -> Result<Vec<u8>, DataFault> {
        let mut data = ZipData::new(Packed::Slice(packed), method, size, crc).unwrap().unwrap();
        let mut content = Vec::new();
        match data.read_to_end(&mut content) {
            Ok(_) => Ok(content),
            Err(error) => Err(DataFault::of(&error).unwrap().clone()),
        }
    }

    #[test]
    fn content_is_read_whole_or_its_fault_is_named() {
        let content = b"abc".repeat(200_000);
        let size = u64::try_from(content.len()).unwrap();
        let crc = crc32fast::hash(&content);
        let zstd = zstd::encode_all(&content[..], 3).unwrap();
        for (packed, method) in [
            (content.clone(), Method::Stored),
            (deflate(&content), Method::Deflate),
            (zstd, Method::Zstd),
        ] {
            assert_eq!(read(&packed, method, size, crc).as_ref(), Ok(&content));
            assert!(matches!(
                read(&packed, method, size, crc ^ 1),
                Err(DataFault::Checksum { .. })
            ));
            assert!(matches!(read(&packed, method, size - 1, crc), Err(DataFault::Long { .. })));
            assert!(matches!(read(&packed, method, size + 1, crc), Err(DataFault::Short { .. })));
            let cut = &packed[..packed.len() - 1];
            assert!(read(cut, method, size, crc).is_err());
            let mut longer = packed.clone();
            longer.push(0);
            assert!(read(&longer, method, size, crc).is_err(), "{method}");
        }
    }
}
