//! A directory to unpack into, by handles of directories: whoever swaps one for a link while files are
//! written below it cannot lead a write elsewhere.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};
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
    state: Mutex<OpenDirectories>,
    /// Whether a file here was ever refused to be without a name; then none is tried again.
    #[cfg(target_os = "linux")]
    needs_names: AtomicBool,
}

/// Who made a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    /// This run.
    Us,
    /// It was there before.
    Others,
}

#[derive(Debug, Default)]
struct OpenDirectories {
    /// Every directory that was made or found to be one.
    known: BTreeMap<String, Maker>,
    /// Those that were used last, the latest first.
    open: VecDeque<(String, Handle)>,
}

/// Holds a directory open.
pub(super) fn handle(path: &Path) -> io::Result<Handle> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(Arc::new(retry_on_intr(|| open(path, flags, Mode::empty()))?))
}

impl Target {
    /// Opens the directory at `path`, which is there.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let root = handle(path).map_err(Error::io("open", path))?;
        Ok(Self {
            path: path.to_owned(),
            root,
            state: Mutex::default(),
            #[cfg(target_os = "linux")]
            needs_names: AtomicBool::new(false),
        })
    }

    /// Makes a directory below, and every missing one above it.
    pub(crate) fn make_directory(&self, below: &str) -> Result<()> {
        self.directory(below).map(|_| ())
    }

    /// A way to write files for one job.
    pub(crate) fn writer(&self) -> TargetWriter<'_> {
        TargetWriter { target: self, below: String::new(), directory: Arc::clone(&self.root) }
    }

    /// This directory, and those that were written to and had been there before.
    pub(crate) fn older_directories(&self) -> Vec<PathBuf> {
        let state = self.state();
        let older = state.known.iter().filter(|(_, maker)| **maker == Maker::Others);
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
            let (entered, maker) = enter(&handle, part, &self.path.join(name))?;
            handle = Arc::new(entered);
            state.known.entry(name.to_owned()).or_insert(maker);
        }
        state.keep(below, &handle);
        Ok(handle)
    }
}

impl OpenDirectories {
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

/// One job's way to write files: the directory of its last file stays at hand, so that jobs do not wait
/// for each other to look it up.
#[derive(Debug)]
pub(crate) struct TargetWriter<'t> {
    target: &'t Target,
    below: String,
    directory: Handle,
}

impl TargetWriter<'_> {
    /// Begins the file `name` below, in directories that are made where they are missing.
    pub(crate) fn begin(&mut self, name: &str, replace: bool) -> Result<PendingFile> {
        let (parent, last) = name.rsplit_once('/').unwrap_or(("", name));
        let path = self.target.path.join(name);
        self.target.check_length(&path)?;
        if parent != self.below {
            self.directory = self.target.directory(parent)?;
            parent.clone_into(&mut self.below);
        }
        #[cfg(target_os = "linux")]
        let path = match self.begin_unnamed(last, path, replace)? {
            Ok(pending) => return Ok(pending),
            Err(path) => path,
        };
        match self.look(last, &path)? {
            Some(_) if !replace => Err(Error::AlreadyExists { path }),
            Some(FileType::Directory) => {
                Err(Error::io("write", path)(io::ErrorKind::IsADirectory.into()))
            }
            _ => PendingFile::create_in(&self.directory, path, replace),
        }
    }

    /// Begins a file without a name; gives the path back where it has to have one. What is there is seen
    /// when the file gets its name; what may be replaced takes a temporary name to be replaced by.
    #[cfg(target_os = "linux")]
    fn begin_unnamed(
        &self,
        last: &str,
        path: PathBuf,
        replace: bool,
    ) -> Result<Result<PendingFile, PathBuf>> {
        let needs_names = &self.target.needs_names;
        if needs_names.load(Ordering::Relaxed) || (replace && self.look(last, &path)?.is_some()) {
            return Ok(Err(path));
        }
        let begun = PendingFile::unnamed_in(&self.directory, path, replace)?;
        if begun.is_err() {
            needs_names.store(true, Ordering::Relaxed);
        }
        Ok(begun)
    }

    /// What has the name `last`, a link too.
    fn look(&self, last: &str, path: &Path) -> Result<Option<FileType>> {
        match retry_on_intr(|| statat(&self.directory, last, AtFlags::SYMLINK_NOFOLLOW)) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(Error::io("look at", path)(errno.into())),
        }
    }
}

/// Opens a directory in another one, and makes it when it is missing. A link or a file in the way is an
/// error: nothing is ever written through a link.
fn enter(parent: &Handle, part: &str, path: &Path) -> Result<(std::os::fd::OwnedFd, Maker)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let enter = || retry_on_intr(|| openat(parent, part, flags, Mode::empty()));
    let make = || retry_on_intr(|| mkdirat(parent, part, Mode::from_raw_mode(0o777)));
    let (entered, maker) = match enter() {
        Err(Errno::NOENT) => match make() {
            Ok(()) => (enter(), Maker::Us),
            Err(Errno::EXIST) => (enter(), Maker::Others),
            Err(errno) => (Err(errno), Maker::Others),
        },
        other => (other, Maker::Others),
    };
    entered.map(|entered| (entered, maker)).map_err(|errno| {
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
        let pending = target.writer().begin(name, replace)?;
        pending.file().write_all_at(content, 0)?;
        pending.persist()
    }

    /// Targets whose files have no name until they are complete, and have one.
    fn both_ways(root: &Path) -> Vec<Target> {
        let mut targets = vec![Target::open(root).unwrap()];
        #[cfg(target_os = "linux")]
        {
            let target = Target::open(root).unwrap();
            target.needs_names.store(true, Ordering::Relaxed);
            targets.push(target);
        }
        targets
    }

    #[test]
    fn files_are_written_below_and_never_through_a_link() {
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
    fn a_directory_that_becomes_a_link_behind_its_handle_leads_nowhere() {
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
            // One that is given up goes where it was begun, too.
            drop(writer.begin("a/c.txt", false).unwrap());
            assert_eq!(fs::read_dir(root.path().join("moved")).unwrap().count(), 1);
            assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
            fs::remove_file(root.path().join("a")).unwrap();
            fs::remove_dir_all(root.path().join("moved")).unwrap();
        }
    }

    #[test]
    fn who_was_faster_keeps_the_name_unless_files_are_replaced() {
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
    fn few_directories_stay_open_and_those_that_were_there_are_remembered() {
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
        assert!(!root.path().join("d").exists(), "nothing is made of a path that is too long");
        target.make_directory(&vec!["d"; 1_500].join("/")).unwrap();
    }
}
