//! Unpacking: nothing is written outside of the target, through a link, or over another file, and
//! what was written is held against the manifest.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::manifests::{self, MAX_MANIFEST};
use super::select::Patterns;
use super::verify::{beside, data_finding};
use crate::archive::{Archive, Member, MemberKind};
use crate::digest::{Algorithm, Digest, Hasher};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding, count_errors};
use crate::fs::{self, PendingFile};
use crate::manifest::{Manifest, NameEncoding};
use crate::pack::{self, EXTERNAL_MANIFEST_SUFFIX, Layout, Placement};
use crate::parallel;

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
    /// What is wrong. A member with an error was not written, or removed again.
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
/// not written; the others are.
///
/// # Errors
///
/// When a file is there already, and `force` is not given; when the system refuses.
pub fn extract(archive: &Path, target: &Path, options: &ExtractOptions) -> Result<ExtractReport> {
    let opened = Archive::open(archive)?;
    let jobs = options.jobs.unwrap_or_else(parallel::default_jobs);
    let known = Known::find(&opened)?;
    fs::create_root(target)?;
    let extraction = Extraction {
        target,
        options,
        known: known.as_ref(),
        state: Mutex::new(State { made: BTreeSet::new(), bytes: 0 }),
    };
    if !options.force {
        extraction.refuse_existing(&opened)?;
    }
    let scan = opened.scan(jobs, &|member, content| extraction.write(member, content))?;
    let mut report = ExtractReport {
        archive: archive.to_owned(),
        target: target.to_owned(),
        members: 0,
        bytes: 0,
        verified: 0,
        findings: scan.findings,
    };
    let mut written = Vec::new();
    for (member, outcome) in scan.members {
        if member.kind == MemberKind::Directory && extraction.wants(&member.name) {
            extraction.make_directory(&member.name, &mut report.findings)?;
        }
        match outcome {
            Some(Outcome::Written { digest, bytes, verified }) => {
                report.members = report.members.saturating_add(1);
                report.bytes = report.bytes.saturating_add(bytes);
                report.verified = report.verified.saturating_add(u64::from(verified));
                written.push((member.name, digest, verified));
            }
            Some(Outcome::Finding(finding)) => report.findings.push(*finding),
            Some(Outcome::Failed(error)) => return Err(*error),
            Some(Outcome::Skipped) | None => {}
        }
    }
    // A stream has its manifest at the end, so what it says is known only now.
    match known {
        Some(_) => {}
        None => match Known::read_written(target, &written, &opened)? {
            Some(known) => remove_wrong(target, &known, written, &mut report)?,
            None => report.findings.push(
                Finding::new(Code::NoManifest, "there is no manifest, so nothing was checked")
                    .warning(),
            ),
        },
    }
    Ok(report)
}

/// Removes again what turned out to differ from the manifest.
fn remove_wrong(
    target: &Path,
    known: &Known,
    written: Vec<(String, Digest, bool)>,
    report: &mut ExtractReport,
) -> Result<()> {
    for (name, digest, _) in written {
        match known.check(&name, &digest) {
            Ok(verified) => report.verified = report.verified.saturating_add(u64::from(verified)),
            Err(finding) => {
                fs::remove_file(&target.join(&name))?;
                report.members = report.members.saturating_sub(1);
                report.findings.push(*finding);
            }
        }
    }
    Ok(())
}

/// The digests that are expected.
struct Known {
    placement: Placement,
    name: String,
    manifest: Manifest,
}

impl Known {
    /// The manifest of a container that can be read at any place.
    fn find(archive: &Archive) -> Result<Option<Self>> {
        if let Some(known) = Self::beside(archive)? {
            return Ok(Some(known));
        }
        if archive.is_stream() {
            return Ok(None);
        }
        let members = archive.members()?;
        let placement = Placement::detect(&members.iter().map(|member| member.name.as_str()));
        let name = pack::manifest_name(Algorithm::Sha256);
        let placed = placement.place_tag(&name);
        let Some(member) = members.iter().find(|member| member.name == placed) else {
            return Ok(None);
        };
        let mut text = Vec::new();
        let limited = archive.read(member)?;
        limited
            .take(MAX_MANIFEST)
            .read_to_end(&mut text)
            .map_err(|error| Error::damaged(archive.path(), data_finding(&member.name, &error)))?;
        Self::parse(archive, placement, name, &text).map(Some)
    }

    fn beside(archive: &Archive) -> Result<Option<Self>> {
        let path = beside(archive.path(), EXTERNAL_MANIFEST_SUFFIX);
        let Some(text) = manifests::read_beside(&path)? else { return Ok(None) };
        if archive.is_stream() {
            return Self::parse(
                archive,
                Placement::plain(),
                path.to_string_lossy().into_owned(),
                &text,
            )
            .map(Some);
        }
        let members = archive.members()?;
        let placement = Placement::detect(&members.iter().map(|member| member.name.as_str()));
        Self::parse(archive, placement, path.to_string_lossy().into_owned(), &text).map(Some)
    }

