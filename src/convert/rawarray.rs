//! RawArray files and their descriptions: one file, a directory, or an archive.

use std::collections::{BTreeMap, HashSet};
use std::io::{Read as _, Write};
use std::path::Path;

use super::data::{RawArrayFile, failed};
use super::format::{ArrayFormat, ZARR, zarr_store};
use super::item::{ArrayItem, Stated};
use super::names::{member_name, name_of};
use super::options::ConvertOptions;
use super::source::{OtherFile, SourceArrays, TakeElements};
use crate::archive::{Archive, Container, Member, MemberKind};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, File};
use crate::inspect::scan::PackScan;
use crate::interchange;
use crate::manifest::BlockList;
use crate::ndl::{Document, Extent, Ndarray};
use crate::pack::{
    self, ARRAY_EXTENSION, BLOCK_LIST, Contents, Described, Layout, PACK_DOCUMENT, Placement,
    RO_CRATE,
};
use crate::path::file_name;
use crate::pipeline;
use crate::ra::{Header, ReadError};
use crate::read::open::Pack;
use crate::read::open::elements::check_decoded;
use crate::read::single_file::{self, SingleFile};
use crate::write::survey;

/// Number of bytes that show whether a file is a list of block digests.
const BLOCK_LIST_START: u64 = 64;

/// Opens a RawArray file with its description.
pub(super) fn open_file(path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
    let file = File::open(path)?.watched(&options.progress);
    let malformed = |path: &Path, error| {
        let name = path.to_string_lossy().into_owned();
        match error {
            ReadError::Decode(error) => {
                let source =
                    interchange::FormatError::malformed(error.offset, error.kind.to_string());
                Error::Interchange { name, source }
            }
            ReadError::Io(error) => failed(error, "read", path),
            ReadError::Slice(source) => Error::Slice { name, source },
        }
    };
    let file = RawArrayFile::open(file).map_err(|error| malformed(path, error))?;
    let keep_big = options.keep_endian;
    let single_file = described_beside(path)?;
    let described = single_file.as_ref().and_then(|file| {
        let described = file.contents.description(&file.subject, &mut Vec::new())?;
        Some((described, file.subject.stem(), &file.contents))
    });
    let item = item(name_of(path), &file.header, described, keep_big)?;
    let path = path.to_owned();
    Ok(SourceArrays::single(item, move || {
        let elements = file.elements(&path.to_string_lossy(), keep_big);
        elements.map_err(|error| malformed(&path, error))
    }))
}

/// Returns the document next to the file, or that of the directory.
fn described_beside(path: &Path) -> Result<Option<SingleFile>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !pack::is_array(&name) {
        return Ok(None);
    }
    let single_file = single_file::gather(path, None)?;
    let findings: Vec<_> = single_file.findings().into_iter().filter(is_in_the_way).collect();
    if findings.is_empty() {
        Ok(Some(single_file))
    } else {
        Err(Error::Refused { path: single_file.root, findings })
    }
}

