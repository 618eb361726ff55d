//! Content digests: one array has one digest in every format, and `verify --against` compares numbers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use ra_pack::convert::{ConvertOptions, content_digests};
use ra_pack::digest::Digest;
use ra_pack::ra::Header;
use ra_pack::{ElementType, Pack};
use serde_json::Value;
use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT64, INT16, UINT8, le, ra_pack, raw_array};
use crate::python::Python;
use crate::run::{Ran, run_as};

fn run(directory: &Path, line: &str) -> Ran {
    run_as(ra_pack().current_dir(directory).args(line.split(' ')))
}

/// Returns the digests that the command prints as text, after comparing them with those in its JSON.
fn digests(directory: &Path, target: &str) -> BTreeMap<String, String> {
    let ran = run(directory, &format!("manifest --content {target}")).exits(0);
    let text = String::from_utf8(ran.out).unwrap();
    let lines = text.lines().map(|line| line.split_once("  ").unwrap());
    let listed: BTreeMap<_, _> = lines.map(|(digest, name)| (name.into(), digest.into())).collect();
    let json = run(directory, &format!("manifest --content --json {target}")).exits(0).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let arrays = json["digests"].as_array().unwrap().iter();
    let arrays: BTreeMap<_, _> =
        arrays.map(|array| (text(&array["name"]), text(&array["digest"]))).collect();
    assert_eq!(listed, arrays, "{target}");
    listed
}

#[test]
#[ignore = "slow"]
fn the_same_arrays_have_the_same_digests_in_every_format() {
    let Some(python) = Python::with(&["numpy", "h5py", "netCDF4"]) else { return };
    let home = TempDir::new().unwrap();
    let at = home.path();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/content.py");
    let ran = python.command().arg(script).current_dir(at).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let expected: BTreeMap<String, String> = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(expected.len(), 10);
    for line in [
        "convert little.h5 column",
        "convert --order row c.npz row",
        "create column -o column.zip",
        "create --compression=deflate row -o row.zip",
        "create --layout bagit column -o bag.tar.gz",
        "convert NETCDF4.nc nc.zip",
    ] {
        run(at, line).exits(0);
    }
    for target in ["c.npz", "f.npz", "big.npz", "little.h5", "big.h5"] {
        assert_eq!(digests(at, target), expected, "{target}");
    }
    for target in ["column", "row", "column.zip", "row.zip", "bag.tar.gz"] {
        assert_eq!(digests(at, target), expected, "{target}");
    }
    for target in ["NETCDF3_64BIT_DATA.nc", "NETCDF4.nc", "nc.zip"] {
        let found = digests(at, target);
        assert_eq!(found.len(), 5, "{target}");
        assert!(found.iter().all(|(name, digest)| expected[name] == *digest), "{target}");
    }
    for source in ["f.npz", "big.h5", "row", "row.zip", "bag.tar.gz"] {
        let said = run(at, &format!("verify column.zip --against {source}")).exits(0);
        said.says(&["  cube: same numbers\n", "10 of 10 arrays with the same numbers"]);
    }
    run(at, "verify column.zip --against NETCDF4.nc").exits(1).says(&[
        "  half: missing in NETCDF4.nc\n",
        "  large: same numbers\n",
        "5 of 10 arrays with the same numbers as in NETCDF4.nc\n",
    ]);
    run(at, "verify nc.zip --against c.npz").exits(1).says(&["  half: missing in nc.zip\n"]);
}

