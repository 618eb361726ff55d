//! `ra-pack verify`, `ra-pack validate` and `ra-pack manifest`

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::PossibleValuesParser;
use ra_pack::audit::{AuditLog, AuditPlan, Budget, PlanOptions, plan};
use ra_pack::convert::{ConvertOptions, compare_content, content_digests};
use ra_pack::diff::Agreement;
use ra_pack::digest::Algorithm;
use ra_pack::finding::MANY;
use ra_pack::inspect::{ValidateOptions, ValidateReport, conventions, repositories};
use ra_pack::message::Words;
use ra_pack::path::{escape, escape_path};
use ra_pack::signature::TrustedKeys;
use ra_pack::verify::summary;
use ra_pack::verify::{
    Shard, Verdict, Verified, VerifyOptions, VerifyReport, check_store, verify_each,
};
use ra_pack::write::ManifestOptions;
use ra_pack::{Code, Finding, ndl};

use super::audit::{CORRUPT, FUTURE, print_lines};
use super::common::{self, Common};
use super::convert::show_losses;
use super::create::lacks;
use super::files::{self, FilesFrom};
use super::output::Output;
use super::text::{counted, human_bytes};
use super::{Ending, Failure, diagnostics, shell};

/// Shortest duration that is shown, in seconds.
const SHOWN_SECONDS: f64 = 1.0;

/// Outcomes of targets, in the order of the summary.
const OUTCOMES: [(Verdict, &str); 5] = [
    (Verdict::Valid, "valid"),
    (Verdict::ContentsNotRead, "without errors, contents not read"),
    (Verdict::NotValid, "NOT VALID"),
    (Verdict::NotVerified, "not verified"),
    (Verdict::Unreadable, "could not be read"),
];

