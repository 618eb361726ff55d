//! More operations relative to an open directory.

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io;

    use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, statat};
    use rustix::io::{Errno, retry_on_intr};

    use crate::fs::directory::system::{DIRECTORY, Directory};
    use crate::fs::file::WITHOUT_WAITING;

    impl Directory {
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
                use crate::fs::directory::system::FILE_MODE;
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

        /// Returns whether `name` is a directory, or `None` if it does not exist. Links are not directories.
        pub(in crate::fs) fn is_directory(&self, name: &str) -> io::Result<Option<bool>> {
            match retry_on_intr(|| statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)) {
                Err(Errno::NOENT) => Ok(None),
                stat => Ok(Some(FileType::from_raw_mode(stat?.st_mode) == FileType::Directory)),
            }
        }
    }
}

#[cfg(any(not(unix), test))]
#[cfg_attr(unix, expect(dead_code, reason = "only its tests run where there are handles"))]
mod by_path {
    use std::fs::{self, File};
    use std::io;

    use crate::fs::directory::by_path::Directory;

    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "with handles it may fail")]
    impl Directory {
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

        pub(in crate::fs) fn create_unnamed(&self) -> io::Result<Option<File>> {
            Ok(None)
        }

        pub(in crate::fs) fn is_directory(&self, name: &str) -> io::Result<Option<bool>> {
            match fs::symlink_metadata(self.0.join(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                metadata => Ok(Some(metadata?.is_dir())),
            }
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

    use super::super::super::directory::{Directory, by_path};

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
