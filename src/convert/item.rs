//! An array of a source, before its elements are read.

use super::format::ArrayFormat;
use crate::error::{Error, Result};
use crate::interchange::{self, Variable};
use crate::ndl::{Attribute, Endian, Extent, Ndarray, Order, Storage};
use crate::pack;
use crate::path::file_name;
use crate::ra::{ElementType, Encoding, Flags, Header};

/// An array of a source, before its elements are read.
#[derive(Debug, Clone)]
pub(super) struct ArrayItem {
    /// Its name in the source: `a/b/x` for the array `x` of the group `/a/b`.
    pub(super) name: String,
    /// Header of the elements as they are provided: decoded, in the order of the description. `None` if all elements
    /// are in the description.
    pub(super) header: Option<Header>,
    /// The description, in row-major or column-major order.
    pub(super) description: Ndarray,
    /// Whether shapes of other arrays may refer to it.
    pub(super) is_coordinate: bool,
    /// Format of the file that contains it.
    pub(super) format: ArrayFormat,
    /// Its name in reports.
    pub(super) origin: String,
    /// The description in the source.
    pub(super) stated: Option<Stated>,
    /// Attributes of its group.
    pub(super) shared: Vec<Attribute>,
    /// Names in its shape that are not other arrays, with the lengths of their dimensions.
    pub(super) dimensions: Vec<(String, u64)>,
    /// Facts of the source that are not converted, one sentence each.
    pub(super) losses: Vec<String>,
}

/// A description in a document.
#[derive(Debug, Clone)]
pub(super) struct Stated {
    /// The description as it is in the document, under the name of the array.
    pub(super) description: Ndarray,
    /// Text of the document next to the array; `None` for an entry in the description of the pack.
    pub(super) text: Option<String>,
    /// Names in its shape that the document itself defines.
    pub(super) coordinates: Vec<String>,
    /// Whether the description of the pack describes the array.
    pub(super) is_in_pack: bool,
}

impl ArrayItem {
    /// Returns whether an entry in the description of the pack describes it, so that it needs no document of its own.
    pub(super) fn is_described_by_pack(&self) -> bool {
        self.stated.as_ref().is_some_and(|stated| stated.text.is_none())
    }

    /// Makes the item for an array in another format.
    pub(super) fn foreign(format: ArrayFormat, name: String, variable: Variable) -> Self {
        let Variable { header, description, losses } = variable;
        Self { header: Some(header), losses, ..Self::inline(format, name, description) }
    }

    /// Makes the item for a RawArray with the header of its file. Encoded elements are decoded; with `keep_endian`
    /// big-endian ones are not swapped.
    pub(super) fn rawarray(
        name: String,
        stored: &Header,
        description: Option<Ndarray>,
        keep_endian: bool,
    ) -> Result<Self> {
        // Elements stay big-endian if they are not encoded and their type has a byte order.
        let is_big = keep_endian
            && stored.flags().contains(Flags::BIG_ENDIAN)
            && !stored.is_encoded()
            && stored.element().swap_width().is_some_and(|width| width > 1);
        let mut description =
            description.unwrap_or_else(|| pack::describe(file_name(&name), stored, Encoding::Raw));
        let order = description.order();
        let mut dims = stored.dims().to_vec();
        if order == Order::RowUnreversed {
            dims.reverse();
        }
        // Booleans of one byte are written as `uint8`, which every implementation can read.
        let element = match stored.decoded().element() {
            ElementType::BOOL => ElementType::UINT8,
            element => element,
        };
        let mut header =
            Header::new(element, dims).map_err(|error| Error::mismatch(name.clone(), error))?;
        if is_big {
            header = header.big_endian();
        }
        if let Some(storage) = &mut description.storage {
            if stored.is_encoded() {
                storage.filter.clear();
            }
            if !is_big && storage.endian == Some(Endian::Big) {
                storage.endian = None;
            }
        }
        let is_row = order != Order::Column && header.ndims() > 1;
        set_order(&mut description, if is_row { Order::Row } else { Order::Column });
        Ok(Self { header: Some(header), ..Self::inline(ArrayFormat::Ra, name, description) })
    }

    /// Makes the item for an array whose elements are all in its description.
    pub(super) fn inline(format: ArrayFormat, name: String, description: Ndarray) -> Self {
        let (shared, dimensions, losses, stated) = <_>::default();
        let (origin, header, is_coordinate) = (name.clone(), None, false);
        Self {
            name,
            header,
            description,
            is_coordinate,
            format,
            origin,
            stated,
            shared,
            dimensions,
            losses,
        }
    }

    /// Returns whether the format is not RawArray.
    pub(super) fn is_foreign(&self) -> bool {
        !self.format.is_rawarray()
    }

    /// Returns the lengths of the dimensions in the order of the indices.
    pub(super) fn extents(&self) -> Vec<u64> {
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

    /// Changes the header and the description to `order`. Returns whether elements must be reordered.
    pub(super) fn put_in(&mut self, order: Order) -> bool {
        let Some(header) = &mut self.header else { return false };
        if header.ndims() < 2 || self.description.order() == order {
            return false;
        }
        *header = header.reversed();
        set_order(&mut self.description, order);
        true
    }

    /// Returns the array as a variable for the writer of a format.
    pub(super) fn to_variable(&self) -> Result<Variable> {
        let Some(header) = self.header.clone() else {
            let source = interchange::FormatError::no_counterpart(
                "its elements are texts of different lengths, which are in its description",
                "convert it to .ds or to a directory, or exclude it",
            );
            return Err(Error::Interchange { name: self.name.clone(), source });
        };
        Ok(Variable { header, description: self.description.clone(), losses: Vec::new() })
    }

    /// Replaces names of dimensions by lengths, except `known` names. Returns a sentence about the lost names, if there
    /// are any.
    pub(super) fn fix_extents(&mut self, known: impl Fn(&str) -> bool) -> Option<String> {
        let extents = self.extents();
        let lost = lost_names(&self.description.shape, &known);
        for (extent, length) in self.description.shape.iter_mut().zip(extents) {
            if matches!(extent, Extent::Coord(name) if !known(name)) {
                *extent = Extent::Fixed(length);
            }
        }
        lost
    }
}

/// Returns a sentence about the names of dimensions except `known` ones, if there are any.
pub(super) fn lost_names(shape: &[Extent], known: impl Fn(&str) -> bool) -> Option<String> {
    let names = shape.iter().filter_map(|extent| match extent {
        Extent::Coord(name) if !known(name) => Some(name.as_str()),
        _ => None,
    });
    let names = names.collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| format!("its dimension names ({names}) are lost"))
}

/// Sets the order in the description, and omits it if nothing needs to be stored.
pub(super) fn set_order(description: &mut Ndarray, order: Order) {
    let storage = Storage { order, ..description.storage.take().unwrap_or_default() };
    description.storage = (storage != Storage::default()).then_some(storage);
}
