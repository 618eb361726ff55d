//! Pictures: another implementation of deflate reads ours, and we read its files.

use std::io::{Cursor, Read};

use ra_pack::interchange::{FormatError, Variable, png};
use ra_pack::ndl::{Datatype, Extent, Ndarray, Order, Storage};
use ra_pack::ra::{ElementType, Header};
use tempfile::TempDir;

use super::hex;
use crate::python::Python;

/// Writes or reads a picture with Python's zlib.
const SCRIPT: &str = r"
import binascii, struct, sys, zlib
def chunk(name, data):
    return struct.pack('>I', len(data)) + name + data + struct.pack('>I', binascii.crc32(name + data))
if sys.argv[1] == 'write':
    width, height, depth, color = map(int, sys.argv[3:7])
    pixels = bytes.fromhex(sys.argv[7])
    row = len(pixels) // height
    # Each row as the difference to the pixel on its left, or to the row above.
    bpp = row // width
    raw, above = b'', bytes(row)
    for y in range(height):
        now = pixels[y * row:(y + 1) * row]
        left = bytes(bpp) + now[:-bpp]
        other = left if y % 2 == 0 else above
        raw += bytes([1 + y % 2]) + bytes((a - b) % 256 for a, b in zip(now, other))
        above = now
    data = zlib.compress(raw)
    with open(sys.argv[2], 'wb') as f:
        f.write(b'\x89PNG\r\n\x1a\n')
        f.write(chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, depth, color, 0, 0, 0)))
        f.write(chunk(b'IDAT', data[:5]) + chunk(b'IDAT', data[5:]) + chunk(b'IEND', b''))
else:
    file = open(sys.argv[2], 'rb').read()
    at, data = 8, b''
    while at < len(file):
        size, name = struct.unpack('>I4s', file[at:at + 8])
        body = file[at + 8:at + 8 + size]
        assert struct.unpack('>I', file[at + 8 + size:at + 12 + size])[0] == binascii.crc32(name + body)
        if name == b'IHDR':
            width, height, depth, color = struct.unpack('>IIBB', body[:10])
        elif name == b'IDAT':
            data += body
        at += 12 + size
    assert name == b'IEND'
    bpp = depth // 8 * {0: 1, 4: 2, 2: 3, 6: 4}[color]
    row, raw, out, above = width * bpp, zlib.decompress(data), b'', bytes(width * bpp)
    for y in range(height):
        kind, now = raw[y * (row + 1)], bytearray(raw[y * (row + 1) + 1:(y + 1) * (row + 1)])
        for x in range(row):
            a = now[x - bpp] if x >= bpp else 0
            b = above[x]
            c = above[x - bpp] if x >= bpp else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            now[x] = (now[x] + [0, a, b, (a + b) // 2, paeth][kind]) % 256
        out, above = out + now, now
    print(width, height, depth, color, out.hex())
";

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

fn read(file: &[u8]) -> Result<(Variable, Vec<u8>), FormatError> {
    let mut reader = png::PngReader::open(Cursor::new(file), "x")?;
    let mut data = Vec::new();
    reader.read_to_end(&mut data)?;
    Ok((reader.variable().clone(), data))
}

#[test]
fn pictures_are_exchanged_with_another_implementation() {
    let Some(python) = Python::with(&["zlib"]) else { return };
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("x.png");
    let place = path.to_str().unwrap();
    for (channels, color) in [(1, "0"), (2, "4"), (3, "2"), (4, "6")] {
        for wide in [false, true] {
            let mut size = vec![5, 7];
            size.extend((channels > 1).then_some(channels));
            let variable = variable(&size, wide);
            let len = u32::try_from(variable.header.data_len()).unwrap();
            let data: Vec<u8> = (0..len).map(|at| (at * at * 31 / 7).to_le_bytes()[0]).collect();
            let mut stored = data.clone();
            if wide {
                stored.as_chunks_mut::<2>().0.iter_mut().for_each(|sample| sample.reverse());
            }
            let stored = hex(&stored);
            let depth = if wide { "16" } else { "8" };

            let mut file = Vec::new();
            png::write(&variable, &*data, &mut file).unwrap();
            std::fs::write(&path, &file).unwrap();
            let output = python.command().args(["-c", SCRIPT, "read", place]).output().unwrap();
            let found = String::from_utf8(output.stdout).unwrap();
            assert_eq!(found.trim_end(), format!("7 5 {depth} {color} {stored}"));

            let arguments = ["-c", SCRIPT, "write", place, "7", "5", depth, color, &stored];
            assert!(python.command().args(arguments).status().unwrap().success());
            let file = std::fs::read(&path).unwrap();
            assert_eq!(read(&file).unwrap(), (variable, data));
            for len in 0..file.len() {
                assert!(
                    matches!(read(&file[..len]), Err(FormatError::Malformed { .. })),
                    "{len} bytes"
                );
            }
        }
    }
}
