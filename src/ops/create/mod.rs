//! Packing a directory: decide what goes in, check all of it, write it, give it its name.

mod payload;
mod plan;

use std::path::{Path, PathBuf};

use serde::Serialize;

use self::payload::PayloadMembers;
use self::plan::CreatePlan;
use super::manifests::{self, beside, signatures_of};
use super::select::Patterns;
use super::survey::{self, SourceEntry};
use super::verify::{VerifyOptions, verify};
use crate::archive::{Archive, ArchiveWriter, Compression, Container};
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::finding::{Finding, count_errors};
use crate::fs::{self, File, PendingDirectory, PendingFile, Stamp, Turn};
use crate::manifest::{Manifest, NameEncoding};
use crate::ndl::Attribute;
use crate::pack::bag::{BAGGING_DATE, BagInfo, date_of};
use crate::pack::{
    ARCHIVE_DIGEST_SUFFIX, Contents, EXTERNAL_MANIFEST_SUFFIX, Layout, MetadataCounts, Placement,
};
use crate::path::{MemberPath, escape, escape_path};
use crate::pipeline;
use crate::progress::Progress;

/// 1980-01-01 00:00:00 UTC in seconds since 1970: the earliest time that a zip can hold, and the time
/// of every member unless another is asked for.
const FIXED_TIME: u64 = 315_532_800;

/// Options of [`create`]: container, layout, compression, manifests and checks.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CreateOptions {
    /// The container; by the extension of the archive's name when not given.
    pub container: Option<Container>,
    /// The layout of the pack.
    pub layout: Layout,
    /// What `bag-info.txt` says of a bag: labels and values in their order.
    pub bag_info: Vec<(String, String)>,
    /// Attributes of the pack, such as its title, in the place of those of the same names in its description.
    pub attributes: Vec<Attribute>,
    /// The algorithms of the manifests, SHA-256 among them; SHA-256 alone when there are none.
    pub digests: Vec<Algorithm>,
    /// How members of a zip are compressed, or how hard a compressed tar is.
    pub compression: Compression,
    /// Describe arrays that have no description by what their headers say, in the archive only.
    pub describe: bool,
    /// What to leave out.
    pub exclude: Patterns,
    /// Pack what symbolic links lead to, instead of refusing them.
    pub dereference: bool,
    /// Replace an archive that is already there.
    pub force: bool,
    /// Refuse warnings and extension words too.
    pub strict: bool,
    /// Refuse names that cannot be used on every system, instead of warning of them.
    pub portable: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// Write no manifest beside the archive.
    pub no_external_manifest: bool,
    /// Also write the SHA-256 digest of the archive file itself beside it.
    pub archive_digest: bool,
    /// A shell command that signs the manifest beside the archive, once everything is written. The
    /// path of the manifest is put behind it, and it has to leave the signature beside the manifest.
    pub sign_with: Option<String>,
    /// Keep the files' own times of modification, which makes the archive depend on them.
    pub preserve_mtime: bool,
    /// The time of every member, in seconds since 1970 UTC; 1980-01-01 when not given.
    pub timestamp: Option<u64>,
    /// Who is told how far it is.
    pub progress: Progress,
}

/// The archive that was made.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CreateReport {
    /// The archive, by its path as given.
    pub archive: PathBuf,
    /// The container of the archive.
    pub container: Container,
    /// The layout of the pack.
    pub layout: Layout,
    /// Files in the archive, the generated ones among them.
    pub members: u64,
    /// Arrays among them.
    pub arrays: u64,
    /// How many arrays lack units or names.
    pub metadata: MetadataCounts,
    /// Bytes of all files before they were packed.
    pub bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// The SHA-256 digest of the archive file, when it was asked for.
    #[cfg_attr(test, schemars(with = "Option<String>", regex(pattern = "^[0-9a-f]{64}$")))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_sha256: Option<Digest>,
    /// The path of the manifest beside the archive, unless it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_manifest: Option<PathBuf>,
    /// The path of the signature of that manifest, when one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<PathBuf>,
    /// Descriptions that were made from headers, by their names in the archive.
    pub described: Vec<String>,
    /// Files beside the archive that an interrupted run left; they can be deleted.
    pub leftovers: Vec<PathBuf>,
    /// Warnings. Errors keep the archive from being made.
    pub findings: Vec<Finding>,
}

