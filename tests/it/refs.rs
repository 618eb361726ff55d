//! References for Zarr readers: real readers get every array of a pack, and arrays that they cannot read are refused.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::experiment::{
    COMPLEX64, Element, Experiment, FLOAT16, FLOAT32, FLOAT64, INT16, INT64, UINT8, le, ra_pack,
    raw_array,
};
use crate::python::Python;
use crate::run::{pack, ra, run};
use crate::skips::skip;

/// Julia's `Bool`.
const BOOL: Element = Element(5, 1);
const INT32: Element = Element(1, 4);
const UINT64: Element = Element(2, 8);
const COMPLEX128: Element = Element(4, 16);
const BFLOAT16: Element = Element(5, 2);

/// Elements of this many bytes without a meaning in the header.
fn user(width: u64) -> Element {
    Element(0, width)
}

/// Returns an array file with another value of `flags`.
fn flagged(flags: u64, element: Element, dims: &[u64], data: &[u8]) -> Vec<u8> {
    let mut file = raw_array(element, dims, data);
    file[8..16].copy_from_slice(&flags.to_le_bytes());
    file
}

/// Describes the array of the file's stem, with the lines after its shape and type.
fn described(
    experiment: Experiment,
    path: &str,
    shape: &str,
    kind: &str,
    more: &str,
) -> Experiment {
    let stem = Path::new(path).file_stem().unwrap().to_str().unwrap();
    let text = format!("ndarrays:\n  {stem}:\n    shape: {shape}\n    type: {kind}\n    {more}\n");
    experiment.file(path, text)
}

/// Adds text, bytes and a structure.
fn with_text(experiment: Experiment) -> Experiment {
    experiment
        .array("text/label.ra", user(5), &[3], b"one\0\0two\0\0three")
        .describe("text/label.yaml", "[3]", "{opaque: {size: 5, tag: text}}")
        .array("text/word.ra", user(12), &[2], &le(u32::to_le_bytes, [65, 246, 0, 0x1F600, 66, 67]))
        .describe("text/word.yaml", "[2]", "{opaque: {size: 12, tag: utf-32le}}")
        .array("text/bytes.ra", user(6), &[2], b"\x01\x02\x03\x04\x05\x06abcdef")
        .describe("text/bytes.yaml", "[2]", "{opaque: {size: 6}}")
        .array(
            "text/record.ra",
            user(12),
            &[2],
            b"\x01\0\0\0abcd\0\0\x80\x3f\x02\0\0\0efgh\0\0\0\x40",
        )
        .describe(
            "text/record.yaml",
            "[2]",
            "{compound: [n: int32, name: {opaque: {size: 4, tag: text}}, x: float32]}",
        )
}

