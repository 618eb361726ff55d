//! A pack opened for reading: one array, or a slice of one, without touching the rest.

use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;
use ndarray::{ArrayD, ArrayViewD, SliceInfoElem};

use super::manifests::{self, MAX_MANIFEST};
use super::verify::data_finding;
use crate::archive::{Archive, Container, Member, MemberKind, Method};
use crate::digest::{Algorithm, Digest, Hasher};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{File, Map};
use crate::manifest::{Manifest, NameEncoding};
use crate::ndl::{Ndarray, Order};
use crate::pack::{
    self, Content, Contents, DESCRIPTION_EXTENSIONS, Entity, Inspector, Layout, PACK_DOCUMENT,
    Placement,
};
use crate::path::MemberPath;
use crate::ra::{self, AnyArray, FIXED_LEN, Header, RawArray, ReadError, checked_slice};

/// A pack opened for reading, in whatever container it lies.
///
/// Opening a zip reads its directory and nothing else; reading a stored array then touches the
/// manifest and that member. Reads take `&self` and may come from several threads at once.
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
    map: Option<Map>,
    /// Found when it is first needed.
    placement: OnceLock<Placement>,
    manifest: OnceLock<Option<ManifestText>>,
}

/// A manifest as it stands.
struct ManifestText {
    name: String,
    names: NameEncoding,
    text: Vec<u8>,
}

