//! One array of numpy.

use std::path::Path;

use super::super::data::Arranged;
use super::super::item::Item;
use super::super::options::{ConvertOptions, Reinterpret};
use super::{Way, refused};
use crate::error::Result;
use crate::fs::PendingFile;
use crate::interchange::npy;

/// An `.npy` file that is being written.
pub(super) struct NpySink {
    file: PendingFile,
    bytes: u64,
}

/// How to write what numpy reads.
pub(super) fn write_options(options: &ConvertOptions) -> npy::WriteOptions {
    npy::WriteOptions::new().as_void(options.reinterpret == Some(Reinterpret::Void))
}

impl NpySink {
    pub(super) fn begin(output: &Path, force: bool) -> Result<Self> {
        Ok(Self { file: PendingFile::create(output, force)?, bytes: 0 })
    }

    pub(super) fn write(
        &mut self,
        item: &Item,
        data: Arranged<'_>,
        options: &ConvertOptions,
        losses: &mut Vec<String>,
        way: Way<'_>,
    ) -> Result<()> {
        let plan = npy::Plan::new(&item.to_variable()?, &write_options(options))
            .map_err(|source| refused(item, source))?;
        let file = self.file.file();
        file.write_all_at(&plan.header.encode(), 0)?;
        data.write_at(file, plan.header.len(), way.beside, way.jobs)?;
        // An empty text takes a byte.
        self.bytes = plan.file_len();
        self.file.set_len(self.bytes)?;
        losses.extend(plan.losses);
        Ok(())
    }

    pub(super) fn finish(self) -> Result<u64> {
        self.file.sync()?;
        self.file.persist()?;
        Ok(self.bytes)
    }
}
