//! Writing of archives. The output is deterministic. Each byte is read once, and hashed while it is written.

mod arriving;
mod compression;
mod copy;
pub(super) mod failed;
mod member;
mod read_back;
mod reserved;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::ops::Range;

use libdeflater::{CompressionError, CompressionLvl, Compressor};
use zstd::bulk;
use zstd::zstd_safe::compress_bound;

pub(crate) use self::arriving::{Arriving, WrittenMember};
pub use self::compression::Compression;
use self::compression::{DEFLATE_LEVEL, ZSTD_LEVEL};
use self::copy::{Copied, copy_content};
pub(crate) use self::member::{
    Alignment, AllRecords, ContentPieces, How, NewContent, NewMember, Placed, Record, Records,
    SHORT, SMALL,
};
pub(crate) use self::read_back::Sampled;
pub(crate) use self::reserved::{Reserved, ReservedMember};
use super::copy::COPY_BLOCK;
use super::stream::{Encoder, Engine, StreamCompression};
use super::tar;
use super::{Container, Location, Member, Method, zip};
use crate::digest::{Digests, Wanted};
use crate::error::{Error, Result};
use crate::fs::{File, PendingFile};
use crate::path::escape;
use crate::pipeline;

/// Maximum number of workers for a compressed stream, which has threads of its own.
const STREAM_WORKERS: usize = 3;

/// Writes one archive to a pending file. Members are appended as soon as they are packed. Large stored members can be
/// written later, at reserved offsets.
pub(crate) struct ArchiveWriter<'a> {
    pending: &'a PendingFile,
    container: Container,
    /// Compression of zip members.
    compression: Compression,
    wanted: Wanted<'a>,
    jobs: usize,
    /// Offset of `image` in the file.
    start: u64,
    /// Headers and contents not yet written.
    image: Vec<u8>,
    /// The encoder of a compressed tar.
    stream: Option<Box<Encoder<Appending>>>,
}

impl<'a> ArchiveWriter<'a> {
    /// Starts an archive, with a compression that was checked for its container.
    pub(crate) fn new(
        container: Container,
        compression: Compression,
        pending: &'a PendingFile,
        wanted: impl Into<Wanted<'a>>,
        jobs: usize,
    ) -> Result<Self> {
        let jobs = jobs.min(most_jobs(container, compression));
        let kind = StreamCompression::of_container(container);
        let kind = kind.filter(|kind| *kind != StreamCompression::None);
        let stream = |kind| {
            let out = Appending { file: pending.file().try_clone()?, at: 0 };
            let encoder = Encoder::new(out, kind, compression.level(), jobs);
            let encoder = encoder.map_err(Error::io("compress for", pending.file().path()))?;
            Ok::<_, Error>(Box::new(encoder))
        };
        let stream = kind.map(stream).transpose()?;
        let compression =
            if container == Container::Zip { compression } else { Compression::Stored };
        let (wanted, start, image) = (wanted.into(), 0, Vec::new());
        Ok(Self { pending, container, compression, wanted, jobs, start, image, stream })
    }

    /// Appends to members that end at the offset `end`.
    pub(crate) fn after(self, end: u64) -> Self {
        Self { start: end, ..self }
    }

    /// Returns whether reading a member requires reading everything before it.
    pub(crate) fn is_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// Returns a constructor of packers for the workers.
    pub(crate) fn packers(&self) -> impl Fn() -> Packer<'a> + Sync + use<'a> {
        let (compression, wanted) = (self.compression, self.wanted);
        let file = self.pending.file();
        move || Packer::new(compression, wanted, file)
    }

    /// Returns the number of workers that may pack members at once. It limits their memory to some tens of megabytes,
    /// and is smaller if some members are larger than [`SMALL`].
    pub(crate) fn workers(&self, some_are_large: bool) -> usize {
        let most = match self.compression {
            _ if self.is_stream() => STREAM_WORKERS,
            compression if some_are_large => compression.most_large(),
            _ => self.jobs,
        };
        pipeline::workers(self.jobs.min(most))
    }

    /// Returns the offset of the next member.
    fn at(&self) -> u64 {
        self.start + self.image.len() as u64
    }

    /// Appends a packed member.
    pub(crate) fn append(
        &mut self,
        member: &NewMember<'_>,
        PackedMember { copied, method, bytes }: PackedMember<'_>,
    ) -> Result<Placed> {
        let (crc, packed_size) = (copied.crc, bytes.len() as u64);
        let record = Record { at: self.at(), crc, packed_size, method };
        push_header(self.container, &mut self.image, member, &record)?;
        self.image.extend_from_slice(bytes);
        self.pad(member)?;
        Ok(Placed { digests: copied.digests.clone(), record })
    }

