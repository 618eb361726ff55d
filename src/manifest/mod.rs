//! Manifests: the lists of digests that `sha256sum -c` and its siblings read.
//!
//! A line is `<digest in hexadecimal>`, two spaces, `<path>`. What GNU coreutils and BSD tools write
//! is read: either case, a `*` before the name, CRLF, a missing last line end, `#` comments, the
//! `SHA256 (name) = digest` form, `./` before the name, and GNU's escapes for line ends and
//! backslashes in names. What ra-pack writes is one form: lower case, sorted by the bytes of the path.

mod line;
mod lookup;

use std::io::{self, BufRead, Read as _};

pub use self::line::{ManifestFault, ManifestFaultKind, NameEncoding};
pub(crate) use self::line::{decode_name, push_line};
pub(crate) use self::lookup::{ManifestIndex, bisect};

use self::line::{MAX_FAULTS, MAX_LINE_BYTES, parse_line};
use crate::digest::{Algorithm, Digest};
use crate::path::MemberPath;

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

/// Shows each line of a text to `each`, as long as they are what [`Manifest::to_text`] writes, in the order of the
/// paths and each path once, and `each` says to go on. Returns whether the whole text was shown: reading it with
/// [`Manifest::parse`] gives these entries and no fault.
///
/// # Errors
///
/// When the text cannot be read.
pub(crate) fn each_as_written(
    algorithm: Algorithm,
    names: NameEncoding,
    mut text: impl BufRead,
    mut each: impl FnMut(&MemberPath, &Digest) -> bool,
) -> io::Result<bool> {
    // Names as they are cannot be told from the ends of lines.
    if names == NameEncoding::Verbatim {
        return Ok(false);
    }
    let mut before: Option<MemberPath> = None;
    let (mut line, mut written) = (Vec::new(), Vec::new());
    while text.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line)? > 0 {
        let content = line.strip_suffix(b"\n").unwrap_or(&line);
        let Ok(Some((path, digest))) = parse_line(algorithm, names, content) else {
            return Ok(false);
        };
        push_line(&mut written, names, path.as_str(), &digest);
        let is_next = before.is_none_or(|before| before < path);
        if line != written || !is_next || !each(&path, &digest) {
            return Ok(false);
        }
        before = Some(path);
        line.clear();
        written.clear();
    }
    Ok(true)
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
        assert_eq!(decode_name(NameEncoding::Percent, "a%25%0a%0D%41%"), "a%\n\r%41%");
    }

    fn member_path() -> impl Strategy<Value = MemberPath> {
        "[ -~\n\r\u{e9}%]{1,12}(/[ -~]{1,6})?"
            .prop_filter_map("a name that is allowed", |name| MemberPath::new(name).ok())
    }

    /// The entries of a text that is as it is written, however it comes in blocks.
    fn shown(algorithm: Algorithm, names: NameEncoding, text: &[u8]) -> Option<Vec<ManifestEntry>> {
        let mut entries = Vec::new();
        let each = |path: &MemberPath, digest: &Digest| {
            entries.push(ManifestEntry { path: path.clone(), digest: *digest, line: 0 });
            true
        };
        let blocks = io::BufReader::with_capacity(7, text);
        each_as_written(algorithm, names, blocks, each).unwrap().then_some(entries)
    }

    #[test]
    fn a_text_is_shown_as_long_as_it_is_wanted() {
        let text = ["a", "b", "c"].map(|name| format!("{DIGEST}  {name}\n")).concat();
        let mut count = 0;
        let mut until = |last: &str| {
            count = 0;
            let each = |path: &MemberPath, _: &Digest| {
                count += 1;
                path.as_str() < last
            };
            each_as_written(Algorithm::Sha256, NameEncoding::Gnu, text.as_bytes(), each).unwrap()
        };
        assert!(!until("b"));
        assert!(until("d"));
        assert_eq!(count, 3);
        for other in [format!("{text}\n"), format!("# a\n{text}"), format!("{text}{text}")] {
            assert_eq!(shown(Algorithm::Sha256, NameEncoding::Gnu, other.as_bytes()), None);
        }
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
            let (again, faults) = Manifest::parse(Algorithm::Sha256, names, &text);
            prop_assert_eq!(faults, []);
            prop_assert_eq!(again.entries().len(), paths.len());
            prop_assert_eq!(shown(Algorithm::Sha256, names, &text), Some(manifest.entries().to_vec()));
            if !paths.is_empty() {
                prop_assert_eq!(shown(Algorithm::Sha512, names, &text), None);
                prop_assert_eq!(shown(Algorithm::Sha256, names, &text[..text.len() - 1]), None);
            }
            for entry in manifest.entries() {
                prop_assert_eq!(again.get(entry.path.as_str()).map(|entry| entry.digest), Some(entry.digest));
            }
        }

        #[test]
        fn a_text_that_is_as_written_has_no_fault_when_it_is_read(
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
            if let Some(shown) = shown(Algorithm::Sha256, names, &text) {
                let (read, faults) = Manifest::parse(Algorithm::Sha256, names, &text);
                prop_assert_eq!(faults, []);
                let read = read.entries().iter().map(|entry| ManifestEntry { line: 0, ..entry.clone() });
                prop_assert!(read.eq(shown));
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
