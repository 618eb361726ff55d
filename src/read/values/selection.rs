//! Selection of a part of an array, and its elements in blocks.
//!
//! One thread reads in the order of the file, because digests and most containers require it. Blocks have a fixed
//! number of elements, so sums over them are exactly the same in every container and with any number of threads.

use std::iter;

use crate::error::{Error, Result};
use crate::ndl::Order;
use crate::pack::shape_of;
use crate::pipeline;
use crate::ra::{Header, Picked, ReadError, SliceError, SlicePlan, parse_slice, resolve_slice};
use crate::read::open::{PackedArray, ReadElements};

/// Number of elements in a block.
const ELEMENTS_AT_ONCE: u64 = 1 << 16;

/// The selected positions of one dimension, in the order of the file. A slice with a negative step selects the same
/// elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The first position.
    pub(crate) first: u64,
    /// Distance between positions, at least 1.
    pub(crate) step: u64,
    /// Number of positions.
    pub(crate) count: u64,
    /// Whether an index selected the position, so that the result does not have this dimension.
    pub(crate) is_index: bool,
    /// Whether the step of the slice is negative.
    pub(crate) is_flipped: bool,
}

impl Taken {
    /// Selects a whole dimension.
    pub(crate) fn all(extent: u64) -> Self {
        Self { first: 0, step: 1, count: extent, is_index: false, is_flipped: false }
    }

    /// Returns a selected position.
    pub(crate) fn nth(self, nth: u64) -> u64 {
        self.first + self.step * nth
    }

    /// Selects `count` of the selected positions, beginning with number `from`, each `step`-th.
    pub(crate) fn part(self, from: u64, step: u64, count: u64) -> Self {
        // Only a step after the last position can overflow.
        Self { first: self.nth(from), step: self.step.saturating_mul(step), count, ..self }
    }
}

/// A part of an array: the positions of each dimension, fastest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArraySelection {
    dims: Vec<u64>,
    elbyte: u64,
    axes: Vec<Taken>,
}

impl ArraySelection {
    /// Selects the part of a slice, which is given in the order of the shape; the whole array without a slice.
    pub(crate) fn new(header: &Header, order: Order, slice: Option<&str>) -> Result<Self> {
        let dims = header.dims().to_vec();
        let elbyte = header.element().elbyte();
        let Some(text) = slice else {
            let axes = dims.iter().copied().map(Taken::all).collect();
            return Ok(Self { dims, elbyte, axes });
        };
        let refused = Error::slice_text(text);
        let mut slice = parse_slice(text, &shape_of(&dims, order)).map_err(&refused)?;
        if order == Order::Row {
            slice.reverse();
        }
        let picked = resolve_slice(&dims, &slice).map_err(refused)?;
        let number =
            |number: i128| u64::try_from(number).expect("positions are within the dimension");
        let taken = picked.iter().zip(&slice).map(|(axis, entry)| {
            let is_flipped = axis.step < 0;
            let to_lowest = if is_flipped { axis.step * (axis.count - 1).max(0) } else { 0 };
            Taken {
                // An empty selection has no first position.
                first: number((axis.first + to_lowest).max(0)),
                step: number(axis.step.abs()),
                count: number(axis.count),
                is_index: entry.is_index(),
                is_flipped,
            }
        });
        let axes = taken.collect();
        Ok(Self { dims, elbyte, axes })
    }

    /// Returns the same dimensions with other positions.
    pub(crate) fn with_axes(&self, axes: Vec<Taken>) -> Self {
        Self { dims: self.dims.clone(), elbyte: self.elbyte, axes }
    }

    /// Returns the selected positions of each dimension, fastest first.
    pub(crate) fn axes(&self) -> &[Taken] {
        &self.axes
    }

    pub(crate) fn elements(&self) -> u64 {
        // The product of the others may overflow if one length is 0.
        let is_empty = self.axes.iter().any(|axis| axis.count == 0);
        if is_empty { 0 } else { self.axes.iter().map(|axis| axis.count).product() }
    }

    /// Returns the size of all elements in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.elements() * self.elbyte
    }

    /// Returns whether all elements are selected.
    pub(crate) fn is_whole(&self) -> bool {
        self.axes.iter().zip(&self.dims).all(|(axis, dim)| axis.count == *dim)
    }

    /// Returns the plan for reading in the order of the file.
    fn plan(&self) -> Result<SlicePlan, SliceError> {
        let picked = self.axes.iter().map(|axis| {
            let [first, count, step] = [axis.first, axis.count, axis.step].map(i128::from);
            Picked { first, count, step }
        });
        let counts = self.axes.iter().map(|axis| axis.count).collect();
        SlicePlan::of_picked(&self.dims, self.elbyte, &picked.collect::<Vec<_>>(), counts)
    }
}

