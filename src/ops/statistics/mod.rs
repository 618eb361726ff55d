//! Statistics of one array, in bounded memory whatever its size.
//!
//! Two passes are made where a histogram is wanted: one for the range, one for the counts. A small array
//! is kept between them. Blocks are of a fixed number of elements and their results are combined in the
//! order of the file, so that the same elements give the same bits in every container and with any number
//! of threads.

mod categories;
mod histogram;
mod moments;

use serde::Serialize;

use self::categories::Counter;
use self::moments::Moments;
use super::open::PackedArray;
use super::values::{self, Converter, Found, Meaning, Number, Part};
use crate::error::Result;
use crate::pipeline;

pub use self::categories::Category;
pub use self::histogram::Histogram;

/// Elements that are kept between two passes.
const KEPT: u64 = 1 << 20;

/// What to compute.
#[derive(Debug, Clone, Default)]
pub struct StatisticsOptions {
    /// The part of the array, as in `0:10,:,3`, in the order of its indices.
    pub slice: Option<String>,
    /// Bins of a histogram over the finite values; none when not given.
    pub bins: Option<usize>,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
}

/// Statistics of the values of an array.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "of", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Statistics {
    /// Numbers.
    Numbers(NumberStatistics),
    /// The magnitudes of complex numbers.
    Magnitudes(NumberStatistics),
    /// Truth values and enums: how many there are of each.
    Names(NameStatistics),
    /// Elements that are no numbers.
    Nothing {
        /// The number of elements.
        count: u64,
        /// The kind of the elements.
        reason: String,
    },
}

/// Statistics of numbers. All but the counts are of the finite values: those that are neither missing
/// nor NaN nor infinite.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NumberStatistics {
    /// The number of elements.
    pub count: u64,
    /// The number of elements that are finite and not missing.
    pub finite: u64,
    /// The number of missing values by the description: `storage.fillvalue`, the attributes
    /// `_FillValue` and `missing_value`, and what lies outside `valid_range`, `valid_min`, `valid_max`.
    pub missing: u64,
    /// The number of elements that are NaN and not missing.
    pub nan: u64,
    /// The number of elements that are positive infinity.
    pub positive_infinite: u64,
    /// The number of elements that are negative infinity.
    pub negative_infinite: u64,
    /// The least value, exact; text for integers beyond 64 bits.
    pub min: Option<Number>,
    /// The greatest value, exact; text for integers beyond 64 bits.
    pub max: Option<Number>,
    /// The arithmetic mean; nothing when there are no values, or it is beyond what a float holds.
    pub mean: Option<f64>,
    /// The standard deviation of the values themselves (divided by their number); nothing when there are
    /// no values, or it is beyond what a float holds.
    pub std: Option<f64>,
    /// The distribution of the values, where it was asked for and there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
    /// Whether a manifest vouches for the elements.
    pub verified: bool,
}

/// The count of each name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NameStatistics {
    /// The number of elements.
    pub count: u64,
    /// The count of each name, in the order of the description.
    pub categories: Vec<Category>,
    /// The number of elements that are none of these.
    pub unnamed: u64,
    /// Whether a manifest vouches for the elements.
    pub verified: bool,
}

impl PackedArray<'_> {
    /// Statistics of the array, or of a part of it.
    ///
    /// Elements are read in blocks, so that memory does not grow with the array, however it is
    /// compressed (an array whose own header says that it is encoded is decoded as a whole). The result
    /// does not depend on the number of threads, nor on the container. A whole array is held against the
    /// manifest on the way, a slice of a stored one is not, as in [`PackedArray::slice`].
    ///
    /// ```
    /// # fn main() -> ra_pack::Result<()> {
    /// use ra_pack::{Pack, Statistics};
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
    /// When the array cannot be read, is damaged, or the slice does not fit it.
    pub fn statistics(&self, options: &StatisticsOptions) -> Result<Statistics> {
        let part = Part::new(self, options.slice.as_deref())?;
        let jobs = pipeline::jobs(options.jobs);
        let count = part.selection.elements();
        Ok(match part.meaning() {
            Meaning::Numbers(converter) => {
                Statistics::Numbers(numbers(&part, &converter, options.bins, jobs)?)
            }
            Meaning::Magnitudes(converter) => {
                Statistics::Magnitudes(numbers(&part, &converter, options.bins, jobs)?)
            }
            Meaning::Names(element, members) => match Counter::new(element, &members) {
                Some(counter) => Statistics::Names(names(&part, &counter, jobs)?),
                None => Statistics::Nothing { count, reason: format!("names of `{element}`") },
            },
            Meaning::Other(reason) => Statistics::Nothing { count, reason },
        })
    }
}

fn numbers(
    part: &Part<'_>,
    converter: &Converter,
    bins: Option<usize>,
    jobs: usize,
) -> Result<NumberStatistics> {
    let count = part.selection.elements();
    let keeps = bins.is_some() && count <= KEPT;
    let mut kept = Vec::new();
    let mut found = Found::default();
    let mut moments = Moments::default();
    let look = |floats: &mut Vec<f64>, block: &[u8]| {
        let found = converter.convert(block, floats);
        let kept = if keeps { floats.clone() } else { Vec::new() };
        (found, Moments::of(floats), kept)
    };
    let take = |(more, block, floats): (Found, Moments, Vec<f64>)| {
        found.add(more);
        moments.add(&block);
        kept.extend(floats);
    };
    let verified = values::for_each(part.array, &part.selection, jobs, Vec::new, look, take)?;
    let range = moments.range();
    let mut histogram = None;
    if let Some((bins, (low, high))) = bins.zip(range) {
        let whole = !matches!(converter.number(0.0), Number::Float32(_) | Number::Float64(_));
        let mut counted = Histogram::new(low, high, bins, whole);
        if keeps {
            counted.add(&counted.count(&kept));
        } else {
            let empty = counted.clone();
            let look = |floats: &mut Vec<f64>, block: &[u8]| {
                converter.convert(block, floats);
                empty.count(floats)
            };
            let take = |counts: Vec<u64>| counted.add(&counts);
            values::for_each(part.array, &part.selection, jobs, Vec::new, look, take)?;
        }
        histogram = Some(counted);
    }
    let exact = found
        .exact
        .or_else(|| range.map(|(low, high)| (converter.number(low), converter.number(high))));
    Ok(NumberStatistics {
        count,
        finite: moments.finite,
        missing: found.missing,
        nan: moments.nan.saturating_sub(found.missing),
        positive_infinite: moments.positive,
        negative_infinite: moments.negative,
        min: exact.map(|(low, _)| low),
        max: exact.map(|(_, high)| high),
        mean: moments.mean(),
        std: moments.std(),
        histogram,
        verified,
    })
}

fn names(part: &Part<'_>, counter: &Counter, jobs: usize) -> Result<NameStatistics> {
    let mut counts = counter.none();
    let look = |(): &mut (), block: &[u8]| counter.count(block);
    let take = |more: Vec<u64>| {
        for (count, more) in counts.iter_mut().zip(more) {
            *count = count.saturating_add(more);
        }
    };
    let verified = values::for_each(part.array, &part.selection, jobs, || (), look, take)?;
    let (categories, unnamed) = counter.finish(&counts);
    Ok(NameStatistics { count: part.selection.elements(), categories, unnamed, verified })
}