/// Arrays of every kind that Zarr readers can read, some with several chunks.
fn all_kinds() -> Experiment {
    let numbers = |count: i32| le(i32::to_le_bytes, (0..count).map(|n| n.wrapping_mul(2_654_435)));
    let wide: Vec<u8> = le(f64::to_le_bytes, (0..700 * 1001).map(|n| f64::from(n) / 7.0));
    let experiment = Experiment::new()
        .file("manifest.yaml", "attributes:\n  title: a test\n")
        .file("notes.txt", "not an array\n")
        .array("time.ra", FLOAT64, &[5], &le(f64::to_le_bytes, (0..5).map(f64::from)))
        .file(
            "time.yaml",
            "dimcoords:\n  time:\n    type: float64\n    size: 5\n    attributes:\n      units: \
             hours since 2024-06-03T00:00:00Z\n",
        )
        .array("large.ra", INT32, &[1200, 1001], &numbers(1200 * 1001))
        .array("wide.ra", FLOAT64, &[700, 1001], &wide)
        .describe("wide.yaml", "[700, 1001]", "float64")
        .array("run1/depth.ra", INT16, &[3], &le(i16::to_le_bytes, [10, 20, 40]))
        .file(
            "run1/depth.yaml",
            "dimcoords:\n  depth: {type: int16, size: 3, attributes: {units: m}}\n",
        )
        .array(
            "run1/temperature.ra",
            FLOAT32,
            &[3, 5],
            &le(f32::to_le_bytes, (0..15_u8).map(|n| if n == 4 { f32::NAN } else { n.into() })),
        )
        .file(
            "run1/big.ra",
            flagged(1, FLOAT32, &[3, 5], &le(f32::to_be_bytes, (0..15_u8).map(f32::from))),
        )
        .file(
            "run1/big_rows.ra",
            flagged(1, INT64, &[3, 2], &le(i64::to_be_bytes, (0..6).map(|n| n << 40))),
        )
        .array("run1/gain.ra", INT64, &[], &(-7_i64).to_le_bytes())
        .describe("run1/gain.yaml", "[]", "int64")
        .array("run1/on.ra", UINT8, &[4], &[0, 1, 1, 0])
        .describe("run1/on.yaml", "[4]", "{enum: {base: uint8, members: {'false': 0, 'true': 1}}}")
        .array("run1/truth.ra", BOOL, &[2, 2], &[1, 0, 0, 1])
        .describe(
            "run1/truth.yaml",
            "[2, 2]",
            "{enum: {base: uint8, members: {'false': 0, 'true': 1}}}",
        )
        .array("run1/Größe der Welle.ra", FLOAT32, &[2], &le(f32::to_le_bytes, [1.5, -0.0]))
        .describe("run1/Größe der Welle.yaml", "[2]", "float32")
        .array("run2/none.ra", FLOAT32, &[4, 0, 2], &[])
        .describe("run2/none.yaml", "[4, 0, 2]", "float32")
        .array("run2/half.ra", FLOAT16, &[4], &le(u16::to_le_bytes, [0x3800; 4]))
        .describe("run2/half.yaml", "[4]", "float16")
        .array("run2/wave.ra", COMPLEX64, &[2, 2], &le(f32::to_le_bytes, (0..8_u8).map(f32::from)))
        .describe("run2/wave.yaml", "[2, 2]", "{compound: [re: float32, im: float32]}")
        .array("run2/quality.ra", UINT8, &[5], &[0, 1, 1, 4, 9])
        .array("run2/counts.ra", INT16, &[3, 5], &le(i16::to_le_bytes, -1..14))
        .array("run2/rows.ra", INT16, &[2, 3], &le(i16::to_le_bytes, 0..6))
        .array("run2/when.ra", INT64, &[2], &le(i64::to_le_bytes, [86_400, i64::MIN]))
        .array("run2/level.ra", FLOAT32, &[2], &le(f32::to_le_bytes, [-999.1, 1.5]))
        .array("run2/huge.ra", UINT64, &[2], &le(u64::to_le_bytes, [1, u64::MAX]))
        .array(
            "deep/er/c.ra",
            COMPLEX128,
            &[2, 3, 2],
            &le(f64::to_le_bytes, (0..24).map(f64::from)),
        )
        .describe("deep/er/c.yaml", "[2, 3, 2]", "complex128");
    let experiment = with_text(experiment);
    [
        ("large.yaml", "[1001, 1200]", "int32", "storage: {order: row}"),
        (
            "run1/temperature.yaml",
            "[depth, time]",
            "float32",
            "attributes: {units: degree_Celsius}\n    storage: {fillvalue: .nan}",
        ),
        ("run1/big.yaml", "[3, 5]", "float32", "storage: {endian: big}"),
        ("run1/big_rows.yaml", "[2, 3]", "int64", "storage: {endian: big, order: row}"),
        (
            "run2/quality.yaml",
            "[/time]",
            "{enum: {base: uint8, members: {unknown: 0, good: 1, bad: 4, not measured: 9}}}",
            "storage: {fillvalue: not measured}",
        ),
        ("run2/counts.yaml", "[5, 3]", "int16", "storage: {order: row, fillvalue: -1}"),
        ("run2/rows.yaml", "[2, 3]", "int16", "storage: {order: row-unreversed}"),
        (
            "run2/when.yaml",
            "[2]",
            "int64",
            "attributes: {units: seconds since 1970-01-01}\n    storage: {fillvalue: -9223372036854775808}",
        ),
        ("run2/level.yaml", "[2]", "float32", "storage: {fillvalue: -999.1}"),
        ("run2/huge.yaml", "[2]", "uint64", "attributes: {_FillValue: 18446744073709551615}"),
    ]
    .into_iter()
    .fold(experiment, |all, (path, shape, kind, more)| described(all, path, shape, kind, more))
}

