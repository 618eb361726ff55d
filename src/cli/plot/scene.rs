//! A drawing: rectangles, lines, texts and images at places of a page, and their colours; as SVG and as pixels.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt::{self, Write as _};

use embedded_graphics::Pixel;
use embedded_graphics::geometry::{OriginDimensions, Point, Size as Area};
use embedded_graphics::mono_font::iso_8859_1::{FONT_7X13, FONT_8X13, FONT_9X18_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::{DrawTarget, Drawable};
use embedded_graphics::text::{Alignment, Text};
use png::{BitDepth, ColorType, Encoder};

use super::super::args::Choices;
use super::super::text::{count, float, floor, trimmed};

/// A colour: red, green, blue.
pub(crate) type Rgb = [u8; 3];

pub(crate) const BLACK: Rgb = [0x22, 0x22, 0x22];
pub(crate) const WHITE: Rgb = [0xFF; 3];
pub(crate) const PALE: Rgb = [0xE3, 0xE3, 0xE3];
pub(crate) const INK: Rgb = [0x1F, 0x5A, 0xA6];

/// A page with what is drawn on it, in that order.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) items: Vec<Mark>,
}

#[derive(Debug, Clone)]
pub(crate) enum Mark {
    /// A filled rectangle.
    Rect { x: f64, y: f64, width: f64, height: f64, fill: Rgb },
    /// Points that are joined.
    Line { points: Vec<(f64, f64)>, width: f64 },
    /// A text of which the baseline begins, has its middle, or ends at a point.
    Text { x: f64, y: f64, text: String, anchor: Anchor, size: Size, is_upright: bool },
    /// Pixels at whole places.
    Image { x: f64, y: f64, pixels: Pixels },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// The size of ticks.
    Small,
    /// The size of labels.
    Medium,
    /// The size of the title.
    Large,
}

impl Size {
    /// Width of a letter in PNG; those of SVG are about as wide.
    pub(crate) fn letter(self) -> f64 {
        match self {
            Self::Small => 7.0,
            Self::Medium => 8.0,
            Self::Large => 9.0,
        }
    }
}

/// An image of its own, row by row.
#[derive(Debug, Clone)]
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) colors: Vec<Rgb>,
}

impl Pixels {
    pub(crate) fn new(width: u32, height: u32, fill: Rgb) -> Self {
        Self { width, height, colors: vec![fill; width as usize * height as usize] }
    }

    /// Colours a pixel, if it is in the image.
    pub(crate) fn set(&mut self, x: i32, y: i32, color: Rgb) {
        let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { return };
        let place = y as usize * self.width as usize + x as usize;
        if let Some(pixel) = self.colors.get_mut(place).filter(|_| x < self.width) {
            *pixel = color;
        }
    }

    /// The image as a PNG file; the same image gives the same bytes.
    pub(crate) fn to_png(&self) -> ra_pack::Result<Vec<u8>> {
        png(self.width, self.height, None, self.colors.as_flattened())
    }
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
    written.map_err(|error| {
        ra_pack::Error::Unsupported(format!("the picture cannot be written: {error}"))
    })?;
    Ok(file)
}

impl Scene {
    /// The scene as an SVG file that refers to nothing outside.
    pub(crate) fn to_svg(&self) -> ra_pack::Result<String> {
        let (width, height) = (self.width, self.height);
        let begin = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">"
        );
        let elements = self.items.iter().map(element).collect::<ra_pack::Result<Vec<_>>>()?;
        Ok(format!("{begin}\n{}\n</svg>\n", elements.join("\n")))
    }
}

