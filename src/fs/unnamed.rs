//! A file that has no name until it is complete: nothing is left of it, whatever ends the process.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
use rustix::io::{Errno, retry_on_intr};

use super::target::Handle;

/// Whether the system links a file by its handle alone. Linux before 6.10 asks for a right of root's.
static LINKS_BY_HANDLE: AtomicBool = AtomicBool::new(true);

/// Where a file without a name will have one.
#[derive(Debug)]
pub(super) struct Unnamed {
    directory: Handle,
}

impl Unnamed {
    /// Creates a file without a name in `directory`; `None` where the file system has no such files.
    pub(super) fn create(directory: &Handle) -> io::Result<Option<(fs::File, Self)>> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        // Ordinary permissions, which the umask restricts.
        let mode = Mode::from_raw_mode(0o666);
        match retry_on_intr(|| openat(directory, ".", flags, mode)) {
            Ok(file) => Ok(Some((file.into(), Self { directory: Arc::clone(directory) }))),
            // A file system says the first; a system that knows nothing of such files says the others.
            Err(Errno::NOTSUP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    pub(super) fn directory(&self) -> &Handle {
        &self.directory
    }

    /// Gives `file` the name `last`, unless something has it, which is an error. `false` where the
    /// system gives no name to such a file.
    pub(super) fn link(&self, file: &fs::File, last: &OsStr) -> io::Result<bool> {
        if LINKS_BY_HANDLE.load(Ordering::Relaxed) {
            if self.link_by_handle(file, last)? {
                return Ok(true);
            }
            LINKS_BY_HANDLE.store(false, Ordering::Relaxed);
        }
        self.link_by_number(file, last)
    }

    fn link_by_handle(&self, file: &fs::File, last: &OsStr) -> io::Result<bool> {
        let flags = AtFlags::EMPTY_PATH;
        is_linked(retry_on_intr(|| linkat(file, "", &self.directory, last, flags)))
    }

    /// By the number of the open file, where `/proc` is mounted.
    fn link_by_number(&self, file: &fs::File, last: &OsStr) -> io::Result<bool> {
        let from = format!("/proc/self/fd/{}", file.as_raw_fd());
        let flags = AtFlags::SYMLINK_FOLLOW;
        is_linked(retry_on_intr(|| linkat(CWD, &*from, &self.directory, last, flags)))
    }
}

/// Tells what the system cannot do from what it refuses.
fn is_linked(result: rustix::io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(
            Errno::NOENT
            | Errno::INVAL
            | Errno::PERM
            | Errno::ACCESS
            | Errno::XDEV
            | Errno::NOTSUP
            | Errno::NOSYS,
        ) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use super::*;

    /// `None` on a file system without such files.
    fn unnamed(root: &Path, content: &[u8]) -> Option<(fs::File, Unnamed)> {
        let directory: Handle = Arc::new(fs::File::open(root).unwrap().into());
        let (mut file, unnamed) = Unnamed::create(&directory).unwrap()?;
        file.write_all(content).unwrap();
        assert_eq!(fs::read_dir(root).unwrap().count(), 0);
        Some((file, unnamed))
    }

    #[test]
    fn a_file_gets_its_name_either_way_and_never_one_that_is_taken() {
        for by_handle in [true, false] {
            let root = tempfile::tempdir().unwrap();
            let Some((file, unnamed)) = unnamed(root.path(), b"abc") else { return };
            let link = |last: &str| {
                if by_handle {
                    unnamed.link_by_handle(&file, last.as_ref())
                } else {
                    unnamed.link_by_number(&file, last.as_ref())
                }
            };
            if !link("a").unwrap() {
                continue;
            }
            assert_eq!(fs::read(root.path().join("a")).unwrap(), b"abc");
            fs::write(root.path().join("b"), "mine").unwrap();
            std::os::unix::fs::symlink("nowhere", root.path().join("c")).unwrap();
            fs::create_dir(root.path().join("d")).unwrap();
            for taken in ["b", "c", "d"] {
                let refusal = link(taken).unwrap_err();
                assert_eq!(refusal.kind(), io::ErrorKind::AlreadyExists, "{taken}");
            }
            assert_eq!(fs::read(root.path().join("b")).unwrap(), b"mine");
            assert!(!root.path().join("nowhere").exists());
        }
    }

    #[test]
    fn nothing_is_left_of_a_file_that_is_given_up() {
        let root = tempfile::tempdir().unwrap();
        drop(unnamed(root.path(), b"abc"));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