/// Packs the directory `source` into `archive`.
///
/// Every description is checked against its header before a large array is copied. The archive is
/// written under a temporary name, read back, synced, and renamed: at any moment there is either no
/// archive of that name or a whole one. The source is never changed.
///
/// The same content gives the same bytes, whatever the number of jobs.
///
/// # Errors
///
/// [`Error::Refused`] with every finding when the source is not sound; [`Error::AlreadyExists`];
/// [`Error::Changed`] when a file changes while it is read; what the system says.
///
/// ```no_run
/// use ra_pack::create;
/// use ra_pack::create::CreateOptions;
///
/// let report = create("exp", "exp.zip", &CreateOptions::default())?;
/// println!("{} arrays in {} bytes", report.arrays, report.archive_bytes);
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn create(
    source: impl AsRef<Path>,
    archive: impl AsRef<Path>,
    options: &CreateOptions,
) -> Result<CreateReport> {
    let (source, archive) = (source.as_ref(), archive.as_ref());
    create_from(source, archive, options, None)
}

/// What an archive takes over from an older one of the same name and container.
pub(super) struct OldMembers<'a> {
    pub(super) archive: &'a Archive,
    /// What the file of the archive looked like before it was read.
    pub(super) stamp: Stamp,
    /// Its members that stay, in the order of their names.
    pub(super) entries: Vec<SourceEntry>,
    /// What they say.
    pub(super) contents: Contents,
}

impl OldMembers<'_> {
    /// An error when another file has the name, or the file was changed.
    fn check_unchanged(&self) -> Result<()> {
        File::open(self.archive.path())?.check_unchanged(&self.stamp)
    }
}

fn create_from(
    source: &Path,
    archive: &Path,
    options: &CreateOptions,
    mut old: Option<OldMembers<'_>>,
) -> Result<CreateReport> {
    let container = container(archive, options)?;
    let (algorithms, info) = (algorithms(options)?, bag_info(options)?);
    if !fs::is_directory(source)? {
        let kind = fs::kind_of(source)?.not("a directory");
        return Err(Error::Unsupported(format!("`{}` is {kind}", escape_path(source))));
    }
    must_not_be_packed(source, archive, options)?;
    if options.sign_with.is_some() && options.no_external_manifest {
        return Err(Error::Unsupported(
            "what is signed is the manifest beside the archive, and none is to be written"
                .to_owned(),
        ));
    }
    let outputs = Outputs::begin(archive, options)?;
    let own: Vec<_> =
        outputs.temporaries().filter_map(|path| fs::name_below(source, path)).collect();
    let jobs = pipeline::jobs(options.jobs);
    let placement = match options.layout {
        Layout::Plain => Placement::plain(),
        Layout::BagIt => Placement::bag(&top_directory(archive)?),
    };
    let placement = &placement;
    let old_archive = old.as_ref().map(|old| old.archive);
    let members = PayloadMembers { source, placement, options, container, old: old_archive };
    options.progress.stage("reading", 0, 0);
    let (mut entries, findings) =
        survey::names(source, &options.exclude, &own, options.dereference, &options.progress)?;
    if let Some(old) = &mut old {
        entries.append(&mut old.entries);
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        // A directory may be in both.
        entries.dedup_by(|one, other| one.path == other.path);
    }
    members.mark_implied(&mut entries);
    let (compression, file) = (options.compression, &outputs.archive);
    let mut writer = ArchiveWriter::new(container, compression, file, &algorithms, jobs)?;
    // Descriptions that are made of all arrays are known too late to be written in their order, and nothing is
    // written of what is going to be refused.
    let is_written = !options.describe && count_errors(&findings) == 0;
    let mut survey = members.look(entries, findings, &mut writer, is_written)?;
    if let Some(old) = &mut old {
        survey.contents.extend(std::mem::take(&mut old.contents));
    }
    let plan = CreatePlan::new(survey, members, archive)?;
    let mut report = CreateReport {
        archive: archive.to_owned(),
        container,
        layout: options.layout,
        members: 0,
        arrays: 0,
        metadata: MetadataCounts::default(),
        bytes: 0,
        archive_bytes: 0,
        archive_sha256: None,
        external_manifest: outputs.manifest.as_ref().map(|_| outputs.manifest_path.clone()),
        signature: None,
        described: Vec::new(),
        leftovers: Vec::new(),
        findings: Vec::new(),
    };
    let external = outputs.manifest.as_ref().map(PendingFile::file);
    plan.write(writer, external, &algorithms, info, jobs, &mut report)?;
    options.progress.stage("finishing", 0, 0);
    let turn = finish(outputs, jobs, options, old.as_ref(), &mut report)?;
    report.leftovers = fs::leftovers(archive);
    if let Some(command) = &options.sign_with {
        report.signature =
            Some(manifests::sign(&beside(archive, EXTERNAL_MANIFEST_SUFFIX), command)?);
    }
    drop(turn);
    Ok(report)
}

