//! Datasets as variables.

use std::collections::HashMap;

use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::layout::DataLayout;
use hdf5_reader::reference::resolve_object_reference;
use hdf5_reader::{Attribute as StoredAttribute, Dataset, Hdf5File};

use super::data::Hdf5Elements;
use super::fault::{Result, WITH_PYTHON};
use super::{attributes, filters, types};
use crate::interchange::grouped::{FILL_VALUE, GroupedVariable, attribute, text};
use crate::ndl::{Datatype, Value};

/// Most bytes of a dataset in a small file, and how much larger than the file it can be: compression makes files smaller
/// by less, and more is a claim of a damaged file.
const MAX_SMALL: u64 = 256 << 20;
const MAX_RATIO: u64 = 1100;

/// The beginning of the name of a dataset if a dimension that is not its own has its name.
const NO_COORDINATE: &str = "_nc4_non_coord_";

/// The attribute with the encoding of text.
const ENCODING: &str = "_Encoding";

/// A dataset of the file.
pub(super) struct Found {
    pub(super) path: String,
    pub(super) dataset: Dataset,
    pub(super) attributes: Vec<StoredAttribute>,
    /// The path of each dimension; empty for one without a name.
    pub(super) dims: Vec<String>,
}

impl Found {
    /// Returns the number and the path of a `NetCDF` dimension.
    pub(super) fn numbered_scale(&self) -> Option<(i32, String)> {
        let number = attributes::find(&self.attributes, "_Netcdf4Dimid")?.read_scalar().ok()?;
        attributes::is_scale(&self.attributes).then(|| (number, self.path.clone()))
    }

    /// Sets the paths of the dimensions, from the paths of scales by their addresses and by their numbers.
    pub(super) fn name_dims(
        &mut self,
        offset_size: u8,
        paths: &HashMap<u64, String>,
        numbers: &HashMap<i32, String>,
    ) {
        let Self { path, dataset, attributes, dims } = self;
        let size = dataset.vlen_reference_size();
        let list = attributes::find(attributes, "DIMENSION_LIST");
        *dims = if dataset.ndim() == 1 && attributes::is_scale(attributes) {
            vec![path.clone()]
        } else if let Some(list) = list.filter(|list| list.raw_data.len() == dataset.ndim() * size)
        {
            let scale = |reference: &[u8]| {
                let scales = dataset.resolve_vlen_reference_bytes(reference, offset_size.into());
                let first = resolve_object_reference(&scales.ok()?, offset_size).ok()?;
                paths.get(&first).cloned()
            };
            let references = list.raw_data.chunks_exact(size);
            references.map(|reference| scale(reference).unwrap_or_default()).collect()
        } else {
            let list = attributes::find(attributes, "_Netcdf4Coordinates");
            let list = list.and_then(|list| list.read_1d::<i32>().ok()).unwrap_or_default();
            list.iter().map(|number| numbers.get(number).cloned().unwrap_or_default()).collect()
        };
        dims.resize(dataset.ndim(), String::new());
    }

