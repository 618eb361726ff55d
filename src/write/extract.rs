//! Unpacking. No file is written outside the target, through a link, or over another file. Every file is checked
//! against the manifest before it is renamed.
//!
//! The archive is read in two passes: its structure and its manifest, and then the contents. So members that must not
//! be written are known before, even in a stream whose manifest is at its end.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::archive::{Archive, Fault, Member, MemberKind, Shown, copy};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, count_errors};
use crate::fs::{self, Target, TargetWriter, Turn};
use crate::inspect::listed::{ListedDigests, ListedScan};
use crate::inspect::scan::ambiguous;
use crate::inspect::select::Patterns;
use crate::message::Message;
use crate::path;
use crate::pipeline;
use crate::progress::Progress;
use crate::read::manifests;
use crate::write::create::name_without_extension;

/// Options for [`extract`]: the members, the limit of their size, and whether to replace files.
#[derive(Debug, Clone, Default)]
pub struct ExtractOptions {
    /// Patterns of members to unpack; everything if there are none.
    pub patterns: Patterns,
    /// Whether to replace existing files.
    pub force: bool,
    /// Whether to unpack into a directory below the target that is named after the archive, such as `exp` for
    /// `exp.zip`. If all members are already in a directory of that name, no further one is added.
    pub own_directory: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Maximum number of bytes to write; unlimited if `None`.
    pub max_size: Option<u64>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// The files that were unpacked.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ExtractReport {
    /// Path of the archive, as given.
    pub target: PathBuf,
    /// The directory that the archive was unpacked to: the given path, followed by the name of the directory named
    /// after the archive if there is one.
    pub output: PathBuf,
    /// Number of files written.
    pub files: u64,
    /// Size of these files in bytes.
    pub bytes: u64,
    /// Number of these files that match a manifest.
    pub verified: u64,
    /// Files that an interrupted run left in the directories that were written to. You can delete them.
    pub leftovers: Vec<PathBuf>,
    /// Errors and warnings. A member with an error was not written, unless the only error is that no manifest lists it.
    pub findings: Vec<Finding>,
}

impl ExtractReport {
    /// Returns whether there is no error. Warnings do not count.
    pub fn is_valid(&self) -> bool {
        count_errors(&self.findings) == 0
    }
}

/// Unpacks `archive` into the directory `target`, which is created if needed.
///
/// Each file is renamed to its final name when it is complete and matches the manifest. Members that are damaged,
/// unsafe or different from the manifest are reported and not written; the others are. A member that the manifest does
/// not list is written and reported, but if the archive has an error, it replaces no existing file. If everything is unpacked, listed files that are missing from the archive are
/// reported too.
///
/// Files get default permissions and the current time; other metadata is not restored. Files are not synced one by one:
/// as with `tar` and `unzip`, a power failure may lose files that were just written.
///
/// # Errors
///
/// [`Error::AlreadyExists`] if a file exists and `force` is false; [`Error::NoSuchMember`] for a literal name that no
/// member has; [`Error::Limit`] if the archive is larger than `max_size`; [`Error::Io`] for system errors.
///
/// ```no_run
/// use ra_pack::extract;
/// use ra_pack::write::ExtractOptions;
///
/// let options = ExtractOptions { max_size: Some(1 << 30), ..ExtractOptions::default() };
/// let report = extract("exp.zip", "exp", &options)?;
/// for finding in &report.findings {
///     println!("{finding}");
/// }
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn extract(
    archive: impl AsRef<Path>,
    target: impl AsRef<Path>,
    options: &ExtractOptions,
) -> Result<ExtractReport> {
    let (archive, target) = (archive.as_ref(), target.as_ref());
    let mut opened = Archive::open_watched(archive, &options.progress)?;
    let whole = if opened.is_stream() { Some(opened.bytes_to_read()) } else { None };
    let jobs = pipeline::jobs(options.jobs);
    let mut plan = Extraction::new(&mut opened, jobs, options)?;
    let own = options.own_directory.then(|| own_directory(archive)).transpose()?;
    let target = match own.filter(|name| !plan.is_all_in(name)) {
        Some(name) if target == Path::new(".") => PathBuf::from(name),
        Some(name) => target.join(name),
        None => target.to_owned(),
    };
    let target = &*target;
    let mut report = ExtractReport {
        target: archive.to_owned(),
        output: target.to_owned(),
        findings: std::mem::take(&mut plan.findings),
        ..ExtractReport::default()
    };
    if plan.files.is_empty() && plan.directories.is_empty() && !options.patterns.is_empty() {
        return Ok(report);
    }
    fs::create_root(target)?;
    // Two runs that replace files at once would mix two packs.
    let _turn = Turn::take(target, !options.force, &options.progress)?;
    if !options.force && !fs::is_empty_directory(target)? {
        let paths = plan.members(&plan.files).map(|member| target.join(&*member.name));
        if let Some(path) = paths.filter(|path| fs::exists(path)).min() {
            return Err(Error::AlreadyExists { path });
        }
    }
    let target = &Target::open(target)?;
    plan.make_directories(target, &mut report.findings)?;
    let packed = plan.members(&plan.files).map(|member| member.packed_size);
    let bytes = whole.unwrap_or_else(|| packed.fold(0, u64::saturating_add));
    options.progress.stage("unpacking", bytes, plan.files.len() as u64);
    let write = |writer: &mut TargetWriter<'_>, shown: Shown<'_>| plan.write(writer, shown);
    let outcomes = opened.revisit(&plan.members, &plan.files, jobs, || target.writer(), write)?;
    // Missing files are reported if everything was unpacked.
    let listed = plan.listed.iter().filter(|_| options.patterns.is_empty());
    report.findings.extend(listed.flat_map(ListedDigests::missing));
    for outcome in outcomes {
        match outcome {
            Extracted::Written { bytes, verified } => {
                report.files += 1;
                report.bytes += bytes;
                report.verified += u64::from(verified);
            }
            Extracted::Finding(finding) => report.findings.push(*finding),
        }
    }
    let directories = target.older_directories();
    let leftovers = directories.iter().flat_map(|directory| fs::leftovers_in(directory, "."));
    report.leftovers = leftovers.collect();
    report.leftovers.sort();
    finding::cut(&mut report.findings);
    Ok(report)
}

