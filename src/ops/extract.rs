//! Unpacking: nothing is written outside of the target, through a link, or over another file, and
//! what was written is held against the manifest.

use std::collections::{BTreeMap, BTreeSet};
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
    /// Files in the directories that were written to, left by an interrupted run.
    pub leftovers: Vec<PathBuf>,
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
        is_stream: opened.is_stream(),
        state: Mutex::new(State::default()),
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
        leftovers: Vec::new(),
        findings: scan.findings,
    };
    let late = extraction.known_late(&opened, &scan.members)?;
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
    match late.as_ref().or(known.as_ref()) {
        Some(known) => report.findings.extend(known.faults.iter().cloned()),
        None => report.findings.push(
            Finding::new(Code::NoManifest, "there is no manifest, so nothing was checked")
                .warning(),
        ),
    }
    if let Some(late) = late {
        remove_wrong(target, &late, written, &mut report)?;
    }
    report.leftovers = extraction.leftovers();
    Ok(report)
}

/// Removes again what turned out to differ from the manifest.
fn remove_wrong(
    target: &Path,
    known: &Known,
    written: Vec<(String, Digest, bool)>,
    report: &mut ExtractReport,
) -> Result<()> {
    for (name, digest, _) in written.into_iter().filter(|(.., verified)| !verified) {
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
    /// Lines of the manifest that cannot be read.
    faults: Vec<Finding>,
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
        Ok(Some(Self::parse(placement, name, &text)))
    }

    fn beside(archive: &Archive) -> Result<Option<Self>> {
        let path = beside(archive.path(), EXTERNAL_MANIFEST_SUFFIX);
        let Some(text) = manifests::read_beside(&path)? else { return Ok(None) };
        // Of a stream the names are not known yet; most packs have no directory of their own.
        let placement = if archive.is_stream() {
            Placement::plain()
        } else {
            let members = archive.members()?;
            Placement::detect(&members.iter().map(|member| member.name.as_str()))
        };
        Ok(Some(Self::parse(placement, path.to_string_lossy().into_owned(), &text)))
    }

    fn parse(placement: Placement, name: String, text: &[u8]) -> Self {
        let names = match placement.layout {
            Layout::Plain => NameEncoding::Gnu,
            Layout::BagIt => NameEncoding::Percent,
        };
        let (manifest, faults) = Manifest::parse(Algorithm::Sha256, names, text);
        let faults = faults.iter().map(|fault| manifests::fault_finding(&name, fault)).collect();
        Self { placement, name, manifest, faults }
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
    is_stream: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Manifests that passed by in a stream.
    manifests: BTreeMap<String, Vec<u8>>,
    /// Directories that are known to be there and to be no links.
    made: BTreeSet<String>,
    bytes: u64,
}

impl Extraction<'_> {
    fn wants(&self, name: &str) -> bool {
        self.options.patterns.is_empty() || self.options.patterns.matches(name)
    }

    /// Refuses before anything is written.
    fn refuse_existing(&self, archive: &Archive) -> Result<()> {
        if fs::is_empty_directory(self.target)? {
            return Ok(());
        }
        let members = match archive.members() {
            // What is whole of a damaged stream can be unpacked, and a clash is noticed on the way.
            Err(Error::Damaged { .. }) if self.is_stream => return Ok(()),
            members => members?,
        };
        for member in members {
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

    /// What an interrupted run left in the directories that were written to.
    fn leftovers(&self) -> Vec<PathBuf> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let below = state.made.iter().map(|name| self.target.join(name));
        let mut leftovers: Vec<_> = std::iter::once(self.target.to_owned())
            .chain(below)
            .flat_map(|directory| fs::leftovers_in(&directory, "."))
            .collect();
        leftovers.sort();
        leftovers
    }

    /// What is expected of the members of a stream, which has its manifest at its end.
    fn known_late(
        &self,
        archive: &Archive,
        members: &[(Member, Option<Outcome>)],
    ) -> Result<Option<Known>> {
        if !self.is_stream {
            return Ok(None);
        }
        let placement = Placement::detect(&members.iter().map(|(member, _)| member.name.as_str()));
        let path = beside(archive.path(), EXTERNAL_MANIFEST_SUFFIX);
        if let Some(text) = manifests::read_beside(&path)? {
            let name = path.to_string_lossy().into_owned();
            return Ok(Some(Known::parse(placement, name, &text)));
        }
        let name = pack::manifest_name(Algorithm::Sha256);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let text = state.manifests.get(&placement.place_tag(&name));
        Ok(text.map(|text| Known::parse(placement, name, text)))
    }

    fn write(&self, member: &Member, content: &mut dyn BufRead) -> Outcome {
        let is_manifest = || {
            let last = member.name.rsplit('/').next().unwrap_or_default();
            pack::manifest_algorithm(last) == Some(Algorithm::Sha256)
        };
        if self.is_stream && member.size <= MAX_MANIFEST && is_manifest() {
            let mut text = Vec::new();
            if let Err(error) = content.read_to_end(&mut text) {
                return Outcome::Finding(Box::new(data_finding(&member.name, &error)));
            }
            let outcome = self.write_wanted(member, &mut text.as_slice());
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.manifests.insert(member.name.clone(), text);
            return outcome;
        }
        self.write_wanted(member, content)
    }

    fn write_wanted(&self, member: &Member, content: &mut dyn BufRead) -> Outcome {
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
