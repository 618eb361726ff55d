//! Changes to a pack.

use std::ops::Range;

use super::kinds::{Kind, Sound};
use crate::bytes::zip_entries;

/// Size of the blocks of a disk and of a tar.
const BLOCK: usize = 512;
/// Length of a range that is overwritten with zeros.
const STRETCH: usize = 16;

/// A change. In a directory, the range of a complete file means the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Flips one bit, counted from the first bit of the first byte.
    Flip(usize),
    /// Removes everything from this offset; in a directory, the rest of the file.
    Cut(usize),
    /// Overwrites a range with zeros.
    Zero(Range<usize>),
    Swap(Unit, Range<usize>, Range<usize>),
    Double(Unit, Range<usize>),
    Drop(Unit, Range<usize>),
}

/// Unit that is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Block,
    /// A member with its header, a record of a zip's directory, or a file of a directory.
    Record,
}

impl Change {
    /// Returns the column of the page.
    pub(crate) fn what(&self) -> &'static str {
        match self {
            Self::Flip(_) => "bits",
            Self::Cut(_) => "lengths",
            Self::Zero(_) => "zeros",
            Self::Swap(unit, ..) | Self::Double(unit, _) | Self::Drop(unit, _) => match unit {
                Unit::Block => "blocks",
                Unit::Record => "records",
            },
        }
    }

    /// Whether the change affects more than a few bytes.
    pub(crate) fn is_large(&self) -> bool {
        matches!(self, Self::Swap(..) | Self::Double(..) | Self::Drop(..))
    }

    /// Returns names and contents of the files after the change; an archive has no name.
    pub(crate) fn apply(&self, sound: &Sound) -> Vec<(String, Vec<u8>)> {
        if sound.files.is_empty() {
            return vec![(String::new(), self.archive(&sound.bytes))];
        }
        let mut files: Vec<_> = sound
            .files
            .iter()
            .map(|(name, range)| (name.clone(), sound.bytes[range.clone()].to_vec()))
            .collect();
        let whole = |wanted: &Range<usize>| {
            sound.files.iter().position(|(_, range)| range == wanted).unwrap()
        };
        let holding = |at: usize| {
            let (index, (_, range)) =
                sound.files.iter().enumerate().find(|(_, (_, range))| range.contains(&at)).unwrap();
            (index, at - range.start)
        };
        match self {
            Self::Flip(bit) => {
                let (file, at) = holding(bit / 8);
                files[file].1[at] ^= 1 << (bit % 8);
            }
            Self::Cut(at) => {
                let (file, at) = holding(*at);
                files[file].1.truncate(at);
            }
            Self::Zero(range) => {
                let (file, at) = holding(range.start);
                files[file].1[at..at + range.len()].fill(0);
            }
            Self::Swap(_, one, other) => {
                let (one, other) = (whole(one), whole(other));
                let content = files[one].1.clone();
                files[one].1 = std::mem::replace(&mut files[other].1, content);
            }
            Self::Double(_, range) => {
                let (name, content) = files[whole(range)].clone();
                files.push((format!("{name}.copy"), content));
            }
            Self::Drop(_, range) => drop(files.remove(whole(range))),
        }
        files
    }

    fn archive(&self, bytes: &[u8]) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        match self {
            Self::Flip(bit) => changed[bit / 8] ^= 1 << (bit % 8),
            Self::Cut(length) => changed.truncate(*length),
            Self::Zero(range) => changed[range.clone()].fill(0),
            Self::Swap(_, one, other) => {
                changed = [
                    &bytes[..one.start],
                    &bytes[other.clone()],
                    &bytes[one.end..other.start],
                    &bytes[one.clone()],
                    &bytes[other.end..],
                ]
                .concat();
            }
            Self::Double(_, range) => {
                drop(changed.splice(range.end..range.end, bytes[range.clone()].to_vec()));
            }
            Self::Drop(_, range) => drop(changed.drain(range.clone())),
        }
        changed
    }
}

/// Returns every change that has an effect.
pub(crate) fn all(kind: &Kind, sound: &Sound) -> Vec<Change> {
    let parts: Vec<Range<usize>> = match &sound.files[..] {
        [] => std::iter::once(0..sound.len()).collect(),
        files => files.iter().map(|(_, range)| range.clone()).collect(),
    };
    let stretches = parts.iter().flat_map(|part| {
        part.clone().step_by(STRETCH).map(|start| start..(start + STRETCH).min(part.end))
    });
    let mut changes: Vec<Change> = (0..sound.len() * 8).map(Change::Flip).collect();
    changes.extend((0..sound.len()).map(Change::Cut));
    changes.extend(
        stretches
            .filter(|range| sound.bytes[range.clone()].iter().any(|byte| *byte != 0))
            .map(Change::Zero),
    );
    if sound.files.is_empty() {
        let blocks = (0..sound.len()).step_by(BLOCK);
        let blocks: Vec<_> = blocks.map(|start| start..(start + BLOCK).min(sound.len())).collect();
        push_moves(Unit::Block, &blocks, sound, &mut changes);
    }
    for records in records(kind, sound) {
        push_moves(Unit::Record, &records, sound, &mut changes);
    }
    changes
}

fn push_moves(unit: Unit, ranges: &[Range<usize>], sound: &Sound, changes: &mut Vec<Change>) {
    for (index, one) in ranges.iter().enumerate() {
        changes.extend([Change::Double(unit, one.clone()), Change::Drop(unit, one.clone())]);
        for other in &ranges[index + 1..] {
            // Empty directories have no content to swap.
            let are_files = !one.is_empty() && !other.is_empty();
            if are_files && sound.bytes[one.clone()] != sound.bytes[other.clone()] {
                changes.push(Change::Swap(unit, one.clone(), other.clone()));
            }
        }
    }
}

/// Returns lists of records of the same kind.
fn records(kind: &Kind, sound: &Sound) -> Vec<Vec<Range<usize>>> {
    match kind.ending {
        "" => vec![sound.files.iter().map(|(_, range)| range.clone()).collect()],
        ".zip" => {
            let entries = zip_entries(&sound.bytes);
            let lengths = |starts: Vec<usize>, end: usize| -> Vec<Range<usize>> {
                let ends = starts.iter().skip(1).copied().chain([end]);
                starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
            };
            let mut headers: Vec<usize> = entries.iter().map(|entry| entry.header).collect();
            headers.sort_unstable();
            let directory = entries.iter().map(|entry| entry.central).min().unwrap();
            vec![
                lengths(headers, directory),
                lengths(entries.iter().map(|entry| entry.central).collect(), sound.len() - 22),
            ]
        }
        ".tar" => vec![tar_members(&sound.bytes).0],
        _ => Vec::new(),
    }
}

/// Returns the members of a tar with plain headers, and the offset of their end.
pub(crate) fn tar_members(bytes: &[u8]) -> (Vec<Range<usize>>, usize) {
    let mut members = Vec::new();
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + BLOCK).filter(|block| block[0] != 0) {
        let Some(size) = std::str::from_utf8(&header[124..135])
            .ok()
            .and_then(|digits| usize::from_str_radix(digits, 8).ok())
        else {
            break;
        };
        let end = at + BLOCK + size.next_multiple_of(BLOCK);
        members.push(at..end.min(bytes.len()));
        at = end;
    }
    (members, at)
}
