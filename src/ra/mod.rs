//! The RawArray format: one n-dimensional array per file, a header of 64-bit fields followed by the elements.
//!
//! | offset | field | content |
//! | --- | --- | --- |
//! | 0 | magic | the eight bytes `rawarray` |
//! | 8 | flags | bit 0: elements are big-endian, bit 1: encoded, bit 2: packed bits |
//! | 16 | eltype | 0 user-defined, 1 signed, 2 unsigned, 3 IEEE float, 4 complex, 5 bfloat16 |
//! | 24 | elbyte | bytes of one element |
//! | 32 | size | bytes of the data section |
//! | 40 | ndims | number of dimensions |
//! | 48 | dims | `ndims` lengths, fastest dimension first |
//! | 48 + 8·ndims | data | `size` bytes |
//! | after that | metadata | optional bytes of any kind |
//!
//! Header fields are unsigned and always little-endian; flag bit 0 applies only to the elements. ra-pack writes flags 0
//! and reads all flags that other implementations write: see [`Encoding`].
//!
//! Use [`RawArray`] if the program knows the element type, and [`AnyArray`] if only the file does. [`Header`] describes
//! a file without reading its elements, [`decode`] returns the elements as bytes, and [`SlicePlan`] computes the byte
//! ranges of a slice.

mod array;
mod element;
mod encoding;
pub(crate) mod header;
mod reverse;
mod slice;
mod structure;
#[cfg(test)]
mod tests;

use std::io;

pub use array::{AnyArray, Decoded, OpaqueArray, RawArray, decode, read_slice, view};
pub use element::{Element, ElementKind, ElementType, Flags, UnknownElement, UnknownFlags};
pub use encoding::Encoding;
pub use header::{FIXED_LEN, Header, MAGIC, MAX_NDIMS};
pub use reverse::Reversal;
pub use slice::{SliceError, SlicePlan, checked_slice, parse_slice, split_slice};
pub use structure::{Part, Structure};

pub(crate) use encoding::{Decoder, EncodingProbe};
pub(crate) use header::read_full;
pub(crate) use slice::{Picked, resolve as resolve_slice};

/// An error in a file: it is not a RawArray, or incomplete, or contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (at byte {offset})")]
#[non_exhaustive]
pub struct DecodeError {
    /// The offset of the error in the file, in bytes.
    pub offset: u64,
    /// The cause.
    pub kind: DecodeErrorKind,
}

impl DecodeError {
    fn new(offset: u64, kind: impl Into<DecodeErrorKind>) -> Self {
        Self { offset, kind: kind.into() }
    }
}

