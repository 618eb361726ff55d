//! The only door to the file system: every message names the path, every new file is whole or absent.

#[cfg(feature = "write")]
mod below;
#[cfg(feature = "write")]
mod directory;
mod file;
#[cfg(feature = "write")]
mod pending;
mod source;
#[cfg(feature = "write")]
mod target;
mod walk;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

pub(crate) use self::file::{File, FileMap, Stamp, holds, read_limited, read_once};
#[cfg(feature = "write")]
pub use self::pending::{remove_unfinished_and_exit, write_new};
pub use self::source::{ReadAt, Seekable};
pub use self::walk::MemberKind;
pub(crate) use self::walk::{Walked, entries, walk};
#[cfg(feature = "write")]
pub(crate) use self::{
    below::Below,
    pending::{
        PendingDirectory, PendingFile, STAGED, TEMPORARY_SUFFIX, leftovers, leftovers_in, replace,
        rewrite, scratch_file,
    },
    target::{Target, TargetWriter},
};

use self::walk::member_path;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::progress::Progress;

/// Whether something of that name is there, a dangling link too.
pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Removes a file; one that is not there is no error.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Whether it is a directory, through links.
pub(crate) fn is_directory(path: &Path) -> Result<bool> {
    Ok(fs::metadata(path).map_err(Error::io("open", path))?.is_dir())
}

/// What is at `path`, by its first bytes.
pub(crate) fn kind_of(path: &Path) -> Result<FileKind> {
    if is_directory(path)? {
        return Ok(FileKind::Directory);
    }
    File::open(path)?.kind()
}

/// The length of an ordinary file, if there is one.
pub(crate) fn file_len(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}

/// Whether a directory holds nothing.
pub(crate) fn is_empty_directory(path: &Path) -> Result<bool> {
    Ok(fs::read_dir(path).map_err(Error::io("read", path))?.next().is_none())
}

/// Whether `below` is an ordinary file below `root`, reached through ordinary directories only.
pub(crate) fn is_plain_below(root: &Path, below: &str) -> Result<bool> {
    let mut path = root.to_owned();
    let mut parts = below.split('/').peekable();
    while let Some(part) = parts.next() {
        path.push(part);
        let kind = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(false),
            Err(error) => return Err(Error::io("look at", &path)(error)),
        };
        let last = parts.peek().is_none();
        if (last && !kind.is_file()) || (!last && !kind.is_dir()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The directory of `path`, and each above it up to the working directory, when it lies there; the
/// directory alone when it does not.
pub(crate) fn enclosing_directories(path: &Path) -> Result<Vec<PathBuf>> {
    let parent = parent_of(path);
    let directory = fs::canonicalize(parent).map_err(Error::io("open", parent))?;
    let working = fs::canonicalize(".").map_err(Error::io("open", "."))?;
    let above = directory.ancestors().take_while(|above| above.starts_with(&working));
    let mut above: Vec<_> = above.map(Path::to_owned).collect();
    if above.is_empty() {
        above.push(directory);
    }
    Ok(above)
}

/// The name of `path` below `root`, when it lies there.
pub(crate) fn name_below(root: &Path, path: &Path) -> Option<String> {
    let directory = fs::canonicalize(parent_of(path)).ok()?;
    let below = directory.join(path.file_name()?);
    let root = fs::canonicalize(root).ok()?;
    Some(member_path(below.strip_prefix(root).ok()?).ok()?.as_str().to_owned())
}

/// Whether two paths lead into the same directory.
pub(crate) fn are_neighbours(one: &Path, other: &Path) -> bool {
    let directory = |path| fs::canonicalize(parent_of(path)).ok();
    directory(one).is_some_and(|home| directory(other) == Some(home))
}

/// Whether `path` itself is a link.
pub(crate) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// The path without links.
pub(crate) fn real_path(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(Error::io("open", path))
}

/// Whether both are the same name in the same directory, of a file that need not be there.
pub(crate) fn is_same_name(one: &Path, other: &Path) -> bool {
    one.file_name() == other.file_name() && are_neighbours(one, other)
}

/// Writes the names in the directory of `path` to the disk, so that a rename survives a power cut.
pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    if cfg!(unix) {
        let directory = parent_of(path);
        let file = fs::File::open(directory).map_err(Error::io("open", directory))?;
        file.sync_all().map_err(Error::io("write", directory))?;
    }
    Ok(())
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Creates a directory and every missing one above it.
pub(crate) fn create_root(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(Error::io("create the directory", path))
}

/// The turn of this run in a directory; it ends when this is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Turn {
    _directory: Option<fs::File>,
}

impl Turn {
    /// Waits until no other run has its turn in the directory of `target`. For files that belong together and get
    /// their names one by one: two runs at once would leave some of the one and some of the other.
    ///
    /// Never taken twice: the second waits for the first.
    ///
    /// # Errors
    ///
    /// When it is cancelled while it waits.
    pub(crate) fn beside(target: &Path, progress: &Progress) -> Result<Self> {
        Self::take(parent_of(target), false, progress)
    }

    /// Waits until no other run has its turn in `directory`; those that are `shared` have it together.
    pub(crate) fn take(directory: &Path, shared: bool, progress: &Progress) -> Result<Self> {
        /// A lock that is waited for by the system could not be cancelled.
        const BETWEEN_TRIES: Duration = Duration::from_millis(5);
        // Elsewhere a locked file cannot be read by others, and a directory is not opened.
        let opened = if cfg!(unix) { fs::File::open(directory).ok() } else { None };
        let Some(file) = opened else { return Ok(Self { _directory: None }) };
        loop {
            let locked = if shared { file.try_lock_shared() } else { file.try_lock() };
            if !matches!(locked, Err(fs::TryLockError::WouldBlock)) {
                return Ok(Self { _directory: Some(file).filter(|_| locked.is_ok()) });
            }
            progress.check()?;
            progress.stage("waiting for another run", 0, 0);
            thread::sleep(BETWEEN_TRIES);
        }
    }
}

/// Marks an open temporary file or directory as one that somebody writes.
pub(super) fn mark(temporary: &fs::File) {
    if cfg!(unix) {
        // Without locks a file of another run that still writes it looks left over.
        let _ = temporary.try_lock();
    }
}

/// Whether some run writes the temporary file or directory at `path`.
pub(super) fn is_marked(path: &Path) -> bool {
    let is_marked =
        |file: fs::File| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock));
    cfg!(unix) && file::without_waiting(path).is_ok_and(is_marked)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_turn_in_a_directory_ends_before_the_next_begins() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        let progress = Progress::default();
        if !cfg!(unix) || fs::File::open(&path).unwrap().try_lock().is_err() {
            return;
        }
        let first = Turn::take(&path, false, &progress).unwrap();
        let cancelled = Progress::new();
        cancelled.cancel();
        assert!(matches!(Turn::take(&path, false, &cancelled), Err(Error::Interrupted)));
        let (tell, told) = mpsc::channel();
        let second = thread::spawn(move || {
            let turn = Turn::beside(&path.join("x"), &Progress::default()).unwrap();
            tell.send(()).unwrap();
            drop(turn);
        });
        assert!(told.recv_timeout(Duration::from_millis(50)).is_err());
        drop(first);
        told.recv().unwrap();
        second.join().unwrap();
        // Neither waits for the other.
        let _one = Turn::take(directory.path(), true, &progress).unwrap();
        let _other = Turn::take(directory.path(), true, &progress).unwrap();
    }
}
