//! `ra-pack describe` and `ra-pack reshape`

use std::path::PathBuf;

use clap::Args;
use ra_pack::describe::DescribeOptions;
use ra_pack::ndl;
use ra_pack::path::{escape, escape_path};

use super::output::Output;
use super::text::counted;
use super::{Ending, Failure, diagnostics};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack describe run1/temperature.ra
  ra-pack describe --write --dimcoords exp
  ra-pack describe --update exp/run1/temperature.ra
  ra-pack describe exp.zip")]
pub(crate) struct DescribeArgs {
    /// An array, a directory or an archive; the last two give one document.
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// Write a description beside every array of a directory that has none; touch nothing else.
    #[arg(long, group = "writing")]
    write: bool,

    /// Bring the description of an array, or every description of a directory, in line with the
    /// header.
    #[arg(long, group = "writing", conflicts_with = "dimcoords")]
    update: bool,

    /// Turn undescribed 1-D arrays with the name of a coordinate (time, lat, lon, x, y, z, depth,
    /// frequency, ...) into dimension coordinates, and let other undescribed arrays name them where
    /// exactly one is as long as the axis.
    #[arg(long)]
    dimcoords: bool,

    /// Print the description, or what was written or changed, as JSON on standard output.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &DescribeArgs, output: &Output) -> Result<Ending, Failure> {
    let (dimcoords, progress) = (args.dimcoords, output.progress());
    let mut options = DescribeOptions::default();
    options.dimcoords = dimcoords;
    options.progress = progress;
    if args.update {
        return update(args, &options, output);
    }
    if !args.write {
        let text = ra_pack::describe::describe_target(&args.target, &options)?;
        if args.json {
            output.json(&ndl::parse(text.as_bytes()).document)?;
        } else {
            output.file(text.as_bytes())?;
        }
        return Ok(Ending::Clean);
    }
    let mut report = ra_pack::describe::write_descriptions(&args.target, &options)?;
    diagnostics::show(&args.target, &mut report.findings, &report.leftovers, output);
    if args.json {
        output.json(&report)?;
        return Ok(Ending::of(&report.findings));
    }
    for name in &report.written {
        output.note(&format!("wrote {}", escape_path(&args.target.join(name))));
    }
    if report.written.is_empty() {
        output.note(&format!("{} described already", counted(report.described, "array")));
    }
    Ok(Ending::of(&report.findings))
}

fn update(args: &DescribeArgs, with: &DescribeOptions, output: &Output) -> Result<Ending, Failure> {
    let mut report = ra_pack::describe::update_descriptions(&args.target, with)?;
    diagnostics::show(&args.target, &mut report.findings, &[], output);
    if args.json {
        output.json(&report)?;
        return Ok(Ending::of(&report.findings));
    }
    for change in &report.changes {
        output.note(&format!(
            "{}:{}: {} of {}: {} is now {}",
            escape_path(&change.document),
            change.line,
            change.key,
            escape(&change.array),
            escape(&change.from),
            escape(&change.to),
        ));
    }
    if report.changes.is_empty() && report.is_clean() {
        let count = counted(report.unchanged, "description");
        output.note(&format!("{count} in line with the headers already"));
    }
    Ok(Ending::of(&report.findings))
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack reshape run1/frames.ra 512 512 200
  ra-pack reshape run1/frames.ra 512 -1")]
pub(crate) struct ReshapeArgs {
    /// The array (.ra).
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Its new extents; none for a single element.
    #[arg(value_name = "N", value_parser = extent, allow_negative_numbers = true)]
    shape: Vec<Option<u64>>,

    /// Print a report as JSON.
    #[arg(long)]
    json: bool,
}

/// An extent; nothing when it follows from the others.
fn extent(text: &str) -> Result<Option<u64>, String> {
    match text {
        "-1" => Ok(None),
        _ => text.parse().map(Some).map_err(|_| {
            "expected a length such as 149, or -1 for the one that follows from the others"
                .to_owned()
        }),
    }
}

pub(super) fn reshape(args: &ReshapeArgs, output: &Output) -> Result<Ending, Failure> {
    let report = ra_pack::describe::reshape(&args.file, &args.shape)?;
    if args.json {
        output.json(&report)?;
        return Ok(Ending::Clean);
    }
    let name = escape_path(&report.array).to_string();
    output.note(&format!("{name}: {:?} is now {:?}", report.from, report.to));
    for document in &report.documents {
        output.note(&format!("{}: in line", escape_path(document)));
    }
    Ok(Ending::Clean)
}
