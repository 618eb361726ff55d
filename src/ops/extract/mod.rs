//! Unpacking: nothing is written outside of the target, through a link, or over another file, and
//! every file is held against the manifest before it gets its name.
//!
//! The archive is read in two passes: first its structure and its manifest, then the contents. So
//! everything that forbids writing a member is known beforehand, also in a stream, whose manifest is at
//! its end.

mod write; // the second pass

use std::path::{Path, PathBuf};

use serde::Serialize;

use self::write::{Extraction, Outcome};
use super::manifests;
use super::scan::{ListedDigests, Look, PackScan, ambiguous};
use super::select::Patterns;
use super::verify::is_payload;
use crate::archive::{Archive, Contents, Member, MemberKind};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, count_errors};
use crate::fs::{self, Turn};
use crate::pack::Layout;
use crate::path;
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
    let whole = if opened.is_stream() { Some(opened.bytes_to_read()) } else { None };
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
    let bytes = whole.unwrap_or_else(|| packed.fold(0, u64::saturating_add));
    options.progress.stage("unpacking", bytes, plan.files.len() as u64);
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

/// The files to write and the digests that they must have.
pub(super) struct Plan {
    /// Every member of the archive.
    pub(super) members: Vec<Member>,
    /// The numbers of the files to write.
    pub(super) files: Vec<usize>,
    /// The numbers of the directories to make.
    pub(super) directories: Vec<usize>,
    /// The digests that the manifest lists, if there is one.
    pub(super) listed: Option<ListedDigests>,
    pub(super) findings: Vec<Finding>,
}

impl Plan {
    /// Scans the archive, and keeps of it only its contents for the second pass.
    fn new(archive: Archive, jobs: usize, options: &ExtractOptions) -> Result<(Self, Contents)> {
        let mut scan = PackScan::new(&archive, jobs, Look::Manifests)?;
        let archive_path = archive.path().to_owned();
        // The directory of a large archive makes room for its manifest.
        let contents = archive.into_contents();
        if let Some(name) =
            options.patterns.missing(scan.members.iter().map(|member| &*member.name))
        {
            return Err(Error::NoSuchMember {
                archive: archive_path,
                member: name.to_owned(),
                suggestion: None,
            });
        }
        let listed = scan.listed()?;
        let PackScan { placement, members, files: mut readable, mut findings, .. } = scan;
        if listed.is_none() {
            findings.push(
                Finding::new(Code::NoManifest, "there is no manifest, so nothing was checked")
                    .warning(),
            );
        }
        let ambiguous = ambiguous(&findings);
        let is_wanted = |member: &Member| {
            (options.patterns.is_empty() || options.patterns.matches(&member.name))
                && !ambiguous.contains(&*member.name)
        };
        let is_named = |member: &Member| path::is_sound(&member.name);
        let of_kind = |number: &usize, kind: MemberKind| {
            members.get(*number).is_some_and(|member| member.kind == kind && is_wanted(member))
        };
        // A declared size is kept to while the content is read.
        let sizes = members.iter().filter(|member| member.kind == MemberKind::File);
        let sizes =
            sizes.filter(|member| is_wanted(member) && is_named(member)).map(|member| member.size);
        if let Some(limit) = options.max_size {
            let bytes = sizes.fold(0_u64, u64::saturating_add);
            if bytes > limit {
                return Err(Error::Unsupported(format!(
                    "the archive unpacks to {bytes} bytes, more than the {limit} that --max-size \
                     allows"
                )));
            }
        }
        readable.retain(|number| of_kind(number, MemberKind::File));
        if let Some(listed) = &listed {
            findings.extend(readable.iter().filter_map(|number| {
                let name = &*members.get(*number)?.name;
                let must_be_listed = match placement.relative(name) {
                    Some(name) => is_payload(&placement, name),
                    None => placement.layout == Layout::Plain,
                };
                (must_be_listed && listed.digests.get(*number).is_none())
                    .then(|| manifests::unlisted(name, &listed.name))
            }));
        }
        let directories = 0..members.len();
        let directories = directories.filter(|number| {
            of_kind(number, MemberKind::Directory) && members.get(*number).is_some_and(is_named)
        });
        let directories = directories.collect();
        Ok((Self { files: readable, directories, members, listed, findings }, contents))
    }

    /// The members of these numbers.
    pub(super) fn members(&self, numbers: &[usize]) -> impl Iterator<Item = &Member> {
        numbers.iter().filter_map(|number| self.members.get(*number))
    }

    /// Whether there is nothing to write.
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.directories.is_empty()
    }

    /// Refuses before anything is written.
    fn refuse_existing(&self, target: &Path) -> Result<()> {
        if fs::is_empty_directory(target)? {
            return Ok(());
        }
        let paths = self.members(&self.files).map(|member| target.join(&*member.name));
        match paths.filter(|path| fs::exists(path)).min() {
            Some(path) => Err(Error::AlreadyExists { path }),
            None => Ok(()),
        }
    }
}
