//! `ra-pack convert`

use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::convert::{ConvertOptions, ConvertReport, Converted, Reinterpret, convert_all};
use ra_pack::ndl;
use ra_pack::path::{escape, escape_path};

use super::args::{Choices, Common, compression, words};
use super::array::extents;
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
  ra-pack convert exp.zip exp.npz --compression deflate
  ra-pack convert exp.zip t.npy --member run1/temperature
  ra-pack convert lz4.ra plain.ra"
)]
pub(crate) struct ConvertArgs {
    /// Files and directories to read, and last what to write: a file, a directory or an archive.
    #[arg(value_name = "IN", required = true)]
    paths: Vec<PathBuf>,

    /// Write to this file, directory or archive; every other path is then one to read.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// The form of IN: ra, npy, npz, ds, png, directory, zip, tar, tar.gz or tar.zst.
    #[arg(long, value_name = "FORM")]
    from: Option<ra_pack::convert::ArrayFormat>,

    /// The form of OUT: as for IN, or raw, csv or json.
    #[arg(long, value_name = "FORM")]
    to: Option<ra_pack::convert::ArrayFormat>,

    /// The one array to convert, such as run1/temperature.
    #[arg(long, value_name = "NAME")]
    member: Option<String>,

    /// How OUT holds its arrays. Formats of others become column in RawArray; otherwise everything stays as
    /// it is where OUT allows.
    #[arg(long, value_name = "ORDER", value_parser = words(ORDERS))]
    order: Option<ndl::Order>,

    /// Leave big-endian numbers as they are and say so, instead of swapping them.
    #[arg(long)]
    keep_endian: bool,

    /// Leave out what follows the elements of a .ra, which otherwise stays in another .ra.
    #[arg(long)]
    drop_metadata: bool,

    /// Write what follows the elements of a .ra to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "drop_metadata")]
    keep_metadata: Option<PathBuf>,

    /// What elements without a counterpart are: bfloat16 takes two bytes without a type in .npy for brain
    /// floats; void writes what numpy has no type for as bytes.
    #[arg(long = "as", value_name = "TYPE", value_parser = words(TYPES))]
    reinterpret: Option<Reinterpret>,

    /// Also give the masks of a .ds, as NAME.mask; to .ds, make masks of the elements that stand for none.
    #[arg(long)]
    masks: bool,

    /// How members of an .npz or a zip are compressed: stored, deflate[:LEVEL]; of a zip also
    /// zstd[:LEVEL].
    #[arg(long, value_name = "METHOD", value_parser = compression)]
    compression: Option<ra_pack::archive::Compression>,

    /// Turn 1-D arrays with the name of a coordinate (time, lat, lon, x, y, z, depth, ...) into coordinates, and
    /// name the dimensions of other arrays that are as long as one of them. Described arrays do not change.
    #[arg(long)]
    dimcoords: bool,

    /// Leave out files of a directory that are not arrays, instead of copying them.
    #[arg(long)]
    arrays_only: bool,

    /// Replace files that are there already. Descriptions that still fit the new arrays stay.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    common: Common,
}

const ORDERS: &Choices<ndl::Order> = &[
    ("column", ndl::Order::Column, "The first index runs fastest, as RawArray has it"),
    ("row", ndl::Order::Row, "The last index runs fastest, as most other formats have it"),
];

const TYPES: &Choices<Reinterpret> = &[
    ("bfloat16", Reinterpret::BFloat16, "Brain floats"),
    ("void", Reinterpret::Void, "Bytes without a type"),
];

impl ConvertArgs {
    /// What to read, and what to write.
    fn paths(&self) -> Result<(&[PathBuf], &PathBuf), Failure> {
        match (&self.output, &self.paths[..]) {
            (Some(output), inputs) => Ok((inputs, output)),
            (None, [inputs @ .., output]) if !inputs.is_empty() => Ok((inputs, output)),
            (None, paths) => {
                let input = paths.first().map(|path| shell::path(path)).unwrap_or_default();
                Err(Failure::unsupported(format!(
                    "the output is missing; name it last: `ra-pack convert {input} arrays/`"
                )))
            }
        }
    }
}

pub(super) fn run(args: &ConvertArgs, output: &Output) -> Result<Ending, Failure> {
    let (inputs, target) = args.paths()?;
    let mut options = ConvertOptions::default();
    options.from = args.from;
    options.to = args.to;
    options.member.clone_from(&args.member);
    options.order = args.order;
    options.keep_endian = args.keep_endian;
    options.drop_metadata = args.drop_metadata;
    options.keep_metadata.clone_from(&args.keep_metadata);
    options.reinterpret = args.reinterpret;
    options.masks = args.masks;
    options.compression = args.compression;
    options.dimcoords = args.dimcoords;
    options.arrays_only = args.arrays_only;
    options.force = args.force;
    options.jobs = args.common.jobs;
    options.progress = output.progress();
    let mut report = convert_all(inputs, target, &options)?;
    let of_arrays = report.arrays.iter_mut().flat_map(|array| &mut array.losses);
    for loss in report.losses.iter_mut().chain(of_arrays) {
        *loss = diagnostics::in_own_words(loss);
    }
    for failed in &mut report.failed {
        failed.reason = diagnostics::in_own_words(&failed.reason);
        let place = if inputs.len() == 1 { &report.input } else { Path::new(&failed.name) };
        diagnostics::show(place, &mut failed.findings, &[], output);
    }
    diagnostics::show(target, &mut [], &report.leftovers, output);
    let ending = if report.failed.is_empty() { Ending::Clean } else { Ending::Findings };
    if args.common.json {
        tell_losses(&report, output);
        output.json(&report)?;
        return Ok(ending);
    }
    for array in &report.arrays {
        output.note(&line(array));
    }
    for name in &report.copied {
        output.note(&format!("{}: copied", escape(name)));
    }
    tell_losses(&report, output);
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
    if !report.failed.is_empty() {
        let count = counted(report.failed.len() as u64, "file");
        output.message(&format!("ra-pack: {count} could not be converted:"));
        for failed in &report.failed {
            output.message(&format!("  {}: {}", escape(&failed.name), escape(&failed.reason)));
        }
    }
    Ok(ending)
}

/// One converted array on a line.
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

/// Says on one line for each array what the output does not hold of it.
fn tell_losses(report: &ConvertReport, output: &Output) {
    let warn = |text: &str| output.note(&format!("warning: {}", escape(text)));
    for loss in &report.losses {
        warn(loss);
    }
    for array in report.arrays.iter().filter(|array| !array.losses.is_empty()) {
        warn(&format!("{}: {}", array.from, array.losses.join("; ")));
    }
}
