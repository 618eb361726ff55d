//! The description of a whole pack, made from the descriptions of its arrays.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::Range;

use super::contents::{Contents, Described, Entity};
use super::convention::Convention;
use super::coordinates::Resolved;
use super::{DescriptionFacts, describe, entity_path, group_of, shape_of};
use crate::finding::{Code, Finding, Severity};
use crate::ndl::write::{self, Section};
use crate::ndl::{self, Attribute, DimCoord, Document, Extent, Group, Ndarray, Order, Storage};
use crate::path::MemberPath;
use crate::pipeline;
use crate::ra::{Encoding, Header};

/// What stands above the document, for whoever finds the pack when all of its software is gone.
const HEAD: &str = "\
# This file describes every array of this pack, in the Ndarray Data Language 0.6.1, which is YAML.
# The array NAME of group /a/b is the file a/b/NAME.ra.
#
# A .ra file (RawArray) is a row of little-endian unsigned 64-bit integers and then the data:
#   magic (the letters \"rawarray\"), flags, eltype, elbyte, size, ndims, dims[0] ... dims[ndims-1].
#   eltype: 0 user-defined, 1 signed integer, 2 unsigned integer, 3 IEEE 754 float,
#           4 complex (real part, imaginary part), 5 brain float; elbyte: bytes of one element;
#   size: bytes of the data, which begin at byte 48 + 8*ndims. flags is 0 (1: big-endian data).
# The first index of dims varies fastest. shape below equals dims, except where an array says
# storage: {order: row}: there shape is dims reversed, so the last index of shape varies fastest.
#
# manifest-sha256.txt holds the SHA-256 digest of every other file: sha256sum -c manifest-sha256.txt
";

/// Whether the beginning of a text is that of a document that was made of the descriptions of arrays.
pub(crate) fn is_generated(start: &[u8]) -> bool {
    HEAD.lines().next().is_some_and(|line| start.starts_with(line.as_bytes()))
}

/// Describes every array of a pack in one document, as [`PackDocument`].
pub(crate) fn pack_document(contents: &Contents, convention: Option<&Convention<'_>>) -> String {
    let mut text = String::new();
    let whole = PackDocument::new(contents, convention).each_block(1, |block| {
        text.push_str(block);
        Ok::<_, Infallible>(())
    });
    let Ok(()) = whole;
    text
}

/// Parts whose text is made at once.
const STEP: usize = 64;

/// One document that describes every array of a pack: a directory is a group, a file's stem a name. Its text
/// is made block by block: of hundreds of thousands of arrays it is long.
pub(crate) struct PackDocument<'a> {
    /// By their paths.
    groups: Vec<(String, Parts<'a>)>,
    /// Where the blocks end.
    ends: Vec<Place>,
}

/// A place in the document: behind so many parts of a group.
#[derive(Clone, Copy, Default)]
struct Place {
    group: usize,
    parts: usize,
}

impl<'a> PackDocument<'a> {
    /// Arrays without a description are described by their headers. Coordinates that shapes refer to
    /// are dimension coordinates here, so that the document stands by itself. With a `convention`, so are
    /// those that have no description and the name of a coordinate.
    pub(crate) fn new(contents: &'a Contents, convention: Option<&Convention<'_>>) -> Self {
        let mut builder = Builder::new(contents, convention);
        for (path, facts) in &contents.arrays {
            if let Ok(header) = &facts.header {
                builder.add(path, header, facts.encoding.unwrap_or(Encoding::Raw));
            }
        }
        let groups: Vec<_> = builder.finish().into_iter().collect();
        let ends = ends_of_blocks(&groups, STEP);
        Self { groups, ends }
    }