/// Returns the name of the directory named after the archive.
fn own_directory(archive: &Path) -> Result<String> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let stem = name_without_extension(archive)?;
    if stem == *name {
        return Err(Error::wrong_target(
            archive,
            "has no extension, so a directory next to it cannot be named after it",
        ));
    }
    Ok(stem)
}

/// The files to write, their expected digests, and the bytes written.
struct Extraction<'o> {
    options: &'o ExtractOptions,
    /// All members of the archive.
    members: Vec<Member>,
    /// Numbers of the files to write.
    files: Vec<usize>,
    /// Numbers of the directories to create.
    directories: Vec<usize>,
    /// The digests in each manifest that is needed.
    listed: Vec<ListedDigests>,
    findings: Vec<Finding>,
    /// Whether there are no errors in the archive.
    is_sound: bool,
    /// Bytes written so far, counted if there is a limit.
    written: AtomicU64,
}

impl<'o> Extraction<'o> {
    /// Scans the archive.
    fn new(archive: &mut Archive, jobs: usize, options: &'o ExtractOptions) -> Result<Self> {
        let mut scan = ListedScan::new(archive, jobs)?;
        // Frees the memory of the directory for the manifest.
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
        let unlisted: Vec<_> = scan.unlisted(&listed).collect();
        let ListedScan { members, files: mut readable, mut findings, .. } = scan;
        if listed.is_empty() {
            findings.push(
                Finding::new(Code::NoManifest, "there is no manifest, so no file was verified")
                    .warning(),
            );
        }
        let ambiguous = ambiguous(&findings);
        let is_wanted = &|member: &Member| {
            (options.patterns.is_empty() || options.patterns.matches(&member.name))
                && path::is_valid(&member.name)
                && !ambiguous.contains(&*member.name)
        };
        let wanted = |kind: MemberKind| {
            let members = members.iter().enumerate();
            members.filter(move |(_, member)| member.kind == kind && is_wanted(member))
        };
        // Declared sizes may be wrong, so bytes are also counted when they are written.
        if let Some(limit) = options.max_size {
            let sizes = wanted(MemberKind::File).map(|(_, member)| member.size);
            let bytes = sizes.fold(0_u64, u64::saturating_add);
            if bytes > limit {
                let problem =
                    format!("the archive unpacks to {bytes} bytes; the limit is {limit}, set by ");
                return Err(Error::Limit(Message::from(problem).option("max_size")));
            }
        }
        readable.retain(|number| members.get(*number).is_some_and(is_wanted));
        if let Some(first) = listed.first() {
            let unlisted = unlisted.iter().filter_map(|number| members.get(*number));
            let unlisted = unlisted.filter(|member| is_wanted(member));
            findings.extend(unlisted.map(|member| manifests::unlisted(&member.name, &first.name)));
        }
        if options.patterns.is_empty() {
            archive.announce_range(0..archive.bytes_to_read());
        }
        let directories = wanted(MemberKind::Directory).map(|(number, _)| number).collect();
        Ok(Self {
            options,
            files: readable,
            directories,
            is_sound: count_errors(&findings) == 0,
            written: AtomicU64::new(0),
            members,
            listed,
            findings,
        })
    }

