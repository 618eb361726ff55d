//! Rules over the whole document: what dimcoords are as long as, what fits into what, and where
//! references lead.

mod reference;
mod value;

use std::collections::HashSet;

pub(super) use self::reference::Target;
pub use self::reference::{CoordReference, TargetReference};
pub(super) use self::value::{Expected, scalar};

use super::diagnostic::Code;
use super::model::{Document, Extent, Ndarray, ancestors, split_path};
use super::parse::{Reader, Site, child};

/// The references that the document itself cannot satisfy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Unresolved {
    pub(super) coords: Vec<CoordReference>,
    pub(super) targets: Vec<TargetReference>,
}

/// Checks what the reader kept for later.
pub(super) fn whole(document: &Document, mut reader: Reader<'_, '_, '_>) -> Unresolved {
    let mut unresolved = Unresolved::default();
    let index = document.index();
    let broken: HashSet<(&str, &str)> = reader.broken.iter().copied().collect();
    let sites = std::mem::take(&mut reader.sites);
    for ((group, ndarray), site) in document.ndarrays().zip(sites) {
        let mut extents = Vec::with_capacity(ndarray.shape.len());
        for (axis, extent) in ndarray.shape.iter().enumerate() {
            let coord = match extent {
                Extent::Coord(name) => index.resolve_coord(&group.path, name),
                Extent::Fixed(_) | Extent::Unlimited => None,
            };
            let known = match (extent, coord) {
                (Extent::Fixed(size), _) => Some(*size),
                (_, Some((_, coord))) => coord.known_size(),
                (_, None) => None,
            };
            if let (Extent::Coord(name), None) = (extent, coord)
                && !is_broken(&broken, &group.path, name)
            {
                unresolved.coords.push(reader.coord_reference(site, axis, name));
            }
            reader.check_bound(ndarray, site, axis, known);
            // Only what cannot grow bounds its chunks.
            let fixed = match extent {
                Extent::Fixed(size) => Some(*size),
                Extent::Unlimited | Extent::Coord(_) => coord.and_then(|(_, coord)| coord.size),
            };
            reader.check_chunk(ndarray, site, axis, fixed);
            extents.push(known);
        }
        reader.ndarray_value(ndarray, site, extents);
    }
    // What is wrong with an ndarray otherwise does not hide its references.
    for (site, shape) in std::mem::take(&mut reader.stray) {
        for (axis, extent) in shape.iter().enumerate() {
            if let Extent::Coord(name) = extent
                && index.resolve_coord(site.group, name).is_none()
                && !is_broken(&broken, site.group, name)
            {
                unresolved.coords.push(reader.coord_reference(site, axis, name));
            }
        }
    }
    reader.references(document, &index, &broken, &mut unresolved);
    unresolved
}

fn is_broken(broken: &HashSet<(&str, &str)>, group: &str, name: &str) -> bool {
    if broken.is_empty() {
        return false;
    }
    match split_path(name) {
        Some(absolute) => broken.contains(&absolute),
        None => ancestors(group).any(|group| broken.contains(&(group, name))),
    }
}

impl<'n> Reader<'n, '_, '_> {
    fn coord_reference(&self, site: Site<'n>, axis: usize, name: &str) -> CoordReference {
        CoordReference {
            group: site.group.to_owned(),
            ndarray: site.key.text.clone().into_string(),
            axis,
            name: name.to_owned(),
            span: self.sink.span(child(site.shape, axis)),
        }
    }

    fn check_bound(&mut self, ndarray: &Ndarray, site: Site<'n>, axis: usize, bound: Option<u64>) {
        let stored = ndarray.storage.as_ref().and_then(|storage| storage.shape.as_ref()?.get(axis));
        let (Some(bound), Some(&stored)) = (bound, stored) else { return };
        if stored > bound {
            let node = site.storage.and_then(|node| node.entry("shape"));
            let at = node.map_or(site.key.at, |(_, node)| child(node, axis));
            self.sink
                .error(
                    Code::StorageBound,
                    at,
                    site.place(),
                    "the extent in the file is larger than the declared one",
                )
                .expected(format!("at most {bound}"))
                .found(stored.to_string());
        }
    }

    fn check_chunk(&mut self, ndarray: &Ndarray, site: Site<'n>, axis: usize, bound: Option<u64>) {
        let chunk = ndarray.storage.as_ref().and_then(|storage| storage.chunk.as_ref()?.get(axis));
        // A chunk has at least one element, even of an array that has none.
        let (Some(bound), Some(&chunk)) = (bound.map(|bound| bound.max(1)), chunk) else { return };
        if chunk > bound {
            let node = site.storage.and_then(|node| node.entry("chunk"));
            let at = node.map_or(site.key.at, |(_, node)| child(node, axis));
            self.sink
                .warning(Code::StorageBound, at, site.place(), "the chunk is larger than the array")
                .expected(format!("at most {bound}"))
                .found(chunk.to_string());
        }
    }

    fn ndarray_value(&mut self, ndarray: &Ndarray, site: Site<'n>, extents: Vec<Option<u64>>) {
        let (Some(value), Some(node)) = (&ndarray.value, site.value) else { return };
        // What is given is what the file holds.
        let stored = ndarray.storage.as_ref().and_then(|storage| storage.shape.as_ref());
        let extents = match stored {
            Some(shape) => shape.iter().copied().map(Some).collect(),
            None => extents,
        };
        self.check_value(
            value,
            node,
            Expected { extents, datatype: &ndarray.datatype },
            site.place(),
        );
    }
}
