//! Builds zips from a script: members, methods, extra fields, zip64, descriptors and records; then changes a few
//! fields. Sizes, checksums, offsets and counts are correct unless the script says otherwise, so that the fuzzer need
//! not guess them.

use std::io::Write as _;

use flate2::{Compression, Crc};

use crate::script::{Fields, Script};

const WIDE: u32 = u32::MAX;

/// A member.
struct Entry {
    name: Vec<u8>,
    local_name: Vec<u8>,
    versions: [u16; 2],
    flags: u16,
    method: u16,
    crc: u32,
    packed: Vec<u8>,
    size: u64,
    /// The extra fields of the local header and of the directory.
    extras: [Vec<u8>; 2],
    /// Whether size, compressed size and offset are in the zip64 field of the directory.
    wide: [bool; 3],
    wide_local: bool,
    /// 0: none; otherwise with or without signature, with short or long sizes.
    descriptor: usize,
    /// Whether the local header repeats the values of the descriptor.
    foretold: bool,
    gap: Vec<u8>,
    comment: Vec<u8>,
    made_by: u16,
    internal: u16,
    external: u32,
}

impl Entry {
    fn new(script: &mut Script<'_>) -> Self {
        let content = script.bytes(40).repeat(1 + script.below(3));
        let name = script.name();
        let (method, packed) = packed(script, &content);
        let mut entry = Self {
            local_name: name.clone(),
            flags: if name.is_ascii() || std::str::from_utf8(&name).is_err() { 0 } else { 1 << 11 },
            name,
            versions: [20, 20],
            method,
            crc: crc(&content),
            packed,
            size: content.len() as u64,
            extras: [Vec::new(), Vec::new()],
            wide: [false; 3],
            wide_local: false,
            descriptor: 0,
            foretold: false,
            gap: Vec::new(),
            comment: Vec::new(),
            made_by: (3 << 8) + 20,
            internal: 0,
            external: 0o100_644 << 16,
        };
        // A zero ends the unusual features, as does the end of the script.
        for _ in 0..6 {
            match script.below(16) {
                0 => break,
                1 => entry.descriptor = 1 + script.below(4),
                2 => entry.foretold = true,
                3 => entry.wide_local = true,
                4 => entry.wide = std::array::from_fn(|_| script.flag()),
                5 => entry.extras = std::array::from_fn(|_| extra(script, &entry.name)),
                6 => {
                    let field = extra(script, &entry.name);
                    entry.extras.iter_mut().for_each(|extra| extra.extend(&field));
                }
                7 => entry.flags ^= 1 << script.below(16),
                8 => entry.made_by = script.u16(),
                9 => entry.external = (u32::from(script.u16()) << 16) | u32::from(script.u16()),
                10 => entry.comment = script.bytes(12).to_vec(),
                11 => entry.gap = script.bytes(40).to_vec(),
                12 => entry.local_name = script.name(),
                13 => entry.versions = std::array::from_fn(|_| u16::from(script.byte())),
                14 => entry.size = entry.size.wrapping_add_signed(i64::from(script.byte() as i8)),
                _ => entry.internal = script.u16(),
            }
        }
        if entry.descriptor > 0 {
            entry.flags |= 1 << 3;
        }
        entry
    }

    /// Appends the fields that both headers share.
    fn facts(&self, out: &mut Fields, version: u16, crc: u32, sizes: [u32; 2], name: &[u8]) {
        for number in [version, self.flags, self.method, 0, 0x21] {
            out.put(&number.to_le_bytes());
        }
        for number in [crc, sizes[0], sizes[1]] {
            out.put(&number.to_le_bytes());
        }
        out.put(&(name.len() as u16).to_le_bytes());
    }

