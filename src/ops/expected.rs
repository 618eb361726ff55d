//! The digests that a manifest gives the members of an archive, and nothing else of it: for those who look at
//! large archives and have no room for its entries.

use std::io::{self, BufRead, Read as _};
use std::path::Path;

use super::known::{self, Known};
use super::manifest_text::{ManifestText, RootFiles, rules};
use super::manifests::{MAX_MANIFEST, beside};
use crate::archive::Member;
use crate::digest::{Algorithm, DigestTable};
use crate::error::Result;
use crate::finding::Finding;
use crate::fs;
use crate::manifest::{NameEncoding, each_as_written};
use crate::pack::{EXTERNAL_MANIFEST_SUFFIX, Placement};

/// The name of the manifest beside the archive, or of the one in it, and the digests by the numbers of the
/// members. What is wrong with it is added to the findings.
pub(super) fn expected(
    archive: &Path,
    files: &impl RootFiles,
    placement: &Placement,
    members: &[Member],
    findings: &mut Vec<Finding>,
) -> Result<Option<(String, DigestTable)>> {
    if let Some((name, sorted)) = of_outside(archive, files, placement, members) {
        return Ok(Some((name, sorted.digests)));
    }
    let text = known::text(archive, files, findings)?;
    Ok(text.map(|text| (text.name.clone(), of_text(text, placement, members, findings))))
}

/// What a sorted manifest gives.
pub(super) struct Sorted {
    /// By the numbers of the members.
    pub(super) digests: DigestTable,
    /// Whether the pack has every file that it lists.
    pub(super) is_complete: bool,
}

/// The same of the manifest beside the archive, when there is one that is sorted and without a fault. It is read
/// line by line: the whole is the largest of all that would be in memory.
pub(super) fn of_outside(
    archive: &Path,
    files: &impl RootFiles,
    placement: &Placement,
    members: &[Member],
) -> Option<(String, Sorted)> {
    let outside = beside(archive, EXTERNAL_MANIFEST_SUFFIX);
    let rules = fs::exists(&outside).then(|| rules(files).ok()).flatten()?;
    let mut found = None;
    let is_sorted = fs::is_file_of(&outside, |text| {
        let mut text = text.take(MAX_MANIFEST);
        found = sorted(Algorithm::Sha256, rules.names, &mut text, placement, members)?;
        Ok(found.is_some() && text.limit() > 0)
    });
    // Who reads it as a whole says what keeps it from being read.
    let found = found.filter(|_| matches!(is_sorted, Ok(true)));
    found.map(|found| (outside.to_string_lossy().into_owned(), found))
}

/// The same of a text.
pub(super) fn of_sorted(
    text: &ManifestText<'_>,
    placement: &Placement,
    members: &[Member],
) -> Option<Sorted> {
    sorted(text.algorithm, text.names, text.text(), placement, members).ok()?
}

fn of_text(
    text: ManifestText<'_>,
    placement: &Placement,
    members: &[Member],
    findings: &mut Vec<Finding>,
) -> DigestTable {
    match of_sorted(&text, placement, members) {
        Some(sorted) => sorted.digests,
        None => Known::of(text, placement, members, findings).into_digests(),
    }
}

/// The digests of a manifest as nearly all are, without making entries of its lines.
fn sorted(
    algorithm: Algorithm,
    names: NameEncoding,
    text: impl BufRead,
    placement: &Placement,
    members: &[Member],
) -> io::Result<Option<Sorted>> {
    let name = |number: &u32| {
        let member = usize::try_from(*number).ok().and_then(|number| members.get(number));
        member.map_or("", |member| &*member.name)
    };
    // As `Known` has it: a member outside of the pack may be listed by its whole name.
    let listed_as = |number: &u32| placement.relative(name(number)).unwrap_or(name(number));
    let Ok(count) = u32::try_from(members.len()) else { return Ok(None) };
    let mut numbers: Vec<u32> = (0..count).collect();
    numbers.sort_by(|one, other| listed_as(one).cmp(listed_as(other)));
    let mut numbers = numbers.iter().peekable();
    let mut digests = DigestTable::new(algorithm, members.len());
    let mut is_complete = true;
    let is_sorted = each_as_written(algorithm, names, text, |path, digest| {
        let mut is_there = false;
        while let Some(number) = numbers.next_if(|number| listed_as(number) <= path.as_str()) {
            if listed_as(number) == path.as_str() {
                digests.set(usize::try_from(*number).unwrap_or(usize::MAX), digest);
                is_there |= placement.relative(name(number)).is_some();
            }
        }
        is_complete &= is_there;
        true
    })?;
    Ok(is_sorted.then_some(Sorted { digests, is_complete }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::digest::Digest;
    use crate::ops::known::tests::member;

    proptest! {
        #[test]
        fn a_sorted_manifest_gives_every_member_what_the_entries_give(
            listed in proptest::collection::btree_set("[ab]{1,2}(/[ab!]{1,2})?", 0..20),
            names in proptest::collection::vec("(x/)?[ab]{0,2}(/[ab!]{1,2})?", 0..20),
            in_directory in any::<bool>(),
            is_sorted in any::<bool>(),
        ) {
            let line = |path: &String| format!("{}  {path}\n", Digest::sha256(path.as_bytes()));
            let mut lines: Vec<_> = listed.iter().map(line).collect();
            if !is_sorted {
                lines.reverse();
            }
            let manifest = || {
                let (text, names) = (lines.concat().into_bytes(), NameEncoding::Gnu);
                ManifestText::outside("m", Algorithm::Sha256, names, text)
            };
            let members: Vec<_> = names.into_iter().map(member).collect();
            let placement = if in_directory { Placement::bag("x") } else { Placement::plain() };
            let text = manifest();
            let (algorithm, names) = (text.algorithm, text.names);
            let found = sorted(algorithm, names, text.text(), &placement, &members).unwrap();
            prop_assert!(found.is_some() || !is_sorted);
            let mut findings = Vec::new();
            let is_complete = found.as_ref().map(|found| found.is_complete);
            let digests = of_text(manifest(), &placement, &members, &mut findings);
            let known = Known::of(manifest(), &placement, &members, &mut findings);
            prop_assert!(is_complete.is_none_or(|is| is == known.missing().next().is_none()));
            for number in 0..members.len() {
                let entry = known.digest(number);
                prop_assert_eq!(digests.get(number), entry);
            }
        }
    }
}
