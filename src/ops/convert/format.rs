//! The formats that arrays are converted from and to, and how each is read and written.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::foreign::{self, WriteOne};
use super::{ArraySink, ConvertOptions, Destination, SourceArrays, rawarray, sink, tree};
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::fs;
use crate::ops::plain_arrays::PAGE;
use crate::path::escape;

/// A form that arrays come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArrayFormat {
    /// One RawArray file, with its description beside it.
    Ra,
    /// One array of numpy.
    Npy,
    /// Several arrays of numpy in a zip.
    Npz,
    /// The variables of one file of ds-format.
    Ds,
    /// A picture.
    Png,
    /// The elements of one array alone, little-endian, in the order of the file; only written.
    Raw,
    /// Numbers of one or two dimensions as text: a line for each first index. Not a number and the infinities
    /// are `nan`, `inf` and `-inf`. Only written.
    Csv,
    /// Numbers as nested lists, the outermost for the first index. Not a number and the infinities are the
    /// strings `"NaN"`, `"Infinity"` and `"-Infinity"`, and integers of 16 bytes are strings. Only written.
    Json,
    /// A directory of RawArray files and descriptions, or an archive of one.
    Pack(Container),
}

type OpenSource = fn(&Path, &ConvertOptions) -> Result<SourceArrays>;
type Begin = for<'o> fn(&Destination<'o>) -> Result<ArraySink<'o>>;

/// A row of the table of formats.
pub(super) struct FormatRow {
    format: ArrayFormat,
    /// Its word, which is also the extension of a file.
    word: &'static str,
    /// How it is read, unless it is only written.
    open: Option<OpenSource>,
    pub(super) begin: Begin,
    /// How a single array is written to a stream.
    write: Option<WriteOne>,
}

/// Every format.
const FORMATS: [FormatRow; 13] = [
    row(ArrayFormat::Ra, "ra", Some(rawarray::open_file), sink::begin_file, None),
    row(ArrayFormat::Npy, "npy", Some(foreign::open_npy), SINGLE, Some(foreign::WRITE_NPY)),
    row(ArrayFormat::Npz, "npz", Some(foreign::open_npz), foreign::begin_npz, None),
    row(ArrayFormat::Ds, "ds", Some(foreign::open_ds), foreign::begin_ds, None),
    row(ArrayFormat::Png, "png", Some(foreign::open_png), SINGLE, Some(foreign::WRITE_PNG)),
    row(ArrayFormat::Raw, "raw", None, SINGLE, Some(foreign::WRITE_RAW)),
    row(ArrayFormat::Csv, "csv", None, SINGLE, Some(foreign::WRITE_CSV)),
    row(ArrayFormat::Json, "json", None, SINGLE, Some(foreign::WRITE_JSON)),
    pack("directory", Container::Directory, tree::open_directory),
    pack("zip", Container::Zip, rawarray::open_pack),
    pack("tar", Container::Tar, rawarray::open_pack),
    pack("tar.gz", Container::TarGz, rawarray::open_pack),
    pack("tar.zst", Container::TarZst, rawarray::open_pack),
];

const SINGLE: Begin = foreign::begin_single;

const fn row(
    format: ArrayFormat,
    word: &'static str,
    open: Option<OpenSource>,
    begin: Begin,
    write: Option<WriteOne>,
) -> FormatRow {
    FormatRow { format, word, open, begin, write }
}

const fn pack(word: &'static str, container: Container, open: OpenSource) -> FormatRow {
    row(ArrayFormat::Pack(container), word, Some(open), sink::begin_pack, None)
}

