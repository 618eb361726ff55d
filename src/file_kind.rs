//! Kinds of files, recognized by their first bytes.

use std::fmt;

/// Number of bytes to read from the beginning of a file; the first header of a tar is the longest beginning.
pub(crate) const SNIFFED: usize = 512;

/// The kind of a file, according to its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A directory.
    Directory,
    /// A file of length 0.
    Empty,
    /// Text in UTF-8.
    Text,
    /// A RawArray file.
    RawArray,
    /// A NumPy `.npy` file.
    Npy,
    /// A ds-format file.
    Ds,
    /// A PNG picture.
    Png,
    /// A NetCDF-3 file: classic, 64-bit offset or 64-bit data.
    NetCdf,
    /// An HDF5 file, such as one of NetCDF-4.
    Hdf5,
    /// A zip file.
    Zip,
    /// A zip file whose first member is a `.npy` file, as in an `.npz`. A pack can also begin like this.
    Npz,
    /// A tar file.
    Tar,
    /// A file compressed with gzip.
    Gzip,
    /// A file compressed with Zstandard.
    Zstd,
    /// A file of another known format, with its article: `an HDF5 file`.
    Other(&'static str),
    /// A file of unknown format.
    Unknown,
}

/// The first bytes of an HDF5 file.
pub(crate) const HDF5_MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Offset, magic number and kind. The first match counts.
const MAGIC: &[(usize, &[u8], FileKind)] = &[
    (0, b"PK\x03\x04", FileKind::Zip),
    // An archive without members.
    (0, b"PK\x05\x06", FileKind::Zip),
    // The first part of a split archive.
    (0, b"PK\x07\x08", FileKind::Zip),
    (0, b"\x1f\x8b", FileKind::Gzip),
    (0, b"\x28\xb5\x2f\xfd", FileKind::Zstd),
    (0, b"rawarray", FileKind::RawArray),
    (0, b"\x93NUMPY", FileKind::Npy),
    (0, b"ds-1.0\n", FileKind::Ds),
    (0, HDF5_MAGIC, FileKind::Hdf5),
    (0, b"CDF\x01", FileKind::NetCdf),
    (0, b"CDF\x02", FileKind::NetCdf),
    (0, b"CDF\x05", FileKind::NetCdf),
    (0, b"SIMPLE  ", FileKind::Other("a FITS file")),
    (0, b"PAR1", FileKind::Other("a Parquet file")),
    (0, b"MATLAB 5", FileKind::Other("a MATLAB file")),
    (0, b"MATLAB 7", FileKind::Other("a MATLAB file")),
    (0, b"\x89PNG\r\n\x1a\n", FileKind::Png),
    (0, b"\xff\xd8\xff", FileKind::Other("a JPEG picture")),
    (0, b"%PDF-", FileKind::Other("a PDF document")),
    (0, b"\xfd7zXZ\x00", FileKind::Other("a file compressed with xz")),
    // After the block size.
    (4, b"1AY&SY", FileKind::Other("a file compressed with bzip2")),
    (0, b"7z\xbc\xaf\x27\x1c", FileKind::Other("a 7-Zip archive")),
];

impl FileKind {
    /// Returns the kind of a file that begins with `start`: [`SNIFFED`] bytes, or the whole file if it is shorter.
    pub(crate) fn of(start: &[u8]) -> Self {
        // A tar begins with the name of its first member, which can look like any other format.
        if begins_with_tar(start) {
            return Self::Tar;
        }
        let fits =
            |at: usize, magic: &[u8]| start.get(at..).is_some_and(|rest| rest.starts_with(magic));
        if let Some((_, _, kind)) = MAGIC.iter().find(|(at, magic, _)| fits(*at, magic)) {
            return if begins_with_npy(start) { Self::Npz } else { *kind };
        }
        match start {
            [] => Self::Empty,
            // A skippable frame, which parallel compressors may write first.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            text if is_text(text) => Self::Text,
            _ => Self::Unknown,
        }
    }

    /// Returns whether the first bytes belong to a format that cannot contain a pack. Damage does not produce such
    /// bytes, but it can leave text or unknown bytes.
    pub(crate) fn is_of_another_format(self) -> bool {
        !self.may_hold_a_pack() && !matches!(self, Self::Empty | Self::Text | Self::Unknown)
    }

    /// Returns whether the first bytes belong to a format other than RawArray.
    pub(crate) fn is_never_an_array(self) -> bool {
        !matches!(self, Self::RawArray | Self::Empty | Self::Text | Self::Unknown)
    }

    /// Returns whether the file can be a pack.
    pub(crate) fn may_hold_a_pack(self) -> bool {
        let packed = matches!(self, Self::Zip | Self::Npz | Self::Tar | Self::Gzip | Self::Zstd);
        packed || self == Self::Directory
    }

