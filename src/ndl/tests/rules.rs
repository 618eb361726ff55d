//! For every rule a text that breaks it, and the position of the finding.

use std::collections::HashSet;

use super::{document, places, shown, unresolved};
use crate::finding::{Code, Severity};
use crate::ndl::{Integer, ParseOptions, Referrer, Value, parse, parse_with};

/// Texts with their findings, for every rule except those about encoding, size and depth, which `tests` has.
pub(super) const BROKEN: &[(&str, &[&str])] = &[
    ("attributes: {a: 1", &["NDL003 1:18"]),
    ("{}\n---\n{}\n", &["NDL004 2:1"]),
    ("attributes: {a: 1, a: 2}", &["NDL005 1:20"]),
    ("attributes: {a: !x 1}", &["NDL006 1:17"]),
    ("attributes: {<<: 1}", &["NDL007 1:14"]),
    ("attributes: &a {b: *a}", &["NDL008 1:20"]),
    ("attributes: {[a]: 1}", &["NDL010 1:14"]),
    ("attributes: {a: 99999999999999999999}", &["NDL011 1:17"]),
    // Documents and groups.
    ("ndarray: {}", &["NDL020 1:1"]),
    ("type: string", &["NDL020 1:1"]),
    ("run1: {attributes: {}}", &["NDL020 1:1"]),
    ("/a: {atributes: {}}", &["NDL020 1:6"]),
    ("[1]", &["NDL022 1:1"]),
    ("text", &["NDL022 1:1"]),
    ("attributes: 5", &["NDL022 1:13"]),
    ("/a: 5", &["NDL022 1:5"]),
    ("ndarrays: [a]", &["NDL022 1:11"]),
    ("ndarrays: {z: }", &["NDL022 1:12"]),
    ("/a: {}\nattributes: {}", &["NDL023 2:1"]),
    ("/a: {}\nb: {}", &["NDL024 2:1"]),
    (
        "/a/: {}\n//b: {}\n/./c: {}\n/d/..: {}",
        &["NDL024 1:1", "NDL024 2:1", "NDL024 3:1", "NDL024 4:1"],
    ),
    ("ndarrays: {a/b: {shape: [], type: int8}}", &["NDL025 1:12"]),
    ("dimcoords: {\"\": {size: 1, type: int8}}", &["NDL025 1:13"]),
    ("attributes: {\"\": 1}", &["NDL025 1:14"]),
    (
        "dimcoords: {z: {size: 1, type: int8}}\nndarrays: {z: {shape: [], type: int8}}",
        &["NDL026 2:12"],
    ),
    // Attributes.
    ("attributes: {a: [1, 2]}", &["NDL030 1:17"]),
    ("attributes: {a: yes, b: true, c: }", &["NDL031 1:25", "NDL031 1:31"]),
    ("attributes: {a: {shape: [], type: int8}}", &["NDL021 1:14"]),
    ("attributes: {a: {}}", &["NDL021 1:14", "NDL021 1:14", "NDL021 1:14"]),
    ("attributes: {a: {shape: [], type: int8, value: 1, unit: m}}", &["NDL020 1:51"]),
    ("attributes: {a: {shape: [t], type: int8, value: [1]}}", &["NDL061 1:26"]),
    ("attributes: {a: {shape: [null], type: int8, value: [1]}}", &["NDL061 1:26"]),
    // Entities.
    ("ndarrays: {z: {}}", &["NDL021 1:12", "NDL021 1:12"]),
    ("ndarrays: {z: {shape: [], tipe: int8}}", &["NDL021 1:12", "NDL020 1:27"]),
    ("dimcoords: {t: {}}", &["NDL021 1:13", "NDL021 1:13"]),
    ("dimcoords: {t: {size: 0, type: int8}}", &["NDL064 1:23"]),
    ("dimcoords: {t: {size: -1, type: int8}}", &["NDL064 1:23"]),
    ("dimcoords: {t: {size: 1.0, type: int8}}", &["NDL064 1:23"]),
    ("dimcoords: {t: {size: [3], type: int8}}", &["NDL064 1:23"]),
    // Datatypes.
    ("ndarrays: {z: {shape: [], type: double}}", &["NDL040 1:33"]),
    ("ndarrays: {z: {shape: [], type: {vlin: {base: int8}}}}", &["NDL040 1:34"]),
    ("ndarrays: {z: {shape: [], type: opaque}}", &["NDL041 1:33"]),
    ("ndarrays: {z: {shape: [], type: {}}}", &["NDL041 1:33"]),
    ("ndarrays: {z: {shape: [], type: {vlen: {base: int8}, opaque: {size: 1}}}}", &["NDL041 1:33"]),
    ("ndarrays: {z: {shape: [], type: [int8]}}", &["NDL022 1:33"]),
    ("ndarrays: {z: {shape: [], type: }}", &["NDL022 1:27"]),
    ("ndarrays: {z: {shape: [], type: {opaque: {size: 0}}}}", &["NDL042 1:49"]),
    ("ndarrays: {z: {shape: [], type: {opaque: {tag: x}}}}", &["NDL021 1:42"]),
    ("ndarrays: {z: {shape: [], type: {opaque: {size: 1, tag: 5}}}}", &["NDL022 1:57"]),
    ("ndarrays: {z: {shape: [], type: {enum: {members: {}}}}}", &["NDL043 1:50"]),
    ("ndarrays: {z: {shape: [], type: {enum: {members: {a: x}}}}}", &["NDL043 1:54"]),
    ("ndarrays: {z: {shape: [], type: {enum: {base: int8}}}}", &["NDL021 1:40"]),
    ("ndarrays: {z: {shape: [], type: {enum: {members: {a: 1, b: 2, c: 1}}}}}", &["NDL044 1:66"]),
    ("ndarrays: {z: {shape: [], type: {enum: {base: int8, members: {a: 128}}}}}", &["NDL045 1:66"]),
    (
        "ndarrays: {z: {shape: [], type: {enum: {members: {a: -1, b: 18446744073709551615}}}}}",
        &["NDL045 1:50"],
    ),
    (
        "ndarrays: {z: {shape: [], type: {enum: {base: float32, members: {a: 1}}}}}",
        &["NDL046 1:47"],
    ),
    ("ndarrays: {z: {shape: [], type: {regref: {selection: blok}}}}", &["NDL047 1:54"]),
    ("ndarrays: {z: {shape: [], type: {regref: {}}}}", &["NDL021 1:42"]),
    ("ndarrays: {z: {shape: [], type: {compound: {x: int8}}}}", &["NDL048 1:44"]),
    ("ndarrays: {z: {shape: [], type: {compound: [{x: int8, y: int8}]}}}", &["NDL048 1:45"]),
    ("ndarrays: {z: {shape: [], type: {compound: []}}}", &["NDL048 1:44"]),
    (
        "ndarrays: {z: {shape: [], type: {compound: [array: {base: int8, shape: [2]}]}}}",
        &["NDL048 1:45"],
    ),
    ("ndarrays: {z: {shape: [], type: {compound: [x: int8, x: int8]}}}", &["NDL049 1:54"]),
    (
        "ndarrays: {z: {shape: [], type: {array: {base: int64, shape: [2305843009213693952]}}}}",
        &["NDL050 1:33"],
    ),
    ("ndarrays: {z: {shape: [], type: {array: {base: int8}}}}", &["NDL021 1:41"]),
    ("ndarrays: {z: {shape: [], type: {array: {base: int8, shape: [2, 0]}}}}", &["NDL060 1:65"]),
    ("ndarrays: {z: {shape: [], type: {enum: {members: {\"\": 0}}}}}", &["NDL025 1:51"]),
    ("ndarrays: {z: {shape: [], type: {compound: [{\"\": int8}]}}}", &["NDL025 1:46"]),
    ("ndarrays: {z: {shape: [], type: {vlen: {}}}}", &["NDL021 1:40"]),
    ("ndarrays: {z: {shape: [], type: {vlen: {base: {vlen: {base: x}}}}}}", &["NDL040 1:61"]),
    // Shapes.
    ("ndarrays: {z: {shape: 5, type: int8}}", &["NDL022 1:23"]),
    ("ndarrays: {z: {shape: , type: int8}}", &["NDL022 1:16"]),
    (
        "ndarrays: {z: {shape: [-1, 2.0, true, [1]], type: int8}}",
        &["NDL060 1:24", "NDL060 1:28", "NDL060 1:33", "NDL060 1:39"],
    ),
    (
        "ndarrays: {z: {shape: [a/b, /a//b, \"\", /], type: int8}}",
        &["NDL062 1:24", "NDL062 1:29", "NDL062 1:36", "NDL062 1:40"],
    ),
    ("ndarrays: {z: {shape: [4294967296, 4294967296], type: int8}}", &["NDL065 1:23"]),
    // Values.
    ("ndarrays: {z: {shape: [3], type: int8, value: [1, 2]}}", &["NDL070 1:47"]),
    ("ndarrays: {z: {shape: [2, 2], type: int8, value: [[1, 2], [3]]}}", &["NDL070 1:59"]),
    ("ndarrays: {z: {shape: [null, null], type: int8, value: [[1, 2], [3]]}}", &["NDL070 1:65"]),
    ("ndarrays: {z: {shape: [2, 2], type: int8, value: [1, 2]}}", &["NDL070 1:51", "NDL070 1:54"]),
    ("ndarrays: {z: {shape: [1], type: int8, value: 1}}", &["NDL070 1:47"]),
    ("ndarrays: {z: {shape: [], type: int8, value: [1]}}", &["NDL070 1:46"]),
    ("dimcoords: {t: {size: 2, type: int8, value: [1, 2, 3]}}", &["NDL070 1:45"]),
    (
        "dimcoords: {t: {size: 2, type: int8}}\nndarrays: {z: {shape: [t], type: int8, value: [1]}}",
        &["NDL070 2:47"],
    ),
    (
        "dimcoords: {t: {size: null, storage: {size: 2}, type: int8}}\nndarrays: {z: {shape: [/t], type: int8, value: [1]}}",
        &["NDL070 2:48"],
    ),
    (
        "ndarrays: {z: {shape: [null], type: int8, storage: {shape: [2]}, value: [1]}}",
        &["NDL070 1:73"],
    ),
    ("attributes: {a: {shape: [2], type: int8, value: [1]}}", &["NDL070 1:49"]),
    ("ndarrays: {z: {shape: [4], type: int8, value: [x, 1.0, true, ]}}", &["NDL070 1:47"]),
    (
        "ndarrays: {z: {shape: [3], type: int8, value: [x, 1.0, true]}}",
        &["NDL071 1:48", "NDL071 1:51", "NDL071 1:56"],
    ),
    (
        "ndarrays: {z: {shape: [3], type: float32, value: [NaN, null, '1']}}",
        &["NDL071 1:51", "NDL071 1:56", "NDL071 1:62"],
    ),
    ("ndarrays: {z: {shape: [], type: string, value: 5}}", &["NDL071 1:48"]),
    ("ndarrays: {z: {shape: [], type: int8, value: }}", &["NDL071 1:39"]),
    ("ndarrays: {z: {shape: [], type: objref, value: a}}", &["NDL071 1:48"]),
    ("ndarrays: {z: {shape: [2], type: uint8, value: [-1, 256]}}", &["NDL072 1:49", "NDL072 1:53"]),
    ("ndarrays: {z: {shape: [], type: float32, value: 1e39}}", &["NDL072 1:49"]),
    (
        "ndarrays: {z: {shape: [2], type: {enum: {members: {on: 1}}}, value: [onn, 2]}}",
        &["NDL073 1:70", "NDL073 1:75"],
    ),
    (
        "ndarrays:\n  z: {shape: [2, 3], type: int8}\n  r:\n    shape: [3]\n    type: {regref: {selection: block}}\n    value:\n      - {target: /z, start: [0, 0], opposite: [1, 2]}\n      - {target: /z, start: [0], opposite: [2, 2]}\n      - {target: z}\n",
        &["NDL075 8:29", "NDL075 8:45", "NDL071 9:18"],
    ),
    // A region is checked against the shape that the target's own group gives it; coordinates and groups.
    (
        "/a:\n  dimcoords: {t: {size: 2, type: int8}}\n  ndarrays: {z: {shape: [t, null], type: int8}}\n  attributes:\n    r:\n      shape: [3]\n      type: {regref: {selection: block}}\n      value:\n        - {target: /a/z, start: [0, 9], opposite: [2, -1]}\n        - {target: /a/t, start: [1], opposite: [2]}\n        - {target: /a, start: 1}\n",
        &["NDL075 9:52", "NDL075 9:55", "NDL075 10:49", "NDL071 11:20"],
    ),
    (
        "/:\n  ndarrays:\n    z: {shape: [4], type: int8}\n    r: {shape: [], type: {regref: {selection: block}}, value: {target: /z, start: 1}}\n",
        &["NDL071 4:83"],
    ),
    // Storage.
    ("ndarrays: {z: {shape: [4], type: int8, storage: {shape: [2, 2]}}}", &["NDL080 1:57"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: {chunk: []}}}", &["NDL080 1:57"]),
    ("dimcoords: {t: {size: 4, type: int8, storage: {chunk: [2, 2]}}}", &["NDL080 1:55"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: {chunk: [0]}}}", &["NDL060 1:58"]),
    (
        "dimcoords: {t: {size: 4, type: int8, storage: {chunk: [0, 2, 0]}}}",
        &["NDL080 1:55", "NDL060 1:56", "NDL060 1:62"],
    ),
    ("ndarrays: {z: {shape: [2, 4], type: int8, storage: {shape: [2, 5]}}}", &["NDL081 1:64"]),
    (
        "dimcoords: {t: {size: 4, type: int8}}\nndarrays: {z: {shape: [t], type: int8, storage: {shape: [5]}}}",
        &["NDL081 2:58"],
    ),
    (
        "dimcoords: {t: {size: null, type: int8, storage: {size: 4}}}\nndarrays: {z: {shape: [t], type: int8, storage: {shape: [5]}}}",
        &["NDL081 2:58"],
    ),
    (
        "ndarrays: {z: {shape: [4, null, 0], type: int8, storage: {chunk: [5, 9, 1]}}}",
        &["NDL081 1:67"],
    ),
    ("dimcoords: {t: {size: 4, type: int8, storage: {size: 5}}}", &["NDL081 1:54"]),
    ("dimcoords: {t: {size: 4, type: int8, storage: {size: -5}}}", &["NDL060 1:54"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: {size: 4}}}", &["NDL082 1:50"]),
    ("dimcoords: {t: {size: 4, type: int8, storage: {order: row}}}", &["NDL082 1:48"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: {endien: big}}}", &["NDL083 1:50"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: {endian: BE}}}", &["NDL084 1:58"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: {order: C}}}", &["NDL085 1:57"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: {fillvalue: 300}}}", &["NDL086 1:61"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: {filter: lz4}}}", &["NDL087 1:58"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: {filter: [1]}}}", &["NDL087 1:59"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: 5}}", &["NDL022 1:49"]),
    ("ndarrays: {z: {shape: [4], type: int8, storage: {charset: 5}}}", &["NDL022 1:59"]),
];

