//! Comparison of one member that is not identical.

use super::arrays::{OpenArray, compare, stored_otherwise};
use super::blob;
use super::options::DiffOptions;
use super::pairing::{Pair, Unit, is_array};
use super::report::{ArrayChange, DescriptionDifference, MemberChange, MemberDiff};
use super::side::{PackSide, is_same};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::ndl::{Document, Ndarray, Order, Value};
use crate::pack::{self, Content, Contents, Described, DescriptionFacts, Entity, PACK_DOCUMENT};
use crate::path::MemberPath;
use crate::ra::Header;
use crate::read::open::LONGEST_HEADER;

/// Compares one member of two packs.
pub(super) struct Details<'a> {
    pub(super) a: &'a PackSide,
    pub(super) b: &'a PackSide,
    pub(super) options: &'a DiffOptions,
    /// Whether to compare descriptions in the generated descriptions of both packs.
    pub(super) documents: bool,
}

impl Details<'_> {
    /// Compares a member.
    pub(super) fn of(&self, pair: &Pair) -> Result<MemberDiff> {
        match (pair.a, pair.b) {
            (Some(a), Some(b)) => self.both(&a, &b, pair.renamed),
            (Some(a), None) => Ok(alone(self.a, &a, MemberChange::Removed)),
            (None, Some(b)) => Ok(alone(self.b, &b, MemberChange::Added)),
            (None, None) => unreachable!("a pair has at least one member"),
        }
    }

    fn both(&self, a: &Unit, b: &Unit, renamed: bool) -> Result<MemberDiff> {
        let mut member = MemberDiff {
            name: self.b.name(b.file).to_owned(),
            renamed_from: renamed.then(|| self.a.name(a.file).to_owned()),
            generated: b.generated,
            bytes_a: Some(self.a.size(a.file)),
            bytes_b: Some(self.b.size(b.file)),
            ..MemberDiff::default()
        };
        let is_unread =
            |side: &PackSide, unit: &Unit| unit.files().any(|file| side.is_damaged(file));
        if is_unread(self.a, a) || is_unread(self.b, b) {
            return Ok(MemberDiff { change: MemberChange::Unread, ..member });
        }
        let mut differs = false;
        let is_read = is_array(&member.name) && self.arrays(a, b, &mut member)?;
        if !is_read && !is_same(self.a, self.b, a.file, b.file) {
            differs |= self.files(a, b, &mut member)?;
        }
        differs |= member.description.iter().any(|place| !place.is_about_storage());
        let array = member.array.as_ref();
        let elements = array.and_then(|array| array.elements.as_ref());
        differs |= array.is_some_and(|array| !array.header.is_empty());
        differs |= elements.is_some_and(|elements| elements.differing > 0);
        let tolerated = elements.is_some_and(|elements| elements.furthest.is_some());
        member.change = match (renamed, differs, tolerated) {
            (true, ..) => MemberChange::Renamed,
            (_, true, _) => MemberChange::Changed,
            (_, _, true) => MemberChange::Tolerated,
            _ => MemberChange::StoredOtherwise,
        };
        Ok(member)
    }

    /// Compares two files that are not arrays. Returns whether their contents differ.
    fn files(&self, a: &Unit, b: &Unit, member: &mut MemberDiff) -> Result<bool> {
        member.file =
            blob::compare(&self.a.blob(a.file, u64::MAX)?, &self.b.blob(b.file, u64::MAX)?)?;
        if pack::may_be_description(&member.name) && !b.generated {
            let (ours, theirs) = (self.a.facts(a.file)?, self.b.facts(b.file)?);
            let is_of_pack = self.a.name(a.file) == PACK_DOCUMENT;
            let value = |facts: &DescriptionFacts| {
                // A document that is not valid may be incomplete when it is parsed.
                let is_valid = (facts.describes() || is_of_pack) && !facts.has_errors();
                facts.document().filter(|_| is_valid).map(Document::to_value)
            };
            if let Some((ours, theirs)) = value(&ours).zip(value(&theirs)) {
                compare_values("", Some(&ours), Some(&theirs), &mut member.description);
                return Ok(false);
            }
        }
        Ok(member.file.is_some())
    }

    /// Compares two arrays and their descriptions. Returns false for files that cannot be read as arrays, which are
    /// compared as files.
    fn arrays(&self, a: &Unit, b: &Unit, member: &mut MemberDiff) -> Result<bool> {
        let (ours, theirs) = (statement_of(self.a, a)?, statement_of(self.b, b)?);
        let descriptions = a.description.zip(b.description);
        let is_compared = self.documents || a.description.or(b.description).is_some();
        if is_compared && !ours.is_invalid && !theirs.is_invalid {
            member.description = differences(&ours, &theirs);
            // The description of a renamed array contains the new name.
            member.description_rewritten = member.description.is_empty()
                && member.renamed_from.is_none()
                && descriptions.is_some_and(|(a, b)| !is_same(self.a, self.b, a, b));
        } else if let Some((a, b)) = descriptions {
            // Descriptions that are not valid are compared as text.
            let difference = blob::compare(&self.a.blob(a, u64::MAX)?, &self.b.blob(b, u64::MAX)?)?;
            member.description.extend(difference.map(|difference| {
                let path = format!("line {}", difference.line.unwrap_or(1));
                DescriptionDifference { path, a: None, b: None }
            }));
        }
        let is_same_file =
            is_same(self.a, self.b, a.file, b.file) && ours.order() == theirs.order();
        if is_same_file && member.description.is_empty() {
            return Ok(true);
        }
        let open = |side: &PackSide, unit: &Unit, statement: &Statement| {
            let description = statement.description.clone();
            OpenArray::new(side.name(unit.file), &side.blob(unit.file, u64::MAX)?, description)
        };
        let change = || {
            let first = open(self.a, a, &ours)?;
            let second = open(self.b, b, &theirs)?;
            let mut array = ArrayChange::new(second.header(), theirs.description.as_ref());
            if !is_same_file {
                (array.header, array.elements) = compare(&first, &second, self.options)?;
            }
            // The storage of arrays with different shapes or types need not be reported.
            if array.elements.is_some() && array.header.iter().all(|field| field.field != "type") {
                array.stored = stored_otherwise(&first, &second);
            }
            Ok(array)
        };
        match change() {
            Ok(array) => member.array = Some(array),
            Err(Error::Array { .. } | Error::NotAnArray { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }
}

/// Returns the report for a member of one pack only: for an array, its header and description if they can be read.
fn alone(side: &PackSide, unit: &Unit, change: MemberChange) -> MemberDiff {
    let name = side.name(unit.file).to_owned();
    let bytes = Some(side.size(unit.file));
    let is_added = change == MemberChange::Added;
    let (bytes_a, bytes_b) = if is_added { (None, bytes) } else { (bytes, None) };
    let header = || {
        let blob = side.blob(unit.file, LONGEST_HEADER).ok()?;
        let header = Header::read(&mut blob.reader()).ok()?;
        header.check_file_len(side.size(unit.file)).ok().map(|_| header)
    };
    let array = is_array(&name).then(header).flatten().map(|header| {
        let statement = statement_of(side, unit).unwrap_or_default();
        ArrayChange::new(&header, statement.description.as_ref())
    });
    let generated = unit.generated;
    MemberDiff { name, change, generated, bytes_a, bytes_b, array, ..MemberDiff::default() }
}

/// The description of an array, if there is one.
#[derive(Default)]
struct Statement {
    /// Its kind and its value.
    stated: Option<(&'static str, Value)>,
    description: Option<Ndarray>,
    is_invalid: bool,
}

/// Returns the description of an array, which is next to it or in the description of the pack.
fn statement_of(side: &PackSide, unit: &Unit) -> Result<Statement> {
    let Ok(path) = MemberPath::new(side.name(unit.file)) else { return Ok(Statement::default()) };
    let Some(file) = unit.description else {
        return Ok(Statement::new(side.document()?.in_pack_document(&path)));
    };
    let Ok(beside) = MemberPath::new(side.name(file)) else { return Ok(Statement::default()) };
    let mut contents = Contents::default();
    contents.add(beside, Content::Description(side.facts(file)?));
    let mut findings = Vec::new();
    let described = contents.description(&path, &mut findings);
    let is_invalid = described.is_none() && findings.iter().any(Finding::is_error);
    Ok(Statement { is_invalid, ..Statement::new(described) })
}

impl Statement {
    fn new(described: Option<Described<'_>>) -> Self {
        let Some(Described { entity, .. }) = described else { return Self::default() };
        let kind = match entity {
            Entity::Ndarray(_) => "ndarray",
            Entity::DimCoord(_) => "dimcoord",
        };
        let stated = Some((kind, entity.to_value()));
        let description = Some(entity.array().clone());
        Self { stated, description, is_invalid: false }
    }

    fn order(&self) -> Order {
        self.description.as_ref().map(Ndarray::order).unwrap_or_default()
    }
}

/// Returns the differences between two descriptions of an array.
fn differences(a: &Statement, b: &Statement) -> Vec<DescriptionDifference> {
    let mut found = Vec::new();
    let [a, b] =
        [a, b].map(|said| said.stated.as_ref().map(|(kind, value)| (Value::from(*kind), value)));
    let [kind_a, kind_b] = [&a, &b].map(|said| said.as_ref().map(|(kind, _)| kind));
    let path = if a.is_some() && b.is_some() { "kind" } else { "description" };
    compare_values(path, kind_a, kind_b, &mut found);
    if let Some(((_, a), (_, b))) = a.zip(b) {
        compare_values("", Some(a), Some(b), &mut found);
    }
    found
}

/// Compares values recursively. The parser limits the depth of mappings.
fn compare_values(
    path: &str,
    a: Option<&Value>,
    b: Option<&Value>,
    found: &mut Vec<DescriptionDifference>,
) {
    let (ours, theirs): (&[_], &[_]) = match (a, b) {
        (Some(Value::Map(a)), Some(Value::Map(b))) => (a, b),
        (Some(Value::Map(a)), None) if !a.is_empty() => (a, &[]),
        (None, Some(Value::Map(b))) if !b.is_empty() => (&[], b),
        _ if a == b => return,
        _ => {
            let [a, b] = [a, b].map(|value| value.map(Value::to_line));
            return found.push(DescriptionDifference { path: path.to_owned(), a, b });
        }
    };
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for (key, value) in ours {
        compare_values(&below(key), Some(value), value_of(theirs, key), found);
    }
    for (key, value) in theirs.iter().filter(|(key, _)| value_of(ours, key).is_none()) {
        compare_values(&below(key), None, Some(value), found);
    }
}

fn value_of<'v>(map: &'v [(String, Value)], key: &str) -> Option<&'v Value> {
    map.iter().find(|(other, _)| other == key).map(|(_, value)| value)
}