impl fmt::Debug for ManifestText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

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
    /// When it cannot be read, or is no archive.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let archive = Archive::open(path.as_ref())?;
        Ok(Self { archive, map: None, placement: OnceLock::new(), manifest: OnceLock::new() })
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
                path.as_ref().display()
            )));
        };
        // SAFETY: our caller promises what `File::map` asks for, that the file does not change.
        pack.map = Some(unsafe { file.map() }?);
        Ok(pack)
    }

    /// The kind of container.
    pub fn container(&self) -> Container {
        self.archive.container()
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
                name: member.name,
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
        Ok(PackedArray {
            pack: self,
            name: name.to_owned(),
            member,
            verify: true,
            order: Order::Column,
        })
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
        let (member, written, digest) = self.copy(name, out)?;
        let vouched = self.check_digest(&member, &digest)?;
        Ok((written, vouched))
    }

    /// As [`Pack::copy_to`], without a look at the manifest. The container's own checksum is checked.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`], and [`Error::Damaged`] when it is not what the container says.
    pub fn copy_unverified_to(&self, name: &str, out: &mut dyn Write) -> Result<u64> {
        self.copy(name, out).map(|(_, written, _)| written)
    }

    fn copy(&self, name: &str, out: &mut dyn Write) -> Result<(Member, u64, Digest)> {
        let member = self.find(name)?;
        let mut reader = self.archive.read(&member)?;
        let mut hasher = Hasher::new(Algorithm::Sha256);
        let mut written = 0_u64;
        loop {
            let block = match reader.fill_buf() {
                Ok([]) => break,
                Ok(block) => block,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.damaged(data_finding(name, &error))),
            };
            hasher.update(block);
            out.write_all(block)
                .map_err(Error::io("write what was read from", self.archive.path()))?;
            let count = block.len();
            written = written.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
            reader.consume(count);
        }
        drop(reader);
        Ok((member, written, hasher.finish()))
    }

    /// The description of an array: the document beside it, or its entry in the pack's own.
    ///
    /// # Errors
    ///
    /// When there is no such array, or its description is at fault.
    pub fn description(&self, name: &str) -> Result<Option<Ndarray>> {
        let path = MemberPath::new(name)?;
        let mut contents = Contents::default();
        let header = self.array(name)?.header()?;
        let facts =
            pack::ArrayFacts { header: Ok(header), encoding: None, trailing: 0, data: Ok(()) };
        contents.add(path.clone(), Content::Array(Box::new(facts)));
        let beside = DESCRIPTION_EXTENSIONS
            .into_iter()
            .map(|extension| format!("{}.{extension}", path.without_extension()));
        let mut found = false;
        for name in beside {
            found |= self.add_description(&name, &mut contents)?;
        }
        if !found {
            self.add_description(PACK_DOCUMENT, &mut contents)?;
        }
        let mut findings = Vec::new();
        let ndarray =
            contents.description(&path, &mut findings).map(|described| match described.entity {
                Entity::Ndarray(ndarray) => ndarray.clone(),
                Entity::DimCoord(dimcoord) => Ndarray {
                    name: dimcoord.name.clone(),
                    shape: dimcoord.size.map(crate::ndl::Extent::Fixed).into_iter().collect(),
                    datatype: dimcoord.datatype.clone(),
                    value: dimcoord.value.clone(),
                    attributes: dimcoord.attributes.clone(),
                    storage: dimcoord.storage.clone(),
                },
            });
        match findings.into_iter().find(Finding::is_error) {
            Some(finding) => Err(self.damaged(finding)),
            None => Ok(ndarray),
        }
    }

    /// Adds a description that is there.
    fn add_description(&self, name: &str, contents: &mut Contents) -> Result<bool> {
        let placed = match name {
            PACK_DOCUMENT => self.find_placed(|placement| placement.place_tag(name))?,
            _ => self.find_placed(|placement| placement.place_payload(name))?,
        };
        let Some(member) = placed else { return Ok(false) };
        let path = MemberPath::new(name)?;
        let mut inspector = Inspector::new(&path);
        let mut reader = self.archive.read(&member)?;
        while inspector.wants_more() {
            let block =
                reader.fill_buf().map_err(|error| self.damaged(data_finding(name, &error)))?;
            if block.is_empty() {
                break;
            }
            inspector.update(block);
            let count = block.len();
            reader.consume(count);
        }
        contents.add(path.clone(), inspector.finish(&path, member.size));
        Ok(true)
    }

    fn damaged(&self, finding: Finding) -> Error {
        Error::damaged(self.archive.path(), finding)
    }

    /// How the pack is laid out, from the names of all members.
    fn placement(&self) -> Result<&Placement> {
        if let Some(placement) = self.placement.get() {
            return Ok(placement);
        }
        let members = self.archive.members()?;
        let placement = Placement::detect(&members.iter().map(|member| member.name.as_str()));
        Ok(self.placement.get_or_init(|| placement))
    }

    /// Finds a member by its place in a pack. Most packs are plain, and need no look at other names.
    fn find_placed(&self, place: impl Fn(&Placement) -> String) -> Result<Option<Member>> {
        let plain = Placement::plain();
        let name = place(&plain);
        if let Some(member) = self.archive.find(&name)? {
            return Ok(Some(member));
        }
        let placement = self.placement()?;
        if *placement == plain {
            return Ok(None);
        }
        self.archive.find(&place(placement))
    }

    fn find(&self, name: &str) -> Result<Member> {
        let found = self.find_placed(|placement| placement.place_payload(name))?;
        // The files beside a bag's payload can be read too, by their names in the bag.
        let found = match found {
            None => self.find_placed(|placement| placement.place_tag(name))?,
            found => found,
        };
        match found {
            Some(member) if member.kind == MemberKind::File => Ok(member),
            Some(member) => Err(Error::Unsupported(format!(
                "`{}` is {}, not a file",
                crate::path::escape(&member.name),
                match member.kind {
                    MemberKind::Directory => "a directory",
                    MemberKind::Link => "a link",
                    _ => "a special file",
                }
            ))),
            None => Err(Error::NoSuchMember {
                archive: self.archive.path().to_owned(),
                member: name.to_owned(),
                suggestion: self.suggestion(name)?,
            }),
        }
    }

    /// A name that is there and that may be meant.
    fn suggestion(&self, name: &str) -> Result<Option<String>> {
        let placement = self.placement()?;
        let wanted = name.trim_start_matches("./").trim_start_matches('/');
        let stem = wanted.strip_suffix(".ra").unwrap_or(wanted).to_lowercase();
        let last = |name: &str| name.rsplit_once('/').map_or(name, |(_, last)| last).to_owned();
        let mut best = None;
        for member in self.archive.members()? {
            if member.kind != MemberKind::File {
                continue;
            }
            let Some(payload) = placement.payload(&member.name) else { continue };
            let there = payload.strip_suffix(".ra").unwrap_or(payload).to_lowercase();
            if there == stem {
                return Ok(Some(payload.to_owned()));
            }
            if best.is_none()
                && MemberPath::new(payload).is_ok_and(|path| pack::is_array(&path))
                && last(&there) == last(&stem)
            {
                best = Some(payload.to_owned());
            }
        }
        Ok(best)
    }

    /// The text of the manifest, read once.
    fn manifest(&self) -> Result<Option<&ManifestText>> {
        if let Some(manifest) = self.manifest.get() {
            return Ok(manifest.as_ref());
        }
        let name = pack::manifest_name(Algorithm::Sha256);
        let text = match self.find_placed(|placement| placement.place_tag(&name))? {
            None => None,
            Some(member) => {
                let mut text = Vec::new();
                self.archive
                    .read(&member)?
                    .take(MAX_MANIFEST)
                    .read_to_end(&mut text)
                    .map_err(|error| self.damaged(data_finding(&name, &error)))?;
                let bag = self.placement.get().is_some_and(|at| at.layout == Layout::BagIt);
                let names = if bag { NameEncoding::Percent } else { NameEncoding::Gnu };
                Some(ManifestText { name, names, text })
            }
        };
        Ok(self.manifest.get_or_init(|| text).as_ref())
    }

    /// The name of a member in the manifest.
    fn listed_name<'m>(&self, member: &'m Member) -> &'m str {
        let placement = self.placement.get();
        placement.and_then(|placement| placement.relative(&member.name)).unwrap_or(&member.name)
    }

    /// What the manifest gives for a member.
    fn listed_digest(&self, member: &Member) -> Result<Option<Digest>> {
        let Some(manifest) = self.manifest()? else { return Ok(None) };
        let path = MemberPath::new(self.listed_name(member))?;
        Manifest::look_up(Algorithm::Sha256, manifest.names, &manifest.text, &path)
            .map_err(|fault| self.damaged(manifests::fault_finding(&manifest.name, &fault)))
    }

    /// Holds a member's digest against the manifest; one that lists others but not this is an error.
    fn must_vouch(&self, member: &Member, found: &Digest) -> Result<()> {
        if self.check_digest(member, found)? {
            return Ok(());
        }
        match self.manifest()? {
            None => Ok(()),
            Some(manifest) => {
                Err(self.damaged(manifests::unlisted(self.listed_name(member), &manifest.name)))
            }
        }
    }

    /// Holds a member's digest against the manifest; false when the manifest does not list it.
    fn check_digest(&self, member: &Member, found: &Digest) -> Result<bool> {
        match self.listed_digest(member)? {
            None => Ok(false),
            Some(expected) if expected == *found => Ok(true),
            Some(expected) => {
                let manifest = self.manifest()?.map_or("the manifest", |manifest| &manifest.name);
                let name = self.listed_name(member);
                Err(self.damaged(manifests::mismatch(name, manifest, &expected, found)))
            }
        }
    }
}