#[test]
fn every_rule_is_found_where_it_is_broken() {
    for (text, expected) in BROKEN {
        assert_eq!(
            places(&parse(text.as_bytes())),
            *expected,
            "{text}\n{:#?}",
            shown(&parse(text.as_bytes()).findings)
        );
    }
}

#[test]
fn every_rule_has_a_text_that_breaks_it() {
    let mut seen: HashSet<&str> = BROKEN
        .iter()
        .flat_map(|(_, places)| places.iter())
        .filter_map(|place| place.get(..6))
        .collect();
    // Tested elsewhere: encoding, size, depth, number of findings, strictness, unresolved references.
    seen.extend(["NDL001", "NDL002", "NDL009", "NDL012", "NDL051", "NDL063", "NDL074"]);
    let ids = Code::ALL.iter().map(|code| code.id());
    let all: HashSet<&str> = ids.filter(|id| id.starts_with("NDL")).collect();
    let missing: Vec<_> = all.difference(&seen).collect();
    assert!(missing.is_empty() && seen.is_subset(&all), "{missing:?}");
}

/// Returns the hint of the only finding.
fn hint(text: &str) -> String {
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.findings.len(), 1, "{:?}", shown(&parsed.findings));
    parsed.findings[0].hint.clone().unwrap_or_default().to_string()
}

