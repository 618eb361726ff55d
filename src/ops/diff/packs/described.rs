//! What descriptions say differently, place by place.

use super::half::Half;
use super::pairing::Unit;
use super::report::DescriptionDifference;
use crate::error::Result;
use crate::finding::Finding;
use crate::ndl::{Document, Order, Value};
use crate::pack::{Content, Contents, DescriptionFacts, Entity};
use crate::path::MemberPath;

/// What is said of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    kind: &'static str,
    value: Value,
    pub(super) order: Order,
}

/// The description of an array: beside it, or in the document of the pack. `Err` holds what is wrong with one
/// that cannot be read.
pub(super) fn said(
    half: &Half,
    unit: &Unit,
) -> Result<std::result::Result<Option<Said>, Box<Finding>>> {
    let name = half.name(unit.file());
    let Ok(path) = MemberPath::new(name) else { return Ok(Ok(None)) };
    let Some(file) = unit.description() else {
        let entity = half.document()?.in_pack_document(&path).map(|described| described.entity);
        return Ok(Ok(entity.map(Said::new)));
    };
    let mut contents = Contents::default();
    let beside = half.name(file);
    let facts = half.facts(beside, file)?;
    let Ok(beside) = MemberPath::new(beside) else { return Ok(Ok(None)) };
    contents.add(beside, Content::Description(Box::new(facts)));
    let mut findings = Vec::new();
    let said = contents.description(&path, &mut findings).map(|found| Said::new(found.entity));
    Ok(match findings.into_iter().find(Finding::is_error) {
        Some(finding) if said.is_none() => Err(Box::new(finding)),
        _ => Ok(said),
    })
}

impl Said {
    fn new(entity: Entity<'_>) -> Self {
        match entity {
            Entity::Ndarray(ndarray) => {
                Self { kind: "ndarray", value: ndarray.to_value(), order: ndarray.order() }
            }
            Entity::DimCoord(coord) => {
                Self { kind: "dimcoord", value: coord.to_value(), order: Order::Column }
            }
        }
    }
}

/// What two descriptions of an array say differently.
pub(super) fn differences(a: Option<&Said>, b: Option<&Said>) -> Vec<DescriptionDifference> {
    let mut found = Vec::new();
    match (a, b) {
        (Some(a), Some(b)) => {
            if a.kind != b.kind {
                push(&mut found, "kind", Some(&a.kind.into()), Some(&b.kind.into()));
            }
            compare("", Some(&a.value), Some(&b.value), &mut found);
        }
        (a, b) => {
            let kind = |said: Option<&Said>| said.map(|said| Value::from(said.kind));
            if a.is_some() || b.is_some() {
                push(&mut found, "description", kind(a).as_ref(), kind(b).as_ref());
            }
        }
    }
    found
}

/// What two whole documents say differently, when both can be read.
pub(super) fn of_documents(
    a: &DescriptionFacts,
    b: &DescriptionFacts,
    is_of_pack: bool,
) -> Option<Vec<DescriptionDifference>> {
    let value = |facts: &DescriptionFacts| {
        // A part of what a document says would seem to be all.
        let is_sound = facts.describes() || is_of_pack;
        let is_sound = is_sound && !facts.findings().iter().any(Finding::is_error);
        facts.document().filter(|_| is_sound).map(Document::to_value)
    };
    let (a, b) = (value(a)?, value(b)?);
    let mut found = Vec::new();
    compare("", Some(&a), Some(&b), &mut found);
    Some(found)
}

/// Calls itself for mappings in mappings, which are no deeper than the parser lets them be.
fn compare(
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
        compare(&below(key), Some(value), other, found);
    }
    for (key, value) in theirs {
        if of(ours, key).is_none() {
            compare(&below(key), None, Some(value), found);
        }
    }
}

fn push(found: &mut Vec<DescriptionDifference>, path: &str, a: Option<&Value>, b: Option<&Value>) {
    let line = |value: Option<&Value>| value.map(Value::to_line);
    found.push(DescriptionDifference { path: path.to_owned(), a: line(a), b: line(b) });
}
