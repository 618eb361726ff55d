//! Statistics as rows of names and texts.

use super::array;
use super::text::{digits, float, mean_text, stepped};
use crate::ndl::Ndarray;
use crate::path::escape;
use crate::read::{Category, Histogram, NameStatistics, Number, NumberStatistics, date_of};

/// Returns the counts of elements, and the smallest, largest and mean value with units or as dates. The description has
/// the units; if the second part of `meaning` is true, numbers are those that are stored.
pub fn rows(
    numbers: &NumberStatistics,
    (description, raw): (Option<&Ndarray>, bool),
) -> Vec<(&'static str, String)> {
    let others = [
        ("missing", numbers.missing),
        ("NaN", numbers.nan),
        ("+inf", numbers.positive_infinite),
        ("-inf", numbers.negative_infinite),
    ];
    let others = others.into_iter().filter(|(_, count)| *count > 0);
    let values = (numbers.finite < numbers.count).then_some(("values", numbers.finite));
    let counts = [("elements", numbers.count)].into_iter().chain(others).chain(values);
    let mut rows: Vec<_> = counts.map(|(name, count)| (name, count.to_string())).collect();
    let units = array::attribute(description, "units").unwrap_or_default();
    // The length of time between two dates has the unit before their epoch.
    let [unit, unit_of_std] = [&*units, units.split(" since ").next().unwrap_or_default()]
        .map(|units| if units.is_empty() { String::new() } else { format!(" {units}") });
    let date = |number| date_of(description.filter(|_| !raw)?, number);
    let text_of = |number: f64, unit: &str| digits(number, 7) + unit;
    if let (Some(min), Some(max)) = (numbers.min, numbers.max) {
        for (name, number) in [("min", min), ("max", max)] {
            rows.push((name, date(number).unwrap_or_else(|| format!("{number}{unit}"))));
        }
        let mean = numbers.mean.map(|mean| {
            date(Number::Float64(mean)).unwrap_or_else(|| mean_text(mean, numbers.std, 7) + &unit)
        });
        let std = numbers.std.map(|std| text_of(std, &unit_of_std));
        for (name, text) in [("mean", mean), ("std", std)] {
            rows.push((name, text.unwrap_or_else(|| "out of range of a float".to_owned())));
        }
    }
    rows
}

/// Returns the middle of each bin of a histogram as text, with its count.
pub fn bins(
    Histogram { edges, counts }: &Histogram,
    (description, raw): (Option<&Ndarray>, bool),
) -> Vec<(String, u64)> {
    let bins = edges.iter().zip(edges.iter().skip(1));
    let middles = bins.map(|(low, high)| low / 2.0 + high / 2.0);
    let label = |middle| {
        let date = date_of(description.filter(|_| !raw)?, Number::Float64(middle));
        Some(date?.split('.').next()?.to_owned())
    };
    let text = |middle| label(middle).unwrap_or_else(|| rounded(middle, edges));
    middles.zip(counts).map(|(middle, count)| (text(middle), *count)).collect()
}

/// Returns the names of elements with their counts.
pub fn names(names: &NameStatistics) -> Vec<(String, u64)> {
    let row = |category: &Category| (escape(&category.name).to_string(), category.count);
    let others = [("(no name)", names.unnamed), ("(missing)", names.missing)];
    let others = others.into_iter().filter(|(_, count)| *count > 0);
    let others = others.map(|(name, count)| (name.to_owned(), count));
    names.categories.iter().map(row).chain(others).collect()
}

/// Formats an edge with as many digits as needed to distinguish bins.
fn rounded(number: f64, edges: &[f64]) -> String {
    let step = match edges {
        [low, .., high] => (high / 2.0 - low / 2.0) / float(edges.len()) * 2.0,
        _ => f64::NAN,
    };
    let has_whole_steps =
        edges.iter().zip(edges.iter().skip(1)).all(|(low, high)| (high - low - 1.0).abs() < 1e-9);
    stepped(number, if has_whole_steps { 1.0 } else { step / 10.0 })
}
