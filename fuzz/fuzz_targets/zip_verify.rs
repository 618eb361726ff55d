//! Any bytes as a zip: verifying it ends, and what it calls clean another reader sees the same.
#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ra_pack::{Container, MemberKind, Pack, VerifyOptions, verify};
use tempfile::TempDir;

static SCRATCH: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());

fuzz_target!(|bytes: &[u8]| {
    let path = SCRATCH.path().join("any.zip");
    fs::write(&path, bytes).unwrap();
    let options = VerifyOptions { jobs: Some(1), ..VerifyOptions::default() };
    let Ok(report) = verify(&path, &options) else { return };
    if report.container != Some(Container::Zip) {
        return;
    }
    // The container alone: a manifest can hardly be guessed.
    if report
        .findings
        .iter()
        .any(|finding| finding.is_error() && !finding.code.id().starts_with("MAN"))
    {
        return;
    }
    let ours: BTreeMap<String, u64> = Pack::open(&path)
        .unwrap()
        .members()
        .unwrap()
        .into_iter()
        .map(|member| {
            let slash = if member.kind == MemberKind::Directory { "/" } else { "" };
            (member.name + slash, member.size)
        })
        .collect();
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let theirs: BTreeMap<String, u64> = (0..zip.len())
        .map(|index| {
            let member = zip.by_index_raw(index).unwrap();
            (member.name().unwrap().into_owned(), member.size())
        })
        .collect();
    assert_eq!(ours, theirs);
});
