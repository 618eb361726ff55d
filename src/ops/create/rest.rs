//! What was not written as it passed: everything from the run with the first large file of a compressed archive on, or
//! all of it where descriptions are made.

use super::members::check_name;
use super::plan::Plan;
use super::wide;
use crate::archive::{ArchiveWriter, NewContent, NewMembers};
use crate::error::{Error, Result};
use crate::fs::{File, Stamp};
use crate::ops::survey::{Kept, SourceEntry, State};

impl Plan<'_> {
    /// The numbers of the entries that are members and have not been written.
    pub(super) fn rest(&self) -> Vec<usize> {
        let is_left = |entry: &SourceEntry| match entry.state {
            State::Directory | State::Seen(_) | State::Kept(..) | State::Made(_) => true,
            State::Implied | State::Unseen | State::Reserved(..) | State::Written(..) => false,
        };
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(index, entry)| is_left(entry).then_some(index)).collect()
    }

    /// Writes these entries in their order.
    pub(super) fn write_rest(
        &mut self,
        rest: &[usize],
        writer: &mut ArchiveWriter<'_>,
        kept: &Kept,
    ) -> Result<()> {
        let progress = &self.members.options.progress;
        let left = || rest.iter().filter_map(|index| self.entries.get(*index));
        for member in left().filter_map(|entry| self.members.of(entry)) {
            check_name(&member)?;
        }
        let sizes = left().filter_map(|entry| Some(entry.state.stamp()?.len()));
        let files = left().filter(|entry| !matches!(entry.state, State::Directory)).count();
        progress.stage("packing", sizes.fold(0, u64::saturating_add), wide(files));
        let entry = |index: usize| self.entries.get(*rest.get(index)?);
        let written = writer.write(NewMembers {
            count: rest.len(),
            member: &|index| self.members.of(entry(index)?),
            source: &|index| match entry(index) {
                Some(entry) => self.content(entry, kept),
                None => Ok(NewContent::Bytes(b"")),
            },
            algorithms: self.algorithms,
        })?;
        let mut written = written.into_iter().flatten();
        for index in rest {
            // Each of them is a member, and was written.
            let (Some(entry), Some(placed)) = (self.entries.get_mut(*index), written.next()) else {
                return Err(Error::Interrupted);
            };
            let Some(member) = self.members.of(entry) else { return Err(Error::Interrupted) };
            let (kind, size, modified) = (member.kind, member.size, member.modified);
            entry.state = State::Written(kind, size, modified, placed);
        }
        Ok(())
    }

    fn content<'s>(&'s self, entry: &'s SourceEntry, kept: &'s Kept) -> Result<NewContent<'s>> {
        let progress = &self.members.options.progress;
        let SourceEntry { path, state, .. } = entry;
        progress.begin(path.as_str(), state.stamp().map_or(0, Stamp::len));
        progress.done(1);
        match (state, state.stamp()) {
            (State::Kept(stamp, place), _) => {
                let bytes = kept.get(*place, stamp.len()).unwrap_or_default();
                progress.add(bytes.len());
                Ok(NewContent::Bytes(bytes))
            }
            (_, Some(stamp)) => {
                let file = File::open(self.source.join(path.as_str()))?.watched(progress);
                Ok(NewContent::File(file, *stamp))
            }
            (State::Made(text), None) => Ok(NewContent::Bytes(text)),
            (_, None) => Ok(NewContent::Bytes(b"")),
        }
    }
}
