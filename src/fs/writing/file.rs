//! Writes at positions, and comparisons of a file with an earlier state.

use std::fs;
use std::io::{self, Read as _};
use std::ops::Range;
use std::time::UNIX_EPOCH;

use crate::error::{Error, Result};
use crate::fs::cached::drop_pages;
use crate::fs::file::File;
use crate::fs::stamp::Stamp;
use crate::time::Timestamp;

/// Bytes that are shared before the operation can be cancelled.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SHARED_AT_ONCE: usize = 256 * 1024 * 1024;

impl File {
    /// Returns the current stamp of the file.
    pub(crate) fn stamp(&self) -> Result<Stamp> {
        let metadata = self.system().and_then(fs::File::metadata);
        Ok(Stamp::of(&metadata.map_err(Error::io("access", self.path()))?))
    }

    /// Returns an error if the file has changed since `stamp`.
    pub(crate) fn check_unchanged(&self, stamp: &Stamp) -> Result<()> {
        let now = self.stamp()?;
        if now == *stamp {
            return Ok(());
        }
        Err(self.changed(if now.len() == stamp.len() {
            "it was written to".to_owned()
        } else {
            format!("its length changed from {} to {} bytes", stamp.len(), now.len())
        }))
    }

    /// Reads the complete file into `target`, which has its length. A change since `stamp` is an error.
    pub(crate) fn read_unchanged(&mut self, target: &mut [u8], stamp: &Stamp) -> Result<()> {
        self.read_exact(target).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.changed("it became shorter"),
            _ => Error::io("read", self.path())(error),
        })?;
        self.check_unchanged(stamp)
    }

    /// Writes all of `buffer` at `offset`.
    pub(crate) fn write_all_at(&self, mut buffer: &[u8], mut offset: u64) -> Result<()> {
        while !buffer.is_empty() {
            self.watch.check()?;
            let written = self.system().and_then(|file| write_at(file, buffer, offset));
            match written {
                Ok(0) => {
                    return Err(Error::io("write", self.path())(io::ErrorKind::WriteZero.into()));
                }
                Ok(count) => {
                    buffer = buffer.split_at(count).1;
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("write", self.path())(error)),
            }
        }
        Ok(())
    }

    /// Gives the bytes of this file to `target`, from the offset `to`, without reading them: whole blocks at multiples
    /// of their size are shared on file systems that can. Returns `false` if the system cannot; some bytes may then have
    /// been copied.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn share_with(&self, target: &Self, to: u64, len: u64) -> Result<bool> {
        use rustix::fs::copy_file_range;
        use rustix::io::retry_on_intr;
        let files = self.system().and_then(|own| Ok((own, target.system()?)));
        let (own, other) = files.map_err(Error::io("write", target.path()))?;
        let (mut from, mut at) = (0, to);
        while from < len {
            self.watch.check()?;
            let most = usize::try_from(len - from).unwrap_or(usize::MAX).min(SHARED_AT_ONCE);
            let copy = || copy_file_range(own, Some(&mut from), other, Some(&mut at), most);
            // Writing the bytes reports what is wrong.
            if !retry_on_intr(copy).is_ok_and(|count| count > 0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns that the system cannot share bytes.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "it can on Linux")]
    pub(crate) fn share_with(&self, _: &Self, _: u64, _: u64) -> Result<bool> {
        Ok(false)
    }

    /// Asks the system to begin writing a range to disk, where it can, so that syncing has less to do. Pages that are
    /// already on disk may leave the cache.
    pub(crate) fn begin_sync(&self, range: Range<u64>) {
        if let Ok(file) = self.system() {
            drop_pages(file, range);
        }
    }
}

impl Stamp {
    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the modification time.
    pub(crate) fn time(&self) -> Option<Timestamp> {
        self.modified.map(Timestamp::from)
    }

    /// Returns the modification time in seconds since 1970 UTC, at least 0.
    pub(crate) fn modified(&self) -> u64 {
        let since = self.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.map_or(0, |since| since.as_secs())
    }
}

/// Writes at an offset. It may move the position, which nothing else uses.
fn write_at(file: &fs::File, buffer: &[u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_at(file, buffer, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_write(file, buffer, offset);
    #[cfg(not(any(unix, windows)))]
    return crate::fs::positional::at(file, offset)
        .and_then(|mut file| io::Write::write(&mut file, buffer));
}
