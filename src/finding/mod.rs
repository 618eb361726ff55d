//! Findings: the problems of a pack, as data.
//!
//! A check returns all problems of a pack as findings. An [`crate::Error`] means that it could not check the pack.

mod code;
mod group;

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

pub use self::code::{Code, Example, Explanation, UnknownCode};
pub use self::group::{MANY, grouped};

use crate::message::Message;
use crate::path::escape;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// The pack is valid, but some programs or readers may misread it, or its author may have made a mistake.
    Warning,
    /// The pack is not valid: it is damaged, contradicts itself, or cannot be verified.
    Error,
}

/// An error or warning about a pack: its place, the expected and the found value, and a hint.
///
/// ```
/// use ra_pack::inspect::{ValidateOptions, validate_text};
/// use ra_pack::{Code, Severity};
///
/// let text = b"ndarrays: {t: {shape: [3], type: floot32}}";
/// let report = validate_text(text, &ValidateOptions::default());
/// let finding = report.findings.first().expect("`floot32` is not a type");
/// assert_eq!((finding.code, finding.severity), (Code::UnknownDatatype, Severity::Error));
/// println!("{finding}: {}", finding.code.explanation().text);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    test,
    derive(schemars::JsonSchema),
    schemars(
        description = "An error or warning about a pack: its place, the expected and the found value, and a hint."
    )
)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of the finding. The meaning of a code never changes.
    pub code: Code,
    /// The severity of the finding.
    pub severity: Severity,
    /// The name of the file or member, as found (it may not be a valid name). Absent if the finding concerns the
    /// complete pack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The name of the array that the finding concerns. Absent if it does not concern an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
    /// The place in the member, or in the archive if there is no member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The problem, in one sentence. The wording may change between versions; the code does not.
    pub message: String,
    /// The expected value or text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The value or text that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The suggested next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Message>,
    /// The line of text that `place` refers to.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
    /// Number of findings that this one represents: 1, unless it counts findings that are not listed.
    #[serde(skip)]
    pub count: u64,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum Place {
    /// A byte.
    Byte {
        /// Offset of the byte, from 0.
        offset: u64,
    },
    /// A line.
    Line {
        /// Number of the line, from 1.
        #[cfg_attr(test, schemars(range(min = 1)))]
        line: u64,
    },
    /// A range of text.
    Text {
        /// Line of the beginning, from 1.
        #[cfg_attr(test, schemars(range(min = 1)))]
        line: u64,
        /// Column of the beginning, in characters from 1.
        #[cfg_attr(test, schemars(range(min = 1)))]
        column: u64,
        /// Offset of the first byte, from 0.
        start: u64,
        /// Offset after the last byte.
        end: u64,
    },
}

/// A range of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub struct Span {
    /// Line of the beginning, from 1. LF, CR LF and CR end a line, as in YAML.
    pub line: usize,
    /// Column of the beginning, in characters from 1. A byte order mark is not counted.
    pub column: usize,
    /// Offset of the first byte, from 0. A byte order mark is counted.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// A line of text, shown with carets under a range of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excerpt {
    /// Number of the line, from 1.
    pub first_line: usize,
    /// The complete line.
    pub text: String,
    /// The bytes of `text` to mark.
    pub span: std::ops::Range<usize>,
}

impl Excerpt {
    /// Maximum length of an excerpt in bytes. A longer one does not fit on a screen.
    const MAX_BYTES: usize = 4096;

    /// Returns the line of `text` that contains the bytes `start..end`, or `None` if it is too long. `line` is its
    /// number.
    ///
    /// The caller passes the number, because counting here would read the text once for each finding.
    pub fn cut(text: &str, line: usize, start: usize, end: usize) -> Option<Self> {
        const LINE_ENDS: [char; 2] = ['\n', '\r'];
        let head = text.get(..start)?;
        let mut first = head.rfind(LINE_ENDS).map_or(0, |at| at + 1);
        // A byte order mark has no column.
        if text.get(first..start).is_some_and(|line| line.starts_with('\u{feff}')) {
            first += '\u{feff}'.len_utf8();
        }
        // A range over several lines is marked only on the first.
        let line_end = text.get(start..)?.find(LINE_ENDS).map_or(text.len(), |at| start + at);
        let lines = text.get(first..line_end)?;
        if lines.len() > Self::MAX_BYTES {
            return None;
        }
        let end = end.min(first + lines.len()).max(start);
        Some(Self { first_line: line, text: lines.to_owned(), span: start - first..end - first })
    }
}

