//! Why a file of another format cannot be read, or an array not be written in it.

use std::io;

/// Why a file of another format cannot be read, or an array not be written in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to read or write.
    #[error(transparent)]
    Io(io::Error),
    /// The file is not what its format demands.
    #[error("byte {offset}: {reason}")]
    Malformed {
        /// The byte of the file at which it goes wrong, from 0.
        offset: u64,
        /// What was expected, and what was found.
        reason: String,
    },
    /// The file or the array is sound, but has no counterpart.
    #[error("{reason}; {instead}")]
    NoCounterpart {
        /// What has none, and why.
        reason: String,
        /// The nearest way out.
        instead: String,
    },
}

/// A reader of this module gives what is wrong with a file as an [`io::Error`]; here it is itself again.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        error.downcast::<Self>().unwrap_or_else(Self::Io)
    }
}

impl Error {
    /// A fault of the file at `offset`.
    pub fn malformed(offset: u64, reason: impl Into<String>) -> Self {
        Self::Malformed { offset, reason: reason.into() }
    }

    /// What cannot be said in the other format, and what can be done instead.
    pub fn no_counterpart(reason: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::NoCounterpart { reason: reason.into(), instead: instead.into() }
    }
}
