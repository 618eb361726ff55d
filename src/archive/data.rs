//! The content of one member, checked against what its container says of it.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use flate2::bufread::DeflateDecoder;

use super::revisit::LARGE;
use super::tar::Skip;
use super::zstd_frame::{self, ZstdDecoder};
use super::{Location, Member, Method};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::progress::Progress;

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
    #[error(
        "the content does not match its checksum: CRC-32 {found:08x}, and {expected:08x} in the archive"
    )]
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

/// Bytes of a file from one place to another, read in blocks by position, so that many can be read at once.
#[derive(Debug)]
pub(crate) struct Stretch {
    file: Arc<File>,
    /// The part that is not yet in the block.
    next: u64,
    end: u64,
    /// Most bytes of one read.
    most: usize,
    block: Vec<u8>,
    /// Bytes of the block that were consumed.
    at: usize,
}

impl Stretch {
    pub(crate) fn new(file: Arc<File>, start: u64, length: u64) -> Self {
        let most = if length <= FEW { SMALL_BLOCK } else { BLOCK };
        Self {
            file,
            next: start,
            end: start.saturating_add(length),
            most,
            block: Vec::new(),
            at: 0,
        }
    }

    /// The packed bytes of a member.
    pub(super) fn of(file: &Arc<File>, member: &Member) -> Self {
        Self::new(Arc::clone(file), member.start(), member.packed_size)
    }

    /// Bytes that were read already.
    fn of_bytes(file: Arc<File>, block: Vec<u8>) -> Self {
        Self { block, ..Self::new(file, 0, 0) }
    }

    /// The same with so many bytes of one read.
    pub(super) fn in_blocks_of(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Bytes not yet consumed.
    fn left(&self) -> u64 {
        self.end.saturating_sub(self.next).saturating_add(self.ready().len() as u64)
    }

    fn ready(&self) -> &[u8] {
        self.block.split_at(self.at).1
    }

    /// Reads what is not yet in the block: as much as `out` takes.
    fn fetch(&mut self, out: &mut [u8]) -> io::Result<usize> {
        /// Bytes that are read at once, however much is asked for: they are hashed while they are in the cache, and
        /// between them the reading can be stopped.
        const PIECE: usize = 1 << 20;
        let left = self.end.saturating_sub(self.next);
        let most = out.len().min(PIECE);
        let length = usize::try_from(left).map_or(most, |left| left.min(most));
        let count = self.file.read_at(out.split_at_mut(length).0, self.next)?;
        if count == 0 && length > 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("the archive ends at byte {}, which a member needs", self.next),
            ));
        }
        self.next += count as u64;
        Ok(count)
    }
}

impl BufRead for Stretch {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.ready().is_empty() && self.next < self.end {
            let mut block = std::mem::take(&mut self.block);
            self.at = 0;
            let left = usize::try_from(self.left()).unwrap_or(self.most);
            block.resize(left.min(self.most), 0);
            let count = self.fetch(&mut block)?;
            block.truncate(count);
            self.block = block;
        }
        Ok(self.ready())
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}

impl Read for Stretch {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ready().is_empty() && out.len() >= self.most {
            return self.fetch(out);
        }
        read_buffered(self, out)
    }
}

impl Skip for Stretch {
    /// Bytes that nobody asks for are not read.
    fn skip(&mut self, count: u64) -> io::Result<u64> {
        let count = count.min(self.left());
        let ready = self.ready().len();
        let in_block = usize::try_from(count).map_or(ready, |count| count.min(ready));
        self.at += in_block;
        self.next += count - in_block as u64;
        Ok(count)
    }
}

/// [`Read::read`] by way of [`BufRead`].
pub(super) fn read_buffered(reader: &mut impl BufRead, out: &mut [u8]) -> io::Result<usize> {
    let count = reader.fill_buf()?.read(out)?;
    reader.consume(count);
    Ok(count)
}

/// The widest zstd window of a member of a zip: 8 MiB, which levels up to 19 stay within. Each job decodes a member of its own,
/// and many that are read side by side several.
const WINDOW_LOG_MAX: u32 = 23;

/// Decodes deflate. One made anew for each of many small members leaves a gap in memory after each, which what is
/// kept of the member then makes too small for the next.
type Inflater = DeflateDecoder<Stretch>;

