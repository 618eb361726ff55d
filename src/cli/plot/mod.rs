//! `ra-pack plot`: a picture as PNG or SVG, or a preview in a terminal.

mod lines;
mod picture;
mod render;
mod terminal;

use std::path::PathBuf;

use clap::Args;
pub(super) use ra_pack::display::plot::axis::extremes;
pub(crate) use ra_pack::display::plot::chart::{draw, sampled};
use ra_pack::display::plot::color::COLOR_MAPS;
pub(super) use ra_pack::display::plot::color::{
    ColorMap, MAX_NAMED, RD_BU, TWILIGHT, VIRIDIS, color, of_name,
};
pub(crate) use ra_pack::display::plot::frame::Chart;
use ra_pack::display::plot::frame::Range;
pub(super) use ra_pack::display::plot::frame::{PlotArea, gap_text, notes};
pub(super) use ra_pack::display::plot::grid::{Palette, image};
pub(super) use ra_pack::display::plot::label::shortened;
pub(super) use ra_pack::display::plot::line::{Trace, line_extremes, line_scale, trace};
pub(super) use ra_pack::display::plot::scene::{Markup, Pixels};
pub(super) use ra_pack::display::plot::units::typeset;
pub(super) use ra_pack::display::plot::words::{image_text, line_text, part_name};
use ra_pack::path::escape_path;
use ra_pack::read::{ComplexPart, Sample};

pub(crate) use self::picture::{Picture, nothing_in};
pub(crate) use self::render::png_of;
use super::array::{ByCoordinate, Stored};
use super::common::{Choices, words};
use super::output::Output;
use super::text::human_bytes;
use super::{Ending, Failure, array, shell};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack plot exp.zip run1/temperature.ra -o temperature.png
  ra-pack plot exp.zip run1/temperature.ra -o temperature.svg --cmap magma --range 5:15
  ra-pack plot exp.zip run1/temperature.ra -o large.png --scale 3 --range 2%:98%
  ra-pack plot exp.zip run1/velocity.ra --slice '0,:,:' -o eastward.png
  ra-pack plot temperature.ra")]
pub(crate) struct PlotArgs {
    /// Archive, directory or array (.ra).
    #[arg(value_name = "TARGET")]
    pub(super) archive: PathBuf,

    /// Array of the pack, as shown by `list`.
    #[arg(value_name = "MEMBER")]
    member: Option<String>,

    /// Write the picture to this file: .png or .svg.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Draw a part of the array, in NumPy syntax: `0:10,:,3`. As in NumPy, a range is
    /// cut at the ends of its dimension, and an index out of range is an error.
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    slice: Option<String>,

    #[command(flatten)]
    by_coordinate: ByCoordinate,

    #[command(flatten)]
    stored: Stored,

    /// Use this colour map for an image [default: twilight for phases, `RdBu` for values on both
    /// sides of 0, otherwise viridis].
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = words(COLOR_MAPS))]
    cmap: Option<ColorMap>,

    /// Set width and height of the picture in units; text is 12 units high.
    #[arg(long, value_name = "WxH", default_value = "800x500", value_parser = size)]
    size: (u32, u32),

    /// Draw a PNG with this many pixels per unit of --size; use 2 or 3 for print.
    #[arg(long, value_name = "N", default_value = "1", value_parser = scale)]
    scale: f64,

    /// Draw this part of complex numbers [default: both side by side; in a terminal, magnitude].
    #[arg(long, value_name = "PART", value_parser = words(PARTS))]
    part: Option<ComplexPart>,

    /// Draw values from MIN to MAX, or between percentiles such as 2%:98% [default: the range of the array].
    #[arg(long, value_name = "MIN:MAX", value_parser = range_of, allow_hyphen_values = true)]
    range: Option<Range>,

    /// Use a logarithmic scale. Values that are not above 0 have no place on it; a legend says so.
    #[arg(long)]
    log: bool,

    /// Exchange the axes; otherwise the last dimension is across, and longitude in a map.
    #[arg(long)]
    transpose: bool,

    /// Draw two dimensions as lines with a legend: one for each index of the shorter dimension,
    /// at most 10. Complex numbers are drawn as magnitude.
    #[arg(long, requires = "output")]
    line: bool,

    /// Set the title of the picture; none if empty [default: long name, slice and name of the array].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Replace an existing file.
    #[arg(short, long)]
    force: bool,

    /// Use N threads [default: one per core].
    #[arg(short, long, value_name = "N", value_parser = super::common::jobs)]
    jobs: Option<usize>,
}

pub(crate) const PARTS: &Choices<ComplexPart> = &[
    ("magnitude", ComplexPart::Magnitude, "Absolute value"),
    ("phase", ComplexPart::Phase, "Angle in radians, from -pi to pi"),
];

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |text: &str| text.parse().ok();
    text.split_once(['x', 'X'])
        .and_then(|(width, height)| side(width).zip(side(height)))
        .ok_or_else(|| {
            "expected a width and a height from 100 to 10000, such as 800x500".to_owned()
        })
}

