//! An array of one dimension, as columns.

use super::axis::{self, Shown};
use super::{Quantity, SampledAxis, range};
use crate::error::Result;
use crate::ops::values::{self, Converter, Part};

/// An array of one dimension in at most so many columns.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Line {
    /// What the numbers are.
    pub quantity: Quantity,
    /// The dimension; nothing for a single number.
    pub axis: Option<SampledAxis>,
    /// A column for each cell of the dimension.
    pub columns: Vec<Column>,
    /// Whether a manifest vouches for the elements.
    pub verified: bool,
}

/// The elements in one column.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Column {
    /// The first finite value; NaN when there is none.
    pub first: f64,
    /// The least finite value; NaN when there is none.
    pub low: f64,
    /// The greatest finite value; NaN when there is none.
    pub high: f64,
    /// The last finite value; NaN when there is none.
    pub last: f64,
    /// Whether an element has no finite value.
    pub has_gap: bool,
}

const NONE: Column =
    Column { first: f64::NAN, low: f64::NAN, high: f64::NAN, last: f64::NAN, has_gap: false };

impl Column {
    fn add(&mut self, number: f64) {
        if !number.is_finite() {
            self.has_gap = true;
            return;
        }
        if self.first.is_nan() {
            self.first = number;
        }
        self.last = number;
        self.low = self.low.min(number);
        self.high = self.high.max(number);
    }
}

impl Line {
    /// The least and the greatest value.
    pub fn range(&self) -> Option<(f64, f64)> {
        range(self.columns.iter().flat_map(|column| [column.low, column.high]))
    }
}

pub(super) fn sample(
    part: &Part<'_>,
    converter: &Converter,
    quantity: Quantity,
    shown: Option<Shown>,
    most: usize,
    jobs: usize,
) -> Result<Line> {
    let axis = shown.map(|shown| axis::describe(part, shown, most)).transpose()?;
    let (step, cells) = axis.as_ref().map_or((1, 1), |axis| (axis.step, axis.cells));
    let count = part.selection.elements();
    let is_flipped = shown.is_some_and(|shown| shown.taken.is_flipped);
    // Cells are counted from the end that the slice begins at.
    let rest = count.checked_rem(step).unwrap_or(0);
    let mut left = if is_flipped && rest > 0 { rest } else { step };
    let mut columns = vec![NONE; cells];
    let mut nth = 0_usize;
    let look = |(): &mut (), block: &[u8]| {
        let mut floats = Vec::new();
        converter.convert(block, &mut floats);
        floats
    };
    let take = |floats: Vec<f64>| {
        let mut rest = floats.as_slice();
        while !rest.is_empty() {
            let here = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            let (now, behind) = rest.split_at_checked(here).unwrap_or((rest, &[]));
            if let Some(column) = columns.get_mut(nth) {
                for number in now {
                    column.add(*number);
                }
            }
            rest = behind;
            left = left.saturating_sub(u64::try_from(here).unwrap_or(u64::MAX));
            if left == 0 {
                nth = nth.saturating_add(1);
                left = step;
            }
        }
    };
    let verified = values::for_each(part.array, &part.selection, jobs, || (), look, take)?;
    if is_flipped {
        columns.reverse();
        for column in &mut columns {
            std::mem::swap(&mut column.first, &mut column.last);
        }
    }
    Ok(Line { quantity, axis, columns, verified })
}
