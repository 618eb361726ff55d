//! What can be wrong with the names of members, in any container.
//!
//! Some names are valid, but not everywhere: two that become one, and those that some system refuses.
//!
//! `verify` warns of them whatever the container, and `create` before it makes one.
//!
//! Two names are taken for one when they have the same letters after Unicode's canonical composition
//! (NFC) and its simple mapping to lower case ([`char::to_lowercase`]). File systems fold a little more
//! or less than that, each in its own way; no table fits them all.
//!
//! Two files that Info-ZIP's `unzip` gives one name are an error in a zip, since only the second is left.

use std::collections::{HashMap, HashSet};

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::{Container, MemberKind, file_and_directory, invalid_name, twice};
use crate::finding::{Code, Finding, Severity};
use crate::path::{self, MemberPath, escape};

/// Checks every name by itself and all of them together.
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

/// Whether names are so ordinary that [`check_portable`] finds nothing about them. It needs no list of them,
/// and is quickest when they come in order.
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

/// How many bytes two names begin with that are the same.
fn shared_len(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

fn check_alone(named: &Named<'_>, findings: &mut Vec<Finding>) {
    if !path::is_sound(named.name)
        && let Err(fault) = MemberPath::new(named.name)
    {
        findings.push(invalid_name(fault));
    }
    match named.kind {
        MemberKind::Link => findings.push(
            Finding::new(Code::Link, "the member is a link")
                .in_member(named.name)
                .hint("pack what the link leads to: `create` with the option `dereference`"),
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

/// A file `a` next to a member `a/b` cannot be unpacked.
fn check_files_as_directories(names: &NameTable, findings: &mut Vec<Finding>) {
    // Ordered by parts, the members below a name directly follow it.
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
    /// Where the name begins in the text.
    at: usize,
    len: u32,
    /// The number of the member.
    member: u32,
    kind: MemberKind,
}

/// One name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'t> {
    pub(crate) name: &'t str,
    pub(crate) kind: MemberKind,
    /// The number of the member that is called so.
    pub(crate) member: usize,
}

impl NameTable {
    /// Takes the names and kinds of members, which are numbered as they come.
    pub(crate) fn new<'m>(members: impl Iterator<Item = (&'m str, MemberKind)> + Clone) -> Self {
        let (count, bytes) = members
            .clone()
            .fold((0_usize, 0_usize), |(count, bytes), (name, _)| (count + 1, bytes + name.len()));
        let mut text = String::with_capacity(bytes);
        let mut entries = Vec::with_capacity(count);
        for ((name, kind), member) in members.zip(0_u32..) {
            entries.push(NameEntry {
                at: text.len(),
                // No container has longer names, nor more members than can be numbered so in memory.
                len: u32::try_from(name.len()).expect("no name is longer than its archive allows"),
                member,
                kind,
            });
            text.push_str(name);
        }
        // Few are out of order: what a pack itself needs follows its payload.
        entries.sort_by(|one: &NameEntry, other| one.name(&text).cmp(other.name(&text)));
        Self { text, entries }
    }

    /// Every name in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Named<'_>> + Clone {
        self.entries.iter().map(|entry| self.named(entry))
    }

    /// Every name in order, without what it is the name of.
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

/// Longest part of a name that common file systems take, in bytes. Those that count in UTF-16 allow as
/// many units, of which no name has more than it has bytes.
const MAX_PART: usize = 255;

/// Longest path that every Windows program takes, in units of UTF-16: 260 with a drive, its colon and
/// backslash before, and a NUL behind.
const MAX_WINDOWS_PATH: usize = 260 - 3 - 1;

/// A name, and what it is compared by: folded, with a separator that orders before every letter, so
/// that whatever lies in a directory stands together.
struct FoldedName<'a> {
    key: String,
    name: &'a str,
}

