//! References from one place of a document to another, or out of it: a pack can hold what a single
//! document does not.

use std::collections::{BTreeSet, HashSet};

use super::{Unresolved, is_broken};
use crate::ndl::datatype::Datatype;
use crate::ndl::diagnostic::{Code, Diagnostic, Place, quote};
use crate::ndl::index::{Entity, Index};
use crate::ndl::model::{Document, Extent, Group, Ndarray};
use crate::ndl::node::{Kind, Node};
use crate::ndl::parse::{Reader, count};
use crate::ndl::source::Span;
use crate::ndl::suggest;

/// An extent that names a dimcoord which the document does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoordReference {
    /// The path of the group of the ndarray.
    pub group: String,
    /// The ndarray.
    pub ndarray: String,
    /// Which extent, from 0.
    pub axis: usize,
    /// The name or path as written.
    pub name: String,
    /// The place of the extent.
    pub span: Span,
}

impl CoordReference {
    /// The finding, for whoever could not satisfy the reference either; `known` are the names and
    /// paths that could have been meant.
    pub fn diagnostic<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        let message = format!("there is no dimcoord {}", quote(&self.name));
        let mut finding = Diagnostic::new(Code::UnresolvedCoord, self.span, message);
        finding.entity = Place::group(&self.group).entity(&self.ndarray).text();
        let expected = match self.name.strip_prefix('/') {
            Some(_) => "a dimcoord of this path".to_owned(),
            None if self.group == "/" => "a dimcoord in the group `/`".to_owned(),
            None => format!("a dimcoord in the group {} or one above it", quote(&self.group)),
        };
        finding.expected(expected).maybe_hint(suggest::hint(&self.name, known));
        finding
    }
}

/// The path of an object (a group, dimcoord or ndarray) that the document does not hold, in a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetReference {
    /// What holds the value, as in [`Diagnostic::entity`].
    pub entity: String,
    /// The path as written.
    pub target: String,
    /// The place of the path.
    pub span: Span,
}

impl TargetReference {
    /// The finding, for whoever could not satisfy the reference either; `known` are the paths that
    /// could have been meant.
    pub fn diagnostic<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        let message = format!("there is no object {}", quote(&self.target));
        let mut finding = Diagnostic::new(Code::UnresolvedTarget, self.span, message);
        finding.entity = Some(self.entity.clone());
        finding
            .expected("the path of a group, dimcoord or ndarray")
            .maybe_hint(suggest::hint(&self.target, known));
        finding
    }
}

/// A reference in a value, to be followed when the whole document is known.
#[derive(Debug, Clone, Copy)]
pub(in crate::ndl) struct Target<'n> {
    place: Place<'n>,
    path: &'n Node,
    /// The whole of a region.
    region: Option<&'n Node>,
}

impl<'n> Target<'n> {
    /// The reference that an element is, when it is one.
    pub(in crate::ndl) fn of(
        node: &'n Node,
        datatype: &Datatype,
        place: Place<'n>,
    ) -> Option<Self> {
        match datatype {
            Datatype::ObjRef => Some(Self { place, path: node, region: None }),
            Datatype::RegRef { .. } => {
                let (_, path) = node.entry("target")?;
                Some(Self { place, path, region: Some(node) })
            }
            _ => None,
        }
    }

    fn text(&self) -> Option<&'n str> {
        match &self.path.kind {
            Kind::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }
}

