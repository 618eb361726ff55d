//! Small pictures: PNG with a palette.

use std::borrow::Cow;

use png::{BitDepth, ColorType, DeflateCompression, Encoder, Filter};

/// Colours, the first of which is no colour: the background shows.
#[derive(Debug)]
pub(super) struct Palette {
    /// Red, green and blue of each.
    pub(super) colours: Vec<[u8; 3]>,
    pub(super) depth: BitDepth,
}

/// A PNG of rows of numbers of colours, or nothing when that is no picture.
pub(super) fn encode(width: usize, cells: &[u8], palette: &Palette) -> Option<Vec<u8>> {
    let height = cells.len().checked_div(width)?;
    let mut file = Vec::new();
    let mut encoder =
        Encoder::new(&mut file, u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(palette.depth);
    encoder.set_palette(Cow::Owned(palette.colours.concat()));
    encoder.set_trns(Cow::Borrowed(&[0_u8][..]));
    encoder.set_filter(Filter::NoFilter);
    encoder.set_deflate_compression(DeflateCompression::Level(9));
    let mut writer = encoder.write_header().ok()?;
    let packed = match palette.depth {
        BitDepth::Four => {
            let rows = cells.chunks_exact(width);
            let pair = |pair: &[u8]| match pair {
                [left, right] => left << 4 | right,
                [left] => left << 4,
                _ => 0,
            };
            Cow::Owned(rows.flat_map(|row| row.chunks(2).map(pair)).collect())
        }
        _ => Cow::Borrowed(cells),
    };
    writer.write_image_data(&packed).ok()?;
    writer.finish().ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_pixels_that_it_was_given() {
        for depth in [BitDepth::Four, BitDepth::Eight] {
            let colours = vec![[0; 3], [9, 8, 7], [1, 2, 3]];
            let file = encode(3, &[0, 1, 2, 2, 1, 0], &Palette { colours, depth }).unwrap();
            let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
            decoder.set_transformations(png::Transformations::EXPAND);
            let mut reader = decoder.read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            let row = [0, 0, 0, 0, 9, 8, 7, 255, 1, 2, 3, 255];
            assert_eq!(pixels.get(..12), Some(&row[..]), "{depth:?}");
            assert_eq!(pixels.get(12..16), Some(&row[8..]));
        }
    }
}
