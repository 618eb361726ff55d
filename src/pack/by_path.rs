//! Values by the path of a member, in the order of the paths: a hundred thousand of them, made once, then
//! mostly walked from the first to the last.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::{Deref, Range};

use crate::path::MemberPath;

/// Values by path, in order.
#[derive(Debug, Clone)]
pub(crate) struct ByPath<P> {
    /// Sorted, and each path once. Values stay behind the pointers that they come by: to move a hundred
    /// thousand would take their room twice, and many may be one.
    entries: Vec<(MemberPath, P)>,
}

/// Where the last look-up ended. Who looks up one path after the other in their order finds each near it.
#[derive(Debug, Default)]
pub(crate) struct Near(Cell<usize>);

impl<P> Default for ByPath<P> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<P: Deref> FromIterator<(MemberPath, P)> for ByPath<P> {
    fn from_iter<I: IntoIterator<Item = (MemberPath, P)>>(entries: I) -> Self {
        Self::from(entries.into_iter().collect::<Vec<_>>())
    }
}

impl<P: Deref> From<Vec<(MemberPath, P)>> for ByPath<P> {
    /// Takes the entries where they are: there is no second list of them at any time.
    fn from(entries: Vec<(MemberPath, P)>) -> Self {
        let mut this = Self { entries };
        this.restore();
        this.entries.shrink_to_fit();
        this
    }
}

impl<P: Deref> Extend<(MemberPath, P)> for ByPath<P> {
    fn extend<I: IntoIterator<Item = (MemberPath, P)>>(&mut self, entries: I) {
        self.entries.extend(entries);
        self.restore();
    }
}

impl<'a, P: Deref> IntoIterator for &'a ByPath<P> {
    type Item = (&'a MemberPath, &'a P::Target);
    type IntoIter = std::iter::Map<
        std::slice::Iter<'a, (MemberPath, P)>,
        fn(&'a (MemberPath, P)) -> (&'a MemberPath, &'a P::Target),
    >;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter().map(|(path, value)| (path, &**value))
    }
}

impl<P: Deref> ByPath<P> {
    /// Puts the entries in order. Of several of one path the last counts.
    fn restore(&mut self) {
        if self.entries.is_sorted_by(|(one, _), (other, _)| one < other) {
            return;
        }
        self.entries.reverse();
        self.entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.entries.dedup_by(|(later, _), (first, _)| later == first);
    }

    /// Adds a value, in the place of another of that path.
    pub(crate) fn insert(&mut self, path: MemberPath, value: P) {
        match self.position(path.as_str()) {
            Ok(at) => {
                if let Some(entry) = self.entries.get_mut(at) {
                    entry.1 = value;
                }
            }
            Err(at) => self.entries.insert(at, (path, value)),
        }
    }

