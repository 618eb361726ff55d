//! Facts about one array or one pack without reading data: only directories, headers, descriptions and manifests are
//! read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::manifests::{
    self, MAX_MANIFEST, ManifestText, NamedManifest, PresentFiles, RootFiles, rules,
};
use super::open::Pack;
use super::scan::{PackScan, ScanFor};
use super::single_file;
use super::verify::is_payload;
use crate::archive::{Archive, Container, MemberKind, Method};
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::finding::{self, Finding};
use crate::fs::{self, File};
use crate::ndl::{Attribute, Document, Endian, Ndarray, Order, by_name_in_ndl};
use crate::pack::{self, CoordinateInfo, EXTERNAL_MANIFEST_SUFFIX, Layout, Placement, shape_of};
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{ElementType, Flags, Header};

/// The contents of a pack.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PackInfo {
    /// The archive or directory, by its path as given.
    pub name: String,
    /// The container of the target.
    pub container: Container,
    /// The layout of the pack.
    pub layout: Layout,
    /// The attributes of the pack, such as its title, as in an NDL document; absent when there are none.
    #[cfg_attr(test, schemars(with = "Option<Document>"))]
    #[serde(serialize_with = "by_name_in_ndl", skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Attribute>,
    /// The number of files.
    pub files: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes that all files take in the archive.
    pub packed_bytes: u64,
    /// The number of files that are arrays.
    pub arrays: u64,
    /// Bytes of the files that are arrays.
    pub array_bytes: u64,
    /// The number of directories with arrays; each is a group of the pack's description.
    pub groups: u64,
    /// The number of arrays by the type of their elements, sorted by its name; under `unreadable`, which is `None`, those
    /// whose header cannot be read.
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, u64>"))]
    #[serde(serialize_with = "by_name")]
    pub types: Vec<(Option<ElementType>, u64)>,
    /// Arrays without a description.
    pub undescribed: u64,
    /// The coordinates that dimensions of arrays are named by, sorted by name.
    pub coordinates: Vec<CoordinateInfo>,
    /// The lists of digests in the pack and beside it.
    pub manifests: Vec<ManifestInfo>,
    /// The findings about the container, headers, descriptions and manifests, as far as they can be known without reading
    /// contents; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A list of digests.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ManifestInfo {
    /// Its name in the pack, or its path when it lies beside the archive.
    pub name: String,
    /// The algorithm of its digests.
    pub algorithm: Algorithm,
    /// The number of files that it lists.
    pub entries: u64,
    /// Whether it lies beside the archive.
    pub outside: bool,
    /// Whether it says the same as the one inside; absent when there is none of its kind to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agrees: Option<bool>,
}