/// The packed bytes of a zip member, decoded.
enum Unpacked {
    Stored(Stretch),
    Deflate(BufReader<Inflater>),
    Zstd(BufReader<ZstdDecoder<Stretch>>),
}

impl Unpacked {
    fn packed(&self) -> &Stretch {
        match self {
            Self::Stored(packed) => packed,
            Self::Deflate(decoder) => decoder.get_ref().get_ref(),
            Self::Zstd(decoder) => decoder.get_ref().get_ref(),
        }
    }

    fn bytes(&mut self) -> &mut dyn BufRead {
        match self {
            Self::Stored(packed) => packed,
            Self::Deflate(decoder) => decoder,
            Self::Zstd(decoder) => decoder,
        }
    }
}

/// The content of a zip member. Size and checksum are checked when the end is reached.
pub(super) struct ZipData {
    unpacked: Unpacked,
    checksum: crc32fast::Hasher,
    expected_checksum: u32,
    size: u64,
    left: u64,
}

impl ZipData {
    /// The content of these packed bytes. The decoder may be one that another member has left.
    pub(super) fn new(
        packed: Stretch,
        inflater: Option<Inflater>,
        method: Method,
        size: u64,
        crc: u32,
    ) -> Result<Self> {
        // One byte more than declared is asked for, so that content that goes on is noticed; the buffer of a small
        // member is small.
        let room = usize::try_from(size).map_or(BLOCK, |size| size.saturating_add(1).min(BLOCK));
        let unsupported = |error: io::Error| Error::Unsupported(error.to_string());
        let unpacked = match method {
            Method::Stored => Unpacked::Stored(packed),
            Method::Deflate => Unpacked::Deflate(BufReader::with_capacity(
                room,
                match inflater {
                    Some(mut inflater) => {
                        inflater.reset(packed);
                        inflater
                    }
                    None => DeflateDecoder::new(packed),
                },
            )),
            Method::Zstd => {
                let decoder = zstd_frame::decoder(packed, WINDOW_LOG_MAX).map_err(unsupported)?;
                Unpacked::Zstd(BufReader::with_capacity(room, decoder))
            }
            Method::Solid | Method::Other(_) => {
                return Err(Error::Unsupported(format!("{method} is not supported")));
            }
        };
        let checksum = crc32fast::Hasher::new();
        Ok(Self { unpacked, checksum, expected_checksum: crc, size, left: size })
    }

    /// The decoder, for another member.
    fn into_inflater(self) -> Option<Inflater> {
        match self.unpacked {
            Unpacked::Deflate(decoder) => Some(decoder.into_inner()),
            Unpacked::Stored(_) | Unpacked::Zstd(_) => None,
        }
    }

    fn check_end(&self) -> io::Result<()> {
        let (size, left) = (self.size, self.left);
        if left > 0 {
            return Err(DataFault::Short { expected: size, found: size - left }.into());
        }
        let unused = self.unpacked.packed().left();
        if unused > 0 {
            return Err(DataFault::Unused { unused }.into());
        }
        let (expected, found) = (self.expected_checksum, self.checksum.clone().finalize());
        if found != expected {
            return Err(DataFault::Checksum { expected, found }.into());
        }
        Ok(())
    }
}

impl BufRead for ZipData {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let is_packed = !matches!(self.unpacked, Unpacked::Stored(_));
        // A block that is read may be decoded to gigabytes.
        self.unpacked.packed().file.progress().check().map_err(Error::from)?;
        let ready = self.unpacked.bytes().fill_buf().map_err(|error| {
            // An error of the file itself stays what it is; the decoders make the rest.
            let is_from_file = error.raw_os_error().is_some()
                || error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Error>);
            if is_from_file || !is_packed {
                error
            } else if zstd_frame::is_wide_window(&error) {
                DataFault::Window.into()
            } else {
                DataFault::Undecodable(error.to_string()).into()
            }
        })?;
        if ready.len() as u64 > self.left {
            return Err(DataFault::Long { expected: self.size }.into());
        }
        if ready.is_empty() {
            self.check_end()?;
        }
        // They are in a buffer, and to ask for them again reads nothing.
        self.unpacked.bytes().fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if amount > 0 {
            let ready = self.unpacked.bytes().fill_buf().expect("bytes that are there");
            self.checksum.update(ready.split_at(amount).0);
            self.left -= amount as u64;
            self.unpacked.bytes().consume(amount);
        }
    }
}

