//! Packed bytes of members that wait for their places in the archive.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use super::copy::BLOCK;
use crate::error::{Error, Result};
use crate::fs::{self, File};

/// Bytes that stay in memory before they go to a scratch file.
const MAX_IN_MEMORY: usize = 512 * 1024;
/// What may come behind them before they go: a small member, or a block.
const ROOM: usize = MAX_IN_MEMORY + 320 * 1024;

/// What was packed of several members, one behind the other: the last of it in memory, and what does not fit there in
/// a nameless file beside the archive.
pub(super) struct Spool {
    target: Box<Path>,
    memory: Vec<u8>,
    scratch: Option<File>,
    /// Bytes in the scratch file.
    spilled: u64,
}

impl Spool {
    pub(super) fn new(target: &Path) -> Self {
        Self { target: target.into(), memory: Vec::new(), scratch: None, spilled: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.memory.clear();
        self.spilled = 0;
    }

    pub(super) fn len(&self) -> u64 {
        self.spilled.saturating_add(wide(self.memory.len()))
    }

    #[cfg(test)]
    pub(super) fn has_spilled(&self) -> bool {
        self.spilled > 0
    }

    /// Lets `append` put a small member behind the others.
    pub(super) fn append<T>(
        &mut self,
        append: impl FnOnce(&mut Vec<u8>) -> io::Result<T>,
    ) -> Result<T> {
        // To let it grow would leave holes of every size it had.
        self.memory.reserve_exact(ROOM.saturating_sub(self.memory.len()));
        let appended = append(&mut self.memory).map_err(Error::io("compress for", &self.target))?;
        self.spill()?;
        Ok(appended)
    }

    /// Gives a range of it to `sink`, block by block.
    pub(super) fn each_block(
        &self,
        range: Range<u64>,
        mut sink: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let Range { mut start, end } = range;
        if let Some(scratch) = self.scratch.as_ref().filter(|_| start < self.spilled) {
            let mut block = vec![0; BLOCK];
            let spilled = end.min(self.spilled);
            while start < spilled {
                let count = scratch.read_at(&mut block, start)?;
                let count = usize::try_from(spilled - start).unwrap_or(count).min(count);
                if count == 0 {
                    return Err(scratch.changed("the scratch file became shorter"));
                }
                sink(block.split_at(count).0)?;
                start = start.saturating_add(wide(count));
            }
        }
        let place = |at: u64| usize::try_from(at.saturating_sub(self.spilled)).ok();
        match place(start).zip(place(end)).and_then(|(start, end)| self.memory.get(start..end)) {
            Some(packed) => sink(packed),
            None => unreachable!("what was packed is there"),
        }
    }

    /// Makes room in memory, once too much is there.
    fn spill(&mut self) -> Result<()> {
        if self.memory.len() < MAX_IN_MEMORY {
            return Ok(());
        }
        let scratch = match self.scratch.take() {
            Some(scratch) => scratch,
            None => fs::scratch_file(&self.target)?,
        };
        scratch.write_all_at(&self.memory, self.spilled)?;
        self.scratch = Some(scratch);
        self.spilled = self.len();
        self.memory.clear();
        Ok(())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let extend = |memory: &mut Vec<u8>| {
            memory.extend_from_slice(bytes);
            Ok(bytes.len())
        };
        Ok(self.append(extend)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn every_member_comes_back_however_much_is_spilled(
            lengths in prop::collection::vec(
                prop_oneof![4 => 0..100_000_usize, 1 => 0..2 * MAX_IN_MEMORY],
                0..12,
            ),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let mut spool = Spool::new(&directory.path().join("x"));
            for _ in 0..2 {
                spool.clear();
                let mut places = Vec::new();
                for (number, length) in lengths.iter().enumerate() {
                    let content = vec![u8::try_from(number).unwrap() + 1; *length];
                    let start = spool.len();
                    if number.is_multiple_of(2) {
                        spool.write_all(&content).unwrap();
                    } else {
                        spool.append(|memory| memory.write_all(&content)).unwrap();
                    }
                    places.push((start..spool.len(), content));
                }
                for (range, content) in places {
                    let mut back = Vec::new();
                    spool.each_block(range, |block| {
                        back.extend_from_slice(block);
                        Ok(())
                    }).unwrap();
                    prop_assert!(back == content);
                }
            }
        }
    }
}
