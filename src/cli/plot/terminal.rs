//! Preview in a terminal: images as half blocks or characters, lines as Braille dots, with axes.

use std::fmt::Write as _;

use ra_pack::read::{Grid, Line, Sample};

use super::super::output::Output;
use super::super::text::{columns, count, digits, fit, float, padded};
use ra_pack::display::plot::axis::{Along, Scale};
use ra_pack::display::plot::color::Rgb;
use ra_pack::display::plot::frame::{Chart, gap_text, heading, value_ticks};
use ra_pack::display::plot::grid::{Palette, cells, image};
use ra_pack::display::plot::label::Label;
use ra_pack::display::plot::line::{line_extremes, line_scale, trace, values_and_gaps};
use ra_pack::display::plot::ticks::Ticks;

/// Characters from light to dark; a space is a missing value.
const RAMP: [char; 9] = ['.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// Properties of the terminal that a picture needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    columns: usize,
    /// Number of rows of the picture itself.
    rows: usize,
    unicode: bool,
    /// Whether to use colours.
    is_painted: bool,
}

pub(super) fn preview(sample: &Sample, style: &Chart, output: &Output) -> String {
    let screen = Screen::new(output);
    let (quantity, lines) = match sample {
        Sample::Line(line) => (&line.quantity, of_line(line, style, screen)),
        Sample::Grid(grid) => (&grid.quantity, of_grid(grid, style, screen)),
        _ => return String::new(),
    };
    let (title, below) = heading(quantity, style);
    let heads = [title, below].into_iter().filter(|head| !head.is_empty());
    let heads = heads.map(|head| fit(&head, screen.columns));
    heads.chain(lines).map(|line| line + "\n").collect()
}

impl Screen {
    pub(super) fn new(output: &Output) -> Self {
        let (columns, rows) = output.size();
        let unicode = Output::is_unicode();
        Self {
            columns: columns.clamp(20, 200),
            rows: rows.saturating_sub(9).clamp(4, 50),
            unicode,
            is_painted: unicode && output.color_out,
        }
    }

    /// Returns the number of columns and rows of cells.
    pub(super) fn pixels(self) -> (usize, usize) {
        (self.columns, self.rows * if self.is_painted { 2 } else { 1 })
    }

    /// Returns the width of the picture next to the texts of an axis, in columns.
    fn room(self, upwards: &Ticks) -> usize {
        self.columns.saturating_sub(gutter(upwards) + 2).max(8)
    }

    /// Formats the label of an axis after a direction.
    fn labelled(self, way: &str, label: &Label) -> String {
        let room = self.columns.saturating_sub(columns(way) + 2);
        format!("{way}: {}", label.lines(room, 1).concat())
    }

    /// Adds axes with texts at ticks to the rows of a picture.
    fn framed(self, picture: Vec<String>, upwards: &Ticks, across: &Ticks) -> Vec<String> {
        let [bar, mark, corner, dash, tick] = if self.unicode {
            ["│", "┤", "└", "─", "┬"]
        } else {
            ["|", "+", "+", "-", "+"]
        };
        let (width, room, rows) = (gutter(upwards), self.room(upwards), picture.len());
        let mut texts = vec![None; rows];
        for (place, text) in &upwards.major {
            let row = cell(1.0 - place, rows);
            if let Some(place) = texts.get_mut(row) {
                *place = Some(text);
            }
        }
        let line = |(row, text): (String, Option<&String>)| {
            let shown = text.map_or("", String::as_str);
            let blanks = " ".repeat(width.saturating_sub(columns(shown)));
            let line = format!("{blanks}{shown} {}{row}", if text.is_some() { mark } else { bar });
            line.trim_end_matches([' ', '\u{2800}']).to_owned()
        };
        let mut lines: Vec<String> = picture.into_iter().zip(texts).map(line).collect();
        let at: Vec<(usize, &str)> =
            across.major.iter().map(|(place, text)| (cell(*place, room), &**text)).collect();
        let sign = |column: usize| if at.iter().any(|(at, _)| *at == column) { tick } else { dash };
        let axis: String = (0..room).map(sign).collect();
        lines.push(format!("{} {corner}{axis}", " ".repeat(width)));
        let mut texts = String::new();
        for (at, text) in at {
            let begin = (width + 2 + at).saturating_sub(columns(text) / 2);
            // Omits texts that would touch the previous one.
            if texts.is_empty() || begin > columns(&texts) {
                texts = padded(&texts, begin) + text;
            }
        }
        lines.push(texts);
        lines
    }
}

