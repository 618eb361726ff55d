//! Options for verification.

use std::collections::HashMap;
use std::path::PathBuf;

use super::shard::Shard;
use crate::archive::Archive;
use crate::digest::{Algorithm, Digest};
use crate::fs;
use crate::pack::EXTERNAL_MANIFEST_SUFFIX;
use crate::progress::Progress;
use crate::read::manifests::{self, beside_archive};
#[cfg(feature = "signatures")]
use crate::signature::TrustedKeys;

/// Options for [`verify`](super::verify()): how much to read, and where the manifest is.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// Whether to read only headers and descriptions. Digests are not checked, so damaged data is not found.
    pub fast: bool,
    /// Whether to compute the digest of every whole file. By default it is not computed for a file that block digests
    /// prove.
    pub full: bool,
    /// Whether to check only the container, names and digests, without headers and descriptions.
    pub only_manifests: bool,
    /// Whether to treat warnings and extension words in descriptions as errors.
    pub strict: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// The shard of the contents that is read; everything if `None`. A file belongs to one shard; a large file that block
    /// digests prove is divided by its blocks. The structure, headers and descriptions of the whole pack are checked in
    /// every shard. The digest of the archive file itself is checked in none, and neither is the CRC-32 of a divided
    /// file.
    pub shard: Option<Shard>,
    /// Path of a manifest that is not next to the archive.
    pub manifest: Option<PathBuf>,
    /// Keys that must have signed the manifest, and authorities that must have stated when it existed.
    #[cfg(feature = "signatures")]
    pub trusted: Option<TrustedKeys>,
    /// URL of an object of S3 whose length and checksum must be those of the target, such as `s3://bucket/exp.zip`. If it
    /// ends in `/`, the name of the target is appended. The target must be a file, and is read once more for this.
    #[cfg(feature = "remote")]
    pub store: Option<String>,
    /// Large files that were read before, as [`Pack::read_share`](crate::Pack::read_share) returns them.
    #[doc(hidden)]
    pub known: KnownFiles,
    /// The text of a manifest outside the pack that is not in a file.
    #[doc(hidden)]
    pub manifest_text: Option<Vec<u8>>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// Large files without a fault, by their names in the container: their digests, or none for a file that its block
/// digests prove.
#[doc(hidden)]
pub type KnownFiles = HashMap<String, Vec<Digest>>;

impl VerifyOptions {
    /// Returns the manifest outside the pack, if there is one: at the given path, or next to the archive.
    pub(super) fn outside_manifest(&self, archive: &Archive) -> Option<(PathBuf, Algorithm)> {
        let path = self.manifest_path(archive)?;
        if self.manifest.is_none() && !fs::exists(&path) {
            return None;
        }
        let algorithm = manifests::algorithm_of(&path);
        Some((path, algorithm))
    }

    pub(super) fn manifest_path(&self, archive: &Archive) -> Option<PathBuf> {
        let beside = || beside_archive(archive, EXTERNAL_MANIFEST_SUFFIX);
        self.manifest.clone().or_else(beside)
    }
}