    /// The groups of all arrays, and of coordinates that they refer to, which `document` does not have.
    fn missing(contents: &'a Contents, document: &Document) -> Vec<Group> {
        let mut builder = Builder { given: Some(document), ..Builder::new(contents, None) };
        for (path, facts) in &contents.arrays {
            if contents.in_pack_document(path).is_none()
                && let Ok(header) = &facts.header
            {
                builder.add(path, header, facts.encoding.unwrap_or(Encoding::Raw));
            }
        }
        let groups = builder.finish().into_iter();
        let groups = groups.map(|(path, Parts { attributes, dimcoords, ndarrays })| {
            let dimcoords = dimcoords.into_iter().filter_map(Part::<DimCoord>::into_model);
            let ndarrays = ndarrays.into_iter().filter_map(Part::<Ndarray>::into_model);
            let at = |name: &str| entity_path(&path, name);
            let known = |name: &str| contents.is_in_pack_document(&at(name));
            Group {
                dimcoords: dimcoords.filter(|coord| !known(&coord.name)).collect(),
                ndarrays: ndarrays.filter(|array| !known(&array.name)).collect(),
                attributes,
                path,
            }
        });
        let is_empty = |group: &Group| group.dimcoords.is_empty() && group.ndarrays.is_empty();
        groups.filter(|group| !is_empty(group)).collect()
    }

    /// Gives the text to `sink` block by block, which several jobs make, until that fails.
    pub(crate) fn each_block<E: Send>(
        &self,
        jobs: usize,
        mut sink: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let make = |(): &mut (), number| {
            let mut block = String::new();
            self.push_block(&mut block, number);
            Ok(block)
        };
        let numbers = 0..self.ends.len();
        pipeline::ordered(pipeline::workers(jobs), numbers, || (), make, |block| sink(&block))
    }

    /// The length of the text in bytes.
    pub(crate) fn len(&self, jobs: usize) -> u64 {
        let len_of = |block: &mut String, number| {
            block.clear();
            self.push_block(block, number);
            Ok::<_, Infallible>(block.len() as u64)
        };
        let Ok(lens) = pipeline::share(jobs, 0..self.ends.len(), String::new, len_of);
        lens.into_iter().fold(0, u64::saturating_add)
    }

    fn push_block(&self, text: &mut String, number: usize) {
        let start = match number.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or_default(),
            None => {
                text.push_str(HEAD);
                if self.groups.is_empty() {
                    text.push_str("{}\n");
                }
                Place::default()
            }
        };
        let Some(end) = self.ends.get(number) else { return };
        for (at, (path, group)) in self.groups.iter().enumerate().skip(start.group) {
            let first = if at == start.group { start.parts } else { 0 };
            let last = if at == end.group { end.parts } else { group.len() };
            if at > end.group || (at == end.group && last == 0) {
                return;
            }
            if first == 0 {
                write::push_group(text, path, &group.attributes);
            }
            group.push(text, first..last);
        }
    }
}

