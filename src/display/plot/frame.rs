//! Common parts of lines and images: style, titles, axes, labels and legends.

use std::f64::consts::PI;

use crate::path::escape;
use crate::read::{ComplexPart, Number, Quantity};

use super::super::array::{dates, scaling};
use super::super::text::{columns, count, fit, float};
use super::axis::{Scale, extremes, placed};
use super::color::{ColorMap, Rgb};
use super::label::{Label, place};
use super::scene::{BLACK, MEDIUM, SMALL, Scene, Size, TITLE};
use super::ticks::{Tick, Ticks};
use super::units::power_of_ten;

/// Style of a drawing.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    pub width: u32,
    pub height: u32,
    /// Pixels per unit.
    pub scale: f64,
    /// Colours; chosen by the data if `None`.
    pub map: Option<ColorMap>,
    pub range: Option<Range>,
    pub is_log: bool,
    /// Whether the axes are exchanged.
    pub is_turned: bool,
    /// Title; taken from the description if `None`.
    pub title: Option<String>,
    /// Path of the array in the pack.
    pub path: String,
    /// Number of colours; unlimited if `None`.
    pub shades: Option<u8>,
    /// Whether the drawing is part of a page, which shows the title.
    pub is_in_page: bool,
}

/// Range of values of the colours or the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    Values(f64, f64),
    /// Percentiles of the values.
    Percent(f64, f64),
}

pub fn is_phase(quantity: &Quantity) -> bool {
    quantity.part == Some(ComplexPart::Phase)
}

/// Returns the ends of the scale for these values.
pub fn ends(
    values: impl Iterator<Item = f64>,
    quantity: &Quantity,
    style: &Chart,
) -> Option<(f64, f64)> {
    match style.range {
        None if is_phase(quantity) => Some((-PI, PI)),
        Some(Range::Values(low, high)) => Some((low, high)),
        Some(Range::Percent(low, high)) => {
            let mut values: Vec<f64> = placed(values, style.is_log).collect();
            values.sort_by(f64::total_cmp);
            Some((percentile(&values, low)?, percentile(&values, high)?))
        }
        None => extremes(values, style.is_log),
    }
}

/// Returns a percentile of sorted numbers, interpolated like `numpy.percentile`.
pub fn percentile(sorted: &[f64], percent: f64) -> Option<f64> {
    let place = float(sorted.len().checked_sub(1)?) * percent / 100.0;
    let below = sorted.get(count(place))?;
    let above = sorted.get(count(place) + 1).unwrap_or(below);
    Some(below + (above - below) * place.fract())
}

/// Returns the meaning of the colour of elements without a place, among these values.
pub fn gap_text(quantity: &Quantity, values: impl Iterator<Item = f64>, is_log: bool) -> String {
    let (mut is_missing, mut is_infinite, mut is_below) = (false, quantity.has_infinite, false);
    for value in values {
        is_missing |= value.is_nan();
        is_infinite |= value.is_infinite();
        is_below |= is_log && value <= 0.0;
    }
    is_missing |= !is_infinite && !is_below;
    let words = [(is_missing, "missing"), (is_infinite, "infinite"), (is_below, "not above 0")];
    let words = words.map(|(is_found, word)| is_found.then_some(word));
    let words: Vec<_> = words.into_iter().flatten().collect();
    match &words[..] {
        [first, second, third] => format!("{first}, {second} or {third}"),
        words => words.join(" or "),
    }
}

