//! The lines of `--line`: one for each index of the shorter dimension.

use ra_pack::display::plot::color::MAX_NAMED;
use ra_pack::display::plot::drawn_dims;
use ra_pack::display::plot::label::place;
use ra_pack::message::Message;
use ra_pack::ra::split_slice;
use ra_pack::read::{Grid, Line, Sample, SampleOptions};
use ra_pack::{Error, PackedArray, Result};

use super::super::text::fit;

/// Samples the lines of an array whose sample is an image, one for each index of its shorter dimension. Returns them
/// with their names.
pub(super) fn lines(
    array: &PackedArray,
    options: &SampleOptions,
    grid: &Grid,
) -> Result<(Vec<Line>, Vec<String>)> {
    let is_of_rows = grid.rows.extent < grid.columns.extent;
    let axis = if is_of_rows { &grid.rows } else { &grid.columns };
    if axis.extent > MAX_NAMED as u64 {
        let text =
            format!(" draws at most {MAX_NAMED} lines, not {}; select some with ", axis.extent);
        let message = Message::default().option("line").text(text).option("slice");
        return Err(Error::Options(message));
    }
    let shape = array.shape()?;
    let parts = split_slice(options.slice.as_deref().unwrap_or_default(), shape.len());
    let mut parts: Vec<String> =
        parts.expect("the slice is valid").into_iter().map(str::to_owned).collect();
    let [rows, columns] = drawn_dims(&parts, &shape)[..] else {
        let message = Message::default().option("line").text(" needs a slice with two ranges");
        return Err(Error::Options(message));
    };
    let (mut lines, mut names) = (Vec::new(), Vec::new());
    for index in &axis.indices {
        let part = parts.get_mut(if is_of_rows { rows } else { columns });
        *part.expect("each dimension has a part") = index.to_string();
        let slice = Some(parts.join(","));
        let sample = array.sample(&SampleOptions { slice, ..options.clone() })?;
        let Sample::Line(mut line) = sample else { unreachable!("one dimension is left") };
        let fixed = &mut line.quantity.fixed;
        let own = fixed.iter().position(|one| one.index == *index && one.name == axis.name);
        names.push(fit(&own.map_or_else(String::new, |own| place(&[fixed.remove(own)])), 24));
        lines.push(*line);
    }
    Ok((lines, names))
}
