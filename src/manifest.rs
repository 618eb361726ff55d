//! Manifests: the lists of digests that `sha256sum -c` and its siblings read.
//!
//! A line is `<digest in hexadecimal>`, two spaces, `<path>`. What GNU coreutils and BSD tools write
//! is read: either case, a `*` before the name, CRLF, a missing last line end, `#` comments, the
//! `SHA256 (name) = digest` form, `./` before the name, and GNU's escapes for line ends and
//! backslashes in names. What ra-pack writes is one form: lower case, sorted by the bytes of the path.

use std::borrow::Cow;
use std::io::{self, BufRead};

use crate::digest::{Algorithm, Digest};
use crate::path::{InvalidPath, MemberPath, escape};

/// Longest line read: the longest name, every byte of it escaped, and a digest.
pub(crate) const MAX_LINE_BYTES: usize = 256 * 1024;

/// Most lines at fault before the rest is not read: a file with more is no manifest, and a hostile one
/// must not turn every second byte into a report.
const MAX_FAULTS: usize = 1000;

/// How a manifest writes the names that its line format cannot carry as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameEncoding {
    /// GNU coreutils: a line that begins with a backslash has `\\`, `\n` and `\r` in its name.
    Gnu,
    /// BagIt 1.0: `%0A`, `%0D` and `%25` (RFC 8493 §2.1.3).
    Percent,
    /// BagIt before 1.0: nothing is encoded.
    Verbatim,
}

/// A list of digests, sorted by path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    algorithm: Algorithm,
    entries: Vec<ManifestEntry>,
}

/// One line of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestEntry {
    /// The file that the digest is of.
    pub path: MemberPath,
    /// Its digest.
    pub digest: Digest,
    /// The line that says so, counted from 1; 0 for an entry that was not read.
    pub line: u64,
}

/// Something wrong with one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct ManifestFault {
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub kind: ManifestFaultKind,
}

/// What can be wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestFaultKind {
    /// The file begins with a byte order mark.
    #[error("the file begins with a byte order mark, which `sha256sum -c` cannot read")]
    ByteOrderMark,
    /// The line is longer than any name can make it.
    #[error("the line is {found} bytes long, expected at most {MAX_LINE_BYTES}")]
    LineTooLong {
        /// Its length in bytes.
        found: usize,
    },
    /// Bytes that are not UTF-8, or a NUL.
    #[error("the line is not text in UTF-8")]
    NotText,
    /// No digest, blanks and name.
    #[error("expected `<digest>  <path>`, found `{}`", escape(.found))]
    Form {
        /// The beginning of the line.
        found: String,
    },
    /// A digest of the wrong length or with other characters than hexadecimal digits.
    #[error("expected {expected} hexadecimal digits, found `{}`", escape(.found))]
    Digest {
        /// Digits that the algorithm needs.
        expected: usize,
        /// What stands there.
        found: String,
    },
    /// A name that no member may have.
    #[error(transparent)]
    Path(#[from] InvalidPath),
    /// One path with two digests.
    #[error("`{path}` has another digest on line {first}")]
    Conflict {
        /// The path.
        path: MemberPath,
        /// The other line.
        first: u64,
    },
    /// So many faults that the others are not listed.
    #[error("more than {MAX_FAULTS} lines are at fault; the others are not listed")]
    TooMany,
    /// A file that `sha256sum -c` does not open.
    #[error("`sha256sum -c` takes `-` for standard input; write `./-`")]
    StandardInput,
    /// One blank before the name in one line, two in another.
    #[error(
        "one blank or two before the name, unlike line {first}: `sha256sum -c` passes over the line, or takes the \
         second blank for a part of the name"
    )]
    MixedBlanks {
        /// The first line of the other form.
        first: u64,
    },
    /// One path twice with the same digest.
    #[error("`{path}` is already on line {first}")]
    Repeated {
        /// The path.
        path: MemberPath,
        /// The other line.
        first: u64,
    },
}

impl ManifestFault {
    /// Whether the manifest proves as much as it would without this fault.
    pub fn is_warning(&self) -> bool {
        matches!(
            self.kind,
            ManifestFaultKind::Repeated { .. }
                | ManifestFaultKind::StandardInput
                | ManifestFaultKind::MixedBlanks { .. }
        )
    }
}

