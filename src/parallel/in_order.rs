//! Pieces that are made side by side and taken one after the other.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Most threads for pieces that take hardly longer to make than to take: one thread takes what all of them make.
const FEW: usize = 4;
/// Pieces more than there are jobs that may be under way.
const AHEAD: usize = 2;

/// Makes pieces `0..count` on a few threads, and gives them to `take` in their order, on this one, until that fails.
///
/// Seven pieces exist at a time at most, whatever their number.
pub(crate) fn in_order<T: Send, E>(
    jobs: usize,
    count: usize,
    make: impl Fn(usize) -> T + Sync,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    in_order_with(jobs.min(FEW), count, || (), |(), piece| make(piece), take)
}

/// The same on `jobs` threads, of which every one makes a `state` and keeps it. At most three more pieces than
/// threads exist at a time, one of them in the hands of `take`.
pub(crate) fn in_order_with<S, T: Send, E>(
    jobs: usize,
    count: usize,
    state: impl Fn() -> S + Sync,
    make: impl Fn(&mut S, usize) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let jobs = jobs.min(count);
    let making = || {
        let mut state = state();
        let make = &make;
        move |piece| make(&mut state, piece)
    };
    if jobs <= 1 {
        let mut make = making();
        return (0..count).try_for_each(|piece| take(make(piece)));
    }
    let queue = Queue::new(count, jobs.saturating_add(AHEAD));
    thread::scope(|scope| {
        let closing = Closing(&queue);
        for _ in 1..jobs {
            let help = || {
                let closing = Closing(&queue);
                let mut make = making();
                while queue.make_next(&mut make) {}
                std::mem::forget(closing);
            };
            // A system that has no more threads to give slows the work down, and does not stop it.
            if thread::Builder::new().spawn_scoped(scope, help).is_err() {
                break;
            }
        }
        let mut make = making();
        while let Some(piece) = queue.take(&mut make) {
            take(piece)?;
        }
        // Wakes those that wait, however this ends.
        drop(closing);
        Ok(())
    })
}

/// Pieces that are being made, or wait to be taken.
struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    count: usize,
    /// How many may be there at a time.
    room: usize,
}

struct State<T> {
    /// The pieces from the next one to be taken on: none where one is still being made.
    pieces: VecDeque<Option<T>>,
    /// How many have been taken.
    taken: usize,
    closed: bool,
}

/// Closes a queue when it is dropped: nobody then waits for what a job that fails, or panics, would have done.
struct Closing<'a, T>(&'a Queue<T>);

impl<T> Drop for Closing<'_, T> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

impl<T> Queue<T> {
    fn new(count: usize, room: usize) -> Self {
        let state = State { pieces: VecDeque::with_capacity(room), taken: 0, closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), count, room }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'q>(&'q self, state: MutexGuard<'q, State<T>>) -> MutexGuard<'q, State<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a piece that nobody makes yet, if there is room for it.
    fn claim(&self, state: &mut State<T>) -> Option<usize> {
        let piece = state.taken.saturating_add(state.pieces.len());
        let is_free = piece < self.count && state.pieces.len() < self.room;
        is_free.then(|| state.pieces.push_back(None)).map(|()| piece)
    }