    /// The manifest among the files that were just written.
    fn read_written(
        target: &Path,
        written: &[(String, Digest, bool)],
        archive: &Archive,
    ) -> Result<Option<Self>> {
        let placement = Placement::detect(&written.iter().map(|(name, ..)| name.as_str()));
        let name = pack::manifest_name(Algorithm::Sha256);
        let placed = placement.place_tag(&name);
        if !written.iter().any(|(written, ..)| *written == placed) {
            return Ok(None);
        }
        let text = fs::read_limited(&target.join(&placed), MAX_MANIFEST)?;
        Self::parse(archive, placement, name, &text).map(Some)
    }

    fn parse(archive: &Archive, placement: Placement, name: String, text: &[u8]) -> Result<Self> {
        let names = match placement.layout {
            Layout::Plain => NameEncoding::Gnu,
            Layout::BagIt => NameEncoding::Percent,
        };
        let (manifest, faults) = Manifest::parse(Algorithm::Sha256, names, text);
        match faults.iter().find(|fault| !fault.is_warning()) {
            Some(fault) => {
                Err(Error::damaged(archive.path(), manifests::fault_finding(&name, fault)))
            }
            None => Ok(Self { placement, name, manifest }),
        }
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
        digest: Digest,
        bytes: u64,
        verified: bool,
    },
    /// It was not asked for.
    Skipped,
    Finding(Box<Finding>),
    Failed(Box<Error>),
}

struct Extraction<'a> {
    target: &'a Path,
    options: &'a ExtractOptions,
    known: Option<&'a Known>,
    state: Mutex<State>,
}

struct State {
    /// Directories that are known to be there and to be no links.
    made: BTreeSet<String>,
    bytes: u64,
}

impl Extraction<'_> {
    fn wants(&self, name: &str) -> bool {
        self.options.patterns.is_empty() || self.options.patterns.matches(name)
    }

    /// Refuses before anything is written, where the names are known beforehand.
    fn refuse_existing(&self, archive: &Archive) -> Result<()> {
        if archive.is_stream() || fs::is_empty_directory(self.target)? {
            return Ok(());
        }
        for member in archive.members()? {
            let path = self.target.join(&member.name);
            let safe = crate::path::MemberPath::new(member.name.as_str()).is_ok();
            if safe
                && member.kind == MemberKind::File
                && self.wants(&member.name)
                && fs::exists(&path)
            {
                return Err(Error::AlreadyExists { path });
            }
        }
        Ok(())
    }

    fn make_directory(&self, name: &str, findings: &mut Vec<Finding>) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if crate::path::MemberPath::new(name).is_err() {
            return Ok(());
        }
        match fs::create_directories(self.target, name, &mut state.made) {
            Err(error @ Error::Io { .. }) if fs::exists(&self.target.join(name)) => {
                findings
                    .push(Finding::new(Code::FileAndDirectory, error.to_string()).in_member(name));
                Ok(())
            }
            other => other,
        }
    }

    fn write(&self, member: &Member, content: &mut dyn BufRead) -> Outcome {
        if !self.wants(&member.name) {
            return Outcome::Skipped;
        }
        match self.try_write(member, content) {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Failed(Box::new(error)),
        }
    }

    fn try_write(&self, member: &Member, content: &mut dyn BufRead) -> Result<Outcome> {
        if let Some((parent, _)) = member.name.rsplit_once('/') {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            fs::create_directories(self.target, parent, &mut state.made)?;
        }
        let path = self.target.join(&member.name);
        let pending = PendingFile::create(&path, self.options.force)?;
        let mut hasher = Hasher::new(Algorithm::Sha256);
        let mut at = 0_u64;
        loop {
            let block = match content.fill_buf() {
                Ok([]) => break,
                Ok(block) => block,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Ok(Outcome::Finding(Box::new(data_finding(&member.name, &error))));
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
        let verified = match self.known.map(|known| known.check(&member.name, &digest)) {
            Some(Err(finding)) => return Ok(Outcome::Finding(finding)),
            Some(Ok(verified)) => verified,
            None => false,
        };
        pending.persist()?;
        Ok(Outcome::Written { digest, bytes: at, verified })
    }

    fn count(&self, bytes: usize) -> Result<()> {
        let Some(limit) = self.options.max_size else { return Ok(()) };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.bytes = state.bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        if state.bytes > limit {
            return Err(Error::Unsupported(format!(
                "the archive unpacks to more than the {limit} bytes that --max-size allows"
            )));
        }
        Ok(())
    }
}
