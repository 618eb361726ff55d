//! `ra-pack verify`

use ra_pack::{Severity, VerifyOptions, VerifyReport};

use super::args::Verify;
use super::output::{Output, counted, human_bytes};
use super::{Ending, Failure, diagnostics};

pub(super) fn run(args: &Verify, output: &Output) -> Result<Ending, Failure> {
    let options = VerifyOptions {
        fast: args.fast,
        strict: args.strict,
        jobs: args.common.jobs,
        manifest: args.manifest.clone(),
    };
    let mut ending = Ending::Clean;
    for target in &args.targets {
        // One target that cannot be read does not keep the others from being checked.
        let report = match ra_pack::verify(target, &options) {
            Ok(report) => report,
            Err(error) => {
                output.message(&diagnostics::error(&error));
                ending = Ending::Failed;
                continue;
            }
        };
        if !report.is_sound() && ending == Ending::Clean {
            ending = Ending::Findings;
        }
        if args.common.json {
            output.json(&report)?;
            continue;
        }
        for finding in &report.findings {
            output.result(diagnostics::finding(target, finding, output.color_out()).as_str())?;
        }
        output.result(&summary(&report))?;
    }
    Ok(ending)
}

fn summary(report: &VerifyReport) -> String {
    let errors = report.findings.iter().filter(|finding| finding.is_error()).count();
    let warnings =
        report.findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
    let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let verdict = match (errors, report.contents_read) {
        (0, true) => "valid".to_owned(),
        (0, false) => "no fault found, contents not read".to_owned(),
        (errors, _) => format!("NOT VALID, {}", counted(wide(errors), "error")),
    };
    let warnings = match warnings {
        0 => String::new(),
        count => format!(", {}", counted(wide(count), "warning")),
    };
    let manifests = match report.manifests.len() {
        0 => String::new(),
        _ => format!(" by {}", report.manifests.join(", ")),
    };
    format!(
        "{}: {verdict}{warnings} ({}, {}, {}{manifests}, {:.1} s)\n",
        ra_pack::escape(&report.target.to_string_lossy()),
        counted(report.arrays, "array"),
        counted(report.members, "file"),
        human_bytes(report.bytes),
        report.seconds,
    )
}