impl Manifest {
    /// A manifest of the given digests.
    pub fn new(
        algorithm: Algorithm,
        digests: impl IntoIterator<Item = (MemberPath, Digest)>,
    ) -> Self {
        let mut entries: Vec<_> = digests
            .into_iter()
            .map(|(path, digest)| ManifestEntry { path, digest, line: 0 })
            .collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Self { algorithm, entries }
    }

    /// Reads a manifest and lists everything that is wrong with it; lines at fault give no entry.
    pub fn parse(
        algorithm: Algorithm,
        names: NameEncoding,
        bytes: &[u8],
    ) -> (Self, Vec<ManifestFault>) {
        let mut entries = Vec::new();
        let mut faults = Vec::new();
        let mut text = bytes;
        if let Some(rest) = text.strip_prefix(b"\xef\xbb\xbf") {
            faults.push(ManifestFault { line: 1, kind: ManifestFaultKind::ByteOrderMark });
            text = rest;
        }
        let mut form: Option<(usize, u64)> = None;
        for (line, content) in (1..).zip(lines(text)) {
            if faults.len() >= MAX_FAULTS {
                faults.push(ManifestFault { line, kind: ManifestFaultKind::TooMany });
                break;
            }
            match parse_line(algorithm, names, content) {
                Ok(None) => {}
                Ok(Some((path, digest))) => {
                    if names == NameEncoding::Gnu {
                        let kind = other_reading(algorithm, content, line, &mut form);
                        faults.extend(kind.map(|kind| ManifestFault { line, kind }));
                    }
                    entries.push(ManifestEntry { path, digest, line });
                }
                Err(kind) => faults.push(ManifestFault { line, kind }),
            }
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path).then(a.line.cmp(&b.line)));
        entries.dedup_by(|later, first| {
            if later.path != first.path {
                return false;
            }
            // A fault of one line more says nothing new, and they may be as many as lines.
            if faults.len() > MAX_FAULTS {
                return true;
            }
            let (path, line) = (later.path.clone(), first.line);
            let kind = if faults.len() == MAX_FAULTS {
                ManifestFaultKind::TooMany
            } else if later.digest == first.digest {
                ManifestFaultKind::Repeated { path, first: line }
            } else {
                ManifestFaultKind::Conflict { path, first: line }
            };
            faults.push(ManifestFault { line: later.line, kind });
            true
        });
        faults.sort_by_key(|fault| fault.line);
        (Self { algorithm, entries }, faults)
    }

    /// The digest that a manifest's text gives for one path, without building the whole manifest.
    ///
    /// # Errors
    ///
    /// When the line that ends in the path is at fault, or another line gives another digest.
    pub fn look_up(
        algorithm: Algorithm,
        names: NameEncoding,
        bytes: &[u8],
        path: &MemberPath,
    ) -> Result<Option<Digest>, ManifestFault> {
        let written = encode_name(names, path.as_str());
        let part = part_to_search(names, path.as_str());
        let mut found: Option<(Digest, u64)> = None;
        let mut counted = 0;
        let mut line = 1_u64;
        let mut parsed = 0;
        for position in memchr::memmem::find_iter(bytes, part) {
            // A long line may hold the name many times; reading it once is enough.
            if position < parsed {
                continue;
            }
            let (before, after) = bytes.split_at(position);
            line = line.saturating_add(count_lines(before.get(counted..).unwrap_or_default()));
            counted = position;
            let start = memchr::memrchr(b'\n', before).map_or(0, |at| at.saturating_add(1));
            let end =
                memchr::memchr(b'\n', after).map_or(bytes.len(), |at| position.saturating_add(at));
            parsed = end.saturating_add(1);
            let content = bytes.get(start..end).unwrap_or_default();
            match parse_line(algorithm, names, content.strip_suffix(b"\r").unwrap_or(content)) {
                Ok(Some((other, digest))) if other == *path => match found {
                    Some((first, at)) if first != digest => {
                        let kind = ManifestFaultKind::Conflict { path: other, first: at };
                        return Err(ManifestFault { line, kind });
                    }
                    _ => found = Some((digest, line)),
                },
                Err(kind) if memchr::memmem::find(content, written.as_bytes()).is_some() => {
                    return Err(ManifestFault { line, kind });
                }
                _ => {}
            }
        }
        Ok(found.map(|(digest, _)| digest))
    }

    /// What made the digests.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The entries, sorted by path.
    pub fn entries(&self) -> &[ManifestEntry] {
        &self.entries
    }

    /// The entry of `path`.
    pub fn get(&self, path: &str) -> Option<&ManifestEntry> {
        let index = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
        self.entries.get(index)
    }

    /// Gives entries other paths, where `to` has one.
    pub(crate) fn rename(&mut self, mut to: impl FnMut(&ManifestEntry) -> Option<MemberPath>) {
        for entry in &mut self.entries {
            if let Some(path) = to(entry) {
                entry.path = path;
            }
        }
        self.entries.sort_by(|a, b| a.path.cmp(&b.path).then(a.line.cmp(&b.line)));
    }

    /// The text, one line for each entry.
    pub fn to_text(&self, names: NameEncoding) -> Vec<u8> {
        let mut text = Vec::new();
        for entry in &self.entries {
            push_line(&mut text, names, entry.path.as_str(), &entry.digest);
        }
        text
    }
}

