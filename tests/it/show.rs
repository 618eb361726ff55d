use std::fs;
use std::path::Path;

use ra_pack::read::{NumberStatistics, Statistics, StatisticsOptions};
use ra_pack::write::CreateOptions;
use ra_pack::{Pack, create};
use serde_json::Value;

use crate::experiment::{COMPLEX64, Element, Experiment, FLOAT32, FLOAT64, le, ra_pack, raw_array};
use crate::python::Python;
use crate::run::ra;

fn numbers(pack: &Pack, member: &str, jobs: usize, slice: Option<&str>) -> NumberStatistics {
    let slice = slice.map(str::to_owned);
    let options = StatisticsOptions {
        slice,
        bins: Some(10),
        jobs: Some(jobs),
        ..StatisticsOptions::default()
    };
    match pack.array(member).unwrap().statistics(&options).unwrap() {
        Statistics::Numbers(numbers) | Statistics::Magnitudes(numbers) => numbers,
        other => panic!("{other:?}"),
    }
}

/// Writes arrays of many types into a directory, with their statistics and text from NumPy.
// words: imports a Python module
const MAKE: &str = r#"
import json, struct, sys
import numpy as np
rng = np.random.default_rng(5)
facts = {}
np.seterr(all='ignore')
for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split():
    t = np.dtype(name)
    for shape in [(7,), (300, 511), (3, 4, 5)]:
        if t.kind in 'iu':
            i = np.iinfo(t); a = rng.integers(i.min, i.max, shape, dtype=t, endpoint=True)
        else:
            a = (rng.standard_normal(shape) * 10).astype(t)
            if t.kind == 'c': a = a + (1j * rng.standard_normal(shape)).astype(t)
            flat = a.reshape(-1); flat[1] = np.nan; flat[2] = np.inf; flat[4] = -np.inf
        file = f"{name}_{len(shape)}.ra"
        eltype = {'i': 1, 'u': 2, 'f': 3, 'c': 4}[t.kind]
        with open(sys.argv[1] + "/" + file, "wb") as out:
            out.write(struct.pack("<8s5Q", b"rawarray", 0, eltype, t.itemsize, a.nbytes, a.ndim))
            out.write(struct.pack(f"<{a.ndim}Q", *a.shape)); out.write(a.tobytes(order="F"))
        v = np.abs(a.astype('c16')) if t.kind == 'c' else a
        f = v[np.isfinite(v)]
        w = f.astype('f8')
        facts[file] = dict(count=v.size, finite=f.size, nan=int(np.isnan(v).sum()),
            positive_infinite=int((v == np.inf).sum()), negative_infinite=int((v == -np.inf).sum()),
            min=repr(f.min().item()), max=repr(f.max().item()), mean=w.mean(), std=w.std(),
            histogram=np.histogram(w, 10)[0].tolist(), text=np.array2string(a))
        if t.kind == 'f': facts[file]['finite_text'] = np.array2string(np.abs(np.nan_to_num(a, posinf=1, neginf=2)) + 1)
json.dump(facts, open(sys.argv[1] + "/facts.json", "w"))
"#;

