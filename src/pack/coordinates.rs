//! Dimension coordinates over a whole pack: where each is, and that everybody agrees on its length.

use std::collections::BTreeMap;

use super::contents::{Contents, Described, Entity};
use super::{entity_path, group_of};
use crate::finding::{Code, Finding};
use crate::ndl::{DimCoord, Document};
use crate::path::MemberPath;

/// Somebody who says how long a coordinate is.
#[derive(Debug)]
struct Claim {
    length: u64,
    /// What says so, for messages.
    who: String,
    /// The member to blame.
    member: String,
}

/// What is known of the coordinates of a pack.
pub(super) struct Coordinates<'a> {
    contents: &'a Contents,
    /// Claims by the coordinate's path in the pack.
    claims: BTreeMap<String, Vec<Claim>>,
}

/// What a name in a shape stands for.
pub(super) enum Resolved {
    /// A coordinate of this length, or of a length that only its users tell.
    Found {
        path: String,
        length: Option<u64>,
    },
    Nowhere,
}

impl<'a> Coordinates<'a> {
    pub(super) fn new(contents: &'a Contents) -> Self {
        let mut this = Self { contents, claims: BTreeMap::new() };
        if let Some((member, facts)) = &contents.pack_document
            && let Some(document) = &facts.document
        {
            this.declare("/", member, document);
        }
        for (path, facts) in &contents.descriptions {
            let array = format!("{}.{}", path.without_extension(), super::ARRAY_EXTENSION);
            if let Some(document) = &facts.document
                && contents.arrays.contains_key(array.as_str())
            {
                this.declare(&group_of(path), path.as_str(), document);
            }
        }
        this
    }

    /// Notes the lengths that a document states, below the group that it lies in.
    fn declare(&mut self, base: &str, member: &str, document: &Document) {
        for (group, dimcoord) in document.dimcoords() {
            if let Some(length) = dimcoord.known_size() {
                let path = entity_path(&join_groups(base, &group.path), &dimcoord.name);
                let claim = Claim {
                    length,
                    who: format!("`{member}` says that `{}` is {length} long", dimcoord.name),
                    member: member.to_owned(),
                };
                // An array's own header speaks first, and is what the others are held against.
                let claims = self.claims.entry(path.clone()).or_default();
                if claims.is_empty()
                    && let Some((file, length)) = self.contents.array_length(&path)
                {
                    claims.push(Claim {
                        length,
                        who: format!("`{file}` is {length} long"),
                        member: file.as_str().to_owned(),
                    });
                }
                claims.push(claim);
            }
        }
    }

    /// Finds the coordinate that a name in the shape of a described array stands for.
    pub(super) fn resolve(
        &self,
        array: &MemberPath,
        described: &Described<'_>,
        name: &str,
    ) -> Resolved {
        let base = if described.of_pack { "/".to_owned() } else { group_of(array) };
        if let Some((group, dimcoord)) = described.facts.resolve_coord(&described.group.path, name)
        {
            let path = entity_path(&join_groups(&base, &group.path), &dimcoord.name);
            let length = dimcoord
                .known_size()
                .or_else(|| self.contents.array_length(&path).map(|(_, length)| length));
            return Resolved::Found { path, length };
        }
        // In the pack a directory is a group, and a 1-D array is a coordinate.
        let home = if described.of_pack {
            described.group.path.clone()
        } else {
            join_groups(&base, &described.group.path)
        };
        let places: Vec<String> = match name.strip_prefix('/') {
            Some(_) => vec![name.to_owned()],
            None => ancestors(&home).map(|group| entity_path(group, name)).collect(),
        };
        for path in places {
            if let Some((_, length)) = self.contents.array_length(&path) {
                return Resolved::Found { path, length: Some(length) };
            }
            if let Some(coordinate) = self.contents.declared(&path) {
                return Resolved::Found { path, length: coordinate.known_size() };
            }
        }
        Resolved::Nowhere
    }

    /// Notes that an array uses a coordinate along an axis of this length.
    pub(super) fn used(&mut self, path: &str, length: u64, array: &MemberPath) {
        self.claims.entry(path.to_owned()).or_default().push(Claim {
            length,
            who: format!("`{array}` uses it along an axis of {length}"),
            member: array.as_str().to_owned(),
        });
    }

    /// Everybody who disagrees with the first.
    pub(super) fn findings(self, findings: &mut Vec<Finding>) {
        for (path, claims) in self.claims {
            let mut claims = claims.into_iter();
            let Some(first) = claims.next() else { continue };
            for other in claims.filter(|claim| claim.length != first.length) {
                findings.push(
                    Finding::new(
                        Code::CoordinateLength,
                        format!("the length of the coordinate `{path}` is not the same everywhere"),
                    )
                    .in_member(other.member)
                    .expected(
                        format!("{} ({})", first.length, first.who),
                        format!("{} ({})", other.length, other.who),
                    ),
                );
            }
        }
    }
}

impl Contents {
    /// The 1-D array at a path of the pack, and its length.
    fn array_length(&self, path: &str) -> Option<(&MemberPath, u64)> {
        let file = format!("{}.{}", path.trim_start_matches('/'), super::ARRAY_EXTENSION);
        let (file, facts) = self.arrays.get_key_value(file.as_str())?;
        match facts.header.as_ref().ok()?.dims() {
            [length] => Some((file, *length)),
            _ => None,
        }
    }

    /// The coordinate that the pack's document declares at a path.
    fn declared(&self, path: &str) -> Option<&DimCoord> {
        let (_, facts) = self.pack_document.as_ref()?;
        facts.resolve_coord("/", path).map(|(_, dimcoord)| dimcoord)
    }
}

/// A group of a document that itself lies in a group of the pack.
fn join_groups(base: &str, group: &str) -> String {
    match (base, group) {
        (base, "/") => base.to_owned(),
        ("/", group) => group.to_owned(),
        (base, group) => format!("{base}{group}"),
    }
}

/// A group, then each group above it, up to the root.
pub(super) fn ancestors(group: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(group), |group| match group.rsplit_once('/') {
        _ if *group == "/" => None,
        Some(("", _)) | None => Some("/"),
        Some((parent, _)) => Some(parent),
    })
}

/// The axis length that an entity gives a coordinate named like it, for [`Entity::DimCoord`].
pub(super) fn own_length(entity: Entity<'_>) -> Option<u64> {
    match entity {
        Entity::DimCoord(dimcoord) => dimcoord.size.or_else(|| dimcoord.known_size()),
        Entity::Ndarray(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_nest() {
        assert_eq!(join_groups("/", "/"), "/");
        assert_eq!(join_groups("/a", "/"), "/a");
        assert_eq!(join_groups("/", "/b"), "/b");
        assert_eq!(join_groups("/a", "/b/c"), "/a/b/c");
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
    }
}
