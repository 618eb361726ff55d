//! What is told of two arrays or packs.

use std::path::PathBuf;

use serde::Serialize;

use crate::archive::Container;
use crate::finding::Finding;
use crate::pack::Layout;
use crate::ra::ElementType;

/// The differences of two arrays.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArrayDiff {
    /// The first array, by its path as given.
    pub a: PathBuf,
    /// The second, by its path as given.
    pub b: PathBuf,
    /// The type of the elements of the first.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type")]
    pub element: ElementType,
    /// The shape of the first, in the order of its description.
    pub shape: Vec<u64>,
    /// The differences of the headers, and of the bytes after the data.
    pub header: Vec<FieldDifference>,
    /// The differences of the elements; absent when types or shapes differ, and elements have no counterparts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<ElementsDiff>,
}

/// A field that is not the same.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FieldDifference {
    /// The name of the field. A header has `type`, `shape` and `metadata`, the bytes after the data; the way that an array
    /// is stored has `type`, `order`, `byte order`, `encoding` and `flags`.
    #[cfg_attr(test, schemars(extend("enum" = ["type", "shape", "metadata", "order", "byte order", "encoding", "flags"])))]
    pub field: &'static str,
    /// The value of the first array.
    pub a: String,
    /// The value of the second.
    pub b: String,
}

/// The differences of elements. Two that are not numbers (NaN) are equal.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ElementsDiff {
    /// The number of elements.
    pub count: u64,
    /// The number of elements that differ by more than is tolerated.
    pub differing: u64,
    /// The number of these that are NaN on one side alone. Distances leave them out.
    pub nan: u64,
    /// The first of the differing ones, in the order of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<DiffPlace>,
    /// The two that are furthest apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub furthest: Option<DiffPlace>,
    /// The distances, over all elements; absent for elements that are not numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
}

/// An element of both arrays.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffPlace {
    /// Its index in the order of the shape.
    pub index: Vec<u64>,
    /// The element of the first array.
    pub a: String,
    /// The element of the second.
    pub b: String,
}

/// The distances of two arrays, over all elements, tolerated or not. Of complex numbers, the distance of
/// two is the magnitude of their difference.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Distance {
    /// The sum of all distances; null when it is infinite.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub l1: f64,
    /// The square root of the sum of their squares; null when it is infinite.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub l2: f64,
    /// The largest; null when it is infinite.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
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

/// The differences of two packs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PackDiff {
    /// The first pack.
    pub a: DiffSide,
    /// The second.
    pub b: DiffSide,
    /// The number of members of each kind.
    pub counts: DiffCounts,
    /// The members that are not the same byte for byte, sorted by name.
    pub members: Vec<MemberDiff>,
}

/// One of two packs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffSide {
    /// The archive or directory, by its path as given.
    pub target: PathBuf,
    /// The container of the target.
    pub container: Container,
    /// The layout of the pack.
    pub layout: Layout,
    /// The errors in it that were met on the way.
    pub findings: Vec<Finding>,
}

/// The number of members of each kind. An array and the description beside it are one member; what packing
/// generates is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffCounts {
    /// The same byte for byte.
    pub same: u64,
    /// The number of these that were not read on both sides, because a manifest vouches for them.
    pub by_manifest: u64,
    /// The number of these that were read on neither side.
    #[serde(skip)]
    pub by_manifests_alone: u64,
    /// In the second pack alone.
    pub added: u64,
    /// In the first alone.
    pub removed: u64,
    /// With other names in both; what else changed of them does not count again.
    pub renamed: u64,
    /// With another content.
    pub changed: u64,
    /// With elements that differ by no more than is tolerated.
    pub tolerated: u64,
    /// With the same elements or the same description, in other bytes.
    pub stored_otherwise: u64,
    /// Those that could not be read.
    pub unread: u64,
}

impl DiffCounts {
    /// All members of both.
    pub fn total(&self) -> u64 {
        let Self { same, added, removed, renamed, changed, tolerated, .. } = *self;
        same + added + removed + renamed + changed + tolerated + self.stored_otherwise + self.unread
    }
}

/// The kind of difference between a member of one pack and that of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MemberChange {
    /// It is in the second pack alone.
    Added,
    /// It is in the first alone.
    Removed,
    /// It has another name in the first.
    Renamed,
    /// It has another content.
    Changed,
    /// Its elements differ by no more than is tolerated.
    Tolerated,
    /// It has the same elements, or says the same, in other bytes.
    #[default]
    StoredOtherwise,
    /// It could not be read on one side; the findings say why.
    Unread,
}

/// A member that is not the same byte for byte: an array with its description, or another file.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemberDiff {
    /// Its payload name, in the second pack where it is there.
    pub name: String,
    /// Its name in the first pack, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// The kind of the change.
    pub change: MemberChange,
    /// Whether packing generates it, so that it does not count; absent when not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
    /// Bytes of the file in the first pack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_a: Option<u64>,
    /// Bytes of the file in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_b: Option<u64>,
    /// The differences of the array, or its facts when one pack alone has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayChange>,
    /// The differences of the description of the array, or of a document, by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub description: Vec<DescriptionDifference>,
    /// Whether the description beside it says the same in other bytes; absent when not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub description_rewritten: bool,
    /// The differences of the file, when it is not an array that can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileDifference>,
}

/// An array and its differences.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArrayChange {
    /// The type of its elements, in the second pack where it is there.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type")]
    pub element: ElementType,
    /// Its extents, likewise, in the order of its description's shape.
    pub shape: Vec<u64>,
    /// The differences of the headers, and of the bytes after the data.
    pub header: Vec<FieldDifference>,
    /// The differences in how it is stored, elements aside.
    pub stored: Vec<FieldDifference>,
    /// The differences of the elements; absent when the file is the same, or types or shapes differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<ElementsDiff>,
}

/// A place of a description that says something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DescriptionDifference {
    /// The path in the document, such as `attributes.units`.
    pub path: String,
    /// The text of the first, as YAML on one line; absent when it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// The text of the second, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
}

/// The differences of two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileDifference {
    /// The first byte that differs, or that one of them alone has.
    pub byte: u64,
    /// The line of that byte, counted from 1, when both are text.
    #[cfg_attr(test, schemars(range(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The number of lines of the first, when both are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_a: Option<u64>,
    /// The number of lines of the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_b: Option<u64>,
}

impl ArrayChange {
    pub(super) fn new(element: ElementType, shape: Vec<u64>) -> Self {
        let (header, stored) = (Vec::new(), Vec::new());
        Self { element, shape, header, stored, elements: None }
    }
}

impl DescriptionDifference {
    /// Whether it is about how files store the array.
    pub fn is_about_storage(&self) -> bool {
        self.path == "storage" || self.path.starts_with("storage.")
    }
}

impl PackDiff {
    /// Whether the contents are the same, within what is tolerated and however they are stored.
    pub fn is_same(&self) -> bool {
        let DiffCounts { added, removed, renamed, changed, unread, .. } = self.counts;
        [added, removed, renamed, changed, unread].iter().all(|count| *count == 0)
    }

    /// Whether all of both packs could be read, as far as it was needed.
    pub fn is_whole(&self) -> bool {
        let mut findings = self.a.findings.iter().chain(&self.b.findings);
        self.counts.unread == 0 && !findings.any(Finding::is_error)
    }

    /// Counts a member, and adds it unless a closer look found nothing.
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