/// Warns of every one of `names` that cannot be used everywhere. What is wrong with a directory is said
/// once, of the first member in it.
pub(crate) fn check_portable<'a>(
    names: impl IntoIterator<Item = &'a str>,
    container: Container,
    findings: &mut Vec<Finding>,
) {
    let names: Vec<&str> = names.into_iter().collect();
    // Where nothing folds, nothing can become the same.
    let folds = names
        .iter()
        .any(|name| name.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()));
    let mut sorted: Vec<FoldedName<'a>> = Vec::with_capacity(names.len());
    for name in names {
        if path::is_sound(name) {
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
                    format!("the name cannot be used everywhere: {reason}"),
                )
                .in_member(*name)
                .hint("rename the file, so that the pack can be unpacked on every system"),
            );
        }
        before = name;
    }
    let pairs = sorted.windows(2).filter_map(|pair| match pair {
        [one, other] if folds => Some((twins(one, other)?, other.name)),
        _ => None,
    });
    // Where two directories are twins, members of one and of the other may follow each other in turn.
    let mut told = HashSet::new();
    for ((one, other), member) in pairs {
        if told.insert((one, other)) && told.insert((other, one)) {
            findings.push(one_folded(one, other, member));
        }
    }
    check_composition(&sorted, findings);
    check_unzipped(&sorted, container, findings);
}

/// Whether a name is one of the many that [`check_portable`] finds nothing about, whatever other such names
/// there are. Its first `shared` bytes are those of another that is.
fn is_surely_portable(name: &str, shared: usize) -> bool {
    let known = memchr::memrchr(b'/', name.as_bytes().get(..shared).unwrap_or_default());
    let fresh = name.get(known.map_or(0, |at| at + 1)..).unwrap_or(name);
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/');
    name.len() <= MAX_PART
        && fresh.bytes().all(is_plain)
        && fresh.split('/').all(|part| device(part).is_none() && !part.ends_with('.'))
}

/// What a name is compared by.
fn key(name: &str) -> String {
    let mut key = fold(name);
    // Both are one byte of ASCII, so that the text stays text.
    if key.contains('/') {
        key = key.replace('/', "\0");
    }
    key
}

/// The name as a system sees it that neither knows case nor how a letter is composed.
fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// What of `name` follows the whole parts that it shares with `before`.
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
            .hint("rename the file; here its name is shown escaped"),
    );
}

/// Why some system cannot write a file of this name, of which the parts in `fresh` are not yet checked.
fn unportable(name: &str, fresh: &str) -> Option<String> {
    fresh.split('/').find_map(unportable_part).or_else(|| {
        // No name has more units than bytes.
        if name.len() <= MAX_WINDOWS_PATH {
            return None;
        }
        let units = name.encode_utf16().count();
        (units > MAX_WINDOWS_PATH).then(|| {
            format!("it is {units} characters long, many Windows programs allow {MAX_WINDOWS_PATH}")
        })
    })
}

/// The device of Windows that a part of a name means, whatever its extension.
fn device(part: &str) -> Option<&str> {
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    /// The same, followed by one of [`DIGITS`].
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
        return Some(format!("`{}` is a device on Windows", device.to_ascii_lowercase()));
    }
    if part.ends_with(['.', ' ']) {
        return Some("Windows drops a dot or blank at the end of a name".to_owned());
    }
    if let Some(character) = part.chars().find(|character| "<>:\"|?*".contains(*character)) {
        return Some(format!("Windows allows no `{character}` in a name"));
    }
    if part.trim_end_matches(|character: char| character.is_ascii_digit()).ends_with(';') {
        return Some(
            "`unzip` takes a semicolon and digits at the end for a version of VMS".to_owned(),
        );
    }
    (part.len() > MAX_PART).then(|| {
        format!("a part of it is {} bytes long, most systems allow {MAX_PART}", part.len())
    })
}

/// The topmost twins, which are one when folded, among two neighbours and the directories that they lie in.
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

