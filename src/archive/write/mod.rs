//! Writing archives: deterministic, each byte read once and hashed as it is written.

mod kept;
pub(super) mod read_back;
mod reserved;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use libdeflater::{CompressionError, CompressionLvl, Compressor};
use zstd::bulk;
use zstd::zstd_safe::compress_bound;

pub(crate) use self::read_back::Sampled;
pub(crate) use self::reserved::{Reserved, ReservedFile};
use super::copy::{BLOCK, Copied, copy_content};
use super::stream::{Deflater, Encoder, Engine, SMALL_ZSTD_JOB, StreamCompression};
use super::tar;
pub(crate) use super::zip::write::Record;
use super::zip::write::ZipLayout;
use super::zip::{self};
use super::{Container, MemberKind, Method};
use crate::digest::{Algorithm, Digests};
use crate::error::{Error, Result};
use crate::fs::{File, PendingFile, Stamp};
use crate::path::escape;
use crate::pipeline;

/// How members of a zip are packed, and how hard a compressed tar is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
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

impl Compression {
    /// The method of members that are compressed so.
    fn method(self) -> Method {
        match self {
            Self::Stored => Method::Stored,
            Self::Deflate { .. } => Method::Deflate,
            Self::Zstd { .. } => Method::Zstd,
        }
    }

    /// Whether a compressor of Zstandard has tens of megabytes by itself.
    fn is_strong(self) -> bool {
        matches!(self, Self::Zstd { level: Some(10..) })
    }

    /// How many large members are compressed at a time, each by one thread, so that all compressors and what they have
    /// packed take some tens of megabytes.
    fn most_large(self) -> usize {
        match self {
            Self::Stored | Self::Deflate { .. } => 6,
            Self::Zstd { .. } if self.is_strong() => 2,
            Self::Zstd { .. } => 3,
        }
    }

    /// That the compression has such a level and the container such a compression: to be known before anything is
    /// packed.
    pub(crate) fn check(self, container: Container) -> Result<()> {
        let level = match self {
            Self::Zstd { level } => StreamCompression::Zstd.checked_level(level).map(|_| ()),
            Self::Deflate { level: Some(found) } if !(2..=9).contains(&found) => {
                Err(io::Error::other(format!("deflate has the levels 2 to 9, not {found}")))
            }
            Self::Stored | Self::Deflate { .. } => Ok(()),
        };
        level.map_err(|error| Error::Unsupported(format!("cannot compress: {error}")))?;
        match (container, self) {
            (Container::Zip, _)
            | (_, Self::Stored)
            | (Container::TarGz, Self::Deflate { .. })
            | (Container::TarZst, Self::Zstd { .. }) => Ok(()),
            _ => Err(Error::Unsupported(format!(
                "the members of a {container} cannot be compressed like this; a tar is compressed as a whole: \
                 let the name of the archive end in .tar.gz (deflate) or .tar.zst (zstd)"
            ))),
        }
    }

    /// A compressor of large members: by the calling thread, or by up to so many besides it. The bytes of each member
    /// depend on the compression, the content, and whether one thread compresses it or several, however many those are.
    fn engine(self, threads: Option<usize>) -> io::Result<Engine> {
        match (self, threads) {
            (Self::Stored, _) => Ok(Engine::None),
            (Self::Deflate { level }, threads) => {
                let level = level.unwrap_or(DEFLATE_LEVEL);
                Ok(Engine::Deflate(Deflater::new(level, threads.unwrap_or(1))))
            }
            (Self::Zstd { level }, None) => Engine::zstd_here(level),
            (Self::Zstd { level }, Some(threads)) => {
                let threads = threads.min(if self.is_strong() { 2 } else { 4 });
                Engine::zstd(level, threads, SMALL_ZSTD_JOB)
            }
        }
    }
}

const DEFLATE_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// A member to be written.
#[derive(Debug, Clone)]
pub(crate) struct NewMember<'a> {
    /// Its name, which has the form of a [`MemberPath`](crate::path::MemberPath).
    pub(crate) path: Cow<'a, str>,
    /// A file or a directory.
    pub(crate) kind: MemberKind,
    pub(crate) size: u64,
    /// Seconds since 1970 UTC.
    pub(crate) modified: u64,
    /// The byte of the content that is to be aligned when it is stored.
    pub(crate) align_at: Option<u64>,
}

