//! Writing archives: deterministic, each byte read once and hashed as it is written.

mod copy;
mod engines;
mod packed;
mod packer;
mod positional;
pub(super) mod read_back;
mod runs;
mod side_by_side;
mod spool;
mod streamed;
mod turns;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use self::copy::Copied;
use self::packed::PackedMembers;
pub(crate) use self::positional::{LaterFile, StoredMembers};
pub(crate) use self::read_back::Sampled;
pub(crate) use self::runs::{Buffers, RunMember, Runs, WriteInOrder};
use self::streamed::{StreamedMembers, TarStream};
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

/// The records of members, to be asked for more than once: a directory of hundreds of thousands would take as much
/// room as what is known of its members.
#[derive(Clone, Copy)]
pub(crate) struct AllRecords<'a, 'm> {
    /// Numbers of members; not each needs to be one.
    pub(crate) count: usize,
    /// Gives those of a range of numbers.
    pub(crate) of: &'a (dyn Fn(Range<usize>) -> Records<'a, 'm> + Sync),
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
}

/// Members, and what the directory of an archive says of each.
pub(crate) type Records<'a, 'm> = Box<dyn Iterator<Item = (NewMember<'m>, Record)> + 'a>;

/// What was written of a member, and where it lies.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) digests: Digests,
    pub(crate) record: Record,
}

impl Placed {
    /// Of a member that is stored as it is.
    fn stored(member: &NewMember<'_>, at: u64, Copied { digests, crc }: Copied) -> Self {
        Self { digests, record: Record::stored(member, at, crc) }
    }
}

/// Writes one archive into a file that has no name yet.
pub(crate) struct ArchiveWriter<'a> {
    pending: &'a PendingFile,
    target: &'a Path,
    container: Container,
    jobs: usize,
    /// Where the next member begins.
    at: u64,
    format: Format,
}

enum Format {
    Zip { layout: ZipLayout, compression: Compression },
    Tar,
    Stream(Mutex<TarStream>),
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
        let jobs = jobs.min(most_jobs(container, compression));
        packer::check_level(compression)
            .map_err(|error| Error::Unsupported(format!("cannot compress: {error}")))?;
        let stream = |kind, level| {
            let stream = TarStream::new(pending.file().try_clone()?, kind, level, jobs)?;
            Ok::<_, Error>(Format::Stream(Mutex::new(stream)))
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
        Ok(Self { pending, target, container, jobs, at: 0, format })
    }

    /// How many jobs may prepare runs: fewer than were asked for where many would hold too much.
    pub(crate) fn preparing_jobs(&self) -> usize {
        /// Each has a MiB or two in hand beside those that compress. Where files are very small, more would be
        /// faster.
        const FOR_STREAM: usize = 4;
        match self.format {
            Format::Stream(_) => self.jobs.min(FOR_STREAM),
            Format::Zip { .. } | Format::Tar => self.jobs,
        }
    }

    /// What writes members as they come from several jobs. [`Self::go_on_behind`] has to be called once all have
    /// their places.
    pub(crate) fn runs<'s>(&'s self, algorithms: &'s [Algorithm]) -> Runs<'s> {
        let file = self.pending.file();
        let stored = |headers| Runs::Stored(StoredMembers::new(file, headers, self.at, algorithms));
        match &self.format {
            Format::Zip { compression: Compression::Stored, .. } => {
                stored(positional::Headers::Zip)
            }
            Format::Zip { compression, .. } => Runs::Packed(Box::new(PackedMembers::new(
                file,
                self.target,
                *compression,
                self.at,
                algorithms,
                self.jobs,
            ))),
            Format::Tar => stored(positional::Headers::Tar),
            Format::Stream(stream) => Runs::Streamed(StreamedMembers::new(stream, algorithms)),
        }
    }

    /// Whether a member is found only by reading everything before it.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.format, Format::Stream(_))
    }

    /// Lets the archive go on behind members whose runs end there.
    pub(crate) fn go_on_behind(&mut self, end: u64) {
        self.at = end;
    }

    /// Writes the members in their order; what was written has to be told to [`Self::finish`].
    pub(crate) fn write(&mut self, new: NewMembers<'_, '_, '_>) -> Result<Vec<Vec<Placed>>> {
        let runs = self.runs(new.algorithms);
        let placed = match &runs {
            Runs::Stored(stored) => positional::write(stored, self.jobs, new)?,
            Runs::Packed(packed) => packed.write(new)?,
            Runs::Streamed(streamed) => vec![streamed.stream().write(new)?],
        };
        self.at = runs.end();
        Ok(placed)
    }

    /// Writes one member and gives its digests. Its content has to be as long as `member` says.
    pub(crate) fn write_one(
        &mut self,
        member: &NewMember<'_>,
        algorithms: &[Algorithm],
        content: Content<'_>,
    ) -> Result<Digests> {
        let buffers = &mut Buffers::default();
        let Placed { digests, record } = match self.runs(algorithms) {
            Runs::Stored(stored) => {
                stored.write_later(member, self.at, content, Hashing::Here, buffers)?
            }
            Runs::Packed(packed) => packed.write_alone(member, content)?,
            Runs::Streamed(streamed) => {
                streamed.stream().write_member(member, content, algorithms, &mut buffers.block)?
            }
        };
        match &mut self.format {
            Format::Zip { layout, .. } => {
                layout.add(member, &record);
                self.at = zip::write::end_of(member, &record);
            }
            Format::Tar => self.at = positional::end_of_tar(member, self.at)?,
            Format::Stream(_) => {}
        }
        Ok(digests)
    }

    /// Writes what ends the archive, and reads back what can be checked against it, the contents of a `sample`
    /// of the members among it. `records` are those of all members but the ones that were written alone.
    pub(crate) fn finish(self, records: AllRecords<'_, '_>, sample: &[Sampled<'_>]) -> Result<()> {
        let file = self.pending.file();
        match self.format {
            Format::Zip { layout, .. } => {
                let written = layout.finish(file, self.at, records, self.jobs)?;
                self.pending.set_len(written.end)?;
                zip::read_back::check(&file.try_clone()?, &written, records, self.jobs)?;
            }
            Format::Tar => {
                file.write_all_at(&tar::end_mark(), self.at)?;
                let length = u64::try_from(tar::end_mark().len()).unwrap_or(0);
                self.pending.set_len(self.at.saturating_add(length))?;
            }
            Format::Stream(stream) => {
                stream.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
            }
        }
        read_back::check(file, self.container, sample)
    }
}

/// Most jobs for an archive, so that what they compress with stays within some tens of megabytes at usual levels.
fn most_jobs(container: Container, compression: Compression) -> usize {
    match (container, compression) {
        (Container::TarGz, _) => 16,
        (Container::TarZst, _) => 5,
        (Container::Zip | Container::Tar, Compression::Stored) => usize::MAX,
        _ => 8,
    }
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
