//! Checks of member names, the same for every container.
//!
//! Some valid names do not work on every system: names that some systems reject, and pairs of names that some systems
//! treat as one. `verify` warns of them, and so does `create` before it writes.
//!
//! Two names are treated as one if they are equal after Unicode's canonical composition (NFC) and its simple mapping to
//! lower case ([`char::to_lowercase`]). File systems differ slightly in their rules, so no table matches all of them.
//!
//! Two files to which Info-ZIP's `unzip` gives the same name are an error in a zip, because the second overwrites the
//! first.

use std::collections::{HashMap, HashSet};

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::{Container, MemberKind, file_and_directory, invalid_name, twice};
use crate::finding::{Code, Finding, Severity};
use crate::message::Message;
use crate::path::{self, MemberPath, escape};

/// Checks every name, and all names together.
pub(crate) fn check(names: &NameTable, container: Container, findings: &mut Vec<Finding>) {
    let mut before: Option<&str> = None;
    for named in names.iter() {
        check_alone(&named, findings);
        if before == Some(named.name) {
            findings.push(twice(named.name));
        }
        before = Some(named.name);
    }
    check_files_as_directories(names, findings);
    if !are_surely_portable(names.names()) {
        let mut names: Vec<&str> = names.names().collect();
        names.dedup();
        check_portable(names, container, findings);
    }
}

/// Returns whether [`check_portable`] certainly finds nothing about these names. It does not collect them, and is
/// fastest if they are sorted.
pub(crate) fn are_surely_portable<N: AsRef<str>>(mut names: impl Iterator<Item = N>) -> bool {
    let mut before: Option<N> = None;
    names.all(|name| {
        let name_before = before.as_ref().map_or("", AsRef::as_ref);
        let shared = shared_len(name_before, name.as_ref());
        let is_portable = is_surely_portable(name.as_ref(), shared);
        before = Some(name);
        is_portable
    })
}

/// Returns the length of the common prefix of two names in bytes.
fn shared_len(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

fn check_alone(named: &Named<'_>, findings: &mut Vec<Finding>) {
    if !path::is_valid(named.name)
        && let Err(fault) = MemberPath::new(named.name)
    {
        findings.push(invalid_name(fault));
    }
    match named.kind {
        MemberKind::Link => findings.push(
            Finding::new(Code::Link, "the member is a link").in_member(named.name).hint(
                Message::from("replace it with the linked file, or pack it with ")
                    .call("create", "dereference"),
            ),
        ),
        MemberKind::Special => findings.push(
            Finding::new(
                Code::SpecialFile,
                "the member is a device, a pipe or another special file",
            )
            .in_member(named.name),
        ),
        MemberKind::File | MemberKind::Directory => {}
    }
}

/// Reports every file `a` next to a member `a/b`, which cannot be unpacked.
fn check_files_as_directories(names: &NameTable, findings: &mut Vec<Finding>) {
    // Sorted by parts, the members below a name directly follow it.
    let is_other = |named: &Named<'_>| named.kind != MemberKind::File;
    let mut by_parts: Vec<Named<'_>> = names.iter().collect();
    by_parts.sort_by(|a, b| {
        a.name.split('/').cmp(b.name.split('/')).then_with(|| is_other(a).cmp(&is_other(b)))
    });
    by_parts.dedup_by(|later, first| later.name == first.name);
    let pairs = by_parts.iter().zip(by_parts.iter().skip(1));
    let in_files = pairs.filter(|(first, second)| {
        let below = second.name.strip_prefix(first.name);
        first.kind == MemberKind::File && below.is_some_and(|below| below.starts_with('/'))
    });
    findings.extend(in_files.map(|(first, _)| file_and_directory(first.name)));
}

/// The names of members, sorted by their bytes.
#[derive(Debug)]
pub(crate) struct NameTable {
    text: String,
    entries: Vec<NameEntry>,
}

#[derive(Debug, Clone, Copy)]
struct NameEntry {
    /// Offset of the name in the text.
    at: usize,
    len: u32,
    /// The number of the member.
    member: u32,
    kind: MemberKind,
}

/// A name of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'t> {
    pub(crate) name: &'t str,
    pub(crate) kind: MemberKind,
    /// The number of the member with this name.
    pub(crate) member: usize,
}

