//! Limit of the memory that the contents of an archive may take: a few kilobytes can decompress to gigabytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of memory that an archive of any size may take: enough for a hundred thousand members whose names and
/// descriptions are all alike.
const BASE: u64 = 48 << 20;

/// Further bytes of memory per byte of the archive. An archive has at least 32 bytes per member, the digest, which
/// cannot be compressed. A member takes about 400 bytes of memory, and its description rarely more than 2,000.
const FACTOR: u64 = 64;

/// Memory that the contents of one archive may take, for any number of jobs. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Allowance {
    limit: u64,
    taken: Arc<AtomicU64>,
}

impl Allowance {
    /// Returns the allowance for an archive file of `len` bytes.
    pub(crate) fn of_file(len: u64) -> Self {
        Self { limit: len.saturating_mul(FACTOR).saturating_add(BASE), taken: Arc::default() }
    }

    /// Returns the allowance for files on disk, whose sizes are real.
    pub(crate) fn unlimited() -> Self {
        Self { limit: u64::MAX, taken: Arc::default() }
    }

    /// Returns the limit in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes bytes from the allowance. Returns false if too few are left.
    #[must_use]
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let more = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= self.limit);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Gives bytes back.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_together_take_no_more_than_the_limit() {
        let allowance = Allowance::of_file(1);
        let other = allowance.clone();
        assert!(allowance.take(BASE) && other.take(FACTOR - 1));
        assert!(!allowance.take(2) && allowance.take(1) && !other.take(1));
        other.give_back(BASE);
        assert!(allowance.take(BASE) && !allowance.take(1));
        assert!(!allowance.take(u64::MAX) && Allowance::unlimited().take(u64::MAX));
    }
}
