//! The members that the pack itself needs, written behind the payload: its description, its manifests,
//! the tag files of a bag.

use super::super::bag::write as bag;
use super::{CreateOptions, FIXED_TIME, Plan, wide};
use crate::archive::{ArchiveWriter, MemberKind, NewMember};
use crate::digest::{Algorithm, Digests};
use crate::error::Result;
use crate::manifest::NameEncoding;
use crate::pack;
use crate::path::MemberPath;

/// Writes the members that the pack itself needs.
pub(super) struct Generated<'a, 'p> {
    pub(super) writer: ArchiveWriter<'a>,
    pub(super) plan: &'p Plan<'p>,
    pub(super) options: &'p CreateOptions,
    pub(super) bytes: u64,
    pub(super) files: u64,
}

impl Generated<'_, '_> {
    pub(super) fn add(&mut self, name: &str, content: &[u8]) -> Result<(MemberPath, Digests)> {
        let path = MemberPath::new(self.plan.placement.place_tag(name))?;
        let member = NewMember {
            path: path.clone(),
            kind: MemberKind::File,
            size: wide(content.len()),
            modified: self.options.timestamp.unwrap_or(FIXED_TIME),
            align_at: None,
        };
        self.writer.write_bytes(&member, content)?;
        self.bytes = self.bytes.saturating_add(member.size);
        self.files = self.files.saturating_add(1);
        Ok((path, Digests::of(&self.plan.algorithms, content)))
    }

    /// Adds a manifest by each algorithm.
    pub(super) fn add_manifests(
        &mut self,
        prefix: &str,
        names: NameEncoding,
        listed: &[(MemberPath, Digests)],
    ) -> Result<Manifests> {
        let mut manifests = Manifests { added: Vec::new(), sha256: Vec::new() };
        for algorithm in self.plan.algorithms.iter().copied() {
            let text = bag::manifest_text(algorithm, names, listed);
            let name = format!("{prefix}{}", pack::manifest_name(algorithm));
            manifests.added.push(self.add(&name, &text)?);
            if algorithm == Algorithm::Sha256 {
                manifests.sha256 = text;
            }
        }
        Ok(manifests)
    }
}

/// Manifests that were written.
pub(super) struct Manifests {
    pub(super) added: Vec<(MemberPath, Digests)>,
    /// The text of the one by SHA-256.
    pub(super) sha256: Vec<u8>,
}