/// Whether a text is what [`Manifest::to_text`] writes of `files`, which are in the order of their names,
/// each once. A file without a digest is in no text.
///
/// # Errors
///
/// When the text cannot be read.
pub(crate) fn is_text_of<'a>(
    mut text: impl BufRead,
    names: NameEncoding,
    files: impl Iterator<Item = (&'a str, Option<Digest>)>,
) -> io::Result<bool> {
    /// Bytes that are compared at once.
    const AT_ONCE: usize = 32 * 1024;
    let mut lines = Vec::with_capacity(AT_ONCE);
    for (name, digest) in files {
        let Some(digest) = digest else { return Ok(false) };
        push_line(&mut lines, names, name, &digest);
        if lines.len() >= AT_ONCE {
            if !goes_on_with(&mut text, &lines)? {
                return Ok(false);
            }
            lines.clear();
        }
    }
    Ok(goes_on_with(&mut text, &lines)? && text.fill_buf()?.is_empty())
}

/// How many lines a text has, when it lists exactly these names, each once and in their order, in lines as
/// [`Manifest::to_text`] writes them: then reading it gives these entries and no fault. `names` are those that
/// [`MemberPath::new`] takes, in the order of their bytes.
///
/// # Errors
///
/// When the text cannot be read.
pub(crate) fn lines_exactly_of<'a>(
    mut text: impl BufRead,
    algorithm: Algorithm,
    names: NameEncoding,
    files: impl Iterator<Item = &'a str>,
) -> io::Result<Option<u64>> {
    let mut digits = vec![0; algorithm.digest_len().saturating_mul(2)];
    let (mut line, mut count) = (Vec::new(), 0_u64);
    for name in files {
        let encoded = encode_name(names, name);
        let is_marked = names == NameEncoding::Gnu && matches!(encoded, Cow::Owned(_));
        // What a bag's list cannot carry, or would be read as another name.
        let is_lost = names != NameEncoding::Gnu && name.starts_with([' ', '\t'])
            || names == NameEncoding::Verbatim && name.contains(['\n', '\r']);
        if is_lost || (is_marked && !goes_on_with(&mut text, b"\\")?) {
            return Ok(None);
        }
        match text.read_exact(&mut digits) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        line.clear();
        line.extend_from_slice(b"  ");
        line.extend_from_slice(encoded.as_bytes());
        line.push(b'\n');
        if Digest::from_hex(algorithm, &digits).is_none() || !goes_on_with(&mut text, &line)? {
            return Ok(None);
        }
        count = count.saturating_add(1);
    }
    Ok(text.fill_buf()?.is_empty().then_some(count))
}

/// Whether these are the next bytes, which are taken.
///
/// # Errors
///
/// When the text cannot be read.
pub(crate) fn goes_on_with(
    text: &mut (impl BufRead + ?Sized),
    mut bytes: &[u8],
) -> io::Result<bool> {
    while !bytes.is_empty() {
        let block = text.fill_buf()?;
        let (now, later) = bytes.split_at(block.len().min(bytes.len()));
        if now.is_empty() || block.get(..now.len()) != Some(now) {
            return Ok(false);
        }
        bytes = later;
        text.consume(now.len());
    }
    Ok(true)
}

