//! A source, read once: hashed, checksummed and handed on as it passes.

use std::io::{BufReader, Read as _, Take};

use super::{BLOCK, Content};
use crate::archive::copy::{Fault, Sink, copy as copy_hashed};
use crate::digest::{Algorithm, Digests, Hashers, Hashing};
use crate::error::{Error, Result};
use crate::fs::{File, Stamp};

/// From this size on a file is hashed by a thread of its own. Below, the thread costs more than it saves.
const OWN_HASH_THREAD: u64 = 16 * 1024 * 1024;

/// The digests and the checksum of a content.
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
    sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Copied> {
    let mut sink = Summed { sink, crc: crc32fast::Hasher::new() };
    let digests = match content {
        Content::File(file, stamp) => {
            let is_worth_it = stamp.len() >= OWN_HASH_THREAD;
            let hashing = if is_worth_it { Hashing::Beside } else { Hashing::Here };
            let mut source = source(file, &stamp, BLOCK);
            let digests = copy_hashed(&mut source, algorithms, hashing, |block| sink.take(block));
            finish(source, &stamp, digests)?
        }
        Content::Bytes(bytes) => {
            sink.take(bytes)?;
            Digests::of(algorithms, bytes)
        }
        Content::Pieces(pieces) => {
            let mut hashers = Hashers::new(algorithms);
            pieces(&mut |piece| {
                hashers.update(piece);
                sink.take(piece)
            })?;
            hashers.finish()
        }
    };
    Ok(Copied { digests, crc: sink.crc.finalize() })
}

/// A file, as long as its stamp says.
pub(super) type Source = Take<BufReader<File>>;

pub(super) fn source(file: File, stamp: &Stamp, block: usize) -> Source {
    BufReader::with_capacity(block, file).take(stamp.len())
}

/// Gives the digests of a file that was read to its end, unless it has changed.
pub(super) fn finish(
    source: Source,
    stamp: &Stamp,
    digests: Result<Digests, Fault>,
) -> Result<Digests> {
    let left = source.limit();
    let file = source.into_inner().into_inner();
    let digests = digests.map_err(|fault| match fault {
        Fault::Source(error) => Error::io("read", file.path())(error),
        Fault::Sink(error) => error,
    })?;
    if left > 0 {
        return Err(file.changed("it became shorter"));
    }
    file.check_unchanged(stamp)?;
    Ok(digests)
}

/// A sink, and the checksum of all that it takes.
pub(super) struct Summed<S> {
    pub(super) sink: S,
    pub(super) crc: crc32fast::Hasher,
}

impl<S: Sink> Sink for Summed<S> {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.crc.update(block);
        self.sink.take(block)
    }
}
