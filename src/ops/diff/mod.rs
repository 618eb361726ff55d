//! How two arrays differ, or two packs.

mod arrays;
mod blob;
mod distance;
mod packs;

pub use self::arrays::{ArrayDiff, Distance, ElementsDiff, FieldDifference, Place, diff_arrays};
pub use self::packs::{
    ArrayChange, DescriptionDifference, DiffCounts, DiffSide, FileDifference, MemberChange,
    MemberDiff, PackDiff, diff_members, diff_packs,
};

use super::select::Patterns;
use crate::error::Error;
use crate::progress::Progress;

/// How to compare.
#[derive(Debug, Clone, Default)]
pub struct DiffOptions {
    /// Elements whose distance is no more than this count as equal.
    pub tolerance: f64,
    /// Elements whose distance is no more than this part of the second one's magnitude count as equal.
    pub relative: f64,
    /// Of packs, what to compare: the members with these names; everything when there are none.
    pub patterns: Patterns,
    /// Of packs, read everything, instead of taking a file as equal that the manifests of both give one
    /// digest.
    pub read_all: bool,
    /// Of packs, compare what packing generates too: manifests, tag files of bags.
    pub generated: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// Who is told how far it is.
    pub progress: Progress,
}

fn ends_early() -> Error {
    Error::Unsupported("the data ends early".to_owned())
}
