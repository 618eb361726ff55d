//! Validation of descriptions, on their own and against their arrays. Digests are not computed, and data is read only
//! for arrays whose elements a description repeats.

use std::collections::HashSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::archive::{Archive, Container, Member, MemberReader, NameTable, check_names};
use crate::deposit::check_crate;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::finding::{self, Code, Finding, Severity, count_errors};
use crate::fs::{self, File};
use crate::inspect::late::LateArrays;
#[cfg(feature = "full")]
use crate::inspect::profile;
use crate::inspect::repositories;
use crate::inspect::scan::PackScan;
use crate::message::Message;
use crate::ndl;
use crate::pack::{Contents, DescriptionFacts};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;
use crate::read::single_file::{self, SingleFile, is_array_file};

/// Name in messages of a document without a file.
const UNNAMED: &str = "<stdin>";

/// Options for [`validate`]: the rules that apply, and the root of the pack.
#[derive(Debug, Clone, Default)]
pub struct ValidateOptions {
    /// Whether to treat warnings and extension words as errors.
    pub strict: bool,
    /// Whether to also check optional metadata: known units, names, a title; and whether coordinates increase or
    /// decrease throughout, for which their data is read.
    pub metadata: bool,
    /// Codes that are ignored and not reported.
    pub allow: Vec<Code>,
    /// Root of the pack that single files belong to. If `None`, it is the nearest directory above a file that contains
    /// everything that the file refers to, up to the working directory.
    pub root: Option<PathBuf>,
    /// File of a BagIt profile, whose rules the bag is checked against. It is never fetched.
    #[cfg(feature = "full")]
    pub profile: Option<PathBuf>,
    /// Names of repositories, from [`repositories`](super::repositories). Their rules are checked for the upload: the files
    /// of a directory, or an archive and the files next to it.
    pub repositories: Vec<String>,
    /// Names of conventions, from [`conventions`](super::conventions). Their rules are checked, and optional metadata.
    pub conventions: Vec<String>,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// The problems found at one path.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ValidateReport {
    /// Path of the file, archive or directory, as given; `-` for standard input.
    pub target: PathBuf,
    /// The container of the target; absent for a document or an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// URI of the BagIt profile that the bag was checked against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Number of descriptions read.
    pub documents: u64,
    /// Number of arrays that they were checked against.
    pub arrays: u64,
    /// Errors and warnings, in the order of members and of their texts. The descriptions are valid if none is an error.
    pub findings: Vec<Finding>,
}

impl ValidateReport {
    /// Returns whether there is no error. Warnings do not count.
    pub fn is_valid(&self) -> bool {
        count_errors(&self.findings) == 0
    }

    fn new(target: &Path, container: Option<Container>) -> Self {
        Self { target: target.to_owned(), container, ..Self::default() }
    }

    fn finish(mut self, options: &ValidateOptions) -> Self {
        self.findings.retain(|finding| !options.allow.contains(&finding.code));
        // A document can be found in two ways.
        let mut seen = HashSet::new();
        self.findings.retain(|finding| seen.insert(finding.to_string()));
        if options.strict {
            for finding in &mut self.findings {
                finding.severity = Severity::Error;
            }
        }
        finding::sort(&mut self.findings);
        finding::cut(&mut self.findings);
        self
    }
}

/// Validates a document or an array with related files, or everything in an archive or directory.
///
/// In a directory or archive, a YAML file counts as a description only if it is next to an array, or contains
/// `ndarrays` or `dimcoords`. A file that is named always counts as a description, unless it is an array or an archive.
///
/// # Errors
///
/// [`Error::Io`] if the target cannot be read. Problems in it are listed in the report.
///
/// ```no_run
/// let report = ra_pack::validate("exp/run1", &Default::default())?;
/// assert!(report.is_valid());
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn validate(target: impl AsRef<Path>, options: &ValidateOptions) -> Result<ValidateReport> {
    let target = target.as_ref();
    let report = if fs::is_directory(target)? || Archive::is_archive(target)? {
        validate_pack(target, options)?
    } else {
        validate_file(target, options)?
    };
    Ok(report.finish(options))
}

/// Validates a text without a file and without arrays.
pub fn validate_text(text: &[u8], options: &ValidateOptions) -> ValidateReport {
    let mut report = ValidateReport::new(Path::new(UNNAMED), None);
    let facts = DescriptionFacts::parse(UNNAMED, text);
    let contents = Contents::default();
    contents.document_findings(UNNAMED, &facts, &mut report.findings);
    if options.strict {
        report.findings.extend(facts.extension_words(UNNAMED));
    }
    report.documents = 1;
    report.finish(options)
}

