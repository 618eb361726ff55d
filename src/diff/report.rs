//! Reports about the differences of two arrays or packs.

use std::path::PathBuf;

use serde::Serialize;

use crate::archive::Container;
use crate::finding::Finding;
use crate::ndl::Ndarray;
use crate::pack::{Layout, shape_of};
use crate::ra::{ElementType, Header};
use crate::read::type_name;

/// The differences of two arrays.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArrayDiff {
    /// Path of the first array, as given.
    pub a: PathBuf,
    /// Path of the second array, as given.
    pub b: PathBuf,
    /// Element type of the first array.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type")]
    pub element: ElementType,
    /// Shape of the first array, in the order of its description.
    pub shape: Vec<u64>,
    /// Differences of the headers, and of the bytes after the data.
    pub header: Vec<FieldDifference>,
    /// Differences of the elements; absent if shapes differ, or if types differ and are not both numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<ElementsDiff>,
}

/// A field that differs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FieldDifference {
    /// Name of the field. Headers have `type`, `shape` and `metadata` (the bytes after the data). Storage has `type`,
    /// `order`, `byte order`, `encoding` and `flags`.
    #[cfg_attr(test, schemars(extend("enum" = ["type", "shape", "metadata", "order", "byte order", "encoding", "flags"])))]
    pub field: &'static str,
    /// Value in the first array.
    pub a: String,
    /// Value in the second array.
    pub b: String,
}

/// The differences of elements. NaN equals NaN.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ElementsDiff {
    /// Number of elements.
    pub count: u64,
    /// Number of elements that differ by more than the tolerance.
    pub differing: u64,
    /// Number of these that are NaN in only one array. Distances do not include them.
    pub nan: u64,
    /// The first element that differs, in the order of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<DiffPlace>,
    /// The elements with the largest distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub furthest: Option<DiffPlace>,
    /// Distances over all elements; absent for elements that are not numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
}

/// An element of both arrays.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffPlace {
    /// Index of the element in the order of the shape.
    pub index: Vec<u64>,
    /// The element of the first array: what it means by its description.
    pub a: String,
    /// The element of the second array.
    pub b: String,
    /// The numbers that are stored for both, if they are others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<[String; 2]>,
}

/// The distances of two arrays over all elements, tolerated or not. The distance of complex numbers is the magnitude of
/// their difference.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Distance {
    /// Sum of all distances; null if infinite.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub l1: f64,
    /// Square root of the sum of squared distances; null if infinite.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub l2: f64,
    /// The largest distance; null if infinite.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub max: f64,
    /// The largest distance relative to the larger magnitude of the two elements.
    pub relative: f64,
}

/// The result of a comparison of the numbers of two arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Agreement {
    /// Shapes, types and all elements are the same.
    SameNumbers,
    /// Shapes and all elements are the same, but the types differ, such as `int16` and `float64`.
    SameNumbersOtherType,
    /// Shapes or elements differ.
    Differs,
    /// Only the source has the array.
    MissingInPack,
    /// Only the pack has the array.
    MissingInSource,
}

impl Agreement {
    /// Returns what the differences of two headers and of their elements say.
    pub fn of(header: &[FieldDifference], elements: Option<&ElementsDiff>) -> Self {
        let is_other = |field: &FieldDifference| field.field == "type";
        match elements {
            Some(elements) if elements.differing > 0 => Self::Differs,
            Some(_) if header.iter().any(is_other) => Self::SameNumbersOtherType,
            Some(_) => Self::SameNumbers,
            None => Self::Differs,
        }
    }

    /// Returns whether both arrays have the same numbers.
    pub fn is_same(self) -> bool {
        matches!(self, Self::SameNumbers | Self::SameNumbersOtherType)
    }
}

impl ArrayDiff {
    /// Returns whether nothing differs by more than the tolerance.
    pub fn is_same(&self) -> bool {
        self.header.is_empty()
            && self.elements.as_ref().is_some_and(|elements| elements.differing == 0)
    }
}

/// The differences of two packs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PackDiff {
    /// The first pack.
    pub a: DiffSide,
    /// The second pack.
    pub b: DiffSide,
    /// Number of members by kind of difference.
    pub counts: DiffCounts,
    /// Members that are not identical byte for byte, sorted by name.
    pub members: Vec<MemberDiff>,
}

/// One of two packs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffSide {
    /// Path of the archive or directory, as given.
    pub target: PathBuf,
    /// The container of the target.
    pub container: Container,
    /// The layout of the pack.
    pub layout: Layout,
    /// Errors that were found during the comparison.
    pub findings: Vec<Finding>,
}

/// Number of members by kind of difference. An array and the description next to it are one member; generated files do
/// not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffCounts {
    /// Members that are identical byte for byte.
    pub same: u64,
    /// Identical members that were not read in both packs, because a manifest gives their digest.
    pub by_manifest: u64,
    /// Identical members that were read in neither pack.
    #[serde(skip)]
    pub by_manifests_alone: u64,
    /// Members of the second pack only.
    pub added: u64,
    /// Members of the first pack only.
    pub removed: u64,
    /// Members with another name. Other changes to them do not count again.
    pub renamed: u64,
    /// Members with different content.
    pub changed: u64,
    /// Members whose elements differ by no more than the tolerance.
    pub tolerated: u64,
    /// Members with the same elements or the same description in different bytes.
    pub stored_otherwise: u64,
    /// Members that could not be read.
    pub unread: u64,
}

