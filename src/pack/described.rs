//! The description of one array, and its positions in the text of its document.

use super::PACK_DOCUMENT;
use super::facts::DescriptionFacts;
use crate::finding::{Finding, Span};
use crate::ndl::{self, Entity, Group, Ndarray, Order, SourceMap, Step};

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

/// Returns the group of the pack for a group of the document `member`, which depends on the document's directory.
pub(crate) fn group_in_pack(member: &str, group: &str) -> String {
    match (member.rsplit_once('/'), group) {
        (None, group) => group.to_owned(),
        (Some((directory, _)), "/") => format!("/{directory}"),
        (Some((directory, _)), group) => format!("/{directory}{group}"),
    }
}

/// The positions in the texts of documents. They need a second parse, which is done only for documents with problems,
/// and only once for the document of the pack.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    of_pack: Option<(String, SourceMap)>,
    /// The last of the other documents.
    beside: Option<(String, SourceMap)>,
}

impl Sources {
    /// Returns the position of something in an entity, or the nearest position; see [`SourceMap::entity_span`].
    pub(super) fn span(&mut self, described: &Described<'_>, place: &[Step<'_>]) -> Option<Span> {
        let Described { member, facts, group, entity } = *described;
        let kept = if described.is_of_pack() { &mut self.of_pack } else { &mut self.beside };
        if kept.as_ref().is_none_or(|(known, _)| known != member) {
            *kept = Some((member.to_owned(), ndl::parse(facts.text().as_bytes()).source));
        }
        kept.as_ref()?.1.entity_span(&group.path, &entity.array().name, place)
    }

    /// Adds the document of a description and a position in it to a finding.
    pub(crate) fn at(
        &mut self,
        described: &Described<'_>,
        finding: Finding,
        place: &[Step<'_>],
    ) -> Finding {
        let finding = finding.in_member(described.member);
        match self.span(described, place) {
            Some(span) => finding.at_span(described.facts.text(), span),
            None => finding,
        }
    }
}
