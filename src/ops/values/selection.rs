//! The part of an array that is looked at, as positions along each axis of the file.

use ndarray::SliceInfoElem;

use crate::error::{Error, Result};
use crate::ndl::Order;
use crate::pack::shape_of;
use crate::ra::{Header, parse_slice, resolve_slice};

/// The positions that are taken of one axis, in the order of the file: a slice that walks backwards takes
/// the same elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) struct Taken {
    /// Position of the first one.
    pub(in crate::ops) first: u64,
    /// How far apart they are, at least 1.
    pub(in crate::ops) step: u64,
    /// How many.
    pub(in crate::ops) count: u64,
    /// Whether an index chose it, so that the result has no such axis.
    pub(in crate::ops) is_index: bool,
    /// Whether the slice walks backwards.
    pub(in crate::ops) is_flipped: bool,
}

impl Taken {
    /// All of an axis.
    pub(in crate::ops) fn all(extent: u64) -> Self {
        Self { first: 0, step: 1, count: extent, is_index: false, is_flipped: false }
    }

    /// The positions from the number `from` on of those that are taken, `count` of them, each `step`-th.
    pub(in crate::ops) fn part(self, from: u64, step: u64, count: u64) -> Self {
        Self {
            first: self.first.saturating_add(self.step.saturating_mul(from)),
            step: self.step.saturating_mul(step),
            count,
            ..self
        }
    }

    fn entry(self) -> Option<SliceInfoElem> {
        let start = isize::try_from(self.first).ok()?;
        let Some(before) = self.count.checked_sub(1) else {
            return Some(SliceInfoElem::Slice { start: 0, end: Some(0), step: 1 });
        };
        let last = self.first.checked_add(self.step.checked_mul(before)?)?;
        let end = isize::try_from(last.checked_add(1)?).ok()?;
        // One position needs no step, which may be larger than the axis.
        let step = if before == 0 { 1 } else { isize::try_from(self.step).ok()? };
        Some(SliceInfoElem::Slice { start, end: Some(end), step })
    }
}

/// A part of an array: the positions of each axis, fastest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ops) struct Selection {
    dims: Vec<u64>,
    elbyte: u64,
    axes: Vec<Taken>,
}

impl Selection {
    /// All elements of an array of this header.
    pub(in crate::ops) fn whole(header: &Header) -> Self {
        let dims = header.dims().to_vec();
        let axes = dims.iter().copied().map(Taken::all).collect();
        Self { dims, elbyte: header.element().elbyte(), axes }
    }

    /// The part that a slice takes, which is written in the order of the shape; all without one.
    pub(in crate::ops) fn new(header: &Header, order: Order, slice: Option<&str>) -> Result<Self> {
        let mut this = Self::whole(header);
        let Some(text) = slice else { return Ok(this) };
        let refused = |error| Error::Unsupported(format!("the slice `{text}`: {error}"));
        let mut slice = parse_slice(text, &shape_of(header.dims(), order)).map_err(refused)?;
        if order == Order::Row {
            slice.reverse();
        }
        let picked = resolve_slice(header.dims(), &slice).map_err(refused)?;
        this.axes = picked
            .iter()
            .zip(&slice)
            .map(|(axis, entry)| {
                let backwards = axis.step < 0;
                let before = axis.count.saturating_sub(1).max(0);
                let last = axis.first.saturating_add(axis.step.saturating_mul(before));
                let first = if backwards { last } else { axis.first };
                Taken {
                    first: u64::try_from(first).unwrap_or(0),
                    step: u64::try_from(axis.step.unsigned_abs()).unwrap_or(u64::MAX),
                    count: u64::try_from(axis.count).unwrap_or(0),
                    is_index: entry.is_index(),
                    is_flipped: backwards,
                }
            })
            .collect();
        Ok(this)
    }

    /// The same axes with other positions.
    pub(in crate::ops) fn with_axes(&self, axes: Vec<Taken>) -> Self {
        Self { dims: self.dims.clone(), elbyte: self.elbyte, axes }
    }

    /// What is taken of each axis, fastest first.
    pub(in crate::ops) fn axes(&self) -> &[Taken] {
        &self.axes
    }

    pub(in crate::ops) fn elements(&self) -> u64 {
        // An extent of 0 hides what the others would come to.
        if self.axes.iter().any(|axis| axis.count == 0) {
            return 0;
        }
        self.axes.iter().fold(1, |product: u64, axis| product.saturating_mul(axis.count))
    }

    /// Bytes of all elements.
    pub(in crate::ops) fn bytes(&self) -> u64 {
        self.elements().saturating_mul(self.elbyte)
    }

    /// Whether it takes every element.
    pub(in crate::ops) fn is_whole(&self) -> bool {
        self.axes.iter().zip(&self.dims).all(|(axis, dim)| axis.count == *dim)
    }