/// The source of the content of a member.
pub(crate) enum NewContent<'a> {
    /// A file, and what it looked like when it was decided to write it.
    File(File, Stamp),
    /// Bytes that were made for the archive.
    Bytes(&'a [u8]),
    /// The same, made as they are written.
    Pieces(&'a ContentPieces<'a>),
}

/// Gives a content piece by piece.
pub(crate) type ContentPieces<'a> = dyn Fn(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + 'a;

/// Gives the members, and what the directory of an archive says of each. It is asked more than once: a directory of
/// hundreds of thousands would take as much room as what is known of its members.
pub(crate) type AllRecords<'a, 'm> = &'a dyn Fn() -> Records<'a, 'm>;

/// Members, and what the directory of an archive says of each.
pub(crate) type Records<'a, 'm> = Box<dyn Iterator<Item = (NewMember<'m>, Record)> + 'a>;

/// The digests of a member that was written, and its place.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) digests: Digests,
    pub(crate) record: Record,
}

impl Placed {
    /// Whether it was written at its place.
    pub(crate) fn is_written(&self) -> bool {
        self.digests != Digests::default()
    }
}

/// Members up to this size are packed in memory, each in one go.
pub(crate) const SMALL: u64 = 256 * 1024;
/// From this size on a zip member is compressed by several threads, which is the work of the consumer.
const SHARED: u64 = 4 * 1024 * 1024;

/// Writes one archive into a file that has no name yet: members one after the other, each as soon as its content has
/// been packed, and large ones later where their places are known.
pub(crate) struct ArchiveWriter<'a> {
    pending: &'a PendingFile,
    container: Container,
    /// How members of a zip are compressed.
    compression: Compression,
    algorithms: &'a [Algorithm],
    jobs: usize,
    /// Where `image` begins in the file.
    start: u64,
    /// Headers and contents that are still to be written.
    image: Vec<u8>,
    format: ArchiveForm,
}

enum ArchiveForm {
    Zip(ZipLayout),
    Tar,
    Stream(Box<Encoder<Appending>>),
}

impl<'a> ArchiveWriter<'a> {
    /// Begins an archive.
    pub(crate) fn new(
        container: Container,
        compression: Compression,
        pending: &'a PendingFile,
        algorithms: &'a [Algorithm],
        jobs: usize,
    ) -> Result<Self> {
        compression.check(container)?;
        let jobs = jobs.min(most_jobs(container, compression));
        let stream = |kind, level| {
            let out = Appending { file: pending.file().try_clone()?, at: 0 };
            let encoder = Encoder::new(out, kind, level, jobs);
            let encoder = encoder.map_err(Error::io("compress for", pending.file().path()))?;
            Ok::<_, Error>(ArchiveForm::Stream(Box::new(encoder)))
        };
        let format = match (container, compression) {
            (Container::Zip, _) => ArchiveForm::Zip(ZipLayout::default()),
            (Container::Tar, Compression::Stored) => ArchiveForm::Tar,
            (Container::TarGz, Compression::Stored) => stream(StreamCompression::Gzip, None)?,
            (Container::TarGz, Compression::Deflate { level }) => {
                stream(StreamCompression::Gzip, level.and_then(|level| i32::try_from(level).ok()))?
            }
            (Container::TarZst, Compression::Stored) => stream(StreamCompression::Zstd, None)?,
            (Container::TarZst, Compression::Zstd { level }) => {
                stream(StreamCompression::Zstd, level)?
            }
            _ => unreachable!("the compression was checked"),
        };
        let compression =
            if container == Container::Zip { compression } else { Compression::Stored };
        let (start, image) = (0, Vec::new());
        Ok(Self { pending, container, compression, algorithms, jobs, start, image, format })
    }

