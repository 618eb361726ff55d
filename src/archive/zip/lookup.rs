//! Lookup of one member of a zip by name. The checks are those of a complete scan: it reads all records of the
//! directory, but only the local header of that member.
//!
//! The directory is read once and indexed. A large directory that is sorted by name, as `create` writes it, is first
//! searched by binary search, which reads little of it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use memchr::memmem;

use super::super::data::Window;
use super::super::{Location, Member, MemberKind, file_and_directory, twice};
use super::ZipArchive;
use super::agree::{MemberSpan, check_central};
use super::record::{CENTRAL, CENTRAL_LEN, CentralHeader};
use super::scan::other_count;
use super::{Entry, text_name};
use crate::bisect::{Probe, narrow};
use crate::error::Result;
use crate::finding::{Code, Finding};

/// Maximum length of extra fields: sizes and offset of zip64, or times and owners of other tools. Comments are
/// longer.
const MAX_FIELDS: usize = 32;

/// Maximum number of generated files: the document of the pack and its manifest.
const MAX_GENERATED: usize = 2;

/// Number of binary searches after which an index is cheaper.
const SEARCHES: usize = 32;
/// Minimum size of a directory for binary search, about a thousand records. A smaller one is as cheap to index.
const SEARCHED_FROM: u64 = 64 * 1024;
/// Bytes read to find a record: the end of one, the complete next one, and the beginning of a third.
const PEEK: usize = 1024;
/// Bytes read at the end of the search: several records before and after that of the member.
const STRETCH: usize = 8 * 1024;
/// Distance of the record at which the search ends.
const NEAR: u64 = 2 * 1024;

/// Bytes read per member, enough for the headers of nearly all.
const HEADERS: u64 = 512;

/// Length of a beginning in bytes: the headers, or a description.
const START_BYTES: u64 = 16 * 1024;

/// Size up to which a member takes less time than another request.
const SMALL_MEMBER: u64 = 256 * 1024;

/// Finds the members of a zip by name.
#[derive(Debug, Default)]
pub(in crate::archive) struct NameLookup {
    searches: AtomicUsize,
    index: OnceLock<DirectoryIndex>,
}

/// The directory's values for an existing name.
#[derive(Debug)]
struct FoundRecord<'d> {
    record: CentralHeader<'d>,
    /// The maximum end offset of the members before this one, from the directory.
    reach: u64,
    /// Offset of the next member or of the directory.
    next: u64,
    /// Whether other members are inside this name, as in a directory.
    is_above: bool,
}

impl NameLookup {
    pub(in crate::archive) fn is_indexed(&self) -> bool {
        self.index.get().is_some()
    }

    fn index(&self, zip: &ZipArchive) -> Result<&DirectoryIndex> {
        match self.index.get() {
            Some(index) => Ok(index),
            None => DirectoryIndex::new(zip).map(|index| self.index.get_or_init(|| index)),
        }
    }
}

impl ZipArchive {
    /// Finds the member `name`. Anything that makes it ambiguous or unsafe to read is an error.
    pub(in crate::archive) fn find(&self, name: &str) -> Result<Option<Member>> {
        let found = self.lookup.index(self)?.find(self, name)?;
        found.map(|found| check(self, name, &found)).transpose()
    }

    /// Returns the bytes from the local header of the member `name` to the next one, and its packed size, if there is
    /// such a member. The local header is not read.
    pub(in crate::archive) fn range_of(&self, name: &str) -> Result<Option<(Range<u64>, u64)>> {
        let found = self.lookup.index(self)?.find(self, name)?;
        let range =
            found.map(|found| (found.record.local..found.next, found.record.facts.packed_size));
        Ok(range.filter(|(range, _)| range.start < range.end))
    }

