//! The only door to the file system: every message names the path, every new file is whole or absent.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::path::MemberPath;

/// A file and its path. Reads and writes say where, so that several threads can share it.
#[derive(Debug)]
pub(crate) struct File {
    inner: fs::File,
    path: PathBuf,
}

impl File {
    /// Opens a file for reading.
    pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        match fs::File::open(&path) {
            Ok(inner) => Ok(Self { inner, path }),
            Err(source) => Err(Error::Io { action: "open", path, source }),
        }
    }

    /// Opens an ordinary file: a pipe or a device has no length, and opening one may wait for ever.
    pub(crate) fn open_regular(path: &Path) -> Result<Self> {
        let metadata = fs::metadata(path).map_err(Error::io("open", path))?;
        if !metadata.is_file() {
            return Err(Error::io("open", path)(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is not an ordinary file",
            )));
        }
        Self::open(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its length in bytes at this moment.
    pub(crate) fn len(&self) -> Result<u64> {
        Ok(self.inner.metadata().map_err(Error::io("look at", &self.path))?.len())
    }

    /// What the file looks like at this moment.
    pub(crate) fn stamp(&self) -> Result<Stamp> {
        let metadata = self.inner.metadata().map_err(Error::io("look at", &self.path))?;
        Ok(Stamp { len: metadata.len(), modified: metadata.modified().ok() })
    }

    /// The error that says that it is no longer what it was.
    pub(crate) fn changed(&self, what: impl Into<String>) -> Error {
        Error::Changed { path: self.path.clone(), what: what.into() }
    }

    /// Reads at `offset` until `buffer` is full or the file ends; gives the bytes read.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(u64::try_from(filled).unwrap_or(u64::MAX));
            match positional::read(&self.inner, rest, at) {
                Ok(0) => break,
                Ok(count) => filled = filled.saturating_add(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", &self.path)(error)),
            }
        }
        Ok(filled)
    }

    /// Fills `buffer` from `offset`; a file that ends before that is an error.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        if self.read_at(buffer, offset)? == buffer.len() {
            return Ok(());
        }
        Err(Error::io("read", &self.path)(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the file became shorter while it was read",
        )))
    }

    /// Writes all of `buffer` at `offset`.
    pub(crate) fn write_all_at(&self, buffer: &[u8], offset: u64) -> Result<()> {
        positional::write_all(&self.inner, buffer, offset).map_err(Error::io("write", &self.path))
    }

    /// A second handle of the same open file.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let inner = self.inner.try_clone().map_err(Error::io("open", &self.path))?;
        Ok(Self { inner, path: self.path.clone() })
    }

    /// Maps the file into memory.
    ///
    /// # Safety
    ///
    /// Nobody may change or shorten the file while the map lives: its bytes would change under
    /// shared references, and touching pages beyond a shortened end stops the process.
    #[expect(
        unsafe_code,
        reason = "a memory map is only as stable as its file; callers promise that"
    )]
    pub(crate) unsafe fn map(&self) -> Result<Map> {
        // SAFETY: the caller promises what `Mmap::map` asks for, that the file does not change.
        let map = unsafe { memmap2::Mmap::map(&self.inner) };
        map.map(Map).map_err(Error::io("map", &self.path))
    }
}

/// A file as bytes in memory.
#[derive(Debug)]
pub(crate) struct Map(memmap2::Mmap);

impl Map {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What a file looked like at some moment. When it looks the same later, nobody wrote to it between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// Its length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Time of the last change, in seconds since 1970 UTC, not before 0.
    pub(crate) fn modified(&self) -> u64 {
        let since = self.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.map_or(0, |since| since.as_secs())
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer)
    }
}

/// Reads and writes at an offset without moving a shared position.
#[cfg(unix)]
mod positional {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt;

    pub(super) fn read(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }

    pub(super) fn write_all(file: &File, buffer: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(buffer, offset)
    }
}

/// Reads and writes at an offset; the position that moves with it is not used by anybody.
#[cfg(windows)]
mod positional {
    use std::fs::File;
    use std::io;
    use std::os::windows::fs::FileExt;

    pub(super) fn read(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.seek_read(buffer, offset)
    }

    pub(super) fn write_all(file: &File, mut buffer: &[u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            let count = file.seek_write(buffer, offset)?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            buffer = buffer.get(count..).unwrap_or_default();
            offset = offset.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        }
        Ok(())
    }
}

/// Reads a whole file that may not be longer than `limit` bytes.
pub(crate) fn read_limited(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    (&file.inner)
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(Error::io("read", path))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(Error::io("read", path)(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is longer than {limit} bytes"),
        )));
    }
    Ok(bytes)
}

