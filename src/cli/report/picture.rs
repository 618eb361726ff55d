//! Small picture of an array.

use ra_pack::ra::{ElementKind, ElementType};
use ra_pack::read::{ComplexPart, Grid, Line, Quantity, Sample, SampleOptions};
use ra_pack::{Error, PackedArray};

use super::super::plot::{
    self, Chart, MAX_NAMED, Palette, Pixels, PlotArea, RD_BU, TWILIGHT, Trace, color, extremes,
    gap_text, image_text, line_extremes, line_scale, line_text, notes, of_name, part_name, sampled,
    trace,
};
use super::super::text::{count, digits};
use super::{Html, html};

/// Size of the pictures of a page; smaller if there are many arrays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    columns: usize,
    rows: usize,
    /// Number of bins of a histogram.
    pub(super) bins: usize,
    /// Whether an array has a picture with axes that can be enlarged, and code snippets.
    pub(super) has_plots: bool,
    /// Whether to use few colours, which take half the space.
    is_coarse: bool,
}

impl Room {
    pub(super) fn for_each_of(arrays: usize) -> Self {
        match arrays {
            0..=100 => {
                Self { columns: 240, rows: 160, bins: 32, has_plots: true, is_coarse: false }
            }
            101..=400 => {
                Self { columns: 160, rows: 112, bins: 32, has_plots: true, is_coarse: false }
            }
            401..=2500 => {
                Self { columns: 96, rows: 64, bins: 24, has_plots: false, is_coarse: false }
            }
            _ => Self { columns: 48, rows: 32, bins: 16, has_plots: false, is_coarse: true },
        }
    }
}

/// Returns the colour of the n-th of `names` enum names.
pub(super) fn name_colour(nth: usize, names: usize) -> Option<String> {
    (names <= MAX_NAMED).then(|| color(of_name(nth)))
}

/// Draws an array. Returns `None` for types without a picture.
pub(super) fn draw(
    array: &PackedArray,
    shape: &[u64],
    room: Room,
    jobs: usize,
) -> Result<Option<Html>, Error> {
    if shape.contains(&0) {
        return Ok(None);
    }
    let mut options = SampleOptions {
        slice: array.picture_slice()?,
        columns: room.columns,
        rows: room.rows,
        jobs: Some(jobs),
        ..SampleOptions::default()
    };
    let element = array.header()?.element();
    if let [rows, columns, channels @ (3 | 4)] = *shape
        && element == ElementType::UINT8
        && let Some(photo) = photo(array, &options, (columns, rows), channels)?
    {
        return Ok(Some(photo));
    }
    let is_complex = element.kind() == ElementKind::Complex;
    let parts = [Some(ComplexPart::Magnitude), Some(ComplexPart::Phase)];
    let mut html = Html::default();
    for part in if is_complex { &parts[..] } else { &[None] } {
        options.part = *part;
        let sample = match sampled(array, &options, false) {
            // Text, compounds and similar types.
            Err(Error::Unsupported(_) | Error::Options(_) | Error::Limit(_)) => return Ok(None),
            sample => sample?,
        };
        let shades = Some(if room.is_coarse { 14 } else { 62 });
        let style = &Chart { shades, ..Chart::default() };
        let (picture, quantity) = match &sample {
            Sample::Line(line) if line.axis.is_none() => return Ok(Some(scalar(line))),
            Sample::Line(line) => {
                let text = line_text(line);
                let drawn =
                    if room.has_plots { plot(&sample, style, &text)? } else { sparkline(line) };
                let is_empty = line_extremes(line, false).is_none();
                let nothing = is_empty.then(|| {
                    let text = gap_text(&line.quantity, std::iter::empty(), false);
                    html!("<p class=\"n\">all values are {}</p>", text)
                });
                (html!("{}{}{}", drawn, nothing, part_note(&line.quantity)), &line.quantity)
            }
            Sample::Grid(grid) => {
                let text = image_text(grid);
                let picture = if room.has_plots {
                    plot(&sample, style, &text)?
                } else {
                    image(grid, style, &text)?
                };
                (html!("{}{}", picture, legend(grid, style)), &grid.quantity)
            }
            _ => return Ok(None),
        };
        let notes: Vec<_> =
            notes(quantity).iter().map(|note| html!("<p class=\"n\">{}</p>", note)).collect();
        html = html!("{}{}{}", html, picture, notes);
    }
    Ok(Some(html))
}