/// A file with the elements 1, 2, 3, 4, 5, -6, in each order, has the digest on the page.
#[test]
fn the_digests_in_the_specification_are_those_of_the_command() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/spec/rawarray.md");
    let page = fs::read_to_string(page).unwrap();
    let elements = le(i16::to_le_bytes, [1, 2, 3, 4, 5, -6]);
    for (order, shape) in [("column", "[3, 2]"), ("row", "[2, 3]"), ("row-unreversed", "[3, 2]")] {
        let description = format!(
            "ndarrays: {{x: {{shape: {shape}, type: int16, storage: {{order: {order}}}}}}}\n"
        );
        let experiment =
            Experiment::new().array("x.ra", INT16, &[3, 2], &elements).file("x.yaml", description);
        let digest = &digests(experiment.path(), "x.ra")["x"];
        let row = format!("| `{order}` | {shape} | `{digest}` |");
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn against_says_what_differs_and_where() {
    let home = Experiment::new()
        .array("p/same.ra", INT16, &[2, 2], &le(i16::to_le_bytes, [1, -2, 3, 4]))
        .array("p/other.ra", INT16, &[2, 2], &le(i16::to_le_bytes, [1, -2, 3, 4]))
        .array("p/part.ra", INT16, &[2, 2], &le(i16::to_le_bytes, [1, 2, 3, 4]))
        .array("p/shape.ra", UINT8, &[4], &[1, 2, 3, 4])
        .array("p/big.ra", UINT8, &[1], &[1])
        .array("p/here.ra", UINT8, &[1], &[1])
        .array("s/same.ra", INT16, &[2, 2], &le(i16::to_le_bytes, [1, -2, 3, 4]))
        .array("s/other.ra", FLOAT64, &[2, 2], &le(f64::to_le_bytes, [1.0, -2.0, 3.0, 4.0]))
        .array("s/part.ra", FLOAT64, &[2, 2], &le(f64::to_le_bytes, [1.0, 2.0, 3.5, 4.0]))
        .array("s/shape.ra", UINT8, &[2, 2], &[1, 2, 3, 4])
        .array("s/big.ra", UINT8, &[1], &[1])
        .array("s/there.ra", UINT8, &[1], &[1]);
    let at = home.path();
    run(at, "create --describe p -o p.zip").exits(0);
    let ran = run(at, "verify p.zip --against s").exits(1);
    let text = String::from_utf8(ran.out.clone()).unwrap();
    let said: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(
        said,
        [
            "  big: same numbers",
            "  here: missing in s",
            "  other: same numbers, other type (type int16 and float64)",
            "  part: differs first at [0, 1]: 3 vs 3.5 (1 of 4 elements)",
            "  same: same numbers",
            "  shape: differs: shape [4] and [2, 2]",
            "  there: missing in p.zip",
            "3 of 7 arrays with the same numbers as in s",
        ]
    );
    let quiet = run(at, "verify -q p.zip --against s").exits(1);
    assert_eq!(String::from_utf8(quiet.out).unwrap().lines().count(), 4);
    let json = run(at, "verify --json p.zip --against s").exits(1);
    let text = String::from_utf8(json.out).unwrap();
    let second: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let words = second["arrays"].as_array().unwrap().iter().map(|array| &array["agreement"]);
    let words: Vec<_> = words.map(|word| word.as_str().unwrap()).collect();
    let (same, differs) = ("same-numbers", "differs");
    let missing = ["missing-in-source", "missing-in-pack"];
    let other = "same-numbers-other-type";
    assert_eq!(words, [same, missing[0], other, differs, same, differs, missing[1]]);
    // Without what differs, everything agrees, and other types do not matter.
    run(at, "verify p/other.ra --against s/other.ra")
        .exits(0)
        .says(&["  other: same numbers, other type"]);
    run(at, "diff p/other.ra s/other.ra").exits(1).says(&["elements  same numbers, other type"]);
    run(at, "diff p s").exits(1).says(&["elements  same numbers, other type", "3 → 3.5 at [0, 1]"]);
    // Arrays without namesakes are compared if each target has one.
    run(at, "verify p/same.ra --against s/other.ra").exits(0);
    run(at, "verify p.zip --against missing.nc").exits(2).says(&["missing.nc"]);
    run(at, "verify p.zip s --against s").exits(2).says(&["--against compares one target"]);
    // A damaged pack is reported as without a source.
    let mut bytes = fs::read(at.join("p.zip")).unwrap();
    let elements = le(i16::to_le_bytes, [1, -2, 3, 4]);
    let place = bytes.windows(8).position(|window| window == elements).unwrap();
    bytes[place] ^= 1;
    fs::write(at.join("p.zip"), bytes).unwrap();
    run(at, "verify p.zip --against s").exits(1).says(&["p.zip: NOT VALID", "other.ra"]);
    run(at, "manifest --content p.zip").exits(1).says(&["other.ra"]);
}

/// An integer is not the same number as the float that is nearest to it.
#[test]
fn large_integers_are_compared_exactly() {
    let large = (1_i64 << 53) + 1;
    let home = Experiment::new()
        .file("a.ra", raw_array(crate::experiment::INT64, &[1], &large.to_le_bytes()))
        .file("b.ra", raw_array(FLOAT64, &[1], &9_007_199_254_740_992_f64.to_le_bytes()))
        .file("c.ra", raw_array(crate::experiment::INT64, &[1], &(large - 1).to_le_bytes()));
    let at = home.path();
    run(at, "verify a.ra --against b.ra").exits(1).says(&["differs first at [0]"]);
    run(at, "verify c.ra --against b.ra").exits(0).says(&["same numbers, other type"]);
}

#[test]
fn arrays_without_a_digest_and_unreadable_files_are_reported() {
    let text = "ndarrays: {names: {shape: [2], type: string, value: [a, bcd]}}\n";
    let home = Experiment::new()
        .array("d/x.ra", UINT8, &[1], &[1])
        .file("d/names.yaml", text)
        .file("d/cut.npy", "\u{93}NUMPY")
        .file("swap.ra", {
            let mut file = raw_array(crate::experiment::Element(0, 4), &[1], &[1, 2, 3, 4]);
            file[8] = 1;
            file
        });
    let at = home.path();
    let ran = run(at, "manifest --content d").exits(1);
    ran.says(&["names: its elements are texts in its description", "cut.npy", "  x\n"]);
    run(at, "manifest --content swap.ra").exits(1).says(&["swap.ra", "user4"]);
    run(at, "manifest --content --check d").exits(2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The digest is that of the bytes that the specification gives, in any order and byte order of the file.
    #[test]
    fn a_digest_does_not_depend_on_how_an_array_is_stored(
        shape in prop::collection::vec(0_u64..5, 0..4),
        order in prop::sample::select(vec!["column", "row", "row-unreversed"]),
        is_big in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
        let rows: Vec<u32> = (0..count as u64)
            .map(|at| u32::try_from(at.wrapping_mul(seed | 1) >> 32).unwrap())
            .collect();
        let place = |number: usize| {
            // Returns the position in row order of an element of the file.
            let (mut left, mut at, mut step) = (number as u64, 0, count as u64);
            for length in &shape {
                step /= length;
                at += left % length * step;
                left /= length;
            }
            usize::try_from(at).unwrap()
        };
        let at = |number| if order == "column" { place(number) } else { number };
        let bytes = |value: u32| if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
        let data: Vec<u8> = (0..count).flat_map(|number| bytes(rows[at(number)])).collect();
        let reversed: Vec<u64> = shape.iter().rev().copied().collect();
        let dims = if order == "row" { reversed.clone() } else { shape.clone() };
        let header = Header::new(ElementType::UINT32, dims).unwrap();
        let header = if is_big { header.big_endian() } else { header };
        let order = if shape.len() > 1 { order } else { "column" };
        let description =
            format!("ndarrays: {{x: {{shape: {shape:?}, type: uint32, storage: {{order: {order}}}}}}}\n");
        let home = Experiment::new()
            .file("x.ra", [&header.encode()[..], &data].concat())
            .file("x.yaml", description);
        let file = Header::new(ElementType::UINT32, reversed).unwrap().encode();
        let little = rows.iter().flat_map(|value| value.to_le_bytes());
        let expected = Digest::sha256(&file.into_iter().chain(little).collect::<Vec<u8>>());
        let array = Pack::open(home.path()).unwrap().array("x").unwrap();
        prop_assert_eq!(array.content_digest().unwrap(), expected);
        let report = content_digests(home.path(), &ConvertOptions::default()).unwrap();
        prop_assert_eq!(report.manifest.entries()[0].digest, expected);
    }
}
