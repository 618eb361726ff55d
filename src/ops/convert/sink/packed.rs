//! A directory of RawArray files and descriptions, and an archive of one.

use std::path::Path;

use super::super::super::create::{CreateOptions, create};
use super::super::data::Arranged;
use super::super::item::Item;
use super::super::options::ConvertOptions;
use super::super::rawarray::Metadata;
use super::{Way, WriteArrays, description, write_rawarray};
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::fs::{self, File, PendingDirectory};
use crate::pack::{ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS};
use crate::path::MemberPath;

/// A directory that is being written, and perhaps packed afterwards.
pub(super) struct PackSink<'o> {
    directory: PendingDirectory,
    archive: Option<(&'o Path, Container)>,
    options: &'o ConvertOptions,
    bytes: u64,
}

impl<'o> PackSink<'o> {
    pub(super) fn begin(
        output: &'o Path,
        container: Container,
        options: &'o ConvertOptions,
    ) -> Result<Self> {
        if container == Container::Directory {
            let directory = PendingDirectory::create(output, options.force)?;
            return Ok(Self { directory, archive: None, options, bytes: 0 });
        }
        if !options.force && fs::exists(output) {
            return Err(Error::AlreadyExists { path: output.to_owned() });
        }
        let directory = PendingDirectory::beside(output)?;
        Ok(Self { directory, archive: Some((output, container)), options, bytes: 0 })
    }

    /// Writes a file to the disk that will stay.
    fn settle(&self, file: &File) -> Result<()> {
        if self.archive.is_some() { Ok(()) } else { file.sync() }
    }
}

impl WriteArrays for PackSink<'_> {
    fn array(
        &mut self,
        name: &str,
        item: &Item,
        data: Arranged<'_>,
        metadata: &Metadata,
        _: &mut Vec<String>,
        way: Way<'_>,
    ) -> Result<bool> {
        let path = MemberPath::new(format!("{name}.{ARRAY_EXTENSION}"))?;
        let file = self.directory.begin(&path)?;
        let len = write_rawarray(&file, item, data, metadata, way)?;
        self.bytes = self.bytes.saturating_add(len);
        self.settle(&file)?;
        self.inline(name, item)?;
        Ok(true)
    }

    fn inline(&mut self, name: &str, item: &Item) -> Result<()> {
        let path = MemberPath::new(format!("{name}.{}", DESCRIPTION_EXTENSIONS[0]))?;
        let file = self.directory.begin(&path)?;
        let text = description(item);
        file.write_all_at(text.as_bytes(), 0)?;
        self.bytes = self.bytes.saturating_add(u64::try_from(text.len()).unwrap_or(0));
        self.settle(&file)
    }

    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64> {
        let Self { directory, archive, options, bytes } = *self;
        let Some((archive, container)) = archive else {
            directory.persist(options.force)?;
            return Ok(bytes);
        };
        let options = CreateOptions {
            container: Some(container),
            compression: options.compression.unwrap_or_default(),
            force: options.force,
            jobs: options.jobs,
            ..CreateOptions::default()
        };
        let report = create(directory.path(), archive, &options)?;
        losses.extend(report.findings.iter().map(ToString::to_string));
        Ok(report.archive_bytes)
    }
}
