//! What a long manifest says, without all of its entries at once: one file, found as its text passes by or
//! again and again by an index, or one entry after the other.
//!
//! All tell only what is beyond doubt, and leave everything else to [`Manifest::look_up`], which reads
//! the text as it stands and says what is wrong with it.

use std::borrow::Cow;
use std::io::{self, BufRead, Read as _};

use memchr::arch::all::packedpair::HeuristicFrequencyRank;
use memchr::memmem::{self, Finder, FinderBuilder};

use crate::by_name::ByName;
use crate::digest::{Algorithm, Digest};
use crate::manifest::{
    MAX_LINE_BYTES, Manifest, ManifestFault, NameEncoding, encode_name, parse_line, part_to_search,
};
use crate::path::{MAX_PATH_BYTES, MemberPath};

/// There is more to say of a file than its digest; the whole text says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unclear;

/// Looks for one file in a manifest that passes by in blocks.
#[derive(Debug)]
pub(crate) struct Passing<'p> {
    algorithm: Algorithm,
    names: NameEncoding,
    path: &'p MemberPath,
    part: Finder<'p>,
    /// The beginning of a line that goes on in the next block.
    line: Vec<u8>,
    found: Option<Digest>,
    is_clear: bool,
}

impl<'p> Passing<'p> {
    pub(crate) fn new(algorithm: Algorithm, names: NameEncoding, path: &'p MemberPath) -> Self {
        let part = part_to_search(names, path.as_str());
        // A line end in a name, where nothing encodes it, takes two lines.
        let is_clear = !part.contains(&b'\n');
        let part = finder(part);
        Self { algorithm, names, path, part, line: Vec::new(), found: None, is_clear }
    }

    /// Takes what follows in the text.
    pub(crate) fn take(&mut self, block: &[u8]) {
        let Some(last) = memchr::memrchr(b'\n', block) else {
            // Longer than any line: at fault, and not to be kept.
            self.is_clear &= self.line.len().saturating_add(block.len()) <= MAX_LINE_BYTES;
            if self.is_clear {
                self.line.extend_from_slice(block);
            }
            return;
        };
        let (mut whole, rest) = block.split_at(last.saturating_add(1));
        if !self.line.is_empty() {
            let end = memchr::memchr(b'\n', whole).map_or(whole.len(), |at| at.saturating_add(1));
            let (first, others) = whole.split_at(end);
            let mut line = std::mem::take(&mut self.line);
            line.extend_from_slice(first);
            self.look_through(&line);
            line.clear();
            self.line = line;
            whole = others;
        }
        self.look_through(whole);
        self.line.extend_from_slice(rest);
    }

    /// Looks through whole lines.
    fn look_through(&mut self, lines: &[u8]) {
        let mut parsed = 0;
        for at in self.part.find_iter(lines) {
            if at < parsed {
                continue;
            }
            let (before, after) = lines.split_at(at);
            let start = memchr::memrchr(b'\n', before).map_or(0, |end| end.saturating_add(1));
            let end =
                memchr::memchr(b'\n', after).map_or(lines.len(), |end| at.saturating_add(end));
            parsed = end.saturating_add(1);
            let line = lines.get(start..end).unwrap_or_default();
            match parse_line(self.algorithm, self.names, without_return(line)) {
                Ok(Some((path, digest))) if path == *self.path => {
                    self.is_clear &= self.found.is_none_or(|found| found == digest);
                    self.found = Some(digest);
                }
                Ok(_) => {}
                Err(_) => self.is_clear = false,
            }
        }
    }

    /// What was taken here and what another took that follows in the text, as one. Unclear unless this ends with
    /// a line.
    pub(crate) fn followed_by(mut self, after: Self) -> Self {
        let agree = self.found.zip(after.found).is_none_or(|(found, later)| found == later);
        self.is_clear &= self.line.is_empty() && after.is_clear && agree;
        self.found = after.found.or(self.found);
        self.line = after.line;
        self
    }

    /// The digest that the text gives for the file.
    pub(crate) fn finish(mut self) -> Result<Option<Digest>, Unclear> {
        let last = std::mem::take(&mut self.line);
        self.look_through(&last);
        if self.is_clear { Ok(self.found) } else { Err(Unclear) }
    }
}