/// One array of a pack.
///
/// Whole arrays are held against the manifest of the pack, if it has one by SHA-256, and one that
/// such a manifest does not list is an error; [`unverified`](Self::unverified) reads it all the same.
///
/// Indices are in the order of the header's `dims`, first index fastest, as every reader of RawArray
/// sees them. For an array whose description says `storage: {order: row}`,
/// [`in_shape_order`](Self::in_shape_order) gives them in the order of its `shape`; for all others
/// both are the same.
#[derive(Debug, Clone)]
pub struct PackedArray<'a> {
    pack: &'a Pack,
    name: String,
    member: Member,
    verify: bool,
    order: Order,
}

impl<'a> PackedArray<'a> {
    /// The name that it was asked for by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads without holding the content against the manifest. The container's own checksum is still
    /// checked where a whole member is read.
    #[must_use]
    pub fn unverified(mut self) -> Self {
        self.verify = false;
        self
    }

    /// Takes indices in the order of the description's `shape` from here on. This reads the
    /// description.
    ///
    /// # Errors
    ///
    /// When the description is at fault.
    pub fn in_shape_order(mut self) -> Result<Self> {
        let description = self.pack.description(&self.name)?;
        self.order = description.map_or(Order::Column, |ndarray| ndarray.order());
        Ok(self)
    }

