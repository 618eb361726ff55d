//! A drawing, as SVG or rendered as PNG.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write as _};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use png::{BitDepth, ColorType, Encoder};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};

use super::super::text::{count, float, floor, trimmed};
use super::color::{ColorMap, Rgb, color};

pub(crate) const BLACK: Rgb = [0x22, 0x22, 0x22];
pub(crate) const WHITE: Rgb = [0xFF; 3];
pub(crate) const PALE: Rgb = [0xE3, 0xE3, 0xE3];
pub(crate) const INK: Rgb = [0x1F, 0x5A, 0xA6];

/// Font of PNG pictures, with the characters of European names, units and formulas.
//
// A subset of DejaVu 2.37, made with fonttools: `pyftsubset DejaVuSans.ttf --no-hinting --layout-features=
// --name-IDs=0,1,2,4,5,6 --unicodes=U+20-7E,U+A0-24F,U+2B0-36F,U+370-52F,U+1E00-1EFF,U+2010-2027,U+2030-205E,
// U+2070-209C,U+20A0-20BF,U+2100-215F,U+2190-2199,U+2200-22FF,U+FFFD`.
const FONT: &[u8] = include_bytes!("DejaVuSans.ttf");

/// Longest text, in characters. Longer texts contain characters of zero width.
const MOST_TEXT: usize = 1000;

/// Page with drawn elements.
#[derive(Debug)]
pub(crate) struct Scene {
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
struct PlacedImage {
    pixels: Pixels,
    at: (f64, f64),
    size: (f64, f64),
    /// Length of the SVG before the link to the image.
    link: usize,
}

/// Size of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    height: u32,
    /// Typical width of a character.
    pub(crate) width: f64,
    weight: &'static str,
}

/// Size of ticks.
pub(crate) const SMALL: Size = Size { height: 12, width: 7.0, weight: "" };
/// Size of labels.
pub(crate) const MEDIUM: Size = Size { height: 13, width: 7.6, weight: "" };
/// Size of the title.
pub(crate) const TITLE: Size = Size { height: 15, width: 9.0, weight: r#" font-weight="bold""# };

/// Pixels of an image, row by row.
#[derive(Debug)]
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) colors: Vec<Rgb>,
}

fn undrawn(error: impl fmt::Display) -> ra_pack::Error {
    ra_pack::Error::Unsupported(format!("cannot write the picture: {error}").into())
}

