//! One source file, read once: hashed, checksummed and handed on as it passes.

use std::io::{self, Read};

use super::Content;
use crate::digest::{Algorithm, Blocks, Digests, Hashers, Hashing, hash};
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
    let (file, stamp) = match content {
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
    if hashing == Hashing::Beside && stamp.len() >= OWN_HASH_THREAD {
        return copy_beside_hashing(file, &stamp, algorithms, sink);
    }
    let mut hashers = Hashers::new(algorithms);
    let mut passage = Passage::new(file, stamp, BLOCK, std::mem::take(buffer), sink);
    hash(&mut passage, &mut hashers)?;
    let crc;
    (crc, *buffer) = passage.finish()?;
    Ok(Copied { digests: hashers.finish(), crc })
}

impl Copied {
    pub(super) fn of(algorithms: &[Algorithm], bytes: &[u8]) -> Self {
        Self { digests: Digests::of(algorithms, bytes), crc: crc32fast::hash(bytes) }
    }

    /// Of several contents in their order.
    pub(super) fn of_each(
        algorithms: &[Algorithm],
        contents: &[&[u8]],
    ) -> impl Iterator<Item = Self> {
        let digests = Digests::of_each(algorithms, contents).into_iter();
        digests.zip(contents).map(|(digests, bytes)| Self { digests, crc: crc32fast::hash(bytes) })
    }
}

/// A file on its way to a sink.
pub(super) struct Passage<S> {
    file: File,
    stamp: Stamp,
    /// Bytes of one read.
    block: usize,
    buffer: Vec<u8>,
    /// How many of `buffer` were read and not passed on yet.
    ready: usize,
    /// Bytes that are still to be read.
    left: u64,
    crc: crc32fast::Hasher,
    sink: S,
}

impl<S> Passage<S> {
    pub(super) fn new(file: File, stamp: Stamp, block: usize, buffer: Vec<u8>, sink: S) -> Self {
        let (ready, left, crc) = (0, stamp.len(), crc32fast::Hasher::new());
        Self { file, stamp, block, buffer, ready, left, crc, sink }
    }

    /// The checksum of what has passed, and the buffer, unless the file has changed.
    pub(super) fn finish(self) -> Result<(u32, Vec<u8>)> {
        assert!(self.left == 0 && self.ready == 0, "it ends when all has passed");
        self.file.check_unchanged(&self.stamp)?;
        Ok((self.crc.finalize(), self.buffer))
    }
}

impl<S: FnMut(&[u8]) -> Result<()>> Blocks for Passage<S> {
    type Error = Error;

    fn wait(&mut self) -> Result<bool> {
        if self.ready == 0 && self.left > 0 {
            let block = next_block(&mut self.file, self.block, &mut self.buffer, self.left)?;
            // Here, since whoever passes it on may keep others waiting.
            self.crc.update(block);
            self.left = self.left.saturating_sub(length(block));
            self.ready = block.len();
        }
        Ok(self.ready > 0)
    }

    fn ready(&mut self) -> &[u8] {
        self.buffer.split_at(self.ready).0
    }

    fn pass_on(&mut self) -> Result<()> {
        let block = self.buffer.split_at(self.ready).0;
        self.ready = 0;
        (self.sink)(block)
    }
}

fn copy_beside_hashing(
    file: File,
    stamp: &Stamp,
    algorithms: &[Algorithm],
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Copied> {
    let mut crc = crc32fast::Hasher::new();
    let mut content = io::BufReader::with_capacity(BLOCK, file).take(stamp.len());
    let digests = crate::archive::copy(&mut content, algorithms, Hashing::Beside, |block| {
        crc.update(block);
        sink(block)
    });
    let left = content.limit();
    let file = content.into_inner().into_inner();
    let digests = digests.map_err(|fault| match fault {
        crate::archive::Fault::Source(error) => Error::io("read", file.path())(error),
        crate::archive::Fault::Sink(error) => error,
    })?;
    if left > 0 {
        return Err(file.changed("it became shorter"));
    }
    file.check_unchanged(stamp)?;
    Ok(Copied { digests, crc: crc.finalize() })
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
    let target = buffer.split_at_mut(wanted).0;
    loop {
        match file.read(target) {
            Ok(0) => return Err(file.changed("it became shorter")),
            Ok(count) => return Ok(buffer.split_at(count).0),
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
            return Ok(Copied::of(algorithms, out.split_at(start).1));
        }
    };
    let stamp = &stamp;
    let start = out.len();
    let wanted = usize::try_from(stamp.len()).map_err(|_| file.changed("it grew"))?;
    out.resize(start.saturating_add(wanted), 0);
    let target = out.split_at_mut(start).1;
    file.read_unchanged(target, stamp)?;
    Ok(Copied::of(algorithms, out.split_at(start).1))
}
