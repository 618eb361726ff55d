//! One array of a source: what it is, before its elements are read.

use crate::error::{Error, Result};
use crate::interchange::{self, Variable};
use crate::ndl::{Attribute, Endian, Extent, Ndarray, Order, Storage};
use crate::pack;
use crate::ra::{ElementType, Encoding, Flags, Header};

/// One array of a source.
#[derive(Debug, Clone)]
pub(in super::super) struct Item {
    /// What it is called there: `a/b/x` for the array `x` of the group `/a/b`.
    pub(in super::super) name: String,
    /// The header of its elements as they are given: decoded, in the order that the description states. None of
    /// an array whose elements are all in the description.
    pub(in super::super) header: Option<Header>,
    /// Its order is column or row.
    pub(in super::super) description: Ndarray,
    /// Whether others may name it in their shapes.
    pub(in super::super) is_coordinate: bool,
    /// What is said of everything in the same group.
    pub(in super::super) shared: Vec<Attribute>,
    /// What the source says and nothing else here does, one sentence each.
    pub(in super::super) losses: Vec<String>,
}

impl Item {
    /// An array of another format.
    pub(in super::super) fn foreign(name: String, variable: Variable) -> Self {
        let Variable { header, description, losses } = variable;
        Self { header: Some(header), losses, ..Self::inline(name, description, Vec::new()) }
    }

    /// A RawArray with the header of its file. Whatever encodes its elements is taken away on the way; with
    /// `keep_endian` big-endian ones stay so.
    pub(in super::super) fn rawarray(
        name: String,
        stored: &Header,
        described: Option<Described>,
        keep_endian: bool,
    ) -> Result<Self> {
        // Elements stay big-endian when they lie there as they are, and mean something in that order.
        let is_big = keep_endian
            && stored.flags().contains(Flags::BIG_ENDIAN)
            && !stored.is_encoded()
            && stored.element().swap_width().is_some_and(|width| width > 1);
        let Described { mut description, is_coordinate, shared } =
            described.unwrap_or_else(|| Described {
                description: pack::describe(stem(&name), stored, Encoding::Raw),
                is_coordinate: false,
                shared: Vec::new(),
            });
        let order = description.order();
        let mut dims = stored.dims().to_vec();
        if order == Order::RowUnreversed {
            dims.reverse();
        }
        // Truth values of one byte are written as every implementation reads them.
        let element = match stored.decoded().element() {
            ElementType::BOOL => ElementType::UINT8,
            element => element,
        };
        let mut header = Header::new(element, dims)
            .map_err(|error| Error::Mismatch { name: name.clone(), reason: error.to_string() })?;
        if is_big {
            header = header.big_endian();
        }
        let mut storage = description.storage.take().unwrap_or_default();
        if stored.is_encoded() {
            storage.filter.clear();
        }
        if !is_big && storage.endian == Some(Endian::Big) {
            storage.endian = None;
        }
        description.storage = Some(storage);
        let is_row = order != Order::Column && header.ndims() > 1;
        set_order(&mut description, if is_row { Order::Row } else { Order::Column });
        let header = Some(header);
        Ok(Self { name, header, description, is_coordinate, shared, losses: Vec::new() })
    }

    /// An array whose elements are all in its description.
    pub(in super::super) fn inline(
        name: String,
        description: Ndarray,
        shared: Vec<Attribute>,
    ) -> Self {
        Self { name, header: None, description, is_coordinate: false, shared, losses: Vec::new() }
    }

    /// The extents in the order of indices.
    pub(in super::super) fn extents(&self) -> Vec<u64> {
        match &self.header {
            Some(header) => pack::shape_of(header.dims(), self.description.order()),
            None => {
                let length = |extent: &Extent| match extent {
                    Extent::Fixed(length) => *length,
                    Extent::Unlimited | Extent::Coord(_) => 0,
                };
                self.description.shape.iter().map(length).collect()
            }
        }
    }

    /// The array with its axes in `order`: its header and description say so. Whether elements have to move is
    /// the answer.
    pub(in super::super) fn put_in(&mut self, order: Order) -> bool {
        let Some(header) = &mut self.header else { return false };
        if header.ndims() < 2 || self.description.order() == order {
            return false;
        }
        let dims = header.dims().iter().rev().copied().collect();
        let Ok(mut reversed) = Header::new(header.element(), dims) else { return false };
        if header.flags().contains(Flags::BIG_ENDIAN) {
            reversed = reversed.big_endian();
        }
        *header = reversed;
        set_order(&mut self.description, order);
        true
    }

    /// As a format takes it.
    pub(in super::super) fn to_variable(&self) -> Result<Variable> {
        let Some(header) = self.header.clone() else {
            let source = interchange::Error::no_counterpart(
                "its elements are texts of different lengths, which stand in its description",
                "convert it to .ds or to a directory, or leave it out",
            );
            return Err(Error::Interchange { name: self.name.clone(), source });
        };
        Ok(Variable { header, description: self.description.clone(), losses: Vec::new() })
    }

    /// Names the extents along its axes by numbers, and answers with the names.
    pub(in super::super) fn fix_extents(&mut self) -> Vec<String> {
        let extents = self.extents();
        let mut names = Vec::new();
        for (extent, length) in self.description.shape.iter_mut().zip(extents) {
            if let Extent::Coord(name) = extent {
                names.push(std::mem::take(name));
                *extent = Extent::Fixed(length);
            }
        }
        names
    }
}

/// What a document says of an array.
#[derive(Debug)]
pub(in super::super) struct Described {
    pub(in super::super) description: Ndarray,
    pub(in super::super) is_coordinate: bool,
    pub(in super::super) shared: Vec<Attribute>,
}

impl Described {
    pub(in super::super) fn new(described: &pack::Described<'_>, name: &str) -> Self {
        let (ndarray, is_coordinate) = match described.entity {
            pack::Entity::Ndarray(ndarray) => (ndarray.clone(), false),
            entity @ pack::Entity::DimCoord(_) => (entity.to_ndarray(), true),
        };
        let description = Ndarray { name: stem(name).to_owned(), ..ndarray };
        Self { description, is_coordinate, shared: described.group.attributes.clone() }
    }
}

/// The last part of a name.
pub(super) fn stem(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// States the order, and nothing else where nothing else is to be stated.
fn set_order(description: &mut Ndarray, order: Order) {
    let storage = Storage { order, ..description.storage.take().unwrap_or_default() };
    description.storage = (storage != Storage::default()).then_some(storage);
}