impl Finding {
    /// Creates a finding with the default severity and hint of `code`.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            member: None,
            array: None,
            place: None,
            message: message.into(),
            expected: None,
            found: None,
            hint: Some(code.hint()),
            excerpt: None,
            count: 1,
        }
    }

    /// Sets the member.
    #[must_use]
    pub fn in_member(mut self, member: impl Into<String>) -> Self {
        self.member = Some(member.into());
        self
    }

    /// Sets the array.
    #[must_use]
    pub fn about_array(mut self, array: impl Into<String>) -> Self {
        self.array = Some(array.into());
        self
    }

    /// Sets the place to the byte at `offset`.
    #[must_use]
    pub fn at_byte(mut self, offset: u64) -> Self {
        self.place = Some(Place::Byte { offset });
        self
    }

    /// Sets the place to a line, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.place = Some(Place::Line { line });
        self
    }

    /// Sets the expected and the found value.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>, found: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self.found = Some(found.into());
        self
    }

    /// Replaces the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Message>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Changes the severity to a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// Sets the place to a range of the member's text, and the excerpt to its line.
    #[must_use]
    pub fn at_span(mut self, text: &str, span: Span) -> Self {
        let Span { line, column, start, end } = span;
        self.excerpt = Excerpt::cut(text, line, start, end);
        let [line, column, start, end] = [line, column, start, end].map(|number| number as u64);
        self.place = Some(Place::Text { line, column, start, end });
        self
    }

    /// Returns whether the content of the member is ambiguous and must not be shown or written.
    pub(crate) fn forbids_reading(&self) -> bool {
        self.is_error() && self.code.forbids_reading()
    }

    /// Returns whether the finding is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl Finding {
    /// Returns everything but the excerpt on one line: place, severity, code, message, values, hint.
    pub fn line(&self) -> Message {
        let member = self.member.as_ref().map(|member| format!("{}: ", escape(member)));
        let place = match self.place {
            Some(Place::Byte { offset }) => format!("byte {offset}: "),
            Some(Place::Line { line }) => format!("line {line}: "),
            Some(Place::Text { line, column, .. }) => format!("{line}:{column}: "),
            None => String::new(),
        };
        let severity = if self.is_error() { "error" } else { "warning" };
        let values = match (&self.expected, &self.found) {
            (Some(expected), Some(found)) => {
                format!(" (expected {}, found {})", escape(expected), escape(found))
            }
            (Some(expected), None) => format!(" (expected {})", escape(expected)),
            (None, Some(found)) => format!(" (found {})", escape(found)),
            (None, None) => String::new(),
        };
        let (member, code, message) =
            (member.unwrap_or_default(), self.code.id(), escape(&self.message));
        let line = Message::from(format!("{member}{place}{severity}[{code}]: {message}{values}"));
        match &self.hint {
            Some(hint) => {
                line.text("; ").join(hint.clone().map_texts(|text| escape(text).to_string()))
            }
            None => line,
        }
    }
}

/// Writes one line: place, severity, code, message, expected and found values, hint.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line().fmt(f)
    }
}

/// Replaces the member names of findings by `shown(name)`.
pub(crate) fn rename(findings: &mut [Finding], shown: impl Fn(&str) -> &str) {
    for member in findings.iter_mut().filter_map(|finding| finding.member.as_mut()) {
        let name = shown(member);
        if name.len() != member.len() {
            *member = name.to_owned();
        }
    }
}

/// Maximum number of listed findings. Nobody reads more, and a few kilobytes can cause millions.
const MAX_LISTED: usize = 1000;

/// Maximum size of the listed findings in bytes. A single name may have 64 KB.
const MAX_LISTED_BYTES: usize = 1 << 20;

/// Keeps the first of very many findings, errors before warnings. Replaces the others by one count for each code.
pub(crate) fn cut(findings: &mut Vec<Finding>) {
    let bytes = |finding: &Finding| {
        let Finding { member, array, message, expected, found, hint, .. } = finding;
        let more = [member, array, expected, found].into_iter().flatten();
        let hint = hint.as_ref().map_or(0, |hint| hint.to_string().len());
        message.len() + more.map(String::len).sum::<usize>() + hint
    };
    let mut first: Vec<_> =
        findings.iter().enumerate().filter(|(_, finding)| finding.count == 1).collect();
    first.sort_by_key(|(_, finding)| !finding.is_error());
    let mut room = MAX_LISTED_BYTES;
    let fits = |(_, finding): &(usize, &Finding)| {
        let left = room.checked_sub(bytes(finding));
        room = left.unwrap_or(0);
        left.is_some()
    };
    let listed = first.into_iter().take(MAX_LISTED).take_while(fits);
    let listed: HashSet<usize> = listed.map(|(number, _)| number).collect();
    let mut others: Vec<(Code, Severity, u64)> = Vec::new();
    let mut numbers = 0..;
    findings.retain(|finding| {
        let is_listed = numbers.next().is_some_and(|number| listed.contains(&number));
        let Finding { code, severity, count, .. } = *finding;
        let mut known = others.iter_mut();
        match known.find(|(of, by, _)| (*of, *by) == (code, severity)) {
            _ if is_listed => {}
            Some((.., sum)) => *sum += count,
            None => others.push((code, severity, count)),
        }
        is_listed
    });
    findings.extend(others.into_iter().map(|(code, severity, count)| {
        let message = match count {
            1 => "1 more problem of this kind is not listed".to_owned(),
            _ => format!("{count} more problems of this kind are not listed"),
        };
        Finding { severity, count, ..Finding::new(code, message) }
    }));
}

