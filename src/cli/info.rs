//! `ra-pack info`

use serde::Serialize;

use super::args::Info;
use super::output::Output;
use super::{Ending, Failure};

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