    /// Ends a member, and writes the buffered bytes if they are many.
    fn pad(&mut self, member: &NewMember<'_>) -> Result<()> {
        self.image.extend_from_slice(padding(self.container, member));
        if self.image.len() >= COPY_BLOCK { self.flush() } else { Ok(()) }
    }

    /// Copies a member without recompressing it from an older archive in the same container.
    pub(crate) fn copy(
        &mut self,
        member: &NewMember<'_>,
        old: &Member,
        file: &File,
        digests: Digests,
    ) -> Result<Placed> {
        let crc = match old.location {
            Location::Packed { crc, .. } => crc,
            _ => 0,
        };
        let (at, packed_size, method) = (self.at(), old.packed_size, old.method);
        let record = Record { at, crc, packed_size, method };
        push_header(self.container, &mut self.image, member, &record)?;
        let start = self.image.len();
        match usize::try_from(packed_size) {
            Ok(length) if packed_size <= SMALL => {
                self.image.resize(start + length, 0);
                file.read_exact_at(self.image.split_at_mut(start).1, old.start())?;
            }
            _ => {
                self.flush()?;
                file.copy_to(old.start(), packed_size, self.pending.file(), self.start)?;
                self.start += packed_size;
            }
        }
        self.pad(member)?;
        Ok(Placed { digests, record })
    }

    /// Reserves the space of a stored member that is written later, with its header.
    pub(crate) fn reserve(&mut self, member: &NewMember<'_>) -> Result<Placed> {
        let record = Record::stored(member, self.at(), 0);
        self.flush()?;
        let header = new_header(self.container, member, &record)?.len() as u64;
        self.start += header + member.size + padding(self.container, member).len() as u64;
        Ok(Placed { digests: Digests::default(), record })
    }

    /// Gives a file that several processes write the length of the members.
    pub(crate) fn grow(&self) -> Result<()> {
        self.pending.grow(self.start)
    }

    /// Returns a writer for the reserved members.
    pub(crate) fn reserved(&self) -> Reserved<'_> {
        Reserved::new(self.pending.file(), self.container, self.wanted)
    }

    /// Writes one member. The length of its content must match `member`.
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
        copy_content(content, Wanted::from(&[]), append)?;
        let mut batch = Batch::default();
        self.packers()().pack(&[&bytes], &mut batch)?;
        let packed = batch.members().next().expect("one content makes one member");
        self.append(member, packed)
    }

    /// Compresses a member into the file with several threads.
    fn write_large(&mut self, member: &NewMember<'_>, content: NewContent<'_>) -> Result<Placed> {
        let path = self.pending.file().path();
        let not_compressed = |error| Error::io("compress for", path)(error);
        let method = self.compression.method();
        let assumed = Record { method, ..Record::stored(member, self.at(), 0) };
        push_header(self.container, &mut self.image, member, &assumed)?;
        self.flush()?;
        if let Some(encoder) = &mut self.stream {
            let put = |block: &[u8]| encoder.write_all(block).map_err(&not_compressed);
            let Copied { digests, .. } = copy_content(content, self.wanted, put)?;
            self.image.extend_from_slice(padding(self.container, member));
            return Ok(Placed { digests, record: assumed });
        }
        let file = self.pending.file();
        let data = self.start;
        let out = Appending { file: file.try_clone()?, at: data };
        let engine = self.compression.engine(Some(self.jobs));
        let begin = |engine: Engine| engine.begin(io::BufWriter::with_capacity(COPY_BLOCK, out));
        let mut encoder = engine.and_then(begin).map_err(&not_compressed)?;
        let put = |block: &[u8]| encoder.write_all(block).map_err(&not_compressed);
        let Copied { digests, crc } = copy_content(content, self.wanted, put)?;
        let out = encoder.finish().and_then(|out| Ok(out.into_inner()?));
        let packed_size = out.map_err(&not_compressed)?.at - data;
        let record = Record { crc, packed_size, ..assumed };
        let header = new_header(self.container, member, &record)?;
        let data_now = record.at + header.len() as u64;
        // If just under 4 GiB became more, the header needs a zip64 field.
        move_within(file, data..data + packed_size, data_now)?;
        file.write_all_at(&header, record.at)?;
        self.start = data_now + packed_size;
        self.image.extend_from_slice(padding(self.container, member));
        Ok(Placed { digests, record })
    }

    /// Writes the end of the archive and reads it back, including the contents of a `sample` of members. `records` are
    /// those of all members.
    pub(crate) fn finish(
        mut self,
        records: AllRecords<'_, '_>,
        sample: &[Sampled<'_>],
    ) -> Result<()> {
        if self.container != Container::Zip {
            self.image.extend_from_slice(&tar::end_mark());
        }
        self.flush()?;
        let file = self.pending.file();
        if let Some(encoder) = self.stream {
            encoder.finish().map_err(Error::io("write", file.path()))?;
        } else if self.container == Container::Zip {
            let written = zip::write::write_directory(file, self.start, records)?;
            self.pending.set_len(written.end)?;
            zip::write::check(file, &written, records)?;
        } else {
            self.pending.set_len(self.start)?;
        }
        read_back::check(file, self.container, sample)
    }

    /// Writes the buffered bytes.
    fn flush(&mut self) -> Result<()> {
        let file = self.pending.file();
        match &mut self.stream {
            Some(encoder) => {
                encoder.write_all(&self.image).map_err(Error::io("write", file.path()))?;
            }
            None => file.write_all_at(&self.image, self.start)?,
        }
        self.start += self.image.len() as u64;
        self.image.clear();
        Ok(())
    }
}

