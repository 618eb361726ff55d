//! A document in any serde format, in the form that its YAML has.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::load::MAX_DEPTH;
use super::model::{Document, Value};
use super::node::{Key, Kind, Map, Node, Range, Scalar, Style};
use super::{ParseOptions, form, write};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(truth) => serializer.serialize_bool(*truth),
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::UInt(number) => serializer.serialize_u64(*number),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::String(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a boolean, a number, a text, a list or a mapping")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        // The size that a format claims is not believed: the list grows with what is there.
        let mut list = Vec::new();
        while let Some(value) = access.next_element()? {
            list.push(value);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        form::document(self).serialize(serializer)
    }
}

/// Checks the rules that [`parse`](super::parse) checks; the message of the error is that of the
/// first finding, without a place.
impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let root = node(Value::deserialize(deserializer)?, 0).map_err(D::Error::custom)?;
        super::from_node(&root, ParseOptions::default()).map_err(D::Error::custom)
    }
}

/// The value as a tree without places.
fn node(value: Value, depth: usize) -> Result<Node, String> {
    if depth > MAX_DEPTH {
        return Err(format!("lists and mappings are nested more than {MAX_DEPTH} levels deep"));
    }
    let below = depth.saturating_add(1);
    let scalar = |text: String, style| Kind::Scalar(Scalar { text: text.into(), style });
    let kind = match value {
        Value::Null => scalar("null".to_owned(), Style::Plain),
        Value::Bool(truth) => scalar(truth.to_string(), Style::Plain),
        Value::Int(number) => scalar(number.to_string(), Style::Plain),
        Value::UInt(number) => scalar(number.to_string(), Style::Plain),
        Value::Float(number) => scalar(write::float(number), Style::Plain),
        Value::String(text) => scalar(text, Style::Text),
        Value::List(list) => {
            Kind::List(list.into_iter().map(|value| node(value, below)).collect::<Result<_, _>>()?)
        }
        Value::Map(entries) => {
            let entry = |(key, value): (String, Value)| {
                Ok((Key { at: Range::default(), text: key.into() }, node(value, below)?))
            };
            let (map, twice) =
                Map::new(entries.into_iter().map(entry).collect::<Result<_, String>>()?);
            if let Some((key, _)) = twice.first() {
                return Err(format!("the key `{}` is given twice", crate::path::escape(&key.text)));
            }
            Kind::Map(map)
        }
    };
    Ok(Node { at: Range::default(), kind })
}
