//! Names looked for in the directory of a zip while it passes by.

use super::super::names::twice;
use super::ZipArchive;
use super::directory::{self, plain_name, text_name};
use super::record::Outline;
use crate::error::{Error, Result};

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

/// What of the directory lies around one member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// The furthest byte that a member before it reaches, by what the directory says.
    pub(super) reach: u64,
    /// Where the next member begins, or the directory.
    pub(super) next: u64,
}

/// A name that is looked for.
struct Wanted<'n> {
    name: &'n str,
    /// The first eight bytes of the name, and which of them there are.
    start: u64,
    mask: u64,
    sighting: Sighting,
}

impl<'n> Wanted<'n> {
    fn new(name: &'n str) -> Self {
        let (start, mask) = first_bytes(name.as_bytes());
        Self { name, start, mask, sighting: Sighting::default() }
    }
}

/// The first eight bytes as a number, and all ones for each that is there.
fn first_bytes(name: &[u8]) -> (u64, u64) {
    if let Some(start) = name.first_chunk() {
        return (u64::from_le_bytes(*start), u64::MAX);
    }
    let byte = |(at, byte): (u32, &u8)| (u64::from(*byte) << (8 * at), 0xff << (8 * at));
    (0..).zip(name).map(byte).fold((0, 0), |all, one| (all.0 | one.0, all.1 | one.1))
}

/// Reads the directory once and gives what it says of each name. That the first of them is there twice
/// is an error at once.
pub(super) fn search(zip: &ZipArchive, names: &[&str]) -> Result<Vec<Sighting>> {
    let mut wanted: Vec<Wanted<'_>> = names.iter().map(|name| Wanted::new(name)).collect();
    // A name in the old code page is longer as text, and never the same bytes.
    let is_ascii = names.iter().all(|name| name.is_ascii());
    let (mut count, mut reach, mut before) = (0_usize, 0_u64, None);
    let mut is_in_order = true;
    let mut last: Option<usize> = None;
    let mut is_doubled = false;
    walk(zip, |outline| {
        is_in_order &= before.is_none_or(|before| before < outline.local);
        before = Some(outline.local);
        if let Some(found) =
            last.take().and_then(|last| wanted.get_mut(last)?.sighting.found.as_mut())
        {
            found.around.next = outline.local;
        }
        let (start, _) = first_bytes(outline.name);
        let may_be_other = !is_ascii || start & 0xffff == u64::from(u16::from_le_bytes(*b"./"));
        for (number, each) in wanted.iter_mut().enumerate() {
            if start & each.mask != each.start && !may_be_other {
                continue;
            }
            each.sighting.in_it |= is_in(outline.name, each.name);
            if !is_called(outline.name, each.name) {
                continue;
            }
            each.sighting.is_twice |= each.sighting.found.is_some();
            is_doubled |= number == 0 && each.sighting.is_twice;
            each.sighting.found = Some(Found {
                record: outline.bytes.to_vec(),
                index: count,
                local: outline.local,
                around: Around { reach, next: zip.end.directory_offset },
            });
            last = Some(number);
        }
        reach = reach.max(outline.least_end());
        count = count.saturating_add(1);
        !is_doubled
    })?;
    let damaged = |finding| Error::damaged(zip.path(), finding);
    if let Some(name) = names.first().filter(|_| is_doubled) {
        return Err(damaged(twice(name)));
    }
    if u64::try_from(count).unwrap_or(u64::MAX) != zip.end.entries {
        return Err(damaged(super::scan::other_count(zip, count)));
    }
    if !is_in_order {
        look_around(zip, &mut wanted)?;
    }
    Ok(wanted.into_iter().map(|each| each.sighting).collect())
}

/// What lies around the members that were found, in a directory that is not in the order of the file.
fn look_around(zip: &ZipArchive, wanted: &mut [Wanted<'_>]) -> Result<()> {
    let mut found: Vec<&mut Found> =
        wanted.iter_mut().filter_map(|each| each.sighting.found.as_mut()).collect();
    for each in &mut found {
        each.around = Around { reach: 0, next: zip.end.directory_offset };
    }
    let mut count = 0_usize;
    walk(zip, |outline| {
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

fn walk(zip: &ZipArchive, visit: impl FnMut(&Outline<'_>) -> bool) -> Result<()> {
    directory::walk(&zip.file, zip.end.directory_offset, zip.end.directory_len, visit)
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
