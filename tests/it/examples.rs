//! Every program in `examples/` runs and prints the expected output.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::run::cargo;

/// Runs an example in an empty directory and returns its output.
fn run(example: &str) -> (String, TempDir) {
    let directory = TempDir::new().unwrap();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = cargo()
        .args(["run", "--quiet", "--offline", "--example", example, "--manifest-path"])
        .arg(manifest)
        .current_dir(directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{example}: {said}");
    (said, directory)
}

/// Runs an example that writes no file into the working directory.
fn said_by(example: &str) -> String {
    let (said, directory) = run(example);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "{example} left something");
    said
}

fn assert_says(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "no `{part}` in:\n{said}");
    }
}

#[test]
fn pack_and_verify_prints_a_summary() {
    let said = said_by("pack_and_verify");
    assert_says(
        &said,
        &[
            "Packed 10 arrays as experiment.zip",
            "Verified",
            "thermistors/temperature.ra",
            "float32",
            "[10, 149]",
            "°C at 60 m",
        ],
    );
    assert_eq!(said.matches("°C at").count(), 10, "one for each thermistor:\n{said}");
}

#[test]
fn logger_reports_what_is_on_the_disk() {
    let (said, directory) = run("logger");
    assert_says(&said, &["50 arrays are on the disk", "wrote 1000 arrays to run.zip"]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "the pack and its manifest");
}

#[test]
fn read_array_shows_shapes_orders_and_a_refusal() {
    assert_says(
        &said_by("read_array"),
        &[
            "temperature[depth, time]: [10, 149]",
            "velocity[component, bin 0, first day]: [2, 24]",
            "counts in the file: [10, 149]",
            "counts[time, depth]: [149, 10]",
            "expected elements of `f32` (float32), found float64",
        ],
    );
}

#[test]
fn zero_copy_views_aligned_data() {
    assert_says(
        &said_by("zero_copy"),
        &[
            "velocity[component, bin, time]: [2, 6, 149]",
            "aligned to 64 bytes: true",
            "verified against the manifest: true",
        ],
    );
}

#[test]
fn any_type_reads_every_array() {
    let said = said_by("any_type");
    assert_says(
        &said,
        &[
            "currents/spectrum.ra: complex64 [149, 6]\n  complex64 elements are not compared\n  [0, ...] [6]",
            "thermistors/counts.ra: int16 [10, 149]\n  least Some(-32768)\n  [0, ...] [149]",
            "sea_floor_depth.ra: float64 []\n  least Some(63.5)",
        ],
    );
    assert_eq!(said.matches(".ra: ").count(), 10, "{said}");
}

#[test]
fn describe_prints_the_document_of_the_pack() {
    assert_says(
        &said_by("describe"),
        &["/run1:", "time:", "shape: [2, time]", "type: float32", "units: mV", "units: s"],
    );
}

#[test]
fn the_example_of_the_original_crate_works() {
    let (said, directory) = run("rawarray");
    assert_eq!(said, "");
    let file = fs::read(directory.path().join("myarray.ra")).unwrap();
    let data = [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat();
    let expected = crate::experiment::raw_array(crate::experiment::FLOAT32, &[4], &data);
    assert_eq!(file, expected);
}

#[test]
fn every_example_is_run_here() {
    let tests = include_str!("examples.rs");
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        // The generator of the sample data has its own tests.
        let is_program = path.extension().is_some_and(|end| end == "rs");
        if is_program && stem != "make_experiment" {
            assert!(tests.contains(&format!("(\"{stem}\")")), "{stem}");
        }
    }
}
