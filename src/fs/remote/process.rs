//! Values that a forked process does not inherit: threads and connections.

use std::sync::{Mutex, PoisonError};

/// A value that each process makes for itself.
pub(super) struct PerProcess<T>(Mutex<Option<(u32, T)>>);

impl<T: Clone> PerProcess<T> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the value of this process, which is made on the first call. That of the parent is not dropped: its
    /// threads and connections do not exist here.
    pub(super) fn get_or_make<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let process = std::process::id();
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = held.as_ref().filter(|(owner, _)| *owner == process) {
            return Ok(value.clone());
        }
        let value = make()?;
        if let Some(of_parent) = held.replace((process, value.clone())) {
            std::mem::forget(of_parent);
        }
        Ok(value)
    }
}
