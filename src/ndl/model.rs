//! The content of a document as plain data: groups with attributes, dimension coordinates and arrays.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Serialize;

use super::datatype::Datatype;
use super::value::Value;

/// A description: the content of one document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The layout of the document.
    pub form: Form,
    /// The groups in the order of the text; a flat document has only the group `/`.
    pub groups: Vec<Group>,
}

/// The layout of a document: flat or grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Only the content of the root group.
    Flat,
    /// A mapping from paths to groups.
    Grouped,
}

/// A group; in a pack, a directory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// The path: `/`, or `/a/b` without a slash at the end.
    pub path: String,
    /// The attributes of the group.
    pub attributes: Vec<Attribute>,
    /// The dimension coordinates; shapes refer to them by name.
    pub dimcoords: Vec<Ndarray>,
    /// The arrays.
    pub ndarrays: Vec<Ndarray>,
}

/// A named property of a group, dimcoord or ndarray.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The name: any text, slashes included.
    pub name: String,
    /// The lengths of the dimensions of the value; empty for a scalar.
    pub shape: Vec<u64>,
    /// The element type of the value.
    pub datatype: Datatype,
    /// The value: a scalar, or lists nested as deep as the shape is long.
    pub value: Value,
    /// The storage in a file.
    pub storage: Option<Storage>,
    /// Whether it is written as a bare scalar, with the datatype that [`Datatype::of_scalar`] gives.
    pub short: bool,
}

/// An array, or a dimension coordinate, which is an array of one dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Ndarray {
    /// The name, without slashes.
    pub name: String,
    /// The length of each dimension; empty for a scalar. A dimcoord has exactly one: a number of at least 1, or
    /// [`Extent::Unlimited`].
    pub shape: Vec<Extent>,
    /// The element type.
    pub datatype: Datatype,
    /// The elements, if they are in the document: lists nested as deep as the shape is long, the outermost list for the
    /// first dimension.
    pub value: Option<Value>,
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// The storage in a file.
    pub storage: Option<Storage>,
}

/// The length of one dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Extent {
    /// A fixed number of elements.
    Fixed(u64),
    /// `null`: the dimension can grow.
    Unlimited,
    /// The length of a dimcoord, given by its name (in the same group or the nearest group above) or by a path that
    /// begins with `/`.
    Coord(String),
}

impl Extent {
    /// Returns the name of a coordinate.
    pub(crate) fn coord(&self) -> Option<&str> {
        if let Self::Coord(name) = self { Some(name) } else { None }
    }
}

/// The storage of an array, dimcoord or attribute in a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Storage {
    /// The lengths of the dimensions in the file; written as `size` for a dimcoord.
    pub shape: Option<Vec<u64>>,
    /// The lengths of the dimensions of a chunk.
    pub chunk: Option<Vec<u64>>,
    /// The filters that were applied to the bytes, such as `lz4`: strings, or mappings with parameters.
    pub filter: Vec<Value>,
    /// The byte order.
    pub endian: Option<Endian>,
    /// The character encoding of text.
    pub charset: Option<String>,
    /// The element that means "nothing was written".
    pub fillvalue: Option<Value>,
    /// The order of elements (extension): which index varies fastest.
    pub order: Order,
    /// Keys that are not part of the language.
    pub other: Vec<(String, Value)>,
}

/// The byte order of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Endian {
    /// Little-endian: the least significant byte first.
    Little,
    /// Big-endian: the most significant byte first.
    Big,
}

impl Endian {
    /// Returns the word in the language.
    pub fn word(self) -> &'static str {
        match self {
            Self::Little => "little",
            Self::Big => "big",
        }
    }
}

/// The extension `storage.order`: how the shape relates to the dimensions in a `RawArray` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Order {
    /// Column-major: the first index varies fastest, and the header has the dimensions of the shape. The default.
    #[default]
    Column,
    /// Row-major: the last index varies fastest, and the header has the dimensions of the shape in reverse.
    Row,
    /// Row-major, but the header has the dimensions of the shape unreversed: a file written incorrectly.
    RowUnreversed,
}

impl Order {
    pub(super) const ALL: [Self; 3] = [Self::Column, Self::Row, Self::RowUnreversed];

    /// Returns the word in the language.
    pub fn word(self) -> &'static str {
        match self {
            Self::Column => "column",
            Self::Row => "row",
            Self::RowUnreversed => "row-unreversed",
        }
    }

    /// Returns the order that a word means.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.word() == word)
    }
}

