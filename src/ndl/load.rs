//! Converts YAML events to a tree: one document, core tags, no merge keys, no duplicate keys, and limits on size, depth
//! and the expansion of aliases.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput, Tag};

use super::node::{Node, NodeKey, NodeKind, NodeMap, NodeScalar, ScalarKind};
use super::report::{Reporter, quote};
use super::scalar::resolve;
use super::source::{Range, SourceText};
use super::value::Value;
use crate::finding::Code;

/// Length of the longest text that is read, in bytes. The descriptions of 100,000 arrays with their attributes take
/// about 40 MB.
pub const MAX_TEXT: usize = 64 << 20;

/// Most values in a document. 100,000 arrays take about 2 million. In a list such as `[1,1,…]`, 2 bytes of text make a
/// value, which takes about 100 bytes of memory.
pub const MAX_NODES: usize = 4 << 20;

/// Most commas and opening brackets in a text. The scanner reads a complete `[…]` ahead to see whether a `:` makes it a
/// key, and takes about 500 bytes for each entry.
const MAX_AHEAD: usize = 2 << 20;

/// Deepest nesting. Real documents have fewer than 20 levels; the reader recurses for each level, and other common YAML
/// readers stop at 128.
pub const MAX_DEPTH: usize = 100;

/// Most values that the aliases of a document may expand to, in total.
pub const MAX_ALIASED: usize = 1 << 20;

/// Bytes of memory for a line: a key and its value in the tree, and in the model.
const LINE_MEMORY: usize = 160;

/// Bytes of memory for an entry in brackets, which the scanner reads ahead.
const ENTRY_MEMORY: usize = 600;

/// Reads the only document of the text. If it returns `None`, a finding says why.
pub(super) fn load(sink: &mut Reporter<'_>) -> Option<Node> {
    let source = sink.source;
    check_text(source.text(), sink)?;
    let (frames, anchors, nodes, aliased, end) = <_>::default();
    let mut loader = Loader { source, frames, anchors, nodes, aliased, root: None, end, sink };
    loader.run(Parser::new_from_str(source.text()))?;
    loader.root.or(Some(Node {
        at: Range::new(0, 0),
        kind: NodeKind::Scalar(NodeScalar { text: Box::default(), style: ScalarKind::Plain }),
    }))
}

/// Returns an upper bound for the memory that reading a text takes, in bytes. Texts that are refused at once do not
/// count.
pub(crate) fn memory_for(text: &str) -> u64 {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let entries = ahead(text);
    let entries = if entries > MAX_AHEAD { 0 } else { entries };
    (text.len() * 3 + lines * LINE_MEMORY + entries * ENTRY_MEMORY) as u64
}

/// Returns an upper bound for the number of entries of lists and mappings in brackets.
fn ahead(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
}

/// Refuses texts that the YAML parser would misread or could not handle.
fn check_text(text: &str, sink: &mut Reporter<'_>) -> Option<()> {
    let ahead = ahead(text);
    if ahead > MAX_AHEAD {
        let message = "the document contains too many lists and mappings in brackets";
        sink.report(Code::TooLarge, Range::new(0, 0), message)
            .expected(format!("at most {MAX_AHEAD} commas and brackets"))
            .hint("write long lists as blocks, or store them in a file");
        return None;
    }
    let mut characters = text.char_indices();
    let Some((at, character)) = characters.find(|(_, character)| !is_printable(*character)) else {
        return Some(());
    };
    let range = Range::new(at, at + character.len_utf8());
    let message = "the text contains a character that YAML does not allow";
    sink.report(Code::Syntax, range, message)
        .found(format!("U+{:04X}", u32::from(character)))
        .hint("write it as an escape in double quotes, such as `\"\\x07\"`");
    None
}

/// Returns whether a character is printable in YAML 1.2. The parser would read a NUL as the end of the text.
fn is_printable(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' => true,
        '\u{FFFE}' | '\u{FFFF}' => false,
        _ => character >= '\u{A0}',
    }
}

/// A list or mapping that is not yet complete.
struct OpenNode {
    at: Range,
    anchor: usize,
    content: OpenContent,
}

enum OpenContent {
    List(Vec<Node>),
    Map { entries: Vec<(NodeKey, Node)>, key: Option<NodeKey> },
}

struct Loader<'s, 'd> {
    source: &'s SourceText,
    frames: Vec<OpenNode>,
    /// The node of each anchor with its size and height; `None` until it is complete.
    anchors: HashMap<usize, Option<(Node, usize, usize)>>,
    nodes: usize,
    aliased: usize,
    root: Option<Node>,
    /// End of the last event.
    end: usize,
    sink: &'d mut Reporter<'s>,
}