/// Returns notes about the position of the slice and about scaled values.
pub fn notes(quantity: &Quantity) -> Vec<String> {
    let applied = quantity.scale_and_offset.map(|both| format!("stored {}", scaling(both)));
    [Some(place(&quantity.fixed)).filter(|place| !place.is_empty()), applied]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the title, and the smaller line below it.
pub fn heading(quantity: &Quantity, style: &Chart) -> (String, String) {
    if let Some(title) = &style.title {
        return (escape(title).to_string(), String::new());
    }
    let title = Label::of(quantity).name;
    let path = escape(style.path.strip_suffix(".ra").unwrap_or(&style.path)).to_string();
    let path = Some(path).filter(|path| *path != title);
    let parts: Vec<String> = notes(quantity).into_iter().chain(path).collect();
    (title, parts.join("  ·  "))
}

/// Area of the plot itself.
#[derive(Debug, Clone, Copy)]
pub struct PlotArea {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl PlotArea {
    /// Returns the point at positions from 0 to 1, to the right and upwards.
    pub fn at(self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.left + self.width * x, self.top + self.height * (1.0 - y))
    }
}

/// Axis of a plot.
#[derive(Debug)]
pub struct Side {
    pub ticks: Ticks,
    pub label: Label,
}

/// Height of a line of a label.
pub const LINE: f64 = 16.0;

/// Largest number of lines of a label.
pub const LINES: usize = 2;

/// Area of a plot, and the lines of the labels below it and to the left.
#[derive(Debug)]
pub struct Layout {
    pub area: PlotArea,
    pub across: Vec<String>,
    pub upwards: Vec<String>,
}

impl Layout {
    /// Creates the layout for a page with margins at the top, to the right and below the labels.
    pub fn new(
        style: &Chart,
        (top, right, below): (f64, f64, f64),
        across: &Label,
        upwards: &Side,
    ) -> Self {
        let left = room(&upwards.ticks.major) + 26.0;
        let (wide, high) = (f64::from(style.width), f64::from(style.height));
        let width = (wide - left - LINE - right).max(16.0);
        // The label is centred below the plot, and may be longer.
        let across =
            across.lines(letters(width + 2.0 * (left + LINE).min(right) - 8.0, MEDIUM), LINES);
        let height = high - top - below - 32.0 - float(across.len()) * LINE;
        let height = height.floor().max(16.0);
        let upwards = upwards.label.lines(letters(height + 30.0, MEDIUM), LINES);
        let left = (left + float(upwards.len()) * LINE).floor();
        let width = (wide - left - right).floor().max(16.0);
        Self { area: PlotArea { left, top, width, height }, across, upwards }
    }
}

/// Space above a plot.
pub const MARGIN: f64 = 14.0;

/// Lines of a title, each with its height.
pub type Title = Vec<(String, Size, f64)>;

/// Returns the title, and the smaller line below it.
pub fn title_lines(quantity: &Quantity, style: &Chart) -> Title {
    let (title, below) = heading(quantity, style);
    let mut lines = vec![(title, TITLE, 18.0), (below, SMALL, 17.0)];
    lines.retain(|(text, ..)| !text.is_empty());
    lines
}

pub fn height(title: &Title) -> f64 {
    title.iter().map(|(_, _, height)| height).sum()
}

impl Scene {
    /// Draws a title above a plot.
    pub fn heading(&mut self, title: &Title, bottom: f64) {
        let (wide, mut top) = (f64::from(self.width()), bottom - height(title));
        for (text, size, height) in title {
            top += height;
            let text = fit(text, letters(wide - 20.0, *size));
            self.text((wide / 2.0, top - 8.0), &text, "middle", *size);
        }
    }

    /// Draws the lines of a vertical label, the first with its baseline at `x`.
    pub fn upright(&mut self, x: f64, area: PlotArea, lines: &[String]) {
        let y = area.at((0.0, 0.5)).1;
        for (nth, line) in lines.iter().enumerate() {
            self.turned((x + float(nth) * LINE, y), line, "middle", MEDIUM, true);
        }
    }

    /// Draws a coloured box, followed by the meaning of the colour.
    pub fn legend(&mut self, (x, y): (f64, f64), fill: Rgb, text: &str) {
        self.rect((x, y), (14.0, 14.0), fill);
        self.text((x + 20.0, y + 11.0), text, "start", SMALL);
    }

    /// Draws the border of a plot, the ticks, and the labels below it and to the left.
    pub fn axes(&mut self, layout: &Layout, across: &Ticks, upwards: &Ticks) {
        let PlotArea { left, top, width, height } = layout.area;
        let area = layout.area;
        let (bottom, right) = (top + height, left + width);
        self.rect((left - 1.0, top - 1.0), (width + 2.0, 1.0), BLACK);
        self.rect((left - 1.0, bottom), (width + 2.0, 1.0), BLACK);
        self.rect((left - 1.0, top - 1.0), (1.0, height + 2.0), BLACK);
        self.rect((right, top - 1.0), (1.0, height + 2.0), BLACK);
        for place in &across.minor {
            self.rect((area.at((*place, 0.0)).0 - 0.5, bottom), (1.0, 3.0), BLACK);
        }
        for place in &upwards.minor {
            self.rect((left - 3.0, area.at((0.0, *place)).1 - 0.5), (3.0, 1.0), BLACK);
        }
        let mut free = f64::NEG_INFINITY;
        for (place, text) in &across.major {
            let (x, text) = (area.at((*place, 0.0)).0, power_of_ten(text));
            self.rect((x - 0.5, bottom), (1.0, 6.0), BLACK);
            let half = float(columns(&text)) * SMALL.width / 2.0;
            // Omits texts that would touch the previous one.
            if x - half > free && x + half < f64::from(self.width()) {
                self.text((x, bottom + 18.0), &text, "middle", SMALL);
                free = x + half + 6.0;
            }
        }
        for (nth, line) in layout.across.iter().enumerate() {
            let y = bottom + 37.0 + float(nth) * LINE;
            self.text((left + width / 2.0, y), line, "middle", MEDIUM);
        }
        for (place, text) in &upwards.major {
            let y = area.at((0.0, *place)).1;
            self.rect((left - 6.0, y - 0.5), (6.0, 1.0), BLACK);
            self.text((left - 9.0, y + 4.0), &power_of_ten(text), "end", SMALL);
        }
        let first = left - room(&upwards.major) - 10.0 - LINE * float(layout.upwards.len());
        self.upright(first, area, &layout.upwards);
    }

    /// Writes why there is nothing to draw.
    pub fn nothing(&mut self, area: PlotArea, why: &str) {
        self.text(area.at((0.5, 0.5)), why, "middle", MEDIUM);
    }
}

/// Returns the number of characters that fit a width.
pub fn letters(width: f64, size: Size) -> usize {
    count(width / size.width).max(4)
}

/// Returns the width of the longest text.
pub fn room(ticks: &[Tick]) -> f64 {
    let longest = ticks.iter().map(|(_, text)| columns(&power_of_ten(text))).max().unwrap_or(0);
    float(longest) * SMALL.width
}

/// Returns the number of ticks that fit a length.
pub fn fitting(length: f64, each: f64) -> usize {
    count(length / each).clamp(2, 10)
}

/// Returns ticks at round values or dates, or at the numbers that have names.
pub fn value_ticks(quantity: &Quantity, scale: Scale, count: usize) -> Ticks {
    if is_phase(quantity) {
        return scale.of_phases(count);
    }
    if !quantity.names.is_empty() {
        let named = |(name, number): &(String, i128)| {
            (Number::Int(*number).to_f64(), fit(&escape(name).to_string(), 24))
        };
        let major = quantity.names.iter().map(named).collect();
        return Ticks { major, ..Ticks::default() }.placed(|value| scale.place(value));
    }
    let dated = scale.dated(dates(quantity.description.as_ref()), count);
    dated.unwrap_or_else(|| scale.ticks(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_equal_those_of_numpy() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (percent, expected) in [(0.0, 1.0), (50.0, 3.0), (98.0, 7.76), (100.0, 8.0)] {
            assert!((percentile(&sorted, percent).unwrap() - expected).abs() < 1e-9, "{percent}");
        }
        assert_eq!(percentile(&[], 50.0), None);
    }
}
