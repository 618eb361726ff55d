//! Axes: where a value or a cell is between 0 and 1, and good numbers and dates along them.

use ra_pack::values::SampledAxis;

use super::super::array::{self, Dates, attribute_text, civil, date, days};
use super::super::text::{self, float, floor, stepped};
use super::chart::Chart;

/// A place on an axis, with the text at it.
pub(crate) type Tick = (f64, String);

/// Most places on an axis.
const MOST: usize = 24;

/// The way from values to places from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) is_log: bool,
}

impl Scale {
    /// The range that was asked for, or that of the values; `margin` is the part of it that is left free on both sides.
    pub(crate) fn new(values: Option<(f64, f64)>, style: &Chart, margin: f64) -> Self {
        let is_log = style.is_log;
        if let Some((low, high)) = style.range {
            return Self { low, high, is_log };
        }
        let (low, high) = values.unwrap_or(if is_log { (0.1, 1.0) } else { (0.0, 1.0) });
        if is_log {
            let (low, high) = if low < high { (low, high) } else { (low / 2.0, high * 2.0) };
            return Self { low, high, is_log };
        }
        let more = match low < high {
            true => (high / 2.0 - low / 2.0) * 2.0 * margin,
            false if low == 0.0 => 1.0,
            false => low.abs() * 0.1,
        };
        Self { low: (low - more).max(f64::MIN), high: (high + more).min(f64::MAX), is_log }
    }

    /// The place of a value; nothing for one that is not finite, or not positive on a logarithmic scale.
    pub(crate) fn place(self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.is_log && value <= 0.0) {
            return None;
        }
        let change = |number: f64| if self.is_log { libm::log10(number) } else { number };
        let (low, high) = (change(self.low), change(self.high));
        // Halves, since the difference of two floats may be infinite.
        Some((change(value) / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0))
    }

    /// Ticks by their places.
    pub(super) fn ticks(self, count: usize) -> Vec<Tick> {
        let ticks = if self.is_log { logarithmic } else { linear }(self.low, self.high, count);
        let placed = ticks.into_iter().filter_map(|(value, text)| Some((self.place(value)?, text)));
        placed.filter(|(place, _)| (-1e-9..=1.0 + 1e-9).contains(place)).collect()
    }
}

