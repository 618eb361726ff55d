//! A sample as a drawing: a line or an image, with axes, ticks and a legend of its colours.

use ra_pack::{Grid, GridMethod, Line, Quantity, Sample};

use super::super::array;
use super::super::text::fit;
use super::super::text::{count, float};
use super::axis::{Along, Scale, Tick};
use super::scene::{
    Anchor, BLACK, ColorMap, Mark, PALE, Pixels, RD_BU, Rgb, Scene, Size, VIRIDIS, WHITE, of_name,
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
        .unwrap_or_else(|| ra_pack::escape(&quantity.name).to_string());
    let name = if quantity.is_magnitude { format!("magnitude of {name}") } else { name };
    match array::attribute(description, "units") {
        Some(units) => format!("{name} [{units}]"),
        None => name,
    }
}

/// The least and the greatest of the values that have a place on a scale.
fn range(values: impl Iterator<Item = f64>, is_log: bool) -> Option<(f64, f64)> {
    let values = values.filter(|value| value.is_finite() && (!is_log || *value > 0.0));
    values.fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// The scale of a line; `margin` is the part of its range that is left free on both sides.
pub(crate) fn line_scale(line: &Line, style: &Chart, margin: f64) -> Scale {
    let values = line.columns.iter().flat_map(|column| [column.low, column.high]);
    Scale::new(range(values, style.is_log), style, margin)
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

pub(crate) fn draw(sample: &Sample, style: &Chart) -> Scene {
    let (width, height) = (style.width, style.height);
    let mut scene = Scene { width, height, items: Vec::new() };
    let (wide, high) = (f64::from(width), f64::from(height));
    scene.rect((0.0, 0.0), (wide, high), WHITE);
    let title = fit(&style.title, letters(wide - 20.0, Size::Large));
    scene.text((wide / 2.0, 22.0), &title, Anchor::Middle, Size::Large);
    match sample {
        Sample::Line(line) => draw_line(&mut scene, line, style),
        Sample::Grid(grid) => draw_grid(&mut scene, grid, style),
        _ => {}
    }
    scene
}

impl Scene {
    fn text(&mut self, (x, y): (f64, f64), text: &str, anchor: Anchor, size: Size) {
        let text = text.to_owned();
        self.items.push(Mark::Text { x, y, text, anchor, size, is_upright: false });
    }

    /// A label that is read upwards, no longer than the plot and a little.
    fn upright(&mut self, x: f64, frame: PlotArea, text: &str) {
        let text = fit(text, letters(frame.height + 40.0, Size::Medium));
        let y = frame.top + frame.height / 2.0;
        let (anchor, size) = (Anchor::Middle, Size::Medium);
        self.items.push(Mark::Text { x, y, text, anchor, size, is_upright: true });
    }

    fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: Rgb) {
        self.items.push(Mark::Rect { x, y, width, height, fill });
    }

    /// A box with the meaning of its colour after it.
    fn legend(&mut self, (x, y): (f64, f64), fill: Rgb, text: &str) {
        self.rect((x, y), (14.0, 14.0), fill);
        self.text((x + 20.0, y + 11.0), text, Anchor::Start, Size::Small);
    }

    fn border(&mut self, frame: PlotArea) {
        let PlotArea { left, top, width, height } = frame;
        self.rect((left - 1.0, top - 1.0), (width + 2.0, 1.0), BLACK);
        self.rect((left - 1.0, top + height), (width + 2.0, 1.0), BLACK);
        self.rect((left - 1.0, top - 1.0), (1.0, height + 2.0), BLACK);
        self.rect((left + width, top - 1.0), (1.0, height + 2.0), BLACK);
    }

    /// Ticks and the label below a plot.
    fn across(&mut self, frame: PlotArea, ticks: &[Tick], label: &str) {
        let bottom = frame.top + frame.height;
        let mut free = f64::NEG_INFINITY;
        for (place, text) in ticks {
            let x = frame.left + frame.width * place;
            self.rect((x, bottom), (1.0, 5.0), BLACK);
            let half = float(text.chars().count()) * Size::Small.letter() / 2.0;
            // Texts that would touch the one before are left out.
            if x - half > free && x + half < f64::from(self.width) {
                self.text((x, bottom + 17.0), text, Anchor::Middle, Size::Small);
                free = x + half + 6.0;
            }
        }
        let label = fit(label, letters(frame.width + frame.left, Size::Medium));
        let middle = frame.left + frame.width / 2.0;
        self.text((middle, bottom + 36.0), &label, Anchor::Middle, Size::Medium);
    }

    /// Ticks and the label to the left of a plot.
    fn upwards(&mut self, frame: PlotArea, ticks: &[Tick], label: &str) {
        for (place, text) in ticks {
            let y = frame.top + frame.height * (1.0 - place);
            self.rect((frame.left - 5.0, y - 0.5), (5.0, 1.0), BLACK);
            self.text((frame.left - 8.0, y + 4.0), text, Anchor::End, Size::Small);
        }
        self.upright(18.0, frame, label);
    }

    fn nothing(&mut self, frame: PlotArea, text: &str) {
        let middle = (frame.left + frame.width / 2.0, frame.top + frame.height / 2.0);
        self.text(middle, text, Anchor::Middle, Size::Medium);
    }
}

/// Letters that fit a width.
fn letters(width: f64, size: Size) -> usize {
    count(width / size.letter()).max(4)
}

/// Room for the longest of some texts.
fn room(ticks: &[Tick]) -> f64 {
    let longest = ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    float(longest) * Size::Small.letter()
}

/// How many ticks fit a length.
fn fitting(length: f64, each: f64) -> usize {
    count(length / each).clamp(2, 12)
}

/// The background of columns without a value next to a line.
const NOTHING: Rgb = [0xF3, 0xD9, 0xD3];

fn draw_line(scene: &mut Scene, line: &Line, style: &Chart) {
    let (wide, high) = (f64::from(style.width), f64::from(style.height));
    let scale = line_scale(line, style, 0.04);
    let upwards = scale.ticks(fitting(high - 100.0, 45.0));
    let left = room(&upwards) + 42.0;
    let has_gap = line.columns.iter().any(|column| column.low.is_nan() || column.has_gap);
    let frame = PlotArea {
        left: left.round(),
        top: 36.0,
        width: (wide - left - 20.0).max(16.0).round(),
        height: (high - 36.0 - if has_gap { 66.0 } else { 48.0 }).max(16.0).round(),
    };
    let along = line.axis.as_ref().map(Along::new);
    let across = along.as_ref().map(|along| along.ticks(fitting(frame.width, 90.0)));
    let across = across.unwrap_or_default();
    let at =
        |(x, y): (f64, f64)| (frame.left + frame.width * x, frame.top + frame.height * (1.0 - y));
    for (place, _) in &upwards {
        scene.rect((frame.left, at((0.0, *place)).1 - 0.5), (frame.width, 1.0), PALE);
    }
    for (place, _) in &across {
        scene.rect((at((*place, 0.0)).0, frame.top), (1.0, frame.height), PALE);
    }
    let each = frame.width / float(line.columns.len().max(1));
    for (nth, column) in line.columns.iter().enumerate() {
        let part = along.as_ref().map_or(0.5, |along| along.middle(nth));
        let x = at((part, 0.0)).0 - each / 2.0;
        let ends = [column.first, column.low, column.high, column.last];
        if !ends.into_iter().any(|value| scale.place(value).is_some()) {
            scene.rect((x, frame.top), (each, frame.height), NOTHING);
        } else if column.has_gap {
            scene.rect((x, frame.top + frame.height - 6.0), (each, 6.0), NOTHING);
        }
    }
    let pieces = pieces(line, scale);
    let is_empty = pieces.is_empty();
    for piece in pieces {
        let points: Vec<_> = piece.into_iter().map(at).collect();
        // A value alone is a dot.
        let width = if points.len() == 1 { 5.0 } else { 1.4 };
        scene.items.push(Mark::Line { points, width });
    }
    scene.border(frame);
    let label = along.as_ref().map_or_else(String::new, Along::label);
    scene.across(frame, &across, &label);
    scene.upwards(frame, &upwards, &quantity_label(&line.quantity));
    if line.columns.is_empty() {
        scene.nothing(frame, "no elements");
    } else if is_empty {
        scene.nothing(frame, "no values");
    }
    if has_gap && !line.columns.is_empty() {
        scene.legend((frame.left, high - 18.0), NOTHING, "no value");
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
        let range = range(grid.cells.iter().copied(), style.is_log);
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
        let names = grid.quantity.names.iter().map(|(name, _)| ra_pack::escape(name).to_string());
        names.map(|name| (0.0, fit(&name, 24))).collect()
    } else {
        palette.scale.ticks(fitting(high - 120.0, 40.0))
    };
    let left = (room(&upwards) + 42.0).round();
    let right = (room(&bar).max(56.0) + if has_names { 44.0 } else { 66.0 }).round();
    let frame = PlotArea {
        left,
        top: 36.0,
        width: (wide - left - right).max(16.0),
        height: (high - 36.0 - 48.0).max(16.0),
    };
    if grid.cells.is_empty() {
        scene.nothing(frame, "no elements");
    } else {
        let pixel = |number: f64| u32::try_from(count(number)).unwrap_or(1);
        let pixels = image(grid, &palette, pixel(frame.width), pixel(frame.height));
        scene.items.push(Mark::Image { x: frame.left, y: frame.top, pixels });
    }
    scene.border(frame);
    scene.across(frame, &across.ticks(fitting(frame.width, 90.0)), &across.label());
    scene.upwards(frame, &upwards, &down.label());
    let with_value = grid.cells.iter().filter(|value| palette.known(**value).is_some()).count();
    let has_gap = with_value < grid.cells.len();
    let (x, mut y) = (frame.left + frame.width + 20.0, frame.top);
    if has_names {
        for (nth, (_, name)) in bar.iter().enumerate() {
            scene.legend((x, y), of_name(nth), name);
            y += 20.0;
        }
    } else if with_value > 0 {
        let height = (frame.height - if has_gap { 30.0 } else { 0.0 }).max(8.0);
        for step in (0..count(height)).map(float) {
            let part = 1.0 - (step + 0.5) / height;
            scene.rect((x, y + step), (16.0, 1.0), palette.map.color(part));
        }
        for (place, text) in &bar {
            let y = y + height * (1.0 - place);
            scene.rect((x + 16.0, y - 0.5), (4.0, 1.0), BLACK);
            scene.text((x + 23.0, y + 4.0), text, Anchor::Start, Size::Small);
        }
        scene.upright(wide - 8.0, PlotArea { height, ..frame }, &quantity_label(&grid.quantity));
    }
    if has_gap {
        let y = if has_names { y } else { frame.top + frame.height - 16.0 };
        scene.legend((x, y), palette.map.nothing(), "no value");
    }
    if grid.method == GridMethod::Nearest && !has_names {
        let text = "one of several elements in each cell";
        scene.text((wide - 8.0, high - 6.0), text, Anchor::End, Size::Small);
    }
}
