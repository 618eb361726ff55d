//! Looking up the entities of one document many times: where each stands, by its path, so that the
//! answers can be kept beside the document that they point into.

use std::collections::HashMap;

use super::entity_path;
use crate::ndl::{DimCoord, Document, Group, Ndarray};

/// A group of the document, and an entity in it.
type Place = (usize, usize);

/// Positions by path. Only the document that it was made of can be asked with it.
#[derive(Debug, Clone)]
pub(super) struct Lookup {
    ndarrays: HashMap<String, Place>,
    dimcoords: HashMap<String, Place>,
}

impl Lookup {
    pub(super) fn new(document: &Document) -> Self {
        let mut this = Self { ndarrays: HashMap::new(), dimcoords: HashMap::new() };
        for (at, group) in document.groups.iter().enumerate() {
            for (entity, ndarray) in group.ndarrays.iter().enumerate() {
                let path = entity_path(&group.path, &ndarray.name);
                this.ndarrays.entry(path).or_insert((at, entity));
            }
            for (entity, dimcoord) in group.dimcoords.iter().enumerate() {
                let path = entity_path(&group.path, &dimcoord.name);
                this.dimcoords.entry(path).or_insert((at, entity));
            }
        }
        this
    }

    pub(super) fn ndarray<'d>(
        &self,
        document: &'d Document,
        path: &str,
    ) -> Option<(&'d Group, &'d Ndarray)> {
        let (group, entity) = *self.ndarrays.get(path)?;
        let group = document.groups.get(group)?;
        Some((group, group.ndarrays.get(entity)?))
    }

    pub(super) fn dimcoord<'d>(
        &self,
        document: &'d Document,
        path: &str,
    ) -> Option<(&'d Group, &'d DimCoord)> {
        let (group, entity) = *self.dimcoords.get(path)?;
        let group = document.groups.get(group)?;
        Some((group, group.dimcoords.get(entity)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndl;

    #[test]
    fn entities_are_found_as_the_document_itself_finds_them() {
        let text = b"/:\n  dimcoords:\n    x: {type: int8, size: 2}\n/g:\n  ndarrays:\n    \
                     a: {shape: [x], type: int8}\n    b: {shape: [], type: int8}\n";
        let document = ndl::parse(text).document.unwrap();
        let lookup = Lookup::new(&document);
        for name in ["a", "b", "c"] {
            let found = lookup.ndarray(&document, &format!("/g/{name}"));
            let expected = document.group("/g").unwrap().ndarray(name);
            assert_eq!(found.map(|(_, ndarray)| ndarray), expected, "{name}");
        }
        assert_eq!(lookup.dimcoord(&document, "/x").unwrap().0.path, "/");
        assert!(lookup.dimcoord(&document, "/g/x").is_none());
    }
}
