//! Matching of the members of two packs: by name, and then by content.

use std::collections::{HashMap, HashSet, VecDeque};

use super::side::PackSide;
use crate::digest::Digest;
use crate::inspect::select::Patterns;
use crate::pack::{self, ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS, PACK_DOCUMENT};
use crate::path;

/// A member: an array with the description next to it, or another file. Files are given by their numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) file: usize,
    pub(super) description: Option<usize>,
    pub(super) generated: bool,
}

/// A member of both packs, or of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) a: Option<Unit>,
    pub(super) b: Option<Unit>,
    pub(super) renamed: bool,
}

impl Unit {
    pub(super) fn files(&self) -> impl Iterator<Item = usize> + use<> {
        std::iter::once(self.file).chain(self.description)
    }
}

impl Pair {
    /// Returns the files that both packs have: the member itself, and its description.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let both = self.a.zip(self.b);
        let files = both.map(|(a, b)| (a.file, b.file));
        let descriptions = both.and_then(|(a, b)| a.description.zip(b.description));
        files.into_iter().chain(descriptions)
    }
}

/// Returns the members of a pack sorted by name. Generated files come after others with the same name.
fn units(side: &PackSide, patterns: &Patterns, generated: bool) -> Vec<Unit> {
    let mut units = Vec::new();
    for file in side.files() {
        let name = side.name(file);
        let is_generated = side.is_generated(file);
        if (is_generated && !generated) || array_beside(side, name).is_some() {
            continue;
        }
        let is_chosen = patterns.is_empty()
            || patterns.matches(name)
            || patterns.matches(side.whole_name(file));
        if is_chosen {
            let description = description_beside(side, name);
            units.push(Unit { file, description, generated: is_generated });
        }
    }
    units.sort_by_key(|unit| (side.name(unit.file), unit.generated));
    units
}

/// Returns the array that a description belongs to. If an array has two descriptions, only the first counts.
fn array_beside(side: &PackSide, name: &str) -> Option<usize> {
    if !pack::may_be_description(name) || name == PACK_DOCUMENT {
        return None;
    }
    let (stem, _) = name.rsplit_once('.')?;
    let array = format!("{stem}.{ARRAY_EXTENSION}");
    let first = description_beside(side, &array)?;
    (side.name(first) == name).then(|| side.find(&array))?
}

/// Returns the description next to an array.
fn description_beside(side: &PackSide, name: &str) -> Option<usize> {
    if !pack::is_array(name) {
        return None;
    }
    let (stem, _) = name.rsplit_once('.')?;
    let beside = DESCRIPTION_EXTENSIONS.iter().map(|extension| format!("{stem}.{extension}"));
    beside.into_iter().filter(|name| name != PACK_DOCUMENT).find_map(|name| side.find(&name))
}

/// Returns the members of both packs, matched by name.
pub(super) fn by_name(
    a: &PackSide,
    b: &PackSide,
    patterns: &Patterns,
    generated: bool,
) -> Vec<Pair> {
    let mut theirs = units(b, patterns, generated).into_iter().peekable();
    let mut pairs = Vec::new();
    for one in units(a, patterns, generated) {
        let name = (a.name(one.file), one.generated);
        let name_of = |other: &Unit| (b.name(other.file), other.generated);
        while let Some(other) = theirs.next_if(|other| name_of(other) < name) {
            pairs.push(Pair { a: None, b: Some(other), renamed: false });
        }
        let other = theirs.next_if(|other| name_of(other) == name);
        pairs.push(Pair { a: Some(one), b: other, renamed: false });
    }
    pairs.extend(theirs.map(|other| Pair { a: None, b: Some(other), renamed: false }));
    pairs
}

/// Returns the files of each pack that the other does not have by name, but with the same size.
pub(super) fn maybe_renamed(
    a: &PackSide,
    b: &PackSide,
    pairs: &[Pair],
) -> (Vec<usize>, Vec<usize>) {
    let alone = |side: &PackSide, unit: fn(&Pair) -> Option<Unit>| -> Vec<(usize, u64)> {
        let pairs = pairs.iter().filter(|pair| pair.a.is_some() != pair.b.is_some());
        let units = pairs.filter_map(unit).filter(|unit| !unit.generated);
        units.map(|unit| (unit.file, side.size(unit.file))).collect()
    };
    let (ours, theirs) = (alone(a, |pair| pair.a), alone(b, |pair| pair.b));
    let of_size = |files: &[(usize, u64)], others: &[(usize, u64)]| {
        let sizes: HashSet<u64> = others.iter().map(|(_, size)| *size).collect();
        let files = files.iter().filter(|(_, size)| *size > 0 && sizes.contains(size));
        files.map(|(file, _)| *file).collect()
    };
    (of_size(&ours, &theirs), of_size(&theirs, &ours))
}

/// The identity of a file independent of its name: whether it is an array, and its content.
type ContentKey = (bool, u64, Digest);

fn identity(side: &PackSide, unit: &Unit) -> Option<ContentKey> {
    let bytes = side.size(unit.file);
    let is_array = pack::is_array(side.name(unit.file));
    let digest = side.digest(unit.file)?;
    (bytes > 0 && !unit.generated).then_some((is_array, bytes, digest))
}

/// Returns what two members with the same content may have in common, the best first: the last part of the name, the
/// directory, or nothing.
fn likenesses(name: &str) -> [(u8, &str); 3] {
    let (above, last) = name.rsplit_once('/').unwrap_or(("", name));
    [(0, last), (1, above), (2, "")]
}

/// Joins members of one pack only that have the same content. If several match, the same last part of the name is
/// preferred, then the same directory, then the first name.
pub(super) fn join_renamed(a: &PackSide, b: &PackSide, pairs: &mut Vec<Pair>) {
    let mut removed: HashMap<(ContentKey, (u8, &str)), VecDeque<usize>> = HashMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        if let Pair { a: Some(unit), b: None, .. } = pair
            && let Some(key) = identity(a, unit)
        {
            for likeness in likenesses(a.name(unit.file)) {
                removed.entry((key, likeness)).or_default().push_back(at);
            }
        }
    }
    let mut joined = HashSet::new();
    for at in 0..pairs.len() {
        let Some(Pair { a: None, b: Some(unit), .. }) = pairs.get(at).copied() else { continue };
        let Some(key) = identity(b, &unit) else { continue };
        let from = likenesses(b.name(unit.file)).into_iter().find_map(|likeness| {
            let alike = removed.get_mut(&(key, likeness))?;
            // Each member is in three queues, so it may already be joined.
            std::iter::from_fn(|| alike.pop_front()).find(|from| joined.insert(*from))
        });
        let Some(from) = from else { continue };
        let origin = pairs.get(from).and_then(|pair| pair.a);
        if let Some(pair) = pairs.get_mut(at) {
            pair.a = origin;
            pair.renamed = true;
        }
    }
    let mut numbers = 0..;
    pairs.retain(|_| !numbers.next().is_some_and(|at| joined.contains(&at)));
}

/// Returns whether a member is an array according to its name.
pub(super) fn is_array(name: &str) -> bool {
    path::is_valid(name) && pack::is_array(name)
}
