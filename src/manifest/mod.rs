//! Manifests: lists of digests in the format of `sha256sum -c`.
//!
//! Each line is a digest in hexadecimal, two spaces, and a path. ra-pack reads the formats of GNU coreutils and BSD
//! tools: either case of digits, a `*` or `./` before the name, CRLF, a missing last line end, `#` comments, `SHA256
//! (name) = digest`, and GNU's escapes for line ends and backslashes in names. It writes one format: lower case, sorted
//! by the bytes of the path.

pub(crate) mod block_list;
mod line;

pub use self::block_list::BlockList;
pub use self::line::{ManifestFault, NameEncoding};
pub(crate) use self::line::{beginning, decode_name, push_line};

use std::ops::Range;

use memchr::memmem;

use self::line::{MAX_FAULTS, encode_name, parse_line};
use crate::bisect::{Probe, narrow};
use crate::digest::{Algorithm, Digest};
use crate::path::MemberPath;

/// A list of digests, sorted by path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    algorithm: Algorithm,
    entries: Vec<ManifestEntry>,
}

/// One line of a manifest: a path and its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManifestEntry {
    /// The path of the file.
    pub path: MemberPath,
    /// The digest of the file.
    pub digest: Digest,
    /// The number of the line, from 1; 0 for an entry that was not read from a manifest.
    pub line: u64,
}

impl Manifest {
    /// Creates a manifest from paths and digests.
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

    /// Parses a manifest and returns its problems. Invalid lines have no entry.
    pub fn parse(
        algorithm: Algorithm,
        names: NameEncoding,
        bytes: &[u8],
    ) -> (Self, Vec<ManifestFault>) {
        let (mut entries, mut faults) = (Vec::new(), Vec::new());
        let error = |line, message| ManifestFault { line, message, is_warning: false };
        let warning = |line, message| ManifestFault { line, message, is_warning: true };
        let too_many = |line| {
            let why =
                format!("more than {MAX_FAULTS} lines are not valid; the others are not listed");
            error(line, why)
        };
        let mut text = bytes;
        if let Some(rest) = text.strip_prefix(b"\xef\xbb\xbf") {
            let why = "the file begins with a byte order mark, which `sha256sum -c` cannot read";
            faults.push(error(1, why.to_owned()));
            text = rest;
        }
        let mut form: Option<(usize, u64)> = None;
        for (line, content) in (1..).zip(lines(text)) {
            if faults.len() >= MAX_FAULTS {
                faults.push(too_many(line));
                break;
            }
            match parse_line(algorithm, names, content) {
                Ok(None) => {}
                Ok(Some((path, digest))) => {
                    if names == NameEncoding::Gnu {
                        let message = other_reading(algorithm, content, line, &mut form);
                        faults.extend(message.map(|message| warning(line, message)));
                    }
                    entries.push(ManifestEntry { path, digest, line });
                }
                Err(message) => faults.push(error(line, message)),
            }
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path).then(a.line.cmp(&b.line)));
        entries.dedup_by(|later, first| {
            if later.path != first.path {
                return false;
            }
            // A problem on one more line adds nothing, and there may be one for each line.
            if faults.len() > MAX_FAULTS {
                return true;
            }
            let (path, line, first_line) = (&later.path, later.line, first.line);
            faults.push(if faults.len() == MAX_FAULTS {
                too_many(line)
            } else if later.digest == first.digest {
                warning(line, format!("`{path}` is already on line {first_line}"))
            } else {
                error(line, format!("`{path}` has a different digest on line {first_line}"))
            });
            true
        });
        faults.sort_by_key(|fault| fault.line);
        (Self { algorithm, entries }, faults)
    }

    /// Returns the algorithm of the digests.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the entries, sorted by path.
    pub fn entries(&self) -> &[ManifestEntry] {
        &self.entries
    }

    /// Returns the entry of `path`.
    pub fn get(&self, path: &str) -> Option<&ManifestEntry> {
        let index = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
        self.entries.get(index)
    }

    /// Renames the entries for which `to` returns a path.
    pub(crate) fn rename(&mut self, mut to: impl FnMut(&ManifestEntry) -> Option<MemberPath>) {
        for entry in &mut self.entries {
            if let Some(path) = to(entry) {
                entry.path = path;
            }
        }
        self.entries.sort_by(|a, b| a.path.cmp(&b.path).then(a.line.cmp(&b.line)));
    }

    /// Returns the text of the manifest, one line for each entry.
    pub fn to_text(&self, names: NameEncoding) -> Vec<u8> {
        let mut text = Vec::new();
        for entry in &self.entries {
            push_line(&mut text, names, entry.path.as_str(), &entry.digest);
        }
        text
    }
}

