//! Writing archives: deterministic, each byte read once and hashed as it is written.

mod copy;
mod helpers;
mod ordered;
mod packer;
mod positional;
mod side_by_side;
mod streamed;
mod turns;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use self::copy::Copied;
use self::packer::Packer;
pub(crate) use self::positional::{Buffers, LaterFile, RunMember, StoredMembers};
use self::streamed::TarStream;
use super::stream::StreamCompression;
use super::tar::{self, EntryKind, NewEntry};
pub(crate) use super::zip::write::Record;
use super::zip::write::ZipLayout;
use super::zip::{self};
use super::{Container, MemberKind};
use crate::digest::{Algorithm, Digests, Hashing};
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
    /// The same, made as they are written.
    Pieces(&'a Pieces<'a>),
}

/// Gives a content piece by piece.
pub(crate) type Pieces<'a> = dyn Fn(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + 'a;

/// Gives the records of members from the first one on.
pub(crate) type AllRecords<'a, 'm> = dyn Fn() -> Records<'a, 'm> + Sync + 'a;

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
#[derive(Debug)]
pub(super) struct WrittenMember {
    digests: Digests,
    record: Record,
}

/// What was written of members, in their order.
#[derive(Debug)]
pub(crate) struct Written(Members);

/// What each format needs to know later. What jobs gave is not copied into one list.
#[derive(Debug)]
enum Members {
    Zip(Vec<Vec<WrittenMember>>),
    Stored(Vec<Vec<Placed>>),
    Stream(Vec<Digests>),
}

impl Written {
    /// The digests of each member.
    pub(crate) fn digests(&self) -> Box<dyn Iterator<Item = &Digests> + '_> {
        match &self.0 {
            Members::Zip(written) => {
                Box::new(written.iter().flatten().map(|written| &written.digests))
            }
            Members::Stored(placed) => {
                Box::new(placed.iter().flatten().map(|placed| &placed.digests))
            }
            Members::Stream(digests) => Box::new(digests.iter()),
        }
    }

    /// What the directory of the archive says of the `members`, where it has one.
    pub(crate) fn records<'a, 'm: 'a>(
        &'a self,
        members: impl Iterator<Item = NewMember<'m>> + 'a,
    ) -> Records<'a, 'm> {
        match &self.0 {
            Members::Zip(written) => {
                let records = written.iter().flatten().map(|written| written.record);
                Box::new(members.zip(records))
            }
            Members::Stored(placed) => {
                Box::new(members.zip(placed.iter().flatten()).map(|(member, placed)| {
                    let record = placed.record(&member);
                    (member, record)
                }))
            }
            Members::Stream(_) => Box::new(std::iter::empty()),
        }
    }
}

/// Members, and what the directory of an archive says of each.
pub(crate) type Records<'a, 'm> = Box<dyn Iterator<Item = (NewMember<'m>, Record)> + 'a>;

/// Where a stored member lies, and what was written of it.
#[derive(Debug)]
pub(crate) struct Placed {
    /// Where its header begins.
    pub(crate) at: u64,
    pub(crate) crc: u32,
    pub(crate) digests: Digests,
}

impl Placed {
    /// What the directory of the archive says of the member.
    pub(crate) fn record(&self, member: &NewMember<'_>) -> Record {
        Record::stored(member, self.at, self.crc)
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

    /// What writes the members as they come from several jobs, when they are stored as they are.
    /// [`Self::go_on_behind`] has to be called once all have their places.
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

    /// Lets the archive go on behind members that were written so.
    pub(crate) fn go_on_behind(&mut self, stored: &StoredMembers<'_>) {
        self.at = stored.end();
    }

    /// Writes the members in their order; what was written has to be told to [`Self::finish`].
    pub(crate) fn write(&mut self, new: NewMembers<'_, '_, '_>) -> Result<Written> {
        if let Some(stored) = self.stored(new.algorithms) {
            let placed = positional::write(&stored, self.jobs, new)?;
            self.go_on_behind(&stored);
            return Ok(Written(Members::Stored(placed)));
        }
        let file = self.pending.file();
        Ok(Written(match &mut self.format {
            Format::Stream(stream) => Members::Stream(stream.write(new)?),
            Format::Zip { compression, .. } => {
                let (written, end) =
                    ordered::write(file, self.target, self.jobs, self.at, *compression, new)?;
                self.at = end;
                Members::Zip(written)
            }
            // It is written as it is.
            Format::Tar => Members::Stored(Vec::new()),
        }))
    }

    /// Writes a member that `content` gives piece by piece, and gives its digests. It has to be as long as
    /// `member` says.
    pub(crate) fn write_pieces(
        &mut self,
        member: &NewMember<'_>,
        algorithms: &[Algorithm],
        content: &Pieces<'_>,
    ) -> Result<Digests> {
        let placed = match self.stored(algorithms) {
            Some(stored) => {
                let content = Content::Pieces(content);
                let buffers = &mut Buffers::default();
                stored.write_later(member, self.at, content, Hashing::Here, buffers)?
            }
            None => {
                if let Format::Stream(stream) = &mut self.format {
                    let mut block = Vec::new();
                    return stream.write_member(
                        member,
                        Content::Pieces(content),
                        algorithms,
                        &mut block,
                    );
                }
                // It is compressed as a whole.
                let mut whole = Vec::with_capacity(usize::try_from(member.size).unwrap_or(0));
                let Copied { digests, .. } =
                    copy::append(Content::Pieces(content), algorithms, &mut whole)?;
                self.write_bytes(member, &whole)?;
                return Ok(digests);
            }
        };
        let record = placed.record(member);
        self.at = match &mut self.format {
            Format::Zip { layout, .. } => {
                layout.add(member, &record);
                zip::write::end_of(member, &record)
            }
            _ => positional::end_of_tar(member, self.at)?,
        };
        Ok(placed.digests)
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
                write_in_pieces(file, record.at, &[&header, content, &vec![0; padding]])
            }
            Format::Zip { layout, compression } => {
                let mut packed = Vec::new();
                let mut content = content;
                if *compression != Compression::Stored {
                    record.method = Packer::new(*compression)
                        .pack(content, &mut packed)
                        .map_err(Error::io("compress for", self.target))?;
                    content = &packed;
                    record.packed_size = u64::try_from(packed.len()).unwrap_or(u64::MAX);
                }
                let mut header = Vec::new();
                zip::write::header(&mut header, member, &record);
                self.at = zip::write::end_of(member, &record);
                layout.add(member, &record);
                write_in_pieces(file, record.at, &[&header, content])
            }
        }
    }

    /// Writes what ends the archive, and reads back what can be checked against it. `records` are those of
    /// all members but the ones whose content was in memory; they are asked for more than once, since a
    /// directory of hundreds of thousands of members would take as much room as what is known of them.
    pub(crate) fn finish(self, records: &AllRecords<'_, '_>) -> Result<()> {
        let file = self.pending.file();
        match self.format {
            Format::Zip { layout, .. } => {
                let end = layout.finish(file, self.at, records)?;
                self.pending.set_len(end)?;
                zip::read_back::check(&file.try_clone()?, &layout, self.at, records)
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
fn write_in_pieces(file: &File, mut at: u64, pieces: &[&[u8]]) -> Result<()> {
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
