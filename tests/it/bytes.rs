//! Support: writing and reading archives byte by byte, and SHA-256, without the library and its dependencies.

use std::fmt::Write as _;
use std::sync::LazyLock;

/// A member of an archive that is written by hand.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
    /// Kind of a tar entry: `0` for a file, `2` for a symbolic link to `data`.
    pub(crate) kind: u8,
}

/// A file.
pub(crate) fn part(name: &str, data: impl AsRef<[u8]>) -> Part {
    Part { name: name.to_owned(), data: data.as_ref().to_vec(), kind: b'0' }
}

/// A symbolic link.
pub(crate) fn link(name: &str, to: &str) -> Part {
    Part { kind: b'2', ..part(name, to) }
}

/// Returns the manifest of `parts`, as written by `sha256sum`.
pub(crate) fn manifest(parts: &[Part]) -> Part {
    let mut text = String::new();
    for part in parts {
        writeln!(text, "{}  {}", sha256(&part.data), part.name).unwrap();
    }
    part("manifest-sha256.txt", text)
}

/// `parts` and their manifest.
pub(crate) fn with_manifest(mut parts: Vec<Part>) -> Vec<Part> {
    parts.push(manifest(&parts));
    parts
}

fn u16_of(length: usize) -> [u8; 2] {
    u16::try_from(length).unwrap().to_le_bytes()
}

fn u32_of(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap().to_le_bytes()
}

/// Function that makes an archive.
pub(crate) type Make = fn(&[Part]) -> Vec<u8>;

/// Extensions, with the functions that make such archives.
pub(crate) const MAKERS: [(&str, Make); 2] = [(".zip", zip), (".tar", tar)];

/// Returns a zip of stored members.
pub(crate) fn zip(parts: &[Part]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for Part { name, data, kind } in parts {
        let offset = file.len();
        // Version 2.0, UTF-8 names, stored, 1980-01-01 00:00:00.
        let mut common = vec![20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0];
        common.extend(crc32(data).to_le_bytes());
        common.extend([u32_of(data.len()), u32_of(data.len())].concat());
        common.extend([u16_of(name.len()), u16_of(0)].concat());
        file.extend([b"PK\x03\x04", &*common, name.as_bytes(), data].concat());
        let mode: u32 = if *kind == b'2' { 0o120_777 } else { 0o100_644 };
        directory.extend([b"PK\x01\x02", &[20, 3][..], &common, &[0; 6]].concat());
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(u32_of(offset));
        directory.extend(name.as_bytes());
    }
    let (count, start) = (u16_of(parts.len()), file.len());
    file.extend(&directory);
    file.extend([b"PK\x05\x06", &[0; 4][..], &count, &count].concat());
    file.extend([&u32_of(directory.len())[..], &u32_of(start), &[0; 2]].concat());
    file
}

/// Returns a tar with `ustar` headers.
pub(crate) fn tar(parts: &[Part]) -> Vec<u8> {
    let mut file = Vec::new();
    for Part { name, data, kind } in parts {
        let is_link = *kind == b'2';
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[108..115].copy_from_slice(b"0000000");
        header[116..123].copy_from_slice(b"0000000");
        let size = if is_link { 0 } else { data.len() };
        header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        header[136..147].copy_from_slice(b"00000000000");
        header[148..156].fill(b' ');
        header[156] = *kind;
        if is_link {
            header[157..157 + data.len()].copy_from_slice(data);
        }
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        file.extend(header);
        if !is_link {
            file.extend(data);
            file.resize(file.len().next_multiple_of(512), 0);
        }
    }
    file.extend([0; 1024]);
    file
}

/// A member of a zip, read from the central directory and its local header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) method: u16,
    /// MS-DOS date and time, with the time in the lower half.
    pub(crate) modified: u32,
    /// Unix mode.
    pub(crate) mode: u32,
    pub(crate) packed: usize,
    pub(crate) size: usize,
    /// Offset of its entry in the directory.
    pub(crate) central: usize,
    /// Offset of its local header.
    pub(crate) header: usize,
    /// Offset of its data.
    pub(crate) data: usize,
}