impl<'s> Loader<'s, '_> {
    /// Reads to the end of the document; `None` if it cannot be read, which is reported.
    fn run(&mut self, mut parser: Parser<'s, StrInput<'s>>) -> Option<()> {
        let mut documents = 0_usize;
        while let Some(event) = parser.next_event() {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => {
                    let at = self.source.byte(error.marker().index());
                    let message = format!("the text is not YAML: {}", error.info());
                    let range = Range::new(at, at);
                    let hint = yaml_hint(self.source.text(), at, error.info());
                    self.sink.report(Code::Syntax, range, message).maybe_hint(hint);
                    return None;
                }
            };
            let at = self.range(span.start, span.end);
            let at = match event {
                Event::Scalar(_, style, ..) => self.scalar_range(at, style),
                _ => at,
            };
            self.end = at.end();
            match event {
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
                Event::StreamEnd => break,
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        self.sink
                            .report(Code::ManyDocuments, at, "a second YAML document begins here")
                            .expected("one document")
                            .hint("remove the `---`, or put each document in a file of its own");
                        return Some(());
                    }
                }
                Event::Scalar(text, style, anchor, tag) => {
                    self.scalar(at, text, style, anchor, tag.as_deref())?;
                }
                Event::Alias(anchor) => self.alias(at, anchor)?,
                Event::SequenceStart(anchor, tag) => {
                    self.check_tag(at, tag.as_deref(), "seq");
                    self.open(at, anchor, OpenContent::List(Vec::new()))?;
                }
                Event::MappingStart(anchor, tag) => {
                    self.check_tag(at, tag.as_deref(), "map");
                    self.open(at, anchor, OpenContent::Map { entries: Vec::new(), key: None })?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.close(at)?,
            }
        }
        Some(())
    }

    fn range(&self, start: Marker, end: Marker) -> Range {
        let [start, end] = [start, end].map(|marker| self.source.byte(marker.index()));
        // The range of a block scalar includes the line end after it, and sometimes more.
        let text = self.source.text().get(start..end).unwrap_or_default();
        Range::new(start, start + text.trim_end().len())
    }

    /// Returns the range of a scalar. The parser ends a quoted one after the comment that follows, and begins a block at
    /// its second line.
    fn scalar_range(&self, at: Range, style: ScalarStyle) -> Range {
        let (start, text) = (at.start(), self.source.text());
        let text = |from: usize, end: usize| text.get(from..end).unwrap_or_default();
        let quote = match style {
            ScalarStyle::Plain => return at,
            ScalarStyle::SingleQuoted => '\'',
            ScalarStyle::DoubleQuoted => '"',
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let before = text(self.end, start);
                let marks = before.len() - before.trim_start_matches([':', '-', '?', ' ']).len();
                let header = self.end + marks + before_value(text(self.end + marks, start));
                return Range::new(header.min(start), at.end());
            }
        };
        let begin = start + before_value(text(start, at.end())) + 1;
        let mut letters = text(begin, at.end()).char_indices().peekable();
        while let Some((end, letter)) = letters.next() {
            // A single quote is written twice.
            let is_doubled = |(_, next): &(usize, char)| quote == '\'' && *next == quote;
            if letter == '\\' && quote == '"' {
                letters.next();
            } else if letter == quote && letters.next_if(is_doubled).is_none() {
                return Range::new(start, begin + end + 1);
            }
        }
        at
    }

    fn open(&mut self, at: Range, anchor: usize, content: OpenContent) -> Option<()> {
        if self.frames.len() >= MAX_DEPTH {
            self.too_deep(at);
            return None;
        }
        if self.wants_key() {
            self.sink
                .report(Code::KeyNotText, at, "a list or mapping cannot be a key")
                .expected("text");
            return None;
        }
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        self.frames.push(OpenNode { at, anchor, content });
        Some(())
    }

    fn too_deep(&mut self, at: Range) {
        self.sink
            .report(Code::TooDeep, at, "lists and mappings are nested too deeply")
            .expected(format!("at most {MAX_DEPTH} levels"));
    }

    fn wants_key(&self) -> bool {
        matches!(
            self.frames.last(),
            Some(OpenNode { content: OpenContent::Map { key: None, .. }, .. })
        )
    }

    fn close(&mut self, end: Range) -> Option<()> {
        let frame = self.frames.pop()?;
        let (kind, tail) = match frame.content {
            OpenContent::List(mut list) => {
                list.shrink_to_fit();
                let tail = list.last().map(|node| node.at);
                (NodeKind::List(list), tail)
            }
            OpenContent::Map { entries, .. } => {
                let tail = entries.last().map(|(_, node)| node.at);
                let (map, twice) = NodeMap::new(entries);
                for (key, first) in twice {
                    let line = self.sink.source.span(first).line;
                    let name = quote(&key.text);
                    self.sink
                        .report(
                            Code::DuplicateKey,
                            key.at,
                            format!("the key {name} is given twice"),
                        )
                        .hint(format!("the first one is on line {line}"));
                }
                (NodeKind::Map(map), tail)
            }
        };
        // A flow collection ends at its bracket; the parser has already read more, such as a comment. The end of a
        // block is somewhere after it.
        let flow = end.end() > end.start();
        let stop = if flow { end.start() + 1 } else { tail.unwrap_or(frame.at).end() };
        let node = Node { at: Range::new(frame.at.start(), stop), kind };
        self.put(node, frame.anchor)
    }

    fn scalar(
        &mut self,
        at: Range,
        text: Cow<'s, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Option<()> {
        let plain = style == ScalarStyle::Plain;
        let style = match tag {
            None if plain => ScalarKind::Plain,
            None => ScalarKind::Text,
            Some(tag) => self.tagged(at, &text, plain, tag),
        };
        let text: Box<str> = text.into();
        if self.wants_key() {
            if plain && tag.is_none() && *text == *"<<" {
                self.sink
                    .report(Code::MergeKey, at, "merge keys are not part of YAML 1.2")
                    .hint("write the entries out; quote the key if this is its name");
            }
            if anchor != 0 {
                let node =
                    Node { at, kind: NodeKind::Scalar(NodeScalar { text: text.clone(), style }) };
                self.anchors.insert(anchor, Some((node, 1, 0)));
            }
            self.key(NodeKey { at, text });
            return Some(());
        }
        self.put(Node { at, kind: NodeKind::Scalar(NodeScalar { text, style }) }, anchor)
    }

    fn key(&mut self, new: NodeKey) {
        if let Some(OpenNode { content: OpenContent::Map { key, .. }, .. }) = self.frames.last_mut()
        {
            *key = Some(new);
        }
    }

    fn tagged(&mut self, at: Range, text: &str, plain: bool, tag: &Tag) -> ScalarKind {
        if tag.handle == "!" && tag.suffix.is_empty() || tag.handle.is_empty() && tag.suffix == "!"
        {
            return ScalarKind::Text;
        }
        let value = resolve(text).ok().flatten();
        let (fits, style) = match core_tag(tag) {
            Some("str") => (true, ScalarKind::Text),
            Some("null") => (value == Some(Value::Null), ScalarKind::Plain),
            Some("bool") => (matches!(value, Some(Value::Bool(_))), ScalarKind::Plain),
            Some("int") => {
                (matches!(value, Some(Value::Int(_) | Value::UInt(_))), ScalarKind::Plain)
            }
            Some("float") => {
                let number =
                    matches!(value, Some(Value::Float(_) | Value::Int(_) | Value::UInt(_)));
                (number, ScalarKind::Float)
            }
            _ => {
                self.check_tag(at, Some(tag), "str");
                return if plain { ScalarKind::Plain } else { ScalarKind::Text };
            }
        };
        if !fits {
            let message = format!("the tag `{}` contradicts its value", shown(tag));
            self.sink.report(Code::Tag, at, message).found(quote(text));
        }
        style
    }

    /// Reports a tag unless it is the core tag for this kind of node.
    fn check_tag(&mut self, at: Range, tag: Option<&Tag>, kind: &str) {
        let Some(tag) = tag else { return };
        if core_tag(tag) == Some(kind) || (tag.handle == "!" && tag.suffix.is_empty()) {
            return;
        }
        let message = format!("the tag `{}` is not allowed here", shown(tag));
        self.sink
            .report(Code::Tag, at, message)
            .expected("no tag")
            .hint("give the datatype with `type` instead of a tag");
    }

    fn alias(&mut self, at: Range, anchor: usize) -> Option<()> {
        let Some(Some((node, size, height))) = self.anchors.get(&anchor) else {
            self.sink.report(Code::Alias, at, "the alias is inside its own anchor");
            return None;
        };
        self.aliased += *size;
        if self.aliased > MAX_ALIASED {
            self.sink
                .report(Code::Alias, at, "the aliases of the document expand too far")
                .expected(format!("at most {MAX_ALIASED} values"));
            return None;
        }
        if self.frames.len() + *height > MAX_DEPTH {
            self.too_deep(at);
            return None;
        }
        let kind = node.kind.clone();
        if !self.wants_key() {
            // The node has the position of the alias; the nodes below it keep their positions in the definition.
            return self.put(Node { at, kind }, 0);
        }
        let NodeKind::Scalar(scalar) = kind else {
            self.sink
                .report(Code::KeyNotText, at, "a list or mapping cannot be a key")
                .expected("text");
            return None;
        };
        self.key(NodeKey { at, text: scalar.text });
        Some(())
    }

    fn put(&mut self, mut node: Node, anchor: usize) -> Option<()> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            self.sink
                .report(Code::TooLarge, node.at, "the document contains too many values")
                .expected(format!("at most {MAX_NODES}"));
            return None;
        }
        if anchor != 0 {
            let (size, height) = node.extent();
            // The copy counts like a use, so that nested anchors cannot multiply it.
            self.aliased += size;
            if self.aliased > MAX_ALIASED {
                self.sink
                    .report(
                        Code::Alias,
                        node.at,
                        "the anchors of the document contain too many values",
                    )
                    .expected(format!("at most {MAX_ALIASED} values"));
                return None;
            }
            self.anchors.insert(anchor, Some((node.clone(), size, height)));
        }
        match self.frames.last_mut() {
            None => self.root = Some(node),
            Some(OpenNode { content: OpenContent::List(list), .. }) => list.push(node),
            Some(OpenNode { content: OpenContent::Map { entries, key }, .. }) => {
                let key = key.take()?;
                if node.at.start() == node.at.end() {
                    // The value is left empty, so the key is the position to show.
                    node.at = key.at;
                }
                entries.push((key, node));
            }
        }
        Some(())
    }
}

