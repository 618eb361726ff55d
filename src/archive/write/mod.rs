//! Writing archives: deterministic, each byte read once and hashed as it is written.

mod copy;
mod ordered;
mod positional;
mod streamed;

use std::path::Path;

use self::streamed::TarStream;
use super::stream::StreamCompression;
use super::tar::{self, EntryKind, NewEntry};
use super::zip::write::ZipLayout;
use super::zip::{self};
use super::{Container, MemberKind, Method};
use crate::digest::{Algorithm, Digests};
use crate::error::{Error, Result};
use crate::fs::{File, PendingFile, Stamp};
use crate::path::MemberPath;

/// How members of a zip are packed, and how hard a compressed tar is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Members of a zip as they are; a compressed tar at its format's usual level.
    #[default]
    Stored,
    /// Deflate; the level is 2 to 9.
    Deflate {
        /// The level, or the usual 6.
        level: Option<u32>,
    },
    /// Zstandard; the level is 1 to 19.
    Zstd {
        /// The level, or the usual 3.
        level: Option<i32>,
    },
}

/// A member to be written.
#[derive(Debug, Clone)]
pub(crate) struct NewMember {
    pub(crate) path: MemberPath,
    /// A file or a directory.
    pub(crate) kind: MemberKind,
    pub(crate) size: u64,
    /// Seconds since 1970 UTC.
    pub(crate) modified: u64,
    /// The byte of the content that is to be aligned when it is stored.
    pub(crate) align_at: Option<u64>,
}

/// Where the content of a member comes from.
pub(crate) enum Content<'a> {
    /// A file, and what it looked like when it was decided to write it.
    File(File, Stamp),
    /// Bytes that were made for the archive.
    Bytes(&'a [u8]),
}

/// The content of each member by its number; never asked for a directory's.
pub(crate) type Source<'a> = dyn Fn(usize) -> Result<Content<'a>> + Sync + 'a;

/// What is to be written.
#[derive(Clone, Copy)]
pub(crate) struct NewMembers<'a, 's> {
    /// The members in their order.
    pub(crate) members: &'a [NewMember],
    pub(crate) source: &'a Source<'s>,
    /// What each is hashed by while it is read.
    pub(crate) algorithms: &'a [Algorithm],
}

/// What was written of a member.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) digests: Digests,
    pub(super) crc: u32,
    pub(super) packed_size: u64,
    pub(super) method: Method,
    /// Where its header begins.
    pub(super) at: u64,
}

impl Written {
    /// A stored member as it will be, but for its digests and checksum.
    pub(super) fn planned(member: &NewMember, at: u64) -> Self {
        Self {
            digests: Digests::default(),
            crc: 0,
            packed_size: member.size,
            method: Method::Stored,
            at,
        }
    }
}

/// Writes one archive into a file that has no name yet.
pub(crate) struct ArchiveWriter<'a> {
    pending: &'a PendingFile,
    target: &'a Path,
    jobs: usize,
    /// Where the next member begins.
    at: u64,
    format: Format,
}

enum Format {
    Zip { layout: ZipLayout, compression: Compression },
    Tar,
    Stream(TarStream),
}

impl<'a> ArchiveWriter<'a> {
    /// Begins an archive.
    pub(crate) fn new(
        container: Container,
        compression: Compression,
        pending: &'a PendingFile,
        target: &'a Path,
        jobs: usize,
    ) -> Result<Self> {
        let stream = |kind, level| {
            TarStream::new(pending.file().try_clone()?, kind, level, jobs).map(Format::Stream)
        };
        let format = match (container, compression) {
            (Container::Zip, compression) => {
                Format::Zip { layout: ZipLayout::default(), compression }
            }
            (Container::Tar, Compression::Stored) => Format::Tar,
            (Container::TarGz, Compression::Stored) => stream(StreamCompression::Gzip, None)?,
            (Container::TarGz, Compression::Deflate { level }) => {
                stream(StreamCompression::Gzip, level.and_then(|level| i32::try_from(level).ok()))?
            }
            (Container::TarZst, Compression::Stored) => stream(StreamCompression::Zstd, None)?,
            (Container::TarZst, Compression::Zstd { level }) => {
                stream(StreamCompression::Zstd, level)?
            }
            (container, _) => {
                return Err(Error::Unsupported(format!(
                    "a {container} cannot be compressed in this way; a tar is compressed as a whole \
                     by its extension, .tar.gz (deflate) or .tar.zst (zstd)"
                )));
            }
        };
        Ok(Self { pending, target, jobs, at: 0, format })
    }