#[test]
fn hints_say_how_to_fix_the_text() {
    let datatype = |word: &str| hint(&format!("ndarrays: {{z: {{shape: [], type: {word}}}}}"));
    assert_eq!(datatype("double"), "write `float64`");
    assert_eq!(datatype("Float32"), "did you mean `float32`?");
    assert_eq!(datatype("unit8"), "did you mean `uint8`?");
    assert_eq!(datatype("opaque"), "add a size: `opaque: {size: 16}`");
    assert!(datatype("bool").contains("enum"));
    assert_eq!(datatype("quaternion"), "`ra-pack explain NDL040` shows a correct example");
    assert_eq!(
        hint("run1: {attributes: {}}"),
        "the path of a group begins with `/`: write `/run1`"
    );
    assert_eq!(hint("type: string"), "put the array under `ndarrays`, with its name as the key");
    assert_eq!(hint("ndarrays: {a/b: {shape: [], type: int8}}"), "`b` belongs in the group `/a`");
    assert_eq!(
        hint("attributes: {a: [1, 2]}"),
        "write the long form: `{shape: [2], type: int64, value: […]}`"
    );
    assert_eq!(
        hint("attributes: {a: true}"),
        "write `\"true\"` for the string, or `1` for a number"
    );
    assert_eq!(hint("//a/../b/: {}"), "write `/a/b`");
    let value = |datatype: &str, value: &str| {
        hint(&format!("ndarrays: {{z: {{shape: [], type: {datatype}, value: {value}}}}}"))
    };
    assert_eq!(value("float32", "NaN"), "write `.nan`");
    assert_eq!(value("float32", "null"), "write `.nan` for a missing value");
    assert_eq!(value("int16", "3.0"), "write `3`, without a point or exponent");
    assert_eq!(value("int16", "'3'"), "remove the quotes: they make it a string");
    assert_eq!(value("{enum: {members: {on: 1, off: 0}}}", "offf"), "did you mean `off`?");
}

