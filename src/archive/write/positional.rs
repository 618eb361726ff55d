//! Stored members: a place is known as soon as the lengths before it are, so all jobs write at once, each
//! its own part.

use std::sync::Mutex;

use super::super::zip::write as zip;
use super::copy::{self, Copied};
use super::runs::{Buffers, RunMember};
use super::turns::Turns;
use super::{Content, NewMember, NewMembers, Placed, Record, tar_header};
use crate::archive::{MemberKind, tar};
use crate::digest::{Algorithm, Digests, Hashing};
use crate::error::{Error, Result};
use crate::fs::{File, Stamp};
use crate::pipeline;

/// Members up to this size are written in one go.
const SMALL: u64 = 512 * 1024;
/// Members that a job takes at a time.
const RUN: usize = 128;

/// Whose headers stand before the members.
#[derive(Debug, Clone, Copy)]
pub(super) enum Headers {
    Zip,
    Tar,
}

impl Headers {
    /// Appends the header of a member that begins at `at`.
    fn push(self, out: &mut Vec<u8>, member: &NewMember<'_>, at: u64, crc: u32) -> Result<()> {
        match self {
            Self::Zip => zip::stored_header(out, member, at, crc),
            Self::Tar => out.extend_from_slice(&tar_header(member)?),
        }
        Ok(())
    }

    /// Appends what fills up the last block of a member.
    fn pad(self, out: &mut Vec<u8>, member: &NewMember<'_>) {
        if matches!(self, Self::Tar) {
            out.extend_from_slice(tar::padding(member.size));
        }
    }
}

/// Where the member after this one begins in a tar.
pub(super) fn end_of_tar(member: &NewMember<'_>, at: u64) -> Result<u64> {
    let header = tar_header(member)?;
    Ok(at
        .saturating_add(wide(header.len()))
        .saturating_add(member.size)
        .saturating_add(tar::padding_after(member.size)))
}

/// Writes stored members from several jobs: runs of neighbours, each as soon as the lengths of all before
/// it are known, and by themselves those whose content comes later.
#[derive(Debug)]
pub(crate) struct StoredMembers<'a> {
    file: &'a File,
    headers: Headers,
    turns: Turns,
    pub(super) algorithms: &'a [Algorithm],
    /// Taken by who writes much: the system lets one job at a time write to a file, and the others would only wait.
    pub(super) writing: Mutex<()>,
}

/// A file that is written at its place.
#[derive(Debug)]
pub(crate) struct LaterFile<'a> {
    pub(crate) member: NewMember<'a>,
    pub(crate) at: u64,
    pub(crate) file: File,
    pub(crate) stamp: Stamp,
}

/// Takes the content of a member, block by block.
pub(super) type Sink<'a> = Box<dyn FnMut(&[u8]) -> Result<()> + Send + 'a>;

impl<'a> StoredMembers<'a> {
    pub(super) fn new(
        file: &'a File,
        headers: Headers,
        start: u64,
        algorithms: &'a [Algorithm],
    ) -> Self {
        Self { file, headers, turns: Turns::new(start), algorithms, writing: Mutex::new(()) }
    }

    /// Where the next member begins.
    pub(super) fn end(&self) -> u64 {
        self.turns.at()
    }

    /// Does all of the work on run number `run`, which calls [`Self::write_run`] once. Runs are numbered from 0
    /// without a gap, and begun in their order.
    pub(crate) fn in_turn<T>(&self, run: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.turns.in_turn(run, work)
    }

