//! From the tree of a text to the model: which keys there are, what they hold, what must be there.
//! Rules that need more than one entity are in `validate`.

mod datatype;
mod entity;
mod shape;
mod storage;

pub(super) use self::storage::{child, count};
use super::diagnostic::{Code, Place, Sink, quote};
use super::model::{Document, Extent, Form, Group, Value};
use super::node::{Key, Kind, Map, Node, Range};
use super::suggest;
use super::validate::Target;

const SECTIONS: [&str; 3] = ["attributes", "dimcoords", "ndarrays"];

/// Reads a tree; what it finds on the way that only the whole document can judge is kept beside.
#[derive(Debug)]
pub(super) struct Reader<'n, 'k, 's> {
    pub(super) sink: &'k mut Sink<'s>,
    /// Whether words of ours are refused.
    pub(super) strict: bool,
    /// For each ndarray of the document, in its order.
    pub(super) sites: Vec<Site<'n>>,
    /// Shapes of ndarrays that could not be read otherwise.
    pub(super) stray: Vec<(Site<'n>, Vec<Extent>)>,
    /// References to objects, in values.
    pub(super) targets: Vec<Target<'n>>,
    /// Group and name of dimcoords that could not be read: who refers to them is not to blame.
    pub(super) broken: Vec<(&'n str, &'n str)>,
}

/// Where an ndarray says what only the whole document can judge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site<'n> {
    pub(super) group: &'n str,
    pub(super) key: &'n Key,
    pub(super) shape: &'n Node,
    pub(super) value: Option<&'n Node>,
    pub(super) storage: Option<&'n Node>,
}

impl<'n> Site<'n> {
    pub(super) fn place(self) -> Place<'n> {
        Place::group(self.group).entity(&self.key.text)
    }
}

impl<'n, 'k, 's> Reader<'n, 'k, 's> {
    pub(super) fn new(sink: &'k mut Sink<'s>, strict: bool) -> Self {
        let (sites, stray) = (Vec::new(), Vec::new());
        Self { sink, strict, sites, stray, targets: Vec::new(), broken: Vec::new() }
    }

    /// Reads the document; `None` when it is no mapping.
    pub(super) fn document(&mut self, root: &'n Node) -> Option<Document> {
        let Kind::Map(map) = &root.kind else {
            let message = "a document is a mapping";
            let finding = self.sink.error(Code::WrongKind, root.at, Place::default(), message);
            finding.expected(
                "`attributes`, `dimcoords`, `ndarrays`, or groups such as `/` and `/a/b`",
            );
            if root.is_null() {
                finding.found("an empty document").hint("a document without content is `{}`");
            } else {
                finding.found(root.describe());
            }
            return None;
        };
        let is_group = |(key, _): &&(Key, Node)| key.text.starts_with('/');
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

    /// The node of a part that stands alone: the value of the one key, or the whole text.
    pub(super) fn fragment(&mut self, root: &'n Node, key: &'static str) -> &'n Node {
        let (Kind::Map(map), Some((_, node))) = (&root.kind, root.entry(key)) else { return root };
        self.fields(map, [key], Place::default(), "the text");
        node
    }

    fn flat(&mut self, map: &'n Map) -> Document {
        for (key, body) in map.iter() {
            if SECTIONS.contains(&&*key.text) {
                continue;
            }
            let named = quote(&key.text);
            let hint = if SECTIONS.iter().any(|section| body.entry(section).is_some()) {
                Some(format!(
                    "a group has a path that begins with `/`: {}",
                    quote(&format!("/{}", key.text))
                ))
            } else if matches!(&*key.text, "type" | "shape" | "value") {
                Some("an array stands under `ndarrays` and its name".to_owned())
            } else {
                suggest::hint(&key.text, SECTIONS)
            };
            self.sink
                .error(Code::UnknownKey, key.at, Place::default(), format!("unknown key {named}"))
                .expected("`attributes`, `dimcoords` or `ndarrays`, or groups such as `/a`")
                .maybe_hint(hint);
        }
        let group = self.sections(map, "/");
        Document { form: Form::Flat, groups: vec![group] }
    }

    fn not_a_group(&mut self, key: &Key, body: &Node, first: &Key) {
        let named = quote(&key.text);
        if SECTIONS.contains(&&*key.text) {
            let line = self.sink.line(first.at);
            let message = format!("{named} stands beside groups");
            self.sink
                .error(Code::MixedForms, key.at, Place::default(), message)
                .expected("either groups or the content of the root group")
                .hint(format!("move it under `/`; the first group is on line {line}"));
            return;
        }
        let hint = match &body.kind {
            Kind::Map(_) => Some(format!("write {}", quote(&format!("/{}", key.text)))),
            _ => None,
        };
        self.sink
            .error(Code::GroupPath, key.at, Place::default(), format!("{named} is no group path"))
            .expected("a path that begins with `/`")
            .maybe_hint(hint);
    }

    fn group_path(&mut self, key: &Key) -> bool {
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
        self.sink
            .error(
                Code::GroupPath,
                key.at,
                Place::default(),
                format!("the path {} {fault}", quote(path)),
            )
            .hint(format!("write {}", quote(&format!("/{}", parts.join("/")))));
        false
    }

