//! A small pool of scoped threads: work on the numbers `0..count`, results in their order.

mod in_order;
mod turns;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

pub(crate) use self::in_order::{in_order, in_order_with};
pub(crate) use self::turns::{Hand, Turn, turns};

/// How many jobs to run when the caller does not say: one for each core.
pub(crate) fn default_jobs() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// How many jobs to run when the caller asks for so many. Each may take memory and a thread before it is known how
/// much work there is; more than these help on no machine.
pub(crate) fn jobs(asked: Option<usize>) -> usize {
    const MOST: usize = 256;
    asked.map_or_else(default_jobs, |jobs| jobs.clamp(1, MOST))
}

/// Into how many parts to cut a work for so many jobs: more than one for each, since another thread may begin
/// late, or be interrupted.
pub(crate) fn parts_for(jobs: usize) -> u64 {
    const EACH: u64 = 4;
    if jobs <= 1 { 1 } else { u64::try_from(jobs).unwrap_or(1).saturating_mul(EACH) }
}

/// Runs `work` on consecutive ranges that tile `0..count`, each of `step` numbers or fewer, on
/// `jobs` threads, and returns the results in the order of their ranges.
///
/// Every thread makes one `state` and keeps it, so that buffers are allocated once for each job.
/// After an error no further range is begun; the error of the lowest range is returned.
pub(crate) fn map_ranges<S, T, E>(
    jobs: usize,
    count: usize,
    step: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Range<usize>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E>
where
    T: Send,
    E: Send,
{
    let step = step.max(1);
    let ranges = count.div_ceil(step);
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results = Mutex::new(Vec::with_capacity(ranges));
    let run = || {
        let mut state = state();
        let mut mine = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= ranges {
                break;
            }
            let start = index.saturating_mul(step);
            let end = start.saturating_add(step).min(count);
            let result = work(&mut state, start..end);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            mine.push((index, result));
        }
        results.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
    };
    let jobs = jobs.clamp(1, ranges.max(1));
    if jobs == 1 {
        run();
    } else {
        thread::scope(|scope| {
            for _ in 1..jobs {
                // A system that has no more threads to give slows the work down, and does not stop it.
                if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                    break;
                }
            }
            run();
        });
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs `work` on consecutive pieces of `slots`, each of `step` slots or fewer, with the number of its
/// first slot; otherwise as [`map_ranges`].
pub(crate) fn fill<S, T, U, E>(
    jobs: usize,
    slots: &mut [T],
    step: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &mut [T]) -> Result<U, E> + Sync,
) -> Result<Vec<U>, E>
where
    T: Send,
    U: Send,
    E: Send,
{
    let step = step.max(1);
    let pieces: Vec<_> = slots.chunks_mut(step).map(Mutex::new).collect();
    map_ranges(jobs, pieces.len(), 1, state, |state, range| {
        let start = range.start.saturating_mul(step);
        match pieces.get(range.start) {
            Some(piece) => {
                work(state, start, &mut piece.lock().unwrap_or_else(PoisonError::into_inner))
            }
            None => work(state, start, &mut []),
        }
    })
}

/// Runs two works and returns what both give: side by side when there is more than one job.
pub(crate) fn join<A, B: Send>(
    jobs: usize,
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if jobs <= 1 {
        return (one(), other());
    }
    // Where the system has no more threads to give, the work is still there to be done here.
    let other = Mutex::new(Some(other));
    let take = || other.lock().unwrap_or_else(PoisonError::into_inner).take();
    let run = || take().map(|work| work());
    thread::scope(|scope| {
        let beside = thread::Builder::new().spawn_scoped(scope, run);
        let one = one();
        let done = match beside {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => None,
        };
        match done.or_else(run) {
            Some(other) => (one, other),
            None => unreachable!("the work is taken only by who does it"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_number_of_jobs() {
        for jobs in [1, 2, 7] {
            for count in [0, 1, 10, 1000] {
                let sums: Vec<(usize, usize)> = map_ranges(
                    jobs,
                    count,
                    3,
                    || (),
                    |(), range| Ok::<_, ()>((range.start, range.end)),
                )
                .unwrap();
                let flat: Vec<usize> = sums.iter().flat_map(|(start, end)| *start..*end).collect();
                assert_eq!(flat, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn every_slot_is_filled_once() {
        for jobs in [1, 3] {
            let mut slots = vec![0_usize; 100];
            let work = |(): &mut (), start: usize, slots: &mut [usize]| {
                for (slot, number) in slots.iter_mut().zip(start..) {
                    *slot += number;
                }
                Ok::<_, ()>(slots.len())
            };
            let lengths = fill(jobs, &mut slots, 7, || (), work).unwrap();
            assert_eq!(slots, (0..100).collect::<Vec<_>>());
            assert_eq!(lengths.len(), 15);
        }
    }

    #[test]
    fn two_works_are_both_done() {
        for jobs in [1, 2] {
            let text = String::from("b");
            assert_eq!(join(jobs, || 1, || text.len()), (1, 1));
        }
    }

    #[test]
    fn the_lowest_error_is_returned() {
        let result = map_ranges(
            2,
            100,
            1,
            || (),
            |(), range| if range.start >= 5 { Err(range.start) } else { Ok(()) },
        );
        assert_eq!(result, Err(5));
    }
}
