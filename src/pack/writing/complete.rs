//! Documents of packs: new ones, and hand-written ones to complete.

use std::convert::Infallible;

use crate::finding::{Code, Finding, Severity};
use crate::ndl::{self, Attribute, Document, Form, Group, Refusal, entity_path};
use crate::pack::PACK_DOCUMENT;
use crate::pack::attributes::stated_attributes;
use crate::pack::contents::Contents;
use crate::pack::coordinates::Convention;
use crate::pack::document::{Builder, DocumentPart, PackDocument, Parts};
use crate::pack::generated::{HEAD, STATED};

/// Describes every array of a pack in one document; see [`PackDocument`].
pub(crate) fn pack_document(contents: &Contents, convention: Option<&Convention<'_>>) -> String {
    let mut text = String::new();
    let whole = PackDocument::new(contents, convention).each_block(|block| {
        text.push_str(block);
        Ok::<_, Infallible>(())
    });
    let Ok(()) = whole;
    text
}

/// Returns a document that states attributes and coordinates of the pack, to be completed with the arrays.
pub(crate) fn attributes_document(groups: Vec<Group>) -> String {
    let document = Document { form: Form::Grouped, groups };
    format!("{STATED}{HEAD}{}", document.to_yaml())
}

impl<'a> PackDocument<'a> {
    /// Makes the document. Arrays without a description are described by their headers. Coordinates in shapes become
    /// dimension coordinates, so that the document is complete. With a `convention`, so do arrays without a description
    /// that have the name of a coordinate.
    pub(crate) fn new(contents: &'a Contents, convention: Option<&Convention<'_>>) -> Self {
        Self::stating(&contents.attributes, contents, convention)
    }

    /// Returns the groups with all arrays, and coordinates that they refer to, that `document` lacks.
    fn missing(contents: &'a Contents, document: &Document) -> Vec<Group> {
        let groups = Builder::groups(contents, None, Ok(document)).into_iter();
        let groups = groups.map(|(path, Parts { attributes, dimcoords, ndarrays })| {
            let is_new = |part: &&DocumentPart<'_>| {
                !contents.is_in_pack_document(&entity_path(&path, part.name()))
            };
            let [dimcoords, ndarrays] = [dimcoords, ndarrays].map(|parts| {
                parts.iter().filter(is_new).map(|part| part.array().into_owned()).collect()
            });
            Group { path, attributes, dimcoords, ndarrays }
        });
        let is_empty = |group: &Group| group.dimcoords.is_empty() && group.ndarrays.is_empty();
        groups.filter(|group| !is_empty(group)).collect()
    }
}

impl Contents {
    /// Removes the document of the pack if it only states attributes and describes no array. The attributes become part
    /// of the generated document.
    pub(crate) fn forget_statement(&mut self) {
        let Some(facts) = &self.pack_document else { return };
        let Some(attributes) = stated_attributes(facts.text()) else { return };
        let root = Group { attributes, ..Group::new("/") };
        if attributes_document(vec![root.clone()]) == facts.text() {
            (self.attributes, self.pack_document) = (root.attributes, None);
        }
    }

    /// Returns the hand-written document of the pack, completed with the arrays that it lacks and with these attributes
    /// of the pack; `None` if it is complete.
    pub(crate) fn complete_document(
        &self,
        attributes: &[Attribute],
    ) -> Option<Result<String, Finding>> {
        let facts = self.pack_document.as_ref()?;
        let missing = PackDocument::missing(self, facts.document()?);
        let names = |group: &Group| {
            let arrays = group.ndarrays.iter().map(|array| &array.name);
            let mut names = arrays.chain(group.dimcoords.iter().map(|coord| &coord.name));
            names.next().map(|name| entity_path(&group.path, name))
        };
        let first = missing.iter().find_map(names);
        let completed = match &first {
            Some(_) => ndl::complete(facts.text(), &missing),
            None => Some(facts.text().to_owned()),
        };
        let text = completed.and_then(|text| with_attributes(&text, attributes).ok());
        if first.is_none() && text.as_deref() == Some(facts.text()) {
            return None;
        }
        let lacking = first.or_else(|| Some(attributes.first()?.name.clone())).unwrap_or_default();
        Some(text.ok_or_else(|| {
            let message = format!("the document lacks `{lacking}`, which cannot be added to this text");
            let finding = Finding::new(Code::PartialDocument, message).in_member(PACK_DOCUMENT);
            let severity = Severity::Error;
            let hint = "rewrite it in block style without anchors, as `ra-pack describe DIR` does, or remove it";
            Finding { severity, ..finding }.hint(hint)
        }))
    }

    /// Removes the document of the pack if ra-pack made it and every array has its own description: it is generated
    /// again. Returns a finding about content that the other descriptions lack.
    fn forget_own_document(&mut self) -> Option<Finding> {
        let own = self.has_own_document();
        let facts = self.pack_document.take_if(|_| own)?;
        if self.undescribed().next().is_some() {
            self.pack_document = Some(facts);
            return None;
        }
        self.attributes = stated_attributes(facts.text()).unwrap_or_default();
        let message =
            "the document differs from the descriptions next to the arrays, and is generated again";
        let finding = Finding::new(Code::DescribedTwice, message).in_member(PACK_DOCUMENT);
        Some(finding.warning().hint(
            "make the changes in the descriptions next to the arrays; to keep this document, add a \
             comment of your own",
        ))
    }

    /// Removes the document of the pack if packing generates it again. Returns a finding about content that is then lost.
    pub(crate) fn forget_generated(&mut self) -> Option<Finding> {
        self.forget_repetition();
        self.forget_statement();
        self.forget_own_document()
    }

    /// Returns the document of the pack that packing would make; `None` if it is complete or cannot be completed.
    pub(crate) fn packed_document(mut self) -> Option<String> {
        self.forget_generated();
        match self.pack_document {
            None => Some(pack_document(&self, None)),
            Some(_) => self.complete_document(&[])?.ok(),
        }
    }
}

/// Returns the text of a document with these attributes of its root group. If ra-pack wrote the document, it is marked
/// as stating them, so that they are kept when it is generated again.
pub(in crate::pack) fn with_attributes(
    text: &str,
    attributes: &[Attribute],
) -> Result<String, Refusal> {
    let parsed = ndl::parse(text.as_bytes());
    let Some(mut wanted) = parsed.document else {
        return Err(Refusal { change: None, why: "it has errors".to_owned() });
    };
    wanted.set_attributes(attributes);
    let revised = ndl::revise(text, &wanted)?;
    Ok(if revised.changes.is_empty() { revised.text } else { as_stated(revised.text) })
}

/// Marks a document that ra-pack wrote as stating attributes; others are unchanged.
pub(crate) fn as_stated(text: String) -> String {
    if text.starts_with(HEAD) { format!("{STATED}{text}") } else { text }
}
