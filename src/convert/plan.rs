//! The plan of a conversion: the arrays, their names, the order of their elements, and their descriptions.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::names::give_all;
use super::{ArrayFormat, ConvertOptions, Converted, Destination, SourceArrays};
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::fs;
use crate::interchange::{self, Variable};
use crate::ndl::{Attribute, Endian, Extent, Ndarray, Order, Storage};
use crate::pack::{
    self, ARRAY_EXTENSION, ArrayFacts, Content, Contents, Convention, PACK_DOCUMENT,
};
use crate::path::{MemberPath, escape};
use crate::pipeline;
use crate::ra::{ElementType, Encoding, Flags, Header};
use crate::write::survey::survey;

/// An array of a source, before its elements are read.
#[derive(Debug, Clone)]
pub(super) struct ArrayItem {
    /// Its name in the source: `a/b/x` for the array `x` of the group `/a/b`.
    pub(super) name: String,
    /// Header of the elements as they are provided: decoded, in the order of the description. `None` if all elements
    /// are in the description.
    pub(super) header: Option<Header>,
    /// The description, in row-major or column-major order.
    pub(super) description: Ndarray,
    /// Whether shapes of other arrays may refer to it.
    pub(super) is_coordinate: bool,
    /// Format of the file that contains it.
    pub(super) format: ArrayFormat,
    /// Its name in reports.
    pub(super) origin: String,
    /// The description in the source.
    pub(super) stated: Option<Stated>,
    /// Attributes of its group.
    pub(super) shared: Vec<Attribute>,
    /// Facts of the source that are not converted, one sentence each.
    pub(super) losses: Vec<String>,
}

/// A description in a document.
#[derive(Debug, Clone)]
pub(super) struct Stated {
    /// The description as it is in the document, under the name of the array.
    pub(super) description: Ndarray,
    /// Text of the document next to the array; `None` for an entry in the description of the pack.
    pub(super) text: Option<String>,
    /// Names in its shape that the document itself defines.
    pub(super) coordinates: Vec<String>,
    /// Whether the description of the pack describes the array.
    pub(super) is_in_pack: bool,
}

impl ArrayItem {
    /// Makes the item for an array in another format.
    pub(super) fn foreign(format: ArrayFormat, name: String, variable: Variable) -> Self {
        let Variable { header, description, losses } = variable;
        Self { header: Some(header), losses, ..Self::inline(format, name, description) }
    }

    /// Makes the item for a RawArray with the header of its file. Encoded elements are decoded; with `keep_endian`
    /// big-endian ones are not swapped.
    pub(super) fn rawarray(
        name: String,
        stored: &Header,
        description: Option<Ndarray>,
        keep_endian: bool,
    ) -> Result<Self> {
        // Elements stay big-endian if they are not encoded and their type has a byte order.
        let is_big = keep_endian
            && stored.flags().contains(Flags::BIG_ENDIAN)
            && !stored.is_encoded()
            && stored.element().swap_width().is_some_and(|width| width > 1);
        let mut description =
            description.unwrap_or_else(|| pack::describe(stem(&name), stored, Encoding::Raw));
        let order = description.order();
        let mut dims = stored.dims().to_vec();
        if order == Order::RowUnreversed {
            dims.reverse();
        }
        // Booleans of one byte are written as `uint8`, which every implementation can read.
        let element = match stored.decoded().element() {
            ElementType::BOOL => ElementType::UINT8,
            element => element,
        };
        let mut header =
            Header::new(element, dims).map_err(|error| Error::mismatch(name.clone(), error))?;
        if is_big {
            header = header.big_endian();
        }
        if let Some(storage) = &mut description.storage {
            if stored.is_encoded() {
                storage.filter.clear();
            }
            if !is_big && storage.endian == Some(Endian::Big) {
                storage.endian = None;
            }
        }
        let is_row = order != Order::Column && header.ndims() > 1;
        set_order(&mut description, if is_row { Order::Row } else { Order::Column });
        Ok(Self { header: Some(header), ..Self::inline(ArrayFormat::Ra, name, description) })
    }

