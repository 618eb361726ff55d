//! Everything about one array: its header, where its bytes are, what is said of it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::lone;
use super::super::open::Pack;
use crate::archive::{Archive, Container};
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::fs::{self, File};
use crate::ndl::{Document, Ndarray};
use crate::pack::{self, shape_of};
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
    /// The byte of the archive at which the header begins, for a stored member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_header_offset: Option<u64>,
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
pub fn array_file_info(path: &Path) -> Result<ArrayInfo> {
    let mut file = File::open(path)?;
    let len = file.len()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let unreadable = |error| Error::array_file(path, error);
    let header = Header::read(&mut file).map_err(unreadable)?;
    header.check_file_len(len).map_err(|error| unreadable(error.into()))?;
    let mut info = ArrayInfo::new(name, &header, len);
    info.shape = Some(header.dims().to_vec());
    info.bytes = Some((path.to_owned(), 0));
    if let Some(ndarray) = lone::description_beside(path)? {
        info.describe(ndarray);
    }
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
    let offsets = array.offsets()?;
    info.archive_header_offset = offsets.map(|(header, _)| header);
    info.archive_data_offset = offsets.map(|(_, data)| data);
    info.archive_name = Some(array.archive_name().to_owned());
    info.bytes = match pack.container() {
        Container::Directory => Some((target.join(array.archive_name()), 0)),
        _ => offsets.map(|(header, _)| (target.to_owned(), header)),
    };
    let listed = array.listed_digest()?;
    info.sha256 = listed
        .filter(|digest| digest.algorithm() == Algorithm::Sha256)
        .map(|digest| digest.to_string());
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
        self.order = Some(order.word());
        let mut document = Document::flat();
        if let Some(root) = document.groups.first_mut() {
            root.ndarrays.push(ndarray);
        }
        self.description = Some(document);
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

/// Whether `path` is a pack, a directory or an archive by its name or its first bytes, rather than an array
/// file.
///
/// # Errors
///
/// When there is nothing at `path`.
pub fn is_pack(path: &Path) -> Result<bool> {
    Ok(fs::is_directory(path)? || (!is_array_file(path)? && Archive::is_archive(path)?))
}
