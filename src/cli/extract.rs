//! `ra-pack extract`

use std::path::PathBuf;

use clap::Args;
use ra_pack::{ExtractOptions, Patterns, escape_path};

use super::args::{Common, size};
use super::files::FilesFrom;
use super::numbers::{counted, human_bytes};
use super::output::Output;
use super::{Ending, Failure, diagnostics};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack extract exp.zip -C exp
  ra-pack extract exp.zip 'run1/*' -C part
  ra-pack list --json exp.zip | jq -r '.members[].name | select(test(\"time\"))' |
    ra-pack extract exp.zip --files-from - -C times")]
pub(crate) struct Extract {
    /// The archive.
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,

    /// What to unpack; everything when there are none.
    #[arg(value_name = "GLOB")]
    patterns: Vec<String>,

    /// Where to; made when it is not there.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// Replace files that are already there.
    #[arg(short, long)]
    force: bool,

    /// Stop when more bytes than this would be written; K, M, G and T are powers of 1024.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    max_size: Option<u64>,

    #[command(flatten)]
    more: FilesFrom,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &Extract, output: &Output) -> Result<Ending, Failure> {
    let options = ExtractOptions {
        patterns: patterns(args)?,
        force: args.force,
        jobs: args.common.jobs,
        max_size: args.max_size,
        progress: output.progress(),
    };
    let report = ra_pack::extract(&args.archive, &args.directory, &options)?;
    for finding in &report.findings {
        output.message(&diagnostics::finding(&args.archive, finding, output.color_err()));
    }
    for leftover in &report.leftovers {
        output.message(&diagnostics::leftover(leftover));
    }
    let is_nothing = report.members == 0 && !args.patterns.is_empty() && report.is_sound();
    if args.common.json {
        output.json(&report)?;
    } else if !is_nothing {
        output.note(&format!(
            "unpacked {} ({}) into {}, {} agree with the manifest",
            counted(report.members, "file"),
            human_bytes(report.bytes),
            escape_path(&args.directory),
            report.verified,
        ));
    }
    if is_nothing {
        output.message(&diagnostics::nothing_matches(&args.archive, "member", &args.patterns));
        return Ok(Ending::Failed);
    }
    Ok(if report.is_sound() { Ending::Clean } else { Ending::Findings })
}

/// What matches a pattern, and what the list names.
fn patterns(args: &Extract) -> Result<Patterns, Failure> {
    let patterns = Patterns::new(&args.patterns)?;
    if !args.more.is_given() {
        return Ok(patterns);
    }
    let names = args.more.names()?.map(|name| {
        name?.into_os_string().into_string().map_err(|name| {
            let name = ra_pack::escape(&name.to_string_lossy()).to_string();
            ra_pack::Error::Unsupported(format!("`{name}` is not UTF-8, as names of members are"))
        })
    });
    Ok(patterns.and_names(names.collect::<ra_pack::Result<Vec<_>>>()?))
}