/// Returns whether `text` is exactly the output of [`Manifest::to_text`] for `files`. Each must have a digest, and
/// names must be sorted and unique. Parsing `text` then gives these entries and no problems.
pub(crate) fn is_written<'n>(
    names: NameEncoding,
    text: &[u8],
    files: impl Iterator<Item = (&'n str, Option<Digest>)>,
) -> bool {
    let (mut rest, mut line, mut before) = (text, Vec::new(), "");
    for (name, digest) in files {
        let Some(digest) = digest else { return false };
        line.clear();
        push_line(&mut line, names, name, &digest);
        let Some(next) = rest.strip_prefix(&line[..]) else { return false };
        line.pop();
        let read = parse_line(digest.algorithm(), names, &line).ok().flatten();
        let is_read_back = read.is_some_and(|(path, by)| path.as_str() == name && by == digest);
        if !is_read_back || before >= name {
            return false;
        }
        (rest, before) = (next, name);
    }
    // Verbatim names cannot be distinguished from line ends.
    rest.is_empty() && names != NameEncoding::Verbatim
}

/// Splits a text into lines with LF or CRLF ends. The last line end starts no further line.
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

/// Returns a warning if `sha256sum -c` reads a clear line differently. `form` is the number of spaces in the first line
/// that is not in BSD format, and the number of that line; only the first line that differs is reported.
fn other_reading(
    algorithm: Algorithm,
    line: &[u8],
    number: u64,
    form: &mut Option<(usize, u64)>,
) -> Option<String> {
    let line = line.strip_prefix(b"\\").unwrap_or(line);
    let (digits, rest) = line.split_at_checked(algorithm.digest_len() * 2)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let (blanks, name) = match rest {
        [_, b' ' | b'*', name @ ..] if !name.is_empty() => (2, name),
        [_, name @ ..] => (1, name),
        [] => return None,
    };
    if name == b"-" {
        return Some("`sha256sum -c` reads `-` as standard input; write `./-`".to_owned());
    }
    match *form {
        None => *form = Some((blanks, number)),
        Some((first_blanks, first)) if first_blanks != blanks && first > 0 => {
            *form = Some((first_blanks, 0));
            return Some(format!(
                "one space or two before the name, unlike line {first}: `sha256sum -c` skips the line, or \
                 reads the second space as part of the name"
            ));
        }
        Some(_) => {}
    }
    None
}

/// An index of a manifest, to look up many files.
#[derive(Debug)]
pub(crate) struct ManifestIndex {
    names: NameEncoding,
    manifest: Manifest,
    /// The problems that are errors, each with its line.
    faults: Vec<(ManifestFault, Vec<u8>)>,
    /// Whether there are more problems than were read.
    has_more: bool,
}

impl ManifestIndex {
    pub(crate) fn new(algorithm: Algorithm, names: NameEncoding, text: &[u8]) -> Self {
        let (manifest, mut found) = Manifest::parse(algorithm, names, text);
        let has_more = found.len() > MAX_FAULTS;
        found.retain(|fault| !fault.is_warning);
        let mut faults = Vec::new();
        let mut found = found.into_iter().peekable();
        for (number, line) in (1..).zip(lines(text)) {
            while let Some(fault) = found.next_if(|fault| fault.line == number) {
                faults.push((fault, line.to_vec()));
            }
            if found.peek().is_none() {
                break;
            }
        }
        Self { names, manifest, faults, has_more }
    }

