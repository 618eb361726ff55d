//! Options for operations on descriptions.

use crate::progress::Progress;

/// Options for operations on descriptions.
#[derive(Debug, Clone, Default)]
pub struct DescribeOptions {
    /// Whether to turn 1-D arrays without a description whose name is that of a coordinate, such as `time` or `lat`,
    /// into coordinates. Dimensions of other arrays with the same length get their names.
    pub dimcoords: bool,
    /// Whether to only report what would be written or changed.
    pub dry_run: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}
