//! How a command ends: its exit status, or the reason why it has no result.

use std::io;

/// Outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Success without errors.
    Clean,
    /// Errors in the data.
    Findings,
    /// The command failed.
    Failed,
}

impl Ending {
    /// Returns the outcome of a run with these findings.
    pub(crate) fn of(findings: &[ra_pack::Finding]) -> Self {
        if findings.iter().any(ra_pack::Finding::is_error) { Self::Findings } else { Self::Clean }
    }
}

/// Reason why a command has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Error of the operation, and a next step if the command knows a better one than the error.
    Operation(Box<ra_pack::Error>, Option<String>),
    /// Standard output is closed or cannot be written.
    Output(io::Error),
}

impl Failure {
    /// Returns the failure for options or arguments that are not possible.
    pub(crate) fn options(why: impl Into<String>) -> Self {
        ra_pack::Error::Options(why.into().into()).into()
    }

    /// Adds the next step.
    pub(crate) fn next(self, step: impl Into<String>) -> Self {
        match self {
            Self::Operation(error, _) => Self::Operation(error, Some(step.into())),
            other @ Self::Output(_) => other,
        }
    }
}

impl From<ra_pack::Error> for Failure {
    fn from(error: ra_pack::Error) -> Self {
        Self::Operation(Box::new(error), None)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<ra_pack::inspect::InvalidPattern> for Failure {
    fn from(error: ra_pack::inspect::InvalidPattern) -> Self {
        Self::options(error.to_string())
    }
}