/// Reads what a pack holds; `progress` is told how far the reading is.
///
/// # Errors
///
/// When it cannot be read, or is no archive.
///
/// ```
/// use ra_pack::{Progress, info};
///
/// let pack = info("examples/experiment", &Progress::default())?;
/// assert_eq!((pack.arrays, pack.undescribed), (10, 0));
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn info(target: impl AsRef<Path>, progress: &Progress) -> Result<PackInfo> {
    let target = target.as_ref();
    let archive = Archive::open_watched(target, progress)?;
    let container = archive.container();
    let PackScan { placement, members, mut contents, findings, .. } =
        PackScan::new(&archive, pipeline::default_jobs(), ScanFor::Contents)?;
    let files = || members.iter().filter(|member| member.kind == MemberKind::File);
    let mut types = BTreeMap::<_, u64>::new();
    for facts in contents.arrays.values() {
        *types.entry(facts.header.as_ref().ok().map(Header::element)).or_default() += 1;
    }
    let mut types: Vec<_> = types.into_iter().collect();
    types.sort_by_cached_key(|(element, _)| type_name(*element));
    let groups: BTreeSet<_> = contents.arrays.keys().map(|path| path.parent()).collect();
    let is_array = |name: &str| placement.payload(name).is_some_and(|name| contents.is_array(name));
    let arrays = files().filter(|member| is_array(&member.name));
    let mut info = PackInfo {
        name: target.to_string_lossy().into_owned(),
        container,
        layout: placement.layout,
        attributes: contents.own_attributes(),
        files: files().count() as u64,
        bytes: files().map(|member| member.size).fold(0, u64::saturating_add),
        packed_bytes: files().map(|member| member.packed_size).fold(0, u64::saturating_add),
        arrays: contents.arrays.len() as u64,
        array_bytes: arrays.map(|member| member.size).fold(0, u64::saturating_add),
        groups: groups.len() as u64,
        types,
        undescribed: contents.undescribed().count() as u64,
        coordinates: contents.coordinates(),
        manifests: Vec::new(),
        findings,
    };
    info.findings.extend(contents.findings_sparingly());
    drop(contents);
    // In the place of the members, of which no more is needed.
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

/// Compares every manifest with the names of the files, and the manifest beside the archive with the one inside.
fn check_manifests(
    target: &Path,
    pack: &Pack,
    placement: &Placement,
    files: &[&str],
    findings: &mut Vec<Finding>,
) -> Result<Vec<ManifestInfo>> {
    let outside = manifests::beside(target, EXTERNAL_MANIFEST_SUFFIX);
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
        // The same text is not parsed twice.
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
        // Only the strongest manifest of a plain pack has to be complete; a bag has rules of its own.
        let is_complete = Some(named.manifest.algorithm()) == strongest
            && (placement.layout == Layout::Plain || inside.len() == 1);
        let must_list = |name: &str| is_complete && is_payload(placement, name);
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

/// Everything about one array. The fields from `flags` to `dims` are those of the RawArray header.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArrayInfo {
    /// The file or member.
    pub name: String,
    /// The order of the bytes of a number: the least first, or the greatest.
    pub endian: Endian,
    /// The type of its elements, such as `complex64`.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type")]
    pub element: ElementType,
    /// The header's flags as one number.
    pub flags: u64,
    /// The code of the element type.
    pub eltype: u64,
    /// Bytes of one element.
    pub elbyte: u64,
    /// Bytes of the data section, as the header says.
    pub size: u64,
    /// The number of dims.
    pub ndims: u64,
    /// The extent of each dimension in file order, the first index the fastest.
    pub dims: Vec<u64>,
    /// The byte of the file at which the data begins.
    pub data_offset: u64,
    /// Bytes of the whole file.
    pub file_size: u64,
    /// The compression of the array in the archive; absent for a single file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// The byte of the archive at which the header begins, when the member is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_header_offset: Option<u64>,
    /// The byte of the archive at which the data begins, when the member is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_data_offset: Option<u64>,
    /// The extent of each dimension in the order of the description's shape; of a file without a description, the dims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
    /// The index that is the fastest in the file, when there is a description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// The description, as an NDL document of its own: the schema `ndl` describes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Document>,
    /// The SHA-256 digest of the file that the manifest lists.
    #[cfg_attr(test, schemars(with = "Option<String>", regex(pattern = "^[0-9a-f]{64}$")))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    /// The header as it was read.
    #[serde(skip)]
    pub header: Header,
    /// The name of the member in the archive, which in a bag is longer.
    #[serde(skip)]
    pub archive_name: Option<String>,
    /// Where the bytes of the array file are, as they are: a file, and the byte of it at which they begin.
    #[serde(skip)]
    pub bytes: Option<(PathBuf, u64)>,
}

/// Everything about the array file at `path`.
///
/// # Errors
///
/// When it cannot be read, or is no RawArray.
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
    info.bytes = Some((path.to_owned(), 0));
    if let Some(ndarray) = single_file::description_beside(path)? {
        info.describe(ndarray);
    }
    Ok(info)
}

/// Everything about one array of a pack, by the name that [`Pack::resolve`] makes of `member`.
///
/// # Errors
///
/// As [`Pack::resolve`], and when its description is at fault.
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
    info.bytes = match pack.container() {
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
    fn new(name: String, header: &Header, file_size: u64) -> Self {
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
            file_size,
            method: None,
            archive_header_offset: None,
            archive_data_offset: None,
            shape: None,
            order: None,
            description: None,
            sha256: None,
            header: header.clone(),
            archive_name: None,
            bytes: None,
        }
    }

    fn describe(&mut self, ndarray: Ndarray) {
        let order = ndarray.order();
        self.shape = Some(shape_of(&self.dims, order));
        self.order = Some(order);
        self.description = Some(Document::of(ndarray, false));
    }
}
