//! Reads, checks and writes the tag files of BagIt bags (RFC 8493, and the drafts from 0.93 on).
//!
//! Each parser takes bytes or text, and returns everything that could be read with a [`Finding`] for each problem. No
//! parser opens or fetches files.

pub(crate) mod lists;
#[cfg(feature = "full")]
pub(crate) mod profile;

use std::borrow::Cow;

pub(crate) use self::lists::PAYLOAD_OXUM;
pub use self::lists::{
    BagField, BagInfo, FetchEntry, PayloadOxum, manifest_notes, parse_fetch_list,
};

use super::BAG_DECLARATION;
use crate::finding::{Code, Finding};
use crate::manifest::{NameEncoding, beginning};
use crate::path::escape;

/// The metadata file of a bag (§2.2.2).
pub(crate) const BAG_INFO: &str = "bag-info.txt";
/// The metadata file before version 0.96.
pub(crate) const PACKAGE_INFO: &str = "package-info.txt";
/// The list of files to be fetched (§2.2.3).
pub(crate) const FETCH: &str = "fetch.txt";

/// Maximum size in bytes of the metadata or fetch list of a bag: a million lines.
pub(crate) const MAX_TAG_FILE: u64 = 256 * 1024 * 1024;

/// Most findings for one tag file: a hostile file must not turn every line into a finding.
const MAX_FAULTS: usize = 1000;

/// Returns a finding for a line of a tag file.
pub(crate) fn fault(code: Code, file: &str, line: u64, message: impl Into<String>) -> Finding {
    Finding::new(code, message).in_member(file).at_line(line)
}

/// Returns the finding for a tag file that is not text in its encoding.
pub(crate) fn not_text(encoding: TagEncoding, file: &str, line: u64) -> Finding {
    fault(Code::BadTagFile, file, line, format!("the file is not text in {}", encoding.name()))
}

fn byte_order_mark(file: &str) -> Finding {
    const MESSAGE: &str =
        "the file begins with a byte order mark, which a tag file in UTF-8 must not have";
    fault(Code::BadTagFile, file, 1, MESSAGE)
}

/// A version of BagIt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BagVersion {
    /// 0.93
    V0_93,
    /// 0.94
    V0_94,
    /// 0.95
    V0_95,
    /// 0.96
    V0_96,
    /// 0.97
    V0_97,
    /// 1.0: RFC 8493.
    V1_0,
}

impl BagVersion {
    /// Every version, oldest first.
    pub const ALL: [Self; 6] =
        [Self::V0_93, Self::V0_94, Self::V0_95, Self::V0_96, Self::V0_97, Self::V1_0];

    /// Returns the version number as a bag writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::V0_93 => "0.93",
            Self::V0_94 => "0.94",
            Self::V0_95 => "0.95",
            Self::V0_96 => "0.96",
            Self::V0_97 => "0.97",
            Self::V1_0 => "1.0",
        }
    }

    /// Returns the version with that number.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// Returns the encoding of names in manifests and `fetch.txt` of this version.
    pub fn name_encoding(self) -> NameEncoding {
        if self == Self::V1_0 { NameEncoding::Percent } else { NameEncoding::Verbatim }
    }
}

/// The declaration of a bag in `bagit.txt`. Fields are `None` if they are missing or unknown.
///
/// ```
/// use ra_pack::bag::{BagDeclaration, BagVersion};
///
/// let text = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
/// let (declaration, findings) = BagDeclaration::parse(text);
/// assert_eq!((declaration.version, findings), (Some(BagVersion::V1_0), vec![]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BagDeclaration {
    /// The version.
    pub version: Option<BagVersion>,
    /// The version as written in the file.
    pub stated_version: Option<String>,
    /// The encoding of the other tag files.
    pub encoding: Option<TagEncoding>,
    /// The encoding as written in the file.
    pub stated_encoding: Option<String>,
}

const VERSION: &str = "BagIt-Version";
const ENCODING: &str = "Tag-File-Character-Encoding";

/// The declaration of a bag of the newest version.
pub(crate) const DECLARATION: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