    /// Returns the name of the kind with its article; `None` for an unknown format.
    fn words(self) -> Option<&'static str> {
        Some(match self {
            Self::Directory => "a directory",
            Self::Empty => "an empty file",
            Self::Text => "a text file",
            Self::RawArray => "a RawArray file",
            Self::Npy => "a NumPy file",
            Self::Ds => "a ds-format file",
            Self::Png => "a PNG picture",
            Self::NetCdf => "a NetCDF file",
            Self::Hdf5 => "an HDF5 file",
            Self::Zip => "a zip file",
            Self::Npz => "a zip of NumPy arrays",
            Self::Tar => "a tar file",
            Self::Gzip => "a file compressed with gzip",
            Self::Zstd => "a file compressed with Zstandard",
            Self::Other(words) => words,
            Self::Unknown => return None,
        })
    }

    /// Says that the file is not `wanted`: `a text file, not a pack`.
    pub(crate) fn not(self, wanted: &str) -> String {
        match self.words() {
            Some(words) => format!("{words}, not {wanted}"),
            None => format!("not {wanted}"),
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words().unwrap_or("a file of an unknown format"))
    }
}

/// Returns whether the bytes begin with the header of a tar: its magic, which text in another file may contain as well,
/// and the correct checksum.
fn begins_with_tar(start: &[u8]) -> bool {
    /// Offsets of the checksum, whose own bytes count as spaces, and of the magic.
    const CHECKSUM: std::ops::Range<usize> = 148..156;
    const MAGIC: usize = 257;
    let Some(block) = start.first_chunk::<SNIFFED>() else { return false };
    let sum = |of: fn(u8) -> i32| -> i32 {
        let byte = |(at, byte): (usize, &u8)| if CHECKSUM.contains(&at) { b' ' } else { *byte };
        block.iter().enumerate().map(byte).map(of).sum()
    };
    let digits = block[CHECKSUM].iter().skip_while(|byte| **byte == b' ');
    let digits = digits.take_while(|byte| matches!(byte, b'0'..=b'7'));
    let claimed = digits.fold(0, |sum: i32, digit| sum * 8 + i32::from(digit - b'0'));
    // Some old programs added signed bytes.
    let sums = [sum(i32::from), sum(|byte| i32::from(byte.cast_signed()))];
    block[MAGIC..].starts_with(b"ustar") && sums.contains(&claimed)
}

/// Returns whether the bytes begin a zip whose first member is a `.npy` file.
fn begins_with_npy(start: &[u8]) -> bool {
    /// Offsets of the length of the name and of the name in the header of a member.
    const LENGTH: usize = 26;
    const NAME: usize = 30;
    let Some([low, high]) = start.get(LENGTH..LENGTH + 2) else { return false };
    let end = NAME + usize::from(u16::from_le_bytes([*low, *high]));
    start.starts_with(b"PK\x03\x04")
        && start.get(NAME..end).is_some_and(|name| name.ends_with(b".npy"))
}

/// Returns whether the bytes are UTF-8 without control characters. The last character may be cut.
fn is_text(start: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(start) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && error.valid_up_to() > 0,
    };
    let is_control =
        |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c');
    is_utf8 && !start.iter().any(is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognized_by_their_first_bytes() {
        let mut tar = b"rawarray/a".to_vec();
        tar.resize(257, 0);
        tar.extend(b"ustar\x0000");
        tar.resize(SNIFFED, 0);
        let no_tar = tar.clone();
        // The sum of all bytes above, and of eight spaces.
        let sum: u32 = tar.iter().copied().map(u32::from).sum::<u32>() + 8 * 0x20;
        tar[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        for (start, kind) in [
            (&b""[..], FileKind::Empty),
            (b"rawarray\0\0", FileKind::RawArray),
            (b"\x93NUMPY\x01\0v\0", FileKind::Npy),
            (b"\x89HDF\r\n\x1a\n\0", FileKind::Hdf5),
            (b"CDF\x01\0", FileKind::NetCdf),
            (b"CDF\x03\0", FileKind::Unknown),
            (b"PK\x03\x04\x0a", FileKind::Zip),
            (b"PK\x03\x04..........................\x05\0\0\0a.npy", FileKind::Zip),
            (b"PK\x03\x04......................\x05\0\0\0a.npy", FileKind::Npz),
            (b"\x5a\x2a\x4d\x18", FileKind::Zstd),
            (b"\x28\xb5\x2f\xfd\x04", FileKind::Zstd),
            (&tar, FileKind::Tar),
            (&no_tar, FileKind::RawArray),
            (&tar[..511], FileKind::RawArray),
            (b"# A moor\n", FileKind::Text),
            ("tief und wei\u{df}".as_bytes(), FileKind::Text),
            (&"wei\u{df}".as_bytes()[..4], FileKind::Text),
            (b"\xff", FileKind::Unknown),
            (b"a\0b", FileKind::Unknown),
            (&[0; 16], FileKind::Unknown),
        ] {
            assert_eq!(FileKind::of(start), kind, "{start:?}");
        }
    }

    #[test]
    fn a_file_of_unknown_kind_is_only_not_wanted() {
        assert_eq!(FileKind::of(b"\x89HDF\r\n\x1a\n").not("a pack"), "an HDF5 file, not a pack");
        assert_eq!(FileKind::Unknown.not("a pack"), "not a pack");
    }
}
