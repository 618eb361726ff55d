//! Unpacking: nothing is written outside of the target, through a link, or over another file, and
//! every file is held against the manifest before it gets its name.
//!
//! The archive is looked at twice: first at its structure and its manifest, then at the contents. So
//! everything that forbids writing a member is known beforehand, also in a stream, whose manifest is at
//! its end.

use std::collections::HashSet;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::Serialize;

use super::bag::is_declaration;
use super::glance::ambiguous;
use super::manifest_text::{self, ManifestText, RootFiles};
use super::manifests::{self, MAX_MANIFEST, NamedManifest, beside};
use super::select::Patterns;
use crate::archive::{Archive, Member, MemberKind};
use crate::digest::{Algorithm, Digest, Hasher};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding, count_errors};
use crate::fs::{self, Target};
use crate::manifest::Manifest;
use crate::pack::{self, EXTERNAL_MANIFEST_SUFFIX, Layout, Placement};
use crate::parallel;
use crate::path::MemberPath;

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
    /// What is wrong. A member with an error was not written.
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
/// Each file is written under a temporary name beside its own and gets its name when it is complete
/// and agrees with the manifest. Members that are damaged, unsafe or not as listed are reported and
/// not written; the others are. Where everything is unpacked, what the manifest lists and the archive
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
    let opened = Archive::open(archive)?;
    let jobs = options.jobs.unwrap_or_else(parallel::default_jobs);
    let plan = Plan::new(&opened, jobs, options)?;
    fs::create_root(target)?;
    if !options.force {
        plan.refuse_existing(target)?;
    }
    let mut report = ExtractReport {
        archive: archive.to_owned(),
        target: target.to_owned(),
        members: 0,
        bytes: 0,
        verified: 0,
        leftovers: Vec::new(),
        findings: plan.findings.clone(),
    };
    let extraction = Extraction {
        target: Target::open(target)?,
        options,
        plan: &plan,
        written: AtomicU64::new(0),
        failed: AtomicBool::new(false),
    };
    extraction.make_directories(&mut report.findings)?;
    let scan = opened.scan(jobs, &|member, content| extraction.write(member, content))?;
    if options.patterns.is_empty()
        && let Some(known) = &plan.known
    {
        let members = scan.members.iter().map(|(member, _)| member);
        report.findings.extend(known.missing(members));
    }
    for (_, outcome) in scan.members {
        match outcome {
            Some(Outcome::Written { bytes, verified }) => {
                report.members = report.members.saturating_add(1);
                report.bytes = report.bytes.saturating_add(bytes);
                report.verified = report.verified.saturating_add(u64::from(verified));
            }
            Some(Outcome::Finding(finding)) => report.findings.push(*finding),
            Some(Outcome::Failed(error)) => return Err(*error),
            Some(Outcome::Skipped) | None => {}
        }
    }
    report.leftovers = extraction.leftovers();
    Ok(report)
}

/// What is to be written, and what is known of it.
struct Plan {
    files: HashSet<String>,
    directories: Vec<String>,
    known: Option<Known>,
    findings: Vec<Finding>,
}

impl Plan {
    fn new(archive: &Archive, jobs: usize, options: &ExtractOptions) -> Result<Self> {
        let kept = AtomicU64::new(0);
        let scan = archive.scan(jobs, &|member, content| look(&kept, member, content))?;
        let mut findings = scan.findings;
        let kept = scan.members.into_iter().map(|(member, text)| keep(member, text.flatten()));
        let members = kept.collect::<Result<Vec<_>>>()?;
        let placement = Placement::detect(&members.iter().map(|(member, _)| member.name.as_str()));
        let known = Known::find(archive, &placement, &members, &mut findings)?;
        if known.is_none() {
            findings.push(
                Finding::new(Code::NoManifest, "there is no manifest, so nothing was checked")
                    .warning(),
            );
        }
        let ambiguous = ambiguous(&findings);
        let wanted = members.iter().map(|(member, _)| member).filter(|member| {
            (options.patterns.is_empty() || options.patterns.matches(&member.name))
                && MemberPath::new(member.name.as_str()).is_ok()
                && !ambiguous.contains(&member.name)
        });
        let (mut files, mut directories, mut bytes) = (HashSet::new(), Vec::new(), 0_u64);
        for member in wanted {
            match member.kind {
                MemberKind::File => {
                    // A declared size is kept to while the content is read.
                    bytes = bytes.saturating_add(member.size);
                    files.insert(member.name.clone());
                }
                MemberKind::Directory => directories.push(member.name.clone()),
                MemberKind::Link | MemberKind::Special => {}
            }
        }
        if let Some(limit) = options.max_size.filter(|limit| bytes > *limit) {
            return Err(Error::Unsupported(format!(
                "the archive unpacks to {bytes} bytes, more than the {limit} that --max-size allows"
            )));
        }
        Ok(Self { files, directories, known, findings })
    }

