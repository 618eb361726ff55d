//! Operations relative to an open directory. They use its handle, so replacing the directory with a link cannot
//! redirect them. On systems without such handles, a directory is a path.

pub(super) use self::system::Directory;

#[cfg(unix)]
mod system {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::{
        AtFlags, FileType, Mode, OFlags, linkat, mkdirat, open, openat, renameat, statat, unlinkat,
    };
    use rustix::io::{Errno, retry_on_intr};

    use super::super::file::WITHOUT_WAITING;

    const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    /// Default permissions, restricted by the umask.
    const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
    const PRIVATE_MODE: Mode = Mode::from_raw_mode(0o600);

    #[derive(Debug)]
    pub(in crate::fs) struct Directory(OwnedFd);

    impl Directory {
        pub(in crate::fs) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(retry_on_intr(|| open(path, DIRECTORY, Mode::empty()))?))
        }

        /// Opens a subdirectory. A link or a file of that name is an error.
        pub(in crate::fs) fn enter(&self, name: &str) -> io::Result<Self> {
            let open = || openat(&self.0, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
            match retry_on_intr(open) {
                // Systems report a link with any of these errors.
                Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => Err(super::not_a_directory()),
                entered => Ok(Self(entered?)),
            }
        }

        /// Creates a subdirectory.
        pub(in crate::fs) fn make(&self, name: &str) -> io::Result<()> {
            Ok(retry_on_intr(|| mkdirat(&self.0, name, Mode::from_raw_mode(0o777)))?)
        }

        /// Opens a file for reading, without following links and without blocking.
        pub(in crate::fs) fn open_file(&self, name: &str) -> io::Result<File> {
            let flags = OFlags::from_bits_retain(WITHOUT_WAITING.cast_unsigned())
                | OFlags::NOFOLLOW
                | OFlags::CLOEXEC;
            Ok(retry_on_intr(|| openat(&self.0, name, flags, Mode::empty()))?.into())
        }

        /// Creates a new file, only for this user if it is `private`; fails if the name exists.
        pub(in crate::fs) fn create_file(&self, name: &OsStr, private: bool) -> io::Result<File> {
            let flags =
                OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mode = if private { PRIVATE_MODE } else { FILE_MODE };
            Ok(retry_on_intr(|| openat(&self.0, name, flags, mode))?.into())
        }

        /// Creates a file without a name. It disappears when the process ends. `None` where the system has no such
        /// files.
        #[cfg_attr(
            not(target_os = "linux"),
            expect(
                clippy::unused_self,
                clippy::unnecessary_wraps,
                reason = "only Linux has such files"
            )
        )]
        pub(in crate::fs) fn create_unnamed(&self) -> io::Result<Option<File>> {
            #[cfg(target_os = "linux")]
            {
                let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
                match retry_on_intr(|| openat(&self.0, ".", flags, FILE_MODE)) {
                    // A file system without such files returns the first error; a kernel without them returns the
                    // others.
                    Err(Errno::NOTSUP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {}
                    file => return Ok(Some(file?.into())),
                }
            }
            Ok(None)
        }

        /// Gives an unnamed file a name that does not exist. Returns `false` if the system cannot: linking needs the
        /// path of the open file in `/proc`.
        pub(in crate::fs) fn link(&self, file: &File, name: &OsStr) -> io::Result<bool> {
            use std::os::fd::AsRawFd as _;
            let from = format!("/proc/self/fd/{}", file.as_raw_fd());
            let link = || linkat(rustix::fs::CWD, &*from, &self.0, name, AtFlags::SYMLINK_FOLLOW);
            match retry_on_intr(link) {
                Ok(()) => Ok(true),
                // The system cannot link; any other error is a failure.
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

        /// Returns whether `name` is a directory, or `None` if it does not exist. Links are not directories.
        pub(in crate::fs) fn is_directory(&self, name: &str) -> io::Result<Option<bool>> {
            match retry_on_intr(|| statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)) {
                Err(Errno::NOENT) => Ok(None),
                stat => Ok(Some(FileType::from_raw_mode(stat?.st_mode) == FileType::Directory)),
            }
        }

        /// Renames a file and replaces an existing one.
        pub(in crate::fs) fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            Ok(retry_on_intr(|| renameat(&self.0, from, &self.0, to))?)
        }

        /// Renames a file to a name that does not exist. The old name may remain.
        pub(in crate::fs) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            {
                use rustix::fs::{RenameFlags, renameat_with};
                let flags = RenameFlags::NOREPLACE;
                match retry_on_intr(|| renameat_with(&self.0, from, &self.0, to, flags)) {
                    // Not every file system supports this.
                    Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                    renamed => return Ok(renamed?),
                }
            }
            Ok(retry_on_intr(|| linkat(&self.0, from, &self.0, to, AtFlags::empty()))?)
        }

        /// Removes a file.
        pub(in crate::fs) fn remove(&self, name: &OsStr) -> io::Result<()> {
            Ok(retry_on_intr(|| unlinkat(&self.0, name, AtFlags::empty()))?)
        }
    }
}

