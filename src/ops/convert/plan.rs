//! Which arrays are converted, and what each will be: its name, the order of its elements, its description.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::super::survey::survey;
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

/// One array of a source, before its elements are read.
#[derive(Debug, Clone)]
pub(super) struct ArrayItem {
    /// What it is called there: `a/b/x` for the array `x` of the group `/a/b`.
    pub(super) name: String,
    /// The header of its elements as they are given: decoded, in the order that the description states. None of
    /// an array whose elements are all in the description.
    pub(super) header: Option<Header>,
    /// Its order is column or row.
    pub(super) description: Ndarray,
    /// Whether others may name it in their shapes.
    pub(super) is_coordinate: bool,
    /// The format of the file that it is in.
    pub(super) format: ArrayFormat,
    /// What reports call it.
    pub(super) origin: String,
    /// The description that somebody gave it.
    pub(super) stated: Option<Stated>,
    /// The attributes of its group.
    pub(super) shared: Vec<Attribute>,
    /// What the source says and nothing else here does, one sentence each.
    pub(super) losses: Vec<String>,
}

/// A description in a document.
#[derive(Debug, Clone)]
pub(super) struct Stated {
    /// As the document has it, under the name of the array.
    pub(super) description: Ndarray,
    /// The text of the document next to the array; none for an entry in the document of the pack.
    pub(super) text: Option<String>,
    /// Names in its shape that the document itself defines.
    pub(super) coordinates: Vec<String>,
    /// Whether the document of the pack describes the array.
    pub(super) is_in_pack: bool,
}

impl ArrayItem {
    /// An array of another format.
    pub(super) fn foreign(format: ArrayFormat, name: String, variable: Variable) -> Self {
        let Variable { header, description, losses } = variable;
        Self { header: Some(header), losses, ..Self::inline(format, name, description) }
    }

    /// A RawArray with the header of its file. Whatever encodes its elements is taken away on the way; with
    /// `keep_endian` big-endian ones stay so.
    pub(super) fn rawarray(
        name: String,
        stored: &Header,
        description: Option<Ndarray>,
        keep_endian: bool,
    ) -> Result<Self> {
        // Elements stay big-endian when they are stored as they are, and mean something in that order.
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
        // Truth values of one byte are written as every implementation reads them.
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

    /// An array whose elements are all in its description.
    pub(super) fn inline(format: ArrayFormat, name: String, description: Ndarray) -> Self {
        let (shared, losses, stated) = <_>::default();
        let (origin, header, is_coordinate) = (name.clone(), None, false);
        Self { name, header, description, is_coordinate, format, origin, stated, shared, losses }
    }

    /// Whether it is in a format of others.
    fn is_foreign(&self) -> bool {
        !self.format.is_rawarray()
    }

    /// The extents in the order of indices.
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

    /// The array with its axes in `order`: its header and description say so. Whether elements have to move is
    /// the answer.
    pub(super) fn put_in(&mut self, order: Order) -> bool {
        let Some(header) = &mut self.header else { return false };
        if header.ndims() < 2 || self.description.order() == order {
            return false;
        }
        *header = header.reversed();
        set_order(&mut self.description, order);
        true
    }

    /// As a format takes it.
    pub(super) fn to_variable(&self) -> Result<Variable> {
        let Some(header) = self.header.clone() else {
            let source = interchange::FormatError::no_counterpart(
                "its elements are texts of different lengths, which stand in its description",
                "convert it to .ds or to a directory, or leave it out",
            );
            return Err(Error::Interchange { name: self.name.clone(), source });
        };
        Ok(Variable { header, description: self.description.clone(), losses: Vec::new() })
    }

    /// Names the extents along its axes by numbers, but for names that are `known`; the loss of the others, when there
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
        (!names.is_empty()).then(|| format!("the names of its axes ({names}) are left out"))
    }
}

