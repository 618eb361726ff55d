//! A sample as a drawing: a line or an image, with axes, ticks and what the colours mean.

use ra_pack::{Grid, GridMethod, Line, Quantity, Sample, SampledAxis};

use super::super::array;
use super::super::dates::Dates;
use super::colors::{self, ColorMap};
use super::paint::{cut, letters};
use super::scene::{Anchor, BLACK, INK, Item, PALE, Pixels, Rgb, Scene, Size, WHITE, float, whole};
use super::ticks::{self, Tick};

/// How to draw.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// The one for the data when not given.
    pub(crate) map: Option<ColorMap>,
    /// The values that the colours, or the axis, go from and to.
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) is_log: bool,
    pub(crate) title: String,
}

/// What a value is on a scale from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) is_log: bool,
}

impl Scale {
    /// For these values; `room` leaves some beside them.
    fn new(values: Option<(f64, f64)>, style: &Style, room: f64) -> Self {
        let is_log = style.is_log;
        if let Some((low, high)) = style.range {
            return Self { low, high, is_log };
        }
        let (low, high) = values.unwrap_or(if is_log { (0.1, 1.0) } else { (0.0, 1.0) });
        if low < high {
            let more = (high / 2.0 - low / 2.0) * 2.0 * room;
            let (below, above) = (low - more, high + more);
            if is_log || !below.is_finite() || !above.is_finite() {
                return Self { low, high, is_log };
            }
            return Self { low: below, high: above, is_log };
        }
        // One value: something on both sides of it.
        if is_log {
            return Self { low: low / 2.0, high: high * 2.0, is_log };
        }
        let more = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
        Self { low: (low - more).max(f64::MIN), high: (high + more).min(f64::MAX), is_log }
    }

    /// For these values and nothing beside them.
    pub(crate) fn of(values: Option<(f64, f64)>, style: &Style) -> Self {
        Self::new(values, style, 0.0)
    }

    /// The place of a value; nothing for one that is not finite, or not positive where that is needed.
    pub(crate) fn place(self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.is_log && value <= 0.0) {
            return None;
        }
        let change = |number: f64| if self.is_log { libm::log10(number) } else { number };
        let (low, high) = (change(self.low), change(self.high));
        // Halves, since the whole may be more than a float holds.
        Some((change(value) / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0))
    }

    fn ticks(self, count: usize) -> Vec<Tick> {
        if self.is_log {
            ticks::logarithmic(self.low, self.high, count)
        } else {
            ticks::linear(self.low, self.high, count)
        }
    }
}

/// Where the cells of a dimension lie on an axis.
pub(crate) struct Along<'s> {
    axis: &'s SampledAxis,
    /// The edges of the cells, rising.
    edges: Vec<f64>,
    /// Whether the first cell is the last on the axis.
    is_falling: bool,
    has_positions: bool,
    dates: Option<Dates>,
}

impl<'s> Along<'s> {
    pub(crate) fn new(axis: &'s SampledAxis) -> Self {
        let positions = axis.positions.as_deref().and_then(|positions| {
            let rises = |positions: &[f64]| {
                positions.windows(2).all(|pair| matches!(pair, [a, b] if a < b))
            };
            let falling: Vec<f64> = positions.iter().rev().copied().collect();
            let is_falling = !rises(positions) && rises(&falling);
            let rising = if is_falling { falling } else { positions.to_vec() };
            let edges = edges(&rising);
            let sound =
                rises(&rising) && rises(&edges) && edges.iter().all(|edge| edge.is_finite());
            sound.then_some((edges, is_falling))
        });
        let has_positions = positions.is_some();
        let (edges, is_falling) = positions.unwrap_or_else(|| {
            let indices: Vec<f64> = axis.indices.iter().map(|index| of_index(*index)).collect();
            let is_falling = matches!(indices.as_slice(), [first, .., last] if last < first);
            let mut rising = indices;
            if is_falling {
                rising.reverse();
            }
            (edges(&rising), is_falling)
        });
        let units = axis.attribute("units").filter(|_| has_positions);
        let dates = units.and_then(|units| Dates::new(units, axis.attribute("calendar")));
        Self { axis, edges, is_falling, has_positions, dates }
    }