    /// Whether a member is found only by reading everything before it.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.format, ArchiveForm::Stream(_))
    }

    /// Whether members are stored as they are: the place of each is known from the lengths of those before it.
    pub(crate) fn is_stored(&self) -> bool {
        !self.is_stream() && self.compression == Compression::Stored
    }

    /// What makes a packer for each worker.
    pub(crate) fn packers(&self) -> impl Fn() -> Packer<'a> + Sync + use<'a> {
        let (compression, algorithms) = (self.compression, self.algorithms);
        let file = self.pending.file();
        move || Packer::new(compression, algorithms, file)
    }

    /// How many workers may pack members at a time, so that all of them together have some tens of megabytes: fewer
    /// when some of the members are larger than [`SMALL`].
    pub(crate) fn workers(&self, some_are_large: bool) -> usize {
        /// The compressor of a stream has threads of its own.
        const FOR_STREAM: usize = 3;
        let most = match self.compression {
            _ if self.is_stream() => FOR_STREAM,
            compression if some_are_large => compression.most_large(),
            _ => self.jobs,
        };
        pipeline::workers(self.jobs.min(most))
    }

    /// The size of the largest member that a worker packs; larger ones are written by [`Self::write`].
    pub(crate) fn largest_for_workers(&self) -> u64 {
        if self.compression == Compression::Stored { SMALL } else { SHARED - 1 }
    }

    /// Where the next member begins.
    fn at(&self) -> u64 {
        self.start + self.image.len() as u64
    }

    /// Appends a member that was packed.
    pub(crate) fn append(
        &mut self,
        member: &NewMember<'_>,
        PackedMember { digests, crc, method, bytes }: PackedMember<'_>,
    ) -> Result<Placed> {
        let record = Record { at: self.at(), crc, packed_size: bytes.len() as u64, method };
        push_header(self.container, &mut self.image, member, &record)?;
        self.image.extend_from_slice(bytes);
        self.image.extend_from_slice(padding(self.container, member));
        if self.image.len() >= BLOCK {
            self.flush()?;
        }
        Ok(Placed { digests, record })
    }

    /// Leaves a place for a member that is written later as it is.
    pub(crate) fn reserve(&mut self, member: &NewMember<'_>) -> Result<Placed> {
        let record = Record::stored(member, self.at(), 0);
        push_header(self.container, &mut self.image, member, &record)?;
        self.flush()?;
        self.start += member.size + padding(self.container, member).len() as u64;
        Ok(Placed { digests: Digests::default(), record })
    }

    /// Writes members at the places that were left for them.
    pub(crate) fn reserved(&self) -> Reserved<'_> {
        Reserved::new(self.pending.file(), self.container, self.algorithms)
    }

    /// Writes one member. Its content has to be as long as `member` says.
    pub(crate) fn write(
        &mut self,
        member: &NewMember<'_>,
        content: NewContent<'_>,
    ) -> Result<Placed> {
        if member.size > SMALL {
            return self.write_large(member, content);
        }
        let mut bytes = Vec::new();
        let append = |block: &[u8]| {
            bytes.extend_from_slice(block);
            Ok(())
        };
        copy_content(content, &[], append)?;
        let mut batch = Batch::default();
        self.packers()().pack(&[&bytes], &mut batch)?;
        let packed = batch.members().next().expect("one content makes one member");
        self.append(member, packed)
    }

    /// Compresses a member on its way into the file, by several threads.
    fn write_large(&mut self, member: &NewMember<'_>, content: NewContent<'_>) -> Result<Placed> {
        let not_compressed = self.not_compressed();
        let method = self.compression.method();
        let assumed = Record { method, ..Record::stored(member, self.at(), 0) };
        push_header(self.container, &mut self.image, member, &assumed)?;
        self.flush()?;
        if let ArchiveForm::Stream(encoder) = &mut self.format {
            let put = |block: &[u8]| encoder.write_all(block).map_err(&not_compressed);
            let Copied { digests, .. } = copy_content(content, self.algorithms, put)?;
            self.image.extend_from_slice(padding(self.container, member));
            return Ok(Placed { digests, record: assumed });
        }
        let file = self.pending.file();
        let data = self.start;
        let out = Appending { file: file.try_clone()?, at: data };
        let engine = self.compression.engine(Some(self.jobs));
        let begin = |engine: Engine| engine.begin(io::BufWriter::with_capacity(BLOCK, out));
        let mut encoder = engine.and_then(begin).map_err(&not_compressed)?;
        let put = |block: &[u8]| encoder.write_all(block).map_err(&not_compressed);
        let Copied { digests, crc } = copy_content(content, self.algorithms, put)?;
        let out = encoder.finish().and_then(|out| Ok(out.into_inner()?));
        let packed_size = out.map_err(&not_compressed)?.at - data;
        let record = Record { crc, packed_size, ..assumed };
        let mut header = Vec::new();
        push_header(self.container, &mut header, member, &record)?;
        let data_now = record.at + header.len() as u64;
        if data_now > data {
            // Nearly 4 GiB have become more, and the header says so by a field of its own.
            move_up(file, data..data + packed_size, data_now - data)?;
        }
        file.write_all_at(&header, record.at)?;
        self.start = data_now + packed_size;
        self.image.extend_from_slice(padding(self.container, member));
        Ok(Placed { digests, record })
    }

    /// Adds a member to the directory that is not among the records of [`Self::finish`].
    pub(crate) fn list(&mut self, member: &NewMember<'_>, placed: &Placed) {
        if let ArchiveForm::Zip(layout) = &mut self.format {
            layout.add(member, &placed.record);
        }
    }

    /// Writes what ends the archive, and reads back what can be checked against it, the contents of a `sample`
    /// of the members among it. `records` are those of all members but the ones that were listed before.
    pub(crate) fn finish(
        mut self,
        records: AllRecords<'_, '_>,
        sample: &[Sampled<'_>],
    ) -> Result<()> {
        if !matches!(self.format, ArchiveForm::Zip(_)) {
            self.image.extend_from_slice(&tar::end_mark());
        }
        self.flush()?;
        let file = self.pending.file();
        match self.format {
            ArchiveForm::Zip(layout) => {
                let written = layout.finish(file, self.start, records)?;
                self.pending.set_len(written.end)?;
                zip::write::check(file, &written, records)?;
            }
            ArchiveForm::Tar => self.pending.set_len(self.start)?,
            ArchiveForm::Stream(encoder) => {
                encoder.finish().map_err(Error::io("write", file.path()))?;
            }
        }
        read_back::check(file, self.container, sample)
    }

    /// Writes what was appended.
    fn flush(&mut self) -> Result<()> {
        let file = self.pending.file();
        match &mut self.format {
            ArchiveForm::Stream(encoder) => {
                encoder.write_all(&self.image).map_err(Error::io("write", file.path()))?;
            }
            _ => file.write_all_at(&self.image, self.start)?,
        }
        self.start += self.image.len() as u64;
        self.image.clear();
        Ok(())
    }

    /// Says that a member could not be compressed.
    fn not_compressed(&self) -> impl Fn(io::Error) -> Error + use<'a> {
        let path = self.pending.file().path();
        move |error| Error::io("compress for", path)(error)
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

/// Appends the header of a member.
fn push_header(
    container: Container,
    out: &mut Vec<u8>,
    member: &NewMember<'_>,
    record: &Record,
) -> Result<()> {
    if container == Container::Zip {
        zip::write::header(out, member, record);
        return Ok(());
    }
    let header = tar::entry_header(member)
        .map_err(|error| Error::Unsupported(format!("`{}`: {error}", escape(&member.path))))?;
    out.extend_from_slice(&header);
    Ok(())
}

/// Fills up the last block of a member of a tar.
fn padding(container: Container, member: &NewMember<'_>) -> &'static [u8] {
    if container == Container::Zip { &[] } else { tar::padding(member.size) }
}

/// Moves bytes of a file towards its end.
fn move_up(file: &File, Range { start, end }: Range<u64>, by: u64) -> Result<()> {
    let mut block = vec![0; BLOCK];
    let mut left = end - start;
    while left > 0 {
        let count = left.min(BLOCK as u64);
        left -= count;
        block.resize(usize::try_from(count).expect("a block at most"), 0);
        file.read_exact_at(&mut block, start + left)?;
        file.write_all_at(&block, start + left + by)?;
    }
    Ok(())
}

/// Writes a file from a place on.
#[derive(Debug)]
struct Appending {
    file: File,
    at: u64,
}

impl Write for Appending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Members that were packed one after the other.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Of each also how many of the bytes are its own.
    members: Vec<(Copied, Method, usize)>,
    bytes: Vec<u8>,
}

/// A member as it will stand in the archive.
pub(crate) struct PackedMember<'b> {
    digests: Digests,
    crc: u32,
    method: Method,
    bytes: &'b [u8],
}

