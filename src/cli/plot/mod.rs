//! `ra-pack plot`: a picture, or in a terminal half blocks of two colours for images and dots of Braille for lines.

mod axis;
mod chart;
mod scene;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use ra_pack::path::escape_path;
use ra_pack::values::{Grid, Line, Sample, SampleOptions};

use self::axis::Along;
pub(super) use self::chart::{Chart, Palette, extremes, line_extremes, line_scale, pieces};
use self::chart::{cells, image, quantity_label};
use self::scene::{COLOR_MAPS, ColorMap};
pub(super) use self::scene::{MAX_NAMED, Markup, RD_BU, Rgb, color, data_uri, of_name, png};
use super::args::words;
use super::output::Output;
use super::text::{count, digits, fit, float, human_bytes};
use super::{Ending, Failure, array};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack plot exp.zip run1/temperature.ra -o temperature.png
  ra-pack plot exp.zip run1/temperature.ra -o temperature.svg --cmap magma --range 5:15
  ra-pack plot exp.zip run1/velocity.ra --slice '0,:,:' -o eastward.png
  ra-pack plot temperature.ra")]
pub(crate) struct PlotArgs {
    /// The archive or directory, or an array by itself.
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,

    /// The array, as `list` shows it.
    #[arg(value_name = "MEMBER")]
    member: Option<String>,

    /// Where to write the picture: a name that ends in .png or .svg.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// A part of the array, like numpy's: `0:10,:,3`, in the order of its description's shape.
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    slice: Option<String>,

    /// Colours for the values of an image [default: `RdBu` for values below and above 0, or else viridis].
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = words(COLOR_MAPS))]
    cmap: Option<ColorMap>,

    /// Width and height of the picture in pixels.
    #[arg(long, value_name = "WxH", default_value = "800x500", value_parser = size)]
    size: (u32, u32),

    /// The least and the greatest value to draw [default: those of the array].
    #[arg(long, value_name = "MIN:MAX", value_parser = range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,

    /// Draw values by their logarithms; those that are not positive have none.
    #[arg(long)]
    log: bool,

    /// Replace a file that is already there.
    #[arg(short, long)]
    force: bool,

    /// Threads to use [default: one for each core].
    #[arg(short, long, value_name = "N", value_parser = super::args::jobs)]
    jobs: Option<usize>,
}

/// Least and most pixels of a side.
const SIDES: std::ops::RangeInclusive<u32> = 100..=10_000;

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |text: &str| text.parse().ok().filter(|side| SIDES.contains(side));
    text.split_once(['x', 'X'])
        .and_then(|(width, height)| side(width).zip(side(height)))
        .ok_or_else(|| {
            "expected a width and a height from 100 to 10000, such as 800x500".to_owned()
        })
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    text.split_once(':')
        .and_then(|(low, high)| number(low).zip(number(high)))
        .filter(|(low, high)| low < high)
        .ok_or_else(|| "expected two numbers, the lesser first, such as -1:2.5".to_owned())
}

pub(super) fn run(args: &PlotArgs, output: &Output) -> Result<Ending, Failure> {
    let extension = args
        .output
        .as_ref()
        .map(|path| path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("png" | "svg") => Ok(()),
        None if output.is_terminal() => Ok(()),
        Some(_) => Err(Failure::unsupported(
            "a picture is written as PNG or SVG; give --output a name that ends in .png or .svg",
        )),
        None => Err(Failure::unsupported(
            "there is no terminal to show a preview on; give -o FILE.png or -o FILE.svg",
        )),
    }?;
    if let Some(path) = &args.output {
        ra_pack::files::check_apart(&args.archive, path)?;
    }
    if args.log && args.range.is_some_and(|(low, _)| low <= 0.0) {
        return Err(Failure::unsupported("--log needs a --range above 0"));
    }
    let (pack, member) = array::open(&args.archive, args.member.as_deref(), &output.progress())?;
    let array = pack.array(&member)?.in_shape_order()?;
    let (columns, rows) = output.size();
    let (width, height) = args.size;
    let mut options = SampleOptions::default();
    options.slice.clone_from(&args.slice);
    options.columns = width as usize;
    options.rows = height as usize;
    options.jobs = args.jobs;
    if args.output.is_none() {
        (options.columns, options.rows) = (columns * 2, rows * 2);
    }
    let sample = array.sample(&options)?;
    let slice = args.slice.as_ref().map_or_else(String::new, |slice| format!(" [{slice}]"));
    let style = Chart {
        width,
        height,
        map: args.cmap,
        range: args.range,
        is_log: args.log,
        title: format!("{}{}", ra_pack::path::escape(&member), ra_pack::path::escape(&slice)),
    };
    let Some(path) = &args.output else {
        output.result(&preview(&sample, &style, output))?;
        return Ok(Ending::Clean);
    };
    let scene = chart::draw(&sample, &style);
    let bytes = match extension.as_deref() {
        Some("svg") => scene.to_svg()?.into_bytes(),
        _ => scene.to_png()?,
    };
    ra_pack::files::write_new(path, args.force, |out| out.write_all(&bytes))?;
    output.note(&format!("wrote {} ({})", escape_path(path), human_bytes(bytes.len() as u64)));
    Ok(Ending::Clean)
}

/// Letters from thin to thick.
const RAMP: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

fn preview(sample: &Sample, style: &Chart, output: &Output) -> String {
    let (columns, rows) = output.size();
    let mut text = format!("{}\n", fit(&style.title, columns));
    let size = (columns.clamp(8, 200), rows);
    let unicode = Output::is_unicode();
    // A text takes everything.
    let _ = match sample {
        Sample::Line(line) => of_line(line, style, size, unicode, &mut text),
        Sample::Grid(grid) => of_grid(grid, style, size, unicode && output.color_out, &mut text),
        _ => Ok(()),
    };
    text
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn of_grid(
    grid: &Grid,
    style: &Chart,
    (columns, rows): (usize, usize),
    is_painted: bool,
    text: &mut String,
) -> std::fmt::Result {
    if grid.cells.is_empty() {
        return writeln!(text, "no elements");
    }
    let palette = Palette::new(grid, style);
    let rows = rows.saturating_sub(5).clamp(4, 60);
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
            let name = ra_pack::path::escape(name);
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

fn of_line(
    line: &Line,
    style: &Chart,
    (columns, rows): (usize, usize),
    unicode: bool,
    text: &mut String,
) -> std::fmt::Result {
    if line_extremes(line, false).is_none() {
        return writeln!(
            text,
            "no {}",
            if line.columns.is_empty() { "elements" } else { "values" }
        );
    }
    let scale = line_scale(line, style, 0.0);
    let rows = rows.saturating_sub(6).clamp(4, 30);
    let (dots_across, dots_up) = if unicode { (2, 4) } else { (1, 1) };
    let (wide, tall) = (columns * dots_across, rows * dots_up);
    let mut dots = vec![false; wide * tall];
    for piece in pieces(line, scale) {
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
    // The bits of a Braille pattern by the places of their dots.
    let bits = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
    let sign = |column: usize, row: usize| {
        if !unicode {
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
