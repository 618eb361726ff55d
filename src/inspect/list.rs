//! Lists of the members of a pack, from headers and descriptions. Data is not read.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::archive::{Container, Member, MemberKind, Method};
use crate::digest::{Algorithm, Digest};
use crate::error::Result;
use crate::finding::{self, Finding};
use crate::inspect::scan::PackScan;
use crate::inspect::select::Patterns;
use crate::ndl::{Attribute, Datatype, Extent, Order, by_name_in_ndl};
use crate::pack::{self, BLOCK_LIST, Contents, Entity, Layout, PACK_DOCUMENT, Placement, shape_of};
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{DecodeError, ElementType, Header};
use crate::read::open::Pack;
use crate::read::type_name;

/// Options for [`list`]: the members, their order, and whether to look up digests.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// Patterns of member names; all members if there are none.
    pub patterns: Patterns,
    /// Whether to list only arrays.
    pub arrays: bool,
    /// Whether to leave out descriptions of arrays and of the pack, manifests, and tag files of a bag. They are listed
    /// if nothing else matches the patterns.
    pub hide_descriptions: bool,
    /// Whether only names, kinds and sizes are needed. From a remote zip, only the directory is then read, and arrays are
    /// those whose names end in `.ra`.
    pub only_names: bool,
    /// Order of the members.
    pub order: ListOrder,
    /// Whether to reverse the order.
    pub reverse: bool,
    /// Whether to look up the digest of each member in the manifest.
    pub digests: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// The order of the members. Equal members are sorted by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListOrder {
    /// By the bytes of the name.
    #[default]
    Name,
    /// By directory: the files of a directory are listed together.
    Tree,
    /// By size of the content, the largest first.
    Size,
    /// By size in the archive, the largest first.
    Packed,
    /// By element type; other files are last.
    Type,
}

/// The members of a pack in the requested order.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Listing {
    /// Path of the archive or directory, as given.
    pub target: PathBuf,
    /// The container of the target.
    pub container: Container,
    /// The layout of the pack.
    pub layout: Layout,
    /// Attributes of the pack, such as its title, as in an NDL document; absent if there are none.
    #[cfg_attr(test, schemars(with = "Option<crate::ndl::Document>"))]
    #[serde(serialize_with = "by_name_in_ndl", skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Attribute>,
    /// The requested members.
    #[cfg_attr(test, schemars(with = "Vec<Listed<'static>>"))]
    members: ListedMembers,
    /// Number of members that [`ListOptions::hide_descriptions`] left out.
    #[serde(skip)]
    pub hidden: u64,
    /// Problems with the container and with names.
    pub findings: Vec<Finding>,
}

/// The members that were read. Each [`Listed`] is made when it is requested, because a pack may have a million.
#[derive(Debug, Clone)]
struct ListedMembers {
    members: Vec<Member>,
    /// The digests in the manifest, if requested.
    digests: Vec<Option<Digest>>,
    placement: Placement,
    contents: Contents,
}

/// One member of a pack: its name, its sizes, and the facts about an array.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Listed<'a> {
    /// Name of the member; in a bag, its name in the payload.
    pub name: &'a str,
    /// The kind of the member.
    pub kind: MemberKind,
    /// Size of the content in bytes.
    pub bytes: u64,
    /// Bytes that the content takes in the archive.
    pub packed_bytes: u64,
    /// Compression of the content in the archive.
    pub method: Method,
    /// Offset in the archive, in bytes, of the elements of an array or the content of another file; absent if the
    /// member is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_data_offset: Option<u64>,
    /// SHA-256 digest in the manifest, if requested.
    #[cfg_attr(test, schemars(with = "Option<String>", regex(pattern = "^[0-9a-f]{64}$")))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    /// Facts about the array, if the member is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ListedArray<'a>>,
}

