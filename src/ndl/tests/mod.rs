//! Tests from text to document and back.

mod edits;
mod rules;
mod schema;

use std::fmt::Write;

use proptest::prelude::*;

use super::{
    Attribute, Datatype, Document, Extent, Form, Group, MAX_FINDINGS, MAX_TEXT, Ndarray, Order,
    ParseOptions, Parsed, Step, Storage, UnresolvedReference, Value, parse, parse_with, strategies,
    write,
};
use crate::finding::{Code, Finding, Place, Span};

/// Reads a valid text.
fn document(text: &str) -> Document {
    let parsed = parse(text.as_bytes());
    assert_eq!(shown(&parsed.findings), Vec::<String>::new(), "{text}");
    parsed.document.unwrap()
}

fn place(finding: &Finding) -> Span {
    let Some(Place::Text { line, column, start, end }) = finding.place else { panic!("{finding}") };
    let [line, column, start, end] =
        [line, column, start, end].map(|number| usize::try_from(number).unwrap());
    Span { line, column, start, end }
}

/// Returns findings as `NDL021 29:5`.
fn places(parsed: &Parsed) -> Vec<String> {
    parsed
        .findings
        .iter()
        .map(|finding| {
            let Span { line, column, .. } = place(finding);
            format!("{} {line}:{column}", finding.code.id())
        })
        .collect()
}

fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

/// Returns the findings for unresolved references, if only `known` could have been meant.
fn unresolved(parsed: &Parsed, known: &[&str]) -> Vec<String> {
    let finding =
        |found: &UnresolvedReference| found.finding(parsed.source.text(), known).to_string();
    parsed.unresolved.iter().map(finding).collect()
}

// The text and its YAML: places, schema, anchors, tags, documents.

/// Returns the value of the attribute `a`.
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
    assert_eq!(parsed.findings[0].hint, Some("the first one is on line 3".into()));
    // The first one is kept.
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
fn invalid_yaml_has_a_position() {
    assert_eq!(places(&parse(b"attributes:\n  a: b: c\n")), ["NDL003 2:7"]);
    let tab = parse(b"attributes:\n\ta: 1\n");
    assert_eq!(tab.findings[0].code, Code::Syntax);
    assert_eq!(place(&tab.findings[0]).line, 2);
    assert!(tab.findings[0].hint.as_ref().unwrap().to_string().contains("tabs"));
    assert!(tab.document.is_none());
    // The YAML parser would read a NUL as the end.
    assert_eq!(places(&parse(b"attributes: {}\n# \xc3\xa9 \0\nx: 1\n")), ["NDL003 2:5"]);
    assert_eq!(places(&parse(b"a: \x1b\n")), ["NDL003 1:4"]);
}

#[test]
fn invalid_utf8_has_a_position() {
    assert_eq!(places(&parse(b"a: 1\nb\xc3\xa9: \xff\n")), ["NDL001 2:5"]);
    let parsed = parse(b"\xef\xbb\xbfa: \xff\n");
    assert_eq!(places(&parsed), ["NDL001 1:4"]);
    assert_eq!(place(&parsed.findings[0]).start, 6);
    let utf16 = parse(b"\xff\xfea\0");
    assert_eq!(utf16.findings[0].expected.as_deref(), Some("UTF-8, not UTF-16"));
}

#[test]
fn columns_count_characters_and_offsets_bytes() {
    let text = "\u{feff}attributes:\r\n  größe: {shape: [ü], type: int8, value: 1}\r\n";
    let parsed = parse(text.as_bytes());
    assert_eq!(places(&parsed), ["NDL061 2:19"]);
    let span = place(&parsed.findings[0]);
    assert_eq!(&text[span.start..span.end], "ü");
    assert_eq!(parsed.source.text(), text);
    assert_eq!(places(&parse("\u{feff}x: 1".as_bytes())), ["NDL020 1:1"]);
}

