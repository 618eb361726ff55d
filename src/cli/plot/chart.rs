//! Drawing of a sample: a line or an image, with axes, ticks and a legend of colours.

use std::f64::consts::PI;
use std::mem::swap;

use ra_pack::path::escape;
use ra_pack::read::{Column, ComplexPart, Grid, Line, Number, Quantity, Sample};

use super::super::array::{dates, scaling};
use super::super::text::{columns, count, fit, float};
use super::axis::{Along, Scale, extremes, placed};
use super::color::{ColorMap, RD_BU, Rgb, TWILIGHT, VIRIDIS, of_name};
use super::label::{Label, place};
use super::scene::{BLACK, MEDIUM, PALE, Pixels, SMALL, Scene, Size, TITLE};
use super::ticks::{Tick, Ticks};
use super::units::power_of_ten;

/// Height of the triangles at the ends of a colour bar, in pixels.
const END_HEIGHT: f64 = 9.0;

/// Style of a drawing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chart {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Pixels per unit.
    pub(crate) scale: f64,
    /// Colours; chosen by the data if `None`.
    pub(crate) map: Option<ColorMap>,
    pub(crate) range: Option<Range>,
    pub(crate) is_log: bool,
    /// Whether the axes are exchanged.
    pub(crate) is_turned: bool,
    /// Title; taken from the description if `None`.
    pub(crate) title: Option<String>,
    /// Path of the array in the pack.
    pub(crate) path: String,
    /// Number of colours; unlimited if `None`.
    pub(crate) shades: Option<u8>,
    /// Whether the drawing is part of a page, which shows the title.
    pub(crate) is_in_page: bool,
}

/// Range of values of the colours or the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Range {
    Values(f64, f64),
    /// Percentiles of the values.
    Percent(f64, f64),
}

/// Returns the smallest and the largest value of a line.
pub(crate) fn line_extremes(line: &Line, is_log: bool) -> Option<(f64, f64)> {
    extremes(line_values(line), is_log)
}

fn line_values(line: &Line) -> impl Iterator<Item = f64> {
    line.columns.iter().flat_map(|column| &column.points).map(|point| point.value)
}

fn is_phase(quantity: &Quantity) -> bool {
    quantity.part == Some(ComplexPart::Phase)
}

/// Returns the ends of the scale for these values.
fn ends(
    values: impl Iterator<Item = f64>,
    quantity: &Quantity,
    style: &Chart,
) -> Option<(f64, f64)> {
    match style.range {
        None if is_phase(quantity) => Some((-PI, PI)),
        Some(Range::Values(low, high)) => Some((low, high)),
        Some(Range::Percent(low, high)) => {
            let mut values: Vec<f64> = placed(values, style.is_log).collect();
            values.sort_by(f64::total_cmp);
            Some((percentile(&values, low)?, percentile(&values, high)?))
        }
        None => extremes(values, style.is_log),
    }
}

/// Returns a percentile of sorted numbers, interpolated like `numpy.percentile`.
fn percentile(sorted: &[f64], percent: f64) -> Option<f64> {
    let place = float(sorted.len().checked_sub(1)?) * percent / 100.0;
    let below = sorted.get(count(place))?;
    let above = sorted.get(count(place) + 1).unwrap_or(below);
    Some(below + (above - below) * place.fract())
}

/// Returns the scale of a line; `margin` is the free part of its range at each end.
pub(crate) fn line_scale(line: &Line, style: &Chart, margin: f64) -> Scale {
    let margin = if style.range.is_none() { margin } else { 0.0 };
    Scale::new(ends(line_values(line), &line.quantity, style), style.is_log, margin)
}

/// The points and the gaps of a line, with positions from 0 to 1 along both axes.
pub(crate) struct Trace {
    /// Pieces of the line between its gaps.
    pub(crate) pieces: Vec<Vec<(f64, f64)>>,
    /// Ranges along the axis with elements that have no place, and whether they have none that has.
    pub(crate) gaps: Vec<((f64, f64), bool)>,
}

