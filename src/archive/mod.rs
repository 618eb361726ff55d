//! Archives: named byte strings in a directory, a zip or a tar. This module does not interpret the bytes.

mod container;
mod copy;
mod data;
mod directory;
mod member;
pub(crate) mod names;
#[cfg(feature = "full")]
mod one_by_one;
mod portions;
#[cfg(feature = "full")]
mod remains;
mod revisit;
mod stream;
mod stream_contents;
mod tar;
mod tarball;
#[cfg(feature = "full")]
mod write;
mod zip;
#[cfg_attr(not(feature = "full"), cfg_attr(feature = "ruzstd", path = "ruzstd_frame.rs"))]
#[cfg_attr(not(any(feature = "full", feature = "ruzstd")), path = "no_zstd_frame.rs")]
mod zstd_frame;

use std::io::{self, BufRead};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use self::container::Container;
pub(crate) use self::copy::{Copying, Fault, Sink, copy, wait_for};
pub(crate) use self::data::{DataFault, MemberReader, OPENED_FROM, Stretch};
pub use self::member::Method;
#[cfg(feature = "full")]
pub(crate) use self::member::{Judged, Take};
pub(crate) use self::member::{Location, Member, Scan, Visit};
pub(in crate::archive) use self::member::{file_and_directory, invalid_name, twice};
pub(crate) use self::names::{NameTable, check as check_names};
#[cfg(feature = "full")]
pub(crate) use self::remains::Remains;
pub(crate) use self::revisit::{OpenContents, Revisit, Shown};
#[cfg(feature = "full")]
pub use self::write::Compression;
#[cfg(feature = "full")]
pub(crate) use self::write::{
    Alignment, ArchiveWriter, Arriving, Batch, ContentPieces, How, NewContent, NewMember,
    PackedMember, Packer, Placed, Record, Records, Reserved, ReservedMember, SHORT, SMALL, Sampled,
    WrittenMember,
};

use self::data::open;
use self::directory::Directory;
use self::stream::StreamCompression;
use self::tarball::Tarball;
use self::zip::ZipArchive;
use crate::allowance::Allowance;
use crate::error::{Error, Result};
use crate::file_kind::{FileKind, SNIFFED};
use crate::finding::{Code, Finding};
pub use crate::fs::MemberKind;
use crate::fs::{self, File};
use crate::path::MemberPath;
use crate::progress::Progress;

/// Maximum distance of ranges that are requested together.
const MAX_GAP: u64 = 16 * 1024;

/// An archive or directory opened for reading.
#[derive(Debug)]
pub(crate) enum Archive {
    Directory(Directory),
    Zip(Box<ZipArchive>),
    Tar(Tarball),
}

