//! The payload as it was written: what the manifests list.

use std::borrow::Cow;

use super::members::Members;
use super::wide;
use crate::archive::{MemberKind, Records};
use crate::digest::{Algorithm, Digest, Digests};
use crate::error::Result;
use crate::manifest::{NameEncoding, line_len, push_line};
use crate::ops::survey::{SourceEntry, State};

/// The members of the payload in the order of their names.
#[derive(Clone, Copy)]
pub(super) struct Payload<'p> {
    pub(super) entries: &'p [SourceEntry],
    pub(super) members: Members<'p>,
}

impl<'p> Payload<'p> {
    /// The files, by their names in the archive: their lengths and digests.
    pub(super) fn files(self) -> impl Iterator<Item = (Cow<'p, str>, u64, &'p Digests)> {
        self.entries.iter().filter_map(move |entry| {
            let State::Written(MemberKind::File, size, _, placed) = &entry.state else {
                return None;
            };
            let name = self.members.placement.placed(entry.path.as_str());
            Some((name, *size, &placed.digests))
        })
    }

    /// What the directory of the archive says of each member.
    pub(super) fn records(self) -> Records<'p, 'p> {
        Box::new(self.entries.iter().filter_map(move |entry| {
            let State::Written(_, _, _, placed) = &entry.state else { return None };
            Some((self.members.of(entry)?, placed.record))
        }))
    }
}

/// Bytes of a manifest that are made at once.
pub(super) const BLOCK: usize = 64 * 1024;

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
        let count = |(bytes, files): (u64, u64), size: u64| {
            (bytes.saturating_add(size), files.saturating_add(1))
        };
        let (bytes, files) = payload.files().map(|(_, size, _)| size).fold((0, 0), count);
        Self { payload, names, own: None, bytes, files }
    }

    /// The length of the manifest by one algorithm.
    pub(super) fn len_of(&self, algorithm: Algorithm) -> u64 {
        let mut len = 0_u64;
        let counted = self.each(algorithm, |name, digest| {
            len = len.saturating_add(wide(line_len(self.names, name, digest)));
            Ok(())
        });
        // To count cannot fail.
        counted.map_or(0, |()| len)
    }

    /// Gives the manifest by one algorithm in blocks.
    pub(super) fn each_block(
        &self,
        algorithm: Algorithm,
        mut sink: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut block = Vec::new();
        self.each(algorithm, |name, digest| {
            push_line(&mut block, self.names, name, digest);
            if block.len() >= BLOCK {
                sink(&block)?;
                block.clear();
            }
            Ok(())
        })?;
        sink(&block)
    }

    /// Gives each file that is listed, in the order of their names.
    fn each(
        &self,
        algorithm: Algorithm,
        mut take: impl FnMut(&str, &Digest) -> Result<()>,
    ) -> Result<()> {
        let mut take = |name: &str, digests: &Digests| match digests.by(algorithm) {
            Some(digest) => take(name, &digest),
            None => Ok(()),
        };
        let mut own = self.own.as_ref();
        for (name, _, digests) in self.payload.files() {
            // In a bag, manifests name files relative to its own directory.
            let name = self.payload.members.placement.relative(&name).unwrap_or(&name);
            if let Some((own, digests)) = own.take_if(|(own, _)| name > *own) {
                take(own, digests)?;
            }
            take(name, digests)?;
        }
        match own {
            Some((own, digests)) => take(own, digests),
            None => Ok(()),
        }
    }
}
