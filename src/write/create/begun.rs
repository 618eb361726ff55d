//! The archive that is written: its form, and members that are written before the others are known.

use std::io::ErrorKind::StorageFull;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use super::delivery::Delivery;
use super::options::FIXED_TIME;
use super::shards::Shards;
use super::{CreateOptions, JournalOptions};
use crate::archive::{
    Alignment, ArchiveWriter, Arriving, Compression, Container, MemberKind, NewMember,
    WrittenMember,
};
use crate::digest::{Algorithm, Wanted};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs::{self, File, LineFile, PendingFile, UNFINISHED_SUFFIX, beside};
use crate::manifest::{BlockList, NameEncoding, push_line};
use crate::message::Message;
use crate::pack::bag::BagInfo;
use crate::pack::bag::lists::BAGGING_DATE;
use crate::pack::bag::profile::{BagProfile, PROFILE_IDENTIFIER};
use crate::pack::{EXTERNAL_MANIFEST_SUFFIX, Layout, Placement};
use crate::path::MemberPath;
use crate::path::url::is_url;
use crate::time::Timestamp;
use crate::write::companions;
use crate::write::survey::{EntrySource, SourceEntry, WrittenContent};

/// Seconds from 1970 to the end of the year 9999, the last with four digits.
const END_OF_YEAR_9999: u64 = 253_402_300_800;

/// An archive, from options that do not contradict each other. Its file has a temporary name.
pub(crate) struct BegunArchive<'w> {
    /// The archive to write; for a link, the one to replace.
    pub(super) path: PathBuf,
    /// Where the complete archive is copied, if `path` is temporary.
    pub(super) delivery: Option<Delivery<'w>>,
    pub(super) container: Container,
    /// Algorithms of the manifests, weakest first.
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) info: BagInfo,
    /// The profile of a bag, with warnings about it.
    pub(super) profile: Option<(BagProfile, Vec<Finding>)>,
    pub(super) placement: Placement,
    file: Option<BegunFile>,
    /// The end of the members that are written.
    pub(crate) end: u64,
    journal: Option<JournalFile>,
    /// The parts that other processes wrote.
    pub(super) shards: Option<Shards>,
}

/// The list of the members that are on the disk, and those that are not on it yet.
struct JournalFile {
    sync_every: u64,
    file: Option<LineFile>,
    lines: Vec<u8>,
    unsynced: u64,
}

struct BegunFile {
    pending: PendingFile,
    /// The same file, for readers of its members.
    shared: Arc<File>,
    /// Whether other processes may still write in it.
    is_abandoned: bool,
}

impl<'w> BegunArchive<'w> {
    /// Checks the options. The archive is a file or an object.
    pub(super) fn new(archive: &Path, options: &CreateOptions) -> Result<Self> {
        let (delivery, path) = if is_url(archive) {
            container(archive, options)?;
            check_no_parity(options)?;
            let (delivery, path) = Delivery::to_url(archive, options.force, &options.progress)?;
            (Some(delivery), path)
        } else if options.force {
            (None, companions::replaceable(archive, &options.progress)?)
        } else {
            (None, archive.to_owned())
        };
        Self::with(path, delivery, options)
    }

    /// Checks the options of an archive that is copied to `sink` when it is complete.
    pub(crate) fn for_writer(
        sink: impl Write + Send + 'w,
        options: &CreateOptions,
    ) -> Result<Self> {
        check_no_parity(options)?;
        let container = options.container.unwrap_or(Container::Zip);
        let (delivery, path) = Delivery::to_writer(sink, container)?;
        Self::with(path, Some(delivery), options)
    }

