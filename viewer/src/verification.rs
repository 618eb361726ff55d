//! The verification of the whole pack, with the findings and words of the command.

use ra_pack::Finding;
use ra_pack::digest::Digest;
use ra_pack::finding::{Place, counts};
use ra_pack::message::Words;
use ra_pack::path::escape;
use ra_pack::verify::summary::{extent, remarks};
use ra_pack::verify::{KnownFiles, VerifyOptions};
use serde_json::{Value, json};

use crate::answer::{Arguments, Result};
use crate::contents::Opened;

/// Name of a manifest that was dropped on the page.
const MANIFEST: &str = "manifest-sha256.txt";

/// Largest number of findings in an answer; a badly damaged pack has at least one for each file.
const MOST_FINDINGS: usize = 1000;

/// Answers with the digests of the files that one of several workers reads: pairs of a name and digests, each with its
/// algorithm.
pub(crate) fn hash(opened: &Opened, arguments: &Arguments) -> Result {
    let number = |name: &str| arguments.number(name).unwrap_or(1);
    let known = opened.pack.read_share(number("nth"), number("of"), &VerifyOptions::default())?;
    let each = |(name, digests): (String, Vec<Digest>)| {
        let digests = digests.iter().map(|it| json!([it.algorithm().name(), it.to_string()]));
        json!([name, digests.collect::<Vec<_>>()])
    };
    Ok(Value::Array(known.into_iter().map(each).collect()).into())
}

/// Returns the digests that the workers found.
fn known(arguments: &Arguments) -> Option<KnownFiles> {
    let digest = |pair: &Value| {
        let algorithm = pair.get(0)?.as_str()?.parse().ok()?;
        Digest::from_hex(algorithm, pair.get(1)?.as_str()?.as_bytes())
    };
    let file = |pair: &Value| {
        let digests: Option<_> = pair.get(1)?.as_array()?.iter().map(digest).collect();
        Some((pair.get(0)?.as_str()?.to_owned(), digests?))
    };
    let workers = arguments.get("digests")?.as_array()?.iter();
    workers.filter_map(Value::as_array).flatten().map(file).collect()
}

/// Answers with the report.
pub(crate) fn verify(opened: &Opened, arguments: &Arguments) -> Result {
    let options = VerifyOptions {
        known: known(arguments).unwrap_or_default(),
        manifest: arguments.get("manifest").map(|_| MANIFEST.into()),
        manifest_text: arguments.text("manifest").map(|text| text.as_bytes().to_vec()),
        ..VerifyOptions::default()
    };
    let report = opened.pack.verify(&options)?;
    let findings: Vec<Value> = report.findings.iter().take(MOST_FINDINGS).map(finding).collect();
    let (errors, warnings) = counts(&report.findings);
    Ok(json!({
        "verdict": report.verdict,
        "findings": findings,
        "errors": errors,
        "warnings": warnings,
        "extent": extent(&report),
        "remarks": remarks(&report, "PACK"),
        "number": report.findings.len(),
        "bytes": report.bytes,
        "confirmed": report.contents_read && errors == 0,
    })
    .into())
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
