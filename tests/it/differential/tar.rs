//! Tars: valid ones in each format, with every field set to values that may mislead a reader.

use std::fs;

use ra_pack::write::{ManifestOptions, manifest_of};
use tempfile::TempDir;

use super::{Readers, difference, ours};
use crate::raw_tar::pax_record;
use crate::skips::{is_long, one_of};

const BLOCK: usize = 512;
const MAGICS: [[u8; 8]; 3] = [*b"ustar\x0000", *b"ustar  \0", [0; 8]];

/// Extended headers, a header block and its data.
#[derive(Clone)]
struct Entry {
    extensions: Vec<u8>,
    header: [u8; BLOCK],
    data: Vec<u8>,
}

impl Entry {
    fn new(magic: [u8; 8], name: &[u8], typeflag: u8, data: &[u8]) -> Self {
        let mut header = [0; BLOCK];
        let size = format!("{:011o}\0", data.len());
        let fields: [(usize, &[u8]); 8] = [
            (0, name),
            (100, b"0000644\0"),
            (108, b"0000000\0"),
            (116, b"0000000\0"),
            (124, size.as_bytes()),
            (136, b"02263264000\0"),
            (156, &[typeflag]),
            (257, &magic),
        ];
        for (at, bytes) in fields {
            header[at..at + bytes.len()].copy_from_slice(bytes);
        }
        Self { extensions: Vec::new(), header, data: data.to_vec() }
    }

    fn put(mut self, at: usize, bytes: &[u8]) -> Self {
        let length = bytes.len().min(BLOCK - at);
        self.header[at..at + length].copy_from_slice(&bytes[..length]);
        self
    }

    fn after(mut self, extension: &Self) -> Self {
        self.extensions.extend(extension.bytes());
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut header = self.header;
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let mut bytes = [&self.extensions, &header[..], &self.data].concat();
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }
}

/// Returns a file whose content is an archive: a reader that misjudges its length unpacks that.
fn victim(magic: [u8; 8], name: &[u8]) -> Entry {
    Entry::new(magic, name, b'0', &Entry::new(magic, b"hidden", b'0', b"hidden").bytes())
}

fn pax(records: &[u8]) -> Entry {
    Entry::new(MAGICS[0], b"PaxHeaders/f", b'x', records)
}

fn long(typeflag: u8, name: &[u8]) -> Entry {
    Entry::new(MAGICS[1], b"././@LongLink", typeflag, name)
}

/// Number of accepted archives, and the differences of other readers.
struct Judge {
    scratch: TempDir,
    readers: Readers,
    turn: usize,
    /// One archive of this number is tried.
    share: usize,
    tried: usize,
    sound: usize,
    objections: Vec<String>,
}

impl Judge {
    fn new() -> Self {
        let (scratch, readers) = (TempDir::new().unwrap(), Readers::installed());
        Self {
            scratch,
            readers,
            turn: 0,
            share: one_of(3),
            tried: 0,
            sound: 0,
            objections: Vec::new(),
        }
    }

    /// Tries an archive with this entry between two others, and a manifest of all members that we read.
    fn judge(&mut self, what: &str, magic: [u8; 8], entry: &Entry) {
        self.tried += 1;
        if !self.tried.is_multiple_of(self.share) {
            return;
        }
        let archive = self.scratch.path().join("a.tar");
        let (before, after) =
            (Entry::new(magic, b"d/", b'5', b""), Entry::new(magic, b"h", b'0', b"h"));
        for parts in [[entry, &before, &after], [&before, entry, &after]] {
            let mut bytes: Vec<u8> = parts.into_iter().flat_map(Entry::bytes).collect();
            fs::write(&archive, [&bytes[..], &[0; 2 * BLOCK]].concat()).unwrap();
            let options = ManifestOptions { jobs: Some(1), ..ManifestOptions::default() };
            let Ok(manifest) = manifest_of(&archive, &options) else { return };
            let manifest = Entry::new(magic, b"manifest-sha256.txt", b'0', &manifest.text());
            bytes.extend(manifest.bytes());
            fs::write(&archive, [&bytes[..], &[0; 2 * BLOCK]].concat()).unwrap();
            let Some(ours) = ours(&archive) else { return };
            self.sound += 1;
            let unpacked = self.readers.unpack(&archive);
            let differences = unpacked.iter().filter_map(|theirs| difference(&ours, theirs));
            self.objections.extend(differences.map(|difference| {
                format!("{what}, magic {:?}: {difference}", String::from_utf8_lossy(&magic))
            }));
            // The first entry only matters for the detection of the kind of archive.
            if !self.sound.is_multiple_of(8) {
                return;
            }
        }
    }

