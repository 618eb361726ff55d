//! Attributes, dimension coordinates and arrays, and their storage.

use super::{DocumentReader, Site, one_of};
use crate::finding::Code;
use crate::message::counted;
use crate::ndl::datatype::Datatype;
use crate::ndl::model::{Attribute, Endian, Extent, Ndarray, Order, Storage};
use crate::ndl::node::{Node, NodeKey, NodeKind};
use crate::ndl::report::{hint, quote};
use crate::ndl::validate::scalar;
use crate::ndl::value::Value;

/// A kind of entity, as findings name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Ndarray,
    DimCoord,
    Attribute,
}

impl Owner {
    /// Returns the noun with each article.
    fn words(self) -> [&'static str; 2] {
        match self {
            Self::Ndarray => ["an ndarray", "the ndarray"],
            Self::DimCoord => ["a dimcoord", "the dimcoord"],
            Self::Attribute => ["an attribute", "the attribute"],
        }
    }
}

/// The entity whose storage is read.
#[derive(Debug, Clone, Copy)]
struct StoredEntity<'a> {
    owner: Owner,
    rank: Option<usize>,
    datatype: Option<&'a Datatype>,
}

impl<'n> DocumentReader<'n, '_, '_> {
    pub(super) fn attributes(&mut self, node: Option<&'n Node>) -> Vec<Attribute> {
        let entries = self.entries(node, "`attributes`");
        let mut attributes = Vec::with_capacity(entries.len());
        for (key, node) in entries {
            if key.text.is_empty() {
                self.report(Code::Name, key.at, "the name of an attribute is empty");
                continue;
            }
            attributes.extend(match node.kind {
                NodeKind::Map(_) => self.long_attribute(key, node),
                NodeKind::Scalar(_) | NodeKind::List(_) => self.short_attribute(key, node),
            });
        }
        attributes
    }

    fn short_attribute(&mut self, key: &NodeKey, node: &'n Node) -> Option<Attribute> {
        let value = self.value(node)?;
        let (code, message, hint) = match &value {
            Value::List(list) => {
                let first = list.first().and_then(Datatype::of_scalar);
                let (length, datatype) = (list.len(), first.unwrap_or(Datatype::String));
                let message = "a list cannot be the short form of an attribute";
                let long = format!("`{{shape: [{length}], type: {datatype}, value: […]}}`");
                (Code::ShortList, message, format!("write the long form: {long}"))
            }
            Value::Null | Value::Bool(_) => {
                let hint = match &value {
                    Value::Bool(truth) => {
                        let number = u8::from(*truth);
                        format!("write `\"{truth}\"` for the string, or `{number}` for a number")
                    }
                    _ => "remove the attribute, or write `\"\"` for an empty string".to_owned(),
                };
                (Code::ShortNotScalar, "the value of the attribute has no datatype", hint)
            }
            _ => return Attribute::short(&*key.text, value),
        };
        self.report(code, node.at, message)
            .expected("an integer, a float or a string")
            .found(value.describe())
            .hint(hint);
        None
    }

    fn long_attribute(&mut self, key: &NodeKey, node: &'n Node) -> Option<Attribute> {
        let map = self.map(node, "the attribute", "`shape`, `type` and `value`")?;
        let what = "the long form of an attribute";
        let [shape, datatype, value, storage] =
            self.fields(map, ["shape", "type", "value", "storage"], what);
        let hint =
            "the long form is `{shape: […], type: …, value: …}`; the short form is the bare value";
        for (name, field) in [("shape", shape), ("type", datatype), ("value", value)] {
            self.required(field, name, key.at, "the attribute", hint);
        }
        let shape = shape.and_then(|node| self.fixed_shape(node, "the shape of an attribute"));
        let datatype = datatype.and_then(|node| self.datatype(node));
        let rank = shape.as_ref().map(Vec::len);
        let stored = StoredEntity { owner: Owner::Attribute, rank, datatype: datatype.as_ref() };
        let storage = storage.and_then(|node| self.storage(node, stored));
        let value_node = value?;
        let value = self.value(value_node)?;
        let (shape, datatype) = (shape?, datatype?);
        let extents = shape.iter().copied().map(Some).collect();
        self.check_value(&value, value_node, extents, &datatype);
        let name = key.text.clone().into_string();
        Some(Attribute { name, shape, datatype, value, storage, short: false })
    }

