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
    BLOCK, Looked, Name, Names, State, Survey, header_of, read_beginning, read_whole,
};
use crate::pack::Content;
use crate::parallel;

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
    let Names { names, findings } = names;
    let occupied = occupied(&names);
    let job = || Job {
        below: Below::new(source, follow),
        block: vec![0; BLOCK],
        room: vec![0; ROOM],
        buffers: Buffers::default(),
    };
    let looked = parallel::map_ranges(jobs, names.len(), STEP, job, |job, range| {
        let run = range.start / STEP;
        let names = names.get(range).unwrap_or_default();
        stored.in_turn(run, || write_run(names, run, &occupied, stored, members, job))
    })?;
    drop(occupied);
    Ok(Survey::collect(names, looked, findings))
}

/// The directories that hold something, which need no member of their own.
fn occupied(names: &[Name]) -> HashSet<&str> {
    let mut occupied = HashSet::new();
    let mut last = None;
    for name in names {
        let parent = name.path.parent();
        if parent != last {
            occupied.extend(parent);
            last = parent;
        }
    }
    occupied
}

fn write_run(
    names: &[Name],
    run: usize,
    occupied: &HashSet<&str>,
    stored: &StoredMembers<'_>,
    members: Members<'_>,
    job: &mut Job,
) -> Result<Vec<Looked>> {
    let Job { below, block, room, buffers } = job;
    let mut filled = 0;
    let mut seen = Vec::with_capacity(names.len());
    for name in names {
        if !name.is_file {
            seen.push((None, Content::Other));
            continue;
        }
        let path = &name.path;
        let mut file = below.open(path)?;
        let stamp = file.stamp()?;
        let end = usize::try_from(stamp.len()).ok().and_then(|len| len.checked_add(filled));
        let end = end
            .filter(|end| stamp.len() <= SMALL && *end <= room.len() && !is_aside(path.as_str()));
        let what = match end {
            Some(end) => {
                let (what, _) = read_whole(&mut file, path, &stamp, room.get_mut(filled..end))?;
                filled = end;
                what
            }
            None => read_beginning(&mut file, path, &stamp, block)?,
        };
        seen.push((Some(Seen { stamp, end }), what));
    }
    let is_member = |name: &Name| {
        if name.is_file {
            !is_aside(name.path.as_str())
        } else {
            members.has_directory(&name.path) && !occupied.contains(name.path.as_str())
        }
    };
    let mut start = 0;
    let mut new = Vec::with_capacity(names.len());
    for (name, (seen, what)) in names.iter().zip(&seen) {
        let content = match seen {
            Some(Seen { end: Some(end), .. }) => {
                let content = room.get(start..*end);
                start = *end;
                content
            }
            Some(_) => None,
            None => Some(&b""[..]),
        };
        if is_member(name) {
            let header_len = header_of(what).map(crate::ra::Header::header_len);
            let stamp = seen.as_ref().map(|seen| &seen.stamp);
            let member = members.member(&name.path, stamp, header_len)?;
            new.push(RunMember { member, content });
        }
    }
    let mut placed = stored.write_run(run, &new, buffers)?.into_iter();
    let looked = names.iter().zip(seen).map(|(name, (seen, what))| {
        let place = if is_member(name) { placed.next() } else { None };
        let state = match (seen, place) {
            (Some(Seen { stamp, end: None }), Some(placed)) => State::Reserved(stamp, placed.at),
            (Some(Seen { stamp, .. }), Some(placed)) => {
                State::Written(MemberKind::File, stamp.len(), stamp.modified(), placed)
            }
            (Some(Seen { stamp, .. }), None) => State::Seen(stamp),
            (None, Some(placed)) => State::Written(MemberKind::Directory, 0, 0, placed),
            (None, None) => State::Directory,
        };
        Looked { state, what }
    });
    Ok(looked.collect())
}
