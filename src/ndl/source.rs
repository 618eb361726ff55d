//! The text of a document and its positions. Byte ranges become lines and columns only on request, so a valid document
//! costs nothing.

use std::sync::OnceLock;

use crate::finding::Span;

/// Characters between those with a known byte offset: the most that are counted for a column, however long the line.
const STEP: usize = 64;

/// The byte order mark, U+FEFF.
pub(super) const BOM: &str = "\u{feff}";

/// A byte range of the text. 32 bits are enough for [`MAX_TEXT`](super::MAX_TEXT) and halve the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Range {
    start: u32,
    end: u32,
}

impl Range {
    pub(super) fn new(start: usize, end: usize) -> Self {
        let clamp = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end.max(start)) }
    }

    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    pub(super) fn end(self) -> usize {
        self.end as usize
    }
}

/// A text, perhaps with a byte order mark. Ranges of nodes do not count the mark.
#[derive(Debug, Clone, Default)]
pub(super) struct SourceText {
    pub(super) whole: String,
    /// Length of the mark in bytes.
    pub(super) mark: usize,
    /// The byte offset of each [`STEP`]th character; empty if all are ASCII.
    characters: Vec<usize>,
    /// The byte offset of each line.
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

    /// Returns the text without a byte order mark.
    pub(super) fn text(&self) -> &str {
        self.from(self.mark)
    }

    fn from(&self, byte: usize) -> &str {
        self.whole.get(byte..).expect("offsets are at character boundaries")
    }

    /// Returns the byte offset of a character.
    pub(super) fn byte(&self, character: usize) -> usize {
        let step = (character / STEP).min(self.characters.len().saturating_sub(1));
        let Some(from) = self.characters.get(step) else {
            return character.min(self.text().len());
        };
        let more = self.from(self.mark + from).chars().take(character - step * STEP);
        from + more.map(char::len_utf8).sum::<usize>()
    }

    /// Returns the number of characters before a byte offset.
    fn character(&self, byte: usize) -> usize {
        let steps = self.characters.partition_point(|at| *at <= byte);
        let Some(from) = self.characters.get(..steps).and_then(<[_]>::last) else { return byte };
        let more = self.text().get(*from..byte).expect("offsets are at character boundaries");
        (steps - 1) * STEP + more.chars().count()
    }

    /// Returns line and column of a byte range.
    pub(super) fn span(&self, at: Range) -> Span {
        let text = self.text();
        let lines = self.lines.get_or_init(|| line_starts(text));
        let [start, end] = [at.start(), at.end()].map(|offset| offset.min(text.len()));
        let line = lines.partition_point(|first| *first <= start);
        let first = *lines.get(line - 1).expect("the first line begins at offset 0");
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

#[cfg(test)]
mod tests {
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
}
