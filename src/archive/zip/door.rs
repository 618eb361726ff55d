//! One member of a zip, found by its name and held to the rules that a pass over the whole zip holds it
//! to: of the directory everything is looked at, of the file only that member's own header.
//!
//! Whoever asks for one or two names reads the directory for each, in blocks, and keeps nothing of it;
//! with the third name it is kept, and an index of it. For whoever says what is asked for next, as one who opens a
//! pack does, a record of a large directory that is in order is found by halves, and this more often.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::super::names::{file_and_directory, twice};
use super::super::window::{SMALL, Window};
use super::super::{Location, Member, MemberKind};
use super::ZipArchive;
use super::agree::check_central;
use super::directory::Entry;
use super::index::Index;
use super::ordered;
use super::record::{CentralHeader, Fields};
use super::scan::Span;
use super::search::{Around, Sighting, search};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::File;

/// How often the directory is read for one name before it is worth an index.
const PASSES: usize = 2;
/// How often a record is looked for by halves before the index.
const SEARCHES: usize = 32;
/// How many names are remembered.
const REMEMBERED: usize = 16;

/// For how many threads at once neighbours are read together.
const WINDOWS: usize = 8;

thread_local! {
    /// Tells threads apart.
    static NUMBER: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

/// What is known of a zip's members from having looked for some.
#[derive(Debug)]
pub(super) struct Door {
    passes: AtomicUsize,
    searches: AtomicUsize,
    seen: Mutex<Vec<Seen>>,
    index: OnceLock<Option<Index>>,
    /// What of the file was read last, by one thread or another.
    windows: [Mutex<Window>; WINDOWS],
}

/// What the directory says of a name.
#[derive(Debug)]
struct Seen {
    name: String,
    sighting: Sighting,
    /// Whether all records were looked at for it.
    is_sure: bool,
}

impl Door {
    pub(super) fn new(file: &Arc<File>) -> Self {
        Self {
            passes: AtomicUsize::new(0),
            searches: AtomicUsize::new(0),
            seen: Mutex::new(Vec::new()),
            index: OnceLock::new(),
            windows: std::array::from_fn(|_| Mutex::new(Window::new(Arc::clone(file)))),
        }
    }

    /// The index, once there have been as many passes as it costs.
    fn index<'z>(&'z self, zip: &'z ZipArchive) -> Option<(&'z Index, &'z [u8])> {
        if self.passes.load(Ordering::Relaxed) < PASSES && !self.has_searched_enough() {
            return None;
        }
        // What forbids to read the directory, the pass that follows says.
        let directory = zip.directory().ok()?;
        let index = self.index.get_or_init(|| Index::new(zip, directory));
        index.as_ref().map(|index| (index, directory))
    }

    fn has_searched_enough(&self) -> bool {
        self.searches.load(Ordering::Relaxed) >= SEARCHES
    }

    pub(super) fn expect_many(&self) {
        self.searches.store(SEARCHES, Ordering::Relaxed);
    }

    fn remembered(&self, name: &str, must_be_sure: bool) -> Option<Sighting> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |seen: &&Seen| seen.name == name && (seen.is_sure || !must_be_sure);
        seen.iter().find(is_it).map(|seen| seen.sighting.clone())
    }

    /// Shows what was read last, and reads on from there, to `use_it`; a thread that would have to wait
    /// reads by itself.
    fn with_window<R>(&self, zip: &ZipArchive, use_it: impl FnOnce(&mut Window) -> R) -> R {
        let window = NUMBER.with(|number| self.windows.get(number % WINDOWS));
        match window.map(Mutex::try_lock) {
            Some(Ok(mut window)) => use_it(&mut window),
            _ => use_it(&mut Window::new(Arc::clone(&zip.file))),
        }
    }
}

/// Finds the member called `name`. What forbids to trust it is an error. The `others` are names that are
/// likely to be asked for next; in a large directory that is in order and ends with one of them, only the records
/// around the member are looked at.
pub(super) fn find(zip: &ZipArchive, name: &str, others: &[&str]) -> Result<Option<Member>> {
    if let Some((index, directory)) = zip.door.index(zip) {
        let Some(found) = index.find(directory, zip.end.directory_offset, name) else {
            return Ok(None);
        };
        if found.is_twice {
            return Err(Error::damaged(zip.path(), twice(name)));
        }
        let Some(header) = found.record.header() else { return Ok(None) };
        let in_it = || index.is_above(directory, name);
        return check(zip, name, &header, found.around, in_it).map(Some);
    }
    let sighting = match zip.door.remembered(name, others.is_empty()) {
        Some(sighting) => sighting,
        None => look(zip, name, others)?,
    };
    if sighting.is_twice {
        return Err(Error::damaged(zip.path(), twice(name)));
    }
    let Some(found) = sighting.found else { return Ok(None) };
    let Some(header) = CentralHeader::read(&mut Fields(&found.record)) else { return Ok(None) };
    check(zip, name, &header, found.around, || sighting.in_it).map(Some)
}

