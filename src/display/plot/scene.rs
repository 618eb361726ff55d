//! A drawing, as SVG.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use png::{BitDepth, ColorType, Encoder};

use super::super::text::{floor, trimmed};
use super::color::{ColorMap, Rgb, color};

pub const BLACK: Rgb = [0x22, 0x22, 0x22];
pub const WHITE: Rgb = [0xFF; 3];
pub const PALE: Rgb = [0xE3, 0xE3, 0xE3];
pub const INK: Rgb = [0x1F, 0x5A, 0xA6];

/// Longest text, in characters. Longer texts contain characters of zero width.
const MOST_TEXT: usize = 1000;

/// Page with drawn elements.
#[derive(Debug)]
pub struct Scene {
    width: u32,
    height: u32,
    /// Elements of the SVG.
    svg: String,
    images: Vec<PlacedImage>,
    /// Whether the drawing is part of an HTML page, which defines the gradients and the colours of paper and ink.
    is_in_page: bool,
}

/// Image of a scene, which a renderer must not scale.
#[derive(Debug)]
pub struct PlacedImage {
    pub pixels: Pixels,
    pub at: (f64, f64),
    pub size: (f64, f64),
    /// Length of the SVG before the link to the image.
    link: usize,
}

/// Size of text.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    height: u32,
    /// Typical width of a character.
    pub width: f64,
    weight: &'static str,
}

/// Size of ticks.
pub const SMALL: Size = Size { height: 12, width: 7.0, weight: "" };
/// Size of labels.
pub const MEDIUM: Size = Size { height: 13, width: 7.6, weight: "" };
/// Size of the title.
pub const TITLE: Size = Size { height: 15, width: 9.0, weight: r#" font-weight="bold""# };

/// Pixels of an image, row by row.
#[derive(Debug)]
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    pub colors: Vec<Rgb>,
}

/// Makes the error of a picture that cannot be written.
pub fn undrawn(error: impl fmt::Display) -> crate::error::Error {
    crate::error::Error::Unsupported(format!("cannot write the picture: {error}").into())
}

/// Encodes a PNG file, of colours or of indices into a palette.
///
/// # Errors
///
/// [`Error::Unsupported`](crate::error::Error::Unsupported) if it is too large.
pub fn png(
    (width, height): (u32, u32),
    palette: Option<&[Rgb]>,
    bytes: &[u8],
) -> crate::error::Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    if let Some(palette) = palette {
        encoder.set_color(ColorType::Indexed);
        encoder.set_palette(Cow::Borrowed(palette.as_flattened()));
        encoder.set_filter(png::Filter::NoFilter);
        encoder.set_deflate_compression(png::DeflateCompression::Level(9));
    }
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(bytes)?;
        writer.finish()
    });
    written.map_err(undrawn)?;
    Ok(file)
}

impl Pixels {
    /// Returns the image as a `data:` URL; with up to 256 colours, a pixel takes one byte.
    pub fn link(&self) -> crate::error::Result<String> {
        let (mut palette, mut known) = (Vec::new(), HashMap::new());
        let number = |pixel: &Rgb| {
            if let Some(number) = known.get(pixel) {
                return Some(*number);
            }
            let number = u8::try_from(palette.len()).ok()?;
            palette.push(*pixel);
            known.insert(*pixel, number);
            Some(number)
        };
        let numbers: Option<Vec<u8>> = self.colors.iter().map(number).collect();
        let size = (self.width, self.height);
        let file = match &numbers {
            Some(numbers) => png(size, Some(&palette), numbers)?,
            None => png(size, None, self.colors.as_flattened())?,
        };
        Ok(format!("data:image/png;base64,{}", BASE64_STANDARD.encode(file)))
    }
}

impl Scene {
    pub fn new(width: u32, height: u32, is_in_page: bool) -> Self {
        let mut scene = Self { width, height, svg: String::new(), images: Vec::new(), is_in_page };
        if !is_in_page {
            scene.rect((0.0, 0.0), (width.into(), height.into()), WHITE);
        }
        scene
    }

