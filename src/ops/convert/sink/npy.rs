//! One array of numpy.

use std::path::Path;

use super::super::data::Arranged;
use super::super::item::Item;
use super::super::options::{ConvertOptions, Reinterpret};
use super::super::rawarray::Metadata;
use super::{Way, WriteArrays, refused, settle};
use crate::error::Result;
use crate::fs::PendingFile;
use crate::interchange::npy;

/// An `.npy` file that is being written.
pub(super) struct NpySink {
    file: PendingFile,
    options: npy::WriteOptions,
    bytes: u64,
}

/// How to write what numpy reads.
pub(super) fn write_options(options: &ConvertOptions) -> npy::WriteOptions {
    npy::WriteOptions::new().as_void(options.reinterpret == Some(Reinterpret::Void))
}

impl NpySink {
    pub(super) fn begin(output: &Path, options: &ConvertOptions) -> Result<Self> {
        let file = PendingFile::create(output, options.force)?;
        Ok(Self { file, options: write_options(options), bytes: 0 })
    }
}

impl WriteArrays for NpySink {
    fn array(
        &mut self,
        _: &str,
        item: &Item,
        data: Arranged<'_>,
        _: &Metadata,
        losses: &mut Vec<String>,
        way: Way<'_>,
    ) -> Result<bool> {
        let plan = npy::Plan::new(&item.to_variable()?, &self.options)
            .map_err(|source| refused(item, source))?;
        let file = self.file.file();
        file.write_all_at(&plan.header.encode(), 0)?;
        data.write_at(file, plan.header.len(), way.beside, way.jobs)?;
        // An empty text takes a byte.
        self.bytes = plan.file_len();
        self.file.set_len(self.bytes)?;
        losses.extend(plan.losses);
        Ok(false)
    }

    fn finish(self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        settle(self.file)?;
        Ok(self.bytes)
    }
}