fn core_tag(tag: &Tag) -> Option<&str> {
    if tag.handle == "tag:yaml.org,2002:" {
        return Some(&tag.suffix);
    }
    let whole = tag.handle.is_empty() || tag.handle == "!";
    tag.suffix.strip_prefix("tag:yaml.org,2002:").filter(|_| whole)
}

fn shown(tag: &Tag) -> String {
    let text = match core_tag(tag) {
        Some(core) => format!("!!{core}"),
        None => format!("{}{}", tag.handle, tag.suffix),
    };
    crate::path::escape(&text).to_string()
}

/// Returns a hint for the usual cause of a message of the YAML parser.
fn yaml_hint(text: &str, at: usize, info: &str) -> Option<String> {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    if info.contains("tab") || line.trim_start_matches(' ').starts_with('\t') {
        return Some("indent with spaces; YAML does not allow tabs there".to_owned());
    }
    if let Some((bracket, line)) = unclosed(before) {
        return Some(format!("close the `{bracket}` on line {line}"));
    }
    if info.contains("mapping values are not allowed") {
        return Some("quote a text that contains `: `".to_owned());
    }
    if info.contains("unknown anchor") {
        return Some(
            "put the anchor `&name` before its alias `*name`; quote a text that begins with `*`"
                .to_owned(),
        );
    }
    None
}

