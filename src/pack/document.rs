//! The description of a complete pack, generated from the descriptions of its arrays.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::attributes::stated_attributes;
use super::contents::Contents;
use super::coordinates::{Convention, Resolved};
use super::described::{Described, group_in_pack};
use super::generated::{HEAD, STATED, is_attributes_document, written_part};
use super::{DescriptionFacts, describe, group_of, shape_of};
use crate::ndl::{
    self, Attribute, Document, Entity, Extent, Ndarray, Order, PlainDescription, entity_path, write,
};
use crate::path::MemberPath;
use crate::ra::{Encoding, Header};

/// Bytes of text that are passed on at once.
const PASSED_AT_ONCE: usize = 64 * 1024;

/// One document that describes every array of a pack: directories become groups, and file names without the extension
/// become array names. The text is made in blocks, because it is long for hundreds of thousands of arrays.
pub(crate) struct PackDocument<'a> {
    /// Whether the document states attributes of the pack.
    is_stated: bool,
    pub(super) groups: BTreeMap<String, Parts<'a>>,
}

impl<'a> PackDocument<'a> {
    /// Makes the document with attributes of the pack.
    pub(super) fn stating(
        attributes: &[Attribute],
        contents: &'a Contents,
        convention: Option<&Convention<'_>>,
    ) -> Self {
        let is_stated = !attributes.is_empty();
        let groups = Builder::groups(contents, convention, Err(attributes));
        Self { is_stated, groups }
    }

    /// Passes the text to `sink` in blocks, until one fails.
    pub(crate) fn each_block<E>(
        &self,
        mut sink: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut block = format!("{}{HEAD}", if self.is_stated { STATED } else { "" });
        if self.groups.is_empty() {
            block.push_str("{}\n");
        }
        for (path, Parts { attributes, dimcoords, ndarrays }) in &self.groups {
            write::push_group(&mut block, path, attributes);
            for (is_dimcoord, parts) in [(true, dimcoords), (false, ndarrays)] {
                if !parts.is_empty() {
                    block.push_str(if is_dimcoord { write::DIMCOORDS } else { write::NDARRAYS });
                }
                for part in parts {
                    part.push(is_dimcoord, &mut block);
                    if block.len() > PASSED_AT_ONCE {
                        sink(&block)?;
                        block.clear();
                    }
                }
            }
        }
        sink(&block)
    }
}

impl Contents {
    /// Removes the document of the pack if it only repeats the other descriptions, so that it needs no check.
    pub(crate) fn forget_repetition(&mut self) {
        let Some(document) = self.pack_document.take() else { return };
        if self.makes(document.text()) {
            self.attributes = stated_attributes(document.text()).unwrap_or_default();
        } else {
            self.pack_document = Some(document);
        }
    }

    /// Returns whether ra-pack made the document of the pack and its layout is unchanged; its content may differ.
    pub(super) fn has_own_document(&self) -> bool {
        self.pack_document.as_ref().is_some_and(|facts| {
            let rest = written_part(facts.text());
            let document = facts.document();
            rest.zip(document).is_some_and(|(rest, document)| write::is_written_so(document, rest))
                && document.is_some_and(|document| document.entities().next().is_some())
                && !self.states_dimensions(facts)
                && self.stated_of_groups(facts).is_empty()
        })
    }

    /// Returns whether a document of the pack states a dimension that is neither an array nor in a description next to
    /// one.
    fn states_dimensions(&self, facts: &DescriptionFacts) -> bool {
        if !is_attributes_document(facts.text()) {
            return false;
        }
        let coordinates = facts.document().into_iter().flat_map(Document::dimcoords);
        let paths = coordinates.map(|(group, coord)| entity_path(&group.path, &coord.name));
        let mut unknown: BTreeSet<String> = paths.filter(|path| !self.is_array_at(path)).collect();
        for (member, facts) in self.descriptions.iter().filter(|(_, facts)| !facts.is_plain()) {
            for (group, coord) in facts.document().into_iter().flat_map(Document::dimcoords) {
                let home = group_in_pack(member.as_str(), &group.path);
                unknown.remove(&entity_path(&home, &coord.name));
            }
        }
        !unknown.is_empty()
    }

