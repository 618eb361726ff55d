//! Dimensions of an array, and the arrays with their coordinates.

use super::{Pack, PackedArray};
use crate::error::{Error, Result};
use crate::ndl::{Extent, Ndarray, Order};
use crate::pack::{self, ARRAY_EXTENSION, Described, Entity};
use crate::path::MemberPath;

/// One dimension of an array: its name, length and coordinates.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Axis {
    /// The name of the dimension in the description: that of its coordinate, without a path.
    pub name: Option<String>,
    /// Length of the dimension.
    pub extent: u64,
    /// The coordinate of the dimension, if the pack has it.
    pub coordinate: Option<Coordinate>,
}

/// The coordinate of a dimension.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Coordinate {
    /// The member with the coordinate values; `None` if the description contains them as its `value`, or if there are
    /// none.
    pub member: Option<String>,
    /// The description of the coordinate.
    pub description: Option<Ndarray>,
}

impl Axis {
    /// Returns the description of its coordinate.
    pub(crate) fn described(&self) -> Option<&Ndarray> {
        self.coordinate.as_ref()?.description.as_ref()
    }
}

impl Coordinate {
    /// Returns the coordinate with the values of a description, if it may have this length.
    fn stated(dimcoord: &Ndarray, extent: u64) -> Option<Self> {
        let fits = dimcoord.known_size().is_none_or(|size| size == extent);
        fits.then(|| Self { member: None, description: Some(dimcoord.clone()) })
    }
}

impl Pack {
    /// Returns the array at a path of the pack as a coordinate, if it has this length.
    fn coordinate(&self, path: &str, extent: u64) -> Result<Option<Coordinate>> {
        let member = format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/'));
        let is_there = MemberPath::new(&*member).is_ok()
            && self.find_placed(|placement| placement.place_payload(&member))?.is_some();
        if !is_there {
            return Ok(None);
        }
        let array = self.array(&member)?;
        if array.header()?.dims() != [extent] {
            return Ok(None);
        }
        let description = array.description()?;
        Ok(Some(Coordinate { member: Some(member), description }))
    }
}

impl PackedArray {
    /// Returns the dimensions in the order of the indices.
    ///
    /// Coordinates are searched as in [`validate`](crate::validate()): in the same document, then in the same group of
    /// the pack and the groups above it, as arrays and in the description of the pack. A coordinate whose length differs from that of the dimension is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Array`] or [`Error::Io`] if the array or a description cannot be read.
    pub fn axes(&self) -> Result<Vec<Axis>> {
        let pack = self.pack();
        self.axes_with(|described, name, extent| {
            if let Some((group, dimcoord)) = described.resolve_coord(name) {
                let group = pack::group_in_pack(described.member, &group.path);
                let path = pack::entity_path(&group, &dimcoord.name);
                let found = pack.coordinate(&path, extent)?;
                return Ok(found.or_else(|| Coordinate::stated(dimcoord, extent)));
            }
            for path in pack::candidates(&described.home(), name) {
                let mut found = pack.coordinate(&path, extent)?;
                if found.is_none() {
                    let dimcoord = pack.dimcoords()?.get(&path);
                    found = dimcoord.and_then(|dimcoord| Coordinate::stated(dimcoord, extent));
                }
                if found.is_some() {
                    return Ok(found);
                }
            }
            Ok(None)
        })
    }

    /// Returns the names of the dimensions in the order of the indices, without searching their coordinates.
    ///
    /// # Errors
    ///
    /// As [`axes`](Self::axes).
    pub fn dimension_names(&self) -> Result<Vec<Option<String>>> {
        let axes = self.axes_with(|_, _, _| Ok(None))?;
        Ok(axes.into_iter().map(|axis| axis.name).collect())
    }

    /// Returns the dimensions in the order of the indices, with the coordinates that `find` returns for the name of a
    /// dimension in the description and its length.
    fn axes_with(
        &self,
        find: impl Fn(&Described<'_>, &str, u64) -> Result<Option<Coordinate>>,
    ) -> Result<Vec<Axis>> {
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
            let Some(Extent::Coord(name)) = ndarray.shape.get(nth) else {
                return Ok(Axis { name: None, extent, coordinate: None });
            };
            let coordinate = find(&described, name, extent)?;
            let name = name.rsplit('/').next().map(str::to_owned);
            Ok(Axis { name, extent, coordinate })
        };
        let mut found = shape.into_iter().enumerate().map(axis).collect::<Result<Vec<_>>>()?;
        // The axes are in the order of the shape here.
        if described_order == Order::Row && !self.is_reversed() {
            found.reverse();
        }
        Ok(found)
    }

    /// Adds the dimensions to the error of a slice.
    pub(crate) fn with_dimensions(&self, error: Error) -> Error {
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
