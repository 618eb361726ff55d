//! Threads: workers share independent items, one consumer takes the results of workers in order, a thread makes items
//! ahead of their consumer, or two functions run side by side.
//!
//! If the system cannot start more threads, the work continues with fewer.

use std::collections::VecDeque;
use std::iter;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};

/// Further workers would wait for the consumer, each with an item and a state in memory.
const MAX_WORKERS: usize = 16;

/// Maximum number of threads that can be requested.
const MAX_JOBS: usize = 256;

/// Returns the default number of jobs: one per core.
pub(crate) fn default_jobs() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the number of jobs to run. The number asked for is capped: each job may take memory and a thread before the
/// amount of work is known, and more jobs help on no machine.
pub(crate) fn jobs(asked: Option<usize>) -> usize {
    asked.map_or_else(default_jobs, |jobs| jobs.clamp(1, MAX_JOBS))
}

/// Splits `0..count` into consecutive ranges of at most `step` numbers.
pub(crate) fn ranges(
    count: usize,
    step: usize,
) -> impl ExactSizeIterator<Item = Range<usize>> + Send {
    let step = step.max(1);
    (0..count.div_ceil(step)).map(move |number| number * step..count.min((number + 1) * step))
}

/// Runs `work` on independent items in `jobs` threads, and returns the results in the order of the items. Items are
/// begun in their order.
///
/// Every thread makes one `state` and keeps it, so that buffers are allocated once per job. After an error no further
/// item is begun. The error of the first item that failed is returned.
pub(crate) fn share<S, I: Send, T: Send, E: Send>(
    jobs: usize,
    items: impl IntoIterator<Item = I, IntoIter: ExactSizeIterator + Send>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let items = items.into_iter();
    let count = items.len();
    let items = Mutex::new(items.enumerate());
    let failed = AtomicBool::new(false);
    let results = Mutex::new(Vec::with_capacity(count));
    let run = || {
        let mut state = state();
        let mut own = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let Some((number, item)) = lock(&items).next() else { break };
            let result = work(&mut state, item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            own.push((number, result));
        }
        lock(&results).append(&mut own);
    };
    thread::scope(|scope| {
        let spawn = |_: &usize| Builder::new().spawn_scoped(scope, run).is_ok();
        let _ = (1..jobs.min(count)).take_while(spawn).count();
        run();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Items of which several jobs take the next one whenever they have room for it.
pub(crate) struct Queue<I>(Mutex<I>);

impl<I: Iterator> Queue<I> {
    pub(crate) fn new(items: I) -> Self {
        Self(Mutex::new(items))
    }

    /// Runs the work of one job, which takes items. After an error, no job gets another one.
    pub(crate) fn work<T, E>(
        &self,
        work: impl FnOnce(&mut dyn Iterator<Item = I::Item>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut items = iter::from_fn(|| lock(&self.0).next());
        let result = work(&mut items);
        if result.is_err() {
            items.for_each(drop);
        }
        result
    }
}

/// Runs `work` in `jobs` threads, which take the items of one [`Queue`]. Returns the results in any order.
pub(crate) fn lanes<I: Send, T: Send, E: Send>(
    jobs: usize,
    items: impl Iterator<Item = I> + Send,
    work: impl Fn(&mut dyn Iterator<Item = I>) -> Result<Vec<T>, E> + Sync,
) -> Result<Vec<T>, E> {
    let queue = Queue::new(items);
    let results = share(jobs, 0..jobs.max(1), || (), |(), _| queue.work(&work))?;
    Ok(results.into_iter().flatten().collect())
}

/// Returns the number of threads for [`ordered`]: none for one job, which works in the calling thread.
pub(crate) fn workers(jobs: usize) -> usize {
    if jobs <= 1 { 0 } else { jobs.min(MAX_WORKERS) }
}

/// Number of items in progress beyond the number of workers.
const AHEAD: usize = 2;

/// Runs `work` on items in `workers` threads, and passes the results to `take` in the order of the items.
///
/// The calling thread fetches the items and takes the results; without workers it does everything. Every worker makes
/// one `state` and keeps it. At most `AHEAD` more items than workers are in progress, which bounds the memory. If an
/// item fails, the results before it are taken and its error is returned. If `take` fails, no further item is begun.
pub(crate) fn ordered<S, I: Send, T: Send, E: Send>(
    workers: usize,
    items: impl IntoIterator<Item = I>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I) -> Result<T, E> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let mut items = items.into_iter();
    let (give, given) = channel::<(I, SyncSender<Result<T, E>>)>();
    let given = Mutex::new(given);
    let stopped = AtomicBool::new(false);
    let run = || {
        let mut made = None;
        loop {
            let Ok((item, reply)) = lock(&given).recv() else { return };
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            // Sending fails only after the consumer has stopped.
            let _ = reply.send(work(made.get_or_insert_with(&state), item));
        }
    };
    thread::scope(|scope| {
        let workers = workers.min(items.size_hint().1.unwrap_or(usize::MAX));
        let spawn = |_: &usize| Builder::new().spawn_scoped(scope, run).is_ok();
        let workers = (0..workers).take_while(spawn).count();
        if workers == 0 {
            let mut state = state();
            return items.try_for_each(|item| take(work(&mut state, item)?));
        }
        let _stop = StopOnDrop(&stopped);
        let give = give;
        let mut under_way = VecDeque::with_capacity(workers + AHEAD);
        loop {
            let next = items.next();
            if next.is_none() || under_way.len() == workers + AHEAD {
                let Some(first) = under_way.pop_front() else { return Ok(()) };
                let first: std::sync::mpsc::Receiver<Result<T, E>> = first;
                // A worker that panics sends no reply; the scope propagates the panic.
                let Ok(result) = first.recv() else { return Ok(()) };
                take(result?)?;
            }
            if let Some(item) = next {
                let (reply, result) = sync_channel(1);
                if give.send((item, reply)).is_err() {
                    return Ok(());
                }
                under_way.push_back(result);
            }
        }
    })
}

/// Stops the workers when it is dropped, also by a panic.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `beside` in a thread of its own while `here` runs.
#[cfg(feature = "full")]
pub(crate) fn both<T>(beside: impl FnOnce() + Send, here: impl FnOnce() -> T) -> T {
    let beside = Mutex::new(Some(beside));
    let run = || {
        if let Some(beside) = lock(&beside).take() {
            beside();
        }
    };
    let result = thread::scope(|scope| {
        let _ = Builder::new().spawn_scoped(scope, run);
        here()
    });
    // Without a thread, it was not run.
    run();
    result
}

/// Makes items in a thread of its own, up to `ahead` items before they are taken. The thread ends with the items, or
/// when the consumer is dropped.
pub(crate) fn ahead<T: Send + 'static>(
    count: usize,
    items: impl Iterator<Item = T> + Send + 'static,
) -> impl Iterator<Item = T> + Send {
    ahead_by(Builder::new(), count, items)
}

fn ahead_by<T: Send + 'static>(
    thread: Builder,
    count: usize,
    items: impl Iterator<Item = T> + Send + 'static,
) -> impl Iterator<Item = T> + Send {
    let (give, made) = sync_channel(count);
    let items = Arc::new(Mutex::new(items));
    let theirs = Arc::clone(&items);
    let run = move || {
        let mut items = lock(&theirs);
        items.try_for_each(|item| give.send(item))
    };
    let mut thread = thread.spawn(run).ok();
    let is_made_here = thread.is_none();
    iter::from_fn(move || {
        if is_made_here {
            return lock(&items).next();
        }
        let item = made.recv().ok();
        if item.is_none()
            && let Some(Err(panic)) = thread.take().map(JoinHandle::join)
        {
            resume_unwind(panic);
        }
        item
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn shared_results_are_in_the_order_of_the_items() {
        for jobs in [0, 1, 2, 7] {
            for count in [0, 1, 10, 1000] {
                let work = |(): &mut (), range: Range<usize>| Ok::<_, ()>(range);
                let tiles = share(jobs, ranges(count, 3), || (), work).unwrap();
                assert!(tiles.iter().all(|tile| (1..=3).contains(&tile.len())));
                assert_eq!(
                    tiles.into_iter().flatten().collect::<Vec<_>>(),
                    (0..count).collect::<Vec<_>>()
                );
            }
        }
    }

    #[test]
    fn the_error_of_the_first_item_is_returned() {
        let work = |(): &mut (), item| if item >= 5 { Err(item) } else { Ok(()) };
        assert_eq!(share(2, 0..100, || (), work), Err(5));
        for workers in [0, 1, 3] {
            let mut taken = 0;
            let take = |()| {
                taken += 1;
                Ok(())
            };
            assert_eq!(ordered(workers, 0..100, || (), work, take), Err(5));
            assert_eq!(taken, 5);
        }
    }

    #[test]
    fn the_caller_makes_the_items_if_no_thread_can_be_started() {
        let here = thread::current().id();
        for (builder, is_here) in [
            (Builder::new(), false),
            // More memory than any machine has.
            (Builder::new().stack_size(1 << (usize::BITS - 2)), true),
        ] {
            let made = ahead_by(builder, 2, (0..5).map(|item| (item, thread::current().id())));
            let made: Vec<_> = made.collect();
            assert!(made.iter().map(|(item, _)| *item).eq(0..5));
            assert!(made.iter().all(|(_, thread)| (*thread == here) == is_here));
        }
    }

    #[test]
    fn a_panic_of_the_thread_ahead_reaches_the_consumer() {
        let mut made = ahead(2, (0..5).inspect(|item| assert_ne!(*item, 3, "cannot be made")));
        assert_eq!(made.by_ref().take(3).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(catch_unwind(AssertUnwindSafe(|| made.next())).is_err());
    }

    #[test]
    fn results_are_taken_in_order_and_few_items_wait() {
        for workers in [0, 1, 2, 7] {
            for count in [0, 1, 2, 300] {
                let begun = AtomicUsize::new(0);
                let work = |(): &mut (), item: usize| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, ()>(item)
                };
                let mut taken = Vec::new();
                let take = |item| {
                    taken.push(item);
                    let ahead = begun.load(Ordering::SeqCst) - taken.len();
                    assert!(ahead <= workers + AHEAD, "{ahead} of {workers}");
                    Ok(())
                };
                ordered(workers, 0..count, || (), work, take).unwrap();
                assert_eq!(taken, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn no_item_is_begun_after_the_consumer_has_failed() {
        for workers in [0, 1, 2, 7] {
            let begun = AtomicUsize::new(0);
            let work = |(): &mut (), item| {
                begun.fetch_add(1, Ordering::SeqCst);
                Ok(item)
            };
            let take = |item| if item == 20 { Err("enough") } else { Ok(()) };
            assert_eq!(ordered(workers, 0..10_000, || (), work, take), Err("enough"));
            assert!(begun.load(Ordering::SeqCst) <= 21 + workers + AHEAD);
        }
    }

    #[test]
    fn a_panic_of_a_worker_or_of_the_consumer_is_propagated() {
        for workers in [0, 1, 2, 7] {
            for (fails_to_work, fails_to_take) in [(50, 1000), (1000, 50)] {
                let work = |(): &mut (), item| {
                    assert_ne!(item, fails_to_work, "cannot be made");
                    Ok::<_, ()>(item)
                };
                let take = |item| {
                    assert_ne!(item, fails_to_take, "cannot be taken");
                    Ok(())
                };
                let run = || ordered(workers, 0..100, || (), work, take);
                assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            }
        }
    }
}