/// Whether something of that name is there, a dangling link too.
pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether it is a directory, through links.
pub(crate) fn is_directory(path: &Path) -> Result<bool> {
    Ok(fs::metadata(path).map_err(Error::io("open", path))?.is_dir())
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

/// Creates one directory below `root`, and every missing one above it. A symbolic link or a file in
/// the way is an error: nothing is ever written through a link.
pub(crate) fn create_directories(
    root: &Path,
    below: &str,
    made: &mut BTreeSet<String>,
) -> Result<()> {
    if below.is_empty() || made.contains(below) {
        return Ok(());
    }
    // From the top down, not by recursion: a name can have tens of thousands of parts.
    let ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
    for directory in ends.filter_map(|end| below.get(..end)) {
        if !made.contains(directory) {
            create_directory(&root.join(directory))?;
            made.insert(directory.to_owned());
        }
    }
    Ok(())
}

/// Creates one directory, or accepts one that is there and is no link.
fn create_directory(path: &Path) -> Result<()> {
    match fs::create_dir(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let metadata = fs::symlink_metadata(path).map_err(Error::io("look at", path))?;
            if metadata.is_dir() {
                return Ok(());
            }
            Err(Error::io("create the directory", path)(io::Error::new(
                io::ErrorKind::NotADirectory,
                "something that is not a directory is in the way",
            )))
        }
        Err(error) => Err(Error::io("create the directory", path)(error)),
    }
}

/// Creates a directory and every missing one above it.
pub(crate) fn create_root(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(Error::io("create the directory", path))
}

/// What a directory entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Special,
}

/// An entry below a directory that was walked.
#[derive(Debug, Clone)]
pub(crate) struct Walked {
    /// The name below the root, or the reason why no member can be called so.
    pub(crate) path: Result<MemberPath, crate::path::InvalidPath>,
    pub(crate) kind: Kind,
}

/// Everything below `root`, files and directories, sorted by the bytes of their whole paths.
///
/// Links are reported as links, unless `follow`: then as what they lead to, and a loop is an error.
pub(crate) fn walk(root: &Path, follow: bool) -> Result<Vec<Walked>> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(root).min_depth(1).follow_links(follow) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).to_owned();
            Error::io("read", path)(error.into())
        })?;
        let kind = entry.file_type();
        let kind = if kind.is_file() {
            Kind::File
        } else if kind.is_dir() {
            Kind::Directory
        } else if kind.is_symlink() {
            Kind::Link
        } else {
            Kind::Special
        };
        let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
        found.push(Walked { path: member_path(below), kind });
    }
    found.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    Ok(found)
}

fn name_of(walked: &Walked) -> &str {
    match &walked.path {
        Ok(path) => path.as_str(),
        Err(invalid) => &invalid.path,
    }
}

/// A path of this system below a root as the name of a member.
fn member_path(below: &Path) -> Result<MemberPath, crate::path::InvalidPath> {
    if cfg!(windows) {
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        return MemberPath::new(parts.join("/"));
    }
    MemberPath::from_bytes(below.as_os_str().as_encoded_bytes())
}

/// Paths of files that are being written under a temporary name.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of every unfinished write of this process.
///
/// For a program that is about to stop at once, such as on Ctrl-C: [`create`](crate::create) and
/// [`extract`](crate::extract) remove theirs themselves when they return. From here on, whoever begins
/// or ends such a write waits for the end of the process.
pub fn remove_unfinished() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // Nobody is left to tell, and the next run explains a file that stayed.
        let _ = fs::remove_file(path);
    }
    // Other threads still run: without this they would go on to begin files that nobody removes.
    std::mem::forget(unfinished);
}

/// Replaces the content of a file in one step, when it still is what it was: somebody may have edited
/// it since. A link stays one, and the permissions stay what they are.
pub(crate) fn replace(path: &Path, old: &[u8], new: &[u8]) -> Result<()> {
    let target = fs::canonicalize(path).map_err(Error::io("open", path))?;
    let permissions = fs::metadata(&target).map_err(Error::io("look at", path))?.permissions();
    let limit = u64::try_from(old.len()).unwrap_or(u64::MAX);
    let same = read_limited(&target, limit).is_ok_and(|found| found == old);
    if !same {
        return Err(File::open(path)?.changed("its content is not what was read"));
    }
    let pending = PendingFile::create(&target, true)?;
    pending.file().write_all_at(new, 0)?;
    pending.file().inner.set_permissions(permissions).map_err(Error::io("write", path))?;
    pending.sync()?;
    pending.persist()?;
    sync_directory(&target)
}

/// What the names of temporary files end in.
pub(crate) const TEMPORARY_SUFFIX: &str = ".ra-pack-unfinished";

/// Most bytes of a target's name in its temporary name, so that a name of 255 bytes, the longest that
/// most file systems allow, leaves room for what makes it temporary.
const MAX_TEMPORARY_STEM: usize = 200;

/// What the names of the temporary files of `target` begin with.
fn temporary_prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.get(..name.floor_char_boundary(MAX_TEMPORARY_STEM)).unwrap_or_default();
    format!(".{stem}.")
}

/// A new file that has its name only when it is complete.
#[derive(Debug)]
pub(crate) struct PendingFile {
    file: File,
    temporary: Option<tempfile::TempPath>,
    target: PathBuf,
    replace: bool,
}

