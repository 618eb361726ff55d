//! `ra-pack info`: facts about an array or a pack, and shell commands that work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::bytes::{part, with_manifest, zip};
use crate::experiment::{
    COMPLEX64, Element, Experiment, FLOAT16, FLOAT32, FLOAT64, INT16, INT64, UINT8, le, ra_pack,
    raw_array, read_tree,
};
use crate::foreign::installed;
use crate::run::{create, extract, pack, ra};

/// An array, its bytes from the beginning of the data, and the numbers that `od` shows.
struct Known {
    name: &'static str,
    file: Vec<u8>,
    data: Vec<u8>,
    shown: Vec<f64>,
}

fn known(
    name: &'static str,
    element: Element,
    dims: &[u64],
    data: Vec<u8>,
    shown: &[f64],
) -> Known {
    Known { name, file: raw_array(element, dims, &data), data, shown: shown.to_vec() }
}

/// Arrays of several types and both byte orders, with names that a shell must quote.
fn all_known() -> Vec<Known> {
    let numbers: Vec<f64> = (0..40_i16).map(|n| f64::from(n) * 0.5 - 3.0).collect();
    let first = |count: usize| &numbers[..count];
    let doubles = le(f64::to_le_bytes, numbers.clone());
    let shorts: Vec<i16> = (0..40).map(|n| n * 700 - 9000).collect();
    let of_shorts: Vec<f64> = shorts.iter().map(|n| f64::from(*n)).collect();
    let singles: Vec<f32> = [1.5, -2.0, 0.25, 8.0, 3.0, 4.0].to_vec();
    let of_singles: Vec<f64> = singles.iter().map(|n| f64::from(*n)).collect();
    let longs = [i64::MIN / 2, 5, -1];
    let mut big =
        known("big endian.ra", INT16, &[3], vec![1, 0, 0, 2, 255, 255], &[256.0, 2.0, -1.0]);
    big.file[8] = 1;
    vec![
        known("a/double.ra", FLOAT64, &[8, 5], doubles, first(8)),
        known("it's.ra", INT16, &[40], le(i16::to_le_bytes, shorts.clone()), &of_shorts[..32]),
        known("$(false).ra", FLOAT32, &[6], le(f32::to_le_bytes, singles.clone()), &of_singles),
        known("complex.ra", COMPLEX64, &[3], le(f32::to_le_bytes, singles.clone()), &of_singles),
        known("a/größe.ra", UINT8, &[3], vec![7, 0, 255], &[7.0, 0.0, 255.0]),
        known(
            "long.ra",
            INT64,
            &[3],
            le(i64::to_le_bytes, longs),
            &[-4_611_686_018_427_387_904.0, 5.0, -1.0],
        ),
        known("scalar.ra", FLOAT64, &[], le(f64::to_le_bytes, [2.5]), &[2.5]),
        known("none.ra", FLOAT64, &[3, 0], Vec::new(), &[]),
        big,
    ]
}

/// Returns the shell commands in the text output.
fn pasted(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != "read it without ra-pack").skip(1);
    let lines = lines.take_while(|line| !line.is_empty()).map(|line| line.trim_start().to_owned());
    lines.filter(|line| !line.starts_with('#')).collect()
}

/// Runs a shell command in `home` and returns its output.
fn shell(line: &str, home: &Path) -> Vec<u8> {
    let binary = PathBuf::from(ra_pack().get_program());
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let mut shell = Command::new("sh");
    let ran = shell.args(["-c", line]).current_dir(home).env("PATH", path).output().unwrap();
    assert!(ran.status.success(), "{line}\n{}", String::from_utf8_lossy(&ran.stderr));
    ran.stdout
}

/// Returns the numbers that `od -A d` shows.
fn numbers(od: &[u8]) -> Vec<f64> {
    let text = String::from_utf8(od.to_vec()).unwrap();
    let rows = text.lines().map(|line| line.split_whitespace().skip(1));
    rows.flatten().map(|number| number.parse().unwrap()).collect()
}

