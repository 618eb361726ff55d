//! The lists of a bag: `bag-info.txt` with metadata and the size of the payload (RFC 8493 §2.2.2), `fetch.txt` with
//! files to be fetched (§2.2.3), and manifests. Nothing is fetched here.

use std::collections::HashMap;

use super::{
    BAG_INFO, BagVersion, FETCH, MAX_FAULTS, PACKAGE_INFO, as_text, beginning, fault,
    numbered_lines,
};
use crate::finding::{self, Code, Finding};
use crate::manifest::{NameEncoding, decode_name};
use crate::path::{MemberPath, escape};
use crate::time::day_of;

/// Passes each non-blank line of a tag file to `read`, with the findings so far, until there are too many. An error
/// from `read` becomes a finding of the `code`.
fn each_line(
    (code, file): (Code, &str),
    text: &[u8],
    mut read: impl FnMut(u64, &str, &mut Vec<Finding>) -> Result<(), String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let text = match as_text(text, file) {
        Ok(text) => text,
        Err(finding) => return vec![*finding],
    };
    for (line, content) in numbered_lines(text) {
        if findings.len() >= MAX_FAULTS {
            const MESSAGE: &str =
                "the rest of the file was not read: too many lines before this one have errors";
            findings.push(fault(Code::BadTagFile, file, line, MESSAGE));
            break;
        }
        if !content.trim().is_empty()
            && let Err(message) = read(line, content, &mut findings)
        {
            findings.push(fault(code, file, line, message));
        }
    }
    findings
}

/// The label for the size of the payload.
pub(crate) const PAYLOAD_OXUM: &str = "Payload-Oxum";
/// The label for the date when the bag was made.
pub(crate) const BAGGING_DATE: &str = "Bagging-Date";

/// Length of the longest line that is written; the RFC recommends 79 characters.
const WIDTH: usize = 79;
/// The beginning of a line that continues the one before.
const INDENT: &str = "  ";

/// One element of the metadata in `bag-info.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BagField {
    /// The label; the case of reserved labels does not matter.
    pub label: String,
    /// The value; several lines are joined by a space.
    pub value: String,
    /// The first line of the element, counted from 1; 0 if it was not read from a file.
    pub line: u64,
}

/// The metadata of a bag, in the order of the file.
///
/// ```
/// use ra_pack::bag::{BagInfo, BagVersion};
///
/// let text = b"Contact-Name: A. Scientist\nExternal-Description: A long text\n  that goes on\n";
/// let (info, findings) = BagInfo::parse(BagVersion::V1_0, text);
/// assert!(findings.is_empty());
/// assert_eq!(info.get("external-description").unwrap().value, "A long text that goes on");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BagInfo {
    fields: Vec<BagField>,
}

/// The size of a payload: `Payload-Oxum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadOxum {
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Number of files.
    pub files: u64,
}

impl PayloadOxum {
    /// Reads `bytes.files`.
    pub fn parse(text: &str) -> Option<Self> {
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
    /// Returns the name of the metadata file in a bag of this version.
    pub(crate) fn file(version: BagVersion) -> &'static str {
        if version < BagVersion::V0_96 { PACKAGE_INFO } else { BAG_INFO }
    }

