//! How two files differ that are not compared as arrays.

use super::super::blob::Blob;
use super::report::FileDifference;
use crate::error::Result;

/// Bytes that are compared at once.
const BLOCK: u64 = 256 * 1024;

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
        at = at.saturating_add(wide(before.len()));
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
    let len = BLOCK.min(end.saturating_sub(at));
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
        at = at.saturating_add(wide(block.len()));
    }
    Ok(count.saturating_add(u64::from(!ends)))
}

fn line_ends(block: &[u8]) -> u64 {
    wide(memchr::memchr_iter(b'\n', block).count())
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
