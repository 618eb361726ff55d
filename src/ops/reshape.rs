//! Other dims for the same elements, in place, with the description in step.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::single_file;
use crate::error::{Error, Result};
use crate::finding::{self, Finding, count_errors};
use crate::fs::{self, File, Stamp, Turn};
use crate::ndl::Order;
use crate::pack::{Contents, Described, Update, Updated, shape_of};
use crate::path::{MemberPath, escape_path};
use crate::progress::Progress;
use crate::ra::{Encoding, Header};

/// Bytes that are copied at once.
const BLOCK: usize = 1 << 20;

/// The array that was reshaped.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

/// A description as it will be.
struct Revised {
    document: PathBuf,
    old: String,
    new: String,
}

/// Gives the array at `path` another shape, which must make as many elements; of one extent, `None`, the
/// length follows from the others. Extents are in the order of the description's shape.
///
/// Data and trailing metadata stay what they are, and so do flags: nothing is decoded. What describes the
/// array is brought in line; when that cannot be done, nothing is changed. Each file is replaced as a whole,
/// the array first.
///
/// # Errors
///
/// When the shape makes another number of elements, the array or its description is at fault, or the
/// system refuses.
pub fn reshape(path: &Path, shape: &[Option<u64>]) -> Result<ReshapeReport> {
    let place = described_place(path)?;
    let _turn = Turn::beside(&place, &Progress::default());
    let file = File::open(path)?;
    let stamp = file.stamp()?;
    let single_file::SingleFile { root, subject, contents, .. } =
        single_file::gather(&place, None)?;
    let Some((subject, facts)) = contents.arrays.get_key_value(subject.as_str()) else {
        return Err(single_file::not_an_array(path));
    };
    let header = match &facts.header {
        Ok(header) => header,
        Err(source) => {
            let name = path.to_string_lossy().into_owned();
            return Err(Error::array(name, (**source).clone()));
        }
    };
    header.check_file_len(stamp.len()).map_err(|source| {
        let name = path.to_string_lossy().into_owned();
        Error::array(name, source)
    })?;
    let mut findings = Vec::new();
    let described = contents.description(subject, &mut findings);
    let order = described.map_or(Order::Column, |described| described.order());
    let to = complete(path, header, shape)?;
    let new = header.with_dims(shape_of(&to, order)).map_err(|error| Error::Mismatch {
        name: path.to_string_lossy().into_owned(),
        reason: error.to_string(),
    })?;
    let refused = |mut findings| {
        finding::cut(&mut findings);
        Error::Refused { path: path.to_owned(), findings }
    };
    if count_errors(&findings) > 0 {
        return Err(refused(findings));
    }
    let of_pack = match described {
        Some(described) if described.of_pack => None,
        _ => contents.in_pack_document(subject),
    };
    let mut revised = Vec::new();
    for described in described.into_iter().chain(of_pack) {
        let text = revise(&contents, subject, &new, facts.encoding, &described).map_err(refused)?;
        let old = described.facts.text().to_owned();
        let document = root.join(described.member);
        revised.extend(text.map(|new| Revised { document, old, new }));
    }
    let from = shape_of(header.dims(), order);
    if new != *header {
        rewrite(path, (&file, &stamp), header, &new)?;
    }
    let mut documents = Vec::new();
    for Revised { document, old, new } in revised {
        fs::replace(&document, old.as_bytes(), new.as_bytes())?;
        documents.push(document);
    }
    Ok(ReshapeReport { array: path.to_owned(), from, to, documents })
}

/// Where the array lies that its description is beside: for a link, that is where it leads to.
fn described_place(path: &Path) -> Result<PathBuf> {
    if !fs::is_link(path) {
        return Ok(path.to_owned());
    }
    let single_file::SingleFile { subject, contents, .. } = single_file::gather(path, None)?;
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
    let refuse = |reason: String| {
        let name = path.to_string_lossy().into_owned();
        Err(Error::Mismatch { name, reason })
    };
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

/// The new text of a document that describes the array; nothing when it says so already.
fn revise(
    contents: &Contents,
    subject: &MemberPath,
    header: &Header,
    encoding: Option<Encoding>,
    described: &Described<'_>,
) -> Result<Option<String>, Vec<Finding>> {
    let Some(update) = Update::new(contents, described) else {
        return Err(described.facts.findings().to_vec());
    };
    let mut update = update.of_known_order();
    update.add(subject, header, encoding, described).map_err(|finding| vec![*finding])?;
    let Updated { text, .. } = update.finish().map_err(|finding| vec![*finding])?;
    Ok(text)
}

/// Writes the new header and everything that follows the old one.
fn rewrite(path: &Path, (file, stamp): (&File, &Stamp), old: &Header, new: &Header) -> Result<()> {
    fs::rewrite(path, |_, pending| {
        let header = new.encode();
        pending.write_all_at(&header, 0)?;
        let (mut from, mut to) = (old.header_len(), new.header_len());
        let mut block = vec![0; BLOCK];
        loop {
            let count = file.read_at(&mut block, from)?;
            let bytes = block.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                return file.check_unchanged(stamp);
            }
            pending.write_all_at(bytes, to)?;
            let count = count as u64;
            (from, to) = (from.saturating_add(count), to.saturating_add(count));
        }
    })
}
