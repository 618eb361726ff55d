//! The structure of a pack without its data: the attributes, dimensions, coordinates and variables of each group.
//!
//! A pack may have a hundred thousand arrays, so only their names are sorted. Other facts about an array are collected
//! when they are requested.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::archive::{Archive, Container, Member, MemberKind};
use crate::error::Result;
use crate::finding::{self, Finding};
use crate::inspect::scan::PackScan;
#[cfg(feature = "full")]
use crate::ndl::Document;
use crate::ndl::{Attribute, Extent, Ndarray, Order, by_name_in_ndl};
#[cfg(feature = "full")]
use crate::pack::entity_path;
use crate::pack::{ArrayFacts, Contents, CoordinateInfo, Entity, Layout, Placement, shape_of};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{ElementType, Header};
use crate::read::open::Pack;

/// Options for [`outline`]: the group and the threads.
#[derive(Debug, Clone, Default)]
pub struct OutlineOptions {
    /// Group to describe with all groups below it, such as `/run1`; all groups if `None`.
    pub group: Option<String>,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// The structure of a pack.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Outline {
    /// Path of the archive or directory, as given.
    pub target: PathBuf,
    /// The container of the target.
    pub container: Container,
    /// The layout of the pack.
    pub layout: Layout,
    /// Number of arrays in these groups.
    pub arrays: u64,
    /// Attributes of the pack, which are those of the group `/`.
    #[cfg_attr(test, schemars(with = "crate::ndl::Document"))]
    #[serde(serialize_with = "by_name_in_ndl")]
    pub attributes: Vec<Attribute>,
    /// Groups with arrays, coordinates or attributes, sorted by path.
    #[cfg_attr(test, schemars(with = "Vec<OutlineGroup<'static>>"))]
    groups: Groups,
    /// Directories without files, sorted by path: groups without arrays and attributes.
    #[serde(skip)]
    pub empty_directories: Vec<String>,
    /// Problems with the container and with names.
    pub findings: Vec<Finding>,
}

/// A group, which is a directory of the pack.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OutlineGroup<'a> {
    /// Path of the group, such as `/run1`; `/` for the root of the pack.
    pub path: String,
    /// Attributes of the group; absent if there are none, and for `/`, whose attributes are those of the pack.
    #[cfg_attr(test, schemars(with = "crate::ndl::Document"))]
    #[serde(serialize_with = "by_name_in_ndl", skip_serializing_if = "<[_]>::is_empty")]
    pub attributes: &'a [Attribute],
    /// Named dimensions of the arrays in the group.
    pub dimensions: Vec<OutlineDimension>,
    /// Coordinates that are defined in the group.
    #[cfg_attr(test, schemars(with = "Vec<OutlineArray<'static>>"))]
    coordinates: OutlineArrays<'a>,
    /// Other arrays in the group.
    #[cfg_attr(test, schemars(with = "Vec<OutlineArray<'static>>"))]
    variables: OutlineArrays<'a>,
}

/// A named dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OutlineDimension {
    /// Name of the dimension in shapes.
    pub name: String,
    /// Length of the dimension; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// Path of its coordinate, such as `/run1/time`; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinate: Option<String>,
}

/// Facts about an array from its header and description.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OutlineArray<'a> {
    /// Name of the array in the group.
    pub name: &'a str,
    /// Member with its elements; absent for a coordinate whose elements are in a description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<&'a str>,
    /// Element type, such as `float32`; absent if there is no readable header.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub element: Option<ElementType>,
    /// Length of each dimension, in the order of the description's shape.
    pub shape: Vec<u64>,
    /// Name of each dimension; null if the description gives only the length.
    pub dimensions: Vec<Option<Cow<'a, str>>>,
    /// The fastest index in the file.
    pub order: Order,
    /// Whether the array has a description.
    pub described: bool,
    /// Attributes of the array.
    #[cfg_attr(test, schemars(with = "crate::ndl::Document"))]
    #[serde(serialize_with = "by_name_in_ndl")]
    pub attributes: Vec<Attribute>,
    /// Description of the array, with its resolved type.
    #[serde(skip)]
    pub description: Option<Cow<'a, Ndarray>>,
    /// The header, and whether the data is complete; absent if there is no member.
    #[serde(skip)]
    pub(crate) facts: Option<&'a ArrayFacts>,
}

impl OutlineArray<'_> {
    /// Returns the header; `None` if there is no member or its header is not valid.
    pub fn header(&self) -> Option<&Header> {
        self.facts?.header.as_ref().ok()
    }
}

