//! What documents refer to and do not hold: it may be elsewhere in the pack.

use std::collections::HashMap;
use std::ops::Bound;

use super::contents::{Contents, Described, Entity};
use super::coordinates::join_groups;
use super::{ARRAY_EXTENSION, ArrayFacts, DescriptionFacts, entity_path, group_of};
use crate::finding::Finding;
use crate::ndl::{
    self, CoordReference, DimCoord, Document, Group, MAX_DIAGNOSTICS, SourceMap, Span, Step,
    ancestors,
};
use crate::path::MemberPath;

impl Contents {
    /// Everything that is wrong with one document by itself, and what it refers to that is neither in
    /// it nor in the pack. `base` is the group of the pack that the document lies in.
    pub(crate) fn document_findings(
        &self,
        base: &str,
        member: &str,
        facts: &DescriptionFacts,
        findings: &mut Vec<Finding>,
    ) {
        findings.extend(facts.findings().iter().cloned());
        self.unresolved(base, member, facts, |_| true, findings);
    }

    /// What the documents of arrays refer to in vain, but for the shapes of the arrays themselves,
    /// which are checked with their headers.
    pub(super) fn reference_findings(&self, findings: &mut Vec<Finding>) {
        if let Some((member, facts)) = &self.pack_document {
            let without_file = |reference: &CoordReference| {
                let path = entity_path(&reference.group, &reference.ndarray);
                !self.is_array_at(&path) || facts.entity(&path).is_none()
            };
            self.unresolved("/", member, facts, without_file, findings);
        }
        for (path, facts) in &self.descriptions {
            if facts.unresolved().is_empty() && facts.unresolved_targets().is_empty() {
                continue;
            }
            let Some(array) = self.array_beside(path) else { continue };
            let described = self.description(array, &mut Vec::new());
            let other = |reference: &CoordReference| {
                described.is_none_or(|described| {
                    !matches!(described.entity, Entity::Ndarray(ndarray)
                        if described.group.path == reference.group
                            && ndarray.name == reference.ndarray)
                })
            };
            self.unresolved(&group_of(path), path.as_str(), facts, other, findings);
        }
    }

    fn unresolved(
        &self,
        base: &str,
        member: &str,
        facts: &DescriptionFacts,
        counts: impl Fn(&CoordReference) -> bool,
        findings: &mut Vec<Finding>,
    ) {
        if facts.unresolved().is_empty() && facts.unresolved_targets().is_empty() {
            return;
        }
        let Some(document) = facts.document() else { return };
        let coords = facts
            .unresolved()
            .iter()
            .filter(|reference| {
                let home = join_groups(base, &reference.group);
                counts(reference) && self.find_coordinate(&home, &reference.name).is_none()
            })
            .take(MAX_DIAGNOSTICS)
            .map(|reference| {
                reference.diagnostic(document.dimcoords().map(|(_, coord)| &*coord.name))
            });
        let targets = facts
            .unresolved_targets()
            .iter()
            .filter(|reference| !self.holds(&reference.target))
            .take(MAX_DIAGNOSTICS)
            .map(|reference| reference.diagnostic([]));
        let all = coords.chain(targets);
        findings.extend(all.map(|found| Finding::from_diagnostic(found, member, facts.text())));
    }

    /// Whether there is an array, a directory with arrays, or an entity of the pack's own document at a
    /// path of the pack.
    fn holds(&self, path: &str) -> bool {
        let below = format!("{}/", path.trim_matches('/'));
        let mut after = self.arrays.range::<str, _>((Bound::Included(&*below), Bound::Unbounded));
        let in_directory =
            after.next().is_some_and(|(array, _)| array.as_str().starts_with(&below));
        self.is_array_at(path) || in_directory || self.is_in_pack_document(path)
    }

    /// The array at a path of the pack.
    pub(super) fn array_at(&self, path: &str) -> Option<(&MemberPath, &ArrayFacts)> {
        let file = format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/'));
        self.arrays.get_key_value(&*file).map(|(path, facts)| (path, &**facts))
    }

    pub(super) fn is_array_at(&self, path: &str) -> bool {
        self.array_at(path).is_some()
    }
}

/// Where the entities of a document stand in it, by their paths: number of the group, number in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    ndarrays: HashMap<String, (usize, usize)>,
    dimcoords: HashMap<String, (usize, usize)>,
}

impl Places {
    pub(super) fn new(document: &Document) -> Self {
        let mut places = Self::default();
        for (at, group) in document.groups.iter().enumerate() {
            let path = |name: &str| entity_path(&group.path, name);
            let ndarrays = group.ndarrays.iter().enumerate();
            places.ndarrays.extend(ndarrays.map(|(nth, array)| (path(&array.name), (at, nth))));
            let dimcoords = group.dimcoords.iter().enumerate();
            places.dimcoords.extend(dimcoords.map(|(nth, coord)| (path(&coord.name), (at, nth))));
        }
        places
    }
}

