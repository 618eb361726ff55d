//! `validate`, and packs described by one hand-written `manifest.yaml`.

use std::fs;
use std::path::Path;

use assert_cmd::assert::Assert;
use serde_json::Value;

use crate::experiment::{Experiment, FLOAT32, FLOAT64, INT16, UINT8, le, ra_pack};
use crate::run::{create, ra};

/// Runs `validate --json` in `directory` and returns one report per path.
fn reports(directory: &Path, args: &[&str], status: i32) -> Vec<Value> {
    let ran = ra_pack().current_dir(directory).args(["validate", "--json"]).args(args).assert();
    lines(&ran.code(status))
}

fn lines(ran: &Assert) -> Vec<Value> {
    let text = String::from_utf8(ran.get_output().stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns code, file, line and column of each finding.
fn findings(report: &Value) -> Vec<String> {
    let list = report["findings"].as_array().unwrap().iter();
    list.map(|finding| {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let place = &finding["place"];
        format!(
            "{} {}:{}:{}",
            text(&finding["code"]),
            text(&finding["member"]),
            place["line"],
            place["column"]
        )
    })
    .collect()
}

fn floats(count: u8) -> Vec<u8> {
    le(f32::to_le_bytes, (0..count).map(f32::from))
}

fn doubles(count: u8) -> Vec<u8> {
    le(f64::to_le_bytes, (0..count).map(f64::from))
}

#[test]
fn valid_experiments_pass_as_directories_archives_and_single_files() {
    let source = Experiment::standard();
    let out = tempfile::tempdir().unwrap();
    let zip = out.path().join("a.zip");
    ra_pack().arg("create").arg(source.path()).arg("-o").arg(&zip).assert().success();
    for target in [source.path(), &zip] {
        let [report] = &reports(out.path(), &[target.to_str().unwrap()], 0)[..] else { panic!() };
        assert_eq!(findings(report), [""; 0]);
        assert!(report["arrays"].as_u64().unwrap() > 8, "{report}");
    }
    // Coordinates are found in parent directories, up to the working directory.
    for (directory, name) in [("", "run1/temperature.yaml"), ("", "run2/quality.ra")] {
        let [report] = &reports(&source.path().join(directory), &[name], 0)[..] else { panic!() };
        assert_eq!((&report["documents"], &report["arrays"]), (&1.into(), &1.into()));
    }
    let inside = source.path().join("run1");
    let [report] = &reports(&inside, &["temperature.yaml"], 1)[..] else { panic!() };
    assert_eq!(findings(report), ["DESC007 temperature.yaml:3:20"]);
    reports(&inside, &["temperature.yaml", "--root", ".."], 0);
}

#[test]
fn every_finding_of_every_path_is_reported_in_order() {
    let source = Experiment::new()
        .file("a.yaml", "ndarrays:\n  a: {shape: [3], type: flaot32}\n  b: {type: int8}\n  c: 1\n")
        .array("b.ra", INT16, &[2], &[0; 4])
        .describe("b.yaml", "[3]", "int8")
        .file("ordinary.yaml", "jobs: {build: {steps: []}}\n");
    let reports = reports(source.path(), &["a.yaml", "nosuch", "b.yaml", "."], 2);
    let [a, b, all] = &reports[..] else { panic!("{reports:?}") };
    let of_a = ["NDL040 a.yaml:2:25", "NDL021 a.yaml:3:3", "NDL022 a.yaml:4:6"];
    let of_b = ["DESC004 b.yaml:3:13", "DESC005 b.yaml:4:11"];
    assert_eq!(findings(a), of_a);
    assert_eq!(findings(b), of_b);
    assert_eq!(findings(all), [&of_a[..], &of_b[..]].concat());
    assert_eq!(all["documents"], 2);
    // An ordinary YAML file is checked as a description if it is given by name.
    let ran = ra_pack().current_dir(source.path()).args(["validate", "ordinary.yaml"]).assert();
    let text = String::from_utf8(ran.code(1).get_output().stdout.clone()).unwrap();
    assert!(text.contains("NDL020"), "{text}");
    assert!(text.ends_with("ordinary.yaml: NOT VALID, 1 error (1 document, 0 arrays)\n"), "{text}");
}

#[test]
fn standard_input_is_checked_without_a_pack() {
    let ran = ra_pack()
        .args(["validate", "--json", "-"])
        .write_stdin("ndarrays:\r\n  zé: {shape: [time], type: int8}\r\n")
        .assert();
    let [report] = &lines(&ran.code(1))[..] else { panic!() };
    assert_eq!(findings(report), ["NDL063 <stdin>:2:16"]);
    let place = &report["findings"][0]["place"];
    assert_eq!((&place["start"], &place["end"]), (&27.into(), &31.into()));
    let ran = ra_pack().args(["validate", "-"]).write_stdin("").assert().code(1);
    assert!(String::from_utf8_lossy(&ran.get_output().stdout).contains("NDL022"));
}

#[test]
fn codes_can_be_allowed_and_warnings_forbidden() {
    let source = Experiment::new()
        .array("a.ra", FLOAT32, &[2], &[0; 8])
        .file("a.yaml", "ndarrays:\n  a: {shape: [2], type: float32, storage: {chunk: [1]}}\n")
        .file("b.yaml", "ndarrays:\n  b: {shape: [], type: complex64, value: 1}\n");
    assert_eq!(findings(&reports(source.path(), &["a.yaml"], 0)[0]), ["DESC009 a.yaml:2:51"]);
    reports(source.path(), &["a.yaml", "--strict"], 1);
    let allowed = reports(source.path(), &["a.yaml", "--strict", "--allow", "desc009"], 0);
    assert_eq!(findings(&allowed[0]), [""; 0]);
    let strict = reports(source.path(), &["b.yaml", "--strict"], 1);
    assert!(findings(&strict[0]).contains(&"NDL051 b.yaml:2:24".to_owned()), "{strict:?}");
    let ran = ra_pack().args(["validate", "--allow", "NDL999", "a.yaml"]).assert().code(2);
    assert!(String::from_utf8_lossy(&ran.get_output().stderr).contains("there is no such code"));
}

#[test]
fn columns_count_characters_in_every_kind_of_text() {
    let cases = [
        ("\u{feff}ndarrays: {z: {shape: [1], type: nope}}\n", 1, 34),
        ("ndarrays:\r\n  größe:\r\n    shape: [1]\r\n    type: nope\r\n", 4, 11),
        ("ndarrays:\n  é: {attributes: {名前: 1}, shape: [1], type: nope}\n", 2, 46),
        (
            "attributes:\n  a: |\n    täxt: [\n\n    more\nndarrays:\n  z: {shape: [1], type: nope}\n",
            7,
            25,
        ),
        ("ndarrays:\n  y: {shape: &s [1], type: int8}\n  z: {shape: *s, type: nope}\n", 3, 24),
    ];
    for (text, line, column) in cases {
        let ran = ra_pack().args(["validate", "-"]).write_stdin(text).assert().code(1);
        let shown = String::from_utf8(ran.get_output().stdout.clone()).unwrap();
        assert!(shown.contains(&format!("--> <stdin>:{line}:{column}\n")), "{text:?}\n{shown}");
        assert!(shown.contains("^^^^") && !shown.contains('\u{1b}'), "{shown}");
        // The caret is below the token.
        let source = shown.lines().find(|line| line.contains("type: nope")).unwrap();
        let carets = shown.lines().find(|line| line.contains('^')).unwrap();
        let before = |text: &str, at: usize| text[..at].chars().count();
        let token = before(source, source.find("nope").unwrap());
        // East Asian characters are two columns wide.
        let wide = source.chars().filter(|character| *character > '\u{3000}').count();
        assert_eq!(before(carets, carets.find('^').unwrap()), token + wide, "{shown}");
        let ran = ra_pack().args(["validate", "--json", "-"]).write_stdin(text).assert();
        let place = &lines(&ran)[0]["findings"][0]["place"];
        let bytes = |key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap();
        assert_eq!(&text[bytes("start")..bytes("end")], "nope");
    }
}

const MANIFEST: &str = "\
# written by hand
/:
  attributes: {title: whole packs by one document}
  dimcoords:
    station: {size: 2, type: string, value: [north, south]}
/run1:
  dimcoords:
    time:
      size: 5
      type: float64
      attributes: {units: s}
  ndarrays:
    temperature: {shape: [station, time], type: float32}
/run1/deep:
  ndarrays:
    salinity: {shape: [/run1/time], type: float32}
";

fn described_by_one_document() -> Experiment {
    Experiment::new()
        .file("manifest.yaml", MANIFEST)
        .array("run1/time.ra", FLOAT64, &[5], &doubles(5))
        .array("run1/temperature.ra", FLOAT32, &[2, 5], &floats(10))
        .array("run1/deep/salinity.ra", FLOAT32, &[5], &floats(5))
}

#[test]
fn a_hand_written_manifest_describes_a_whole_pack() {
    let source = described_by_one_document();
    let out = tempfile::tempdir().unwrap();
    let zip = out.path().join("a.zip");
    ra_pack().arg("create").arg(source.path()).arg("-o").arg(&zip).assert().success();
    ra_pack().arg("verify").arg(&zip).assert().success();
    let ran = ra_pack().arg("list").arg(&zip).assert().success();
    let text = String::from_utf8(ran.get_output().stdout.clone()).unwrap();
    assert!(text.contains("[station 2, time 5]") && text.contains("[/run1/time 5]"), "{text}");
    // The document is packed unchanged.
    let ran = ra_pack().arg("get").arg(&zip).arg("manifest.yaml").assert().success();
    assert_eq!(ran.get_output().stdout, MANIFEST.as_bytes());
    for target in [source.path(), &zip, &source.path().join("manifest.yaml")] {
        let [report] = &reports(out.path(), &[target.to_str().unwrap()], 0)[..] else { panic!() };
        assert_eq!((&report["documents"], &report["arrays"]), (&1.into(), &3.into()), "{report}");
        assert_eq!(findings(report), [""; 0]);
    }
    // Its arrays can be given one by one.
    for name in ["run1/time.ra", "run1/temperature.ra", "run1/deep/salinity.ra"] {
        reports(source.path(), &[name], 0);
    }
}

#[test]
fn contradictions_about_a_coordinate_name_both_places() {
    let said = |source: &Experiment, part: &str| {
        let report = &reports(source.path(), &["."], 1)[0];
        let list = report["findings"].as_array().unwrap();
        let found = list.iter().any(|finding| finding.to_string().contains(part));
        assert!(found, "{part}: {report:#}");
        findings(report)
    };
    // A user with another length.
    let source =
        described_by_one_document().array("run1/deep/salinity.ra", FLOAT32, &[4], &floats(4));
    let found = said(&source, "`run1/time.ra` has length 5");
    assert_eq!(found, ["DESC004 manifest.yaml:16:24"]);
    // The coordinate itself: reported once, where its size is stated.
    let source = described_by_one_document().array("run1/time.ra", FLOAT64, &[6], &doubles(6));
    let found = said(&source, "has length 6");
    assert_eq!(
        found,
        [
            "DESC004 manifest.yaml:9:13",
            "DESC004 manifest.yaml:13:36",
            "DESC004 manifest.yaml:16:24"
        ]
    );
    // Two documents, without an array of the coordinate.
    let source = described_by_one_document()
        .array("x.ra", FLOAT32, &[3], &floats(3))
        .file(
            "x.yaml",
            "dimcoords: {station: {size: 3, type: int8}}\nndarrays: {x: {shape: [station], type: float32}}\n",
        );
    let found = said(&source, "`manifest.yaml:5:21` gives this length");
    assert_eq!(found, ["DESC008 x.yaml:1:29", "DESC008 x.yaml:2:24"]);
    // Two documents about one array.
    let source = described_by_one_document()
        .array("s.ra", FLOAT32, &[2, 2], &floats(4))
        .describe("s.yaml", "[2, 2]", "float32")
        .file(
            "manifest.yaml",
            MANIFEST.replace(
                "/run1:",
                "  ndarrays:\n    s: {shape: [2, 2], type: float32, storage: {order: row}}\n/run1:",
            ),
        );
    let found = said(&source, "column order, as in `s.yaml`");
    assert_eq!(found, ["DESC002 manifest.yaml:7:56"]);
}

#[test]
fn references_of_entities_without_a_file_are_resolved_in_the_pack() {
    let source = Experiment::new()
        .array("run1/a.ra", FLOAT32, &[1], &floats(1))
        .describe("run1/a.yaml", "[1]", "float32")
        .file(
            "run1/refs.yaml",
            "ndarrays:\n  good: {shape: [], type: objref, value: /run1/a}\n  \
             bad: {shape: [], type: objref, value: /run1/b}\n  \
             worse: {shape: [nowhere], type: int8, storage: {shape: [1]}, value: [1]}\n  \
             worst: {shape: [nowhere], type: nope}\n",
        );
    let report = &reports(source.path(), &["."], 1)[0];
    assert_eq!(
        findings(report),
        [
            "NDL074 run1/refs.yaml:3:41",
            "NDL063 run1/refs.yaml:4:19",
            "NDL063 run1/refs.yaml:5:19",
            "NDL040 run1/refs.yaml:5:35"
        ]
    );
}

#[test]
#[ignore = "slow"]
fn a_large_manifest_is_checked_in_linear_time() {
    use std::fmt::Write;
    // Quadratic time would be minutes for this number.
    const ARRAYS: usize = 20_000;
    let mut text = String::from("/g:\n  dimcoords: {t: {size: 3, type: int8}}\n  ndarrays:\n");
    for number in 0..ARRAYS {
        writeln!(text, "    a{number}: {{shape: [t], type: int8}}").unwrap();
    }
    let source = Experiment::new().file("manifest.yaml", &text);
    let start = std::time::Instant::now();
    let report = &reports(source.path(), &["manifest.yaml"], 0)[0];
    let found = report["findings"].as_array().unwrap();
    assert_eq!(found.len(), 1001);
    let others = format!("{} more problems of this kind are not listed", ARRAYS - 1000);
    assert_eq!(found.last().unwrap()["message"], others);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert!(fs::metadata(source.path().join("manifest.yaml")).unwrap().len() > 500_000);
}

#[test]
fn findings_of_one_kind_are_one_message_if_there_are_many() {
    let mut experiment = Experiment::new();
    for number in 1..=25 {
        let name = format!("nul.{number}");
        experiment = experiment.array(&format!("{name}.ra"), UINT8, &[1], &[1]).file(
            &format!("{name}.yaml"),
            format!("ndarrays: {{{name}: {{shape: [1], type: uint8}}}}\n"),
        );
    }
    let scratch = tempfile::tempdir().unwrap();
    let zip = scratch.path().join("a.zip");
    let source = experiment.path();
    let of_files = |count: usize, more: usize| {
        format!("warning[NAME009]: a name that some systems cannot store in {count} files: nul.1")
            + &format!(".ra, nul.1.yaml, nul.10.ra and {more} more\n")
    };
    create(source, &zip, &[]).exits(0).says(&[&of_files(50, 47)]);
    ra("validate", &[&zip], &[]).exits(0).says(&[&of_files(50, 47), ": valid, 50 warnings"]);
    // With its description, an array is one name.
    ra("verify", &[&zip], &[]).exits(0).says(&["nul.1.ra, nul.10.ra, nul.11.ra and 22 more"]);
    assert_eq!(ra("validate", &[&zip], &["--json"]).exits(0).findings().len(), 50);
    let few =
        Experiment::standard().array("e.ra", UINT8, &[1], &[1]).describe("e.yaml", "[1]", "uint8");
    let said = ra("validate", &[few.path()], &["--short", "--metadata"]).exits(0).said();
    assert_eq!(said.matches("warning[META001]").count(), 1, "{said}");
    // Only commands that write, keep or judge a pack report names of doubtful portability.
    let out = scratch.path().join("out");
    let other = Experiment::standard();
    for ran in [
        ra("list", &[&zip], &[]),
        ra("show", &[&zip], &[]),
        ra("info", &[&zip], &[]),
        ra("info", &[source], &[]),
        ra("manifest", &[&zip], &[]),
        ra("diff", &[&zip, other.path()], &[]),
        ra("extract", &[&zip, Path::new("-C"), &out], &[]),
    ] {
        assert!(!ran.said().contains("NAME009"), "{}", ran.said());
    }
}

#[test]
fn quiet_hides_good_verdicts_and_shows_warnings() {
    let good = Experiment::standard();
    assert_eq!(ra("validate", &[good.path()], &["-q"]).exits(0).said(), "");
    let odd =
        Experiment::new().array("con.ra", UINT8, &[1], &[1]).describe("con.yaml", "[1]", "uint8");
    let said = ra("validate", &[odd.path()], &["-q"]).exits(0).says(&["[NAME009]"]).said();
    assert!(!said.contains(": valid"), "{said}");
    let none = Experiment::new().array("a.ra", UINT8, &[1], &[1]);
    ra("validate", &[none.path()], &["-q"]).exits(1).says(&["[DESC001]", ": NOT VALID, 1 error"]);
}
