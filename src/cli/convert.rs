//! `ra-pack convert`

use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::convert::{ConvertOptions, ConvertReport, Converted, Reinterpret, convert_all};
use ra_pack::inspect::Patterns;
use ra_pack::message::Words;
use ra_pack::ndl;
use ra_pack::path::{escape, escape_path};
use ra_pack::{Container, Error};

use super::array::{Stored, extents};
use super::common::{Choices, Common, FORMATS, compression, words, words_but};
use super::output::Output;
use super::text::{counted, human_bytes};
use super::{Ending, Failure, diagnostics, shell};

#[derive(Debug, Args)]
#[command(
    override_usage = "ra-pack convert [OPTIONS] <IN>... <OUT>",
    after_long_help = "\
Examples:
  ra-pack convert data/ arrays/
  ra-pack convert --dimcoords data/ arrays.zip
  ra-pack convert temperature.npy big.npy arrays/
  ra-pack convert temperature.npy temperature.ra
  ra-pack convert --order row big.npy big.ra
  ra-pack convert results.npz results/
  ra-pack convert results.npz results.zip
  ra-pack convert surface.nc surface.zip
  ra-pack convert exp.zip exp.npz --compression deflate
  ra-pack convert exp.zip t.npy --member run1/temperature
  ra-pack convert lz4.ra plain.ra"
)]
pub(crate) struct ConvertArgs {
    /// Files and directories to read, then the output: a file, a directory or an archive.
    #[arg(value_name = "IN", required = true)]
    paths: Vec<PathBuf>,

    /// Write to this file, directory or archive; all other paths are then inputs.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Read IN in this format [default: inferred from name and first bytes].
    #[arg(long, value_name = "FORMAT", value_parser = words_but(FORMATS, &["csv", "json"]))]
    from: Option<ra_pack::convert::ArrayFormat>,

    /// Write OUT in this format [default: inferred from the name].
    #[arg(long = "format", alias = "to", value_name = "FORMAT", value_parser = words_but(FORMATS, &["nc", "h5"]))]
    to: Option<ra_pack::convert::ArrayFormat>,

    /// Convert only this array, such as run1/temperature.
    #[arg(long, value_name = "NAME")]
    member: Option<String>,

    /// Write arrays in this order [default: column when converting another format to RawArray, otherwise
    /// unchanged].
    #[arg(long, value_name = "ORDER", value_parser = words(ORDERS))]
    order: Option<ndl::Order>,

    /// Keep big-endian byte order and record it, instead of swapping the bytes.
    #[arg(long)]
    keep_endian: bool,

    /// Drop metadata after the elements of a .ra; by default a .ra output keeps it.
    #[arg(long)]
    drop_metadata: bool,

    /// Write metadata after the elements of a .ra to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "drop_metadata")]
    keep_metadata: Option<PathBuf>,

    /// Convert types with no counterpart: bfloat16 reads NumPy `V2` as bfloat16; void writes unsupported types
    /// as NumPy `Vn`.
    #[arg(long = "as", value_name = "TYPE", value_parser = words(TYPES))]
    reinterpret: Option<Reinterpret>,

    /// Also read the masks of a .ds, as NAME.mask; when writing a .ds, store missing values as masks.
    #[arg(long)]
    masks: bool,

    /// Compress members of an .npz or zip: stored, deflate[:LEVEL]; in a zip also zstd[:LEVEL].
    #[arg(long, value_name = "METHOD", value_parser = compression)]
    compression: Option<ra_pack::archive::Compression>,

    /// Turn 1-D arrays named like a coordinate (time, lat, lon, x, y, z, depth, ...) into coordinates, and name the
    /// dimensions of other arrays that have the same length. Described arrays do not change.
    #[arg(long)]
    dimcoords: bool,

    /// Convert only the arrays of a directory, without copying other files.
    #[arg(long)]
    arrays_only: bool,

    /// Convert the pictures of a directory, too.
    #[arg(long)]
    images: bool,

    /// Leave out files that match, such as `*.tmp` or `run1/raw`. Repeatable.
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Follow symbolic links instead of rejecting them.
    #[arg(long)]
    dereference: bool,

    #[command(flatten)]
    stored: Stored,

    /// Replace existing files, or the whole archive; keep descriptions that still fit.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    common: Common,
}

const ORDERS: &Choices<ndl::Order> = &[
    ("column", ndl::Order::Column, "Column-major: the first index changes fastest, as in RawArray"),
    ("row", ndl::Order::Row, "Row-major: the last index changes fastest, as in most other formats"),
];

const TYPES: &Choices<Reinterpret> = &[
    ("bfloat16", Reinterpret::BFloat16, "Read NumPy V2 as bfloat16"),
    ("void", Reinterpret::Void, "Write unsupported types as NumPy Vn"),
];

