//! `ra-pack show`

mod pack;
pub(super) use std::path::PathBuf;

use clap::Args;
use ra_pack::Pack;
use ra_pack::display::statistics;
use ra_pack::display::values::{self, flow};
use ra_pack::ndl::{Document, Ndarray};
use ra_pack::ra::split_slice;
use ra_pack::read::{
    Axis, Corners, CornersOptions, NameStatistics, NumberStatistics, Statistics, StatisticsOptions,
};
use serde::Serialize;

use super::array;
use super::array::{ByCoordinate, Stored};
use super::common::{Common, number};
use super::output::Output;
use super::table::aligned;
use super::text::{columns, count, float, indented};
use super::{Ending, Failure};

/// Largest array that is shown completely, in elements.
const THRESHOLD: u64 = 1000;

/// Largest coordinate that is shown completely, in elements.
const FEW: u64 = 6;

/// Number of bars of a histogram.
const BINS: usize = 12;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack show exp.zip
  ra-pack show exp.zip run1
  ra-pack show exp.zip run1/temperature.ra
  ra-pack show exp.zip run1/temperature.ra --stats
  ra-pack show exp.zip run1/temperature.ra --slice '0,:' --full
  ra-pack show temperature.ra --json")]
pub(crate) struct ShowArgs {
    /// Archive, directory or array (.ra).
    #[arg(value_name = "TARGET")]
    pub(super) archive: PathBuf,

    /// Array or group of the pack, as shown by `list` [default: the whole pack].
    #[arg(value_name = "MEMBER")]
    member: Option<String>,

    /// Show a part of the array, in NumPy syntax: `0:10,:,3`. As in NumPy, a range is
    /// cut at the ends of its dimension, and an index out of range is an error.
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    slice: Option<String>,

    #[command(flatten)]
    by_coordinate: ByCoordinate,

    #[command(flatten)]
    stored: Stored,

    /// Compute statistics of all values, and draw a histogram.
    #[arg(long)]
    stats: bool,

    /// Show all values; for a pack, all groups and arrays with all attributes.
    #[arg(long, conflicts_with = "edge")]
    full: bool,

    /// Show N values at each end of a dimension.
    #[arg(long, value_name = "N", default_value = "3", value_parser = |text: &str| number(text, 1..=1000_u64))]
    edge: u64,

    /// Show at most N digits after the decimal point.
    #[arg(long, value_name = "N", default_value = "8", value_parser = |text: &str| number(text, 0..=40_u64))]
    precision: u64,

    #[command(flatten)]
    common: Common,
}

/// Array and its values.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ShownArray {
    /// The path of the archive, directory or array file, as given.
    pub(super) target: PathBuf,
    /// The name of the array.
    member: String,
    /// The element type, as text.
    #[serde(rename = "type")]
    element: String,
    /// The shape of the whole array, in the order of its description.
    shape: Vec<u64>,
    /// The dimensions of the whole array, in the same order.
    dimensions: Vec<Dimension>,
    /// The description as an NDL document; see the schema `ndl`.
    #[cfg_attr(test, schemars(schema_with = "super::reference::tests::object"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Document>,
    /// The shape of the part that is shown.
    shown_shape: Vec<u64>,
    /// The values as text, as the command shows them. `get --format json` writes all of them as numbers.
    text: String,
    /// Whether the values were checked against the manifest or against block digests.
    verified: bool,
    /// Statistics of the part that is shown, with `--stats`.
    #[cfg_attr(test, schemars(schema_with = "super::reference::tests::statistics"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Statistics>,
}

/// Dimension and its coordinate.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Dimension {
    /// The name, if the description gives one.
    name: Option<String>,
    /// The length.
    extent: u64,
    /// The member with the coordinates, if there is one.
    coordinate: Option<String>,
    /// The long name and units of the coordinate, if it has any; with the conversion if the units are not those of the
    /// stored numbers.
    label: Option<String>,
    /// The coordinates as text; only the first and last of many.
    values: Option<String>,
}

/// Whether an option is given that needs the values of an array.
fn asks_for_values(args: &ShowArgs) -> bool {
    args.slice.is_some() || args.by_coordinate.is_given() || args.stats
}

