//! The text and its YAML: places, schema, anchors, tags, documents.

use super::{document, places, shown};
use crate::ndl::{
    Code, Datatype, Extent, Form, ParseOptions, Parsed, Step, Value, parse, parse_datatype,
    parse_shape, parse_with,
};

/// The value of the attribute `a`.
fn attribute(text: &str) -> Value {
    document(&format!("attributes:\n  a: {text}\n")).groups[0].attributes[0].value.clone()
}

#[test]
fn scalars_follow_the_core_schema() {
    for text in ["no", "OFF", "2008-12-31", "12:30:00", "064119.981830Z", "1_000"] {
        assert_eq!(attribute(text), Value::from(text));
    }
    assert_eq!(attribute("010"), Value::Int(10));
    assert_eq!(attribute("0o17"), Value::Int(15));
    assert_eq!(attribute("18446744073709551615"), Value::UInt(u64::MAX));
    assert_eq!(attribute("-9223372036854775808"), Value::Int(i64::MIN));
    assert_eq!(attribute("1e3"), Value::Float(1000.0));
    assert_eq!(attribute("-.inf"), Value::Float(f64::NEG_INFINITY));
    assert_eq!(attribute(".nan"), Value::Float(f64::NAN));
    assert_eq!(attribute("'5'"), Value::from("5"));
    assert_eq!(attribute("\"\""), Value::from(""));
    assert_eq!(attribute("|\n    two\n    lines\n"), Value::from("two\nlines\n"));
    assert_eq!(attribute(">-\n    one\n    line\n"), Value::from("one line"));
    assert_eq!(attribute("one\n    line"), Value::from("one line"));
}

#[test]
fn core_tags_decide_and_others_are_refused() {
    assert_eq!(attribute("!!str 5"), Value::from("5"));
    assert_eq!(attribute("! 5"), Value::from("5"));
    assert_eq!(attribute("!!float 5"), Value::Float(5.0));
    assert_eq!(attribute("!!int '5'"), Value::Int(5));
    assert_eq!(attribute("!<tag:yaml.org,2002:str> 5"), Value::from("5"));
    let map = document("attributes: !!map {a: {shape: !!seq [1], type: int8, value: [1]}}\n");
    assert_eq!(map.groups[0].attributes[0].shape, [1]);
    for text in
        ["!!int x", "!!binary aGk=", "!mine 5", "!!timestamp 2001-01-01", "!!map x", "!!bool 1"]
    {
        let parsed = parse(format!("attributes:\n  a: {text}\n").as_bytes());
        assert_eq!(places(&parsed)[0], "NDL006 2:6", "{text}");
    }
    let parsed = parse(b"attributes: !!set {a: 1}\n");
    assert_eq!(places(&parsed), ["NDL006 1:13"]);
}

#[test]
fn anchors_are_followed() {
    let text = "ndarrays:\n  a: &a {shape: &s [1, 2], type: int8}\n  b: *a\n  c: {shape: *s, type: &t float32}\n  d: {shape: [], type: *t}\n";
    let document = document(text);
    let ndarrays = &document.groups[0].ndarrays;
    assert_eq!(ndarrays[1].shape, ndarrays[0].shape);
    assert_eq!(ndarrays[2].shape, ndarrays[0].shape);
    assert_eq!(ndarrays[3].datatype, Datatype::Float32);
    assert_eq!(places(&parse(b"a: *b\n"))[0], "NDL003 1:4");
}

#[test]
fn merge_keys_are_refused_unless_quoted() {
    let text = "attributes:\n  a: {shape: [], type: int8, value: 1}\n  <<: 1\n";
    assert_eq!(places(&parse(text.as_bytes())), ["NDL007 3:3"]);
    document("attributes: {\"<<\": 1}\n");
}

#[test]
fn there_is_one_document() {
    document("%YAML 1.2\n---\nattributes: {a: 1}\n...\n");
    let parsed = parse(b"attributes: {a: 1}\n---\nattributes: {b: 1}\n");
    assert_eq!(places(&parsed), ["NDL004 2:1"]);
    assert!(parsed.document.is_some());
}

#[test]
fn duplicate_keys_are_found_at_the_second() {
    let text = "attributes:\n  é: 1\n  \"a\": 2\n  b: 3\n  a: 4\n";
    let parsed = parse(text.as_bytes());
    assert_eq!(places(&parsed), ["NDL005 5:3"]);
    assert_eq!(parsed.diagnostics[0].hint.as_deref(), Some("it is first given on line 3"));
    // The first one holds.
    let document = parsed.document.unwrap();
    assert_eq!(document.groups[0].attributes[1].value, Value::Int(2));
    assert_eq!(document.groups[0].attributes.len(), 3);
}