    fn put(&self, piece: usize, made: T) {
        let mut state = self.lock();
        let at = piece.saturating_sub(state.taken);
        if let Some(slot) = state.pieces.get_mut(at) {
            *slot = Some(made);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Makes a piece, once there is room for it, and says whether there may be more to make.
    fn make_next(&self, make: impl FnOnce(usize) -> T) -> bool {
        let mut state = self.lock();
        loop {
            if state.closed || state.taken.saturating_add(state.pieces.len()) >= self.count {
                return false;
            }
            if let Some(piece) = self.claim(&mut state) {
                drop(state);
                self.put(piece, make(piece));
                return true;
            }
            state = self.wait(state);
        }
    }

    /// The next piece in order, unless all have been taken. As long as it is not there, others are made.
    fn take(&self, mut make: impl FnMut(usize) -> T) -> Option<T> {
        let mut state = self.lock();
        loop {
            // One that is not going to come: its maker has panicked, which the scope hands on.
            if state.taken >= self.count || state.closed {
                return None;
            }
            if let Some(next) = state.pieces.front_mut().and_then(Option::take) {
                state.pieces.pop_front();
                state.taken = state.taken.saturating_add(1);
                drop(state);
                self.changed.notify_all();
                return Some(next);
            }
            if let Some(piece) = self.claim(&mut state) {
                drop(state);
                self.put(piece, make(piece));
                state = self.lock();
            } else {
                state = self.wait(state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn pieces_come_in_their_order_and_few_wait() {
        for jobs in [1, 2, 7] {
            for count in [0, 1, 2, 300] {
                let begun = AtomicUsize::new(0);
                let make = |piece: usize| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    piece
                };
                let mut taken = Vec::new();
                let take = |piece| {
                    taken.push(piece);
                    let ahead = begun.load(Ordering::SeqCst) - taken.len();
                    assert!(ahead <= jobs.min(FEW) + AHEAD, "{ahead} of {jobs}");
                    Ok::<_, ()>(())
                };
                in_order(jobs, count, make, take).unwrap();
                assert_eq!(taken, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn nothing_is_made_for_who_has_had_enough() {
        for jobs in [1, 2, 7] {
            let begun = AtomicUsize::new(0);
            let make = |piece| {
                begun.fetch_add(1, Ordering::SeqCst);
                piece
            };
            let take = |piece| if piece == 20 { Err("enough") } else { Ok(()) };
            assert_eq!(in_order(jobs, 10_000, make, take), Err("enough"));
            assert!(begun.load(Ordering::SeqCst) <= 21 + jobs.min(FEW) + AHEAD);
        }
    }

    #[test]
    fn a_panic_of_any_of_them_is_handed_on() {
        let make = |piece| {
            assert_ne!(piece, 50, "cannot be made");
            piece
        };
        let take = |piece| {
            assert_ne!(piece, 70, "cannot be taken");
            Ok::<_, ()>(())
        };
        for jobs in [1, 2, 7] {
            for count in [60, 100] {
                let making = || in_order(jobs, count, make, |_| Ok::<_, ()>(()));
                assert!(catch_unwind(AssertUnwindSafe(making)).is_err());
            }
            let taking = || in_order(jobs, 100, |piece| piece, take);
            assert!(catch_unwind(AssertUnwindSafe(taking)).is_err());
        }
    }

    #[test]
    fn every_thread_keeps_one_state() {
        for (jobs, count) in [(1, 50), (2, 50), (7, 500), (50, 7), (7, 0)] {
            let states = AtomicUsize::new(0);
            let state = || {
                states.fetch_add(1, Ordering::SeqCst);
                0
            };
            let make = |made: &mut usize, piece| {
                *made += 1;
                (piece, *made)
            };
            let (mut taken, mut firsts) = (Vec::new(), 0);
            let take = |(piece, of_thread)| {
                taken.push(piece);
                firsts += usize::from(of_thread == 1);
                Ok::<_, ()>(())
            };
            in_order_with(jobs, count, state, make, take).unwrap();
            assert_eq!(taken, (0..count).collect::<Vec<_>>());
            // Each begins to count once.
            let states = states.into_inner();
            assert!(firsts >= usize::from(count > 0));
            assert!(
                firsts <= states && states <= jobs.min(count).max(1),
                "{firsts} {states} {jobs}"
            );
        }
    }

    #[test]
    fn a_state_that_cannot_be_made_keeps_nobody_waiting() {
        let here = thread::current().id();
        for (jobs, fails_here) in [(1, true), (2, true), (7, true), (2, false), (7, false)] {
            let state = || assert_ne!(thread::current().id() == here, fails_here, "cannot be made");
            let make = |(): &mut (), piece| piece;
            // The others have more to make than there is room for.
            let making = || in_order_with(jobs, 300, state, make, |_| Ok::<_, ()>(()));
            assert!(catch_unwind(AssertUnwindSafe(making)).is_err());
        }
    }
}
