//! Where changed descriptions are written: next to their arrays, or into an archive, which is updated.

use std::path::{Path, PathBuf};

use super::options::DescribeOptions;
use super::update::{must_be_free, replace};
use crate::archive::Archive;
use crate::error::Result;
use crate::finding::Finding;
use crate::fs;
use crate::inspect::scan::PackScan;
use crate::ndl::{self, Group};
use crate::pack::{self, Contents, DescriptionFacts, PACK_DOCUMENT};
use crate::pipeline;
use crate::read::single_file::is_pack;
use crate::write::survey::{Survey, survey};
use crate::write::writer::{PackWriter, WriteOptions};

/// A changed or new description.
pub(super) struct NewText {
    /// Its name in the pack.
    pub(super) member: String,
    /// Its path; in an archive, that of the archive and the name in it.
    pub(super) document: PathBuf,
    /// Its old text; `None` if it is new.
    pub(super) old: Option<String>,
    pub(super) text: String,
}

/// The headers and descriptions of a pack.
pub(super) struct PackTexts {
    pub(super) contents: Contents,
    pub(super) findings: Vec<Finding>,
    pub(super) is_archive: bool,
}

impl PackTexts {
    /// Reads those of a directory or an archive. `None` for another file.
    pub(super) fn read(target: &Path, options: &DescribeOptions) -> Result<Option<Self>> {
        if !is_pack(target)? {
            return Ok(None);
        }
        let is_archive = !fs::is_directory(target)?;
        let (contents, findings) = if is_archive {
            archived(target, options)?
        } else {
            let jobs = pipeline::jobs(options.jobs);
            let Survey { contents, findings, .. } = survey(target, jobs, &options.progress)?;
            (contents, findings)
        };
        Ok(Some(Self { contents, findings, is_archive }))
    }
}

/// Reads the headers and descriptions of an archive. A generated description of the pack is reduced to its attributes,
/// because the rest is generated again when the archive is updated.
fn archived(target: &Path, options: &DescribeOptions) -> Result<(Contents, Vec<Finding>)> {
    let archive = Archive::open_watched(target, &options.progress)?;
    let scan = PackScan::new(&archive, pipeline::jobs(options.jobs))?;
    let PackScan { mut contents, findings, .. } = scan;
    contents.forget_repetition();
    if !contents.attributes.is_empty() {
        let attributes = std::mem::take(&mut contents.attributes);
        let text = pack::attributes_document(vec![Group { attributes, ..Group::new("/") }]);
        let facts = DescriptionFacts::parse(PACK_DOCUMENT, text.into_bytes());
        contents.pack_document = Some(facts.into());
    }
    Ok((contents, findings))
}

/// Writes all texts, and returns warnings. Other files of an archive are copied in their compressed form.
pub(super) fn write_texts(
    archive: Option<&Path>,
    texts: &[NewText],
    options: &DescribeOptions,
) -> Result<Vec<Finding>> {
    let Some(archive) = archive else {
        for new in texts.iter().filter(|text| text.old.is_none()) {
            must_be_free(&new.document)?;
        }
        for NewText { document, old, text, .. } in texts {
            replace(document, old.as_deref(), text, options.dry_run)?;
        }
        return Ok(Vec::new());
    };
    if options.dry_run || texts.is_empty() {
        return Ok(Vec::new());
    }
    let (jobs, progress) = (options.jobs, options.progress.clone());
    let update = WriteOptions { force: true, jobs, progress, ..WriteOptions::default() };
    let mut pack = PackWriter::update(archive, update)?;
    for NewText { member, text, .. } in texts {
        if member == PACK_DOCUMENT && pack::is_attributes_document(text) {
            let document = ndl::parse(text.as_bytes()).document;
            let root = document.as_ref().and_then(|document| document.group("/"));
            pack.set_attributes(root.map(|root| root.attributes.clone()).unwrap_or_default());
        } else {
            pack.file(member, text.as_bytes())?;
        }
    }
    Ok(pack.finish()?.findings)
}