/// Draws red, green, blue and opacity as the colours that they are, on a white ground. `None` if rows and columns are
/// not those of a photo, or if the numbers have names.
fn photo(
    array: &PackedArray,
    options: &SampleOptions,
    size: (u64, u64),
    channels: u64,
) -> Result<Option<Html>, Error> {
    let mut layers = Vec::new();
    for channel in 0..channels {
        let slice = Some(format!(":,:,{channel}"));
        let Sample::Grid(grid) = array.sample(&SampleOptions { slice, ..options.clone() })? else {
            unreachable!("a channel has two dimensions")
        };
        let has_coordinates = grid.rows.coordinate.is_some() || grid.columns.coordinate.is_some();
        if has_coordinates || !grid.quantity.names.is_empty() {
            return Ok(None);
        }
        layers.push(grid);
    }
    let level = |layer: usize, cell: usize| layers.get(layer)?.cells.get(cell).copied();
    let pixel = |cell: usize| {
        let opacity = level(3, cell).unwrap_or(255.0) / 255.0;
        let mixed = |layer| 255.0 + (level(layer, cell).unwrap_or(255.0) - 255.0) * opacity;
        let byte = |level: f64| u8::try_from(count(level + 0.5)).unwrap_or(u8::MAX);
        [0, 1, 2].map(|layer| byte(mixed(layer)))
    };
    let [columns, rows] = layers.first().map_or([0, 0], |it| [it.columns.cells, it.rows.cells]);
    let [width, height] =
        [columns, rows].map(|cells| u32::try_from(cells).expect("the room limits the cells"));
    let pixels = Pixels { width, height, colors: (0..rows * columns).map(pixel).collect() };
    let text = format!("Colour image, {} down, {} across", size.1, size.0);
    img(&pixels, size, &text).map(Some)
}

fn part_note(quantity: &Quantity) -> Option<Html> {
    Some(html!("<p class=\"n\">{}</p>", part_name(quantity)?))
}

/// Returns the drawing of `ra-pack plot`. The page shows only the inner part until it is enlarged.
fn plot(sample: &Sample, style: &Chart, text: &str) -> Result<Html, Error> {
    const WIDTH: u32 = 600;
    const HEIGHT: u32 = 360;
    let style =
        Chart { width: WIDTH, height: HEIGHT, scale: 1.0, is_in_page: true, ..style.clone() };
    let (scene, area) = plot::draw(sample, &style);
    let PlotArea { left, top, width, height } = area;
    let [x, y, wide, high] = [left, top, width, height].map(count);
    Ok(html!(
        "<label class=\"z\" style=\"--x:{};--y:{};--w:{};--h:{}\"><input type=\"checkbox\" \
         aria-label=\"Enlarge the picture\"><svg role=\"img\" viewBox=\"0 0 {} {}\" aria-label=\"{}\">{}\
         </svg></label>",
        x,
        y,
        wide,
        high,
        u64::from(WIDTH),
        u64::from(HEIGHT),
        text,
        Html(scene.elements()?)
    ))
}

/// Returns a single number in large type.
fn scalar(line: &Line) -> Html {
    let point = line.columns.first().and_then(|column| column.points.first());
    let shown = point.map(|point| {
        let mut names = line.quantity.names.iter();
        let name = names.find(|(_, it)| it.to_string() == point.value.to_string());
        name.map_or_else(|| digits(point.value, 6), |(name, _)| name.clone())
    });
    let gap = gap_text(&line.quantity, std::iter::empty(), false);
    html!("<p class=\"v\">{}</p>", shown.unwrap_or(gap))
}

