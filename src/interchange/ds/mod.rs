//! Files of ds-format (`.ds`, version 1.0): named arrays with named dimensions, attributes and masks.
//!
//! A file is a line `ds-1.0`, a line of JSON and the data of each variable, one after the other. [`Reader`]
//! gives each variable as an [`Array`].
//!
//! | in the file | here |
//! | --- | --- |
//! | a number | the same word |
//! | `bool` | an enum of `uint8`: false 0, true 1 |
//! | `str`, `unicode` alone | a `string`, whose bytes are the data |
//! | `str`, `unicode` in an array | a `string` with its `value` in the description and no data |
//! | `str` that is no UTF-8 | an `opaque` with the tag `text`, filled up with zero bytes |
//! | a variable that has the name of its one dimension | a coordinate, to which other shapes refer by name |
//! | another named dimension | an integer extent, and all names in the attribute `_dims` |
//! | a mask | an element that the data do not have, `storage.fillvalue`; with [`ReadOptions`] also the mask |
//! | a mask of `bool` | a third member of the enum, `missing` |
//! | an attribute: number, text, lists of one kind | the same |
//! | another attribute | the text of its JSON, and a loss |
//!
//! [`Writer`] goes the other way. Any enum other than the truth values is written as its base, with the attributes
//! `flag_values` and `flag_meanings`; `storage.fillvalue` becomes the attribute `_FillValue`, and with
//! [`WriteOptions`] a mask.
//!
//! What the reference implementation writes wrongly is read as it is meant: lengths of texts that do
//! not add up to the file, and booleans without byte order or of a number that 8 does not divide.

mod attributes;
mod bits;
mod body;
mod chunks;
mod fill;
mod header;
mod json;
mod kind;
mod mapping;
mod read;
#[cfg(test)]
mod round_trip;
mod stream;
mod strings;
#[cfg(test)]
mod tests;
mod write;

pub use read::{Array, Content, Data, ReadOptions, Reader};
pub use write::{WriteOptions, Writer};
