//! The specification in `docs/spec` and the test vectors in `tests/vectors` agree with the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::experiment::ra_pack;

/// Unpacks a zip with `extract`, and returns the names of all files below `directory`.
fn files_below(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_str().unwrap();
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// Returns the names that a manifest lists.
fn listed(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap();
    text.lines().map(|line| line.split_once("  ").unwrap().1.to_owned()).collect()
}

/// The comment at the beginning of `manifest.yaml` names the files of arrays, and the files that each manifest lists.
/// Someone who has only this comment must not be misled in any layout.
#[test]
fn the_head_comment_of_a_pack_is_true_in_both_layouts() {
    let home = TempDir::new().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    for (layout, top, payload) in [("plain", "", ""), ("bagit", "exp/", "data/")] {
        let archive = home.path().join(layout).join("exp.zip");
        fs::create_dir(archive.parent().unwrap()).unwrap();
        let options = ["--layout", layout, "--digest", "sha256,sha512", "--block-digests=4K"];
        ra_pack().args(["create", "-o"]).args([&archive, &source]).args(options).assert().success();
        let unpacked = home.path().join(layout).join("unpacked");
        ra_pack().args(["extract", "-C"]).args([&unpacked, &archive]).assert().success();
        let root = unpacked.join(top);
        let all = files_below(&root);
        let head: String = {
            let text = fs::read_to_string(root.join("manifest.yaml")).unwrap();
            text.split_inclusive('\n').take_while(|line| line.starts_with('#')).collect()
        };

        for said in [
            "The array NAME of group /a/b is the file a/b/NAME.ra; in a bag (next to bagit.txt), data/a/b/NAME.ra.",
            "manifest-sha256.txt has the SHA-256 of every file except manifest-*.txt and signatures of manifests.",
            "In a bag, it has those of the files in data/, and tagmanifest-sha256.txt those of the other files.",
            "To check them: sha256sum -c manifest-sha256.txt",
            "docs/spec",
        ] {
            assert!(head.contains(said), "{head}");
        }
        assert_eq!(all.contains("bagit.txt"), layout == "bagit");
        assert!(all.contains(&format!("{payload}thermistors/temperature.ra")));
        let is_manifest = |name: &&String| name.starts_with("manifest-");
        let is_tag_manifest = |name: &&String| name.starts_with("tagmanifest-");
        let rest: BTreeSet<_> = all.iter().filter(|name| !is_tag_manifest(name)).cloned().collect();
        for algorithm in ["sha256", "sha512"] {
            let of_files = listed(&root.join(format!("manifest-{algorithm}.txt")));
            let tags = root.join(format!("tagmanifest-{algorithm}.txt"));
            if layout == "plain" {
                let expected = all.iter().filter(|name| !is_manifest(name)).cloned().collect();
                assert_eq!(of_files, expected);
                assert!(!tags.exists());
            } else {
                let (data, others): (BTreeSet<_>, BTreeSet<_>) =
                    rest.iter().cloned().partition(|name| name.starts_with("data/"));
                assert_eq!((of_files, listed(&tags)), (data, others));
            }
        }
        // The length of a header, and where the data begins, as the comment says.
        let time = fs::read(root.join(format!("{payload}time.ra"))).unwrap();
        let number = |at: usize| u64::from_le_bytes(time[at..at + 8].try_into().unwrap());
        assert_eq!(&time[..8], b"rawarray");
        assert_eq!([8, 16, 24, 32, 40, 48].map(number), [0, 3, 8, 1192, 1, 149]);
        assert_eq!(time.len(), 48 + 8 + 1192);
        if crate::foreign::installed(&["sha256sum"]) {
            for manifest in all.iter().filter(|name| name.ends_with("manifest-sha256.txt")) {
                let mut check = Command::new("sha256sum");
                let ran = check.args(["--quiet", "-c", manifest]).current_dir(&root).output();
                let ran = ran.unwrap();
                assert!(
                    ran.status.success(),
                    "{manifest}: {}",
                    String::from_utf8_lossy(&ran.stderr)
                );
            }
        }
    }
}