/// Calls `work` with each block of elements, in the byte order of this machine, on `jobs` threads. `take` gets the
/// results in the order of the file. Returns whether a manifest confirms the elements.
pub(crate) fn for_each<T: Send>(
    array: &PackedArray,
    selection: &ArraySelection,
    jobs: usize,
    work: impl Fn(&[u8]) -> T + Sync,
    mut take: impl FnMut(T),
) -> Result<bool> {
    array.check_elements(selection.elements())?;
    // Members that are not stored correct this number when they are read.
    array.begin(Some(selection.bytes()));
    let ((), verified) = array.with_data(selection.is_whole(), |header, read_at| {
        let block = usize::try_from(ELEMENTS_AT_ONCE * header.element().elbyte())
            .map_err(|_| ReadError::from(SliceError::TooLarge))?;
        let blocks = blocks(header, selection, read_at, block)?;
        let work = |(): &mut (), block: Result<Vec<u8>, ReadError>| Ok(work(&block?));
        pipeline::ordered(
            pipeline::workers(jobs),
            blocks,
            || (),
            work,
            |result| {
                take(result);
                Ok(())
            },
        )
    })?;
    Ok(verified)
}

/// Reads the elements of a selection in blocks of `size` bytes. Nothing can be read after an error.
fn blocks(
    header: &Header,
    selection: &ArraySelection,
    read_at: &mut ReadElements<'_>,
    size: usize,
) -> Result<impl Iterator<Item = Result<Vec<u8>, ReadError>>, ReadError> {
    let plan = selection.plan()?;
    let (mut reader, mut left) = (plan.reader(), plan.data_len());
    Ok(iter::from_fn(move || {
        let mut block = vec![0; usize::try_from(left).unwrap_or(size).min(size)];
        let read = reader.fill(&mut block, read_at).map_err(ReadError::from);
        let read = read.and_then(|()| Ok(header.swap_to_native(&mut block)?));
        left = if read.is_ok() { left - block.len() as u64 } else { 0 };
        (!block.is_empty()).then(|| read.map(|()| block))
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ra::ElementType;

    fn header(dims: &[u64]) -> Header {
        Header::new(ElementType::INT16, dims.to_vec()).unwrap()
    }

    #[test]
    fn a_negative_step_selects_the_same_elements() {
        let header = header(&[10, 4]);
        let taken = |slice| ArraySelection::new(&header, Order::Column, Some(slice)).unwrap();
        let down = taken("8:1:-3,2");
        assert_eq!((down.axes[0].first, down.axes[0].step, down.axes[0].count), (2, 3, 3));
        assert!(down.axes[0].is_flipped && down.axes[1].is_index);
        assert_eq!(down.elements(), 3);
        let rows = ArraySelection::new(&header, Order::Row, Some("1,:")).unwrap();
        assert_eq!((rows.axes[0].count, rows.axes[1].first), (10, 1));
        assert!(ArraySelection::new(&header, Order::Column, Some("10,0")).is_err());
        assert!(taken("...").is_whole() && !taken("1:,...").is_whole());
    }

    proptest! {
        #[test]
        fn blocks_are_the_selection_cut_into_equal_parts(
            dims in prop::collection::vec(1..9_u64, 1..4), step in 1..3_u64, block in 1..20_usize,
        ) {
            let header = Header::new(ElementType::UINT16, dims.clone()).unwrap().big_endian();
            let slices: Vec<_> = dims.iter().map(|_| format!("::{step}")).collect();
            let selection =
                ArraySelection::new(&header, Order::Column, Some(&slices.join(","))).unwrap();
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
                &dims, 2, &parse_slice(&slices.join(","), &dims).unwrap(),
            ).unwrap();
            let expected: Vec<u8> = plan
                .runs()
                .flat_map(|run| run.step_by(2))
                .flat_map(|at| u16::try_from(at / 2).unwrap().to_ne_bytes())
                .collect();
            let mut found = Vec::new();
            for read in blocks(&header, &selection, &mut read_at, block * 2).unwrap() {
                let read = read.unwrap();
                prop_assert!(read.len() == block * 2 || found.len() + read.len() == expected.len());
                found.extend(read);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