/// Makes the item for a file with this header, with the description that is found under its name.
fn item(
    name: String,
    header: &Header,
    described: Option<(Described<'_>, &str, &Contents)>,
    keep_big: bool,
) -> Result<ArrayItem> {
    let Some((described, known_as, contents)) = described else {
        return ArrayItem::rawarray(name, header, None, keep_big);
    };
    let stated = stated(&described, file_name(known_as), contents);
    let is_coordinate = matches!(described.entity, pack::Entity::DimCoord(_));
    let item = ArrayItem::rawarray(name, header, Some(stated.description.clone()), keep_big)?;
    let shared = described.group.attributes.clone();
    Ok(ArrayItem { is_coordinate, shared, stated: Some(stated), ..item })
}

/// Returns the description of an array of this name as its document contains it.
pub(super) fn stated(described: &Described<'_>, name: &str, contents: &Contents) -> Stated {
    let description = Ndarray { name: name.to_owned(), ..described.entity.array().clone() };
    let is_in_pack = described.is_of_pack();
    let home = described.home();
    let in_pack = contents.pack_document.as_ref().and_then(|facts| facts.index());
    let is_stated = |name: &String| {
        let candidates = pack::candidates(&home, name);
        described.resolve_coord(name).is_some()
            || candidates
                .iter()
                .any(|path| in_pack.as_ref().is_some_and(|index| index.dimcoord(path).is_some()))
    };
    let names = description.shape.iter().filter_map(|extent| match extent {
        Extent::Coord(name) => Some(name.clone()),
        _ => None,
    });
    let coordinates = names.filter(is_stated).collect();
    let text = (!is_in_pack).then(|| described.facts.text().to_owned());
    Stated { description, text, coordinates, is_in_pack }
}

/// Returns whether a problem prevents the conversion of the array. Coordinates may be in another place, and data that
/// cannot be decoded is reported when it is read.
pub(super) fn is_in_the_way(finding: &Finding) -> bool {
    let is_said_elsewhere = matches!(
        finding.code,
        Code::BadData
            | Code::Undescribed
            | Code::UnknownCoordinate
            | Code::CoordinateLength
            | Code::UnresolvedCoord
            | Code::UnresolvedTarget
    );
    finding.is_error() && !is_said_elsewhere
}

pub(super) fn open_pack(path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
    let opened = OpenedPack::new(path, options)?;
    if opened.others.iter().any(|other| ZARR.contains(&&*other.payload)) {
        return Err(zarr_store(path));
    }
    let others = opened.others.iter().map(|other| other.copied_from(&opened.pack)).collect();
    Ok(SourceArrays { others, ..opened.source })
}

/// A directory or an archive, and its content.
pub(super) struct OpenedPack {
    /// Its arrays.
    pub(super) source: SourceArrays,
    pub(super) contents: Contents,
    /// Files that are neither arrays nor their descriptions, and empty directories.
    pub(super) others: Vec<OtherMember>,
    pub(super) pack: Pack,
}

/// A member that is not an array.
pub(super) struct OtherMember {
    /// Its name in the payload.
    pub(super) payload: String,
    /// Its name in the container.
    pub(super) name: String,
    pub(super) is_file: bool,
}

impl OtherMember {
    /// Returns the file to copy, which is checked against the manifest if there is one.
    pub(super) fn copied_from(&self, pack: &Pack) -> OtherFile {
        let (pack, name) = (pack.clone(), self.payload.clone());
        let copy = move |out: &mut dyn Write| Ok(pack.copy_to(&name, out)?.0);
        let copy = self.is_file.then(|| Box::new(copy) as Box<_>);
        OtherFile { name: self.payload.clone(), copy }
    }
}

impl OpenedPack {
    pub(super) fn new(path: &Path, options: &ConvertOptions) -> Result<Self> {
        let progress = &options.progress;
        let archive = if options.dereference {
            Archive::open_following(path, progress)?
        } else {
            Archive::open_watched(path, progress)?
        };
        let jobs = pipeline::jobs(options.jobs);
        let PackScan { placement, mut members, mut contents, mut findings, .. } =
            PackScan::new(&archive, jobs)?;
        let is_tree = archive.container() == Container::Directory;
        for link in findings.iter_mut().filter(|finding| is_tree && finding.code == Code::Link) {
            let Finding { message, hint, .. } = survey::link("", options.dereference);
            (link.message, link.hint) = (message, hint);
        }
        findings.extend(contents.findings());
        let is_wanted = |name: &str| !options.exclude.matches(name);
        members.retain(|member| placement.payload(&member.name).is_none_or(is_wanted));
        contents.retain(|path| is_wanted(path.as_str()));
        findings.retain(|finding| subject_of(finding).is_none_or(is_wanted));
        findings.retain(|finding| finding.is_error() && finding.code != Code::Undescribed);
        if let Some(member) = &options.member {
            // Only problems of that array count.
            let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
            let is_of_member = |name: &str| stem(name) == member_name(member);
            findings.retain(|finding| subject_of(finding).is_none_or(is_of_member));
        }
        // In a directory, problems of one file do not prevent the conversion of others.
        let mut refused: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
        if is_tree {
            findings.retain(|finding| {
                let name = subject_of(finding).filter(|name| *name != PACK_DOCUMENT);
                let Some(name) = name else { return true };
                let name = contents.array_of(name).unwrap_or(name).to_owned();
                refused.entry(name).or_default().push(finding.clone());
                false
            });
        }
        Error::refuse_bad(path, findings)?;
        let is_failed = |name: &str| refused.contains_key(name);
        let items = pack_items(&contents, options.keep_endian, is_failed)?;
        let mut others = other_members(&members, &placement, &contents, is_failed);
        if let Some(at) = others.iter().position(|other| other.payload == BLOCK_LIST)
            && is_block_list(&archive, others.get(at))?
        {
            // It does not fit the converted arrays.
            others.remove(at);
        }
        let directory = is_tree && placement.layout == Layout::Plain;
        let directory = directory.then(|| path.to_owned());
        let names: Vec<_> = items.iter().map(|item| item.name.clone()).collect();
        let (path, keep_big, progress) =
            (path.to_owned(), options.keep_endian, options.progress.clone());
        let pack = Pack::of_archive(archive, placement);
        let reader = pack.clone();
        let give = move |index: usize, beside: &Path, take: &mut TakeElements<'_>| {
            let name = names.get(index).expect("each item has a name");
            let member = format!("{name}.{ARRAY_EXTENSION}");
            let damaged = |error| match error {
                ReadError::Io(error) => failed(error, "read", &path),
                error => Error::array_file(member.as_ref(), error),
            };
            let mut verified = false;
            let (file, is_copy) = if let Some(directory) = &directory
                && reader.array(&member)?.listed_digest()?.is_none()
            {
                (File::open(directory.join(&member))?.watched(&progress), false)
            } else {
                // A member is checked completely against the manifest before it is used.
                let scratch = fs::scratch_file(beside, &progress)?;
                (_, verified) = reader.copy_to(&member, &mut &scratch)?;
                (scratch, true)
            };
            let file = RawArrayFile::open(file).map_err(damaged)?;
            if is_copy {
                check_decoded(&member, &file.header)?;
            }
            take(file.elements(&member, keep_big).map_err(damaged)?, verified)
        };
        let error = |findings| Error::Refused { path: pack.archive().path().to_owned(), findings };
        let failed = refused.into_iter().map(|(name, findings)| (name, error(findings))).collect();
        let source =
            SourceArrays { failed, ..SourceArrays::new(items, Vec::new(), Box::new(give)) };
        Ok(Self { source, contents, others, pack })
    }
}

