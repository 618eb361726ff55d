//! Converts the tree of a text to the model: which keys exist, what they contain, which are required. Rules that relate
//! entities are in `validate`.

mod datatype;
mod entity;

use super::model::{Document, Extent, Form, Group};
use super::node::{Node, NodeKey, NodeKind, NodeMap};
use super::report::{Reported, Reporter, hint, quote};
use super::source::Range;
use super::value::Value;
use crate::finding::Code;

const SECTIONS: [&str; 3] = ["attributes", "dimcoords", "ndarrays"];

/// The path of a reference in a value, and the region if it has one. Checked once the whole document is read.
pub(super) type PendingReference<'n> = (&'n Node, Option<&'n Node>);

/// Reads a tree, and keeps everything that needs the whole document for later.
#[derive(Debug)]
pub(super) struct DocumentReader<'n, 'k, 's> {
    pub(super) sink: &'k mut Reporter<'s>,
    /// Whether extensions are refused.
    strict: bool,
    /// One site for each dimcoord of the document, and one for each ndarray, in document order.
    pub(super) sites: [Vec<Site<'n>>; 2],
    /// Shapes of ndarrays with other errors.
    pub(super) stray: Vec<(Site<'n>, Vec<Extent>)>,
    /// References to objects, in values.
    pub(super) targets: Vec<PendingReference<'n>>,
    /// Group and name of dimcoords that could not be read: references to them are not reported again.
    pub(super) broken: Vec<(&'n str, &'n str)>,
}

/// The nodes of an array that are checked once the whole document is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site<'n> {
    pub(super) group: &'n str,
    pub(super) key: &'n NodeKey,
    pub(super) shape: &'n Node,
    pub(super) value: Option<&'n Node>,
    pub(super) storage: Option<&'n Node>,
    pub(super) is_dimcoord: bool,
}

/// Helpers for all parts of a document.
impl<'n, 'k, 's> DocumentReader<'n, 'k, 's> {
    pub(super) fn new(sink: &'k mut Reporter<'s>, strict: bool) -> Self {
        let (sites, stray, targets, broken) = <_>::default();
        Self { sink, strict, sites, stray, targets, broken }
    }

