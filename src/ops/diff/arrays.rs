//! How two arrays differ: in their headers, and element by element in their own type.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::DiffOptions;
use super::distance::Tally;
use super::side::Side;
use crate::error::{Error, Result};
use crate::ra::ElementType;

/// Elements are compared in blocks of so many bytes, or one element.
const BLOCK: u64 = 1 << 20;

/// How two arrays differ.
#[derive(Debug, Clone, Serialize)]
pub struct ArrayDiff {
    /// The first array.
    pub a: PathBuf,
    /// The second.
    pub b: PathBuf,
    /// The type of the elements of the first.
    #[serde(rename = "type")]
    pub element: String,
    /// The shape of the first, in the order of its description.
    pub shape: Vec<u64>,
    /// What the headers say differently, and what stands behind the data.
    pub header: Vec<FieldDifference>,
    /// How the elements differ; nothing when types or shapes do, and elements have no counterparts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<ElementsDiff>,
}

/// A field that is not the same.
#[derive(Debug, Clone, Serialize)]
pub struct FieldDifference {
    /// `type`, `shape` or `metadata`; of how an array is stored `type`, `order`, `byte order`, `encoding` or
    /// `flags`.
    pub field: &'static str,
    /// What the first array says.
    pub a: String,
    /// What the second says.
    pub b: String,
}

/// How elements differ. Two that are not numbers (NaN) are equal.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ElementsDiff {
    /// How many there are.
    pub count: u64,
    /// How many differ by more than is tolerated.
    pub differing: u64,
    /// How many of these are NaN on one side alone. Distances leave them out.
    pub nan: u64,
    /// The first of the differing ones, in the order of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Place>,
    /// The two that are furthest apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub furthest: Option<Place>,
    /// The distances; nothing for elements that are no numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
}

/// An element of both arrays.
#[derive(Debug, Clone, Serialize)]
pub struct Place {
    /// Its index in the order of the shape.
    pub index: Vec<u64>,
    /// It in the first array.
    pub a: String,
    /// It in the second.
    pub b: String,
}

/// How far two arrays are apart, over all elements, tolerated or not. Of complex numbers, the distance of
/// two is the magnitude of their difference.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Distance {
    /// The sum of all distances.
    pub l1: f64,
    /// The square root of the sum of their squares.
    pub l2: f64,
    /// The largest.
    pub max: f64,
    /// The largest part that a distance is of the larger magnitude of its two elements.
    pub relative: f64,
}

impl ArrayDiff {
    /// Whether nothing differs by more than is tolerated.
    pub fn is_same(&self) -> bool {
        self.header.is_empty()
            && self.elements.as_ref().is_some_and(|elements| elements.differing == 0)
    }
}

/// Compares the arrays in the files `a` and `b`, element by element.
///
/// Elements with the same index in both shapes are compared, however the files store them: byte order,
/// encoding and, where descriptions tell of it, the order of dimensions may differ.
///
/// # Errors
///
/// When one of them cannot be read or is no whole RawArray.
pub fn diff_arrays(a: &Path, b: &Path, options: &DiffOptions) -> Result<ArrayDiff> {
    let progress = &options.progress;
    let (first, second) = (Side::open(a, progress)?, Side::open(b, progress)?);
    progress.stage("comparing", first.data_len().saturating_add(second.data_len()), 0);
    progress.begin(&b.to_string_lossy(), second.data_len());
    let (element, shape) = (first.element().to_string(), first.shape());
    let (header, elements) = compare(&first, second, options)?;
    Ok(ArrayDiff { a: a.to_owned(), b: b.to_owned(), element, shape, header, elements })
}

/// What two headers say differently, and how the elements differ where they have counterparts.
pub(super) fn compare(
    first: &Side,
    mut second: Side,
    options: &DiffOptions,
) -> Result<(Vec<FieldDifference>, Option<ElementsDiff>)> {
    let header = differences(first, &second)?;
    if header.iter().any(|field| field.field != "metadata") {
        return Ok((header, None));
    }
    if first.is_row() != second.is_row() {
        second.reverse()?;
    }
    let element = first.element();
    let elbyte = element.elbyte();
    let mut tally = Tally::new(element, options);
    let step = BLOCK.checked_div(elbyte).unwrap_or(1).max(1).saturating_mul(elbyte);
    let mut at = 0;
    let too_large = |_| Error::Unsupported(format!("elements of {elbyte} bytes are too large"));
    let mut blocks = (Vec::new(), Vec::new());
    while at < first.data_len() {
        let len = step.min(first.data_len().saturating_sub(at));
        let len = usize::try_from(len).map_err(too_large)?;
        blocks.0.resize(len, 0);
        blocks.1.resize(len, 0);
        first.read(&mut blocks.0, at)?;
        second.read(&mut blocks.1, at)?;
        tally.add(&blocks.0, &blocks.1);
        at = at.saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
    }
    Ok((header, Some(tally.finish(|number| first.index(number)))))
}

/// In what ways two arrays are stored differently.
pub(super) fn stored_otherwise(a: &Side, b: &Side) -> Vec<FieldDifference> {
    let pairs = a.storage().into_iter().zip(b.storage());
    let others = pairs.filter(|((_, a), (_, b))| a != b);
    let mut fields: Vec<_> =
        others.map(|((field, a), (_, b))| FieldDifference { field, a, b }).collect();
    // Flags are told only where nothing else tells what they say.
    if fields.len() > 1 {
        fields.retain(|field| field.field != "flags");
    }
    fields
}

fn differences(a: &Side, b: &Side) -> Result<Vec<FieldDifference>> {
    let mut fields = Vec::new();
    // A truth value of Julia is read as the number that all others write.
    let read_as = |element| if element == ElementType::BOOL { ElementType::UINT8 } else { element };
    if read_as(a.element()) != read_as(b.element()) {
        let (a, b) = (a.element().to_string(), b.element().to_string());
        fields.push(FieldDifference { field: "type", a, b });
    }
    if a.shape() != b.shape() {
        let (a, b) = (format!("{:?}", a.shape()), format!("{:?}", b.shape()));
        fields.push(FieldDifference { field: "shape", a, b });
    }
    if !a.has_metadata_of(b)? {
        let say = |side: &Side| match side.metadata_len() {
            0 => "none".to_owned(),
            1 => "1 byte".to_owned(),
            many => format!("{many} bytes"),
        };
        let (a, b) = (say(a), say(b));
        let b = if a == b { format!("{b}, others") } else { b };
        fields.push(FieldDifference { field: "metadata", a, b });
    }
    Ok(fields)
}
