//! The members that the pack itself needs, written behind the payload: its description, its manifests,
//! the tag files of a bag.

use super::super::bag::write as bag;
use super::members::Members;
use super::wide;
use crate::archive::{ArchiveWriter, MemberKind, NewMember};
use crate::digest::{Algorithm, Digests};
use crate::error::Result;
use crate::manifest::NameEncoding;
use crate::pack;
use crate::path::MemberPath;

/// Writes the members that the pack itself needs.
pub(super) struct Generated<'a, 'p> {
    pub(super) writer: ArchiveWriter<'a>,
    pub(super) members: Members<'p>,
    pub(super) algorithms: &'p [Algorithm],
    pub(super) bytes: u64,
    pub(super) files: u64,
}

impl Generated<'_, '_> {
    pub(super) fn add(&mut self, name: &str, content: &[u8]) -> Result<(MemberPath, Digests)> {
        let path = MemberPath::new(self.members.placement.place_tag(name))?;
        let member = NewMember {
            path: path.as_str().into(),
            kind: MemberKind::File,
            size: wide(content.len()),
            modified: self.members.time(),
            align_at: None,
        };
        self.writer.write_bytes(&member, content)?;
        self.bytes = self.bytes.saturating_add(member.size);
        self.files = self.files.saturating_add(1);
        Ok((path, Digests::of(self.algorithms, content)))
    }

    /// Adds the manifest of the payload by each algorithm.
    pub(super) fn add_payload_manifests(
        &mut self,
        texts: Vec<(Algorithm, Vec<u8>)>,
    ) -> Result<Manifests> {
        let mut manifests = Manifests { added: Vec::new(), sha256: Vec::new() };
        for (algorithm, text) in texts {
            manifests.added.push(self.add(&pack::manifest_name(algorithm), &text)?);
            if algorithm == Algorithm::Sha256 {
                manifests.sha256 = text;
            }
        }
        Ok(manifests)
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

/// Manifests that were written.
pub(super) struct Manifests {
    pub(super) added: Vec<(MemberPath, Digests)>,
    /// The text of the one by SHA-256.
    pub(super) sha256: Vec<u8>,
}
