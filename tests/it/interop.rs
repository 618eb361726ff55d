//! Other tools read archives of `create`, and `verify` accepts archives of other tools.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::experiment::{Experiment, ra_pack, read_tree};
use crate::foreign::{assert_accepted, assert_sha256sum_passes, complaint, installed};

const GENERATED: [&str; 2] = ["manifest-sha256.txt", "manifest.yaml"];

/// Packs `experiment` as `name`, a file in `scratch`.
fn create(experiment: &Experiment, scratch: &TempDir, name: &str, options: &[&str]) -> PathBuf {
    let archive = scratch.path().join(name);
    let mut command = ra_pack();
    command.arg("create").arg(experiment.path()).arg("-o").arg(&archive).args(options);
    command.assert().success();
    archive
}

/// Returns the source's tree with the two generated files, as extracted by `ra-pack`.
fn expected_tree(experiment: &Experiment, archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let into = TempDir::new().unwrap();
    ra_pack().arg("extract").arg(archive).arg("-C").arg(into.path()).assert().success();
    assert_sha256sum_passes(into.path(), "manifest-sha256.txt");
    let tree = read_tree(into.path());
    let mut payload = tree.clone();
    payload.retain(|name, _| !GENERATED.contains(&name.as_str()));
    assert_eq!(payload, read_tree(experiment.path()));
    assert_eq!(tree.len(), payload.len() + GENERATED.len());
    tree
}

fn assert_interoperable(name: &str, options: &[&str]) {
    let experiment = Experiment::standard();
    let before = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    let archive = create(&experiment, &scratch, name, options);
    assert_eq!(read_tree(experiment.path()), before, "create changed its source");
    let expected = expected_tree(&experiment, &archive);
    let external = scratch.path().join(format!("{name}.manifest-sha256.txt"));
    assert_eq!(fs::read(external).unwrap(), expected["manifest-sha256.txt"]);
    assert_accepted(&archive, &expected);
    ra_pack().arg("verify").arg(&archive).assert().success();
}

#[test]
fn a_stored_zip_is_read_by_every_tool() {
    assert_interoperable("exp.zip", &[]);
}

#[test]
fn a_deflated_zip_is_read_by_every_tool() {
    assert_interoperable("exp.zip", &["--compression", "deflate"]);
}

#[test]
fn a_tar_is_read_by_every_tool() {
    assert_interoperable("exp.tar", &[]);
}

#[test]
fn a_gzipped_tar_is_read_by_every_tool() {
    assert_interoperable("exp.tar.gz", &[]);
    assert_interoperable("exp.tgz", &[]);
}

#[test]
fn a_zstandard_tar_is_read_by_every_tool() {
    assert_interoperable("exp.tar.zst", &[]);
}

#[test]
fn a_bag_passes_sha256sum_with_both_manifests() {
    // Bags have no empty directories.
    let experiment = Experiment::standard().file("run2/nothing yet/now.txt", "something");
    let scratch = TempDir::new().unwrap();
    for name in ["exp.zip", "exp.tar"] {
        let archive = create(&experiment, &scratch, name, &["--layout", "bagit"]);
        ra_pack().arg("verify").arg(&archive).assert().success();
        if installed(&["bsdtar"]) {
            let into = TempDir::new().unwrap();
            let mut bsdtar = Command::new("bsdtar");
            complaint(bsdtar.arg("-xf").arg(&archive).arg("-C").arg(into.path())).unwrap();
            let bag = into.path().join("exp");
            assert_sha256sum_passes(&bag, "manifest-sha256.txt");
            assert_sha256sum_passes(&bag, "tagmanifest-sha256.txt");
            assert_eq!(read_tree(&bag.join("data")), read_tree(experiment.path()));
            assert_accepted(&archive, &read_tree(into.path()));
        }
    }
}

