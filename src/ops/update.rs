//! Bringing descriptions in line with changed headers, in place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::describe::DescribeOptions;
use super::single_file::{self, SingleFile};
use super::survey::{Survey, survey};
use crate::error::Result;
use crate::finding::{Finding, count_errors};
use crate::fs::{self, Turn};
use crate::pack::{Contents, Described, Update, Updated};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;

/// The descriptions that were brought in line with changed headers.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UpdateReport {
    /// The directory, document or array.
    pub target: PathBuf,
    /// The changes, which are all that were made.
    pub changes: Vec<Change>,
    /// Documents that say what the headers say, as they stand.
    pub unchanged: u64,
    /// The findings about arrays that could not be brought in line, and all others.
    pub findings: Vec<Finding>,
}

/// One value of one description.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Change {
    /// The path of the document.
    pub document: PathBuf,
    /// The array, by its name in the pack.
    pub array: String,
    /// The line where the change begins, counted from 1.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub line: u32,
    /// The key that was changed, such as `shape`, `type` or `storage.endian`.
    pub key: String,
    /// The old value.
    pub from: String,
    /// The new value.
    pub to: String,
}

impl UpdateReport {
    /// Whether everything is in line now; warnings do not count.
    pub fn is_clean(&self) -> bool {
        count_errors(&self.findings) == 0
    }
}

/// Brings the shape and type that existing descriptions state, and the storage where they state it, in
/// line with the headers of the arrays. `target` is an array, its description, or a directory. Of the options
/// only threads and progress matter.
///
/// Nothing else in a description changes, not a byte. A document in which that cannot be done for every
/// one of its arrays is left as it is, and the report says why. Arrays without description stay so.
///
/// # Errors
///
/// [`Error::NotAnArray`](crate::Error::NotAnArray) for a file that is neither an array nor a description, and when the system refuses.
pub fn update_descriptions(target: &Path, options: &DescribeOptions) -> Result<UpdateReport> {
    let mut report = UpdateReport {
        target: target.to_owned(),
        changes: Vec::new(),
        unchanged: 0,
        findings: Vec::new(),
    };
    if fs::is_directory(target)? {
        let jobs = pipeline::jobs(options.jobs);
        let Survey { contents, findings, .. } = survey(target, jobs, &options.progress)?;
        report.findings = findings;
        update(target, &contents, |_| true, &mut report)?;
    } else {
        let single_file = single_file::gather(target, None)?;
        if single_file.is_ordinary() {
            return Err(single_file::not_an_array(target));
        }
        let SingleFile { root, subject, contents, .. } = single_file;
        let stem = subject.without_extension().to_owned();
        let is_pack_document = subject.as_str() == crate::pack::PACK_DOCUMENT;
        let counts = |path: &MemberPath| is_pack_document || path.without_extension() == stem;
        update(&root, &contents, counts, &mut report)?;
    }
    Ok(report)
}

fn update(
    root: &Path,
    contents: &Contents,
    counts: impl Fn(&MemberPath) -> bool,
    report: &mut UpdateReport,
) -> Result<()> {
    // Every document with the arrays that it describes.
    let mut documents: BTreeMap<&str, Vec<(&MemberPath, Described<'_>)>> = BTreeMap::new();
    for (path, facts) in contents.arrays.iter().filter(|(path, _)| counts(path)) {
        if facts.header.is_err() {
            facts.findings(path, &mut report.findings);
            continue;
        }
        let mut findings = Vec::new();
        let described = contents.description(path, &mut findings);
        report.findings.extend(findings);
        let of_pack = match described {
            Some(described) if described.of_pack => None,
            _ => contents.in_pack_document(path),
        };
        for described in described.into_iter().chain(of_pack) {
            documents.entry(described.member).or_default().push((path, described));
        }
    }
    for (member, arrays) in documents {
        match update_document(contents, &arrays) {
            Err(findings) => report.findings.extend(findings),
            Ok(Updated { text: None, .. }) => report.unchanged = report.unchanged.saturating_add(1),
            Ok(Updated { text: Some(text), edits }) => {
                let Some((_, described)) = arrays.first() else { continue };
                let document = root.join(member);
                let old = described.facts.text();
                let _turn = Turn::beside(&document, &Progress::default());
                fs::replace(&document, old.as_bytes(), text.as_bytes())?;
                report.changes.extend(edits.into_iter().map(|(array, edit)| Change {
                    document: document.clone(),
                    array: array.as_str().to_owned(),
                    line: edit.line,
                    key: edit.key,
                    from: old.get(edit.span).unwrap_or_default().to_owned(),
                    to: edit.text,
                }));
            }
        }
    }
    Ok(())
}

/// The new text of a document, or why it cannot have one.
fn update_document(
    contents: &Contents,
    arrays: &[(&MemberPath, Described<'_>)],
) -> Result<Updated, Vec<Finding>> {
    let Some((_, first)) = arrays.first() else { return Ok(Updated::default()) };
    // The findings of a document beside an array are reported with it.
    let Some(mut update) = Update::new(contents, first) else {
        return Err(if first.of_pack { first.facts.findings().to_vec() } else { Vec::new() });
    };
    let mut refused = Vec::new();
    for (path, described) in arrays {
        let Some(facts) = contents.arrays.get(path.as_str()) else { continue };
        let Ok(header) = &facts.header else { continue };
        refused.extend(update.add(path, header, facts.encoding, described).err().map(|why| *why));
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    update.finish().map_err(|why| vec![*why])
}
