//! Drawing of images: cells, colours, and a legend of colours.

use crate::path::escape;
use crate::read::{Grid, Number};

use super::super::text::{columns, count, fit, float};
use super::axis::{Along, Scale, placed};
use super::color::{ColorMap, RD_BU, Rgb, TWILIGHT, UNNAMED, VIRIDIS, of_name};
use super::frame::{
    Chart, LINE, LINES, Layout, PlotArea, Range, Side, ends, fitting, gap_text, heading, is_phase,
    letters, room, value_ticks,
};
use super::label::Label;
use super::scene::{BLACK, MEDIUM, Pixels, SMALL, Scene};
use super::ticks::Tick;
use super::units::power_of_ten;

/// Height of the triangles at the ends of a colour bar, in pixels.
const END_HEIGHT: f64 = 9.0;

/// Conversion of values to colours.
#[derive(Debug)]
pub struct Palette {
    pub scale: Scale,
    pub map: ColorMap,
    /// Names of numbers. The last may be that of all other numbers.
    pub names: Vec<(String, Option<f64>)>,
    shades: Option<u8>,
}

impl Palette {
    pub fn new(grid: &Grid, style: &Chart) -> Self {
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
        let numbered = |(name, number): &(String, i128)| {
            (escape(name).to_string(), Some(Number::Int(*number).to_f64()))
        };
        let names = names.iter().map(numbered).collect();
        let mut palette = Self { scale, map, names, shades: style.shades };
        let is_unnamed = |value: &f64| value.is_finite() && palette.name(*value).is_none();
        if palette.has_names() && grid.cells.iter().any(is_unnamed) {
            palette.names.push(("(no name)".to_owned(), None));
        }
        palette
    }

    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the index of a value's name, if it has one.
    fn name(&self, value: f64) -> Option<usize> {
        let is = |number: &Option<f64>| {
            number.map_or(value.is_finite(), |number| (number - value).abs() < 0.5)
        };
        self.names.iter().position(|(_, number)| is(number))
    }

    /// Returns the colour of the n-th name.
    pub fn of_name(&self, nth: usize) -> Rgb {
        let has_number = self.names.get(nth).is_some_and(|(_, number)| number.is_some());
        if has_number { of_name(nth) } else { UNNAMED }
    }

    /// Returns the colour of a value, if it has one.
    fn known(&self, value: f64) -> Option<Rgb> {
        if self.has_names() {
            return self.name(value).map(|nth| self.of_name(nth));
        }
        let shade = |place: f64| match self.shades {
            Some(all) => (place * f64::from(all)).round() / f64::from(all),
            None => place,
        };
        self.scale.place(value).map(|place| self.map.color(shade(place)))
    }
}

/// Returns the indices of the cells row by row, at this many positions of each side, or each cell once if `None`.
pub fn cells(grid: &Grid, width: Option<usize>, height: Option<usize>) -> Vec<usize> {
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
pub fn image(
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
    let (Some((wide, one)), Some((high, other))) = (across.degrees(), upwards.degrees()) else {
        return area;
    };
    if one == other {
        return area;
    }
    let each = (area.width / wide).min(area.height / high);
    let (width, height) = ((wide * each).floor().max(16.0), (high * each).floor().max(16.0));
    PlotArea {
        left: area.left + ((area.width - width) / 2.0).floor(),
        top: area.top + ((area.height - height) / 2.0).floor(),
        width,
        height,
    }
}

pub fn draw_grid(scene: &mut Scene, grid: &Grid, style: &Chart, top: f64) -> PlotArea {
    let (wide, high) = (f64::from(style.width), f64::from(style.height));
    let palette = Palette::new(grid, style);
    let (across, down) = (Along::new(&grid.columns), Along::new(&grid.rows));
    let ticks = down.ticks(fitting(high - top - 60.0, 45.0));
    let label = down.label(&ticks);
    let upwards = Side { ticks: if down.is_upwards() { ticks } else { ticks.reversed() }, label };
    let ticks = across.ticks(fitting(wide - 180.0, 65.0));
    let across_side = Side { label: across.label(&ticks), ticks };
    let has_names = palette.has_names();
    let ticks = value_ticks(&grid.quantity, palette.scale, fitting(high - top - 80.0, 40.0));
    let mut bar_label = Label::of(&grid.quantity).with(&ticks.omitted);
    if style.is_in_page || heading(&grid.quantity, style).0 == bar_label.name {
        bar_label.name.clear();
    }
    let mut bar_label = bar_label.lines(letters(high - top - 60.0, MEDIUM), LINES);
    bar_label.retain(|line| !line.is_empty());
    let bar: Vec<Tick> = if has_names {
        palette.names.iter().map(|(name, _)| (0.0, fit(name, 24))).collect()
    } else {
        ticks.major
    };
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
    if with_value == 0 {
        // A renderer would draw an image above the text.
        let nothing = palette.map.nothing();
        scene.rect((area.left, area.top), (area.width, area.height), nothing);
        scene.nothing(area, &format!("all values are {gap}"));
    } else {
        draw_cells(scene, grid, &palette, style, area);
    }
    scene.axes(&layout, &across_side.ticks, &upwards.ticks);
    let (x, mut y) = (area.left + area.width + 20.0, area.top);
    if has_names {
        for (nth, (_, name)) in bar.iter().enumerate().take(count(high / 20.0)) {
            scene.legend((x, y), palette.of_name(nth), name);
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
