//! The payload as it was written: what the manifests list.

use std::borrow::Cow;

use super::members::Members;
use super::wide;
use crate::archive::{MemberKind, NewMember, Records, Written};
use crate::digest::{Algorithm, Digest, Digests};
use crate::error::Result;
use crate::manifest::{NameEncoding, line_len, push_line};
use crate::ops::survey::{SourceEntry, State};
use crate::path::MemberPath;

/// The members of the payload in the order of their names.
pub(super) enum Payload<'p> {
    /// Written as they were found.
    Found(&'p [SourceEntry]),
    /// Written from a list of them.
    Listed(Vec<Origin<'p>>, Written),
}

/// Where a member comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin<'a> {
    Source(&'a SourceEntry),
    Made(&'a MemberPath, &'a [u8]),
    /// The directory of a bag that has nothing in it.
    PayloadDirectory,
}

impl<'a> Origin<'a> {
    /// The name in the source, which orders as the one in the archive.
    pub(super) fn name(&self) -> &'a str {
        match *self {
            Self::Source(SourceEntry { path, .. }) | Self::Made(path, _) => path.as_str(),
            Self::PayloadDirectory => "",
        }
    }

    pub(super) fn member(self, members: Members<'a>) -> Option<NewMember<'a>> {
        match self {
            Self::Source(SourceEntry { path, header_len, state }) => {
                Some(members.unchecked(path, state.stamp(), header_len.map(u64::from)))
            }
            Self::Made(path, text) => Some(members.made(path, wide(text.len()))),
            Self::PayloadDirectory => members.payload_directory(),
        }
    }
}

impl Payload<'_> {
    /// The files, by their names in the archive: their lengths and digests.
    pub(super) fn files<'s>(
        &'s self,
        members: Members<'s>,
    ) -> Box<dyn Iterator<Item = (Cow<'s, str>, u64, &'s Digests)> + 's> {
        match self {
            Self::Found(entries) => Box::new(entries.iter().filter_map(move |entry| {
                let State::Written(MemberKind::File, size, _, placed) = &entry.state else {
                    return None;
                };
                let name = members.placement.placed(entry.path.as_str());
                Some((name, *size, &placed.digests))
            })),
            Self::Listed(origins, written) => {
                let new = origins.iter().filter_map(move |origin| origin.member(members));
                let files = new
                    .zip(written.digests())
                    .filter(|(member, _)| member.kind == MemberKind::File);
                Box::new(files.map(|(member, digests)| (member.path, member.size, digests)))
            }
        }
    }

    /// What the directory of the archive says of each member.
    pub(super) fn records<'s>(&'s self, members: Members<'s>) -> Records<'s, 's> {
        match self {
            Self::Found(entries) => Box::new(entries.iter().filter_map(move |entry| {
                let State::Written(_, _, _, placed) = &entry.state else { return None };
                let member = members.of(entry)?;
                let record = placed.record(&member);
                Some((member, record))
            })),
            Self::Listed(origins, written) => {
                written.records(origins.iter().filter_map(move |origin| origin.member(members)))
            }
        }
    }
}

/// Bytes of a manifest that are made at once.
pub(super) const BLOCK: usize = 64 * 1024;

/// The manifests of the payload, made as they are written.
pub(super) struct Lists<'p> {
    payload: &'p Payload<'p>,
    members: Members<'p>,
    names: NameEncoding,
    /// A file beside the payload that has a line among the others.
    pub(super) own: Option<(&'p str, Digests)>,
    /// Bytes of all files of the payload.
    pub(super) bytes: u64,
    /// How many there are.
    pub(super) files: u64,
}

impl<'p> Lists<'p> {
    pub(super) fn new(payload: &'p Payload<'p>, members: Members<'p>, names: NameEncoding) -> Self {
        let count = |(bytes, files): (u64, u64), size: u64| {
            (bytes.saturating_add(size), files.saturating_add(1))
        };
        let (bytes, files) = payload.files(members).map(|(_, size, _)| size).fold((0, 0), count);
        Self { payload, members, names, own: None, bytes, files }
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
        for (name, _, digests) in self.payload.files(self.members) {
            // In a bag, manifests name files relative to its own directory.
            let name = self.members.placement.relative(&name).unwrap_or(&name);
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
