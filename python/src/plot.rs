//! Pictures of arrays, which are those of the command.

use ra_pack::read::{Sample, SampleOptions};
use ra_pack::{Error, PackedArray, Result};

use crate::cli::plot::{Chart, draw, sampled};

/// The size of a picture in units, which is the default of the command.
pub(crate) const SIZE: (u32, u32) = (800, 500);

/// The largest numbers of cells across and down: one for each unit between the labels.
const CELLS: (usize, usize) = (650, 410);

/// Returns the picture of an array as SVG, and whether digests proved what was read.
pub(crate) fn svg(
    array: &PackedArray,
    slice: Option<String>,
    style: &Chart,
) -> Result<(String, bool)> {
    let (across, down) = CELLS;
    let (columns, rows) = if style.is_turned { (down, across) } else { (across, down) };
    let options = SampleOptions { slice, columns, rows, ..SampleOptions::default() };
    let sample = sampled(array, &options, style.is_turned)?;
    let (has_picture, is_proved) = match &sample {
        Sample::Line(line) => (line.axis.is_some() && !line.columns.is_empty(), line.verified),
        Sample::Grid(grid) => (!grid.cells.is_empty(), grid.verified),
        _ => (false, false),
    };
    if !has_picture {
        let name = ra_pack::path::escape(array.name());
        let message = format!("`{name}` has no picture: it is empty or a single element");
        return Err(Error::Unsupported(message.into()));
    }
    Ok((draw(&sample, style).0.to_svg()?, is_proved))
}
