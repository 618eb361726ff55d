//! `ra-pack diff`: two arrays, element by element.

use std::path::Path;

use serde_json::json;

use crate::experiment::{Element, Experiment, INT16, UINT8, le, raw_array};
use crate::run::{Ran, ra};

const F32: Element = Element(3, 4);
const F64: Element = Element(3, 8);

fn diff(home: &Experiment, a: &str, b: &str, options: &[&str]) -> Ran {
    let file = |name: &str| home.path().join(name);
    ra("diff", &[&file(a), &file(b)], options)
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    le(f32::to_le_bytes, numbers.iter().copied())
}

#[test]
fn equal_arrays_give_no_output_and_others_the_first_difference() {
    let mut changed: Vec<f32> = (0_u8..12).map(f32::from).collect();
    let home = Experiment::new().array("a.ra", F32, &[3, 4], &floats(&changed));
    changed[5] += 0.25; // [2, 1]: the first index changes fastest
    changed[11] = f32::NAN;
    let home = home.array("b.ra", F32, &[3, 4], &floats(&changed));
    assert_eq!(diff(&home, "a.ra", "a.ra", &[]).exits(0).said(), "");
    diff(&home, "a.ra", "b.ra", &[]).exits(1).says(&[
        "2 of 12 elements differ, 1 NaN in only one",
        "5 | 5.25 at [2, 1]",
        "max 0.25, L1 0.25, L2 0.25",
    ]);
    let json = diff(&home, "a.ra", "b.ra", &["--json", "--tolerance", "0.25"]).exits(1).json();
    assert_eq!(json["elements"]["differing"], 1);
    assert_eq!(json["elements"]["first"], json!({"index": [2, 3], "a": "11", "b": "NaN"}));
    assert_eq!(diff(&home, "a.ra", "b.ra", &["--max"]).exits(1).said(), "0.25\n");
}

#[test]
fn both_nan_is_equal_and_so_are_both_zeros() {
    let other_nan = f32::from_bits(0x7fc0_1234);
    let home = Experiment::new()
        .array("a.ra", F32, &[3], &floats(&[f32::NAN, 0.0, f32::INFINITY]))
        .array("b.ra", F32, &[3], &floats(&[other_nan, -0.0, f32::INFINITY]))
        .array("c.ra", F32, &[3], &floats(&[f32::NAN, 0.0, f32::NEG_INFINITY]));
    assert_eq!(diff(&home, "a.ra", "b.ra", &[]).exits(0).said(), "");
    diff(&home, "a.ra", "c.ra", &["--tolerance", "1e300"]).exits(1).says(&["inf | -inf at [2]"]);
}

#[test]
fn integers_are_compared_in_their_own_type() {
    // These are equal as floats and far apart as bytes.
    let numbers = [u64::MAX, 1 << 60];
    let other = [u64::MAX - 1, (1 << 60) + 1];
    let element = Element(2, 8);
    let home = Experiment::new()
        .array("a.ra", element, &[2], &le(u64::to_le_bytes, numbers))
        .array("b.ra", element, &[2], &le(u64::to_le_bytes, other))
        .array("c.ra", Element(1, 1), &[1], &[0x80])
        .array("d.ra", Element(1, 1), &[1], &[0x7f]);
    assert_eq!(diff(&home, "a.ra", "b.ra", &["--l1"]).exits(1).said(), "2\n");
    diff(&home, "a.ra", "b.ra", &[]).says(&["18446744073709551615 | 18446744073709551614"]);
    assert_eq!(diff(&home, "a.ra", "b.ra", &["--tolerance", "1", "--max"]).exits(0).said(), "1\n");
    assert_eq!(diff(&home, "c.ra", "d.ra", &["--max"]).exits(1).said(), "255\n");
}

#[test]
fn distances_of_complex_numbers_are_magnitudes() {
    let home = Experiment::new()
        .array("a.ra", Element(4, 16), &[2], &le(f64::to_le_bytes, [0.0, 0.0, 1.0, 1.0]))
        .array("b.ra", Element(4, 16), &[2], &le(f64::to_le_bytes, [3.0, 4.0, 1.0, 1.0]));
    diff(&home, "a.ra", "b.ra", &[]).exits(1).says(&["0+0j | 3+4j at [0]", "max 5, L1 5, L2 5"]);
}

