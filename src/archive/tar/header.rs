//! Strict parsing of tar header blocks. A header that readers interpret differently is rejected.

use std::ops::Range;

use super::{BLOCK, Fault, TIME_END, is_zero, printable};
use crate::finding::Code;

/// The fields of a header block that are needed to read a pack.
#[derive(Debug)]
pub(super) struct TarHeader {
    pub(super) typeflag: u8,
    pub(super) name: Vec<u8>,
    pub(super) link: Vec<u8>,
    pub(super) size: u64,
    /// A problem of the first field that some readers cannot parse, if it does not matter here.
    pub(super) odd: Option<String>,
}

/// Offsets of magic and version.
const MAGIC: Range<usize> = 257..265;

/// Offsets of the other fields that are read.
const SIZE: Range<usize> = 124..136;
const CHECKSUM: Range<usize> = 148..156;
const TYPEFLAG: Range<usize> = 156..157;
const NAME: Range<usize> = 0..100;
const LINK: Range<usize> = 157..257;
const PREFIX: Range<usize> = 345..500;

/// The end of messages about bytes that must be zeros.
const OTHERS: &str = "found other bytes, which other readers may interpret";

/// The reason for a number that does not fit its type.
const TOO_LARGE: &str = "is too large";

/// A text field: its name and its offsets.
type TextField = (&'static str, Range<usize>);

/// The text fields: those of every header, those added with the names of owners, and the one that only ustar has.
const TEXTS: [TextField; 5] = [
    ("name", NAME),
    ("link name", LINK),
    ("user name", 265..297),
    ("group name", 297..329),
    ("prefix", PREFIX),
];

/// Bytes that no header format uses.
const REST: Range<usize> = 500..512;

/// Numbers that do not matter here, with the values that every reader accepts.
const NUMBERS: [(&str, Range<usize>, Lesser); 6] = [
    ("mode", 100..108, Lesser::Octal),
    ("user", 108..116, Lesser::Owner),
    ("group", 116..124, Lesser::Owner),
    ("time", 136..148, Lesser::Time),
    ("device", 329..337, Lesser::Octal),
    ("device", 337..345, Lesser::Octal),
];

/// The range of a number that does not matter here, where it may be binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lesser {
    Octal,
    /// From 0 to 2^32 - 1.
    Owner,
    /// Before the year 10000, possibly before 1970.
    Time,
}

/// The header format, from its magic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeaderForm {
    Old,
    Gnu,
    Ustar,
}

impl HeaderForm {
    fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            b"ustar\x0000" => Some(Self::Ustar),
            b"ustar  \0" => Some(Self::Gnu),
            _ => is_zero(magic).then_some(Self::Old),
        }
    }

    /// Returns how many of [`TEXTS`] the header has. Readers interpret the other offsets differently: as a prefix, the
    /// map of a sparse file, or its size.
    fn texts(self) -> usize {
        match self {
            Self::Old => 2,
            Self::Gnu => 4,
            Self::Ustar => TEXTS.len(),
        }
    }
}

