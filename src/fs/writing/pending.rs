//! New files without names, replaced files, and what interrupted runs left.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Turn, is_marked, sync_directory};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::directory::Directory;
use crate::fs::file::{File, read_limited};
use crate::fs::pending::{
    PendingFile, TEMPORARY_SUFFIX, open_parent, temporary_prefix, unfinished, unwritable,
};
use crate::fs::stamp::Stamp;
use crate::fs::{beside, exists, parent_of, refuse_url};
use crate::path::first_bytes;
use crate::progress::Progress;

/// Suffix of the name of an archive with a journal that is not complete.
pub(crate) const UNFINISHED_SUFFIX: &str = ".unfinished";

/// Replaces the content of a file in one step if it still is `old`. A user may have edited it since; another run cannot
/// have, while this run holds the [`Turn`](super::Turn). Links and permissions are kept.
pub(crate) fn replace(path: &Path, old: &[u8], new: &[u8]) -> Result<()> {
    rewrite(path, |target, pending| {
        let limit = old.len() as u64;
        if !read_limited(target, limit).is_ok_and(|found| found == old) {
            return Err(File::open(path)?.changed("its content changed after it was read"));
        }
        pending.write_all_at(new, 0)
    })
}

/// Replaces the content of a file in one step. `write` gets the path of the old file and writes the new one. Links and
/// permissions are kept.
pub(crate) fn rewrite(path: &Path, write: impl FnOnce(&Path, &File) -> Result<()>) -> Result<()> {
    let pending = PendingFile::create(path, true)?;
    let target = pending.file().path().to_owned();
    write(&target, pending.file())?;
    pending.complete()?;
    sync_directory(&target)
}

impl PendingFile {
    /// Creates a file for `target`. If `target` does not exist and the system supports unnamed files, the file has no
    /// name, so nothing remains if the process is killed.
    pub(crate) fn begin(target: &Path, replace: bool) -> Result<Self> {
        refuse_url(target)?;
        if fs::symlink_metadata(target).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            && let Ok(Some(pending)) = Self::unnamed_in(&open_parent(target)?, target, replace)
        {
            return Ok(pending);
        }
        Self::create(target, replace)
    }

    /// Creates an unnamed file in the directory of `target`, if the system supports it.
    pub(super) fn unnamed_in(
        directory: &Arc<Directory>,
        target: &Path,
        replace: bool,
    ) -> Result<Option<Self>> {
        let created = directory.create_unnamed();
        let created = created.map_err(Error::io("write in", parent_of(target)))?;
        Ok(created.map(|inner| Self::new(inner, directory, None, target, replace)))
    }

    /// Creates a file that has the name of the target and [`UNFINISHED_SUFFIX`] until it is complete. After
    /// [`keep`](Self::keep), it stays if that never happens.
    pub(crate) fn unfinished(target: &Path, replace: bool) -> Result<Self> {
        let (directory, temporary, name) = unfinished_name(target, replace)?;
        let inner = match directory.create_file(&name, false) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(left_unfinished(temporary));
            }
            made => made.map_err(|error| unwritable(parent_of(target), &error))?,
        };
        unfinished().insert(temporary.clone(), Some((Arc::clone(&directory), name)));
        Ok(Self::new(inner, &directory, Some(temporary), target, replace))
    }

    /// Opens the file of that name, which several processes write, or creates it. It stays if it does not become
    /// complete.
    pub(crate) fn shared(target: &Path, replace: bool) -> Result<Self> {
        let (directory, temporary, name) = unfinished_name(target, replace)?;
        let inner = directory.open_or_create(&name);
        let inner = inner.map_err(|error| unwritable(parent_of(target), &error))?;
        let mut this = Self::new(inner, &directory, Some(temporary), target, replace);
        this.is_kept = true;
        Ok(this)
    }

    /// Keeps the file from now on, even if it does not become complete.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
        self.temporary.as_ref().map(|temporary| unfinished().remove(temporary));
    }

    /// Makes `progress` cancel its reads and writes, without reporting them.
    pub(crate) fn stopped_by(mut self, progress: &Progress) -> Self {
        self.file.watch = progress.silent();
        self
    }

    /// Returns the temporary path, if there is one.
    pub(crate) fn temporary(&self) -> Option<&Path> {
        self.temporary.as_deref()
    }

    /// Returns whether the file still waits for its name.
    pub(crate) fn is_pending(&self) -> bool {
        !self.is_named.load(Ordering::Relaxed)
    }

    /// Truncates the file to `len` bytes.
    pub(crate) fn set_len(&self, len: u64) -> Result<()> {
        let set = self.file.system().and_then(|file| file.set_len(len));
        set.map_err(Error::io("write", self.file.path()))
    }

    /// Makes a file that several processes write at least `len` bytes long, before they write: NFS writes whole pages of
    /// zeros around bytes that are after the end it knows.
    pub(crate) fn grow(&self, len: u64) -> Result<()> {
        let system = self.file.system().map_err(Error::io("write", self.file.path()))?;
        // Two processes that expect other lengths must not cut each other's bytes. Not every file system has locks.
        let is_locked = system.lock().is_ok();
        let grown = if self.file.len()? < len { self.set_len(len) } else { Ok(()) };
        if is_locked {
            let _ = system.unlock();
        }
        grown
    }

    /// Renames the file to its target as [`Self::persist`] does, and deletes the `stale` files of the old one, which may
    /// not exist. If that fails, they keep their names. If it is stopped, [`restore`] brings them back.
    pub(crate) fn persist_over<'s>(&self, stale: &'s [PathBuf]) -> Result<()> {
        let old = File::open(self.file.path()).and_then(|file| file.stamp()).ok();
        // A signal waits for the lock.
        let running = unfinished();
        let mut aside = Vec::new();
        let mut set_aside = |path: &'s PathBuf| {
            let hidden = aside_name(path, old);
            match fs::rename(path, &hidden) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => {
                    renamed.map_err(Error::io("replace", path))?;
                    aside.push((path, hidden));
                }
            }
            Ok(())
        };
        let set = stale.iter().try_for_each(&mut set_aside);
        let done = set.and_then(|()| self.give_name().map_err(|error| self.unnamed(error)));
        for (path, hidden) in aside {
            // The caller reports files that remain as left over.
            let _ = if done.is_ok() { fs::remove_file(&hidden) } else { fs::rename(&hidden, path) };
        }
        self.is_named.store(done.is_ok(), Ordering::Relaxed);
        drop(running);
        done
    }
}

