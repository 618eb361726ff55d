//! Logs of verifications: one JSON line for each verified target, appended and synced when the target ends.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::fs::{self, File, LineFile, Version};
use crate::json;
use crate::signature::Signature;
use crate::time::Timestamp;
use crate::verify::{Shard, StoreWord, TargetErrorKind, Verdict, VerifyReport};

/// Longest line that is read, in bytes: more than a report with the largest number of findings has.
const MAX_LINE: u64 = 64 << 20;

/// The beginning of every line.
const BEGIN: &[u8] = b"{\"target\":";

/// The kind of file, for messages.
const A_LOG: &str = "a log of `verify`";

/// A log of verifications that reports are appended to. Several processes may append to one log on a local file system.
/// On a network file system, each needs its own; `cat` joins them.
#[derive(Debug)]
pub struct AuditLog {
    file: LineFile,
}

impl AuditLog {
    /// Opens a log to append to, which is created if needed.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be opened for writing, and [`Error::WrongTarget`] if it is another kind of file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if fs::exists(path) {
            check_that_it_is_a_log(path)?;
        }
        Ok(Self { file: LineFile::open(path)? })
    }

    /// Appends a report. It is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be written completely. The log then has the lines that it had before.
    pub fn append(&self, report: &VerifyReport) -> Result<()> {
        let line = json::text(report).map_err(Error::io("write", self.file.path()))?;
        self.file.append(&line)
    }

    /// Appends reports that other processes made, as [`json::text`] returns them. They are synced to disk together.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] if one of them is not a line of a log, and [`Error::Io`] if they cannot be written
    /// completely. The log then has the lines that it had before.
    pub fn append_lines(&self, lines: &[impl AsRef<str>]) -> Result<()> {
        lines.iter().try_for_each(|line| check_that_it_is_a_report(line.as_ref()))?;
        let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
        if lines.is_empty() { Ok(()) } else { self.file.append(&lines.join("\n")) }
    }
}

/// Refuses lines that are not reports, so that a log has nothing else.
fn check_that_it_is_a_report(line: &str) -> Result<()> {
    let is_one_line = line.starts_with("{\"target\":") && !line.contains('\n');
    match serde_json::from_str::<Stored>(line) {
        Ok(_) if is_one_line => Ok(()),
        _ => Err(Error::options("expected a line of a log of `verify`".to_owned())),
    }
}

/// Refuses a file that is not a log, so that nothing is appended to an archive.
fn check_that_it_is_a_log(path: &Path) -> Result<()> {
    let file = File::open(path)?;
    let mut start = [0; BEGIN.len()];
    let filled = file.read_at(&mut start, 0)?;
    // The first run may have been killed in its first line.
    if BEGIN.starts_with(start.split_at(filled).0) {
        return Ok(());
    }
    let is = file.kind()?.not(A_LOG);
    Err(Error::wrong_target(path, format!("is {is}; nothing was written to it")))
}

/// The facts in a line that a summary needs.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) started: Timestamp,
    /// When the verification began, as far as its place in the log shows: see [`super::history`].
    pub(super) since: Timestamp,
    pub(super) is_future: bool,
    /// Number of the log.
    pub(super) log: u32,
    pub(super) host: Option<String>,
    pub(super) verdict: Verdict,
    pub(super) is_missing: bool,
    pub(super) version: Version,
    pub(super) manifest_digest: Option<String>,
    pub(super) shard_block_size: Option<u64>,
    /// Whether blocks were compared instead of the digests of whole files.
    pub(super) is_by_blocks: bool,
    /// The signatures and time-stamps that are good.
    pub(super) signatures: Vec<Signature>,
    pub(super) store: Option<StoreWord>,
    /// Why the target is not valid, and the codes of its errors.
    pub(super) reason: Option<String>,
    pub(super) codes: Vec<String>,
}

impl Entry {
    /// Returns whether every byte was read and agrees with a manifest.
    pub(super) fn is_good(&self) -> bool {
        self.verdict == Verdict::Valid
    }
}

/// A line of a log that cannot be read or trusted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LogLine {
    /// Path of the log.
    pub log: PathBuf,
    /// Number of the line, from 1.
    pub line: u64,
    /// Why it cannot.
    pub reason: String,
}

