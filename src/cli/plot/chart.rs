//! Drawing of a sample: a line or an image.

use std::mem::swap;

use ra_pack::PackedArray;
use ra_pack::read::{Grid, Quantity, Sample, SampleOptions, SampledAxis};

use super::super::text::count;
use super::axis::Along;
use super::frame::{Chart, MARGIN, PlotArea, height, title_lines};
use super::grid::draw_grid;
use super::line::draw_line;
use super::scene::Scene;

/// Samples an array, with its axes exchanged if `is_turned`. Without that, longitude is across in a map.
pub(crate) fn sampled(
    array: &PackedArray,
    options: &SampleOptions,
    is_turned: bool,
) -> ra_pack::Result<Sample> {
    let mut sample = array.sample(options)?;
    let degrees =
        |axis: &SampledAxis| Along::new(axis).degrees().map(|(_, is_latitude)| is_latitude);
    let is_upright = matches!(&sample, Sample::Grid(grid)
        if degrees(&grid.rows) == Some(false) && degrees(&grid.columns) == Some(true));
    if let Sample::Grid(grid) = &sample
        && is_upright
        && !is_turned
        && grid.rows.step.max(grid.columns.step) > 1
    {
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
fn transpose(grid: &mut Grid) {
    let columns = grid.columns.cells;
    let cells = (0..columns).flat_map(|column| grid.cells.iter().skip(column).step_by(columns));
    grid.cells = cells.copied().collect();
    swap(&mut grid.rows, &mut grid.columns);
}

/// Draws a sample. Also returns the area of the plot itself.
pub(crate) fn draw(sample: &Sample, style: &Chart) -> (Scene, PlotArea) {
    let mut scene = Scene::new(style.width, style.height, style.is_in_page);
    let quantity = quantity(sample).filter(|_| !style.is_in_page);
    let title = quantity.map_or_else(Vec::new, |quantity| title_lines(quantity, style));
    let top = MARGIN + height(&title);
    let area = match sample {
        Sample::Line(line) => draw_line(&mut scene, line, style, top),
        Sample::Grid(grid) => draw_grid(&mut scene, grid, style, top),
        _ => {
            let (width, height) = (style.width.into(), style.height.into());
            PlotArea { left: 0.0, top, width, height }
        }
    };
    scene.heading(&title, area.top);
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
        let title = title_lines(&whole, style);
        top = MARGIN + height(&title);
        scene.heading(&title, top);
        top -= 4.0;
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