impl Batch {
    /// The members in the order in which they were packed.
    pub(crate) fn members(&self) -> impl Iterator<Item = PackedMember<'_>> {
        let mut left = &*self.bytes;
        self.members.iter().map(move |(Copied { digests, crc }, method, len)| {
            let bytes;
            (bytes, left) = left.split_at(*len);
            PackedMember { digests: digests.clone(), crc: *crc, method: *method, bytes }
        })
    }
}

/// Hashes and packs members one after the other. To make a compressor anew for each costs more than to use it.
pub(crate) struct Packer<'a> {
    compression: Compression,
    algorithms: &'a [Algorithm],
    /// The archive, for messages; who watches it may stop the packing.
    file: &'a File,
    deflate: Option<Compressor>,
    zstd: Option<bulk::Compressor<'static>>,
    engine: Option<Engine>,
}

impl<'a> Packer<'a> {
    fn new(compression: Compression, algorithms: &'a [Algorithm], file: &'a File) -> Self {
        Self { compression, algorithms, file, deflate: None, zstd: None, engine: None }
    }

    /// Appends small members with these contents.
    pub(crate) fn pack(&mut self, contents: &[&[u8]], batch: &mut Batch) -> Result<()> {
        let digests = Digests::of_each(self.algorithms, contents);
        for (content, digests) in contents.iter().zip(digests) {
            self.file.progress().check()?;
            let start = batch.bytes.len();
            let method = self.compress(content, &mut batch.bytes);
            let method = method.map_err(Error::io("compress for", self.file.path()))?;
            let copied = Copied { digests, crc: crc32fast::hash(content) };
            batch.members.push((copied, method, batch.bytes.len() - start));
        }
        Ok(())
    }

