//! What can be wrong with the names of members, in any container.

mod portable;

pub(crate) use self::portable::check_portable;

use super::{Member, MemberKind};
use crate::finding::{Code, Finding};
use crate::path::{self, InvalidPath, MemberPath};

/// Checks every name by itself and all of them together.
pub(crate) fn check<'m>(members: impl Iterator<Item = &'m Member>, findings: &mut Vec<Finding>) {
    let mut sorted: Vec<&Member> = members.collect();
    // Most archives are in this order already, which the sort sees at once.
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    for member in &sorted {
        check_alone(member, findings);
    }
    for pair in sorted.windows(2) {
        if let [first, second] = pair
            && first.name == second.name
        {
            findings.push(twice(&first.name));
        }
    }
    check_files_as_directories(&sorted, findings);
    let mut names: Vec<&str> = sorted.iter().map(|member| member.name.as_str()).collect();
    names.dedup();
    check_portable(names, findings);
}

fn check_alone(member: &Member, findings: &mut Vec<Finding>) {
    let name = || member.name.clone();
    if !path::is_sound(&member.name)
        && let Err(fault) = MemberPath::new(member.name.as_str())
    {
        findings.push(invalid(fault));
    }
    match member.kind {
        MemberKind::Link => findings.push(
            Finding::new(Code::Link, "the member is a link")
                .in_member(name())
                .hint("pack what the link leads to: `ra-pack create --dereference`"),
        ),
        MemberKind::Special => findings.push(
            Finding::new(
                Code::SpecialFile,
                "the member is a device, a pipe or another special file",
            )
            .in_member(name()),
        ),
        MemberKind::File | MemberKind::Directory => {}
    }
}

/// A file `a` beside a member `a/b` cannot be unpacked.
fn check_files_as_directories(members: &[&Member], findings: &mut Vec<Finding>) {
    /// Names up to this length are looked up by all directories above them.
    const SHORT: usize = 512;
    if members.iter().all(|member| member.name.len() <= SHORT) {
        let mut before = "";
        for member in members {
            // What is above the name before was looked up with it.
            let shared =
                before.bytes().zip(member.name.bytes()).take_while(|(a, b)| a == b).count();
            for (end, _) in member.name.match_indices('/').filter(|(end, _)| *end >= shared) {
                let Some(above) = member.name.get(..end) else { continue };
                let first = members.partition_point(|other| other.name.as_str() < above);
                let mut so_called =
                    members.iter().skip(first).take_while(|other| other.name == above);
                if so_called.any(|other| other.kind == MemberKind::File) {
                    findings.push(file_and_directory(above));
                }
            }
            before = &member.name;
        }
        return;
    }
    // Ordered by parts, whatever lies below a name directly follows it. Looking up every ancestor
    // of every name instead would take a time that grows with the square of a name's length.
    let mut by_parts = members.to_vec();
    by_parts.sort_by(|a, b| a.name.split('/').cmp(b.name.split('/')));
    by_parts.dedup_by(|later, first| later.name == first.name);
    for pair in by_parts.windows(2) {
        let [first, second] = pair else { continue };
        let below = second.name.strip_prefix(first.name.as_str());
        if first.kind == MemberKind::File && below.is_some_and(|below| below.starts_with('/')) {
            findings.push(file_and_directory(&first.name));
        }
    }
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

#[cfg(test)]
mod tests {
    use super::super::{Location, Method};
    use super::*;

    fn codes(names: &[(&str, MemberKind)]) -> Vec<Code> {
        let members: Vec<Member> = names
            .iter()
            .map(|(name, kind)| Member {
                name: (*name).to_owned(),
                kind: *kind,
                size: 0,
                packed_size: 0,
                method: Method::Stored,
                location: Location::Named,
            })
            .collect();
        let mut findings = Vec::new();
        check(members.iter(), &mut findings);
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
        assert_eq!(codes(&[("A", File), ("a", File)]), [Code::CaseTwins]);
        assert_eq!(codes(&[("../a", File)]), [Code::InvalidName]);
        assert_eq!(codes(&[("l", Link), ("p", Special)]), [Code::Link, Code::SpecialFile]);
        assert_eq!(codes(&[("a\u{1b}", File)]), [Code::ControlInName]);
    }
}
