//! New files and directories that are renamed only when complete.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::directory::Directory;
use super::target::Target;
use super::{
    File, Stamp, Turn, create_root, exists, followed, is_marked, mark, parent_of, read_limited,
    refuse_url, sync_directory,
};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::path::{MemberPath, escape, first_bytes};
use crate::progress::Progress;

/// Temporary files and directories in use; for a file, its directory and its name there.
type Unfinished = BTreeMap<PathBuf, Option<(Arc<Directory>, OsString)>>;

static UNFINISHED: Mutex<Unfinished> = Mutex::new(BTreeMap::new());

fn unfinished() -> MutexGuard<'static, Unfinished> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files and directories of all unfinished writes of this process, and exits.
///
/// Call this when the program must stop at once, such as on Ctrl-C. [`create`](crate::create()) and
/// [`extract`](crate::extract()) remove their own temporary files when they return. While this runs, other threads that
/// start or finish a write wait until the process ends.
#[expect(clippy::exit, reason = "only exiting keeps other threads from writing more")]
pub fn remove_unfinished_and_exit(status: i32) -> ! {
    let unfinished = unfinished();
    for (path, file) in unfinished.iter() {
        // Errors cannot be reported any more. The next run reports a remaining file.
        let _ = match file {
            Some((directory, name)) => directory.remove(name),
            None => fs::remove_dir_all(path),
        };
    }
    // The lock is still held.
    std::process::exit(status)
}

/// Writes a new file with the content that `write` produces. The file appears under its name in one step, after it is
/// complete and synced. An existing file is replaced only if `replace` is set.
///
/// # Errors
///
/// [`Error::AlreadyExists`] if the file exists and `replace` is not set, [`Error::Io`] if it cannot be written, and
/// errors of `write`.
pub fn write_new(
    path: &Path,
    replace: bool,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<()> {
    let pending = PendingFile::create(path, replace)?;
    write(&mut pending.file()).map_err(Error::io("write", path))?;
    pending.complete()
}

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

/// Returns the permissions of the ordinary file at `path`, which a file that replaces it gets.
pub(super) fn permissions(path: &Path) -> Option<fs::Permissions> {
    let metadata = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(metadata.permissions())
}

/// Suffix of the names of temporary files.
pub(crate) const TEMPORARY_SUFFIX: &str = ".ra-pack-unfinished";

/// Maximum length of the target's name within its temporary name. Most file systems allow names of 255 bytes.
const MAX_TEMPORARY_STEM: usize = 200;

/// Returns the prefix of the names of temporary files for `target`.
fn temporary_prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", first_bytes(&name, MAX_TEMPORARY_STEM))
}

/// Creates a temporary file or directory in the directory of `target` with `make`, and returns its path.
fn make_temporary<T>(
    target: &Path,
    mut make: impl FnMut(&Path) -> io::Result<T>,
) -> Result<(T, PathBuf)> {
    let (directory, prefix) = (parent_of(target), temporary_prefix(target));
    loop {
        // The keys are random for each process, and new for each call.
        let random = RandomState::new().hash_one(std::process::id());
        let path = directory.join(format!("{prefix}{random:016x}{TEMPORARY_SUFFIX}"));
        match make(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && exists(&path) => {}
            created => {
                return Ok((created.map_err(|error| unwritable(directory, &error))?, path));
            }
        }
    }
}

/// A new file that appears under its name only when complete. Dropping it earlier removes it.
#[derive(Debug)]
pub(crate) struct PendingFile {
    /// The open file; its path is the target.
    file: File,
    directory: Arc<Directory>,
    /// The temporary path. `None` for an unnamed file, which disappears when it is closed.
    temporary: Option<PathBuf>,
    replace: bool,
}

impl PendingFile {
    /// Creates a temporary file in the directory of `target`, or of the file that a link names if it is to be replaced.
    /// `target` itself is not touched. The new file has the permissions of the old one.
    pub(crate) fn create(target: &Path, replace: bool) -> Result<Self> {
        refuse_url(target)?;
        if !replace && exists(target) {
            return Err(Error::AlreadyExists { path: target.to_owned() });
        }
        let target = &*followed(target)?;
        if let Ok(metadata) = fs::symlink_metadata(target) {
            if metadata.is_dir() {
                return Err(Error::io("write", target)(io::ErrorKind::IsADirectory.into()));
            }
            // Replacing `/dev/null` or a pipe would break other programs.
            if !metadata.is_file() {
                let reason = "it is a device, a pipe or a socket; choose another name";
                let error = io::Error::new(io::ErrorKind::InvalidInput, reason);
                return Err(Error::io("write", target)(error));
            }
        }
        Self::named_in(&open_parent(target)?, target, replace)
    }

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

