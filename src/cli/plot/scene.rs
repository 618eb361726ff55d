//! A drawing, which is an SVG and is also rendered as PNG; and its colours.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use png::{BitDepth, ColorType, Encoder};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};

use super::super::args::Choices;
use super::super::text::{count, float, floor, trimmed};

/// A colour: red, green, blue.
pub(crate) type Rgb = [u8; 3];

pub(crate) const BLACK: Rgb = [0x22, 0x22, 0x22];
pub(crate) const WHITE: Rgb = [0xFF; 3];
pub(crate) const PALE: Rgb = [0xE3, 0xE3, 0xE3];
const INK: Rgb = [0x1F, 0x5A, 0xA6];

/// The letters of PNG pictures: those of European names, of units and of formulas.
//
// It is of DejaVu 2.37, cut by fonttools: `pyftsubset DejaVuSans.ttf --no-hinting --layout-features=
// --name-IDs=0,1,2,4,5,6 --unicodes=U+20-7E,U+A0-24F,U+2B0-36F,U+370-52F,U+1E00-1EFF,U+2010-2027,U+2030-205E,
// U+2070-209C,U+20A0-20BF,U+2100-215F,U+2190-2199,U+2200-22FF,U+FFFD`.
const FONT: &[u8] = include_bytes!("DejaVuSans.ttf");

/// Most characters of a text. One with more of them has characters that take no room.
const MOST_TEXT: usize = 1000;

/// A page with what is drawn on it.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(super) width: u32,
    pub(super) height: u32,
    /// The SVG, without its end.
    svg: String,
    /// The image, its place, and the length of the SVG up to the link to it.
    image: Option<(Pixels, (usize, usize), usize)>,
}

/// The size of letters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    height: u32,
    /// The width of most letters.
    pub(crate) width: f64,
    weight: &'static str,
}

/// The size of ticks.
pub(crate) const SMALL: Size = Size { height: 12, width: 7.0, weight: "" };
/// The size of labels.
pub(crate) const MEDIUM: Size = Size { height: 13, width: 8.0, weight: "" };
/// The size of the title.
pub(crate) const LARGE: Size = Size { height: 15, width: 9.0, weight: r#" font-weight="bold""# };

/// An image of its own, row by row.
#[derive(Debug)]
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) colors: Vec<Rgb>,
}

fn undrawn(error: impl fmt::Display) -> ra_pack::Error {
    ra_pack::Error::Unsupported(format!("the picture cannot be written: {error}"))
}

