//! The compressors of large members: a few, each used for one member after the other.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::archive::stream::Engine;

/// At most so many compressors, which are made as they are wanted.
pub(super) struct Engines {
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    idle: Vec<Engine>,
    /// How many more may be made.
    left: usize,
}

/// Leave to use one, until it is dropped.
pub(super) struct Leave<'a> {
    engines: &'a Engines,
    done: Option<Engine>,
}

impl Engines {
    pub(super) fn new(most: usize) -> Self {
        let state = State { idle: Vec::new(), left: most.max(1) };
        Self { state: Mutex::new(state), returned: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for one that nobody uses, and makes it if there is none yet.
    pub(super) fn take(
        &self,
        make: impl FnOnce() -> io::Result<Engine>,
    ) -> io::Result<(Engine, Leave<'_>)> {
        let mut state = self.lock();
        let idle = loop {
            if let Some(engine) = state.idle.pop() {
                break Some(engine);
            }
            if let Some(left) = state.left.checked_sub(1) {
                state.left = left;
                break None;
            }
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        // From here on there is room for another, however this ends.
        let leave = Leave { engines: self, done: None };
        let engine = match idle {
            Some(engine) => engine,
            None => make()?,
        };
        Ok((engine, leave))
    }
}

impl Leave<'_> {
    /// Gives the engine back, to be used again.
    pub(super) fn give_back(mut self, engine: Engine) {
        self.done = Some(engine);
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let mut state = self.engines.lock();
        match self.done.take() {
            Some(engine) => state.idle.push(engine),
            // One that has failed is not used again, and another may be made.
            None => state.left = state.left.saturating_add(1),
        }
        drop(state);
        self.engines.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::pipeline;

    #[test]
    fn no_more_are_made_than_are_used_at_once() {
        let (made, used) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let engines = Engines::new(2);
        let new = || {
            made.fetch_add(1, Ordering::SeqCst);
            Ok(Engine::none())
        };
        let work = |(): &mut (), _| {
            let (engine, leave) = engines.take(new)?;
            assert!(used.fetch_add(1, Ordering::SeqCst) < 2);
            std::thread::yield_now();
            used.fetch_sub(1, Ordering::SeqCst);
            leave.give_back(engine);
            Ok::<_, io::Error>(())
        };
        pipeline::share(5, 0..200, || (), work).unwrap();
        assert!((1..=2).contains(&made.load(Ordering::SeqCst)));
    }

    #[test]
    fn one_that_failed_makes_room_for_another() {
        let engines = Engines::new(1);
        assert!(engines.take(|| Err(io::Error::other("cannot be made"))).is_err());
        let (_, leave) = engines.take(|| Ok(Engine::none())).unwrap();
        drop(leave);
        let (engine, leave) = engines.take(|| Ok(Engine::none())).unwrap();
        leave.give_back(engine);
        engines.take(|| Err(io::Error::other("is there already"))).unwrap();
    }
}