    /// Returns the digest of a file.
    ///
    /// # Errors
    ///
    /// A problem if the line of the file is not valid, or if two lines give different digests.
    pub(crate) fn look_up(&self, path: &MemberPath) -> Result<Option<Digest>, ManifestFault> {
        let written = encode_name(self.names, path.as_str());
        let algorithm = self.manifest.algorithm;
        let is_about =
            |(_, line): &&(ManifestFault, Vec<u8>)| match parse_line(algorithm, self.names, line) {
                Ok(Some((other, _))) => other == *path,
                _ => memmem::find(line, written.as_bytes()).is_some(),
            };
        let last = || self.faults.last().filter(|_| self.has_more);
        match self.faults.iter().find(is_about).or_else(last) {
            Some((fault, _)) => Err(fault.clone()),
            None => Ok(self.manifest.get(path.as_str()).map(|entry| entry.digest)),
        }
    }
}

/// Bytes to read at an offset to find a line: the end of one line and the complete next one.
const PEEK: usize = 2 * 1024;
/// Bytes to read at the end of the search: several lines before and after that of the file.
const STRETCH: usize = 8 * 1024;
/// Distance of the line at which the search ends.
const NEAR: u64 = 2 * 1024;

/// Finds the digest of a file by binary search in a text of `len` bytes. `read` fills a buffer from an offset. Returns
/// `None` if the line is not found, if a line on the way is invalid or not sorted, or if lines are very long. The
/// caller must then read all lines.
pub(crate) fn bisect(
    algorithm: Algorithm,
    len: u64,
    mut read: impl FnMut(&mut [u8], u64) -> Option<()>,
    path: &MemberPath,
) -> Option<Digest> {
    let mut buffer = [0; STRETCH];
    let from = narrow(0..len, NEAR, |at| {
        let text = read_some(&mut read, buffer.split_at_mut(PEEK).0, at, len).ok_or(())?;
        let Some((start, line)) = first_line(text) else { return Ok(None) };
        let (listed, _) = parse(algorithm, line).ok_or(())?;
        Ok::<_, ()>(Some(Probe { start: at + start as u64, is_before: listed < *path }))
    });
    find_from(algorithm, len, &mut read, path, from.ok()?)
}

/// Finds the digest of a file like [`bisect`], if its line is within some kilobytes of the offset `guess`.
pub(crate) fn find_near(
    algorithm: Algorithm,
    len: u64,
    mut read: impl FnMut(&mut [u8], u64) -> Option<()>,
    path: &MemberPath,
    guess: u64,
) -> Option<Digest> {
    let mut buffer = [0; PEEK];
    let from = match guess.checked_sub(STRETCH as u64 / 2) {
        None => 0,
        Some(at) => at + first_line(read_some(&mut read, &mut buffer, at, len)?)?.0 as u64,
    };
    find_from(algorithm, len, &mut read, path, from)
}

/// Returns the ranges of a text of `len` bytes that [`find_near`] reads.
pub(crate) fn ranges_near(len: u64, guess: u64) -> [Range<u64>; 2] {
    let stretch = STRETCH as u64;
    let from = guess.saturating_sub(stretch / 2).min(len);
    let tail = len.saturating_sub(stretch);
    [from..len.min(from + stretch + PEEK as u64), tail..len]
}

/// Finds the digest of a file in the lines after the offset `from`, at which a line begins.
fn find_from(
    algorithm: Algorithm,
    len: u64,
    read: &mut impl FnMut(&mut [u8], u64) -> Option<()>,
    path: &MemberPath,
    from: u64,
) -> Option<Digest> {
    let mut buffer = [0; STRETCH];
    let text = read_some(read, &mut buffer, from, len)?;
    let is_all = from + text.len() as u64 >= len;
    let end = if is_all { text.len() } else { memchr::memrchr(b'\n', text)? };
    let near = in_order(algorithm, text.get(..end)?)?;
    let at = near.binary_search_by(|(listed, _)| listed.cmp(path)).ok()?;
    let (_, digest) = near.get(at)?;
    // The next line must also be seen and name another file.
    if at + 1 == near.len() && !is_all {
        return None;
    }
    // Somebody may have appended lines.
    let tail = len.saturating_sub(STRETCH as u64).max(from);
    let text = read_some(read, &mut buffer, tail, len)?;
    let start = if tail > from { first_line(text)?.0 } else { 0 };
    let last = in_order(algorithm, text.get(start..)?)?.pop();
    last.filter(|(last, _)| last >= path).map(|_| *digest)
}

