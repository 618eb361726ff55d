//! The lists of a bag: `bag-info.txt`, which is about the bag and the size of its payload (RFC 8493 §2.2.2),
//! `fetch.txt`, which is about payload that is still to be fetched (§2.2.3), and manifests. Nothing is fetched here.

use std::collections::HashMap;

use super::declaration::{BagVersion, as_text, numbered_lines};
use super::{BagFault, BagFaultKind, MAX_FAULTS, beginning};
use crate::manifest::{NameEncoding, decode_name};
use crate::path::MemberPath;

/// Gives each line that is not blank to `read`, with the faults up to it, until there are too many.
fn each_line(
    text: &[u8],
    faults: &mut Vec<BagFault>,
    mut read: impl FnMut(u64, &str, &mut Vec<BagFault>) -> Result<(), BagFaultKind>,
) {
    let text = match as_text(text) {
        Ok(text) => text,
        Err(fault) => return faults.push(fault),
    };
    for (line, content) in numbered_lines(text) {
        if faults.len() >= MAX_FAULTS {
            return faults.push(BagFault { line, kind: BagFaultKind::TooMany });
        }
        if !content.trim().is_empty()
            && let Err(kind) = read(line, content, faults)
        {
            faults.push(BagFault { line, kind });
        }
    }
}

/// The label of the size of the payload.
pub(crate) const PAYLOAD_OXUM: &str = "Payload-Oxum";
/// The label of the day on which a bag was made.
pub(crate) const BAGGING_DATE: &str = "Bagging-Date";

/// Longest line that is written; the RFC recommends 79 characters.
const WIDTH: usize = 79;
/// What a line that continues another begins with.
const INDENT: &str = "  ";

/// One element of the metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BagField {
    /// The label; reserved ones are the same in either case.
    pub label: String,
    /// The value, its lines joined by a blank.
    pub value: String,
    /// The line that it begins on, counted from 1; 0 for one that was not read.
    pub line: u64,
}

/// The metadata of a bag, in its order.
///
/// ```
/// use ra_pack::bag::{BagInfo, BagVersion};
///
/// let text = b"Contact-Name: A. Scientist\nExternal-Description: A long text\n  that goes on\n";
/// let (info, faults) = BagInfo::parse(BagVersion::V1_0, text);
/// assert!(faults.is_empty());
/// assert_eq!(info.get("external-description").unwrap().value, "A long text that goes on");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BagInfo {
    fields: Vec<BagField>,
}

/// The size of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadOxum {
    /// Bytes of all files.
    pub bytes: u64,
    /// How many files.
    pub files: u64,
}

/// Why a label or value cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidField {
    /// An empty label, or one that would be read as something else.
    #[error("the label `{}` is empty, has a colon, a control character, or a blank or byte order mark at its edge", crate::path::escape(.0))]
    Label(String),
    /// An empty value, or one that would be read as something else.
    #[error("the value of `{}` is empty, has a control character or line end, or a blank at its edge", crate::path::escape(.0))]
    Value(String),
    /// A label whose value only the writer knows.
    #[error("`{PAYLOAD_OXUM}` is computed, and cannot be given")]
    Computed,
    /// No day of the calendar.
    #[error("`{BAGGING_DATE}` is `{}`, expected a day as YYYY-MM-DD", crate::path::escape(.0))]
    Date(String),
}

impl PayloadOxum {
    /// Reads `bytes.files`.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |digits: &str| {
            let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            all.then(|| digits.parse().ok()).flatten()
        };
        let (bytes, files) = text.split_once('.')?;
        Some(Self { bytes: number(bytes)?, files: number(files)? })
    }
}

impl std::fmt::Display for PayloadOxum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.bytes, self.files)
    }
}