/// Looks into the directory for `name`, and for those of the `others` that are not remembered.
fn look(zip: &ZipArchive, name: &str, others: &[&str]) -> Result<Sighting> {
    let door = &zip.door;
    let is_large = zip.end.directory_len >= ordered::LARGE && !others.is_empty();
    let others = others.iter().copied().filter(|other| *other != name);
    let mut all: Vec<&str> = std::iter::once(name).chain(others).collect();
    if is_large && let Some(sightings) = ordered::find(zip, &all) {
        door.searches.fetch_add(1, Ordering::Relaxed);
        return Ok(remember(zip, &all, sightings, false));
    }
    all.retain(|other| *other == name || door.remembered(other, true).is_none());
    let sightings = search(zip, &all)?;
    door.passes.fetch_add(1, Ordering::Relaxed);
    Ok(remember(zip, &all, sightings, true))
}

/// Keeps what was seen, and gives the first of it.
fn remember(zip: &ZipArchive, names: &[&str], sightings: Vec<Sighting>, is_sure: bool) -> Sighting {
    let first = sightings.first().cloned().unwrap_or_default();
    let mut seen = zip.door.seen.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, sighting) in names.iter().zip(sightings) {
        let now = Seen { name: (*name).to_owned(), sighting, is_sure };
        if let Some(same) = seen.iter_mut().find(|seen| seen.name == *name) {
            if is_sure {
                *same = now;
            }
        } else if seen.len() < REMEMBERED {
            seen.push(now);
        }
    }
    first
}

/// Holds a member that was found against the rules.
fn check(
    zip: &ZipArchive,
    name: &str,
    header: &CentralHeader<'_>,
    around: Around,
    in_it: impl FnOnce() -> bool,
) -> Result<Member> {
    let damaged = |finding: Finding| Error::damaged(zip.path(), finding);
    let entry = Entry::new(header);
    if entry.member.kind == MemberKind::File && in_it() {
        return Err(damaged(file_and_directory(name)));
    }
    let mut findings = Vec::new();
    check_central(header, &entry, &mut findings);
    if around.reach > entry.local {
        findings.push(
            Finding::new(Code::Overlap, "another member reaches into this one")
                .in_member(name)
                .at_byte(entry.local)
                .hint("make the archive anew; the member was not read"),
        );
    }
    let end = around.next.min(zip.end.directory_offset);
    let span = Span { entry: &entry, end, directory: zip.end.directory_offset };
    let data = zip.door.with_window(zip, |window| {
        window.aim(entry.local, end, zip.end.directory_offset);
        span.check(window, &mut findings)
    })?;
    // Bytes that belong to nothing and follow the member are a fault of the zip, but none of the member.
    if let Some(finding) = findings.into_iter().find(Finding::forbids_reading) {
        return Err(damaged(finding));
    }
    let mut member = entry.member;
    if let Some(data) = data {
        member.location = Location::Packed { data, crc: entry.facts.crc };
    }
    Ok(member)
}

