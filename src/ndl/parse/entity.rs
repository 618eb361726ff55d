//! Attributes, dimension coordinates and arrays.

use super::storage::{Owner, Stored};
use super::{Reader, Site};
use crate::ndl::datatype::Datatype;
use crate::ndl::diagnostic::{Code, Place, quote};
use crate::ndl::model::{Attribute, DimCoord, Ndarray, Value};
use crate::ndl::node::{Key, Kind, Node};
use crate::ndl::validate::Expected;

impl<'n> Reader<'n, '_, '_> {
    pub(super) fn attributes(
        &mut self,
        node: Option<&'n Node>,
        place: Place<'n>,
    ) -> Vec<Attribute> {
        let entries = self.entries(node, place, "`attributes`");
        let mut attributes = Vec::with_capacity(entries.len());
        for (key, node) in entries {
            let place = place.attribute(&key.text);
            if key.text.is_empty() {
                self.sink.error(Code::Name, key.at, place, "the name of an attribute is empty");
                continue;
            }
            attributes.extend(match node.kind {
                Kind::Map(_) => self.long_attribute(key, node, place),
                Kind::Scalar(_) | Kind::List(_) => self.short_attribute(key, node, place),
            });
        }
        attributes
    }

    fn short_attribute(
        &mut self,
        key: &Key,
        node: &'n Node,
        place: Place<'_>,
    ) -> Option<Attribute> {
        let value = self.value(node, place)?;
        match &value {
            Value::List(list) => {
                let datatype =
                    list.first().and_then(Datatype::of_scalar).unwrap_or(Datatype::String);
                let hint = format!(
                    "write the long form: `{{shape: [{}], type: {datatype}, value: […]}}`",
                    list.len()
                );
                self.sink
                    .error(
                        Code::ShortList,
                        node.at,
                        place,
                        "the short form of an attribute is a scalar",
                    )
                    .expected("an integer, a float or a text")
                    .found("a list")
                    .hint(hint);
                None
            }
            Value::Null | Value::Bool(_) => {
                let hint = match &value {
                    Value::Bool(truth) => {
                        format!(
                            "write `\"{truth}\"` for the text, or `{}` for a number",
                            i32::from(*truth)
                        )
                    }
                    _ => "leave the attribute out, or write `\"\"` for an empty text".to_owned(),
                };
                self.sink
                    .error(
                        Code::ShortNotScalar,
                        node.at,
                        place,
                        "the value of the attribute has no datatype",
                    )
                    .expected("an integer, a float or a text")
                    .found(value.describe())
                    .hint(hint);
                None
            }
            _ => Attribute::short(&*key.text, value),
        }
    }

    fn long_attribute(&mut self, key: &Key, node: &'n Node, place: Place<'n>) -> Option<Attribute> {
        let map = self.map(node, place, "the attribute", "`shape`, `type` and `value`")?;
        let what = "the long form of an attribute";
        let [shape, datatype, value, storage] =
            self.fields(map, ["shape", "type", "value", "storage"], place, what);
        let hint =
            "the long form is `{shape: […], type: …, value: …}`; the short form is the bare value";
        for (name, field) in [("shape", shape), ("type", datatype), ("value", value)] {
            if field.is_none() {
                self.missing(name, key.at, place, "the attribute", hint);
            }
        }
        let shape = shape.map(|node| self.fixed_shape(node, place, "the shape of an attribute"));
        let datatype = datatype.map(|node| self.datatype(node, place));
        let stored = Stored {
            owner: Owner::Attribute,
            rank: shape.as_ref().and_then(|shape| shape.as_ref().map(Vec::len)),
            datatype: datatype.as_ref().and_then(Option::as_ref),
        };
        let storage = storage.and_then(|node| self.storage(node, stored, place));
        let value_node = value?;
        let value = self.value(value_node, place)?;
        let (shape, datatype) = (shape??, datatype??);
        let extents = shape.iter().copied().map(Some).collect();
        self.check_value(&value, value_node, Expected { extents, datatype: &datatype }, place);
        let name = key.text.clone().into_string();
        Some(Attribute { name, shape, datatype, value, storage, short: false })
    }

