//! Compression by several threads into bytes that do not depend on how many they are.
//!
//! Deflate is compressed as pigz does it: every block ends on a byte and may refer to the 32 KiB before it, so that
//! the blocks are one stream. Zstandard has threads of its own.

#![expect(clippy::indexing_slicing, reason = "blocks are counted where they are made")]

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use flate2::{Compress, Compression, FlushCompress, Status};
use zstd::stream::raw::{self, Operation as _};
use zstd::stream::zio;
use zstd::zstd_safe::CParameter;

use super::StreamCompression;
use crate::pipeline;

/// Input that one thread of zstd takes at a time. The library's own choice, four windows, makes every
/// thread hold 8 MiB or more, and is less than a percent better at the usual level.
const ZSTD_JOB: u32 = 2 << 20;
/// The same where others compress beside them.
pub(crate) const SMALL_ZSTD_JOB: u32 = 1 << 20;

/// Writes one gzip member, its deflate alone, or one zstd frame.
///
/// The bytes depend on the level and on what is written, not on the number of jobs nor on how the input
/// is divided among calls. Without [`finish`](Self::finish) the stream is incomplete.
pub(crate) enum Encoder<W: Write> {
    Plain(W),
    Deflate(DeflateEncoder<W>),
    Zstd(Box<zio::Writer<W, raw::Encoder<'static>>>),
}

/// What compresses one stream after the other. To make it anew for each would take longer, and leave holes in the
/// memory of the process.
pub(crate) enum Engine {
    /// For bytes that stay as they are.
    None,
    Deflate(Deflater),
    Zstd(raw::Encoder<'static>),
}

impl Engine {
    /// For zstd frames without a checksum, compressed by the calling thread as their bytes come.
    ///
    /// # Errors
    ///
    /// When there is no such level, or the compressor cannot be made.
    pub(crate) fn zstd_here(level: Option<i32>) -> io::Result<Self> {
        let level = StreamCompression::Zstd.checked_level(level)?;
        Ok(Self::Zstd(raw::Encoder::new(level)?))
    }

    /// For zstd frames with a checksum, compressed by `jobs` threads besides the calling one, of which each takes
    /// `job` bytes at a time.
    ///
    /// # Errors
    ///
    /// When there is no such level, or the compressor cannot be made; that a thread cannot be started shows when
    /// the first bytes are written.
    pub(crate) fn zstd(level: Option<i32>, jobs: usize, job: u32) -> io::Result<Self> {
        let level = StreamCompression::Zstd.checked_level(level)?;
        let mut encoder = raw::Encoder::new(level)?;
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        // No workers and one worker give different bytes; one and many the same.
        encoder.set_parameter(CParameter::NbWorkers(u32::try_from(jobs.max(1)).unwrap_or(1)))?;
        encoder.set_parameter(CParameter::JobSize(job))?;
        Ok(Self::Zstd(encoder))
    }