/// Packs a directory that was staged for `archive`. What is said of a file of it names the archive instead.
pub(super) fn create_staged(
    staged: &PendingDirectory,
    archive: &Path,
    options: &CreateOptions,
    old: Option<OldMembers<'_>>,
) -> Result<CreateReport> {
    // A command that names a staged file would find nothing.
    let home = staged.path().to_string_lossy();
    let forget = |findings: &mut Vec<Finding>| {
        for finding in findings {
            finding.hint.take_if(|hint| hint.contains(&*home));
        }
    };
    match create_from(staged.path(), archive, options, old) {
        Ok(mut report) => {
            forget(&mut report.findings);
            Ok(report)
        }
        Err(mut error) => {
            if let Error::Refused { findings, .. } = &mut error {
                forget(findings);
            }
            Err(error.with_path(|path| in_archive(staged, archive, path)))
        }
    }
}

/// The path of a staged file, as a file in the archive.
pub(super) fn in_archive(staged: &PendingDirectory, archive: &Path, path: PathBuf) -> PathBuf {
    match path.strip_prefix(staged.path()) {
        Ok(below) if below.as_os_str().is_empty() => archive.to_owned(),
        Ok(below) => archive.join(below),
        Err(_) => path,
    }
}

/// Refuses an archive that could not be made, whatever is in it.
pub(super) fn check(archive: &Path, options: &CreateOptions) -> Result<()> {
    options.compression.check(container(archive, options)?)?;
    algorithms(options)?;
    bag_info(options)?;
    Outputs::begin(archive, options).map(drop)
}

/// Checks a bag, writes the digest of the archive and gives everything its name; the turn that the names were given
/// in.
fn finish(
    outputs: Outputs<'_>,
    jobs: usize,
    options: &CreateOptions,
    old: Option<&OldMembers<'_>>,
    report: &mut CreateReport,
) -> Result<Turn> {
    if options.layout == Layout::BagIt {
        outputs.check_bag(jobs, &options.progress)?;
    }
    let archive = outputs.archive.file();
    report.archive_bytes = archive.len()?;
    if let Some(file) = &outputs.digest {
        let path = outputs.path.to_string_lossy();
        let digest = manifests::digest_file(archive, &path, &options.progress)?;
        let name = outputs.path.file_name().unwrap_or_default().to_string_lossy();
        let digests = [(MemberPath::new(name.as_ref())?, digest)];
        let line = Manifest::new(Algorithm::Sha256, digests).to_text(NameEncoding::Gnu);
        file.file().write_all_at(&line, 0)?;
        report.archive_sha256 = Some(digest);
    }
    outputs.persist(options.force, old, &options.progress)
}

