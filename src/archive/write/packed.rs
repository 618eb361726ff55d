//! Compressed members of a zip: packed by all jobs, written in their order, so that the archive does
//! not depend on which job was faster.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use super::super::zip::write::{self as zip, Record};
use super::copy::{self, BLOCK, Copied};
use super::engines::Engines;
use super::packer::{self, By, Limits, Packer};
use super::runs::{Buffers, RunMember};
use super::spool::Spool;
use super::turns::Turns;
use super::{Compression, Content, NewMember, NewMembers, Placed};
use crate::archive::{MemberKind, Method};
use crate::digest::{Algorithm, Hashing};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::parallel;

/// Members up to this size are packed in memory.
const SMALL: u64 = 256 * 1024;
/// From this size on a member is compressed by several threads: they have the cores of those who wait for their turn.
const SHARED: u64 = 4 * 1024 * 1024;
/// Members that a job takes at a time, so that jobs seldom wait for each other.
const BATCH: usize = 16;

/// Writes compressed members from several jobs.
pub(crate) struct PackedMembers<'a> {
    file: &'a File,
    target: &'a Path,
    compression: Compression,
    turns: Turns,
    algorithms: &'a [Algorithm],
    jobs: usize,
    /// What compresses those that one thread compresses.
    by_one: Engines,
    /// What compresses those that several do: the threads of one are idle at its end, and while it is read.
    by_several: Engines,
}

/// What one job packs with.
pub(super) struct Packing {
    packer: Packer,
    buffer: Vec<u8>,
    /// The packed bytes of the members that wait for their places.
    spool: Spool,
    image: Vec<u8>,
}

/// A member whose packed bytes wait for their place.
struct Packed {
    copied: Copied,
    method: Method,
    /// Where they wait.
    range: Range<u64>,
}

impl Packed {
    fn at(&self, at: u64) -> Placed {
        let Copied { digests, crc } = self.copied.clone();
        let packed_size = self.range.end.saturating_sub(self.range.start);
        Placed { digests, record: Record { at, crc, packed_size, method: self.method } }
    }
}

impl<'a> PackedMembers<'a> {
    pub(super) fn new(
        file: &'a File,
        target: &'a Path,
        compression: Compression,
        start: u64,
        algorithms: &'a [Algorithm],
        jobs: usize,
    ) -> Self {
        let limits = Limits::of(compression);
        Self {
            file,
            target,
            compression,
            turns: Turns::new(start),
            algorithms,
            jobs,
            by_one: Engines::new(limits.by_one),
            by_several: Engines::new(limits.by_several),
        }
    }

    pub(super) fn turns(&self) -> &Turns {
        &self.turns
    }

    fn packing(&self) -> Packing {
        let (packer, spool) = (Packer::new(self.compression), Spool::new(self.target));
        Packing { packer, buffer: Vec::new(), spool, image: Vec::new() }
    }

