//! Members found in a large directory that is in the order of its names, as every one that ra-pack writes, without
//! a look at all of it.
//!
//! What is read is held against the order; whatever does not fit is left to the pass over all records. That records
//! which nobody looks at are out of order, or hold what looks like other records, stays unseen: who asks this way
//! holds the content against a digest.

use memchr::memmem;

use super::ZipArchive;
use super::directory::{CENTRAL_SIGNATURE, likely_start, wide};
use super::end::EndOfArchive;
use super::record::{CENTRAL_LEN, Outline};
use super::search::{Around, Found, Sighting};
use crate::bisect::{Probe, narrow};

/// Directories from this size on are worth it, which is some thousands of records; all of a smaller one is looked
/// at.
pub(super) const LARGE: u64 = 256 * 1024;

/// What is read at a place to find a record: the end of one, all of the next, and where that ends.
const PEEK: usize = 1024;
/// What is read of the directory in the end, several records before and behind that of the member.
const STRETCH: usize = 8 * 1024;
/// How near the record has to be for that.
const NEAR: u64 = 2 * 1024;

/// Says of each name what the directory says, when the first of them is there, and the directory ends with the
/// record of one of the others. `None` when it is not so, and when a record that was looked at is at fault or out of
/// order.
pub(super) fn find(zip: &ZipArchive, names: &[&str]) -> Option<Vec<Sighting>> {
    let mut buffer = [0; STRETCH];
    let (ordered, tail) = Ordered::of(zip, &mut buffer)?;
    let is_other =
        |last: &Outline<'_>| names.iter().skip(1).any(|name| last.name == name.as_bytes());
    if !tail.last().is_some_and(is_other) {
        return None;
    }
    let in_tail = |name: &str| {
        let at = tail.iter().position(|outline| outline.name == name.as_bytes())?;
        let before = at.checked_sub(1).and_then(|before| tail.get(before));
        let reach = before.map_or(ordered.reach, Outline::least_end);
        let next = tail.get(at.saturating_add(1)).map_or(ordered.begin, |next| next.local);
        let found = Found::new(tail.get(at)?, Around { reach, next });
        Some(Sighting { found: Some(found), ..Sighting::default() })
    };
    let sight = |name: &&str| {
        let in_order = ordered.sight(name)?;
        match in_tail(name) {
            // The same name in both.
            Some(_) if in_order.found.is_some() => None,
            Some(sighting) => Some(Sighting { in_it: in_order.in_it, ..sighting }),
            None => Some(in_order),
        }
    };
    let sightings: Option<Vec<Sighting>> = names.iter().map(sight).collect();
    sightings.filter(|sightings| sightings.first().is_some_and(|first| first.found.is_some()))
}

/// The records of a directory that are in the order of their names: all, or all but those of what `create` makes
/// itself.
#[derive(Debug)]
struct Ordered<'z> {
    zip: &'z ZipArchive,
    /// Where the directory begins, and where these records end.
    begin: u64,
    end: u64,
    /// The byte that the last member of these reaches, and where the one behind it begins.
    reach: u64,
    after: u64,
}

