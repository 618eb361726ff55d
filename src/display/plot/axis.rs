//! Axes: positions of values and cells from 0 to 1, and ticks at round numbers and dates.

use std::f64::consts::FRAC_PI_2;

use crate::read::{Line, SampledAxis};

use super::super::array::{self, Dates, attribute_text};
use super::super::text::float;
use super::dates::dated;
use super::label::Label;
use super::ticks::{Omitted, Ticks, linear, logarithmic};

/// Conversion of values to positions from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    pub low: f64,
    pub high: f64,
    pub is_log: bool,
}

impl Scale {
    /// Creates a scale from the smallest to the largest value; `margin` is the free part of this range at each end.
    pub fn new(ends: Option<(f64, f64)>, is_log: bool, margin: f64) -> Self {
        let (low, high) = ends.unwrap_or(if is_log { (0.1, 1.0) } else { (0.0, 1.0) });
        if is_log {
            let (low, high) = if low < high { (low, high) } else { (low / 2.0, high * 2.0) };
            return Self { low: low.max(LEAST), high: high.min(f64::MAX), is_log };
        }
        let more = match low < high {
            true => (high / 2.0 - low / 2.0) * 2.0 * margin,
            false if low == 0.0 => 1.0,
            false => (low.abs() * 0.1).max(LEAST),
        };
        Self { low: (low - more).max(f64::MIN), high: (high + more).min(f64::MAX), is_log }
    }

    /// Returns the position of a value. `None` if it is not finite, or not positive on a logarithmic scale.
    pub fn place(self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.is_log && value <= 0.0) {
            return None;
        }
        let change = |number: f64| if self.is_log { libm::log10(number) } else { number };
        Some(part((change(self.low), change(self.high)), change(value)))
    }

    /// Returns ticks at round dates if the values are dates.
    pub fn dated(self, dates: Option<Dates>, count: usize) -> Option<Ticks> {
        let ticks = dated(dates.filter(|_| !self.is_log)?, self.low, self.high, count)?;
        Some(ticks.placed(|value| self.place(value)))
    }

    /// Returns ticks at multiples of π/2 for phases.
    pub fn of_phases(self, count: usize) -> Ticks {
        let tick = |(text, quarters): (&str, f64)| (quarters * FRAC_PI_2, text.to_owned());
        let major = [("-π", -2.0), ("-π/2", -1.0), ("0", 0.0), ("π/2", 1.0), ("π", 2.0)].map(tick);
        let major = major.to_vec();
        let ticks = Ticks { major, ..Ticks::default() }.placed(|value| self.place(value));
        // A part of the range may have none of them.
        if ticks.major.len() < 2 { self.ticks(count) } else { ticks }
    }

    pub fn ticks(self, count: usize) -> Ticks {
        let ticks = if self.is_log { logarithmic } else { linear }(self.low, self.high, count);
        ticks.placed(|value| self.place(value))
    }
}

/// The smallest number above 0.
const LEAST: f64 = f64::from_bits(1);

/// Returns the position of a value in a range, from 0 to 1.
fn part((low, high): (f64, f64), value: f64) -> f64 {
    if (high - low).is_finite() {
        return (value - low) / (high - low);
    }
    // The difference of two floats may be infinite, and half of the smallest one is 0.
    (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
}

/// A dimension along an axis: its cells, or the elements of a line.
#[derive(Debug)]
pub struct Along<'s> {
    axis: &'s SampledAxis,
    /// Edges of the cells, in ascending order. A line has only the ends of its axis.
    edges: Vec<f64>,
    /// Whether the axis begins with the last cell.
    is_falling: bool,
    has_positions: bool,
    /// Why the coordinates are unusual, or why the axis does not show them.
    flaw: Option<&'static str>,
    dates: Option<Dates>,
}

impl<'s> Along<'s> {
    pub fn new(axis: &'s SampledAxis) -> Self {
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
        let unused = axis.positions.as_deref().filter(|_| !has_positions);
        let flaw = unused.map(|places| flaw(places).unwrap_or(UNORDERED));
        let indices = || ordered(axis.indices.iter().map(|index| float(*index)).collect());
        let (edges, _, is_falling) = positions.unwrap_or_else(indices);
        let dates = array::dates(axis.coordinate.as_ref()).filter(|_| has_positions);
        Self { axis, edges, is_falling, has_positions, flaw, dates }
    }

