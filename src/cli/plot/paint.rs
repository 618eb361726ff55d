//! A scene as pixels.

use std::convert::Infallible;

use embedded_graphics::Pixel;
use embedded_graphics::geometry::{OriginDimensions, Point, Size as Area};
use embedded_graphics::mono_font::iso_8859_1::{FONT_7X13, FONT_8X13, FONT_9X18_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::{DrawTarget, Drawable};
use embedded_graphics::text::{Alignment, Text};

use super::colors::mix;
use super::scene::{Anchor, BLACK, Item, Pixels, Rgb, Scene, Size, WHITE, float, whole};

impl Scene {
    /// The scene as a PNG file.
    pub(crate) fn to_png(&self) -> ra_pack::Result<Vec<u8>> {
        self.to_pixels().to_png()
    }

    pub(crate) fn to_pixels(&self) -> Pixels {
        let mut pixels = Pixels::new(self.width, self.height, WHITE);
        for item in &self.items {
            match item {
                Item::Rect { x, y, width, height, fill } => {
                    fill_rect(&mut pixels, (*x, *y), (*width, *height), *fill);
                }
                Item::Line { points, width, ink } => stroke(&mut pixels, points, *width, *ink),
                Item::Text { x, y, text, anchor, size, is_upright } => {
                    write_text(&mut pixels, (*x, *y), text, *anchor, *size, *is_upright);
                }
                Item::Image { x, y, pixels: image } => {
                    let width = usize::try_from(image.width).unwrap_or(1).max(1);
                    for (row, colors) in image.colors.chunks(width).enumerate() {
                        for (column, color) in colors.iter().enumerate() {
                            let place = |from: u32, nth: usize| {
                                i64::from(from).saturating_add(i64::try_from(nth).unwrap_or(0))
                            };
                            if let Some(pixel) = pixels.at(place(*x, column), place(*y, row)) {
                                *pixel = *color;
                            }
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
        let first = whole(from + 0.5);
        let behind = whole(from + length + 0.5).max(first.saturating_add(1));
        first.max(0)..behind.min(most.into())
    };
    let columns = span(x, width, pixels.width);
    for row in span(y, height, pixels.height) {
        for column in columns.clone() {
            if let Some(pixel) = pixels.at(column, row) {
                *pixel = fill;
            }
        }
    }
}

/// Draws joined points with soft edges. Where pieces overlap, the ink is not put on twice.
fn stroke(pixels: &mut Pixels, points: &[(f64, f64)], width: f64, ink: Rgb) {
    let mut mask = vec![0.0_f64; pixels.colors.len()];
    let half = width / 2.0;
    let single = points.first().filter(|_| points.len() == 1).map(|point| [*point, *point]);
    let pieces = points.windows(2).chain(single.as_ref().map(<[_; 2]>::as_slice));
    let (columns, rows) = (i64::from(pixels.width), i64::from(pixels.height));
    for piece in pieces {
        let [(ax, ay), (bx, by)] = piece else { continue };
        let reach = half + 1.0;
        let range = |a: f64, b: f64, most: i64| {
            whole(a.min(b) - reach).max(0)..whole(a.max(b) + reach).saturating_add(1).min(most)
        };
        let (dx, dy) = (bx - ax, by - ay);
        let length = dx * dx + dy * dy;
        for row in range(*ay, *by, rows) {
            for column in range(*ax, *bx, columns) {
                let middle = |at: i64| f64::from(i32::try_from(at).unwrap_or(0)) + 0.5;
                let (px, py) = (middle(column) - ax, middle(row) - ay);
                let along =
                    if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
                let (ox, oy) = (px - along * dx, py - along * dy);
                let covered = (half + 0.5 - (ox * ox + oy * oy).sqrt()).clamp(0.0, 1.0);
                let place = row.saturating_mul(columns).saturating_add(column);
                if let Some(there) = usize::try_from(place).ok().and_then(|at| mask.get_mut(at)) {
                    *there = there.max(covered);
                }
            }
        }
    }
    for (color, covered) in pixels.colors.iter_mut().zip(mask) {
        if covered > 0.0 {
            *color = mix(*color, ink, covered);
        }
    }
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
    let mut pen = Pen { pixels, at: (whole(x), whole(y)), is_upright };
    let style = MonoTextStyle::new(font, BinaryColor::On);
    // A pen never fails.
    let text: String = text.chars().map(drawable).collect();
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
    at: (i64, i64),
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
        for Pixel(point, color) in points {
            let (x, y) = (i64::from(point.x), i64::from(point.y));
            let (dx, dy) = if self.is_upright { (y, x.saturating_neg()) } else { (x, y) };
            if color.is_on()
                && let Some(pixel) =
                    self.pixels.at(self.at.0.saturating_add(dx), self.at.1.saturating_add(dy))
            {
                *pixel = BLACK;
            }
        }
        Ok(())
    }
}

/// Letters that fit a width.
pub(crate) fn letters(width: f64, size: Size) -> usize {
    usize::try_from(whole(width / size.letter())).unwrap_or(0).max(4)
}

/// A text cut to so many letters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if float(text.chars().count()) <= float(most) {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(3)).collect();
    short.push_str("...");
    short
}
