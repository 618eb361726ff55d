//! A picture.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::super::data::Arranged;
use super::super::item::Item;
use super::super::rawarray::Metadata;
use super::{Way, WriteArrays, refused, settle};
use crate::error::{Error, Result};
use crate::fs::PendingFile;
use crate::interchange::png;

/// A PNG that is being written.
pub(super) struct PngSink {
    file: PendingFile,
}

impl PngSink {
    pub(super) fn begin(output: &Path, force: bool) -> Result<Self> {
        Ok(Self { file: PendingFile::create(output, force)? })
    }
}

impl WriteArrays for PngSink {
    fn array(
        &mut self,
        _: &str,
        item: &Item,
        data: Arranged<'_>,
        _: &Metadata,
        losses: &mut Vec<String>,
        way: Way<'_>,
    ) -> Result<bool> {
        let variable = item.to_variable()?;
        let len = data.len;
        let data = data.into_passing(way.beside, way.jobs)?;
        let mut out = BufWriter::new(self.file.file().writer());
        let written = data.read_by(len, |data| png::write(&variable, data, &mut out));
        losses.extend(written.map_err(|source| refused(item, source))?);
        out.flush().map_err(Error::io("write", self.file.file().path()))?;
        Ok(false)
    }

    fn finish(self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        let bytes = self.file.file().len()?;
        settle(self.file)?;
        Ok(bytes)
    }
}