#[test]
fn every_step_of_a_path_has_a_position() {
    let text = "# é\nndarrays:\n  z:\n    shape:\n      - 10\n      - 20\n    type: {vlen: {base: 'int8'}}\n    storage:\n      endian:\n";
    let parsed = parse(text.as_bytes());
    let map = &parsed.source;
    let path = |keys: &[&'static str]| keys.iter().copied().map(Step::Key).collect::<Vec<_>>();
    let text_at = |span: Option<Span>| {
        let span = span.unwrap();
        &text[span.start..span.end]
    };
    let mut shape = path(&["ndarrays", "z", "shape"]);
    assert_eq!(text_at(map.value_span(&shape)), "- 10\n      - 20");
    shape.push(Step::Index(1));
    assert_eq!(text_at(map.value_span(&shape)), "20");
    assert_eq!(map.value_span(&shape).map(|span| span.line), Some(6));
    assert_eq!(
        text_at(map.value_span(&path(&["ndarrays", "z", "type"]))),
        "{vlen: {base: 'int8'}}"
    );
    assert_eq!(
        text_at(map.value_span(&path(&["ndarrays", "z", "type", "vlen", "base"]))),
        "'int8'"
    );
    // An empty value has the position of its key.
    assert_eq!(text_at(map.value_span(&path(&["ndarrays", "z", "storage", "endian"]))), "endian");
    assert_eq!(map.value_span(&path(&["ndarrays", "y"])), None);
    assert_eq!(text_at(map.entity_span("/", "z", &[])), "z");
    assert_eq!(text_at(map.entity_span("/", "z", &path(&["storage", "order"]))), "storage");
    assert_eq!(text_at(map.entity_span("/", "z", &[Step::Key("shape"), Step::Index(0)])), "10");
    assert_eq!(text_at(map.entity_span("/", "z", &[Step::Key("shape"), Step::Index(9)])), "shape");
    assert_eq!(map.entity_span("/", "y", &[]), None);
}

#[test]
fn entities_of_grouped_documents_have_positions() {
    let text = "/a/b:\n  attributes: {u: 1}\n  dimcoords:\n    t: {size: 1, type: int8, attributes: {v: 2}}\n";
    let map = parse(text.as_bytes()).source;
    assert_eq!(
        map.entity_span("/a/b", "t", &[Step::Key("type")]).map(|span| span.column),
        Some(24)
    );
    assert_eq!(map.entity_span("/", "t", &[]), None);
}

#[test]
fn strict_reading_refuses_extensions() {
    let text = "ndarrays:\n  a: {shape: [1], type: complex64}\n  b: {shape: [1], type: int8, storage: {order: row}}\n";
    assert_eq!(places(&parse(text.as_bytes())), Vec::<String>::new());
    let parsed = parse_with(text.as_bytes(), &ParseOptions { strict: true });
    // `storage.order`, which `create` and `convert` write, is not refused.
    assert_eq!(places(&parsed), ["NDL051 2:25"]);
}

#[test]
fn an_empty_mapping_is_a_document_and_an_empty_text_is_not() {
    assert_eq!(document("{}").form, Form::Flat);
    for text in ["", "# only a comment\n", "---\n", "~"] {
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.findings[0].code, Code::WrongKind, "{text:?}");
        assert!(parsed.document.is_none() && parsed.has_errors());
    }
    let Parsed { document, .. } = parse(b"/a:\n/b: {attributes: }\n");
    assert_eq!(document.unwrap().groups.len(), 2);
}

#[test]
fn findings_read_as_one_line() {
    let parsed = parse(b"ndarrays:\n  z:\n    shape: 10\n    tpye: int8\n");
    assert_eq!(
        shown(&parsed.findings),
        [
            "2:3: error[NDL021]: the ndarray has no `type` (expected `type`); add the type of its elements, such as `type: float64`",
            "3:12: error[NDL022]: the shape is of the wrong kind (expected a list of lengths, found the integer 10); write a list, even for one dimension: `[10]`",
            "4:5: error[NDL020]: unknown key `tpye` in an ndarray (expected `shape`, `type`, `value`, `attributes` or `storage`); did you mean `type`?",
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
            assert_eq!(&text[span.start..span.end], "[ 1, é ]", "{text:?}");
        } else {
            assert!(text.contains("]#"), "{text:?}");
        }
    }
}

// Writing and reading: written text is read back unchanged, here and by other readers.

