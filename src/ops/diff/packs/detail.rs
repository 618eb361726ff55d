//! What is told of one member that is not the same.

use super::super::DiffOptions;
use super::super::arrays::{compare, stored_otherwise};
use super::super::side::Side;
use super::described::Said;
use super::half::Half;
use super::pairing::{Pair, Unit, is_array};
use super::report::{ArrayChange, DescriptionDifference, MemberChange, MemberDiff};
use super::{bytes, described};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::ndl::Order;
use crate::pack::{self, PACK_DOCUMENT, shape_of};

/// Compares one member of two packs.
pub(super) struct Details<'a> {
    pub(super) a: &'a Half,
    pub(super) b: &'a Half,
    pub(super) options: &'a DiffOptions,
    /// Whether descriptions in the documents of both packs, which are made of others, are to be compared.
    pub(super) documents: bool,
}

impl Details<'_> {
    /// What is told of a member; nothing when it is the same after all.
    pub(super) fn of(&self, pair: &Pair) -> Result<Option<MemberDiff>> {
        match (pair.a, pair.b) {
            (Some(a), Some(b)) => self.both(&a, &b, pair.renamed),
            (Some(a), None) => one(self.a, &a, MemberChange::Removed).map(Some),
            (None, Some(b)) => one(self.b, &b, MemberChange::Added).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn both(&self, a: &Unit, b: &Unit, renamed: bool) -> Result<Option<MemberDiff>> {
        let mut member = new(self.b.name(b.file()), MemberChange::StoredOtherwise, b.generated);
        member.renamed_from = renamed.then(|| self.a.name(a.file()).to_owned());
        member.size_a = Some(self.a.size(a.file()));
        member.size_b = Some(self.b.size(b.file()));
        let is_unread = |half: &Half, unit: &Unit| unit.files().any(|file| half.is_damaged(file));
        if is_unread(self.a, a) || is_unread(self.b, b) {
            member.change = MemberChange::Unread;
            return Ok(Some(member));
        }
        let mut differs = false;
        let is_read = is_array(&member.name) && self.arrays(a, b, &mut member)?;
        if !is_read && !self.is_same_file(a, b) {
            differs |= self.files(a, b, &mut member)?;
        }
        differs |= member.description.iter().any(|place| !place.is_about_storage());
        let mut tolerated = false;
        if let Some(array) = &member.array {
            differs |= !array.header.is_empty();
            if let Some(elements) = &array.elements {
                differs |= elements.differing > 0;
                tolerated = elements.furthest.is_some();
            }
        }
        member.change = match (renamed, differs, tolerated) {
            (true, ..) => MemberChange::Renamed,
            (_, true, _) => MemberChange::Changed,
            (_, _, true) => MemberChange::Tolerated,
            _ => MemberChange::StoredOtherwise,
        };
        Ok(Some(member))
    }

    fn is_same_file(&self, a: &Unit, b: &Unit) -> bool {
        super::is_same(self.a, self.b, a.file(), b.file())
    }

    /// Compares two files that are no arrays; says whether that is a difference of their contents.
    fn files(&self, a: &Unit, b: &Unit, member: &mut MemberDiff) -> Result<bool> {
        member.file = bytes::compare(&self.a.blob(a.file())?, &self.b.blob(b.file())?)?;
        if pack::may_be_description(&member.name) && !b.generated {
            let facts = |half: &Half, file| half.facts(half.name(file), file);
            let (ours, theirs) = (facts(self.a, a.file())?, facts(self.b, b.file())?);
            let is_of_pack = self.a.name(a.file()) == PACK_DOCUMENT;
            if let Some(found) = described::of_documents(&ours, &theirs, is_of_pack) {
                member.description = found;
                return Ok(false);
            }
        }
        Ok(member.file.is_some())
    }

    /// Compares two arrays and their descriptions. What cannot be read as an array is left to be compared as
    /// a file.
    fn arrays(&self, a: &Unit, b: &Unit, member: &mut MemberDiff) -> Result<bool> {
        let is_compared = a.description().is_some() || b.description().is_some() || self.documents;
        let said = (described::said(self.a, a)?, described::said(self.b, b)?);
        let orders = (order(&said.0), order(&said.1));
        if is_compared {
            self.descriptions(a, b, said, member)?;
        }
        let is_same_file = self.is_same_file(a, b) && orders.0 == orders.1;
        if is_same_file && member.description.is_empty() {
            return Ok(true);
        }
        let ours = side(self.a, a, orders.0)?;
        let theirs = side(self.b, b, orders.1)?;
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return Ok(false) };
        let mut array = ArrayChange {
            element: theirs.element().to_string(),
            shape: theirs.shape(),
            header: Vec::new(),
            stored: Vec::new(),
            elements: None,
        };
        if !is_same_file {
            array.stored = stored_otherwise(&ours, &theirs);
            (array.header, array.elements) = compare(&ours, theirs, self.options)?;
            // That it is stored otherwise as well is no news of an array that is another.
            if array.elements.is_none() {
                array.stored.clear();
            }
        }
        member.array = Some(array);
        Ok(true)
    }

    fn descriptions(
        &self,
        a: &Unit,
        b: &Unit,
        said: (Spoken, Spoken),
        member: &mut MemberDiff,
    ) -> Result<()> {
        match (said, a.description().zip(b.description())) {
            ((Ok(ours), Ok(theirs)), _) => {
                member.description = described::differences(ours.as_ref(), theirs.as_ref());
                let is_same = |(one, other)| super::is_same(self.a, self.b, one, other);
                // Of an array with another name, the description has another as well.
                member.description_rewritten = member.description.is_empty()
                    && member.renamed_from.is_none()
                    && a.description().zip(b.description()).is_some_and(|both| !is_same(both));
            }
            // What cannot be understood differs as text.
            (_, Some((one, other))) => {
                let difference = bytes::compare(&self.a.blob(one)?, &self.b.blob(other)?)?;
                member.description.extend(difference.map(|difference| DescriptionDifference {
                    path: format!("line {}", difference.line.unwrap_or(1)),
                    a: None,
                    b: None,
                }));
            }
            _ => {}
        }
        Ok(())
    }
}

