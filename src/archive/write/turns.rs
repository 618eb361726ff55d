//! The order in which jobs take their places in an archive, whichever of them is faster.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

/// Lets the jobs take their places in the archive one after the other.
#[derive(Debug)]
pub(super) struct Turns {
    state: Mutex<Turn>,
    passed: Condvar,
}

/// Gives a turn up when it is dropped, so that nobody waits for a job that failed, by a panic too.
struct GivingUp<'a> {
    turns: &'a Turns,
    turn: usize,
}

impl Drop for GivingUp<'_> {
    fn drop(&mut self) {
        self.turns.give_up(self.turn);
    }
}

#[derive(Debug)]
struct Turn {
    next: usize,
    at: u64,
    /// The lowest turn that failed: those before it still take place, those after it never can.
    failed: usize,
}

impl Turns {
    pub(super) fn new(at: u64) -> Self {
        let state = Mutex::new(Turn { next: 0, at, failed: usize::MAX });
        Self { state, passed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Turn> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for turn number `turn`, then lets `place` move the offset on. Turns are begun in their
    /// order, so whoever holds the lowest never waits.
    pub(super) fn take<T>(&self, turn: usize, place: impl FnOnce(u64) -> (u64, T)) -> Result<T> {
        let mut state = self.lock();
        while state.next != turn && turn < state.failed {
            state = self.passed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if turn >= state.failed {
            return Err(Error::Interrupted);
        }
        let (at, result) = place(state.at);
        state.at = at;
        state.next = state.next.saturating_add(1);
        self.passed.notify_all();
        Ok(result)
    }

    /// Moves the offset on without a turn, for a single thread that writes everything.
    pub(super) fn go_on<T>(&self, place: impl FnOnce(u64) -> (u64, T)) -> T {
        let mut state = self.lock();
        let (at, result) = place(state.at);
        state.at = at;
        result
    }

    /// Does the work of which taking turn number `turn` is a part.
    pub(super) fn in_turn<T>(&self, turn: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let giving_up = GivingUp { turns: self, turn };
        let result = work();
        if result.is_ok() {
            std::mem::forget(giving_up);
        }
        result
    }

    /// Where the next turn begins.
    pub(super) fn at(&self) -> u64 {
        self.lock().at
    }

    fn give_up(&self, turn: usize) {
        let mut state = self.lock();
        state.failed = state.failed.min(turn);
        drop(state);
        self.passed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::pipeline;

    fn failed() -> Error {
        Error::Unsupported("this turn fails".to_owned())
    }

    /// Takes a hundred turns by four jobs, of which `at` fails in the way that `fail` says.
    fn with_failing(at: usize, fail: impl Fn(&Turns) -> Result<()> + Sync) -> (Error, u64) {
        let turns = Turns::new(0);
        let work = |(): &mut (), turn: usize| {
            turns.in_turn(turn, || {
                if turn == at {
                    return fail(&turns);
                }
                turns.take(turn, |at| (at + 1, ()))
            })
        };
        let error = pipeline::share(4, 0..100, || (), work).unwrap_err();
        (error, turns.at())
    }

    #[test]
    fn turns_before_one_that_fails_take_place_and_its_error_is_given() {
        for at in [0, 1, 50, 99] {
            let (error, taken) = with_failing(at, |_| Err(failed()));
            assert!(matches!(error, Error::Unsupported(_)), "{at}: {error}");
            assert_eq!(taken, u64::try_from(at).unwrap());
            // It had its turn already.
            let (error, taken) = with_failing(at, |turns| {
                turns.take(at, |at| (at, ()))?;
                Err(failed())
            });
            assert!(matches!(error, Error::Unsupported(_)), "{at}: {error}");
            assert!(taken >= u64::try_from(at).unwrap());
        }
    }

    #[test]
    fn nobody_waits_for_one_that_panics() {
        let turns = Turns::new(0);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.in_turn(1, || turns.take(1, |at| (at, ()))));
            let inside = || turns.take(0, |_| -> (u64, ()) { panic!("within its turn") });
            let panicked = catch_unwind(AssertUnwindSafe(|| turns.in_turn(0, inside)));
            assert!(panicked.is_err());
            assert!(matches!(waiting.join().unwrap(), Err(Error::Interrupted)));
        });
    }
}
