//! Rounds: every contestant runs once in each, and the order rotates from round to round.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::check;
use super::contestant::{Check, Contestant, Kind};
use super::measure::{measure, succeeds};
use super::options::Options;
use super::samples::{Group, Row};
use super::workloads::{Tree, Workload};

/// A run of the comparison, with the directory for its archives.
#[derive(Debug)]
pub(crate) struct Bench<'o> {
    pub(crate) options: &'o Options,
    work: PathBuf,
}

impl<'o> Bench<'o> {
    pub(crate) fn new(options: &'o Options) -> Self {
        let work = options.work.join(format!("run-{}", std::process::id()));
        fs::create_dir_all(&work).unwrap();
        fs::create_dir_all(&options.results).unwrap();
        super::machine::note(options);
        Self { options, work }
    }

    /// Returns a path for a file of this run.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    pub(crate) fn tree(&self, workload: Workload) -> Tree {
        workload.make(&self.options.data)
    }

    /// Empties the working directory.
    pub(crate) fn clear(&self) {
        fs::remove_dir_all(&self.work).unwrap();
        fs::create_dir_all(&self.work).unwrap();
    }

    /// Runs the contestants, and stores the samples.
    pub(crate) fn compete(
        &self,
        operation: &str,
        workload: &str,
        tree: &Tree,
        contestants: Vec<Contestant>,
        rounds: usize,
    ) {
        let mut notes = Vec::new();
        let mut present = Vec::new();
        for contestant in contestants {
            if contestant.kind == Kind::Peer && !self.options.peers {
                continue;
            }
            match contestant.needs.iter().find(|need| !self.is_installed(need)) {
                Some(missing) => {
                    let missing = missing.trim_start_matches("py:");
                    notes.push(format!(
                        "{}: skipped, because {missing} is not installed",
                        contestant.name
                    ));
                }
                None => present.push(contestant),
            }
        }
        for contestant in &present {
            prepare(contestant);
        }
        let mut rows: Vec<Row> = present
            .iter()
            .map(|contestant| Row::new(&contestant.name, contestant.kind, &contestant.what))
            .collect();
        // The first round warms the caches, and its results are checked.
        for round in 0..=rounds {
            for turn in 0..present.len() {
                let index = (round + turn) % present.len();
                let row = &mut rows[index];
                let sample = self.run(&present[index], round, row, tree);
                if self.options.progress {
                    eprintln!("{operation} {workload} {round}/{rounds} {:40} {sample:?}", row.name);
                }
            }
        }
        let facts = [tree.arrays().count() as u64, tree.files.len() as u64, tree.bytes()];
        let (operation, workload) = (operation.to_owned(), workload.to_owned());
        Group { operation, workload, facts, rows, notes }.save(&self.options.results);
    }

    fn run(&self, contestant: &Contestant, round: usize, row: &mut Row, tree: &Tree) -> f64 {
        if let Some(out) = &contestant.out {
            remove(out);
            if contestant.into {
                fs::create_dir_all(out).unwrap();
            }
        }
        if let Some(before) = &contestant.before {
            assert!(succeeds(before), "{}: {before:?}", contestant.name);
        }
        // Data of earlier runs must not be written back during this one.
        rustix::fs::sync();
        let index = round % contestant.commands.len();
        let sample = measure(&contestant.commands[index])
            .unwrap_or_else(|fault| panic!("{} failed: {fault}", contestant.name));
        let always = matches!(contestant.check, Check::Same(_));
        if (round == 0 || always)
            && let Err(fault) = check::check(contestant, index, tree, &self.options.python)
        {
            panic!("{}: {fault}", contestant.name);
        }
        if let Some(out) = &contestant.out {
            row.bytes = out.metadata().map_or(0, |metadata| metadata.len());
            remove(out);
        }
        if round > 0 {
            row.samples.push(sample);
        }
        sample.wall
    }

    fn is_installed(&self, need: &str) -> bool {
        match need.strip_prefix("py:") {
            Some(module) => succeeds(&[
                self.options.python.clone(),
                "-c".to_owned(),
                format!("import {module}"),
            ]),
            None => std::env::var_os("PATH").is_some_and(|path| {
                std::env::split_paths(&path).any(|directory| directory.join(need).is_file())
            }),
        }
    }
}

impl Drop for Bench<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.work);
    }
}

/// Makes the file that a contestant needs, unless it exists, and reads it once.
fn prepare(contestant: &Contestant) {
    for prepared in &contestant.prepared {
        if !prepared.file.exists() {
            let made = succeeds(&prepared.command);
            assert!(made, "{}: {:?} failed", contestant.name, prepared.command);
        }
        if prepared.file.is_file() {
            read_all(&prepared.file);
        }
    }
}

fn remove(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else {
        let _ = fs::remove_file(path);
    }
}

fn read_all(path: &Path) {
    let mut file = fs::File::open(path).unwrap();
    let mut buffer = vec![0; 1 << 20];
    while file.read(&mut buffer).unwrap() > 0 {}
}