#[test]
fn a_pack_made_by_other_tools_is_verified() {
    let experiment = Experiment::standard();
    // `$0` is the archive; the files are in the working directory.
    let packers = [
        ("a.zip", "python3", "python3 -m zipfile -c \"$0\" *"),
        ("b.zip", "7z", "7z a -bd \"$0\" *"),
        ("c.zip", "bsdtar", "bsdtar --format=zip -cf \"$0\" *"),
        ("c2.zip", "bsdtar", "bsdtar --format=zip -cf \"$0\" ."),
        ("d.zip", "zip", "zip -qr \"$0\" ."),
        // To a pipe: sizes after the data, and zip64 fields that are not needed.
        ("e.zip", "zip", "zip -qr - . > \"$0\""),
        ("f.zip", "zip", "zip -qr -fz - . > \"$0\""),
        ("g.tar", "tar", "tar --format=ustar -cf \"$0\" *"),
        ("h.tar", "tar", "tar --format=gnu -cf \"$0\" ."),
        ("i.tar", "tar", "tar --format=posix -cf \"$0\" ."),
        ("j.tar", "tar", "tar --format=v7 -cf \"$0\" *"),
        ("k.tar", "bsdtar", "bsdtar --format=ustar -cf \"$0\" *"),
        ("l.tar", "bsdtar", "bsdtar --format=pax -cf \"$0\" ."),
        ("m.tar", "bsdtar", "bsdtar --format=gnutar -cf \"$0\" *"),
        ("n.tar", "python3", "python3 -m tarfile -c \"$0\" *"),
        ("o.tar.gz", "tar", "tar -czf \"$0\" *"),
        ("p.tar.gz", "gzip", "tar -cf - . | gzip --name > \"$0\""),
        ("q.tar.zst", "bsdtar", "bsdtar --zstd -cf \"$0\" *"),
        ("r.tar.zst", "zstd", "tar -cf - . | zstd -q > \"$0\""),
    ];
    if !installed(&["sha256sum"]) {
        return;
    }
    let tree = read_tree(experiment.path());
    let files = tree.keys().filter(|name| !name.ends_with('/'));
    let sums = Command::new("sha256sum").args(files).current_dir(experiment.path()).output();
    let experiment = experiment.file("manifest-sha256.txt", sums.unwrap().stdout);
    let scratch = TempDir::new().unwrap();
    for (name, program, script) in packers {
        if !installed(&[program]) {
            continue;
        }
        let archive = scratch.path().join(name);
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).arg(&archive).current_dir(experiment.path());
        complaint(&mut shell).unwrap();
        let assert = ra_pack().arg("verify").arg(&archive).assert().success();
        // Other times and owners cause no warnings.
        let said = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
        assert!(!said.contains("[ARC"), "{script}: {said}");
    }
}

/// Some zip readers reject bytes after the end record, others ignore them.
#[test]
fn a_zip_padded_by_a_pipe_is_refused_with_a_hint() {
    if !installed(&["bsdtar", "sh"]) {
        return;
    }
    let experiment = Experiment::new().file("a.txt", "a");
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("piped.zip");
    let mut shell = Command::new("sh");
    shell.args(["-c", "bsdtar --format=zip -cf - . | cat > \"$0\""]).arg(&archive);
    complaint(shell.current_dir(experiment.path())).unwrap();
    let assert = ra_pack().arg("verify").arg(&archive).assert().code(1);
    let said = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(said.contains("[ARC013]") && said.contains("pipe"), "{said}");
}

#[test]
fn an_array_from_any_archive_equals_its_file() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    for name in ["exp.zip", "exp.tar", "exp.tar.gz", "exp.tar.zst"] {
        let archive = create(&experiment, &scratch, name, &[]);
        for member in ["run1/temperature.ra", "run2/none.ra", "run1/gain.ra", "README.txt"] {
            let out = scratch.path().join("out");
            let mut get = ra_pack();
            get.arg("get").arg(&archive).arg(member).arg("-o").arg(&out);
            get.assert().success();
            let source = experiment.path().join(member);
            assert_eq!(fs::read(&out).unwrap(), fs::read(source).unwrap(), "{name} {member}");
            fs::remove_file(out).unwrap();
        }
    }
}

#[test]
fn a_flipped_bit_in_an_array_is_reported_with_its_name() {
    let values: Vec<u8> = (0..200).collect();
    let experiment = Experiment::new()
        .array("run1/image.ra", crate::experiment::UINT8, &[200], &values)
        .describe("run1/image.yaml", "[200]", "uint8")
        .file("notes.txt", "nothing wrong here\n");
    let scratch = TempDir::new().unwrap();
    for name in ["exp.zip", "exp.tar"] {
        let archive = create(&experiment, &scratch, name, &[]);
        let mut bytes = fs::read(&archive).unwrap();
        let start = bytes.windows(values.len()).position(|window| window == values).unwrap();
        bytes[start + 100] ^= 1;
        fs::write(&archive, bytes).unwrap();
        let assert = ra_pack().arg("verify").arg(&archive).assert().code(1);
        let output = assert.get_output();
        let said = String::from_utf8([&*output.stdout, &*output.stderr].concat()).unwrap();
        assert!(said.contains("run1/image.ra"), "{name}: {said}");
        assert!(!said.contains("notes.txt"), "{name}: {said}");
    }
}
