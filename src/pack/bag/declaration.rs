//! `bagit.txt`: which rules a bag follows, and how its tag files are encoded (RFC 8493 §2.1.1).

use std::borrow::Cow;

use super::{BagFault, BagFaultKind, beginning};
use crate::manifest::NameEncoding;

/// A version of BagIt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// 1.0, which is RFC 8493.
    V1_0,
}

impl BagVersion {
    /// Every version, oldest first.
    pub const ALL: [Self; 6] =
        [Self::V0_93, Self::V0_94, Self::V0_95, Self::V0_96, Self::V0_97, Self::V1_0];

    /// How a bag writes it.
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

    /// The version of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// How manifests and `fetch.txt` of this version write names.
    pub fn name_encoding(self) -> NameEncoding {
        if self == Self::V1_0 { NameEncoding::Percent } else { NameEncoding::Verbatim }
    }
}

/// What a bag declares. What it does not declare, or not in a way that is known, is absent.
///
/// ```
/// use ra_pack::bag::{BagDeclaration, BagVersion};
///
/// let text = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
/// let (declaration, faults) = BagDeclaration::parse(text);
/// assert_eq!((declaration.version, faults), (Some(BagVersion::V1_0), vec![]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BagDeclaration {
    /// The version.
    pub version: Option<BagVersion>,
    /// The version as it stands there.
    pub stated_version: Option<String>,
    /// The encoding of the other tag files.
    pub encoding: Option<TagEncoding>,
}

const VERSION: &str = "BagIt-Version";
const ENCODING: &str = "Tag-File-Character-Encoding";

/// What a bag of the newest version declares.
pub(crate) const DECLARATION: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

impl BagDeclaration {
    /// Reads `bagit.txt`, which is in UTF-8 whatever it says of the others.
    pub fn parse(bytes: &[u8]) -> (Self, Vec<BagFault>) {
        let mut declaration = Self::default();
        let mut faults = Vec::new();
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => {
                faults.push(BagFault { line: 1, kind: BagFaultKind::ByteOrderMark });
                rest
            }
            None => bytes,
        };
        // Two lines are looked at, and what follows them is only counted.
        let plain = TagEncoding::Utf8.decode(bytes).unwrap_or_default();
        let text = match as_text(&plain) {
            Ok(text) => text,
            Err(fault) => {
                faults.push(fault);
                return (declaration, faults);
            }
        };
        let found = numbered_lines(text).count();
        if found != 2 {
            let line = u64::try_from(found.clamp(1, 3)).unwrap_or(1);
            faults.push(BagFault { line, kind: BagFaultKind::DeclarationLength { found } });
        }
        let lines: Vec<_> = numbered_lines(text).take(2).collect();
        let version = lines.first().and_then(|(_, line)| value(VERSION, line));
        declaration.stated_version = version.map(|(version, _)| beginning(version));
        declaration.version = version.and_then(|(version, _)| BagVersion::from_name(version));
        // Before 1.0 blanks around the colon were free.
        let strict = declaration.version == Some(BagVersion::V1_0);
        let wanted = [VERSION, ENCODING];
        for ((number, line), label) in lines.iter().zip(wanted) {
            let fault = match value(label, line) {
                Some((_, exact)) if exact || !strict => continue,
                _ => BagFaultKind::DeclarationLine { label, found: beginning(line) },
            };
            faults.push(BagFault { line: *number, kind: fault });
        }
        if let (None, Some(found)) = (declaration.version, &declaration.stated_version) {
            let kind = BagFaultKind::UnknownVersion(found.clone());
            faults.push(BagFault { line: 1, kind });
        }
        if let Some((encoding, _)) = lines.get(1).and_then(|(_, line)| value(ENCODING, line)) {
            declaration.encoding = TagEncoding::from_name(encoding);
            if declaration.encoding.is_none() {
                let kind = BagFaultKind::UnknownEncoding(beginning(encoding));
                faults.push(BagFault { line: 2, kind });
            }
        }
        (declaration, faults)
    }

    /// The version whose rules hold: the newest, when none is declared that is known.
    pub fn rules(&self) -> BagVersion {
        self.version.unwrap_or(BagVersion::V1_0)
    }
}

/// The value after a label, and whether exactly one blank stands between them.
fn value<'a>(label: &str, line: &'a str) -> Option<(&'a str, bool)> {
    let rest = line.strip_prefix(label)?;
    let value = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    let trimmed = value.trim_matches([' ', '\t']);
    let exact = rest.strip_prefix(": ") == Some(trimmed);
    Some((trimmed, exact && !trimmed.is_empty()))
}

