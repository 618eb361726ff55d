//! Everything about one array or one pack; only directories, headers and descriptions are read.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::glance::{Glance, glance};
use super::lone;
use super::open::Pack;
use crate::archive::{Archive, Container, MemberKind};
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs::{self, File};
use crate::ndl::{Document, Order};
use crate::pack::{self, Layout, shape_of};
use crate::parallel;
use crate::ra::{Flags, Header};

/// One array.
#[derive(Debug, Clone, Serialize)]
pub struct ArrayInfo {
    /// The file or member.
    pub name: String,
    /// `little` or `big`.
    pub endian: &'static str,
    /// The type of its elements, such as `complex64`.
    #[serde(rename = "type")]
    pub element: String,
    /// The header's flags.
    pub flags: u64,
    /// The code of the element type.
    pub eltype: u64,
    /// Bytes of one element.
    pub elbyte: u64,
    /// Bytes of the data section, as the header says.
    pub size: u64,
    /// Number of dims.
    pub ndims: u64,
    /// Extents in file order, first index fastest.
    pub dims: Vec<u64>,
    /// The byte of the file at which the data begins.
    pub data_offset: u64,
    /// Bytes of the whole file.
    pub file_size: u64,
    /// How the archive keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The byte of the archive at which the data begins, for a stored member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_data_offset: Option<u64>,
    /// Extents in the order of the description's shape; without a description, the dims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
    /// `column`, `row` or `row-unreversed`, for a described array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<&'static str>,
    /// The description, as a document of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Document>,
    /// The SHA-256 digest in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// One pack.
#[derive(Debug, Clone, Serialize)]
pub struct PackInfo {
    /// The archive or directory.
    pub name: String,
    /// What it is.
    pub container: Container,
    /// How it is laid out.
    pub layout: Layout,
    /// Files.
    pub files: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Arrays.
    pub arrays: u64,
    /// How many arrays have elements of each type.
    pub types: BTreeMap<String, u64>,
    /// Arrays without a description.
    pub undescribed: u64,
    /// What is wrong with the container, headers and descriptions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Everything about the array file at `path`.
///
/// # Errors
///
/// When it cannot be read, or is no RawArray.
pub fn array_file_info(path: &Path) -> Result<ArrayInfo> {
    let mut file = File::open(path)?;
    let len = file.len()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let unreadable = |error| Error::array_file(path, error);
    let header = Header::read(&mut file).map_err(unreadable)?;
    header.check_file_len(len).map_err(|error| unreadable(error.into()))?;
    let mut info = ArrayInfo::new(name, &header, len);
    let order = lone::order_beside(path)?;
    info.shape = Some(shape_of(header.dims(), order.unwrap_or_default()));
    info.order = order.map(Order::word);
    Ok(info)
}

/// Everything about one array of a pack.
///
/// # Errors
///
/// As [`Pack::array`], and when its description is at fault.
pub fn array_info(target: &Path, member: &str) -> Result<ArrayInfo> {
    let pack = Pack::open(target)?;
    let array = pack.array(member)?;
    let header = array.header()?;
    let mut info = ArrayInfo::new(member.to_owned(), &header, array.file_size());
    info.method = Some(array.method().to_string());
    info.archive_data_offset = array.offsets()?.map(|(_, data)| data);
    let listed = array.listed_digest()?;
    info.sha256 = listed
        .filter(|digest| digest.algorithm() == Algorithm::Sha256)
        .map(|digest| digest.to_string());
    if let Some(ndarray) = array.description()? {
        let order = ndarray.order();
        info.shape = Some(shape_of(header.dims(), order));
        info.order = Some(order.word());
        let mut document = Document::flat();
        if let Some(root) = document.groups.first_mut() {
            root.ndarrays.push(ndarray);
        }
        info.description = Some(document);
    }
    Ok(info)
}

impl ArrayInfo {
    fn new(name: String, header: &Header, file_size: u64) -> Self {
        let element = header.element();
        let is_big = header.flags().contains(Flags::BIG_ENDIAN);
        Self {
            name,
            endian: if is_big { "big" } else { "little" },
            element: element.to_string(),
            flags: header.flags().bits(),
            eltype: element.eltype(),
            elbyte: element.elbyte(),
            size: header.stored_len(),
            ndims: u64::try_from(header.ndims()).unwrap_or(u64::MAX),
            dims: header.dims().to_vec(),
            data_offset: header.header_len(),
            file_size,
            method: None,
            archive_data_offset: None,
            shape: None,
            order: None,
            description: None,
            sha256: None,
        }
    }
}

/// Whether `path` is an array file rather than a pack.
///
/// # Errors
///
/// When there is nothing at `path`.
pub fn is_array_file(path: &Path) -> Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_named = crate::path::is_sound(name.as_ref()) && pack::is_array(name.as_ref());
    Ok(!fs::is_directory(path)? && is_named)
}

/// What a pack holds.
///
/// # Errors
///
/// When it cannot be read, or is no archive.
pub fn pack_info(target: &Path) -> Result<PackInfo> {
    let archive = Archive::open(target)?;
    let Glance { placement, members, mut contents, mut findings } =
        glance(&archive, parallel::default_jobs())?;
    let files = members.iter().filter(|member| member.kind == MemberKind::File);
    let mut types = BTreeMap::new();
    for facts in contents.arrays.values() {
        let name = match &facts.header {
            Ok(header) => header.element().to_string(),
            Err(_) => "unreadable".to_owned(),
        };
        let count: &mut u64 = types.entry(name).or_default();
        *count = count.saturating_add(1);
    }
    findings.extend(contents.findings_sparingly());
    let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Ok(PackInfo {
        name: target.to_string_lossy().into_owned(),
        container: archive.container(),
        layout: placement.layout,
        files: wide(files.clone().count()),
        bytes: files.fold(0, |sum, member| member.size.saturating_add(sum)),
        arrays: wide(contents.arrays.len()),
        types,
        undescribed: wide(contents.undescribed().count()),
        findings,
    })
}