    /// Begins a stream.
    ///
    /// # Errors
    ///
    /// When the compressor cannot be used again.
    pub(crate) fn begin<W: Write>(self, writer: W) -> io::Result<Encoder<W>> {
        Ok(match self {
            Self::None => Encoder::Plain(writer),
            Self::Deflate(deflater) => {
                Encoder::Deflate(DeflateEncoder::new(writer, deflater, false))
            }
            Self::Zstd(mut encoder) => {
                encoder.reinit()?;
                Encoder::Zstd(Box::new(zio::Writer::new(writer, encoder)))
            }
        })
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
        mut writer: W,
        format: StreamCompression,
        level: Option<i32>,
        jobs: usize,
    ) -> io::Result<Self> {
        match format {
            StreamCompression::None => Engine::None.begin(writer),
            StreamCompression::Gzip => {
                let level = format.checked_level(level)?.unsigned_abs();
                // No name, no time and no system.
                let strongest = if level >= 9 { 2 } else { 0 };
                writer.write_all(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, strongest, 255])?;
                let deflater = Deflater::new(level, jobs);
                Ok(Self::Deflate(DeflateEncoder::new(writer, deflater, true)))
            }
            StreamCompression::Zstd => Engine::zstd(level, jobs, ZSTD_JOB)?.begin(writer),
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
        Ok(match self {
            Self::Plain(writer) => (writer, Engine::None),
            Self::Deflate(encoder) => {
                let (writer, deflater) = encoder.finish()?;
                (writer, Engine::Deflate(deflater))
            }
            Self::Zstd(mut encoder) => {
                encoder.finish()?;
                let (writer, encoder) = encoder.into_inner();
                (writer, Engine::Zstd(encoder))
            }
        })
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
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    /// Flushes the writer only: to flush the compressor would change the bytes.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.flush(),
            Self::Deflate(encoder) => encoder.writer.flush(),
            Self::Zstd(encoder) => encoder.writer_mut().flush(),
        }
    }
}

/// Input of one block. It decides the bytes that are written, so it is the same for any number of jobs:
/// long enough that the end of a block costs nothing, short enough that small archives have several.
pub(super) const BLOCK_LEN: usize = 256 << 10;

/// How far back deflate can refer.
const WINDOW_LEN: usize = 32 << 10;

/// Blocks that are collected for each thread, and how many at the least: threads wait for the last of them.
const BLOCKS_PER_THREAD: usize = 2;
const LEAST_BLOCKS: usize = 8;

/// Writes one gzip member whose header was written, or its deflate alone.
pub(crate) struct DeflateEncoder<W> {
    writer: W,
    is_gzip: bool,
    deflater: Deflater,
    checksum: crc32fast::Hasher,
    /// Length of the input so far.
    length: u64,
}

/// The compressors and blocks of one stream after the other.
pub(crate) struct Deflater {
    compressors: Vec<Compressor>,
    blocks: Vec<DeflateBlock>,
    /// The block that is being filled.
    current: usize,
}

/// Input, after the bytes before it that it may refer to, and its compressed bytes.
#[derive(Default)]
struct DeflateBlock {
    input: Vec<u8>,
    window: usize,
    output: Vec<u8>,
}

impl Deflater {
    /// Compresses by so many threads, or by the calling one alone.
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

    /// Goes on to the next block, which may refer to the end of this one.
    fn next_block(&mut self) {
        let before = &self.blocks[self.current].input;
        let window = before[before.len().saturating_sub(WINDOW_LEN)..].to_vec();
        self.begin_block((self.current + 1) % self.blocks.len(), &window);
    }

    /// Empties a block, which may refer to some bytes before it.
    fn begin_block(&mut self, number: usize, window: &[u8]) {
        self.current = number;
        let block = &mut self.blocks[number];
        block.input.clear();
        block.input.reserve_exact(WINDOW_LEN + BLOCK_LEN);
        block.input.extend_from_slice(window);
        block.window = window.len();
    }

    /// Compresses the blocks that are filled, of which the last one may be the last of the stream.
    fn compress(&mut self, is_last: bool) -> io::Result<&[DeflateBlock]> {
        let (count, jobs) = (self.current + 1, self.compressors.len());
        let free = Mutex::new(self.compressors.iter_mut());
        let free = || free.lock().unwrap_or_else(PoisonError::into_inner);
        pipeline::share(
            jobs,
            self.blocks[..count].iter_mut().enumerate(),
            || free().next().expect("there is one for each job"),
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
            // Modulo 2^32.
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

/// Compresses blocks one after the other. To make a state for each would have some allocators take new memory
/// for every one of them, since what they keep of such large aligned pieces may be a few bytes too short.
struct Compressor {
    level: Compression,
    state: Option<Compress>,
}

impl Compressor {
    /// Compresses the block to raw deflate, which does not depend on the blocks before.
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
        // More than deflate ever adds, so that one call nearly always does.
        output.clear();
        output.reserve(left.len() + left.len() / 8 + 1024);
        loop {
            let before = state.total_in();
            let status = state.compress_vec(left, output, flush)?;
            let taken = usize::try_from(state.total_in() - before);
            left = left.split_at(taken.expect("no more than there was")).1;
            // Spare room means that nothing waits to be written.
            let flushed = left.is_empty() && output.len() < output.capacity();
            if status == Status::StreamEnd || (flushed && !is_last) {
                return Ok(());
            }
            output.reserve(1024);
        }
    }
}

/// Makes a compressor as it was when it was new. A reset leaves what was compressed in the window, and the compressor
/// looks a few bytes beyond the end of what it is given: other matches are found then. So the window is
/// filled with zeros, which is what it begins with.
fn clean(state: &mut Compress) -> io::Result<()> {
    state.reset();
    let mut nowhere = Vec::with_capacity(1024);
    // The window is twice as long as what can be referred to.
    while state.total_in() < 2 * WINDOW_LEN as u64 {
        nowhere.clear();
        state.compress_vec(&[0; 4096], &mut nowhere, FlushCompress::None)?;
    }
    state.reset();
    Ok(())
}
