//! Deflate whose blocks are compressed in parallel, as pigz does it: every block ends on a byte and may
//! refer to the 32 KiB before it, so that the blocks are one stream. Alone, or as a gzip member.

use std::io::{self, Write};

use flate2::{Compress, Compression, FlushCompress, Status};

use super::workers::Workers;

/// Input of one block. It decides the bytes that are written, so it is the same for any number of jobs:
/// long enough that the end of a block costs nothing, short enough that small archives have several.
pub(super) const BLOCK_LEN: usize = 256 << 10;

/// How far back deflate can refer.
const WINDOW_LEN: usize = 32 << 10;

/// Writes one gzip member, or its deflate alone. The header holds no name, no time and no system.
pub(super) struct GzipEncoder<W> {
    writer: W,
    /// With what makes a gzip member of it.
    framed: bool,
    block: Block,
    /// Buffers whose block has been written, to be filled again.
    spare: Vec<Vec<u8>>,
    workers: Workers,
    checksum: crc32fast::Hasher,
    /// Length of the input so far, modulo 2^32, as the trailer has it.
    length: u32,
}

/// Input, after the bytes before it that it may refer to.
pub(super) struct Block {
    bytes: Vec<u8>,
    window: usize,
    last: bool,
}

/// A block as it stands in the stream.
pub(super) struct Compressed {
    bytes: Vec<u8>,
    checksum: crc32fast::Hasher,
    length: usize,
    spent: Vec<u8>,
}

impl<W: Write> GzipEncoder<W> {
    pub(super) fn new(mut writer: W, level: u32, jobs: usize) -> io::Result<Self> {
        let strongest = if level >= 9 { 2 } else { 0 };
        writer.write_all(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, strongest, 255])?;
        Ok(Self { framed: true, ..Self::bare(writer, level, jobs)? })
    }

    /// Deflate without a header and a trailer, as it stands in a zip.
    pub(super) fn bare(writer: W, level: u32, jobs: usize) -> io::Result<Self> {
        // Level 1 of zlib-rs makes floating-point data larger.
        let level = Compression::new(level.clamp(2, 9));
        Ok(Self {
            writer,
            framed: false,
            block: Block { bytes: Vec::with_capacity(BLOCK_LEN), window: 0, last: false },
            spare: Vec::new(),
            workers: Workers::new(level, jobs)?,
            checksum: crc32fast::Hasher::new(),
            length: 0,
        })
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.submit(true)?;
        while let Some(compressed) = self.workers.wait()? {
            self.append(compressed)?;
        }
        if self.framed {
            self.writer.write_all(&self.checksum.finalize().to_le_bytes())?;
            self.writer.write_all(&self.length.to_le_bytes())?;
        }
        Ok(self.writer)
    }

    /// Hands the block over and writes what has been finished meanwhile.
    fn submit(&mut self, last: bool) -> io::Result<()> {
        let window = self.block.bytes.len().min(WINDOW_LEN);
        let from = self.block.bytes.len().saturating_sub(window);
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.reserve(WINDOW_LEN.saturating_add(BLOCK_LEN));
        bytes.extend_from_slice(self.block.bytes.get(from..).unwrap_or_default());
        let next = Block { bytes, window, last: false };
        let block = Block { last, ..std::mem::replace(&mut self.block, next) };
        self.workers.submit(block)?;
        while let Some(compressed) = self.workers.take()? {
            self.append(compressed)?;
        }
        Ok(())
    }

    fn append(&mut self, compressed: Compressed) -> io::Result<()> {
        self.checksum.combine(&compressed.checksum);
        let length = u32::try_from(compressed.length).map_err(io::Error::other)?;
        self.length = self.length.wrapping_add(length);
        self.spare.push(compressed.spent);
        self.writer.write_all(&compressed.bytes)
    }
}

impl<W: Write> Write for GzipEncoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let full = self.block.window.saturating_add(BLOCK_LEN);
        let count = full.saturating_sub(self.block.bytes.len()).min(bytes.len());
        self.block.bytes.extend_from_slice(bytes.get(..count).unwrap_or_default());
        if self.block.bytes.len() >= full {
            self.submit(false)?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Block {
    /// The block as raw deflate. A compressor that has compressed another block before may find other
    /// matches, also once it is reset, so that bytes would depend on which thread had which blocks: each
    /// has its own.
    pub(super) fn compress(self, level: Compression) -> io::Result<Compressed> {
        let mut state = Compress::new(level, false);
        let (window, mut input) =
            self.bytes.split_at_checked(self.window).unwrap_or((&[], &self.bytes));
        if !window.is_empty() {
            state.set_dictionary(window)?;
        }
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(input);
        let length = input.len();
        let flush = if self.last { FlushCompress::Finish } else { FlushCompress::Sync };
        // More than deflate ever adds, so that one call nearly always does.
        let mut bytes = Vec::with_capacity(length.saturating_add(length >> 3).saturating_add(1024));
        loop {
            let before = state.total_in();
            let status = state.compress_vec(input, &mut bytes, flush)?;
            let taken = usize::try_from(state.total_in().saturating_sub(before)).unwrap_or(0);
            input = input.get(taken..).unwrap_or_default();
            // Spare room means that nothing waits to be written.
            let flushed = input.is_empty() && bytes.len() < bytes.capacity();
            if status == Status::StreamEnd || (flushed && !self.last) {
                return Ok(Compressed { bytes, checksum, length, spent: self.bytes });
            }
            bytes.reserve(1024);
        }
    }
}
