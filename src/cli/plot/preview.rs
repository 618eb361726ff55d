//! A plot in a terminal: half blocks of two colours for images, dots of Braille for lines.

use std::fmt::Write as _;

use ra_pack::{Grid, Line, Sample};

use super::super::text::fit;
use super::super::text::{count, digits, float};
use super::axis::Along;
use super::chart::{Chart, Palette, cells, image, line_scale, pieces, quantity_label};
use super::scene::{Rgb, coverage, of_name};

/// The abilities of the terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terminal {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) color: bool,
    pub(super) unicode: bool,
}

/// Letters from thin to thick.
const RAMP: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

pub(super) fn text(sample: &Sample, style: &Chart, terminal: Terminal) -> String {
    let mut text = format!("{}\n", fit(&style.title, terminal.columns));
    let terminal = Terminal { columns: terminal.columns.clamp(8, 200), ..terminal };
    // A text takes everything.
    let _ = match sample {
        Sample::Line(line) => of_line(line, style, terminal, &mut text),
        Sample::Grid(grid) => of_grid(grid, style, terminal, &mut text),
        _ => Ok(()),
    };
    text
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn of_grid(grid: &Grid, style: &Chart, terminal: Terminal, text: &mut String) -> std::fmt::Result {
    if grid.cells.is_empty() {
        return writeln!(text, "no elements");
    }
    let palette = Palette::new(grid, style);
    let columns = terminal.columns;
    let rows = terminal.rows.saturating_sub(5).clamp(4, 60);
    let is_painted = terminal.color && terminal.unicode;
    if is_painted {
        let pixels = image(grid, &palette, narrow(columns), narrow(rows * 2));
        for rows in pixels.colors.chunks_exact(columns * 2) {
            let (upper, lower) = rows.split_at(columns);
            for (upper, lower) in upper.iter().zip(lower) {
                write!(text, "\x1b[{};{}m▀", paint(38, *upper), paint(48, *lower))?;
            }
            text.push_str("\x1b[0m\n");
        }
    } else {
        let place = |cell: &usize| palette.scale.place(*grid.cells.get(*cell)?);
        for row in cells(grid, columns, rows).chunks(columns) {
            let line: String = row.iter().map(|cell| place(cell).map_or('?', letter)).collect();
            writeln!(text, "{}", line.trim_end())?;
        }
    }
    let label = |axis| Along::new(axis).label();
    writeln!(text, "across: {}; down: {}", label(&grid.columns), label(&grid.rows))?;
    if palette.has_names() {
        let names = grid.quantity.names.iter().enumerate().map(|(nth, (name, _))| {
            let name = ra_pack::escape(name);
            if is_painted {
                format!("\x1b[{}m█\x1b[0m {name}", paint(38, of_name(nth)))
            } else {
                name.to_string()
            }
        });
        return writeln!(text, "{}", names.collect::<Vec<_>>().join("  "));
    }
    write!(text, "{} ", digits(palette.scale.low, 6))?;
    for part in (0..16).map(|nth| f64::from(nth) / 15.0) {
        if is_painted {
            write!(text, "\x1b[{}m█", paint(38, palette.map.color(part)))?;
        } else {
            text.push(letter(part));
        }
    }
    let end = if is_painted { "\x1b[0m" } else { "" };
    let (high, label) = (digits(palette.scale.high, 6), quantity_label(&grid.quantity));
    writeln!(text, "{end} {high}  {label}")
}

fn letter(place: f64) -> char {
    RAMP.get(count(place.clamp(0.0, 1.0) * 9.0 + 0.5)).copied().unwrap_or(' ')
}

/// The code of a colour: of 24 bits where the terminal says that it has these, or else of 256 colours.
fn paint(layer: u8, [red, green, blue]: Rgb) -> String {
    let is_true =
        std::env::var("COLORTERM").is_ok_and(|name| matches!(&*name, "truecolor" | "24bit"));
    if is_true {
        return format!("{layer};2;{red};{green};{blue}");
    }
    let level = |channel: u8| (u16::from(channel) + 25) / 51;
    format!("{layer};5;{}", 16 + 36 * level(red) + 6 * level(green) + level(blue))
}

fn of_line(line: &Line, style: &Chart, terminal: Terminal, text: &mut String) -> std::fmt::Result {
    if line.range().is_none() {
        return writeln!(
            text,
            "no {}",
            if line.columns.is_empty() { "elements" } else { "values" }
        );
    }
    let scale = line_scale(line, style, 0.0);
    let columns = terminal.columns;
    let rows = terminal.rows.saturating_sub(6).clamp(4, 30);
    let (dots_across, dots_up) = if terminal.unicode { (2, 4) } else { (1, 1) };
    let (wide, tall) = (columns * dots_across, rows * dots_up);
    let mut dots = vec![false; wide * tall];
    for piece in pieces(line, scale) {
        let at = |(x, y): (f64, f64)| {
            (x * (float(wide) - 1.0) + 0.5, (1.0 - y) * (float(tall) - 1.0) + 0.5)
        };
        let points: Vec<_> = piece.into_iter().map(at).collect();
        let covered = coverage((narrow(wide), narrow(tall)), &points, 1.0);
        dots.iter_mut().zip(covered).for_each(|(dot, covered)| *dot |= covered >= 0.499);
    }
    let dot = |x: usize, y: usize| dots.get(y * wide + x).copied().unwrap_or(false);
    // The bits of a Braille pattern by the places of their dots.
    let bits = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
    let sign = |column: usize, row: usize| {
        if !terminal.unicode {
            return if dot(column, row) { '*' } else { ' ' };
        }
        let is_set = |(x, y): (usize, usize)| dot(column * 2 + x, row * 4 + y);
        let pattern = (0..).zip(bits).filter(|(_, at)| is_set(*at)).map(|(nth, _)| 1 << nth);
        char::from_u32(0x2800 + pattern.sum::<u32>()).unwrap_or(' ')
    };
    writeln!(text, "{}  {}", digits(scale.high, 6), quantity_label(&line.quantity))?;
    for row in 0..rows {
        let signs: String = (0..columns).map(|column| sign(column, row)).collect();
        writeln!(text, "{}", signs.trim_end_matches([' ', '\u{2800}']))?;
    }
    let label = line.axis.as_ref().map_or_else(String::new, |axis| Along::new(axis).label());
    writeln!(text, "{}  across: {label}", digits(scale.low, 6))
}
