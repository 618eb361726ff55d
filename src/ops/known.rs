//! The digests that members are expected to have.

use std::path::Path;

use super::manifest_text::{self, ManifestText, RootFiles};
use super::manifests::{self, NamedManifest, beside};
use crate::archive::Member;
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::manifest::{Manifest, ManifestEntry};
use crate::pack::{EXTERNAL_MANIFEST_SUFFIX, Placement};

/// A manifest, and which of its entries is about which member.
pub(super) struct Known {
    name: String,
    manifest: Manifest,
    /// The number of each member's entry.
    of_members: Vec<Option<usize>>,
    /// Numbers of the entries that are about no member.
    missing: Vec<usize>,
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
        let text = match Self::text(archive, files) {
            // The others can still be unpacked, unchecked.
            Err(Error::Damaged { finding, .. }) => {
                findings.push(*finding);
                None
            }
            text => text?,
        };
        Ok(text.map(|text| {
            let NamedManifest { name, manifest } = text.parse(findings);
            let (of_members, missing) = pair(&manifest, placement, members);
            Self { name, manifest, of_members, missing }
        }))
    }

    fn text(archive: &Path, files: &impl RootFiles) -> Result<Option<ManifestText<'static>>> {
        let path = beside(archive, EXTERNAL_MANIFEST_SUFFIX);
        let Some(text) = manifests::read_beside(&path)? else {
            return manifest_text::preferred(files);
        };
        let names = manifest_text::rules(files)?.names;
        Ok(Some(ManifestText::outside(path.to_string_lossy(), Algorithm::Sha256, names, text)))
    }

    /// What is listed and not in the archive.
    pub(super) fn missing(&self) -> impl Iterator<Item = Finding> {
        let missing = self.missing.iter().filter_map(|number| self.manifest.entries().get(*number));
        missing.map(|entry| manifests::missing(entry.path.as_str(), &self.name, entry.line))
    }

    /// The entry of a member, by the member's number; a file without one is not checked.
    pub(super) fn entry(&self, member: usize) -> Option<&ManifestEntry> {
        let number = self.of_members.get(member).copied().flatten()?;
        self.manifest.entries().get(number)
    }

    /// What it says of a file that it has another digest than its entry.
    pub(super) fn mismatch(&self, name: &str, entry: &ManifestEntry, found: &Digest) -> Finding {
        manifests::mismatch(name, &self.name, &entry.digest, found)
    }
}

/// What a manifest says of each member, in less room than all of it.
pub(super) struct Expected {
    manifest: String,
    pub(super) algorithm: Algorithm,
    of_members: Vec<Option<Digest>>,
}

impl Expected {
    /// Keeps the digests of members alone.
    pub(super) fn of(known: Known) -> Self {
        let Known { name, manifest, of_members, .. } = known;
        let digest = |number: usize| manifest.entries().get(number).map(|entry| entry.digest);
        let of_members = of_members.into_iter().map(|number| number.and_then(digest)).collect();
        Self { manifest: name, algorithm: manifest.algorithm(), of_members }
    }

    /// The digest of a member, by the member's number.
    pub(super) fn digest(&self, member: usize) -> Option<Digest> {
        self.of_members.get(member).copied().flatten()
    }

    /// What it says of a file that it has another digest than it should.
    pub(super) fn mismatch(&self, name: &str, expected: &Digest, found: &Digest) -> Finding {
        manifests::mismatch(name, &self.manifest, expected, found)
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
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::archive::{Location, MemberKind, Method};
    use crate::path::MemberPath;

    fn member(name: String) -> Member {
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
