//! Packing a directory: survey and check the source, write the archive, rename it.

mod begun;
mod delivery;
mod options;
mod payload;
mod plan;
mod shards;
mod texts;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub(crate) use self::begun::BegunArchive;
#[cfg(test)]
pub(crate) use self::begun::date_of;
pub(crate) use self::begun::name_without_extension;
use self::delivery::Delivery;
pub use self::options::{CreateOptions, JournalOptions};
use self::payload::PayloadMembers;
use self::plan::{CreatePlan, PackedFiles};
#[cfg(test)]
pub(crate) use self::plan::{push_block_head, push_block_line};
pub use self::shards::ShardReport;
use self::shards::Shards;
use crate::archive::{Archive, Container};
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::finding::{Finding, count_errors};
use crate::fs::{self, File, PendingDirectory, PendingFile, Stamp, Turn, beside};
use crate::manifest::{Manifest, NameEncoding};
use crate::message::Message;
use crate::pack::{
    ARCHIVE_DIGEST_SUFFIX, Contents, EXTERNAL_MANIFEST_SUFFIX, Layout, MetadataCounts,
};
use crate::path::{MemberPath, escape, escape_path};
use crate::pipeline;
use crate::progress::Progress;
use crate::read::manifests::{self, parity_files, signatures_of};
use crate::verify::{Shard, StoreChecksums, VerifyOptions, verify};
use crate::write::companions;
use crate::write::survey::{self, SourceEntry};

/// The archive that was created.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CreateReport {
    /// Path of the archive, as given; for a link, that of the archive that was replaced.
    pub target: PathBuf,
    /// The container of the archive.
    pub container: Container,
    /// The layout of the pack.
    pub layout: Layout,
    /// Number of files in the archive, including generated ones.
    pub files: u64,
    /// Number of files that are arrays.
    pub arrays: u64,
    /// Number of arrays without units or names.
    pub metadata: MetadataCounts,
    /// Size of all files in bytes before compression.
    pub bytes: u64,
    /// Size of the archive in bytes.
    pub archive_bytes: u64,
    /// SHA-256 digest of the archive file, if requested.
    #[cfg_attr(test, schemars(with = "Option<String>", regex(pattern = "^[0-9a-f]{64}$")))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_sha256: Option<Digest>,
    /// Path of the manifest next to the archive; absent if it was omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_manifest: Option<PathBuf>,
    /// Path of the signature of that manifest, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<PathBuf>,
    /// Path of the time-stamp of that manifest, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_stamp: Option<PathBuf>,
    /// Paths of the parity files of the archive, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parity: Vec<PathBuf>,
    /// Checksums of the archive file as S3 shows them, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_checksums: Option<StoreChecksums>,
    /// Names in the archive of descriptions made from headers.
    pub described: Vec<String>,
    /// Files next to the archive that an interrupted run left. You can delete them.
    pub leftovers: Vec<PathBuf>,
    /// Warnings. An archive with errors is not created.
    pub findings: Vec<Finding>,
}

/// Packs the directory `source` into `archive`.
///
/// Every description is checked against the header of its array before large arrays are copied. The archive is written
/// under a temporary name, read back, synced and renamed, so an incomplete archive never has the final name. The source
/// is not changed.
///
/// The same content gives the same bytes for any number of jobs.
///
/// With the feature `remote`, the archive can be the URL of an object in S3 (`s3:`), Google Cloud Storage (`gs:`) or Azure
/// (`az:`, `abfs:`). It is then created in the system's temporary directory and sent in parts. The object appears when it
/// is complete, and the files next to it afterwards.
///
/// # Errors
///
/// [`Error::Refused`] with all problems if the source is not valid; [`Error::AlreadyExists`] if the archive exists and
/// `force` is false; [`Error::Changed`] if a file changes while it is read; [`Error::Options`] for options that
/// contradict each other; [`Error::Io`] for system errors.
///
/// ```no_run
/// use ra_pack::create;
/// use ra_pack::write::CreateOptions;
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
    let begun = &mut BegunArchive::new(archive.as_ref(), options)?;
    create_from(Source::directory(source.as_ref()), begun, options)
}