impl From<DecodeError> for io::Error {
    fn from(error: DecodeError) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

/// The cause of a [`DecodeError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The file does not begin with the magic.
    #[error("expected the magic `rawarray`, found `{}`", .found.escape_ascii())]
    Magic {
        /// The first bytes, at most 8.
        found: Vec<u8>,
    },
    /// The magic is reversed: the writer on a big-endian machine did not convert the header.
    #[error(
        "expected the magic `rawarray`, found `yarrawar`: the header was written byte-swapped by a \
         big-endian machine; reverse the bytes of each 8-byte header field and set flag bit 0 to read it"
    )]
    SwappedMagic,
    /// The file ends inside the header.
    #[error("expected a header of {expected} bytes, found {found}")]
    HeaderTruncated {
        /// The length of the header in bytes, as far as the bytes give it.
        expected: u64,
        /// The number of bytes.
        found: u64,
    },
    /// The flags are not defined by any implementation.
    #[error(transparent)]
    Flags(#[from] UnknownFlags),
    /// The element type is not defined by any implementation.
    #[error(transparent)]
    Element(#[from] UnknownElement),
    /// Packed bits do not have their flags, `eltype` and `elbyte` together.
    #[error(
        "expected packed bits as flags 6 with `eltype` 5 and `elbyte` 8, found flags {} with `eltype` {} and `elbyte` {}",
        flags.bits(), element.eltype(), element.elbyte()
    )]
    Bits {
        /// The flags field.
        flags: Flags,
        /// The element type.
        element: ElementType,
    },
    /// No array can have the dimensions.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The `size` field does not match element type and dimensions.
    #[error("expected a `size` of {expected} ({element} of dims {dims:?}), found {found}")]
    Size {
        /// The number of bytes computed from element type and dimensions.
        expected: u64,
        /// The `size` field.
        found: u64,
        /// The element type.
        element: ElementType,
        /// The dimensions.
        dims: Vec<u64>,
    },
    /// The file ends inside the data section.
    #[error("expected {expected} bytes of data, found {found}")]
    DataTruncated {
        /// The length of the data section in bytes.
        expected: u64,
        /// The number of bytes.
        found: u64,
    },
    /// The encoded flag is set, but the data has no known encoding.
    #[error(
        "flag `encoded` is set, but the {found} bytes after the header (`size` is {size}) are neither an \
         LZ4 block nor LEB128 integers nor plain data of {expected} bytes"
    )]
    Encoding {
        /// The length of the decoded data in bytes.
        expected: u64,
        /// The number of bytes after the header.
        found: u64,
        /// The `size` field.
        size: u64,
    },
    /// The byte order of elements with an unknown layout cannot be changed.
    #[error("the byte order of {element} elements cannot be changed: their layout is not known")]
    Swap {
        /// The element type.
        element: ElementType,
    },
    /// The file does not have elements of the requested type.
    #[error("expected elements of `{rust}` ({expected}), found {found}")]
    WrongType {
        /// The requested Rust type.
        rust: &'static str,
        /// The element type of that Rust type.
        expected: ElementType,
        /// The element type of the file.
        found: ElementType,
    },
    /// The elements cannot be viewed, because they are encoded or in the other byte order.
    #[error("elements with flags {flags} cannot be viewed in place: read them instead")]
    NotInPlace {
        /// The flags field.
        flags: Flags,
    },
    /// The data does not have the alignment of the requested type.
    #[error("the data is not aligned to {expected} bytes in memory: read it instead of viewing it")]
    Misaligned {
        /// The alignment of the Rust type in bytes.
        expected: usize,
    },
}

impl DecodeErrorKind {
    fn wrong_type<T: Element>(found: ElementType) -> Self {
        let (rust, expected) = (std::any::type_name::<T>(), ElementType::of::<T>());
        Self::WrongType { rust, expected, found }
    }
}

/// The reason why dimensions are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The length of the data does not fit 64 bits.
    #[error("{element} elements of dims {dims:?} take more than 2^64 - 1 bytes")]
    Overflow {
        /// The element type.
        element: ElementType,
        /// The dimensions.
        dims: Vec<u64>,
    },
    /// There are more than [`MAX_NDIMS`] dimensions.
    #[error("expected at most {} dimensions, found {ndims}", MAX_NDIMS)]
    TooManyDims {
        /// The number of dimensions.
        ndims: u64,
    },
    /// The number of elements is not the product of the dimensions.
    #[error("expected {expected} elements for dims {dims:?}, found {found}")]
    Length {
        /// The dimensions.
        dims: Vec<u64>,
        /// The product of the dimensions.
        expected: u64,
        /// The number of elements.
        found: u64,
    },
    /// This machine cannot index an array with these dimensions, even if it is empty.
    #[error("dims {dims:?} are too large for an array in memory")]
    NotIndexable {
        /// The dimensions.
        dims: Vec<u64>,
    },
    /// Packed bits cannot be written; use one byte per element.
    #[error("packed bits cannot be written; use uint8 elements")]
    PackedBits,
}

impl From<ShapeError> for io::Error {
    fn from(error: ShapeError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}

/// An error while reading a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not a valid RawArray, or does not have the requested type.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The slice does not fit the array.
    #[error(transparent)]
    Slice(#[from] SliceError),
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => error,
            ReadError::Decode(error) => error.into(),
            ReadError::Slice(error) => Self::new(io::ErrorKind::InvalidInput, error),
        }
    }
}
