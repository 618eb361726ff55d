//! A scene as pixels.

use std::convert::Infallible;

use embedded_graphics::Pixel;
use embedded_graphics::geometry::{OriginDimensions, Point, Size as Area};
use embedded_graphics::mono_font::iso_8859_1::{FONT_7X13, FONT_8X13, FONT_9X18_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::{DrawTarget, Drawable};
use embedded_graphics::text::{Alignment, Text};

use super::super::numbers::floor;
use super::scene::{Anchor, BLACK, INK, Item, Pixels, Rgb, Scene, Size, WHITE, mix};

impl Scene {
    pub(crate) fn to_pixels(&self) -> Pixels {
        let mut pixels = Pixels::new(self.width, self.height, WHITE);
        for item in &self.items {
            match item {
                Item::Rect { x, y, width, height, fill } => {
                    fill_rect(&mut pixels, (*x, *y), (*width, *height), *fill);
                }
                Item::Line { points, width } => {
                    let covered = coverage((self.width, self.height), points, *width);
                    for (color, covered) in pixels.colors.iter_mut().zip(covered) {
                        *color = mix(*color, INK, covered.into());
                    }
                }
                Item::Text { x, y, text, anchor, size, is_upright } => {
                    write_text(&mut pixels, (*x, *y), text, *anchor, *size, *is_upright);
                }
                Item::Image { x, y, pixels: image } => {
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
