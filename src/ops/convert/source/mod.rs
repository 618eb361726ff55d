//! Where arrays come from: first what is there, from headers only, then the elements of one after the other.

mod ds;
mod lone;
mod npy;
mod npz;
mod packed;
mod png;

pub(super) use self::lone::is_in_the_way;

use std::path::Path;

use super::ConvertOptions;
use super::data::Data;
use super::form::Form;
use super::item::Item;
use super::rawarray::Metadata;
use crate::error::{Error, Result};
use crate::interchange;
use crate::ra::ReadError;

/// Arrays of some form.
pub(super) struct Source {
    /// Each of them; never with an order other than row and column.
    pub(super) items: Vec<Item>,
    /// What else is there and is left where it is, one sentence each.
    pub(super) losses: Vec<String>,
    reads: Box<dyn ReadElements>,
}

/// What the elements of arrays are read from.
trait ReadElements {
    /// The elements of the array at `index`, which is `item`. What has to be copied to be checked is, beside
    /// `beside`.
    fn elements(&mut self, index: usize, item: &Item, beside: &Path) -> Result<Elements<'_>>;
}

/// The elements of an array, and what came with them.
pub(super) struct Elements<'s> {
    pub(super) data: Data<'s>,
    pub(super) metadata: Metadata,
    /// Whether a manifest vouches for them.
    pub(super) verified: bool,
}

impl Source {
    /// Looks at what is at `path`.
    pub(super) fn open(path: &Path, form: Form, options: &ConvertOptions) -> Result<Self> {
        match form {
            Form::Ra => lone::open(path, options),
            Form::Npy => npy::open(path, options),
            Form::Npz => npz::open(path, options),
            Form::Ds => ds::open(path, options),
            Form::Png => png::open(path),
            Form::Pack(_) => packed::open(path, options),
        }
    }

    /// The elements of one of the items. What has to be copied to be checked is, beside `beside`.
    pub(super) fn elements(&mut self, index: usize, beside: &Path) -> Result<Elements<'_>> {
        let Some(item) = self.items.get(index) else {
            return Err(Error::Unsupported(format!("there is no array {index}")));
        };
        self.reads.elements(index, item, beside)
    }
}

/// Why a file of another format cannot be read.
fn refused(path: &Path, source: interchange::Error) -> Error {
    match source {
        interchange::Error::Io(error) => super::data::failed(error, "read", path),
        source => Error::Interchange { name: path.to_string_lossy().into_owned(), source },
    }
}

fn read_twice() -> Error {
    Error::Unsupported("an array is read only once".to_owned())
}

/// Why a file by itself cannot be read.
fn malformed(path: &Path, error: ReadError) -> Error {
    let name = path.to_string_lossy().into_owned();
    match error {
        ReadError::Decode(error) => Error::Interchange {
            name,
            source: interchange::Error::malformed(error.offset, error.kind.to_string()),
        },
        ReadError::Io(error) => super::data::failed(error, "read", path),
        ReadError::Slice(error) => Error::Mismatch { name, reason: error.to_string() },
    }
}
