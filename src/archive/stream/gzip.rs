//! Deflate whose blocks are compressed in parallel, as pigz does it: every block ends on a byte and may
//! refer to the 32 KiB before it, so that the blocks are one stream. Alone, or as a gzip member.

use std::io::{self, Write};

use flate2::{Compress, Compression, FlushCompress, Status};

use super::workers::Workers;

/// Input of one block. It decides the bytes that are written, so it is the same for any number of jobs:
/// long enough that the end of a block costs nothing, short enough that small archives have several.
pub(crate) const BLOCK_LEN: usize = 256 << 10;

/// How far back deflate can refer.
const WINDOW_LEN: usize = 32 << 10;

/// Writes one gzip member, or its deflate alone. The header holds no name, no time and no system.
pub(super) struct GzipEncoder<W> {
    writer: W,
    /// With what makes a gzip member of it.
    framed: bool,
    block: Block,
    deflater: Deflater,
    checksum: crc32fast::Hasher,
    /// Length of the input so far, modulo 2^32, as the trailer has it.
    length: u32,
}

/// What compresses blocks, of one stream after the other.
pub(super) struct Deflater {
    workers: Workers,
    /// Buffers of blocks that have been written, to be filled again.
    spare: Vec<Buffers>,
}

/// What a block needs.
#[derive(Default)]
struct Buffers {
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Deflater {
    /// By so many threads, or by the calling one alone.
    pub(super) fn new(level: u32, jobs: usize) -> Self {
        // Level 1 of zlib-rs makes floating-point data larger.
        let level = Compression::new(level.clamp(2, 9));
        Self { workers: Workers::new(level, jobs), spare: Vec::new() }
    }

    /// An empty block that may refer to the end of what is before it.
    fn block_behind(&mut self, before: &[u8]) -> Block {
        let Buffers { mut input, output } = self.spare.pop().unwrap_or_default();
        input.clear();
        input.reserve_exact(WINDOW_LEN.saturating_add(BLOCK_LEN));
        let window = before.len().min(WINDOW_LEN);
        let from = before.len().saturating_sub(window);
        input.extend_from_slice(before.get(from..).unwrap_or_default());
        Block { bytes: input, window, last: false, output }
    }
}

/// Input, after the bytes before it that it may refer to.
pub(super) struct Block {
    bytes: Vec<u8>,
    window: usize,
    last: bool,
    /// What takes its compressed bytes.
    output: Vec<u8>,
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
        Ok(Self { framed: true, ..Self::bare(writer, Deflater::new(level, jobs)) })
    }

    /// Deflate without a header and a trailer, as it stands in a zip.
    pub(super) fn bare(writer: W, mut deflater: Deflater) -> Self {
        let block = deflater.block_behind(&[]);
        let checksum = crc32fast::Hasher::new();
        Self { writer, framed: false, block, deflater, checksum, length: 0 }
    }

    pub(super) fn finish(mut self) -> io::Result<(W, Deflater)> {
        self.submit(true)?;
        while let Some(compressed) = self.deflater.workers.wait()? {
            self.append(compressed)?;
        }
        if self.framed {
            self.writer.write_all(&self.checksum.finalize().to_le_bytes())?;
            self.writer.write_all(&self.length.to_le_bytes())?;
        }
        self.deflater.spare.push(Buffers { input: self.block.bytes, output: self.block.output });
        Ok((self.writer, self.deflater))
    }

    /// Hands the block over and writes what has been finished meanwhile.
    fn submit(&mut self, last: bool) -> io::Result<()> {
        let next = self.deflater.block_behind(&self.block.bytes);
        let block = Block { last, ..std::mem::replace(&mut self.block, next) };
        self.deflater.workers.submit(block)?;
        while let Some(compressed) = self.deflater.workers.take()? {
            self.append(compressed)?;
        }
        Ok(())
    }

