//! Each code of a problem is shown by the command, and the index of tests by code is complete.
//!
//! `RA_PACK_WRITE_DOCS=1 cargo test generated` writes the index, `tests/codes.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ra_pack::Code;
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::page;
use crate::run::ra;
use crate::spec::vectors;

/// Returns the codes that a text names.
fn codes_in(text: &str) -> impl Iterator<Item = &'static str> {
    let words: BTreeSet<_> = text.split(|byte: char| !byte.is_ascii_alphanumeric()).collect();
    Code::ALL.iter().map(|code| code.id()).filter(move |id| words.contains(id))
}

/// Collects `MODULE::TEST` by code. A code in a function or table that tests share counts for the module alone.
fn index_tests(
    directory: &Path,
    module: &str,
    index: &mut BTreeMap<&'static str, BTreeSet<String>>,
) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() {
            index_tests(&path, &format!("{module}{stem}::"), index);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = format!("{module}{}", if stem == "mod" { "" } else { stem });
            let module = module.trim_end_matches("::");
            let text = fs::read_to_string(&path).unwrap();
            let mut parts = text.split("#[test]\n");
            let mut shared = parts.next().unwrap().to_owned();
            for part in parts {
                let name = part.split_once("fn ").unwrap().1.split_once('(').unwrap().0;
                let (body, rest) = part.split_once("\n}\n").unwrap_or((part, ""));
                for code in codes_in(body) {
                    index.entry(code).or_default().insert(format!("{module}::{name}"));
                }
                shared.push_str(rest);
            }
            for code in codes_in(&shared) {
                index.entry(code).or_default().insert(module.to_owned());
            }
        }
    }
}

#[test]
fn the_index_of_tests_by_code_is_generated() {
    let mut index = BTreeMap::new();
    index_tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it"), "", &mut index);
    for kind in ["arrays", "descriptions", "packs"] {
        for vector in vectors(kind) {
            for code in codes_in(&vector.to_string()) {
                let tests: &mut BTreeSet<_> = index.entry(code).or_default();
                tests.insert(vector["file"].as_str().unwrap().to_owned());
            }
        }
    }
    let mut table = String::from("| code | tests and vectors |\n|---|---|\n");
    for code in Code::ALL.iter().map(|code| code.id()) {
        let tests = index.get(code).map(|tests| tests.iter().map(|test| format!("`{test}`")));
        let tests: Vec<_> = tests.unwrap_or_else(|| panic!("no test shows {code}")).collect();
        writeln!(table, "| {code} | {} |", tests.join(", ")).unwrap();
    }
    page::check_tables("tests/codes.md", &table);
}

/// Returns the codes of all findings in the output of a command, at any depth.
fn codes_of(output: &[u8]) -> BTreeSet<String> {
    fn collect(json: &Json, codes: &mut BTreeSet<String>) {
        match json {
            Json::Array(items) => items.iter().for_each(|item| collect(item, codes)),
            Json::Object(entries) => {
                codes.extend(entries.get("code").and_then(Json::as_str).map(str::to_owned));
                entries.values().for_each(|value| collect(value, codes));
            }
            _ => {}
        }
    }
    let mut codes = BTreeSet::new();
    for line in std::str::from_utf8(output).unwrap().lines() {
        collect(&serde_json::from_str(line).unwrap(), &mut codes);
    }
    codes
}

/// Other tests compare the vectors with the library. An array alone also lacks its description.
#[test]
#[ignore = "slow"]
fn the_command_reports_the_codes_of_every_vector() {
    for (kind, command) in
        [("arrays", "validate"), ("descriptions", "validate"), ("packs", "verify")]
    {
        for vector in vectors(kind) {
            let file = vector["file"].as_str().unwrap();
            let ran = ra(command, &[&crate::spec::vector(file)], &["--json"]);
            let codes =
                ["errors", "warnings"].into_iter().flat_map(|key| vector[key].as_array().unwrap());
            let expected: BTreeSet<_> =
                codes.map(|code| code.as_str().unwrap().to_owned()).collect();
            let codes = codes_of(&ran.out);
            assert!(expected.is_subset(&codes), "{file}: {codes:?}");
        }
    }
}

/// Inputs that are too large for a vector, or no part of the specification.
#[test]
fn the_command_reports_codes_of_large_and_foreign_documents() {
    let home = TempDir::new().unwrap();
    let inputs = [
        (
            "NDL002",
            "commas.yaml",
            format!("ndarrays: {{z: {{value: [{}]}}}}\n", "0,".repeat(2_100_000)),
        ),
        (
            "NDL012",
            "mistakes.yaml",
            (0..1100).map(|number| format!("wrong{number}: 1\n")).collect::<Vec<_>>().concat(),
        ),
        ("DESC012", "manifest.yaml", "files: [a, b]\n".to_owned()),
    ];
    for (code, name, text) in inputs {
        let path = home.path().join(name);
        fs::write(&path, text).unwrap();
        let codes = codes_of(&ra("validate", &[&path], &["--json"]).exits(1).out);
        assert!(codes.contains(code), "{code}: {codes:?}");
    }
}
