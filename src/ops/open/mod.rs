//! A pack opened for reading: one array, or a slice of one, without touching the rest.

mod array;
mod attributes;
mod axes;
mod manifest;
mod missing;
mod stream;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

pub use self::array::PackedArray;
pub(super) use self::array::{LONGEST_HEADER, ReadElements, check_decoded, tell};
pub use self::axes::{Axis, Coordinate};
pub use self::stream::{Block, Blocks, FileReader};

use self::manifest::PackManifest;
use super::manifests::{self, RootFiles};
use super::single_file;
use super::single_file::is_array_file;

use crate::archive::{Archive, Container, Fault, Member, MemberKind, Method, copy};
use crate::digest::{Algorithm, Digest, Hashing};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{File, FileMap, ReadAt};
use crate::pack::{
    self, ARRAY_EXTENSION, BAG_DECLARATION, Content, Contents, DESCRIPTION_EXTENSIONS,
    DescriptionFacts, Inspector, Layout, PACK_DOCUMENT, Placement,
};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::Header;

/// A pack opened for reading, in whatever container it lies; or an array file with its description, as a pack of
/// one array.
///
/// Opening a zip reads its end and nothing else; reading a stored array then finds the member in the directory
/// and its line in the manifest, and touches that member. Where both are large and in the order in which `create`
/// writes them, little of them is read: what is given out is what its line in the manifest says, and what is
/// wrong elsewhere, such as a second member of the name far away, [`verify`](crate::verify()) tells. Where no line
/// vouches for what is given out, as for slices, views and descriptions, all of the directory is looked at. Whoever
/// reads many has both kept in memory with an index, so that each further array is found at once; an index knows of
/// all that is wrong. A tar is walked once, to index it. One that is compressed as a whole can only be decoded from its
/// beginning: whoever reads its arrays in about its order has it decoded once, and [`decoded`](Self::decoded)
/// tells. A clone costs little and shares everything with the pack that it was made of. Reads take `&self` and may
/// come from several threads at once.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ndarray::s;
/// use ra_pack::Pack;
///
/// # let directory = tempfile::tempdir()?;
/// # let zip = directory.path().join("mooring.zip");
/// # ra_pack::create("examples/experiment", &zip, &Default::default())?;
/// let pack = Pack::open(&zip)?;
/// let temperature = pack.array("thermistors/temperature.ra")?;
/// let all: ndarray::ArrayD<f32> = temperature.read()?;
/// let first: ndarray::ArrayD<f32> = temperature.slice(s![.., 0])?;
/// assert_eq!(first, all.slice(s![.., 0]).into_dyn());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Pack {
    state: Arc<PackState>,
    /// The most bytes that one read may take.
    max_bytes: u64,
}

/// The opened archive with what is known of it, which all clones of a [`Pack`] share.
#[derive(Debug)]
struct PackState {
    archive: Archive,
    /// The array file that was opened, by its path as given, and its name in the pack around it.
    lone: Option<(PathBuf, String)>,
    map: Option<FileMap>,
    /// Found when it is first needed.
    placement: OnceLock<Placement>,
    manifest: OnceLock<Option<PackManifest>>,
    /// The pack's own document, which describes any number of arrays.
    document: OnceLock<Option<Arc<DescriptionFacts>>>,
    /// Members of an archive by the names that they were asked for by. A directory may change.
    found: RwLock<HashMap<Arc<str>, Arc<FoundMember>>>,
}

impl PackState {
    fn new(archive: Archive, placement: OnceLock<Placement>) -> Self {
        let (lone, map, manifest, document, found) = Default::default();
        Self { archive, lone, map, placement, manifest, document, found }
    }
}

/// A member that was found by its name.
#[derive(Debug)]
struct FoundMember {
    /// The name that it was asked for by.
    name: Arc<str>,
    member: Member,
    /// The header of the array, once it was read and no other member has the name or a digest confirmed it.
    header: OnceLock<Header>,
}

/// Members that are kept in [`PackState::found`], which take some 300 bytes each. When there are more, all are
/// forgotten.
const MOST_FOUND: usize = 1 << 15;

/// Arrays that a thread takes at a time: enough for their costs to be alike, few enough for the last to be shared and
/// for an error to stop the others soon.
const MOST: usize = 16;

/// What failed when the output of a copy, whose name is not known here, cannot be written.
pub(super) const WRITE_COPY: &str = "write what was read from";

