//! Drawing of a sample: a line or an image.

use std::mem::swap;

use crate::read::{Grid, Line, PackedArray, Quantity, Sample, SampleOptions};

use super::super::text::count;
use super::axis::Along;
use super::frame::{Chart, MARGIN, PlotArea, height, title_lines};
use super::grid::draw_grid;
use super::line::draw_lines;
use super::scene::Scene;

/// Samples an array, with its axes exchanged if `is_turned`. Without that, longitude is across in a map.
pub fn sampled(
    array: &PackedArray,
    options: &SampleOptions,
    is_turned: bool,
) -> crate::error::Result<Sample> {
    let mut sample = array.sample(options)?;
    let Sample::Grid(grid) = &sample else { return Ok(sample) };
    let sides = [&grid.rows, &grid.columns].map(|axis| Along::new(axis).degrees());
    let is_upright = matches!(sides, [Some((_, false)), Some((_, true))]);
    if is_upright && !is_turned && grid.rows.step.max(grid.columns.step) > 1 {
        // The numbers of cells belong to the sides of the picture.
        let (columns, rows) = (options.rows, options.columns);
        sample = array.sample(&SampleOptions { columns, rows, ..options.clone() })?;
    }
    if let Sample::Grid(grid) = &mut sample
        && is_turned != is_upright
    {
        transpose(grid);
    }
    Ok(sample)
}

/// Exchanges rows and columns of an image.
pub fn transpose(grid: &mut Grid) {
    let columns = grid.columns.cells;
    let cells = (0..columns).flat_map(|column| grid.cells.iter().skip(column).step_by(columns));
    grid.cells = cells.copied().collect();
    swap(&mut grid.rows, &mut grid.columns);
}

/// Draws a sample. Also returns the area of the plot itself.
pub fn draw(sample: &Sample, style: &Chart) -> (Scene, PlotArea) {
    titled(Some(quantity(sample)), style, |scene, top| match sample {
        Sample::Line(line) => draw_lines(scene, (&[line], &[]), style, top),
        Sample::Grid(grid) => draw_grid(scene, grid, style, top),
    })
}

/// Draws several lines, with a legend of their names.
pub fn draw_named((lines, names): &(Vec<Line>, Vec<String>), style: &Chart) -> Scene {
    let lines: Vec<&Line> = lines.iter().collect();
    let quantity = lines.first().map(|line| &line.quantity);
    titled(quantity, style, |scene, top| draw_lines(scene, (&lines, names), style, top)).0
}

/// Draws a plot below its title. A page shows the title itself.
fn titled(
    quantity: Option<&Quantity>,
    style: &Chart,
    draw: impl FnOnce(&mut Scene, f64) -> PlotArea,
) -> (Scene, PlotArea) {
    let mut scene = Scene::new(style.width, style.height, style.is_in_page);
    let quantity = quantity.filter(|_| !style.is_in_page);
    let title = quantity.map_or_else(Vec::new, |quantity| title_lines(quantity, style));
    let area = draw(&mut scene, MARGIN + height(&title));
    scene.heading(&title, area.top);
    (scene, area)
}

/// Returns the meaning of the numbers of a sample.
fn quantity(sample: &Sample) -> &Quantity {
    match sample {
        Sample::Line(line) => &line.quantity,
        Sample::Grid(grid) => &grid.quantity,
    }
}

/// Draws magnitudes and phases below one title: images side by side, lines one above the other. Range, colours and
/// logarithm are those of the magnitudes.
pub fn draw_both([magnitude, phase]: [&Sample; 2], style: &Chart) -> Scene {
    let mut scene = Scene::new(style.width, style.height, false);
    let whole = Quantity { part: None, ..quantity(magnitude).clone() };
    // The panels have margins of their own, and begin below the descenders of the text.
    let title = title_lines(&whole, style);
    let mut top = MARGIN + height(&title);
    scene.heading(&title, top);
    top -= 4.0;
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
