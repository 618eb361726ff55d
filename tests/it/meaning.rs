//! Values as text mean what NumPy, netCDF4 and cftime say.

use std::fs;

use ra_pack::Pack;
use ra_pack::convert::{ArrayFormat, GetOptions, get_to};
use ra_pack::read::{Statistics, StatisticsOptions};
use serde_json::Value;
use tempfile::TempDir;

use crate::experiment::{Element, Experiment, INT16, UINT8};
use crate::python::Python;
use crate::run::ra;

#[test]
#[ignore = "slow"]
fn values_mean_what_other_libraries_say() {
    let Some(python) = Python::with(&["numpy", "netCDF4", "cftime"]) else { return };
    let scratch = TempDir::new().unwrap();
    let (input, pack) = (scratch.path().join("in"), scratch.path().join("all.zip"));
    fs::create_dir(&input).unwrap();
    let written = python.command().arg("tests/it/meaning.py").arg(&input).output().unwrap();
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    ra("convert", &[&input, &pack], &[]).exits(0);
    let expected = fs::read(scratch.path().join("expected.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, values) in expected["values"].as_object().unwrap() {
        let options = GetOptions { format: Some(ArrayFormat::Json), ..GetOptions::default() };
        let mut text = Vec::new();
        get_to(&pack, name, &mut text, &options).unwrap();
        let found: Value = serde_json::from_slice(&text).unwrap();
        count += found.as_array().map_or(1, Vec::len);
        if let Some(difference) = difference(&found, values) {
            wrong.push(format!("{name}: {difference}"));
        }
    }
    assert!(count > 25_000, "{count} values were compared");
    let pack = Pack::open(&pack).unwrap();
    for (name, expected) in expected["statistics"].as_object().unwrap() {
        let statistics = pack.array(name).unwrap().statistics(&StatisticsOptions::default());
        let Statistics::Numbers(found) = statistics.unwrap() else { panic!("{name}") };
        let [min, max] = [found.min, found.max].map(|number| number.unwrap().to_f64());
        let found = [min, max, found.mean.unwrap(), found.std.unwrap()];
        for (one, other) in found.iter().zip(expected.as_array().unwrap()) {
            let other = other.as_f64().unwrap();
            if (one - other).abs() > 1e-9 * (1.0 + other.abs()) {
                wrong.push(format!("{name}: {found:?} instead of {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the first difference of two values. Numbers are equal if their floats are.
fn difference(found: &Value, expected: &Value) -> Option<String> {
    let different = || Some(format!("{found} instead of {expected}"));
    match (found, expected) {
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            one.iter().zip(other).find_map(|(one, other)| difference(one, other))
        }
        (Value::Object(one), Value::Object(other)) if one.keys().eq(other.keys()) => {
            one.values().zip(other.values()).find_map(|(one, other)| difference(one, other))
        }
        (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => None,
        (one, other) if one == other => None,
        _ => different(),
    }
}

/// A description of 4 elements, their bytes, a command line, and lines that it prints.
type Case =
    (&'static str, Element, &'static [u8], &'static [&'static str], &'static [&'static str]);

const SCALED: &str = "{shape: [4], type: int16, attributes: {units: K, scale_factor: 0.5, add_offset: 10}, \
                      storage: {fillvalue: -1}}";
const COUNTS: &[u8] = &[0, 0, 1, 0, 0xFF, 0xFF, 4, 0];

const CASES: &[Case] = &[
    (SCALED, INT16, COUNTS, &["show"], &["[K]", "[10.  10.5   -- 12. ]"]),
    (SCALED, INT16, COUNTS, &["show", "--raw"], &["[K after × 0.5 + 10]", "[ 0  1 -1  4]"]),
    (
        SCALED,
        INT16,
        COUNTS,
        &["show", "--stats"],
        &["  missing  1", "  min      10 K", "  max      12 K", "  mean     10.83333 K"],
    ),
    (
        SCALED,
        INT16,
        COUNTS,
        &["show", "--stats", "--raw"],
        &["  elements 4", "  min      -1", "  max      4"],
    ),
    (
        "{shape: [4], type: uint8, attributes: {flag_values: {shape: [2], type: uint8, value: [1, 2]}, flag_meanings: good bad}}",
        UINT8,
        &[1, 2, 2, 3],
        &["show", "--stats"],
        &["  good       1  ", "  bad        2  ", "  (no name)  1  "],
    ),
    (
        "{shape: [4], type: uint8, attributes: {flag_values: {shape: [3], type: int64, value: [1, 2, 9]}, flag_meanings: good bad lost, _FillValue: 3, \
         missing_value: 9}}",
        UINT8,
        &[1, 3, 9, 7],
        &["show", "--stats"],
        &["  lost       1  ", "  (no name)  1  ", "  (missing)  1  "],
    ),
    (
        "{shape: [4], type: uint8, attributes: {flag_masks: {shape: [3], type: int64, value: [1, 6, 6]}, \
         flag_values: {shape: [3], type: int64, value: [1, 2, 4]}, flag_meanings: a b c}}",
        UINT8,
        &[1, 3, 5, 7],
        &["show"],
        &["[1 3 5 7]"],
    ),
    (
        "{shape: [4], type: uint8, attributes: {units: days since 2024-02-28}}",
        UINT8,
        &[0, 1, 2, 3],
        &["show", "--stats"],
        &["  min      2024-02-28", "  mean     2024-02-29T12:00:00", "  std      1.118034 days"],
    ),
    (
        "{shape: [4], type: int16, attributes: {scale_factor: {shape: [], type: float32, value: 0.01}, add_offset: \
         {shape: [], type: float32, value: 273.15}}}",
        INT16,
        COUNTS,
        &["get", "--format", "csv"],
        &["273.15", "273.16", "273.13998", "273.19"],
    ),
    (
        "{shape: [4], type: int16, attributes: {units: m}, storage: {fillvalue: -1}}",
        INT16,
        COUNTS,
        &["show", "--stats", "--raw"],
        &["  elements 4", "  min      -1 m", "  max      4 m"],
    ),
    (
        "{shape: [4], type: {opaque: {size: 3, tag: text}}}",
        Element(0, 3),
        b"ab\0c\n\0d'\0\xFFe\0",
        &["show"],
        &["a.ra (4) text[3]", "['ab'     'c\\n'    \"d'\"     0xff6500]"],
    ),
];

#[test]
fn values_are_shown_as_what_they_mean() {
    for (description, element, bytes, options, lines) in CASES {
        let text = format!("ndarrays: {{a: {description}}}\n");
        let experiment =
            Experiment::new().array("a.ra", *element, &[4], bytes).file("a.yaml", text);
        let (command, options) = options.split_first().unwrap();
        let said = ra(command, &[&experiment.path().join("a.ra")], options).exits(0).said();
        for line in *lines {
            let is_there = said.lines().any(|said| said == *line || said.starts_with(line));
            assert!(is_there, "{description} {options:?}: no {line} in\n{said}");
        }
    }
}
