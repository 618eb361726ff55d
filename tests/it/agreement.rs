//! Facts that a pack states twice: in a description and `manifest.yaml`, in two documents, in a document and an array.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::experiment::{
    COMPLEX64, Element, Experiment, FLOAT32, FLOAT64, INT64, UINT8, le, raw_array,
};
use crate::run::{Ran, create, extract, pack, ra};

const DESCRIPTION: &str = "\
attributes: {title: a moor}
ndarrays:
  a:
    shape: [2]
    type: uint8
    attributes: {units: degree_Celsius, scale: 1}
    storage: {fillvalue: 255}
";

fn measured() -> Experiment {
    Experiment::new()
        .array("a.ra", UINT8, &[2], &[1, 2])
        .file("a.yaml", DESCRIPTION)
        .array("run1/b.ra", UINT8, &[2], &[1, 2])
        .describe("run1/b.yaml", "[2]", "uint8")
}

/// Packs the experiment and unpacks it, without its manifest.
fn unpacked(experiment: &Experiment, scratch: &TempDir) -> std::path::PathBuf {
    let archive = pack(experiment, scratch.path(), "first.zip", &[]);
    let directory = scratch.path().join("unpacked");
    extract(&archive, &directory, &[]).exits(0);
    fs::remove_file(directory.join("manifest-sha256.txt")).unwrap();
    directory
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "no {from:?} in:\n{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

/// Verifies an archive without warnings and returns its document.
fn document_of(archive: &Path) -> String {
    ra("verify", &[archive], &["--strict"]).exits(0);
    String::from_utf8(ra("get", &[archive], &["manifest.yaml"]).exits(0).out).unwrap()
}

/// Verifies a directory of these files, with correct digests.
fn verified(experiment: &Experiment) -> Ran {
    ra("manifest", &[], &["--write", experiment.path().to_str().unwrap()]).exits(0);
    ra("verify", &[experiment.path()], &[])
}

#[test]
fn a_generated_document_is_generated_again_from_the_descriptions() {
    let scratch = TempDir::new().unwrap();
    let directory = unpacked(&measured(), &scratch);
    edit(&directory.join("a.yaml"), "degree_Celsius", "kelvin");
    fs::remove_file(directory.join("run1/b.ra")).unwrap();
    fs::remove_file(directory.join("run1/b.yaml")).unwrap();
    fs::write(directory.join("c.ra"), raw_array(UINT8, &[1], &[7])).unwrap();
    fs::write(directory.join("c.yaml"), "ndarrays: {c: {shape: [1], type: uint8}}\n").unwrap();
    let again = scratch.path().join("again.zip");
    create(&directory, &again, &[]).exits(0).says(&["warning[DESC002]", "is generated again"]);
    let document = document_of(&again);
    assert!(document.contains("units: kelvin") && !document.contains("Celsius"), "{document}");
    assert!(document.contains("    c:\n") && !document.contains("    b:\n"), "{document}");
    // The document equals one generated without an older one.
    fs::remove_file(directory.join("manifest.yaml")).unwrap();
    let fresh = scratch.path().join("fresh.zip");
    create(&directory, &fresh, &[]).exits(0);
    assert_eq!(fs::read(&again).unwrap(), fs::read(&fresh).unwrap());
}

#[test]
fn a_hand_written_document_is_completed_and_its_text_stays() {
    let text = "# mine\nattributes:\n  title: all of it  # and a comment\n";
    let scratch = TempDir::new().unwrap();
    let archive = pack(&measured().file("manifest.yaml", text), scratch.path(), "x.zip", &[]);
    let document = document_of(&archive);
    assert!(
        document.starts_with("# mine\n/:\n  attributes:\n    title: all of it  # and a comment\n"),
        "{document}"
    );
    for words in ["    a:\n", "units: degree_Celsius", "title: a moor", "/run1:\n", "    b:\n"] {
        assert!(document.contains(words), "no {words:?} in:\n{document}");
    }
    // A complete document is not changed.
    let archive = pack(&measured().file("manifest.yaml", &document), scratch.path(), "y.zip", &[]);
    assert_eq!(document_of(&archive), document);
    // A document that cannot be extended is refused.
    let text = "/: &x\n  ndarrays:\n    a: {shape: [2], type: uint8}\n/copy: *x\n";
    let experiment = measured().file("manifest.yaml", text);
    create(experiment.path(), &scratch.path().join("z.zip"), &[]).exits(1).says(&["DESC013"]);
}

#[test]
fn contradictions_of_the_document_of_the_pack_are_found() {
    let scratch = TempDir::new().unwrap();
    let document =
        fs::read_to_string(unpacked(&measured(), &scratch).join("manifest.yaml")).unwrap();
    let b = "    b:\n      shape: [2]\n      type: uint8\n";
    // The change, the exit status for a generated and for a hand-written document, the message.
    let cases: [(&str, &str, i32, i32, &[&str]); 9] = [
        ("degree_Celsius", "kelvin", 1, 1, &["DESC002", "units", "a.yaml", "kelvin", "Celsius"]),
        ("fillvalue: 255", "fillvalue: 0", 1, 1, &["DESC002", "storage.fillvalue", "255"]),
        ("scale: 1\n", "scale: 2\n", 1, 1, &["DESC002", "scale"]),
        ("scale: 1\n", "scale: 1.0\n", 0, 0, &["warning[DESC002]", "scale"]),
        ("        scale: 1\n", "", 1, 0, &["[DESC002]", "scale"]),
        ("title: a moor", "title: a fen", 1, 1, &["DESC002", "title", "a fen"]),
        (
            b,
            "    gone:\n      shape: [2]\n      type: uint8\n",
            1,
            0,
            &["DESC010", "run1/gone.ra", "DESC013"],
        ),
        (&format!("/run1:\n  ndarrays:\n{b}"), "", 1, 0, &["[DESC013]", "run1/b.ra"]),
        ("/run1:\n", "/run1:\n  attributes:\n    note: x\n", 1, 0, &[]),
    ];
    for (from, to, of_own, of_other, words) in cases {
        assert!(document.contains(from), "no {from:?} in:\n{document}");
        let changed = document.replace(from, to);
        verified(&measured().file("manifest.yaml", &changed)).exits(of_own).says(words);
        let by_hand = format!("# mine\n{changed}");
        verified(&measured().file("manifest.yaml", by_hand)).exits(of_other).says(words);
    }
    verified(&measured().file("manifest.yaml", "ndarrays: {}\n"))
        .exits(0)
        .says(&["warning[DESC013]"]);
    // A contradicting document is not packed.
    let by_hand = format!("# mine\n{}", document.replace("degree_Celsius", "kelvin"));
    let experiment = measured().file("manifest.yaml", by_hand);
    let ran = create(experiment.path(), &scratch.path().join("x.zip"), &[]).exits(1);
    ran.says(&["DESC002", "manifest.yaml:", "kelvin", "degree_Celsius, as in `a.yaml`"]);
}

#[test]
fn two_documents_that_define_one_coordinate_differently_contradict() {
    let user = |name: &str, coordinate: &str| {
        format!(
            "dimcoords: {{t: {coordinate}}}\nndarrays: {{{name}: {{shape: [t], type: uint8}}}}\n"
        )
    };
    let of = |one: &str, other: &str| {
        Experiment::new()
            .array("a.ra", UINT8, &[2], &[1, 2])
            .file("a.yaml", user("a", one))
            .array("b.ra", UINT8, &[2], &[1, 2])
            .file("b.yaml", user("b", other))
    };
    let said = "{size: 2, type: int8, value: [1, 2], attributes: {units: s}}";
    let scratch = TempDir::new().unwrap();
    for (other, words) in [
        (said.replace("[1, 2]", "[1, 3]"), ["the value", "[1, 3]"]),
        (said.replace("units: s", "units: h"), ["units", "found: h"]),
        (said.replace("int8", "int16"), ["the type", "int16"]),
    ] {
        let experiment = of(said, &other);
        for ran in [
            create(experiment.path(), &scratch.path().join("x.zip"), &[]),
            ra("validate", &[experiment.path()], &[]),
            verified(&experiment),
        ] {
            ran.exits(1).says(&["DESC002", "b.yaml:1:", "`/t`", "as in `a.yaml`"]).says(&words);
        }
    }
    for other in [said.to_owned(), "{size: 2, type: int8}".to_owned()] {
        pack(&of(said, &other), scratch.path(), "x.zip", &["--force"]);
    }
    // The array of the coordinate decides.
    let experiment = of("{size: 2, type: uint8, attributes: {units: h}}", "{size: 2, type: uint8}")
        .array("t.ra", UINT8, &[2], &[1, 2])
        .file("t.yaml", "ndarrays: {t: {shape: [2], type: uint8, attributes: {units: s}}}\n");
    let ran = create(experiment.path(), &scratch.path().join("y.zip"), &[]).exits(1);
    ran.says(&["DESC002", "a.yaml:1:", "units", "s, as in `t.yaml`", "found: h"]);
}

#[test]
fn an_inline_value_must_equal_the_array() {
    let next = 9_007_199_254_740_993_i64;
    let one = |element: Element, dims: &[u64], data: &[u8], text: &str| {
        Experiment::new().array("a.ra", element, dims, data).file("a.yaml", text)
    };
    let described = |shape: &str, datatype: &str, value: &str| {
        format!("ndarrays:\n  a:\n    shape: {shape}\n    type: {datatype}\n    value: {value}\n")
    };
    let floats = le(f32::to_le_bytes, [0.1, f32::NAN]);
    let grid: Vec<u8> = (0..6).collect();
    let truth = "{enum: {base: uint8, members: {\"false\": 0, \"true\": 1}}}";
    let row = |value: &str| {
        format!("{}    storage: {{order: row}}\n", described("[3, 2]", "uint8", value))
    };
    let complex = le(f32::to_le_bytes, [1.0, 2.0]);
    let sound = [
        one(
            INT64,
            &[2],
            &le(i64::to_le_bytes, [1, next]),
            &described("[2]", "int64", &format!("[1, {next}]")),
        ),
        one(FLOAT32, &[2], &floats, &described("[2]", "float32", "[0.1, .nan]")),
        // The first index of the shape is the outermost list.
        one(UINT8, &[2, 3], &grid, &described("[2, 3]", "uint8", "[[0, 2, 4], [1, 3, 5]]")),
        one(UINT8, &[2, 3], &grid, &row("[[0, 1], [2, 3], [4, 5]]")),
        one(UINT8, &[2], &[0, 1], &described("[2]", truth, "[no, true]").replace("no", "false")),
        one(UINT8, &[2], b"ab", &described("[]", "string", "ab")),
        one(COMPLEX64, &[1], &complex, &described("[1]", "complex64", "[[1.0, 2.0]]")),
    ];
    let scratch = TempDir::new().unwrap();
    for experiment in sound {
        let archive = pack(&experiment, scratch.path(), "x.tar.gz", &["--force"]);
        ra("verify", &[&archive], &[]).exits(0).says(&[": valid"]);
        ra("validate", &[experiment.path()], &[]).exits(0);
    }
    let wrong = [
        (
            one(
                INT64,
                &[2],
                &le(i64::to_le_bytes, [1, next]),
                &described("[2]", "int64", &format!("[1, {}]", next - 1)),
            ),
            "5:16",
            "9007199254740993",
        ),
        (
            one(
                FLOAT64,
                &[1],
                &f64::from(0.1_f32).to_le_bytes(),
                &described("[1]", "float64", "[0.1]"),
            ),
            "5:13",
            "0.10000000149011612",
        ),
        (
            one(UINT8, &[2, 3], &grid, &described("[2, 3]", "uint8", "[[0, 1, 2], [3, 4, 5]]")),
            "5:17",
            "[0, 1]",
        ),
        (
            one(UINT8, &[2], &[0, 1], &described("[2]", truth, "[true, true]")),
            "5:13",
            "0 in the array",
        ),
        (one(UINT8, &[2], b"ab", &described("[]", "string", "ac")), "5:12", "\"ab\""),
        (one(UINT8, &[2], b"ab", &described("[]", "string", "abc")), "5:12", "2 bytes"),
        (
            one(COMPLEX64, &[1], &complex, &described("[1]", "complex64", "[[1.0, 3.0]]")),
            "5:13",
            "[1, 2]",
        ),
    ];
    for (experiment, place, expected) in wrong {
        let place = format!("a.yaml:{place}");
        let archive = scratch.path().join("y.zip");
        let file = experiment.path().join("a.yaml");
        for ran in [
            create(experiment.path(), &archive, &[]),
            ra("validate", &[experiment.path()], &[]),
            ra("validate", &[&file], &[]),
            verified(&experiment),
        ] {
            ran.exits(1).says(&["error[DESC014]", &place, expected]);
        }
    }
}

#[test]
fn an_inline_value_is_compared_in_every_document() {
    let scratch = TempDir::new().unwrap();
    // A coordinate may be given inline in a description and in `manifest.yaml`.
    let user = "dimcoords: {t: {size: 2, type: uint8, value: [1, 3]}}\nndarrays: {a: {shape: [t], type: uint8}}\n";
    let experiment = Experiment::new()
        .array("a.ra", UINT8, &[2], &[0, 0])
        .file("a.yaml", user)
        .array("t.ra", UINT8, &[2], &[1, 2])
        .describe("t.yaml", "[2]", "uint8");
    create(experiment.path(), &scratch.path().join("y.zip"), &[])
        .exits(1)
        .says(&["DESC014", "t.ra"]);
    let text = "ndarrays: {a: {shape: [1], type: uint8, value: [2]}}\n";
    let experiment = Experiment::new().array("a.ra", UINT8, &[1], &[1]).file("manifest.yaml", text);
    verified(&experiment).exits(1).says(&["DESC014", "manifest.yaml:1:"]);
    // A type without a text format causes a warning.
    let text = "ndarrays: {a: {shape: [1], type: {opaque: {size: 2}}, value: [1]}}\n";
    let experiment =
        Experiment::new().array("a.ra", Element(0, 2), &[1], &[1, 2]).file("a.yaml", text);
    create(experiment.path(), &scratch.path().join("z.zip"), &[])
        .exits(0)
        .says(&["warning[DESC009]", "cannot be compared"]);
}

#[test]
fn a_missing_second_array_and_a_tag_that_names_a_type_cause_warnings() {
    let scratch = TempDir::new().unwrap();
    let two = "ndarrays:\n  a: {shape: [2], type: uint8}\n  b: {shape: [2], type: uint8}\n";
    let experiment = Experiment::new().array("a.ra", UINT8, &[2], &[1, 2]).file("a.yaml", two);
    let ran = create(experiment.path(), &scratch.path().join("x.zip"), &[]).exits(0);
    ran.says(&["warning[DESC010]", "a.yaml:3:3", "`b.ra`"]);
    let experiment =
        experiment.array("b.ra", UINT8, &[2], &[1, 2]).describe("b.yaml", "[2]", "uint8");
    pack(&experiment, scratch.path(), "y.zip", &["--strict"]);
    for (size, tag, is_type) in [(4, "float32", true), (2, "float16", true), (4, "png", false)] {
        let experiment = Experiment::new()
            .array("a.ra", Element(0, size), &[1], &vec![0; usize::try_from(size).unwrap()])
            .describe("a.yaml", "[1]", &format!("{{opaque: {{size: {size}, tag: {tag}}}}}"));
        let ran = create(experiment.path(), &scratch.path().join("z.zip"), &["--force"]).exits(0);
        assert_eq!(ran.said().contains("warning[DESC009]"), is_type, "{}", ran.said());
    }
}

#[test]
fn only_the_cause_is_reported_not_its_consequences() {
    let scratch = TempDir::new().unwrap();
    let target = scratch.path().join("x.zip");
    let user = Experiment::new()
        .array("a.ra", UINT8, &[2], &[1, 2])
        .describe("a.yaml", "[time]", "uint8")
        .file("time.ra", "")
        .file("time.yaml", "dimcoords: {time: {size: 2, type: uint8}}\n");
    let ran = create(user.path(), &target, &[]).exits(1).says(&["RA001", "1 error"]);
    assert!(!ran.said().contains("DESC007"), "{}", ran.said());
    // The expected value is that of the header.
    let wrong = Experiment::new()
        .array("time.ra", UINT8, &[2], &[1, 2])
        .file("time.yaml", "dimcoords: {time: {size: 3, type: uint8}}\n");
    create(wrong.path(), &target, &[]).exits(1).says(&[
        "DESC004",
        "expected: dims [2] of the header",
        "found: size 3",
    ]);
    let empty = Experiment::new().array("time.ra", UINT8, &[2], &[1, 2]).file("time.yaml", "");
    create(empty.path(), &target, &[]).exits(1).says(&["write a description: `ra-pack describe "]);
    let astray = Experiment::new().array("time.ra", UINT8, &[2], &[1, 2]).describe(
        "tiem.yaml",
        "[2]",
        "uint8",
    );
    create(astray.path(), &target, &[])
        .exits(1)
        .says(&["DESC001", "`tiem.yaml` has no array: did you mean `time.yaml`?"]);
}