    /// Returns one format after the other, where all formats for each case would take too long.
    fn next_magic(&mut self) -> [u8; 8] {
        self.turn += 1;
        MAGICS[self.turn % MAGICS.len()]
    }

    #[track_caller]
    fn assert_agreed(self, least: usize) {
        let count = self.objections.len();
        assert!(count == 0, "{count} objections:\n{}", self.objections.join("\n"));
        assert!(self.sound >= least / self.share, "{} were accepted", self.sound);
    }
}

/// Offsets of the first, second, fourth, middle and last byte of each field, and in the area of GNU.
#[rustfmt::skip]
const PLACES: &[usize] = &[
    0, 1, 3, 50, 99, 100, 103, 106, 107, 108, 111, 114, 115, 116, 119, 122, 123, 124, 127, 134, 135,
    136, 139, 146, 147, 157, 158, 200, 256, 257, 261, 262, 263, 264, 265, 266, 280, 296, 297, 298,
    310, 328, 329, 332, 335, 336, 337, 340, 343, 344, 345, 346, 348, 357, 369, 381, 385, 386, 398,
    475, 476, 482, 483, 494, 495, 499, 500, 508, 511,
];

const BYTES: &[u8] = b"\0 7x/\x80";

/// Numbers in formats that some tar program writes or reads.
#[rustfmt::skip]
const NUMBERS: &[&[u8]] = &[
    b"", b"0", b" ", b"0 ", b" 0\0", b"7777777", b"77777777", b"0000012", b"00000012", b"     12 ",
    b"12\0x", b"1x", b"x", b"-1", b"+1", b"0x1", b"0o1", b"1_0", b"\t1", b"\x001", b"8", b"1.5",
    b"\x80\0\0\0\0\0\0\x01", b"\x80\0\0\0\xff\xff\xff\xff", b"\x80\0\0\x01\0\0\0\0", b"\x81",
    b"\xff\xff\xff\xff\xff\xff\xff\xff", b"\xff\xff\xff\xff\0\0\0\0", b"\xc0", b"\x80",
];

/// Offsets and lengths of numeric fields.
const NUMERIC: [(usize, usize); 7] =
    [(100, 8), (108, 8), (116, 8), (124, 12), (136, 12), (329, 8), (337, 8)];

#[test]
#[ignore = "slow"]
fn a_tar_with_a_changed_header_byte_is_read_the_same_by_all_tools() {
    let mut judge = Judge::new();
    for magic in MAGICS {
        for (at, byte) in PLACES.iter().flat_map(|at| BYTES.iter().map(move |byte| (*at, *byte))) {
            let entry = victim(magic, b"name").put(at, &[byte]);
            judge.judge(&format!("{byte:#x} at {at}"), magic, &entry);
        }
    }
    judge.assert_agreed(100);
}

/// Returns a field with a number at its end, binary if it begins with the binary mark.
fn field(number: &[u8], length: usize) -> Vec<u8> {
    let mut field = number.to_vec();
    field.resize(length, 0);
    if let Some(binary @ (0x80 | 0xff)) = number.first() {
        let fill = if *binary == 0x80 { 0 } else { 0xff };
        let more = length.saturating_sub(number.len().max(8));
        field = [&number[..1], &vec![fill; more], &number[1..]].concat();
    }
    field
}

#[test]
fn a_tar_with_odd_numbers_is_read_the_same_by_all_tools() {
    let mut judge = Judge::new();
    for ((at, length), number) in NUMERIC.iter().flat_map(|at| NUMBERS.iter().map(move |n| (at, n)))
    {
        let magic = judge.next_magic();
        let entry = victim(magic, b"f").put(*at, &field(number, *length));
        judge.judge(&format!("{number:?} at {at}"), magic, &entry);
    }
    judge.assert_agreed(40);
}

