//! `ra-pack verify`, `ra-pack validate` and `ra-pack manifest`

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::create::ManifestOptions;
use ra_pack::digest::Algorithm;
use ra_pack::path::escape;
use ra_pack::validate::{ValidateOptions, ValidateReport};
use ra_pack::verify::{VerifyOptions, VerifyReport};
use ra_pack::{Code, Container, Finding, ndl};

use super::args::Common;
use super::create::lacks;
use super::diagnostics::Verdict;
use super::files::FilesFrom;
use super::output::Output;
use super::text::{counted, human_bytes};
use super::{Ending, Failure, diagnostics, shell};

/// How many targets came to which end.
#[derive(Default)]
struct TargetCounts {
    sound: u64,
    faultless: u64,
    unsound: u64,
    unverified: u64,
    unread: u64,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack verify exp.zip
  ra-pack verify --json packs/*.zip | jq -r 'select(.findings != []) | .target'
  ra-pack verify exp.zip --manifest safe/exp.zip.manifest-sha256.txt
  find packs -name '*.zip' -print0 | ra-pack verify --files-from - --null")]
pub(crate) struct VerifyArgs {
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

pub(super) fn run(args: &VerifyArgs, output: &Output) -> Result<Ending, Failure> {
    let mut options = VerifyOptions::default();
    options.fast = args.fast;
    options.strict = args.strict;
    options.jobs = args.common.jobs;
    options.manifest.clone_from(&args.manifest);
    options.progress = output.progress();
    let tally = each(&args.targets, &args.more, output, |target| {
        if output.is_closed() {
            // Nobody reads on; what was not looked at cannot be called sound.
            return Ok(None);
        }
        tell(ra_pack::verify(target, &options)?, "valid", args.common.json, output).map(Some)
    })?;
    if (args.targets.len() > 1 || args.more.is_given()) && !args.common.json {
        output.result(&tally.summary())?;
    }
    Ok(tally.ending())
}

/// Checks every target that is named. One that cannot be read does not keep the others from being checked; one of
/// which nothing comes ends it.
fn each(
    targets: &[PathBuf],
    more: &FilesFrom,
    output: &Output,
    mut check: impl FnMut(&Path) -> Result<Option<Verdict>, Failure>,
) -> Result<TargetCounts, Failure> {
    let mut tally = TargetCounts::default();
    for target in targets.iter().cloned().map(Ok).chain(more.names()?) {
        match check(&target?) {
            Ok(Some(Verdict::Sound)) => tally.sound += 1,
            Ok(Some(Verdict::Unsound)) => tally.unsound += 1,
            Ok(Some(Verdict::Faultless)) => tally.faultless += 1,
            Ok(Some(Verdict::Unverified)) => tally.unverified += 1,
            Ok(None) => {
                tally.unread += 1;
                break;
            }
            Err(Failure::Operation(error, next)) => {
                output.message(&diagnostics::error(&error, next));
                tally.unread += 1;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(tally)
}

/// Prints what was found of one target, of which `sound` is said when nothing is wrong.
fn tell(
    mut report: VerifyReport,
    sound: &str,
    json: bool,
    output: &Output,
) -> Result<Verdict, Failure> {
    let target = report.target.clone();
    // Of an archive that cannot be opened no member is known.
    let is_pack = report.container.is_some() || report.members == 0;
    diagnostics::print(|found| place(&target, is_pack, found), &mut report.findings, json, output)?;
    if json {
        output.json(&report)?;
    } else {
        output.result(&summary(&report, sound))?;
        let counts = report.metadata.as_ref().filter(|_| report.is_sound() && !output.is_closed());
        if let Some(lacks) = counts.and_then(|counts| lacks(counts, &target)) {
            output.note(&lacks);
        }
    }
    Ok(Verdict::of(&report.findings, report.contents_read))
}

/// The file that a finding is about where it is about a single one, or else the pack.
fn place(target: &Path, is_pack: bool, finding: &Finding) -> PathBuf {
    let file = finding.member.as_ref().filter(|_| !is_pack);
    file.map_or(target.to_owned(), PathBuf::from)
}

impl TargetCounts {
    fn ending(&self) -> Ending {
        match self {
            Self { unread: 1.., .. } => Ending::Failed,
            Self { unsound: 1.., .. } | Self { unverified: 1.., .. } => Ending::Findings,
            _ => Ending::Clean,
        }
    }

    fn summary(&self) -> String {
        let sound = self.sound + self.faultless;
        let all = sound + self.unsound + self.unverified + self.unread;
        let ends = [
            (self.sound, "valid"),
            (self.faultless, "without a fault, contents not read"),
            (self.unsound, "NOT VALID"),
            (self.unverified, "not verified"),
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
    let sound = if report.contents_read { sound } else { "no fault found, contents not read" };
    let verdict = diagnostics::verdict(&report.findings, sound);
    let manifests = match report.manifests.len() {
        0 if report.container.is_none() && report.arrays == 1 => {
            ", no manifest lists it".to_owned()
        }
        0 => String::new(),
        _ => format!(" by {}", report.manifests.join(", ")),
    };
    let mut text = format!(
        "{}: {verdict} ({}, {}, {}{}{}, {:.1} s)\n",
        ra_pack::path::escape_path(&report.target),
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
    if diagnostics::counts(&report.findings).0 > 0 {
        text.push_str(&remains(report));
    }
    text
}

/// The part of a damaged target that can still be used, and the next step.
fn remains(report: &VerifyReport) -> String {
    let Some(intact) = &report.intact else {
        let why = if report.members == 0 && report.container.is_none() {
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
            shell::path(&report.target)
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

/// The kind of bag or crate that the pack is.
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

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack manifest exp.zip
  ra-pack manifest exp.zip -o safe/today.manifest-sha256.txt
  ra-pack manifest --write exp
  ra-pack manifest --check exp.zip
  ra-pack manifest --check exp.zip --manifest safe/exp.zip.manifest-sha256.txt")]
pub(crate) struct ManifestArgs {
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

pub(super) fn manifest(args: &ManifestArgs, output: &Output) -> Result<Ending, Failure> {
    if args.check {
        return check(args, output);
    }
    let mut options = ManifestOptions::default();
    options.algorithm = args.digest;
    options.force = args.force;
    options.jobs = args.common.jobs;
    options.progress = output.progress();
    let is_written = args.write || args.output.is_some();
    let mut made = if is_written {
        ra_pack::create::write_manifest(&args.target, args.output.as_deref(), &options)?
    } else {
        ra_pack::create::manifest_of(&args.target, &options)?
    };
    diagnostics::show(&args.target, &mut made.findings, &made.leftovers, output);
    if args.common.json {
        output.json(&made)?;
    } else if let Some(path) = &made.output {
        let files = counted(made.manifest.entries().len(), "file");
        let (path, bytes) = (ra_pack::path::escape_path(path), human_bytes(made.bytes));
        output.note(&format!("wrote {path} ({files}, {bytes})"));
    } else {
        output.file(&made.text())?;
    }
    Ok(Ending::Clean)
}

fn check(args: &ManifestArgs, output: &Output) -> Result<Ending, Failure> {
    let mut options = VerifyOptions::default();
    options.only_manifests = true;
    options.jobs = args.common.jobs;
    options.manifest.clone_from(&args.kept);
    options.progress = output.progress();
    let report = ra_pack::verify(&args.target, &options)?;
    let verdict = tell(report, "agrees with the manifest", args.common.json, output)?;
    Ok(if verdict.is_sound() { Ending::Clean } else { Ending::Findings })
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack validate run1/temperature.yaml
  ra-pack validate --strict exp exp.zip
  ra-pack validate --metadata exp
  ra-pack validate --allow DESC001 --allow DESC010 exp
  ra-pack validate --json exp | jq -r '.findings[] | [.member, .place.line, .code] | @tsv'
  ra-pack describe temperature.ra | ra-pack validate -")]
pub(crate) struct ValidateArgs {
    /// Documents, arrays, directories and archives; `-` is standard input.
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    paths: Vec<PathBuf>,

    /// Count warnings as errors, and words that are extensions of the language.
    #[arg(long)]
    strict: bool,

    /// Also check for units that are known, names, a title and other metadata, and that coordinates
    /// rise or fall throughout.
    #[arg(long)]
    metadata: bool,

    /// Drop findings of this code. Repeatable.
    #[arg(long, value_name = "CODE", value_parser = code)]
    allow: Vec<Code>,

    /// The top of the pack that single files belong to.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    #[command(flatten)]
    more: FilesFrom,

    #[command(flatten)]
    common: Common,
}

fn code(text: &str) -> Result<Code, String> {
    let mut known = Code::ALL.iter().copied();
    known
        .find(|code| code.id().eq_ignore_ascii_case(text))
        .ok_or_else(|| "expected the code of a finding, such as NDL063 or DESC001".to_owned())
}

pub(super) fn validate(args: &ValidateArgs, output: &Output) -> Result<Ending, Failure> {
    let mut options = ValidateOptions::default();
    options.strict = args.strict;
    options.metadata = args.metadata;
    options.allow.clone_from(&args.allow);
    options.root.clone_from(&args.root);
    options.jobs = args.common.jobs;
    options.progress = output.progress();
    let tally = each(&args.paths, &args.more, output, |path| {
        let mut report = validated(path, &options)?;
        let is_pack = report.container.is_some();
        diagnostics::say(&mut report.findings);
        name_target(&mut report, path);
        let target = |finding: &Finding| place(path, is_pack, finding);
        diagnostics::print(target, &mut report.findings, args.common.json, output)?;
        if args.common.json {
            output.json(&report)?;
        } else {
            output.result(&format!(
                "{}: {} ({}, {})\n",
                ra_pack::path::escape_path(&report.target),
                diagnostics::verdict(&report.findings, "valid"),
                counted(report.documents, "document"),
                counted(report.arrays, "array"),
            ))?;
        }
        Ok(Some(Verdict::of(&report.findings, true)))
    })?;
    Ok(tally.ending())
}

/// Completes commands that give metadata with what they are for: an archive is made of a directory.
fn name_target(report: &mut ValidateReport, path: &Path) {
    const COMMAND: &str = "`ra-pack describe --set ";
    let is_archive = report.container.is_some() && !path.is_dir();
    let target = if is_archive { "DIR".to_owned() } else { shell::path(path) };
    for hint in report.findings.iter_mut().filter_map(|finding| finding.hint.as_mut()) {
        let command = hint.find(COMMAND).map(|at| at + COMMAND.len());
        let end = command.and_then(|at| Some(at + hint.get(at..)?.find('`')?));
        if let Some(end) = end {
            hint.insert_str(end, &format!(" {target}"));
        }
    }
}

fn validated(path: &Path, options: &ValidateOptions) -> ra_pack::Result<ValidateReport> {
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
    Ok(ra_pack::validate::validate_text(&text, options))
}