    fn position(&self, path: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|(other, _)| other.as_str().cmp(path))
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.position(path).is_ok()
    }

    pub(crate) fn get(&self, path: &str) -> Option<&P::Target> {
        self.entry(path).map(|(_, value)| value)
    }

    /// The entry of that path.
    pub(crate) fn entry(&self, path: &str) -> Option<(&MemberPath, &P::Target)> {
        let at = self.position(path).ok()?;
        self.entries.get(at).map(|(path, value)| (path, &**value))
    }

    /// The entry whose path is `stem`, a dot, and `extension`, looked for around the last one first.
    pub(crate) fn with_extension(
        &self,
        stem: &str,
        extension: &str,
        near: &Near,
    ) -> Option<(&MemberPath, &P::Target)> {
        let order = |path: &str| compare(path, stem, extension);
        let from = near.0.get();
        let around = (from..from.saturating_add(3))
            .find(|at| self.entries.get(*at).is_some_and(|(path, _)| order(path.as_str()).is_eq()));
        let at = match around {
            Some(at) => at,
            None => self.entries.binary_search_by(|(path, _)| order(path.as_str())).ok()?,
        };
        near.0.set(at);
        self.entries.get(at).map(|(path, value)| (path, &**value))
    }

    /// The entry of that path, looked for around the last one first.
    pub(crate) fn entry_near(&self, path: &str, near: &Near) -> Option<(&MemberPath, &P::Target)> {
        let (stem, extension) = path.rsplit_once('.')?;
        self.with_extension(stem, extension, near)
    }

    /// The first entry whose path is not before `path`.
    pub(crate) fn first_from(&self, path: &str) -> Option<(&MemberPath, &P::Target)> {
        let at = self.position(path).unwrap_or_else(|at| at);
        self.entries.get(at).map(|(path, value)| (path, &**value))
    }

    pub(crate) fn iter(&self) -> <&Self as IntoIterator>::IntoIter {
        self.into_iter()
    }

    /// Those of a range of their numbers.
    pub(crate) fn range(&self, range: Range<usize>) -> <&Self as IntoIterator>::IntoIter {
        let entries = self.entries.get(range).unwrap_or_default();
        entries.iter().map(|(path, value)| (path, &**value))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &MemberPath> {
        self.iter().map(|(path, _)| path)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &P::Target> {
        self.iter().map(|(_, value)| value)
    }

    /// Keeps the entries that `keep` says.
    pub(crate) fn retain(&mut self, keep: impl Fn(&MemberPath, &P::Target) -> bool) {
        self.entries.retain(|(path, value)| keep(path, value));
    }
}

/// How `path` compares with `stem`, a dot and `extension`.
fn compare(path: &str, stem: &str, extension: &str) -> Ordering {
    let path = path.as_bytes();
    let (head, tail) = path.split_at(path.len().min(stem.len()));
    let (dot, tail) = tail.split_at(tail.len().min(1));
    let rest = || dot.cmp(b".").then_with(|| tail.cmp(extension.as_bytes()));
    head.cmp(stem.as_bytes()).then_with(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(path: &str) -> MemberPath {
        MemberPath::new(path).unwrap()
    }

    proptest! {
        #[test]
        fn it_is_a_map_in_order(
            names in proptest::collection::vec("[ab.]{1,4}x", 0..12),
            more in proptest::collection::vec("[ab.]{1,4}x", 0..6),
        ) {
            let pairs = |names: &[String]| -> Vec<_> {
                names.iter().enumerate().map(|(at, name)| (path(name), Box::new(at))).collect()
            };
            let plain = |(path, value): (MemberPath, Box<usize>)| (path, *value);
            let mut expected: std::collections::BTreeMap<_, _> =
                pairs(&names).into_iter().map(plain).collect();
            let mut map: ByPath<Box<usize>> = pairs(&names).into_iter().collect();
            let (few, rest) = more.split_at(more.len() / 2);
            map.extend(pairs(few));
            expected.extend(pairs(few).into_iter().map(plain));
            for (path, value) in pairs(rest) {
                expected.insert(path.clone(), *value);
                map.insert(path, value);
            }
            prop_assert!(map.iter().eq(expected.iter()));
            for name in names.iter().chain(&more) {
                prop_assert_eq!(map.get(name), expected.get(name.as_str()));
                prop_assert!(map.contains(name));
                let next = expected.range(path(name)..).next();
                prop_assert_eq!(map.first_from(name), next);
            }
        }

        #[test]
        fn an_extension_is_found_from_anywhere(
            stems in proptest::collection::btree_set("[ab.]{1,4}", 0..12),
            asked in proptest::collection::vec("[ab.]{1,4}", 0..20),
        ) {
            let all = |stem: &String| [path(&format!("{stem}.ra")), path(&format!("{stem}.yaml"))];
            let map: ByPath<Box<()>> = stems.iter().flat_map(all).map(|path| (path, Box::new(()))).collect();
            let near = Near::default();
            for stem in stems.iter().chain(&asked) {
                for extension in ["ra", "yaml", "yml", ""] {
                    let whole = format!("{stem}.{extension}");
                    let found = map.with_extension(stem, extension, &near);
                    prop_assert_eq!(found, map.entry(&whole));
                    prop_assert_eq!(map.entry_near(&whole, &near), map.entry(&whole));
                }
            }
        }
    }
}
