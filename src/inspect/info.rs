//! Facts about an array or a pack from directories, headers, descriptions and manifests. Data is not read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::archive::{Archive, Container, MemberKind, Method};
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::finding::{self, Finding};
use crate::fs::{self, File};
use crate::inspect::list::listed_array;
use crate::inspect::scan::PackScan;
use crate::ndl::{Attribute, Document, Endian, Ndarray, Order, by_name_in_ndl};
use crate::pack::{self, CoordinateInfo, EXTERNAL_MANIFEST_SUFFIX, Layout, Placement, shape_of};
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{ElementType, Flags, Header};
use crate::read::manifests::{
    MAX_MANIFEST, ManifestText, NamedManifest, PresentFiles, RootFiles, rules,
};
use crate::read::open::Pack;
use crate::read::single_file;

/// Options for [`info`]: threads and progress.
#[derive(Debug, Clone, Default)]
pub struct InfoOptions {
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// Facts about a pack.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PackInfo {
    /// Path of the archive or directory, as given.
    pub target: String,
    /// The container of the target.
    pub container: Container,
    /// The layout of the pack.
    pub layout: Layout,
    /// Version of the pack format that a generated `manifest.yaml` states; absent in other packs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format_version: Option<String>,
    /// Attributes of the pack, such as its title, as in an NDL document; absent if there are none.
    #[cfg_attr(test, schemars(with = "Option<Document>"))]
    #[serde(serialize_with = "by_name_in_ndl", skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Attribute>,
    /// Number of files.
    pub files: u64,
    /// Size of all files in bytes.
    pub bytes: u64,
    /// Bytes that all files take in the archive.
    pub packed_bytes: u64,
    /// Number of files that are arrays.
    pub arrays: u64,
    /// Size of these files in bytes.
    pub array_bytes: u64,
    /// Number of directories with arrays; each is a group in the pack's description.
    pub groups: u64,
    /// Number of arrays of each element type, sorted by its name. The type `unreadable` (`None`) counts arrays whose
    /// header cannot be read.
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, u64>"))]
    #[serde(serialize_with = "by_name")]
    pub types: Vec<(Option<ElementType>, u64)>,
    /// The same with the names of types for people, such as `text[7]` for a `user28`; see
    /// [`type_name`](crate::read::type_name()).
    #[serde(skip)]
    pub named_types: Vec<(String, u64)>,
    /// Number of arrays without a description.
    pub undescribed: u64,
    /// Coordinates that dimensions of arrays refer to, sorted by name.
    pub coordinates: Vec<CoordinateInfo>,
    /// Manifests in the pack and next to it.
    pub manifests: Vec<ManifestInfo>,
    /// Problems of the container, headers, descriptions and manifests that can be found without reading contents;
    /// absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A manifest.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ManifestInfo {
    /// Its name in the pack, or its path if it is next to the archive.
    pub name: String,
    /// Algorithm of its digests.
    pub algorithm: Algorithm,
    /// Number of files that it lists.
    pub entries: u64,
    /// Whether it is next to the archive.
    pub outside: bool,
    /// Whether it has the same entries as the manifest in the pack; absent if there is none with this algorithm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agrees: Option<bool>,
}

/// Reads the facts about a pack.
///
/// # Errors
///
/// [`Error::Io`] if the target cannot be read, and [`Error::NotAPack`] if it is not a pack.
///
/// ```
/// use ra_pack::info;
/// use ra_pack::inspect::InfoOptions;
///
/// let pack = info("examples/experiment", &InfoOptions::default())?;
/// assert_eq!((pack.arrays, pack.undescribed), (10, 0));
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn info(target: impl AsRef<Path>, options: &InfoOptions) -> Result<PackInfo> {
    let target = target.as_ref();
    let archive = Archive::open_watched(target, &options.progress)?;
    let container = archive.container();
    let PackScan { placement, members, mut contents, findings, .. } =
        PackScan::of_contents(&archive, pipeline::jobs(options.jobs))?;
    let files = || members.iter().filter(|member| member.kind == MemberKind::File);
    let (mut types, mut named_types) = (BTreeMap::<_, u64>::new(), BTreeMap::<_, u64>::new());
    let arrays = contents.arrays.keys();
    for array in arrays.filter_map(|path| listed_array(&contents, path.as_str())) {
        *types.entry(array.element.ok()).or_default() += 1;
        *named_types.entry(array.type_name()).or_default() += 1;
    }
    let mut types: Vec<_> = types.into_iter().collect();
    types.sort_by_cached_key(|(element, _)| type_name(*element));
    let groups: BTreeSet<_> = contents.arrays.keys().map(|path| path.parent()).collect();
    let is_array = |name: &str| placement.payload(name).is_some_and(|name| contents.is_array(name));
    let arrays = files().filter(|member| is_array(&member.name));
    let mut info = PackInfo {
        target: archive.path().to_string_lossy().into_owned(),
        container,
        layout: placement.layout,
        format_version: contents.format_version().map(str::to_owned),
        attributes: contents.own_attributes(),
        files: files().count() as u64,
        bytes: files().map(|member| member.size).fold(0, u64::saturating_add),
        packed_bytes: files().map(|member| member.packed_size).fold(0, u64::saturating_add),
        arrays: contents.arrays.len() as u64,
        array_bytes: arrays.map(|member| member.size).fold(0, u64::saturating_add),
        groups: groups.len() as u64,
        types,
        named_types: named_types.into_iter().collect(),
        undescribed: contents.undescribed().count() as u64,
        coordinates: contents.coordinates(),
        manifests: Vec::new(),
        findings,
    };
    contents.forget_repetition();
    info.findings.extend(contents.findings());
    drop(contents);
    // Only these facts of the members are kept, to save memory.
    let files = members.into_iter().filter(|member| member.kind == MemberKind::File);
    let mut files: Vec<Arc<str>> = files.map(|member| member.name).collect();
    files.shrink_to_fit();
    let pack = Pack::of_archive(archive, placement.clone());
    let files: Vec<&str> = files.iter().filter_map(|name| placement.relative(name)).collect();
    info.manifests = check_manifests(target, &pack, &placement, &files, &mut info.findings)?;
    finding::cut(&mut info.findings);
    Ok(info)
}