    /// Writes a run, unless something of it or of one before is to come later.
    pub(super) fn write_run(
        &self,
        run: usize,
        members: &[RunMember<'_>],
        Buffers { packing, .. }: &mut Buffers,
    ) -> Result<Option<Vec<Placed>>> {
        let packing = packing.get_or_insert_with(|| self.packing());
        packing.spool.clear();
        let packed = self
            .turns
            .wanted(members)
            .map(|contents| {
                let copied = Copied::of_each(self.algorithms, &contents).zip(&contents);
                copied
                    .map(|(copied, bytes)| pack_bytes(bytes, copied, packing))
                    .collect::<Result<Vec<_>>>()
            })
            .transpose()?;
        let members = || members.iter().map(|run| &run.member);
        let placed = self.turns.take_prepared(run, packed, |at, packed| {
            let (at, placed) = place(at, members(), &packed);
            (at, (packed, placed))
        })?;
        let Some((packed, placed)) = placed else { return Ok(None) };
        self.put(members(), &packed, &placed, packing)?;
        Ok(Some(placed))
    }

    /// Writes all members.
    pub(super) fn write(&self, new: NewMembers<'_, '_, '_>) -> Result<Vec<Vec<Placed>>> {
        let work = |packing: &mut Packing, range: Range<usize>| {
            let turn = range.start / BATCH;
            self.turns.in_turn(turn, || {
                packing.spool.clear();
                let members: Vec<_> = new.of(range).collect();
                let pack = |(index, member): &(usize, NewMember<'_>)| {
                    let content = match member.kind {
                        MemberKind::Directory => Content::Bytes(b""),
                        _ => (new.source)(*index)?,
                    };
                    self.pack(content, member.size, SHARED, packing)
                };
                let packed = members.iter().map(pack).collect::<Result<Vec<_>>>()?;
                let members = || members.iter().map(|(_, member)| member);
                // Only the offsets are found in turn; the bytes are written side by side.
                let placed = self.turns.take(turn, |at| place(at, members(), &packed))?;
                self.put(members(), &packed, &placed, packing)?;
                Ok(placed)
            })
        };
        let jobs = self.jobs.min(Limits::of(self.compression).jobs);
        parallel::map_ranges(jobs, new.count, BATCH, || self.packing(), work)
    }

    /// Writes one member, which all jobs pack together.
    pub(super) fn write_alone(
        &self,
        member: &NewMember<'_>,
        content: Content<'_>,
    ) -> Result<Placed> {
        let packing = &mut self.packing();
        let packed = self.pack(content, member.size, SMALL, packing)?;
        let placed = packed.at(self.turns.at());
        self.put([member].into_iter(), &[packed], std::slice::from_ref(&placed), packing)?;
        Ok(placed)
    }

    /// Packs a member, from the size `shared` on by several threads.
    fn pack(
        &self,
        content: Content<'_>,
        size: u64,
        shared: u64,
        packing: &mut Packing,
    ) -> Result<Packed> {
        if size <= SMALL {
            return self.pack_small(content, packing);
        }
        let failed = || Error::io("compress for", self.target);
        let Packing { buffer, spool, .. } = packing;
        let (engines, by) = if size >= shared {
            let threads = self.jobs.min(Limits::of(self.compression).threads);
            (&self.by_several, By::Several(threads))
        } else {
            (&self.by_one, By::One)
        };
        let (engine, leave) =
            engines.take(|| packer::engine(self.compression, by)).map_err(failed())?;
        let start = spool.len();
        let mut encoder = engine.begin(&mut *spool).map_err(failed())?;
        buffer.reserve(BLOCK);
        let copied = copy::copy(content, self.algorithms, Hashing::Beside, buffer, |block| {
            encoder.write_all(block).map_err(failed())
        })?;
        let (_, engine) = encoder.end().map_err(failed())?;
        leave.give_back(engine);
        Ok(Packed { copied, method: packer::method(self.compression), range: start..spool.len() })
    }

    fn pack_small(&self, content: Content<'_>, packing: &mut Packing) -> Result<Packed> {
        if let Content::Bytes(bytes) = content {
            return pack_bytes(bytes, Copied::of(self.algorithms, bytes), packing);
        }
        let mut buffer = std::mem::take(&mut packing.buffer);
        buffer.clear();
        let copied = copy::append(content, self.algorithms, &mut buffer)?;
        let packed = pack_bytes(&buffer, copied, packing);
        packing.buffer = buffer;
        packed
    }

    /// Writes what has its places, neighbours in one go.
    fn put<'m>(
        &self,
        members: impl Iterator<Item = &'m NewMember<'m>>,
        packed: &[Packed],
        placed: &[Placed],
        Packing { spool, image, .. }: &mut Packing,
    ) -> Result<()> {
        image.clear();
        let mut start = placed.first().map_or(0, |first| first.record.at);
        for ((member, packed), placed) in members.zip(packed).zip(placed) {
            zip::header(image, member, &placed.record);
            spool.each_block(packed.range.clone(), |block| {
                let is_long = block.len() >= BLOCK;
                if !is_long {
                    image.extend_from_slice(block);
                }
                if is_long || image.len() >= BLOCK {
                    self.file.write_all_at(image, start)?;
                    start = start.saturating_add(wide(image.len()));
                    image.clear();
                }
                if is_long {
                    self.file.write_all_at(block, start)?;
                    start = start.saturating_add(wide(block.len()));
                }
                Ok(())
            })?;
        }
        self.file.write_all_at(image, start)
    }
}

fn pack_bytes(bytes: &[u8], copied: Copied, packing: &mut Packing) -> Result<Packed> {
    let Packing { packer, spool, .. } = packing;
    let start = spool.len();
    let method = spool.append(|memory| packer.pack(bytes, memory))?;
    Ok(Packed { copied, method, range: start..spool.len() })
}

/// The places of members that follow one another from `at` on, and where the next one begins.
fn place<'m>(
    mut at: u64,
    members: impl Iterator<Item = &'m NewMember<'m>>,
    packed: &[Packed],
) -> (u64, Vec<Placed>) {
    let placed = members.zip(packed).map(|(member, packed)| {
        let placed = packed.at(at);
        at = zip::end_of(member, &placed.record);
        placed
    });
    let placed = placed.collect();
    (at, placed)
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