/// Packs the directory `source` into `sink`, such as a pipe. The archive is a zip unless the options set another
/// container.
///
/// The archive is created in the system's temporary directory and copied when it is complete. Reports, messages and the
/// top directory of a bag use the name `pack`. The external manifest is written only to the path in the options.
///
/// # Errors
///
/// As [`create`], and [`Error::Io`] if `sink` cannot be written.
///
/// ```
/// use ra_pack::write::{CreateOptions, create_to};
///
/// let mut archive = Vec::new();
/// create_to("examples/experiment", &mut archive, &CreateOptions::default())?;
/// assert!(archive.starts_with(b"PK"));
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn create_to(
    source: impl AsRef<Path>,
    sink: impl Write + Send,
    options: &CreateOptions,
) -> Result<CreateReport> {
    let begun = &mut BegunArchive::for_writer(sink, options)?;
    create_from(Source::directory(source.as_ref()), begun, options)
}

/// Packs one shard of the large files of the directory `source` into their places in `archive`, so that several
/// processes or machines pack one directory. [`join_shards`] completes the archive.
///
/// Until then, the archive has its name and `.unfinished`, and a directory with its name and `.shards` has a record of
/// each shard. All processes need the same files, the same options and locks that work in the directory of the archive.
/// A shard can be packed again at any time. Files are not divided between shards.
///
/// # Errors
///
/// As [`create`](create()), and [`Error::Options`] for archives that are compressed, have a journal, or are not
/// files.
pub fn create_shard(
    source: impl AsRef<Path>,
    archive: impl AsRef<Path>,
    shard: Shard,
    options: &CreateOptions,
) -> Result<ShardReport> {
    let source = source.as_ref();
    let mut begun = BegunArchive::new(archive.as_ref(), options)?;
    begun.check_shards(options)?;
    check_source(source, &begun.path, options)?;
    begun.open(options)?;
    let (container, jobs) = (begun.container, pipeline::jobs(options.jobs));
    let (placement, algorithms) = (&begun.placement.clone(), &*begun.algorithms.clone());
    let members =
        PayloadMembers { source, is_staged: false, placement, options, container, old: None };
    options.progress.stage("reading", 0, 0);
    let (mut entries, findings) =
        survey::names(source, &options.exclude, &[], options.dereference, &options.progress)?;
    members.mark_implied(&mut entries);
    let survey = members.survey(entries, findings, &mut begun.writer(options, jobs)?, false)?;
    let plan = CreatePlan::new(survey, members, &begun)?;
    // Nothing is shared before all is checked.
    begun.open_shared(Shards::begin(&begun.path, options)?, options)?;
    let (written, findings) =
        plan.write_shard(begun.writer(options, jobs)?, algorithms, shard, jobs)?;
    options.progress.stage("finishing", 0, 0);
    begun.pending().sync()?;
    let (files, bytes) = begun.shards().record(shard, &written)?;
    Ok(ShardReport { target: begun.path, shard, files, bytes, findings })
}

/// Completes an archive after all its shards were packed by [`create_shard`]. Its bytes are those that
/// [`create`](create()) writes.
///
/// Shards that are still being packed are waited for. If a shard is missing, or a file changed since its shard was
/// packed, nothing is lost: pack that shard again, and join again.
///
/// # Errors
///
/// As [`create_shard`], and [`Error::WrongTarget`] with the shards that must be packed.
pub fn join_shards(
    source: impl AsRef<Path>,
    archive: impl AsRef<Path>,
    options: &CreateOptions,
) -> Result<CreateReport> {
    let mut begun = BegunArchive::new(archive.as_ref(), options)?;
    begun.check_shards(options)?;
    begun.open_shared(Shards::join(&begun.path, options)?, options)?;
    create_from(Source::directory(source.as_ref()), &mut begun, options)
}

/// The content of a new archive.
struct Source<'a> {
    directory: &'a Path,
    /// Whether the directory exists only until the archive is complete.
    is_staged: bool,
    /// Entries that are not in the directory.
    entries: Vec<SourceEntry>,
    old: Option<OldMembers<'a>>,
}

impl<'a> Source<'a> {
    /// Returns the content of a directory of the user.
    fn directory(directory: &'a Path) -> Self {
        Self { directory, is_staged: false, entries: Vec::new(), old: None }
    }
}

