//! Directories to unpack into. Replacing a directory below the target with a link during unpacking cannot redirect a
//! write.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::fs::directory::Directory;
use crate::fs::pending::{PendingFile, permissions};

/// Number of directories kept open. Systems allow at least 256 open files, and most archives are sorted by directory.
const KEPT: usize = 16;

/// Maximum path length that can be opened by name; Linux counts the NUL after it. Longer paths could be created part by
/// part, but nobody could open them.
const MAX_PATH: usize = 4095;

/// A directory to write files below. Links in its own path are followed; links below it are not.
#[derive(Debug)]
pub(crate) struct Target {
    path: PathBuf,
    root: Arc<Directory>,
    state: Mutex<OpenDirectories>,
    /// Whether an unnamed file failed here. If so, none is tried again.
    needs_names: AtomicBool,
}

#[derive(Debug, Default)]
struct OpenDirectories {
    /// Every directory that was created or found, and whether it existed before.
    known: BTreeMap<String, bool>,
    /// The most recently used directories, latest first.
    open: VecDeque<(String, Arc<Directory>)>,
}

impl Target {
    /// Opens the existing directory at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let root = Arc::new(Directory::open(path).map_err(Error::io("open", path))?);
        let (state, needs_names) = (Mutex::default(), AtomicBool::new(false));
        Ok(Self { path: path.to_owned(), root, state, needs_names })
    }

    /// Creates a directory below and its missing parents.
    pub(crate) fn make_directory(&self, below: &str) -> Result<()> {
        self.directory(below).map(|_| ())
    }

    /// Creates a writer for one job.
    pub(crate) fn writer(&self) -> TargetWriter<'_> {
        TargetWriter { target: self, below: String::new(), directory: Arc::clone(&self.root) }
    }

    /// Returns this directory and the older directories that were written to.
    pub(crate) fn older_directories(&self) -> Vec<PathBuf> {
        let state = self.state();
        let older = state.known.iter().filter(|(_, is_older)| **is_older);
        let below = older.map(|(name, _)| self.path.join(name));
        std::iter::once(self.path.clone()).chain(below).collect()
    }

    fn state(&self) -> MutexGuard<'_, OpenDirectories> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_length(&self, path: &Path) -> Result<()> {
        if path.as_os_str().len() <= MAX_PATH {
            return Ok(());
        }
        let what = format!("a path below it is longer than {MAX_PATH} bytes");
        let error = io::Error::new(io::ErrorKind::InvalidFilename, what);
        Err(Error::io("write below", &self.path)(error))
    }

    /// Opens a directory below, part by part from the nearest open one.
    fn directory(&self, below: &str) -> Result<Arc<Directory>> {
        if below.is_empty() {
            return Ok(Arc::clone(&self.root));
        }
        self.check_length(&self.path.join(below))?;
        // Locked throughout, so that two threads do not create the same directories.
        let mut state = self.state();
        let (done, mut directory) = state.nearest(below, &self.root);
        // From the top down, without recursion: a name can have thousands of parts.
        let ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
        for (name, end) in ends.map(|end| (below.split_at(end).0, end)) {
            if end > done {
                let part = name.rsplit_once('/').map_or(name, |(_, part)| part);
                let path = self.path.join(name);
                let entered = enter(&directory, part);
                let (entered, is_older) =
                    entered.map_err(Error::io("create the directory", path))?;
                directory = Arc::new(entered);
                state.known.entry(name.to_owned()).or_insert(is_older);
            }
        }
        state.keep(below, &directory);
        Ok(directory)
    }
}

