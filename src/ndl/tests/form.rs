//! What is written is read as the same, here and by other readers.

use proptest::prelude::*;

use super::document;
use crate::ndl::strategies;
use crate::ndl::{
    Attribute, Datatype, Document, Extent, Group, Ndarray, Order, Storage, Value, form, parse,
};

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(original in strategies::document()) {
        let text = original.to_yaml();
        let parsed = parse(text.as_bytes());
        let errors: Vec<_> = parsed.diagnostics.iter().filter(|finding| {
            !finding.code.id().starts_with("NDL08")
        }).map(ToString::to_string).collect();
        prop_assert!(errors.is_empty() && !parsed.has_errors(), "{errors:?}\n{text}");
        prop_assert_eq!(parsed.document.as_ref(), Some(&original), "{}", text);
        prop_assert_eq!(parsed.document.unwrap().to_yaml(), text);
    }

    #[test]
    fn another_reader_sees_the_same_scalars(original in strategies::document()) {
        let text = original.to_yaml();
        let value: Value = serde_yaml::from_str(&text).unwrap();
        prop_assert_eq!(value, form::document(&original), "{}", text);
    }

    #[test]
    fn any_value_is_read_back(original in strategies::anything()) {
        let text = crate::ndl::write::to_yaml(&original);
        let value: Value = serde_yaml::from_str(&text).unwrap();
        prop_assert_eq!(value, original, "{}", text);
    }

    #[test]
    fn serde_yaml_carries_a_document(original in strategies::document()) {
        let text = serde_yaml::to_string(&original).unwrap();
        prop_assert_eq!(serde_yaml::from_str::<Document>(&text).unwrap(), original);
    }

    #[test]
    fn every_name_is_found_in_the_text(original in strategies::document()) {
        let text = original.to_yaml();
        let map = parse(text.as_bytes()).source;
        for (group, ndarray) in original.ndarrays() {
            let span = map.entity_span(&group.path, &ndarray.name, &[]).unwrap();
            let found = &text[span.start.offset..span.end.offset];
            prop_assert_eq!(serde_yaml::from_str::<String>(found).unwrap(), &*ndarray.name);
        }
    }
}

#[test]
fn json_carries_a_document() {
    let original = document(
        "dimcoords: {t: {size: null, type: float64}}\n\
         ndarrays: {z: {shape: [t, 2], type: {compound: [{b: int8}, {a: float32}]}}}\n",
    );
    let text = serde_json::to_string(&original).unwrap();
    assert_eq!(
        text,
        r#"{"dimcoords":{"t":{"size":null,"type":"float64"}},"ndarrays":{"z":{"shape":["t",2],"type":{"compound":[{"b":"int8"},{"a":"float32"}]}}}}"#
    );
    assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), original);
}

#[test]
fn serde_refuses_what_breaks_a_rule() {
    let message = |text: &str| serde_json::from_str::<Document>(text).unwrap_err().to_string();
    let unknown = message(r#"{"ndarrays": {"z": {"shape": [1], "type": "flaot32"}}}"#);
    assert!(
        unknown.contains("/z: unknown datatype `flaot32` (did you mean `float32`?)"),
        "{unknown}"
    );
    assert!(message(r#"{"attributes": {"a": 1, "a": 2}}"#).contains("`a` is given twice"));
    let deep = format!("{{\"attributes\": {{\"a\": {}{}}}}}", "[".repeat(110), "]".repeat(110));
    assert!(message(&deep).contains("nested"), "{}", message(&deep));
}

#[test]
fn canonical_form_of_a_document() {
    let mut group = Group::new("/run 1");
    group.attributes = vec![
        Attribute::short("title", "first run").unwrap(),
        Attribute::short("date", "2008-12-31").unwrap(),
        Attribute::short("count", 7_u64).unwrap(),
        Attribute::short("rate", 1e20).unwrap(),
        Attribute::short("notes", "two\n  lines\n").unwrap(),
    ];
    group.ndarrays = vec![Ndarray {
        name: "no".into(),
        shape: vec![Extent::Fixed(2), Extent::Unlimited, Extent::Coord("10".into())],
        datatype: Datatype::Array { base: Box::new(Datatype::Float32), shape: vec![3, 3] },
        value: None,
        attributes: vec![],
        storage: Some(Storage {
            order: Order::Row,
            filter: vec!["lz4".into()],
            fillvalue: Some(Value::Float(f64::NAN)),
            ..Storage::default()
        }),
    }];
    let document = Document { groups: vec![group, Group::new("/empty")], ..Document::grouped() };
    let text = "\
/run 1:
  attributes:
    title: first run
    date: \"2008-12-31\"
    count: 7
    rate: 1.0e+20
    notes: |
      two
        lines
  ndarrays:
    \"no\":
      shape: [2, null, \"10\"]
      type:
        array:
          base: float32
          shape: [3, 3]
      storage:
        order: row
        filter: [lz4]
        fillvalue: .nan
/empty: {}
";
    assert_eq!(document.to_yaml(), text);
}

#[test]
fn both_forms_are_written_as_they_came() {
    for text in
        ["{}\n", "attributes:\n  a: 1\n", "/: {}\n", "/:\n  attributes:\n    a: 1\n/b: {}\n"]
    {
        assert_eq!(document(text).to_yaml(), text);
    }
}

#[test]
fn long_lists_are_wrapped_and_nested_ones_stay_readable() {
    let yaml = |shape: &str, value: String| {
        document(&format!("ndarrays: {{z: {{shape: {shape}, type: int32, value: {value}}}}}"))
            .to_yaml()
    };
    let text = yaml("[300]", format!("[{}]", vec!["1234567"; 300].join(", ")));
    assert!(text.lines().all(|line| line.chars().count() <= 102), "{text}");
    assert!(text.lines().count() < 50);
    let text = yaml("[2, 2]", "[[1, 2], [3, 4]]".into());
    assert!(text.contains("value: [[1, 2], [3, 4]]\n"), "{text}");
    let row = ["1234567"; 10].join(", ");
    let text = yaml("[2, 10]", format!("[[{row}], [{row}]]"));
    assert!(text.contains("value:\n      - [1234567, "), "{text}");
}

#[test]
fn a_short_form_that_would_lose_something_is_written_long() {
    let mut fact = Attribute::short("a", 1_u64).unwrap();
    fact.datatype = Datatype::Int8;
    let mut group = Group::new("/");
    group.attributes = vec![fact];
    let document = Document { groups: vec![group], ..Document::flat() };
    assert!(document.to_yaml().contains("type: int8"));
}

#[test]
fn keys_too_long_for_readers_are_written_explicitly() {
    let name = "n".repeat(2000);
    let mut group = Group::new("/");
    group.attributes = vec![Attribute::short(name, "x").unwrap()];
    let document = Document { groups: vec![group], ..Document::flat() };
    let text = document.to_yaml();
    assert!(text.contains("? nnn"));
    assert_eq!(parse(text.as_bytes()).document, Some(document));
}
