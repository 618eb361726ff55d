//! Support: small runs of every command that writes, and checks of the files after each outcome.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ra_pack::verify::VerifyOptions;
use tempfile::TempDir;

use super::{is_unfinished, noise};
use crate::experiment::{Experiment, INT16, UINT8, read_tree};
use crate::run::run;

pub(super) type Tree = BTreeMap<String, Vec<u8>>;

/// A run that can be repeated: it changes only files in `place`.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    /// Arguments of the run after a killed one.
    again: Vec<String>,
    base: TempDir,
    /// Files in `place` before the run.
    before: Tree,
    /// Files in `place` after a run without faults.
    pub(super) after: Tree,
}

/// Returns a few files of each kind, so that a run is short and makes every kind of call.
fn small() -> Experiment {
    Experiment::new()
        .file("README.txt", "The measured data.\n")
        .array("run1/a.ra", UINT8, &[3000], &noise(1, 3000))
        .describe("run1/a.yaml", "[3000]", "uint8")
        .array("b.ra", INT16, &[2], &[1, 0, 2, 0])
        .describe("b.yaml", "[t]", "int16")
        .array("t.ra", INT16, &[2], &[0, 0, 7, 0])
        .file("t.yaml", "dimcoords:\n  t:\n    type: int16\n    size: 2\n")
        // Too large to be compressed by a worker.
        .file("c.bin", noise(2, 40_000))
        .empty_directory("empty")
}

