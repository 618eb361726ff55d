//! HDF5 files, and NetCDF-4 files, which are HDF5 files with conventions for dimensions.
//!
//! Each dataset is read once, under the first of its names. Dimensions are dimension scales. In NetCDF-4, a scale may be a
//! dimension without a variable, and a dataset is padded to the length of its dimensions.

mod attributes;
mod data;
mod filters;
mod found;
mod types;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use hdf5_reader::{
    Attribute, Dataset, ExternalLinkResolver, Hdf5File, OpenOptions, RangeRequestStorage,
};

use self::attributes::Wanted;
use self::data::{Elements, Hdf5Elements};
use self::found::{Found, fault};
use super::{ByteRanges, Contents, GroupedVariable, ReadElements, join};
use crate::file_kind::HDF5_MAGIC;
use crate::interchange::FormatError;
use crate::ndl::Group;
use crate::path::file_name;

/// Most groups inside each other.
const MAX_DEPTH: usize = 64;

/// Offset of the first place for a superblock other than the beginning. The next ones are at twice the offset.
const USER_BLOCK: u64 = 512;

/// The beginning of the name of a dataset if a dimension that is not its own has its name.
const NO_COORDINATE: &str = "_nc4_non_coord_";

/// Returns whether an HDF5 file begins after other bytes.
pub(super) fn has_user_block(bytes: &ByteRanges) -> Result<bool, FormatError> {
    let mut at = USER_BLOCK;
    while at.checked_add(HDF5_MAGIC.len() as u64).is_some_and(|end| end <= bytes.len) {
        if bytes.read(at, HDF5_MAGIC.len() as u64)? == HDF5_MAGIC {
            return Ok(true);
        }
        at = at.saturating_mul(2);
    }
    Ok(false)
}

/// Notes the other files to which links refer, and does not open them.
#[derive(Default)]
struct OtherFiles(Mutex<HashSet<String>>);

impl ExternalLinkResolver for OtherFiles {
    fn resolve_external_link(
        &self,
        filename: &str,
    ) -> hdf5_reader::error::Result<Option<Hdf5File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(filename.to_owned());
        Ok(None)
    }
}

/// Opens a file.
pub(super) fn open(bytes: &ByteRanges) -> Result<(Contents, Box<dyn ReadElements>), FormatError> {
    let ranges = bytes.clone();
    let storage = RangeRequestStorage::new(bytes.len, move |offset, len| {
        let mut bytes = vec![0; len];
        (ranges.read)(&mut bytes, offset)?;
        Ok(bytes)
    });
    let others = Arc::new(OtherFiles::default());
    let options = OpenOptions {
        filter_registry: Some(filters::registry()),
        external_link_resolver: Some(others.clone()),
        max_read_bytes: data::MAX_READ,
        ..OpenOptions::default()
    };
    let of_file = |error| fault("the file", error);
    let file = Hdf5File::from_storage_with_options(Arc::new(storage), options).map_err(of_file)?;
    let superblock = file.superblock();
    let end = superblock.base_address.saturating_add(superblock.eof_address);
    if end > bytes.len {
        let reason = format!("expected {end} bytes, as its superblock says, found {}", bytes.len);
        return Err(FormatError::malformed(bytes.len, reason));
    }
    let mut survey = Survey::default();
    survey.group(&file.root_group().map_err(of_file)?, "", 0)?;
    for name in others.0.lock().unwrap_or_else(PoisonError::into_inner).drain() {
        survey.losses.push(format!("links to the file {name:?} are not followed"));
    }
    let Survey { found, groups, mut losses, .. } = survey;
    let scales = Scales::new(&found);
    let mut variables = Vec::new();
    for one in found.iter().filter(|one| !one.is_dimension_only()) {
        match scales.variable(&file, one) {
            Ok((variable, elements)) => variables.push((variable, elements, one.dataset.clone())),
            Err(reason) => losses.push(format!("{:?} is not converted: {reason}", one.path)),
        }
    }
    if scales.is_netcdf {
        pad(&mut variables);
    } else {
        variables.sort_by(|(one, ..), (other, ..)| one.path.cmp(&other.path));
    }
    let mut places = Vec::new();
    let mut contents = Contents { groups: Vec::new(), losses, variables: Vec::new() };
    for (mut variable, elements, dataset) in variables {
        let elements = match Hdf5Elements::new(&mut variable, elements, dataset, bytes.len) {
            Ok(elements) => elements,
            Err(reason) => {
                contents.losses.push(format!("{:?} is not converted: {reason}", variable.path));
                continue;
            }
        };
        if scales.is_netcdf {
            variable.join_characters();
        }
        contents.variables.push(variable);
        places.push(elements);
    }
    for (path, found) in groups {
        let of = if path.is_empty() { "the file".to_owned() } else { format!("{path:?}") };
        let wanted = Wanted { of: &of, is_netcdf: scales.is_netcdf, is_scale: false };
        let attributes = wanted.convert(&found, &mut contents.losses);
        if !attributes.is_empty() {
            contents.groups.push(Group { attributes, ..Group::new(format!("/{path}")) });
        }
    }
    Ok((contents, Box::new(places)))
}

