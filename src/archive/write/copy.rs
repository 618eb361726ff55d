//! One source file, read once: hashed, checksummed and handed on as it passes.

use std::io::{self, Read};
use std::ops::Range;

use super::Content;
use crate::archive::data::SMALL_BLOCK;
use crate::digest::{Algorithm, Blocks, Digests, Hashers, Hashing, beside, hash, try_hash_all};
use crate::error::{Error, Result};
use crate::fs::{File, Stamp};

/// Bytes of one read.
pub(super) const BLOCK: usize = 256 * 1024;

/// From this size on a file may be hashed by a thread of its own, beside reading and writing. Below, the
/// thread costs more than it saves.
const OWN_HASH_THREAD: u64 = 16 * 1024 * 1024;

/// What passing through told of a file.
#[derive(Debug, Clone)]
pub(super) struct Copied {
    pub(super) digests: Digests,
    pub(super) crc: u32,
}

/// Reads all of `content` and gives its bytes to `sink` in order. A file must be as its stamp says
/// from beginning to end.
pub(super) fn copy(
    content: Content<'_>,
    algorithms: &[Algorithm],
    hashing: Hashing,
    buffer: &mut Vec<u8>,
    mut sink: impl FnMut(&[u8]) -> Result<()> + Send,
) -> Result<Copied> {
    let (mut file, stamp) = match content {
        Content::File(file, stamp) => (file, stamp),
        Content::Bytes(bytes) => {
            sink(bytes)?;
            return Ok(Copied::of(algorithms, bytes));
        }
        Content::Pieces(pieces) => {
            let mut hasher = Hashers::new(algorithms);
            let mut crc = crc32fast::Hasher::new();
            pieces(&mut |piece| {
                hasher.update(piece);
                crc.update(piece);
                sink(piece)
            })?;
            return Ok(Copied { digests: hasher.finish(), crc: crc.finalize() });
        }
    };
    let stamp = &stamp;
    let copied = if hashing == Hashing::Beside && stamp.len() >= OWN_HASH_THREAD {
        copy_beside_hashing(&mut file, stamp, algorithms, sink)?
    } else {
        copy_here(&mut file, stamp, algorithms, buffer, sink)?
    };
    file.check_unchanged(stamp)?;
    Ok(copied)
}

impl Copied {
    pub(super) fn of(algorithms: &[Algorithm], bytes: &[u8]) -> Self {
        Self { digests: Digests::of(algorithms, bytes), crc: crc32fast::hash(bytes) }
    }
}

fn copy_here(
    file: &mut File,
    stamp: &Stamp,
    algorithms: &[Algorithm],
    buffer: &mut Vec<u8>,
    sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Copied> {
    let mut hashers = Hashers::new(algorithms);
    let mut passage = Passage::new(file, stamp, BLOCK, buffer, sink);
    hash(&mut passage, &mut hashers)?;
    Ok(Copied { digests: hashers.finish(), crc: passage.crc.finalize() })
}

/// A large file that is copied side by side with others.
pub(super) struct Copying<'b, S> {
    pub(super) file: File,
    pub(super) stamp: Stamp,
    pub(super) buffer: &'b mut Vec<u8>,
    pub(super) sink: S,
}

/// The same as [`copy`] of several large files, hashed by this thread.
pub(super) fn copy_all<S: FnMut(&[u8]) -> Result<()>>(
    files: &mut [Copying<'_, S>],
    algorithms: &[Algorithm],
) -> Result<Vec<Copied>> {
    let mut hashers: Vec<_> = files.iter().map(|_| Hashers::new(algorithms)).collect();
    let block = if files.len() > 2 { SMALL_BLOCK } else { BLOCK };
    let mut passages: Vec<_> = files
        .iter_mut()
        .map(|Copying { file, stamp, buffer, sink }| Passage::new(file, stamp, block, buffer, sink))
        .collect();
    try_hash_all(&mut passages, &mut hashers)?;
    let checksums: Vec<_> = passages.into_iter().map(|passage| passage.crc.finalize()).collect();
    files.iter().try_for_each(|Copying { file, stamp, .. }| file.check_unchanged(stamp))?;
    let digests = hashers.into_iter().map(Hashers::finish);
    Ok(digests.zip(checksums).map(|(digests, crc)| Copied { digests, crc }).collect())
}

/// A file on its way to a sink.
struct Passage<'f, S> {
    file: &'f mut File,
    /// Bytes of one read.
    block: usize,
    buffer: &'f mut Vec<u8>,
    /// The part of `buffer` that was not passed on yet.
    ready: Range<usize>,
    /// Bytes that are still to be read.
    left: u64,
    crc: crc32fast::Hasher,
    sink: S,
}

