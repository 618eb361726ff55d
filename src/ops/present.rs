//! The files of a pack by name, with their digests: what manifests are held against.

use crate::digest::{Algorithm, Digest, Digests};

/// Every file that a manifest may list, sorted by its name in the pack, with its digests where it could
/// be read.
#[derive(Debug, Default)]
pub(super) struct Present<'a> {
    files: Vec<(&'a str, Option<Hashed<'a>>)>,
}

/// The digests of a file.
#[derive(Debug)]
enum Hashed<'a> {
    Once(&'a Digests),
    /// By one pass and by another.
    Twice(Box<Digests>),
}

impl Hashed<'_> {
    fn digests(&self) -> &Digests {
        match self {
            Self::Once(digests) => digests,
            Self::Twice(digests) => digests,
        }
    }
}

impl<'a> Present<'a> {
    /// Of several files of one name, the last counts. They are best given in order.
    pub(super) fn new(files: impl Iterator<Item = (&'a str, Option<&'a Digests>)>) -> Self {
        let files = files.map(|(name, digests)| (name, digests.map(Hashed::Once)));
        let mut files: Vec<_> = files.collect();
        if !files.is_sorted_by(|(one, _), (other, _)| one < other) {
            files.reverse();
            files.sort_by_key(|(name, _)| *name);
            files.dedup_by_key(|(name, _)| *name);
        }
        Self { files }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.files.iter().map(|(name, _)| *name)
    }

    /// Each name, with the digests where the file could be read.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, Option<&Digests>)> {
        self.files.iter().map(|(name, hashed)| (*name, hashed.as_ref().map(Hashed::digests)))
    }

    /// Each name, with the digest by one algorithm where there is one.
    pub(super) fn by(
        &self,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = (&'a str, Option<Digest>)> {
        self.iter().map(move |(name, digests)| (name, digests.and_then(|all| all.by(algorithm))))
    }

    /// Adds digests of a file that has some.
    pub(super) fn add(&mut self, name: &str, more: &Digests) {
        if let Ok(at) = self.files.binary_search_by(|(other, _)| (*other).cmp(name))
            && let Some((_, Some(hashed))) = self.files.get_mut(at)
        {
            *hashed = Hashed::Twice(Box::new(hashed.digests().and(more)));
        }
    }

    /// Whether a file is there and could be read.
    pub(super) fn was_read(&self, name: &str) -> bool {
        let at = self.files.binary_search_by(|(other, _)| (*other).cmp(name));
        at.ok().and_then(|at| self.files.get(at)).is_some_and(|(_, hashed)| hashed.is_some())
    }
}
