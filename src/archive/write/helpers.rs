//! How many threads compress one large member. Alone it would keep one core busy and leave the others
//! idle; beside others of its size, one thread each is best.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Threads that members may have beyond the one of their job.
#[derive(Debug)]
pub(super) struct Helpers {
    jobs: u64,
    /// Bytes of the members that have not been begun.
    left: AtomicU64,
    spare: AtomicUsize,
}

/// What one member was given, until it is dropped.
#[derive(Debug)]
pub(super) struct Lent<'a> {
    helpers: &'a Helpers,
    count: usize,
}

impl Helpers {
    pub(super) fn new(jobs: usize, sizes: impl Iterator<Item = u64>) -> Self {
        Self {
            jobs: u64::try_from(jobs).unwrap_or(u64::MAX),
            left: AtomicU64::new(sizes.fold(0, u64::saturating_add)),
            spare: AtomicUsize::new(jobs.saturating_sub(1)),
        }
    }

    /// A share of the threads for the next member, as its size is a share of all that is left.
    ///
    /// What is written does not depend on it.
    pub(super) fn lend(&self, size: u64) -> Lent<'_> {
        let left = self.left.fetch_sub(size, Ordering::Relaxed).max(1);
        let share = u128::from(self.jobs).saturating_mul(size.into()).div_ceil(left.into());
        let wanted = usize::try_from(share).unwrap_or(usize::MAX).saturating_sub(1);
        let mut count = 0;
        let _ = self.spare.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |spare| {
            count = wanted.min(spare);
            spare.checked_sub(count)
        });
        Lent { helpers: self, count }
    }
}

impl Lent<'_> {
    /// The threads that may compress the member.
    pub(super) fn count(&self) -> usize {
        self.count.saturating_add(1)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.helpers.spare.fetch_add(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_gets_the_share_of_the_threads_that_it_has_of_what_is_left() {
        let helpers = Helpers::new(4, [1, 30, 10, 10, 50].into_iter());
        let counts: Vec<_> =
            [1, 30, 10, 10, 50].map(|size| helpers.lend(size).count()).into_iter().collect();
        assert_eq!(counts, [1, 2, 1, 1, 4]);
    }

    #[test]
    fn no_more_threads_are_lent_than_there_are() {
        let helpers = Helpers::new(4, [10, 10, 10].into_iter());
        let all = [10, 10, 10].map(|size| helpers.lend(size));
        assert_eq!(all.each_ref().map(Lent::count), [2, 2, 2]);
        drop(all);
        assert_eq!(helpers.spare.into_inner(), 3);
        assert_eq!(Helpers::new(1, [7].into_iter()).lend(7).count(), 1);
        assert_eq!(Helpers::new(1, [].into_iter()).lend(0).count(), 1);
    }
}