#[test]
fn unknown_keys_under_storage_are_kept_with_a_warning() {
    let parsed = parse(b"ndarrays: {z: {shape: [4], type: int8, storage: {level: 3}}}");
    assert!(!parsed.has_errors());
    assert_eq!(parsed.findings[0].severity, Severity::Warning);
    let document = parsed.document.unwrap();
    let storage = document.groups[0].ndarrays[0].storage.clone().unwrap();
    assert_eq!(storage.other, [("level".to_owned(), Value::Int(3))]);
}

#[test]
fn anything_that_the_language_leaves_open_is_accepted() {
    let accepted = [
        // Lengths of zero; the value of a scalar; names like keys; slashes and spaces in names.
        "ndarrays: {z: {shape: [0, 3], type: int8, value: []}}",
        "attributes: {shape: 1, type: 2, value: 3, a/b: 4}",
        "/HDFEOS INFORMATION: {ndarrays: {Data.0: {shape: [], type: string, value: x}}}",
        // The value has the shape of the file.
        "ndarrays: {z: {shape: [null], type: int8, storage: {shape: [2]}, value: [1, 2]}}",
        "ndarrays: {z: {shape: [5], type: int8, storage: {shape: [2]}, value: [1, 2]}}",
        "dimcoords: {t: {size: 5, type: int8, storage: {size: 2}, value: [1, 2]}}",
        // Integers as floats; enums by name, number and boolean.
        "ndarrays: {z: {shape: [2], type: float32, value: [-90, 1.5]}}",
        "ndarrays: {z: {shape: [4], type: {enum: {members: {\"false\": 0, \"true\": 1}}}, value: [true, False, 1, \"false\"]}}",
        "ndarrays: {z: {shape: [], type: {enum: {members: {OFF: 0, ON: 1}}}, value: OFF}}",
        // NDL has no syntax for these.
        "ndarrays: {z: {shape: [2], type: {compound: [x: int8]}, value: [{x: 1}, [1]]}}",
        "ndarrays: {z: {shape: [], type: {vlen: {base: int8}}, value: [1, 2, 3]}}",
        "ndarrays: {z: {shape: [1], type: complex64, value: [[1, 2]], storage: {fillvalue: [0, 0]}}}",
        // Empty sections and groups.
        "/a:\n/b: {attributes: , ndarrays: }",
        "ndarrays: {z: {shape: [4294967296, 4294967296, 0], type: int8}}",
        "ndarrays: {z: {shape: [], type: string, storage: }}",
    ];
    for text in accepted {
        document(text);
    }
}

