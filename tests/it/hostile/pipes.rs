//! Pipes instead of files: no command waits for data from one.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT32, ra_pack};
use crate::run::pack;

/// Longest time of a run, far more than needed.
const TIME: Duration = Duration::from_secs(20);

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Runs a command and kills it if it waits, which gives no exit status.
fn killed_when_it_waits(arguments: &[&str], directory: &Path) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        ra_pack().args(arguments).current_dir(directory).timeout(TIME).output().unwrap();
    let said = String::from_utf8_lossy(&stdout) + String::from_utf8_lossy(&stderr);
    (status.code(), said.into_owned())
}

fn experiment() -> Experiment {
    Experiment::new().array("a.ra", FLOAT32, &[2], &[0; 8]).describe("a.yaml", "[2]", "float32")
}

#[test]
fn no_command_waits_for_a_pipe_next_to_an_archive() {
    if !crate::foreign::installed(&["mkfifo"]) {
        return;
    }
    let scratch = TempDir::new().unwrap();
    pack(&experiment(), scratch.path(), "x.zip", &["--no-external-manifest"]);
    for beside in ["x.zip.manifest-sha256.txt", "x.zip.sha256", "x.zip.manifest-sha256.txt.minisig"]
    {
        make_pipe(&scratch.path().join(beside));
        for words in [
            "verify x.zip",
            "verify --fast x.zip",
            "list x.zip",
            "info x.zip",
            "info x.zip a.ra",
            "show x.zip a.ra",
            "get x.zip a.ra",
            "extract x.zip -C out --force",
            "describe x.zip",
            "diff x.zip x.zip",
            "report x.zip -o x.html --force",
            "plot x.zip a.ra -o x.png --force",
            "convert x.zip out.npz --force",
            "manifest x.zip",
            "manifest --check x.zip",
        ] {
            let words: Vec<_> = words.split(' ').collect();
            let (code, said) = killed_when_it_waits(&words, scratch.path());
            assert!(code.is_some(), "{beside}: {words:?} waits");
            if code != Some(0) && !beside.ends_with("minisig") {
                assert_eq!(code, Some(2), "{beside}: {words:?}: {said}");
                assert!(
                    said.contains(beside) && said.contains("it is a pipe"),
                    "{words:?}: {said}"
                );
            }
        }
        let (code, _) = killed_when_it_waits(&["verify", "x.zip"], scratch.path());
        assert_eq!(code, Some(if beside.ends_with("minisig") { 0 } else { 2 }), "{beside}");
        fs::remove_file(scratch.path().join(beside)).unwrap();
    }
}

#[test]
fn no_command_waits_for_a_given_pipe() {
    if !crate::foreign::installed(&["mkfifo"]) {
        return;
    }
    let scratch = TempDir::new().unwrap();
    for name in ["p.zip", "p.tar.gz", "p.ra", "p.yaml", "p.npy", "p.npz", "p.ds", "p.png", "p"] {
        let name = &format!("./{name}");
        make_pipe(&scratch.path().join(name));
        for words in [
            &["verify", name][..],
            &["list", name],
            &["info", name],
            &["show", name],
            &["get", name, "a.ra"],
            &["extract", name],
            &["describe", name],
            &["describe", "--update", name],
            &["validate", name],
            &["diff", name, name],
            &["report", name, "-o", "p.html"],
            &["plot", name, "-o", "o.png"],
            &["convert", name, "o.ra"],
            &["manifest", name],
            &["manifest", "--check", name],
            &["reshape", name, "2"],
            &["create", name, "-o", "o.zip"],
        ] {
            let (code, said) = killed_when_it_waits(words, scratch.path());
            assert_eq!(code, Some(2), "{words:?}: {said}");
        }
    }
}

#[test]
fn no_command_waits_for_a_pipe_in_a_directory() {
    if !crate::foreign::installed(&["mkfifo"]) {
        return;
    }
    let experiment = experiment();
    let directory = experiment.path();
    let names = [
        "a.ra",
        "a.yaml",
        "b.yml",
        "manifest.yaml",
        "manifest-sha256.txt",
        "notes.txt",
        "bagit.txt",
    ];
    for name in names {
        let path = directory.join(name);
        let before = fs::read(&path).ok();
        if before.is_some() {
            fs::remove_file(&path).unwrap();
        }
        make_pipe(&path);
        for words in [
            "verify .",
            "list .",
            "info .",
            "show . a.ra",
            "get . a.ra",
            "extract . -C out",
            "describe .",
            "describe --update .",
            "describe --write .",
            "validate .",
            "validate a.yaml",
            "info a.ra",
            "diff . .",
            "report . -o x.html --force",
            "manifest .",
            "manifest --write . --force",
            "manifest --check .",
            "create . -o ../x.zip",
        ] {
            let words: Vec<_> = words.split(' ').collect();
            let (code, said) = killed_when_it_waits(&words, directory);
            assert!(code.is_some(), "{name}: {words:?} waits: {said}");
        }
        drop(fs::remove_file(&path));
        for made in ["x.html", "manifest-sha256.txt"] {
            drop(fs::remove_file(directory.join(made)));
        }
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
    }
}

/// `--manifest <(…)` in a shell: the given file may be a pipe, which is read once.
#[test]
fn a_manifest_may_be_read_from_a_pipe() {
    let scratch = TempDir::new().unwrap();
    pack(&experiment(), scratch.path(), "x.zip", &[]);
    let manifest = fs::read(scratch.path().join("x.zip.manifest-sha256.txt")).unwrap();
    let reversed: Vec<u8> =
        manifest.split_inclusive(|byte| *byte == b'\n').rev().flatten().copied().collect();
    let mut other = manifest.clone();
    other[0] ^= 1;
    // In the usual order, in another order, and with a wrong digest.
    for (text, status) in [(&manifest, 0), (&reversed, 0), (&other, 1)] {
        for command in [&["verify"][..], &["manifest", "--check"]] {
            let mut run = ra_pack();
            run.args(command).args(["x.zip", "--manifest", "/dev/stdin"]);
            let run = run.current_dir(scratch.path()).write_stdin(text.clone()).timeout(TIME);
            let output = run.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(status), "{said}");
            assert_eq!(said.matches("MAN006").count(), usize::try_from(status).unwrap(), "{said}");
        }
    }
}