/// Members that an archive takes over from an older one with the same name and container.
pub(crate) struct OldMembers<'a> {
    pub(crate) archive: &'a Archive,
    /// Size and time of the archive file before it was read.
    pub(crate) stamp: Stamp,
    /// The members that stay, in the order of their names.
    pub(crate) entries: Vec<SourceEntry>,
    /// The headers and descriptions of these members.
    pub(crate) contents: Contents,
}

impl OldMembers<'_> {
    /// Returns an error if the archive was changed or replaced.
    fn check_unchanged(&self) -> Result<()> {
        File::open(self.archive.path())?.check_unchanged(&self.stamp)
    }
}

/// Creates the archive, and copies it to its target.
fn create_from(
    source: Source<'_>,
    begun: &mut BegunArchive<'_>,
    options: &CreateOptions,
) -> Result<CreateReport> {
    let staged = source.is_staged.then_some(source.directory);
    let created = create_file(source, begun, options).and_then(|mut report| {
        if let Some(delivery) = &mut begun.delivery {
            delivery.deliver(&report.target, options)?;
            let CreateReport { target, external_manifest, signature, time_stamp, .. } = &mut report;
            let paths = [external_manifest, signature, time_stamp];
            for path in paths.into_iter().flatten().chain([target]) {
                *path = delivery.name(std::mem::take(path));
            }
        }
        Ok(report)
    });
    let created = created.and_then(|report| {
        begun.shards.take().map_or(Ok(()), Shards::remove)?;
        Ok(report)
    });
    created.map_err(|error| begun.in_words(error, staged))
}

fn create_file(
    source: Source<'_>,
    begun: &mut BegunArchive<'_>,
    options: &CreateOptions,
) -> Result<CreateReport> {
    let Source { directory: source, is_staged, entries: mut others, mut old } = source;
    check_source(source, &begun.path, options)?;
    let outputs = Outputs::begin(begun, options)?;
    let BegunArchive { path: archive, container, algorithms, info, placement, .. } = outputs.begun;
    let own: Vec<_> =
        outputs.temporaries().filter_map(|path| fs::name_below(source, path)).collect();
    let jobs = pipeline::jobs(options.jobs);
    let old_archive = old.as_ref().map(|old| old.archive);
    let container = *container;
    let members =
        PayloadMembers { source, is_staged, placement, options, container, old: old_archive };
    options.progress.stage("reading", 0, 0);
    let (mut entries, findings) =
        survey::names(source, &options.exclude, &own, options.dereference, &options.progress)?;
    entries.append(&mut others);
    if let Some(old) = &mut old {
        entries.append(&mut old.entries);
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    // More than one of them may contain the same directory.
    entries.dedup_by(|one, other| one.path == other.path);
    members.mark_implied(&mut entries);
    let mut writer = outputs.begun.writer(options, jobs)?;
    // Texts made from all arrays are known too late to be written in their order. Nothing is written if there are
    // errors.
    let is_late = options.describe || options.ro_crate;
    let is_written = !is_late && count_errors(&findings) == 0;
    let mut survey = members.survey(entries, findings, &mut writer, is_written)?;
    if let Some(old) = &mut old {
        survey.contents.extend(std::mem::take(&mut old.contents));
    }
    let plan = CreatePlan::new(survey, members, outputs.begun)?;
    let external = outputs.manifest.as_ref().map(PendingFile::file);
    let shards = outputs.begun.shards.as_ref();
    let packed = plan.write(writer, external, shards, algorithms, info.clone(), jobs)?;
    options.progress.stage("finishing", 0, 0);
    if options.layout == Layout::BagIt {
        outputs.check_bag(jobs, &options.progress)?;
    }
    let archive_bytes = outputs.begun.pending().file().len()?;
    let archive_sha256 = outputs.write_digest(&options.progress)?;
    let manifest = outputs.manifest.as_ref().map(|manifest| manifest.file().path().to_owned());
    let turn = outputs.persist(options.force, old.as_ref(), &options.progress)?;
    let leftovers = fs::leftovers(archive);
    let made = |command: &Option<String>, make: fn(&Path, &str) -> Result<PathBuf>| {
        let both = command.as_ref().zip(manifest.as_ref());
        both.map(|(command, manifest)| make(manifest, command)).transpose()
    };
    let signature = made(&options.sign_with, companions::sign)?;
    let time_stamp = made(&options.time_with, companions::stamp)?;
    let parity = options.parity_with.as_ref().map(|command| companions::protect(archive, command));
    let parity = parity.transpose()?.unwrap_or_default();
    drop(turn);
    let PackedFiles { members, bytes, arrays, metadata, described, findings } = packed;
    Ok(CreateReport {
        target: archive.clone(),
        container,
        layout: options.layout,
        files: members,
        arrays,
        metadata,
        bytes,
        archive_bytes,
        archive_sha256,
        external_manifest: manifest,
        signature,
        time_stamp,
        parity,
        store_checksums: None,
        described,
        leftovers,
        findings,
    })
}

/// Completes an archive from the files of a directory that was staged for it and from other `entries`, some of which it
/// may have already. Messages name the archive, not the staged files.
pub(crate) fn complete(
    staged: &PendingDirectory,
    begun: &mut BegunArchive<'_>,
    options: &CreateOptions,
    entries: Vec<SourceEntry>,
    old: Option<OldMembers<'_>>,
) -> Result<CreateReport> {
    create_from(Source { directory: staged.path(), is_staged: true, entries, old }, begun, options)
}

/// Begins an archive that can be created, independent of its content.
pub(crate) fn begin(archive: &Path, options: &CreateOptions) -> Result<BegunArchive<'static>> {
    let mut begun = BegunArchive::new(archive, options)?;
    Outputs::begin(&mut begun, options)?;
    Ok(begun)
}

