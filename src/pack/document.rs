//! The description of a whole pack, made from the descriptions of its arrays.

use std::collections::{BTreeMap, BTreeSet};

use super::contents::{Contents, Described, Entity};
use super::convention::Convention;
use super::coordinates::{Coordinates, Resolved};
use super::{describe, entity_path, group_of, shape_of};
use crate::ndl::{Attribute, DimCoord, Document, Extent, Group, Ndarray, Order, Storage};
use crate::path::MemberPath;
use crate::ra::{Encoding, Header};

/// What stands above the document, for whoever finds the pack when all of its software is gone.
const HEAD: &str = "\
# This file describes every array of this pack, in the Ndarray Data Language 0.6.1, which is YAML.
# The array NAME of group /a/b is the file a/b/NAME.ra.
#
# A .ra file (RawArray) is a row of little-endian unsigned 64-bit integers and then the data:
#   magic (the letters \"rawarray\"), flags, eltype, elbyte, size, ndims, dims[0] ... dims[ndims-1].
#   eltype: 0 user-defined, 1 signed integer, 2 unsigned integer, 3 IEEE 754 float,
#           4 complex (real part, imaginary part), 5 brain float; elbyte: bytes of one element;
#   size: bytes of the data, which begin at byte 48 + 8*ndims. flags is 0 (1: big-endian data).
# The first index of dims varies fastest. shape below equals dims, except where an array says
# storage: {order: row}: there shape is dims reversed, so the last index of shape varies fastest.
#
# manifest-sha256.txt holds the SHA-256 digest of every other file: sha256sum -c manifest-sha256.txt
";

/// Describes every array of a pack in one document: a directory is a group, a file's stem a name.
///
/// Arrays without a description are described by their headers. Coordinates that shapes refer to
/// are dimension coordinates here, so that the document stands by itself. With a `convention`, so are
/// those that have no description and the name of a coordinate.
pub(crate) fn pack_document(contents: &Contents, convention: Option<&Convention<'_>>) -> String {
    let mut builder = Builder::new(contents, convention);
    for (path, facts) in &contents.arrays {
        if let Ok(header) = &facts.header {
            builder.add(path, header, facts.encoding.unwrap_or(Encoding::Raw));
        }
    }
    let mut document = Document::grouped();
    document.groups = builder.finish();
    format!("{HEAD}{}", document.to_yaml())
}

struct Builder<'a> {
    contents: &'a Contents,
    coordinates: Coordinates<'a>,
    convention: Option<&'a Convention<'a>>,
    groups: BTreeMap<String, Group>,
    /// Paths of the coordinates that shapes refer to.
    referred: BTreeSet<String>,
}

impl<'a> Builder<'a> {
    fn new(contents: &'a Contents, convention: Option<&'a Convention<'a>>) -> Self {
        Self {
            contents,
            convention,
            coordinates: Coordinates::new(contents),
            groups: BTreeMap::new(),
            referred: BTreeSet::new(),
        }
    }

    fn group(&mut self, path: &str) -> &mut Group {
        self.groups.entry(path.to_owned()).or_insert_with(|| Group::new(path))
    }

    fn add(&mut self, path: &MemberPath, header: &Header, encoding: Encoding) {
        let home = group_of(path);
        let described = self.contents.description(path, &mut Vec::new());
        let mut ndarray = describe(path.stem(), header, encoding);
        match described {
            None => {
                match self.convention {
                    Some(convention) if convention.is_coordinate(path) => {
                        self.referred.insert(entity_path(&home, path.stem()));
                    }
                    Some(convention) => {
                        self.referred.extend(convention.name_extents(path, &mut ndarray));
                    }
                    None => {}
                }
                self.group(&home).ndarrays.push(ndarray);
            }
            Some(described) => {
                let leftover = self.add_shared_attributes(&home, &described);
                match described.entity {
                    Entity::DimCoord(dimcoord) => {
                        let mut dimcoord =
                            DimCoord { name: path.stem().to_owned(), ..dimcoord.clone() };
                        dimcoord.attributes.extend(leftover);
                        self.group(&home).dimcoords.push(dimcoord);
                    }
                    Entity::Ndarray(described_as) => {
                        let shape = self.shape(path, header, &described, described_as);
                        ndarray =
                            Ndarray { name: path.stem().to_owned(), shape, ..described_as.clone() };
                        ndarray.attributes.extend(leftover);
                        self.group(&home).ndarrays.push(ndarray);
                    }
                }
            }
        }
    }

