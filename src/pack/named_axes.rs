//! The coordinates of a pack, for people: how long each is, what it measures, how many arrays lie along it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::by_path::Near;
use super::contents::{Contents, Described, Entity};
use super::coordinates::Resolved;
use super::{ARRAY_EXTENSION, entity_path, group_of};
use crate::ndl::{Extent, Value};
use crate::path::MemberPath;

/// A coordinate that dimensions of arrays are named by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoordinateInfo {
    /// Its path in the pack, such as `/run1/time`.
    pub name: String,
    /// Elements, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// What it is measured in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
    /// The first element, when a description gives the elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// The last element, when a description gives the elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// Arrays that have a dimension along it.
    pub arrays: u64,
}

impl CoordinateInfo {
    fn new(name: String) -> Self {
        Self { name, length: None, units: None, first: None, last: None, arrays: 0 }
    }

    /// Takes what is said of it, unless somebody said it before.
    fn take(&mut self, entity: Entity<'_>) {
        let units = entity.attributes().iter().find(|attribute| attribute.name == "units");
        let units = units.and_then(|units| units.value.as_str());
        self.units = self.units.take().or_else(|| units.map(str::to_owned));
        if let Some(Value::List(values)) = entity.value()
            && self.first.is_none()
        {
            self.first = values.first().and_then(text);
            self.last = values.last().and_then(text);
        }
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Int(value) => Some(value.to_string()),
        Value::UInt(value) => Some(value.to_string()),
        Value::Float(value) => Some(value.to_string()),
        Value::String(value) => Some(value.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

impl Contents {
    /// Every coordinate that an array is said to lie along or to be, sorted by path.
    pub(crate) fn coordinates(&self) -> Vec<CoordinateInfo> {
        let mut all = BTreeMap::new();
        let near = Near::default();
        for (path, facts) in &self.arrays {
            let plain = self.plain(path, &near);
            // A plain description of an ndarray names no dimension.
            if plain.is_some_and(|plain| !plain.is_dimcoord()) {
                continue;
            }
            let Some(described) = self.description_near(path, &near, &mut Vec::new()) else {
                continue;
            };
            match described.entity {
                Entity::Ndarray(ndarray) => {
                    let mut used = Vec::new();
                    for extent in &ndarray.shape {
                        if let Extent::Coord(name) = extent {
                            self.note(path, &described, name, &mut all, &mut used);
                        }
                    }
                }
                Entity::DimCoord(_) => {
                    let name = entity_path(&group_of(path), path.stem());
                    let dims = facts.header.as_ref().ok().map(crate::ra::Header::dims);
                    let new = || CoordinateInfo::new(name.clone());
                    let coordinate = all.entry(name.clone()).or_insert_with(new);
                    if let Some(&[length]) = dims {
                        coordinate.length = Some(length);
                    }
                    coordinate.take(described.entity);
                }
            }
        }
        all.into_values().collect()
    }

    /// Notes that an array has a dimension of that name.
    fn note(
        &self,
        array: &MemberPath,
        described: &Described<'_>,
        name: &str,
        all: &mut BTreeMap<String, CoordinateInfo>,
        used: &mut Vec<String>,
    ) {
        let Resolved::Found { path, length } = self.resolve(array, described, name) else { return };
        let new = || CoordinateInfo::new(path.clone());
        let coordinate = all.entry(path.clone()).or_insert_with(new);
        if !used.contains(&path) {
            coordinate.arrays = coordinate.arrays.saturating_add(1);
        }
        if coordinate.length.is_none() {
            coordinate.length = length;
            if let Some((_, own)) = described.facts.resolve_coord(&described.group.path, name) {
                coordinate.take(Entity::DimCoord(own));
            }
            let file = format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/'));
            if let Some((file, _)) = self.arrays.entry(&file)
                && let Some(described) = self.description(file, &mut Vec::new())
            {
                coordinate.take(described.entity);
            } else if let Some((_, facts)) = &self.pack_document
                && let Some((_, entity)) = facts.entity(&path)
            {
                coordinate.take(entity);
            }
        }
        used.push(path);
    }
}
