//! The content of a member, checked against the values in its container.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use flate2::bufread::DeflateDecoder;

use super::tar::{Skip, read_buffered};
use super::zstd_frame::{self, ZstdDecoder};
use super::{Location, Member, Method};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::progress::Progress;

/// Members up to this packed size are read completely, together with adjacent ones. Several larger ones are read at
/// once.
pub(crate) const OPENED_FROM: u64 = 1024 * 1024;

/// Bytes per read of an archive. From 128 KiB on, the cost of the system call is negligible.
pub(super) const ARCHIVE_BLOCK: usize = 256 * 1024;

/// Bytes per read of short members, because fresh memory costs more than the calls. Also used when many members are
/// read at once, so that all blocks fit into a core's cache.
pub(super) const SMALL_BLOCK: usize = 64 * 1024;
/// Maximum size of a short member in bytes.
const FEW: u64 = 32 * 1024 * 1024;

/// Bytes at the beginning of each member that a scan of a remote archive reads at once, if it does not read everything:
/// the headers of the member and of the array, or a description.
pub(super) const START: usize = 4 * 1024;

/// Maximum number of bytes per read. The data is hashed while it is in the cache, and reading can be cancelled in
/// between.
const READ_AT_ONCE: usize = 1 << 20;

/// Size in bytes of a member that is decoded at once, without a check for cancellation.
const SHORT_MEMBER: u64 = 1 << 20;

/// Interval of checks for cancellation.
const CANCELLATION_INTERVAL: Duration = Duration::from_millis(20);

/// A problem with the content of a member.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DataFault {
    /// The content does not match the container's checksum.
    #[error(
        "the content does not match its checksum: expected CRC-32 {expected:08x}, found {found:08x}"
    )]
    Checksum {
        /// The CRC-32 in the headers.
        expected: u32,
        /// The CRC-32 of the content.
        found: u32,
    },
    /// The content is too short.
    #[error("the content ends early: expected {expected} bytes, found {found}")]
    Short {
        /// The length in the headers, in bytes.
        expected: u64,
        /// The actual length in bytes.
        found: u64,
    },
    /// The content is too long.
    #[error("the content is too long: expected {expected} bytes, found more")]
    Long {
        /// The length in the headers, in bytes.
        expected: u64,
    },
    /// Compressed bytes after the end of the content.
    #[error("{unused} bytes follow the end of the compressed content")]
    Unused {
        /// Number of these bytes.
        unused: u64,
    },
    /// The frame needs a window larger than the limit.
    #[error("the content needs a zstd window above 8 MiB, which is not supported in a zip")]
    Window,
    /// The compressed bytes cannot be decoded.
    #[error("the compressed content cannot be decoded: {0}")]
    Undecodable(String),
}

