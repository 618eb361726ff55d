//! Archives: named byte strings in a directory, a zip or a tar. Nothing here knows what they mean.

mod copy;
mod data;
mod directory;
#[cfg(feature = "inspect")]
mod names;
mod revisit;
mod stream;
mod stream_contents;
mod tar;
mod tarball;
#[cfg(feature = "write")]
mod write;
mod zip;
#[cfg_attr(not(feature = "zstd"), path = "no_zstd_frame.rs")]
mod zstd_frame;

use std::fmt;
use std::io::{self, BufRead};
use std::path::Path;
use std::sync::Arc;

use serde::{Serialize, Serializer};

pub(crate) use self::copy::{Copying, Fault, Sink, copy, wait_for};
pub(crate) use self::data::{DataFault, MemberReader, Stretch};
#[cfg(feature = "inspect")]
pub(crate) use self::names::{
    NameTable, are_surely_portable, check as check_names, check_portable,
};
pub(crate) use self::revisit::{LARGE, OpenContents, Revisit, Shown};
#[cfg(feature = "write")]
pub use self::write::Compression;
#[cfg(feature = "write")]
pub(crate) use self::write::{
    ArchiveWriter, Batch, ContentPieces, NewContent, NewMember, Packer, Placed, Records,
    ReservedFile, SMALL, Sampled,
};

use self::data::open;
use self::directory::Directory;
use self::revisit::OneByOne;
use self::stream::StreamCompression;
use self::tarball::Tarball;
use self::zip::ZipArchive;
use crate::allowance::Allowance;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::finding::{Code, Finding};
pub use crate::fs::MemberKind;
use crate::fs::{self, File};
use crate::path::{InvalidPath, MemberPath};
use crate::progress::Progress;

/// The kinds of containers that a pack may lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Container {
    /// A plain directory.
    Directory,
    /// A zip file.
    Zip,
    /// An uncompressed tar.
    Tar,
    /// A tar compressed as a whole with gzip.
    TarGz,
    /// A tar compressed as a whole with Zstandard.
    TarZst,
}

impl Container {
    /// What the names of archives end in; of each container first what is written.
    const EXTENSIONS: [(&str, Self); 6] = [
        (".zip", Self::Zip),
        (".tar", Self::Tar),
        (".tar.gz", Self::TarGz),
        (".tgz", Self::TarGz),
        (".tar.zst", Self::TarZst),
        (".tzst", Self::TarZst),
    ];

    /// The container that a file name asks for by its extension.
    ///
    /// ```
    /// use ra_pack::Container;
    ///
    /// assert_eq!(Container::from_extension("exp.tar.zst".as_ref()), Some(Container::TarZst));
    /// ```
    pub fn from_extension(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let is_it = |extension: &str| name.len() > extension.len() && name.ends_with(extension);
        let mut known = Self::EXTENSIONS.into_iter();
        known.find(|(extension, _)| is_it(extension)).map(|(_, container)| container)
    }

    /// The end of a file name that says so.
    pub fn extension(self) -> &'static str {
        let mut known = Self::EXTENSIONS.into_iter();
        known.find(|(_, container)| *container == self).map_or("", |(extension, _)| extension)
    }
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.extension().strip_prefix('.').unwrap_or("directory"))
    }
}

/// The compression of a member in its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Method {
    /// As they are.
    Stored,
    /// Compressed by itself with deflate.
    Deflate,
    /// Compressed by itself with Zstandard.
    Zstd,
    /// Compressed together with its neighbours, as in a compressed tar.
    Solid,
    /// A method of the zip format that is not supported, by its number.
    #[cfg_attr(test, schemars(untagged, with = "String", extend("pattern" = "^method [0-9]+$")))]
    Other(u16),
}

impl Method {
    /// Whether the member is compressed by itself, so that its packed size is its own.
    pub fn is_compressed(self) -> bool {
        !matches!(self, Self::Stored | Self::Solid)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stored => "stored",
            Self::Deflate => "deflate",
            Self::Zstd => "zstd",
            Self::Solid => "solid",
            Self::Other(number) => return write!(f, "method {number}"),
        })
    }
}

/// Written as it is displayed.
impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A member as its container tells of it; every number is a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// The name as found, without the slash that ends a directory's. Who knows the member by its name
    /// shares it.
    pub(crate) name: Arc<str>,
    pub(crate) kind: MemberKind,
    /// Bytes of the content.
    pub(crate) size: u64,
    /// Bytes that it takes in the archive.
    pub(crate) packed_size: u64,
    pub(crate) method: Method,
    pub(crate) location: Location,
}

