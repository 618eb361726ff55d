//! `schemas/ndl.schema.json` and the reader accept the same documents, as far as a schema can: they agree on the
//! structural rules, and the schema does not check the others.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use jsonschema::Validator;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::rules::BROKEN;
use super::shown;
use crate::finding::{Code, Finding, Severity};
use crate::ndl::load::load;
use crate::ndl::report::Reporter;
use crate::ndl::source::SourceText;
use crate::ndl::{Value, parse, strategies};

/// Rules about the text and its YAML: a text that breaks them has no JSON.
const TEXTUAL: &[Code] = &[
    Code::NotUtf8,
    Code::TooLarge,
    Code::Syntax,
    Code::ManyDocuments,
    Code::DuplicateKey,
    Code::Tag,
    Code::MergeKey,
    Code::Alias,
    Code::TooDeep,
    Code::KeyNotText,
    Code::NumberRange,
    Code::TooManyFindings,
];

/// Rules in the schema: keys, kinds, words and ranges.
const STRUCTURAL: &[Code] = &[
    Code::UnknownKey,
    Code::MissingKey,
    Code::WrongKind,
    Code::MixedForms,
    Code::GroupPath,
    Code::Name,
    Code::ShortList,
    Code::ShortNotScalar,
    Code::UnknownDatatype,
    Code::DatatypeForm,
    Code::OpaqueSize,
    Code::EnumMembers,
    Code::EnumRange,
    Code::EnumBase,
    Code::Selection,
    Code::CompoundMember,
    Code::Extent,
    Code::ExtentKind,
    Code::CoordPath,
    Code::CoordSize,
    Code::Endian,
    Code::Order,
    Code::Filter,
];

/// Rules that relate two parts of a document, rules about sums, products and values, and rules that only warn or depend
/// on an option.
const SEMANTIC: &[Code] = &[
    Code::NameTwice,
    Code::EnumTwice,
    Code::CompoundTwice,
    Code::DatatypeSize,
    Code::Extension,
    Code::UnresolvedCoord,
    Code::ShapeSize,
    Code::ValueShape,
    Code::ValueType,
    Code::ValueRange,
    Code::EnumValue,
    Code::UnresolvedTarget,
    Code::RegionBounds,
    Code::StorageRank,
    Code::StorageBound,
    Code::StoragePlace,
    Code::StorageKey,
    Code::FillValue,
];

fn is_structural(finding: &Finding) -> bool {
    match finding.code {
        // A given base is a range for each member; without one, the rule depends on all members together.
        Code::EnumRange => finding.expected.is_some(),
        code => STRUCTURAL.contains(&code),
    }
}

fn validator() -> Validator {
    let schema = serde_json::from_str(include_str!("../../../schemas/ndl.schema.json")).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// Converts the value to JSON. JSON has no infinities, and JSON Schema counts `2.0` as an integer: such floats become a
/// number with a fraction.
fn to_json(value: &Value) -> Json {
    match value {
        Value::Float(number) if number.is_finite() && number.fract() != 0.0 => json!(number),
        Value::Float(_) => json!(0.5),
        Value::List(list) => list.iter().map(to_json).collect(),
        Value::Map(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), to_json(value))).collect())
        }
        scalar => serde_json::to_value(scalar).unwrap(),
    }
}

/// Reads a text as YAML; `None` if it is not YAML or not one document.
fn yaml(text: &str) -> Option<Json> {
    let source = SourceText::new(text.to_owned());
    let mut sink = Reporter::new(&source);
    let root = load(&mut sink);
    if !sink.finish().is_empty() {
        return None;
    }
    root?.value().ok().as_ref().map(to_json)
}

fn faults(validator: &Validator, document: &Json) -> Vec<String> {
    let fault =
        |error: jsonschema::ValidationError<'_>| format!("{}: {error}", error.instance_path());
    validator.iter_errors(document).map(fault).collect()
}