/// What is said of an array, or what is wrong with that.
type Spoken = Result<Option<Said>, Box<Finding>>;

fn order(said: &Spoken) -> Order {
    let said = said.as_ref().ok().and_then(Option::as_ref);
    said.map(|said| said.order).unwrap_or_default()
}

/// An array; nothing when the file is none.
fn side(half: &Half, unit: &Unit, order: Order) -> Result<Option<Side>> {
    match Side::new(half.name(unit.file()), half.blob(unit.file())?, order) {
        Ok(side) => Ok(Some(side)),
        Err(Error::Array { .. } | Error::NotAnArray { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A member of one pack alone.
fn one(half: &Half, unit: &Unit, change: MemberChange) -> Result<MemberDiff> {
    let mut member = new(half.name(unit.file()), change, unit.generated);
    let size = Some(half.size(unit.file()));
    if change == MemberChange::Added {
        member.size_b = size;
    } else {
        member.size_a = size;
    }
    if is_array(&member.name)
        && let Some((path, facts)) = half.glanced().arrays.entry(&member.name)
        && let Ok(header) = &facts.header
    {
        let described = half.glanced().description(path, &mut Vec::new());
        let order = match described {
            Some(described) => described.order(),
            None => {
                let in_document = half.document()?.in_pack_document(path);
                in_document.map(|described| described.order()).unwrap_or_default()
            }
        };
        member.array = Some(ArrayChange {
            element: header.element().to_string(),
            shape: shape_of(header.dims(), order),
            header: Vec::new(),
            stored: Vec::new(),
            elements: None,
        });
    }
    Ok(member)
}

fn new(name: &str, change: MemberChange, generated: bool) -> MemberDiff {
    MemberDiff {
        name: name.to_owned(),
        renamed_from: None,
        change,
        generated,
        size_a: None,
        size_b: None,
        array: None,
        description: Vec::new(),
        description_rewritten: false,
        file: None,
    }
}
