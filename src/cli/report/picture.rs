//! A picture of an array, as small as it can be and still tell what the array looks like.

use png::BitDepth;
use ra_pack::{
    Error, Grid, GridMethod, Line, PackedArray, Quantity, Sample, SampleOptions, SampledAxis,
};

use super::super::plot::{ColorMap, MAX_NAMED, data_uri, of_name};
use super::html::Html;
use super::numbers::{digits, short, step};
use super::png::{self as file, Palette};

/// How much room there is in the page for each array: less where there are many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    columns: usize,
    rows: usize,
    /// Bins of a histogram.
    pub(super) bins: usize,
    /// Few colours, which take half the room.
    is_coarse: bool,
}

impl Room {
    pub(super) fn for_each_of(arrays: usize) -> Self {
        match arrays {
            0..=400 => Self { columns: 160, rows: 112, bins: 32, is_coarse: false },
            401..=2500 => Self { columns: 96, rows: 64, bins: 24, is_coarse: false },
            _ => Self { columns: 48, rows: 32, bins: 16, is_coarse: true },
        }
    }
}

/// The colour of the n-th name of an enum of so many.
pub(super) fn name_colour(nth: usize, names: usize) -> Option<String> {
    let [red, green, blue] = of_name(nth);
    (names <= MAX_NAMED).then(|| format!("#{red:02x}{green:02x}{blue:02x}"))
}

/// How numbers become colours.
#[derive(Debug, Clone, Copy)]
enum Scale {
    /// From dark to light.
    Sequential,
    /// From blue over white, which is zero, to red.
    Diverging,
    /// A colour for each name.
    Named,
}

/// The slice of an array of more than two dimensions that is shown, and how it is written: the two longest,
/// in the middle of the others.
fn middle(shape: &[u64]) -> Option<String> {
    if shape.iter().filter(|extent| **extent != 1).count() <= 2 {
        return None;
    }
    let mut longest: Vec<usize> = (0..shape.len()).collect();
    longest.sort_by_key(|axis| std::cmp::Reverse(shape.get(*axis).copied()));
    longest.truncate(2);
    let index = |(axis, extent): (usize, &u64)| {
        if longest.contains(&axis) { ":".to_owned() } else { (extent / 2).to_string() }
    };
    Some(shape.iter().enumerate().map(index).collect::<Vec<_>>().join(", "))
}

/// Draws an array, as far as there is a picture of it.
pub(super) fn draw(
    array: &PackedArray<'_>,
    shape: &[u64],
    room: Room,
    jobs: usize,
) -> Result<Option<Html>, Error> {
    if shape.contains(&0) {
        return Ok(None);
    }
    let slice = middle(shape);
    let options = SampleOptions {
        slice: slice.clone(),
        columns: room.columns,
        rows: room.rows,
        jobs: Some(jobs),
    };
    let mut html = Html::default();
    match array.sample(&options) {
        Ok(Sample::Line(line)) if line.axis.is_some() => sparkline(&line, &mut html),
        Ok(Sample::Line(line)) => scalar(&line, &mut html),
        Ok(Sample::Grid(grid)) => image(&grid, room, &mut html),
        // Text, compounds and the like.
        Ok(_) | Err(Error::Unsupported(_)) => return Ok(None),
        Err(error) => return Err(error),
    }
    if let Some(slice) = slice {
        html.raw("<p class=\"n\">middle slice [").text(slice).raw("]</p>");
    }
    Ok(Some(html))
}

/// One number, large.
fn scalar(line: &Line, html: &mut Html) {
    let Some(column) = line.columns.first() else { return };
    let name = line.quantity.names.iter();
    let name = name.clone().find(|(_, value)| value.to_string() == short(column.first));
    html.raw("<p class=\"v\">");
    match name {
        _ if column.first.is_nan() => html.raw("no value"),
        Some((name, _)) => html.text(ra_pack::escape(name)),
        None => html.text(short(column.first)),
    };
    html.raw("</p>");
}

fn dimension(axis: &SampledAxis) -> String {
    match &axis.name {
        Some(name) => format!("{} ({})", ra_pack::escape(name), axis.extent),
        None => axis.extent.to_string(),
    }
}