/// Refuses files inside of the source that are not left out: the next run would pack them.
fn must_not_be_packed(source: &Path, archive: &Path, options: &CreateOptions) -> Result<()> {
    let Some(name) = fs::name_below(source, archive) else { return Ok(()) };
    let written = [
        (true, ""),
        (!options.no_external_manifest, EXTERNAL_MANIFEST_SUFFIX),
        (options.archive_digest, ARCHIVE_DIGEST_SUFFIX),
    ];
    let mut written = written.into_iter().filter(|(is_written, _)| *is_written);
    let packed = written.find(|(_, suffix)| !options.exclude.matches(&format!("{name}{suffix}")));
    let Some((_, suffix)) = packed else { return Ok(()) };
    Err(Error::Unsupported(format!(
        "`{}{suffix}` would be inside of `{}`, and the next run would pack it; write it elsewhere, \
         or give the option `exclude: '{}*'`",
        escape_path(archive),
        escape_path(source),
        escape(&name),
    )))
}

/// The files that one run writes, under their temporary names.
struct Outputs<'a> {
    path: &'a Path,
    manifest_path: PathBuf,
    digest_path: PathBuf,
    archive: PendingFile,
    manifest: Option<PendingFile>,
    digest: Option<PendingFile>,
}

impl<'a> Outputs<'a> {
    /// Begins them all, so that one that is in the way is noticed before any work is done.
    fn begin(path: &'a Path, options: &CreateOptions) -> Result<Self> {
        let manifest_path = beside(path, EXTERNAL_MANIFEST_SUFFIX);
        let digest_path = beside(path, ARCHIVE_DIGEST_SUFFIX);
        let begin = |path: &Path| {
            let pending = PendingFile::create(path, options.force);
            pending.map(|pending| pending.stopped_by(&options.progress))
        };
        let unwritten = [
            (options.no_external_manifest, &manifest_path),
            (!options.archive_digest, &digest_path),
        ];
        // `verify` would hold the new archive against what was written for another.
        if let Some((_, stale)) = unwritten.iter().find(|(is, path)| *is && fs::exists(path)) {
            return Err(Error::Unsupported(format!(
                "`{}` belongs to an earlier archive of this name; delete it, or have it replaced \
                 by the option `force` {}",
                escape_path(stale),
                if *stale == &digest_path {
                    "and the option `archive_digest`"
                } else {
                    "without the option `no_external_manifest`"
                },
            )));
        }
        let archive = begin(path)?;
        let mut stale = signatures_of(&manifest_path).into_iter();
        if let Some(path) = stale.next().filter(|_| !options.force) {
            return Err(Error::AlreadyExists { path });
        }
        let manifest =
            (!options.no_external_manifest).then(|| begin(&manifest_path)).transpose()?;
        let digest = options.archive_digest.then(|| begin(&digest_path)).transpose()?;
        Ok(Self { path, manifest_path, digest_path, archive, manifest, digest })
    }

    /// The temporary names, which may lie in the source.
    fn temporaries(&self) -> impl Iterator<Item = &Path> {
        let files = [Some(&self.archive), self.manifest.as_ref(), self.digest.as_ref()];
        files.into_iter().flatten().filter_map(PendingFile::temporary)
    }

    /// Reads a bag back, every byte of it, before it gets its name: others will ask for what was written,
    /// not for what was meant to be.
    fn check_bag(&self, jobs: usize, progress: &Progress) -> Result<()> {
        let Some(temporary) = self.archive.temporary() else { return Ok(()) };
        let options = VerifyOptions {
            jobs: Some(jobs),
            progress: progress.clone(),
            ..VerifyOptions::default()
        };
        let report = verify(temporary, &options)?;
        if report.bag.is_some_and(|bag| bag.valid) && count_errors(&report.findings) == 0 {
            return Ok(());
        }
        let first = report.findings.iter().find(|finding| finding.is_error());
        Err(Error::Unsupported(format!(
            "the bag that was written is not valid{}; nothing was kept. The disk or the memory of this \
             machine may be failing",
            first.map_or(String::new(), |finding| format!(": {finding}"))
        )))
    }

