//! One file found in a long manifest that is in the order of its paths, as every one that ra-pack writes, without
//! a look at all of it.
//!
//! What is read is held against the order; whatever does not fit is left to those who read the whole text.

use crate::bisect::{Probe, narrow};
use crate::digest::{Algorithm, Digest};
use crate::manifest::{NameEncoding, parse_line};
use crate::path::MemberPath;

/// What is read at a place to find a line: the end of one and all of the next.
const GLANCE: usize = 2 * 1024;
/// What is read of the text in the end, several lines before and behind that of the file.
const STRETCH: usize = 8 * 1024;
/// How near the line has to be for that.
const NEAR: u64 = 2 * 1024;

/// Gives the digest of a file from a text of `len` bytes, which `read` reads at a place. `None` when its line is
/// not found, when a line that was looked at is at fault or not in order, or when lines are very long.
///
/// # Errors
///
/// As `read`.
pub(crate) fn find<E>(
    algorithm: Algorithm,
    names: NameEncoding,
    len: u64,
    mut read: impl FnMut(&mut [u8], u64) -> Result<(), E>,
    path: &MemberPath,
) -> Result<Option<Digest>, E> {
    let mut buffer = [0; STRETCH];
    let mut is_sound = true;
    let from = narrow(0..len, NEAR, |at| {
        let text = read_some(&mut read, buffer.get_mut(..GLANCE).unwrap_or_default(), at, len)?;
        let Some((start, line)) = first_line(text) else { return Ok(None) };
        let Ok(Some((listed, _))) = parse_line(algorithm, names, line) else {
            is_sound = false;
            return Ok(None);
        };
        let start = at.saturating_add(wide(start));
        Ok(Some(Probe { start, is_before: listed < *path }))
    })?;
    if !is_sound {
        return Ok(None);
    }
    let text = read_some(&mut read, &mut buffer, from, len)?;
    let is_all = from.saturating_add(wide(text.len())) >= len;
    let Some(digest) = among(algorithm, names, text, is_all, path) else { return Ok(None) };
    // What somebody has added stands at the end.
    let tail = len.saturating_sub(wide(STRETCH)).max(from);
    let text = read_some(&mut read, &mut buffer, tail, len)?;
    let start =
        if tail > from { first_line(text).map_or(text.len(), |(start, _)| start) } else { 0 };
    let lines = text.get(start..).unwrap_or_default();
    Ok(are_in_order(algorithm, names, lines, path).then_some(digest))
}

/// Whether the lines that end a manifest are in order, and the last of them is not before that of a file.
fn are_in_order(
    algorithm: Algorithm,
    names: NameEncoding,
    lines: &[u8],
    path: &MemberPath,
) -> bool {
    let mut last: Option<MemberPath> = None;
    for line in lines.strip_suffix(b"\n").unwrap_or(lines).split(|byte| *byte == b'\n') {
        let Ok(Some((listed, _))) = parse_line(algorithm, names, line) else { return false };
        if last.is_some_and(|last| last >= listed) {
            return false;
        }
        last = Some(listed);
    }
    last.is_some_and(|last| last >= *path)
}

/// The digest of a file by the lines of a text, the last of which counts only when it ends or the text is `all`
/// there is.
fn among(
    algorithm: Algorithm,
    names: NameEncoding,
    text: &[u8],
    is_all: bool,
    path: &MemberPath,
) -> Option<Digest> {
    let mut before: Option<MemberPath> = None;
    let mut found = None;
    // Where lines end in another way, the whole text is read.
    if memchr::memchr(b'\r', text).is_some() {
        return None;
    }
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Some(content) = line.strip_suffix(b"\n").or(is_all.then_some(line)) else { break };
        let (listed, digest) = parse_line(algorithm, names, content).ok().flatten()?;
        if before.is_some_and(|before| before >= listed) {
            return None;
        }
        if listed == *path {
            found = Some(digest);
        } else if listed > *path {
            // The line behind has been seen too, and is about another file.
            return found;
        }
        before = Some(listed);
    }
    found.filter(|_| is_all)
}