#[test]
fn every_rule_is_of_one_kind() {
    let lists = [TEXTUAL, STRUCTURAL, SEMANTIC].concat();
    let unique: HashSet<_> = lists.iter().collect();
    assert_eq!(unique.len(), lists.len());
    let rules = Code::ALL.iter().filter(|code| code.id().starts_with("NDL"));
    let all: HashSet<_> = rules.collect();
    assert_eq!(all.difference(&unique).collect::<Vec<_>>(), Vec::<&&Code>::new());
}

#[test]
fn the_schema_refuses_every_text_that_breaks_a_structural_rule_and_no_other() {
    let validator = validator();
    let mut structural = HashSet::new();
    let mut semantic = HashSet::new();
    for (text, _) in BROKEN {
        let Some(document) = yaml(text) else { continue };
        let found = parse(text.as_bytes()).findings;
        let refused = found.iter().any(is_structural);
        for finding in &found {
            if is_structural(finding) {
                structural.insert(finding.code);
            } else if !refused {
                semantic.insert(finding.code);
            }
        }
        let faults = faults(&validator, &document);
        assert_eq!(!faults.is_empty(), refused, "{text}\n{faults:#?}\n{:#?}", shown(&found));
    }
    assert_eq!(structural, STRUCTURAL.iter().copied().collect());
    // `parse` has no findings for these: strictness and unresolved references.
    let mut expected: HashSet<_> = SEMANTIC.iter().copied().chain([Code::EnumRange]).collect();
    for code in [Code::Extension, Code::UnresolvedCoord, Code::UnresolvedTarget] {
        expected.remove(&code);
    }
    assert_eq!(semantic, expected);
}

/// One text for each feature of descriptions.
const VALID: &[&str] = &[
    "{}",
    "attributes:\ndimcoords:\nndarrays:\n",
    "/:\n/a:\n/a/b c: {attributes: , dimcoords: , ndarrays: }\n/.hidden/..x: {}\n",
    "attributes: {title: Sea, n: 3, x: -1.5e3, big: 18446744073709551615, inf: .inf, 'a/b c': no}",
    "attributes: {a: {shape: [2], type: string, value: [x, y], storage: {endian: big}}}",
    "attributes: {shape: {shape: [], type: int8, value: 1}, type: int8, value: 2}",
    "dimcoords: {t: {size: null, type: float64, value: [1, 2.5], attributes: {units: s}, storage: {size: 2}}}",
    "ndarrays: {z: {shape: [3, null, /a/t, u], type: uint8, storage: }}\ndimcoords: {u: {size: 1, type: string}}",
    "ndarrays: {z: {shape: [], type: float32, value: .nan, attributes: {_FillValue: -90}}}",
    "ndarrays: {z: {shape: [0, 18446744073709551615], type: int8}}",
    "ndarrays: {z: {shape: [2], type: {opaque: {size: 16, tag: text/plain}}}}",
    "ndarrays: {z: {shape: [2], type: {enum: {base: int8, members: {off: -128, on: 127}}}, value: [off, 127]}}",
    "ndarrays: {z: {shape: [], type: {enum: {members: {OFF: 0, true: 18446744073709551615}}}}}",
    "ndarrays: {z: {shape: [], type: {regref: {selection: block}}}}",
    "ndarrays: {z: {shape: [], type: {compound: [r: float32, i: {array: {base: int8, shape: [2, 3]}}]}}}",
    "ndarrays: {z: {shape: [], type: {vlen: {base: {vlen: {base: objref}}}}}}",
    "ndarrays: {z: {shape: [4], type: int8, storage: {shape: [4], chunk: [2], filter: [lz4, {name: x}], endian: little, charset: utf-8, fillvalue: 0, order: row-unreversed}}}",
];

