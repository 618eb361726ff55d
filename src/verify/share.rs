//! The large files of a pack, shared between workers that have no memory in common. One of them verifies the pack
//! afterwards, and takes what the others found out.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::first_pass::left_out;
use super::options::KnownFiles;
use crate::archive::{Member, MemberKind};
use crate::inspect::visit::Visited;
use crate::pack::Content;
use crate::path;

/// Smallest number of bytes that are shared: each worker reads the headers of the whole pack.
const LEAST: u64 = 16 << 20;

/// The large files that one worker reads.
pub(super) struct Share {
    names: HashSet<Arc<str>>,
    known: Mutex<KnownFiles>,
}

impl Share {
    /// Gives each file, the largest first, to the worker that has the least to read.
    pub(super) fn new(members: Vec<Member>, nth: usize, count: usize) -> Self {
        let mut seen = HashMap::new();
        for member in &members {
            *seen.entry(Arc::clone(&member.name)).or_insert(0) += 1;
        }
        let is_shared = |member: &Member| {
            let is_one = seen.get(&member.name) == Some(&1) && path::is_valid(&member.name);
            is_one && member.kind == MemberKind::File && left_out(member).is_some()
        };
        let mut members: Vec<Member> = members.into_iter().filter(is_shared).collect();
        members.sort_by(|one, other| {
            let key = |member: &Member| Reverse(member.size);
            key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
        });
        let all = members.iter().fold(0_u64, |sum, member| sum.saturating_add(member.size));
        let mut loads = vec![0_u64; count.max(1)];
        let mut names = HashSet::new();
        for member in members.into_iter().filter(|_| all >= LEAST) {
            let least = loads.iter_mut().enumerate().min_by_key(|(_, load)| **load);
            let (worker, load) = least.expect("there is a worker");
            *load = load.saturating_add(member.size);
            if worker == nth {
                names.insert(member.name);
            }
        }
        Self { names, known: Mutex::default() }
    }

    /// Returns whether the worker has nothing to read.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns what the worker found out.
    pub(super) fn into_known(self) -> KnownFiles {
        self.known.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Keeps the results for the files that were read without a fault.
    pub(super) fn keep(&self, scanned: &[(Visited, Content)]) {
        let own = scanned.iter().filter(|(member, _)| self.has(&member.name));
        let known = own.filter_map(|(member, _)| {
            let read = member.read.as_ref()?;
            let extras = read.extras.as_deref();
            let is_intact =
                extras.is_none_or(|extras| extras.fault.is_none() && extras.refused.is_none());
            let digests = read.digests.as_ref().map_or_else(Vec::new, |made| made.iter().collect());
            is_intact.then(|| (member.name.to_string(), digests))
        });
        self.known.lock().unwrap_or_else(PoisonError::into_inner).extend(known);
    }
}
