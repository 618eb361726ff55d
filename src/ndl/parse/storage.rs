//! `storage`: how a file holds an entity.

use super::{Reader, one_of};
use crate::ndl::datatype::Datatype;
use crate::ndl::diagnostic::{Code, Place, quote};
use crate::ndl::model::{Endian, Order, Storage, Value};
use crate::ndl::node::{Key, Kind, Node, Range};
use crate::ndl::{suggest, validate};

/// What kind of entity a `storage` belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Ndarray,
    DimCoord,
    Attribute,
}

impl Owner {
    fn word(self) -> &'static str {
        match self {
            Self::Ndarray => "an ndarray",
            Self::DimCoord => "a dimcoord",
            Self::Attribute => "an attribute",
        }
    }
}

const KEYS: [&str; 8] =
    ["shape", "size", "chunk", "filter", "endian", "charset", "fillvalue", "order"];

/// The entity whose storage is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored<'a> {
    pub(super) owner: Owner,
    pub(super) rank: Option<usize>,
    pub(super) datatype: Option<&'a Datatype>,
}

impl<'n> Reader<'n, '_, '_> {
    /// Reads what it can: a key that is wrong is reported and left out.
    pub(super) fn storage(
        &mut self,
        node: &'n Node,
        stored: Stored<'_>,
        place: Place<'_>,
    ) -> Option<Storage> {
        if node.is_null() {
            return None;
        }
        let map = self.map(node, place, "`storage`", "keys such as `endian` or `filter`")?;
        let mut storage = Storage::default();
        for (key, node) in map.iter() {
            match &*key.text {
                "shape" => {
                    self.storage_place(key, stored.owner, Owner::Ndarray, place);
                    storage.shape = self.ranked(node, stored, place, "`storage.shape`");
                }
                "size" => {
                    self.storage_place(key, stored.owner, Owner::DimCoord, place);
                    storage.size = self.storage_size(node, place);
                }
                "chunk" => storage.chunk = self.chunk(node, stored, place),
                "filter" => storage.filter = self.filter(node, place).unwrap_or_default(),
                "endian" => storage.endian = self.endian(node, place),
                "charset" => storage.charset = self.text(node, place, "`charset`"),
                "fillvalue" => storage.fillvalue = self.fill_value(node, stored, place),
                "order" => {
                    storage.order = self.order(key, node, stored.owner, place).unwrap_or_default();
                }
                other => {
                    self.sink
                        .warning(
                            Code::StorageKey,
                            key.at,
                            place,
                            format!("unknown storage key {}", quote(other)),
                        )
                        .expected(one_of(&KEYS))
                        .maybe_hint(suggest::hint(other, KEYS));
                    if let Some(value) = self.value(node, place) {
                        storage.other.push((other.to_owned(), value));
                    }
                }
            }
        }
        Some(storage)
    }

    fn storage_place(&mut self, key: &Key, owner: Owner, right: Owner, place: Place<'_>) {
        if owner == right {
            return;
        }
        let message = format!("`{}` means nothing in the storage of {}", key.text, owner.word());
        let hint = match owner {
            Owner::Ndarray => Some("the extents of an ndarray in the file are its `shape`"),
            Owner::DimCoord => Some("the extent of a dimcoord in the file is its `size`"),
            Owner::Attribute => None,
        };
        self.sink
            .warning(Code::StoragePlace, key.at, place, message)
            .maybe_hint(hint.map(str::to_owned));
    }

    fn ranked(
        &mut self,
        node: &'n Node,
        stored: Stored<'_>,
        place: Place<'_>,
        what: &str,
    ) -> Option<Vec<u64>> {
        let numbers = self.numbers(node, place, what)?;
        let Some(rank) = stored.rank else { return Some(numbers) };
        if numbers.len() != rank {
            self.sink
                .error(Code::StorageRank, node.at, place, format!("{what} has the wrong length"))
                .expected(count(rank, "extent"))
                .found(count(numbers.len(), "extent"));
            return None;
        }
        Some(numbers)
    }

    fn chunk(&mut self, node: &'n Node, stored: Stored<'_>, place: Place<'_>) -> Option<Vec<u64>> {
        let before = self.sink.len();
        let chunk = self.ranked(node, stored, place, "`storage.chunk`");
        // A list of the wrong length is told about its zeros too.
        let Kind::List(list) = &node.kind else { return None };
        for node in list {
            if node.value().is_ok_and(|value| value.as_integer() == Some(0)) {
                self.sink
                    .error(Code::Extent, node.at, place, "the extent of a chunk is not positive")
                    .expected("an integer, at least 1")
                    .found("0");
            }
        }
        chunk.filter(|_| self.sink.len() == before)
    }

