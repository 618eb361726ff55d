//! Full disks: an error message, and no leftovers.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::{Disk, is_unfinished, noise};
use crate::experiment::{Experiment, UINT8, ra_pack, read_tree};
use crate::run::{create, extract, names_in, pack, ra};

#[test]
#[ignore = "slow"]
fn a_full_disk_leaves_no_files() {
    let Some(disk) = Disk::mount("1m") else { return };
    let experiment = Experiment::new()
        .file("a.bin", noise(1, 900_000))
        .file("b.bin", noise(2, 900_000))
        .file("c.txt", "small");
    let before = read_tree(experiment.path());
    for (name, method) in [
        ("x.zip", "stored"),
        ("x.zip", "deflate"),
        ("x.zip", "zstd"),
        ("x.tar", "stored"),
        ("x.tar.gz", "stored"),
        ("x.tar.zst", "stored"),
    ] {
        for layout in ["plain", "bagit"] {
            let options = ["--compression", method, "--layout", layout, "--archive-digest"];
            let ran = create(experiment.path(), &disk.path().join(name), &options).exits(2);
            ran.says(&[name, "No space left"]);
            assert_eq!(names_in(disk.path()), [""; 0], "{name} {method}");
        }
    }
    // A scratch file has no space, either.
    let experiment = experiment.file("a.bin", noise(3, 6_000_000));
    for method in ["deflate", "zstd"] {
        let ran = create(experiment.path(), &disk.path().join("x.zip"), &["--compression", method]);
        ran.exits(2).says(&["No space left"]);
        assert_eq!(names_in(disk.path()), [""; 0]);
    }
    // Small files, packed by several threads while another writes.
    let mut small = Experiment::new();
    for index in 0..1000 {
        small = small.file(&format!("{index}.bin"), noise(index, 5000));
    }
    for (name, method) in
        [("x.zip", "deflate"), ("x.zip", "zstd"), ("x.tar.gz", "stored"), ("x.tar.zst", "stored")]
    {
        for jobs in ["1", "4", "16"] {
            let options = ["--compression", method, "--jobs", jobs];
            let ran = create(small.path(), &disk.path().join(name), &options).exits(2);
            ran.says(&[name, "No space left"]);
            assert_eq!(names_in(disk.path()), [""; 0], "{name} {method} {jobs}");
        }
    }
    let experiment = experiment.file("a.bin", &before["a.bin"]);
    assert!(read_tree(experiment.path()) == before);
    // Existing files remain.
    let kept = disk.path().join("x.zip");
    fs::write(&kept, "mine").unwrap();
    create(experiment.path(), &kept, &["--force"]).exits(2);
    assert_eq!(names_in(disk.path()), ["x.zip"]);
    assert_eq!(fs::read_to_string(kept).unwrap(), "mine");
}

#[test]
fn a_disk_that_fills_at_the_end_of_the_archive_leaves_nothing() {
    let Some(disk) = Disk::mount("1m") else { return };
    let experiment = Experiment::new().file("a.bin", noise(1, 400_000));
    // From no space to more than enough: the disk is full before, at and after the end of the archive, its manifest and
    // its digest.
    for ending in [".zip", ".tar", ".tar.gz", ".tar.zst"] {
        let (mut refused, mut made) = (0, 0);
        for fill in (600_000..=1_048_576).step_by(4096 * 5) {
            fs::write(disk.path().join("fill"), vec![0; fill]).unwrap();
            let archive = disk.path().join(format!("x{ending}"));
            let ran = create(experiment.path(), &archive, &["--archive-digest"]);
            match ran.code {
                Some(0) => {
                    made += 1;
                    ra("verify", &[&archive], &[]).exits(0);
                    for beside in ["", ".manifest-sha256.txt", ".sha256"] {
                        let name = format!("x{ending}{beside}");
                        fs::remove_file(disk.path().join(name)).unwrap();
                    }
                }
                Some(2) => refused += 1,
                _ => panic!("{}", ran.said()),
            }
            assert_eq!(names_in(disk.path()), ["fill"], "{fill}");
        }
        assert!(refused >= 18 && made >= 1, "{ending} {refused} {made}");
    }
}