/// Facts about an array from its header and description.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListedArray<'a> {
    /// Element type, such as `float32`, or the error of a header that cannot be read.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type", serialize_with = "element_or_fault")]
    pub element: std::result::Result<ElementType, &'a DecodeError>,
    /// Length of each dimension, in the order of the description's shape.
    pub shape: Vec<u64>,
    /// Name or path of the coordinate of each dimension; null if the description gives only the length.
    pub dimensions: Vec<Option<&'a str>>,
    /// The fastest index in the file.
    pub order: Order,
    /// Whether the array has a description.
    pub described: bool,
    /// The `long_name` of the description with its `units`; absent if it has neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Cow<'a, str>>,
    /// Size of the header in bytes, if it can be read.
    #[serde(skip)]
    header_len: Option<u64>,
    /// The type in the description, if it is more than a word.
    #[serde(skip)]
    datatype: Option<&'a Datatype>,
}

/// Lists the members of `target`.
///
/// # Errors
///
/// [`Error::Io`](crate::Error::Io) if the target cannot be read, and [`Error::NotAPack`](crate::Error::NotAPack) if it
/// is not a pack.
///
/// ```no_run
/// use ra_pack::list;
/// use ra_pack::inspect::ListOptions;
///
/// for member in list("exp.zip", &ListOptions::default())?.members() {
///     println!("{} has {} bytes", member.name, member.bytes);
/// }
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn list(target: impl AsRef<Path>, options: &ListOptions) -> Result<Listing> {
    let target = target.as_ref();
    Pack::open_watched(target, &options.progress)?.list(options)
}

impl Pack {
    /// Lists the members of an open pack. Reads are reported to the progress that the pack was opened with.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) or [`Error::Damaged`](crate::Error::Damaged) if the container cannot be read.
    pub fn list(&self, options: &ListOptions) -> Result<Listing> {
        let archive = self.archive();
        let jobs = pipeline::jobs(options.jobs);
        let PackScan { placement, mut members, contents, mut findings, .. } =
            if options.only_names && !archive.is_at_hand() && !archive.is_stream() {
                PackScan::of_names(archive)?
            } else {
                PackScan::of_contents(archive, jobs)?
            };
        finding::cut(&mut findings);
        let ListOptions { patterns, .. } = options;
        if let Some((_, lone)) = self.lone() {
            let stem = |name: &str| name.rsplit_once('.').map(|(stem, _)| stem.to_owned());
            members.retain(|member| stem(&member.name) == stem(lone));
        }
        if !patterns.is_empty() || options.arrays {
            members.retain(|member| {
                let payload = placement.payload(&member.name).unwrap_or(&member.name);
                let is_array = || {
                    contents.is_array(payload) || (options.only_names && pack::is_array(payload))
                };
                (!options.arrays || is_array())
                    && (patterns.is_empty()
                        || patterns.matches(payload)
                        || patterns.matches(&member.name))
            });
        }
        let mut hidden = 0;
        if options.hide_descriptions {
            let is_shown = |member: &Member| !is_description(&placement, &contents, &member.name);
            if patterns.is_empty() || members.iter().any(is_shown) {
                let before = members.len();
                members.retain(is_shown);
                hidden = (before - members.len()) as u64;
            }
        }
        let (container, layout) = (archive.container(), placement.layout);
        let attributes = contents.own_attributes();
        let mut members = ListedMembers { members, digests: Vec::new(), placement, contents };
        members.sort(options.order);
        if options.reverse {
            members.members.reverse();
        }
        if options.digests {
            members.look_up_digests(self)?;
        }
        let target = self.given().to_owned();
        Ok(Listing { target, container, layout, attributes, members, hidden, findings })
    }
}

impl Listing {
    /// Returns the requested members in the requested order.
    pub fn members(&self) -> impl ExactSizeIterator<Item = Listed<'_>> {
        (0..self.members.members.len()).map(|number| self.member(number))
    }

    /// Returns the member with this number, from 0.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    pub fn member(&self, number: usize) -> Listed<'_> {
        self.members.listed(number)
    }

    /// Returns only names and kinds, which costs less.
    pub fn names(&self) -> impl ExactSizeIterator<Item = (&str, MemberKind)> {
        let ListedMembers { members, placement, .. } = &self.members;
        members.iter().map(|member| (placement.shown(&member.name), member.kind))
    }
}

