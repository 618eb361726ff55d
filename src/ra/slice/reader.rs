//! Reads the result of a plan with positive steps in parts.

use std::io;

use super::{Loop, MAX_GAP, SPAN, SlicePlan};

impl SlicePlan {
    /// Returns a reader for the result in parts. The plan must not have negative steps.
    pub(crate) fn reader(&self) -> SliceReader {
        let (inner, outer) = match self.loops.split_first() {
            Some((inner, outer)) if inner.step <= MAX_GAP => (*inner, outer),
            _ => (Loop { count: 1, step: 1 }, &*self.loops),
        };
        let starts = Box::new(self.starts(outer).map(u64::cast_signed));
        SliceReader { run: self.run, inner, starts, start: 0, done: inner.count, within: 0 }
    }
}

/// The position in the result of a plan.
pub(crate) struct SliceReader {
    /// Length of each run in bytes.
    run: i64,
    inner: Loop,
    /// The offsets of the remaining inner loops, and of the current one.
    starts: Box<dyn Iterator<Item = i64>>,
    start: i64,
    /// Number of runs of the inner loop that were read, and bytes of the next one.
    done: i64,
    within: i64,
}

impl SliceReader {
    /// Fills `out` with the next bytes of the result. It must have complete elements and not be longer than the rest.
    pub(crate) fn fill(
        &mut self,
        mut out: &mut [u8],
        read_at: &mut dyn FnMut(u64, &mut [u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let small = |len: i64| {
            usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))
        };
        let Loop { count, step } = self.inner;
        let mut span = Vec::new();
        while !out.is_empty() {
            if self.done == count {
                let ended = || io::Error::from(io::ErrorKind::UnexpectedEof);
                (self.start, self.done) = (self.starts.next().ok_or_else(ended)?, 0);
            }
            let first = self.start + step * self.done;
            let room = i64::try_from(out.len()).unwrap_or(i64::MAX);
            let whole = if self.within > 0 { 0 } else { room / self.run };
            let here = whole.min(count - self.done).min((SPAN / step).max(1));
            if here < 2 {
                let len = room.min(self.run - self.within);
                let (piece, rest) = out.split_at_mut(small(len)?);
                read_at((first + self.within).cast_unsigned(), piece)?;
                self.within = (self.within + len) % self.run;
                self.done += i64::from(self.within == 0);
                out = rest;
                continue;
            }
            span.resize(small(step * (here - 1) + self.run)?, 0);
            read_at(first.cast_unsigned(), &mut span)?;
            let (pieces, rest) = out.split_at_mut(small(here * self.run)?);
            let mut at = 0;
            for piece in pieces.chunks_mut(small(self.run)?) {
                piece.copy_from_slice(span.split_at(small(at)?).1.split_at(piece.len()).0);
                at += step;
            }
            self.done += here;
            out = rest;
        }
        Ok(())
    }
}
