//! Samples as text files: one for each table of each workload.

use std::fs;
use std::path::Path;

use super::contestant::Kind;
use super::measure::Sample;

/// All samples of one contestant.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) what: String,
    /// Size of its output or input in bytes.
    pub(crate) bytes: u64,
    /// One sample for each round, in order.
    pub(crate) samples: Vec<Sample>,
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, kind: Kind, what: impl Into<String>) -> Self {
        Self { name: name.into(), kind, what: what.into(), bytes: 0, samples: Vec::new() }
    }
}

/// The samples of one operation on one workload.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) operation: String,
    pub(crate) workload: String,
    /// The size of the workload: arrays, files, bytes.
    pub(crate) facts: [u64; 3],
    pub(crate) rows: Vec<Row>,
    /// The contestants that were skipped, with the reason.
    pub(crate) notes: Vec<String>,
}

impl Group {
    pub(crate) fn save(&self, directory: &Path) {
        let [arrays, files, bytes] = self.facts;
        let mut text = format!("facts\t{arrays}\t{files}\t{bytes}\n");
        for note in &self.notes {
            text.push_str(&format!("note\t{}\n", note.replace(['\t', '\n'], " ")));
        }
        for row in &self.rows {
            let (name, kind) = (&row.name, row.kind.name());
            text.push_str(&format!("row\t{name}\t{kind}\t{}\t{}\n", row.what, row.bytes));
            for Sample { wall, cpu, peak } in &row.samples {
                text.push_str(&format!("sample\t{wall:.9}\t{cpu:.6}\t{peak}\n"));
            }
        }
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join(format!("{}-{}.tsv", self.operation, self.workload)), text)
            .unwrap();
    }

    /// Loads all samples in a directory, sorted by workload.
    pub(crate) fn load_all(directory: &Path) -> Vec<Self> {
        let mut paths: Vec<_> = fs::read_dir(directory)
            .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
            .unwrap_or_default();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "tsv"));
        paths.sort();
        paths.iter().map(|path| Self::load(path)).collect()
    }

    fn load(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (operation, workload) = name.split_once('-').unwrap();
        let mut group = Self {
            operation: operation.to_owned(),
            workload: workload.to_owned(),
            facts: [0; 3],
            rows: Vec::new(),
            notes: Vec::new(),
        };
        for line in fs::read_to_string(path).unwrap().lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            let number = |index: usize| cells[index].parse().unwrap();
            match cells[0] {
                "facts" => group.facts = [number(1), number(2), number(3)],
                "note" => group.notes.push(cells[1].to_owned()),
                "row" => {
                    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == cells[2]).unwrap();
                    let row = Row::new(cells[1], kind, cells[3]);
                    group.rows.push(Row { bytes: number(4), ..row });
                }
                _ => {
                    let [wall, cpu] = [1, 2].map(|index| cells[index].parse().unwrap());
                    let sample = Sample { wall, cpu, peak: number(3) };
                    group.rows.last_mut().unwrap().samples.push(sample);
                }
            }
        }
        group
    }
}