    /// Returns the length of the lines of the members before `name`, as [`Archive::lines_before`](super::super::Archive)
    /// does.
    pub(in crate::archive) fn lines_before(
        &self,
        name: &str,
        (manifest, more): (&str, usize),
    ) -> Result<u64> {
        let (index, directory) = (self.lookup.index(self)?, self.directory()?);
        let (before, _) = index.by_name.split_at(index.first_from(directory, name));
        let names = before.iter().map(|at| name_at(directory, *at));
        let lines = names.filter(|name| name != manifest).map(|name| (name.len() + more) as u64);
        Ok(lines.fold(0, u64::saturating_add))
    }

    /// Requests the beginnings of these members at once, and all of those that are small, unless one of
    /// them is announced. Names that are not found are left out.
    pub(in crate::archive) fn fetch_starts(&self, names: &[String]) -> Result<()> {
        let mut starts = Vec::new();
        for name in names {
            if let Some(found) = self.lookup.index(self)?.find(self, name)? {
                let (start, next) = (found.record.local, found.next);
                if self.file.is_announced(start..next) {
                    return Ok(());
                }
                let is_small = next.saturating_sub(start) <= SMALL_MEMBER;
                starts.push(start..if is_small { next } else { start.saturating_add(START_BYTES) });
            }
        }
        starts.sort_by_key(|range| range.start);
        self.file.fetch(&starts, START_BYTES)
    }

    /// Finds the member `name` by binary search in a large sorted directory. The outer `None` means that the directory
    /// is not large, or that a record on the way is invalid or not sorted.
    ///
    /// Records that are not read may have the same name, or contain hidden records. Callers must check the content with
    /// a digest.
    #[expect(clippy::option_option, reason = "unknown differs from not found")]
    pub(super) fn find_bisecting(&self, name: &str) -> Result<Option<Option<Member>>> {
        let lookup = &self.lookup;
        // The whole directory may be one request, and each step of a search would be one.
        if self.file.costly_seek()
            || lookup.is_indexed()
            || self.end.directory_len < SEARCHED_FROM
            || lookup.searches.fetch_add(1, Ordering::Relaxed) >= SEARCHES
        {
            return Ok(None);
        }
        let mut buffers = [[0; STRETCH]; 2];
        let Some(found) = bisect(self, name, &mut buffers) else { return Ok(None) };
        Ok(Some(found.map(|found| check(self, name, &found)).transpose()?))
    }
}

/// Checks a found member.
fn check(zip: &ZipArchive, name: &str, found: &FoundRecord<'_>) -> Result<Member> {
    let entry = Entry::new(found.record);
    if entry.member.kind == MemberKind::File && found.is_above {
        return Err(zip.damaged(file_and_directory(name)));
    }
    let mut findings = Vec::new();
    check_central(&entry, &mut findings);
    if found.reach > entry.header.local {
        findings.push(
            Finding::new(Code::Overlap, "another member overlaps this one")
                .in_member(name)
                .at_byte(entry.header.local)
                .hint("make the archive again; the member was not read"),
        );
    }
    let directory = zip.end.directory_offset;
    let end = found.next.min(directory);
    let mut window = Window::new(Arc::clone(&zip.file));
    window.limit = entry.header.local.saturating_add(HEADERS).min(end);
    let data = MemberSpan { entry: &entry, end, directory }.check(&mut window, &mut findings)?;
    // Stray bytes after the member are an error of the zip, but not of the member.
    if let Some(finding) = findings.into_iter().find(Finding::forbids_reading) {
        return Err(zip.damaged(finding));
    }
    let mut member = entry.member;
    if let Some(data) = data {
        member.location = Location::Packed { data, crc: entry.header.facts.crc };
    }
    Ok(member)
}

/// An index of all records of a directory.
#[derive(Debug)]
struct DirectoryIndex {
    /// Offsets of the records in the directory, sorted by name.
    by_name: Vec<usize>,
    /// Locations of the members, sorted by offset in the file.
    places: Vec<MemberPlace>,
}

/// A member's location in the file.
#[derive(Debug, Clone, Copy)]
struct MemberPlace {
    local: u64,
    /// The maximum end offset of this member and those before it, from the directory.
    reach: u64,
}

