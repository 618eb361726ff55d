//! `ra-pack manifest`: the same manifests as `create` and `sha256sum`, and the same errors about digests as `verify`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::bytes::{part, sha256, with_manifest, zip};
use crate::experiment::{Experiment, UINT8};
use crate::foreign::installed;
use crate::run::{ENDINGS, Ran, names_in, pack, ra};

fn experiment() -> Experiment {
    Experiment::new()
        .array("run1/a.ra", UINT8, &[4], b"data")
        .describe("run1/a.yaml", "[4]", "uint8")
        .file("notes.txt", "noted")
}

fn manifest(target: &Path, options: &[&str]) -> Ran {
    ra("manifest", &[target], options)
}

#[test]
fn the_manifest_equals_that_of_create_in_every_container_and_layout() {
    let scratch = TempDir::new().unwrap();
    for (layout, jobs) in [("plain", "1"), ("bagit", "3")] {
        for ending in ENDINGS {
            let name = format!("{layout}{ending}");
            let options = ["--layout", layout, "--digest", "sha256,sha512"];
            let archive = pack(&experiment(), scratch.path(), &name, &options);
            for algorithm in ["sha256", "sha512"] {
                let made = manifest(&archive, &["--digest", algorithm, "--jobs", jobs]).exits(0);
                let text = String::from_utf8(made.out).unwrap();
                let name_of_it = format!("manifest-{algorithm}.txt");
                let inside = ra("get", &[&archive, Path::new(&name_of_it)], &[]).exits(0).out;
                assert_eq!(text, String::from_utf8(inside).unwrap(), "{name}");
                assert_eq!(made.err, "");
            }
        }
    }
}

#[test]
fn a_directory_becomes_a_pack() {
    let home = experiment();
    let made = manifest(home.path(), &["--write"]).exits(0);
    let path = home.path().join("manifest-sha256.txt");
    made.says(&[&format!("wrote {} (3 files, ", path.display())]);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().map(|line| line.split_once("  ").unwrap()).collect();
    let sum = |name: &str| sha256(&fs::read(home.path().join(name)).unwrap());
    let names = ["notes.txt", "run1/a.ra", "run1/a.yaml"];
    assert_eq!(
        lines.into_iter().map(|(sum, name)| (name, sum.to_owned())).collect::<BTreeMap<_, _>>(),
        names.into_iter().map(|name| (name, sum(name))).collect()
    );
    ra("verify", &[home.path()], &[]).exits(0).says(&[": valid "]);
    manifest(home.path(), &["--check"]).exits(0).says(&[": verified (1 array, 4"]);
    // A manifest lists neither itself nor other manifests.
    manifest(home.path(), &["--write", "--digest", "sha512"]).exits(0);
    assert_eq!(manifest(home.path(), &[]).exits(0).out, text.as_bytes());
    ra("verify", &[home.path()], &[]).exits(0).says(&["manifest-sha256.txt, manifest-sha512.txt"]);
    // An existing manifest is replaced only by --force, with its signature.
    fs::write(home.path().join("manifest-sha256.txt.minisig"), "").unwrap();
    fs::write(home.path().join("notes.txt"), "changed").unwrap();
    manifest(home.path(), &["--write"]).exits(2).says(&["exists; use --force"]);
    manifest(home.path(), &["--check"]).exits(1).says(&["[MAN003]", "notes.txt", "NOT VALID"]);
    fs::remove_file(home.path().join("manifest-sha512.txt")).unwrap();
    manifest(home.path(), &["--write", "--force"]).exits(0);
    ra("verify", &[home.path()], &[]).exits(0);
    assert_eq!(names_in(home.path()), ["manifest-sha256.txt", "notes.txt", "run1"]);
}

