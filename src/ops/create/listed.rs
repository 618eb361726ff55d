//! The payload as it was written: what the manifests list.

use std::borrow::Cow;

use super::members::Members;
use super::wide;
use crate::archive::{MemberKind, NewMember};
use crate::digest::{Algorithm, Digests};
use crate::manifest::{NameEncoding, push_line};
use crate::ops::survey::{SourceEntry, State};
use crate::path::MemberPath;

/// The members of the payload in the order of their names.
pub(super) enum Payload<'p> {
    /// Written as they were found.
    Found(&'p [SourceEntry]),
    /// Written from a list of them.
    Listed(Vec<Origin<'p>>, Vec<Digests>),
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
            Self::Listed(origins, digests) => {
                let new = origins.iter().filter_map(move |origin| origin.member(members));
                let files = new.zip(digests).filter(|(member, _)| member.kind == MemberKind::File);
                Box::new(files.map(|(member, digests)| (member.path, member.size, digests)))
            }
        }
    }

    /// Makes the manifests of all files.
    pub(super) fn lists(
        &self,
        members: Members<'_>,
        algorithms: &[Algorithm],
        names: NameEncoding,
        own: &str,
    ) -> Lists {
        let mut lists = Lists { texts: Vec::new(), bytes: 0, files: 0 };
        lists.texts = algorithms.iter().map(|algorithm| (*algorithm, Vec::new(), None)).collect();
        for (name, size, digests) in self.files(members) {
            lists.bytes = lists.bytes.saturating_add(size);
            lists.files = lists.files.saturating_add(1);
            // In a bag, manifests name files relative to its own directory.
            let name = members.placement.relative(&name).unwrap_or(&name);
            for (algorithm, text, gap) in &mut lists.texts {
                if gap.is_none() && name > own {
                    *gap = Some(text.len());
                }
                if let Some(digest) = digests.by(*algorithm) {
                    push_line(text, names, name, &digest);
                }
            }
        }
        lists
    }
}

/// The manifests of the payload.
pub(super) struct Lists {
    /// Each text, and where the line of a file would stand that is not yet in it.
    texts: Vec<(Algorithm, Vec<u8>, Option<usize>)>,
    /// Bytes of all files.
    pub(super) bytes: u64,
    /// How many files there are.
    pub(super) files: u64,
}

impl Lists {
    /// Adds the file that a gap was left for.
    pub(super) fn add(&mut self, names: NameEncoding, own: &str, digests: &Digests) {
        for (algorithm, text, gap) in &mut self.texts {
            let at = gap.unwrap_or(text.len());
            let mut line = Vec::new();
            if let Some(digest) = digests.by(*algorithm) {
                push_line(&mut line, names, own, &digest);
            }
            text.splice(at..at, line);
        }
    }

    pub(super) fn into_texts(self) -> Vec<(Algorithm, Vec<u8>)> {
        self.texts.into_iter().map(|(algorithm, text, _)| (algorithm, text)).collect()
    }
}