    fn with(
        path: PathBuf,
        delivery: Option<Delivery<'w>>,
        options: &CreateOptions,
    ) -> Result<Self> {
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
        for (is_given, option) in [
            (options.sign_with.is_some(), "sign_with"),
            (options.time_with.is_some(), "time_with"),
            (options.manifest.is_some(), "manifest"),
        ] {
            if is_given && options.no_external_manifest {
                let message = Message::default().option(option).text(" and ");
                let message = message.option("no_external_manifest");
                return Err(Error::options(
                    message.text(" contradict each other: there is no external manifest"),
                ));
            }
        }
        if options.clone
            && (container, options.compression) != (Container::Zip, Compression::Stored)
        {
            let message = Message::default().option("clone");
            let message = message
                .text(" needs a zip without compression, whose members have blocks of their own");
            return Err(Error::options(message));
        }
        let (algorithms, mut info) = (algorithms(options)?, bag_info(options)?);
        let profile = options.profile.as_deref().map(BagProfile::read).transpose()?;
        if let Some((profile, _)) = &profile {
            let identifier = profile.identifier();
            if info.with_label(PROFILE_IDENTIFIER).all(|field| field.value != identifier) {
                let invalid = |invalid| Error::options(format!("the profile: {invalid}"));
                info.add(PROFILE_IDENTIFIER, identifier).map_err(invalid)?;
            }
        }
        let placement = match options.layout {
            Layout::Plain => Placement::plain(),
            Layout::BagIt => Placement::bag(&name_without_extension(&path)?),
        };
        let journal = options.journal.map(|JournalOptions { sync_every }| JournalFile {
            sync_every,
            file: None,
            lines: Vec::new(),
            unsynced: 0,
        });
        let (file, end) = (None, 0);
        let is_stream = delivery.is_some() || options.layout == Layout::BagIt;
        let shards = None;
        let this = Self {
            path,
            delivery,
            container,
            algorithms,
            info,
            profile,
            placement,
            file,
            end,
            journal,
            shards,
        };
        if this.journal.is_some() && (is_stream || !this.takes_members(options)) {
            return Err(Error::options(
                "a journal needs a file: a zip or tar in the plain layout without compression"
                    .to_owned(),
            ));
        }
        Ok(this)
    }