#[test]
#[ignore = "slow"]
fn real_readers_get_every_array_of_every_container() {
    let modules =
        ["dask", "fsspec", "kerchunk", "obstore", "virtualizarr", "xarray", "zarr", "aiohttp"];
    let Some(python) = Python::with(&modules) else { return };
    let experiment = all_kinds();
    let scratch = TempDir::new().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/refs.py");
    let mut command = python.command();
    command.arg(script).arg(ra_pack().get_program());
    command.arg(pack(&experiment, scratch.path(), "all kinds.zip", &[]));
    command.arg(pack(&experiment, scratch.path(), "plain.tar", &[]));
    command.arg(pack(&experiment, scratch.path(), "bag.zip", &["--layout", "bagit"]));
    for name in ["plain", "ä b"] {
        let directory = scratch.path().join(name);
        ra("extract", &[&scratch.path().join("plain.tar"), "-C".as_ref(), &directory], &[])
            .exits(0);
        command.arg(directory);
    }
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

/// Returns the references of a pack as JSON.
#[track_caller]
fn refs(target: &Path, options: &[&str]) -> Value {
    serde_json::from_slice(&ra("refs", &[target], options).exits(0).out).unwrap()
}

/// Returns the JSON document at a key.
fn document(refs: &Value, key: &str) -> Value {
    let text = refs["refs"][key].as_str().unwrap_or_else(|| panic!("{key} in {refs}"));
    serde_json::from_str(text).unwrap()
}

#[test]
fn references_are_offsets_in_the_file_and_metadata_is_consolidated() {
    let scratch = TempDir::new().unwrap();
    let zip = pack(&all_kinds(), scratch.path(), "x.zip", &[]);
    let refs = refs(&zip, &["--url", "s3://b/x.zip"]);
    assert_eq!(refs["version"], 1);
    let bytes = fs::read(&zip).unwrap();
    let place = |key: &str| {
        let chunk = &refs["refs"][key];
        assert_eq!(chunk[0], "s3://b/x.zip");
        let at = |nth: usize| usize::try_from(chunk[nth].as_u64().unwrap()).unwrap();
        &bytes[at(1)..at(1) + at(2)]
    };
    assert_eq!(place("run1/gain/0"), (-7_i64).to_le_bytes());
    assert_eq!(place("time/0"), le(f64::to_le_bytes, (0..5).map(f64::from)));
    let temperature = document(&refs, "run1/temperature/.zarray");
    assert_eq!(temperature["shape"], serde_json::json!([5, 3]));
    assert_eq!(temperature["order"], "C");
    assert_eq!(temperature["fill_value"], "NaN");
    let attributes = document(&refs, "run1/temperature/.zattrs");
    assert_eq!(attributes["_ARRAY_DIMENSIONS"], serde_json::json!(["time", "depth"]));
    assert_eq!(document(&refs, "run1/big/.zarray")["dtype"], ">f4");
    assert_eq!(document(&refs, "run1/on/.zarray")["dtype"], "|b1");
    assert_eq!(document(&refs, "run2/rows/.zarray")["shape"], serde_json::json!([2, 3]));
    // Readers that convert the metadata to Zarr 3 need the fill value there. Floats are the bytes of a float64.
    assert_eq!(document(&refs, "run2/huge/.zattrs")["_FillValue"], u64::MAX);
    assert_eq!(attributes["_FillValue"], "AAAAAAAA+H8=");
    // A group without arrays, above one with arrays.
    assert_eq!(document(&refs, "deep/.zgroup")["zarr_format"], 2);
    let all = document(&refs, ".zmetadata");
    assert_eq!(all["zarr_consolidated_format"], 1);
    let documents = refs["refs"]
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| [".zarray", ".zattrs", ".zgroup"].iter().any(|end| key.ends_with(end)));
    let documents: Vec<_> = documents.collect();
    assert_eq!(all["metadata"].as_object().unwrap().len(), documents.len());
    for key in documents {
        assert_eq!(all["metadata"][key], document(&refs, key), "{key}");
    }
}

#[test]
fn no_chunk_extends_past_the_end_of_its_file() {
    let scratch = TempDir::new().unwrap();
    let experiment = all_kinds();
    let zip = pack(&experiment, scratch.path(), "x.zip", &[]);
    for target in [&*zip, experiment.path()] {
        let refs = refs(target, &[]);
        let mut chunks = 0;
        for (key, chunk) in refs["refs"].as_object().unwrap() {
            let Some(file) = chunk[0].as_str() else { continue };
            let end = chunk[1].as_u64().unwrap() + chunk[2].as_u64().unwrap();
            assert!(end <= fs::metadata(file).unwrap().len(), "{key} in {file}");
            chunks += usize::from(key.starts_with("large/"));
        }
        assert!(chunks > 1, "{chunks}");
        // 1001 rows: the last of two chunks has one row of other bytes, which a file does not have.
        let rows = &document(&refs, "large/.zarray")["chunks"][0];
        assert_eq!(rows, if target == zip { 501 } else { 143 });
    }
}

