//! Files and directories without permissions are named in the error.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use tempfile::TempDir;

use super::{Disk, is_root};
use crate::experiment::Experiment;
use crate::foreign::complaint;
use crate::run::{create, extract, names_in, pack, ra};
use crate::skips::skip_always;

#[test]
fn an_unreadable_file_is_named_and_nothing_is_written() {
    let experiment = Experiment::new().file("a.txt", "").file("run1/secret.txt", "x");
    if is_root(experiment.path()) {
        skip_always("root may read every file");
        return;
    }
    let secret = experiment.path().join("run1/secret.txt");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    create(experiment.path(), &archive, &[]).exits(2).says(&["run1/secret.txt"]);
    assert_eq!(names_in(scratch.path()), [""; 0]);
    create(experiment.path(), &archive, &["--exclude", "secret.txt"]).exits(0);
}

#[test]
fn a_read_only_directory_is_named() {
    let Some(disk) = Disk::mount("1m") else { return };
    let mut remount = Command::new("mount");
    complaint(remount.args(["-o", "remount,ro"]).arg(disk.path())).unwrap();
    let experiment = Experiment::new().file("a.txt", "x");
    let archive = disk.path().join("x.zip");
    create(experiment.path(), &archive, &[]).exits(2).says(&[disk.path().to_str().unwrap()]);
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    extract(&archive, disk.path(), &[]).exits(2).says(&[disk.path().to_str().unwrap()]);
}

#[test]
fn a_read_only_source_is_packed() {
    let Some(disk) = Disk::mount("1m") else { return };
    fs::write(disk.path().join("a.txt"), "x").unwrap();
    let mut remount = Command::new("mount");
    complaint(remount.args(["-o", "remount,ro"]).arg(disk.path())).unwrap();
    let scratch = TempDir::new().unwrap();
    for name in ["x.zip", "x.tar.gz"] {
        let archive = scratch.path().join(name);
        create(disk.path(), &archive, &[]).exits(0);
        ra("verify", &[&archive], &[]).exits(0);
    }
}