impl NameTable {
    /// Returns the errors of [`check`]. Its warnings are for those who write, keep or judge a pack.
    pub(crate) fn errors(&self, container: Container) -> impl Iterator<Item = Finding> + use<> {
        let mut findings = Vec::new();
        check(self, container, &mut findings);
        findings.into_iter().filter(Finding::is_error)
    }

    /// Collects the names and kinds of members, numbered in the order given.
    pub(crate) fn new<'m>(members: impl Iterator<Item = (&'m str, MemberKind)> + Clone) -> Self {
        let (count, bytes) = members
            .clone()
            .fold((0_usize, 0_usize), |(count, bytes), (name, _)| (count + 1, bytes + name.len()));
        let mut text = String::with_capacity(bytes);
        let mut entries = Vec::with_capacity(count);
        for ((name, kind), member) in members.zip(0_u32..) {
            entries.push(NameEntry {
                at: text.len(),
                // No container has longer names, or more members than `u32` can number.
                len: u32::try_from(name.len()).expect("no name is longer than its archive allows"),
                member,
                kind,
            });
            text.push_str(name);
        }
        // Nearly sorted: only the files of the pack itself follow the payload.
        entries.sort_by(|one: &NameEntry, other| one.name(&text).cmp(other.name(&text)));
        Self { text, entries }
    }

    /// Returns all entries in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Named<'_>> + Clone {
        self.entries.iter().map(|entry| self.named(entry))
    }

    /// Returns all names in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.iter().map(|named| named.name)
    }

    fn named(&self, entry: &NameEntry) -> Named<'_> {
        Named { name: entry.name(&self.text), kind: entry.kind, member: entry.member as usize }
    }
}

impl NameEntry {
    fn name<'t>(&self, text: &'t str) -> &'t str {
        let end = self.at + self.len as usize;
        text.get(self.at..end).expect("a name of the table")
    }
}

/// Maximum length of a part of a name on common file systems, in bytes. Some count UTF-16 units instead, of which a
/// name never has more.
const MAX_PART: usize = 255;

/// Maximum length of a path in all Windows programs, in UTF-16 units: 260 without the drive, its colon and backslash,
/// and the final NUL.
const MAX_WINDOWS_PATH: usize = 260 - 3 - 1;

/// A name and its comparison key: folded, with a separator that sorts before every letter, so that the members of a
/// directory are adjacent.
struct FoldedName<'a> {
    key: String,
    name: &'a str,
}

/// Reports every name that does not work on all systems. A problem of a directory's name is reported once, for the
/// first member in it.
pub(crate) fn check_portable<'a>(
    names: impl IntoIterator<Item = &'a str>,
    container: Container,
    findings: &mut Vec<Finding>,
) {
    let names: Vec<&str> = names.into_iter().collect();
    // If nothing folds, no two names can become equal.
    let folds = names
        .iter()
        .any(|name| name.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()));
    let mut sorted: Vec<FoldedName<'a>> = Vec::with_capacity(names.len());
    for name in names {
        if path::is_valid(name) {
            sorted.push(FoldedName { key: if folds { key(name) } else { String::new() }, name });
        } else {
            check_characters(name, name, findings);
        }
    }
    if folds {
        sorted.sort_unstable_by(|a, b| (&a.key, a.name).cmp(&(&b.key, b.name)));
    } else {
        sorted.sort_unstable_by_key(|named| named.name);
    }
    let mut before = "";
    for FoldedName { name, .. } in &sorted {
        let fresh = without_shared_parts(before, name);
        check_characters(name, fresh, findings);
        if let Some(reason) = unportable(name, fresh) {
            findings.push(
                Finding::new(
                    Code::UnportableName,
                    format!("some systems cannot store this name: {reason}"),
                )
                .in_member(*name)
                .hint("rename the file"),
            );
        }
        before = name;
    }
    let pairs = sorted.windows(2).filter_map(|pair| match pair {
        [one, other] if folds => Some((twins(one, other)?, other.name)),
        _ => None,
    });
    // If two directories are twins, their members may alternate.
    let mut reported = HashSet::new();
    for ((one, other), member) in pairs {
        if reported.insert((one, other)) && reported.insert((other, one)) {
            findings.push(one_folded(one, other, member));
        }
    }
    check_composition(&sorted, findings);
    check_unzipped(&sorted, container, findings);
}

