//! How fast texts and headers become values: `cargo bench`.
//!
//! The documents of 1,000, 10,000 and 100,000 arrays show that time grows with size. The throughput of
//! the largest is lower only because its tree no longer fits the caches: twice the arrays take twice
//! the time there, too.

use std::fmt::Write;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use ra_pack::manifest::{Manifest, NameEncoding};
use ra_pack::ndl::{self, Document};
use ra_pack::ra::Header;
use ra_pack::{Algorithm, ElementType, MemberPath};

const ARRAYS: [usize; 3] = [1_000, 10_000, 100_000];

/// Where arrays share a group.
const ARRAYS_PER_GROUP: usize = 100;

const SMALL: &str = "\
ndarrays:
  velocity:
    shape: [2, 6, 149]
    type: float32
    attributes:
      long_name: velocity of the water
      units: m s-1
";

fn main() {
    divan::main();
}

/// A pack's document: about a hundred bytes for each array, each group with a coordinate.
fn pack_document(arrays: usize) -> String {
    let mut text = String::new();
    for first in (0..arrays).step_by(ARRAYS_PER_GROUP) {
        let _ = writeln!(text, "/run{}:", first / ARRAYS_PER_GROUP);
        text.push_str("  dimcoords:\n    time: {size: 149, type: float64}\n  ndarrays:\n");
        for array in first..arrays.min(first + ARRAYS_PER_GROUP) {
            let _ =
                writeln!(text, "    sensor{array}:\n      shape: [10, time]\n      type: float32");
            text.push_str("      attributes: {units: degree_Celsius, gain: 0.5}\n");
        }
    }
    text
}

fn manifest(files: usize) -> Vec<u8> {
    let mut text = String::new();
    for file in 0..files {
        let _ = writeln!(text, "{file:064x}  run{}/sensor{file}.ra", file / ARRAYS_PER_GROUP);
    }
    text.into_bytes()
}

fn parsed(text: &str) -> Document {
    let parsed = ndl::parse(text.as_bytes());
    assert!(parsed.diagnostics.is_empty() && parsed.unresolved.is_empty());
    parsed.document.unwrap_or_else(Document::flat)
}

#[divan::bench]
fn parse_one_description(bencher: Bencher<'_, '_>) {
    bencher.counter(BytesCount::of_str(SMALL)).bench(|| parsed(divan::black_box(SMALL)));
}

#[divan::bench(args = ARRAYS, max_time = 10)]
fn parse_and_validate_a_pack_of(bencher: Bencher<'_, '_>, arrays: usize) {
    let text = pack_document(arrays);
    bencher.counter(BytesCount::of_str(&text)).bench(|| parsed(divan::black_box(&text)));
}

#[divan::bench(args = ARRAYS, max_time = 10)]
fn write_a_pack_of(bencher: Bencher<'_, '_>, arrays: usize) {
    let document = parsed(&pack_document(arrays));
    let bytes = BytesCount::of_str(&document.to_yaml());
    bencher.counter(bytes).bench(|| divan::black_box(&document).to_yaml());
}

#[divan::bench]
fn parse_a_header(bencher: Bencher<'_, '_>) {
    let header = Header::new(ElementType::COMPLEX64, vec![149, 6, 2]).map(|header| header.encode());
    let bytes = header.unwrap_or_default();
    bencher
        .counter(BytesCount::of_slice(&bytes))
        .bench(|| Header::parse(divan::black_box(&bytes)).is_ok_and(|header| header.ndims() == 3));
}

#[divan::bench(args = ARRAYS, max_time = 10)]
fn parse_a_manifest_of(bencher: Bencher<'_, '_>, files: usize) {
    let text = manifest(files);
    bencher.counter(BytesCount::of_slice(&text)).counter(ItemsCount::new(files)).bench(|| {
        let text = divan::black_box(&text);
        Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, text).0.entries().len()
    });
}

#[divan::bench(args = ARRAYS)]
fn look_up_the_last_in_a_manifest_of(bencher: Bencher<'_, '_>, files: usize) {
    let text = manifest(files);
    let last = files.saturating_sub(1);
    let path = MemberPath::new(format!("run{}/sensor{last}.ra", last / ARRAYS_PER_GROUP));
    bencher.counter(BytesCount::of_slice(&text)).bench(|| {
        let path = path.as_ref().ok()?;
        Manifest::look_up(Algorithm::Sha256, NameEncoding::Gnu, divan::black_box(&text), path)
            .ok()?
    });
}