/// What is there of the text from a place on, as much as the buffer holds.
fn read_some<'b, E>(
    read: &mut impl FnMut(&mut [u8], u64) -> Result<(), E>,
    buffer: &'b mut [u8],
    at: u64,
    len: u64,
) -> Result<&'b [u8], E> {
    let left = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX);
    let length = left.min(buffer.len());
    let text = buffer.get_mut(..length).unwrap_or_default();
    read(text, at)?;
    Ok(text)
}

/// The first line that begins in a text, and where, when all of it is there.
fn first_line(text: &[u8]) -> Option<(usize, &[u8])> {
    let start = memchr::memchr(b'\n', text)?.checked_add(1)?;
    let rest = text.get(start..)?;
    Some((start, rest.get(..memchr::memchr(b'\n', rest)?)?))
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::manifest::Manifest;

    fn found(text: &[u8], path: &MemberPath) -> Option<Digest> {
        let read = |buffer: &mut [u8], at: u64| {
            let at = usize::try_from(at).unwrap();
            buffer.copy_from_slice(&text[at..at + buffer.len()]);
            Ok::<_, ()>(())
        };
        let len = u64::try_from(text.len()).unwrap();
        find(Algorithm::Sha256, NameEncoding::Gnu, len, read, path).unwrap()
    }

    fn digest_of(text: &str) -> Digest {
        Digest::sha256(text.as_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_file_of_a_long_manifest_is_found(
            names in proptest::collection::btree_set("[a-c/\\\\\n é.]{1,9}", 0..400),
            other in "[a-c]{1,4}",
            damage in proptest::option::of((any::<proptest::sample::Index>(), any::<u8>())),
        ) {
            let paths = names.into_iter().filter_map(|name| MemberPath::new(name).ok());
            let listed: BTreeMap<_, _> =
                paths.map(|path| (path.clone(), digest_of(path.as_str()))).collect();
            let manifest = Manifest::new(Algorithm::Sha256, listed.clone());
            let mut text = manifest.to_text(NameEncoding::Gnu);
            for (path, digest) in &listed {
                prop_assert_eq!(found(&text, path), Some(*digest));
            }
            let other = MemberPath::new(other).unwrap();
            prop_assert_eq!(found(&text, &other), listed.get(&other).copied());
            let Some((at, byte)) = damage.filter(|_| !text.is_empty()) else { return Ok(()) };
            let at = at.index(text.len());
            text[at] = byte;
            // What is found is what some line says, whatever became of the others.
            for path in listed.keys() {
                if let Some(digest) = found(&text, path) {
                    let says = |line: &[u8]| {
                        let read = parse_line(Algorithm::Sha256, NameEncoding::Gnu, line);
                        read.ok().flatten().is_some_and(|line| line == (path.clone(), digest))
                    };
                    prop_assert!(text.split(|byte| *byte == b'\n').any(says));
                }
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..20_000)) {
            found(&bytes, &MemberPath::new("a").unwrap());
        }
    }

    #[test]
    fn what_is_not_in_order_is_left_to_others() {
        let line = |name: &str| format!("{}  {name}\n", digest_of(name));
        let path = |name: &str| MemberPath::new(name).unwrap();
        let text: String = ["a", "c", "b", "d"].map(line).concat();
        for name in ["a", "b", "c", "d"] {
            assert_eq!(found(text.as_bytes(), &path(name)), None, "{name}");
        }
        // Twice, one line behind the other.
        let text = format!("{}{}  b\n", line("b"), digest_of("other"));
        assert_eq!(found(text.as_bytes(), &path("b")), None);
        // Added at the end, far behind.
        let sound: String = (1000..3000).map(|number| line(&number.to_string())).collect();
        assert_eq!(found(sound.as_bytes(), &path("1500")), Some(digest_of("1500")));
        let text = format!("{sound}{}  1500\n", digest_of("other"));
        assert_eq!(found(text.as_bytes(), &path("1500")), None);
        // Comments stand in no order.
        assert_eq!(found(format!("# b\n{}", line("b")).as_bytes(), &path("b")), None);
        // A line longer than what is read.
        let long = format!("{}{}", line(&"a".repeat(2 * STRETCH)), line("b"));
        assert_eq!(found(long.as_bytes(), &path("b")), None);
    }
}
