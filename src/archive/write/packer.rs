//! The compressors of zip members: of small ones, and of large ones.

use std::io::{self, Write as _};
use std::path::Path;

use libdeflater::{CompressionError, CompressionLvl, Compressor};
use zstd::bulk;
use zstd::zstd_safe::compress_bound;

use super::{Compression, NewContent};
use crate::archive::Method;
use crate::archive::copy::{Copied, copy_content};
use crate::archive::stream::{Deflater, Engine, SMALL_ZSTD_JOB, StreamCompression};
use crate::digest::{Algorithm, Digests};
use crate::error::{Error, Result};

/// The method of members that are compressed so.
pub(super) fn method(compression: Compression) -> Method {
    match compression {
        Compression::Stored => Method::Stored,
        Compression::Deflate { .. } => Method::Deflate,
        Compression::Zstd { .. } => Method::Zstd,
    }
}

/// Whether a compressor of Zstandard has tens of megabytes by itself.
fn is_strong(level: Option<i32>) -> bool {
    level.unwrap_or(ZSTD_LEVEL) >= 10
}

/// How many large members are compressed at a time, each by one thread, so that all compressors and what they have
/// packed take some tens of megabytes.
pub(super) fn most_large(compression: Compression) -> usize {
    match compression {
        Compression::Stored | Compression::Deflate { .. } => 6,
        Compression::Zstd { level } if is_strong(level) => 2,
        Compression::Zstd { .. } => 3,
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

/// A compressor of large members: by the calling thread, or by up to so many besides it. The bytes of each member
/// depend on the compression, the content, and whether one thread compresses it or several, however many those are.
pub(super) fn engine(compression: Compression, threads: Option<usize>) -> io::Result<Engine> {
    match (compression, threads) {
        (Compression::Stored, _) => Ok(Engine::None),
        (Compression::Deflate { level }, threads) => {
            let level = level.unwrap_or(DEFLATE_LEVEL);
            Ok(Engine::Deflate(Deflater::new(level, threads.unwrap_or(1))))
        }
        (Compression::Zstd { level }, None) => Engine::zstd_here(level),
        (Compression::Zstd { level }, Some(threads)) => {
            let threads = threads.min(if is_strong(level) { 2 } else { 4 });
            Engine::zstd(level, threads, SMALL_ZSTD_JOB)
        }
    }
}

const DEFLATE_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// Members that were packed one after the other.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Of each also how many of the bytes are its own.
    members: Vec<(Copied, Method, usize)>,
    bytes: Vec<u8>,
}

/// A member as it will stand in the archive.
pub(crate) struct PackedMember<'b> {
    pub(super) digests: Digests,
    pub(super) crc: u32,
    pub(super) method: Method,
    pub(super) bytes: &'b [u8],
}

impl Batch {
    /// The members in the order in which they were packed.
    pub(crate) fn members(&self) -> impl Iterator<Item = PackedMember<'_>> {
        let mut left = &*self.bytes;
        self.members.iter().map(move |(Copied { digests, crc }, method, len)| {
            let bytes;
            (bytes, left) = left.split_at(*len);
            PackedMember { digests: digests.clone(), crc: *crc, method: *method, bytes }
        })
    }
}

/// Hashes and packs members one after the other. To make a compressor anew for each costs more than to use it.
pub(crate) struct Packer<'a> {
    compression: Compression,
    algorithms: &'a [Algorithm],
    /// The archive, for messages.
    path: &'a Path,
    deflate: Option<Compressor>,
    zstd: Option<bulk::Compressor<'static>>,
    engine: Option<Engine>,
}

impl<'a> Packer<'a> {
    pub(super) fn new(
        compression: Compression,
        algorithms: &'a [Algorithm],
        path: &'a Path,
    ) -> Self {
        Self { compression, algorithms, path, deflate: None, zstd: None, engine: None }
    }

    /// Appends small members with these contents.
    pub(crate) fn pack(&mut self, contents: &[&[u8]], batch: &mut Batch) -> Result<()> {
        let digests = Digests::of_each(self.algorithms, contents);
        for (content, digests) in contents.iter().zip(digests) {
            let start = batch.bytes.len();
            let method = self.compress(content, &mut batch.bytes);
            let method = method.map_err(Error::io("compress for", self.path))?;
            let copied = Copied { digests, crc: crc32fast::hash(content) };
            batch.members.push((copied, method, batch.bytes.len() - start));
        }
        Ok(())
    }

    /// Appends one large member.
    pub(crate) fn pack_large(&mut self, content: NewContent<'_>, batch: &mut Batch) -> Result<()> {
        let failed = || Error::io("compress for", self.path);
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => engine(self.compression, None).map_err(failed())?,
        };
        let start = batch.bytes.len();
        let mut encoder = engine.begin(&mut batch.bytes).map_err(failed())?;
        let put = |block: &[u8]| encoder.write_all(block).map_err(failed());
        let copied = copy_content(content, self.algorithms, put)?;
        let (_, engine) = encoder.end().map_err(failed())?;
        self.engine = Some(engine);
        let len = batch.bytes.len() - start;
        batch.members.push((copied, method(self.compression), len));
        Ok(())
    }

    /// Appends bytes to `out`, packed unless they would not become fewer.
    fn compress(&mut self, content: &[u8], out: &mut Vec<u8>) -> io::Result<Method> {
        let start = out.len();
        let is_packed = !content.is_empty()
            && match self.compression {
                Compression::Stored => false,
                Compression::Deflate { level } => self.deflate(content, level, out),
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
    fn deflate(&mut self, content: &[u8], level: Option<u32>, out: &mut Vec<u8>) -> bool {
        let compressor = match &mut self.deflate {
            Some(compressor) => compressor,
            kept => {
                let level = i32::try_from(level.unwrap_or(DEFLATE_LEVEL)).ok();
                let level = level.and_then(|level| CompressionLvl::new(level).ok());
                kept.insert(Compressor::new(level.expect("the level was checked")))
            }
        };
        let start = out.len();
        // What does not fit here is not wanted.
        out.resize(start + content.len() - 1, 0);
        let room = out.split_at_mut(start).1;
        match compressor.deflate_compress(content, room) {
            Ok(packed) => {
                out.truncate(start + packed);
                true
            }
            Err(CompressionError::InsufficientSpace) => false,
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
        out.resize(start + compress_bound(content.len()), 0);
        let room = out.split_at_mut(start).1;
        let packed = compressor.compress_to_buffer(content, room)?;
        out.truncate(start + packed);
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
                let packer = || Packer::new(compression, &[], Path::new("x"));
                let mut kept = packer();
                let mut all = Vec::new();
                for content in &contents {
                    let mut fresh = Vec::new();
                    let method = packer().compress(content, &mut fresh).unwrap();
                    let start = all.len();
                    prop_assert_eq!(kept.compress(content, &mut all).unwrap(), method);
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
                    let threads = (!by_one).then_some(threads);
                    let mut fresh = engine(compression, threads).unwrap();
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