    /// The header; for a stored member nothing else is read.
    ///
    /// # Errors
    ///
    /// When the member cannot be read, or is no RawArray.
    pub fn header(&self) -> Result<Header> {
        let mut reader = self.pack.archive.read(&self.member)?;
        let mut prefix = Vec::new();
        let mut wanted = FIXED_LEN;
        while prefix.len() < wanted {
            let missing = u64::try_from(wanted.saturating_sub(prefix.len())).unwrap_or(0);
            let count = (&mut reader)
                .take(missing)
                .read_to_end(&mut prefix)
                .map_err(|error| self.pack.damaged(data_finding(&self.name, &error)))?;
            if count == 0 {
                break;
            }
            wanted = Header::len_from_prefix(&prefix).map_err(|error| self.undecodable(error))?;
        }
        let header = Header::parse(&prefix).map_err(|error| self.undecodable(error))?;
        header.check_file_len(self.member.size).map_err(|error| self.undecodable(error))?;
        Ok(header)
    }

    /// The description.
    ///
    /// # Errors
    ///
    /// When it is at fault.
    pub fn description(&self) -> Result<Option<Ndarray>> {
        self.pack.description(&self.name)
    }

    /// The extents, in the order that indices are taken in.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::header`].
    pub fn shape(&self) -> Result<Vec<u64>> {
        Ok(pack::shape_of(self.header()?.dims(), self.order))
    }

    /// Bytes of the whole array file.
    pub fn file_size(&self) -> u64 {
        self.member.size
    }

    /// How the container keeps it.
    pub fn method(&self) -> Method {
        self.member.method
    }

    /// The SHA-256 digest that the manifest gives for it.
    ///
    /// # Errors
    ///
    /// When the manifest is damaged.
    pub fn listed_digest(&self) -> Result<Option<Digest>> {
        self.pack.listed_digest(&self.member)
    }

    /// Where the data begins in the archive file, for a stored member: `offset` of the header, and of
    /// the first element.
    ///
    /// # Errors
    ///
    /// When the member cannot be read.
    pub fn offsets(&self) -> Result<Option<(u64, u64)>> {
        let Some(start) = self.pack.archive.data_offset(&self.member)? else { return Ok(None) };
        Ok(Some((start, start.saturating_add(self.header()?.header_len()))))
    }

    /// The whole array. Its elements are not copied on the way from the file, and lie in memory as in
    /// the file, first index fastest.
    ///
    /// # Errors
    ///
    /// When the elements are not of type `T`, the member is damaged, or the manifest says otherwise.
    pub fn read<T: Pod>(&self) -> Result<ArrayD<T>> {
        let array = ArrayD::try_from(self.read_raw::<T>()?)
            .map_err(|error| self.mismatch(error.to_string()))?;
        Ok(self.ordered(array))
    }