/// Returns the members of a zip without a comment and below 4 GiB.
pub(crate) fn zip_entries(file: &[u8]) -> Vec<Entry> {
    let u16_at = |at: usize| usize::from(u16::from_le_bytes([file[at], file[at + 1]]));
    let u32_at = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let wide_at = |at: usize| usize::try_from(u32_at(at)).unwrap();
    let end = file.len() - 22;
    assert_eq!(&file[end..end + 4], b"PK\x05\x06", "the end record");
    let mut at = wide_at(end + 16);
    let mut entries = Vec::new();
    for _ in 0..u16_at(end + 10) {
        assert_eq!(&file[at..at + 4], b"PK\x01\x02");
        let name = &file[at + 46..at + 46 + u16_at(at + 28)];
        let header = wide_at(at + 42);
        assert_eq!(&file[header..header + 4], b"PK\x03\x04");
        entries.push(Entry {
            name: std::str::from_utf8(name).unwrap().to_owned(),
            method: u16::from_le_bytes([file[at + 10], file[at + 11]]),
            modified: u32_at(at + 12),
            mode: u32_at(at + 38) >> 16,
            packed: wide_at(at + 20),
            size: wide_at(at + 24),
            central: at,
            header,
            data: header + 30 + u16_at(header + 26) + u16_at(header + 28),
        });
        at += 46 + u16_at(at + 28) + u16_at(at + 30) + u16_at(at + 32);
    }
    assert_eq!(at, end, "the directory ends where the end record begins");
    entries
}

/// Returns the checksum of a zip member.
pub(crate) fn crc32(data: &[u8]) -> u32 {
    // A table of all bytes: bit by bit, large members take seconds.
    static TABLE: LazyLock<[u32; 256]> = LazyLock::new(|| {
        std::array::from_fn(|byte| {
            (0..8).fold(u32::try_from(byte).unwrap(), |crc, _| {
                (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1))
            })
        })
    });
    let table = &*TABLE;
    let mut crc = u32::MAX;
    for byte in data {
        crc = (crc >> 8) ^ table[usize::from(crc.to_le_bytes()[0] ^ byte)];
    }
    !crc
}

/// Returns the offset of the first copy of `part`.
pub(crate) fn offset_of(part: &[u8], bytes: &[u8]) -> usize {
    memchr::memmem::find(bytes, part).unwrap()
}

/// Returns the first 32 bits of the fractional part of the root of each of the first primes.
fn fractions<const N: usize>(root: fn(f64) -> f64, of: fn(u128) -> u128) -> [u32; N] {
    let is_prime = |n: &u64| (2..*n).all(|divisor| !n.is_multiple_of(divisor));
    let mut primes = (2..).filter(is_prime);
    std::array::from_fn(|_| {
        let prime = primes.next().unwrap();
        // A double is exact except for the last bit, which integers decide.
        #[expect(clippy::cast_possible_truncation, reason = "below 2^40")]
        #[expect(clippy::cast_sign_loss, reason = "a root is positive")]
        #[expect(clippy::cast_precision_loss, reason = "a prime below 400")]
        let mut scaled = (root(prime as f64) * 4_294_967_296.0) as u128;
        let power = of(2).ilog2();
        let goal = u128::from(prime) << (32 * power);
        while of(scaled) > goal {
            scaled -= 1;
        }
        while of(scaled + 1) <= goal {
            scaled += 1;
        }
        u32::try_from(scaled & u128::from(u32::MAX)).unwrap()
    })
}

/// Returns the SHA-256 digest in hexadecimal (FIPS 180-4, sections 4.2.2, 5.3.3 and 6.2).
pub(crate) fn sha256(data: &[u8]) -> String {
    static K: LazyLock<[u32; 64]> = LazyLock::new(|| fractions(f64::cbrt, |n| n * n * n));
    let mut state: [u32; 8] = fractions(f64::sqrt, |n| n * n);
    let mut message = data.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend((8 * u64::try_from(data.len()).unwrap()).to_be_bytes());
    for block in message.chunks_exact(64) {
        let mut w = [0_u32; 64];
        for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes(bytes.try_into().unwrap());
        }
        for t in 16..64 {
            let (a, b) = (w[t - 15], w[t - 2]);
            let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w[t] = w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1);
        }
        let mut v = state;
        for t in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = [s1, choice, K[t], w[t]].into_iter().fold(v[7], u32::wrapping_add);
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0).wrapping_add(majority);
        }
        for (word, add) in state.iter_mut().zip(v) {
            *word = word.wrapping_add(add);
        }
    }
    let mut text = String::new();
    for word in state {
        write!(text, "{word:08x}").unwrap();
    }
    text
}

#[test]
fn digests_match_the_examples_of_the_standard() {
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256(b"abc"), abc);
    let million = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    assert_eq!(sha256(&vec![b'a'; 1_000_000]), million);
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}

#[test]
fn written_archives_are_valid_and_read_back() {
    let parts = with_manifest(vec![part("a.txt", "abc"), part("b/c.txt", "")]);
    let file = zip(&parts);
    let entries = zip_entries(&file);
    assert_eq!(entries.len(), 3);
    assert_eq!(&file[entries[0].data..][..3], b"abc");
    let scratch = tempfile::TempDir::new().unwrap();
    for (name, bytes) in [("a.zip", file), ("a.tar", tar(&parts))] {
        let archive = scratch.path().join(name);
        std::fs::write(&archive, bytes).unwrap();
        let ran = crate::run::ra("verify", &[&archive], &["--strict"]);
        ran.exits(0).says(&[": valid"]);
    }
}
