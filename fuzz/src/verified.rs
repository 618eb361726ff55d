//! Targets for complete archives. Verifying any bytes ends. Other readers read and unpack archives without errors in
//! the same way. Nothing is written outside of the target directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ra_pack::archive::MemberKind;
use ra_pack::verify::VerifyOptions;
use ra_pack::write::{ExtractOptions, SalvageOptions, salvage};
use ra_pack::{Container, Pack, extract, verify};
use tempfile::TempDir;

use crate::script::Script;
use crate::{readers, tars, zips};

/// Every file by its name in the archive; names of directories end in a slash.
pub(crate) type Members = BTreeMap<String, Vec<u8>>;

/// A directory in memory if the system has one.
static SCRATCH: LazyLock<TempDir> =
    LazyLock::new(|| TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap());

/// Length of the longest file name below its directory that this process can open.
const LONGEST: usize = 3500;

/// Returns the scratch directory of this process.
pub(crate) fn scratch() -> &'static Path {
    SCRATCH.path()
}

/// Reads any bytes as a zip. If `verify` finds no error, the crates zip and rawzip read the same as `Pack`.
pub fn zip_verify(bytes: &[u8]) {
    let path = written(bytes, "any.zip");
    let ours = match faultless(&path) {
        Some(Container::Zip) => Some(members(&path)),
        _ => None,
    };
    if let Some(ours) = &ours {
        assert_eq!(&readers::zip(bytes), ours);
        assert_eq!(&readers::rawzip(bytes), ours);
    }
    unpack(&path, ours.as_ref());
}

/// Reads any bytes as a tar, plain or compressed. If `verify` finds no error, the crate tar and the reader here read
/// the same as `Pack`.
pub fn tar_verify(bytes: &[u8]) {
    let path = written(bytes, "any.tar");
    let ours = match faultless(&path) {
        None | Some(Container::Zip | Container::Directory) => None,
        Some(container) => {
            let ours = members(&path);
            let plain = readers::unpacked(bytes, container);
            let (theirs, has_line_end) = readers::ustar(&plain);
            assert_eq!(theirs, ours);
            if !has_line_end {
                assert_eq!(readers::tar(&plain), ours);
            }
            Some(ours)
        }
    };
    unpack(&path, ours.as_ref());
}

/// Verifies a zip that is built from the bytes.
pub fn zip_structure(bytes: &[u8]) {
    zip_verify(&zips::build(&mut Script::new(bytes)));
}

/// Verifies a tar that is built from the bytes.
pub fn tar_structure(bytes: &[u8]) {
    tar_verify(&tars::build(&mut Script::new(bytes)));
}

fn written(bytes: &[u8], name: &str) -> PathBuf {
    let path = scratch().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Returns the container if it has no errors. A missing manifest is accepted, because digests can hardly be guessed,
/// and so are errors in arrays.
fn faultless(path: &Path) -> Option<Container> {
    let options = VerifyOptions { jobs: Some(1), ..VerifyOptions::default() };
    let report = verify(path, &options).ok()?;
    let of_container = |id: &str| id.starts_with("ARC") || id.starts_with("NAME");
    let at_fault =
        report.findings.iter().any(|finding| finding.is_error() && of_container(finding.code.id()));
    (!at_fault).then_some(())?;
    report.container
}

/// Reads all members with `Pack`.
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

/// Salvages any bytes. The new pack is valid.
fn salvaged(path: &Path) {
    let made = scratch().join("salvaged.zip");
    let options = SalvageOptions { force: true, jobs: Some(1), ..SalvageOptions::default() };
    let Ok(report) = salvage(path, &made, &options) else { return };
    if report.output.is_some() {
        assert!(verify(&made, &VerifyOptions::default()).unwrap().is_valid(), "{report:?}");
    }
}

/// Unpacks the archive, valid or not. Every written file is one of `ours`, and all of them are written unless a
/// manifest contradicts. Nothing is left next to the target.
fn unpack(path: &Path, ours: Option<&Members>) {
    let around = scratch().join("around");
    let target = around.join("target");
    let _ = fs::remove_dir_all(&around);
    fs::create_dir_all(&around).unwrap();
    let options =
        ExtractOptions { jobs: Some(1), max_size: Some(1 << 26), ..ExtractOptions::default() };
    let report = extract(path, &target, &options);
    salvaged(path);

    let beside = fs::read_dir(&around).unwrap().map(|entry| entry.unwrap().path());
    assert!(beside.into_iter().all(|path| path == target), "written next to the target");
    let mut unpacked = Members::new();
    if target.is_dir() {
        collect(&target, "", &mut unpacked);
    }
    // `verify` warns about names that some systems refuse (NAME009). Paths too long for one call cannot be compared
    // here.
    let is_long =
        |name: &String| name.len() > LONGEST || name.split('/').any(|part| part.len() > 255);
    if unpacked.keys().chain(ours.into_iter().flat_map(BTreeMap::keys)).any(is_long) {
        return;
    }
    let Ok(report) = report else {
        assert!(ours.is_none(), "a valid archive cannot be unpacked: {report:?}");
        return;
    };
    assert_eq!(report.files, unpacked.keys().filter(|name| !name.ends_with('/')).count() as u64);
    let Some(ours) = ours else { return };
    for (name, content) in &unpacked {
        // A directory need not be a member.
        assert!(
            name.ends_with('/') || ours.get(name) == Some(content),
            "{name:?} is unpacked differently"
        );
    }
    if report.is_valid() {
        assert!(ours.keys().all(|name| unpacked.contains_key(name)), "{unpacked:?} of {ours:?}");
    }
}

fn collect(directory: &Path, prefix: &str, into: &mut Members) {
    if prefix.len() > LONGEST {
        return;
    }
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        let kind = entry.file_type().unwrap();
        assert!(kind.is_dir() || kind.is_file(), "{name:?} is neither a file nor a directory");
        if kind.is_dir() {
            into.insert(format!("{name}/"), Vec::new());
            collect(&entry.path(), &format!("{name}/"), into);
        } else {
            into.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}
