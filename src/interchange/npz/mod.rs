//! numpy's `.npz` files: zips of [`.npy`](super::npy) files.
//!
//! The member `a/b/x.npy` is the array with the key `a/b/x`. [`paths`] says under which names such arrays
//! can lie in a directory or a pack. The container is read by the crate zip, and every member to its end,
//! where its checksum is.

mod names;
mod read;
mod unfailing;
mod write;

pub use names::{Named, paths};
pub use read::{Member, Opened, Reader};
pub use write::{Compression, Writer};

/// What follows the key in the name of a member.
const SUFFIX: &str = ".npy";
