//! Names looked for in the directory of a zip while it passes by.

use std::iter;
use std::ops::Range;

use super::super::names::twice;
use super::ZipArchive;
use super::directory::{self, plain_name, text_name};
use super::end::EndOfArchive;
use super::record::{CENTRAL_LEN, Outline};
use crate::error::{Error, Result};
use crate::parallel;

/// What the directory says of one name.
#[derive(Debug, Clone, Default)]
pub(super) struct Sighting {
    /// The member of that name.
    pub(super) found: Option<Found>,
    /// Whether two members have the name.
    pub(super) is_twice: bool,
    /// Whether a member lies in one of that name, as in a directory.
    pub(super) in_it: bool,
}

/// A member, and what lies around it.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Its record.
    pub(super) record: Vec<u8>,
    index: usize,
    local: u64,
    pub(super) around: Around,
}

impl Found {
    /// The member of a record, in a directory that is in the order of the file.
    pub(super) fn new(outline: &Outline<'_>, around: Around) -> Self {
        Self { record: outline.bytes.to_vec(), index: 0, local: outline.local, around }
    }
}

/// What of the directory lies around one member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// The furthest byte that a member before it reaches, by what the directory says.
    pub(super) reach: u64,
    /// Where the next member begins, or the directory.
    pub(super) next: u64,
}

/// A name that is looked for.
#[derive(Debug)]
struct Wanted<'n> {
    name: &'n str,
    sighting: Sighting,
}

/// What tells at a glance that the name of a record does not begin with one that is looked for.
#[derive(Debug, Clone, Copy)]
struct Glance {
    /// The last eight bytes of the name, or as many as it has.
    tail: u64,
    /// All ones for each that it has.
    mask: u64,
    /// Where they lie in a record.
    at: usize,
}

impl Glance {
    /// What no record has: it is the signature that stands there.
    const NEVER: Self = Self { tail: 0, mask: u64::MAX, at: 0 };

    fn new(name: &str) -> Self {
        let shift = |all: u64, byte: u8| (all >> 8) | (u64::from(byte) << 56);
        let add = |(tail, mask), byte| (shift(tail, byte), shift(mask, u8::MAX));
        let (tail, mask) = name.bytes().fold((0, 0), add);
        Self { tail, mask, at: CENTRAL_LEN.saturating_sub(8).saturating_add(name.len()) }
    }

    #[inline]
    fn fits(&self, record: &[u8]) -> bool {
        let tail = record.get(self.at..).and_then(<[u8]>::first_chunk);
        tail.is_some_and(|tail| u64::from_le_bytes(*tail) & self.mask == self.tail)
    }
}

/// The glances that are worth it: a record whose name begins with one of the names, byte by byte, fits one of
/// them. `None` when each record has to be looked at.
fn glances(names: &[&str]) -> Option<[Glance; 3]> {
    let mut glances = [Glance::NEVER; 3];
    // A name in the old code page is longer as text, and never the same bytes.
    if names.len() > glances.len() || !names.iter().all(|name| name.is_ascii()) {
        return None;
    }
    for (glance, name) in glances.iter_mut().zip(names) {
        *glance = Glance::new(name);
    }
    Some(glances)
}

/// A pass over a directory, or over some of its records that follow one another.
#[derive(Debug)]
pub(super) struct Pass<'n> {
    wanted: Vec<Wanted<'n>>,
    directory_offset: u64,
    count: usize,
    /// The furthest byte that a member reaches.
    reach: u64,
    /// Where the first and the last member begin.
    first: Option<u64>,
    before: Option<u64>,
    is_in_order: bool,
    /// Which name the last member has, if it is one of them.
    last: Option<usize>,
    /// Whether two members have the first name.
    pub(super) is_doubled: bool,
}

