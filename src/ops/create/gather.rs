//! One pass over the source in which every file is looked at, and small ones are written as they pass:
//! opening a small file takes longer than reading it, and what is checked is then what is packed.
//!
//! Large files get their places only, where members are stored as they are. Their bytes are copied once everything
//! is known to be right. Where members are compressed, everything from the first large file on is only looked at.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::members::{Members, is_aside};
use crate::archive::{Buffers, MemberKind, Placed, RunMember, Runs, StoredMembers, WriteInOrder};
use crate::error::{Error, Result};
use crate::fs::{Below, Stamp};
use crate::ops::survey::{
    BLOCK, Names, SourceEntry, State, Survey, header_of, read_beginning, read_whole,
};
use crate::pack::{Alike, Content};
use crate::parallel;

/// Bytes of small files that one job holds.
const ROOM: usize = 1024 * 1024;

/// What is written as it passes.
#[derive(Clone, Copy)]
struct Limits {
    /// Files that one job takes at a time.
    step: usize,
    /// The longest of them.
    small: u64,
}

impl Limits {
    /// For what gets its place when there is no room for it.
    const STORED: Self = Self { step: 64, small: 64 * 1024 };
    /// There is room for each.
    const COMPRESSED: Self = Self { step: 32, small: 32 * 1024 };
}

const _: () = assert!(32 * 32 * 1024 <= ROOM);

/// Looks at everything in `names` and writes what is small.
pub(super) fn gather(
    source: &Path,
    names: Names,
    runs: &Runs<'_>,
    members: Members<'_>,
    follow: bool,
    jobs: usize,
) -> Result<Survey> {
    let Names { mut entries, findings } = names;
    let job = || Job {
        below: Below::new(source, follow),
        members,
        block: vec![0; BLOCK],
        room: vec![0; ROOM],
        buffers: Buffers::default(),
        alike: Alike::default(),
    };
    let looked = match runs {
        Runs::Stored(stored) => write_at_places(&mut entries, stored, job, jobs)?,
        Runs::Packed(packed) => write_in_order(&mut entries, &**packed, members, job, jobs)?,
        Runs::Streamed(streamed) => write_in_order(&mut entries, streamed, members, job, jobs)?,
    };
    Ok(Survey::collect(entries, looked, findings))
}

/// Writes stored members, each job its own.
fn write_at_places<'j>(
    entries: &mut [SourceEntry],
    stored: &StoredMembers<'_>,
    job: impl Fn() -> Job<'j> + Sync,
    jobs: usize,
) -> Result<Vec<Vec<Content>>> {
    let Limits { step, small } = Limits::STORED;
    parallel::fill(jobs, entries, step, job, |job, start, entries| {
        let run = start / step;
        stored.in_turn(run, || {
            let looked = job.look(entries, small)?;
            let members = looked.members(job.members, &job.room)?;
            let placed = stored.write_run(run, &members, &mut job.buffers)?;
            drop(members);
            Ok(looked.mark(Some(placed)))
        })
    })
}

/// Packs members by all jobs and writes them here, up to the first one that is not small.
fn write_in_order<'j, W: WriteInOrder>(
    entries: &mut [SourceEntry],
    writer: &W,
    members: Members<'_>,
    job: impl Fn() -> Job<'j> + Sync,
    jobs: usize,
) -> Result<Vec<Vec<Content>>> {
    let Limits { step, small } = Limits::COMPRESSED;
    let runs: Vec<_> = entries.chunks_mut(step).map(|run| Mutex::new(Some(run))).collect();
    // The first run that is not written, as far as is known.
    let end = AtomicUsize::new(usize::MAX);
    let prepare = |job: &mut Job<'_>, number: usize| {
        let run = runs.get(number);
        let run = run.and_then(|run| run.lock().unwrap_or_else(PoisonError::into_inner).take());
        let is_wanted = end.load(Ordering::Relaxed) > number;
        // What is not going to be written now need not be read whole.
        let looked = job.look(run.unwrap_or_default(), if is_wanted { small } else { 0 })?;
        let members = looked.members(members, &job.room)?;
        let prepared = if is_wanted { writer.prepare(&members, &mut job.buffers)? } else { None };
        if prepared.is_none() {
            end.fetch_min(number, Ordering::Relaxed);
        }
        drop(members);
        Ok((looked, prepared))
    };
    let mut buffers = Buffers::default();
    let mut contents = Vec::with_capacity(runs.len());
    let write = |made: Result<(Looked<'_>, Option<W::Run>)>| {
        let (looked, prepared) = made?;
        // Behind one that is not written, what has been prepared is packed later.
        let is_wanted = end.load(Ordering::Relaxed) > contents.len();
        let write = |run| {
            let members = looked.members(members, &[])?;
            let members: Vec<_> = members.into_iter().map(|run| run.member).collect();
            writer.write(&members, run, &mut buffers)
        };
        let placed = prepared.filter(|_| is_wanted).map(write).transpose()?;
        contents.push(looked.mark(placed));
        Ok::<_, Error>(())
    };
    parallel::in_order_with(jobs, runs.len(), job, prepare, write)?;
    Ok(contents)
}

