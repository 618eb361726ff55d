//! Dimension coordinates over a whole pack: where each is, and that everybody agrees on its length.

use std::collections::BTreeMap;

use serde::Serialize;

use super::agree::{Contrast, Difference, Side, differences};
use super::contents::{Contents, Described, Entity};
use super::references::{Sources, candidates};
use super::{ARRAY_EXTENSION, DescriptionFacts, entity_path, group_of};
use crate::finding::{Code, Finding};
use crate::ndl::{Extent, Span, Step, Value};
use crate::path::MemberPath;

/// Somebody who says how long a coordinate is.
#[derive(Debug)]
struct Claim<'a> {
    length: u64,
    who: Who<'a>,
}

#[derive(Debug)]
enum Who<'a> {
    /// The coordinate's own array.
    Header(&'a MemberPath),
    /// A dimcoord in a document.
    Stated { member: &'a str, facts: &'a DescriptionFacts, group: &'a str, name: &'a str },
    /// An array along one of its axes.
    Axis { array: MemberPath, described: Described<'a>, axis: usize },
}

/// What is known of the coordinates of a pack.
pub(super) struct Coordinates<'a> {
    contents: &'a Contents,
    /// Claims by the coordinate's path in the pack.
    claims: BTreeMap<String, Vec<Claim<'a>>>,
    /// What each coordinate is by the first document that defines it; the one beside its array, if there is one.
    defined: BTreeMap<String, Described<'a>>,
    /// Later definitions that say something else than the first.
    contradictions: Vec<(String, Described<'a>, Described<'a>)>,
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
        let mut this = Self {
            contents,
            claims: BTreeMap::new(),
            defined: BTreeMap::new(),
            contradictions: Vec::new(),
        };
        if let Some((member, facts)) = &contents.pack_document {
            this.declare("/", member, facts, true);
        }
        for (path, facts) in &contents.descriptions {
            if facts.is_plain_ndarray() {
                continue;
            }
            if contents.array_beside(path).is_some() {
                this.declare(&group_of(path), path.as_str(), facts, false);
            }
        }
        this
    }

    /// Notes what a document states of coordinates, below the group that it lies in.
    fn declare(&mut self, base: &str, member: &'a str, facts: &'a DescriptionFacts, of_pack: bool) {
        let Some(document) = facts.document() else { return };
        for (group, dimcoord) in document.dimcoords() {
            let path = entity_path(&join_groups(base, &group.path), &dimcoord.name);
            let entity = Entity::DimCoord(dimcoord);
            self.define(&path, Described { member, facts, group, entity, of_pack });
            if let Some(length) = dimcoord.known_size() {
                let who = Who::Stated { member, facts, group: &group.path, name: &dimcoord.name };
                self.claims_of(path).push(Claim { length, who });
            }
        }
    }

    /// Notes what a coordinate is, or that another document says otherwise.
    fn define(&mut self, path: &str, described: Described<'a>) {
        let first = self.defined.get(path).copied().or_else(|| self.contents.own_description(path));
        let first = *self.defined.entry(path.to_owned()).or_insert(first.unwrap_or(described));
        // What both documents say of an array itself is compared with all else that they say of it.
        let is_of_array = described.of_pack && !first.of_pack;
        if std::ptr::eq(first.facts, described.facts) || is_of_array {
            return;
        }
        let side = |described: &Described<'a>| Side { entity: described.entity, shared: &[] };
        if differences(side(&first), side(&described)).iter().any(contradicts) {
            self.contradictions.push((path.to_owned(), first, described));
        }
    }

    /// The claims about a coordinate. Its own array speaks first, and is what the others are held
    /// against.
    fn claims_of(&mut self, path: String) -> &mut Vec<Claim<'a>> {
        let contents = self.contents;
        let own = contents.array_length(&path);
        self.claims.entry(path).or_insert_with(|| {
            let own = own.map(|(file, length)| Claim { length, who: Who::Header(file) });
            own.into_iter().collect()
        })
    }

    /// See [`Contents::resolve`].
    pub(super) fn resolve(
        &self,
        array: &MemberPath,
        described: &Described<'_>,
        name: &str,
    ) -> Resolved {
        self.contents.resolve(array, described, name)
    }

    /// Notes that an array uses a coordinate along an axis of this length.
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

    /// Who says first how long a coordinate is, in words.
    pub(super) fn origin(&mut self, path: &str, sources: &mut Sources) -> Option<String> {
        self.claims_of(path.to_owned()).first().map(|claim| claim.in_words(sources))
    }

    /// Everybody who disagrees with the first.
    pub(super) fn findings(self, sources: &mut Sources, findings: &mut Vec<Finding>) {
        for (path, first, other) in &self.contradictions {
            let side = |described: &Described<'a>| Side { entity: described.entity, shared: &[] };
            let found = differences(side(first), side(other));
            for Difference { what, place, one, other: said, .. } in
                found.into_iter().filter(contradicts)
            {
                let message = format!(
                    "`{}` and `{}` disagree about {what} of the coordinate `{path}`",
                    first.member, other.member
                );
                let finding = Finding::new(Code::DescribedTwice, message)
                    .expected(format!("{one}, as `{}` says", first.member), said)
                    .hint("define a coordinate once, beside its array or in one document");
                findings.push(sources.at(other, finding, &place));
            }
        }
        for (path, claims) in self.claims {
            let mut claims = claims.into_iter();
            let Some(first) = claims.next() else { continue };
            for other in claims.filter(|claim| claim.length != first.length) {
                // The array's own check says more about its own description.
                if let (Who::Header(file), Who::Stated { member, facts, .. }) =
                    (&first.who, &other.who)
                    && self.contents.speaks_for(member, facts, file)
                {
                    continue;
                }
                let finding = Finding::new(
                    Code::CoordinateLength,
                    format!("the length of the coordinate `{path}` is not the same everywhere"),
                )
                .expected(
                    format!("{}, because {}", first.length, first.in_words(sources)),
                    format!("{}, because {}", other.length, other.in_words(sources)),
                );
                findings.push(match other.span(sources) {
                    Some((member, text, span)) => finding.in_member(member).at_span(text, span),
                    None => finding.in_member(other.member()),
                });
            }
        }
    }
}

