//! The text of a document, additions to it, and the places in it: byte ranges become lines and columns only when
//! somebody asks, so that a document without findings pays nothing.

use std::cmp::Reverse;
use std::sync::OnceLock;

use super::model::{Form, Group, Value};
use super::node::{Node, NodeKind, Range};
use super::{parse, write};
use crate::finding::Span;

/// One step from a mapping or list into a value of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The value of a key.
    Key(&'a str),
    /// An entry of a list, from 0.
    Index(usize),
}

/// Characters between two whose bytes are known: no more are counted for a column, however long a line is.
const STEP: usize = 64;

/// The bytes of U+FEFF.
const BOM: &str = "\u{feff}";

/// A text, perhaps with a byte order mark, which the ranges of nodes do not count.
#[derive(Debug, Clone, Default)]
pub(super) struct SourceText {
    pub(super) whole: String,
    /// Bytes of the mark.
    pub(super) mark: usize,
    /// The byte of each [`STEP`]th character; none when all are ASCII.
    characters: Vec<usize>,
    /// The byte of each line's first character.
    lines: OnceLock<Vec<usize>>,
}

impl SourceText {
    pub(super) fn new(whole: String) -> Self {
        let text = whole.strip_prefix(BOM).unwrap_or(&whole);
        let every = if text.is_ascii() { "" } else { text }.char_indices();
        let characters = every.step_by(STEP).map(|(at, _)| at).collect();
        let mark = whole.len() - text.len();
        Self { whole, mark, characters, lines: OnceLock::new() }
    }

    /// The text without a byte order mark.
    pub(super) fn text(&self) -> &str {
        self.from(self.mark)
    }

    fn from(&self, byte: usize) -> &str {
        self.whole.get(byte..).expect("places are those of characters")
    }

    /// The byte that a character begins at.
    pub(super) fn byte(&self, character: usize) -> usize {
        let step = (character / STEP).min(self.characters.len().saturating_sub(1));
        let Some(from) = self.characters.get(step) else {
            return character.min(self.text().len());
        };
        let more = self.from(self.mark + from).chars().take(character - step * STEP);
        from + more.map(char::len_utf8).sum::<usize>()
    }

    /// The number of characters before a byte.
    fn character(&self, byte: usize) -> usize {
        let steps = self.characters.partition_point(|at| *at <= byte);
        let Some(from) = self.characters.get(..steps).and_then(<[_]>::last) else { return byte };
        let more = self.text().get(*from..byte).expect("places are those of characters");
        (steps - 1) * STEP + more.chars().count()
    }

