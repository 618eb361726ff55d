//! Random valid documents, for property tests here and in the layers above.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{
    Attribute, Datatype, Document, Endian, Extent, Form, Group, Integer, Ndarray, Order,
    RegionSelection, Storage, Value,
};

/// Texts that some YAML readers read as something else.
const TRICKY: [&str; 48] = [
    "",
    " ",
    " a",
    "a ",
    "~",
    "null",
    "no",
    "Off",
    "yes",
    "y",
    "N",
    "true",
    "2008-12-31",
    "12:30:45",
    "1_000",
    "010",
    "0o17",
    "0x1F",
    "0b11",
    "1e3",
    "1.0e+3",
    ".5",
    "5.",
    ".nan",
    "-.INF",
    "+1",
    "-",
    "- a",
    "? a",
    ": a",
    "a: b",
    "a #b",
    "a#b",
    "#a",
    "&a",
    "*a",
    "!a",
    "%a",
    "@a",
    "`a`",
    "'a'",
    "\"a\"",
    "<<",
    "=",
    "a\nb\n",
    "a\n\n  b",
    "---",
    "...",
];

/// Texts of all kinds.
pub(crate) fn text() -> BoxedStrategy<String> {
    prop_oneof![
        3 => "[a-zA-Z_][a-zA-Z0-9_. ]{0,12}",
        2 => proptest::sample::select(&TRICKY[..]).prop_map(str::to_owned),
        2 => "[-+.0-9eExo_: TZ,]{1,8}",
        1 => vec("[ ]{0,3}[a-z#:\\t ]{0,6}", 0..5).prop_map(|lines| lines.join("\n")),
        1 => "[|>a\\[\\]{},\\n\\\\\"' ]{0,8}",
        1 => any::<String>(),
    ]
    .boxed()
}

/// Names for dimcoords and ndarrays.
fn name() -> BoxedStrategy<String> {
    text()
        .prop_map(|text| match text.replace('/', "") {
            text if matches!(&*text, "" | "." | "..") => "z".to_owned(),
            text => text,
        })
        .boxed()
}

/// Names for members of enums and compounds.
fn member() -> BoxedStrategy<String> {
    text().prop_map(|text| if text.is_empty() { "m".to_owned() } else { text }).boxed()
}

fn integer() -> BoxedStrategy<Integer> {
    proptest::sample::select(&Integer::ALL[..]).boxed()
}

/// Every datatype, nested a few levels deep.
pub(crate) fn datatype() -> BoxedStrategy<Datatype> {
    let leaf = prop_oneof![
        3 => integer().prop_map(Integer::datatype),
        3 => proptest::sample::select(vec![Datatype::Float32, Datatype::Float64, Datatype::String]),
        1 => proptest::sample::select(vec![
            Datatype::Float16,
            Datatype::BFloat16,
            Datatype::Float128,
            Datatype::Complex64,
            Datatype::Complex128,
            Datatype::Int128,
            Datatype::UInt128,
        ]),
        1 => (1..100_u64, proptest::option::of(text()))
            .prop_map(|(size, tag)| Datatype::Opaque { size, tag }),
        1 => proptest::bool::ANY.prop_map(|block| Datatype::RegRef {
            selection: if block { RegionSelection::Block } else { RegionSelection::Element },
        }),
        1 => enumeration(),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|base| Datatype::Vlen(Box::new(base))),
            (inner.clone(), vec(1..4_u64, 0..3))
                .prop_map(|(base, shape)| Datatype::Array { base: Box::new(base), shape }),
            vec((member(), inner), 1..4).prop_map(|members| Datatype::Compound(unique(members))),
        ]
    })
    .boxed()
}

fn enumeration() -> BoxedStrategy<Datatype> {
    (proptest::option::of(integer()), vec(member(), 1..4), any::<bool>())
        .prop_map(|(base, names, negative)| {
            let members = unique(names.into_iter().map(|name| (name, ())).collect());
            let start = if negative && base.is_none_or(|base| base.holds(-1)) { -1 } else { 0 };
            let members = members.into_iter().map(|(name, ())| name).zip(start..).collect();
            Datatype::Enum { base, members }
        })
        .boxed()
}