impl BagDeclaration {
    /// Reads `bagit.txt`, which is always in UTF-8.
    pub fn parse(bytes: &[u8]) -> (Self, Vec<Finding>) {
        let mut declaration = Self::default();
        let mut findings = Vec::new();
        let marked = bytes.strip_prefix(b"\xef\xbb\xbf");
        findings.extend(marked.map(|_| byte_order_mark(BAG_DECLARATION)));
        // Only two lines are parsed; any others are only counted.
        let plain = TagEncoding::Utf8.decode(marked.unwrap_or(bytes)).unwrap_or_default();
        let text = match as_text(&plain, BAG_DECLARATION) {
            Ok(text) => text,
            Err(finding) => {
                findings.push(*finding);
                return (declaration, findings);
            }
        };
        let mut push = |code, line, message| {
            findings.push(fault(code, BAG_DECLARATION, line, message));
        };
        let found = numbered_lines(text).count();
        if found != 2 {
            let message = format!("the declaration of a bag has two lines, found {found}");
            push(Code::BadBag, found.clamp(1, 3) as u64, message);
        }
        let lines: Vec<_> = numbered_lines(text).take(2).collect();
        let version = lines.first().and_then(|(_, line)| value(VERSION, line));
        declaration.stated_version = version.map(|(version, _)| beginning(version));
        declaration.version = version.and_then(|(version, _)| BagVersion::from_name(version));
        // Before 1.0, spaces around the colon were optional.
        let strict = declaration.version == Some(BagVersion::V1_0);
        for ((number, line), label) in lines.iter().zip([VERSION, ENCODING]) {
            if value(label, line).is_none_or(|(_, exact)| strict && !exact) {
                let message = format!("expected `{label}: `, found `{}`", escape(&beginning(line)));
                push(Code::BadBag, *number, message);
            }
        }
        if let (None, Some(found)) = (declaration.version, &declaration.stated_version) {
            let found = escape(found);
            let message = format!("unknown version `{found}`; ra-pack reads 0.93 to 0.97 and 1.0");
            push(Code::BadBag, 1, message);
        }
        if let Some((encoding, _)) = lines.get(1).and_then(|(_, line)| value(ENCODING, line)) {
            declaration.encoding = TagEncoding::from_name(encoding);
            let stated = beginning(encoding);
            if declaration.encoding.is_none() {
                let message = format!(
                    "the encoding `{}` is not supported; supported are UTF-8, UTF-16, UTF-16LE, UTF-16BE, \
                     ISO-8859-1 and US-ASCII",
                    escape(&stated)
                );
                push(Code::UnknownTagEncoding, 2, message);
            }
            declaration.stated_encoding = Some(stated);
        }
        (declaration, findings)
    }

    /// Returns the version whose rules apply: the newest if none or an unknown one is declared.
    pub fn rules(&self) -> BagVersion {
        self.version.unwrap_or(BagVersion::V1_0)
    }
}

/// Returns the value after a label, and whether exactly one space separates them.
fn value<'a>(label: &str, line: &'a str) -> Option<(&'a str, bool)> {
    let rest = line.strip_prefix(label)?;
    let value = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    let trimmed = value.trim_matches([' ', '\t']);
    let exact = rest.strip_prefix(": ") == Some(trimmed);
    Some((trimmed, exact && !trimmed.is_empty()))
}

/// The encoding of the tag files of a bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TagEncoding {
    /// UTF-8, without a byte order mark.
    #[default]
    Utf8,
    /// UTF-16 in the byte order of its byte order mark, big-endian without one.
    Utf16,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
    /// ISO-8859-1: each byte is the code point of one character.
    Latin1,
    /// US-ASCII.
    Ascii,
}

impl TagEncoding {
    /// Returns the encoding with that name in the IANA registry of character sets, ignoring case.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "UTF-8" | "UTF8" => Self::Utf8,
            "UTF-16" | "UTF16" => Self::Utf16,
            "UTF-16LE" => Self::Utf16Le,
            "UTF-16BE" => Self::Utf16Be,
            "ISO-8859-1" | "ISO_8859-1" | "ISO8859-1" | "LATIN1" => Self::Latin1,
            "US-ASCII" | "ASCII" => Self::Ascii,
            _ => return None,
        })
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16 => "UTF-16",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Latin1 => "ISO-8859-1",
            Self::Ascii => "US-ASCII",
        }
    }

    /// Decodes text to UTF-8 with every line end as LF; `None` if the bytes are not text in this encoding. UTF-8 is not
    /// checked here, because the parsers report the line of the invalid bytes.
    pub fn decode(self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
            let (pairs, rest) = bytes.as_chunks::<2>();
            let text =
                char::decode_utf16(pairs.iter().copied().map(unit)).collect::<Result<String, _>>();
            text.ok().filter(|_| rest.is_empty()).map(String::into_bytes)
        };
        let text: Cow<'_, [u8]> = match self {
            Self::Utf8 => bytes.into(),
            Self::Ascii => bytes.is_ascii().then_some(bytes)?.into(),
            Self::Latin1 => {
                bytes.iter().copied().map(char::from).collect::<String>().into_bytes().into()
            }
            Self::Utf16 if bytes.starts_with(b"\xff\xfe") => return Self::Utf16Le.decode(bytes),
            Self::Utf16Le => {
                utf16(bytes.strip_prefix(b"\xff\xfe").unwrap_or(bytes), u16::from_le_bytes)?.into()
            }
            Self::Utf16 | Self::Utf16Be => {
                utf16(bytes.strip_prefix(b"\xfe\xff").unwrap_or(bytes), u16::from_be_bytes)?.into()
            }
        };
        Some(with_plain_line_ends(text))
    }
}

