//! The dimensions of an array by name, and what gives their coordinates.

use super::{Pack, PackedArray};
use crate::error::Result;
use crate::ndl::{Extent, Ndarray, Order};
use crate::pack::{self, ARRAY_EXTENSION, Entity};
use crate::path::MemberPath;

/// One dimension of an array.
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

impl PackedArray<'_> {
    /// The dimensions, in the order of the indices.
    ///
    /// A coordinate is looked for as [`validate`](crate::validate) does: in the same document, then in
    /// the same group of the pack and those above it. One of another length than the dimension is left out.
    ///
    /// # Errors
    ///
    /// When the array or a description cannot be read.
    pub fn axes(&self) -> Result<Vec<Axis>> {
        let header = self.header()?;
        let path = MemberPath::new(self.name())?;
        let (_, order) = self.layout()?;
        let contents = self.pack().contents_about(self.name())?;
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
        let base = if described.of_pack { "/".to_owned() } else { pack::group_of(&path) };
        let home = pack::join_groups(&base, &described.group.path);
        let mut found = Vec::with_capacity(shape.len());
        for (nth, extent) in shape.into_iter().enumerate() {
            let mut axis = Axis { name: None, extent, coordinate: None };
            if let Some(Extent::Coord(name)) = ndarray.shape.get(nth) {
                axis.name = name.rsplit('/').next().map(str::to_owned);
                let document = described.facts.document();
                let stated =
                    document.and_then(|own| own.resolve_coord(&described.group.path, name));
                let home = stated.map_or_else(
                    || pack::candidates(&home, name),
                    |(group, dimcoord)| {
                        let group = pack::join_groups(&base, &group.path);
                        vec![pack::entity_path(&group, &dimcoord.name)]
                    },
                );
                axis.coordinate = self.pack().coordinate(&home, extent)?;
                if axis.coordinate.as_ref().is_none_or(|there| there.member.is_none())
                    && let Some((_, dimcoord)) = stated
                    && dimcoord.known_size().is_none_or(|size| size == extent)
                {
                    let description = Some(Entity::DimCoord(dimcoord).to_ndarray());
                    axis.coordinate = Some(Coordinate { member: None, description });
                }
            }
            found.push(axis);
        }
        // They were found in the order of the shape.
        if described_order == Order::Row && order == Order::Column {
            found.reverse();
        }
        Ok(found)
    }
}

impl Pack {
    /// The first of several entities of the pack that is there as an array of that length.
    fn coordinate(&self, paths: &[String], extent: u64) -> Result<Option<Coordinate>> {
        for path in paths {
            let member = format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/'));
            if MemberPath::new(&*member).is_err() {
                continue;
            }
            if self.find_placed(|placement| placement.place_payload(&member))?.is_none() {
                continue;
            }
            let array = self.array(&member)?;
            if array.header()?.dims() != [extent] {
                continue;
            }
            let description = array.description()?;
            return Ok(Some(Coordinate { member: Some(member), description }));
        }
        Ok(None)
    }
}
