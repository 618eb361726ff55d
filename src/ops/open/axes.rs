//! The dimensions of an array, and the arrays that give their coordinates.

use super::{Pack, PackedArray};
use crate::error::{Error, Result};
use crate::ndl::{Extent, Ndarray, Order};
use crate::pack::{self, ARRAY_EXTENSION, Entity};
use crate::path::MemberPath;

/// One dimension of an array: its name, length and coordinates.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Axis {
    /// Its name, when the description gives one: that of its coordinate, without a path.
    pub name: Option<String>,
    /// Elements along it.
    pub extent: u64,
    /// What gives its coordinates, where the pack holds it.
    pub coordinate: Option<Coordinate>,
}

/// What gives the coordinates of a dimension.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Coordinate {
    /// The member with the coordinates; nothing when the description itself has them as its `value`, or
    /// nobody has.
    pub member: Option<String>,
    /// Its description, when there is one.
    pub description: Option<Ndarray>,
}

impl Pack {
    /// The first of several entities of the pack that is there as an array of that length.
    fn coordinate(&self, paths: &[String], extent: u64) -> Result<Option<Coordinate>> {
        for path in paths {
            let member = format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/'));
            let is_there = MemberPath::new(&*member).is_ok()
                && self.find_placed(|placement| placement.place_payload(&member))?.is_some();
            if !is_there {
                continue;
            }
            let array = self.array(&member)?;
            if array.header()?.dims() == [extent] {
                let description = array.description()?;
                return Ok(Some(Coordinate { member: Some(member), description }));
            }
        }
        Ok(None)
    }
}

impl PackedArray {
    /// The dimensions, in the order of the indices.
    ///
    /// A coordinate is looked for as [`validate`](crate::validate()) does: in the same document, then in
    /// the same group of the pack and those above it. One of another length than the dimension is left out.
    ///
    /// # Errors
    ///
    /// When the array or a description cannot be read.
    pub fn axes(&self) -> Result<Vec<Axis>> {
        let header = self.header()?;
        let (path, contents) = self.contents()?;
        let Some(described) = contents.description(&path, &mut Vec::new()) else {
            let plain = |extent: &u64| Axis { name: None, extent: *extent, coordinate: None };
            return Ok(header.dims().iter().map(plain).collect());
        };
        let described_order = described.order();
        let shape = pack::shape_of(header.dims(), described_order);
        let ndarray = match described.entity {
            Entity::Ndarray(ndarray) => ndarray,
            Entity::DimCoord(dimcoord) => {
                let name = Some(dimcoord.name.clone());
                let own = |extent| Axis { name: name.clone(), extent, coordinate: None };
                return Ok(shape.into_iter().map(own).collect());
            }
        };
        let axis = |(nth, extent): (usize, u64)| {
            let mut axis = Axis { name: None, extent, coordinate: None };
            let Some(Extent::Coord(name)) = ndarray.shape.get(nth) else { return Ok(axis) };
            axis.name = name.rsplit('/').next().map(str::to_owned);
            let stated = described.resolve_coord(name);
            let candidates = match stated {
                Some((group, dimcoord)) => {
                    let group = pack::group_in_pack(described.member, &group.path);
                    vec![pack::entity_path(&group, &dimcoord.name)]
                }
                None => pack::candidates(&described.home(), name),
            };
            axis.coordinate = self.pack().coordinate(&candidates, extent)?;
            if axis.coordinate.is_none()
                && let Some((_, dimcoord)) = stated
                && dimcoord.known_size().is_none_or(|size| size == extent)
            {
                let description = Some(dimcoord.clone());
                axis.coordinate = Some(Coordinate { member: None, description });
            }
            Ok(axis)
        };
        let mut found = shape.into_iter().enumerate().map(axis).collect::<Result<Vec<_>>>()?;
        // They were found in the order of the shape.
        if described_order == Order::Row && !self.is_reversed() {
            found.reverse();
        }
        Ok(found)
    }

    /// Adds the dimensions to what is wrong with the text of a slice.
    pub(in crate::ops) fn with_dimensions(&self, error: Error) -> Error {
        match error {
            Error::SliceText { slice, source, .. } => {
                let axes = self.axes().unwrap_or_default().into_iter();
                let dimensions = axes.map(|axis| (axis.name, axis.extent)).collect();
                Error::SliceText { slice, dimensions, source }
            }
            error => error,
        }
    }
}
