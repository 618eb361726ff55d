//! The report of a verification.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

use super::{ProvedByBlocks, Shard, StoreWord, VerifyOptions};
use crate::archive::Container;
use crate::clock::Instant;
use crate::digest::Digest;
use crate::error::Error;
use crate::finding::{self, Code, Finding, Severity, count_errors};
use crate::fs::{self, Version, target_name};
use crate::message::Message;
use crate::pack::{self, Contents, Layout, MetadataCounts};
use crate::path::url::is_url;
use crate::read::manifests::parity_files;
use crate::signature::Signature;
use crate::time::Timestamp;
use crate::verify::bag::BagReport;

/// The outcome for one target, its problems, and counts of its files. `verify --json` prints one for each target, and a
/// log of audits consists of them.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerifyReport {
    /// Path of the archive or directory, as given. A URL has no user information, and the digest of its query. As text,
    /// bytes that are not UTF-8 are written as `\xFF`, and `\x` as `\x5Cx`.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub target: PathBuf,
    /// The outcome.
    pub verdict: Verdict,
    /// The exit status of `ra-pack verify` for this target alone: 0 valid, 1 errors in the data, 2 not verified because
    /// it cannot be read.
    pub exit_status: u8,
    /// Why the target could not be verified; absent if it could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TargetError>,
    /// Time when the verification began: UTC, as in RFC 3339.
    #[cfg_attr(test, schemars(with = "String"))]
    pub started: Timestamp,
    /// Duration of the verification in seconds.
    pub seconds: f64,
    /// Version of ra-pack.
    pub version: String,
    /// Name of the machine; null if it is not known.
    pub host: Option<String>,
    /// The shard of the contents that were read, such as `2/8`; null if all were.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub shard: Option<Shard>,
    /// Bytes per block if large files were divided between the shards by their block digests; absent if each file
    /// belongs to one shard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard_block_size: Option<u64>,
    /// Size of the archive file in bytes; null for a directory, and if it cannot be opened.
    pub archive_bytes: Option<u64>,
    /// Modification time of the archive file; null for a directory, and if it cannot be opened.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub modified: Option<Timestamp>,
    /// Entity tag of an archive at a URL, which the server changes with its content; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e_tag: Option<String>,
    /// SHA-256 of the strongest manifest that the files were checked against, the one in the pack if there is one;
    /// null if there is none.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub manifest_digest: Option<Digest>,
    /// The container of the target; absent for an array file, and if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// The layout of the pack.
    pub layout: Layout,
    /// The checks of RFC 8493, section 3; absent if the target is not a bag. They ignore arrays and descriptions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bag: Option<BagReport>,
    /// Name of the metadata file of an RO-Crate at the root of the pack or of a bag's payload; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ro_crate: Option<String>,
    /// Whether every byte of every file, or of those in the shard, was hashed and checked against a manifest, or against
    /// block digests that the manifest confirms.
    pub contents_read: bool,
    /// Number of files.
    pub files: u64,
    /// Number of files that are arrays.
    pub arrays: u64,
    /// Size of all files in bytes.
    pub bytes: u64,
    /// Manifests that the files were checked against: names in the target, or paths outside it.
    pub manifests: Vec<String>,
    /// Signatures and time-stamps of the manifests. Those for which keys were given are checked.
    pub signatures: Vec<Signature>,
    /// Files next to the archive from which PAR2 can repair it; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parity: Vec<String>,
    /// The comparison with an object in a store; absent if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreWord>,
    /// Files that were compared with the digests of their blocks instead of the digest of the whole file; absent if there
    /// are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<ProvedByBlocks>,
    /// Files that are intact; absent if contents were not read, or there is no manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intact: Option<Intact>,
    /// Number of arrays without units or names; absent if descriptions were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<MetadataCounts>,
    /// Errors and warnings, in the order of the members. The target is valid if none is an error.
    pub findings: Vec<Finding>,
}

/// The outcome of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// No errors, and every byte agrees with a manifest.
    #[default]
    Valid,
    /// No errors, but the contents were not read.
    ContentsNotRead,
    /// There are errors.
    NotValid,
    /// No errors except that there is no manifest to check the contents against.
    NotVerified,
    /// The target could not be read.
    Unreadable,
}

impl Verdict {
    /// Returns the outcome of a verification that found these problems.
    pub fn of(findings: &[Finding], contents_read: bool) -> Self {
        let errors = findings.iter().filter(|finding| finding.is_error());
        let (unknown, other) = errors.partition::<Vec<_>, _>(|it| it.code == Code::NoManifest);
        match (unknown.is_empty(), other.is_empty()) {
            (_, false) => Self::NotValid,
            (false, true) => Self::NotVerified,
            (true, true) if contents_read => Self::Valid,
            (true, true) => Self::ContentsNotRead,
        }
    }

    /// Returns whether there are no errors.
    pub fn is_valid(self) -> bool {
        matches!(self, Self::Valid | Self::ContentsNotRead)
    }

    fn exit_status(self) -> u8 {
        match self {
            Self::Valid | Self::ContentsNotRead => 0,
            Self::NotValid | Self::NotVerified => 1,
            Self::Unreadable => 2,
        }
    }
}

/// The reason why a target could not be verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TargetError {
    /// The kind of the reason.
    pub kind: TargetErrorKind,
    /// The complete message. Its wording may change between versions.
    pub message: Message,
}