/// Returns the directory of a target that may be written, and the path and the name of its file with
/// [`UNFINISHED_SUFFIX`].
fn unfinished_name(target: &Path, replace: bool) -> Result<(Arc<Directory>, PathBuf, OsString)> {
    if !replace && exists(target) {
        return Err(Error::AlreadyExists { path: target.to_owned() });
    }
    let temporary = beside(target, UNFINISHED_SUFFIX);
    let name = temporary.file_name().unwrap_or_default().to_owned();
    Ok((open_parent(target)?, temporary, name))
}

/// Makes the error for a file with [`UNFINISHED_SUFFIX`] that another writer has made.
pub(crate) fn left_unfinished(path: PathBuf) -> Error {
    let why = "is left by a writer that was stopped, or another writer uses it; make a pack of \
               it with `ra-pack salvage`, then delete it and its manifest";
    Error::wrong_target(path, why)
}

/// Returns the name under which a file that belongs to a file with this stamp waits until that is replaced.
fn aside_name(path: &Path, old: Option<Stamp>) -> PathBuf {
    let token = Digest::sha256(format!("{old:?} {:?}", path.file_name()).as_bytes()).to_string();
    let (prefix, token) = (temporary_prefix(path), first_bytes(&token, 16).to_owned());
    path.with_file_name(format!("{prefix}{token}{TEMPORARY_SUFFIX}"))
}

/// Brings back the files that a stopped [`PendingFile::persist_over`] set aside, unless `target` was replaced.
pub(crate) fn restore(target: &Path, stale: &[PathBuf], progress: &Progress) -> Result<()> {
    let Ok(stamp) = File::open(target).and_then(|file| file.stamp()) else { return Ok(()) };
    let aside = stale.iter().map(|path| (path, aside_name(path, Some(stamp))));
    let aside: Vec<_> = aside.filter(|(_, hidden)| exists(hidden)).collect();
    if aside.is_empty() {
        return Ok(());
    }
    // Another run may be about to replace the target.
    let _turn = Turn::beside(target, progress)?;
    for (path, hidden) in aside.iter().filter(|(path, hidden)| !exists(path) && exists(hidden)) {
        fs::rename(hidden, path).map_err(Error::io("restore", *path))?;
    }
    Ok(())
}

/// Returns the temporary files for `target` left by an interrupted run.
pub(crate) fn leftovers(target: &Path) -> Vec<PathBuf> {
    leftovers_in(parent_of(target), &temporary_prefix(target))
}

/// Returns the temporary files in `directory` left by an interrupted run whose names begin with `prefix`.
pub(crate) fn leftovers_in(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let running = unfinished();
    entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            name.as_encoded_bytes().ends_with(TEMPORARY_SUFFIX.as_bytes())
                && name.to_string_lossy().starts_with(prefix)
        })
        .map(|entry| entry.path())
        .filter(|path| !running.contains_key(path) && !is_marked(path))
        .collect()
}

/// Creates an unnamed temporary file in the directory of `target`. It is deleted when closed. Errors name
/// `target`. `progress` cancels its reads and writes but does not report them.
pub(crate) fn scratch_file(target: &Path, progress: &Progress) -> Result<File> {
    let directory = parent_of(target);
    let inner = tempfile::tempfile_in(directory).map_err(|error| unwritable(directory, &error))?;
    Ok(File::of_system(inner, target.to_owned()).watched(&progress.silent()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pending_file_has_no_name_until_persisted() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a.zip");
        let pending = PendingFile::create(&target, false).unwrap();
        pending.file().write_all_at(b"abc", 0).unwrap();
        assert!(!exists(&target));
        drop(pending);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

        let pending = PendingFile::create(&target, false).unwrap();
        pending.file().write_all_at(b"abc", 0).unwrap();
        fs::write(&target, "created by another").unwrap();
        assert!(matches!(pending.persist(), Err(Error::AlreadyExists { .. })));
        assert_eq!(fs::read_to_string(&target).unwrap(), "created by another");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);

        let pending = PendingFile::create(&target, true).unwrap();
        pending.file().write_all_at(b"abc", 0).unwrap();
        pending.persist().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "abc");
    }
}
