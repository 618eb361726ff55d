//! Files with groups, named dimensions and attributes: `NetCDF` and HDF5.
//!
//! A reader of such a file makes [`GroupedVariable`]s. [`GroupedFile::array`] describes each in NDL, in the same way for
//! all formats, and as the Python module describes the variables of xarray.
//!
//! | file | array |
//! | --- | --- |
//! | a number, `char` or text of a fixed width, opaque bytes, an enum, a compound | the same type; text is `opaque` with the tag `text` |
//! | two floats called `r` and `i` | a complex number |
//! | an enum of `FALSE` and `TRUE` of one byte | an enum of `uint8`: false 0, true 1 |
//! | the last dimension of `char` in `NetCDF` | the width of the text |
//! | text of any length | UTF-8, padded to the longest text, with the attribute `_Encoding: utf-8` |
//! | a variable with the name of its only dimension | a coordinate, to which other shapes refer |
//! | another named dimension | a dimcoord without values in the description |
//! | a dimension of length 0, or with the name of another array | an integer length, and all names in `_ARRAY_DIMENSIONS` |
//! | `_FillValue` of the type of the variable | `storage.fillvalue` |
//! | other attributes: numbers, text, lists of them | the same, with their types |
//! | references, lists of any length | dropped with a loss |

mod classic;
#[cfg(feature = "hdf5")]
mod hdf5;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use super::blocks::{nest, to_value};
use super::{BlockReader, FormatError, element_of_word};
use crate::file_kind::HDF5_MAGIC;
use crate::ndl::{Attribute, Datatype, Extent, Group, Ndarray, Order, Storage, Value, ancestors};
use crate::path::file_name;
use crate::ra::{ElementKind, ElementType, Header};

/// The attribute with the names of dimensions that a shape cannot have.
const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";
/// The attribute with the element that marks missing ones.
const FILL_VALUE: &str = "_FillValue";
/// The tag of opaque elements that are text of single bytes.
const TEXT_TAG: &str = "text";

/// The bytes of a file, which are read from any offset.
#[derive(Clone)]
pub struct ByteRanges {
    len: u64,
    read: Arc<ReadRange>,
}

/// Fills a buffer with the bytes from an offset on.
type ReadRange = dyn Fn(&mut [u8], u64) -> io::Result<()> + Send + Sync;

impl fmt::Debug for ByteRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteRanges").field("len", &self.len).finish_non_exhaustive()
    }
}

impl ByteRanges {
    /// Makes the bytes of a file of `len` bytes. `read` fills a buffer with those from an offset on.
    pub fn new(
        len: u64,
        read: impl Fn(&mut [u8], u64) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { len, read: Arc::new(read) }
    }

    /// Returns `len` bytes from `offset` on, and allocates only for bytes that exist.
    fn read(&self, offset: u64, len: u64) -> Result<Vec<u8>, FormatError> {
        let end = offset.checked_add(len).filter(|end| *end <= self.len);
        let (Some(_), Ok(size)) = (end, usize::try_from(len)) else {
            let found = self.len.saturating_sub(offset);
            let reason = format!("expected {len} bytes, found {found} and the end of the file");
            return Err(FormatError::malformed(offset, reason));
        };
        let mut bytes = vec![0; size];
        (self.read)(&mut bytes, offset)?;
        Ok(bytes)
    }
}

/// A variable, before its elements are read.
#[derive(Debug, Clone)]
struct GroupedVariable {
    /// Its groups and its name, with slashes between them.
    path: String,
    shape: Vec<u64>,
    /// The path of each dimension; empty for a dimension without a name.
    dims: Vec<String>,
    element: ElementType,
    datatype: Datatype,
    attributes: Vec<Attribute>,
    /// Messages about metadata that is dropped.
    losses: Vec<String>,
}

/// The content of a file, apart from elements.
#[derive(Debug, Default)]
struct Contents {
    variables: Vec<GroupedVariable>,
    /// Groups with attributes.
    groups: Vec<Group>,
    /// Messages about other contents that are dropped.
    losses: Vec<String>,
}