impl DirectoryIndex {
    fn new(zip: &ZipArchive) -> Result<Self> {
        let directory = zip.directory()?;
        let (mut by_name, mut places) = (Vec::new(), Vec::new());
        for header in zip.headers()? {
            let (at, record) = header?;
            by_name.push(at);
            places.push(MemberPlace { local: record.local, reach: record.least_end() });
        }
        if by_name.len() as u64 != zip.end.entries {
            return Err(zip.damaged(other_count(zip, by_name.len())));
        }
        by_name.sort_by(|one, other| name_at(directory, *one).cmp(&name_at(directory, *other)));
        places.sort_by_key(|place| place.local);
        let mut reach = 0;
        for place in &mut places {
            reach = place.reach.max(reach);
            place.reach = reach;
        }
        Ok(Self { by_name, places })
    }

    /// Returns the member `name`. A name of two members is an error.
    fn find<'z>(&self, zip: &'z ZipArchive, name: &str) -> Result<Option<FoundRecord<'z>>> {
        let directory = zip.directory()?;
        let (_, from) = self.by_name.split_at(self.first_from(directory, name));
        let is_it = |at: &&usize| name_at(directory, **at) == name;
        let mut same = from.iter().take_while(is_it);
        let first = same.next().and_then(|at| CentralHeader::split(directory.get(*at..)?));
        let Some((record, _)) = first else { return Ok(None) };
        if same.next().is_some() {
            return Err(zip.damaged(twice(name)));
        }
        let below = format!("{name}/");
        let first_below = self.by_name.get(self.first_from(directory, &below));
        let first = self.places.partition_point(|place| place.local < record.local);
        let before = first.checked_sub(1).and_then(|last| self.places.get(last));
        // The next member may have the same offset.
        let next = self.places.get(first + 1);
        Ok(Some(FoundRecord {
            record,
            reach: before.map_or(0, |place| place.reach),
            next: next.map_or(zip.end.directory_offset, |place| place.local),
            is_above: first_below.is_some_and(|at| name_at(directory, *at).starts_with(&below)),
        }))
    }

    /// Returns the number of names before `name`.
    fn first_from(&self, directory: &[u8], name: &str) -> usize {
        self.by_name.partition_point(|at| &*name_at(directory, *at) < name)
    }
}

/// Returns the name of the record at an offset of the directory.
fn name_at(directory: &[u8], at: usize) -> Cow<'_, str> {
    let name = || {
        let (fixed, rest) = directory.get(at..)?.split_first_chunk::<CENTRAL_LEN>()?;
        rest.get(..usize::from(u16::from_le_bytes(*fixed.get(28..)?.first_chunk()?)))
    };
    text_name(name().unwrap_or_default())
}

/// Finds the record of a name by binary search. The outer `None` means the same as in [`ZipArchive::find_bisecting`].
#[expect(clippy::option_option, reason = "unknown differs from not found")]
fn bisect<'b>(
    zip: &ZipArchive,
    name: &str,
    [of_tail, buffer]: &'b mut [[u8; STRETCH]; 2],
) -> Option<Option<FoundRecord<'b>>> {
    let (ordered, tail) = Ordered::of(zip, of_tail)?;
    let found = ordered.find(name, buffer)?;
    let Some(at) = tail.iter().position(|record| record.name == name.as_bytes()) else {
        return Some(found.record);
    };
    let (before, from) = tail.split_at(at);
    let [record, after @ ..] = from else { return None };
    let record = *record;
    // The same name is in both parts.
    found.record.is_none().then(|| {
        Some(FoundRecord {
            record,
            reach: before.last().map_or(ordered.reach, CentralHeader::least_end),
            next: after.first().map_or(ordered.begin, |next| next.local),
            is_above: found.is_above,
        })
    })
}

/// The sorted records of a directory: all except the last, or except those of the files that `create` generates.
#[derive(Debug)]
struct Ordered<'z> {
    zip: &'z ZipArchive,
    /// Offsets of the beginning of the directory and of the end of these records.
    begin: u64,
    end: u64,
    /// The end offset of the last of these members, and the offset of the next one.
    reach: u64,
    after: u64,
}

