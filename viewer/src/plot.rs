//! Plots: the same drawings as those of the command.

use ra_pack::display::plot::chart::{draw, sampled, transpose};
use ra_pack::display::plot::color::color;
use ra_pack::display::plot::frame::Chart;
use ra_pack::display::plot::scene::{BLACK, INK, PALE, WHITE};
use ra_pack::display::plot::words::{image_text, line_text};
use ra_pack::path::escape;
use ra_pack::ra::{ElementKind, parse_slice};
use ra_pack::read::{ComplexPart, Sample, SampleOptions};
use serde_json::json;

use crate::answer::{Arguments, Result};
use crate::contents::Opened;
use crate::table::selected;

/// Colours of a light page, each with the one of a dark page.
const DARK: [([u8; 3], [u8; 3]); 4] = [
    (BLACK, [0xE6, 0xE6, 0xE6]),
    (WHITE, [0x17, 0x1A, 0x1F]),
    (PALE, [0x36, 0x3B, 0x43]),
    (INK, [0x7F, 0xB3, 0xF5]),
];

/// Answers with an SVG, or with the number of bytes that a plot would read if they are more than `most`.
pub(crate) fn plot(opened: &Opened, arguments: &Arguments) -> Result {
    let array = opened.array(arguments)?;
    let side = |name: &str, usual: usize| {
        let length = arguments.number(name).unwrap_or(usual).clamp(100, 4000);
        u32::try_from(length).unwrap_or(u32::MAX)
    };
    let (width, height) = (side("width", 800), side("height", 500));
    let element = array.header()?.element();
    let is_complex = element.kind() == ElementKind::Complex;
    let part = match arguments.text("part") {
        Some("angle") => Some(ComplexPart::Phase),
        _ => Some(ComplexPart::Magnitude),
    };
    let shape = array.shape()?;
    let slice = arguments.slice();
    if let Some(most) = arguments.number("most") {
        let parts = parse_slice(slice.as_deref().unwrap_or_default(), &shape);
        let parts = parts.map_err(|error| error.to_string())?;
        let counts = parts.iter().zip(&shape).map(|(part, size)| selected(*part, *size));
        let reads = counts.fold(element.elbyte(), u64::saturating_mul);
        if reads > most as u64 {
            return Ok(json!({ "reads": reads }).into());
        }
    }
    let options = SampleOptions {
        slice,
        columns: width.saturating_sub(150).max(50) as usize,
        rows: height.saturating_sub(90).max(50) as usize,
        part: part.filter(|_| is_complex),
        raw: arguments.is_raw(),
        ..SampleOptions::default()
    };
    // Across is the second of the dimensions that are shown, unless the page asks for the first.
    let (x, y) = (arguments.number("x"), arguments.number("y"));
    let sample = match x.zip(y) {
        Some((x, y)) if shape.len() >= 2 => {
            let mut sample = array.sample(&options)?;
            if let Sample::Grid(grid) = &mut sample
                && x < y
            {
                transpose(grid);
            }
            sample
        }
        _ => sampled(&array, &options, false)?,
    };
    let path = array.name().to_owned();
    let style = Chart { width, height, scale: 1.0, path, ..Chart::default() };
    let (scene, _) = draw(&sample, &style);
    let mut svg = scene.to_svg()?;
    if arguments.text("theme") == Some("dark") {
        svg = darkened(&svg);
    }
    let (description, verified) = match &sample {
        Sample::Line(line) => (line_text(line), line.verified),
        Sample::Grid(grid) => (image_text(grid), grid.verified),
        _ => return Err("there is no plot of this selection".into()),
    };
    let description = escape(&description).to_string();
    let verified = if verified { "whole" } else { "no" };
    Ok(json!({ "svg": svg, "description": description, "verified": verified }).into())
}

/// Replaces the colours of paper, text and lines, not those of values.
fn darkened(svg: &str) -> String {
    let line = |line: &str| {
        let mut line = line.to_owned();
        if !line.starts_with("<path") && !line.starts_with("<image") {
            for (light, dark) in DARK {
                line =
                    line.replace(&format!("\"{}\"", color(light)), &format!("\"{}\"", color(dark)));
            }
        }
        line + "\n"
    };
    svg.lines().map(line).collect()
}
