//! A sample as a drawing: a line or an image, with axes, ticks and a legend of its colours.

use ra_pack::values::{Grid, Line, Quantity, Sample};

use super::super::array;
use super::super::text::fit;
use super::super::text::{count, float};
use super::axis::{Along, Scale, Tick};
use super::scene::{
    BLACK, ColorMap, LARGE, MEDIUM, PALE, Pixels, RD_BU, Rgb, SMALL, Scene, Size, VIRIDIS, of_name,
};

/// How to draw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chart {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// The one for the data when not given.
    pub(crate) map: Option<ColorMap>,
    /// The values that the colours, or the axis, go from and to.
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) is_log: bool,
    pub(crate) title: String,
}

/// `name [units]` of the values that are drawn.
pub(crate) fn quantity_label(quantity: &Quantity) -> String {
    let description = quantity.description.as_ref();
    let name = array::attribute(description, "long_name")
        .unwrap_or_else(|| ra_pack::path::escape(&quantity.name).to_string());
    let name = if quantity.is_magnitude { format!("magnitude of {name}") } else { name };
    match array::attribute(description, "units") {
        Some(units) => format!("{name} [{units}]"),
        None => name,
    }
}

/// The least and the greatest of the values that have a place on a scale.
pub(crate) fn extremes(values: impl Iterator<Item = f64>, is_log: bool) -> Option<(f64, f64)> {
    let values = values.filter(|value| value.is_finite() && (!is_log || *value > 0.0));
    values.fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// The same of a line.
pub(crate) fn line_extremes(line: &Line, is_log: bool) -> Option<(f64, f64)> {
    extremes(line.columns.iter().flat_map(|column| [column.low, column.high]), is_log)
}

/// The scale of a line; `margin` is the part of its range that is left free on both sides.
pub(crate) fn line_scale(line: &Line, style: &Chart, margin: f64) -> Scale {
    Scale::new(line_extremes(line, style.is_log), style, margin)
}

/// The pieces of a line between its gaps: points with places from 0 to 1 to the right and upwards.
pub(crate) fn pieces(line: &Line, scale: Scale) -> Vec<Vec<(f64, f64)>> {
    let along = line.axis.as_ref().map(Along::new);
    let mut pieces = vec![Vec::new()];
    for (nth, column) in line.columns.iter().enumerate() {
        let x = along.as_ref().map_or(0.5, |along| along.middle(nth));
        let values = [column.first, column.low, column.high, column.last].into_iter();
        let mut places: Vec<_> = values.filter_map(|value| scale.place(value)).collect();
        places.dedup();
        match pieces.last_mut() {
            Some(piece) if !places.is_empty() => {
                piece.extend(places.into_iter().map(|y| (x, y.clamp(0.0, 1.0))));
            }
            _ => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The plot itself on the page.
#[derive(Debug, Clone, Copy)]
struct PlotArea {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl PlotArea {
    /// The area between the ticks to the left, and the room that is kept to the right and below.
    fn new(style: &Chart, upwards: &[Tick], right: f64, below: f64) -> Self {
        let (left, top) = (room(upwards) + 42.0, 36.0);
        let width = (f64::from(style.width) - left - right).max(16.0);
        Self { left, top, width, height: (f64::from(style.height) - top - below).max(16.0) }
    }

    /// The point at a place from 0 to 1 to the right and upwards.
    fn at(self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.left + self.width * x, self.top + self.height * (1.0 - y))
    }
}

pub(crate) fn draw(sample: &Sample, style: &Chart) -> Scene {
    let mut scene = Scene::new(style.width, style.height);
    let wide = f64::from(style.width);
    let title = fit(&style.title, letters(wide - 20.0, LARGE));
    scene.text((wide / 2.0, 22.0), &title, "middle", LARGE);
    match sample {
        Sample::Line(line) => draw_line(&mut scene, line, style),
        Sample::Grid(grid) => draw_grid(&mut scene, grid, style),
        _ => {}
    }
    scene
}

impl Scene {
    /// A label that is read upwards, no longer than the plot and a little.
    fn upright(&mut self, x: f64, area: PlotArea, text: &str) {
        let text = fit(text, letters(area.height + 40.0, MEDIUM));
        self.turned((x, area.at((0.0, 0.5)).1), &text, "middle", MEDIUM, true);
    }

    /// A box with the meaning of its colour after it.
    fn legend(&mut self, (x, y): (f64, f64), fill: Rgb, text: &str) {
        self.rect((x, y), (14.0, 14.0), fill);
        self.text((x + 20.0, y + 11.0), text, "start", SMALL);
    }

    /// The border of a plot, and the ticks and the label below it and to the left.
    fn axes(&mut self, area: PlotArea, across: (&[Tick], &str), upwards: (&[Tick], &str)) {
        let PlotArea { left, top, width, height } = area;
        let (bottom, right) = (top + height, left + width);
        self.rect((left - 1.0, top - 1.0), (width + 2.0, 1.0), BLACK);
        self.rect((left - 1.0, bottom), (width + 2.0, 1.0), BLACK);
        self.rect((left - 1.0, top - 1.0), (1.0, height + 2.0), BLACK);
        self.rect((right, top - 1.0), (1.0, height + 2.0), BLACK);
        let mut free = f64::NEG_INFINITY;
        for (place, text) in across.0 {
            let x = area.at((*place, 0.0)).0;
            self.rect((x, bottom), (1.0, 5.0), BLACK);
            let half = float(text.chars().count()) * SMALL.width / 2.0;
            // Texts that would touch the one before are left out.
            if x - half > free && x + half < f64::from(self.width) {
                self.text((x, bottom + 17.0), text, "middle", SMALL);
                free = x + half + 6.0;
            }
        }
        let label = fit(across.1, letters(right, MEDIUM));
        self.text((left + width / 2.0, bottom + 36.0), &label, "middle", MEDIUM);
        for (place, text) in upwards.0 {
            let y = area.at((0.0, *place)).1;
            self.rect((left - 5.0, y - 0.5), (5.0, 1.0), BLACK);
            self.text((left - 8.0, y + 4.0), text, "end", SMALL);
        }
        self.upright(18.0, area, upwards.1);
    }

    fn nothing(&mut self, area: PlotArea, text: &str) {
        self.text(area.at((0.5, 0.5)), text, "middle", MEDIUM);
    }
}

/// Letters that fit a width.
fn letters(width: f64, size: Size) -> usize {
    count(width / size.width).max(4)
}

/// Room for the longest of some texts.
fn room(ticks: &[Tick]) -> f64 {
    let longest = ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    float(longest) * SMALL.width
}

/// How many ticks fit a length.
fn fitting(length: f64, each: f64) -> usize {
    count(length / each).clamp(2, 12)
}

/// The background of columns without a value next to a line.
const NOTHING: Rgb = [0xF3, 0xD9, 0xD3];

fn draw_line(scene: &mut Scene, line: &Line, style: &Chart) {
    let high = f64::from(style.height);
    let scale = line_scale(line, style, 0.04);
    let upwards = scale.ticks(fitting(high - 100.0, 45.0));
    let has_gap = line.columns.iter().any(|column| column.low.is_nan() || column.has_gap);
    let area = PlotArea::new(style, &upwards, 20.0, if has_gap { 66.0 } else { 48.0 });
    let along = line.axis.as_ref().map(Along::new);
    let ticks = |along: &Along<'_>| (along.ticks(fitting(area.width, 90.0)), along.label());
    let (across, label) = along.as_ref().map(ticks).unwrap_or_default();
    for (place, _) in &upwards {
        scene.rect((area.left, area.at((0.0, *place)).1 - 0.5), (area.width, 1.0), PALE);
    }
    for (place, _) in &across {
        scene.rect((area.at((*place, 0.0)).0, area.top), (1.0, area.height), PALE);
    }
    let each = area.width / float(line.columns.len().max(1));
    for (nth, column) in line.columns.iter().enumerate() {
        let part = along.as_ref().map_or(0.5, |along| along.middle(nth));
        let x = area.at((part, 0.0)).0 - each / 2.0;
        let ends = [column.first, column.low, column.high, column.last];
        if !ends.into_iter().any(|value| scale.place(value).is_some()) {
            scene.rect((x, area.top), (each, area.height), NOTHING);
        } else if column.has_gap {
            scene.rect((x, area.top + area.height - 6.0), (each, 6.0), NOTHING);
        }
    }
    let pieces = pieces(line, scale);
    for piece in &pieces {
        let points: Vec<_> = piece.iter().map(|point| area.at(*point)).collect();
        // A value alone is a dot.
        match *points {
            [dot] => scene.line(&[dot, dot], 5.0),
            _ => scene.line(&points, 1.4),
        }
    }
    scene.axes(area, (&across, &label), (&upwards, &quantity_label(&line.quantity)));
    if line.columns.is_empty() {
        scene.nothing(area, "no elements");
    } else if pieces.is_empty() {
        scene.nothing(area, "no values");
    }
    if has_gap && !line.columns.is_empty() {
        scene.legend((area.left, high - 18.0), NOTHING, "no value");
    }
}

/// The way from values to colours.
pub(crate) struct Palette {
    pub(crate) scale: Scale,
    pub(crate) map: ColorMap,
    /// The numbers that have names.
    names: Vec<f64>,
}

impl Palette {
    pub(crate) fn new(grid: &Grid, style: &Chart) -> Self {
        let range = extremes(grid.cells.iter().copied(), style.is_log);
        let mut scale = Scale::new(range, style, 0.0);
        let is_both = scale.low < 0.0 && scale.high > 0.0;
        let map = style.map.unwrap_or(if is_both { RD_BU } else { VIRIDIS });
        if map == RD_BU && is_both && style.range.is_none() {
            let most = scale.high.max(-scale.low);
            (scale.low, scale.high) = (-most, most);
        }
        let number = |(_, number): &(String, i128)| number.to_string().parse().unwrap_or(f64::NAN);
        Self { scale, map, names: grid.quantity.names.iter().map(number).collect() }
    }

    pub(crate) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// The number among the names of a value that has one.
    pub(crate) fn name(&self, value: f64) -> Option<usize> {
        self.names.iter().position(|number| (number - value).abs() < 0.5)
    }

    /// The colour of a value that has one.
    fn known(&self, value: f64) -> Option<Rgb> {
        if self.has_names() {
            return self.name(value).map(of_name);
        }
        self.scale.place(value).map(|place| self.map.color(place))
    }
}

/// The number of the cell at each of so many places, row by row.
pub(crate) fn cells(grid: &Grid, width: usize, height: usize) -> Vec<usize> {
    let (across, down) = (Along::new(&grid.columns), Along::new(&grid.rows));
    let part = |nth: usize, all: usize| (float(nth) + 0.5) / float(all.max(1));
    let columns: Vec<usize> = (0..width).map(|x| across.cell(part(x, width))).collect();
    let row = |y: usize| {
        let place = part(y, height);
        down.cell(if down.is_upwards() { 1.0 - place } else { place })
    };
    let rows = (0..height).map(|y| row(y) * grid.columns.cells);
    rows.flat_map(|start| columns.iter().map(move |column| start + column)).collect()
}

/// The cells as an image of this size, each as wide as its part of the axis.
pub(crate) fn image(grid: &Grid, palette: &Palette, width: u32, height: u32) -> Pixels {
    let nothing = palette.map.nothing();
    let color = |value: &f64| palette.known(*value).unwrap_or(nothing);
    let colors: Vec<Rgb> = grid.cells.iter().map(color).collect();
    let cells = cells(grid, width as usize, height as usize).into_iter();
    let colors = cells.map(|cell| colors.get(cell).copied().unwrap_or(nothing)).collect();
    Pixels { width, height, colors }
}

fn draw_grid(scene: &mut Scene, grid: &Grid, style: &Chart) {
    let (wide, high) = (f64::from(style.width), f64::from(style.height));
    let palette = Palette::new(grid, style);
    let (across, down) = (Along::new(&grid.columns), Along::new(&grid.rows));
    let mut upwards = down.ticks(fitting(high - 100.0, 45.0));
    if !down.is_upwards() {
        for (place, _) in &mut upwards {
            *place = 1.0 - *place;
        }
    }
    let has_names = palette.has_names();
    let bar: Vec<Tick> = if has_names {
        let names =
            grid.quantity.names.iter().map(|(name, _)| ra_pack::path::escape(name).to_string());
        names.map(|name| (0.0, fit(&name, 24))).collect()
    } else {
        palette.scale.ticks(fitting(high - 120.0, 40.0))
    };
    let right = room(&bar).max(56.0) + if has_names { 44.0 } else { 66.0 };
    let area = PlotArea::new(style, &upwards, right, 48.0);
    if grid.cells.is_empty() {
        scene.nothing(area, "no elements");
    } else {
        let pixel = |number: f64| u32::try_from(count(number)).unwrap_or(1);
        let pixels = image(grid, &palette, pixel(area.width), pixel(area.height));
        scene.image((count(area.left), count(area.top)), pixels);
    }
    let ticks = across.ticks(fitting(area.width, 90.0));
    scene.axes(area, (&ticks, &across.label()), (&upwards, &down.label()));
    let with_value = grid.cells.iter().filter(|value| palette.known(**value).is_some()).count();
    let has_gap = with_value < grid.cells.len();
    let (x, mut y) = (area.left + area.width + 20.0, area.top);
    if has_names {
        for (nth, (_, name)) in bar.iter().enumerate().take(count(high / 20.0)) {
            scene.legend((x, y), of_name(nth), name);
            y += 20.0;
        }
    } else if with_value > 0 {
        let height = (area.height - if has_gap { 30.0 } else { 0.0 }).max(8.0);
        let bar_area = PlotArea { height, ..area };
        for step in (0..count(height)).map(float) {
            let part = 1.0 - (step + 0.5) / height;
            scene.rect((x, y + step), (16.0, 1.0), palette.map.color(part));
        }
        for (place, text) in &bar {
            let y = bar_area.at((0.0, *place)).1;
            scene.rect((x + 16.0, y - 0.5), (4.0, 1.0), BLACK);
            scene.text((x + 23.0, y + 4.0), text, "start", SMALL);
        }
        scene.upright(wide - 8.0, bar_area, &quantity_label(&grid.quantity));
    }
    if has_gap {
        let y = if has_names { y } else { area.top + area.height - 16.0 };
        scene.legend((x, y), palette.map.nothing(), "no value");
    }
    if grid.is_nearest && !has_names {
        let text = "one of several elements in each cell";
        scene.text((wide - 8.0, high - 6.0), text, "end", SMALL);
    }
}