    /// Refuses before anything is written.
    fn refuse_existing(&self, target: &Path) -> Result<()> {
        if fs::is_empty_directory(target)? {
            return Ok(());
        }
        let mut paths: Vec<PathBuf> = self.files.iter().map(|name| target.join(name)).collect();
        paths.sort();
        match paths.into_iter().find(|path| fs::exists(path)) {
            Some(path) => Err(Error::AlreadyExists { path }),
            None => Ok(()),
        }
    }
}

/// The text of a member that may be the manifest, or what is wrong with it; of others nothing is read.
type KeptText = Option<Result<Vec<u8>, Box<Finding>>>;

fn look(
    kept: &AtomicU64,
    member: &Member,
    content: &mut dyn BufRead,
) -> Option<io::Result<Vec<u8>>> {
    // At the top, or in the one directory that may hold everything.
    let last = member.name.split_once('/').map_or(member.name.as_str(), |(_, last)| last);
    if pack::manifest_algorithm(last).is_none() && !is_declaration(last) {
        return None;
    }
    let mut text = Vec::new();
    let read = content.take(MAX_MANIFEST.saturating_add(1)).read_to_end(&mut text);
    let wide = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if kept.fetch_add(wide, Ordering::Relaxed).saturating_add(wide) > MAX_MANIFEST {
        return Some(Err(io::Error::other(format!(
            "the manifests are longer than the {MAX_MANIFEST} bytes that are read"
        ))));
    }
    Some(read.map(|_| text))
}

/// Tells damage from a refusal of the system, which is an error.
fn keep(member: Member, text: Option<io::Result<Vec<u8>>>) -> Result<(Member, KeptText)> {
    let kept = match text {
        None => None,
        Some(Ok(text)) => Some(Ok(text)),
        Some(Err(error)) => Some(Err(Box::new(manifests::unreadable(&member.name, error)?))),
    };
    Ok((member, kept))
}

/// The files at the root of the pack that were kept on the first look.
struct Kept<'a> {
    archive: &'a Archive,
    placement: &'a Placement,
    members: &'a [(Member, KeptText)],
}

impl RootFiles for Kept<'_> {
    fn layout(&self) -> Result<Layout> {
        Ok(self.placement.layout)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let placed = self.placement.place_tag(name);
        let found = self.members.iter().find(|(member, _)| member.name == placed);
        match found.and_then(|(_, text)| text.as_ref()) {
            None => Ok(None),
            Some(Ok(text)) => Ok(Some(text.clone())),
            Some(Err(finding)) => Err(self.damaged((**finding).clone())),
        }
    }

    fn damaged(&self, finding: Finding) -> Error {
        Error::damaged(self.archive.path(), finding)
    }
}

/// The digests that are expected.
struct Known {
    placement: Placement,
    name: String,
    manifest: Manifest,
}

impl Known {
    /// The manifest beside the archive, or the one in it.
    fn find(
        archive: &Archive,
        placement: &Placement,
        members: &[(Member, KeptText)],
        findings: &mut Vec<Finding>,
    ) -> Result<Option<Self>> {
        let files = Kept { archive, placement, members };
        let text = match Self::text(&files) {
            // The others can still be unpacked, unchecked.
            Err(Error::Damaged { finding, .. }) => {
                findings.push(*finding);
                None
            }
            text => text?,
        };
        Ok(text.map(|text| {
            let NamedManifest { name, manifest } = text.parse(findings);
            Self { placement: placement.clone(), name, manifest }
        }))
    }