    /// Records a complete member in the journal, if there is one.
    pub(crate) fn record(&mut self, path: &MemberPath, member: &WrittenMember) -> Result<()> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let digest = member.placed.digests.made_by(Algorithm::Sha256);
        push_line(&mut journal.lines, NameEncoding::Gnu, path.as_str(), &digest);
        journal.unsynced += 1;
        if journal.unsynced == journal.sync_every { self.sync() } else { Ok(()) }
    }

    /// Syncs all members, and then lists them in the journal, if there is one.
    pub(crate) fn sync(&mut self) -> Result<()> {
        let Self { journal: Some(journal), file: Some(begun), path, .. } = self else {
            return Ok(());
        };
        let Some((_, lines)) = journal.lines.split_last() else { return Ok(()) };
        begun.pending.sync()?;
        let file = match &mut journal.file {
            Some(file) => file,
            none => none.insert(LineFile::open(&journal_of(path))?),
        };
        begun.pending.keep();
        file.append(str::from_utf8(lines).expect("names of members are UTF-8"))?;
        journal.lines.clear();
        journal.unsynced = 0;
        Ok(())
    }

    /// Returns the paths of the archive and the journal that are kept if the process ends early.
    pub(crate) fn kept(&self) -> impl Iterator<Item = PathBuf> {
        let journal = self.journal.as_ref().map(|_| journal_of(&self.path));
        self.temporary().map(Path::to_owned).into_iter().chain(journal)
    }

    /// Removes the journal of a complete archive.
    pub(crate) fn end_journal(&mut self) -> Result<()> {
        self.journal.take().map_or(Ok(()), |_| fs::remove(&journal_of(&self.path)))
    }

    /// Returns the path of the archive until it is copied to its target.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether an archive that is there is replaced. Temporary ones are from an earlier try.
    pub(super) fn replaces(&self, options: &CreateOptions) -> bool {
        options.force || self.delivery.is_some()
    }

    /// Returns the path of a file of the archive for messages and reports.
    pub(super) fn name(&self, path: PathBuf) -> PathBuf {
        match &self.delivery {
            Some(delivery) => delivery.name(path),
            None => path,
        }
    }

    /// Replaces temporary paths in an error: those of files in the directory `staged`, and of the archive.
    pub(crate) fn in_words(&self, error: Error, staged: Option<&Path>) -> Error {
        let in_archive = |path: PathBuf| match staged.map(|staged| path.strip_prefix(staged)) {
            Some(Ok(below)) if below.as_os_str().is_empty() => self.path.clone(),
            Some(Ok(below)) => self.path.join(below),
            Some(Err(_)) | None => path,
        };
        // Only the temporary path tells which disk is full.
        let is_full = matches!(&error, Error::Io { source, .. } if source.kind() == StorageFull);
        error.with_path(|path| if is_full { in_archive(path) } else { self.name(in_archive(path)) })
    }

    /// Opens the file, if it is not open. If an earlier try gave it its name, or it is abandoned, the members are copied
    /// to another one.
    pub(crate) fn open(&mut self, options: &CreateOptions) -> Result<()> {
        let is_usable = |file: &BegunFile| file.pending.is_pending() && !file.is_abandoned;
        if self.file.as_ref().is_some_and(is_usable) {
            return Ok(());
        }
        let pending = if self.shards.is_some() {
            PendingFile::shared(&self.path, options.force)?
        } else if self.journal.is_some() {
            let journal = journal_of(&self.path);
            if fs::exists(&journal) {
                let why = "is the journal of a writer that was stopped; delete it after `ra-pack salvage`";
                return Err(Error::wrong_target(journal, why));
            }
            PendingFile::unfinished(&self.path, options.force)?
        } else {
            PendingFile::create(&self.path, self.replaces(options))?
        };
        let pending = pending.stopped_by(&options.progress);
        if let Some(old) = &self.file {
            old.shared.copy_to(0, self.end, pending.file(), 0)?;
        }
        let shared = Arc::new(pending.file().try_clone()?);
        self.file = Some(BegunFile { pending, shared, is_abandoned: false });
        Ok(())
    }

    /// Prepares the open file for other processes that write up to the offset `end`, and returns its path. Returns `None`
    /// if it is copied to its target, or if others know its name, which then does not prove that they see this file.
    pub(crate) fn share(&self, end: u64) -> Result<Option<PathBuf>> {
        if self.delivery.is_some() || self.journal.is_some() {
            return Ok(None);
        }
        let pending = self.pending();
        pending.grow(end)?;
        // NFS writes later what this process has in memory.
        pending.sync()?;
        Ok(pending.temporary().map(Path::to_owned))
    }

    /// Makes the bytes that other processes wrote visible to this one.
    pub(crate) fn take_back(&self) -> Result<()> {
        // NFS compares what it has in memory with the server when a file is opened.
        self.temporary().map_or(Ok(()), |temporary| File::open(temporary).map(drop))
    }

    /// Leaves the file to processes that may still write in it. The members are copied to another one.
    pub(crate) fn abandon(&mut self) {
        self.file.iter_mut().for_each(|file| file.is_abandoned = true);
    }

    /// Returns an error if other processes cannot write parts of the archive.
    pub(super) fn check_shards(&self, options: &CreateOptions) -> Result<()> {
        let is_file = self.delivery.is_none() && self.journal.is_none();
        if is_file && self.takes_members(options) {
            return Ok(());
        }
        let why = "shards need a file: a zip or tar without compression and without a journal";
        Err(Error::options(why.to_owned()))
    }

    /// Returns the shards of the open file.
    pub(super) fn shards(&self) -> &Shards {
        self.shards.as_ref().expect("the file is shared")
    }

    /// Opens the file that other processes write as well, instead of one of its own.
    pub(super) fn open_shared(&mut self, shards: Shards, options: &CreateOptions) -> Result<()> {
        (self.file, self.shards) = (None, Some(shards));
        self.open(options)
    }

    /// Returns a writer of the members after those that are written.
    pub(super) fn writer(&self, options: &CreateOptions, jobs: usize) -> Result<ArchiveWriter<'_>> {
        let wanted = Wanted { algorithms: &self.algorithms, block_size: options.block_digests };
        let (container, compression) = (self.container, options.compression);
        let writer = ArchiveWriter::new(container, compression, self.pending(), wanted, jobs)?;
        Ok(writer.after(self.end))
    }

    /// Returns the open file.
    pub(super) fn pending(&self) -> &PendingFile {
        &self.begun().pending
    }

    fn begun(&self) -> &BegunFile {
        self.file.as_ref().expect("the file is open")
    }

    /// Returns the temporary name.
    pub(crate) fn temporary(&self) -> Option<&Path> {
        self.file.as_ref().and_then(|file| file.pending.temporary())
    }

    /// Returns whether members can be written before the others are known: their place must not depend on the others,
    /// and they must be removable.
    pub(crate) fn takes_members(&self, options: &CreateOptions) -> bool {
        matches!(self.container, Container::Zip | Container::Tar)
            && options.compression == Compression::Stored
    }

    /// Begins a file after the members that are written. `size` is 0 if it is not known. The content is aligned at an
    /// offset in it, if there is one.
    pub(crate) fn begin(
        &mut self,
        path: &MemberPath,
        size: u64,
        align_at: Option<u64>,
        options: &CreateOptions,
    ) -> Result<Arriving> {
        self.open(options)?;
        let path = MemberPath::new(self.placement.placed(path.as_str()))?.as_str().to_owned();
        let modified = options.timestamp.unwrap_or(FIXED_TIME);
        let (kind, align) = (MemberKind::File, align_at.map(Alignment::of_data));
        let member = NewMember { path: path.into(), kind, size, modified, align };
        let wanted = Wanted { algorithms: &self.algorithms, block_size: options.block_digests };
        Arriving::begin(&self.begun().shared, self.container, wanted, member, self.end)
    }

    /// Completes the member that was begun last.
    pub(crate) fn complete(&mut self, arriving: Arriving) -> Result<WrittenMember> {
        let written = arriving.finish()?;
        self.end = written.range().end;
        Ok(written)
    }

    /// Moves a member to the offset `at` if it begins after that. Returns the end of the member.
    pub(crate) fn keep(&self, member: &mut WrittenMember, at: u64) -> Result<u64> {
        if member.range().start > at {
            member.move_to(&self.begun().shared, at)?;
        }
        Ok(member.range().end)
    }

    /// Returns the entry of a member that is written.
    pub(crate) fn entry(&self, path: MemberPath, member: &WrittenMember) -> SourceEntry {
        let (archive, range) = (Arc::clone(&self.begun().shared), member.content());
        let source = EntrySource::Written(Box::new(WrittenContent { archive, range }));
        SourceEntry { placed: Some(member.placed.clone()), ..SourceEntry::new(path, source) }
    }
}

/// Returns an error if parity files are wanted, which have the name of a file in them.
fn check_no_parity(options: &CreateOptions) -> Result<()> {
    if options.parity_with.is_none() {
        return Ok(());
    }
    let message = Message::default().option("parity_with");
    Err(Error::options(message.text(" needs an archive that is a file")))
}

/// Returns the path of the journal of an archive.
fn journal_of(archive: &Path) -> PathBuf {
    beside(&beside(archive, UNFINISHED_SUFFIX), EXTERNAL_MANIFEST_SUFFIX)
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
    let needs_bag = !options.bag_info.is_empty() || options.profile.is_some();
    if options.layout != Layout::BagIt && needs_bag {
        let problem = "metadata for `bag-info.txt` and a profile require a bag; use ";
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
