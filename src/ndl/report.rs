//! Findings while a description is read, and the wording that they share.

use super::source::{Range, SourceText};
use super::value::Value;
use super::write;
use crate::finding::{Code, Finding, Severity};
use crate::message::Message;
use crate::path::escape;

/// Most findings reported for one document. A hostile document must not turn every byte into a finding.
pub const MAX_FINDINGS: usize = 1000;

/// Collects findings while a document is read.
#[derive(Debug)]
pub(super) struct Reporter<'s> {
    pub(super) source: &'s SourceText,
    list: Vec<(Range, Finding)>,
    /// Receives the findings over the limit.
    scratch: Option<(Range, Finding)>,
}

/// The finding that was just reported, for adding details. Texts from the document are shortened and escaped.
#[derive(Debug)]
pub(super) struct Reported<'r>(&'r mut Finding);

impl Reported<'_> {
    pub(super) fn expected(self, text: impl Into<String>) -> Self {
        self.0.expected = Some(text.into());
        self
    }

    pub(super) fn found(self, text: impl Into<String>) -> Self {
        self.0.found = Some(text.into());
        self
    }

    pub(super) fn hint(self, text: impl Into<String>) -> Self {
        self.maybe_hint(Some(text.into()))
    }

    pub(super) fn maybe_hint(self, text: Option<String>) -> Self {
        self.0.hint = text.map(Message::from).or(self.0.hint.take());
        self
    }

    pub(super) fn warning(self) -> Self {
        self.0.severity = Severity::Warning;
        self
    }
}

impl<'s> Reporter<'s> {
    pub(super) fn new(source: &'s SourceText) -> Self {
        Self { source, list: Vec::new(), scratch: None }
    }

    pub(super) fn report(
        &mut self,
        code: Code,
        at: Range,
        message: impl Into<String>,
    ) -> Reported<'_> {
        let reported = (at, Finding::new(code, message));
        if self.list.len() >= MAX_FINDINGS {
            return Reported(&mut self.scratch.insert(reported).1);
        }
        self.list.push(reported);
        Reported(&mut self.list.last_mut().expect("one was added above").1)
    }

    /// Returns the number of findings, to see whether a step added any.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the findings in document order.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        self.list.sort_by_key(|(at, _)| at.start());
        let more = self.scratch.map(|(at, _)| {
            let message = format!("more problems: only the first {MAX_FINDINGS} are shown");
            (at, Finding::new(Code::TooManyFindings, message))
        });
        let findings = self.list.into_iter().chain(more);
        let source = self.source;
        findings.map(|(at, finding)| finding.at_span(&source.whole, source.span(at))).collect()
    }
}

/// Length of the longest text of a document that a finding shows, in characters.
const SHOWN: usize = 40;

/// Returns text from the document between backticks, shortened and escaped.
pub(super) fn quote(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("`{}…`", escape(text.get(..cut).unwrap_or_default())),
        None => format!("`{}`", escape(text)),
    }
}

impl Value {
    /// Describes the value in words, for findings.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => format!("the boolean `{value}`"),
            Self::Int(number) => format!("the integer {number}"),
            Self::UInt(number) => format!("the integer {number}"),
            Self::Float(number) => format!("the float {}", write::float(*number)),
            Self::String(text) if text.is_empty() => "an empty string".to_owned(),
            Self::String(text) => format!("the string {}", quote(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a mapping".to_owned(),
        }
    }
}

/// Most candidates that are compared: hints must not make reading a long document slow.
const MAX_CANDIDATES: usize = 1000;

/// Length of the longest word that is compared, in characters.
const MAX_LENGTH: usize = 64;

/// Returns a hint with the candidate nearest to `word`, if one is near enough.
pub(super) fn hint<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|near| format!("did you mean {}?", quote(near)))
}

/// Returns the candidate nearest to `word`: equal except for case, or with few characters changed.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    nearest_of(word, candidates.into_iter().map(|candidate| (candidate, candidate)))
}

/// Returns the value of the candidate nearest to `word`, like [`nearest`].
pub(crate) fn nearest_of<'a, T>(
    word: &str,
    candidates: impl IntoIterator<Item = (&'a str, T)>,
) -> Option<T> {
    let fold = |word: &str| word.to_lowercase().chars().take(MAX_LENGTH).collect::<String>();
    let folded = fold(word);
    let length = folded.chars().count();
    let near = candidates.into_iter().take(MAX_CANDIDATES).filter_map(|(candidate, meant)| {
        let distance = strsim::osa_distance(&folded, &fold(candidate));
        (distance <= (length / 3).max(1) && distance < length).then_some((distance, meant))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, meant)| meant)
}

#[cfg(test)]
mod tests {
    use super::super::{ParseOptions, parse, parse_with};
    use super::*;
    use crate::finding::{Example, Explanation};

    /// Returns the rules of the language.
    fn rules() -> impl Iterator<Item = Code> {
        Code::ALL.iter().copied().filter(|code| code.id().starts_with("NDL"))
    }

    fn codes(text: &str, strict: bool) -> Vec<Code> {
        let parsed = parse_with(text.as_bytes(), &ParseOptions { strict });
        let unresolved = parsed.unresolved.iter().map(|found| found.finding("", &[""; 0]).code);
        parsed.findings.iter().map(|finding| finding.code).chain(unresolved).collect()
    }

    #[test]
    fn wrong_examples_break_their_rule_alone_and_right_ones_none() {
        for code in rules() {
            let Explanation { wrong, right, .. } = code.explanation();
            if let Example::Document(text) = wrong {
                let strict = code == Code::Extension;
                assert_eq!(codes(text, strict), [code], "{}\n{text}", code.id());
            }
            if let Example::Document(text) = right {
                assert_eq!(codes(text, true), [], "{}\n{text}", code.id());
            }
        }
    }

    #[test]
    fn only_rules_that_no_small_text_can_break_have_a_sketch() {
        let sketched: Vec<_> =
            rules().filter(|code| matches!(code.explanation().wrong, Example::Sketch(_))).collect();
        assert_eq!(sketched, [Code::NotUtf8, Code::TooLarge, Code::TooManyFindings]);
        // The claims of the sketches.
        assert_eq!(parse(b"attributes: {site: Troms\xf8}").findings[0].code, Code::NotUtf8);
    }

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["float32", "float64", "int8", "string"];
        assert_eq!(nearest("flaot32", words), Some("float32"));
        assert_eq!(nearest("Float64", words), Some("float64"));
        assert_eq!(nearest("int", words), Some("int8"));
        assert_eq!(nearest("strng", words), Some("string"));
        assert_eq!(nearest("complex", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest("x", ["y"]), None);
    }
}
