//! Another shape for an array in place, and its description with it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::DescribeOptions;
use super::update::with_pack_document;
use crate::error::{Error, Result};
use crate::finding::{self, count_errors};
use crate::fs::{self, File, Stamp, Turn};
use crate::ndl::Order;
use crate::ops::single_file::{self, SingleFile};
use crate::pack::{self, DescribedArray, shape_of};
use crate::path::escape_path;
use crate::ra::Header;

/// The array that was reshaped.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReshapeReport {
    /// The array, by its path as given.
    pub array: PathBuf,
    /// Its shape before, in the order of its description.
    pub from: Vec<u64>,
    /// Its shape now.
    pub to: Vec<u64>,
    /// The paths of the descriptions that were changed with it.
    pub documents: Vec<PathBuf>,
}

/// Gives the array at `path` another shape, which must make as many elements; of one extent, `None`, the
/// length follows from the others. Extents are in the order of the description's shape.
///
/// Data and trailing metadata stay what they are, and so do flags: nothing is decoded. What describes the
/// array is brought in line; when that cannot be done, nothing is changed. Each file is replaced as a whole,
/// the array first. Of the options, only `dry_run` and `progress` matter.
///
/// # Errors
///
/// When the shape makes another number of elements, the array or its description is at fault, or the
/// system refuses.
pub fn reshape(
    path: impl AsRef<Path>,
    shape: &[Option<u64>],
    options: &DescribeOptions,
) -> Result<ReshapeReport> {
    let path = path.as_ref();
    let place = described_place(path)?;
    let _turn = Turn::beside(&place, &options.progress)?;
    let file = File::open(path)?;
    let stamp = file.stamp()?;
    let SingleFile { root, subject, contents, .. } = single_file::gather(&place, None)?;
    let Some((subject, facts)) = contents.arrays.get_key_value(subject.as_str()) else {
        return Err(single_file::not_an_array(path));
    };
    let name = || path.to_string_lossy().into_owned();
    let header = match &facts.header {
        Ok(header) => header,
        Err(source) => return Err(Error::array(name(), (**source).clone())),
    };
    header.check_file_len(stamp.len()).map_err(|source| Error::array(name(), source))?;
    let mut findings = Vec::new();
    let described = contents.description(subject, &mut findings);
    let order = described.map_or(Order::Column, |described| described.order());
    let to = complete(path, header, shape)?;
    let new = header
        .with_dims(shape_of(&to, order))
        .map_err(|error| Error::mismatch(path.to_string_lossy(), error))?;
    let refused = |mut findings| {
        finding::cut(&mut findings);
        Error::Refused { path: path.to_owned(), findings }
    };
    if count_errors(&findings) > 0 {
        return Err(refused(findings));
    }
    let mut revised = Vec::new();
    for described in with_pack_document(&contents, subject, described) {
        let (header, encoding) = (&new, facts.encoding);
        let array = DescribedArray { path: subject, header, encoding, described };
        if let Some(revision) = pack::update(&contents, &[array], true).map_err(refused)? {
            revised.push((root.join(described.member), described.facts, revision.text));
        }
    }
    let from = shape_of(header.dims(), order);
    if new != *header && !options.dry_run {
        rewrite(path, (&file, &stamp), header, &new)?;
    }
    let mut documents = Vec::new();
    for (document, old, new) in revised {
        if !options.dry_run {
            fs::replace(&document, old.text().as_bytes(), new.as_bytes())?;
        }
        documents.push(document);
    }
    Ok(ReshapeReport { array: path.to_owned(), from, to, documents })
}

/// Where the array lies that its description is beside: for a link, that is where it leads to.
fn described_place(path: &Path) -> Result<PathBuf> {
    if !fs::is_link(path) {
        return Ok(path.to_owned());
    }
    let SingleFile { subject, contents, .. } = single_file::gather(path, None)?;
    let place = fs::real_path(path)?;
    if contents.description(&subject, &mut Vec::new()).is_some() {
        return Err(Error::Unsupported(format!(
            "`{}` is a link to `{}`, but is described where the link lies; reshape the array itself, and then \
             see to that description",
            escape_path(path),
            escape_path(&place)
        )));
    }
    Ok(place)
}

/// The shape with the extent that follows from the others.
fn complete(path: &Path, header: &Header, shape: &[Option<u64>]) -> Result<Vec<u64>> {
    let refuse = |reason: String| Err(Error::mismatch(path.to_string_lossy(), reason));
    if shape.iter().filter(|extent| extent.is_none()).count() > 1 {
        return refuse("only one extent can follow from the others".to_owned());
    }
    let known = shape.iter().flatten().try_fold(1_u64, |product, n| product.checked_mul(*n));
    let elements = header.elements();
    let missing = known.filter(|known| *known > 0 && elements.is_multiple_of(*known));
    let missing = missing.and_then(|known| elements.checked_div(known));
    match missing {
        None if shape.contains(&None) => {
            refuse(format!("the given extents do not divide its {elements} elements"))
        }
        _ => Ok(shape.iter().map(|extent| extent.or(missing).unwrap_or(0)).collect()),
    }
}

/// Writes the new header and everything that follows the old one.
fn rewrite(path: &Path, (file, stamp): (&File, &Stamp), old: &Header, new: &Header) -> Result<()> {
    fs::rewrite(path, |_, pending| {
        let header = new.encode();
        pending.write_all_at(&header, 0)?;
        let from = old.header_len();
        file.copy_to(from, stamp.len() - from, pending, new.header_len())?;
        file.check_unchanged(stamp)
    })
}
