//! `ra-pack list`: tables, trees and lists of members.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::bytes::{part, tar, with_manifest, zip};
use crate::experiment::{Experiment, UINT8, read_tree};
use crate::run::{ENDINGS, extract, is_array, pack, ra, run_into_closed_pipe};

/// Returns the words of each line of the table.
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
        let ran = ra("list", &[&archive], &["--all"]).exits(0);
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
            "run2/quality.ra 61 B enum of uint8 [/time 5]",
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
fn the_table_omits_descriptions_and_manifests() {
    let experiment = Experiment::standard().file("settings.yaml", "gain: 3\n");
    let scratch = TempDir::new().unwrap();
    for layout in ["plain", "bagit"] {
        let name = format!("{layout}.zip");
        let archive = pack(&experiment, scratch.path(), &name, &["--layout", layout]);
        let names = |options: &[&str]| {
            let table = table(&ra("list", &[&archive], options).exits(0).out);
            table.into_iter().map(|line| line[0].clone()).collect::<Vec<_>>()
        };
        let shown = names(&[]);
        let source = read_tree(experiment.path());
        let is_own = |name: &String| {
            let stem = name.trim_end_matches(".yaml").trim_end_matches(".yml");
            stem == name || !source.contains_key(&format!("{stem}.ra"))
        };
        let mut own: Vec<_> = source.keys().filter(|name| is_own(name)).cloned().collect();
        if layout == "bagit" {
            // A bag cannot hold an empty directory.
            own.retain(|name| !name.ends_with('/'));
        }
        let own = own.iter().map(|name| name.split(' ').next().unwrap().to_owned());
        let shown: Vec<_> = shown.into_iter().filter(|name| !name.ends_with('/')).collect();
        assert_eq!(shown, own.filter(|name| !name.ends_with('/')).collect::<Vec<_>>(), "{layout}");
        assert!(names(&["--all"]).len() > shown.len() + 10);
        assert_eq!(names(&["time.*"]), ["time.ra"]);
        assert_eq!(names(&["-a", "time.*"]), ["time.ra", "time.yaml"]);
        // A pattern shows them.
        assert_eq!(names(&["time.yaml"]), ["time.yaml"]);
        assert_eq!(names(&["manifest-sha256.txt"]), ["manifest-sha256.txt"]);
        // Lists for programs are complete.
        let count = names(&["--all"]).len();
        assert_eq!(names(&["--names"]).len(), count);
        let json = ra("list", &[&archive], &["--json"]).exits(0).json();
        assert_eq!(json["members"].as_array().unwrap().len(), count);
    }
}

#[test]
fn json_has_the_content_of_the_table() {
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
        assert_eq!((&member["kind"], &member["bytes"]), (&kind.into(), &content.len().into()));
        assert_eq!(member["array"].is_object(), is_array(name), "{name}");
        if member["method"] == "stored" {
            assert_eq!(member["packed_bytes"], member["bytes"]);
        } else {
            assert_eq!(member["method"], "deflate");
            assert!(member["packed_bytes"].as_u64() < member["bytes"].as_u64());
        }
    }
    let array = &members.iter().find(|member| member["name"] == "run2/counts.ra").unwrap()["array"];
    assert_eq!(array["type"], "int16");
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
        ra("list", &[&archive], &["no such*"]).exits(2).says(&["matches `no such*`"]);
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
        // An archive has no entries for directories that are not empty.
        lines.filter(|line| !line[0].ends_with('/')).collect::<Vec<_>>()
    };
    let of_archive = strip(ra("list", &[&archive], &[]).exits(0).out);
    assert_eq!(strip(ra("list", &[into.path()], &[]).exits(0).out), of_archive);
}

#[test]
fn undescribed_and_unreadable_arrays_are_marked() {
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
fn errors_in_the_container_are_reported() {
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
fn a_closed_pipe_causes_no_message() {
    let experiment = Experiment::standard();
    let ran = run_into_closed_pipe([OsStr::new("list"), experiment.path().as_ref()]);
    assert_eq!(ran.exits(0).err, "");
}

/// Returns the lines of the output.
fn lines(out: &[u8]) -> Vec<String> {
    String::from_utf8(out.to_vec()).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_tree_shows_each_directory_with_its_totals() {
    let experiment = Experiment::new()
        .array("a/b/one.ra", UINT8, &[2, 3], &[0; 6])
        .array("a/b/two.ra", UINT8, &[2], &[0; 2])
        .array("a-b/x.ra", UINT8, &[2], &[0; 2])
        .array("top.ra", UINT8, &[2], &[0; 2])
        .empty_directory("empty")
        .file("a.txt", "a");
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &["--describe"]);
    let shown = |target: &Path, options: &[&str]| {
        let ran = ra("list", &[target, Path::new("--tree")], options).exits(0);
        let lines = lines(&ran.out);
        let squeeze = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.iter().map(squeeze).collect::<Vec<_>>()
    };
    let expected = [
        "├── a/b/ 128 B 2 arrays",
        "│ ├── one.ra 70 B uint8 [2, 3] not described",
        "│ └── two.ra 58 B uint8 [2] not described",
        "├── a-b/ 58 B 1 array",
        "│ └── x.ra 58 B uint8 [2] not described",
        "├── a.txt 1 B",
        "├── empty/",
        "└── top.ra 58 B uint8 [2] not described",
    ];
    let of_directory = shown(experiment.path(), &[]);
    assert!(of_directory[0].ends_with(" 245 B 4 arrays"), "{}", of_directory[0]);
    assert_eq!(of_directory[1..], expected);
    // Directories without an entry in the archive are shown, too.
    let arrays = shown(&archive, &["--arrays"]);
    assert!(arrays[0].ends_with("x.zip 244 B 4 arrays"), "{}", arrays[0]);
    let names = arrays[1..].iter().map(|line| line.split(" uint8").next().unwrap());
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "├── a/b/ 128 B 2 arrays",
            "│ ├── one.ra 70 B",
            "│ └── two.ra 58 B",
            "├── a-b/ 58 B 1 array",
            "│ └── x.ra 58 B",
            "└── top.ra 58 B",
        ]
    );
    // The tree has all members, with any names.
    let parts = ["a/a/a/a", "a", "a/a", "/x", "b//c", "b", "é/ü", "a/a/b"];
    let parts = with_manifest(parts.iter().map(|name| part(name, "x")).collect());
    let odd = scratch.path().join("odd.zip");
    fs::write(&odd, zip(&parts)).unwrap();
    let drawn = lines(&ra("list", &[&odd], &["--tree", "--all"]).out);
    let files = drawn.iter().filter(|line| line.contains(" B") && !line.contains("array"));
    assert_eq!(files.count(), parts.len(), "{drawn:#?}");
}