/// Where the blocks of a text end: of so many parts each, however many groups they are of.
fn ends_of_blocks(groups: &[(String, Parts<'_>)], step: usize) -> Vec<Place> {
    let (mut ends, mut filled) = (Vec::new(), 0_usize);
    for (group, (_, parts)) in groups.iter().enumerate() {
        let mut left = parts.len();
        while left >= step.saturating_sub(filled) {
            left = left.saturating_sub(step.saturating_sub(filled));
            ends.push(Place { group, parts: parts.len().saturating_sub(left) });
            filled = 0;
        }
        // The group itself takes room too.
        filled = filled.saturating_add(left).saturating_add(1).min(step);
    }
    ends.push(Place { group: groups.len(), parts: 0 });
    ends
}

impl Contents {
    /// Forgets the document of the whole pack when it is the one that would be made of the other
    /// descriptions: it says nothing that they do not say, so nothing in it has to be checked.
    pub(crate) fn forget_repetition(&mut self, jobs: usize) {
        let Some(document) = self.pack_document.take() else { return };
        if !self.makes(document.1.text(), jobs) {
            self.pack_document = Some(document);
        }
    }

    /// Whether the document of the pack is one that ra-pack made and nobody has changed but for what it says.
    pub(super) fn has_own_document(&self) -> bool {
        self.pack_document.as_ref().is_some_and(|(_, facts)| {
            let rest = facts.text().strip_prefix(HEAD);
            let document = facts.document();
            rest.zip(document).is_some_and(|(rest, document)| write::is_written_so(document, rest))
        })
    }

    /// Forgets the document of the pack when it is one that ra-pack made of descriptions that are beside all
    /// arrays: it is made anew. The answer is what it said that they do not say.
    pub(crate) fn forget_own_document(&mut self) -> Option<Finding> {
        let own = self.has_own_document();
        let (member, facts) = self.pack_document.take_if(|_| own)?;
        if self.undescribed().next().is_some() {
            self.pack_document = Some((member, facts));
            return None;
        }
        let message = "the document said something else than the descriptions beside the arrays, and is made anew";
        let finding = Finding::new(Code::DescribedTwice, message).in_member(member).warning();
        Some(finding.hint(
            "what was changed in it by hand belongs into the descriptions beside the arrays, or below a \
             comment of your own, which makes it yours",
        ))
    }

    /// The text of the hand-written document of the pack with all arrays that it does not describe; nothing
    /// when there are none.
    pub(crate) fn complete_document(&self) -> Option<Result<String, Finding>> {
        let (member, facts) = self.pack_document.as_ref()?;
        let document = facts.document()?;
        let missing = PackDocument::missing(self, document);
        if missing.is_empty() {
            return None;
        }
        let first = missing.iter().find_map(|group| {
            let name = group.ndarrays.first().map(|array| &array.name);
            let name = name.or_else(|| group.dimcoords.first().map(|coord| &coord.name));
            name.map(|name| entity_path(&group.path, name))
        });
        let first = first.unwrap_or_default();
        Some(ndl::complete(facts.text(), &missing).ok_or_else(|| {
            let message = format!("the document lacks `{first}`, which cannot be added to such a text");
            let finding = Finding::new(Code::PartialDocument, message).in_member(member.as_str());
            let severity = Severity::Error;
            let hint = "write it as `ra-pack describe DIR` does, in lines and without anchors, or remove it";
            Finding { severity, ..finding }.hint(hint)
        }))
    }

    /// Whether this is the document that would be made of the descriptions beside arrays, of which none
    /// lacks one. The document of the pack must have been taken away.
    pub(super) fn makes(&self, document: &str, jobs: usize) -> bool {
        let mut rest = document;
        let is_made = |block: &str| {
            rest = rest.strip_prefix(block).ok_or(())?;
            Ok::<_, ()>(())
        };
        self.undescribed().next().is_none()
            && PackDocument::new(self, None).each_block(jobs, is_made) == Ok(())
            && rest.is_empty()
    }
}

fn push_plain(text: &mut String, name: &str, facts: &DescriptionFacts) {
    if let Some(plain) = facts.plain() {
        plain.push_to_group(name, text);
    }
}

/// One entity of the document: as a model, or the description of the plain form that it is written in.
enum Part<'a, T> {
    Model(Box<T>),
    /// Called as the array is.
    Plain {
        path: &'a MemberPath,
        facts: &'a DescriptionFacts,
    },
}

/// What will be a group.
#[derive(Default)]
struct Parts<'a> {
    attributes: Vec<Attribute>,
    dimcoords: Vec<Part<'a, DimCoord>>,
    ndarrays: Vec<Part<'a, Ndarray>>,
}

