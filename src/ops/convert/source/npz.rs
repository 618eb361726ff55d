//! Arrays of numpy in a zip.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::super::choice::{is_wanted, none_of_that_name};
use super::super::data::Data;
use super::super::item::{Item, stem};
use super::super::options::ConvertOptions;
use super::super::rawarray::Metadata;
use super::npy::read_options;
use super::{Elements, ReadElements, Source, refused};
use crate::error::Result;
use crate::fs::File;
use crate::interchange::{self, npy, npz};
use crate::path::escape;

/// Bytes that are read at once.
const BLOCK: usize = 64 * 1024;

/// An `.npz` file.
pub(super) struct NpzFile {
    path: PathBuf,
    reader: npz::Reader<BufReader<File>>,
    options: npy::ReadOptions,
    /// The member of each item.
    members: Vec<usize>,
}

pub(super) fn open(path: &Path, options: &ConvertOptions) -> Result<Source> {
    let file = BufReader::with_capacity(BLOCK, File::open(path)?.watched(&options.progress));
    let mut reader = npz::Reader::new(file).map_err(|source| refused(path, source))?;
    let read = read_options(options);
    let (mut items, mut members, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    let keys: Vec<_> = reader.members().iter().map(|one| one.key().map(str::to_owned)).collect();
    for (index, key) in keys.iter().enumerate() {
        let Some(key) = key else {
            let name = reader.members().get(index).map_or("", npz::Member::name);
            losses.push(format!("the member `{}` is no array", escape(name)));
            continue;
        };
        if !is_wanted(key, options) {
            continue;
        }
        // Of an array without a name one has to be made up.
        let name = match stem(key) {
            "" => "unnamed",
            name => name,
        };
        let opened = reader.open(index, &read);
        let is_one_of_many = keys.len() > 1 && options.member.is_none();
        let array = opened.map_err(|error| refused(path, way_round(error, is_one_of_many)))?;
        let variable = array.variable(name).map_err(|source| refused(path, source))?;
        let end = array.header().len().saturating_add(variable.header.data_len());
        drop(array);
        let size = reader.members().get(index).map_or(0, npz::Member::size);
        let mut item = Item::foreign(key.clone(), variable);
        match size.saturating_sub(end) {
            0 => {}
            trailing => item.losses.push(format!("{trailing} bytes follow its elements")),
        }
        items.push(item);
        members.push(index);
    }
    if let (true, Some(member)) = (items.is_empty(), &options.member) {
        return Err(none_of_that_name(path, member, keys.iter().flatten()));
    }
    let reads = Box::new(NpzFile { path: path.to_owned(), reader, options: read, members });
    Ok(Source { items, losses, reads })
}

/// The error with the way to the other arrays, which one that has no counterpart keeps back.
fn way_round(error: interchange::Error, is_one_of_many: bool) -> interchange::Error {
    match error {
        interchange::Error::NoCounterpart { reason, instead } if is_one_of_many => {
            let others = "the other arrays can be converted one by one with --member NAME";
            interchange::Error::no_counterpart(reason, format!("{instead}; {others}"))
        }
        error => error,
    }
}

impl ReadElements for NpzFile {
    fn elements(&mut self, index: usize, _: &Item, _: &Path) -> Result<Elements<'_>> {
        let member = self.members.get(index).copied().unwrap_or(usize::MAX);
        let opened = self.reader.open(member, &self.options);
        let array = opened.map_err(|source| refused(&self.path, source))?;
        let data = Data::Passing(Box::new(array), self.path.to_string_lossy().into_owned());
        Ok(Elements { data, metadata: Metadata::None, verified: false })
    }
}