#[test]
fn the_root_exists_without_being_listed() {
    let text = "/a: {attributes: {ref: {shape: [], type: objref, value: /}}}";
    assert!(parse(text.as_bytes()).unresolved.is_empty());
}

#[test]
fn a_region_is_in_the_array_that_shares_its_path_with_a_group() {
    let text = "/: {ndarrays: {z: {shape: [4], type: int8}, r: {shape: [], type: {regref: {selection: block}}, value: {target: /z, start: [0], opposite: [3]}}}}\n/z: {}\n";
    document(text);
}

#[test]
fn findings_about_one_value_stop_soon() {
    let list = vec!["x"; 1000].join(", ");
    let parsed = parse(
        format!("ndarrays: {{z: {{shape: [1000], type: int8, value: [{list}]}}}}").as_bytes(),
    );
    assert_eq!(parsed.findings.len(), 5);
}

#[test]
fn coordinates_are_looked_for_in_the_group_and_above() {
    let text = "\
/a/b:
  ndarrays:
    near: {shape: [x], type: int8}
    far: {shape: [y, /a/x, /y], type: int8}
    lost: {shape: [z, /a/b/y, yy, near], type: int8}
/a:
  dimcoords: {x: {size: 2, type: int8}}
/:
  dimcoords: {x: {size: 1, type: int8}, y: {size: 3, type: int8}}
";
    let parsed = parse(text.as_bytes());
    assert_eq!(places(&parsed), Vec::<String>::new());
    let lost = parsed.unresolved.iter().map(|found| match &found.by {
        Referrer::Extent { ndarray, .. } => (&**ndarray, &*found.name),
        Referrer::Value => ("", &*found.name),
    });
    let lost: Vec<_> = lost.collect();
    assert_eq!(lost, [("lost", "z"), ("lost", "/a/b/y"), ("lost", "yy"), ("lost", "near")]);
    assert_eq!((parsed.unresolved[2].span.line, parsed.unresolved[2].span.column), (5, 31));
    let findings = unresolved(&parsed, &["x", "y"]);
    assert_eq!(
        findings,
        [
            "5:20: error[NDL063]: there is no dimcoord `z` (expected a dimcoord in the group `/a/b` or one above it); `ra-pack explain NDL063` shows a correct example",
            "5:23: error[NDL063]: there is no dimcoord `/a/b/y` (expected a dimcoord at this path); `ra-pack explain NDL063` shows a correct example",
            "5:31: error[NDL063]: there is no dimcoord `yy` (expected a dimcoord in the group `/a/b` or one above it); did you mean `y`?",
            "5:35: error[NDL063]: there is no dimcoord `near` (expected a dimcoord in the group `/a/b` or one above it); `ra-pack explain NDL063` shows a correct example",
        ]
    );
    let document = parsed.document.unwrap();
    let index = document.index();
    let size = |name| {
        let found = index.resolve_coord("/a/b", name);
        found.map(|(group, coord)| (&*group.path, coord.known_size()))
    };
    assert_eq!(size("x"), Some(("/a", Some(2))));
    assert_eq!(size("y"), Some(("/", Some(3))));
    assert_eq!(size("/x"), Some(("/", Some(1))));
    assert_eq!(size("z"), None);
    assert_eq!(size("/a/x"), Some(("/a", Some(2))));
    assert_eq!((size("/a/b/x"), size("/")), (None, None));
}

