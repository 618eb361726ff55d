//! Content digests of the arrays of any source, and comparison of a pack with a source.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::data::{Arranged, Metadata, failed};
use super::format::ArrayFormat;
use super::item::ArrayItem;
use super::names::{give_all, member_name, name_of};
use super::options::ConvertOptions;
use super::report::Unconverted;
use super::source::SourceArrays;
use super::{first_of, open};
use crate::archive::Container;
use crate::diff::{Agreement, ElementsDiff, FieldDifference, compare_member};
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::fs;
use crate::manifest::{Manifest, NameEncoding};
use crate::ndl::Order;
use crate::path::{MemberPath, escape};
use crate::pipeline;
use crate::ra::{Header, ReadError};
use crate::read::content::content_digest;
use crate::read::is_array_file;
use crate::read::open::Pack;
#[cfg(test)]
use crate::write::make_manifest::ListedFile;
use crate::write::make_manifest::listed;

/// The content digests of all arrays of a target.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ContentReport {
    /// Path of the target, as given.
    pub target: PathBuf,
    /// The content digests by the names of the arrays, which have no extension.
    #[cfg_attr(test, schemars(with = "Vec<ListedFile<'static>>"))]
    #[serde(rename = "digests", serialize_with = "listed")]
    pub manifest: Manifest,
    /// Files and arrays that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Unconverted>,
    /// Arrays without a content digest, and other contents that are not read, one sentence each.
    pub losses: Vec<String>,
}

/// The arrays of a pack, compared with those of a source by name.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ContentComparison {
    /// Path of the pack, as given.
    pub target: PathBuf,
    /// Path of the source, as given.
    pub source: PathBuf,
    /// All arrays of both, sorted by name.
    pub arrays: Vec<ComparedArray>,
    /// Arrays and other contents of the source that are not compared, one sentence each.
    pub losses: Vec<String>,
}

/// An array of a pack, compared with the same array of a source.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ComparedArray {
    /// Name of the array without extension, as in a pack.
    pub name: String,
    /// Result of the comparison.
    pub agreement: Agreement,
    /// Differences of the headers: `type` and `shape`, in the pack (`a`) and in the source (`b`).
    pub header: Vec<FieldDifference>,
    /// Differences of the elements; absent if they were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<ElementsDiff>,
}

impl ContentReport {
    /// Returns the text with a line for each array: the digest, two spaces and the name, encoded as in a manifest.
    pub fn text(&self) -> Vec<u8> {
        self.manifest.to_text(NameEncoding::Gnu)
    }
}

impl ContentComparison {
    /// Returns whether all arrays of both have the same numbers. Their types may differ.
    pub fn is_same(&self) -> bool {
        self.arrays.iter().all(|array| array.agreement.is_same())
    }
}

