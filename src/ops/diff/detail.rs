//! What is told of one member that is not the same.

use super::DiffOptions;
use super::arrays::{OpenArray, compare, stored_otherwise};
use super::blob;
use super::pairing::{Pair, Unit, is_array};
use super::report::{ArrayChange, DescriptionDifference, MemberChange, MemberDiff};
use super::side::PackSide;
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::ndl::{Document, Order, Value};
use crate::pack::{self, Content, Contents, DescriptionFacts, Entity, PACK_DOCUMENT, shape_of};
use crate::path::MemberPath;

/// Compares one member of two packs.
pub(super) struct Details<'a> {
    pub(super) a: &'a PackSide,
    pub(super) b: &'a PackSide,
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
        let mut member = new(self.b.name(b.file), MemberChange::StoredOtherwise, b.generated);
        member.renamed_from = renamed.then(|| self.a.name(a.file).to_owned());
        member.size_a = Some(self.a.size(a.file));
        member.size_b = Some(self.b.size(b.file));
        let is_unread =
            |side: &PackSide, unit: &Unit| unit.files().any(|file| side.is_damaged(file));
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
        super::is_same(self.a, self.b, a.file, b.file)
    }

    /// Compares two files that are no arrays; says whether that is a difference of their contents.
    fn files(&self, a: &Unit, b: &Unit, member: &mut MemberDiff) -> Result<bool> {
        member.file = blob::compare(&self.a.blob(a.file)?, &self.b.blob(b.file)?)?;
        if pack::may_be_description(&member.name) && !b.generated {
            let facts = |side: &PackSide, file| side.facts(side.name(file), file);
            let (ours, theirs) = (facts(self.a, a.file)?, facts(self.b, b.file)?);
            let is_of_pack = self.a.name(a.file) == PACK_DOCUMENT;
            if let Some(found) = of_documents(&ours, &theirs, is_of_pack) {
                member.description = found;
                return Ok(false);
            }
        }
        Ok(member.file.is_some())
    }

    /// Compares two arrays and their descriptions. What cannot be read as an array is left to be compared as
    /// a file.
    fn arrays(&self, a: &Unit, b: &Unit, member: &mut MemberDiff) -> Result<bool> {
        let is_compared = a.description.is_some() || b.description.is_some() || self.documents;
        let said = (said(self.a, a)?, said(self.b, b)?);
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
        said: (Stated, Stated),
        member: &mut MemberDiff,
    ) -> Result<()> {
        match (said, a.description.zip(b.description)) {
            ((Ok(ours), Ok(theirs)), _) => {
                member.description = differences(ours.as_ref(), theirs.as_ref());
                let is_same = |(one, other)| super::is_same(self.a, self.b, one, other);
                // Of an array with another name, the description has another as well.
                member.description_rewritten = member.description.is_empty()
                    && member.renamed_from.is_none()
                    && a.description.zip(b.description).is_some_and(|both| !is_same(both));
            }
            // What cannot be understood differs as text.
            (_, Some((one, other))) => {
                let difference = blob::compare(&self.a.blob(one)?, &self.b.blob(other)?)?;
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
type Stated = Result<Option<Statement>, Box<Finding>>;

fn order(said: &Stated) -> Order {
    let said = said.as_ref().ok().and_then(Option::as_ref);
    said.map(|said| said.order).unwrap_or_default()
}

/// An array; nothing when the file is none.
fn side(side: &PackSide, unit: &Unit, order: Order) -> Result<Option<OpenArray>> {
    match OpenArray::new(side.name(unit.file), side.blob(unit.file)?, order) {
        Ok(side) => Ok(Some(side)),
        Err(Error::Array { .. } | Error::NotAnArray { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A member of one pack alone.
fn one(side: &PackSide, unit: &Unit, change: MemberChange) -> Result<MemberDiff> {
    let mut member = new(side.name(unit.file), change, unit.generated);
    let bytes = Some(side.size(unit.file));
    if change == MemberChange::Added {
        member.size_b = bytes;
    } else {
        member.size_a = bytes;
    }
    if is_array(&member.name)
        && let Some((path, facts)) = side.inspected().arrays.get_key_value(&*member.name)
        && let Ok(header) = &facts.header
    {
        let described = side.inspected().description(path, &mut Vec::new());
        let order = match described {
            Some(described) => described.order(),
            None => {
                let in_document = side.document()?.in_pack_document(path);
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

/// What is said of an array.
#[derive(Debug, Clone, PartialEq)]
struct Statement {
    kind: &'static str,
    value: Value,
    order: Order,
}

/// The description of an array: beside it, or in the document of the pack. `Err` holds what is wrong with one
/// that cannot be read.
fn said(
    side: &PackSide,
    unit: &Unit,
) -> Result<std::result::Result<Option<Statement>, Box<Finding>>> {
    let name = side.name(unit.file);
    let Ok(path) = MemberPath::new(name) else { return Ok(Ok(None)) };
    let Some(file) = unit.description else {
        let entity = side.document()?.in_pack_document(&path).map(|described| described.entity);
        return Ok(Ok(entity.map(Statement::new)));
    };
    let mut contents = Contents::default();
    let beside = side.name(file);
    let facts = side.facts(beside, file)?;
    let Ok(beside) = MemberPath::new(beside) else { return Ok(Ok(None)) };
    contents.add(beside, Content::Description(Box::new(facts)));
    let mut findings = Vec::new();
    let said = contents.description(&path, &mut findings).map(|found| Statement::new(found.entity));
    Ok(match findings.into_iter().find(Finding::is_error) {
        Some(finding) if said.is_none() => Err(Box::new(finding)),
        _ => Ok(said),
    })
}

impl Statement {
    fn new(entity: Entity<'_>) -> Self {
        let kind = match entity {
            Entity::Ndarray(_) => "ndarray",
            Entity::DimCoord(_) => "dimcoord",
        };
        Self { kind, value: entity.to_value(), order: entity.order() }
    }
}

/// What two descriptions of an array say differently.
fn differences(a: Option<&Statement>, b: Option<&Statement>) -> Vec<DescriptionDifference> {
    let mut found = Vec::new();
    match (a, b) {
        (Some(a), Some(b)) => {
            if a.kind != b.kind {
                push(&mut found, "kind", Some(&a.kind.into()), Some(&b.kind.into()));
            }
            compare_values("", Some(&a.value), Some(&b.value), &mut found);
        }
        (a, b) => {
            let kind = |said: Option<&Statement>| said.map(|said| Value::from(said.kind));
            if a.is_some() || b.is_some() {
                push(&mut found, "description", kind(a).as_ref(), kind(b).as_ref());
            }
        }
    }
    found
}

/// What two whole documents say differently, when both can be read.
fn of_documents(
    a: &DescriptionFacts,
    b: &DescriptionFacts,
    is_of_pack: bool,
) -> Option<Vec<DescriptionDifference>> {
    let value = |facts: &DescriptionFacts| {
        // A part of what a document says would seem to be all.
        let is_sound = facts.describes() || is_of_pack;
        let is_sound = is_sound && !facts.has_errors();
        facts.document().filter(|_| is_sound).map(Document::to_value)
    };
    let (a, b) = (value(a)?, value(b)?);
    let mut found = Vec::new();
    compare_values("", Some(&a), Some(&b), &mut found);
    Some(found)
}

/// Calls itself for mappings in mappings, which are no deeper than the parser lets them be.
fn compare_values(
    path: &str,
    a: Option<&Value>,
    b: Option<&Value>,
    found: &mut Vec<DescriptionDifference>,
) {
    let empty = Vec::new();
    let (ours, theirs) = match (a, b) {
        (Some(Value::Map(a)), Some(Value::Map(b))) => (a, b),
        (Some(Value::Map(a)), None) if !a.is_empty() => (a, &empty),
        (None, Some(Value::Map(b))) if !b.is_empty() => (&empty, b),
        _ if a == b => return,
        _ => return push(found, path, a, b),
    };
    let of = |map: &[(String, Value)], key: &str| -> Option<usize> {
        map.iter().position(|(other, _)| other == key)
    };
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for (key, value) in ours {
        let other = of(theirs, key).and_then(|at| theirs.get(at)).map(|(_, value)| value);
        compare_values(&below(key), Some(value), other, found);
    }
    for (key, value) in theirs {
        if of(ours, key).is_none() {
            compare_values(&below(key), None, Some(value), found);
        }
    }
}

fn push(found: &mut Vec<DescriptionDifference>, path: &str, a: Option<&Value>, b: Option<&Value>) {
    let line = |value: Option<&Value>| value.map(Value::to_line);
    found.push(DescriptionDifference { path: path.to_owned(), a: line(a), b: line(b) });
}