/// Returns whether [`check_portable`] certainly finds nothing about a name and other such names. Its first `shared`
/// bytes are already checked.
fn is_surely_portable(name: &str, shared: usize) -> bool {
    let known = memchr::memrchr(b'/', name.as_bytes().get(..shared).unwrap_or_default());
    let fresh = name.get(known.map_or(0, |at| at + 1)..).unwrap_or(name);
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/');
    name.len() <= MAX_PART
        && fresh.bytes().all(is_plain)
        && fresh.split('/').all(|part| device(part).is_none() && !part.ends_with('.'))
}

/// Returns the comparison key of a name.
fn key(name: &str) -> String {
    let mut key = fold(name);
    // Both are one byte of ASCII, so the text stays valid UTF-8.
    if key.contains('/') {
        key = key.replace('/', "\0");
    }
    key
}

/// Returns the name as seen by a system that ignores case and composition.
fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// Returns the part of `name` after the complete parts that it shares with `before`.
fn without_shared_parts<'a>(before: &str, name: &'a str) -> &'a str {
    let mut shared = 0;
    for (one, other) in before.split_inclusive('/').zip(name.split_inclusive('/')) {
        if one != other {
            break;
        }
        shared += other.len();
    }
    name.get(shared..).unwrap_or(name)
}

fn check_characters(name: &str, fresh: &str, findings: &mut Vec<Finding>) {
    let is_plain = fresh.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || escape(fresh).to_string() == fresh {
        return;
    }
    findings.push(
        Finding::new(Code::ControlInName, "the name has invisible or control characters")
            .in_member(name)
            .hint("rename the file; the name is shown escaped here"),
    );
}

/// Returns why some system cannot store this name. Only the parts in `fresh` are not checked yet.
fn unportable(name: &str, fresh: &str) -> Option<String> {
    fresh.split('/').find_map(unportable_part).or_else(|| {
        // A name never has more UTF-16 units than bytes.
        if name.len() <= MAX_WINDOWS_PATH {
            return None;
        }
        let units = name.encode_utf16().count();
        (units > MAX_WINDOWS_PATH).then(|| {
            format!("it has {units} characters; many Windows programs allow {MAX_WINDOWS_PATH}")
        })
    })
}

/// Returns the Windows device that a part of a name refers to. Extensions are ignored.
fn device(part: &str) -> Option<&str> {
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    /// Devices with a number from [`DIGITS`].
    const NUMBERED: [&str; 2] = ["com", "lpt"];
    const DIGITS: [&str; 12] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"];
    let stem = part.split('.').next().unwrap_or(part).trim_end();
    let is_one_of = |devices: &[&str], name: &str| {
        devices.iter().any(|device| device.eq_ignore_ascii_case(name))
    };
    let numbered = stem.split_at_checked(3).filter(|(_, digit)| DIGITS.contains(digit));
    let is_device = is_one_of(&DEVICES, stem)
        || numbered.is_some_and(|(device, _)| is_one_of(&NUMBERED, device));
    is_device.then_some(stem)
}

fn unportable_part(part: &str) -> Option<String> {
    if let Some(device) = device(part) {
        return Some(format!("`{}` is a device name on Windows", device.to_ascii_lowercase()));
    }
    if part.ends_with(['.', ' ']) {
        return Some("Windows removes a dot or space at the end of a name".to_owned());
    }
    if let Some(character) = part.chars().find(|character| "<>:\"|?*".contains(*character)) {
        return Some(format!("Windows does not allow `{character}` in a name"));
    }
    if part.trim_end_matches(|character: char| character.is_ascii_digit()).ends_with(';') {
        return Some(
            "`unzip` removes a semicolon and digits at the end (a VMS version)".to_owned(),
        );
    }
    (part.len() > MAX_PART)
        .then(|| format!("a part of it has {} bytes; most systems allow {MAX_PART}", part.len()))
}