/// Returns an error if the source cannot be packed into that archive.
fn check_source(source: &Path, archive: &Path, options: &CreateOptions) -> Result<()> {
    if !fs::is_directory(source)? {
        let kind = fs::kind_of(source)?.not("a directory");
        return Err(Error::wrong_target(source, format!("is {kind}")));
    }
    must_not_be_packed(source, archive, options)
}

/// Returns an error for outputs inside the source that are not excluded, because the next run would pack them.
fn must_not_be_packed(source: &Path, archive: &Path, options: &CreateOptions) -> Result<()> {
    let is_beside = !options.no_external_manifest && options.manifest.is_none();
    let written = [
        Some(archive.to_owned()),
        is_beside.then(|| beside(archive, EXTERNAL_MANIFEST_SUFFIX)),
        options.manifest.clone(),
        options.archive_digest.then(|| beside(archive, ARCHIVE_DIGEST_SUFFIX)),
    ];
    for path in written.into_iter().flatten() {
        let Some(name) = fs::name_below(source, &path) else { continue };
        if options.exclude.matches(&name) {
            continue;
        }
        let name = fs::name_below(source, archive).unwrap_or(name);
        let problem = format!(
            "would be inside `{}`, where the next run would pack it; write it elsewhere, or give ",
            escape_path(source),
        );
        let message = Message::from(problem).option(("exclude", format!("'{}*'", escape(&name))));
        return Err(Error::wrong_target(path, message));
    }
    Ok(())
}

/// The files that one run writes, under their temporary names.
struct Outputs<'a, 'w> {
    begun: &'a BegunArchive<'w>,
    manifest: Option<PendingFile>,
    digest: Option<PendingFile>,
}