    /// Returns whether this document is the one generated from the descriptions next to the arrays, if every array has
    /// one. The document of the pack must have been removed before.
    pub(super) fn makes(&self, document: &str) -> bool {
        let mut rest = document;
        let is_made = |block: &str| {
            rest = rest.strip_prefix(block).ok_or(())?;
            Ok::<_, ()>(())
        };
        // No document can have these names.
        let is_nameable = |path: &MemberPath| !matches!(path.stem(), "." | "..");
        self.undescribed().next().is_none()
            && self.arrays.keys().all(is_nameable)
            && PackDocument::stating(&stated_attributes(document).unwrap_or_default(), self, None)
                .each_block(is_made)
                == Ok(())
            && rest.is_empty()
    }
}

/// One entity of the document: a model or a plain description.
pub(super) enum DocumentPart<'a> {
    Model(Box<Ndarray>),
    /// A plain description that is named like the array.
    Plain {
        path: &'a MemberPath,
        facts: &'a DescriptionFacts,
        /// The text between the brackets of a shape with names; otherwise empty.
        extents: Box<str>,
    },
}

/// The parts of a group.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) attributes: Vec<Attribute>,
    pub(super) dimcoords: Vec<DocumentPart<'a>>,
    pub(super) ndarrays: Vec<DocumentPart<'a>>,
}

impl DocumentPart<'_> {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Model(array) => &array.name,
            Self::Plain { path, .. } => path.stem(),
        }
    }

    pub(super) fn push(&self, is_dimcoord: bool, text: &mut String) {
        match self {
            Self::Model(array) if is_dimcoord => write::push_entity(text, Entity::DimCoord(array)),
            Self::Model(array) => write::push_entity(text, Entity::Ndarray(array)),
            Self::Plain { path, facts, extents } => {
                let plain = facts.plain().expect("the description is plain");
                plain.with_extents(extents).push_to_group(path.stem(), text);
            }
        }
    }

    pub(super) fn array(&self) -> Cow<'_, Ndarray> {
        match self {
            Self::Model(array) => Cow::Borrowed(array),
            Self::Plain { path, facts, extents } => {
                let plain = facts.plain().expect("the description is plain").with_extents(extents);
                Cow::Owned(Ndarray { name: path.stem().to_owned(), ..plain.ndarray() })
            }
        }
    }
}

pub(super) struct Builder<'a, 'c> {
    contents: &'a Contents,
    convention: Option<&'c Convention<'c>>,
    /// The document to complete: its groups keep their attributes.
    given: Option<&'c Document>,
    groups: BTreeMap<String, Parts<'a>>,
    /// Paths of the coordinates that shapes refer to.
    referred: BTreeSet<String>,
}

