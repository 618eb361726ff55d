//! Statistics of an array in bounded memory.
//!
//! A histogram takes two passes: one for the range, one for the counts. A small array is kept between them. Blocks have
//! a fixed number of elements, and their results are combined in the order of the file. So the same elements give
//! exactly the same results in every container and with any number of threads.

use serde::Serialize;

use crate::error::Result;
use crate::ndl::Ndarray;
use crate::pipeline;
use crate::ra::ElementType;
use crate::read::open::PackedArray;
use crate::read::values::{
    ArrayPart, Converter, Floats, Meaning, Number, ReadPresent, float, for_each, hull, read_named,
};

/// Number of elements that are kept between two passes.
const KEPT: u64 = 1 << 20;

/// Maximum number of bins. Each takes memory in each thread.
const MAX_BINS: usize = 1 << 16;

/// Number of parallel sums, so that a processor can add several numbers at once. It affects the result, because it
/// determines the order of additions.
const LANES: usize = 8;

/// Options for [`PackedArray::statistics`]: the part of the array, and the histogram.
#[derive(Debug, Clone, Default)]
pub struct StatisticsOptions {
    /// Part of the array, such as `0:10,:,3`, in the order of its indices.
    pub slice: Option<String>,
    /// Number of bins of a histogram of the finite values; no histogram if `None`.
    pub bins: Option<usize>,
    /// Whether to take the numbers as they are stored. By default, scale and offset of the description are applied, and
    /// missing values do not count.
    pub raw: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
}

/// Statistics of the values of an array.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "of", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Statistics {
    /// Statistics of numbers.
    Numbers(NumberStatistics),
    /// Statistics of the magnitudes of complex numbers.
    Magnitudes(NumberStatistics),
    /// Counts of booleans or of the members of an enum.
    Names(NameStatistics),
    /// Elements that are not numbers.
    Nothing {
        /// Number of elements.
        count: u64,
        /// Kind of the elements.
        reason: String,
    },
}

/// Statistics of numbers. Except for the counts, they include only finite values: those that are neither missing, nor
/// NaN, nor infinite.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NumberStatistics {
    /// Number of elements.
    pub count: u64,
    /// Number of elements that are finite and not missing.
    pub finite: u64,
    /// Number of missing values according to the description: `storage.fillvalue`, the attributes `_FillValue` and
    /// `missing_value`, and values outside `valid_range`, `valid_min` and `valid_max`.
    pub missing: u64,
    /// Number of elements that are NaN and not missing.
    pub nan: u64,
    /// Number of elements that are positive infinity.
    pub positive_infinite: u64,
    /// Number of elements that are negative infinity.
    pub negative_infinite: u64,
    /// The smallest value, exact if it is not scaled; text for integers beyond 64 bits.
    pub min: Option<Number>,
    /// The largest value, exact if it is not scaled; text for integers beyond 64 bits.
    pub max: Option<Number>,
    /// Arithmetic mean; null if there are no values, or if it overflows a float.
    pub mean: Option<f64>,
    /// Population standard deviation (divided by the number of values); null if there are no values, or if it
    /// overflows a float.
    pub std: Option<f64>,
    /// Distribution of the values, if requested and if there are values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
    /// Whether a manifest confirms the elements.
    pub verified: bool,
}

/// The count of each name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NameStatistics {
    /// Number of elements.
    pub count: u64,
    /// The count of each name, in the order of the description.
    pub categories: Vec<Category>,
    /// Number of missing elements. An element with a name is not missing.
    pub missing: u64,
    /// Number of other elements without a name.
    pub unnamed: u64,
    /// Whether a manifest confirms the elements.
    pub verified: bool,
}

/// A member of an enum, or a boolean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Category {
    /// The name.
    pub name: String,
    /// The stored number.
    pub value: i128,
    /// Number of elements with this value.
    pub count: u64,
}

/// A distribution of values in equal bins from the smallest to the largest value. As in NumPy, a value on the edge
/// between two bins belongs to the upper one, and the largest value to the last bin.
///
/// If all values are the same, there is one bin. Integers with no more different values than bins get a bin each, with
/// the value in its middle.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Histogram {
    /// Increasing edges of the bins: one more than there are bins.
    pub edges: Vec<f64>,
    /// Number of values in each bin.
    pub counts: Vec<u64>,
}

