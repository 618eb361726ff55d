//! Compression by several threads into bytes that do not depend on how many they are.

use std::io::{self, Write};

use zstd::zstd_safe::CParameter;

use super::StreamCompression;
use super::gzip::GzipEncoder;

/// Input that one thread of zstd takes at a time. The library's own choice, four windows, makes every
/// thread hold 8 MiB or more, and is less than a percent better at the usual level.
const ZSTD_JOB: u32 = 2 << 20;

/// A level that the format does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a {format} level from {first} to {last}, found {found}")]
pub(crate) struct LevelOutOfRange {
    format: &'static str,
    first: i32,
    last: i32,
    found: i32,
}

/// Writes one gzip member, its deflate alone, or one zstd frame with a checksum.
///
/// The bytes depend on the level and on what is written, not on the number of jobs nor on how the input
/// is divided among calls. Without [`finish`](Self::finish) the stream is incomplete.
pub(crate) struct Encoder<W: Write>(Kind<W>);

enum Kind<W: Write> {
    Plain(W),
    Gzip(Box<GzipEncoder<W>>),
    Zstd(zstd::stream::write::Encoder<'static, W>),
}

impl<W: Write> Encoder<W> {
    /// Begins a stream at the default level, or at `level`, compressed by `jobs` threads besides the
    /// calling one; gzip with one job needs no other thread.
    ///
    /// # Errors
    ///
    /// When the format has no such level, a thread cannot be started, or the writer fails.
    pub(crate) fn new(
        writer: W,
        format: StreamCompression,
        level: Option<i32>,
        jobs: usize,
    ) -> io::Result<Self> {
        let level = level.unwrap_or(format.default_level());
        let levels = format.levels();
        if !levels.contains(&level) {
            let (first, last) = levels.into_inner();
            let fault = LevelOutOfRange { format: format.name(), first, last, found: level };
            return Err(io::Error::new(io::ErrorKind::InvalidInput, fault));
        }
        Ok(Self(match format {
            StreamCompression::None => Kind::Plain(writer),
            StreamCompression::Gzip => {
                Kind::Gzip(Box::new(GzipEncoder::new(writer, level.unsigned_abs(), jobs)?))
            }
            StreamCompression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(writer, level)?;
                encoder.include_checksum(true)?;
                // No workers and one worker give different bytes; one and many the same.
                encoder.multithread(u32::try_from(jobs.max(1)).unwrap_or(u32::MAX))?;
                encoder.set_parameter(CParameter::JobSize(ZSTD_JOB))?;
                Kind::Zstd(encoder)
            }
        }))
    }

    /// Begins a zstd frame without a checksum, compressed by the calling thread as its bytes come.
    ///
    /// # Errors
    ///
    /// When the compressor cannot be made.
    pub(crate) fn zstd_here(writer: W, level: i32) -> io::Result<Self> {
        Ok(Self(Kind::Zstd(zstd::stream::write::Encoder::new(writer, level)?)))
    }

    /// Begins raw deflate, without the header and trailer of gzip, compressed by `jobs` threads.
    pub(crate) fn deflate(writer: W, level: u32, jobs: usize) -> Self {
        Self(Kind::Gzip(Box::new(GzipEncoder::bare(writer, level, jobs))))
    }

    /// Ends the stream and gives the writer back, which has not been flushed.
    ///
    /// # Errors
    ///
    /// When the writer fails.
    pub(crate) fn finish(self) -> io::Result<W> {
        match self.0 {
            Kind::Plain(writer) => Ok(writer),
            Kind::Gzip(encoder) => encoder.finish(),
            Kind::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(writer) => writer.write(bytes),
            Kind::Gzip(encoder) => encoder.write(bytes),
            Kind::Zstd(encoder) => encoder.write(bytes),
        }
    }

    /// Flushes the writer only: to flush the compressor would change the bytes.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Plain(writer) => writer.flush(),
            Kind::Gzip(encoder) => encoder.flush(),
            Kind::Zstd(encoder) => encoder.get_mut().flush(),
        }
    }
}
