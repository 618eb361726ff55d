//! Dimension coordinates of a pack: where each is defined, and whether all users agree on its length.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::contents::Contents;
use super::described::{Described, Sources, group_in_pack};
use super::differences::{Contrast, Difference, differences};
use super::{DescriptionFacts, PACK_DOCUMENT, group_of, shape_of};
use crate::finding::{Code, Finding, Span};
use crate::ndl::{
    self, Attribute, Entity, Extent, Ndarray, Step, Value, ancestors, candidates, entity_path,
};
use crate::path::MemberPath;
use crate::ra::Header;

/// A statement about the length of a coordinate.
#[derive(Debug)]
struct Claim<'a> {
    length: u64,
    who: Who<'a>,
}

#[derive(Debug)]
enum Who<'a> {
    /// The header of the coordinate's own array.
    Header(&'a MemberPath),
    /// A dimcoord in a document.
    Stated(Described<'a>),
    /// An array that uses the coordinate for one of its dimensions.
    Axis { array: MemberPath, described: Described<'a>, axis: usize },
}

/// The coordinates of a pack.
pub(super) struct Coordinates<'a> {
    pub(super) contents: &'a Contents,
    /// Statements by the coordinate's path in the pack.
    claims: BTreeMap<String, Vec<Claim<'a>>>,
    /// The first definition of each coordinate; the one next to its array if there is one.
    defined: BTreeMap<String, Described<'a>>,
    /// Later definitions, with the first.
    repeated: Vec<(String, Described<'a>, Described<'a>)>,
}

/// A named dimension of an array.
pub(crate) struct NamedExtent<'a> {
    pub(crate) name: &'a str,
    /// The length in the header.
    pub(crate) length: Option<u64>,
    pub(crate) coordinate: Option<Resolved>,
    /// The coordinate in the description of the array.
    own: Option<&'a Ndarray>,
}

/// The coordinate that a name in a shape means.
pub(crate) struct Resolved {
    /// The path of the coordinate.
    pub(crate) path: String,
    /// Its length; `None` if only its users give it.
    pub(super) length: Option<u64>,
}

impl<'a> Coordinates<'a> {
    pub(super) fn new(contents: &'a Contents) -> Self {
        let (claims, defined, repeated) = <_>::default();
        let mut this = Self { contents, claims, defined, repeated };
        if let Some(facts) = &contents.pack_document {
            this.declare(PACK_DOCUMENT, facts);
        }
        for (path, facts) in &contents.descriptions {
            if facts.is_plain_ndarray() {
                continue;
            }
            if contents.array_beside(path).is_some() {
                this.declare(path.as_str(), facts);
            }
        }
        this
    }

    /// Records the coordinates of a document.
    fn declare(&mut self, member: &'a str, facts: &'a DescriptionFacts) {
        let Some(document) = facts.document() else { return };
        for (group, dimcoord) in document.dimcoords() {
            let described = Described { member, facts, group, entity: Entity::DimCoord(dimcoord) };
            let path = entity_path(&described.home(), &dimcoord.name);
            self.define(&path, described);
            if let Some(length) = dimcoord.known_size() {
                self.claims_of(path).push(Claim { length, who: Who::Stated(described) });
            }
        }
    }

    /// Records the definition of a coordinate, or that it is defined again.
    fn define(&mut self, path: &str, described: Described<'a>) {
        let first = self.defined.get(path).copied().or_else(|| self.contents.own_description(path));
        let first = *self.defined.entry(path.to_owned()).or_insert(first.unwrap_or(described));
        // Two descriptions of an array itself are compared elsewhere, in full.
        let is_of_array = described.is_of_pack() && !first.is_of_pack();
        if !std::ptr::eq(first.facts, described.facts) && !is_of_array {
            self.repeated.push((path.to_owned(), first, described));
        }
    }

