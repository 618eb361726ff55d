//! The content of one description: its text, which is parsed only on request.
//!
//! A pack may have a hundred thousand descriptions, nearly all of them valid, and many equal except for the name. If
//! [`PlainDescription`] can represent one, only the name and the rest of the canonical text are kept, and the text itself
//! if it differs. The model and the positions in the text are made when they are needed.

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::PACK_DOCUMENT;
use super::array_facts::ArrayFacts;
use crate::allowance::Allowance;
use crate::finding::{Code, Finding};
use crate::ndl::{
    self, Document, Index, Ndarray, Parsed, PlainDescription, Positions, Step, UnresolvedReference,
};

/// The content of a description.
#[derive(Debug, Clone)]
pub(crate) struct DescriptionFacts {
    /// The parts if it is plain: then it is valid, and refers only to the coordinates of its shape.
    plain: Option<Plain>,
    /// The text in one piece; for a plain description, made on request.
    whole: OnceLock<Box<Whole>>,
}

/// A description that [`PlainDescription`] can read, or that is equal to one in another layout.
#[derive(Debug, Clone)]
struct Plain {
    /// The name of the array as the canonical text has it, in quotes if it needs them.
    key: Box<str>,
    /// The canonical text without that name, shared by many descriptions.
    body: Arc<str>,
    /// The text if it is not canonical.
    text: Option<Box<str>>,
}

impl Plain {
    /// Reads a text in the canonical layout.
    fn read(text: &str, interner: &Interner) -> Option<Self> {
        let plain = PlainDescription::read(text)?;
        let (head, rest) = plain.around_name(text)?;
        Some(Self {
            key: plain.key().into(),
            body: interner.body([head, rest].concat()),
            text: None,
        })
    }

    /// Takes a text in another layout with its result of parsing.
    fn of_model(text: &str, model: &Model, interner: &Interner) -> Option<Self> {
        let document = model.document.as_ref().filter(|_| model.findings.is_empty())?;
        document.entities().nth(1).is_none().then_some(())?;
        let plain = Self::read(&document.to_yaml(), interner)?;
        (plain.document() == *document).then(|| Self { text: Some(text.into()), ..plain })
    }

    fn description(&self) -> PlainDescription<'_> {
        PlainDescription::of_body(&self.body, &self.key).expect("the text was read before")
    }

    fn document(&self) -> Document {
        let plain = self.description();
        Document::of(plain.ndarray(), plain.is_dimcoord())
    }

    fn text(&self) -> Cow<'_, str> {
        match &self.text {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(PlainDescription::text_of(&self.body, &self.key)),
        }
    }
}

/// Most values of each kind in an interner. Files with equal texts or headers are usually neighbours.
const MAX_INTERNED: usize = 1024;

/// Keeps each distinct text and header only once, for all threads: most arrays of a data set have the same header, and
/// most descriptions differ only in a name.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    bodies: Mutex<HashSet<Arc<str>>>,
    arrays: Mutex<HashSet<Arc<ArrayFacts>>>,
}

impl Interner {
    fn body(&self, text: String) -> Arc<str> {
        intern(&self.bodies, text)
    }

    pub(crate) fn array(&self, facts: ArrayFacts) -> Arc<ArrayFacts> {
        if facts.is_faultless() { intern(&self.arrays, facts) } else { Arc::new(facts) }
    }
}

fn intern<V: Borrow<T> + Into<Arc<T>>, T: Eq + Hash + ?Sized>(
    known: &Mutex<HashSet<Arc<T>>>,
    value: V,
) -> Arc<T> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(first) = known.get(value.borrow()) {
        return Arc::clone(first);
    }
    if known.len() >= MAX_INTERNED {
        known.clear();
    }
    let value = value.into();
    known.insert(Arc::clone(&value));
    value
}

/// A description with its text in one piece.
#[derive(Debug, Clone)]
struct Whole {
    text: Box<str>,
    model: OnceLock<Box<Model>>,
    /// The coordinates by path, which can be read without the arrays.
    dimcoords: OnceLock<BTreeMap<String, Ndarray>>,
    /// The memory that may be used to parse it.
    allowance: Allowance,
}

