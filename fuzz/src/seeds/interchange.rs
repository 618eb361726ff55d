//! Files of other tools.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::Add;

pub(super) fn seeds(add: &mut Add<'_>) {
    add("grouped", "hdf5", include_bytes!("../../../tests/it/small.h5").to_vec());
    let number = |number: u32| number.to_be_bytes().to_vec();
    // A dimension that can grow, an attribute, and two variables with two records.
    let dims = [number(10), number(1), number(1), b"t\0\0\0".to_vec(), number(0)].concat();
    let text = [number(12), number(1), number(1), b"u\0\0\0".to_vec(), number(2), number(1)];
    let text = [text.concat(), b"s\0\0\0".to_vec()].concat();
    let variable = |name: &[u8; 4], kind: u32, at: u32| {
        let dims = [number(1), name.to_vec(), number(1), number(0), text.clone()].concat();
        [dims, number(kind), number(4), number(at)].concat()
    };
    let variables = [variable(b"a\0\0\0", 4, 176), variable(b"b\0\0\0", 3, 180)].concat();
    let lists = [dims, text.clone(), number(11), number(2), variables].concat();
    let header = [b"CDF\x01".to_vec(), number(2), lists].concat();
    add("grouped", "classic", [header, vec![1; 16]].concat());
    let mut ds = |name: &str, header: &str, body: &[u8]| {
        add("ds", name, [b"ds-1.0\n", header.as_bytes(), b"\n", body].concat());
    };
    ds(
        "numbers",
        r#"{"time": {".dims": ["time"], "units": "s", ".size": [2], ".offset": 0, ".len": 16, ".type": "int64", ".missing": false, ".endian": "l"}, "x": {".dims": ["time", "y"], ".size": [2, 3], ".offset": 16, ".len": 24, ".type": "float32", ".endian": "b"}, ".": {"title": "T\u00e9", "g": [0, 1.5, NaN], "n": null}}"#,
        &[0x40; 40],
    );
    ds(
        "missing",
        r#"{"x": {".size": [10], ".len": 6, ".type": "int8", ".missing": true, "_FillValue": 7}, "y": {".size": [2, 3], ".offset": 6, ".len": 17, ".type": "float64", ".missing": true, ".endian": "l"}}"#,
        &[
            0b1010_1010,
            0x7F,
            1,
            2,
            7,
            0x80,
            0b1111_0011,
            0,
            0,
            0,
            0,
            0,
            0,
            0xF8,
            0x7F,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ],
    );
    ds(
        "bools",
        r#"{"x": {".size": [10], ".len": 2, ".type": "bool"}, "y": {".size": [10], ".offset": 2, ".len": 3, ".type": "bool", ".missing": true}}"#,
        &[0xB0, 0x40, 0x55, 0x40, 0xA8],
    );
    ds(
        "texts",
        r#"{"a": {".size": [2], ".offset": 0, ".len": 26, ".type": "str", ".endian": "l"}, "b": {".size": [2], ".offset": 26, ".len": 11, ".type": "unicode", ".endian": "l", ".missing": true}, "c": {".offset": 37, ".len": 9, ".type": "unicode"}}"#,
        &[
            &[1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0][..],
            b"axyz",
            &[0x40, 1, 0, 0, 0, 0, 0, 0, 0],
            b"b",
            &[0, 0, 0, 0, 0, 0, 0, 1],
            b"c",
        ]
        .concat(),
    );
    ds(
        "escapes",
        r#"{"\\.x": {"\\.a": 1, "b": {"c": [true]}, ".size": [0]}, "y": {".size": null, ".type": null}, "z": {"_dims": [1]}}"#,
        &[0; 8],
    );

    let mut png = |name: &str, extents: [u8; 2], kind: [u8; 3], others: &[Vec<u8>], raw: &[u8]| {
        let [width, height] = extents;
        let [depth, color, interlace] = kind;
        let header = [0, 0, 0, width, 0, 0, 0, height, depth, color, 0, 0, interlace];
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::none());
        zlib.write_all(raw).unwrap_or_default();
        let mut file = b"\x89PNG\r\n\x1A\n".to_vec();
        file.extend(chunk(*b"IHDR", &header));
        file.extend(others.concat());
        file.extend(chunk(*b"IDAT", &zlib.finish().unwrap_or_default()));
        file.extend(chunk(*b"IEND", &[]));
        add("png", name, file);
    };
    png("grey", [2, 2], [8, 0, 0], &[chunk(*b"tEXt", b"a\0b")], &[0, 1, 2, 1, 3, 4]);
    png("wide", [1, 1], [16, 6, 0], &[], &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
    png("interlaced", [3, 2], [8, 0, 1], &[], &[0, 1, 0, 3, 0, 2, 0, 4, 5, 6]);
    let palette = [chunk(*b"PLTE", &[1, 2, 3, 4, 5, 6]), chunk(*b"tRNS", &[9])];
    png("palette", [3, 1], [1, 3, 0], &palette, &[0, 0x40]);
}

fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
    let named = [&name, data].concat();
    let mut crc = flate2::Crc::new();
    crc.update(&named);
    let len = u32::try_from(data.len()).unwrap_or_default();
    [&len.to_be_bytes()[..], &named, &crc.sum().to_be_bytes()].concat()
}