impl TarHeader {
    /// Parses `block`, which is not all zeros.
    pub(super) fn decode(block: &[u8; BLOCK]) -> Result<Self, Fault> {
        let wrong = |message| (Code::BadTarHeader, message);
        let bytes =
            |range: &Range<usize>| block.get(range.clone()).expect("the range is within a block");
        check_sum(block, bytes(&CHECKSUM))?;
        let magic = bytes(&MAGIC);
        let Some(form) = HeaderForm::of(magic) else {
            let found = printable(magic);
            let what = "the magic of a ustar, GNU or old tar header";
            return Err(wrong(format!("expected {what}, found `{found}`")));
        };
        let typeflag = bytes(&TYPEFLAG).first().copied().expect("the field has one byte");
        // Extensions came with ustar and GNU. Readers that check the magic take them for members otherwise.
        if form == HeaderForm::Old && is_extension(typeflag) {
            let typeflag = char::from(typeflag);
            let message = format!(
                "expected the magic of ustar or GNU in a header of type `{typeflag}`, found none"
            );
            return Err((Code::BadExtendedHeader, message));
        }
        let unused = |range: &Range<usize>| {
            let Range { start: first, end: after } = *range;
            if is_zero(bytes(range)) {
                Ok(())
            } else {
                let what = format!("zeros from byte {first} to byte {after} of a header");
                Err(wrong(format!("expected {what}, {OTHERS}")))
            }
        };
        let (texts, others) = TEXTS.split_at(form.texts());
        for (field, range) in texts {
            let mut after = bytes(range).iter().skip_while(|byte| **byte != 0);
            if after.any(|byte| *byte != 0) {
                let what = format!("zeros after the NUL that ends the {field} of a header");
                return Err(wrong(format!("expected {what}, {OTHERS}")));
            }
        }
        others.iter().try_for_each(|(_, range)| unused(range))?;
        unused(&REST)?;
        let odd = NUMBERS.iter().find_map(|(field, range, lesser)| {
            let reason = lesser.check(bytes(range)).err()?;
            Some(format!("the {field} field {reason}; some readers stop here"))
        });
        let text = |range| bytes(range).split(|byte| *byte == 0).next().unwrap_or_default();
        let name = match text(&PREFIX) {
            prefix if form == HeaderForm::Ustar && !prefix.is_empty() => {
                [prefix, b"/", text(&NAME)].concat()
            }
            _ => text(&NAME).to_vec(),
        };
        let link = text(&LINK).to_vec();
        let size =
            number(bytes(&SIZE)).map_err(|reason| wrong(format!("the size field {reason}")))?;
        Ok(Self { typeflag, name, link, size, odd })
    }
}

/// Returns whether a header of that type describes the next entry, or all later ones.
pub(super) fn is_extension(typeflag: u8) -> bool {
    matches!(typeflag, b'x' | b'g' | b'L' | b'K')
}

/// Checks the sum of all bytes, with the bytes of `field` counted as spaces.
fn check_sum(block: &[u8; BLOCK], field: &[u8]) -> Result<(), Fault> {
    let sum = |bytes: &[u8]| bytes.iter().copied().map(u64::from).sum::<u64>();
    let expected = sum(block) - sum(field) + sum(b"        ");
    // Only octal: not every reader accepts a binary checksum.
    if octal(field) == Ok(expected) {
        return Ok(());
    }
    let found = printable(field);
    let message = format!("expected a header with the checksum {expected:o}, found {found}");
    Err((Code::BadChecksum, message))
}

/// Returns whether some reader may accept a block as a tar header: its checksum is correct in the loosest format that
/// any reader accepts. Readers that accept more than octal digits also require a number as the size. Without that test,
/// one in thousands of compressed zips would be taken for a tar.
pub(crate) fn passes_for_header(block: &[u8]) -> bool {
    let Some(block) = block.first_chunk::<BLOCK>() else { return false };
    let (field, size) = (&block[CHECKSUM], &block[SIZE]);
    let is_octal = field.iter().all(|byte| matches!(byte, 0 | b' ' | b'0'..=b'7'));
    if !begins_as_number(field) || !(is_octal || begins_as_number(size)) {
        return false;
    }
    let spaced = block.iter().enumerate().map(|(at, byte)| match at {
        at if CHECKSUM.contains(&at) => b' ',
        _ => *byte,
    });
    let plain: i32 = spaced.clone().map(i32::from).sum();
    let signed: i32 = spaced.map(|byte| i32::from(byte.cast_signed())).sum();
    // Octal digits after spaces, with the separators that Python allows. No digits mean zero.
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'7');
    let digits = field.iter().skip_while(|byte| is_blank(**byte));
    let digits = digits.take_while(|byte| is_digit(byte) || matches!(byte, b'o' | b'O' | b'_'));
    let add_octal = |sum: i32, digit: &u8| sum * 8 + i32::from(digit & 7);
    let octal = digits.filter(|byte| is_digit(byte)).fold(0, add_octal);
    // A binary number, or the digits of an old GNU format.
    let [.., high, middle, low] = *field else { return false };
    let binary = i32::from_be_bytes([0, high, middle, low]);
    let add_64 = |sum: i32, byte: &u8| {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        sum.wrapping_mul(64).wrapping_add(digit.into())
    };
    let old = field.iter().skip(1).fold(0, add_64);
    let is_binary = field.first().is_some_and(|first| *first >= 0x80);
    let is_old = field.first() == Some(&b'+');
    [plain, signed]
        .iter()
        .any(|sum| octal == *sum || (is_binary && binary == *sum) || (is_old && old == *sum))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, 0 | b'\t'..=b'\r' | b' ')
}

