//! The description that a header implies.

use super::element::datatype_of;
use super::shape::shape_of;
use crate::ndl::{Endian, Extent, Ndarray, Order, Storage, Value};
use crate::ra::{Encoding, Flags, Header};

/// What a header says, as the language says it. `encoding` is what the data was found to be, for an
/// array whose header says that it is encoded.
pub fn describe(name: &str, header: &Header, encoding: Encoding) -> Ndarray {
    let shape = shape_of(header.dims(), Order::Column);
    let endian = header.flags().contains(Flags::BIG_ENDIAN).then_some(Endian::Big);
    let filter = filter_word(encoding).map(Value::from);
    let storage = (endian.is_some() || filter.is_some()).then(|| Storage {
        endian,
        filter: filter.into_iter().collect(),
        ..Storage::default()
    });
    Ndarray {
        name: name.to_owned(),
        shape: shape.into_iter().map(Extent::Fixed).collect(),
        datatype: datatype_of(header.element()),
        value: None,
        attributes: Vec::new(),
        storage,
    }
}

/// The word of `storage.filter` for an encoding.
pub(super) fn filter_word(encoding: Encoding) -> Option<&'static str> {
    match encoding {
        Encoding::Lz4 => Some("lz4"),
        Encoding::Leb128 => Some("leb128"),
        Encoding::Bits => Some("bits"),
        _ => None,
    }
}