fn write_tree(directory: &Path, tree: &Tree) {
    fs::create_dir_all(directory).unwrap();
    for (name, bytes) in tree {
        let path = directory.join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
}

/// Adds a file with the name of a signature to an archive with a manifest.
fn with_signature(mut tree: Tree, ending: &str) -> Tree {
    tree.insert(format!("x{ending}.manifest-sha256.txt.minisig"), b"signed by hand".to_vec());
    tree
}

/// Returns the unfinished file or directory that a file is or is in.
fn unfinished(name: &str) -> Option<&str> {
    let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
    ends.filter_map(|end| name.get(..end)).find(|name| is_unfinished(name))
}

/// Whether a file next to an archive is its manifest or digest, or a signature.
fn is_manifest(name: &str) -> bool {
    [".manifest-sha256.txt", ".sha256", ".minisig"].iter().any(|ending| name.ends_with(ending))
}

impl Scenario {
    /// Creates a scenario. Replaces `{source}`, `{archive}` (an existing one) and `{place}` in `line`.
    fn new(name: &str, line: &str, ending: &str, before: Tree) -> Self {
        let base = TempDir::new().unwrap();
        let path = |name: &str| base.path().join(name).to_str().unwrap().to_owned();
        write_tree(base.path(), &Tree::from([("place/".to_owned(), Vec::new())]));
        write_tree(Path::new(&path("source")), &read_tree(small().path()));
        let archive = path(&format!("kept{ending}"));
        run(["create", &path("source"), "-o", &archive, "--layout=plain"]).exits(0);
        let fill = |word: &str| {
            let word = word.replace("{archive}", &archive).replace("{source}", &path("source"));
            word.replace("{place}", &path("place"))
        };
        let arguments: Vec<String> = line.split(' ').map(fill).collect();
        let mut again = arguments.clone();
        if arguments[0] != "describe" && !line.contains("--force") {
            again.push("--force".to_owned());
        }
        let name = name.to_owned();
        let mut scenario = Self { name, arguments, again, base, before, after: Tree::new() };
        scenario.reset();
        run(&scenario.arguments).exits(0);
        scenario.after = read_tree(&scenario.place());
        scenario.reset();
        scenario
    }

    pub(super) fn create(ending: &str, options: &str, replaces: bool) -> Self {
        let mut before = Tree::new();
        if replaces {
            let scratch = TempDir::new().unwrap();
            let other = Experiment::new().file("other.txt", "an earlier archive");
            let archive = scratch.path().join(format!("x{ending}"));
            crate::run::create(other.path(), &archive, &["--archive-digest"]).exits(0);
            before = with_signature(read_tree(scratch.path()), ending);
        }
        let force = if replaces { " --force" } else { "" };
        let line = format!(
            "create {{source}} -o {{place}}/x{ending} -j1 --archive-digest {options}{force}"
        );
        Self::new(&format!("create x{ending} {options}{force}"), &line, ending, before)
    }

    pub(super) fn add(ending: &str, options: &[&str]) -> Self {
        let scratch = TempDir::new().unwrap();
        let archive = scratch.path().join(format!("x{ending}"));
        crate::run::create(small().path(), &archive, options).exits(0);
        let before = with_signature(read_tree(scratch.path()), ending);
        let line = format!("add {{place}}/x{ending} -C {{source}}/run1 a.ra a.yaml -j1");
        Self::new(&format!("add x{ending}"), &line, ending, before)
    }

    pub(super) fn extract(ending: &str, replaces: bool) -> Self {
        let mut before = Tree::new();
        let force = if replaces { " --force" } else { "" };
        if replaces {
            before.insert("run1/a.ra".to_owned(), b"an earlier file".to_vec());
            before.insert("mine.txt".to_owned(), b"not in the archive".to_vec());
        }
        let line = format!("extract {{archive}} -C {{place}} -j1{force}");
        Self::new(&format!("extract x{ending}{force}"), &line, ending, before)
    }

    pub(super) fn get(ending: &str, what: &str, replaces: bool) -> Self {
        let force = if replaces { " --force" } else { "" };
        let mut before = Tree::new();
        if replaces {
            before.insert("got".to_owned(), b"an earlier file".to_vec());
        }
        let line = format!("get {{archive}} {what} -o {{place}}/got{force}");
        Self::new(&format!("get x{ending} {what}{force}"), &line, ending, before)
    }

    pub(super) fn convert(what: &str, output: &str, replaces: bool) -> Self {
        let force = if replaces { " --force" } else { "" };
        let mut before = Tree::new();
        if replaces {
            before.insert(output.to_owned(), b"an earlier file".to_vec());
        }
        let line = format!("convert {what} {{place}}/{output} -j1{force}");
        Self::new(&format!("convert {what} {output}{force}"), &line, ".zip", before)
    }

    /// Creates a scenario that prints, or writes a picture or a page.
    pub(super) fn look(line: &str, ending: &str) -> Self {
        Self::new(&format!("{line} of x{ending}"), line, ending, Tree::new())
    }

    pub(super) fn describe() -> Self {
        let mut tree = read_tree(small().path());
        tree.retain(|name, _| name.strip_suffix(".yaml").is_none());
        Self::new("describe --write", "describe --write {place}", ".zip", tree)
    }

    pub(super) fn base(&self) -> &Path {
        self.base.path()
    }

    pub(super) fn place(&self) -> PathBuf {
        self.base.path().join("place")
    }

    /// Returns the archive that `get` and `extract` read.
    pub(super) fn archive(&self) -> PathBuf {
        let names = fs::read_dir(self.base()).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| !is_manifest(path.to_str().unwrap())).find(|p| p.is_file()).unwrap()
    }

    /// Restores the state before the run.
    pub(super) fn reset(&self) {
        fs::remove_dir_all(self.place()).unwrap();
        write_tree(&self.place(), &self.before);
    }

    /// Returns the files next to `place`, which no run may change.
    pub(super) fn surroundings(&self) -> Tree {
        let mut tree = read_tree(self.base());
        tree.retain(|name, _| !name.starts_with("place/"));
        tree
    }

    /// Returns all problems after a run that ended with `code` (`None` if it was killed) and printed `err`.
    pub(super) fn objections(&self, code: Option<i32>, err: &str) -> Vec<String> {
        let found = read_tree(&self.place());
        let mut wrong = Vec::new();
        let mut object = |what: String| wrong.push(what);
        match code {
            Some(0) if !self.is_after(&found, err) => {
                object("success, but the files differ".to_owned());
            }
            Some(2) if err.contains("panicked") => object("a panic".to_owned()),
            Some(2)
                if !err.contains("ra-pack: ") || !err.contains(self.base().to_str().unwrap()) =>
            {
                object("the message names no file".to_owned());
            }
            None | Some(0 | 2) => {}
            Some(code) => object(format!("exit status {code}")),
        }
        // Nothing that belongs to an archive is lost as long as it stays.
        let is_archive = |name: &&String| name.starts_with('x') && !is_manifest(name);
        let stays = |name: &String| found.get(name) == self.before.get(name);
        if code == Some(2) && self.before.keys().filter(is_archive).all(stays) {
            for name in self.before.keys().filter(|name| is_manifest(name) && !stays(name)) {
                object(format!("`{name}` is lost"));
            }
        }
        let mut left = Vec::new();
        for (name, bytes) in found.iter().filter(|(name, _)| !name.ends_with('/')) {
            let whole =
                [&self.before, &self.after].iter().any(|tree| tree.get(name) == Some(bytes));
            if unfinished(name).is_some() && code == Some(0) {
                continue;
            }
            if let (Some(unfinished), None) = (unfinished(name), code) {
                left.push(self.place().join(unfinished));
            } else if !whole {
                object(format!("`{name}` is not complete, or should not exist"));
            }
        }
        // An existing file remains or is replaced; its manifest may be removed.
        for name in self.before.keys() {
            let is_manifest = is_manifest(name);
            if !found.contains_key(name) && !is_manifest && !name.ends_with('/') {
                object(format!("`{name}` is gone"));
            }
        }
        let place = self.place();
        if ["create", "add"].contains(&&*self.arguments[0]) {
            for name in found.keys().filter(|name| unfinished(name).is_none()) {
                let is_manifest = is_manifest(name);
                if is_manifest
                    && !found.keys().any(|other| name.starts_with(other) && name != other)
                {
                    object(format!("`{name}` has no archive"));
                } else if !is_manifest && !name.ends_with('/') {
                    let report =
                        ra_pack::verify(place.join(name), &VerifyOptions::default()).unwrap();
                    report.findings.iter().for_each(|finding| object(format!("verify: {finding}")));
                }
            }
        }
        left.dedup();
        if !left.is_empty() {
            wrong.extend(self.objections_to_next_run(&left));
        }
        wrong
    }

    /// Whether these are the files after a run without faults, and others that the run has named.
    fn is_after(&self, found: &Tree, err: &str) -> bool {
        let mut found = found.clone();
        found.retain(|name, _| unfinished(name).is_none_or(|left| !err.contains(left)));
        found == self.after
    }

    /// Checks that the next run reports the leftovers of the killed one, and has the same result.
    fn objections_to_next_run(&self, left: &[PathBuf]) -> Vec<String> {
        let ran = run(&self.again);
        let mut wrong = Vec::new();
        if ran.code != Some(0) {
            wrong.push(format!("the next run ends with {:?}: {}", ran.code, ran.err));
        }
        // Files that were set aside have their names again.
        for path in left.iter().filter(|path| path.exists()) {
            let path = path.to_str().unwrap();
            if !ran.err.contains(&format!("`{path}` was left by an interrupted run")) {
                wrong.push(format!("the next run does not name `{path}`: {}", ran.err));
            }
        }
        let mut found = read_tree(&self.place());
        found.retain(|name, _| unfinished(name).is_none());
        if found != self.after {
            wrong.push("the next run has another result".to_owned());
        }
        wrong
    }
}