impl Member {
    /// Its name and kind.
    fn named(&self) -> (&str, MemberKind) {
        (&self.name, self.kind)
    }

    /// Where its bytes begin, by which members are in the order of the archive; the end of all of those without a
    /// place of their own.
    pub(crate) fn start(&self) -> u64 {
        match self.location {
            Location::At { data } | Location::Packed { data, .. } | Location::Stream { data } => {
                data
            }
            Location::Named | Location::Listed => u64::MAX,
        }
    }

    /// Where the content begins in the archive file, when it is stored there.
    pub(crate) fn data_offset(&self) -> Option<u64> {
        match self.location {
            Location::Packed { data, .. } if self.method == Method::Stored => Some(data),
            Location::At { data } => Some(data),
            _ => None,
        }
    }
}

/// How to reach a member's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    /// The file of that name below the directory.
    Named,
    /// The bytes of the archive from `data` on.
    At { data: u64 },
    /// The packed bytes of a zip member whose headers were checked.
    Packed { data: u64, crc: u32 },
    /// By finding the member by its name.
    Listed,
    /// Only by reading the archive from its beginning, in which it begins at `data` once that is decoded.
    Stream { data: u64 },
}

/// A container opened for reading.
#[derive(Debug)]
pub(crate) enum Archive {
    Directory(Directory),
    Zip(Box<ZipArchive>),
    Tar(Tarball),
}

/// What a pass over an archive found.
#[derive(Debug)]
pub(crate) struct Scan<K> {
    /// What is kept of every member.
    pub(crate) members: Vec<K>,
    /// What is wrong with the container itself.
    pub(crate) findings: Vec<Finding>,
}

/// Looks at one member, with its content when it is a readable file, and gives what is kept of it. There are many
/// members, and what is kept of all of them is in memory together.
pub(crate) type Visit<'a, K> = dyn Fn(&Member, Option<&mut dyn BufRead>) -> K + Sync + 'a;