/// Pads datasets to the lengths of their dimensions, which are those of the longest dataset.
fn pad(variables: &mut [(GroupedVariable, Elements, Dataset)]) {
    let mut lengths: HashMap<String, u64> = HashMap::new();
    for (variable, ..) in &*variables {
        for (dim, length) in variable.dims.iter().zip(&variable.shape) {
            let longest = lengths.entry(dim.clone()).or_default();
            *longest = (*longest).max(*length);
        }
    }
    for (variable, _, dataset) in variables {
        let named = |dim: &String| lengths.get(dim).copied().filter(|_| !dim.is_empty());
        let lengths = variable.dims.iter().zip(&variable.shape);
        let shape: Vec<_> = lengths.map(|(dim, length)| named(dim).unwrap_or(*length)).collect();
        match dataset.clone().with_padded_shape(&shape) {
            Ok(padded) => (variable.shape, *dataset) = (shape, padded),
            // Only a dimension without a limit can be longer than the dataset.
            Err(_) => {
                let GroupedVariable { path, shape: own, dims, losses, .. } = variable;
                losses.push(format!(
                    "the names of dimensions of {path:?} are dropped: its shape is {own:?}, and their lengths are {shape:?}"
                ));
                dims.fill(String::new());
            }
        }
    }
}

/// The objects of a file.
#[derive(Default)]
struct Survey {
    found: Vec<Found>,
    /// The attributes of each group by its path.
    groups: BTreeMap<String, Vec<Attribute>>,
    losses: Vec<String>,
    /// The first path of each object by its address.
    paths: HashMap<u64, String>,
}

