//! A directory to unpack into, by the names of paths, where there are no handles of directories.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::pending::PendingFile;
use crate::error::{Error, Result};

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

/// Creates one directory below `root`, and every missing one above it. A symbolic link or a file in
/// the way is an error: nothing is ever written through a link.
pub(crate) fn create_directories(
    root: &Path,
    below: &str,
    made: &mut BTreeSet<String>,
) -> Result<()> {
    if below.is_empty() || made.contains(below) {
        return Ok(());
    }
    // From the top down, not by recursion: a name can have tens of thousands of parts.
    let ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
    for directory in ends.filter_map(|end| below.get(..end)) {
        if !made.contains(directory) {
            create_directory(&root.join(directory))?;
            made.insert(directory.to_owned());
        }
    }
    Ok(())
}

/// Creates one directory, or accepts one that is there and is no link.
fn create_directory(path: &Path) -> Result<()> {
    match fs::create_dir(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let metadata = fs::symlink_metadata(path).map_err(Error::io("look at", path))?;
            if metadata.is_dir() {
                return Ok(());
            }
            Err(Error::io("create the directory", path)(io::Error::new(
                io::ErrorKind::NotADirectory,
                "something that is not a directory is in the way",
            )))
        }
        Err(error) => Err(Error::io("create the directory", path)(error)),
    }
}

#[cfg(all(test, unix))] // links
mod tests {
    use super::*;

    #[test]
    fn directories_are_never_made_through_a_link() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("a")).unwrap();
        let made = &mut BTreeSet::new();
        assert!(create_directories(root.path(), "a/b", made).is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        create_directories(root.path(), "c/d", made).unwrap();
        assert!(root.path().join("c/d").is_dir());
    }
}