/// Appends one line.
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

/// The length of one line.
pub(crate) fn line_len(names: NameEncoding, path: &str, digest: &Digest) -> usize {
    let name = encode_name(names, path);
    let is_marked = names == NameEncoding::Gnu && matches!(name, Cow::Owned(_));
    let digits = digest.as_bytes().len().saturating_mul(2);
    let rest = usize::from(is_marked).saturating_add("  \n".len());
    digits.saturating_add(name.len()).saturating_add(rest)
}

/// The lines of a text with LF or CRLF ends; a last line end starts no further line.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let (line, tail) = rest.split_at(end);
        rest = tail.get(1..).unwrap_or_default();
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

fn count_lines(bytes: &[u8]) -> u64 {
    u64::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u64::MAX)
}

/// One line: nothing for a blank line or a comment.
pub(crate) fn parse_line(
    algorithm: Algorithm,
    names: NameEncoding,
    line: &[u8],
) -> Result<Option<(MemberPath, Digest)>, ManifestFaultKind> {
    if line.len() > MAX_LINE_BYTES {
        return Err(ManifestFaultKind::LineTooLong { found: line.len() });
    }
    let text = std::str::from_utf8(line).map_err(|_| ManifestFaultKind::NotText)?;
    if text.contains('\0') {
        return Err(ManifestFaultKind::NotText);
    }
    if text.trim().is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let (escaped, text) = match text.strip_prefix('\\') {
        Some(rest) if names == NameEncoding::Gnu => (true, rest),
        _ => (false, text),
    };
    let (digits, name) = split_bsd(algorithm, text)
        .or_else(|| split_gnu(names, text))
        .ok_or_else(|| ManifestFaultKind::Form { found: beginning(text) })?;
    let digest = Digest::from_hex(algorithm, digits.as_bytes()).ok_or_else(|| {
        ManifestFaultKind::Digest {
            expected: algorithm.digest_len().saturating_mul(2),
            found: beginning(digits),
        }
    })?;
    let name = match names {
        NameEncoding::Gnu if escaped => decode_gnu(name)
            .ok_or_else(|| ManifestFaultKind::Form { found: beginning(text) })?
            .into(),
        NameEncoding::Percent => decode_percent(name),
        NameEncoding::Gnu | NameEncoding::Verbatim => Cow::Borrowed(name),
    };
    let name = name.strip_prefix("./").unwrap_or(&name);
    Ok(Some((MemberPath::new(name)?, digest)))
}

/// What `sha256sum -c` makes of a line that is none the less clear. `form` is how many blanks the first line has that
/// is not in the form of BSD, and which line that is; of the lines of another form only the first is told.
fn other_reading(
    algorithm: Algorithm,
    line: &[u8],
    number: u64,
    form: &mut Option<(usize, u64)>,
) -> Option<ManifestFaultKind> {
    let line = line.strip_prefix(b"\\").unwrap_or(line);
    let (digits, rest) = line.split_at_checked(algorithm.digest_len().saturating_mul(2))?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let (blanks, name) = match rest {
        [_, b' ' | b'*', name @ ..] if !name.is_empty() => (2, name),
        [_, name @ ..] => (1, name),
        [] => return None,
    };
    if name == b"-" {
        return Some(ManifestFaultKind::StandardInput);
    }
    match *form {
        None => *form = Some((blanks, number)),
        Some((first_blanks, first)) if first_blanks != blanks && first > 0 => {
            *form = Some((first_blanks, 0));
            return Some(ManifestFaultKind::MixedBlanks { first });
        }
        Some(_) => {}
    }
    None
}

/// `digest`, two blanks (the second may be the `*` of binary mode), `name`. In a bag any number of
/// blanks may stand between them; elsewhere a third blank is the first character of the name.
fn split_gnu(names: NameEncoding, text: &str) -> Option<(&str, &str)> {
    let (digits, rest) = text.split_once([' ', '\t'])?;
    let name = rest.strip_prefix([' ', '*']).unwrap_or(rest);
    let name = if names == NameEncoding::Gnu { name } else { name.trim_start_matches([' ', '\t']) };
    (!name.is_empty()).then_some((digits, name))
}

