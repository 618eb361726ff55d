//! `bag-info.txt`: what people say about a bag, and how large its payload is (RFC 8493 §2.2.2).

use super::MAX_FAULTS;
use super::declaration::BagVersion;
use super::declaration::{as_text, numbered_lines};
use super::{BagFault, BagFaultKind, beginning};

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
        let text = match as_text(text) {
            Ok(text) => text,
            Err(fault) => return (info, vec![fault]),
        };
        for (line, content) in numbered_lines(text) {
            if faults.len() >= MAX_FAULTS {
                faults.push(BagFault { line, kind: BagFaultKind::TooMany });
                break;
            }
            if content.trim().is_empty() {
                continue;
            }
            let folded = content.starts_with([' ', '\t']);
            match (folded, info.fields.last_mut()) {
                (true, Some(field)) => {
                    if !field.value.is_empty() {
                        field.value.push(' ');
                    }
                    field.value.push_str(content.trim());
                }
                // What continues nothing is no line of its own either.
                (true, None) => {
                    let kind = BagFaultKind::InfoLine { found: beginning(content) };
                    faults.push(BagFault { line, kind });
                }
                (false, _) => match field(version, content) {
                    Some((label, value)) => {
                        info.fields.push(BagField {
                            label: label.to_owned(),
                            value: value.to_owned(),
                            line,
                        });
                    }
                    None => {
                        let kind = BagFaultKind::InfoLine { found: beginning(content) };
                        faults.push(BagFault { line, kind });
                    }
                },
            }
        }
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
                    let kind = BagFaultKind::OxumForm { found: beginning(&field.value) };
                    faults.push(BagFault { line: field.line, kind });
                }
            }
            if field.label.eq_ignore_ascii_case(BAGGING_DATE) && !is_date(&field.value) {
                let kind = BagFaultKind::DateForm { found: beginning(&field.value) };
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
    let mut column = label.chars().count().saturating_add(1);
    let mut words = value.split(' ').peekable();
    // A blank beside another, or beside white space that reading would strip, is no place to fold.
    let mut may_fold = false;
    while let Some(word) = words.next() {
        let length = word.chars().count();
        let solid = !word.is_empty() && word.trim() == word;
        if may_fold && solid && column.saturating_add(length) >= WIDTH {
            text.push('\n');
            text.push_str(INDENT);
            column = INDENT.len();
        } else {
            text.push(' ');
            column = column.saturating_add(1);
        }
        text.push_str(word);
        column = column.saturating_add(length);
        may_fold = solid && words.peek().is_some_and(|next| !next.is_empty());
    }
    text.push('\n');
}

/// The day in UTC of a time in seconds since 1970, as YYYY-MM-DD; nothing after the year 9999.
pub(crate) fn date_of(seconds: u64) -> Option<String> {
    const DAY: u64 = 24 * 60 * 60;
    let mut days = seconds / DAY;
    let mut year = 1970_u64;
    while year <= 9999 {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            return month(year, days).map(|(month, day)| format!("{year:04}-{month:02}-{day:02}"));
        }
        days = days.saturating_sub(length);
        year = year.saturating_add(1);
    }
    None
}

fn month(year: u64, mut days: u64) -> Option<(u64, u64)> {
    for month in 1..=12 {
        let length = days_of(year, month)?;
        if days < length {
            return Some((month, days.saturating_add(1)));
        }
        days = days.saturating_sub(length);
    }
    None
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

#[cfg(test)]
mod tests {
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
