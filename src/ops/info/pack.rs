//! What a pack holds, and where it contradicts itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::super::glance::{Glance, glance};
use super::super::open::Pack;
use super::lists::Lists;
use crate::archive::{Archive, Container, MemberKind};
use crate::error::Result;
use crate::finding::{self, Finding};
use crate::pack::{CoordinateInfo, Layout};
use crate::pipeline;
use crate::progress::Progress;

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
    /// Bytes that they take in the archive.
    pub packed_bytes: u64,
    /// Arrays.
    pub arrays: u64,
    /// Bytes of the files of arrays.
    pub array_bytes: u64,
    /// Directories that hold arrays; each is a group of the pack's description.
    pub groups: u64,
    /// How many arrays have elements of each type.
    pub types: BTreeMap<String, u64>,
    /// Arrays without a description.
    pub undescribed: u64,
    /// What dimensions are named by.
    pub coordinates: Vec<CoordinateInfo>,
    /// The manifests in the pack and beside it.
    pub manifests: Vec<ManifestInfo>,
    /// What is wrong with the container, headers, descriptions and manifests, as far as that can be known
    /// without reading contents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A list of digests.
#[derive(Debug, Clone, Serialize)]
pub struct ManifestInfo {
    /// Its name in the pack, or its path when it lies beside the archive.
    pub name: String,
    /// What makes its digests: `sha256`, `sha512` or another.
    pub algorithm: &'static str,
    /// Lines, one for each file.
    pub entries: u64,
    /// Whether it lies beside the archive.
    pub outside: bool,
    /// Whether it says the same as the one inside; absent when there is none of its kind to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agrees: Option<bool>,
}

/// What a pack holds; `progress` is told how far the reading is.
///
/// # Errors
///
/// When it cannot be read, or is no archive.
pub fn pack_info(target: &Path, progress: &Progress) -> Result<PackInfo> {
    let archive = Archive::open_watched(target, progress)?;
    let container = archive.container();
    let Glance { placement, members, mut contents, findings } =
        glance(&archive, pipeline::default_jobs())?;
    let files = || members.iter().filter(|member| member.kind == MemberKind::File);
    let mut types = BTreeMap::new();
    for facts in contents.arrays.values() {
        let name = match &facts.header {
            Ok(header) => header.element().to_string(),
            Err(_) => "unreadable".to_owned(),
        };
        let count: &mut u64 = types.entry(name).or_default();
        *count = count.saturating_add(1);
    }
    let directory = |path: &str| path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
    let groups: BTreeSet<_> = contents.arrays.keys().map(|path| directory(path.as_str())).collect();
    let is_array = |name: &str| placement.payload(name).is_some_and(|name| contents.is_array(name));
    let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let sum = |sum: u64, bytes: u64| sum.saturating_add(bytes);
    let mut info = PackInfo {
        name: target.to_string_lossy().into_owned(),
        container,
        layout: placement.layout,
        files: wide(files().count()),
        bytes: files().map(|member| member.size).fold(0, sum),
        packed_bytes: files().map(|member| member.packed_size).fold(0, sum),
        arrays: wide(contents.arrays.len()),
        array_bytes: files()
            .filter(|member| is_array(&member.name))
            .map(|member| member.size)
            .fold(0, sum),
        groups: wide(groups.len()),
        types,
        undescribed: wide(contents.undescribed().count()),
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
    let lists = Lists { target, placement: &placement, files: &files, pack: &pack };
    info.manifests = lists.check(&mut info.findings)?;
    finding::cut(&mut info.findings);
    Ok(info)
}
