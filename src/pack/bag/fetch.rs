//! `fetch.txt`: payload that is still to be fetched (RFC 8493 §2.2.3). Nothing here fetches it.

use std::collections::HashMap;

use super::MAX_FAULTS;
use super::fault::{BagFault, BagFaultKind, beginning};
use super::tag_text::{as_text, numbered_lines};
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