impl<'n> Pass<'n> {
    fn new(names: &[&'n str], directory_offset: u64) -> Self {
        let wanted = |name: &&'n str| Wanted { name, sighting: Sighting::default() };
        Self {
            wanted: names.iter().map(wanted).collect(),
            directory_offset,
            count: 0,
            reach: 0,
            first: None,
            before: None,
            is_in_order: true,
            last: None,
            is_doubled: false,
        }
    }

    /// Passes over the records from the start of `part` on, by way of `block`, to the last that begins in it or
    /// to the second of the first name. Gives where the next one lies.
    fn over(
        zip: &ZipArchive,
        names: &[&'n str],
        block: &mut Vec<u8>,
        part: Range<u64>,
    ) -> Result<(Self, u64)> {
        let EndOfArchive { directory_offset, directory_len, .. } = zip.end;
        let end = directory_offset.saturating_add(directory_len);
        let mut pass = Self::new(names, directory_offset);
        let glances = glances(names);
        // What changes with each record is kept at hand.
        let (mut count, mut reach, mut first, mut before) = (0_usize, 0_u64, None, None);
        let (mut is_in_order, mut was_it) = (true, false);
        let next = directory::walk_part(&zip.file, block, part, end, |outline| {
            is_in_order &= before.is_none_or(|before| before < outline.local);
            before = Some(outline.local);
            if count == 0 {
                first = before;
            }
            if was_it {
                pass.follow(outline.local);
                was_it = false;
            }
            let is_other = |glances: &[Glance; 3]| {
                !glances.iter().fold(false, |any, each| any | each.fits(outline.bytes))
            };
            if !glances.as_ref().is_some_and(is_other) || outline.name.first_chunk() == Some(b"./")
            {
                was_it = pass.compare(outline, count, reach);
            }
            reach = reach.max(outline.least_end());
            count = count.saturating_add(1);
            !pass.is_doubled
        })?;
        Ok((Self { count, reach, first, before, is_in_order, ..pass }, next))
    }

    /// Notes where the member behind the last one begins.
    fn follow(&mut self, local: u64) {
        if let Some(found) =
            self.last.take().and_then(|last| self.wanted.get_mut(last)?.sighting.found.as_mut())
        {
            found.around.next = local;
        }
    }

    /// Holds a record against the names; says whether it has one of them.
    #[cold]
    #[inline(never)]
    fn compare(&mut self, outline: &Outline<'_>, index: usize, reach: u64) -> bool {
        for (number, each) in self.wanted.iter_mut().enumerate() {
            each.sighting.in_it |= is_in(outline.name, each.name);
            if !is_called(outline.name, each.name) {
                continue;
            }
            each.sighting.is_twice |= each.sighting.found.is_some();
            self.is_doubled |= number == 0 && each.sighting.is_twice;
            let around = Around { reach, next: self.directory_offset };
            each.sighting.found = Some(Found { index, ..Found::new(outline, around) });
            self.last = Some(number);
        }
        self.last.is_some()
    }

    /// This pass and another over the records that follow, as one.
    fn followed_by(mut self, after: Self) -> Self {
        let Some(first) = after.first else { return self };
        self.is_in_order &= after.is_in_order && self.before.is_none_or(|before| before < first);
        self.follow(first);
        for (number, (each, later)) in self.wanted.iter_mut().zip(after.wanted).enumerate() {
            each.sighting.in_it |= later.sighting.in_it;
            each.sighting.is_twice |= later.sighting.is_twice;
            let Some(mut found) = later.sighting.found else { continue };
            each.sighting.is_twice |= each.sighting.found.is_some();
            self.is_doubled |= number == 0 && each.sighting.is_twice;
            found.index = found.index.saturating_add(self.count);
            found.around.reach = found.around.reach.max(self.reach);
            each.sighting.found = Some(found);
        }
        self.first = self.first.or(after.first);
        self.before = after.before;
        self.last = after.last;
        self.reach = self.reach.max(after.reach);
        self.count = self.count.saturating_add(after.count);
        self
    }
}

/// Reads the directory once and gives what it says of each name. That the first of them is there twice
/// is an error at once.
pub(super) fn search(zip: &ZipArchive, names: &[&str]) -> Result<Vec<Sighting>> {
    let EndOfArchive { directory_offset, directory_len, .. } = zip.end;
    let jobs = parallel::jobs_for(directory_len, SHARE);
    let parts = parallel::parts_for(jobs);
    let starts = directory::likely_starts(&zip.file, directory_offset, directory_len, parts);
    let pass = match side_by_side(zip, names, jobs, &starts) {
        Some(pass) => pass,
        None => one_by_one(zip, names)?,
    };
    let damaged = |finding| Error::damaged(zip.path(), finding);
    if let Some(name) = names.first().filter(|_| pass.is_doubled) {
        return Err(damaged(twice(name)));
    }
    if u64::try_from(pass.count).unwrap_or(u64::MAX) != zip.end.entries {
        return Err(damaged(super::scan::other_count(zip, pass.count)));
    }
    let mut wanted = pass.wanted;
    if !pass.is_in_order {
        look_around(zip, &mut wanted)?;
    }
    Ok(wanted.into_iter().map(|each| each.sighting).collect())
}

/// What of a directory is worth a thread: some thousands of records.
const SHARE: u64 = 768 * 1024;

/// Reads it on one thread.
pub(super) fn one_by_one<'n>(zip: &ZipArchive, names: &[&'n str]) -> Result<Pass<'n>> {
    let EndOfArchive { directory_offset, directory_len, .. } = zip.end;
    let end = directory_offset.saturating_add(directory_len);
    Pass::over(zip, names, &mut Vec::new(), directory_offset..end).map(|(pass, _)| pass)
}

