//! Arrays that have the name of a coordinate, but not its order.

use std::io::Read;

use crate::finding::Finding;
use crate::inspect::ascending::check_order;
use crate::pack::{Contents, Convention};
use crate::path::MemberPath;
use crate::read::open::Pack;

/// Remembers arrays without a description that have the name of a coordinate, but not its order. `read` passes the file
/// of an array to a function. Returns a warning for each.
pub(crate) fn note_unordered(
    contents: &mut Contents,
    mut read: impl FnMut(&MemberPath, &mut dyn FnMut(&mut dyn Read)),
) -> Vec<Finding> {
    let convention = Convention::new(contents);
    let named = contents.undescribed().filter(|(path, _)| convention.is_coordinate(path));
    let mut findings = Vec::new();
    for (path, facts) in named {
        let Some(header) = facts.header.as_ref().ok().filter(|header| !header.is_encoded()) else {
            continue;
        };
        read(path, &mut |content| findings.extend(check_order(path, header, content)));
    }
    let members = findings.iter().filter_map(|finding: &Finding| finding.member.as_deref());
    contents.unordered = members.filter_map(|name| MemberPath::new(name).ok()).collect();
    findings
}

/// Remembers arrays of a pack that have the name of a coordinate, but not its order. Returns a warning for each.
pub(super) fn unordered(pack: &Pack, contents: &mut Contents) -> Vec<Finding> {
    note_unordered(contents, |path, take| {
        // An array that cannot be read is reported by commands that read its elements.
        if let Ok(mut content) = pack.reader(path.as_str()) {
            take(&mut content);
        }
    })
}