impl DataFault {
    /// Returns the data fault in an error of a read, or `None` for errors of the system.
    pub(crate) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<DataFault> for io::Error {
    fn from(fault: DataFault) -> Self {
        Self::new(io::ErrorKind::InvalidData, fault)
    }
}

/// A range of a file, read in blocks by position, so that several can be read at once.
#[derive(Debug)]
pub(crate) struct Stretch {
    file: Arc<File>,
    /// The range that is not yet in the block.
    next: u64,
    end: u64,
    /// Maximum number of bytes per read.
    most: usize,
    block: Vec<u8>,
    /// Number of bytes of the block that were consumed.
    at: usize,
}

impl Stretch {
    pub(crate) fn new(file: Arc<File>, start: u64, length: u64) -> Self {
        let most = if length <= FEW { SMALL_BLOCK } else { ARCHIVE_BLOCK };
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

    /// Makes a stretch of bytes that were read already.
    fn of_bytes(file: Arc<File>, block: Vec<u8>) -> Self {
        Self { block, ..Self::new(file, 0, 0) }
    }

    /// Sets the maximum number of bytes per read.
    pub(crate) fn in_blocks_of(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Returns the number of bytes not yet consumed.
    fn left(&self) -> u64 {
        self.end.saturating_sub(self.next).saturating_add(self.ready().len() as u64)
    }

    fn ready(&self) -> &[u8] {
        self.block.split_at(self.at).1
    }

    /// Reads what is not yet in the block, at most `out.len()` bytes.
    fn fetch(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.next);
        let most = out.len().min(READ_AT_ONCE);
        let length = usize::try_from(left).map_or(most, |left| left.min(most));
        let count = self.file.read_at(out.split_at_mut(length).0, self.next)?;
        if count == 0 && length > 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("the archive ends at byte {}, in the data of a member", self.next),
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
    /// Bytes that are skipped are not read.
    fn skip(&mut self, count: u64) -> io::Result<u64> {
        let count = count.min(self.left());
        let ready = self.ready().len();
        let in_block = usize::try_from(count).map_or(ready, |count| count.min(ready));
        self.at += in_block;
        self.next += count - in_block as u64;
        Ok(count)
    }
}

/// Binary logarithm of the maximum zstd window of a zip member: 8 MiB, enough for levels up to 19. Each job decodes one
/// or several members at once.
const WINDOW_LOG_MAX: u32 = 23;

/// A deflate decoder. It is reused, because a new one for each small member fragments the memory.
type Inflater = DeflateDecoder<Stretch>;

/// The decoded bytes of a zip member.
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

    /// Returns the bytes that are decoded already.
    fn buffered(&self) -> &[u8] {
        match self {
            Self::Stored(packed) => packed.ready(),
            Self::Deflate(decoder) => decoder.buffer(),
            Self::Zstd(decoder) => decoder.buffer(),
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

/// The content of a zip member. Size and checksum are checked at the end.
pub(super) struct ZipData {
    unpacked: Unpacked,
    checksum: crc32fast::Hasher,
    expected_checksum: u32,
    size: u64,
    left: u64,
}

impl ZipData {
    /// Decodes `packed`, possibly with the decoder of an earlier member.
    pub(super) fn new(
        packed: Stretch,
        inflater: Option<Inflater>,
        method: Method,
        size: u64,
        crc: u32,
    ) -> Result<Self> {
        // One byte more than declared, to detect content that is too long. The buffer of a small member is small.
        let room = usize::try_from(size)
            .map_or(ARCHIVE_BLOCK, |size| size.saturating_add(1).min(ARCHIVE_BLOCK));
        let unsupported = |error: io::Error| Error::unsupported(error.to_string());
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
                return Err(Error::unsupported(format!("{method} is not supported")));
            }
        };
        let checksum = crc32fast::Hasher::new();
        Ok(Self { unpacked, checksum, expected_checksum: crc, size, left: size })
    }

    /// Returns the decoder for reuse.
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
        // One block may decode to gigabytes, so check for cancellation. A caller that knows of bytes gets them.
        if self.unpacked.buffered().is_empty() {
            self.unpacked.packed().file.progress().check().map_err(Error::from)?;
        }
        let ready = self.unpacked.bytes().fill_buf().map_err(|error| {
            // Errors of the file itself are kept; others come from the decoders.
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
        // The bytes are buffered, so this does not read.
        self.unpacked.bytes().fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if amount > 0 {
            let ready = self.unpacked.bytes().fill_buf().expect("the bytes are buffered");
            self.checksum.update(ready.split_at(amount).0);
            self.left -= amount as u64;
            self.unpacked.bytes().consume(amount);
        }
    }
}

impl Read for ZipData {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // Content that is too long is detected when it is buffered.
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

/// Maximum number of members with a window of up to 8 MiB that all jobs decode at once.
const WINDOWS: usize = 16;

static WINDOWS_LEFT: (Mutex<usize>, Condvar) = (Mutex::new(WINDOWS), Condvar::new());

/// A permit to decode a member with a large window. The holder must not wait for another member.
pub(super) struct WindowTurn(());

impl WindowTurn {
    /// Waits for a permit, if the member needs one. Short members do not fill a window.
    pub(super) fn of(member: &Member, progress: &Progress) -> Result<Option<Self>> {
        if member.method != Method::Zstd || member.size <= SHORT_MEMBER {
            return Ok(None);
        }
        let (left, given_back) = &WINDOWS_LEFT;
        let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left == 0 {
            progress.check()?;
            left = given_back
                .wait_timeout(left, CANCELLATION_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
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

/// An owning reader of the content of a member.
pub(crate) type MemberReader = Box<dyn BufRead + Send>;

/// Opens the content of a member of a zip or an uncompressed tar with these packed bytes.
pub(super) fn open(member: &Member, packed: Stretch) -> Result<MemberReader> {
    Ok(match member.location {
        Location::Packed { crc, .. } => {
            Box::new(ZipData::new(packed, None, member.method, member.size, crc)?)
        }
        _ => Box::new(packed),
    })
}

/// A block of an archive that is read ahead, so that adjacent parts need one read.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) file: Arc<File>,
    start: u64,
    bytes: Vec<u8>,
    /// Nothing from this offset on is read ahead.
    pub(super) limit: u64,
    inflater: Option<Inflater>,
}

impl Window {
    pub(super) fn new(file: Arc<File>) -> Self {
        Self { file, start: 0, bytes: Vec::new(), limit: 0, inflater: None }
    }

    /// Returns `length` bytes from `offset`, or `None` if the file ends before.
    pub(super) fn get(&mut self, offset: u64, length: usize) -> Result<Option<&[u8]>> {
        let inside = |this: &Self| {
            let from = usize::try_from(offset.checked_sub(this.start)?).ok()?;
            let range = from..from.checked_add(length)?;
            (range.end <= this.bytes.len()).then_some(range)
        };
        if inside(self).is_none() {
            let ahead = self.limit.saturating_sub(offset);
            let most = if self.file.is_read_whole() { ARCHIVE_BLOCK } else { START };
            let ahead = usize::try_from(ahead).unwrap_or(most).min(most);
            self.start = offset;
            self.bytes.resize(length.max(ahead), 0);
            let result = self.file.read_at(&mut self.bytes, offset);
            // The rest of the buffer is not from the file.
            self.bytes.truncate(*result.as_ref().unwrap_or(&0));
            result?;
        }
        Ok(inside(self).and_then(|range| self.bytes.get(range)))
    }

    /// Returns the packed bytes of a member. Small members are read at once, including the read-ahead.
    fn packed(&mut self, member: &Member) -> Result<Stretch> {
        if let Ok(length) = usize::try_from(member.packed_size)
            && member.packed_size
                <= if self.file.is_read_whole() { OPENED_FROM } else { START as u64 }
            && let Some(bytes) = self.get(member.start(), length)?
        {
            let bytes = bytes.to_vec();
            return Ok(Stretch::of_bytes(Arc::clone(&self.file), bytes));
        }
        let packed = Stretch::of(&self.file, member);
        Ok(if self.file.is_read_whole() { packed } else { packed.in_blocks_of(START / 2) })
    }

    /// Calls a function with the content of a member.
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

    /// Writes the bytes to a file.
    pub(in crate::archive) fn in_file(bytes: &[u8]) -> Stretch {
        thread_local! {
            static FILE: Arc<File> = Arc::new(scratch_file(&std::env::temp_dir().join("x"), &Progress::default()).unwrap());
        }
        let file = FILE.with(Arc::clone);
        file.write_all_at(bytes, 0).unwrap();
        Stretch::new(file, 0, bytes.len() as u64)
    }

    /// Wraps the bytes as a stream.
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
    fn bytes_that_are_ready_remain_after_a_cancellation() {
        let content = b"abc".repeat(200_000);
        let zstd = zstd::encode_all(&content[..], 3).unwrap();
        let packs = [
            (content.clone(), Method::Stored),
            (deflate(&content), Method::Deflate),
            (zstd, Method::Zstd),
        ];
        for (packed, method) in packs {
            let progress = Progress::new();
            let file = scratch_file(&std::env::temp_dir().join("x"), &progress).unwrap();
            file.write_all_at(&packed, 0).unwrap();
            let packed = Stretch::new(Arc::new(file), 0, packed.len() as u64);
            let size = content.len() as u64;
            let mut data = ZipData::new(packed, None, method, size, 0).unwrap();
            let ready = data.fill_buf().unwrap().to_vec();
            progress.cancel();
            assert_eq!(data.fill_buf().unwrap(), ready);
            data.consume(ready.len());
            assert!(data.fill_buf().is_err());
        }
    }

    #[test]
    fn content_is_read_completely_or_its_fault_is_reported() {
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
