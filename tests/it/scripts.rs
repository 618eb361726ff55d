//! Interfaces for scripts: the exit status of every command, lists of names, and docs/scripting.md.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::experiment::{Experiment, UINT8, ra_pack, read_tree};
use crate::help::commands;
use crate::run::{Ran, create, run};

/// A command with arguments for exit status 0, 1 and 2; empty if it has no such case. `{}` is the directory that
/// [`place`] makes.
const ENDINGS: &[(&str, &str, &str, &str)] = &[
    ("create", "{}/exp -o {}/new.zip", "{}/broken -o {}/bad.zip", "{}/exp -o {}/exp.zip"),
    (
        "add",
        "{}/exp.zip -C {}/exp a.ra --force",
        "{}/exp.zip -C {}/broken a.yaml --force",
        "{}/exp.zip -C {}/exp a.ra",
    ),
    ("convert", "{}/exp/a.ra {}/a.npy", "{}/cut.ra {}/d.npy", "{}/none.ra {}/none.npy"),
    ("verify", "{}/exp.zip", "{}/damaged.zip", "{}/damaged.zip {}/none.zip"),
    ("audit", "{}/good.jsonl", "{}/bad.jsonl", "{}/none.jsonl"),
    ("manifest", "{}/exp.zip", "{}/damaged.zip", "{}/none.zip"),
    ("list", "{}/exp.zip", "{}/no.zip", "{}/exp.zip none*"),
    ("info", "{}/exp.zip", "{}/cut.ra", "{}/exp.zip none.ra"),
    ("show", "{}/exp.zip a.ra", "{}/damaged.zip a.ra --stats", "{}/exp.zip none.ra"),
    ("plot", "{}/exp.zip a.ra -o {}/a.svg", "{}/damaged.zip a.ra -o {}/d.svg", "{}/exp.zip a.ra"),
    ("get", "{}/exp.zip a.ra -o {}/got.ra", "{}/damaged.zip a.ra -o {}/n.ra", "{}/exp.zip none.ra"),
    ("extract", "{}/exp.zip -C {}/o", "{}/damaged.zip -C {}/p", "{}/exp.zip none -C {}/q"),
    ("describe", "{}/exp", "--update {}/broken", "{}/none"),
    ("diff", "{}/exp/a.ra {}/exp/a.ra", "{}/exp/a.ra {}/exp/b.ra", "{}/exp/a.ra {}/none.ra"),
    ("refs", "{}/exp.zip -o {}/r.json", "{}/no.zip", "{}/none.zip"),
    (
        "report",
        "{}/exp.zip -o {}/r.html",
        "{}/damaged.zip -o {}/d.html",
        "{}/none.zip -o {}/n.html",
    ),
    ("reshape", "{}/exp/b.ra 1 2", "{}/cut.ra 2", "{}/exp/b.ra 3"),
    ("explain", "MAN003", "", "MAN999"),
    (
        "salvage",
        "{}/exp.zip -o {}/saved.zip",
        "{}/damaged.zip -o {}/part.zip",
        "{}/none.zip -o {}/x.zip",
    ),
    ("schema", "ndl", "", "none"),
    ("validate", "{}/exp", "{}/broken", "{}/broken {}/none"),
    ("completions", "bash", "", "csh"),
    ("man", "create", "", "none"),
];

fn place() -> TempDir {
    let scratch = TempDir::new().unwrap();
    let at = |name: &str| scratch.path().join(name);
    let write = |experiment: Experiment, name: &str| {
        for (file, bytes) in read_tree(experiment.path()) {
            let path = at(name).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    };
    let sound = || {
        Experiment::new()
            .array("a.ra", UINT8, &[4], b"data")
            .describe("a.yaml", "[4]", "uint8")
            .array("b.ra", UINT8, &[2], b"hi")
            .describe("b.yaml", "[2]", "uint8")
    };
    write(sound(), "exp");
    write(sound().describe("a.yaml", "[5]", "flaot").file("b.ra", "rawarr"), "broken");
    create(&at("exp"), &at("exp.zip"), &[]).exits(0);
    let mut bytes = fs::read(at("exp.zip")).unwrap();
    let data = bytes.windows(4).position(|window| window == b"data").unwrap();
    bytes[data] ^= 1;
    fs::write(at("damaged.zip"), bytes).unwrap();
    fs::write(at("no.zip"), "nothing of a zip").unwrap();
    for (archive, log) in [("exp.zip", "good.jsonl"), ("damaged.zip", "bad.jsonl")] {
        run(["verify".as_ref(), at(archive).as_os_str(), "--log".as_ref(), at(log).as_os_str()]);
    }
    let array = fs::read(at("exp/a.ra")).unwrap();
    fs::write(at("cut.ra"), &array[..50]).unwrap();
    scratch
}

#[test]
fn every_command_ends_with_the_documented_status() {
    let mut listed: Vec<_> = ENDINGS.iter().map(|(command, ..)| (*command).to_owned()).collect();
    let mut known = commands();
    known.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, known, "a row for each command");
    let scratch = place();
    let root = scratch.path().to_str().unwrap();
    for (command, clean, findings, failed) in ENDINGS {
        for (status, arguments) in [(0, clean), (1, findings), (2, failed)] {
            if arguments.is_empty() {
                continue;
            }
            let words = arguments.split(' ').map(|word| word.replace("{}", root));
            let ran = run(std::iter::once((*command).to_owned()).chain(words));
            assert_eq!(ran.code, Some(status), "{command} {arguments}: {}", ran.said());
            assert!(status == 0 || !ran.said().is_empty(), "{command} {arguments} says nothing");
        }
        run([command, "--no-such-option"]).exits(2);
        run([command, "--help"]).exits(0);
    }
}

