//! The formats that arrays are converted from and to, with their readers and writers.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::archive::Container;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::fs;
use crate::message::Message;
use crate::path::escape;
use crate::write::plain_arrays::SAVE;

/// A format of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArrayFormat {
    /// One RawArray file, with its description next to it.
    Ra,
    /// One NumPy array.
    Npy,
    /// Several NumPy arrays in a zip.
    Npz,
    /// The variables of one ds-format file.
    Ds,
    /// A PNG picture.
    Png,
    /// The variables of one `NetCDF` file of any version. Read-only.
    NetCdf,
    /// The datasets of one HDF5 file. Read-only.
    Hdf5,
    /// Only the elements of one array, little-endian, in the order of the file. Write-only.
    Raw,
    /// Numbers of one or two dimensions as text, one line for each first index. NaN and infinities are `nan`, `inf` and
    /// `-inf`. Write-only.
    Csv,
    /// Numbers as nested lists, the outermost for the first index. NaN and infinities are the strings `"NaN"`,
    /// `"Infinity"` and `"-Infinity"`; integers of 16 bytes are strings. Write-only.
    Json,
    /// A directory of RawArray files and descriptions, or an archive of one.
    Pack(Container),
}

/// All formats, each with its word, which is also the extension of files.
const FORMATS: [(ArrayFormat, &str); 15] = [
    (ArrayFormat::Ra, "ra"),
    (ArrayFormat::Npy, "npy"),
    (ArrayFormat::Npz, "npz"),
    (ArrayFormat::Ds, "ds"),
    (ArrayFormat::Png, "png"),
    (ArrayFormat::NetCdf, "nc"),
    (ArrayFormat::Hdf5, "h5"),
    (ArrayFormat::Raw, "raw"),
    (ArrayFormat::Csv, "csv"),
    (ArrayFormat::Json, "json"),
    (ArrayFormat::Pack(Container::Directory), "directory"),
    (ArrayFormat::Pack(Container::Zip), "zip"),
    (ArrayFormat::Pack(Container::Tar), "tar"),
    (ArrayFormat::Pack(Container::TarGz), "tar.gz"),
    (ArrayFormat::Pack(Container::TarZst), "tar.zst"),
];

/// Files that make a directory or a zip a Zarr store of version 2 or 3.
pub(super) const ZARR: [&str; 3] = ["zarr.json", ".zgroup", ".zarray"];

impl ArrayFormat {
    fn row(self) -> (Self, &'static str) {
        let row = FORMATS.into_iter().find(|(format, _)| *format == self);
        row.expect("the table contains every format")
    }

    fn is_read(self) -> bool {
        !matches!(self, Self::Raw | Self::Csv | Self::Json)
    }

    pub(super) fn is_written(self) -> bool {
        !matches!(self, Self::NetCdf | Self::Hdf5)
    }

    /// Returns the format of a file in a directory that is converted, according to its name only; `None` if it contains
    /// no arrays. A picture is one only if `images` is true.
    pub(super) fn in_tree(path: &Path, images: bool) -> Option<Self> {
        let format = Self::from_extension(path)?;
        let is_copied = matches!(format, Self::Pack(_)) || format == Self::Png && !images;
        (format.is_read() && !is_copied).then_some(format)
    }

