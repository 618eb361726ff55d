//! What each file of the source is called in the archive, and what its header says.

use std::collections::HashSet;

use super::{CreateOptions, FIXED_TIME, wide};
use crate::archive::{Container, MemberKind, NewMember};
use crate::error::Result;
use crate::fs::Stamp;
use crate::ops::survey::{SourceEntry, State};
use crate::pack::{self, BAG_DECLARATION, Layout, PACK_DOCUMENT, Placement};
use crate::path::{self, MemberPath};

/// Makes members of files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Members<'a> {
    pub(super) placement: &'a Placement,
    pub(super) options: &'a CreateOptions,
    pub(super) container: Container,
}

/// Whether a file of the source is no member of the payload: what is made anew, or goes elsewhere.
pub(super) fn is_aside(name: &str) -> bool {
    name == BAG_DECLARATION
        || name == PACK_DOCUMENT
        || pack::is_signature(name)
        || pack::manifest_algorithm(name).is_some()
}

/// Refuses a member whose name is none in the archive.
pub(super) fn check_name(member: &NewMember<'_>) -> Result<()> {
    if !path::is_sound(&member.path) {
        MemberPath::new(&*member.path)?;
    }
    Ok(())
}

impl Members<'_> {
    /// Marks the directories that are no members.
    pub(super) fn mark_implied(self, entries: &mut [SourceEntry]) {
        let mut occupied = HashSet::new();
        let mut last = None;
        for entry in &*entries {
            let parent = entry.path.parent();
            if parent != last {
                occupied.extend(parent.map(Box::<str>::from));
                last = parent;
            }
        }
        let has_directories = self.options.layout != Layout::BagIt;
        for SourceEntry { path, state, .. } in entries {
            let name = path.as_str();
            let is_member = || has_directories && !is_aside(name) && !occupied.contains(name);
            if matches!(state, State::Directory) && !is_member() {
                *state = State::Implied;
            }
        }
    }

    /// The time of what has none of its own.
    pub(super) fn time(self) -> u64 {
        self.options.timestamp.unwrap_or(FIXED_TIME)
    }

    /// A file that looks like `stamp`, or a directory.
    pub(super) fn member<'p>(
        self,
        path: &'p MemberPath,
        stamp: Option<&Stamp>,
        header_len: Option<u64>,
    ) -> NewMember<'p> {
        let kind = if stamp.is_some() { MemberKind::File } else { MemberKind::Directory };
        let (size, modified) = stamp.map_or((0, 0), |stamp| (stamp.len(), stamp.modified()));
        self.placed(path, kind, size, modified, header_len)
    }

    /// The directory that a bag has, even when there is nothing in it.
    pub(super) fn payload_directory(self) -> Option<NewMember<'static>> {
        Some(NewMember {
            path: self.placement.payload_directory()?.into(),
            kind: MemberKind::Directory,
            size: 0,
            modified: self.time(),
            align_at: None,
        })
    }

    /// What an entry is in the archive, once somebody has looked at it.
    pub(super) fn of(self, entry: &SourceEntry) -> Option<NewMember<'_>> {
        let (kind, size, modified) = match &entry.state {
            State::Written(kind, size, modified, _) => (*kind, *size, *modified),
            State::Reserved(stamp, _) | State::Seen(stamp) | State::Kept(stamp, _) => {
                (MemberKind::File, stamp.len(), stamp.modified())
            }
            State::Made(text) => (MemberKind::File, wide(text.len()), self.time()),
            State::Directory => (MemberKind::Directory, 0, 0),
            State::Implied | State::Unseen => return None,
        };
        Some(self.placed(&entry.path, kind, size, modified, entry.header_len.map(u64::from)))
    }

    fn placed(
        self,
        path: &MemberPath,
        kind: MemberKind,
        size: u64,
        modified: u64,
        align_at: Option<u64>,
    ) -> NewMember<'_> {
        let is_kept = kind == MemberKind::File && self.options.preserve_mtime;
        NewMember {
            path: self.placement.placed(path.as_str()),
            kind,
            size,
            modified: if is_kept { modified } else { self.time() },
            align_at,
        }
    }
}
