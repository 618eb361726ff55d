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
fn described(experiment: Experiment, path: &str, shape: &str, kind: &str, more: &str) -> Experiment {
    let stem = Path::new(path).file_stem().unwrap().to_str().unwrap();
    let text = format!("ndarrays:\n  {stem}:\n    shape: {shape}\n    type: {kind}\n    {more}\n");
    experiment.file(path, text)
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
        .array("run2/huge.ra", UINT64, &[2], &le(u64::to_le_bytes, [1, u64::MAX]))
        .array("deep/er/c.ra", COMPLEX128, &[2, 3, 2], &le(f64::to_le_bytes, (0..24).map(f64::from)))
        .describe("deep/er/c.yaml", "[2, 3, 2]", "complex128")
        .array("text/label.ra", user(5), &[3], b"one\0\0two\0\0three")
        .describe("text/label.yaml", "[3]", "{opaque: {size: 5, tag: text}}")
        .array("text/word.ra", user(12), &[2], &le(u32::to_le_bytes, [65, 246, 0, 0x1F600, 66, 67]))
        .describe("text/word.yaml", "[2]", "{opaque: {size: 12, tag: utf-32le}}")
        .array("text/bytes.ra", user(6), &[2], b"\x01\x02\x03\x04\x05\x06abcdef")
        .describe("text/bytes.yaml", "[2]", "{opaque: {size: 6}}")
        .array("text/record.ra", user(12), &[2], b"\x01\0\0\0abcd\0\0\x80\x3f\x02\0\0\0efgh\0\0\0\x40")
        .describe(
            "text/record.yaml",
            "[2]",
            "{compound: [n: int32, name: {opaque: {size: 4, tag: text}}, x: float32]}",
        );
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
        ("run2/huge.yaml", "[2]", "uint64", "attributes: {_FillValue: 18446744073709551615}"),
    ]
    .into_iter()
    .fold(experiment, |all, (path, shape, kind, more)| described(all, path, shape, kind, more))
}

#[test]
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
