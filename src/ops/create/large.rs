//! Large files that have their places, written once everything is known to be right.

use std::ops::Range;

use super::plan::Plan;
use super::wide;
use crate::archive::{Buffers, LaterFile, MemberKind, StoredMembers};
use crate::digest::{Hashing, at_once, time_at_once};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::ops::survey::State;
use crate::parallel::{self, Turn};

impl Plan<'_> {
    /// Copies the files that have their places, the longest first, so that no job is left alone with
    /// one at the end.
    pub(super) fn write_large(&mut self, stored: &StoredMembers<'_>, jobs: usize) -> Result<()> {
        let mut reserved: Vec<_> = self
            .entries
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| match &entry.state {
                State::Reserved(stamp, at) => {
                    Some((index, &entry.path, self.members.of(entry)?, *stamp, *at))
                }
                _ => None,
            })
            .collect();
        if reserved.is_empty() {
            return Ok(());
        }
        reserved.sort_by_key(|(.., stamp, _)| std::cmp::Reverse(stamp.len()));
        let sizes: Vec<u64> = reserved.iter().map(|(.., stamp, _)| stamp.len()).collect();
        let large = sizes.partition_point(|size| StoredMembers::is_large(*size));
        let (large, small) = sizes.split_at_checked(large).unwrap_or((&sizes, &[]));
        let rest = small.iter().fold(0, |sum: u64, size| sum.saturating_add(*size));
        let ways = at_once(self.algorithms);
        let mut turns = parallel::turns(jobs, large, rest, ways, time_at_once);
        turns.extend((large.len()..sizes.len()).map(|piece| Turn::One { piece, outlasts: false }));
        let progress = &self.members.options.progress;
        let open = |piece: usize| {
            let Some((_, path, member, stamp, at)) = reserved.get(piece).cloned() else {
                unreachable!("each turn is of pieces that there are")
            };
            progress.begin(path.as_str(), stamp.len());
            let file = File::open(self.source.join(path.as_str()))?.watched(progress);
            Ok::<_, Error>(LaterFile { member, at, file, stamp })
        };
        let write = |buffers: &mut Buffers, range: Range<usize>| {
            let mut written = Vec::new();
            for turn in turns.get(range).unwrap_or_default() {
                match turn {
                    Turn::One { piece, outlasts } => {
                        let hashing = if *outlasts { Hashing::Beside } else { Hashing::Here };
                        let placed = stored.write_file_later(open(*piece)?, hashing, buffers)?;
                        written.push((*piece, placed));
                        progress.done(1);
                    }
                    Turn::Several(hand) => {
                        let mut files = hand.pieces().map(|piece| Ok((piece, open(piece)?)));
                        let mut placed = |piece, placed| {
                            written.push((piece, placed));
                            progress.done(1);
                        };
                        let width = hand.width();
                        stored.write_files_later(width, &mut files, &mut placed, buffers)?;
                    }
                }
            }
            Ok::<_, Error>(written)
        };
        let bytes = sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size));
        progress.stage("packing", bytes, wide(reserved.len()));
        let written = parallel::map_ranges(jobs, turns.len(), 1, Buffers::default, write)?;
        let states = written.into_iter().flatten().filter_map(|(piece, placed)| {
            let (index, .., stamp, _) = reserved.get(piece)?;
            let state = State::Written(MemberKind::File, stamp.len(), stamp.modified(), placed);
            Some((*index, state))
        });
        let states: Vec<_> = states.collect();
        for (index, state) in states {
            if let Some(entry) = self.entries.get_mut(index) {
                entry.state = state;
            }
        }
        Ok(())
    }
}