    /// Reads metadata from a decoded `text` with LF line ends.
    pub fn parse(version: BagVersion, text: &[u8]) -> (Self, Vec<Finding>) {
        let mut info = Self::default();
        let file = Self::file(version);
        let mut findings = each_line((Code::BadTagFile, file), text, |line, content, _| {
            let malformed =
                || format!("expected `Label: value`, found `{}`", escape(&beginning(content)));
            if content.starts_with([' ', '\t']) {
                // A continuation without a line before it is not a field either.
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
        let mut first = None;
        for BagField { label, value, line } in &info.fields {
            let found = || escape(&beginning(value)).to_string();
            if label.eq_ignore_ascii_case(PAYLOAD_OXUM) {
                if let Some(first) = first {
                    let message = format!("`{PAYLOAD_OXUM}` is already on line {first}");
                    findings.push(fault(Code::PayloadOxum, file, *line, message));
                }
                first = first.or(Some(*line));
                if PayloadOxum::parse(value).is_none() {
                    let message =
                        format!("expected `{PAYLOAD_OXUM}: <bytes>.<files>`, found `{}`", found());
                    findings.push(fault(Code::PayloadOxum, file, *line, message));
                }
            }
            if label.eq_ignore_ascii_case(BAGGING_DATE) && day_of(value).is_none() {
                let message = format!("expected `{BAGGING_DATE}: YYYY-MM-DD`, found `{}`", found());
                findings.push(fault(Code::BadTagFile, file, *line, message).warning());
            }
        }
        finding::sort(&mut findings);
        (info, findings)
    }

    /// Adds an element.
    ///
    /// # Errors
    ///
    /// A message if the element would not be read back unchanged, if its value is computed, or if it is not a valid
    /// date.
    pub fn add(&mut self, label: &str, value: &str) -> Result<(), String> {
        let edges = |text: &str| text.trim() != text || text.is_empty();
        // At the beginning of a file, a byte order mark would be dropped.
        let marked = label.starts_with('\u{feff}');
        let shown = escape(label);
        if edges(label) || marked || label.contains(|c: char| c == ':' || c.is_control()) {
            return Err(format!(
                "the label `{shown}` is empty, contains a colon or a control character, or begins or ends with white \
                 space or a byte order mark"
            ));
        }
        if edges(value) || value.contains(char::is_control) {
            return Err(format!(
                "the value of `{shown}` is empty, contains a control character or line end, or begins or ends with white \
                 space"
            ));
        }
        if label.eq_ignore_ascii_case(PAYLOAD_OXUM) {
            return Err(format!("`{PAYLOAD_OXUM}` is computed and cannot be set"));
        }
        if label.eq_ignore_ascii_case(BAGGING_DATE) && day_of(value).is_none() {
            let value = escape(value);
            return Err(format!("`{BAGGING_DATE}` is `{value}`, expected a date as YYYY-MM-DD"));
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

    /// Returns the elements in order.
    pub fn fields(&self) -> &[BagField] {
        &self.fields
    }

    /// Returns the first element with a label, ignoring case.
    pub fn get(&self, label: &str) -> Option<&BagField> {
        self.with_label(label).next()
    }

    /// Returns the elements with a label, ignoring case.
    pub fn with_label(&self, label: &str) -> impl Iterator<Item = &BagField> {
        self.fields.iter().filter(move |field| field.label.eq_ignore_ascii_case(label))
    }

    /// Returns the text of the file, with long values folded at single spaces.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for field in &self.fields {
            push_folded(&mut text, &field.label, &field.value);
        }
        text
    }
}

/// Splits a line into label and value.
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
    // Folding at a space next to another, or next to white space that readers strip, would change the value.
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

/// One file to be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchEntry {
    /// The URL of the file.
    pub url: String,
    /// The claimed length in bytes.
    pub length: Option<u64>,
    /// The path in the bag.
    pub path: MemberPath,
    /// The line in `fetch.txt`, counted from 1.
    pub line: u64,
}

/// Reads `fetch.txt`, the list of files to be fetched, from a decoded `text` with LF line ends.
pub fn parse_fetch_list(names: NameEncoding, text: &[u8]) -> (Vec<FetchEntry>, Vec<Finding>) {
    let (mut entries, mut seen) = (Vec::new(), HashMap::new());
    let findings = each_line((Code::BadFetchList, FETCH), text, |line, content, findings| {
        let entry = entry(names, line, content, findings)?;
        if let Some(first) = seen.insert(entry.path.clone(), line) {
            let path = escape(entry.path.as_str());
            let message = format!("`{path}` is already on line {first}");
            findings.push(fault(Code::BadFetchList, FETCH, line, message));
        }
        entries.push(entry);
        Ok(())
    });
    (entries, findings)
}

fn entry(
    names: NameEncoding,
    line: u64,
    content: &str,
    findings: &mut Vec<Finding>,
) -> Result<FetchEntry, String> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let found = |expected: &str, found: &str| {
        format!("expected {expected}, found `{}`", escape(&beginning(found)))
    };
    let form = || found("`<url> <length> <path>`", content);
    let (url, rest) = content.split_once(BLANKS).ok_or_else(form)?;
    let (length, path) = rest.trim_start_matches(BLANKS).split_once(BLANKS).ok_or_else(form)?;
    let scheme = scheme(url).ok_or_else(|| found("an absolute URL", url))?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        let message = format!("the URL is neither http nor https: `{}`", escape(&beginning(url)));
        findings.push(fault(Code::BadFetchList, FETCH, line, message).warning());
    }
    let number = number(length);
    if number.is_none() && length != "-" {
        return Err(found("a number of bytes or `-`", length));
    }
    let path = decode_name(names, path.trim_start_matches(BLANKS));
    let path = MemberPath::new(&*path).map_err(|invalid| invalid.to_string())?;
    if !path.as_str().starts_with("data/") {
        let path = escape(&beginning(path.as_str())).to_string();
        return Err(format!("`{path}` is not below `data/`, where all files to be fetched belong"));
    }
    Ok(FetchEntry { url: url.to_owned(), length: number, path, line })
}

/// Returns the number if it consists of digits only.
fn number(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the scheme of an absolute URL (RFC 3986 §3.1).
fn scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once(':')?;
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_scheme =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(word);
    (is_scheme && !rest.is_empty()).then_some(scheme)
}