/// Parses a line of a sorted manifest.
fn parse(algorithm: Algorithm, line: &[u8]) -> Option<(MemberPath, Digest)> {
    // Other line ends need a complete read.
    let is_usual = !line.ends_with(b"\r");
    parse_line(algorithm, NameEncoding::Gnu, line).ok().flatten().filter(|_| is_usual)
}

/// Parses lines. Returns `None` unless they are valid, sorted by path, and unique.
fn in_order(algorithm: Algorithm, text: &[u8]) -> Option<Vec<(MemberPath, Digest)>> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = text.split(|byte| *byte == b'\n').map(|line| parse(algorithm, line));
    let lines: Vec<_> = lines.collect::<Option<_>>()?;
    lines.is_sorted_by(|(one, _), (other, _)| one < other).then_some(lines)
}

/// Reads text from an offset, up to the length of the buffer.
fn read_some<'b>(
    read: &mut impl FnMut(&mut [u8], u64) -> Option<()>,
    buffer: &'b mut [u8],
    at: u64,
    len: u64,
) -> Option<&'b [u8]> {
    let left = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX);
    let text = buffer.split_at_mut(left.min(buffer.len())).0;
    read(text, at)?;
    Some(text)
}

/// Returns the first complete line that begins in a text, and its offset.
fn first_line(text: &[u8]) -> Option<(usize, &[u8])> {
    let start = memchr::memchr(b'\n', text)? + 1;
    let rest = text.get(start..)?;
    Some((start, rest.get(..memchr::memchr(b'\n', rest)?)?))
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
    fn lines_that_sha256sum_reads_differently_are_warnings() {
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
            assert!(faults.iter().all(|fault| fault.is_warning), "{text}");
            assert_eq!(manifest.entries().len(), text.lines().count(), "{text}");
        }
        let path = MemberPath::new("-").unwrap();
        let written = Manifest::new(Algorithm::Sha256, [(path.clone(), Digest::sha256(b""))]);
        let text = written.to_text(NameEncoding::Gnu);
        assert_eq!(text, format!("{DIGEST}  ./-\n").as_bytes());
    }

    #[test]
    fn every_common_line_format_is_read() {
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
    fn every_invalid_line_is_reported_with_its_number() {
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
    fn a_repeated_path_is_a_warning_and_a_contradiction_an_error() {
        let other = DIGEST.replace('e', "f");
        let (_, faults) = parse(&format!("{DIGEST}  a\n{DIGEST}  a\n"));
        assert!(matches!(&faults[..], [fault] if fault.is_warning && fault.line == 2));
        let (_, faults) = parse(&format!("{DIGEST}  a\n{other}  a\n"));
        assert!(matches!(&faults[..], [fault] if !fault.is_warning && fault.line == 2));
    }

    #[test]
    fn a_byte_order_mark_and_other_encodings_are_reported() {
        let marked = format!("\u{feff}{DIGEST}  a\n");
        assert!(parse(&marked).1[0].message.contains("byte order mark"));
        let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (_, faults) = Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, &utf16);
        assert!(!faults.is_empty());
    }

    #[test]
    fn percent_decoding_follows_rfc_8493_only() {
        assert_eq!(decode_name(NameEncoding::Percent, "a%25%0a%0D%41%"), "a%\n\r%41%");
    }

    fn member_path() -> impl Strategy<Value = MemberPath> {
        "[ -~\n\r\u{e9}%]{1,12}(/[ -~]{1,6})?"
            .prop_filter_map("a valid name", |name| MemberPath::new(name).ok())
    }

    /// Returns whether `text` is exactly what is written for these entries.
    fn is_exact(names: NameEncoding, text: &[u8], entries: &[ManifestEntry]) -> bool {
        let files = entries.iter().map(|entry| (entry.path.as_str(), Some(entry.digest)));
        is_written(names, text, files)
    }

    #[test]
    fn a_text_with_more_or_fewer_lines_is_not_exact() {
        let text = ["a", "b", "c"].map(|name| format!("{DIGEST}  {name}\n")).concat();
        let (manifest, _) = parse(&text);
        let entries = manifest.entries();
        assert!(is_exact(NameEncoding::Gnu, text.as_bytes(), entries));
        assert!(!is_exact(NameEncoding::Gnu, text.as_bytes(), &entries[..2]));
        assert!(!is_written(NameEncoding::Gnu, b"", [("a", None)].into_iter()));
        for other in [format!("{text}\n"), format!("# a\n{text}"), format!("{text}{text}")] {
            assert!(!is_exact(NameEncoding::Gnu, other.as_bytes(), entries));
        }
        let twice = [entries[0].clone(), entries[0].clone()];
        let line = format!("{DIGEST}  a\n");
        assert!(!is_exact(NameEncoding::Gnu, line.repeat(2).as_bytes(), &twice));
    }

    proptest! {
        #[test]
        fn written_manifests_are_read_back(
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
            let (again, faults) = Manifest::parse(Algorithm::Sha256, names, &text);
            prop_assert_eq!(faults, []);
            prop_assert_eq!(again.entries().len(), paths.len());
            prop_assert!(is_exact(names, &text, manifest.entries()));
            if !paths.is_empty() {
                prop_assert!(!is_exact(names, &text[..text.len() - 1], manifest.entries()));
            }
            for entry in manifest.entries() {
                prop_assert_eq!(again.get(entry.path.as_str()).map(|entry| entry.digest), Some(entry.digest));
            }
        }

        #[test]
        fn an_exact_text_is_read_without_problems(
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
            let (read, faults) = Manifest::parse(Algorithm::Sha256, names, &text);
            if is_exact(names, &text, read.entries()) {
                prop_assert_eq!(faults, []);
                prop_assert_eq!(read.to_text(names), text);
            }
        }

        #[test]
        fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            for names in [NameEncoding::Gnu, NameEncoding::Percent, NameEncoding::Verbatim] {
                let _ = Manifest::parse(Algorithm::Md5, names, &bytes);
            }
        }
    }
}

