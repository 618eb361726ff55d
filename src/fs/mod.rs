//! Access to the file system. Every error names the path, and every new file is written completely or not created.

#[cfg(feature = "full")]
mod append;
#[cfg(feature = "full")]
mod below;
mod directory;
mod file;
mod pending;
#[cfg_attr(not(feature = "remote"), path = "no_remote.rs")]
pub(crate) mod remote;
mod source;
mod target;
mod walk;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

#[cfg(feature = "full")]
pub(crate) use self::append::LineFile;
pub(crate) use self::file::{File, FileMap, Stamp, holds, read_limited, read_once};
pub(crate) use self::file::{Version, version};
pub use self::pending::{remove_unfinished_and_exit, write_new};
pub use self::source::{ReadAt, Seekable};
pub use self::walk::MemberKind;
pub(crate) use self::walk::{Walked, entries, walk};
#[cfg(feature = "full")]
pub(crate) use self::{below::Below, pending::scratch_file};
pub(crate) use self::{
    pending::{
        PendingDirectory, PendingFile, STAGED, TEMPORARY_SUFFIX, leftovers, leftovers_in, replace,
        restore, rewrite,
    },
    target::{Target, TargetWriter},
};

use self::walk::member_path;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::path::url::{self, is_url};
use crate::progress::Progress;

/// Returns whether the path exists; a dangling link does, and so does a path that the system cannot access, so that its
/// use is an error. A URL is not a path: files next to a remote pack are not searched.
pub(crate) fn exists(path: &Path) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    let is_missing = |error: io::Error| {
        matches!(error.kind(), InvalidFilename | InvalidInput | NotADirectory | NotFound)
    };
    !is_url(path) && !fs::symlink_metadata(path).is_err_and(is_missing)
}

/// Removes a file if it exists.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Returns whether the path is a directory, following links. A URL is not one.
pub(crate) fn is_directory(path: &Path) -> Result<bool> {
    if is_url(path) {
        return Ok(false);
    }
    Ok(fs::metadata(path).map_err(Error::io("open", path))?.is_dir())
}

/// Detects the kind of the file or directory at `path` from its first bytes.
pub(crate) fn kind_of(path: &Path) -> Result<FileKind> {
    if is_directory(path)? {
        return Ok(FileKind::Directory);
    }
    File::open(path)?.kind()
}

/// Returns the length of an ordinary file, or `None` for anything else.
pub(crate) fn file_len(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}

/// Returns the size of all ordinary files below a directory, without following links; 0 for those that cannot be
/// accessed.
#[cfg(feature = "full")]
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

/// Returns whether `below` is an ordinary file below `root`, reached without links.
pub(crate) fn is_plain_below(root: &Path, below: &str) -> Result<bool> {
    let mut path = root.to_owned();
    let mut parts = below.split('/').peekable();
    while let Some(part) = parts.next() {
        path.push(part);
        let kind = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(false),
            Err(error) => return Err(Error::io("access", &path)(error)),
        };
        let last = parts.peek().is_none();
        if (last && !kind.is_file()) || (!last && !kind.is_dir()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether something other than a directory, such as a link, is at `below` under `root` or at one of its
/// parents.
#[cfg(feature = "full")]
pub(crate) fn is_blocked(root: &Path, below: &str) -> bool {
    let mut path = root.to_owned();
    below.split('/').any(|part| {
        path.push(part);
        fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_dir())
    })
}

/// Returns the first part of the path `below` under `root` that is a link.
#[cfg(feature = "full")]
pub(crate) fn link_below<'b>(root: &Path, below: &'b str) -> Option<&'b str> {
    let ends = below.match_indices('/').map(|(end, _)| end).chain([below.len()]);
    ends.map(|end| below.split_at(end).0).find(|name| is_link(&root.join(name)))
}

/// Returns the directory of `path` and its parents up to the working directory, or only the directory if it is outside
/// the working directory.
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

/// Returns the name of `path` relative to `root`, or `None` if it is outside `root`.
pub(crate) fn name_below(root: &Path, path: &Path) -> Option<String> {
    let directory = fs::canonicalize(parent_of(path)).ok()?;
    let below = directory.join(path.file_name()?);
    let root = fs::canonicalize(root).ok()?;
    Some(member_path(below.strip_prefix(root).ok()?).ok()?.as_str().to_owned())
}

/// Returns whether two paths are in the same directory.
pub(crate) fn are_neighbours(one: &Path, other: &Path) -> bool {
    let directory = |path| fs::canonicalize(parent_of(path)).ok();
    directory(one).is_some_and(|home| directory(other) == Some(home))
}

/// Returns whether `path` itself is a link.
pub(crate) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Returns whether the file at `path` has other names, which keep the old content when it is replaced.
pub(crate) fn has_other_names(path: &Path) -> bool {
    #[cfg(unix)]
    let count =
        fs::metadata(path).map_or(1, |metadata| std::os::unix::fs::MetadataExt::nlink(&metadata));
    #[cfg(not(unix))]
    let count = i32::from(path.as_os_str().is_empty());
    count > 1
}

/// Returns the path of the file that is written through `path`: the target, for a link.
pub(crate) fn followed(path: &Path) -> Result<PathBuf> {
    if is_link(path) { real_path(path) } else { Ok(path.to_owned()) }
}

/// Resolves the links in a path.
pub(crate) fn real_path(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(Error::io("open", path))
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

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the name of a target in logs. Each target has its own. Bytes that are not UTF-8 become `\xFF`. A URL has no
/// user information, and the digest of its query, which may be secret.
pub(crate) fn target_name(path: &Path) -> String {
    /// Number of digits of the digest: enough to tell the targets of one log apart.
    const DIGITS: usize = 16;
    let path = &*remote::url_of(path);
    let text = path.to_string_lossy();
    if let Some(query) = url::query(&text) {
        let shown = url::conceal(&text);
        if query.is_empty() {
            return shown.into_owned();
        }
        let digest = Digest::sha256(query.as_bytes()).to_string();
        return format!("{shown} (query {})", digest.split_at(DIGITS).0);
    }
    let mut name = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        name.push_str(&chunk.valid().replace("\\x", "\\x5Cx"));
        name.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
    }
    name
}

/// Returns the name of this machine.
pub(crate) fn host_name() -> Option<String> {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = String::new();
    Some(name).filter(|name| !name.is_empty())
}

/// Returns an error if an output is a URL.
pub(crate) fn refuse_url(output: &Path) -> Result<()> {
    if !is_url(output) {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "`{}` is a URL, and ra-pack writes only files; write a file and copy it to the server",
        crate::path::escape_path(output)
    )))
}

/// Creates a directory and its missing parents.
pub(crate) fn create_root(path: &Path) -> Result<()> {
    refuse_url(path)?;
    fs::create_dir_all(path).map_err(Error::io("create the directory", path))
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
        /// Polling interval. A blocking lock could not be cancelled.
        const BETWEEN_TRIES: Duration = Duration::from_millis(5);
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

/// Marks an open temporary file or directory as in use.
pub(super) fn mark(temporary: &fs::File) {
    if cfg!(unix) {
        // Without file locks, the temporary file of a running process looks abandoned.
        let _ = temporary.try_lock();
    }
}

/// Returns whether a running process uses the temporary file or directory at `path`.
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