/// Puts the next elements into an empty buffer, little-endian and row-major; nothing at the end.
type NextBlock<'f> = Box<dyn FnMut(&mut Vec<u8>) -> io::Result<()> + 'f>;

/// The elements of the variables of a file.
trait ReadElements {
    /// Returns a function for the elements of the variable at `index`, from the first one on.
    fn elements(&self, index: usize) -> NextBlock<'_>;
}

/// A `NetCDF` or HDF5 file opened for reading.
///
/// ```
/// use std::io::Read;
/// use ra_pack::interchange::grouped::{ByteRanges, GroupedFile};
///
/// // The scalar `x`, an `int` with the value 7.
/// let header = [&b"CDF\x01"[..], &[0; 20], b"\0\0\0\x0b\0\0\0\x01\0\0\0\x01x\0\0\0", &[0; 12]].concat();
/// let place = b"\0\0\0\x04\0\0\0\x04\0\0\0\x40\0\0\0\x07";
/// let bytes = [&header[..], place].concat();
/// let file = ByteRanges::new(bytes.len() as u64, move |buffer, at| (&bytes[at as usize..]).read_exact(buffer));
/// let file = GroupedFile::open(&file)?;
/// assert_eq!(file.names().collect::<Vec<_>>(), ["x"]);
/// let mut elements = Vec::new();
/// file.data(0).read_to_end(&mut elements)?;
/// assert_eq!(elements, [7, 0, 0, 0]);
/// # Ok::<(), ra_pack::interchange::FormatError>(())
/// ```
pub struct GroupedFile {
    contents: Contents,
    /// The coordinate of each dimension that has one, by path, as an index of a variable.
    coordinates: HashMap<String, usize>,
    /// All variables, by path.
    paths: HashMap<String, usize>,
    elements: Box<dyn ReadElements>,
}

impl fmt::Debug for GroupedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupedFile").field("contents", &self.contents).finish_non_exhaustive()
    }
}

/// A variable as an array. Its elements are separate.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupedArray {
    /// The header of the elements: little-endian, row-major.
    pub header: Header,
    /// The description; that of a dimcoord if the array is a coordinate. Coordinates in its shape have the names that
    /// [`GroupedFile::names`] returns.
    pub description: Ndarray,
    /// Whether it is the coordinate of the dimension with its name.
    pub is_coordinate: bool,
    /// Names in its shape that are not coordinates, with the lengths of their dimensions.
    pub dimensions: Vec<(String, u64)>,
    /// Messages about metadata that header and description cannot store.
    pub losses: Vec<String>,
}

impl GroupedFile {
    /// Opens a file of any of the formats, recognized by its first bytes, and reads everything except elements.
    ///
    /// # Errors
    ///
    /// - [`FormatError::Io`] if reading fails.
    /// - [`FormatError::Malformed`] or [`FormatError::Invalid`] if the file is not valid, or is shorter than its header
    ///   says.
    /// - [`FormatError::NoCounterpart`] if this build of the library does not read the format.
    pub fn open(bytes: &ByteRanges) -> Result<Self, FormatError> {
        let start = bytes.read(0, bytes.len.min(HDF5_MAGIC.len() as u64))?;
        let (contents, elements): (Contents, Box<dyn ReadElements>) = match &start[..] {
            [b'C', b'D', b'F', version @ (1 | 2 | 5), ..] => classic::open(bytes, *version)?,
            #[cfg(feature = "hdf5")]
            _ if start == HDF5_MAGIC || hdf5::has_user_block(bytes)? => hdf5::open(bytes)?,
            #[cfg(not(feature = "hdf5"))]
            magic if magic == HDF5_MAGIC => {
                let reason = "this build of ra-pack reads NetCDF-3, but not NetCDF-4 and HDF5";
                return Err(FormatError::no_counterpart(
                    reason,
                    "use a build with the feature `hdf5`",
                ));
            }
            _ => {
                let reason = "expected `CDF` and a version 1, 2 or 5, or the first bytes of HDF5";
                return Err(FormatError::malformed(0, reason));
            }
        };
        let variables = || contents.variables.iter().enumerate();
        let is_coordinate = |(_, one): &(usize, &GroupedVariable)| one.is_coordinate();
        let by_path = |(index, one): (usize, &GroupedVariable)| (one.path.clone(), index);
        let coordinates = variables().filter(is_coordinate).map(by_path).collect();
        let paths = variables().map(by_path).collect();
        Ok(Self { contents, coordinates, paths, elements })
    }

