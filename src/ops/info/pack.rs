//! What a pack holds, and where it contradicts itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::super::glance::{Glance, glance};
use super::super::manifest_text::{ManifestText, RootFiles, rules};
use super::super::manifests::{self, NamedManifest, beside};
use super::super::open::Pack;
use super::super::present::Present;
use super::super::verify::is_payload;
use crate::archive::{Archive, Container, MemberKind};
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::finding::{self, Finding};
use crate::pack::{self, CoordinateInfo, EXTERNAL_MANIFEST_SUFFIX, Layout, Placement};
use crate::parallel;
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
    /// What makes its digests: `sha256`, `sha512`, `sha1`, `md5`.
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
        glance(&archive, parallel::default_jobs())?;
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
    let names: Vec<_> =
        files().filter_map(|member| placement.relative(&member.name)).map(str::to_owned).collect();
    drop((members, contents));
    let lists = Lists {
        target,
        placement: &placement,
        names: &names,
        pack: &Pack::of_archive(archive, placement.clone()),
    };
    info.manifests = lists.check(&mut info.findings)?;
    Ok(info)
}

/// The manifests of a pack, and the files that they have to list.
struct Lists<'a> {
    target: &'a Path,
    placement: &'a Placement,
    /// Every file by its name in the pack.
    names: &'a [String],
    pack: &'a Pack,
}

impl Lists<'_> {
    /// Holds every manifest against the names of the files, and the one outside against its like inside.
    fn check(&self, findings: &mut Vec<Finding>) -> Result<Vec<ManifestInfo>> {
        let beside = beside(self.target, EXTERNAL_MANIFEST_SUFFIX);
        let mut outside = manifests::read_beside(&beside)?;
        let is_outside = outside.is_some();
        let mut inside = Vec::new();
        for name in self.names {
            let Some(algorithm) = pack::manifest_algorithm(name) else { continue };
            let text = match RootFiles::read(self.pack, name) {
                Ok(text) => text.unwrap_or_default(),
                Err(Error::Damaged { finding, .. }) => {
                    findings.push(*finding);
                    continue;
                }
                Err(error) => return Err(error),
            };
            // The same text is not parsed twice, and takes no room meanwhile.
            if algorithm == Algorithm::Sha256 && outside.as_deref() == Some(&*text) {
                outside = None;
            }
            if let Ok(text) = ManifestText::decode(name, algorithm, rules(self.pack)?, text) {
                inside.push(text.parse(findings));
            }
        }
        let strongest = inside.iter().map(|named| named.manifest.algorithm()).max();
        let no_digests = || self.names.iter().map(|name| (name.as_str(), None));
        let before = findings.len();
        for named in &inside {
            // Of several, only the strongest of a plain pack has to be complete; a bag has rules of its own.
            let is_complete = Some(named.manifest.algorithm()) == strongest
                && (self.placement.layout == Layout::Plain || inside.len() == 1);
            let must_list = |name: &str| is_complete && is_payload(self.placement, name);
            named.check(&Present::new(no_digests()), must_list, findings);
        }
        let mut all: Vec<_> = inside.iter().map(|named| described(named, None)).collect();
        if is_outside {
            all.extend(self.outside(&beside, outside, &inside, findings)?);
        }
        let of_manifests = findings.get_mut(before..).unwrap_or_default();
        finding::rename(of_manifests, |name| self.placement.shown_relative(name));
        Ok(all)
    }

    /// The manifest beside the archive; without a text it has that of its like inside.
    fn outside(
        &self,
        path: &Path,
        text: Option<Vec<u8>>,
        inside: &[NamedManifest],
        findings: &mut Vec<Finding>,
    ) -> Result<Option<ManifestInfo>> {
        let name = path.to_string_lossy().into_owned();
        let like = inside.iter().find(|named| named.manifest.algorithm() == Algorithm::Sha256);
        let Some(text) = text else {
            return Ok(like.map(|like| ManifestInfo {
                name,
                outside: true,
                ..described(like, Some(true))
            }));
        };
        let names = rules(self.pack)?.names;
        let outside = ManifestText::outside(name, Algorithm::Sha256, names, text).parse(findings);
        let before = findings.len();
        if let Some(like) = like {
            like.compare(&outside, findings);
        }
        let agrees = like.map(|_| findings.len() == before);
        Ok(Some(ManifestInfo { outside: true, ..described(&outside, agrees) }))
    }
}

fn described(named: &NamedManifest, agrees: Option<bool>) -> ManifestInfo {
    ManifestInfo {
        name: named.name.clone(),
        algorithm: named.manifest.algorithm().name(),
        entries: u64::try_from(named.manifest.entries().len()).unwrap_or(u64::MAX),
        outside: false,
        agrees,
    }
}