#[test]
fn keys_are_text() {
    assert_eq!(places(&parse(b"attributes:\n  ? [a]\n  : 1\n")), ["NDL010 2:5"]);
    assert_eq!(places(&parse(b"a: &a [x]\n*a : 1\n")), ["NDL010 2:1"]);
    let names = document("attributes: {10: 1, no: 2, 1e3: 3, null: 4}\n");
    let names: Vec<_> = names.groups[0].attributes.iter().map(|fact| fact.name.clone()).collect();
    assert_eq!(names, ["10", "no", "1e3", "null"]);
}

#[test]
fn numbers_that_no_type_holds_are_refused() {
    for text in ["18446744073709551616", "-9223372036854775809", "1e999", "0x10000000000000000"] {
        let parsed = parse(format!("attributes:\n  a: {text}\n").as_bytes());
        assert_eq!(places(&parsed), ["NDL011 2:6"], "{text}");
    }
}

#[test]
fn what_is_not_yaml_says_where() {
    assert_eq!(places(&parse(b"attributes:\n  a: b: c\n")), ["NDL003 2:7"]);
    let tab = parse(b"attributes:\n\ta: 1\n");
    assert_eq!(tab.diagnostics[0].code, Code::Syntax);
    assert_eq!(tab.diagnostics[0].span.start.line, 2);
    assert!(tab.diagnostics[0].hint.as_ref().unwrap().contains("tabs"));
    assert!(tab.document.is_none());
    // The parser behind would take a NUL for the end.
    assert_eq!(places(&parse(b"attributes: {}\n# \xc3\xa9 \0\nx: 1\n")), ["NDL003 2:5"]);
    assert_eq!(places(&parse(b"a: \x1b\n")), ["NDL003 1:4"]);
}

#[test]
fn what_is_not_utf8_says_where() {
    assert_eq!(places(&parse(b"a: 1\nb\xc3\xa9: \xff\n")), ["NDL001 2:5"]);
    let parsed = parse(b"\xef\xbb\xbfa: \xff\n");
    assert_eq!(places(&parsed), ["NDL001 1:4"]);
    assert_eq!(parsed.diagnostics[0].span.start.offset, 6);
    let utf16 = parse(b"\xff\xfea\0");
    assert_eq!(utf16.diagnostics[0].expected.as_deref(), Some("UTF-8, not UTF-16"));
}

#[test]
fn columns_count_characters_and_offsets_bytes() {
    let text = "\u{feff}attributes:\r\n  größe: {shape: [ü], type: int8, value: 1}\r\n";
    let parsed = parse(text.as_bytes());
    assert_eq!(places(&parsed), ["NDL061 2:19"]);
    let span = parsed.diagnostics[0].span;
    assert_eq!(&text[span.start.offset..span.end.offset], "ü");
    assert_eq!((span.end.line, span.end.column), (2, 20));
    assert_eq!(parsed.source.text(), text);
    assert_eq!(places(&parse("\u{feff}x: 1".as_bytes())), ["NDL020 1:1"]);
}

