//! `create --clone`: the content of files shares blocks with the source on file systems that can.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::bytes::zip_entries;
use crate::experiment::{Experiment, UINT8, read_tree};
use crate::foreign::{assert_accepted, complaint, installed};
use crate::run::{create, extract, names_in, ra};
use crate::skips::is_long;

/// Files above and below 32 KiB.
fn experiment(long: usize) -> Experiment {
    let data: Vec<u8> = (0..=u8::MAX).cycle().take(long).collect();
    Experiment::new()
        .array("a/long.ra", UINT8, &[long as u64], &data)
        .describe("a/long.yaml", &format!("[{long}]"), "uint8")
        .file("b.bin", data.iter().rev().copied().collect::<Vec<u8>>())
        .file("exact.bin", vec![7; 65_536])
        .file("empty.txt", "")
}

#[test]
fn long_files_begin_at_blocks() {
    let scratch = TempDir::new().unwrap();
    for long in [32_768, 32_769, 100_001] {
        let experiment = experiment(long);
        let (archive, out) = (scratch.path().join("a.zip"), scratch.path().join("out"));
        create(experiment.path(), &archive, &["--clone", "--force"]).exits(0);
        let entries = zip_entries(&fs::read(&archive).unwrap());
        let placed: Vec<_> = entries
            .iter()
            .filter(|entry| entry.size > 32_768)
            .map(|entry| entry.data % 4096)
            .collect();
        assert_eq!(placed, vec![0; placed.len()]);
        assert_eq!(placed.len(), 2 + usize::from(long > 32_768));
        ra("verify", &[&archive], &["--strict"]).exits(0);
        extract(&archive, &out, &["--force"]).exits(0);
        let unpacked = read_tree(&out);
        for (name, content) in read_tree(experiment.path()) {
            assert!(unpacked[&name] == content, "{name}");
        }
        assert_accepted(&archive, &unpacked);
        let verifier = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/readers/verify.py");
        complaint(Command::new("python3").arg(verifier).arg(&archive)).unwrap();
        // Shards write the same bytes.
        let shared = scratch.path().join("b.zip");
        for options in [["--shard", "2/2"].as_slice(), &["--shard", "1/2"], &["--join"]] {
            create(experiment.path(), &shared, &[options, &["--clone", "-f"]].concat()).exits(0);
        }
        assert!(fs::read(&shared).unwrap() == fs::read(&archive).unwrap());
    }
}

#[test]
fn only_members_of_an_uncompressed_zip_have_blocks_of_their_own() {
    let (experiment, scratch) = (experiment(10), TempDir::new().unwrap());
    for (name, option) in [("a.tar", "-q"), ("a.tar.zst", "-q"), ("a.zip", "--compression=zstd")] {
        create(experiment.path(), &scratch.path().join(name), &["--clone", option])
            .exits(2)
            .says(&["--clone needs a zip without compression"]);
    }
    assert_eq!(names_in(scratch.path()), [""; 0]);
}

/// A file system in a file, mounted until this is dropped.
struct Mounted {
    directory: TempDir,
}

fn run(program: &str, arguments: &[&str]) -> String {
    let ran = Command::new(program).args(arguments).output().unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(
        ran.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
    printed
}

impl Mounted {
    fn new(kind: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let (image, at) = (directory.path().join("image"), directory.path().join("at"));
        fs::create_dir(&at).unwrap();
        fs::File::create(&image).unwrap().set_len(1 << 30).unwrap();
        let [image, at] = [image, at].map(|path| path.into_os_string().into_string().unwrap());
        run(&format!("mkfs.{kind}"), &["-q", &image]);
        run("mount", &["-t", kind, "-o", "loop", &image, &at]);
        Self { directory }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("at")
    }

    /// Returns the bytes in use.
    fn used(&self) -> u64 {
        let path = self.path();
        run("sync", &["-f", path.to_str().unwrap()]);
        let used = run("df", &["--output=used", "-B1", path.to_str().unwrap()]);
        used.lines().last().unwrap().trim().parse().unwrap()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run("umount", &[self.path().to_str().unwrap()]);
    }
}

#[test]
#[ignore = "mounts file systems, as root"]
fn blocks_are_shared_on_btrfs_and_xfs() {
    if !is_long() {
        return;
    }
    for kind in ["btrfs", "xfs"] {
        assert!(installed(&[&format!("mkfs.{kind}"), "mount", "df"]));
        let mounted = Mounted::new(kind);
        let source = mounted.path().join("source");
        fs::create_dir(&source).unwrap();
        let mut seed = 1_u64;
        for number in 0..10_u64 {
            let len = 8_000_000 + number * 4321;
            let bytes = (0..len).map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                seed.to_be_bytes()[0]
            });
            fs::write(source.join(format!("{number}.bin")), bytes.collect::<Vec<u8>>()).unwrap();
        }
        let taken = |name: &str, options: &[&str]| {
            let before = mounted.used();
            let archive = mounted.path().join(name);
            create(&source, &archive, &[options, &["--no-external-manifest"]].concat()).exits(0);
            let taken = mounted.used() - before;
            ra("verify", &[&archive], &[]).exits(0);
            taken
        };
        let (shared, copied) = (taken("shared.zip", &["--clone"]), taken("copied.zip", &[]));
        assert!(copied > 79_000_000, "{kind}: {copied} bytes for a copy");
        assert!(shared < 4_000_000, "{kind}: {shared} bytes for shared blocks");
        // Neither is changed by a change of the other.
        fs::write(source.join("3.bin"), "other").unwrap();
        ra("verify", &[Path::new(&mounted.path().join("shared.zip"))], &[]).exits(0);
    }
}