#[cfg(test)]
mod lookup_tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const ENCODINGS: [NameEncoding; 3] =
        [NameEncoding::Gnu, NameEncoding::Percent, NameEncoding::Verbatim];

    fn found(text: &[u8], path: &MemberPath) -> Option<Digest> {
        let read = |buffer: &mut [u8], at: u64| {
            let at = usize::try_from(at).unwrap();
            buffer.copy_from_slice(&text[at..at + buffer.len()]);
            Some(())
        };
        bisect(Algorithm::Sha256, text.len() as u64, read, path)
    }

    fn digest_of(text: &str) -> Digest {
        Digest::sha256(text.as_bytes())
    }

    fn line(name: &str) -> String {
        format!("{}  {name}\n", digest_of(name))
    }

    fn path(name: &str) -> MemberPath {
        MemberPath::new(name).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_file_of_a_long_manifest_is_found(
            names in proptest::collection::btree_set("[a-c/\\\\\n é.]{1,9}", 0..400),
            other in "[a-c]{1,4}",
            damage in proptest::option::of((any::<proptest::sample::Index>(), any::<u8>())),
        ) {
            let paths = names.into_iter().filter_map(|name| MemberPath::new(name).ok());
            let listed: BTreeMap<_, _> =
                paths.map(|path| (path.clone(), digest_of(path.as_str()))).collect();
            let manifest = Manifest::new(Algorithm::Sha256, listed.clone());
            let mut text = manifest.to_text(NameEncoding::Gnu);
            let index = ManifestIndex::new(Algorithm::Sha256, NameEncoding::Gnu, &text);
            for (path, digest) in &listed {
                prop_assert_eq!(found(&text, path), Some(*digest));
                prop_assert_eq!(index.look_up(path), Ok(Some(*digest)));
            }
            let other = MemberPath::new(other).unwrap();
            prop_assert_eq!(found(&text, &other), listed.get(&other).copied());
            prop_assert_eq!(index.look_up(&other), Ok(listed.get(&other).copied()));
            let Some((at, byte)) = damage.filter(|_| !text.is_empty()) else { return Ok(()) };
            let at = at.index(text.len());
            text[at] = byte;
            // Every digest that is found is in some line, regardless of the damage.
            for path in listed.keys() {
                if let Some(digest) = found(&text, path) {
                    let says = |line: &[u8]| {
                        let read = parse_line(Algorithm::Sha256, NameEncoding::Gnu, line);
                        read.ok().flatten().is_some_and(|line| line == (path.clone(), digest))
                    };
                    prop_assert!(text.split(|byte| *byte == b'\n').any(says));
                }
            }
        }

        #[test]
        fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..20_000)) {
            found(&bytes, &path("a"));
            for names in ENCODINGS {
                let _ = ManifestIndex::new(Algorithm::Sha256, names, &bytes).look_up(&path("a"));
            }
        }
    }

    #[test]
    fn unsorted_lines_are_left_to_the_index() {
        let text: String = ["a", "c", "b", "d"].map(line).concat();
        for name in ["a", "b", "c", "d"] {
            assert_eq!(found(text.as_bytes(), &path(name)), None, "{name}");
        }
        // The same name twice, on adjacent lines.
        let text = format!("{}{}  b\n", line("b"), digest_of("other"));
        assert_eq!(found(text.as_bytes(), &path("b")), None);
        // The same name again at the end, far from the first.
        let sound: String = (1000..3000).map(|number| line(&number.to_string())).collect();
        assert_eq!(found(sound.as_bytes(), &path("1500")), Some(digest_of("1500")));
        let text = format!("{sound}{}  1500\n", digest_of("other"));
        assert_eq!(found(text.as_bytes(), &path("1500")), None);
        // Comments are not sorted.
        assert_eq!(found(format!("# b\n{}", line("b")).as_bytes(), &path("b")), None);
        // Other line ends.
        assert_eq!(found(line("b").replace('\n', "\r\n").as_bytes(), &path("b")), None);
        // A line longer than the buffer.
        let long = format!("{}{}", line(&"a".repeat(2 * STRETCH)), line("b"));
        assert_eq!(found(long.as_bytes(), &path("b")), None);
    }

    #[test]
    fn an_invalid_line_counts_for_the_files_that_it_names() {
        let look_up = |text: &str, name: &str| {
            let index = ManifestIndex::new(Algorithm::Sha256, NameEncoding::Gnu, text.as_bytes());
            index.look_up(&path(name)).map_err(|fault| fault.line)
        };
        let text = format!("{}0123  run/b.ra\n{}", line("x"), line("run/b.ra"));
        assert_eq!(look_up(&text, "x"), Ok(Some(digest_of("x"))));
        assert_eq!(look_up(&text, "run/b.ra"), Err(2));
        assert_eq!(look_up(&text, "y"), Ok(None));
        // A contradiction does not affect another name with the same end.
        let text = format!("{0}{1}{2}  x/a\n{1}", line("x/a"), line("a"), digest_of("other"));
        assert_eq!(look_up(&text, "a"), Ok(Some(digest_of("a"))));
        assert_eq!(look_up(&text, "x/a"), Err(3));
        // A file that no tool reads, and a file that is not a manifest.
        let text = format!("\u{feff}{}{}", line("x"), line("y"));
        assert_eq!(look_up(&text, "x"), Err(1));
        assert_eq!(look_up(&text, "y"), Ok(Some(digest_of("y"))));
        let text = "nonsense\n".repeat(2000) + &line("a");
        assert_eq!(look_up(&text, "a"), Err(1001));
    }
}
