//! A picture.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::super::data::Data;
use super::super::item::Item;
use super::super::rawarray::Metadata;
use super::{Elements, ReadElements, Source, read_twice, refused};
use crate::error::Result;
use crate::fs::File;
use crate::interchange::png;

/// A PNG.
pub(super) struct PngFile {
    path: PathBuf,
    /// Gone when its pixels were read.
    reader: Option<png::Reader<BufReader<File>>>,
}

pub(super) fn open(path: &Path) -> Result<Source> {
    let file = BufReader::new(File::open(path)?);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let reader = png::Reader::open(file, &name).map_err(|source| refused(path, source))?;
    let item = Item::foreign(name, reader.variable().clone());
    let reads = Box::new(PngFile { path: path.to_owned(), reader: Some(reader) });
    Ok(Source { items: vec![item], losses: Vec::new(), reads })
}

impl ReadElements for PngFile {
    fn elements(&mut self, _: usize, _: &Item, _: &Path) -> Result<Elements<'_>> {
        let Some(reader) = self.reader.take() else { return Err(read_twice()) };
        let data = Data::Passing(Box::new(reader), self.path.to_string_lossy().into_owned());
        Ok(Elements { data, metadata: Metadata::None, verified: false })
    }
}
