//! What a file is by its first bytes.

use std::fmt;

/// Bytes from the beginning of a file that say what it is: the magic of a tar is the furthest.
pub(crate) const SNIFFED: usize = 512;

/// What a file is, as far as its first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A directory.
    Directory,
    /// A file without bytes.
    Empty,
    /// Text in UTF-8.
    Text,
    /// A RawArray file.
    RawArray,
    /// An array of NumPy.
    Npy,
    /// A file of ds-format.
    Ds,
    /// A PNG picture.
    Png,
    /// A zip file.
    Zip,
    /// A zip file whose first member is an array of NumPy, as in an `.npz`. A pack may begin so, too.
    Npz,
    /// A tar file.
    Tar,
    /// A file compressed with gzip.
    Gzip,
    /// A file compressed with Zstandard.
    Zstd,
    /// A file of another known format, by its name with an article: `an HDF5 file`.
    Other(&'static str),
    /// A file that begins with nothing known.
    Unknown,
}

/// Where the first bytes of a format are, and what they are. The first row that fits counts.
const MAGIC: &[(usize, &[u8], FileKind)] = &[
    // The name of the first member begins a tar, and may look like anything.
    (257, b"ustar", FileKind::Tar),
    (0, b"PK\x03\x04", FileKind::Zip),
    // Without members.
    (0, b"PK\x05\x06", FileKind::Zip),
    // The first of several parts.
    (0, b"PK\x07\x08", FileKind::Zip),
    (0, b"\x1f\x8b", FileKind::Gzip),
    (0, b"\x28\xb5\x2f\xfd", FileKind::Zstd),
    (0, b"rawarray", FileKind::RawArray),
    (0, b"\x93NUMPY", FileKind::Npy),
    (0, b"ds-1.0\n", FileKind::Ds),
    (0, b"\x89HDF\r\n\x1a\n", FileKind::Other("an HDF5 file")),
    (0, b"CDF\x01", FileKind::Other("a NetCDF file")),
    (0, b"CDF\x02", FileKind::Other("a NetCDF file")),
    (0, b"CDF\x05", FileKind::Other("a NetCDF file")),
    (0, b"SIMPLE  ", FileKind::Other("a FITS file")),
    (0, b"PAR1", FileKind::Other("a Parquet file")),
    (0, b"MATLAB 5", FileKind::Other("a MATLAB file")),
    (0, b"MATLAB 7", FileKind::Other("a MATLAB file")),
    (0, b"\x89PNG\r\n\x1a\n", FileKind::Png),
    (0, b"\xff\xd8\xff", FileKind::Other("a JPEG picture")),
    (0, b"%PDF-", FileKind::Other("a PDF document")),
    (0, b"\xfd7zXZ\x00", FileKind::Other("a file compressed with xz")),
    // After the size of its blocks.
    (4, b"1AY&SY", FileKind::Other("a file compressed with bzip2")),
    (0, b"7z\xbc\xaf\x27\x1c", FileKind::Other("a 7-Zip archive")),
];

impl FileKind {
    /// The kind of a file that begins with `start`: [`SNIFFED`] bytes, or all of a shorter file.
    pub(crate) fn of(start: &[u8]) -> Self {
        let fits =
            |at: usize, magic: &[u8]| start.get(at..).is_some_and(|rest| rest.starts_with(magic));
        if let Some((_, _, kind)) = MAGIC.iter().find(|(at, magic, _)| fits(*at, magic)) {
            return if begins_with_npy(start) { Self::Npz } else { *kind };
        }
        match start {
            [] => Self::Empty,
            // A skippable frame, with which a parallel compressor may begin.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            text if is_text(text) => Self::Text,
            _ => Self::Unknown,
        }
    }

    /// Whether the first bytes are those of a format that no pack is in. Damage does not make such bytes, while
    /// it may well leave text or nothing known.
    pub(crate) fn is_of_another_format(self) -> bool {
        !self.may_hold_a_pack() && !matches!(self, Self::Empty | Self::Text | Self::Unknown)
    }

    /// Whether the first bytes are those of a format that no array is in, so that a file called one never was.
    pub(crate) fn is_never_an_array(self) -> bool {
        !matches!(self, Self::RawArray | Self::Empty | Self::Text | Self::Unknown)
    }

    /// Whether a pack may be in it.
    pub(crate) fn may_hold_a_pack(self) -> bool {
        let packed = matches!(self, Self::Zip | Self::Npz | Self::Tar | Self::Gzip | Self::Zstd);
        packed || self == Self::Directory
    }

    /// Its name with an article; nothing for what has no name.
    fn words(self) -> Option<&'static str> {
        Some(match self {
            Self::Directory => "a directory",
            Self::Empty => "an empty file",
            Self::Text => "a text file",
            Self::RawArray => "a RawArray file",
            Self::Npy => "a NumPy file",
            Self::Ds => "a file of ds-format",
            Self::Png => "a PNG picture",
            Self::Zip => "a zip file",
            Self::Npz => "a zip of NumPy arrays",
            Self::Tar => "a tar file",
            Self::Gzip => "a file compressed with gzip",
            Self::Zstd => "a file compressed with Zstandard",
            Self::Other(words) => words,
            Self::Unknown => return None,
        })
    }

    /// That a file of this kind is not `wanted`: `a text file, not a pack`.
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

/// Whether the bytes begin a zip whose first member is an array of NumPy.
fn begins_with_npy(start: &[u8]) -> bool {
    /// Where the length of the name is in the header of a member, and where the name is.
    const LENGTH: usize = 26;
    const NAME: usize = 30;
    let Some([low, high]) = start.get(LENGTH..LENGTH + 2) else { return false };
    let end = NAME + usize::from(u16::from_le_bytes([*low, *high]));
    start.starts_with(b"PK\x03\x04")
        && start.get(NAME..end).is_some_and(|name| name.ends_with(b".npy"))
}

/// Whether the bytes are UTF-8, of which the last letter may be cut, without those that no text has.
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
    fn the_first_bytes_say_what_a_file_is() {
        let mut tar = b"rawarray/a".to_vec();
        tar.resize(257, 0);
        tar.extend(b"ustar\x0000");
        for (start, kind) in [
            (&b""[..], FileKind::Empty),
            (b"rawarray\0\0", FileKind::RawArray),
            (b"\x93NUMPY\x01\0v\0", FileKind::Npy),
            (b"\x89HDF\r\n\x1a\n\0", FileKind::Other("an HDF5 file")),
            (b"CDF\x01\0", FileKind::Other("a NetCDF file")),
            (b"CDF\x03\0", FileKind::Unknown),
            (b"PK\x03\x04\x0a", FileKind::Zip),
            (b"PK\x03\x04..........................\x05\0\0\0a.npy", FileKind::Zip),
            (b"PK\x03\x04......................\x05\0\0\0a.npy", FileKind::Npz),
            (b"\x5a\x2a\x4d\x18", FileKind::Zstd),
            (b"\x28\xb5\x2f\xfd\x04", FileKind::Zstd),
            (&tar, FileKind::Tar),
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
    fn a_kind_without_a_name_is_said_not_to_be_what_is_wanted() {
        assert_eq!(FileKind::of(b"\x89HDF\r\n\x1a\n").not("a pack"), "an HDF5 file, not a pack");
        assert_eq!(FileKind::Unknown.not("a pack"), "not a pack");
    }
}
