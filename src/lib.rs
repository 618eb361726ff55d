//! Packs, verifies and reads archives of RawArray data described in the Ndarray Data Language.

#[allow(dead_code, unused_imports, reason = "joined by the writers and readers of archives")]
mod archive;
mod digest;
pub mod ndl;
mod path;
pub mod ra;

pub use crate::digest::{Algorithm, Digest, Hasher, UnknownAlgorithm};
pub use crate::path::{InvalidPath, MAX_PATH_BYTES, MemberPath, PathFault, escape};
pub use crate::ra::{AnyArray, DecodeError, ElementType, RawArray};
