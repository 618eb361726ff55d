//! HDF5 files, and NetCDF-4 files, which are HDF5 files with conventions for dimensions.
//!
//! Each dataset is read once, under the first of its names. Dimensions are dimension scales. In NetCDF-4, a scale may be a
//! dimension without a variable, and a dataset is padded to the length of its dimensions.

mod attributes;
mod data;
mod dataset;
mod fault;
mod filters;
mod types;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use hdf5_reader::error::Error;
use hdf5_reader::group::Group as StoredGroup;
use hdf5_reader::superblock::Superblock;
use hdf5_reader::{Attribute, ExternalLinkResolver, Hdf5File, OpenOptions, RangeRequestStorage};

use self::dataset::{Found, join};
use self::fault::{fault, reason};
use super::{ByteRanges, Contents, ReadElements};
use crate::interchange::FormatError;
use crate::ndl::Group;

/// Most groups inside each other.
const MAX_DEPTH: usize = 64;

/// Most members of groups that are left out, because a group is listed again after each of them.
const MAX_HIDDEN: usize = 256;

/// The state of the functions that the reader of a file calls.
#[derive(Default)]
struct Notes {
    /// Other files to which links refer. They are not opened.
    files: Mutex<BTreeSet<String>>,
    /// Offsets of objects that cannot be read. They appear to be objects without a meaning, because the reader does not
    /// list a group that has a member that it cannot read.
    hidden: Mutex<HashSet<u64>>,
}

