//! From the model to the form a document has: mappings, lists and scalars, keys in a fixed order.

use super::datatype::Datatype;
use super::model::{
    Attribute, DimCoord, Document, Extent, Form, Group, Ndarray, Order, Storage, Value,
};

pub(super) type Entries = Vec<(String, Value)>;

/// The document as a value.
pub(super) fn document(document: &Document) -> Value {
    match (document.form, document.groups.as_slice()) {
        (Form::Flat, []) => Value::Map(Entries::new()),
        (Form::Flat, [root]) if root.path == "/" => Value::Map(group(root)),
        (_, groups) => Value::Map(
            groups.iter().map(|body| (body.path.clone(), Value::Map(group(body)))).collect(),
        ),
    }
}

pub(super) fn group(body: &Group) -> Entries {
    let mut entries = Entries::new();
    entries.extend(attributes(&body.attributes));
    if !body.dimcoords.is_empty() {
        let map = body.dimcoords.iter().map(|coord| (coord.name.clone(), dimcoord(coord)));
        entries.push(("dimcoords".to_owned(), Value::Map(map.collect())));
    }
    if !body.ndarrays.is_empty() {
        let map = body.ndarrays.iter().map(|array| (array.name.clone(), ndarray(array)));
        entries.push(("ndarrays".to_owned(), Value::Map(map.collect())));
    }
    entries
}

/// The entry of attributes, when there are any.
pub(super) fn attributes(list: &[Attribute]) -> Entries {
    if list.is_empty() {
        return Entries::new();
    }
    let map = list.iter().map(|fact| (fact.name.clone(), attribute(fact)));
    vec![("attributes".to_owned(), Value::Map(map.collect()))]
}

fn attribute(fact: &Attribute) -> Value {
    if fact.short && fact.fits_short() {
        return fact.value.clone();
    }
    let mut entries = vec![
        ("shape".to_owned(), numbers(&fact.shape)),
        ("type".to_owned(), datatype(&fact.datatype)),
        ("value".to_owned(), fact.value.clone()),
    ];
    entries.extend(storage(fact.storage.as_ref()));
    Value::Map(entries)
}

pub(super) fn dimcoord(coord: &DimCoord) -> Value {
    let mut entries = vec![
        ("size".to_owned(), coord.size.map_or(Value::Null, Value::from)),
        ("type".to_owned(), datatype(&coord.datatype)),
    ];
    body(&mut entries, coord.value.as_ref(), &coord.attributes, coord.storage.as_ref());
    Value::Map(entries)
}

pub(super) fn ndarray(array: &Ndarray) -> Value {
    let mut entries = vec![
        ("shape".to_owned(), shape(&array.shape)),
        ("type".to_owned(), datatype(&array.datatype)),
    ];
    body(&mut entries, array.value.as_ref(), &array.attributes, array.storage.as_ref());
    Value::Map(entries)
}

fn body(
    entries: &mut Entries,
    value: Option<&Value>,
    facts: &[Attribute],
    stored: Option<&Storage>,
) {
    entries.extend(value.map(|value| ("value".to_owned(), value.clone())));
    entries.extend(attributes(facts));
    entries.extend(storage(stored));
}

/// A shape as the list that is written.
pub(super) fn shape(extents: &[Extent]) -> Value {
    let extent = |extent: &Extent| match extent {
        Extent::Fixed(size) => Value::from(*size),
        Extent::Unlimited => Value::Null,
        Extent::Coord(name) => Value::from(&**name),
    };
    Value::List(extents.iter().map(extent).collect())
}

fn numbers(extents: &[u64]) -> Value {
    Value::List(extents.iter().copied().map(Value::from).collect())
}

/// Calls itself for datatypes in datatypes.
pub(super) fn datatype(datatype: &Datatype) -> Value {
    if let Some(word) = datatype.word() {
        return Value::from(word);
    }
    let (key, body) = match datatype {
        Datatype::Opaque { size, tag } => {
            let mut body = vec![("size".to_owned(), Value::from(*size))];
            body.extend(tag.as_ref().map(|tag| ("tag".to_owned(), Value::from(&**tag))));
            ("opaque", Value::Map(body))
        }
        Datatype::Enum { base, members } => {
            let mut body = Entries::new();
            body.extend(base.map(|base| ("base".to_owned(), Value::from(base.word()))));
            let members = members.iter().map(|(name, number)| (name.clone(), integer(*number)));
            body.push(("members".to_owned(), Value::Map(members.collect())));
            ("enum", Value::Map(body))
        }
        Datatype::RegRef { selection } => {
            ("regref", Value::Map(vec![("selection".to_owned(), Value::from(selection.word()))]))
        }
        Datatype::Compound(members) => {
            let member = |(name, member): &(String, Datatype)| {
                Value::Map(vec![(name.clone(), self::datatype(member))])
            };
            ("compound", Value::List(members.iter().map(member).collect()))
        }
        Datatype::Vlen(base) => {
            ("vlen", Value::Map(vec![("base".to_owned(), self::datatype(base))]))
        }
        Datatype::Array { base, shape } => {
            let body = vec![
                ("base".to_owned(), self::datatype(base)),
                ("shape".to_owned(), numbers(shape)),
            ];
            ("array", Value::Map(body))
        }
        // Every other datatype is a word.
        _ => return Value::Null,
    };
    Value::Map(vec![(key.to_owned(), body)])
}

/// Numbers of enums come from 64-bit integers; one that does not is written as the text it has.
fn integer(number: i128) -> Value {
    i64::try_from(number)
        .map(Value::Int)
        .or_else(|_| u64::try_from(number).map(Value::UInt))
        .unwrap_or_else(|_| Value::String(number.to_string()))
}

fn storage(stored: Option<&Storage>) -> Option<(String, Value)> {
    let stored = stored?;
    let mut entries = Entries::new();
    let mut put = |key: &str, value: Option<Value>| {
        entries.extend(value.map(|value| (key.to_owned(), value)));
    };
    put("shape", stored.shape.as_deref().map(numbers));
    put("size", stored.size.map(Value::from));
    put("order", (stored.order != Order::Column).then(|| Value::from(stored.order.word())));
    put("chunk", stored.chunk.as_deref().map(numbers));
    put("filter", (!stored.filter.is_empty()).then(|| Value::List(stored.filter.clone())));
    put("endian", stored.endian.map(|endian| Value::from(endian.word())));
    put("charset", stored.charset.as_deref().map(Value::from));
    put("fillvalue", stored.fillvalue.clone());
    entries.extend(stored.other.iter().cloned());
    Some(("storage".to_owned(), Value::Map(entries)))
}
