//! What is in a pack, at a glance: headers and descriptions are read, data is not.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::glance::{Glance, glance};
use super::select::Patterns;
use crate::archive::{Archive, Container, MemberKind};
use crate::error::Result;
use crate::finding::Finding;
use crate::ndl::{Extent, Order, Value};
use crate::pack::{Contents, Described, Entity, Layout, shape_of};
use crate::parallel;

/// The members of a pack.
#[derive(Debug, Clone, Serialize)]
pub struct Listing {
    /// The archive or directory.
    pub target: PathBuf,
    /// What it is.
    pub container: Container,
    /// How the pack is laid out.
    pub layout: Layout,
    /// The members that were asked for, sorted by name.
    pub members: Vec<Listed>,
    /// What is wrong with the container or with names.
    pub findings: Vec<Finding>,
}

/// One member.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// The name that it is got by: in a bag, that of the payload.
    pub name: String,
    /// What it is.
    pub kind: MemberKind,
    /// Bytes of its content.
    pub size: u64,
    /// Bytes that it takes in the archive.
    pub packed_size: u64,
    /// How it is kept: `stored`, `deflate`, `zstd`, `solid`.
    pub method: String,
    /// What it holds, when it is an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ListedArray>,
}

/// An array.
#[derive(Debug, Clone, Serialize)]
pub struct ListedArray {
    /// The type of its elements, such as `float32`; what is wrong when the header cannot be read.
    pub element: String,
    /// The extents in the order of its description's shape.
    pub shape: Vec<u64>,
    /// Names of the dimension coordinates, where the description gives them.
    pub dimensions: Vec<Option<String>>,
    /// `column` when the first index of `shape` is the fastest, `row` when the last is.
    pub order: &'static str,
    /// Whether it is described.
    pub described: bool,
    /// The description's `long_name`, or its `units`, or both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Lists the members of `target` whose names match `patterns`, or all of them.
///
/// # Errors
///
/// When the target cannot be read, or is no archive.
pub fn list(target: &Path, patterns: &Patterns, jobs: Option<usize>) -> Result<Listing> {
    let archive = Archive::open(target)?;
    let jobs = jobs.unwrap_or_else(parallel::default_jobs);
    let Glance { placement, mut members, contents, findings } = glance(&archive, jobs)?;
    members.sort_by(|a, b| a.name.cmp(&b.name));
    let listed = members.into_iter().filter(|member| {
        let payload = placement.payload(&member.name).unwrap_or(&member.name);
        patterns.is_empty() || patterns.matches(payload) || patterns.matches(&member.name)
    });
    let members = listed
        .map(|member| Listed {
            array: placement.payload(&member.name).and_then(|name| array(&contents, name)),
            name: placement
                .payload(&member.name)
                .or_else(|| placement.relative(&member.name))
                .unwrap_or(&member.name)
                .to_owned(),
            kind: member.kind,
            size: member.size,
            packed_size: member.packed_size,
            method: member.method.to_string(),
        })
        .collect();
    Ok(Listing {
        target: target.to_owned(),
        container: archive.container(),
        layout: placement.layout,
        members,
        findings,
    })
}

fn array(contents: &Contents, name: &str) -> Option<ListedArray> {
    let (path, facts) = contents.arrays.entry(name)?;
    let described = contents.description(path, &mut Vec::new());
    let header = match &facts.header {
        Ok(header) => header,
        Err(error) => {
            return Some(ListedArray {
                element: format!("unreadable: {error}"),
                shape: Vec::new(),
                dimensions: Vec::new(),
                order: Order::Column.word(),
                described: described.is_some(),
                title: None,
            });
        }
    };
    let order = described.map_or(Order::Column, |described| described.order());
    let shape = shape_of(header.dims(), order);
    let mut dimensions = vec![None; shape.len()];
    if let Some(Described { entity: Entity::Ndarray(ndarray), .. }) = &described {
        for (name, extent) in dimensions.iter_mut().zip(&ndarray.shape) {
            if let Extent::Coord(coordinate) = extent {
                *name = Some(coordinate.clone());
            }
        }
    }
    Some(ListedArray {
        element: header.element().to_string(),
        shape,
        dimensions,
        order: order.word(),
        described: described.is_some(),
        title: described.and_then(title),
    })
}

fn title(described: Described<'_>) -> Option<String> {
    let attributes = match described.entity {
        Entity::Ndarray(ndarray) => &ndarray.attributes,
        Entity::DimCoord(dimcoord) => &dimcoord.attributes,
    };
    let text = |name: &str| {
        let attribute = attributes.iter().find(|attribute| attribute.name == name)?;
        match &attribute.value {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        }
    };
    match (text("long_name"), text("units")) {
        (Some(name), Some(units)) => Some(format!("{name} [{units}]")),
        (Some(name), None) => Some(name.to_owned()),
        (None, Some(units)) => Some(format!("[{units}]")),
        (None, None) => None,
    }
}
