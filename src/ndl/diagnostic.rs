//! What can be wrong with a description: a stable code for each rule, and the finding that names the
//! place, what was expected there, what was found, and how to put it right.

use std::fmt;

use serde::Serialize;

use super::model::entity_path;
use super::node::Range;
use super::source::{SourceText, Span};
use crate::path::escape;

/// The meaning of the code of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The stable identifier.
    pub code: &'static str,
    /// The meaning of the code, in a sentence.
    pub title: &'static str,
    /// The fault and why it matters, as one line.
    pub text: String,
    /// The document that the rule comes from.
    pub source: &'static str,
    /// An example that has the fault.
    pub wrong: Example,
    /// The same, put right.
    pub right: Example,
}

/// An example of a fault or of how to put it right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Example {
    /// A whole description.
    Document(&'static str),
    /// A layout, a command, or words, where a description cannot show it.
    Sketch(&'static str),
}

impl Example {
    /// The text of the example.
    pub fn text(self) -> &'static str {
        match self {
            Self::Document(text) | Self::Sketch(text) => text,
        }
    }

    /// Reads a fenced block: `yaml` for a document, `text` for everything else.
    fn parse(block: &'static str) -> Option<Self> {
        let inside = block.trim().strip_prefix("```")?.strip_suffix("```")?;
        match inside.split_once('\n')? {
            ("yaml", text) => Some(Self::Document(text)),
            ("text", text) => Some(Self::Sketch(text)),
            _ => None,
        }
    }
}

impl Explanation {
    /// Reads the page of a code, which is part of the program.
    ///
    /// # Panics
    ///
    /// When the page lacks a part. A test reads every page.
    pub(crate) fn parse(code: &'static str, title: &'static str, page: &'static str) -> Self {
        let read = || {
            let (text, rest) = page.split_once("\n\nSource: ")?;
            let (source, rest) = rest.split_once("\n\nWrong:\n")?;
            let (wrong, right) = rest.split_once("\n\nRight:\n")?;
            let (wrong, right) = (Example::parse(wrong)?, Example::parse(right)?);
            Some(Self { code, title, text: text.replace('\n', " "), source, wrong, right })
        };
        read().expect("the page of every code has a text, a source and two examples")
    }
}

/// Most findings reported for one document: a file with more needs another kind of help, and a
/// hostile one must not turn every byte into a report.
pub const MAX_DIAGNOSTICS: usize = 1000;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is damaged, but something about it will trouble somebody, or means something else than its author
    /// thinks.
    Warning,
    /// A rule is broken: a pack is damaged, contradicts itself, or cannot be proved intact.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

macro_rules! codes {
    ($($name:ident = $id:literal, $title:literal;)+) => {
        /// One rule of the language. Ids are stable: a rule keeps its number for ever, and the
        /// number of a rule that is given up is not used again.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!("`", $id, "`: ", $title, ".")] $name,)+
        }

        impl Code {
            /// All rules in the order of their ids.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The stable id, such as `NDL021`.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id),+ }
            }

            /// The rule in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title),+ }
            }

            /// The rule in a paragraph, with a wrong and a right example.
            pub fn explanation(self) -> Explanation {
                let page = match self {
                    $(Self::$name => include_str!(concat!("codes/", $id, ".md")),)+
                };
                Explanation::parse(self.id(), self.title(), page)
            }
        }
    };
}