/// A PNG file of colours, or of the numbers of the colours in a palette whose first lets the background show.
pub(crate) fn png(
    width: u32,
    height: u32,
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
        encoder.set_trns(Cow::Borrowed(&[0_u8][..]));
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

impl Scene {
    pub(super) fn new(width: u32, height: u32) -> Self {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n"
        );
        let mut scene = Self { width, height, svg, image: None };
        scene.rect((0.0, 0.0), (width.into(), height.into()), WHITE);
        scene
    }

    fn put(&mut self, element: fmt::Arguments<'_>) {
        // A text takes everything.
        let _ = writeln!(self.svg, "{element}");
    }

    /// Adds a filled rectangle of whole pixels: of at least one, so that nothing disappears.
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

    /// Adds points that are joined.
    pub(super) fn line(&mut self, points: &[(f64, f64)], width: f64) {
        let points: Vec<_> =
            points.iter().map(|(x, y)| format!("{},{}", place(*x), place(*y))).collect();
        let (points, ink) = (points.join(" "), color(INK));
        self.put(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"/>"
        ));
    }

    /// Adds a text whose baseline has its `start`, `middle` or `end` at a place.
    pub(super) fn text(&mut self, at: (f64, f64), text: &str, anchor: &str, size: Size) {
        self.turned(at, text, anchor, size, false);
    }

    /// Adds a text that may be read upwards.
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

    /// Adds the only image, whose pixels are those of the page.
    pub(super) fn image(&mut self, (x, y): (usize, usize), pixels: Pixels) {
        let Pixels { width, height, .. } = pixels;
        let _ = write!(
            self.svg,
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
             style=\"image-rendering:pixelated\""
        );
        self.image = Some((pixels, (x, y), self.svg.len()));
        self.svg.push_str("/>\n");
    }

    pub(super) fn to_svg(&self) -> ra_pack::Result<String> {
        let mut svg = self.svg.clone() + "</svg>\n";
        if let Some((Pixels { width, height, colors }, _, link)) = &self.image {
            let file = png(*width, *height, None, colors.as_flattened())?;
            svg.insert_str(*link, &format!(" href=\"{}\"", data_uri(&file)));
        }
        Ok(svg)
    }

    /// The same picture as a PNG file; the same picture gives the same bytes.
    pub(super) fn to_png(&self) -> ra_pack::Result<Vec<u8>> {
        let mut fonts = Database::new();
        fonts.load_font_source(Source::Binary(Arc::new(FONT)));
        fonts.set_sans_serif_family("DejaVu Sans");
        let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
        let tree = Tree::from_str(&format!("{}</svg>", self.svg), &options).map_err(undrawn)?;
        let mut page =
            Pixmap::new(self.width, self.height).ok_or_else(|| undrawn("it is too large"))?;
        resvg::render(&tree, Transform::identity(), &mut page.as_mut());
        // The background lets nothing show, so that the opacities can go.
        let mut bytes = page.take();
        let count = bytes.len() / 4;
        for nth in 0..count {
            bytes.copy_within(4 * nth..4 * nth + 3, 3 * nth);
        }
        bytes.truncate(3 * count);
        // Pixels are not for a renderer to scale.
        if let Some((pixels, (x, y), _)) = &self.image {
            let (colors, _) = bytes.as_chunks_mut();
            let rows = colors.chunks_exact_mut(self.width as usize).skip(*y);
            for (row, image) in rows.zip(pixels.colors.chunks_exact(pixels.width as usize)) {
                row.iter_mut().skip(*x).zip(image).for_each(|(pixel, color)| *pixel = *color);
            }
        }
        png(self.width, self.height, None, &bytes)
    }
}

/// A place with no more than two digits after the point.
fn place(number: f64) -> String {
    trimmed(&format!("{number:.2}")).to_owned()
}