/// Returns the topmost directories or files that become equal when folded, from two adjacent names.
fn twins<'a>(one: &FoldedName<'a>, other: &FoldedName<'a>) -> Option<(&'a str, &'a str)> {
    let keys = one.key.split('\0').zip(other.key.split('\0'));
    let parts = one.name.split('/').zip(other.name.split('/'));
    let mut same = keys.take_while(|(one, other)| one == other).zip(parts);
    let depth = same.position(|(_, (one, other))| one != other)?;
    let top = |name: &'a str| {
        let end = name.match_indices('/').nth(depth);
        end.map_or(name, |(end, _)| name.split_at(end).0)
    };
    Some((top(one.name), top(other.name)))
}

/// Creates the finding for twins. The second is the name of `member` or of one of its directories.
fn one_folded(one: &str, other: &str, member: &str) -> Finding {
    let lower = |name: &str| name.chars().flat_map(char::to_lowercase).collect::<String>();
    let (code, how, where_) = if lower(one) == lower(other) {
        (Code::CaseTwins, "only in case", "Windows and macOS")
    } else if one.nfc().eq(other.nfc()) {
        (Code::NormalizationTwins, "only in Unicode normalization", "macOS")
    } else {
        (Code::NormalizationTwins, "only in case and Unicode normalization", "macOS")
    };
    let what = if other == member { "the name" } else { "the directory's name" };
    Finding::new(code, format!("{what} differs from `{one}` {how}"))
        .in_member(member)
        .hint(format!("rename one; on {where_} one would replace the other"))
}

