//! Tests of the library without any feature: `cargo test --no-default-features --test lean`.

#![cfg(test)] // tells clippy that all code here is for tests

use std::fs;
use std::io;
use std::path::PathBuf;

use ra_pack::ndarray::{Array2, ArrayD, array, s};
use ra_pack::{Code, Error, Pack, RawArray};
use tempfile::TempDir;

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "it/raw_zip.rs"]
mod raw_zip;

use raw_zip::{DEFLATE, Entry, Zip, deflate_stored};

/// Returns the file of a column-major array of 3 by 2 elements.
fn array_file() -> Vec<u8> {
    let header = [0, 3, 4, 24, 2, 3, 2].map(u64::to_le_bytes);
    let elements = [0_f32, 1.0, 2.0, 10.0, 11.0, 12.0].map(f32::to_le_bytes);
    [b"rawarray", header.as_flattened(), elements.as_flattened()].concat()
}

/// Digest of the file, computed with `sha256sum`.
const DIGEST: &str = "05096215fb03d7bea0fb43e3ab927d7d2d705cf661bb5431f967e213ca06efde";

/// Writes an archive of a stored and a deflated array with a manifest.
fn zip(change: impl Fn(&mut [u8])) -> (TempDir, PathBuf) {
    let mut content = array_file();
    change(&mut content);
    let packed = deflate_stored(&content);
    let manifest = format!("{DIGEST}  deflated.ra\n{DIGEST}  stored.ra\n");
    let entries = vec![
        Entry::packed("deflated.ra", DEFLATE, packed, &content),
        Entry::stored("stored.ra", &content),
        Entry::stored("manifest-sha256.txt", manifest.as_bytes()),
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.zip");
    fs::write(&path, Zip { entries, ..Zip::default() }.to_bytes()).unwrap();
    (directory, path)
}

#[test]
fn the_example_of_the_original_crate_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("myarray.ra");
    let example = || -> io::Result<()> {
        let vec1: Vec<f32> = vec![1.0, 2.0, 3.0, 4.0];
        let ra: RawArray<f32> = vec1.clone().into();
        ra.write(&path)?;

        let vec2: Vec<f32> = RawArray::<f32>::read(&path)?.into();
        assert_eq!(vec1, vec2);
        Ok(())
    };
    example().unwrap();
    let header = [0, 3, 4, 16, 1, 4].map(u64::to_le_bytes);
    let elements = [1_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes);
    let written = [b"rawarray", header.as_flattened(), elements.as_flattened()].concat();
    assert_eq!(fs::read(&path).unwrap(), written);
    // It is replaced, and no other file remains.
    example().unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    let missing = directory.path().join("no/such.ra");
    let error = RawArray::from(vec![0_u8]).write(missing).unwrap_err();
    assert!(error.to_string().contains("there is no such directory"), "{error}");
}

#[test]
fn stored_and_deflated_arrays_of_a_zip_are_read() {
    let (_directory, path) = zip(|_| ());
    let pack = Pack::open(&path).unwrap();
    let expected: Array2<f32> = array![[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]];
    for name in ["stored.ra", "deflated.ra"] {
        let array = pack.array(name).unwrap();
        let all: ArrayD<f32> = array.read().unwrap();
        assert_eq!(all, expected.clone().into_dyn(), "{name}");
        let part: ArrayD<f32> = array.slice(s![1.., 1]).unwrap();
        assert_eq!(part, array![11.0, 12.0].into_dyn(), "{name}");
    }
}

#[test]
fn an_element_that_does_not_match_the_manifest_is_an_error() {
    let (_directory, path) = zip(|content| *content.last_mut().unwrap() ^= 1);
    let pack = Pack::open(&path).unwrap();
    for name in ["stored.ra", "deflated.ra"] {
        let error = pack.array(name).unwrap().read::<f32>().unwrap_err();
        let is_mismatch = matches!(&error, Error::Damaged { finding, .. }
            if finding.code == Code::DigestMismatch);
        assert!(is_mismatch, "{error}");
    }
}

#[cfg(not(feature = "full"))]
#[test]
fn an_error_names_the_missing_feature() {
    let directory = tempfile::tempdir().unwrap();
    let content = array_file();
    let member =
        Zip { entries: vec![Entry::packed("a.ra", 93, vec![0; 9], &content)], ..Zip::default() };
    for (name, bytes) in
        [("a.zip", member.to_bytes()), ("a.tar.zst", b"\x28\xb5\x2f\xfd\0\0".to_vec())]
    {
        let path = directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        let read = Pack::open(&path).and_then(|pack| pack.array("a.ra")?.read::<f32>());
        let error = read.unwrap_err().to_string();
        assert!(error.contains("the feature `full`"), "{error}");
    }
}
