//! `ra-pack refs`: references that present a pack as a Zarr store.

use std::path::PathBuf;

use clap::Args;
use ra_pack::convert::{RefsOptions, RefsReport};
use ra_pack::path::{escape, escape_path};

use super::common::jobs;
use super::output::Output;
use super::text::{counted, human_bytes};
use super::{Ending, Failure, diagnostics, files};

/// Number of arrays and attributes that are named if many are left out.
const NAMED: usize = 10;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack refs exp.zip -o exp.json
  ra-pack refs exp.zip --url https://example.org/exp.zip -o exp.json
  ra-pack refs exp.zip --skip | jq '.refs | keys'

The page docs/zarr.md opens the references in xarray, zarr, dask and VirtualiZarr.")]
pub(crate) struct RefsArgs {
    /// Archive, directory or array (.ra).
    #[arg(value_name = "TARGET")]
    archive: PathBuf,

    /// Write to this file; `-` is standard output (default).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Address at which readers find TARGET, such as that of an upload [default: its absolute path, or its URL].
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Leave out arrays that Zarr readers cannot read, such as compressed ones.
    #[arg(long)]
    skip: bool,

    /// Replace an existing file.
    #[arg(short, long)]
    force: bool,

    /// Use N threads [default: one per core].
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    jobs: Option<usize>,
}

pub(super) fn run(args: &RefsArgs, output: &Output) -> Result<Ending, Failure> {
    let options = RefsOptions {
        url: args.url.clone(),
        skip: args.skip,
        force: args.force,
        jobs: args.jobs,
        progress: output.progress(),
    };
    let to_file = args.output.as_ref().filter(|path| path.as_os_str() != "-");
    let report = match to_file {
        Some(path) => ra_pack::convert::write_refs(&args.archive, path, &options)?,
        None => ra_pack::convert::refs_to(&args.archive, &mut output.bytes(), &options)?,
    };
    diagnostics::show(&args.archive, &report.findings, &report.leftovers, output);
    print_losses(&report, output);
    if let Some(path) = to_file {
        output.note(&format!(
            "wrote {} ({}, {} in {})",
            escape_path(path),
            human_bytes(files::size(path)?),
            counted(report.arrays, "array"),
            counted(report.chunks, "chunk"),
        ));
    }
    Ok(Ending::Clean)
}

/// Prints which arrays and metadata are not in the references.
fn print_losses(report: &RefsReport, output: &Output) {
    let skipped = report.skipped.iter().map(|skipped| {
        let (name, reason) = (escape(&skipped.name), escape(&skipped.reason));
        format!("`{name}` is left out: {reason}")
    });
    let all = skipped.chain(report.losses.iter().cloned());
    for loss in all.take(NAMED) {
        output.message(&format!("warning: {loss}"));
    }
    let count = report.skipped.len() + report.losses.len();
    if let Some(more) = count.checked_sub(NAMED).filter(|more| *more > 0) {
        output.message(&format!("warning: {more} more arrays or attributes are left out"));
    }
}