/// Returns the index of the cell that contains a position from 0 to 1.
fn cell(place: f64, cells: usize) -> usize {
    count(place * float(cells)).min(cells.saturating_sub(1))
}

/// Returns the width of the longest text of the ticks, in columns.
fn gutter(ticks: &Ticks) -> usize {
    ticks.major.iter().map(|(_, text)| columns(text)).max().unwrap_or(0)
}

fn of_grid(grid: &Grid, style: &Chart, screen: Screen) -> Vec<String> {
    let palette = Palette::new(grid, style);
    let (across, down) = (Along::new(&grid.columns), Along::new(&grid.rows));
    let upwards = down.ticks((screen.rows / 3).clamp(2, 8));
    let upwards = if down.is_upwards() { upwards } else { upwards.reversed() };
    let columns = screen.room(&upwards);
    let ticks = across.ticks((columns / 12).clamp(2, 8));
    let is_gap = |cell: &usize| {
        grid.cells.get(*cell).is_none_or(|value| palette.scale.place(*value).is_none())
    };
    let picture: Vec<String> = if screen.is_painted {
        let pixels = image(grid, &palette, Some(columns), Some(screen.rows * 2));
        let row = |rows: &[Rgb]| {
            let (upper, lower) = rows.split_at(columns);
            let pair = |(upper, lower): (&Rgb, &Rgb)| {
                format!("\x1b[{};{}m▀", paint(38, *upper), paint(48, *lower))
            };
            upper.iter().zip(lower).map(pair).collect::<String>() + "\x1b[0m"
        };
        pixels.colors.chunks_exact(columns * 2).map(row).collect()
    } else {
        let place = |cell: &usize| palette.scale.place(*grid.cells.get(*cell)?);
        let all = cells(grid, Some(columns), Some(screen.rows));
        let row = |row: &[usize]| row.iter().map(|cell| place(cell).map_or(' ', letter)).collect();
        all.chunks(columns).map(row).collect()
    };
    let mut lines = screen.framed(picture, &upwards, &ticks);
    let labels = [
        (if down.is_upwards() { "up" } else { "down" }, down.label(&upwards)),
        ("across", across.label(&ticks)),
    ];
    lines.extend(labels.map(|(way, label)| screen.labelled(way, &label)));
    if palette.has_names() {
        let names = palette.names.iter().enumerate().map(|(nth, (name, number))| {
            if screen.is_painted {
                return format!("\x1b[{}m█\x1b[0m {name}", paint(38, palette.of_name(nth)));
            }
            // A name that no element has may be outside the scale.
            let place = number.and_then(|number| palette.scale.place(number));
            let place = place.filter(|place| (0.0..=1.0).contains(place));
            place.map_or_else(|| name.clone(), |place| format!("{} {name}", letter(place)))
        });
        lines.push(names.collect::<Vec<_>>().join("  "));
        return lines;
    }
    let mut legend = format!("{} ", digits(palette.scale.low, 6));
    for part in (0..18).map(|nth| f64::from(nth) / 17.0) {
        if screen.is_painted {
            // Writing to a string cannot fail.
            let _ = write!(legend, "\x1b[{}m█", paint(38, palette.map.color(part)));
        } else {
            legend.push(letter(part));
        }
    }
    legend.push_str(if screen.is_painted { "\x1b[0m" } else { "" });
    let units = Label::of(&grid.quantity).units.map_or_else(String::new, |it| format!(" {it}"));
    let _ = write!(legend, " {}{units}", digits(palette.scale.high, 6));
    if (0..grid.cells.len()).any(|cell| is_gap(&cell)) {
        let text = gap_text(&grid.quantity, grid.cells.iter().copied(), style.is_log);
        let _ = write!(legend, "; {}: {text}", if screen.is_painted { "grey" } else { "blank" });
    }
    lines.push(legend);
    lines
}

fn letter(place: f64) -> char {
    RAMP.get(count(place.clamp(0.0, 1.0) * 8.0 + 0.5)).copied().unwrap_or('@')
}

