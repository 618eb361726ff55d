//! Entities of a document by path, for packs of a hundred thousand arrays, and the places of what is
//! said about them.

use std::collections::HashMap;

use super::contents::{Described, Entity};
use super::{DescriptionFacts, entity_path};
use crate::finding::Finding;
use crate::ndl::{self, DimCoord, Document, Group, SourceMap, Span, Step, ancestors};

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
