//! Drawing of lines.

use crate::read::{Column, Line, Quantity};

use super::super::text::{columns, float};
use super::axis::{Along, Scale, extremes};
use super::color::{Rgb, of_name};
use super::frame::{Chart, Layout, PlotArea, Side, ends, fitting, gap_text, value_ticks};
use super::label::Label;
use super::scene::{INK, PALE, SMALL, Scene};
use super::ticks::Ticks;

/// Returns the smallest and the largest value of a line.
pub fn line_extremes(line: &Line, is_log: bool) -> Option<(f64, f64)> {
    extremes(values(&[line]), is_log)
}

fn values(lines: &[&Line]) -> impl Iterator<Item = f64> {
    let columns = lines.iter().flat_map(|line| &line.columns);
    columns.flat_map(|column| &column.points).map(|point| point.value)
}

/// Returns the scale of lines; `margin` is the free part of its range at each end.
pub fn line_scale(lines: &[&Line], style: &Chart, margin: f64) -> Scale {
    let margin = if style.range.is_none() { margin } else { 0.0 };
    let quantity = lines.first().map(|line| &line.quantity);
    let ends = quantity.and_then(|quantity| ends(values(lines), quantity, style));
    Scale::new(ends, style.is_log, margin)
}

/// The points and the gaps of lines, with positions from 0 to 1 along both axes.
#[derive(Debug)]
pub struct Trace {
    /// Pieces of each line between its gaps.
    pub lines: Vec<Vec<Vec<(f64, f64)>>>,
    /// Ranges along the axis with elements that have no place, and whether they have none that has.
    pub gaps: Vec<((f64, f64), bool)>,
}

/// Returns the points of lines with the same axis at their coordinates.
pub fn trace(lines: &[&Line], scale: Scale) -> Trace {
    let (along, ranges) = Along::of_lines(lines).unzip();
    let mut gaps = Vec::new();
    let pieces = |line: &&Line| {
        let mut pieces = vec![Vec::new()];
        for (nth, Column { points, has_gap, .. }) in line.columns.iter().enumerate() {
            let values: Vec<_> = points
                .iter()
                .filter_map(|it| Some((it.position, scale.place(it.value)?)))
                .collect();
            let place = |(position, y): &(f64, f64)| {
                let x = along.as_ref().map_or(Some(0.5), |along| along.place(*position))?;
                Some((x, y.clamp(0.0, 1.0)))
            };
            let places: Vec<_> = values.iter().filter_map(place).collect();
            let range =
                ranges.as_ref().map_or(Some((0.0, 1.0)), |all: &Vec<_>| all.get(nth).copied());
            let range = range.filter(|(from, to)| from.is_finite() && to.is_finite());
            let is_partial = *has_gap || values.len() < points.len();
            let is_empty = values.is_empty() && lines.len() == 1;
            gaps.extend(range.filter(|_| is_partial).map(|range| (range, is_empty)));
            match pieces.last_mut() {
                Some(piece) if !places.is_empty() => piece.extend(places),
                _ => pieces.push(Vec::new()),
            }
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    };
    let lines = lines.iter().map(pieces).collect();
    Trace { lines, gaps }
}

/// Returns the values of lines, and NaN if others are missing.
pub fn values_and_gaps(lines: &[&Line]) -> impl Iterator<Item = f64> {
    let mut columns = lines.iter().flat_map(|line| &line.columns);
    values(lines).chain(columns.any(|column| column.has_gap).then_some(f64::NAN))
}

/// Returns the axis of the values of a line.
pub fn of_values(quantity: &Quantity, scale: Scale, count: usize) -> Side {
    let ticks = value_ticks(quantity, scale, count);
    Side { label: Label::of(quantity).with(&ticks.omitted), ticks }
}

/// Background of missing values next to a line.
const NOTHING: Rgb = [0xF3, 0xD9, 0xD3];

/// Draws lines with the same axis. If they have names, each has its own colour.
pub fn draw_lines(
    scene: &mut Scene,
    (lines, names): (&[&Line], &[String]),
    style: &Chart,
    top: f64,
) -> PlotArea {
    let quantity = &lines.first().expect("there is a line").quantity;
    let (wide, high) = (f64::from(style.width), f64::from(style.height));
    let scale = line_scale(lines, style, 0.04);
    let Trace { lines: traced, gaps } = trace(lines, scale);
    let has_gap = !gaps.is_empty();
    let along = Along::of_lines(lines).map(|(along, _)| along);
    // Axes along the line and of its values.
    let mut own = Side { ticks: Ticks::default(), label: Label::default() };
    let [across, upwards] = [fitting(wide - 80.0, 65.0), fitting(high - top - 60.0, 45.0)];
    let is_downwards = style.is_turned && along.as_ref().is_some_and(|it| !it.is_upwards());
    if let Some(along) = &along {
        own.ticks = along.ticks(if style.is_turned { upwards } else { across });
        own.label = along.label(&own.ticks);
        if is_downwards {
            own.ticks = own.ticks.reversed();
        }
    }
    let values = of_values(quantity, scale, if style.is_turned { across } else { upwards });
    let (across, upwards) = if style.is_turned { (values, own) } else { (own, values) };
    let below = if has_gap { 18.0 } else { 0.0 };
    let widest = names.iter().map(|name| columns(name)).max();
    let right = widest.map_or(20.0, |widest| 58.0 + float(widest) * SMALL.width);
    let layout = Layout::new(style, (top, right, below), &across.label, &upwards);
    let area = layout.area;
    // Returns the point at a position along the line and of a value.
    let at = |(along, value): (f64, f64)| {
        let upwards = if is_downwards { 1.0 - along } else { along };
        area.at(if style.is_turned { (value, upwards) } else { (along, value) })
    };
    for (place, _) in &upwards.ticks.major {
        scene.rect((area.left, area.at((0.0, *place)).1 - 0.5), (area.width, 1.0), PALE);
    }
    for (place, _) in &across.ticks.major {
        scene.rect((area.at((*place, 0.0)).0 - 0.5, area.top), (1.0, area.height), PALE);
    }
    for ((from, to), is_empty) in gaps {
        let value = if is_empty { 1.0 } else { 6.0 / area.height };
        let (one, other) = (at((from, 0.0)), at((to, value)));
        let from = (one.0.min(other.0).max(area.left), one.1.min(other.1).max(area.top));
        scene.rect(from, ((other.0 - one.0).abs(), (other.1 - one.1).abs()), NOTHING);
    }
    for (nth, pieces) in traced.iter().enumerate() {
        let ink = if names.is_empty() { INK } else { of_name(nth) };
        for piece in pieces {
            let points: Vec<_> = piece.iter().map(|point| at(*point)).collect();
            // A single value is drawn as a dot.
            match *points {
                [dot] => scene.line(&[dot, dot], 5.0, ink),
                _ => scene.line(&points, 1.4, ink),
            }
        }
    }
    for (nth, name) in names.iter().enumerate() {
        let corner = (area.left + area.width + 20.0, area.top + 20.0 * float(nth));
        scene.legend(corner, of_name(nth), name);
    }
    scene.axes(&layout, &across.ticks, &upwards.ticks);
    let text = gap_text(quantity, values_and_gaps(lines), style.is_log);
    if traced.iter().all(Vec::is_empty) {
        let has_value = extremes(values_and_gaps(lines), style.is_log).is_some();
        let why = format!("all values are {text}");
        scene.nothing(area, if has_value { "no coordinate is finite" } else { &why });
    }
    if has_gap {
        scene.legend((area.left, high - 18.0), NOTHING, &text);
    }
    area
}
