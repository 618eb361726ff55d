//! `validate --convention`: rules of CF and ACDD, each kept and broken, and compared with compliance-checker and UDUNITS.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT32, FLOAT64, UINT8, le};
use crate::python::Python;
use crate::run::{ra, unhelpful};

/// A broken rule, and the array or attribute that breaks it.
type Verdict = (String, String);

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the rules that a pack breaks.
fn verdicts(pack: &Path, conventions: &str) -> BTreeSet<Verdict> {
    let report = ra("validate", &[pack], &["--json", "--convention", conventions]).json();
    assert_eq!(unhelpful(&report), Vec::<Value>::new());
    report["findings"].as_array().unwrap().iter().flat_map(of_finding).collect()
}

fn of_finding(finding: &Value) -> Vec<Verdict> {
    let text = |key: &str| finding[key].as_str().unwrap_or_default();
    let (message, array) = (text("message"), text("array").trim_end_matches(".ra"));
    let attribute = message.split('`').nth(1).unwrap_or_default();
    let rule = match text("code") {
        "META001" => "no-units",
        "META002" => "unknown-units",
        "META003" => "no-name",
        "META008" => return vec![("acdd".into(), "title".into())],
        code if message.contains("lacks") => {
            let convention = if code == "CONV001" { "cf" } else { "acdd" };
            return text("expected").split(", ").map(|it| (convention.into(), it.into())).collect();
        }
        "CONV002" if attribute.starts_with("date_") => return vec![("date".into(), "ISO".into())],
        "CONV002" => {
            let ends = ["_min", "_max", "_start", "_end"];
            let stem = ends.iter().find_map(|end| attribute.strip_suffix(end));
            let rule = if stem.is_some() { "coverage" } else { "acdd" };
            return vec![(rule.into(), stem.unwrap_or(attribute).into())];
        }
        "CONV001" if attribute == "Conventions" => return vec![("cf".into(), attribute.into())],
        "CONV001" if message.contains("is not a standard name") => "name",
        "CONV001" if message.contains("does not modify") => "modifier",
        "CONV001" if message.contains("same axis") => "same-axis",
        "CONV001" if message.contains("flags") => "flags",
        "CONV001" if message.contains("units do not fit") => "units",
        "CONV001" => attribute,
        other => panic!("{other}: {finding}"),
    };
    vec![(rule.into(), array.into())]
}

