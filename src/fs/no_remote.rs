//! A replacement for `remote` in programs without that feature.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::source::Source;
use super::stamp::Version;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// Always fails.
pub(super) fn open(url: &Path, _: &Progress) -> Result<(Arc<dyn Source>, PathBuf)> {
    Err(Error::unsupported(format!(
        "`{}` is a URL, and this program was built without the feature `remote`; build it with \
         `cargo install ra-pack --features remote`, or download the pack",
        crate::path::escape_path(url)
    )))
}

/// Always fails.
pub(super) fn version(url: &Path) -> Result<Version> {
    let (source, path) = open(url, &Progress::default())?;
    source.version().map_err(Error::io("access", path))
}

/// Returns the path.
pub(super) fn url_of(path: &Path) -> Cow<'_, Path> {
    Cow::Borrowed(path)
}
