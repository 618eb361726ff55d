//! The arrays and descriptions of a pack, and which description belongs to which array.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::array_facts::ArrayFacts;
use super::described::Described;
use super::facts::DescriptionFacts;
use super::generated::stated_version;
use super::inspect::Content;
use super::{ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS, PACK_DOCUMENT, RO_CRATE, group_of};
use crate::finding::{Code, Finding};
use crate::message::Message;
use crate::ndl::{Attribute, Document, Entity, Group, PlainDescription, entity_path};
use crate::path::MemberPath;

/// The less common extension of descriptions.
const OTHER_EXTENSION: &str = DESCRIPTION_EXTENSIONS[1];

/// The arrays and descriptions of one pack, by payload name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents {
    pub(crate) arrays: BTreeMap<MemberPath, Arc<ArrayFacts>>,
    pub(crate) descriptions: BTreeMap<MemberPath, Arc<DescriptionFacts>>,
    /// The description of the complete pack.
    pub(crate) pack_document: Option<Arc<DescriptionFacts>>,
    /// The metadata file of an RO-Crate, if ra-pack made it.
    pub(crate) ro_crate: Option<Arc<str>>,
    /// Attributes of the pack, once the document that states them is removed.
    pub(crate) attributes: Vec<Attribute>,
    /// Arrays whose values neither increase nor decrease throughout, so that they are not coordinates by convention.
    #[cfg(feature = "full")]
    pub(crate) unordered: std::collections::BTreeSet<MemberPath>,
    /// Whether any description has the other extension; if not, no search is needed.
    pub(super) has_yml: bool,
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
            Content::Crate(text) if path.as_str() == RO_CRATE => self.ro_crate = Some(text),
            Content::Crate(_) | Content::Other => {}
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

    /// Returns the version of the pack format that the description of the pack states.
    pub(crate) fn format_version(&self) -> Option<&str> {
        stated_version(self.pack_document.as_ref()?.text())
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
    pub(super) fn beside(
        &self,
        path: &MemberPath,
    ) -> impl Iterator<Item = (&MemberPath, &DescriptionFacts)> {
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
pub(super) fn entities(document: &Document) -> impl Iterator<Item = (&Group, Entity<'_>)> {
    let none = document.ndarrays().next().is_none();
    document.entities().filter(move |(_, entity)| none || matches!(entity, Entity::Ndarray(_)))
}

fn names(document: &Document) -> String {
    let names: Vec<_> =
        entities(document).map(|(_, entity)| format!("`{}`", entity.array().name)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

pub(super) fn not_a_description(member: &str) -> Finding {
    Finding::new(Code::BadPackDocument, "the document is not an NDL description")
        .in_member(member)
        .expected("`ndarrays`, `dimcoords`, `attributes`, or groups", "none of them")
        .hint("rename it if it is not a description")
}