    /// Creates a file under a temporary name in the directory of `target`.
    pub(super) fn named_in(
        directory: &Arc<Directory>,
        target: &Path,
        replace: bool,
    ) -> Result<Self> {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_owned();
        let permissions = permissions(target).filter(|_| replace);
        // Locked before the file exists, so that no file lacks an entry.
        let mut unfinished = unfinished();
        let make = |path: &Path| directory.create_file(&name(path), permissions.is_some());
        let (inner, temporary) = make_temporary(target, make)?;
        mark(&inner);
        let file = Some((Arc::clone(directory), name(&temporary)));
        unfinished.insert(temporary.clone(), file);
        drop(unfinished);
        let this = Self::new(inner, directory, Some(temporary), target, replace);
        if let Some(permissions) = permissions {
            let file = this.file.system();
            let set = file.and_then(|file| file.set_permissions(permissions));
            set.map_err(Error::io("write", target))?;
        }
        Ok(this)
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

    fn new(
        inner: fs::File,
        directory: &Arc<Directory>,
        temporary: Option<PathBuf>,
        target: &Path,
        replace: bool,
    ) -> Self {
        let file = File::of_system(inner, target.to_owned());
        Self { file, directory: Arc::clone(directory), temporary, replace }
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
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

    /// Truncates the file to `len` bytes.
    pub(crate) fn set_len(&self, len: u64) -> Result<()> {
        let set = self.file.system().and_then(|file| file.set_len(len));
        set.map_err(Error::io("write", self.file.path()))
    }

    /// Syncs the file to disk before it is renamed.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync()
    }

    /// Syncs the file to disk and renames it to its target.
    pub(crate) fn complete(self) -> Result<()> {
        self.sync()?;
        self.persist()
    }

    /// Renames the file to its target, in one step.
    pub(crate) fn persist(self) -> Result<()> {
        self.give_name().map_err(|error| self.unnamed(error))
    }

    /// Renames the file to its target as [`Self::persist`] does, and deletes the `stale` files of the old one, which may
    /// not exist. If that fails, they keep their names. If it is stopped, [`restore`] brings them back.
    pub(crate) fn persist_over<'s>(self, stale: &'s [PathBuf]) -> Result<()> {
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
        drop(running);
        done
    }

    /// Creates the error for a file that cannot be renamed.
    fn unnamed(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::AlreadyExists => {
                Error::AlreadyExists { path: self.file.path().to_owned() }
            }
            _ => Error::io("rename into place", self.file.path())(error),
        }
    }

    fn give_name(&self) -> io::Result<()> {
        let name = self.file.path().file_name().unwrap_or_default();
        match self.temporary.as_ref().and_then(|temporary| temporary.file_name()) {
            Some(temporary) if self.replace => return self.directory.replace(temporary, name),
            Some(temporary) => return self.directory.rename(temporary, name),
            None => match self.directory.link(self.file.system()?, name) {
                Ok(true) => return Ok(()),
                Err(error) if !self.replace || error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(error);
                }
                // The file needs a temporary name.
                Ok(false) | Err(_) => {}
            },
        }
        let copy = Self::named_in(&self.directory, self.file.path(), self.replace)?;
        self.file.copy_to(0, self.file.len()?, &copy.file, 0)?;
        copy.sync()?;
        copy.give_name()
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Not renamed. The error cannot be reported here; the next run reports a remaining file.
            let _ = self.directory.remove(temporary.file_name().unwrap_or_default());
            unfinished().remove(temporary);
        }
    }
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

fn open_parent(target: &Path) -> Result<Arc<Directory>> {
    let directory = parent_of(target);
    Directory::open(directory).map(Arc::new).map_err(|error| unwritable(directory, &error))
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

/// Creates the error for a directory that cannot be written, without the temporary name.
fn unwritable(directory: &Path, error: &io::Error) -> Error {
    let error = match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(
            io::ErrorKind::NotFound,
            format!(
                "there is no such directory; make it with `mkdir -p {}`",
                escape(&directory.to_string_lossy())
            ),
        ),
        kind => error.raw_os_error().map_or_else(|| kind.into(), io::Error::from_raw_os_error),
    };
    Error::io("write in", directory)(error)
}

/// Creates an unnamed temporary file in the directory of `target`. It is deleted when closed. `progress` cancels its
/// reads and writes but does not report them.
#[cfg(feature = "full")]
pub(crate) fn scratch_file(target: &Path, progress: &Progress) -> Result<File> {
    let directory = parent_of(target);
    let inner = tempfile::tempfile_in(directory).map_err(|error| unwritable(directory, &error))?;
    Ok(File::of_system(inner, directory.to_owned()).watched(&progress.silent()))
}

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
