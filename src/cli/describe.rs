//! `ra-pack describe`

use super::args::Describe;
use super::output::{Output, counted};
use super::{Ending, Failure, diagnostics};

pub(super) fn run(args: &Describe, output: &Output) -> Result<Ending, Failure> {
    if !args.write {
        output.result(&ra_pack::describe_target(&args.target)?)?;
        return Ok(Ending::Clean);
    }
    let report = ra_pack::write_descriptions(&args.target, None)?;
    for finding in &report.findings {
        output.message(&diagnostics::finding(&args.target, finding, output.color_err()));
    }
    for name in &report.written {
        output.note(&format!("wrote {}", args.target.join(name).display()));
    }
    if report.written.is_empty() {
        output.note(&format!("{} described already", counted(report.described, "array")));
    }
    let is_bad = report.findings.iter().any(ra_pack::Finding::is_error);
    Ok(if is_bad { Ending::Findings } else { Ending::Clean })
}