impl Datatype {
    /// Returns the datatype of a scalar attribute in the short form: `int64`, `uint64` above its range, `float64` or
    /// `string`; `None` for other values.
    pub fn of_scalar(value: &Value) -> Option<Self> {
        match value {
            Value::Int(_) => Some(Self::Int64),
            Value::UInt(_) => Some(Self::UInt64),
            Value::Float(_) => Some(Self::Float64),
            Value::String(_) => Some(Self::String),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns the attributes with which the CF conventions name the members of an enum: `flag_values` and
    /// `flag_meanings`. Other datatypes have none, nor does an array with one of them among its attributes `stated`.
    pub fn flags(&self, stated: &[Attribute]) -> Vec<Attribute> {
        const NAMES: [&str; 2] = ["flag_values", "flag_meanings"];
        let (Self::Enum { members, .. }, Some(base)) = (self, self.resolved_base()) else {
            return Vec::new();
        };
        if stated.iter().any(|attribute| NAMES.contains(&&*attribute.name)) {
            return Vec::new();
        }
        let numbers = members.iter().map(|(_, number)| Value::of_integer(*number));
        // Meanings are separated by spaces.
        let words = |name: &String| name.split_whitespace().collect::<Vec<_>>().join("_");
        let meanings = members.iter().map(|(name, _)| words(name)).collect::<Vec<_>>().join(" ");
        let values = numbers.collect::<Option<Vec<_>>>().map(|numbers| Attribute {
            name: NAMES[0].to_owned(),
            shape: vec![numbers.len() as u64],
            datatype: base.datatype(),
            value: Value::List(numbers),
            storage: None,
            short: false,
        });
        values.into_iter().chain(Attribute::short(NAMES[1], meanings)).collect()
    }
}

impl Attribute {
    /// Returns an attribute in the short form; `None` if `value` is not an integer, float or string.
    pub fn short(name: impl Into<String>, value: impl Into<Value>) -> Option<Self> {
        let value = value.into();
        let datatype = Datatype::of_scalar(&value)?;
        Some(Self {
            name: name.into(),
            shape: Vec::new(),
            datatype,
            value,
            storage: None,
            short: true,
        })
    }

    /// Returns an attribute with a number, a string, or a non-empty list of numbers or of strings; `None` for other
    /// values.
    pub fn new(name: impl Into<String>, value: impl Into<Value>) -> Option<Self> {
        let (name, value) = (name.into(), value.into());
        let Value::List(list) = &value else { return Self::short(name, value) };
        let datatypes = list.iter().map(Datatype::of_scalar).collect::<Option<Vec<_>>>()?;
        let all =
            |allowed: &[Datatype]| datatypes.iter().all(|datatype| allowed.contains(datatype));
        let first = datatypes.first()?;
        let is_negative = |value: &Value| value.as_integer().is_some_and(|number| number < 0);
        let datatype = if all(std::slice::from_ref(first)) {
            first.clone()
        } else if all(&[Datatype::Int64, Datatype::UInt64]) && !list.iter().any(is_negative) {
            Datatype::UInt64
        } else if all(&[Datatype::Int64, Datatype::Float64]) {
            Datatype::Float64
        } else {
            return None;
        };
        let shape = vec![list.len() as u64];
        Some(Self { name, shape, datatype, value, storage: None, short: false })
    }

    /// Adds the attribute to a list, or replaces the one with the same name.
    pub fn put_into(self, list: &mut Vec<Self>) {
        match list.iter_mut().find(|known| known.name == self.name) {
            Some(known) => *known = self,
            None => list.push(self),
        }
    }

    /// Returns whether the short form loses nothing.
    pub(super) fn fits_short(&self) -> bool {
        self.shape.is_empty()
            && self.storage.is_none()
            && Datatype::of_scalar(&self.value).is_some_and(|datatype| datatype == self.datatype)
    }
}

impl Ndarray {
    /// Removes the attributes of packed integers, if there are any: scale, offset, and which integers are missing. The
    /// elements are then numbers of their own.
    pub(crate) fn unpack(&mut self) {
        const PACKING: [&str; 3] = ["scale_factor", "add_offset", "_Unsigned"];
        if PACKING.iter().any(|name| self.attribute(name).is_some()) {
            self.attributes.retain(|attribute| !PACKING.contains(&attribute.name.as_str()));
            self.forget_missing();
        }
    }

    /// Removes the fill value and the attributes that mark missing values.
    pub(crate) fn forget_missing(&mut self) {
        const MISSING: [&str; 5] =
            ["_FillValue", "missing_value", "valid_range", "valid_min", "valid_max"];
        self.attributes.retain(|attribute| !MISSING.contains(&attribute.name.as_str()));
        if let Some(storage) = &mut self.storage {
            storage.fillvalue = None;
        }
        self.storage.take_if(|storage| *storage == Storage::default());
    }

    /// Returns the order of elements.
    pub fn order(&self) -> Order {
        self.storage.as_ref().map(|storage| storage.order).unwrap_or_default()
    }

    /// Returns the number of elements of a dimcoord as far as the document gives it: its size, or if it can grow, the
    /// size in the file or the length of the value.
    pub fn known_size(&self) -> Option<u64> {
        let stored = || self.storage.as_ref()?.shape.as_ref()?.first().copied();
        match (&self.shape[..], &self.value) {
            ([Extent::Fixed(size)], _) => Some(*size),
            (_, Some(Value::List(list))) => stored().or(Some(list.len() as u64)),
            _ => stored(),
        }
    }

    /// Returns the value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        Some(&self.attributes.iter().find(|attribute| attribute.name == name)?.value)
    }
}

impl Group {
    /// Returns an empty group.
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }
}

