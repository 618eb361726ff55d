//! Options of a comparison.

use crate::inspect::select::Patterns;
use crate::progress::Progress;

/// Options for [`diff`](super::diff()): tolerances, members, and how much to read.
#[derive(Debug, Clone, Default)]
pub struct DiffOptions {
    /// Maximum distance between elements that count as equal.
    pub tolerance: f64,
    /// Maximum distance between elements that count as equal, relative to the magnitude of the second element.
    pub relative: f64,
    /// Names of members to compare, for packs; all members if there are none.
    pub patterns: Patterns,
    /// Whether to read all files of packs. By default files with the same digest in both manifests are not read.
    pub read_all: bool,
    /// Whether to also compare generated files of packs: manifests and tag files of bags.
    pub generated: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}
