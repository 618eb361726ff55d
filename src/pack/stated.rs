//! Headers of arrays as the description of the pack states them.
//!
//! The description is at the end of an archive, next to the directory. A remote pack is listed from both, without a
//! request for each array.

use super::describe::{Fit, fit};
use super::{Contents, Described, group_of, shape_of};
use crate::interchange::element_of_word;
use crate::ndl::{Datatype, Endian, Entity, Extent};
use crate::path::MemberPath;
use crate::ra::{ElementKind, ElementType, Header};

impl Contents {
    /// Returns the header that the description of the pack states for an array. `None` if it leaves the header open: it
    /// does not tell complex numbers from pairs of floats, and booleans from bytes. `None` too if a file with this header
    /// would not be `len` bytes long.
    pub(crate) fn stated_header(&self, path: &MemberPath, len: u64) -> Option<Header> {
        let described = self.in_pack_document(path)?;
        let array = described.entity.array();
        let element = stated_element(&array.datatype)?;
        let dims = shape_of(&self.stated_shape(path, &described)?, described.order());
        let mut header = Header::new(element, dims).ok()?;
        if let Some(storage) = &array.storage {
            if !storage.filter.is_empty() {
                return None;
            }
            if storage.endian == Some(Endian::Big) {
                header = header.big_endian();
            }
        }
        (header.check_file_len(len).ok()? == 0).then_some(header)
    }

    /// Returns the length of each dimension, if the description has them.
    fn stated_shape(&self, path: &MemberPath, described: &Described<'_>) -> Option<Vec<u64>> {
        let ndarray = match described.entity {
            Entity::DimCoord(coordinate) => {
                let own = coordinate.known_size();
                let home = group_of(path);
                let by_users = || self.find_coordinate(&home, path.stem())?.length;
                return Some(vec![own.or_else(by_users)?]);
            }
            Entity::Ndarray(ndarray) => ndarray,
        };
        let declared = ndarray.storage.as_ref().and_then(|storage| storage.shape.as_deref());
        let length = |(axis, extent): (usize, &Extent)| match extent {
            Extent::Fixed(length) => Some(*length),
            Extent::Unlimited => declared?.get(axis).copied(),
            Extent::Coord(name) => self.resolve(described, name)?.length,
        };
        ndarray.shape.iter().enumerate().map(length).collect()
    }
}

/// Returns the element type that a datatype describes, if it describes only one.
fn stated_element(datatype: &Datatype) -> Option<ElementType> {
    if let Some(element) = element_of_word(datatype) {
        return Some(element);
    }
    let numbers = (1..=5).flat_map(|eltype| [1, 2, 4, 8, 16].map(|elbyte| (eltype, elbyte)));
    let user = datatype.packed_size().map(|size| (ElementKind::User.eltype(), size));
    let all = numbers.chain(user).filter_map(|(kind, size)| ElementType::new(kind, size).ok());
    let mut fitting = all.filter(|element| !matches!(fit(datatype, *element), Fit::Not(_)));
    fitting.next().filter(|_| fitting.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::{Content, DescriptionFacts, PACK_DOCUMENT};

    /// Returns the header that a document states for the array `x`.
    fn stated(document: &str, len: u64) -> Option<Header> {
        let facts = DescriptionFacts::parse(PACK_DOCUMENT, document);
        let mut contents = Contents::default();
        contents.add(
            MemberPath::new(PACK_DOCUMENT).unwrap(),
            Content::Description(std::sync::Arc::new(facts)),
        );
        contents.stated_header(&MemberPath::new("x.ra").unwrap(), len)
    }

    fn header(element: ElementType, dims: &[u64]) -> Header {
        Header::new(element, dims.to_vec()).unwrap()
    }

    #[test]
    fn types_and_shapes_are_those_of_the_document() {
        let float = ElementType::FLOAT32;
        let text = "ndarrays:\n  x:\n    shape: [2, t]\n    type: float32\ndimcoords:\n  t:\n    \
                    size: 3\n    type: int8\n";
        assert_eq!(stated(text, 64 + 24), Some(header(float, &[2, 3])));
        let row = text.replace("float32\n", "float32\n    storage: {order: row}\n");
        assert_eq!(stated(&row, 64 + 24), Some(header(float, &[3, 2])));
        let big = text.replace("float32\n", "float32\n    storage: {endian: big}\n");
        assert_eq!(stated(&big, 64 + 24), Some(header(float, &[2, 3]).big_endian()));
        let scalar = "ndarrays:\n  x:\n    shape: []\n    type: {opaque: {size: 7}}\n";
        assert_eq!(stated(scalar, 48 + 7), Some(header(ElementType::new(0, 7).unwrap(), &[])));
        let coordinate = "dimcoords:\n  x:\n    size: 3\n    type: int8\n";
        assert_eq!(stated(coordinate, 56 + 3), Some(header(ElementType::INT8, &[3])));
    }

    #[test]
    fn open_or_contradicted_headers_are_not_stated() {
        let text = "ndarrays:\n  x:\n    shape: [2]\n    type: TYPE\n";
        for (datatype, len) in [
            ("float32", 56 + 12),                                        // a longer file
            ("float32", 56 + 4),                                         // a shorter one
            ("{compound: [{r: float32}, {i: float32}]}", 56 + 16),       // or complex64
            ("{enum: {base: uint8, members: {no: 0, yes: 1}}}", 56 + 2), // or bool
        ] {
            assert_eq!(stated(&text.replace("TYPE", datatype), len), None, "{datatype}");
        }
        let text =
            "ndarrays:\n  x:\n    shape: [2]\n    type: int8\n    storage: {filter: [lz4]}\n";
        assert_eq!(stated(text, 56 + 2), None);
        assert_eq!(stated("ndarrays:\n  x:\n    shape: [t]\n    type: int8\n", 58), None);
        assert_eq!(stated("ndarrays:\n  y:\n    shape: [2]\n    type: int8\n", 58), None);
    }
}