impl<'a, 'c> Builder<'a, 'c> {
    /// Returns the groups with all arrays, or with those that the `given` document lacks. A new document has the
    /// attributes of the pack instead.
    pub(super) fn groups(
        contents: &'a Contents,
        convention: Option<&'c Convention<'c>>,
        given: Result<&'c Document, &[Attribute]>,
    ) -> BTreeMap<String, Parts<'a>> {
        let (groups, referred) = <_>::default();
        let mut builder = Self { contents, convention, given: given.ok(), groups, referred };
        if let Some(attributes) = given.err().filter(|attributes| !attributes.is_empty()) {
            builder.group("/").attributes = attributes.to_vec();
        }
        let given = given.ok();
        for (path, facts) in &contents.arrays {
            if let Ok(header) = &facts.header
                && (given.is_none() || contents.in_pack_document(path).is_none())
            {
                builder.add(path, header, facts.encoding.unwrap_or(Encoding::Raw));
            }
        }
        builder.finish()
    }

    fn group(&mut self, path: &str) -> &mut Parts<'a> {
        self.groups.entry(path.to_owned()).or_default()
    }

    fn add(&mut self, path: &'a MemberPath, header: &Header, encoding: Encoding) {
        let home = group_of(path);
        if let Some(facts) = self.contents.plain_facts(path)
            && let Some(extents) = self.plain_extents(&home, header, facts)
        {
            let group = self.group(&home);
            let is_array = facts.is_plain_ndarray();
            let parts = if is_array { &mut group.ndarrays } else { &mut group.dimcoords };
            return parts.push(DocumentPart::Plain { path, facts, extents });
        }
        let Some(described) = self.contents.description(path, &mut Vec::new()) else {
            let mut ndarray = describe(path.stem(), header, encoding);
            match self.convention {
                Some(convention) if convention.is_coordinate(path) => {
                    self.referred.insert(entity_path(&home, path.stem()));
                }
                Some(convention) => {
                    self.referred.extend(convention.name_extents(path, &mut ndarray));
                }
                None => {}
            }
            return self.group(&home).ndarrays.push(DocumentPart::Model(Box::new(ndarray)));
        };
        let leftover = self.add_shared_attributes(&home, &described);
        let name = path.stem().to_owned();
        let mut array = Ndarray { name, ..described.entity.array().clone() };
        let is_ndarray = matches!(described.entity, Entity::Ndarray(_));
        if is_ndarray {
            array.shape = self.shape(header, &described, &array);
        }
        array.attributes.extend(leftover);
        let group = self.group(&home);
        let parts = if is_ndarray { &mut group.ndarrays } else { &mut group.dimcoords };
        parts.push(DocumentPart::Model(Box::new(array)));
    }

    /// Returns the text of a plain shape with the names that the document will have, which is empty without names; `None`
    /// for a shape that is not written plainly.
    fn plain_extents(
        &mut self,
        home: &str,
        header: &Header,
        facts: &DescriptionFacts,
    ) -> Option<Box<str>> {
        let plain = facts.plain()?;
        if plain.names().next().is_none() {
            return Some("".into());
        }
        let lengths = shape_of(header.dims(), plain.order());
        if self.given.is_some() || plain.extents().count() != lengths.len() {
            return None;
        }
        let mut referred = Vec::new();
        let extents = plain.extents().zip(lengths).map(|(extent, length)| {
            let Err(name) = extent else { return extent.map_err(str::to_owned) };
            let found = self.contents.find_coordinate(home, name).filter(|_| length > 0);
            let path = found.ok_or(length).map(|found| found.path);
            path.map_or_else(Ok, |path| {
                let short = path.rsplit('/').next().filter(|name| entity_path(home, name) == path);
                let shown = short.unwrap_or(&path).to_owned();
                referred.push(path);
                Err(shown)
            })
        });
        let text = PlainDescription::shape_text(extents)?;
        self.referred.extend(referred);
        Some(text.into())
    }

    /// Moves the attributes of the document to the group. Returns those that the group already has from another
    /// document: they become attributes of this array.
    fn add_shared_attributes(&mut self, home: &str, described: &Described<'_>) -> Vec<Attribute> {
        let own = &described.entity.array().attributes;
        let given = self.given.and_then(|document| document.group(home));
        let group = self.group(home);
        let mut leftover = Vec::new();
        for attribute in &described.group.attributes {
            let all = given.map_or(&group.attributes, |given| &given.attributes);
            match all.iter().find(|other| other.name == attribute.name) {
                None if given.is_none() => group.attributes.push(attribute.clone()),
                Some(same) if same == attribute => {}
                _ if own.iter().any(|own| own.name == attribute.name) => {}
                _ => leftover.push(attribute.clone()),
            }
        }
        leftover
    }

    /// Returns the shape of an array, with the names of coordinates that the document will have.
    fn shape(
        &mut self,
        header: &Header,
        described: &Described<'_>,
        ndarray: &Ndarray,
    ) -> Vec<Extent> {
        let lengths = shape_of(header.dims(), ndarray.order());
        let mut shape = ndarray.shape.clone();
        for (extent, length) in shape.iter_mut().zip(lengths) {
            let Extent::Coord(name) = extent else { continue };
            // NDL has no coordinates without elements.
            if length == 0 {
                *extent = Extent::Fixed(0);
                continue;
            }
            // An array of this name is a coordinate only if it is 1-D.
            let is_coordinate = |found: &Resolved| {
                let array = self.contents.array_at(&found.path);
                array.is_none_or(|(_, facts)| {
                    facts.header.as_ref().is_ok_and(|header| header.dims().len() == 1)
                })
            };
            match self.contents.resolve(described, name).filter(is_coordinate) {
                Some(Resolved { path: found, .. }) => {
                    let stated = described.resolve_coord(name);
                    if let Some((_, dimcoord)) = stated {
                        self.add_coordinate(&found, dimcoord);
                    }
                    name.clone_from(&found);
                    self.referred.insert(found);
                }
                None => *extent = Extent::Fixed(length),
            }
        }
        shape
    }

    /// Adds a coordinate from the document next to the array that uses it.
    fn add_coordinate(&mut self, path: &str, dimcoord: &Ndarray) {
        // An array with that name has its own description or header.
        if self.contents.is_array_at(path) {
            return;
        }
        let Some((group, name)) = ndl::split_path(path) else { return };
        let group = self.group(group);
        if !group.dimcoords.iter().any(|part| part.name() == name) {
            let coord = Ndarray { name: name.to_owned(), ..dimcoord.clone() };
            group.dimcoords.push(DocumentPart::Model(Box::new(coord)));
        }
    }

    /// Turns the 1-D arrays that shapes refer to into coordinates, and shortens references within a group.
    fn finish(self) -> BTreeMap<String, Parts<'a>> {
        let Self { mut groups, referred, .. } = self;
        if referred.is_empty() {
            return groups;
        }
        for (path, group) in &mut groups {
            let is_referred =
                |part: &mut DocumentPart<'_>| referred.contains(&entity_path(path, part.name()));
            let coordinates = group.ndarrays.extract_if(.., is_referred);
            group.dimcoords.extend(coordinates.map(|part| {
                DocumentPart::Model(Box::new(as_coordinate(part.array().into_owned())))
            }));
            for part in &mut group.ndarrays {
                // A plain description names no coordinate.
                let DocumentPart::Model(ndarray) = part else { continue };
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

/// Converts a 1-D array to a dimension coordinate.
pub(crate) fn as_coordinate(mut array: Ndarray) -> Ndarray {
    if !matches!(array.shape[..], [Extent::Fixed(_)]) {
        array.shape = vec![Extent::Unlimited];
    }
    if let Some(storage) = &mut array.storage {
        // One dimension has no order.
        storage.order = Order::Column;
    }
    array
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use crate::ra::ElementType;

    /// Returns a group with the given numbers of coordinates and arrays.
    fn group((coordinates, arrays): (usize, usize)) -> Parts<'static> {
        let described = |letter: char, number: usize| {
            let header = Header::new(ElementType::FLOAT32, vec![3]).unwrap();
            describe(&format!("{letter}{number}"), &header, Encoding::Raw)
        };
        Parts {
            attributes: Vec::new(),
            dimcoords: (0..coordinates)
                .map(|number| DocumentPart::Model(Box::new(as_coordinate(described('c', number)))))
                .collect(),
            ndarrays: (0..arrays)
                .map(|number| DocumentPart::Model(Box::new(described('n', number))))
                .collect(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_text_has_every_part_in_blocks_of_any_size(
            counts in prop::collection::vec((0..4_usize, 0..999_usize), 0..5),
        ) {
            let groups = counts
                .iter()
                .enumerate()
                .map(|(number, counts)| (format!("/g{number}"), group(*counts)))
                .collect();
            let document = PackDocument { is_stated: false, groups };
            let mut text = String::new();
            let Ok(()) = document.each_block(|block| {
                text.push_str(block);
                Ok::<_, Infallible>(())
            });
            let parts: usize = counts.iter().map(|(one, other)| one + other).sum();
            prop_assert_eq!(text.matches("float32").count(), parts);
            prop_assert_eq!(text.matches("/g").count(), counts.len());
            let read = ndl::parse(text.as_bytes()).document.unwrap();
            prop_assert_eq!(read.entities().count(), parts);
        }
    }
}

#[cfg(test)]
mod repetition_tests {
    use proptest::prelude::*;

    use super::super::{ArrayFacts, Content, PACK_DOCUMENT};
    use super::*;
    use crate::finding::{Code, Finding};
    use crate::pack::writing::pack_document;
    use crate::ra::ElementType;

    /// Descriptions for an array with the dimensions `[2, 3]` or `[3]`.
    const DESCRIPTIONS: [&str; 9] = [
        "ndarrays:\n  a:\n    shape: [2, 3]\n    type: float32\n",
        "ndarrays:\n  a:\n    shape: [3, 2]\n    type: float32\n    storage:\n      order: row\n",
        "ndarrays:\n  a:\n    shape: [3]\n    type: float32\n    attributes:\n      units: m\n",
        "dimcoords:\n  t:\n    size: 3\n    type: float32\n",
        "dimcoords:\n  t:\n    size: 4\n    type: float32\n",
        "ndarrays:\n  a:\n    shape: [2, t]\n    type: float32\n",
        "ndarrays: {a: {shape: [2, 3], type: float32}}\nattributes: {title: one}\n",
        "ndarrays: {a: {shape: [2, t], type: float32}}\ndimcoords: {t: {size: 3, type: int8}}\n",
        "something: else\n",
    ];

    fn array(is_vector: bool, trailing: u64) -> Content {
        let dims = if is_vector { vec![3] } else { vec![2, 3] };
        let header = Header::new(ElementType::FLOAT32, dims).unwrap();
        let facts = ArrayFacts { header: Ok(header), encoding: None, trailing, data: Ok(()) };
        Content::Array(std::sync::Arc::new(facts))
    }

    fn description(path: &str, text: &str) -> Content {
        Content::Description(std::sync::Arc::new(DescriptionFacts::parse(path, text)))
    }

    prop_compose! {
        fn contents()(
            arrays in proptest::collection::btree_map(
                "(g/|a/|h i/|2024-06-03/)?(a|t|u|0|\\.\\.)",
                // Most must be valid and plain, or the fast path would never be tried.
                (any::<bool>(), prop_oneof![9 => Just(0), 1 => Just(5_u64)],
                    prop_oneof![9 => 0..3_usize, 1 => 0..DESCRIPTIONS.len()], 0..40_u8),
                0..6,
            ),
            changed in prop_oneof![8 => Just(None), 1 => Just(Some("# by hand\n")), 1 => Just(Some("x: 1\n"))],
        ) -> Contents {
            let mut contents = Contents::default();
            let mut add = |path: String, content| {
                contents.add(MemberPath::new(path).unwrap(), content);
            };
            for (stem, (is_wrong, trailing, which, others)) in arrays {
                add(format!("{stem}.ra"), array((which == 2) ^ (is_wrong && others < 5), trailing));
                if others > 0 {
                    let path = format!("{stem}.yaml");
                    let content = description(&path, DESCRIPTIONS[which]);
                    add(path, content);
                }
                if others == 39 {
                    let path = format!("{stem}.yml");
                    let content = description(&path, DESCRIPTIONS[0]);
                    add(path, content);
                }
            }
            let text = pack_document(&contents, None) + changed.unwrap_or_default();
            let content = description(PACK_DOCUMENT, &text);
            contents.add(MemberPath::new(PACK_DOCUMENT).unwrap(), content);
            contents
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn a_document_that_repeats_has_no_problem_of_its_own(contents in contents()) {
            let mut contents = contents;
            let all = contents.findings();
            contents.forget_repetition();
            if contents.pack_document.is_none() {
                // The verdict is the same. Findings differ: a problem of a description may also be one of the document,
                // which cannot name a coordinate like an array that is not one.
                let own = contents.findings();
                let is_named = |finding: &Finding| finding.code == Code::DescribedTwice;
                prop_assert!(!own.is_empty() || all.iter().all(is_named), "{:?}", all);
                let has_error = |findings: &[Finding]| findings.iter().any(Finding::is_error);
                prop_assert!(!has_error(&own) || has_error(&all), "{:?} {:?}", own, all);
            }
        }
    }

    #[test]
    fn a_document_that_repeats_is_forgotten() {
        let mut contents = Contents::default();
        for stem in ["a", "g/b"] {
            let path = format!("{stem}.yaml");
            let content = description(&path, DESCRIPTIONS[0]);
            contents.add(MemberPath::new(path).unwrap(), content);
            contents.add(MemberPath::new(format!("{stem}.ra")).unwrap(), array(false, 5));
        }
        let text = pack_document(&contents, None);
        for (text, is_kept) in [(text.clone(), false), (text + "# by hand\n", true)] {
            let content = description(PACK_DOCUMENT, &text);
            contents.add(MemberPath::new(PACK_DOCUMENT).unwrap(), content);
            contents.forget_repetition();
            assert_eq!(contents.pack_document.is_some(), is_kept);
            assert_eq!(contents.findings().len(), 2);
        }
    }
}
