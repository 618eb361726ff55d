//! Members that are all known before their contents are read: what is kept of each takes its place.

use super::{Member, Scan};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::pipeline;

/// A member before it was looked at, and what is kept of it then.
enum Slot<K> {
    Found(Member),
    Kept(K),
}

/// Looks at every member, on `jobs` threads that take `step` of them at a time and have a state each.
///
/// # Errors
///
/// When `look` gives one.
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
