//! Packs, verifies and reads archives of RawArray data described in the Ndarray Data Language.

mod digest;
mod path;

pub use crate::digest::{Algorithm, Digest, Hasher, UnknownAlgorithm};
pub use crate::path::{InvalidPath, MAX_PATH_BYTES, MemberPath, PathFault, escape};
