//! Parsing and searching manifests.

use std::fmt::Write;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use ra_pack::digest::Algorithm;
use ra_pack::manifest::{Manifest, NameEncoding};

use super::{SIZES, TOGETHER};

fn name(file: usize) -> String {
    format!("run{}/sensor{file}.ra", file / TOGETHER)
}

fn manifest(files: usize) -> Vec<u8> {
    let mut text = String::new();
    for file in 0..files {
        let _ = writeln!(text, "{file:064x}  {}", name(file));
    }
    text.into_bytes()
}

#[divan::bench(args = SIZES, max_time = 2)]
fn parse_a_list_of(bencher: Bencher<'_, '_>, files: usize) {
    let text = manifest(files);
    let parse = || Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, divan::black_box(&text));
    let (list, faults) = parse();
    assert!(list.entries().len() == files && faults.is_empty());
    assert!(list.get(&name(files - 1)).is_some());
    bencher.counter(BytesCount::of_slice(&text)).counter(ItemsCount::new(files)).bench(parse);
}