/// Runs the commands printed by `info`, and checks their output.
fn try_lines(info: &[&str], known: &Known, home: &Path) {
    let ran = ra_pack().arg("info").args(info).current_dir(home).output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{info:?}: {}", String::from_utf8_lossy(&ran.stderr));
    let lines = pasted(&text);
    assert_eq!(lines.len(), if known.data.is_empty() { 1 } else { 2 }, "{text}");
    for line in lines {
        let out = TempDir::new_in(home).unwrap();
        if line.contains("od -v") {
            assert_eq!(numbers(&shell(&line, home)), known.shown, "{info:?}: {line}");
        } else if line.starts_with("dd ") {
            let before: Vec<_> = fs::read_dir(home).unwrap().collect();
            shell(&line, home);
            let made = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path());
            let made: Vec<_> =
                made.filter(|path| path.extension().is_some_and(|end| end == "raw")).collect();
            assert_eq!(made.len(), 1, "{line}: {before:?}");
            assert_eq!(fs::read(&made[0]).unwrap(), known.data, "{line}");
            fs::remove_file(&made[0]).unwrap();
        } else {
            shell(&line, home);
            let data = fs::read(home.join("data.raw")).unwrap();
            let mut expected = known.data.clone();
            // `get` writes little-endian elements.
            if known.file[8] == 1 {
                expected.chunks_mut(2).for_each(<[u8]>::reverse);
            }
            assert_eq!(data, expected, "{line}");
            fs::remove_file(home.join("data.raw")).unwrap();
        }
        drop(out);
    }
}

#[test]
#[ignore = "slow"]
#[cfg(target_os = "linux")]
fn the_od_and_dd_commands_read_the_elements() {
    if !installed(&["sh", "od", "dd", "unzip", "tar"]) {
        return;
    }
    let all = all_known();
    let experiment = all
        .iter()
        .fold(Experiment::new(), |experiment, known| experiment.file(known.name, &known.file));
    let home = TempDir::new().unwrap();
    let packs: [(&str, &[&str]); 7] = [
        ("x.zip", &[]),
        ("two words.zip", &[]),
        ("bag.zip", &["--layout", "bagit"]),
        ("x.tar", &[]),
        ("bag.tar", &["--layout", "bagit"]),
        ("packed.zip", &["--compression", "deflate"]),
        ("x.tar.gz", &[]),
    ];
    for (name, options) in packs {
        let options = [options, &["--describe"]].concat();
        create(experiment.path(), &home.path().join(name), &options).exits(0);
    }
    extract(&home.path().join("x.zip"), &home.path().join("-tree"), &[]).exits(0);
    for known in &all {
        for (name, _) in packs {
            try_lines(&[name, known.name], known, home.path());
        }
        try_lines(&["./-tree", known.name], known, home.path());
        try_lines(&[&format!("./-tree/{}", known.name)], known, home.path());
    }
}

#[test]
fn elements_that_od_cannot_read_are_noted() {
    let lz4 = {
        let mut file = raw_array(UINT8, &[4], &[1, 2, 3, 4]);
        file[8] = 2;
        file
    };
    let experiment = Experiment::new()
        .array("half.ra", FLOAT16, &[2], &[0, 60, 0, 64])
        .array("user.ra", Element(0, 24), &[2], &[3; 48])
        .file("encoded.ra", lz4);
    let info = |name: &str| {
        String::from_utf8(ra("info", &[experiment.path()], &[name]).exits(0).out).unwrap()
    };
    let half = info("half.ra");
    assert!(half.contains("-t x2 --endian=little") && half.contains("-t fH"), "{half}");
    let user = info("user.ra");
    assert!(user.contains("-t x1 -w24 -j 56 -N 48"), "{user}");
    let encoded = info("encoded.ra");
    assert!(encoded.contains("ra-pack get") && !encoded.contains("od -v"), "{encoded}");
}

