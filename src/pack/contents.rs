//! The arrays and descriptions of a pack, and which description belongs to which array.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::attributes::is_attributes_document;
use super::coordinates::group_in_pack;
use super::document::{FORMAT_VERSION, newer_version, stated_version};
use super::{
    ARRAY_EXTENSION, ArrayFacts, Content, DESCRIPTION_EXTENSIONS, DescriptionFacts, PACK_DOCUMENT,
    check, group_of,
};
use crate::finding::{Code, Finding, Severity};
use crate::message::Message;
use crate::ndl::{
    self, Attribute, Document, Entity, Group, MAX_FINDINGS, Ndarray, Order, PlainDescription,
    Referrer, entity_path,
};
use crate::path::MemberPath;

/// Maximum number of names that are compared with a description.
const MAX_ASTRAY: usize = 64;

/// The less common extension of descriptions.
const OTHER_EXTENSION: &str = DESCRIPTION_EXTENSIONS[1];

/// Maximum number of names that a message lists.
const MAX_NAMES_SHOWN: usize = 3;

/// The arrays and descriptions of one pack, by payload name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents {
    pub(crate) arrays: BTreeMap<MemberPath, Arc<ArrayFacts>>,
    pub(crate) descriptions: BTreeMap<MemberPath, Arc<DescriptionFacts>>,
    /// The description of the complete pack.
    pub(crate) pack_document: Option<Arc<DescriptionFacts>>,
    /// Attributes of the pack, once the document that states them is removed.
    pub(crate) attributes: Vec<Attribute>,
    /// Whether any description has the other extension; if not, no search is needed.
    pub(super) has_yml: bool,
}

/// The description of one array: a document, and an entity in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Described<'a> {
    /// The member that contains the document.
    pub(crate) member: &'a str,
    pub(crate) facts: &'a DescriptionFacts,
    pub(crate) group: &'a Group,
    pub(crate) entity: Entity<'a>,
}

impl<'a> Described<'a> {
    /// Returns the order of the description's shape.
    pub(crate) fn order(&self) -> Order {
        self.entity.order()
    }

    /// Returns whether it is in the description of the pack, whose groups are directories.
    pub(crate) fn is_of_pack(&self) -> bool {
        self.member == PACK_DOCUMENT
    }

    /// Returns the group of the pack that contains it.
    pub(crate) fn home(&self) -> String {
        group_in_pack(self.member, &self.group.path)
    }

    /// Returns the dimcoord of the document that a name in the shape means.
    pub(crate) fn resolve_coord(&self, name: &str) -> Option<(&'a Group, &'a Ndarray)> {
        self.facts.index()?.resolve_coord(&self.group.path, name)
    }
}

impl Contents {
    /// Collects the content of many payload files. Files in sorted order, as in most archives, need no lookups.
    pub(crate) fn collect(files: impl Iterator<Item = (MemberPath, Content)>) -> Self {
        let mut this = Self::default();
        let (mut arrays, mut descriptions) = (Vec::new(), Vec::new());
        for (path, content) in files {
            match content {
                Content::Array(facts) => arrays.push((path, facts)),
                Content::Description(facts) if path.as_str() != PACK_DOCUMENT => {
                    this.has_yml |= path.extension() == Some(OTHER_EXTENSION);
                    descriptions.push((path, facts));
                }
                other => this.add(path, other),
            }
        }
        this.arrays = arrays.into_iter().collect();
        this.descriptions = descriptions.into_iter().collect();
        this
    }

    /// Adds the content of one payload file. For many files, [`Contents::collect`] is faster.
    pub(crate) fn add(&mut self, path: MemberPath, content: Content) {
        match content {
            Content::Array(facts) => {
                self.arrays.insert(path, facts);
            }
            Content::Description(facts) if path.as_str() == PACK_DOCUMENT => {
                self.pack_document = Some(facts);
            }
            Content::Description(facts) => {
                self.has_yml |= path.extension() == Some(OTHER_EXTENSION);
                self.descriptions.insert(path, facts);
            }
            Content::Other => {}
        }
    }