impl DiffCounts {
    /// Returns the number of members in both packs together.
    pub fn total(&self) -> u64 {
        let Self { same, added, removed, renamed, changed, tolerated, .. } = *self;
        same + added + removed + renamed + changed + tolerated + self.stored_otherwise + self.unread
    }
}

/// The kind of difference of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MemberChange {
    /// Only the second pack has the member.
    Added,
    /// Only the first pack has the member.
    Removed,
    /// The member has another name in the first pack.
    Renamed,
    /// The content differs.
    Changed,
    /// The elements differ by no more than the tolerance.
    Tolerated,
    /// The elements or the description are the same in different bytes.
    #[default]
    StoredOtherwise,
    /// The member could not be read in one pack; the findings give the reason.
    Unread,
}

/// A member that is not identical: an array with its description, or another file.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemberDiff {
    /// Payload name of the member, in the second pack if it is there.
    pub name: String,
    /// Name in the first pack, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// Kind of the change.
    pub change: MemberChange,
    /// Whether the file is generated and does not count; absent if it does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
    /// Size of the file in the first pack in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_a: Option<u64>,
    /// Size of the file in the second pack in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_b: Option<u64>,
    /// Differences of the array, or its facts if only one pack has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayChange>,
    /// Differences of the description of the array, or of a document, by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub description: Vec<DescriptionDifference>,
    /// Whether the description next to the array has the same meaning in different bytes; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub description_rewritten: bool,
    /// Differences of the file, if it is not a readable array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileDifference>,
}

/// An array and its differences.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArrayChange {
    /// Element type, in the second pack if the array is there.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type")]
    pub element: ElementType,
    /// Name of the type for people, as [`type_name`](crate::read::type_name).
    #[serde(skip)]
    pub type_name: String,
    /// Lengths of the dimensions, in the second pack if the array is there, in the order of its description's shape.
    pub shape: Vec<u64>,
    /// Differences of the headers, and of the bytes after the data.
    pub header: Vec<FieldDifference>,
    /// Differences of the storage, except for the elements.
    pub stored: Vec<FieldDifference>,
    /// Differences of the elements; absent if the file is the same, if shapes differ, or if types differ and are not both
    /// numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<ElementsDiff>,
}

/// A value that differs in two descriptions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DescriptionDifference {
    /// Path in the document, such as `attributes.units`.
    pub path: String,
    /// Text in the first document, as YAML on one line; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// Text in the second document, as YAML on one line; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
}

/// The differences of two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileDifference {
    /// Offset of the first byte that differs, or that only one file has.
    pub byte: u64,
    /// Line of that byte, counted from 1, if both files are text.
    #[cfg_attr(test, schemars(range(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Number of lines in the first file, if both are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_a: Option<u64>,
    /// Number of lines in the second file, if both are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_b: Option<u64>,
}

impl ArrayChange {
    pub(super) fn new(header: &Header, description: Option<&Ndarray>) -> Self {
        let (element, order) = (header.element(), description.map(Ndarray::order));
        Self {
            element,
            type_name: type_name(element, description.map(|ndarray| &ndarray.datatype)),
            shape: shape_of(header.dims(), order.unwrap_or_default()),
            header: Vec::new(),
            stored: Vec::new(),
            elements: None,
        }
    }
}

impl DescriptionDifference {
    /// Returns whether the value concerns how files store the array.
    pub fn is_about_storage(&self) -> bool {
        self.path == "storage" || self.path.starts_with("storage.")
    }
}

impl PackDiff {
    /// Returns whether the contents are the same within the tolerance, however they are stored.
    pub fn is_same(&self) -> bool {
        let DiffCounts { added, removed, renamed, changed, unread, .. } = self.counts;
        [added, removed, renamed, changed, unread].iter().all(|count| *count == 0)
    }

    /// Returns whether everything that was needed of both packs could be read.
    pub fn is_whole(&self) -> bool {
        let mut findings = self.a.findings.iter().chain(&self.b.findings);
        self.counts.unread == 0 && !findings.any(Finding::is_error)
    }

    /// Counts a member, and adds it unless the detailed comparison found no difference.
    pub(super) fn push(&mut self, member: MemberDiff) {
        let counts = &mut self.counts;
        let MemberDiff { array, description, description_rewritten, file, .. } = &member;
        let is_silent =
            array.is_none() && description.is_empty() && !description_rewritten && file.is_none();
        let count = match member.change {
            MemberChange::StoredOtherwise if is_silent => {
                counts.same += 1;
                return;
            }
            MemberChange::Added => &mut counts.added,
            MemberChange::Removed => &mut counts.removed,
            MemberChange::Renamed => &mut counts.renamed,
            MemberChange::Changed => &mut counts.changed,
            MemberChange::Tolerated => &mut counts.tolerated,
            MemberChange::StoredOtherwise => &mut counts.stored_otherwise,
            MemberChange::Unread => &mut counts.unread,
        };
        *count += u64::from(!member.generated);
        self.members.push(member);
    }
}
