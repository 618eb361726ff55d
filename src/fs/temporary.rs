//! The temporary name of a file in a directory that is held by its handle.

use std::ffi::OsStr;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags, linkat, openat, renameat, unlinkat};
use rustix::io::{Errno, retry_on_intr};

use super::target::Handle;

/// How often another name is tried: names are drawn from 2^64.
const TRIES: usize = 16;

/// A file under a temporary name, removed when dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    directory: Handle,
    name: Option<String>,
    path: PathBuf,
}

impl Temporary {
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

impl Drop for Temporary {
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