/// The result for a name.
struct ByOrder<'b> {
    record: Option<FoundRecord<'b>>,
    is_above: bool,
}

impl<'z> Ordered<'z> {
    /// Returns the sorted records, and those after them.
    fn of<'b>(zip: &'z ZipArchive, buffer: &'b mut [u8]) -> Option<(Self, Vec<CentralHeader<'b>>)> {
        let begin = zip.end.directory_offset;
        let end = begin.checked_add(zip.end.directory_len)?;
        let from = end.saturating_sub(buffer.len() as u64).max(begin);
        let bytes = read(zip, buffer, from, end)?;
        let (mut records, rest) = records_in(bytes.get(first_record(bytes, true)?..)?);
        let count = records.windows(2).take_while(|pair| pair.is_sorted_by(follows)).count();
        let tail = records.split_off((count + 1).min(records.len().checked_sub(1)?));
        let is_in_place =
            records.iter().chain(&tail).is_sorted_by(|one, other| one.local < other.local);
        let is_twice = tail.windows(2).any(|pair| matches!(pair, [a, b] if key(a) == key(b)));
        if !rest.is_empty()
            || tail.len() > MAX_GENERATED
            || is_twice
            || !is_in_place
            || !records.iter().chain(&tail).all(is_plain)
        {
            return None;
        }
        let tail_len: usize = tail.iter().map(CentralHeader::len).sum();
        let this = Self {
            zip,
            begin,
            end: end.checked_sub(tail_len as u64)?,
            reach: records.last()?.least_end(),
            after: tail.first()?.local,
        };
        Some((this, tail))
    }

    /// Finds a name from the records around its position. Every record that is read must be sorted.
    fn find<'b>(&self, name: &str, buffer: &'b mut [u8]) -> Option<ByOrder<'b>> {
        let mut are_plain = true;
        let from = narrow(self.begin..self.end, NEAR, |at| {
            let peek = buffer.get_mut(..PEEK).ok_or(())?;
            let bytes = read(self.zip, peek, at, self.end).ok_or(())?;
            let Some(start) = first_record(bytes, false) else { return Ok(None) };
            let (record, _) = bytes.get(start..).and_then(CentralHeader::split).ok_or(())?;
            are_plain &= is_plain(&record);
            let start = at + start as u64;
            Ok::<_, ()>(Some(Probe { start, is_before: key(&record) < name.as_bytes() }))
        });
        let from = from.ok().filter(|_| are_plain)?;
        let bytes = read(self.zip, buffer, from, self.end)?;
        let (records, rest) = records_in(bytes);
        let is_end = from + bytes.len() as u64 >= self.end;
        let is_in_place = |one: &CentralHeader<'_>, other: &CentralHeader<'_>| {
            follows(one, other) && one.local < other.local
        };
        if (is_end && !rest.is_empty())
            || !records.iter().all(is_plain)
            || !records.is_sorted_by(is_in_place)
        {
            return None;
        }
        let first_from = |name: &[u8]| records.partition_point(|record| key(record) < name);
        let below = format!("{name}/");
        let (at, at_below) = (first_from(name.as_bytes()), first_from(below.as_bytes()));
        // The records must include one on each side.
        if (at == 0 && from != self.begin) || (at_below >= records.len() && !is_end) {
            return None;
        }
        let is_above =
            records.get(at_below).is_some_and(|next| key(next).starts_with(below.as_bytes()));
        let (before, from) = records.split_at(at);
        let record = match from {
            [record, after @ ..] if key(record) == name.as_bytes() => Some(FoundRecord {
                record: *record,
                reach: before.last().map_or(0, CentralHeader::least_end),
                next: after.first().map_or(self.after, |next| next.local),
                is_above,
            }),
            _ => None,
        };
        Some(ByOrder { record, is_above })
    }
}