    /// The pieces that it is read in, one after the other in the order of the file, each of about
    /// `bytes` or less if an element is not longer than that.
    pub(super) fn pieces(&self, bytes: u64) -> Pieces {
        let (dims, axes) = if self.is_whole() {
            let elements = self.elements();
            (vec![elements], vec![Taken::all(elements)])
        } else {
            (self.dims.clone(), self.axes.clone())
        };
        // As many of the fastest axes as fit a piece, and a part of the next one.
        let mut inner = self.elbyte.max(1);
        let mut cut = 0;
        for axis in &axes {
            let wider = inner.saturating_mul(axis.count.max(1));
            if wider > bytes {
                break;
            }
            inner = wider;
            cut += 1;
        }
        let part = bytes.checked_div(inner).unwrap_or(1).max(1);
        let counts: Vec<u64> = axes
            .iter()
            .skip(cut)
            .enumerate()
            .map(|(nth, axis)| if nth == 0 { axis.count.div_ceil(part) } else { axis.count })
            .collect();
        let is_empty = self.elements() == 0;
        let next = (!is_empty).then(|| vec![0; counts.len()]);
        Pieces { dims, axes, cut, part, counts, next }
    }
}

/// The pieces of a selection.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) dims: Vec<u64>,
    axes: Vec<Taken>,
    /// The first axis that is not whole in a piece.
    cut: usize,
    /// How many positions of that axis make a piece; of those behind it, one.
    part: u64,
    counts: Vec<u64>,
    next: Option<Vec<u64>>,
}

impl Iterator for Pieces {
    type Item = Vec<SliceInfoElem>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut now = self.next.take()?;
        let mut slice = Vec::with_capacity(self.axes.len());
        for (nth, axis) in self.axes.iter().enumerate() {
            let part = match nth.checked_sub(self.cut) {
                None => *axis,
                Some(outer) => {
                    let at = now.get(outer).copied().unwrap_or(0);
                    let length = if outer == 0 { self.part } else { 1 };
                    let from = at.saturating_mul(length);
                    axis.part(from, 1, length.min(axis.count.saturating_sub(from)))
                }
            };
            slice.push(part.entry()?);
        }
        for (at, count) in now.iter_mut().zip(&self.counts) {
            *at = at.saturating_add(1);
            if *at < *count {
                self.next = Some(now);
                break;
            }
            *at = 0;
        }
        Some(slice)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ra::{ElementType, SlicePlan};

    fn header(dims: &[u64]) -> Header {
        Header::new(ElementType::INT16, dims.to_vec()).unwrap()
    }

    #[test]
    fn a_slice_backwards_takes_the_same_elements() {
        let header = header(&[10, 4]);
        let taken = |slice| Selection::new(&header, Order::Column, Some(slice)).unwrap();
        let down = taken("8:1:-3,2");
        assert_eq!((down.axes[0].first, down.axes[0].step, down.axes[0].count), (2, 3, 3));
        assert!(down.axes[0].is_flipped && down.axes[1].is_index);
        assert_eq!(down.elements(), 3);
        let rows = Selection::new(&header, Order::Row, Some("1,:")).unwrap();
        assert_eq!((rows.axes[0].count, rows.axes[1].first), (10, 1));
        assert!(Selection::new(&header, Order::Column, Some("10,0")).is_err());
        assert!(taken("...").is_whole() && !taken("1:,...").is_whole());
    }

    proptest! {
        #[test]
        fn pieces_tile_the_selection_in_the_order_of_the_file(
            axes in prop::collection::vec((1..7_u64, 0..3_u64, 1..3_u64), 0..4), bytes in 1..60_u64,
        ) {
            let dims: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let header = header(&dims);
            let text: Vec<_> =
                axes.iter().map(|(dim, first, step)| format!("{}::{step}", first.min(dim))).collect();
            let slice = parse_slice(&text.join(","), &dims).unwrap();
            let offsets = |dims: &[u64], slice: &[SliceInfoElem]| -> Vec<u64> {
                let plan = SlicePlan::new(dims, 2, slice).unwrap();
                plan.runs().flat_map(|run| run.step_by(2)).collect()
            };
            let selection =
                Selection::new(&header, Order::Column, Some(&text.join(","))).unwrap();
            let mut found = Vec::new();
            let pieces = selection.pieces(bytes);
            let dims_of_pieces = pieces.dims.clone();
            for piece in pieces {
                let part = offsets(&dims_of_pieces, &piece);
                prop_assert!(u64::try_from(part.len()).unwrap() * 2 <= bytes.max(2));
                found.extend(part);
            }
            prop_assert_eq!(found, offsets(&dims, &slice));
        }
    }
}
