//! `fetch.txt`: payload that is still to be fetched (RFC 8493 §2.2.3). Nothing here fetches it.

use std::collections::HashMap;

use super::MAX_FAULTS;
use super::declaration::{BagVersion, as_text, numbered_lines};
use super::{BagFault, BagFaultKind, beginning};
use crate::manifest::{NameEncoding, decode_name};
use crate::path::MemberPath;

/// One file to be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchEntry {
    /// From where.
    pub url: String,
    /// Its length as claimed; nobody has measured it.
    pub length: Option<u64>,
    /// Where in the bag it belongs.
    pub path: MemberPath,
    /// The line that says so, counted from 1.
    pub line: u64,
}

/// Everything that is still to be fetched, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchList {
    entries: Vec<FetchEntry>,
}

impl FetchList {
    /// Reads a list; `text` is decoded, with LF at the ends of lines.
    pub fn parse(names: NameEncoding, text: &[u8]) -> (Self, Vec<BagFault>) {
        let mut list = Self::default();
        let mut faults = Vec::new();
        let text = match as_text(text) {
            Ok(text) => text,
            Err(fault) => return (list, vec![fault]),
        };
        let mut seen = HashMap::new();
        for (line, content) in numbered_lines(text) {
            if faults.len() >= MAX_FAULTS {
                faults.push(BagFault { line, kind: BagFaultKind::TooMany });
                break;
            }
            if content.trim().is_empty() {
                continue;
            }
            match entry(names, line, content, &mut faults) {
                Ok(entry) => {
                    if let Some(first) = seen.insert(entry.path.clone(), line) {
                        let found = entry.path.as_str().to_owned();
                        let kind = BagFaultKind::FetchRepeated { found, first };
                        faults.push(BagFault { line, kind });
                    }
                    list.entries.push(entry);
                }
                Err(kind) => faults.push(BagFault { line, kind }),
            }
        }
        (list, faults)
    }

    /// The entries.
    pub fn entries(&self) -> &[FetchEntry] {
        &self.entries
    }
}

fn entry(
    names: NameEncoding,
    line: u64,
    content: &str,
    faults: &mut Vec<BagFault>,
) -> Result<FetchEntry, BagFaultKind> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let form = || BagFaultKind::FetchLine { found: beginning(content) };
    let (url, rest) = content.split_once(BLANKS).ok_or_else(form)?;
    let (length, path) = rest.trim_start_matches(BLANKS).split_once(BLANKS).ok_or_else(form)?;
    let scheme = scheme(url).ok_or_else(|| BagFaultKind::FetchUrl { found: beginning(url) })?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        let kind = BagFaultKind::FetchScheme { found: beginning(url) };
        faults.push(BagFault { line, kind });
    }
    let digits = length.bytes().all(|byte| byte.is_ascii_digit());
    let length = match length {
        "-" => None,
        _ => Some(
            digits
                .then(|| length.parse().ok())
                .flatten()
                .ok_or_else(|| BagFaultKind::FetchLength { found: beginning(length) })?,
        ),
    };
    let path = decode_name(names, path.trim_start_matches(BLANKS));
    let path = MemberPath::new(&*path)?;
    if !path.as_str().starts_with("data/") {
        return Err(BagFaultKind::FetchOutside { found: beginning(path.as_str()) });
    }
    Ok(FetchEntry { url: url.to_owned(), length, path, line })
}

/// The scheme of an absolute URL (RFC 3986 §3.1).
fn scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once(':')?;
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_scheme =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(word);
    (is_scheme && !rest.is_empty()).then_some(scheme)
}

/// Something odd about one line of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManifestNote {
    /// The line, counted from 1.
    pub line: u64,
    /// What is odd.
    pub kind: ManifestNoteKind,
}

/// What can be odd about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestNoteKind {
    /// Written as `md5sum` and its siblings write, which a strict reader refuses (§6.1.3).
    Legacy,
    /// A `%` that encodes none of the three characters that are encoded (§2.1.3).
    Percent,
    /// A name that a shell would make into another.
    Shell,
}