    /// Returns the statements about a coordinate. The header of its own array is first; the others are compared with
    /// it.
    fn claims_of(&mut self, path: String) -> &mut Vec<Claim<'a>> {
        let contents = self.contents;
        let own = contents.array_length(&path);
        self.claims.entry(path).or_insert_with(|| {
            let own = own.map(|(file, length)| Claim { length, who: Who::Header(file) });
            own.into_iter().collect()
        })
    }

    /// Records that an array uses a coordinate for a dimension of this length.
    pub(super) fn used(
        &mut self,
        path: String,
        length: u64,
        array: &MemberPath,
        described: &Described<'a>,
        axis: usize,
    ) {
        let who = Who::Axis { array: array.clone(), described: *described, axis };
        self.claims_of(path).push(Claim { length, who });
    }

    /// Returns the source of the length of a coordinate, in words.
    pub(super) fn origin(&mut self, path: &str, sources: &mut Sources) -> Option<String> {
        self.claims_of(path.to_owned()).first().map(|claim| claim.in_words(sources))
    }

    /// Reports every statement that differs from the first.
    pub(super) fn findings(self, sources: &mut Sources, findings: &mut Vec<Finding>) {
        for (path, first, other) in &self.repeated {
            let found = differences(first, other, false);
            for Difference { contrast, what, place, one, other: said } in found {
                if contrast != Contrast::Contradiction {
                    continue;
                }
                let message = format!(
                    "`{}` and `{}` disagree about {what} of the coordinate `{path}`",
                    first.member, other.member
                );
                let finding = Finding::new(Code::DescribedTwice, message)
                    .expected(format!("{one}, as in `{}`", first.member), said)
                    .hint("define the coordinate only once, next to its array or in one document");
                findings.push(sources.at(other, finding, &place));
            }
        }
        for (path, claims) in self.claims {
            let mut claims = claims.into_iter();
            let Some(first) = claims.next() else { continue };
            for other in claims.filter(|claim| claim.length != first.length) {
                // The check of the array itself reports more about its own description.
                if let (Who::Header(file), Who::Stated(described)) = (&first.who, &other.who)
                    && self.contents.speaks_for(described, file)
                {
                    continue;
                }
                let message =
                    format!("the length of the coordinate `{path}` is not the same everywhere");
                let finding = Finding::new(Code::CoordinateLength, message).expected(
                    format!("{}, because {}", first.length, first.in_words(sources)),
                    format!("{}, because {}", other.length, other.in_words(sources)),
                );
                findings.push(match other.place() {
                    Some((described, place)) => sources.at(described, finding, &place),
                    None => finding.in_member(other.array()),
                });
            }
        }
    }
}

impl<'a> Claim<'a> {
    /// Returns the array that makes the statement.
    fn array(&self) -> &str {
        match &self.who {
            Who::Header(file) => file.as_str(),
            Who::Stated(described) => described.member,
            Who::Axis { array, .. } => array.as_str(),
        }
    }

    /// Returns the position of the statement in a description.
    fn place(&self) -> Option<(&Described<'a>, Vec<Step<'static>>)> {
        match &self.who {
            Who::Header(_) => None,
            Who::Stated(described) => Some((described, vec![Step::Key("size")])),
            Who::Axis { described, axis, .. } => {
                Some((described, vec![Step::Key("shape"), Step::Index(*axis)]))
            }
        }
    }

    fn in_words(&self, sources: &mut Sources) -> String {
        let span = self.place().and_then(|(described, place)| {
            let Span { line, column, .. } = sources.span(described, &place)?;
            Some(format!("`{}:{line}:{column}`", described.member))
        });
        let place = span.unwrap_or_else(|| format!("`{}`", self.array()));
        match &self.who {
            Who::Header(_) => format!("{place} has length {}", self.length),
            Who::Stated(_) => format!("{place} gives this length"),
            Who::Axis { array, .. } => format!("{place} uses it for a dimension of `{array}`"),
        }
    }
}