pub(super) fn run(args: &ShowArgs, output: &Output) -> Result<Ending, Failure> {
    let group = match args.member.as_deref() {
        None if !asks_for_values(args) => ra_pack::files::is_pack(&args.archive)?.then_some(None),
        Some(name) if name.starts_with('/') || name.ends_with('/') => Some(Some(name)),
        _ => None,
    };
    if let Some(group) = group
        && let Some(ending) = pack::run(args, group, output)?
    {
        return Ok(ending);
    }
    match array(args, output) {
        Err(Failure::Operation(error, next))
            if matches!(*error, ra_pack::Error::IsDirectory { .. }) && !asks_for_values(args) =>
        {
            let shown = pack::run(args, args.member.as_deref(), output)?;
            shown.ok_or(Failure::Operation(error, next))
        }
        ended => ended,
    }
}

fn array(args: &ShowArgs, output: &Output) -> Result<Ending, Failure> {
    let (pack, member) = array::open(&args.archive, args.member.as_deref(), &output.progress())?;
    let array = pack.array(&member)?.in_shape_order()?;
    let axes = array.axes()?;
    let slice = args.by_coordinate.slice(&array, args.slice.as_ref())?;
    let edge = (!args.full).then_some(args.edge);
    let options = CornersOptions { slice: slice.clone(), edge, threshold: THRESHOLD };
    let corners = array.corners(&options)?;
    let (precision, raw) = (count(float(args.precision)), args.stored.raw);
    let options =
        StatisticsOptions { slice: slice.clone(), bins: Some(BINS), raw, jobs: args.common.jobs };
    let found = args.stats.then(|| array.statistics(&options)).transpose()?;
    // The slice was checked against the shape.
    let parts = split_slice(slice.as_deref().unwrap_or_default(), axes.len());
    let parts = parts.unwrap_or_else(|_| vec![WHOLE; axes.len()]);
    let dimensions = axes
        .iter()
        .zip(&parts)
        .map(|(axis, part)| dimension(&pack, axis, part, raw))
        .collect::<Result<Vec<_>, Failure>>()?;
    let text = values::text(&corners, precision, raw);
    if args.common.json {
        let description = corners.description.clone();
        let description = description.map(|ndarray| Document::of(ndarray, false));
        output.json(&ShownArray {
            target: args.archive.clone(),
            member,
            element: values::type_name(corners.description.as_ref(), corners.element),
            shape: axes.iter().map(|axis| axis.extent).collect(),
            dimensions,
            description,
            shown_shape: corners.shape,
            text,
            verified: corners.verified,
            statistics: found,
        })?;
        return Ok(Ending::Clean);
    }
    let mut all = head(&member, &corners, (&dimensions, raw), slice.as_deref());
    all.push('\n');
    if let Some(found) = &found {
        let description = corners.description.as_ref().filter(|it| !(raw && array::is_scaled(it)));
        all.push_str(&statistics_text(
            found,
            (description, raw),
            output.size().0,
            Output::is_unicode(),
        ));
    } else {
        all.push_str(&text);
        all.push('\n');
        all.push_str(&attributes(corners.description.as_ref()));
    }
    output.result(&all)?;
    if pack.is_remote() && !corners.verified {
        output.note(array::NOT_VERIFIED);
    }
    Ok(Ending::Clean)
}

/// Formats the head: type, shape, long name, coordinates.
fn head(
    member: &str,
    corners: &Corners,
    (dimensions, raw): (&[Dimension], bool),
    slice: Option<&str>,
) -> String {
    let description = corners.description.as_ref();
    let extent = |dimension: &Dimension| match &dimension.name {
        Some(name) => format!("{name}: {}", dimension.extent),
        None => dimension.extent.to_string(),
    };
    let extents = array::folded(&dimensions.iter().map(extent).collect::<Vec<_>>());
    let kind = values::type_name(description, corners.element);
    let mut lines = vec![format!("{} ({extents}) {kind}", ra_pack::path::escape(member))];
    lines.extend(array::label(description, raw));
    if let Some(slice) = slice {
        let extents = array::folded(&corners.shape.iter().map(u64::to_string).collect::<Vec<_>>());
        lines.push(format!("slice {} ({extents})", ra_pack::path::escape(slice)));
    }
    let names =
        || dimensions.iter().filter_map(|dimension| Some((dimension.name.as_ref()?, dimension)));
    let width = names().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let known = names().filter(|(_, it)| it.label.is_some() || it.values.is_some());
    for (nth, (name, dimension)) in known.enumerate() {
        lines.extend((nth == 0).then(|| "\nCoordinates:".to_owned()));
        let [values, label] =
            [&dimension.values, &dimension.label].map(|text| text.as_deref().unwrap_or_default());
        lines.push(format!("  {name:<width$}  {values}  {label}").trim_end().to_owned());
    }
    lines.join("\n") + "\n"
}

