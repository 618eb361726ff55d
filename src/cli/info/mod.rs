//! `ra-pack info`

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::output::Output;
use super::{Ending, Failure};

/// Show everything about one array or one pack.
///
/// The text form is YAML. Only the directory, headers and descriptions are read.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack info exp.zip
  ra-pack info exp.zip run1/temperature.ra
  ra-pack info temperature.ra --field dims")]
pub(crate) struct Info {
    /// An array, an archive or a directory.
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// An array of the archive.
    #[arg(value_name = "MEMBER")]
    member: Option<String>,

    /// Print the value of one field alone, a list on one line.
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,

    /// Print the result as JSON on standard output.
    #[arg(long, conflicts_with = "field")]
    json: bool,
}

pub(super) fn run(args: &Info, output: &Output) -> Result<Ending, Failure> {
    match &args.member {
        Some(member) => show(args, output, &ra_pack::array_info(&args.target, member)?),
        None if ra_pack::is_array_file(&args.target)? => {
            show(args, output, &ra_pack::array_file_info(&args.target)?)
        }
        None => {
            let info = ra_pack::pack_info(&args.target)?;
            let is_bad = info.findings.iter().any(ra_pack::Finding::is_error);
            show(args, output, &info)?;
            Ok(if is_bad { Ending::Findings } else { Ending::Clean })
        }
    }
}

fn show(args: &Info, output: &Output, info: &impl Serialize) -> Result<Ending, Failure> {
    match &args.field {
        Some(field) => {
            if let Err(known) = output.field(info, field)? {
                return Err(ra_pack::Error::Unsupported(format!(
                    "there is no field `{}`; there are {known}",
                    ra_pack::escape(field)
                ))
                .into());
            }
        }
        None if args.json => output.json(info)?,
        None => output.yaml(info)?,
    }
    Ok(Ending::Clean)
}
