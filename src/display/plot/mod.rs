//! Plots: lines and images with axes, as SVG.

pub mod axis;
pub mod chart;
pub mod color;
pub mod dates;
pub mod frame;
pub mod grid;
pub mod label;
pub mod line;
pub mod scene;
pub mod ticks;
pub mod units;
pub mod words;

/// Returns the dimensions that a picture of a slice has, given with one part for each dimension: those with a range,
/// without those of length 1 if they are more than two.
pub fn drawn_dims(parts: &[impl AsRef<str>], shape: &[u64]) -> Vec<usize> {
    let ranges = (0..).zip(parts).filter(|(_, part)| part.as_ref().contains(':'));
    let mut drawn: Vec<usize> = ranges.map(|(dim, _)| dim).collect();
    if drawn.len() > 2 {
        drawn.retain(|dim| shape.get(*dim) != Some(&1));
    }
    drawn
}
