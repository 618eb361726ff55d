//! Images made by hand, and every kind of image written and read back.

use std::io::{Cursor, Read as _, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;

use super::{PngReader, write};
use crate::interchange::{FormatError, Variable};
use crate::ndl::{Attribute, Datatype, Extent, Ndarray, Order, Storage};
use crate::ra::{ElementType, Header};

fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
    let mut chunk = u32::try_from(data.len()).unwrap().to_be_bytes().to_vec();
    chunk.extend(name);
    chunk.extend(data);
    chunk.extend(crc32fast::hash(&chunk[4..]).to_be_bytes());
    chunk
}

/// Returns an image: `kind` is depth, colour type and interlacing, `raw` are the rows with their filters.
fn picture(width: u32, height: u32, kind: [u8; 3], others: &[Vec<u8>], raw: &[u8]) -> Vec<u8> {
    let [depth, color, interlace] = kind;
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([depth, color, 0, 0, interlace]);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(raw).unwrap();
    let mut file = b"\x89PNG\r\n\x1A\n".to_vec();
    file.extend(chunk(*b"IHDR", &header));
    file.extend(others.concat());
    file.extend(chunk(*b"IDAT", &zlib.finish().unwrap()));
    file.extend(chunk(*b"IEND", &[]));
    file
}

fn read(file: &[u8]) -> Result<(Variable, Vec<u8>), FormatError> {
    let mut reader = PngReader::open(Cursor::new(file), "x")?;
    let mut data = Vec::new();
    reader.read_to_end(&mut data)?;
    let variable = reader.variable().clone();
    assert_eq!(u64::try_from(data.len()).unwrap(), variable.header.data_len());
    Ok((variable, data))
}

fn variable(size: &[u64], wide: bool) -> Variable {
    let element = if wide { ElementType::UINT16 } else { ElementType::UINT8 };
    Variable {
        header: Header::new(element, size.iter().rev().copied().collect()).unwrap(),
        description: Ndarray {
            name: "x".to_owned(),
            shape: size.iter().map(|extent| Extent::Fixed(*extent)).collect(),
            datatype: if wide { Datatype::UInt16 } else { Datatype::UInt8 },
            value: None,
            attributes: Vec::new(),
            storage: Some(Storage { order: Order::Row, ..Storage::default() }),
        },
        losses: Vec::new(),
    }
}

#[test]
fn samples_of_16_bits_are_swapped() {
    let file = picture(2, 1, [16, 0, 0], &[], &[0, 1, 2, 3, 4]);
    let (found, data) = read(&file).unwrap();
    assert_eq!((found, data), (variable(&[1, 2], true), vec![2, 1, 4, 3]));
}

#[test]
fn palettes_and_small_samples_are_expanded_and_reported() {
    let palette = chunk(*b"PLTE", &[10, 20, 30, 40, 50, 60]);
    let file = picture(3, 1, [1, 3, 0], std::slice::from_ref(&palette), &[0, 0b0100_0000]);
    let (found, data) = read(&file).unwrap();
    assert_eq!(data, [10, 20, 30, 40, 50, 60, 10, 20, 30]);
    assert_eq!(found.header.dims(), [3, 3, 1]);
    assert_eq!(found.losses, ["the palette is replaced by the colour of each pixel"]);
    let alpha = chunk(*b"tRNS", &[0, 128]);
    let (found, data) = read(&picture(1, 1, [8, 3, 0], &[palette, alpha], &[0, 1])).unwrap();
    assert_eq!((found.header.dims(), data), (&[4, 1, 1][..], vec![40, 50, 60, 128]));
    assert_eq!(found.losses.len(), 2);
    for (bits, row, expected) in
        [(1, 0b0100_0000, [0, 255]), (2, 0b1101_0000, [255, 85]), (4, 0x1F, [17, 255])]
    {
        let (found, data) = read(&picture(2, 1, [bits, 0, 0], &[], &[0, row])).unwrap();
        assert_eq!((data, found.header.dims()), (expected.to_vec(), &[2, 1][..]));
        assert_eq!(found.losses, [format!("samples of {bits} bits are scaled to 0 to 255")]);
    }
    let transparent = chunk(*b"tRNS", &[0, 7]);
    let (found, data) = read(&picture(2, 1, [8, 0, 0], &[transparent], &[0, 7, 8])).unwrap();
    assert_eq!((found.header.dims(), data), (&[2, 2, 1][..], vec![7, 0, 8, 255]));
    assert_eq!(found.losses, ["transparent colours are converted to an alpha channel"]);
}