/// The cells of a dimension along an axis.
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
        let rises = |numbers: &[f64]| {
            numbers.is_sorted_by(|a, b| a < b) && numbers.iter().all(|it| it.is_finite())
        };
        let ordered = |mut places: Vec<f64>| {
            let is_falling = places.first() > places.last();
            if is_falling {
                places.reverse();
            }
            (edges(&places), places, is_falling)
        };
        let positions = axis.positions.clone().map(ordered);
        let positions = positions.filter(|(edges, places, _)| rises(places) && rises(edges));
        let has_positions = positions.is_some();
        let indices = || ordered(axis.indices.iter().map(|index| float(*index)).collect());
        let (edges, _, is_falling) = positions.unwrap_or_else(indices);
        let dates = array::dates(axis.coordinate.as_ref()).filter(|_| has_positions);
        Self { axis, edges, is_falling, has_positions, dates }
    }

    fn ends(&self) -> (f64, f64) {
        match self.edges.as_slice() {
            [low, .., high] => (*low, *high),
            _ => (0.0, 1.0),
        }
    }

    /// The number of a cell from the other end, where the axis falls.
    fn turned(&self, cell: usize) -> usize {
        if self.is_falling { self.axis.cells.saturating_sub(1 + cell) } else { cell }
    }

    /// The number of the cell at a part from 0 to 1 of the axis.
    pub(super) fn cell(&self, part: f64) -> usize {
        let (low, high) = self.ends();
        let place = low + (high - low) * part;
        let after = self.edges.partition_point(|edge| *edge <= place);
        self.turned(after.saturating_sub(1).min(self.axis.cells.saturating_sub(1)))
    }

    /// The place of the middle of a cell, from 0 to 1.
    pub(super) fn middle(&self, cell: usize) -> f64 {
        let nth = self.turned(cell);
        let edge = |nth: usize| self.edges.get(nth).copied().unwrap_or(0.0);
        let (low, high) = self.ends();
        (f64::midpoint(edge(nth), edge(nth + 1)) - low) / (high - low)
    }

    /// Whether values rise upwards: coordinates do, unless they say that they are positive downwards;
    /// indices count from the top, as a matrix is written.
    pub(super) fn is_upwards(&self) -> bool {
        self.has_positions
            && attribute_text(self.axis.coordinate.as_ref(), "positive") != Some("down")
    }

    pub(super) fn ticks(&self, count: usize) -> Vec<Tick> {
        if self.edges.is_empty() {
            return Vec::new();
        }
        let (low, high) = self.ends();
        let mut ticks = match self.dates {
            Some(dates) => dated(dates, low, high, count),
            None => linear(low, high, count),
        };
        if !self.has_positions {
            // Indices are whole.
            ticks.retain(|(place, _)| place.fract().abs() < 1e-9);
            for (place, text) in &mut ticks {
                *text = format!("{place:.0}");
            }
        }
        let place = |(place, text): Tick| ((place - low) / (high - low), text);
        ticks.into_iter().map(place).filter(|(place, _)| (0.0..=1.0).contains(place)).collect()
    }

    pub(crate) fn label(&self) -> String {
        let name = self.axis.name.as_deref().map(|name| ra_pack::path::escape(name).to_string());
        let attribute = |name| {
            array::attribute(self.axis.coordinate.as_ref(), name).filter(|_| self.has_positions)
        };
        let name = attribute("long_name").or(name);
        let units = match self.dates {
            Some(_) => Some("UTC".to_owned()),
            None if self.has_positions => attribute("units"),
            None => name.as_ref().map(|_| "index".to_owned()),
        };
        match (name, units) {
            (Some(name), Some(units)) => format!("{name} [{units}]"),
            (name, units) => name.or(units).unwrap_or_else(|| "index".to_owned()),
        }
    }
}

/// The edges between places that rise: in the middle, and as far away at both ends.
fn edges(places: &[f64]) -> Vec<f64> {
    let between: Vec<f64> =
        places.iter().zip(places.iter().skip(1)).map(|(a, b)| f64::midpoint(*a, *b)).collect();
    let ([first, .., last], [inner, ..], [.., outer]) = (places, &between[..], &between[..]) else {
        return places.iter().flat_map(|only| [only - 0.5, only + 0.5]).collect();
    };
    let (before, after) = (first - (inner - first), last + (last - outer));
    std::iter::once(before).chain(between.iter().copied()).chain([after]).collect()
}

/// About `count` good numbers between two, each with its text.
fn linear(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let step = good_step((high / 2.0 - low / 2.0) / float(count.max(1)) * 2.0);
    let places = multiples(low, high, step);
    if places.is_empty() || !step.is_finite() {
        return [low, high].map(|end| (end, stepped(end, f64::NAN))).into();
    }
    places.into_iter().map(|place| (place, stepped(place, step))).collect()
}

/// The next larger of 1, 2 and 5 times a power of ten.
fn good_step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(least).floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    steps.into_iter().find(|step| *step >= least * 0.999).unwrap_or(least)
}

fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    if step.is_nan() || step <= 0.0 || step < low.abs() * 1e-15 {
        return Vec::new();
    }
    let first = (low / step - 1e-9).ceil();
    (0..MOST)
        .map(|nth| (first + float(nth)) * step)
        .take_while(|place| *place <= high + step * 1e-9)
        .map(|place| if place.abs() < step * 1e-9 { 0.0 } else { place })
        .collect()
}