/// One array that Zarr readers can read, and others, each with its reason.
fn odd() -> (Experiment, Vec<(&'static str, &'static str)>) {
    let experiment = Experiment::new()
        .array("good.ra", UINT8, &[3], b"abc")
        .describe("good.yaml", "[3]", "uint8")
        .array("run.ra", UINT8, &[1], b"a")
        .describe("run.yaml", "[1]", "uint8")
        .array("run/x.ra", UINT8, &[1], b"a")
        .describe("run/x.yaml", "[1]", "uint8")
        .array("brain.ra", BFLOAT16, &[1], &[0, 0])
        .describe("brain.yaml", "[1]", "bfloat16")
        .array("wide.ra", Element(1, 16), &[1], &[0; 16])
        .describe("wide.yaml", "[1]", "int128")
        .array("quad.ra", Element(3, 16), &[1], &[0; 16])
        .describe("quad.yaml", "[1]", "float128")
        .array("nested.ra", user(8), &[1], &[0; 8])
        .describe("nested.yaml", "[1]", "{compound: [v: {array: {shape: [2], base: float32}}]}")
        .file("text.ra", flagged(1, user(4), &[1], &[0; 4]))
        .file("bits.ra", flagged(6, Element(5, 8), &[8], &[0; 64]));
    let experiment = described(
        experiment,
        "text.yaml",
        "[1]",
        "{opaque: {size: 4, tag: utf-32le}}",
        "storage: {endian: big}",
    );
    let reasons = vec![
        ("bits.ra", "its elements are encoded"),
        ("brain.ra", "bfloat16"),
        ("nested.ra", "its field `v`"),
        ("quad.ra", "float128"),
        ("run.ra", "a group has the same name"),
        ("text.ra", "big-endian"),
        ("wide.ra", "int128"),
    ];
    (experiment, reasons)
}

#[test]
fn arrays_that_zarr_lacks_are_named_and_refused_or_left_out() {
    let (experiment, reasons) = odd();
    let output = experiment.path().parent().unwrap().join("none.json");
    let refused = ra("refs", &[experiment.path(), "-o".as_ref(), &output], &[]).exits(2);
    assert!(!output.exists());
    refused.says(&["`bits.ra`: its elements are encoded", "and 2 more", "--skip leaves them out"]);
    let ran = ra("refs", &[experiment.path()], &["--skip"]).exits(0);
    let refs: Value = serde_json::from_slice(&ran.out).unwrap();
    let arrays = refs["refs"].as_object().unwrap().keys();
    let arrays: Vec<_> = arrays.filter_map(|key| key.strip_suffix("/.zarray")).collect();
    assert_eq!(arrays, ["good", "run/x"]);
    for (name, reason) in reasons {
        let line = ran.err.lines().find(|line| line.contains(&format!("`{name}` is left out")));
        assert!(line.is_some_and(|line| line.contains(reason)), "{name}: {}", ran.err);
    }
}

#[test]
fn compressed_members_are_refused() {
    let scratch = TempDir::new().unwrap();
    let experiment = Experiment::new()
        .array("a.ra", FLOAT64, &[500], &[0; 4000])
        .describe("a.yaml", "[500]", "float64");
    let zip = pack(&experiment, scratch.path(), "a.zip", &["--compression", "deflate"]);
    let why = "compressed with deflate";
    ra("refs", &[&zip], &[]).exits(2).says(&[why, "no array of"]);
    // Nothing would remain.
    ra("refs", &[&zip], &["--skip"]).exits(2).says(&[why]);
    let tar = pack(&experiment, scratch.path(), "a.tar.gz", &[]);
    ra("refs", &[&tar], &["--skip"]).exits(2).says(&["compressed tar"]);
}

#[test]
fn a_damaged_array_is_an_error_of_the_data() {
    let array = raw_array(FLOAT64, &[4], &[0; 32]);
    let experiment = Experiment::new()
        .array("a.ra", UINT8, &[1], b"a")
        .describe("a.yaml", "[1]", "uint8")
        .file("cut.ra", &array[..60])
        .file("wrong.ra", "rawarray, but not really");
    ra("refs", &[experiment.path()], &[]).exits(1).says(&["cut.ra"]);
    let ran = ra("refs", &[experiment.path()], &["--skip"]).exits(0);
    ran.says(&["`cut.ra` is left out: it is damaged", "`wrong.ra` is left out"]);
}