/// What is wrong with twins. The second is the name of `member`, or of a directory that it lies in.
fn one_folded(one: &str, other: &str, member: &str) -> Finding {
    let lower = |name: &str| name.chars().flat_map(char::to_lowercase).collect::<String>();
    let (code, how, where_) = if lower(one) == lower(other) {
        (Code::CaseTwins, "only by case", "Windows and macOS")
    } else if one.nfc().eq(other.nfc()) {
        (Code::NormalizationTwins, "only in how its letters are composed", "macOS")
    } else {
        (Code::NormalizationTwins, "only by case and in how its letters are composed", "macOS")
    };
    let what = if other == member { "the name" } else { "the directory's name" };
    Finding::new(code, format!("{what} differs from `{one}` {how}"))
        .in_member(member)
        .hint(format!("rename one; on {where_} it would take the place of the other"))
}

/// Names as macOS writes them, letter and accent apart: sound, but another string than what is typed
/// elsewhere. They come by the thousand, so one warning stands for all of them.
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
            .hint("rename it as typed on this system; macOS writes names that others do not find"),
    );
}

/// The name that Info-ZIP's `unzip` gives a file, where that is another: it leaves out control characters, and
/// a version of VMS at the end.
fn unzipped(name: &str) -> Option<String> {
    let mut kept: String = name.chars().filter(|character| !character.is_ascii_control()).collect();
    let without_digits = kept.trim_end_matches(|character: char| character.is_ascii_digit());
    if let Some(stem) = without_digits.strip_suffix(';') {
        kept.truncate(stem.len());
    }
    (kept != name).then_some(kept)
}

/// Two files that `unzip` gives one name, so that only the second is left; an error where `unzip` reads them.
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
                format!("`unzip` gives this file and `{}` one name", escape(other)),
            )
            .in_member(name)
            .hint("rename one; only the second would be left");
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
        fn what_is_surely_portable_is_so(
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
    fn names_that_windows_cannot_write_are_found() {
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
        // 129 letters, but 258 bytes.
        assert_eq!(codes(&[&"é".repeat(129)]), [Code::UnportableName]);
        let path = |last: usize| format!("{}/{}", "d".repeat(200), "n".repeat(last));
        assert_eq!(codes(&[&path(55)]), []);
        assert_eq!(codes(&[&path(56)]), [Code::UnportableName]);
    }

    #[test]
    fn names_that_become_one_are_found_and_which_way() {
        use Code::{CaseTwins, DecomposedName, NormalizationTwins};
        assert_eq!(codes(&["A", "a"]), [CaseTwins]);
        assert_eq!(codes(&["É", "é"]), [CaseTwins]);
        assert_eq!(codes(&["\u{e9}", "e\u{301}"]), [NormalizationTwins, DecomposedName]);
        assert_eq!(codes(&["\u{c9}", "e\u{301}"]), [NormalizationTwins, DecomposedName]);
        // Several ways to write one letter, none of them composed.
        assert_eq!(codes(&["\u{1e69}", "s\u{323}\u{307}", "s\u{307}\u{323}"]).len(), 3);
        assert_eq!(codes(&["ss", "ß", "a/B", "b/A", "ab"]), []);
    }

    #[test]
    fn names_that_unzip_makes_one_are_an_error_in_a_zip() {
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
                let made_one: Vec<_> =
                    findings.iter().filter(|found| found.message.contains("one name")).collect();
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
        // A file that is in the way of a directory.
        assert_eq!(codes(&["d", "D/a"]), [Code::CaseTwins]);
        assert_eq!(codes(&["d", "d-", "D/a"]), [Code::CaseTwins]);
        let twin = findings(&["x/D/a", "x/d/a"]).remove(0);
        assert_eq!(twin.member.as_deref(), Some("x/d/a"));
        assert!(twin.message.contains("`x/D`"), "{twin}");
    }

    #[test]
    fn what_is_wrong_with_a_directory_is_said_once() {
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
    fn names_that_cannot_stand_side_by_side_are_found() {
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
    fn names_are_in_order_whatever_the_order_of_members() {
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