impl Archive {
    /// Opens a container that nobody watches.
    #[cfg(test)]
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::open_watched(path, &Progress::default())
    }

    /// Opens a container by what it is, whatever it is called, and has the bytes counted that are read of it.
    pub(crate) fn open_watched(path: &Path, progress: &Progress) -> Result<Self> {
        if fs::is_directory(path)? {
            return Ok(Self::Directory(Directory::new(path, progress)));
        }
        Self::open_file(File::open(path)?.watched(progress))
    }

    /// Opens some files of a directory, by their names in it, as if there were no others.
    pub(crate) fn of_files(root: &Path, files: Vec<MemberPath>, progress: &Progress) -> Self {
        Self::Directory(Directory::of_files(root, files, progress))
    }

    /// Opens the archive in a file or a source.
    pub(crate) fn open_file(file: File) -> Result<Self> {
        let (start, path) = (file.start()?, file.path().to_owned());
        let archive = Self::open_as(FileKind::of(&start), &path, file)?;
        archive.check_that_it_is_no_other(&start)?;
        Ok(archive)
    }

    /// Whether its path leads to it, so that a manifest may be beside it.
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
                // Anything can be compressed.
                if named.is_none() && !tarball.begins_as_tar()? {
                    return Err(not_a_pack());
                }
                Ok(Self::Tar(tarball))
            }
            (_, None) if is_other => Err(not_a_pack()),
            // An empty file is no archive of any kind, which the zip says of it. Old tars have no magic.
            (_, Some(Container::Tar)) if kind != FileKind::Empty && !is_other => {
                Ok(Self::Tar(Tarball::open(file, StreamCompression::None)?))
            }
            (_, Some(container @ (Container::TarGz | Container::TarZst))) if !is_other => {
                Err(Error::damaged(
                    path,
                    Finding::new(Code::NotAnArchive, format!("the file is not a {container}"))
                        .at_byte(0)
                        .hint("compare it with another copy; it may be cut off or overwritten"),
                ))
            }
            // A zip is known by its end too, if its beginning is gone or something precedes it.
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

    /// Refuses a file that other programs take for an archive of another kind, with other members: a zip by its end,
    /// or a tar by its first block.
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
            "the file is a {container}, and other programs take it for a {kind}, with other members: it {why}"
        );
        let finding = Finding::new(Code::TwoFormats, message).at_byte(offset);
        Err(Error::damaged(self.path(), finding))
    }

    /// Warns of a name that says that the file is another kind of archive.
    fn other_name(&self) -> Option<Finding> {
        let container = self.container();
        let named = Container::from_extension(self.path())?;
        (container != Container::Directory && named != container).then(|| {
            let message = format!("the name says {named}, and the file is a {container}");
            let hint =
                format!("rename the file, so that its name ends in `{}`", container.extension());
            Finding::new(Code::OddContainer, message).at_byte(0).hint(hint)
        })
    }

    /// Whether a file is an archive by its name or by its first bytes, and nothing else.
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

    /// The directory or file that was opened.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Directory(directory) => directory.path(),
            Self::Zip(zip) => zip.file().path(),
            Self::Tar(tarball) => tarball.file().path(),
        }
    }

    /// Shows the content of every file to `visit`, on `jobs` threads where the container allows it,
    /// and checks the container on the way, its names too. Content that `visit` does not read is not
    /// checked.
    #[cfg(feature = "inspect")]
    pub(crate) fn scan<T: Send>(
        &self,
        jobs: usize,
        visit: impl Fn(&Member, &mut dyn BufRead) -> T + Sync,
    ) -> Result<Scan<(Member, Option<T>)>> {
        let mut scan = self.scan_files(jobs, visit)?;
        let names = NameTable::new(scan.members.iter().map(|(member, _)| member.named()));
        check_names(&names, self.container(), &mut scan.findings);
        Ok(scan)
    }

    /// The same without a look at the names; [`check_names`] is left to the caller.
    pub(crate) fn scan_files<T: Send>(
        &self,
        jobs: usize,
        visit: impl Fn(&Member, &mut dyn BufRead) -> T + Sync,
    ) -> Result<Scan<(Member, Option<T>)>> {
        self.scan_keeping(jobs, &|member, content| {
            (member.clone(), content.map(|content| visit(member, content)))
        })
    }

    /// The same for callers that need not all of what is known of a member.
    pub(crate) fn scan_keeping<K: Send>(
        &self,
        jobs: usize,
        visit: &Visit<'_, K>,
    ) -> Result<Scan<K>> {
        let mut scan = match self {
            Self::Directory(directory) => directory.scan(jobs, visit),
            Self::Zip(zip) => zip.scan(jobs, visit),
            Self::Tar(tarball) => tarball.scan(jobs, visit),
        }?;
        scan.findings.extend(self.other_name());
        Ok(scan)
    }

    /// Forgets what it knows of its members: they are known to whoever scanned it.
    pub(crate) fn forget_members(&mut self) {
        match self {
            Self::Directory(_) => {}
            Self::Zip(zip) => zip.forget_members(),
            Self::Tar(tarball) => tarball.forget_members(),
        }
    }

    /// Shows the contents of some of the `members` that [`Archive::scan`] gave to `visit`, on `jobs`
    /// threads where the container allows it. `wanted` are the numbers of readable files among the members, in
    /// rising order; the results are in the same.
    ///
    /// The container is not checked again: where a member lies is known. A content is checked as in a
    /// scan, when it is read to its end.
    pub(crate) fn revisit_by<R: Revisit>(
        &self,
        members: &[Member],
        wanted: &[usize],
        jobs: usize,
        visit: &R,
    ) -> Result<Vec<R::Seen>> {
        match self {
            Self::Tar(tarball) if self.is_stream() => tarball.revisit(members, wanted, jobs, visit),
            _ => revisit::revisit(self, members, wanted, jobs, visit),
        }
    }

    /// The same, one content at a time; each thread has a `state` of its own.
    pub(crate) fn revisit<S, T: Send>(
        &self,
        members: &[Member],
        wanted: &[usize],
        jobs: usize,
        state: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, Shown<'_>) -> T + Sync,
    ) -> Result<Vec<T>> {
        self.revisit_by(members, wanted, jobs, &OneByOne(state, visit))
    }

    /// Finds one member by its name.
    ///
    /// A name that is there twice is an error: nobody can say which is meant. So is whatever else
    /// [`Archive::scan`] would say against that member; what is wrong with others is not looked for.
    pub(crate) fn find(&self, name: &str) -> Result<Option<Member>> {
        let found = match self {
            Self::Directory(directory) => directory.find(name),
            Self::Zip(zip) => zip.find(name),
            Self::Tar(tarball) => tarball.find(name),
        };
        self.check_found(name, found?)
    }

    /// As [`Archive::find`], but little is read of a large zip that is in the order of its names. That another record
    /// far away has the same name, or that what looks like records is something else, is not noticed then. Callers that
    /// cannot tell by the content use [`Archive::find`]. All names are looked at for one that is not in its place if
    /// `must_be_sure`.
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

    /// Bytes that were decoded of a tar that is compressed as a whole, to reach what was asked for; 0 for others.
    pub(crate) fn decoded(&self) -> u64 {
        match self {
            Self::Tar(tarball) => tarball.decoded(),
            Self::Directory(_) | Self::Zip(_) => 0,
        }
    }

    /// Every member, without reading content; what is wrong with the container is not looked for.
    pub(crate) fn members(&self) -> Result<Vec<Member>> {
        match self {
            Self::Directory(directory) => directory.members(),
            Self::Zip(zip) => zip.members(),
            Self::Tar(tarball) => tarball.members(),
        }
    }

    /// Gives the names of all members, without opening any; of a directory those near its top, since
    /// more would be another walk.
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

    /// The content of one file from its beginning; reading to the end checks it.
    pub(crate) fn read(&self, member: &Member) -> Result<MemberReader> {
        // A content may be kept in memory.
        self.progress().check()?;
        match self {
            Self::Directory(directory) => directory.read(member),
            Self::Zip(zip) => open(member, Stretch::of(zip.file(), member)),
            Self::Tar(tarball) => tarball.read(member),
        }
    }

    /// The memory that its contents may take.
    pub(crate) fn allowance(&self) -> Result<Allowance> {
        Ok(match self.file() {
            Some(file) => Allowance::of_file(file.len()?),
            None => Allowance::unlimited(),
        })
    }

    /// The first bytes, at most `length`, of one file that is stored in an archive; `None` for others.
    pub(crate) fn start_of(&self, member: &Member, length: u64) -> Option<impl io::Read + use<>> {
        let (file, start) = self.file().zip(member.data_offset())?;
        Some(Stretch::new(Arc::clone(file), start, length.min(member.size)))
    }

    /// Whoever counts the bytes that are read of it.
    pub(crate) fn progress(&self) -> &Progress {
        match self {
            Self::Directory(directory) => directory.progress(),
            Self::Zip(zip) => zip.file().progress(),
            Self::Tar(tarball) => tarball.file().progress(),
        }
    }

    /// Whether what stands behind can only be reached by reading what stands before it.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.container(), Container::TarGz | Container::TarZst)
    }

    /// How many bytes a whole pass reads: those of the file. Of a directory that is not known before.
    pub(crate) fn bytes_to_read(&self) -> u64 {
        self.file().and_then(|file| file.len().ok()).unwrap_or(0)
    }

    /// The file that was opened; its name may since have been given to another. A directory is none.
    pub(crate) fn file(&self) -> Option<&Arc<File>> {
        match self {
            Self::Directory(_) => None,
            Self::Zip(zip) => Some(zip.file()),
            Self::Tar(tarball) => Some(tarball.file()),
        }
    }

    /// The file that holds the bytes of a stored member, and where they begin in it.
    pub(crate) fn stored(&self, member: &Member) -> Result<Option<(Arc<File>, u64)>> {
        if let Self::Directory(directory) = self {
            return Ok(Some((Arc::new(directory.open_file(&member.name)?), 0)));
        }
        let offset = member.data_offset();
        Ok(self.file().map(Arc::clone).zip(offset))
    }
}

/// A name that nobody may be given a file by.
fn invalid_name(invalid: InvalidPath) -> Finding {
    Finding::new(Code::InvalidName, format!("the name {}", invalid.kind))
        .in_member(invalid.path)
        .hint("make the archive anew with relative names; the member was not looked at")
}

/// Two members of one name.
fn twice(name: &str) -> Finding {
    Finding::new(Code::DuplicateName, "two members have this name")
        .in_member(name)
        .hint("make the archive anew; nobody can tell which one is meant")
}

/// A member that is a file and a directory at once.
fn file_and_directory(name: &str) -> Finding {
    Finding::new(
        Code::FileAndDirectory,
        "the member is a file, but another member lies in it as in a directory",
    )
    .in_member(name)
    .expected("a directory", "a file")
    .hint("make the archive anew; only one of them can be unpacked")
}
