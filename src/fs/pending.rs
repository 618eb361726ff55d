//! New files and directories that are renamed only when complete.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::directory::Directory;
use super::{File, exists, followed, mark, parent_of, refuse_url};
use crate::error::{Error, Result};
use crate::path::{escape, first_bytes};

/// Temporary files and directories in use; for a file, its directory and its name there.
pub(super) type Unfinished = BTreeMap<PathBuf, Option<(Arc<Directory>, OsString)>>;

static UNFINISHED: Mutex<Unfinished> = Mutex::new(BTreeMap::new());

pub(super) fn unfinished() -> MutexGuard<'static, Unfinished> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files and directories of all unfinished writes of this process and the parts of unfinished
/// uploads, and exits.
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
    #[cfg(feature = "full")]
    super::remote::give_up_uploads();
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
pub(super) fn temporary_prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", first_bytes(&name, MAX_TEMPORARY_STEM))
}

/// Creates a temporary file or directory in the directory of `target` with `make`, and returns its path.
pub(super) fn make_temporary<T>(
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
    pub(super) file: File,
    directory: Arc<Directory>,
    /// The temporary path. `None` for an unnamed file, which disappears when it is closed.
    pub(super) temporary: Option<PathBuf>,
    replace: bool,
    /// Whether the file has the name of its target.
    #[cfg_attr(not(feature = "full"), expect(dead_code, reason = "only archives ask for it"))]
    pub(super) is_named: AtomicBool,
    /// Whether the file stays if it is not renamed.
    pub(super) is_kept: bool,
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

    pub(super) fn new(
        inner: fs::File,
        directory: &Arc<Directory>,
        temporary: Option<PathBuf>,
        target: &Path,
        replace: bool,
    ) -> Self {
        let file = File::of_system(inner, target.to_owned());
        let (directory, is_named) = (Arc::clone(directory), AtomicBool::new(false));
        Self { file, directory, temporary, replace, is_named, is_kept: false }
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
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

    /// Creates the error for a file that cannot be renamed.
    pub(super) fn unnamed(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::AlreadyExists => {
                Error::AlreadyExists { path: self.file.path().to_owned() }
            }
            _ => Error::io("rename into place", self.file.path())(error),
        }
    }

    pub(super) fn give_name(&self) -> io::Result<()> {
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
        if let Some(temporary) = self.temporary.as_ref().filter(|_| !self.is_kept) {
            // Not renamed. The error cannot be reported here; the next run reports a remaining file.
            let _ = self.directory.remove(temporary.file_name().unwrap_or_default());
            unfinished().remove(temporary);
        }
    }
}

pub(super) fn open_parent(target: &Path) -> Result<Arc<Directory>> {
    let directory = parent_of(target);
    Directory::open(directory).map(Arc::new).map_err(|error| unwritable(directory, &error))
}

/// Creates the error for a directory that cannot be written, without the temporary name.
pub(super) fn unwritable(directory: &Path, error: &io::Error) -> Error {
    let error = match error.kind() {
        // As in `/proc`.
        io::ErrorKind::NotFound if directory.is_dir() => io::ErrorKind::PermissionDenied.into(),
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
