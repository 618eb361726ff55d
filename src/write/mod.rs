//! Archives from directories or from memory, extraction, and manifests.

pub(crate) mod create;
pub(crate) mod extract;
pub(crate) mod make_manifest;
pub(crate) mod plain_arrays;
pub(crate) mod survey;
pub(crate) mod writer;

pub use self::create::{CreateOptions, CreateReport, create};
pub use self::extract::{ExtractOptions, ExtractReport, extract};
pub use self::make_manifest::{ManifestOptions, ManifestReport, manifest_of, write_manifest};
pub use self::writer::{ArrayStream, NewArray, PackWriter, WriteOptions};
pub use crate::pack::{FORMAT_VERSION, Layout};