    /// Reads an ndarray or a dimcoord, which is an array of one dimension.
    pub(super) fn array(
        &mut self,
        key: &'n NodeKey,
        node: &'n Node,
        group: &'n str,
        is_dimcoord: bool,
    ) -> Option<(Ndarray, Site<'n>)> {
        let (owner, extents, hint) = if is_dimcoord {
            let hint =
                "add the number of its elements: `size: 100`, or `size: null` if it can grow";
            (Owner::DimCoord, "size", hint)
        } else {
            let hint = "add its shape: `shape: [10, 20]`, or `shape: []` for a scalar";
            (Owner::Ndarray, "shape", hint)
        };
        let [an, the] = owner.words();
        let named = self.name(key, an);
        let map = self.map(node, the, &format!("`{extents}` and `type`"))?;
        let known = [extents, "type", "value", "attributes", "storage"];
        let [shape_node, datatype, value, attributes, storage] = self.fields(map, known, an);
        self.required(shape_node, extents, key.at, the, hint);
        let shape = shape_node
            .and_then(|node| if is_dimcoord { self.size(node) } else { self.shape(node) });
        let hint = "add the type of its elements, such as `type: float64`";
        let datatype = self.required(datatype, "type", key.at, the, hint);
        let datatype = datatype.and_then(|node| self.datatype(node));
        let rank = if is_dimcoord { Some(1) } else { shape.as_ref().map(Vec::len) };
        let stored = StoredEntity { owner, rank, datatype: datatype.as_ref() };
        let stored = storage.and_then(|node| self.storage(node, stored));
        let attributes = self.attributes(attributes);
        let site = Site { group, key, shape: shape_node?, value, storage, is_dimcoord };
        let value = match value {
            None => Some(None),
            Some(node) => self.value(node).map(Some),
        };
        let shape = shape?;
        let (Some(datatype), Some(value), true) = (datatype, value, named) else {
            self.stray.push((site, shape));
            return None;
        };
        let name = key.text.clone().into_string();
        Some((Ndarray { name, shape, datatype, value, attributes, storage: stored }, site))
    }

    /// Reads the size of a dimcoord; `null` if it can grow.
    fn size(&mut self, node: &'n Node) -> Option<Vec<Extent>> {
        if node.is_null() {
            return Some(vec![Extent::Unlimited]);
        }
        let message = "invalid size of a dimcoord";
        let expected = "an integer of at least 1, or `null`";
        let size = self.integer(node, 1, Code::CoordSize, message, expected)?;
        Some(vec![Extent::Fixed(size)])
    }

    /// Checks a name, which must be usable as part of a path.
    fn name(&mut self, key: &NodeKey, what: &str) -> bool {
        let fault = match &*key.text {
            "" => "is empty",
            "." | ".." => "is `.` or `..`",
            name if name.contains('/') => "contains a `/`",
            _ => return true,
        };
        let hint = key.text.rsplit_once('/').map(|(group, name)| {
            let group = quote(&format!("/{}", group.trim_matches('/')));
            format!("{} belongs in the group {group}", quote(name))
        });
        self.report(Code::Name, key.at, format!("the name of {what} {fault}")).maybe_hint(hint);
        false
    }
}

const STORAGE_KEYS: [&str; 8] =
    ["shape", "size", "chunk", "filter", "endian", "charset", "fillvalue", "order"];

/// `storage`: how a file stores an entity.
impl<'n> DocumentReader<'n, '_, '_> {
    /// Reads the valid keys; the others are reported and left out.
    fn storage(&mut self, node: &'n Node, stored: StoredEntity<'_>) -> Option<Storage> {
        if node.is_null() {
            return None;
        }
        let map = self.map(node, "`storage`", "keys such as `endian` or `filter`")?;
        let mut storage = Storage::default();
        for (key, node) in map.iter() {
            match &*key.text {
                word @ ("shape" | "size") => {
                    let (owner, shape) = if word == "shape" {
                        (Owner::Ndarray, self.ranked(node, stored, "`storage.shape`"))
                    } else {
                        let message = "invalid `storage.size`";
                        let expected = "an integer, at least 0";
                        let size = self.integer(node, 0, Code::Extent, message, expected);
                        (Owner::DimCoord, size.map(|size| vec![size]))
                    };
                    self.storage_place(key, stored.owner, owner);
                    if stored.owner == owner {
                        storage.shape = shape;
                    } else if shape.is_some() {
                        storage.other.extend(self.value(node).map(|it| (word.to_owned(), it)));
                    }
                }
                "chunk" => storage.chunk = self.chunk(node, stored),
                "filter" => storage.filter = self.filter(node).unwrap_or_default(),
                "endian" => {
                    let choices =
                        [Endian::Little, Endian::Big].map(|endian| (endian.word(), endian));
                    let aliases = [("le", "little"), ("<", "little"), ("be", "big"), (">", "big")];
                    let message = "unknown byte order";
                    storage.endian = self.choice(node, choices, &aliases, Code::Endian, message);
                }
                "charset" => storage.charset = self.text(node, "`charset`"),
                "fillvalue" => storage.fillvalue = self.fill_value(node, stored),
                "order" => storage.order = self.order(key, node, stored.owner).unwrap_or_default(),
                other => {
                    let message = format!("unknown storage key {}", quote(other));
                    self.report(Code::StorageKey, key.at, message)
                        .warning()
                        .expected(one_of(&STORAGE_KEYS))
                        .maybe_hint(hint(other, STORAGE_KEYS));
                    if let Some(value) = self.value(node) {
                        storage.other.push((other.to_owned(), value));
                    }
                }
            }
        }
        Some(storage)
    }