    /// Takes the attributes of the document itself over to the group. Those that the group has
    /// otherwise, from another document, are given back: they belong to this array alone.
    fn add_shared_attributes(&mut self, home: &str, described: &Described<'_>) -> Vec<Attribute> {
        let own: Vec<&str> = match described.entity {
            Entity::Ndarray(ndarray) => {
                ndarray.attributes.iter().map(|a| a.name.as_str()).collect()
            }
            Entity::DimCoord(coord) => coord.attributes.iter().map(|a| a.name.as_str()).collect(),
        };
        let group = self.group(home);
        let mut leftover = Vec::new();
        for attribute in &described.group.attributes {
            match group.attributes.iter().find(|other| other.name == attribute.name) {
                None => group.attributes.push(attribute.clone()),
                Some(same) if same == attribute => {}
                Some(_) if own.contains(&attribute.name.as_str()) => {}
                Some(_) => leftover.push(attribute.clone()),
            }
        }
        leftover
    }

    /// The shape of an array, with the names of coordinates where the document will have them.
    fn shape(
        &mut self,
        path: &MemberPath,
        header: &Header,
        described: &Described<'_>,
        ndarray: &Ndarray,
    ) -> Vec<Extent> {
        let lengths = shape_of(header.dims(), ndarray.order());
        let mut shape = ndarray.shape.clone();
        for (extent, length) in shape.iter_mut().zip(lengths) {
            let Extent::Coord(name) = extent else { continue };
            // The language has no coordinate without elements.
            if length == 0 {
                *extent = Extent::Fixed(0);
                continue;
            }
            match self.coordinates.resolve(path, described, name) {
                Resolved::Found { path: found, .. } => {
                    let stated = described.facts.resolve_coord(&described.group.path, name);
                    if let Some((_, dimcoord)) = stated {
                        self.add_coordinate(&found, dimcoord);
                    }
                    name.clone_from(&found);
                    self.referred.insert(found);
                }
                Resolved::Nowhere => *extent = Extent::Fixed(length),
            }
        }
        shape
    }

    /// A coordinate that a document states beside the array that uses it.
    fn add_coordinate(&mut self, path: &str, dimcoord: &DimCoord) {
        let Some((group, name)) = path.rsplit_once('/') else { return };
        let group = if group.is_empty() { "/" } else { group };
        let file = format!("{}.{}", path.trim_start_matches('/'), super::ARRAY_EXTENSION);
        // An array of that name speaks for itself.
        if self.contents.arrays.contains_key(file.as_str()) {
            return;
        }
        let group = self.group(group);
        if group.dimcoord(name).is_none() {
            group.dimcoords.push(DimCoord { name: name.to_owned(), ..dimcoord.clone() });
        }
    }

    /// Turns the 1-D arrays that shapes refer to into coordinates, and shortens references to those
    /// of the same group.
    fn finish(self) -> Vec<Group> {
        let Self { mut groups, referred, .. } = self;
        for (path, group) in &mut groups {
            let (coordinates, ndarrays) =
                std::mem::take(&mut group.ndarrays).into_iter().partition::<Vec<_>, _>(|ndarray| {
                    referred.contains(&entity_path(path, &ndarray.name))
                });
            group.ndarrays = ndarrays;
            group.dimcoords.extend(coordinates.into_iter().map(as_coordinate));
            for ndarray in &mut group.ndarrays {
                for extent in &mut ndarray.shape {
                    if let Extent::Coord(name) = extent
                        && let Some(short) = name.rsplit('/').next()
                        && entity_path(path, short) == *name
                    {
                        *name = short.to_owned();
                    }
                }
            }
        }
        groups.into_values().collect()
    }
}

/// A 1-D array as a dimension coordinate.
pub(crate) fn as_coordinate(ndarray: Ndarray) -> DimCoord {
    let size = match ndarray.shape[..] {
        [Extent::Fixed(length)] => Some(length),
        _ => None,
    };
    DimCoord {
        name: ndarray.name,
        size,
        datatype: ndarray.datatype,
        value: ndarray.value,
        attributes: ndarray.attributes,
        // Of one dimension there is no order, and its shape is its size.
        storage: ndarray.storage.map(|storage| Storage {
            size: storage.shape.as_ref().and_then(|shape| shape.first().copied()),
            shape: None,
            order: Order::Column,
            ..storage
        }),
    }
}