impl BagInfo {
    /// Reads metadata; `text` is decoded, with LF at the ends of lines.
    pub fn parse(version: BagVersion, text: &[u8]) -> (Self, Vec<BagFault>) {
        let mut info = Self::default();
        let mut faults = Vec::new();
        each_line(text, &mut faults, |line, content, _| {
            let malformed = || BagFaultKind::InfoLine(beginning(content));
            if content.starts_with([' ', '\t']) {
                // A line that continues nothing is not a field either.
                let field = info.fields.last_mut().ok_or_else(malformed)?;
                if !field.value.is_empty() {
                    field.value.push(' ');
                }
                field.value.push_str(content.trim());
                return Ok(());
            }
            let (label, value) = field(version, content).ok_or_else(malformed)?;
            let (label, value) = (label.to_owned(), value.to_owned());
            info.fields.push(BagField { label, value, line });
            Ok(())
        });
        info.check_reserved(&mut faults);
        faults.sort_by_key(|fault| fault.line);
        (info, faults)
    }

    fn check_reserved(&self, faults: &mut Vec<BagFault>) {
        let mut first = None;
        for field in &self.fields {
            if field.label.eq_ignore_ascii_case(PAYLOAD_OXUM) {
                if let Some(first) = first {
                    let kind = BagFaultKind::OxumRepeated { first };
                    faults.push(BagFault { line: field.line, kind });
                }
                first = first.or(Some(field.line));
                if PayloadOxum::parse(&field.value).is_none() {
                    let kind = BagFaultKind::OxumForm(beginning(&field.value));
                    faults.push(BagFault { line: field.line, kind });
                }
            }
            if field.label.eq_ignore_ascii_case(BAGGING_DATE) && !is_date(&field.value) {
                let kind = BagFaultKind::DateForm(beginning(&field.value));
                faults.push(BagFault { line: field.line, kind });
            }
        }
    }

    /// Adds an element that somebody asked for.
    ///
    /// # Errors
    ///
    /// When it would not be read back as it is, or when its value is not the caller's to say.
    pub fn add(&mut self, label: &str, value: &str) -> Result<(), InvalidField> {
        let edges = |text: &str| text.trim() != text || text.is_empty();
        // The first line of a file would not be read as it is.
        let marked = label.starts_with('\u{feff}');
        if edges(label) || marked || label.contains(|c: char| c == ':' || c.is_control()) {
            return Err(InvalidField::Label(label.to_owned()));
        }
        if edges(value) || value.contains(char::is_control) {
            return Err(InvalidField::Value(label.to_owned()));
        }
        if label.eq_ignore_ascii_case(PAYLOAD_OXUM) {
            return Err(InvalidField::Computed);
        }
        if label.eq_ignore_ascii_case(BAGGING_DATE) && !is_date(value) {
            return Err(InvalidField::Date(value.to_owned()));
        }
        self.push(label, value);
        Ok(())
    }

    /// Sets the size of the payload.
    pub fn set_payload(&mut self, oxum: PayloadOxum) {
        self.fields.retain(|field| !field.label.eq_ignore_ascii_case(PAYLOAD_OXUM));
        self.push(PAYLOAD_OXUM, &oxum.to_string());
    }

    fn push(&mut self, label: &str, value: &str) {
        let (label, value) = (label.to_owned(), value.to_owned());
        self.fields.push(BagField { label, value, line: 0 });
    }

    /// The elements in their order.
    pub fn fields(&self) -> &[BagField] {
        &self.fields
    }

    /// The first element of a label, in either case.
    pub fn get(&self, label: &str) -> Option<&BagField> {
        self.fields.iter().find(|field| field.label.eq_ignore_ascii_case(label))
    }

    /// The text, long values folded where a single blank stands.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for field in &self.fields {
            push_folded(&mut text, &field.label, &field.value);
        }
        text
    }
}

/// The label and the value of a line.
fn field(version: BagVersion, line: &str) -> Option<(&str, &str)> {
    let (label, value) = line.split_once(':')?;
    let trimmed = label.trim_end_matches([' ', '\t']);
    let rest = value.trim();
    if version == BagVersion::V1_0 {
        let exact = trimmed == label && (rest.is_empty() || value.starts_with([' ', '\t']));
        return (exact && !label.trim().is_empty()).then_some((label, rest));
    }
    (!trimmed.trim().is_empty()).then_some((trimmed, rest))
}