/// `SHA256 (name) = digest`.
fn split_bsd(algorithm: Algorithm, text: &str) -> Option<(&str, &str)> {
    let (tag, rest) = text.split_once(" (")?;
    let (name, digits) = rest.rsplit_once(") = ")?;
    tag.eq_ignore_ascii_case(algorithm.name()).then_some((digits, name))
}

fn beginning(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// How a manifest writes a name. Programs read the name `-` as standard input, but not as a path.
pub(crate) fn encode_name(names: NameEncoding, name: &str) -> Cow<'_, str> {
    if name == "-" && names == NameEncoding::Gnu {
        return Cow::Borrowed("./-");
    }
    let is_special = match names {
        NameEncoding::Gnu => memchr::memchr3(b'\\', b'\n', b'\r', name.as_bytes()).is_some(),
        NameEncoding::Percent => memchr::memchr3(b'%', b'\n', b'\r', name.as_bytes()).is_some(),
        NameEncoding::Verbatim => false,
    };
    if !is_special {
        return Cow::Borrowed(name);
    }
    let mut encoded = String::with_capacity(name.len());
    for character in name.chars() {
        match (names, character) {
            (NameEncoding::Gnu, '\\') => encoded.push_str("\\\\"),
            (NameEncoding::Gnu, '\n') => encoded.push_str("\\n"),
            (NameEncoding::Gnu, '\r') => encoded.push_str("\\r"),
            (NameEncoding::Percent, '%') => encoded.push_str("%25"),
            (NameEncoding::Percent, '\n') => encoded.push_str("%0A"),
            (NameEncoding::Percent, '\r') => encoded.push_str("%0D"),
            _ => encoded.push(character),
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

/// The longest part of a name that stands in every line that is about it, however the line is encoded.
pub(crate) fn part_to_search(names: NameEncoding, name: &str) -> &[u8] {
    let special: &[char] = match names {
        NameEncoding::Gnu => &['\\', '\n', '\r'],
        NameEncoding::Percent => &['%', '\n', '\r'],
        NameEncoding::Verbatim => &[],
    };
    name.split(special).max_by_key(|part| part.len()).unwrap_or(name).as_bytes()
}

/// The name that a list of a bag writes as `name`.
pub(crate) fn decode_name(names: NameEncoding, name: &str) -> Cow<'_, str> {
    if names == NameEncoding::Percent { decode_percent(name) } else { Cow::Borrowed(name) }
}

/// Decodes exactly the three sequences of RFC 8493; any other `%` stands for itself.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIGEST: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn parse(text: &str) -> (Manifest, Vec<ManifestFault>) {
        Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, text.as_bytes())
    }

    #[test]
    fn what_sha256sum_reads_otherwise_is_a_warning() {
        let cases: [(String, &[u64]); 6] = [
            (format!("{DIGEST}  a\n{DIGEST} b\n{DIGEST} c\n"), &[2]),
            (format!("{DIGEST} a\n{DIGEST} *b\n"), &[2]),
            (format!("{DIGEST} a\n{DIGEST} b\nSHA256 (c) = {DIGEST}\n"), &[]),
            (format!("{DIGEST}  a\n{DIGEST} *b\n\\{DIGEST}  c\\n\n"), &[]),
            (format!("{DIGEST}  -\n{DIGEST}  a\n"), &[1]),
            (format!("{DIGEST}  ./-\n{DIGEST}  a-\n"), &[]),
        ];
        for (text, expected) in cases {
            let (manifest, faults) = parse(&text);
            let lines: Vec<_> = faults.iter().map(|fault| fault.line).collect();
            assert_eq!(lines, expected, "{text}");
            assert!(faults.iter().all(ManifestFault::is_warning), "{text}");
            assert_eq!(manifest.entries().len(), text.lines().count(), "{text}");
        }
        let path = MemberPath::new("-").unwrap();
        let written = Manifest::new(Algorithm::Sha256, [(path.clone(), Digest::sha256(b""))]);
        let text = written.to_text(NameEncoding::Gnu);
        assert_eq!(text, format!("{DIGEST}  ./-\n").as_bytes());
        let found = Manifest::look_up(Algorithm::Sha256, NameEncoding::Gnu, &text, &path);
        assert_eq!(found, Ok(Some(Digest::sha256(b""))));
    }

    #[test]
    fn every_common_way_to_write_a_line_is_read() {
        let upper = DIGEST.to_uppercase();
        for line in [
            format!("{DIGEST}  a b.ra\n"),
            format!("{DIGEST}  a b.ra"),
            format!("{DIGEST} *a b.ra\r\n"),
            format!("{upper}  a b.ra\n"),
            format!("SHA256 (a b.ra) = {DIGEST}\n"),
            format!("# made by hand\n\n{DIGEST}  ./a b.ra\n"),
            format!("{DIGEST}\ta b.ra\n"),
        ] {
            let (manifest, faults) = parse(&line);
            assert_eq!(faults, [], "{line:?}");
            assert_eq!(manifest.entries().len(), 1, "{line:?}");
            assert!(manifest.get("a b.ra").is_some(), "{line:?}");
        }
    }

    #[test]
    fn every_faulty_line_is_reported_with_its_number() {
        let short = &DIGEST[1..];
        let text = format!(
            "{DIGEST}  ok\nnonsense\n{short}  a\n{DIGEST}\n{DIGEST}  ../x\n{DIGEST}  /etc/hostname\n\
             {DIGEST}  a\\b\n"
        );
        let (manifest, faults) = parse(&text);
        assert_eq!(manifest.entries().len(), 1);
        assert_eq!(faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_repeated_path_warns_and_a_contradicted_one_does_not() {
        let other = DIGEST.replace('e', "f");
        let (_, faults) = parse(&format!("{DIGEST}  a\n{DIGEST}  a\n"));
        assert!(matches!(&faults[..], [fault] if fault.is_warning() && fault.line == 2));
        let (_, faults) = parse(&format!("{DIGEST}  a\n{other}  a\n"));
        assert!(matches!(&faults[..], [fault] if !fault.is_warning() && fault.line == 2));
    }

    #[test]
    fn a_byte_order_mark_and_other_encodings_are_faults() {
        let marked = format!("\u{feff}{DIGEST}  a\n");
        assert_eq!(parse(&marked).1[0].kind, ManifestFaultKind::ByteOrderMark);
        let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (_, faults) = Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, &utf16);
        assert!(!faults.is_empty());
    }

    #[test]
    fn percent_encoding_is_that_of_rfc_8493_and_nothing_more() {
        assert_eq!(decode_percent("a%25%0a%0D%41%"), "a%\n\r%41%");
    }

    #[test]
    fn a_text_is_known_by_what_it_should_say() {
        let names: Vec<String> = (1000..2000).map(|number| format!("run/{number}.ra")).collect();
        let entry = |name: &String| {
            (MemberPath::new(name.as_str()).unwrap(), Digest::sha256(name.as_bytes()))
        };
        let text =
            Manifest::new(Algorithm::Sha256, names.iter().map(entry)).to_text(NameEncoding::Gnu);
        let is_text = |text: &[u8], names: &[String]| {
            let digest = |name: &String| Some(Digest::sha256(name.as_bytes()));
            let files = names.iter().map(|name| (name.as_str(), digest(name)));
            // However it comes in blocks.
            let whole = is_text_of(text, NameEncoding::Gnu, files.clone()).unwrap();
            let blocks = io::BufReader::with_capacity(7, text);
            assert_eq!(is_text_of(blocks, NameEncoding::Gnu, files).unwrap(), whole);
            whole
        };
        assert!(is_text(&text, &names));
        assert!(is_text(b"", &[]));
        assert!(!is_text(&text, &names[1..]));
        assert!(!is_text(&text, &names[..999]));
        assert!(!is_text(&text[..text.len() - 1], &names));
        for at in [0, 70, text.len() / 2, text.len() - 1] {
            let mut other = text.clone();
            other[at] ^= 1;
            assert!(!is_text(&other, &names));
        }
        let unread = [("a", None)].into_iter();
        assert!(!is_text_of(&b""[..], NameEncoding::Gnu, unread).unwrap());
    }

    #[test]
    fn looking_up_one_path_agrees_with_the_whole_manifest() {
        let other = DIGEST.replace('e', "f");
        let text = format!("{DIGEST}  x/a.ra\n{other}  a.ra\n{DIGEST}  a.ra.bak\n");
        let path = MemberPath::new("a.ra").unwrap();
        let found = Manifest::look_up(Algorithm::Sha256, NameEncoding::Gnu, text.as_bytes(), &path);
        assert_eq!(found.unwrap().unwrap().to_string(), other);
        let doubled = format!("{text}{DIGEST}  a.ra\n");
        let conflict =
            Manifest::look_up(Algorithm::Sha256, NameEncoding::Gnu, doubled.as_bytes(), &path);
        assert_eq!(conflict.unwrap_err().line, 4);
    }

    fn member_path() -> impl Strategy<Value = MemberPath> {
        "[ -~\n\r\u{e9}%]{1,12}(/[ -~]{1,6})?"
            .prop_filter_map("a name that is allowed", |name| MemberPath::new(name).ok())
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            paths in proptest::collection::btree_set(member_path(), 0..20),
            percent in any::<bool>(),
        ) {
            let names = if percent { NameEncoding::Percent } else { NameEncoding::Gnu };
            let blank = |path: &MemberPath| path.as_str().starts_with([' ', '*']);
            prop_assume!(!percent || !paths.iter().any(blank));
            let manifest = Manifest::new(
                Algorithm::Sha256,
                paths.iter().map(|path| (path.clone(), Digest::sha256(path.as_str().as_bytes()))),
            );
            let text = manifest.to_text(names);
            let length = |entry: &ManifestEntry| line_len(names, entry.path.as_str(), &entry.digest);
            prop_assert_eq!(manifest.entries().iter().map(length).sum::<usize>(), text.len());
            let (again, faults) = Manifest::parse(Algorithm::Sha256, names, &text);
            prop_assert_eq!(faults, []);
            prop_assert_eq!(again.entries().len(), paths.len());
            let exactly = |text: &[u8], algorithm| {
                lines_exactly_of(text, algorithm, names, paths.iter().map(MemberPath::as_str))
            };
            let count = u64::try_from(paths.len()).unwrap();
            prop_assert_eq!(exactly(&text, Algorithm::Sha256).unwrap(), Some(count));
            if !paths.is_empty() {
                prop_assert_eq!(exactly(&text, Algorithm::Sha512).unwrap(), None);
                prop_assert_eq!(exactly(&text[..text.len() - 1], Algorithm::Sha256).unwrap(), None);
            }
            for entry in manifest.entries() {
                prop_assert_eq!(again.get(entry.path.as_str()).map(|entry| entry.digest), Some(entry.digest));
                let found = Manifest::look_up(Algorithm::Sha256, names, &text, &entry.path);
                prop_assert_eq!(found, Ok(Some(entry.digest)));
            }
        }

        /// What is taken for exactly the lines of files needs no reading line by line.
        #[test]
        fn lines_that_are_exact_have_no_fault_when_they_are_read(
            paths in proptest::collection::btree_set(member_path(), 1..4),
            which in 0..3_usize,
            at in any::<proptest::sample::Index>(),
            byte in prop_oneof![Just(b' '), Just(b'A'), Just(b'\n'), Just(b'\r'), any::<u8>()],
        ) {
            let names = [NameEncoding::Gnu, NameEncoding::Percent, NameEncoding::Verbatim][which];
            let entry = |path: &MemberPath| (path.clone(), Digest::sha256(path.as_str().as_bytes()));
            let mut text = Manifest::new(Algorithm::Sha256, paths.iter().map(entry)).to_text(names);
            let at = at.index(text.len());
            text[at] = byte;
            let listed = paths.iter().map(MemberPath::as_str);
            if lines_exactly_of(&text[..], Algorithm::Sha256, names, listed).unwrap().is_some() {
                let (read, faults) = Manifest::parse(Algorithm::Sha256, names, &text);
                prop_assert_eq!(faults, []);
                prop_assert!(read.entries().iter().map(|entry| &entry.path).eq(&paths));
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            for names in [NameEncoding::Gnu, NameEncoding::Percent, NameEncoding::Verbatim] {
                let _ = Manifest::parse(Algorithm::Md5, names, &bytes);
            }
        }
    }
}