/// Returns the content digests of all arrays that [`convert`](super::convert()) reads from a target: a pack, a
/// directory, or a file in another format. The names are those that the arrays have in a converted pack.
///
/// ```
/// # fn main() -> ra_pack::Result<()> {
/// use ra_pack::convert::content_digests;
///
/// let report = content_digests("examples/experiment", &Default::default())?;
/// assert_eq!(report.manifest.entries()[0].path.as_str(), "currents/bin");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`convert`](super::convert()), and as [`PackedArray::content_digest`](crate::PackedArray::content_digest).
pub fn content_digests(
    target: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<ContentReport> {
    let (target, progress) = (target.as_ref(), &options.progress);
    let (mut digests, mut failed, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    if let ArrayFormat::Pack(container) = format(target, options)?
        && container != Container::Directory
    {
        // Members of an archive are read as streams, without a copy.
        let pack = Pack::open_watched(target, progress)?;
        let names = pack.arrays()?;
        progress.stage("reading", 0, names.len() as u64);
        let digest = |(): &mut (), name: String| {
            progress.at(&name);
            let digest = pack.array(&name)?.content_digest()?;
            progress.done(1);
            Ok::<_, Error>((MemberPath::new(member_name(&name))?, digest))
        };
        digests = pipeline::share(pipeline::jobs(options.jobs), names, || (), digest)?;
    } else {
        let (mut source, arrays) = opened(target, options)?;
        progress.stage("reading", 0, arrays.len() as u64);
        for (name, array) in arrays {
            progress.at(&name);
            match digest_of(&mut source, &array, options) {
                Ok(digest) => digests.push((MemberPath::new(name)?, digest)),
                Err(error @ (Error::Interrupted | Error::Io { .. })) => return Err(error),
                Err(error) => source.failed.push((array.1.origin.clone(), error)),
            }
            progress.done(1);
        }
        if digests.is_empty() && !source.failed.is_empty() {
            return Err(first_of(source.failed));
        }
        let all = source.failed.into_iter();
        failed = all.map(|(name, error)| Unconverted::new(name, error)).collect();
        losses = source.losses;
    }
    let (target, manifest) = (target.to_owned(), Manifest::new(Algorithm::Sha256, digests));
    Ok(ContentReport { target, manifest, failed, losses })
}

fn format(path: &Path, options: &ConvertOptions) -> Result<ArrayFormat> {
    options.from.map_or_else(|| ArrayFormat::of_input(path), Ok)
}

/// An array of a source, with its position there.
type SourceArray = (usize, ArrayItem);

/// Opens a source. Returns its arrays that have elements, with their names in a converted pack.
fn opened(
    path: &Path,
    options: &ConvertOptions,
) -> Result<(SourceArrays, Vec<(String, SourceArray)>)> {
    let mut source = open(format(path, options)?, path, options)?;
    let names: Vec<_> = source.items.iter().map(|item| item.name.as_str()).collect();
    let names = give_all(&names, source.others.iter().map(|other| other.name.as_str()));
    let mut arrays: Vec<_> =
        names.into_iter().zip(std::mem::take(&mut source.items).into_iter().enumerate()).collect();
    arrays.retain(|(name, (_, item))| {
        if item.header.is_none() {
            let name = escape(name);
            source.losses.push(format!("{name}: its elements are texts in its description"));
        }
        item.header.is_some()
    });
    Ok((source, arrays))
}

/// Passes the elements of an array to `take`, in their order or with the dimensions reversed, with their header and a path next to which elements are staged.
fn give(
    source: &mut SourceArrays,
    (index, item): &SourceArray,
    reverse: bool,
    options: &ConvertOptions,
    mut take: impl FnMut(&Header, Arranged<'_>) -> Result<()>,
) -> Result<()> {
    let header = item.header.as_ref().expect("arrays without elements were left out");
    let beside = std::env::temp_dir().join("content");
    (source.give)(*index, &beside, &mut |mut data, _| {
        data.metadata = Metadata::default();
        take(header, Arranged::new(data, header, reverse, &beside, options))
    })
}

/// Returns the content digest of an array of a source.
fn digest_of(
    source: &mut SourceArrays,
    array: &SourceArray,
    options: &ConvertOptions,
) -> Result<Digest> {
    let (mut found, origin) = (None, Path::new(&array.1.origin));
    let is_column = array.1.description.order() == Order::Column;
    give(source, array, is_column, options, |header, elements| {
        let file = if is_column { header.reversed() } else { header.clone() };
        let digest = elements.read_by(|reader| {
            let progress = &options.progress;
            let digest =
                content_digest(&file, true, progress, |block| Ok(reader.read_exact(block)?))?;
            // A reader reports a wrong checksum at its end.
            io::copy(&mut reader.take(1), &mut io::sink())?;
            Ok(digest)
        })?;
        found = Some(digest.map_err(|error| match error {
            ReadError::Io(error) => failed(error, "read", origin),
            error => Error::array_file(origin, error),
        })?);
        Ok(())
    })?;
    Ok(found.expect("a source gives the elements or an error"))
}

/// Compares the arrays of a pack with those of a source, which is anything that [`convert`](super::convert()) reads. An
/// array of the source is the one that has its name in a converted pack. If both have a single array, the names may
/// differ.
///
/// Elements with the same index are compared as numbers, as by [`diff`](crate::diff()): byte order, order of dimensions,
/// encoding and type may differ.
///
/// # Errors
///
/// As [`convert`](super::convert()), and as [`diff_members`](crate::diff::diff_members).
pub fn compare_content(
    target: impl AsRef<Path>,
    source: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<ContentComparison> {
    let (target, path, progress) = (target.as_ref(), source.as_ref(), &options.progress);
    let pack = if is_array_file(target)? {
        Pack::of_array_watched(target, progress)?.0
    } else {
        Pack::open_watched(target, progress)?
    };
    let (mut source, mut theirs) = opened(path, options)?;
    if !source.failed.is_empty() {
        return Err(first_of(source.failed));
    }
    // An array file has its own name, not its path in the pack that it may be in.
    let ours: Vec<_> = match pack.lone() {
        Some((path, member)) => vec![(name_of(path), member.to_owned())],
        None => pack.arrays()?.into_iter().map(|it| (member_name(&it).to_owned(), it)).collect(),
    };
    if let ([(one, _)], [(other, _)]) = (&ours[..], &mut theirs[..]) {
        other.clone_from(one);
    }
    let mut pairs: BTreeMap<String, (Option<String>, Option<SourceArray>)> = BTreeMap::new();
    for (name, member) in ours {
        pairs.entry(name).or_default().0 = Some(member);
    }
    for (name, array) in theirs {
        pairs.entry(name).or_default().1 = Some(array);
    }
    progress.stage("comparing", 0, pairs.len() as u64);
    let mut arrays = Vec::new();
    for (name, pair) in pairs {
        progress.at(&name);
        let missing = |agreement| (agreement, Vec::new(), None);
        let (agreement, header, elements) = match pair {
            (Some(member), Some(array)) => {
                let scratch = fs::scratch_file(&std::env::temp_dir().join("content"), progress)?;
                give(&mut source, &array, false, options, |header, elements| {
                    scratch.write_all_at(&header.encode(), 0)?;
                    elements.write_at(&scratch, header.header_len()).map(drop)
                })?;
                let ArrayItem { origin, description, .. } = array.1;
                let (mut header, elements) =
                    compare_member(&pack, &member, (&origin, scratch, description), progress)?;
                header.retain(|field| field.field != "metadata");
                (Agreement::of(&header, elements.as_ref()), header, elements)
            }
            (None, _) => missing(Agreement::MissingInPack),
            (_, None) => missing(Agreement::MissingInSource),
        };
        arrays.push(ComparedArray { name, agreement, header, elements });
        progress.done(1);
    }
    let (target, path, losses) = (target.to_owned(), path.to_owned(), source.losses);
    Ok(ContentComparison { target, source: path, arrays, losses })
}
