//! Any bytes as a tar, plain or compressed: verifying it ends, and listing it agrees.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ra_pack::{Pack, VerifyOptions, verify};
use tempfile::TempDir;

static SCRATCH: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());

fuzz_target!(|bytes: &[u8]| {
    let path = SCRATCH.path().join("any.tar");
    fs::write(&path, bytes).unwrap();
    let options = VerifyOptions { jobs: Some(1), ..VerifyOptions::default() };
    let Ok(report) = verify(&path, &options) else { return };
    if !report.is_sound() {
        return;
    }
    let pack = Pack::open(&path).unwrap();
    let files = pack
        .members()
        .unwrap()
        .into_iter()
        .filter(|member| member.kind == ra_pack::MemberKind::File);
    let mut count = 0;
    for member in files {
        pack.read(&member.name).unwrap();
        count += 1;
    }
    assert_eq!(report.members, count);
});
