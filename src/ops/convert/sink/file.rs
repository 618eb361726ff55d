//! One RawArray file and its description.

use std::path::{Path, PathBuf};

use super::super::data::Arranged;
use super::super::item::Item;
use super::super::rawarray::Metadata;
use super::{Way, WriteArrays, description, kept, write_rawarray};
use crate::error::{Error, Result};
use crate::fs::{self, PendingFile, Turn};
use crate::pack::DESCRIPTION_EXTENSIONS;
use crate::path::escape;
use crate::progress::Progress;

/// A RawArray file and its description, both being written.
pub(super) struct RawArraySink {
    array: PendingFile,
    description: PendingFile,
    target: PathBuf,
    described_in: PathBuf,
    /// Whether the description takes the place of another.
    is_replaced: bool,
    bytes: u64,
}

impl RawArraySink {
    pub(super) fn begin(output: &Path, force: bool) -> Result<Self> {
        let array = PendingFile::create(output, force)?;
        let [first, second] =
            DESCRIPTION_EXTENSIONS.map(|extension| output.with_extension(extension));
        // Two descriptions of one array are an error wherever they are read.
        let described_in = if !fs::exists(&second) {
            first
        } else if force && !fs::exists(&first) {
            second
        } else if force {
            let [first, second] =
                [first, second].map(|path| escape(&path.to_string_lossy()).to_string());
            return Err(Error::Unsupported(format!(
                "`{first}` and `{second}` both describe what would be replaced; remove one of them"
            )));
        } else {
            return Err(Error::AlreadyExists { path: second });
        };
        let is_replaced = fs::exists(&described_in);
        let description = PendingFile::create(&described_in, force)?;
        let target = output.to_owned();
        Ok(Self { array, description, target, described_in, is_replaced, bytes: 0 })
    }
}

impl WriteArrays for RawArraySink {
    fn array(
        &mut self,
        _: &str,
        item: &Item,
        data: Arranged<'_>,
        metadata: &Metadata,
        told: &mut Vec<String>,
        way: Way<'_>,
    ) -> Result<bool> {
        let len = write_rawarray(self.array.file(), item, data, metadata, way)?;
        let mut text = description(item).into_bytes();
        if self.is_replaced {
            let name = escape(&self.described_in.to_string_lossy()).to_string();
            if let Some(old) = kept::description(&self.described_in, &self.target, item)? {
                told.push(format!("`{name}` still describes it, and stays as it is"));
                text = old;
            } else {
                told.push(format!("`{name}` describes something else, and was replaced"));
            }
        }
        self.description.file().write_all_at(&text, 0)?;
        self.bytes = len.saturating_add(u64::try_from(text.len()).unwrap_or(0));
        Ok(true)
    }

    /// The description gets its name first: without an array it is an ordinary file, while an array without
    /// its description may be read in the wrong order.
    fn finish(self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        let Self { array, description, described_in, is_replaced, bytes, .. } = *self;
        array.sync()?;
        description.sync()?;
        let _turn = Turn::beside(&described_in, &Progress::default());
        description.persist()?;
        if let Err(error) = array.persist() {
            if !is_replaced {
                fs::remove(&described_in)?;
            }
            return Err(error);
        }
        fs::sync_directory(&described_in)?;
        Ok(bytes)
    }
}