/// Returns whether some reader accepts a field as a number: octal, blank, binary, or in an old GNU format.
fn begins_as_number(field: &[u8]) -> bool {
    let is_number =
        |byte: u8| is_blank(byte) || matches!(byte, b'0'..=b'7' | 0x80 | 0xff | b'+' | b'-');
    field.first().is_some_and(|first| is_number(*first))
}

/// Parses a numeric field: octal digits with leading spaces and trailing spaces or NULs, or a big-endian two's
/// complement number if the first bit is set. The error describes the field.
fn number(field: &[u8]) -> Result<u64, String> {
    match field.split_first() {
        Some((0x80, rest)) => rest
            .iter()
            .try_fold(0_u64, |value, &byte| Some(value.checked_mul(256)? | u64::from(byte)))
            .ok_or_else(|| TOO_LARGE.into()),
        Some((first, _)) if first & 0xc0 == 0xc0 => Err("is negative".into()),
        Some((first, _)) if first & 0x80 != 0 => Err(TOO_LARGE.into()),
        _ => octal(field),
    }
}

impl Lesser {
    /// Checks that every reader can parse the number in `field`. NULs alone are 0.
    fn check(self, field: &[u8]) -> Result<(), String> {
        let end = match self {
            _ if is_zero(field) => return Ok(()),
            Self::Octal => return octal(field).map(|_| ()),
            Self::Owner => 1 << 32,
            Self::Time if field.starts_with(&[0xff; 6]) => return Ok(()),
            // bsdtar writes a binary time 256 times too large, and the correct one in a PAX header.
            Self::Time => TIME_END << 8,
        };
        if number(field)? < end { Ok(()) } else { Err(TOO_LARGE.into()) }
    }
}