impl Contents {
    /// Returns the entry in the document next to the array at a path.
    fn own_description(&self, path: &str) -> Option<Described<'_>> {
        let (file, _) = self.array_at(path)?;
        self.description(file, &mut Vec::new()).filter(|described| !described.is_of_pack())
    }

    /// Returns the 1-D array at a path of the pack, and its length.
    fn array_length(&self, path: &str) -> Option<(&MemberPath, u64)> {
        let (file, facts) = self.array_at(path)?;
        match facts.header.as_ref().ok()?.dims() {
            [length] => Some((file, *length)),
            _ => None,
        }
    }

    /// Returns the named dimensions of an array.
    pub(crate) fn named_extents(&self, file: &MemberPath) -> Vec<NamedExtent<'_>> {
        let plain = self.plain(file);
        let described =
            if plain.is_some() { None } else { self.description(file, &mut Vec::new()) };
        let (order, names): (_, Vec<_>) = match (plain, described.map(|it| it.entity)) {
            (Some(plain), _) => (plain.order(), plain.extents().map(Result::err).collect()),
            (None, Some(Entity::Ndarray(one))) => {
                (one.order(), one.shape.iter().map(Extent::coord).collect())
            }
            (None, _) => return Vec::new(),
        };
        let header = self.arrays.get(file).and_then(|facts| facts.header.as_ref().ok());
        let lengths = header.map(|header| shape_of(header.dims(), order)).unwrap_or_default();
        let extent = |(axis, name): (usize, Option<_>)| {
            let (name, length) = (name?, lengths.get(axis).copied());
            let own = described.and_then(|it| Some(it.resolve_coord(name)?.1));
            let coordinate = match &described {
                Some(described) => self.resolve(described, name),
                None => self.find_coordinate(&group_of(file), name),
            };
            Some(NamedExtent { name, length, coordinate, own })
        };
        names.into_iter().enumerate().filter_map(extent).collect()
    }

    /// Returns the coordinate that a name in the shape of a described array means.
    pub(super) fn resolve(&self, described: &Described<'_>, name: &str) -> Option<Resolved> {
        if let Some((group, dimcoord)) = described.resolve_coord(name) {
            let home = group_in_pack(described.member, &group.path);
            let path = entity_path(&home, &dimcoord.name);
            let own = self.array_length(&path).map(|(_, length)| length);
            let length = own.or_else(|| dimcoord.known_size());
            return Some(Resolved { path, length });
        }
        // In a pack, directories are groups and 1-D arrays are coordinates.
        self.find_coordinate(&described.home(), name)
    }

    /// Returns the coordinate that a name in a shape in the pack's group `home` means: directories are groups, and 1-D
    /// arrays are coordinates.
    pub(super) fn find_coordinate(&self, home: &str, name: &str) -> Option<Resolved> {
        candidates(home, name).into_iter().find_map(|path| {
            if let Some((_, length)) = self.array_length(&path) {
                return Some(Resolved { path, length: Some(length) });
            }
            // The invalid header is reported for the array, not for its users.
            if self.array_at(&path).is_some_and(|(_, facts)| facts.header.is_err()) {
                return Some(Resolved { path, length: None });
            }
            let coordinate = self.pack_document.as_ref()?.dimcoord(&path)?;
            Some(Resolved { path, length: coordinate.known_size() })
        })
    }

    /// Returns a coordinate with a name similar to one in the shape of a described array: one of its document, or a 1-D
    /// array in its directory or one above.
    pub(super) fn coordinate_like(&self, described: &Described<'_>, name: &str) -> Option<String> {
        let document = described.facts.document();
        let own = document.into_iter().flat_map(ndl::Document::dimcoords);
        let own = own.map(|(_, coordinate)| coordinate.name.as_str());
        let homes: Vec<_> = ancestors(&described.home()).map(str::to_owned).collect();
        let is_near = |file: &MemberPath| homes.contains(&group_of(file));
        let arrays = self.arrays.iter().filter(|(file, _)| is_near(file));
        let lines = arrays.filter(|(_, facts)| {
            facts.header.as_ref().is_ok_and(|header| header.dims().len() == 1)
        });
        let near = ndl::nearest(name, own.chain(lines.map(|(file, _)| file.stem())));
        near.map(str::to_owned)
    }

    /// Returns whether a document describes the array `file` as a dimcoord, so that its size is checked there.
    fn speaks_for(&self, stated: &Described<'_>, file: &MemberPath) -> bool {
        let same = |described: Described<'_>| {
            described.member == stated.member
                && std::ptr::eq(described.facts, stated.facts)
                && matches!(described.entity, Entity::DimCoord(_))
        };
        self.description(file, &mut Vec::new()).is_some_and(same)
            || self.in_pack_document(file).is_some_and(same)
    }
}