impl OpenDirectories {
    /// Returns the open directory at `below` or nearest above it, and the length of its name.
    fn nearest(&self, below: &str, root: &Arc<Directory>) -> (usize, Arc<Directory>) {
        let above = self.open.iter().filter(|(name, _)| {
            let rest = below.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let nearest = above.max_by_key(|(name, _)| name.len());
        nearest.map_or((0, Arc::clone(root)), |(name, open)| (name.len(), Arc::clone(open)))
    }

    fn keep(&mut self, name: &str, directory: &Arc<Directory>) {
        self.open.retain(|(open, _)| open != name);
        self.open.push_front((name.to_owned(), Arc::clone(directory)));
        self.open.truncate(KEPT);
    }
}

/// One job's writer. It keeps the directory of its last file, so that jobs rarely wait for each other.
#[derive(Debug)]
pub(crate) struct TargetWriter<'t> {
    target: &'t Target,
    below: String,
    directory: Arc<Directory>,
}

impl TargetWriter<'_> {
    /// Opens the directory of `name`, creating it if missing. Returns the last part of the name and the path.
    fn enter<'n>(&mut self, name: &'n str) -> Result<(&'n str, PathBuf)> {
        let Self { target, below, directory } = self;
        let (parent, last) = name.rsplit_once('/').unwrap_or(("", name));
        let path = target.path.join(name);
        target.check_length(&path)?;
        if parent != below {
            *directory = target.directory(parent)?;
            parent.clone_into(below);
        }
        Ok((last, path))
    }

    /// Renames the file at an absolute path on the same file system to `name` below the target.
    pub(super) fn take(&mut self, from: &Path, name: &str, replace: bool) -> Result<()> {
        let (last, path) = self.enter(name)?;
        let directory = &self.directory;
        let kept = permissions(&path).filter(|_| replace);
        let kept = kept.map_or(Ok(()), |permissions| fs::set_permissions(from, permissions));
        let (from, to) = (from.as_os_str(), last.as_ref());
        let take =
            || if replace { directory.replace(from, to) } else { directory.rename(from, to) };
        kept.and_then(|()| take()).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::AlreadyExists { path },
            _ => Error::io("write", path)(error),
        })
    }

    /// Creates the file `name` below, and its missing parents.
    pub(crate) fn begin(&mut self, name: &str, replace: bool) -> Result<PendingFile> {
        let (last, path) = self.enter(name)?;
        let Self { target, directory, .. } = self;
        let look = || directory.is_directory(last).map_err(Error::io("access", &path));
        // An existing file is detected when the new one is renamed. A file that may replace it needs a temporary name
        // to be renamed from.
        let needs_name =
            target.needs_names.load(Ordering::Relaxed) || (replace && look()?.is_some());
        if !needs_name {
            match PendingFile::unnamed_in(directory, &path, replace)? {
                Some(pending) => return Ok(pending),
                None => target.needs_names.store(true, Ordering::Relaxed),
            }
        }
        match look()? {
            Some(_) if !replace => Err(Error::AlreadyExists { path }),
            Some(true) => Err(Error::io("write", path)(io::ErrorKind::IsADirectory.into())),
            _ => PendingFile::named_in(directory, &path, replace),
        }
    }
}

/// Opens a subdirectory, creating it if missing. Returns whether it existed. A link or a file of that name is an error,
/// because nothing may be written through a link.
fn enter(parent: &Directory, part: &str) -> io::Result<(Directory, bool)> {
    match parent.enter(part) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        entered => return Ok((entered?, true)),
    }
    let is_older = match parent.make(part) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => true,
        made => made.map(|()| false)?,
    };
    Ok((parent.enter(part)?, is_older))
}