    /// Makes the variable of the dataset, padded to these lengths of dimensions. An error is the reason why it cannot be
    /// converted.
    pub(super) fn convert(
        self,
        file: &Hdf5File,
        file_len: u64,
        lengths: Option<&HashMap<String, u64>>,
    ) -> Result<(GroupedVariable, Hdf5Elements)> {
        if self.dataset.num_elements().is_ok_and(|count| count == 0)
            && !self.dataset.shape().contains(&0)
        {
            return Err("it has neither a shape nor elements".into());
        }
        self.check_storage(&file.get_or_parse_header(self.dataset.address())?.messages)?;
        let Self { path, mut dataset, attributes, mut dims } = self;
        let mut losses = Vec::new();
        let kind = types::text_of(dataset.dtype());
        let is_any_length = kind.as_ref().is_some_and(|kind| kind.is_any_length);
        let (mut datatype, changes) = if is_any_length {
            (text(1), Vec::new())
        } else {
            types::convert(dataset.dtype(), Some(&dataset.raw_datatype()?), &mut losses)?
        };
        let of = format!("{path:?}");
        let mut attributes = attributes::convert(&attributes, &of, lengths.is_some(), &mut losses);
        if let Some(lengths) = lengths {
            let own = dataset.shape().to_vec();
            let longest = |(dim, own): (&String, &u64)| lengths.get(dim).copied().unwrap_or(*own);
            let shape: Vec<_> = dims.iter().zip(&own).map(longest).collect();
            match dataset.clone().with_padded_shape(&shape) {
                Ok(padded) => dataset = padded,
                // Only a dimension without a limit can be longer than the dataset.
                Err(_) => {
                    losses.push(format!(
                        "the names of dimensions of {of} are dropped: its shape is {own:?}, and their lengths are {shape:?}"
                    ));
                    dims.fill(String::new());
                }
            }
        }
        let (group, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let path = join(group, name.strip_prefix(NO_COORDINATE).unwrap_or(name));
        let shape = dataset.shape().to_vec();
        check_size(&datatype, &shape, file_len)?;
        let mut elements = Hdf5Elements::new(dataset, &path, changes)?;
        if let Some(kind) = kind {
            if kind.is_any_length {
                datatype = text(elements.pad(kind.is_utf8)?);
                check_size(&datatype, &shape, file_len)?;
            }
            if kind.is_utf8 && !attributes.iter().any(|one| one.name == ENCODING) {
                let encoding = vec![Value::from("utf-8")];
                attributes.push(attribute(ENCODING, Vec::new(), Datatype::String, encoding));
            }
        }
        let mut variable = GroupedVariable { path, shape, dims, datatype, attributes, losses };
        if lengths.is_some() {
            variable.join_characters();
        }
        Ok((variable, elements))
    }

    /// Checks that the elements can be read. An error is the reason why not.
    fn check_storage(&self, messages: &[HdfMessage]) -> Result<()> {
        let Self { dataset, attributes, .. } = self;
        let (mut is_written, mut has_fill) = (true, false);
        for message in messages {
            match message {
                HdfMessage::FilterPipeline(pipeline) => filters::check(&pipeline.filters)?,
                HdfMessage::ExternalFiles(_) => {
                    return Err("its elements are in another file".into());
                }
                HdfMessage::FillValue(fill) => has_fill = fill.value.is_some(),
                HdfMessage::DataLayout(found) => {
                    if let DataLayout::Contiguous { size, address } = found.layout {
                        is_written = size > 0 && address < u64::from(u32::MAX) << 32;
                    }
                }
                _ => {}
            }
        }
        // The reader takes the attribute for elements that were not written, but HDF5 takes zeros.
        let fill = attributes::find(attributes, FILL_VALUE);
        if has_fill || fill.is_none_or(|fill| fill.raw_data.iter().all(|byte| *byte == 0)) {
            return Ok(());
        }
        if let Some(chunks) = dataset.chunks() {
            let lengths = dataset.shape().iter().zip(chunks);
            let chunks = lengths.map(|(length, chunk)| length.div_ceil(u64::from(chunk).max(1)));
            let expected = chunks.fold(1, u64::saturating_mul);
            is_written = dataset.iter_chunks()?.flatten().count() as u64 == expected;
        }
        if is_written {
            return Ok(());
        }
        Err(format!("not all of its elements were written; {WITH_PYTHON}").into())
    }
}

/// Checks that a file of this length can contain the elements of an array. An error is the reason why not.
fn check_size(datatype: &Datatype, shape: &[u64], file_len: u64) -> Result<()> {
    let width = datatype.packed_size().ok_or("its elements have no size")?;
    let size = shape.iter().try_fold(width, |size, length| size.checked_mul(*length));
    let most = file_len.saturating_mul(MAX_RATIO).max(MAX_SMALL);
    if size.is_some_and(|size| size <= most) || shape.contains(&0) {
        return Ok(());
    }
    let reason = format!(
        "its shape {shape:?} has more than {most} bytes, which a file of {file_len} bytes is not expected to have; \
         {WITH_PYTHON}"
    );
    Err(reason.into())
}

/// Returns the path of a member of a group.
pub(super) fn join(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{group}/{name}") }
}