fn push_folded(text: &mut String, label: &str, value: &str) {
    text.push_str(label);
    text.push(':');
    let mut column = label.chars().count() + 1;
    let mut words = value.split(' ').peekable();
    // A blank beside another, or beside white space that reading would strip, is no place to fold.
    let mut may_fold = false;
    while let Some(word) = words.next() {
        let length = word.chars().count();
        let solid = !word.is_empty() && word.trim() == word;
        if may_fold && solid && column + length >= WIDTH {
            text.push('\n');
            text.push_str(INDENT);
            column = INDENT.len();
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
        may_fold = solid && words.peek().is_some_and(|next| !next.is_empty());
    }
    text.push('\n');
}

/// The day in UTC of a time in seconds since 1970, as YYYY-MM-DD; nothing after the year 9999.
pub(crate) fn date_of(seconds: u64) -> Option<String> {
    const DAY: u64 = 24 * 60 * 60;
    let mut days = seconds / DAY;
    let mut months = (1970..=9999).flat_map(|year| (1..=12).map(move |month| (year, month)));
    let (year, month) = months.find(|(year, month)| {
        let length = days_of(*year, *month).expect("each of the 12 months has a length");
        let is_it = days < length;
        days -= if is_it { 0 } else { length };
        is_it
    })?;
    Some(format!("{year:04}-{month:02}-{:02}", days + 1))
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of(year: u64, month: u64) -> Option<u64> {
    match month {
        2 => Some(if is_leap(year) { 29 } else { 28 }),
        4 | 6 | 9 | 11 => Some(30),
        1..=12 => Some(31),
        _ => None,
    }
}

/// Whether `text` is a day of the calendar as YYYY-MM-DD.
pub(super) fn is_date(text: &str) -> bool {
    let number = |digits: &str, length: usize| {
        let all = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| digits.parse::<u64>().ok()).flatten()
    };
    let mut parts = text.splitn(3, '-');
    let mut next = |length| parts.next().and_then(|part| number(part, length));
    match (next(4), next(2), next(2)) {
        (Some(year), Some(month), Some(day)) => {
            days_of(year, month).is_some_and(|length| (1..=length).contains(&day))
        }
        _ => false,
    }
}

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
        let mut seen = HashMap::new();
        each_line(text, &mut faults, |line, content, faults| {
            let entry = entry(names, line, content, faults)?;
            if let Some(first) = seen.insert(entry.path.clone(), line) {
                let found = entry.path.as_str().to_owned();
                let kind = BagFaultKind::FetchRepeated { found, first };
                faults.push(BagFault { line, kind });
            }
            list.entries.push(entry);
            Ok(())
        });
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
    let form = || BagFaultKind::FetchLine(beginning(content));
    let (url, rest) = content.split_once(BLANKS).ok_or_else(form)?;
    let (length, path) = rest.trim_start_matches(BLANKS).split_once(BLANKS).ok_or_else(form)?;
    let scheme = scheme(url).ok_or_else(|| BagFaultKind::FetchUrl(beginning(url)))?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        let kind = BagFaultKind::FetchScheme(beginning(url));
        faults.push(BagFault { line, kind });
    }
    let digits = length.bytes().all(|byte| byte.is_ascii_digit());
    let length = match length {
        "-" => None,
        _ => Some(
            digits
                .then(|| length.parse().ok())
                .flatten()
                .ok_or_else(|| BagFaultKind::FetchLength(beginning(length)))?,
        ),
    };
    let path = decode_name(names, path.trim_start_matches(BLANKS));
    let path = MemberPath::new(&*path)?;
    if !path.as_str().starts_with("data/") {
        return Err(BagFaultKind::FetchOutside(beginning(path.as_str())));
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
        let code = name.get(at + 1..at + 3).unwrap_or_default();
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
mod info_tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(version: BagVersion, text: &str) -> Vec<u64> {
        BagInfo::parse(version, text.as_bytes()).1.iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn labels_repeat_values_fold_and_the_order_stays() {
        let text = "B: 1\nA: x\n\ty\n   z\nB: 2\nPAYLOAD-oxum: 12.3\n";
        let (info, faults) = BagInfo::parse(BagVersion::V1_0, text.as_bytes());
        assert_eq!(faults, []);
        let pairs: Vec<_> =
            info.fields().iter().map(|field| (&*field.label, &*field.value)).collect();
        assert_eq!(pairs, [("B", "1"), ("A", "x y z"), ("B", "2"), ("PAYLOAD-oxum", "12.3")]);
        let oxum = PayloadOxum::parse(&info.get(PAYLOAD_OXUM).unwrap().value);
        assert_eq!(oxum, Some(PayloadOxum { bytes: 12, files: 3 }));
    }

    #[test]
    fn every_fault_has_its_line() {
        let new = BagVersion::V1_0;
        assert_eq!(lines(new, "A: 1\nnothing\n"), [2]);
        assert_eq!(lines(new, "A : 1\n"), [1]);
        assert_eq!(lines(new, "A:1\n"), [1]);
        assert_eq!(lines(BagVersion::V0_97, "A : 1\nB:2\n"), [0_u64; 0]);
        assert_eq!(lines(new, " folded: first\n"), [1]);
        assert_eq!(lines(new, "Payload-Oxum: 1.1\nPayload-Oxum: 1.1\n"), [2]);
        for oxum in ["1", "1.", ".1", "1.1.1", "-1.1", "+1.1", "a.b", "99999999999999999999.1"] {
            assert_eq!(lines(new, &format!("Payload-Oxum: {oxum}\n")), [1], "{oxum}");
        }
        assert_eq!(lines(new, "Bagging-Date: yesterday\n"), [1]);
        assert_eq!(lines(new, "\u{feff}A: 1\n"), [1]);
    }

    #[test]
    fn what_would_be_read_otherwise_is_not_written() {
        let mut info = BagInfo::default();
        for (label, value) in [
            ("", "x"),
            ("a:b", "x"),
            (" a", "x"),
            ("\u{feff}a", "x"),
            ("a\n", "x"),
            ("a", ""),
            ("a", "x\ny"),
            ("a", " x"),
            ("payload-oxum", "1.1"),
            ("Bagging-date", "2024-02-30"),
        ] {
            assert!(info.add(label, value).is_err(), "{label:?} {value:?}");
        }
        assert_eq!(info.fields(), []);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            fields in proptest::collection::vec(("[!-9;-~é]{1,20}", "[!-~ü]{1,90}( {1,3}[!-~ü]{1,30}){0,20}"), 0..5)
        ) {
            let mut info = BagInfo::default();
            for (label, value) in &fields {
                prop_assume!(info.add(label, value).is_ok());
            }
            let text = info.to_text();
            let (again, faults) = BagInfo::parse(BagVersion::V1_0, text.as_bytes());
            prop_assert_eq!(faults, []);
            let pairs = |info: &BagInfo| info.fields().iter().map(|field| (field.label.clone(), field.value.clone())).collect::<Vec<_>>();
            prop_assert_eq!(pairs(&again), pairs(&info));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for version in BagVersion::ALL {
                let _ = BagInfo::parse(version, &bytes);
            }
        }
    }
}

#[cfg(test)]
mod date_tests {
    use super::*;

    #[test]
    fn seconds_become_the_day_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (951_782_400, "2000-02-29"),
            (1_717_372_800, "2024-06-03"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date_of(seconds).as_deref(), Some(date));
            assert!(is_date(date));
        }
        assert_eq!(date_of(u64::MAX), None);
    }

    #[test]
    fn what_is_no_day_is_none() {
        for text in
            ["2023-02-29", "2024-13-01", "2024-1-1", "24-01-01", "2024-01-00", "", "+024-01-01"]
        {
            assert!(!is_date(text), "{text}");
        }
    }
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
