//! Packing a directory: survey and check the source, write the archive, rename it.

mod options;
mod payload;
mod plan;

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;

pub use self::options::CreateOptions;
use self::payload::PayloadMembers;
use self::plan::{CreatePlan, PackedFiles};
#[cfg(test)]
pub(crate) use self::plan::{push_block_head, push_block_line};
use crate::archive::{Archive, ArchiveWriter, Container};
use crate::digest::{Algorithm, Digest, Wanted};
use crate::error::{Error, Result};
use crate::finding::{Finding, count_errors};
use crate::fs::{self, File, PendingDirectory, PendingFile, Stamp, Turn};
use crate::manifest::{BlockList, Manifest, NameEncoding};
use crate::message::Message;
use crate::pack::bag::BagInfo;
use crate::pack::bag::lists::BAGGING_DATE;
use crate::pack::{
    ARCHIVE_DIGEST_SUFFIX, Contents, EXTERNAL_MANIFEST_SUFFIX, Layout, MetadataCounts, Placement,
};
use crate::path::{MemberPath, escape, escape_path};
use crate::pipeline;
use crate::progress::Progress;
use crate::read::manifests::{self, beside, signatures_of};
use crate::time::Timestamp;
use crate::verify::{VerifyOptions, verify};
use crate::write::companions::{self, sign};
use crate::write::survey::{self, SourceEntry};

/// Seconds from 1970 to the end of the year 9999, the last with four digits.
const END_OF_YEAR_9999: u64 = 253_402_300_800;

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
    let (source, archive) = (source.as_ref(), archive.as_ref());
    let source = Source { directory: source, is_staged: false, in_memory: Vec::new(), old: None };
    create_from(source, archive, options)
}

/// The content of a new archive.
struct Source<'a> {
    directory: &'a Path,
    /// Whether the directory exists only until the archive is complete.
    is_staged: bool,
    in_memory: Vec<SourceEntry>,
    old: Option<OldMembers<'a>>,
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

fn create_from(
    source: Source<'_>,
    archive: &Path,
    options: &CreateOptions,
) -> Result<CreateReport> {
    let Source { directory: source, is_staged, mut in_memory, mut old } = source;
    let CheckedOptions { path: archive, container, algorithms, info } =
        &CheckedOptions::new(archive, options)?;
    if !fs::is_directory(source)? {
        let kind = fs::kind_of(source)?.not("a directory");
        return Err(Error::wrong_target(source, format!("is {kind}")));
    }
    must_not_be_packed(source, archive, options)?;
    let outputs = Outputs::begin(archive, options)?;
    let own: Vec<_> =
        outputs.temporaries().filter_map(|path| fs::name_below(source, path)).collect();
    let jobs = pipeline::jobs(options.jobs);
    let placement = &match options.layout {
        Layout::Plain => Placement::plain(),
        Layout::BagIt => Placement::bag(&name_without_extension(archive)?),
    };
    let old_archive = old.as_ref().map(|old| old.archive);
    let container = *container;
    let members =
        PayloadMembers { source, is_staged, placement, options, container, old: old_archive };
    options.progress.stage("reading", 0, 0);
    let (mut entries, findings) =
        survey::names(source, &options.exclude, &own, options.dereference, &options.progress)?;
    entries.append(&mut in_memory);
    if let Some(old) = &mut old {
        entries.append(&mut old.entries);
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    // More than one of them may contain the same directory.
    entries.dedup_by(|one, other| one.path == other.path);
    members.mark_implied(&mut entries);
    let wanted = Wanted { algorithms, block_size: options.block_digests };
    let (compression, file) = (options.compression, &outputs.archive);
    let mut writer = ArchiveWriter::new(container, compression, file, wanted, jobs)?;
    // Descriptions made from all arrays are known too late to be written in their order. Nothing is written if there
    // are errors.
    let is_written = !options.describe && count_errors(&findings) == 0;
    let mut survey = members.survey(entries, findings, &mut writer, is_written)?;
    if let Some(old) = &mut old {
        survey.contents.extend(std::mem::take(&mut old.contents));
    }
    let plan = CreatePlan::new(survey, members, archive)?;
    let external = outputs.manifest.as_ref().map(PendingFile::file);
    let packed = plan.write(writer, external, algorithms, info.clone(), jobs)?;
    options.progress.stage("finishing", 0, 0);
    if options.layout == Layout::BagIt {
        outputs.check_bag(jobs, &options.progress)?;
    }
    let archive_bytes = outputs.archive.file().len()?;
    let archive_sha256 = outputs.write_digest(&options.progress)?;
    let manifest = beside(archive, EXTERNAL_MANIFEST_SUFFIX);
    let turn = outputs.persist(options.force, old.as_ref(), &options.progress)?;
    let leftovers = fs::leftovers(archive);
    let signed = options.sign_with.as_ref().map(|command| sign(&manifest, command));
    let signature = signed.transpose()?;
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
        external_manifest: (!options.no_external_manifest).then_some(manifest),
        signature,
        described,
        leftovers,
        findings,
    })
}