fn validate_pack(target: &Path, options: &ValidateOptions) -> Result<ValidateReport> {
    let archive = match Archive::open_watched(target, &options.progress) {
        Ok(archive) => archive,
        Err(Error::Damaged { finding, .. }) => {
            let mut report = ValidateReport::new(target, None);
            report.findings.push(*finding);
            return Ok(report);
        }
        Err(error) => return Err(error),
    };
    let mut report = ValidateReport::new(target, Some(archive.container()));
    let jobs = pipeline::jobs(options.jobs);
    let PackScan { mut contents, findings, placement, members } = PackScan::new(&archive, jobs)?;
    report.findings = findings;
    #[cfg(feature = "full")]
    if let Some(profile) = &options.profile {
        let (identifier, found) = profile::check(&archive, &placement, &members, profile)?;
        report.findings.extend(found);
        report.profile = Some(identifier);
    }
    let (container, wanted) = (Some(archive.container()), &options.repositories);
    report.findings.extend(repositories::check(target, container, &members, wanted)?);
    let (names, mut found) = (NameTable::new(members.iter().map(Member::named)), Vec::new());
    check_names(&names, archive.container(), &mut found);
    report.findings.extend(found.into_iter().filter(|finding| !finding.is_error()));
    let of_pack = contents.pack_document.iter().len();
    contents.forget_repetition();
    report.findings.extend(contents.findings());
    report.findings.extend(contents.other_names());
    for (path, facts) in contents.unattached() {
        contents.document_findings(path.as_str(), facts, &mut report.findings);
    }
    let mut arrays = LateArrays::of_values(&contents, &mut report.findings);
    let with_metadata = options.metadata || !options.conventions.is_empty();
    if with_metadata {
        arrays = arrays.and_coordinates(&contents);
    }
    let late = arrays.check_in(&archive, &placement, jobs, None)?;
    report.findings.extend(late.into_iter().flat_map(|file| file.findings));
    if count_errors(&report.findings) == 0 {
        report.findings.extend(check_crate(&contents));
    }
    contents.forget_ordinary();
    if with_metadata {
        report.findings.extend(contents.rule_findings(&options.conventions, true)?);
    }
    report.arrays = contents.arrays.len() as u64;
    report.documents = (contents.descriptions.len() + of_pack) as u64;
    if options.strict {
        report.findings.extend(contents.extension_words());
    }
    Ok(report)
}

fn validate_file(target: &Path, options: &ValidateOptions) -> Result<ValidateReport> {
    #[cfg(feature = "full")]
    if options.profile.is_some() {
        return Err(profile::not_a_bag(target));
    }
    let kind = fs::kind_of(target)?;
    if kind.is_of_another_format() && !is_array_file(target)? {
        return Err(Error::wrong_target(target, format!("is {}", kind.not("a description"))));
    }
    if kind == FileKind::Text && target.extension().is_some_and(|end| end == "csv") {
        let why = Message::from("is a table, not a description; to use its metadata, run ");
        return Err(Error::wrong_target(target, why.call_on_pack("describe", ("apply", "FILE"))));
    }
    let mut report = ValidateReport::new(target, None);
    let single_file = match single_file::gather(target, options.root.as_deref()) {
        Ok(single_file) => single_file,
        // The text is longer than the limit of a description.
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::FileTooLarge => {
            let limit = ndl::MAX_TEXT;
            report.findings.push(
                Finding::new(Code::TooLarge, "the document is too large")
                    .in_member(target.to_string_lossy())
                    .expected(format!("at most {limit} bytes"), "more"),
            );
            return Ok(report);
        }
        Err(error) => return Err(error),
    };
    report.findings = single_file.findings();
    report.findings.extend(repositories::check(target, None, &[], &options.repositories)?);
    report.findings.extend(inline_findings(&single_file)?);
    let array = single_file.array();
    let is_own = |finding: &Finding| finding.array.as_ref() == Some(&array);
    report.findings.extend(single_file.contents.other_names().filter(is_own));
    if options.metadata || !options.conventions.is_empty() {
        report.findings.extend(metadata_findings(&single_file, &options.conventions)?);
    }
    if options.strict {
        report.findings.extend(single_file.extension_words());
    }
    let is_pack = single_file.is_pack_document();
    let stem = single_file.subject.without_extension().to_owned();
    let own = |path: &&MemberPath| is_pack || path.without_extension() == stem;
    report.arrays = single_file.contents.arrays.keys().filter(own).count() as u64;
    let documents = single_file.contents.descriptions.keys().filter(own).count();
    report.documents = documents.max(1) as u64;
    single_file.name_files(target, &mut report.findings);
    Ok(report)
}

/// Returns the problems of elements that the subject repeats from its array.
pub(crate) fn inline_findings(single_file: &SingleFile) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let arrays = LateArrays::of_values(&single_file.contents, &mut findings);
    findings.extend(arrays.check_each(opening(&single_file.root))?);
    let stem = single_file.subject.without_extension();
    let is_own = |member: &str| {
        single_file.is_pack_document()
            || member.rsplit_once('.').is_some_and(|(member, _)| member == stem)
    };
    findings.retain(|finding| finding.member.as_deref().is_some_and(is_own));
    Ok(findings)
}

/// Returns the problems of optional metadata in the subject.
fn metadata_findings(single_file: &SingleFile, conventions: &[String]) -> Result<Vec<Finding>> {
    let SingleFile { contents, subject, .. } = single_file;
    let is_pack = single_file.is_pack_document();
    let mut findings = contents.rule_findings(conventions, is_pack)?;
    let coordinates = LateArrays::default().and_coordinates(contents);
    findings.extend(coordinates.check_each(opening(&single_file.root))?);
    let array = single_file.array();
    findings.retain(|finding| {
        is_pack
            || finding.array.as_ref() == Some(&array)
            || finding.member.as_deref() == Some(subject.as_str())
    });
    Ok(findings)
}

/// Returns a function that opens files below `root`.
fn opening(root: &Path) -> impl Fn(&str) -> Result<MemberReader> {
    |path| Ok(Box::new(BufReader::new(File::open(root.join(path))?)))
}
