//! Pictures of arrays: what they show, and their drawing. The Python module makes the same ones.

use std::ops::RangeInclusive;

use ra_pack::display::plot::chart::{draw, draw_both, draw_named, sampled};
use ra_pack::display::plot::frame::{Chart, Range};
use ra_pack::display::plot::scene::Scene;
use ra_pack::message::Message;
use ra_pack::ra::ElementKind;
use ra_pack::read::{ComplexPart, Sample, SampleOptions};
use ra_pack::{Error, PackedArray, Result};

use super::super::text::count;
use super::lines::lines;

/// Largest number of pixels per side.
const MOST_PIXELS: usize = 10_000;

/// Smallest and largest length of a side, in units.
const SIDES: RangeInclusive<u32> = 100..=10_000;

/// Smallest and largest number of pixels per unit.
const SCALES: RangeInclusive<f64> = 0.25..=20.0;

/// A picture of an array, or of a part of it.
#[derive(Debug)]
pub(crate) struct Picture {
    /// As in [`SampleOptions`].
    pub(crate) slice: Option<String>,
    /// Part of complex numbers; both side by side if `None`.
    pub(crate) part: Option<ComplexPart>,
    /// As in [`SampleOptions`].
    pub(crate) raw: bool,
    /// As in [`SampleOptions`].
    pub(crate) jobs: Option<usize>,
    /// Whether two dimensions are drawn as lines.
    pub(crate) is_line: bool,
    pub(crate) style: Chart,
}

/// The numbers of columns and rows of a sample.
pub(super) type Cells = (usize, usize);

impl Picture {
    /// Checks the options that do not depend on the array.
    pub(crate) fn check(&self) -> Result<()> {
        let Chart { width, height, scale, range, is_log, .. } = self.style;
        let problem = |option: &'static str, text: &str| {
            let message = Message::default().option(option).text(text.to_owned());
            Err(Error::Options(message))
        };
        if !SIDES.contains(&width) || !SIDES.contains(&height) {
            return problem("size", ": expected a width and a height from 100 to 10000");
        }
        if !SCALES.contains(&scale) {
            return problem("scale", ": expected a number from 0.25 to 20, such as 2");
        }
        if is_log && matches!(range, Some(Range::Values(..=0.0, _))) {
            let message = Message::default().option("log").text(" needs a ").option("range");
            return Err(Error::Options(message.text(" above 0")));
        }
        if self.pixels(width.max(height)) > MOST_PIXELS {
            let text = format!(
                "the picture would be wider or higher than {MOST_PIXELS} pixels; give a smaller "
            );
            let message = Message::from(text).option("size").text(" or ").option("scale");
            return Err(Error::Options(message));
        }
        Ok(())
    }

    fn pixels(&self, side: u32) -> usize {
        count(f64::from(side) * self.style.scale)
    }

    /// Returns whether magnitude and phase are drawn side by side.
    fn has_both(&self, array: &PackedArray) -> Result<bool> {
        let is_complex = array.header()?.element().kind() == ElementKind::Complex;
        Ok(is_complex && self.part.is_none() && !self.is_line)
    }

    /// Returns the largest useful numbers of columns and rows: one cell per pixel between the labels.
    pub(crate) fn cells(&self, array: &PackedArray) -> Result<Cells> {
        let Chart { width, height, is_turned, .. } = self.style;
        let across = if self.has_both(array)? { width / 2 } else { width };
        let columns = self.pixels(across.saturating_sub(150).max(50));
        let rows = self.pixels(height.saturating_sub(90).max(50));
        Ok(if is_turned { (rows, columns) } else { (columns, rows) })
    }

    fn options(&self, (columns, rows): Cells, part: Option<ComplexPart>) -> SampleOptions {
        let (slice, raw, jobs) = (self.slice.clone(), self.raw, self.jobs);
        SampleOptions { slice, columns, rows, part, raw, jobs }
    }

    fn sample_of(
        &self,
        array: &PackedArray,
        cells: Cells,
        part: Option<ComplexPart>,
    ) -> Result<Sample> {
        let options = self.options(cells, part);
        if self.is_line {
            array.sample(&options)
        } else {
            sampled(array, &options, self.style.is_turned)
        }
    }

    /// Samples the array, or its magnitudes.
    pub(crate) fn sample(&self, array: &PackedArray, cells: Cells) -> Result<Sample> {
        self.sample_of(array, cells, self.part)
    }

    /// Draws the array, of which `first` is the sample. Also returns whether digests proved what was read.
    pub(crate) fn draw(
        &self,
        array: &PackedArray,
        cells: Cells,
        first: &Sample,
    ) -> Result<(Scene, bool)> {
        if self.has_both(array)? {
            let phase = self.sample_of(array, cells, Some(ComplexPart::Phase))?;
            let is_proved = is_proved(first) && is_proved(&phase);
            return Ok((draw_both([first, &phase], &self.style), is_proved));
        }
        if let Sample::Grid(grid) = first
            && self.is_line
        {
            let drawn = lines(array, &self.options(cells, self.part), grid)?;
            let is_proved = drawn.0.iter().all(|line| line.verified);
            return Ok((draw_named(&drawn, &self.style), is_proved));
        }
        Ok((draw(first, &self.style).0, is_proved(first)))
    }
}

fn is_proved(sample: &Sample) -> bool {
    match sample {
        Sample::Line(line) => line.verified,
        Sample::Grid(grid) => grid.verified,
        _ => false,
    }
}

/// Returns why there is no picture of a sample; `None` if there is one.
pub(crate) fn nothing_in(sample: &Sample) -> Option<&'static str> {
    match sample {
        Sample::Line(line) if line.axis.is_none() => Some("a single number"),
        Sample::Line(line) => line.columns.is_empty().then_some("empty"),
        Sample::Grid(grid) => grid.cells.is_empty().then_some("empty"),
        _ => Some("neither a line nor an image"),
    }
}
