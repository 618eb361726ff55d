//! Unpacking: nothing is written outside of the target, through a link, or over another file, and
//! every file is held against the manifest before it gets its name.
//!
//! The archive is read in two passes: first its structure and its manifest, then the contents. So
//! everything that forbids writing a member is known beforehand, also in a stream, whose manifest is at
//! its end.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::Serialize;

use super::manifests;
use super::scan::{ListedDigests, PackScan, ScanFor, ambiguous};
use super::select::Patterns;
use super::verify::is_payload;
use crate::archive::{
    Archive, Copying, Fault, Member, MemberKind, MemberReader, OpenContents, Revisit, Shown, Sink,
    copy,
};
use crate::digest::{
    Algorithm, Digest, Digests, Hashers, Hashing, Lane, at_once, hash_side_by_side,
};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, count_errors};
use crate::fs::{self, PendingFile, Target, TargetWriter, Turn};
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

/// The files that were unpacked.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExtractReport {
    /// The archive, by its path as given.
    pub archive: PathBuf,
    /// The directory that it was unpacked to, by its path as given.
    pub target: PathBuf,
    /// Files that were written.
    pub members: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The number of them that agreed with a manifest.
    pub verified: u64,
    /// Files in the directories that were written to, left by an interrupted run; they can be deleted.
    pub leftovers: Vec<PathBuf>,
    /// The findings. A member with an error was not written, unless all that is wrong is that no manifest lists it.
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
    let mut opened = Archive::open_watched(archive, &options.progress)?;
    let whole = if opened.is_stream() { Some(opened.bytes_to_read()) } else { None };
    let jobs = pipeline::jobs(options.jobs);
    let mut plan = ExtractPlan::new(&mut opened, jobs, options)?;
    let mut report = ExtractReport {
        archive: archive.to_owned(),
        target: target.to_owned(),
        findings: std::mem::take(&mut plan.findings),
        ..ExtractReport::default()
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
    let (written, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let target = Target::open(target)?;
    let extraction = Extraction { target, options, plan: &plan, written, failed };
    extraction.make_directories(&mut report.findings)?;
    let packed = plan.members(&plan.files).map(|member| member.packed_size);
    let bytes = whole.unwrap_or_else(|| packed.fold(0, u64::saturating_add));
    options.progress.stage("unpacking", bytes, plan.files.len() as u64);
    let outcomes = opened.revisit_by(&plan.members, &plan.files, jobs, &&extraction)?;
    // What is listed and not there is told where everything was unpacked.
    let listed = plan.listed.iter().filter(|_| options.patterns.is_empty());
    report.findings.extend(listed.flat_map(ListedDigests::missing));
    for outcome in outcomes {
        match outcome {
            Extracted::Written { bytes, verified } => {
                report.members += 1;
                report.bytes += bytes;
                report.verified += u64::from(verified);
            }
            Extracted::Finding(finding) => report.findings.push(*finding),
            Extracted::Failed(error) => return Err(*error),
            Extracted::Skipped => {}
        }
    }
    report.leftovers = extraction.leftovers();
    finding::cut(&mut report.findings);
    Ok(report)
}

/// The files to write and the digests that they must have.
struct ExtractPlan {
    /// Every member of the archive.
    members: Vec<Member>,
    /// The numbers of the files to write.
    files: Vec<usize>,
    /// The numbers of the directories to make.
    directories: Vec<usize>,
    /// The digests that the manifest lists, if there is one.
    listed: Option<ListedDigests>,
    findings: Vec<Finding>,
}

impl ExtractPlan {
    /// Scans the archive.
    fn new(archive: &mut Archive, jobs: usize, options: &ExtractOptions) -> Result<Self> {
        let mut scan = PackScan::new(archive, jobs, ScanFor::Manifests)?;
        // The directory of a large archive makes room for its manifest.
        archive.forget_members();
        if let Some(name) =
            options.patterns.missing(scan.members.iter().map(|member| &*member.name))
        {
            return Err(Error::NoSuchMember {
                archive: archive.path().to_owned(),
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
                    "the archive unpacks to {bytes} bytes, more than the {limit} that the option \
                     `max_size` allows"
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
        Ok(Self { files: readable, directories, members, listed, findings })
    }

    /// The members of these numbers.
    fn members(&self, numbers: &[usize]) -> impl Iterator<Item = &Member> {
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

/// What became of one member.
enum Extracted {
    Written {
        bytes: u64,
        verified: bool,
    },
    /// Another member failed before.
    Skipped,
    Finding(Box<Finding>),
    Failed(Box<Error>),
}

struct Extraction<'a> {
    target: Target,
    options: &'a ExtractOptions,
    plan: &'a ExtractPlan,
    /// Bytes of all files so far, where there is a limit.
    written: AtomicU64,
    failed: AtomicBool,
}

impl Extraction<'_> {
    /// Makes the directories that the archive names, so that empty ones are there too.
    fn make_directories(&self, findings: &mut Vec<Finding>) -> Result<()> {
        for member in self.plan.members(&self.plan.directories) {
            match self.target.make_directory(&member.name) {
                // Something else is in the way; whatever else the system says is no fault of the archive.
                Err(error @ Error::Io { .. }) if error.is_not_a_directory() => {
                    let finding = Finding::new(Code::FileAndDirectory, error.to_string());
                    let hint = "move what is there out of the way, or unpack elsewhere";
                    findings.push(finding.in_member(&*member.name).hint(hint));
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// What an interrupted run left in the directories that were written to.
    fn leftovers(&self) -> Vec<PathBuf> {
        let directories = self.target.older_directories();
        let mut leftovers: Vec<_> =
            directories.iter().flat_map(|directory| fs::leftovers_in(directory, ".")).collect();
        leftovers.sort();
        leftovers
    }

    /// Counts what is about to be written. Sizes are claims, so that their sum was not enough to look at.
    fn count(&self, bytes: usize) -> Result<()> {
        let Some(limit) = self.options.max_size else { return Ok(()) };
        let bytes = bytes as u64;
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > limit {
            return Err(Error::Unsupported(format!(
                "the archive unpacks to more than the {limit} bytes that the option `max_size` allows"
            )));
        }
        Ok(())
    }

    /// Begins the file at this position, unless there is something in the way, or another failed before.
    fn begin(
        &self,
        writer: &mut TargetWriter<'_>,
        position: usize,
    ) -> Result<NewFile<'_>, Extracted> {
        if self.failed.load(Ordering::Relaxed) {
            return Err(Extracted::Skipped);
        }
        let number = *self.plan.files.get(position).expect("it is one of the files to write");
        let member = self.plan.members.get(number).expect("the files are members");
        let listed = self.plan.listed.as_ref();
        let expected = listed.and_then(|listed| Some((listed, listed.digests.get(number)?)));
        let pending = writer.begin(&member.name, self.options.force);
        let pending = pending.map_err(|error| self.outcome(Err(error)))?;
        Ok(NewFile { extraction: self, name: &member.name, expected, pending, at: 0 })
    }

    fn outcome(&self, written: Result<Extracted>) -> Extracted {
        written.unwrap_or_else(|error| {
            self.failed.store(true, Ordering::Relaxed);
            Extracted::Failed(Box::new(error))
        })
    }
}

impl<'e> Revisit for &'e Extraction<'_> {
    type State = TargetWriter<'e>;
    type Seen = Extracted;

    fn state(&self) -> TargetWriter<'e> {
        self.target.writer()
    }

    fn one(&self, writer: &mut TargetWriter<'e>, shown: Shown<'_>) -> Extracted {
        match self.begin(writer, shown.position) {
            Ok(file) => self.outcome(file.fill(shown.content, shown.hashing)),
            Err(outcome) => outcome,
        }
    }

    fn at_once(&self) -> &'static [usize] {
        let listed = self.plan.listed.as_ref();
        listed.map_or(&[], |listed| at_once(&[listed.digests.algorithm()]))
    }

    fn several(
        &self,
        writer: &mut TargetWriter<'e>,
        width: usize,
        contents: &mut OpenContents<'_>,
    ) -> Result<Vec<(usize, Extracted)>> {
        let begin = |opened: Result<(usize, MemberReader)>| {
            let (position, content) = opened?;
            Ok(match self.begin(writer, position) {
                Ok(sink) => {
                    let hashers = Hashers::new(sink.algorithm().as_slice());
                    Ok(Lane { label: position, content: Copying { content, sink }, hashers })
                }
                Err(outcome) => Err((position, outcome)),
            })
        };
        hash_side_by_side(width, None, contents.map(begin), |position, content, digests| {
            Ok((position, self.outcome(content.sink.finish(digests))))
        })
    }
}

/// A file that is written.
struct NewFile<'a> {
    extraction: &'a Extraction<'a>,
    name: &'a str,
    /// The listed digest and the manifest that lists it.
    expected: Option<(&'a ListedDigests, Digest)>,
    pending: PendingFile,
    at: u64,
}

impl NewFile<'_> {
    /// What its digest is to be made by.
    fn algorithm(&self) -> Option<Algorithm> {
        self.expected.map(|(_, expected)| expected.algorithm())
    }

    /// Writes all of its content.
    fn fill(mut self, content: &mut dyn BufRead, hashing: Hashing) -> Result<Extracted> {
        let algorithm = self.algorithm();
        let digests = copy(content, algorithm.as_slice(), hashing, |block| self.take(block));
        self.finish(digests)
    }

    /// Gives it its name when it is what it should be.
    fn finish(self, digests: Result<Digests, Fault>) -> Result<Extracted> {
        let fault = match digests {
            Ok(digests) => self.expected.and_then(|(listed, expected)| {
                let digest = digests.made_by(expected.algorithm());
                let differs = digest != expected;
                differs.then(|| manifests::mismatch(self.name, &listed.name, &expected, &digest))
            }),
            Err(Fault::Sink(error)) => return Err(error),
            Err(Fault::Source(error)) => Some(manifests::unreadable(self.name, error)?),
        };
        if let Some(finding) = fault {
            return Ok(Extracted::Finding(Box::new(finding)));
        }
        self.pending.persist()?;
        self.extraction.options.progress.done(1);
        Ok(Extracted::Written { bytes: self.at, verified: self.expected.is_some() })
    }
}

impl Sink for NewFile<'_> {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.extraction.count(block.len())?;
        self.extraction.options.progress.at(self.name);
        self.pending.file().write_all_at(block, self.at)?;
        self.at += block.len() as u64;
        Ok(())
    }
}