/// The packed bytes of a small member, which are often there already.
pub(super) fn small(zip: &ZipArchive, data: u64, length: u64) -> Result<Option<Vec<u8>>> {
    let Some(length) = usize::try_from(length).ok().filter(|_| length <= SMALL) else {
        return Ok(None);
    };
    zip.door.with_window(zip, |window| {
        window.aim_back(data, length);
        Ok(window.get(data, length)?.map(<[u8]>::to_vec))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::{Container, names};
    use super::super::by_hand::{Odd, zip_of};
    use super::super::{directory, search};
    use super::*;
    use crate::path::MemberPath;

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
        (name, proptest::collection::vec(any::<u8>(), 0..5), wrong(), wrong(), order()).prop_map(
            |(name, content, local, packed, order)| Odd {
                local,
                packed,
                order,
                ..Odd::new(name, content)
            },
        )
    }

    fn order() -> impl Strategy<Value = u8> {
        prop_oneof![10 => Just(0_u8), 1 => any::<u8>()]
    }

    const NAMES: [&str; 9] =
        ["a", "a/b", "b/c", "b", "Mü", "", "/", "a-long-name.ra", "a-long-name.ra/x"];

    proptest! {
        #[test]
        fn every_way_to_find_a_member_agrees(
            members in proptest::collection::vec(odd(), 0..12),
            claimed in prop_oneof![20 => Just(0_i64), 1 => -1_i64..1],
            broken in prop_oneof![9 => Just(None), 1 => proptest::option::of(any::<u8>())],
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("odd.zip");
            std::fs::write(&path, zip_of(&members, claimed, broken)).unwrap();
            let open = || ZipArchive::open(File::open(&path).unwrap());
            let Ok(indexed) = open() else { return Ok(()) };
            indexed.door.passes.store(PASSES, Ordering::Relaxed);
            let remembering = open().unwrap();
            let _ = remembering.find("another", &NAMES);
            let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
            names.extend(members.iter().filter_map(|odd| String::from_utf8(odd.name.clone()).ok()));
            for name in &names {
                let found = |zip: &ZipArchive| format!("{:?}", zip.find(name, &[]));
                let alone = found(&open().unwrap());
                prop_assert_eq!(&found(&indexed), &alone, "{}", name);
                prop_assert_eq!(&found(&remembering), &alone, "{}", name);
                // What a pass over the whole zip says against it forbids it here too.
                let scan =
                    indexed.scan(1, &|_, _| (), &|member, seen| (member, seen)).unwrap();
                let mut findings = scan.findings;
                let table = names::NameTable::new(scan.members.iter().map(|(member, _)| member.named()));
                names::check(&table, Container::Zip, &mut findings);
                let forbidden = findings
                    .iter()
                    .any(|finding| finding.member.as_ref() == Some(name) && finding.forbids_reading());
                if forbidden && MemberPath::new(name.as_str()).is_ok() {
                    prop_assert!(!alone.starts_with("Ok(Some"), "{} {:?}", alone, findings);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_search_by_several_threads_agrees_with_one(
            members in proptest::collection::vec(odd(), 0..30),
            broken in prop_oneof![9 => Just(None), 1 => proptest::option::of(any::<u8>())],
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 1..4),
            wrong in prop_oneof![5 => Just(0_u64), 1 => 0_u64..99],
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("odd.zip");
            std::fs::write(&path, zip_of(&members, 0, broken)).unwrap();
            let Ok(zip) = ZipArchive::open(File::open(&path).unwrap()) else { return Ok(()) };
            let end = zip.end.directory_offset + zip.end.directory_len;
            let mut records = Vec::new();
            let mut at = zip.end.directory_offset;
            let walked = directory::walk(&zip.file, at, zip.end.directory_len, |outline| {
                records.push(at);
                at += u64::try_from(outline.bytes.len()).unwrap();
                true
            });
            records.push(end);
            let mut starts: Vec<u64> = cuts.iter().map(|cut| cut.get(&records) + wrong).collect();
            starts.sort_unstable();
            for names in [&NAMES[..], &NAMES[..3], &["a"], &[""], &["b/c", "a-long-name.ra"]] {
                let whole = search::one_by_one(&zip, names);
                let parts = search::side_by_side(&zip, names, 2, &starts);
                match (&whole, &parts) {
                    (Ok(whole), Some(parts)) => {
                        prop_assert_eq!(format!("{whole:?}"), format!("{parts:?}"));
                    }
                    (_, None) => {
                        let is_doubled = whole.as_ref().is_ok_and(|pass| pass.is_doubled);
                        prop_assert!(walked.is_err() || wrong > 0 || is_doubled);
                    }
                    (Err(_), Some(_)) => prop_assert!(false, "{:?}", whole),
                }
            }
        }
    }

    #[test]
    fn the_index_is_used() {
        let members = ["a", "b", "b/c"].map(|name| Odd::new(name, [7; 3]));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("plain.zip");
        std::fs::write(&path, zip_of(&members, 0, None)).unwrap();
        let zip = ZipArchive::open(File::open(&path).unwrap()).unwrap();
        for name in ["x", "a"] {
            assert!(zip.door.index(&zip).is_none());
            zip.find(name, &[]).unwrap();
        }
        assert!(zip.door.index(&zip).is_some());
        assert!(zip.find("a", &[]).unwrap().is_some());
        assert!(zip.find("b", &[]).is_err(), "a file and a directory");
        assert!(zip.find("y", &[]).unwrap().is_none());
        // Neither is looked for again.
        assert_eq!(zip.door.passes.load(Ordering::Relaxed), PASSES);
    }
}