    /// Returns the axis of lines, from the smallest to the largest coordinate in any order. Also returns the range of
    /// each column on it. `None` for single numbers.
    pub fn of_lines(lines: &[&'s Line]) -> Option<(Self, Vec<(f64, f64)>)> {
        let axis = lines.first()?.axis.as_ref()?;
        let cells = Self::new(axis);
        let points = lines.iter().flat_map(|line| &line.columns).flat_map(|column| &column.points);
        let points: Vec<f64> = points.map(|point| point.position).collect();
        let first = lines.first().map_or(&[][..], |line| &line.columns).iter();
        let first: Vec<f64> =
            first.flat_map(|column| &column.points).map(|point| point.position).collect();
        let flaw = flaw(&first).or_else(|| axis.positions.as_deref().and_then(flaw));
        let ranges: Vec<(f64, f64)> = match &axis.positions {
            // Without an order, the middle between two columns has no meaning.
            Some(positions) if !cells.has_positions => {
                positions.iter().map(|place| (*place, *place)).collect()
            }
            _ => {
                let edge = |nth: usize| cells.edges.get(nth).copied().unwrap_or(f64::NAN);
                let cell = |nth: usize| (edge(cells.turned(nth)), edge(cells.turned(nth) + 1));
                (0..axis.cells).map(cell).collect()
            }
        };
        let all = points.into_iter().chain(ranges.iter().flat_map(|(from, to)| [*from, *to]));
        let (low, high) = extremes(all, false).unwrap_or((0.0, 1.0));
        // A single place gets a range around it.
        let more = if low < high { 0.0 } else { (low.abs() * 1e-9).max(0.5) };
        let edges = vec![(low - more).max(f64::MIN), (high + more).min(f64::MAX)];
        let has_positions = axis.positions.is_some();
        let dates = array::dates(axis.coordinate.as_ref()).filter(|_| has_positions);
        let is_falling = cells.is_falling;
        let along = Self { axis, edges, is_falling, has_positions, flaw, dates };
        let place = |place: f64| along.place(place).unwrap_or(f64::NAN);
        let ranges = ranges.into_iter().map(|(from, to)| (place(from), place(to))).collect();
        Some((along, ranges))
    }

    /// Returns the position of a coordinate from 0 to 1. `None` if it is not finite.
    pub fn place(&self, coordinate: f64) -> Option<f64> {
        coordinate.is_finite().then(|| part(self.ends(), coordinate))
    }

    fn ends(&self) -> (f64, f64) {
        match self.edges.as_slice() {
            [low, .., high] => (*low, *high),
            _ => (0.0, 1.0),
        }
    }

    /// Returns the index of a cell, counted from the other end if the axis falls.
    fn turned(&self, cell: usize) -> usize {
        if self.is_falling { self.axis.cells.saturating_sub(1 + cell) } else { cell }
    }

    /// Returns the indices of the cells at `places` equidistant positions, or of all cells, from the lower end.
    pub fn all(&self, places: Option<usize>) -> Vec<usize> {
        match places {
            Some(all) => (0..all).map(|nth| self.cell((float(nth) + 0.5) / float(all))).collect(),
            None => (0..self.axis.cells).map(|nth| self.turned(nth)).collect(),
        }
    }

    /// Returns the index of the cell at a position from 0 to 1.
    fn cell(&self, part: f64) -> usize {
        let (low, high) = self.ends();
        let place = low + (high - low) * part;
        let after = self.edges.partition_point(|edge| *edge <= place);
        self.turned(after.saturating_sub(1).min(self.axis.cells.saturating_sub(1)))
    }

    /// Whether values increase upwards: coordinates do unless they are positive downwards; indices count from
    /// the top, as in a matrix.
    pub fn is_upwards(&self) -> bool {
        self.has_positions
            && attribute_text(self.axis.coordinate.as_ref(), "positive") != Some("down")
    }

    /// Returns about `count` ticks; a quarter more for dates, whose texts are short.
    pub fn ticks(&self, count: usize) -> Ticks {
        if self.edges.is_empty() {
            return Ticks::default();
        }
        let (low, high) = self.ends();
        let dated = self.dates.and_then(|dates| dated(dates, low, high, count + count / 4));
        let mut ticks = dated.unwrap_or_else(|| linear(low, high, count));
        if !self.has_positions {
            // Indices are whole numbers.
            ticks.major.retain(|(place, _)| place.fract().abs() < 1e-9);
            ticks.minor.retain(|place| (place - place.round()).abs() < 1e-9);
            for (place, text) in &mut ticks.major {
                *text = format!("{place:.0}");
            }
            ticks.omitted = Omitted::default();
        }
        ticks.placed(|place| self.place(place))
    }

    /// Returns the positions of the edges of all cells, in their order, from 0 to 1.
    pub fn edges(&self) -> Vec<f64> {
        let mut edges: Vec<_> = self.edges.iter().map(|edge| part(self.ends(), *edge)).collect();
        if self.is_falling {
            edges.reverse();
        }
        edges
    }

    /// Whether all cells have about the same width.
    pub fn is_even(&self) -> bool {
        let each = 1.0 / float(self.axis.cells.max(1));
        let places = (0..).map(|nth: u32| f64::from(nth) * each);
        let is_at =
            |(edge, place): (&f64, f64)| (part(self.ends(), *edge) - place).abs() < each * 0.05;
        self.edges.iter().zip(places).all(is_at)
    }

    /// Returns the range in degrees and whether it is of latitude. `None` for an axis without longitude or latitude.
    pub fn degrees(&self) -> Option<(f64, bool)> {
        let coordinate = self.axis.coordinate.as_ref().filter(|_| self.has_positions);
        let is_of = |name: &str, end: &str| {
            let units = attribute_text(coordinate, "units").unwrap_or_default();
            let is_named = attribute_text(coordinate, "standard_name") == Some(name);
            is_named && units.starts_with("degree")
                || ["degrees_", "degree_", "degrees", "degree"].iter().any(|start| {
                    units.strip_prefix(start).is_some_and(|rest| {
                        rest == end || rest.len() == 1 && end.to_uppercase().starts_with(rest)
                    })
                })
        };
        let is_latitude = is_of("latitude", "north");
        let (low, high) = self.ends();
        (is_latitude || is_of("longitude", "east")).then_some((high - low, is_latitude))
    }

    /// Returns the name and units of the axis, with what the ticks omit.
    pub fn label(&self, ticks: &Ticks) -> Label {
        let name = self.axis.name.as_deref();
        let mut label = Label::new(
            self.axis.coordinate.as_ref().filter(|_| self.has_positions),
            name.unwrap_or("index"),
        )
        .with(&ticks.omitted);
        if !self.has_positions && name.is_some() {
            label.units = Some("index".to_owned());
        }
        if let Some(flaw) = self.flaw {
            let units = label.units.map_or_else(String::new, |units| units + ": ");
            label.units = Some(format!("{units}the coordinate {flaw}"));
        }
        label
    }
}

/// Words for coordinates that neither rise nor fall.
const UNORDERED: &str = "is not monotonic";

/// Returns words for unusual coordinates.
fn flaw(places: &[f64]) -> Option<&'static str> {
    let mut sorted = places.to_vec();
    sorted.sort_by(f64::total_cmp);
    let is_ordered = places.is_sorted() || places.iter().rev().is_sorted();
    match () {
        () if places.iter().any(|place| !place.is_finite()) => Some("is not finite everywhere"),
        () if sorted.iter().zip(sorted.iter().skip(1)).any(|(a, b)| a >= b) => {
            Some("has equal values")
        }
        () => (!is_ordered).then_some(UNORDERED),
    }
}

/// Returns the edges of cells with ascending centres: halfway between them, and at the same distance at both ends.
fn edges(places: &[f64]) -> Vec<f64> {
    let between: Vec<f64> =
        places.iter().zip(places.iter().skip(1)).map(|(a, b)| f64::midpoint(*a, *b)).collect();
    let ([first, .., last], [inner, ..], [.., outer]) = (places, &between[..], &between[..]) else {
        return places.iter().flat_map(|only| [only - 0.5, only + 0.5]).collect();
    };
    let (before, after) = (first - (inner - first), last + (last - outer));
    std::iter::once(before).chain(between.iter().copied()).chain([after]).collect()
}

/// Returns the values that have a position on a scale.
pub fn placed(values: impl Iterator<Item = f64>, is_log: bool) -> impl Iterator<Item = f64> {
    values.filter(move |value| value.is_finite() && (!is_log || *value > 0.0))
}

/// Returns the smallest and the largest value that have a position on a scale.
pub fn extremes(values: impl Iterator<Item = f64>, is_log: bool) -> Option<(f64, f64)> {
    placed(values, is_log).fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}