impl ConvertArgs {
    /// Splits the paths into inputs and output.
    fn paths(&self) -> Result<(&[PathBuf], &PathBuf), Failure> {
        match (&self.output, &self.paths[..]) {
            (Some(output), inputs) => Ok((inputs, output)),
            (None, [inputs @ .., output]) if !inputs.is_empty() => Ok((inputs, output)),
            (None, paths) => {
                let input = paths.first().map(|path| shell::path(path)).unwrap_or_default();
                Err(Failure::options(format!(
                    "the output is missing; name it last: `ra-pack convert {input} arrays/`"
                )))
            }
        }
    }
}

pub(super) fn run(args: &ConvertArgs, output: &Output) -> Result<Ending, Failure> {
    let (inputs, target) = args.paths()?;
    let options = ConvertOptions {
        from: args.from,
        to: args.to,
        member: args.member.clone(),
        order: args.order,
        keep_endian: args.keep_endian,
        drop_metadata: args.drop_metadata,
        keep_metadata: args.keep_metadata.clone(),
        reinterpret: args.reinterpret,
        masks: args.masks,
        compression: args.compression,
        dimcoords: args.dimcoords,
        arrays_only: args.arrays_only,
        exclude: Patterns::new(&args.exclude)?,
        dereference: args.dereference,
        images: args.images,
        raw: args.stored.raw,
        force: args.force,
        jobs: args.common.jobs,
        progress: output.progress(),
    };
    let report = convert_all(inputs, target, &options).map_err(|error| into(error, target))?;
    for failed in &report.failed {
        let place = if inputs.len() == 1 { &report.target } else { Path::new(&failed.name) };
        diagnostics::show(place, &failed.findings, &[], output);
    }
    diagnostics::show(target, &[], &report.leftovers, output);
    if args.common.json {
        print_losses(&report, output);
        output.json(&report)?;
        return Ok(ending(&report));
    }
    show_lines(&report, output);
    let copied = match report.copied.len() as u64 {
        0 => String::new(),
        count => format!(" and {}", counted(count, "other file")),
    };
    output.note(&format!(
        "wrote {}{copied} to {} ({}, {})",
        counted(report.arrays.len() as u64, "array"),
        escape_path(&report.output),
        report.to,
        human_bytes(report.bytes),
    ));
    show_failed(&report, output);
    Ok(ending(&report))
}

/// Adds the command for an archive that exists to the error.
fn into(error: Error, target: &Path) -> Failure {
    let is_archive = Container::from_extension(target).is_some();
    let exists = matches!(&error, Error::AlreadyExists { path } if path == target);
    if !(is_archive && exists) {
        return error.into();
    }
    let archive = shell::path(target);
    Failure::from(error).next(format!("`ra-pack add --convert {archive} FILE` adds files to it"))
}

pub(super) fn ending(report: &ConvertReport) -> Ending {
    if report.failed.is_empty() { Ending::Clean } else { Ending::Findings }
}

/// Prints a line for each file of the output, and warnings.
pub(super) fn show_lines(report: &ConvertReport, output: &Output) {
    for array in &report.arrays {
        output.note(&line(array));
    }
    for name in &report.copied {
        output.note(&format!("{}: copied", escape(name)));
    }
    print_losses(report, output);
}

/// Prints the files that are not in the output.
pub(super) fn show_failed(report: &ConvertReport, output: &Output) {
    if !report.failed.is_empty() {
        let count = counted(report.failed.len() as u64, "file");
        output.message(&format!("ra-pack: {count} could not be converted:"));
        for failed in &report.failed {
            output.message(&format!(
                "  {}: {}",
                escape(&failed.name),
                escape(&failed.reason.in_words(Words::Command))
            ));
        }
    }
}

/// Formats one converted array as a line.
fn line(array: &Converted) -> String {
    let names = array.dimensions.iter().map(|name| Some(&**name).filter(|name| !name.is_empty()));
    let axes = names.chain(std::iter::repeat(None)).zip(&array.shape);
    format!(
        "{} -> {}: {} {}, {}{}{}",
        escape(&array.from),
        escape(&array.to),
        array.type_name(),
        extents(axes, ndl::Order::Column),
        array.order.word(),
        if array.reordered { ", reordered" } else { "" },
        if array.renamed { ", renamed" } else { "" },
    )
}

/// Prints a warning for each array of which the output does not hold everything.
fn print_losses(report: &ConvertReport, output: &Output) {
    show_losses(report.losses.iter(), output);
    let lossy = report.arrays.iter().filter(|array| !array.losses.is_empty());
    let losses = lossy.map(|array| {
        let losses = array.losses.iter().map(|loss| loss.in_words(Words::Command));
        format!("{}: {}", array.from, losses.collect::<Vec<_>>().join("; "))
    });
    show_losses(losses, output);
}

/// Prints a warning for each loss.
pub(super) fn show_losses(losses: impl IntoIterator<Item = impl AsRef<str>>, output: &Output) {
    for loss in losses {
        output.message(&format!("warning: {}", escape(loss.as_ref())));
    }
}
