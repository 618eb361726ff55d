//! The verification of the whole pack, with the findings and words of the command.

use ra_pack::Finding;
use ra_pack::display::text::human_bytes;
use ra_pack::finding::{Place, count_errors};
use ra_pack::message::{Words, counted};
use ra_pack::path::escape;
use ra_pack::verify::{Verdict, VerifyOptions, VerifyReport};
use serde_json::{Value, json};

use crate::answer::{Arguments, Result};
use crate::contents::Opened;
use crate::source::progress;

/// Largest number of findings in an answer; a badly damaged pack has at least one for each file.
const MOST_FINDINGS: usize = 1000;

/// Answers with the digests of the share of one worker.
pub(crate) fn hash(_: &Opened, _: &Arguments) -> Result {
    Ok(json!([]).into())
}

/// Answers with the report.
pub(crate) fn verify(opened: &Opened, arguments: &Arguments) -> Result {
    let options = VerifyOptions { progress: progress(), ..VerifyOptions::default() };
    let _ = arguments;
    let report = opened.pack.verify(&options)?;
    let verdict = match report.verdict {
        Verdict::Valid => "valid",
        Verdict::NotValid => "not valid",
        _ => "open",
    };
    let findings: Vec<Value> = report.findings.iter().take(MOST_FINDINGS).map(finding).collect();
    Ok(json!({
        "verdict": verdict,
        "findings": findings,
        "more": report.findings.len().saturating_sub(MOST_FINDINGS),
        "summary": [summary(&report)],
        "bytes": report.bytes,
        "confirmed": report.contents_read && count_errors(&report.findings) == 0,
    })
    .into())
}

fn summary(report: &VerifyReport) -> String {
    let manifests = match &report.manifests[..] {
        [] => String::new(),
        all => format!(", checked against {}", all.join(", ")),
    };
    escape(&format!(
        "{}, {}, {}{manifests}",
        counted(report.arrays, "array"),
        counted(report.files, "file"),
        human_bytes(report.bytes)
    ))
    .to_string()
}

fn finding(finding: &Finding) -> Value {
    let safe = |text: &String| escape(text).to_string();
    let place = finding.place.map(|place| match place {
        Place::Byte { offset } => format!("byte {offset}"),
        Place::Line { line } => format!("line {line}"),
        Place::Text { line, column, .. } => format!("line {line}, column {column}"),
        _ => String::new(),
    });
    json!({
        "code": finding.code.id(),
        "severity": if finding.is_error() { "error" } else { "warning" },
        "path": finding.member.as_ref().map(safe),
        "array": finding.array,
        "place": place,
        "message": safe(&finding.message),
        "expected": finding.expected.as_ref().map(safe),
        "found": finding.found.as_ref().map(safe),
        "hint": finding.hint.as_ref().map(|hint| escape(&hint.in_words(Words::Command)).to_string()),
        "explanation": finding.code.explanation().text,
    })
}