impl PackedArray {
    /// Computes statistics of the array, or of a part of it.
    ///
    /// Elements are read in blocks, so memory does not grow with the size of the array, even if it is compressed. An
    /// array whose header says that it is encoded is decoded as a whole. The result does not depend on the number of
    /// threads or on the container. A whole array is checked against the manifest; a slice of a stored array is not, as
    /// in [`PackedArray::slice`].
    ///
    /// ```
    /// # fn main() -> ra_pack::Result<()> {
    /// use ra_pack::Pack;
    /// use ra_pack::read::Statistics;
    ///
    /// let pack = Pack::open("examples/experiment")?;
    /// let temperature = pack.array("thermistors/temperature.ra")?;
    /// let Statistics::Numbers(numbers) = temperature.statistics(&Default::default())? else {
    ///     panic!("they are numbers");
    /// };
    /// assert_eq!(numbers.count, 1490);
    /// assert!(numbers.missing > 0 && numbers.mean.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`], and [`Error::Slice`](crate::Error::Slice) or
    /// [`Error::SliceText`](crate::Error::SliceText) if the slice does not fit.
    pub fn statistics(&self, options: &StatisticsOptions) -> Result<Statistics> {
        let part = ArrayPart::new(self, options.slice.as_deref())?;
        let jobs = pipeline::jobs(options.jobs);
        let count = part.selection.elements();
        let description = part.description.as_ref();
        let meaning = Meaning::new(part.header.element(), description, options.raw);
        let description = description.filter(|_| !options.raw);
        Ok(match meaning {
            Meaning::Numbers(converter) => {
                Statistics::Numbers(numbers(&part, &converter, options.bins, jobs)?)
            }
            Meaning::Magnitudes(converter) => {
                Statistics::Magnitudes(numbers(&part, &converter, options.bins, jobs)?)
            }
            Meaning::Names(element, members) => {
                match Counter::new(element, description, &members) {
                    Some(counter) => Statistics::Names(names(&part, &counter, jobs)?),
                    None => Statistics::Nothing { count, reason: format!("names of `{element}`") },
                }
            }
            Meaning::Other(reason) => Statistics::Nothing { count, reason },
        })
    }
}

fn numbers(
    part: &ArrayPart<'_>,
    converter: &Converter,
    bins: Option<usize>,
    jobs: usize,
) -> Result<NumberStatistics> {
    let count = part.selection.elements();
    let keeps = bins.is_some() && count <= KEPT;
    let mut kept = Vec::new();
    let mut moments = Moments::default();
    let look = |block: &[u8]| {
        let floats = converter.convert(block);
        let kept = if keeps { floats.numbers.clone() } else { Vec::new() };
        (Moments::of(floats), kept)
    };
    let take = |(block, floats): (Moments, Vec<f64>)| {
        moments.add(&block);
        kept.extend(floats);
    };
    let verified = for_each(part.array, &part.selection, jobs, look, take)?;
    let range = (moments.finite > 0).then_some((moments.low, moments.high));
    let mut histogram = None;
    if let Some((bins, (low, high))) = bins.zip(range) {
        let empty = Histogram::new(low, high, bins, converter.is_integer());
        let mut counted = empty.clone();
        if keeps {
            add_counts(&mut counted.counts, &empty.count(&kept));
        } else {
            let look = |block: &[u8]| empty.count(&converter.convert(block).numbers);
            let take = |counts: Vec<u64>| add_counts(&mut counted.counts, &counts);
            for_each(part.array, &part.selection, jobs, look, take)?;
        }
        histogram = Some(counted);
    }
    let as_numbers = |(low, high)| (converter.number(low), converter.number(high));
    let (min, max) = moments.exact.or(range.map(as_numbers)).unzip();
    Ok(NumberStatistics {
        count,
        finite: moments.finite,
        missing: moments.missing,
        nan: moments.nan - moments.missing,
        positive_infinite: moments.positive,
        negative_infinite: moments.negative,
        min,
        max,
        mean: moments.mean(),
        std: moments.std(),
        histogram,
        verified,
    })
}

fn names(part: &ArrayPart<'_>, counter: &Counter, jobs: usize) -> Result<NameStatistics> {
    let mut counts = counter.count(&[]);
    let look = |block: &[u8]| counter.count(block);
    let take = |more: Vec<u64>| add_counts(&mut counts, &more);
    let verified = for_each(part.array, &part.selection, jobs, look, take)?;
    let (categories, missing, unnamed) = counter.finish(&counts);
    let count = part.selection.elements();
    Ok(NameStatistics { count, categories, missing, unnamed, verified })
}

