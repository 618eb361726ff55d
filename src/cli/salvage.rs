//! `ra-pack salvage`

use std::path::PathBuf;

use clap::Args;
use ra_pack::path::escape_path;
use ra_pack::write::{SalvageOptions, salvage};

use super::common::Common;
use super::output::Output;
use super::text::counted;
use super::{Ending, Failure, diagnostics};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack salvage exp.zip -o salvaged.zip
  ra-pack salvage exp.zip -o salvaged.zip --manifest safe/exp.zip.manifest-sha256.txt
  ra-pack salvage exp.zip -o salvaged.zip --unconfirmed doubtful")]
pub(crate) struct SalvageArgs {
    /// Damaged archive.
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,

    /// Archive to write: .zip, .tar, .tar.gz, .tgz, .tar.zst or .tzst.
    #[arg(short, long, value_name = "ARCHIVE")]
    output: PathBuf,

    /// Use only this manifest [default: those in the archive and next to it].
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// Put files that no manifest confirms into this new directory, as far as they can be read.
    #[arg(long, value_name = "DIR")]
    unconfirmed: Option<PathBuf>,

    /// Replace an existing output.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &SalvageArgs, output: &Output) -> Result<Ending, Failure> {
    let options = SalvageOptions {
        manifest: args.manifest.clone(),
        unconfirmed: args.unconfirmed.clone(),
        force: args.force,
        jobs: args.common.jobs,
        progress: output.progress(),
    };
    let report = salvage(&args.archive, &args.output, &options)?;
    diagnostics::show(&args.archive, &report.findings, &[], output);
    if args.common.json {
        output.json(&report)?;
    } else {
        let lost = counted(report.lost, "file");
        match &report.output {
            Some(made) => output.note(&format!(
                "salvaged {} with {} into {}; {lost} lost",
                counted(report.confirmed, "file"),
                counted(report.arrays, "array"),
                escape_path(made),
            )),
            None => output
                .note(&format!("no file is confirmed, so there is no new archive; {lost} lost")),
        }
        if let Some(directory) = args.unconfirmed.as_ref().filter(|_| report.unconfirmed > 0) {
            let files = counted(report.unconfirmed, "file");
            output.note(&format!(
                "put {files} that no manifest confirms into {}",
                escape_path(directory)
            ));
        }
    }
    Ok(Ending::of(&report.findings))
}