#[test]
fn every_step_of_a_path_has_a_place() {
    let text = "# é\nndarrays:\n  z:\n    shape:\n      - 10\n      - 20\n    type: {vlen: {base: 'int8'}}\n    storage:\n      endian:\n";
    let parsed = parse(text.as_bytes());
    let map = &parsed.source;
    let path = |keys: &[&'static str]| keys.iter().copied().map(Step::Key).collect::<Vec<_>>();
    let text_at = |span: Option<crate::ndl::Span>| {
        let span = span.unwrap();
        &text[span.start.offset..span.end.offset]
    };
    assert_eq!(text_at(map.key_span(&path(&["ndarrays", "z", "shape"]))), "shape");
    let mut shape = path(&["ndarrays", "z", "shape"]);
    assert_eq!(text_at(map.value_span(&shape)), "- 10\n      - 20");
    shape.push(Step::Index(1));
    assert_eq!(text_at(map.value_span(&shape)), "20");
    assert_eq!(map.value_span(&shape).map(|span| span.start.line), Some(6));
    assert_eq!(
        text_at(map.value_span(&path(&["ndarrays", "z", "type"]))),
        "{vlen: {base: 'int8'}}"
    );
    assert_eq!(
        text_at(map.value_span(&path(&["ndarrays", "z", "type", "vlen", "base"]))),
        "'int8'"
    );
    // Left empty: the key is the place.
    assert_eq!(text_at(map.value_span(&path(&["ndarrays", "z", "storage", "endian"]))), "endian");
    assert_eq!(map.key_span(&shape), None);
    assert_eq!(map.value_span(&path(&["ndarrays", "y"])), None);
    assert_eq!(text_at(map.entity_span("/", "z", &[])), "z");
    assert_eq!(text_at(map.entity_span("/", "z", &path(&["storage", "order"]))), "storage");
    assert_eq!(text_at(map.entity_span("/", "z", &[Step::Key("shape"), Step::Index(0)])), "10");
    assert_eq!(text_at(map.entity_span("/", "z", &[Step::Key("shape"), Step::Index(9)])), "shape");
    assert_eq!(map.entity_span("/", "y", &[]), None);
    assert_eq!(map.document_span().map(|span| span.start.line), Some(2));
}

#[test]
fn entities_of_grouped_documents_have_places_too() {
    let text = "/a/b:\n  attributes: {u: 1}\n  dimcoords:\n    t: {size: 1, type: int8, attributes: {v: 2}}\n";
    let map = parse(text.as_bytes()).source;
    assert_eq!(
        map.entity_span("/a/b", "t", &[Step::Key("type")]).map(|span| span.start.column),
        Some(24)
    );
    assert_eq!(map.attribute_span("/a/b", None, "u").map(|span| span.start.column), Some(16));
    assert_eq!(map.attribute_span("/a/b", Some("t"), "v").map(|span| span.start.column), Some(43));
    assert_eq!(map.entity_span("/", "t", &[]), None);
}

#[test]
fn fragments_are_read_with_and_without_their_key() {
    assert_eq!(parse_datatype(b"type: string\n"), Ok(Datatype::String));
    assert_eq!(parse_datatype(b"float32"), Ok(Datatype::Float32));
    assert_eq!(
        parse_datatype(b"{vlen: {base: uint8}}"),
        Ok(Datatype::Vlen(Box::new(Datatype::UInt8)))
    );
    assert_eq!(
        parse_shape(b"shape: [null, 20, t]\n"),
        Ok(vec![Extent::Unlimited, Extent::Fixed(20), Extent::Coord("t".into()),])
    );
    assert_eq!(parse_shape(b"[]"), Ok(vec![]));
    let errors = parse_shape(b"shape: [1]\ntype: int8\n").unwrap_err();
    assert_eq!(errors[0].code, Code::UnknownKey);
    assert!(parse_datatype(b"").is_err());
    assert!(parse_datatype(b"[").is_err());
}

#[test]
fn strict_reading_refuses_our_extensions() {
    let text = "ndarrays:\n  a: {shape: [1], type: complex64}\n  b: {shape: [1], type: int8, storage: {order: row}}\n";
    assert_eq!(places(&parse(text.as_bytes())), Vec::<String>::new());
    let parsed = parse_with(text.as_bytes(), &ParseOptions { strict: true });
    assert_eq!(places(&parsed), ["NDL051 2:25", "NDL051 3:41"]);
}

#[test]
fn an_empty_mapping_is_a_document_and_nothing_is_not() {
    assert_eq!(document("{}").form, Form::Flat);
    for text in ["", "# only a comment\n", "---\n", "~"] {
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.diagnostics[0].code, Code::WrongKind, "{text:?}");
        assert!(parsed.document.is_none() && parsed.has_errors());
    }
    let Parsed { document, .. } = parse(b"/a:\n/b: {attributes: }\n");
    assert_eq!(document.unwrap().groups.len(), 2);
}

#[test]
fn findings_read_as_one_line() {
    let parsed = parse(b"ndarrays:\n  z:\n    shape: 10\n    tpye: int8\n");
    assert_eq!(
        shown(&parsed.diagnostics),
        [
            "error[NDL021] 2:3: /z: the ndarray has no `type`: expected `type` (add the type of its elements, such as `type: float64`)",
            "error[NDL022] 3:12: /z: the shape is of the wrong kind: expected a list of extents, found the integer 10 (a shape of one dimension is a list, too: `[10]`)",
            "error[NDL020] 4:5: /z: unknown key `tpye` in an ndarray: expected `shape`, `type`, `value`, `attributes` or `storage` (did you mean `type`?)",
        ]
    );
}

#[test]
fn a_collection_in_brackets_ends_at_its_bracket() {
    for text in [
        "ndarrays: {z: {shape: [ 1, é ] # why\r\n, type: int8}}",
        "ndarrays:\n  z:\n    shape: [ 1, é ]   # why\n    type: int8\n",
        "ndarrays:\n  z:\n    type: int8\n    shape: [ 1, é ]# no comment",
        "ndarrays:\r\n  z:\r\n    type: int8\r\n    shape: [ 1, é ]\r\n\r\n# end\r\n",
    ] {
        let source = parse(text.as_bytes()).source;
        let path = ["ndarrays", "z", "shape"].map(Step::Key);
        if let Some(span) = source.value_span(&path) {
            assert_eq!(&text[span.start.offset..span.end.offset], "[ 1, é ]", "{text:?}");
        } else {
            assert!(text.contains("]#"), "{text:?}");
        }
    }
}