    fn local(&self, out: &mut Fields) {
        out.put(&self.gap);
        out.put(b"PK\x03\x04");
        let mut extra = self.extras[0].clone();
        let hidden = self.descriptor > 0 && !self.foretold;
        let (crc, mut sizes) = match hidden {
            true => (0, [0, 0]),
            false => (self.crc, [self.packed.len() as u32, self.size as u32]),
        };
        if self.wide_local {
            let wide = [self.size, self.packed.len() as u64].map(|n| if hidden { 0 } else { n });
            extra.extend(field(1, &wide.map(u64::to_le_bytes).concat()));
            sizes = [WIDE, WIDE];
        }
        self.facts(out, self.versions[0], crc, sizes, &self.local_name);
        out.put(&(extra.len() as u16).to_le_bytes());
        for part in [&self.local_name, &extra, &self.packed] {
            out.put(part);
        }
        let (short, long) = (self.packed.len() as u32, self.packed.len() as u64);
        if matches!(self.descriptor, 1 | 3) {
            out.put(b"PK\x07\x08");
        }
        if self.descriptor > 0 {
            out.put(&self.crc.to_le_bytes());
        }
        match self.descriptor {
            0 => {}
            1 | 2 => {
                out.put(&short.to_le_bytes());
                out.put(&(self.size as u32).to_le_bytes());
            }
            _ => {
                out.put(&long.to_le_bytes());
                out.put(&self.size.to_le_bytes());
            }
        }
    }

    fn central(&self, out: &mut Fields, at: u64) {
        let values = [self.size, self.packed.len() as u64, at];
        let mut wide = Vec::new();
        let mut narrow = values.map(|value| value as u32);
        for ((value, narrow), escaped) in values.iter().zip(&mut narrow).zip(self.wide) {
            if escaped {
                *narrow = WIDE;
                wide.extend(value.to_le_bytes());
            }
        }
        let mut extra = self.extras[1].clone();
        if !wide.is_empty() {
            extra.extend(field(1, &wide));
        }
        out.put(b"PK\x01\x02");
        out.put(&self.made_by.to_le_bytes());
        self.facts(out, self.versions[1], self.crc, [narrow[1], narrow[0]], &self.name);
        out.put(&(extra.len() as u16).to_le_bytes());
        out.put(&(self.comment.len() as u16).to_le_bytes());
        out.put(&[0, 0]); // disk
        out.put(&self.internal.to_le_bytes());
        out.put(&self.external.to_le_bytes());
        out.put(&narrow[2].to_le_bytes());
        for part in [&self.name, &extra, &self.comment] {
            out.put(part);
        }
    }
}

/// Builds a zip from a script.
pub(crate) fn build(script: &mut Script<'_>) -> Vec<u8> {
    let mut entries = Vec::new();
    for _ in 0..1 + script.below(4) {
        entries.push(Entry::new(script));
    }
    let mut out = Fields::default();
    let mut directory = Fields::default();
    let count = entries.len() as u64;
    for entry in &entries {
        let at = out.bytes.len() + entry.gap.len();
        entry.local(&mut out);
        entry.central(&mut directory, at as u64);
    }
    let (offset, length) = (out.bytes.len() as u64, directory.bytes.len() as u64);
    out.append(directory);
    end(&mut out, script, count, offset, length);
    for _ in 0..script.below(4) {
        out.mutate(script);
    }
    let mut bytes = out.bytes;
    match script.below(8) {
        1 => bytes.extend(script.bytes(30)),
        2 => drop(bytes.splice(0..0, script.bytes(30).iter().copied())),
        _ => {}
    }
    bytes
}

