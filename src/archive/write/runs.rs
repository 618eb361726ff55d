//! Runs of small neighbours, written in their order as they come from several jobs.

use super::packed::{PackedMembers, Packing};
use super::positional::StoredMembers;
use super::streamed::StreamedMembers;
use super::turns::Turns;
use super::{NewMember, Placed};
use crate::error::Result;

/// Writes runs, each once everything before it has its place. Runs are numbered from 0 without a gap, and begun
/// in their order.
pub(crate) enum Runs<'a> {
    Stored(StoredMembers<'a>),
    Packed(Box<PackedMembers<'a>>),
    Streamed(StreamedMembers<'a>),
}

/// A member of a run, and its content unless that comes later.
#[derive(Debug)]
pub(crate) struct RunMember<'a> {
    pub(crate) member: NewMember<'a>,
    pub(crate) content: Option<&'a [u8]>,
}

/// What one job writes with.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(super) image: Vec<u8>,
    pub(super) block: Vec<u8>,
    /// For files that are copied side by side.
    pub(super) spare: Vec<Vec<u8>>,
    pub(super) packing: Option<Packing>,
}

impl<'a> Runs<'a> {
    /// Where members are stored as they are, what comes later has its place.
    pub(crate) fn stored(&self) -> Option<&StoredMembers<'a>> {
        match self {
            Self::Stored(stored) => Some(stored),
            Self::Packed(_) | Self::Streamed(_) => None,
        }
    }

    fn turns(&self) -> &Turns {
        match self {
            Self::Stored(stored) => stored.turns(),
            Self::Packed(packed) => packed.turns(),
            Self::Streamed(streamed) => streamed.turns(),
        }
    }

    /// Does all of the work on run number `run`, which calls [`Self::write_run`] once.
    pub(crate) fn in_turn<T>(&self, run: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.turns().in_turn(run, work)
    }

    /// Whether no further run will be written, as far as is known here.
    pub(crate) fn are_closed(&self) -> bool {
        self.turns().are_closed()
    }

    /// Gives the members of a run their places, and writes those whose content is there.
    ///
    /// Members that are not stored as they are need the lengths of all before them. Where a content is to come
    /// later, neither that run nor any behind it is written, and `None` is given.
    pub(crate) fn write_run(
        &self,
        run: usize,
        members: &[RunMember<'_>],
        buffers: &mut Buffers,
    ) -> Result<Option<Vec<Placed>>> {
        match self {
            Self::Stored(stored) => stored.write_run(run, members, buffers).map(Some),
            Self::Packed(packed) => packed.write_run(run, members, buffers),
            Self::Streamed(streamed) => streamed.write_run(run, members, buffers),
        }
    }

    /// Where the next member begins, when all runs have been written; a stream knows itself.
    pub(crate) fn end(&self) -> u64 {
        self.turns().at()
    }
}