/// Looks for a part of a name by two of its bytes first. The letters of a name stand in most lines, and the
/// digits of a number in most digests, so these are a byte that no digest has and a digit.
fn finder(part: &[u8]) -> Finder<'_> {
    struct Rarest([u8; 2]);
    impl HeuristicFrequencyRank for Rarest {
        fn rank(&self, byte: u8) -> u8 {
            let place = self.0.iter().position(|rare| *rare == byte);
            place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
        }
    }
    let count = |byte: &&u8| memchr::memchr_iter(**byte, part).count();
    let letter = part.iter().filter(|byte| !byte.is_ascii_hexdigit()).min_by_key(count);
    // The first digits of a number change least from line to line.
    let first = |digit: u8| memchr::memchr(digit, part).map(|at| (at, digit));
    let digit = (b'0'..=b'9').filter_map(first).max();
    match letter.zip(digit) {
        Some((letter, (_, digit))) => {
            FinderBuilder::new().build_forward_with_ranker(Rarest([*letter, digit]), part)
        }
        None => Finder::new(part),
    }
}

/// Where each file stands in a manifest.
#[derive(Debug)]
pub(crate) struct ManifestIndex {
    algorithm: Algorithm,
    names: NameEncoding,
    lines: ByName,
    /// The lines at fault, any of which may be about any file.
    faulty: Vec<std::ops::Range<usize>>,
}

impl ManifestIndex {
    /// Reads all of a manifest; `None` when an index would be no help.
    pub(crate) fn new(algorithm: Algorithm, names: NameEncoding, text: &[u8]) -> Option<Self> {
        /// Lines at fault that are looked through for each file.
        const MAX_FAULTY: usize = 16;
        /// About as many bytes as the shortest lines have.
        const LINE: usize = 72;
        let lines = ByName::with_room(text.len() / LINE);
        let mut this = Self { algorithm, names, lines, faulty: Vec::new() };
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
            let range = start..end;
            start = end.saturating_add(1);
            let line = without_return(text.get(range.clone()).unwrap_or_default());
            let noted = match plain_name(algorithm, line) {
                Some(name) => this.lines.note(name, range.start),
                None => match parse_line(algorithm, names, line) {
                    Ok(Some((path, _))) => this.lines.note(path.as_str().as_bytes(), range.start),
                    Ok(None) => true,
                    Err(_) => {
                        this.faulty.push(range);
                        this.faulty.len() <= MAX_FAULTY
                    }
                },
            };
            if !noted {
                return None;
            }
        }
        Some(this)
    }

    /// As [`Manifest::look_up`] in the `text` that the index was made of.
    pub(crate) fn look_up(
        &self,
        text: &[u8],
        path: &MemberPath,
    ) -> Result<Option<Digest>, ManifestFault> {
        match self.listed(text, path) {
            Ok(digest) => Ok(digest),
            Err(Unclear) => Manifest::look_up(self.algorithm, self.names, text, path),
        }
    }

    fn listed(&self, text: &[u8], path: &MemberPath) -> Result<Option<Digest>, Unclear> {
        let written = encode_name(self.names, path.as_str());
        let is_about = |line: &[u8]| memmem::find(line, written.as_bytes()).is_some();
        // A line end in a name, where nothing encodes it, takes two lines.
        if matches!(written, Cow::Borrowed(name) if name.contains(['\n', '\r']))
            || self.faulty.iter().any(|range| text.get(range.clone()).is_none_or(is_about))
        {
            return Err(Unclear);
        }
        let mut found = None;
        for start in self.lines.find(path.as_str().as_bytes()) {
            let rest = text.get(start..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = without_return(rest.get(..end).unwrap_or_default());
            let (listed, digest) = match plain_name(self.algorithm, line) {
                Some(name) if name == path.as_str().as_bytes() => {
                    let digits = line.get(..self.algorithm.digest_len().saturating_mul(2));
                    let digest = digits.and_then(|digits| Digest::from_hex(self.algorithm, digits));
                    (true, digest.ok_or(Unclear)?)
                }
                Some(_) => continue,
                None => {
                    let read = parse_line(self.algorithm, self.names, line);
                    let (other, digest) = read.ok().flatten().ok_or(Unclear)?;
                    (other == *path, digest)
                }
            };
            if listed && found.replace(digest).is_some_and(|first| first != digest) {
                return Err(Unclear);
            }
        }
        Ok(found)
    }
}

