//! `ra-pack plot`

mod chart;
mod colors;
mod paint;
mod preview;
mod scene;
mod svg;
mod ticks;

use std::path::PathBuf;

use clap::Args;
use ra_pack::{SampleOptions, escape_path};

pub(super) use self::colors::{ColorMap, MAX_NAMED, of_name};
pub(super) use self::svg::{base64, data_uri};

use self::chart::Style;
use self::preview::Terminal;
use super::array;
use super::output::Output;
use super::{Ending, Failure};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack plot exp.zip run1/temperature.ra -o temperature.png
  ra-pack plot exp.zip run1/temperature.ra -o temperature.svg --cmap magma --range 5:15
  ra-pack plot exp.zip run1/velocity.ra --slice '0,:,:' -o eastward.png
  ra-pack plot temperature.ra")]
pub(crate) struct Plot {
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
    #[arg(long, value_name = "NAME", ignore_case = true)]
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

/// What a picture is written as.
#[derive(Debug, Clone, Copy)]
enum Form {
    Png,
    Svg,
}

pub(super) fn run(args: &Plot, output: &Output) -> Result<Ending, Failure> {
    let unsupported = |text: &str| ra_pack::Error::Unsupported(text.to_owned());
    let form = match &args.output {
        Some(path) => {
            let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
            match extension.as_ref().and_then(|extension| extension.to_str()) {
                Some("png") => Some(Form::Png),
                Some("svg") => Some(Form::Svg),
                _ => {
                    let text = "a picture is written as PNG or SVG; give --output a name that ends in .png \
                                or .svg";
                    return Err(unsupported(text).into());
                }
            }
        }
        None if output.is_terminal() => None,
        None => {
            let text = "there is no terminal to show a preview on; give -o FILE.png or -o FILE.svg";
            return Err(unsupported(text).into());
        }
    };
    if let Some(path) = &args.output {
        ra_pack::check_apart(&args.archive, path)?;
    }
    if args.log && args.range.is_some_and(|(low, _)| low <= 0.0) {
        return Err(unsupported("--log needs a --range above 0").into());
    }
    let (pack, member) = array::open(&args.archive, args.member.as_deref(), &output.progress())?;
    let array = pack.array(&member)?.in_shape_order()?;
    let (columns, rows) = output.size();
    let (width, height) = match form {
        Some(_) => args.size,
        None => (u32::try_from(columns).unwrap_or(80) * 2, u32::try_from(rows).unwrap_or(24) * 2),
    };
    let side = |side: u32| usize::try_from(side).unwrap_or(usize::MAX);
    let options = SampleOptions {
        slice: args.slice.clone(),
        columns: side(width),
        rows: side(height),
        jobs: args.jobs,
    };
    let sample = array.sample(&options)?;
    let slice = args.slice.as_ref().map_or_else(String::new, |slice| format!(" [{slice}]"));
    let style = Style {
        width,
        height,
        map: args.cmap,
        range: args.range,
        is_log: args.log,
        title: format!("{}{}", ra_pack::escape(&member), ra_pack::escape(&slice)),
    };
    let Some((form, path)) = form.zip(args.output.as_ref()) else {
        let terminal =
            Terminal { columns, rows, color: output.color_out(), unicode: Output::is_unicode() };
        output.result(&preview::text(&sample, &style, terminal))?;
        return Ok(Ending::Clean);
    };
    let scene = chart::draw(&sample, &style);
    let bytes = match form {
        Form::Png => scene.to_png()?,
        Form::Svg => scene.to_svg()?.into_bytes(),
    };
    ra_pack::write_new(path, args.force, |out| out.write_all(&bytes))?;
    let bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    output.note(&format!("wrote {} ({})", escape_path(path), super::output::human_bytes(bytes)));
    Ok(Ending::Clean)
}
