//! Packs opened for reading single arrays and files.

mod array;
mod attributes;
mod axes;
mod blocks;
mod bytes;
pub(crate) mod elements;
mod find;
mod lone;
mod manifest;
mod prefetch;
mod state;
mod stream;
#[cfg(feature = "remote")]
mod url;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub(crate) use self::array::LONGEST_HEADER;
pub use self::array::PackedArray;
pub use self::axes::{Axis, Coordinate};
pub(crate) use self::elements::ReadElements;
pub use self::stream::{Block, Blocks, FileReader};

pub use self::state::Pack;
pub(crate) use self::state::once;

use self::state::{FoundMember, PackState};
use crate::read::manifests::{self, RootFiles};
use crate::read::single_file::is_array_file;

use crate::archive::{Archive, Container, Fault, Member, MemberKind, Method, copy};
use crate::digest::{Algorithm, Digest, Hashing};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs::{File, ReadAt};
use crate::ndl::Ndarray;
use crate::pack::{
    self, ARRAY_EXTENSION, BAG_DECLARATION, Content, Contents, DESCRIPTION_EXTENSIONS,
    DescriptionFacts, Inspector, Layout, PACK_DOCUMENT, Placement,
};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::Header;

/// Number of bytes from which starting a thread takes less time than hashing them afterwards.
const MIN_FOR_THREAD: u64 = 4 * 1024 * 1024;

/// Number of arrays that a thread takes at a time: enough for their costs to average out, and few enough for the last
/// ones to be shared and for an error to stop the other threads soon.
const MAX_AT_ONCE: usize = 16;

/// Returns whether a separate thread for hashing saves time.
fn is_worth_a_thread(bytes: u64) -> bool {
    bytes >= MIN_FOR_THREAD && pipeline::default_jobs() > 1
}

fn check_limit(name: &str, bytes: u64, limit: u64) -> Result<()> {
    if bytes <= limit {
        return Ok(());
    }
    Err(Error::TooLarge { name: name.to_owned(), bytes, limit })
}

/// The action in the error of a copy whose output, with a name that is not known here, cannot be written.
pub(crate) const WRITE_COPY: &str = "write a copy of";

/// A member of a container: name, kind and sizes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemberInfo {
    /// The name in the container.
    pub name: String,
    /// The kind of the member.
    pub kind: MemberKind,
    /// Size of the content in bytes.
    pub size: u64,
    /// Bytes that the content takes in the container.
    pub packed_size: u64,
    /// The compression of the member.
    pub method: Method,
}