#[test]
fn members_are_sorted() {
    let experiment = Experiment::standard();
    let names = |options: &[&str]| lines(&ra("list", &[experiment.path()], options).exits(0).out);
    let sizes = |options: &[&str]| {
        let json = ra("list", &[experiment.path(), Path::new("--json")], options).exits(0).json();
        let members = json["members"].as_array().unwrap().iter();
        members.map(|member| member["bytes"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let by_name = names(&["--names"]);
    assert!(by_name.is_sorted());
    let mut backwards = names(&["--names", "--reverse"]);
    backwards.reverse();
    assert_eq!(backwards, by_name);
    assert!(sizes(&["--sort", "size"]).is_sorted_by(|one, other| one >= other));
    assert!(sizes(&["--sort", "packed", "-r"]).is_sorted());
    let by_type = names(&["--names", "--sort", "type"]);
    let first_other = by_type.iter().position(|name| !is_array(name)).unwrap();
    assert!(by_type[first_other..].iter().all(|name| !is_array(name)));
    assert_eq!(by_type[..first_other], names(&["--names", "--sort", "type", "--arrays"]));
}

#[test]
fn lists_of_names_are_for_other_programs() {
    let experiment = Experiment::standard().file("two\nlines.txt", "x");
    let ran = ra("list", &[experiment.path()], &["-0"]).exits(0);
    let names: Vec<_> = ran.out.split(|byte| *byte == 0).collect();
    assert_eq!(names.last(), Some(&&b""[..]));
    assert!(names.contains(&&b"two\nlines.txt"[..]));
    let listed = lines(&ra("list", &[experiment.path()], &["--names"]).exits(0).out);
    assert_eq!(listed.len(), names.len() - 1);
    assert!(listed.contains(&"two\\nlines.txt".to_owned()));
    assert!(listed.contains(&"run2/nothing yet/".to_owned()));
    for options in [["--names", "--json"], ["-0", "--long"], ["--tree", "--json"]] {
        ra("list", &[experiment.path()], &options).exits(2);
    }
}

#[test]
fn the_long_table_shows_offsets_and_digests() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    let tree = read_tree(experiment.path());
    for (name, layout) in [("x.zip", "plain"), ("x.tar", "plain"), ("b.zip", "bagit")] {
        let archive = pack(&experiment, scratch.path(), name, &["--layout", layout]);
        let bytes = fs::read(&archive).unwrap();
        let json = ra("list", &[&archive], &["--long", "--json"]).exits(0).json();
        let mut looked_at = 0;
        for member in json["members"].as_array().unwrap() {
            let Some(content) = tree.get(member["name"].as_str().unwrap()) else { continue };
            let digest = ra_pack::digest::Digest::sha256(content).to_string();
            assert_eq!(member["sha256"], digest.as_str());
            let dims = member["array"]["shape"].as_array();
            let header = dims.map_or(0, |dims| 48 + 8 * dims.len());
            let at = usize::try_from(member["archive_data_offset"].as_u64().unwrap()).unwrap();
            assert!(bytes[at..].starts_with(&content[header..]), "{member}");
            looked_at += 1;
        }
        assert!(looked_at > 10, "{name}: {json}");
        let table = String::from_utf8(ra("list", &[&archive], &["-l"]).exits(0).out).unwrap();
        let digest = ra_pack::digest::Digest::sha256(&tree["run1/gain.ra"]).to_string();
        assert!(table.contains(&digest), "a digest is complete in a pipe:\n{table}");
    }
    let deflated = pack(&experiment, scratch.path(), "d.zip", &["--compression", "deflate"]);
    let ran = ra("list", &[&deflated], &["--long", "--all", "*.txt"]).exits(0);
    assert!(ran.said().contains("deflate "), "{}", ran.said());
    // Without a manifest, there is no digest.
    let json = ra("list", &[experiment.path()], &["--long", "--json"]).exits(0).json();
    assert!(json["members"][0].get("sha256").is_none());
    assert!(json["members"][0].get("archive_data_offset").is_none());
}

#[test]
fn names_of_wide_characters_are_aligned() {
    let experiment = Experiment::new()
        .array("温度計.ra", UINT8, &[2], &[1, 2])
        .array("depth.ra", UINT8, &[2], &[1, 2])
        .array("e\u{301}.ra", UINT8, &[2], &[1, 2]);
    let lines = lines(&ra("list", &[experiment.path()], &[]).exits(0).out);
    assert_eq!(
        lines,
        [
            "depth.ra   58 B  uint8  [2]  not described",
            "e\u{301}.ra       58 B  uint8  [2]  not described",
            "温度計.ra  58 B  uint8  [2]  not described",
        ]
    );
}
