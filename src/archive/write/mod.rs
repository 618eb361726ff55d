//! Writing archives: deterministic, each byte read once and hashed as it is written.

mod copy;
mod helpers;
mod ordered;
mod packer;
mod positional;
mod streamed;
mod turns;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

pub(crate) use self::copy::Hashing;
use self::packer::Packer;
pub(crate) use self::positional::{Buffers, RunMember, StoredMembers};
use self::streamed::TarStream;
use super::stream::StreamCompression;
use super::tar::{self, EntryKind, NewEntry};
use super::zip::write::{Record, ZipLayout};
use super::zip::{self};
use super::{Container, MemberKind};
use crate::digest::{Algorithm, Digests};
use crate::error::{Error, Result};
use crate::fs::{File, PendingFile, Stamp};
use crate::path::escape;

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
pub(crate) struct NewMember<'a> {
    /// Its name, which has the form of a [`MemberPath`](crate::MemberPath).
    pub(crate) path: Cow<'a, str>,
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

/// Each member by its number: a list of hundreds of thousands would take as much room as all that is known of
/// them.
pub(crate) type MemberAt<'a, 'm> = dyn Fn(usize) -> Option<NewMember<'m>> + Sync + 'a;

/// What is to be written.
#[derive(Clone, Copy)]
pub(crate) struct NewMembers<'a, 's, 'm> {
    /// How many members there are.
    pub(crate) count: usize,
    /// The members in their order.
    pub(crate) member: &'a MemberAt<'a, 'm>,
    pub(crate) source: &'a Source<'s>,
    /// What each is hashed by while it is read.
    pub(crate) algorithms: &'a [Algorithm],
}

impl<'m> NewMembers<'_, '_, 'm> {
    /// The members of a range, with their numbers.
    fn of(&self, range: Range<usize>) -> impl Iterator<Item = (usize, NewMember<'m>)> {
        let member = self.member;
        range.filter_map(move |index| Some((index, member(index)?)))
    }

    fn all(&self) -> impl Iterator<Item = NewMember<'m>> {
        self.of(0..self.count).map(|(_, member)| member)
    }
}

/// What was written of a member.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) digests: Digests,
    pub(super) record: Record,
}

/// Where a stored member lies, and what was written of it.
#[derive(Debug)]
pub(crate) struct Placed {
    /// Where its header begins.
    pub(crate) at: u64,
    pub(crate) crc: u32,
    pub(crate) digests: Digests,
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

    /// What writes the members as they come from several jobs, when they are stored as they are; what was
    /// written so is told to [`Self::add_stored`] in its order.
    pub(crate) fn stored<'s>(&self, algorithms: &'s [Algorithm]) -> Option<StoredMembers<'s>>
    where
        'a: 's,
    {
        let headers = match self.format {
            Format::Zip { compression: Compression::Stored, .. } => positional::Headers::Zip,
            Format::Tar => positional::Headers::Tar,
            _ => return None,
        };
        Some(StoredMembers::new(self.pending.file(), headers, self.at, algorithms))
    }

    /// Takes note of stored members, with which the archive goes on to `end`.
    pub(crate) fn add_stored<'m, 'p>(
        &mut self,
        members: impl Iterator<Item = (NewMember<'m>, &'p Placed)>,
        stored: &StoredMembers<'_>,
    ) {
        if let Format::Zip { layout, .. } = &mut self.format {
            for (member, placed) in members {
                layout.add(&member, &Record::stored(&member, placed.at, placed.crc));
            }
        }
        self.at = stored.end();
    }

    /// Writes the members in their order and gives the digests of each.
    pub(crate) fn write(&mut self, new: NewMembers<'_, '_, '_>) -> Result<Vec<Digests>> {
        if let Some(stored) = self.stored(new.algorithms) {
            let placed = positional::write(&stored, self.jobs, new)?;
            self.add_stored(new.all().zip(&placed), &stored);
            return Ok(placed.into_iter().map(|placed| placed.digests).collect());
        }
        let file = self.pending.file();
        match &mut self.format {
            Format::Stream(stream) => stream.write(new),
            Format::Zip { layout, compression } => {
                let (written, end) =
                    ordered::write(file, self.target, self.jobs, self.at, *compression, new)?;
                self.at = end;
                let mut digests = Vec::with_capacity(new.count);
                for (member, written) in new.all().zip(written.into_iter().flatten()) {
                    layout.add(&member, &written.record);
                    digests.push(written.digests);
                }
                Ok(digests)
            }
            // It is written as it is.
            Format::Tar => Ok(Vec::new()),
        }
    }

    /// Writes one member whose content is in memory.
    pub(crate) fn write_bytes(&mut self, member: &NewMember<'_>, content: &[u8]) -> Result<()> {
        let crc = crc32fast::hash(content);
        let mut record = Record::stored(member, self.at, crc);
        let file = self.pending.file();
        match &mut self.format {
            Format::Stream(stream) => stream.write_bytes(member, content),
            Format::Tar => {
                let header = tar_header(member)?;
                self.at = positional::end_of_tar(member, self.at)?;
                let padding = usize::try_from(tar::padding_after(member.size)).unwrap_or(0);
                write_pieces(file, record.at, &[&header, content, &vec![0; padding]])
            }
            Format::Zip { layout, compression } => {
                let packed = Packer::new(*compression)
                    .pack(content)
                    .map_err(Error::io("compress for", self.target))?;
                let mut content = content;
                if let Some((method, bytes)) = &packed {
                    content = bytes;
                    record.method = *method;
                    record.packed_size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                }
                let mut header = Vec::new();
                zip::write::header(&mut header, member, &record);
                self.at = zip::write::end_of(member, &record);
                layout.add(member, &record);
                write_pieces(file, record.at, &[&header, content])
            }
        }
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

/// Writes pieces one behind the other: a manifest is long, and need not be copied to stand behind its header.
fn write_pieces(file: &File, mut at: u64, pieces: &[&[u8]]) -> Result<()> {
    for piece in pieces {
        file.write_all_at(piece, at)?;
        at = at.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// The tar header of a member.
fn tar_header(member: &NewMember<'_>) -> Result<Vec<u8>> {
    let directory = member.kind == MemberKind::Directory;
    let entry = NewEntry {
        path: &member.path,
        kind: if directory { EntryKind::Directory } else { EntryKind::File },
        size: member.size,
        mtime: member.modified,
        mode: if directory { 0o755 } else { 0o644 },
    };
    tar::entry_header(&entry)
        .map_err(|error| Error::Unsupported(format!("`{}`: {error}", escape(&member.path))))
}