    /// Returns whether a payload file is an array.
    pub(crate) fn is_array(&self, member: &str) -> bool {
        self.arrays.contains_key(member)
    }

    /// Returns the array for a payload file: the file itself, or the array next to a description.
    pub(crate) fn array_of(&self, member: &str) -> Option<&str> {
        let array = |name: &str| self.arrays.get_key_value(name).map(|(path, _)| path.as_str());
        array(member).or_else(|| {
            let (stem, extension) = member.rsplit_once('.')?;
            let describes = DESCRIPTION_EXTENSIONS.contains(&extension);
            describes.then(|| array(&format!("{stem}.{ARRAY_EXTENSION}")))?
        })
    }

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
    /// Returns the version of the pack format that the description of the pack states.
    pub(crate) fn format_version(&self) -> Option<&str> {
        stated_version(self.pack_document.as_ref()?.text())
    }

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

    /// Returns a finding for each description that uses extensions of the language.
    pub(crate) fn extension_words(&self) -> Vec<Finding> {
        let documents = self.descriptions.iter().map(|(path, facts)| (path.as_str(), &**facts));
        let pack = self.pack_document.iter().map(|facts| (PACK_DOCUMENT, &**facts));
        documents.chain(pack).flat_map(|(member, facts)| facts.extension_words(member)).collect()
    }

    /// Returns the arrays without a description.
    pub(crate) fn undescribed(&self) -> impl Iterator<Item = (&MemberPath, &ArrayFacts)> {
        let arrays = self.arrays.iter().map(|(path, facts)| (path, &**facts));
        arrays.filter(|(path, _)| {
            self.beside(path).next().is_none() && self.in_pack_document(path).is_none()
        })
    }

