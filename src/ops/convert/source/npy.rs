//! One array of numpy.

use std::path::{Path, PathBuf};

use super::super::data::{Data, Placed};
use super::super::item::Item;
use super::super::options::{ConvertOptions, Reinterpret};
use super::super::rawarray::Metadata;
use super::{Elements, ReadElements, Source, read_twice, refused};
use crate::error::Result;
use crate::fs::{File, Stamp};
use crate::interchange::npy;
use crate::ra::Header;

/// An `.npy` file.
pub(super) struct NpyFile {
    path: PathBuf,
    stamp: Stamp,
    /// Gone when its elements were read.
    reader: Option<npy::Reader<File>>,
}

/// How to read what numpy wrote.
pub(super) fn read_options(options: &ConvertOptions) -> npy::ReadOptions {
    npy::ReadOptions::new()
        .keep_endian(options.keep_endian)
        .bfloat16(options.reinterpret == Some(Reinterpret::BFloat16))
}

pub(super) fn open(path: &Path, options: &ConvertOptions) -> Result<Source> {
    let file = File::open(path)?.watched(&options.progress);
    let stamp = file.stamp()?;
    let refused = |source| refused(path, source);
    let reader = npy::Reader::with_options(file, &read_options(options)).map_err(refused)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let variable = reader.variable(&name).map_err(refused)?;
    let end = reader.header().len().saturating_add(variable.header.data_len());
    let mut item = Item::foreign(name, variable);
    match stamp.len().saturating_sub(end) {
        0 => {}
        trailing => item.losses.push(format!("{trailing} bytes follow its elements")),
    }
    let reads = Box::new(NpyFile { path: path.to_owned(), stamp, reader: Some(reader) });
    Ok(Source { items: vec![item], losses: Vec::new(), reads })
}

impl ReadElements for NpyFile {
    fn elements(&mut self, _: usize, item: &Item, _: &Path) -> Result<Elements<'_>> {
        let Some(reader) = self.reader.take() else { return Err(read_twice()) };
        let offset = reader.header().len();
        let len = item.header.as_ref().map_or(0, Header::data_len);
        // What is cut off is told by the reader, with the place.
        let is_whole = offset.saturating_add(len) <= self.stamp.len();
        let data = if reader.is_verbatim() && is_whole {
            Data::Placed(Placed::new(reader.into_inner(), offset, Some(self.stamp)))
        } else {
            Data::Passing(Box::new(reader), self.path.to_string_lossy().into_owned())
        };
        Ok(Elements { data, metadata: Metadata::None, verified: false })
    }
}
