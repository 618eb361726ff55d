//! `ra-pack verify`

use std::io;
use std::path::PathBuf;

use clap::Args;
use ra_pack::{Container, Severity, VerifyOptions, VerifyReport, escape};

use super::args::Common;
use super::files::FilesFrom;
use super::info::paste;
use super::numbers::{counted, human_bytes};
use super::output::Output;
use super::{Ending, Failure, diagnostics};

/// How many targets came to which end.
#[derive(Default)]
struct Tally {
    sound: u64,
    unsound: u64,
    unread: u64,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack verify exp.zip
  ra-pack verify --json packs/*.zip | jq -r 'select(.findings != []) | .target'
  ra-pack verify exp.zip --manifest safe/exp.zip.manifest-sha256.txt
  find packs -name '*.zip' -print0 | ra-pack verify --files-from - --null")]
pub(crate) struct Verify {
    /// Archives and directories.
    #[arg(value_name = "TARGET", required_unless_present = "files_from")]
    targets: Vec<PathBuf>,

    /// Read headers and descriptions only: no digest is checked. What is read with them, as short files
    /// are, is held against the checksums of a zip none the less.
    #[arg(long)]
    fast: bool,

    /// Count warnings as errors, and words that are extensions of the language.
    #[arg(long)]
    strict: bool,

    /// A manifest kept elsewhere; the one inside must agree with it.
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    #[command(flatten)]
    more: FilesFrom,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &Verify, output: &Output) -> Result<Ending, Failure> {
    let options = VerifyOptions {
        fast: args.fast,
        strict: args.strict,
        only_manifests: false,
        jobs: args.common.jobs,
        manifest: args.manifest.clone(),
        progress: output.progress(),
    };
    let mut tally = Tally::default();
    for target in args.targets.iter().cloned().map(Ok).chain(args.more.names()?) {
        let target = target?;
        if output.is_closed() {
            // Nobody reads on; what was not looked at cannot be called sound.
            tally.unread += 1;
            break;
        }
        // One target that cannot be read does not keep the others from being checked.
        let report = match ra_pack::verify(&target, &options) {
            Ok(report) => report,
            Err(error) => {
                output.message(&diagnostics::error(&error));
                tally.unread += 1;
                continue;
            }
        };
        let count = if report.is_sound() { &mut tally.sound } else { &mut tally.unsound };
        *count += 1;
        tell(&report, "valid", args.common.json, output)?;
    }
    if (args.targets.len() > 1 || args.more.is_given()) && !args.common.json {
        output.result(&tally.summary(args.fast))?;
    }
    Ok(tally.ending())
}

/// Prints what was found of one target, of which `sound` is said when nothing is wrong.
pub(super) fn tell(
    report: &VerifyReport,
    sound: &str,
    json: bool,
    output: &Output,
) -> io::Result<()> {
    if json {
        return output.json(report);
    }
    for finding in &report.findings {
        output.result(&diagnostics::finding(&report.target, finding, output.color_out()))?;
    }
    output.result(&summary(report, sound))
}

impl Tally {
    fn ending(&self) -> Ending {
        match self {
            Self { unread: 1.., .. } => Ending::Failed,
            Self { unsound: 1.., .. } => Ending::Findings,
            _ => Ending::Clean,
        }
    }

    fn summary(&self, fast: bool) -> String {
        let verdict = if fast { "without a fault, contents not read" } else { "valid" };
        let all = self.sound.saturating_add(self.unsound).saturating_add(self.unread);
        let ends = [
            (self.sound, verdict),
            (self.unsound, "NOT VALID"),
            (self.unread, "could not be read"),
        ];
        let ends = ends.iter().filter(|(count, _)| *count > 0);
        let ends: Vec<_> = ends.map(|(count, end)| format!("{count} {end}")).collect();
        format!("{}: {}", counted(all, "target"), ends.join(", "))
    }
}

/// The verdict on one target. That of a sound one is one line; that of another goes on with what is
/// still whole and what to do next.
fn summary(report: &VerifyReport, sound: &str) -> String {
    let count = |severity| {
        let findings = report.findings.iter().filter(|finding| finding.severity == severity);
        findings.fold(0_u64, |count, finding| count.saturating_add(finding.count))
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let verdict = match (errors, report.contents_read) {
        (0, true) => sound.to_owned(),
        (0, false) => "no fault found, contents not read".to_owned(),
        (errors, _) => format!("NOT VALID, {}", counted(errors, "error")),
    };
    let warnings = match warnings {
        0 => String::new(),
        count => format!(", {}", counted(count, "warning")),
    };
    let manifests = match report.manifests.len() {
        0 => String::new(),
        _ => format!(" by {}", report.manifests.join(", ")),
    };
    let mut text = format!(
        "{}: {verdict}{warnings} ({}, {}, {}{}{}, {:.1} s)\n",
        escape(&report.target.to_string_lossy()),
        counted(report.arrays, "array"),
        counted(report.members, "file"),
        human_bytes(report.bytes),
        escape(&manifests),
        bag(report),
        report.seconds,
    );
    for signature in &report.signatures {
        let name = escape(signature);
        text = format!("{text}  signature: {name} (not checked: ra-pack knows no keys)\n");
    }
    if errors > 0 {
        text.push_str(&remains(report));
    }
    text
}

/// What of a damaged target can still be used, and what to do.
fn remains(report: &VerifyReport) -> String {
    let Some(intact) = &report.intact else {
        let why = if report.container.is_none() {
            "it cannot be opened"
        } else if report.manifests.is_empty() {
            "no manifest vouches for them"
        } else {
            "they were not read"
        };
        return format!("  intact: nothing is known of the contents, because {why}\n");
    };
    let next = match (intact.members, report.container) {
        (all, _) if all == report.members => {
            "every file is whole; what is wrong is how the pack was made, as said above".to_owned()
        }
        (0, _) => "take the pack from another copy".to_owned(),
        (_, Some(Container::Directory)) => "take what is named above from another copy".to_owned(),
        (_, _) => format!(
            "take what is named above from another copy; `ra-pack extract {} -C DIR` unpacks the rest",
            paste::path(&report.target)
        ),
    };
    format!(
        "  intact: {} of {}, {} of {}, {} of {}\n  next: {next}\n",
        intact.arrays,
        counted(report.arrays, "array"),
        intact.members,
        counted(report.members, "file"),
        human_bytes(intact.bytes),
        human_bytes(report.bytes),
    )
}

/// What the pack is to those who know bags and crates.
fn bag(report: &VerifyReport) -> String {
    let bag = report.bag.as_ref().map(|bag| {
        let state = match (bag.complete, bag.valid) {
            (_, true) => "valid",
            (true, false) if report.contents_read => "complete, not valid",
            (true, false) => "complete as far as names and sizes tell",
            (false, false) => "incomplete",
        };
        let version = bag.version.as_deref().unwrap_or("of no version");
        format!(", BagIt {} {state}", escape(version))
    });
    let ro_crate = report.ro_crate.as_ref().map(|name| format!(", RO-Crate {}", escape(name)));
    format!("{}{}", bag.unwrap_or_default(), ro_crate.unwrap_or_default())
}
