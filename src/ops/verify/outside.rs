//! What lies beside an archive and speaks of it: the manifest, its signatures, the digest of the archive.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use super::super::manifests::{self, beside};
use super::super::signatures;
use super::VerifyOptions;
use crate::archive::{Archive, Container};
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, File};
use crate::manifest::{Manifest, NameEncoding};
use crate::pack::{self, ARCHIVE_DIGEST_SUFFIX, EXTERNAL_MANIFEST_SUFFIX};

/// An archive and what lies beside it.
#[derive(Clone, Copy)]
pub(super) struct Outside<'a> {
    pub(super) archive: &'a Archive,
    pub(super) options: &'a VerifyOptions,
    /// The manifest that the caller named, when it came through a pipe.
    pub(super) piped: Option<&'a [u8]>,
}

impl Outside<'_> {
    /// The manifest outside, if there is one: where the caller says, or beside the archive.
    pub(super) fn manifest(&self) -> Option<(PathBuf, Algorithm)> {
        let path = self.manifest_path();
        if self.options.manifest.is_none() && !fs::exists(&path) {
            return None;
        }
        let algorithm = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.find("manifest-").and_then(|at| name.get(at..)))
            .and_then(pack::manifest_algorithm)
            .unwrap_or(Algorithm::Sha256);
        Some((path, algorithm))
    }

    /// Whether the manifest outside, which is at `path`, holds what `is_it` sees in it.
    pub(super) fn is_manifest_of(
        &self,
        path: &Path,
        is_it: impl FnOnce(&mut dyn BufRead) -> io::Result<bool>,
    ) -> Result<bool> {
        match self.piped {
            Some(mut text) => is_it(&mut text).map_err(Error::io("read", path)),
            None => fs::is_file_of(path, is_it),
        }
    }

    fn manifest_path(&self) -> PathBuf {
        let beside = || beside(self.archive.path(), EXTERNAL_MANIFEST_SUFFIX);
        self.options.manifest.clone().unwrap_or_else(beside)
    }

    /// The signatures in the pack, of whose files these are the names, and outside. One of a file that is not there
    /// is a finding instead: it signs nothing.
    pub(super) fn signatures<'n>(
        &self,
        names: &(impl Iterator<Item = &'n str> + Clone),
        findings: &mut Vec<Finding>,
    ) -> Vec<String> {
        let manifest = self.manifest_path();
        let is_there = fs::exists(&manifest);
        let outside = signatures::of(&manifest).into_iter();
        let outside = outside.map(|path| (path.to_string_lossy().into_owned(), is_there));
        let inside = names.clone().filter_map(|name| {
            let signed = pack::signed_by(name)?;
            Some((name.to_owned(), names.clone().any(|name| name == signed)))
        });
        let (of_files, of_nothing): (Vec<_>, Vec<_>) =
            inside.chain(outside).partition(|(_, is_there)| *is_there);
        findings.extend(of_nothing.into_iter().map(|(name, _)| {
            Finding::new(Code::OddContainer, "the signature is of a manifest that is not there")
                .in_member(name)
                .hint("take the manifest from another copy, or delete the signature")
        }));
        of_files.into_iter().map(|(name, _)| name).collect()
    }

    /// Holds the whole archive against its digest, if there is one.
    pub(super) fn check_archive_digest(&self, findings: &mut Vec<Finding>) -> Result<()> {
        if self.archive.container() == Container::Directory || self.options.fast {
            return Ok(());
        }
        let path = beside(self.archive.path(), ARCHIVE_DIGEST_SUFFIX);
        let Some(text) = manifests::read_beside(&path)? else { return Ok(()) };
        let name = path.to_string_lossy();
        let (manifest, faults) = Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, &text);
        findings.extend(faults.iter().map(|fault| manifests::fault_finding(&name, fault)));
        let Some(entry) = manifest.entries().first() else { return Ok(()) };
        let found = {
            let file = File::open(self.archive.path())?;
            manifests::digest_file(&file, &file.path().to_string_lossy(), &self.options.progress)?
        };
        if found != entry.digest {
            findings.push(
                Finding::new(
                    Code::ArchiveDigestMismatch,
                    format!("the archive differs from what `{name}` says"),
                )
                .expected(entry.digest.to_string(), found.to_string())
                .hint("take both from another copy; one of the two was changed or damaged"),
            );
        }
        Ok(())
    }
}
