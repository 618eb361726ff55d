//! Formats with groups, named dimensions and attributes: `NetCDF` and HDF5.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::data::{ElementSource, failed};
use super::destination::Destination;
use super::format::ArrayFormat;
use super::item::ArrayItem;
use super::names::member_name;
use super::options::ConvertOptions;
use super::source::{OtherFile, SourceArrays, TakeElements, is_wanted, no_such_array};
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::fs::{self, File};
use crate::interchange::grouped::{ByteRanges, GroupedFile};
use crate::ndl::{Document, Group};
use crate::pack::PACK_DOCUMENT;

/// Opens the arrays of a file.
pub(super) fn open(
    format: ArrayFormat,
    path: &Path,
    options: &ConvertOptions,
) -> Result<SourceArrays> {
    let file = File::open_watched(path, &options.progress)?;
    let len = file.len()?;
    let bytes = ByteRanges::new(len, move |buffer, at| Ok(file.read_exact_at(buffer, at)?));
    let refused = |error| failed(error, "read", path);
    let file = GroupedFile::open(&bytes).map_err(refused)?;
    let names: Vec<_> = file.names().map(str::to_owned).collect();
    let group_of =
        |name: &str| format!("/{}", name.rsplit_once('/').map_or("", |(group, _)| group));
    let groups: BTreeMap<_, _> =
        file.groups().iter().map(|group| (&*group.path, &group.attributes)).collect();
    let (mut items, mut indices) = (Vec::new(), Vec::new());
    for (index, name) in names.iter().enumerate().filter(|(_, name)| is_wanted(name, options)) {
        let array = file.array(index).map_err(refused)?;
        items.push(ArrayItem {
            header: Some(array.header),
            is_coordinate: array.is_coordinate,
            dimensions: array.dimensions,
            losses: array.losses,
            shared: groups.get(&*group_of(name)).map(|all| (*all).clone()).unwrap_or_default(),
            ..ArrayItem::inline(format, name.clone(), array.description)
        });
        indices.push(index);
    }
    if let (true, Some(member)) = (items.is_empty(), &options.member) {
        let about = format!("{:?} is not converted", member_name(member));
        if let Some(why) = file.losses().iter().find(|loss| loss.starts_with(&about)) {
            return Err(Error::wrong_target(path, why.clone()));
        }
        return Err(no_such_array(path, member, names.iter()));
    }
    let with_arrays: BTreeSet<_> = names.iter().map(|name| group_of(name)).collect();
    let without = file.groups().iter().filter(|group| !with_arrays.contains(&group.path));
    let groups = without.filter(|_| options.member.is_none()).cloned().collect();
    let losses = file.losses().iter().filter(|_| options.member.is_none()).cloned().collect();
    let path = path.to_owned();
    let give = Box::new(move |index: usize, _: &Path, take: &mut TakeElements<'_>| {
        let index = *indices.get(index).expect("each item comes from an array");
        take(ElementSource::passing(file.data(index), &path.to_string_lossy()), false)
    });
    Ok(SourceArrays { groups, ..SourceArrays::new(items, losses, give) })
}

impl Destination<'_> {
    /// Adds a description of the pack with the attributes of groups that have no arrays, or says that they are lost.
    pub(super) fn add_groups(&self, source: &mut SourceArrays) -> Result<()> {
        let groups = std::mem::take(&mut source.groups);
        if groups.is_empty() {
            return Ok(());
        }
        let is_free = matches!(self.to, ArrayFormat::Pack(_))
            && source.others.iter().all(|other| other.name != PACK_DOCUMENT)
            && !(self.to == ArrayFormat::Pack(Container::Directory)
                && fs::exists(&self.path.join(PACK_DOCUMENT)));
        if !is_free {
            let names = |group: &Group| {
                let names: Vec<_> = group.attributes.iter().map(|one| one.name.as_str()).collect();
                format!(
                    "the attributes of the group {:?} are lost: {}",
                    group.path,
                    names.join(", ")
                )
            };
            source.losses.extend(groups.iter().map(names));
            return Ok(());
        }
        let document = Document { groups, ..Document::grouped() };
        let text = document.to_compared_yaml();
        let text = text.map_err(|misread| Error::misread(PACK_DOCUMENT, &misread))?;
        let copy = move |out: &mut dyn std::io::Write| {
            out.write_all(text.as_bytes()).map_err(Error::io("write", PACK_DOCUMENT))?;
            Ok(text.len() as u64)
        };
        let name = PACK_DOCUMENT.to_owned();
        source.others.push(OtherFile { name, copy: Some(Box::new(copy)) });
        Ok(())
    }
}