#[test]
#[cfg(unix)] // names that other systems do not have
fn sum_tools_accept_any_name() {
    if !installed(&["sha256sum", "sha512sum"]) {
        return;
    }
    let home = experiment().file("two\nlines.txt", "x").file("größe *", "z").file("a  b\r", "y");
    for algorithm in ["sha256", "sha512"] {
        let scratch = TempDir::new().unwrap();
        let list = scratch.path().join("list");
        let list = list.to_str().unwrap();
        manifest(home.path(), &["--digest", algorithm, "-o", list]).exits(0);
        let mut sum = Command::new(format!("{algorithm}sum"));
        let ran = sum.args(["--strict", "-c", list]).current_dir(home.path()).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(fs::read_to_string(list).unwrap().lines().count(), 6);
        assert_eq!(names_in(scratch.path()), ["list"]);
    }
}

#[test]
fn only_digests_are_checked() {
    let scratch = TempDir::new().unwrap();
    // A malformed array, which only `verify` reports.
    let parts = || vec![part("a.ra", "rawarr"), part("b.txt", "b")];
    let archive = scratch.path().join("x.zip");
    fs::write(&archive, zip(&with_manifest(parts()))).unwrap();
    ra("verify", &[&archive], &[]).exits(1);
    manifest(&archive, &["--check"]).exits(0);
    // A manifest that is stored elsewhere.
    let list = scratch.path().join("list");
    manifest(&archive, &["-o", list.to_str().unwrap()]).exits(0);
    let list = list.to_str().unwrap();
    manifest(&archive, &["--check", "--manifest", list]).exits(0);
    let bare = scratch.path().join("bare.zip");
    fs::write(&bare, zip(&parts())).unwrap();
    manifest(&bare, &["--check"]).exits(1).says(&["[MAN001]"]);
    manifest(&bare, &["--check", "--manifest", list]).exits(0);
    let mut other = parts();
    other[1].data = b"c".to_vec();
    other.push(part("d.txt", "d"));
    fs::write(&bare, zip(&other)).unwrap();
    let found = manifest(&bare, &["--check", "--manifest", list, "--json"]).exits(1).findings();
    let expected = [("MAN003", "b.txt"), ("MAN005", "d.txt")];
    assert_eq!(found, expected.map(|(code, name)| (code.to_owned(), name.to_owned())));
}

#[test]
fn no_manifest_is_made_of_damaged_or_ambiguous_packs() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment(), scratch.path(), "x.zip", &[]);
    let mut bytes = fs::read(&archive).unwrap();
    let data = bytes.windows(4).position(|window| window == b"data").unwrap();
    bytes[data] ^= 1;
    let damaged = scratch.path().join("damaged.zip");
    fs::write(&damaged, bytes).unwrap();
    let list = scratch.path().join("list");
    let to_list = ["-o", list.to_str().unwrap()];
    let ran = manifest(&damaged, &to_list).exits(1).says(&["run1/a.ra", "CRC-32"]);
    assert!(ran.out.is_empty() && !list.exists());
    let twice = vec![part("a.txt", "a"), part("a.txt", "b")];
    fs::write(&damaged, zip(&twice)).unwrap();
    manifest(&damaged, &[]).exits(1).says(&["two members have this name"]);
    manifest(&archive, &["--write"]).exits(2).says(&["is an archive", "--output"]);
    manifest(&archive, &["--digest", "md5"]).exits(2);
    manifest(&archive, &["--check", "--write"]).exits(2);
    let bag = scratch.path().join("bag");
    let packed = pack(&experiment(), scratch.path(), "bag.zip", &["--layout", "bagit"]);
    let mut unpacked = Command::new("unzip");
    if installed(&["unzip"]) {
        unpacked.arg("-q").arg(&packed).arg("-d").arg(&bag).output().unwrap();
        fs::remove_file(bag.join("bag/manifest-sha256.txt")).unwrap();
        manifest(&bag.join("bag"), &["--write"]).exits(2).says(&["is a bag"]);
        assert!(!bag.join("bag/manifest-sha256.txt").exists());
    }
}