/// The same by several threads, each from one of the `starts` on. `None` without any, when one of them proves
/// to be no beginning of a record, and when something is to be said against the directory or the first name:
/// the walk from the beginning says it.
pub(super) fn side_by_side<'n>(
    zip: &ZipArchive,
    names: &[&'n str],
    jobs: usize,
    starts: &[u64],
) -> Option<Pass<'n>> {
    if starts.is_empty() {
        return None;
    }
    let EndOfArchive { directory_offset, directory_len, .. } = zip.end;
    let end = directory_offset.saturating_add(directory_len);
    let starts: Vec<u64> = iter::once(directory_offset).chain(starts.iter().copied()).collect();
    let work = |block: &mut Vec<u8>, part: Range<usize>| {
        let start = *starts.get(part.start).ok_or(())?;
        let until = starts.get(part.end).copied().unwrap_or(end);
        let (pass, next) = Pass::over(zip, names, block, start..until).map_err(|_| ())?;
        // What the next thread says counts only when it began at a record.
        if next == until { Ok(pass) } else { Err(()) }
    };
    let passes = parallel::map_ranges(jobs, starts.len(), 1, Vec::new, work).ok()?;
    let pass = passes.into_iter().reduce(Pass::followed_by)?;
    (!pass.is_doubled).then_some(pass)
}

/// What lies around the members that were found, in a directory that is not in the order of the file.
fn look_around(zip: &ZipArchive, wanted: &mut [Wanted<'_>]) -> Result<()> {
    let mut found: Vec<&mut Found> =
        wanted.iter_mut().filter_map(|each| each.sighting.found.as_mut()).collect();
    for each in &mut found {
        each.around = Around { reach: 0, next: zip.end.directory_offset };
    }
    let mut count = 0_usize;
    let EndOfArchive { directory_offset, directory_len, .. } = zip.end;
    directory::walk(&zip.file, directory_offset, directory_len, |outline| {
        for each in found.iter_mut().filter(|each| each.index != count) {
            if outline.local < each.local {
                each.around.reach = each.around.reach.max(outline.least_end());
            } else {
                each.around.next = each.around.next.min(outline.local);
            }
        }
        count = count.saturating_add(1);
        true
    })
}

/// Whether a record's name is this one.
pub(super) fn is_called(raw: &[u8], name: &str) -> bool {
    let plain = plain_name(raw);
    let plain = plain.strip_suffix(b"/").unwrap_or(plain);
    plain == name.as_bytes()
        || (plain.len() < name.len()
            && std::str::from_utf8(plain).is_err()
            && text_name(raw) == name)
}

/// Whether the member lies in one called `name`, as in a directory.
fn is_in(raw: &[u8], name: &str) -> bool {
    let lies_in = |plain: &[u8]| {
        plain.get(name.len()) == Some(&b'/')
            && plain.len() > name.len().saturating_add(1)
            && plain.starts_with(name.as_bytes())
    };
    let plain = plain_name(raw);
    lies_in(plain)
        || (!name.is_ascii()
            && std::str::from_utf8(plain).is_err()
            && lies_in(text_name(raw).as_bytes()))
}
