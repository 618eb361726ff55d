//! A pack opened for reading: one array, or a slice of one, without touching the rest.

mod array;
mod manifest;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub use self::array::{Axis, Coordinate, PackedArray};
pub(super) use self::array::{LONGEST_HEADER, ReadAt, check_decoded, tell};

use self::manifest::PackManifest;
use super::info::is_array_file;
use super::manifests::{self, RootFiles};
use super::single_file;
use ndarray::ArrayD;

use crate::archive::{Archive, Container, Fault, Member, MemberKind, Method, copy};
use crate::digest::{Algorithm, Digest, Hashing};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::FileMap;
use crate::ndl::Ndarray;
use crate::pack::{
    self, ARRAY_EXTENSION, BAG_DECLARATION, Content, Contents, DESCRIPTION_EXTENSIONS,
    DescriptionFacts, Inspector, Layout, PACK_DOCUMENT, Placement,
};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::Element;

/// A pack opened for reading, in whatever container it lies.
///
/// Opening a zip reads its end and nothing else; reading a stored array then finds the member in the directory
/// and its line in the manifest, and touches that member. Where both are large and in the order in which `create`
/// writes them, little of them is read: what is given out is what its line in the manifest says, and what is
/// wrong elsewhere, such as a second member of the name far away, [`verify`](crate::verify()) tells. Where no line
/// vouches for what is given out, as for slices, views and descriptions, all of the directory is looked at. Whoever
/// reads many has both kept in memory with an index, so that each further array is found at once; an index knows of
/// all that is wrong. A tar is walked once, to index it. One that is compressed as a whole can only be decoded from its
/// beginning: whoever reads its arrays in about its order has it decoded once, and [`decoded`](Self::decoded)
/// tells. Reads take `&self` and may come from several threads at once.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ndarray::s;
/// use ra_pack::Pack;
///
/// # let directory = tempfile::tempdir()?;
/// # let zip = directory.path().join("mooring.zip");
/// # ra_pack::create("examples/experiment".as_ref(), &zip, &Default::default())?;
/// let pack = Pack::open(&zip)?;
/// let temperature = pack.array("thermistors/temperature.ra")?;
/// let all: ndarray::ArrayD<f32> = temperature.read()?;
/// let first: ndarray::ArrayD<f32> = temperature.slice(s![.., 0])?;
/// assert_eq!(first, all.slice(s![.., 0]).into_dyn());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Pack {
    archive: Archive,
    map: Option<FileMap>,
    /// Found when it is first needed.
    placement: OnceLock<Placement>,
    manifest: OnceLock<Option<PackManifest>>,
    /// The pack's own document, which describes any number of arrays.
    document: OnceLock<Option<Arc<DescriptionFacts>>>,
}

/// Arrays that a thread takes at a time: enough for their costs to be alike, few enough for the last to be shared.
const MOST: usize = 64;