#[test]
#[ignore = "slow"]
fn a_tar_with_any_type_is_read_the_same_by_all_tools() {
    let mut judge = Judge::new();
    for magic in MAGICS {
        for typeflag in 0..=255 {
            let hidden = victim(magic, b"f").data;
            let is_usual = matches!(typeflag, 0 | b'0' | b'5' | b'7');
            for name in [&b"f"[..], b"f/", b"f//", b"./f/"] {
                for data in [&[], &hidden[..]] {
                    let entry = Entry::new(magic, name, typeflag, data);
                    judge.judge(&format!("type {typeflag}, {name:?}"), magic, &entry);
                    for extended in ["g", "g/"] {
                        let records = pax_record("path", extended);
                        let name = format!("{extended}\0");
                        let extensions = [pax(&records), long(b'L', name.as_bytes())];
                        for extension in extensions.iter().filter(|_| is_usual) {
                            let what = format!("type {typeflag}, {name:?}, in full {extended}");
                            judge.judge(&what, magic, &entry.clone().after(extension));
                        }
                    }
                }
            }
        }
    }
    judge.assert_agreed(20);
}

#[rustfmt::skip]
const RECORDS: &[(&str, &str)] = &[
    ("path", "g"), ("path", "g/"), ("path", "g\0"), ("path", "/g"), ("path", "./g"), ("path", "größe"),
    ("path", "g/../f"), ("linkpath", "h"), ("size", "1024"), ("size", "512"), ("size", "0"),
    ("size", "01024"), ("size", "8589934592"), ("mtime", "1"), ("mtime", "-1.5"), ("mtime", "1e3"),
    ("mtime", "nan"), ("mtime", "253402300799"), ("mtime", "9223372036854775807"), ("atime", ""),
    ("ctime", ".5"), ("uid", "0"), ("uid", "4294967295"), ("uid", "4294967296"), ("gid", "x"),
    ("gid", "-1"), ("uname", "größe"), ("gname", ""), ("comment", "\n21 hdrcharset=BINARY\n"),
    ("comment", "\n10 path=x\n"), ("hdrcharset", "BINARY"), ("hdrcharset", "ISO-IR 10646 2000 UTF-8"),
    ("hdrcharset", "ISO-IR 8859 1 1998"), ("charset", "BINARY"), ("GNU.sparse.major", "1"),
    ("GNU.sparse.size", "3"), ("GNU.sparse.realsize", "3"), ("GNU.sparse.name", "g"),
    ("GNU.sparse.map", "0,3"), ("GNU.sparsename", "g"), ("GNU.dumpdir", "Yg\0\0"),
    ("GNU.volume.label", "g"), ("GNU.volume.filename", "g"), ("GNU.volume.size", "3"),
    ("GNU.volume.offset", "3"), ("SCHILY.realsize", "3"), ("SCHILY.offset", "3"),
    ("SCHILY.filetype", "dir"), ("SCHILY.tarfiletype", "dir"), ("SCHILY.nlink", "2"),
    ("SCHILY.dev", "x"), ("SCHILY.ino", "x"), ("SCHILY.devmajor", "1"), ("SCHILY.fflags", "x"),
    ("SCHILY.acl.access", "user::rwx"), ("SCHILY.acl.default", "x"), ("SCHILY.acl.ace", "x"),
    ("SCHILY.xattr.user.a", "\0\n"), ("SUN.holesdata", " 0 3"), ("SUN.devmajor", "1"),
    ("LIBARCHIVE.xattr.user.a", "AAEC"), ("LIBARCHIVE.creationtime", "x"),
    ("LIBARCHIVE.symlinktype", "dir"), ("RHT.security.selinux", "x"), ("MSWINDOWS.fileattr", "16"),
    ("VENDOR.key", "x"), ("PATH", "g"), ("path ", "g"), (" path", "g"),
];

#[rustfmt::skip]
const LONG_NAMES: &[&[u8]] = &[
    b"g\0", b"g", b"g/\0", b"g/", b"g\0x", b"g\0\0", b"\0", b"", b"./g\0", b"/g\0", b"g/../f\0", b"d/g\0",
];