codes! {
    // The text and its YAML.
    NotUtf8 = "NDL001", "the text is not UTF-8";
    TooLarge = "NDL002", "the document is too large";
    Syntax = "NDL003", "the text is not YAML";
    ManyDocuments = "NDL004", "more than one YAML document";
    DuplicateKey = "NDL005", "a key is given twice";
    Tag = "NDL006", "a tag outside the core schema, or one that its value contradicts";
    MergeKey = "NDL007", "a merge key";
    Alias = "NDL008", "an alias that contains itself or expands too far";
    TooDeep = "NDL009", "nesting is too deep";
    KeyNotText = "NDL010", "a key is not text";
    NumberRange = "NDL011", "a number that no 64-bit type holds";
    TooManyFindings = "NDL012", "too many findings";
    // The frame of the document.
    UnknownKey = "NDL020", "an unknown key";
    MissingKey = "NDL021", "a required key is missing";
    WrongKind = "NDL022", "a value of the wrong kind";
    MixedForms = "NDL023", "flat and grouped form mixed";
    GroupPath = "NDL024", "a malformed group path";
    Name = "NDL025", "a malformed name";
    NameTwice = "NDL026", "a dimcoord and an ndarray of one name";
    // Attributes.
    ShortList = "NDL030", "a list as the short form of an attribute";
    ShortNotScalar = "NDL031", "null or a boolean as the short form of an attribute";
    // Datatypes.
    UnknownDatatype = "NDL040", "an unknown datatype";
    DatatypeForm = "NDL041", "a malformed datatype";
    OpaqueSize = "NDL042", "a size of opaque elements that is not positive";
    EnumMembers = "NDL043", "an enum without members, or with members that are not integers";
    EnumTwice = "NDL044", "two members of an enum with one value";
    EnumRange = "NDL045", "a member of an enum outside its base";
    EnumBase = "NDL046", "a base of an enum that is no integer type";
    Selection = "NDL047", "an unknown selection of a region reference";
    CompoundMember = "NDL048", "a malformed member of a compound";
    CompoundTwice = "NDL049", "two members of a compound with one name";
    DatatypeSize = "NDL050", "a datatype whose elements are too large";
    Extension = "NDL051", "an extension of the language, refused by strict checking";
    // Shapes.
    Extent = "NDL060", "a malformed extent";
    ExtentKind = "NDL061", "an extent of a kind that is not allowed here";
    CoordPath = "NDL062", "a malformed reference to a dimcoord";
    UnresolvedCoord = "NDL063", "a reference to a dimcoord that is not there";
    CoordSize = "NDL064", "a size of a dimcoord that is not positive";
    ShapeSize = "NDL065", "a shape with too many elements";
    // Values.
    ValueShape = "NDL070", "a value that does not fit its shape";
    ValueType = "NDL071", "a value that does not fit its datatype";
    ValueRange = "NDL072", "a number outside its datatype";
    EnumValue = "NDL073", "a value that is no member of its enum";
    UnresolvedTarget = "NDL074", "a reference to an object that is not there";
    RegionBounds = "NDL075", "a region outside its target";
    // Storage.
    StorageRank = "NDL080", "a storage list of the wrong length";
    StorageBound = "NDL081", "a storage extent larger than the declared one";
    StoragePlace = "NDL082", "a storage key without meaning here";
    StorageKey = "NDL083", "an unknown storage key";
    Endian = "NDL084", "an unknown byte order";
    Order = "NDL085", "an unknown order of dimensions";
    FillValue = "NDL086", "a fill value that does not fit its datatype";
    Filter = "NDL087", "a malformed filter";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// One finding in a document.
///
/// Texts that come from the document are shortened and escaped, so that a finding can be printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule.
    pub code: Code,
    /// Whether the rule is broken or only bent.
    pub severity: Severity,
    /// The place.
    pub span: Span,
    /// What the finding is about: `/run1/temperature` is an entity, `/run1/temperature@units` an
    /// attribute of it, `/run1` a group.
    pub entity: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What the language wants at this place.
    pub expected: Option<String>,
    /// What is there.
    pub found: Option<String>,
    /// How to put it right.
    pub hint: Option<String>,
}

impl Diagnostic {
    pub(super) fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            span,
            entity: None,
            message: message.into(),
            expected: None,
            found: None,
            hint: None,
        }
    }

    /// All of it but the place and the code, on one line.
    pub(super) fn without_place(&self) -> String {
        let mut text = String::new();
        if let Some(entity) = &self.entity {
            text.push_str(&escape(entity).to_string());
            text.push_str(": ");
        }
        text.push_str(&self.message);
        let details = [("expected", &self.expected), ("found", &self.found)];
        let details: Vec<String> = details
            .into_iter()
            .filter_map(|(word, detail)| Some(format!("{word} {}", detail.as_ref()?)))
            .collect();
        if !details.is_empty() {
            text.push_str(": ");
            text.push_str(&details.join(", "));
        }
        if let Some(hint) = &self.hint {
            text.push_str(" (");
            text.push_str(hint);
            text.push(')');
        }
        text
    }

    pub(super) fn expected(&mut self, text: impl Into<String>) -> &mut Self {
        self.expected = Some(text.into());
        self
    }

    pub(super) fn found(&mut self, text: impl Into<String>) -> &mut Self {
        self.found = Some(text.into());
        self
    }

    pub(super) fn hint(&mut self, text: impl Into<String>) -> &mut Self {
        self.hint = Some(text.into());
        self
    }

    pub(super) fn maybe_hint(&mut self, text: Option<String>) -> &mut Self {
        self.hint = text.or(self.hint.take());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.span.start;
        write!(
            f,
            "{}[{}] {}:{}: {}",
            self.severity,
            self.code,
            start.line,
            start.column,
            self.without_place()
        )
    }
}

impl std::error::Error for Diagnostic {}

/// What a finding is about, cheap to hand down and turned into text only when there is a finding.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DiagnosticSubject<'a> {
    pub(super) group: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) attribute: Option<&'a str>,
}

impl<'a> DiagnosticSubject<'a> {
    pub(super) fn group(group: &'a str) -> Self {
        Self { group: Some(group), ..Self::default() }
    }

    pub(super) fn entity(self, name: &'a str) -> Self {
        Self { name: Some(name), ..self }
    }

    pub(super) fn attribute(self, name: &'a str) -> Self {
        Self { attribute: Some(name), ..self }
    }