/// Draws a line without axes.
fn sparkline(line: &Line) -> Html {
    const WIDTH: f64 = 240.0;
    let across = |x: f64| count(x * WIDTH + 0.5);
    let path = |piece: Vec<(f64, f64)>| {
        let whole = |(x, y): (f64, f64)| (across(x), count((1.0 - y) * 100.0 + 0.5));
        let mut points: Vec<_> = piece.into_iter().map(whole).collect();
        points.dedup();
        let texts: Vec<_> = points.iter().map(|(x, y)| format!("{x} {y}")).collect();
        format!("M{}{}", texts.join(" "), if points.len() == 1 { "h0" } else { "" })
    };
    let Trace { lines, gaps } = trace(&[line], line_scale(&[line], &Chart::default(), 0.0));
    // Marks missing values at the bottom. Marks that touch are one.
    let mut marks: Vec<(usize, usize)> = Vec::new();
    for ((from, to), _) in gaps {
        let (from, to) = (across(from.min(to)), across(from.max(to)));
        match marks.last_mut().filter(|(first, last)| from <= *last && to >= *first) {
            Some((first, last)) => (*first, *last) = (from.min(*first), to.max(*last)),
            None => marks.push((from, to)),
        }
    }
    let text = gap_text(&line.quantity, std::iter::empty(), false);
    let mark = |(from, to): &(usize, usize)| format!("M{from} 100h{}", to - from);
    let gaps = (!marks.is_empty()).then(|| {
        let marks: Vec<_> = marks.iter().map(mark).collect();
        html!("<path class=\"m\" d=\"{}\"><title>{}</title></path>", marks, text)
    });
    html!(
        "<svg class=\"g\" role=\"img\" preserveAspectRatio=\"none\" viewBox=\"0 0 {} 100\" \
         aria-label=\"{}\"><path d=\"{}\"/>{}</svg>",
        across(1.0),
        line_text(line),
        lines.into_iter().flatten().map(path).collect::<Vec<_>>(),
        gaps
    )
}

/// Returns the width and height of a picture, with a limited aspect ratio.
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

/// Draws an image without axes, with one pixel per cell.
fn image(grid: &Grid, style: &Chart, text: &str) -> Result<Html, Error> {
    let pixels = plot::image(grid, &Palette::new(grid, style), None, None);
    img(&pixels, (grid.columns.extent, grid.rows.extent), text)
}

/// Returns an image with the proportions of the array, within limits.
fn img(pixels: &Pixels, (columns, rows): (u64, u64), text: &str) -> Result<Html, Error> {
    let (width, height) = shown(columns, rows);
    Ok(html!(
        "<img loading=\"lazy\" width=\"{}\" height=\"{}\" alt=\"{}\" src=\"{}\">",
        width,
        height,
        text,
        pixels.link()?
    ))
}

/// Returns the legend of colours for an image.
fn legend(grid: &Grid, style: &Chart) -> Html {
    let palette = Palette::new(grid, style);
    let range = extremes(grid.cells.iter().copied(), false);
    let bar = (range.is_some() && !palette.has_names()).then(|| {
        let class = match palette.map {
            RD_BU => "d",
            TWILIGHT => "tw",
            _ => "q",
        };
        let (low, high) = (digits(palette.scale.low, 3), digits(palette.scale.high, 3));
        html!("<p class=\"{}\">{}<i></i>{}</p>", class, low, high)
    });
    // Means have a smaller range than the elements.
    let (rows, columns) = (grid.rows.step, grid.columns.step);
    let is_mean = !grid.is_nearest && rows.max(columns) > 1;
    let has_gap = grid.cells.iter().any(|cell| !cell.is_finite());
    html!(
        "{}{}{}{}",
        bar,
        part_note(&grid.quantity),
        is_mean.then(|| {
            html!("<p class=\"n\">each cell is the mean of {} × {} elements</p>", rows, columns)
        }),
        has_gap.then(|| {
            let text = gap_text(&grid.quantity, grid.cells.iter().copied(), false);
            let what = if range.is_some() { "grey:" } else { "all values are" };
            html!("<p class=\"n\">{} {}</p>", what, text)
        })
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_a_limited_aspect_ratio() {
        assert_eq!(shown(149, 10), (160, 48));
        assert_eq!(shown(10, 1000), (48, 112));
        assert_eq!(shown(100, 100), (112, 112));
    }
}
