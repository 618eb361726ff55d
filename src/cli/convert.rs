//! `ra-pack convert`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ra_pack::{ConvertOptions, ConvertReport, Converted, Reinterpret, escape, ndl};

use super::args::{Common, compression};
use super::numbers::{counted, human_bytes};
use super::output::Output;
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
pub(crate) struct Convert {
    /// What to read.
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// What to write.
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// The form of IN: ra, npy, npz, ds, png, directory, zip, tar, tar.gz or tar.zst.
    #[arg(long, value_name = "FORM")]
    from: Option<ra_pack::ArrayFormat>,

    /// The form of OUT: as for IN, or raw, csv or json.
    #[arg(long, value_name = "FORM")]
    to: Option<ra_pack::ArrayFormat>,

    /// The one array to convert, such as run1/temperature.
    #[arg(long, value_name = "NAME")]
    member: Option<String>,

    /// How OUT holds its arrays. Formats of others become column in RawArray; otherwise everything stays as
    /// it is where OUT allows.
    #[arg(long, value_name = "ORDER")]
    order: Option<OrderArg>,

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
    #[arg(long = "as", value_name = "TYPE")]
    reinterpret: Option<AsArg>,

    /// Also give the masks of a .ds, as NAME.mask; to .ds, make masks of the elements that stand for none.
    #[arg(long)]
    masks: bool,

    /// How members of an .npz or a zip are compressed: stored, deflate[:LEVEL]; of a zip also
    /// zstd[:LEVEL].
    #[arg(long, value_name = "METHOD", value_parser = compression)]
    compression: Option<ra_pack::Compression>,

    /// Replace what is there already, but never a directory with something in it.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderArg {
    /// The first index runs fastest, as RawArray has it.
    Column,
    /// The last index runs fastest, as most other formats have it.
    Row,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AsArg {
    /// Brain floats.
    Bfloat16,
    /// Bytes without a type.
    Void,
}

pub(super) fn run(args: &Convert, output: &Output) -> Result<Ending, Failure> {
    let options = ConvertOptions {
        from: args.from,
        to: args.to,
        member: args.member.clone(),
        order: args.order.map(|order| match order {
            OrderArg::Column => ndl::Order::Column,
            OrderArg::Row => ndl::Order::Row,
        }),
        keep_endian: args.keep_endian,
        drop_metadata: args.drop_metadata,
        keep_metadata: args.keep_metadata.clone(),
        reinterpret: args.reinterpret.map(|what| match what {
            AsArg::Bfloat16 => Reinterpret::BFloat16,
            AsArg::Void => Reinterpret::Void,
        }),
        masks: args.masks,
        compression: args.compression,
        force: args.force,
        jobs: args.common.jobs,
        progress: output.progress(),
    };
    let report = ra_pack::convert(&args.input, &args.output, &options)?;
    diagnostics::show(&args.input, &[], &report.leftovers, output);
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
        ra_pack::escape_path(&report.output),
        report.to,
        human_bytes(report.bytes),
    ));
    Ok(Ending::Clean)
}

/// One converted array on a line.
fn line(array: &Converted) -> String {
    let shape: Vec<_> = array.shape.iter().map(ToString::to_string).collect();
    let mut line = format!(
        "{} -> {}: {} [{}], {}",
        escape(&array.from),
        escape(&array.to),
        array.element,
        shape.join(", "),
        array.order,
    );
    if array.reordered {
        line.push_str(", reordered");
    }
    if array.renamed {
        line.push_str(", renamed");
    }
    line
}

fn tell_losses(report: &ConvertReport, output: &Output) {
    for loss in &report.losses {
        output.message(&format!("warning: {}", escape(loss)));
    }
    let losing: Vec<_> = report.arrays.iter().filter(|array| !array.losses.is_empty()).collect();
    for array in losing.iter().take(MAX_TOLD) {
        let losses = array.losses.join("; ");
        output.message(&format!("warning: {}: {}", escape(&array.from), escape(&losses)));
    }
    if let Some(more) = losing.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
        output.message(&format!("warning: {more} more lose something; --json lists it"));
    }
}
