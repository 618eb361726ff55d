//! The only way that text gets into the page: what comes from a pack is escaped, what is written here is not.

use std::fmt::{self, Display, Write};

use ra_pack::escape;

/// A piece of the page.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Markup of ours, which is written into the program.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text from anywhere, between tags or between the quotes of an attribute. Control and bidirectional
    /// characters are shown as what they are, and act on nothing.
    pub(super) fn text(&mut self, text: impl Display) -> &mut Self {
        let _ = write!(Escaping(&mut self.0), "{text}");
        self
    }

    /// Text whose lines stay lines.
    pub(super) fn lines(&mut self, text: &str) -> &mut Self {
        for (nth, line) in text.trim_end_matches(['\n', '\r']).split('\n').enumerate() {
            self.0.push_str(if nth == 0 { "" } else { "\n" });
            let line = line.strip_suffix('\r').unwrap_or(line);
            for (nth, part) in line.split('\t').enumerate() {
                self.0.push_str(if nth == 0 { "" } else { "\t" });
                self.text(escape(part));
            }
        }
        self
    }

    /// The name of a place in the page: written so that a browser makes the same of the link to it, and of
    /// the plain name behind a `#`.
    pub(super) fn id(&mut self, name: &str) -> &mut Self {
        for byte in name.bytes() {
            match byte {
                b'%' | b'&' | b'<' | b'>' | b'"' | b'\'' | b'`' => self.percent(byte),
                b'!'..=b'~' => self.0.push(char::from(byte)),
                _ => self.percent(byte),
            }
        }
        self
    }

    fn percent(&mut self, byte: u8) {
        let _ = write!(self.0, "%{byte:02X}");
    }

    /// Adds a piece that was made elsewhere.
    pub(super) fn piece(&mut self, piece: &Self) -> &mut Self {
        self.0.push_str(&piece.0);
        self
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Forgets what was written elsewhere by now.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// What is written to it is text.
struct Escaping<'a>(&'a mut String);

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '\0']) {
            let (before, special) = rest.split_at(at);
            self.0.push_str(before);
            let mut characters = special.chars();
            self.0.push_str(match characters.next() {
                Some('&') => "&amp;",
                Some('<') => "&lt;",
                Some('>') => "&gt;",
                Some('"') => "&quot;",
                Some('\'') => "&#39;",
                _ => "\u{fffd}",
            });
            rest = characters.as_str();
        }
        self.0.push_str(rest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut html = Html::default();
        html.raw("<p>").text("</script><b a='1' c=\"2\">&amp;").raw("</p>");
        let expected = "<p>&lt;/script&gt;&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;</p>";
        assert_eq!(html.as_str(), expected);
    }

    #[test]
    fn lines_stay_and_what_reorders_text_is_shown() {
        let mut html = Html::default();
        html.lines("one\r\ntwo\u{202e}<\tthree\n");
        assert_eq!(html.as_str(), "one\ntwo\\u{202e}&lt;\tthree");
    }

    #[test]
    fn names_become_places() {
        let mut html = Html::default();
        html.id("run1/a_b-c.d").raw(" ").id("a ä<%\"'\u{202e}");
        assert_eq!(html.as_str(), "run1/a_b-c.d a%20%C3%A4%3C%25%22%27%E2%80%AE");
    }
}
