//! Packed bytes of a large member, which wait for their place in the archive.

use std::io::{self, Write};
use std::path::Path;

use super::copy::BLOCK;
use crate::error::Result;
use crate::fs::{self, File};

/// Packed bytes that stay in memory before they go to a scratch file.
const MAX_IN_MEMORY: usize = 4 * 1024 * 1024;

/// Packed bytes: in memory while they are few, else in a nameless file beside the archive.
pub(super) struct Spool {
    target: Box<Path>,
    memory: Vec<u8>,
    scratch: Option<File>,
    len: u64,
}

impl Spool {
    pub(super) fn new(target: &Path) -> Self {
        Self { target: target.into(), memory: Vec::new(), scratch: None, len: 0 }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Writes what stands before the packed bytes from `start` on, and these behind it; where they end.
    pub(super) fn write_behind(&self, before: &[u8], file: &File, start: u64) -> Result<u64> {
        file.write_all_at(before, start)?;
        let start = start.saturating_add(wide(before.len()));
        let Some(scratch) = &self.scratch else {
            file.write_all_at(&self.memory, start)?;
            return Ok(start.saturating_add(self.len));
        };
        let mut block = vec![0; BLOCK];
        let mut done = 0;
        while done < self.len {
            let count = scratch.read_at(&mut block, done)?;
            let count = usize::try_from(self.len - done).unwrap_or(count).min(count);
            if count == 0 {
                return Err(scratch.changed("the scratch file became shorter"));
            }
            file.write_all_at(block.get(..count).unwrap_or_default(), start.saturating_add(done))?;
            done = done.saturating_add(wide(count));
        }
        Ok(start.saturating_add(self.len))
    }

    fn spill(&mut self, bytes: &[u8]) -> Result<()> {
        let scratch = match self.scratch.take() {
            Some(scratch) => scratch,
            None => {
                let scratch = fs::scratch_file(&self.target)?;
                scratch.write_all_at(&self.memory, 0)?;
                self.memory = Vec::new();
                scratch
            }
        };
        scratch.write_all_at(bytes, self.len)?;
        self.scratch = Some(scratch);
        Ok(())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = self.memory.len().saturating_add(bytes.len()) <= MAX_IN_MEMORY;
        if self.scratch.is_none() && fits {
            self.memory.extend_from_slice(bytes);
        } else {
            self.spill(bytes)?;
        }
        self.len = self.len.saturating_add(wide(bytes.len()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