fn octal(field: &[u8]) -> Result<u64, String> {
    let wrong = || format!("is not a number in octal digits: `{}`", printable(field));
    let spaces = field.iter().take_while(|byte| **byte == b' ').count();
    let digits = field.split_at(spaces).1;
    let end = digits.iter().position(|byte| matches!(byte, b' ' | 0)).unwrap_or(digits.len());
    let (digits, after) = digits.split_at_checked(end).ok_or_else(wrong)?;
    if digits.is_empty() || after.iter().any(|byte| !matches!(byte, b' ' | 0)) {
        return Err(wrong());
    }
    digits.iter().try_fold(0_u64, |value, &digit| match digit {
        b'0'..=b'7' => {
            let value = value.checked_mul(8).ok_or(TOO_LARGE)?;
            Ok(value | u64::from(digit & 7))
        }
        _ => Err(wrong()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octal_fields_of_all_tar_programs_are_read() {
        for field in [&b"00000000017\0"[..], b"         17 ", b"17\0\0\0\0", b"17 \0", b"00000017"]
        {
            assert_eq!(number(field), Ok(15), "{field:?}");
        }
    }

    #[test]
    fn other_digits_are_not_octal() {
        let fields: [&[u8]; 9] =
            [b"", b"\0\0\0", b"    ", b"18\0", b"+17\0", b"-17\0", b"17\x0017", b"0x17", b"17 a"];
        for field in fields {
            let fault = number(field).unwrap_err();
            assert!(fault.starts_with("is not a number in octal digits: `"), "{field:?}");
        }
    }

    #[test]
    fn binary_fields_are_non_negative_and_fit() {
        assert_eq!(number(b"\x80\0\0\0\0\0\0\x02\0\0\0\0"), Ok(1 << 33));
        assert_eq!(number(b"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"), Ok(u64::MAX));
        assert_eq!(number(b"\x80\0\0\x01\0\0\0\0\0\0\0\0"), Err(TOO_LARGE.into()));
        assert_eq!(number(b"\x81\0\0\0\0\0\0\0\0\0\0\0"), Err(TOO_LARGE.into()));
        assert_eq!(number(&[0xff; 12]), Err("is negative".into()));
    }

    fn sealed(change: impl FnOnce(&mut [u8; BLOCK])) -> [u8; BLOCK] {
        let mut header = tar::Header::new_ustar();
        header.set_size(3);
        change(header.as_mut_bytes());
        header.set_cksum();
        *header.as_bytes()
    }

    #[test]
    fn every_flipped_bit_of_a_header_is_detected() {
        let good = sealed(|block| block[..4].copy_from_slice(b"a.ra"));
        assert_eq!(TarHeader::decode(&good).unwrap().name, b"a.ra");
        for bit in 0..BLOCK * 8 {
            let mut block = good;
            block[bit / 8] ^= 1 << (bit % 8);
            // The zero before or the NUL after the checksum may become a space, which other tars also write.
            let same = block[148] == b' ' || block[155] == b' ';
            assert_eq!(TarHeader::decode(&block).is_ok(), same, "bit {bit}");
        }
    }

    #[test]
    fn a_block_that_any_reader_accepts_passes_for_a_header() {
        // Only a name of four letters and a size are not zero: 8 spaces, 4 * 0x41, 10 * `0`, `3`, `0`.
        let mut block = [0; BLOCK];
        block[..4].copy_from_slice(b"AAAA");
        block[124..135].copy_from_slice(b"00000000003");
        block[156] = b'0';
        assert_eq!(8 * 0x20 + 4 * 0x41 + 12 * 0x30 + 3, 0o2107);
        let with = |checksum: &[u8; 8]| {
            let mut block = block;
            block[148..156].copy_from_slice(checksum);
            passes_for_header(&block)
        };
        // The last one is in base 64: 17 * 64 + 7.
        for checksum in [
            b"002107\0 ",
            b"   2107 ",
            b"\x002107\0\0\0",
            b"0o2_107\0",
            b"\t2107xxx",
            b"\x80\0\0\0\0\0\x04\x47",
            b"+AAAAARH",
        ] {
            assert!(with(checksum), "{checksum:?}");
        }
        for checksum in [b"002110\0 ", b"        ", b"\x80\0\0\0\0\0\0\0", b"+AAAAARI", &[0; 8]] {
            assert!(!with(checksum), "{checksum:?}");
        }
        assert!(!passes_for_header(&block[..511]));
        // The signed bytes of the rest add up to zero, as can happen in any compressed file.
        let mut random = [0; BLOCK];
        random[..2].fill(0x80);
        random[CHECKSUM].copy_from_slice(b"\x99abcdefg");
        assert!(!passes_for_header(&random));
        random[CHECKSUM].copy_from_slice(b"\0abcdefg");
        assert!(passes_for_header(&random));
        random[SIZE].fill(0x99);
        random[300..312].fill(0x67);
        assert!(!passes_for_header(&random));
        random[CHECKSUM].fill(0);
        assert!(passes_for_header(&random));
        // The sum of signed bytes, as old programs wrote it.
        block[0] = 0xff;
        block[148..156].copy_from_slice(b"002005\0 ");
        assert!(passes_for_header(&block));
        assert_eq!(TarHeader::decode(&block).unwrap_err().0, Code::BadChecksum);
    }

    #[test]
    fn only_the_three_known_magics_are_accepted() {
        let with = |magic: &[u8; 8]| {
            TarHeader::decode(&sealed(|block| block[MAGIC].copy_from_slice(magic)))
        };
        for magic in [b"ustar\x0000", b"ustar  \0", &[0; 8]] {
            assert!(with(magic).is_ok());
        }
        for magic in [b"ustar\x0001", b"ustar \0\0", b"vstar\x0000"] {
            assert!(with(magic).unwrap_err().1.starts_with("expected the magic of a ustar"));
        }
    }
}
