//! `validate --for`: the rules of repositories for uploads, each kept and broken.

use std::fs;
use std::path::Path;

use ra_pack::inspect::repositories;
use tempfile::TempDir;

use crate::experiment::Experiment;
use crate::run::{create, ra, unhelpful};

const GB: u64 = 1_000_000_000;

/// Returns codes and members of the findings about a target.
fn found(target: &Path, repositories: &str) -> Vec<(String, String)> {
    let ran = ra("validate", &[target], &["--json", "--for", repositories]);
    let found = ran.findings();
    assert!(unhelpful(&ran.json()).is_empty(), "{}", ran.said());
    found.into_iter().filter(|(code, _)| code.starts_with("REPO")).collect()
}

/// Writes files that only have a size.
fn sparse(files: &[(&str, u64)]) -> TempDir {
    let home = TempDir::new().unwrap();
    for (name, size) in files {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(path).unwrap().set_len(*size).unwrap();
    }
    home
}

#[test]
fn each_rule_is_kept_and_broken() {
    let (much, name) = ("REPO001", "REPO002");
    for (repository, files, expected) in [
        ("b2share", &[("a", 10 * GB)][..], &[][..]),
        ("b2share", &[("a", 10 * GB + 1)], &[(much, "a")]),
        ("b2share", &[("a", 10 * GB), ("b", 10 * GB), ("c", 1)], &[(much, "")]),
        ("dataverse", &[("a", 900 * GB), ("run 1/b-c_d.ra", 1)], &[]),
        ("dataverse", &[("run/b;c", 1), ("d#", 1)], &[(name, "d#"), (name, "run/b;c")]),
        ("dataverse", &[("run&1/a", 1), ("run&1/b", 1)], &[("REPO003", "run&1/a")]),
        ("dryad", &[("a", 10 * GB), ("b", 10 * GB)], &[]),
        ("dryad", &[("a", 10 * GB + 1)], &[(much, "a")]),
        ("dryad", &[("a", 2000 * GB), ("b", 1)], &[(much, ""), (much, "a")]),
        ("figshare", &[("a", 20 * GB)], &[]),
        ("figshare", &[("a", 20 * GB), ("b", 1)], &[(much, "")]),
        ("zenodo", &[("a", 50 * GB)], &[]),
        ("zenodo", &[("a", 50 * GB + 1)], &[(much, ""), (much, "a")]),
        ("zenodo", &[("run/a", 1)], &[("REPO003", "")]),
    ] {
        let home = sparse(files);
        let expected: Vec<_> =
            expected.iter().map(|(code, name)| ((*code).into(), (*name).into())).collect();
        assert_eq!(found(home.path(), repository), expected, "{repository} {files:?}");
    }
}

#[test]
fn the_number_of_files_is_that_of_what_is_uploaded() {
    let names: Vec<_> = (0..101).map(|number| format!("{number}.txt")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let many = sparse(&files);
    assert_eq!(found(many.path(), "zenodo"), [("REPO001".to_owned(), String::new())]);
    assert_eq!(found(sparse(&files[1..]).path(), "zenodo"), []);
    let home = TempDir::new().unwrap();
    let archive = home.path().join("many.tar");
    create(many.path(), &archive, &["--archive-digest"]).exits(0);
    assert_eq!(found(&archive, "zenodo,dataverse,figshare"), []);
    // The manifest next to the archive is uploaded with it.
    let manifest = home.path().join("many.tar.manifest-sha256.txt");
    fs::File::options().write(true).open(manifest).unwrap().set_len(51 * GB).unwrap();
    let name = "many.tar.manifest-sha256.txt".to_owned();
    let expected = [("REPO001".to_owned(), String::new()), ("REPO001".to_owned(), name)];
    assert_eq!(found(&archive, "zenodo"), expected);
}

#[test]
fn a_dataverse_unpacks_zips_and_then_has_the_names_in_them() {
    let experiment = Experiment::new().file("run/a;b.txt", "x");
    let home = TempDir::new().unwrap();
    for (ending, expected) in [(".zip", &["REPO002", "REPO003"][..]), (".tar", &[])] {
        let archive = home.path().join(format!("exp{ending}"));
        create(experiment.path(), &archive, &[]).exits(0);
        let codes: Vec<_> =
            found(&archive, "dataverse").into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, expected, "{ending}");
    }
    let ran = ra("validate", &[&home.path().join("exp.zip")], &["--for", "dataverse"]).exits(1);
    ran.says(&[
        "a tar, or a zip in a zip",
        "guides.dataverse.org",
        "read on 20",
        "1 error, 1 warning",
    ]);
}

#[test]
fn each_rule_has_a_source_and_a_date() {
    let table = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/inspect/repositories.txt"),
    );
    let table = table.unwrap();
    let rules: Vec<_> = table.lines().filter(|line| !line.starts_with('#')).collect();
    for rule in &rules {
        let words: Vec<_> = rule.split(' ').collect();
        let [repository, _, _, source, date] = words[..] else { panic!("{rule}") };
        assert!(repositories().contains(&repository) && source.starts_with("https://"), "{rule}");
        assert!(date.len() == 10 && date.starts_with("20"), "{rule}");
    }
    assert_eq!(repositories(), ["b2share", "dataverse", "dryad", "figshare", "zenodo"]);
    let said = ra("validate", &[Path::new(".")], &["--for", "zenodoo"]).exits(2);
    said.says(&["expected b2share, dataverse, dryad, figshare, zenodo"]);
}