/// A line as it is stored. Keys that a summary does not need are ignored, and so are keys of later versions.
#[derive(Deserialize)]
struct Stored {
    target: String,
    verdict: Verdict,
    error: Option<StoredError>,
    started: Timestamp,
    host: Option<String>,
    shard: Option<Shard>,
    archive_bytes: Option<u64>,
    modified: Option<Timestamp>,
    e_tag: Option<String>,
    manifest_digest: Option<String>,
    shard_block_size: Option<u64>,
    blocks: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    signatures: Vec<Signature>,
    store: Option<StoreWord>,
    findings: Vec<StoredFinding>,
}

#[derive(Deserialize)]
struct StoredError {
    kind: String,
    message: String,
}

#[derive(Deserialize)]
struct StoredFinding {
    code: String,
    severity: String,
    message: String,
    member: Option<String>,
}

impl Stored {
    fn entry(self) -> (String, Shard, Entry) {
        let missing = json::text(&TargetErrorKind::Missing).unwrap_or_default();
        let is_missing =
            self.error.as_ref().is_some_and(|error| missing.trim_matches('"') == error.kind);
        let errors = || self.findings.iter().filter(|finding| finding.severity == "error");
        let codes: BTreeSet<&str> = errors().map(|finding| &*finding.code).collect();
        let of_findings = errors().next().map(|first| {
            let member = first.member.as_ref().map(|member| format!("{member}: "));
            let more = match errors().count() - 1 {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            format!("{}{} ({}){more}", member.unwrap_or_default(), first.message, first.code)
        });
        let reason = self.error.as_ref().map(|error| error.message.clone()).or(of_findings);
        let entry = Entry {
            started: self.started,
            since: self.started,
            is_future: false,
            log: 0,
            host: self.host,
            verdict: self.verdict,
            is_missing,
            version: Version {
                length: self.archive_bytes,
                modified: self.modified,
                e_tag: self.e_tag,
            },
            manifest_digest: self.manifest_digest,
            shard_block_size: self.shard_block_size,
            is_by_blocks: self.blocks.is_some(),
            signatures: self.signatures.into_iter().filter(Signature::is_good).collect(),
            store: self.store,
            reason,
            codes: codes.into_iter().map(str::to_owned).collect(),
        };
        (self.target, self.shard.unwrap_or(Shard::WHOLE), entry)
    }
}

/// Reads a log. A file of another format, such as an archive, is an error. Lines that cannot be read are passed to
/// `corrupt`.
pub(super) fn read(
    path: &Path,
    mut take: impl FnMut(u64, String, Shard, Entry),
    mut corrupt: impl FnMut(LogLine),
) -> Result<()> {
    let file = File::open(path)?;
    let kind = file.kind()?;
    if kind.may_hold_a_pack() || kind.is_of_another_format() {
        return Err(Error::wrong_target(path, format!("is {}", kind.not(A_LOG))));
    }
    let mut reader = BufReader::new(file);
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut text);
        if read.map_err(Error::io("read", path))? == 0 {
            break;
        }
        let is_complete = text.pop_if(|last| *last == b'\n').is_some();
        if !is_complete && text.len() as u64 == MAX_LINE {
            reader.skip_until(b'\n').map_err(Error::io("read", path))?;
            let reason = format!("the line is longer than {MAX_LINE} bytes");
            corrupt(LogLine { log: path.to_owned(), line, reason });
            continue;
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        let stored = serde_json::from_slice(&text).map_err(|error| {
            const CUT: &str = "the line has no end: its writer was stopped, or is still writing";
            if is_complete { reason(&error) } else { CUT.to_owned() }
        });
        match stored.map(Stored::entry) {
            Ok((target, shard, entry)) => take(line, target, shard, entry),
            Err(reason) => corrupt(LogLine { log: path.to_owned(), line, reason }),
        }
    }
    Ok(())
}

/// Returns the message of an error with the column, without the line: each line is parsed alone.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (what, _) = text.split_once(" at line ").unwrap_or((&text, ""));
    match error.column() {
        0 => what.to_owned(),
        column => format!("column {column}: {what}"),
    }
}