/// The encoding of the tag files of a bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TagEncoding {
    /// UTF-8, without a byte order mark.
    #[default]
    Utf8,
    /// UTF-16 in the order that its byte order mark says, big-endian without one.
    Utf16,
    /// UTF-16, least significant byte first.
    Utf16Le,
    /// UTF-16, most significant byte first.
    Utf16Be,
    /// ISO-8859-1: each byte is the character of that number.
    Latin1,
    /// US-ASCII.
    Ascii,
}

impl TagEncoding {
    /// The encoding of a name in the registry of character sets, in either case.
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

    /// Its name.
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

    /// The text as bytes of UTF-8 with every line end as LF. Bytes that claim to be UTF-8 are not
    /// checked here: whoever reads the lines knows which of them is at fault.
    ///
    /// # Errors
    ///
    /// When the bytes are no text in this encoding.
    pub fn decode(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>, BagFaultKind> {
        let text = match self {
            Self::Utf8 => Cow::Borrowed(bytes),
            Self::Ascii if bytes.is_ascii() => Cow::Borrowed(bytes),
            Self::Ascii => return Err(BagFaultKind::NotText { encoding: self.name() }),
            Self::Latin1 => {
                let text: String = bytes.iter().copied().map(char::from).collect();
                Cow::Owned(text.into_bytes())
            }
            Self::Utf16 if bytes.starts_with(b"\xff\xfe") => Self::Utf16Le.decode(bytes)?,
            Self::Utf16Le => {
                let rest = bytes.strip_prefix(b"\xff\xfe").unwrap_or(bytes);
                self.utf16(rest, u16::from_le_bytes)?
            }
            Self::Utf16 | Self::Utf16Be => {
                let rest = bytes.strip_prefix(b"\xfe\xff").unwrap_or(bytes);
                self.utf16(rest, u16::from_be_bytes)?
            }
        };
        Ok(with_plain_line_ends(text))
    }

    fn utf16(
        self,
        bytes: &[u8],
        unit: fn([u8; 2]) -> u16,
    ) -> Result<Cow<'static, [u8]>, BagFaultKind> {
        let fault = || BagFaultKind::NotText { encoding: self.name() };
        let (pairs, rest) = bytes.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(fault());
        }
        let units = pairs.iter().copied().map(unit);
        let text: Result<String, _> = char::decode_utf16(units).collect();
        text.map(|text| Cow::Owned(text.into_bytes())).map_err(|_| fault())
    }
}

/// CRLF and CR alone as LF.
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

/// The lines of a decoded text with their numbers; a last line end starts no further line.
pub(super) fn numbered_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines = (!text.is_empty()).then(|| text.split('\n'));
    (1..).zip(lines.into_iter().flatten())
}

/// Checks that decoded bytes are UTF-8 without a byte order mark; else gives the line that is not.
pub(super) fn as_text(bytes: &[u8]) -> Result<&str, BagFault> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.starts_with('\u{feff}') => {
            Err(BagFault { line: 1, kind: BagFaultKind::ByteOrderMark })
        }
        Ok(text) => Ok(text),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let ends = memchr::memchr_iter(b'\n', before).count();
            let line = ends as u64 + 1;
            let kind = BagFaultKind::NotText { encoding: TagEncoding::Utf8.name() };
            Err(BagFault { line, kind })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<u64> {
        BagDeclaration::parse(text.as_bytes()).1.iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn what_is_written_is_read_without_a_fault() {
        let (declaration, faults) = BagDeclaration::parse(DECLARATION.as_bytes());
        assert_eq!(faults, []);
        assert_eq!(declaration.version, Some(BagVersion::V1_0));
        assert_eq!(declaration.encoding, Some(TagEncoding::Utf8));
    }

    #[test]
    fn the_form_is_exact_from_1_0_on() {
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
}

#[cfg(test)]
mod tag_text_tests {
    use super::*;

    #[test]
    fn every_encoding_and_line_end_gives_one_text() {
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
    fn what_is_no_text_in_the_encoding_is_a_fault() {
        assert!(TagEncoding::Utf16Le.decode(b"abc").is_err());
        assert!(TagEncoding::Utf16Be.decode(&[0xd8, 0, 0, b'a']).is_err());
        assert!(TagEncoding::Ascii.decode("é".as_bytes()).is_err());
        assert_eq!(TagEncoding::from_name("EBCDIC"), None);
        assert_eq!(as_text(b"a\nb\xff").unwrap_err().line, 2);
    }
}
