//! One pass over the source in which every file is looked at, and small ones are written as they pass:
//! opening a small file takes longer than reading it, and what is checked is then what is packed.
//!
//! Large files get their places only, where members are stored as they are. Their bytes are copied once everything
//! is known to be right. Where members are compressed, everything from the first large file on is only looked at.

use std::path::Path;

use super::members::{Members, is_aside};
use crate::archive::{Buffers, MemberKind, RunMember, Runs};
use crate::error::Result;
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

/// What one job works with.
struct Job {
    below: Below,
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
    let limits = if runs.stored().is_some() { Limits::STORED } else { Limits::COMPRESSED };
    let job = || Job {
        below: Below::new(source, follow),
        block: vec![0; BLOCK],
        room: vec![0; ROOM],
        buffers: Buffers::default(),
        alike: Alike::default(),
    };
    let looked = parallel::fill(jobs, &mut entries, limits.step, job, |job, start, entries| {
        let run = start / limits.step;
        runs.in_turn(run, || write_run(entries, run, limits.small, runs, members, job))
    })?;
    Ok(Survey::collect(entries, looked, findings))
}

fn write_run(
    entries: &mut [SourceEntry],
    run: usize,
    small: u64,
    runs: &Runs<'_>,
    members: Members<'_>,
    job: &mut Job,
) -> Result<Vec<Content>> {
    let Job { below, block, room, buffers, alike } = job;
    // What is not going to be written now need not be read whole.
    let small = if runs.are_closed() { 0 } else { small };
    let mut filled = 0;
    let mut seen = Vec::with_capacity(entries.len());
    let mut contents = Vec::with_capacity(entries.len());
    for SourceEntry { path, state, .. } in &*entries {
        if !matches!(state, State::Unseen) {
            seen.push(None);
            contents.push(Content::Other);
            continue;
        }
        let progress = &members.options.progress;
        progress.at(path.as_str());
        let mut file = below.open(path)?.watched(progress);
        let stamp = file.stamp()?;
        let end = usize::try_from(stamp.len()).ok().and_then(|len| len.checked_add(filled));
        let end = end
            .filter(|end| stamp.len() <= small && *end <= room.len() && !is_aside(path.as_str()));
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
    let is_member = |SourceEntry { path, state, .. }: &SourceEntry| match state {
        State::Unseen => !is_aside(path.as_str()),
        State::Directory => true,
        _ => false,
    };
    let mut start = 0;
    let mut new = Vec::with_capacity(entries.len());
    for ((entry, seen), what) in entries.iter().zip(&seen).zip(&contents) {
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
            new.push(RunMember { member, content });
        }
    }
    members.options.progress.done(entries.len());
    let written = runs.write_run(run, &new, buffers)?;
    let is_written = written.is_some();
    let mut placed = written.into_iter().flatten();
    for (entry, seen) in entries.iter_mut().zip(seen) {
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
    Ok(contents)
}
