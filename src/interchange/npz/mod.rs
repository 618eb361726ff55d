//! numpy's `.npz` files: zips of [`.npy`](super::npy) files.
//!
//! The member `a/b/x.npy` is the array with the key `a/b/x`; [`convert`](crate::convert) finds names of files for
//! keys that no file can have. The container is read by the crate zip, and every member to its end,
//! where its checksum is.

mod read;
mod unfailing;
mod write;

pub use read::{Member, Opened, Reader};
pub use write::{Compression, Writer};

/// What follows the key in the name of a member.
const SUFFIX: &str = ".npy";
