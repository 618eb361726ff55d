//! What is written is never what is read.

use std::path::Path;

use super::manifests::beside;
use crate::error::{Error, Result};
use crate::fs;
use crate::pack::EXTERNAL_MANIFEST_SUFFIX;
use crate::path::escape;

/// Refuses an output that would take the place of what is read: of the archive or array at `input`, of a file of
/// the directory there, or of the manifest beside it.
///
/// # Errors
///
/// When it would.
pub fn check_apart(input: &Path, output: &Path) -> Result<()> {
    let (Ok(read), Ok(written)) = (fs::real_path(input), fs::real_path(output)) else {
        // Nothing is there that could be replaced.
        return Ok(());
    };
    let what = if written == read {
        "is what is read"
    } else if written.starts_with(&read) {
        "is a file of the directory that is read"
    } else if written == beside(&read, EXTERNAL_MANIFEST_SUFFIX) {
        "is the manifest of what is read"
    } else {
        return Ok(());
    };
    Err(Error::Unsupported(format!(
        "`{}` {what}; give the output another name",
        escape(&output.to_string_lossy())
    )))
}
