//! New directories that are renamed only when complete.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::target::Target;
use super::{create_root, sync_directory};
use crate::error::{Error, Result};
use crate::fs::file::File;
use crate::fs::pending::{make_temporary, unfinished};
use crate::fs::{exists, mark, parent_of, refuse_url};
use crate::path::MemberPath;

/// Stem of the name of a staging directory within its target.
pub(crate) const STAGED: &str = "arrays";

/// A new directory that appears under its name only when complete. Dropping it earlier removes it.
#[derive(Debug)]
pub(crate) struct PendingDirectory {
    /// The temporary path.
    temporary: PathBuf,
    target: PathBuf,
    is_done: bool,
    /// The open directory, marked as in use.
    open: Option<fs::File>,
}

impl PendingDirectory {
    /// Creates a temporary directory in the parent of `target`.
    pub(crate) fn create(target: &Path) -> Result<Self> {
        if exists(target) {
            return Err(Error::AlreadyExists { path: target.to_owned() });
        }
        Self::make(target, |path| fs::create_dir(path))
    }

    /// Creates a temporary directory next to `target` that is never renamed, for the parts of `target`. Only this user
    /// can read it, because `target` may be private.
    pub(crate) fn beside(target: &Path) -> Result<Self> {
        Self::make(target, |path| private_directory().create(path))
    }

    fn make(target: &Path, make: impl FnMut(&Path) -> io::Result<()>) -> Result<Self> {
        refuse_url(target)?;
        // Locked before the directory exists, so that no directory lacks an entry.
        let mut unfinished = unfinished();
        let ((), temporary) = make_temporary(target, make)?;
        unfinished.insert(temporary.clone(), None);
        let open = fs::File::open(&temporary).ok().inspect(mark);
        Ok(Self { temporary, target: target.to_owned(), is_done: false, open })
    }

    /// Creates a temporary directory in the existing directory `target`, for files that will be moved into `target`. It
    /// is inside because `target` may be a mount point.
    pub(crate) fn within(target: &Path) -> Result<Self> {
        let mut this = Self::beside(&target.join(STAGED))?;
        target.clone_into(&mut this.target);
        Ok(this)
    }

    /// Creates a temporary directory in that of the system, and the directory `name` in it, whose path is returned as
    /// well. Unlike the temporary directory, that one can be locked, as outputs in it need.
    pub(crate) fn of_system(name: &str) -> Result<(Self, PathBuf)> {
        let this = Self::beside(&std::env::temp_dir().join("ra-pack"))?;
        this.make_directory(&MemberPath::new(name)?)?;
        let directory = this.temporary.join(name);
        Ok((this, directory))
    }

    /// Returns the temporary path.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Creates a file in it, and the missing parents.
    pub(crate) fn begin(&self, name: &MemberPath) -> Result<File> {
        let path = self.temporary.join(name.as_str());
        let target = self.target.join(name.as_str());
        // The lock lets the removal of unfinished files find every file.
        let _unfinished = unfinished();
        create_root(parent_of(&path))?;
        let mut options = fs::OpenOptions::new();
        let inner = options.read(true).write(true).create_new(true).open(&path);
        Ok(File::of_system(inner.map_err(Error::io("write", &target))?, target))
    }

    /// Creates a directory in it, and the missing parents.
    pub(crate) fn make_directory(&self, name: &MemberPath) -> Result<()> {
        let _unfinished = unfinished();
        create_root(&self.temporary.join(name.as_str()))
    }

    /// Deletes a file in it, and the directories above that are then empty.
    pub(crate) fn discard(&self, name: &MemberPath) {
        let path = self.temporary.join(name.as_str());
        // The rest is deleted with the directory.
        let _ = fs::remove_file(&path);
        let above = path.ancestors().skip(1).take_while(|above| *above != self.temporary);
        let _ = above.take_while(|above| fs::remove_dir(above).is_ok()).count();
    }