    /// Appends one large member.
    pub(crate) fn pack_large(&mut self, content: NewContent<'_>, batch: &mut Batch) -> Result<()> {
        let failed = || Error::io("compress for", self.file.path());
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => self.compression.engine(None).map_err(failed())?,
        };
        let start = batch.bytes.len();
        let mut encoder = engine.begin(&mut batch.bytes).map_err(failed())?;
        let put = |block: &[u8]| encoder.write_all(block).map_err(failed());
        let copied = copy_content(content, self.algorithms, put)?;
        let (_, engine) = encoder.end().map_err(failed())?;
        self.engine = Some(engine);
        let len = batch.bytes.len() - start;
        batch.members.push((copied, self.compression.method(), len));
        Ok(())
    }

    /// Appends bytes to `out`, packed unless they would not become fewer.
    fn compress(&mut self, content: &[u8], out: &mut Vec<u8>) -> io::Result<Method> {
        let start = out.len();
        let is_packed = !content.is_empty()
            && match self.compression {
                Compression::Stored => false,
                Compression::Deflate { level } => self.deflate(content, level, out),
                Compression::Zstd { level } => self.zstd(content, level, out)?,
            };
        if is_packed {
            return Ok(self.compression.method());
        }
        out.truncate(start);
        out.extend_from_slice(content);
        Ok(Method::Stored)
    }

    /// Whether bytes became fewer.
    fn deflate(&mut self, content: &[u8], level: Option<u32>, out: &mut Vec<u8>) -> bool {
        let compressor = match &mut self.deflate {
            Some(compressor) => compressor,
            kept => {
                let level = i32::try_from(level.unwrap_or(DEFLATE_LEVEL)).ok();
                let level = level.and_then(|level| CompressionLvl::new(level).ok());
                kept.insert(Compressor::new(level.expect("the level was checked")))
            }
        };
        let start = out.len();
        // What does not fit here is not wanted.
        out.resize(start + content.len() - 1, 0);
        let room = out.split_at_mut(start).1;
        match compressor.deflate_compress(content, room) {
            Ok(packed) => {
                out.truncate(start + packed);
                true
            }
            Err(CompressionError::InsufficientSpace) => false,
        }
    }

    /// Whether bytes became fewer. A frame of a known length has tables of its own size, which stay in the
    /// core's cache, and says that length to its reader.
    fn zstd(&mut self, content: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> io::Result<bool> {
        let compressor = match &mut self.zstd {
            Some(compressor) => compressor,
            kept => kept.insert(bulk::Compressor::new(level.unwrap_or(ZSTD_LEVEL))?),
        };
        let start = out.len();
        out.resize(start + compress_bound(content.len()), 0);
        let room = out.split_at_mut(start).1;
        let packed = compressor.compress_to_buffer(content, room)?;
        out.truncate(start + packed);
        Ok(packed < content.len())
    }
}
