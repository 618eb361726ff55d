//! What the page of a code says: the rule in a paragraph, where it comes from, a wrong and a right example.

use serde::Serialize;

/// The meaning of a code and how to get rid of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The rule and its reason, as one line.
    pub text: String,
    /// The document that the rule comes from.
    pub source: &'static str,
    /// An example that breaks the rule.
    pub wrong: Example,
    /// The same example, corrected.
    pub right: Example,
}

/// An example of an [`Explanation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Example {
    /// A complete description, as it is in a file.
    Document(&'static str),
    /// An example that is not a document: a layout of files, a command, a few words.
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
    pub(crate) fn parse(page: &'static str) -> Self {
        let read = || {
            let (text, rest) = page.split_once("\n\nSource: ")?;
            let (source, rest) = rest.split_once("\n\nWrong:\n")?;
            let (wrong, right) = rest.split_once("\n\nRight:\n")?;
            let (wrong, right) = (Example::parse(wrong)?, Example::parse(right)?);
            Some(Self { text: text.replace('\n', " "), source, wrong, right })
        };
        read().expect("the page of every code has a text, a source and two examples")
    }
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
}
