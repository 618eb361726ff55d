//! The digests of the blocks of one file: which bytes they cover, and what they say about them.

use std::ops::Range;

use crate::digest::{BlockDigest, Digest, Digests};
use crate::finding::{Code, Finding};
use crate::manifest::{BlockList, ManifestFault};
use crate::message::counted;
use crate::pack::BLOCK_LIST;

/// Maximum number of ranges in the message.
const MAX_RANGES: usize = 16;

/// The listed digests of the blocks of a file that is longer than one block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileBlocks<'l> {
    /// The name in findings.
    name: &'l str,
    /// Number of bytes in the file and in a block.
    len: u64,
    size: u64,
    digests: &'l [BlockDigest],
}

impl<'l> FileBlocks<'l> {
    /// Returns the digests of a file, whose number must fit its length. `listed` is its name in the list, `name` that in
    /// findings.
    pub(crate) fn of(
        list: &'l BlockList,
        listed: &str,
        len: u64,
        name: &'l str,
    ) -> Result<Self, Box<Finding>> {
        let (expected, found) = (list.expected(len), list.count(listed));
        if expected == found {
            let digests = list.blocks(listed).unwrap_or_default();
            return Ok(Self { name, len, size: list.block_size(), digests });
        }
        let message = format!("`{BLOCK_LIST}` lists another number of blocks than the file has");
        let blocks = |count: u64| counted(count, "block");
        Err(Box::new(
            Finding::new(Code::BadBlockList, message)
                .in_member(name)
                .expected(blocks(expected), blocks(found)),
        ))
    }

    /// Returns the digests in the order of the blocks.
    pub(crate) fn digests(&self) -> &'l [BlockDigest] {
        self.digests
    }

    /// Returns the bytes of some blocks.
    pub(crate) fn bytes(&self, blocks: Range<usize>) -> Range<u64> {
        let offset = |block: usize| self.size.saturating_mul(block as u64).min(self.len);
        offset(blocks.start)..offset(blocks.end)
    }

    /// Returns whether a block has these digests.
    pub(crate) fn confirms(&self, block: usize, found: &Digests) -> bool {
        let expected = self.digests.get(block).map(Digest::of_block);
        expected.is_some_and(|expected| found.by(expected.algorithm()) == Some(expected))
    }

    /// Returns the problem of a file with these digests, which end where its bytes cannot be read.
    pub(crate) fn compare(&self, found: &[BlockDigest]) -> Option<Finding> {
        let blocks = self.digests.iter().enumerate();
        let damaged = blocks.filter(|(at, expected)| found.get(*at) != Some(*expected));
        self.damaged(damaged.map(|(at, _)| at))
    }

    /// Makes the finding about damaged blocks, given in their order, if there are any.
    pub(crate) fn damaged(&self, blocks: impl IntoIterator<Item = usize>) -> Option<Finding> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for block in blocks {
            match ranges.last_mut() {
                Some(range) if range.end == block => range.end += 1,
                _ => ranges.push(block..block + 1),
            }
        }
        let others = ranges.len().saturating_sub(MAX_RANGES);
        let shown = ranges.iter().take(MAX_RANGES).map(|range| {
            let bytes = self.bytes(range.clone());
            format!("{} to {}", bytes.start, bytes.end.saturating_sub(1))
        });
        let shown = shown.collect::<Vec<_>>().join(", ");
        let more = if others > 0 { format!(" and {others} more ranges") } else { String::new() };
        let message = format!(
            "bytes {shown}{more} do not match the digests of their blocks in `{BLOCK_LIST}`"
        );
        let finding = Finding::new(Code::DamagedBlock, message).in_member(self.name);
        (!ranges.is_empty()).then_some(finding)
    }
}

/// Makes the finding about a line of the list of block digests.
pub(crate) fn bad_line(fault: &ManifestFault) -> Finding {
    Finding::new(Code::BadBlockList, fault.message.as_str())
        .in_member(BLOCK_LIST)
        .at_line(fault.line)
}
