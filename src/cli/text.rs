//! Styles of text, and text that flows within the columns of a screen.

use clap::builder::styling::Style;
pub(super) use ra_pack::display::text::*;
pub(super) use ra_pack::message::counted;

/// Style of headings and names.
pub(super) const BOLD: Style = Style::new().bold();
/// Style of headings of tables and of text that matters less.
pub(super) const DIM: Style = Style::new().dimmed();

/// Adds a style to a text if the terminal has colours.
pub(super) fn styled(text: &str, style: Style, has_color: bool) -> String {
    let style = if has_color { style } else { Style::new() };
    format!("{style}{text}{style:#}")
}

/// Removes the terminal styles from a text.
pub(super) fn plain(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    first.into_iter().chain(rest).collect()
}

/// Joins pieces, which may have terminal styles, and begins a new indented line where the next piece does not fit. A
/// piece longer than a line is not broken.
pub(super) fn flowing<T: AsRef<str>>(
    pieces: impl IntoIterator<Item = T>,
    start: usize,
    indent: usize,
    width: usize,
) -> String {
    let (mut text, mut at) = (String::new(), start);
    for piece in pieces {
        let plain = plain(piece.as_ref());
        if at > indent && at + columns(plain.trim_end()) > width {
            text.truncate(text.trim_end().len());
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            at = indent;
        }
        text.push_str(piece.as_ref());
        at = plain.rsplit_once('\n').map_or(at + columns(&plain), |(_, last)| columns(last));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn flowing_text_is_complete_and_fits(
            words in proptest::collection::vec("[ab温]{1,9}", 0..20),
            width in 24_usize..60,
        ) {
            let pieces = words.iter().map(|word| format!("{word} "));
            let text = flowing(pieces, 4, 4, width);
            prop_assert_eq!(text.split_whitespace().collect::<Vec<_>>(), words);
            for (number, line) in text.lines().enumerate() {
                let start = if number == 0 { 4 } else { 0 };
                prop_assert!(start + columns(line.trim_end()) <= width, "{line:?}");
            }
        }
    }
}