    fn put(&mut self, element: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.svg, "{element}");
    }

    /// Adds a filled rectangle of whole units, of at least one, so that it is visible.
    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: Rgb) {
        let span = |from: f64, length: f64| {
            let first = floor(from + 0.5);
            (first, floor(from + length + 0.5).saturating_sub(first).max(1))
        };
        let ((x, width), (y, height), fill) = (span(x, width), span(y, height), color(fill));
        self.put(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"/>"#
        ));
    }

    /// Adds a filled shape.
    pub fn shape(&mut self, points: &[(f64, f64)], fill: Rgb) {
        let (points, fill) = (joined(points), color(fill));
        self.put(format_args!(r#"<polygon points="{points}" fill="{fill}"/>"#));
    }

    /// Adds a bar of all colours of a map, the first at the bottom.
    pub fn gradient(&mut self, (x, y): (f64, f64), size: (f64, f64), map: ColorMap) {
        // Ids in a page begin with a slash, so that no array has the same id.
        let prefix = if self.is_in_page { "/" } else { "" };
        let name = map.name();
        if !self.is_in_page {
            self.put(format_args!("{}", map.gradient(name)));
        }
        let (x, y, width, height) = (place(x), place(y), place(size.0), place(size.1));
        self.put(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="url(#{prefix}{name})"/>"#
        ));
    }

    /// Adds a line through points.
    pub fn line(&mut self, points: &[(f64, f64)], width: f64, ink: Rgb) {
        let (points, ink) = (joined(points), color(ink));
        self.put(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"/>"
        ));
    }

    /// Adds a text with the `start`, `middle` or `end` of its baseline at a point.
    pub fn text(&mut self, at: (f64, f64), text: &str, anchor: &str, size: Size) {
        self.turned(at, text, anchor, size, false);
    }

    /// Adds a text that may be vertical.
    pub fn turned(
        &mut self,
        (x, y): (f64, f64),
        text: &str,
        anchor: &str,
        Size { height, weight, .. }: Size,
        is_upwards: bool,
    ) {
        let (x, y, ink) = (place(x), place(y), color(BLACK));
        let turn =
            if is_upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        let text: String = text.chars().take(MOST_TEXT).collect();
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{height}\"{weight} text-anchor=\"{anchor}\" \
             fill=\"{ink}\"{turn}>{}</text>",
            Markup(text)
        ));
    }

    /// Adds rectangles that fill an area without gaps, given by corners and colour.
    pub fn cells(&mut self, cells: impl Iterator<Item = ([(f64, f64); 2], Rgb)>) {
        let mut shapes: BTreeMap<Rgb, String> = BTreeMap::new();
        for ([from, to], fill) in cells {
            let [left, top, right, bottom] = [from.0, from.1, to.0, to.1].map(place);
            let shape = shapes.entry(fill).or_default();
            // Writing to a string cannot fail.
            let _ = write!(shape, "M{left} {top}H{right}V{bottom}H{left}z");
        }
        for (fill, shape) in shapes {
            let fill = color(fill);
            self.put(format_args!(
                r#"<path d="{shape}" fill="{fill}" shape-rendering="crispEdges"/>"#
            ));
        }
    }

    /// Adds an image with sharp pixels.
    pub fn image(&mut self, at: (f64, f64), size: (f64, f64), pixels: Pixels) {
        let (x, y, width, height) = (place(at.0), place(at.1), place(size.0), place(size.1));
        let _ = write!(
            self.svg,
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
             preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" \
             style=\"image-rendering:pixelated\""
        );
        self.images.push(PlacedImage { pixels, at, size, link: self.svg.len() });
        self.svg.push_str("/>\n");
    }

    /// Adds another drawing, with its corner at a point.
    pub fn add(&mut self, (x, y): (f64, f64), other: Self) {
        let (left, top) = (place(x), place(y));
        self.put(format_args!(r#"<g transform="translate({left} {top})">"#));
        let begin = self.svg.len();
        self.svg.push_str(&other.svg);
        self.put(format_args!("</g>"));
        self.images.extend(other.images.into_iter().map(|image| {
            let at = (image.at.0 + x, image.at.1 + y);
            PlacedImage { at, link: image.link + begin, ..image }
        }));
    }

    /// Returns the width in units.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the height in units.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the images, which the SVG refers to.
    pub fn images(&self) -> &[PlacedImage] {
        &self.images
    }

    /// Returns the SVG with images that refer to nothing.
    pub fn without_images(&self) -> String {
        format!("{}{}</svg>", self.begin(), self.svg)
    }

    fn begin(&self) -> String {
        let Self { width, height, .. } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n"
        )
    }

    pub fn to_svg(&self) -> crate::error::Result<String> {
        Ok(format!("{}{}</svg>\n", self.begin(), self.elements()?))
    }

    /// Returns the elements of the SVG.
    pub fn elements(&self) -> crate::error::Result<String> {
        let mut svg = self.svg.clone();
        // From the end, because each link moves the following text.
        for PlacedImage { pixels, link, .. } in self.images.iter().rev() {
            svg.insert_str(*link, &format!(" href=\"{}\"", pixels.link()?));
        }
        Ok(svg)
    }
}

/// Formats points for SVG.
fn joined(points: &[(f64, f64)]) -> String {
    let point = |(x, y): &(f64, f64)| format!("{},{}", place(*x), place(*y));
    points.iter().map(point).collect::<Vec<_>>().join(" ")
}

/// Formats a coordinate with at most two decimals.
fn place(number: f64) -> String {
    trimmed(&format!("{number:.2}")).to_owned()
}

/// Text for XML or HTML, between tags or in a quoted attribute. Markup is escaped, and control and bidirectional
/// characters are shown as numbers.
#[derive(Debug)]
pub struct Markup<T>(pub T);

impl<T: fmt::Display> fmt::Display for Markup<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let is_markup = |letter| matches!(letter, '&' | '<' | '>' | '"' | '\'');
        if !text.contains(|letter| is_markup(letter) || crate::path::is_unsafe(letter)) {
            return out.write_str(&text);
        }
        for letter in crate::path::escape(&text).to_string().chars() {
            match letter {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                letter => out.write_char(letter)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let text = Markup("</script><b a='1' c=\"2\">&amp;\u{1b}").to_string();
        let expected = "&lt;/script&gt;&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;\\u{1b}";
        assert_eq!(text, expected);
    }

    fn decoded(file: Vec<u8>) -> (u32, Vec<u8>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width, pixels)
    }

    #[test]
    fn a_picture_has_the_given_pixels() {
        let few = vec![[9, 8, 7], [1, 2, 3]];
        let many: Vec<Rgb> = (0..=255).flat_map(|red| [[red, 0, 1], [red, 7, 2]]).collect();
        for colors in [few, many] {
            let pixels =
                Pixels { width: 2, height: u32::try_from(colors.len()).unwrap() / 2, colors };
            let link = pixels.link().unwrap();
            let file = BASE64_STANDARD.decode(link.strip_prefix("data:image/png;base64,").unwrap());
            assert_eq!(decoded(file.unwrap()), (2, pixels.colors.as_flattened().to_vec()));
        }
    }
}
