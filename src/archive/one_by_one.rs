//! Second reads of members after a scan, one at a time.

use std::sync::OnceLock;

use super::revisit::{Revisit, Shown};
use super::zip::NameLookup;
use super::{Archive, Member};
use crate::error::Result;

/// A visitor made of two functions. It visits one member at a time.
struct OneByOne<S, L>(S, L);

impl<S, T, M, L> Revisit for OneByOne<M, L>
where
    T: Send,
    M: Fn() -> S + Sync,
    L: Fn(&mut S, Shown<'_>) -> Result<T> + Sync,
{
    type Worker = S;
    type Output = T;

    fn worker(&self) -> S {
        (self.0)()
    }

    fn one(&self, state: &mut S, shown: Shown<'_>) -> Result<T> {
        (self.1)(state, shown)
    }
}

impl Archive {
    /// Drops the cached members. The caller of a scan has them.
    pub(crate) fn forget_members(&mut self) {
        match self {
            Self::Directory(_) => {}
            Self::Zip(zip) => {
                zip.directory = OnceLock::new();
                zip.lookup = NameLookup::default();
            }
            Self::Tar(tarball) => tarball.index = OnceLock::new(),
        }
    }

    /// Visits one member at a time. Each thread has its own `state`.
    pub(crate) fn revisit<S, T: Send>(
        &self,
        members: &[Member],
        wanted: &[usize],
        jobs: usize,
        state: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, Shown<'_>) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        self.revisit_by(members, wanted, jobs, &OneByOne(state, visit))
    }
}
