//! Names of members, checked when they are made.

pub(crate) mod url;

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A relative, `/`-separated, UTF-8 path without empty, `.` or `..` parts.
///
/// All names in a pack have this form in every container. The name is the same in the zip directory, the tar header,
/// the manifest and on disk (below the pack's root). Names are ordered by their bytes. Clones share the text.
///
/// ```
/// use ra_pack::path::MemberPath;
///
/// let path = MemberPath::new("run1/temperature.ra")?;
/// assert_eq!(path.parent(), Some("run1"));
/// assert_eq!(path.file_name(), "temperature.ra");
/// assert_eq!(path.stem(), "temperature");
/// assert!(MemberPath::new("../secret").is_err());
/// # Ok::<(), ra_pack::path::InvalidPath>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberPath(Arc<str>);

/// Maximum length of a name in bytes: the limit of the zip format.
pub const MAX_PATH_BYTES: usize = 65_535;

impl MemberPath {
    /// Checks `path` and keeps it unchanged.
    ///
    /// # Errors
    ///
    /// [`InvalidPath`] if `path` is empty, is absolute, has an empty, `.` or `..` part, contains a NUL or a backslash,
    /// begins with a drive letter, or is longer than [`MAX_PATH_BYTES`].
    pub fn new(path: impl Into<Arc<str>>) -> Result<Self, InvalidPath> {
        let path = path.into();
        match fault(&path) {
            None => Ok(Self(path)),
            Some(kind) => Err(InvalidPath { path: (*path).to_owned(), kind }),
        }
    }

    /// Checks a name that is given as bytes, as in archives and Unix directories.
    ///
    /// # Errors
    ///
    /// As [`MemberPath::new`], and if the bytes are not UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidPath> {
        match std::str::from_utf8(bytes) {
            Ok(path) => Self::new(path),
            Err(_) => Err(InvalidPath {
                path: String::from_utf8_lossy(bytes).into_owned(),
                kind: PathFault::NotUtf8,
            }),
        }
    }

    /// Returns the text, which clones may share.
    pub(crate) fn into_text(self) -> Arc<str> {
        self.0
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part before the last slash, or `None` if there is no slash.
    pub fn parent(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(parent, _)| parent)
    }

    /// Returns the part after the last slash.
    pub fn file_name(&self) -> &str {
        file_name(&self.0)
    }

    /// Returns the last part without its extension: the stem of `a/b.c.ra` is `b.c`.
    pub fn stem(&self) -> &str {
        split_extension(self.file_name()).0
    }

    /// Returns the text after the last dot of the last part. A leading dot does not begin an extension.
    pub fn extension(&self) -> Option<&str> {
        extension(&self.0)
    }

    /// Returns the path without its extension: `run1/t` for `run1/t.ra`.
    pub fn without_extension(&self) -> &str {
        match self.extension() {
            Some(extension) => self.0.split_at(self.0.len() - extension.len() - 1).0,
            None => &self.0,
        }
    }
}

/// Returns the last part of a name.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the extension of a name, as [`MemberPath::extension`] does.
pub(crate) fn extension(path: &str) -> Option<&str> {
    split_extension(file_name(path)).1
}

/// Returns whether [`MemberPath::new`] accepts a name.
pub(crate) fn is_valid(path: &str) -> bool {
    fault(path).is_none()
}

fn split_extension(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, Some(extension)),
        _ => (name, None),
    }
}

fn fault(path: &str) -> Option<PathFault> {
    let bytes = path.as_bytes();
    let drive = matches!(bytes, [drive, b':', ..] if drive.is_ascii_alphabetic());
    let faults = [
        (bytes.is_empty(), PathFault::Empty),
        (bytes.len() > MAX_PATH_BYTES, PathFault::TooLong),
        (bytes.contains(&0), PathFault::Nul),
        (bytes.contains(&b'\\'), PathFault::Backslash),
        (bytes.first() == Some(&b'/'), PathFault::Absolute),
        (drive, PathFault::Drive),
    ];
    let of_parts = || {
        bytes.split(|byte| *byte == b'/').find_map(|part| match part {
            b"" => Some(PathFault::EmptyPart),
            b"." => Some(PathFault::Dot),
            b".." => Some(PathFault::Climbs),
            _ => None,
        })
    };
    faults.into_iter().find_map(|(is_it, fault)| is_it.then_some(fault)).or_else(of_parts)
}

impl fmt::Display for MemberPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(&self.0).fmt(f)
    }
}

impl AsRef<str> for MemberPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for MemberPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// A name that is not valid for a member.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the name `{}` {kind}", escape(path))]
#[non_exhaustive]
pub struct InvalidPath {
    /// The name; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// The reason.
    pub kind: PathFault,
}

