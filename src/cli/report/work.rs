//! Many pieces of work at once, whose results come in the order of the pieces.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `work` for each of `items` on `jobs` threads.
pub(super) fn each<I: Sync, T: Send>(
    jobs: usize,
    items: &[I],
    work: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    if jobs <= 1 || items.len() <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        while let Some((nth, item)) = {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            items.get(nth).map(|item| (nth, item))
        } {
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((nth, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.min(items.len()) {
            // Where the system has no more threads to give, the others do the work.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(nth, _)| *nth);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_work() {
        let items: Vec<u32> = (0..1000).collect();
        for jobs in [1, 2, 7] {
            assert_eq!(
                each(jobs, &items, |item| item * 2),
                (0..1000).map(|n| n * 2).collect::<Vec<_>>()
            );
        }
    }
}