/// Runs a script of this directory; `None` without its modules.
#[track_caller]
fn script(name: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    let python = Python::of_deposits(&["compliance_checker", "cf_units", "netCDF4"])?;
    let script = root("tests/it/conventions").join(name);
    let output = python.command().arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

/// Returns the verdicts of a script about the files that it writes, and those of `validate` about the same data.
#[track_caller]
fn both(arguments: [&str; 2], conventions: &str) -> Option<Vec<[BTreeSet<Verdict>; 2]>> {
    let home = TempDir::new().unwrap();
    let [mode, count] = arguments;
    let directory = home.path().to_str().unwrap();
    let said = script(
        "check.py",
        &[&[mode, directory], &[count][usize::from(count.is_empty())..]].concat(),
    )?;
    let theirs: BTreeMap<String, BTreeSet<Verdict>> = serde_json::from_slice(&said).unwrap();
    let each = theirs.into_iter().map(|(name, theirs)| {
        let (file, pack) = (home.path().join(format!("{name}.nc")), home.path().join(&name));
        ra("convert", &[&file, &pack], &["-q"]).exits(0);
        [theirs, verdicts(&pack, conventions)]
    });
    Some(each.collect())
}

/// Differences from compliance-checker 6.1.0: the rule, the array or attribute, whether only compliance-checker reports
/// it, and why. Each occurs.
const DIFFERENT: [(&str, &str, bool, &str); 9] = [
    ("acdd", "Conventions", true, "it splits only at commas; CF §2.6.1 also allows blanks"),
    (
        "units",
        "lon",
        true,
        "every array with the axis Y is a latitude for it; CF §4 does not say so",
    ),
    (
        "units",
        "height",
        true,
        "every array with the axis Y is a latitude for it; CF §4 does not say so",
    ),
    (
        "units",
        "time",
        true,
        "every array with the axis X is a longitude for it; CF §4 does not say so",
    ),
    (
        "units",
        "quality",
        true,
        "flags without meanings need units for it; CF §3.1 requires none without dimension",
    ),
    ("flags", "quality", false, "it knows flags only by their meanings; CF §3.5 requires meanings"),
    ("same-axis", "quality", false, "it does not check flags; CF §5 is about all data"),
    ("no-units", "tas", false, "without a standard name, it requires no units; META001 does"),
    ("units", "height", false, "it converts m to m-1; CF §3.1 requires the same quantity"),
];

#[test]
#[ignore = "slow"]
fn verdicts_are_those_of_compliance_checker() {
    let Some(compared) = both(["checker", "120"], "cf,acdd") else { return };
    let (mut rules, mut different) = (BTreeSet::new(), BTreeSet::new());
    for [theirs, ours] in &compared {
        rules.extend(theirs.intersection(ours).map(|(rule, _)| rule.as_str()));
        for (is_theirs, one, other) in [(true, theirs, ours), (false, ours, theirs)] {
            different.extend(one.difference(other).map(|(rule, at)| (&**rule, &**at, is_theirs)));
        }
    }
    let known = DIFFERENT.iter().map(|(rule, at, is_theirs, _)| (*rule, *at, *is_theirs));
    assert_eq!(different, known.collect());
    let all = "acdd axis calendar cf coverage date flags modifier name no-name no-units same-axis units unknown-units";
    assert_eq!(rules.into_iter().collect::<Vec<_>>().join(" "), all);
}

#[test]
#[ignore = "slow"]
fn units_fit_a_standard_name_if_udunits_converts_them() {
    let Some(compared) = both(["units", ""], "cf") else { return };
    let [theirs, ours] = &compared[0];
    let of_units =
        |all: &BTreeSet<Verdict>| all.iter().filter(|it| it.0 == "units").cloned().collect();
    let [theirs, ours]: [BTreeSet<_>; 2] = [theirs, ours].map(of_units);
    assert!(theirs.len() > 600, "{}", theirs.len());
    assert_eq!(ours, theirs);
}

#[test]
fn the_tables_are_those_that_the_script_makes() {
    let inflated = |bytes: &[u8]| {
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
        text
    };
    let Some(names) = script("tables.py", &["names"]) else { return };
    let known = fs::read(root("src/pack/standard_names.txt.gz")).unwrap();
    assert_eq!(inflated(&names), inflated(&known));
    let dimensions = script("tables.py", &["dimensions"]).unwrap();
    let known = fs::read_to_string(root("src/pack/dimensions.txt")).unwrap();
    assert_eq!(String::from_utf8(dimensions).unwrap(), known);
}

/// Returns a pack with a time and an array of temperatures that have these attributes.
fn pack(of_pack: &str, of_time: &str, of_array: &str) -> Experiment {
    let attributes = |text: &str| text.replace("; ", "\n      ");
    let [of_time, of_array] = [of_time, of_array].map(attributes);
    Experiment::new()
        .array("time.ra", FLOAT64, &[2], &le(f64::to_le_bytes, [0.0, 1.0]))
        .array("lon.ra", FLOAT64, &[2], &le(f64::to_le_bytes, [0.0, 1.0]))
        .array("t.ra", FLOAT32, &[2], &[0; 8])
        .array("good.ra", UINT8, &[2], &[0, 1])
        .file("manifest.yaml", format!("attributes: {{title: a, {of_pack}}}\n"))
        .file("time.yaml", format!("dimcoords:\n  time:\n    size: 2\n    type: float64\n    attributes:\n      {of_time}\n"))
        .file("lon.yaml", "dimcoords:\n  lon:\n    size: 2\n    type: float64\n    attributes: {standard_name: longitude, units: degrees_east, axis: X}\n")
        .file("t.yaml", format!("ndarrays:\n  t:\n    shape: [time]\n    type: float32\n    attributes:\n      {of_array}\n"))
        .file("good.yaml", "ndarrays:\n  good:\n    shape: [time]\n    type: uint8\n    attributes: {standard_name: air_temperature status_flag, flag_meanings: yes no, flag_values: {shape: [2], type: uint8, value: [0, 1]}}\n")
}

#[test]
fn each_rule_is_kept_and_broken() {
    let time = "standard_name: time; units: days since 2000-01-01; axis: T";
    let good = "standard_name: air_temperature; units: degC";
    let conventions = "Conventions: CF-1.8";
    for (of_pack, of_time, of_array, expected) in [
        (conventions, time, good, &[][..]),
        ("Conventions: 'COARDS, CF-1.11'", &*format!("{time}; calendar: NoLeap"), good, &[]),
        (conventions, &*format!("{time}; calendar: mine; month_lengths: 30"), good, &[]),
        (
            conventions,
            time,
            "standard_name: air_temperature standard_error; units: mK; coordinates: lon",
            &[],
        ),
        // An older name for air_pressure_at_mean_sea_level.
        (conventions, time, "standard_name: air_pressure_at_sea_level; units: hPa", &[]),
        (conventions, time, "standard_name: region; units: 1", &[]),
        ("n: 1", time, good, &[("cf", "Conventions")]),
        ("Conventions: CF", time, good, &[("cf", "Conventions")]),
        (conventions, "standard_name: time; units: days", good, &[("units", "time")]),
        (conventions, "long_name: t; units: days; axis: T", good, &[("units", "time")]),
        (conventions, &*time.replace("axis: T", "axis: t"), good, &[("axis", "time")]),
        (conventions, &*format!("{time}; calendar: lunar"), good, &[("calendar", "time")]),
        (conventions, &*format!("{time}; positive: left"), good, &[("positive", "time")]),
        (
            conventions,
            &*time.replace("axis: T", "axis: X"),
            &*format!("{good}; coordinates: lon"),
            &[("same-axis", "t")],
        ),
        (conventions, time, "standard_name: air_temprature; units: K", &[("name", "t")]),
        (conventions, time, "standard_name: air_temperature mean; units: K", &[("modifier", "t")]),
        (conventions, time, "standard_name: air_temperature; units: hPa", &[("units", "t")]),
        (
            conventions,
            time,
            "standard_name: air_temperature; units: days since 2000-01-01",
            &[("units", "t")],
        ),
        (
            conventions,
            time,
            "standard_name: air_temperature status_flag; units: K",
            &[("units", "t")],
        ),
        (
            conventions,
            time,
            "standard_name: air_temperature number_of_observations; units: K",
            &[("units", "t")],
        ),
        (conventions, time, "standard_name: latitude; units: degrees", &[("units", "t")]),
        (conventions, time, "standard_name: longitude; units: degrees_north", &[("units", "t")]),
        (
            conventions,
            time,
            "standard_name: air_temperature; units: hPas",
            &[("unknown-units", "t")],
        ),
        (conventions, time, "long_name: t; flag_meanings: yes no", &[("flags", "t")]),
        (conventions, time, "long_name: t; flag_masks: 1", &[("flags", "t")]),
    ] {
        let pack = pack(of_pack, of_time, of_array);
        let expected: BTreeSet<_> =
            expected.iter().map(|(rule, at)| ((*rule).into(), (*at).into())).collect();
        assert_eq!(verdicts(pack.path(), "cf"), expected, "{of_pack}, {of_time}, {of_array}");
        let code = i32::from(!expected.is_empty());
        ra("validate", &[pack.path()], &["--convention", "cf"]).exits(code);
        ra("validate", &[pack.path()], &[]).exits(0);
    }
}

#[test]
fn what_acdd_recommends_is_a_warning() {
    let array = "standard_name: air_temperature; units: hPa";
    let time = "standard_name: time; units: days since 2000-01-01";
    let home = pack(
        "Conventions: ACDD-1.3, summary: a, keywords: b, geospatial_lat_min: '-3', date_created: June",
        time,
        array,
    );
    let found = verdicts(home.path(), "acdd");
    assert!(found.contains(&("date".into(), "ISO".into())), "{found:?}");
    assert!(found.contains(&("acdd".into(), "license".into())), "{found:?}");
    for known in ["Conventions", "summary", "geospatial_lat_min", "date_created", "title"] {
        assert!(!found.contains(&("acdd".into(), known.into())), "{known} in {found:?}");
    }
    // The units are wrong only for CF.
    ra("validate", &[home.path()], &["--convention", "acdd"]).exits(0).says(&[
        "warning[CONV002]: the pack lacks recommended attributes of ACDD",
        "describe --set NAME=VALUE",
    ]);
    ra("validate", &[home.path()], &["--convention", "acdd", "--strict"]).exits(1);
    ra("validate", &[home.path()], &["--convention", "cf"]).exits(1).says(&[
        "error[CONV001]: the units do not fit the standard name `air_temperature` (CF §3.1)",
        "= expected: `K`, or units that can be converted to it",
    ]);
}

#[test]
fn one_description_has_the_findings_that_it_has_in_the_pack() {
    let array = "standard_name: air_temprature; units: hPas";
    let home = pack("n: 1", "standard_name: time; units: days", array);
    let ran = ra("validate", &[&home.path().join("t.yaml")], &["--convention", "cf,acdd"]).exits(1);
    ran.says(&[
        "= expected: air_temperature",
        "error[META002]",
        "t.yaml:6:22",
        "2 errors (1 document",
    ]);
    let said = ra("validate", &[Path::new(".")], &["--convention", "cff"]).exits(2);
    said.says(&["cf, acdd"]);
}
