//! A plot in a terminal: half blocks of two colours for images, dots of Braille for lines.

use ra_pack::{Grid, Line, Sample};

use super::chart::{Along, Palette, Scale, Style, image, quantity_label};
use super::paint::cut;
use super::scene::{Rgb, float, whole};

/// What the terminal can show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terminal {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) color: bool,
    pub(super) unicode: bool,
}

/// Letters from thin to thick.
const RAMP: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

pub(super) fn text(sample: &Sample, style: &Style, terminal: Terminal) -> String {
    let mut text = format!("{}\n", cut(&style.title, terminal.columns));
    match sample {
        Sample::Line(line) => of_line(line, style, terminal, &mut text),
        Sample::Grid(grid) => of_grid(grid, style, terminal, &mut text),
        _ => {}
    }
    text
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn of_grid(grid: &Grid, style: &Style, terminal: Terminal, text: &mut String) {
    if grid.cells.is_empty() {
        text.push_str("no elements\n");
        return;
    }
    let palette = Palette::new(grid, style);
    let columns = terminal.columns.clamp(8, 200);
    let rows = terminal.rows.saturating_sub(5).clamp(4, 60);
    if terminal.color && terminal.unicode {
        let mut pixels = image(grid, &palette, narrow(columns), narrow(rows) * 2);
        for row in 0..i64::try_from(rows).unwrap_or(0) {
            for column in 0..i64::try_from(columns).unwrap_or(0) {
                let upper = pixels.at(column, row * 2).copied().unwrap_or_default();
                let lower = pixels.at(column, row * 2 + 1).copied().unwrap_or_default();
                text.extend([format!("\x1b[{};{}m▀", paint(38, upper), paint(48, lower))]);
            }
            text.push_str("\x1b[0m\n");
        }
    } else {
        let (across, down) = (Along::new(&grid.columns), Along::new(&grid.rows));
        for row in 0..rows {
            let line: String = (0..columns)
                .map(|column| {
                    let value = super::chart::value_at(
                        grid,
                        (&down, &across),
                        ((float(row) + 0.5) / float(rows), (float(column) + 0.5) / float(columns)),
                    );
                    match palette.scale().place(value) {
                        None => '?',
                        Some(place) => letter(place),
                    }
                })
                .collect();
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    let Scale { low, high, .. } = palette.scale();
    text.extend([format!(
        "across: {}; down: {}\n",
        Along::new(&grid.columns).label(),
        Along::new(&grid.rows).label()
    )]);
    if grid.quantity.names.is_empty() {
        text.extend([format!("{low:.6} ")]);
        for nth in 0..16_usize {
            let part = float(nth) / 15.0;
            if terminal.color && terminal.unicode {
                let color = palette.color(if style.is_log {
                    low * libm::pow(high / low, part)
                } else {
                    low + (high - low) * part
                });
                text.extend([format!("\x1b[{}m█", paint(38, color))]);
            } else {
                text.push(letter(part));
            }
        }
        text.push_str(if terminal.color && terminal.unicode { "\x1b[0m" } else { "" });
        text.extend([format!(" {high:.6}  {}\n", quantity_label(&grid.quantity))]);
    } else {
        let names = grid.quantity.names.iter().enumerate().map(|(nth, (name, _))| {
            let name = ra_pack::escape(name);
            if terminal.color && terminal.unicode {
                format!("\x1b[{}m█\x1b[0m {name}", paint(38, super::colors::of_name(nth)))
            } else {
                name.to_string()
            }
        });
        text.extend([names.collect::<Vec<_>>().join("  "), "\n".to_owned()]);
    }
}

fn letter(place: f64) -> char {
    let last = RAMP.len().saturating_sub(1);
    let nth = usize::try_from(whole(place.clamp(0.0, 1.0) * float(last) + 0.5)).unwrap_or(0);
    RAMP.get(nth.min(last)).copied().unwrap_or(' ')
}

/// The code of a colour: of 24 bits where the terminal says that it has these, or else of 256 colours.
fn paint(layer: u8, [red, green, blue]: Rgb) -> String {
    let is_true =
        std::env::var("COLORTERM").is_ok_and(|what| matches!(&*what, "truecolor" | "24bit"));
    if is_true {
        return format!("{layer};2;{red};{green};{blue}");
    }
    let level = |channel: u8| u16::from(channel).saturating_add(25) / 51;
    format!("{layer};5;{}", 16 + 36 * level(red) + 6 * level(green) + level(blue))
}

fn of_line(line: &Line, style: &Style, terminal: Terminal, text: &mut String) {
    let Some((low, high)) = line.range() else {
        text.push_str(if line.columns.is_empty() { "no elements\n" } else { "no values\n" });
        return;
    };
    let scale = Scale::of(Some((low, high)), style);
    let columns = terminal.columns.clamp(8, 200);
    let rows = terminal.rows.saturating_sub(6).clamp(4, 30);
    let (dots_across, dots_up) = if terminal.unicode { (2, 4) } else { (1, 1) };
    let (wide, tall) = (columns * dots_across, rows * dots_up);
    let mut dots = vec![false; wide * tall];
    let along = line.axis.as_ref().map(Along::new);
    let mut before: Option<(i64, i64)> = None;
    let mut set = |x: i64, y: i64| {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if let Some(dot) = dots.get_mut(y * wide + x).filter(|_| x < wide) {
            *dot = true;
        }
    };
    for (nth, column) in line.columns.iter().enumerate() {
        let part = along.as_ref().map_or(0.5, |along| along.middle(nth));
        let x = whole(part * float(wide)).min(i64::try_from(wide).unwrap_or(0) - 1);
        let mut found = false;
        for value in [column.first, column.low, column.high, column.last] {
            let Some(place) = scale.place(value) else { continue };
            found = true;
            let y = whole((1.0 - place.clamp(0.0, 1.0)) * (float(tall) - 1.0) + 0.5);
            let (from_x, from_y) = before.unwrap_or((x, y));
            let steps = (x - from_x).abs().max((y - from_y).abs()).max(1);
            for step in 0..=steps {
                set(from_x + (x - from_x) * step / steps, from_y + (y - from_y) * step / steps);
            }
            before = Some((x, y));
        }
        if !found {
            before = None;
        }
    }
    let dot = |x: usize, y: usize| dots.get(y * wide + x).copied().unwrap_or(false);
    text.extend([format!("{high:.6}  {}\n", quantity_label(&line.quantity))]);
    for row in 0..rows {
        let letters: String = (0..columns)
            .map(|column| {
                if !terminal.unicode {
                    return if dot(column, row) { '*' } else { ' ' };
                }
                let bits = [
                    (0, 0, 1),
                    (0, 1, 2),
                    (0, 2, 4),
                    (1, 0, 8),
                    (1, 1, 16),
                    (1, 2, 32),
                    (0, 3, 64),
                    (1, 3, 128),
                ];
                let pattern: u32 = bits
                    .into_iter()
                    .filter(|(x, y, _)| dot(column * 2 + x, row * 4 + y))
                    .map(|(_, _, bit)| bit)
                    .sum();
                char::from_u32(0x2800 + pattern).unwrap_or(' ')
            })
            .collect();
        text.push_str(letters.trim_end_matches([' ', '\u{2800}']));
        text.push('\n');
    }
    let label = along.as_ref().map_or_else(String::new, Along::label);
    text.extend([format!("{low:.6}  across: {label}\n")]);
}