    fn ends(&self) -> (f64, f64) {
        match self.edges.as_slice() {
            [low, .., high] => (*low, *high),
            _ => (0.0, 1.0),
        }
    }

    /// The number of the cell at a part from 0 to 1 of the axis.
    fn cell(&self, part: f64) -> usize {
        let (low, high) = self.ends();
        let place = low + (high - low) * part;
        let behind = self.edges.partition_point(|edge| *edge <= place);
        let last = self.axis.cells.saturating_sub(1);
        let cell = behind.saturating_sub(1).min(last);
        if self.is_falling { last.saturating_sub(cell) } else { cell }
    }

    /// The place of the middle of a cell, from 0 to 1.
    pub(crate) fn middle(&self, cell: usize) -> f64 {
        let last = self.axis.cells.saturating_sub(1);
        let nth = if self.is_falling { last.saturating_sub(cell) } else { cell };
        let edge = |nth: usize| self.edges.get(nth).copied().unwrap_or(0.0);
        let (low, high) = self.ends();
        (f64::midpoint(edge(nth), edge(nth.saturating_add(1))) - low) / (high - low)
    }

    fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        if self.edges.is_empty() {
            return Vec::new();
        }
        let (low, high) = self.ends();
        let ticks = match self.dates {
            Some(dates) => ticks::dated(dates, low, high, count),
            None if self.has_positions => ticks::linear(low, high, count),
            // Indices are whole.
            None => {
                let ticks = ticks::linear(low, high, count).into_iter();
                let whole = ticks.filter(|(place, _)| place.fract().abs() < 1e-9);
                whole.map(|(place, _)| (place, format!("{place:.0}"))).collect()
            }
        };
        let place = |(place, text): Tick| ((place - low) / (high - low), text);
        ticks.into_iter().map(place).filter(|(place, _)| (0.0..=1.0).contains(place)).collect()
    }

    pub(crate) fn label(&self) -> String {
        let name = self.axis.name.as_deref().map(|name| ra_pack::escape(name).to_string());
        let long = array::attribute(self.axis.coordinate.as_ref(), "long_name");
        let name = long.filter(|_| self.has_positions).or(name);
        let units = match self.dates {
            Some(_) => Some("UTC".to_owned()),
            None if self.has_positions => array::attribute(self.axis.coordinate.as_ref(), "units"),
            None => Some("index".to_owned()).filter(|_| name.is_some()),
        };
        match (name, units) {
            (Some(name), Some(units)) => format!("{name} [{units}]"),
            (name, units) => name.or(units).unwrap_or_else(|| "index".to_owned()),
        }
    }
}

fn of_index(index: u64) -> f64 {
    index.to_string().parse().unwrap_or(f64::INFINITY)
}

/// The edges between positions that rise: in the middle, and as far away at both ends.
fn edges(positions: &[f64]) -> Vec<f64> {
    let (Some(first), Some(last)) = (positions.first(), positions.last()) else {
        return Vec::new();
    };
    let between: Vec<f64> = positions
        .windows(2)
        .filter_map(|pair| match pair {
            [a, b] => Some(a / 2.0 + b / 2.0),
            _ => None,
        })
        .collect();
    let (Some(inner), Some(outer)) = (between.first(), between.last()) else {
        return vec![first - 0.5, first + 0.5];
    };
    let mut edges = vec![first - (inner - first)];
    edges.extend(&between);
    edges.push(last + (last - outer));
    edges
}

/// `name [units]` of what is drawn.
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

/// Where the plot itself is on the page.
#[derive(Debug, Clone, Copy)]
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

