//! `ra-pack plot`: a picture as PNG or SVG, or a preview in a terminal.

mod axis;
mod chart;
mod color;
mod dates;
mod label;
mod scene;
mod terminal;
mod units;

use std::path::PathBuf;

use clap::Args;
use ra_pack::path::escape_path;
use ra_pack::values::{Sample, SampleOptions};

pub(super) use self::chart::{
    Chart, Palette, PlotArea, draw, extremes, image, line_extremes, line_scale, notes, pieces,
};
use self::chart::{Range, transpose};
use self::color::COLOR_MAPS;
pub(super) use self::color::{ColorMap, MAX_NAMED, RD_BU, VIRIDIS, color, of_name};
pub(super) use self::label::shortened;
pub(super) use self::scene::Markup;
pub(super) use self::units::typeset;
use super::args::words;
use super::output::Output;
use super::text::{count, human_bytes};
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

    /// Width and height of the picture in units; text is 12 units high.
    #[arg(long, value_name = "WxH", default_value = "800x500", value_parser = size)]
    size: (u32, u32),

    /// Pixels of a PNG for each unit of --size; 2 or 3 is good for print.
    #[arg(long, value_name = "N", default_value = "1", value_parser = scale)]
    scale: f64,

    /// Least and greatest value to draw, or percentiles such as 2%:98% [default: those of the array].
    #[arg(long, value_name = "MIN:MAX", value_parser = range, allow_hyphen_values = true)]
    range: Option<Range>,

    /// Draw values by their logarithms; those that are not positive have none.
    #[arg(long)]
    log: bool,

    /// Exchange the axes.
    #[arg(long)]
    transpose: bool,

    /// Title of the picture; none if empty [default: the long name, the slice and the array].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Replace a file that is already there.
    #[arg(short, long)]
    force: bool,

    /// Threads to use [default: one for each core].
    #[arg(short, long, value_name = "N", value_parser = super::args::jobs)]
    jobs: Option<usize>,
}

/// Most pixels of a side.
const MOST_PIXELS: usize = 10_000;

/// Least and most units of a side.
const SIDES: std::ops::RangeInclusive<u32> = 100..=10_000;

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |text: &str| text.parse().ok().filter(|side| SIDES.contains(side));
    text.split_once(['x', 'X'])
        .and_then(|(width, height)| side(width).zip(side(height)))
        .ok_or_else(|| {
            "expected a width and a height from 100 to 10000, such as 800x500".to_owned()
        })
}

fn scale(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.25..=20.0).contains(number));
    number.ok_or_else(|| "expected a number from 0.25 to 20, such as 2".to_owned())
}

fn range(text: &str) -> Result<Range, String> {
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
        "expected two numbers, the lesser first, such as -1:2.5, or two percentiles, such as 2%:98%"
            .to_owned()
    })
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
    if args.log && matches!(args.range, Some(Range::Values(..=0.0, _))) {
        return Err(Failure::unsupported("--log needs a --range above 0"));
    }
    let (width, height) = args.size;
    let pixels = |side: u32| count(f64::from(side) * args.scale);
    if pixels(width.max(height)) > MOST_PIXELS {
        return Err(Failure::unsupported(format!(
            "a side of the picture would have more than {MOST_PIXELS} pixels; give a smaller --size or --scale"
        )));
    }
    let (pack, member) = array::open(&args.archive, args.member.as_deref(), &output.progress())?;
    let array = pack.array(&member)?;
    let array = array.in_shape_order()?;
    // No more cells than there are pixels between the labels.
    let (mut columns, mut rows) =
        (pixels(width.saturating_sub(150).max(50)), pixels(height.saturating_sub(90).max(50)));
    if args.output.is_none() {
        (columns, rows) = terminal::Screen::new(output).pixels();
    }
    if args.transpose && args.output.is_some() {
        (columns, rows) = (rows, columns);
    } else if args.transpose {
        rows = columns;
    }
    let mut options = SampleOptions::default();
    options.slice.clone_from(&args.slice);
    options.columns = columns;
    options.rows = rows;
    options.jobs = args.jobs;
    let mut sample = array.sample(&options)?;
    let (is_empty, quantity) = match &mut sample {
        Sample::Line(line) if line.axis.is_none() => {
            return Err(without_picture(args, "a single number"));
        }
        Sample::Line(line) => (line.columns.is_empty(), &line.quantity),
        Sample::Grid(grid) => {
            if args.transpose {
                transpose(grid);
            }
            (grid.cells.is_empty(), &grid.quantity)
        }
        _ => return Err(without_picture(args, "no line and no image")),
    };
    if is_empty {
        return Err(without_picture(args, "without elements"));
    }
    let applied = quantity.scale_and_offset;
    let style = Chart {
        width,
        height,
        scale: args.scale,
        map: args.cmap,
        range: args.range,
        is_log: args.log,
        is_turned: args.transpose && args.output.is_some(),
        title: args.title.clone(),
        path: member,
        ..Chart::default()
    };
    let Some(path) = &args.output else {
        output.result(&terminal::preview(&sample, &style, output))?;
        return Ok(Ending::Clean);
    };
    let (scene, _) = draw(&sample, &style);
    let bytes = match extension.as_deref() {
        Some("svg") => scene.to_svg()?.into_bytes(),
        _ => scene.to_png(args.scale)?,
    };
    ra_pack::files::write_new(path, args.force, |out| out.write_all(&bytes))?;
    if let Some((factor, offset)) = applied {
        output.note(&format!("applied scale_factor {factor} and add_offset {offset}"));
    }
    output.note(&format!("wrote {} ({})", escape_path(path), human_bytes(bytes.len() as u64)));
    Ok(Ending::Clean)
}

/// That there is nothing to draw, with the command that shows it as text.
fn without_picture(args: &PlotArgs, what: &str) -> Failure {
    let member = args.member.as_ref().map(|member| format!(" {}", shell::word(member.as_bytes())));
    let slice =
        args.slice.as_ref().map(|slice| format!(" --slice {}", shell::word(slice.as_bytes())));
    let name = args.member.as_ref().map_or_else(
        || escape_path(&args.archive).to_string(),
        |member| ra_pack::path::escape(member).to_string(),
    );
    let part = if args.slice.is_some() { "this part of " } else { "" };
    Failure::unsupported(format!(
        "{part}`{name}` is {what}; use `ra-pack show {}{}{}`",
        shell::path(&args.archive),
        member.unwrap_or_default(),
        slice.unwrap_or_default(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_of_values_or_of_percentiles() {
        assert_eq!(range("-1:2.5"), Ok(Range::Values(-1.0, 2.5)));
        assert_eq!(range(" 2%:98%"), Ok(Range::Percent(2.0, 98.0)));
        for wrong in ["2:1", "1", "2%:5", "2%:101%", "98%:2%", "nan:1", "1:inf"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