impl<'z> Ordered<'z> {
    /// What is in order, and the records behind it.
    fn of<'b>(zip: &'z ZipArchive, buffer: &'b mut [u8]) -> Option<(Self, Vec<Outline<'b>>)> {
        /// The document of a pack, and its manifest.
        const MOST: usize = 2;
        let EndOfArchive { directory_offset: begin, directory_len, .. } = zip.end;
        let end = begin.checked_add(directory_len)?;
        let from = end.saturating_sub(wide(buffer.len())).max(begin);
        let bytes = read(zip, buffer, from, end)?;
        let (mut records, rest) = records_in(bytes.get(likely_start(bytes, true)?..)?);
        if !rest.is_empty() {
            return None;
        }
        let follows = |pair: &[Outline<'_>]| match pair {
            [one, other] => key(one) < key(other),
            _ => false,
        };
        let count = records.windows(2).take_while(|pair| follows(pair)).count().saturating_add(1);
        let tail = records.split_off(count.min(records.len().saturating_sub(1)));
        let is_in_place =
            records.iter().chain(&tail).is_sorted_by(|one, other| one.local < other.local);
        let is_twice = matches!(&tail[..], [one, other] if key(one) == key(other));
        if tail.len() > MOST
            || is_twice
            || !is_in_place
            || !records.iter().chain(&tail).all(is_plain)
        {
            return None;
        }
        let behind: usize = tail.iter().map(|outline| outline.bytes.len()).sum();
        let this = Self {
            zip,
            begin,
            end: end.checked_sub(wide(behind))?,
            reach: records.last()?.least_end(),
            after: tail.first()?.local,
        };
        Some((this, tail))
    }

    /// What they say of one name, by those that stand around it.
    fn sight(&self, name: &str) -> Option<Sighting> {
        let mut buffer = [0; STRETCH];
        let mut is_sound = true;
        let from = narrow(self.begin..self.end, NEAR, |at| {
            let peek = buffer.get_mut(..PEEK).ok_or(())?;
            let bytes = read(self.zip, peek, at, self.end).ok_or(())?;
            let Some(start) = likely_start(bytes, false) else { return Ok(None) };
            let (outline, _) = bytes.get(start..).and_then(Outline::read).ok_or(())?;
            is_sound &= is_plain(&outline);
            let start = at.saturating_add(wide(start));
            Ok::<_, ()>(Some(Probe { start, is_before: key(&outline) < name.as_bytes() }))
        });
        let from = from.ok().filter(|_| is_sound)?;
        let bytes = read(self.zip, &mut buffer, from, self.end)?;
        self.among(bytes, from, name)
    }

    /// The same by the records in these bytes, which stand in the directory from a place on. All of them are held
    /// against the order.
    fn among(&self, bytes: &[u8], from: u64, name: &str) -> Option<Sighting> {
        let (records, rest) = records_in(bytes);
        let is_end = from.saturating_add(wide(bytes.len())) >= self.end;
        let is_whole = rest.is_empty() || !is_end;
        let follows = |one: &Outline<'_>, other: &Outline<'_>| {
            key(one) < key(other) && one.local < other.local
        };
        if !is_whole || !records.iter().all(is_plain) || !records.is_sorted_by(follows) {
            return None;
        }
        let first_from = |name: &[u8]| records.partition_point(|record| key(record) < name);
        let at = first_from(name.as_bytes());
        let below = [name.as_bytes(), b"/"].concat();
        let in_it = first_from(&below);
        // The records on both sides have to be among them.
        if (at == 0 && from != self.begin) || (in_it >= records.len() && !is_end) {
            return None;
        }
        let record = records.get(at).filter(|record| key(record) == name.as_bytes());
        let found = record.map(|record| {
            let before = at.checked_sub(1).and_then(|before| records.get(before));
            let next = records.get(at.saturating_add(1)).map_or(self.after, |next| next.local);
            Found::new(record, Around { reach: before.map_or(0, Outline::least_end), next })
        });
        let in_it = records.get(in_it).is_some_and(|record| key(record).starts_with(&below));
        Some(Sighting { found, is_twice: false, in_it })
    }
}

/// Reads a directory that ends at `end` from a place on: as much as the buffer holds, or as there is.
fn read<'b>(zip: &ZipArchive, buffer: &'b mut [u8], at: u64, end: u64) -> Option<&'b [u8]> {
    let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
    let length = left.min(buffer.len());
    let bytes = buffer.get_mut(..length)?;
    zip.file.read_exact_at(bytes, at).ok()?;
    Some(bytes)
}

/// The records that some bytes begin with, and what follows them.
fn records_in(bytes: &[u8]) -> (Vec<Outline<'_>>, &[u8]) {
    let mut rest = bytes;
    let mut records = Vec::new();
    while let Some((outline, after)) = Outline::read(rest) {
        records.push(outline);
        rest = after;
    }
    (records, rest)
}

/// What the records are in the order of: the path, which a directory's name ends with a slash.
fn key<'a>(outline: &Outline<'a>) -> &'a [u8] {
    outline.name.strip_suffix(b"/").unwrap_or(outline.name)
}

