//! Requests ahead of reads: of members with their lines in the manifest, and of the pieces of slices. Requests at the same
//! time take as long as one.

use std::ops::Range;
use std::sync::Arc;

use super::Pack;
use super::manifest::{SEARCHED_FROM, line_of};
use super::state::PackManifest;
use crate::digest::Algorithm;
use crate::error::Result;
use crate::fs::File;
use crate::manifest::ranges_near;
use crate::pack::{self, ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS};
use crate::ra::SlicePlan;

/// Number of bytes requested of a member. The rest of a longer one is requested while these are read.
const FIRST_REQUEST: u64 = 8 * 1024 * 1024;

/// Number of bytes that contain a local header.
const LOCAL_HEADER_REQUEST: u64 = 512;

impl Pack {
    /// Announces that a whole member will be read and compared with the manifest, so that a remote one needs few requests.
    /// A name that is not found is not announced.
    ///
    /// # Errors
    ///
    /// As [`Pack::open`].
    pub fn announce(&self, name: &str) -> Result<()> {
        let archive = &self.state.archive;
        archive.plan(|| {
            let array = format!("{name}.{ARRAY_EXTENSION}");
            for name in [name, &array] {
                if let Some((range, _)) = archive.range_of(name)? {
                    archive.announce_range(range);
                    return self.fetch_with_line(name);
                }
            }
            Ok(())
        })
    }

    /// Returns whether the archive is at a URL or in an object store, so that reads may wait for a server.
    pub fn is_remote(&self) -> bool {
        self.state.archive.costly_seek()
    }

    /// Requests the beginning of an array and its description at once, before they are read one after the other.
    pub(super) fn fetch_start(&self, name: &str) -> Result<()> {
        self.state.archive.plan(|| {
            let stem = name.strip_suffix(&format!(".{ARRAY_EXTENSION}")).unwrap_or(name);
            let extensions = DESCRIPTION_EXTENSIONS.iter().copied().chain([ARRAY_EXTENSION]);
            let names: Vec<_> = extensions.map(|extension| format!("{stem}.{extension}")).collect();
            self.state.archive.fetch_starts(&names)
        })
    }

    /// Requests a member of a zip at once with the part of the manifest that probably lists it.
    pub(super) fn fetch_with_line(&self, member: &str) -> Result<()> {
        self.state.archive.plan(|| self.plan_member_and_line(member))
    }

    fn plan_member_and_line(&self, member: &str) -> Result<()> {
        let (archive, algorithm) = (&self.state.archive, Algorithm::Sha256);
        let manifest = self.state.known.manifest.get().and_then(Option::as_ref);
        if manifest.is_some_and(PackManifest::is_indexed) {
            return Ok(());
        }
        let name = pack::manifest_name(algorithm);
        let Some((content, _)) = archive.range_of(member)? else { return Ok(()) };
        let Some((range, len)) = archive.range_of(&name)? else { return Ok(()) };
        let end = content.end.min(content.start.saturating_add(FIRST_REQUEST));
        let mut ranges: Vec<_> = std::iter::once(content.start..end).collect();
        if len < SEARCHED_FROM {
            ranges.push(range);
        } else if let Some(guess) = archive.lines_before(member, line_of(&name, algorithm))? {
            // The content ends where the next member begins.
            let start = range.end.saturating_sub(len);
            ranges.push(range.start..range.end.min(range.start + LOCAL_HEADER_REQUEST));
            ranges.extend(ranges_near(len, guess).map(|near| near.start + start..near.end + start));
        }
        archive.fetch(ranges)
    }
}

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
        let file = Arc::clone(&self.file);
        file.plan(|| self.request_until(end))
    }

    fn request_until(&mut self, end: u64) -> Result<()> {
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
