//! Stored members: every offset is known beforehand, so all jobs write at once, each its own part.

use super::super::zip::write as zip;
use super::copy::{self, BLOCK};
use super::{NewMember, NewMembers, Written, tar_header};
use crate::archive::{MemberKind, tar};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::parallel;

/// Members up to this size are collected with their neighbours and written in one go.
const SMALL: u64 = 512 * 1024;
/// What a job collects before it writes, in bytes and in members.
const BATCH_BYTES: u64 = 1024 * 1024;
const BATCH_MEMBERS: usize = 256;

/// Whose headers stand before the members.
#[derive(Debug, Clone, Copy)]
pub(super) enum Headers {
    Zip,
    Tar,
}

/// Where the member after this one begins in a tar.
pub(super) fn end_of_tar(member: &NewMember, at: u64) -> Result<u64> {
    let header = tar_header(member)?;
    Ok(at
        .saturating_add(u64::try_from(header.len()).unwrap_or(u64::MAX))
        .saturating_add(member.size)
        .saturating_add(tar::padding_after(member.size)))
}

/// Writes the members from `start` on.
pub(super) fn write(
    file: &File,
    jobs: usize,
    start: u64,
    new: NewMembers<'_, '_>,
    headers: Headers,
) -> Result<Vec<Written>> {
    let members = new.members;
    let (offsets, batches) = plan(start, members, headers)?;
    let work = |buffers: &mut Buffers, range: std::ops::Range<usize>| {
        let mut written = Vec::new();
        for batch in batches.get(range).unwrap_or_default() {
            let mut job = Job { file, headers, new, offsets: &offsets, buffers };
            job.write_batch(batch.clone(), &mut written)?;
        }
        Ok::<_, Error>(written)
    };
    let written = parallel::map_ranges(jobs, batches.len(), 1, Buffers::default, work)?;
    Ok(written.into_iter().flatten().collect())
}

/// The offset of every member, and the runs of members that are written together.
fn plan(
    start: u64,
    members: &[NewMember],
    headers: Headers,
) -> Result<(Vec<u64>, Vec<std::ops::Range<usize>>)> {
    let mut offsets = Vec::with_capacity(members.len());
    let mut batches: Vec<std::ops::Range<usize>> = Vec::new();
    let mut at = start;
    let mut batch_bytes = u64::MAX;
    for (index, member) in members.iter().enumerate() {
        offsets.push(at);
        at = match headers {
            Headers::Zip => zip::end_of_stored(member, at),
            Headers::Tar => end_of_tar(member, at)?,
        };
        let small = member.size <= SMALL;
        batch_bytes = batch_bytes.saturating_add(member.size);
        match batches.last_mut() {
            Some(batch) if small && batch_bytes <= BATCH_BYTES && batch.len() < BATCH_MEMBERS => {
                batch.end = index.saturating_add(1);
            }
            _ => {
                batches.push(index..index.saturating_add(1));
                // Nothing joins a large member, which is written by blocks.
                batch_bytes = if small { member.size } else { u64::MAX };
            }
        }
    }
    Ok((offsets, batches))
}

#[derive(Default)]
struct Buffers {
    image: Vec<u8>,
    content: Vec<u8>,
    block: Vec<u8>,
}

struct Job<'a, 's> {
    file: &'a File,
    headers: Headers,
    new: NewMembers<'a, 's>,
    offsets: &'a [u64],
    buffers: &'a mut Buffers,
}

impl Job<'_, '_> {
    /// Writes a run of members: together when they are small, else the one by blocks.
    fn write_batch(
        &mut self,
        batch: std::ops::Range<usize>,
        written: &mut Vec<Written>,
    ) -> Result<()> {
        let start = self.offsets.get(batch.start).copied().unwrap_or_default();
        self.buffers.image.clear();
        for index in batch {
            let (Some(member), Some(at)) = (self.new.members.get(index), self.offsets.get(index))
            else {
                continue;
            };
            if member.size > SMALL {
                written.push(self.write_large(index, member, *at)?);
                continue;
            }
            self.buffers.content.clear();
            let copied = if member.kind == MemberKind::Directory {
                copy::Copied::of(self.new.algorithms, b"")
            } else {
                copy::append(
                    (self.new.source)(index)?,
                    self.new.algorithms,
                    &mut self.buffers.content,
                )?
            };
            let stored = stored(member, *at, &copied);
            self.push_header(member, &stored)?;
            self.buffers.image.extend_from_slice(&self.buffers.content);
            self.push_padding(member);
            written.push(stored);
        }
        self.file.write_all_at(&self.buffers.image, start)
    }

    fn write_large(&mut self, index: usize, member: &NewMember, at: u64) -> Result<Written> {
        // The checksum is known at the end, the header's length from the beginning.
        let planned = Written::planned(member, at);
        self.push_header(member, &planned)?;
        let data = at.saturating_add(u64::try_from(self.buffers.image.len()).unwrap_or(u64::MAX));
        self.buffers.image.clear();
        let source = (self.new.source)(index)?;
        let algorithms = self.new.algorithms;
        let mut next = data;
        let file = self.file;
        self.buffers.block.reserve(BLOCK);
        let copied = copy::copy(source, algorithms, &mut self.buffers.block, |block| {
            file.write_all_at(block, next)?;
            next = next.saturating_add(u64::try_from(block.len()).unwrap_or(u64::MAX));
            Ok(())
        })?;
        self.push_padding(member);
        file.write_all_at(&self.buffers.image, next)?;
        self.buffers.image.clear();
        let stored = stored(member, at, &copied);
        self.push_header(member, &stored)?;
        file.write_all_at(&self.buffers.image, at)?;
        self.buffers.image.clear();
        Ok(stored)
    }

    fn push_header(&mut self, member: &NewMember, stored: &Written) -> Result<()> {
        match self.headers {
            Headers::Zip => zip::header(&mut self.buffers.image, member, stored),
            Headers::Tar => self.buffers.image.extend_from_slice(&tar_header(member)?),
        }
        Ok(())
    }

    fn push_padding(&mut self, member: &NewMember) {
        if matches!(self.headers, Headers::Tar) {
            let padding = usize::try_from(tar::padding_after(member.size)).unwrap_or(0);
            let image = &mut self.buffers.image;
            image.resize(image.len().saturating_add(padding), 0);
        }
    }
}

fn stored(member: &NewMember, at: u64, copied: &copy::Copied) -> Written {
    Written { digests: copied.digests.clone(), crc: copied.crc, ..Written::planned(member, at) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::MemberPath;

    fn member(index: usize, size: u64) -> NewMember {
        NewMember {
            path: MemberPath::new(format!("{index}")).unwrap(),
            kind: MemberKind::File,
            size,
            modified: 0,
            align_at: None,
        }
    }

    #[test]
    fn a_large_member_is_a_batch_by_itself_wherever_it_stands() {
        let sizes = [1, SMALL + 1, 1, 2, SMALL, SMALL, 1, SMALL + 1, SMALL + 1];
        let members: Vec<_> =
            sizes.iter().enumerate().map(|(index, size)| member(index, *size)).collect();
        let (offsets, batches) = plan(0, &members, Headers::Zip).unwrap();
        assert_eq!(batches, [0..1, 1..2, 2..5, 5..7, 7..8, 8..9]);
        assert_eq!(offsets.len(), members.len());
        assert!(offsets.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
