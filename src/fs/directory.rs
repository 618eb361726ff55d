//! Operations relative to an open directory. They use its handle, so replacing the directory with a link cannot
//! redirect them. On systems without such handles, a directory is a path.

pub(super) use self::system::Directory;

#[cfg(unix)]
pub(super) mod system {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, Mode, OFlags, linkat, open, openat, renameat, unlinkat};
    use rustix::io::{Errno, retry_on_intr};

    pub(in crate::fs) const DIRECTORY: OFlags =
        OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    /// Default permissions, restricted by the umask.
    pub(in crate::fs) const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
    const PRIVATE_MODE: Mode = Mode::from_raw_mode(0o600);

    #[derive(Debug)]
    pub(in crate::fs) struct Directory(pub(in crate::fs) OwnedFd);

    impl Directory {
        pub(in crate::fs) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(retry_on_intr(|| open(path, DIRECTORY, Mode::empty()))?))
        }

        /// Creates a new file, only for this user if it is `private`; fails if the name exists.
        pub(in crate::fs) fn create_file(&self, name: &OsStr, private: bool) -> io::Result<File> {
            let flags =
                OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mode = if private { PRIVATE_MODE } else { FILE_MODE };
            Ok(retry_on_intr(|| openat(&self.0, name, flags, mode))?.into())
        }

        /// Opens a file to read and write, which is created if there is none.
        #[cfg(feature = "full")]
        pub(in crate::fs) fn open_or_create(&self, name: &OsStr) -> io::Result<File> {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(retry_on_intr(|| openat(&self.0, name, flags, FILE_MODE))?.into())
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
pub(super) mod by_path {
    use std::ffi::OsStr;
    use std::fs::{self, File};
    use std::io;
    use std::path::{Path, PathBuf};

    #[derive(Debug)]
    pub(in crate::fs) struct Directory(pub(in crate::fs) PathBuf);

    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "with handles it may fail")]
    impl Directory {
        pub(in crate::fs) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(path.to_owned()))
        }

        pub(in crate::fs) fn create_file(&self, name: &OsStr, _: bool) -> io::Result<File> {
            File::options().read(true).write(true).create_new(true).open(self.0.join(name))
        }

        #[cfg(feature = "full")]
        pub(in crate::fs) fn open_or_create(&self, name: &OsStr) -> io::Result<File> {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(false).open(self.0.join(name))
        }

        pub(in crate::fs) fn link(&self, _: &File, _: &OsStr) -> io::Result<bool> {
            Ok(false)
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