    /// Line and column of a byte range.
    pub(super) fn span(&self, at: Range) -> Span {
        let text = self.text();
        let lines = self.lines.get_or_init(|| line_starts(text));
        let [start, end] = [at.start(), at.end()].map(|offset| offset.min(text.len()));
        let line = lines.partition_point(|first| *first <= start);
        let first = *lines.get(line - 1).expect("the first line begins with the text");
        let column = self.character(start) - self.character(first) + 1;
        Span { line, column, start: start + self.mark, end: end + self.mark }
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_end = |(at, byte): &(usize, &u8)| {
        **byte == b'\n' || (**byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
    };
    let ends = bytes.iter().enumerate().filter(is_end);
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

/// The text of a document with the place of every key and value in it.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    pub(super) source: SourceText,
    pub(super) root: Option<Node>,
}

impl SourceMap {
    /// The text that the offsets count in. What is not UTF-8 is replaced; a text over
    /// [`MAX_TEXT`](super::MAX_TEXT) is not kept.
    pub fn text(&self) -> &str {
        &self.source.whole
    }

    /// The place of the value at `path`; the place of its key when the value is left empty.
    pub fn value_span(&self, path: &[Step<'_>]) -> Option<Span> {
        self.node(path).map(|node| self.source.span(node.at))
    }

    /// The place of something in the dimcoord or ndarray `name` of `group` (`/` for a flat
    /// document): the value at `path` in it, or what comes nearest to that: the key of the
    /// innermost mapping on the way, in the end the name itself. `None` when there is no such entity.
    ///
    /// ```
    /// use ra_pack::ndl::{self, Step};
    ///
    /// let parsed = ndl::parse(b"ndarrays:\n  z: {shape: [3, 4], type: int8}\n");
    /// let span = parsed.source.entity_span("/", "z", &[Step::Key("shape"), Step::Index(1)]);
    /// assert_eq!(span.map(|span| (span.line, span.column)), Some((2, 18)));
    /// let span = parsed.source.entity_span("/", "z", &[Step::Key("storage"), Step::Key("order")]);
    /// assert_eq!(span.map(|span| (span.line, span.column)), Some((2, 3)));
    /// ```
    pub fn entity_span(&self, group: &str, name: &str, path: &[Step<'_>]) -> Option<Span> {
        let body = self.group(group)?;
        let (key, mut node) = ["ndarrays", "dimcoords"]
            .into_iter()
            .find_map(|section| body.get(Step::Key(section))?.entry(name))?;
        let mut nearest = key.at;
        for (at, step) in path.iter().enumerate() {
            let last = at + 1 == path.len();
            match *step {
                Step::Key(text) => {
                    let Some((key, value)) = node.entry(text) else { break };
                    nearest = if last { value.at } else { key.at };
                    node = value;
                }
                Step::Index(_) => {
                    let Some(value) = node.get(*step) else { break };
                    nearest = value.at;
                    node = value;
                }
            }
        }
        Some(self.source.span(nearest))
    }

    fn group(&self, path: &str) -> Option<&Node> {
        let root = self.root.as_ref()?;
        match root.get(Step::Key(path)) {
            Some(body) => Some(body),
            None if path == "/" => Some(root),
            None => None,
        }
    }

    fn node(&self, path: &[Step<'_>]) -> Option<&Node> {
        path.iter().try_fold(self.root.as_ref()?, |node, step| node.get(*step))
    }
}

/// What is put into a text: behind this byte, and how deep.
struct Addition {
    at: usize,
    indent: usize,
    text: String,
}

/// The text with the attributes of new groups, and the coordinates and arrays of all groups in `more`.
///
/// The new text says what the old one says and what is added, nothing else: where it would not, as in a document
/// whose parts are aliases, there is none.
pub(crate) fn complete(text: &str, more: &[Group]) -> Option<String> {
    let mut wanted = parse(text.as_bytes()).document?;
    let mut text = text.to_owned();
    if wanted.form == Form::Flat && more.iter().any(|group| group.path != "/") {
        wanted.form = Form::Grouped;
        text = grouped(&text);
    }
    let source = parse(text.as_bytes()).source;
    let root = source.root.as_ref()?;
    let mut additions = Vec::new();
    for group in more {
        let body =
            if wanted.form == Form::Flat { Some(root) } else { root.get(Step::Key(&group.path)) };
        match body {
            None => {
                let entry = (group.path.clone(), Value::Map(write::group(group)));
                additions.push(addition(&text, &source, root, vec![entry])?);
            }
            Some(body) => {
                let sections = Group { attributes: Vec::new(), ..group.clone() };
                for (section, entries) in write::group(&sections) {
                    let Value::Map(entries) = entries else { continue };
                    additions.push(match body.get(Step::Key(&section)) {
                        Some(node) => addition(&text, &source, node, entries)?,
                        None => {
                            addition(&text, &source, body, vec![(section, Value::Map(entries))])?
                        }
                    });
                }
            }
        }
        match wanted.groups.iter_mut().find(|known| known.path == group.path) {
            Some(known) => {
                known.dimcoords.extend(group.dimcoords.iter().cloned());
                known.ndarrays.extend(group.ndarrays.iter().cloned());
            }
            None => wanted.groups.push(group.clone()),
        }
    }
    // Of several at one place, the deepest belongs to what is before it.
    additions.sort_by_key(|addition| (addition.at, Reverse(addition.indent)));
    let (mut new, mut at) = (String::new(), 0);
    for addition in &additions {
        new.push_str(text.get(at..addition.at)?);
        new.push_str(&addition.text);
        at = addition.at;
    }
    new.push_str(text.get(at..)?);
    (parse(new.as_bytes()).document? == wanted).then_some(new)
}

/// A flat document as the root group of a grouped one: what is below the comments at its head is moved to the
/// right.
fn grouped(text: &str) -> String {
    let is_head = |line: &&str| {
        line.trim().is_empty() || line.starts_with(['#', '%']) || line.trim_end() == "---"
    };
    let mut new = String::with_capacity(text.len() * 2);
    let (mark, text) = text.split_at(if text.starts_with(BOM) { BOM.len() } else { 0 });
    new.push_str(mark);
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next_if(is_head) {
        new.push_str(line);
    }
    new.push_str("/:\n");
    for line in lines {
        new.push_str(if line.trim().is_empty() { "" } else { "  " });
        new.push_str(line);
    }
    new
}

/// Entries for a mapping, behind its last one.
fn addition(
    text: &str,
    source: &SourceMap,
    node: &Node,
    entries: Vec<(String, Value)>,
) -> Option<Addition> {
    let NodeKind::Map(map) = &node.kind else { return None };
    let bom = text.len() - source.source.text().len();
    let place = |at: usize| at + bom;
    if text.get(place(node.at.start())..)?.starts_with('{') {
        let at = place(node.at.end())
            .checked_sub(1)
            .filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with('}')))?;
        let entries = write::to_flow(&Value::Map(entries));
        let inner = entries.strip_prefix('{')?.strip_suffix('}')?;
        let comma = if map.len() == 0 { "" } else { ", " };
        return Some(Addition { at, indent: usize::MAX, text: format!("{comma}{inner}") });
    }
    let (first, _) = map.iter().next()?;
    let before = text.get(..place(first.at.start()))?;
    let line = before.rfind('\n').map_or(bom, |at| at + 1);
    let indent = before.get(line..)?;
    if !indent.bytes().all(|byte| byte == b' ') {
        return None;
    }
    let end = place(end_of(node, source.source.text()));
    let (at, begin) = if text.get(..end)?.ends_with('\n') {
        (end, "")
    } else {
        match text.get(end..)?.find('\n') {
            Some(line_end) => (end + line_end + 1, ""),
            None => (text.len(), "\n"),
        }
    };
    let mut new = begin.to_owned();
    write::block_map(&mut new, &entries, indent.len(), false);
    Some(Addition { at, indent: indent.len(), text: new })
}

/// Where the last that stands in a value ends; what is behind it may be a comment.
fn end_of(node: &Node, text: &str) -> usize {
    let is_flow = text.get(node.at.start()..).is_some_and(|text| text.starts_with(['{', '[']));
    let last = match &node.kind {
        NodeKind::List(list) if !is_flow => list.last(),
        NodeKind::Map(map) if !is_flow => map.iter().next_back().map(|(_, node)| node),
        _ => None,
    };
    last.map_or(node.at.end(), |last| end_of(last, text))
}

#[cfg(test)]
mod tests {
    use super::super::Datatype;
    use super::super::model::{Extent, Ndarray};
    use super::*;

    fn at(text: &str, offset: usize) -> (usize, usize, usize) {
        let source = SourceText::new(text.to_owned());
        let span = source.span(Range::new(offset, offset));
        (span.line, span.column, span.start)
    }

    #[test]
    fn counts_lines_by_every_line_end_and_columns_in_characters() {
        assert_eq!(at("", 0), (1, 1, 0));
        assert_eq!(at("a\nb", 2), (2, 1, 2));
        assert_eq!(at("a\r\nb", 3), (2, 1, 3));
        assert_eq!(at("a\rb", 2), (2, 1, 2));
        assert_eq!(at("é𝄞x", 6), (1, 3, 6));
        assert_eq!(at("a\né𝄞x", 8), (2, 3, 8));
        assert_eq!(at("\u{feff}ab", 1), (1, 2, 4));
        assert_eq!(at("ab", 99), (1, 3, 2));
    }

    #[test]
    fn columns_of_long_lines_do_not_depend_on_the_steps() {
        let text = "é".repeat(STEP * 2);
        for character in [0, 1, STEP / 2, STEP, STEP * 2 - 1] {
            assert_eq!(at(&text, character * 2).1, character + 1);
        }
    }

    fn group(path: &str, name: &str) -> Group {
        let ndarray = Ndarray {
            name: name.to_owned(),
            shape: vec![Extent::Fixed(3)],
            datatype: Datatype::Int8,
            value: None,
            attributes: Vec::new(),
            storage: None,
        };
        Group { ndarrays: vec![ndarray], ..Group::new(path) }
    }

    fn completed(text: &str, more: &[(&str, &str)]) -> Option<String> {
        let more: Vec<_> = more.iter().map(|(path, name)| group(path, name)).collect();
        complete(text, &more)
    }

    #[test]
    fn what_is_added_stands_behind_what_is_there_and_every_comment_stays() {
        let text = "# mine\n/:\n  ndarrays:  # all\n    # first\n    b: {shape: [2],   type: uint8} # b\n\n    # end\n/run1:\n  attributes: {note: 'x # y'}\n";
        let new = completed(text, &[("/", "a"), ("/run1", "c"), ("/run2", "d")]).unwrap();
        assert_eq!(
            new,
            "# mine\n/:\n  ndarrays:  # all\n    # first\n    b: {shape: [2],   type: uint8} # b\n    a:\n      shape: [3]\n      type: int8\n\n    # end\n/run1:\n  attributes: {note: 'x # y'}\n  ndarrays:\n    c:\n      shape: [3]\n      type: int8\n/run2:\n  ndarrays:\n    d:\n      shape: [3]\n      type: int8\n"
        );
    }

    #[test]
    fn a_flat_document_becomes_the_root_group_when_others_are_added() {
        let text =
            "# mine\n\nattributes:\n  note: |\n    one\n\n      two\n  title: \"a\n    b\" # end";
        let flat = completed(text, &[("/", "a")]).unwrap();
        assert!(
            flat.starts_with(text)
                && flat.ends_with("\nndarrays:\n  a:\n    shape: [3]\n    type: int8\n"),
            "{flat}"
        );
        let new = completed(text, &[("/", "a"), ("/run1", "c")]).unwrap();
        assert!(
            new.starts_with("# mine\n\n/:\n  attributes:\n    note: |\n      one\n\n        two\n"),
            "{new}"
        );
        assert_eq!(parse(new.as_bytes()).document.unwrap().groups.len(), 2);
        for text in [
            "{}",
            "# x\n{}\n",
            "ndarrays: {}\n",
            "\u{feff}attributes: {a: 1}\r\n",
            "{ndarrays: {b: {shape: [], type: int8}}}\n",
            "---\n{}\n",
        ] {
            for more in [&[("/", "a")][..], &[("/", "a"), ("/x", "c")]] {
                assert!(completed(text, more).is_some(), "{text:?}");
            }
        }
    }

    #[test]
    fn what_would_say_something_else_is_not_written() {
        let text = "/: &x\n  ndarrays: &y\n    b: {shape: [2], type: uint8}\n/z: *x\n";
        assert_eq!(completed(text, &[("/z", "a")]), None);
        assert_eq!(completed("ndarrays:\n", &[("/", "a")]), None);
    }
}