/// What one job works with.
struct Job<'j> {
    below: Below,
    members: Members<'j>,
    /// The beginning of a file that is not held.
    block: Vec<u8>,
    /// The files of one run.
    room: Vec<u8>,
    buffers: Buffers,
    alike: Alike,
}

/// A file that was looked at: how far its bytes reach in the room of the job, if they are there.
struct Seen {
    stamp: Stamp,
    end: Option<usize>,
}

/// A run of entries that were looked at.
struct Looked<'e> {
    entries: &'e mut [SourceEntry],
    /// None of what nobody needs to look at.
    seen: Vec<Option<Seen>>,
    contents: Vec<Content>,
}

impl Job<'_> {
    /// Looks at a run of entries, and reads files up to the length `small` into the room.
    fn look<'e>(&mut self, entries: &'e mut [SourceEntry], small: u64) -> Result<Looked<'e>> {
        let Self { below, members, block, room, alike, .. } = self;
        let progress = &members.options.progress;
        let mut filled = 0;
        let mut seen = Vec::with_capacity(entries.len());
        let mut contents = Vec::with_capacity(entries.len());
        for SourceEntry { path, state, .. } in &*entries {
            if !matches!(state, State::Unseen) {
                seen.push(None);
                contents.push(Content::Other);
                continue;
            }
            progress.at(path.as_str());
            let mut file = below.open(path)?.watched(progress);
            let stamp = file.stamp()?;
            let is_held = stamp.len() <= small && !is_aside(path.as_str());
            let end = usize::try_from(stamp.len()).ok().and_then(|len| len.checked_add(filled));
            let end = end.filter(|end| is_held && *end <= room.len());
            let what = match end {
                Some(end) => {
                    let content = room.get_mut(filled..end);
                    let (what, _) = read_whole(&mut file, path, &stamp, content, alike)?;
                    filled = end;
                    what
                }
                None => read_beginning(&mut file, path, &stamp, block, alike)?,
            };
            seen.push(Some(Seen { stamp, end }));
            contents.push(what);
        }
        progress.done(entries.len());
        Ok(Looked { entries, seen, contents })
    }
}

impl Looked<'_> {
    /// The members of the archive among them, with the contents that lie in `room`.
    fn members<'r>(&'r self, members: Members<'r>, room: &'r [u8]) -> Result<Vec<RunMember<'r>>> {
        let mut start = 0;
        let mut run = Vec::with_capacity(self.entries.len());
        for ((entry, seen), what) in self.entries.iter().zip(&self.seen).zip(&self.contents) {
            let content = match seen {
                Some(Seen { end: Some(end), .. }) => {
                    let content = room.get(start..*end);
                    start = *end;
                    content
                }
                Some(_) => None,
                None => Some(&b""[..]),
            };
            if is_member(entry) {
                let header_len = header_of(what).map(crate::ra::Header::header_len);
                let stamp = seen.as_ref().map(|seen| &seen.stamp);
                let member = members.member(&entry.path, stamp, header_len)?;
                run.push(RunMember { member, content });
            }
        }
        Ok(run)
    }

    /// Says in the entries how far they are, and gives what they are. Where members were written, each has a place.
    fn mark(self, placed: Option<Vec<Placed>>) -> Vec<Content> {
        let is_written = placed.is_some();
        let mut placed = placed.into_iter().flatten();
        for (entry, seen) in self.entries.iter_mut().zip(self.seen) {
            let place = if is_written && is_member(entry) { placed.next() } else { None };
            entry.state = match (seen, place) {
                (Some(Seen { stamp, end: None }), Some(placed)) => {
                    State::Reserved(stamp, placed.record.at)
                }
                (Some(Seen { stamp, .. }), Some(placed)) => {
                    State::Written(MemberKind::File, stamp.len(), stamp.modified(), placed)
                }
                (Some(Seen { stamp, .. }), None) => State::Seen(stamp),
                (None, Some(placed)) => State::Written(MemberKind::Directory, 0, 0, placed),
                (None, None) => continue,
            };
        }
        self.contents
    }
}

fn is_member(SourceEntry { path, state, .. }: &SourceEntry) -> bool {
    match state {
        State::Unseen => !is_aside(path.as_str()),
        State::Directory => true,
        _ => false,
    }
}