fn add_counts(counts: &mut [u64], more: &[u64]) {
    for (count, more) in counts.iter_mut().zip(more) {
        *count += more;
    }
}

/// Counts the elements of an enum.
struct Counter {
    read: ReadPresent,
    width: usize,
    members: Vec<(String, i128)>,
    /// The numbers, sorted, with the positions of their members.
    sorted: Vec<(i128, usize)>,
}

impl Counter {
    /// Makes a counter for elements of a type; `None` if they are not integers of at most 64 bits.
    fn new(
        element: ElementType,
        description: Option<&Ndarray>,
        members: &[(String, i128)],
    ) -> Option<Self> {
        let width = usize::try_from(element.elbyte()).ok().filter(|width| *width <= 8)?;
        let read = read_named(element, description, members)?;
        let places = members.iter().enumerate().map(|(nth, (_, value))| (*value, nth));
        let mut sorted: Vec<_> = places.collect();
        // If two names have the same number, the first gets the count.
        sorted.sort_unstable();
        sorted.dedup_by_key(|(value, _)| *value);
        Some(Self { read, width, members: members.to_vec(), sorted })
    }

    /// Returns a count for each member, one for missing elements and one for all others.
    fn count(&self, block: &[u8]) -> Vec<u64> {
        let mut counts = vec![0; self.members.len() + 2];
        let place = |number: Number| {
            let number = number.to_integer()?;
            let at = self.sorted.binary_search_by_key(&number, |(value, _)| *value).ok()?;
            self.sorted.get(at).map(|(_, nth)| *nth)
        };
        let mut add = |(number, is_missing): (Number, bool), times: u64| {
            let nth = place(number).unwrap_or(self.members.len() + usize::from(!is_missing));
            *counts.get_mut(nth).expect("each member has a count") += times;
        };
        if self.width == 1 {
            let mut times = [0; 256];
            for byte in block {
                *times.get_mut(usize::from(*byte)).expect("a byte is a valid index") += 1;
            }
            for (byte, times) in (0..=u8::MAX).zip(times) {
                add((self.read)(&[byte]), times);
            }
        } else {
            for element in block.chunks_exact(self.width) {
                add((self.read)(element), 1);
            }
        }
        counts
    }

    fn finish(&self, counts: &[u64]) -> (Vec<Category>, u64, u64) {
        let categories = self.members.iter().zip(counts).map(|((name, value), count)| Category {
            name: name.clone(),
            value: *value,
            count: *count,
        });
        let [.., missing, unnamed] = counts else { unreachable!("both have a count") };
        (categories.collect(), *missing, *unnamed)
    }
}

impl Histogram {
    /// Makes a histogram with empty bins.
    fn new(low: f64, high: f64, bins: usize, whole: bool) -> Self {
        let bins = bins.clamp(1, MAX_BINS);
        let wide = |bins: usize| float(bins as u64);
        #[expect(
            clippy::float_cmp,
            reason = "a single value has its own bin, two close values do not"
        )]
        let is_one = low == high;
        if is_one {
            return Self { edges: vec![low, high], counts: vec![0] };
        }
        if whole && high - low < wide(bins) {
            let edges = (0_u32..).map(|nth| low + f64::from(nth) - 0.5);
            let edges: Vec<f64> = edges.take_while(|edge| *edge < high + 1.0).collect();
            let counts = vec![0; edges.len() - 1];
            return Self { edges, counts };
        }
        let edge = |nth: usize| {
            let part = wide(nth) / wide(bins);
            let edge = low + (high * part - low * part);
            match (nth == bins, edge.is_finite()) {
                (true, _) => high,
                (false, true) => edge,
                // The range itself overflows a float.
                (false, false) => low * (1.0 - part) + high * part,
            }
        };
        Self { edges: (0..=bins).map(edge).collect(), counts: vec![0; bins] }
    }

    /// Counts the numbers in each bin. Numbers outside the range and NaN are not counted.
    fn count(&self, numbers: &[f64]) -> Vec<u64> {
        let mut counts = vec![0; self.counts.len()];
        let [low, .., high] = *self.edges else { return counts };
        let last = counts.len() - 1;
        // Divided by two if the range itself overflows a float. Half of the smallest float is 0.
        let part = if (high - low).is_finite() { 1.0 } else { 0.5 };
        let (bins, range) = (float(counts.len() as u64), high * part - low * part);
        for number in numbers.iter().filter(|number| (low..=high).contains(*number)) {
            let mut bin = floor((number * part - low * part) / range * bins).min(last);
            // Compares with the edges to correct rounding. Bins narrower than a float have equal edges.
            while self.edges.get(bin).is_some_and(|edge| number < edge) {
                bin -= 1;
            }
            while bin < last && self.edges.get(bin + 1).is_some_and(|edge| number >= edge) {
                bin += 1;
            }
            *counts.get_mut(bin).expect("the last bin is the highest") += 1;
        }
        counts
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, and NaN becomes 0"
)]
fn floor(number: f64) -> usize {
    number as usize
}

