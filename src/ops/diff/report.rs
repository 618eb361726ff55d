//! What is told of two arrays or packs.

use std::path::PathBuf;

use serde::Serialize;

use crate::archive::Container;
use crate::finding::Finding;
use crate::pack::Layout;

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
    pub first: Option<DiffPlace>,
    /// The two that are furthest apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub furthest: Option<DiffPlace>,
    /// The distances; nothing for elements that are no numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
}

/// An element of both arrays.
#[derive(Debug, Clone, Serialize)]
pub struct DiffPlace {
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

/// How two packs differ.
#[derive(Debug, Clone, Serialize)]
pub struct PackDiff {
    /// The first pack.
    pub a: DiffSide,
    /// The second.
    pub b: DiffSide,
    /// How many members are of each kind.
    pub counts: DiffCounts,
    /// The members that are not the same byte for byte, sorted by name.
    pub members: Vec<MemberDiff>,
}

/// One of two packs.
#[derive(Debug, Clone, Serialize)]
pub struct DiffSide {
    /// The archive or directory.
    pub target: PathBuf,
    /// What it is.
    pub container: Container,
    /// How it is laid out.
    pub layout: Layout,
    /// The errors in it that were met on the way.
    pub findings: Vec<Finding>,
}

/// How many members are of each kind. An array and the description beside it are one member; what packing
/// generates is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DiffCounts {
    /// The same byte for byte.
    pub same: u64,
    /// How many of these were not read on both sides, because a manifest vouches for them.
    pub by_manifest: u64,
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

/// What became of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
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
    StoredOtherwise,
    /// It could not be read on one side; the findings say why.
    Unread,
}

/// A member that is not the same byte for byte: an array with its description, or another file.
#[derive(Debug, Clone, Serialize)]
pub struct MemberDiff {
    /// Its payload name, in the second pack where it is there.
    pub name: String,
    /// Its name in the first pack, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// What became of it.
    pub change: MemberChange,
    /// Whether packing generates it, so that it does not count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
    /// Bytes of the file in the first pack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_a: Option<u64>,
    /// Bytes of the file in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_b: Option<u64>,
    /// How it differs as an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayChange>,
    /// What the description of the array, or a document, says otherwise, by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub description: Vec<DescriptionDifference>,
    /// Whether the description beside it says the same in other bytes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub description_rewritten: bool,
    /// How it differs as a file, when it is no array that can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileDifference>,
}

/// An array, and how it differs.
#[derive(Debug, Clone, Serialize)]
pub struct ArrayChange {
    /// The type of its elements, in the second pack where it is there.
    #[serde(rename = "type")]
    pub element: String,
    /// Its extents, likewise, in the order of its description's shape.
    pub shape: Vec<u64>,
    /// What the headers say differently, and what stands behind the data.
    pub header: Vec<FieldDifference>,
    /// How it is stored otherwise, elements aside.
    pub stored: Vec<FieldDifference>,
    /// How the elements differ; nothing when the file is the same or elements have no counterparts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<ElementsDiff>,
}

/// A place of a description that says something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DescriptionDifference {
    /// Where, such as `attributes.units`.
    pub path: String,
    /// What the first says, as YAML on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// What the second says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
}

/// How two files differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FileDifference {
    /// The first byte that differs, or that one of them alone has.
    pub byte: u64,
    /// The line of that byte, from 1 on, when both are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// How many lines the first has, when both are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_a: Option<u64>,
    /// How many lines the second has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_b: Option<u64>,
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

    /// Counts a member that is not the same.
    pub(super) fn push(&mut self, member: MemberDiff) {
        let counts = &mut self.counts;
        let count = match member.change {
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
