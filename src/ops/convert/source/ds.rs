//! Variables of ds-format.

use std::path::{Path, PathBuf};

use super::super::choice::{is_wanted, none_of_that_name};
use super::super::data::Data;
use super::super::item::Item;
use super::super::options::ConvertOptions;
use super::super::rawarray::Metadata;
use super::{Elements, ReadElements, Source, refused};
use crate::error::Result;
use crate::fs::File;
use crate::interchange::ds;

/// A `.ds` file.
pub(super) struct DsFile {
    path: PathBuf,
    reader: ds::Reader<File>,
    /// The array of each item.
    arrays: Vec<ds::Array>,
}

pub(super) fn open(path: &Path, options: &ConvertOptions) -> Result<Source> {
    let refused = |source| refused(path, source);
    let read = ds::ReadOptions { masks: options.masks };
    let mut reader =
        ds::Reader::open(File::open(path)?.watched(&options.progress), read).map_err(refused)?;
    let names: Vec<_> = reader.names().map(str::to_owned).collect();
    let shared = reader.attributes().to_vec();
    let losses = reader.losses().to_vec();
    let no_top = names.iter().all(|name| name.contains('/'));
    let (mut items, mut arrays) = (Vec::new(), Vec::new());
    for (index, name) in names.iter().enumerate().filter(|(_, name)| is_wanted(name, options)) {
        let array = reader.array(index).map_err(refused)?;
        let mut item = match &array.content {
            ds::Content::Data(variable) => Item::foreign(name.clone(), variable.clone()),
            ds::Content::Inline { description, losses } => {
                let mut item = Item::inline(name.clone(), description.clone(), Vec::new());
                item.losses.clone_from(losses);
                item
            }
        };
        item.is_coordinate = array.is_coordinate;
        // What is said of the whole is said of the group at the top, if there is anything in it.
        if no_top || !name.contains('/') {
            item.shared.clone_from(&shared);
        }
        items.push(item);
        arrays.push(array);
    }
    if let (true, Some(member)) = (items.is_empty(), &options.member) {
        return Err(none_of_that_name(path, member, names.iter()));
    }
    let reads = Box::new(DsFile { path: path.to_owned(), reader, arrays });
    Ok(Source { items, losses, reads })
}

impl ReadElements for DsFile {
    fn elements(&mut self, index: usize, _: &Item, _: &Path) -> Result<Elements<'_>> {
        let Some(array) = self.arrays.get(index) else { return Err(super::read_twice()) };
        let data = self.reader.data(array);
        let data = Data::Passing(Box::new(data), self.path.to_string_lossy().into_owned());
        Ok(Elements { data, metadata: Metadata::None, verified: false })
    }
}