/// Powers of ten between two positive numbers; good numbers where there are fewer than two.
fn logarithmic(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let (first, last) = (libm::log10(low), libm::log10(high));
    let step = ((last - first) / float(count.max(1))).ceil().max(1.0);
    let places = multiples(first, last, step);
    if places.len() < 2 {
        return linear(low, high, count).into_iter().filter(|(place, _)| *place > 0.0).collect();
    }
    let text = |power: f64| match power {
        -3.0..=4.0 => format!("{:.*}", text::count(-power), libm::pow(10.0, power)),
        _ => format!("1e{power:.0}"),
    };
    places.into_iter().map(|power| (libm::pow(10.0, power), text(power))).collect()
}

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Seconds between good moments: from a second to ten days.
const STEPS: [f64; 21] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0,
    10_800.0, 21_600.0, 43_200.0, 86_400.0, 172_800.0, 432_000.0, 864_000.0,
];

/// About `count` good moments between two numbers.
fn dated(dates: Dates, low: f64, high: f64, count: usize) -> Vec<Tick> {
    let (first, last) = (dates.seconds(low), dates.seconds(high));
    let each = (last - first) / float(count.max(1));
    let step = STEPS.into_iter().find(|step| *step >= each);
    let moments = match step {
        Some(step) if each >= 0.5 => multiples(first, last, step),
        Some(_) => return linear(low, high, count),
        None => months(first, last, each),
    };
    let text = |seconds: f64| {
        let date = date(seconds)?;
        let shown = match step {
            Some(..60.0) => date.get(11..19),
            Some(..DAY) => date.get(5..16),
            Some(_) => date.get(..10),
            None if each > 300.0 * DAY => date.get(..4),
            None => date.get(..7),
        };
        shown.map(|shown| shown.replace('T', " "))
    };
    let moments = moments.into_iter();
    let ticks: Vec<Tick> =
        moments.filter_map(|seconds| Some((dates.number(seconds), text(seconds)?))).collect();
    if ticks.is_empty() { linear(low, high, count) } else { ticks }
}

/// Beginnings of months or years.
fn months(first: f64, last: f64, each: f64) -> Vec<f64> {
    if date(first).is_none() || date(last).is_none() {
        return Vec::new();
    }
    let steps = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200];
    let step =
        steps.into_iter().find(|step| f64::from(*step) * 30.44 * DAY >= each).unwrap_or(2400);
    let year = |seconds: f64| civil(floor(seconds / DAY)).0;
    let from = year(first) - year(first).rem_euclid((step / 12).max(1));
    let months = (0..).map(|nth| from * 12 + nth * step);
    months
        .take_while(|month| month.div_euclid(12) <= year(last))
        .map(|month| f64::from(days(month.div_euclid(12), month.rem_euclid(12) + 1, 1)) * DAY)
        .filter(|moment| (first..=last).contains(moment))
        .take(MOST)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|(_, text)| &**text).collect()
    }

    #[test]
    fn numbers_are_good() {
        assert_eq!(texts(&linear(0.0, 10.0, 5)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(&linear(-0.31, 0.29, 4)), ["-0.2", "0", "0.2"]);
        assert_eq!(texts(&linear(1e10, 3e10, 2)), ["1e10", "2e10", "3e10"]);
        assert!(
            !linear(-f64::MAX, f64::MAX, 5).is_empty()
                && !linear(1.0, 1.0 + f64::EPSILON, 5).is_empty()
        );
        assert_eq!(texts(&logarithmic(0.01, 1e6, 4)), ["0.01", "1", "100", "10000", "1e6"]);
    }

    #[test]
    fn moments_are_good() {
        let hours = Dates::new("hours since 2024-06-03T00:00:00Z", None).unwrap();
        let week = dated(hours, 0.0, 148.0, 6);
        assert_eq!(texts(&week)[..2], ["2024-06-04", "2024-06-06"]);
        assert_eq!(texts(&dated(hours, 0.0, 5.0, 5))[..2], ["06-03 00:00", "06-03 01:00"]);
        let days = Dates::new("days since 1970-01-01", None).unwrap();
        assert_eq!(texts(&dated(days, 0.0, 36_500.0, 5))[..2], ["1980", "2000"]);
        assert_eq!(texts(&dated(days, 0.0, 365.0, 5))[..2], ["1970-01", "1970-04"]);
    }
}