/// The result of parsing.
#[derive(Debug, Clone)]
struct Model {
    document: Option<Document>,
    /// Findings without the name of the description.
    findings: Vec<Finding>,
    describes: bool,
    /// Made on request for a plain description.
    unresolved: OnceLock<Vec<UnresolvedReference>>,
    /// Made on the first lookup.
    positions: OnceLock<Positions>,
    /// Whether it was not parsed because the memory did not suffice.
    is_too_large: bool,
}

impl DescriptionFacts {
    /// Takes the text of the description called `name`.
    pub(crate) fn parse(name: &str, text: impl Into<Vec<u8>>) -> Self {
        Self::parse_interned(name, text.into(), &Allowance::unlimited(), &Interner::default())
    }

    /// Returns the content of a description that is too long for its archive and was not kept.
    pub(super) fn too_long(allowance: &Allowance) -> Self {
        let model = OnceLock::from(Box::new(Model::too_large(allowance)));
        let (allowance, dimcoords) = (allowance.clone(), OnceLock::new());
        let whole = Whole { text: "".into(), model, dimcoords, allowance };
        Self { plain: None, whole: OnceLock::from(Box::new(whole)) }
    }

    /// Takes the text like [`DescriptionFacts::parse`], but shares equal texts of plain descriptions.
    pub(super) fn parse_interned(
        name: &str,
        bytes: Vec<u8>,
        allowance: &Allowance,
        interner: &Interner,
    ) -> Self {
        let (text, invalid) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
                (shown, Some(error.into_bytes()))
            }
        };
        let of_plain = |plain| Self { plain: Some(plain), whole: OnceLock::new() };
        if invalid.is_none()
            && let Some(plain) = Plain::read(&text, interner)
        {
            return of_plain(plain);
        }
        let whole = Whole::new(text.into(), allowance.clone());
        if let Some(bytes) = invalid {
            whole.model.get_or_init(|| Box::new(Model::new(&bytes)));
        } else if name.rsplit('/').next() != Some(PACK_DOCUMENT)
            // The document of a pack is as long as all others together, and usually only repeats them.
            && let Some(plain) = Plain::of_model(&whole.text, whole.model(), interner)
        {
            allowance.give_back(ndl::memory_for(&whole.text) / 4);
            return of_plain(plain);
        }
        Self { plain: None, whole: OnceLock::from(Box::new(whole)) }
    }

    fn whole(&self) -> &Whole {
        self.whole.get_or_init(|| {
            let plain =
                self.plain.as_ref().expect("only the parts of a plain description are kept");
            let whole = Whole::new(plain.text().into(), Allowance::unlimited());
            whole.model.get_or_init(|| Box::new(Model::of_plain(plain)));
            Box::new(whole)
        })
    }

    /// Returns the text; bytes that are not UTF-8 are replaced.
    pub(crate) fn text(&self) -> &str {
        &self.whole().text
    }

    /// Returns whether it has been parsed.
    #[cfg(test)]
    pub(super) fn is_parsed(&self) -> bool {
        self.whole.get().is_some_and(|whole| whole.model.get().is_some())
    }

    /// Returns whether it is plain.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    /// Returns the text of a plain description without its name.
    pub(crate) fn body(&self) -> Option<&Arc<str>> {
        self.plain.as_ref().map(|plain| &plain.body)
    }

    /// Returns whether it describes one array and nothing that others could refer to.
    pub(super) fn is_plain_ndarray(&self) -> bool {
        self.plain().is_some_and(|plain| !plain.is_dimcoord())
    }

    /// Returns the description if it is plain.
    pub(crate) fn plain(&self) -> Option<PlainDescription<'_>> {
        self.plain.as_ref().map(Plain::description)
    }

    fn model(&self) -> &Model {
        self.whole().model()
    }

    /// Returns the document; `None` if it cannot be read at all.
    pub(crate) fn document(&self) -> Option<&Document> {
        self.model().document.as_ref()
    }

    /// Returns the problems of the document alone; findings call it `name`.
    pub(crate) fn findings(&self, name: &str) -> Vec<Finding> {
        if self.plain.is_some() {
            return Vec::new();
        }
        let findings = self.model().findings.iter().cloned();
        findings.map(|finding| finding.in_member(name)).collect()
    }

    /// Returns whether one of these is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.plain.is_none() && self.model().findings.iter().any(Finding::is_error)
    }

    /// Returns whether the document is meant as a description. A YAML file may be anything.
    pub(crate) fn describes(&self) -> bool {
        self.plain.is_some() || self.model().describes
    }

    /// Returns the references to things that are not in the document.
    pub(super) fn unresolved(&self) -> &[UnresolvedReference] {
        let is_whole = self.plain().is_some_and(|plain| plain.names().next().is_none());
        let of_text = || ndl::parse(self.text().as_bytes()).unresolved;
        if is_whole { &[] } else { self.model().unresolved.get_or_init(of_text) }
    }

    /// Returns the dimension coordinate at a path.
    pub(super) fn dimcoord(&self, path: &str) -> Option<&Ndarray> {
        self.whole().dimcoords.get_or_init(|| self.dimcoords()).get(path)
    }

    /// Returns the index of the entities of the document by path.
    pub(crate) fn index(&self) -> Option<Index<'_>> {
        let Model { document, positions, .. } = self.model();
        let document = document.as_ref()?;
        Some(document.index_by(positions.get_or_init(|| Positions::new(document))))
    }

    /// Returns the findings that only strict reading has.
    pub(crate) fn extension_words(&self, name: &str) -> Vec<Finding> {
        if self.plain.is_none() && self.model().is_too_large {
            return Vec::new();
        }
        let options = ndl::ParseOptions { strict: true };
        let text = self.plain.as_ref().map_or_else(|| Cow::Borrowed(self.text()), Plain::text);
        ndl::parse_with(text.as_bytes(), &options)
            .findings
            .into_iter()
            .filter(|finding| finding.code == Code::Extension)
            .map(|finding| finding.in_member(name))
            .collect()
    }
}