impl Parts<'_> {
    fn len(&self) -> usize {
        self.dimcoords.len().saturating_add(self.ndarrays.len())
    }

    /// Appends the text of some of them, the coordinates first.
    fn push(&self, text: &mut String, range: Range<usize>) {
        let coordinates = self.dimcoords.len();
        for at in range {
            if at < coordinates {
                if at == 0 {
                    write::push_section(text, Section::DimCoords);
                }
                match self.dimcoords.get(at) {
                    Some(Part::Model(coord)) => write::push_dimcoord(text, coord),
                    Some(Part::Plain { path, facts }) => push_plain(text, path.stem(), facts),
                    None => {}
                }
            } else {
                if at == coordinates {
                    write::push_section(text, Section::Ndarrays);
                }
                match self.ndarrays.get(at.saturating_sub(coordinates)) {
                    Some(Part::Model(ndarray)) => write::push_ndarray(text, ndarray),
                    Some(Part::Plain { path, facts }) => push_plain(text, path.stem(), facts),
                    None => {}
                }
            }
        }
    }
}

impl<T> Part<'_, T> {
    fn model(value: T) -> Self {
        Self::Model(Box::new(value))
    }
}

impl Part<'_, DimCoord> {
    fn into_model(self) -> Option<DimCoord> {
        match self {
            Self::Model(coord) => Some(*coord),
            Self::Plain { path, facts } => {
                let group = facts.plain()?.to_document().groups.pop()?;
                let coord = group.dimcoords.into_iter().next()?;
                Some(DimCoord { name: path.stem().to_owned(), ..coord })
            }
        }
    }
}

impl Part<'_, Ndarray> {
    fn name(&self) -> &str {
        match self {
            Self::Model(ndarray) => &ndarray.name,
            Self::Plain { path, .. } => path.stem(),
        }
    }

    fn into_model(self) -> Option<Ndarray> {
        match self {
            Self::Model(ndarray) => Some(*ndarray),
            Self::Plain { path, facts } => {
                let group = facts.plain()?.to_document().groups.pop()?;
                let ndarray = group.ndarrays.into_iter().next()?;
                Some(Ndarray { name: path.stem().to_owned(), ..ndarray })
            }
        }
    }
}

struct Builder<'a, 'c> {
    contents: &'a Contents,
    convention: Option<&'c Convention<'c>>,
    /// What the parts are added to: its groups keep their attributes.
    given: Option<&'c Document>,
    groups: BTreeMap<String, Parts<'a>>,
    /// Paths of the coordinates that shapes refer to.
    referred: BTreeSet<String>,
}

impl<'a, 'c> Builder<'a, 'c> {
    fn new(contents: &'a Contents, convention: Option<&'c Convention<'c>>) -> Self {
        Self {
            contents,
            convention,
            given: None,
            groups: BTreeMap::new(),
            referred: BTreeSet::new(),
        }
    }

