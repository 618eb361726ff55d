//! One pass over the source in which every file is looked at, and small ones are written as they pass:
//! opening a small file takes longer than reading it, and what is checked is then what is packed.
//!
//! Large files get their places only. Their bytes are copied once everything is known to be right.

use std::collections::HashSet;
use std::path::Path;

use super::members::{Members, is_aside};
use crate::archive::{Buffers, MemberKind, RunMember, StoredMembers};
use crate::error::Result;
use crate::fs::{Below, Stamp};
use crate::ops::survey::{
    BLOCK, Names, SourceEntry, State, Survey, header_of, read_beginning, read_whole,
};
use crate::pack::{Alike, Content};
use crate::parallel;
use crate::path::MemberPath;

/// Files that one job takes at a time.
const STEP: usize = 64;
/// Longest file that is written as it passes.
const SMALL: u64 = 64 * 1024;
/// Bytes of such files that one job holds.
const ROOM: usize = 512 * 1024;

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
    stored: &StoredMembers<'_>,
    members: Members<'_>,
    follow: bool,
    jobs: usize,
) -> Result<Survey> {
    let Names { mut entries, findings } = names;
    let occupied = occupied(&entries);
    let job = || Job {
        below: Below::new(source, follow),
        block: vec![0; BLOCK],
        room: vec![0; ROOM],
        buffers: Buffers::default(),
        alike: Alike::default(),
    };
    let looked = parallel::fill(jobs, &mut entries, STEP, job, |job, start, entries| {
        let run = start / STEP;
        stored.in_turn(run, || write_run(entries, run, &occupied, stored, members, job))
    })?;
    drop(occupied);
    Ok(Survey::collect(entries, looked, findings))
}

/// The directories that hold something, which need no member of their own.
fn occupied(entries: &[SourceEntry]) -> HashSet<Box<str>> {
    let mut occupied = HashSet::new();
    let mut last = None;
    for entry in entries {
        let parent = entry.path.parent();
        if parent != last {
            occupied.extend(parent.map(Box::from));
            last = parent;
        }
    }
    occupied
}

fn write_run(
    entries: &mut [SourceEntry],
    run: usize,
    occupied: &HashSet<Box<str>>,
    stored: &StoredMembers<'_>,
    members: Members<'_>,
    job: &mut Job,
) -> Result<Vec<Content>> {
    let Job { below, block, room, buffers, alike } = job;
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
            .filter(|end| stamp.len() <= SMALL && *end <= room.len() && !is_aside(path.as_str()));
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
    let is_member = |path: &MemberPath, is_file: bool| {
        if is_file {
            !is_aside(path.as_str())
        } else {
            members.has_directory(path) && !occupied.contains(path.as_str())
        }
    };
    let mut start = 0;
    let mut new = Vec::with_capacity(entries.len());
    for ((SourceEntry { path, .. }, seen), what) in entries.iter().zip(&seen).zip(&contents) {
        let content = match seen {
            Some(Seen { end: Some(end), .. }) => {
                let content = room.get(start..*end);
                start = *end;
                content
            }
            Some(_) => None,
            None => Some(&b""[..]),
        };
        if is_member(path, seen.is_some()) {
            let header_len = header_of(what).map(crate::ra::Header::header_len);
            let stamp = seen.as_ref().map(|seen| &seen.stamp);
            let member = members.member(path, stamp, header_len)?;
            new.push(RunMember { member, content });
        }
    }
    members.options.progress.done(entries.len());
    let mut placed = stored.write_run(run, &new, buffers)?.into_iter();
    for (SourceEntry { path, state, .. }, seen) in entries.iter_mut().zip(seen) {
        let place = if is_member(path, seen.is_some()) { placed.next() } else { None };
        *state = match (seen, place) {
            (Some(Seen { stamp, end: None }), Some(placed)) => State::Reserved(stamp, placed.at),
            (Some(Seen { stamp, .. }), Some(placed)) => {
                State::Written(MemberKind::File, stamp.len(), stamp.modified(), placed)
            }
            (Some(Seen { stamp, .. }), None) => State::Seen(stamp),
            (None, Some(placed)) => State::Written(MemberKind::Directory, 0, 0, placed),
            (None, None) => State::Directory,
        };
    }
    Ok(contents)
}
