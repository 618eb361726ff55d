//! Archives from directories or from memory, extraction, and manifests.

pub(crate) mod companions;
pub(crate) mod create;
pub(crate) mod extract;
pub(crate) mod make_manifest;
pub(crate) mod plain_arrays;
pub(crate) mod salvage;
pub(crate) mod survey;
pub(crate) mod writer;

pub use self::create::{
    CreateOptions, CreateReport, JournalOptions, ShardReport, create, create_shard, create_to,
    join_shards,
};
pub use self::extract::{ExtractOptions, ExtractReport, extract};
pub use self::make_manifest::{ManifestOptions, ManifestReport, manifest_of, write_manifest};
pub use self::salvage::{SalvageOptions, SalvageReport, salvage};
pub use self::writer::{ArrayStream, NewArray, PackWriter, WriteOptions};
pub use crate::pack::Layout;

use std::path::PathBuf;

use crate::error::Error;
use crate::pack;

/// The version of the pack format that is written, as `docs/spec/pack.md` specifies it.
pub const FORMAT_VERSION: &str = pack::FORMAT_VERSION;

impl Error {
    /// Replaces the path in the error.
    #[must_use]
    pub(crate) fn with_path(mut self, place: impl Fn(PathBuf) -> PathBuf) -> Self {
        if let Self::Io { path, .. }
        | Self::AlreadyExists { path }
        | Self::Changed { path, .. }
        | Self::Damaged { archive: path, .. }
        | Self::Refused { path, .. } = &mut self
        {
            *path = place(std::mem::take(path));
        }
        self
    }
}