    /// The whole array with its dims and trailing metadata, as it stands in the file.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`].
    pub fn read_raw<T: Pod>(&self) -> Result<RawArray<T>> {
        self.read_with(|reader, len| match len {
            Some(len) => RawArray::read_sized(reader, len),
            None => RawArray::read_from(reader),
        })
    }

    /// The whole array, of whatever type the file says.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`].
    pub fn read_any(&self) -> Result<AnyArray> {
        self.read_with(|reader, len| match len {
            Some(len) => AnyArray::read_sized(reader, len),
            None => AnyArray::read_from(reader),
        })
    }

    /// Reads the elements into `out`, first index of the file fastest.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`], and when `out` has another length than the array.
    pub fn read_into<T: Pod>(&self, out: &mut [T]) -> Result<()> {
        let header = self.header()?;
        header.check_type::<T>().map_err(|error| self.undecodable(error))?;
        let expected = header.elements();
        if u64::try_from(out.len()).ok() != Some(expected) {
            let found = out.len();
            return Err(self.mismatch(format!(
                "the array has {expected} elements, the slice to read into {found}"
            )));
        }
        if header.is_encoded() {
            let array = self.read_raw::<T>()?;
            out.copy_from_slice(array.data());
            return Ok(());
        }
        self.read_with(|reader, _| {
            let header = Header::read(reader)?;
            let bytes = bytemuck::cast_slice_mut(out);
            reader.read_exact(bytes)?;
            header.swap_to_native(bytes)?;
            Ok(())
        })
    }

    /// A part of the array, by [`ndarray::s!`] or [`parse_slice`](ra::parse_slice). Of a stored member
    /// only the bytes of the slice are read, so they are not held against the manifest.
    ///
    /// # Errors
    ///
    /// When the slice does not fit, the elements are not of type `T`, or the member is damaged.
    pub fn slice<T: Pod>(&self, slice: impl AsRef<[SliceInfoElem]>) -> Result<ArrayD<T>> {
        let slice = self.in_file_order(slice.as_ref());
        let header = self.header()?;
        let array = match self.stored(&header)? {
            Some((file, data)) => {
                let read_at =
                    |at: u64, out: &mut [u8]| Ok(file.read_exact_at(out, data.saturating_add(at))?);
                ra::read_slice(&header, self.member.size, &slice, read_at)
                    .map_err(|error| self.unreadable(error))?
            }
            None => {
                let whole = ArrayD::<T>::try_from(self.read_raw::<T>()?)
                    .map_err(|error| self.mismatch(error.to_string()))?;
                let part = checked_slice(&whole, &slice)
                    .map_err(|error| self.mismatch(error.to_string()))?;
                fortran(&part)
            }
        };
        Ok(self.ordered(array))
    }

    /// A part of the array, of whatever type the file says, in the order of the file.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::slice`].
    pub fn slice_any(&self, slice: impl AsRef<[SliceInfoElem]>) -> Result<AnyArray> {
        let slice = self.in_file_order(slice.as_ref());
        let header = self.header()?;
        match self.stored(&header)? {
            Some((file, data)) => {
                let read_at =
                    |at: u64, out: &mut [u8]| Ok(file.read_exact_at(out, data.saturating_add(at))?);
                AnyArray::read_slice(&header, self.member.size, &slice, read_at)
                    .map_err(|error| self.unreadable(error))
            }
            None => {
                self.read_any()?.slice(&slice).map_err(|error| self.mismatch(error.to_string()))
            }
        }
    }

