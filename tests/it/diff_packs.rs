//! `ra-pack diff` of packs: every kind of change, in every container, and no output without changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ra_pack::diff::{DiffOptions, MemberChange, PackDiff};
use ra_pack::write::{CreateOptions, Layout};
use ra_pack::{Pack, create};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT32, FLOAT64, INT16, UINT8, le, ra_pack, raw_array};
use crate::run::{Ran, is_array, ra};

/// Kinds of packs that are compared with each other.
const KINDS: [(&str, &[&str]); 6] = [
    ("a.zip", &[]),
    ("b.zip", &["--compression", "deflate", "--no-external-manifest"]),
    ("c.tar", &[]),
    ("d.tar.gz", &["--layout", "bagit"]),
    ("e.tar.zst", &[]),
    ("f.zip", &["--layout", "bagit", "--compression", "zstd"]),
];

fn floats(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    le(f32::to_le_bytes, numbers)
}

fn diff(a: &Path, b: &Path, options: &[&str]) -> Ran {
    ra("diff", &[a, b], options)
}

/// Returns the experiment as a directory and in every kind of pack.
fn packs(experiment: &Experiment, scratch: &Path) -> Vec<PathBuf> {
    let mut all = vec![experiment.path().to_owned()];
    for (name, options) in KINDS {
        let archive = scratch.join(name);
        ra("create", &[experiment.path(), Path::new("-o"), &archive], options).exits(0);
        all.push(archive);
    }
    all
}

/// Returns an experiment, and a copy with a change of every kind.
fn before_and_after() -> (Experiment, Experiment) {
    let mut numbers: Vec<f32> = (0..15_u8).map(f32::from).collect();
    numbers[4] += 0.5; // [1, 1]: the first index changes fastest
    numbers[9] = f32::NAN;
    let mut big = raw_array(FLOAT32, &[3, 5], &floats((0..15_u8).map(f32::from)));
    big[8] = 1;
    big[64..].chunks_mut(4).for_each(<[u8]>::reverse);
    let plain = || raw_array(FLOAT32, &[3, 5], &floats((0..15_u8).map(f32::from)));
    let before = Experiment::standard()
        .file("run3/endian.ra", plain())
        .describe("run3/endian.yaml", "[3, 5]", "float32")
        .array("run3/shape.ra", UINT8, &[2], &[1, 2])
        .describe("run3/shape.yaml", "[2]", "uint8")
        .array("run3/old name.ra", INT16, &[2], &[1, 0, 2, 0])
        .describe("run3/old name.yaml", "[2]", "int16")
        .file("binary.dat", b"\0\x01\x02");
    let after = Experiment::standard()
        .array("run1/temperature.ra", FLOAT32, &[3, 5], &floats(numbers))
        .file(
            "run1/temperature.yaml",
            "ndarrays:\n  temperature: {shape: [depth, time], type: float32, attributes: {units: K}}\n",
        )
        .file("run3/endian.ra", big)
        .describe("run3/endian.yaml", "[3, 5]", "float32")
        .array("run3/shape.ra", UINT8, &[3], &[1, 2, 3])
        .describe("run3/shape.yaml", "[3]", "uint8")
        .array("run3/new name.ra", INT16, &[2], &[1, 0, 2, 0])
        .describe("run3/new name.yaml", "[2]", "int16")
        .file("run1/gain.yaml", "# by hand\nndarrays: {gain: {shape: [], type: int64}}\n")
        .file("README.txt", "The temperature of the sea.\nAnd why.\n")
        .file("binary.dat", b"\0\x01\x03")
        .array("run3/added.ra", UINT8, &[2, 1], &[1, 2])
        .describe("run3/added.yaml", "[2, 1]", "uint8");
    fs::remove_file(after.path().join("run1/deep/er/notes with spaces.txt")).unwrap();
    (before, after)
}

