//! How many columns text takes on a screen, and how it is made to take no more.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The sign for text that is cut off.
pub(super) const CUT: char = '…';

/// How many columns a text takes. Most are ASCII, which is quickly seen.
pub(super) fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// The beginning of a text, with a sign that it goes on, in this many columns.
pub(super) fn cut(text: &str, room: usize) -> String {
    if room == 0 {
        return String::new();
    }
    let mut cut = text.get(..fitting(text.char_indices(), room)).unwrap_or_default().to_owned();
    cut.truncate(cut.trim_end().len());
    cut.push(CUT);
    cut
}

/// All of a text, or its beginning with a sign that it goes on, in this many columns.
pub(super) fn fit(text: &str, room: usize) -> String {
    if columns(text) <= room { text.to_owned() } else { cut(text, room) }
}

/// All of a text, or its end with a sign before it, in this many columns: of a name the end tells more.
pub(super) fn cut_start(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    if room == 0 {
        return String::new();
    }
    let len = fitting(text.char_indices().rev(), room);
    let start = text.len().saturating_sub(len);
    format!("{CUT}{}", text.get(start..).unwrap_or_default())
}

/// How many bytes of these characters fit, with one column left.
fn fitting(characters: impl Iterator<Item = (usize, char)>, room: usize) -> usize {
    let mut left = room.saturating_sub(1);
    let mut len = 0_usize;
    for (_, character) in characters {
        let Some(rest) = left.checked_sub(character.width().unwrap_or(0)) else { break };
        left = rest;
        len = len.saturating_add(character.len_utf8());
    }
    len
}

/// The text and blanks up to this many columns.
pub(super) fn padded(text: &str, width: usize) -> String {
    let padding = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(padding))
}

/// Puts pieces, each with a style of the terminal or none, one after the other, and goes on in another line,
/// indented, where the next has no room. What is longer than a line stands out.
pub(super) fn flowing(
    pieces: impl IntoIterator<Item = (String, String)>,
    start: usize,
    indent: usize,
    width: usize,
) -> String {
    let (mut text, mut at) = (String::new(), start);
    for (plain, painted) in pieces {
        let taken = columns(plain.trim_end());
        if at > indent && at.saturating_add(taken) > width {
            text.truncate(text.trim_end().len());
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            at = indent;
        }
        text.push_str(&painted);
        at = match plain.rsplit_once('\n') {
            Some((_, last)) => columns(last),
            None => at.saturating_add(columns(&plain)),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_ends_of_a_text_are_cut_by_columns() {
        assert_eq!(cut("温度計.ra", 6), "温度…");
        assert_eq!(cut_start("温度計.ra", 6), "…計.ra");
        assert_eq!(cut_start("depth.ra", 8), "depth.ra");
        assert_eq!(padded("温", 4), "温  ");
    }

    proptest! {
        #[test]
        fn what_flows_is_all_there_and_fits(
            words in proptest::collection::vec("[ab温]{1,9}", 0..20),
            width in 24_usize..60,
        ) {
            let pieces = words.iter().map(|word| (format!("{word} "), format!("{word} ")));
            let text = flowing(pieces, 4, 4, width);
            prop_assert_eq!(text.split_whitespace().collect::<Vec<_>>(), words);
            for (number, line) in text.lines().enumerate() {
                let start = if number == 0 { 4 } else { 0 };
                prop_assert!(start + columns(line.trim_end()) <= width, "{line:?}");
            }
        }
    }
}
