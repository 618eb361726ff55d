//! The bytes of one file, wherever they lie, read at any offset.

use std::io::{self, BufRead};
use std::sync::Arc;

use super::report::FileDifference;
use crate::error::Result;
use crate::fs::{self, File};

/// Bytes that are read at once.
const BLOCK: usize = 256 * 1024;

/// A stretch of an open file.
#[derive(Debug, Clone)]
pub(super) struct Blob {
    pub(super) file: Arc<File>,
    pub(super) start: u64,
    pub(super) len: u64,
}

impl Blob {
    /// All of an open file.
    pub(super) fn whole(file: File) -> Result<Self> {
        let len = file.len()?;
        Ok(Self { file: Arc::new(file), start: 0, len })
    }

    /// What stands in it from an offset on.
    pub(super) fn part(&self, at: u64, len: u64) -> Self {
        Self { file: Arc::clone(&self.file), start: self.start + at, len }
    }

    /// Fills `buffer` from an offset on.
    pub(super) fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> Result<()> {
        self.file.read_exact_at(buffer, self.start + at)
    }

    /// What reads it from an offset on.
    pub(super) fn reader_from(&self, at: u64) -> impl io::Read + '_ {
        BlobReader { blob: self, at }
    }

    /// Its bytes, block by block from an offset on.
    fn blocks(&self) -> impl Iterator<Item = Result<Vec<u8>>> {
        (0..self.len).step_by(BLOCK).map(|at| {
            let mut block = vec![0; BLOCK];
            block.truncate(usize::try_from(self.len - at).unwrap_or(BLOCK));
            self.read_exact_at(&mut block, at).map(|()| block)
        })
    }
}

struct BlobReader<'a> {
    blob: &'a Blob,
    at: u64,
}

impl io::Read for BlobReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.blob.len.saturating_sub(self.at);
        let count = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        self.blob.read_exact_at(buffer.split_at_mut(count).0, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// A file without a name, gone when it is closed.
pub(super) fn scratch() -> Result<File> {
    fs::scratch_file(&std::env::temp_dir().join("diff"))
}

/// Reads to the end, has `take` look at each block with its offset, and gives the length.
pub(super) fn read_all(
    content: &mut dyn BufRead,
    mut take: impl FnMut(&[u8], u64) -> io::Result<()>,
) -> io::Result<u64> {
    let mut len = 0;
    loop {
        let block = match content.fill_buf() {
            Ok([]) => return Ok(len),
            Ok(block) => block,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        take(block, len)?;
        let count = block.len();
        len += count as u64;
        content.consume(count);
    }
}

/// How many bytes from the beginning tell whether a file is text.
const PROBED: usize = 8000;

/// The first difference of two files; nothing when they are the same.
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
    let mut difference = FileDifference { byte, line: None, lines_a: None, lines_b: None };
    if is_text(a)? && is_text(b)? {
        difference.line = Some(line);
        difference.lines_a = Some(lines(a)?);
        difference.lines_b = Some(lines(b)?);
    }
    Ok(Some(difference))
}

fn is_text(blob: &Blob) -> Result<bool> {
    let start = blob.blocks().next().transpose()?.unwrap_or_default();
    Ok(memchr::memchr(0, start.get(..PROBED).unwrap_or(&start)).is_none())
}

/// Lines, the last of which need not end.
fn lines(blob: &Blob) -> Result<u64> {
    let (mut count, mut ends) = (0, true);
    for block in blob.blocks() {
        let block = block?;
        count += line_ends(&block);
        ends = block.last() == Some(&b'\n');
    }
    Ok(count + u64::from(!ends))
}

fn line_ends(block: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', block).count() as u64
}