    pub(super) fn report(
        &mut self,
        code: Code,
        at: Range,
        message: impl Into<String>,
    ) -> Reported<'_> {
        self.sink.report(code, at, message)
    }

    /// Reports a value that is not as expected.
    pub(super) fn refuse(
        &mut self,
        code: Code,
        node: &Node,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> Reported<'_> {
        self.report(code, node.at, message).expected(expected).found(node.describe())
    }

    fn wrong_kind(&mut self, node: &Node, what: &str, expected: &str) -> Reported<'_> {
        self.refuse(Code::WrongKind, node, format!("{what} is of the wrong kind"), expected)
    }

    /// Returns the entries of a mapping from names to entities; none if it is left empty.
    fn entries(
        &mut self,
        node: Option<&'n Node>,
        what: &str,
    ) -> std::slice::Iter<'n, (NodeKey, Node)> {
        let map = node
            .filter(|node| !node.is_null())
            .and_then(|node| self.map(node, what, "a name for each entity"));
        map.map(NodeMap::iter).unwrap_or_default()
    }

    fn map(&mut self, node: &'n Node, what: &str, keys: &str) -> Option<&'n NodeMap> {
        if let NodeKind::Map(map) = &node.kind {
            return Some(map);
        }
        self.wrong_kind(node, what, &format!("a mapping with {keys}"));
        None
    }

    /// Returns the values of the keys that a mapping may have, and reports other keys.
    fn fields<const N: usize>(
        &mut self,
        map: &'n NodeMap,
        known: [&'static str; N],
        what: &str,
    ) -> [Option<&'n Node>; N] {
        for (key, _) in map.iter().filter(|(key, _)| !known.contains(&&*key.text)) {
            let message = format!("unknown key {} in {what}", quote(&key.text));
            let finding = self.report(Code::UnknownKey, key.at, message);
            finding.expected(one_of(&known)).maybe_hint(hint(&key.text, known));
        }
        known.map(|key| map.entry(key).map(|(_, node)| node))
    }

    /// Returns the value of a required key, or reports that it is missing from the mapping at `at`.
    fn required(
        &mut self,
        node: Option<&'n Node>,
        key: &str,
        at: Range,
        what: &str,
        hint: &str,
    ) -> Option<&'n Node> {
        if node.is_none() {
            let message = format!("{what} has no `{key}`");
            self.report(Code::MissingKey, at, message).expected(format!("`{key}`")).hint(hint);
        }
        node
    }

    /// Returns the value of a node, or reports a number that no type holds.
    fn value(&mut self, node: &Node) -> Option<Value> {
        let too_large = |at| {
            self.report(Code::NumberRange, at, "the number is too large")
                .expected("an integer of 64 bits, or a float within the range of `float64`")
                .hint("quote it to make it a string");
        };
        node.value().map_err(too_large).ok()
    }

    /// Returns an integer of at least `least`.
    fn integer(
        &mut self,
        node: &Node,
        least: u64,
        code: Code,
        message: &str,
        expected: &str,
    ) -> Option<u64> {
        let number = self.value(node)?.as_integer().and_then(|number| u64::try_from(number).ok());
        let number = number.filter(|number| *number >= least);
        if number.is_none() {
            self.refuse(code, node, message, expected);
        }
        number
    }

    /// Returns the text of a string.
    fn text(&mut self, node: &'n Node, what: &str) -> Option<String> {
        if let Value::String(text) = self.value(node)? {
            return Some(text);
        }
        self.wrong_kind(node, what, "a string").hint("quote it to make it a string");
        None
    }

    /// Returns one of a few words; `aliases` are other programs' words for them.
    fn choice<T: Copy, const N: usize>(
        &mut self,
        node: &'n Node,
        choices: [(&'static str, T); N],
        aliases: &[(&str, &str)],
        code: Code,
        message: &str,
    ) -> Option<T> {
        let word = node.word();
        if let Some((_, choice)) = choices.iter().find(|(known, _)| *known == word) {
            return Some(*choice);
        }
        let (words, folded) = (choices.map(|(word, _)| word), word.to_lowercase());
        let hint = match aliases.iter().find(|(alias, _)| *alias == folded) {
            Some((_, meant)) => Some(format!("did you mean `{meant}`?")),
            None => hint(word, words),
        };
        self.refuse(code, node, message, one_of(&words)).maybe_hint(hint);
        None
    }
}

/// The structure of a document: groups and sections.
impl<'n> DocumentReader<'n, '_, '_> {
    /// Reads the document; `None` if it is not a mapping.
    pub(super) fn document(&mut self, root: &'n Node) -> Option<Document> {
        let NodeKind::Map(map) = &root.kind else {
            let expected =
                "`attributes`, `dimcoords`, `ndarrays`, or groups such as `/` and `/a/b`";
            let finding =
                self.refuse(Code::WrongKind, root, "the document is not a mapping", expected);
            if root.is_null() {
                finding
                    .found("an empty document")
                    .hint("write `{}` for a document without content");
            }
            return None;
        };
        let is_group = |(key, _): &&(NodeKey, Node)| key.text.starts_with('/');
        let Some((first, _)) = map.iter().find(is_group) else {
            return Some(self.flat(map));
        };
        let mut groups = Vec::with_capacity(map.len());
        for (key, body) in map.iter() {
            if !key.text.starts_with('/') {
                self.not_a_group(key, body, first);
            } else if self.group_path(key) {
                groups.extend(self.group(&key.text, body));
            }
        }
        Some(Document { form: Form::Grouped, groups })
    }

    fn flat(&mut self, map: &'n NodeMap) -> Document {
        let is_section = |(key, _): &&(NodeKey, Node)| SECTIONS.contains(&&*key.text);
        for (key, body) in map.iter().filter(|entry| !is_section(entry)) {
            let hint = if SECTIONS.iter().any(|section| body.entry(section).is_some()) {
                let path = quote(&format!("/{}", key.text));
                Some(format!("the path of a group begins with `/`: write {path}"))
            } else if matches!(&*key.text, "type" | "shape" | "value") {
                Some("put the array under `ndarrays`, with its name as the key".to_owned())
            } else {
                hint(&key.text, SECTIONS)
            };
            self.report(Code::UnknownKey, key.at, format!("unknown key {}", quote(&key.text)))
                .expected("`attributes`, `dimcoords` or `ndarrays`, or groups such as `/a`")
                .maybe_hint(hint);
        }
        let group = self.sections(map, "/");
        Document { form: Form::Flat, groups: vec![group] }
    }

    fn not_a_group(&mut self, key: &NodeKey, body: &Node, first: &NodeKey) {
        let named = quote(&key.text);
        if SECTIONS.contains(&&*key.text) {
            let line = self.sink.source.span(first.at).line;
            self.report(Code::MixedForms, key.at, format!("{named} is mixed with groups"))
                .expected("either groups or the content of the root group")
                .hint(format!("move it under `/`; the first group is on line {line}"));
            return;
        }
        let is_map = matches!(body.kind, NodeKind::Map(_));
        let hint = is_map.then(|| format!("write {}", quote(&format!("/{}", key.text))));
        self.report(Code::GroupPath, key.at, format!("{named} is not a group path"))
            .expected("a path that begins with `/`")
            .maybe_hint(hint);
    }

    fn group_path(&mut self, key: &NodeKey) -> bool {
        let path = &*key.text;
        let fault = if path == "/" {
            return true;
        } else if path.ends_with('/') {
            "ends with `/`"
        } else if path.split('/').skip(1).any(str::is_empty) {
            "has an empty part"
        } else if path.split('/').any(|part| matches!(part, "." | "..")) {
            "has a `.` or `..` part"
        } else {
            return true;
        };
        let parts: Vec<&str> =
            path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
        self.report(Code::GroupPath, key.at, format!("the path {} {fault}", quote(path)))
            .hint(format!("write {}", quote(&format!("/{}", parts.join("/")))));
        false
    }

    fn group(&mut self, path: &'n str, body: &'n Node) -> Option<Group> {
        if body.is_null() {
            return Some(Group::new(path));
        }
        let map = self.map(body, "a group", "`attributes`, `dimcoords` and `ndarrays`")?;
        // Only reports the other keys; `sections` reads these.
        self.fields(map, SECTIONS, "a group");
        Some(self.sections(map, path))
    }

    fn sections(&mut self, map: &'n NodeMap, path: &'n str) -> Group {
        let [attributes, dimcoords, ndarrays] =
            SECTIONS.map(|section| map.entry(section).map(|(_, node)| node));
        let attributes = self.attributes(attributes);
        let mut group = Group { path: path.to_owned(), attributes, ..Group::default() };
        for (key, node) in self.entries(dimcoords, "`dimcoords`") {
            match self.array(key, node, path, true) {
                Some((dimcoord, site)) => {
                    group.dimcoords.push(dimcoord);
                    self.sites[0].push(site);
                }
                None => self.broken.push((path, &key.text)),
            }
        }
        for (key, node) in self.entries(ndarrays, "`ndarrays`") {
            if let Some((ndarray, site)) = self.array(key, node, path, false) {
                group.ndarrays.push(ndarray);
                self.sites[1].push(site);
            }
            // A path must be unique, so an array and a coordinate cannot share one.
            if let Some((first, _)) = dimcoords.and_then(|coords| coords.entry(&key.text)) {
                let line = self.sink.source.span(first.at).line;
                let message = format!("{} is both a dimcoord and an ndarray", quote(&key.text));
                self.report(Code::NameTwice, key.at, message)
                    .expected("one entity for each path")
                    .hint(format!("the dimcoord is on line {line}"));
            }
        }
        group
    }
}

/// Shapes and other lists of lengths.
impl<'n> DocumentReader<'n, '_, '_> {
    /// Reads the shape of an ndarray: integers, `null` and names of dimcoords.
    pub(super) fn shape(&mut self, node: &'n Node) -> Option<Vec<Extent>> {
        let list = self.extents(node, "the shape")?;
        let shape: Vec<_> = list.iter().map(|node| self.extent(node)).collect();
        let shape = shape.into_iter().collect::<Option<Vec<_>>>()?;
        let fixed = shape.iter().filter_map(|extent| match extent {
            Extent::Fixed(size) => Some(*size),
            Extent::Unlimited | Extent::Coord(_) => None,
        });
        self.check_count(fixed, node)?;
        Some(shape)
    }

    /// Reads a shape of integers only.
    fn fixed_shape(&mut self, node: &'n Node, what: &str) -> Option<Vec<u64>> {
        let shape = self.numbers(node, what)?;
        self.check_count(shape.iter().copied(), node)?;
        Some(shape)
    }

    /// Reads a list of integers, one for each dimension.
    fn numbers(&mut self, node: &'n Node, what: &str) -> Option<Vec<u64>> {
        let list = self.extents(node, what)?;
        let number = |node| match self.extent(node)? {
            Extent::Fixed(size) => Some(size),
            Extent::Unlimited | Extent::Coord(_) => {
                let message = format!("{what} may contain only integers");
                self.refuse(Code::ExtentKind, node, message, "an integer, at least 0");
                None
            }
        };
        let numbers: Vec<_> = list.iter().map(number).collect();
        numbers.into_iter().collect()
    }

    fn extents(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        if let NodeKind::List(list) = &node.kind {
            return Some(list);
        }
        let hint = match node.value() {
            Ok(Value::Int(_) | Value::UInt(_) | Value::String(_)) => {
                let text = node.describe();
                let text = text.rsplit(' ').next().unwrap_or_default().replace('`', "");
                format!("write a list, even for one dimension: `[{text}]`")
            }
            _ => "write `[]` for the shape of a scalar".to_owned(),
        };
        self.wrong_kind(node, what, "a list of lengths").hint(hint);
        None
    }

    fn extent(&mut self, node: &'n Node) -> Option<Extent> {
        let value = self.value(node)?;
        match (value.as_integer().map(u64::try_from), value) {
            (Some(Ok(size)), _) => Some(Extent::Fixed(size)),
            (_, Value::Null) => Some(Extent::Unlimited),
            (_, Value::String(name)) => self.coord(name, node),
            _ => {
                let expected = "an integer of at least 0, `null` or the name of a dimcoord";
                self.refuse(Code::Extent, node, "invalid length of a dimension", expected);
                None
            }
        }
    }

    fn coord(&mut self, name: String, node: &'n Node) -> Option<Extent> {
        let Some(fault) = coord_fault(&name) else { return Some(Extent::Coord(name)) };
        let is_relative_path = !name.starts_with('/') && name.contains('/');
        let hint = is_relative_path.then(|| format!("write {}", quote(&format!("/{name}"))));
        let expected = "a name, or a path from the root such as `/a/b`";
        self.refuse(Code::CoordPath, node, fault, expected).maybe_hint(hint);
        None
    }

    fn check_count(
        &mut self,
        mut extents: impl Iterator<Item = u64> + Clone,
        node: &Node,
    ) -> Option<()> {
        if extents.clone().any(|extent| extent == 0)
            || extents.try_fold(1_u64, u64::checked_mul).is_some()
        {
            return Some(());
        }
        self.report(Code::ShapeSize, node.at, "the shape has too many elements")
            .expected("fewer than 2^64");
        None
    }
}

/// Returns the error in the name of a dimcoord in a shape.
pub(super) fn coord_fault(name: &str) -> Option<&'static str> {
    let is_absolute = name.starts_with('/');
    let mut parts = name.split('/').skip(usize::from(is_absolute));
    if name.is_empty() {
        Some("the name of a dimcoord is empty")
    } else if !is_absolute && name.contains('/') {
        Some("a path to a dimcoord begins with `/`")
    } else if parts.any(|part| matches!(part, "" | "." | "..")) {
        Some("the path to a dimcoord has an empty, `.` or `..` part")
    } else {
        None
    }
}

/// Joins words as a choice: `` `a`, `b` or `c` ``.
fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
