//! New directories, which get their names only when all that belongs into them is there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::pending::{TEMPORARY_SUFFIX, announce, temporary_prefix, unfinished};
use super::turn::mark;
use super::{File, create_root, exists, is_empty_directory, parent_of, sync_directory};
use crate::error::{Error, Result};
use crate::path::MemberPath;
use crate::progress::Progress;

/// A new directory that has its name only when it is complete; it is removed when this is dropped before.
#[derive(Debug)]
pub(crate) struct PendingDirectory {
    /// Where it lies until it is complete.
    temporary: PathBuf,
    target: PathBuf,
    is_done: bool,
    /// Marked as being written while this is open.
    _open: Option<fs::File>,
}

impl PendingDirectory {
    /// Begins a directory beside `target`, under a temporary name. With `replace` an empty directory may be
    /// at `target`; one that holds something never.
    pub(crate) fn create(target: &Path, replace: bool) -> Result<Self> {
        check(target, replace)?;
        Self::beside(target)
    }

    /// Begins a directory beside `target` that will not stay: a place for what `target` is made of.
    pub(crate) fn beside(target: &Path) -> Result<Self> {
        let directory = parent_of(target);
        let prefix = temporary_prefix(target);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(TEMPORARY_SUFFIX);
        announce();
        // Held from before the directory is there, so that none is without its entry.
        let mut unfinished = unfinished();
        let made = builder
            .make_in(directory, |path| fs::create_dir(path))
            .map_err(Error::io("write in", directory))?;
        let kept = made.into_temp_path().keep();
        let temporary = kept.map_err(|error| Error::io("write in", directory)(error.error))?;
        unfinished.insert(temporary.clone(), None);
        let open = fs::File::open(&temporary).ok().inspect(mark);
        Ok(Self { temporary, target: target.to_owned(), is_done: false, _open: open })
    }

    /// Where it lies until it is complete.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Begins a file in it, and makes the directories that its name asks for.
    pub(crate) fn begin(&self, name: &MemberPath) -> Result<File> {
        let path = self.temporary.join(name.as_str());
        let target = self.target.join(name.as_str());
        // Whoever removes what is unfinished has to find everything that is there.
        let _unfinished = unfinished();
        create_root(parent_of(&path))?;
        let mut options = fs::OpenOptions::new();
        let inner = options.read(true).write(true).create_new(true).open(&path);
        Ok(File {
            inner: inner.map_err(Error::io("write", &target))?,
            path: target,
            watch: Progress::default(),
        })
    }

    /// Gives the directory its name, in one step.
    pub(crate) fn persist(mut self, replace: bool) -> Result<()> {
        check(&self.target, replace)?;
        let mut unfinished = unfinished();
        if !cfg!(unix) && exists(&self.target) {
            // Elsewhere nothing is put in the place of a directory, not even of an empty one.
            fs::remove_dir(&self.target).map_err(Error::io("replace", &self.target))?;
        }
        let renamed = fs::rename(&self.temporary, &self.target);
        renamed.map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty => Error::AlreadyExists { path: self.target.clone() },
            _ => Error::io("rename into place", &self.target)(error),
        })?;
        unfinished.remove(&self.temporary);
        self.is_done = true;
        drop(unfinished);
        sync_directory(&self.target)
    }
}

impl Drop for PendingDirectory {
    fn drop(&mut self) {
        if !self.is_done {
            // Nobody is left to tell; the next run explains what stayed.
            let _ = fs::remove_dir_all(&self.temporary);
            unfinished().remove(&self.temporary);
        }
    }
}

/// That a directory may be put at `target`.
fn check(target: &Path, replace: bool) -> Result<()> {
    if !exists(target) {
        return Ok(());
    }
    let name = target.to_string_lossy();
    let name = crate::path::escape(name.trim_end_matches('/'));
    let refused = |reason: &str| {
        Error::Unsupported(format!("`{name}` {reason}; give a name that nothing has"))
    };
    if !fs::symlink_metadata(target).is_ok_and(|metadata| metadata.is_dir()) {
        return Err(refused("is no directory, and a directory would take its place"));
    }
    if !is_empty_directory(target)? {
        let reason = format!(
            "is a directory with something in it; further arrays go in one by one, as `{name}/NAME.ra`"
        );
        return Err(refused(&reason));
    }
    if replace { Ok(()) } else { Err(Error::AlreadyExists { path: target.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_pending_directory_has_no_name_until_it_is_persisted() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let name = MemberPath::new("a/b/x.ra").unwrap();
        let pending = PendingDirectory::create(&target, false).unwrap();
        pending.begin(&name).unwrap().write_all_at(b"abc", 0).unwrap();
        assert!(pending.begin(&name).is_err(), "twice the same name");
        assert!(!exists(&target));
        drop(pending);
        assert_eq!(names(root.path()), [""; 0]);

        let pending = PendingDirectory::create(&target, false).unwrap();
        pending.begin(&name).unwrap().write_all_at(b"abc", 0).unwrap();
        pending.persist(false).unwrap();
        assert_eq!(names(root.path()), ["out"]);
        assert_eq!(fs::read(target.join("a/b/x.ra")).unwrap(), b"abc");
    }

    #[test]
    fn only_an_empty_directory_is_replaced_and_only_on_demand() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        fs::create_dir(&target).unwrap();
        let refused = PendingDirectory::create(&target, false);
        assert!(matches!(refused, Err(Error::AlreadyExists { .. })));
        PendingDirectory::create(&target, true).unwrap().persist(true).unwrap();
        let pending = PendingDirectory::create(&target, true).unwrap();
        fs::write(target.join("x"), "somebody was faster").unwrap();
        assert!(pending.persist(true).is_err());
        assert_eq!(names(root.path()), ["out"]);
        assert_eq!(names(&target), ["x"]);
        fs::write(root.path().join("file"), "").unwrap();
        assert!(PendingDirectory::create(&root.path().join("file"), true).is_err());
    }
}