fn member<'a>(diff: &'a Value, name: &str) -> &'a Value {
    let members = diff["members"].as_array().unwrap();
    members.iter().find(|member| member["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn a_pack_equals_its_source_and_every_other_pack_of_it() {
    let (scratch, experiment) = (TempDir::new().unwrap(), Experiment::standard());
    let packs = packs(&experiment, scratch.path());
    for a in &packs {
        for b in &packs {
            let members = diff(a, b, &["--json"]).exits(0).json();
            assert_eq!(members["members"], json!([]), "{a:?} {b:?}");
        }
        diff(&packs[0], a, &[]).exits(0).says(&["The same: "]);
        diff(a, &packs[1], &["--read"]).exits(0).says(&["The same: 15 members\n"]);
        assert_eq!(diff(a, &packs[1], &["--quiet"]).exits(0).said(), "");
    }
    diff(&packs[1], &packs[4], &[])
        .says(&["15 members, according to their manifests; compare the bytes with --verify"]);
}

#[test]
fn every_kind_of_change_is_reported_in_every_kind_of_pack() {
    let (before, after) = before_and_after();
    let scratch = TempDir::new().unwrap();
    let place = |name: &str| {
        let path = scratch.path().join(name);
        fs::create_dir_all(&path).unwrap();
        path
    };
    let ours = packs(&before, &place("before"));
    let theirs = packs(&after, &place("after"));
    let mut first: Option<Value> = None;
    for (at, (a, b)) in ours.iter().zip(theirs.iter().cycle().skip(1)).enumerate() {
        let mut report = diff(a, b, &["--json"]).exits(1).json();
        for key in ["a", "b"] {
            assert_eq!(report[key]["findings"], json!([]));
            report[key] = Value::Null;
        }
        assert!(report["counts"]["by_manifest"].as_u64() > Some(0));
        // Only the number of members that were read may differ.
        report["counts"]["by_manifest"] = Value::Null;
        match &first {
            None => first = Some(report),
            Some(first) => assert_eq!(*first, report, "{at}: {a:?} {b:?}"),
        }
    }
    let report = first.unwrap();
    assert_eq!(
        report["counts"],
        json!({"same": 11, "by_manifest": null, "added": 1, "removed": 1, "renamed": 1,
               "changed": 4, "tolerated": 0, "stored_otherwise": 2, "unread": 0})
    );
    let temperature = member(&report, "run1/temperature.ra");
    assert_eq!(temperature["array"]["elements"]["differing"], 2);
    assert_eq!(temperature["array"]["elements"]["first"]["index"], json!([1, 1]));
    assert_eq!(temperature["description"], json!([{"path": "attributes.units", "b": "K"}]));
    let endian = member(&report, "run3/endian.ra");
    assert_eq!(endian["change"], "stored-otherwise");
    assert_eq!(
        endian["array"]["stored"],
        json!([{"field": "byte order", "a": "little-endian", "b": "big-endian"}])
    );
    assert_eq!(member(&report, "run3/new name.ra")["renamed_from"], "run3/old name.ra");
    assert_eq!(member(&report, "run3/new name.ra")["description"], Value::Null);
    assert_eq!(member(&report, "run3/shape.ra")["array"]["header"][0]["field"], "shape");
    assert_eq!(member(&report, "run3/shape.ra")["array"]["elements"], Value::Null);
    assert_eq!(member(&report, "run1/gain.ra")["description_rewritten"], true);
    assert_eq!(member(&report, "README.txt")["file"]["line"], 2);
    assert_eq!(member(&report, "binary.dat")["file"], json!({"byte": 2}));
    assert_eq!(member(&report, "run3/added.ra")["array"]["shape"], json!([2, 1]));
    diff(&ours[1], &theirs[4], &[]).exits(1).says(&[
        "~ run1/temperature.ra",
        "attributes.units  nothing → K",
        "2 of 15 elements differ (13.3 %), 1 NaN in only one",
        "4 → 4.5 at [1, 1]",
        "= run3/endian.ra",
        "> run3/old name.ra → run3/new name.ra",
        "+ run3/added.ra",
        "- run1/deep/er/notes with spaces.txt",
        "1 added, 1 removed, 4 changed, 1 renamed, 2 stored differently, 11 the same",
    ]);
    let stat = diff(&ours[0], &theirs[0], &["--stat"]).exits(1);
    assert_eq!(stat.said().lines().count(), 10, "{}", stat.said());
    let quiet = diff(&ours[0], &theirs[0], &["-q"]).exits(1).says(&["~ README.txt"]).said();
    assert!(!quiet.contains("11 the same"), "{quiet}");
    diff(&ours[0], &theirs[1], &[]).exits(1);
    let chosen = ["a", "b"].map(|_| "run1/temp*");
    let ran = ra_pack().arg("diff").args([&ours[1], &theirs[2]]).arg(chosen[0]).assert().code(1);
    let said = String::from_utf8_lossy(&ran.get_output().stdout).into_owned();
    assert!(said.ends_with("1 changed, 0 the same\n"), "{said}");
}

#[test]
fn tolerances_order_and_documents_of_packs_are_understood() {
    let column = floats([0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    let row = floats([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let near = floats([0.0, 3.0, 1.0, 4.0, 2.0, 5.125]);
    let document = |units: &str| format!("/: {{attributes: {{where: {units}}}}}\n");
    let a = Experiment::new()
        .array("x.ra", FLOAT32, &[2, 3], &column)
        .describe("x.yaml", "[2, 3]", "float32")
        .array("y.ra", FLOAT32, &[2, 3], &column)
        .describe("y.yaml", "[2, 3]", "float32")
        .file("manifest.yaml", document("here"));
    let b = Experiment::new()
        .array("x.ra", FLOAT32, &[3, 2], &row)
        .file("x.yaml", "ndarrays: {x: {shape: [2, 3], type: float32, storage: {order: row}}}\n")
        .array("y.ra", FLOAT32, &[2, 3], &near)
        .describe("y.yaml", "[2, 3]", "float32")
        .file("manifest.yaml", document("there"));
    let report = diff(a.path(), b.path(), &["--json", "--tolerance", "0.2"]).exits(1).json();
    assert_eq!(member(&report, "x.ra")["change"], "stored-otherwise");
    assert_eq!(member(&report, "y.ra")["change"], "tolerated");
    assert_eq!(
        member(&report, "manifest.yaml")["description"],
        json!([{"path": "/.attributes.where", "a": "here", "b": "there"}])
    );
    fs::remove_file(a.path().join("manifest.yaml")).unwrap();
    fs::remove_file(b.path().join("manifest.yaml")).unwrap();
    diff(a.path(), b.path(), &["--tolerance", "0.2"])
        .exits(0)
        .says(&["order  column → row", "1 changed within the tolerance, 1 stored differently"]);
    diff(a.path(), b.path(), &[]).exits(1).says(&["5 → 5.125 at [1, 2]"]);
    diff(a.path(), b.path(), &["--member", "y.ra", "--max"]).exits(1).says(&["0.125"]);
    let file = b.path().join("x.ra");
    assert_eq!(diff(a.path(), &file, &["--member", "x.ra"]).exits(0).said(), "");
    diff(a.path(), &file, &[]).exits(2).says(&["--member NAME"]);
    diff(a.path(), b.path(), &["--max"]).exits(2).says(&["--member NAME"]);
    diff(&file, &file, &["--stat"]).exits(2).says(&["--stat works on two packs"]);
    diff(a.path(), b.path(), &["--member", "z.ra"]).exits(2).says(&["has no member `z.ra`"]);
}

/// Returns a directory with one array that is described only by a generated document.
fn described_by_the_pack_alone(scratch: &Path, said: &str) -> Experiment {
    let data = floats([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let array = || Experiment::new().array("x.ra", FLOAT32, &[2, 3], &data);
    let source = array().file("x.yaml", format!("ndarrays: {{x: {{type: float32, {said}}}}}\n"));
    let archive = scratch.join("x.zip");
    let options = CreateOptions { force: true, ..CreateOptions::default() };
    create(source.path(), &archive, &options).unwrap();
    array().file("manifest.yaml", Pack::open(&archive).unwrap().read("manifest.yaml").unwrap())
}

#[test]
fn generated_documents_are_compared_if_nothing_else_describes_an_array() {
    let scratch = TempDir::new().unwrap();
    let of = |said: &str| described_by_the_pack_alone(scratch.path(), said);
    let kelvin = of("shape: [2, 3], attributes: {units: K}");
    let celsius = of("shape: [2, 3], attributes: {units: degC}");
    let row = of("shape: [3, 2], attributes: {units: K}, storage: {order: row}");
    let report = diff(kelvin.path(), celsius.path(), &["--json"]).exits(1).json();
    assert_eq!(report["members"].as_array().unwrap().len(), 1);
    assert_eq!(
        member(&report, "x.ra")["description"],
        json!([{"path": "attributes.units", "a": "K", "b": "degC"}])
    );
    assert_eq!(member(&report, "x.ra")["array"]["elements"], Value::Null);
    // In another order, the same bytes have another shape.
    let report = diff(kelvin.path(), row.path(), &["--json"]).exits(1).json();
    assert_eq!(member(&report, "x.ra")["array"]["header"][0]["field"], "shape");
    diff(kelvin.path(), of("shape: [2, 3], attributes: {units: K}").path(), &[])
        .exits(0)
        .says(&["The same: 1 member\n"]);
}

#[test]
fn differences_have_coordinates_and_short_ones_fit_the_screen() {
    let example = Path::new("examples/experiment");
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("exp.zip");
    ra("create", &[example, Path::new("-o"), &archive], &[]).exits(0);
    let later = scratch.path().join("later");
    ra("extract", &[&archive, Path::new("-C"), &later], &[]).exits(0);
    // The manifest lists the old digests of the files changed here.
    fs::remove_file(later.join("manifest-sha256.txt")).unwrap();
    let change = |name: &str, at: usize| {
        let path = later.join(name);
        let mut bytes = fs::read(&path).unwrap();
        bytes[at] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    // The first index changes fastest: [3, 17] of [10, 149].
    change("thermistors/temperature.ra", 64 + 4 * (3 + 10 * 17) + 2);
    fs::remove_file(later.join("deployment.txt")).unwrap();
    fs::write(later.join(format!("{}.txt", "温度".repeat(11))), "x").unwrap();
    fs::rename(later.join("README.md"), later.join(format!("{}.md", "R".repeat(30)))).unwrap();
    let place = "at [3, 17] (depth 10, time 2024-06-03T17:00:00)";
    for options in [&[][..], &["--stat"]] {
        let said = diff(&archive, &later, options).exits(1).said();
        assert!(said.contains(place) || options.len() == 1, "{said}");
        for line in said.lines().filter(|line| line.contains(" | ")) {
            let wide = line.chars().filter(|character| *character >= '\u{2e80}').count();
            assert!(line.chars().count() + wide <= 80, "{line}");
        }
    }
    let member = &["--member", "thermistors/temperature.ra"];
    diff(&archive, &later, member).exits(1).says(&["at [3, 17] (depth 10, "]);
    let file = |root: &Path| root.join("thermistors/temperature.ra");
    diff(&file(&later), &file(example), &[]).exits(1).says(&["(depth 10, time 2024"]);
}

#[test]
fn small_numbers_are_short_and_readable() {
    let pack = |numbers: [f64; 3]| {
        Experiment::new().array("a.ra", FLOAT64, &[3], &le(f64::to_le_bytes, numbers))
    };
    let (before, after) = (pack([0.000_02, 3e-6, 1.0]), pack([0.000_03, 4e-6, 1.000_999]));
    diff(before.path(), after.path(), &[]).exits(1).says(&[
        "first     0.00002 → 0.00003 at [0]\n",
        "distance  max 9.99e-4 (relative 0.333333), L1 0.00101, L2 9.9905e-4\n",
    ]);
    let after = pack([0.000_02, 4e-6, 1.0]);
    diff(before.path(), after.path(), &[]).exits(1).says(&["first     3e-6 → 4e-6 at [1]\n"]);
}

#[test]
fn a_nan_in_only_one_array_has_no_distance() {
    let home = Experiment::new().array("a.ra", FLOAT32, &[2], &floats([1.0, f32::NAN])).array(
        "b.ra",
        FLOAT32,
        &[2],
        &floats([1.0, 2.0]),
    );
    let file = |name: &str| home.path().join(name);
    for option in ["--max", "--l1", "--l2"] {
        assert_eq!(diff(&file("a.ra"), &file("b.ra"), &[option]).exits(1).said(), "NaN\n");
        assert_eq!(diff(&file("a.ra"), &file("a.ra"), &[option]).exits(0).said(), "0\n");
    }
    diff(&file("a.ra"), &file("b.ra"), &["--quiet"]).exits(1).says(&["1 NaN in only one"]);
}

#[test]
fn damaged_members_are_reported_and_the_rest_compared() {
    let (scratch, experiment) = (TempDir::new().unwrap(), Experiment::standard());
    let packs = packs(&experiment, scratch.path());
    // Stored in a zip, stored in a tar, and in a directory with a manifest.
    for archive in [&packs[1], &packs[3]] {
        let mut bytes = fs::read(archive).unwrap();
        let note = bytes.windows(6).position(|window| window == b"Namen ").unwrap();
        bytes[note] ^= 1;
        let damaged = scratch.path().join("damaged").join(archive.file_name().unwrap());
        fs::create_dir_all(damaged.parent().unwrap()).unwrap();
        fs::write(&damaged, bytes).unwrap();
        // Members listed in both manifests are not read.
        diff(&packs[1], &damaged, &[]).exits(0);
        let report = diff(&packs[1], &damaged, &["--read"]).exits(2).said();
        assert!(report.contains("Größe") && report.contains("14 the same"), "{report}");
        // A source without a manifest is compared with the manifest of the archive.
        diff(&damaged, &packs[0], &["--read"]).exits(2);
    }
    let cut = scratch.path().join("cut.tar.gz");
    let bytes = fs::read(&packs[4]).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 8]).unwrap();
    diff(&packs[1], &cut, &[]).exits(2).says(&["removed"]);
    diff(&packs[1], &scratch.path().join("nowhere.zip"), &[]).exits(2);
}

#[test]
fn generated_members_are_shown_on_request_and_do_not_count() {
    let (scratch, experiment) = (TempDir::new().unwrap(), Experiment::standard());
    let packs = packs(&experiment, scratch.path());
    diff(&packs[1], &packs[4], &["--all"]).exits(0).says(&[
        "bag-info.txt",
        "generated",
        "The same: 15 members",
    ]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (before, after) = before_and_after();
    let report =
        |jobs: &str| diff(before.path(), after.path(), &["--color=always", "-j", jobs]).said();
    assert_eq!(report("1"), report("3"));
    assert!(report("2").contains("\u{1b}[32m+ run3/added.ra\u{1b}[0m"));
}

/// Generates small sources of arrays and other files.
fn source() -> impl Strategy<Value = BTreeMap<String, Vec<u8>>> {
    let array = prop::collection::vec(0..3_u8, 0..3)
        .prop_map(|data| raw_array(UINT8, &[u64::try_from(data.len()).unwrap()], &data));
    let text = prop::collection::vec(0..3_u8, 0..3);
    let name = "[ab](/[ab])?";
    let arrays =
        prop::collection::btree_map(name.prop_map(|name| format!("{name}.ra")), array, 1..4);
    let texts =
        prop::collection::btree_map(name.prop_map(|name| format!("{name}.txt")), text, 0..4);
    (arrays, texts).prop_map(|(mut all, texts)| {
        all.extend(texts);
        all
    })
}

fn write(files: &BTreeMap<String, Vec<u8>>) -> TempDir {
    let directory = TempDir::new().unwrap();
    for (name, bytes) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        if is_array(name) {
            let (stem, len) = (path.file_stem().unwrap().to_str().unwrap(), bytes.len() - 56);
            let said = format!("ndarrays:\n  {stem}:\n    shape: [{len}]\n    type: uint8\n");
            fs::write(path.with_extension("yaml"), said).unwrap();
        }
    }
    directory
}

/// Applies the reported changes to the names of the first pack, which gives those of the second.
fn names_after(diff: &PackDiff, files: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let mut names: Vec<String> = files.keys().cloned().collect();
    for member in &diff.members {
        let gone = match member.change {
            MemberChange::Removed => Some(&member.name),
            MemberChange::Renamed => member.renamed_from.as_ref(),
            _ => None,
        };
        names.retain(|name| Some(name) != gone);
        if matches!(member.change, MemberChange::Added | MemberChange::Renamed) {
            names.push(member.name.clone());
        }
    }
    names.sort();
    names
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nothing_differs_if_and_only_if_the_contents_are_the_same(
        ours in source(),
        theirs in source(),
        same in any::<bool>(),
        kind in 0..4_usize,
    ) {
        let theirs = if same { ours.clone() } else { theirs };
        let (a, b, scratch) = (write(&ours), write(&theirs), TempDir::new().unwrap());
        let (name, layout) = [
            ("x.zip", Layout::Plain),
            ("x.tar", Layout::BagIt),
            ("x.tar.gz", Layout::Plain),
            ("x.zip", Layout::BagIt),
        ][kind];
        let archive = scratch.path().join(name);
        let options = CreateOptions { layout, ..CreateOptions::default() };
        create(a.path(), &archive, &options).unwrap();
        let by_directory = ra_pack::diff(a.path(), b.path(), &DiffOptions::default()).unwrap();
        prop_assert_eq!(by_directory.members.is_empty(), ours == theirs);
        prop_assert_eq!(names_after(&by_directory, &ours), theirs.keys().cloned().collect::<Vec<_>>());
        let both_ways = ra_pack::diff(b.path(), a.path(), &DiffOptions::default()).unwrap();
        prop_assert_eq!(both_ways.counts.added, by_directory.counts.removed);
        prop_assert_eq!(both_ways.counts.renamed, by_directory.counts.renamed);
        // Generated members do not make a pack differ from its source.
        prop_assert!(ra_pack::diff(a.path(), &archive, &DiffOptions::default()).unwrap().is_same());
        let read = DiffOptions { read_all: true, ..DiffOptions::default() };
        prop_assert_eq!(ra_pack::diff(&archive, b.path(), &read).unwrap().counts.changed, by_directory.counts.changed);
    }
}

#[test]
fn the_manifest_of_a_directory_is_not_trusted_and_a_pattern_must_match() {
    let (one, other) = (Experiment::standard(), Experiment::standard());
    for experiment in [&one, &other] {
        ra("manifest", &[experiment.path()], &["--write"]).exits(0);
    }
    diff(one.path(), other.path(), &[]).exits(0);
    let array = other.path().join("run1/temperature.ra");
    let mut bytes = fs::read(&array).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&array, bytes).unwrap();
    diff(one.path(), other.path(), &[]).exits(1).says(&["run1/temperature.ra"]);
    diff(one.path(), other.path(), &["nothing*"]).exits(2).says(&["matches `nothing*`"]);
}

#[test]
fn a_pack_equals_its_source_whoever_wrote_the_description_of_the_pack() {
    let scratch = TempDir::new().unwrap();
    let title = "attributes: {title: T} # mine\n";
    let whole = |text: &str| Experiment::standard().file("manifest.yaml", text);
    let set = Experiment::standard();
    ra("describe", &[set.path()], &["--set", "title=T"]).exits(0);
    let alone = "# mine\n/:\n  attributes: {title: T}\n/x:\n  ndarrays:\n    a: {shape: [2], type: uint8} # a\n";
    let alone = whole(alone).array("x/a.ra", UINT8, &[2], &[1, 2]);
    for (nth, experiment) in [set, whole(title), alone].iter().enumerate() {
        let place = scratch.path().join(nth.to_string());
        fs::create_dir(&place).unwrap();
        let packs = packs(experiment, &place);
        for pack in &packs {
            assert_eq!(diff(&packs[0], pack, &["--quiet"]).exits(0).said(), "", "{nth}");
            let all = diff(pack, &packs[0], &["--json", "--verify"]).exits(0).json();
            assert_eq!(all["members"], json!([]), "{nth}");
        }
        // Only the change is shown.
        let text = fs::read_to_string(experiment.path().join("manifest.yaml")).unwrap();
        let text = text.replace("title: T", "title: U");
        fs::write(experiment.path().join("manifest.yaml"), text).unwrap();
        for pack in &packs[1..] {
            let found = diff(pack, &packs[0], &["--json"]).exits(1).json();
            let members = found["members"].as_array().unwrap();
            assert_eq!(members.len(), 1, "{members:?}");
            let changes = members[0]["description"].as_array().unwrap();
            assert_eq!(changes.len(), 1, "{changes:?}");
            assert!(
                changes[0]["path"].as_str().unwrap().ends_with("attributes.title"),
                "{changes:?}"
            );
        }
    }
}