fn unique<T>(entries: Vec<(String, T)>) -> Vec<(String, T)> {
    let mut seen = std::collections::HashSet::new();
    entries.into_iter().filter(|(name, _)| seen.insert(name.clone())).collect()
}

/// An element of a datatype.
fn element(datatype: &Datatype) -> BoxedStrategy<Value> {
    if let Some(integer) = datatype.integer() {
        let (low, high) = integer.range();
        return (low..=high).prop_map(from_i128).boxed();
    }
    match datatype {
        Datatype::String => text().prop_map(Value::String).boxed(),
        Datatype::Float32 | Datatype::BFloat16 => {
            any::<f32>().prop_map(|number| Value::from(number / 2.0)).boxed()
        }
        Datatype::Float16 => (-65_000.0..65_000.0).prop_map(Value::Float).boxed(),
        Datatype::Float64 | Datatype::Float128 => {
            use proptest::num::f64;
            prop_oneof![f64::ANY.prop_map(Value::Float), any::<i64>().prop_map(Value::Int)].boxed()
        }
        Datatype::Int128 => any::<i64>().prop_map(Value::Int).boxed(),
        Datatype::UInt128 => any::<u64>().prop_map(Value::from).boxed(),
        Datatype::Enum { members, .. } => proptest::sample::select(members.clone())
            .prop_flat_map(|(name, number)| {
                proptest::sample::select(vec![Value::String(name), from_i128(number)])
            })
            .boxed(),
        _ => anything().prop_filter("null is not a value", |value| *value != Value::Null).boxed(),
    }
}

fn from_i128(number: i128) -> Value {
    i64::try_from(number)
        .map_or_else(|_| Value::from(u64::try_from(number).unwrap_or(0)), Value::Int)
}

/// Any value.
pub(crate) fn anything() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<u64>().prop_map(Value::from),
        proptest::num::f64::ANY.prop_map(Value::Float),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::List),
            // `target` would make it a region.
            vec((text().prop_filter("a reference", |text| text != "target"), inner), 0..4)
                .prop_map(|entries| Value::Map(unique(entries))),
        ]
    })
    .boxed()
}

/// A value of a shape and datatype.
pub(crate) fn value(shape: &[u64], datatype: &Datatype) -> BoxedStrategy<Value> {
    let Some((extent, inner)) = shape.split_first() else { return element(datatype) };
    let extent = usize::try_from(*extent).unwrap_or(0);
    vec(value(inner, datatype), extent).prop_map(Value::List).boxed()
}

fn storage(rank: usize) -> BoxedStrategy<Storage> {
    let order = proptest::sample::select(vec![Order::Column, Order::Row, Order::RowUnreversed]);
    let endian = proptest::option::of(any::<bool>());
    let filter = prop_oneof![
        text().prop_map(Value::String),
        anything().prop_map(|value| Value::Map(vec![("deflate".to_owned(), value)])),
    ];
    (
        proptest::option::of(vec(1..9_u64, rank)),
        vec(filter, 0..3),
        endian,
        proptest::option::of(text()),
        order,
        vec(("x-[a-z]{1,5}", anything()), 0..2),
    )
        .prop_map(|(chunk, filter, endian, charset, order, other)| Storage {
            chunk,
            filter,
            endian: endian.map(|big| if big { Endian::Big } else { Endian::Little }),
            charset,
            order,
            other: unique(other),
            ..Storage::default()
        })
        .boxed()
}

fn attribute() -> BoxedStrategy<Attribute> {
    let name = text().prop_map(|name| if name.is_empty() { "a".to_owned() } else { name });
    let scalar = prop_oneof![
        text().prop_map(Value::String),
        any::<i64>().prop_map(Value::Int),
        any::<u64>().prop_map(Value::from),
        proptest::num::f64::ANY.prop_map(Value::Float),
    ];
    let short =
        (name.clone(), scalar).prop_map(|(name, value)| Attribute::short(name, value).unwrap());
    let long = (name, vec(0..4_u64, 0..3), datatype())
        .prop_flat_map(|(name, shape, datatype)| {
            let value = value(&shape, &datatype);
            let storage = proptest::option::of(storage(shape.len()));
            (Just(name), Just(shape), Just(datatype), value, storage)
        })
        .prop_map(|(name, shape, datatype, value, storage)| Attribute {
            name,
            shape,
            datatype,
            value,
            storage,
            short: false,
        });
    prop_oneof![short, long].boxed()
}