pub(crate) fn draw(sample: &Sample, style: &Style) -> Scene {
    match sample {
        Sample::Line(line) => draw_line(line, style),
        Sample::Grid(grid) => draw_grid(grid, style),
        _ => Scene { width: style.width, height: style.height, items: Vec::new() },
    }
}

fn page(style: &Style) -> Scene {
    let (width, height) = (style.width, style.height);
    let (wide, high) = (f64::from(width), f64::from(height));
    let mut scene = Scene { width, height, items: Vec::new() };
    scene.items.push(Item::Rect { x: 0.0, y: 0.0, width: wide, height: high, fill: WHITE });
    scene.text(
        wide / 2.0,
        22.0,
        &cut(&style.title, letters(wide - 20.0, Size::Large)),
        Anchor::Middle,
        Size::Large,
    );
    scene
}

impl Scene {
    fn text(&mut self, x: f64, y: f64, text: &str, anchor: Anchor, size: Size) {
        let text = text.to_owned();
        self.items.push(Item::Text { x, y, text, anchor, size, is_upright: false });
    }

    fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: Rgb) {
        self.items.push(Item::Rect { x, y, width, height, fill });
    }

    fn border(&mut self, frame: Frame) {
        let Frame { left, top, width, height } = frame;
        self.rect(left - 1.0, top - 1.0, width + 2.0, 1.0, BLACK);
        self.rect(left - 1.0, top + height, width + 2.0, 1.0, BLACK);
        self.rect(left - 1.0, top - 1.0, 1.0, height + 2.0, BLACK);
        self.rect(left + width, top - 1.0, 1.0, height + 2.0, BLACK);
    }

    /// Ticks and the label below a plot.
    fn across(&mut self, frame: Frame, ticks: &[(f64, String)], label: &str) {
        let bottom = frame.top + frame.height;
        let mut free = f64::NEG_INFINITY;
        for (place, text) in ticks {
            let x = frame.left + frame.width * place;
            self.rect(x, bottom, 1.0, 5.0, BLACK);
            let half = float(text.chars().count()) * Size::Small.letter() / 2.0;
            // Texts that would touch the one before are left out.
            if x - half > free && x + half < f64::from(self.width) {
                self.text(x, bottom + 17.0, text, Anchor::Middle, Size::Small);
                free = x + half + 6.0;
            }
        }
        let most = letters(frame.width + frame.left, Size::Medium);
        self.text(
            frame.left + frame.width / 2.0,
            bottom + 36.0,
            &cut(label, most),
            Anchor::Middle,
            Size::Medium,
        );
    }

    /// Ticks and the label to the left of a plot.
    fn upwards(&mut self, frame: Frame, ticks: &[(f64, String)], label: &str) {
        for (place, text) in ticks {
            let y = frame.top + frame.height * (1.0 - place);
            self.rect(frame.left - 5.0, y - 0.5, 5.0, 1.0, BLACK);
            self.text(frame.left - 8.0, y + 4.0, text, Anchor::End, Size::Small);
        }
        let text = cut(label, letters(frame.height + 40.0, Size::Medium));
        let y = frame.top + frame.height / 2.0;
        let size = Size::Medium;
        self.items.push(Item::Text {
            x: 18.0,
            y,
            text,
            anchor: Anchor::Middle,
            size,
            is_upright: true,
        });
    }

    fn nothing(&mut self, frame: Frame, text: &str) {
        let (x, y) = (frame.left + frame.width / 2.0, frame.top + frame.height / 2.0);
        self.text(x, y, text, Anchor::Middle, Size::Medium);
    }
}

/// Room for the longest of some texts.
fn room(ticks: &[(f64, String)]) -> f64 {
    let longest = ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    float(longest) * Size::Small.letter()
}

/// How many ticks fit a length.
fn fitting(length: f64, each: f64) -> usize {
    usize::try_from(whole(length / each)).unwrap_or(1).clamp(2, 12)
}

