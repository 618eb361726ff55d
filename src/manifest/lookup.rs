//! One file looked up in a manifest: by an index of all lines, or by bisection in a long one that is in the order of
//! its paths, as `create` writes it.

use memchr::memmem;

use super::line::{ManifestFault, ManifestFaultKind, NameEncoding, encode_name, parse_line};
use super::{Manifest, lines};
use crate::bisect::{Probe, narrow};
use crate::digest::{Algorithm, Digest};
use crate::path::MemberPath;

/// A manifest that was read, for looking up one file after the other.
#[derive(Debug)]
pub(crate) struct ManifestIndex {
    names: NameEncoding,
    manifest: Manifest,
    /// The faults that are errors, each with its line.
    faults: Vec<(ManifestFault, Vec<u8>)>,
}

impl ManifestIndex {
    pub(crate) fn new(algorithm: Algorithm, names: NameEncoding, text: &[u8]) -> Self {
        let (manifest, mut found) = Manifest::parse(algorithm, names, text);
        found.retain(|fault| !fault.is_warning());
        let mut faults = Vec::new();
        let mut found = found.into_iter().peekable();
        for (number, line) in (1..).zip(lines(text)) {
            while let Some(fault) = found.next_if(|fault| fault.line == number) {
                faults.push((fault, line.to_vec()));
            }
            if found.peek().is_none() {
                break;
            }
        }
        Self { names, manifest, faults }
    }

    /// The digest of a file.
    ///
    /// # Errors
    ///
    /// When a line that names the file is invalid, or two give different digests.
    pub(crate) fn look_up(&self, path: &MemberPath) -> Result<Option<Digest>, ManifestFault> {
        let written = encode_name(self.names, path.as_str());
        let is_about = |(fault, line): &&(ManifestFault, Vec<u8>)| match &fault.kind {
            ManifestFaultKind::Conflict { path: other, .. } => other == path,
            ManifestFaultKind::TooMany => true,
            _ => memmem::find(line, written.as_bytes()).is_some(),
        };
        match self.faults.iter().find(is_about) {
            Some((fault, _)) => Err(fault.clone()),
            None => Ok(self.manifest.get(path.as_str()).map(|entry| entry.digest)),
        }
    }
}

/// Bytes read at a place to find a line: the end of one and all of the next.
const PEEK: usize = 2 * 1024;
/// Bytes read of the text in the end, several lines before and after that of the file.
const STRETCH: usize = 8 * 1024;
/// How near the line has to be for that.
const NEAR: u64 = 2 * 1024;

/// Finds the digest of a file in a text of `len` bytes, which `read` reads at a place. `None` if its line is not
/// found, if a line that was looked at is invalid or not in order, or if lines are very long: all lines are to be asked.
pub(crate) fn bisect(
    algorithm: Algorithm,
    len: u64,
    mut read: impl FnMut(&mut [u8], u64) -> Option<()>,
    path: &MemberPath,
) -> Option<Digest> {
    let mut buffer = [0; STRETCH];
    let from = narrow(0..len, NEAR, |at| {
        let text = read_some(&mut read, buffer.split_at_mut(PEEK).0, at, len).ok_or(())?;
        let Some((start, line)) = first_line(text) else { return Ok(None) };
        let (listed, _) = parse(algorithm, line).ok_or(())?;
        Ok::<_, ()>(Some(Probe { start: at + start as u64, is_before: listed < *path }))
    });
    let from = from.ok()?;
    let text = read_some(&mut read, &mut buffer, from, len)?;
    let is_all = from + text.len() as u64 >= len;
    let end = if is_all { text.len() } else { memchr::memrchr(b'\n', text)? };
    let near = in_order(algorithm, text.get(..end)?)?;
    let at = near.binary_search_by(|(listed, _)| listed.cmp(path)).ok()?;
    let (_, digest) = near.get(at)?;
    // The next line has to be seen too, and to be about another file.
    if at + 1 == near.len() && !is_all {
        return None;
    }
    // Lines that somebody has added are at the end.
    let tail = len.saturating_sub(STRETCH as u64).max(from);
    let text = read_some(&mut read, &mut buffer, tail, len)?;
    let start = if tail > from { first_line(text)?.0 } else { 0 };
    let last = in_order(algorithm, text.get(start..)?)?.pop();
    last.filter(|(last, _)| last >= path).map(|_| *digest)
}

/// A line of the kind that is in order.
fn parse(algorithm: Algorithm, line: &[u8]) -> Option<(MemberPath, Digest)> {
    // Where lines end in another way, all of them are read.
    let is_usual = !line.ends_with(b"\r");
    parse_line(algorithm, NameEncoding::Gnu, line).ok().flatten().filter(|_| is_usual)
}

/// Some lines, if they are in the order of their paths, and each path is there once.
fn in_order(algorithm: Algorithm, text: &[u8]) -> Option<Vec<(MemberPath, Digest)>> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = text.split(|byte| *byte == b'\n').map(|line| parse(algorithm, line));
    let lines: Vec<_> = lines.collect::<Option<_>>()?;
    lines.is_sorted_by(|(one, _), (other, _)| one < other).then_some(lines)
}

