//! The RawArray format: one n-dimensional array per file, a header of 64-bit fields and then the elements.
//!
//! | offset | field | content |
//! | --- | --- | --- |
//! | 0 | magic | the eight bytes `rawarray` |
//! | 8 | flags | bit 0: elements are big-endian, bit 1: encoded, bit 2: packed bits |
//! | 16 | eltype | 0 user-defined, 1 signed, 2 unsigned, 3 IEEE float, 4 complex, 5 brain float |
//! | 24 | elbyte | bytes of one element |
//! | 32 | size | bytes of the data section |
//! | 40 | ndims | number of dimensions |
//! | 48 | dims | `ndims` extents, first index fastest |
//! | 48 + 8·ndims | data | `size` bytes |
//! | after that | metadata | whatever the author appended |
//!
//! Header fields are unsigned and little-endian, whatever flag bit 0 says. Arrays are written
//! with flags 0; what other implementations write with flags is read: see [`Encoding`].
//!
//! [`RawArray`] is an array whose element type the program knows, [`AnyArray`] one whose type the
//! file decides. [`Header`] alone describes a file without reading its elements, [`decode`] gives
//! the elements as bytes, and [`SlicePlan`] tells which bytes a slice needs.

mod array;
mod element;
mod encoding;
mod header;
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
pub(crate) use header::{read_full, reverse_each};
pub(crate) use slice::{Picked, resolve as resolve_slice};

/// A file that is not a RawArray, or not a whole or consistent one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (at byte {offset})")]
#[non_exhaustive]
pub struct DecodeError {
    /// Where in the file, in bytes from its beginning.
    pub offset: u64,
    /// What is wrong there.
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

/// What is wrong at the offset of a [`DecodeError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The file begins with something else.
    #[error("expected the magic `rawarray`, found `{}`", .found.escape_ascii())]
    Magic {
        /// The first bytes, at most 8.
        found: Vec<u8>,
    },
    /// The magic is reversed: the header was written in the byte order of a big-endian host.
    #[error(
        "expected the magic `rawarray`, found `yarrawar`: the header was written byte-swapped by a \
         big-endian host; reverse the bytes of each 8-byte header field and set flag bit 0 to read it"
    )]
    SwappedMagic,
    /// The file ends inside the header.
    #[error("expected a header of {expected} bytes, found {found}")]
    HeaderTruncated {
        /// Bytes that the header takes, as far as what is there tells.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// Flags that no implementation defines.
    #[error(transparent)]
    Flags(#[from] UnknownFlags),
    /// An element type that no implementation defines.
    #[error(transparent)]
    Element(#[from] UnknownElement),
    /// Packed bits need flags, eltype and elbyte together.
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
    /// Dimensions that no array can have.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The `size` field is not what the other fields say.
    #[error("expected a `size` of {expected} ({element} of dims {dims:?}), found {found}")]
    Size {
        /// Bytes that elements and dims make.
        expected: u64,
        /// The field.
        found: u64,
        /// The element type.
        element: ElementType,
        /// The extents.
        dims: Vec<u64>,
    },
    /// The file ends inside the data section.
    #[error("expected {expected} bytes of data, found {found}")]
    DataTruncated {
        /// Bytes of the data section.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The flag says encoded, but no encoding fits.
    #[error(
        "flag `encoded` is set, but the {found} bytes after the header (`size` is {size}) are neither an \
         LZ4 block nor LEB128 integers nor plain data of {expected} bytes"
    )]
    Encoding {
        /// Bytes of the decoded data.
        expected: u64,
        /// Bytes after the header.
        found: u64,
        /// The `size` field.
        size: u64,
    },
    /// Elements whose parts are unknown cannot change their byte order.
    #[error("the byte order of {element} elements cannot be changed: their layout is not known")]
    Swap {
        /// The element type.
        element: ElementType,
    },
    /// The program asked for another type than the file has.
    #[error("expected elements of `{rust}` ({expected}), found {found}")]
    WrongType {
        /// The Rust type asked for.
        rust: &'static str,
        /// What that type is written as.
        expected: ElementType,
        /// What the file holds.
        found: ElementType,
    },
    /// A view needs the elements as they would be in memory.
    #[error("elements with flags {flags} cannot be viewed in place: read them instead")]
    NotInPlace {
        /// The flags field.
        flags: Flags,
    },
    /// A view needs the alignment of its type.
    #[error("the data is not aligned to {expected} bytes in memory: read it instead of viewing it")]
    Misaligned {
        /// Alignment of the Rust type.
        expected: usize,
    },
}

impl DecodeErrorKind {
    fn wrong_type<T: Element>(found: ElementType) -> Self {
        let (rust, expected) = (std::any::type_name::<T>(), ElementType::of::<T>());
        Self::WrongType { rust, expected, found }
    }
}

/// Dimensions that do not fit their elements, or that no array can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The bytes of all elements are too many to count.
    #[error("{element} elements of dims {dims:?} take more than 2^64 - 1 bytes")]
    Overflow {
        /// The element type.
        element: ElementType,
        /// The extents.
        dims: Vec<u64>,
    },
    /// More dimensions than [`MAX_NDIMS`].
    #[error("expected at most {} dimensions, found {ndims}", MAX_NDIMS)]
    TooManyDims {
        /// The number of dimensions.
        ndims: u64,
    },
    /// There are more or fewer elements than the dims say.
    #[error("expected {expected} elements for dims {dims:?}, found {found}")]
    Length {
        /// The extents.
        dims: Vec<u64>,
        /// The product of the extents.
        expected: u64,
        /// How many elements there are.
        found: u64,
    },
    /// More than this machine's memory can index, even if no element is there.
    #[error("dims {dims:?} are too large for an array in memory")]
    NotIndexable {
        /// The extents.
        dims: Vec<u64>,
    },
    /// Packed bits exist only in files of others; one byte per element is written instead.
    #[error("packed bits cannot be written; use uint8 elements")]
    PackedBits,
}

impl From<ShapeError> for io::Error {
    fn from(error: ShapeError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}

/// Reading failed, was refused, or what was read is damaged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bytes are not what they should be.
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
