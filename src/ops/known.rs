//! The digests that members are expected to have.

use std::path::Path;

use super::expected::{self, Sorted};
use super::manifest_text::{self, ManifestText, RootFiles};
use super::manifests::{self, NamedManifest, beside};
use crate::archive::Member;
use crate::digest::{Algorithm, Digest, DigestTable};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::manifest::Manifest;
use crate::pack::{EXTERNAL_MANIFEST_SUFFIX, Placement};
use crate::path::MemberPath;

/// What a manifest says of the members of an archive. Its entries are not kept: there are as many as members,
/// and each takes more room than what is known of a member.
pub(super) struct Known {
    name: String,
    /// By the numbers of the members.
    digests: DigestTable,
    /// What is listed and about no member, and in which line.
    missing: Vec<(MemberPath, u64)>,
}

impl Known {
    /// The manifest beside the archive, or the one in it.
    pub(super) fn find(
        archive: &Path,
        files: &impl RootFiles,
        placement: &Placement,
        members: &[Member],
        findings: &mut Vec<Finding>,
    ) -> Result<Option<Self>> {
        let of_sorted = |name, sorted: Sorted| {
            let Sorted { digests, is_complete } = sorted;
            is_complete.then(|| Self { name, digests, missing: Vec::new() })
        };
        // Line by line: it is the largest of all that would be in memory. One at fault is read as a whole, and
        // so is one that lists what is not there.
        if let Some((name, sorted)) = expected::of_outside(archive, files, placement, members)
            && let Some(known) = of_sorted(name, sorted)
        {
            return Ok(Some(known));
        }
        let Some(text) = text(archive, files, findings)? else { return Ok(None) };
        let sorted = expected::of_sorted(&text, placement, members);
        let known = sorted.and_then(|sorted| of_sorted(text.name.clone(), sorted));
        Ok(Some(known.unwrap_or_else(|| Self::of(text, placement, members, findings))))
    }

    /// What a manifest lists, and which of it is about which member.
    pub(super) fn of(
        text: ManifestText<'_>,
        placement: &Placement,
        members: &[Member],
        findings: &mut Vec<Finding>,
    ) -> Self {
        let NamedManifest { name, manifest } = text.parse(findings);
        let (of_members, missing) = pair(&manifest, placement, members);
        let entry = |number: usize| manifest.entries().get(number);
        let mut digests = DigestTable::new(manifest.algorithm(), members.len());
        for (member, number) in of_members.into_iter().enumerate() {
            if let Some(entry) = number.and_then(entry) {
                digests.set(member, &entry.digest);
            }
        }
        let missing = missing.into_iter().filter_map(entry);
        let missing = missing.map(|entry| (entry.path.clone(), entry.line)).collect();
        Self { name, digests, missing }
    }

    /// The digests by the numbers of the members.
    pub(super) fn into_digests(self) -> DigestTable {
        self.digests
    }

    /// What is listed and not in the archive.
    pub(super) fn missing(&self) -> impl Iterator<Item = Finding> {
        let missing = self.missing.iter();
        missing.map(|(path, line)| manifests::missing(path.as_str(), &self.name, *line))
    }

    /// That it says nothing of a file.
    pub(super) fn unlisted(&self, name: &str) -> Finding {
        manifests::unlisted(name, &self.name)
    }

    /// What its digests are made by.
    pub(super) fn algorithm(&self) -> Algorithm {
        self.digests.algorithm()
    }

    /// The digest of a member, by the member's number; a file of which it says nothing is not checked.
    pub(super) fn digest(&self, member: usize) -> Option<Digest> {
        self.digests.get(member)
    }

    /// What it says of a file that it has another digest than is expected.
    pub(super) fn mismatch(&self, name: &str, expected: &Digest, found: &Digest) -> Finding {
        manifests::mismatch(name, &self.name, expected, found)
    }
}