#[cfg(unix)] // links
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(target: &Target, name: &str, content: &[u8], replace: bool) -> Result<()> {
        let pending = target.writer().begin(name, replace)?;
        pending.file().write_all_at(content, 0)?;
        pending.persist()
    }

    /// Returns a target with unnamed temporary files and one with named ones.
    fn both_ways(root: &Path) -> [Target; 2] {
        [false, true].map(|needs_names| {
            let target = Target::open(root).unwrap();
            target.needs_names.store(needs_names, Ordering::Relaxed);
            target
        })
    }

    #[test]
    fn files_are_never_written_through_a_link() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        for target in both_ways(root.path()) {
            symlink(outside.path(), root.path().join("link")).unwrap();
            write(&target, "a/b/c.txt", b"1", false).unwrap();
            assert_eq!(fs::read(root.path().join("a/b/c.txt")).unwrap(), b"1");
            for replace in [false, true] {
                assert!(write(&target, "link/c.txt", b"2", replace).is_err());
                assert!(target.make_directory("link/d").is_err());
                assert!(write(&target, "a/b/c.txt/d", b"2", replace).is_err());
                assert!(write(&target, "a/b", b"2", replace).is_err());
            }
            let refused = write(&target, "link", b"3", false);
            assert!(matches!(refused, Err(Error::AlreadyExists { .. })));
            write(&target, "link", b"3", true).unwrap();
            assert_eq!(fs::read(root.path().join("link")).unwrap(), b"3");
            write(&target, "a/b/c.txt", b"4", true).unwrap();
            assert_eq!(fs::read(root.path().join("a/b/c.txt")).unwrap(), b"4");
            assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
            assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2);
            fs::remove_dir_all(root.path().join("a")).unwrap();
            fs::remove_file(root.path().join("link")).unwrap();
        }
    }

    #[test]
    fn replacing_an_open_directory_with_a_link_redirects_nothing() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        for target in both_ways(root.path()) {
            let mut writer = target.writer();
            let pending = writer.begin("a/b.txt", false).unwrap();
            fs::rename(root.path().join("a"), root.path().join("moved")).unwrap();
            symlink(outside.path(), root.path().join("a")).unwrap();
            pending.file().write_all_at(b"1", 0).unwrap();
            pending.persist().unwrap();
            assert_eq!(fs::read(root.path().join("moved/b.txt")).unwrap(), b"1");
            // An abandoned file also stays in its original directory.
            drop(writer.begin("a/c.txt", false).unwrap());
            assert_eq!(fs::read_dir(root.path().join("moved")).unwrap().count(), 1);
            assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
            fs::remove_file(root.path().join("a")).unwrap();
            fs::remove_dir_all(root.path().join("moved")).unwrap();
        }
    }

    #[test]
    fn an_existing_file_is_kept_unless_replacing() {
        let root = tempfile::tempdir().unwrap();
        for target in both_ways(root.path()) {
            let mut writer = target.writer();
            let pending = writer.begin("a.txt", false).unwrap();
            fs::write(root.path().join("a.txt"), "mine").unwrap();
            assert!(matches!(pending.persist(), Err(Error::AlreadyExists { .. })));
            assert_eq!(fs::read(root.path().join("a.txt")).unwrap(), b"mine");
            assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "the temporary file is gone");
            fs::remove_file(root.path().join("a.txt")).unwrap();

            let pending = writer.begin("a.txt", true).unwrap();
            pending.file().write_all_at(b"new", 0).unwrap();
            fs::write(root.path().join("a.txt"), "an older one").unwrap();
            pending.persist().unwrap();
            assert_eq!(fs::read(root.path().join("a.txt")).unwrap(), b"new");
            assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
            fs::remove_file(root.path().join("a.txt")).unwrap();

            let pending = writer.begin("a.txt", true).unwrap();
            fs::create_dir(root.path().join("a.txt")).unwrap();
            assert!(pending.persist().is_err());
            assert!(root.path().join("a.txt").is_dir());
            assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
            fs::remove_dir(root.path().join("a.txt")).unwrap();
        }
    }

    #[test]
    fn few_directories_stay_open_and_older_ones_are_remembered() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("3/10")).unwrap();
        let target = Target::open(root.path()).unwrap();
        for index in 0..100 {
            write(&target, &format!("{}/{index}/a", index % 7), b"", false).unwrap();
        }
        for index in 0..100 {
            write(&target, &format!("{}/{index}/b", index % 7), b"", false).unwrap();
        }
        assert_eq!(target.state().open.len(), KEPT);
        let older = ["", "3", "3/10"].map(|name| root.path().join(name));
        assert_eq!(target.older_directories(), older);
        let deep = vec!["d"; 20_000].join("/");
        assert!(target.make_directory(&deep).is_err());
        assert!(!root.path().join("d").exists(), "no part of a path that is too long is created");
        target.make_directory(&vec!["d"; 1_500].join("/")).unwrap();
    }
}