    /// Puts everything on the disk, then gives each file its name.
    ///
    /// No system renames three files in one step. Whatever stops this between two steps, `verify` must
    /// not hold one archive against what was written for another and call it damaged. So what lies
    /// beside the old archive goes first, then the archive takes its name, and what vouches for it
    /// comes last: an archive with nothing beside it is proved by the manifest in it.
    ///
    /// The turn among runs that do the same here goes on until it is dropped: until what vouches for the archive
    /// is complete.
    fn persist(
        self,
        replace: bool,
        old: Option<&OldMembers<'_>>,
        progress: &Progress,
    ) -> Result<Turn> {
        let files = [Some(self.archive), self.manifest, self.digest];
        for file in files.iter().flatten() {
            progress.check()?;
            file.sync()?;
        }
        progress.check()?;
        let turn = Turn::beside(self.path, progress)?;
        old.map_or(Ok(()), OldMembers::check_unchanged)?;
        if replace {
            // Another run may have signed its own meanwhile.
            for signature in signatures_of(&self.manifest_path) {
                fs::remove(&signature)?;
            }
            fs::remove(&self.digest_path)?;
            fs::remove(&self.manifest_path)?;
        }
        for file in files.into_iter().flatten() {
            file.persist()?;
        }
        fs::sync_directory(self.path)?;
        Ok(turn)
    }
}

fn container(archive: &Path, options: &CreateOptions) -> Result<Container> {
    let container = options.container.or_else(|| Container::from_extension(archive));
    match container {
        Some(Container::Directory) => {
            Err(Error::Unsupported("a directory is no archive; it can be a source".to_owned()))
        }
        None => Err(Error::Unsupported(format!(
            "`{}` does not say which kind of archive to make; let it end in .zip, .tar, .tar.gz, \
             .tgz, .tar.zst or .tzst",
            escape_path(archive)
        ))),
        Some(container) => Ok(container),
    }
}

/// The top directory of a bag: the archive's name without its extension.
fn top_directory(archive: &Path) -> Result<String> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let extension = Container::from_extension(archive).map_or("", Container::extension);
    let stem = name.strip_suffix(extension).unwrap_or(&name);
    let stem = stem
        .rsplit_once('.')
        .filter(|(_, rest)| matches!(*rest, "tgz" | "tzst"))
        .map_or(stem, |(stem, _)| stem);
    Ok(MemberPath::new(stem)?.as_str().to_owned())
}

/// The algorithms that a pack is hashed by, weakest first.
fn algorithms(options: &CreateOptions) -> Result<Vec<Algorithm>> {
    if options.digests.is_empty() {
        return Ok(vec![Algorithm::Sha256]);
    }
    if let Some(other) = options.digests.iter().find(|algorithm| !algorithm.is_written()) {
        return Err(Error::Unsupported(format!(
            "a manifest by {} is only read; write sha256, sha512 or both",
            other.name()
        )));
    }
    if !options.digests.contains(&Algorithm::Sha256) {
        return Err(Error::Unsupported(
            "the digests must have sha256 among them: it is what every reader of a pack looks for"
                .to_owned(),
        ));
    }
    let mut algorithms = options.digests.clone();
    algorithms.sort_unstable();
    algorithms.dedup();
    Ok(algorithms)
}

/// The metadata that was asked for, in its order, and the day, when there is a time to take it from.
fn bag_info(options: &CreateOptions) -> Result<BagInfo> {
    let mut info = BagInfo::default();
    if options.layout != Layout::BagIt && !options.bag_info.is_empty() {
        return Err(Error::Unsupported(
            "metadata of a bag was given, but no bag is made; the option `layout: bagit` makes one"
                .to_owned(),
        ));
    }
    for (label, value) in &options.bag_info {
        info.add(label, value).map_err(|invalid| {
            Error::Unsupported(format!("`bag-info.txt` cannot hold this: {invalid}"))
        })?;
    }
    if info.get(BAGGING_DATE).is_none()
        && let Some(day) = options.timestamp.and_then(date_of)
    {
        info.add(BAGGING_DATE, &day).map_err(Error::Unsupported)?;
    }
    Ok(info)
}
