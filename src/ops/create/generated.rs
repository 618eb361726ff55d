//! The members that the pack itself needs, written behind the payload: its description, its manifests,
//! the tag files of a bag.

use std::cell::Cell;

use super::super::bag::write as bag;
use super::listed::Lists;
use super::members::Members;
use super::wide;
use crate::archive::{ArchiveWriter, MemberKind, NewContent, NewMember, Pieces};
use crate::digest::{Algorithm, Digests};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::manifest::NameEncoding;
use crate::pack::{self, PACK_DOCUMENT, PackDocument};
use crate::path::MemberPath;

/// Writes the members that the pack itself needs.
pub(super) struct Generated<'a, 'p> {
    pub(super) writer: ArchiveWriter<'a>,
    pub(super) members: Members<'p>,
    pub(super) algorithms: &'p [Algorithm],
    pub(super) jobs: usize,
    /// The manifest beside the archive.
    pub(super) external: Option<&'p File>,
    pub(super) bytes: u64,
    pub(super) files: u64,
}

impl Generated<'_, '_> {
    pub(super) fn add(&mut self, name: &str, content: &[u8]) -> Result<(MemberPath, Digests)> {
        let (path, member) = self.member(name, wide(content.len()))?;
        let content = NewContent::Bytes(content);
        Ok((path, self.writer.write_one(&member, self.algorithms, content)?))
    }

    /// Adds the manifest of the payload by each algorithm.
    pub(super) fn add_payload_manifests(
        &mut self,
        lists: &Lists<'_>,
    ) -> Result<Vec<(MemberPath, Digests)>> {
        let algorithms = self.algorithms.iter();
        algorithms.map(|algorithm| self.add_payload_manifest(lists, *algorithm)).collect()
    }

    /// Adds one of them block by block: it would take more room than what it is made of. The one by SHA-256
    /// goes beside the archive as well.
    fn add_payload_manifest(
        &mut self,
        lists: &Lists<'_>,
        algorithm: Algorithm,
    ) -> Result<(MemberPath, Digests)> {
        let external = self.external.filter(|_| algorithm == Algorithm::Sha256);
        let jobs = self.jobs;
        let len = lists.len_of(algorithm, jobs);
        let name = pack::manifest_name(algorithm);
        self.add_pieces(&name, len, &|sink| {
            let mut at = 0_u64;
            lists.each_block(algorithm, jobs, |block| {
                if let Some(external) = external {
                    external.write_all_at(block, at)?;
                }
                at = at.saturating_add(wide(block.len()));
                sink(block)
            })
        })
    }

    /// Adds the description of the pack, which is made as it is written as well.
    pub(super) fn add_document(
        &mut self,
        document: &PackDocument<'_>,
    ) -> Result<(MemberPath, Digests)> {
        let jobs = self.jobs;
        self.add_pieces(PACK_DOCUMENT, document.len(jobs), &|sink| {
            document.each_block(jobs, |block| sink(block.as_bytes()))
        })
    }

    /// Adds a member of `len` bytes.
    fn add_pieces(
        &mut self,
        name: &str,
        len: u64,
        pieces: &Pieces<'_>,
    ) -> Result<(MemberPath, Digests)> {
        let (path, member) = self.member(name, len)?;
        let written = Cell::new(0_u64);
        let counted: &Pieces<'_> = &|sink| {
            written.set(0);
            pieces(&mut |block| {
                written.set(written.get().saturating_add(wide(block.len())));
                sink(block)
            })
        };
        let content = NewContent::Pieces(counted);
        let digests = self.writer.write_one(&member, self.algorithms, content)?;
        // Its length was counted beforehand, for the header that stands before it.
        if written.get() != len {
            return Err(Error::Interrupted);
        }
        Ok((path, digests))
    }

    fn member(&mut self, name: &str, size: u64) -> Result<(MemberPath, NewMember<'static>)> {
        let path = MemberPath::new(self.members.placement.place_tag(name))?;
        let member = NewMember {
            path: path.as_str().to_owned().into(),
            kind: MemberKind::File,
            size,
            modified: self.members.time(),
            align_at: None,
        };
        self.bytes = self.bytes.saturating_add(size);
        self.files = self.files.saturating_add(1);
        Ok((path, member))
    }

    /// Adds the manifest of the tag files of a bag by each algorithm.
    pub(super) fn add_tag_manifests(&mut self, tags: &[(MemberPath, Digests)]) -> Result<()> {
        for algorithm in self.algorithms.iter().copied() {
            let text = bag::manifest_text(algorithm, NameEncoding::Percent, tags);
            self.add(&format!("tag{}", pack::manifest_name(algorithm)), &text)?;
        }
        Ok(())
    }
}
