//! Creation of descriptions from headers, and changes to descriptions: updates to changed headers, reshaping, and edits
//! of attributes and names.

mod edit;
mod options;
mod ordered;
mod place;
mod reshape;
mod table;
mod update;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use self::edit::{MetadataEdits, edit_descriptions};
pub use self::options::DescribeOptions;
pub use self::reshape::{ReshapeReport, reshape};
pub use self::table::metadata_table;
pub use self::update::{Change, UpdateReport, update_descriptions};

pub(crate) use self::ordered::note_unordered;
use self::ordered::unordered;
use self::place::{NewText, PackTexts, write_texts};
use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs;
use crate::inspect::scan::PackScan;
use crate::message::Message;
use crate::pack::{self, Contents, Convention};
use crate::path::MemberPath;
use crate::pipeline;
use crate::read::open::Pack;
use crate::read::single_file::read_content;

/// Returns the description of one array file, or of a directory or archive as one document.
///
/// Existing descriptions are included; the others are made from the headers.
///
/// # Errors
///
/// [`Error::Io`] if the target cannot be read, and [`Error::Refused`] or [`Error::Array`] if a header is not valid.
pub fn describe_target(target: impl AsRef<Path>, options: &DescribeOptions) -> Result<String> {
    let target = target.as_ref();
    if !fs::is_directory(target)? && target.extension().is_some_and(|extension| extension == "ra") {
        return describe_file(target, options);
    }
    let archive = Archive::open_watched(target, &options.progress)?;
    let jobs = pipeline::jobs(options.jobs);
    let PackScan { mut contents, placement, .. } = PackScan::of_contents(&archive, jobs)?;
    refuse_bad_headers(target, &contents)?;
    if options.dimcoords {
        unordered(&Pack::of_archive(archive, placement), &mut contents);
    }
    let convention = options.dimcoords.then(|| Convention::new(&contents));
    Ok(pack::pack_document(&contents, convention.as_ref()))
}

fn describe_file(path: &Path, options: &DescribeOptions) -> Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let member = MemberPath::new(name.as_str())?;
    let mut contents = Contents::default();
    contents.add(member.clone(), read_content(path, &member)?);
    refuse_bad_headers(path, &contents)?;
    let texts = pack::describe_missing(&contents, options.dimcoords)?;
    Ok(texts.into_values().next().unwrap_or_default())
}

fn refuse_bad_headers(target: &Path, contents: &Contents) -> Result<()> {
    let mut findings = Vec::new();
    for (path, facts) in &contents.arrays {
        facts.findings(path, &mut findings);
    }
    Error::refuse_bad(target, findings).map(drop)
}

/// The descriptions that were written.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DescribeReport {
    /// The directory or archive.
    pub target: PathBuf,
    /// Descriptions that were written, by their paths below the directory.
    pub written: Vec<String>,
    /// Number of arrays that already had a description.
    pub described: u64,
    /// Files that an interrupted run left in the directories of the arrays. You can delete them.
    pub leftovers: Vec<PathBuf>,
    /// Problems, such as arrays whose headers cannot be read.
    pub findings: Vec<Finding>,
}

/// Writes a description next to every array of a directory or an archive that has none. Existing files are not changed.
/// An archive is updated as by [`PackWriter::update`](crate::PackWriter::update).
///
/// # Errors
///
/// [`Error::Io`] for system errors, [`Error::WrongTarget`] if `target` is another file, and [`Error::Refused`] for an
/// archive that is not valid.
pub fn write_descriptions(
    target: impl AsRef<Path>,
    options: &DescribeOptions,
) -> Result<DescribeReport> {
    let target = target.as_ref();
    let Some(pack) = PackTexts::read(target, options)? else {
        let message = Message::from("is neither a directory nor an archive; remove ");
        let message = message.option("write").text(" to print its description");
        return Err(Error::wrong_target(target, message));
    };
    let PackTexts { mut contents, mut findings, is_archive } = pack;
    for (path, facts) in &contents.arrays {
        if facts.header.is_err() {
            facts.findings(path, &mut findings);
        }
    }
    if options.dimcoords {
        findings.extend(unordered(&Pack::open(target)?, &mut contents));
    }
    let missing = pack::describe_missing(&contents, options.dimcoords)?;
    let arrays = contents.arrays.len() as u64;
    let undescribed = contents.undescribed().count() as u64;
    let texts = missing.into_iter().map(|(path, text)| NewText {
        document: target.join(path.as_str()),
        member: path.as_str().to_owned(),
        old: None,
        text,
    });
    let texts: Vec<_> = texts.collect();
    findings.extend(write_texts(is_archive.then_some(target), &texts, options)?);
    Ok(DescribeReport {
        target: target.to_owned(),
        written: texts.into_iter().map(|text| text.member).collect(),
        described: arrays - undescribed,
        leftovers: leftovers(target, &contents),
        findings,
    })
}

/// Returns the files that an interrupted run left in the directories where descriptions are written.
fn leftovers(target: &Path, contents: &Contents) -> Vec<PathBuf> {
    let directories: BTreeSet<_> =
        contents.arrays.keys().map(|path| path.parent().unwrap_or_default()).collect();
    let below = directories.into_iter().map(|directory| target.join(directory));
    below.flat_map(|directory| fs::leftovers_in(&directory, ".")).collect()
}