fn contradicts(difference: &Difference<'_>) -> bool {
    difference.contrast == Contrast::Contradiction
}

impl<'a> Claim<'a> {
    fn member(&self) -> &str {
        match &self.who {
            Who::Header(file) => file.as_str(),
            Who::Stated { member, .. } => member,
            Who::Axis { array, .. } => array.as_str(),
        }
    }

    /// The place in a document where it is said.
    fn span(&self, sources: &mut Sources) -> Option<(&'a str, &'a str, Span)> {
        let (member, facts, group, name, place) = match &self.who {
            Who::Header(_) => return None,
            Who::Stated { member, facts, group, name } => {
                (*member, *facts, *group, *name, vec![Step::Key("size")])
            }
            Who::Axis { described, axis, .. } => {
                let Described { member, facts, group, entity, .. } = *described;
                let place = vec![Step::Key("shape"), Step::Index(*axis)];
                (member, facts, &*group.path, entity.name(), place)
            }
        };
        let span = sources.span(member, facts, group, name, &place)?;
        Some((member, facts.text(), span))
    }

    fn in_words(&self, sources: &mut Sources) -> String {
        let length = self.length;
        let place = match self.span(sources) {
            Some((member, _, Span { start, .. })) => {
                format!("`{member}:{}:{}`", start.line, start.column)
            }
            None => format!("`{}`", self.member()),
        };
        match &self.who {
            Who::Header(_) => format!("{place} is {length} long"),
            Who::Stated { .. } => format!("{place} says so"),
            Who::Axis { array, .. } => format!("{place} uses it for an axis of `{array}`"),
        }
    }
}

impl Contents {
    /// What the document beside the array at a path says of it.
    fn own_description(&self, path: &str) -> Option<Described<'_>> {
        let (file, _) = self.array_at(path)?;
        self.description(file, &mut Vec::new()).filter(|described| !described.of_pack)
    }

    /// The 1-D array at a path of the pack, and its length.
    fn array_length(&self, path: &str) -> Option<(&MemberPath, u64)> {
        let (file, facts) = self.array_at(path)?;
        match facts.header.as_ref().ok()?.dims() {
            [length] => Some((file, *length)),
            _ => None,
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
            let own = self.array_length(&path).map(|(_, length)| length);
            let length = own.or_else(|| dimcoord.known_size());
            return Resolved::Found { path, length };
        }
        // In the pack a directory is a group, and a 1-D array is a coordinate.
        let home = if described.of_pack {
            described.group.path.clone()
        } else {
            join_groups(&base, &described.group.path)
        };
        self.find_coordinate(&home, name).unwrap_or(Resolved::Nowhere)
    }

    /// The coordinate that a name in a shape of the pack's group `home` stands for: a directory is a
    /// group, and a 1-D array is a coordinate.
    pub(super) fn find_coordinate(&self, home: &str, name: &str) -> Option<Resolved> {
        candidates(home, name).into_iter().find_map(|path| {
            if let Some((_, length)) = self.array_length(&path) {
                return Some(Resolved::Found { path, length: Some(length) });
            }
            // That its header cannot be read is said of the array, and nobody is to blame who uses it.
            if self.array_at(&path).is_some_and(|(_, facts)| facts.header.is_err()) {
                return Some(Resolved::Found { path, length: None });
            }
            let (_, facts) = self.pack_document.as_ref()?;
            let (_, coordinate) = facts.dimcoord(&path)?;
            Some(Resolved::Found { path, length: coordinate.known_size() })
        })
    }

    /// Whether a document describes the array `file` as a dimcoord, so that its size is checked there.
    fn speaks_for(&self, member: &str, facts: &DescriptionFacts, file: &MemberPath) -> bool {
        let same = |described: Described<'_>| {
            described.member == member
                && std::ptr::eq(described.facts, facts)
                && matches!(described.entity, Entity::DimCoord(_))
        };
        self.description(file, &mut Vec::new()).is_some_and(same)
            || self.in_pack_document(file).is_some_and(same)
    }
}