    fn append(&mut self, compressed: Compressed) -> io::Result<()> {
        self.checksum.combine(&compressed.checksum);
        let length = u32::try_from(compressed.length).map_err(io::Error::other)?;
        self.length = self.length.wrapping_add(length);
        self.writer.write_all(&compressed.bytes)?;
        self.deflater.spare.push(Buffers { input: compressed.spent, output: compressed.bytes });
        Ok(())
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

/// Compresses blocks one after the other. To make a compressor for each would have some allocators take new memory
/// for every one of them, since what they keep of such large aligned pieces may be a few bytes too short.
pub(super) struct Compressor {
    state: Compress,
    is_used: bool,
    /// What becomes of the zeros that it is cleaned with.
    scratch: Vec<u8>,
}

impl Compressor {
    pub(super) fn new(level: Compression) -> Self {
        Self { state: Compress::new(level, false), is_used: false, scratch: Vec::new() }
    }

    /// The block as raw deflate, which does not depend on the blocks before.
    pub(super) fn compress(&mut self, block: Block) -> io::Result<Compressed> {
        if self.is_used {
            self.clean()?;
        }
        self.is_used = true;
        let (window, mut input) =
            block.bytes.split_at_checked(block.window).unwrap_or((&[], &block.bytes));
        if !window.is_empty() {
            self.state.set_dictionary(window)?;
        }
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(input);
        let length = input.len();
        let flush = if block.last { FlushCompress::Finish } else { FlushCompress::Sync };
        // More than deflate ever adds, so that one call nearly always does.
        let mut bytes = block.output;
        bytes.clear();
        bytes.reserve(length.saturating_add(length >> 3).saturating_add(1024));
        loop {
            let before = self.state.total_in();
            let status = self.state.compress_vec(input, &mut bytes, flush)?;
            let taken = usize::try_from(self.state.total_in().saturating_sub(before)).unwrap_or(0);
            input = input.get(taken..).unwrap_or_default();
            // Spare room means that nothing waits to be written.
            let flushed = input.is_empty() && bytes.len() < bytes.capacity();
            if status == Status::StreamEnd || (flushed && !block.last) {
                return Ok(Compressed { bytes, checksum, length, spent: block.bytes });
            }
            bytes.reserve(1024);
        }
    }

    /// Makes it as it was when it was new. A reset leaves what was compressed in the window, and the compressor
    /// looks a few bytes beyond the end of what it is given: other matches are found then. So the window is
    /// filled with zeros, which is what it begins with.
    fn clean(&mut self) -> io::Result<()> {
        self.state.reset();
        let zeros = [0; 4096];
        self.scratch.reserve(1024);
        // The window is twice as long as what can be referred to.
        let end = u64::try_from(2 * WINDOW_LEN).unwrap_or(u64::MAX);
        while self.state.total_in() < end {
            self.scratch.clear();
            self.state.compress_vec(&zeros, &mut self.scratch, FlushCompress::None)?;
        }
        self.state.reset();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block() -> impl Strategy<Value = (Vec<u8>, usize, bool)> {
        let length = prop_oneof![0..300_usize, 0..70_000_usize, 0..BLOCK_LEN + WINDOW_LEN];
        let repeats = prop_oneof![Just(1), 2..400_usize];
        (length, 1..60_u64, any::<u64>(), repeats, 0..=WINDOW_LEN, any::<bool>()).prop_map(
            |(length, kinds, seed, repeats, window, last)| {
                let mut state = seed | 1;
                let mut next = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    u8::try_from((state >> 33) % kinds).unwrap()
                };
                let part: Vec<u8> = (0..length.div_ceil(repeats)).map(|_| next()).collect();
                let mut bytes = part.repeat(repeats);
                bytes.truncate(length);
                (bytes, window.min(length), last)
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_used_compressor_gives_what_a_new_one_gives(
            level in 2..=9_u32,
            blocks in prop::collection::vec(block(), 2..8),
        ) {
            let level = Compression::new(level);
            let mut used = Compressor::new(level);
            for (bytes, window, last) in blocks {
                let block = || Block { bytes: bytes.clone(), window, last, output: Vec::new() };
                let again = used.compress(block()).unwrap();
                prop_assert!(again.bytes == Compressor::new(level).compress(block()).unwrap().bytes);
            }
        }
    }
}