    /// Makes the item for an array whose elements are all in its description.
    pub(super) fn inline(format: ArrayFormat, name: String, description: Ndarray) -> Self {
        let (shared, losses, stated) = <_>::default();
        let (origin, header, is_coordinate) = (name.clone(), None, false);
        Self { name, header, description, is_coordinate, format, origin, stated, shared, losses }
    }

    /// Returns whether the format is not RawArray.
    fn is_foreign(&self) -> bool {
        !self.format.is_rawarray()
    }

    /// Returns the lengths of the dimensions in the order of the indices.
    pub(super) fn extents(&self) -> Vec<u64> {
        match &self.header {
            Some(header) => pack::shape_of(header.dims(), self.description.order()),
            None => {
                let length = |extent: &Extent| match extent {
                    Extent::Fixed(length) => *length,
                    Extent::Unlimited | Extent::Coord(_) => 0,
                };
                self.description.shape.iter().map(length).collect()
            }
        }
    }

    /// Changes the header and the description to `order`. Returns whether elements must be reordered.
    pub(super) fn put_in(&mut self, order: Order) -> bool {
        let Some(header) = &mut self.header else { return false };
        if header.ndims() < 2 || self.description.order() == order {
            return false;
        }
        *header = header.reversed();
        set_order(&mut self.description, order);
        true
    }

    /// Returns the array as a variable for the writer of a format.
    pub(super) fn to_variable(&self) -> Result<Variable> {
        let Some(header) = self.header.clone() else {
            let source = interchange::FormatError::no_counterpart(
                "its elements are texts of different lengths, which are in its description",
                "convert it to .ds or to a directory, or exclude it",
            );
            return Err(Error::Interchange { name: self.name.clone(), source });
        };
        Ok(Variable { header, description: self.description.clone(), losses: Vec::new() })
    }

    /// Replaces names of dimensions by lengths, except `known` names. Returns a sentence about the lost names, if there
    /// are any.
    pub(super) fn fix_extents(&mut self, known: impl Fn(&str) -> bool) -> Option<String> {
        let extents = self.extents();
        let mut names = Vec::new();
        for (extent, length) in self.description.shape.iter_mut().zip(extents) {
            if let Extent::Coord(name) = extent
                && !known(name)
            {
                names.push(std::mem::take(name));
                *extent = Extent::Fixed(length);
            }
        }
        let names = names.join(", ");
        (!names.is_empty()).then(|| format!("its dimension names ({names}) are lost"))
    }
}

/// Returns the last part of a name.
pub(super) fn stem(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Sets the order in the description, and omits it if nothing needs to be stored.
fn set_order(description: &mut Ndarray, order: Order) {
    let storage = Storage { order, ..description.storage.take().unwrap_or_default() };
    description.storage = (storage != Storage::default()).then_some(storage);
}

/// Maximum number of names in a message.
pub(super) const MAX_LISTED: usize = 20;

/// An array to write.
pub(super) struct PlannedArray {
    /// Its position among the items of the source.
    pub(super) index: usize,
    /// Header of the elements as the source provides them; `None` if all of them are in the description.
    pub(super) original: Option<Header>,
    /// Whether the dimensions are reversed.
    pub(super) reverse: bool,
    /// The array in the output.
    pub(super) item: ArrayItem,
    /// Its name in the output: a file name without extension, or a key.
    pub(super) name: String,
    pub(super) converted: Converted,
}

/// Returns the arrays to convert, with their positions.
fn choose<'i>(
    items: &'i [ArrayItem],
    losses: &[String],
    input: &Path,
    out: &Destination<'_>,
) -> Result<Vec<(usize, &'i ArrayItem)>> {
    let mut all = items.iter().enumerate();
    if let Some(member) = &out.options.member {
        let matching = all.find(|(_, item)| is_wanted(&item.name, out.options));
        let names = items.iter().map(|item| &item.name);
        return matching.map(|one| vec![one]).ok_or_else(|| no_such_array(input, member, names));
    }
    let path = escape(&input.to_string_lossy()).to_string();
    if items.is_empty() {
        let mut said = vec![format!("`{path}` contains no arrays to convert")];
        said.extend_from_slice(losses);
        return Err(Error::Unsupported(said.join("; ")));
    }
    if out.to.holds_many() || items.len() == 1 {
        return Ok(all.collect());
    }
    let (to, count) = (out.to, items.len());
    let names = listed(items.iter().map(|item| &item.name), MAX_LISTED, |name| name);
    Err(Error::Unsupported(format!(
        "a .{to} contains one array, but `{path}` has {count}; choose one with the option `member: NAME`: {names}"
    )))
}