    fn group(&mut self, path: &str) -> &mut Parts<'a> {
        self.groups.entry(path.to_owned()).or_default()
    }

    fn add(&mut self, path: &'a MemberPath, header: &Header, encoding: Encoding) {
        let home = group_of(path);
        if let Some(facts) = self.contents.plain_facts(path) {
            let group = self.group(&home);
            if facts.is_plain_ndarray() {
                group.ndarrays.push(Part::Plain { path, facts });
            } else {
                group.dimcoords.push(Part::Plain { path, facts });
            }
            return;
        }
        let described = self.contents.description(path, &mut Vec::new());
        let mut ndarray = describe(path.stem(), header, encoding);
        match described {
            None => {
                match self.convention {
                    Some(convention) if convention.is_coordinate(path) => {
                        self.referred.insert(entity_path(&home, path.stem()));
                    }
                    Some(convention) => {
                        self.referred.extend(convention.name_extents(path, &mut ndarray));
                    }
                    None => {}
                }
                self.group(&home).ndarrays.push(Part::model(ndarray));
            }
            Some(described) => {
                let leftover = self.add_shared_attributes(&home, &described);
                match described.entity {
                    Entity::DimCoord(dimcoord) => {
                        let mut dimcoord =
                            DimCoord { name: path.stem().to_owned(), ..dimcoord.clone() };
                        dimcoord.attributes.extend(leftover);
                        self.group(&home).dimcoords.push(Part::model(dimcoord));
                    }
                    Entity::Ndarray(described_as) => {
                        let shape = self.shape(path, header, &described, described_as);
                        ndarray =
                            Ndarray { name: path.stem().to_owned(), shape, ..described_as.clone() };
                        ndarray.attributes.extend(leftover);
                        self.group(&home).ndarrays.push(Part::model(ndarray));
                    }
                }
            }
        }
    }

    /// Takes the attributes of the document itself over to the group. Those that the group has
    /// otherwise, from another document, are given back: they belong to this array alone.
    fn add_shared_attributes(&mut self, home: &str, described: &Described<'_>) -> Vec<Attribute> {
        let own: Vec<&str> = match described.entity {
            Entity::Ndarray(ndarray) => {
                ndarray.attributes.iter().map(|a| a.name.as_str()).collect()
            }
            Entity::DimCoord(coord) => coord.attributes.iter().map(|a| a.name.as_str()).collect(),
        };
        let given = self.given.and_then(|document| document.group(home));
        let group = self.group(home);
        let mut leftover = Vec::new();
        for attribute in &described.group.attributes {
            let all = given.map_or(&group.attributes, |given| &given.attributes);
            match all.iter().find(|other| other.name == attribute.name) {
                None if given.is_none() => group.attributes.push(attribute.clone()),
                Some(same) if same == attribute => {}
                _ if own.contains(&attribute.name.as_str()) => {}
                _ => leftover.push(attribute.clone()),
            }
        }
        leftover
    }

    /// The shape of an array, with the names of coordinates where the document will have them.
    fn shape(
        &mut self,
        path: &MemberPath,
        header: &Header,
        described: &Described<'_>,
        ndarray: &Ndarray,
    ) -> Vec<Extent> {
        let lengths = shape_of(header.dims(), ndarray.order());
        let mut shape = ndarray.shape.clone();
        for (extent, length) in shape.iter_mut().zip(lengths) {
            let Extent::Coord(name) = extent else { continue };
            // The language has no coordinate without elements.
            if length == 0 {
                *extent = Extent::Fixed(0);
                continue;
            }
            match self.contents.resolve(path, described, name) {
                Resolved::Found { path: found, .. } => {
                    let stated = described.facts.resolve_coord(&described.group.path, name);
                    if let Some((_, dimcoord)) = stated {
                        self.add_coordinate(&found, dimcoord);
                    }
                    name.clone_from(&found);
                    self.referred.insert(found);
                }
                Resolved::Nowhere => *extent = Extent::Fixed(length),
            }
        }
        shape
    }

    /// A coordinate that a document states beside the array that uses it.
    fn add_coordinate(&mut self, path: &str, dimcoord: &DimCoord) {
        let Some((group, name)) = path.rsplit_once('/') else { return };
        let group = if group.is_empty() { "/" } else { group };
        let file = format!("{}.{}", path.trim_start_matches('/'), super::ARRAY_EXTENSION);
        // An array of that name speaks for itself.
        if self.contents.arrays.contains_key(&*file) {
            return;
        }
        let group = self.group(group);
        let is_called = |part: &Part<'_, DimCoord>| match part {
            Part::Model(coord) => coord.name == name,
            Part::Plain { path, .. } => path.stem() == name,
        };
        if !group.dimcoords.iter().any(is_called) {
            let coord = DimCoord { name: name.to_owned(), ..dimcoord.clone() };
            group.dimcoords.push(Part::model(coord));
        }
    }

    /// Turns the 1-D arrays that shapes refer to into coordinates, and shortens references to those
    /// of the same group.
    fn finish(self) -> BTreeMap<String, Parts<'a>> {
        let Self { mut groups, referred, .. } = self;
        if referred.is_empty() {
            return groups;
        }
        for (path, group) in &mut groups {
            let (coordinates, ndarrays) =
                std::mem::take(&mut group.ndarrays).into_iter().partition::<Vec<_>, _>(|ndarray| {
                    referred.contains(&entity_path(path, ndarray.name()))
                });
            group.ndarrays = ndarrays;
            let coordinates = coordinates.into_iter().filter_map(Part::<Ndarray>::into_model);
            group.dimcoords.extend(coordinates.map(|ndarray| Part::model(as_coordinate(ndarray))));
            for part in &mut group.ndarrays {
                // A plain one names no coordinate.
                let Part::Model(ndarray) = part else { continue };
                for extent in &mut ndarray.shape {
                    if let Extent::Coord(name) = extent
                        && let Some(short) = name.rsplit('/').next()
                        && entity_path(path, short) == *name
                    {
                        *name = short.to_owned();
                    }
                }
            }
        }
        groups
    }
}

