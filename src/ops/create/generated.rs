//! The members that the pack itself needs, written after the payload: its description, its manifests,
//! the tag files of a bag.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use super::payload::PayloadMembers;
use crate::archive::{
    ArchiveWriter, ContentPieces, MemberKind, NewContent, NewMember, Placed, Records, Sampled,
};
use crate::digest::{Algorithm, Digests};
use crate::error::Result;
use crate::fs::File;
use crate::manifest::{Manifest, NameEncoding, push_line};
use crate::ops::survey::{EntrySource, SourceEntry};
use crate::pack::{self, PACK_DOCUMENT, PackDocument};
use crate::path::MemberPath;

/// Writes the members that the pack itself needs.
pub(super) struct Generated<'a, 'p> {
    pub(super) writer: ArchiveWriter<'a>,
    pub(super) members: PayloadMembers<'p>,
    pub(super) algorithms: &'p [Algorithm],
    /// The manifest beside the archive.
    pub(super) external: Option<&'p File>,
    pub(super) bytes: u64,
    pub(super) files: u64,
}

impl Generated<'_, '_> {
    pub(super) fn add(&mut self, name: &str, content: &[u8]) -> Result<(MemberPath, Digests)> {
        let (path, member) = self.member(name, content.len() as u64)?;
        Ok((path, self.write(&member, NewContent::Bytes(content))?))
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
        let name = pack::manifest_name(algorithm);
        let mut len = 0;
        lists.each_block(algorithm, |block| {
            len += block.len() as u64;
            Ok(())
        })?;
        self.add_pieces(&name, len, &|sink| {
            let mut at = 0;
            lists.each_block(algorithm, |block| {
                if let Some(external) = external {
                    external.write_all_at(block, at)?;
                }
                at += block.len() as u64;
                sink(block)
            })
        })
    }

    /// Adds the description of the pack, which is made as it is written as well.
    pub(super) fn add_document(
        &mut self,
        document: &PackDocument<'_>,
    ) -> Result<(MemberPath, Digests)> {
        self.add_pieces(PACK_DOCUMENT, document.len(), &|sink| {
            document.each_block(|block| sink(block.as_bytes()))
        })
    }

    /// Adds a member of `len` bytes.
    fn add_pieces(
        &mut self,
        name: &str,
        len: u64,
        pieces: &ContentPieces<'_>,
    ) -> Result<(MemberPath, Digests)> {
        let (path, member) = self.member(name, len)?;
        let written = Cell::new(0_u64);
        let counted: &ContentPieces<'_> = &|sink| {
            written.set(0);
            pieces(&mut |block| {
                written.set(written.get() + block.len() as u64);
                sink(block)
            })
        };
        let digests = self.write(&member, NewContent::Pieces(counted))?;
        assert_eq!(written.get(), len, "its header says how long it was when it was counted");
        Ok((path, digests))
    }

    fn write(&mut self, member: &NewMember<'_>, content: NewContent<'_>) -> Result<Digests> {
        let placed = self.writer.write(member, content)?;
        self.writer.list(member, &placed);
        Ok(placed.digests)
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
        self.files += 1;
        Ok((path, member))
    }

    /// Adds the manifest of the tag files of a bag by each algorithm.
    pub(super) fn add_tag_manifests(&mut self, tags: &[(MemberPath, Digests)]) -> Result<()> {
        for algorithm in self.algorithms.iter().copied() {
            let digests =
                tags.iter().map(|(path, digests)| (path.clone(), digests.made_by(algorithm)));
            let text = Manifest::new(algorithm, digests).to_text(NameEncoding::Percent);
            self.add(&format!("tag{}", pack::manifest_name(algorithm)), &text)?;
        }
        Ok(())
    }
}

/// The members of the payload in the order of their names.
#[derive(Clone, Copy)]
pub(super) struct Payload<'p> {
    pub(super) entries: &'p [SourceEntry],
    pub(super) members: PayloadMembers<'p>,
}

impl<'p> Payload<'p> {
    /// The files, by their names in the archive: their lengths and digests.
    pub(super) fn files(self) -> impl Iterator<Item = (Cow<'p, str>, u64, &'p Digests)> {
        written(self.entries).map(move |(entry, placed)| {
            let name = self.members.placement.placed(entry.path.as_str());
            (name, entry.size(), &placed.digests)
        })
    }