    pub(super) fn dimcoord(
        &mut self,
        key: &'n Key,
        node: &'n Node,
        group: &'n str,
    ) -> Option<DimCoord> {
        let place = Place::group(group).entity(&key.text);
        let named = self.name(key, "a dimcoord", place);
        let map = self.map(node, place, "the dimcoord", "`size` and `type`")?;
        let known = ["size", "type", "value", "attributes", "storage"];
        let [size, datatype, value, attributes, storage] =
            self.fields(map, known, place, "a dimcoord");
        if size.is_none() {
            let hint =
                "add the number of its elements: `size: 100`, or `size: null` when it can grow";
            self.missing("size", key.at, place, "the dimcoord", hint);
        }
        let size = size.map(|node| self.size(node, place));
        let datatype = self.required_type(key, datatype, place, "the dimcoord");
        let stored = Stored { owner: Owner::DimCoord, rank: Some(1), datatype: datatype.as_ref() };
        let stored = storage.and_then(|node| Some((node, self.storage(node, stored, place)?)));
        let attributes = self.attributes(attributes, place);
        let size = size??;
        if let Some((node, storage)) = &stored {
            self.check_storage_size(size, storage.size, node, place);
        }
        let storage = stored.map(|(_, storage)| storage);
        let (datatype, true) = (datatype?, named) else { return None };
        let value = match value {
            None => None,
            Some(node) => {
                let value = self.value(node, place)?;
                let extent = storage.as_ref().and_then(|storage| storage.size).or(size);
                let expected = Expected { extents: vec![extent], datatype: &datatype };
                self.check_value(&value, node, expected, place);
                Some(value)
            }
        };
        let name = key.text.clone().into_string();
        Some(DimCoord { name, size, datatype, value, attributes, storage })
    }

    /// `Some(None)` is a size that can grow.
    #[expect(clippy::option_option, reason = "malformed, unlimited and fixed are three answers")]
    fn size(&mut self, node: &'n Node, place: Place<'_>) -> Option<Option<u64>> {
        if node.is_null() {
            return Some(None);
        }
        let size = self.value(node, place)?.as_integer().and_then(|size| u64::try_from(size).ok());
        if let Some(size @ 1..) = size {
            return Some(Some(size));
        }
        self.sink
            .error(Code::CoordSize, node.at, place, "malformed size of a dimcoord")
            .expected("an integer of at least 1, or `null`")
            .found(node.describe());
        None
    }

    fn check_storage_size(
        &mut self,
        size: Option<u64>,
        stored: Option<u64>,
        node: &Node,
        place: Place<'_>,
    ) {
        let (Some(size), Some(stored)) = (size, stored) else { return };
        if stored > size {
            let at = node.entry("size").map_or(node.at, |(_, node)| node.at);
            self.sink
                .error(Code::StorageBound, at, place, "`storage.size` is larger than `size`")
                .expected(format!("at most {size}"))
                .found(stored.to_string());
        }
    }

    pub(super) fn ndarray(
        &mut self,
        key: &'n Key,
        node: &'n Node,
        group: &'n str,
    ) -> Option<(Ndarray, Site<'n>)> {
        let place = Place::group(group).entity(&key.text);
        let named = self.name(key, "an ndarray", place);
        let map = self.map(node, place, "the ndarray", "`shape` and `type`")?;
        let known = ["shape", "type", "value", "attributes", "storage"];
        let [shape_node, datatype, value, attributes, storage] =
            self.fields(map, known, place, "an ndarray");
        if shape_node.is_none() {
            let hint = "add its extents: `shape: [10, 20]`, or `shape: []` for a scalar";
            self.missing("shape", key.at, place, "the ndarray", hint);
        }
        let shape = shape_node.and_then(|node| self.shape(node, place));
        let datatype = self.required_type(key, datatype, place, "the ndarray");
        let stored = Stored {
            owner: Owner::Ndarray,
            rank: shape.as_ref().map(Vec::len),
            datatype: datatype.as_ref(),
        };
        let stored = storage.and_then(|node| self.storage(node, stored, place));
        let attributes = self.attributes(attributes, place);
        let site = Site { group, key, shape: shape_node?, value, storage };
        let value = match value {
            None => Some(None),
            Some(node) => self.value(node, place).map(Some),
        };
        let shape = shape?;
        let (Some(datatype), Some(value), true) = (datatype, value, named) else {
            self.stray.push((site, shape));
            return None;
        };
        let name = key.text.clone().into_string();
        Some((Ndarray { name, shape, datatype, value, attributes, storage: stored }, site))
    }

    fn required_type(
        &mut self,
        key: &Key,
        node: Option<&'n Node>,
        place: Place<'_>,
        what: &str,
    ) -> Option<Datatype> {
        let Some(node) = node else {
            let hint = "add the type of its elements, such as `type: float64`";
            self.missing("type", key.at, place, what, hint);
            return None;
        };
        self.datatype(node, place)
    }

    /// Names are parts of paths.
    fn name(&mut self, key: &Key, what: &str, place: Place<'_>) -> bool {
        let fault = match &*key.text {
            "" => "is empty",
            "." | ".." => "is `.` or `..`",
            name if name.contains('/') => "holds a `/`",
            _ => return true,
        };
        let hint = key.text.rsplit_once('/').map(|(group, name)| {
            format!(
                "{} belongs into the group {}",
                quote(name),
                quote(&format!("/{}", group.trim_matches('/')))
            )
        });
        self.sink
            .error(Code::Name, key.at, place, format!("the name of {what} {fault}"))
            .maybe_hint(hint);
        false
    }
}
