//! The compressors of zip members: one that is kept for all small ones, and one for each large one.

use std::io::{self, Write};

use libdeflater::{CompressionError, CompressionLvl, Compressor};
use zstd::bulk;
use zstd::zstd_safe::compress_bound;

use super::Compression;
use crate::archive::Method;
use crate::archive::stream::{DEFLATE_BLOCK, Encoder, StreamCompression};

/// The threads that compress a large member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Threads {
    count: usize,
    /// From this size on a Zstandard member is compressed by threads of its own, be it one or several.
    zstd_from: u64,
}

impl Threads {
    /// Beside other members: one thread is done with less before the others would have waited for long.
    pub(super) fn beside_others(count: usize) -> Self {
        Self { count, zstd_from: 64 * 1024 * 1024 }
    }

    /// While there is nothing else to do.
    pub(super) fn alone(count: usize) -> Self {
        Self { count, zstd_from: 1024 * 1024 }
    }
}

pub(super) fn method(compression: Compression) -> Method {
    match compression {
        Compression::Stored => Method::Stored,
        Compression::Deflate { .. } => Method::Deflate,
        Compression::Zstd { .. } => Method::Zstd,
    }
}

/// A compressor of a large member. Its bytes depend on the compression, the size, the content, and whether the member
/// is written beside others, and not on the number of threads.
pub(super) fn encoder<W: Write>(
    compression: Compression,
    size: u64,
    threads: Threads,
    out: W,
) -> io::Result<Encoder<W>> {
    match compression {
        Compression::Stored => Encoder::new(out, StreamCompression::None, None, 1),
        Compression::Deflate { level } => {
            let blocks = usize::try_from(size).unwrap_or(usize::MAX).div_ceil(DEFLATE_BLOCK);
            Ok(Encoder::deflate(out, level.unwrap_or(DEFLATE_LEVEL), threads.count.min(blocks)))
        }
        Compression::Zstd { level } if size >= threads.zstd_from => {
            Encoder::new(out, StreamCompression::Zstd, level, threads.count)
        }
        Compression::Zstd { level } => Encoder::zstd_here(out, level.unwrap_or(ZSTD_LEVEL)),
    }
}

const DEFLATE_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// Packs small members one after the other. To make a compressor anew for each costs more than to use it.
pub(super) struct Packer {
    compression: Compression,
    deflate: Option<Compressor>,
    zstd: Option<bulk::Compressor<'static>>,
}

impl Packer {
    pub(super) fn new(compression: Compression) -> Self {
        Self { compression, deflate: None, zstd: None }
    }

    /// Appends bytes to `out`, packed unless they would not become fewer. What is packed for many members
    /// then lies in one place.
    pub(super) fn pack(&mut self, content: &[u8], out: &mut Vec<u8>) -> io::Result<Method> {
        let start = out.len();
        let is_packed = !content.is_empty()
            && match self.compression {
                Compression::Stored => false,
                Compression::Deflate { level } => self.deflate(content, level, out)?,
                Compression::Zstd { level } => self.zstd(content, level, out)?,
            };
        if is_packed {
            return Ok(method(self.compression));
        }
        out.truncate(start);
        out.extend_from_slice(content);
        Ok(Method::Stored)
    }

    /// Whether bytes became fewer.
    fn deflate(
        &mut self,
        content: &[u8],
        level: Option<u32>,
        out: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let compressor = match &mut self.deflate {
            Some(compressor) => compressor,
            kept => {
                let level = level.unwrap_or(DEFLATE_LEVEL).clamp(2, 9);
                let level = i32::try_from(level).unwrap_or(i32::MAX);
                let level = CompressionLvl::new(level)
                    .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "no such level"))?;
                kept.insert(Compressor::new(level))
            }
        };
        let start = out.len();
        // What does not fit here is not wanted.
        out.resize(start.saturating_add(content.len()).saturating_sub(1), 0);
        let room = out.get_mut(start..).unwrap_or_default();
        match compressor.deflate_compress(content, room) {
            Ok(packed) => {
                out.truncate(start.saturating_add(packed));
                Ok(true)
            }
            Err(CompressionError::InsufficientSpace) => Ok(false),
        }
    }

    /// Whether bytes became fewer. A frame of a known length has tables of its own size, which stay in the
    /// core's cache, and says that length to its reader.
    fn zstd(&mut self, content: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> io::Result<bool> {
        let compressor = match &mut self.zstd {
            Some(compressor) => compressor,
            kept => kept.insert(bulk::Compressor::new(level.unwrap_or(ZSTD_LEVEL))?),
        };
        let start = out.len();
        out.resize(start.saturating_add(compress_bound(content.len())), 0);
        let room = out.get_mut(start..).unwrap_or_default();
        let packed = compressor.compress_to_buffer(content, room)?;
        out.truncate(start.saturating_add(packed));
        Ok(packed < content.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMPRESSIONS: [Compression; 4] = [
        Compression::Deflate { level: None },
        Compression::Deflate { level: Some(9) },
        Compression::Zstd { level: None },
        Compression::Zstd { level: Some(12) },
    ];

    /// Bytes that can be pressed, some more and some less.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        (0..200_000_usize, 1..60_u64, any::<u64>()).prop_map(|(length, kinds, seed)| {
            let mut state = seed | 1;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                u8::try_from((state >> 33) % kinds).unwrap()
            };
            (0..length).map(|_| next()).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn what_was_packed_before_does_not_show(contents in prop::collection::vec(content(), 1..8)) {
            for compression in COMPRESSIONS {
                let mut kept = Packer::new(compression);
                let mut all = Vec::new();
                for content in &contents {
                    let mut fresh = Vec::new();
                    let method = Packer::new(compression).pack(content, &mut fresh).unwrap();
                    let start = all.len();
                    prop_assert_eq!(kept.pack(content, &mut all).unwrap(), method);
                    prop_assert_eq!(&all[start..], &fresh);
                    prop_assert!(fresh.len() <= content.len());
                }
            }
        }

        #[test]
        fn the_number_of_threads_does_not_show_and_the_content_comes_back(
            content in content(),
            times in 1..12_usize,
            size in prop::sample::select(vec![1, 2 << 20, 64 << 20]),
            alone: bool,
        ) {
            let content = content.repeat(times);
            for compression in COMPRESSIONS {
                let packed = [1, 3].map(|threads| {
                    let threads = if alone { Threads::alone } else { Threads::beside_others }(threads);
                    let mut encoder = encoder(compression, size, threads, Vec::new()).unwrap();
                    encoder.write_all(&content).unwrap();
                    encoder.finish().unwrap()
                });
                prop_assert_eq!(&packed[0], &packed[1]);
                let mut back = Vec::new();
                match method(compression) {
                    Method::Zstd => zstd::stream::copy_decode(&packed[0][..], &mut back).unwrap(),
                    _ => {
                        let mut decoder = flate2::read::DeflateDecoder::new(&packed[0][..]);
                        io::copy(&mut decoder, &mut back).map(drop).unwrap();
                    }
                }
                prop_assert!(back == content);
            }
        }
    }
}