/// Reports names with decomposed letters, as macOS writes them. They are valid, but differ from the names typed on
/// other systems. There may be thousands, so one warning covers all.
fn check_composition(names: &[FoldedName<'_>], findings: &mut Vec<Finding>) {
    let is_composed = |name: &str| match is_nfc_quick(name.chars()) {
        IsNormalized::Yes => true,
        IsNormalized::No => false,
        IsNormalized::Maybe => name.nfc().eq(name.chars()),
    };
    let mut apart = names.iter().filter(|named| !named.name.is_ascii() && !is_composed(named.name));
    let Some(first) = apart.next() else { return };
    let message = match apart.count() {
        0 => "the name is not in Unicode's composed form (NFC)".to_owned(),
        others => {
            format!(
                "the names of this and {others} other members are not in Unicode's composed form (NFC)"
            )
        }
    };
    findings.push(
        Finding::new(Code::DecomposedName, message)
            .in_member(first.name)
            .hint("rename it in composed form (NFC), so that it is found on other systems"),
    );
}

/// Returns the name that Info-ZIP's `unzip` gives a file, if it differs: `unzip` drops control characters, and a VMS
/// version at the end.
fn unzipped(name: &str) -> Option<String> {
    let mut kept: String = name.chars().filter(|character| !character.is_ascii_control()).collect();
    let without_digits = kept.trim_end_matches(|character: char| character.is_ascii_digit());
    if let Some(stem) = without_digits.strip_suffix(';') {
        kept.truncate(stem.len());
    }
    (kept != name).then_some(kept)
}

/// Reports files to which `unzip` gives the same name, so that only the second remains. An error in containers that
/// `unzip` reads.
fn check_unzipped(names: &[FoldedName<'_>], container: Container, findings: &mut Vec<Finding>) {
    let mut taken: HashMap<String, &str> = HashMap::new();
    let changed: Vec<_> =
        names.iter().filter_map(|named| Some((unzipped(named.name)?, named.name))).collect();
    if changed.is_empty() {
        return;
    }
    let others: HashSet<&str> = names.iter().map(|named| named.name).collect();
    for (unzipped, name) in changed {
        let same = others.get(&*unzipped).or_else(|| taken.get(&unzipped)).copied();
        if let Some(other) = same {
            let mut finding = Finding::new(
                Code::UnportableName,
                format!("`unzip` gives this file and `{}` the same name", escape(other)),
            )
            .in_member(name)
            .hint("rename one; only the second would remain");
            if container == Container::Zip {
                finding.severity = Severity::Error;
            }
            findings.push(finding);
        }
        taken.insert(unzipped, name);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Location, Member, Method};
    use super::*;

    fn findings(names: &[&str]) -> Vec<Finding> {
        let mut findings = Vec::new();
        check_portable(names.iter().copied(), Container::Zip, &mut findings);
        findings
    }

    fn codes(names: &[&str]) -> Vec<Code> {
        findings(names).into_iter().map(|finding| finding.code).collect()
    }

    proptest::proptest! {
        #[test]
        fn surely_portable_names_are_portable(
            names in proptest::collection::btree_set("([ab.]|[a-c]|aux|A|é|/| ){0,6}", 0..6),
        ) {
            let mut before = String::new();
            let mut all = true;
            for name in &names {
                let shared = shared_len(&before, name);
                all = all && is_surely_portable(name, shared);
                before.clone_from(name);
            }
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            proptest::prop_assert_eq!(are_surely_portable(names.iter()), all);
            proptest::prop_assert!(!all || findings(&names).is_empty(), "{:?}", names);
        }
    }

    #[test]
    fn names_that_windows_cannot_store_are_found() {
        for name in [
            "aux",
            "AUX.txt",
            "d/Com1.ra",
            "nul .x",
            "a.",
            "a ",
            "10:30",
            "a|b",
            "d?/x",
            "com².x",
            "CONIN$",
        ] {
            assert_eq!(codes(&[name]), [Code::UnportableName], "{name}");
        }
        for name in ["auxiliary", "com", "com0", "com10", "a.b", ".a", "a b", "lpt/x", "con$"] {
            assert_eq!(codes(&[name]), [], "{name}");
        }
    }

    #[test]
    fn names_that_are_too_long_for_some_system_are_found() {
        assert_eq!(codes(&[&"n".repeat(255)]), []);
        assert_eq!(codes(&[&"n".repeat(256)]), [Code::UnportableName]);
        // 129 letters with 258 bytes.
        assert_eq!(codes(&[&"é".repeat(129)]), [Code::UnportableName]);
        let path = |last: usize| format!("{}/{}", "d".repeat(200), "n".repeat(last));
        assert_eq!(codes(&[&path(55)]), []);
        assert_eq!(codes(&[&path(56)]), [Code::UnportableName]);
    }

    #[test]
    fn names_that_become_equal_are_found_with_the_reason() {
        use Code::{CaseTwins, DecomposedName, NormalizationTwins};
        assert_eq!(codes(&["A", "a"]), [CaseTwins]);
        assert_eq!(codes(&["É", "é"]), [CaseTwins]);
        assert_eq!(codes(&["\u{e9}", "e\u{301}"]), [NormalizationTwins, DecomposedName]);
        assert_eq!(codes(&["\u{c9}", "e\u{301}"]), [NormalizationTwins, DecomposedName]);
        // Several encodings of one letter, none composed.
        assert_eq!(codes(&["\u{1e69}", "s\u{323}\u{307}", "s\u{307}\u{323}"]).len(), 3);
        assert_eq!(codes(&["ss", "ß", "a/B", "b/A", "ab"]), []);
    }

    #[test]
    fn names_that_unzip_makes_equal_are_an_error_in_a_zip() {
        for [one, other] in [
            ["a/f", "a/f;1"],
            ["f;1", "f;2"],
            ["f", "f;"],
            ["a\u{1b}/f", "a/f"],
            ["f\u{7f};1\u{1}2", "f;2"],
        ] {
            for (container, is_error) in [(Container::Zip, true), (Container::Tar, false)] {
                let mut findings = Vec::new();
                check_portable([one, other], container, &mut findings);
                let made_one: Vec<_> = findings
                    .iter()
                    .filter(|found| found.message.contains("the same name"))
                    .collect();
                assert_eq!(made_one.len(), 1, "{one:?} {other:?} {findings:?}");
                assert_eq!(made_one[0].is_error(), is_error, "{one:?}");
            }
        }
        assert_eq!(codes(&["f;1"]), [Code::UnportableName]);
        assert_eq!(codes(&["f;x", "f;1x", ";1/f", "f"]), [Code::UnportableName]);
    }

    #[test]
    fn twins_among_directories_are_found_once() {
        assert_eq!(codes(&["D/a", "d/b", "D/c", "d/d", "D/e"]), [Code::CaseTwins]);
        // A file with the name of a directory.
        assert_eq!(codes(&["d", "D/a"]), [Code::CaseTwins]);
        assert_eq!(codes(&["d", "d-", "D/a"]), [Code::CaseTwins]);
        let twin = findings(&["x/D/a", "x/d/a"]).remove(0);
        assert_eq!(twin.member.as_deref(), Some("x/d/a"));
        assert!(twin.message.contains("`x/D`"), "{twin}");
    }

    #[test]
    fn a_problem_of_a_directory_name_is_reported_once() {
        assert_eq!(codes(&["aux/a", "aux/b", "aux/c/d"]), [Code::UnportableName]);
        assert_eq!(codes(&["a\u{1b}/a", "a\u{1b}/b"]), [Code::ControlInName]);
        let apart = findings(&["e\u{301}/a", "e\u{301}/b", "c"]);
        assert_eq!(apart.len(), 1);
        assert!(apart[0].message.contains("1 other"), "{}", apart[0]);
    }

    fn codes_of(names: &[(&str, MemberKind)]) -> Vec<Code> {
        let members: Vec<Member> = names
            .iter()
            .map(|(name, kind)| Member {
                name: (*name).into(),
                kind: *kind,
                size: 0,
                packed_size: 0,
                method: Method::Stored,
                location: Location::Named,
            })
            .collect();
        let mut findings = Vec::new();
        let table = NameTable::new(members.iter().map(Member::named));
        check(&table, Container::Zip, &mut findings);
        findings.into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn names_that_cannot_coexist_are_found() {
        use MemberKind::{Directory, File, Link, Special};
        assert_eq!(codes_of(&[("a", File), ("b", Directory), ("b/c", File)]), []);
        assert_eq!(codes_of(&[("a", File), ("a", File)]), [Code::DuplicateName]);
        assert_eq!(codes_of(&[("a", File), ("a", Directory)]), [Code::DuplicateName]);
        assert_eq!(codes_of(&[("a", File), ("a/b/c", File)]), [Code::FileAndDirectory]);
        assert_eq!(
            codes_of(&[("a", File), ("a-b", File), ("a/c", File)]),
            [Code::FileAndDirectory]
        );
        let twice = [("a", Directory), ("a", File), ("a/c", File)];
        assert_eq!(codes_of(&twice), [Code::DuplicateName, Code::FileAndDirectory]);
        assert_eq!(codes_of(&[("A", File), ("a", File)]), [Code::CaseTwins]);
        assert_eq!(codes_of(&[("../a", File)]), [Code::InvalidName]);
        assert_eq!(codes_of(&[("l", Link), ("p", Special)]), [Code::Link, Code::SpecialFile]);
        assert_eq!(codes_of(&[("a\u{1b}", File)]), [Code::ControlInName]);
    }

    #[test]
    fn names_are_sorted() {
        let many: Vec<String> = (0..40).map(|number| format!("{:02}", number * 7 % 40)).collect();
        let late = ["b", "c", "d", "a", "b"].map(str::to_owned).to_vec();
        for names in [Vec::new(), late, many] {
            let kinds =
                [MemberKind::File, MemberKind::Directory, MemberKind::Link, MemberKind::Special];
            let kind = |number: usize| kinds[number % kinds.len()];
            let members = names.iter().zip(0_usize..);
            let members = members.map(|(name, number)| (name.as_str(), kind(number)));
            let table = NameTable::new(members);
            assert!(table.iter().all(|named| named.kind == kind(named.member)));
            let mut expected: Vec<_> = names.iter().zip(0_usize..).collect();
            expected.sort();
            let found = table.iter().map(|named| (named.name, named.member));
            assert!(found.eq(expected.iter().map(|(name, number)| (name.as_str(), *number))));
        }
    }
}
