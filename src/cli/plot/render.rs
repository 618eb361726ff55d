//! Rendering of a drawing as PNG.

use std::sync::Arc;

use ra_pack::display::plot::scene::{PlacedImage, Scene, png, undrawn};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};

use super::super::text::{count, float};

/// Font of PNG pictures, with the characters of European names, units and formulas.
//
// A subset of DejaVu 2.37, made with fonttools: `pyftsubset DejaVuSans.ttf --no-hinting --layout-features=
// --name-IDs=0,1,2,4,5,6 --unicodes=U+20-7E,U+A0-24F,U+2B0-36F,U+370-52F,U+1E00-1EFF,U+2010-2027,U+2030-205E,
// U+2070-209C,U+20A0-20BF,U+2100-215F,U+2190-2199,U+2200-22FF,U+FFFD`.
const FONT: &[u8] = include_bytes!("DejaVuSans.ttf");

/// Renders the drawing as a PNG file with `scale` pixels per unit. The same drawing gives the same bytes.
pub(crate) fn png_of(scene: &Scene, scale: f64) -> ra_pack::Result<Vec<u8>> {
    let mut fonts = Database::new();
    fonts.load_font_source(Source::Binary(Arc::new(FONT)));
    fonts.set_sans_serif_family("DejaVu Sans");
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(&scene.without_images(), &options).map_err(undrawn)?;
    let side = |units: u32| u32::try_from(count(f64::from(units) * scale + 0.5));
    let (width, height) =
        (side(scene.width()).map_err(undrawn)?, side(scene.height()).map_err(undrawn)?);
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
    for PlacedImage { pixels, at, size, .. } in scene.images() {
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

#[cfg(test)]
mod tests {
    use ra_pack::display::plot::scene::{Pixels, SMALL};

    use super::*;

    #[test]
    fn any_text_is_drawn() {
        let drawn = |text: &str| {
            let mut scene = Scene::new(100, 100, false);
            scene.text((5.0, 50.0), text, "start", SMALL);
            png_of(&scene, 1.0).unwrap()
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
    fn an_image_is_scaled_without_being_blurred() {
        let mut scene = Scene::new(4, 4, false);
        let colors = vec![[9, 8, 7], [1, 2, 3]];
        scene.image((1.0, 1.0), (2.0, 2.0), Pixels { width: 2, height: 1, colors });
        let (width, pixels) = decoded(png_of(&scene, 1.5).unwrap());
        let row = |y: usize| &pixels[y * 18..][..18];
        assert_eq!(width, 6);
        assert_eq!(row(0), [255; 18]);
        let pixels = [[255; 3], [9, 8, 7], [9, 8, 7], [1, 2, 3], [255; 3], [255; 3]];
        assert_eq!(row(2), pixels.as_flattened());
    }
}
