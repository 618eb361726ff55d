//! Errors of an archive that is read back.

use std::{fmt, io};

use crate::error::Error;
use crate::fs::File;

/// Creates the error that discards an archive.
pub(in crate::archive) fn failed(file: &File, what: impl fmt::Display) -> Error {
    Error::Io {
        action: "read back",
        path: file.path().to_owned(),
        source: io::Error::other(format!(
            "{what}; the new archive was discarded. The disk or the memory of this machine may be failing"
        )),
    }
}

/// Creates the error for a failed read. System errors are returned unchanged.
pub(in crate::archive) fn unread(file: &File, error: io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(|error| failed(file, error))
}