    /// Returns whether all members are in this directory.
    fn is_all_in(&self, directory: &str) -> bool {
        let is_in = |name: &str| {
            let rest = name.strip_prefix(directory);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.members.iter().all(|member| is_in(&member.name))
    }

    /// Returns the members with these numbers.
    fn members(&self, numbers: &[usize]) -> impl Iterator<Item = &Member> {
        numbers.iter().filter_map(|number| self.members.get(*number))
    }

    /// Creates the directories in the archive, including empty ones.
    fn make_directories(&self, target: &Target, findings: &mut Vec<Finding>) -> Result<()> {
        for member in self.members(&self.directories) {
            match target.make_directory(&member.name) {
                // Only a file in the way is reported; other errors are not about the archive.
                Err(error) if is_not_a_directory(&error) => {
                    let finding = Finding::new(Code::FileAndDirectory, error.to_string());
                    let hint = "move the existing file, or unpack into another directory";
                    findings.push(finding.in_member(&*member.name).hint(hint));
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// Counts bytes that are about to be written, because the sizes in the archive may be wrong.
    fn count(&self, bytes: usize) -> Result<()> {
        let Some(limit) = self.options.max_size else { return Ok(()) };
        let bytes = bytes as u64;
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > limit {
            let problem =
                format!("the archive unpacks to more than {limit} bytes, the limit set by ");
            return Err(Error::Limit(Message::from(problem).option("max_size")));
        }
        Ok(())
    }

    /// Writes a file, unless an existing one must stay.
    fn write(&self, writer: &mut TargetWriter<'_>, shown: Shown<'_>) -> Result<Extracted> {
        let number = *self.files.get(shown.position).expect("the position is that of a file");
        let name = &*self.members.get(number).expect("the files are members").name;
        match self.write_listed(writer, (number, name), shown) {
            Err(Error::AlreadyExists { .. }) if self.options.force => {
                Ok(Extracted::Finding(Box::new(not_replaced(name))))
            }
            written => written,
        }
    }

    /// Writes a file, and renames it if it matches the manifest.
    fn write_listed(
        &self,
        writer: &mut TargetWriter<'_>,
        (number, name): (usize, &str),
        Shown { content, hashing, .. }: Shown<'_>,
    ) -> Result<Extracted> {
        let options = self.options;
        let mut listed = self.listed.iter();
        let expected = listed.find_map(|listed| Some((&listed.name, listed.digests.get(number)?)));
        let algorithm = expected.map(|(_, digest)| digest.algorithm());
        // In a damaged archive, content without a digest may be damaged, and an existing file may be intact.
        let replaces = options.force && (expected.is_some() || self.is_sound);
        let (pending, mut bytes) = (writer.begin(name, replaces)?, 0);
        let sink = |block: &[u8]| {
            self.count(block.len())?;
            options.progress.at(name);
            pending.file().write_all_at(block, bytes)?;
            bytes += block.len() as u64;
            Ok(())
        };
        let fault = match copy(content, algorithm.as_slice(), hashing, sink) {
            Ok(digests) => expected.and_then(|(manifest, expected)| {
                let found = digests.made_by(expected.algorithm());
                let differs = found != expected;
                differs.then(|| manifests::mismatch(name, manifest, &expected, &found))
            }),
            Err(Fault::Sink(error)) => return Err(error),
            Err(Fault::Source(error)) => Some(manifests::unreadable(name, error)?),
        };
        if let Some(finding) = fault {
            return Ok(Extracted::Finding(Box::new(finding)));
        }
        pending.persist()?;
        options.progress.done(1);
        Ok(Extracted::Written { bytes, verified: expected.is_some() })
    }
}

/// Makes the finding about an existing file that is not replaced.
fn not_replaced(name: &str) -> Finding {
    let message = "the existing file was not replaced: the archive is damaged, and no manifest \
                   confirms this member";
    Finding::new(Code::UnlistedMember, message)
        .in_member(name)
        .hint("restore the archive from another copy, or unpack it into another directory")
}

/// The result for one member.
enum Extracted {
    Written { bytes: u64, verified: bool },
    Finding(Box<Finding>),
}

/// Returns whether a path that should be a directory is not one.
fn is_not_a_directory(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotADirectory)
}
