//! A short run for `cargo test --bench compare`: every kind of measurement on a few small files, with the baseline as
//! the only contestant, and the tables put into a copy of the page.

use std::fs;
use std::path::Path;

use super::options::{Operation, Options};
use super::page;
use super::workloads::Workload;

pub(crate) fn run() {
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name);
    let mut operations = Operation::ALL.to_vec();
    // Their workloads are always large.
    operations.retain(|operation| !matches!(operation, Operation::Library | Operation::Slices));
    let options = Options {
        workloads: vec![Workload::Tiny],
        operations,
        rounds: 1,
        peers: false,
        members: vec![20, 200],
        progress: false,
        data: at("data"),
        work: at("work"),
        results: at("results"),
        ..Options::new()
    };
    let tables = super::measured(&options);
    for operation in &options.operations {
        let made = tables.iter().find(|(name, _)| name == operation.name());
        assert!(made.is_some_and(|(_, table)| table.contains('|')), "{operation:?}: no table");
    }
    let page = at("performance.md");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/performance.md"), &page).unwrap();
    page::update(&page, &tables, &options.results);
    let text = fs::read_to_string(&page).unwrap();
    for (name, table) in &tables {
        let has_place = text.contains(&format!("<!-- table: {name} -->"));
        assert_eq!(text.contains(table.trim_end()), has_place, "{name}");
    }
    assert!(fs::read_to_string(at("scaling.svg")).unwrap().ends_with("</svg>\n"));
}
