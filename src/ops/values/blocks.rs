//! The elements of a part of an array, a block at a time, for several threads to work on.
//!
//! One thread at a time reads, in the order of the file, since most containers give a member only so and
//! a digest can be taken only so. Blocks are of a fixed number of elements whatever lies in the file, so
//! that sums over them come to the same bits wherever an array is kept and however many threads there are.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::selection::{Pieces, Selection};
use crate::error::Result;
use crate::ops::open::PackedArray;
use crate::pipeline;
use crate::ra::{Header, ReadError, SlicePlan};

/// Elements of a block.
pub(in crate::ops) const BLOCK: usize = 1 << 16;

/// Blocks that are handed out before their results are taken in: what bounds the memory for results, which
/// may be as long as the blocks.
const ROUND: u64 = 32;

/// Fills a buffer from an offset of the data section. Offsets rise from call to call.
pub(in crate::ops) type ReadAt<'r> = dyn FnMut(u64, &mut [u8]) -> io::Result<()> + Send + 'r;

/// Has `work` look at each block of elements, in this machine's byte order, on `jobs` threads that have a
/// `state` of their own each; `take` gets the results in the order of the file. Answers whether a manifest
/// vouches for the elements.
pub(in crate::ops) fn for_each<S, T: Send>(
    array: &PackedArray<'_>,
    selection: &Selection,
    jobs: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &[u8]) -> T + Sync,
    mut take: impl FnMut(T),
) -> Result<bool> {
    array.check_elements(selection.elements())?;
    // What is not stored has more to be read, as is said when it is.
    let size = array.header()?.element().elbyte().saturating_mul(selection.elements());
    array.begin(Some(size));
    let ((), verified) = array.with_data(selection.is_whole(), |header, read_at| {
        let reader = Mutex::new(Reader::new(header, selection, read_at, BLOCK));
        let blocks = selection.elements().div_ceil(u64::try_from(BLOCK).unwrap_or(1));
        let mut done = 0;
        while done < blocks {
            let round = blocks.saturating_sub(done).min(ROUND);
            done = done.saturating_add(round);
            let mut results = pipeline::share(
                jobs,
                0..usize::try_from(round).unwrap_or(0),
                || (Vec::new(), state()),
                |(buffer, state), _| {
                    let number =
                        reader.lock().unwrap_or_else(PoisonError::into_inner).next(buffer)?;
                    Ok::<_, ReadError>((number, work(state, buffer)))
                },
            )?;
            results.sort_unstable_by_key(|(number, _)| *number);
            for (_, result) in results {
                take(result);
            }
        }
        Ok(())
    })?;
    Ok(verified)
}

/// Reads pieces, and gives blocks.
struct Reader<'r> {
    header: &'r Header,
    elbyte: u64,
    dims: Vec<u64>,
    pieces: Pieces,
    read_at: &'r mut ReadAt<'r>,
    /// Bytes of a block.
    block: usize,
    /// Of a piece that went beyond its block.
    left: Vec<u8>,
    number: u64,
}

impl<'r> Reader<'r> {
    fn new(
        header: &'r Header,
        selection: &Selection,
        read_at: &'r mut ReadAt<'r>,
        elements: usize,
    ) -> Self {
        let elbyte = header.element().elbyte();
        let bytes = u64::try_from(elements).unwrap_or(u64::MAX).saturating_mul(elbyte);
        let pieces = selection.pieces(bytes);
        Self {
            header,
            elbyte,
            dims: pieces.dims.clone(),
            pieces,
            read_at,
            block: usize::try_from(bytes).unwrap_or(usize::MAX),
            left: Vec::new(),
            number: 0,
        }
    }

    /// Reads the next block, and answers its number.
    fn next(&mut self, block: &mut Vec<u8>) -> Result<u64, ReadError> {
        block.clear();
        std::mem::swap(block, &mut self.left);
        while block.len() < self.block {
            let Some(slice) = self.pieces.next() else { break };
            let plan = SlicePlan::new(&self.dims, self.elbyte, &slice)?;
            let start = block.len();
            let length = usize::try_from(plan.data_len()).unwrap_or(usize::MAX);
            block.resize(start.saturating_add(length), 0);
            let piece = block.get_mut(start..).unwrap_or_default();
            plan.read_into(piece, &mut self.read_at)?;
            self.header.swap_to_native(piece)?;
        }
        if block.len() > self.block {
            self.left.clear();
            self.left.extend_from_slice(block.get(self.block..).unwrap_or_default());
            block.truncate(self.block);
        }
        let number = self.number;
        self.number = number.saturating_add(1);
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ndl::Order;
    use crate::ra::ElementType;

    proptest! {
        #[test]
        fn blocks_are_the_selection_cut_into_equal_parts(
            dims in prop::collection::vec(1..9_u64, 1..4), step in 1..3_u64, block in 1..20_usize,
        ) {
            let header = Header::new(ElementType::UINT16, dims.clone()).unwrap().big_endian();
            let slices: Vec<_> = dims.iter().map(|_| format!("::{step}")).collect();
            let selection =
                Selection::new(&header, Order::Column, Some(&slices.join(","))).unwrap();
            let data: Vec<u8> =
                (0..u16::try_from(header.elements()).unwrap()).flat_map(u16::to_be_bytes).collect();
            let mut end = 0;
            let mut read_at = |at: u64, out: &mut [u8]| {
                assert!(at >= end, "offsets rise");
                end = at + u64::try_from(out.len()).unwrap();
                let at = usize::try_from(at).unwrap();
                out.copy_from_slice(&data[at..at + out.len()]);
                Ok(())
            };
            let plan = SlicePlan::new(
                &dims, 2, &crate::ra::parse_slice(&slices.join(","), &dims).unwrap(),
            ).unwrap();
            let expected: Vec<u8> = plan
                .runs()
                .flat_map(|run| run.step_by(2))
                .flat_map(|at| u16::try_from(at / 2).unwrap().to_ne_bytes())
                .collect();
            let mut reader = Reader::new(&header, &selection, &mut read_at, block);
            let (mut buffer, mut found) = (Vec::new(), Vec::new());
            for number in 0..selection.elements().div_ceil(u64::try_from(block).unwrap()) {
                prop_assert_eq!(reader.next(&mut buffer).unwrap(), number);
                prop_assert!(buffer.len() == block * 2 || found.len() + buffer.len() == expected.len());
                found.extend_from_slice(&buffer);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
