//! The values of an array: which part is looked at, what they mean, and how they become numbers.

mod blocks;
mod elements;
mod floats;
mod missing;
mod number;
mod selection;

pub use self::number::Number;

pub(super) use self::blocks::{ReadAt, for_each};
pub(super) use self::elements::{Meaning, Part};
pub(super) use self::floats::{Converter, Found};
pub(super) use self::selection::Taken;

/// A count as a float: one of more digits than a float has becomes the nearest.
#[expect(
    clippy::cast_precision_loss,
    reason = "there is no other conversion, and no array has so many elements"
)]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}