#[test]
fn the_schema_accepts_a_text_for_each_feature() {
    let validator = validator();
    let words = crate::ndl::datatype::WORDS.iter();
    let words = words.map(|(word, ..)| format!("ndarrays: {{z: {{shape: [], type: {word}}}}}"));
    for text in VALID.iter().map(|text| (*text).to_owned()).chain(words) {
        let parsed = parse(text.as_bytes());
        assert_eq!(shown(&parsed.findings), Vec::<String>::new(), "{text}");
        let document = yaml(&text).unwrap();
        assert_eq!(faults(&validator, &document), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn json_schema_counts_a_float_without_fraction_as_an_integer() {
    let text = "ndarrays: {z: {shape: [2.0], type: int8}}";
    assert_eq!(parse(text.as_bytes()).findings.first().unwrap().code, Code::Extent);
    let document = json!({ "ndarrays": { "z": { "shape": [2.0], "type": "int8" } } });
    assert!(validator().is_valid(&document), "docs/schemas.md says so");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_schema_accepts_every_document_of_the_model(document in strategies::document()) {
        let text = document.to_yaml();
        let faults = faults(&validator(), &yaml(&text).unwrap());
        prop_assert!(faults.is_empty(), "{text}\n{faults:#?}");
    }
}

/// Values for any position. Floats have a fraction, because JSON Schema counts others as integers; texts have no
/// characters that YAML escapes in its own way.
fn noise() -> BoxedStrategy<Json> {
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-3..4_i64).prop_map(Json::from),
        prop_oneof![Just(u64::MAX), Just(1 << 63), Just(256)].prop_map(Json::from),
        prop_oneof![Just(i64::MIN), Just(-129), Just(-1)].prop_map(Json::from),
        prop_oneof![Just(0.5), Just(-2.5)].prop_map(Json::from),
        key().prop_map(Json::from),
        word().prop_map(Json::from),
    ];
    scalar
        .prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..3).prop_map(Json::from),
                btree_map(key(), inner, 0..3)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
        .boxed()
}

/// Every key of the language, similar keys, and valid and invalid names.
fn key() -> BoxedStrategy<String> {
    let known = proptest::sample::select(vec![
        "attributes",
        "dimcoords",
        "ndarrays",
        "shape",
        "type",
        "value",
        "size",
        "storage",
        "chunk",
        "filter",
        "endian",
        "charset",
        "fillvalue",
        "order",
        "opaque",
        "enum",
        "regref",
        "compound",
        "vlen",
        "array",
        "tag",
        "base",
        "members",
        "selection",
        "Shape",
        "types",
        "ndarray",
    ]);
    prop_oneof![3 => known.prop_map(str::to_owned), 1 => name()].boxed()
}

fn name() -> BoxedStrategy<String> {
    let plain =
        proptest::sample::select(vec!["a", "b", "c", "é ü", "...", ".a", "..a", "a.b", "<", "10"]);
    let path = "/?[ab.]{0,3}(/[ab.]{0,2}){0,2}/?";
    prop_oneof![6 => plain.prop_map(str::to_owned), 1 => path].boxed()
}

fn word() -> BoxedStrategy<String> {
    let words = crate::ndl::datatype::WORDS.iter();
    let mut words: Vec<&str> = words.map(|(word, ..)| *word).collect();
    words.extend(["little", "big", "row", "column", "row-unreversed", "block", "element", "lz4"]);
    words.extend(["double", "Float32", "C", "", " "]);
    proptest::sample::select(words).prop_map(str::to_owned).boxed()
}

/// Mostly a value that belongs there, and sometimes something else.
fn mostly(right: impl Strategy<Value = Json> + 'static) -> BoxedStrategy<Json> {
    prop_oneof![24 => right, 1 => noise()].boxed()
}