/// Slice that selects a whole dimension.
const WHOLE: &str = ":";

/// Returns a dimension with the coordinates of the part that is shown.
fn dimension(pack: &Pack, axis: &Axis, part: &str, raw: bool) -> Result<Dimension, Failure> {
    let name = axis.name.as_ref().map(|name| ra_pack::path::escape(name).to_string());
    let mut found = Dimension { name, extent: axis.extent, ..Dimension::default() };
    let Some(coordinate) = &axis.coordinate else { return Ok(found) };
    let description = coordinate.description.as_ref();
    found.label = array::label(description, raw);
    found.coordinate.clone_from(&coordinate.member);
    let Some(member) = &coordinate.member else {
        let value = description.and_then(|description| description.value.as_ref());
        // Slices of coordinates that are in a description are not shown.
        found.values = value.filter(|_| part == WHOLE).map(|value| flow(value, FEW));
        return Ok(found);
    };
    let slice = (part != WHOLE).then(|| part.to_owned());
    let (edge, threshold) = if array::is_date(description, raw) { (1, 2) } else { (2, FEW) };
    let options = CornersOptions { slice, edge: Some(edge), threshold };
    let corners = pack.array(member)?.corners(&options)?;
    let text = values::text(&corners, 6, raw);
    found.values = Some(text.split_whitespace().collect::<Vec<_>>().join(" "));
    Ok(found)
}

fn attributes(description: Option<&Ndarray>) -> String {
    let attributes = description.map(|description| &description.attributes[..]).unwrap_or_default();
    if attributes.is_empty() {
        return String::new();
    }
    format!(
        "\nAttributes:\n{}",
        indented(aligned(&array::attribute_rows(attributes), [false; 2], usize::MAX))
    )
}

/// Longest bar, in columns.
const WIDEST: usize = 60;

/// Eighths of a block.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

fn statistics_text(
    statistics: &Statistics,
    meaning: (Option<&Ndarray>, bool),
    width: usize,
    unicode: bool,
) -> String {
    match statistics {
        Statistics::Numbers(numbers) => of_numbers(numbers, "", meaning, width, unicode),
        Statistics::Magnitudes(numbers) => {
            of_numbers(numbers, " (of magnitudes)", meaning, width, unicode)
        }
        Statistics::Names(names) => of_names(names, width, unicode),
        Statistics::Nothing { count, reason } => {
            format!("Statistics: none, because the {count} elements are {reason}\n")
        }
        _ => String::new(),
    }
}

fn of_numbers(
    numbers: &NumberStatistics,
    of: &str,
    meaning: (Option<&Ndarray>, bool),
    width: usize,
    unicode: bool,
) -> String {
    let lines = statistics::rows(numbers, meaning).into_iter();
    let lines = lines.map(|(name, value)| format!("{name:<9}{value}")).collect();
    let mut text = format!("Statistics{of}:\n{}", indented(lines));
    if let Some(histogram) = &numbers.histogram {
        text.push('\n');
        text.push_str(&bars(&statistics::bins(histogram, meaning), true, width, unicode));
    }
    text
}

fn of_names(names: &NameStatistics, width: usize, unicode: bool) -> String {
    let bars = bars(&statistics::names(names), false, width, unicode);
    format!("Statistics:\n  elements {}\n\n{bars}", names.count)
}

/// Draws one bar per row.
fn bars(rows: &[(String, u64)], to_right: bool, width: usize, unicode: bool) -> String {
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let labels = rows.iter().map(|(label, _)| columns(label)).max().unwrap_or(0);
    let room = width.saturating_sub(labels + most.to_string().len() + 6).clamp(8, WIDEST);
    let row = |(label, count): &(String, u64)| {
        [label.clone(), count.to_string(), bar(*count, most, room, unicode)]
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    indented(aligned(&rows, [to_right, true, false], usize::MAX))
}

fn bar(number: u64, most: u64, room: usize, unicode: bool) -> String {
    let parts = if unicode { EIGHTHS.len() } else { 1 };
    // Makes every count above 0 visible.
    let least = usize::from(number > 0);
    let filled = count(float(number) * float(room * parts) / float(most.max(1))).max(least);
    let rest = EIGHTHS.get((filled % parts).wrapping_sub(1));
    let full = if unicode { "█" } else { "#" };
    full.repeat(filled / parts) + &rest.map(char::to_string).unwrap_or_default()
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