#[test]
#[ignore = "slow"]
fn statistics_and_text_equal_those_of_numpy_in_every_container_for_any_jobs() {
    let Some(python) = Python::with(&["numpy"]) else { return };
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("source");
    fs::create_dir(&source).unwrap();
    let made = python.command().args(["-c", MAKE]).arg(&source).status().unwrap();
    assert!(made.success());
    let facts: Value =
        serde_json::from_slice(&fs::read(source.join("facts.json")).unwrap()).unwrap();
    fs::remove_file(source.join("facts.json")).unwrap();
    let mut packs = vec![Pack::open(&source).unwrap()];
    for name in ["a.zip", "a.tar", "a.tar.gz", "deflated.zip"] {
        let mut options = CreateOptions { describe: true, ..CreateOptions::default() };
        if name.starts_with("deflated") {
            options.compression = ra_pack::archive::Compression::Deflate { level: None };
        }
        create(&source, home.path().join(name), &options).unwrap();
        packs.push(Pack::open(home.path().join(name)).unwrap());
    }
    for (file, facts) in facts.as_object().unwrap() {
        let first = numbers(&packs[0], file, 1, None);
        for (nth, pack) in packs.iter().enumerate() {
            for jobs in [1, 3] {
                let mut again = numbers(pack, file, jobs, None);
                assert_eq!(again.verified, nth > 0, "{file}");
                again.verified = false;
                assert_eq!(again, first, "{file}");
            }
        }
        // The same elements through a slice.
        let dims = packs[0].array(file).unwrap().shape().unwrap().len();
        let backwards = vec!["::-1"; dims].join(",");
        assert_eq!(numbers(&packs[1], file, 2, Some(&backwards)).max, first.max);
        for (key, found) in [
            ("count", first.count),
            ("finite", first.finite),
            ("nan", first.nan),
            ("positive_infinite", first.positive_infinite),
            ("negative_infinite", first.negative_infinite),
        ] {
            assert_eq!(facts[key], found, "{file} {key}");
        }
        let near = |key: &str, found: Option<f64>| {
            let expected = facts[key].as_f64().unwrap();
            let scale = facts["std"].as_f64().unwrap();
            assert!((found.unwrap() - expected).abs() <= 1e-12 * scale, "{file} {key} {found:?}");
        };
        near("mean", first.mean);
        near("std", first.std);
        for (key, found) in [("min", first.min), ("max", first.max)] {
            let expected = facts[key].as_str().unwrap();
            let found = found.unwrap();
            if file.contains("int") {
                assert_eq!(found.to_string(), expected, "{file}");
            } else {
                let expected: f64 = expected.parse().unwrap();
                assert!((found.to_f64() - expected).abs() <= expected.abs() * 1e-15, "{file}");
            }
        }
        let counts = first.histogram.unwrap().counts;
        assert_eq!(counts.iter().sum::<u64>(), first.finite, "{file}");
        if file.starts_with("float") {
            assert_eq!(facts["histogram"], serde_json::json!(counts), "{file}");
        }
        let shown = ra_pack().arg("show").arg(source.join(file)).arg("--json").assert().success();
        let shown: Value = serde_json::from_slice(&shown.get_output().stdout).unwrap();
        assert_eq!(shown["text"].as_str().unwrap(), facts["text"].as_str().unwrap(), "{file}");
    }
}

#[test]
fn missing_values_are_counted_separately() {
    let data = le(f64::to_le_bytes, [1.0, -999.0, 3.0, f64::NAN, 50.0, -7.0, 1e20]);
    let yaml = "ndarrays:\n  x:\n    shape: [7]\n    type: float64\n    attributes:\n      \
                missing_value: 1.0e+20\n      valid_range:\n        shape: [2]\n        type: float64\n        \
                value: [0.0, 40.0]\n    storage:\n      fillvalue: -999.0\n";
    let pack = Experiment::new().array("x.ra", FLOAT64, &[7], &data).file("x.yaml", yaml);
    let found = numbers(&Pack::open(pack.path()).unwrap(), "x.ra", 1, None);
    assert_eq!((found.missing, found.nan, found.finite), (4, 1, 2));
    assert_eq!((found.mean, found.std), (Some(2.0), Some(1.0)));
}

#[test]
fn integers_of_16_bytes_are_exact() {
    let home = tempfile::tempdir().unwrap();
    let data = le(i128::to_le_bytes, [i128::MAX, i128::MAX - 1, i128::MIN + 1]);
    fs::write(home.path().join("x.ra"), raw_array(Element(1, 16), &[3], &data)).unwrap();
    let (pack, member) = Pack::of_array(home.path().join("x.ra")).unwrap();
    let found = numbers(&pack, &member, 1, None);
    assert_eq!(found.max.unwrap().to_string(), i128::MAX.to_string());
    assert_eq!(found.min.unwrap().to_string(), (i128::MIN + 1).to_string());
}