/// A group of a document that itself lies in a group of the pack.
pub(crate) fn join_groups(base: &str, group: &str) -> String {
    match (base, group) {
        (base, "/") => base.to_owned(),
        ("/", group) => group.to_owned(),
        (base, group) => format!("{base}{group}"),
    }
}

/// The axis length that an entity gives a coordinate named like it, for [`Entity::DimCoord`].
pub(super) fn own_length(entity: Entity<'_>) -> Option<u64> {
    match entity {
        Entity::DimCoord(dimcoord) => dimcoord.size.or_else(|| dimcoord.known_size()),
        Entity::Ndarray(_) => None,
    }
}

/// A 1-D array or dimcoord that dimensions of other arrays are named by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CoordinateInfo {
    /// Its path in the pack, such as `/run1/time`.
    pub name: String,
    /// The number of its elements; absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The units that it is measured in, when its description gives them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
    /// The first element as text, when a description gives the elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// The last element as text, when a description gives the elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// The number of arrays with a dimension along it.
    pub arrays: u64,
}

impl CoordinateInfo {
    fn new(name: String) -> Self {
        Self { name, length: None, units: None, first: None, last: None, arrays: 0 }
    }

    /// Takes what is said of it, unless somebody said it before.
    fn take(&mut self, entity: Entity<'_>) {
        let units = entity.attributes().iter().find(|attribute| attribute.name == "units");
        let units = units.and_then(|units| units.value.as_str());
        self.units = self.units.take().or_else(|| units.map(str::to_owned));
        if let Some(Value::List(values)) = entity.value()
            && self.first.is_none()
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
    /// Every coordinate that an array is said to lie along or to be, sorted by path.
    pub(crate) fn coordinates(&self) -> Vec<CoordinateInfo> {
        let mut all = BTreeMap::new();
        for (path, facts) in &self.arrays {
            let plain = self.plain(path);
            // A plain description of an ndarray names no dimension.
            if plain.is_some_and(|plain| !plain.is_dimcoord()) {
                continue;
            }
            let Some(described) = self.description(path, &mut Vec::new()) else {
                continue;
            };
            match described.entity {
                Entity::Ndarray(ndarray) => {
                    let mut used = Vec::new();
                    for extent in &ndarray.shape {
                        if let Extent::Coord(name) = extent {
                            self.note(path, &described, name, &mut all, &mut used);
                        }
                    }
                }
                Entity::DimCoord(_) => {
                    let name = entity_path(&group_of(path), path.stem());
                    let dims = facts.header.as_ref().ok().map(crate::ra::Header::dims);
                    let new = || CoordinateInfo::new(name.clone());
                    let coordinate = all.entry(name.clone()).or_insert_with(new);
                    if let Some(&[length]) = dims {
                        coordinate.length = Some(length);
                    }
                    coordinate.take(described.entity);
                }
            }
        }
        all.into_values().collect()
    }

    /// Notes that an array has a dimension of that name.
    fn note(
        &self,
        array: &MemberPath,
        described: &Described<'_>,
        name: &str,
        all: &mut BTreeMap<String, CoordinateInfo>,
        used: &mut Vec<String>,
    ) {
        let Resolved::Found { path, length } = self.resolve(array, described, name) else { return };
        let new = || CoordinateInfo::new(path.clone());
        let coordinate = all.entry(path.clone()).or_insert_with(new);
        if !used.contains(&path) {
            coordinate.arrays = coordinate.arrays.saturating_add(1);
        }
        if coordinate.length.is_none() {
            coordinate.length = length;
            if let Some((_, own)) = described.facts.resolve_coord(&described.group.path, name) {
                coordinate.take(Entity::DimCoord(own));
            }
            let file = format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/'));
            if let Some((file, _)) = self.arrays.get_key_value(&*file)
                && let Some(described) = self.description(file, &mut Vec::new())
            {
                coordinate.take(described.entity);
            } else if let Some((_, facts)) = &self.pack_document
                && let Some((_, entity)) = facts.entity(&path)
            {
                coordinate.take(entity);
            }
        }
        used.push(path);
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
    }
}
