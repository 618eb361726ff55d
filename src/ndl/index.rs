//! Looking up groups, dimcoords and ndarrays by path, many times, in one document.

use std::collections::HashMap;

use super::model::{DimCoord, Document, Group, Ndarray, ancestors, split_path};

/// A document's entities by path.
#[derive(Debug, Clone)]
pub struct Index<'d> {
    groups: HashMap<&'d str, &'d Group>,
    dimcoords: HashMap<(&'d str, &'d str), (&'d Group, &'d DimCoord)>,
    ndarrays: HashMap<(&'d str, &'d str), (&'d Group, &'d Ndarray)>,
}

/// What a path can lead to.
#[derive(Debug, Clone, Copy)]
pub enum Entity<'d> {
    /// A group.
    Group(&'d Group),
    /// A dimcoord and its group.
    DimCoord(&'d Group, &'d DimCoord),
    /// An ndarray and its group.
    Ndarray(&'d Group, &'d Ndarray),
}

impl Document {
    /// Makes an index of the document.
    pub fn index(&self) -> Index<'_> {
        Index {
            groups: self.groups.iter().map(|group| (&*group.path, group)).collect(),
            dimcoords: self
                .dimcoords()
                .map(|(group, coord)| ((&*group.path, &*coord.name), (group, coord)))
                .collect(),
            ndarrays: self
                .ndarrays()
                .map(|(group, ndarray)| ((&*group.path, &*ndarray.name), (group, ndarray)))
                .collect(),
        }
    }
}

impl<'d> Index<'d> {
    /// The group of a path.
    pub fn group(&self, path: &str) -> Option<&'d Group> {
        self.groups.get(path).copied()
    }

    /// The dimcoord of a name in a group.
    pub fn dimcoord(&self, group: &str, name: &str) -> Option<(&'d Group, &'d DimCoord)> {
        self.dimcoords.get(&(group, name)).copied()
    }

    /// The ndarray of a name in a group.
    pub fn ndarray(&self, group: &str, name: &str) -> Option<(&'d Group, &'d Ndarray)> {
        self.ndarrays.get(&(group, name)).copied()
    }

    /// What a path from the root leads to.
    pub fn entity(&self, path: &str) -> Option<Entity<'d>> {
        if let Some(group) = self.group(path) {
            return Some(Entity::Group(group));
        }
        self.array(path)
    }

    /// The ndarray or dimcoord of a path from the root.
    pub(super) fn array(&self, path: &str) -> Option<Entity<'d>> {
        let (group, name) = split_path(path)?;
        let ndarray =
            self.ndarray(group, name).map(|(group, ndarray)| Entity::Ndarray(group, ndarray));
        ndarray.or_else(|| {
            self.dimcoord(group, name).map(|(group, coord)| Entity::DimCoord(group, coord))
        })
    }

    /// As [`Document::resolve_coord`].
    pub fn resolve_coord(&self, group: &str, name: &str) -> Option<(&'d Group, &'d DimCoord)> {
        if name.starts_with('/') {
            let (group, name) = split_path(name)?;
            return self.dimcoord(group, name);
        }
        ancestors(group).find_map(|group| self.dimcoord(group, name))
    }
}
