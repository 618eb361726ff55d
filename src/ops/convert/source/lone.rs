//! One RawArray file, with the description beside it.

use std::path::{Path, PathBuf};

use super::super::super::lone;
use super::super::item::{Described, Item};
use super::super::options::ConvertOptions;
use super::super::rawarray::RawArrayFile;
use super::{Elements, ReadElements, Source, malformed, read_twice};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::File;
use crate::ndl;
use crate::pack;

/// A RawArray file.
pub(super) struct LoneFile {
    path: PathBuf,
    /// Gone when its elements were read.
    file: Option<RawArrayFile>,
    keep_big: bool,
}

pub(super) fn open(path: &Path, options: &ConvertOptions) -> Result<Source> {
    let file = File::open(path)?.watched(&options.progress);
    let stamp = file.stamp()?;
    let file = RawArrayFile::open(file, Some(stamp)).map_err(|error| malformed(path, error))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let described = description(path)?;
    let keep_big = options.keep_endian;
    let item = Item::rawarray(name, &file.header, described, keep_big)?;
    let reads = Box::new(LoneFile { path: path.to_owned(), file: Some(file), keep_big });
    Ok(Source { items: vec![item], losses: Vec::new(), reads })
}

impl ReadElements for LoneFile {
    fn elements(&mut self, _: usize, _: &Item, _: &Path) -> Result<Elements<'_>> {
        let Some(file) = self.file.take() else { return Err(read_twice()) };
        let name = self.path.to_string_lossy();
        let (data, metadata) =
            file.elements(&name, self.keep_big).map_err(|error| malformed(&self.path, error))?;
        Ok(Elements { data, metadata, verified: false })
    }
}

/// What the document beside the file says, or that of the directory.
fn description(path: &Path) -> Result<Option<Described>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !pack::is_array(&name) {
        return Ok(None);
    }
    let lone = lone::gather(path, None)?;
    let findings: Vec<_> = lone.findings().into_iter().filter(is_in_the_way).collect();
    if !findings.is_empty() {
        return Err(Error::Refused { path: lone.root, findings });
    }
    let described = lone.contents.description(&lone.subject, &mut Vec::new());
    Ok(described.map(|described| Described::new(&described, lone.subject.stem())))
}

/// Whether a finding makes it doubtful what the array is. Coordinates may lie elsewhere; data that cannot be
/// decoded are told of when they are.
pub(in super::super) fn is_in_the_way(finding: &Finding) -> bool {
    let is_said_elsewhere = matches!(
        finding.code,
        Code::BadData
            | Code::Undescribed
            | Code::UnknownCoordinate
            | Code::CoordinateLength
            | Code::Ndl(ndl::Code::UnresolvedCoord | ndl::Code::UnresolvedTarget)
    );
    finding.is_error() && !is_said_elsewhere
}
