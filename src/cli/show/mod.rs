//! `ra-pack show`

pub(super) mod values;

use std::path::PathBuf;

use clap::Args;
use ra_pack::ndl::{Document, Ndarray, Value};
use ra_pack::ra::split_slice;
use ra_pack::{
    Axis, Corners, CornersOptions, NameStatistics, NumberStatistics, Pack, Statistics,
    StatisticsOptions,
};
use serde::Serialize;

use super::array;
use super::numbers::{digits, float, stepped};
use super::output::Output;
use super::{Ending, Failure};

/// Arrays of no more elements are shown whole.
const THRESHOLD: u64 = 1000;

/// Coordinates of no more elements are shown whole.
const FEW: u64 = 6;

/// Bars of a histogram.
const BINS: usize = 12;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack show exp.zip run1/temperature.ra
  ra-pack show exp.zip run1/temperature.ra --stats
  ra-pack show exp.zip run1/temperature.ra --slice '0,:' --full
  ra-pack show temperature.ra --json")]
pub(crate) struct Show {
    /// The archive or directory, or an array by itself.
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,

    /// The array, as `list` shows it.
    #[arg(value_name = "MEMBER")]
    member: Option<String>,

    /// A part of the array, like numpy's: `0:10,:,3`, in the order of its description's shape.
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    slice: Option<String>,

    /// Compute statistics of all values, and draw a histogram.
    #[arg(long)]
    stats: bool,

    /// Show every value.
    #[arg(long, conflicts_with = "edge")]
    full: bool,

    /// Show so many values at each end of a dimension.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u64).range(1..=1000))]
    edge: u64,

    /// Show so many digits behind the point at most.
    #[arg(long, value_name = "DIGITS", default_value = "8", value_parser = clap::value_parser!(u64).range(0..=40))]
    precision: u64,

    /// Threads to use for --stats [default: one for each core].
    #[arg(short, long, value_name = "N", value_parser = super::args::jobs)]
    jobs: Option<usize>,

    /// Print the result as JSON on standard output.
    #[arg(long)]
    json: bool,
}

/// The result of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    archive: PathBuf,
    member: String,
    #[serde(rename = "type")]
    element: String,
    shape: Vec<u64>,
    dimensions: Vec<Dimension>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Document>,
    /// The shape of the part that is shown.
    shown_shape: Vec<u64>,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Statistics>,
}

/// A dimension and its coordinate.
#[derive(Debug, Serialize)]
struct Dimension {
    name: Option<String>,
    extent: u64,
    coordinate: Option<String>,
    label: Option<String>,
    values: Option<String>,
    dates: Option<(String, String)>,
}

pub(super) fn run(args: &Show, output: &Output) -> Result<Ending, Failure> {
    let (pack, member) = array::open(&args.archive, args.member.as_deref(), &output.progress())?;
    let array = pack.array(&member)?.in_shape_order()?;
    let axes = array.axes()?;
    let edge = (!args.full).then_some(args.edge);
    let options = CornersOptions { slice: args.slice.clone(), edge, threshold: THRESHOLD };
    let corners = array.corners(&options)?;
    let precision = usize::try_from(args.precision).unwrap_or(8);
    let found = if args.stats {
        let slice = args.slice.clone();
        let options = StatisticsOptions { slice, bins: Some(BINS), jobs: args.jobs };
        Some(array.statistics(&options)?)
    } else {
        None
    };
    // It has been held against the shape.
    let parts = split_slice(args.slice.as_deref().unwrap_or_default(), axes.len());
    let parts = parts.unwrap_or_else(|_| vec![WHOLE; axes.len()]);
    let dimensions = axes
        .iter()
        .zip(&parts)
        .map(|(axis, part)| dimension(&pack, axis, part))
        .collect::<Result<Vec<_>, Failure>>()?;
    let text = values::text(&corners, precision);
    if args.json {
        let description = corners.description.clone().map(|ndarray| {
            let mut document = Document::flat();
            if let Some(root) = document.groups.first_mut() {
                root.ndarrays.push(ndarray);
            }
            document
        });
        output.json(&Report {
            archive: args.archive.clone(),
            member,
            element: values::type_name(corners.description.as_ref(), corners.element),
            shape: axes.iter().map(|axis| axis.extent).collect(),
            dimensions,
            description,
            shown_shape: corners.shape,
            text,
            statistics: found,
        })?;
        return Ok(Ending::Clean);
    }
    let mut all = head(&member, &corners, &dimensions, args.slice.as_deref());
    if let Some(found) = &found {
        let units = array::attribute(corners.description.as_ref(), "units");
        let units = units.map_or_else(String::new, |units| format!(" {units}"));
        let (width, _) = output.size();
        all.push('\n');
        all.push_str(&statistics_text(found, &units, width, Output::is_unicode()));
    } else {
        all.push('\n');
        all.push_str(&text);
        all.push('\n');
        all.push_str(&attributes(corners.description.as_ref()));
    }
    output.result(&all)?;
    Ok(Ending::Clean)
}

