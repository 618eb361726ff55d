//! An array of two dimensions, as cells.

use super::axis::{self, Shown};
use super::{Quantity, SampledAxis, range};
use crate::error::Result;
use crate::ops::values::{self, Converter, Part, float};

/// A stored array that is larger than this many bytes is not read whole for a picture.
const WHOLE: u64 = 1 << 30;

/// An array of two dimensions in at most so many cells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Grid {
    /// What the numbers are.
    pub quantity: Quantity,
    /// The first dimension.
    pub rows: SampledAxis,
    /// The second dimension.
    pub columns: SampledAxis,
    /// The cells, row by row; NaN where no element has a finite value.
    pub cells: Vec<f64>,
    /// How elements became cells.
    pub method: GridMethod,
    /// Whether a manifest vouches for the elements.
    pub verified: bool,
}

/// How the elements of a grid became cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GridMethod {
    /// Each cell is one element.
    Every,
    /// Each cell is the mean of its finite elements.
    Mean,
    /// Each cell is an element in its middle.
    Nearest,
}

impl GridMethod {
    /// What it is called.
    pub fn word(self) -> &'static str {
        match self {
            Self::Every => "every",
            Self::Mean => "mean",
            Self::Nearest => "nearest",
        }
    }
}

impl Grid {
    /// The least and the greatest value.
    pub fn range(&self) -> Option<(f64, f64)> {
        range(self.cells.iter().copied())
    }

    /// A cell, by row and column.
    pub fn cell(&self, row: usize, column: usize) -> Option<f64> {
        if column >= self.columns.cells {
            return None;
        }
        self.cells.get(row.checked_mul(self.columns.cells)?.checked_add(column)?).copied()
    }
}

pub(super) fn sample(
    part: &Part<'_>,
    converter: &Converter,
    quantity: Quantity,
    (down, across): (Shown, Shown),
    (most_rows, most_columns): (usize, usize),
    jobs: usize,
) -> Result<Grid> {
    let rows = axis::describe(part, down, most_rows)?;
    let columns = axis::describe(part, across, most_columns)?;
    let is_large = part.selection.bytes() > WHOLE && part.array.is_placed()?;
    let method = if rows.step == 1 && columns.step == 1 {
        GridMethod::Every
    } else if is_large || !quantity.names.is_empty() {
        GridMethod::Nearest
    } else {
        GridMethod::Mean
    };
    let mut selection = part.selection.clone();
    let mut steps = (rows.step, columns.step);
    if method == GridMethod::Nearest {
        let mut axes = selection.axes().to_vec();
        for (shown, step) in [(down, rows.step), (across, columns.step)] {
            if let Some(axis) = axes.get_mut(shown.of_file) {
                *axis = axis::middles(shown.taken, step);
            }
        }
        selection = selection.with_axes(axes);
        steps = (1, 1);
    }
    // In the order of the file, one of both is the fast one.
    let counts = |shown: Shown| selection.axes().get(shown.of_file).map_or(0, |axis| axis.count);
    let (down_count, across_count) = (counts(down), counts(across));
    let row = Lane::new(down_count, steps.0, down.taken.is_flipped, columns.cells);
    let column = Lane::new(across_count, steps.1, across.taken.is_flipped, 1);
    let (mut fast, mut slow) =
        if down.of_file < across.of_file { (row, column) } else { (column, row) };
    let cells = rows.cells.saturating_mul(columns.cells);
    let mut sums = vec![Sum::default(); cells];
    let look = |(): &mut (), block: &[u8]| {
        let mut floats = Vec::new();
        converter.convert(block, &mut floats);
        floats
    };
    let take = |floats: Vec<f64>| {
        for number in floats {
            if let Some(sum) = sums.get_mut(fast.cell.wrapping_add(slow.cell)) {
                sum.add(number);
            }
            if fast.advance() {
                slow.advance();
            }
        }
    };
    let verified = values::for_each(part.array, &selection, jobs, || (), look, take)?;
    let cells = sums.iter().map(Sum::mean).collect();
    Ok(Grid { quantity, rows, columns, cells, method, verified })
}

/// Where the elements along one dimension go, one after the other and again from the first.
struct Lane {
    /// The first cell, and where the next is from each.
    first: usize,
    stride: usize,
    /// Elements of the first cell, of each other, and of all.
    of_first: u64,
    step: u64,
    count: u64,
    /// The cell of the next element, and the elements that are left of it and of all.
    cell: usize,
    of_cell: u64,
    left: u64,
}

impl Lane {
    fn new(count: u64, step: u64, is_flipped: bool, stride: usize) -> Self {
        let (mut first, mut towards, mut of_first) = (0, stride, step);
        if is_flipped && let Some(last) = count.checked_sub(1) {
            let cells = usize::try_from(last / step).unwrap_or(usize::MAX);
            (first, towards, of_first) =
                (cells.saturating_mul(stride), stride.wrapping_neg(), last % step + 1);
        }
        let (cell, of_cell, left) = (first, of_first, count);
        Self { first, stride: towards, of_first, step, count, cell, of_cell, left }
    }

    /// Goes on to the next element, and answers whether that is the first again.
    fn advance(&mut self) -> bool {
        self.left = self.left.wrapping_sub(1);
        self.of_cell = self.of_cell.wrapping_sub(1);
        if self.left == 0 {
            (self.cell, self.of_cell, self.left) = (self.first, self.of_first, self.count);
            return true;
        }
        if self.of_cell == 0 {
            self.cell = self.cell.wrapping_add(self.stride);
            self.of_cell = self.step;
        }
        false
    }
}

/// The finite elements of a cell.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    sum: f64,
    count: u64,
}

impl Sum {
    fn add(&mut self, number: f64) {
        if number.is_finite() {
            self.count = self.count.saturating_add(1);
            self.sum += number;
        }
    }

    fn mean(&self) -> f64 {
        // A sum beyond a float is still beyond it when it is divided.
        if self.count == 0 { f64::NAN } else { self.sum / float(self.count) }
    }
}