#[test]
fn each_header_field_has_its_offset_and_value() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    let bytes = fs::read(&archive).unwrap();
    let name = "run1/temperature.ra";
    let json = ra("info", &[&archive], &[name, "--json"]).exits(0).json();
    let at = |key: &str| usize::try_from(json[key].as_u64().unwrap()).unwrap();
    let file = &read_tree(experiment.path())[name];
    assert!(bytes[at("archive_header_offset")..].starts_with(file));
    assert_eq!(at("archive_data_offset") - at("archive_header_offset"), at("data_offset"));
    let text = String::from_utf8(ra("info", &[&archive], &[name]).exits(0).out).unwrap();
    let rows = text.lines().skip_while(|line| *line != "header").skip(1);
    for row in rows.take_while(|line| !line.is_empty()) {
        let mut words = row.split_whitespace();
        let at: usize = words.next().unwrap().parse().unwrap();
        let field = words.next().unwrap();
        let word: [u8; 8] = file[at..at + 8].try_into().unwrap();
        match words.next().and_then(|value| value.parse::<u64>().ok()) {
            _ if field == "magic" => assert_eq!(&word, b"rawarray"),
            Some(value) if field.parse::<u64>().is_err() => {
                assert_eq!(value, u64::from_le_bytes(word), "{row}");
            }
            // The second length has no field name.
            _ => assert_eq!(field.parse(), Ok(u64::from_le_bytes(word)), "{row}"),
        }
    }
    for expected in ["depth", "changes fastest", "in ", "sha256 ", "ndarrays:"] {
        assert!(text.contains(expected), "no {expected} in:\n{text}");
    }
}

#[test]
fn a_pack_is_summarized() {
    let coordinate = "dimcoords:\n  time:\n    type: float64\n    size: 3\n    value: [0.5, 1, 9]\n    \
                      attributes: {units: h}\n";
    let experiment = Experiment::new()
        .array("time.ra", FLOAT64, &[3], &le(f64::to_le_bytes, [0.5, 1.0, 9.0]))
        .file("time.yaml", coordinate)
        .array("a/one.ra", UINT8, &[3], &[0; 3])
        .describe("a/one.yaml", "[time]", "uint8")
        .array("a/two.ra", UINT8, &[3, 3], &[0; 9])
        .describe("a/two.yaml", "[time, time]", "uint8")
        .array("b/three.ra", UINT8, &[1], &[0; 1])
        .file("note.txt", "note");
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &["--describe"]);
    assert_eq!(ra("info", &[&archive], &[]).exits(0).said().matches("uint8").count(), 1);
    let info = ra("info", &[experiment.path()], &["--json"]).exits(1).json();
    assert_eq!(info["undescribed"], 1);
    let info = ra("info", &[&archive], &["--json"]).exits(0).json();
    for (key, expected) in [("arrays", 4), ("groups", 3), ("array_bytes", 80 + 59 + 73 + 57)] {
        assert_eq!(info[key], expected, "{key}");
    }
    let time = &info["coordinates"][0];
    assert_eq!(info["coordinates"].as_array().unwrap().len(), 1);
    assert_eq!((&time["name"], &time["length"]), (&"/time".into(), &3.into()));
    assert_eq!((&time["units"], &time["arrays"]), (&"h".into(), &2.into()));
    assert_eq!((&time["first"], &time["last"]), (&"0.5".into(), &"9".into()));
    let files = info["files"].as_u64().unwrap();
    let manifests = info["manifests"].as_array().unwrap();
    assert_eq!(manifests.len(), 2);
    for manifest in manifests {
        assert_eq!(
            (&manifest["algorithm"], &manifest["entries"]),
            (&"sha256".into(), &(files - 1).into())
        );
        assert_eq!(
            manifest.get("agrees"),
            manifest["outside"].as_bool().unwrap().then_some(&Value::from(true))
        );
    }
    ra("info", &[&archive], &[]).exits(0).says(&[
        "4 arrays",
        "in 3 groups",
        "float64  1",
        "uint8    3",
        "/time",
        "[h]",
        "0.5 … 9",
        "used by 2 arrays",
        "agrees with the one inside",
        "ra-pack verify ",
    ]);
}