#[test]
fn damage_is_found_by_statistics() {
    let home = tempfile::tempdir().unwrap();
    let sample = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/experiment"));
    let tar = home.path().join("x.tar");
    create(sample, &tar, &CreateOptions::default()).unwrap();
    let member = "thermistors/temperature.ra";
    let at = Pack::open(&tar).unwrap().array(member).unwrap().offsets().unwrap().unwrap().1;
    let mut bytes = fs::read(&tar).unwrap();
    bytes[usize::try_from(at).unwrap() + 1000] ^= 1;
    fs::write(&tar, bytes).unwrap();
    ra_pack().arg("show").arg(&tar).args([member, "--stats"]).assert().code(1);
}

#[test]
fn digits_are_exact_where_the_shortest_are_rounded_up() {
    let floats = |numbers: &[f32]| le(f32::to_le_bytes, numbers.iter().copied());
    let experiment = Experiment::new()
        .array("a.ra", FLOAT32, &[3], &floats(&[0.7, 1e9, 1.234_567_8]))
        .array("b.ra", FLOAT32, &[2], &floats(&[1e-20, 1.234_567_8]))
        .array("c.ra", COMPLEX64, &[3], &floats(&[1.0, 1.0, 2.0, f32::NAN, f32::NAN, f32::NAN]))
        .array("d.ra", FLOAT64, &[2], &le(f64::to_le_bytes, [1.0, 2.0]))
        .array("e.ra", FLOAT32, &[4], &floats(&[1.0, 2.0, 3.0, 4.0]))
        .file("e.yaml", "ndarrays:\n  e: {shape: [x], type: float32}\n")
        .array("x.ra", FLOAT64, &[4], &le(f64::to_le_bytes, [10.0, 20.0, 30.0, 40.0]));
    for (name, text) in [
        ("a.ra", "[6.9999999e-01 1.0000000e+09 1.2345678e+00]"),
        ("b.ra", "[9.9999997e-21 1.2345678e+00]"),
        ("c.ra", "[ 1. +1.j  2.+nanj nan+nanj]"),
    ] {
        ra("show", &[&experiment.path().join(name)], &[]).exits(0).says(&[text]);
    }
    // The coordinates are those of the shown part.
    let e = experiment.path().join("e.ra");
    ra("show", &[&e], &["--slice", "1:3"]).exits(0).says(&["x  [20. 30.]", "[2. 3.]"]);
    ra("show", &[&e], &["--slice", "[-1]"]).exits(0).says(&["x  40."]);
}

/// Returns a pack with attributes, coordinates in a group and above it, and an array without a description.
fn structured() -> Experiment {
    Experiment::standard()
        .file("README.md", "A mooring\n")
        .file(
            "run1/salinity.yaml",
            "ndarrays:\n  salinity:\n    \
             shape: [depth, time]\n    type: float32\n    attributes: {units: g kg-1, \
             long_name: absolute salinity, valid_min: 0}\n",
        )
        .array("run1/salinity.ra", FLOAT32, &[3, 5], &[0; 60])
        .array("run1/raw.ra", FLOAT32, &[2], &[0; 8])
        .file(
            "manifest.yaml",
            "/:\n  attributes: {title: A mooring, year: 2024}\n/run1:\n  attributes: {station: M1, \
             title: of the run}\n",
        )
}