fn type_name(element: Option<ElementType>) -> String {
    element.map_or("unreadable".to_owned(), |element| element.to_string())
}

fn by_name<S: Serializer>(
    types: &[(Option<ElementType>, u64)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(types.iter().map(|(element, count)| (type_name(*element), count)))
}

/// Compares every manifest with the names of the files, and the manifest next to the archive with the one inside.
fn check_manifests(
    target: &Path,
    pack: &Pack,
    placement: &Placement,
    files: &[&str],
    findings: &mut Vec<Finding>,
) -> Result<Vec<ManifestInfo>> {
    let outside = fs::beside(target, EXTERNAL_MANIFEST_SUFFIX);
    let has_outside = fs::exists(&outside);
    let mut is_same = false;
    let mut inside = Vec::new();
    for name in files {
        let Some(algorithm) = pack::manifest_algorithm(name) else { continue };
        let text = match RootFiles::read(pack, name) {
            Ok(text) => text.unwrap_or_default(),
            Err(Error::Damaged { finding, .. }) => {
                findings.push(*finding);
                continue;
            }
            Err(error) => return Err(error),
        };
        // An identical text is not parsed twice.
        if has_outside && algorithm == Algorithm::Sha256 {
            is_same = fs::holds(&outside, &text)?;
        }
        if let Ok(text) = ManifestText::decode(*name, algorithm, rules(pack)?, text) {
            inside.push(text.parse(findings));
        }
    }
    let strongest = inside.iter().map(|named| named.manifest.algorithm()).max();
    let before = findings.len();
    let present: PresentFiles<'_> = files.iter().map(|name| (*name, None)).collect();
    for named in &inside {
        // Only the strongest manifest of a plain pack must be complete; a bag has its own rules.
        let is_complete = Some(named.manifest.algorithm()) == strongest
            && (placement.layout == Layout::Plain || inside.len() == 1);
        let must_list = |name: &str| is_complete && placement.is_payload(name);
        named.check(&present, must_list, findings);
    }
    let info = |named: &NamedManifest, outside, agrees| ManifestInfo {
        name: named.name.clone(),
        algorithm: named.manifest.algorithm(),
        entries: named.manifest.entries().len() as u64,
        outside,
        agrees,
    };
    let mut all: Vec<_> = inside.iter().map(|named| info(named, false, None)).collect();
    if has_outside {
        let name = outside.to_string_lossy().into_owned();
        let like = inside.iter().find(|named| named.manifest.algorithm() == Algorithm::Sha256);
        all.push(match like {
            Some(like) if is_same => ManifestInfo { name, ..info(like, true, Some(true)) },
            like => {
                let (text, names) = (fs::read_limited(&outside, MAX_MANIFEST)?, rules(pack)?.names);
                let outside = ManifestText::outside(name, Algorithm::Sha256, names, text);
                let outside = outside.parse(findings);
                let compared = findings.len();
                like.inspect(|like| like.compare(&outside, findings));
                info(&outside, true, like.map(|_| findings.len() == compared))
            }
        });
    }
    let of_manifests = findings.get_mut(before..).unwrap_or_default();
    finding::rename(of_manifests, |name| placement.shown_relative(name));
    Ok(all)
}

/// Facts about an array. The fields from `flags` to `dims` are those of the RawArray header.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArrayInfo {
    /// Path of the file, or name of the member.
    pub name: String,
    /// Byte order of the numbers: little-endian or big-endian.
    pub endian: Endian,
    /// Element type, such as `complex64`.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type")]
    pub element: ElementType,
    /// Flags of the header as one number.
    pub flags: u64,
    /// Code of the element type.
    pub eltype: u64,
    /// Size of one element in bytes.
    pub elbyte: u64,
    /// Size of the data section in bytes, as in the header.
    pub size: u64,
    /// Number of dimensions.
    pub ndims: u64,
    /// Length of each dimension in file order: the first index is the fastest.
    pub dims: Vec<u64>,
    /// Offset of the data in the file, in bytes.
    pub data_offset: u64,
    /// Size of the whole file in bytes.
    pub bytes: u64,
    /// Compression of the array in the archive; absent for a single file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Offset of the header in the archive, in bytes; absent if the member is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_header_offset: Option<u64>,
    /// Offset of the data in the archive, in bytes; absent if the member is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_data_offset: Option<u64>,
    /// Length of each dimension in the order of the description's shape; the dims for a file without a description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
    /// The fastest index in the file; absent without a description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// The description as an NDL document, which the schema `ndl` defines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Document>,
    /// SHA-256 digest of the file in the manifest.
    #[cfg_attr(test, schemars(with = "Option<String>", regex(pattern = "^[0-9a-f]{64}$")))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    /// The header.
    #[serde(skip)]
    pub header: Header,
    /// Name of the member in the archive. In a bag it is longer than `name`.
    #[serde(skip)]
    pub archive_name: Option<String>,
    /// File that contains the bytes of the array file unchanged, and their offset in it.
    #[serde(skip)]
    pub location: Option<(PathBuf, u64)>,
}

