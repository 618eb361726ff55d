//! `ra-pack describe`

use ra_pack::{DescribeOptions, Finding, escape};

use super::args::Describe;
use super::output::{Output, counted};
use super::{Ending, Failure, diagnostics};

pub(super) fn run(args: &Describe, output: &Output) -> Result<Ending, Failure> {
    if args.update {
        return update(args, output);
    }
    let options = DescribeOptions { dimcoords: args.dimcoords, jobs: None };
    if !args.write {
        output.result(&ra_pack::describe_target(&args.target, &options)?)?;
        return Ok(Ending::Clean);
    }
    let report = ra_pack::write_descriptions(&args.target, &options)?;
    findings(args, &report.findings, output);
    for leftover in &report.leftovers {
        output.message(&diagnostics::leftover(leftover));
    }
    if args.json {
        output.json(&report)?;
        return Ok(ending(&report.findings));
    }
    for name in &report.written {
        output.note(&format!("wrote {}", args.target.join(name).display()));
    }
    if report.written.is_empty() {
        output.note(&format!("{} described already", counted(report.described, "array")));
    }
    Ok(ending(&report.findings))
}

fn update(args: &Describe, output: &Output) -> Result<Ending, Failure> {
    let report = ra_pack::update_descriptions(&args.target, None)?;
    findings(args, &report.findings, output);
    if args.json {
        output.json(&report)?;
        return Ok(ending(&report.findings));
    }
    for change in &report.changes {
        output.note(&format!(
            "{}:{}: {} of {}: {} is now {}",
            escape(&change.document.to_string_lossy()),
            change.line,
            change.key,
            escape(&change.array),
            escape(&change.from),
            escape(&change.to),
        ));
    }
    if report.changes.is_empty() && report.is_clean() {
        let count = counted(report.unchanged, "description");
        output.note(&format!("{count} in line with the headers already"));
    }
    Ok(ending(&report.findings))
}

fn findings(args: &Describe, findings: &[Finding], output: &Output) {
    for finding in findings {
        output.message(&diagnostics::finding(&args.target, finding, output.color_err()));
    }
}

fn ending(findings: &[Finding]) -> Ending {
    if findings.iter().any(Finding::is_error) { Ending::Findings } else { Ending::Clean }
}
