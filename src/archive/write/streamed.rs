//! A compressed tar: one stream, written from its beginning to its end.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::copy::{self, Copied};
use super::runs::{Buffers, RunMember, WriteInOrder, contents};
use super::{Content, NewMember, NewMembers, Placed, tar_header};
use crate::archive::stream::{Encoder, StreamCompression};
use crate::archive::{MemberKind, tar};
use crate::digest::{Algorithm, Hashing};
use crate::error::{Error, Result};
use crate::fs::File;

/// What a run takes unless its names are very long: 1 MiB of contents, and 64 KiB of headers and padding.
const USUAL: usize = (1024 + 64) * 1024;

/// A tar on its way through a compressor.
pub(super) struct TarStream {
    encoder: Encoder<Appending>,
    file: File,
}

impl TarStream {
    pub(super) fn new(
        file: File,
        compression: StreamCompression,
        level: Option<i32>,
        jobs: usize,
    ) -> Result<Self> {
        let out = Appending { file: file.try_clone()?, at: 0 };
        let encoder = Encoder::new(out, compression, level, jobs)
            .map_err(Error::io("compress for", file.path()))?;
        Ok(Self { encoder, file })
    }

    pub(super) fn write(&mut self, new: NewMembers<'_, '_, '_>) -> Result<Vec<Placed>> {
        let mut placed = Vec::with_capacity(new.count);
        let mut block = Vec::new();
        for (index, member) in new.of(0..new.count) {
            let content = match member.kind {
                MemberKind::Directory => Content::Bytes(b""),
                _ => (new.source)(index)?,
            };
            placed.push(self.write_member(&member, content, new.algorithms, &mut block)?);
        }
        Ok(placed)
    }

    pub(super) fn write_member(
        &mut self,
        member: &NewMember<'_>,
        content: Content<'_>,
        algorithms: &[Algorithm],
        block: &mut Vec<u8>,
    ) -> Result<Placed> {
        self.put(&tar_header(member)?)?;
        let copied =
            copy::copy(content, algorithms, Hashing::Beside, block, |block| self.put(block))?;
        self.put(tar::padding(member.size))?;
        // Where it lies is the stream's own affair.
        Ok(Placed::stored(member, 0, copied))
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.put(&tar::end_mark())?;
        self.encoder.finish().map_err(Error::io("write", self.file.path()))?;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.encoder.write_all(bytes).map_err(Error::io("write", self.file.path()))
    }
}

/// Writes members of the stream, which several jobs prepare.
pub(crate) struct StreamedMembers<'a> {
    stream: &'a Mutex<TarStream>,
    algorithms: &'a [Algorithm],
    /// Empty ones, to be used again.
    images: Mutex<Vec<Vec<u8>>>,
}

/// A run as it stands in the tar.
pub(crate) struct StreamedRun {
    placed: Vec<Placed>,
    image: Vec<u8>,
}

impl<'a> StreamedMembers<'a> {
    pub(super) fn new(stream: &'a Mutex<TarStream>, algorithms: &'a [Algorithm]) -> Self {
        Self { stream, algorithms, images: Mutex::default() }
    }

    /// The stream, for as long as it is held.
    pub(super) fn stream(&self) -> MutexGuard<'a, TarStream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn images(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WriteInOrder for StreamedMembers<'_> {
    type Run = StreamedRun;

    fn prepare(&self, run: &[RunMember<'_>], _: &mut Buffers) -> Result<Option<StreamedRun>> {
        let Some(contents) = contents(run) else { return Ok(None) };
        let mut image = self.images().pop().unwrap_or_default();
        // To let it grow would leave holes of every size it had.
        image.reserve_exact(USUAL);
        let copied = Copied::of_each(self.algorithms, &contents);
        let append =
            |((RunMember { member, .. }, content), copied): ((&RunMember<'_>, &&[u8]), _)| {
                image.extend_from_slice(&tar_header(member)?);
                image.extend_from_slice(content);
                image.extend_from_slice(tar::padding(member.size));
                Ok(Placed::stored(member, 0, copied))
            };
        let placed = run.iter().zip(&contents).zip(copied).map(append).collect::<Result<_>>()?;
        Ok(Some(StreamedRun { placed, image }))
    }

    fn write_prepared<'m>(
        &self,
        _: impl Iterator<Item = NewMember<'m>>,
        StreamedRun { placed, mut image }: StreamedRun,
        _: &mut Buffers,
    ) -> Result<Vec<Placed>> {
        self.stream().put(&image)?;
        image.clear();
        self.images().push(image);
        Ok(placed)
    }
}

/// Writes a file from its beginning on.
#[derive(Debug)]
struct Appending {
    file: File,
    at: u64,
}

impl Write for Appending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(bytes, self.at)?;
        self.at = self.at.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
