//! Arrays of numpy in a zip.

use std::io::{BufWriter, Write};
use std::path::Path;

use super::super::data::{Arranged, failed};
use super::super::item::Item;
use super::super::options::ConvertOptions;
use super::super::rawarray::Metadata;
use super::npy::write_options;
use super::{Way, WriteArrays, refused, settle};
use crate::archive::Compression;
use crate::error::{Error, Result};
use crate::fs::{File, PendingFile};
use crate::interchange::{self, npy, npz};

/// Bytes that are written at once.
const BLOCK: usize = 256 * 1024;

/// An `.npz` file that is being written.
pub(super) struct NpzSink {
    file: PendingFile,
    writer: Option<npz::Writer<BufWriter<File>>>,
    options: npy::WriteOptions,
}

impl NpzSink {
    pub(super) fn begin(output: &Path, options: &ConvertOptions) -> Result<Self> {
        let file = PendingFile::create(output, options.force)?;
        let compression = match options.compression {
            None | Some(Compression::Stored) => npz::Compression::Stored,
            Some(_) => npz::Compression::Deflated,
        };
        let inner = BufWriter::with_capacity(BLOCK, file.file().try_clone()?);
        let writer = Some(npz::Writer::new(inner, compression));
        Ok(Self { file, writer, options: write_options(options) })
    }
}

impl WriteArrays for NpzSink {
    fn array(
        &mut self,
        name: &str,
        item: &Item,
        data: Arranged<'_>,
        _: &Metadata,
        losses: &mut Vec<String>,
        way: Way<'_>,
    ) -> Result<bool> {
        let Some(mut writer) = self.writer.take() else { return Ok(false) };
        let variable = item.to_variable()?;
        let len = data.len;
        let data = data.into_passing(way.beside, way.jobs)?;
        let added = data.read_by(len, |data| writer.add(name, &variable, data, &self.options));
        self.writer = Some(writer);
        let added = added.map_err(|source| match source {
            interchange::Error::Io(error) => failed(error, "write", self.file.file().path()),
            source => refused(item, source),
        })?;
        losses.extend(added.losses);
        Ok(false)
    }

    fn finish(mut self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        if let Some(writer) = self.writer.take() {
            let path = self.file.file().path();
            let mut out = writer.finish().map_err(|error| match error {
                interchange::Error::Io(error) => Error::io("write", path)(error),
                source => Error::Interchange { name: path.to_string_lossy().into_owned(), source },
            })?;
            out.flush().map_err(Error::io("write", path))?;
        }
        let bytes = self.file.file().len()?;
        let this = *self;
        settle(this.file)?;
        Ok(bytes)
    }
}
