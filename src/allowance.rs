//! How much memory the contents of an archive may take: a few kilobytes can be compressed from gigabytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An archive of any size may make a program take so much memory: enough for tens of thousands of members
/// whose names and descriptions are all alike.
const BASE: u64 = 32 << 20;

/// And for each of its bytes so much. An archive has at least the 32 bytes of a digest for each member, which
/// cannot be compressed; a member takes some 400 bytes and its description rarely more than 2,000.
const FACTOR: u64 = 64;

/// Memory that the contents of one archive may take, whatever the number of jobs. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Allowance {
    limit: u64,
    taken: Arc<AtomicU64>,
}

impl Allowance {
    /// For an archive file of `len` bytes.
    pub(crate) fn of_file(len: u64) -> Self {
        Self { limit: len.saturating_mul(FACTOR).saturating_add(BASE), taken: Arc::default() }
    }

    /// For files on disk, which are as long as they say.
    pub(crate) fn unlimited() -> Self {
        Self { limit: u64::MAX, taken: Arc::default() }
    }

    /// All of it in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes so many bytes of it, if they are left.
    #[must_use]
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let more = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= self.limit);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Gives back what was taken.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_taken_than_there_is_whoever_takes_it() {
        let allowance = Allowance::of_file(1);
        let other = allowance.clone();
        assert!(allowance.take(BASE) && other.take(FACTOR - 1));
        assert!(!allowance.take(2) && allowance.take(1) && !other.take(1));
        other.give_back(BASE);
        assert!(allowance.take(BASE) && !allowance.take(1));
        assert!(!allowance.take(u64::MAX) && Allowance::unlimited().take(u64::MAX));
    }
}
