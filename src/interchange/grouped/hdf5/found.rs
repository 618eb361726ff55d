//! The datasets of a file, and the errors of the reader about them.

use hdf5_reader::{Attribute, Dataset};

use crate::interchange::FormatError;

/// The layout of a dataset that consists of parts of others. The reader does not list a group that has one.
const VIRTUAL: u8 = 3;

/// The beginning of the attribute `NAME` of a dimension without a variable.
const NO_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";

/// Where to convert what is too large here.
pub(super) const WITH_PYTHON: &str = "convert it with Python, as docs/from-other-formats.md shows";

/// Converts an error of the reader about a part of the file.
pub(super) fn fault(place: &str, error: hdf5_reader::error::Error) -> FormatError {
    match error {
        hdf5_reader::error::Error::Io(error) => error.into(),
        hdf5_reader::error::Error::Context { source, .. } => fault(place, *source),
        hdf5_reader::error::Error::UnsupportedLayoutClass(VIRTUAL) => {
            let reason =
                format!("{place} has a virtual dataset, whose elements are in other files");
            FormatError::no_counterpart(reason, WITH_PYTHON)
        }
        error => FormatError::Invalid { place: place.to_owned(), reason: error.to_string() },
    }
}

/// A dataset of the file.
pub(super) struct Found {
    pub(super) path: String,
    pub(super) dataset: Dataset,
    pub(super) attributes: Vec<Attribute>,
}

impl Found {
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.attribute(name)?.read_string().ok()
    }

    pub(super) fn is_scale(&self) -> bool {
        self.text("CLASS").is_some_and(|class| class == "DIMENSION_SCALE")
    }

    /// Returns whether the dataset is a dimension of NetCDF-4 without a variable.
    pub(super) fn is_dimension_only(&self) -> bool {
        self.is_scale() && self.text("NAME").is_some_and(|name| name.starts_with(NO_VARIABLE))
    }
}