#[test]
fn a_coordinate_with_an_error_is_not_reported_as_missing() {
    let text = "dimcoords: {t: {size: 0, type: int8}}\nndarrays: {z: {shape: [t, /t], type: int8}}";
    let parsed = parse(text.as_bytes());
    assert_eq!(places(&parsed), ["NDL064 1:23"]);
    assert_eq!(parsed.unresolved, []);
}

#[test]
fn references_to_objects_are_followed() {
    let text = "\
/:
  dimcoords: {t: {size: 1, type: int8}}
/a:
  ndarrays: {z: {shape: [2], type: int8}}
  attributes:
    refs: {shape: [7], type: objref, value: [/a, /a/z, /t, /a/zz, /, /b, /b/c]}
/b/c/d:
";
    let parsed = parse(text.as_bytes());
    assert_eq!(places(&parsed), Vec::<String>::new());
    assert_eq!(parsed.unresolved.len(), 1);
    assert_eq!(
        unresolved(&parsed, &["/a/z"]),
        [
            "6:60: error[NDL074]: there is no object `/a/zz` (expected the path of a group, dimcoord or ndarray); did you mean `/a/z`?",
        ]
    );
}

#[test]
fn strict_reading_suggests_a_type_of_the_language() {
    for (word, hint) in [
        ("float16", "write `opaque: {size: 2, tag: float16}`"),
        ("complex64", "write `compound: [{r: float32}, {i: float32}]`"),
        ("int128", "write `opaque: {size: 16, tag: int128}`"),
    ] {
        let text = format!("ndarrays: {{z: {{shape: [], type: {{vlen: {{base: {word}}}}}}}}}");
        let parsed = parse_with(text.as_bytes(), &ParseOptions { strict: true });
        assert_eq!(places(&parsed), ["NDL051 1:47"]);
        assert_eq!(parsed.findings[0].hint, Some(hint.into()));
    }
    for integer in Integer::ALL {
        let text = format!("ndarrays: {{z: {{shape: [], type: {}}}}}", integer.word());
        assert!(!parse_with(text.as_bytes(), &ParseOptions { strict: true }).has_errors());
    }
}

