//! Multithreaded compression. The output does not depend on the number of threads.
//!
//! Deflate works as in pigz: every block ends on a byte and may refer to the 32 KiB before it, so the blocks form one
//! stream. Zstandard has its own threads.

#![expect(clippy::indexing_slicing, reason = "block numbers are in range by construction")]

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use flate2::{Compress, Compression, FlushCompress, Status};
use zstd::stream::raw::{self, Operation as _};
use zstd::stream::zio;
use zstd::zstd_safe::CParameter;

use super::StreamCompression;
use crate::pipeline;

/// Bytes of input per job of a zstd thread. The default of the library, four windows, needs 8 MiB or more per thread
/// and saves less than one percent at the default level.
const ZSTD_JOB: u32 = 2 << 20;
/// Bytes of input per job if several encoders run at once.
pub(crate) const SMALL_ZSTD_JOB: u32 = 1 << 20;

/// Writes one gzip member, a raw deflate stream, or one zstd frame.
///
/// The output depends on the level and the input, but not on the number of jobs or on how the input is divided among
/// calls. The stream is incomplete without [`finish`](Self::finish).
pub(crate) enum Encoder<W: Write> {
    Plain(W),
    Deflate(DeflateEncoder<W>),
    Zstd(Box<ZstdEncoder<W>>),
}

/// A compressor that is reused for several streams. A new one for each would take longer and fragment the memory.
pub(crate) enum Engine {
    /// For bytes that are not compressed.
    None,
    Deflate(Deflater),
    Zstd(ZstdEngine),
}

/// A compressor of zstd frames.
pub(crate) struct ZstdEngine {
    encoder: raw::Encoder<'static>,
    /// Bytes of input per job, if there are threads.
    job: Option<u32>,
}

/// A zstd frame in progress.
pub(crate) struct ZstdEncoder<W: Write> {
    writer: zio::Writer<W, raw::Encoder<'static>>,
    job: Option<u32>,
    /// Bytes of input so far.
    taken: u64,
}

impl<W: Write> ZstdEncoder<W> {
    fn finish(mut self) -> io::Result<(W, Engine)> {
        // The library marks a complete last job as the end of the frame only if it waits for a thread. The output must
        // not depend on that.
        if self.job.is_some_and(|job| self.taken.is_multiple_of(job.into())) {
            self.writer.flush()?;
        }
        self.writer.finish()?;
        let (writer, encoder) = self.writer.into_inner();
        Ok((writer, Engine::Zstd(ZstdEngine { encoder, job: self.job })))
    }
}

impl Engine {
    /// Creates a compressor of zstd frames. With `threads`, it has additional threads, each of which takes this many
    /// bytes at a time, and the frames have a checksum.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the level does not exist or the compressor cannot be created. A thread that cannot be started
    /// is reported by the first write.
    pub(crate) fn zstd(level: Option<i32>, threads: Option<(usize, u32)>) -> io::Result<Self> {
        let level = StreamCompression::Zstd.checked_level(level)?;
        let mut encoder = raw::Encoder::new(level)?;
        if let Some((jobs, job)) = threads {
            encoder.set_parameter(CParameter::ChecksumFlag(true))?;
            // The output differs between no worker and one worker, but not between one and several.
            encoder
                .set_parameter(CParameter::NbWorkers(u32::try_from(jobs.max(1)).unwrap_or(1)))?;
            encoder.set_parameter(CParameter::JobSize(job))?;
        }
        Ok(Self::Zstd(ZstdEngine { encoder, job: threads.map(|(_, job)| job) }))
    }

    /// Starts a stream.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the compressor cannot be reused.
    pub(crate) fn begin<W: Write>(self, writer: W) -> io::Result<Encoder<W>> {
        Ok(match self {
            Self::None => Encoder::Plain(writer),
            Self::Deflate(deflater) => {
                Encoder::Deflate(DeflateEncoder::new(writer, deflater, false))
            }
            Self::Zstd(ZstdEngine { mut encoder, job }) => {
                encoder.reinit()?;
                let writer = zio::Writer::new(writer, encoder);
                Encoder::Zstd(Box::new(ZstdEncoder { writer, job, taken: 0 }))
            }
        })
    }
}

