//! The compressors of zip members: of small ones, and of large ones.

use std::io;

use libdeflater::{CompressionError, CompressionLvl, Compressor};
use zstd::bulk;
use zstd::zstd_safe::compress_bound;

use super::Compression;
use crate::archive::Method;
use crate::archive::stream::{Engine, StreamCompression};

/// Who compresses a large member.
#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    /// The calling thread.
    One,
    /// So many threads besides the calling one.
    Several(usize),
}

pub(super) fn method(compression: Compression) -> Method {
    match compression {
        Compression::Stored => Method::Stored,
        Compression::Deflate { .. } => Method::Deflate,
        Compression::Zstd { .. } => Method::Zstd,
    }
}

/// How many large members are compressed at a time, so that all compressors together have some tens of megabytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Jobs that pack members of which some may be large.
    pub(super) jobs: usize,
    /// By one thread each.
    pub(super) by_one: usize,
    /// By several threads each.
    pub(super) by_several: usize,
    /// Those threads.
    pub(super) threads: usize,
}

impl Limits {
    pub(super) fn of(compression: Compression) -> Self {
        /// From this level on a compressor of Zstandard has tens of megabytes by itself.
        const STRONG: i32 = 10;
        match compression {
            Compression::Stored | Compression::Deflate { .. } => {
                Self { jobs: 8, by_one: 8, by_several: 2, threads: 4 }
            }
            Compression::Zstd { level } if level.unwrap_or(ZSTD_LEVEL) >= STRONG => {
                Self { jobs: 4, by_one: 2, by_several: 1, threads: 2 }
            }
            Compression::Zstd { .. } => Self { jobs: 5, by_one: 3, by_several: 2, threads: 2 },
        }
    }
}

/// Whether the compression has such a level: to be known before anything is packed.
pub(super) fn check_level(compression: Compression) -> io::Result<()> {
    match compression {
        Compression::Zstd { level } => StreamCompression::Zstd.checked_level(level).map(|_| ()),
        Compression::Deflate { level: Some(found) } if !(2..=9).contains(&found) => {
            Err(io::Error::other(format!("deflate has the levels 2 to 9, not {found}")))
        }
        Compression::Stored | Compression::Deflate { .. } => Ok(()),
    }
}

/// A compressor of large members. The bytes of each depend on the compression, the content, and whether it is
/// compressed by one thread or by several, however many those are.
pub(super) fn engine(compression: Compression, by: By) -> io::Result<Engine> {
    match (compression, by) {
        (Compression::Stored, _) => Ok(Engine::none()),
        (Compression::Deflate { level }, By::One) => {
            Ok(Engine::deflate(level.unwrap_or(DEFLATE_LEVEL), 1))
        }
        (Compression::Deflate { level }, By::Several(count)) => {
            Ok(Engine::deflate(level.unwrap_or(DEFLATE_LEVEL), count))
        }
        (Compression::Zstd { level }, By::One) => Engine::zstd_here(level),
        (Compression::Zstd { level }, By::Several(count)) => Engine::zstd(level, count),
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
                let level = level.unwrap_or(DEFLATE_LEVEL);
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

    use std::io::Write as _;

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
            before in content(),
            times_before in 1..20_usize,
            times in 1..12_usize,
            by_one in any::<bool>(),
        ) {
            let content = content.repeat(times);
            for compression in COMPRESSIONS {
                let pack = |engine: Engine, content: &[u8]| {
                    let mut encoder = engine.begin(Vec::new()).unwrap();
                    encoder.write_all(content).unwrap();
                    encoder.end().unwrap()
                };
                // Neither do the number of threads and what was packed before.
                let packed = [(1, ""), (3, "used")].map(|(threads, used)| {
                    let by = if by_one { By::One } else { By::Several(threads) };
                    let mut fresh = engine(compression, by).unwrap();
                    if !used.is_empty() {
                        (_, fresh) = pack(fresh, &before.repeat(times_before));
                    }
                    pack(fresh, &content).0
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
