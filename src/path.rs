//! The name of a member: checked once, then known to be safe.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A relative, `/`-separated, UTF-8 path without empty, `.` or `..` parts.
///
/// Every name that a pack holds has this form, in whatever container it lies: the string in the
/// zip directory, the tar header, the manifest and on disk (below the pack's root) is the same.
/// Names order by their bytes. A clone shares the text: a pack has many names, and each is held in
/// several places.
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

/// Longest name that a zip or a PAX header is asked to carry: the zip format's own limit.
pub const MAX_PATH_BYTES: usize = 65_535;

impl MemberPath {
    /// Checks `path` and takes it over unchanged.
    ///
    /// # Errors
    ///
    /// When `path` is empty, absolute, has an empty, `.` or `..` part, holds a NUL or a backslash,
    /// begins with a drive letter, or is longer than [`MAX_PATH_BYTES`].
    pub fn new(path: impl Into<Arc<str>>) -> Result<Self, InvalidPath> {
        let path = path.into();
        match fault(&path) {
            None => Ok(Self(path)),
            Some(kind) => Err(InvalidPath { path: (*path).to_owned(), kind }),
        }
    }

    /// Checks a name that came as bytes, as archives and Unix directories give them.
    ///
    /// # Errors
    ///
    /// As [`MemberPath::new`], and when the bytes are not UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidPath> {
        match std::str::from_utf8(bytes) {
            Ok(path) => Self::new(path),
            Err(_) => Err(InvalidPath {
                path: String::from_utf8_lossy(bytes).into_owned(),
                kind: PathFault::NotUtf8,
            }),
        }
    }

    /// The text, which others may share.
    pub(crate) fn into_text(self) -> Arc<str> {
        self.0
    }

    /// The whole path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directory part, or `None` at the top.
    pub fn parent(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(parent, _)| parent)
    }

    /// The last part.
    pub fn file_name(&self) -> &str {
        file_name(&self.0)
    }

    /// The last part without its extension: `a/b.c.ra` has the stem `b.c`.
    pub fn stem(&self) -> &str {
        split_extension(self.file_name()).0
    }

    /// What follows the last dot of the last part; a leading dot starts no extension.
    pub fn extension(&self) -> Option<&str> {
        extension(&self.0)
    }

    /// The path without its extension: `run1/t.ra` gives `run1/t`.
    pub fn without_extension(&self) -> &str {
        match self.extension() {
            Some(extension) => self.0.split_at(self.0.len() - extension.len() - 1).0,
            None => &self.0,
        }
    }
}

/// The last part of a name.
fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// What follows the last dot of the last part of a name, as [`MemberPath::extension`].
pub(crate) fn extension(path: &str) -> Option<&str> {
    split_extension(file_name(path)).1
}

/// Whether a name is one that [`MemberPath::new`] takes.
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

/// A name that no member may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the name `{}` {kind}", escape(path))]
#[non_exhaustive]
pub struct InvalidPath {
    /// The name as found; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// What is wrong with it.
    pub kind: PathFault,
}

/// The fault of a name that no member may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// There is no name.
    #[error("is empty")]
    Empty,
    /// Longer than [`MAX_PATH_BYTES`].
    #[error("is longer than {MAX_PATH_BYTES} bytes")]
    TooLong,
    /// A NUL byte.
    #[error("holds a NUL byte")]
    Nul,
    /// A backslash: a separator on Windows, so one name would be two places.
    #[error("holds a backslash")]
    Backslash,
    /// Begins with `/`.
    #[error("is absolute")]
    Absolute,
    /// Begins with a Windows drive letter.
    #[error("begins with a drive letter")]
    Drive,
    /// Two slashes in a row, or one at the end.
    #[error("has an empty part")]
    EmptyPart,
    /// A `.` part.
    #[error("has a `.` part")]
    Dot,
    /// A `..` part.
    #[error("climbs out of its directory with `..`")]
    Climbs,
    /// Bytes that are not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
}

/// The first characters of `text`, at most `most` bytes of them.
pub(crate) fn first_bytes(text: &str, most: usize) -> &str {
    let mut ends = (0..=text.len().min(most)).rev();
    ends.find_map(|end| text.get(..end)).expect("every text can be cut before its first character")
}

/// Shows `text` with control, bidirectional and other invisible characters escaped, so that a name
/// or a value taken from a file cannot act on a terminal.
pub fn escape(text: &str) -> impl fmt::Display + '_ {
    Escaped(text.into())
}

/// The same for a path. Bytes that are not UTF-8 are replaced.
pub fn escape_path(path: &Path) -> impl fmt::Display + '_ {
    Escaped(path.to_string_lossy())
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

/// Whether [`escape`] escapes it: a control character, one that is invisible or reorders what is around it, a
/// separator of lines, or no character at all.
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
    fn refuses_every_name_that_could_leave_its_directory() {
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
    fn escapes_what_a_terminal_would_obey() {
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