    /// Returns the description next to an array if it is the only one and plain.
    pub(crate) fn plain(&self, path: &MemberPath) -> Option<PlainDescription<'_>> {
        self.plain_facts(path)?.plain()
    }

    /// Returns the same description without reading it.
    pub(crate) fn plain_facts(&self, path: &MemberPath) -> Option<&DescriptionFacts> {
        let mut beside = self.beside(path);
        let (_, facts) = beside.next()?;
        (facts.is_plain() && beside.next().is_none()).then_some(facts)
    }

    /// Returns the descriptions next to an array.
    fn beside(&self, path: &MemberPath) -> impl Iterator<Item = (&MemberPath, &DescriptionFacts)> {
        let extensions = DESCRIPTION_EXTENSIONS.iter();
        extensions.filter(|extension| self.has_yml || **extension != OTHER_EXTENSION).filter_map(
            move |extension| {
                let name = format!("{}.{extension}", path.without_extension());
                let (path, facts) = self.descriptions.get_key_value(&*name)?;
                Some((path, &**facts))
            },
        )
    }

    /// Returns the array next to a description.
    pub(super) fn array_beside(&self, description: &MemberPath) -> Option<&MemberPath> {
        let array = format!("{}.{ARRAY_EXTENSION}", description.without_extension());
        self.arrays.get_key_value(&*array).map(|(path, _)| path)
    }

    /// Returns the description of an array: the document next to it, or else its entry in the pack's document.
    /// Documents that cannot be used are reported.
    pub(crate) fn description(
        &self,
        path: &MemberPath,
        findings: &mut Vec<Finding>,
    ) -> Option<Described<'_>> {
        let mut beside = self.beside(path);
        let Some((member, facts)) = beside.next() else { return self.in_pack_document(path) };
        if let Some((second, _)) = beside.next() {
            findings.push(
                Finding::new(
                    Code::DescribedTwice,
                    format!("both `{member}` and `{second}` describe the array"),
                )
                .in_member(path.as_str())
                .hint("remove one of them"),
            );
        }
        let own = facts.findings(member.as_str());
        let has_errors = own.iter().any(Finding::is_error);
        findings.extend(own.into_iter().map(|finding| {
            if !facts.text().trim().is_empty() {
                return finding;
            }
            let hint = Message::from("write a description: `ra-pack describe ");
            finding.hint(hint.file(path.as_str()).text(" > ").file(member.as_str()).text("`"))
        }));
        let Some(document) = facts.document() else {
            if !has_errors {
                findings.push(not_a_description(member.as_str()));
            }
            return None;
        };
        let mut all = entities(document);
        let named = || entities(document).find(|(_, entity)| entity.array().name == path.stem());
        let chosen = match (all.next(), all.next()) {
            (Some(only), None) => Some(only),
            _ => named(),
        };
        let Some((group, entity)) = chosen else {
            // An error in the document may be why the entry is missing.
            if has_errors {
                return None;
            }
            let message = match entities(document).count() {
                0 => "the document describes no array".to_owned(),
                count => format!(
                    "the document describes {count} arrays, but none is called `{}`",
                    path.stem()
                ),
            };
            findings.push(
                Finding::new(Code::NoArrayDescribed, message)
                    .in_member(member.as_str())
                    .expected(format!("an ndarray or dimcoord `{}`", path.stem()), names(document))
                    .hint(format!("describe `{path}` here under its own name")),
            );
            return None;
        };
        Some(Described { member: member.as_str(), facts, group, entity })
    }

    /// Returns the entry of an array in the pack's document.
    pub(crate) fn in_pack_document(&self, path: &MemberPath) -> Option<Described<'_>> {
        let facts = self.pack_document.as_deref()?;
        let (group, entity) = facts.index()?.entity(&entity_path(&group_of(path), path.stem()))?;
        Some(Described { member: PACK_DOCUMENT, facts, group, entity })
    }

    /// Returns whether the pack's document describes something at this path.
    pub(super) fn is_in_pack_document(&self, path: &str) -> bool {
        let index = self.pack_document.as_ref().and_then(|facts| facts.index());
        index.is_some_and(|index| index.entity(path).is_some())
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
            let shown: Vec<_> =
                missing.by_ref().take(MAX_NAMES_SHOWN).map(|path| format!("`{path}`")).collect();
            let (shown, more) = (shown.join(", "), missing.count());
            let shown = if more > 0 { format!("{shown} and {more} more") } else { shown };
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

    /// Returns the files without an array next to them that are still meant as descriptions.
    pub(crate) fn unattached(&self) -> impl Iterator<Item = (&MemberPath, &DescriptionFacts)> {
        let descriptions = self.descriptions.iter().map(|(path, facts)| (path, &**facts));
        descriptions.filter(|(path, facts)| facts.describes() && self.array_beside(path).is_none())
    }

    /// Removes YAML files that are not descriptions.
    pub(crate) fn forget_ordinary(&mut self) {
        let arrays = &self.arrays;
        self.descriptions.retain(|path, facts| {
            let array = || format!("{}.{ARRAY_EXTENSION}", path.without_extension());
            facts.describes() || arrays.contains_key(&*array())
        });
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

    /// Returns the array at a path of the pack.
    pub(crate) fn array_at(&self, path: &str) -> Option<(&MemberPath, &ArrayFacts)> {
        let file = format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/'));
        self.arrays.get_key_value(&*file).map(|(path, facts)| (path, &**facts))
    }

    pub(super) fn is_array_at(&self, path: &str) -> bool {
        self.array_at(path).is_some()
    }
}

/// Returns the entities of a document that the file next to it can be: its ndarrays, or its dimcoords if there are no
/// ndarrays. An array's own coordinates are described in the same document.
fn entities(document: &Document) -> impl Iterator<Item = (&Group, Entity<'_>)> {
    let none = document.ndarrays().next().is_none();
    document.entities().filter(move |(_, entity)| none || matches!(entity, Entity::Ndarray(_)))
}

fn names(document: &Document) -> String {
    let names: Vec<_> =
        entities(document).map(|(_, entity)| format!("`{}`", entity.array().name)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn not_a_description(member: &str) -> Finding {
    Finding::new(Code::BadPackDocument, "the document is not an NDL description")
        .in_member(member)
        .expected("`ndarrays`, `dimcoords`, `attributes`, or groups", "none of them")
        .hint("rename it if it is not a description")
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