impl Archive {
    /// Opens an archive or directory without progress reports.
    #[cfg(test)]
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::open_watched(path, &Progress::default())
    }

    /// Opens an archive or directory. Detects the container from the content, not from the name. Reports reads to
    /// `progress`.
    pub(crate) fn open_watched(path: &Path, progress: &Progress) -> Result<Self> {
        if fs::is_directory(path)? {
            return Ok(Self::Directory(Directory::new(path, progress)));
        }
        Self::open_file(File::open_watched(path, progress)?)
    }

    /// Opens an archive, or a directory whose links are read as what they lead to.
    #[cfg(feature = "full")]
    pub(crate) fn open_following(path: &Path, progress: &Progress) -> Result<Self> {
        Ok(match Self::open_watched(path, progress)? {
            Self::Directory(directory) => Self::Directory(directory.following()),
            archive => archive,
        })
    }

    /// Opens only the given files of a directory.
    pub(crate) fn of_files(root: &Path, files: Vec<MemberPath>, progress: &Progress) -> Self {
        Self::Directory(Directory::of_files(root, files, progress))
    }

    /// Opens the archive in a file or a source.
    ///
    /// The beginning of a zip is not read here if that would be another request. [`Self::check_start`] does it.
    pub(crate) fn open_file(file: File) -> Result<Self> {
        let is_named =
            Container::from_extension(file.path()).is_none_or(|named| named == Container::Zip);
        let is_npz = file.path().extension().is_some_and(|end| end == "npz");
        if !file.is_at_hand(0..SNIFFED as u64)
            && is_named
            && !is_npz
            && zip::end::count_ends(&file, file.len()?)? > 0
        {
            return Ok(Self::Zip(Box::new(ZipArchive::open(file)?)));
        }
        let (start, path) = (file.start()?, file.path().to_owned());
        let archive = Self::open_as(FileKind::of(&start), &path, file)?;
        archive.check_that_it_is_no_other(&start)?;
        Ok(archive)
    }

    /// Checks that other programs do not read the file as another kind of archive, which [`Self::open_file`] may have left
    /// out.
    pub(crate) fn check_start(&self) -> Result<()> {
        let start = self.file().map(|file| file.start()).transpose()?;
        start.map_or(Ok(()), |start| self.check_that_it_is_no_other(&start))
    }

    /// Announces that these bytes of the archive will be read, so that they are requested in large parts.
    pub(crate) fn announce_range(&self, range: Range<u64>) {
        if let Some(file) = self.file() {
            file.announce(range);
        }
    }

    /// Calls `plan`, which finds ranges and announces or fetches them, unless finding them would be for nothing.
    pub(crate) fn plan(&self, plan: impl FnOnce() -> Result<()>) -> Result<()> {
        self.file().map_or(Ok(()), |file| file.plan(plan))
    }

    /// Returns the bytes of a zip from the local header of a member to the next one, and its packed size, from the
    /// directory. `None` for a name that is not found, and for other archives.
    pub(crate) fn range_of(&self, name: &str) -> Result<Option<(Range<u64>, u64)>> {
        match self {
            Self::Zip(zip) => zip.range_of(name),
            Self::Directory(_) | Self::Tar(_) => Ok(None),
        }
    }

    /// Returns whether all bytes can be read without waiting for a server.
    pub(crate) fn is_at_hand(&self) -> bool {
        self.file().is_none_or(|file| file.is_at_hand(0..self.bytes_to_read()))
    }

    /// Returns whether a member of a zip can be read without waiting for a server.
    pub(crate) fn is_member_at_hand(&self, name: &str) -> Result<bool> {
        let (range, file) = (self.range_of(name)?, self.file());
        Ok(range.zip(file).is_some_and(|((range, _), file)| file.is_at_hand(range)))
    }

    /// Requests ranges at once, so that later reads of them do not wait.
    pub(crate) fn fetch(&self, mut ranges: Vec<Range<u64>>) -> Result<()> {
        ranges.sort_unstable_by_key(|range| range.start);
        self.file().map_or(Ok(()), |file| file.fetch(&ranges, MAX_GAP))
    }

    /// Requests the beginnings of these members at once, so that later reads of them do not wait.
    pub(crate) fn fetch_starts(&self, names: &[String]) -> Result<()> {
        match self {
            Self::Zip(zip) => zip.fetch_starts(names),
            Self::Directory(_) | Self::Tar(_) => Ok(()),
        }
    }

    /// Returns the probable offset of the line of a file in a sorted manifest: the length of the lines of all files before
    /// it. `manifest` is the name of the manifest, which does not list itself, and the length of a line without its name.
    /// Returns `None` if the archive is not a zip.
    pub(crate) fn lines_before(&self, name: &str, manifest: (&str, usize)) -> Result<Option<u64>> {
        match self {
            Self::Zip(zip) => zip.lines_before(name, manifest).map(Some),
            Self::Directory(_) | Self::Tar(_) => Ok(None),
        }
    }

    /// Returns the number of threads that read.
    fn jobs(&self, jobs: usize) -> usize {
        self.file().map_or(jobs, |file| file.readers(jobs))
    }

    /// Returns whether the archive is at its path, so that a manifest may be next to it.
    pub(crate) fn is_at_path(&self) -> bool {
        self.file().is_none_or(|file| file.is_at_path())
    }

    fn open_as(kind: FileKind, path: &Path, file: File) -> Result<Self> {
        let is_other = kind.is_of_another_format();
        let not_a_pack = || Error::NotAPack { path: path.to_owned(), kind };
        match (kind, Container::from_extension(path)) {
            (FileKind::Npz, None) if path.extension().is_some_and(|end| end == "npz") => {
                Err(not_a_pack())
            }
            (FileKind::Zip | FileKind::Npz, _) => Ok(Self::Zip(Box::new(ZipArchive::open(file)?))),
            (FileKind::Tar | FileKind::Gzip | FileKind::Zstd, named) => {
                let tarball = Tarball::open(file, StreamCompression::of(kind))?;
                // Any file can be compressed.
                if named.is_none() && !tarball.begins_as_tar()? {
                    return Err(not_a_pack());
                }
                Ok(Self::Tar(tarball))
            }
            (_, None) if is_other => Err(not_a_pack()),
            // An empty file is not an archive; the zip reader reports that. Old tars have no magic.
            (_, Some(Container::Tar)) if kind != FileKind::Empty && !is_other => {
                Ok(Self::Tar(Tarball::open(file, StreamCompression::None)?))
            }
            (_, Some(container @ (Container::TarGz | Container::TarZst))) if !is_other => {
                Err(Error::damaged(
                    path,
                    Finding::new(Code::NotAnArchive, format!("the file is not a {container}"))
                        .at_byte(0)
                        .hint("compare it with another copy; the beginning may be overwritten"),
                ))
            }
            // A zip is also recognized by its end, even if its beginning is damaged or other bytes precede it.
            (_, named) => match ZipArchive::open(file) {
                Err(Error::Damaged { finding, .. })
                    if (named.is_none() || is_other) && finding.code == Code::NotAnArchive =>
                {
                    Err(not_a_pack())
                }
                zip => Ok(Self::Zip(Box::new(zip?))),
            },
        }
    }

    /// Rejects a file that other programs may read as another kind of archive with other members: a zip by its end, or
    /// a tar by its first block.
    fn check_that_it_is_no_other(&self, start: &[u8]) -> Result<()> {
        let Some(file) = self.file() else { return Ok(()) };
        let container = self.container();
        let other = if container != Container::Tar && tar::passes_for_header(start) {
            (Container::Tar, "begins with the header of one", 0)
        } else if container != Container::Zip && zip::end::count_ends(file, file.len()?)? > 0 {
            (Container::Zip, "ends with the end record of one", file.len()?)
        } else {
            return Ok(());
        };
        let (kind, why, offset) = other;
        let message = format!(
            "the file is a {container}, but other programs may read it as a {kind} with other members: it {why}"
        );
        let finding = Finding::new(Code::TwoFormats, message).at_byte(offset);
        Err(Error::damaged(self.path(), finding))
    }

    /// Returns a warning if the file name has the extension of another container.
    fn other_name(&self) -> Option<Finding> {
        let container = self.container();
        let named = Container::from_extension(self.path())?;
        (container != Container::Directory && named != container).then(|| {
            let message = format!("the file name says {named}, but the file is a {container}");
            let hint = format!("rename the file to end in `{}`", container.extension());
            Finding::new(Code::OddContainer, message).at_byte(0).hint(hint)
        })
    }

    /// Returns whether a file looks like an archive from its name or its first bytes.
    pub(crate) fn is_archive(path: &Path) -> Result<bool> {
        let is_named = Container::from_extension(path).is_some();
        Ok(is_named || fs::kind_of(path)?.may_hold_a_pack())
    }

    pub(crate) fn container(&self) -> Container {
        match self {
            Self::Directory(_) => Container::Directory,
            Self::Zip(_) => Container::Zip,
            Self::Tar(tarball) => tarball.container(),
        }
    }

    /// Returns the path that was opened.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Directory(directory) => directory.path(),
            Self::Zip(zip) => zip.file().path(),
            Self::Tar(tarball) => tarball.file().path(),
        }
    }

    /// Visits every file with its content, on `jobs` threads if the container allows it. Also checks the container and
    /// the names, except for warnings about other systems. Content that `visit` does not read is not checked.
    pub(crate) fn scan<T: Send>(
        &self,
        jobs: usize,
        visit: impl Fn(&Member, &mut dyn BufRead) -> T + Sync,
    ) -> Result<Scan<(Member, Option<T>)>> {
        let mut scan = self.scan_files(jobs, visit)?;
        let names = NameTable::new(scan.members.iter().map(|(member, _)| member.named()));
        scan.findings.extend(names.errors(self.container()));
        Ok(scan)
    }

    /// Scans like [`Archive::scan`], but does not check names.
    pub(crate) fn scan_files<T: Send>(
        &self,
        jobs: usize,
        visit: impl Fn(&Member, &mut dyn BufRead) -> T + Sync,
    ) -> Result<Scan<(Member, Option<T>)>> {
        self.scan_keeping(jobs, &|member, content| {
            (member.clone(), content.map(|content| visit(member, content)))
        })
    }

    /// Scans like [`Archive::scan_files`], but keeps only the results of `visit`.
    pub(crate) fn scan_keeping<K: Send>(
        &self,
        jobs: usize,
        visit: &Visit<'_, K>,
    ) -> Result<Scan<K>> {
        let jobs = self.jobs(jobs);
        let mut scan = match self {
            Self::Directory(directory) => directory.scan(jobs, visit),
            Self::Zip(zip) => zip.scan(jobs, visit),
            Self::Tar(tarball) => tarball.scan(jobs, visit),
        }?;
        scan.findings.extend(self.other_name());
        Ok(scan)
    }

    /// Finds one member by name.
    ///
    /// A duplicate name is an error, because it is unclear which member is meant. So is any error that
    /// [`Archive::scan`] would report for this member. Problems of other members are not reported.
    pub(crate) fn find(&self, name: &str) -> Result<Option<Member>> {
        let found = match self {
            Self::Directory(directory) => directory.find(name),
            Self::Zip(zip) => zip.find(name),
            Self::Tar(tarball) => tarball.find(name),
        };
        self.check_found(name, found?)
    }

    /// Finds one member like [`Archive::find`], but reads little of a large zip that is sorted by name. It may then
    /// miss another record with the same name, or hidden records. Callers that cannot check the content with a digest
    /// must use [`Archive::find`]. If the name is not at its sorted position and `must_be_sure` is set, it reads all
    /// names.
    pub(crate) fn find_by_order(&self, name: &str, must_be_sure: bool) -> Result<Option<Member>> {
        match self {
            Self::Zip(zip) => self.check_found(name, zip.find_by_order(name, must_be_sure)?),
            Self::Directory(_) | Self::Tar(_) => self.find(name),
        }
    }

    fn check_found(&self, name: &str, found: Option<Member>) -> Result<Option<Member>> {
        match (&found, MemberPath::new(name)) {
            (Some(_), Err(fault)) => Err(Error::damaged(self.path(), invalid_name(fault))),
            _ => Ok(found),
        }
    }

    /// Returns the number of bytes of a compressed tar that were decoded to list its members and to reach the requested
    /// ones; 0 for other containers.
    pub(crate) fn decoded(&self) -> u64 {
        match self {
            Self::Tar(tarball) => tarball.decoded(),
            Self::Directory(_) | Self::Zip(_) => 0,
        }
    }

    /// Lists all members without reading their contents or checking the container.
    pub(crate) fn members(&self) -> Result<Vec<Member>> {
        match self {
            Self::Directory(directory) => directory.members(),
            Self::Zip(zip) => zip.members(),
            Self::Tar(tarball) => tarball.members(),
        }
    }

    /// Calls `take` with the names of all members, without opening any. For a directory, only with those near its top,
    /// because listing more would need another walk.
    pub(crate) fn each_first_name(&self, take: &mut dyn FnMut(&str)) -> Result<()> {
        match self {
            Self::Directory(directory) => {
                directory.first_names()?.iter().for_each(|name| take(name));
            }
            Self::Zip(zip) => zip.each_name(take)?,
            Self::Tar(_) => self.members()?.iter().for_each(|member| take(&member.name)),
        }
        Ok(())
    }

    /// Opens the content of one file. Reading to the end checks it.
    pub(crate) fn read(&self, member: &Member) -> Result<MemberReader> {
        // The content may be cached in memory.
        self.progress().check()?;
        match self {
            Self::Directory(directory) => directory.read(member),
            Self::Zip(zip) => {
                let start = member.start();
                zip.file().announce(start..start.saturating_add(member.packed_size));
                open(member, Stretch::of(zip.file(), member))
            }
            Self::Tar(tarball) => tarball.read(member),
        }
    }

    /// Returns the limit on memory for the contents.
    pub(crate) fn allowance(&self) -> Result<Allowance> {
        Ok(match self.file() {
            Some(file) => Allowance::of_file(file.len()?),
            None => Allowance::unlimited(),
        })
    }

    /// Returns the first bytes, at most `length`, of a file that is stored in an archive; `None` for other members.
    pub(crate) fn start_of(&self, member: &Member, length: u64) -> Option<impl io::Read + use<>> {
        let (file, start) = self.file().zip(member.data_offset())?;
        Some(Stretch::new(Arc::clone(file), start, length.min(member.size)))
    }

    /// Returns where reads are reported.
    pub(crate) fn progress(&self) -> &Progress {
        match self {
            Self::Directory(directory) => directory.progress(),
            Self::Zip(zip) => zip.file().progress(),
            Self::Tar(tarball) => tarball.file().progress(),
        }
    }

    /// Returns whether reading a member requires reading everything before it.
    pub(crate) fn is_stream(&self) -> bool {
        match self {
            Self::Tar(tarball) => tarball.is_stream(),
            Self::Directory(_) | Self::Zip(_) => false,
        }
    }

    /// Returns whether each read far from the last one waits for a server.
    pub(crate) fn costly_seek(&self) -> bool {
        self.file().is_some_and(|file| file.costly_seek())
    }

    /// Returns whether the names of all members are indexed in memory, so that a search reads nothing.
    pub(crate) fn is_indexed(&self) -> bool {
        match self {
            Self::Directory(_) => false,
            Self::Zip(zip) => zip.lookup.is_indexed(),
            Self::Tar(tarball) => tarball.index.get().is_some(),
        }
    }

    /// Returns the number of bytes that a complete scan reads: the size of the file. Not known in advance for a
    /// directory.
    pub(crate) fn bytes_to_read(&self) -> u64 {
        self.file().and_then(|file| file.len().ok()).unwrap_or(0)
    }

    /// Returns the open archive file, or `None` for a directory. Its path may have been reused since.
    pub(crate) fn file(&self) -> Option<&Arc<File>> {
        match self {
            Self::Directory(_) => None,
            Self::Zip(zip) => Some(zip.file()),
            Self::Tar(tarball) => Some(tarball.file()),
        }
    }

    /// Returns the file with the bytes of a stored member, and their offset.
    pub(crate) fn stored(&self, member: &Member) -> Result<Option<(Arc<File>, u64)>> {
        if let Self::Directory(directory) = self {
            return Ok(Some((Arc::new(directory.open_file(&member.name)?), 0)));
        }
        let offset = member.data_offset();
        Ok(self.file().map(Arc::clone).zip(offset))
    }
}
