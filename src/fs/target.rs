//! A directory to unpack into, by handles of directories: whoever swaps one for a link while files are
//! written below it cannot lead a write elsewhere.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, open, openat, statat};
use rustix::io::{Errno, retry_on_intr};

use super::pending::PendingFile;
use crate::error::{Error, Result};

/// A handle of a directory.
pub(super) type Handle = Arc<std::os::fd::OwnedFd>;

/// How many directories are kept open: a system allows a process 256 files at the least, and files are
/// mostly unpacked directory by directory.
const KEPT: usize = 16;

/// Longest path that can be opened by its name, of which Linux counts the NUL behind. What is longer
/// could be written part by part, but nobody could open it.
const MAX_PATH: usize = 4095;

/// A directory that files are written below. A link in its own path is the user's own choice; below it
/// none is followed.
#[derive(Debug)]
pub(crate) struct Target {
    path: PathBuf,
    root: Handle,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Every directory that was made or found to be one.
    made: BTreeSet<String>,
    /// Those that were used last, the latest first.
    open: VecDeque<(String, Handle)>,
}

impl Target {
    /// Opens the directory at `path`, which is there.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = retry_on_intr(|| open(path, flags, Mode::empty()))
            .map_err(|errno| Error::io("open", path)(errno.into()))?;
        Ok(Self { path: path.to_owned(), root: Arc::new(root), state: Mutex::default() })
    }

    /// Makes a directory below, and every missing one above it.
    pub(crate) fn make_directory(&self, below: &str) -> Result<()> {
        self.directory(below).map(|_| ())
    }

    /// Begins the file `name` below, in directories that are made where they are missing.
    pub(crate) fn begin(&self, name: &str, replace: bool) -> Result<PendingFile> {
        let (parent, last) = name.rsplit_once('/').unwrap_or(("", name));
        let path = self.path.join(name);
        self.check_length(&path)?;
        let directory = self.directory(parent)?;
        match retry_on_intr(|| statat(&directory, last, AtFlags::SYMLINK_NOFOLLOW)) {
            Ok(_) if !replace => return Err(Error::AlreadyExists { path }),
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                return Err(Error::io("write", path)(io::ErrorKind::IsADirectory.into()));
            }
            Ok(_) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(Error::io("look at", path)(errno.into())),
        }
        PendingFile::create_in(&directory, path, replace)
    }

    /// The directories that were made or written to, and this one.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        let state = self.state();
        let below = state.made.iter().map(|name| self.path.join(name));
        std::iter::once(self.path.clone()).chain(below).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_length(&self, path: &Path) -> Result<()> {
        if path.as_os_str().len() <= MAX_PATH {
            return Ok(());
        }
        Err(Error::io("write below", &self.path)(Errno::NAMETOOLONG.into()))
    }

    /// The handle of a directory below, opened part by part from the nearest one that is open.
    fn directory(&self, below: &str) -> Result<Handle> {
        if below.is_empty() {
            return Ok(Arc::clone(&self.root));
        }
        self.check_length(&self.path.join(below))?;
        // Held all the while, so that two threads do not make the same directories.
        let mut state = self.state();
        let (mut done, mut handle) = state.nearest(below, &self.root);
        while done < below.len() {
            let from = if done == 0 { 0 } else { done.saturating_add(1) };
            let rest = below.get(from..).unwrap_or_default();
            let part = rest.split('/').next().unwrap_or_default();
            done = from.saturating_add(part.len());
            let name = below.get(..done).unwrap_or(below);
            handle = Arc::new(enter(&handle, part, &self.path.join(name))?);
            state.made.insert(name.to_owned());
        }
        state.keep(below, &handle);
        Ok(handle)
    }
}