#[test]
fn the_structure_of_a_pack_is_shown_by_group() {
    let experiment = structured();
    let scratch = tempfile::tempdir().unwrap();
    let archive = scratch.path().join("x.zip");
    crate::run::create(experiment.path(), &archive, &["--describe"]).exits(0);
    let shown = |target: &Path, options: &[&str]| {
        let text = String::from_utf8(ra("show", &[target], options).exits(0).out).unwrap();
        let squeeze = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().map(squeeze).collect::<Vec<_>>()
    };
    for target in [experiment.path(), &archive] {
        let lines = shown(target, &[]);
        assert!(lines[0].contains(": 13 arrays in 3 groups ("), "{lines:#?}");
        assert_eq!(lines[1..4], ["Attributes:", "title A mooring", "year 2024"]);
        let start = lines.iter().position(|line| line == "Group /run1").unwrap();
        assert_eq!(
            lines[start..start + 14],
            [
                "Group /run1",
                "Attributes:",
                "station M1",
                "title of the run",
                "Dimensions: depth 3, time 5 (/time)",
                "Coordinates:",
                "depth (depth) int16 m",
                "Variables:",
                "gain () int64",
                "image (3, 2, 4) uint8",
                if target == archive { "raw (2) float32" } else { "raw (2) float32 not described" },
                "salinity (depth, time) float32 g kg-1 absolute salinity",
                "temperature (depth, time) float32",
                "",
            ],
            "{lines:#?}"
        );
        assert!(lines.contains(&"quality (time) enum of uint8".to_owned()), "{lines:#?}");
        // One group with its subgroups.
        for name in ["run1", "run1/", "/run1"] {
            let one = shown(target, &[name]);
            assert_eq!(one[2..14], lines[start..start + 12], "{name}");
            assert!(!one.contains(&"Group /run2".to_owned()));
        }
        assert!(shown(target, &["--full"]).contains(&"valid_min 0".to_owned()));
        let json = ra("show", &[target], &["--json"]).exits(0).json();
        assert_eq!(json["attributes"]["year"], 2024);
        let run1 = &json["groups"][1];
        assert_eq!(run1["dimensions"][1]["coordinate"], "/time");
        assert_eq!(run1["coordinates"][0]["member"], "run1/depth.ra");
        let salinity = &run1["variables"][3];
        assert_eq!(salinity["dimensions"], serde_json::json!(["depth", "time"]));
        assert_eq!(salinity["attributes"]["valid_min"], 0);
        let counts = &json["groups"][2]["variables"][1];
        assert_eq!(
            (&counts["shape"], &counts["order"]),
            (&serde_json::json!([5, 3]), &"row".into())
        );
    }
    ra("show", &[&archive], &["nowhere/"]).exits(2).says(&["has no member `nowhere/`"]);
    ra("show", &[&archive], &["run1", "--stats"]).exits(2).says(&["is a directory"]);
}

#[test]
fn only_some_of_many_groups_and_arrays_are_shown() {
    let mut experiment = Experiment::new();
    for number in 0..50 {
        experiment = experiment.array(&format!("run{number}/x.ra"), FLOAT32, &[1], &[0; 4]).array(
            &format!("many{number}.ra"),
            FLOAT32,
            &[1],
            &[0; 4],
        );
    }
    let lines = |options: &[&str]| {
        let ran = ra("show", &[experiment.path()], options).exits(0);
        let said = ran.said();
        (said.lines().count(), said)
    };
    let (some, said) = lines(&[]);
    assert!(some < 130 && said.contains("… and 31 more groups") && said.contains("… and 10 more;"));
    let (all, said) = lines(&["--full"]);
    assert!(all > 50 + 4 * 50 && !said.contains('…'), "{said}");
    let json = ra("show", &[experiment.path()], &["--json"]).exits(0).json();
    assert_eq!(json["groups"].as_array().unwrap().len(), 51);
    let none = Experiment::new().file("a.txt", "a");
    ra("show", &[none.path()], &[])
        .exits(0)
        .says(&[": 0 arrays (directory)", "no arrays; `ra-pack list"]);
}

/// BART writes 16 dimensions, most of length 1. Their brackets and blank lines are left out.
#[test]
fn dimensions_of_length_1_do_not_hide_the_values_of_an_array_with_many_dimensions() {
    let values = le(f32::to_le_bytes, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let shown = |dims: &[u64]| {
        let source = Experiment::new().array("a.ra", FLOAT32, dims, &values);
        let ran = ra_pack().arg("show").arg(source.path().join("a.ra")).assert().success();
        let text = String::from_utf8(ran.get_output().stdout.clone()).unwrap();
        text.split_once("[[").map(|(_, values)| values.to_owned()).unwrap()
    };
    let mut dims = [1; 16];
    dims[..2].copy_from_slice(&[2, 3]);
    assert_eq!(shown(&dims), shown(&[2, 3]));
    dims[..2].copy_from_slice(&[1, 1]);
    dims[14..].copy_from_slice(&[2, 3]);
    assert_eq!(shown(&dims), shown(&[2, 3]));
    assert!(shown(&[1, 2, 3, 1]).starts_with("[["), "NumPy's brackets for four dimensions");
}