/// Returns the maximum number of jobs for an archive. It limits the memory for compression to some tens of megabytes at
/// default levels.
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
        .map_err(|error| Error::unsupported(format!("`{}`: {error}", escape(&member.path))))?;
    out.extend_from_slice(&header);
    Ok(())
}

/// Returns the padding after a member of a tar.
fn padding(container: Container, member: &NewMember<'_>) -> &'static [u8] {
    if container == Container::Zip { &[] } else { tar::padding(member.size) }
}

/// Returns the header of a member.
fn new_header(container: Container, member: &NewMember<'_>, record: &Record) -> Result<Vec<u8>> {
    let mut header = Vec::new();
    push_header(container, &mut header, member, record)?;
    Ok(header)
}

/// Moves bytes of a file to the offset `to`.
fn move_within(file: &File, Range { start, end }: Range<u64>, to: u64) -> Result<()> {
    if to == start {
        return Ok(());
    }
    let mut block = vec![0; COPY_BLOCK];
    let (len, mut moved) = (end - start, 0);
    while moved < len {
        let count = (len - moved).min(COPY_BLOCK as u64);
        // Bytes that are not moved yet must not be overwritten.
        let skip = if to > start { len - moved - count } else { moved };
        block.truncate(usize::try_from(count).expect("at most a block"));
        file.read_exact_at(&mut block, start + skip)?;
        file.write_all_at(&block, to + skip)?;
        moved += count;
    }
    Ok(())
}

/// Writes a file sequentially from an offset.
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

/// Packed members, concatenated.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// For each member, its digests, method and packed size in bytes.
    members: Vec<(Copied, Method, usize)>,
    bytes: Vec<u8>,
}

/// A member as stored in the archive.
pub(crate) struct PackedMember<'b> {
    copied: &'b Copied,
    method: Method,
    bytes: &'b [u8],
}

impl Batch {
    /// Returns the members in the order of packing.
    pub(crate) fn members(&self) -> impl Iterator<Item = PackedMember<'_>> {
        let mut left = &*self.bytes;
        self.members.iter().map(move |(copied, method, len)| {
            let bytes;
            (bytes, left) = left.split_at(*len);
            PackedMember { copied, method: *method, bytes }
        })
    }
}

/// Hashes and packs members one after the other. Reusing the compressor is faster than creating one for each member.
pub(crate) struct Packer<'a> {
    compression: Compression,
    wanted: Wanted<'a>,
    /// The archive, for messages and cancellation.
    file: &'a File,
    deflate: Option<Compressor>,
    zstd: Option<bulk::Compressor<'static>>,
    engine: Option<Engine>,
}

impl<'a> Packer<'a> {
    fn new(compression: Compression, wanted: Wanted<'a>, file: &'a File) -> Self {
        Self { compression, wanted, file, deflate: None, zstd: None, engine: None }
    }

    /// Appends small members with these contents.
    pub(crate) fn pack(&mut self, contents: &[&[u8]], batch: &mut Batch) -> Result<()> {
        let digests = Digests::of_each(self.wanted, contents);
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
        let copied = copy_content(content, self.wanted, put)?;
        let (_, engine) = encoder.end().map_err(failed())?;
        self.engine = Some(engine);
        let len = batch.bytes.len() - start;
        batch.members.push((copied, self.compression.method(), len));
        Ok(())
    }

    /// Appends `content` to `out`, compressed if that makes it smaller.
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

    /// Returns whether compression made the bytes smaller.
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
        // A larger result is useless, so it has no space.
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

    /// Returns whether compression made the bytes smaller. Declaring the length gives the frame tables of its own size,
    /// which fit in the core's cache, and tells readers the length.
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
