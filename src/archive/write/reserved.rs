//! Writes large stored members at reserved offsets, from all jobs at once.

use std::sync::Mutex;

use super::copy::{FileSource, finish, source};
use super::{Alignment, COPY_BLOCK, NewMember, Placed, Record, new_header, padding};
use crate::archive::Container;
use crate::archive::copy::{Copying, Fault, Sink, copy};
use crate::archive::data::SMALL_BLOCK;
use crate::digest::{Digests, Hashers, Hashing, Lane, Wanted, hash_side_by_side};
use crate::error::Result;
use crate::fs::{File, Stamp};

/// A writer of reserved members.
pub(crate) struct Reserved<'a> {
    out: &'a File,
    container: Container,
    wanted: Wanted<'a>,
    /// Locked for large writes. The system lets one job at a time write to a file; the others would only wait.
    writing: Mutex<()>,
}

/// A reserved member.
#[derive(Debug)]
pub(crate) struct ReservedMember<'m> {
    /// The caller's number for the member.
    pub(crate) number: usize,
    pub(crate) member: NewMember<'m>,
    /// Offset of its header.
    pub(crate) at: u64,
    /// The stamp of its file.
    pub(crate) stamp: Stamp,
}

/// A sink that writes at an offset.
struct AtPlace<'a> {
    out: &'a File,
    next: u64,
    /// Whether the content is there already, and only its checksum is wanted.
    is_shared: bool,
    crc: crc32fast::Hasher,
}

impl Sink for AtPlace<'_> {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.crc.update(block);
        if !self.is_shared {
            self.out.write_all_at(block, self.next)?;
        }
        self.next += block.len() as u64;
        Ok(())
    }
}

type Passing<'a> = Copying<FileSource, AtPlace<'a>>;

impl<'a> Reserved<'a> {
    pub(super) fn new(out: &'a File, container: Container, wanted: Wanted<'a>) -> Self {
        Self { out, container, wanted, writing: Mutex::new(()) }
    }

    /// Writes a member from its file. Returns its number and location.
    pub(crate) fn write(
        &self,
        from: (ReservedMember<'_>, File),
        hashing: Hashing,
    ) -> Result<(usize, Placed)> {
        let (member, Copying { mut content, mut sink }) = self.begin(from, COPY_BLOCK)?;
        let digests = copy(&mut content, self.wanted, hashing, |block| sink.take(block));
        self.end(&member, Copying { content, sink }, digests)
    }

    /// Writes several members at once, up to `width`.
    pub(crate) fn write_side_by_side<'m>(
        &self,
        width: usize,
        members: impl Iterator<Item = Result<(ReservedMember<'m>, File)>>,
    ) -> Result<Vec<(usize, Placed)>> {
        let block = if width > 2 { SMALL_BLOCK } else { COPY_BLOCK };
        let begin = |from: Result<_>| {
            let (label, content) = self.begin(from?, block)?;
            Ok(Ok(Lane { label, content, hashers: Hashers::new(self.wanted) }))
        };
        let end = |member, content, digests| self.end(&member, content, digests);
        hash_side_by_side(width, Some(&self.writing), members.map(begin), end)
    }

    fn begin<'m>(
        &self,
        (reserved, file): (ReservedMember<'m>, File),
        block: usize,
    ) -> Result<(ReservedMember<'m>, Passing<'a>)> {
        let ReservedMember { member, at, stamp, .. } = &reserved;
        // The checksum is known only at the end, but the length of the header is known now.
        let header = new_header(self.container, member, &Record::stored(member, *at, 0))?;
        let next = at + header.len() as u64;
        let is_shared = member.align == Some(Alignment::BLOCKS)
            && file.share_with(self.out, next, stamp.len())?;
        let content = source(file, stamp, block);
        let sink = AtPlace { out: self.out, next, is_shared, crc: crc32fast::Hasher::new() };
        Ok((reserved, Copying { content, sink }))
    }

    fn end(
        &self,
        ReservedMember { number, member, at, stamp }: &ReservedMember<'_>,
        Copying { content, sink }: Passing<'_>,
        digests: Result<Digests, Fault>,
    ) -> Result<(usize, Placed)> {
        content.get_ref().get_ref().progress().done(1);
        let digests = finish(content, stamp, digests)?;
        Ok((*number, self.complete(member, *at, sink.crc.finalize(), digests)?))
    }

    /// Completes a member at the offset `at`, whose content is there already.
    pub(crate) fn complete(
        &self,
        member: &NewMember<'_>,
        at: u64,
        crc: u32,
        digests: Digests,
    ) -> Result<Placed> {
        let record = Record::stored(member, at, crc);
        let header = new_header(self.container, member, &record)?;
        self.out.write_all_at(&header, at)?;
        let end = at + header.len() as u64 + member.size;
        self.out.write_all_at(padding(self.container, member), end)?;
        Ok(Placed { digests, record })
    }
}