/// Returns extended headers that hold a record, with their names.
fn extensions(record: &[u8]) -> [(Entry, &'static str); 5] {
    let name = long(b'L', b"f\0");
    [
        (pax(record), "x"),
        (pax(record).put(156, b"g"), "g"),
        (name.clone().after(&pax(record)), "x, L"),
        (pax(record).after(&name), "L, x"),
        (pax(&[record, &pax_record("comment", "c")].concat()), "x with another"),
    ]
}

#[test]
#[ignore = "slow"]
fn a_tar_with_extended_headers_is_read_the_same_by_all_tools() {
    let mut judge = Judge::new();
    for is_directory in [false, true] {
        let member = |magic| {
            if is_directory { Entry::new(magic, b"f/", b'5', b"") } else { victim(magic, b"f") }
        };
        for (key, value) in RECORDS {
            for (extension, kind) in extensions(&pax_record(key, value)) {
                let magic = judge.next_magic();
                let what = format!("{kind}, {key}={value:?}, directory: {is_directory}");
                judge.judge(&what, magic, &member(magic).after(&extension));
            }
        }
        for (name, typeflag) in LONG_NAMES.iter().flat_map(|name| [(name, b'L'), (name, b'K')]) {
            let magic = judge.next_magic();
            let what = format!("type {typeflag}, {name:?}, directory: {is_directory}");
            judge.judge(&what, magic, &member(magic).after(&long(typeflag, name)));
        }
    }
    judge.assert_agreed(60);
}

#[test]
#[ignore = "slow"]
fn a_tar_with_changed_extended_headers_is_read_the_same_by_all_tools() {
    let mut judge = Judge::new();
    for extension in [pax(&pax_record("path", "g")), long(b'L', b"g\0")] {
        for at in [0, 1, 99, 100, 108, 124, 136, 157, 256, 265, 328, 329, 344, 345, 386, 483, 500] {
            for byte in *b"\0x/ \x80" {
                let magic = judge.next_magic();
                let entry = victim(magic, b"f").after(&extension.clone().put(at, &[byte]));
                judge.judge(&format!("{byte:#x} at {at} of an extension"), magic, &entry);
            }
        }
        for (magic, other) in
            MAGICS.into_iter().flat_map(|magic| MAGICS.map(|other| (magic, other)))
        {
            let entry = victim(magic, b"f").after(&extension.clone().put(257, &other));
            judge.judge(&format!("an extension with {other:?}"), magic, &entry);
        }
    }
    judge.assert_agreed(20);
}

/// Pseudorandom numbers (xorshift64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Changes nothing, a byte, or a number in a header.
    fn change(&mut self, entry: Entry) -> Entry {
        match self.below(4) {
            0 | 1 => entry,
            2 => entry.put(self.one(PLACES), &[self.one(BYTES)]),
            _ => {
                let (at, length) = self.one(&NUMERIC);
                entry.put(at, &field(self.one(NUMBERS), length))
            }
        }
    }
}

#[test]
#[ignore = "takes minutes, and finds only cases that no other test has"]
fn a_tar_with_random_changes_is_read_the_same_by_all_tools() {
    if !is_long() {
        return;
    }
    let seed = std::env::var("RA_PACK_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut chance = Chance(seed);
    let mut judge = Judge::new();
    for number in 0..20_000 {
        let magic = chance.one(&MAGICS);
        let typeflag = chance.one(b"0000\x005577");
        let name = chance.one::<&[u8]>(&[b"f", b"f", b"f/", b"./f", b"d/f", b""]);
        let data = victim(magic, b"f").data;
        let length = chance.one(&[0, 1, 512, data.len()]);
        let length = if matches!(typeflag, b'5') { 0 } else { length };
        let mut entry = chance.change(Entry::new(magic, name, typeflag, &data[..length]));
        for _ in 0..chance.below(3) {
            let (key, value) = chance.one(RECORDS);
            let mut extension = match chance.below(3) {
                0 => long(chance.one(b"LLLK"), chance.one(LONG_NAMES)),
                _ => extensions(&pax_record(key, value))[chance.below(5)].0.clone(),
            };
            extension = chance.change(extension);
            entry = entry.after(&extension);
        }
        judge.judge(&format!("number {number} of seed {seed}"), magic, &entry);
    }
    judge.assert_agreed(1000);
}
