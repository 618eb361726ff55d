//! The clocks of the system, or those of the browser.

#[cfg(not(target_family = "wasm"))]
pub(crate) use std::time::Instant;
use std::time::SystemTime;

#[cfg(target_family = "wasm")]
pub(crate) use web_time::Instant;

/// Returns the current time.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Returns the current time.
#[cfg(target_family = "wasm")]
pub(crate) fn now() -> SystemTime {
    let since = web_time::SystemTime::now().duration_since(web_time::UNIX_EPOCH);
    SystemTime::UNIX_EPOCH + since.unwrap_or_default()
}
