//! `ra-pack reshape`

use std::path::PathBuf;

use clap::Args;

use super::output::Output;
use super::{Ending, Failure};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack reshape run1/frames.ra 512 512 200
  ra-pack reshape run1/frames.ra 512 -1")]
pub(crate) struct Reshape {
    /// The array (.ra).
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Its new extents; none for a single element.
    #[arg(value_name = "N", value_parser = extent, allow_negative_numbers = true)]
    shape: Vec<Extent>,

    /// Print a report as JSON.
    #[arg(long)]
    json: bool,
}

/// An extent, or that it follows from the others.
#[derive(Debug, Clone, Copy)]
struct Extent(Option<u64>);

fn extent(text: &str) -> Result<Extent, String> {
    match text {
        "-1" => Ok(Extent(None)),
        _ => text
            .parse()
            .map(|extent| Extent(Some(extent)))
            .map_err(|_| "expected a number of elements, or -1".to_owned()),
    }
}

pub(super) fn run(args: &Reshape, output: &Output) -> Result<Ending, Failure> {
    let shape: Vec<_> = args.shape.iter().map(|Extent(extent)| *extent).collect();
    let report = ra_pack::reshape(&args.file, &shape)?;
    if args.json {
        output.json(&report)?;
        return Ok(Ending::Clean);
    }
    let name = ra_pack::escape(&report.array.to_string_lossy()).to_string();
    output.note(&format!("{name}: {:?} is now {:?}", report.from, report.to));
    for document in &report.documents {
        output.note(&format!("{}: in line", ra_pack::escape(&document.to_string_lossy())));
    }
    Ok(Ending::Clean)
}