#[test]
fn chunks_without_pixels_are_reported() {
    let others = [
        chunk(*b"gAMA", &45455_u32.to_be_bytes()),
        chunk(*b"pHYs", &[0, 0, 0, 1, 0, 0, 0, 1, 0]),
        chunk(*b"tEXt", b"a\0b"),
        chunk(*b"tEXt", b"c\0d"),
        chunk(*b"prVt", b""),
    ];
    let mut file = picture(1, 1, [8, 0, 0], &others, &[0, 9]);
    file.extend([1, 2]);
    let (found, data) = read(&file).unwrap();
    assert_eq!(data, [9]);
    assert_eq!(
        found.losses,
        [
            "the chunk `gAMA` is dropped: colour information",
            "the chunk `pHYs` is dropped: the size of a pixel",
            "the chunk `prVt` is dropped: unknown content",
            "the chunk `tEXt` is dropped: text, 2 times",
            "2 bytes after the image are dropped"
        ]
    );
}

#[test]
fn interlaced_images_are_read_in_order() {
    // Of 3 by 2 pixels, the passes 1, 4, 5, 6 and 7 contain: (0,0); (2,0); none; (1,0); and row 1.
    let raw = [0, 1, 0, 3, 0, 2, 0, 4, 5, 6];
    let (found, data) = read(&picture(3, 2, [8, 0, 1], &[], &raw)).unwrap();
    assert_eq!((found, data), (variable(&[2, 3], false), vec![1, 2, 3, 4, 5, 6]));
}

#[test]
fn too_large_is_unsupported_and_impossible_is_malformed() {
    let raw = vec![0; 300_000];
    let refused = read(&picture(20_000, 20_000, [8, 0, 1], &[], &raw)).unwrap_err();
    let text = refused.to_string();
    assert!(text.starts_with("byte 16: expected 400"), "{text}");
    // The file is long enough for an image of that size.
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    let many: Vec<u8> = std::iter::successors(Some(1_u32), next)
        .map(|state| state.to_be_bytes()[0])
        .take(300_000)
        .collect();
    let refused = read(&picture(1 << 14, 1 << 15, [4, 0, 1], &[], &many)).unwrap_err();
    assert!(matches!(refused, FormatError::NoCounterpart { .. }), "{refused}");
    let text = read(&picture(u32::MAX >> 1, 1 << 20, [16, 6, 0], &[], &[])).unwrap_err();
    assert!(
        matches!(text, FormatError::NoCounterpart { .. } | FormatError::Malformed { .. }),
        "{text}"
    );
}

