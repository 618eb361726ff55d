//! Options for reading URLs.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// Options for reading URLs.
#[derive(Debug, Clone)]
pub struct RemoteOptions {
    /// Longest time without an answer or a byte of it, before the request fails. The default is 30 seconds.
    pub timeout: Duration,
    /// Download a file completely to a temporary file without a name, and read that. It is needed for servers that do
    /// not serve ranges and for tars, which are read from their beginning.
    pub download: bool,
    /// Keep the last objects open, so that several operations read the same version and share what was read. A change
    /// of the object is then not noticed by a new operation.
    pub keep: bool,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), download: false, keep: false }
    }
}

static OPTIONS: LazyLock<Mutex<RemoteOptions>> = LazyLock::new(Mutex::default);

/// Sets the options for all URLs that this process opens afterwards.
pub fn configure(options: RemoteOptions) {
    *OPTIONS.lock().unwrap_or_else(PoisonError::into_inner) = options;
}

/// Returns the options of this process.
pub(super) fn configured() -> RemoteOptions {
    OPTIONS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