/// Returns the points of a line at their coordinates.
pub(crate) fn trace(line: &Line, scale: Scale) -> Trace {
    let (along, ranges) = line.axis.as_ref().map(|axis| Along::of_line(axis, line)).unzip();
    let (mut pieces, mut gaps) = (vec![Vec::new()], Vec::new());
    for (nth, Column { points, has_gap, .. }) in line.columns.iter().enumerate() {
        let values: Vec<_> =
            points.iter().filter_map(|it| Some((it.position, scale.place(it.value)?))).collect();
        let place = |(position, y): &(f64, f64)| {
            let x = along.as_ref().map_or(Some(0.5), |along| along.place(*position))?;
            Some((x, y.clamp(0.0, 1.0)))
        };
        let places: Vec<_> = values.iter().filter_map(place).collect();
        let range = ranges.as_ref().map_or(Some((0.0, 1.0)), |all: &Vec<_>| all.get(nth).copied());
        let range = range.filter(|(from, to)| from.is_finite() && to.is_finite());
        let is_partial = *has_gap || values.len() < points.len();
        gaps.extend(range.filter(|_| is_partial).map(|range| (range, values.is_empty())));
        match pieces.last_mut() {
            Some(piece) if !places.is_empty() => piece.extend(places),
            _ => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    Trace { pieces, gaps }
}

/// Returns the meaning of the colour of elements without a place, among these values.
pub(crate) fn gap_text(
    quantity: &Quantity,
    mut values: impl Iterator<Item = f64>,
    is_log: bool,
) -> String {
    let has_negative = is_log && values.any(|value| value <= 0.0);
    let infinite = quantity.has_infinite.then_some("infinite");
    let words = [Some("missing"), infinite, has_negative.then_some("not above 0")];
    let words: Vec<_> = words.into_iter().flatten().collect();
    match &words[..] {
        [first, second, third] => format!("{first}, {second} or {third}"),
        words => words.join(" or "),
    }
}

/// Exchanges rows and columns of an image.
pub(super) fn transpose(grid: &mut Grid) {
    let columns = grid.columns.cells;
    let cells = (0..columns).flat_map(|column| grid.cells.iter().skip(column).step_by(columns));
    grid.cells = cells.copied().collect();
    swap(&mut grid.rows, &mut grid.columns);
}

/// Returns notes about the position of the slice and about scaled values.
pub(crate) fn notes(quantity: &Quantity) -> Vec<String> {
    let applied = quantity.scale_and_offset.map(|both| format!("stored {}", scaling(both)));
    [Some(place(&quantity.fixed)).filter(|place| !place.is_empty()), applied]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the title, and the smaller line below it.
pub(super) fn heading(quantity: &Quantity, style: &Chart) -> (String, String) {
    if let Some(title) = &style.title {
        return (escape(title).to_string(), String::new());
    }
    let title = Label::of(quantity).name;
    let path = escape(style.path.strip_suffix(".ra").unwrap_or(&style.path)).to_string();
    let path = Some(path).filter(|path| *path != title);
    let parts: Vec<String> = notes(quantity).into_iter().chain(path).collect();
    (title, parts.join("  ·  "))
}

/// Area of the plot itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlotArea {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl PlotArea {
    /// Returns the point at positions from 0 to 1, to the right and upwards.
    fn at(self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.left + self.width * x, self.top + self.height * (1.0 - y))
    }
}

/// Axis of a plot.
struct Side {
    ticks: Ticks,
    label: Label,
}

/// Height of a line of a label.
const LINE: f64 = 16.0;

/// Largest number of lines of a label.
const LINES: usize = 2;

/// Area of a plot, and the lines of the labels below it and to the left.
struct Layout {
    area: PlotArea,
    across: Vec<String>,
    upwards: Vec<String>,
}

impl Layout {
    /// Creates the layout for a page with margins at the top, to the right and below the labels.
    fn new(
        style: &Chart,
        (top, right, below): (f64, f64, f64),
        across: &Label,
        upwards: &Side,
    ) -> Self {
        let left = room(&upwards.ticks.major) + 26.0;
        let (wide, high) = (f64::from(style.width), f64::from(style.height));
        let width = (wide - left - LINE - right).max(16.0);
        // The label is centred below the plot, and may be longer.
        let across =
            across.lines(letters(width + 2.0 * (left + LINE).min(right) - 8.0, MEDIUM), LINES);
        let height = high - top - below - 32.0 - float(across.len()) * LINE;
        let height = height.floor().max(16.0);
        let upwards = upwards.label.lines(letters(height + 30.0, MEDIUM), LINES);
        let left = (left + float(upwards.len()) * LINE).floor();
        let width = (wide - left - right).floor().max(16.0);
        Self { area: PlotArea { left, top, width, height }, across, upwards }
    }
}

/// Draws a sample. Also returns the area of the plot itself.
pub(crate) fn draw(sample: &Sample, style: &Chart) -> (Scene, PlotArea) {
    let mut scene = Scene::new(style.width, style.height, style.is_in_page);
    let quantity = quantity(sample).filter(|_| !style.is_in_page);
    let top = quantity.map_or(MARGIN, |quantity| scene.heading(quantity, style));
    let area = match sample {
        Sample::Line(line) => draw_line(&mut scene, line, style, top),
        Sample::Grid(grid) => draw_grid(&mut scene, grid, style, top),
        _ => {
            let (width, height) = (style.width.into(), style.height.into());
            PlotArea { left: 0.0, top, width, height }
        }
    };
    (scene, area)
}

/// Returns the meaning of the numbers of a sample.
fn quantity(sample: &Sample) -> Option<&Quantity> {
    match sample {
        Sample::Line(line) => Some(&line.quantity),
        Sample::Grid(grid) => Some(&grid.quantity),
        _ => None,
    }
}

/// Draws magnitudes and phases below one title: images side by side, lines one above the other. Range, colours and
/// logarithm are those of the magnitudes.
pub(super) fn draw_both([magnitude, phase]: [&Sample; 2], style: &Chart) -> Scene {
    let mut scene = Scene::new(style.width, style.height, false);
    let mut top = 0.0;
    if let Some(mut whole) = quantity(magnitude).cloned() {
        whole.part = None;
        // The panels have margins of their own, and begin below the descenders of the text.
        top = scene.heading(&whole, style) - 4.0;
    }
    let mut panel = Chart { title: Some(String::new()), ..style.clone() };
    let used = u32::try_from(count(top)).expect("a title has two lines");
    panel.height = style.height.saturating_sub(used);
    let second = if matches!(magnitude, Sample::Grid(_)) {
        panel.width /= 2;
        (panel.width.into(), top)
    } else {
        panel.height /= 2;
        (0.0, top + f64::from(panel.height))
    };
    scene.add((0.0, top), draw(magnitude, &panel).0);
    panel = Chart { map: None, range: None, is_log: false, ..panel };
    scene.add(second, draw(phase, &panel).0);
    scene
}

/// Space above a plot.
const MARGIN: f64 = 14.0;

impl Scene {
    /// Draws the title, and the smaller line below it. Returns where the plot begins.
    fn heading(&mut self, quantity: &Quantity, style: &Chart) -> f64 {
        let (title, below) = heading(quantity, style);
        let (wide, mut top) = (f64::from(style.width), MARGIN);
        for (text, size, height) in [(title, TITLE, 18.0), (below, SMALL, 17.0)] {
            if !text.is_empty() {
                top += height;
                let text = fit(&text, letters(wide - 20.0, size));
                self.text((wide / 2.0, top - 8.0), &text, "middle", size);
            }
        }
        top
    }

    /// Draws the lines of a vertical label, the first with its baseline at `x`.
    fn upright(&mut self, x: f64, area: PlotArea, lines: &[String]) {
        let y = area.at((0.0, 0.5)).1;
        for (nth, line) in lines.iter().enumerate() {
            self.turned((x + float(nth) * LINE, y), line, "middle", MEDIUM, true);
        }
    }

    /// Draws a coloured box, followed by the meaning of the colour.
    fn legend(&mut self, (x, y): (f64, f64), fill: Rgb, text: &str) {
        self.rect((x, y), (14.0, 14.0), fill);
        self.text((x + 20.0, y + 11.0), text, "start", SMALL);
    }

    /// Draws the border of a plot, the ticks, and the labels below it and to the left.
    fn axes(&mut self, layout: &Layout, across: &Ticks, upwards: &Ticks) {
        let PlotArea { left, top, width, height } = layout.area;
        let area = layout.area;
        let (bottom, right) = (top + height, left + width);
        self.rect((left - 1.0, top - 1.0), (width + 2.0, 1.0), BLACK);
        self.rect((left - 1.0, bottom), (width + 2.0, 1.0), BLACK);
        self.rect((left - 1.0, top - 1.0), (1.0, height + 2.0), BLACK);
        self.rect((right, top - 1.0), (1.0, height + 2.0), BLACK);
        for place in &across.minor {
            self.rect((area.at((*place, 0.0)).0 - 0.5, bottom), (1.0, 3.0), BLACK);
        }
        for place in &upwards.minor {
            self.rect((left - 3.0, area.at((0.0, *place)).1 - 0.5), (3.0, 1.0), BLACK);
        }
        let mut free = f64::NEG_INFINITY;
        for (place, text) in &across.major {
            let (x, text) = (area.at((*place, 0.0)).0, power_of_ten(text));
            self.rect((x - 0.5, bottom), (1.0, 6.0), BLACK);
            let half = float(columns(&text)) * SMALL.width / 2.0;
            // Omits texts that would touch the previous one.
            if x - half > free && x + half < f64::from(self.width()) {
                self.text((x, bottom + 18.0), &text, "middle", SMALL);
                free = x + half + 6.0;
            }
        }
        for (nth, line) in layout.across.iter().enumerate() {
            let y = bottom + 37.0 + float(nth) * LINE;
            self.text((left + width / 2.0, y), line, "middle", MEDIUM);
        }
        for (place, text) in &upwards.major {
            let y = area.at((0.0, *place)).1;
            self.rect((left - 6.0, y - 0.5), (6.0, 1.0), BLACK);
            self.text((left - 9.0, y + 4.0), &power_of_ten(text), "end", SMALL);
        }
        self.upright(16.0, area, &layout.upwards);
    }

    fn nothing(&mut self, area: PlotArea, text: &str) {
        self.text(area.at((0.5, 0.5)), text, "middle", MEDIUM);
    }
}

/// Returns the number of characters that fit a width.
fn letters(width: f64, size: Size) -> usize {
    count(width / size.width).max(4)
}

/// Returns the width of the longest text.
fn room(ticks: &[Tick]) -> f64 {
    let longest = ticks.iter().map(|(_, text)| columns(&power_of_ten(text))).max().unwrap_or(0);
    float(longest) * SMALL.width
}

/// Returns the number of ticks that fit a length.
fn fitting(length: f64, each: f64) -> usize {
    count(length / each).clamp(2, 10)
}

/// Returns ticks at round values.
pub(super) fn value_ticks(quantity: &Quantity, scale: Scale, count: usize) -> Ticks {
    if is_phase(quantity) { scale.of_phases(count) } else { scale.ticks(count) }
}

/// Returns the axis of the values of a line.
fn of_values(quantity: &Quantity, scale: Scale, count: usize) -> Side {
    let mut label = Label::of(quantity);
    let dates = dates(quantity.description.as_ref());
    let ticks = match scale.dated(dates, count) {
        Some(ticks) => {
            label.units = Some(Label::of_dates(ticks.context.as_deref()));
            ticks
        }
        None => value_ticks(quantity, scale, count),
    };
    Side { ticks, label }
}

/// Background of missing values next to a line.
const NOTHING: Rgb = [0xF3, 0xD9, 0xD3];

fn draw_line(scene: &mut Scene, line: &Line, style: &Chart, top: f64) -> PlotArea {
    let (wide, high) = (f64::from(style.width), f64::from(style.height));
    let scale = line_scale(line, style, 0.04);
    let Trace { pieces, gaps } = trace(line, scale);
    let has_gap = !gaps.is_empty();
    let along = line.axis.as_ref().map(|axis| Along::of_line(axis, line).0);
    // Axes along the line and of its values.
    let mut own = Side { ticks: Ticks::default(), label: Label::default() };
    let [across, upwards] = [fitting(wide - 80.0, 65.0), fitting(high - top - 60.0, 45.0)];
    let is_downwards = style.is_turned && along.as_ref().is_some_and(|it| !it.is_upwards());
    if let Some(along) = &along {
        own.ticks = along.ticks(if style.is_turned { upwards } else { across });
        own.label = along.label(own.ticks.context.as_deref());
        if is_downwards {
            own.ticks = own.ticks.reversed();
        }
    }
    let values = of_values(&line.quantity, scale, if style.is_turned { across } else { upwards });
    let (across, upwards) = if style.is_turned { (values, own) } else { (own, values) };
    let below = if has_gap { 18.0 } else { 0.0 };
    let layout = Layout::new(style, (top, 20.0, below), &across.label, &upwards);
    let area = layout.area;
    // Returns the point at a position along the line and of a value.
    let at = |(along, value): (f64, f64)| {
        let upwards = if is_downwards { 1.0 - along } else { along };
        area.at(if style.is_turned { (value, upwards) } else { (along, value) })
    };
    for (place, _) in &upwards.ticks.major {
        scene.rect((area.left, area.at((0.0, *place)).1 - 0.5), (area.width, 1.0), PALE);
    }
    for (place, _) in &across.ticks.major {
        scene.rect((area.at((*place, 0.0)).0 - 0.5, area.top), (1.0, area.height), PALE);
    }
    for ((from, to), is_empty) in gaps {
        let value = if is_empty { 1.0 } else { 6.0 / area.height };
        let (one, other) = (at((from, 0.0)), at((to, value)));
        let from = (one.0.min(other.0).max(area.left), one.1.min(other.1).max(area.top));
        scene.rect(from, ((other.0 - one.0).abs(), (other.1 - one.1).abs()), NOTHING);
    }
    for piece in &pieces {
        let points: Vec<_> = piece.iter().map(|point| at(*point)).collect();
        // A single value is drawn as a dot.
        match *points {
            [dot] => scene.line(&[dot, dot], 5.0),
            _ => scene.line(&points, 1.4),
        }
    }
    scene.axes(&layout, &across.ticks, &upwards.ticks);
    if pieces.is_empty() {
        scene.nothing(area, "no values");
    }
    if has_gap {
        let text = gap_text(&line.quantity, line_values(line), style.is_log);
        scene.legend((area.left, high - 18.0), NOTHING, &text);
    }
    area
}

/// Conversion of values to colours.
pub(crate) struct Palette {
    pub(crate) scale: Scale,
    pub(crate) map: ColorMap,
    /// Numbers that have names.
    pub(crate) names: Vec<f64>,
    shades: Option<u8>,
}

impl Palette {
    pub(crate) fn new(grid: &Grid, style: &Chart) -> Self {
        let ends = ends(grid.cells.iter().copied(), &grid.quantity, style);
        let mut scale = Scale::new(ends, style.is_log, 0.0);
        let is_both = scale.low < 0.0 && scale.high > 0.0;
        let map = style.map.unwrap_or(match is_both {
            _ if is_phase(&grid.quantity) => TWILIGHT,
            true => RD_BU,
            false => VIRIDIS,
        });
        if map == RD_BU && is_both && !matches!(style.range, Some(Range::Values(..))) {
            let most = scale.high.max(-scale.low);
            (scale.low, scale.high) = (-most, most);
        }
        let names = &grid.quantity.names;
        let names = names.iter().map(|(_, number)| Number::Int(*number).to_f64()).collect();
        Self { scale, map, names, shades: style.shades }
    }

    pub(crate) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the index of a value's name, if it has one.
    pub(crate) fn name(&self, value: f64) -> Option<usize> {
        self.names.iter().position(|number| (number - value).abs() < 0.5)
    }

    /// Returns the colour of a value, if it has one.
    fn known(&self, value: f64) -> Option<Rgb> {
        if self.has_names() {
            return self.name(value).map(of_name);
        }
        let shade = |place: f64| match self.shades {
            Some(all) => (place * f64::from(all)).round() / f64::from(all),
            None => place,
        };
        self.scale.place(value).map(|place| self.map.color(shade(place)))
    }
}

/// Returns the indices of the cells row by row, at this many positions of each side, or each cell once if `None`.
pub(super) fn cells(grid: &Grid, width: Option<usize>, height: Option<usize>) -> Vec<usize> {
    let (across, down) = (Along::new(&grid.columns), Along::new(&grid.rows));
    let columns = across.all(width);
    let mut rows = down.all(height);
    if down.is_upwards() {
        rows.reverse();
    }
    let starts = rows.into_iter().map(|row| row * grid.columns.cells);
    starts.flat_map(|start| columns.iter().map(move |column| start + column)).collect()
}

/// Returns the cells as an image: with a given number of pixels per side, where each cell covers its part of the axis,
/// or with one pixel per cell.
pub(crate) fn image(
    grid: &Grid,
    palette: &Palette,
    width: Option<usize>,
    height: Option<usize>,
) -> Pixels {
    let nothing = palette.map.nothing();
    let color = |value: &f64| palette.known(*value).unwrap_or(nothing);
    let colors: Vec<Rgb> = grid.cells.iter().map(color).collect();
    let cells = cells(grid, width, height).into_iter();
    let colors = cells.map(|cell| colors.get(cell).copied().unwrap_or(nothing)).collect();
    let side = |pixels: Option<usize>, cells| {
        u32::try_from(pixels.unwrap_or(cells)).expect("the pixels are in memory")
    };
    Pixels { width: side(width, grid.columns.cells), height: side(height, grid.rows.cells), colors }
}

/// Largest number of cells that are drawn as shapes, which no viewer blurs. More would be large and slow.
const FEW: usize = 1024;

/// Draws the cells into their area: few as shapes, many as an image with one pixel per cell, or with enough pixels for
/// cells of different widths.
fn draw_cells(scene: &mut Scene, grid: &Grid, palette: &Palette, style: &Chart, area: PlotArea) {
    let (across, down) = (Along::new(&grid.columns), Along::new(&grid.rows));
    if grid.cells.len() <= FEW && !style.is_in_page {
        let nothing = palette.map.nothing();
        let is_upwards = down.is_upwards();
        let (columns, rows) = (across.edges(), down.edges());
        let corner = |x: f64, y: f64| area.at((x, if is_upwards { y } else { 1.0 - y }));
        let sides = |edges: &[f64]| -> Vec<(f64, f64)> {
            let pairs = edges.iter().zip(edges.iter().skip(1));
            pairs.map(|(one, other)| (*one, *other)).collect()
        };
        let (columns, rows) = (sides(&columns), sides(&rows));
        let corners = rows.iter().flat_map(|(y, below)| {
            columns.iter().map(move |(x, right)| [corner(*x, *y), corner(*right, *below)])
        });
        let fills = grid.cells.iter().map(|value| palette.known(*value).unwrap_or(nothing));
        scene.cells(corners.zip(fills));
        return;
    }
    let pixels = |along: &Along<'_>, length: f64| {
        (!along.is_even()).then(|| count(length * style.scale).max(1))
    };
    let (width, height) = (pixels(&across, area.width), pixels(&down, area.height));
    let image = image(grid, palette, width, height);
    scene.image((area.left, area.top), (area.width, area.height), image);
}

