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

mod any;
mod array;
mod element;
mod encoding;
mod error;
mod header;
mod reverse;
mod slice;
#[cfg(test)]
mod tests;

pub use any::{AnyArray, OpaqueArray};
pub use array::{Decoded, RawArray, decode, read_slice, view};
pub use element::{Element, ElementKind, ElementType, Flags, UnknownElement, UnknownFlags};
pub use encoding::Encoding;
pub use error::{DecodeError, DecodeErrorKind, ReadError, ShapeError};
pub use header::{FIXED_LEN, Header, MAGIC, MAX_NDIMS};
pub use reverse::Reversal;
pub use slice::{SliceError, SlicePlan, checked_slice, parse_slice, split_slice};

pub(crate) use encoding::{Decoder, Probe};
pub(crate) use header::reverse_each;
pub(crate) use slice::{Picked, resolve as resolve_slice};