impl Survey {
    fn group(
        &mut self,
        group: &hdf5_reader::group::Group,
        path: &str,
        depth: usize,
    ) -> Result<(), FormatError> {
        if depth == MAX_DEPTH {
            self.losses.push(format!("groups below {path:?} are nested too deeply to convert"));
            return Ok(());
        }
        let of_group = |error| fault(if path.is_empty() { "the file" } else { path }, error);
        self.paths.insert(group.address(), path.to_owned());
        self.groups.insert(path.to_owned(), group.attributes().map_err(of_group)?);
        let (groups, datasets) = group.member_names().map_err(of_group)?;
        for name in datasets {
            let path = join(path, &name);
            let dataset = match group.dataset(&name) {
                Ok(dataset) => dataset,
                Err(error) => {
                    self.losses.push(format!("{path:?} is not converted: {error}"));
                    continue;
                }
            };
            if !self.is_new(dataset.address(), &path) {
                continue;
            }
            let attributes = dataset.attributes();
            self.found.push(Found { path, dataset, attributes });
        }
        for name in groups {
            let path = join(path, &name);
            let inner = group.group(&name).map_err(|error| fault(&path, error))?;
            if self.is_new(inner.address(), &path) {
                self.group(&inner, &path, depth + 1)?;
            }
        }
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
}

/// The dimension scales of a file.
struct Scales {
    is_netcdf: bool,
    /// Paths by address, and by the number of a `NetCDF` dimension.
    by_address: HashMap<u64, String>,
    by_number: HashMap<i32, String>,
}

impl Scales {
    fn new(found: &[Found]) -> Self {
        let number = |one: &Found| one.attribute("_Netcdf4Dimid")?.read_scalar::<i32>().ok();
        let numbered = found.iter().filter(|one| one.is_scale());
        let by_number: HashMap<_, _> =
            numbered.filter_map(|one| Some((number(one)?, one.path.clone()))).collect();
        let is_dimension = found.iter().any(Found::is_dimension_only);
        Self {
            is_netcdf: is_dimension || !by_number.is_empty(),
            by_address: found.iter().map(|one| (one.dataset.address(), one.path.clone())).collect(),
            by_number,
        }
    }

    /// Returns the path of each dimension of a dataset; empty for one without a name.
    fn dims(&self, one: &Found) -> Vec<String> {
        let rank = one.dataset.ndim();
        if rank == 1 && one.is_scale() {
            return vec![one.path.clone()];
        }
        let size = one.dataset.vlen_reference_size();
        if let Some(list) = one.attribute("DIMENSION_LIST")
            && list.raw_data.len() == rank * size
        {
            let first = |reference: &[u8]| {
                let addresses =
                    one.dataset.resolve_vlen_reference_bytes(reference, size - 8).ok()?;
                let first = addresses.get(..size - 8)?;
                let number =
                    first.iter().rev().fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
                self.by_address.get(&number).cloned()
            };
            let references = list.raw_data.chunks_exact(size);
            return references.map(|reference| first(reference).unwrap_or_default()).collect();
        }
        let numbers = one.attribute("_Netcdf4Coordinates").and_then(|list| list.read_1d().ok());
        let names = numbers.unwrap_or_default().into_iter();
        let mut names: Vec<_> =
            names.map(|number| self.by_number.get(&number).cloned().unwrap_or_default()).collect();
        names.resize(rank, String::new());
        names
    }

    /// Makes the variable of a dataset; its shape is still that of the dataset. An error is the reason why it cannot be
    /// converted.
    fn variable(
        &self,
        file: &Hdf5File,
        one: &Found,
    ) -> Result<(GroupedVariable, Elements), String> {
        let Found { path, dataset, attributes } = one;
        let shape = dataset.shape().to_vec();
        if dataset.num_elements().is_ok_and(|count| count == 0) && !shape.contains(&0) {
            return Err("it has neither a shape nor elements".to_owned());
        }
        let header = file.get_or_parse_header(dataset.address());
        data::check_storage(&header.map_err(|error| error.to_string())?.messages, one)?;
        let raw = dataset.raw_datatype().map_err(|error| error.to_string())?;
        let mut losses = Vec::new();
        let mapped = types::convert(dataset.dtype(), Some(&raw), &mut losses)?;
        let types::Mapped { datatype, element, elements } = mapped;
        let of = format!("{path:?}");
        let wanted = Wanted { of: &of, is_netcdf: self.is_netcdf, is_scale: one.is_scale() };
        let attributes = wanted.convert(attributes, &mut losses);
        let dims = self.dims(one);
        let name = file_name(path);
        let group = path.strip_suffix(name).unwrap_or_default();
        let path = format!("{group}{}", name.strip_prefix(NO_COORDINATE).unwrap_or(name));
        Ok((GroupedVariable { path, shape, dims, element, datatype, attributes, losses }, elements))
    }
}