/// Everything odd about the lines of a decoded manifest. Lines that are no lines of a manifest are
/// left to the parser of those.
pub fn manifest_notes(version: BagVersion, text: &[u8]) -> Vec<ManifestNote> {
    let mut notes = Vec::new();
    for (line, content) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        if notes.len() >= MAX_FAULTS {
            break;
        }
        let mut note = |kind| notes.push(ManifestNote { line, kind });
        let blank = content.iter().position(|byte| matches!(byte, b' ' | b'\t'));
        let Some(blank) = blank else {
            if content.starts_with(b"#") {
                note(ManifestNoteKind::Legacy);
            }
            continue;
        };
        let (digest, rest) = content.split_at(blank);
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let name = rest.get(blanks..).unwrap_or_default();
        if !digest.iter().all(u8::is_ascii_hexdigit)
            || name.starts_with(b"*")
            || name.starts_with(b"./")
        {
            note(ManifestNoteKind::Legacy);
        }
        if version == BagVersion::V1_0 && has_odd_percent(name) {
            note(ManifestNoteKind::Percent);
        }
        if name.starts_with(b"~") || is_variable(name) {
            note(ManifestNoteKind::Shell);
        }
    }
    notes
}

fn has_odd_percent(name: &[u8]) -> bool {
    memchr::memchr_iter(b'%', name).any(|at| {
        let code = name.get(at.saturating_add(1)..at.saturating_add(3)).unwrap_or_default();
        ![&b"0A"[..], b"0D", b"25"].iter().any(|known| code.eq_ignore_ascii_case(known))
    })
}

/// `%NAME%` at the beginning, which a shell of Windows replaces.
fn is_variable(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"%") else { return false };
    let end = memchr::memchr(b'%', rest).unwrap_or(0);
    let variable = rest.get(..end).unwrap_or_default();
    !variable.is_empty() && variable.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> (Vec<(Option<u64>, String)>, Vec<u64>) {
        let (list, faults) = FetchList::parse(NameEncoding::Percent, text.as_bytes());
        let entries = list.entries().iter();
        (
            entries.map(|entry| (entry.length, entry.path.as_str().to_owned())).collect(),
            faults.iter().map(|fault| fault.line).collect(),
        )
    }

    #[test]
    fn a_line_is_a_url_a_length_and_a_path() {
        let text = "https://example.org/a 12 data/a b\nhttp://example.org/b\t-\tdata/%25\n";
        let expected = vec![(Some(12), "data/a b".to_owned()), (None, "data/%".to_owned())];
        assert_eq!(parse(text), (expected, vec![]));
    }

    #[test]
    fn every_fault_has_its_line() {
        for line in [
            "https://example.org/a",
            "https://example.org/a 12",
            "example.org/a 12 data/a",
            "https://example.org/a x data/a",
            "https://example.org/a -1 data/a",
            "https://example.org/a 99999999999999999999999 data/a",
            "https://example.org/a 1 bagit.txt",
            "https://example.org/a 1 data/../../etc/passwd",
            "https://example.org/a 1 /etc/passwd",
            "file:///etc/passwd 1 data/a",
        ] {
            assert_eq!(parse(&format!("http://e.org/ok - data/ok\n{line}\n")).1, [2], "{line}");
        }
        assert_eq!(parse("http://e.org/ok - data/ok\nhttp://e.org/ok - data/ok\n").1, [2]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = FetchList::parse(NameEncoding::Percent, &bytes);
        }
    }
}

#[cfg(test)]
mod lines_tests {
    use super::*;

    #[test]
    fn each_oddity_is_noted_with_its_line() {
        use ManifestNoteKind::{Legacy, Percent, Shell};
        let text = b"aa  data/a\naa *data/b\naa  ./data/c\n\\aa  data/d\nMD5 (data/e) = aa\n#\n\
            aa  data/100%25\naa  data/%0a%0D\naa  data/100%\naa  data/%41\naa  ~/x\naa  %HOME%/x\n";
        let notes = |version| {
            let notes = manifest_notes(version, text);
            notes.iter().map(|note| (note.line, note.kind)).collect::<Vec<_>>()
        };
        let legacy = [(2, Legacy), (3, Legacy), (4, Legacy), (5, Legacy), (6, Legacy)];
        let percent = [(9, Percent), (10, Percent)];
        let shell = [(11, Shell), (12, Percent), (12, Shell)];
        assert_eq!(notes(BagVersion::V1_0), [&legacy[..], &percent, &shell].concat());
        assert_eq!(notes(BagVersion::V0_97), [&legacy[..], &[(11, Shell), (12, Shell)]].concat());
    }
}