impl ArrayFormat {
    pub(super) fn row(self) -> &'static FormatRow {
        FORMATS.iter().find(|row| row.format == self).expect("the table has every format")
    }

    /// How a single array is written to a stream.
    pub(super) fn writer(self) -> WriteOne {
        self.row().write.expect("only formats of one array are written so")
    }

    /// Reads what there is at `path`, but for the elements.
    pub(super) fn open(self, path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
        let open = self.row().open.ok_or_else(|| {
            Error::Unsupported(format!("a .{self} is only written, and cannot be read"))
        })?;
        open(path, options)
    }

    /// The format of a file in a tree, when arrays can be read out of it: by its name alone.
    pub(super) fn in_tree(path: &Path) -> Option<Self> {
        let format = Self::from_extension(path)?;
        let is_read = format.row().open.is_some() && !matches!(format, Self::Pack(_));
        is_read.then_some(format)
    }

    /// The words of all formats.
    pub fn words() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().map(|row| row.word)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// The format that the extension of a file's name stands for.
    pub fn from_extension(path: &Path) -> Option<Self> {
        if let Some(container) = Container::from_extension(path) {
            return Some(Self::Pack(container));
        }
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let mut files =
            FORMATS.iter().filter(|row| !matches!(row.format, Self::Pack(_) | Self::Raw));
        files.find(|row| row.word == extension).map(|row| row.format)
    }

    /// The format of the input at `path`.
    pub(super) fn of_input(path: &Path) -> Result<Self> {
        refuse_stream(path)?;
        if fs::is_directory(path)? {
            return Ok(Self::Pack(Container::Directory));
        }
        if let Some(format) =
            Self::from_extension(path).filter(|format| format.row().open.is_some())
        {
            return Ok(format);
        }
        // A file with a format may have any name.
        let kind = fs::kind_of(path)?;
        let has_format =
            [FileKind::RawArray, FileKind::Npy, FileKind::Ds, FileKind::Png, FileKind::Unknown];
        if !has_format.contains(&kind) && !kind.may_hold_a_pack() {
            return Err(Error::Unsupported(format!(
                "`{}` is {kind}, which ra-pack cannot read; see {PAGE} for a way to convert it",
                escape(&path.to_string_lossy())
            )));
        }
        Err(unknown(path, "from", |row| row.open.is_some()))
    }

    /// The format of the output at `path`: a directory when it is one, ends in a slash or has no extension.
    pub(super) fn of_output(path: &Path) -> Result<Self> {
        refuse_stream(path)?;
        let last = path.as_os_str().as_encoded_bytes().last();
        let ends_in_slash = last.is_some_and(|last| std::path::is_separator(char::from(*last)));
        let is_there = fs::is_directory(path).is_ok_and(|is_there| is_there);
        if ends_in_slash || path.extension().is_none() || is_there {
            return Ok(Self::Pack(Container::Directory));
        }
        Self::from_extension(path).ok_or_else(|| unknown(path, "to", |_| true))
    }

    /// Whether its arrays are RawArray files.
    pub(super) fn is_rawarray(self) -> bool {
        matches!(self, Self::Ra | Self::Pack(_))
    }

    /// Whether it holds any number of arrays, by name.
    pub(in crate::ops) fn holds_many(self) -> bool {
        matches!(self, Self::Npz | Self::Ds | Self::Pack(_))
    }

    /// Whether it always has the last index fastest.
    pub(super) fn is_row_only(self) -> bool {
        matches!(self, Self::Ds | Self::Png | Self::Csv | Self::Json)
    }
}

/// Refuses `-`, the standard input or output, where nobody can go back.
fn refuse_stream(path: &Path) -> Result<()> {
    if path.as_os_str() != "-" {
        return Ok(());
    }
    Err(Error::Unsupported(
        "arrays are converted from file to file, and `-` is none; give a path, or `./-` for a file that is called so".to_owned(),
    ))
}

fn unknown(path: &Path, option: &str, is_meant: fn(&FormatRow) -> bool) -> Error {
    let words: Vec<_> = FORMATS.iter().filter(|row| is_meant(row)).map(|row| row.word).collect();
    Error::Unsupported(format!(
        "the name of `{}` does not say what form it has; give the option `{option}` with one of {}",
        escape(&path.to_string_lossy()),
        words.join(", ")
    ))
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

/// A word that names no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {}", ArrayFormat::words().collect::<Vec<_>>().join(", "))]
pub struct UnknownFormat;

impl FromStr for ArrayFormat {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        let row = FORMATS.iter().find(|row| row.word == word);
        row.map(|row| row.format).ok_or(UnknownFormat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_form() {
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