/// An item as an element of SVG.
fn element(item: &Mark) -> ra_pack::Result<String> {
    let place = |number: &f64| trimmed(&format!("{number:.2}")).to_owned();
    Ok(match item {
        Mark::Rect { x, y, width, height, fill } => {
            let [x, y, width, height] = [x, y, width, height].map(place);
            let fill = color(*fill);
            format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"/>"#)
        }
        Mark::Line { points, width } => {
            let points = points.iter().map(|(x, y)| format!("{},{}", place(x), place(y)));
            let (points, ink) = (points.collect::<Vec<_>>().join(" "), color(INK));
            format!(
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{ink}\" \
                 stroke-width=\"{width}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>"
            )
        }
        Mark::Text { x, y, text, anchor, size, is_upright } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (size, weight) = match size {
                Size::Small => (12, ""),
                Size::Medium => (13, ""),
                Size::Large => (15, r#" font-weight="bold""#),
            };
            let (x, y, ink, text) = (place(x), place(y), color(BLACK), Markup(text));
            let turn = if *is_upright {
                format!(r#" transform="rotate(-90 {x} {y})""#)
            } else {
                String::new()
            };
            format!(
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{weight} text-anchor=\"{anchor}\" \
                 fill=\"{ink}\"{turn}>{text}</text>"
            )
        }
        Mark::Image { x, y, pixels } => {
            let (Pixels { width, height, .. }, link) = (pixels, data_uri(&pixels.to_png()?));
            format!(
                "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                 style=\"image-rendering:pixelated\" href=\"{link}\"/>"
            )
        }
    })
}

/// A colour as `#rrggbb`.
pub(crate) fn color([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A PNG as a link that holds it.
pub(crate) fn data_uri(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", base64(png))
}

/// Bytes in base64 (RFC 4648 §4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .chain(&[0; 2])
            .take(3)
            .fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        for (nth, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = DIGITS.get(bits >> shift & 0x3F).filter(|_| nth <= chunk.len());
            text.push(digit.map_or('=', |digit| char::from(*digit)));
        }
    }
    text
}

/// A text in XML or HTML, between tags or between the quotes of an attribute: nothing in it is markup, and control and
/// bidirectional characters are shown as their numbers.
pub(crate) struct Markup<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for Markup<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let is_markup = |letter| matches!(letter, '&' | '<' | '>' | '"' | '\'');
        if !text.contains(|letter| is_markup(letter) || ra_pack::is_unsafe(letter)) {
            return out.write_str(&text);
        }
        for letter in ra_pack::escape(&text).to_string().chars() {
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

impl Scene {
    pub(crate) fn to_pixels(&self) -> Pixels {
        let mut pixels = Pixels::new(self.width, self.height, WHITE);
        for item in &self.items {
            match item {
                Mark::Rect { x, y, width, height, fill } => {
                    fill_rect(&mut pixels, (*x, *y), (*width, *height), *fill);
                }
                Mark::Line { points, width } => {
                    let covered = coverage((self.width, self.height), points, *width);
                    for (color, covered) in pixels.colors.iter_mut().zip(covered) {
                        *color = mix(*color, INK, covered.into());
                    }
                }
                Mark::Text { x, y, text, anchor, size, is_upright } => {
                    write_text(&mut pixels, (*x, *y), text, *anchor, *size, *is_upright);
                }
                Mark::Image { x, y, pixels: image } => {
                    for (row, colors) in
                        (floor(*y)..).zip(image.colors.chunks(image.width as usize))
                    {
                        for (column, color) in (floor(*x)..).zip(colors) {
                            pixels.set(column, row, *color);
                        }
                    }
                }
            }
        }
        pixels
    }
}

fn fill_rect(pixels: &mut Pixels, (x, y): (f64, f64), (width, height): (f64, f64), fill: Rgb) {
    // At least a pixel wide, so that nothing disappears.
    let span = |from: f64, length: f64, most: u32| {
        let first = floor(from + 0.5);
        let end = floor(from + length + 0.5).max(first.saturating_add(1));
        first.max(0)..end.min(most.cast_signed())
    };
    let columns = span(x, width, pixels.width);
    for row in span(y, height, pixels.height) {
        for column in columns.clone() {
            pixels.set(column, row, fill);
        }
    }
}

/// How much of each pixel joined points cover, row by row: from 0 to 1, with soft edges.
pub(super) fn coverage(size: (u32, u32), points: &[(f64, f64)], width: f64) -> Vec<f32> {
    let (columns, rows) = (size.0.cast_signed(), size.1.cast_signed());
    let mut mask = vec![0.0_f32; size.0 as usize * size.1 as usize];
    let half = width / 2.0;
    let single = points.first().filter(|_| points.len() == 1).map(|point| (point, point));
    for ((ax, ay), (bx, by)) in points.iter().zip(points.iter().skip(1)).chain(single) {
        let range = |a: f64, b: f64, most: i32| {
            let reach = half + 1.0;
            floor(a.min(b) - reach).max(0)..floor(a.max(b) + reach).saturating_add(1).min(most)
        };
        let (dx, dy) = (bx - ax, by - ay);
        let length = dx * dx + dy * dy;
        for row in range(*ay, *by, rows) {
            for column in range(*ax, *bx, columns) {
                let (px, py) = (f64::from(column) + 0.5 - ax, f64::from(row) + 0.5 - ay);
                let along =
                    if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
                let away = libm::hypot(px - along * dx, py - along * dy);
                #[expect(clippy::cast_possible_truncation, reason = "fewer digits are enough")]
                let covered = (half + 0.5 - away).clamp(0.0, 1.0) as f32;
                let place = row.unsigned_abs() as usize * size.0 as usize;
                if let Some(there) = mask.get_mut(place + column.unsigned_abs() as usize) {
                    // Where pieces overlap, the ink is not put on twice.
                    *there = there.max(covered);
                }
            }
        }
    }
    mask
}

fn write_text(
    pixels: &mut Pixels,
    (x, y): (f64, f64),
    text: &str,
    anchor: Anchor,
    size: Size,
    is_upright: bool,
) {
    let font: &MonoFont<'_> = match size {
        Size::Small => &FONT_7X13,
        Size::Medium => &FONT_8X13,
        Size::Large => &FONT_9X18_BOLD,
    };
    let alignment = match anchor {
        Anchor::Start => Alignment::Left,
        Anchor::Middle => Alignment::Center,
        Anchor::End => Alignment::Right,
    };
    let mut pen = Pen { pixels, at: (floor(x), floor(y)), is_upright };
    let style = MonoTextStyle::new(font, BinaryColor::On);
    // A pen never fails.
    let text: String = text.replace('…', "...").chars().map(drawable).collect();
    let _ = Text::with_alignment(&text, Point::zero(), style, alignment).draw(&mut pen);
}

/// The letter of Latin-1, which the fonts have, that says the same: powers of units and signs that look alike.
/// Others are drawn as question marks; an SVG has them all.
fn drawable(letter: char) -> char {
    match letter {
        '\u{207b}' | '\u{2010}'..='\u{2014}' | '\u{2212}' => '-',
        '\u{2070}' => '0',
        '\u{2074}' => '4',
        '\u{2075}' => '5',
        '\u{2076}' => '6',
        '\u{2077}' => '7',
        '\u{2078}' => '8',
        '\u{2079}' => '9',
        '\u{3bc}' => '\u{b5}',
        '\u{212b}' => '\u{c5}',
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        letter => letter,
    }
}

/// Draws from a point on, to the right or upwards.
struct Pen<'p> {
    pixels: &'p mut Pixels,
    at: (i32, i32),
    is_upright: bool,
}

impl OriginDimensions for Pen<'_> {
    fn size(&self) -> Area {
        Area::new(self.pixels.width, self.pixels.height)
    }
}

impl DrawTarget for Pen<'_> {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(
        &mut self,
        points: I,
    ) -> Result<(), Infallible> {
        for Pixel(point, _) in points.into_iter().filter(|Pixel(_, color)| color.is_on()) {
            let (dx, dy) = if self.is_upright { (point.y, -point.x) } else { (point.x, point.y) };
            self.pixels.set(self.at.0.saturating_add(dx), self.at.1.saturating_add(dy), BLACK);
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
    fn bytes_are_in_base64() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn text_cannot_become_markup() {
        let text = Markup("</script><b a='1' c=\"2\">&amp;\u{1b}").to_string();
        let expected = "&lt;/script&gt;&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;\\u{1b}";
        assert_eq!(text, expected);
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
