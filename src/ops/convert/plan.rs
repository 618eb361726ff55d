//! Which arrays are converted, and what each will be: its name, the order of its elements, its description.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::{ArrayFormat, ConvertOptions, Converted, Destination};
use crate::error::{Error, Result};
use crate::fs;
use crate::interchange::{self, Variable};
use crate::ndl::{Attribute, Endian, Extent, Ndarray, Order, Storage};
use crate::pack::{self, ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS, PACK_DOCUMENT};
use crate::path::{MemberPath, escape, first_bytes};
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
    /// The attributes of its group.
    pub(super) shared: Vec<Attribute>,
    /// What the source says and nothing else here does, one sentence each.
    pub(super) losses: Vec<String>,
}

impl ArrayItem {
    /// An array of another format.
    pub(super) fn foreign(name: String, variable: Variable) -> Self {
        let Variable { header, description, losses } = variable;
        Self { header: Some(header), losses, ..Self::inline(name, description) }
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
        Ok(Self { header: Some(header), ..Self::inline(name, description) })
    }

    /// An array whose elements are all in its description.
    pub(super) fn inline(name: String, description: Ndarray) -> Self {
        let (shared, losses) = (Vec::new(), Vec::new());
        Self { name, header: None, description, is_coordinate: false, shared, losses }
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

    /// Names the extents along its axes by numbers; the loss of their names, when there are any.
    pub(super) fn fix_extents(&mut self) -> Option<String> {
        let extents = self.extents();
        let mut names = Vec::new();
        for (extent, length) in self.description.shape.iter_mut().zip(extents) {
            if let Extent::Coord(name) = extent {
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
const MAX_LISTED: usize = 20;

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
        return Err(Error::Unsupported(format!("there are no arrays in `{path}` to convert")));
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

/// Whether the names of coordinates mean something where the output will be.
fn carries_names(input: &Path, out: &Destination<'_>) -> bool {
    match (out.from, out.to) {
        _ if out.options.member.is_some() => false,
        (ArrayFormat::Ra, ArrayFormat::Ra) => fs::are_neighbours(input, out.path),
        (ArrayFormat::Pack(_) | ArrayFormat::Ds, ArrayFormat::Pack(_) | ArrayFormat::Ds) => true,
        _ => false,
    }
}

/// Plans what becomes of the items of a source.
pub(super) fn plan(
    items: &[ArrayItem],
    input: &Path,
    out: &Destination<'_>,
) -> Result<Vec<PlannedArray>> {
    let chosen = choose(items, input, out)?;
    let given = give_all(&chosen.iter().map(|(_, item)| item.name.as_str()).collect::<Vec<_>>());
    let mut planned = Vec::with_capacity(chosen.len());
    let mut renamed = HashMap::new();
    for ((index, item), given) in chosen.into_iter().zip(given) {
        let name = match out.to {
            ArrayFormat::Pack(_) => given,
            to if to.holds_many() => item.name.clone(),
            _ => name_of(out.path),
        };
        if matches!(out.to, ArrayFormat::Pack(_))
            && out.from == ArrayFormat::Ds
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
    let carries_names = carries_names(input, out);
    for PlannedArray { item, converted, .. } in &mut planned {
        if out.to == ArrayFormat::Ds && out.from != ArrayFormat::Ds {
            name_by_path(item, &known);
        }
        if !carries_names {
            converted.losses.extend(item.fix_extents());
        }
        for extent in &mut item.description.shape {
            if let Extent::Coord(coordinate) = extent
                && let Some(name) = renamed.get(coordinate)
            {
                coordinate.clone_from(name);
            }
        }
    }
    Ok(planned)
}

/// Calls coordinates by their paths in the pack: where there are no groups, those are their names.
fn name_by_path(item: &mut ArrayItem, known: &HashSet<&str>) {
    let group = match item.name.rsplit_once('/') {
        Some((group, _)) => format!("/{group}"),
        None => "/".to_owned(),
    };
    for extent in &mut item.description.shape {
        let Extent::Coord(name) = extent else { continue };
        let paths = pack::candidates(&group, name);
        let mut paths = paths.iter().map(|path| path.trim_start_matches('/'));
        *name = paths.find(|path| known.contains(path)).unwrap_or(stem(name)).to_owned();
    }
}

fn plan_one(index: usize, source: &ArrayItem, name: String, out: &Destination<'_>) -> PlannedArray {
    let Destination { from, to, .. } = *out;
    let mut item = source.clone();
    let mut losses = std::mem::take(&mut item.losses);
    if !to.is_rawarray() && to != ArrayFormat::Ds && !item.shared.is_empty() {
        let names: Vec<_> = item.shared.iter().map(|attribute| attribute.name.as_str()).collect();
        losses.push(format!("the attributes of its group ({}) are left out", names.join(", ")));
    }
    let wanted = match out.options.order {
        _ if to.is_row_only() => Order::Row,
        Some(order) => order,
        None if to.is_rawarray() && !from.is_rawarray() => Order::Column,
        None => item.description.order(),
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
        from: source.name.clone(),
        renamed: to.holds_many() && name != source.name,
        to: to_name,
        element: item.header.as_ref().map(Header::element),
        shape: item.extents(),
        order: item.description.order(),
        reordered: reverse,
        verified: false,
        trailing: 0,
        losses,
    };
    let original = source.header.clone();
    PlannedArray { index, original, reverse, item, name, converted }
}

/// Most bytes of a part of a name, so that an extension and a number fit into the 255 that most file
/// systems allow.
const MAX_PART: usize = 220;

/// Most bytes of a whole name: less than the longest path that systems take.
const MAX_NAME: usize = 2048;

/// The name of an array that has none.
pub(super) const NAMELESS: &str = "unnamed";

/// The names for the files of arrays that are called so, without extension and in the same order: `a/b/x` for
/// the array `x` of the group `/a/b`. Those that can stay have theirs before the others, so that no odd name
/// moves a sound one.
pub(super) fn give_all(names: &[&str]) -> Vec<String> {
    let mut given = FileNames::default();
    let mut all: Vec<_> =
        names.iter().map(|name| (sound(name) == *name).then(|| given.give(name))).collect();
    for (slot, name) in all.iter_mut().zip(names) {
        slot.get_or_insert_with(|| given.give(name));
    }
    all.into_iter().flatten().collect()
}

/// The names that were given out.
#[derive(Debug, Default)]
struct FileNames {
    files: HashSet<String>,
    /// What the files lie in.
    directories: HashSet<String>,
    /// The number to try next behind a name that was taken.
    next: HashMap<String, u64>,
}

impl FileNames {
    fn give(&mut self, name: &str) -> String {
        let mut sound = sound(name);
        if directories(&sound).any(|directory| self.files.contains(directory)) {
            // A file has the name of a directory that it would lie in.
            sound = shortened(&sound.replace('/', "_"));
        }
        let mut given = sound.clone();
        let mut number = self.next.get(&sound).copied().unwrap_or(2);
        while !self.is_free(&given) {
            given = format!("{sound}_{number}");
            number += 1;
        }
        self.next.insert(sound, number);
        self.files.extend(files(&given));
        self.directories.extend(directories(&given).map(str::to_owned));
        given
    }

    /// Whether a file and its description can have this name, and neither is the description of a whole
    /// pack.
    fn is_free(&self, name: &str) -> bool {
        files(name).iter().all(|file| {
            file != PACK_DOCUMENT
                && !self.files.contains(file)
                && !self.directories.contains(file)
                && MemberPath::new(file.as_str()).is_ok()
        }) && directories(name).all(|directory| !self.files.contains(directory))
    }
}

/// The files that an array takes.
fn files(name: &str) -> [String; 2] {
    [ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS[0]].map(|extension| format!("{name}.{extension}"))
}

/// The directories that it lies in.
fn directories(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| name.split_at(at).0)
}

/// The nearest name that a file may have.
fn sound(name: &str) -> String {
    let is_odd = |letter: char| letter == '\\' || letter.is_control();
    let parts = name.split('/').filter(|part| !part.is_empty()).map(|part| match part {
        "." | ".." => "_".repeat(part.len()),
        part => shortened(&part.replace(is_odd, "_")),
    });
    let mut sound = parts.collect::<Vec<_>>().join("/");
    if sound.len() > MAX_NAME {
        sound = shortened(&sound.replace('/', "_"));
    }
    if sound.is_empty() {
        NAMELESS.clone_into(&mut sound);
    }
    let is_drive =
        |bytes: &[u8]| matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic());
    if is_drive(sound.as_bytes()) {
        sound = sound.replacen(':', "_", 1);
    }
    sound
}

/// As much of a part of a name as a file system takes.
fn shortened(part: &str) -> String {
    first_bytes(part, MAX_PART).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_stay() {
        let mut names = FileNames::default();
        for name in ["x", "a/b/x", "a/x", "x.y", "Größe", "a b", "..x", "run1/manifest"] {
            assert_eq!(names.give(name), name);
        }
    }

    #[test]
    fn a_sound_name_stays_whatever_comes_before_it() {
        assert_eq!(
            give_all(&["a//b", "", "a/b", "unnamed"]),
            ["a/b_2", "unnamed_2", "a/b", "unnamed"]
        );
    }

    #[test]
    fn others_become_names_of_files_and_no_two_the_same() {
        let mut names = FileNames::default();
        for (name, given) in [
            ("", "unnamed"),
            ("/", "unnamed_2"),
            ("/etc/passwd", "etc/passwd"),
            ("../../x", "__/__/x"),
            ("./x", "_/x"),
            ("a\\b", "a_b"),
            ("a_b", "a_b_2"),
            ("c:x", "c_x"),
            ("a//b/", "a/b"),
            ("a/b", "a/b_2"),
            ("a\0b\n", "a_b_"),
            ("manifest", "manifest_2"),
            ("d.ra/x", "d.ra/x"),
            ("d", "d_2"),
            ("e", "e"),
            ("e.yaml/x", "e.yaml_x"),
        ] {
            assert_eq!(names.give(name), given, "{name:?}");
        }
        for long in ["x".repeat(70_000), "ab/".repeat(30_000)] {
            let (one, other) = (names.give(&long), names.give(&long));
            assert!(one != other && one.len() <= MAX_PART && other.len() <= 230);
        }
    }
}
