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
use crate::manifest::NameEncoding;
use crate::manifest_lookup::show_sorted;
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
    let outside = beside(archive, EXTERNAL_MANIFEST_SUFFIX);
    if fs::exists(&outside)
        && let Ok(rules) = rules(files)
    {
        // Line by line: it is the largest of all that would be in memory. One at fault is read as a whole.
        let mut digests = None;
        let is_sorted = fs::is_file_of(&outside, |text| {
            let mut text = text.take(MAX_MANIFEST);
            digests = sorted(Algorithm::Sha256, rules.names, &mut text, placement, members)?;
            Ok(digests.is_some() && text.limit() > 0)
        });
        if let (Ok(true), Some(digests)) = (is_sorted, digests) {
            return Ok(Some((outside.to_string_lossy().into_owned(), digests)));
        }
    }
    let text = known::text(archive, files, findings)?;
    Ok(text.map(|text| (text.name.clone(), of_text(text, placement, members, findings))))
}

fn of_text(
    text: ManifestText<'_>,
    placement: &Placement,
    members: &[Member],
    findings: &mut Vec<Finding>,
) -> DigestTable {
    let algorithm = text.algorithm;
    if let Ok(Some(digests)) = sorted(algorithm, text.names, text.text(), placement, members) {
        return digests;
    }
    let mut digests = DigestTable::new(algorithm, members.len());
    let known = Known::of(text, placement, members, findings);
    for number in 0..members.len() {
        if let Some(entry) = known.entry(number) {
            digests.set(number, &entry.digest);
        }
    }
    digests
}

/// The digests of a manifest as nearly all are, without making entries of its lines.
fn sorted(
    algorithm: Algorithm,
    names: NameEncoding,
    text: impl BufRead,
    placement: &Placement,
    members: &[Member],
) -> io::Result<Option<DigestTable>> {
    // As `Known` has it: a member outside of the pack may be listed by its whole name.
    let listed_as = |number: &u32| {
        let member = usize::try_from(*number).ok().and_then(|number| members.get(number));
        member.map_or("", |member| placement.relative(&member.name).unwrap_or(&member.name))
    };
    let Ok(count) = u32::try_from(members.len()) else { return Ok(None) };
    let mut numbers: Vec<u32> = (0..count).collect();
    numbers.sort_by(|one, other| listed_as(one).cmp(listed_as(other)));
    let mut numbers = numbers.iter().peekable();
    let mut digests = DigestTable::new(algorithm, members.len());
    let is_sorted = show_sorted(algorithm, names, text, |path, digest| {
        while let Some(number) = numbers.next_if(|number| listed_as(number) <= path.as_str()) {
            if listed_as(number) == path.as_str() {
                digests.set(usize::try_from(*number).unwrap_or(usize::MAX), digest);
            }
        }
    })?;
    Ok(is_sorted.then_some(digests))
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
            let digests = of_text(manifest(), &placement, &members, &mut findings);
            let known = Known::of(manifest(), &placement, &members, &mut findings);
            for number in 0..members.len() {
                let entry = known.entry(number).map(|entry| entry.digest);
                prop_assert_eq!(digests.get(number), entry);
            }
        }
    }
}
