//! The only door to the file system: every message names the path, every new file is whole or absent.

mod below;
#[cfg(any(not(unix), test))]
mod directory;
mod file;
mod map;
mod pending;
mod pending_directory;
#[cfg(unix)]
mod target;
#[cfg(not(unix))]
mod target_by_path;
#[cfg(unix)]
mod temporary;
mod turn;
#[cfg(target_os = "linux")]
mod unnamed;
mod walk;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use self::below::Below;
pub(crate) use self::file::{File, Stamp, holds, is_file_of, read_limited, read_once};
pub(crate) use self::map::Map;
pub(crate) use self::pending::{
    PendingFile, TEMPORARY_SUFFIX, leftovers, leftovers_in, replace, rewrite, scratch_file,
};
pub use self::pending::{before_unfinished, remove_unfinished_and_exit, write_new};
pub(crate) use self::pending_directory::PendingDirectory;
#[cfg(unix)]
pub(crate) use self::target::{Target, TargetWriter};
#[cfg(not(unix))]
pub(crate) use self::target_by_path::{Target, TargetWriter};
pub(crate) use self::turn::Turn;
pub(crate) use self::walk::{Kind, Walked, entries, walk};

use self::walk::member_path;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;

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
