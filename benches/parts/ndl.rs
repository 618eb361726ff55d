//! Descriptions: a plain one, any document, and the document of a pack.
//!
//! The throughput for the largest size is lower only because the tree no longer fits the caches; above it, time is
//! proportional to size again.

use std::fmt::Write;

use divan::Bencher;
use divan::counter::BytesCount;
use ra_pack::ndl::{self, Document, PlainDescription};

use super::{SIZES, TOGETHER};

const PLAIN: &str = "\
ndarrays:
  velocity:
    shape: [2, 6, 149]
    type: float32
    attributes:
      long_name: velocity of the water
      units: m s-1
";

/// Returns the document of a pack: about a hundred bytes for each array, and a coordinate for each group.
fn pack_document(arrays: usize) -> String {
    let mut text = String::new();
    for first in (0..arrays).step_by(TOGETHER) {
        let _ = writeln!(text, "/run{}:", first / TOGETHER);
        text.push_str("  dimcoords:\n    time: {size: 149, type: float64}\n  ndarrays:\n");
        for array in first..arrays.min(first + TOGETHER) {
            let _ =
                writeln!(text, "    sensor{array}:\n      shape: [10, time]\n      type: float32");
            text.push_str("      attributes: {units: degree_Celsius, gain: 0.5}\n");
        }
    }
    text
}

fn parsed(text: &str) -> Document {
    let parsed = ndl::parse(text.as_bytes());
    assert!(parsed.findings.is_empty() && parsed.unresolved.is_empty());
    parsed.document.unwrap()
}

#[divan::bench]
fn read_a_plain_description(bencher: Bencher<'_, '_>) {
    bencher
        .counter(BytesCount::of_str(PLAIN))
        .bench(|| PlainDescription::read(divan::black_box(PLAIN)).unwrap());
}

#[divan::bench]
fn parse_a_plain_description(bencher: Bencher<'_, '_>) {
    bencher.counter(BytesCount::of_str(PLAIN)).bench(|| parsed(divan::black_box(PLAIN)));
}

#[divan::bench(args = SIZES, max_time = 3)]
fn parse_and_validate_a_pack_of(bencher: Bencher<'_, '_>, arrays: usize) {
    let text = pack_document(arrays);
    bencher.counter(BytesCount::of_str(&text)).bench(|| parsed(divan::black_box(&text)));
}

#[divan::bench(args = SIZES, max_time = 3)]
fn write_a_pack_of(bencher: Bencher<'_, '_>, arrays: usize) {
    let document = parsed(&pack_document(arrays));
    let text = document.to_yaml();
    assert_eq!(parsed(&text), document);
    bencher.counter(BytesCount::of_str(&text)).bench(|| divan::black_box(&document).to_yaml());
}