/// The text of the manifest beside the archive, or of the one in it. One that is damaged is none, and a finding:
/// the files can be read all the same, unchecked.
pub(super) fn text<'f>(
    archive: &Path,
    files: &'f impl RootFiles,
    findings: &mut Vec<Finding>,
) -> Result<Option<ManifestText<'f>>> {
    let path = beside(archive, EXTERNAL_MANIFEST_SUFFIX);
    let text = match manifests::read_beside(&path) {
        Ok(None) => manifest_text::preferred(files),
        Ok(Some(text)) => manifest_text::rules(files).map(|rules| {
            let name = path.to_string_lossy();
            Some(ManifestText::outside(name, Algorithm::Sha256, rules.names, text))
        }),
        Err(error) => Err(error),
    };
    match text {
        Err(Error::Damaged { finding, .. }) => {
            findings.push(*finding);
            Ok(None)
        }
        text => text,
    }
}

/// For each member the number of its entry, and the numbers of the entries without a member. Members
/// mostly come in the order of the manifest, so that the next entry is the first to be tried.
fn pair(
    manifest: &Manifest,
    placement: &Placement,
    members: &[Member],
) -> (Vec<Option<usize>>, Vec<usize>) {
    let entries = manifest.entries();
    let mut is_there = vec![false; entries.len()];
    let mut next = 0_usize;
    let mut of_members = Vec::with_capacity(members.len());
    for member in members {
        let relative = placement.relative(&member.name);
        let path = relative.unwrap_or(&member.name);
        let found = match entries.get(next) {
            Some(entry) if entry.path.as_str() == path => Some(next),
            _ => entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok(),
        };
        if let Some(number) = found {
            next = number.saturating_add(1);
            if let Some(is_there) = is_there.get_mut(number) {
                *is_there |= relative.is_some();
            }
        }
        of_members.push(found);
    }
    let missing = is_there.iter().enumerate().filter(|(_, is_there)| !**is_there);
    (of_members, missing.map(|(number, _)| number).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::archive::{Location, MemberKind, Method};

    /// A member of which nothing but the name is looked at.
    pub(in crate::ops) fn member(name: String) -> Member {
        Member {
            name: name.into(),
            kind: MemberKind::File,
            size: 0,
            packed_size: 0,
            method: Method::Stored,
            location: Location::Listed,
        }
    }

    proptest! {
        #[test]
        fn members_are_paired_with_what_looking_up_each_finds(
            listed in proptest::collection::btree_set("[ab]{1,2}(/[ab!]{1,2})?", 0..20),
            names in proptest::collection::vec("(x/)?[ab]{0,2}(/[ab!]{1,2})?", 0..20),
            in_directory in any::<bool>(),
        ) {
            let digest = Digest::sha256(b"");
            let paths = listed.iter().map(|path| MemberPath::new(path.as_str()).unwrap());
            let manifest = Manifest::new(Algorithm::Sha256, paths.map(|path| (path, digest)));
            let members: Vec<_> = names.into_iter().map(member).collect();
            let placement = if in_directory { Placement::bag("x") } else { Placement::plain() };
            let (of_members, missing) = pair(&manifest, &placement, &members);
            prop_assert_eq!(of_members.len(), members.len());
            for (member, number) in members.iter().zip(of_members) {
                let listed_as = placement.relative(&member.name).unwrap_or(&member.name);
                let expected = manifest.get(listed_as).map(|entry| &entry.path);
                prop_assert_eq!(number.map(|number| &manifest.entries()[number].path), expected);
            }
            let there: HashSet<&str> =
                members.iter().filter_map(|member| placement.relative(&member.name)).collect();
            let expected = manifest.entries().iter().map(|entry| entry.path.as_str());
            let expected: Vec<_> = expected.filter(|path| !there.contains(path)).collect();
            let missing = missing.iter().map(|number| manifest.entries()[*number].path.as_str());
            prop_assert_eq!(missing.collect::<Vec<_>>(), expected);
        }
    }
}
