//! Updates of descriptions to the headers of their arrays.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::options::DescribeOptions;
use crate::error::{Error, Result};
use crate::finding::{Finding, count_errors};
use crate::fs::{self, Turn};
use crate::ndl::ValueChange;
use crate::pack::{self, Contents, Described, DescribedArray};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;
use crate::read::single_file::{self, SingleFile};
use crate::write::survey::{Survey, survey};

/// The descriptions that were changed.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UpdateReport {
    /// The path of the directory, document or array.
    pub target: PathBuf,
    /// All changes that were made.
    pub changes: Vec<Change>,
    /// Documents that were created for arrays without a description.
    pub written: Vec<PathBuf>,
    /// Number of documents that needed no change.
    pub unchanged: u64,
    /// Problems, including arrays whose description could not be updated.
    pub findings: Vec<Finding>,
}

/// A change of one value in a description.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Change {
    /// Path of the document.
    pub document: PathBuf,
    /// Name of the array in the pack; absent for an attribute or a dimension of the pack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
    /// Line where the change begins, counted from 1.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub line: u32,
    /// Key that was changed, such as `shape`, `attributes.units` or `storage.endian`.
    pub key: String,
    /// Old value; absent if it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// New value; absent if it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl UpdateReport {
    /// Returns whether all descriptions are now valid. Warnings do not count.
    pub fn is_clean(&self) -> bool {
        count_errors(&self.findings) == 0
    }

    /// Adds the changes of a document that describes these arrays.
    pub(super) fn add(
        &mut self,
        document: &Path,
        changes: Vec<ValueChange>,
        arrays: &[(&MemberPath, Described<'_>)],
    ) {
        self.changes.extend(changes.into_iter().map(
            |ValueChange { path, line, from, to, .. }| {
                let is_of = |(_, described): &&(&MemberPath, Described<'_>)| {
                    path.first() == Some(&described.group.path)
                        && path.get(2) == Some(&described.entity.array().name)
                };
                // Attributes of a document and dimensions without an array belong to the pack.
                let array = arrays.iter().find(is_of).filter(|_| path.len() > 3);
                let key = path.get(if array.is_some() { 3 } else { 1 }..).unwrap_or_default();
                Change {
                    document: document.to_owned(),
                    array: array.map(|(path, _)| path.as_str().to_owned()),
                    line: u32::try_from(line).expect("a description has fewer lines"),
                    key: key.join("."),
                    from,
                    to,
                }
            },
        ));
    }
}

/// Updates the shape, the type and the explicit storage in existing descriptions to the headers of the arrays. `target`
/// is an array, its description, or a directory.
///
/// The rest of a description does not change. A document that cannot be updated for all of its arrays is not changed,
/// and the report gives the reason. Arrays without a description do not get one.
///
/// # Errors
///
/// [`Error::NotAnArray`](crate::Error::NotAnArray) if a file is neither an array nor a description, and
/// [`Error::Io`](crate::Error::Io) for system errors.
pub fn update_descriptions(
    target: impl AsRef<Path>,
    options: &DescribeOptions,
) -> Result<UpdateReport> {
    let target = target.as_ref();
    let mut report = UpdateReport { target: target.to_owned(), ..UpdateReport::default() };
    if fs::is_directory(target)? {
        let jobs = pipeline::jobs(options.jobs);
        let Survey { contents, findings, .. } = survey(target, jobs, &options.progress)?;
        report.findings = findings;
        update(target, &contents, |_| true, options.dry_run, &mut report)?;
    } else if single_file::is_pack(target)? {
        let why = "is an archive; unpack it, update the directory, and create the archive again";
        return Err(Error::wrong_target(target, why));
    } else {
        let single_file = single_file::gather(target, None)?;
        if single_file.unattached.is_some() {
            return Err(single_file::not_an_array(target));
        }
        let SingleFile { root, subject, contents, .. } = single_file;
        let stem = subject.without_extension().to_owned();
        let is_pack_document = subject.as_str() == pack::PACK_DOCUMENT;
        let counts = |path: &MemberPath| is_pack_document || path.without_extension() == stem;
        update(&root, &contents, counts, options.dry_run, &mut report)?;
    }
    Ok(report)
}

fn update(
    root: &Path,
    contents: &Contents,
    counts: impl Fn(&MemberPath) -> bool,
    dry_run: bool,
    report: &mut UpdateReport,
) -> Result<()> {
    // The arrays that each document describes.
    let mut documents: BTreeMap<&str, Vec<DescribedArray<'_>>> = BTreeMap::new();
    for (path, facts) in contents.arrays.iter().filter(|(path, _)| counts(path)) {
        let Ok(header) = &facts.header else {
            facts.findings(path, &mut report.findings);
            continue;
        };
        let described = contents.description(path, &mut report.findings);
        for described in with_pack_document(contents, path, described) {
            let encoding = facts.encoding;
            let array =
                DescribedArray { path, header, encoding, described, known: None, shared: &[] };
            documents.entry(described.member).or_default().push(array);
        }
    }
    for (member, arrays) in documents {
        let Some(DescribedArray { described: first, .. }) = arrays.first() else {
            continue;
        };
        match pack::update(contents, &arrays) {
            // The errors of a document next to an array were reported with it.
            Err(_) if first.facts.has_errors() && !first.is_of_pack() => {}
            Err(findings) => report.findings.extend(findings),
            Ok(None) => report.unchanged += 1,
            Ok(Some(revision)) => {
                let document = root.join(member);
                replace(&document, Some(first.facts.text()), &revision.text, dry_run)?;
                let arrays = arrays.iter().map(|array| (array.path, array.described));
                report.add(&document, revision.changes, &arrays.collect::<Vec<_>>());
            }
        }
    }
    Ok(())
}

/// Replaces the old text of a document, or writes a new document.
pub(super) fn replace(document: &Path, old: Option<&str>, new: &str, dry_run: bool) -> Result<()> {
    match old {
        _ if dry_run => Ok(()),
        Some(old) => {
            let _turn = Turn::beside(document, &Progress::default())?;
            fs::replace(document, old.as_bytes(), new.as_bytes())
        }
        None => fs::write_new(document, false, |out| out.write_all(new.as_bytes())),
    }
}

/// Returns an error if something that is not read as a description has the name of a new one.
pub(super) fn must_be_free(document: &Path) -> Result<()> {
    if !fs::exists(document) {
        return Ok(());
    }
    Err(Error::wrong_target(
        document,
        "is not an ordinary file, so it is not read as a description; replace it with a copy of the file that it \
         links to, or rename it",
    ))
}

/// Returns the description of an array, and that in the description of the pack if it is another one.
pub(super) fn with_pack_document<'c>(
    contents: &'c Contents,
    path: &MemberPath,
    described: Option<Described<'c>>,
) -> impl Iterator<Item = Described<'c>> {
    let of_pack = match described {
        Some(described) if described.is_of_pack() => None,
        _ => contents.in_pack_document(path),
    };
    described.into_iter().chain(of_pack)
}
