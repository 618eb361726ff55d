//! Descriptions of pictures for readers who do not see them.

use crate::read::{ComplexPart, Grid, Line, Quantity, SampledAxis};

use super::super::text::digits;
use super::axis::extremes;
use super::line::line_extremes;

/// Describes the picture of a line in text.
pub fn line_text(line: &Line) -> String {
    let axis = line.axis.as_ref().map(dimension).unwrap_or_default();
    format!("Line along {axis}: {}", range_text(line_extremes(line, false), &line.quantity))
}

/// Describes an image in text.
pub fn image_text(grid: &Grid) -> String {
    let (rows, columns) = (dimension(&grid.rows), dimension(&grid.columns));
    let range = range_text(extremes(grid.cells.iter().copied(), false), &grid.quantity);
    format!("Image, {rows} down, {columns} across: {range}")
}

/// Returns the name of the part of complex numbers that is drawn.
pub fn part_name(quantity: &Quantity) -> Option<&'static str> {
    Some(match quantity.part? {
        ComplexPart::Phase => "phase [rad]",
        _ => "magnitude",
    })
}

fn dimension(axis: &SampledAxis) -> String {
    match &axis.name {
        Some(name) => format!("{name} ({})", axis.extent),
        None => axis.extent.to_string(),
    }
}

/// Formats the range for readers who do not see the picture.
fn range_text(range: Option<(f64, f64)>, quantity: &Quantity) -> String {
    let noun = part_name(quantity).unwrap_or("values");
    match range {
        Some((low, high)) => format!("{noun} from {} to {}", digits(low, 6), digits(high, 6)),
        None => "no values".to_owned(),
    }
}
