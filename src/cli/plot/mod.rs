//! `ra-pack plot`

mod axis;
mod chart;
mod preview;
mod scene;

use std::path::PathBuf;

use clap::Args;
use ra_pack::{SampleOptions, escape_path};

pub(super) use self::chart::{Chart, Palette, line_scale, pieces};
pub(super) use self::scene::{
    MAX_NAMED, Markup, RD_BU, Rgb, base64, color, data_uri, of_name, png,
};

use self::preview::Terminal;
use self::scene::{COLOR_MAPS, ColorMap};
use super::args::words;
use super::array;
use super::output::Output;
use super::text::human_bytes;
use super::{Ending, Failure};

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
        ra_pack::check_apart(&args.archive, path)?;
    }
    if args.log && args.range.is_some_and(|(low, _)| low <= 0.0) {
        return Err(Failure::unsupported("--log needs a --range above 0"));
    }
    let (pack, member) = array::open(&args.archive, args.member.as_deref(), &output.progress())?;
    let array = pack.array(&member)?.in_shape_order()?;
    let (columns, rows) = output.size();
    let (width, height) = args.size;
    let mut options = SampleOptions {
        slice: args.slice.clone(),
        columns: width as usize,
        rows: height as usize,
        jobs: args.jobs,
    };
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
        title: format!("{}{}", ra_pack::escape(&member), ra_pack::escape(&slice)),
    };
    let Some(path) = &args.output else {
        let terminal =
            Terminal { columns, rows, color: output.color_out, unicode: Output::is_unicode() };
        output.result(&preview::text(&sample, &style, terminal))?;
        return Ok(Ending::Clean);
    };
    let scene = chart::draw(&sample, &style);
    let bytes = match extension.as_deref() {
        Some("svg") => scene.to_svg()?.into_bytes(),
        _ => scene.to_pixels().to_png()?,
    };
    ra_pack::write_new(path, args.force, |out| out.write_all(&bytes))?;
    output.note(&format!("wrote {} ({})", escape_path(path), human_bytes(bytes.len() as u64)));
    Ok(Ending::Clean)
}
