//! Compression by several threads into bytes that do not depend on how many they are.

use std::io::{self, Write};

use zstd::stream::raw::{self, Operation as _};
use zstd::stream::zio;
use zstd::zstd_safe::CParameter;

use super::StreamCompression;
use super::gzip::{Deflater, GzipEncoder};

/// Input that one thread of zstd takes at a time. The library's own choice, four windows, makes every
/// thread hold 8 MiB or more, and is less than a percent better at the usual level.
const ZSTD_JOB: u32 = 2 << 20;
/// The same where others compress beside them.
const SMALL_ZSTD_JOB: u32 = 1 << 20;

/// A level that the format does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a {format} level from {first} to {last}, found {found}")]
pub(crate) struct LevelOutOfRange {
    format: &'static str,
    first: i32,
    last: i32,
    found: i32,
}

/// Writes one gzip member, its deflate alone, or one zstd frame.
///
/// The bytes depend on the level and on what is written, not on the number of jobs nor on how the input
/// is divided among calls. Without [`finish`](Self::finish) the stream is incomplete.
pub(crate) struct Encoder<W: Write>(Kind<W>);

enum Kind<W: Write> {
    Plain(W),
    Gzip(Box<GzipEncoder<W>>),
    Zstd(Box<zio::Writer<W, raw::Encoder<'static>>>),
}

/// What compresses one stream after the other. To make it anew for each would take longer, and leave holes in the
/// memory of the process.
pub(crate) struct Engine(Compressors);

enum Compressors {
    None,
    Deflate(Deflater),
    Zstd(raw::Encoder<'static>),
}

impl Engine {
    /// For bytes that stay as they are.
    pub(crate) fn none() -> Self {
        Self(Compressors::None)
    }

    /// For zstd frames without a checksum, compressed by the calling thread as their bytes come.
    ///
    /// # Errors
    ///
    /// When there is no such level, or the compressor cannot be made.
    pub(crate) fn zstd_here(level: Option<i32>) -> io::Result<Self> {
        let level = StreamCompression::Zstd.checked_level(level)?;
        Ok(Self(Compressors::Zstd(raw::Encoder::new(level)?)))
    }

    /// For zstd frames with a checksum, compressed by `jobs` threads besides the calling one, of which each takes
    /// little at a time.
    ///
    /// # Errors
    ///
    /// When there is no such level, or the compressor cannot be made; that a thread cannot be started shows when
    /// the first bytes are written.
    pub(crate) fn zstd(level: Option<i32>, jobs: usize) -> io::Result<Self> {
        Self::zstd_by_threads(level, jobs, SMALL_ZSTD_JOB)
    }

    fn zstd_by_threads(level: Option<i32>, jobs: usize, job: u32) -> io::Result<Self> {
        let level = StreamCompression::Zstd.checked_level(level)?;
        let mut encoder = raw::Encoder::new(level)?;
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        // No workers and one worker give different bytes; one and many the same.
        encoder.set_parameter(CParameter::NbWorkers(u32::try_from(jobs.max(1)).unwrap_or(1)))?;
        encoder.set_parameter(CParameter::JobSize(job))?;
        Ok(Self(Compressors::Zstd(encoder)))
    }

    /// For raw deflate, without the header and trailer of gzip, compressed by `jobs` threads; by the calling one
    /// where one is enough.
    pub(crate) fn deflate(level: u32, jobs: usize) -> Self {
        Self(Compressors::Deflate(Deflater::new(level, jobs)))
    }

    /// Begins a stream.
    ///
    /// # Errors
    ///
    /// When the compressor cannot be used again.
    pub(crate) fn begin<W: Write>(self, writer: W) -> io::Result<Encoder<W>> {
        Ok(Encoder(match self.0 {
            Compressors::None => Kind::Plain(writer),
            Compressors::Deflate(deflater) => {
                Kind::Gzip(Box::new(GzipEncoder::bare(writer, deflater)))
            }
            Compressors::Zstd(mut encoder) => {
                encoder.reinit()?;
                Kind::Zstd(Box::new(zio::Writer::new(writer, encoder)))
            }
        }))
    }
}

impl<W: Write> Encoder<W> {
    /// Begins a stream at the default level, or at `level`, compressed by `jobs` threads besides the
    /// calling one; gzip with one job needs no other thread. A zstd frame has a checksum.
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
        match format {
            StreamCompression::None => Engine::none().begin(writer),
            StreamCompression::Gzip => {
                let level = format.checked_level(level)?;
                let encoder = GzipEncoder::new(writer, level.unsigned_abs(), jobs)?;
                Ok(Self(Kind::Gzip(Box::new(encoder))))
            }
            StreamCompression::Zstd => {
                Engine::zstd_by_threads(level, jobs, ZSTD_JOB)?.begin(writer)
            }
        }
    }

    /// Ends the stream and gives the writer back, which has not been flushed.
    ///
    /// # Errors
    ///
    /// When the writer fails.
    pub(crate) fn finish(self) -> io::Result<W> {
        self.end().map(|(writer, _)| writer)
    }

    /// The same, for another stream to be begun.
    ///
    /// # Errors
    ///
    /// When the writer fails.
    pub(crate) fn end(self) -> io::Result<(W, Engine)> {
        let (writer, compressors) = match self.0 {
            Kind::Plain(writer) => (writer, Compressors::None),
            Kind::Gzip(encoder) => {
                let (writer, deflater) = encoder.finish()?;
                (writer, Compressors::Deflate(deflater))
            }
            Kind::Zstd(mut encoder) => {
                encoder.finish()?;
                let (writer, encoder) = encoder.into_inner();
                (writer, Compressors::Zstd(encoder))
            }
        };
        Ok((writer, Engine(compressors)))
    }
}

impl StreamCompression {
    /// The level, or the default one.
    ///
    /// # Errors
    ///
    /// When there is no such level.
    pub(crate) fn checked_level(self, level: Option<i32>) -> io::Result<i32> {
        let level = level.unwrap_or(self.default_level());
        let levels = self.levels();
        if levels.contains(&level) {
            return Ok(level);
        }
        let (first, last) = levels.into_inner();
        let fault = LevelOutOfRange { format: self.name(), first, last, found: level };
        Err(io::Error::new(io::ErrorKind::InvalidInput, fault))
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
            Kind::Zstd(encoder) => encoder.writer_mut().flush(),
        }
    }
}
