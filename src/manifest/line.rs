//! Lines of a manifest: parsing, writing and their problems.

use std::borrow::Cow;

use crate::digest::{Algorithm, Digest};
use crate::path::{MemberPath, escape};

/// Maximum length of a line: a digest and the longest name with every byte escaped.
const MAX_LINE_BYTES: usize = 256 * 1024;

/// Maximum number of invalid lines before parsing stops. A file with more is not a manifest, and a hostile file must
/// not cause millions of problems.
pub(super) const MAX_FAULTS: usize = 1000;

/// Maximum number of characters of a text that a message shows.
const MAX_TEXT_SHOWN: usize = 80;

/// The encoding of names that contain line ends or other special characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameEncoding {
    /// GNU coreutils: in a line that begins with a backslash, the name uses `\\`, `\n` and `\r`.
    Gnu,
    /// BagIt 1.0: `%0A`, `%0D` and `%25` (RFC 8493 §2.1.3).
    Percent,
    /// BagIt before 1.0: names are not encoded.
    Verbatim,
}

/// A problem of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManifestFault {
    /// The line, counted from 1.
    pub line: u64,
    /// The problem, in one sentence.
    pub message: String,
    /// Whether the problem is a warning: the manifest still lists the file correctly.
    pub is_warning: bool,
}

/// Appends one line to `text`.
pub(crate) fn push_line(text: &mut Vec<u8>, names: NameEncoding, path: &str, digest: &Digest) {
    let name = encode_name(names, path);
    if names == NameEncoding::Gnu && matches!(name, Cow::Owned(_)) {
        text.push(b'\\');
    }
    digest.push_hex(text);
    text.extend_from_slice(b"  ");
    text.extend_from_slice(name.as_bytes());
    text.push(b'\n');
}

/// Parses one line. Returns `None` for an empty line or a comment, and the problem of an invalid line as the error.
pub(crate) fn parse_line(
    algorithm: Algorithm,
    names: NameEncoding,
    line: &[u8],
) -> Result<Option<(MemberPath, Digest)>, String> {
    let len = line.len();
    if len > MAX_LINE_BYTES {
        return Err(format!("the line is {len} bytes long, expected at most {MAX_LINE_BYTES}"));
    }
    let text = std::str::from_utf8(line).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or("the line is not UTF-8")?;
    if text.trim().is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let (escaped, text) = match text.strip_prefix('\\') {
        Some(rest) if names == NameEncoding::Gnu => (true, rest),
        _ => (false, text),
    };
    let form = || format!("expected `<digest>  <path>`, found `{}`", escape(&beginning(text)));
    let split = split_bsd(algorithm, text).or_else(|| split_gnu(names, text));
    let (digits, name) = split.ok_or_else(form)?;
    let digest = Digest::from_hex(algorithm, digits.as_bytes()).ok_or_else(|| {
        let (expected, found) = (algorithm.digest_len() * 2, beginning(digits));
        format!("expected {expected} hexadecimal digits, found `{}`", escape(&found))
    })?;
    let name = match names {
        NameEncoding::Gnu if escaped => decode_gnu(name).ok_or_else(form)?.into(),
        NameEncoding::Percent => decode_percent(name),
        NameEncoding::Gnu | NameEncoding::Verbatim => Cow::Borrowed(name),
    };
    let name = name.strip_prefix("./").unwrap_or(&name);
    let path = MemberPath::new(name).map_err(|invalid| invalid.to_string())?;
    Ok(Some((path, digest)))
}

/// Splits `digest`, two spaces (the second may be the `*` of binary mode), `name`. In a bag, any number of spaces may
/// separate them; elsewhere a third space is the first character of the name.
fn split_gnu(names: NameEncoding, text: &str) -> Option<(&str, &str)> {
    let (digits, rest) = text.split_at_checked(memchr::memchr2(b' ', b'\t', text.as_bytes())?)?;
    let rest = rest.get(1..)?;
    let name = rest.strip_prefix([' ', '*']).unwrap_or(rest);
    let name = if names == NameEncoding::Gnu { name } else { name.trim_start_matches([' ', '\t']) };
    (!name.is_empty()).then_some((digits, name))
}

/// Splits `SHA256 (name) = digest`.
fn split_bsd(algorithm: Algorithm, text: &str) -> Option<(&str, &str)> {
    let (tag, rest) = text.split_at_checked(algorithm.name().len())?;
    let (name, digits) = rest.strip_prefix(" (")?.rsplit_once(") = ")?;
    tag.eq_ignore_ascii_case(algorithm.name()).then_some((digits, name))
}

/// Returns the beginning of a line, short enough for a message.
pub(crate) fn beginning(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_TEXT_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Encodes a name for a manifest. The name `-` becomes a path, because programs read `-` as standard input.
pub(crate) fn encode_name(names: NameEncoding, name: &str) -> Cow<'_, str> {
    if name == "-" && names == NameEncoding::Gnu {
        return Cow::Borrowed("./-");
    }
    let escapes: &[(char, &str)] = match names {
        NameEncoding::Gnu => &[('\\', "\\\\"), ('\n', "\\n"), ('\r', "\\r")],
        NameEncoding::Percent => &[('%', "%25"), ('\n', "%0A"), ('\r', "%0D")],
        NameEncoding::Verbatim => &[],
    };
    let escape = |letter| escapes.iter().find(|(escaped, _)| *escaped == letter);
    if !name.contains(|letter| escape(letter).is_some()) {
        return Cow::Borrowed(name);
    }
    let mut encoded = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        match escape(letter) {
            Some((_, written)) => encoded.push_str(written),
            None => encoded.push(letter),
        }
    }
    Cow::Owned(encoded)
}

fn decode_gnu(name: &str) -> Option<String> {
    let mut decoded = String::with_capacity(name.len());
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        decoded.push(match character {
            '\\' => match characters.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            other => other,
        });
    }
    Some(decoded)
}

/// Decodes a name from a list of a bag.
pub(crate) fn decode_name(names: NameEncoding, name: &str) -> Cow<'_, str> {
    if names == NameEncoding::Percent { decode_percent(name) } else { Cow::Borrowed(name) }
}

/// Decodes the three sequences of RFC 8493. Any other `%` is literal.
fn decode_percent(name: &str) -> Cow<'_, str> {
    if !name.contains('%') {
        return Cow::Borrowed(name);
    }
    let mut decoded = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        let (character, length) = match after.get(..2) {
            Some(code) if code.eq_ignore_ascii_case("0a") => ('\n', 2),
            Some(code) if code.eq_ignore_ascii_case("0d") => ('\r', 2),
            Some("25") => ('%', 2),
            _ => ('%', 0),
        };
        decoded.push(character);
        rest = after.get(length..).unwrap_or_default();
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}
