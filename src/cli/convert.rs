//! `ra-pack convert`

use std::path::PathBuf;

use clap::Args;
use ra_pack::convert::{ConvertOptions, ConvertReport, Converted, Reinterpret};
use ra_pack::ndl;
use ra_pack::path::escape;

use super::args::{Choices, Common, compression, words};
use super::output::Output;
use super::text::{counted, human_bytes};
use super::{Ending, Failure, diagnostics};

/// Arrays that are told of one by one; of more, only those with something to tell.
const MAX_TOLD: usize = 20;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack convert temperature.npy temperature.ra
  ra-pack convert --order row big.npy big.ra
  ra-pack convert results.npz results/
  ra-pack convert results.npz results.zip
  ra-pack convert exp.zip exp.npz --compression deflate
  ra-pack convert exp.zip t.npy --member run1/temperature
  ra-pack convert lz4.ra plain.ra")]
pub(crate) struct ConvertArgs {
    /// What to read.
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// What to write.
    #[arg(value_name = "OUT")]
    output: PathBuf,

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

    /// Replace what is there already, but never a directory with something in it.
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

pub(super) fn run(args: &ConvertArgs, output: &Output) -> Result<Ending, Failure> {
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
    options.force = args.force;
    options.jobs = args.common.jobs;
    options.progress = output.progress();
    let mut report = ra_pack::convert(&args.input, &args.output, &options)?;
    let of_arrays = report.arrays.iter_mut().flat_map(|array| &mut array.losses);
    for loss in report.losses.iter_mut().chain(of_arrays) {
        *loss = diagnostics::in_own_words(loss);
    }
    diagnostics::show(&args.input, &mut [], &report.leftovers, output);
    tell_losses(&report, output);
    if args.common.json {
        output.json(&report)?;
        return Ok(Ending::Clean);
    }
    let is_few = report.arrays.len() <= MAX_TOLD;
    for array in report.arrays.iter().filter(|array| is_few || array.renamed) {
        output.note(&line(array));
    }
    output.note(&format!(
        "wrote {} to {} ({}, {})",
        counted(report.arrays.len() as u64, "array"),
        ra_pack::path::escape_path(&report.output),
        report.to,
        human_bytes(report.bytes),
    ));
    Ok(Ending::Clean)
}

/// One converted array on a line.
fn line(array: &Converted) -> String {
    format!(
        "{} -> {}: {} {:?}, {}{}{}",
        escape(&array.from),
        escape(&array.to),
        array.type_name(),
        array.shape,
        array.order.word(),
        if array.reordered { ", reordered" } else { "" },
        if array.renamed { ", renamed" } else { "" },
    )
}

fn tell_losses(report: &ConvertReport, output: &Output) {
    let warn = |text: &str| output.message(&format!("warning: {}", escape(text)));
    for loss in &report.losses {
        warn(loss);
    }
    let losing: Vec<_> = report.arrays.iter().filter(|array| !array.losses.is_empty()).collect();
    for array in losing.iter().take(MAX_TOLD) {
        warn(&format!("{}: {}", array.from, array.losses.join("; ")));
    }
    if let Some(more @ 1..) = losing.len().checked_sub(MAX_TOLD) {
        warn(&format!("{more} more lose something; --json lists it"));
    }
}