fn scale(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number.ok_or_else(|| "expected a number from 0.25 to 20, such as 2".to_owned())
}

pub(crate) fn range_of(text: &str) -> Result<Range, String> {
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    let percent = |text: &str| {
        number(text.trim().strip_suffix('%')?).filter(|percent| (0.0..=100.0).contains(percent))
    };
    let rises = |(low, high): &(f64, f64)| low < high;
    let ends = text.split_once(':');
    let of = |read: &dyn Fn(&str) -> Option<f64>| {
        ends.and_then(|(low, high)| read(low).zip(read(high))).filter(rises)
    };
    let values = of(&number).map(|(low, high)| Range::Values(low, high));
    values.or(of(&percent).map(|(low, high)| Range::Percent(low, high))).ok_or_else(|| {
        "expected two numbers, the smaller first, such as -1:2.5, or two percentiles, such as 2%:98%"
            .to_owned()
    })
}

pub(super) fn run(args: &PlotArgs, output: &Output) -> Result<Ending, Failure> {
    let extension = extension(args, output)?;
    if let Some(path) = &args.output {
        ra_pack::files::check_apart(&args.archive, path)?;
    }
    let (width, height) = args.size;
    let mut picture = Picture {
        slice: None,
        part: args.part,
        raw: args.stored.raw,
        jobs: args.jobs,
        is_line: args.line,
        style: Chart {
            width,
            height,
            scale: args.scale,
            map: args.cmap,
            range: args.range,
            is_log: args.log,
            is_turned: args.transpose,
            title: args.title.clone(),
            ..Chart::default()
        },
    };
    picture.check()?;
    let (pack, member) = array::open(&args.archive, args.member.as_deref(), &output.progress())?;
    let array = pack.array(&member)?.in_shape_order()?;
    picture.slice = args.by_coordinate.slice(&array, args.slice.as_ref())?;
    picture.style.path = member;
    let cells = match &args.output {
        None => {
            let (columns, rows) = terminal::Screen::new(output).pixels();
            (columns, if args.transpose { columns } else { rows })
        }
        Some(_) => picture.cells(&array)?,
    };
    let first = picture.sample(&array, cells)?;
    if let Some(what) = nothing_in(&first) {
        return Err(without_picture(args, what));
    }
    let Some(path) = &args.output else {
        // The sample has its axes exchanged; the preview has no sides of its own.
        picture.style.is_turned = false;
        output.result(&terminal::preview(&first, &picture.style, output))?;
        return Ok(Ending::Clean);
    };
    let (scene, _) = picture.draw(&array, cells, &first)?;
    let bytes = match extension.as_deref() {
        Some("svg") => scene.to_svg()?.into_bytes(),
        _ => png_of(&scene, args.scale)?,
    };
    ra_pack::files::write_new(path, args.force, |out| out.write_all(&bytes))?;
    let quantity = match &first {
        Sample::Line(line) => Some(&line.quantity),
        Sample::Grid(grid) => Some(&grid.quantity),
        _ => None,
    };
    if let Some((factor, offset)) = quantity.and_then(|quantity| quantity.scale_and_offset) {
        output.note(&format!("applied scale_factor {factor} and add_offset {offset}"));
    }
    output.note(&format!("wrote {} ({})", escape_path(path), human_bytes(bytes.len() as u64)));
    Ok(Ending::Clean)
}

/// Returns the extension of the picture; `None` for the terminal.
fn extension(args: &PlotArgs, output: &Output) -> Result<Option<String>, Failure> {
    let lower = |path: &PathBuf| {
        path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
    };
    let extension = args.output.as_ref().map(lower);
    match extension.as_deref() {
        Some("png" | "svg") => Ok(extension),
        None if output.is_terminal() => Ok(extension),
        Some(_) => Err(Failure::options("the extension of --output must be .png or .svg")),
        None => Err(Failure::options(
            "standard output is not a terminal; give -o FILE.png or -o FILE.svg",
        )),
    }
}

/// Returns the failure for an array that cannot be drawn, with the command that shows it as text.
fn without_picture(args: &PlotArgs, what: &str) -> Failure {
    let array = shell::array(&args.archive, args.member.as_deref(), args.slice.as_deref());
    let name = args.member.as_ref().map_or_else(
        || escape_path(&args.archive).to_string(),
        |member| ra_pack::path::escape(member).to_string(),
    );
    let part = if args.slice.is_some() { "this part of " } else { "" };
    Failure::options(format!("{part}`{name}` is {what}; use `ra-pack show {array}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_of_values_or_of_percentiles() {
        assert_eq!(range_of("-1:2.5"), Ok(Range::Values(-1.0, 2.5)));
        assert_eq!(range_of(" 2%:98%"), Ok(Range::Percent(2.0, 98.0)));
        for wrong in ["2:1", "1", "2%:5", "2%:101%", "98%:2%", "nan:1", "1:inf"] {
            assert!(range_of(wrong).is_err(), "{wrong}");
        }
    }
}