    /// Gives the members of a run their places, once everything before it has its own, and writes those whose
    /// content is there.
    pub(crate) fn write_run(
        &self,
        run: usize,
        members: &[RunMember<'_>],
        buffers: &mut Buffers,
    ) -> Result<Vec<Placed>> {
        // What may fail comes before the turn.
        let sizes = match self.headers {
            Headers::Zip => Vec::new(),
            Headers::Tar => members
                .iter()
                .map(|RunMember { member, .. }| end_of_tar(member, 0))
                .collect::<Result<_>>()?,
        };
        let contents: Vec<_> = members.iter().filter_map(|run| run.content).collect();
        let mut copied = Copied::of_each(self.algorithms, &contents);
        let mut placed: Vec<Placed> = members
            .iter()
            .map(|RunMember { member, content }| {
                let Some(_) = content else {
                    let record = Record::stored(member, 0, 0);
                    return Placed { digests: Digests::default(), record };
                };
                let Some(copied) = copied.next() else { unreachable!("each content is hashed") };
                Placed::stored(member, 0, copied)
            })
            .collect();
        self.turns.take(run, |mut at| {
            for (index, (placed, run)) in placed.iter_mut().zip(members).enumerate() {
                placed.record.at = at;
                at = match sizes.get(index) {
                    Some(size) => at.saturating_add(*size),
                    None => zip::end_of_stored(&run.member, at),
                };
            }
            (at, ())
        })?;
        let image = &mut buffers.image;
        image.clear();
        let mut start = placed.first().map_or(0, |first| first.record.at);
        for (RunMember { member, content }, placed) in members.iter().zip(&placed) {
            let Some(content) = content else {
                self.file.write_all_at(image, start)?;
                image.clear();
                continue;
            };
            if image.is_empty() {
                start = placed.record.at;
            }
            self.headers.push(image, member, placed.record.at, placed.record.crc)?;
            image.extend_from_slice(content);
            self.headers.pad(image, member);
        }
        self.file.write_all_at(image, start)?;
        Ok(placed)
    }

    /// Writes a member of a run at its place, now that its content is there.
    pub(crate) fn write_later(
        &self,
        member: &NewMember<'_>,
        at: u64,
        content: Content<'_>,
        hashing: Hashing,
        buffers: &mut Buffers,
    ) -> Result<Placed> {
        let Buffers { image, block, .. } = buffers;
        image.clear();
        if member.size <= SMALL {
            block.clear();
            let copied = copy::append(content, self.algorithms, block)?;
            self.headers.push(image, member, at, copied.crc)?;
            image.extend_from_slice(block);
            self.headers.pad(image, member);
            self.file.write_all_at(image, at)?;
            return Ok(Placed::stored(member, at, copied));
        }
        let sink = self.sink(member, at, image)?;
        let copied = copy::copy(content, self.algorithms, hashing, block, sink)?;
        self.enclose(member, at, copied, image)
    }

    /// The same of a file.
    pub(crate) fn write_file_later(
        &self,
        LaterFile { member, at, file, stamp }: LaterFile<'_>,
        hashing: Hashing,
        buffers: &mut Buffers,
    ) -> Result<Placed> {
        self.write_later(&member, at, Content::File(file, stamp), hashing, buffers)
    }

    /// What takes the content of a large member that begins at `at`.
    pub(super) fn sink(
        &self,
        member: &NewMember<'_>,
        at: u64,
        image: &mut Vec<u8>,
    ) -> Result<Sink<'a>> {
        // The checksum is known at the end, the header's length from the beginning.
        image.clear();
        self.headers.push(image, member, at, 0)?;
        let mut next = at.saturating_add(wide(image.len()));
        let file = self.file;
        Ok(Box::new(move |bytes: &[u8]| {
            file.write_all_at(bytes, next)?;
            next = next.saturating_add(wide(bytes.len()));
            Ok(())
        }))
    }

    /// Writes what stands before the content of a large member, and behind it.
    pub(super) fn enclose(
        &self,
        member: &NewMember<'_>,
        at: u64,
        copied: Copied,
        image: &mut Vec<u8>,
    ) -> Result<Placed> {
        image.clear();
        self.headers.push(image, member, at, copied.crc)?;
        self.file.write_all_at(image, at)?;
        let end = at.saturating_add(wide(image.len())).saturating_add(member.size);
        image.clear();
        self.headers.pad(image, member);
        if !image.is_empty() {
            self.file.write_all_at(image, end)?;
        }
        Ok(Placed::stored(member, at, copied))
    }
}

