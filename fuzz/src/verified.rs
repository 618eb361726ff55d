//! Whole archives: verifying any bytes ends, and what it has no fault to find with is read the same by
//! other people's readers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ra_pack::{Container, MemberKind, Pack, VerifyOptions, verify};
use tempfile::TempDir;

use crate::readers;

/// Every file by its name as found, a directory's with a slash behind it.
pub(crate) type Members = BTreeMap<String, Vec<u8>>;

/// In memory where the system has such a place.
static SCRATCH: LazyLock<TempDir> =
    LazyLock::new(|| TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap());

/// Any bytes as a zip: the zip crate and rawzip read what `verify` finds no fault with as `Pack` does.
pub fn zip_verify(bytes: &[u8]) {
    let Some((path, Container::Zip)) = faultless(bytes, "any.zip") else { return };
    let ours = members(&path);
    assert_eq!(readers::zip(bytes), ours);
    assert_eq!(readers::rawzip(bytes), ours);
}

/// Any bytes as a tar, plain or compressed: the same, by the tar crate and by a few lines here.
pub fn tar_verify(bytes: &[u8]) {
    let container = match faultless(bytes, "any.tar") {
        None | Some((_, Container::Zip | Container::Directory)) => return,
        Some((path, container)) => (path, container),
    };
    let (path, container) = container;
    let ours = members(&path);
    let plain = readers::unpacked(bytes, container);
    assert_eq!(readers::tar(&plain), ours);
    assert_eq!(readers::ustar(&plain), ours);
}

/// Verifies `bytes` as a file of that name. Gives the path and the container when it is faultless; that
/// no manifest lists the members is no fault here, since a digest can hardly be guessed, nor is what an
/// array says of itself.
fn faultless(bytes: &[u8], name: &str) -> Option<(PathBuf, Container)> {
    let path = SCRATCH.path().join(name);
    fs::write(&path, bytes).unwrap();
    let options = VerifyOptions { jobs: Some(1), ..VerifyOptions::default() };
    let report = verify(&path, &options).ok()?;
    let of_container = |id: &str| id.starts_with("ARC") || id.starts_with("NAME");
    let at_fault =
        report.findings.iter().any(|finding| finding.is_error() && of_container(finding.code.id()));
    (!at_fault).then_some(())?;
    Some((path, report.container?))
}

/// What `Pack` reads.
fn members(path: &Path) -> Members {
    let pack = Pack::open(path).unwrap();
    let read = |name: &str| {
        let mut bytes = Vec::new();
        pack.copy_unverified_to(name, &mut bytes).unwrap();
        bytes
    };
    let members = pack.members().unwrap().into_iter();
    members
        .map(|member| match member.kind {
            MemberKind::Directory => (member.name + "/", Vec::new()),
            _ => {
                let bytes = read(&member.name);
                (member.name, bytes)
            }
        })
        .collect()
}