impl Whole {
    fn new(text: Box<str>, allowance: Allowance) -> Self {
        Self { text, model: OnceLock::new(), dimcoords: OnceLock::new(), allowance }
    }

    fn model(&self) -> &Model {
        let new = || {
            let memory = ndl::memory_for(&self.text);
            if !self.allowance.take(memory) {
                return Box::new(Model::too_large(&self.allowance));
            }
            let model = Model::new(self.text.as_bytes());
            // The tree, which takes most of the memory, is gone by now.
            self.allowance.give_back(memory - memory / 4);
            Box::new(model)
        };
        self.model.get_or_init(new)
    }
}

impl Model {
    fn new(bytes: &[u8]) -> Self {
        let Parsed { document, findings, source, unresolved } = ndl::parse(bytes);
        let holds_arrays = |at: &[Step<'_>]| {
            ["ndarrays", "dimcoords"].into_iter().any(|section| {
                let path: Vec<_> = at.iter().copied().chain([Step::Key(section)]).collect();
                source.value_span(&path).is_some()
            })
        };
        let describes = holds_arrays(&[])
            || document.as_ref().is_some_and(|document| {
                document.groups.iter().any(|group| holds_arrays(&[Step::Key(&group.path)]))
            });
        let (unresolved, positions) = (OnceLock::from(unresolved), OnceLock::new());
        Self { document, findings, describes, unresolved, positions, is_too_large: false }
    }

    fn of_plain(plain: &Plain) -> Self {
        Self {
            document: Some(plain.document()),
            findings: Vec::new(),
            describes: true,
            unresolved: OnceLock::new(),
            positions: OnceLock::new(),
            is_too_large: false,
        }
    }