/// Returns the facts about the array file at `path`.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read, and [`Error::Array`] or [`Error::NotAnArray`] if it is not a RawArray
/// file.
pub fn array_file_info(path: impl AsRef<Path>) -> Result<ArrayInfo> {
    let path = path.as_ref();
    let mut file = File::open(path)?;
    let len = file.len()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let unreadable = |error| Error::array_file(path, error);
    let header = Header::read(&mut file).map_err(unreadable)?;
    header.check_file_len(len).map_err(|error| unreadable(error.into()))?;
    let mut info = ArrayInfo::new(name, &header, len);
    info.shape = Some(header.dims().to_vec());
    info.location = Some((path.to_owned(), 0));
    if let Some(ndarray) = single_file::description_beside(path)? {
        info.describe(ndarray);
    }
    Ok(info)
}

/// Returns the facts about one array of a pack. [`Pack::resolve`] completes its name.
///
/// # Errors
///
/// As [`Pack::resolve`], and [`Error::Damaged`] if the description is not valid.
pub fn array_info(target: impl AsRef<Path>, member: &str) -> Result<ArrayInfo> {
    let target = target.as_ref();
    let pack = Pack::open(target)?;
    let member = pack.resolve(member)?;
    let array = pack.array(&member)?;
    let header = array.header()?;
    let mut info = ArrayInfo::new(member, header, array.file_size());
    info.method = Some(array.method());
    let offsets = array.offsets()?;
    info.archive_header_offset = offsets.map(|(header, _)| header);
    info.archive_data_offset = offsets.map(|(_, data)| data);
    info.archive_name = Some(array.archive_name().to_owned());
    info.location = match pack.container() {
        Container::Directory => Some((pack.archive().path().join(array.archive_name()), 0)),
        _ => offsets.map(|(header, _)| (target.to_owned(), header)),
    };
    let listed = array.listed_digest()?;
    info.sha256 = listed.filter(|digest| digest.algorithm() == Algorithm::Sha256);
    if let Some(ndarray) = array.description()? {
        info.describe(ndarray);
    }
    Ok(info)
}

impl ArrayInfo {
    fn new(name: String, header: &Header, bytes: u64) -> Self {
        let element = header.element();
        let is_big = header.flags().contains(Flags::BIG_ENDIAN);
        Self {
            name,
            endian: if is_big { Endian::Big } else { Endian::Little },
            element,
            flags: header.flags().bits(),
            eltype: element.eltype(),
            elbyte: element.elbyte(),
            size: header.stored_len(),
            ndims: header.ndims() as u64,
            dims: header.dims().to_vec(),
            data_offset: header.header_len(),
            bytes,
            method: None,
            archive_header_offset: None,
            archive_data_offset: None,
            shape: None,
            order: None,
            description: None,
            sha256: None,
            header: header.clone(),
            archive_name: None,
            location: None,
        }
    }

    fn describe(&mut self, ndarray: Ndarray) {
        let order = ndarray.order();
        self.shape = Some(shape_of(&self.dims, order));
        self.order = Some(order);
        self.description = Some(Document::of(ndarray, false));
    }
}