/// Packs a directory that was staged for `archive`, together with files that are `in_memory`. Messages name the archive,
/// not the staged files.
pub(crate) fn create_staged(
    staged: &PendingDirectory,
    archive: &Path,
    options: &CreateOptions,
    in_memory: Vec<SourceEntry>,
    old: Option<OldMembers<'_>>,
) -> Result<CreateReport> {
    let source = Source { directory: staged.path(), is_staged: true, in_memory, old };
    create_from(source, archive, options)
        .map_err(|error| error.with_path(|path| in_archive(staged.path(), archive, path)))
}

/// Returns the path of a file in the directory `staged` as a file in the archive.
pub(crate) fn in_archive(staged: &Path, archive: &Path, path: PathBuf) -> PathBuf {
    match path.strip_prefix(staged) {
        Ok(below) if below.as_os_str().is_empty() => archive.to_owned(),
        Ok(below) => archive.join(below),
        Err(_) => path,
    }
}

/// Checks that the archive can be created, independent of its content.
pub(crate) fn check(archive: &Path, options: &CreateOptions) -> Result<()> {
    Outputs::begin(&CheckedOptions::new(archive, options)?.path, options).map(drop)
}

/// The form of an archive, from options that do not contradict each other.
struct CheckedOptions {
    /// The archive to write; for a link, the one to replace.
    path: PathBuf,
    container: Container,
    /// Algorithms of the manifests, weakest first.
    algorithms: Vec<Algorithm>,
    info: BagInfo,
}

impl CheckedOptions {
    fn new(archive: &Path, options: &CreateOptions) -> Result<Self> {
        fs::refuse_url(archive)?;
        let path = if options.force {
            companions::replaceable(archive, &options.progress)?
        } else {
            archive.to_owned()
        };
        let container = container(&path, options)?;
        options.compression.check(container)?;
        let (least, most) = BlockList::BLOCK_SIZES.into_inner();
        if let Some(size) = options.block_digests
            && !BlockList::BLOCK_SIZES.contains(&size)
        {
            return Err(Error::options(format!(
                "expected blocks of {least} to {most} bytes for block digests, found {size}"
            )));
        }
        if options.sign_with.is_some() && options.no_external_manifest {
            let message = Message::default().option("sign_with").text(" and ");
            let message = message.option("no_external_manifest");
            return Err(Error::options(
                message.text(" contradict each other: there is no manifest to sign"),
            ));
        }
        let (algorithms, info) = (algorithms(options)?, bag_info(options)?);
        Ok(Self { path, container, algorithms, info })
    }
}

/// Returns an error for outputs inside the source that are not excluded, because the next run would pack them.
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
    let problem = format!(
        "would be inside `{}`, where the next run would pack it; write it elsewhere, or give ",
        escape_path(source),
    );
    let message = Message::from(problem).option(("exclude", format!("'{}*'", escape(&name))));
    Err(Error::wrong_target(beside(archive, suffix), message))
}

/// The files that one run writes, under their temporary names.
struct Outputs<'a> {
    path: &'a Path,
    archive: PendingFile,
    manifest: Option<PendingFile>,
    digest: Option<PendingFile>,
}