/// Returns a finding for each unusual line of the decoded manifest `file`. Lines that are not manifest lines at all are
/// left to the manifest parser.
pub fn manifest_notes(version: BagVersion, file: &str, text: &[u8]) -> Vec<Finding> {
    let mut notes = Vec::new();
    for (line, content) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        if notes.len() >= MAX_FAULTS {
            break;
        }
        let mut note = |code, message| notes.push(fault(code, file, line, message));
        let blank = content.iter().position(|byte| matches!(byte, b' ' | b'\t'));
        let (digest, rest) = content.split_at(blank.unwrap_or(content.len()));
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let name = rest.split_at(blanks).1;
        let is_legacy = match blank {
            None => content.starts_with(b"#"),
            Some(_) => {
                let is_marked = name.starts_with(b"*") || name.starts_with(b"./");
                is_marked || !digest.iter().all(u8::is_ascii_hexdigit)
            }
        };
        if is_legacy {
            let message = "the line is in the format of `md5sum`, which strict BagIt tools refuse";
            note(Code::LegacyManifestLine, message);
        }
        if version == BagVersion::V1_0 && has_odd_percent(name) {
            let message = "the `%` is a plain character here; only %0A, %0D and %25 are decoded";
            note(Code::OddPercent, message);
        }
        if name.starts_with(b"~") || is_variable(name) {
            let message = "the path begins with `~` or a variable, which other programs may expand to another path";
            note(Code::WrongManifestEntry, message);
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

/// Returns whether a name begins with `%NAME%`, which a Windows shell expands.
fn is_variable(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"%") else { return false };
    let end = memchr::memchr(b'%', rest).unwrap_or(0);
    let variable = rest.get(..end).unwrap_or_default();
    !variable.is_empty() && variable.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

#[cfg(test)]
mod info_tests {
    use proptest::prelude::*;

    use super::super::lines_of;
    use super::*;
    use crate::write::create::date_of;

    fn lines(version: BagVersion, text: &str) -> Vec<u64> {
        lines_of(&BagInfo::parse(version, text.as_bytes()).1)
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
    fn every_error_has_its_line() {
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
    fn elements_that_would_be_read_differently_are_refused() {
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
        fn written_elements_are_read_back(
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
            assert!(day_of(date).is_some());
        }
        assert_eq!(date_of(u64::MAX), None);
    }

    #[test]
    fn an_invalid_day_is_refused() {
        for text in
            ["2023-02-29", "2024-13-01", "2024-1-1", "24-01-01", "2024-01-00", "", "+024-01-01"]
        {
            assert_eq!(day_of(text), None, "{text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lines_of;
    use super::*;

    fn parse(text: &str) -> (Vec<(Option<u64>, String)>, Vec<u64>) {
        let (list, faults) = parse_fetch_list(NameEncoding::Percent, text.as_bytes());
        let entries = list.iter();
        (
            entries.map(|entry| (entry.length, entry.path.as_str().to_owned())).collect(),
            lines_of(&faults),
        )
    }

    #[test]
    fn a_line_is_a_url_a_length_and_a_path() {
        let text = "https://example.org/a 12 data/a b\nhttp://example.org/b\t-\tdata/%25\n";
        let expected = vec![(Some(12), "data/a b".to_owned()), (None, "data/%".to_owned())];
        assert_eq!(parse(text), (expected, vec![]));
    }

    #[test]
    fn every_error_has_its_line() {
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
            let _ = parse_fetch_list(NameEncoding::Percent, &bytes);
        }
    }
}

#[cfg(test)]
mod lines_tests {
    use super::super::lines_of;
    use super::*;

    #[test]
    fn each_unusual_line_is_reported() {
        use Code::{
            LegacyManifestLine as Legacy, OddPercent as Percent, WrongManifestEntry as Shell,
        };
        let text = b"aa  data/a\naa *data/b\naa  ./data/c\n\\aa  data/d\nMD5 (data/e) = aa\n#\n\
            aa  data/100%25\naa  data/%0a%0D\naa  data/100%\naa  data/%41\naa  ~/x\naa  %HOME%/x\n";
        let notes = |version| {
            let notes = manifest_notes(version, "manifest-md5.txt", text);
            let codes = notes.iter().map(|note| note.code);
            lines_of(&notes).into_iter().zip(codes).collect::<Vec<_>>()
        };
        let legacy = [(2, Legacy), (3, Legacy), (4, Legacy), (5, Legacy), (6, Legacy)];
        let percent = [(9, Percent), (10, Percent)];
        let shell = [(11, Shell), (12, Percent), (12, Shell)];
        assert_eq!(notes(BagVersion::V1_0), [&legacy[..], &percent, &shell].concat());
        assert_eq!(notes(BagVersion::V0_97), [&legacy[..], &[(11, Shell), (12, Shell)]].concat());
    }
}