/// A coordinate that names dimensions of arrays.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CoordinateInfo {
    /// The path in the pack, such as `/run1/time`.
    pub name: String,
    /// The number of elements; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The units, if its description has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
    /// The first element as text, if a description has the elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// The last element as text, if a description has the elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// The number of arrays with this coordinate.
    pub arrays: u64,
    /// The description of a coordinate that has no file.
    #[serde(skip)]
    pub description: Option<Ndarray>,
}

impl CoordinateInfo {
    /// Takes over units and elements that are not known yet.
    fn take(&mut self, entity: Entity<'_>) {
        let units = entity.array().attributes.iter().find(|attribute| attribute.name == "units");
        let units = units.and_then(|units| units.value.as_str());
        self.units = self.units.take().or_else(|| units.map(str::to_owned));
        // The units are not those of numbers that are to be scaled first.
        let is_scaled = |one: &Attribute| ["scale_factor", "add_offset"].contains(&&*one.name);
        if let Some(Value::List(values)) = &entity.array().value
            && self.first.is_none()
            && !entity.array().attributes.iter().any(is_scaled)
        {
            self.first = values.first().and_then(text);
            self.last = values.last().and_then(text);
        }
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Int(value) => Some(value.to_string()),
        Value::UInt(value) => Some(value.to_string()),
        Value::Float(value) => Some(value.to_string()),
        Value::String(value) => Some(value.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

impl Contents {
    /// Returns every coordinate of the pack and of its arrays' shapes, sorted by path.
    pub(crate) fn coordinates(&self) -> Vec<CoordinateInfo> {
        let mut all: BTreeMap<String, CoordinateInfo> = BTreeMap::new();
        for (file, facts) in &self.arrays {
            let is_plain = self.plain(file).is_some_and(|plain| !plain.is_dimcoord());
            let described = if is_plain { None } else { self.description(file, &mut Vec::new()) };
            if let Some(Described { entity: entity @ Entity::DimCoord(_), .. }) = described {
                let info = all.entry(entity_path(&group_of(file), file.stem())).or_default();
                if let Some(&[length]) = facts.header.as_ref().ok().map(Header::dims) {
                    info.length = Some(length);
                }
                info.take(entity);
                continue;
            }
            let mut used = BTreeSet::new();
            for NamedExtent { coordinate, own, .. } in self.named_extents(file) {
                let Some(Resolved { path, length }) = coordinate else { continue };
                let info = all.entry(path.clone()).or_default();
                if info.length.is_none() {
                    info.length = length;
                    own.inspect(|own| info.take(Entity::DimCoord(own)));
                    let file = self.array_at(&path);
                    let beside = file.and_then(|(file, _)| self.description(file, &mut Vec::new()));
                    let of_pack = || Some(self.pack_document.as_ref()?.index()?.entity(&path)?.1);
                    let stated = beside.map(|beside| beside.entity).or_else(of_pack);
                    stated.inspect(|entity| info.take(*entity));
                    if file.is_none() {
                        let described = own.or_else(|| stated.map(Entity::array));
                        info.description = described.cloned();
                    }
                }
                info.arrays += u64::from(used.insert(path));
            }
        }
        all.into_iter().map(|(name, info)| CoordinateInfo { name, ..info }).collect()
    }
}

/// The longest dimension that is not named by convention: too many arrays have such short dimensions.
const MIN_NAMED: u64 = 2;

/// The conventional coordinates of a pack.
#[derive(Debug)]
pub(crate) struct Convention<'a> {
    pub(super) contents: &'a Contents,
    /// Names and lengths by group.
    pub(super) coordinates: BTreeMap<String, Vec<(&'a str, u64)>>,
}

impl Convention<'_> {
    /// Returns whether an array is a coordinate.
    pub(crate) fn is_coordinate(&self, path: &MemberPath) -> bool {
        let group = self.coordinates.get(&group_of(path));
        group.is_some_and(|names| names.iter().any(|(name, _)| *name == path.stem()))
    }

    /// Names the dimensions of an array whose length is that of exactly one coordinate of its group or of one above. No
    /// coordinate names two dimensions. Returns the paths of the coordinates.
    pub(crate) fn name_extents(&self, path: &MemberPath, ndarray: &mut Ndarray) -> Vec<String> {
        let home = group_of(path);
        let mut by_length: BTreeMap<u64, BTreeMap<&str, String>> = BTreeMap::new();
        for group in ancestors(&home) {
            for (name, length) in self.coordinates.get(group).into_iter().flatten() {
                // A nearer array with the same name would be meant, even if its length differs.
                let meant = self.contents.find_coordinate(&home, name);
                if let Some(Resolved { path, .. }) = meant
                    && path == entity_path(group, name)
                {
                    by_length.entry(*length).or_default().insert(name, path);
                }
            }
        }
        let lengths: Vec<_> = ndarray
            .shape
            .iter()
            .filter_map(|extent| match extent {
                Extent::Fixed(length) => Some(*length),
                _ => None,
            })
            .collect();
        let mut paths = Vec::new();
        for extent in &mut ndarray.shape {
            let Extent::Fixed(length) = *extent else { continue };
            let names = by_length.get(&length);
            let mut names = names.into_iter().flatten();
            let (Some((name, path)), None) = (names.next(), names.next()) else { continue };
            let alone = lengths.iter().filter(|other| **other == length).count() == 1;
            if alone && length >= MIN_NAMED {
                *extent = Extent::Coord((*name).to_owned());
                paths.push(path.clone());
            }
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::{ArrayFacts, Content, describe};
    use crate::ra::{ElementType, Encoding};

    fn pack(arrays: &[(&str, &[u64])]) -> Contents {
        let mut contents = Contents::default();
        for (path, dims) in arrays {
            let header = Header::new(ElementType::FLOAT32, dims.to_vec()).unwrap();
            let facts =
                ArrayFacts { header: Ok(header), encoding: None, trailing: 0, data: Ok(()) };
            contents
                .add(MemberPath::new(*path).unwrap(), Content::Array(std::sync::Arc::new(facts)));
        }
        contents
    }

    fn shape(contents: &Contents, path: &str) -> Vec<Extent> {
        let path = MemberPath::new(path).unwrap();
        let header = contents.arrays.get(path.as_str()).unwrap().header.as_ref().unwrap();
        let mut ndarray = describe(path.stem(), header, Encoding::Raw);
        Convention::new(contents).name_extents(&path, &mut ndarray);
        ndarray.shape
    }

    fn coord(name: &str) -> Extent {
        Extent::Coord(name.to_owned())
    }

    #[test]
    fn dimensions_are_named_where_one_coordinate_fits() {
        let contents = pack(&[
            ("time.ra", &[5]),
            ("run1/depth.ra", &[3]),
            ("run1/gain.ra", &[7]),
            ("run1/temperature.ra", &[3, 5, 7]),
            ("run2/temperature.ra", &[3, 5]),
        ]);
        assert_eq!(
            shape(&contents, "run1/temperature.ra"),
            [coord("depth"), coord("time"), Extent::Fixed(7)]
        );
        assert_eq!(shape(&contents, "run2/temperature.ra"), [Extent::Fixed(3), coord("time")]);
    }

    #[test]
    fn ambiguous_dimensions_are_not_named() {
        let contents = pack(&[
            ("x.ra", &[4]),
            ("y.ra", &[4]),
            ("Time.ra", &[5]),
            ("z.ra", &[1]),
            ("a.ra", &[4, 5]),
            ("b.ra", &[5, 5, 1]),
        ]);
        assert_eq!(shape(&contents, "a.ra"), [Extent::Fixed(4), coord("Time")]);
        assert_eq!(shape(&contents, "b.ra"), [5, 5, 1].map(Extent::Fixed));
    }

    #[test]
    fn a_nearer_array_with_the_same_name_hides_one_above() {
        let contents = pack(&[("t.ra", &[5]), ("a/t.ra", &[6]), ("a/z1.ra", &[5, 6])]);
        assert_eq!(shape(&contents, "a/z1.ra"), [Extent::Fixed(5), coord("t")]);
    }

    #[test]
    fn groups_nest() {
        assert_eq!(group_in_pack("x.yaml", "/"), "/");
        assert_eq!(group_in_pack("a/x.yaml", "/"), "/a");
        assert_eq!(group_in_pack("x.yaml", "/b"), "/b");
        assert_eq!(group_in_pack("a/x.yaml", "/b/c"), "/a/b/c");
    }
}