fn what(quantity: &Quantity) -> &'static str {
    if quantity.is_magnitude { "magnitude" } else { "values" }
}

/// What an unseeing reader is told.
fn range_said(range: Option<(f64, f64)>, quantity: &Quantity) -> String {
    match range {
        Some((low, high)) => format!("{} from {} to {}", what(quantity), short(low), short(high)),
        None => "no value".to_owned(),
    }
}

/// A line, without axes: its numbers stand beside it.
fn sparkline(line: &Line, html: &mut Html) {
    const STEPS: u16 = 100;
    let range = line.range();
    let last = line.columns.len().saturating_sub(1).max(1);
    let along = line.axis.as_ref().map(dimension).unwrap_or_default();
    html.raw("<svg class=\"g\" role=\"img\" preserveAspectRatio=\"none\" viewBox=\"0 0 ")
        .text(last)
        .raw(" 100\" aria-label=\"Line along ")
        .text(along)
        .raw(": ")
        .text(range_said(range, &line.quantity))
        .raw("\"><path d=\"");
    let y =
        |number: f64| range.map_or(STEPS, |range| STEPS.saturating_sub(step(number, range, STEPS)));
    // How many there are since the last gap.
    let mut points = 0_usize;
    let put = |html: &mut Html, x: usize, y: u16, points: &mut usize| {
        html.raw(if *points == 0 { "M" } else { " " }).text(x).raw(" ").text(y);
        *points = points.saturating_add(1);
        y
    };
    let mut end: u16 = 0;
    for (x, column) in line.columns.iter().enumerate() {
        if column.low.is_nan() {
            html.raw(if points == 1 { "h0" } else { "" });
            points = 0;
            continue;
        }
        let (low, high) = (y(column.low), y(column.high));
        // To the nearer end first.
        let (one, other) =
            if end.abs_diff(low) <= end.abs_diff(high) { (low, high) } else { (high, low) };
        end = put(html, x, one, &mut points);
        if one != other {
            end = put(html, x, other, &mut points);
        }
    }
    html.raw(if points == 1 { "h0" } else { "" }).raw("\"/>");
    gaps(line, html);
    html.raw("</svg>");
}

/// Marks at the bottom where values are missing.
fn gaps(line: &Line, html: &mut Html) {
    let mut columns = line.columns.iter().enumerate().peekable();
    if !line.columns.iter().any(|column| column.has_gap) {
        return;
    }
    html.raw("<path class=\"m\" d=\"");
    while let Some((first, column)) = columns.next() {
        if !column.has_gap {
            continue;
        }
        let mut last = first;
        while let Some((x, _)) = columns.next_if(|(_, column)| column.has_gap) {
            last = x;
        }
        html.raw("M").text(first).raw(" 100h").text(last.saturating_sub(first));
    }
    html.raw("\"><title>no value</title></path>");
}

/// The width and height that a picture is shown in, so that neither long nor tall ones are threads.
fn shown(columns: usize, rows: usize) -> (usize, usize) {
    const WIDTH: usize = 160;
    const HEIGHT: usize = 112;
    const LEAST: usize = 48;
    let (columns, rows) = (columns.max(1), rows.max(1));
    if rows.saturating_mul(WIDTH) <= columns.saturating_mul(HEIGHT) {
        (WIDTH, WIDTH.saturating_mul(rows).checked_div(columns).unwrap_or(0).max(LEAST))
    } else {
        (HEIGHT.saturating_mul(columns).checked_div(rows).unwrap_or(0).max(LEAST), HEIGHT)
    }
}