    fn text(files: &Kept<'_>) -> Result<Option<ManifestText<'static>>> {
        let path = beside(files.archive.path(), EXTERNAL_MANIFEST_SUFFIX);
        let Some(text) = manifests::read_beside(&path)? else {
            return manifest_text::preferred(files);
        };
        let names = manifest_text::rules(files)?.names;
        Ok(Some(ManifestText::outside(path.to_string_lossy(), Algorithm::Sha256, names, text)))
    }

    /// What is listed and not in the archive.
    fn missing<'m>(&self, members: impl Iterator<Item = &'m Member>) -> Vec<Finding> {
        let there: HashSet<&str> =
            members.filter_map(|member| self.placement.relative(&member.name)).collect();
        let listed = self.manifest.entries().iter();
        listed
            .filter(|entry| !there.contains(entry.path.as_str()))
            .map(|entry| manifests::missing(entry.path.as_str(), &self.name, entry.line))
            .collect()
    }

    /// Whether a file agrees with its entry; a file without one is not checked.
    fn check(&self, name: &str, digest: &Digest) -> Result<bool, Box<Finding>> {
        let relative = self.placement.relative(name).unwrap_or(name);
        match self.manifest.get(relative) {
            None => Ok(false),
            Some(entry) if entry.digest == *digest => Ok(true),
            Some(entry) => {
                Err(Box::new(manifests::mismatch(name, &self.name, &entry.digest, digest)))
            }
        }
    }
}

/// What became of one member.
enum Outcome {
    Written {
        bytes: u64,
        verified: bool,
    },
    /// It is not to be written, or another member failed before.
    Skipped,
    Finding(Box<Finding>),
    Failed(Box<Error>),
}

struct Extraction<'a> {
    target: Target,
    options: &'a ExtractOptions,
    plan: &'a Plan,
    /// Bytes of all files so far.
    written: AtomicU64,
    failed: AtomicBool,
}

impl Extraction<'_> {
    /// Makes the directories that the archive names, so that empty ones are there too.
    fn make_directories(&self, findings: &mut Vec<Finding>) -> Result<()> {
        for name in &self.plan.directories {
            match self.target.make_directory(name) {
                // Something else is in the way; whatever else the system says is no fault of the archive.
                Err(error @ Error::Io { .. }) if error.is_not_a_directory() => {
                    let finding = Finding::new(Code::FileAndDirectory, error.to_string());
                    let hint = "move what is there out of the way, or unpack elsewhere";
                    findings.push(finding.in_member(name.as_str()).hint(hint));
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// What an interrupted run left in the directories that were written to.
    fn leftovers(&self) -> Vec<PathBuf> {
        let directories = self.target.directories();
        let mut leftovers: Vec<_> =
            directories.iter().flat_map(|directory| fs::leftovers_in(directory, ".")).collect();
        leftovers.sort();
        leftovers
    }

    /// Counts what is about to be written. Sizes are claims, so that their sum was not enough to look at.
    fn count(&self, bytes: usize) -> Result<()> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        match self.options.max_size.filter(|limit| before.saturating_add(bytes) > *limit) {
            Some(limit) => Err(Error::Unsupported(format!(
                "the archive unpacks to more than the {limit} bytes that --max-size allows"
            ))),
            None => Ok(()),
        }
    }

    fn write(&self, member: &Member, content: &mut dyn BufRead) -> Outcome {
        if !self.plan.files.contains(&member.name) || self.failed.load(Ordering::Relaxed) {
            return Outcome::Skipped;
        }
        match self.try_write(member, content) {
            Ok(outcome) => outcome,
            Err(error) => {
                self.failed.store(true, Ordering::Relaxed);
                Outcome::Failed(Box::new(error))
            }
        }
    }

    fn try_write(&self, member: &Member, content: &mut dyn BufRead) -> Result<Outcome> {
        let pending = self.target.begin(&member.name, self.options.force)?;
        let known = self.plan.known.as_ref();
        let algorithm = known.map_or(Algorithm::Sha256, |known| known.manifest.algorithm());
        let mut hasher = Hasher::new(algorithm);
        let mut at = 0_u64;
        loop {
            let block = match content.fill_buf() {
                Ok([]) => break,
                Ok(block) => block,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let finding = manifests::unreadable(&member.name, error)?;
                    return Ok(Outcome::Finding(Box::new(finding)));
                }
            };
            self.count(block.len())?;
            hasher.update(block);
            pending.file().write_all_at(block, at)?;
            let count = block.len();
            at = at.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
            content.consume(count);
        }
        let digest = hasher.finish();
        let known = known.map(|known| known.check(&member.name, &digest));
        let verified = match known {
            Some(Err(finding)) => return Ok(Outcome::Finding(finding)),
            Some(Ok(verified)) => verified,
            None => false,
        };
        pending.persist()?;
        Ok(Outcome::Written { bytes: at, verified })
    }
}