/// One member as its container has it: name, kind and sizes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemberInfo {
    /// The name in the container.
    pub name: String,
    /// What it is.
    pub kind: MemberKind,
    /// Bytes of its content.
    pub size: u64,
    /// Bytes that it takes in the container.
    pub packed_size: u64,
    /// How it is kept.
    pub method: Method,
}

impl Pack {
    /// Opens a directory, an archive or an array file; the last as [`Pack::of_array`] does.
    ///
    /// # Errors
    ///
    /// [`Error::NotAPack`] for a file of another kind, [`Error::Damaged`] for an archive whose beginning or end is
    /// gone, and when it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_watched(path, &Progress::default())
    }

    /// As [`Pack::open`], and tells `progress` how far the reading of its arrays and files is.
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

    /// What is asked for is looked for first, which in a stream takes as long as reading it.
    fn searching(archive: Archive) -> Self {
        let bytes = if archive.is_stream() { archive.bytes_to_read() } else { 0 };
        archive.progress().stage("searching", bytes, 0);
        Self::new(archive, OnceLock::new())
    }

    /// Opens the archive in a source, such as bytes in memory, and calls it `memory` in messages.
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
    /// As [`Pack::open`], and those of the source.
    pub fn open_source(source: impl ReadAt + 'static) -> Result<Self> {
        Self::open_source_watched(source, "memory", &Progress::default())
    }

    /// As [`Pack::open_source`], with a name for messages, by whose extension a tar without a magic number or one that
    /// is damaged is known. Tells `progress` how far the reading of its arrays and files is.
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

    /// Opens an array file with its description and the coordinates that this names as a pack, and gives the name of
    /// the array in it.
    ///
    /// Names are those below the nearest directory above from which everything is found that the description of
    /// the array refers to, as for [`validate`](crate::validate()). Of the manifests there only
    /// [`verify`](Self::verify) takes notice.
    ///
    /// # Errors
    ///
    /// [`Error::NotAnArray`], and when nothing is at `path`.
    pub fn of_array(path: impl AsRef<Path>) -> Result<(Self, String)> {
        Self::of_array_watched(path, &Progress::default())
    }

    /// As [`Pack::of_array`], and tells `progress` how far the reading is.
    ///
    /// # Errors
    ///
    /// As [`Pack::of_array`].
    pub fn of_array_watched(path: impl AsRef<Path>, progress: &Progress) -> Result<(Self, String)> {
        if !is_array_file(path.as_ref())? {
            return Err(single_file::not_an_array(path.as_ref()));
        }
        let single_file = single_file::gather(path.as_ref(), None)?;
        single_file.refuse_other_formats(path.as_ref())?;
        let name = single_file.subject.as_str().to_owned();
        // Nobody said that the directory is a pack, and it may be a large one.
        let archive = Archive::of_files(&single_file.root, single_file.files(), progress);
        let mut state = PackState::new(archive, OnceLock::from(Placement::plain()));
        state.manifest = OnceLock::from(None);
        state.lone = Some((path.as_ref().to_owned(), name.clone()));
        Ok((Self { state: Arc::new(state), max_bytes: u64::MAX }, name))
    }

    /// An archive that is open already, of which it is known how the pack in it is laid out.
    pub(super) fn of_archive(archive: Archive, placement: Placement) -> Self {
        Self::new(archive, OnceLock::from(placement))
    }

    /// The archive that was opened.
    pub(super) fn archive(&self) -> &Archive {
        &self.state.archive
    }

    /// The archive, directory or array file, by its path as given.
    pub(super) fn given(&self) -> &Path {
        self.lone().map_or(self.state.archive.path(), |(path, _)| path)
    }

    /// The array file that was opened, by its path as given, and its name in the pack; nothing for a whole pack.
    pub(super) fn lone(&self) -> Option<(&Path, &str)> {
        self.state.lone.as_ref().map(|(path, name)| (path.as_path(), name.as_str()))
    }

    fn new(archive: Archive, placement: OnceLock<Placement>) -> Self {
        Self { state: Arc::new(PackState::new(archive, placement)), max_bytes: u64::MAX }
    }

    /// Opens an archive and maps it into memory, so that arrays can be [viewed](PackedArray::view)
    /// where they lie.
    ///
    /// # Errors
    ///
    /// As [`Pack::open`], and when it cannot be mapped, which a directory cannot.
    ///
    /// # Safety
    ///
    /// Nobody may change or shorten the archive while the pack is open: the bytes would change under
    /// shared references, and reading beyond a shortened end stops the process.
    #[expect(
        unsafe_code,
        reason = "a map is only as stable as its file, which only the caller knows"
    )]
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self> {
        let archive = Archive::open_watched(path.as_ref(), &Progress::default())?;
        let Some(file) = archive.file() else {
            return Err(Error::Unsupported(format!(
                "`{}` is a directory, which cannot be mapped as a whole",
                crate::path::escape_path(path.as_ref())
            )));
        };
        // SAFETY: our caller promises what `File::map` asks for, that the file does not change.
        let map = unsafe { file.map() }?;
        let mut state = PackState::new(archive, OnceLock::new());
        state.map = Some(map);
        Ok(Self { state: Arc::new(state), max_bytes: u64::MAX })
    }

    /// Whoever watches begins to count anew: so many bytes of this member will be read, or else all that the
    /// archive has for it.
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

    /// Limits the memory that one read of this pack, and of the arrays that are then opened from it, may take for
    /// elements or content. A read that needs more is refused with [`Error::TooLarge`] before it takes memory.
    ///
    /// There is no limit otherwise: a small archive may hold an array that takes more memory than the machine has. What
    /// passes through bounded memory, such as [`copy_to`](Self::copy_to) and
    /// [`statistics`](PackedArray::statistics), is not limited.
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
        let limit = self.max_bytes;
        if bytes <= limit {
            return Ok(());
        }
        Err(Error::TooLarge { name: name.to_owned(), bytes, limit })
    }

    /// The kind of container.
    pub fn container(&self) -> Container {
        self.state.archive.container()
    }

    /// Bytes of the archive file; nothing for a directory.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn file_size(&self) -> Result<Option<u64>> {
        self.state.archive.file().map(|file| file.len()).transpose()
    }

    /// Bytes that have been decoded so far of a tar that is compressed as a whole, to reach the contents that were
    /// asked for. It is decoded again when something is asked for that precedes what was read last, unless that
    /// passed not long before. 0 for all other containers.
    pub fn decoded(&self) -> u64 {
        self.state.archive.decoded()
    }

    /// Every member, in the order of the container.
    ///
    /// # Errors
    ///
    /// When the container cannot be walked to its end.
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

    /// The names of all arrays, in the order of the container.
    ///
    /// # Errors
    ///
    /// When the container cannot be walked to its end.
    pub fn arrays(&self) -> Result<Vec<String>> {
        let placement = self.placement()?;
        let members = self.state.archive.members()?;
        let files = members.iter().filter(|member| member.kind == MemberKind::File);
        let names = files.filter_map(|member| placement.payload(&member.name));
        Ok(names.filter(|name| pack::is_array(name)).map(str::to_owned).collect())
    }

    /// Whether there is a file of that name, or an array of that name without `.ra`.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] when the container cannot be trusted about it.
    pub fn contains(&self, name: &str) -> Result<bool> {
        match self.array(name) {
            Err(Error::NoSuchMember { .. } | Error::IsDirectory { .. }) => Ok(false),
            found => found.map(|_| true),
        }
    }

    /// One array, by its name in the payload, such as `run1/temperature.ra` or `run1/temperature`; its data is not
    /// read yet.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`], where [`resolve`](Self::resolve) knows what may be meant, and [`Error::Damaged`] when
    /// the container cannot be trusted about it.
    pub fn array(&self, name: &str) -> Result<PackedArray> {
        if !pack::is_array(name) {
            match self.find(&format!("{name}.{ARRAY_EXTENSION}")) {
                Err(Error::NoSuchMember { .. }) => {}
                found => return Ok(PackedArray::new(self.clone(), found?)),
            }
        }
        Ok(PackedArray::new(self.clone(), self.find(name)?))
    }

    /// The whole content of one member, checked against the manifest.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`], and [`Error::Damaged`] when it is not what the manifest or the
    /// container says; [`Error::TooLarge`].
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let (found, mut content) = (self.find(name)?, Vec::new());
        self.check_room(name, found.member.size)?;
        self.copy_found(&found, &mut content)?;
        Ok(content)
    }

    /// Writes the whole content of one member to `out` and checks it against the manifest. Gives the
    /// number of bytes, and whether the manifest vouches for them.
    ///
    /// # Errors
    ///
    /// As [`Pack::read`]; what was written before damage was noticed is then worthless.
    pub fn copy_to(&self, name: &str, out: &mut dyn Write) -> Result<(u64, bool)> {
        self.copy_found(&*self.find(name)?, out)
    }

    fn copy_found(
        &self,
        FoundMember { name, member, .. }: &FoundMember,
        out: &mut dyn Write,
    ) -> Result<(u64, bool)> {
        let vouching = self.vouching(member)?;
        let (written, digest) = self.copy(member, name, vouching.algorithm, out)?;
        let vouched = self.check_digest(member, vouching, &digest)?;
        Ok((written, vouched))
    }

    /// As [`Pack::copy_to`], without a look at the manifest. The container's own checksum is checked.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`], and [`Error::Damaged`] when it is not what the container says.
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
        /// From this size on a thread of its own that hashes saves more than it costs.
        const WORTH_A_THREAD: u64 = 4 * 1024 * 1024;
        self.begin(name, member, None);
        let mut reader = self.state.archive.read(member)?;
        let mut written = 0;
        let sink = |block: &[u8]| {
            out.write_all(block).map_err(Error::io(WRITE_COPY, self.state.archive.path()))?;
            written += block.len() as u64;
            Ok(())
        };
        let is_worth_a_thread = member.size >= WORTH_A_THREAD && pipeline::default_jobs() > 1;
        let hashing = if is_worth_a_thread { Hashing::Beside } else { Hashing::Here };
        match copy(&mut reader, &[algorithm], hashing, sink) {
            Ok(digests) => Ok((written, digests.made_by(algorithm))),
            Err(Fault::Sink(error)) => Err(error),
            Err(Fault::Source(error)) => Err(self.unreadable(name, error)),
        }
    }

    /// The name of an array in the payload, its header, and the document that describes it.
    fn contents_about(
        &self,
        found: &FoundMember,
        header: &Header,
    ) -> Result<(MemberPath, Contents)> {
        let placement = self.state.placement.get();
        let name = placement.and_then(|placement| placement.payload(&found.member.name));
        let path = MemberPath::new(name.unwrap_or(&found.name))?;
        let mut contents = Contents::default();
        let facts = Ok(header.clone());
        let facts = pack::ArrayFacts { header: facts, encoding: None, trailing: 0, data: Ok(()) };
        contents.add(path.clone(), Content::Array(Arc::new(facts)));
        for extension in DESCRIPTION_EXTENSIONS {
            let name = format!("{}.{extension}", path.without_extension());
            if let Some(member) = self.find_placed(|placement| placement.place_payload(&name))? {
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

    /// The pack's own document, read once: without others it describes every array.
    fn document(&self) -> Result<Option<Arc<DescriptionFacts>>> {
        if let Some(document) = self.state.document.get() {
            return Ok(document.clone());
        }
        let found = match self.find_tag(PACK_DOCUMENT)? {
            Some(member) => self.inspect(PACK_DOCUMENT, &member)?,
            None => Content::Other,
        };
        let document = match found {
            Content::Description(facts) => Some(Arc::from(facts)),
            Content::Array(_) | Content::Other => None,
        };
        Ok(self.state.document.get_or_init(|| document).clone())
    }

    /// What a member is found to be.
    fn inspect(&self, name: &str, member: &Member) -> Result<Content> {
        self.must_be_alone(member)?;
        let mut inspector = Inspector::within(name, &self.state.archive.allowance()?);
        let mut reader = self.state.archive.read(member)?;
        inspector.read(&mut reader).map_err(|error| self.unreadable(name, error))?;
        Ok(inspector.finish(name, member.size))
    }

    fn unreadable(&self, member: &str, error: io::Error) -> Error {
        manifests::unreadable(member, error)
            .map_or_else(|refused| refused, |found| self.damaged(found))
    }

    /// How the pack is laid out, from the names of all members.
    fn placement(&self) -> Result<&Placement> {
        if let Some(placement) = self.state.placement.get() {
            return Ok(placement);
        }
        let members = self.state.archive.members()?;
        let placement = Placement::detect(&members.iter().map(|member| &*member.name));
        Ok(self.state.placement.get_or_init(|| placement))
    }

    /// Finds a member by its place in a pack. Most packs are plain, and need no look at other names.
    fn find_placed(&self, place: impl Fn(&Placement) -> String) -> Result<Option<Member>> {
        let plain = Placement::plain();
        let name = place(&plain);
        if let Some(member) = self.state.archive.find_by_order(&name, true)? {
            return Ok(Some(member));
        }
        let placement = self.placement()?;
        if *placement == plain {
            return Ok(None);
        }
        self.state.archive.find(&place(placement))
    }

    /// A file beside the payload.
    fn find_tag(&self, name: &str) -> Result<Option<Member>> {
        self.find_placed(|placement| placement.place_tag(name))
    }

    /// Finds a file, in an archive once.
    fn find(&self, name: &str) -> Result<Arc<FoundMember>> {
        let found = self.state.found.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = found.get(name) {
            return Ok(Arc::clone(found));
        }
        drop(found);
        let (name, member) = (Arc::<str>::from(name), self.look_for(name)?);
        let found = Arc::new(FoundMember { name: name.clone(), member, header: OnceLock::new() });
        if self.container() != Container::Directory {
            let mut all = self.state.found.write().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= MOST_FOUND {
                all.clear();
            }
            all.insert(name, Arc::clone(&found));
        }
        Ok(found)
    }

    fn look_for(&self, name: &str) -> Result<Member> {
        let found = match self.find_placed(|placement| placement.place_payload(name))? {
            // The files beside a bag's payload can be read too, by their names in the bag.
            None if *self.placement()? != Placement::plain() => self.find_tag(name)?,
            found => found,
        };
        match found {
            Some(member) if member.kind == MemberKind::File => Ok(member),
            None => {
                let (archive, member) = (self.given().to_owned(), name.to_owned());
                Err(Error::NoSuchMember { archive, member, suggestion: None })
            }
            Some(Member { kind: MemberKind::Directory, .. }) => Err(self.is_a_directory(name)),
            Some(member) => Err(Error::Unsupported(format!(
                "`{}` is {}, not a file",
                crate::path::escape(name),
                if member.kind == MemberKind::Link { "a link" } else { "a special file" }
            ))),
        }
    }

    /// Whether there is anything that could vouch for members.
    pub(super) fn has_manifest(&self) -> Result<bool> {
        Ok(self.manifest()?.is_some())
    }

    /// Looks for a member that no manifest vouches for among all others: none may have its name.
    fn must_be_alone(&self, member: &Member) -> Result<()> {
        if self.container() != Container::Zip {
            return Ok(());
        }
        match self.state.archive.find(&member.name)? {
            Some(found) if found == *member => Ok(()),
            _ => Err(self.damaged(
                Finding::new(Code::BadDirectory, "the directory does not say the same of it twice")
                    .in_member(&*member.name)
                    .hint("`ra-pack verify` says what is wrong with the archive"),
            )),
        }
    }

    /// Has `visit` look at many arrays, on `jobs` threads, one for each core when not given, and returns what it makes
    /// of them, in the order of their names.
    ///
    /// The first error stops it, be it one of `visit` itself. A tar that is compressed as a whole is decoded once, in
    /// its own order, and one thread reads it.
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
    /// // Elements of any type, with the indices of the descriptions.
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
    /// The first one in the order of the names, of a compressed tar in that of the tar; `visit` may have seen some
    /// arrays after it.
    pub fn read_each<R: Send, E: From<Error> + Send>(
        &self,
        names: &[impl AsRef<str> + Sync],
        jobs: Option<usize>,
        visit: impl Fn(PackedArray) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        let is_stream = self.state.archive.is_stream();
        // Many are found by an index from the first one on, so that which are read first makes no difference.
        if let Some(name) = names.first().filter(|_| names.len() > MOST && !is_stream) {
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
        let step = (names.len() / (jobs * 8)).clamp(1, MOST);
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
            // It was found without a look at all names, at the root, where a bag may be too.
            None => match self.state.archive.find_by_order(BAG_DECLARATION, false)? {
                Some(_) => Ok(Layout::BagIt),
                None => Ok(Layout::Plain),
            },
        }
    }

    fn read(&self, name: &str) -> Result<Option<Cow<'_, [u8]>>> {
        let member = self.find_tag(name)?;
        member.map(|member| self.text(&member, name).map(Cow::Owned)).transpose()
    }

    fn damaged(&self, finding: Finding) -> Error {
        Error::damaged(self.state.archive.path(), finding)
    }
}