impl<'n> Reader<'n, '_, '_> {
    /// Follows the references in values.
    pub(super) fn references(
        &mut self,
        document: &Document,
        index: &Index<'_>,
        broken: &HashSet<(&str, &str)>,
        unresolved: &mut Unresolved,
    ) {
        let targets = std::mem::take(&mut self.targets);
        // Groups need not be listed to hold other groups.
        let listed: BTreeSet<&str> = if targets.is_empty() {
            BTreeSet::new()
        } else {
            document.groups.iter().map(|group| &*group.path).collect()
        };
        let is_group = |path: &str| {
            let below = format!("{path}/");
            let next = listed.range(&*below..).next();
            path == "/" || next.is_some_and(|group| group.starts_with(&below))
        };
        for target in targets {
            let Some(path) = target.text().filter(|path| path.starts_with('/')) else {
                self.sink
                    .error(
                        Code::ValueType,
                        target.path.at,
                        target.place,
                        "malformed target of a region",
                    )
                    .expected("the path of an ndarray, such as `/a/b`")
                    .found(target.path.describe());
                continue;
            };
            // Only arrays have regions: the group that may share the path is not meant.
            let array = target.region.and_then(|_| index.array(path));
            match (array.or_else(|| index.entity(path)), target.region) {
                (Some(Entity::Ndarray(group, ndarray)), Some(region)) => {
                    let extents = lengths(group, ndarray, index);
                    self.region(&extents, region, target.place);
                }
                (Some(Entity::DimCoord(_, coord)), Some(region)) => {
                    self.region(&[coord.known_size()], region, target.place);
                }
                (Some(Entity::Group(_)), Some(_)) => self.region_of_group(&target),
                (Some(_), None) => {}
                (None, region) if is_group(path) => {
                    if region.is_some() {
                        self.region_of_group(&target);
                    }
                }
                (None, _) if is_broken(broken, "/", path) => {}
                (None, _) => unresolved.targets.push(TargetReference {
                    entity: target.place.text().unwrap_or_default(),
                    target: path.to_owned(),
                    span: self.sink.span(target.path.at),
                }),
            }
        }
    }

    fn region_of_group(&mut self, target: &Target<'n>) {
        self.sink
            .error(Code::ValueType, target.path.at, target.place, "a group has no regions")
            .expected("the path of an ndarray or dimcoord")
            .found(target.path.describe());
    }

    /// Both corners of a block lie in the target, as far as its extents are known.
    fn region(&mut self, extents: &[Option<u64>], region: &'n Node, place: Place<'n>) {
        for corner in ["start", "opposite"] {
            let Some((_, node)) = region.entry(corner) else { continue };
            let Kind::List(list) = &node.kind else {
                self.sink
                    .error(Code::ValueType, node.at, place, format!("`{corner}` is no list"))
                    .expected("a list with an index for each dimension")
                    .found(node.describe());
                continue;
            };
            if list.len() != extents.len() {
                self.sink
                    .error(
                        Code::RegionBounds,
                        node.at,
                        place,
                        format!("`{corner}` has the wrong length"),
                    )
                    .expected(count(extents.len(), "index").replace("indexs", "indices"))
                    .found(list.len().to_string());
                continue;
            }
            for (index, length) in list.iter().zip(extents) {
                let number = index.value().ok().and_then(|value| value.as_integer());
                let end = length.map_or(i128::from(u64::MAX), i128::from);
                if number.is_none_or(|number| !(0..end).contains(&number)) {
                    let expected = match length {
                        Some(length) => format!("an index from 0 to less than {length}"),
                        None => "an index of at least 0".to_owned(),
                    };
                    self.sink
                        .error(
                            Code::RegionBounds,
                            index.at,
                            place,
                            "the region lies outside its target",
                        )
                        .expected(expected)
                        .found(index.describe());
                }
            }
        }
    }
}

/// The extents of an array as far as the document says.
fn lengths(group: &Group, ndarray: &Ndarray, index: &Index<'_>) -> Vec<Option<u64>> {
    let stored = ndarray.storage.as_ref().and_then(|storage| storage.shape.as_deref());
    let length = |(axis, extent): (usize, &Extent)| match extent {
        Extent::Fixed(size) => Some(*size),
        Extent::Unlimited => stored.and_then(|shape| shape.get(axis).copied()),
        Extent::Coord(name) => {
            index.resolve_coord(&group.path, name).and_then(|(_, coord)| coord.known_size())
        }
    };
    ndarray.shape.iter().enumerate().map(length).collect()
}