/// Writes all members, and gives where each lies.
pub(super) fn write(
    stored: &StoredMembers<'_>,
    jobs: usize,
    new: NewMembers<'_, '_, '_>,
) -> Result<Vec<Vec<Placed>>> {
    let work = |buffers: &mut Buffers, range: std::ops::Range<usize>| {
        let run = range.start / RUN;
        stored.in_turn(run, || {
            let mut members = Vec::with_capacity(range.len());
            for (index, member) in new.of(range.clone()) {
                let content = match member.kind {
                    MemberKind::Directory => Some(&b""[..]),
                    _ => match (new.source)(index)? {
                        Content::Bytes(bytes) => Some(bytes),
                        // Opened again when it is its turn, since a run may hold many.
                        Content::File(..) | Content::Pieces(_) => None,
                    },
                };
                members.push(RunMember { member, content });
            }
            let mut placed = stored.write_run(run, &members, buffers)?;
            for ((index, run), placed) in range.zip(&members).zip(&mut placed) {
                if run.content.is_none() {
                    let content = (new.source)(index)?;
                    *placed = stored.write_later(
                        &run.member,
                        placed.record.at,
                        content,
                        Hashing::Beside,
                        buffers,
                    )?;
                }
            }
            Ok::<_, Error>(placed)
        })
    };
    pipeline::share(jobs, pipeline::ranges(new.count, RUN), Buffers::default, work)
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    /// Runs with and without members that come later give the file that one run gives.
    #[test]
    fn a_member_that_comes_later_finds_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let sizes = [1, SMALL + 1, 1, 2, SMALL, 700, 1, SMALL + 1];
        let contents: Vec<Vec<u8>> = (0_u8..)
            .zip(sizes)
            .map(|(byte, size)| vec![byte; usize::try_from(size).unwrap()])
            .collect();
        let member = |index: usize| NewMember {
            path: Cow::Owned(index.to_string()),
            kind: MemberKind::File,
            size: sizes[index],
            modified: 0,
            align_at: Some(48).filter(|_| index.is_multiple_of(2)),
        };
        for headers in [Headers::Zip, Headers::Tar] {
            let mut images = Vec::new();
            for (length, is_later) in [(8, 100), (2, 2), (3, 1), (1, 3)] {
                let pending =
                    crate::fs::PendingFile::create(&directory.path().join("a"), true).unwrap();
                let algorithms = [Algorithm::Sha256];
                let stored = StoredMembers::new(pending.file(), headers, 10, &algorithms);
                let mut buffers = Buffers::default();
                let mut later = Vec::new();
                let indexes: Vec<_> = (0..sizes.len()).collect();
                for (run, indexes) in indexes.chunks(length).enumerate() {
                    let content = |index: usize| {
                        (index % is_later != is_later - 1).then_some(&*contents[index])
                    };
                    let members: Vec<_> = indexes
                        .iter()
                        .map(|index| RunMember { member: member(*index), content: content(*index) })
                        .collect();
                    let placed =
                        stored.in_turn(run, || stored.write_run(run, &members, &mut buffers));
                    let placed = placed.unwrap();
                    later.extend(indexes.iter().copied().zip(placed).zip(members).filter_map(
                        |((index, placed), run)| {
                            run.content.is_none().then_some((index, placed.record.at))
                        },
                    ));
                }
                for (index, at) in later.into_iter().rev() {
                    let content = Content::Bytes(&contents[index]);
                    stored
                        .write_later(&member(index), at, content, Hashing::Here, &mut buffers)
                        .unwrap();
                }
                let mut image = vec![0; 4 << 20];
                let len = pending.file().read_at(&mut image, 0).unwrap();
                image.truncate(len);
                images.push((image, stored.turns.at()));
            }
            assert!(images.iter().all(|image| *image == images[0]));
        }
    }
}