/// A colour as `#rrggbb`.
pub(crate) fn color([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A PNG as a link that holds it.
pub(crate) fn data_uri(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", BASE64_STANDARD.encode(png))
}

/// A text in XML or HTML, between tags or between the quotes of an attribute: nothing in it is markup, and control and
/// bidirectional characters are shown as their numbers.
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

/// Colours from the least to the greatest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColorMap(&'static [u32]);

pub(crate) const COLOR_MAPS: &Choices<ColorMap> = &[
    ("viridis", VIRIDIS, "From dark blue over green to yellow, as bright as the value is great"),
    ("cividis", CIVIDIS, "From blue to yellow, the same to those who do not see red or green"),
    ("magma", MAGMA, "From black over purple to pale yellow"),
    ("inferno", INFERNO, "From black over red to yellow"),
    ("plasma", PLASMA, "From blue over red to yellow"),
    ("gray", GRAY, "From black to white"),
    (
        "RdBu",
        RD_BU,
        "From blue over white to red; white is 0 unless --range says otherwise, then its middle",
    ),
];

pub(crate) const VIRIDIS: ColorMap = ColorMap(&[
    0x44_01_54, 0x48_24_75, 0x41_44_87, 0x35_5F_8D, 0x2A_78_8E, 0x21_91_8C, 0x22_A8_84, 0x44_BF_70,
    0x7A_D1_51, 0xBD_DF_26, 0xFD_E7_25,
]);
const CIVIDIS: ColorMap = ColorMap(&[
    0x00_20_4D, 0x00_33_6F, 0x39_48_6B, 0x57_5C_6D, 0x70_71_73, 0x8A_87_79, 0xA6_9D_75, 0xC4_B5_6C,
    0xE4_CF_5B, 0xFF_EA_46,
]);
const MAGMA: ColorMap = ColorMap(&[
    0x00_00_04, 0x14_0E_36, 0x3B_0F_70, 0x64_1A_80, 0x8C_29_81, 0xB7_37_79, 0xDE_49_68, 0xF7_70_5C,
    0xFE_9F_6D, 0xFE_CF_92, 0xFC_FD_BF,
]);
const INFERNO: ColorMap = ColorMap(&[
    0x00_00_04, 0x16_0B_39, 0x42_0A_68, 0x6A_17_6E, 0x93_26_67, 0xBC_37_54, 0xDD_51_3A, 0xF3_78_19,
    0xFC_A5_0A, 0xF6_D7_46, 0xFC_FF_A4,
]);
const PLASMA: ColorMap = ColorMap(&[
    0x0D_08_87, 0x41_04_9D, 0x6A_00_A8, 0x8F_0D_A4, 0xB1_2A_90, 0xCC_47_78, 0xE1_64_62, 0xF2_84_4B,
    0xFC_A6_36, 0xFC_CE_25, 0xF0_F9_21,
]);
const GRAY: ColorMap = ColorMap(&[0x00_00_00, 0xFF_FF_FF]);
pub(crate) const RD_BU: ColorMap = ColorMap(&[
    0x05_30_61, 0x21_66_AC, 0x43_93_C3, 0x92_C5_DE, 0xD1_E5_F0, 0xF7_F7_F7, 0xFD_DB_C7, 0xF4_A5_82,
    0xD6_60_4D, 0xB2_18_2B, 0x67_00_1F,
]);

/// How many names have colours of their own.
pub(crate) const MAX_NAMED: usize = 10;

/// Colours for names.
const NAMED: [u32; MAX_NAMED] = [
    0x44_77_AA, 0x22_88_33, 0xCC_BB_44, 0xEE_99_33, 0xEE_66_77, 0xAA_33_77, 0x66_CC_EE, 0x8C_56_4B,
    0x33_22_88, 0x99_99_33,
];

impl ColorMap {
    /// The colour at a part from 0 to 1.
    pub(crate) fn color(self, part: f64) -> Rgb {
        let Self(colors) = self;
        let place = part.clamp(0.0, 1.0) * float(colors.len() - 1);
        let below = count(place);
        let get = |nth: usize| rgb(colors.get(nth).or(colors.last()).copied().unwrap_or(0));
        mix(get(below), get(below + 1), place - float(below))
    }

    /// The colour of what has no value: grey, where the map has none itself.
    pub(crate) fn nothing(self) -> Rgb {
        match self {
            GRAY => [0xC8, 0x28, 0xA0],
            RD_BU => [0x80, 0x80, 0x80],
            _ => [0xBD, 0xBD, 0xBD],
        }
    }
}

/// The colour of the name of that number.
pub(crate) fn of_name(nth: usize) -> Rgb {
    rgb(NAMED.get(nth % MAX_NAMED).copied().unwrap_or(0))
}

fn rgb(color: u32) -> Rgb {
    let [_, red, green, blue] = color.to_be_bytes();
    [red, green, blue]
}

/// A colour between two.
pub(crate) fn mix(from: Rgb, to: Rgb, part: f64) -> Rgb {
    let mut mixed = from;
    for (channel, to) in mixed.iter_mut().zip(to) {
        let between = f64::from(*channel) + (f64::from(to) - f64::from(*channel)) * part;
        *channel = u8::try_from(count(between + 0.5)).unwrap_or(u8::MAX);
    }
    mixed
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
            let mut scene = Scene::new(100, 100);
            scene.text((5.0, 50.0), text, "start", SMALL);
            scene.to_png().unwrap()
        };
        for text in ["</text>", "&amp", "\u{0}", "\u{fffe}\u{202e}", "温Ö°C", "\" href=\"x"] {
            assert_ne!(drawn(text), drawn(""), "{text:?}");
        }
    }

    #[test]
    fn a_picture_has_the_pixels_that_it_was_given() {
        let palette = [[0; 3], [9, 8, 7], [1, 2, 3]];
        let file = png(3, 2, Some(&palette), &[0, 1, 2, 2, 1, 0]).unwrap();
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let row = [0, 0, 0, 0, 9, 8, 7, 255, 1, 2, 3, 255];
        assert_eq!((&pixels[..12], &pixels[12..16]), (&row[..], &row[8..]));
    }
}
