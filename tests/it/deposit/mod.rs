//! Metadata for repositories, with validators that others wrote.

use std::fs;
use std::path::Path;

use crate::python::Python;

/// Returns what a validator says about a file, or about a directory with an RO-Crate; `None` without validators.
#[track_caller]
fn problems(kind: &str, path: &Path) -> Option<String> {
    let python = Python::of_deposits(&["datacite", "mlcroissant", "rocrate", "rocrate_validator"])?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/deposit/check.py");
    let output = python.command().arg(script).arg(kind).arg(path).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.success(), said.trim().is_empty(), "{said}");
    Some(said)
}

#[test]
fn the_validators_find_what_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("ro-crate-metadata.json");
    let crate_without_root =
        r#"{"@context": "https://w3id.org/ro/crate/1.2/context", "@graph": []}"#;
    for (kind, text, missing) in [
        ("ro-crate", crate_without_root, "no metadata file descriptor in crate"),
        ("datacite", "{}", "'publicationYear' is a required property"),
        ("croissant", "{}", "no node"),
    ] {
        fs::write(&file, text).unwrap();
        let path = if kind == "ro-crate" { home.path() } else { &file };
        let Some(said) = problems(kind, path) else { return };
        assert!(said.contains(missing), "{kind}: {said}");
    }
}
