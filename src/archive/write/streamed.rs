//! A compressed tar: one stream, written from its beginning to its end.

use std::io::{self, Write};

use super::copy;
use super::{Content, NewMember, NewMembers, tar_header};
use crate::archive::stream::{Encoder, StreamCompression};
use crate::archive::{MemberKind, tar};
use crate::digest::{Algorithm, Digests, Hashing};
use crate::error::{Error, Result};
use crate::fs::File;

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

    pub(super) fn write(&mut self, new: NewMembers<'_, '_, '_>) -> Result<Vec<Digests>> {
        let mut digests = Vec::with_capacity(new.count);
        let mut block = Vec::new();
        for (index, member) in new.of(0..new.count) {
            let content = match member.kind {
                MemberKind::Directory => Content::Bytes(b""),
                _ => (new.source)(index)?,
            };
            digests.push(self.write_member(&member, content, new.algorithms, &mut block)?);
        }
        Ok(digests)
    }

    pub(super) fn write_member(
        &mut self,
        member: &NewMember<'_>,
        content: Content<'_>,
        algorithms: &[Algorithm],
        block: &mut Vec<u8>,
    ) -> Result<Digests> {
        self.put(&tar_header(member)?)?;
        let copied =
            copy::copy(content, algorithms, Hashing::Beside, block, |block| self.put(block))?;
        self.pad(member)?;
        Ok(copied.digests)
    }

    pub(super) fn write_bytes(&mut self, member: &NewMember<'_>, content: &[u8]) -> Result<()> {
        self.put(&tar_header(member)?)?;
        self.put(content)?;
        self.pad(member)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.put(&tar::end_mark())?;
        self.encoder.finish().map_err(Error::io("write", self.file.path()))?;
        Ok(())
    }

    fn pad(&mut self, member: &NewMember<'_>) -> Result<()> {
        let padding = usize::try_from(tar::padding_after(member.size)).unwrap_or(0);
        self.put(&vec![0; padding])
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.encoder.write_all(bytes).map_err(Error::io("write", self.file.path()))
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
