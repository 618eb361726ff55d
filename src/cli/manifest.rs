//! `ra-pack manifest`

use std::path::PathBuf;

use clap::Args;
use ra_pack::{Algorithm, ManifestOptions, ManifestReport, VerifyOptions, escape};

use super::args::Common;
use super::numbers::{counted, human_bytes};
use super::output::Output;
use super::{Ending, Failure, diagnostics, verify};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack manifest exp.zip
  ra-pack manifest exp.zip -o safe/today.manifest-sha256.txt
  ra-pack manifest --write exp
  ra-pack manifest --check exp.zip
  ra-pack manifest --check exp.zip --manifest safe/exp.zip.manifest-sha256.txt")]
pub(crate) struct Manifest {
    /// The archive or directory.
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// Write it to this file instead of printing it.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["write", "check"])]
    output: Option<PathBuf>,

    /// Write it to its place in a directory, which is a pack from then on.
    #[arg(long, conflicts_with = "check")]
    write: bool,

    /// Hold the files against the manifest that is there, and report what differs.
    #[arg(long)]
    check: bool,

    /// A manifest kept elsewhere; the one inside must agree with it.
    #[arg(long = "manifest", value_name = "FILE", requires = "check")]
    kept: Option<PathBuf>,

    /// How to make the digests: sha256 or sha512.
    #[arg(
        long,
        value_name = "ALGORITHM",
        default_value = "sha256",
        value_parser = algorithm,
        conflicts_with = "check"
    )]
    digest: Algorithm,

    /// Replace a file that is already there.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    common: Common,
}

fn algorithm(text: &str) -> Result<Algorithm, String> {
    Algorithm::from_name(text)
        .filter(|algorithm| algorithm.is_written())
        .ok_or_else(|| "expected sha256 or sha512".to_owned())
}

pub(super) fn run(args: &Manifest, output: &Output) -> Result<Ending, Failure> {
    if args.check {
        return check(args, output);
    }
    let options = ManifestOptions {
        algorithm: args.digest,
        force: args.force,
        jobs: args.common.jobs,
        progress: output.progress(),
    };
    let is_written = args.write || args.output.is_some();
    let made = if is_written {
        ra_pack::write_manifest(&args.target, args.output.as_deref(), &options)?
    } else {
        ra_pack::manifest_of(&args.target, &options)?
    };
    for finding in &made.findings {
        output.message(&diagnostics::finding(&args.target, finding, output.color_err()));
    }
    for leftover in &made.leftovers {
        output.message(&diagnostics::leftover(leftover));
    }
    if args.common.json {
        output.json_pieces(&made)?;
    } else if let Some(path) = &made.output {
        output.note(&format!("wrote {} ({})", escape(&path.to_string_lossy()), size(&made)));
    } else {
        output.file(&made.text())?;
    }
    Ok(Ending::Clean)
}

fn check(args: &Manifest, output: &Output) -> Result<Ending, Failure> {
    let options = VerifyOptions {
        only_manifests: true,
        jobs: args.common.jobs,
        manifest: args.kept.clone(),
        progress: output.progress(),
        ..VerifyOptions::default()
    };
    let report = ra_pack::verify(&args.target, &options)?;
    verify::tell(&report, "agrees with the manifest", args.common.json, output)?;
    Ok(if report.is_sound() { Ending::Clean } else { Ending::Findings })
}

fn size(made: &ManifestReport) -> String {
    let files = u64::try_from(made.manifest.entries().len()).unwrap_or(u64::MAX);
    format!("{}, {}", counted(files, "file"), human_bytes(made.bytes))
}
