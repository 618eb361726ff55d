//! A block of an archive that holds what is looked at next, so that neighbours are read together.

use std::sync::Arc;

use super::data::{BLOCK, Inflater};
use crate::error::Result;
use crate::fs::File;

/// Members up to this size, with their headers, are read at once when they are read by name.
pub(super) const SMALL: u64 = 64 * 1024;
/// As much as the headers of nearly all members need, the header of an array included.
const HEADERS: u64 = 512;

/// The block, and what it is read from.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) file: Arc<File>,
    start: u64,
    bytes: Vec<u8>,
    /// Nothing from here on is read ahead.
    pub(super) limit: u64,
    /// What decodes small members, one after the other.
    pub(super) inflater: Option<Inflater<'static>>,
}

impl Window {
    pub(super) fn new(file: Arc<File>) -> Self {
        Self { file, start: 0, bytes: Vec::new(), limit: 0, inflater: None }
    }

    /// Prepares for a member that is read by its name and lies between `offset` and `end`. Where one is
    /// read behind the other, many are read at once, up to `limit`.
    pub(super) fn aim(&mut self, offset: u64, end: u64, limit: u64) {
        let read = self.bytes.len() as u64;
        let read = self.start..self.start.saturating_add(read).saturating_add(SMALL);
        let ahead = if end.saturating_sub(offset) > SMALL {
            HEADERS
        } else if !self.bytes.is_empty() && read.contains(&offset) {
            u64::try_from(BLOCK).unwrap_or(SMALL)
        } else {
            end.saturating_sub(offset)
        };
        self.limit = offset.saturating_add(ahead).min(limit);
    }

    /// Prepares for the content of a member whose header was read. Where another was looked at since, nothing is
    /// read but the content.
    pub(super) fn aim_back(&mut self, offset: u64, length: usize) {
        let end = self.start.saturating_add(self.bytes.len() as u64);
        if !(self.start..=end).contains(&offset) {
            self.limit = offset.saturating_add(length as u64);
        }
    }

    /// `length` bytes from `offset`; `None` when the file does not hold them.
    pub(super) fn get(&mut self, offset: u64, length: usize) -> Result<Option<&[u8]>> {
        let inside = |this: &Self| {
            let from = usize::try_from(offset.checked_sub(this.start)?).ok()?;
            let range = from..from.checked_add(length)?;
            (range.end <= this.bytes.len()).then_some(range)
        };
        if inside(self).is_none() {
            let ahead = self.limit.saturating_sub(offset);
            let ahead = usize::try_from(ahead).unwrap_or(BLOCK).min(BLOCK);
            self.start = offset;
            self.bytes.resize(length.max(ahead), 0);
            let result = self.file.read_at(&mut self.bytes, offset);
            // What was not read must not be taken for what the file holds.
            self.bytes.truncate(*result.as_ref().unwrap_or(&0));
            result?;
        }
        Ok(inside(self).and_then(|range| self.bytes.get(range)))
    }
}