    /// Warns about a key that only another kind of entity has.
    fn storage_place(&mut self, key: &NodeKey, owner: Owner, right: Owner) {
        if owner == right {
            return;
        }
        let [an, _] = owner.words();
        let hint = match owner {
            _ if &*key.text == "order" => None,
            Owner::Ndarray => Some("use `shape` for the shape of an ndarray in the file"),
            Owner::DimCoord => Some("use `size` for the length of a dimcoord in the file"),
            Owner::Attribute => None,
        };
        let message = format!("`{}` has no meaning in the storage of {an}", key.text);
        self.report(Code::StoragePlace, key.at, message)
            .warning()
            .maybe_hint(hint.map(str::to_owned));
    }

    fn ranked(&mut self, node: &'n Node, stored: StoredEntity<'_>, what: &str) -> Option<Vec<u64>> {
        let numbers = self.numbers(node, what)?;
        if let Some(rank) = stored.rank
            && numbers.len() != rank
        {
            self.report(Code::StorageRank, node.at, format!("{what} has the wrong length"))
                .expected(counted(rank, "extent"))
                .found(counted(numbers.len(), "extent"));
            return None;
        }
        Some(numbers)
    }

    fn chunk(&mut self, node: &'n Node, stored: StoredEntity<'_>) -> Option<Vec<u64>> {
        let before = self.sink.len();
        let chunk = self.ranked(node, stored, "`storage.chunk`");
        // Zeros are reported even if the list has the wrong length.
        let NodeKind::List(list) = &node.kind else { return None };
        for node in list {
            if node.value().is_ok_and(|value| value.as_integer() == Some(0)) {
                self.report(Code::Extent, node.at, "a chunk length is zero")
                    .expected("an integer, at least 1")
                    .found("0");
            }
        }
        chunk.filter(|_| self.sink.len() == before)
    }

    fn filter(&mut self, node: &'n Node) -> Option<Vec<Value>> {
        let NodeKind::List(list) = &node.kind else {
            let is_one = matches!(node.kind, NodeKind::Scalar(_)) && !node.is_null();
            let list = quote(&format!("[{}]", node.word()));
            self.refuse(Code::Filter, node, "`filter` is a list", "a list of filters").maybe_hint(
                is_one.then(|| format!("write a list, even for a single filter: {list}")),
            );
            return None;
        };
        let mut filters = Vec::with_capacity(list.len());
        for node in list {
            let value = self.value(node)?;
            if matches!(value, Value::String(_) | Value::Map(_)) {
                filters.push(value);
            } else {
                let expected = "the name of a filter, or a mapping with its parameters";
                self.refuse(Code::Filter, node, "invalid filter", expected);
            }
        }
        Some(filters)
    }

    fn order(&mut self, key: &NodeKey, node: &'n Node, owner: Owner) -> Option<Order> {
        /// Other programs' words for the orders.
        const ALIASES: [(&str, &str); 8] = [
            ("c", "row"),
            ("row-major", "row"),
            ("rowmajor", "row"),
            ("f", "column"),
            ("fortran", "column"),
            ("column-major", "column"),
            ("col", "column"),
            ("colmajor", "column"),
        ];
        let choices = Order::ALL.map(|order| (order.word(), order));
        let message = "unknown order of elements";
        let order = self.choice(node, choices, &ALIASES, Code::Order, message)?;
        self.storage_place(key, owner, Owner::Ndarray);
        Some(order)
    }

    fn fill_value(&mut self, node: &'n Node, stored: StoredEntity<'_>) -> Option<Value> {
        let value = self.value(node)?;
        if let Some(Err(fault)) = stored.datatype.map(|datatype| scalar(&value, datatype)) {
            let message = "the fill value does not fit the datatype";
            self.refuse(Code::FillValue, node, message, fault.expected).maybe_hint(fault.hint);
            return None;
        }
        Some(value)
    }
}