impl DescriptionFacts {
    /// The ndarray, or else the dimcoord, at a path of the document.
    pub(super) fn entity(&self, path: &str) -> Option<(&Group, Entity<'_>)> {
        let (document, places) = self.places()?;
        if let Some(&(group, nth)) = places.ndarrays.get(path) {
            let group = document.groups.get(group)?;
            return Some((group, Entity::Ndarray(group.ndarrays.get(nth)?)));
        }
        self.dimcoord(path).map(|(group, dimcoord)| (group, Entity::DimCoord(dimcoord)))
    }

    /// Where the ndarray or dimcoord at a path stands: number of the group, number in it.
    pub(super) fn position(&self, path: &str) -> Option<(usize, usize)> {
        let (_, places) = self.places()?;
        places.ndarrays.get(path).or_else(|| places.dimcoords.get(path)).copied()
    }

    /// The dimcoord at a path of the document.
    pub(super) fn dimcoord(&self, path: &str) -> Option<(&Group, &DimCoord)> {
        let (document, places) = self.places()?;
        let &(group, nth) = places.dimcoords.get(path)?;
        let group = document.groups.get(group)?;
        Some((group, group.dimcoords.get(nth)?))
    }

    /// As [`Document::resolve_coord`], without a search.
    pub(super) fn resolve_coord(&self, group: &str, name: &str) -> Option<(&Group, &DimCoord)> {
        candidates(group, name).into_iter().find_map(|path| self.dimcoord(&path))
    }
}

/// The paths that a name in a shape of `group` may stand for, nearest first.
pub(crate) fn candidates(group: &str, name: &str) -> Vec<String> {
    if name.starts_with('/') {
        return vec![name.to_owned()];
    }
    ancestors(group).map(|group| entity_path(group, name)).collect()
}

/// The places in the texts of documents. A document is parsed once more for them, which is done only
/// when something is wrong; the pack's own, which may have much to report, not more than once.
#[derive(Debug, Default)]
pub(super) struct Sources {
    of_pack: Option<SourceMap>,
    /// The last one of the others.
    beside: Option<(String, SourceMap)>,
}

impl Sources {
    /// The place of something in an entity, or of what is nearest to it; see
    /// [`SourceMap::entity_span`].
    pub(super) fn span(
        &mut self,
        member: &str,
        facts: &DescriptionFacts,
        group: &str,
        name: &str,
        place: &[Step<'_>],
    ) -> Option<Span> {
        let parse = || ndl::parse(facts.text().as_bytes()).source;
        let source = if super::inspect::is_pack_document(member) {
            self.of_pack.get_or_insert_with(parse)
        } else {
            if self.beside.as_ref().is_none_or(|(known, _)| known != member) {
                self.beside = None;
            }
            &mut self.beside.get_or_insert_with(|| (member.to_owned(), parse())).1
        };
        source.entity_span(group, name, place)
    }

    /// The finding in the document of a description, at something in that description.
    pub(super) fn at(
        &mut self,
        described: &Described<'_>,
        finding: Finding,
        place: &[Step<'_>],
    ) -> Finding {
        let Described { member, facts, group, entity, .. } = *described;
        let finding = finding.in_member(member);
        match self.span(member, facts, &group.path, entity.name(), place) {
            Some(span) => finding.at_span(facts.text(), span),
            None => finding,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_upwards_and_paths_from_the_root() {
        assert_eq!(candidates("/a/b", "t"), ["/a/b/t", "/a/t", "/t"]);
        assert_eq!(candidates("/", "t"), ["/t"]);
        assert_eq!(candidates("/a/b", "/c/t"), ["/c/t"]);
    }

    #[test]
    fn entities_are_found_as_the_document_finds_them() {
        let text = "/: {dimcoords: {t: {size: 2, type: int8}}}\n\
                    /a: {ndarrays: {z: {shape: [t], type: int8}}, dimcoords: {u: {size: 1, type: int8}}}\n";
        let facts = DescriptionFacts::parse("manifest.yaml", text.as_bytes());
        let document = facts.document().unwrap();
        for (group, name) in [("/a", "t"), ("/a", "u"), ("/", "u"), ("/", "/a/u"), ("/a", "z")] {
            let found = facts.resolve_coord(group, name).map(|(_, coord)| coord);
            assert_eq!(found, document.resolve_coord(group, name).map(|(_, coord)| coord));
        }
        assert_eq!(facts.entity("/a/z").map(|(group, _)| &*group.path), Some("/a"));
        assert!(facts.entity("/z").is_none());
    }
}