#[test]
fn a_disk_that_fills_while_unpacking_leaves_only_complete_files() {
    let Some(disk) = Disk::mount("1m") else { return };
    let mut experiment = Experiment::new().file("z.bin", noise(1, 900_000));
    for index in 0..10 {
        experiment = experiment.file(&format!("{index}.bin"), noise(index, 90_000));
    }
    let source = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    for ending in [".zip", ".tar", ".tar.gz", ".tar.zst"] {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        let into = disk.path().join("into");
        extract(&archive, &into, &[]).exits(2).says(&["No space left"]);
        for (name, content) in read_tree(&into) {
            assert!(!is_unfinished(&name), "{name}");
            let is_generated = name.starts_with("manifest");
            assert!(is_generated || content == source[&name], "{name} is not complete");
        }
        fs::remove_dir_all(into).unwrap();
        let out = disk.path().join("out.bin");
        fs::write(disk.path().join("fill"), vec![0; 500_000]).unwrap();
        let option = ["z.bin", "-o", out.to_str().unwrap()];
        ra("get", &[&archive], &option).exits(2).says(&["No space left"]);
        assert_eq!(names_in(disk.path()), ["fill"]);
        fs::remove_file(disk.path().join("fill")).unwrap();
    }
}

#[test]
fn a_full_disk_is_reported_with_the_name_of_the_output() {
    let Some(disk) = Disk::mount("64k") else { return };
    let scratch = TempDir::new().unwrap();
    let values = noise(1, 100_000);
    let experiment = Experiment::new().array("a.ra", UINT8, &[100, 1000], &values).describe(
        "a.yaml",
        "[100, 1000]",
        "uint8",
    );
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    let log = scratch.path().join("log.jsonl");
    ra("verify", &[&archive], &["--log", log.to_str().unwrap()]).exits(0);
    // The page is larger than the piece in which it is written.
    let title = "x".repeat(300_000);
    let named = Experiment::new().file("README.txt", title);
    let large = pack(&named, scratch.path(), "large.zip", &[]);
    let out = |name: &str| disk.path().join(name).to_str().unwrap().to_owned();
    fs::write(disk.path().join("fill"), vec![0; 65_536]).unwrap();
    for (command, target, name, options) in [
        ("report", &archive, "r.html", &["-o"][..]),
        ("report", &large, "r.html", &["-o"]),
        ("audit", &log, "a.html", &["--html"]),
        ("refs", &archive, "r.json", &["-o"]),
        ("manifest", &archive, "m.txt", &["-o"]),
        ("plot", &archive, "p.svg", &["a", "-o"]),
        ("plot", &archive, "p.png", &["a", "-o"]),
        ("get", &archive, "g.ra", &["a", "-o"]),
        ("get", &archive, "g.npy", &["a", "-o"]),
        ("get", &archive, "g.csv", &["a", "-o"]),
        ("get", &archive, "g.png", &["a", "-o"]),
        ("get", &archive, "g.raw", &["a", "--format=raw", "-o"]),
    ] {
        let name = out(name);
        let options: Vec<_> = options.iter().copied().chain([&*name]).collect();
        let ran = ra(command, &[target], &options).exits(2);
        ran.says(&[&format!("cannot write `{name}`: No space left")]);
        assert_eq!(names_in(disk.path()), ["fill"], "{command} {name}");
    }
}

/// `ulimit -f` in a shell: the system kills a program that does not handle the signal.
#[test]
fn a_file_size_limit_is_an_error_and_leaves_nothing() {
    let scratch = TempDir::new().unwrap();
    let experiment = Experiment::new().file("a.bin", noise(1, 900_000)).file("b.txt", "small");
    let archive = pack(&experiment, scratch.path(), "whole.zip", &[]);
    let limited = |line: &str| {
        let ra_pack = ra_pack().get_program().to_owned();
        let line = format!("ulimit -f 100; exec \"$0\" {line}");
        let mut command = Command::new("sh");
        command.args(["-c", &line]).arg(ra_pack).arg(experiment.path()).current_dir(scratch.path());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
        assert!(said.contains("File too large"), "{line}: {said}");
        said
    };
    let kept = names_in(scratch.path());
    for name in ["x.zip", "x.tar", "x.tar.gz", "x.tar.zst"] {
        assert!(limited(&format!("create \"$1\" -o {name}")).contains(name));
        assert_eq!(names_in(scratch.path()), kept, "{name}");
    }
    assert!(limited("get whole.zip a.bin -o out.bin").contains("out.bin"));
    assert_eq!(names_in(scratch.path()), kept);
    assert!(limited("extract whole.zip -C into").contains("a.bin"));
    for name in read_tree(&scratch.path().join("into")).into_keys() {
        assert!(!is_unfinished(&name) && name != "a.bin", "{name}");
    }
    fs::remove_file(archive).unwrap();
}
