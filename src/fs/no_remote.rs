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

#[cfg(feature = "full")]
pub(super) use self::upload::give_up_uploads;
#[cfg(feature = "full")]
pub(crate) use self::upload::{NewObject, upload};

#[cfg(feature = "full")]
mod upload {
    use super::{Path, PathBuf, Progress, Result, open};
    use crate::fs::File;

    /// A place for an object, which there never is.
    pub(crate) struct NewObject {
        never: std::convert::Infallible,
    }

    impl NewObject {
        /// Always fails.
        pub(crate) fn at(url: &Path, progress: &Progress) -> Result<Self> {
            Err(open(url, progress).err().expect("it always fails"))
        }

        pub(crate) fn url(&self) -> &Path {
            match self.never {}
        }

        pub(crate) fn exists(&self) -> bool {
            match self.never {}
        }

        pub(crate) fn file_name(&self) -> &str {
            match self.never {}
        }

        pub(crate) fn sibling(&self, _: &Path) -> PathBuf {
            match self.never {}
        }
    }

    /// Is never called, because there is no place.
    #[expect(clippy::unnecessary_wraps, reason = "the other one can fail")]
    pub(crate) fn upload(
        _: Vec<(&NewObject, File)>,
        _: &[&NewObject],
        _: bool,
        _: &Progress,
    ) -> Result<()> {
        Ok(())
    }

    /// Does nothing, because there are no uploads.
    pub(in crate::fs) fn give_up_uploads() {}
}
