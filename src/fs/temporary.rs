//! Unfinished files in a directory that is held by its handle: under a temporary name, or without a name, of which
//! nothing is left whatever ends the process.

use std::ffi::OsStr;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(target_os = "linux")]
use rustix::fs::CWD;
use rustix::fs::{AtFlags, Mode, OFlags, linkat, openat, renameat, unlinkat};
use rustix::io::{Errno, retry_on_intr};

use super::target::Handle;

/// How often another name is tried: names are drawn from 2^64.
const TRIES: usize = 16;

/// A file under a temporary name, removed when dropped.
#[derive(Debug)]
pub(super) struct NamedTemporary {
    directory: Handle,
    name: Option<String>,
    path: PathBuf,
}

impl NamedTemporary {
    /// Creates a file in `directory`, which is at `path`, with a name between `prefix` and `suffix`.
    pub(super) fn create(
        directory: &Handle,
        path: &Path,
        prefix: &str,
        suffix: &str,
    ) -> io::Result<(std::fs::File, Self)> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Ordinary permissions, which the umask restricts.
        let mode = Mode::from_raw_mode(0o666);
        let mut tries = 0;
        loop {
            let random = RandomState::new().build_hasher().finish();
            let name = format!("{prefix}{random:016x}{suffix}");
            match retry_on_intr(|| openat(directory, &*name, flags, mode)) {
                Ok(file) => {
                    let path = path.join(&name);
                    let directory = Arc::clone(directory);
                    return Ok((file.into(), Self { directory, name: Some(name), path }));
                }
                Err(Errno::EXIST) if tries < TRIES => tries += 1,
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What removes it, whatever its directory is called by then.
    pub(super) fn remover(&self) -> Option<(Handle, String)> {
        Some((Arc::clone(&self.directory), self.name.clone()?))
    }

    /// Gives the file the name `last` in its directory, in the place of what may be there.
    pub(super) fn replace(mut self, last: &OsStr) -> io::Result<()> {
        let Some(name) = &self.name else { return Ok(()) };
        retry_on_intr(|| renameat(&self.directory, &**name, &self.directory, last))?;
        self.name = None;
        Ok(())
    }

    /// Gives the file the name `last` in its directory, unless something has it.
    #[cfg_attr(
        not(any(target_os = "linux", target_os = "android")),
        expect(unused_mut, reason = "only a rename takes the temporary name away")
    )]
    pub(super) fn keep(mut self, last: &OsStr) -> io::Result<()> {
        let Some(name) = &self.name else { return Ok(()) };
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            let flags = RenameFlags::NOREPLACE;
            let rename = || renameat_with(&self.directory, &**name, &self.directory, last, flags);
            match retry_on_intr(rename) {
                Ok(()) => {
                    self.name = None;
                    return Ok(());
                }
                // Not every file system can.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        // The temporary name goes when this is dropped.
        let link = || linkat(&self.directory, &**name, &self.directory, last, AtFlags::empty());
        Ok(retry_on_intr(link)?)
    }
}

impl Drop for NamedTemporary {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            // Nobody is left to tell, and the next run explains a file that stayed.
            let _ = remove(&self.directory, &name);
        }
    }
}

/// Removes a file of `directory`.
pub(super) fn remove(directory: &Handle, name: &str) -> io::Result<()> {
    Ok(retry_on_intr(|| unlinkat(directory, name, AtFlags::empty()))?)
}

/// Where a file without a name will have one.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct Unnamed {
    directory: Handle,
}

#[cfg(target_os = "linux")]
impl Unnamed {
    /// Creates a file without a name in `directory`; `None` where the file system has no such files.
    pub(super) fn create(directory: &Handle) -> io::Result<Option<(std::fs::File, Self)>> {
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
    /// system gives no name to such a file: it goes by the number of the open file, where `/proc` is mounted.
    pub(super) fn link(&self, file: &std::fs::File, last: &OsStr) -> io::Result<bool> {
        use std::os::fd::AsRawFd as _;
        let from = format!("/proc/self/fd/{}", file.as_raw_fd());
        let flags = AtFlags::SYMLINK_FOLLOW;
        match retry_on_intr(|| linkat(CWD, &*from, &self.directory, last, flags)) {
            Ok(()) => Ok(true),
            // The system cannot; everything else it refuses.
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
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

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
    fn a_file_gets_its_name_and_never_one_that_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let Some((file, unnamed)) = unnamed(root.path(), b"abc") else { return };
        let link = |last: &str| unnamed.link(&file, last.as_ref());
        if !link("a").unwrap() {
            return;
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

    #[test]
    fn nothing_is_left_of_a_file_that_is_given_up() {
        let root = tempfile::tempdir().unwrap();
        drop(unnamed(root.path(), b"abc"));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
