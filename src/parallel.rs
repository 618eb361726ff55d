//! A small pool of scoped threads: work on the numbers `0..count`, results in their order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many jobs to run when the caller does not say: one for each core.
pub(crate) fn default_jobs() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// How many jobs a work of this length is worth when each is worth it from a `share` on: one for each core at
/// most.
pub(crate) fn jobs_for(length: u64, share: u64) -> usize {
    /// More threads take longer to begin than they save in works of some milliseconds.
    const MOST: usize = 8;
    let shares = length.checked_div(share).unwrap_or(0);
    let shares = usize::try_from(shares).unwrap_or(usize::MAX);
    // To ask the system takes longer than a short work.
    if shares <= 1 { 1 } else { default_jobs().min(shares).min(MOST) }
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

/// What one job takes at a time of pieces of work that are counted from zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// One; whether it lasts longer than what is there to do for the other jobs meanwhile.
    One {
        /// Its number.
        piece: usize,
        /// One job alone has no others.
        outlasts: bool,
    },
    /// Several, which done at once take less time than one after the other.
    Several(Vec<usize>),
}

/// Most pieces that all jobs together have in hand: each may have a buffer, and a file open.
const IN_HAND: usize = 256;

/// How pieces of work of these sizes are given out, the largest first; `rest` is what follows them. Several are
/// taken at once, as many as `at_once` says or fewer, the most first, as long as they take less `time` so and the
/// other jobs have something to do meanwhile.
pub(crate) fn turns(
    jobs: usize,
    sizes: &[u64],
    rest: u64,
    at_once: &[usize],
    time: impl Fn(&[u64]) -> u64,
) -> Vec<Turn> {
    let jobs = jobs.clamp(1, sizes.len().saturating_add(1));
    let most = IN_HAND.checked_div(jobs).unwrap_or(0);
    let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let sum = |sizes: &[u64]| sizes.iter().copied().fold(0, u64::saturating_add);
    // When each job will have done what it has, and all of it together.
    let mut ends: BinaryHeap<Reverse<u64>> = std::iter::repeat_n(Reverse(0), jobs).collect();
    let mut given = 0_u64;
    let mut left = sum(sizes).saturating_add(rest);
    let mut turns = Vec::with_capacity(sizes.len());
    let mut next = 0_usize;
    while let Some(size) = sizes.get(next).copied() {
        let now = ends.peek().map_or(0, |Reverse(end)| *end);
        let begun = given.saturating_sub(now.saturating_mul(wide(jobs)));
        let outlasts = |time: u64, taken: u64| {
            let others = begun.saturating_add(left.saturating_sub(taken));
            others.checked_div(wide(jobs.saturating_sub(1))).is_some_and(|each| time > each)
        };
        // The pieces of a hand, of which there are so many with so many pieces each.
        let hand = |number: usize, hands: usize, each: usize| -> (Vec<usize>, Vec<u64>) {
            let pieces = (next.saturating_add(number)..sizes.len()).step_by(hands).take(each);
            pieces.filter_map(|piece| Some((piece, *sizes.get(piece)?))).unzip()
        };
        let fewer = at_once.iter().skip(1).copied().chain([1]);
        let mut ways = at_once.iter().zip(fewer).flat_map(|(count, fewer)| {
            // Dealt out to all jobs, so that each has as much to do; or to one, while others do the rest.
            [jobs, 1].map(|hands| (*count, fewer, hands))
        });
        let dealt = ways.find_map(|(count, fewer, hands)| {
            let pieces = sizes.len().saturating_sub(next).checked_div(hands).unwrap_or(0);
            let each = count.min(most).min(pieces);
            if each < 2 {
                return None;
            }
            let (_, first) = hand(0, hands, each);
            let (time_at_once, taken) = (time(&first), sum(&first));
            let in_fewer = first.chunks(fewer).map(&time).fold(0, u64::saturating_add);
            let is_worth_it = time_at_once < in_fewer && !outlasts(time_at_once, taken);
            is_worth_it.then_some((hands, each))
        });
        let (hands, each) = dealt.unwrap_or((1, 1));
        let hands_dealt: Vec<_> = (0..hands).map(|number| hand(number, hands, each)).collect();
        let is_longest = outlasts(size, size);
        for (pieces, sizes) in hands_dealt {
            let Reverse(now) = ends.pop().unwrap_or_default();
            let (time, taken) = (time(&sizes), sum(&sizes));
            left = left.saturating_sub(taken);
            given = given.saturating_add(time);
            ends.push(Reverse(now.saturating_add(time)));
            turns.push(match *pieces {
                [piece] => Turn::One { piece, outlasts: is_longest },
                _ => Turn::Several(pieces),
            });
        }
        next = next.saturating_add(hands.saturating_mul(each));
    }
    turns
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

    /// Two at once last two thirds as long as one after the other, and four half as long.
    fn time(sizes: &[u64]) -> u64 {
        match sizes {
            [one, two, three, four] => [one, two, three, four].iter().map(|size| *size / 2).sum(),
            [one, other] => one.saturating_add(*other) / 3 * 2,
            [size] => *size,
            several => several.chunks(2).map(time).sum(),
        }
    }

    fn shown(jobs: usize, sizes: &[u64], rest: u64, at_once: &[usize]) -> String {
        let (mut taken, mut text) = (Vec::new(), String::new());
        for turn in turns(jobs, sizes, rest, at_once, time) {
            let (pieces, shown) = match turn {
                Turn::One { piece, outlasts } => (vec![piece], if outlasts { '!' } else { '.' }),
                Turn::Several(pieces) => {
                    let count = pieces.len().try_into().unwrap();
                    (pieces, char::from_digit(count, 36).unwrap())
                }
            };
            assert!(pieces.is_sorted());
            taken.extend(pieces);
            text.push(shown);
        }
        taken.sort_unstable();
        assert!(taken.iter().copied().eq(0..sizes.len()));
        text
    }

    #[test]
    fn what_outlasts_all_else_is_known() {
        assert_eq!(shown(2, &[9], 0, &[]), "!");
        assert_eq!(shown(2, &[9], 9, &[]), ".");
        assert_eq!(shown(1, &[9, 1], 0, &[]), "..");
        assert_eq!(shown(2, &[9, 1, 1], 0, &[]), "!..");
        assert_eq!(shown(2, &[9, 9, 9, 9], 0, &[]), "....");
        assert_eq!(shown(2, &[9, 9, 9], 0, &[]), "..!");
        assert_eq!(shown(4, &[9, 9], 1, &[]), "!!");
        assert_eq!(shown(usize::MAX, &[u64::MAX, 0], u64::MAX, &[]), "!.");
        assert_eq!(shown(2, &[], 9, &[]), "");
    }

    #[test]
    fn several_are_taken_where_no_other_job_would_be_idle() {
        assert_eq!(shown(1, &[9, 9, 1], 0, &[2]), "2.");
        assert_eq!(shown(2, &[9], 0, &[2]), "!");
        assert_eq!(shown(2, &[9, 9], 0, &[2]), "..");
        assert_eq!(shown(2, &[9, 9, 9, 9], 0, &[2]), "22");
        assert_eq!(shown(2, &[9, 9], 18, &[2]), "2");
        assert_eq!(shown(2, &[900, 9, 9, 9], 0, &[2]), "!2.");
        assert_eq!(shown(3, &[9; 5], 0, &[2]), "2..!");
        assert_eq!(shown(0, &[u64::MAX; 3], u64::MAX, &[2]), "2.");
        assert_eq!(shown(1, &[9; 11], 0, &[4, 2]), "442.");
        // Three at once are no better than two.
        assert_eq!(shown(1, &[9; 3], 0, &[4, 2]), "2.");
        assert_eq!(shown(2, &[9; 8], 0, &[4, 2]), "44");
        assert_eq!(shown(2, &[9; 7], 0, &[4, 2]), "42!");
        assert_eq!(shown(2, &[9; 4], 0, &[4, 2]), "22");
        assert_eq!(shown(1, &[9; 8], 0, &[4]), "44");
    }

    #[test]
    fn so_many_jobs_take_fewer_at_once() {
        let pieces = |jobs| {
            let turns = turns(jobs, &vec![9; 5000], 0, &[16], |sizes| sizes[0]);
            let several = |turn: &Turn| match turn {
                Turn::Several(pieces) => pieces.len(),
                Turn::One { .. } => 1,
            };
            turns.iter().map(several).max().unwrap()
        };
        assert_eq!([1, 16, 17, 64, 200, 4000].map(pieces), [16, 16, 15, 4, 1, 1]);
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