/// Returns the last unclosed bracket of a text and its line. Quotes and comments are recognized only roughly, enough
/// for a hint.
fn unclosed(text: &str) -> Option<(char, usize)> {
    let mut open = Vec::new();
    let (mut quote, mut is_comment, mut line, mut before) = (None, false, 1, ' ');
    for letter in text.chars() {
        match (letter, quote) {
            ('\n', _) => {
                line += 1;
                is_comment = false;
            }
            _ if is_comment => {}
            (letter, Some(end)) => quote = (letter != end).then_some(end),
            ('#', _) if before.is_whitespace() => is_comment = true,
            ('"' | '\'', _) if !before.is_alphanumeric() => quote = Some(letter),
            ('[' | '{', _) => open.push((letter, line)),
            (']' | '}', _) => drop(open.pop()),
            _ => {}
        }
        before = letter;
    }
    open.pop()
}

/// Returns the number of bytes before a value: anchor and tag, blanks and comments.
pub(super) fn before_value(text: &str) -> usize {
    let mut rest = text.trim_start();
    loop {
        rest = match rest.chars().next() {
            Some('&' | '!') => rest.trim_start_matches(|letter: char| !letter.is_whitespace()),
            Some('#') => rest.trim_start_matches(|letter| letter != '\n'),
            _ => return text.len() - rest.len(),
        };
        rest = rest.trim_start();
    }
}
