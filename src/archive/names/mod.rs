//! What can be wrong with the names of members, in any container.

mod portable;

pub(crate) use self::portable::check_portable;

use self::portable::is_surely_portable;
use super::{Container, MemberKind};
use crate::finding::{Code, Finding};
use crate::path::{self, InvalidPath, MemberPath};

/// Checks every name by itself and all of them together.
pub(crate) fn check(names: &NameTable, container: Container, findings: &mut Vec<Finding>) {
    let mut before: Option<&str> = None;
    let mut all_portable = true;
    for named in names.iter() {
        check_alone(&named, findings);
        if before == Some(named.name) {
            findings.push(twice(named.name));
        }
        let shared = shared_len(before.unwrap_or_default(), named.name);
        all_portable = all_portable && is_surely_portable(named.name, shared);
        before = Some(named.name);
    }
    check_files_as_directories(names, findings);
    if !all_portable {
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
        findings.push(invalid(fault));
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

/// A name that nobody may be given a file by.
pub(super) fn invalid(invalid: InvalidPath) -> Finding {
    Finding::new(Code::InvalidName, format!("the name {}", invalid.kind))
        .in_member(invalid.path)
        .hint("make the archive anew with relative names; the member was not looked at")
}

/// Two members of one name.
pub(super) fn twice(name: &str) -> Finding {
    Finding::new(Code::DuplicateName, "two members have this name")
        .in_member(name)
        .hint("make the archive anew; nobody can tell which one is meant")
}

/// A member that is a file and a directory at once.
pub(super) fn file_and_directory(name: &str) -> Finding {
    Finding::new(
        Code::FileAndDirectory,
        "the member is a file, but another member lies in it as in a directory",
    )
    .in_member(name)
    .expected("a directory", "a file")
    .hint("make the archive anew; only one of them can be unpacked")
}

/// How many names at the end may be out of order before all are sorted: what a pack itself needs stands
/// behind its payload.
const FEW: usize = 16;

/// The names of members, sorted by their bytes.
#[derive(Debug)]
pub(crate) struct NameTable {
    text: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
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
        let (count, bytes) =
            members.clone().fold((0_usize, 0_usize), |(count, bytes), (name, _)| {
                (count.saturating_add(1), bytes.saturating_add(name.len()))
            });
        let mut text = String::with_capacity(bytes);
        let mut entries = Vec::with_capacity(count);
        for ((name, kind), member) in members.zip(0_u32..) {
            entries.push(Entry {
                at: text.len(),
                // No container has longer names, nor more members than can be numbered so in memory.
                len: u32::try_from(name.len()).unwrap_or(u32::MAX),
                member,
                kind,
            });
            text.push_str(name);
        }
        let mut this = Self { text, entries };
        this.sort();
        this
    }

    fn sort(&mut self) {
        let Self { text, entries } = self;
        let name = |entry: &Entry| entry.name(text);
        let pairs = entries.iter().zip(entries.iter().skip(1));
        let in_order = pairs.take_while(|(one, other)| name(one) <= name(other)).count();
        let mut rest = entries.split_off(in_order.saturating_add(1).min(entries.len()));
        if rest.len() > FEW {
            entries.append(&mut rest);
            entries.sort_by(|one, other| name(one).cmp(name(other)));
            return;
        }
        for entry in rest {
            let at = entries.partition_point(|other| name(other) <= name(&entry));
            entries.insert(at, entry);
        }
    }

    /// Every name in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Named<'_>> + Clone {
        self.entries.iter().map(|entry| self.named(entry))
    }

    /// Every name in order, without what it is the name of.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.iter().map(|named| named.name)
    }

    fn named(&self, entry: &Entry) -> Named<'_> {
        let member = usize::try_from(entry.member).unwrap_or(usize::MAX);
        Named { name: entry.name(&self.text), kind: entry.kind, member }
    }
}

impl Entry {
    fn name<'t>(&self, text: &'t str) -> &'t str {
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        text.get(self.at..self.at.saturating_add(len)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Location, Member, Method};
    use super::*;

    fn codes(names: &[(&str, MemberKind)]) -> Vec<Code> {
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
        assert_eq!(codes(&[("a", File), ("b", Directory), ("b/c", File)]), []);
        assert_eq!(codes(&[("a", File), ("a", File)]), [Code::DuplicateName]);
        assert_eq!(codes(&[("a", File), ("a", Directory)]), [Code::DuplicateName]);
        assert_eq!(codes(&[("a", File), ("a/b/c", File)]), [Code::FileAndDirectory]);
        assert_eq!(codes(&[("a", File), ("a-b", File), ("a/c", File)]), [Code::FileAndDirectory]);
        let twice = [("a", Directory), ("a", File), ("a/c", File)];
        assert_eq!(codes(&twice), [Code::DuplicateName, Code::FileAndDirectory]);
        assert_eq!(codes(&[("A", File), ("a", File)]), [Code::CaseTwins]);
        assert_eq!(codes(&[("../a", File)]), [Code::InvalidName]);
        assert_eq!(codes(&[("l", Link), ("p", Special)]), [Code::Link, Code::SpecialFile]);
        assert_eq!(codes(&[("a\u{1b}", File)]), [Code::ControlInName]);
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