#[test]
fn manifests_that_contradict_the_directory_or_one_another_are_found() {
    let experiment =
        Experiment::new().array("a.ra", UINT8, &[2], &[1, 2]).describe("a.yaml", "[2]", "uint8");
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    let outside = scratch.path().join("x.zip.manifest-sha256.txt");
    let text = fs::read_to_string(&outside).unwrap();
    fs::write(&outside, text.replacen(|digit: char| digit.is_ascii_digit(), "a", 1)).unwrap();
    ra("info", &[&archive], &[]).exits(1).says(&["MAN006", "DISAGREES"]);
    // One file is listed and missing, another exists and is not listed.
    let parts = with_manifest(vec![part("a.txt", "x"), part("b.txt", "y")]);
    let without_b: Vec<_> = parts.into_iter().filter(|part| part.name != "b.txt").collect();
    let odd = scratch.path().join("odd.zip");
    let added = without_b.into_iter().chain([part("c.txt", "z")]).collect::<Vec<_>>();
    fs::write(&odd, zip(&added)).unwrap();
    ra("info", &[&odd], &[]).exits(1).says(&["b.txt", "c.txt", "2 errors, listed above"]);
    // A missing manifest is not an error here.
    ra("info", &[experiment.path()], &[]).exits(0).says(&["none; contents cannot be verified"]);
}

#[test]
fn no_data_is_read() {
    let experiment = Experiment::standard();
    for name in ["x.zip", "x.tar", "bag.zip"] {
        let scratch = TempDir::new().unwrap();
        let layout = if name == "bag.zip" { "bagit" } else { "plain" };
        let archive = pack(&experiment, scratch.path(), name, &["--layout", layout]);
        let listed = ra("list", &[&archive], &["--json", "--long"]).exits(0).json();
        let arrays = listed["members"].as_array().unwrap().iter();
        let arrays: Vec<_> = arrays.filter(|member| member["array"].is_object()).collect();
        let said = || {
            let mut said = vec![
                ra("list", &[&archive], &["--json", "--long"]).exits(0).out,
                ra("info", &[&archive], &[]).exits(0).out,
            ];
            for member in &arrays {
                let member = member["name"].as_str().unwrap();
                said.push(ra("info", &[&archive], &[member]).exits(0).out);
            }
            said
        };
        let before = said();
        let mut bytes = fs::read(&archive).unwrap();
        for member in &arrays {
            let number = |key: &str| usize::try_from(member[key].as_u64().unwrap()).unwrap();
            let dims = member["array"]["shape"].as_array().unwrap().len();
            let (start, len) = (number("archive_data_offset"), number("bytes") - 48 - 8 * dims);
            bytes[start..start + len].iter_mut().for_each(|byte| *byte ^= 0x55);
        }
        fs::write(&archive, bytes).unwrap();
        assert!(before == said(), "{name}");
        ra("verify", &[&archive], &[]).exits(1);
    }
}

#[test]
fn files_of_other_formats_are_to_be_converted() {
    let experiment = Experiment::new().file("a.npy", "").file("b c.npz", "").file("d.png", "");
    let ran = ra("info", &[&experiment.path().join("d.png")], &[]).exits(2);
    // `show` does not read pictures.
    assert!(!ran.said().contains("ra-pack show"), "{}", ran.said());
    ran.says(&["ra-pack convert ", "d.ra"]);
    let ran = ra("info", &[&experiment.path().join("b c.npz")], &["x"]).exits(1);
    ran.says(&["b c.npz", "expected the directory of a zip"]);
    ra("info", &[&experiment.path().join("a.npy")], &[]).exits(1).says(&["a.npy", "byte 0"]);
}

#[test]
fn types_have_the_names_that_the_description_gives_them() {
    let text = "ndarrays:\n  t:\n    shape: [2]\n    type: {opaque: {size: 8, tag: utf-32le}}\n";
    let home = Experiment::new().array("t.ra", Element(0, 8), &[2], &[0; 16]).file("t.yaml", text);
    ra("info", &[home.path()], &[]).exits(0).says(&["text[2]  1"]);
    let array = ra("info", &[&home.path().join("t.ra")], &[]).exits(0);
    array.says(&["text[2] [2], 16 B", "bytes per element: text[2]"]);
    ra("diff", &[home.path(), Experiment::new().file("note", "").path()], &[])
        .exits(1)
        .says(&["- t.ra", "text[2] [2]"]);
    let json = ra("info", &[home.path()], &["--json"]).exits(0).json();
    assert_eq!(json["types"], serde_json::json!({"user8": 1}));
}