/// Shows every entry of a manifest to `each`, when no line is at fault beyond a warning and the paths are in strict order, as in
/// all that ra-pack writes. Otherwise says no, and has shown some of them: there is more to say, which
/// [`Manifest::parse`] does.
///
/// # Errors
///
/// When the text cannot be read.
pub(crate) fn show_sorted(
    algorithm: Algorithm,
    names: NameEncoding,
    mut text: impl BufRead,
    mut each: impl FnMut(&MemberPath, &Digest),
) -> io::Result<bool> {
    /// No line that is sound is longer, with both bytes of its end.
    const LONGEST: usize = MAX_LINE_BYTES + 2;
    let longest = u64::try_from(LONGEST).unwrap_or(u64::MAX);
    let mut before: Option<MemberPath> = None;
    let mut line = Vec::new();
    while text.by_ref().take(longest).read_until(b'\n', &mut line)? > 0 {
        let content = line.strip_suffix(b"\n").unwrap_or(&line);
        match parse_line(algorithm, names, without_return(content)) {
            Ok(None) => {}
            Ok(Some((path, digest))) if before.as_ref().is_none_or(|before| *before < path) => {
                each(&path, &digest);
                before = Some(path);
            }
            _ => return Ok(false),
        }
        line.clear();
    }
    Ok(true)
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The name in a line of the form that nearly all have, which [`parse_line`] reads the same way by every
/// rule there is: digits, two blanks, and a path of ordinary characters.
fn plain_name(algorithm: Algorithm, line: &[u8]) -> Option<&[u8]> {
    let (digits, rest) = line.split_at_checked(algorithm.digest_len().saturating_mul(2))?;
    let name = rest.strip_prefix(b"  ")?;
    let is_ordinary =
        name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-./_".contains(byte));
    // A dot at the beginning of a part is left to those who know what it means.
    let has_plain_parts = !name.starts_with(b".")
        && !name.starts_with(b"/")
        && !name.ends_with(b"/")
        && memchr::memchr_iter(b'/', name)
            .all(|at| !matches!(name.get(at.saturating_add(1)), Some(b'.' | b'/')));
    (is_ordinary
        && has_plain_parts
        && !name.is_empty()
        && name.len() <= MAX_PATH_BYTES
        && digits.iter().fold(true, |all, digit| all & digit.is_ascii_hexdigit()))
    .then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ENCODINGS: [NameEncoding; 3] =
        [NameEncoding::Gnu, NameEncoding::Percent, NameEncoding::Verbatim];

    fn passing(
        names: NameEncoding,
        text: &[u8],
        path: &MemberPath,
        block: usize,
    ) -> Result<Option<Digest>, Unclear> {
        let mut passing = Passing::new(Algorithm::Sha256, names, path);
        text.chunks(block).for_each(|block| passing.take(block));
        passing.finish()
    }

    /// Lines as they may stand in a manifest, plain ones and others, about few names.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let digest = prop_oneof![
            8 => Just("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".to_owned()),
            2 => Just("F3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855".to_owned()),
            1 => Just("e3b0c44298fc1c14".to_owned()),
            1 => Just("x3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".to_owned()),
        ];
        let blank =
            prop_oneof![8 => Just("  "), 1 => Just(" *"), 1 => Just("\t"), 1 => Just("   ")];
        (prop_oneof![10 => Just(""), 1 => Just("\\")], digest, blank, name(), end()).prop_map(
            |(escape, digest, blank, name, end)| {
                format!("{escape}{digest}{blank}{name}{end}").into_bytes()
            },
        )
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => "[ab](/[ab.])?",
            2 => "(\\./)?[ab%](25|0a|0A)?",
            1 => "[ab\\\\\né]{1,3}",
            1 => Just("../a".to_owned()),
            1 => Just(String::new()),
        ]
    }

    fn end() -> impl Strategy<Value = &'static str> {
        prop_oneof![12 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\n# a\n"), 1 => Just("\nb\n"), 1 => Just("")]
    }

    proptest! {
        #[test]
        fn every_way_to_look_a_file_up_agrees(
            lines in proptest::collection::vec(line(), 0..6),
            asked in name(),
            block in 1_usize..200,
            cut in any::<proptest::sample::Index>(),
        ) {
            let text = lines.concat();
            let Ok(path) = MemberPath::new(asked) else { return Ok(()) };
            for names in ENCODINGS {
                let whole = Manifest::look_up(Algorithm::Sha256, names, &text, &path);
                let (before, after) = text.split_at(cut.index(text.len() + 1));
                let part = |text: &[u8]| {
                    let mut passing = Passing::new(Algorithm::Sha256, names, &path);
                    text.chunks(block).for_each(|block| passing.take(block));
                    passing
                };
                let parts = part(before).followed_by(part(after)).finish();
                if let Ok(found) = parts {
                    prop_assert_eq!(&Ok(found), &whole);
                }
                if before.is_empty() || before.ends_with(b"\n") {
                    prop_assert_eq!(parts, passing(names, &text, &path, block));
                }
                if let Ok(found) = passing(names, &text, &path, block) {
                    prop_assert_eq!(&Ok(found), &whole);
                }
                if let Some(index) = ManifestIndex::new(Algorithm::Sha256, names, &text) {
                    prop_assert_eq!(index.look_up(&text, &path), whole);
                }
            }
        }

        #[test]
        fn a_name_is_found_wherever_it_stands(
            part in "[gh0-3ab/]{0,9}",
            text in "[gh0-3ab/]{0,200}",
            places in proptest::collection::vec(0_usize..200, 0..3),
        ) {
            let mut text = text;
            for place in places {
                text.insert_str(place % (text.len() + 1), &part);
            }
            let all: Vec<usize> = memmem::find_iter(text.as_bytes(), &part).collect();
            let found: Vec<usize> = finder(part.as_bytes()).find_iter(text.as_bytes()).collect();
            prop_assert_eq!(found, all);
        }

        #[test]
        fn entries_that_are_shown_are_those_of_the_whole(
            lines in proptest::collection::vec(line(), 0..6),
            mark in prop_oneof![9 => Just(""), 1 => Just("\u{feff}")],
            paths in proptest::collection::btree_set("[ab%\n](/[ab\\\\])?", 0..6),
        ) {
            let entries = |names, text: &[u8]| {
                let mut shown = Vec::new();
                let each = |path: &MemberPath, digest: &Digest| shown.push((path.clone(), *digest));
                show_sorted(Algorithm::Sha256, names, text, each).unwrap().then_some(shown)
            };
            let text = [mark.as_bytes(), &lines.concat()].concat();
            for names in ENCODINGS {
                if let Some(shown) = entries(names, &text) {
                    let (whole, faults) = Manifest::parse(Algorithm::Sha256, names, &text);
                    prop_assert!(faults.iter().all(ManifestFault::is_warning));
                    let whole = whole.entries().iter().map(|entry| (entry.path.clone(), entry.digest));
                    prop_assert_eq!(shown, whole.collect::<Vec<_>>());
                }
            }
            let paths = paths.into_iter().filter_map(|path| MemberPath::new(path).ok());
            let listed: Vec<_> = paths.map(|path| (path, Digest::sha256(b""))).collect();
            let written = Manifest::new(Algorithm::Sha256, listed.clone());
            for names in [NameEncoding::Gnu, NameEncoding::Percent] {
                prop_assert_eq!(entries(names, &written.to_text(names)), Some(listed.clone()));
            }
        }

        #[test]
        fn no_bytes_make_it_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            block in 1_usize..50,
        ) {
            let path = MemberPath::new("a").unwrap();
            for names in ENCODINGS {
                let _ = passing(names, &bytes, &path, block);
                let _ = ManifestIndex::new(Algorithm::Sha256, names, &bytes)
                    .map(|index| index.look_up(&bytes, &path));
            }
        }

        #[test]
        fn a_plain_line_is_read_by_every_rule_as_it_stands(line in line()) {
            let line = without_return(line.strip_suffix(b"\n").unwrap_or(&line));
            if let Some(name) = plain_name(Algorithm::Sha256, line) {
                for names in ENCODINGS {
                    let (path, digest) = parse_line(Algorithm::Sha256, names, line).unwrap().unwrap();
                    prop_assert_eq!(path.as_str().as_bytes(), name);
                    prop_assert_eq!(Digest::from_hex(Algorithm::Sha256, &line[..64]), Some(digest));
                }
            }
        }
    }

    #[test]
    fn a_long_plain_manifest_needs_no_second_look() {
        let digest = Digest::sha256(b"");
        let lines: Vec<_> = (0..1000).map(|number| format!("{digest}  d/a{number}.ra\n")).collect();
        let text = lines.concat();
        let path = MemberPath::new("d/a77.ra").unwrap();
        let text = text.as_bytes();
        assert_eq!(passing(NameEncoding::Gnu, text, &path, 4096), Ok(Some(digest)));
        let index = ManifestIndex::new(Algorithm::Sha256, NameEncoding::Gnu, text).unwrap();
        assert_eq!(index.listed(text, &path), Ok(Some(digest)));
        assert_eq!(index.listed(text, &MemberPath::new("d/a77").unwrap()), Ok(None));
    }
}
