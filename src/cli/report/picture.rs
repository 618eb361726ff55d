//! A picture of an array, as small as it can be and still tell what the array looks like.

use ra_pack::values::{Column, Grid, Line, Quantity, Sample, SampleOptions, SampledAxis};
use ra_pack::{Error, PackedArray};

use super::super::plot::{
    Chart, MAX_NAMED, Palette, RD_BU, Rgb, color, data_uri, extremes, line_extremes, line_scale,
    of_name, pieces, png,
};
use super::super::text::{count, digits, float};
use super::{Html, html};

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
    (names <= MAX_NAMED).then(|| color(of_name(nth)))
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
    array: &PackedArray,
    shape: &[u64],
    room: Room,
    jobs: usize,
) -> Result<Option<Html>, Error> {
    if shape.contains(&0) {
        return Ok(None);
    }
    let slice = middle(shape);
    let Room { columns, rows, .. } = room;
    let mut options = SampleOptions::default();
    options.slice.clone_from(&slice);
    options.columns = columns;
    options.rows = rows;
    options.jobs = Some(jobs);
    let html = match array.sample(&options) {
        Ok(Sample::Line(line)) if line.axis.is_some() => sparkline(&line),
        Ok(Sample::Line(line)) => scalar(&line),
        Ok(Sample::Grid(grid)) => image(&grid, room)?,
        // Text, compounds and the like.
        Ok(_) | Err(Error::Unsupported(_) | Error::Limit(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let slice = slice.map(|slice| html!("<p class=\"n\">middle slice [{}]</p>", slice));
    Ok(Some(html!("{}{}", html, slice)))
}

/// One number, large.
fn scalar(line: &Line) -> Html {
    let Some(column) = line.columns.first() else { return Html::default() };
    let number = digits(column.first, 6);
    let mut names = line.quantity.names.iter();
    let shown = match names.find(|(_, it)| it.to_string() == number) {
        _ if column.first.is_nan() => "no value",
        Some((name, _)) => name,
        None => &number,
    };
    html!("<p class=\"v\">{}</p>", shown)
}

fn dimension(axis: &SampledAxis) -> String {
    match &axis.name {
        Some(name) => format!("{name} ({})", axis.extent),
        None => axis.extent.to_string(),
    }
}

/// The range for a reader who does not see the picture.
fn range_text(range: Option<(f64, f64)>, quantity: &Quantity) -> String {
    let noun = if quantity.is_magnitude { "magnitude" } else { "values" };
    match range {
        Some((low, high)) => format!("{noun} from {} to {}", digits(low, 6), digits(high, 6)),
        None => "no value".to_owned(),
    }
}

/// A line, without axes: its numbers are next to it.
fn sparkline(line: &Line) -> Html {
    let last = line.columns.len().saturating_sub(1).max(1);
    let path = |piece: Vec<(f64, f64)>| {
        let whole =
            |(x, y): (f64, f64)| (count(x * float(last) + 0.5), count((1.0 - y) * 100.0 + 0.5));
        let mut points: Vec<_> = piece.into_iter().map(whole).collect();
        points.dedup();
        let texts: Vec<_> = points.iter().map(|(x, y)| format!("{x} {y}")).collect();
        format!("M{}{}", texts.join(" "), if points.len() == 1 { "h0" } else { "" })
    };
    let pieces = pieces(line, line_scale(line, &Chart::default(), 0.0));
    let has_gap = line.columns.iter().any(|column| column.has_gap);
    // Marks at the bottom where values are missing.
    let gaps = has_gap.then(|| {
        let mut end = 0;
        let mark = |columns: &[Column]| {
            let first = end;
            end += columns.len();
            let has_gap = columns.first().is_some_and(|column| column.has_gap);
            has_gap.then(|| format!("M{first} 100h{}", columns.len() - 1))
        };
        let marks = line.columns.chunk_by(|one, other| one.has_gap == other.has_gap).map(mark);
        let marks: Vec<_> = marks.collect();
        html!("<path class=\"m\" d=\"{}\"><title>no value</title></path>", marks)
    });
    html!(
        "<svg class=\"g\" role=\"img\" preserveAspectRatio=\"none\" viewBox=\"0 0 {} 100\" \
         aria-label=\"Line along {}: {}\"><path d=\"{}\"/>{}</svg>",
        last,
        line.axis.as_ref().map(dimension),
        range_text(line_extremes(line, false), &line.quantity),
        pieces.into_iter().map(path).collect::<Vec<_>>(),
        gaps
    )
}

/// The width and height that a picture is shown in, so that neither long nor tall ones are threads.
fn shown(columns: u64, rows: u64) -> (u64, u64) {
    const WIDTH: u64 = 160;
    const HEIGHT: u64 = 112;
    const LEAST: u64 = 48;
    let (columns, rows) = (columns.clamp(1, 1 << 50), rows.clamp(1, 1 << 50));
    if rows * WIDTH <= columns * HEIGHT {
        (WIDTH, (WIDTH * rows / columns).max(LEAST))
    } else {
        ((HEIGHT * columns / rows).max(LEAST), HEIGHT)
    }
}

fn image(grid: &Grid, room: Room) -> Result<Html, Error> {
    let palette = Palette::new(grid, &Chart::default());
    let last: u8 = if room.is_coarse { 14 } else { 62 };
    // The first is the background.
    let mut colours: Vec<Rgb> = vec![[0; 3]];
    if palette.has_names() {
        colours.extend((0..MAX_NAMED).map(of_name));
    } else {
        let part = |nth: u8| f64::from(nth) / f64::from(last);
        colours.extend((0..=last).map(|nth| palette.map.color(part(nth))));
    }
    let cell = |number: &f64| {
        let nth = if palette.has_names() {
            palette.name(*number).map(|name| name % MAX_NAMED)
        } else {
            palette.scale.place(*number).map(|part| count(part * f64::from(last) + 0.5))
        };
        nth.and_then(|nth| u8::try_from(nth + 1).ok()).unwrap_or(0)
    };
    let cells: Vec<u8> = grid.cells.iter().map(cell).collect();
    let side = |axis: &SampledAxis| u32::try_from(axis.cells).unwrap_or(0);
    let file = png(side(&grid.columns), side(&grid.rows), Some(&colours), &cells)?;
    // One cell for each element has their proportions, unless they are those of a thread.
    let (width, height) = shown(grid.columns.extent, grid.rows.extent);
    let range = extremes(grid.cells.iter().copied(), false);
    let legend = (range.is_some() && !palette.has_names()).then(|| {
        let class = if palette.map == RD_BU { "d" } else { "q" };
        let (low, high) = (digits(palette.scale.low, 3), digits(palette.scale.high, 3));
        html!("<p class=\"{}\">{}<i></i>{}</p>", class, low, high)
    });
    // The mean of several is less than the greatest of them.
    let (rows, columns) = (grid.rows.step, grid.columns.step);
    let is_mean = !grid.is_nearest && rows.max(columns) > 1;
    Ok(html!(
        "<img loading=\"lazy\" width=\"{}\" height=\"{}\" \
         alt=\"Image, {} down, {} across: {}\" src=\"{}\">{}{}{}{}",
        width,
        height,
        dimension(&grid.rows),
        dimension(&grid.columns),
        range_text(range, &grid.quantity),
        data_uri(&file),
        legend,
        grid.quantity.is_magnitude.then(|| html!("<p class=\"n\">magnitude</p>")),
        is_mean.then(|| html!("<p class=\"n\">each cell the mean of {} × {}</p>", rows, columns)),
        cells.contains(&0).then(|| html!("<p class=\"n\">hatched: no value</p>"))
    ))
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
