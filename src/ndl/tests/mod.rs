//! Tests of the whole way from text to document and back.

mod form;
mod hostile;
mod rules;
mod schema;
mod syntax;

use super::{Diagnostic, Document, Parsed, parse};

/// Reads a text that breaks no rule.
fn document(text: &str) -> Document {
    let parsed = parse(text.as_bytes());
    assert_eq!(shown(&parsed.diagnostics), Vec::<String>::new(), "{text}");
    parsed.document.unwrap()
}

/// Findings as `NDL021 29:5`.
fn places(parsed: &Parsed) -> Vec<String> {
    let place = |finding: &Diagnostic| {
        format!("{} {}:{}", finding.code.id(), finding.span.start.line, finding.span.start.column)
    };
    parsed.diagnostics.iter().map(place).collect()
}

fn shown(findings: &[Diagnostic]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