    /// Writes the members in their order and gives the digests of each.
    pub(crate) fn write(&mut self, new: NewMembers<'_, '_>) -> Result<Vec<Digests>> {
        let members = new.members;
        let file = self.pending.file();
        let written = match &mut self.format {
            Format::Zip { layout, compression: Compression::Stored } => {
                let headers = positional::Headers::Zip;
                let written = positional::write(file, self.jobs, self.at, new, headers)?;
                layout.add(members, &written);
                written
            }
            Format::Zip { layout, compression } => {
                let written =
                    ordered::write(file, self.target, self.jobs, self.at, *compression, new)?;
                layout.add(members, &written);
                written
            }
            Format::Tar => {
                let headers = positional::Headers::Tar;
                positional::write(file, self.jobs, self.at, new, headers)?
            }
            Format::Stream(stream) => return stream.write(new),
        };
        if let (Some(last), Some(member)) = (written.last(), members.last()) {
            self.at = match &self.format {
                Format::Zip { .. } => zip::write::end_of(member, last),
                _ => positional::end_of_tar(member, last.at)?,
            };
        }
        Ok(written.into_iter().map(|written| written.digests).collect())
    }

    /// Writes one member whose content is in memory.
    pub(crate) fn write_bytes(&mut self, member: &NewMember, content: &[u8]) -> Result<()> {
        let crc = crc32fast::hash(content);
        let mut written = Written { crc, ..Written::planned(member, self.at) };
        let mut bytes = Vec::new();
        match &mut self.format {
            Format::Stream(stream) => return stream.write_bytes(member, content),
            Format::Tar => {
                bytes = tar_header(member)?;
                bytes.extend_from_slice(content);
                let padding = usize::try_from(tar::padding_after(member.size)).unwrap_or(0);
                bytes.resize(bytes.len().saturating_add(padding), 0);
                self.at = positional::end_of_tar(member, self.at)?;
            }
            Format::Zip { layout, compression } => {
                let packed = ordered::pack(*compression, content)
                    .map_err(Error::io("compress for", self.target))?;
                let mut content = content;
                if let Some((method, bytes)) = &packed {
                    content = bytes;
                    written.method = *method;
                    written.packed_size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                }
                zip::write::header(&mut bytes, member, &written);
                bytes.extend_from_slice(content);
                self.at = zip::write::end_of(member, &written);
                layout.add(std::slice::from_ref(member), std::slice::from_ref(&written));
            }
        }
        self.pending.file().write_all_at(&bytes, written.at)
    }

    /// Writes what ends the archive, and reads back what can be checked against it.
    pub(crate) fn finish(self) -> Result<()> {
        let file = self.pending.file();
        match self.format {
            Format::Zip { layout, .. } => {
                let end = layout.finish(file, self.at)?;
                self.pending.set_len(end)?;
                zip::read_back::check(&file.try_clone()?, &layout, self.at)
            }
            Format::Tar => {
                file.write_all_at(&tar::end_mark(), self.at)?;
                let length = u64::try_from(tar::end_mark().len()).unwrap_or(0);
                self.pending.set_len(self.at.saturating_add(length))
            }
            Format::Stream(stream) => stream.finish(),
        }
    }
}

/// The tar header of a member.
fn tar_header(member: &NewMember) -> Result<Vec<u8>> {
    let directory = member.kind == MemberKind::Directory;
    let entry = NewEntry {
        path: member.path.as_str(),
        kind: if directory { EntryKind::Directory } else { EntryKind::File },
        size: member.size,
        mtime: member.modified,
        mode: if directory { 0o755 } else { 0o644 },
    };
    tar::entry_header(&entry)
        .map_err(|error| Error::Unsupported(format!("`{}`: {error}", member.path)))
}
