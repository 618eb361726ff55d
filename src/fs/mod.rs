//! Access to the file system. Every error names the path, and every new file is written completely or not created.

mod cached;
mod directory;
mod file;
mod pending;
mod positional;
#[cfg_attr(not(feature = "remote"), path = "no_remote.rs")]
pub(crate) mod remote;
mod source;
mod stamp;
mod walk;
#[cfg(feature = "full")]
mod writing;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use self::cached::leave_page_cache;
pub(crate) use self::file::{File, FileMap, holds, read_limited, read_once, version};
pub use self::pending::{remove_unfinished_and_exit, write_new};
pub use self::source::{ReadAt, Seekable};
pub(crate) use self::stamp::Version;
pub use self::walk::MemberKind;
pub(crate) use self::walk::{Walked, entries, walk};
#[cfg(feature = "full")]
pub(crate) use self::writing::{
    Below, LineFile, PendingDirectory, PendingFile, STAGED, Stamp, TEMPORARY_SUFFIX, Target,
    TargetWriter, Turn, UNFINISHED_SUFFIX, are_neighbours, create_root, is_blocked,
    is_empty_directory, is_same_name, left_unfinished, leftovers, leftovers_in, link_below, remove,
    remove_directory, replace, restore, rewrite, scratch_file, size_below, sync_directory,
};

use self::walk::member_path;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::path::url::{self, is_url};

/// Returns whether the path exists; a dangling link does, and so does a path that the system cannot access, so that its
/// use is an error. A URL is not a path: files next to a remote pack are not searched.
pub(crate) fn exists(path: &Path) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    let is_missing = |error: io::Error| {
        matches!(error.kind(), InvalidFilename | InvalidInput | NotADirectory | NotFound)
    };
    !is_url(path) && !fs::symlink_metadata(path).is_err_and(is_missing)
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

/// Returns whether `path` itself is a link.
pub(crate) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Returns the path of the file that is written through `path`: the target, for a link.
pub(crate) fn followed(path: &Path) -> Result<PathBuf> {
    if is_link(path) { real_path(path) } else { Ok(path.to_owned()) }
}

/// Resolves the links in a path.
pub(crate) fn real_path(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(Error::io("open", path))
}

/// Returns the path of a file, or the URL of an object, with a suffix appended to its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the names of the files in the directory of a file; none if it cannot be read.
pub(crate) fn names_beside(path: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(parent_of(path)).ok();
    entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok())
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
    Err(Error::wrong_target(
        output,
        "is a URL, and only a new archive is written to one; write a file and copy it to the server",
    ))
}

/// Marks an open temporary file or directory as in use.
pub(super) fn mark(temporary: &fs::File) {
    if cfg!(unix) {
        // Without file locks, the temporary file of a running process looks abandoned.
        let _ = temporary.try_lock();
    }
}