impl State {
    /// The open directory that is `below` or the nearest above it, and the length of its name.
    fn nearest(&self, below: &str, root: &Handle) -> (usize, Handle) {
        let above = self.open.iter().filter(|(name, _)| {
            let rest = below.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let nearest = above.max_by_key(|(name, _)| name.len());
        nearest.map_or((0, Arc::clone(root)), |(name, handle)| (name.len(), Arc::clone(handle)))
    }

    fn keep(&mut self, name: &str, handle: &Handle) {
        self.open.retain(|(open, _)| open != name);
        self.open.push_front((name.to_owned(), Arc::clone(handle)));
        self.open.truncate(KEPT);
    }
}

/// Opens a directory in another one, and makes it when it is missing. A link or a file in the way is an
/// error: nothing is ever written through a link.
fn enter(parent: &Handle, part: &str, path: &Path) -> Result<std::os::fd::OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let enter = || retry_on_intr(|| openat(parent, part, flags, Mode::empty()));
    let make = || retry_on_intr(|| mkdirat(parent, part, Mode::from_raw_mode(0o777)));
    let entered = match enter() {
        Err(Errno::NOENT) => match make() {
            Ok(()) | Err(Errno::EXIST) => enter(),
            Err(errno) => Err(errno),
        },
        other => other,
    };
    entered.map_err(|errno| {
        let source = match errno {
            // Of a link, systems say the one or the other.
            Errno::NOTDIR | Errno::LOOP | Errno::MLINK => io::Error::new(
                io::ErrorKind::NotADirectory,
                "something that is not a directory is in the way",
            ),
            errno => errno.into(),
        };
        Error::io("create the directory", path)(source)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(target: &Target, name: &str, content: &[u8], replace: bool) -> Result<()> {
        let pending = target.begin(name, replace)?;
        pending.file().write_all_at(content, 0)?;
        pending.persist()
    }

    #[test]
    fn files_are_written_below_and_never_through_a_link() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        symlink(outside.path(), root.path().join("link")).unwrap();
        let target = Target::open(root.path()).unwrap();
        write(&target, "a/b/c.txt", b"1", false).unwrap();
        assert_eq!(fs::read(root.path().join("a/b/c.txt")).unwrap(), b"1");
        for replace in [false, true] {
            assert!(write(&target, "link/c.txt", b"2", replace).is_err());
            assert!(target.make_directory("link/d").is_err());
            assert!(write(&target, "a/b/c.txt/d", b"2", replace).is_err());
            assert!(write(&target, "a/b", b"2", replace).is_err());
        }
        assert!(matches!(write(&target, "link", b"3", false), Err(Error::AlreadyExists { .. })));
        write(&target, "link", b"3", true).unwrap();
        assert_eq!(fs::read(root.path().join("link")).unwrap(), b"3");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_becomes_a_link_behind_its_handle_leads_nowhere() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        let target = Target::open(root.path()).unwrap();
        let pending = target.begin("a/b.txt", false).unwrap();
        fs::rename(root.path().join("a"), root.path().join("moved")).unwrap();
        symlink(outside.path(), root.path().join("a")).unwrap();
        pending.file().write_all_at(b"1", 0).unwrap();
        pending.persist().unwrap();
        assert_eq!(fs::read(root.path().join("moved/b.txt")).unwrap(), b"1");
        // One that is given up goes where it was begun, too.
        drop(target.begin("a/c.txt", false).unwrap());
        assert_eq!(fs::read_dir(root.path().join("moved")).unwrap().count(), 1);
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[test]
    fn who_was_faster_keeps_the_name() {
        let root = tempfile::tempdir().unwrap();
        let target = Target::open(root.path()).unwrap();
        let pending = target.begin("a.txt", false).unwrap();
        fs::write(root.path().join("a.txt"), "mine").unwrap();
        assert!(matches!(pending.persist(), Err(Error::AlreadyExists { .. })));
        assert_eq!(fs::read(root.path().join("a.txt")).unwrap(), b"mine");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "the temporary file is gone");
    }

    #[test]
    fn few_directories_stay_open_and_all_are_remembered() {
        let root = tempfile::tempdir().unwrap();
        let target = Target::open(root.path()).unwrap();
        for index in 0..100 {
            write(&target, &format!("{}/{index}/a", index % 7), b"", false).unwrap();
        }
        assert_eq!(target.state().open.len(), KEPT);
        assert_eq!(target.directories().len(), 1 + 7 + 100);
        let deep = vec!["d"; 20_000].join("/");
        assert!(target.make_directory(&deep).is_err());
        assert!(!root.path().join("d").exists(), "nothing is made of a path that is too long");
        target.make_directory(&vec!["d"; 1_500].join("/")).unwrap();
    }
}
