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
    member: Extents,
    runs: std::iter::Peekable<Box<dyn Iterator<Item = Range<u64>> + 'p>>,
    /// End of the pieces that were requested, in the data section.
    end: u64,
}

/// The bytes of a member that are read for a piece of its data section.
pub(super) struct Extents {
    /// Offset of the member in the archive.
    pub(super) start: u64,
    /// Number of bytes in the member.
    pub(super) len: u64,
    /// Number of bytes before the data section.
    pub(super) header_len: u64,
    /// Number of bytes per block, if complete blocks are read to compare them with their digests.
    pub(super) block_size: Option<u64>,
}

impl Extents {
    /// Returns the range of the archive that is read for a range of the data section.
    fn of(&self, run: &Range<u64>) -> Range<u64> {
        let (mut from, mut to) = (self.header_len + run.start, self.header_len + run.end);
        if let Some(size) = self.block_size {
            from -= from % size;
            to = to.div_ceil(size).saturating_mul(size).min(self.len);
        }
        self.start.saturating_add(from)..self.start.saturating_add(to)
    }
}

impl<'p> Ahead<'p> {
    pub(super) fn new(file: &Arc<File>, member: Extents, plan: &'p SlicePlan) -> Self {
        // Runs of a negative step descend, and are read when they are needed.
        let runs: Box<dyn Iterator<Item = _>> =
            if plan.is_rising() { Box::new(plan.runs()) } else { Box::new(std::iter::empty()) };
        Self { file: Arc::clone(file), member, runs: runs.peekable(), end: 0 }
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
                let piece = self.member.of(&run);
                match pieces.last_mut() {
                    Some(last) if piece.start < last.end => last.end = last.end.max(piece.end),
                    _ => pieces.push(piece),
                }
            }
            if pieces.iter().map(|piece| piece.end - piece.start).sum::<u64>() > BYTES {
                for long in pieces {
                    self.file.announce(long);
                }
            } else {
                self.file.fetch(&pieces, GAP)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_blocks_are_read_for_a_piece_with_digests() {
        let mut member = Extents { start: 1000, len: 250, header_len: 56, block_size: None };
        assert_eq!(member.of(&(44..45)), 1100..1101);
        member.block_size = Some(100);
        assert_eq!(member.of(&(44..45)), 1100..1200);
        assert_eq!(member.of(&(43..45)), 1000..1200);
        assert_eq!(member.of(&(0..194)), 1000..1250);
    }
}