#[test]
fn a_tolerance_is_absolute_or_relative_to_the_second() {
    let home = Experiment::new()
        .array("a.ra", F64, &[2], &le(f64::to_le_bytes, [100.0, 1e-9]))
        .array("b.ra", F64, &[2], &le(f64::to_le_bytes, [101.0, 0.0]));
    diff(&home, "a.ra", "b.ra", &["--relative", "0.01"]).exits(1).says(&["at [1]"]);
    diff(&home, "a.ra", "b.ra", &["--relative", "0.01", "--tolerance", "1e-8"]).exits(0);
    for refused in ["-1", "NaN", "much"] {
        diff(&home, "a.ra", "b.ra", &["--tolerance", refused]).exits(2).says(&["at least 0"]);
    }
}

#[test]
fn the_encoding_of_elements_makes_no_difference() {
    let column = floats(&[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    let row = floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let mut big = raw_array(F32, &[2, 3], &column);
    big[8] = 1;
    big[64..].chunks_mut(4).for_each(<[u8]>::reverse);
    let described = |order: &str| {
        format!("ndarrays: {{x: {{shape: [2, 3], type: float32, storage: {{order: {order}}}}}}}")
    };
    let home = Experiment::new()
        .array("column.ra", F32, &[2, 3], &column)
        .array("row.ra", F32, &[3, 2], &row)
        .file("row.yaml", described("row"))
        .array("unreversed.ra", F32, &[2, 3], &row)
        .file("unreversed.yaml", described("row-unreversed"))
        .file("big.ra", big)
        .array("other.ra", F32, &[3, 2], &column);
    let same = ["column.ra", "row.ra", "unreversed.ra", "big.ra"];
    for a in same {
        for b in same {
            assert_eq!(diff(&home, a, b, &[]).exits(0).said(), "", "{a} {b}");
        }
        diff(&home, a, "other.ra", &[])
            .exits(1)
            .says(&["shape     [2, 3] | [3, 2]", "not compared"]);
    }
    let wrong = floats(&[0.0, 1.0, 2.0, 3.0, 9.0, 5.0]);
    let home = home.array("row.ra", F32, &[3, 2], &wrong);
    for b in ["column.ra", "unreversed.ra", "big.ra"] {
        diff(&home, "row.ra", b, &[]).exits(1).says(&["9 | 4 at [1, 1]"]);
        diff(&home, b, "row.ra", &[]).exits(1).says(&["4 | 9 at [1, 1]"]);
    }
}

#[test]
fn trailing_metadata_and_opaque_elements_are_compared_as_bytes() {
    let array = raw_array(Element(0, 3), &[2], b"abcdef");
    let home = Experiment::new()
        .file("a.ra", &array)
        .file("b.ra", [&array[..], b"more"].concat())
        .file("c.ra", [&array[..], b"less"].concat())
        .array("d.ra", Element(0, 3), &[2], b"abcdeF");
    diff(&home, "a.ra", "b.ra", &[]).exits(1).says(&["none | 4 bytes"]);
    diff(&home, "b.ra", "c.ra", &[]).exits(1).says(&["4 bytes | 4 bytes, others"]);
    diff(&home, "a.ra", "d.ra", &[]).exits(1).says(&["0x646566 | 0x646546 at [1]"]);
    diff(&home, "a.ra", "d.ra", &["--l2"]).exits(2).says(&["that are not numbers"]);
}

#[test]
fn booleans_are_compared_as_numbers() {
    let home = Experiment::new()
        .array("julia.ra", Element(5, 1), &[3], &[1, 0, 1])
        .array("all.ra", UINT8, &[3], &[1, 0, 1])
        .array("signed.ra", Element(1, 1), &[3], &[1, 0, 1]);
    assert_eq!(diff(&home, "julia.ra", "all.ra", &[]).exits(0).said(), "");
    diff(&home, "julia.ra", "signed.ra", &[]).exits(1).says(&["bool | int8"]);
}

#[test]
fn arrays_longer_than_a_block_are_compared_to_the_end() {
    let mut bytes = vec![7; 3_000_001];
    let home = Experiment::new().array("a.ra", UINT8, &[3_000_001], &bytes);
    bytes[3_000_000] = 8;
    let home = home.array("b.ra", UINT8, &[3_000_001], &bytes);
    diff(&home, "a.ra", "b.ra", &[]).exits(1).says(&["1 of 3000001", "7 | 8 at [3000000]"]);
    let home = home.array("empty.ra", UINT8, &[0, 4], &[]);
    diff(&home, "empty.ra", "empty.ra", &[]).exits(0);
}

#[test]
fn an_unreadable_array_is_not_a_difference() {
    let home = Experiment::new()
        .array("a.ra", UINT8, &[2], &[1, 2])
        .file("cut.ra", &raw_array(UINT8, &[9], &[0; 9])[..60])
        .file("no.ra", "no array");
    diff(&home, "a.ra", "cut.ra", &[]).exits(2).says(&["byte 60", "cut.ra"]);
    diff(&home, "no.ra", "a.ra", &[]).exits(2).says(&["no.ra"]);
    diff(&home, "a.ra", "nowhere.ra", &[]).exits(2).says(&["nowhere.ra"]);
    ra("diff", &[Path::new("a.ra")], &[]).exits(2).says(&["<B>"]);
}

#[test]
fn elements_are_shown_as_they_are_meant() {
    let described = |kind: &str, attributes: &str| {
        format!(
            "ndarrays:\n  a:\n    shape: [2]\n    type: {kind}\n    attributes: {{{attributes}}}\n"
        )
    };
    let text = |text: &str| text.chars().flat_map(|it| u32::from(it).to_le_bytes()).collect();
    let utf32 = "opaque: {size: 8, tag: utf-32le}";
    for (element, [a, b], description, said) in [
        (
            Element(0, 8),
            [text("abcd"), text("abce")],
            described(&format!("{{{utf32}}}"), ""),
            "\"cd\" | \"ce\" at [1]",
        ),
        // 2024-06-04 is the day 19878 of 1970 for NumPy.
        (
            INT16,
            [[19877, 19878], [19877, 19879]].map(|days| le(i16::to_le_bytes, days)),
            described("int16", "units: days since 1970-01-01"),
            "2024-06-04 | 2024-06-05 (stored 19878 | 19879) at [1]",
        ),
        (
            INT16,
            [[1, 2], [1, 5]].map(|it| le(i16::to_le_bytes, it)),
            described("int16", "scale_factor: 0.5, add_offset: 10.0"),
            "11 | 12.5 (stored 2 | 5) at [1]",
        ),
        (
            UINT8,
            [vec![0, 1], vec![0, 7]],
            described(
                "uint8",
                "flag_values: {shape: [2], type: uint8, value: [0, 1]}, flag_meanings: good bad",
            ),
            "bad | 7 (stored 1 | 7) at [1]",
        ),
    ] {
        let home = Experiment::new()
            .array("a.ra", element, &[2], &a)
            .file("a.yaml", &description)
            .array("b.ra", element, &[2], &b)
            .file("b.yaml", &description);
        diff(&home, "a.ra", "b.ra", &[]).exits(1).says(&[said]);
    }
    // Each array has its own description, and a missing value differs from a number.
    let scaled =
        |scale: &str| described("int16", &format!("scale_factor: {scale}, _FillValue: -9"));
    let home = Experiment::new()
        .array("a.ra", INT16, &[2], &le(i16::to_le_bytes, [10, -9]))
        .file("a.yaml", scaled("0.1"))
        .array("b.ra", INT16, &[2], &le(i16::to_le_bytes, [100, 700]))
        .file("b.yaml", scaled("0.01"));
    diff(&home, "a.ra", "b.ra", &[])
        .exits(1)
        .says(&["1 | 1 (stored 10 | 100) at [0]", "-- | 7 (stored -9 | 700) at [1]"]);
}