impl<'a, 'w> Outputs<'a, 'w> {
    /// Begins all outputs, so that a conflict is reported before any work is done.
    fn begin(begun: &'a mut BegunArchive<'w>, options: &CreateOptions) -> Result<Self> {
        let path = &begun.path;
        let manifest_beside = beside(path, EXTERNAL_MANIFEST_SUFFIX);
        let digest_path = beside(path, ARCHIVE_DIGEST_SUFFIX);
        // A writer has no place next to the archive.
        let has_manifest = !options.no_external_manifest
            && (options.manifest.is_some()
                || begun.delivery.as_ref().is_none_or(Delivery::has_companions));
        let manifest_path = options.manifest.as_ref().unwrap_or(&manifest_beside);
        let replace = begun.replaces(options);
        let create = |path: &Path| {
            let replace =
                if options.manifest.as_deref() == Some(path) { options.force } else { replace };
            let pending = PendingFile::create(path, replace);
            pending.map(|pending| pending.stopped_by(&options.progress))
        };
        let unwritten = [
            (options.no_external_manifest, &manifest_beside, (" without ", "no_external_manifest")),
            (options.manifest.is_some(), &manifest_beside, (" without ", "manifest")),
            (!options.archive_digest, &digest_path, (" and ", "archive_digest")),
        ];
        let exists = |path: &Path| match &begun.delivery {
            Some(delivery) => delivery.exists(path),
            None => fs::exists(path),
        };
        // `verify` would check the new archive against files of another one.
        let stale =
            unwritten.into_iter().find(|(is_unwritten, path, _)| *is_unwritten && exists(path));
        if let Some((_, stale, (word, option))) = stale {
            let message = Message::from(
                "belongs to an earlier archive of this name; delete it, or replace it with ",
            );
            let message = message.option("force").text(word).option(option);
            return Err(Error::wrong_target(begun.name(stale.clone()), message));
        }
        begun.open(options)?;
        let mut stale = signatures_of(manifest_path).into_iter().chain(parity_files(&begun.path));
        if let Some(path) = stale.next().filter(|_| !options.force) {
            return Err(Error::AlreadyExists { path });
        }
        let manifest = has_manifest.then(|| create(manifest_path)).transpose()?;
        let digest = options.archive_digest.then(|| create(&digest_path)).transpose()?;
        Ok(Self { begun, manifest, digest })
    }

    /// Returns the temporary names, which may be in the source.
    fn temporaries(&self) -> impl Iterator<Item = &Path> {
        let files = [Some(self.begun.pending()), self.manifest.as_ref(), self.digest.as_ref()];
        files.into_iter().flatten().filter_map(PendingFile::temporary)
    }

    /// Writes the digest of the archive, if it is wanted.
    fn write_digest(&self, progress: &Progress) -> Result<Option<Digest>> {
        let Some(file) = &self.digest else { return Ok(None) };
        let path = self.begun.path.to_string_lossy();
        let digest = manifests::digest_file(self.begun.pending().file(), &path, progress)?;
        let name = self.begun.path.file_name().unwrap_or_default().to_string_lossy();
        let digests = [(MemberPath::new(name.as_ref())?, digest)];
        let line = Manifest::new(Algorithm::Sha256, digests).to_text(NameEncoding::Gnu);
        file.file().write_all_at(&line, 0)?;
        Ok(Some(digest))
    }

    /// Reads the whole bag back before it is renamed, to check the bytes that were written.
    fn check_bag(&self, jobs: usize, progress: &Progress) -> Result<()> {
        let Some(temporary) = self.begun.temporary() else { return Ok(()) };
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
        Err(Error::ReadBack(format!(
            "the bag is not valid after writing{}; it was deleted. The disk or the memory of this \
             machine may be failing",
            first.map_or(String::new(), |finding| format!(": {finding}"))
        )))
    }

    /// Syncs all files, and then renames them.
    ///
    /// No system renames three files in one step. If a crash stops this between two steps, `verify` must not check an
    /// archive against the manifest of another. So the files next to the old archive are set aside first, then the
    /// archive is renamed, and the manifest and the digest are renamed last. An archive alone is verified with the
    /// manifest in it. As long as the old archive stays, the files set aside can be brought back.
    ///
    /// The returned lock keeps other runs from renaming the same files until it is dropped.
    fn persist(
        self,
        replace: bool,
        old: Option<&OldMembers<'_>>,
        progress: &Progress,
    ) -> Result<Turn> {
        let (path, archive) = (&self.begun.path, self.begun.pending());
        // A temporary archive is copied and deleted.
        let synced = self.begun.delivery.is_none().then_some(archive);
        for file in [synced, self.manifest.as_ref(), self.digest.as_ref()] {
            progress.check()?;
            file.map_or(Ok(()), PendingFile::sync)?;
        }
        progress.check()?;
        let turn = Turn::beside(path, progress)?;
        old.map_or(Ok(()), OldMembers::check_unchanged)?;
        let stale = if replace { manifests::companions(path) } else { Vec::new() };
        let parity = if replace { parity_files(path) } else { Vec::new() };
        archive.persist_over(&stale)?;
        parity.iter().try_for_each(|path| fs::remove(path))?;
        for file in [self.manifest, self.digest].into_iter().flatten() {
            file.persist()?;
        }
        fs::sync_directory(path)?;
        Ok(turn)
    }
}