#[test]
fn the_file_appears_when_it_is_complete_and_replaces_others_on_request() {
    let scratch = TempDir::new().unwrap();
    let experiment = Experiment::standard();
    let zip = pack(&experiment, scratch.path(), "x.zip", &[]);
    let output = scratch.path().join("x.json");
    let write = |options: &[&str]| ra("refs", &[&zip, "-o".as_ref(), &output], options);
    write(&[]).exits(0).says(&["wrote", "arrays in"]);
    write(&[]).exits(2).says(&["exists", "--force"]);
    fs::write(&output, "old").unwrap();
    write(&["--force"]).exits(0);
    assert_eq!(fs::read(&output).unwrap(), ra("refs", &[&zip], &[]).exits(0).out);
    let inside = experiment.path().join("README.txt");
    let (target, option) = (experiment.path(), "-o".as_ref());
    ra("refs", &[target, option, &inside], &["--force"]).exits(2).says(&["inside the input"]);
    ra("refs", &[&zip, option, &zip], &["--force"]).exits(2).says(&["is the input"]);
}

#[test]
fn addresses_of_files_are_below_that_of_a_directory() {
    let experiment = Experiment::new().array("a b/c#ä.ra", UINT8, &[1], b"a").describe(
        "a b/c#ä.yaml",
        "[1]",
        "uint8",
    );
    for (url, expected) in [
        ("https://example.org/x/", "https://example.org/x/a%20b/c%23%C3%A4.ra"),
        ("s3://bucket/x", "s3://bucket/x/a b/c#ä.ra"),
    ] {
        let refs = refs(experiment.path(), &["--url", url]);
        assert_eq!(refs["refs"]["a b/c#ä/0"][0], expected);
    }
    let file = experiment.path().join("a b/c#ä.ra");
    let lone = refs(&file, &[]);
    assert_eq!(lone["refs"]["c#ä/0"][0].as_str(), file.to_str());
    let lone = refs(&file, &["--url", "https://example.org/x/c#ä.ra"]);
    assert_eq!(lone["refs"]["c#ä/0"][0], "https://example.org/x/c%23%C3%A4.ra");
    ra("refs", &[&file], &["--url", "https://example.org/"]).exits(2).says(&["does not end in"]);
}

#[test]
fn metadata_that_json_or_zarr_lacks_is_reported() {
    let experiment = Experiment::new()
        .array("a.ra", UINT8, &[2], b"ab")
        .array("b.ra", user(2), &[1], b"ab")
        .file(
            "manifest.yaml",
            "attributes:\n  limit: .inf\n  title: ok\ndimcoords:\n  depth: {type: float32, size: 2, \
             value: [1.5, 2.5]}\n",
        );
    let experiment =
        described(experiment, "a.yaml", "[depth]", "uint8", "storage: {fillvalue: 300}");
    let kind = "{opaque: {size: 2, tag: text}}";
    let experiment = described(experiment, "b.yaml", "[1]", kind, "storage: {fillvalue: xx}");
    let ran = ra("refs", &[experiment.path()], &[]).exits(0).says(&[
        "warning: `/`: the attribute `limit` is left out",
        "warning: `b`: the fill value `xx` is left out",
        "warning: `/depth` is left out: its elements are in a description",
    ]);
    let refs: Value = serde_json::from_slice(&ran.out).unwrap();
    assert_eq!(document(&refs, ".zattrs"), serde_json::json!({"title": "ok"}));
    let dimensions = &document(&refs, "a/.zattrs")["_ARRAY_DIMENSIONS"];
    assert_eq!(dimensions, &serde_json::json!(["depth"]));
    run(["-q", "refs", experiment.path().to_str().unwrap(), "-o", "-"]).exits(0);
}

#[test]
fn references_to_terabytes_are_short() {
    let scratch = TempDir::new().unwrap();
    let experiment = Experiment::new().array("a.ra", UINT8, &[0, 1], b"");
    let path = experiment.path().join("a.ra");
    let mut header = fs::read(&path).unwrap();
    let len = 15_u64 << 40;
    header[32..40].copy_from_slice(&len.to_le_bytes());
    header[48..56].copy_from_slice(&(len >> 10).to_le_bytes());
    header[56..64].copy_from_slice(&1024_u64.to_le_bytes());
    fs::write(&path, header).unwrap();
    let sparse = fs::File::options().write(true).open(&path).unwrap();
    if sparse.set_len(64 + len).is_err() {
        skip("the file system has no files of 15 TiB");
        return;
    }
    let output = scratch.path().join("a.json");
    ra("refs", &[experiment.path(), "-o".as_ref(), &output], &[]).exits(0).says(&["1 array in"]);
    assert!(fs::metadata(&output).unwrap().len() < 20 << 20);
}