/// Whether the bytes of the name are those of the path, and no other record can stand in this one.
fn is_plain(outline: &Outline<'_>) -> bool {
    /// Sizes and offset of zip64, or times and owners of other tools; comments are longer.
    const MOST: usize = 32;
    let others = outline.bytes.len().saturating_sub(CENTRAL_LEN).saturating_sub(outline.name.len());
    others <= MOST
        && !outline.name.starts_with(b"./")
        && std::str::from_utf8(outline.name).is_ok()
        && memmem::find(outline.name, &CENTRAL_SIGNATURE).is_none()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::by_hand::{Odd, zip_of};
    use super::super::search::search;
    use super::*;
    use crate::fs::File;

    const LAST: &str = "manifest-sha256.txt";

    fn opened(zip: &[u8]) -> Option<(tempfile::TempPath, ZipArchive)> {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        std::fs::write(&path, zip).unwrap();
        let zip = ZipArchive::open(File::open(path.to_path_buf()).unwrap()).ok()?;
        Some((path, zip))
    }

    /// All that is said of a name, but for the number of its record.
    fn told(sightings: &[Sighting]) -> String {
        let told = |sighting: &Sighting| {
            let found = sighting.found.as_ref();
            let found = found.map(|found| (found.record.clone(), found.around));
            format!("{found:?} {} {}", sighting.is_twice, sighting.in_it)
        };
        sightings.iter().map(told).collect()
    }

    /// What stands in the order of names, and behind it what `create` makes.
    fn members(names: impl IntoIterator<Item = String>) -> Vec<Odd> {
        let made = ["manifest.yaml".to_owned(), LAST.to_owned()];
        names.into_iter().chain(made).map(|name| Odd::new(name, [7; 3])).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_found_is_what_a_pass_over_all_finds(
            names in proptest::collection::btree_set("([a-z]{1,2}/|manifest.yaml/)?[-. a-cx-zé]{1,30}", 1..600),
            other in "[-.a-z]{1,2}",
            broken in proptest::option::of((any::<proptest::sample::Index>(), any::<u8>())),
        ) {
            let members = members(names.clone());
            let mut bytes = zip_of(&members, 0, None);
            let is_broken = broken.is_some();
            let directory: usize = members.iter().map(|member| 46 + member.name.len()).sum();
            if let Some((at, byte)) = broken {
                let at = bytes.len() - 22 - directory + at.index(directory);
                bytes[at] = byte;
            }
            let Some((_path, zip)) = opened(&bytes) else { return Ok(()) };
            let asked = names.iter().map(String::as_str).chain(["manifest.yaml", LAST, &other]);
            for name in asked {
                let names = [name, LAST, "bagit.txt"];
                let (some, all) = (find(&zip, &names), search(&zip, &names));
                if !is_broken {
                    let all = all.unwrap();
                    prop_assert_eq!(some.is_some(), all[0].found.is_some(), "{}", name);
                    if let Some(some) = some {
                        prop_assert_eq!(told(&some), told(&all));
                    }
                    continue;
                }
                // Where the directory is at fault somewhere else, only the pass says so.
                let Some(some) = some else { continue };
                let found = some[0].found.as_ref().unwrap();
                let (record, _) = Outline::read(&found.record).unwrap();
                prop_assert_eq!(key(&record), name.as_bytes());
            }
        }
    }

    #[test]
    fn what_is_not_in_order_is_left_to_others() {
        let is_found = |names: &[&str], wanted: &str| {
            let members: Vec<Odd> = names.iter().map(|name| Odd::new(*name, [7; 3])).collect();
            let (_path, zip) = opened(&zip_of(&members, 0, None)).unwrap();
            find(&zip, &[wanted, LAST]).is_some()
        };
        assert!(is_found(&["a", "b", "c", LAST], "b"));
        assert!(is_found(&["a", "b/", "c", LAST], "b"));
        assert!(is_found(&["x", "y", "manifest.yaml", LAST], "manifest.yaml"));
        // Not what `create` made.
        assert!(!is_found(&["a", "b", "c"], "b"));
        assert!(!is_found(&["a", "c", "b", "d", LAST], "b"));
        assert!(!is_found(&["a", "b", "b", "c", LAST], "b"));
        assert!(!is_found(&["./a", "b", "c", LAST], "b"));
        assert!(!is_found(&["b", "a", "c", LAST, "x"], "b"));
        assert!(!is_found(&["a", "c", LAST], "b"));
        assert!(!is_found(&["a", "b", "c", "b", LAST], "b"));
        assert!(!is_found(&["a", "b", LAST, LAST], "b"));
        assert!(!is_found(&["a", "b", "./manifest-sha256.txt", LAST], "b"));
        assert!(!is_found(&["x", "y", "bagit.txt", "z", LAST], "y"));
    }

    #[test]
    fn what_overlaps_is_known_where_it_stands() {
        let mut members = members(["a", "b", "c"].map(str::to_owned));
        members[0].packed = 99;
        let (_path, zip) = opened(&zip_of(&members, 0, None)).unwrap();
        let found = find(&zip, &["b", LAST]).unwrap().swap_remove(0).found.unwrap();
        assert!(found.around.reach > found.around.next);
        assert!(zip.find("b", &[]).is_err());
    }
}
