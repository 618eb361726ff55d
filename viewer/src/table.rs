//! A window on the values of an array, with coordinates as headers.

use ra_pack::PackedArray;
use ra_pack::display::values::{flow, words};
use ra_pack::ndarray::SliceInfoElem;
use ra_pack::ndl::Value as Stated;
use ra_pack::path::escape;
use ra_pack::ra::parse_slice;
use ra_pack::read::{Axis, CornersOptions};
use serde_json::{Value, json};

use crate::answer::{Arguments, Result};
use crate::contents::Opened;

/// Largest numbers of rows and columns in an answer.
const MOST: [u64; 2] = [200, 50];

/// Decimals of values, as `show` writes them, and of coordinates.
const DECIMALS: (usize, usize) = (8, 6);

/// The positions that a slice selects in a dimension.
#[derive(Debug, Clone, Copy)]
struct Range {
    first: i128,
    step: i128,
    count: u64,
}

impl Range {
    /// Returns the positions of a part of a slice; `None` for an index.
    fn of(part: SliceInfoElem, extent: u64) -> Option<Self> {
        let SliceInfoElem::Slice { start, end, step } = part else { return None };
        let extent = i128::from(extent);
        let place = |at: isize| {
            let at = at as i128;
            (if at < 0 { at + extent } else { at }).clamp(0, extent)
        };
        let (start, end) = (place(start), end.map_or(extent, place));
        let step = step as i128;
        let count = (end - start).max(0).div_euclid(step.abs())
            + i128::from((end - start).max(0) % step.abs() != 0);
        let first = if step > 0 { start } else { end - 1 };
        Some(Self { first, step, count: u64::try_from(count).unwrap_or(0) })
    }

    /// Returns some of the positions.
    fn window(self, from: u64, most: u64) -> Self {
        let from = from.min(self.count);
        let first = self.first + self.step * i128::from(from);
        Self { first, count: (self.count - from).min(most), ..self }
    }

    fn positions(self) -> impl Iterator<Item = i128> {
        (0..self.count).map(move |nth| self.first + self.step * i128::from(nth))
    }

    /// Returns the part of a slice that selects the positions.
    fn text(self) -> String {
        let Some(last) = self.positions().last() else { return "0:0".to_owned() };
        let end = last + self.step.signum();
        let end = if end < 0 { String::new() } else { end.to_string() };
        format!("{}:{end}:{}", self.first, self.step)
    }
}

/// Returns the number of positions that a part of a slice selects.
pub(crate) fn selected(part: SliceInfoElem, extent: u64) -> u64 {
    Range::of(part, extent).map_or(1, |range| range.count)
}

/// Answers with at most some rows and columns of the selected part.
pub(crate) fn table(opened: &Opened, arguments: &Arguments) -> Result {
    let array = opened.array(arguments)?;
    let (axes, raw) = (array.axes()?, arguments.is_raw());
    let shape = array.shape()?;
    let slice = arguments.slice().unwrap_or_default();
    let parts = parse_slice(&slice, &shape).map_err(|error| error.to_string())?;
    let [from, count] = ["from", "count"].map(|name| arguments.pair(name));
    let (from, count) = (from.unwrap_or([0, 0]), count.unwrap_or(MOST));
    let mut total = Vec::new();
    let mut shown = Vec::new();
    let mut texts = Vec::new();
    for ((part, extent), axis) in parts.iter().zip(&shape).zip(&axes) {
        let Some(range) = Range::of(*part, *extent) else {
            let SliceInfoElem::Index(at) = part else {
                return Err("the slice adds a dimension".into());
            };
            texts.push(at.to_string());
            continue;
        };
        let nth = shown.len();
        let at = |pair: [u64; 2]| pair.get(nth).copied().unwrap_or(0);
        let window = range.window(at(from), at(count).min(at(MOST)));
        texts.push(window.text());
        total.push(range.count);
        shown.push((axis, window));
    }
    if shown.len() > 2 {
        return Err("select at most two dimensions; give the others an index".into());
    }
    let options = CornersOptions { slice: Some(texts.join(",")), edge: None, threshold: u64::MAX };
    let corners = array.corners(&options)?;
    let cells = words(&corners, DECIMALS.0, raw);
    let cells: Vec<&str> = cells.iter().map(|cell| cell.trim()).collect();
    let headers = shown.iter().map(|(axis, window)| headers(&array, axis, *window, raw));
    let headers = headers.collect::<Result<Vec<_>>>()?;
    let one = vec![String::new()];
    let (rows, columns) = match &headers[..] {
        [] => (&one, None),
        [rows] => (rows, None),
        [rows, columns, ..] => (rows, Some(columns)),
    };
    let width = columns.map_or(1, Vec::len).max(1);
    let lines = rows.iter().zip(cells.chunks(width));
    let rows: Vec<Value> =
        lines.map(|(header, cells)| json!({ "header": header, "cells": cells })).collect();
    let name = |nth: usize| {
        shown.get(nth).and_then(|(axis, _)| axis.name.as_ref()).map(|name| escape(name).to_string())
    };
    total.resize(2, 1);
    Ok(json!({
        "total": total,
        "columns": columns,
        "rows": rows,
        "row_dim": name(0),
        "column_dim": name(1),
        "verified": if corners.verified { "blocks" } else { "no" },
    })
    .into())
}

/// Returns the coordinates of some positions of a dimension, or their indices.
fn headers(array: &PackedArray, axis: &Axis, window: Range, raw: bool) -> Result<Vec<String>> {
    let indices = || window.positions().map(|at| at.to_string()).collect();
    let Some(coordinate) = &axis.coordinate else { return Ok(indices()) };
    if let Some(member) = &coordinate.member {
        let options =
            CornersOptions { slice: Some(window.text()), edge: None, threshold: u64::MAX };
        let corners = array.pack().array(member)?.corners(&options)?;
        let words = words(&corners, DECIMALS.1, raw);
        return Ok(words.iter().map(|word| word.trim().to_owned()).collect());
    }
    let value = coordinate.description.as_ref().and_then(|found| found.value.as_ref());
    let Some(Stated::List(list)) = value else { return Ok(indices()) };
    let text = |at: i128| {
        let stated = usize::try_from(at).ok().and_then(|at| list.get(at));
        stated.map_or_else(|| at.to_string(), |stated| flow(stated, 3))
    };
    Ok(window.positions().map(text).collect())
}
