//! Medians, and ratios of times in the same round.

use super::measure::Sample;

/// The median, the minimum and the maximum of some values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Some(Self { median, least, most })
    }

    /// Returns the ratio of two times, round by round, so that a disturbance of a round affects both.
    pub(crate) fn of_ratios(one: &[Sample], other: &[Sample]) -> Option<Self> {
        Self::of(one.iter().zip(other).map(|(one, other)| one.wall / other.wall))
    }
}