/// What a container says of one member.
#[derive(Debug, Clone)]
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
    /// Opens a directory or an archive.
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
        let archive = Archive::open_watched(path.as_ref(), progress)?;
        // What is asked for is looked for first, which in a stream takes as long as reading it.
        progress.stage(
            "searching",
            if archive.is_stream() { archive.bytes_to_read() } else { 0 },
            0,
        );
        Ok(Self::new(archive, OnceLock::new()))
    }

    /// Opens the directory around a loose array as a pack, and gives the name of the array in it.
    ///
    /// The directory is the nearest one above from which everything is found that the description of
    /// the array refers to, as for [`validate`](crate::validate()); no manifest is looked for in it.
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
        let pack = Self::open_watched(&single_file.root, progress)?;
        // Nobody said that the directory is a pack, and it may be a large one.
        pack.placement.get_or_init(Placement::plain);
        pack.manifest.get_or_init(|| None);
        Ok((pack, single_file.subject.as_str().to_owned()))
    }

    /// An archive that is open already, of which it is known how the pack in it is laid out.
    pub(super) fn of_archive(archive: Archive, placement: Placement) -> Self {
        Self::new(archive, OnceLock::from(placement))
    }

    fn new(archive: Archive, placement: OnceLock<Placement>) -> Self {
        Self { archive, map: None, placement, manifest: OnceLock::new(), document: OnceLock::new() }
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
        let mut pack = Self::open(path.as_ref())?;
        let Some(file) = pack.archive.file() else {
            return Err(Error::Unsupported(format!(
                "`{}` is a directory, which cannot be mapped as a whole",
                crate::path::escape_path(path.as_ref())
            )));
        };
        // SAFETY: our caller promises what `File::map` asks for, that the file does not change.
        pack.map = Some(unsafe { file.map() }?);
        Ok(pack)
    }

    /// Whoever watches begins to count anew: so many bytes of this member will be read, or else all that the
    /// archive has for it.
    fn begin(&self, name: &str, member: &Member, bytes: Option<u64>) {
        let all = if self.archive.is_stream() {
            self.archive.bytes_to_read()
        } else {
            member.packed_size
        };
        let progress = self.archive.progress();
        progress.stage("reading", bytes.unwrap_or(all), 0);
        progress.at(name);
    }

    /// The kind of container.
    pub fn container(&self) -> Container {
        self.archive.container()
    }

    /// Bytes of the archive file; nothing for a directory.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn file_size(&self) -> Result<Option<u64>> {
        self.archive.file().map(|file| file.len()).transpose()
    }

    /// Bytes that have been decoded so far of a tar that is compressed as a whole, to reach the contents that were
    /// asked for. It is decoded again when something is asked for that precedes what was read last, unless that
    /// passed not long before. 0 for all other containers.
    pub fn decoded(&self) -> u64 {
        self.archive.decoded()
    }

    /// Every member, in the order of the container.
    ///
    /// # Errors
    ///
    /// When the container cannot be walked to its end.
    pub fn members(&self) -> Result<Vec<MemberInfo>> {
        let members = self.archive.members()?;
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

    /// One array, by its payload name such as `run1/temperature.ra`; its data is not read yet.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`], and [`Error::Damaged`] when the container cannot be trusted about it.
    pub fn array(&self, name: &str) -> Result<PackedArray<'_>> {
        let member = self.find(name)?;
        Ok(PackedArray::new(self, name, member))
    }

    /// The whole content of one member, checked against the manifest.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`], and [`Error::Damaged`] when it is not what the manifest or the
    /// container says.
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        self.copy_to(name, &mut content)?;
        Ok(content)
    }

    /// Writes the whole content of one member to `out` and checks it against the manifest. Gives the
    /// number of bytes, and whether the manifest vouches for them.
    ///
    /// # Errors
    ///
    /// As [`Pack::read`]; what was written before damage was noticed is then worthless.
    pub fn copy_to(&self, name: &str, out: &mut dyn Write) -> Result<(u64, bool)> {
        let member = self.find(name)?;
        let vouching = self.vouching(&member)?;
        let (written, digest) = self.copy(&member, name, vouching.algorithm, out)?;
        let vouched = self.check_digest(&member, vouching, &digest)?;
        Ok((written, vouched))
    }

    /// As [`Pack::copy_to`], without a look at the manifest. The container's own checksum is checked.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`], and [`Error::Damaged`] when it is not what the container says.
    pub fn copy_unverified_to(&self, name: &str, out: &mut dyn Write) -> Result<u64> {
        let member = self.find(name)?;
        self.must_be_alone(&member)?;
        self.copy(&member, name, Algorithm::Sha256, out).map(|(written, _)| written)
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
        let mut reader = self.archive.read(member)?;
        let mut written = 0;
        let sink = |block: &[u8]| {
            out.write_all(block)
                .map_err(Error::io("write what was read from", self.archive.path()))?;
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

    /// The description of an array: the document beside it, or its entry in the pack's own.
    ///
    /// # Errors
    ///
    /// When there is no such array, or its description is at fault.
    pub fn description(&self, name: &str) -> Result<Option<Ndarray>> {
        let path = MemberPath::new(name)?;
        let contents = self.contents_about(name)?;
        let mut findings = Vec::new();
        let ndarray = contents
            .description(&path, &mut findings)
            .map(|described| described.entity.array().clone());
        match findings.into_iter().find(Finding::is_error) {
            Some(finding) => Err(self.damaged(finding)),
            None => Ok(ndarray),
        }
    }

    /// The header of an array, and the document that describes it.
    fn contents_about(&self, name: &str) -> Result<Contents> {
        let path = MemberPath::new(name)?;
        let mut contents = Contents::default();
        let header = self.array(name)?.header()?;
        let facts =
            pack::ArrayFacts { header: Ok(header), encoding: None, trailing: 0, data: Ok(()) };
        contents.add(path.clone(), Content::Array(Arc::new(facts)));
        for extension in DESCRIPTION_EXTENSIONS {
            let name = format!("{}.{extension}", path.without_extension());
            if let Some(member) = self.find_placed(|placement| placement.place_payload(&name))? {
                contents.add(MemberPath::new(&*name)?, self.inspect(&name, &member)?);
            }
        }
        if contents.descriptions.is_empty() {
            contents.pack_document = self.document()?;
        }
        Ok(contents)
    }

    /// The pack's own document, read once: without others it describes every array.
    fn document(&self) -> Result<Option<Arc<DescriptionFacts>>> {
        if let Some(document) = self.document.get() {
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
        Ok(self.document.get_or_init(|| document).clone())
    }

    /// What a member is found to be.
    fn inspect(&self, name: &str, member: &Member) -> Result<Content> {
        self.must_be_alone(member)?;
        let mut inspector = Inspector::within(name, &self.archive.allowance()?);
        let mut reader = self.archive.read(member)?;
        inspector.read(&mut reader).map_err(|error| self.unreadable(name, error))?;
        Ok(inspector.finish(name, member.size))
    }

    fn unreadable(&self, member: &str, error: io::Error) -> Error {
        manifests::unreadable(member, error)
            .map_or_else(|refused| refused, |found| self.damaged(found))
    }

    /// How the pack is laid out, from the names of all members.
    fn placement(&self) -> Result<&Placement> {
        if let Some(placement) = self.placement.get() {
            return Ok(placement);
        }
        let members = self.archive.members()?;
        let placement = Placement::detect(&members.iter().map(|member| &*member.name));
        Ok(self.placement.get_or_init(|| placement))
    }

    /// Finds a member by its place in a pack. Most packs are plain, and need no look at other names.
    fn find_placed(&self, place: impl Fn(&Placement) -> String) -> Result<Option<Member>> {
        let plain = Placement::plain();
        let name = place(&plain);
        if let Some(member) = self.archive.find_by_order(&name, true)? {
            return Ok(Some(member));
        }
        let placement = self.placement()?;
        if *placement == plain {
            return Ok(None);
        }
        self.archive.find(&place(placement))
    }

    /// A file beside the payload.
    fn find_tag(&self, name: &str) -> Result<Option<Member>> {
        self.find_placed(|placement| placement.place_tag(name))
    }

    fn find(&self, name: &str) -> Result<Member> {
        let found = match self.find_placed(|placement| placement.place_payload(name))? {
            // The files beside a bag's payload can be read too, by their names in the bag.
            None => self.find_tag(name)?,
            found => found,
        };
        match found {
            Some(member) if member.kind == MemberKind::File => Ok(member),
            None | Some(Member { kind: MemberKind::Directory, .. }) => {
                Err(self.not_found(name, found.is_some())?)
            }
            Some(member) => Err(Error::Unsupported(format!(
                "`{}` is {}, not a file",
                crate::path::escape(name),
                if member.kind == MemberKind::Link { "a link" } else { "a special file" }
            ))),
        }
    }

    /// Why there is no file of that name: it may be a directory, or another may be meant.
    fn not_found(&self, name: &str, is_directory: bool) -> Result<Error> {
        let placement = self.placement()?;
        let directory = name.trim_end_matches('/');
        let is_in = |member: &Member| {
            let below = placement.payload(&member.name)?.strip_prefix(directory)?;
            (member.kind == MemberKind::File && below.starts_with('/')).then_some(())
        };
        let members = self.archive.members()?;
        let files = members.iter().filter_map(is_in).count();
        let (archive, member) = (self.archive.path().to_owned(), name.to_owned());
        if is_directory || files > 0 {
            return Ok(Error::IsDirectory { archive, member, files });
        }
        let suggestion = suggestion(&members, placement, name);
        Ok(Error::NoSuchMember { archive, member, suggestion })
    }

    /// Whether there is anything that could vouch for members.
    pub(super) fn has_manifest(&self) -> Result<bool> {
        Ok(self.manifest()?.is_some())
    }

    /// The first of several entities of the pack that is there as an array of that length.
    fn coordinate(&self, paths: &[String], extent: u64) -> Result<Option<Coordinate>> {
        for path in paths {
            let member = format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/'));
            let is_there = MemberPath::new(&*member).is_ok()
                && self.find_placed(|placement| placement.place_payload(&member))?.is_some();
            if !is_there {
                continue;
            }
            let array = self.array(&member)?;
            if array.header()?.dims() == [extent] {
                let description = array.description()?;
                return Ok(Some(Coordinate { member: Some(member), description }));
            }
        }
        Ok(None)
    }

    /// Looks for a member that no manifest vouches for among all others: none may have its name.
    fn must_be_alone(&self, member: &Member) -> Result<()> {
        if self.container() != Container::Zip {
            return Ok(());
        }
        match self.archive.find(&member.name)? {
            Some(found) if found == *member => Ok(()),
            _ => Err(self.damaged(
                Finding::new(Code::BadDirectory, "the directory does not say the same of it twice")
                    .in_member(&*member.name)
                    .hint("`ra-pack verify` says what is wrong with the archive"),
            )),
        }
    }

    /// Reads many arrays on all cores, each as [`PackedArray::read`] does, and gives what
    /// `visit` makes of them, in the order of their names.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let zip = directory.path().join("mooring.zip");
    /// # ra_pack::create("examples/experiment".as_ref(), &zip, &Default::default())?;
    /// let pack = ra_pack::Pack::open(&zip)?;
    /// let names = ["thermistors/temperature.ra", "thermistors/depth.ra"];
    /// let means = pack.read_each(&names, |_, array: ndarray::ArrayD<f32>| array.mean())?;
    /// assert!(means.iter().all(Option::is_some));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the first array that cannot be read; `visit` may then have seen others behind it.
    pub fn read_each<T: Element, R: Send>(
        &self,
        names: &[impl AsRef<str> + Sync],
        visit: impl Fn(&str, ArrayD<T>) -> R + Sync,
    ) -> Result<Vec<R>> {
        self.read_each_opened(names, Ok, visit)
    }

    /// The same with the indices of each in the order of its description's shape, as after
    /// [`PackedArray::in_shape_order`].
    ///
    /// # Errors
    ///
    /// As [`Pack::read_each`], and those of the first description that is at fault.
    pub fn read_each_in_shape_order<T: Element, R: Send>(
        &self,
        names: &[impl AsRef<str> + Sync],
        visit: impl Fn(&str, ArrayD<T>) -> R + Sync,
    ) -> Result<Vec<R>> {
        self.read_each_opened(names, PackedArray::in_shape_order, visit)
    }

    fn read_each_opened<'p, T: Element, R: Send>(
        &'p self,
        names: &[impl AsRef<str> + Sync],
        open: impl Fn(PackedArray<'p>) -> Result<PackedArray<'p>> + Sync,
        visit: impl Fn(&str, ArrayD<T>) -> R + Sync,
    ) -> Result<Vec<R>> {
        // Many are found by an index from the first one on, so that which are read first makes no difference.
        if let Some(name) = names.first().filter(|_| names.len() > MOST) {
            self.archive.find(name.as_ref())?;
            if let Some(manifest) = self.manifest()? {
                manifest.index(self)?;
            }
        }
        let jobs = pipeline::default_jobs();
        let step = (names.len() / (jobs * 8)).clamp(1, MOST);
        let parts = pipeline::share(
            jobs,
            names.chunks(step),
            || (),
            |(), names| {
                let names = names.iter().map(AsRef::as_ref);
                names
                    .map(|name| Ok(visit(name, open(self.array(name)?)?.read()?)))
                    .collect::<Result<Vec<R>>>()
            },
        )?;
        Ok(parts.into_iter().flatten().collect())
    }
}

/// A name that is there and that may be meant.
fn suggestion(members: &[Member], placement: &Placement, name: &str) -> Option<String> {
    let lower = |name: &str| name.strip_suffix(".ra").unwrap_or(name).to_lowercase();
    let last = |name: &str| name.rsplit_once('/').map_or(name, |(_, last)| last).to_owned();
    let wanted = lower(name.trim_start_matches("./").trim_start_matches('/'));
    let files = members.iter().filter(|member| member.kind == MemberKind::File);
    let mut payloads = files.filter_map(|member| placement.payload(&member.name));
    let is_like = |name: &&str| pack::is_array(name) && last(&lower(name)) == last(&wanted);
    let like = payloads.clone().find(is_like);
    payloads.find(|name| lower(name) == wanted).or(like).map(str::to_owned)
}

impl RootFiles for Pack {
    fn layout(&self) -> Result<Layout> {
        match self.placement.get() {
            Some(placement) => Ok(placement.layout),
            // It was found without a look at all names, at the root, where a bag may be too.
            None => match self.archive.find_by_order(BAG_DECLARATION, false)? {
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
        Error::damaged(self.archive.path(), finding)
    }
}
