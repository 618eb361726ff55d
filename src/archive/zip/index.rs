//! Where each member stands in the directory of a zip, for those who ask again and again.

use std::ops::Range;

use super::ZipArchive;
use super::directory::plain_name;
use super::record::Outline;
use super::search::{Around, is_called};
use crate::by_name::ByName;

/// The members of a directory by their names. It says of each what [`search`](super::search::search)
/// says; there is none of a directory that is at fault.
#[derive(Debug)]
pub(super) struct Index {
    /// Where the records begin.
    records: ByName,
    /// The names of the directories that members lie in, in order: where they stand in the directory.
    above: Vec<Range<u32>>,
    /// How the members lie in the file, where one may reach into another or the directory is in another
    /// order; `None` when each ends before the next begins.
    places: Option<Vec<Place>>,
}

/// A member's place in the file.
#[derive(Debug, Clone, Copy)]
struct Place {
    local: u64,
    /// The furthest byte that this one and those before it reach, by what the directory says.
    reach: u64,
}

/// What the index says of a name that is there.
#[derive(Debug)]
pub(super) struct Indexed<'d> {
    pub(super) record: Outline<'d>,
    pub(super) around: Around,
    pub(super) is_twice: bool,
}

impl Index {
    /// Reads the whole directory; `None` when it is at fault, or too odd to be worth an index.
    pub(super) fn new(zip: &ZipArchive, directory: &[u8]) -> Option<Self> {
        let entries = usize::try_from(zip.end.entries).ok()?;
        let mut this =
            Self { records: ByName::with_room(entries), above: Vec::new(), places: None };
        let mut rest = directory;
        let (mut count, mut reach, mut before) = (0_u64, 0, None);
        let mut is_tidy = true;
        let mut last_above = None;
        while !rest.is_empty() {
            let at = directory.len().saturating_sub(rest.len());
            let (record, after) = Outline::read(rest)?;
            rest = after;
            let plain = plain_name(record.name);
            let name = plain.strip_suffix(b"/").unwrap_or(plain);
            // A name in the old code page is another as text.
            if (!name.is_ascii() && std::str::from_utf8(name).is_err())
                || !this.records.note(name, at)
            {
                return None;
            }
            if let Some(above) = above(plain).filter(|above| last_above != Some(*above)) {
                let start = plain.as_ptr().addr().checked_sub(directory.as_ptr().addr())?;
                let end = start.checked_add(above.len())?;
                this.above.push(u32::try_from(start).ok()?..u32::try_from(end).ok()?);
                last_above = Some(above);
            }
            is_tidy &= reach <= record.local && before.is_none_or(|before| before < record.local);
            before = Some(record.local);
            reach = record.least_end();
            count = count.saturating_add(1);
        }
        if count != zip.end.entries {
            return None;
        }
        let name = |range: &Range<u32>| text(directory, range);
        if !this.above.is_sorted_by_key(name) {
            this.above.sort_by(|a, b| name(a).cmp(name(b)));
        }
        this.above.dedup_by(|a, b| name(a) == name(b));
        this.above.shrink_to_fit();
        if !is_tidy {
            this.places = Some(places(directory, entries));
        }
        Some(this)
    }

    /// The member called `name`.
    pub(super) fn find<'d>(
        &self,
        directory: &'d [u8],
        directory_offset: u64,
        name: &str,
    ) -> Option<Indexed<'d>> {
        let mut found: Option<Indexed<'d>> = None;
        for at in self.records.find(name.as_bytes()) {
            let Some((record, after)) = directory.get(at..).and_then(Outline::read) else {
                continue;
            };
            if !is_called(record.name, name) {
                continue;
            }
            if let Some(found) = &mut found {
                found.is_twice = true;
                continue;
            }
            let around = match &self.places {
                Some(places) => around(places, record.local, directory_offset),
                None => Around {
                    reach: 0,
                    next: Outline::read(after).map_or(directory_offset, |(next, _)| next.local),
                },
            };
            found = Some(Indexed { record, around, is_twice: false });
        }
        found
    }

    /// Whether a member lies in one called `name`, as in a directory.
    pub(super) fn is_above(&self, directory: &[u8], name: &str) -> bool {
        let name = name.as_bytes();
        let at = |above: &[u8]| self.above.partition_point(|range| text(directory, range) < above);
        let is_at = |at: usize, wanted: &dyn Fn(&[u8]) -> bool| {
            self.above.get(at).is_some_and(|range| wanted(text(directory, range)))
        };
        if is_at(at(name), &|above| above == name) {
            return true;
        }
        let mut below = name.to_vec();
        below.push(b'/');
        is_at(at(&below), &|above| above.starts_with(&below))
    }
}

fn text<'d>(directory: &'d [u8], range: &Range<u32>) -> &'d [u8] {
    let position = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
    directory.get(position(range.start)..position(range.end)).unwrap_or_default()
}

/// The directory that a member lies in, all of its name before the last slash that something follows.
fn above(plain: &[u8]) -> Option<&[u8]> {
    let (_, before) = plain.split_last()?;
    before.get(..memchr::memrchr(b'/', before)?)
}

fn places(directory: &[u8], entries: usize) -> Vec<Place> {
    let mut places = Vec::with_capacity(entries);
    let mut rest = directory;
    while let Some((record, after)) = Outline::read(rest) {
        places.push(Place { local: record.local, reach: record.least_end() });
        rest = after;
    }
    places.sort_by_key(|place| place.local);
    let mut reach = 0;
    for place in &mut places {
        reach = place.reach.max(reach);
        place.reach = reach;
    }
    places
}

/// What lies around the member that begins at `local`.
fn around(places: &[Place], local: u64, directory_offset: u64) -> Around {
    let first = places.partition_point(|place| place.local < local);
    let before = first.checked_sub(1).and_then(|last| places.get(last));
    // The next one may begin at the same place.
    let next = places.get(first.saturating_add(1));
    Around {
        reach: before.map_or(0, |place| place.reach),
        next: next.map_or(directory_offset, |place| place.local.min(directory_offset)),
    }
}
