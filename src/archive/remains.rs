//! The remains of a damaged archive: every file whose header is found, without a claim that its content is intact.

use std::path::Path;
use std::sync::Arc;

use super::stream::StreamCompression;
use super::tarball::Tarball;
use super::zip::{ZipArchive, each_remaining};
use super::{Container, Take};
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::finding::Finding;
use crate::fs::{File, UNFINISHED_SUFFIX};
use crate::progress::Progress;

/// An archive that may be damaged.
#[derive(Debug)]
pub(crate) enum Remains {
    /// A zip, and its end record or the problem with it.
    Zip(Arc<File>, Result<Box<ZipArchive>, Box<Finding>>),
    Tar(Tarball),
}

impl Remains {
    /// Opens a file. Its first bytes tell the container, or else its name, because the beginning may be damaged.
    pub(crate) fn open(path: &Path, progress: &Progress) -> Result<Self> {
        let file = File::open_watched(path, progress)?;
        let kind = file.kind()?;
        let name = path.to_string_lossy();
        let name = name.strip_suffix(UNFINISHED_SUFFIX).unwrap_or(&name);
        let named = Container::from_extension(Path::new(name));
        let compression = match (kind, named) {
            (FileKind::Zip | FileKind::Npz, _) => None,
            (FileKind::Tar | FileKind::Gzip | FileKind::Zstd, _) => {
                Some(StreamCompression::of(kind))
            }
            (kind, Some(named)) if !kind.is_of_another_format() => {
                StreamCompression::of_container(named)
            }
            (kind, _) => return Err(Error::NotAPack { path: path.to_owned(), kind }),
        };
        if let Some(compression) = compression {
            return Ok(Self::Tar(Tarball::open(file, compression)?));
        }
        let zip = match ZipArchive::open(File::open_watched(path, progress)?) {
            Err(Error::Damaged { finding, .. }) => Err(finding),
            zip => Ok(Box::new(zip?)),
        };
        Ok(Self::Zip(Arc::new(file), zip))
    }

    /// Returns the length of the archive in bytes.
    pub(crate) fn len(&self) -> Result<u64> {
        match self {
            Self::Zip(file, _) => file.len(),
            Self::Tar(tarball) => tarball.file().len(),
        }
    }

    /// Visits every file that is found, some of them more than once. Returns the problems on the way.
    pub(crate) fn each(&self, take: &mut Take<'_>) -> Result<Vec<Finding>> {
        match self {
            Self::Zip(file, Ok(zip)) => each_remaining(file, Some(zip), take),
            Self::Zip(file, Err(finding)) => {
                let mut findings = each_remaining(file, None, take)?;
                findings.push((**finding).clone());
                Ok(findings)
            }
            Self::Tar(tarball) => tarball.each_remaining(take),
        }
    }
}