    /// Returns the name of each array, in the order of the file: its groups and its name, with slashes between them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.contents.variables.iter().map(|variable| variable.path.as_str())
    }

    /// Returns the groups that have attributes, without their arrays.
    pub fn groups(&self) -> &[Group] {
        &self.contents.groups
    }

    /// Returns a message for each other part of the file that is dropped.
    pub fn losses(&self) -> &[String] {
        &self.contents.losses
    }

    /// Describes the array at `index` of [`names`](Self::names).
    ///
    /// # Errors
    ///
    /// - [`FormatError::NoCounterpart`] if no RawArray file can have its shape.
    /// - [`FormatError::Io`] if there is no array at `index`.
    pub fn array(&self, index: usize) -> Result<GroupedArray, FormatError> {
        let Some(variable) = self.contents.variables.get(index) else {
            let reason = format!("there is no array at index {index}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason).into());
        };
        let GroupedVariable { path, shape, datatype, .. } = variable;
        let mut attributes = variable.attributes.clone();
        let fillvalue = take_fillvalue(&mut attributes, datatype);
        let is_coordinate = self.coordinates.get(path) == Some(&index);
        let (mut extents, mut dimensions) =
            (shape.iter().map(|length| Extent::Fixed(*length)).collect(), Vec::new());
        if !is_coordinate && variable.dims.iter().any(|dim| !dim.is_empty()) {
            match self.named(variable) {
                Some(named) => (extents, dimensions) = named,
                None => attributes.push(dimension_names(&variable.dims)),
            }
        }
        let order = if shape.len() > 1 { Order::Row } else { Order::Column };
        let storage = Storage { fillvalue, order, ..Storage::default() };
        let storage = (storage != Storage::default()).then_some(storage);
        let dims = shape.iter().rev().copied().collect();
        let header = Header::new(variable.element, dims).map_err(|error| {
            let reason = format!("{path:?}: {error}");
            FormatError::no_counterpart(reason, "reshape it to fewer dimensions")
        })?;
        let description = Ndarray {
            name: file_name(path).to_owned(),
            shape: extents,
            datatype: datatype.clone(),
            value: None,
            attributes,
            storage,
        };
        let losses = variable.losses.clone();
        Ok(GroupedArray { header, description, is_coordinate, dimensions, losses })
    }

    /// Returns a shape with names, and those that are not coordinates; `None` if a description cannot have these names.
    fn named(&self, variable: &GroupedVariable) -> Option<NamedShape> {
        let mut own = BTreeMap::new();
        let mut extents = Vec::with_capacity(variable.shape.len());
        for (length, dim) in variable.shape.iter().zip(&variable.dims) {
            if dim.is_empty() {
                extents.push(Extent::Fixed(*length));
            } else if self.coordinates.contains_key(dim) {
                extents.push(Extent::Coord(dim.clone()));
            } else {
                let name = file_name(dim);
                let group = format!("/{}", variable.path);
                let mut above = ancestors(group.rsplit_once('/')?.0);
                let is_taken = *length == 0
                    || above.any(|group| {
                        self.paths.contains_key(&join(group.trim_start_matches('/'), name))
                    })
                    || self.paths.contains_key(name);
                if is_taken
                    || own.insert(name.to_owned(), *length).is_some_and(|old| old != *length)
                {
                    return None;
                }
                extents.push(Extent::Coord(name.to_owned()));
            }
        }
        Some((extents, own.into_iter().collect()))
    }

    /// Returns a reader for the elements of the array at `index`: little-endian and row-major; empty if there is none.
    pub fn data(&self, index: usize) -> impl Read {
        let mut next =
            (index < self.contents.variables.len()).then(|| self.elements.elements(index));
        BlockReader::new(move |block| next.as_mut().map_or(Ok(()), |next| next(block)))
    }
}