    fn storage_size(&mut self, node: &'n Node, place: Place<'_>) -> Option<u64> {
        let size = self.value(node, place)?.as_integer().and_then(|size| u64::try_from(size).ok());
        if size.is_none() {
            self.sink
                .error(Code::Extent, node.at, place, "malformed `storage.size`")
                .expected("an integer, at least 0")
                .found(node.describe());
        }
        size
    }

    fn filter(&mut self, node: &'n Node, place: Place<'_>) -> Option<Vec<Value>> {
        let Kind::List(list) = &node.kind else {
            let hint = match &node.kind {
                Kind::Scalar(scalar) if !node.is_null() => Some(format!(
                    "a single filter is a list, too: {}",
                    quote(&format!("[{}]", scalar.text))
                )),
                _ => None,
            };
            self.sink
                .error(Code::Filter, node.at, place, "`filter` is a list")
                .expected("a list of filters")
                .found(node.describe())
                .maybe_hint(hint);
            return None;
        };
        let mut filters = Vec::with_capacity(list.len());
        for node in list {
            let value = self.value(node, place)?;
            if matches!(value, Value::String(_) | Value::Map(_)) {
                filters.push(value);
            } else {
                self.sink
                    .error(Code::Filter, node.at, place, "malformed filter")
                    .expected("the name of a filter, or a mapping with its parameters")
                    .found(node.describe());
            }
        }
        Some(filters)
    }

    fn endian(&mut self, node: &'n Node, place: Place<'_>) -> Option<Endian> {
        match scalar_text(node) {
            "little" => Some(Endian::Little),
            "big" => Some(Endian::Big),
            word => {
                let hint = match word.to_lowercase().as_str() {
                    "le" | "<" => Some("did you mean `little`?".to_owned()),
                    "be" | ">" => Some("did you mean `big`?".to_owned()),
                    _ => suggest::hint(word, ["little", "big"]),
                };
                self.sink
                    .error(Code::Endian, node.at, place, "unknown byte order")
                    .expected("`little` or `big`")
                    .found(node.describe())
                    .maybe_hint(hint);
                None
            }
        }
    }

    fn order(
        &mut self,
        key: &Key,
        node: &'n Node,
        owner: Owner,
        place: Place<'_>,
    ) -> Option<Order> {
        if self.strict {
            self.sink.error(
                Code::Extension,
                key.at,
                place,
                "`storage.order` is not a key of NDL 0.6.1",
            );
            return None;
        }
        let word = scalar_text(node);
        let Some(order) = Order::from_word(word) else {
            let hint = match word.to_lowercase().as_str() {
                "c" | "row-major" | "rowmajor" => Some("did you mean `row`?".to_owned()),
                "f" | "fortran" | "column-major" | "col" | "colmajor" => {
                    Some("did you mean `column`?".to_owned())
                }
                _ => suggest::hint(word, ["column", "row", "row-unreversed"]),
            };
            self.sink
                .error(Code::Order, node.at, place, "unknown order of dimensions")
                .expected("`column`, `row` or `row-unreversed`")
                .found(node.describe())
                .maybe_hint(hint);
            return None;
        };
        if owner != Owner::Ndarray {
            let message = format!("`order` means nothing in the storage of {}", owner.word());
            self.sink.warning(Code::StoragePlace, key.at, place, message);
        }
        Some(order)
    }

    fn fill_value(
        &mut self,
        node: &'n Node,
        stored: Stored<'_>,
        place: Place<'_>,
    ) -> Option<Value> {
        let value = self.value(node, place)?;
        if let Some(datatype) = stored.datatype
            && let Err(fault) = validate::scalar(&value, datatype)
        {
            let finding = self.sink.error(
                Code::FillValue,
                node.at,
                place,
                "the fill value does not fit the datatype",
            );
            finding.expected(fault.expected).found(node.describe()).maybe_hint(fault.hint);
            return None;
        }
        Some(value)
    }
}

fn scalar_text(node: &Node) -> &str {
    match &node.kind {
        Kind::Scalar(scalar) => &scalar.text,
        _ => "",
    }
}

/// The place of an entry of a list.
pub(in crate::ndl) fn child(node: &Node, at: usize) -> Range {
    match &node.kind {
        Kind::List(list) => list.get(at).map_or(node.at, |child| child.at),
        _ => node.at,
    }
}

/// A number with its noun.
pub(in crate::ndl) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
