//! Large files that have their places, written once everything is known to be right.

use std::iter;
use std::sync::{Mutex, PoisonError};

use super::plan::Plan;
use super::wide;
use crate::archive::{Buffers, LaterFile, MemberKind, StoredMembers};
use crate::digest::{Hashing, at_once, width};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::ops::survey::State;
use crate::pipeline;

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
        let bytes = reserved.iter().map(|(.., stamp, _)| stamp.len()).fold(0, u64::saturating_add);
        let progress = &self.members.options.progress;
        progress.stage("packing", bytes, wide(reserved.len()));
        let width = width(at_once(self.algorithms), reserved.len(), jobs);
        let queue = Mutex::new(reserved.into_iter());
        let next = || {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            next.map(|(index, path, member, stamp, at)| {
                progress.begin(path.as_str(), stamp.len());
                let file = File::open(self.source.join(path.as_str()))?.watched(progress);
                Ok::<_, Error>((index, LaterFile { member, at, file, stamp }))
            })
        };
        let write = |buffers: &mut Buffers, _| {
            let mut states = Vec::new();
            let mut done = |index, size, modified, placed| {
                states.push((index, State::Written(MemberKind::File, size, modified, placed)));
                progress.done(1);
            };
            if width > 1 {
                stored.write_files_later(width, &mut iter::from_fn(next), &mut done, buffers)?;
                return Ok::<_, Error>(states);
            }
            while let Some(next) = next() {
                let (index, file) = next?;
                let (size, modified) = (file.stamp.len(), file.stamp.modified());
                // Longer than the other jobs have work.
                let is_longest = jobs > 1 && size.saturating_mul(jobs as u64) > bytes;
                let hashing = if is_longest { Hashing::Beside } else { Hashing::Here };
                let placed = stored.write_file_later(file, hashing, buffers)?;
                done(index, size, modified, placed);
            }
            Ok(states)
        };
        let written = pipeline::share(jobs, 0..jobs, Buffers::default, write);
        let states: Vec<_> = written?.into_iter().flatten().collect();
        for (index, state) in states {
            if let Some(entry) = self.entries.get_mut(index) {
                entry.state = state;
            }
        }
        Ok(())
    }
}