/// Shrinks the area so that a degree has the same length on both axes in the centre of the map.
fn map_area(area: PlotArea, across: &Along<'_>, upwards: &Along<'_>) -> PlotArea {
    let (Some((wide, false)), Some((high, true))) = (across.degrees(), upwards.degrees()) else {
        return area;
    };
    let each = (area.width / wide).min(area.height / high);
    let (width, height) = ((wide * each).floor().max(16.0), (high * each).floor().max(16.0));
    PlotArea {
        left: area.left + ((area.width - width) / 2.0).floor(),
        top: area.top + ((area.height - height) / 2.0).floor(),
        width,
        height,
    }
}

fn draw_grid(scene: &mut Scene, grid: &Grid, style: &Chart, top: f64) -> PlotArea {
    let (wide, high) = (f64::from(style.width), f64::from(style.height));
    let palette = Palette::new(grid, style);
    let (across, down) = (Along::new(&grid.columns), Along::new(&grid.rows));
    let ticks = down.ticks(fitting(high - top - 60.0, 45.0));
    let label = down.label(ticks.context.as_deref());
    let upwards = Side { ticks: if down.is_upwards() { ticks } else { ticks.reversed() }, label };
    let ticks = across.ticks(fitting(wide - 180.0, 65.0));
    let label = across.label(ticks.context.as_deref());
    let across_side = Side { ticks, label };
    let has_names = palette.has_names();
    let bar: Vec<Tick> = if has_names {
        let names = grid.quantity.names.iter().map(|(name, _)| escape(name).to_string());
        names.map(|name| (0.0, fit(&name, 24))).collect()
    } else {
        value_ticks(&grid.quantity, palette.scale, fitting(high - top - 80.0, 40.0)).major
    };
    let bar_label = Label::of(&grid.quantity).lines(letters(high - top - 60.0, MEDIUM), LINES);
    let with_value = grid.cells.iter().filter(|value| palette.known(**value).is_some()).count();
    let has_gap = with_value < grid.cells.len();
    let labels = if has_names { 0.0 } else { 10.0 + LINE * float(bar_label.len()) };
    // Includes the legend of missing values.
    let gap = gap_text(&grid.quantity, grid.cells.iter().copied(), style.is_log);
    let legend = if has_gap { 47.0 + float(columns(&gap)) * SMALL.width } else { 0.0 };
    let right = (room(&bar) + 44.0 + labels).max(legend);
    let mut layout = Layout::new(style, (top, right, 0.0), &across_side.label, &upwards);
    layout.area = map_area(layout.area, &across, &down);
    let area = layout.area;
    draw_cells(scene, grid, &palette, style, area);
    scene.axes(&layout, &across_side.ticks, &upwards.ticks);
    if with_value == 0 {
        scene.nothing(area, "no values");
    }
    let (x, mut y) = (area.left + area.width + 20.0, area.top);
    if has_names {
        for (nth, (_, name)) in bar.iter().enumerate().take(count(high / 20.0)) {
            scene.legend((x, y), of_name(nth), name);
            y += 20.0;
        }
    } else if with_value > 0 {
        let height = (area.height - if has_gap { 30.0 } else { 0.0 }).max(8.0);
        let bar_area = PlotArea { height, ..area };
        draw_bar(scene, &palette, grid, (x, y), height);
        for (place, text) in &bar {
            let y = bar_area.at((0.0, *place)).1;
            scene.rect((x + 16.0, y - 0.5), (4.0, 1.0), BLACK);
            scene.text((x + 23.0, y + 4.0), &power_of_ten(text), "start", SMALL);
        }
        let x = x + 27.0 + room(&bar) + LINE;
        scene.upright(x, bar_area, &bar_label);
    }
    if has_gap {
        let y = if has_names { y } else { area.top + area.height - 16.0 };
        scene.legend((x, y), palette.map.nothing(), &gap);
    }
    if grid.is_nearest && !has_names {
        let text = "each cell shows one of several elements";
        scene.text((wide - 8.0, high - 6.0), text, "end", SMALL);
    }
    area
}

/// Draws the colour bar, with a pointed end where values exceed it.
fn draw_bar(scene: &mut Scene, palette: &Palette, grid: &Grid, (x, y): (f64, f64), height: f64) {
    let scale = palette.scale;
    let mut values = placed(grid.cells.iter().copied(), scale.is_log);
    let (mut below, mut above) = (false, false);
    for value in &mut values {
        (below, above) = (below || value < scale.low, above || value > scale.high);
    }
    scene.gradient((x, y), (16.0, height), palette.map);
    if above {
        let points = [(x, y), (x + 8.0, y - END_HEIGHT), (x + 16.0, y)];
        scene.shape(&points, palette.map.color(1.0));
    }
    if below {
        let y = y + height;
        let points = [(x, y), (x + 8.0, y + END_HEIGHT), (x + 16.0, y)];
        scene.shape(&points, palette.map.color(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_equal_those_of_numpy() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (percent, expected) in [(0.0, 1.0), (50.0, 3.0), (98.0, 7.76), (100.0, 8.0)] {
            assert!((percentile(&sorted, percent).unwrap() - expected).abs() < 1e-9, "{percent}");
        }
        assert_eq!(percentile(&[], 50.0), None);
    }
}