proptest! {
    #[test]
    fn written_documents_are_read_back(original in strategies::document()) {
        let text = original.to_yaml();
        let parsed = parse(text.as_bytes());
        let errors: Vec<_> = parsed.findings.iter().filter(|finding| {
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
        prop_assert_eq!(value, write::document(&original), "{}", text);
    }

    #[test]
    fn any_value_is_read_back(original in strategies::anything()) {
        let text = write::to_yaml(&original);
        let value: Value = serde_yaml::from_str(&text).unwrap();
        prop_assert_eq!(value, original, "{}", text);
    }

    #[test]
    fn serde_yaml_carries_a_document(original in strategies::document()) {
        let text = serde_yaml::to_string(&original).unwrap();
        // serde_yaml writes them unescaped: they break lines in its YAML 1.1, and the indent after them is content in
        // 1.2.
        prop_assume!(!text.contains(['\u{2028}', '\u{2029}']));
        prop_assert_eq!(serde_yaml::from_str::<Document>(&text).unwrap(), original.clone());
        prop_assert_eq!(parse(text.as_bytes()).document, Some(original));
    }

    #[test]
    fn every_name_is_found_in_the_text(original in strategies::document()) {
        let text = original.to_yaml();
        let map = parse(text.as_bytes()).source;
        for (group, ndarray) in original.ndarrays() {
            let span = map.entity_span(&group.path, &ndarray.name, &[]).unwrap();
            let found = &text[span.start..span.end];
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
    // JSON is YAML.
    assert_eq!(document(&text), original);
    assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), original);
    let error = serde_json::from_str::<Document>(&text.replace("float32", "flaot")).unwrap_err();
    assert!(error.to_string().contains("NDL040"), "{error}");
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
fn both_layouts_are_written_as_they_were_read() {
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
fn an_attribute_that_does_not_fit_the_short_form_is_written_long() {
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

// Hostile texts: no panic, no stack overflow, no memory beyond the limits.

/// A document that uses every feature.
const SAMPLE: &str = "\
attributes: {title: \"Größe\\n\", n: 0x1F, long: {shape: [2], type: string, value: [a, 'b']}}
dimcoords:
  t: &coord
    size: 3
    type: float32
    value: [1, .5, 2e0]
  u: *coord
ndarrays:
  z:
    shape: [t, null, 4]
    type: {compound: [{x: float32}, {y: {array: {base: int8, shape: [2]}}}]}
    storage: {endian: little, chunk: [1, 1, 1], order: row}
  s:
    shape: []
    type: string
    value: |
      two
      lines
";

#[test]
fn the_sample_is_valid() {
    assert_eq!(places(&parse(SAMPLE.as_bytes())), Vec::<String>::new());
}

#[test]
fn every_truncation_and_every_changed_byte_is_survived() {
    for end in 0..SAMPLE.len() {
        let _ = parse(&SAMPLE.as_bytes()[..end]);
    }
    for at in 0..SAMPLE.len() {
        for byte in [
            0, b'\t', b'\n', b'\r', b' ', b'"', b'#', b'&', b'\'', b'*', b'-', b':', b'?', b'[',
            b']', b'{', b'}', b'!', b'|', b'%', b'~', b'9', 0x80, 0xC3, 0xFF,
        ] {
            let mut bytes = SAMPLE.as_bytes().to_vec();
            bytes[at] = byte;
            let _ = parse(&bytes);
            bytes.insert(at, byte);
            let _ = parse(&bytes);
        }
    }
}

proptest! {
    #[test]
    fn soups_of_indicators_are_survived(text in "([-?:,\\[\\]{}#&*!|>'\"%@`a~<0 \t\n\r]|: |- |: \\||\n  |\n---\n|&a |\\*a|!!int |é|\u{feff}){0,60}") {
        let parsed = parse(text.as_bytes());
        for finding in &parsed.findings {
            prop_assert!(place(finding).start <= text.len());
        }
    }

    #[test]
    fn bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn mutations_of_documents_are_survived(
        document in strategies::document(),
        at in any::<prop::sample::Index>(),
        insert in "[-?:,\\[\\]{}#&*!|>'\"%@` \n\t]{1,3}",
    ) {
        let mut text = document.to_yaml();
        let mut at = at.index(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.insert_str(at, &insert);
        let _ = parse(text.as_bytes());
    }
}

#[test]
fn deep_nesting_is_refused_before_it_is_built() {
    let depths = [200, 20_000];
    for depth in depths {
        for text in [
            "[".repeat(depth),
            "{a: ".repeat(depth),
            "- ".repeat(depth),
            "? ".repeat(depth),
            (0..depth).fold(String::new(), |text, level| {
                if level > 500 { text } else { text + &" ".repeat(level) + "a:\n" }
            }),
            "a: ".to_owned() + &"[".repeat(depth) + &"]".repeat(depth),
        ] {
            let parsed = parse(text.as_bytes());
            assert!(parsed.document.is_none());
            let code = parsed.findings.last().unwrap().code;
            let refused = matches!(code, Code::TooDeep | Code::Syntax | Code::KeyNotText);
            assert!(refused, "{} {}", code.id(), &text[..20]);
        }
    }
    let parsed = parse(format!("attributes: {}{}", "[".repeat(101), "]".repeat(101)).as_bytes());
    assert_eq!(places(&parsed), ["NDL009 1:112"]);
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = level - 1;
        let list = vec![format!("*a{before}"); 9].join(", ");
        writeln!(text, "a{level}: &a{level} [{list}]").unwrap();
    }
    let parsed = parse(text.as_bytes());
    assert!(parsed.document.is_none());
    assert_eq!(parsed.findings.last().map(|finding| finding.code), Some(Code::Alias));
}

#[test]
fn aliases_cannot_nest_deeper_than_the_text_may() {
    let mut text = String::from("a0: &a0 [x]\n");
    for level in 1..200 {
        writeln!(text, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.findings.last().map(|finding| finding.code), Some(Code::TooDeep));
}

#[test]
fn a_long_text_cannot_be_multiplied_by_aliases() {
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 1000].join(","));
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.findings.last().map(|finding| finding.code), Some(Code::Alias));
}

#[test]
fn an_alias_inside_its_own_anchor_is_refused() {
    assert_eq!(places(&parse(b"a: &a\n  - *a\n")), ["NDL008 2:5"]);
}

#[test]
fn a_text_over_the_limit_is_not_read() {
    let parsed = parse(&vec![b' '; MAX_TEXT + 1]);
    assert_eq!(places(&parsed), ["NDL002 1:1"]);
}

#[test]
fn reading_ahead_of_the_scanner_is_bounded() {
    let text = format!("attributes: {{a: [{}]}}", "1,".repeat(3 << 20));
    assert_eq!(places(&parse(text.as_bytes())), ["NDL002 1:1"]);
}

#[test]
fn datatypes_may_nest_as_deep_as_the_text() {
    let levels = 47;
    let datatype = format!("{}int8{}", "{vlen: {base: ".repeat(levels), "}}".repeat(levels));
    let text = format!("ndarrays: {{z: {{shape: [], type: {datatype}}}}}");
    let parsed = parse(text.as_bytes());
    assert_eq!(places(&parsed), Vec::<String>::new());
    let document = parsed.document.unwrap();
    assert_eq!(parse(document.to_yaml().as_bytes()).document, Some(document));
}

#[test]
fn findings_are_bounded() {
    let lines: Vec<String> = (0..5000).map(|key| format!("k{key}: 1\nk{key}: 2\n")).collect();
    let text = lines.concat();
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.findings.len(), MAX_FINDINGS + 1);
    assert_eq!(parsed.findings.last().map(|finding| finding.code), Some(Code::TooManyFindings));
}

#[test]
fn long_mappings_find_their_duplicates_and_their_keys() {
    let lines: Vec<String> = (0..1000).map(|key| format!("  k{key}: {key}\n")).collect();
    let text = format!("attributes:\n{}  k500: again\n", lines.concat());
    let parsed = parse(text.as_bytes());
    assert_eq!(places(&parsed), ["NDL005 1002:3"]);
    assert_eq!(parsed.findings[0].hint, Some("the first one is on line 502".into()));
    let span = parsed.source.value_span(&[Step::Key("attributes"), Step::Key("k777")]).unwrap();
    assert_eq!(span.line, 779);
}

#[test]
fn control_characters_are_escaped_in_findings() {
    let parsed = parse("ndarrays: {z: {shape: [1], type: \"a\\e[2Jb\\u202e\"}}\n".as_bytes());
    let text = parsed.findings[0].to_string();
    assert!(text.contains("\\u{1b}[2Jb\\u{202e}") && !text.contains('\u{1b}'), "{text}");
    let name = parse("ndarrays: {\"a\\e[2Jb\": {shape: [1], type: x}}\n".as_bytes());
    assert!(!name.findings[0].to_string().contains('\u{1b}'));
}