impl ExternalLinkResolver for Notes {
    fn resolve_external_link(&self, filename: &str) -> Result<Option<Hdf5File>, Error> {
        lock(&self.files).insert(filename.to_owned());
        Ok(None)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a file.
pub(super) fn open(bytes: &ByteRanges) -> Result<(Contents, Box<dyn ReadElements>), FormatError> {
    let notes = Arc::new(Notes::default());
    let (ranges, known) = (bytes.clone(), notes.clone());
    let storage = RangeRequestStorage::new(bytes.len, move |offset, len| {
        let mut bytes = vec![0; len];
        match bytes.first_mut().filter(|_| lock(&known.hidden).contains(&offset)) {
            // The header of version 1 of an object without messages.
            Some(version) => *version = 1,
            None => (ranges.read)(&mut bytes, offset)?,
        }
        Ok(bytes)
    });
    let options = OpenOptions {
        filter_registry: Some(filters::registry()),
        external_link_resolver: Some(notes.clone()),
        max_read_bytes: data::MAX_READ,
        ..OpenOptions::default()
    };
    let of_file = |error| fault("the file", error);
    let file = Hdf5File::from_storage_with_options(Arc::new(storage), options).map_err(of_file)?;
    let &Superblock { base_address: base, eof_address: end, offset_size, .. } = file.superblock();
    if end > bytes.len {
        let reason = format!("expected {end} bytes, as its superblock says, found {}", bytes.len);
        return Err(FormatError::malformed(bytes.len, reason));
    }
    let mut survey = Survey { notes, base, ..Survey::default() };
    survey.group(&file.root_group().map_err(of_file)?, "", 0).map_err(of_file)?;
    let lengths = survey.name_dims(offset_size);
    let Survey { notes, mut found, groups, losses, .. } = survey;
    let mut contents = Contents { losses, ..Contents::default() };
    let link = |name: &String| format!("links to the file {name:?} are not followed");
    contents.losses.extend(lock(&notes.files).iter().map(link));
    if lengths.is_none() {
        found.sort_by(|one, other| one.path.cmp(&other.path));
    }
    let mut places = Vec::new();
    for one in found {
        let path = one.path.clone();
        match one.convert(&file, bytes.len, lengths.as_ref()) {
            Ok((variable, elements)) => {
                contents.variables.push(variable);
                places.push(elements);
            }
            Err(error) => {
                let why = match error.downcast::<Error>() {
                    Ok(error) => reason(*error).map_err(of_file)?,
                    Err(other) => other.to_string(),
                };
                contents.losses.push(format!("{path:?} is not converted: {why}"));
            }
        }
    }
    for (path, found) in groups {
        let attributes =
            attributes::convert(&found, &place(&path), lengths.is_some(), &mut contents.losses);
        if !attributes.is_empty() {
            contents.groups.push(Group { attributes, ..Group::new(format!("/{path}")) });
        }
    }
    Ok((contents, Box::new(places)))
}

/// Returns what messages call a group.
fn place(path: &str) -> String {
    if path.is_empty() { "the file".to_owned() } else { format!("{path:?}") }
}

/// The objects of a file.
#[derive(Default)]
struct Survey {
    notes: Arc<Notes>,
    /// Offset of the address 0.
    base: u64,
    found: Vec<Found>,
    /// The attributes of each group by its path.
    groups: BTreeMap<String, Vec<Attribute>>,
    losses: Vec<String>,
    /// The first path of each object by its address.
    paths: HashMap<u64, String>,
}

impl Survey {
    fn group(&mut self, group: &StoredGroup, path: &str, depth: usize) -> Result<(), Error> {
        if depth == MAX_DEPTH {
            self.losses.push(format!("groups below {path:?} are nested too deeply to convert"));
            return Ok(());
        }
        self.paths.insert(group.address(), path.to_owned());
        match group.attributes() {
            Ok(attributes) => drop(self.groups.insert(path.to_owned(), attributes)),
            Err(error) => {
                let (of, reason) = (place(path), reason(error)?);
                self.losses.push(format!("the attributes of {of} are dropped: {reason}"));
            }
        }
        let (groups, datasets) = loop {
            match group.member_names() {
                Ok(names) => break names,
                Err(error) => self.leave_out(path, error)?,
            }
        };
        for name in datasets {
            let path = join(path, &name);
            match group.dataset(&name) {
                Ok(dataset) if self.is_new(dataset.address(), &path) => {
                    let attributes = dataset.attributes();
                    self.found.push(Found { path, dataset, attributes, dims: Vec::new() });
                }
                Ok(_) => {}
                Err(error) => self.lose(&path, error)?,
            }
        }
        for name in groups {
            let (path, inner) = (join(path, &name), group.group(&name)?);
            if self.is_new(inner.address(), &path)
                && let Err(error) = self.group(&inner, &path, depth + 1)
            {
                self.lose(&path, error)?;
            }
        }
        Ok(())
    }

    /// Leaves out the member of a group that an error of the reader is about, so that the others can be listed.
    fn leave_out(&mut self, group: &str, error: Error) -> Result<(), Error> {
        let Error::Context { path: member, source } = error else { return Err(error) };
        // Only this text of the reader says which member it is.
        let member = member.strip_prefix("child '").and_then(|text| text.rsplit_once("' at 0x"));
        let at = member.and_then(|(_, address)| u64::from_str_radix(address, 16).ok());
        let offset = at.and_then(|address| address.checked_add(self.base));
        let hide = |offset| {
            let mut hidden = lock(&self.notes.hidden);
            hidden.len() < MAX_HIDDEN && hidden.insert(offset)
        };
        match member {
            Some((name, _)) if offset.is_some_and(hide) => self.lose(&join(group, name), *source),
            _ => Err(*source),
        }
    }

    /// Reports an object that cannot be read.
    fn lose(&mut self, path: &str, error: Error) -> Result<(), Error> {
        self.losses.push(format!("{path:?} is not converted: {}", reason(error)?));
        Ok(())
    }

    /// Notes an object; returns whether it was not known. Another name is reported.
    fn is_new(&mut self, address: u64, path: &str) -> bool {
        if let Some(first) = self.paths.get(&address) {
            self.losses.push(format!("{path:?} is another name of \"/{first}\" and is left out"));
            return false;
        }
        self.paths.insert(address, path.to_owned());
        true
    }

    /// Names the dimensions of datasets, and removes datasets that are only dimensions. Returns the length of each
    /// dimension of a `NetCDF` file, which is that of its longest dataset.
    fn name_dims(&mut self, offset_size: u8) -> Option<HashMap<String, u64>> {
        let all = self.found.len();
        let numbers = self.found.iter().filter_map(Found::numbered_scale).collect();
        let is_netcdf = !HashMap::is_empty(&numbers);
        self.found.retain(|one| !attributes::is_dimension_only(&one.attributes));
        let mut lengths: HashMap<String, u64> = HashMap::new();
        for one in &mut self.found {
            one.name_dims(offset_size, &self.paths, &numbers);
            let named = one.dims.iter().zip(one.dataset.shape());
            for (dim, length) in named.filter(|(dim, _)| !dim.is_empty()) {
                let longest = lengths.entry(dim.clone()).or_default();
                *longest = (*longest).max(*length);
            }
        }
        (is_netcdf || self.found.len() < all).then_some(lengths)
    }
}
