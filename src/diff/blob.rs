//! Byte ranges of files that can be read at any offset.

use std::io::BufRead;
use std::sync::Arc;

use super::report::FileDifference;
use crate::archive::{Fault, Stretch, copy};
use crate::digest::{Algorithm, Digests, Hashing};
use crate::error::Result;
use crate::fs::{self, File};
use crate::progress::Progress;

/// Number of bytes read at once.
const COMPARED_AT_ONCE: usize = 256 * 1024;

/// A range of an open file.
#[derive(Debug, Clone)]
pub(super) struct Blob {
    pub(super) file: Arc<File>,
    pub(super) start: u64,
    pub(super) len: u64,
}

impl Blob {
    /// Makes a range of a whole open file.
    pub(super) fn whole(file: File) -> Result<Self> {
        let len = file.len()?;
        Ok(Self { file: Arc::new(file), start: 0, len })
    }

    /// Returns the bytes from an offset on.
    pub(super) fn after(&self, at: u64) -> Self {
        Self { file: Arc::clone(&self.file), start: self.start + at, len: self.len - at }
    }

    pub(super) fn reader(&self) -> Stretch {
        Stretch::new(Arc::clone(&self.file), self.start, self.len)
    }

    /// Returns the bytes in blocks.
    fn blocks(&self) -> impl Iterator<Item = Result<Vec<u8>>> {
        (0..self.len).step_by(COMPARED_AT_ONCE).map(|at| {
            let mut block = vec![0; COMPARED_AT_ONCE];
            block.truncate(usize::try_from(self.len - at).unwrap_or(COMPARED_AT_ONCE));
            self.file.read_exact_at(&mut block, self.start + at).map(|()| block)
        })
    }
}

/// Creates a file without a name, which is deleted when it is closed.
pub(super) fn scratch(progress: &Progress) -> Result<File> {
    fs::scratch_file(&std::env::temp_dir().join("diff"), progress)
}

/// Copies content to an offset of a file, hashes it, and returns its length.
pub(super) fn keep(
    content: &mut dyn BufRead,
    algorithms: &[Algorithm],
    place: Option<(&File, u64)>,
) -> Result<(Digests, u64), Fault> {
    let mut len = 0;
    let sink = |block: &[u8]| {
        if let Some((file, start)) = place {
            file.write_all_at(block, start + len)?;
        }
        len += block.len() as u64;
        Ok(())
    };
    let digests = copy(content, algorithms, Hashing::Here, sink)?;
    Ok((digests, len))
}

/// Number of bytes at the beginning of a file that determine whether it is text.
const PROBED: usize = 8000;

/// Returns the first difference of two files; `None` if they are the same.
pub(super) fn compare(a: &Blob, b: &Blob) -> Result<Option<FileDifference>> {
    let (mut line, mut byte, mut first) = (1, 0, None);
    for (ours, theirs) in a.blocks().zip(b.blocks()) {
        let (ours, theirs) = (ours?, theirs?);
        first = ours.iter().zip(&theirs).position(|(one, other)| one != other);
        let same = first.unwrap_or(ours.len().min(theirs.len()));
        line += line_ends(ours.split_at(same).0);
        byte += same as u64;
        if first.is_some() {
            break;
        }
    }
    if first.is_none() && a.len == b.len {
        return Ok(None);
    }
    let (lines_a, lines_b) = lines(a)?.zip(lines(b)?).unzip();
    Ok(Some(FileDifference { byte, line: lines_a.map(|_| line), lines_a, lines_b }))
}

/// Counts the lines of a text file. The last line need not end.
fn lines(blob: &Blob) -> Result<Option<u64>> {
    let (mut count, mut last) = (0, b'\n');
    for (nth, block) in blob.blocks().enumerate() {
        let block = block?;
        if nth == 0 && memchr::memchr(0, block.get(..PROBED).unwrap_or(&block)).is_some() {
            return Ok(None);
        }
        count += line_ends(&block);
        last = block.last().copied().unwrap_or(last);
    }
    Ok(Some(count + u64::from(last != b'\n')))
}

fn line_ends(block: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', block).count() as u64
}
