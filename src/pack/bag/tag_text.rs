//! The text of tag files: by the encoding that the bag declares, with any of the line ends that a tag
//! file may have.

use std::borrow::Cow;

use super::fault::BagFaultKind;

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
pub(super) fn as_text(bytes: &[u8]) -> Result<&str, super::BagFault> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.starts_with('\u{feff}') => {
            Err(super::BagFault { line: 1, kind: BagFaultKind::ByteOrderMark })
        }
        Ok(text) => Ok(text),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let ends = memchr::memchr_iter(b'\n', before).count();
            let line = u64::try_from(ends).unwrap_or(u64::MAX).saturating_add(1);
            let kind = BagFaultKind::NotText { encoding: TagEncoding::Utf8.name() };
            Err(super::BagFault { line, kind })
        }
    }
}

#[cfg(test)]
mod tests {
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
