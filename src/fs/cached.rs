//! The page cache of the system, which a process can leave as it found it.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};

/// Bytes of a file that are read before they leave the cache: some are read twice, and each call takes time.
const READ_BEFORE: u64 = 64 << 20;

/// Length of the smallest pages in bytes.
const PAGE: u64 = 4096;

/// The most ranges of a file. Pages after them stay in the cache.
const MOST_RANGES: usize = 1 << 16;

/// Milliseconds to wait for bytes that the system still reads ahead.
const WAITS: usize = 50;

static IS_LEFT: AtomicBool = AtomicBool::new(false);

/// Makes this process leave the page cache of the system as it found it: what was not in the cache when a file was opened
/// leaves it after it was read. So reading large files does not displace what other programs use. Maps of files and
/// new files are not affected.
///
/// # Errors
///
/// [`Error::Unsupported`] if the system does not report which pages are in the cache. Linux reports them since version 6.5.
pub fn leave_page_cache() -> Result<()> {
    let answer = pages(None, &(0..1)).map_err(|error| error.kind());
    if let Err(io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) = answer {
        let message = "the page cache can be left as it was only on Linux 6.5 and later";
        return Err(Error::Unsupported(message.into()));
    }
    IS_LEFT.store(true, Ordering::Relaxed);
    Ok(())
}

/// The ranges of a file that were not in the cache when it was opened.
pub(super) struct Uncached {
    ranges: Vec<Range<u64>>,
    read: AtomicU64,
}

impl Uncached {
    /// Returns the ranges of a file that was just opened, if this process leaves the cache as it was.
    pub(super) fn of(file: &File) -> Option<Self> {
        let len = IS_LEFT.load(Ordering::Relaxed).then(|| file.metadata().ok())??.len();
        let mut this = Self { ranges: Vec::new(), read: AtomicU64::new(0) };
        this.find(file, 0..len);
        Some(this)
    }

    fn find(&mut self, file: &File, range: Range<u64>) {
        let count = (range.end - range.start).div_ceil(PAGE);
        if count == 0 || self.ranges.len() == MOST_RANGES {
            return;
        }
        match pages(Some(file), &range) {
            // Pages that were read together are dropped only together.
            Ok(0) => match self.ranges.last_mut().filter(|last| last.end == range.start) {
                Some(last) => last.end = range.end,
                None => self.ranges.push(range),
            },
            Ok(cached) if cached < count && count > 1 => {
                let middle = range.start + count / 2 * PAGE;
                self.find(file, range.start..middle);
                self.find(file, middle..range.end);
            }
            // Some file systems have no cache.
            Ok(_) | Err(_) => {}
        }
    }

    /// Counts bytes that were read. After many, they leave the cache.
    pub(super) fn count(&self, file: &File, bytes: usize) {
        let read = self.read.fetch_add(bytes as u64, Ordering::Relaxed) % READ_BEFORE;
        if read + bytes as u64 >= READ_BEFORE {
            self.ranges.iter().for_each(|range| drop_pages(file, range.clone()));
        }
    }

    /// Makes what was read leave the cache, also what the system reads ahead.
    pub(super) fn leave(&self, file: &File) {
        let is_left = |range| pages(Some(file), range).is_ok_and(|pages| pages > 0);
        for _ in 0..WAITS {
            self.ranges.iter().for_each(|range| drop_pages(file, range.clone()));
            if !self.ranges.iter().any(is_left) {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Returns the number of pages in the cache, for no file an error that shows whether the system can count them.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no library has a safe function for the call")]
fn pages(file: Option<&File>, range: &Range<u64>) -> io::Result<u64> {
    use std::os::fd::AsRawFd;
    /// The number of `cachestat` on all processors but Alpha and MIPS, which have no call of this number.
    const CACHESTAT: libc::c_long = 451;
    let asked = [range.start, range.end - range.start];
    let mut counts = [0_u64; 5];
    let file = file.map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: the call reads two integers of 64 bits and writes five, of which the first is the number of pages.
    let failed = unsafe { libc::syscall(CACHESTAT, file, asked.as_ptr(), counts.as_mut_ptr(), 0) };
    let [cached, ..] = counts;
    if failed == 0 { Ok(cached) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(target_os = "linux"))]
fn pages(_: Option<&File>, _: &Range<u64>) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Makes the system drop whole pages from the cache, and begin to write those that were changed.
#[cfg(target_os = "linux")]
pub(super) fn drop_pages(file: &File, range: Range<u64>) {
    let len = std::num::NonZeroU64::new(range.end - range.start);
    // Only a hint; errors of the disk are those of reading and syncing.
    let _ = rustix::fs::fadvise(file, range.start, len, rustix::fs::Advice::DontNeed);
}

#[cfg(not(target_os = "linux"))]
pub(super) fn drop_pages(_: &File, _: Range<u64>) {}
