//! The header of an `.npy` file: magic, version, length, and a Python dict that describes the data.

#![expect(
    clippy::indexing_slicing,
    reason = "indices of the three keys, and offsets in buffers made here"
)]

use std::io::Read;

use super::dtype::{Descr, extents, tuple};
use crate::interchange::FormatError;
use crate::interchange::literal::{self, Language, Literal};

/// The first six bytes of every file.
pub const MAGIC: [u8; 6] = *b"\x93NUMPY";

/// Length of the longest dict that is read, in bytes. NumPy stops at 10 000 by default.
pub const MAX_HEADER: u32 = 1 << 20;

/// The alignment of the data in bytes.
const ALIGN: usize = 64;

/// Most digits of the first length, so that a file can be extended without moving the data.
const GROWTH_DIGITS: usize = 21;

/// The header of an `.npy` file.
///
/// ```
/// use ra_pack::interchange::npy::NpyHeader;
///
/// let bytes = b"\x93NUMPY\x01\x00\x3c\0{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";
/// let header = NpyHeader::read(&mut &bytes[..])?;
/// assert_eq!((header.version, &*header.shape), ((1, 0), &[2, 3][..]));
/// assert_eq!(header.descr.to_string(), "'<f8'");
/// # Ok::<(), ra_pack::interchange::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpyHeader {
    /// The major and minor version.
    pub version: (u8, u8),
    /// The dtype of the elements.
    pub descr: Descr,
    /// Whether the array is column-major instead of row-major.
    pub fortran_order: bool,
    /// The length of each dimension, in the order of the indices.
    pub shape: Vec<u64>,
    /// The length of the header in bytes, which is the offset of the data.
    pub len: u64,
    /// The offset of the shape, for messages.
    pub(super) shape_at: u64,
}

impl NpyHeader {
    /// Returns the header that NumPy would write.
    pub(super) fn new(descr: Descr, fortran_order: bool, shape: Vec<u64>) -> Self {
        let (version, len) = ((1, 0), 0);
        let made = Self { version, descr, fortran_order, shape, len, shape_at: 0 };
        let (version, bytes) = made.written();
        Self { version, len: bytes.len() as u64, ..made }
    }

    /// Reads exactly the header; the next byte of `reader` is the first of the data.
    ///
    /// # Errors
    ///
    /// - [`FormatError::Io`] if the reader fails.
    /// - [`FormatError::Malformed`] if NumPy would not read the header (truncated, another version, not a dict with
    ///   exactly the three keys), or if the dict is longer than [`MAX_HEADER`].
    pub fn read(reader: &mut impl Read) -> Result<Self, FormatError> {
        let mut at = 0;
        // Allocates only as many bytes as exist.
        let mut take = |len: u32, what: &str| {
            let mut bytes = Vec::new();
            let found = reader.by_ref().take(len.into()).read_to_end(&mut bytes)?;
            at += found as u64;
            if found as u64 == u64::from(len) {
                return Ok((bytes, at));
            }
            let reason =
                format!("expected {what}, {len} bytes, found the end of the file after {found}");
            Err(FormatError::malformed(at, reason))
        };
        let (prefix, _) = take(8, "the magic and the version")?;
        let (magic, version) = prefix.split_at(MAGIC.len());
        if magic != MAGIC {
            let found = magic.escape_ascii();
            let reason = format!("expected the magic `\\x93NUMPY`, found `{found}`");
            return Err(FormatError::malformed(0, reason));
        }
        let (language, width) = match *version {
            [1, 0] => (Language::PythonLatin1, 2),
            [2, 0] => (Language::PythonLatin1, 4),
            [3, 0] => (Language::PythonUtf8, 4),
            _ => {
                let found = format!("{}.{}", version[0], version[1]);
                let reason = format!("expected version 1.0, 2.0 or 3.0, found {found}");
                return Err(FormatError::malformed(6, reason));
            }
        };
        let (len, begin) = take(width, "the length of the header")?;
        let len = len.iter().rev().fold(0, |len, byte| (len << 8) | u32::from(*byte));
        if len > MAX_HEADER {
            let reason = format!("expected a header of at most {MAX_HEADER} bytes, found {len}");
            return Err(FormatError::malformed(8, reason));
        }
        let (text, end) = take(len, "the header")?;
        let dict = literal::parse(&text, begin, language)?;
        Self::from_dict(&dict, (version[0], version[1]), end)
    }

