//! The parts of the zip format that the baseline needs, without checks or alignment.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Smallest value that is stored in the zip64 field.
const WIDE: u64 = 0xffff_ffff;

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) crc: u32,
    /// The offset of the header; in an archive that is read, of the content.
    pub(crate) at: u64,
    pub(crate) digest: [u8; 32],
}

fn put(out: &mut Vec<u8>, width: usize, value: u64) {
    out.extend_from_slice(&value.to_le_bytes()[..width]);
}

fn narrow(value: u64) -> u64 {
    value.min(WIDE)
}

pub(crate) fn local_len(name: &str, size: u64) -> u64 {
    30 + name.len() as u64 + if size >= WIDE { 20 } else { 0 }
}

pub(crate) fn put_local(out: &mut Vec<u8>, entry: &Entry) {
    let wide = entry.size >= WIDE;
    put(out, 4, 0x0403_4b50);
    for (width, value) in [
        (2, if wide { 45 } else { 20 }),
        (2, 0),
        (2, 0),
        (4, 0x0021_0000),
        (4, u64::from(entry.crc)),
        (4, narrow(entry.size)),
        (4, narrow(entry.size)),
        (2, entry.name.len() as u64),
        (2, if wide { 20 } else { 0 }),
    ] {
        put(out, width, value);
    }
    out.extend_from_slice(entry.name.as_bytes());
    if wide {
        for (width, value) in [(2, 1), (2, 16), (8, entry.size), (8, entry.size)] {
            put(out, width, value);
        }
    }
}

pub(crate) fn put_central(out: &mut Vec<u8>, entry: &Entry) {
    let mut wide = Vec::new();
    if entry.size >= WIDE {
        put(&mut wide, 8, entry.size);
        put(&mut wide, 8, entry.size);
    }
    if entry.at >= WIDE {
        put(&mut wide, 8, entry.at);
    }
    let extra = if wide.is_empty() { 0 } else { 4 + wide.len() as u64 };
    put(out, 4, 0x0201_4b50);
    for (width, value) in [
        (2, 0x0314),
        (2, if extra == 0 { 20 } else { 45 }),
        (2, 0),
        (2, 0),
        (4, 0x0021_0000),
        (4, u64::from(entry.crc)),
        (4, narrow(entry.size)),
        (4, narrow(entry.size)),
        (2, entry.name.len() as u64),
        (2, extra),
        (2, 0),
        (2, 0),
        (2, 0),
        (4, 0o100_644 << 16),
        (4, narrow(entry.at)),
    ] {
        put(out, width, value);
    }
    out.extend_from_slice(entry.name.as_bytes());
    if extra > 0 {
        put(out, 2, 1);
        put(out, 2, wide.len() as u64);
        out.extend_from_slice(&wide);
    }
}

/// Appends the end of an archive of `count` members, with a directory of `len` bytes at `at`.
pub(crate) fn put_end(out: &mut Vec<u8>, count: u64, at: u64, len: u64) {
    for (width, value) in [
        (4, 0x0606_4b50),
        (8, 44),
        (2, 45),
        (2, 45),
        (4, 0),
        (4, 0),
        (8, count),
        (8, count),
        (8, len),
        (8, at),
        (4, 0x0706_4b50),
        (4, 0),
        (8, at + len),
        (4, 1),
        (4, 0x0605_4b50),
        (4, 0),
        (2, 0xffff),
        (2, 0xffff),
        (4, WIDE),
        (4, WIDE),
        (2, 0),
    ] {
        put(out, width, value);
    }
}

pub(crate) fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    let mut value = [0; 8];
    value[..width].copy_from_slice(&bytes[at..at + width]);
    u64::from_le_bytes(value)
}

/// Returns the offset of the directory of such an archive, and its length.
pub(crate) fn directory(file: &File) -> (u64, u64) {
    let mut end = [0; 98];
    let len = file.metadata().unwrap().len();
    file.read_exact_at(&mut end, len - 98).unwrap();
    assert_eq!(number(&end, 0, 4), 0x0606_4b50, "not an archive of the baseline");
    (number(&end, 48, 8), number(&end, 40, 8))
}

/// Parses the directory record at the beginning of `record`. Returns the entry, with the offset of its header, and the
/// length of the record.
pub(crate) fn read_central(record: &[u8]) -> (Entry, usize) {
    let [name_len, extra_len] = [28, 30].map(|at| number(record, at, 2) as usize);
    let (mut size, mut at) = (number(record, 24, 4), number(record, 42, 4));
    let extra = &record[46 + name_len..][..extra_len];
    let mut wide = extra.get(4..).unwrap_or_default();
    if size == WIDE {
        size = number(wide, 0, 8);
        wide = &wide[16..];
    }
    if at == WIDE {
        at = number(wide, 0, 8);
    }
    let name = String::from_utf8(record[46..46 + name_len].to_vec()).unwrap();
    let crc = number(record, 16, 4) as u32;
    (Entry { name, size, crc, at, digest: [0; 32] }, 46 + name_len + extra_len)
}