/// The reason why a name is not valid for a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// The name is empty.
    #[error("is empty")]
    Empty,
    /// The name is longer than [`MAX_PATH_BYTES`].
    #[error("is longer than {MAX_PATH_BYTES} bytes")]
    TooLong,
    /// It contains a NUL byte.
    #[error("contains a NUL byte")]
    Nul,
    /// It contains a backslash, which separates directories on Windows.
    #[error("contains a backslash")]
    Backslash,
    /// It begins with `/`.
    #[error("is absolute")]
    Absolute,
    /// It begins with a Windows drive letter.
    #[error("begins with a drive letter")]
    Drive,
    /// It has two slashes in a row, or one at the end.
    #[error("has an empty part")]
    EmptyPart,
    /// It has a `.` part.
    #[error("has a `.` part")]
    Dot,
    /// It has a `..` part.
    #[error("leaves its directory with `..`")]
    Climbs,
    /// Its bytes are not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
}

/// Returns the first characters of `text`, at most `most` bytes.
pub(crate) fn first_bytes(text: &str, most: usize) -> &str {
    let mut ends = (0..=text.len().min(most)).rev();
    ends.find_map(|end| text.get(..end)).expect("every text can be cut before its first character")
}

/// Escapes control, bidirectional and other invisible characters, so that text from a file cannot act on a terminal.
pub fn escape(text: &str) -> impl fmt::Display + '_ {
    Escaped(text.into())
}

/// Escapes a path as [`escape`] does. Bytes that are not UTF-8 are replaced, and secret parts of a URL are left out.
pub fn escape_path(path: &Path) -> impl fmt::Display + '_ {
    Escaped(url::shown(path))
}

struct Escaped<'a>(Cow<'a, str>);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_printable_ascii = |byte: &u8| matches!(byte, b' '..=b'~');
        if self.0.as_bytes().iter().all(is_printable_ascii) || !self.0.contains(is_unsafe) {
            return f.pad(&self.0);
        }
        let mut text = String::with_capacity(self.0.len());
        for character in self.0.chars() {
            if is_unsafe(character) {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        f.pad(&text)
    }
}

/// Returns whether [`escape`] escapes the character: controls, invisible characters, characters that reorder text, line
/// separators and noncharacters.
pub fn is_unsafe(character: char) -> bool {
    if matches!(character, ' '..='~') {
        return false;
    }
    character.is_control()
        || matches!(character,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FDD0}'..='\u{FDEF}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
        || u32::from(character) & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_ordinary_names_unchanged() {
        for name in ["a", "a/b.ra", "é/ü.yaml", "a b", "..a", "a..", "-x", "ab:c", "data/100%.ra"]
        {
            assert_eq!(MemberPath::new(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn names_that_could_leave_their_directory_are_rejected() {
        let cases = [
            ("", PathFault::Empty),
            ("/a", PathFault::Absolute),
            ("a//b", PathFault::EmptyPart),
            ("a/", PathFault::EmptyPart),
            ("./a", PathFault::Dot),
            ("a/.", PathFault::Dot),
            ("..", PathFault::Climbs),
            ("a/../b", PathFault::Climbs),
            ("a\\b", PathFault::Backslash),
            ("C:x", PathFault::Drive),
            ("a\0b", PathFault::Nul),
        ];
        for (name, kind) in cases {
            assert_eq!(MemberPath::new(name).unwrap_err().kind, kind, "{name:?}");
        }
        assert_eq!(MemberPath::from_bytes(b"\xff").unwrap_err().kind, PathFault::NotUtf8);
    }

    #[test]
    fn parts_of_a_path() {
        let path = MemberPath::new("a/b.c.ra").unwrap();
        assert_eq!((path.stem(), path.extension()), ("b.c", Some("ra")));
        assert_eq!(path.without_extension(), "a/b.c");
        let hidden = MemberPath::new(".hidden").unwrap();
        assert_eq!((hidden.stem(), hidden.extension()), (".hidden", None));
    }

    #[test]
    fn control_characters_of_terminals_are_escaped() {
        assert_eq!(escape("a\u{1b}[2Jb\u{202e}c\n").to_string(), "a\\u{1b}[2Jb\\u{202e}c\\n");
        assert_eq!(escape("Größe").to_string(), "Größe");
        assert!((' '..='~').all(|character| !is_unsafe(character)));
        for character in
            ['\u{9b}', '\u{7f}', '\u{ad}', '\u{feff}', '\u{e0041}', '\u{fe0f}', '\u{1ffff}']
        {
            assert!(is_unsafe(character), "{character:?}");
        }
        assert!(!['é', '\u{a0}', '\u{fffd}', '\u{10fffd}', '≠', '漢'].into_iter().any(is_unsafe));
    }
}
