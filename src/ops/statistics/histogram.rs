//! How many numbers lie in each of several equal parts of a range.

use serde::Serialize;

use super::super::values::float;

/// Most bins: each takes memory in each thread.
const MAX_BINS: usize = 1 << 16;

/// A distribution of values: equal bins from the least to the greatest. A value on the edge between two
/// bins belongs to the upper one, the greatest value to the last bin, as numpy has it.
///
/// When all values are the same there is one bin. Of integers with no more values than bins, each value
/// has a bin of its own with it in the middle.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Histogram {
    /// The edges of the bins, rising: one more than there are bins.
    pub edges: Vec<f64>,
    /// Values in each bin.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Without a count in any bin.
    pub(super) fn new(low: f64, high: f64, bins: usize, whole: bool) -> Self {
        let bins = bins.clamp(1, MAX_BINS);
        let wide = |bins: usize| float(u64::try_from(bins).unwrap_or(u64::MAX));
        #[expect(
            clippy::float_cmp,
            reason = "one value has a bin of its own, two close ones do not"
        )]
        let is_one = low == high;
        if is_one {
            return Self { edges: vec![low, high], counts: vec![0] };
        }
        if whole && high - low < wide(bins) {
            let numbers = || (0_u32..).map(f64::from).map(|nth| low + nth - 0.5);
            let edges: Vec<f64> = numbers().take_while(|edge| *edge < high + 1.0).collect();
            let counts = vec![0; edges.len().saturating_sub(1)];
            return Self { edges, counts };
        }
        let edge = |nth: usize| {
            let part = wide(nth) / wide(bins);
            let edge = low + (high * part - low * part);
            match (nth == bins, edge.is_finite()) {
                (true, _) => high,
                (false, true) => edge,
                // The range itself is beyond a float.
                (false, false) => low * (1.0 - part) + high * part,
            }
        };
        Self { edges: (0..=bins).map(edge).collect(), counts: vec![0; bins] }
    }

    /// How many of some numbers lie in each bin; those outside and what is no number in none.
    pub(super) fn count(&self, numbers: &[f64]) -> Vec<u64> {
        let mut counts = vec![0_u64; self.counts.len()];
        let (Some(low), Some(high)) = (self.edges.first(), self.edges.last()) else {
            return counts;
        };
        let (low, high) = (*low, *high);
        let bins = float(u64::try_from(self.counts.len()).unwrap_or(u64::MAX));
        let last = self.counts.len().saturating_sub(1);
        // Halves, since the range itself may be beyond a float.
        let scale = bins / (high / 2.0 - low / 2.0);
        for number in numbers.iter().filter(|number| (low..=high).contains(*number)) {
            let mut bin = floor((number / 2.0 - low / 2.0) * scale).min(last);
            // What was rounded is set right by the edges themselves.
            if self.edges.get(bin).is_some_and(|edge| number < edge) {
                bin = bin.saturating_sub(1);
            } else if bin < last
                && self.edges.get(bin.saturating_add(1)).is_some_and(|edge| number >= edge)
            {
                bin = bin.saturating_add(1);
            }
            if let Some(count) = counts.get_mut(bin) {
                *count = count.saturating_add(1);
            }
        }
        counts
    }

    /// Adds the counts of a block.
    pub(super) fn add(&mut self, counts: &[u64]) {
        for (count, more) in self.counts.iter_mut().zip(counts) {
            *count = count.saturating_add(*more);
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it saturates, and what is no number becomes 0"
)]
fn floor(number: f64) -> usize {
    number as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(low: f64, high: f64, bins: usize, whole: bool, numbers: &[f64]) -> Histogram {
        let mut histogram = Histogram::new(low, high, bins, whole);
        let counts = histogram.count(numbers);
        histogram.add(&counts);
        histogram
    }

    #[test]
    fn edges_belong_to_the_upper_bin_and_the_last_to_the_last() {
        let numbers = [0.0, 0.5, 1.0, 1.5, 2.0, f64::NAN, f64::INFINITY];
        let histogram = counted(0.0, 2.0, 2, false, &numbers);
        assert_eq!((histogram.edges, histogram.counts), (vec![0.0, 1.0, 2.0], vec![2, 3]));
    }

    #[test]
    fn few_integers_have_a_bin_each() {
        let histogram = counted(-1.0, 2.0, 10, true, &[-1.0, 0.0, 0.0, 2.0]);
        assert_eq!(histogram.edges, [-1.5, -0.5, 0.5, 1.5, 2.5]);
        assert_eq!(histogram.counts, [1, 2, 0, 1]);
    }

    #[test]
    fn every_number_is_counted_whatever_the_range() {
        let alike = counted(0.1, 0.1, 10, false, &[0.1; 5]);
        assert_eq!(alike.counts, [5]);
        for (low, high) in [(-f64::MAX, f64::MAX), (0.0, 5e-324), (1.0, 1.0 + f64::EPSILON)] {
            let histogram = counted(low, high, 7, false, &[low, high, low / 2.0 + high / 2.0]);
            assert_eq!(histogram.counts.iter().sum::<u64>(), 3, "{low}..{high}");
        }
    }
}