    /// Files whose contents are read back: few enough to take next to no time, and from all places of the
    /// archive; of a stream from its beginning, since all before each has to be read.
    pub(super) fn sample(self, is_stream: bool) -> Vec<Sampled<'p>> {
        /// Most files.
        const MOST: usize = 32;
        /// Bytes of them, where the archive is small.
        const BYTES: u64 = 256 * 1024;
        /// Of a large archive this part is read: a thousandth of the time that hashing it took, and less than ten
        /// of them where sixteen jobs shared it.
        const PART: u64 = 1024;
        let sizes = || self.files().map(|(_, size, _)| size);
        let mut left = sizes().fold(0, u64::saturating_add).div_euclid(PART).max(BYTES);
        let ends = sizes().scan(0_u64, |end, size| {
            *end = end.saturating_add(size);
            Some(*end)
        });
        let count =
            if is_stream { ends.take_while(|end| *end <= left).count() } else { ends.count() };
        let some = written(self.entries).take(count).step_by(count.div_ceil(MOST).max(1));
        let sampled = some.filter_map(|(entry, placed)| {
            let size = entry.size();
            // One that is too large takes nothing from those behind it.
            left = left.checked_sub(size)?;
            Some(Sampled {
                name: self.members.placement.placed(entry.path.as_str()),
                record: placed.record,
                size,
                sha256: placed.digests.made_by(Algorithm::Sha256),
            })
        });
        sampled.collect()
    }

    /// What the directory of the archive says of those of a range that are members.
    pub(super) fn records(self, range: Range<usize>) -> Records<'p, 'p> {
        let entries = self.entries.get(range).unwrap_or_default();
        Box::new(entries.iter().filter_map(move |entry| {
            Some((self.members.of(entry)?, entry.placed.as_ref()?.record))
        }))
    }
}

/// The files among entries that were written.
fn written(entries: &[SourceEntry]) -> impl Iterator<Item = (&SourceEntry, &Placed)> {
    entries.iter().filter_map(|entry| {
        let is_file = matches!(entry.source, EntrySource::File(_) | EntrySource::Made(_));
        Some((entry, entry.placed.as_ref().filter(|_| is_file)?))
    })
}

/// The manifests of the payload, made as they are written.
pub(super) struct Lists<'p> {
    payload: Payload<'p>,
    names: NameEncoding,
    /// A file beside the payload that has a line among the others.
    pub(super) own: Option<(&'p str, Digests)>,
    /// Bytes of all files of the payload.
    pub(super) bytes: u64,
    /// How many there are.
    pub(super) files: u64,
}

impl<'p> Lists<'p> {
    pub(super) fn new(payload: Payload<'p>, names: NameEncoding) -> Self {
        let (mut bytes, mut files) = (0_u64, 0);
        for (_, size, _) in payload.files() {
            bytes = bytes.saturating_add(size);
            files += 1;
        }
        Self { payload, names, own: None, bytes, files }
    }

    /// Gives the manifest by one algorithm in blocks.
    fn each_block(
        &self,
        algorithm: Algorithm,
        mut sink: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        const BLOCK: usize = 64 * 1024;
        let placement = self.payload.members.placement;
        let mut own = self.own.as_ref().map(|(name, digests)| (Cow::Borrowed(*name), digests));
        let mut files = self.payload.files().map(|(name, _, digests)| (name, digests)).peekable();
        let mut block = Vec::new();
        loop {
            let is_next = |(own, _): &(Cow<'_, str>, &Digests)| {
                files.peek().is_none_or(|(name, _)| *name > *own)
            };
            let file = if own.as_ref().is_some_and(is_next) { own.take() } else { files.next() };
            let Some((name, digests)) = file else { return sink(&block) };
            // In a bag, manifests name files relative to its own directory.
            let name = placement.relative(&name).unwrap_or(&name);
            push_line(&mut block, self.names, name, &digests.made_by(algorithm));
            if block.len() > BLOCK {
                sink(&block)?;
                block.clear();
            }
        }
    }
}