/// The head: type, shape, meaning, coordinates.
fn head(member: &str, corners: &Corners, dimensions: &[Dimension], slice: Option<&str>) -> String {
    let description = corners.description.as_ref();
    let extent = |dimension: &Dimension| match &dimension.name {
        Some(name) => format!("{name}: {}", dimension.extent),
        None => dimension.extent.to_string(),
    };
    let extents: Vec<String> = dimensions.iter().map(extent).collect();
    let mut text = format!(
        "{} ({}) {}\n",
        ra_pack::escape(member),
        extents.join(", "),
        values::type_name(description, corners.element)
    );
    if let Some(label) = array::label(description) {
        text.extend([format!("{label}\n")]);
    }
    if let Some(slice) = slice {
        let extents: Vec<String> = corners.shape.iter().map(u64::to_string).collect();
        text.extend([format!("slice {} ({})\n", ra_pack::escape(slice), extents.join(", "))]);
    }
    let width = dimensions.iter().filter_map(|dimension| dimension.name.as_ref());
    let width = width.map(|name| name.chars().count()).max().unwrap_or(0);
    let mut is_first = true;
    for dimension in dimensions {
        let Some(name) = &dimension.name else { continue };
        if dimension.label.is_none() && dimension.values.is_none() {
            continue;
        }
        if is_first {
            text.push_str("\nCoordinates:\n");
            is_first = false;
        }
        let values = dimension.values.clone().unwrap_or_default();
        let label = dimension.label.clone().unwrap_or_default();
        text.push_str(format!("  {name:<width$}  {values}  {label}").trim_end());
        text.push('\n');
        if let Some((first, last)) = &dimension.dates {
            let moments = if first == last { first.clone() } else { format!("{first} to {last}") };
            text.extend([format!("  {:<width$}  {moments}\n", "")]);
        }
    }
    text
}

/// All of a dimension.
const WHOLE: &str = ":";

/// The facts of a dimension, with the coordinates of the part that is shown.
fn dimension(pack: &Pack, axis: &Axis, part: &str) -> Result<Dimension, Failure> {
    let name = axis.name.as_ref().map(|name| ra_pack::escape(name).to_string());
    let mut found = Dimension {
        name,
        extent: axis.extent,
        coordinate: None,
        label: None,
        values: None,
        dates: None,
    };
    let Some(coordinate) = &axis.coordinate else { return Ok(found) };
    let description = coordinate.description.as_ref();
    found.label = array::label(description);
    found.coordinate.clone_from(&coordinate.member);
    let Some(member) = &coordinate.member else {
        let value = description.and_then(|description| description.value.as_ref());
        // A slice of a value in a document is not shown.
        found.values = value.filter(|_| part == WHOLE).map(|value| flow(value, FEW));
        return Ok(found);
    };
    let slice = (part != WHOLE).then(|| part.to_owned());
    let options = CornersOptions { slice, edge: Some(2), threshold: FEW };
    let corners = pack.array(member)?.corners(&options)?;
    found.values = Some(values::text(&corners, 6).split_whitespace().collect::<Vec<_>>().join(" "));
    found.dates = array::dates(description)
        .zip(array::ends(&corners))
        .and_then(|(dates, (first, last))| Some((dates.exact(first)?, dates.exact(last)?)));
    Ok(found)
}

fn attributes(description: Option<&Ndarray>) -> String {
    let Some(description) = description.filter(|description| !description.attributes.is_empty())
    else {
        return String::new();
    };
    let mut text = "\nAttributes:\n".to_owned();
    let names = description.attributes.iter();
    let width = names.map(|attribute| attribute.name.chars().count()).max().unwrap_or(0);
    for attribute in &description.attributes {
        let name = ra_pack::escape(&attribute.name).to_string();
        text.extend([format!("  {name:<width$}  {}\n", flow(&attribute.value, 20))]);
    }
    text
}