impl ListedMembers {
    fn listed(&self, number: usize) -> Listed<'_> {
        let member = self.members.get(number).expect("the number is that of a member");
        let payload = self.placement.payload(&member.name);
        let array = payload.and_then(|name| listed_array(&self.contents, name));
        let header = array.as_ref().map_or(Some(0), |array| array.header_len);
        Listed {
            name: self.placement.shown(&member.name),
            kind: member.kind,
            bytes: member.size,
            packed_bytes: member.packed_size,
            method: member.method,
            archive_data_offset: member
                .data_offset()
                .zip(header)
                .filter(|_| member.kind == MemberKind::File)
                .map(|(offset, header)| offset.saturating_add(header)),
            sha256: self.digests.get(number).copied().flatten(),
            array,
        }
    }

    /// Looks up the digest of each member in the manifest. Lines that cannot be read are skipped; `verify` reports
    /// them.
    fn look_up_digests(&mut self, pack: &Pack) -> Result<()> {
        let digest = |member: &Member| {
            if member.kind != MemberKind::File || !crate::path::is_valid(&member.name) {
                return Ok(None);
            }
            let digest = pack.digest_if_listed(member)?;
            Ok(digest.filter(|digest| digest.algorithm() == Algorithm::Sha256))
        };
        self.digests = self.members.iter().map(digest).collect::<Result<_>>()?;
        Ok(())
    }

    fn sort(&mut self, order: ListOrder) {
        let Self { members, placement, contents, .. } = self;
        members.sort_by(|one, other| one.name.cmp(&other.name));
        match order {
            ListOrder::Name => {}
            ListOrder::Tree => members.sort_by(|one, other| {
                let [one, other] = [one, other].map(|member| placement.shown(&member.name));
                one.split('/').cmp(other.split('/'))
            }),
            ListOrder::Size => members.sort_by_key(|member| Reverse(member.size)),
            ListOrder::Packed => members.sort_by_key(|member| Reverse(member.packed_size)),
            // Arrays before other files, and readable ones first.
            ListOrder::Type => members.sort_by_cached_key(|member| {
                let array =
                    placement.payload(&member.name).and_then(|name| contents.arrays.get(name));
                match array.map(|facts| &facts.header) {
                    Some(Ok(header)) => (0, Some(header.element())),
                    Some(Err(_)) => (1, None),
                    None => (2, None),
                }
            }),
        }
    }
}

impl Serialize for ListedMembers {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.members.len()).map(|number| self.listed(number)))
    }
}

impl ListedArray<'_> {
    /// Returns the name of the element type, as [`type_name`]; `unreadable` if the header cannot be read.
    pub fn type_name(&self) -> String {
        self.element.map_or("unreadable".to_owned(), |element| type_name(element, self.datatype))
    }
}

fn element_or_fault<S: Serializer>(
    element: &std::result::Result<ElementType, &DecodeError>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    match element {
        Ok(element) => element.serialize(serializer),
        Err(fault) => serializer.collect_str(&format_args!("unreadable: {fault}")),
    }
}

/// Returns whether a member is a description, a manifest or a tag file, and not user data.
fn is_description(placement: &Placement, contents: &Contents, name: &str) -> bool {
    let Some(relative) = placement.relative(name) else { return false };
    match placement.payload(name) {
        Some(PACK_DOCUMENT) => true,
        Some(payload) => {
            let is_beside = !pack::is_array(payload) && contents.array_of(payload).is_some();
            let is_manifest = || pack::manifest_algorithm(relative).is_some();
            let is_list = relative == BLOCK_LIST;
            is_beside || is_list || is_manifest() || pack::is_signature(relative)
        }
        None => placement.payload_directory().as_deref() != Some(name),
    }
}

