//! The problems of arrays and descriptions, alone and together.

use std::cell::OnceCell;
use std::ops::Bound;
use std::sync::Arc;

use super::array_facts::ArrayFacts;
use super::check;
use super::contents::{Contents, entities, not_a_description};
use super::described::{Described, group_in_pack};
use super::facts::DescriptionFacts;
use super::generated::{FORMAT_VERSION, is_attributes_document, newer_version};
use super::{ARRAY_EXTENSION, PACK_DOCUMENT, group_of};
use crate::finding::{Code, Finding, Severity};
use crate::message::listed;
use crate::ndl::{self, Document, Entity, MAX_FINDINGS, Ndarray, Referrer, entity_path};
use crate::path::MemberPath;

/// Maximum number of names that are compared with a description.
const MAX_ASTRAY: usize = 64;

/// Maximum number of names that a message lists.
const MAX_NAMES_SHOWN: usize = 3;

impl Contents {
    /// Returns whether a plain description is next to an array, matches it exactly, and is the only one. For most
    /// arrays, nothing else needs to be checked.
    fn is_plainly_right(&self, path: &MemberPath, facts: &ArrayFacts) -> bool {
        let is_described_once = || self.in_pack_document(path).is_none();
        facts.header.as_ref().is_ok_and(|header| {
            self.plain(path).is_some_and(|plain| {
                let of = |name: &str| self.find_coordinate(&group_of(path), name)?.length;
                check::is_plainly(header, &plain, |name, length| of(name) == Some(length))
            })
        }) && is_described_once()
    }

