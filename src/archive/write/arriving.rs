//! Stored members at the end of an archive that is not complete, written while their contents arrive.

use std::ops::Range;
use std::sync::Arc;

use super::{COPY_BLOCK, NewMember, Placed, Record, move_within, new_header, padding};
use crate::archive::Container;
use crate::digest::{Hashers, Wanted};
use crate::error::Result;
use crate::fs::File;
use crate::pipeline;

/// Minimum number of bytes that are hashed by a thread of its own. For fewer, it costs more than it saves.
const WORTH_A_THREAD: usize = 512 * 1024;
/// Bytes that are written and hashed before the next ones. It bounds the delay of cancelling.
const AT_ONCE: usize = 8 * 1024 * 1024;

/// A member whose content arrives.
#[derive(Debug)]
pub(crate) struct Arriving {
    file: Arc<File>,
    container: Container,
    member: NewMember<'static>,
    /// Offset of the header.
    at: u64,
    /// Offset of the content.
    data: u64,
    /// Bytes of the content that arrived.
    len: u64,
    /// The end of the bytes that the system was asked to write to disk.
    hinted: u64,
    crc: crc32fast::Hasher,
    hashers: Hashers,
}

impl Arriving {
    /// Begins a member at an offset. Its size need not be known, but a size of 4 GiB or more that is known saves moving the
    /// content.
    pub(crate) fn begin(
        file: &Arc<File>,
        container: Container,
        wanted: Wanted<'_>,
        member: NewMember<'static>,
        at: u64,
    ) -> Result<Self> {
        let header = new_header(container, &member, &Record::stored(&member, at, 0))?;
        let (file, data) = (Arc::clone(file), at + header.len() as u64);
        let (crc, hashers) = (crc32fast::Hasher::new(), Hashers::new(wanted));
        Ok(Self { file, container, member, at, data, len: 0, hinted: data, crc, hashers })
    }

    /// Writes the next bytes, and hashes them at the same time.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Self { file, data, len, hinted, crc, hashers, .. } = self;
        for block in bytes.chunks(AT_ONCE) {
            let mut write = || -> Result<()> {
                crc.update(block);
                let (at, end) = (*data + *len, *data + *len + block.len() as u64);
                file.write_all_at(block, at)?;
                if end - *hinted >= AT_ONCE as u64 {
                    // The disk works while more bytes are hashed.
                    file.begin_sync(*hinted..end);
                    *hinted = end;
                }
                Ok(())
            };
            if block.len() < WORTH_A_THREAD {
                hashers.update(block);
                write()?;
            } else {
                pipeline::both(|| hashers.update(block), write)?;
            }
            *len += block.len() as u64;
        }
        Ok(())
    }

    /// Returns the offset of the content.
    pub(crate) fn data(&self) -> u64 {
        self.data
    }

    /// Writes bytes at an offset in the content. [`Self::hash_placed`] hashes them.
    pub(crate) fn place(&self, bytes: &[u8], at: u64) -> Result<()> {
        self.file.write_all_at(bytes, self.data + at)
    }

    /// Reads and hashes bytes that were placed, up to the length `end` of the content.
    pub(crate) fn hash_placed(&mut self, end: u64) -> Result<()> {
        let mut block = vec![0; COPY_BLOCK];
        while self.len < end {
            let count = usize::try_from(end - self.len).unwrap_or(COPY_BLOCK).min(COPY_BLOCK);
            block.truncate(count);
            self.file.read_exact_at(&mut block, self.data + self.len)?;
            self.crc.update(&block);
            self.hashers.update(&block);
            self.len += count as u64;
        }
        Ok(())
    }

    /// Completes the member.
    pub(crate) fn finish(self) -> Result<WrittenMember> {
        let Self { file, container, mut member, at, data: assumed, len, crc, hashers, .. } = self;
        member.size = len;
        let record = Record::stored(&member, at, crc.finalize());
        let header = new_header(container, &member, &record)?;
        let data = at + header.len() as u64;
        // The header of a long member is longer.
        move_within(&file, assumed..assumed + len, data)?;
        file.write_all_at(&header, at)?;
        file.write_all_at(padding(container, &member), data + len)?;
        let placed = Placed { digests: hashers.finish(), record };
        Ok(WrittenMember { container, member, placed, data })
    }
}

/// A complete member of an archive that is not complete.
#[derive(Debug)]
pub(crate) struct WrittenMember {
    container: Container,
    member: NewMember<'static>,
    pub(crate) placed: Placed,
    /// Offset of the content.
    data: u64,
}

impl WrittenMember {
    /// Returns the range of the content.
    pub(crate) fn content(&self) -> Range<u64> {
        self.data..self.data + self.member.size
    }

    /// Returns the range of the whole member.
    pub(crate) fn range(&self) -> Range<u64> {
        let padding = padding(self.container, &self.member).len() as u64;
        self.placed.record.at..self.content().end + padding
    }

    /// Moves the member towards the beginning, where it begins at the offset `at`. The bytes between belonged to other
    /// members.
    pub(crate) fn move_to(&mut self, file: &File, at: u64) -> Result<()> {
        let record = Record { at, ..self.placed.record };
        let header = new_header(self.container, &self.member, &record)?;
        let (old, data) = (self.content(), at + header.len() as u64);
        // A member is longer than any difference in alignment.
        assert!(data <= old.start, "a member moves towards the beginning");
        move_within(file, old, data)?;
        file.write_all_at(&header, at)?;
        self.placed.record = record;
        self.data = data;
        file.write_all_at(padding(self.container, &self.member), self.content().end)
    }
}