/// Reads from an offset of a directory that ends at `end`, up to the length of the buffer.
fn read<'b>(zip: &ZipArchive, buffer: &'b mut [u8], at: u64, end: u64) -> Option<&'b [u8]> {
    let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
    let bytes = buffer.split_at_mut(left.min(buffer.len())).0;
    zip.file.read_exact_at(bytes, at).ok()?;
    Some(bytes)
}

/// Returns the offset of a probable record: another one, or the end of the directory, must follow it. A name may
/// contain bytes that look like a record.
fn first_record(bytes: &[u8], is_end: bool) -> Option<usize> {
    let signature = CENTRAL.to_le_bytes();
    let is_record = |at: &usize| {
        let record = bytes.get(*at..).and_then(CentralHeader::split);
        record
            .is_some_and(|(_, after)| after.starts_with(&signature) || (is_end && after.is_empty()))
    };
    memmem::find_iter(bytes, &signature).find(is_record)
}

/// Returns the records at the beginning of some bytes, and the rest.
fn records_in(bytes: &[u8]) -> (Vec<CentralHeader<'_>>, &[u8]) {
    let mut rest = bytes;
    let mut records = Vec::new();
    while let Some((record, after)) = CentralHeader::split(rest) {
        records.push(record);
        rest = after;
    }
    (records, rest)
}

/// Returns the sorting key of a record: its path. A directory's name ends with a slash.
fn key<'a>(record: &CentralHeader<'a>) -> &'a [u8] {
    record.name.strip_suffix(b"/").unwrap_or(record.name)
}

fn follows(one: &CentralHeader<'_>, other: &CentralHeader<'_>) -> bool {
    key(one) < key(other)
}

