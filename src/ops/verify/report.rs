//! How to verify, and what was found.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::bag::BagReport;
use super::super::intact::Intact;
use crate::archive::Container;
use crate::finding::{Finding, count_errors};
use crate::pack::Layout;
use crate::progress::Progress;

/// How to verify.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// Read headers and descriptions only: digests are not checked, and nothing is proved about the data.
    pub fast: bool,
    /// Say nothing of what files say of themselves, which is headers and descriptions: only the container,
    /// names and digests are held against manifests.
    pub only_manifests: bool,
    /// Count warnings and extension words as errors.
    pub strict: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// A manifest that lies elsewhere than beside the archive.
    pub manifest: Option<PathBuf>,
    /// Who is told how far it is.
    pub progress: Progress,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyReport {
    /// The archive or directory.
    pub target: PathBuf,
    /// What it is; nothing when that could not be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// How the pack is laid out.
    pub layout: Layout,
    /// What it is as a bag, when it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bag: Option<BagReport>,
    /// The metadata file of an RO-Crate, when there is one at the root of the pack or its payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ro_crate: Option<String>,
    /// Whether every byte of every file was hashed and held against a manifest.
    pub contents_read: bool,
    /// Files.
    pub members: u64,
    /// Arrays among them.
    pub arrays: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Manifests that the files were held against.
    pub manifests: Vec<String>,
    /// Signatures of the manifests, beside the archive or in it. They are not checked: keys are the
    /// business of the program that made them.
    pub signatures: Vec<String>,
    /// What is still whole; nothing when contents were not read or no manifest vouches for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intact: Option<Intact>,
    /// Seconds that it took.
    pub seconds: f64,
    /// What is wrong; in the order of members.
    pub findings: Vec<Finding>,
}

impl VerifyReport {
    pub(super) fn new(target: &Path) -> Self {
        Self {
            target: target.to_owned(),
            container: None,
            layout: Layout::Plain,
            bag: None,
            ro_crate: None,
            contents_read: false,
            members: 0,
            arrays: 0,
            bytes: 0,
            manifests: Vec::new(),
            signatures: Vec::new(),
            intact: None,
            seconds: 0.0,
            findings: Vec::new(),
        }
    }

    /// Whether nothing is wrong; warnings do not count.
    pub fn is_sound(&self) -> bool {
        count_errors(&self.findings) == 0
    }
}
