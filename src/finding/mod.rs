//! What can be wrong with a pack, as data.
//!
//! A finding is a result, not an error: whoever asks whether a pack is sound gets all of them.

mod code;

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

pub use self::code::{Code, Example, Explanation, UnknownCode};

use crate::path::escape;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// Nothing is damaged, but something about it will trouble somebody, or means something else than its author
    /// thinks.
    Warning,
    /// A rule is broken: a pack is damaged, contradicts itself, or cannot be proved intact.
    Error,
}

/// One thing that is wrong: where, what was expected, what was found, and what to do.
///
/// ```
/// use ra_pack::validate::{ValidateOptions, validate_text};
/// use ra_pack::{Code, Severity};
///
/// let text = b"ndarrays: {t: {shape: [3], type: floot32}}";
/// let report = validate_text(text, &ValidateOptions::default());
/// let finding = report.findings.first().expect("no type is called so");
/// assert_eq!((finding.code, finding.severity), (Code::UnknownDatatype, Severity::Error));
/// println!("{finding}: {}", finding.code.explanation().text);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    test,
    derive(schemars::JsonSchema),
    schemars(
        description = "One thing that is wrong: where, what was expected, what was found, and what to do."
    )
)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of the finding. Codes are stable: a code keeps its meaning for ever.
    pub code: Code,
    /// The severity of the finding.
    pub severity: Severity,
    /// The file or member that it is about, by its name as found, so not always a valid one; absent when it is about the
    /// whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The array that the member is, describes or holds the description of; absent when it is about none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
    /// Where in that member, or in the archive when there is no member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The fault, in one sentence. Its wording may change; the code does not.
    pub message: String,
    /// The expected value or text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The value or text that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The lines of text that `place` points into.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
    /// How many findings it stands for: one, unless it counts those that are not listed.
    #[serde(skip)]
    pub count: u64,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum Place {
    /// A byte, counted from 0.
    Byte {
        /// Its offset.
        offset: u64,
    },
    /// A line, counted from 1.
    Line {
        /// Its number.
        #[cfg_attr(test, schemars(range(min = 1)))]
        line: u64,
    },
    /// A stretch of text.
    Text {
        /// The line it begins on, counted from 1.
        #[cfg_attr(test, schemars(range(min = 1)))]
        line: u64,
        /// The character of that line, counted from 1.
        #[cfg_attr(test, schemars(range(min = 1)))]
        column: u64,
        /// The byte it begins at, counted from 0.
        start: u64,
        /// The byte after its last.
        end: u64,
    },
}

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub struct Span {
    /// The line it begins on, from 1. LF, CR LF and a CR alone end a line, as in YAML.
    pub line: usize,
    /// The column that it begins in, in characters from 1. A byte order mark takes no column.
    pub column: usize,
    /// The byte it begins at, counted from 0, a byte order mark included.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

/// The lines of a text around a place, to be shown with a caret under it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excerpt {
    /// Number of the first line, counted from 1.
    pub first_line: usize,
    /// The lines, whole.
    pub text: String,
    /// The bytes of `text` to point at.
    pub span: std::ops::Range<usize>,
}

impl Excerpt {
    /// Longest excerpt: a caret under more text than a screen holds helps nobody.
    const MAX_BYTES: usize = 4096;

    /// Cuts the line that holds `start..end` out of `text`; `line` is its number.
    ///
    /// The number is the caller's to know: counting it here would read the text once for each of the
    /// findings in it.
    pub fn cut(text: &str, line: usize, start: usize, end: usize) -> Option<Self> {
        const LINE_ENDS: [char; 2] = ['\n', '\r'];
        let head = text.get(..start)?;
        let mut first = head.rfind(LINE_ENDS).map_or(0, |at| at + 1);
        // A byte order mark takes no column.
        if text.get(first..start).is_some_and(|line| line.starts_with('\u{feff}')) {
            first += '\u{feff}'.len_utf8();
        }
        // A span over several lines is pointed at where it begins.
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
    /// A finding of the code's own severity, with the next step that the code has.
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
            hint: Some(code.remedy().to_owned()),
            excerpt: None,
            count: 1,
        }
    }

    /// Names the member.
    #[must_use]
    pub fn in_member(mut self, member: impl Into<String>) -> Self {
        self.member = Some(member.into());
        self
    }

    /// Names the array that it concerns.
    #[must_use]
    pub fn about_array(mut self, array: impl Into<String>) -> Self {
        self.array = Some(array.into());
        self
    }

    /// Names the byte.
    #[must_use]
    pub fn at_byte(mut self, offset: u64) -> Self {
        self.place = Some(Place::Byte { offset });
        self
    }

    /// Names the line.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.place = Some(Place::Line { line });
        self
    }

    /// Says what was expected and what was found.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>, found: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self.found = Some(found.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Makes it a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// Points at a stretch of a member's text.
    #[must_use]
    pub fn at_span(mut self, text: &str, span: Span) -> Self {
        let Span { line, column, start, end } = span;
        self.excerpt = Excerpt::cut(text, line, start, end);
        let [line, column, start, end] = [line, column, start, end].map(|number| number as u64);
        self.place = Some(Place::Text { line, column, start, end });
        self
    }

    /// Whether it leaves open what its member is, so that none of that is to be shown or written.
    pub(crate) fn forbids_reading(&self) -> bool {
        self.is_error() && self.code.forbids_reading()
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// One line: place, severity, code, message, expected and found, hint.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(member) = &self.member {
            write!(f, "{}: ", escape(member))?;
        }
        match self.place {
            Some(Place::Byte { offset }) => write!(f, "byte {offset}: ")?,
            Some(Place::Line { line }) => write!(f, "line {line}: ")?,
            Some(Place::Text { line, column, .. }) => write!(f, "{line}:{column}: ")?,
            None => {}
        }
        let severity = if self.is_error() { "error" } else { "warning" };
        write!(f, "{severity}[{}]: {}", self.code.id(), escape(&self.message))?;
        match (&self.expected, &self.found) {
            (Some(expected), Some(found)) => {
                write!(f, " (expected {}, found {})", escape(expected), escape(found))?;
            }
            (Some(expected), None) => write!(f, " (expected {})", escape(expected))?,
            (None, Some(found)) => write!(f, " (found {})", escape(found))?,
            (None, None) => {}
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {}", escape(hint))?;
        }
        Ok(())
    }
}