/// Replaces CRLF and single CR by LF.
fn with_plain_line_ends(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\r', &text).is_none() {
        return text;
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = memchr::memchr(b'\r', rest) {
        let (line, end) = rest.split_at(at);
        plain.extend_from_slice(line);
        plain.push(b'\n');
        rest = end.strip_prefix(b"\r\n").or_else(|| end.strip_prefix(b"\r")).unwrap_or_default();
    }
    plain.extend_from_slice(rest);
    Cow::Owned(plain)
}

/// Returns the lines of a decoded text with their numbers; a line end at the end of the text starts no further line.
fn numbered_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines = (!text.is_empty()).then(|| text.split('\n'));
    (1..).zip(lines.into_iter().flatten())
}

/// Checks that the decoded bytes of a tag file are UTF-8 without a byte order mark.
fn as_text<'t>(bytes: &'t [u8], file: &str) -> Result<&'t str, Box<Finding>> {
    let fault = match std::str::from_utf8(bytes) {
        Ok(text) if !text.starts_with('\u{feff}') => return Ok(text),
        Ok(_) => byte_order_mark(file),
        Err(error) => {
            let before = bytes.split_at(error.valid_up_to()).0;
            let ends = memchr::memchr_iter(b'\n', before).count();
            not_text(TagEncoding::Utf8, file, ends as u64 + 1)
        }
    };
    Err(Box::new(fault))
}

/// Returns the lines of the findings.
#[cfg(test)]
fn lines_of(findings: &[Finding]) -> Vec<u64> {
    let line = |finding: &Finding| match finding.place {
        Some(crate::finding::Place::Line { line }) => line,
        _ => panic!("every finding of a tag file has a line"),
    };
    findings.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<u64> {
        lines_of(&BagDeclaration::parse(text.as_bytes()).1)
    }

    #[test]
    fn a_written_declaration_is_read_without_findings() {
        let (declaration, faults) = BagDeclaration::parse(DECLARATION.as_bytes());
        assert_eq!(faults, []);
        assert_eq!(declaration.version, Some(BagVersion::V1_0));
        assert_eq!(declaration.encoding, Some(TagEncoding::Utf8));
        assert_eq!(declaration.stated_encoding.as_deref(), Some("UTF-8"));
    }

    #[test]
    fn white_space_is_checked_from_1_0_on() {
        let text = |version: &str, blank: &str| {
            format!("BagIt-Version{blank}: {version}\nTag-File-Character-Encoding: UTF-8\n")
        };
        assert_eq!(faults(&text("1.0", " ")), [1]);
        assert_eq!(faults(&text("0.97", " ")), [0_u64; 0]);
        assert_eq!(faults(&text("1.0", "").replace('\n', "\r")), [0_u64; 0]);
        assert_eq!(faults(text("1.0", "").trim_end()), [0_u64; 0]);
        assert_eq!(faults(&text(" 1.0", "")), [1]);
        assert_eq!(faults(&text("2.0", "")), [1]);
        assert_eq!(faults(&format!("\u{feff}{}", text("1.0", ""))), [1]);
        assert_eq!(faults(&format!("{}more\n", text("1.0", ""))), [3]);
        assert_eq!(faults("BagIt-Version: 1.0\n"), [1]);
        assert_eq!(faults("BagIt-version: 1.0\nTag-File-Character-Encoding: UTF-8\n"), [1]);
        assert_eq!(faults("Tag-File-Character-Encoding: UTF-8\nBagIt-Version: 1.0\n"), [1, 2]);
        assert_eq!(faults("BagIt-Version: 1.0\nTag-File-Character-Encoding: KOI8-R\n"), [2]);
        assert_eq!(faults(""), [1]);
    }

    #[test]
    fn every_encoding_and_line_end_gives_the_same_text() {
        let expected = "Größe: 1\nb\n\nc".as_bytes();
        let text = "Größe: 1\r\nb\r\rc";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
        for (name, bytes) in [
            ("utf-8", text.as_bytes().to_vec()),
            ("UTF-16", [b"\xff\xfe", &*le].concat()),
            ("UTF-16", [b"\xfe\xff", &*be].concat()),
            ("UTF-16", be.clone()),
            ("UTF-16LE", le),
            ("UTF-16BE", be),
            ("ISO-8859-1", latin1),
        ] {
            let encoding = TagEncoding::from_name(name).unwrap();
            assert_eq!(encoding.decode(&bytes).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn text_that_is_invalid_in_the_encoding_is_an_error() {
        assert!(TagEncoding::Utf16Le.decode(b"abc").is_none());
        assert!(TagEncoding::Utf16Be.decode(&[0xd8, 0, 0, b'a']).is_none());
        assert!(TagEncoding::Ascii.decode("é".as_bytes()).is_none());
        assert_eq!(TagEncoding::from_name("EBCDIC"), None);
        assert_eq!(lines_of(&[*as_text(b"a\nb\xff", "a").unwrap_err()]), [2]);
    }
}
