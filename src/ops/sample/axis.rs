//! One dimension of a sample: which elements its columns stand for, and where they lie.

use super::text_attribute;
use crate::error::{Error, Result};
use crate::ndl::{Ndarray, Order, Value};
use crate::ops::open::{Axis, Pack};
use crate::ops::values::{self, Meaning, Part, Taken};

/// A dimension of a sample. Each cell stands for `step` elements that follow each other in the part that
/// was taken; the last for what is left.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SampledAxis {
    /// The name of the dimension, when the description gives one.
    pub name: Option<String>,
    /// Elements along it, of the part that was taken.
    pub extent: u64,
    /// Cells.
    pub cells: usize,
    /// Elements in each cell.
    pub step: u64,
    /// The index in the array of an element in the middle of each cell.
    pub indices: Vec<u64>,
    /// The coordinates of these elements, where the pack has them and they are numbers.
    pub positions: Option<Vec<f64>>,
    /// The description of the coordinate, when there is one.
    pub coordinate: Option<Ndarray>,
}

impl SampledAxis {
    /// The text of an attribute of the coordinate.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        text_attribute(self.coordinate.as_ref()?, name)
    }
}

/// A dimension that is shown: its number in the shape and in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    pub(super) of_shape: usize,
    pub(super) of_file: usize,
    pub(super) taken: Taken,
}

/// The dimensions that a slice leaves, in the order of the shape; those of one element only when there are
/// no more than two.
pub(super) fn shown(part: &Part<'_>) -> Vec<Shown> {
    let axes = part.selection.axes();
    let count = axes.len();
    let mut all: Vec<Shown> = Vec::with_capacity(count);
    for (of_file, taken) in axes.iter().enumerate() {
        let of_shape = match part.order {
            Order::Row => count.saturating_sub(of_file).saturating_sub(1),
            Order::Column | Order::RowUnreversed => of_file,
        };
        if !taken.is_index {
            all.push(Shown { of_shape, of_file, taken: *taken });
        }
    }
    all.sort_unstable_by_key(|axis| axis.of_shape);
    if all.len() > 2 {
        all.retain(|axis| axis.taken.count != 1);
    }
    all
}

/// That there are more dimensions than a picture has, with a slice that leaves two: the longest.
pub(super) fn too_many(part: &Part<'_>, slice: Option<&str>) -> Error {
    let shape = crate::pack::shape_of(part.header.dims(), part.order);
    let mut longest: Vec<usize> = (0..shape.len()).collect();
    longest.sort_by_key(|axis| std::cmp::Reverse(shape.get(*axis).copied()));
    longest.truncate(2);
    let proposed: Vec<&str> =
        (0..shape.len()).map(|axis| if longest.contains(&axis) { ":" } else { "0" }).collect();
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    let after =
        slice.map_or_else(String::new, |slice| format!(" and `{slice}` leaves more than two"));
    Error::Unsupported(format!(
        "`{}` has {} dimensions ({}){after}; choose two of them, such as the option `slice: '{}'`",
        crate::path::escape(part.array.name()),
        shape.len(),
        extents.join(" x "),
        proposed.join(","),
    ))
}

/// How the elements of a dimension are put into at most `most` cells: how many in each, and how many cells.
pub(super) fn cells(extent: u64, most: usize) -> (u64, usize) {
    let most = u64::try_from(most).unwrap_or(u64::MAX).max(1);
    let step = extent.div_ceil(most).max(1);
    (step, usize::try_from(extent.div_ceil(step)).unwrap_or(usize::MAX))
}

/// The elements in the middle of the cells; of the last cell, the one that as many behind each other give.
pub(super) fn middles(taken: Taken, step: u64) -> Taken {
    let Some(last) = taken.count.checked_sub(1) else { return taken };
    let rest = last.checked_rem(step).unwrap_or(0);
    let middle = step.saturating_sub(1).checked_div(2).unwrap_or(0).min(rest);
    taken.part(middle, step, taken.count.div_ceil(step))
}

/// What is known of a dimension.
pub(super) fn describe(part: &Part<'_>, shown: Shown, most: usize) -> Result<SampledAxis> {
    let (step, cells) = cells(shown.taken.count, most);
    let middles = middles(shown.taken, step);
    let mut all = part.array.axes()?;
    let known =
        if shown.of_shape < all.len() { Some(all.swap_remove(shown.of_shape)) } else { None };
    let mut indices: Vec<u64> = (0..middles.count)
        .map(|nth| middles.first.saturating_add(middles.step.saturating_mul(nth)))
        .collect();
    let mut positions = match &known {
        Some(axis) => positions(part.array.pack(), axis, middles)?,
        None => None,
    };
    if shown.taken.is_flipped {
        indices.reverse();
        if let Some(positions) = &mut positions {
            positions.reverse();
        }
    }
    let (name, coordinate) = match known {
        Some(Axis { name, coordinate, .. }) => {
            (name, coordinate.and_then(|coordinate| coordinate.description))
        }
        None => (None, None),
    };
    Ok(SampledAxis { name, extent: shown.taken.count, cells, step, indices, positions, coordinate })
}

/// The coordinates of some elements along a dimension, when they are numbers.
fn positions(pack: &Pack, axis: &Axis, taken: Taken) -> Result<Option<Vec<f64>>> {
    let Some(coordinate) = &axis.coordinate else { return Ok(None) };
    if let Some(member) = &coordinate.member {
        let array = pack.array(member)?;
        let part = Part::new(&array, None)?;
        let Meaning::Numbers(converter) = part.meaning() else { return Ok(None) };
        let selection = part.selection.with_axes(vec![taken]);
        let mut all = Vec::new();
        values::for_each(
            &array,
            &selection,
            1,
            || (),
            |(), block| {
                let mut floats = Vec::new();
                converter.convert(block, &mut floats);
                floats
            },
            |floats| all.extend(floats),
        )?;
        return Ok(Some(all));
    }
    let value = coordinate.description.as_ref().and_then(|description| description.value.as_ref());
    let Some(Value::List(list)) = value else { return Ok(None) };
    let number = |nth: u64| {
        let at = taken.first.saturating_add(taken.step.saturating_mul(nth));
        match list.get(usize::try_from(at).ok()?)? {
            Value::Float(number) => Some(*number),
            Value::Int(number) => number.to_string().parse().ok(),
            Value::UInt(number) => number.to_string().parse().ok(),
            _ => None,
        }
    };
    Ok((0..taken.count).map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_all_elements_and_their_middles_lie_in_them() {
        for extent in 1..60 {
            for most in 1..20 {
                let (step, cells) = cells(extent, most);
                let count = u64::try_from(cells).unwrap();
                assert!(cells <= most && step * count >= extent);
                let middles = middles(Taken::all(extent), step);
                assert_eq!(middles.count, count);
                for nth in 0..middles.count {
                    let index = middles.first + nth * middles.step;
                    assert!(index >= nth * step && index < ((nth + 1) * step).min(extent));
                }
            }
        }
        assert_eq!(cells(0, 10), (1, 0));
    }
}