/// Returns the name of the array or file that a finding is about.
fn subject_of(finding: &Finding) -> Option<&str> {
    finding.array.as_deref().or(finding.member.as_deref())
}

/// Returns whether a file is a list of block digests.
fn is_block_list(archive: &Archive, file: Option<&OtherMember>) -> Result<bool> {
    let found = file.map(|file| archive.find(&file.name)).transpose()?.flatten();
    let Some(member) = found.filter(|member| member.kind == MemberKind::File) else {
        return Ok(false);
    };
    let mut start = Vec::new();
    // The copy reports a file that cannot be read.
    let _ = archive.read(&member)?.take(BLOCK_LIST_START).read_to_end(&mut start);
    Ok(BlockList::is_begun_by(&start))
}

/// Returns files that are neither arrays nor their descriptions, and empty directories.
fn other_members(
    members: &[Member],
    placement: &Placement,
    contents: &Contents,
    is_failed: impl Fn(&str) -> bool,
) -> Vec<OtherMember> {
    let is_inline = |name: &str| {
        let unattached =
            contents.descriptions.get(name).filter(|_| contents.array_of(name).is_none());
        let document = unattached.and_then(|facts| facts.document());
        let mut arrays = document.into_iter().flat_map(Document::ndarrays);
        arrays.any(|(_, ndarray)| ndarray.value.is_some())
    };
    // A description that was not generated contains facts of its own.
    let is_written_by_hand = contents.pack_document.as_ref().is_some_and(|facts| {
        let text = facts.text();
        !pack::is_generated(text.as_bytes()) && !pack::is_attributes_document(text)
    });
    let mut others = Vec::new();
    let parent = |name: &str| Some(name.trim_end_matches('/').rsplit_once('/')?.0.to_owned());
    let occupied: HashSet<_> = members.iter().filter_map(|member| parent(&member.name)).collect();
    for member in members {
        let payload = match placement.payload(&member.name) {
            None if placement.relative(&member.name) == Some(PACK_DOCUMENT) => PACK_DOCUMENT,
            None => continue,
            Some(payload) => payload,
        };
        let is_file = member.kind == MemberKind::File;
        let is_other = match member.kind {
            MemberKind::File => {
                contents.array_of(payload).is_none()
                    && !is_inline(payload)
                    && !pack::is_signature(payload)
                    && pack::manifest_algorithm(payload).is_none()
                    && (payload != PACK_DOCUMENT || is_written_by_hand)
                    // It describes the arrays before their conversion.
                    && (payload != RO_CRATE || contents.ro_crate.is_none())
            }
            MemberKind::Directory => !occupied.contains(member.name.trim_end_matches('/')),
            MemberKind::Link | MemberKind::Special => false,
        };
        if is_other && !is_failed(payload) {
            let payload = payload.trim_end_matches('/').to_owned();
            let name = member.name.to_string();
            others.push(OtherMember { payload, name, is_file });
        }
    }
    others
}

fn pack_items(
    contents: &Contents,
    keep_endian: bool,
    is_failed: impl Fn(&str) -> bool,
) -> Result<Vec<ArrayItem>> {
    let mut items = Vec::new();
    for (path, facts) in contents.arrays.iter().filter(|(path, _)| !is_failed(path.as_str())) {
        let Ok(header) = &facts.header else { continue };
        let name = path.without_extension().to_owned();
        let described = contents.description(path, &mut Vec::new());
        let described = described.map(|described| (described, path.without_extension(), contents));
        let mut item = item(name, header, described, keep_endian)?;
        if let Some(stated) = &mut item.stated {
            stated.is_in_pack |= contents.in_pack_document(path).is_some();
        }
        items.push(item);
    }
    for (path, facts) in contents.unattached() {
        let described = facts.document().into_iter().flat_map(Document::ndarrays);
        for (group, ndarray) in described.filter(|(_, ndarray)| ndarray.value.is_some()) {
            let group_path = pack::group_in_pack(path.as_str(), &group.path);
            let name = pack::entity_path(&group_path, &ndarray.name);
            let name = name.trim_start_matches('/').to_owned();
            let shared = group.attributes.clone();
            let item = ArrayItem::inline(ArrayFormat::Ra, name, ndarray.clone());
            items.push(ArrayItem { shared, ..item });
        }
    }
    items.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(items)
}