/// Number of targets per outcome.
#[derive(Default)]
struct TargetCounts(HashMap<Verdict, u64>);

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack verify exp.zip
  ra-pack verify --json packs/*.zip | jq -r 'select(.findings != []) | .target'
  ra-pack verify exp.zip --manifest safe/exp.zip.manifest-sha256.txt
  ra-pack verify exp.zip --against results.npz
  find packs -name '*.zip' -print0 | ra-pack verify --files-from - --null
  ra-pack verify packs/*.zip --log audit.jsonl --max-age 90d --budget 2h
  ra-pack verify --shard 2/8 huge.zip --log audit-2.jsonl")]
pub(crate) struct VerifyArgs {
    /// Archives, directories and arrays (.ra).
    #[arg(value_name = "TARGET", required_unless_present = "files_from")]
    targets: Vec<PathBuf>,

    /// Verify all packs in these directories and below: archives, and directories with a manifest.
    #[arg(short, long)]
    recursive: bool,

    /// Read only headers and descriptions, and check no digests.
    #[arg(long)]
    fast: bool,

    /// Hash every whole file, also those that block digests prove.
    #[arg(long, conflicts_with = "fast")]
    full: bool,

    /// Treat warnings as errors and reject ra-pack's extensions to NDL.
    #[arg(long)]
    strict: bool,

    /// Also check against this manifest, stored apart from the pack; the one inside must agree with it.
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// Also compare the numbers of each array with those in SOURCE: a pack, or anything that `convert` reads, such as the
    /// file that the pack was converted from. Each array of SOURCE in turn is copied to a temporary file.
    #[arg(long, value_name = "SOURCE", conflicts_with_all = ["recursive", "fast", "shard", "files_from"])]
    against: Option<PathBuf>,

    /// Require a signature of the manifest by an SSH key in FILE, an OpenSSH list of allowed signers.
    #[arg(long, value_name = "FILE")]
    signers: Option<PathBuf>,

    /// Require a signature of the manifest by this public key of minisign, or its file. Repeatable.
    #[arg(long, value_name = "KEY")]
    minisign_key: Vec<PathBuf>,

    /// Require a time-stamp of the manifest by an authority whose certificates (PEM) are in FILE.
    #[arg(long, value_name = "FILE")]
    time_ca: Option<PathBuf>,

    /// Also ask S3 for the length and checksum of the object at this URL, and compare them with the archive. A URL that
    /// ends in `/` gets the name of the archive. The archive is read once more.
    #[arg(long, value_name = "URL", hide_short_help = true, conflicts_with_all = ["fast", "shard"])]
    store: Option<String>,

    /// Append the result of each target to this log, as a line of JSON, and sync it to disk. `audit` reads it.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Also read earlier results from this log, for --max-age and --budget. Repeatable.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    history: Vec<PathBuf>,

    /// Skip archives that were verified without errors more recently, according to the logs, and whose size and
    /// modification time are the same.
    #[arg(long, value_name = "AGE", value_parser = common::duration)]
    max_age: Option<Duration>,

    /// Stop after this time (2h), size (5T) or part of all bytes (10%). Targets that were verified longest ago, or
    /// never, are first. A target that was begun is completed.
    #[arg(long, value_name = "LIMIT", hide_short_help = true, value_parser = common::budget)]
    budget: Option<Budget>,

    /// Leave the page cache of the system as it was, so that the data of other programs stay in it. Needs Linux 6.5.
    #[arg(long, hide_short_help = true)]
    no_cache: bool,

    /// Verify shard I of N: of several targets, or of the contents of a single one. Shards are equal by size and the
    /// same on every machine. A large file is in several shards if its pack has block digests.
    #[arg(long, value_name = "I/N", conflicts_with = "fast")]
    shard: Option<Shard>,

    #[command(flatten)]
    more: FilesFrom,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &VerifyArgs, output: &Output) -> Result<Ending, Failure> {
    if args.no_cache {
        ra_pack::files::leave_page_cache()?;
    }
    let mut options = VerifyOptions {
        fast: args.fast,
        full: args.full,
        strict: args.strict,
        jobs: args.common.jobs,
        manifest: args.manifest.clone(),
        trusted: TrustedKeys::read(
            args.signers.as_deref(),
            &args.minisign_key,
            args.time_ca.as_deref(),
        )?,
        store: args.store.clone(),
        progress: output.progress(),
        ..VerifyOptions::default()
    };
    let given = files::packs(&args.targets, args.recursive)?;
    if let (Some(_), [_, _, ..]) = (&args.against, &given[..]) {
        return Err(Failure::options(
            "--against compares one target; give each with its own source",
        ));
    }
    if let Some(store) = &args.store {
        check_store(store)?;
        if !store.ends_with('/') && (given.len() > 1 || args.more.is_given()) {
            let why = "--store names one object; for several targets, give a URL that ends in `/`";
            return Err(Failure::options(why));
        }
    }
    let log = args.log.as_ref().map(AuditLog::open).transpose()?;
    let is_planned = args.shard.is_some() || args.max_age.is_some() || args.budget.is_some();
    let plan = if is_planned { Some(planned(args, &given, &mut options)?) } else { None };
    let are_several = given.len() > 1 || args.more.is_given();
    let targets = targets(args, given, plan.as_ref())?;
    let (mut tally, mut failed) = (TargetCounts::default(), None);
    let json = args.common.json;
    let ended = |report: &mut VerifyReport| log.as_ref().map_or(Ok(()), |log| log.append(report));
    let run = verify_each(targets, &options, ended, |verified| {
        if output.is_closed() {
            // The reader is gone. A target that it does not see is not reported as valid.
            tally.add(Verdict::Unreadable);
            return ControlFlow::Break(());
        }
        match print_verified(verified, json, output) {
            Ok(verdict) => {
                tally.add(verdict);
                ControlFlow::Continue(())
            }
            Err(failure) => {
                failed = Some(failure);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(failure) = failed {
        return Err(failure);
    }
    run.map_err(|error| {
        let is_log = matches!(&error, ra_pack::Error::Io { path, action: "write", .. } if args.log.as_ref() == Some(path));
        let failure = Failure::from(error);
        let next = "make room on the disk and run the command again; the lines before are complete";
        if is_log { failure.next(next) } else { failure }
    })?;
    if let Some(plan) = &plan {
        note_plan(args, plan, tally.all(), output);
    }
    if are_several && !json && !(output.quiet && tally.ending() == Ending::Clean) {
        output.result(&tally.summary())?;
    }
    match (&args.against, &args.targets[..]) {
        (Some(source), [target]) if tally.ending() != Ending::Failed => {
            let is_same = against(target, source, args, output)?;
            Ok(if is_same { tally.ending() } else { Ending::Findings })
        }
        _ => Ok(tally.ending()),
    }
}

/// Compares a target with a source, and prints what the comparison says about each array. Returns whether all have the
/// same numbers.
fn against(
    target: &Path,
    source: &Path,
    args: &VerifyArgs,
    output: &Output,
) -> Result<bool, Failure> {
    let options = ConvertOptions {
        jobs: args.common.jobs,
        progress: output.progress(),
        ..ConvertOptions::default()
    };
    let compared = compare_content(target, source, &options)?;
    if args.common.json {
        output.json(&compared)?;
        return Ok(compared.is_same());
    }
    let [target, source] = [target, source].map(|path| escape_path(path).to_string());
    for array in &compared.arrays {
        let said = match array.agreement {
            Agreement::MissingInPack => format!("missing in {target}"),
            Agreement::MissingInSource => format!("missing in {source}"),
            _ => super::diff::agreement(&array.header, array.elements.as_ref()),
        };
        if !output.quiet || !array.agreement.is_same() {
            output.result(&format!("  {}: {said}\n", escape(&array.name)))?;
        }
    }
    show_losses(&compared.losses, output);
    let same = compared.arrays.iter().filter(|array| array.agreement.is_same()).count();
    let all = counted(compared.arrays.len() as u64, "array");
    if !output.quiet {
        let said = format!("{same} of {all} with the same numbers as in {source}\n");
        output.result(&said)?;
    }
    Ok(compared.is_same())
}

/// Selects the targets of a shard, an age and a budget.
fn planned(
    args: &VerifyArgs,
    given: &[PathBuf],
    options: &mut VerifyOptions,
) -> Result<AuditPlan, Failure> {
    let targets = given.iter().cloned().map(Ok).chain(args.more.names()?);
    let targets = targets.collect::<ra_pack::Result<Vec<_>>>()?;
    let mut logs = args.history.clone();
    logs.extend(args.log.clone());
    if args.max_age.is_some() && logs.is_empty() {
        let why =
            "--max-age needs the results of earlier runs; give their log with --log or --history";
        return Err(Failure::options(why));
    }
    let mut wanted = PlanOptions::default();
    if targets.len() == 1 {
        options.shard = args.shard;
        wanted.shard_of_target = args.shard;
    } else {
        wanted.shard = args.shard;
    }
    wanted.logs = logs;
    wanted.max_age = args.max_age;
    wanted.budget = args.budget;
    Ok(plan(targets, &wanted)?)
}

type Targets = Box<dyn Iterator<Item = ra_pack::Result<PathBuf>> + Send>;

/// Returns the targets in the order in which they are verified, until the time of the budget is over.
fn targets(
    args: &VerifyArgs,
    given: Vec<PathBuf>,
    plan: Option<&AuditPlan>,
) -> ra_pack::Result<Targets> {
    let planned = plan.map(|plan| plan.parts.iter().map(|part| part.target.clone()).collect());
    let targets = planned.unwrap_or(given).into_iter().map(Ok);
    if let Some(Budget::Time(limit)) = args.budget {
        let start = Instant::now();
        return Ok(Box::new(targets.take_while(move |_| start.elapsed() < limit)));
    }
    Ok(if plan.is_none() && args.more.is_given() {
        Box::new(targets.chain(args.more.names()?))
    } else {
        Box::new(targets)
    })
}

/// Prints how many targets were left out.
fn note_plan(args: &VerifyArgs, plan: &AuditPlan, verified: u64, output: &Output) {
    for (lines, what) in [(&plan.corrupt, CORRUPT), (&plan.future, FUTURE)] {
        print_lines(lines, 0, what, output);
    }
    let beyond = plan.beyond + (plan.parts.len() as u64).saturating_sub(verified);
    let left = [
        (plan.elsewhere, "in other shards"),
        (plan.recent, "verified recently"),
        (beyond, "beyond the budget"),
    ];
    let left = left.iter().filter(|(count, _)| *count > 0);
    let left: Vec<_> = left.map(|(count, why)| format!("{count} {why}")).collect();
    if !left.is_empty() {
        let verified = counted(verified, "target");
        output.note(&format!("verified {verified}; left out: {}", left.join(", ")));
    }
    debug_assert!(args.budget.is_some() || plan.beyond == 0, "only a budget leaves out the rest");
}

/// Prints the result for one of the targets.
fn print_verified(verified: Verified, json: bool, output: &Output) -> Result<Verdict, Failure> {
    let Verified { report, error, .. } = verified;
    match error {
        Some(error) => {
            output.message(&diagnostics::error(&error, None));
            if json {
                output.json(&report)?;
            }
            Ok(Verdict::Unreadable)
        }
        None => print_report(&report, "valid", json, output),
    }
}

/// Prints the result for one target; `valid` is its verdict if there are no errors.
fn print_report(
    report: &VerifyReport,
    valid: &str,
    json: bool,
    output: &Output,
) -> Result<Verdict, Failure> {
    let target = report.target.clone();
    // An archive that cannot be opened has no known members.
    let is_pack = report.container.is_some() || report.files == 0;
    if json {
        output.json(report)?;
    } else {
        let place = |found: &Finding| place(&target, is_pack, found);
        diagnostics::print(place, &report.findings, MANY, output)?;
    }
    if !json && (!output.quiet || !report.is_valid()) {
        output.result(&result_text(report, valid))?;
        let counts = report.metadata.as_ref().filter(|_| report.is_valid() && !output.is_closed());
        if let Some(lacks) = counts.and_then(|counts| lacks(counts, &target)) {
            output.note(&lacks);
        }
    }
    Ok(Verdict::of(&report.findings, report.contents_read))
}

/// Returns the file that a finding is about if the target is a single array or description, otherwise the target.
fn place(target: &Path, is_pack: bool, finding: &Finding) -> PathBuf {
    let file = finding.member.as_ref().filter(|_| !is_pack);
    file.map_or(target.to_owned(), PathBuf::from)
}

impl TargetCounts {
    fn add(&mut self, verdict: Verdict) {
        *self.0.entry(verdict).or_default() += 1;
    }

    fn all(&self) -> u64 {
        self.0.values().sum()
    }

    fn ending(&self) -> Ending {
        let has = |verdict| self.0.contains_key(&verdict);
        if has(Verdict::Unreadable) {
            Ending::Failed
        } else if has(Verdict::NotValid) || has(Verdict::NotVerified) {
            Ending::Findings
        } else {
            Ending::Clean
        }
    }

    fn summary(&self) -> String {
        let count = |(verdict, end)| Some(format!("{} {end}", self.0.get(&verdict)?));
        let ends: Vec<_> = OUTCOMES.into_iter().filter_map(count).collect();
        let all = counted(self.all(), "target");
        if ends.is_empty() { all } else { format!("{all}: {}", ends.join(", ")) }
    }
}

/// Formats the verdict on one target: one line if it is valid, otherwise also the intact part and the next step.
fn result_text(report: &VerifyReport, valid: &str) -> String {
    let valid = if report.contents_read { valid } else { "no errors found, contents not read" };
    let verdict = diagnostics::verdict(&report.findings, valid);
    let time = if report.seconds < SHOWN_SECONDS {
        String::new()
    } else {
        format!(", {:.1} s", report.seconds)
    };
    let target = escape_path(&report.target);
    let mut text = format!("{target}: {verdict} ({}{time})\n", summary::extent(report));
    for line in summary::remarks(report, &shell::path(&report.target)) {
        writeln!(text, "  {line}").expect("texts can grow");
    }
    text
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack manifest exp.zip
  ra-pack manifest exp.zip -o safe/today.manifest-sha256.txt
  ra-pack manifest --write exp
  ra-pack manifest --content surface.nc
  ra-pack manifest --check exp.zip
  ra-pack manifest --check exp.zip --manifest safe/exp.zip.manifest-sha256.txt")]
pub(crate) struct ManifestArgs {
    /// Archive or directory; with --content also a file in another format.
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// Print the content digest of each array instead: it is the same in any format, byte order, order of dimensions and
    /// compression. TARGET is a pack, or anything that `convert` reads.
    #[arg(long, conflicts_with_all = ["output", "write", "check", "digest", "force"])]
    content: bool,

    /// Write the manifest to this file instead of printing it.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["write", "check"])]
    output: Option<PathBuf>,

    /// Write the manifest into the directory, which makes it a pack.
    #[arg(long, conflicts_with = "check")]
    write: bool,

    /// Check the files against the existing manifest, and report differences.
    #[arg(long)]
    check: bool,

    /// Also check against this manifest, stored apart from the pack; the one inside must agree with it.
    #[arg(long = "manifest", value_name = "FILE", requires = "check")]
    kept: Option<PathBuf>,

    /// Compute digests with this algorithm: sha256 or sha512.
    #[arg(
        long,
        value_name = "ALGORITHM",
        default_value = "sha256",
        value_parser = algorithm,
        conflicts_with = "check"
    )]
    digest: Algorithm,

    /// Replace an existing file.
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
    if args.content {
        return content(args, output);
    }
    let options = ManifestOptions {
        algorithm: args.digest,
        force: args.force,
        jobs: args.common.jobs,
        progress: output.progress(),
    };
    let is_written = args.write || args.output.is_some();
    let made = if is_written {
        ra_pack::write::write_manifest(&args.target, args.output.as_deref(), &options)?
    } else {
        ra_pack::write::manifest_of(&args.target, &options)?
    };
    diagnostics::show(&args.target, &made.findings, &made.leftovers, output);
    if args.common.json {
        output.json(&made)?;
    } else if let Some(path) = &made.output {
        let files = counted(made.manifest.entries().len(), "file");
        let (path, bytes) = (escape_path(path), human_bytes(made.bytes));
        output.note(&format!("wrote {path} ({files}, {bytes})"));
    } else {
        output.file(&made.text())?;
    }
    Ok(Ending::Clean)
}

fn content(args: &ManifestArgs, output: &Output) -> Result<Ending, Failure> {
    let (jobs, progress) = (args.common.jobs, output.progress());
    let options = ConvertOptions { jobs, progress, ..ConvertOptions::default() };
    let report = content_digests(&args.target, &options)?;
    show_losses(&report.losses, output);
    for failed in &report.failed {
        let reason = failed.reason.in_words(Words::Command);
        output.message(&format!("ra-pack: {}: {}", escape(&failed.name), escape(&reason)));
    }
    if args.common.json {
        output.json(&report)?;
    } else {
        output.file(&report.text())?;
    }
    Ok(if report.failed.is_empty() { Ending::Clean } else { Ending::Findings })
}

fn check(args: &ManifestArgs, output: &Output) -> Result<Ending, Failure> {
    let options = VerifyOptions {
        only_manifests: true,
        full: true,
        jobs: args.common.jobs,
        manifest: args.kept.clone(),
        progress: output.progress(),
        ..VerifyOptions::default()
    };
    let mut report = ra_pack::verify(&args.target, &options)?;
    report.findings.retain(|found| found.code != Code::UnportableName);
    let verdict = print_report(&report, "verified", args.common.json, output)?;
    Ok(if verdict.is_valid() { Ending::Clean } else { Ending::Findings })
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack validate run1/temperature.yaml
  ra-pack validate --strict exp exp.zip
  ra-pack validate --metadata exp
  ra-pack validate --profile profile.json bag.zip
  ra-pack validate --for zenodo,dataverse exp exp.zip
  ra-pack validate --convention acdd exp
  ra-pack validate --allow DESC001 --allow DESC010 exp
  ra-pack validate --json exp | jq -r '.findings[] | [.member, .place.line, .code] | @tsv'
  ra-pack describe temperature.ra | ra-pack validate -")]
pub(crate) struct ValidateArgs {
    /// Archives, directories, arrays (.ra) and descriptions; `-` is standard input.
    #[arg(value_name = "TARGET", required_unless_present = "files_from")]
    paths: Vec<PathBuf>,

    /// Treat warnings as errors and reject ra-pack's extensions to NDL.
    #[arg(long)]
    strict: bool,

    /// Validate all packs in these directories and below: archives, and directories with a manifest.
    #[arg(short, long)]
    recursive: bool,

    /// Also check for known units, names, a title and other metadata, and that coordinates are strictly
    /// increasing or decreasing.
    #[arg(long)]
    metadata: bool,

    /// Print one line for each kind of error or warning, with the first files. Kinds with more than 20 are always
    /// printed so; --json lists all.
    #[arg(long, conflicts_with = "json")]
    short: bool,

    /// Ignore errors and warnings with this code. Repeatable.
    #[arg(long, value_name = "CODE")]
    allow: Vec<Code>,

    /// Also check bags against this BagIt profile, a JSON file.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,

    /// Also check what you would upload against the rules of b2share, dataverse, dryad, figshare or zenodo.
    #[arg(long = "for", value_name = "REPOSITORIES", value_delimiter = ',', value_parser = repository)]
    repositories: Vec<String>,

    /// Also check the rules of these conventions, and what --metadata checks.
    #[arg(long, value_name = "CONVENTIONS", value_delimiter = ',', value_parser = PossibleValuesParser::new(conventions()))]
    convention: Vec<String>,

    /// Use this directory as the root of the pack that single files belong to.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    #[command(flatten)]
    more: FilesFrom,

    #[command(flatten)]
    common: Common,
}

pub(super) fn validate(args: &ValidateArgs, output: &Output) -> Result<Ending, Failure> {
    let options = ValidateOptions {
        strict: args.strict,
        metadata: args.metadata,
        allow: args.allow.clone(),
        root: args.root.clone(),
        profile: args.profile.clone(),
        repositories: args.repositories.clone(),
        conventions: args.convention.clone(),
        jobs: args.common.jobs,
        progress: output.progress(),
    };
    let mut tally = TargetCounts::default();
    for target in
        files::packs(&args.paths, args.recursive)?.into_iter().map(Ok).chain(args.more.names()?)
    {
        match validate_one(&target?, &options, args, output) {
            Ok(verdict) => tally.add(verdict),
            // The profile is the same for all targets.
            Err(Failure::Operation(error, next)) if !is_refused(&error) => {
                output.message(&diagnostics::error(&error, next));
                tally.add(Verdict::Unreadable);
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(tally.ending())
}

fn repository(text: &str) -> Result<String, String> {
    let known = repositories();
    if known.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(format!("expected {}", known.join(", ")))
    }
}

fn is_refused(error: &ra_pack::Error) -> bool {
    matches!(error, ra_pack::Error::Refused { .. })
}

/// Validates one target, and prints the result.
fn validate_one(
    path: &Path,
    options: &ValidateOptions,
    args: &ValidateArgs,
    output: &Output,
) -> Result<Verdict, Failure> {
    let report = validated(path, options)?;
    let is_pack = report.container.is_some();
    if args.common.json {
        output.json(&report)?;
        return Ok(Verdict::of(&report.findings, true));
    }
    let limit = if args.short { 0 } else { MANY };
    diagnostics::print(|found| place(path, is_pack, found), &report.findings, limit, output)?;
    if !output.quiet || !report.is_valid() {
        output.result(&format!(
            "{}: {} ({}, {})\n",
            escape_path(&report.target),
            diagnostics::verdict(&report.findings, "valid"),
            counted(report.documents, "document"),
            counted(report.arrays, "array"),
        ))?;
    }
    Ok(Verdict::of(&report.findings, true))
}

fn validated(path: &Path, options: &ValidateOptions) -> ra_pack::Result<ValidateReport> {
    if path != Path::new("-") {
        return ra_pack::validate(path, options);
    }
    // One byte above the limit is enough for the error about it.
    let limit = ndl::MAX_TEXT as u64 + 1;
    let mut text = Vec::new();
    io::stdin().lock().take(limit).read_to_end(&mut text).map_err(|source| ra_pack::Error::Io {
        action: "read",
        path: "<stdin>".into(),
        source,
    })?;
    Ok(ra_pack::inspect::validate_text(&text, options))
}