/// Returns whether the options select an array of this name.
pub(super) fn is_wanted(name: &str, options: &ConvertOptions) -> bool {
    let is_it = |member: &String| name == member || name == member_name(member);
    options.member.as_ref().is_none_or(is_it)
}

/// Makes the error for an array that does not exist, with the names of those that do.
pub(super) fn no_such_array<'n>(
    input: &Path,
    member: &str,
    names: impl Iterator<Item = &'n String>,
) -> Error {
    let path = escape(&input.to_string_lossy()).to_string();
    let mut there_are = listed(names, MAX_LISTED, |name| name);
    if !there_are.is_empty() {
        there_are.insert_str(0, "; its arrays are: ");
    }
    Error::Unsupported(format!("`{path}` has no array `{}`{there_are}", escape(member)))
}

/// Returns the name of the array in a single file, which is that of the file.
pub(super) fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the name of an array without slash and extension: `run1/x` for `run1/x.ra` and `/run1/x`.
pub(super) fn member_name(member: &str) -> &str {
    let name = member.trim_start_matches('/');
    let end = name.strip_suffix(ARRAY_EXTENSION);
    end.and_then(|name| name.strip_suffix('.')).unwrap_or(name)
}

/// Joins the first `most` names for a message, and adds the number of the others.
pub(super) fn listed(
    names: impl Iterator<Item = impl AsRef<str>>,
    most: usize,
    show: impl Fn(String) -> String,
) -> String {
    let names: Vec<_> = names.map(|name| show(escape(name.as_ref()).to_string())).collect();
    match names.split_at_checked(most) {
        Some((shown, more)) if !more.is_empty() => {
            format!("{} and {} more", shown.join(", "), more.len())
        }
        _ => names.join(", "),
    }
}

