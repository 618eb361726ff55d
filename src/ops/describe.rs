//! Descriptions made from headers, for arrays that have none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::scan::{Look, PackScan};
use super::single_file::look;
use super::survey::{Survey, survey};
use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::finding::{self, Finding, count_errors};
use crate::fs::{self, PendingFile};
use crate::ndl::Document;
use crate::pack::{self, Contents, Convention};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::Encoding;

/// How to describe.
#[derive(Debug, Clone, Default)]
pub struct DescribeOptions {
    /// Turn 1-D arrays that have no description and the name of a coordinate, such as `time` or `lat`,
    /// into dimension coordinates, and name the extents of other arrays that are as long.
    pub dimcoords: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// Who is told how far it is.
    pub progress: Progress,
}

/// The description of one array file, or of a whole directory or archive as one document.
///
/// What is described already is taken over; the rest is what the headers say.
///
/// # Errors
///
/// When the target cannot be read, or a header is at fault.
pub fn describe_target(target: &Path, options: &DescribeOptions) -> Result<String> {
    if !fs::is_directory(target)? && target.extension().is_some_and(|extension| extension == "ra") {
        return describe_file(target, options);
    }
    let archive = Archive::open_watched(target, &options.progress)?;
    let jobs = pipeline::jobs(options.jobs);
    let PackScan { contents, .. } = PackScan::new(&archive, jobs, Look::Contents)?;
    refuse_bad_headers(target, &contents)?;
    let convention = options.dimcoords.then(|| Convention::new(&contents));
    Ok(pack::pack_document(&contents, convention.as_ref()))
}

fn describe_file(path: &Path, options: &DescribeOptions) -> Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let member = MemberPath::new(name.as_str())?;
    let mut contents = Contents::default();
    contents.add(member.clone(), look(path, &member)?);
    refuse_bad_headers(path, &contents)?;
    let texts = describe_missing(&contents, options.dimcoords);
    let text = texts.into_values().next().unwrap_or_default();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn refuse_bad_headers(target: &Path, contents: &Contents) -> Result<()> {
    let mut findings = Vec::new();
    for (path, facts) in &contents.arrays {
        facts.findings(path, &mut findings);
    }
    finding::cut(&mut findings);
    if count_errors(&findings) > 0 {
        return Err(Error::Refused { path: target.to_owned(), findings });
    }
    Ok(())
}

/// The descriptions that were written.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DescribeReport {
    /// The directory.
    pub target: PathBuf,
    /// Descriptions that were written, by their paths below the directory.
    pub written: Vec<String>,
    /// Arrays that were described already.
    pub described: u64,
    /// Files in the directories of the arrays, left by an interrupted run; they can be deleted.
    pub leftovers: Vec<PathBuf>,
    /// Arrays whose headers cannot be read, and other things that are wrong.
    pub findings: Vec<Finding>,
}

/// Writes a description beside every array below the directory `target` that has none. Nothing that
/// is there is touched.
///
/// # Errors
///
/// When the system refuses.
pub fn write_descriptions(target: &Path, options: &DescribeOptions) -> Result<DescribeReport> {
    if !fs::is_directory(target)? {
        return Err(Error::Unsupported(format!(
            "`{}` is not a directory; without the option `write` its description is printed",
            crate::path::escape(&target.to_string_lossy())
        )));
    }
    let jobs = pipeline::jobs(options.jobs);
    let Survey { contents, mut findings, .. } = survey(target, jobs, &options.progress)?;
    for (path, facts) in &contents.arrays {
        if facts.header.is_err() {
            facts.findings(path, &mut findings);
        }
    }
    let missing = describe_missing(&contents, options.dimcoords);
    let arrays = contents.arrays.len() as u64;
    let undescribed = u64::try_from(contents.undescribed().count()).unwrap_or(u64::MAX);
    let mut written = Vec::with_capacity(missing.len());
    for (path, text) in missing {
        let pending = PendingFile::create(&target.join(path.as_str()), false)?;
        pending.file().write_all_at(&text, 0)?;
        pending.sync()?;
        pending.persist()?;
        written.push(path.as_str().to_owned());
    }
    Ok(DescribeReport {
        target: target.to_owned(),
        written,
        described: arrays.saturating_sub(undescribed),
        leftovers: leftovers(target, &contents),
        findings,
    })
}

/// What an interrupted run left in the directories where descriptions are written.
fn leftovers(target: &Path, contents: &Contents) -> Vec<PathBuf> {
    let directories: BTreeSet<_> =
        contents.arrays.keys().map(|path| path.parent().unwrap_or_default()).collect();
    let below = directories.into_iter().map(|directory| target.join(directory));
    below.flat_map(|directory| fs::leftovers_in(&directory, ".")).collect()
}

/// The text of a description for every array that has none, by the name of its file.
pub(super) fn describe_missing(
    contents: &Contents,
    dimcoords: bool,
) -> BTreeMap<MemberPath, Vec<u8>> {
    let convention = dimcoords.then(|| Convention::new(contents));
    contents
        .undescribed()
        .filter_map(|(path, facts)| {
            let header = facts.header.as_ref().ok()?;
            let encoding = facts.encoding.unwrap_or(Encoding::Raw);
            let mut ndarray = pack::describe(path.stem(), header, encoding);
            let mut document = Document::flat();
            let group = document.groups.first_mut()?;
            match &convention {
                Some(convention) if convention.is_coordinate(path) => {
                    group.dimcoords.push(pack::as_coordinate(ndarray));
                }
                Some(convention) => {
                    convention.name_extents(path, &mut ndarray);
                    group.ndarrays.push(ndarray);
                }
                None => group.ndarrays.push(ndarray),
            }
            let name = format!("{}.yaml", path.without_extension());
            Some((MemberPath::new(name).ok()?, document.to_yaml().into_bytes()))
        })
        .collect()
}
