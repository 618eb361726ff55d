//! Standard error: the only other place that prints.

use std::io::{self, Write as _};

/// Writes to standard error in one call. A closed standard error is ignored.
pub(super) fn write(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Returns the width of the terminal of standard error, in columns.
pub(super) fn columns() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(io::stderr())?;
    Some(width.0.into())
}
