//! Compressed streams: gzip and zstd encoding and decoding of any bytes.

#[cfg(feature = "full")]
mod encoder;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, BufReader, Read};
use std::iter;
use std::sync::{Arc, OnceLock};

use super::zstd_frame::{self, ZstdDecoder};
#[cfg(feature = "full")]
use crate::archive::Container;
use crate::error::Error;
use crate::file_kind::FileKind;
use crate::finding::{Code, Finding};

#[cfg(feature = "full")]
pub(crate) use self::encoder::{Deflater, Encoder, Engine, SMALL_ZSTD_JOB};

/// Bytes that are decoded at once.
const DECODED_AT_ONCE: usize = 256 * 1024;

/// The format of a compressed stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamCompression {
    None,
    Gzip,
    Zstd,
}

impl StreamCompression {
    /// Returns the format of a file of that kind.
    pub(crate) fn of(kind: FileKind) -> Self {
        match kind {
            FileKind::Gzip => Self::Gzip,
            FileKind::Zstd => Self::Zstd,
            _ => Self::None,
        }
    }

    /// Returns the format of a tar in that container; `None` for other containers.
    #[cfg(feature = "full")]
    pub(crate) fn of_container(container: Container) -> Option<Self> {
        match container {
            Container::Directory | Container::Zip => None,
            Container::Tar => Some(Self::None),
            Container::TarGz => Some(Self::Gzip),
            Container::TarZst => Some(Self::Zstd),
        }
    }

    /// Returns the name of the format for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Returns whether a member or frame can begin with this byte.
    fn begins_with(self, byte: u8) -> bool {
        match self {
            Self::None => true,
            Self::Gzip => byte == 0x1f,
            Self::Zstd => matches!(byte, 0x28 | 0x50..=0x5f),
        }
    }
}

/// Binary logarithm of the maximum zstd window of a tar: 128 MiB. The `zstd` tool accepts it by default, and all its
/// levels stay within it. It bounds the memory that a frame can request.
pub(crate) const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Bytes of compressed data per read.
const READ_AHEAD: usize = 64 << 10;

/// An invalid compressed stream, wrapped in an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub(crate) struct StreamFault(pub(crate) Finding);

/// Decodes a stream of one or more gzip members or zstd frames.
///
/// Parallel compressors write several members or frames. At the end of each, the trailer has been checked. Bytes that
/// are not another member or frame are an error.
pub(crate) struct StreamDecoder<R: Read> {
    format: StreamCompression,
    oddity: Arc<OnceLock<Oddity>>,
    state: DecoderState<R>,
}

/// An unusual but harmless feature of the first such member or frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Oddity {
    /// Offset of its beginning.
    pub(crate) offset: u64,
    pub(crate) what: &'static str,
}

type Input<R> = BufReader<Tracked<R>>;

enum DecoderState<R: Read> {
    Plain(R),
    /// Before a member or frame, or at the end.
    Between {
        input: Input<R>,
        first: bool,
    },
    Gzip(Box<flate2::bufread::GzDecoder<Input<R>>>),
    Zstd(Box<ZstdDecoder<Input<R>>>),
    End,
    Failed,
}

impl<R: Read> StreamDecoder<R> {
    pub(crate) fn new(reader: R, format: StreamCompression) -> Self {
        let state = match format {
            StreamCompression::None => DecoderState::Plain(reader),
            StreamCompression::Gzip | StreamCompression::Zstd => {
                let counted = Tracked { inner: reader, count: 0, failed: false };
                DecoderState::Between {
                    input: BufReader::with_capacity(READ_AHEAD, counted),
                    first: true,
                }
            }
        };
        Self { format, oddity: Arc::default(), state }
    }

    /// Returns the place where the first oddity will be stored.
    pub(crate) fn oddity(&self) -> Arc<OnceLock<Oddity>> {
        Arc::clone(&self.oddity)
    }

    /// Returns the decoded bytes in blocks. After an error, there are no more blocks.
    pub(crate) fn blocks(mut self) -> impl Iterator<Item = io::Result<Vec<u8>>> {
        let (mut failed, mut ended) = (None, false);
        iter::from_fn(move || {
            if ended {
                return failed.take().map(Err);
            }
            let mut block = Vec::with_capacity(DECODED_AT_ONCE);
            failed = (&mut self).take(DECODED_AT_ONCE as u64).read_to_end(&mut block).err();
            ended = block.is_empty() || failed.is_some();
            if block.is_empty() { failed.take().map(Err) } else { Some(Ok(block)) }
        })
    }