    /// The array where it lies in a [mapped](Pack::map) archive, without reading or copying it. It is
    /// not held against the manifest.
    ///
    /// # Errors
    ///
    /// When the pack is not mapped, the member is compressed, or its elements are not of type `T`, in
    /// this machine's byte order and aligned. In archives that ra-pack makes, stored arrays are
    /// aligned to 64 bytes.
    pub fn view<T: Pod>(&self) -> Result<ArrayViewD<'a, T>> {
        let pack: &'a Pack = self.pack;
        let Some(map) = &pack.map else {
            return Err(Error::Unsupported(
                "a view needs a pack that is opened by `Pack::map`".to_owned(),
            ));
        };
        let Some(start) = pack.archive.data_offset(&self.member)? else {
            return Err(self.mismatch("a compressed array cannot be viewed; read it".to_owned()));
        };
        let end = start.saturating_add(self.member.size);
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let bytes = range.and_then(|(start, end)| map.bytes().get(start..end));
        let bytes = bytes.ok_or_else(|| {
            let finding = Finding::new(Code::BadMemberData, "the archive became shorter");
            pack.damaged(finding.in_member(self.name.clone()))
        })?;
        let view = ra::view(bytes).map_err(|error| self.undecodable(error))?;
        Ok(if self.order == Order::Row { view.reversed_axes() } else { view })
    }

    /// The elements in the order of the shape: reversing the axes moves no element.
    fn ordered<T>(&self, array: ArrayD<T>) -> ArrayD<T> {
        if self.order == Order::Row { array.reversed_axes() } else { array }
    }

    fn in_file_order(&self, slice: &[SliceInfoElem]) -> Vec<SliceInfoElem> {
        let mut slice = slice.to_vec();
        if self.order == Order::Row {
            slice.reverse();
        }
        slice
    }

    /// The file that holds the elements as they are, and where the first one lies.
    fn stored(&self, header: &Header) -> Result<Option<(Arc<File>, u64)>> {
        if header.is_encoded() {
            return Ok(None);
        }
        let stored = self.pack.archive.stored(&self.member)?;
        Ok(stored.map(|(file, start)| (file, start.saturating_add(header.header_len()))))
    }

    /// Reads the whole member by `read`, which gets the length of the file where it is more than a
    /// claim, and holds what passed against the manifest.
    fn read_with<R>(
        &self,
        read: impl FnOnce(&mut Hashing, Option<u64>) -> Result<R, ReadError>,
    ) -> Result<R> {
        let inner = self.pack.archive.read(&self.member)?;
        let hasher = self.verify.then(|| Hasher::new(Algorithm::Sha256));
        let mut reader = Hashing { inner, hasher };
        let len = (self.member.method == Method::Stored).then_some(self.member.size);
        let result = read(&mut reader, len).map_err(|error| self.unreadable(error))?;
        // The rest is read too: the container checks its sum at the end.
        io::copy(&mut reader, &mut io::sink())
            .map_err(|error| self.pack.damaged(data_finding(&self.name, &error)))?;
        if let Some(hasher) = reader.hasher {
            self.pack.must_vouch(&self.member, &hasher.finish())?;
        }
        Ok(result)
    }

    fn unreadable(&self, error: ReadError) -> Error {
        match error {
            ReadError::Decode(source) => self.undecodable(source),
            ReadError::Slice(error) => self.mismatch(error.to_string()),
            ReadError::Io(error) => self.pack.damaged(data_finding(&self.name, &error)),
        }
    }

    fn undecodable(&self, source: ra::DecodeError) -> Error {
        Error::Array { name: self.name.clone(), source }
    }

    fn mismatch(&self, reason: String) -> Error {
        Error::Mismatch { name: self.name.clone(), reason }
    }
}

/// A copy with the first index fastest, as everything else that is read.
fn fortran<T: Clone>(part: &ArrayViewD<'_, T>) -> ArrayD<T> {
    let elements = part.t().iter().cloned().collect();
    let reversed: Vec<usize> = part.shape().iter().rev().copied().collect();
    ArrayD::from_shape_vec(reversed, elements)
        .map_or_else(|_| part.to_owned(), ArrayD::reversed_axes)
}

/// Hashes what is read through it.
struct Hashing {
    inner: crate::archive::MemberReader,
    hasher: Option<Hasher>,
}

impl Read for Hashing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(out.get(..count).unwrap_or_default());
        }
        Ok(count)
    }
}
