//! Reads the pieces of a slice of a remote array ahead of their use, several at once.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::fs::File;
use crate::ra::SlicePlan;

/// Maximum number of pieces and bytes that are requested at once.
const PIECES: usize = 4096;
const BYTES: u64 = 16 * 1024 * 1024;
/// Maximum distance of pieces that are requested together. Its bytes cost less than another request.
const GAP: u64 = 1024 * 1024;

/// The pieces of a slice that are not yet requested.
pub(super) struct Ahead<'p> {
    file: Arc<File>,
    /// Offset of the data section.
    data: u64,
    runs: std::iter::Peekable<Box<dyn Iterator<Item = Range<u64>> + 'p>>,
    /// End of the pieces that were requested, in the data section.
    end: u64,
}

impl<'p> Ahead<'p> {
    pub(super) fn new(file: &Arc<File>, data: u64, plan: &'p SlicePlan) -> Self {
        // Runs of a negative step descend, and are read when they are needed.
        let is_remote = file.is_remote() && plan.is_rising();
        let runs: Box<dyn Iterator<Item = _>> =
            if is_remote { Box::new(plan.runs()) } else { Box::new(std::iter::empty()) };
        Self { file: Arc::clone(file), data, runs: runs.peekable(), end: 0 }
    }

    /// Requests pieces until those before `end` are read.
    pub(super) fn reach(&mut self, end: u64) -> Result<()> {
        while self.end < end && self.runs.peek().is_some() {
            let mut pieces: Vec<Range<u64>> = Vec::new();
            let mut begin = None;
            // A gap may be read too, so it counts.
            while let Some(run) = self.runs.next_if(|run| {
                let begin = *begin.get_or_insert(run.start);
                pieces.is_empty() || (pieces.len() < PIECES && run.end - begin <= BYTES)
            }) {
                self.end = run.end;
                let place = |at: u64| self.data.saturating_add(at);
                pieces.push(place(run.start)..place(run.end));
            }
            match &*pieces {
                [long] if long.end - long.start > BYTES => self.file.announce(long.clone()),
                pieces => self.file.fetch(pieces, GAP)?,
            }
        }
        Ok(())
    }
}
