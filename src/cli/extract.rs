//! `ra-pack extract`

use ra_pack::{ExtractOptions, Patterns};

use super::args::Extract;
use super::output::{Output, counted, human_bytes};
use super::{Ending, Failure, diagnostics};

pub(super) fn run(args: &Extract, output: &Output) -> Result<Ending, Failure> {
    let options = ExtractOptions {
        patterns: Patterns::new(&args.patterns)?,
        force: args.force,
        jobs: args.common.jobs,
        max_size: args.max_size,
    };
    let report = ra_pack::extract(&args.archive, &args.directory, &options)?;
    for finding in &report.findings {
        output.message(&diagnostics::finding(&args.archive, finding, output.color_err()));
    }
    for leftover in &report.leftovers {
        output.message(&diagnostics::leftover(leftover));
    }
    if args.common.json {
        output.json(&report)?;
    } else {
        output.note(&format!(
            "unpacked {} ({}) into {}, {} agree with the manifest",
            counted(report.members, "file"),
            human_bytes(report.bytes),
            args.directory.display(),
            report.verified,
        ));
    }
    if report.members == 0 && !args.patterns.is_empty() && report.is_sound() {
        output.message("ra-pack: no member matches");
        return Ok(Ending::Failed);
    }
    Ok(if report.is_sound() { Ending::Clean } else { Ending::Findings })
}