/// The groups that were read. Each [`OutlineGroup`] is made when it is requested.
#[derive(Debug, Clone)]
struct Groups {
    contents: Contents,
    /// Arrays sorted by group and name.
    arrays: Vec<MemberPath>,
    /// Coordinates sorted in the same way.
    coordinates: Vec<CoordinateInfo>,
    spans: Vec<GroupSpan>,
}

/// A group, and the ranges of its arrays and coordinates.
#[derive(Debug, Clone)]
struct GroupSpan {
    /// Directory of the group; empty for the root.
    directory: String,
    attributes: Vec<Attribute>,
    arrays: Range<usize>,
    coordinates: Range<usize>,
}

impl GroupSpan {
    /// Returns the attributes of the group; none for the root, whose attributes are those of the pack.
    fn shown_attributes(&self) -> &[Attribute] {
        if self.directory.is_empty() { &[] } else { &self.attributes }
    }
}

/// A range of arrays in one group.
#[derive(Debug, Clone)]
struct OutlineArrays<'a> {
    groups: &'a Groups,
    subjects: Vec<Subject<'a>>,
}

#[derive(Debug, Clone, Copy)]
enum Subject<'a> {
    Variable(&'a MemberPath),
    Coordinate(&'a MemberPath),
    /// A coordinate without a file.
    Stated(&'a CoordinateInfo),
}

/// Reads the structure of a pack from headers and descriptions. Data is not read.
///
/// # Errors
///
/// [`Error::Io`](crate::Error::Io) if the target cannot be read, and [`Error::NotAPack`](crate::Error::NotAPack) if it
/// is not a pack.
///
/// ```
/// use ra_pack::inspect::{OutlineOptions, outline};
///
/// let outline = outline("examples/experiment", &OutlineOptions::default())?;
/// let thermistors = outline.groups().find(|group| group.path == "/thermistors").unwrap();
/// let coordinates: Vec<_> = thermistors.coordinates().map(|array| array.name).collect();
/// assert_eq!(coordinates, ["depth"]);
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn outline(target: impl AsRef<Path>, options: &OutlineOptions) -> Result<Outline> {
    Pack::open_watched(target.as_ref(), &options.progress)?.outline(options)
}

impl Pack {
    /// Reads the structure of an open pack. Reads are reported to the progress that the pack was opened with.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) or [`Error::Damaged`](crate::Error::Damaged) if the container cannot be read.
    pub fn outline(&self, options: &OutlineOptions) -> Result<Outline> {
        let archive = self.archive();
        let PackScan { placement, members, contents, findings } =
            PackScan::of_contents(archive, pipeline::jobs(options.jobs))?;
        let group = options.group.as_deref();
        let empty_directories = empty_directories(&placement, &members, group);
        let found = (placement.layout, contents, findings);
        Ok(Outline { empty_directories, ..Outline::new(self.given(), archive, found, group) })
    }
}

/// Returns the directories of the payload without members, which are `wanted` or below it.
fn empty_directories(
    placement: &Placement,
    members: &[Member],
    wanted: Option<&str>,
) -> Vec<String> {
    let names = members.iter().filter_map(|member| placement.payload(&member.name));
    let parents: HashSet<&str> =
        names.filter_map(|name| Some(name.trim_end_matches('/').rsplit_once('/')?.0)).collect();
    let directories = members.iter().filter(|member| member.kind == MemberKind::Directory);
    let directories = directories.filter_map(|member| placement.payload(&member.name));
    let directories = directories.map(|name| name.trim_end_matches('/'));
    let wanted = wanted.unwrap_or_default().trim_matches('/');
    let is_empty =
        |name: &&str| !name.is_empty() && !parents.contains(name) && is_below(name, wanted);
    let empty: BTreeSet<String> = directories.filter(is_empty).map(str::to_owned).collect();
    empty.into_iter().collect()
}

/// Returns whether a directory is `wanted` or below it.
fn is_below(directory: &str, wanted: &str) -> bool {
    let rest = directory.strip_prefix(wanted);
    wanted.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Outline {
    /// Arranges the contents of a scanned pack: those of `group` and below it, or all.
    pub(crate) fn new(
        target: &Path,
        archive: &Archive,
        (layout, contents, mut findings): (Layout, Contents, Vec<Finding>),
        group: Option<&str>,
    ) -> Self {
        finding::cut(&mut findings);
        let wanted = group.map(|group| group.trim_matches('/'));
        let mut groups = Groups::new(contents);
        let root = groups.spans.first().filter(|span| span.directory.is_empty());
        let attributes = root.map(|root| root.attributes.clone()).unwrap_or_default();
        groups.spans.retain(|span| {
            let is_wanted = wanted.is_none_or(|wanted| is_below(&span.directory, wanted));
            let is_empty = span.arrays.is_empty() && span.coordinates.is_empty();
            is_wanted && (!is_empty || !span.shown_attributes().is_empty())
        });
        Self {
            target: target.to_owned(),
            container: archive.container(),
            layout,
            arrays: groups.spans.iter().map(|span| span.arrays.len() as u64).sum(),
            attributes,
            groups,
            empty_directories: Vec::new(),
            findings,
        }
    }

    /// Returns the paths of coordinates and arrays whose elements are only in descriptions.
    #[cfg(feature = "full")]
    pub(crate) fn values_in_descriptions(&self) -> Vec<String> {
        let Groups { contents, coordinates, .. } = &self.groups;
        let has_no_file = |path: &str| contents.array_at(path).is_none();
        let stated = coordinates.iter().filter(|one| one.first.is_some());
        let stated = stated.map(|one| one.name.clone());
        // Parsing the document of a large pack takes memory, and a generated one has no elements.
        let document = contents.pack_document.as_ref();
        let document = document.filter(|facts| facts.text().contains("value"));
        let document = document.and_then(|facts| facts.document());
        let arrays = document.into_iter().flat_map(Document::ndarrays);
        let arrays = arrays.filter(|(_, ndarray)| ndarray.value.is_some());
        let arrays = arrays.map(|(group, ndarray)| entity_path(&group.path, &ndarray.name));
        let all: BTreeSet<_> = stated.chain(arrays).filter(|path| has_no_file(path)).collect();
        all.into_iter().collect()
    }

    /// Returns the groups, sorted by path.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = OutlineGroup<'_>> {
        self.groups.spans.iter().map(|span| self.groups.group(span))
    }
}

impl<'a> OutlineGroup<'a> {
    /// Returns the coordinates that are defined in the group, sorted by name.
    pub fn coordinates(&self) -> impl ExactSizeIterator<Item = OutlineArray<'a>> {
        self.coordinates.arrays()
    }

    /// Returns the other arrays of the group, sorted by name.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = OutlineArray<'a>> {
        self.variables.arrays()
    }
}