    fn group(&mut self, path: &'n str, body: &'n Node) -> Option<Group> {
        if body.is_null() {
            return Some(Group::new(path));
        }
        let place = Place::group(path);
        let map = self.map(body, place, "a group", "`attributes`, `dimcoords` and `ndarrays`")?;
        // Reports the other keys; `sections` looks for these again.
        self.fields(map, SECTIONS, place, "a group");
        Some(self.sections(map, path))
    }

    fn sections(&mut self, map: &'n Map, path: &'n str) -> Group {
        let place = Place::group(path);
        let [attributes, dimcoords, ndarrays] =
            SECTIONS.map(|section| map.entry(section).map(|(_, node)| node));
        let attributes = self.attributes(attributes, place);
        let mut group = Group { path: path.to_owned(), attributes, ..Group::default() };
        for (key, node) in self.entries(dimcoords, place, "`dimcoords`") {
            match self.dimcoord(key, node, path) {
                Some(dimcoord) => group.dimcoords.push(dimcoord),
                None => self.broken.push((path, &key.text)),
            }
        }
        for (key, node) in self.entries(ndarrays, place, "`ndarrays`") {
            if let Some((ndarray, site)) = self.ndarray(key, node, path) {
                group.ndarrays.push(ndarray);
                self.sites.push(site);
            }
        }
        self.names_once(dimcoords, ndarrays, place);
        group
    }

    /// A path means one thing: an array and a coordinate cannot share it.
    fn names_once(
        &mut self,
        dimcoords: Option<&'n Node>,
        ndarrays: Option<&'n Node>,
        place: Place<'_>,
    ) {
        let (Some(dimcoords), Some(Node { kind: Kind::Map(ndarrays), .. })) = (dimcoords, ndarrays)
        else {
            return;
        };
        for (key, _) in ndarrays.iter() {
            if let Some((first, _)) = dimcoords.entry(&key.text) {
                let line = self.sink.line(first.at);
                let message = format!("{} is a dimcoord and an ndarray", quote(&key.text));
                self.sink
                    .error(Code::NameTwice, key.at, place.entity(&key.text), message)
                    .expected("one entity for each path")
                    .hint(format!("the dimcoord is on line {line}"));
            }
        }
    }

    /// The entries of a mapping from names to entities; left empty it has none.
    fn entries(
        &mut self,
        node: Option<&'n Node>,
        place: Place<'_>,
        what: &str,
    ) -> std::slice::Iter<'n, (Key, Node)> {
        let map = node
            .filter(|node| !node.is_null())
            .and_then(|node| self.map(node, place, what, "a name for each entity"));
        map.map(Map::iter).unwrap_or_default()
    }

    fn map(&mut self, node: &'n Node, place: Place<'_>, what: &str, keys: &str) -> Option<&'n Map> {
        if let Kind::Map(map) = &node.kind {
            return Some(map);
        }
        self.wrong_kind(node, place, what, &format!("a mapping with {keys}"));
        None
    }

    fn wrong_kind(
        &mut self,
        node: &Node,
        place: Place<'_>,
        what: &str,
        expected: &str,
    ) -> &mut super::Diagnostic {
        self.sink
            .error(Code::WrongKind, node.at, place, format!("{what} is of the wrong kind"))
            .expected(expected)
            .found(node.describe())
    }

    /// The values of the keys a mapping may have; reports the others.
    fn fields<const N: usize>(
        &mut self,
        map: &'n Map,
        known: [&'static str; N],
        place: Place<'_>,
        what: &str,
    ) -> [Option<&'n Node>; N] {
        let mut nodes = [None; N];
        for (key, node) in map.iter() {
            let slot = known.iter().zip(&mut nodes).find(|(name, _)| ***name == *key.text);
            if let Some((_, slot)) = slot {
                *slot = Some(node);
                continue;
            }
            let message = format!("unknown key {} in {what}", quote(&key.text));
            self.sink
                .error(Code::UnknownKey, key.at, place, message)
                .expected(one_of(&known))
                .maybe_hint(suggest::hint(&key.text, known));
        }
        nodes
    }

    /// Reports a key that is missing from what begins at `at`.
    fn missing(&mut self, key: &str, at: Range, place: Place<'_>, what: &str, hint: &str) {
        self.sink
            .error(Code::MissingKey, at, place, format!("{what} has no `{key}`"))
            .expected(format!("`{key}`"))
            .hint(hint);
    }

    /// What a node says; reports a number that cannot be held.
    pub(super) fn value(&mut self, node: &Node, place: Place<'_>) -> Option<Value> {
        node.value().map_err(|at| self.number_range(at, place)).ok()
    }

    fn number_range(&mut self, at: Range, place: Place<'_>) {
        self.sink
            .error(Code::NumberRange, at, place, "the number is too large")
            .expected("an integer of 64 bits, or a float within the range of `float64`")
            .hint("quote it when it is a text");
    }

    /// The text of a string.
    fn text(&mut self, node: &'n Node, place: Place<'_>, what: &str) -> Option<String> {
        let value = self.value(node, place)?;
        if let Value::String(text) = value {
            return Some(text);
        }
        self.wrong_kind(node, place, what, "a text").hint("quotes make it one");
        None
    }
}

/// Words as a choice: `` `a`, `b` or `c` ``.
fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
