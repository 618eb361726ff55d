//! Checks of every byte of a zip against its headers and its directory: `verify --fast`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use divan::Bencher;
use divan::counter::ItemsCount;
use ra_pack::digest::Digest;
use ra_pack::verify;
use ra_pack::verify::VerifyOptions;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{SIZES, TOGETHER};

/// Writes a zip of small text files and their manifest, with another writer.
fn write_zip(path: &Path, files: usize) {
    let mut zip = ZipWriter::new(BufWriter::new(File::create(path).unwrap()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut manifest = String::new();
    for file in 0..files {
        let name = format!("run{}/note{file}.txt", file / TOGETHER);
        let content = format!("note {file}\n");
        zip.start_file(name.as_str(), options).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
        let _ = writeln!(manifest, "{}  {name}", Digest::sha256(content.as_bytes()));
    }
    zip.start_file("manifest-sha256.txt", options).unwrap();
    zip.write_all(manifest.as_bytes()).unwrap();
    zip.finish().unwrap().flush().unwrap();
}

#[divan::bench(args = SIZES, max_time = 3)]
fn verify_fast_a_zip_of(bencher: Bencher<'_, '_>, files: usize) {
    let scratch = tempfile::tempdir().unwrap();
    let archive = scratch.path().join("notes.zip");
    write_zip(&archive, files);
    let options = VerifyOptions { fast: true, ..VerifyOptions::default() };
    let check = || {
        let report = verify(&archive, &options).unwrap();
        assert!(report.is_valid(), "{:?}", report.findings.first());
        report
    };
    bencher.counter(ItemsCount::new(files)).bench(check);
}
