//! A scene as SVG that refers to nothing outside.

use std::fmt::Write as _;

use super::scene::{Anchor, BLACK, Item, Rgb, Scene, Size};

impl Scene {
    /// The scene as an SVG file, or as an element of a page.
    pub(crate) fn to_svg(&self) -> ra_pack::Result<String> {
        let (width, height) = (self.width, self.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n"
        );
        for item in &self.items {
            write_item(item, &mut svg)?;
        }
        svg.push_str("</svg>\n");
        Ok(svg)
    }
}

fn write_item(item: &Item, svg: &mut String) -> ra_pack::Result<()> {
    // A String takes whatever is written to it.
    let _ = match item {
        Item::Rect { x, y, width, height, fill } => writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
            place(*x),
            place(*y),
            place(*width),
            place(*height),
            color(*fill)
        ),
        Item::Line { points, width, ink } => {
            let points: Vec<String> =
                points.iter().map(|(x, y)| format!("{},{}", place(*x), place(*y))).collect();
            writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" \
                 stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
                points.join(" "),
                color(*ink),
                place(*width)
            )
        }
        Item::Text { x, y, text, anchor, size, is_upright } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (size, weight) = match size {
                Size::Small => (12, ""),
                Size::Medium => (13, ""),
                Size::Large => (15, " font-weight=\"bold\""),
            };
            let (x, y) = (place(*x), place(*y));
            let turn = if *is_upright {
                format!(" transform=\"rotate(-90 {x} {y})\"")
            } else {
                String::new()
            };
            writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{weight} text-anchor=\"{anchor}\" \
                 fill=\"{}\"{turn}>{}</text>",
                color(BLACK),
                escape(text)
            )
        }
        Item::Image { x, y, pixels } => writeln!(
            svg,
            "<image x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" \
             style=\"image-rendering:pixelated\" href=\"{}\"/>",
            pixels.width,
            pixels.height,
            data_uri(&pixels.to_png()?)
        ),
    };
    Ok(())
}

/// A PNG as a link that holds it.
pub(crate) fn data_uri(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", base64(png))
}

/// Bytes in base64 (RFC 4648 §4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |nth: usize| u32::from(chunk.get(nth).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for nth in 0..4_usize {
            let shift = 18_u32.saturating_sub(u32::try_from(nth).unwrap_or(0) * 6);
            let digit = usize::try_from(bits >> shift & 0x3F).unwrap_or(0);
            let digit = DIGITS.get(digit).copied().unwrap_or(b'A');
            text.push(if nth > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

fn place(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn color([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A text in XML, which has no form for most control characters, and shows none that reorder text.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in ra_pack::escape(text).to_string().chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_in_base64() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn names_do_not_become_markup() {
        assert_eq!(escape("<a href=\"x\">&\u{1b}"), "&lt;a href=&quot;x&quot;&gt;&amp;\\u{1b}");
        assert_eq!(
            (place(1.0), place(-0.256), place(10.0)),
            ("1".into(), "-0.26".into(), "10".into())
        );
    }
}
