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

use super::values::{nest, numbers, to_value};
use super::{BlockReader, FormatError, element_of_word};
use crate::file_kind::HDF5_MAGIC;
use crate::ndl::{
    Attribute, Datatype, Extent, Group, Integer, Ndarray, Order, Storage, Value, candidates,
};
use crate::path::file_name;
use crate::ra::{ElementKind, ElementType, Header};

/// The attribute with the names of dimensions that a shape cannot have.
const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";
/// The attribute with the element that marks missing ones.
const FILL_VALUE: &str = "_FillValue";

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
        let mut bytes = vec![0; self.check(offset, len)?];
        (self.read)(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Checks that there are `len` bytes from `offset` on, and returns their number.
    fn check(&self, offset: u64, len: u64) -> Result<usize, FormatError> {
        let found = self.len.saturating_sub(offset);
        usize::try_from(len).ok().filter(|_| len <= found).ok_or_else(|| {
            let reason = format!("expected {len} bytes, found {found} and the end of the file");
            FormatError::malformed(offset, reason)
        })
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
    /// The path of each variable, and whether it is a coordinate.
    paths: HashMap<String, bool>,
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
            _ => hdf5::open(bytes)?,
            #[cfg(not(feature = "hdf5"))]
            magic if magic == HDF5_MAGIC => {
                let reason = "this build of ra-pack reads NetCDF-3, but not NetCDF-4 and HDF5";
                return Err(FormatError::no_counterpart(
                    reason,
                    "use a build with the feature `hdf5`",
                ));
            }
            #[cfg(not(feature = "hdf5"))]
            _ => return Err(unknown()),
        };
        let path = |one: &GroupedVariable| (one.path.clone(), one.is_coordinate());
        let paths = contents.variables.iter().map(path).collect();
        Ok(Self { contents, paths, elements })
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
        let (extents, dimensions) = self.named(variable).unwrap_or_else(|| {
            let names = variable.dims.iter().map(|dim| Value::from(file_name(dim))).collect();
            let count = vec![variable.dims.len() as u64];
            attributes.push(attribute(DIMENSIONS, count, Datatype::String, names));
            (shape.iter().map(|length| Extent::Fixed(*length)).collect(), Vec::new())
        });
        let order = if shape.len() > 1 { Order::Row } else { Order::Column };
        let storage = Storage { fillvalue, order, ..Storage::default() };
        let storage = (storage != Storage::default()).then_some(storage);
        let dims = shape.iter().rev().copied().collect();
        let header = Header::new(element_of(datatype), dims).map_err(|error| {
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
        let (is_coordinate, losses) = (variable.is_coordinate(), variable.losses.clone());
        Ok(GroupedArray { header, description, is_coordinate, dimensions, losses })
    }

    /// Returns a shape with names, and those that are not coordinates; `None` if a description cannot have these names.
    fn named(&self, variable: &GroupedVariable) -> Option<NamedShape> {
        let mut own = BTreeMap::new();
        let mut extents = Vec::with_capacity(variable.shape.len());
        for (length, dim) in variable.shape.iter().zip(&variable.dims) {
            if dim.is_empty() || variable.is_coordinate() {
                extents.push(Extent::Fixed(*length));
            } else if self.paths.get(dim) == Some(&true) {
                extents.push(Extent::Coord(dim.clone()));
            } else {
                let name = file_name(dim);
                let group = variable.path.rsplit_once('/').map_or("", |(group, _)| group);
                let mut others = candidates(&format!("/{group}"), name).into_iter();
                let is_taken = |path: String| self.paths.contains_key(path.trim_start_matches('/'));
                if *length == 0
                    || others.any(is_taken)
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
        BlockReader::new(self.elements.elements(index))
    }
}

impl GroupedVariable {
    /// Returns whether its only dimension has its own path, and can be a dimcoord.
    fn is_coordinate(&self) -> bool {
        matches!((&self.shape[..], &self.dims[..]), ([length], [dim]) if *length > 0 && *dim == self.path)
    }

    /// Makes the last dimension of characters the width of text.
    fn join_characters(&mut self) {
        if let Some(width @ 1..) = self.shape.last().copied()
            && self.datatype == text(1)
        {
            self.datatype = text(width);
            self.shape.pop();
            self.dims.pop();
        }
    }
}

/// A shape, and the names in it that are not coordinates with the lengths of their dimensions.
type NamedShape = (Vec<Extent>, Vec<(String, u64)>);

/// Makes an attribute of elements.
fn attribute(name: &str, shape: Vec<u64>, datatype: Datatype, elements: Vec<Value>) -> Attribute {
    let value = nest(&shape, &mut elements.into_iter());
    let short = shape.is_empty() && Datatype::of_scalar(&value).as_ref() == Some(&datatype);
    Attribute { name: name.to_owned(), shape, datatype, value, storage: None, short }
}

/// Returns little-endian numbers of a type as values.
fn values_of(datatype: &Datatype, bytes: &[u8]) -> Vec<Value> {
    let width = datatype.packed_size().and_then(|size| usize::try_from(size).ok());
    let width = width.expect("a number has a few bytes");
    numbers(bytes, width).map(|bits| to_value(bits, datatype)).collect()
}

/// Takes the fill value from the attributes, if it is one number of the type of the elements.
fn take_fillvalue(attributes: &mut Vec<Attribute>, datatype: &Datatype) -> Option<Value> {
    let base = number_of(datatype)?;
    let is_member = |value: &Value| match datatype {
        Datatype::Enum { members, .. } => {
            members.iter().any(|(_, number)| value.as_integer() == Some(*number))
        }
        _ => true,
    };
    let fits = |one: &mut Attribute| {
        let is_one = matches!(one.shape[..], [] | [1]);
        one.name == FILL_VALUE && is_one && one.datatype == base && is_member(&one.value)
    };
    match attributes.extract_if(.., fits).next()?.value {
        Value::List(list) => list.into_iter().next(),
        value => Some(value),
    }
}

/// Returns the number that stores an element, which is the base of an enum; `None` for other datatypes.
fn number_of(datatype: &Datatype) -> Option<Datatype> {
    match datatype {
        Datatype::Enum { .. } => datatype.resolved_base().map(Integer::datatype),
        number => element_of_word(number).map(|_| number.clone()),
    }
}

/// Returns the type of elements in RawArray files.
fn element_of(datatype: &Datatype) -> ElementType {
    let part = |part: Datatype| {
        Datatype::Compound(vec![("r".to_owned(), part.clone()), ("i".to_owned(), part)])
    };
    let is_complex = [Datatype::Float32, Datatype::Float64].map(part).contains(datatype);
    let kind = if is_complex { ElementKind::Complex } else { ElementKind::User };
    let other = || ElementType::new(kind.eltype(), datatype.packed_size()?).ok();
    let number = number_of(datatype).and_then(|number| element_of_word(&number));
    number.or_else(other).expect("readers leave out elements without a size")
}

/// Returns the type of text of a fixed width in bytes.
fn text(width: u64) -> Datatype {
    Datatype::Opaque { size: width, tag: Some("text".to_owned()) }
}

/// Returns the error for a file of another format.
fn unknown() -> FormatError {
    let reason = "expected `CDF` and a version 1, 2 or 5, or the first bytes of HDF5";
    FormatError::malformed(0, reason)
}