/// Returns the escape code of a colour, with 24 bits if the terminal supports them, otherwise with 256 colours.
fn paint(layer: u8, [red, green, blue]: Rgb) -> String {
    let is_true =
        std::env::var("COLORTERM").is_ok_and(|name| matches!(&*name, "truecolor" | "24bit"));
    if is_true {
        return format!("{layer};2;{red};{green};{blue}");
    }
    let level = |channel: u8| (u16::from(channel) + 25) / 51;
    format!("{layer};5;{}", 16 + 36 * level(red) + 6 * level(green) + level(blue))
}

fn of_line(line: &Line, style: &Chart, screen: Screen) -> Vec<String> {
    if line_extremes(line, style.is_log).is_none() {
        return vec!["no values".to_owned()];
    }
    let scale = line_scale(&[line], style, 0.0);
    let rows = screen.rows.min(30);
    let upwards = value_ticks(&line.quantity, scale, (rows / 2).clamp(2, 8));
    let columns = screen.room(&upwards);
    let along = Along::of_lines(&[line]).map(|(along, _)| along);
    let across = along.as_ref().map(|it| it.ticks((columns / 12).clamp(2, 8))).unwrap_or_default();
    let mut lines =
        screen.framed(dots(line, scale, (columns, rows), screen.unicode), &upwards, &across);
    if !trace(&[line], scale).gaps.is_empty() {
        let text = gap_text(&line.quantity, values_and_gaps(&[line]), style.is_log);
        lines.push(format!("gaps: {text}"));
    }
    lines.push(screen.labelled("up", &Label::of(&line.quantity).with(&upwards.omitted)));
    let label = along.map(|along| along.label(&across));
    lines.extend(label.map(|label| screen.labelled("across", &label)));
    lines
}

/// Draws a line as dots in this many columns and rows.
fn dots(line: &Line, scale: Scale, (columns, rows): (usize, usize), unicode: bool) -> Vec<String> {
    let (dots_across, dots_up) = if unicode { (2, 4) } else { (1, 1) };
    let (wide, tall) = (columns * dots_across, rows * dots_up);
    let mut dots = vec![false; wide * tall];
    for piece in trace(&[line], scale).lines.into_iter().flatten() {
        let at = |(x, y): (f64, f64)| {
            (x * (float(wide) - 1.0) + 0.5, (1.0 - y) * (float(tall) - 1.0) + 0.5)
        };
        let points: Vec<_> = piece.into_iter().map(at).collect();
        for ((ax, ay), (bx, by)) in points.iter().zip(points.iter().skip(1).chain(points.last())) {
            let steps = count((bx - ax).abs().max((by - ay).abs())) + 1;
            for part in (0..=steps).map(|nth| float(nth) / float(steps)) {
                let (x, y) = (count(ax + (bx - ax) * part), count(ay + (by - ay) * part));
                if let Some(dot) = dots.get_mut(y * wide + x) {
                    *dot = true;
                }
            }
        }
    }
    let dot = |x: usize, y: usize| dots.get(y * wide + x).copied().unwrap_or(false);
    // Positions of the dots, in the order of the bits of a Braille pattern.
    let bits = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
    let sign = |column: usize, row: usize| {
        if !unicode {
            return if dot(column, row) { '*' } else { ' ' };
        }
        let is_set = |(x, y): (usize, usize)| dot(column * 2 + x, row * 4 + y);
        let pattern = (0..).zip(bits).filter(|(_, at)| is_set(*at)).map(|(nth, _)| 1 << nth);
        char::from_u32(0x2800 + pattern.sum::<u32>()).unwrap_or(' ')
    };
    (0..rows).map(|row| (0..columns).map(|column| sign(column, row)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_at_their_positions() {
        let screen = Screen { columns: 16, rows: 3, unicode: false, is_painted: false };
        let tick = |place, text: &str| (place, text.to_owned());
        let upwards = Ticks { major: vec![tick(0.0, "0"), tick(1.0, "10")], ..Ticks::default() };
        let across = Ticks { major: vec![tick(0.5, "1.5")], ..Ticks::default() };
        let picture = ["...", "  *", " **"].map(str::to_owned).to_vec();
        let lines = screen.framed(picture, &upwards, &across);
        let expected = ["10 +...", "   |  *", " 0 + **", "   +------+-----", "         1.5"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_smallest_value_is_visible() {
        assert_eq!((letter(0.0), letter(1.0)), ('.', '@'));
    }
}
