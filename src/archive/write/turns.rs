//! The order in which jobs take their places in an archive, whichever of them is faster.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::runs::RunMember;
use crate::error::{Error, Result};

/// Lets the jobs take their places in the archive one after the other.
#[derive(Debug)]
pub(super) struct Turns {
    state: Mutex<Turn>,
    passed: Condvar,
    /// Whether a turn was let pass.
    closed: AtomicBool,
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
        Self { state, passed: Condvar::new(), closed: AtomicBool::new(false) }
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

    /// The contents of a run, if all are there and no turn was let pass.
    pub(super) fn wanted<'r>(&self, run: &'r [RunMember<'_>]) -> Option<Vec<&'r [u8]>> {
        if self.closed.load(Ordering::Relaxed) {
            return None;
        }
        run.iter().map(|run| run.content).collect()
    }

    /// Takes a turn for what was prepared. Where nothing was, the turn passes, and so do all that follow.
    pub(super) fn take_prepared<P, T>(
        &self,
        turn: usize,
        prepared: Option<P>,
        place: impl FnOnce(u64, P) -> (u64, T),
    ) -> Result<Option<T>> {
        self.take(turn, |at| match prepared.filter(|_| !self.closed.load(Ordering::Relaxed)) {
            Some(prepared) => {
                let (at, result) = place(at, prepared);
                (at, Some(result))
            }
            None => {
                self.closed.store(true, Ordering::Relaxed);
                (at, None)
            }
        })
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