    /// Returns the result for a description that is not parsed because it needs more memory than its archive allows.
    fn too_large(allowance: &Allowance) -> Self {
        let message = "the descriptions need too much memory for an archive of this size";
        let finding = Finding::new(Code::TooLarge, message);
        let limit = allowance.limit();
        let expected = format!("at most {limit} bytes for all of them together");
        let finding = Finding { expected: Some(expected), ..finding };
        Self {
            document: None,
            findings: vec![finding.hint("store long lists of values as arrays")],
            describes: true,
            unresolved: OnceLock::from(Vec::new()),
            positions: OnceLock::new(),
            is_too_large: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndl::candidates;

    #[test]
    fn equal_texts_are_kept_once_and_their_number_is_limited() {
        let interner = Interner::default();
        let texts = ["a", "b", "a"].map(|text| interner.body(text.to_owned()));
        assert_eq!(texts.concat(), "aba");
        assert!(Arc::ptr_eq(&texts[0], &texts[2]));
        for number in 0..3 * MAX_INTERNED {
            interner.body(number.to_string());
        }
        assert!(interner.bodies.lock().unwrap().len() <= MAX_INTERNED);
    }

    #[test]
    fn a_description_in_another_layout_is_plain_with_its_own_text() {
        let canonical = "ndarrays:\n  \"1\":\n    shape: [2, t]\n    type: int8\n    attributes:\n      \
                         units: m\n      range:\n        shape: [2]\n        type: int8\n        \
                         value: [0, 1]\n    storage:\n      order: row\n";
        let document = ndl::parse(canonical.as_bytes()).document.unwrap();
        for text in [
            serde_json::to_string(&document).unwrap(),
            serde_yaml::to_string(&document).unwrap(),
            canonical.replace('\n', " # a comment\r\n"),
            format!("{}    shape: [2, t]\n", canonical.replace("    shape: [2, t]\n", "")),
            format!("\u{feff}%YAML 1.2\n---\n{canonical}"),
            canonical.replace("\"1\"", "&a '1'").replace("m\n", "!!str m\n"),
        ] {
            let facts = DescriptionFacts::parse("1.yaml", text.as_str());
            let plain = facts.plain().unwrap_or_else(|| panic!("{text}"));
            assert_eq!((facts.text(), plain.name()), (&*text, "1"));
            assert_eq!(facts.body(), DescriptionFacts::parse("1.yaml", canonical).body());
            assert_eq!(facts.document(), Some(&document));
            assert_eq!(facts.unresolved(), ndl::parse(text.as_bytes()).unresolved);
        }
        for text in
            ["attributes: {n: 1}\n", "dimcoords: {t: {size: 2, type: int8}}\n", "other: 1\n"]
        {
            let facts = DescriptionFacts::parse("1.yaml", format!("{canonical}{text}"));
            assert!(!facts.is_plain(), "{text}");
        }
    }

    #[test]
    fn names_are_looked_for_upwards_and_paths_from_the_root() {
        assert_eq!(candidates("/a/b", "t"), ["/a/b/t", "/a/t", "/t"]);
        assert_eq!(candidates("/", "t"), ["/t"]);
        assert_eq!(candidates("/a/b", "/c/t"), ["/c/t"]);
    }

    #[test]
    fn lookups_agree_with_the_document() {
        let text = "/: {dimcoords: {t: {size: 2, type: int8}}}\n\
                    /a: {ndarrays: {z: {shape: [t], type: int8}}, dimcoords: {u: {size: 1, type: int8}}}\n";
        let facts = DescriptionFacts::parse("manifest.yaml", text.as_bytes());
        for (group, name, expected) in [
            ("/a", "t", Some(2)),
            ("/a", "u", Some(1)),
            ("/", "u", None),
            ("/", "/a/u", Some(1)),
            ("/a", "z", None),
        ] {
            let found = facts.index().unwrap().resolve_coord(group, name);
            assert_eq!(found.and_then(|(_, coord)| coord.known_size()), expected);
        }
        assert_eq!(
            facts.index().unwrap().entity("/a/z").map(|(group, _)| &*group.path),
            Some("/a")
        );
        assert!(facts.index().unwrap().entity("/z").is_none());
    }
}
