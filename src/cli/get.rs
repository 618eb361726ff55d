//! `ra-pack get`

use std::path::Path;

use ra_pack::{ArrayFormat, GetOptions};

use super::args::{FormatArg, Get};
use super::output::{Output, human_bytes};
use super::{Ending, Failure, diagnostics};

pub(super) fn run(args: &Get, output: &Output) -> Result<Ending, Failure> {
    let options = GetOptions {
        slice: args.slice.clone(),
        format: args.format.map(|format| match format {
            FormatArg::Ra => ArrayFormat::Ra,
            FormatArg::Raw => ArrayFormat::Raw,
            FormatArg::Npy => ArrayFormat::Npy,
            FormatArg::Png => ArrayFormat::Png,
            FormatArg::Csv => ArrayFormat::Csv,
            FormatArg::Json => ArrayFormat::Json,
        }),
        unverified: args.no_check,
        force: args.force,
        max_size: args.max_size,
    };
    let to_file = args.output.as_ref().filter(|path| path.as_os_str() != "-");
    let report = match to_file {
        Some(path) => ra_pack::get(&args.archive, &args.member, path, &options)?,
        None => {
            let is_text = matches!(args.format, Some(FormatArg::Csv | FormatArg::Json));
            let is_array = args.slice.is_some()
                || args.format.is_some()
                || Path::new(&args.member).extension().is_some_and(|extension| extension == "ra");
            if is_array && !is_text && output.is_terminal() {
                return Err(ra_pack::Error::Unsupported(
                    "an array is not shown on a terminal; give --output FILE, or pipe it on"
                        .to_owned(),
                )
                .into());
            }
            ra_pack::get_to(&args.archive, &args.member, &mut output.bytes(), &options)?
        }
    };
    for leftover in &report.leftovers {
        output.message(&diagnostics::leftover(leftover));
    }
    for loss in &report.losses {
        output.message(&format!("warning: {}", ra_pack::escape(loss)));
    }
    if args.json {
        output.json(&report)?;
    } else if let Some(path) = to_file {
        let how = if report.verified {
            "agrees with the manifest"
        } else {
            "not held against a manifest"
        };
        output.note(&format!("wrote {} ({}, {how})", path.display(), human_bytes(report.bytes)));
    } else if !report.verified && !args.no_check {
        output.note("ra-pack: no manifest vouches for this member");
    }
    Ok(Ending::Clean)
}