#[test]
fn a_member_of_a_compound_may_be_an_array_in_every_syntax() {
    let forms = [
        "{compound: [{x: int8}, {m: {array: {base: float32, shape: [3, 3]}}}]}",
        "\n      compound:\n        - x: int8\n        - m:\n            array:\n              shape: [3, 3]\n              base: float32",
        "\n      compound:\n      - x: int8\n      - m: {array: {base: {compound: [u: int8]}, shape: [3]}}",
        // A member may have any name.
        "{compound: [{array: {array: {base: int8, shape: [2]}}}, {shape: int8}]}",
    ];
    for form in forms {
        let text = format!("ndarrays:\n  z:\n    shape: []\n    type: {form}\n");
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.findings, [], "{text}");
        let ndarrays = parsed.document.unwrap().groups.remove(0).ndarrays;
        assert!(ndarrays[0].datatype.packed_size().is_some(), "{text}");
    }
}

#[test]
fn a_document_that_cannot_be_read_back_is_not_valid() {
    let mut document = document("ndarrays: {z: {shape: [3], type: int8}}");
    assert_eq!(document.validate(), []);
    let group = document.groups.first_mut().unwrap();
    group.ndarrays.push(group.ndarrays.first().unwrap().clone());
    let codes: Vec<_> = document.validate().iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::DuplicateKey]);
}