    /// Returns the words of all formats.
    pub fn words() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().map(|(_, word)| *word)
    }

    /// Returns the word of the format, such as `npy`.
    pub fn word(self) -> &'static str {
        self.row().1
    }

    /// Returns the format for the extension of a file name.
    pub fn from_extension(path: &Path) -> Option<Self> {
        if let Some(container) = Container::from_extension(path) {
            return Some(Self::Pack(container));
        }
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*extension {
            "nc4" | "cdf" => Some(Self::NetCdf),
            "hdf5" | "he5" => Some(Self::Hdf5),
            word => word.parse().ok().filter(|format| !matches!(format, Self::Pack(_) | Self::Raw)),
        }
    }

    /// Returns the format of the input at `path`.
    pub(super) fn of_input(path: &Path) -> Result<Self> {
        refuse_stream(path)?;
        if fs::is_directory(path)? {
            if ZARR.iter().any(|name| fs::exists(&path.join(name))) {
                return Err(zarr_store(path));
            }
            return Ok(Self::Pack(Container::Directory));
        }
        if let Some(format) = Self::from_extension(path).filter(|format| format.is_read()) {
            return Ok(format);
        }
        // The content may have a known format under any name.
        let kind = fs::kind_of(path)?;
        let has_format = [
            FileKind::RawArray,
            FileKind::Npy,
            FileKind::Ds,
            FileKind::Png,
            FileKind::NetCdf,
            FileKind::Hdf5,
            FileKind::Unknown,
        ];
        if !has_format.contains(&kind) && !kind.may_hold_a_pack() {
            return Err(Error::unsupported(format!(
                "`{}` is {kind}, which ra-pack cannot read; {SAVE}",
                escape(&path.to_string_lossy())
            )));
        }
        Err(unknown(path, "from", Self::is_read))
    }

    /// Returns the format of the output at `path`. An existing directory, a trailing slash or a missing extension means
    /// a directory.
    pub(super) fn of_output(path: &Path) -> Result<Self> {
        refuse_stream(path)?;
        if names_directory(path) || path.extension().is_none() {
            return Ok(Self::Pack(Container::Directory));
        }
        Self::from_extension(path).ok_or_else(|| unknown(path, "to", Self::is_written))
    }

    /// Returns whether the format is one of another program, for one array.
    pub(super) fn is_single(self) -> bool {
        matches!(self, Self::Npy | Self::Png | Self::Raw | Self::Csv | Self::Json)
    }

    /// Returns whether the output is a directory for files of a format: it exists, or its name ends in a slash, or
    /// several arrays are written and the name has no extension.
    pub(super) fn is_directory(output: &Path, has_many: bool) -> bool {
        let is_meant = names_directory(output) || has_many && output.extension().is_none();
        is_meant && refuse_stream(output).is_ok()
    }

    /// Returns whether the arrays are RawArray files.
    pub(super) fn is_rawarray(self) -> bool {
        matches!(self, Self::Ra | Self::Pack(_))
    }

    /// Returns whether the format can contain several named arrays.
    pub(crate) fn holds_many(self) -> bool {
        matches!(self, Self::Npz | Self::Ds | Self::NetCdf | Self::Hdf5 | Self::Pack(_))
    }

    /// Returns whether arrays refer to the coordinates of their dimensions by the names of these arrays.
    pub(super) fn names_dimensions(self) -> bool {
        matches!(self, Self::Ds | Self::NetCdf | Self::Hdf5)
    }

    /// Returns whether the format always has the last index fastest.
    pub(super) fn is_row_only(self) -> bool {
        matches!(self, Self::Ds | Self::Png | Self::Csv | Self::Json)
    }
}

/// Returns whether a path ends in a slash or is that of an existing directory.
fn names_directory(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    last.is_some_and(|last| std::path::is_separator(char::from(*last)))
        || fs::is_directory(path).is_ok_and(|is_there| is_there)
}

/// Makes the error for a Zarr store.
pub(super) fn zarr_store(path: &Path) -> Error {
    Error::unsupported(format!(
        "`{}` is a Zarr store, which ra-pack cannot read; {SAVE}",
        escape(&path.to_string_lossy())
    ))
}

/// Rejects `-`, because standard input and output cannot seek.
fn refuse_stream(path: &Path) -> Result<()> {
    if path.as_os_str() != "-" {
        return Ok(());
    }
    Err(Error::options(
        "cannot convert standard input or output; use a path, or `./-` for a file named `-`"
            .to_owned(),
    ))
}

fn unknown(path: &Path, option: &'static str, is_meant: fn(ArrayFormat) -> bool) -> Error {
    let meant = FORMATS.iter().filter(|(format, _)| is_meant(*format));
    let words: Vec<_> = meant.map(|(_, word)| *word).collect();
    let path = escape(&path.to_string_lossy()).to_string();
    Error::options(
        Message::from(format!("the extension of `{path}` is not that of a known format; set "))
            .option(option)
            .text(format!(" to one of {}", words.join(", "))),
    )
}

impl fmt::Display for ArrayFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Serialize for ArrayFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A word that is not a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {}", ArrayFormat::words().collect::<Vec<_>>().join(", "))]
pub struct UnknownFormat;

impl FromStr for ArrayFormat {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        let row = FORMATS.iter().find(|(_, known)| *known == word);
        row.map(|(format, _)| *format).ok_or(UnknownFormat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_determines_the_format() {
        let output = |path: &str| ArrayFormat::of_output(path.as_ref()).ok();
        for (path, form) in [
            ("a.ra", "ra"),
            ("x/a.NPY", "npy"),
            ("a.npz", "npz"),
            ("a.b.ds", "ds"),
            ("a.png", "png"),
            ("a.tar.gz", "tar.gz"),
            ("a.tzst", "tar.zst"),
            ("a", "directory"),
            ("a.npy/", "directory"),
            ("a.b/c", "directory"),
        ] {
            assert_eq!(output(path), form.parse().ok(), "{path}");
        }
        assert_eq!(output("a.jpeg"), None);
        assert_eq!(output("-"), None);
        assert_eq!(output("./-"), "directory".parse().ok());
        assert!(ArrayFormat::of_input("-".as_ref()).is_err());
        assert!("zap".parse::<ArrayFormat>().is_err());
    }
}