/// Calls the members of findings by another name.
pub(crate) fn rename(findings: &mut [Finding], shown: impl Fn(&str) -> &str) {
    for member in findings.iter_mut().filter_map(|finding| finding.member.as_mut()) {
        let name = shown(member);
        if name.len() != member.len() {
            *member = name.to_owned();
        }
    }
}

/// Most findings that are listed: nobody reads more, and a few kilobytes can make millions.
const MAX_LISTED: usize = 1000;

/// Most bytes of them: a name may have 64 KB.
const MAX_LISTED_BYTES: usize = 1 << 20;

/// Keeps the first of very many findings, errors before warnings, and of each kind how many the others are.
pub(crate) fn cut(findings: &mut Vec<Finding>) {
    let bytes = |finding: &Finding| {
        let Finding { member, array, message, expected, found, hint, .. } = finding;
        let more = [member, array, expected, found, hint].into_iter().flatten();
        message.len() + more.map(String::len).sum::<usize>()
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
            1 => "1 more finding of this kind is not listed".to_owned(),
            _ => format!("{count} more findings of this kind are not listed"),
        };
        Finding { severity, count, ..Finding::new(code, message) }
    }));
}

/// Puts findings in the order of their members, and of their places in each. That there is no manifest comes last: an
/// archive that is cut off has lost it.
pub(crate) fn sort(findings: &mut [Finding]) {
    findings.sort_by(|one, other| {
        let is_missing = |finding: &Finding| finding.code == Code::NoManifest;
        let place = |finding: &Finding| match finding.place {
            // What damaged the archive is the cause of what it lacks.
            None if finding.member.is_none() => u64::MAX,
            None => 0,
            Some(Place::Byte { offset }) => offset,
            Some(Place::Line { line }) => line,
            Some(Place::Text { start, .. }) => start,
        };
        is_missing(one)
            .cmp(&is_missing(other))
            .then_with(|| one.member.cmp(&other.member))
            .then_with(|| place(one).cmp(&place(other)))
    });
}

/// Errors among the findings.
pub fn count_errors(findings: &[Finding]) -> usize {
    let counts = findings.iter().filter(|finding| finding.is_error()).map(|finding| finding.count);
    usize::try_from(counts.fold(0, u64::saturating_add)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_as_one_line_that_says_everything() {
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
    fn an_excerpt_holds_the_line_and_points_into_it() {
        let text = "a: 1\r\nshape: [3, 4]\r\nb: 2\n";
        let start = text.find("3, 4").unwrap();
        let excerpt = Excerpt::cut(text, 2, start, start + 4).unwrap();
        assert_eq!(excerpt.text, "shape: [3, 4]");
        assert_eq!(excerpt.first_line, 2);
        assert_eq!(&excerpt.text[excerpt.span], "3, 4");
    }

    #[test]
    fn an_excerpt_knows_every_line_end_and_leaves_out_a_byte_order_mark() {
        let excerpt = Excerpt::cut("a\rb\r\nc: d\re", 3, 6, 7).unwrap();
        assert_eq!((excerpt.first_line, &*excerpt.text, excerpt.span), (3, "c: d", 1..2));
        let excerpt = Excerpt::cut("\u{feff}a: b", 1, 6, 7).unwrap();
        assert_eq!((&*excerpt.text, excerpt.span), ("a: b", 3..4));
    }

    #[test]
    fn of_very_many_findings_the_first_are_listed_and_the_others_counted() {
        let warning = |member: &str| Finding::new(Code::CaseTwins, "").in_member(member);
        let mut findings: Vec<_> = (0..3000).map(|number| warning(&number.to_string())).collect();
        findings.push(Finding::new(Code::BadData, "").in_member("z"));
        cut(&mut findings);
        assert_eq!(findings.len(), MAX_LISTED + 1);
        assert_eq!(findings[0].member.as_deref(), Some("0"));
        assert_eq!(findings[MAX_LISTED - 1].code, Code::BadData, "no warning displaces an error");
        let last = &findings[MAX_LISTED];
        assert_eq!((last.code, last.count, last.is_error()), (Code::CaseTwins, 2001, false));
        assert_eq!(last.message, "2001 more findings of this kind are not listed");
        let before = findings.clone();
        cut(&mut findings);
        assert_eq!(findings, before);
        // Long names are fewer.
        let mut findings: Vec<_> = (0..100).map(|_| warning(&"n".repeat(60_000))).collect();
        cut(&mut findings);
        assert_eq!((findings.len(), findings[17].count), (18, 83));
        assert_eq!(count_errors(&findings), 0);
    }

    #[test]
    fn findings_are_sorted_by_member_and_number() {
        let at =
            |member: &str, line| Finding::new(Code::BadData, "").in_member(member).at_line(line);
        let mut findings = vec![at("b", 1), at("a", 10), at("a", 9)];
        sort(&mut findings);
        assert_eq!(findings, [at("a", 9), at("a", 10), at("b", 1)]);
    }
}