#[test]
fn every_error_has_its_offset() {
    let file = picture(2, 2, [8, 0, 0], &[chunk(*b"tEXt", b"a\0b")], &[0, 1, 2, 0, 3, 4]);
    for len in 0..file.len() {
        let Err(FormatError::Malformed { offset, .. }) = read(&file[..len]) else {
            panic!("{len} bytes are read")
        };
        assert!(offset <= u64::try_from(len).unwrap());
    }
    // A flipped bit is detected anywhere in the file.
    for bit in 0..file.len() * 8 {
        let mut broken = file.clone();
        broken[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&broken).is_err(), "bit {bit}");
    }
    let mut broken = file.clone();
    let at = file.len() - 14;
    broken[at] ^= 1;
    let text = read(&broken).unwrap_err().to_string();
    assert!(text.contains("CRC"), "{text}");
    assert_eq!(
        read(b"GIF89a..").unwrap_err().to_string(),
        "byte 0: expected the signature of PNG, found `GIF89a..`"
    );
    for len in [0, 1, 70, 771] {
        let palette = chunk(*b"PLTE", &vec![0; len]);
        let text = read(&picture(1, 1, [1, 3, 0], &[palette], &[0, 0])).unwrap_err().to_string();
        let reason = format!("expected a palette of 1 to 256 colours, found {len} bytes");
        assert_eq!(text, format!("byte 33: {reason}"));
    }
    let short = picture(2, 2, [8, 0, 0], &[], &[0, 1, 2]);
    assert!(matches!(read(&short), Err(FormatError::Malformed { .. })));
}

#[test]
fn an_array_that_is_not_an_image_is_refused_with_advice() {
    let refused = |variable: &Variable, data: &[u8]| {
        write(variable, data, std::io::sink()).unwrap_err().to_string()
    };
    let mut floats = variable(&[1, 1], false);
    floats.header = Header::new(ElementType::FLOAT32, vec![1, 1]).unwrap();
    floats.description.datatype = Datatype::Float32;
    assert_eq!(
        refused(&floats, &[0; 4]),
        "an image has samples of `uint8` or `uint16`, but \"x\" has `float32`; scale the values to uint8 or uint16, or draw them with `ra-pack plot`"
    );
    let mut column = variable(&[1, 1], false);
    column.description.storage = None;
    assert!(refused(&column, &[0]).ends_with("; reverse its dimensions first"));
    for size in [&[2][..], &[1, 1, 1], &[1, 1, 5], &[1, 1, 1, 1], &[]] {
        let text = refused(&variable(size, false), &[0; 8]);
        assert!(text.contains("an image has the shape"), "{text}");
    }
    assert!(refused(&variable(&[0, 1], false), &[]).contains("1 to 2147483647"));
    assert!(refused(&variable(&[1 << 31, 1], false), &[]).contains("1 to 2147483647"));
    assert!(refused(&variable(&[2, 2], false), &[1, 2, 3]).contains("ends before its 4 bytes"));
    assert!(refused(&variable(&[1, 1], false), &[1, 2]).contains("is longer than its 1 bytes"));
}

#[test]
fn attributes_are_dropped() {
    let mut variable = variable(&[1, 1], false);
    variable.description.attributes.extend(Attribute::short("units", "m"));
    let losses = write(&variable, [1].as_slice(), std::io::sink()).unwrap();
    assert_eq!(losses, ["the attribute \"units\" of \"x\" is dropped"]);
}

proptest! {
    #[test]
    fn every_image_is_read_back(
        height in 1_u64..40,
        width in 1_u64..40,
        channels in 1_u64..5,
        wide: bool,
        seed: [u8; 32],
    ) {
        let mut size = vec![height, width];
        size.extend((channels > 1).then_some(channels));
        let variable = variable(&size, wide);
        let len = usize::try_from(variable.header.data_len()).unwrap();
        let data: Vec<u8> = seed.iter().copied().cycle().take(len).collect();
        let mut file = Vec::new();
        prop_assert_eq!(write(&variable, &*data, &mut file).unwrap(), [""; 0]);
        let mut again = Vec::new();
        write(&variable, &*data, &mut again).unwrap();
        prop_assert_eq!(&file, &again);
        prop_assert_eq!(read(&file).unwrap(), (variable, data));
    }

    #[test]
    fn no_file_panics(file: Vec<u8>, at in 8_usize..200, byte: u8) {
        let _ = read(&file);
        let mut broken = picture(3, 2, [8, 2, 1], &[chunk(*b"tRNS", &[0; 6])], &[0; 40]);
        if let Some(found) = broken.get_mut(at) {
            *found = byte;
        }
        let _ = read(&broken);
    }
}
