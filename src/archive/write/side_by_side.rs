//! Several stored files at their places, hashed side by side by one job.

use super::copy::{BLOCK, Copied, Passage};
use super::positional::{LaterFile, Sink, StoredMembers};
use super::runs::Buffers;
use super::{NewMember, Placed};
use crate::archive::data::SMALL_BLOCK;
use crate::digest::{Digests, Hashers, Lane, LaneOf, SideBySide, hash_side_by_side};
use crate::error::{Error, Result};

/// Files to be written at their places, by numbers of their own.
pub(crate) type LaterFiles<'f, 'm> = dyn Iterator<Item = Result<(usize, LaterFile<'m>)>> + 'f;

impl StoredMembers<'_> {
    /// Writes large members of runs at their places, so many of them side by side. What was written of each is told
    /// to `placed`.
    pub(crate) fn write_files_later(
        &self,
        width: usize,
        files: &mut LaterFiles<'_, '_>,
        placed: &mut dyn FnMut(usize, u64, u64, Placed),
        buffers: &mut Buffers,
    ) -> Result<()> {
        let block = if width > 2 { SMALL_BLOCK } else { BLOCK };
        let copying = &mut Copying { stored: self, files, placed, block, buffers };
        hash_side_by_side(copying, width, Some(&self.writing))
    }
}

/// The files that one job copies side by side.
struct Copying<'s, 'f, 'm> {
    stored: &'s StoredMembers<'s>,
    files: &'s mut LaterFiles<'f, 'm>,
    placed: &'s mut dyn FnMut(usize, u64, u64, Placed),
    /// Bytes of one read.
    block: usize,
    buffers: &'s mut Buffers,
}

/// Where one of them goes.
struct Goal<'m> {
    number: usize,
    member: NewMember<'m>,
    at: u64,
    modified: u64,
}

impl<'s, 'm> SideBySide for Copying<'s, '_, 'm> {
    type Label = Goal<'m>;
    type Content = Passage<Sink<'s>>;
    type Error = Error;

    fn next(&mut self) -> Result<Option<LaneOf<Self>>> {
        let Some(file) = self.files.next() else { return Ok(None) };
        let (number, LaterFile { member, at, file, stamp }) = file?;
        let modified = stamp.modified();
        let buffer = self.buffers.spare.pop().unwrap_or_default();
        let sink = self.stored.sink(&member, at, &mut self.buffers.image)?;
        let content = Passage::new(file, stamp, self.block, buffer, sink);
        let hashers = Hashers::new(self.stored.algorithms);
        Ok(Some(Lane { label: Goal { number, member, at, modified }, content, hashers }))
    }

    fn done(
        &mut self,
        Goal { number, member, at, modified }: Goal<'m>,
        content: Passage<Sink<'s>>,
        digests: Result<Digests>,
    ) -> Result<()> {
        let digests = digests?;
        let (crc, buffer) = content.finish()?;
        self.buffers.spare.push(buffer);
        let copied = Copied { digests, crc };
        let placed = self.stored.enclose(&member, at, copied, &mut self.buffers.image)?;
        (self.placed)(number, member.size, modified, placed);
        Ok(())
    }
}
