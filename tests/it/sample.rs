//! `examples/experiment` equals the output of its generator, is described, and is small.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::experiment::read_tree;

#[path = "../../examples/make_experiment.rs"]
#[expect(dead_code, reason = "an example's `main`")]
mod make_experiment;

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment")
}

#[test]
fn arrays_equal_the_output_of_the_generator() {
    let again = TempDir::new().unwrap();
    make_experiment::write_to(again.path()).unwrap();
    let again = read_tree(again.path());
    let mut arrays = read_tree(&sample());
    arrays.retain(|name, _| name.strip_suffix(".ra").is_some());
    assert_eq!(again.keys().collect::<Vec<_>>(), arrays.keys().collect::<Vec<_>>());
    for (name, bytes) in &arrays {
        assert!(again[name] == *bytes, "`cargo run --example make_experiment` changes {name}");
    }
}

#[test]
fn each_array_has_its_description_and_each_description_its_array() {
    let tree = read_tree(&sample());
    let stems = |end| tree.keys().filter_map(move |name| name.strip_suffix(end));
    assert!(stems(".ra").count() >= 8);
    assert_eq!(stems(".ra").collect::<Vec<_>>(), stems(".yaml").collect::<Vec<_>>());
}

#[test]
fn the_sample_is_small() {
    let bytes: usize = read_tree(&sample()).values().map(Vec::len).sum();
    assert!(bytes <= 60 << 10, "{bytes} bytes");
}