/// A value on one line, with no more than `most` elements of a list.
pub(super) fn flow(value: &Value, most: u64) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::String(text) => ra_pack::escape(text).to_string(),
        Value::List(list) => {
            let limit = usize::try_from(most).unwrap_or(usize::MAX);
            let mut parts: Vec<String> =
                list.iter().take(limit).map(|value| flow(value, most)).collect();
            if list.len() > limit {
                parts.push("...".to_owned());
            }
            format!("[{}]", parts.join(", "))
        }
        Value::Map(map) => {
            let part = |(name, value): &(String, Value)| {
                format!("{}: {}", ra_pack::escape(name), flow(value, most))
            };
            format!("{{{}}}", map.iter().map(part).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Letters of the longest bar that is worth drawing.
const WIDEST: usize = 60;

/// Eighths of a block.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

fn statistics_text(statistics: &Statistics, unit: &str, width: usize, unicode: bool) -> String {
    match statistics {
        Statistics::Numbers(numbers) => of_numbers(numbers, "", unit, width, unicode),
        Statistics::Magnitudes(numbers) => {
            of_numbers(numbers, " (of magnitudes)", unit, width, unicode)
        }
        Statistics::Names(names) => of_names(names, width, unicode),
        Statistics::Nothing { count, reason } => {
            format!("Statistics: none of {count} elements, which are {reason}\n")
        }
        _ => String::new(),
    }
}

fn of_numbers(
    numbers: &NumberStatistics,
    of: &str,
    unit: &str,
    width: usize,
    unicode: bool,
) -> String {
    let mut text = format!("Statistics{of}:\n");
    let mut line = |name: &str, value: String| {
        text.extend([format!("  {name:<9}{value}\n")]);
    };
    line("elements", numbers.count.to_string());
    for (name, count) in [
        ("missing", numbers.missing),
        ("NaN", numbers.nan),
        ("+inf", numbers.positive_infinite),
        ("-inf", numbers.negative_infinite),
    ] {
        if count > 0 {
            line(name, count.to_string());
        }
    }
    if numbers.finite < numbers.count {
        line("values", numbers.finite.to_string());
    }
    let text_of = |number: Option<f64>| {
        number.map_or_else(|| "beyond what a float holds".to_owned(), |number| digits(number, 7))
    };
    if let (Some(min), Some(max)) = (numbers.min, numbers.max) {
        line("min", format!("{min}{unit}"));
        line("max", format!("{max}{unit}"));
        line("mean", text_of(numbers.mean) + unit);
        line("std", text_of(numbers.std) + unit);
    }
    if let Some(histogram) = &numbers.histogram {
        let rows: Vec<(String, u64)> = histogram
            .edges
            .windows(2)
            .zip(&histogram.counts)
            .map(|(edges, count)| {
                let middle = match edges {
                    [low, high] => low / 2.0 + high / 2.0,
                    _ => 0.0,
                };
                (rounded(middle, &histogram.edges), *count)
            })
            .collect();
        text.push('\n');
        text.push_str(&bars(&rows, true, width, unicode));
    }
    text
}

fn of_names(names: &NameStatistics, width: usize, unicode: bool) -> String {
    let mut text = format!("Statistics:\n  elements {}\n\n", names.count);
    let mut rows: Vec<(String, u64)> = names
        .categories
        .iter()
        .map(|category| (ra_pack::escape(&category.name).to_string(), category.count))
        .collect();
    if names.unnamed > 0 {
        rows.push(("(no name)".to_owned(), names.unnamed));
    }
    text.push_str(&bars(&rows, false, width, unicode));
    text
}

/// A bar for each row, below each other.
fn bars(rows: &[(String, u64)], to_right: bool, width: usize, unicode: bool) -> String {
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let labels = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let counts = most.to_string().len();
    let room =
        width.saturating_sub(labels.saturating_add(counts).saturating_add(6)).clamp(8, WIDEST);
    let mut text = String::new();
    for (label, count) in rows {
        let bar = bar(*count, most, room, unicode);
        let label =
            if to_right { format!("{label:>labels$}") } else { format!("{label:<labels$}") };
        text.push_str(format!("  {label}  {count:>counts$}  {bar}").trim_end());
        text.push('\n');
    }
    text
}

fn bar(count: u64, most: u64, room: usize, unicode: bool) -> String {
    let parts = if unicode { 8 } else { 1 };
    let room = u128::try_from(room).unwrap_or(0).saturating_mul(parts);
    let filled = u128::from(count).saturating_mul(room).checked_div(most.into()).unwrap_or(0);
    // Every row with a count is seen.
    let filled = filled.max(u128::from(count > 0));
    let whole = usize::try_from(filled.checked_div(parts).unwrap_or(0)).unwrap_or(0);
    if !unicode {
        return "#".repeat(whole);
    }
    let mut bar = "█".repeat(whole);
    let rest = usize::try_from(filled.checked_rem(8).unwrap_or(0)).unwrap_or(0);
    if let Some(rest) = rest.checked_sub(1) {
        bar.extend(EIGHTHS.get(rest));
    }
    bar
}

/// A number with no more digits than tell the bins apart.
fn rounded(number: f64, edges: &[f64]) -> String {
    let step = match edges {
        [low, .., high] => (high / 2.0 - low / 2.0) / float(edges.len()) * 2.0,
        _ => f64::NAN,
    };
    let has_whole_steps =
        edges.iter().zip(edges.iter().skip(1)).all(|(low, high)| (high - low - 1.0).abs() < 1e-9);
    stepped(number, if has_whole_steps { 1.0 } else { step / 10.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_counts() {
        assert_eq!(bar(8, 8, 10, true), "██████████");
        assert_eq!(bar(1, 16, 2, true), "▏");
        assert_eq!(bar(1, 1_000_000, 10, true), "▏");
        assert_eq!(
            (bar(0, 8, 10, true), bar(4, 8, 10, false)),
            (String::new(), "#####".to_owned())
        );
        assert_eq!(bar(0, 0, 10, true), "");
    }
}
