//! What documents refer to and do not hold: it may be elsewhere in the pack.

use super::by_path::Near;
use super::contents::{Contents, Entity};
use super::coordinates::join_groups;
use super::{ARRAY_EXTENSION, ArrayFacts, DescriptionFacts, group_of};
use crate::finding::Finding;
use crate::ndl::{CoordReference, MAX_DIAGNOSTICS};
use crate::path::MemberPath;

impl Contents {
    /// Everything that is wrong with one document by itself, and what it refers to that is neither in
    /// it nor in the pack. `base` is the group of the pack that the document lies in.
    pub(crate) fn document_findings(
        &self,
        base: &str,
        member: &str,
        facts: &DescriptionFacts,
        findings: &mut Vec<Finding>,
    ) {
        findings.extend(facts.findings().iter().cloned());
        self.unresolved(base, member, facts, |_| true, findings);
    }

    /// What the documents of arrays refer to in vain, but for the shapes of the arrays themselves,
    /// which are checked with their headers.
    pub(super) fn reference_findings(&self, findings: &mut Vec<Finding>) {
        if let Some((member, facts)) = &self.pack_document {
            let without_file = |reference: &CoordReference| {
                let path = super::entity_path(&reference.group, &reference.ndarray);
                !self.is_array_at(&path) || facts.entity(&path).is_none()
            };
            self.unresolved("/", member, facts, without_file, findings);
        }
        for (path, facts) in &self.descriptions {
            if facts.unresolved().is_empty() && facts.unresolved_targets().is_empty() {
                continue;
            }
            let Some(array) = self.array_beside(path, &Near::default()) else { continue };
            let described = self.description(array, &mut Vec::new());
            let other = |reference: &CoordReference| {
                described.is_none_or(|described| {
                    !matches!(described.entity, Entity::Ndarray(ndarray)
                        if described.group.path == reference.group
                            && ndarray.name == reference.ndarray)
                })
            };
            self.unresolved(&group_of(path), path.as_str(), facts, other, findings);
        }
    }

    fn unresolved(
        &self,
        base: &str,
        member: &str,
        facts: &DescriptionFacts,
        counts: impl Fn(&CoordReference) -> bool,
        findings: &mut Vec<Finding>,
    ) {
        if facts.unresolved().is_empty() && facts.unresolved_targets().is_empty() {
            return;
        }
        let Some(document) = facts.document() else { return };
        let coords = facts
            .unresolved()
            .iter()
            .filter(|reference| {
                let home = join_groups(base, &reference.group);
                counts(reference) && self.find_coordinate(&home, &reference.name).is_none()
            })
            .take(MAX_DIAGNOSTICS)
            .map(|reference| {
                reference.diagnostic(document.dimcoords().map(|(_, coord)| &*coord.name))
            });
        let targets = facts
            .unresolved_targets()
            .iter()
            .filter(|reference| !self.holds(&reference.target))
            .take(MAX_DIAGNOSTICS)
            .map(|reference| reference.diagnostic([]));
        let all = coords.chain(targets);
        findings.extend(all.map(|found| Finding::from_diagnostic(found, member, facts.text())));
    }

    /// Whether there is an array, a directory with arrays, or an entity of the pack's own document at a
    /// path of the pack.
    fn holds(&self, path: &str) -> bool {
        let below = format!("{}/", path.trim_matches('/'));
        let after = self.arrays.first_from(&below);
        let in_directory = after.is_some_and(|(array, _)| array.as_str().starts_with(&below));
        self.is_array_at(path) || in_directory || self.is_in_pack_document(path)
    }

    /// The array at a path of the pack.
    pub(super) fn array_at(&self, path: &str) -> Option<(&MemberPath, &ArrayFacts)> {
        self.arrays.entry(&format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/')))
    }

    pub(super) fn is_array_at(&self, path: &str) -> bool {
        self.array_at(path).is_some()
    }
}
