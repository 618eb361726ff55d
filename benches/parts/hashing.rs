//! Packing and verifying a large file, compared with hashing the same bytes in memory, which is the lower bound.

use std::fs;
use std::path::Path;

use divan::Bencher;
use divan::counter::BytesCount;
use ra_pack::digest::Digest;
use ra_pack::ra::RawArray;
use ra_pack::verify::VerifyOptions;
use ra_pack::write::CreateOptions;
use ra_pack::{create, verify};
use tempfile::TempDir;

const ELEMENTS: u32 = 64 << 20;

/// Makes a directory `exp` with one array of 256 MiB and its description.
fn source() -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("exp");
    fs::create_dir(&directory).unwrap();
    let elements: Vec<u32> = (0..ELEMENTS).map(|index| index.wrapping_mul(0x9e37_79b9)).collect();
    let array = RawArray::new(vec![u64::from(ELEMENTS)], elements).unwrap();
    array.write_to(fs::File::create(directory.join("a.ra")).unwrap()).unwrap();
    let text = format!("ndarrays:\n  a:\n    shape: [{ELEMENTS}]\n    type: uint32\n");
    fs::write(directory.join("a.yaml"), text).unwrap();
    scratch
}

fn pack(scratch: &Path) -> u64 {
    let options = CreateOptions { force: true, ..CreateOptions::default() };
    create(scratch.join("exp"), scratch.join("exp.zip"), &options).unwrap().arrays
}

fn bytes() -> BytesCount {
    BytesCount::new(u64::from(ELEMENTS) * 4)
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn sha_256_alone(bencher: Bencher<'_, '_>) {
    let scratch = source();
    let content = fs::read(scratch.path().join("exp/a.ra")).unwrap();
    bencher.counter(bytes()).bench(|| Digest::sha256(divan::black_box(&content)));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn create_a_zip(bencher: Bencher<'_, '_>) {
    let scratch = source();
    bencher.counter(bytes()).bench(|| assert_eq!(pack(scratch.path()), 1));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn verify_a_zip(bencher: Bencher<'_, '_>) {
    let scratch = source();
    pack(scratch.path());
    let archive = scratch.path().join("exp.zip");
    bencher.counter(bytes()).bench(|| {
        assert!(verify(&archive, &VerifyOptions::default()).unwrap().is_valid());
    });
}