#[cfg(not(unix))]
use self::by_path as system;

#[cfg(any(not(unix), test))]
#[cfg_attr(unix, expect(dead_code, reason = "only its tests run where there are handles"))]
mod by_path {
    use std::ffi::OsStr;
    use std::fs::{self, File};
    use std::io;
    use std::path::{Path, PathBuf};

    #[derive(Debug)]
    pub(in crate::fs) struct Directory(PathBuf);

    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "with handles it may fail")]
    impl Directory {
        pub(in crate::fs) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(path.to_owned()))
        }

        pub(in crate::fs) fn enter(&self, name: &str) -> io::Result<Self> {
            let path = self.0.join(name);
            let is_directory = fs::symlink_metadata(&path)?.is_dir();
            if is_directory { Ok(Self(path)) } else { Err(super::not_a_directory()) }
        }

        pub(in crate::fs) fn make(&self, name: &str) -> io::Result<()> {
            fs::create_dir(self.0.join(name))
        }

        pub(in crate::fs) fn open_file(&self, name: &str) -> io::Result<File> {
            File::open(self.0.join(name))
        }

        pub(in crate::fs) fn create_file(&self, name: &OsStr, _: bool) -> io::Result<File> {
            File::options().read(true).write(true).create_new(true).open(self.0.join(name))
        }

        pub(in crate::fs) fn create_unnamed(&self) -> io::Result<Option<File>> {
            Ok(None)
        }

        pub(in crate::fs) fn link(&self, _: &File, _: &OsStr) -> io::Result<bool> {
            Ok(false)
        }

        pub(in crate::fs) fn is_directory(&self, name: &str) -> io::Result<Option<bool>> {
            match fs::symlink_metadata(self.0.join(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                metadata => Ok(Some(metadata?.is_dir())),
            }
        }

        pub(in crate::fs) fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            fs::rename(self.0.join(from), self.0.join(to))
        }

        pub(in crate::fs) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            let (from, to) = (self.0.join(from), self.0.join(to));
            #[cfg(feature = "full")]
            return Ok(tempfile::TempPath::try_from_path(from)?.persist_noclobber(to)?);
            #[cfg(not(feature = "full"))]
            return fs::hard_link(from, to);
        }

        pub(in crate::fs) fn remove(&self, name: &OsStr) -> io::Result<()> {
            fs::remove_file(self.0.join(name))
        }
    }
}

fn not_a_directory() -> std::io::Error {
    let what = "a file or a link has this name";
    std::io::Error::new(std::io::ErrorKind::NotADirectory, what)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{self, Write as _};
    use std::path::Path;

    use super::*;

    /// Returns `None` on a file system without unnamed files.
    fn unnamed(root: &Path, content: &[u8]) -> Option<(fs::File, Directory)> {
        let directory = Directory::open(root).unwrap();
        let mut file = directory.create_unnamed().unwrap()?;
        file.write_all(content).unwrap();
        assert_eq!(fs::read_dir(root).unwrap().count(), 0);
        Some((file, directory))
    }

    #[test]
    fn an_unnamed_file_is_linked_but_never_replaces_another() {
        let root = tempfile::tempdir().unwrap();
        let Some((file, directory)) = unnamed(root.path(), b"abc") else { return };
        let link = |last: &str| directory.link(&file, last.as_ref());
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
    fn nothing_remains_of_an_abandoned_file() {
        let root = tempfile::tempdir().unwrap();
        drop(unnamed(root.path(), b"abc"));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_is_not_entered_through_a_link() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("a")).unwrap();
        let directory = by_path::Directory::open(root.path()).unwrap();
        assert_eq!(directory.make("a").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(directory.enter("a").unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert_eq!(directory.is_directory("a").unwrap(), Some(false));
        directory.make("c").unwrap();
        directory.enter("c").unwrap().make("d").unwrap();
        assert!(root.path().join("c/d").is_dir());
    }
}