/// Moments and extremes of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moments {
    finite: u64,
    nan: u64,
    positive: u64,
    negative: u64,
    low: f64,
    high: f64,
    mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
    /// As in [`Floats`].
    missing: u64,
    exact: Option<(Number, Number)>,
}

impl Default for Moments {
    fn default() -> Self {
        Self::of(Floats::default())
    }
}

impl Moments {
    /// Returns the moments of the numbers in one block.
    fn of(Floats { mut numbers, missing, exact }: Floats) -> Self {
        let (mut nan, mut positive, mut negative) = (0, 0, 0);
        // No early exit, so that several numbers are tested at once.
        if !numbers.iter().fold(true, |all, number| all & number.is_finite()) {
            numbers.retain(|number| {
                nan += u64::from(number.is_nan());
                positive += u64::from(*number == f64::INFINITY);
                negative += u64::from(*number == f64::NEG_INFINITY);
                number.is_finite()
            });
        }
        let numbers = numbers.as_slice();
        let count = float(numbers.len() as u64);
        let sum: f64 = in_lanes(numbers, 0.0, |sum, number| sum + number).into_iter().sum();
        let mean = if numbers.is_empty() {
            0.0
        } else if sum.is_finite() {
            sum / count
        } else {
            // Dividing first keeps the sum from overflowing.
            in_lanes(numbers, 0.0, |sum, number| sum + number / count).into_iter().sum()
        };
        let squares = in_lanes(numbers, 0.0, |sum, number| sum + (number - mean) * (number - mean));
        Self {
            finite: numbers.len() as u64,
            nan,
            positive,
            negative,
            low: in_lanes(numbers, f64::INFINITY, least).into_iter().fold(f64::INFINITY, least),
            high: in_lanes(numbers, f64::NEG_INFINITY, most)
                .into_iter()
                .fold(f64::NEG_INFINITY, most),
            mean,
            squares: squares.into_iter().sum(),
            missing,
            exact,
        }
    }

