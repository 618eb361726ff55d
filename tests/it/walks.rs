//! The walks of `create`, `get` and `verify` on the page of the architecture: short, and true.
//!
//! A walk names each file that sees a member, its bytes or its findings. Other files that run are named with their roles
//! in a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::experiment::{UINT8, raw_array};
use crate::run::cargo;
use crate::skips::{is_long, skip};

const PAGE: &str = "docs/architecture.md";

/// The heading of each walk, the largest number of its files, and the command.
const WALKS: [(&str, usize, &str); 3] = [
    ("## How `create` packs a file\n", 20, "create source -o x.zip"),
    ("## How `get` reads an array\n", 20, "get x.zip a.ra -o a.ra"),
    ("## How `verify` reports a problem\n", 24, "verify x.zip"),
];

/// The heading of the table of other files.
const OTHERS: &str = "## Other files that run\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns a section of the page, from its heading to the next one.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let (_, after) = page.split_once(heading).unwrap_or_else(|| panic!("{PAGE} lacks {heading}"));
    after.split("\n## ").next().unwrap()
}

/// Returns the files and folders in a text.
fn files(text: &str) -> impl Iterator<Item = String> {
    text.split('`').filter(|word| word.starts_with("src/")).map(str::to_owned)
}

/// Returns the files in the numbered list of a section, each with its alternatives: "`A` or `B`".
fn walk(page: &str, heading: &str) -> Vec<Vec<String>> {
    let lines = section(page, heading).lines().skip_while(|line| !line.starts_with("1. "));
    let is_item =
        |line: &&str| line.starts_with(|start: char| start == ' ' || start.is_ascii_digit());
    let list = lines.take_while(is_item).map(str::trim).collect::<Vec<_>>().join(" ");
    let mut walk: Vec<Vec<String>> = Vec::new();
    let mut before = "";
    for word in list.split('`') {
        let is_known = walk.iter().flatten().any(|file| file == word);
        let is_file = word.starts_with("src/") && Path::new(word).extension().is_some();
        if is_file && !is_known {
            match walk.last_mut().filter(|_| before == " or ") {
                Some(files) => files.push(word.to_owned()),
                None => walk.push(vec![word.to_owned()]),
            }
        }
        before = word;
    }
    walk
}

#[test]
fn the_walks_are_short_and_their_files_exist() {
    let page = crate::page::read(PAGE);
    for (heading, most, _) in WALKS {
        let walk = walk(&page, heading);
        assert!((8..=most).contains(&walk.len()), "{} files: {heading}{walk:?}", walk.len());
        assert!(walk.iter().flatten().all(|file| root().join(file).is_file()), "{walk:?}");
    }
    assert!(files(section(&page, OTHERS)).all(|file| root().join(file).exists()));
}

/// Builds the command so that it counts which functions run.
fn instrumented() -> PathBuf {
    let target = root().join("target/walks");
    let built = cargo()
        .args(["build", "--quiet", "--locked", "--bin", "ra-pack", "--target-dir"])
        .arg(&target)
        .current_dir(root())
        .env("RUSTFLAGS", "-C instrument-coverage")
        .env("LLVM_PROFILE_FILE", target.join("build-%m.profraw"))
        .status();
    assert!(built.unwrap().success());
    target.join("debug/ra-pack")
}

/// Returns the files of `src` with a function that runs.
fn executed(binary: &Path, tools: &Path, place: &Path, arguments: &str) -> BTreeSet<String> {
    let (counts, merged) = (place.join("x.profraw"), place.join("x.profdata"));
    let mut command = Command::new(binary);
    command.args(arguments.split(' ')).current_dir(place).env("LLVM_PROFILE_FILE", &counts);
    assert!(command.status().unwrap().success(), "{arguments}");
    let merge = Command::new(tools.join("llvm-profdata"))
        .args(["merge", "-sparse", "-o"])
        .args([&merged, &counts])
        .status();
    assert!(merge.unwrap().success());
    let exported = Command::new(tools.join("llvm-cov"))
        .args(["export", "-skip-expansions", "-instr-profile"])
        .args([&merged, binary])
        .output();
    let exported: Value = serde_json::from_slice(&exported.unwrap().stdout).unwrap();
    let functions = exported["data"][0]["functions"].as_array().unwrap();
    let run = functions.iter().filter(|function| function["count"] != 0);
    let files = run.flat_map(|function| function["filenames"].as_array().unwrap());
    let source = root().to_str().unwrap();
    let files = files.filter_map(|file| file.as_str()?.strip_prefix(source)?.strip_prefix('/'));
    files.filter(|file| file.starts_with("src/")).map(str::to_owned).collect()
}

#[test]
#[ignore = "builds the command again, which takes minutes"]
fn the_walks_name_the_files_that_run() {
    if !is_long() {
        return;
    }
    let libraries = Command::new("rustc").args(["--print", "target-libdir"]).output().unwrap();
    let libraries = String::from_utf8(libraries.stdout).unwrap();
    let tools = Path::new(libraries.trim()).with_file_name("bin");
    if !tools.join("llvm-cov").exists() {
        return skip("`rustup component add llvm-tools` is needed");
    }
    let page = crate::page::read(PAGE);
    let others: Vec<String> = files(section(&page, OTHERS)).collect();
    let is_other = |file: &String| {
        others.iter().any(|other| file == other || file.starts_with(&format!("{other}/")))
    };
    let (binary, place) = (instrumented(), TempDir::new().unwrap());
    let source = place.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("a.ra"), raw_array(UINT8, &[3], &[1, 2, 3])).unwrap();
    fs::write(source.join("a.yaml"), "ndarrays:\n  a:\n    shape: [3]\n    type: uint8\n").unwrap();
    let mut wrong = BTreeMap::new();
    for (heading, _, arguments) in WALKS {
        let (walk, run) =
            (walk(&page, heading), executed(&binary, &tools, place.path(), arguments));
        let is_named = |file: &String| walk.iter().flatten().any(|named| named == file);
        let unnamed: Vec<_> =
            run.iter().filter(|file| !is_named(file) && !is_other(file)).cloned().collect();
        let idle = walk.into_iter().filter(|files| !files.iter().any(|file| run.contains(file)));
        let idle: Vec<_> = idle.collect();
        if !unnamed.is_empty() || !idle.is_empty() {
            wrong.insert(arguments, (unnamed, idle));
        }
    }
    assert!(
        wrong.is_empty(),
        "files that run and are not named, and named files that do not run: {wrong:#?}"
    );
}