/// A mapping with the required keys and some optional ones, and sometimes one too few or too many.
fn object(
    required: Vec<(&'static str, BoxedStrategy<Json>)>,
    optional: Vec<(&'static str, BoxedStrategy<Json>)>,
) -> BoxedStrategy<Json> {
    let field = |often: f64| {
        move |(key, value): (&'static str, BoxedStrategy<Json>)| {
            (Just(key), proptest::option::weighted(often, value)).boxed()
        }
    };
    let fields: Vec<_> =
        required.into_iter().map(field(0.97)).chain(optional.into_iter().map(field(0.3))).collect();
    let stray = proptest::option::weighted(0.03, (key(), noise()));
    mostly((fields, stray).prop_map(|(fields, stray)| {
        let mut map: Map<String, Json> =
            fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        map.extend(stray);
        Json::Object(map)
    }))
}

fn named(entity: BoxedStrategy<Json>) -> BoxedStrategy<Json> {
    let entities = btree_map(name(), entity, 0..3);
    let entities = entities.prop_map(|map| Json::Object(map.into_iter().collect()));
    mostly(prop_oneof![8 => entities, 1 => Just(Json::Null)])
}

fn number() -> BoxedStrategy<Json> {
    mostly(prop_oneof![
        8 => (1..5_u64).prop_map(Json::from),
        1 => Just(json!(0)),
        1 => Just(json!(u64::MAX)),
    ])
}

fn numbers() -> BoxedStrategy<Json> {
    let other = prop_oneof![Just(Json::Null), name().prop_map(Json::from)];
    mostly(vec(prop_oneof![20 => number(), 1 => other], 0..3).prop_map(Json::from))
}

fn shape() -> BoxedStrategy<Json> {
    let extent = prop_oneof![
        4 => number(),
        1 => Just(Json::Null),
        2 => name().prop_map(Json::from),
    ];
    mostly(vec(mostly(extent), 0..4).prop_map(Json::from))
}

fn one_of(words: &[&'static str]) -> BoxedStrategy<Json> {
    let right = proptest::sample::select(words.to_vec()).prop_map(Json::from);
    prop_oneof![12 => right, 1 => word().prop_map(Json::from), 1 => noise()].boxed()
}

fn datatype() -> BoxedStrategy<Json> {
    let members = |value: BoxedStrategy<Json>, keys| {
        btree_map(name(), value, keys).prop_map(|map| Json::Object(map.into_iter().collect()))
    };
    let bases = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"];
    let flag = mostly(prop_oneof![
        (-130..130_i64).prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| Json::from(number >> shift)),
    ]);
    let enumeration =
        object(vec![("members", mostly(members(flag, 0..3)))], vec![("base", one_of(&bases))]);
    let leaf = prop_oneof![
        8 => word().prop_map(Json::from),
        1 => object(vec![("size", number())], vec![("tag", mostly(word().prop_map(Json::from)))])
            .prop_map(|body| json!({ "opaque": body })),
        3 => enumeration.prop_map(|body| json!({ "enum": body })),
        1 => object(vec![("selection", one_of(&["block", "element"]))], vec![])
            .prop_map(|body| json!({ "regref": body })),
    ];
    mostly(leaf.prop_recursive(3, 8, 3, move |inner| {
        let inner = inner.boxed();
        let member = mostly(members(inner.clone(), 1..2));
        prop_oneof![
            mostly(vec(member, 1..4).prop_map(Json::from))
                .prop_map(|body| json!({ "compound": body })),
            object(vec![("base", inner.clone())], vec![]).prop_map(|body| json!({ "vlen": body })),
            object(vec![("base", inner), ("shape", numbers())], vec![])
                .prop_map(|body| json!({ "array": body })),
        ]
    }))
}

fn storage() -> BoxedStrategy<Json> {
    let filter = prop_oneof![
        4 => word().prop_map(Json::from),
        4 => Just(json!({ "name": "lz4" })),
        1 => noise(),
    ];
    let keys = vec![
        ("shape", numbers()),
        ("size", number()),
        ("order", one_of(&["column", "row", "row-unreversed"])),
        ("chunk", numbers()),
        ("filter", mostly(vec(mostly(filter), 0..3).prop_map(Json::from))),
        ("endian", one_of(&["little", "big"])),
        ("charset", mostly(word().prop_map(Json::from))),
        ("fillvalue", noise()),
    ];
    mostly(prop_oneof![8 => object(vec![], keys), 1 => Just(Json::Null)])
}

fn attributes() -> BoxedStrategy<Json> {
    let short = mostly(prop_oneof![
        8 => word().prop_map(Json::from),
        8 => any::<i64>().prop_map(Json::from),
        8 => Just(json!(0.5)),
        1 => proptest::option::of(any::<bool>()).prop_map(Json::from),
    ]);
    let long = object(
        vec![("shape", numbers()), ("type", datatype()), ("value", noise())],
        vec![("storage", storage())],
    );
    named(prop_oneof![3 => short, 1 => long].boxed())
}

fn group() -> BoxedStrategy<Json> {
    let rest = |attributes: BoxedStrategy<Json>| {
        vec![("value", noise()), ("attributes", attributes), ("storage", storage())]
    };
    let dimcoord = object(
        vec![("size", mostly(prop_oneof![number(), Just(Json::Null)])), ("type", datatype())],
        rest(attributes()),
    );
    let ndarray = object(vec![("shape", shape()), ("type", datatype())], rest(attributes()));
    object(
        vec![],
        vec![
            ("attributes", attributes()),
            ("dimcoords", named(dimcoord)),
            ("ndarrays", named(ndarray)),
        ],
    )
}

fn near_document() -> BoxedStrategy<Json> {
    let path = prop_oneof![
        4 => Just("/".to_owned()),
        12 => name().prop_map(|name| format!("/{name}")),
        1 => name(),
        1 => key(),
        1 => Just("dimcoords".to_owned()),
    ];
    let groups = btree_map(path, prop_oneof![8 => group(), 1 => Just(Json::Null)], 1..3)
        .prop_map(|map| Json::Object(map.into_iter().collect()));
    mostly(prop_oneof![group(), groups])
}

/// Number of cases: enough to break every rule many times.
const NEAR: u32 = 4000;

#[test]
fn schema_and_reader_agree_on_documents_near_the_grammar() {
    let validator = validator();
    let (taken, broken) = (Cell::new(0_u32), RefCell::new(HashMap::<Code, u32>::new()));
    let agrees = |document: Json| {
        let text = document.to_string();
        let found = parse(text.as_bytes()).findings;
        let structural: HashSet<_> =
            found.iter().filter(|found| is_structural(found)).map(|found| found.code).collect();
        let faults = faults(&validator, &document);
        prop_assert!(
            faults.is_empty() == structural.is_empty(),
            "{text}\n{faults:#?}\n{:#?}",
            shown(&found)
        );
        prop_assert!(!found.iter().any(|found| TEXTUAL.contains(&found.code)), "{text}\n{found:?}");
        taken.set(taken.get() + u32::from(faults.is_empty()));
        for code in structural {
            *broken.borrow_mut().entry(code).or_default() += 1;
        }
        Ok(())
    };
    let config = ProptestConfig {
        cases: NEAR,
        failure_persistence: None, // a change to a strategy invalidates old seeds
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    if let Err(error) = runner.run(&near_document(), agrees) {
        panic!("{error}");
    }
    // The agreement means little unless both outcomes are common.
    assert!((NEAR / 5..NEAR * 4 / 5).contains(&taken.get()), "{} are accepted", taken.get());
    let rare = STRUCTURAL.iter().filter(|code| !broken.borrow().contains_key(code));
    assert_eq!(rare.collect::<Vec<_>>(), Vec::<&Code>::new(), "never broken");
}

/// The reader refuses a document that the schema accepts only for errors that a schema cannot know.
#[test]
fn a_warning_is_no_reason_to_refuse() {
    let text = "ndarrays: {z: {shape: [4], type: int8, storage: {size: 4, x-note: [1]}}}";
    let found = parse(text.as_bytes()).findings;
    assert!(found.len() == 2 && found.iter().all(|found| found.severity == Severity::Warning));
    assert_eq!(faults(&validator(), &yaml(text).unwrap()), Vec::<String>::new());
}