    /// `/group/name@attribute`; `None` for the document itself.
    pub(super) fn text(self) -> Option<String> {
        let mut text = self.group?.to_owned();
        if let Some(name) = self.name {
            text = entity_path(&text, name);
        }
        if let Some(attribute) = self.attribute {
            text.push('@');
            text.push_str(attribute);
        }
        Some(text)
    }
}

/// Where findings go while a document is read.
#[derive(Debug)]
pub(super) struct Reporter<'s> {
    source: &'s SourceText,
    list: Vec<Diagnostic>,
    /// Takes the findings over the limit.
    scratch: Option<Diagnostic>,
}

impl<'s> Reporter<'s> {
    pub(super) fn new(source: &'s SourceText) -> Self {
        Self { source, list: Vec::new(), scratch: None }
    }

    /// Reports an error; the answer takes expected, found and hint.
    pub(super) fn error(
        &mut self,
        code: Code,
        at: Range,
        place: DiagnosticSubject<'_>,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let mut diagnostic = Diagnostic::new(code, self.source.span(at), message);
        diagnostic.entity = place.text();
        if self.list.len() >= MAX_DIAGNOSTICS {
            return self.scratch.insert(diagnostic);
        }
        self.list.push(diagnostic);
        self.list.last_mut().expect("one was added above")
    }

    /// Reports a warning; the answer takes expected, found and hint.
    pub(super) fn warning(
        &mut self,
        code: Code,
        at: Range,
        place: DiagnosticSubject<'_>,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let diagnostic = self.error(code, at, place, message);
        diagnostic.severity = Severity::Warning;
        diagnostic
    }

    /// How many findings there are, to see whether a step added any.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Lines and columns of a byte range.
    pub(super) fn span(&self, at: Range) -> Span {
        self.source.span(at)
    }

    /// The line a range begins on, for hints that point at another place.
    pub(super) fn line(&self, at: Range) -> u32 {
        self.source.span(at).start.line
    }

    /// The findings in document order.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|diagnostic| diagnostic.span.start.offset);
        if let Some(last) = self.scratch {
            self.list.push(Diagnostic::new(
                Code::TooManyFindings,
                last.span,
                format!("there is more: only {MAX_DIAGNOSTICS} findings are shown"),
            ));
        }
        self.list
    }
}

/// Longest text of a document that is shown in a finding, in characters.
const SHOWN: usize = 40;

/// Text from the document between backticks, shortened and escaped.
pub(super) fn quote(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("`{}…`", escape(text.get(..cut).unwrap_or_default())),
        None => format!("`{}`", escape(text)),
    }
}

/// A number with its noun.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Most candidates that are looked at: help must not make reading a long document slow.
pub(super) const MAX_CANDIDATES: usize = 1000;

/// Longest word that is compared, in characters.
const MAX_LENGTH: usize = 64;

/// A hint that names the candidate nearest to `word`, when one is near enough.
pub(super) fn hint<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|near| format!("did you mean {}?", quote(near)))
}

/// The candidate nearest to `word`: equal but for case, or with few letters changed.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let fold = |word: &str| word.to_lowercase().chars().take(MAX_LENGTH).collect::<String>();
    let folded = fold(word);
    let length = folded.chars().count();
    let near = candidates.into_iter().take(MAX_CANDIDATES).filter_map(|candidate| {
        let distance = strsim::osa_distance(&folded, &fold(candidate));
        (distance <= (length / 3).max(1) && distance < length).then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::super::{Code, ParseOptions, parse, parse_with};
    use super::*;

    fn codes(text: &str, strict: bool) -> Vec<Code> {
        let parsed = parse_with(text.as_bytes(), &ParseOptions { strict });
        let unresolved = parsed.unresolved_diagnostics();
        parsed.diagnostics.iter().chain(&unresolved).map(|finding| finding.code).collect()
    }

    #[test]
    fn wrong_examples_break_their_rule_alone_and_right_ones_none() {
        for code in Code::ALL {
            let Explanation { wrong, right, .. } = code.explanation();
            if let Example::Document(text) = wrong {
                let strict = *code == Code::Extension;
                assert_eq!(codes(text, strict), [*code], "{code}\n{text}");
            }
            if let Example::Document(text) = right {
                assert_eq!(codes(text, true), [], "{code}\n{text}");
            }
        }
    }

    #[test]
    fn only_what_no_small_text_can_break_has_a_sketch() {
        let sketched: Vec<_> = Code::ALL
            .iter()
            .filter(|code| matches!(code.explanation().wrong, Example::Sketch(_)))
            .collect();
        assert_eq!(sketched, [&Code::NotUtf8, &Code::TooLarge, &Code::TooManyFindings]);
        // What the sketches say.
        assert_eq!(parse(b"attributes: {site: Troms\xf8}").diagnostics[0].code, Code::NotUtf8);
    }

    #[test]
    fn no_two_rules_are_explained_alike() {
        let texts: std::collections::HashSet<_> =
            Code::ALL.iter().map(|code| code.explanation().text).collect();
        assert_eq!(texts.len(), Code::ALL.len());
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