impl PendingFile {
    /// Begins a file beside `target`, under a temporary name; `target` itself is not touched.
    pub(crate) fn create(target: &Path, replace: bool) -> Result<Self> {
        if !replace && exists(target) {
            return Err(Error::AlreadyExists { path: target.to_owned() });
        }
        if fs::symlink_metadata(target).is_ok_and(|metadata| metadata.is_dir()) {
            return Err(Error::io("write", target)(io::ErrorKind::IsADirectory.into()));
        }
        let directory = parent_of(target);
        let mut builder = tempfile::Builder::new();
        let prefix = temporary_prefix(target);
        builder.prefix(&prefix).suffix(TEMPORARY_SUFFIX);
        #[cfg(unix)]
        {
            // Ordinary permissions, which the umask restricts, instead of a temporary file's 0600.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        // Held from before the file is there, so that no file is without its entry.
        let mut unfinished = unfinished();
        let named = builder.tempfile_in(directory).map_err(Error::io("write in", directory))?;
        let (inner, temporary) = named.into_parts();
        unfinished.insert(temporary.to_path_buf());
        drop(unfinished);
        let file = File { inner, path: target.to_owned() };
        Ok(Self { file, temporary: Some(temporary), target: target.to_owned(), replace })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Where it lies until it is complete.
    pub(crate) fn temporary(&self) -> Option<&Path> {
        self.temporary.as_deref()
    }

    /// Writes the file from its beginning on.
    pub(crate) fn writer(&self) -> Result<impl io::Write + '_> {
        self.file.inner.try_clone().map_err(Error::io("write", &self.target))
    }

    /// Takes back everything from `len` on.
    pub(crate) fn set_len(&self, len: u64) -> Result<()> {
        self.file.inner.set_len(len).map_err(Error::io("write", &self.target))
    }

    /// Writes everything to the disk before the file gets its name.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.inner.sync_all().map_err(Error::io("write", &self.target))
    }

    /// Gives the file its name, in one step.
    pub(crate) fn persist(mut self) -> Result<()> {
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        let name = temporary.to_path_buf();
        let result = if self.replace {
            temporary.persist(&self.target)
        } else {
            temporary.persist_noclobber(&self.target)
        };
        unfinished().remove(&name);
        result.map_err(|failed| match failed.error.kind() {
            io::ErrorKind::AlreadyExists => Error::AlreadyExists { path: self.target.clone() },
            _ => Error::io("rename into place", &self.target)(failed.error),
        })
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            unfinished().remove(&*temporary);
        }
    }
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

/// Temporary files beside `target` that an interrupted run left.
pub(crate) fn leftovers(target: &Path) -> Vec<PathBuf> {
    leftovers_in(parent_of(target), &temporary_prefix(target))
}

/// Temporary files in `directory` that an interrupted run left and whose names begin with `prefix`.
pub(crate) fn leftovers_in(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let running = unfinished();
    entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(prefix) && name.ends_with(TEMPORARY_SUFFIX)
        })
        .map(|entry| entry.path())
        .filter(|path| !running.contains(path))
        .collect()
}

/// A temporary file without a name in the directory of `target`, gone when it is closed.
pub(crate) fn scratch_file(target: &Path) -> Result<File> {
    let directory = parent_of(target);
    let inner = tempfile::tempfile_in(directory).map_err(Error::io("write in", directory))?;
    Ok(File { inner, path: directory.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_pending_file_has_no_name_until_it_is_persisted() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a.zip");
        let pending = PendingFile::create(&target, false).unwrap();
        pending.file().write_all_at(b"abc", 0).unwrap();
        assert!(!exists(&target));
        drop(pending);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

        let pending = PendingFile::create(&target, false).unwrap();
        pending.file().write_all_at(b"abc", 0).unwrap();
        write(&target, "somebody was faster");
        assert!(matches!(pending.persist(), Err(Error::AlreadyExists { .. })));
        assert_eq!(fs::read_to_string(&target).unwrap(), "somebody was faster");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);

        let pending = PendingFile::create(&target, true).unwrap();
        pending.file().write_all_at(b"abc", 0).unwrap();
        pending.persist().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "abc");
    }

    #[test]
    fn a_walk_is_sorted_by_whole_paths() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("a")).unwrap();
        for name in ["a/b", "a.x", "Z"] {
            write(&directory.path().join(name), "");
        }
        let names: Vec<_> = walk(directory.path(), false)
            .unwrap()
            .into_iter()
            .map(|walked| walked.path.unwrap().as_str().to_owned())
            .collect();
        assert_eq!(names, ["Z", "a", "a.x", "a/b"]);
    }

    #[cfg(unix)]
    #[test]
    fn directories_are_never_made_through_a_link() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("a")).unwrap();
        let made = &mut BTreeSet::new();
        assert!(create_directories(root.path(), "a/b", made).is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        create_directories(root.path(), "c/d", made).unwrap();
        assert!(root.path().join("c/d").is_dir());
    }
}