    fn from_dict(dict: &Literal, version: (u8, u8), len: u64) -> Result<Self, FormatError> {
        const KEYS: [&str; 3] = ["descr", "fortran_order", "shape"];
        let mut values = [None; 3];
        for (key, value) in dict.entries("a dict")? {
            let expected = "`descr`, `fortran_order` or `shape`";
            let name = key.text(expected)?;
            let place = KEYS.iter().position(|known| *known == name);
            let place = place.ok_or_else(|| key.unexpected(expected))?;
            if values[place].replace(value).is_some() {
                let reason = format!("expected each key once, found {key} again");
                return Err(FormatError::malformed(key.offset, reason));
            }
        }
        let value = |place: usize| {
            values[place].ok_or_else(|| {
                let key = KEYS[place];
                let reason = format!("expected the key `{key}`, found a dict without it");
                FormatError::malformed(dict.offset, reason)
            })
        };
        let (descr, order, shape) = (value(0)?, value(1)?, value(2)?);
        let fortran_order = order.truth("`True` or `False`")?;
        let (descr, shape_at) = (Descr::parse(descr)?, shape.offset);
        Ok(Self { version, descr, fortran_order, shape: extents(shape)?, len, shape_at })
    }

    /// Encodes the header as NumPy does: in the oldest version that can represent it, with room for the first length to
    /// grow, padded with spaces to a multiple of 64 bytes.
    pub fn encode(&self) -> Vec<u8> {
        self.written().1
    }