/// What is there of the text from a place on, as much as the buffer holds.
fn read_some<'b>(
    read: &mut impl FnMut(&mut [u8], u64) -> Option<()>,
    buffer: &'b mut [u8],
    at: u64,
    len: u64,
) -> Option<&'b [u8]> {
    let left = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX);
    let text = buffer.split_at_mut(left.min(buffer.len())).0;
    read(text, at)?;
    Some(text)
}

/// The first line that begins in a text, and where, when all of it is there.
fn first_line(text: &[u8]) -> Option<(usize, &[u8])> {
    let start = memchr::memchr(b'\n', text)? + 1;
    let rest = text.get(start..)?;
    Some((start, rest.get(..memchr::memchr(b'\n', rest)?)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const ENCODINGS: [NameEncoding; 3] =
        [NameEncoding::Gnu, NameEncoding::Percent, NameEncoding::Verbatim];

    fn found(text: &[u8], path: &MemberPath) -> Option<Digest> {
        let read = |buffer: &mut [u8], at: u64| {
            let at = usize::try_from(at).unwrap();
            buffer.copy_from_slice(&text[at..at + buffer.len()]);
            Some(())
        };
        bisect(Algorithm::Sha256, text.len() as u64, read, path)
    }

    fn digest_of(text: &str) -> Digest {
        Digest::sha256(text.as_bytes())
    }

    fn line(name: &str) -> String {
        format!("{}  {name}\n", digest_of(name))
    }

    fn path(name: &str) -> MemberPath {
        MemberPath::new(name).unwrap()
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
            let index = ManifestIndex::new(Algorithm::Sha256, NameEncoding::Gnu, &text);
            for (path, digest) in &listed {
                prop_assert_eq!(found(&text, path), Some(*digest));
                prop_assert_eq!(index.look_up(path), Ok(Some(*digest)));
            }
            let other = MemberPath::new(other).unwrap();
            prop_assert_eq!(found(&text, &other), listed.get(&other).copied());
            prop_assert_eq!(index.look_up(&other), Ok(listed.get(&other).copied()));
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
            found(&bytes, &path("a"));
            for names in ENCODINGS {
                let _ = ManifestIndex::new(Algorithm::Sha256, names, &bytes).look_up(&path("a"));
            }
        }
    }

    #[test]
    fn lines_that_are_not_in_order_are_left_to_the_index() {
        let text: String = ["a", "c", "b", "d"].map(line).concat();
        for name in ["a", "b", "c", "d"] {
            assert_eq!(found(text.as_bytes(), &path(name)), None, "{name}");
        }
        // Twice, one line after the other.
        let text = format!("{}{}  b\n", line("b"), digest_of("other"));
        assert_eq!(found(text.as_bytes(), &path("b")), None);
        // Added at the end, far from the others.
        let sound: String = (1000..3000).map(|number| line(&number.to_string())).collect();
        assert_eq!(found(sound.as_bytes(), &path("1500")), Some(digest_of("1500")));
        let text = format!("{sound}{}  1500\n", digest_of("other"));
        assert_eq!(found(text.as_bytes(), &path("1500")), None);
        // Comments have no order.
        assert_eq!(found(format!("# b\n{}", line("b")).as_bytes(), &path("b")), None);
        // Other line ends.
        assert_eq!(found(line("b").replace('\n', "\r\n").as_bytes(), &path("b")), None);
        // A line longer than what is read.
        let long = format!("{}{}", line(&"a".repeat(2 * STRETCH)), line("b"));
        assert_eq!(found(long.as_bytes(), &path("b")), None);
    }

    #[test]
    fn a_line_at_fault_counts_for_the_files_that_it_names() {
        let look_up = |text: &str, name: &str| {
            let index = ManifestIndex::new(Algorithm::Sha256, NameEncoding::Gnu, text.as_bytes());
            index.look_up(&path(name)).map_err(|fault| fault.line)
        };
        let text = format!("{}0123  run/b.ra\n{}", line("x"), line("run/b.ra"));
        assert_eq!(look_up(&text, "x"), Ok(Some(digest_of("x"))));
        assert_eq!(look_up(&text, "run/b.ra"), Err(2));
        assert_eq!(look_up(&text, "y"), Ok(None));
        // The other file of a contradiction has another name, though it ends alike.
        let text = format!("{0}{1}{2}  x/a\n{1}", line("x/a"), line("a"), digest_of("other"));
        assert_eq!(look_up(&text, "a"), Ok(Some(digest_of("a"))));
        assert_eq!(look_up(&text, "x/a"), Err(3));
        // A file that no tool reads, and a file that is no manifest.
        let text = format!("\u{feff}{}{}", line("x"), line("y"));
        assert_eq!(look_up(&text, "x"), Err(1));
        assert_eq!(look_up(&text, "y"), Ok(Some(digest_of("y"))));
        let text = "nonsense\n".repeat(2000) + &line("a");
        assert_eq!(look_up(&text, "a"), Err(1001));
    }
}
