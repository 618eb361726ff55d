//! The only way that text gets into the page: markup is written in the program, everything else is escaped.

use std::fmt::{self, Write};

use super::super::text;

/// A piece of the page.
#[derive(Debug, Default)]
pub(super) struct Html(String);

/// Adds markup, with a text for each `{}` in it, which is escaped. The markup is a literal, and cannot name variables,
/// since it comes out of `concat!`.
macro_rules! html {
    ($html:expr, $markup:literal $(, $text:expr)* $(,)?) => {
        $html.put(format_args!(concat!($markup) $(, $crate::cli::plot::Markup(&$text))*))
    };
}
pub(super) use html;

impl Html {
    /// Adds a template that was filled by [`html!`].
    pub(super) fn put(&mut self, filled: fmt::Arguments<'_>) {
        // A text takes everything.
        let _ = self.0.write_fmt(filled);
    }

    /// Adds markup of ours as it is.
    pub(super) fn raw(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Adds text whose lines stay lines.
    pub(super) fn lines(&mut self, text: &str) {
        let text = text.trim_end_matches(['\n', '\r']).replace("\r\n", "\n");
        for piece in text.split_inclusive(['\n', '\t']) {
            let text = piece.trim_end_matches(['\n', '\t']);
            html!(self, "{}", text);
            self.0.push_str(piece.strip_prefix(text).unwrap_or_default());
        }
    }

    /// Adds a piece that was made elsewhere.
    pub(super) fn piece(&mut self, piece: &Self) {
        self.0.push_str(&piece.0);
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Forgets the text, which is written elsewhere by now.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The name of a place in the page: written so that a browser makes the same of the link to it, and of the plain name
/// after a `#`.
pub(super) struct Id<'a>(pub(super) &'a str);

impl fmt::Display for Id<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            match byte {
                b'%' | b'&' | b'<' | b'>' | b'"' | b'\'' | b'`' => write!(out, "%{byte:02X}")?,
                b'!'..=b'~' => out.write_char(char::from(byte))?,
                _ => write!(out, "%{byte:02X}")?,
            }
        }
        Ok(())
    }
}

/// A count with its noun, and its thousands apart.
pub(super) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = text::grouped(count);
    format!("{count} {noun}{}", if count == "1" { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut html = Html::default();
        html!(html, "<p title=\"{}\">{}</p>", "\"'", "</script><b a='1'>&amp;");
        let expected =
            "<p title=\"&quot;&#39;\">&lt;/script&gt;&lt;b a=&#39;1&#39;&gt;&amp;amp;</p>";
        assert_eq!(html.as_str(), expected);
    }

    #[test]
    fn lines_stay_and_what_reorders_text_is_shown() {
        let mut html = Html::default();
        html.lines("one\r\ntwo\u{202e}<\tthree\n\n");
        assert_eq!(html.as_str(), "one\ntwo\\u{202e}&lt;\tthree");
    }

    #[test]
    fn names_become_places() {
        let mut html = Html::default();
        html!(html, "{} {}", Id("run1/a_b-c.d"), Id("a ä<%\"'\u{202e}"));
        assert_eq!(html.as_str(), "run1/a_b-c.d a%20%C3%A4%3C%25%22%27%E2%80%AE");
    }
}
