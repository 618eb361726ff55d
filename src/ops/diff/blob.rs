//! The bytes of one file, wherever they lie, read at any offset.

use std::io::{self, BufRead};
use std::sync::Arc;

use super::packs::FileDifference;
use crate::error::Result;
use crate::fs::{self, File};

/// Contents up to this size are kept in memory; those of larger ones that cannot be read where they lie go
/// through a file without a name.
const KEPT: u64 = 4 * 1024 * 1024;

/// Bytes that are copied at once.
const BLOCK: usize = 256 * 1024;

/// The bytes of one file.
#[derive(Debug, Clone)]
pub(super) enum Blob {
    /// A stretch of a file.
    File { file: Arc<File>, start: u64, len: u64 },
    /// In memory.
    Memory(Vec<u8>),
}

impl Blob {
    /// All of an open file.
    pub(super) fn whole(file: File) -> Result<Self> {
        let len = file.len()?;
        Ok(Self::File { file: Arc::new(file), start: 0, len })
    }

    /// What a reader gives, which has to be read to its end. The outer error is that of the place that it is
    /// kept at.
    pub(super) fn keep(reader: &mut dyn BufRead, len: u64) -> Result<io::Result<Self>> {
        if len <= KEPT {
            let mut bytes = Vec::new();
            return Ok(reader.read_to_end(&mut bytes).map(|_| Self::Memory(bytes)));
        }
        let scratch = scratch()?;
        Ok(match append(reader, &scratch, 0)? {
            Ok(len) => Ok(Self::File { file: Arc::new(scratch), start: 0, len }),
            Err(error) => Err(error),
        })
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::File { len, .. } => *len,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Fills `buffer` from an offset on.
    pub(super) fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> Result<()> {
        match self {
            Self::File { file, start, .. } => file.read_exact_at(buffer, start.saturating_add(at)),
            Self::Memory(bytes) => {
                let from = usize::try_from(at).unwrap_or(usize::MAX);
                let there = bytes.get(from..from.saturating_add(buffer.len()));
                buffer.copy_from_slice(there.ok_or_else(super::ends_early)?);
                Ok(())
            }
        }
    }

    /// What reads it from its beginning.
    pub(super) fn reader(&self) -> impl io::Read + '_ {
        self.reader_from(0)
    }

    /// The same from an offset on.
    pub(super) fn reader_from(&self, at: u64) -> impl io::Read + '_ {
        Reader { blob: self, at }
    }
}

struct Reader<'a> {
    blob: &'a Blob,
    at: u64,
}

impl io::Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.blob.len().saturating_sub(self.at);
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        self.blob.read_exact_at(buffer.get_mut(..count).unwrap_or_default(), self.at)?;
        self.at = self.at.saturating_add(count as u64);
        Ok(count)
    }
}

/// A file without a name, gone when it is closed.
pub(super) fn scratch() -> Result<File> {
    fs::scratch_file(&std::env::temp_dir().join("diff"))
}

/// Copies what a reader gives to a place of a file; gives its length. The inner error is that of the reader.
pub(super) fn append(reader: &mut dyn BufRead, file: &File, start: u64) -> Result<io::Result<u64>> {
    let mut block = vec![0; BLOCK];
    let mut len = 0_u64;
    loop {
        let count = match reader.read(&mut block) {
            Ok(0) => return Ok(Ok(len)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Err(error)),
        };
        file.write_all_at(block.get(..count).unwrap_or_default(), start.saturating_add(len))?;
        len = len.saturating_add(count as u64);
    }
}

/// How many bytes from the beginning tell whether a file is text.
const PROBED: u64 = 8000;

/// The first difference of two files; nothing when they are the same.
pub(super) fn compare(a: &Blob, b: &Blob) -> Result<Option<FileDifference>> {
    let are_text = is_text(a)? && is_text(b)?;
    let (mut byte, mut line, mut at) = (None, 1_u64, 0_u64);
    let common = a.len().min(b.len());
    while at < common && byte.is_none() {
        let (ours, theirs) = (block(a, at, common)?, block(b, at, common)?);
        let first = ours.iter().zip(&theirs).position(|(one, other)| one != other);
        let before = ours.get(..first.unwrap_or(ours.len())).unwrap_or_default();
        if are_text {
            line = line.saturating_add(line_ends(before));
        }
        at = at.saturating_add(before.len() as u64);
        byte = first.map(|_| at);
    }
    let Some(byte) = byte.or_else(|| (a.len() != b.len()).then_some(common)) else {
        return Ok(None);
    };
    let mut difference = FileDifference { byte, line: None, lines_a: None, lines_b: None };
    if are_text {
        difference.line = Some(line);
        difference.lines_a = Some(lines(a)?);
        difference.lines_b = Some(lines(b)?);
    }
    Ok(Some(difference))
}

fn block(blob: &Blob, at: u64, end: u64) -> Result<Vec<u8>> {
    let len = (BLOCK as u64).min(end.saturating_sub(at));
    let mut block = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    blob.read_exact_at(&mut block, at)?;
    Ok(block)
}

fn is_text(blob: &Blob) -> Result<bool> {
    let start = block(blob, 0, blob.len().min(PROBED))?;
    Ok(memchr::memchr(0, &start).is_none())
}

/// Lines, the last of which need not end.
fn lines(blob: &Blob) -> Result<u64> {
    let (mut count, mut at, mut ends) = (0_u64, 0, true);
    while at < blob.len() {
        let block = block(blob, at, blob.len())?;
        count = count.saturating_add(line_ends(&block));
        ends = block.last() == Some(&b'\n');
        at = at.saturating_add(block.len() as u64);
    }
    Ok(count.saturating_add(u64::from(!ends)))
}

fn line_ends(block: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', block).count() as u64
}
