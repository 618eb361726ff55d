//! Zips.

use std::fs;

use tempfile::TempDir;

use super::{Readers, difference, ours};
use crate::raw_zip::{Entry, Zip};

#[test]
fn a_plain_zip_is_read_the_same_by_everybody() {
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("a.zip");
    let content = b"abc";
    // The digest of "abc", from FIPS 180-2.
    let manifest = b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  d/a\n";
    let zip = Zip {
        entries: vec![
            Entry::stored("d/a", content),
            Entry::stored("manifest-sha256.txt", manifest),
        ],
        ..Zip::default()
    };
    fs::write(&archive, zip.to_bytes()).unwrap();
    let ours = ours(&archive).unwrap();
    for theirs in Readers::installed().unpack(&archive) {
        assert_eq!(difference(&ours, &theirs), None);
    }
}