/// Returns whether the bytes of the name are those of the path, and the record is too small to hide another one.
fn is_plain(record: &CentralHeader<'_>) -> bool {
    record.extra.len() + record.comment.len() <= MAX_FIELDS
        && !record.name.starts_with(b"./")
        && std::str::from_utf8(record.name).is_ok()
        && memmem::find(record.name, &CENTRAL.to_le_bytes()).is_none()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::{Container, names};
    use super::super::record::MemberFacts;
    use super::super::write::{NewHeader, write_central, write_end, write_local};
    use super::*;
    use crate::fs::File;
    use crate::path::MemberPath;

    /// A stored member, possibly with a problem.
    #[derive(Debug, Clone)]
    struct Odd {
        name: Vec<u8>,
        content: Vec<u8>,
        /// Differences of the directory: of the offset and of the size.
        local: i64,
        packed: i64,
        /// Position of its record.
        order: u8,
    }

    impl Odd {
        /// Creates a member without a problem.
        fn new(name: impl Into<Vec<u8>>) -> Self {
            Self { name: name.into(), content: vec![7; 3], local: 0, packed: 0, order: 0 }
        }
    }

    /// Creates a zip of these members. It claims `claimed` additional ones, and one bit of its directory may be
    /// flipped.
    fn zip_of(members: &[Odd], claimed: i64, broken: Option<u8>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut records = Vec::new();
        for member in members {
            let size = member.content.len() as u64;
            let at = bytes.len() as u64;
            let facts = MemberFacts {
                version_needed: 20,
                flags: 0,
                method: 0,
                modified: 0,
                crc: crc32fast::hash(&member.content),
                packed_size: size,
                size,
            };
            let header =
                NewHeader { name: &member.name, facts, align: None, external_attributes: 0 };
            write_local(&mut bytes, &header, at);
            bytes.extend(&member.content);
            let facts =
                MemberFacts { packed_size: size.saturating_add_signed(member.packed), ..facts };
            let mut record = Vec::new();
            let header = NewHeader { facts, ..header };
            write_central(&mut record, &header, at.saturating_add_signed(member.local));
            records.push((member.order, record));
        }
        records.sort_by_key(|(order, _)| *order);
        let mut directory: Vec<u8> = records.into_iter().flat_map(|(_, record)| record).collect();
        if let Some(byte) = broken.and_then(|at| directory.get_mut(usize::from(at))) {
            *byte ^= 1;
        }
        let (offset, len) = (bytes.len() as u64, directory.len() as u64);
        bytes.extend(directory);
        write_end(&mut bytes, (members.len() as u64).saturating_add_signed(claimed), offset, len);
        bytes
    }

    fn opened(zip: &[u8]) -> Option<(tempfile::TempPath, ZipArchive)> {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        std::fs::write(&path, zip).unwrap();
        let zip = ZipArchive::open(File::open(path.to_path_buf()).unwrap()).ok()?;
        Some((path, zip))
    }

    fn odd() -> impl Strategy<Value = Odd> {
        let name = prop_oneof![
            6 => proptest::sample::select(NAMES.to_vec()).prop_map(|name| name.as_bytes().to_vec()),
            2 => proptest::sample::select(vec![
                &b"./a"[..], b"./", b"a/", b"b/c/", b"M\x81", b"./M\x81", b"M\x81/x", b"/", b"//", b"", b"/a",
                b"a//b", b"./b/c/d",
            ]).prop_map(<[u8]>::to_vec),
            4 => "[abcdefgh]{1,2}(/[xyz]{1,9})?".prop_map(String::into_bytes),
        ];
        let wrong = || prop_oneof![20 => Just(0_i64), 1 => -60_i64..60];
        let order = prop_oneof![10 => Just(0_u8), 1 => any::<u8>()];
        (name, proptest::collection::vec(any::<u8>(), 0..5), wrong(), wrong(), order).prop_map(
            |(name, content, local, packed, order)| Odd { name, content, local, packed, order },
        )
    }

    const NAMES: [&str; 9] =
        ["a", "a/b", "b/c", "b", "Mü", "", "/", "a-long-name.ra", "a-long-name.ra/x"];

    proptest! {
        #[test]
        fn a_scan_and_a_lookup_report_the_same_errors(
            members in proptest::collection::vec(odd(), 0..12),
            claimed in prop_oneof![20 => Just(0_i64), 1 => -1_i64..1],
            broken in prop_oneof![9 => Just(None), 1 => proptest::option::of(any::<u8>())],
        ) {
            let Some((_path, zip)) = opened(&zip_of(&members, claimed, broken)) else { return Ok(()) };
            let scan = zip.scan(1, &|member, _| member.clone()).unwrap();
            let mut findings = scan.findings;
            let table = names::NameTable::new(scan.members.iter().map(Member::named));
            names::check(&table, Container::Zip, &mut findings);
            let listed: Vec<_> = scan.members.iter().map(|member| &*member.name).collect();
            let is_whole = findings.iter().all(|finding| finding.code != Code::BadDirectory);
            for name in NAMES.into_iter().chain(listed.iter().copied()) {
                let found = zip.find(name);
                let is_there = listed.contains(&name);
                prop_assert!(!matches!(&found, Ok(Some(member)) if *member.name != *name));
                prop_assert!(!is_whole || is_there || name.is_empty() || matches!(found, Ok(None)), "{} {:?}", name, found);
                prop_assert!(!is_there || !matches!(found, Ok(None)), "{}", name);
                let forbids =
                    |finding: &Finding| finding.member.as_deref() == Some(name) && finding.forbids_reading();
                if findings.iter().any(forbids) && MemberPath::new(name).is_ok() {
                    prop_assert!(!matches!(found, Ok(Some(_))), "{:?} {:?}", found, findings);
                }
            }
        }
    }

    const LAST: &str = "manifest-sha256.txt";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn binary_search_and_index_find_the_same(
            names in proptest::collection::btree_set("([a-z]{1,2}/|manifest.yaml/)?[-. a-cx-zé]{1,30}", 1..600),
            other in "[-.a-z]{1,2}",
            broken in proptest::option::of((any::<proptest::sample::Index>(), any::<u8>())),
        ) {
            let made = ["manifest.yaml".to_owned(), LAST.to_owned()];
            let members: Vec<_> = names.iter().cloned().chain(made).map(Odd::new).collect();
            let mut bytes = zip_of(&members, 0, None);
            let is_broken = broken.is_some();
            let directory: usize = members.iter().map(|member| 46 + member.name.len()).sum();
            if let Some((at, byte)) = broken {
                let at = bytes.len() - 22 - directory + at.index(directory);
                bytes[at] = byte;
            }
            let Some((_path, zip)) = opened(&bytes) else { return Ok(()) };
            let index = (!is_broken).then(|| DirectoryIndex::new(&zip).unwrap());
            let asked = names.iter().map(String::as_str).chain(["manifest.yaml", LAST, &other]);
            for name in asked {
                let mut buffers = [[0; STRETCH]; 2];
                let some = bisect(&zip, name, &mut buffers);
                if let Some(index) = &index {
                    let all = index.find(&zip, name).unwrap();
                    prop_assert_eq!(format!("{:?}", some.unwrap()), format!("{all:?}"));
                    continue;
                }
                // Errors elsewhere in the directory are left to a complete scan.
                let Some(Some(found)) = some else { continue };
                prop_assert_eq!(key(&found.record), name.as_bytes());
            }
        }
    }

    #[test]
    fn an_unsorted_directory_is_left_to_the_index() {
        let is_found = |names: &[&str], wanted: &str| {
            let members: Vec<Odd> = names.iter().map(|name| Odd::new(*name)).collect();
            let (_path, zip) = opened(&zip_of(&members, 0, None)).unwrap();
            bisect(&zip, wanted, &mut [[0; STRETCH]; 2]).map(|found| found.is_some())
        };
        assert_eq!(is_found(&["a", "b", "c", LAST], "b"), Some(true));
        assert_eq!(is_found(&["a", "b/", "c", LAST], "b"), Some(true));
        assert_eq!(is_found(&["x", "y", "manifest.yaml", LAST], "manifest.yaml"), Some(true));
        assert_eq!(is_found(&["a", "c", LAST], "b"), Some(false));
        assert_eq!(is_found(&["a", "b", "c"], "b"), Some(true));
        assert_eq!(is_found(&["a", "c", "b", "d", LAST], "b"), None);
        assert_eq!(is_found(&["a", "b", "b", "c", LAST], "b"), None);
        assert_eq!(is_found(&["./a", "b", "c", LAST], "b"), None);
        assert_eq!(is_found(&["b", "a", "c", LAST, "x"], "b"), None);
        assert_eq!(is_found(&["a", "b", "c", "b", LAST], "b"), None);
        assert_eq!(is_found(&["a", "b", LAST, LAST], LAST), None);
        assert_eq!(is_found(&["a", "b", "./manifest-sha256.txt", LAST], "b"), None);
        assert_eq!(is_found(&["x", "y", "bagit.txt", "z", LAST], "y"), None);
    }

    #[test]
    fn binary_search_detects_an_overlapping_neighbour() {
        let mut members = ["a", "b", "c", LAST].map(Odd::new);
        members[0].packed = 99;
        let (_path, zip) = opened(&zip_of(&members, 0, None)).unwrap();
        let mut buffers = [[0; STRETCH]; 2];
        let found = bisect(&zip, "b", &mut buffers).unwrap().unwrap();
        assert!(found.reach > found.next);
        assert!(zip.find("b").is_err());
    }

    #[test]
    fn a_large_directory_uses_binary_search_until_an_index_is_cheaper() {
        let members: Vec<_> = (1000..3000).map(|number| Odd::new(format!("a{number}"))).collect();
        let (_path, zip) = opened(&zip_of(&members, 0, None)).unwrap();
        for _ in 0..SEARCHES {
            assert!(zip.find_by_order("a2000", true).unwrap().is_some());
            assert!(zip.lookup.index.get().is_none());
        }
        assert!(zip.find_by_order("a2000", true).unwrap().is_some());
        assert!(zip.lookup.index.get().is_some());
    }
}