impl<'f, S> Passage<'f, S> {
    fn new(
        file: &'f mut File,
        stamp: &Stamp,
        block: usize,
        buffer: &'f mut Vec<u8>,
        sink: S,
    ) -> Self {
        let crc = crc32fast::Hasher::new();
        Self { file, block, buffer, ready: 0..0, left: stamp.len(), crc, sink }
    }
}

impl<S: FnMut(&[u8]) -> Result<()>> Blocks for Passage<'_, S> {
    type Error = Error;

    fn wait(&mut self) -> Result<usize> {
        if self.ready.is_empty() && self.left > 0 {
            let block = next_block(self.file, self.block, self.buffer, self.left)?;
            self.left = self.left.saturating_sub(length(block));
            self.ready = 0..block.len();
        }
        Ok(self.ready.len())
    }

    fn ready(&mut self) -> &[u8] {
        self.buffer.get(self.ready.clone()).unwrap_or_default()
    }

    fn pass_on(&mut self, count: usize) -> Result<()> {
        let end = self.ready.start.saturating_add(count).min(self.ready.end);
        let block = self.buffer.get(self.ready.start..end).unwrap_or_default();
        self.ready.start = end;
        self.crc.update(block);
        (self.sink)(block)
    }
}

fn copy_beside_hashing(
    file: &mut File,
    stamp: &Stamp,
    algorithms: &[Algorithm],
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Copied> {
    let (crc, digests) = beside(algorithms, |passing| {
        let mut crc = crc32fast::Hasher::new();
        let mut left = stamp.len();
        while left > 0 {
            let mut buffer = passing.buffer();
            let block = next_block(file, BLOCK, &mut buffer, left)?;
            let count = block.len();
            left = left.saturating_sub(length(block));
            crc.update(block);
            sink(block)?;
            passing.pass_on(buffer, count);
        }
        Ok::<_, Error>(crc.finalize())
    })?;
    Ok(Copied { digests, crc })
}

fn length(block: &[u8]) -> u64 {
    u64::try_from(block.len()).unwrap_or(u64::MAX)
}

/// The next bytes, at most `left` and no more than a `block`; a file that ends before that has changed.
fn next_block<'a>(
    file: &mut File,
    block: usize,
    buffer: &'a mut Vec<u8>,
    left: u64,
) -> Result<&'a [u8]> {
    buffer.resize(block, 0);
    let wanted = usize::try_from(left).unwrap_or(block).min(block);
    let target = buffer.get_mut(..wanted).unwrap_or_default();
    loop {
        match file.read(target) {
            Ok(0) => return Err(file.changed("it became shorter")),
            Ok(count) => return Ok(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io("read", file.path())(error)),
        }
    }
}

/// Appends all of some small content to `out`.
pub(super) fn append(
    content: Content<'_>,
    algorithms: &[Algorithm],
    out: &mut Vec<u8>,
) -> Result<Copied> {
    let (mut file, stamp) = match content {
        Content::File(file, stamp) => (file, stamp),
        Content::Bytes(bytes) => {
            out.extend_from_slice(bytes);
            return Ok(Copied::of(algorithms, bytes));
        }
        Content::Pieces(pieces) => {
            let start = out.len();
            pieces(&mut |piece| {
                out.extend_from_slice(piece);
                Ok(())
            })?;
            return Ok(Copied::of(algorithms, out.get(start..).unwrap_or_default()));
        }
    };
    let stamp = &stamp;
    let start = out.len();
    let wanted = usize::try_from(stamp.len()).map_err(|_| file.changed("it grew"))?;
    out.resize(start.saturating_add(wanted), 0);
    let target = out.get_mut(start..).unwrap_or_default();
    file.read_unchanged(target, stamp)?;
    Ok(Copied::of(algorithms, out.get(start..).unwrap_or_default()))
}
