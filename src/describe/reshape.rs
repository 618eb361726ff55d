//! Changing the shape of an array in place, together with its description.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::DescribeOptions;
use super::update::with_pack_document;
use crate::error::{Error, Result};
use crate::finding::{self, count_errors};
use crate::fs::{self, File, Stamp, Turn};
use crate::ndl::Order;
use crate::pack::{self, DescribedArray, shape_of};
use crate::path::escape_path;
use crate::ra::Header;
use crate::read::single_file::{self, SingleFile};

/// The array that was reshaped.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReshapeReport {
    /// Path of the array, as given.
    pub target: PathBuf,
    /// The old shape, in the order of its description.
    pub from: Vec<u64>,
    /// The new shape.
    pub to: Vec<u64>,
    /// Paths of the descriptions that were changed.
    pub documents: Vec<PathBuf>,
}

/// Changes the shape of the array at `path`. The number of elements must stay the same. One length may be `None` and is
/// computed from the others. Lengths are in the order of the description's shape.
///
/// Data, trailing metadata and flags do not change, and nothing is decoded. Descriptions of the array are updated; if
/// that is not possible, nothing is changed. Each file is replaced as a whole, the array first. Only the options
/// `dry_run` and `progress` are used.
///
/// # Errors
///
/// [`Error::Mismatch`] if the number of elements would change; [`Error::NotAnArray`], [`Error::Array`] or
/// [`Error::Refused`] if the array or its description is not valid; [`Error::WrongTarget`] for a link with its own
/// description; [`Error::Io`] for system errors.
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
        let known = Some(described.entity.array());
        let array =
            DescribedArray { path: subject, header, encoding, described, known, shared: &[] };
        if let Some(revision) = pack::update(&contents, &[array]).map_err(refused)? {
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
    Ok(ReshapeReport { target: path.to_owned(), from, to, documents })
}

/// Returns the path of the array that its description is next to: the target, for a link.
fn described_place(path: &Path) -> Result<PathBuf> {
    if !fs::is_link(path) {
        return Ok(path.to_owned());
    }
    let SingleFile { subject, contents, .. } = single_file::gather(path, None)?;
    let place = fs::real_path(path)?;
    if contents.description(&subject, &mut Vec::new()).is_some() {
        return Err(Error::wrong_target(
            path,
            format!(
                "is a link to `{}` and has its own description; reshape the target of the link, and then \
             update that description",
                escape_path(&place)
            ),
        ));
    }
    Ok(place)
}

/// Returns the shape, with the missing length computed from the others.
fn complete(path: &Path, header: &Header, shape: &[Option<u64>]) -> Result<Vec<u64>> {
    let refuse = |reason: String| Err(Error::mismatch(path.to_string_lossy(), reason));
    if shape.iter().filter(|extent| extent.is_none()).count() > 1 {
        return refuse("only one length can be computed from the others".to_owned());
    }
    let known = shape.iter().flatten().try_fold(1_u64, |product, n| product.checked_mul(*n));
    let elements = header.elements();
    let missing = known.filter(|known| *known > 0 && elements.is_multiple_of(*known));
    let missing = missing.and_then(|known| elements.checked_div(known));
    match missing {
        None if shape.contains(&None) => {
            refuse(format!("the given lengths do not divide its {elements} elements"))
        }
        _ => Ok(shape.iter().map(|extent| extent.or(missing).unwrap_or(0)).collect()),
    }
}

/// Writes the new header, and copies everything after the old one.
fn rewrite(path: &Path, (file, stamp): (&File, &Stamp), old: &Header, new: &Header) -> Result<()> {
    fs::rewrite(path, |_, pending| {
        let header = new.encode();
        pending.write_all_at(&header, 0)?;
        let from = old.header_len();
        file.copy_to(from, stamp.len() - from, pending, new.header_len())?;
        file.check_unchanged(stamp)
    })
}
