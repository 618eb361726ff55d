//! The forms that arrays come in, and how a path says which it is.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::archive::Container;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::fs;
use crate::path::escape;

/// A form that arrays come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
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
    /// A directory of RawArray files and descriptions, or an archive of one.
    Pack(Container),
}

impl Form {
    const ALL: [(&str, Self); 10] = [
        ("ra", Self::Ra),
        ("npy", Self::Npy),
        ("npz", Self::Npz),
        ("ds", Self::Ds),
        ("png", Self::Png),
        ("directory", Self::Pack(Container::Directory)),
        ("zip", Self::Pack(Container::Zip)),
        ("tar", Self::Pack(Container::Tar)),
        ("tar.gz", Self::Pack(Container::TarGz)),
        ("tar.zst", Self::Pack(Container::TarZst)),
    ];

    /// The words of all forms.
    pub fn words() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(|(word, _)| word)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, form)| *form == self).map_or("", |(word, _)| word)
    }

    /// The form that the extension of a file's name stands for.
    pub fn from_extension(path: &Path) -> Option<Self> {
        if let Some(container) = Container::from_extension(path) {
            return Some(Self::Pack(container));
        }
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "ra" => Some(Self::Ra),
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "ds" => Some(Self::Ds),
            "png" => Some(Self::Png),
            _ => None,
        }
    }

    /// The form of what is at `path`.
    pub(super) fn of_input(path: &Path) -> Result<Self> {
        refuse_stream(path)?;
        if fs::is_directory(path)? {
            return Ok(Self::Pack(Container::Directory));
        }
        if let Some(form) = Self::from_extension(path) {
            return Ok(form);
        }
        let kind = fs::kind_of(path)?;
        match kind {
            // What has a form may be called as it likes.
            FileKind::RawArray
            | FileKind::Npy
            | FileKind::Ds
            | FileKind::Png
            | FileKind::Unknown => {}
            kind if kind.may_hold_a_pack() => {}
            kind => {
                return Err(Error::Unsupported(format!(
                    "`{}` is {kind}, which ra-pack cannot read; make an .npy or .npz of its arrays",
                    escape(&path.to_string_lossy())
                )));
            }
        }
        Err(unknown(path, "--from"))
    }

    /// The form of what shall be at `path`: a directory when it ends in a slash or has no extension.
    pub(super) fn of_output(path: &Path) -> Result<Self> {
        refuse_stream(path)?;
        let ends_in_slash = path.as_os_str().as_encoded_bytes().last().is_some_and(|last| {
            let last = char::from(*last);
            std::path::is_separator(last)
        });
        if ends_in_slash || path.extension().is_none() {
            return Ok(Self::Pack(Container::Directory));
        }
        Self::from_extension(path).ok_or_else(|| unknown(path, "--to"))
    }

    /// Whether its arrays are RawArray files.
    pub(super) fn is_rawarray(self) -> bool {
        matches!(self, Self::Ra | Self::Pack(_))
    }

    /// Whether it holds any number of arrays, by name.
    pub(super) fn holds_many(self) -> bool {
        matches!(self, Self::Npz | Self::Ds | Self::Pack(_))
    }
}

/// Whoever says `-` means the standard input or output, where nobody can go back.
fn refuse_stream(path: &Path) -> Result<()> {
    if path.as_os_str() != "-" {
        return Ok(());
    }
    Err(Error::Unsupported(
        "arrays are converted from file to file, and `-` is none; give a path, or `./-` for a file that is called so".to_owned(),
    ))
}

fn unknown(path: &Path, option: &str) -> Error {
    let words: Vec<_> = Form::words().collect();
    Error::Unsupported(format!(
        "the name of `{}` does not say what form it has; give {option} with one of {}",
        escape(&path.to_string_lossy()),
        words.join(", ")
    ))
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A word that names no form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {}", Form::words().collect::<Vec<_>>().join(", "))]
pub struct UnknownForm;

impl FromStr for Form {
    type Err = UnknownForm;

    fn from_str(word: &str) -> Result<Self, UnknownForm> {
        let named = Self::ALL.into_iter().find(|(known, _)| *known == word);
        named.map(|(_, form)| form).ok_or(UnknownForm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_form() {
        let output = |path: &str| Form::of_output(path.as_ref()).ok();
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
        assert!(Form::of_input("-".as_ref()).is_err());
        assert!("zap".parse::<Form>().is_err());
    }
}
