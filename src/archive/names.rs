//! What can be wrong with the names of members, in any container.

use std::collections::HashMap;

use super::{Member, MemberKind};
use crate::finding::{Code, Finding};
use crate::path::MemberPath;

/// Checks every name by itself and all of them together.
pub(super) fn check<T>(members: &[(Member, Option<T>)], findings: &mut Vec<Finding>) {
    let mut sorted: Vec<&Member> = members.iter().map(|(member, _)| member).collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    for member in &sorted {
        check_alone(member, findings);
    }
    for pair in sorted.windows(2) {
        if let [first, second] = pair
            && first.name == second.name
        {
            findings.push(
                Finding::new(Code::DuplicateName, "two members have this name")
                    .in_member(first.name.clone())
                    .hint("programs disagree about which one counts; make the archive anew"),
            );
        }
    }
    check_files_as_directories(&sorted, findings);
    check_case_twins(&sorted, findings);
}

fn check_alone(member: &Member, findings: &mut Vec<Finding>) {
    let name = || member.name.clone();
    if let Err(invalid) = MemberPath::new(member.name.as_str()) {
        findings.push(
            Finding::new(Code::InvalidName, format!("the name {}", invalid.kind))
                .in_member(name())
                .hint("the member was not looked at; make the archive anew with relative names"),
        );
    }
    match member.kind {
        MemberKind::Link => findings.push(
            Finding::new(Code::Link, "the member is a link")
                .in_member(name())
                .hint("a pack holds files; pack what the link leads to (create --dereference)"),
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
    if crate::path::escape(&member.name).to_string() != member.name {
        findings.push(
            Finding::new(Code::ControlInName, "the name has invisible or control characters")
                .in_member(name())
                .hint("it is shown escaped; rename the file"),
        );
    }
}

/// A file `a` beside a member `a/b` cannot be unpacked.
fn check_files_as_directories(sorted: &[&Member], findings: &mut Vec<Finding>) {
    let files: std::collections::HashSet<&str> = sorted
        .iter()
        .filter(|member| member.kind == MemberKind::File)
        .map(|member| member.name.as_str())
        .collect();
    let mut last = "";
    for member in sorted {
        let Some((parent, _)) = member.name.rsplit_once('/') else { continue };
        if parent == last {
            continue;
        }
        last = parent;
        let ancestors = std::iter::successors(Some(parent), |path| {
            path.rsplit_once('/').map(|(parent, _)| parent)
        });
        for ancestor in ancestors.filter(|ancestor| files.contains(ancestor)) {
            findings.push(
                Finding::new(
                    Code::FileAndDirectory,
                    "the member is a file, but another member lies in it as in a directory",
                )
                .in_member(ancestor)
                .expected("a directory", "a file"),
            );
        }
    }
}

/// Names that differ only by case are one file on many systems.
fn check_case_twins(sorted: &[&Member], findings: &mut Vec<Finding>) {
    let mut folded: HashMap<String, &str> = HashMap::with_capacity(sorted.len());
    for member in sorted {
        match folded.entry(member.name.to_lowercase()) {
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(&member.name);
            }
            std::collections::hash_map::Entry::Occupied(taken) if *taken.get() != member.name => {
                findings.push(
                    Finding::new(
                        Code::CaseTwins,
                        format!("the name differs from `{}` only by case", taken.get()),
                    )
                    .in_member(member.name.clone())
                    .hint("on Windows and macOS one would replace the other; rename one"),
                );
            }
            std::collections::hash_map::Entry::Occupied(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Location, Method};
    use super::*;

    fn codes(names: &[(&str, MemberKind)]) -> Vec<Code> {
        let members: Vec<(Member, Option<()>)> = names
            .iter()
            .map(|(name, kind)| {
                let member = Member {
                    name: (*name).to_owned(),
                    kind: *kind,
                    size: 0,
                    packed_size: 0,
                    method: Method::Stored,
                    location: Location::Named,
                };
                (member, None)
            })
            .collect();
        let mut findings = Vec::new();
        check(&members, &mut findings);
        findings.into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn names_that_cannot_stand_side_by_side_are_found() {
        use MemberKind::{Directory, File, Link, Special};
        assert_eq!(codes(&[("a", File), ("b", Directory), ("b/c", File)]), []);
        assert_eq!(codes(&[("a", File), ("a", File)]), [Code::DuplicateName]);
        assert_eq!(codes(&[("a", File), ("a", Directory)]), [Code::DuplicateName]);
        assert_eq!(codes(&[("a", File), ("a/b/c", File)]), [Code::FileAndDirectory]);
        assert_eq!(codes(&[("A", File), ("a", File)]), [Code::CaseTwins]);
        assert_eq!(codes(&[("../a", File)]), [Code::InvalidName]);
        assert_eq!(codes(&[("l", Link), ("p", Special)]), [Code::Link, Code::SpecialFile]);
        assert_eq!(codes(&[("a\u{1b}", File)]), [Code::ControlInName]);
    }
}
