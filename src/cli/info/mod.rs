//! `ra-pack info`

mod array;
mod pack;
mod page;
pub(super) mod paste;

use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::{Form, escape};
use serde::Serialize;

use super::output::Output;
use super::{Ending, Failure, diagnostics};

/// Findings that are drawn: who looks at a pack wants to know whether it is sound, not all that is not.
const MOST_FINDINGS: usize = 10;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack info exp.zip
  ra-pack info exp.zip run1/temperature.ra
  ra-pack info temperature.ra --field dims
  ra-pack info --json exp.zip | jq .types")]
pub(crate) struct Info {
    /// An array, an archive or a directory.
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// An array of the archive.
    #[arg(value_name = "MEMBER")]
    member: Option<String>,

    /// Print the value of one field of the JSON result alone, a list on one line.
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,

    /// Print the result as JSON on standard output.
    #[arg(long, conflicts_with = "field")]
    json: bool,
}

pub(super) fn run(args: &Info, output: &Output) -> Result<Ending, Failure> {
    let target = args.target.as_path();
    let color = output.color_out();
    if let Some(member) = &args.member {
        let info = ra_pack::array_info(target, member)?;
        return show(args, output, &info, || array::text(&info, Some((target, member)), color));
    }
    if ra_pack::is_array_file(target)? {
        let info = ra_pack::array_file_info(target)?;
        return show(args, output, &info, || array::text(&info, None, color));
    }
    refuse_npz(target)?;
    let info = ra_pack::pack_info(target, &output.progress())?;
    if args.field.is_none() && !args.json {
        for finding in info.findings.iter().take(MOST_FINDINGS) {
            output.message(&diagnostics::finding(target, finding, output.color_err()));
        }
        if let more @ 1.. = info.findings.len().saturating_sub(MOST_FINDINGS) {
            let target = paste::path(target);
            output.message(&format!(
                "ra-pack: {more} more findings; `ra-pack verify --fast {target}` shows them all\n"
            ));
        }
    }
    show(args, output, &info, || pack::text(&info, color))?;
    let is_bad = info.findings.iter().any(ra_pack::Finding::is_error);
    Ok(if is_bad { Ending::Findings } else { Ending::Clean })
}

fn show(
    args: &Info,
    output: &Output,
    info: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<Ending, Failure> {
    match &args.field {
        Some(field) => {
            if let Err(known) = output.field(info, field)? {
                return Err(ra_pack::Error::Unsupported(format!(
                    "there is no field `{}`; there are {known}",
                    escape(field)
                ))
                .into());
            }
        }
        None if args.json => output.json(info)?,
        None => output.result(&text())?,
    }
    Ok(Ending::Clean)
}

/// A zip of NumPy's arrays has nothing in it that this reads.
fn refuse_npz(target: &Path) -> Result<(), ra_pack::Error> {
    if target.is_dir() || Form::from_extension(target) != Some(Form::Npz) {
        return Ok(());
    }
    Err(ra_pack::Error::Unsupported(format!(
        "`{}` holds arrays of NumPy, which info does not read; see them as RawArray: `ra-pack convert {} {}`",
        escape(&target.to_string_lossy()),
        paste::path(target),
        paste::path(&target.with_extension("zip")),
    )))
}
