//! Builds tars from a script: headers of every kind, extended headers, padding and end marks; then changes a few
//! fields. Checksums of headers are correct unless the script says otherwise.

use crate::script::{Fields, Script};

const BLOCK: usize = 512;

/// Builds a tar from a script.
pub(crate) fn build(script: &mut Script<'_>) -> Vec<u8> {
    let mut out = Fields::default();
    let mut headers = Vec::new();
    for _ in 0..1 + script.below(6) {
        match script.below(8) {
            1 => put(&mut out, &mut headers, script, Some(b'x')),
            2 => put(&mut out, &mut headers, script, Some(b'L')),
            3 => put(&mut out, &mut headers, script, Some(b'g')),
            _ => {}
        }
        put(&mut out, &mut headers, script, None);
    }
    match script.below(8) {
        1 => {}
        2 => out.put(&[0; BLOCK]),
        3 => out.put(&[0; 4 * BLOCK]),
        4 => out.put(&[&[0; 2 * BLOCK][..], script.bytes(40)].concat()),
        _ => out.put(&[0; 2 * BLOCK]),
    }
    for _ in 0..script.below(4) {
        let at = out.mutate(script);
        // Repair the checksum, because readers check it first.
        let header = headers.iter().rev().find(|header| (**header..**header + BLOCK).contains(&at));
        if let Some(header) = header.filter(|_| !script.flag()) {
            repair(&mut out.bytes[*header..*header + BLOCK]);
        }
    }
    let mut bytes = out.bytes;
    if script.below(16) == 1 {
        bytes.truncate(bytes.len().saturating_sub(usize::from(script.u16()) % 2048));
    }
    bytes
}

/// Appends an entry with its data; `kind` is the type of an extended header.
fn put(out: &mut Fields, headers: &mut Vec<usize>, script: &mut Script<'_>, kind: Option<u8>) {
    let name = script.name();
    let data = match kind {
        Some(b'L') => {
            let nul: &[u8] = if script.below(4) == 1 { &[] } else { &[0] };
            [&name[..], nul].concat()
        }
        Some(_) => (0..1 + script.below(3)).flat_map(|_| record(script, &name)).collect(),
        None => script.bytes(60).repeat(1 + script.below(12)),
    };
    let typeflag = kind.unwrap_or_else(|| match script.below(8) {
        1 => 0,
        2 => b'5',
        3 => b'7',
        4 => script.one_of(b"1234SKVNDMAIE"),
        5 => script.byte(),
        _ => b'0',
    });
    // Only some directories, links and devices get data.
    let data = if matches!(typeflag, b'1'..=b'6') && !script.flag() { Vec::new() } else { data };
    let size = match script.below(16) {
        1 => script.u64() % 4096,
        2 => script.u64(),
        _ => data.len() as u64,
    };
    let (prefix, short) = match name.iter().position(|byte| *byte == b'/') {
        Some(slash) if script.flag() => (&name[..slash], &name[slash + 1..]),
        _ => (&[][..], &name[..]),
    };
    headers.push(out.bytes.len());
    let begin = out.bytes.len();
    out.put(&fixed::<100>(short));
    for number in [0o644, 0, 0] {
        out.put(format!("{number:07o}\0").as_bytes());
    }
    let size_field: [u8; 12] = match script.below(8) {
        1 => {
            let mut field = [0; 12];
            field[4..].copy_from_slice(&size.to_be_bytes());
            field[0] = 0x80;
            field
        }
        2 => fixed(format!("{size:>11o} ").as_bytes()),
        3 => fixed(format!("{size:o}\0").as_bytes()),
        4 => fixed(script.bytes(12)),
        _ => fixed(format!("{size:011o}\0").as_bytes()),
    };
    out.put(&size_field);
    out.put(b"02263264000\0");
    out.put(b"        ");
    out.put(&[typeflag]);
    let link = if matches!(typeflag, b'1' | b'2') { script.name() } else { Vec::new() };
    out.put(&fixed::<100>(&link));
    out.put(match script.below(8) {
        1 => b"ustar  \0",
        2 => &[0; 8],
        3 => b"ustar\0\0\0",
        4 => b"ustar 00",
        _ => b"ustar\x0000",
    });
    for field in [&b"owner"[..], b"group"] {
        out.put(&fixed::<32>(if script.below(8) == 1 { field } else { &[] }));
    }
    for _ in 0..2 {
        let device: &[u8] = if script.below(4) == 1 { b"0000000" } else { &[] };
        out.put(&fixed::<8>(device));
    }
    out.put(&fixed::<155>(prefix));
    out.put(&[0; 12]);
    // Fields that a reader may use although this kind of header does not define them: after a name, in numbers without
    // a meaning here, and in the fields where GNU stores the map and size of a sparse file.
    if script.below(4) == 1 {
        let at = match script.below(4) {
            1 => script.one_of(&[3, 99, 160, 200]),
            2 => script.one_of(&[100, 108, 116, 136, 147]),
            3 => script.one_of(&[266, 297, 329, 337, 345, 386, 483, 507]),
            _ => 345,
        };
        let more = script.bytes(12);
        let length = more.len().min(BLOCK - at);
        out.bytes[begin + at..][..length].copy_from_slice(&more[..length]);
    }
    repair(&mut out.bytes[begin..begin + BLOCK]);
    let padding = data.len().next_multiple_of(BLOCK) - data.len();
    out.put(&data);
    let dirt = if script.below(16) == 1 { script.byte() } else { 0 };
    out.put(&vec![dirt; padding]);
}

/// Returns a PAX record, usually with its correct length.
fn record(script: &mut Script<'_>, name: &[u8]) -> Vec<u8> {
    let number = u64::from(script.u16() % 700).to_string();
    let (key, value): (&[u8], Vec<u8>) = match script.below(16) {
        1 => (b"size", number.into_bytes()),
        2 => (b"linkpath", name.to_vec()),
        3 => (b"mtime", number.into_bytes()),
        4 => (b"GNU.sparse.name", name.to_vec()),
        5 => (b"SCHILY.xattr.user.x", script.bytes(12).to_vec()),
        6 => (b"hdrcharset", b"BINARY".to_vec()),
        7 => (b"comment", script.bytes(12).to_vec()),
        8 => (script.bytes(8), script.bytes(12).to_vec()),
        9 => (b"uid", number.into_bytes()),
        10 => (b"path", Vec::new()),
        11 => return script.bytes(20).to_vec(),
        12 => (b"SCHILY.realsize", number.into_bytes()),
        13 => (b"SUN.holesdata", number.into_bytes()),
        14 => (b"atime", number.into_bytes()),
        _ => (b"path", name.to_vec()),
    };
    let rest = [b" ", key, b"=", &value, b"\n"].concat();
    let mut length = rest.len() + 1;
    while length != rest.len() + length.to_string().len() {
        length += 1;
    }
    [length.to_string().as_bytes(), &rest].concat()
}

/// Truncates, or pads with NULs.
fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0))
}

/// Writes the correct checksum into a header.
fn repair(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}