fn attributes() -> BoxedStrategy<Vec<Attribute>> {
    vec(attribute().prop_map(|fact| (fact.name.clone(), fact)), 0..3)
        .prop_map(|facts| unique(facts).into_iter().map(|(_, fact)| fact).collect())
        .boxed()
}

fn dimcoord() -> BoxedStrategy<Ndarray> {
    (name(), proptest::option::of(1..5_u64), datatype(), any::<bool>())
        .prop_flat_map(|(name, size, datatype, valued)| {
            let value = value(&[size.unwrap_or(3)], &datatype)
                .prop_map(move |value| valued.then_some(value));
            let storage = proptest::option::of(storage(1));
            (Just((name, size, datatype)), value, attributes(), storage)
        })
        .prop_map(|((name, size, datatype), value, attributes, storage)| Ndarray {
            name,
            shape: vec![size.map_or(Extent::Unlimited, Extent::Fixed)],
            datatype,
            value,
            attributes,
            storage,
        })
        .boxed()
}

fn extent() -> BoxedStrategy<Extent> {
    prop_oneof![
        any::<u16>().prop_map(|size| Extent::Fixed(size.into())),
        Just(Extent::Unlimited),
        name().prop_map(Extent::Coord),
        (name(), name()).prop_map(|(group, name)| Extent::Coord(format!("/{group}/{name}"))),
    ]
    .boxed()
}

fn ndarray() -> BoxedStrategy<Ndarray> {
    let valued = (vec(0..4_u64, 0..3), datatype()).prop_flat_map(|(sizes, datatype)| {
        let value = value(&sizes, &datatype).prop_map(Some);
        let shape: Vec<Extent> = sizes.iter().copied().map(Extent::Fixed).collect();
        (Just(shape), Just(datatype), value, Just(Some(sizes)))
    });
    let described = (vec(extent(), 0..4), datatype(), Just(None), Just(None));
    (name(), prop_oneof![valued, described])
        .prop_flat_map(|(name, (shape, datatype, value, stored))| {
            let storage = storage(shape.len()).prop_map(move |mut storage| {
                storage.shape.clone_from(&stored);
                storage
            });
            let storage = proptest::option::of(storage);
            (Just((name, shape, datatype, value)), attributes(), storage)
        })
        .prop_map(|((name, shape, datatype, value), attributes, storage)| Ndarray {
            name,
            shape,
            datatype,
            value,
            attributes,
            storage,
        })
        .boxed()
}

fn group(path: String) -> BoxedStrategy<Group> {
    (attributes(), vec(dimcoord(), 0..3), vec(ndarray(), 0..3))
        .prop_map(move |(attributes, dimcoords, ndarrays)| {
            let mut seen = std::collections::HashSet::new();
            Group {
                path: path.clone(),
                attributes,
                dimcoords: dimcoords
                    .into_iter()
                    .filter(|coord| seen.insert(coord.name.clone()))
                    .collect(),
                ndarrays: ndarrays
                    .into_iter()
                    .filter(|array| seen.insert(array.name.clone()))
                    .collect(),
            }
        })
        .boxed()
}

/// Flat and grouped documents.
pub(crate) fn document() -> BoxedStrategy<Document> {
    let flat =
        group("/".to_owned()).prop_map(|group| Document { form: Form::Flat, groups: vec![group] });
    let path = prop_oneof![
        Just("/".to_owned()),
        vec(name(), 1..3).prop_map(|parts| format!("/{}", parts.join("/"))),
    ];
    let grouped =
        vec(path.prop_flat_map(group).prop_map(|group| (group.path.clone(), group)), 1..3)
            .prop_map(|groups| Document {
                form: Form::Grouped,
                groups: unique(groups).into_iter().map(|(_, group)| group).collect(),
            });
    prop_oneof![flat, grouped].boxed()
}
