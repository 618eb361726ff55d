//! `ra-pack convert`

use ra_pack::{ConvertOptions, ConvertReport, Converted, Reinterpret, escape, ndl};

use super::args::{AsArg, Convert, OrderArg};
use super::output::{Output, counted, human_bytes};
use super::{Ending, Failure, diagnostics};

/// Arrays that are told of one by one; of more, only those with something to tell.
const MAX_TOLD: usize = 20;

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
    };
    let report = ra_pack::convert(&args.input, &args.output, &options)?;
    for leftover in &report.leftovers {
        output.message(&diagnostics::leftover(leftover));
    }
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
        counted(u64::try_from(report.arrays.len()).unwrap_or(u64::MAX), "array"),
        escape(&report.output.to_string_lossy()),
        report.to,
        human_bytes(report.bytes),
    ));
    Ok(Ending::Clean)
}

/// What became what.
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