    /// Adds the moments of the numbers that follow, with the update of Chan, Golub and others (1979).
    fn add(&mut self, other: &Self) {
        self.nan += other.nan;
        self.positive += other.positive;
        self.negative += other.negative;
        self.missing += other.missing;
        self.exact = match (self.exact, other.exact) {
            (Some(ours), Some(theirs)) => Some(hull(ours, theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        if other.finite == 0 {
            return;
        }
        if self.finite == 0 {
            // The square of a distance from 0 may be infinite.
            self.mean = other.mean;
        }
        let (ours, theirs) = (float(self.finite), float(other.finite));
        self.finite += other.finite;
        let all = float(self.finite);
        (self.low, self.high) = (least(self.low, other.low), most(self.high, other.high));
        let apart = other.mean - self.mean;
        self.mean = if apart.is_finite() {
            self.mean + apart * (theirs / all)
        } else {
            self.mean * (ours / all) + other.mean * (theirs / all)
        };
        self.squares += other.squares + apart * apart * (ours * (theirs / all));
    }

    fn mean(&self) -> Option<f64> {
        (self.finite > 0).then_some(self.mean).filter(|mean| mean.is_finite())
    }

    fn std(&self) -> Option<f64> {
        let variance = (self.finite > 0).then(|| self.squares / float(self.finite))?;
        variance.is_finite().then(|| variance.sqrt())
    }
}

fn least(one: f64, other: f64) -> f64 {
    if other < one { other } else { one }
}

fn most(one: f64, other: f64) -> f64 {
    if other > one { other } else { one }
}

/// Folds every eighth number, beginning at each of the first eight.
fn in_lanes(numbers: &[f64], start: f64, fold: impl Fn(f64, f64) -> f64) -> [f64; LANES] {
    let mut lanes = [start; LANES];
    let chunks = numbers.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane = fold(*lane, *number);
        }
    }
    for (lane, number) in lanes.iter_mut().zip(rest) {
        *lane = fold(*lane, *number);
    }
    lanes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn members_and_other_elements_are_counted() {
        let members = [("a".to_owned(), -1), ("b".to_owned(), 3), ("again".to_owned(), 3)];
        let counter = Counter::new(ElementType::INT8, None, &members).unwrap();
        let (categories, _, unnamed) = counter.finish(&counter.count(&[255, 3, 3, 7]));
        let counts: Vec<_> = categories.iter().map(|category| category.count).collect();
        assert_eq!((counts, unnamed), (vec![1, 2, 0], 1));
        let wide = Counter::new(ElementType::INT16, None, &members).unwrap();
        let bytes: Vec<u8> = [-1_i16, 3, 300].into_iter().flat_map(i16::to_ne_bytes).collect();
        let (categories, _, unnamed) = wide.finish(&wide.count(&bytes));
        assert_eq!((categories[0].count, categories[1].count, unnamed), (1, 1, 1));
        assert!(Counter::new(ElementType::FLOAT32, None, &members).is_none());
    }

    fn counted(low: f64, high: f64, bins: usize, whole: bool, numbers: &[f64]) -> Histogram {
        let mut histogram = Histogram::new(low, high, bins, whole);
        histogram.counts = histogram.count(numbers);
        histogram
    }

    #[test]
    fn edges_belong_to_the_upper_bin_and_the_last_edge_to_the_last_bin() {
        let numbers = [0.0, 0.5, 1.0, 1.5, 2.0, f64::NAN, f64::INFINITY];
        let histogram = counted(0.0, 2.0, 2, false, &numbers);
        assert_eq!((histogram.edges, histogram.counts), (vec![0.0, 1.0, 2.0], vec![2, 3]));
    }

    #[test]
    fn few_integers_get_a_bin_each() {
        let histogram = counted(-1.0, 2.0, 10, true, &[-1.0, 0.0, 0.0, 2.0]);
        assert_eq!(histogram.edges, [-1.5, -0.5, 0.5, 1.5, 2.5]);
        assert_eq!(histogram.counts, [1, 2, 0, 1]);
    }

    #[test]
    fn every_number_is_counted_in_any_range() {
        let alike = counted(0.1, 0.1, 10, false, &[0.1; 5]);
        assert_eq!(alike.counts, [5]);
        for (low, high) in [(-f64::MAX, f64::MAX), (0.0, 5e-324), (1.0, 1.0 + f64::EPSILON)] {
            let histogram = counted(low, high, 7, false, &[low, high, low / 2.0 + high / 2.0]);
            assert_eq!(histogram.counts.iter().sum::<u64>(), 3, "{low}..{high}");
        }
    }

    fn of(numbers: &[f64]) -> Moments {
        let mut moments = Moments::default();
        for block in numbers.chunks(100) {
            moments.add(&Moments::of(Floats { numbers: block.to_vec(), ..Floats::default() }));
        }
        moments
    }

    #[test]
    fn empty_single_and_equal_numbers_have_a_histogram() {
        assert_eq!((of(&[]).finite, of(&[]).mean(), of(&[]).std()), (0, None, None));
        let nan = of(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!((nan.nan, nan.positive, nan.negative, nan.mean()), (1, 1, 1, None));
        let alike = of(&[0.1; 1000]);
        assert_eq!((alike.low, alike.high), (0.1, 0.1));
        assert!((alike.mean().unwrap() - 0.1).abs() < 1e-15 && alike.std().unwrap() < 1e-15);
    }

    #[test]
    fn huge_numbers_have_a_mean() {
        let huge = of(&[f64::MAX; 1000]);
        assert!((huge.mean().unwrap() / f64::MAX - 1.0).abs() < 1e-12);
        let both = of(&[f64::MAX, -f64::MAX].repeat(500));
        assert!(both.mean().unwrap().abs() < f64::MAX * 1e-9);
        assert_eq!(both.std(), None, "its square overflows a float");
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
            prop_assert_eq!((moments.low, moments.high), (low, high));
        }
    }
}