impl<W: Write> Encoder<W> {
    /// Starts a stream at `level` or the default level, compressed by `jobs` threads in addition to the calling one.
    /// With one job, gzip uses only the calling thread. A zstd frame has a checksum.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the level does not exist, a thread cannot be started, or the writer fails.
    pub(crate) fn new(
        mut writer: W,
        format: StreamCompression,
        level: Option<i32>,
        jobs: usize,
    ) -> io::Result<Self> {
        match format {
            StreamCompression::None => Engine::None.begin(writer),
            StreamCompression::Gzip => {
                let level = format.checked_level(level)?.unsigned_abs();
                // The header has no name, time or system.
                let strongest = if level >= 9 { 2 } else { 0 };
                writer.write_all(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, strongest, 255])?;
                let deflater = Deflater::new(level, jobs);
                Ok(Self::Deflate(DeflateEncoder::new(writer, deflater, true)))
            }
            StreamCompression::Zstd => Engine::zstd(level, Some((jobs, ZSTD_JOB)))?.begin(writer),
        }
    }

    /// Ends the stream and returns the writer, which is not flushed.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub(crate) fn finish(self) -> io::Result<W> {
        self.end().map(|(writer, _)| writer)
    }

    /// Ends the stream and returns the writer and the compressor.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub(crate) fn end(self) -> io::Result<(W, Engine)> {
        Ok(match self {
            Self::Plain(writer) => (writer, Engine::None),
            Self::Deflate(encoder) => {
                let (writer, deflater) = encoder.finish()?;
                (writer, Engine::Deflate(deflater))
            }
            Self::Zstd(encoder) => encoder.finish()?,
        })
    }
}

impl StreamCompression {
    /// Returns the default level, the same as in the tools `gzip` and `zstd`, and the supported levels.
    ///
    /// Zstd levels above 19 are excluded, because they need gigabytes for each job.
    pub(crate) fn levels(self) -> (i32, RangeInclusive<i32>) {
        match self {
            Self::None => (0, 0..=0),
            Self::Gzip => (6, 1..=9),
            Self::Zstd => (3, 1..=19),
        }
    }

    /// Returns `level`, or the default.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the level does not exist.
    pub(crate) fn checked_level(self, level: Option<i32>) -> io::Result<i32> {
        let (default, levels) = self.levels();
        let level = level.unwrap_or(default);
        if levels.contains(&level) {
            return Ok(level);
        }
        let (first, last) = levels.into_inner();
        let format = self.name();
        let fault = format!("expected a {format} level from {first} to {last}, found {level}");
        Err(io::Error::new(io::ErrorKind::InvalidInput, fault))
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(writer) => writer.write(bytes),
            Self::Deflate(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => {
                let count = encoder.writer.write(bytes)?;
                encoder.taken += count as u64;
                Ok(count)
            }
        }
    }

    /// Flushes only the writer. Flushing the compressor would change the output.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.flush(),
            Self::Deflate(encoder) => encoder.writer.flush(),
            Self::Zstd(encoder) => encoder.writer.writer_mut().flush(),
        }
    }
}

/// Bytes of input per block. It is the same for any number of jobs, because it affects the output. Longer blocks
/// compress no better, and shorter ones would cost more at their ends.
pub(super) const BLOCK_LEN: usize = 256 << 10;

/// Maximum distance of deflate's references in bytes.
const WINDOW_LEN: usize = 32 << 10;

/// Number of blocks collected for each thread. With several, threads wait less for the last one.
const BLOCKS_PER_THREAD: usize = 2;
const LEAST_BLOCKS: usize = 8;

/// Writes the body of a gzip member, or a raw deflate stream.
pub(crate) struct DeflateEncoder<W> {
    writer: W,
    is_gzip: bool,
    deflater: Deflater,
    checksum: crc32fast::Hasher,
    /// Length of the input so far in bytes.
    length: u64,
}

/// The reusable compressors and blocks.
pub(crate) struct Deflater {
    compressors: Vec<Compressor>,
    blocks: Vec<DeflateBlock>,
    /// The number of the block that is being filled.
    current: usize,
}

/// The input of a block, after the bytes before it that it may refer to, and its compressed bytes.
#[derive(Default)]
struct DeflateBlock {
    input: Vec<u8>,
    window: usize,
    output: Vec<u8>,
}

impl Deflater {
    /// Creates a deflater with `jobs` threads, or with the calling thread if `jobs` is 1.
    pub(crate) fn new(level: u32, jobs: usize) -> Self {
        // Level 1 of zlib-rs makes floating-point data larger.
        let level = Compression::new(level.clamp(2, 9));
        let jobs = jobs.max(1);
        let blocks = if jobs == 1 { 1 } else { (jobs * BLOCKS_PER_THREAD).max(LEAST_BLOCKS) };
        Self {
            compressors: (0..jobs).map(|_| Compressor { level, state: None }).collect(),
            blocks: (0..blocks).map(|_| DeflateBlock::default()).collect(),
            current: 0,
        }
    }

