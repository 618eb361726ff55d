//! `ra-pack list`: what is in a pack, at a glance.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::bytes::{part, tar, with_manifest, zip};
use crate::experiment::{Experiment, UINT8, read_tree};
use crate::run::{ENDINGS, extract, is_array, pack, ra};

/// The line of each member in the table, cut into words.
fn table(text: &[u8]) -> Vec<Vec<String>> {
    let text = std::str::from_utf8(text).unwrap();
    text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn every_member_is_shown_with_type_shape_order_and_size() {
    let experiment = Experiment::standard().file("time.yaml", "dimcoords:\n  time:\n    type: float64\n    size: 5\n    attributes: {long_name: time of day, units: h}\n");
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        let ran = ra("list", &[&archive], &[]).exits(0);
        assert_eq!(ran.err, "");
        let ran = ran.says(&["run1/deep/er/notes with spaces.txt", "run1/Größe ≠ 0.txt"]);
        let table = table(&ran.out);
        let line = |name: &str| table.iter().find(|line| line[0] == name).unwrap().join(" ");
        for expected in [
            "time.ra 96 B float64 [5] time of day [h]",
            "run1/temperature.ra 124 B float32 [depth 3, time 5]",
            "run1/gain.ra 56 B int64 []",
            "run1/image.ra 96 B uint8 [3, 2, 4]",
            "run2/counts.ra 94 B int16 [5, 3] row",
            "run2/none.ra 72 B float32 [4, 0, 2]",
            "run2/quality.ra 61 B uint8 [/time 5]",
            "run2/spectrum.ra 96 B complex64 [2, 2]",
            "README.txt 28 B",
            "run1/empty.log 0 B",
        ] {
            assert_eq!(line(expected.split(' ').next().unwrap()), expected, "{ending}");
        }
        let members = read_tree(experiment.path()).len() + 2;
        assert_eq!(table.len(), members, "{ending}");
        assert!(table.iter().any(|line| line.join(" ") == "run2/nothing yet/"));
    }
}

#[test]
fn json_holds_what_the_table_shows() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &["--compression", "deflate"]);
    let json = ra("list", &[&archive], &["--json"]).exits(0).json();
    assert_eq!((&json["container"], &json["layout"]), (&"zip".into(), &"plain".into()));
    let members = json["members"].as_array().unwrap();
    let names: Vec<_> = members.iter().map(|member| member["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted());
    let tree = read_tree(experiment.path());
    for (name, content) in &tree {
        let member = members.iter().find(|member| member["name"] == name.trim_end_matches('/'));
        let member = member.unwrap();
        let kind = if name.ends_with('/') { "directory" } else { "file" };
        assert_eq!((&member["kind"], &member["size"]), (&kind.into(), &content.len().into()));
        assert_eq!(member["array"].is_object(), is_array(name), "{name}");
        if member["method"] == "stored" {
            assert_eq!(member["packed_size"], member["size"]);
        } else {
            assert_eq!(member["method"], "deflate");
            assert!(member["packed_size"].as_u64() < member["size"].as_u64());
        }
    }
    let array = &members.iter().find(|member| member["name"] == "run2/counts.ra").unwrap()["array"];
    assert_eq!(array["element"], "int16");
    assert_eq!(array["shape"], Value::from(vec![5, 3]));
    assert_eq!((&array["order"], &array["described"]), (&"row".into(), &true.into()));
}

#[test]
fn patterns_choose_members_in_any_layout() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    for layout in ["plain", "bagit"] {
        let name = format!("{layout}.zip");
        let archive = pack(&experiment, scratch.path(), &name, &["--layout", layout]);
        let listed = |patterns: &[&str]| {
            let json = ra("list", &[&archive, "--json".as_ref()], patterns).exits(0).json();
            let members = json["members"].as_array().unwrap().iter();
            let names = members.map(|member| member["name"].as_str().unwrap().to_owned());
            names.map(|name| name.trim_start_matches("bagit/data/").to_owned()).collect::<Vec<_>>()
        };
        let arrays = ["depth", "gain", "image", "temperature"];
        assert_eq!(listed(&["run1/*.ra"]), arrays.map(|stem| format!("run1/{stem}.ra")));
        assert_eq!(listed(&["time.*"]), ["time.ra", "time.yaml"]);
        assert_eq!(listed(&["time.ra", "gain.*"]), ["run1/gain.ra", "run1/gain.yaml", "time.ra"]);
        assert_eq!(listed(&["deep"]), ["run1/deep/er/notes with spaces.txt"]);
        ra("list", &[&archive], &["no such*"]).exits(2).says(&["no member matches"]);
        ra("list", &[&archive], &["["]).exits(2).says(&["pattern"]);
    }
}

#[test]
fn a_directory_is_listed_like_an_archive_of_it() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.tar.gz", &[]);
    let into = TempDir::new().unwrap();
    extract(&archive, into.path(), &[]).exits(0);
    let strip = |text: Vec<u8>| {
        let lines = table(&text).into_iter();
        // What an archive keeps no entry for: a directory that holds something.
        lines.filter(|line| !line[0].ends_with('/')).collect::<Vec<_>>()
    };
    let of_archive = strip(ra("list", &[&archive], &[]).exits(0).out);
    assert_eq!(strip(ra("list", &[into.path()], &[]).exits(0).out), of_archive);
}

#[test]
fn arrays_that_are_undescribed_or_unreadable_are_shown_as_such() {
    let experiment = Experiment::new()
        .array("a.ra", UINT8, &[2, 3], &[0; 6])
        .file("b.ra", "rawarray, or not")
        .file("c.ra", "");
    let ran = ra("list", &[experiment.path()], &[]).exits(0);
    let table = table(&ran.out);
    assert_eq!(table[0].join(" "), "a.ra 70 B uint8 [2, 3] not described");
    assert!(table[1].join(" ").contains("unreadable") && table[2].join(" ").contains("unreadable"));
}

#[test]
fn what_is_wrong_with_the_container_is_a_finding() {
    let parts = with_manifest(vec![part("a.txt", "x"), part("../b", ""), part("a.txt", "y")]);
    let scratch = TempDir::new().unwrap();
    for (name, bytes) in [("x.zip", zip(&parts)), ("x.tar", tar(&parts))] {
        let archive = scratch.path().join(name);
        fs::write(&archive, bytes).unwrap();
        ra("list", &[&archive], &[]).exits(1).says(&["NAME001", "NAME002", "../b"]);
    }
    let cut = scratch.path().join("cut.zip");
    let sound = zip(&parts);
    fs::write(&cut, &sound[..sound.len() - 5]).unwrap();
    ra("list", &[&cut], &[]).exits(1).says(&["ARC001"]);
    ra("list", &[&scratch.path().join("none.zip")], &[]).exits(2).says(&["none.zip"]);
    ra("list", &[], &[]).exits(2);
}

#[test]
fn a_closed_pipe_is_quiet() {
    let experiment = Experiment::standard();
    let mut child = std::process::Command::new(crate::experiment::ra_pack().get_program())
        .arg("list")
        .arg(experiment.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stderr, b"");
    assert_eq!(output.status.code(), Some(0));
}