    /// Deletes the directory if it was not renamed. Files that cannot be deleted are left over.
    pub(crate) fn clear(&mut self) {
        if !std::mem::replace(&mut self.is_done, true) {
            // The caller or the next run reports what remains.
            let _ = fs::remove_dir_all(&self.temporary);
            unfinished().remove(&self.temporary);
            self.open = None;
        }
    }

    /// Renames the directory to its target, in one step.
    pub(crate) fn persist(mut self) -> Result<()> {
        if exists(&self.target) {
            return Err(Error::AlreadyExists { path: self.target.clone() });
        }
        let mut unfinished = unfinished();
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

    /// Moves the files and empty directories into the target, one after the other. An existing file is replaced only if
    /// `replace` is set.
    pub(crate) fn move_into(
        self,
        files: &[String],
        directories: &[String],
        replace: bool,
    ) -> Result<()> {
        let target = Target::open(&self.target)?;
        let staged = fs::canonicalize(&self.temporary);
        let staged = staged.map_err(Error::io("open", &self.temporary))?;
        let mut writer = target.writer();
        for name in files {
            writer.take(&staged.join(name), name, replace)?;
        }
        directories.iter().try_for_each(|name| target.make_directory(name))?;
        let parents: BTreeSet<_> = files
            .iter()
            .map(|name| name.rsplit_once('/').map_or("", |(parent, _)| parent))
            .collect();
        let sync = |parent: &str| sync_directory(&self.target.join(parent).join(STAGED));
        parents.into_iter().try_for_each(sync)
    }
}

/// Returns a builder of directories that only this user can read.
fn private_directory() -> fs::DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

impl Drop for PendingDirectory {
    fn drop(&mut self) {
        self.clear();
    }
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
    fn a_pending_directory_has_no_name_until_persisted() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let name = MemberPath::new("a/b/x.ra").unwrap();
        let pending = PendingDirectory::create(&target).unwrap();
        pending.begin(&name).unwrap().write_all_at(b"abc", 0).unwrap();
        assert!(pending.begin(&name).is_err(), "the name exists already");
        assert!(!exists(&target));
        drop(pending);
        assert_eq!(names(root.path()), [""; 0]);

        let pending = PendingDirectory::create(&target).unwrap();
        pending.begin(&name).unwrap().write_all_at(b"abc", 0).unwrap();
        pending.persist().unwrap();
        assert_eq!(names(root.path()), ["out"]);
        assert_eq!(fs::read(target.join("a/b/x.ra")).unwrap(), b"abc");
    }

    #[test]
    fn a_pending_directory_never_replaces_another() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let pending = PendingDirectory::create(&target).unwrap();
        fs::create_dir(&target).unwrap();
        fs::write(target.join("x"), "created by another").unwrap();
        assert!(matches!(pending.persist(), Err(Error::AlreadyExists { .. })));
        assert!(PendingDirectory::create(&target).is_err());
        assert_eq!(names(root.path()), ["out"]);
        assert_eq!(names(&target), ["x"]);
    }

    #[test]
    fn files_are_moved_and_replace_others_only_on_request() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("x"), "old").unwrap();
        let pending = |name: &str| {
            let pending = PendingDirectory::within(root.path()).unwrap();
            let file = pending.begin(&MemberPath::new(name).unwrap()).unwrap();
            file.write_all_at(b"new", 0).unwrap();
            pending
        };
        let empty = ["e/f".to_owned()];
        pending("a/b").move_into(&["a/b".to_owned()], &empty, false).unwrap();
        assert_eq!(fs::read(root.path().join("a/b")).unwrap(), b"new");
        assert!(root.path().join("e/f").is_dir());
        let x = ["x".to_owned()];
        let refused = pending("x").move_into(&x, &[], false);
        assert!(matches!(refused, Err(Error::AlreadyExists { .. })));
        assert_eq!(fs::read(root.path().join("x")).unwrap(), b"old");
        pending("x").move_into(&x, &[], true).unwrap();
        assert_eq!(fs::read(root.path().join("x")).unwrap(), b"new");
        assert!(pending("a").move_into(&["a".to_owned()], &[], true).is_err());
        assert_eq!(names(root.path()), ["a", "e", "x"]);
    }
}
