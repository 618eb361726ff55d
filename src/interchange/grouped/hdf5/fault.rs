//! Errors of the reader, and reasons why a part of a file is not converted.

use hdf5_reader::error::Error;

use crate::interchange::FormatError;
use crate::interchange::grouped::unknown;

/// The layout of a dataset that consists of parts of others.
const VIRTUAL: u8 = 3;

/// How to convert what is too large here.
pub(super) const WITH_PYTHON: &str =
    "save it as a .npy or NetCDF file with Python, and convert that";

/// A part of a file, or the reason why it is not converted.
pub(super) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Converts an error of the reader about a part of the file.
pub(super) fn fault(place: &str, error: Error) -> FormatError {
    match error {
        Error::Io(error) => error.into(),
        Error::Context { source, .. } => fault(place, *source),
        Error::InvalidMagic => unknown(),
        error => FormatError::Invalid { place: place.to_owned(), reason: error.to_string() },
    }
}

/// Returns why a part of the file cannot be read; the error itself if the file cannot be read.
pub(super) fn reason(error: Error) -> std::result::Result<String, Error> {
    match error {
        Error::Io(_) => Err(error),
        Error::Context { source, .. } => reason(*source),
        Error::UnsupportedLayoutClass(VIRTUAL) => {
            let what = "it is a virtual dataset, whose elements are in other datasets";
            Ok(format!("{what}; {WITH_PYTHON}"))
        }
        error => Ok(error.to_string()),
    }
}
