//! Reads members at known locations: a first read of each member in a list, or a second read after a scan has found and
//! checked the locations. Only the contents are read.

use std::io::BufRead;

use super::data::MemberReader;
use super::{Member, Scan};
use crate::digest::Hashing;
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::pipeline;

/// Maximum total size of a portion of several members, in bytes.
pub(super) const BYTES: u64 = 4 * 1024 * 1024;
/// The content of a member to visit.
pub(crate) struct Shown<'c> {
    /// Its position among the wanted ones.
    pub(crate) position: usize,
    pub(crate) content: &'c mut dyn BufRead,
    /// The thread that should hash it.
    #[cfg_attr(not(feature = "full"), expect(dead_code, reason = "reading alone never uses it"))]
    pub(crate) hashing: Hashing,
}

/// Contents to visit, each with its position among the wanted ones. Each is opened on demand.
pub(crate) type OpenContents<'c> = dyn Iterator<Item = Result<(usize, MemberReader)>> + 'c;

/// A visitor of contents.
pub(crate) trait Revisit: Sync {
    /// State of each job.
    type Worker;
    /// The result for a member.
    type Output: Send;

    fn worker(&self) -> Self::Worker;

    /// Visits one member. After an error, no other is begun.
    fn one(&self, state: &mut Self::Worker, shown: Shown<'_>) -> Result<Self::Output>;

    /// Returns the useful numbers of large contents to read at once, largest first. Empty if one after the other is as
    /// fast.
    fn at_once(&self) -> &'static [usize] {
        &[]
    }

    /// Visits large contents, `at_once` of them at a time. Returns each result with its position.
    fn several(
        &self,
        _state: &mut Self::Worker,
        _width: usize,
        _contents: &mut OpenContents<'_>,
    ) -> Result<Vec<(usize, Self::Output)>> {
        unreachable!("`at_once` is empty")
    }
}

/// A member before its visit, then the result.
enum Slot<K> {
    Found(Member),
    Kept(K),
}

/// Visits every member on `jobs` threads. Each has a state and takes `step` members at a time.
///
/// # Errors
///
/// Returns the first error of `look`.
pub(super) fn look_at_each<S, K: Send>(
    jobs: usize,
    members: Vec<Member>,
    step: usize,
    state: impl Fn() -> S + Sync,
    look: impl Fn(&mut S, Member, &mut Vec<Finding>) -> Result<K> + Sync,
) -> Result<Scan<K>> {
    let mut slots: Vec<_> = members.into_iter().map(|member| Some(Slot::Found(member))).collect();
    let found = pipeline::share(jobs, slots.chunks_mut(step), state, |state, slots| {
        let mut findings = Vec::new();
        for slot in slots {
            if let Some(Slot::Found(member)) = slot.take() {
                *slot = Some(Slot::Kept(look(state, member, &mut findings)?));
            }
        }
        Ok::<_, Error>(findings)
    })?;
    let kept = slots.into_iter().filter_map(|slot| match slot {
        Some(Slot::Kept(kept)) => Some(kept),
        _ => None,
    });
    Ok(Scan { members: kept.collect(), findings: found.into_iter().flatten().collect() })
}
