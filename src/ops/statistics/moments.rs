//! Count, range, mean and spread of floats, block by block.

use super::super::values::float;

/// Sums that run side by side, so that a processor can add several numbers at once. Their number is a part
/// of the result: it decides in what order numbers are added.
const LANES: usize = 8;

/// What is known of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moments {
    pub(super) finite: u64,
    pub(super) nan: u64,
    pub(super) positive: u64,
    pub(super) negative: u64,
    low: f64,
    high: f64,
    mean: f64,
    /// The sum of the squares of the distances from the mean.
    squares: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self {
            finite: 0,
            nan: 0,
            positive: 0,
            negative: 0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            mean: 0.0,
            squares: 0.0,
        }
    }
}

impl Moments {
    /// Of the numbers of one block. What is not finite is taken out of it.
    pub(super) fn of(block: &mut Vec<f64>) -> Self {
        let mut moments = Self::default();
        if !all_finite(block) {
            let count = |matches: fn(&f64) -> bool| {
                block.iter().fold(0, |sum: u64, number| sum.saturating_add(matches(number).into()))
            };
            moments.nan = count(|number| number.is_nan());
            moments.positive = count(|number| *number == f64::INFINITY);
            moments.negative = count(|number| *number == f64::NEG_INFINITY);
            block.retain(|number| number.is_finite());
        }
        moments.finite = u64::try_from(block.len()).unwrap_or(u64::MAX);
        if moments.finite == 0 {
            return moments;
        }
        (moments.low, moments.high) = range(block);
        let count = float(moments.finite);
        let sum = sum_of(block, |number| number);
        moments.mean = if sum.is_finite() {
            sum / count
        } else {
            // Each number is small enough when it is divided first.
            sum_of(block, |number| number / count)
        };
        let mean = moments.mean;
        moments.squares = sum_of(block, |number| (number - mean) * (number - mean));
        moments
    }

    /// Adds what is known of the numbers behind these by the update of Chan, Golub and
    /// others (1979).
    pub(super) fn add(&mut self, other: &Self) {
        self.nan = self.nan.saturating_add(other.nan);
        self.positive = self.positive.saturating_add(other.positive);
        self.negative = self.negative.saturating_add(other.negative);
        if other.finite == 0 {
            return;
        }
        let (ours, theirs) = (float(self.finite), float(other.finite));
        self.finite = self.finite.saturating_add(other.finite);
        let all = float(self.finite);
        self.low = if other.low < self.low { other.low } else { self.low };
        self.high = if other.high > self.high { other.high } else { self.high };
        let apart = other.mean - self.mean;
        self.mean = if apart.is_finite() {
            self.mean + apart * (theirs / all)
        } else {
            self.mean * (ours / all) + other.mean * (theirs / all)
        };
        self.squares += other.squares + apart * apart * (ours * (theirs / all));
    }

    pub(super) fn range(&self) -> Option<(f64, f64)> {
        (self.finite > 0).then_some((self.low, self.high))
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.finite > 0).then_some(self.mean).filter(|mean| mean.is_finite())
    }

    pub(super) fn std(&self) -> Option<f64> {
        let variance = (self.finite > 0).then(|| self.squares / float(self.finite))?;
        variance.is_finite().then(|| variance.sqrt())
    }
}

fn all_finite(block: &[f64]) -> bool {
    // Without an early end, several are looked at at once.
    block.iter().fold(true, |all, number| all & number.is_finite())
}

fn range(block: &[f64]) -> (f64, f64) {
    let mut low = [f64::INFINITY; LANES];
    let mut high = [f64::NEG_INFINITY; LANES];
    let chunks = block.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks.chain(std::iter::once(rest)) {
        for ((number, low), high) in chunk.iter().zip(&mut low).zip(&mut high) {
            *low = if *number < *low { *number } else { *low };
            *high = if *number > *high { *number } else { *high };
        }
    }
    let least = |a: f64, b: f64| if b < a { b } else { a };
    let most = |a: f64, b: f64| if b > a { b } else { a };
    (low.into_iter().fold(f64::INFINITY, least), high.into_iter().fold(f64::NEG_INFINITY, most))
}

fn sum_of(block: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let chunks = block.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (sum, number) in sums.iter_mut().zip(chunk) {
            *sum += of(*number);
        }
    }
    for (sum, number) in sums.iter_mut().zip(rest) {
        *sum += of(*number);
    }
    sums.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(numbers: &[f64]) -> Moments {
        let mut moments = Moments::default();
        for block in numbers.chunks(100) {
            moments.add(&Moments::of(&mut block.to_vec()));
        }
        moments
    }

    #[test]
    fn nothing_one_and_all_alike() {
        assert_eq!((of(&[]).range(), of(&[]).mean(), of(&[]).std()), (None, None, None));
        let nan = of(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!((nan.nan, nan.positive, nan.negative, nan.mean()), (1, 1, 1, None));
        let alike = of(&[0.1; 1000]);
        assert_eq!(alike.range(), Some((0.1, 0.1)));
        assert!((alike.mean().unwrap() - 0.1).abs() < 1e-15 && alike.std().unwrap() < 1e-15);
    }

    #[test]
    fn huge_numbers_have_a_mean() {
        let huge = of(&[f64::MAX; 1000]);
        assert!((huge.mean().unwrap() / f64::MAX - 1.0).abs() < 1e-12);
        let both = of(&[f64::MAX, -f64::MAX].repeat(500));
        assert!(both.mean().unwrap().abs() < f64::MAX * 1e-9);
        assert_eq!(both.std(), None, "its square is beyond a float");
    }

    proptest! {
        #[test]
        fn blocks_come_to_what_all_numbers_do(numbers in prop::collection::vec(-1e6..1e6_f64, 1..900)) {
            let moments = of(&numbers);
            let count = float(u64::try_from(numbers.len()).unwrap());
            let mean = numbers.iter().sum::<f64>() / count;
            let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
            prop_assert!((moments.mean().unwrap() - mean).abs() < 1e-6);
            prop_assert!((moments.std().unwrap() - (squares / count).sqrt()).abs() < 1e-6);
            let low = numbers.iter().copied().fold(f64::MAX, f64::min);
            let high = numbers.iter().copied().fold(f64::MIN, f64::max);
            prop_assert_eq!(moments.range(), Some((low, high)));
        }
    }
}