    /// Starts the next block, which may refer to the end of this one.
    fn next_block(&mut self) {
        let before = &self.blocks[self.current].input;
        let window = before[before.len().saturating_sub(WINDOW_LEN)..].to_vec();
        self.begin_block((self.current + 1) % self.blocks.len(), &window);
    }

    /// Empties a block. It may refer to `window`, the bytes before it.
    fn begin_block(&mut self, number: usize, window: &[u8]) {
        self.current = number;
        let block = &mut self.blocks[number];
        block.input.clear();
        block.input.reserve_exact(WINDOW_LEN + BLOCK_LEN);
        block.input.extend_from_slice(window);
        block.window = window.len();
    }

    /// Compresses the filled blocks. The last one may be the last of the stream.
    fn compress(&mut self, is_last: bool) -> io::Result<&[DeflateBlock]> {
        let (count, jobs) = (self.current + 1, self.compressors.len());
        let free = Mutex::new(self.compressors.iter_mut());
        let free = || free.lock().unwrap_or_else(PoisonError::into_inner);
        pipeline::share(
            jobs,
            self.blocks[..count].iter_mut().enumerate(),
            || free().next().expect("each job has a compressor"),
            |compressor, (number, block)| {
                compressor.compress(block, is_last && number + 1 == count)
            },
        )?;
        Ok(&self.blocks[..count])
    }
}

impl<W: Write> DeflateEncoder<W> {
    fn new(writer: W, mut deflater: Deflater, is_gzip: bool) -> Self {
        deflater.begin_block(0, &[]);
        Self { writer, is_gzip, deflater, checksum: crc32fast::Hasher::new(), length: 0 }
    }

    fn finish(mut self) -> io::Result<(W, Deflater)> {
        self.write_blocks(true)?;
        if self.is_gzip {
            self.writer.write_all(&self.checksum.finalize().to_le_bytes())?;
            // The length modulo 2^32.
            self.writer.write_all(&self.length.to_le_bytes()[..4])?;
        }
        Ok((self.writer, self.deflater))
    }

    fn write_blocks(&mut self, is_last: bool) -> io::Result<()> {
        for block in self.deflater.compress(is_last)? {
            self.writer.write_all(&block.output)?;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let number = self.deflater.current;
        let block = &mut self.deflater.blocks[number];
        let room = block.window + BLOCK_LEN - block.input.len();
        let (taken, _) = bytes.split_at(room.min(bytes.len()));
        block.input.extend_from_slice(taken);
        self.length += taken.len() as u64;
        if self.is_gzip {
            self.checksum.update(taken);
        }
        if taken.len() == room {
            if number + 1 == self.deflater.blocks.len() {
                self.write_blocks(false)?;
            }
            self.deflater.next_block();
        }
        Ok(taken.len())
    }
}

/// A reusable compression state. A new one for each block would make some allocators request new memory each time,
/// because a freed block of this size and alignment may be a few bytes too short.
struct Compressor {
    level: Compression,
    state: Option<Compress>,
}

impl Compressor {
    /// Compresses the block to raw deflate, independently of earlier blocks.
    fn compress(&mut self, block: &mut DeflateBlock, is_last: bool) -> io::Result<()> {
        let state = match &mut self.state {
            Some(state) => {
                clean(state)?;
                state
            }
            none => none.insert(Compress::new(self.level, false)),
        };
        let DeflateBlock { input, window, output } = block;
        let (window, mut left) = input.split_at(*window);
        if !window.is_empty() {
            state.set_dictionary(window)?;
        }
        let flush = if is_last { FlushCompress::Finish } else { FlushCompress::Sync };
        // Deflate never adds more, so one call is nearly always enough.
        output.clear();
        output.reserve(left.len() + left.len() / 8 + 1024);
        loop {
            let before = state.total_in();
            let status = state.compress_vec(left, output, flush)?;
            let taken = usize::try_from(state.total_in() - before);
            left = left.split_at(taken.expect("at most the input")).1;
            // Unused output space means that no output is pending.
            let flushed = left.is_empty() && output.len() < output.capacity();
            if status == Status::StreamEnd || (flushed && !is_last) {
                return Ok(());
            }
            output.reserve(1024);
        }
    }
}

/// Restores a compressor to its initial state. A reset keeps old data in the window, and the compressor looks a few
/// bytes beyond its input, so it could find other matches. Compressing zeros restores the initial window.
fn clean(state: &mut Compress) -> io::Result<()> {
    state.reset();
    let mut nowhere = Vec::with_capacity(1024);
    // The window is twice the maximum distance.
    while state.total_in() < 2 * WINDOW_LEN as u64 {
        nowhere.clear();
        state.compress_vec(&[0; 4096], &mut nowhere, FlushCompress::None)?;
    }
    state.reset();
    Ok(())
}