fn from_stdin(arguments: &[&str], input: impl Into<Vec<u8>>) -> Ran {
    let output = ra_pack().args(arguments).write_stdin(input).output().unwrap();
    Ran {
        code: output.status.code(),
        out: output.stdout,
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
#[cfg(unix)] // names with line ends
fn targets_can_be_read_from_a_list() {
    let scratch = place();
    let at = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    let (sound, damaged, odd) = (at("exp.zip"), at("damaged.zip"), at("two\nlines.zip"));
    fs::copy(&sound, &odd).unwrap();
    let verify = ["verify", "--files-from", "-"];
    from_stdin(&verify, format!("{sound}\n\n{damaged}"))
        .exits(1)
        .says(&["2 targets: 1 valid, 1 NOT VALID"]);
    from_stdin(&verify, format!("{sound}\r\n")).exits(0).says(&["1 target: 1 valid"]);
    from_stdin(&verify, "").exits(0).says(&["0 targets"]);
    from_stdin(&verify, vec![b'a'; 70_000]).exits(2).says(&["longer than 65536 bytes"]);
    let null = ["verify", "--files-from", "-", "--null"];
    from_stdin(&null, format!("{odd}\0{sound}\0")).exits(0).says(&["2 targets: 2 valid"]);
    let list = at("list");
    fs::write(&list, format!("{}\n", at("exp"))).unwrap();
    run(["validate", "--files-from", &list, &at("broken")]).exits(1).says(&["NOT VALID"]);
    run(["validate", "--files-from", &at("none")]).exits(2).says(&["cannot open"]);
    run(["verify", "--null", &sound]).exits(2);
    run(["verify"]).exits(2);
}

#[test]
#[cfg(unix)] // names that other systems do not have
fn members_in_a_list_are_exact_names() {
    let scratch = TempDir::new().unwrap();
    let experiment = Experiment::new()
        .file("a*.txt", "star")
        .file("ab.txt", "other")
        .file("two\nlines.txt", "odd")
        .file("in/x.txt", "x")
        .file("in/y.txt", "y");
    let archive = scratch.path().join("x.zip");
    create(experiment.path(), &archive, &[]).exits(0);
    let archive = archive.to_str().unwrap();
    let extract = |options: &[&str], names: &str, into: &Path| {
        let mut arguments = vec!["extract", archive, "--files-from", "-", "-C"];
        arguments.push(into.to_str().unwrap());
        arguments.extend(options);
        from_stdin(&arguments, names)
    };
    let names = |into: &Path| read_tree(into).into_keys().collect::<Vec<_>>();
    let into = scratch.path().join("one");
    extract(&[], "a*.txt\nin/\n", &into).exits(0);
    assert_eq!(names(&into), ["a*.txt", "in/x.txt", "in/y.txt"]);
    let into = scratch.path().join("two");
    extract(&["--null"], "two\nlines.txt\0", &into).exits(0);
    assert_eq!(names(&into), ["two\nlines.txt"]);
    let into = scratch.path().join("three");
    extract(&["a?.txt"], "in/x.txt\n", &into).exits(0);
    assert_eq!(names(&into), ["a*.txt", "ab.txt", "in/x.txt"]);
    // An empty list selects nothing, not everything.
    let into = scratch.path().join("four");
    extract(&[], "", &into).exits(0).says(&["unpacked 0 files"]);
    assert!(!into.exists());
    let into = scratch.path().join("five");
    extract(&[], "ab.txt\nin/none\n", &into).exits(2).says(&["has no member `in/none`"]);
    assert!(!into.exists());
}