    /// Starts the next member or frame, if there is one.
    fn begin(&self, mut input: Input<R>, first: bool) -> io::Result<DecoderState<R>> {
        let format = self.format.name();
        let next = loop {
            match input.fill_buf() {
                Ok(bytes) => break bytes.first().copied(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        // A header that spans two reads is decoded, but not checked here.
        if let Some(what) = odd_header(self.format, input.buffer()) {
            let _ = self.oddity.set(Oddity { offset: offset(&input), what });
        }
        match next {
            None if first => Err(cut_off(format, 0)),
            None => Ok(DecoderState::End),
            Some(byte) if !first && !self.format.begins_with(byte) => {
                let offset = offset(&input);
                let expected = format!("the {format} file to end at byte {offset}");
                let message = format!("expected {expected}, found more bytes");
                Err(invalid(Code::TrailingCompressed, offset, message))
            }
            Some(_) if self.format == StreamCompression::Gzip => {
                Ok(DecoderState::Gzip(Box::new(flate2::bufread::GzDecoder::new(input))))
            }
            Some(_) => {
                let frame = zstd_frame::decoder(input, ZSTD_WINDOW_LOG_MAX)?.single_frame();
                Ok(DecoderState::Zstd(Box::new(frame)))
            }
        }
    }

    fn explain(&self, error: io::Error, input: &Input<R>) -> io::Error {
        if input.get_ref().failed {
            return error;
        }
        let (format, offset) = (self.format.name(), offset(input));
        if zstd_frame::is_wide_window(&error) {
            return io::Error::other(Error::unsupported(format!(
                "decoding the zstd frame before byte {offset} needs a window above {} MiB; \
                 decode it with `zstd -d --long=31 PACK`, then verify the tar or compress it again",
                1_u32 << (ZSTD_WINDOW_LOG_MAX - 20)
            )));
        }
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return cut_off(format, offset);
        }
        let message = format!("the {format} stream is damaged at or before byte {offset}: {error}");
        invalid(Code::DamagedStream, offset, message)
    }
}

impl<R: Read> Read for StreamDecoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            // An error leaves `Failed`, because the state after it is undefined.
            self.state = match std::mem::replace(&mut self.state, DecoderState::Failed) {
                DecoderState::Plain(mut reader) => {
                    let result = reader.read(buffer);
                    self.state = DecoderState::Plain(reader);
                    return result;
                }
                DecoderState::Between { input, first } => self.begin(input, first)?,
                DecoderState::Gzip(mut member) => match member.read(buffer) {
                    Ok(0) => DecoderState::Between { input: member.into_inner(), first: false },
                    Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                        return Err(self.explain(error, member.get_ref()));
                    }
                    result => {
                        self.state = DecoderState::Gzip(member);
                        return result;
                    }
                },
                DecoderState::Zstd(mut frame) => match frame.read(buffer) {
                    Ok(0) => DecoderState::Between { input: frame.into_inner(), first: false },
                    Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                        return Err(self.explain(error, frame.get_ref()));
                    }
                    result => {
                        self.state = DecoderState::Zstd(frame);
                        return result;
                    }
                },
                DecoderState::End => {
                    self.state = DecoderState::End;
                    return Ok(0);
                }
                DecoderState::Failed => return Err(io::Error::other("the stream failed earlier")),
            };
        }
    }
}

/// Describes an uncommon feature in the header of a gzip member (RFC 1952 §2.3) or a zstd frame (RFC 8878 §3.1).
fn odd_header(format: StreamCompression, start: &[u8]) -> Option<&'static str> {
    /// Header checksum and name, which `gzip` can write.
    const COMMON: u8 = 0b0000_1010;
    match (format, start) {
        (StreamCompression::Gzip, [0x1f, 0x8b, 8, flags, _, _, _, _, extra, system, ..]) => {
            if flags & !COMMON != 0 {
                Some("the gzip header has a comment, a field or a flag that nothing checks")
            } else if !matches!(extra, 0 | 2 | 4) || matches!(system, 14..=254) {
                Some("the gzip header has an unknown compressor or system")
            } else {
                None
            }
        }
        (StreamCompression::Zstd, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]) => {
            Some("the zstd stream has a skippable frame")
        }
        (StreamCompression::Zstd, [0x28, 0xb5, 0x2f, 0xfd, descriptor, ..])
            if descriptor & 0b0001_0000 != 0 =>
        {
            Some("the zstd frame sets an unused bit")
        }
        _ => None,
    }
}

fn cut_off(format: &str, offset: u64) -> io::Error {
    let message = format!("the {format} stream is cut off after {offset} bytes");
    invalid(Code::NotAnArchive, offset, message)
}

fn invalid(code: Code, offset: u64, message: String) -> io::Error {
    let hint = "restore it from another copy; files before this offset may be intact";
    let finding = Finding::new(code, message).at_byte(offset).hint(hint);
    io::Error::new(io::ErrorKind::InvalidData, StreamFault(finding))
}

/// Returns the number of consumed bytes of `input`.
fn offset<R: Read>(input: &Input<R>) -> u64 {
    input.get_ref().count - input.buffer().len() as u64
}

/// Tracks the read position, and whether an error came from the source.
struct Tracked<R> {
    inner: R,
    count: u64,
    failed: bool,
}

impl<R: Read> Read for Tracked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.read(buffer);
        match &result {
            Ok(count) => self.count += *count as u64,
            Err(error) => self.failed = error.kind() != io::ErrorKind::Interrupted,
        }
        result
    }
}