fn image(grid: &Grid, room: Room, html: &mut Html) {
    let range = grid.range();
    let (scale, ends) = scale(grid, range);
    let palette = palette(scale, room.is_coarse);
    let colours = u16::try_from(palette.colours.len().saturating_sub(2)).unwrap_or(0);
    let cell = |number: &f64| {
        if number.is_nan() {
            return 0;
        }
        let colour = match scale {
            Scale::Named => named(*number, &grid.quantity),
            _ => Some(step(*number, ends, colours)),
        };
        let colour = colour.map(|colour| colour.saturating_add(1));
        colour.and_then(|colour| u8::try_from(colour).ok()).unwrap_or(0)
    };
    let cells: Vec<u8> = grid.cells.iter().map(cell).collect();
    let Some(file) = file::encode(grid.columns.cells, &cells, &palette) else { return };
    // One cell for each element has their proportions, unless they are those of a thread.
    let extent = |axis: &SampledAxis| usize::try_from(axis.extent).unwrap_or(usize::MAX);
    let (width, height) = shown(extent(&grid.columns), extent(&grid.rows));
    html.raw("<img loading=\"lazy\" width=\"")
        .text(width)
        .raw("\" height=\"")
        .text(height)
        .raw("\" alt=\"Image, ")
        .text(dimension(&grid.rows))
        .raw(" down, ")
        .text(dimension(&grid.columns))
        .raw(" across: ")
        .text(range_said(range, &grid.quantity))
        .raw("\" src=\"")
        .text(data_uri(&file))
        .raw("\">");
    if range.is_some() && !matches!(scale, Scale::Named) {
        html.raw(match scale {
            Scale::Diverging => "<p class=\"d\">",
            _ => "<p class=\"q\">",
        });
        html.text(digits(ends.0, 3)).raw("<i></i>").text(digits(ends.1, 3)).raw("</p>");
    }
    if grid.quantity.is_magnitude {
        html.raw("<p class=\"n\">magnitude</p>");
    }
    // The mean of several is less than the greatest of them.
    if grid.method == GridMethod::Mean && grid.rows.step.max(grid.columns.step) > 1 {
        html.raw("<p class=\"n\">each cell the mean of ").text(grid.rows.step);
        html.raw(" × ").text(grid.columns.step).raw("</p>");
    }
    if cells.contains(&0) {
        html.raw("<p class=\"n\">hatched: no value</p>");
    }
}

/// Which number of an enum's name it is.
fn named(number: f64, quantity: &Quantity) -> Option<u16> {
    let whole = format!("{number:.0}");
    let nth = quantity.names.iter().position(|(_, value)| value.to_string() == whole)?;
    u16::try_from(nth).ok()
}

/// The scale that suits the numbers, and what its ends stand for.
fn scale(grid: &Grid, range: Option<(f64, f64)>) -> (Scale, (f64, f64)) {
    let (low, high) = range.unwrap_or((0.0, 0.0));
    let names = grid.quantity.names.len();
    if names > 0 && names <= MAX_NAMED {
        return (Scale::Named, (low, high));
    }
    // On both sides of zero, and on neither by accident.
    let (less, more) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
    if low < 0.0 && high > 0.0 && less * 4.0 > more {
        return (Scale::Diverging, (-more, more));
    }
    (Scale::Sequential, (low, high))
}

fn palette(scale: Scale, is_coarse: bool) -> Palette {
    let none = [0, 0, 0];
    let colours = |map: ColorMap| {
        // An odd number with the first, so that one of them is the middle.
        let last: u16 = if is_coarse { 14 } else { 62 };
        let colour = |nth: u16| map.color(f64::from(nth) / f64::from(last));
        std::iter::once(none).chain((0..=last).map(colour)).collect::<Vec<_>>()
    };
    let colours = match scale {
        Scale::Sequential => colours(ColorMap::Viridis),
        Scale::Diverging => colours(ColorMap::RdBu),
        Scale::Named => std::iter::once(none).chain((0..MAX_NAMED).map(of_name)).collect(),
    };
    let depth = if colours.len() <= 16 { BitDepth::Four } else { BitDepth::Eight };
    Palette { colours, depth }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_many_dimensions_is_shown() {
        assert_eq!(middle(&[]), None);
        assert_eq!(middle(&[4, 1, 9]), None);
        assert_eq!(middle(&[4, 30, 20]).as_deref(), Some("2, :, :"));
        assert_eq!(middle(&[30, 2, 20, 3]).as_deref(), Some(":, 1, :, 1"));
    }

    #[test]
    fn no_picture_is_a_thread() {
        assert_eq!(shown(149, 10), (160, 48));
        assert_eq!(shown(10, 1000), (48, 112));
        assert_eq!(shown(100, 100), (112, 112));
    }
}