impl GroupedVariable {
    /// Returns whether its only dimension has its own path, and can be a dimcoord.
    fn is_coordinate(&self) -> bool {
        matches!((&self.shape[..], &self.dims[..]), ([length], [dim]) if *length > 0 && *dim == self.path)
    }

    /// Makes the last dimension of characters the width of text.
    fn join_characters(&mut self) {
        let is_character = self.element.elbyte() == 1 && self.element.kind() == ElementKind::User;
        let Some((datatype, element)) =
            self.shape.last().filter(|_| is_character).and_then(|width| text(*width))
        else {
            return;
        };
        (self.datatype, self.element) = (datatype, element);
        self.shape.pop();
        self.dims.pop();
    }
}

/// A shape, and the names in it that are not coordinates with the lengths of their dimensions.
type NamedShape = (Vec<Extent>, Vec<(String, u64)>);

/// Returns the path of a member of a group.
fn join(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{group}/{name}") }
}

/// Returns the attribute with the names of dimensions.
fn dimension_names(dims: &[String]) -> Attribute {
    let names = dims.iter().map(|dim| Value::from(file_name(dim)));
    attribute(DIMENSIONS, vec![dims.len() as u64], Datatype::String, names)
}

/// Makes an attribute of elements.
fn attribute(
    name: &str,
    shape: Vec<u64>,
    datatype: Datatype,
    elements: impl IntoIterator<Item = Value>,
) -> Attribute {
    let value = nest(&shape, &mut elements.into_iter());
    let short = shape.is_empty() && Datatype::of_scalar(&value).as_ref() == Some(&datatype);
    Attribute { name: name.to_owned(), shape, datatype, value, storage: None, short }
}

/// Returns little-endian numbers of a type as values. Floats of two bytes become those of four.
fn numbers(datatype: &Datatype, bytes: &[u8]) -> Vec<Value> {
    let width = datatype.packed_size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
    let number = |bytes: &[u8]| {
        let bits = bytes.iter().rev().fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
        match (datatype, bytes) {
            (Datatype::Float16, [low, high]) => {
                Value::from(half::f16::from_le_bytes([*low, *high]).to_f32())
            }
            _ => to_value(bits, datatype),
        }
    };
    bytes.chunks_exact(width.max(1)).map(number).collect()
}

/// Takes the fill value from the attributes, if it is one number of the type of the elements.
fn take_fillvalue(attributes: &mut Vec<Attribute>, datatype: &Datatype) -> Option<Value> {
    let base = match datatype {
        Datatype::Enum { .. } => datatype.resolved_base()?.datatype(),
        number => element_of_word(number).map(|_| number.clone())?,
    };
    let fits = |one: &mut Attribute| {
        let is_one = one.shape.is_empty() || one.shape == [1];
        let is_member = match datatype {
            Datatype::Enum { members, .. } => {
                members.iter().any(|(_, number)| one.value.as_integer() == Some(*number))
            }
            _ => true,
        };
        one.name == FILL_VALUE && is_one && is_member && one.datatype == base
    };
    let value = attributes.extract_if(.., fits).next()?.value;
    match value {
        Value::List(list) => list.into_iter().next(),
        value => Some(value),
    }
}

/// Returns the type and element of text of a fixed width in bytes.
fn text(width: u64) -> Option<(Datatype, ElementType)> {
    let element = ElementType::new(0, width).ok()?;
    Some((Datatype::Opaque { size: width, tag: Some(TEXT_TAG.to_owned()) }, element))
}