/// Sorts findings by member, then by place in the member. Damage of the archive comes first, because it can cause the
/// others. A missing manifest comes last: an archive that is cut off has lost it.
pub(crate) fn sort(findings: &mut [Finding]) {
    findings.sort_by(|one, other| {
        let rank = |finding: &Finding| match finding.code {
            Code::NotAnArchive | Code::BadMemberData | Code::DamagedStream => 0,
            Code::NoManifest => 2,
            _ => 1,
        };
        let place = |finding: &Finding| match finding.place {
            // Damage at an offset comes first: it explains what the archive lacks.
            None if finding.member.is_none() => u64::MAX,
            None => 0,
            Some(Place::Byte { offset }) => offset,
            Some(Place::Line { line }) => line,
            Some(Place::Text { start, .. }) => start,
        };
        rank(one)
            .cmp(&rank(other))
            .then_with(|| one.member.cmp(&other.member))
            .then_with(|| place(one).cmp(&place(other)))
    });
}

/// Returns the number of errors among the findings.
pub fn count_errors(findings: &[Finding]) -> u64 {
    counts(findings).0
}

/// Returns the numbers of errors and warnings among the findings.
pub fn counts(findings: &[Finding]) -> (u64, u64) {
    findings.iter().fold((0, 0), |(errors, warnings), finding| {
        if finding.is_error() {
            (finding.count.saturating_add(errors), warnings)
        } else {
            (errors, finding.count.saturating_add(warnings))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_displays_as_one_line() {
        let finding = Finding::new(Code::DigestMismatch, "the content differs from the manifest")
            .in_member("run1/\u{1b}.ra")
            .expected("aa", "bb")
            .hint("restore it");
        assert_eq!(
            finding.to_string(),
            "run1/\\u{1b}.ra: error[MAN003]: the content differs from the manifest \
             (expected aa, found bb); restore it"
        );
    }

    #[test]
    fn an_excerpt_is_the_line_of_its_span() {
        let text = "a: 1\r\nshape: [3, 4]\r\nb: 2\n";
        let start = text.find("3, 4").unwrap();
        let excerpt = Excerpt::cut(text, 2, start, start + 4).unwrap();
        assert_eq!(excerpt.text, "shape: [3, 4]");
        assert_eq!(excerpt.first_line, 2);
        assert_eq!(&excerpt.text[excerpt.span], "3, 4");
    }

    #[test]
    fn an_excerpt_handles_every_line_end_and_skips_a_byte_order_mark() {
        let excerpt = Excerpt::cut("a\rb\r\nc: d\re", 3, 6, 7).unwrap();
        assert_eq!((excerpt.first_line, &*excerpt.text, excerpt.span), (3, "c: d", 1..2));
        let excerpt = Excerpt::cut("\u{feff}a: b", 1, 6, 7).unwrap();
        assert_eq!((&*excerpt.text, excerpt.span), ("a: b", 3..4));
    }

    #[test]
    fn very_many_findings_are_cut_and_counted() {
        let warning = |member: &str| Finding::new(Code::CaseTwins, "").in_member(member);
        let mut findings: Vec<_> = (0..3000).map(|number| warning(&number.to_string())).collect();
        findings.push(Finding::new(Code::BadData, "").in_member("z"));
        cut(&mut findings);
        assert_eq!(findings.len(), MAX_LISTED + 1);
        assert_eq!(findings[0].member.as_deref(), Some("0"));
        assert_eq!(findings[MAX_LISTED - 1].code, Code::BadData, "no warning displaces an error");
        let last = &findings[MAX_LISTED];
        assert_eq!((last.code, last.count, last.is_error()), (Code::CaseTwins, 2001, false));
        assert_eq!(last.message, "2001 more problems of this kind are not listed");
        let before = findings.clone();
        cut(&mut findings);
        assert_eq!(findings, before);
        // The limit on bytes applies to long names.
        let mut findings: Vec<_> = (0..100).map(|_| warning(&"n".repeat(60_000))).collect();
        cut(&mut findings);
        assert_eq!((findings.len(), findings[17].count), (18, 83));
        assert_eq!(count_errors(&findings), 0);
    }

    #[test]
    fn findings_are_sorted_by_member_and_place() {
        let at =
            |member: &str, line| Finding::new(Code::BadData, "").in_member(member).at_line(line);
        let mut findings = vec![at("b", 1), at("a", 10), at("a", 9)];
        sort(&mut findings);
        assert_eq!(findings, [at("a", 9), at("a", 10), at("b", 1)]);
    }
}
