//! A README in Markdown as HTML. Markup in the text is shown as text, and pictures as their descriptions, so that the
//! page runs and loads nothing.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::plot::scene::Markup;

/// Names of READMEs, in small letters, the first that is there before the others.
pub const READMES: [&str; 4] = ["readme.md", "readme.txt", "readme", "readme.rst"];

/// Largest README that is read, in bytes.
pub const READ_README: u64 = 1 << 20;

/// Largest part of a README that is shown, in bytes.
pub const MOST_README: usize = 32 * 1024;

/// Returns the HTML of a text.
pub fn of_markdown(text: &str) -> String {
    let (mut out, mut ends) = (String::new(), Vec::new());
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    // The cells of the first row of a table are headings.
    let mut cell = "td";
    for event in parser {
        let piece = match event {
            Event::Start(tag) => {
                cell = if matches!(tag, Tag::TableHead) { "th" } else { cell };
                let (start, end) = element(&tag, cell);
                ends.push(end);
                start
            }
            Event::End(end) => {
                cell = if end == TagEnd::TableHead { "td" } else { cell };
                let end = ends.pop().unwrap_or_default();
                if end.is_empty() { String::new() } else { format!("</{end}>") }
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                Markup(text).to_string()
            }
            Event::Code(text) => format!("<code>{}</code>", Markup(text)),
            Event::SoftBreak => "\n".to_owned(),
            Event::HardBreak => "<br>".to_owned(),
            Event::Rule => "<hr>".to_owned(),
            _ => String::new(),
        };
        out.push_str(&piece);
    }
    format!("<div class=\"md\" tabindex=\"0\">{out}</div>")
}

/// Returns the start of an element and its name; both are empty for parts without markup of their own.
fn element(tag: &Tag<'_>, cell: &'static str) -> (String, &'static str) {
    let name = match tag {
        Tag::Paragraph => "p",
        // The page has headings of two levels above.
        Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. } => "h3",
        Tag::Heading { .. } => "h4",
        Tag::BlockQuote(_) => "blockquote",
        Tag::CodeBlock(_) | Tag::HtmlBlock => "pre",
        Tag::List(None) => "ul",
        Tag::List(Some(1)) => "ol",
        Tag::List(Some(start)) => return (format!("<ol start=\"{start}\">"), "ol"),
        Tag::Item => "li",
        Tag::Emphasis => "em",
        Tag::Strong => "strong",
        Tag::Strikethrough => "del",
        Tag::Table(_) => "table",
        Tag::TableHead | Tag::TableRow => "tr",
        Tag::TableCell => cell,
        Tag::Link { dest_url, .. } => {
            let is_web = ["https://", "http://"].iter().any(|start| dest_url.starts_with(start));
            return if is_web {
                (format!("<a rel=\"noreferrer\" href=\"{}\">", Markup(dest_url)), "a")
            } else {
                (String::new(), "")
            };
        }
        _ => return (String::new(), ""),
    };
    (format!("<{name}>"), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_its_structure_and_no_markup_of_its_own() {
        let html = |text: &str| {
            let page = of_markdown(text);
            let inner = page.strip_prefix("<div class=\"md\" tabindex=\"0\">").unwrap();
            inner.strip_suffix("</div>").unwrap().to_owned()
        };
        for (text, expected) in [
            ("# A `b`\n\n*c* <d>", "<h3>A <code>b</code></h3><p><em>c</em> &lt;d&gt;</p>"),
            ("2. a\n3. b", "<ol start=\"2\"><li>a</li><li>b</li></ol>"),
            ("|a|\n|-|\n|b|", "<table><tr><th>a</th></tr><tr><td>b</td></tr></table>"),
            ("<script>x</script>", "<pre>&lt;script&gt;x&lt;/script&gt;</pre>"),
            ("[a](javascript:x) ![b](http://c/d.png)", "<p>a b</p>"),
            ("[a](https://b/\"c)", "<p><a rel=\"noreferrer\" href=\"https://b/&quot;c\">a</a></p>"),
            ("    if a < b", "<pre>if a &lt; b</pre>"),
            ("a\u{202e}b", "<p>a\\u{202e}b</p>"),
        ] {
            assert_eq!(html(text), expected, "{text}");
        }
    }
}