impl Read for ZipData {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // Content that goes on for longer than it should is noticed where it is buffered.
        if let Unpacked::Stored(packed) = &mut self.unpacked
            && (1..=self.left).contains(&packed.left())
        {
            let count = packed.read(out)?;
            self.checksum.update(out.split_at(count).0);
            self.left -= count as u64;
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
    pub(super) fn of(member: &Member, progress: &Progress) -> Result<Option<Self>> {
        const SHORT: u64 = 1 << 20;
        /// Then it is seen whether the operation was cancelled.
        const WAIT: Duration = Duration::from_millis(20);
        if member.method != Method::Zstd || member.size <= SHORT {
            return Ok(None);
        }
        let (left, given_back) = &WINDOWS_LEFT;
        let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left == 0 {
            progress.check()?;
            left = given_back.wait_timeout(left, WAIT).unwrap_or_else(PoisonError::into_inner).0;
        }
        *left -= 1;
        Ok(Some(Self(())))
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
pub(crate) type MemberReader = Box<dyn BufRead + Send>;

/// The content of a member of a zip or a plain tar, whose packed bytes these are.
pub(super) fn open(member: &Member, packed: Stretch) -> Result<MemberReader> {
    Ok(match member.location {
        Location::Packed { crc, .. } => {
            Box::new(ZipData::new(packed, None, member.method, member.size, crc)?)
        }
        _ => Box::new(packed),
    })
}

/// A block of an archive that holds what is looked at next, so that neighbours are read together.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) file: Arc<File>,
    start: u64,
    bytes: Vec<u8>,
    /// Nothing from here on is read ahead.
    pub(super) limit: u64,
    inflater: Option<Inflater>,
}

impl Window {
    pub(super) fn new(file: Arc<File>) -> Self {
        Self { file, start: 0, bytes: Vec::new(), limit: 0, inflater: None }
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

    /// The packed bytes of a member: those of one that is not large are read at once, with what is read ahead.
    fn packed(&mut self, member: &Member) -> Result<Stretch> {
        if let Ok(length) = usize::try_from(member.packed_size)
            && member.packed_size <= LARGE
            && let Some(bytes) = self.get(member.start(), length)?
        {
            let bytes = bytes.to_vec();
            return Ok(Stretch::of_bytes(Arc::clone(&self.file), bytes));
        }
        Ok(Stretch::of(&self.file, member))
    }

    /// Shows the content of a member.
    pub(super) fn show<T>(
        &mut self,
        member: &Member,
        visit: impl FnOnce(&mut dyn BufRead) -> T,
    ) -> Result<T> {
        let _turn = WindowTurn::of(member, self.file.progress())?;
        let mut packed = self.packed(member)?;
        let Location::Packed { crc, .. } = member.location else { return Ok(visit(&mut packed)) };
        let inflater = self.inflater.take();
        let mut content = ZipData::new(packed, inflater, member.method, member.size, crc)?;
        let result = visit(&mut content);
        self.inflater = content.into_inflater();
        Ok(result)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::*;
    use crate::archive::stream::{StreamCompression, StreamDecoder};
    use crate::archive::tar::Streaming;
    use crate::fs::scratch_file;

    /// A file of these bytes.
    pub(in crate::archive) fn in_file(bytes: &[u8]) -> Stretch {
        thread_local! {
            static FILE: Arc<File> = Arc::new(scratch_file(&std::env::temp_dir().join("x"), &Progress::default()).unwrap());
        }
        let file = FILE.with(Arc::clone);
        file.write_all_at(bytes, 0).unwrap();
        Stretch::new(file, 0, bytes.len() as u64)
    }

    /// These bytes as a stream.
    pub(in crate::archive) fn streaming(bytes: impl Read) -> impl Skip {
        Streaming::new(StreamDecoder::new(bytes, StreamCompression::None).blocks())
    }

    fn deflate(content: &[u8]) -> Vec<u8> {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn read(packed: &[u8], method: Method, size: u64, crc: u32) -> Result<Vec<u8>, DataFault> {
        let packed = in_file(packed);
        let mut data = ZipData::new(packed, None, method, size, crc).unwrap();
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
