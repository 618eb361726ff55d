//! Files and directories that only operations that write packs need: staged directories, unpacking, and locks.

mod append;
mod below;
mod directory;
mod file;
mod pending;
mod staged;
mod target;

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

pub(crate) use self::append::LineFile;
pub(crate) use self::below::Below;
pub(crate) use self::pending::{
    UNFINISHED_SUFFIX, left_unfinished, leftovers, leftovers_in, replace, restore, rewrite,
    scratch_file,
};
pub(crate) use self::staged::{PendingDirectory, STAGED};
pub(crate) use self::target::{Target, TargetWriter};
pub(crate) use super::pending::{PendingFile, TEMPORARY_SUFFIX};

use super::file::without_waiting;
pub(crate) use super::stamp::Stamp;
use super::{is_link, parent_of, refuse_url};
use crate::error::{Error, Result};
use crate::progress::Progress;

/// Interval of the tries to lock a directory. A blocking lock could not be cancelled.
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// Removes a file if it exists.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Removes a directory of this program and everything in it.
pub(crate) fn remove_directory(path: &Path) -> Result<()> {
    fs::remove_dir_all(path).map_err(Error::io("remove", path))
}

/// Returns the size of all ordinary files below a directory, without following links; 0 for those that cannot be
/// accessed.
pub(crate) fn size_below(path: &Path) -> u64 {
    let files =
        walkdir::WalkDir::new(path).into_iter().filter_map(|entry| entry.ok()?.metadata().ok());
    let sizes = files.filter(fs::Metadata::is_file).map(|metadata| metadata.len());
    sizes.fold(0, u64::saturating_add)
}

/// Returns whether a directory is empty.
pub(crate) fn is_empty_directory(path: &Path) -> Result<bool> {
    Ok(fs::read_dir(path).map_err(Error::io("read", path))?.next().is_none())
}

/// Returns whether something other than a directory, such as a link, is at `below` under `root` or at one of its
/// parents.
pub(crate) fn is_blocked(root: &Path, below: &str) -> bool {
    let mut path = root.to_owned();
    below.split('/').any(|part| {
        path.push(part);
        fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_dir())
    })
}

/// Returns the first part of the path `below` under `root` that is a link.
pub(crate) fn link_below<'b>(root: &Path, below: &'b str) -> Option<&'b str> {
    let ends = below.match_indices('/').map(|(end, _)| end).chain([below.len()]);
    ends.map(|end| below.split_at(end).0).find(|name| is_link(&root.join(name)))
}

/// Returns whether two paths are in the same directory.
pub(crate) fn are_neighbours(one: &Path, other: &Path) -> bool {
    let directory = |path| fs::canonicalize(parent_of(path)).ok();
    directory(one).is_some_and(|home| directory(other) == Some(home))
}

/// Returns whether both paths are the same name in the same directory. The file need not exist.
pub(crate) fn is_same_name(one: &Path, other: &Path) -> bool {
    one.file_name() == other.file_name() && are_neighbours(one, other)
}

/// Syncs the directory of `path` to disk, so that a rename survives a power failure.
pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    if cfg!(unix) {
        let directory = parent_of(path);
        let file = fs::File::open(directory).map_err(Error::io("open", directory))?;
        file.sync_all().map_err(Error::io("write", directory))?;
    }
    Ok(())
}

/// Creates a directory and its missing parents.
pub(crate) fn create_root(path: &Path) -> Result<()> {
    refuse_url(path)?;
    let made = fs::create_dir_all(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::Error::other("a file has this name"),
        _ => error,
    });
    made.map_err(Error::io("create the directory", path))
}

/// A lock of a directory for this run, released on drop.
#[derive(Debug)]
#[must_use]
pub(crate) struct Turn {
    _directory: Option<fs::File>,
}

impl Turn {
    /// Locks the directory of `target`. Two runs that rename several related files at once would mix them.
    ///
    /// Do not call this twice: the second call waits for the first.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`] if the operation is cancelled while it waits.
    pub(crate) fn beside(target: &Path, progress: &Progress) -> Result<Self> {
        Self::take(parent_of(target), false, progress)
    }

    /// Locks `directory`. Several `shared` locks can exist at once.
    pub(crate) fn take(directory: &Path, shared: bool, progress: &Progress) -> Result<Self> {
        // On other systems, a lock would keep others from reading, and directories cannot be opened.
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

/// Returns whether a running process uses the temporary file or directory at `path`.
fn is_marked(path: &Path) -> bool {
    let is_marked =
        |file: fs::File| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock));
    cfg!(unix) && without_waiting(path).is_ok_and(is_marked)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_directory_lock_excludes_others() {
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
        // Shared locks do not wait for each other.
        let _one = Turn::take(directory.path(), true, &progress).unwrap();
        let _other = Turn::take(directory.path(), true, &progress).unwrap();
    }
}