/// The kind of reason why a target could not be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TargetErrorKind {
    /// The target does not exist.
    Missing,
    /// The user may not read the target.
    PermissionDenied,
    /// Another system error.
    Io,
    /// The target is another kind of file.
    NotAPack,
    /// The target changed while it was read.
    Changed,
    /// The request is not possible for this target.
    Unsupported,
    /// Another error.
    Other,
}

impl TargetErrorKind {
    fn of(error: &Error) -> Self {
        match error {
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
                io::ErrorKind::PermissionDenied => Self::PermissionDenied,
                _ => Self::Io,
            },
            Error::NotAPack { .. } | Error::NotAnArray { .. } => Self::NotAPack,
            Error::Changed { .. } => Self::Changed,
            Error::Options(_)
            | Error::WrongTarget { .. }
            | Error::Unsupported(_)
            | Error::Limit(_) => Self::Unsupported,
            _ => Self::Other,
        }
    }
}

/// The time when a verification began, for its report and for its duration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    time: Timestamp,
    instant: Instant,
}

impl Start {
    pub(super) fn now() -> Self {
        Self { time: Timestamp::now(), instant: Instant::now() }
    }
}

impl VerifyReport {
    /// Makes an empty report.
    pub(super) fn begin(target: &Path, options: &VerifyOptions, start: Start) -> Self {
        let parity = if is_url(target) { Vec::new() } else { parity_files(target) };
        Self {
            parity: parity.iter().map(|path| target_name(path)).collect(),
            target: if is_url(target) { target_name(target).into() } else { target.to_owned() },
            started: start.time,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: fs::host_name(),
            shard: options.shard.filter(|shard| *shard != Shard::WHOLE),
            ..Self::default()
        }
    }

    /// Makes the report about a target whose verification ended without a report, for example because the system killed
    /// its process.
    pub fn without_result(target: impl AsRef<Path>, error: &Error) -> Self {
        Self::failed(target.as_ref(), &VerifyOptions::default(), Start::now(), error)
    }

    /// Makes the report about a target that could not be verified.
    pub(super) fn failed(
        target: &Path,
        options: &VerifyOptions,
        start: Start,
        error: &Error,
    ) -> Self {
        let mut report = Self::begin(target, options, start);
        report.error =
            Some(TargetError { kind: TargetErrorKind::of(error), message: error.message() });
        report.verdict = Verdict::Unreadable;
        report.exit_status = report.verdict.exit_status();
        report.seconds = start.instant.elapsed().as_secs_f64();
        report
    }

    pub(super) fn note_version(&mut self, version: Version) {
        Version { length: self.archive_bytes, modified: self.modified, e_tag: self.e_tag } =
            version;
    }

    /// Returns the version of the target that was noted.
    #[cfg(feature = "remote")]
    pub(super) fn noted_version(&self) -> Version {
        Version { length: self.archive_bytes, modified: self.modified, e_tag: self.e_tag.clone() }
    }

    /// Completes the report after all checks.
    pub(super) fn finish(mut self, options: &VerifyOptions, start: Start) -> Self {
        if options.strict {
            for finding in &mut self.findings {
                finding.severity = Severity::Error;
            }
        }
        finding::sort(&mut self.findings);
        finding::cut(&mut self.findings);
        self.conclude(start);
        self
    }

    /// Notes the outcome and the duration.
    pub(super) fn conclude(&mut self, start: Start) {
        self.verdict = Verdict::of(&self.findings, self.contents_read);
        self.exit_status = self.verdict.exit_status();
        self.seconds = start.instant.elapsed().as_secs_f64();
    }

    /// Returns whether the target was read and has no error. Warnings do not count.
    pub fn is_valid(&self) -> bool {
        self.error.is_none() && count_errors(&self.findings) == 0
    }
}

fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&target_name(path))
}

/// Files that agree with a manifest and have no error. They can be used even if the pack is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Intact {
    /// Number of files, including descriptions and manifests.
    pub files: u64,
    /// Number of arrays among them whose header and description are also valid.
    pub arrays: u64,
    /// Size of these files in bytes.
    pub bytes: u64,
}

impl Intact {
    /// Counts the files without an error, which are `all` if there is no error. `files` are given by the names that
    /// findings use. Their contents must have been read and checked against complete manifests.
    pub(super) fn count<'a>(
        all: Self,
        files: impl Iterator<Item = (&'a str, u64)>,
        contents: &Contents,
        findings: &[Finding],
    ) -> Self {
        let errors = || findings.iter().filter(|finding| finding.is_error());
        if errors().next().is_none() {
            return all;
        }
        let files_with_errors: HashSet<&str> =
            errors().filter_map(|finding| finding.member.as_deref()).collect();
        let arrays_with_errors: HashSet<&str> =
            errors().filter_map(|finding| finding.array.as_deref()).collect();
        let mut intact = Self::default();
        for (name, size) in files.filter(|(name, _)| !files_with_errors.contains(name)) {
            let is_intact = pack::is_array(name)
                && contents.is_array(name)
                && !arrays_with_errors.contains(name);
            intact.files += 1;
            intact.arrays += u64::from(is_intact);
            intact.bytes = intact.bytes.saturating_add(size);
        }
        intact
    }
}
