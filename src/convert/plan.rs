//! The plan of a conversion: the arrays, their names, the order of their elements, and their descriptions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use super::destination::Destination;
use super::format::ArrayFormat;
use super::item::{ArrayItem, Stated};
use super::names::{MAX_LISTED, give_all, name_of};
use super::report::Converted;
use super::source::{OtherFile, SourceArrays, is_wanted, no_such_array};
use crate::archive::Container;
use crate::describe::note_unordered;
use crate::error::{Error, Result};
use crate::fs;
use crate::message::{Message, listed};
use crate::ndl::{Extent, Order};
use crate::pack::{
    self, ARRAY_EXTENSION, ArrayFacts, Content, Contents, Convention, DESCRIPTION_EXTENSIONS,
    PACK_DOCUMENT,
};
use crate::path::{MemberPath, escape, escape_path, file_name};
use crate::pipeline;
use crate::ra::Header;
use crate::read::type_name;
use crate::write::survey::survey;

/// Maximum number of names in the sentence.
const MAX_NAMED: usize = 5;

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
    let path = escape_path(input);
    if items.is_empty() {
        let mut problems = vec!["contains no arrays to convert".to_owned()];
        problems.extend_from_slice(losses);
        return Err(Error::wrong_target(input, problems.join("; ")));
    }
    if out.to.holds_many() || items.len() == 1 {
        return Ok(all.collect());
    }
    let (to, count) = (out.to, items.len());
    let names = listed(items.iter().map(|item| escape(&item.name)), MAX_LISTED);
    let problem = format!("a .{to} contains one array, but `{path}` has {count}; choose one with ");
    let message = Message::from(problem).option(("member", "NAME"));
    Err(Error::options(message.text(format!(": {names}"))))
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
    let is_own = item.dimensions.iter().any(|(own, _)| own == name);
    match (item.format, out.to) {
        (_, to) if is_own => to.is_rawarray() || to == ArrayFormat::Ds,
        (format, ArrayFormat::Pack(_)) if format.names_dimensions() => !is_chosen,
        (_, ArrayFormat::Ds) => !is_chosen && out.from != ArrayFormat::Ra,
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
            && item.format.names_dimensions()
            && item.is_coordinate
        {
            renamed.insert(item.name.clone(), name.clone());
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
        converted.losses.extend(item.fix_extents(is_known).map(Message::from));
        for extent in &mut item.description.shape {
            if let Extent::Coord(coordinate) = extent
                && let Some(name) = renamed.get(coordinate)
            {
                // In a pack, a name with slashes is a path, and a group can have another coordinate of this name.
                let is_same = name == coordinate && !name.contains('/');
                let is_nearest = item.format == ArrayFormat::Ds || !item.name.contains('/');
                *coordinate = if is_same && is_nearest { name.clone() } else { format!("/{name}") };
            }
        }
    }
    if out.options.dimcoords {
        name_dimensions(&mut planned, source, out)?;
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
    let names = listed(others.iter().map(|name| format!("`{}`", escape(name.as_ref()))), MAX_NAMED);
    (!others.is_empty()).then(|| format!("files without arrays are not copied: {names}"))
}

/// Turns arrays without a description into coordinates if they have the name of one, and names the dimensions of the
/// other arrays after them and after coordinates in an existing output directory.
fn name_dimensions(
    planned: &mut [PlannedArray],
    source: &mut SourceArrays,
    out: &Destination<'_>,
) -> Result<()> {
    let mut contents = match out.to {
        ArrayFormat::Pack(Container::Directory) if fs::exists(out.path) => {
            let options = out.options;
            survey(out.path, pipeline::jobs(options.jobs), &options.progress.silent())?.contents
        }
        _ => Contents::default(),
    };
    for PlannedArray { name, item, .. } in &*planned {
        let Some(header) = item.header.clone() else { continue };
        let path = MemberPath::new(format!("{name}.{ARRAY_EXTENSION}"))?;
        contents.add(path, Content::Array(Arc::new(ArrayFacts::of_header(header))));
    }
    let is_plain = |item: &ArrayItem| {
        item.stated.is_none() && !item.format.names_dimensions() && item.header.is_some()
    };
    let unordered = note_unordered(&mut contents, |path, take| {
        let is_meant =
            |one: &&PlannedArray| one.name == path.without_extension() && is_plain(&one.item);
        // A single array has no others to name.
        let Some(array) = planned.iter().find(is_meant).filter(|_| planned.len() > 1) else {
            return;
        };
        let head = array.item.header.as_ref().map(Header::encode).unwrap_or_default();
        // An array that cannot be read is reported when it is converted.
        let _ = (source.give)(array.index, out.path, &mut |mut data, _| {
            take(&mut head.chain(data.reader()));
            Ok(())
        });
    });
    source
        .losses
        .extend(unordered.iter().map(|one| format!("{}; it is not a coordinate", one.message)));
    let convention = Convention::new(&contents);
    for PlannedArray { name, item, .. } in planned {
        if !is_plain(item) {
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
        *name = paths.find(|path| known.contains(path)).unwrap_or(file_name(name)).to_owned();
    }
}

fn plan_one(index: usize, source: &ArrayItem, name: String, out: &Destination<'_>) -> PlannedArray {
    let to = out.of_arrays();
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
        file_name(&name).clone_into(&mut item.description.name);
    }
    let to_name = match out.to {
        ArrayFormat::Pack(_) if item.header.is_some() => format!("{name}.{}", out.extension()),
        to if to.holds_many() => name.clone(),
        _ => out.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let datatype = &item.description.datatype;
    let element = item.header.as_ref().map(Header::element);
    let converted = Converted {
        from: source.origin.clone(),
        renamed: out.to.holds_many() && name != source.name,
        to: to_name,
        element,
        type_name: element
            .map_or("string".to_owned(), |element| type_name(element, Some(datatype))),
        shape: item.extents(),
        dimensions: Vec::new(),
        order: item.description.order(),
        reordered: reverse,
        verified: false,
        trailing: 0,
        losses: losses.into_iter().map(Message::from).collect(),
    };
    let original = source.header.clone();
    PlannedArray { index, original, reverse, item, name, converted }
}

impl Destination<'_> {
    /// Checks that existing files of a directory can be replaced and may be replaced.
    pub(super) fn check_names(&self, planned: &[PlannedArray], others: &[OtherFile]) -> Result<()> {
        let Self { path, to, options, .. } = *self;
        let name_of = |array: &PlannedArray| format!("{}.{}", array.name, self.extension());
        let written: HashSet<String> =
            planned.iter().filter(|_| self.single.is_some()).map(name_of).collect();
        if let Some(other) = others.iter().find(|other| written.contains(&other.name)) {
            let problem = format!(
                "an array and a file would both be `{}`; use ",
                escape_path(other.name.as_ref())
            );
            let message = Message::from(problem).option("arrays_only");
            return Err(Error::options(message.text(" to leave out the file")));
        }
        if to != ArrayFormat::Pack(Container::Directory) || !fs::exists(path) {
            return Ok(());
        }
        if !fs::is_directory(path)? {
            return Err(Error::wrong_target(
                path,
                "exists and is not a directory; choose another name",
            ));
        }
        let [first, second] = DESCRIPTION_EXTENSIONS;
        let ends = [self.extension(), first, second];
        // Only RawArray has descriptions.
        let ends = if self.single.is_some() { &ends[..1] } else { &ends[..] };
        let arrays = planned
            .iter()
            .flat_map(|planned| ends.iter().map(move |end| format!("{}.{end}", planned.name)));
        let others = others.iter().filter(|other| other.copy.is_some());
        let names: Vec<_> = arrays.chain(others.map(|other| other.name.clone())).collect();
        let parents: BTreeSet<_> =
            names.iter().filter_map(|name| Some(name.rsplit_once('/')?.0)).collect();
        if let Some(parent) = parents.into_iter().find(|parent| fs::is_blocked(path, parent)) {
            return Err(Error::wrong_target(
                parent,
                format!(
                    "cannot be created in `{}`: it exists and is not a directory",
                    escape_path(path)
                ),
            ));
        }
        let is_directory = |name: &&String| fs::is_directory(&path.join(name)).is_ok_and(|is| is);
        if let Some(name) = names.iter().find(is_directory) {
            return Err(Error::AlreadyExists { path: path.join(name) });
        }
        let is_there = |name: &&String| !options.force && fs::exists(&path.join(name));
        let there: Vec<_> = names.iter().filter(is_there).collect();
        match &there[..] {
            [] => Ok(()),
            [only] => Err(Error::AlreadyExists { path: path.join(only) }),
            all => {
                let problem = format!("{} files exist in `{}`; use ", all.len(), escape_path(path));
                let names =
                    listed(all.iter().map(|name| format!("`{}`", escape(name))), MAX_LISTED);
                let message = Message::from(problem).option("force");
                Err(Error::options(message.text(format!(" to replace them: {names}"))))
            }
        }
    }
}
