//! Unpacking: nothing is written outside of the target, through a link, or over another file, and
//! every file is held against the manifest before it gets its name.
//!
//! The archive is looked at twice: first at its structure and its manifest, then at the contents. So
//! everything that forbids writing a member is known beforehand, also in a stream, whose manifest is at
//! its end.

mod plan; // the first look: what is to be written
mod write; // the second: files

use std::path::{Path, PathBuf};

use serde::Serialize;

use self::plan::Plan;
use self::write::{Extraction, Outcome};
use super::select::Patterns;
use crate::archive::{Archive, Container};
use crate::error::Result;
use crate::finding::{self, Finding, count_errors};
use crate::fs::{self, Turn};
use crate::pipeline;
use crate::progress::Progress;

/// How to unpack.
#[derive(Debug, Clone, Default)]
pub struct ExtractOptions {
    /// What to unpack; everything when there are none.
    pub patterns: Patterns,
    /// Replace files that are there already.
    pub force: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// Most bytes that may be written; no limit when not given.
    pub max_size: Option<u64>,
    /// Who is told how far it is.
    pub progress: Progress,
}

/// What was unpacked.
#[derive(Debug, Clone, Serialize)]
pub struct ExtractReport {
    /// The archive.
    pub archive: PathBuf,
    /// The directory.
    pub target: PathBuf,
    /// Files that were written.
    pub members: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files whose content agreed with a manifest.
    pub verified: u64,
    /// Files in the directories that were written to, left by an interrupted run.
    pub leftovers: Vec<PathBuf>,
    /// What is wrong. A member with an error was not written, unless all that is wrong is that no manifest lists it.
    pub findings: Vec<Finding>,
}

impl ExtractReport {
    /// Whether nothing is wrong; warnings do not count.
    pub fn is_sound(&self) -> bool {
        count_errors(&self.findings) == 0
    }
}

/// Unpacks `archive` into the directory `target`, which is made when it is not there.
///
/// Each file gets its name when it is complete and agrees with the manifest; until then it has none, or a
/// temporary one beside its own where the file system has no files without. Members that are damaged, unsafe or not as listed are reported and
/// not written; the others are. One that the manifest does not list is written and reported. Where everything is unpacked, what the manifest lists and the archive
/// does not hold is reported too.
///
/// Files get the permissions of new files and the time of writing; nothing else of what an archive says
/// of them is restored. As with `tar` and `unzip`, a power cut may take files with it that were written
/// just before: they are not synced one by one.
///
/// # Errors
///
/// When a file is there already, and `force` is not given; when the archive is larger than `max_size`;
/// when the system refuses.
pub fn extract(archive: &Path, target: &Path, options: &ExtractOptions) -> Result<ExtractReport> {
    let opened = Archive::open_watched(archive, &options.progress)?;
    let is_stream = matches!(opened.container(), Container::TarGz | Container::TarZst);
    let whole = if is_stream { opened.bytes_to_read() } else { 0 };
    options.progress.stage("reading", whole, 0);
    let jobs = pipeline::jobs(options.jobs);
    let (mut plan, contents) = Plan::new(opened, jobs, options)?;
    let mut report = ExtractReport {
        archive: archive.to_owned(),
        target: target.to_owned(),
        members: 0,
        bytes: 0,
        verified: 0,
        leftovers: Vec::new(),
        findings: std::mem::take(&mut plan.findings),
    };
    if plan.is_empty() && !options.patterns.is_empty() {
        return Ok(report);
    }
    fs::create_root(target)?;
    // Runs that replace files would leave a mixture of two packs.
    let _turn = Turn::take(target, !options.force, &options.progress);
    if !options.force {
        plan.refuse_existing(target)?;
    }
    let extraction = Extraction::new(target, options, &plan)?;
    extraction.make_directories(&mut report.findings)?;
    let packed = plan.members(&plan.files).map(|member| member.packed_size);
    let bytes = if is_stream { whole } else { packed.fold(0, u64::saturating_add) };
    options.progress.stage("unpacking", bytes, wide(plan.files.len()));
    let outcomes = extraction.write_all(&contents, jobs)?;
    report.findings.append(&mut extraction.missing());
    for outcome in outcomes {
        match outcome {
            Outcome::Written { bytes, verified } => {
                report.members = report.members.saturating_add(1);
                report.bytes = report.bytes.saturating_add(bytes);
                report.verified = report.verified.saturating_add(u64::from(verified));
            }
            Outcome::Finding(finding) => report.findings.push(*finding),
            Outcome::Failed(error) => return Err(*error),
            Outcome::Skipped => {}
        }
    }
    report.leftovers = extraction.leftovers();
    finding::cut(&mut report.findings);
    Ok(report)
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
