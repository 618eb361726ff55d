//! A directory to unpack into, by the names of paths, where there are no handles of directories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::directory::create_directories;
use super::pending::PendingFile;
use crate::error::Result;

/// A directory that files are written below.
#[derive(Debug)]
pub(crate) struct Target {
    path: PathBuf,
    made: Mutex<BTreeSet<String>>,
}

impl Target {
    /// Opens the directory at `path`, which is there.
    #[expect(clippy::unnecessary_wraps, reason = "with handles it may fail")]
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), made: Mutex::default() })
    }

    /// Makes a directory below, and every missing one above it.
    pub(crate) fn make_directory(&self, below: &str) -> Result<()> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        create_directories(&self.path, below, &mut made)
    }

    /// A way to write files for one job.
    pub(crate) fn writer(&self) -> TargetWriter<'_> {
        TargetWriter { target: self }
    }

    /// The directories that were written to, and this one.
    pub(crate) fn older_directories(&self) -> Vec<PathBuf> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let below = made.iter().map(|name| self.path.join(name));
        std::iter::once(self.path.clone()).chain(below).collect()
    }
}

/// One job's way to write files.
#[derive(Debug)]
pub(crate) struct TargetWriter<'t> {
    target: &'t Target,
}

impl TargetWriter<'_> {
    /// Begins the file `name` below, in directories that are made where they are missing.
    pub(crate) fn begin(&mut self, name: &str, replace: bool) -> Result<PendingFile> {
        if let Some((parent, _)) = name.rsplit_once('/') {
            self.target.make_directory(parent)?;
        }
        PendingFile::create(&self.target.path.join(name), replace)
    }
}