/// Encodes a PNG file, of colours or of indices into a palette.
fn png(
    (width, height): (u32, u32),
    palette: Option<&[Rgb]>,
    bytes: &[u8],
) -> ra_pack::Result<Vec<u8>> {
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
    pub(crate) fn link(&self) -> ra_pack::Result<String> {
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
    pub(super) fn new(width: u32, height: u32, is_in_page: bool) -> Self {
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
    pub(super) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: Rgb) {
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
    pub(super) fn shape(&mut self, points: &[(f64, f64)], fill: Rgb) {
        let (points, fill) = (joined(points), color(fill));
        self.put(format_args!(r#"<polygon points="{points}" fill="{fill}"/>"#));
    }

    /// Adds a bar of all colours of a map, the first at the bottom.
    pub(super) fn gradient(&mut self, (x, y): (f64, f64), size: (f64, f64), map: ColorMap) {
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
    pub(super) fn line(&mut self, points: &[(f64, f64)], width: f64, ink: Rgb) {
        let (points, ink) = (joined(points), color(ink));
        self.put(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"/>"
        ));
    }

    /// Adds a text with the `start`, `middle` or `end` of its baseline at a point.
    pub(super) fn text(&mut self, at: (f64, f64), text: &str, anchor: &str, size: Size) {
        self.turned(at, text, anchor, size, false);
    }

    /// Adds a text that may be vertical.
    pub(super) fn turned(
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
    pub(super) fn cells(&mut self, cells: impl Iterator<Item = ([(f64, f64); 2], Rgb)>) {
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
    pub(super) fn image(&mut self, at: (f64, f64), size: (f64, f64), pixels: Pixels) {
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
    pub(super) fn add(&mut self, (x, y): (f64, f64), other: Self) {
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
    pub(super) fn width(&self) -> u32 {
        self.width
    }

    fn begin(&self) -> String {
        let Self { width, height, .. } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n"
        )
    }

    pub(crate) fn to_svg(&self) -> ra_pack::Result<String> {
        Ok(format!("{}{}</svg>\n", self.begin(), self.elements()?))
    }

    /// Returns the elements of the SVG.
    pub(crate) fn elements(&self) -> ra_pack::Result<String> {
        let mut svg = self.svg.clone();
        // From the end, because each link moves the following text.
        for PlacedImage { pixels, link, .. } in self.images.iter().rev() {
            svg.insert_str(*link, &format!(" href=\"{}\"", pixels.link()?));
        }
        Ok(svg)
    }

    /// Renders the drawing as a PNG file with `scale` pixels per unit. The same drawing gives the same bytes.
    pub(super) fn to_png(&self, scale: f64) -> ra_pack::Result<Vec<u8>> {
        let mut fonts = Database::new();
        fonts.load_font_source(Source::Binary(Arc::new(FONT)));
        fonts.set_sans_serif_family("DejaVu Sans");
        let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
        let text = format!("{}{}</svg>", self.begin(), self.svg);
        let tree = Tree::from_str(&text, &options).map_err(undrawn)?;
        let side = |units: u32| u32::try_from(count(f64::from(units) * scale + 0.5));
        let (width, height) =
            (side(self.width).map_err(undrawn)?, side(self.height).map_err(undrawn)?);
        let mut page = Pixmap::new(width, height).ok_or_else(|| undrawn("it is too large"))?;
        #[expect(clippy::cast_possible_truncation, reason = "the renderer uses f32")]
        let transform = Transform::from_scale(scale as f32, scale as f32);
        resvg::render(&tree, transform, &mut page.as_mut());
        // The background is opaque, so the alpha channel is dropped.
        let mut bytes = page.take();
        let pixels = bytes.len() / 4;
        for nth in 0..pixels {
            bytes.copy_within(4 * nth..4 * nth + 3, 3 * nth);
        }
        bytes.truncate(3 * pixels);
        for PlacedImage { pixels, at, size, .. } in &self.images {
            // Maps each pixel of a side whose centre is in the image to a pixel of the image.
            let shown = |all: u32, from: f64, length: f64, of_image: u32| {
                (0..all as usize).filter_map(move |pixel| {
                    let part = ((float(pixel) + 0.5) / scale - from) / length;
                    (0.0..1.0).contains(&part).then(|| (pixel, count(part * f64::from(of_image))))
                })
            };
            let columns: Vec<_> = shown(width, at.0, size.0, pixels.width).collect();
            let (page, _) = bytes.as_chunks_mut();
            for (y, row) in shown(height, at.1, size.1, pixels.height) {
                for (x, column) in &columns {
                    let color = pixels.colors.get(row * pixels.width as usize + column);
                    if let Some((pixel, color)) = page.get_mut(y * width as usize + x).zip(color) {
                        *pixel = *color;
                    }
                }
            }
        }
        png((width, height), None, &bytes)
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
pub(crate) struct Markup<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for Markup<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let is_markup = |letter| matches!(letter, '&' | '<' | '>' | '"' | '\'');
        if !text.contains(|letter| is_markup(letter) || ra_pack::path::is_unsafe(letter)) {
            return out.write_str(&text);
        }
        for letter in ra_pack::path::escape(&text).to_string().chars() {
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

    #[test]
    fn any_text_is_drawn() {
        let drawn = |text: &str| {
            let mut scene = Scene::new(100, 100, false);
            scene.text((5.0, 50.0), text, "start", SMALL);
            scene.to_png(1.0).unwrap()
        };
        for text in ["</text>", "&amp", "\u{0}", "\u{fffe}\u{202e}", "温Ö°C", "\" href=\"x"] {
            assert_ne!(drawn(text), drawn(""), "{text:?}");
        }
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

    #[test]
    fn an_image_is_scaled_without_being_blurred() {
        let mut scene = Scene::new(4, 4, false);
        let colors = vec![[9, 8, 7], [1, 2, 3]];
        scene.image((1.0, 1.0), (2.0, 2.0), Pixels { width: 2, height: 1, colors });
        let (width, pixels) = decoded(scene.to_png(1.5).unwrap());
        let row = |y: usize| &pixels[y * 18..][..18];
        assert_eq!(width, 6);
        assert_eq!(row(0), [255; 18]);
        let pixels = [[255; 3], [9, 8, 7], [9, 8, 7], [1, 2, 3], [255; 3], [255; 3]];
        assert_eq!(row(2), pixels.as_flattened());
    }
}
