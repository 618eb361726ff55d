//! The text of a document and the places in it: byte ranges become lines and columns only when
//! somebody asks, so that a document without findings pays nothing.

use std::sync::OnceLock;

use super::node::{Node, Range};

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// The line, from 1. LF, CR LF and a CR alone end a line, as in YAML.
    pub line: u32,
    /// The column in characters, from 1. A byte order mark takes no column.
    pub column: u32,
    /// The offset in bytes from the start of the text, a byte order mark included.
    pub offset: usize,
}

/// A stretch of a text; `end` is the place after its last character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first character.
    pub start: Position,
    /// After the last character.
    pub end: Position,
}

/// One step from a mapping or list into a value of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The value of a key.
    Key(&'a str),
    /// An entry of a list, from 0.
    Index(usize),
}

/// Bytes between two known character counts: counting the characters of a column never walks
/// farther than this, however long a line is.
const CHECKPOINT: usize = 4096;

/// The bytes of U+FEFF.
const BOM: &str = "\u{feff}";

/// A text, perhaps with a byte order mark, which the ranges of nodes do not count.
#[derive(Debug, Clone, Default)]
pub(super) struct Source {
    whole: String,
    /// Where the text begins behind the mark.
    start: usize,
    index: OnceLock<LineIndex>,
}

#[derive(Debug, Clone, Default)]
struct LineIndex {
    /// Byte offset of each line's first character.
    lines: Vec<usize>,
    /// Characters before each multiple of `CHECKPOINT` bytes; empty when all is ASCII.
    characters: Vec<usize>,
}

impl Source {
    pub(super) fn new(whole: String) -> Self {
        let start = if whole.starts_with(BOM) { BOM.len() } else { 0 };
        Self { whole, start, index: OnceLock::new() }
    }

    /// The text without a byte order mark.
    pub(super) fn text(&self) -> &str {
        self.whole.get(self.start..).unwrap_or_default()
    }

    /// The range in the text of a range in the text with its byte order mark.
    pub(super) fn behind_bom(&self, start: usize, end: usize) -> Range {
        Range::new(start.saturating_sub(self.start), end.saturating_sub(self.start))
    }

    /// Lines and columns of a byte range.
    pub(super) fn span(&self, at: Range) -> Span {
        Span { start: self.position(at.start()), end: self.position(at.end()) }
    }

    fn position(&self, offset: usize) -> Position {
        let text = self.text();
        let index = self.index.get_or_init(|| LineIndex::new(text));
        let offset = offset.min(text.len());
        let line = index.lines.partition_point(|&start| start <= offset);
        let start = line.checked_sub(1).and_then(|at| index.lines.get(at)).copied().unwrap_or(0);
        let column = index.count(text, offset) - index.count(text, start);
        Position { line: clamp(line), column: clamp(column + 1), offset: offset + self.start }
    }
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl LineIndex {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut lines = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let next = at + 1;
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(next) != Some(&b'\n')) {
                lines.push(next);
            }
        }
        let mut characters = Vec::new();
        if !text.is_ascii() {
            let mut sum = 0_usize;
            for chunk in bytes.chunks(CHECKPOINT) {
                characters.push(sum);
                sum += count(chunk);
            }
        }
        Self { lines, characters }
    }

    /// The characters before a byte offset.
    fn count(&self, text: &str, offset: usize) -> usize {
        let Some(last) = self.characters.len().checked_sub(1) else { return offset };
        let chunk = (offset / CHECKPOINT).min(last);
        let from = chunk * CHECKPOINT;
        let before = self.characters.get(chunk).copied().unwrap_or(0);
        before + count(text.as_bytes().get(from..offset).unwrap_or_default())
    }
}

/// The characters that begin in these bytes.
fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

/// The text of a document with the place of every key and value in it.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    pub(super) source: Source,
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
    /// assert_eq!(span.map(|span| (span.start.line, span.start.column)), Some((2, 18)));
    /// let span = parsed.source.entity_span("/", "z", &[Step::Key("storage"), Step::Key("order")]);
    /// assert_eq!(span.map(|span| (span.start.line, span.start.column)), Some((2, 3)));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, offset: usize) -> (u32, u32, usize) {
        let source = Source::new(text.to_owned());
        let position = source.position(offset);
        (position.line, position.column, position.offset)
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
    fn columns_of_long_lines_do_not_depend_on_the_checkpoints() {
        let text = "é".repeat(CHECKPOINT * 2);
        for character in [0, 1, CHECKPOINT / 2, CHECKPOINT, CHECKPOINT * 2 - 1] {
            assert_eq!(usize::try_from(at(&text, character * 2).1), Ok(character + 1));
        }
    }
}