/// Returns whether the shape of an array in the output may refer to a coordinate. `arrays` are the names of the arrays
/// that are written.
fn is_known(
    name: &str,
    item: &ArrayItem,
    (input, out): (&Path, &Destination<'_>),
    arrays: &HashSet<String>,
) -> bool {
    let is_chosen = out.options.member.is_some();
    match (item.format, out.to) {
        (ArrayFormat::Ds, ArrayFormat::Pack(_)) | (_, ArrayFormat::Ds) => {
            !is_chosen && out.from != ArrayFormat::Ra
        }
        (_, ArrayFormat::Pack(_)) => {
            let is_own = |stated: &Stated| stated.coordinates.iter().any(|own| own == name);
            let home = group_of(&item.name);
            item.stated.as_ref().is_some_and(is_own)
                || pack::candidates(&home, name).iter().any(|path| {
                    let path = path.trim_start_matches('/');
                    arrays.contains(path) || out.has_array(path)
                })
        }
        (ArrayFormat::Ra, ArrayFormat::Ra) => {
            out.from == ArrayFormat::Ra && !is_chosen && fs::are_neighbours(input, out.path)
        }
        _ => false,
    }
}

/// Returns the group of an array.
fn group_of(name: &str) -> String {
    match name.rsplit_once('/') {
        Some((group, _)) => format!("/{group}"),
        None => "/".to_owned(),
    }
}

/// Plans the conversion of the items of a source, and selects the other files to copy.
pub(super) fn plan(
    source: &mut SourceArrays,
    input: &Path,
    out: &Destination<'_>,
) -> Result<Vec<PlannedArray>> {
    let items = &source.items;
    let chosen = choose(items, &source.losses, input, out)?;
    let is_copied = matches!(out.to, ArrayFormat::Pack(_))
        && out.options.member.is_none()
        && !out.options.arrays_only;
    if !is_copied {
        let left = source.others.drain(..).filter(|other| other.copy.is_some());
        let left: Vec<_> = left.map(|other| other.name).collect();
        if out.options.member.is_none() && !out.options.arrays_only {
            source.losses.extend(not_copied(&left));
        }
    }
    let names: Vec<_> = chosen.iter().map(|(_, item)| item.name.as_str()).collect();
    let given = give_all(&names, source.others.iter().map(|other| other.name.as_str()));
    let mut planned = Vec::with_capacity(chosen.len());
    let mut renamed = HashMap::new();
    for ((index, item), given) in chosen.into_iter().zip(given) {
        let name = match out.to {
            ArrayFormat::Pack(_) => given,
            to if to.holds_many() => item.name.clone(),
            _ => name_of(out.path),
        };
        if matches!(out.to, ArrayFormat::Pack(_))
            && item.format == ArrayFormat::Ds
            && item.is_coordinate
        {
            // In a pack, a name with slashes is a path.
            let is_same = name == item.name && !name.contains('/');
            let path = if is_same { name.clone() } else { format!("/{name}") };
            renamed.insert(item.name.clone(), path);
        }
        planned.push(plan_one(index, item, name, out));
    }
    let known: HashSet<&str> = items.iter().map(|item| item.name.as_str()).collect();
    let arrays: HashSet<String> = planned.iter().map(|planned| planned.name.clone()).collect();
    for PlannedArray { item, converted, .. } in &mut planned {
        if out.to == ArrayFormat::Ds && item.format != ArrayFormat::Ds {
            name_by_path(item, &known);
        }
        let of = item.clone();
        let is_known = |name: &str| is_known(name, &of, (input, out), &arrays);
        converted.losses.extend(item.fix_extents(is_known));
        for extent in &mut item.description.shape {
            if let Extent::Coord(coordinate) = extent
                && let Some(name) = renamed.get(coordinate)
            {
                coordinate.clone_from(name);
            }
        }
    }
    if out.options.dimcoords {
        name_dimensions(&mut planned, out)?;
    }
    keep_stated(source, &mut planned);
    for PlannedArray { item, converted, .. } in &mut planned {
        let names = item.description.shape.iter().map(|extent| match extent {
            Extent::Coord(name) => name.clone(),
            _ => String::new(),
        });
        let is_coordinate = item.is_coordinate && item.description.shape.len() == 1;
        let own = is_coordinate.then(|| item.description.name.clone());
        let names: Vec<_> = own.map_or_else(|| names.collect(), |own| vec![own]);
        if names.iter().any(|name| !name.is_empty()) {
            converted.dimensions = names;
        }
    }
    Ok(planned)
}

/// Returns a sentence about files that are not copied.
pub(super) fn not_copied(others: &[impl AsRef<str>]) -> Option<String> {
    /// Maximum number of names in the sentence.
    const MOST: usize = 5;
    let names = listed(others.iter(), MOST, |name| format!("`{name}`"));
    (!others.is_empty()).then(|| format!("files without arrays are not copied: {names}"))
}

/// Turns arrays without a description into coordinates if they have the name of one, and names the dimensions of the
/// other arrays after them and after coordinates in an existing output directory.
fn name_dimensions(planned: &mut [PlannedArray], out: &Destination<'_>) -> Result<()> {
    let mut contents = match out.to {
        ArrayFormat::Pack(Container::Directory) if fs::exists(out.path) => {
            let options = out.options;
            survey(out.path, pipeline::jobs(options.jobs), &options.progress.silent())?.contents
        }
        _ => Contents::default(),
    };
    for PlannedArray { name, item, .. } in &*planned {
        let Some(header) = item.header.clone() else { continue };
        let facts = ArrayFacts { header: Ok(header), encoding: None, trailing: 0, data: Ok(()) };
        let path = MemberPath::new(format!("{name}.{ARRAY_EXTENSION}"))?;
        contents.add(path, Content::Array(Arc::new(facts)));
    }
    let convention = Convention::new(&contents);
    for PlannedArray { name, item, .. } in planned {
        if item.stated.is_some() || item.format == ArrayFormat::Ds || item.header.is_none() {
            continue;
        }
        let path = MemberPath::new(format!("{name}.{ARRAY_EXTENSION}"))?;
        if convention.is_coordinate(&path) {
            item.is_coordinate = true;
        } else {
            convention.name_extents(&path, &mut item.description);
        }
    }
    Ok(())
}

/// Drops descriptions that the conversion makes wrong. The description of the pack is kept if it is still correct for
/// all arrays.
fn keep_stated(source: &mut SourceArrays, planned: &mut [PlannedArray]) {
    let has_document = source.others.iter().any(|other| other.name == PACK_DOCUMENT);
    let mut is_pack_true = true;
    for PlannedArray { item, .. } in &mut *planned {
        let Some(stated) = &item.stated else { continue };
        let is_true = stated.description == item.description;
        is_pack_true &= is_true || !stated.is_in_pack;
        item.stated.take_if(|_| !is_true);
    }
    if has_document && !is_pack_true {
        source.others.retain(|other| other.name != PACK_DOCUMENT);
        source.losses.push(format!(
            "`{PACK_DOCUMENT}` is not copied: the conversion changed arrays that it describes"
        ));
    }
    if !has_document || !is_pack_true {
        for PlannedArray { item, .. } in planned {
            item.stated.take_if(|stated| stated.text.is_none());
        }
    }
}

/// Names coordinates by their paths in the pack. Without groups, the paths are their names.
fn name_by_path(item: &mut ArrayItem, known: &HashSet<&str>) {
    let group = group_of(&item.name);
    for extent in &mut item.description.shape {
        let Extent::Coord(name) = extent else { continue };
        let paths = pack::candidates(&group, name);
        let mut paths = paths.iter().map(|path| path.trim_start_matches('/'));
        *name = paths.find(|path| known.contains(path)).unwrap_or(stem(name)).to_owned();
    }
}

fn plan_one(index: usize, source: &ArrayItem, name: String, out: &Destination<'_>) -> PlannedArray {
    let to = out.to;
    let mut item = source.clone();
    let mut losses = std::mem::take(&mut item.losses);
    if !to.is_rawarray() && to != ArrayFormat::Ds && !item.shared.is_empty() {
        let names: Vec<_> = item.shared.iter().map(|attribute| attribute.name.as_str()).collect();
        losses.push(format!("the attributes of its group ({}) are lost", names.join(", ")));
    }
    let stated = item.stated.as_ref().filter(|_| item.is_foreign());
    let wanted = match (out.options.order, stated) {
        _ if to.is_row_only() => Order::Row,
        (Some(order), _) => order,
        (None, Some(stated)) => stated.description.order(),
        (None, None) if to.is_rawarray() && item.is_foreign() => Order::Column,
        (None, None) => item.description.order(),
    };
    let reverse = item.put_in(wanted);
    if to == ArrayFormat::Ds {
        item.description.name.clone_from(&name);
    } else if to.is_rawarray() {
        stem(&name).clone_into(&mut item.description.name);
    }
    let to_name = match to {
        ArrayFormat::Pack(_) if item.header.is_some() => format!("{name}.{ARRAY_EXTENSION}"),
        to if to.holds_many() => name.clone(),
        _ => out.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let converted = Converted {
        from: source.origin.clone(),
        renamed: to.holds_many() && name != source.name,
        to: to_name,
        element: item.header.as_ref().map(Header::element),
        shape: item.extents(),
        dimensions: Vec::new(),
        order: item.description.order(),
        reordered: reverse,
        verified: false,
        trailing: 0,
        losses,
    };
    let original = source.header.clone();
    PlannedArray { index, original, reverse, item, name, converted }
}
