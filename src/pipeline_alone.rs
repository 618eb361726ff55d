//! The pipeline of a system without threads: the caller does all work, in the order of the items.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Returns the number of jobs, which is 1.
pub(crate) fn default_jobs() -> usize {
    1
}

/// Returns the number of jobs, which is 1.
pub(crate) fn jobs(_: Option<usize>) -> usize {
    1
}

/// Splits `0..count` into consecutive ranges of at most `step` numbers.
pub(crate) fn ranges(
    count: usize,
    step: usize,
) -> impl ExactSizeIterator<Item = Range<usize>> + Send {
    let step = step.max(1);
    (0..count.div_ceil(step)).map(move |number| number * step..count.min((number + 1) * step))
}

/// Runs `work` on all items, and returns the results. The first error ends the work.
pub(crate) fn share<S, I, T, E>(
    _: usize,
    items: impl IntoIterator<Item = I>,
    state: impl Fn() -> S,
    work: impl Fn(&mut S, I) -> Result<T, E>,
) -> Result<Vec<T>, E> {
    let mut state = state();
    items.into_iter().map(|item| work(&mut state, item)).collect()
}

/// Items that the work takes when it has room for them.
pub(crate) struct Queue<I>(Mutex<I>);

impl<I: Iterator> Queue<I> {
    pub(crate) fn new(items: I) -> Self {
        Self(Mutex::new(items))
    }

    /// Runs work that takes items.
    pub(crate) fn work<T, E>(
        &self,
        work: impl FnOnce(&mut dyn Iterator<Item = I::Item>) -> Result<T, E>,
    ) -> Result<T, E> {
        work(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Runs `work` once, on all items.
pub(crate) fn lanes<I, T, E>(
    _: usize,
    mut items: impl Iterator<Item = I>,
    work: impl Fn(&mut dyn Iterator<Item = I>) -> Result<Vec<T>, E>,
) -> Result<Vec<T>, E> {
    work(&mut items)
}

/// Returns the number of threads, which is 0.
pub(crate) fn workers(_: usize) -> usize {
    0
}

/// Runs `work` on all items, and passes each result to `take`. The first error ends the work.
pub(crate) fn ordered<S, I, T, E>(
    _: usize,
    items: impl IntoIterator<Item = I>,
    state: impl Fn() -> S,
    work: impl Fn(&mut S, I) -> Result<T, E>,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let mut state = state();
    items.into_iter().try_for_each(|item| take(work(&mut state, item)?))
}

/// Returns the items, which are made when they are taken.
pub(crate) fn ahead<T>(
    _: usize,
    items: impl Iterator<Item = T> + Send + 'static,
) -> impl Iterator<Item = T> + Send {
    items
}