impl<'a> Outputs<'a> {
    /// Begins all outputs, so that a conflict is reported before any work is done.
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
        // `verify` would check the new archive against files of another one.
        if let Some((_, stale)) = unwritten.iter().find(|(is, path)| *is && fs::exists(path)) {
            let message = Message::from(
                "belongs to an earlier archive of this name; delete it, or replace it with ",
            )
            .option("force");
            return Err(Error::wrong_target(
                stale,
                if *stale == &digest_path {
                    message.text(" and ").option("archive_digest")
                } else {
                    message.text(" without ").option("no_external_manifest")
                },
            ));
        }
        let archive = begin(path)?;
        let mut stale = signatures_of(&manifest_path).into_iter();
        if let Some(path) = stale.next().filter(|_| !options.force) {
            return Err(Error::AlreadyExists { path });
        }
        let manifest =
            (!options.no_external_manifest).then(|| begin(&manifest_path)).transpose()?;
        let digest = options.archive_digest.then(|| begin(&digest_path)).transpose()?;
        Ok(Self { path, archive, manifest, digest })
    }

    /// Returns the temporary names, which may be in the source.
    fn temporaries(&self) -> impl Iterator<Item = &Path> {
        let files = [Some(&self.archive), self.manifest.as_ref(), self.digest.as_ref()];
        files.into_iter().flatten().filter_map(PendingFile::temporary)
    }

    /// Writes the digest of the archive, if it is wanted.
    fn write_digest(&self, progress: &Progress) -> Result<Option<Digest>> {
        let Some(file) = &self.digest else { return Ok(None) };
        let path = self.path.to_string_lossy();
        let digest = manifests::digest_file(self.archive.file(), &path, progress)?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let digests = [(MemberPath::new(name.as_ref())?, digest)];
        let line = Manifest::new(Algorithm::Sha256, digests).to_text(NameEncoding::Gnu);
        file.file().write_all_at(&line, 0)?;
        Ok(Some(digest))
    }

    /// Reads the whole bag back before it is renamed, to check the bytes that were written.
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
        let files = [Some(self.archive), self.manifest, self.digest];
        for file in files.iter().flatten() {
            progress.check()?;
            file.sync()?;
        }
        progress.check()?;
        let turn = Turn::beside(self.path, progress)?;
        old.map_or(Ok(()), OldMembers::check_unchanged)?;
        let stale = if replace { companions::companions(self.path) } else { Vec::new() };
        let [archive, beside @ ..] = files;
        archive.map_or(Ok(()), |archive| archive.persist_over(&stale))?;
        for file in beside.into_iter().flatten() {
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
            Err(Error::options("cannot create a directory; choose an archive format".to_owned()))
        }
        None => Err(Error::wrong_target(
            archive,
            "has no known extension; use .zip, .tar, .tar.gz, .tgz, .tar.zst or .tzst",
        )),
        Some(container) => Ok(container),
    }
}

/// Returns the name of an archive without its extension, as the top directory of a bag has it.
pub(crate) fn name_without_extension(archive: &Path) -> Result<String> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let extension = Container::from_extension(archive).map_or("", Container::extension);
    let stem = name.strip_suffix(extension).unwrap_or(&name);
    let stem = stem
        .rsplit_once('.')
        .filter(|(_, rest)| matches!(*rest, "tgz" | "tzst"))
        .map_or(stem, |(stem, _)| stem);
    Ok(MemberPath::new(stem)?.as_str().to_owned())
}

/// Returns the algorithms of the manifests, weakest first.
fn algorithms(options: &CreateOptions) -> Result<Vec<Algorithm>> {
    if options.digests.is_empty() {
        return Ok(vec![Algorithm::Sha256]);
    }
    if let Some(other) = options.digests.iter().find(|algorithm| !algorithm.is_written()) {
        return Err(Error::options(format!(
            "manifests with {} can be read but not written; use sha256, sha512 or both",
            other.name()
        )));
    }
    if !options.digests.contains(&Algorithm::Sha256) {
        return Err(Error::options(
            "the digests must include sha256, which all readers of packs use".to_owned(),
        ));
    }
    let mut algorithms = options.digests.clone();
    algorithms.sort_unstable();
    algorithms.dedup();
    Ok(algorithms)
}

/// Returns the requested metadata in its order, and the date if a timestamp was given.
fn bag_info(options: &CreateOptions) -> Result<BagInfo> {
    let mut info = BagInfo::default();
    if options.layout != Layout::BagIt && !options.bag_info.is_empty() {
        let problem = "metadata for `bag-info.txt` requires a bag; use ";
        return Err(Error::options(Message::from(problem).option(("layout", "bagit"))));
    }
    for (label, value) in &options.bag_info {
        info.add(label, value).map_err(|invalid| {
            Error::options(format!("cannot write this to `bag-info.txt`: {invalid}"))
        })?;
    }
    if info.get(BAGGING_DATE).is_none()
        && let Some(day) = options.timestamp.and_then(date_of)
    {
        info.add(BAGGING_DATE, &day).map_err(Error::options)?;
    }
    Ok(info)
}

/// Returns the day in UTC for a time in seconds since 1970, as YYYY-MM-DD; `None` after the year 9999.
pub(crate) fn date_of(seconds: u64) -> Option<String> {
    let time = UNIX_EPOCH
        + Duration::from_secs(Some(seconds).filter(|seconds| *seconds < END_OF_YEAR_9999)?);
    Some(Timestamp::from(time).date())
}
