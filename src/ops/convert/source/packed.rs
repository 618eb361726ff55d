//! The arrays of a directory or an archive, each held against the manifest.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::super::super::glance::{Glance, glance};
use super::super::super::open::{Pack, check_decoded};
use super::super::choice::member_name;
use super::super::item::{Described, Item};
use super::super::options::ConvertOptions;
use super::super::rawarray::RawArrayFile;
use super::{Elements, ReadElements, Source};
use crate::archive::{Archive, Container, MemberKind};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, count_errors};
use crate::fs::{self, File};
use crate::ndl::Document;
use crate::pack::{self, ARRAY_EXTENSION, Contents, Layout};
use crate::parallel;
use crate::path::escape;
use crate::progress::Progress;
use crate::ra::ReadError;

/// Names that a message lists at most.
const MAX_LISTED: usize = 5;

/// The files of a pack.
pub(super) struct PackedFiles {
    /// The whole of it.
    path: PathBuf,
    pack: Pack,
    /// The directory in which they lie by their names, if that is so.
    directory: Option<PathBuf>,
    keep_big: bool,
    progress: Progress,
}

pub(super) fn open(path: &Path, options: &ConvertOptions) -> Result<Source> {
    let archive = Archive::open_watched(path, &options.progress)?;
    let jobs = parallel::jobs(options.jobs);
    let Glance { placement, members, contents, mut findings } = glance(&archive, jobs)?;
    findings.extend(contents.findings());
    findings.retain(|finding| finding.is_error() && finding.code != Code::Undescribed);
    if let Some(member) = &options.member {
        let file = format!("{}.{ARRAY_EXTENSION}", member_name(member));
        findings.retain(|finding| concerns(finding, &file));
    }
    finding::cut(&mut findings);
    if count_errors(&findings) > 0 {
        return Err(Error::Refused { path: path.to_owned(), findings });
    }
    let items = items(&contents, options.keep_endian)?;
    let files = members.iter().filter(|member| member.kind == MemberKind::File);
    let names: HashSet<&str> = files.filter_map(|member| placement.payload(&member.name)).collect();
    let left = left_behind(&names, &contents);
    let losses = left.filter(|_| options.member.is_none()).into_iter().collect();
    let is_directory =
        archive.container() == Container::Directory && placement.layout == Layout::Plain;
    let files = PackedFiles {
        path: path.to_owned(),
        pack: Pack::open_watched(path, &options.progress.part())?,
        directory: is_directory.then(|| path.to_owned()),
        keep_big: options.keep_endian,
        progress: options.progress.clone(),
    };
    Ok(Source { items, losses, reads: Box::new(files) })
}

/// Whether a finding is about this array.
fn concerns(finding: &Finding, file: &str) -> bool {
    let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
    let named = finding.array.as_deref().or(finding.member.as_deref());
    named.is_none_or(|named| stem(named) == stem(file))
}

fn items(contents: &Contents, keep_endian: bool) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    for (path, facts) in &contents.arrays {
        let Ok(header) = &facts.header else { continue };
        let name = path.without_extension().to_owned();
        let described = contents.description(path, &mut Vec::new());
        let described = described.map(|described| Described::new(&described, &name));
        items.push(Item::rawarray(name, header, described, keep_endian)?);
    }
    for (path, facts) in contents.unattached() {
        let base = pack::group_of(path);
        for (group, ndarray) in facts.document().into_iter().flat_map(Document::ndarrays) {
            if ndarray.value.is_none() {
                continue;
            }
            let group_path = pack::join_groups(&base, &group.path);
            let name = pack::entity_path(&group_path, &ndarray.name);
            items.push(Item::inline(
                name.trim_start_matches('/').to_owned(),
                ndarray.clone(),
                group.attributes.clone(),
            ));
        }
    }
    items.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(items)
}

/// What is in a pack besides arrays and their descriptions.
fn left_behind(names: &HashSet<&str>, contents: &Contents) -> Option<String> {
    let unattached: HashSet<_> = contents.unattached().map(|(path, _)| path.as_str()).collect();
    let mut others: Vec<_> = names
        .iter()
        .copied()
        .filter(|name| {
            contents.array_of(name).is_none()
                && !unattached.contains(name)
                && *name != pack::PACK_DOCUMENT
                && pack::manifest_algorithm(name).is_none()
        })
        .collect();
    if others.is_empty() {
        return None;
    }
    others.sort_unstable();
    let listed: Vec<_> =
        others.iter().take(MAX_LISTED).map(|name| format!("`{}`", escape(name))).collect();
    let more = match others.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("files that are no arrays are left where they are: {}{more}", listed.join(", ")))
}

impl ReadElements for PackedFiles {
    fn elements(&mut self, _: usize, item: &Item, beside: &Path) -> Result<Elements<'_>> {
        let member = format!("{}.{ARRAY_EXTENSION}", item.name);
        let damaged = |error| match error {
            ReadError::Decode(source) => Error::array(member.clone(), source),
            ReadError::Io(error) => super::super::data::failed(error, "read", &self.path),
            ReadError::Slice(error) => {
                Error::Mismatch { name: member.clone(), reason: error.to_string() }
            }
        };
        if let Some(directory) = &self.directory
            && self.pack.array(&member)?.listed_digest()?.is_none()
        {
            let file = File::open(directory.join(&member))?.watched(&self.progress);
            let stamp = file.stamp()?;
            let file = RawArrayFile::open(file, Some(stamp)).map_err(damaged)?;
            let (data, metadata) = file.elements(&member, self.keep_big).map_err(damaged)?;
            return Ok(Elements { data, metadata, verified: false });
        }
        // Nothing of a member is used before all of it is known to be what the manifest says.
        let scratch = fs::scratch_file(beside)?;
        let (_, verified) = self.pack.copy_to(&member, &mut scratch.writer())?;
        let file = RawArrayFile::open(scratch, None).map_err(damaged)?;
        check_decoded(&member, &file.header)?;
        let (data, metadata) = file.elements(&member, self.keep_big).map_err(damaged)?;
        Ok(Elements { data, metadata, verified })
    }
}