impl Document {
    /// Returns an empty flat document.
    pub fn flat() -> Self {
        Self { form: Form::Flat, groups: vec![Group::new("/")] }
    }

    /// Sets attributes of the root group; one with the same name is replaced.
    pub fn set_attributes(&mut self, attributes: &[Attribute]) {
        if attributes.is_empty() {
            return;
        }
        if self.groups.iter().all(|group| group.path != "/") {
            self.groups.push(Group::new("/"));
        }
        if let Some(root) = self.groups.iter_mut().find(|group| group.path == "/") {
            for attribute in attributes {
                attribute.clone().put_into(&mut root.attributes);
            }
        }
    }

    /// Returns a flat document with one dimension coordinate or ndarray.
    pub fn of(array: Ndarray, is_coordinate: bool) -> Self {
        let (dimcoords, ndarrays) =
            if is_coordinate { (vec![array], Vec::new()) } else { (Vec::new(), vec![array]) };
        Self { form: Form::Flat, groups: vec![Group { dimcoords, ndarrays, ..Group::new("/") }] }
    }

    /// Returns a grouped document without groups.
    pub fn grouped() -> Self {
        Self { form: Form::Grouped, groups: Vec::new() }
    }

    /// Returns the group at a path.
    pub fn group(&self, path: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.path == path)
    }

    /// Returns every ndarray with its group, in the order of the text.
    pub fn ndarrays(&self) -> impl Iterator<Item = (&Group, &Ndarray)> {
        self.groups
            .iter()
            .flat_map(|group| group.ndarrays.iter().map(move |ndarray| (group, ndarray)))
    }

    /// Returns every dimcoord with its group, in the order of the text.
    pub fn dimcoords(&self) -> impl Iterator<Item = (&Group, &Ndarray)> {
        self.groups
            .iter()
            .flat_map(|group| group.dimcoords.iter().map(move |dimcoord| (group, dimcoord)))
    }

    /// Returns every ndarray and then every dimcoord, each with its group.
    pub fn entities(&self) -> impl Iterator<Item = (&Group, Entity<'_>)> {
        let ndarrays = self.ndarrays().map(|(group, one)| (group, Entity::Ndarray(one)));
        ndarrays.chain(self.dimcoords().map(|(group, one)| (group, Entity::DimCoord(one))))
    }
}

/// Splits a path from the root into group and name; `None` for `/` itself and for relative paths.
pub(crate) fn split_path(path: &str) -> Option<(&str, &str)> {
    let (group, name) = path.rsplit_once('/')?;
    if name.is_empty() || (!group.is_empty() && !group.starts_with('/')) {
        return None;
    }
    Some((if group.is_empty() { "/" } else { group }, name))
}

/// Returns a group's path and those of the groups above it, nearest first, `/` last.
pub(crate) fn ancestors(group: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(group), |path| match path.rsplit_once('/') {
        _ if *path == "/" => None,
        Some(("", _)) | None => Some("/"),
        Some((parent, _)) => Some(parent),
    })
}

