//! Compressed members of a zip: packed by all jobs, written in their order, so that the archive does
//! not depend on which job was faster.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use super::super::zip::write::{self as zip, Record};
use super::copy::{self, BLOCK, Copied};
use super::helpers::Helpers;
use super::packer::{self, Packer};
use super::turns::Turns;
use super::{Compression, NewMember, NewMembers, WrittenMember};
use crate::archive::{MemberKind, Method};
use crate::digest::Hashing;
use crate::error::{Error, Result};
use crate::fs::{self, File};
use crate::parallel;

/// Members up to this size are packed in memory.
const SMALL: u64 = 512 * 1024;
/// Packed bytes of a large member that stay in memory before they go to a scratch file.
const MAX_IN_MEMORY: usize = 4 * 1024 * 1024;
/// Small members that a job takes at a time, so that jobs seldom wait for each other.
const BATCH: usize = 16;

/// Writes the members from `start` on.
pub(super) fn write(
    file: &File,
    target: &Path,
    jobs: usize,
    start: u64,
    compression: Compression,
    new: NewMembers<'_, '_, '_>,
) -> Result<(Vec<Vec<WrittenMember>>, u64)> {
    let turns = Turns::new(start);
    let helpers = Helpers::new(jobs, new.all().map(|member| member.size));
    let job = || Job {
        target,
        new,
        helpers: &helpers,
        packer: Packer::new(compression),
        buffer: Vec::new(),
        small: Vec::new(),
    };
    let work = |job: &mut Job<'_, '_, '_>, range: Range<usize>| {
        let turn = range.start / BATCH;
        turns.in_turn(turn, || {
            let members: Vec<_> = new.of(range).collect();
            job.small.clear();
            let packed: Vec<Packed> = members
                .iter()
                .map(|(index, member)| job.pack_member(*index, member))
                .collect::<Result<_>>()?;
            // Only the offsets are found in turn; the bytes are written side by side.
            let written = turns.take(turn, |mut at| {
                let written: Vec<WrittenMember> = members
                    .iter()
                    .zip(&packed)
                    .map(|((_, member), packed)| {
                        let written = packed.at(at);
                        at = zip::end_of(member, &written.record);
                        written
                    })
                    .collect();
                (at, written)
            })?;
            for (((_, member), packed), written) in members.iter().zip(&packed).zip(&written) {
                let mut bytes = Vec::new();
                zip::header(&mut bytes, member, &written.record);
                let data = written.record.at.saturating_add(wide(bytes.len()));
                match &packed.bytes {
                    PackedBytes::Small(range) => {
                        bytes.extend_from_slice(job.small.get(range.clone()).unwrap_or_default());
                        file.write_all_at(&bytes, written.record.at)?;
                    }
                    PackedBytes::Large(spool) => {
                        spool.copy_to(file, data, bytes, written.record.at)?;
                    }
                }
            }
            Ok(written)
        })
    };
    let written = parallel::map_ranges(jobs, new.count, BATCH, job, work)?;
    Ok((written, turns.at()))
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// A member whose packed bytes wait for their place.
struct Packed {
    copied: Copied,
    method: Method,
    bytes: PackedBytes,
}

enum PackedBytes {
    /// Among the small ones of the job.
    Small(Range<usize>),
    Large(Spool),
}

impl PackedBytes {
    fn len(&self) -> u64 {
        match self {
            Self::Small(range) => wide(range.len()),
            Self::Large(spool) => spool.len,
        }
    }
}

impl Packed {
    fn at(&self, at: u64) -> WrittenMember {
        WrittenMember {
            digests: self.copied.digests.clone(),
            record: Record {
                at,
                crc: self.copied.crc,
                packed_size: self.bytes.len(),
                method: self.method,
            },
        }
    }
}

/// What a job keeps from member to member.
struct Job<'a, 's, 'm> {
    target: &'a Path,
    new: NewMembers<'a, 's, 'm>,
    helpers: &'a Helpers,
    packer: Packer,
    buffer: Vec<u8>,
    /// The packed bytes of the small members that wait for their places.
    small: Vec<u8>,
}

impl Job<'_, '_, '_> {
    fn pack_member(&mut self, index: usize, member: &NewMember<'_>) -> Result<Packed> {
        let algorithms = self.new.algorithms;
        let failed = || Error::io("compress for", self.target);
        let lent = self.helpers.lend(member.size);
        if member.kind == MemberKind::Directory {
            let copied = Copied::of(algorithms, b"");
            return Ok(Packed { copied, method: Method::Stored, bytes: PackedBytes::Small(0..0) });
        }
        let content = (self.new.source)(index)?;
        if member.size <= SMALL {
            self.buffer.clear();
            let copied = copy::append(content, algorithms, &mut self.buffer)?;
            let start = self.small.len();
            let method = self.packer.pack(&self.buffer, &mut self.small).map_err(failed())?;
            let bytes = PackedBytes::Small(start..self.small.len());
            return Ok(Packed { copied, method, bytes });
        }
        let mut spool = Spool::new(self.target);
        let compression = self.packer.compression();
        let mut encoder =
            packer::encoder(compression, member.size, lent.count(), &mut spool).map_err(failed())?;
        self.buffer.reserve(BLOCK);
        let copied = copy::copy(content, algorithms, Hashing::Beside, &mut self.buffer, |block| {
            encoder.write_all(block).map_err(Error::io("compress for", self.target))
        })?;
        encoder.finish().map_err(failed())?;
        let bytes = PackedBytes::Large(spool);
        Ok(Packed { copied, method: packer::method(compression), bytes })
    }
}

/// Packed bytes: in memory while they are few, else in a nameless file beside the archive.
struct Spool {
    target: Box<Path>,
    memory: Vec<u8>,
    scratch: Option<File>,
    len: u64,
}

impl Spool {
    fn new(target: &Path) -> Self {
        Self { target: target.into(), memory: Vec::new(), scratch: None, len: 0 }
    }

    /// Writes `header` at `start` and the packed bytes at `data`, together where they are in memory.
    fn copy_to(&self, file: &File, data: u64, mut header: Vec<u8>, start: u64) -> Result<()> {
        let Some(scratch) = &self.scratch else {
            header.extend_from_slice(&self.memory);
            return file.write_all_at(&header, start);
        };
        file.write_all_at(&header, start)?;
        let mut block = vec![0; BLOCK];
        let mut done = 0;
        while done < self.len {
            let count = scratch.read_at(&mut block, done)?;
            let count = usize::try_from(self.len - done).unwrap_or(count).min(count);
            if count == 0 {
                return Err(scratch.changed("the scratch file became shorter"));
            }
            file.write_all_at(block.get(..count).unwrap_or_default(), data.saturating_add(done))?;
            done = done.saturating_add(wide(count));
        }
        Ok(())
    }

    fn spill(&mut self, bytes: &[u8]) -> Result<()> {
        let scratch = match self.scratch.take() {
            Some(scratch) => scratch,
            None => {
                let scratch = fs::scratch_file(&self.target)?;
                scratch.write_all_at(&self.memory, 0)?;
                self.memory = Vec::new();
                scratch
            }
        };
        scratch.write_all_at(bytes, self.len)?;
        self.scratch = Some(scratch);
        Ok(())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = self.memory.len().saturating_add(bytes.len()) <= MAX_IN_MEMORY;
        if self.scratch.is_none() && fits {
            self.memory.extend_from_slice(bytes);
        } else {
            self.spill(bytes)?;
        }
        self.len = self.len.saturating_add(wide(bytes.len()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