/// The last part of a name.
pub(super) fn stem(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// States the order, and nothing else where nothing else is to be stated.
fn set_order(description: &mut Ndarray, order: Order) {
    let storage = Storage { order, ..description.storage.take().unwrap_or_default() };
    description.storage = (storage != Storage::default()).then_some(storage);
}

/// Names that a message lists at most.
pub(super) const MAX_LISTED: usize = 20;

/// One array that will be written.
pub(super) struct PlannedArray {
    /// Its place among the items of the source.
    pub(super) index: usize,
    /// The header of the elements as the source gives them; none where all of them are in the description.
    pub(super) original: Option<Header>,
    /// Whether its axes are reversed on the way.
    pub(super) reverse: bool,
    /// As it will be.
    pub(super) item: ArrayItem,
    /// What it will be called: the name of a file without extension, or a key.
    pub(super) name: String,
    pub(super) converted: Converted,
}

/// The arrays to convert, with their places.
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
        let mut said = vec![format!("there are no arrays in `{path}` to convert")];
        said.extend_from_slice(losses);
        return Err(Error::Unsupported(said.join("; ")));
    }
    if out.to.holds_many() || items.len() == 1 {
        return Ok(all.collect());
    }
    let (to, count) = (out.to, items.len());
    let names = listed(items.iter().map(|item| &item.name), MAX_LISTED, |name| name);
    Err(Error::Unsupported(format!(
        "a .{to} holds one array, and `{path}` has {count}; give the option `member: NAME`; there are: {names}"
    )))
}

/// Whether an array of this name is converted, by what was asked for.
pub(super) fn is_wanted(name: &str, options: &ConvertOptions) -> bool {
    let is_it = |member: &String| name == member || name == member_name(member);
    options.member.as_ref().is_none_or(is_it)
}

/// The error that says which arrays there are.
pub(super) fn no_such_array<'n>(
    input: &Path,
    member: &str,
    names: impl Iterator<Item = &'n String>,
) -> Error {
    let path = escape(&input.to_string_lossy()).to_string();
    let mut there_are = listed(names, MAX_LISTED, |name| name);
    if !there_are.is_empty() {
        there_are.insert_str(0, "; there are: ");
    }
    Error::Unsupported(format!("`{path}` holds no array `{}`{there_are}", escape(member)))
}

/// The name of the array in a file by itself, which is the file's.
pub(super) fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The name of an array as it is asked for: `run1/x.ra` and `/run1/x` are `run1/x`.
pub(super) fn member_name(member: &str) -> &str {
    let name = member.trim_start_matches('/');
    let end = name.strip_suffix(ARRAY_EXTENSION);
    end.and_then(|name| name.strip_suffix('.')).unwrap_or(name)
}

/// The first `most` names for a message, and how many more there are.
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

/// Whether the shape of an array in the output may name a coordinate. `arrays` are the names of those that are written.
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

/// The group of an array.
fn group_of(name: &str) -> String {
    match name.rsplit_once('/') {
        Some((group, _)) => format!("/{group}"),
        None => "/".to_owned(),
    }
}

/// Plans what becomes of the items of a source, and which of its other files are copied.
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
            source.losses.extend(left_behind(&left));
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
            // In a pack a name with slashes is a path.
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

/// The files of a pack besides arrays and their descriptions, in a sentence.
pub(super) fn left_behind(others: &[impl AsRef<str>]) -> Option<String> {
    /// Names that are listed at most.
    const MOST: usize = 5;
    let names = listed(others.iter(), MOST, |name| format!("`{name}`"));
    (!others.is_empty())
        .then(|| format!("files that are no arrays are left where they are: {names}"))
}

/// Makes coordinates of arrays that nobody described and that are called so, and names the dimensions of the others:
/// by these and by those of a directory that they are added to.
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

/// Forgets descriptions that would not be true any more. The document of the pack stays when it is true of all arrays.
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
            "`{PACK_DOCUMENT}` describes arrays that were changed on the way, and is left where it is"
        ));
    }
    if !has_document || !is_pack_true {
        for PlannedArray { item, .. } in planned {
            item.stated.take_if(|stated| stated.text.is_none());
        }
    }
}

/// Calls coordinates by their paths in the pack: where there are no groups, those are their names.
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
        losses.push(format!("the attributes of its group ({}) are left out", names.join(", ")));
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
