//! Compressed members of a zip: packed by all jobs, written in their order, so that the archive does
//! not depend on which job was faster.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::zip::write::{self as zip, Record};
use super::copy::{self, BLOCK, Copied};
use super::engines::Engines;
use super::packer::{self, By, Limits, Packer};
use super::runs::{Buffers, RunMember, WriteInOrder, contents};
use super::spool::Spool;
use super::turns::Turns;
use super::{Compression, Content, NewMember, NewMembers, Placed};
use crate::archive::{MemberKind, Method};
use crate::digest::{Algorithm, Hashing};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::pipeline;

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
    /// Empty ones, to be used again.
    spools: Mutex<Vec<Spool>>,
}

/// What one job packs with.
struct Packing {
    packer: Packer,
    buffer: Vec<u8>,
    /// The packed bytes of the members that wait for their places.
    spool: Spool,
    image: Vec<u8>,
}

/// A run whose packed bytes wait for their places.
pub(crate) struct PackedRun {
    members: Vec<Packed>,
    spool: Spool,
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

impl WriteInOrder for PackedMembers<'_> {
    type Run = PackedRun;

    fn prepare(
        &self,
        run: &[RunMember<'_>],
        Buffers { packer, .. }: &mut Buffers,
    ) -> Result<Option<PackedRun>> {
        let Some(contents) = contents(run) else { return Ok(None) };
        let packer = packer.get_or_insert_with(|| Packer::new(self.compression));
        let mut spool = self.spools().pop().unwrap_or_else(|| Spool::new(self.target));
        let copied = Copied::of_each(self.algorithms, &contents).zip(&contents);
        let members = copied
            .map(|(copied, bytes)| pack_bytes(bytes, copied, packer, &mut spool))
            .collect::<Result<_>>()?;
        Ok(Some(PackedRun { members, spool }))
    }

    fn write_prepared<'m>(
        &self,
        members: impl Iterator<Item = NewMember<'m>>,
        PackedRun { members: packed, mut spool }: PackedRun,
        Buffers { image, .. }: &mut Buffers,
    ) -> Result<Vec<Placed>> {
        let members: Vec<_> = members.collect();
        let placed = self.turns.go_on(|at| place(at, members.iter(), &packed));
        self.put(members.iter(), &packed, &placed, &spool, image)?;
        spool.clear();
        self.spools().push(spool);
        Ok(placed)
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
            spools: Mutex::default(),
        }
    }

    /// Where the next member begins.
    pub(super) fn end(&self) -> u64 {
        self.turns.at()
    }

    fn spools(&self) -> MutexGuard<'_, Vec<Spool>> {
        self.spools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn packing(&self) -> Packing {
        let (packer, spool) = (Packer::new(self.compression), Spool::new(self.target));
        Packing { packer, buffer: Vec::new(), spool, image: Vec::new() }
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
                let Packing { spool, image, .. } = packing;
                self.put(members(), &packed, &placed, spool, image)?;
                Ok(placed)
            })
        };
        let jobs = self.jobs.min(Limits::of(self.compression).jobs);
        pipeline::share(jobs, pipeline::ranges(new.count, BATCH), || self.packing(), work)
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
        let Packing { spool, image, .. } = packing;
        self.put([member].into_iter(), &[packed], std::slice::from_ref(&placed), spool, image)?;
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
        let Packing { packer, buffer, spool, .. } = packing;
        if let Content::Bytes(bytes) = content {
            return pack_bytes(bytes, Copied::of(self.algorithms, bytes), packer, spool);
        }
        buffer.clear();
        let copied = copy::append(content, self.algorithms, buffer)?;
        pack_bytes(buffer, copied, packer, spool)
    }

    /// Writes what has its places, neighbours in one go.
    fn put<'m>(
        &self,
        members: impl Iterator<Item = &'m NewMember<'m>>,
        packed: &[Packed],
        placed: &[Placed],
        spool: &Spool,
        image: &mut Vec<u8>,
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

fn pack_bytes(
    bytes: &[u8],
    copied: Copied,
    packer: &mut Packer,
    spool: &mut Spool,
) -> Result<Packed> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_was_packed_in_is_empty_for_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a");
        let pending = crate::fs::PendingFile::create(&target, true).unwrap();
        let algorithms = [Algorithm::Sha256];
        let compression = Compression::Zstd { level: None };
        let packed = PackedMembers::new(pending.file(), &target, compression, 0, &algorithms, 2);
        // More than stays in memory, and less.
        let mut state = 1_u64;
        let noise = (0..700_000).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        });
        let contents = [noise.collect(), vec![2; 10], Vec::new(), vec![1; 700_000]];
        let member = |size| NewMember {
            path: "m".into(),
            kind: MemberKind::File,
            size,
            modified: 0,
            align_at: None,
        };
        let mut buffers = Buffers::default();
        for (number, content) in contents.iter().enumerate() {
            let new = || member(wide(content.len()));
            let run = [RunMember { member: new(), content: Some(content) }];
            let run = packed.prepare(&run, &mut buffers).unwrap().unwrap();
            assert_eq!(run.spool.has_spilled(), number == 0);
            packed.write_prepared([new()].into_iter(), run, &mut buffers).unwrap();
            let lengths: Vec<_> = packed.spools().iter().map(Spool::len).collect();
            assert_eq!(lengths, [0]);
        }
    }
}