    fn written(&self) -> ((u8, u8), Vec<u8>) {
        let (descr, shape) = (self.descr.to_string(), tuple(&self.shape));
        let order = if self.fortran_order { "True" } else { "False" };
        let mut text =
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        let grows = if self.fortran_order { self.shape.last() } else { self.shape.first() };
        if let Some(grows) = grows {
            let room = GROWTH_DIGITS - grows.to_string().len();
            text.extend(std::iter::repeat_n(' ', room));
        }
        let latin1: Option<Vec<u8>> =
            text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect();
        let (mut version, mut text) = match latin1 {
            Some(text) => ((1, 0), text),
            None => ((3, 0), text.into_bytes()),
        };
        // Pads the text with spaces, so that the data is aligned. If it already is, NumPy adds another 64 spaces.
        let padded = |width: usize| {
            let before = MAGIC.len() + 2 + width;
            text.len() + ALIGN - (before + text.len() + 1) % ALIGN
        };
        let mut len = padded(2) + 1;
        let is_short = version == (1, 0) && u16::try_from(len).is_ok();
        if !is_short {
            version.0 = version.0.max(2);
            len = padded(4) + 1;
        }
        let mut bytes = [&MAGIC[..], &[version.0, version.1]].concat();
        let claimed = u32::try_from(len).expect("no header has 4 GiB").to_le_bytes();
        bytes.extend_from_slice(&claimed[..if is_short { 2 } else { 4 }]);
        let end = bytes.len() + len;
        bytes.append(&mut text);
        bytes.resize(end - 1, b' ');
        bytes.push(b'\n');
        (version, bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::interchange::npy::dtype::{DtypeScalar, Field};
    use crate::interchange::npy::tests::any_descr;

    fn file(version: (u8, u8), text: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version.0, version.1]);
        match version.0 {
            1 => bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes()),
            _ => bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes()),
        }
        bytes.extend(text);
        bytes
    }

    fn fault(bytes: &[u8]) -> String {
        NpyHeader::read(&mut &*bytes).unwrap_err().to_string()
    }

    const F8: DtypeScalar = DtypeScalar {
        kind: crate::interchange::npy::DtypeKind::Float,
        order: crate::interchange::npy::ByteOrder::Little,
        size: 8,
    };

    #[test]
    fn the_bytes_are_those_of_numpy() {
        let header = NpyHeader::new(Descr::Scalar(F8), false, vec![2, 3]).encode();
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
        let expected = format!("{text}{}\n", " ".repeat(117 - text.len()));
        assert_eq!(header, file((1, 0), expected.as_bytes()));
        assert_eq!(header.len(), 128);
        let scalar = NpyHeader::new(Descr::Scalar(F8), false, vec![]).encode();
        let text = String::from_utf8_lossy(&scalar[10..]).into_owned();
        assert!(text.starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': (), } "));
        assert_eq!(scalar.len(), 128);
    }

    #[test]
    fn the_version_is_the_oldest_possible() {
        let field =
            |name: &str| Field { title: None, name: name.to_owned(), descr: Descr::Scalar(F8) };
        let version = |names: &[&str]| {
            let fields = names.iter().map(|name| field(name)).collect();
            let header = NpyHeader::new(Descr::Struct(fields), false, vec![1]);
            assert_eq!(header.len % 64, 0);
            assert_eq!(NpyHeader::read(&mut &*header.encode()).unwrap().descr, header.descr);
            header.version
        };
        assert_eq!(version(&["a"]), (1, 0));
        assert_eq!(version(&["caf\u{e9}"]), (1, 0));
        assert_eq!(version(&["\u{17e}lu\u{165}"]), (3, 0));
        assert_eq!(version(&[&"a".repeat(70_000)]), (2, 0));
        assert_eq!(version(&[&"\u{17e}".repeat(70_000)]), (3, 0));
    }

    #[test]
    fn the_length_is_that_of_the_version_at_the_edge_of_the_first() {
        for length in (65_300..65_540_usize).step_by(9) {
            let name = "a".repeat(length);
            let fields = vec![Field { title: None, name, descr: Descr::Scalar(F8) }];
            let header = NpyHeader::new(Descr::Struct(fields), false, vec![1]);
            let bytes = header.encode();
            assert_eq!(bytes.len() % 64, 0);
            assert_eq!(NpyHeader::read(&mut &*bytes).unwrap().version, header.version);
        }
    }

    #[test]
    fn invalid_headers_are_refused_with_an_offset() {
        assert!(fault(b"\x93NUMPZ\x01\0").starts_with("byte 0: expected the magic"));
        assert!(fault(b"\x93NUMPY\x04\0").starts_with("byte 6: expected version 1.0, 2.0 or 3.0"));
        assert!(fault(b"\x93NUMPY\x01\x01").starts_with("byte 6: expected version"));
        let huge = fault(b"\x93NUMPY\x02\0\xff\xff\xff\xff");
        assert_eq!(huge, "byte 8: expected a header of at most 1048576 bytes, found 4294967295");
        let cut = fault(b"\x93NUMPY\x01\0\x20\0{}");
        assert_eq!(
            cut,
            "byte 12: expected the header, 32 bytes, found the end of the file after 2"
        );
        let dict = |text: &str| fault(&file((1, 0), text.as_bytes()));
        for (text, at) in [
            ("", 10),
            ("[]", 10),
            ("{}", 10),
            ("{'descr': '<f8', 'fortran_order': False}", 10),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (), 'x': 1}", 64),
            ("{'shape': (), 'descr': '<f8', 'fortran_order': False, 'shape': ()}", 64),
            ("{'descr': '<f8', 'fortran_order': 0, 'shape': ()}", 44),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", 61),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': [1]}", 60),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (1.0,)}", 62),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,)}", 61),
            ("{'descr': 'x', 'fortran_order': False, 'shape': ()}", 20),
        ] {
            let fault = dict(text);
            assert!(fault.starts_with(&format!("byte {at}: expected ")), "{text}: {fault}");
        }
    }

    proptest! {
        #[test]
        fn a_written_header_is_read_back(
            descr in any_descr(),
            fortran_order in any::<bool>(),
            shape in vec(0..=u64::try_from(i64::MAX).unwrap(), 0..6),
        ) {
            let header = NpyHeader::new(descr, fortran_order, shape);
            let mut bytes = header.encode();
            let len = bytes.len();
            prop_assert_eq!(len % 64, 0);
            bytes.push(7);
            let mut rest = &*bytes;
            let read = NpyHeader::read(&mut rest).unwrap();
            prop_assert_eq!(rest, [7]);
            prop_assert_eq!(read.encode(), &bytes[..len]);
            let same = NpyHeader { shape_at: read.shape_at, ..header };
            prop_assert_eq!(read, same);
        }

        #[test]
        fn no_bytes_panic(text in vec(any::<u8>(), 0..80), version in 0..4_u8) {
            let _ = NpyHeader::read(&mut &*file((version, 0), &text));
        }
    }
}
