//! Copies of new content with its digests and its checksum, and of packed members from an older archive.

use std::io::{BufReader, Read as _, Take};

use super::super::copy::{COPY_BLOCK, Fault, copy};
use super::member::NewContent;
use crate::digest::{Digests, Hashers, Hashing, Wanted};
use crate::error::{Error, Result};
use crate::fs::{File, Stamp};

/// Minimum size of a file that gets its own hashing thread. For smaller files, a thread costs more than it saves.
const OWN_HASH_THREAD: u64 = 16 * 1024 * 1024;

/// The digests and the checksum of copied data.
#[derive(Debug, Clone)]
pub(in crate::archive) struct Copied {
    pub(in crate::archive) digests: Digests,
    pub(in crate::archive) crc: u32,
}

/// Copies all of `content` to `sink`. A file must match its stamp from beginning to end.
pub(in crate::archive) fn copy_content(
    content: NewContent<'_>,
    wanted: Wanted<'_>,
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Copied> {
    let mut crc = crc32fast::Hasher::new();
    let mut put = |block: &[u8]| {
        crc.update(block);
        sink(block)
    };
    let digests = match content {
        NewContent::File(file, stamp) => {
            let is_worth_it = stamp.len() >= OWN_HASH_THREAD;
            let hashing = if is_worth_it { Hashing::Beside } else { Hashing::Here };
            let mut source = source(file, &stamp, COPY_BLOCK);
            let digests = copy(&mut source, wanted, hashing, &mut put);
            finish(source, &stamp, digests)?
        }
        NewContent::Bytes(bytes) => {
            put(bytes)?;
            Digests::of(wanted, bytes)
        }
        NewContent::Pieces(pieces) => {
            let mut hashers = Hashers::new(wanted);
            pieces(&mut |piece| {
                hashers.update(piece);
                put(piece)
            })?;
            hashers.finish()
        }
    };
    Ok(Copied { digests, crc: crc.finalize() })
}

/// A file, limited to the length in its stamp.
pub(in crate::archive) type FileSource = Take<BufReader<File>>;

pub(in crate::archive) fn source(file: File, stamp: &Stamp, block: usize) -> FileSource {
    BufReader::with_capacity(block, file).take(stamp.len())
}

/// Returns the digests of a file that was read to its end. A change of the file is an error.
pub(in crate::archive) fn finish(
    source: FileSource,
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