fn draw_line(line: &Line, style: &Style) -> Scene {
    let mut scene = page(style);
    let (wide, high) = (f64::from(style.width), f64::from(style.height));
    let positive = |value: f64| !style.is_log || value > 0.0;
    let values = line.columns.iter().flat_map(|column| [column.low, column.high]);
    let values = values.filter(|value| value.is_finite() && positive(*value));
    let range = values.fold(None, |range: Option<(f64, f64)>, value| {
        Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    let scale = Scale::new(range, style, 0.04);
    let placed = |ticks: Vec<Tick>| -> Vec<(f64, String)> {
        let place = |(value, text): Tick| Some((scale.place(value)?, text));
        let inside = |(place, _): &(f64, String)| (0.0..=1.0).contains(place);
        ticks.into_iter().filter_map(place).filter(inside).collect()
    };
    let upwards = placed(scale.ticks(fitting(high - 100.0, 45.0)));
    let left = room(&upwards) + 42.0;
    let has_gap = line.columns.iter().any(|column| column.low.is_nan() || column.has_gap);
    let frame = Frame {
        left: left.round(),
        top: 36.0,
        width: (wide - left - 20.0).max(16.0).round(),
        height: (high - 36.0 - if has_gap { 66.0 } else { 48.0 }).max(16.0).round(),
    };
    let along = line.axis.as_ref().map(Along::new);
    let across = along.as_ref().map(|along| along.ticks(fitting(frame.width, 90.0)));
    for (place, _) in &upwards {
        let y = frame.top + frame.height * (1.0 - place);
        scene.rect(frame.left, y - 0.5, frame.width, 1.0, PALE);
    }
    for (place, _) in across.iter().flatten() {
        scene.rect(frame.left + frame.width * place, frame.top, 1.0, frame.height, PALE);
    }
    let cells = line.columns.len();
    let place_x = |nth: usize| {
        let part = along.as_ref().map_or(0.5, |along| along.middle(nth));
        frame.left + frame.width * part
    };
    let place_y = |value: f64| {
        let part = scale.place(value)?.clamp(-10.0, 10.0);
        Some(frame.top + frame.height * (1.0 - part.clamp(0.0, 1.0)))
    };
    let mut points = Vec::new();
    let mut pieces = Vec::new();
    let each = frame.width / float(cells.max(1));
    for (nth, column) in line.columns.iter().enumerate() {
        let x = place_x(nth);
        let found: Vec<f64> = [column.first, column.low, column.high, column.last]
            .into_iter()
            .filter_map(place_y)
            .collect();
        if found.is_empty() {
            pieces.push(std::mem::take(&mut points));
            scene.rect(x - each / 2.0, frame.top, each, frame.height, NOTHING);
        } else if column.has_gap {
            scene.rect(x - each / 2.0, frame.top + frame.height - 6.0, each, 6.0, NOTHING);
        }
        for y in found {
            if points.last() != Some(&(x, y)) {
                points.push((x, y));
            }
        }
    }
    pieces.push(points);
    for points in pieces.into_iter().filter(|points| !points.is_empty()) {
        // A value alone is a dot.
        let width = if points.len() == 1 { 5.0 } else { 1.4 };
        scene.items.push(Item::Line { points, width, ink: INK });
    }
    scene.border(frame);
    let label = along.as_ref().map_or_else(String::new, Along::label);
    scene.across(frame, &across.unwrap_or_default(), &label);
    scene.upwards(frame, &upwards, &quantity_label(&line.quantity));
    if cells == 0 {
        scene.nothing(frame, "no elements");
    } else if range.is_none() {
        scene.nothing(frame, "no values");
    }
    if has_gap && cells > 0 {
        scene.rect(frame.left, high - 18.0, 12.0, 12.0, NOTHING);
        scene.text(frame.left + 18.0, high - 7.0, "no value", Anchor::Start, Size::Small);
    }
    scene
}

/// The background of what has no value beside a line.
const NOTHING: Rgb = [0xF3, 0xD9, 0xD3];

/// How values become colours.
pub(crate) struct Palette<'s> {
    scale: Scale,
    map: ColorMap,
    names: &'s [(String, i128)],
}

impl<'s> Palette<'s> {
    pub(crate) fn new(grid: &'s Grid, style: &Style) -> Self {
        let positive = |value: &f64| value.is_finite() && (!style.is_log || *value > 0.0);
        let range = grid.cells.iter().copied().filter(positive).fold(None, |range, value| {
            Some(range.map_or((value, value), |(low, high): (f64, f64)| {
                (low.min(value), high.max(value))
            }))
        });
        let mut scale = Scale::new(range, style, 0.0);
        let is_both = scale.low < 0.0 && scale.high > 0.0;
        let map = style.map.unwrap_or(if is_both { ColorMap::RdBu } else { ColorMap::Viridis });
        if map == ColorMap::RdBu && is_both && style.range.is_none() {
            let most = scale.high.max(-scale.low);
            (scale.low, scale.high) = (-most, most);
        }
        Self { scale, map, names: &grid.quantity.names }
    }

    /// The place among the names of a number that has one.
    fn name(&self, value: f64) -> Option<usize> {
        self.names.iter().position(|(_, number)| number.to_string() == format!("{value:.0}"))
    }

    pub(crate) fn color(&self, value: f64) -> Rgb {
        if !self.names.is_empty() {
            return self.name(value).map_or(self.map.nothing(), colors::of_name);
        }
        self.scale.place(value).map_or(self.map.nothing(), |place| self.map.color(place))
    }

    pub(crate) fn has_value(&self, value: f64) -> bool {
        if self.names.is_empty() {
            self.scale.place(value).is_some()
        } else {
            self.name(value).is_some()
        }
    }

    pub(crate) fn scale(&self) -> Scale {
        self.scale
    }
}

/// The cells as an image of this size, each as wide as its part of the axis.
pub(crate) fn image(grid: &Grid, palette: &Palette<'_>, width: u32, height: u32) -> Pixels {
    let mut pixels = Pixels::new(width, height, palette.map.nothing());
    let (across, down) = (Along::new(&grid.columns), Along::new(&grid.rows));
    let cells: Vec<Rgb> = grid.cells.iter().map(|value| palette.color(*value)).collect();
    let part = |nth: u32, all: u32| (f64::from(nth) + 0.5) / f64::from(all.max(1));
    let columns: Vec<usize> = (0..width).map(|x| across.cell(part(x, width))).collect();
    for y in 0..height {
        let place = part(y, height);
        let row = down.cell(if is_upwards(&down) { 1.0 - place } else { place });
        for (x, column) in (0_i64..).zip(&columns) {
            let cell = row.saturating_mul(grid.columns.cells).saturating_add(*column);
            if let (Some(pixel), Some(color)) = (pixels.at(x, y.into()), cells.get(cell)) {
                *pixel = *color;
            }
        }
    }
    pixels
}

/// Whether values rise upwards: coordinates do, unless they say that they are positive downwards;
/// indices count from the top, as a matrix is written.
fn is_upwards(down: &Along<'_>) -> bool {
    down.has_positions && down.axis.attribute("positive") != Some("down")
}

fn draw_grid(grid: &Grid, style: &Style) -> Scene {
    let mut scene = page(style);
    let (wide, high) = (f64::from(style.width), f64::from(style.height));
    let palette = Palette::new(grid, style);
    let (across, down) = (Along::new(&grid.columns), Along::new(&grid.rows));
    let up =
        |(place, text): (f64, String)| (if is_upwards(&down) { place } else { 1.0 - place }, text);
    let upwards: Vec<_> = down.ticks(fitting(high - 100.0, 45.0)).into_iter().map(up).collect();
    let has_names = !grid.quantity.names.is_empty();
    let bar: Vec<(f64, String)> = if has_names {
        let names = grid.quantity.names.iter().map(|(name, _)| ra_pack::escape(name).to_string());
        names.map(|name| (0.0, cut(&name, 24))).collect()
    } else {
        let ticks = palette.scale().ticks(fitting(high - 120.0, 40.0));
        let place = |(value, text): Tick| Some((palette.scale().place(value)?, text));
        let inside = |(place, _): &(f64, String)| (-1e-9..=1.0 + 1e-9).contains(place);
        ticks.into_iter().filter_map(place).filter(inside).collect()
    };
    let left = (room(&upwards) + 42.0).round();
    let right = (room(&bar).max(56.0) + if has_names { 44.0 } else { 66.0 }).round();
    let frame = Frame {
        left,
        top: 36.0,
        width: (wide - left - right).max(16.0),
        height: (high - 36.0 - 48.0).max(16.0),
    };
    let pixel = |number: f64| u32::try_from(whole(number)).unwrap_or(1);
    if grid.cells.is_empty() {
        scene.nothing(frame, "no elements");
    } else {
        let pixels = image(grid, &palette, pixel(frame.width), pixel(frame.height));
        scene.items.push(Item::Image { x: pixel(frame.left), y: pixel(frame.top), pixels });
    }
    scene.border(frame);
    scene.across(frame, &across.ticks(fitting(frame.width, 90.0)), &across.label());
    scene.upwards(frame, &upwards, &down.label());
    let is_empty = !grid.cells.iter().any(|value| palette.has_value(*value));
    let has_gap = grid.cells.iter().any(|value| !palette.has_value(*value));
    let x = frame.left + frame.width + 20.0;
    let mut y = frame.top;
    if has_names {
        for (nth, (_, name)) in bar.iter().enumerate() {
            scene.rect(x, y, 14.0, 14.0, colors::of_name(nth));
            scene.text(x + 20.0, y + 11.0, name, Anchor::Start, Size::Small);
            y += 20.0;
        }
    } else if !is_empty {
        let height = (frame.height - if has_gap { 30.0 } else { 0.0 }).max(8.0);
        let steps = whole(height).max(1);
        for step in 0..steps {
            let step = f64::from(i32::try_from(step).unwrap_or(0));
            let part = 1.0 - (step + 0.5) / height;
            scene.rect(x, y + step, 16.0, 1.0, palette.map.color(part));
        }
        for (place, text) in &bar {
            let y = y + height * (1.0 - place);
            scene.rect(x + 16.0, y - 0.5, 4.0, 1.0, BLACK);
            scene.text(x + 23.0, y + 4.0, text, Anchor::Start, Size::Small);
        }
        let text = cut(&quantity_label(&grid.quantity), letters(height + 40.0, Size::Medium));
        let (x, y) = (wide - 8.0, y + height / 2.0);
        let (anchor, size) = (Anchor::Middle, Size::Medium);
        scene.items.push(Item::Text { x, y, text, anchor, size, is_upright: true });
    }
    if has_gap && !grid.cells.is_empty() {
        let y = if has_names { y } else { frame.top + frame.height - 16.0 };
        scene.rect(x, y, 14.0, 14.0, palette.map.nothing());
        scene.text(x + 20.0, y + 11.0, "no value", Anchor::Start, Size::Small);
    }
    if grid.method == GridMethod::Nearest && !has_names {
        let text = "one of several elements in each cell";
        scene.text(wide - 8.0, high - 6.0, text, Anchor::End, Size::Small);
    }
    scene
}

/// The value at parts of both axes, counted from the upper left.
pub(crate) fn value_at(
    grid: &Grid,
    (down, across): (&Along<'_>, &Along<'_>),
    (row, column): (f64, f64),
) -> f64 {
    let row = down.cell(if is_upwards(down) { 1.0 - row } else { row });
    grid.cell(row, across.cell(column)).unwrap_or(f64::NAN)
}
