//! Formats of other tools, read and written through [`Read`](std::io::Read) and [`Write`](std::io::Write).
//!
//! Each reader returns a [`Variable`], which is the RawArray header and the description of the array, and then its data
//! as little-endian bytes **in the order of the other file**. No format moves elements: if the last index varies
//! fastest, the description has `storage: {order: row}`, and the dimensions of the header are the shape reversed. To
//! change the order, use [`Reversal`](crate::ra::Reversal), which needs random access.

#[cfg(feature = "full")]
mod block_reader;
#[cfg(feature = "display")]
mod blocks;
#[cfg(feature = "full")]
pub mod ds;
#[cfg(feature = "full")]
pub mod grouped;
#[cfg(feature = "display")]
mod literal;
#[cfg(feature = "display")]
pub mod npy;
#[cfg(feature = "full")]
pub mod npz;
#[cfg(feature = "full")]
pub mod png;
#[cfg(feature = "full")]
mod values;

use std::io;

#[cfg(feature = "full")]
pub(crate) use self::block_reader::BlockReader;
#[cfg(feature = "display")]
pub(crate) use self::blocks::{
    Block, fillvalue, is_truth, read_all, read_units, row_order_extents, wrong_length,
};
use crate::message::Message;
use crate::ndl::{Datatype, Integer, Ndarray};
use crate::ra::{ElementType, Header};

/// An array of another format, converted to RawArray and NDL. Its data is separate.
///
/// `header` and `description` agree: the dimensions follow from the shape and `storage.order`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The header of the data as it is returned: little-endian, in the order of the other file.
    pub header: Header,
    /// Its name, shape, datatype and attributes. `storage.order` is `row` if the array is row-major and has more than
    /// one dimension.
    pub description: Ndarray,
    /// Messages about metadata of the other file that RawArray and NDL cannot store.
    pub losses: Vec<String>,
}

/// Options for reading. Each applies to one format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// `.npy`: Keep big-endian numbers, and set the flag in the header and `storage.endian` in the description.
    /// Structures and text are always converted.
    pub keep_endian: bool,
    /// `.npy`: Read two-byte elements without a type as bfloat16, which is how `ml_dtypes` saves them.
    pub bfloat16: bool,
    /// `.ds`: Return the mask of `NAME`, if it has missing elements, as a variable `NAME.mask` of booleans after
    /// it.
    pub masks: bool,
}

/// Options for writing. Each applies to one format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// `.npy`: Write elements without a NumPy dtype, such as integers of 16 bytes, as bytes without a type: `|V16`.
    /// Otherwise they are refused.
    pub as_void: bool,
    /// `.ds`: Write elements that equal `storage.fillvalue` as missing: they are marked in the mask and not stored.
    pub mask_fill: bool,
}

/// An error of reading or writing another format.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// Reading or writing failed.
    #[error(transparent)]
    Io(io::Error),
    /// The file is not valid in its format.
    #[error("byte {offset}: {reason}")]
    Malformed {
        /// The offset of the error in the file, in bytes.
        offset: u64,
        /// The expected and the found content.
        reason: String,
    },
    /// A part of the file is not valid in its format, at an offset that is not known.
    #[error("{place}: {reason}")]
    Invalid {
        /// The part, such as the name of a variable.
        place: String,
        /// The expected and the found content.
        reason: String,
    },
    /// The file or the array is valid, but cannot be converted.
    #[error("{reason}; {instead}")]
    NoCounterpart {
        /// The reason.
        reason: String,
        /// Advice, such as a type to convert to.
        instead: Message,
    },
}

/// Extracts the error about a file that a reader of this module returned as an [`io::Error`].
impl From<io::Error> for FormatError {
    fn from(error: io::Error) -> Self {
        error.downcast::<Self>().unwrap_or_else(Self::Io)
    }
}

impl FormatError {
    /// Returns an error of the file at `offset`.
    pub fn malformed(offset: u64, reason: impl Into<String>) -> Self {
        Self::Malformed { offset, reason: reason.into() }
    }

    /// Returns the message, whose options each front end names in its own words.
    pub fn message(&self) -> Message {
        match self {
            Self::NoCounterpart { reason, instead } => {
                Message::from(format!("{reason}; ")).join(instead.clone())
            }
            Self::Io(_) | Self::Malformed { .. } | Self::Invalid { .. } => self.to_string().into(),
        }
    }

    /// Returns an error for an array or file that cannot be converted, with advice.
    pub fn no_counterpart(reason: impl Into<String>, instead: impl Into<Message>) -> Self {
        Self::NoCounterpart { reason: reason.into(), instead: instead.into() }
    }
}

/// The calendar of NumPy's dates.
pub(crate) const NUMPY_CALENDAR: &str = "proleptic_gregorian";

/// Returns the attribute with the unit of the member at `path` of a structure; of the whole element if that is empty.
pub(crate) fn units_name(path: &str) -> String {
    if path.is_empty() { "units".to_owned() } else { format!("{path}.units") }
}

/// Returns the path of a member. Dots in names are escaped with a backslash, so that paths are unique.
pub(crate) fn member_path(path: &str, name: &str) -> String {
    let name = name.replace('\\', "\\\\").replace('.', "\\.");
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

/// Returns the element type for a datatype, if it is the number with the same name.
pub fn element_of_word(datatype: &Datatype) -> Option<ElementType> {
    let word = datatype.word()?;
    let (kind, bits) = word.split_at(word.find(|letter: char| letter.is_ascii_digit())?);
    let eltype = match kind {
        "int" => 1,
        "uint" => 2,
        "float" => 3,
        "complex" => 4,
        _ => 5,
    };
    ElementType::new(eltype, bits.parse::<u64>().ok()? / 8).ok()
}

/// Returns the datatype of booleans.
pub(crate) fn truth() -> Datatype {
    let members = vec![("false".to_owned(), 0), ("true".to_owned(), 1)];
    Datatype::Enum { base: Some(Integer::UInt8), members }
}