/// A dimension coordinate as the 1-D array that it is.
pub(crate) fn as_ndarray(dimcoord: &DimCoord) -> Ndarray {
    Ndarray {
        name: dimcoord.name.clone(),
        shape: vec![dimcoord.size.map_or(Extent::Unlimited, Extent::Fixed)],
        datatype: dimcoord.datatype.clone(),
        value: dimcoord.value.clone(),
        attributes: dimcoord.attributes.clone(),
        storage: dimcoord.storage.clone().map(|storage| Storage {
            shape: storage.size.map(|size| vec![size]),
            size: None,
            ..storage
        }),
    }
}

/// A 1-D array as a dimension coordinate.
pub(crate) fn as_coordinate(ndarray: Ndarray) -> DimCoord {
    let size = match ndarray.shape[..] {
        [Extent::Fixed(length)] => Some(length),
        _ => None,
    };
    DimCoord {
        name: ndarray.name,
        size,
        datatype: ndarray.datatype,
        value: ndarray.value,
        attributes: ndarray.attributes,
        // Of one dimension there is no order, and its shape is its size.
        storage: ndarray.storage.map(|storage| Storage {
            size: storage.shape.as_ref().and_then(|shape| shape.first().copied()),
            shape: None,
            order: Order::Column,
            ..storage
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ra::ElementType;

    /// A group of so many coordinates and arrays.
    fn group((coordinates, arrays): (usize, usize)) -> Parts<'static> {
        let described = |number: usize| {
            let header = Header::new(ElementType::FLOAT32, vec![3]).unwrap();
            describe(&format!("n{number}"), &header, Encoding::Raw)
        };
        Parts {
            attributes: Vec::new(),
            dimcoords: (0..coordinates)
                .map(|number| Part::model(as_coordinate(described(number))))
                .collect(),
            ndarrays: (0..arrays).map(|number| Part::model(described(number))).collect(),
        }
    }

    fn text(document: &PackDocument<'_>, jobs: usize) -> String {
        let mut text = String::new();
        let Ok(()) = document.each_block(jobs, |block| {
            text.push_str(block);
            Ok::<_, Infallible>(())
        });
        text
    }

    proptest! {
        #[test]
        fn the_text_is_the_same_however_it_is_cut(
            counts in prop::collection::vec((0..4_usize, 0..9_usize), 0..7),
            step in 1..12_usize,
            jobs in 1..4_usize,
        ) {
            let groups: Vec<_> = counts
                .iter()
                .enumerate()
                .map(|(number, counts)| (format!("/g{number}"), group(*counts)))
                .collect();
            let ends = ends_of_blocks(&groups, step);
            let mut document = PackDocument { groups, ends };
            let cut = text(&document, jobs);
            prop_assert_eq!(document.len(jobs), u64::try_from(cut.len()).unwrap());
            let parts: usize = counts.iter().map(|(one, other)| one + other).sum();
            prop_assert!(document.ends.len() > parts / (step + 1));
            document.ends = vec![Place { group: counts.len(), parts: 0 }];
            prop_assert_eq!(&cut, &text(&document, 1));
            prop_assert_eq!(cut.matches("float32").count(), parts);
            prop_assert_eq!(cut.matches("/g").count(), counts.len());
        }
    }
}
