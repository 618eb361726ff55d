//! `ra-pack validate`

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::{ValidateOptions, ValidateReport, ndl};

use super::args::Common;
use super::files::FilesFrom;
use super::numbers::counted;
use super::output::Output;
use super::{Ending, Failure, diagnostics};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack validate run1/temperature.yaml
  ra-pack validate --strict exp exp.zip
  ra-pack validate --allow DESC001 --allow DESC010 exp
  ra-pack validate --json exp | jq -r '.findings[] | [.member, .place.line, .code] | @tsv'
  ra-pack describe temperature.ra | ra-pack validate -")]
pub(crate) struct Validate {
    /// Documents, arrays, directories and archives; `-` is standard input.
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    paths: Vec<PathBuf>,

    /// Count warnings as errors, and words that are extensions of the language.
    #[arg(long)]
    strict: bool,

    /// Drop findings of this code. Repeatable.
    #[arg(long, value_name = "CODE", value_parser = code)]
    allow: Vec<ra_pack::Code>,

    /// The top of the pack that single files belong to.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    #[command(flatten)]
    more: FilesFrom,

    #[command(flatten)]
    common: Common,
}

fn code(text: &str) -> Result<ra_pack::Code, String> {
    use ra_pack::Code;
    let of_language = ndl::Code::ALL.iter().copied().map(Code::Ndl);
    Code::ALL
        .iter()
        .copied()
        .chain(of_language)
        .find(|code| code.id().eq_ignore_ascii_case(text))
        .ok_or_else(|| "expected the code of a finding, such as NDL063 or DESC001".to_owned())
}

pub(super) fn run(args: &Validate, output: &Output) -> Result<Ending, Failure> {
    let options = ValidateOptions {
        strict: args.strict,
        allow: args.allow.clone(),
        root: args.root.clone(),
        jobs: args.common.jobs,
        progress: output.progress(),
    };
    let mut ending = Ending::Clean;
    for path in args.paths.iter().cloned().map(Ok).chain(args.more.names()?) {
        let path = path?;
        // One path that cannot be read does not keep the others from being checked.
        let report = match validate(&path, &options) {
            Ok(report) => report,
            Err(error) => {
                output.message(&diagnostics::error(&error));
                ending = Ending::Failed;
                continue;
            }
        };
        if !report.is_valid() && ending == Ending::Clean {
            ending = Ending::Findings;
        }
        if args.common.json {
            output.json(&report)?;
            continue;
        }
        for finding in &report.findings {
            // Beside a single file, findings name files.
            let file = finding.member.as_deref().filter(|_| report.container.is_none());
            let target = file.map_or(path.as_path(), Path::new);
            output.result(&diagnostics::finding(target, finding, output.color_out()))?;
        }
        output.result(&summary(&report))?;
    }
    Ok(ending)
}

fn validate(path: &Path, options: &ValidateOptions) -> ra_pack::Result<ValidateReport> {
    if path != Path::new("-") {
        return ra_pack::validate(path, options);
    }
    // One byte more than a description may have is enough to be refused for it.
    let limit = ndl::MAX_TEXT as u64 + 1;
    let mut text = Vec::new();
    io::stdin().lock().take(limit).read_to_end(&mut text).map_err(|source| ra_pack::Error::Io {
        action: "read",
        path: "<stdin>".into(),
        source,
    })?;
    Ok(ra_pack::validate_text(&text, options))
}

fn summary(report: &ValidateReport) -> String {
    format!(
        "{}: {} ({}, {})\n",
        ra_pack::escape_path(&report.target),
        diagnostics::verdict(&report.findings, "valid"),
        counted(report.documents, "document"),
        counted(report.arrays, "array"),
    )
}
