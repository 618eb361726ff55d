//! `ra-pack audit`: what the logs of `verify` say about each pack.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ra_pack::audit::{AuditOptions, AuditReport, AuditedTarget, LogLine};
use ra_pack::path::{escape, escape_path};

use super::files::FilesFrom;
use super::output::Output;
use super::text::counted;
use super::{Ending, Failure, common, report};

/// Seconds per day.
const DAY: u64 = 86_400;

#[derive(Debug, Args)]
#[command(after_long_help = "\
With --files-from, the summary has exactly the packs of the list, even those that no log mentions.

Examples:
  ra-pack audit audit.jsonl
  ra-pack audit --max-age 90d worker-*.jsonl
  ra-pack audit --max-age 90d audit.jsonl --html audit.html
  find packs -name '*.zip' | ra-pack audit audit.jsonl --files-from -
  ra-pack audit --json audit.jsonl | jq -r '.targets[] | select(.state != \"good\") | .target'")]
pub(crate) struct AuditArgs {
    /// Logs that `verify --log` has written.
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,

    /// Report packs whose last verification without errors is longer ago than this, such as 90d, as stale.
    #[arg(long, value_name = "AGE", value_parser = common::duration)]
    max_age: Option<Duration>,

    /// Also print packs that are good.
    #[arg(short, long)]
    all: bool,

    /// Also write the summary to this file, as a page for browsers.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Replace an existing page.
    #[arg(short, long, requires = "html")]
    force: bool,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    wanted: FilesFrom,
}

pub(super) fn run(args: &AuditArgs, output: &Output) -> Result<Ending, Failure> {
    let mut options = AuditOptions { max_age: args.max_age, ..AuditOptions::default() };
    if args.wanted.is_given() {
        options.targets = Some(args.wanted.names()?.collect::<ra_pack::Result<_>>()?);
    }
    let made = ra_pack::audit::audit(&args.logs, &options)?;
    print_lines(&made.corrupt, made.corrupt_lines, CORRUPT, output);
    print_lines(&made.future, made.future_lines, FUTURE, output);
    if let Some(page) = &args.html {
        ra_pack::files::write_new(page, args.force, |out| report::write_audit(&made, out))?;
        output.note(&format!("wrote {}", escape_path(page)));
    }
    if args.json {
        output.json(&made)?;
    } else {
        let shown = |target: &&AuditedTarget| args.all || target.state.needs_attention();
        for target in made.targets.iter().filter(shown) {
            output.result(&line(target))?;
        }
        if !output.quiet || made.needs_attention() {
            output.result(&summary(&made))?;
        }
    }
    if made.corrupt_lines > 0 {
        output.message("ra-pack: verify all packs again, and remove the lines that cannot be read");
    }
    if made.by_blocks > 0 {
        let packs = counted(made.by_blocks, "pack");
        output.note(&format!(
            "{packs}: block digests were compared instead of the digests of large files; `verify --full` compares both"
        ));
    }
    Ok(if made.needs_attention() { Ending::Findings } else { Ending::Clean })
}

/// The messages about lines that cannot be read, and about those with a time in the future.
pub(super) const CORRUPT: &str = "the line cannot be read";
pub(super) const FUTURE: &str = "the line cannot be trusted";

/// Prints messages about the first of `count` lines of logs.
pub(super) fn print_lines(lines: &[LogLine], count: u64, what: &str, output: &Output) {
    for LogLine { log, line, reason, .. } in lines {
        let (log, reason) = (escape_path(log), escape(reason));
        output.message(&format!("ra-pack: {log}:{line}: {what}: {reason}"));
    }
    let more = count.saturating_sub(lines.len() as u64);
    if more > 0 {
        output.message(&format!("ra-pack: {}: {what}", counted(more, "more line")));
    }
}

fn line(target: &AuditedTarget) -> String {
    let name = escape(&target.target);
    let reason = target.reason.as_ref().map(|reason| format!(": {}", escape(reason)));
    let by = target.signed_by.iter().map(|by| format!(", signed by {}", escape(by)));
    let at = target.existed_at.map(|time| format!(", existed at {}", time.date()));
    let store = store(target).map(|word| format!(", store: {word}"));
    let signed: String = by.chain(at).chain(store).collect();
    let reason = reason.unwrap_or_default();
    format!("{name}: {}, {}{signed}{reason}", target.state.text(), last_good(target))
}

/// Formats what a store said: `agrees (CRC64NVME)`.
pub(super) fn store(target: &AuditedTarget) -> Option<String> {
    let word = target.store.as_ref()?;
    let checksum = word.checksum.as_ref().map(|name| format!(" ({})", escape(name)));
    Some(format!("{}{}", word.outcome.text(), checksum.unwrap_or_default()))
}

/// Formats the last verification without errors and its age: `last good 2026-03-01 (91 days ago)`.
pub(super) fn last_good(target: &AuditedTarget) -> String {
    match (target.last_good, target.age) {
        (Some(time), Some(age)) if age < DAY => format!("last good {} (today)", time.date()),
        (Some(time), None) => format!("last good {} (in the future)", time.date()),
        (Some(time), Some(age)) => {
            format!("last good {} ({} ago)", time.date(), counted(age / DAY, "day"))
        }
        _ => "never good".to_owned(),
    }
}

/// Formats the numbers of packs: `10 packs: 1 bad, 9 good`.
pub(super) fn summary(report: &AuditReport) -> String {
    let counts = report.counts.iter();
    let counts: Vec<_> = counts.map(|(state, count)| format!("{count} {}", state.text())).collect();
    let all = counted(report.targets.len() as u64, "pack");
    let empty = "the logs have no results".to_owned();
    format!("{all}: {}", if counts.is_empty() { empty } else { counts.join(", ") })
}