/// Returns the path of an entity in a group.
pub(crate) fn entity_path(group: &str, name: &str) -> String {
    if group == "/" { format!("/{name}") } else { format!("{group}/{name}") }
}

/// Returns the paths that a name in a shape of `group` may mean, nearest first.
pub(crate) fn candidates(group: &str, name: &str) -> Vec<String> {
    if name.starts_with('/') {
        return vec![name.to_owned()];
    }
    ancestors(group).map(|group| entity_path(group, name)).collect()
}

/// An ndarray or a dimcoord of a document.
#[derive(Debug, Clone, Copy)]
pub enum Entity<'d> {
    /// An ndarray.
    Ndarray(&'d Ndarray),
    /// A dimcoord.
    DimCoord(&'d Ndarray),
}

impl<'d> Entity<'d> {
    /// Returns the entity as an array; a dimcoord is an array of one dimension.
    pub fn array(self) -> &'d Ndarray {
        match self {
            Self::Ndarray(array) | Self::DimCoord(array) => array,
        }
    }

    /// Returns the order of elements.
    pub fn order(self) -> Order {
        match self {
            Self::Ndarray(ndarray) => ndarray.order(),
            Self::DimCoord(_) => Order::Column,
        }
    }
}

/// The index of a group, and the index of an entity in it.
type EntityPosition = (usize, usize);

/// The positions of a document's entities by path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Positions {
    ndarrays: HashMap<String, EntityPosition>,
    dimcoords: HashMap<String, EntityPosition>,
}

impl Positions {
    pub(crate) fn new(document: &Document) -> Self {
        let mut positions = Self::default();
        for (at, group) in document.groups.iter().enumerate() {
            let path = |name: &str| entity_path(&group.path, name);
            let ndarrays = group.ndarrays.iter().enumerate();
            positions.ndarrays.extend(ndarrays.map(|(nth, array)| (path(&array.name), (at, nth))));
            let coords = group.dimcoords.iter().enumerate();
            positions.dimcoords.extend(coords.map(|(nth, coord)| (path(&coord.name), (at, nth))));
        }
        positions
    }
}

/// The entities of a document, indexed by path.
#[derive(Debug, Clone)]
pub struct Index<'d> {
    document: &'d Document,
    positions: Cow<'d, Positions>,
}

impl Document {
    /// Indexes the document.
    pub fn index(&self) -> Index<'_> {
        Index { document: self, positions: Cow::Owned(Positions::new(self)) }
    }

    /// Returns the index for positions that are already known.
    pub(crate) fn index_by<'d>(&'d self, positions: &'d Positions) -> Index<'d> {
        Index { document: self, positions: Cow::Borrowed(positions) }
    }
}

impl<'d> Index<'d> {
    /// Returns the ndarray, or else the dimcoord, at a path from the root, with its group.
    pub fn entity(&self, path: &str) -> Option<(&'d Group, Entity<'d>)> {
        if let Some(&(group, nth)) = self.positions.ndarrays.get(path) {
            let group = self.document.groups.get(group)?;
            return Some((group, Entity::Ndarray(group.ndarrays.get(nth)?)));
        }
        self.dimcoord(path).map(|(group, coord)| (group, Entity::DimCoord(coord)))
    }

    /// Returns the dimcoord at a path from the root, with its group.
    pub fn dimcoord(&self, path: &str) -> Option<(&'d Group, &'d Ndarray)> {
        let &(group, nth) = self.positions.dimcoords.get(path)?;
        let group = self.document.groups.get(group)?;
        Some((group, group.dimcoords.get(nth)?))
    }

    /// Returns the index of the group, and the index in it, of the ndarray, or else the dimcoord, at a path.
    pub fn position(&self, path: &str) -> Option<(usize, usize)> {
        let Positions { ndarrays, dimcoords } = &*self.positions;
        ndarrays.get(path).or_else(|| dimcoords.get(path)).copied()
    }

    /// Returns the dimcoord that `name` means in `group`: a path from the root if it begins with `/`, or else the
    /// nearest dimcoord of that name in the group and the groups above it.
    pub fn resolve_coord(&self, group: &str, name: &str) -> Option<(&'d Group, &'d Ndarray)> {
        candidates(group, name).iter().find_map(|path| self.dimcoord(path))
    }
}