/// Returns an array of the payload as it is listed; `None` for another file.
pub(super) fn listed_array<'a>(contents: &'a Contents, name: &str) -> Option<ListedArray<'a>> {
    if !pack::is_array(name) {
        return None;
    }
    let (path, facts) = contents.arrays.get_key_value(name)?;
    // Descriptions in the plain form are not parsed into a model.
    let plain = contents.plain(path);
    let model = match plain {
        Some(_) => None,
        None => contents.description(path, &mut Vec::new()),
    };
    let described = plain.is_some() || model.is_some();
    let header = facts.header.as_ref();
    let text = |name: &str| match (&plain, model) {
        (Some(plain), _) => plain.text(name),
        (None, Some(model)) => model.entity.array().attribute(name)?.as_str(),
        (None, None) => None,
    };
    let order = match (&plain, model) {
        _ if header.is_err() => Order::Column,
        (Some(plain), _) => plain.order(),
        (None, model) => model.map_or(Order::Column, |model| model.order()),
    };
    let shape = header.map_or_else(|_| Vec::new(), |header| shape_of(header.dims(), order));
    let mut dimensions = vec![None; shape.len()];
    if let Some(Entity::Ndarray(ndarray)) = model.map(|model| model.entity) {
        for (name, extent) in dimensions.iter_mut().zip(&ndarray.shape) {
            if let Extent::Coord(coordinate) = extent {
                *name = Some(coordinate.as_str());
            }
        }
    }
    if let Some(plain) = &plain {
        dimensions.iter_mut().zip(plain.extents()).for_each(|(name, extent)| *name = extent.err());
    }
    let title = match (text("long_name"), text("units")) {
        (Some(name), Some(units)) => Some(format!("{name} [{units}]").into()),
        (Some(name), None) => Some(name.into()),
        (None, units) => units.map(|units| format!("[{units}]").into()),
    };
    Some(ListedArray {
        element: header.map(Header::element).map_err(|error| &**error),
        shape,
        dimensions,
        order,
        described,
        title: title.filter(|_| header.is_ok()),
        header_len: header.ok().map(Header::header_len),
        datatype: model.map(|model| &model.entity.array().datatype),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::{Content, DescriptionFacts};
    use crate::path::MemberPath;
    use crate::ra::Encoding;

    #[test]
    fn plain_descriptions_are_listed_like_parsed_ones() {
        let header = Header::new(ElementType::FLOAT32, vec![3, 2]).unwrap();
        for said in [
            "ndarrays:\n  a:\n    shape: [3, 2]\n    type: float32\n",
            "ndarrays:\n  a:\n    shape: [2, 3]\n    type: float32\n    attributes:\n      \
             long_name: depth\n      units: m\n    storage:\n      order: row\n",
            "ndarrays:\n  a:\n    shape: [3, 2]\n    type: float32\n    attributes:\n      \
             long_name: 5\n      units: m\n",
            "dimcoords:\n  a:\n    size: 3\n    type: float32\n    attributes:\n      \
             long_name: time of day\n",
        ] {
            let lists = ["", "# by hand\n", "attributes: {n: 1}\n"].map(|more| {
                let facts = DescriptionFacts::parse("a.yaml", format!("{more}{said}"));
                assert_eq!(facts.plain().is_some(), !more.starts_with('a'));
                let array = pack::ArrayFacts {
                    header: Ok(header.clone()),
                    encoding: Some(Encoding::Raw),
                    trailing: 0,
                    data: Ok(()),
                };
                let mut contents = Contents::default();
                let path = |path| MemberPath::new(path).unwrap();
                contents.add(path("a.ra"), Content::Array(std::sync::Arc::new(array)));
                contents.add(path("a.yaml"), Content::Description(std::sync::Arc::new(facts)));
                let listed = listed_array(&contents, "a.ra");
                serde_json::to_string(&listed).unwrap()
            });
            assert!(lists.iter().all(|list| *list == lists[0]), "{lists:?}");
        }
    }
}
