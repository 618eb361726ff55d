//! Formats of other tools, read and written over [`Read`](std::io::Read) and [`Write`](std::io::Write), with the
//! description that each array implies.
//!
//! A format gives a [`Variable`], which is the header and the description that the array has as a RawArray,
//! and then its data as little-endian bytes **in the order in which the other file holds them**. No
//! format moves an element: where the last index runs fastest the description says `storage: {order: row}`, and the
//! dims of the header are the shape reversed. Who wants the other order asks for it where bytes can be
//! read and written anywhere.

pub mod ds;
mod element;
mod error;
pub mod npy;
pub mod npz;
pub mod png;
mod variable;

pub use element::element_of_word;
pub use error::Error;
pub use variable::Variable;