impl Pack {
    /// Opens a directory, an archive, or an array file as [`Pack::of_array`] does.
    ///
    /// # Errors
    ///
    /// [`Error::NotAPack`] for a file of another kind, [`Error::Damaged`] for an archive whose beginning or end is
    /// missing, and [`Error::Io`] if it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_watched(path, &Progress::default())
    }

    /// Opens a pack as [`Pack::open`] does, and reports the progress of reads to `progress`.
    ///
    /// # Errors
    ///
    /// As [`Pack::open`].
    pub fn open_watched(path: impl AsRef<Path>, progress: &Progress) -> Result<Self> {
        if is_array_file(path.as_ref())? {
            return Ok(Self::of_array_watched(path, progress)?.0);
        }
        Ok(Self::searching(Archive::open_watched(path.as_ref(), progress)?))
    }

    /// Sets the stage of the search for members, which takes as long as a whole read in a stream.
    fn searching(archive: Archive) -> Self {
        let bytes = if archive.is_stream() { archive.bytes_to_read() } else { 0 };
        archive.progress().stage("searching", bytes, 0);
        Self::new(archive, OnceLock::new())
    }

    /// Opens an archive in memory or in your own storage. Messages call it `memory`.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use ra_pack::Pack;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let zip = directory.path().join("mooring.zip");
    /// # ra_pack::create("examples/experiment", &zip, &Default::default())?;
    /// let bytes: Vec<u8> = std::fs::read(&zip)?; // or as they came over the network
    /// let pack = Pack::open_source(bytes)?;
    /// let temperature = pack.array("thermistors/temperature.ra")?.read::<f32>()?;
    /// assert_eq!(temperature.shape(), [10, 149]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Pack::open`], and [`Error::Io`] for errors of the source.
    pub fn open_source(source: impl ReadAt + 'static) -> Result<Self> {
        Self::open_source_watched(source, "memory", &Progress::default())
    }

    /// Opens an archive as [`Pack::open_source`] does, with a name for messages. The extension of the name identifies
    /// tars that are damaged or have no magic number. Reports the progress of reads to `progress`.
    ///
    /// # Errors
    ///
    /// As [`Pack::open_source`].
    pub fn open_source_watched(
        source: impl ReadAt + 'static,
        name: impl Into<PathBuf>,
        progress: &Progress,
    ) -> Result<Self> {
        let file = File::of_source(Arc::new(source), name.into())?.watched(progress);
        Ok(Self::searching(Archive::open_file(file)?))
    }

    /// Makes a pack of an open archive with a known placement.
    pub(crate) fn of_archive(archive: Archive, placement: Placement) -> Self {
        Self::new(archive, OnceLock::from(placement))
    }

    /// Returns the archive.
    pub(crate) fn archive(&self) -> &Archive {
        &self.state.archive
    }

    fn new(archive: Archive, placement: OnceLock<Placement>) -> Self {
        Self::of_state(PackState::new(archive, placement))
    }

    fn of_state(state: PackState) -> Self {
        Self { state: Arc::new(state), max_bytes: u64::MAX }
    }

    /// Opens an archive and maps it into memory for zero-copy [views](PackedArray::view).
    ///
    /// # Errors
    ///
    /// As [`Pack::open`], and [`Error::WrongTarget`] for a directory.
    ///
    /// # Safety
    ///
    /// The archive must not be changed or truncated while the pack is open. A change would modify memory that shared
    /// references point to, and reading past a truncated end stops the process.
    #[expect(unsafe_code, reason = "only the caller can know that the mapped file does not change")]
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self> {
        let archive = Archive::open_watched(path.as_ref(), &Progress::default())?;
        let Some(file) = archive.file() else {
            return Err(Error::wrong_target(path, "is a directory; only an archive can be mapped"));
        };
        // SAFETY: the caller guarantees that the file does not change, as `File::map` requires.
        let map = unsafe { file.map() }?;
        let mut state = PackState::new(archive, OnceLock::new());
        state.map = Some(map);
        Ok(Self::of_state(state))
    }

    /// Begins to count the bytes of a read: `bytes`, or all that the archive has for the member.
    fn begin(&self, name: &str, member: &Member, bytes: Option<u64>) {
        let all = if self.state.archive.is_stream() {
            self.state.archive.bytes_to_read()
        } else {
            member.packed_size
        };
        let progress = self.state.archive.progress();
        progress.stage("reading", bytes.unwrap_or(all), 0);
        progress.at(name);
    }

    /// Limits the bytes of memory that one read may take for elements or content. The limit applies to this pack and to
    /// arrays opened from it afterwards. A larger read returns [`Error::TooLarge`] before it takes memory.
    ///
    /// By default there is no limit, and a small archive may contain an array that is larger than the memory of the
    /// machine. Operations that stream, such as [`copy_to`](Self::copy_to) and [`statistics`](PackedArray::statistics),
    /// are not limited.
    ///
    /// ```
    /// use ra_pack::{Error, Pack};
    ///
    /// let pack = Pack::open("examples/experiment")?.max_bytes(1000);
    /// let refused = pack.array("thermistors/temperature.ra")?.read::<f32>();
    /// assert!(matches!(refused, Err(Error::TooLarge { bytes: 5960, limit: 1000, .. })));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn max_bytes(mut self, limit: u64) -> Self {
        self.max_bytes = limit;
        self
    }

    fn check_room(&self, name: &str, bytes: u64) -> Result<()> {
        check_limit(name, bytes, self.max_bytes)
    }

    /// Returns the kind of the container.
    pub fn container(&self) -> Container {
        self.state.archive.container()
    }

    /// Returns the size of the archive file in bytes; `None` for a directory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the system does not give the size.
    pub fn file_size(&self) -> Result<Option<u64>> {
        self.state.archive.file().map(|file| file.len()).transpose()
    }

    /// Returns the number of bytes decoded so far from a compressed tar. It is decoded again when a read precedes the
    /// last one, unless its bytes are among those decoded last. Always 0 for other containers.
    pub fn decoded(&self) -> u64 {
        self.state.archive.decoded()
    }

    /// Returns all members in the order of the container.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] or [`Error::Io`] if the container cannot be read to its end.
    pub fn members(&self) -> Result<Vec<MemberInfo>> {
        let members = self.state.archive.members()?;
        Ok(members
            .into_iter()
            .map(|member| MemberInfo {
                name: member.name.to_string(),
                kind: member.kind,
                size: member.size,
                packed_size: member.packed_size,
                method: member.method,
            })
            .collect())
    }

    /// Returns the names of all arrays in the order of the container.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] or [`Error::Io`] if the container cannot be read to its end.
    pub fn arrays(&self) -> Result<Vec<String>> {
        let placement = self.placement()?;
        let members = self.state.archive.members()?;
        let files = members.iter().filter(|member| member.kind == MemberKind::File);
        let names = files.filter_map(|member| placement.payload(&member.name));
        Ok(names.filter(|name| pack::is_array(name)).map(str::to_owned).collect())
    }

    /// Returns whether the pack has a file of this name, or an array of this name without `.ra`.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the directory of the archive is not reliable.
    pub fn contains(&self, name: &str) -> Result<bool> {
        match self.array(name) {
            Err(Error::NoSuchMember { .. } | Error::IsDirectory { .. }) => Ok(false),
            found => found.map(|_| true),
        }
    }

    /// Opens one array by its name in the payload, such as `run1/temperature.ra` or `run1/temperature`. No data is read
    /// yet.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`] if there is no such array; [`resolve`](Self::resolve) finds incomplete names.
    /// [`Error::Damaged`] if the directory of the archive is not reliable.
    pub fn array(&self, name: &str) -> Result<PackedArray> {
        self.fetch_start(name)?;
        if !pack::is_array(name) {
            match self.find(&format!("{name}.{ARRAY_EXTENSION}")) {
                Err(Error::NoSuchMember { .. }) => {}
                found => return Ok(PackedArray::new(self.clone(), found?)),
            }
        }
        Ok(PackedArray::new(self.clone(), self.find(name)?))
    }

    /// Reads the whole content of one member, and checks it against the manifest.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`] if there is no such member; [`Error::Damaged`] if its content differs from the manifest
    /// or the container; [`Error::TooLarge`] if it needs more memory than the limit.
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let (found, mut content) = (self.find(name)?, Vec::new());
        self.check_room(name, found.member.size)?;
        self.copy_found(&found, &mut content)?;
        Ok(content)
    }

    /// Writes the whole content of one member to `out`, and checks it against the manifest. Returns the number of
    /// bytes, and whether the manifest lists and confirms them.
    ///
    /// # Errors
    ///
    /// As [`Pack::read`]. If it returns an error, discard the output.
    pub fn copy_to(&self, name: &str, out: &mut dyn Write) -> Result<(u64, bool)> {
        self.copy_found(&*self.find(name)?, out)
    }

    fn copy_found(
        &self,
        FoundMember { name, member, .. }: &FoundMember,
        out: &mut dyn Write,
    ) -> Result<(u64, bool)> {
        let expected = self.expected_digest(member)?;
        let (written, digest) = self.copy(member, name, expected.algorithm, out)?;
        let is_verified = self.check_digest(member, expected, &digest)?;
        Ok((written, is_verified))
    }

    /// Copies a member as [`Pack::copy_to`] does, without the manifest. The checksum of the container is checked.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`] if there is no such member, and [`Error::Damaged`] if its content differs from what the
    /// container says.
    pub fn copy_unverified_to(&self, name: &str, out: &mut dyn Write) -> Result<u64> {
        let member = &self.find(name)?.member;
        self.must_be_alone(member)?;
        self.copy(member, name, Algorithm::Sha256, out).map(|(written, _)| written)
    }

    fn copy(
        &self,
        member: &Member,
        name: &str,
        algorithm: Algorithm,
        out: &mut dyn Write,
    ) -> Result<(u64, Digest)> {
        self.begin(name, member, None);
        let mut reader = self.state.archive.read(member)?;
        let mut written = 0;
        let sink = |block: &[u8]| {
            out.write_all(block).map_err(Error::io(WRITE_COPY, self.state.archive.path()))?;
            written += block.len() as u64;
            Ok(())
        };
        let hashing = if is_worth_a_thread(member.size) { Hashing::Beside } else { Hashing::Here };
        match copy(&mut reader, &[algorithm], hashing, sink) {
            Ok(digests) => Ok((written, digests.made_by(algorithm))),
            Err(Fault::Sink(error)) => Err(error),
            Err(Fault::Source(error)) => Err(self.unreadable(name, error)),
        }
    }

    /// Returns the name of an array in the payload, its header, and the document that describes it.
    fn contents_about(
        &self,
        found: &FoundMember,
        header: &Header,
    ) -> Result<(MemberPath, Contents)> {
        let placement = self.state.placement.get();
        let name = placement.and_then(|placement| placement.payload(&found.member.name));
        let path = MemberPath::new(name.unwrap_or(&found.name))?;
        let mut contents = Contents::default();
        let facts = pack::ArrayFacts::of_header(header.clone());
        contents.add(path.clone(), Content::Array(Arc::new(facts)));
        for extension in DESCRIPTION_EXTENSIONS {
            let name = format!("{}.{extension}", path.without_extension());
            // A second description is an error elsewhere in the archive, like a second member of the same name.
            let must_be_sure = contents.descriptions.is_empty();
            if let Some(member) = self.find_beside(&name, must_be_sure)? {
                contents.add(MemberPath::new(&*name)?, self.inspect(&name, &member)?);
            }
        }
        if contents.descriptions.is_empty() {
            contents.pack_document = self.document()?;
            if placement.is_none() && self.state.placement.get().is_some() {
                return self.contents_about(found, header);
            }
        }
        Ok((path, contents))
    }

    /// Returns the description of the pack, which is read once. It describes all arrays that have no description of
    /// their own.
    fn document(&self) -> Result<Option<Arc<DescriptionFacts>>> {
        let document = once(&self.state.known.document, || {
            let Some(member) = self.find_tag(PACK_DOCUMENT)? else { return Ok(None) };
            Ok(match self.inspect(PACK_DOCUMENT, &member)? {
                Content::Description(facts) => Some(facts),
                Content::Array(_) | Content::Crate(_) | Content::Other => None,
            })
        });
        document.cloned()
    }

    /// Returns the coordinates in the description of the pack by path, which are read once.
    fn dimcoords(&self) -> Result<&BTreeMap<String, Ndarray>> {
        once(&self.state.known.dimcoords, || {
            Ok(self.document()?.map(|facts| facts.dimcoords()).unwrap_or_default())
        })
    }

    /// Reads the header or the description of a member.
    fn inspect(&self, name: &str, member: &Member) -> Result<Content> {
        let mut inspector = Inspector::within(name, &self.state.archive.allowance()?);
        if let Some(content) = self.confirmed(member) {
            inspector.update(&content);
        } else {
            self.must_be_alone(member)?;
            let mut reader = self.state.archive.read(member)?;
            inspector.read(&mut reader).map_err(|error| self.unreadable(name, error))?;
        }
        Ok(inspector.finish(name, member.size))
    }

    /// Reads a whole file at the root of the pack, if it exists.
    fn read_root(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.find_tag(name)?.map(|member| self.text(&member, name)).transpose()
    }

    fn unreadable(&self, member: &str, error: io::Error) -> Error {
        manifests::unreadable(member, error)
            .map_or_else(|refused| refused, |found| self.damaged(found))
    }

    /// Calls `visit` for many arrays on `jobs` threads (one per core if `None`), and returns its results in the order
    /// of the names.
    ///
    /// The first error of a read or of `visit` stops the run. A compressed tar is decoded once, in its own order, by
    /// one thread.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let zip = directory.path().join("mooring.zip");
    /// # ra_pack::create("examples/experiment", &zip, &Default::default())?;
    /// let pack = ra_pack::Pack::open(&zip)?;
    /// let names = ["thermistors/temperature.ra", "thermistors/depth.ra"];
    /// let means = pack.read_each(&names, None, |array| Ok::<_, ra_pack::Error>(array.read::<f32>()?.mean()))?;
    /// assert!(means.iter().all(Option::is_some));
    ///
    /// // Elements of any type, indexed as in the descriptions.
    /// let shapes = pack.read_each(&pack.arrays()?, None, |array| {
    ///     array.in_shape_order()?.read_any().map(|array| array.dims())
    /// })?;
    /// assert_eq!(shapes.len(), 10);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The first error in the order of the names, or in the order of the archive for a compressed tar. `visit` may have
    /// been called for later arrays.
    pub fn read_each<R: Send, E: From<Error> + Send>(
        &self,
        names: &[impl AsRef<str> + Sync],
        jobs: Option<usize>,
        visit: impl Fn(PackedArray) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        let is_stream = self.state.archive.is_stream();
        // Loads the index for many arrays before the threads begin, so that their order makes no difference.
        if let Some(name) = names.first().filter(|_| names.len() > MAX_AT_ONCE && !is_stream) {
            self.state.archive.find(name.as_ref())?;
            if let Some(manifest) = self.manifest()? {
                manifest.index(self)?;
            }
        }
        let numbered = |(number, name): (usize, _)| {
            self.state.archive.progress().check()?;
            let name = AsRef::<str>::as_ref(name);
            Ok((if is_stream { self.array(name)?.start() } else { 0 }, number, name))
        };
        let mut order = names.iter().enumerate().map(numbered).collect::<Result<Vec<_>>>()?;
        if is_stream {
            order.sort_unstable();
        }
        let jobs = if is_stream { 1 } else { pipeline::jobs(jobs) };
        let step = (names.len() / (jobs * 8)).clamp(1, MAX_AT_ONCE);
        let visit =
            |(_, number, name): &(u64, usize, &str)| Ok((*number, visit(self.array(name)?)?));
        let look =
            |(): &mut (), arrays: &[_]| arrays.iter().map(visit).collect::<Result<Vec<_>, E>>();
        let seen = pipeline::share(jobs, order.chunks(step), || (), look)?;
        let mut seen: Vec<(usize, R)> = seen.into_iter().flatten().collect();
        seen.sort_unstable_by_key(|(number, _)| *number);
        Ok(seen.into_iter().map(|(_, seen)| seen).collect())
    }
}

impl RootFiles for Pack {
    fn layout(&self) -> Result<Layout> {
        match self.state.placement.get() {
            Some(placement) => Ok(placement.layout),
            // The member was found at the root without reading all names, and the root may be that of a bag.
            None => match self.state.archive.find_by_order(BAG_DECLARATION, false)? {
                Some(_) => Ok(Layout::BagIt),
                None => Ok(Layout::Plain),
            },
        }
    }

    fn read(&self, name: &str) -> Result<Option<Cow<'_, [u8]>>> {
        Ok(self.read_root(name)?.map(Cow::Owned))
    }

    fn damaged(&self, finding: Finding) -> Error {
        Error::damaged(self.state.archive.path(), finding)
    }
}
