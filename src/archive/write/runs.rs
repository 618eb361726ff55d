//! Runs of small neighbours, as they come from several jobs.

use super::packed::PackedMembers;
use super::packer::Packer;
use super::positional::StoredMembers;
use super::streamed::StreamedMembers;
use super::{NewMember, Placed};
use crate::error::Result;

/// Writes runs of members.
pub(crate) enum Runs<'a> {
    /// Their lengths say where they lie, so that every job writes its own.
    Stored(StoredMembers<'a>),
    Packed(Box<PackedMembers<'a>>),
    Streamed(StreamedMembers<'a>),
}

/// What writes runs of which nobody knows where they lie until all before them are packed: any job prepares them, and
/// they are written one after the other.
pub(crate) trait WriteInOrder: Sync {
    /// A run that is hashed and packed.
    type Run: Send;

    /// Hashes and packs a run, unless a content of it is to come later.
    fn prepare(&self, run: &[RunMember<'_>], buffers: &mut Buffers) -> Result<Option<Self::Run>>;

    /// Writes a run, and gives the places of its members, behind those that were written before.
    fn write_prepared<'m>(
        &self,
        members: impl Iterator<Item = NewMember<'m>>,
        run: Self::Run,
        buffers: &mut Buffers,
    ) -> Result<Vec<Placed>>;
}

/// A member of a run, and its content unless that comes later.
#[derive(Debug)]
pub(crate) struct RunMember<'a> {
    pub(crate) member: NewMember<'a>,
    pub(crate) content: Option<&'a [u8]>,
}

/// What one job prepares and writes with, as far as it needs it.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(super) image: Vec<u8>,
    pub(super) block: Vec<u8>,
    /// For files that are copied side by side.
    pub(super) spare: Vec<Vec<u8>>,
    pub(super) packer: Option<Packer>,
}

/// The contents of a run, if all are there.
pub(super) fn contents<'r>(run: &'r [RunMember<'_>]) -> Option<Vec<&'r [u8]>> {
    run.iter().map(|run| run.content).collect()
}

impl<'a> Runs<'a> {
    /// Where members are stored as they are, what comes later has its place.
    pub(crate) fn stored(&self) -> Option<&StoredMembers<'a>> {
        match self {
            Self::Stored(stored) => Some(stored),
            Self::Packed(_) | Self::Streamed(_) => None,
        }
    }

    /// Where the next member begins, when all runs have been written; a stream knows itself.
    pub(crate) fn end(&self) -> u64 {
        match self {
            Self::Stored(stored) => stored.end(),
            Self::Packed(packed) => packed.end(),
            Self::Streamed(_) => 0,
        }
    }
}
