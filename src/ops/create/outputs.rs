//! The files that one run writes: the archive and what vouches for it, each under a temporary name until
//! all of them are whole.

use std::path::{Path, PathBuf};

use super::super::manifests::{beside, signatures_of};
use super::super::verify::{VerifyOptions, verify};
use super::CreateOptions;
use crate::error::{Error, Result};
use crate::finding::count_errors;
use crate::fs::{self, PendingFile, Turn};
use crate::pack::{ARCHIVE_DIGEST_SUFFIX, EXTERNAL_MANIFEST_SUFFIX};
use crate::path::{escape, escape_path};
use crate::progress::Progress;

/// The files that one run writes.
pub(super) struct Companions {
    pub(super) archive: PathBuf,
    pub(super) manifest: PathBuf,
    pub(super) digest: PathBuf,
}

impl Companions {
    pub(super) fn new(archive: &Path) -> Self {
        Self {
            archive: archive.to_owned(),
            manifest: beside(archive, EXTERNAL_MANIFEST_SUFFIX),
            digest: beside(archive, ARCHIVE_DIGEST_SUFFIX),
        }
    }

    /// Refuses files inside of the source that are not left out: the next run would pack them.
    pub(super) fn must_not_be_packed(&self, source: &Path, options: &CreateOptions) -> Result<()> {
        let Some(archive) = fs::name_below(source, &self.archive) else { return Ok(()) };
        let written = [
            (true, ""),
            (!options.no_external_manifest, EXTERNAL_MANIFEST_SUFFIX),
            (options.archive_digest, ARCHIVE_DIGEST_SUFFIX),
        ];
        let mut written = written.into_iter().filter(|(is_written, _)| *is_written);
        let packed =
            written.find(|(_, suffix)| !options.exclude.matches(&format!("{archive}{suffix}")));
        let Some((_, suffix)) = packed else { return Ok(()) };
        Err(Error::Unsupported(format!(
            "`{}{suffix}` would be inside of `{}`, and the next run would pack it; write it elsewhere, \
             or give the option `exclude: '{}*'`",
            escape_path(&self.archive),
            escape_path(source),
            escape(&archive),
        )))
    }
}

/// The files that one run writes, under their temporary names.
pub(super) struct Outputs {
    pub(super) archive: PendingFile,
    pub(super) manifest: Option<PendingFile>,
    pub(super) digest: Option<PendingFile>,
}

impl Outputs {
    /// Begins them all, so that one that is in the way is noticed before any work is done.
    pub(super) fn begin(companions: &Companions, options: &CreateOptions) -> Result<Self> {
        let begin = |path: &Path| PendingFile::create(path, options.force);
        let unwritten = [
            (options.no_external_manifest, &companions.manifest),
            (!options.archive_digest, &companions.digest),
        ];
        // `verify` would hold the new archive against what was written for another.
        if let Some((_, stale)) = unwritten.iter().find(|(is, path)| *is && fs::exists(path)) {
            return Err(Error::Unsupported(format!(
                "`{}` belongs to an earlier archive of this name; delete it, or have it replaced \
                 by the option `force` {}",
                escape_path(stale),
                if *stale == &companions.digest {
                    "and the option `archive_digest`"
                } else {
                    "without the option `no_external_manifest`"
                },
            )));
        }
        let archive = begin(&companions.archive)?;
        let mut stale = signatures_of(&companions.manifest).into_iter();
        if let Some(path) = stale.next().filter(|_| !options.force) {
            return Err(Error::AlreadyExists { path });
        }
        let manifest =
            (!options.no_external_manifest).then(|| begin(&companions.manifest)).transpose()?;
        let digest = options.archive_digest.then(|| begin(&companions.digest)).transpose()?;
        Ok(Self { archive, manifest, digest })
    }

    /// The temporary names, which may lie in the source.
    pub(super) fn temporaries(&self) -> impl Iterator<Item = &Path> {
        let files = [Some(&self.archive), self.manifest.as_ref(), self.digest.as_ref()];
        files.into_iter().flatten().filter_map(PendingFile::temporary)
    }

    /// Reads a bag back, every byte of it, before it gets its name: others will ask for what was written,
    /// not for what was meant to be.
    pub(super) fn check_bag(&self, jobs: usize, progress: &Progress) -> Result<()> {
        let Some(temporary) = self.archive.temporary() else { return Ok(()) };
        let options = VerifyOptions {
            jobs: Some(jobs),
            progress: progress.clone(),
            ..VerifyOptions::default()
        };
        let report = verify(temporary, &options)?;
        if report.bag.is_some_and(|bag| bag.valid) && count_errors(&report.findings) == 0 {
            return Ok(());
        }
        let first = report.findings.iter().find(|finding| finding.is_error());
        Err(Error::Unsupported(format!(
            "the bag that was written is not valid{}; nothing was kept. The disk or the memory of this \
             machine may be failing",
            first.map_or(String::new(), |finding| format!(": {finding}"))
        )))
    }

    /// Puts everything on the disk, then gives each file its name.
    ///
    /// No system renames three files in one step. Whatever stops this between two steps, `verify` must
    /// not hold one archive against what was written for another and call it damaged. So what lies
    /// beside the old archive goes first, then the archive takes its name, and what vouches for it
    /// comes last: an archive with nothing beside it is proved by the manifest in it.
    ///
    /// The turn among runs that do the same here goes on until it is dropped: until what vouches for the archive
    /// is complete.
    pub(super) fn persist(
        self,
        companions: &Companions,
        replace: bool,
        progress: &Progress,
    ) -> Result<Turn> {
        let files = [Some(self.archive), self.manifest, self.digest];
        for file in files.iter().flatten() {
            file.sync()?;
        }
        let turn = Turn::beside(&companions.archive, progress);
        if replace {
            // Another run may have signed its own meanwhile.
            for signature in signatures_of(&companions.manifest) {
                fs::remove(&signature)?;
            }
            fs::remove(&companions.digest)?;
            fs::remove(&companions.manifest)?;
        }
        for file in files.into_iter().flatten() {
            file.persist()?;
        }
        fs::sync_directory(&companions.archive)?;
        Ok(turn)
    }
}