    /// Returns all problems of arrays and descriptions, alone and together.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut context = check::CheckContext::new(self);
        if let Some(facts) = &self.pack_document {
            let mut found = facts.findings(PACK_DOCUMENT);
            // A document for another purpose has unknown keys and no known ones.
            let is_other = match facts.document() {
                None => found.is_empty(),
                Some(document) => {
                    found.iter().any(Finding::is_error) && entities(document).next().is_none()
                }
            };
            findings.append(&mut found);
            if is_other {
                findings.push(not_a_description(PACK_DOCUMENT));
            }
            findings.extend(newer_version(facts.text()).map(|version| {
                let message = format!("the pack has version {version} of the pack format");
                Finding::new(Code::NewerFormat, message)
                    .in_member(PACK_DOCUMENT)
                    .expected(format!("at most version {FORMAT_VERSION}"), version)
            }));
        }
        let astray: OnceCell<Vec<&MemberPath>> = OnceCell::new();
        for (path, facts) in &self.arrays {
            let is_right = self.is_plainly_right(path, facts);
            let first = findings.len();
            facts.findings(path, &mut findings);
            let before = findings.len();
            let described = if is_right { None } else { self.description(path, &mut findings) };
            if let (Some(described), Ok(header)) = (described, &facts.header) {
                check::array(path, facts, header, &described, &mut context, &mut findings);
                // A hand-written document of the pack must agree, too.
                if !described.is_of_pack()
                    && let Some(other) = self.in_pack_document(path)
                {
                    check::array(path, facts, header, &other, &mut context, &mut findings);
                    check::agree(path, &described, &other, &mut context, &mut findings);
                }
            } else if !is_right && described.is_none() && findings.len() == before {
                let astray = astray.get_or_init(|| self.astray());
                findings.push(undescribed(path, astray));
            }
            for finding in findings.iter_mut().skip(first) {
                finding.array.get_or_insert_with(|| path.as_str().to_owned());
            }
        }
        self.missing_arrays(&mut context, &mut findings);
        self.second_arrays(&mut context, &mut findings);
        self.reference_findings(&mut findings);
        context.findings(&mut findings);
        findings
    }

    /// Reports arrays that the pack's document describes but that do not exist.
    fn missing_arrays(&self, context: &mut check::CheckContext<'_>, findings: &mut Vec<Finding>) {
        let Some(facts) = &self.pack_document else { return };
        let Some(document) = facts.document() else { return };
        for (group, ndarray) in document.ndarrays() {
            let path = entity_path(&group.path, &ndarray.name);
            if ndarray.value.is_none() && !self.is_array_at(&path) {
                let entity = Entity::Ndarray(ndarray);
                let described = Described { member: PACK_DOCUMENT, facts, group, entity };
                let finding = missing_array(&path, ndarray);
                let mut finding = context.sources.at(&described, finding, &[]);
                if context.is_own_document() {
                    finding.severity = Severity::Error;
                }
                findings.push(finding);
            }
        }
    }

    /// Reports arrays that a document next to another array describes but that do not exist.
    fn second_arrays(&self, context: &mut check::CheckContext<'_>, findings: &mut Vec<Finding>) {
        for (path, facts) in self.descriptions.iter().filter(|(_, facts)| !facts.is_plain()) {
            let Some(document) = facts.document() else { continue };
            if document.ndarrays().nth(1).is_none() {
                continue;
            }
            let Some(array) = self.array_beside(path) else { continue };
            let chosen = self.description(array, &mut Vec::new());
            for (group, ndarray) in document.ndarrays() {
                let is_chosen = chosen.is_some_and(|chosen| {
                    matches!(chosen.entity, Entity::Ndarray(other) if std::ptr::eq(other, ndarray))
                });
                let home = group_in_pack(path.as_str(), &group.path);
                let at = entity_path(&home, &ndarray.name);
                if ndarray.value.is_none() && !is_chosen && !self.is_array_at(&at) {
                    let (member, entity) = (path.as_str(), Entity::Ndarray(ndarray));
                    let described = Described { member, facts, group, entity };
                    findings.push(context.sources.at(&described, missing_array(&at, ndarray), &[]));
                }
            }
        }
    }

    /// Returns problems of a pack document that should describe every array but differs from the generated one. `found`
    /// are the findings from [`Contents::findings`].
    pub(crate) fn document_of_all(&self, found: &[Finding]) -> Vec<Finding> {
        let is_of_arrays = |facts: &Arc<DescriptionFacts>| {
            // A document with only attributes is completed by `create`.
            let is_waiting = |document: &Document| {
                is_attributes_document(facts.text()) && document.entities().next().is_none()
            };
            facts.document().is_some_and(|document| !is_waiting(document))
        };
        if !self.pack_document.as_ref().is_some_and(is_of_arrays) {
            return Vec::new();
        }
        let is_own = || self.has_own_document();
        let mut missing =
            self.arrays.keys().filter(|path| self.in_pack_document(path).is_none()).peekable();
        if missing.peek().is_some() {
            let shown = listed(missing.map(|path| format!("`{path}`")), MAX_NAMES_SHOWN);
            let message = format!("the document of the pack does not describe {shown}");
            let finding = Finding::new(Code::PartialDocument, message).in_member(PACK_DOCUMENT);
            let severity = if is_own() { Severity::Error } else { Severity::Warning };
            return vec![Finding { severity, ..finding }];
        }
        let is_repeated = |path: &MemberPath| self.beside(path).next().is_some();
        let is_explained =
            found.iter().any(|finding| finding.is_error() || finding.code == Code::DescribedTwice);
        if is_explained || !self.arrays.keys().all(is_repeated) || !is_own() {
            return Vec::new();
        }
        let message = "the document of the pack differs from the descriptions next to the arrays";
        let finding = Finding::new(Code::DescribedTwice, message).in_member(PACK_DOCUMENT);
        vec![finding.hint("`ra-pack create` generates it again")]
    }

    /// Returns some descriptions without an array: one of them may be misnamed.
    fn astray(&self) -> Vec<&MemberPath> {
        self.unattached().map(|(path, _)| path).take(MAX_ASTRAY).collect()
    }

    /// Returns all problems of one document, including references to things that are neither in it nor in the pack.
    pub(crate) fn document_findings(
        &self,
        member: &str,
        facts: &DescriptionFacts,
        findings: &mut Vec<Finding>,
    ) {
        findings.append(&mut facts.findings(member));
        self.unresolved(member, facts, |_, _| true, findings);
    }

    /// Reports unresolved references in the documents of arrays, except those in the shapes of the arrays themselves,
    /// which are checked with the headers.
    pub(super) fn reference_findings(&self, findings: &mut Vec<Finding>) {
        if let Some(facts) = &self.pack_document {
            let without_file = |group: &str, ndarray: &str| {
                let path = entity_path(group, ndarray);
                !self.is_array_at(&path) || !self.is_in_pack_document(&path)
            };
            self.unresolved(PACK_DOCUMENT, facts, without_file, findings);
        }
        for (path, facts) in &self.descriptions {
            let Some(array) = self.array_beside(path) else { continue };
            // A plain description refers only to the coordinates of its shape.
            if self.plain_facts(array).is_some() || facts.unresolved().is_empty() {
                continue;
            }
            let described = self.description(array, &mut Vec::new());
            let other = |group: &str, ndarray: &str| {
                described.is_none_or(|described| {
                    !matches!(described.entity, Entity::Ndarray(own)
                        if described.group.path == group && own.name == ndarray)
                })
            };
            self.unresolved(path.as_str(), facts, other, findings);
        }
    }

    fn unresolved(
        &self,
        member: &str,
        facts: &DescriptionFacts,
        counts: impl Fn(&str, &str) -> bool,
        findings: &mut Vec<Finding>,
    ) {
        if facts.unresolved().is_empty() {
            return;
        }
        let Some(document) = facts.document() else { return };
        let coords: Vec<_> = document.dimcoords().map(|(_, coord)| &coord.name).collect();
        let mut found = Vec::new();
        for reference in facts.unresolved() {
            let (is_there, known) = match &reference.by {
                Referrer::Extent { group, ndarray, .. } => {
                    let home = group_in_pack(member, group);
                    let is_there = self.find_coordinate(&home, &reference.name).is_some();
                    (is_there || !counts(group, ndarray), &coords[..])
                }
                Referrer::Value => (self.holds(&reference.name), &[][..]),
            };
            if !is_there && found.len() < MAX_FINDINGS {
                found.push(reference.finding(facts.text(), known).in_member(member));
            }
        }
        findings.extend(found);
    }

    /// Returns whether a path of the pack is an array, a directory with arrays, or an entity of the pack's document.
    fn holds(&self, path: &str) -> bool {
        let below = format!("{}/", path.trim_matches('/'));
        let mut after = self.arrays.range::<str, _>((Bound::Included(&*below), Bound::Unbounded));
        let in_directory =
            after.next().is_some_and(|(array, _)| array.as_str().starts_with(&below));
        self.is_array_at(path) || in_directory || self.is_in_pack_document(path)
    }
}

fn missing_array(path: &str, ndarray: &Ndarray) -> Finding {
    let file = format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/'));
    let message = format!("`{}` is described, but `{file}` does not exist", ndarray.name);
    Finding::new(Code::MissingArray, message)
}

/// Returns the finding for an array without a description. `astray` are descriptions without an array.
fn undescribed(path: &MemberPath, astray: &[&MemberPath]) -> Finding {
    let near = astray.iter().filter(|other| other.parent() == path.parent());
    let near = ndl::nearest(path.stem(), near.map(|other| other.stem()));
    let finding = Finding::new(Code::Undescribed, "the array has no description")
        .in_member(path.as_str())
        .expected(
            format!("`{}.yaml` next to it, or an entry in `manifest.yaml`", path.stem()),
            "neither",
        );
    match near {
        Some(near) => finding
            .hint(format!("`{near}.yaml` has no array: did you mean `{}.yaml`?", path.stem())),
        None => finding,
    }
}