impl<'a> OutlineArrays<'a> {
    fn arrays(&self) -> impl ExactSizeIterator<Item = OutlineArray<'a>> {
        let groups = self.groups;
        self.subjects.iter().map(move |subject| groups.array(*subject))
    }
}

impl Serialize for OutlineArrays<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.arrays())
    }
}

impl Serialize for Groups {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.spans.iter().map(|span| self.group(span)))
    }
}

/// Returns the directory of a coordinate, and its name.
fn place(coordinate: &CoordinateInfo) -> (&str, &str) {
    let path = coordinate.name.trim_start_matches('/');
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns the directory of an array; empty for the root.
fn directory(path: &MemberPath) -> &str {
    path.parent().unwrap_or_default()
}

impl Groups {
    fn new(contents: Contents) -> Self {
        let mut coordinates = contents.coordinates();
        coordinates.sort_by(|one, other| place(one).cmp(&place(other)));
        let mut arrays: Vec<_> = contents.arrays.keys().cloned().collect();
        arrays.sort_by(|one, other| {
            (directory(one), one.stem()).cmp(&(directory(other), other.stem()))
        });
        let mut attributes: BTreeMap<_, _> = contents
            .group_attributes()
            .into_iter()
            .map(|group| (group.path.trim_start_matches('/').to_owned(), group.attributes))
            .collect();
        let directories: BTreeSet<&str> = arrays
            .iter()
            .map(directory)
            .chain(coordinates.iter().map(|coordinate| place(coordinate).0))
            .chain(attributes.keys().map(String::as_str))
            .collect();
        let directories: Vec<_> = directories.into_iter().map(str::to_owned).collect();
        let spans = directories.into_iter().map(|name| {
            let first = arrays.partition_point(|path| directory(path) < &*name);
            let end = arrays.partition_point(|path| directory(path) <= &*name);
            let first_coordinate = coordinates.partition_point(|one| place(one).0 < &*name);
            let last_coordinate = coordinates.partition_point(|one| place(one).0 <= &*name);
            GroupSpan {
                attributes: attributes.remove(&name).unwrap_or_default(),
                arrays: first..end,
                coordinates: first_coordinate..last_coordinate,
                directory: name,
            }
        });
        let spans = spans.collect();
        Self { contents, arrays, coordinates, spans }
    }

    fn group<'a>(&'a self, span: &'a GroupSpan) -> OutlineGroup<'a> {
        let arrays = self.arrays.get(span.arrays.clone()).unwrap_or_default();
        let stated = self.coordinates.get(span.coordinates.clone()).unwrap_or_default();
        let coordinate = |info: &'a CoordinateInfo| match self.contents.array_at(&info.name) {
            Some((path, _)) => Subject::Coordinate(path),
            None => Subject::Stated(info),
        };
        let is_coordinate = |path: &MemberPath| {
            stated.binary_search_by(|one| place(one).1.cmp(path.stem())).is_ok()
        };
        let variables = arrays.iter().filter(|path| !is_coordinate(path)).map(Subject::Variable);
        OutlineGroup {
            path: format!("/{}", span.directory),
            attributes: span.shown_attributes(),
            dimensions: self.dimensions(arrays, stated),
            variables: OutlineArrays { groups: self, subjects: variables.collect() },
            coordinates: OutlineArrays {
                groups: self,
                subjects: stated.iter().map(coordinate).collect(),
            },
        }
    }

    /// Returns the named dimensions of arrays, and those of coordinates.
    fn dimensions(
        &self,
        arrays: &[MemberPath],
        coordinates: &[CoordinateInfo],
    ) -> Vec<OutlineDimension> {
        let mut found = BTreeMap::new();
        for coordinate in coordinates {
            let value = (coordinate.length, Some(coordinate.name.clone()));
            found.insert(place(coordinate).1.to_owned(), value);
        }
        for path in arrays {
            for extent in self.contents.named_extents(path) {
                if extent.length.is_some() && !found.contains_key(extent.name) {
                    let coordinate = extent.coordinate.map(|coordinate| coordinate.path);
                    found.insert(extent.name.to_owned(), (extent.length, coordinate));
                }
            }
        }
        let dimensions = found.into_iter();
        let dimension =
            |(name, (length, coordinate))| OutlineDimension { name, length, coordinate };
        dimensions.map(dimension).collect()
    }

    fn array<'a>(&'a self, subject: Subject<'a>) -> OutlineArray<'a> {
        let (path, is_coordinate) = match subject {
            Subject::Variable(path) => (path, false),
            Subject::Coordinate(path) => (path, true),
            Subject::Stated(info) => {
                let name = place(info).1;
                let description = info.description.as_ref();
                return OutlineArray {
                    name,
                    member: None,
                    element: None,
                    shape: info.length.into_iter().collect(),
                    dimensions: vec![Some(name.into())],
                    order: Order::Column,
                    described: true,
                    attributes: description.map_or_else(Vec::new, |it| it.attributes.clone()),
                    description: description.map(Cow::Borrowed),
                    facts: None,
                };
            }
        };
        let facts = self.contents.arrays.get(path).map(|facts| &**facts);
        let header = facts.and_then(|facts| facts.header.as_ref().ok());
        let (description, shared) = self.description(path);
        let order = match &description {
            Some((ndarray, false)) => ndarray.order(),
            _ => Order::Column,
        };
        let shape = header.map_or_else(Vec::new, |header| shape_of(header.dims(), order));
        let mut dimensions = vec![None; shape.len()];
        if let (true, [only]) = (is_coordinate, &mut dimensions[..]) {
            *only = Some(path.stem().into());
        } else if let Some((ndarray, false)) = &description {
            for (name, extent) in dimensions.iter_mut().zip(&ndarray.shape) {
                if let Extent::Coord(coordinate) = extent {
                    *name = Some(coordinate.clone().into());
                }
            }
        }
        let own = description.iter().flat_map(|(ndarray, _)| &ndarray.attributes);
        OutlineArray {
            name: path.stem(),
            member: Some(path.as_str()),
            element: header.map(Header::element),
            shape,
            dimensions,
            order,
            described: description.is_some(),
            attributes: own.cloned().chain(shared).collect(),
            description: description.map(|(ndarray, _)| ndarray),
            facts,
        }
    }

    /// Returns the description of an array, whether it describes a coordinate, and the attributes of its document that
    /// are not those of its group.
    fn description(&self, path: &MemberPath) -> (Option<(Cow<'_, Ndarray>, bool)>, Vec<Attribute>) {
        if let Some(plain) = self.contents.plain(path) {
            return (Some((Cow::Owned(plain.ndarray()), plain.is_dimcoord())), Vec::new());
        }
        let Some(found) = self.contents.description(path, &mut Vec::new()) else {
            return (None, Vec::new());
        };
        let span = self.spans.binary_search_by(|span| (*span.directory).cmp(directory(path)));
        let span = span.ok().and_then(|at| self.spans.get(at));
        let of_group = span.map(|span| &span.attributes[..]).unwrap_or_default();
        let array = found.entity.array();
        let shared = found.group.attributes.iter().filter(|one| {
            !of_group.contains(one) && array.attributes.iter().all(|own| own.name != one.name)
        });
        let shared = shared.cloned().collect();
        let is_dimcoord = matches!(found.entity, Entity::DimCoord(_));
        (Some((Cow::Borrowed(array), is_dimcoord)), shared)
    }
}