/// Appends the records at the end.
fn end(out: &mut Fields, script: &mut Script<'_>, count: u64, offset: u64, length: u64) {
    let style = script.below(8);
    if matches!(style, 1..=3) {
        let at = out.bytes.len() as u64;
        let more = if style == 3 { script.bytes(30) } else { &[] };
        out.put(b"PK\x06\x06");
        out.put(&(44 + more.len() as u64).to_le_bytes());
        out.put(&[45, 3, 45, 0]);
        for disk in [0_u32, 0] {
            out.put(&disk.to_le_bytes());
        }
        for number in [count, count, length, offset] {
            out.put(&number.to_le_bytes());
        }
        out.put(more);
        out.put(b"PK\x06\x07");
        out.put(&[0; 4]);
        out.put(&at.to_le_bytes());
        out.put(&[1, 0, 0, 0]);
    }
    out.put(b"PK\x05\x06");
    let escaped = style == 2;
    for disk in [0_u16, 0] {
        out.put(&disk.to_le_bytes());
    }
    for number in [count, count] {
        let number = if escaped { u16::MAX } else { number as u16 };
        out.put(&number.to_le_bytes());
    }
    for number in [length, offset] {
        let number = if escaped { WIDE } else { number as u32 };
        out.put(&number.to_le_bytes());
    }
    let comment = if style == 4 { script.bytes(30) } else { &[] };
    out.put(&(comment.len() as u16).to_le_bytes());
    out.put(comment);
}

/// Returns a method and the compressed content.
fn packed(script: &mut Script<'_>, content: &[u8]) -> (u16, Vec<u8>) {
    match script.below(8) {
        1 | 2 => {
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Compression::new(6));
            encoder.write_all(content).unwrap();
            (8, encoder.finish().unwrap())
        }
        3 => (93, zstd::encode_all(content, 1).unwrap()),
        // One stored block, as no encoder writes it.
        4 => {
            let length = content.len() as u16;
            let head = [&[1][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat();
            (8, [&head, content].concat())
        }
        5 => (script.u16(), content.to_vec()),
        6 => (8, script.bytes(40).to_vec()),
        // A second frame, or a skippable one.
        7 => {
            let mut frames = zstd::encode_all(content, 1).unwrap();
            match script.flag() {
                true => frames.extend(b"\x50\x2a\x4d\x18\x02\0\0\0xx"),
                false => frames.extend(zstd::encode_all(&b""[..], 1).unwrap()),
            }
            (93, frames)
        }
        _ => (0, content.to_vec()),
    }
}

fn extra(script: &mut Script<'_>, name: &[u8]) -> Vec<u8> {
    match script.below(9) {
        0 => Vec::new(),
        1 => field(1, script.bytes(28)),
        2 => field(0xd935, &[&[64, 0][..], &vec![0; script.below(64)]].concat()),
        3 => {
            let other = script.name();
            let name = if script.flag() { &other } else { name };
            field(0x7075, &[&[1][..], &crc(name).to_le_bytes(), name].concat())
        }
        4 => field(0x5455, &[1, 0, 0, 0, 0]),
        5 => field(script.u16(), script.bytes(16)),
        // A file mode in a field by ASi or libarchive.
        6 => field(0x756e, &[&[0; 4][..], &script.u16().to_le_bytes(), script.bytes(16)].concat()),
        7 => field(0x6c78, &[&[script.byte()][..], script.bytes(12)].concat()),
        _ => script.bytes(16).to_vec(),
    }
}

fn field(id: u16, content: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes()[..], &(content.len() as u16).to_le_bytes(), content].concat()
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Returns a zip of stored files.
pub(crate) fn stored(files: &[(String, &[u8])]) -> Vec<u8> {
    let mut out = Fields::default();
    let mut directory = Fields::default();
    for (name, content) in files {
        let mut entry = Entry::new(&mut Script::new(&[]));
        entry.name = name.clone().into_bytes();
        entry.local_name.clone_from(&entry.name);
        (entry.packed, entry.size, entry.crc) =
            (content.to_vec(), content.len() as u64, crc(content));
        let at = out.bytes.len() as u64;
        entry.local(&mut out);
        entry.central(&mut directory, at);
    }
    let (offset, length) = (out.bytes.len() as u64, directory.bytes.len() as u64);
    out.append(directory);
    end(&mut out, &mut Script::new(&[]), files.len() as u64, offset, length);
    out.bytes
}
