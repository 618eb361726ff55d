//! The command line of the comparison.

use std::path::PathBuf;

use super::workloads::Workload;

pub(crate) const HELP: &str = "\
usage: cargo bench --bench compare -- OPTION...

Measures ra-pack against a baseline and other tools, and prints tables. At least one option is
required, because measuring everything takes hours. Tools that are not installed are skipped with a note.

  --workload LIST   W1 to W8, tiny, or all (W1 to W7)             [W1,W2,W3,W4,W5,W6,W7]
  --ops LIST        create, verify, get, extract, list, compressed, jobs, library, slices,
                    convert, scaling, memory, startup, all; none only makes the tables
                                                                  [create,verify,get,extract]
  --rounds N        number of rounds, after one that is not counted  [7]
  --peers WHO       all, or none: compare only with the baseline  [all]
  --members LIST    numbers of members for scaling                [1000,10000,100000,1000000]
  --python FILE     a Python, if possible with NumPy, h5py, bagit and Pillow  [python3]
  --ra-pack FILE    the program to measure                        [the one built by cargo]
  --data DIR        where to make and keep workloads              [target/compare/data]
  --work DIR        where to write archives during the run; a tmpfs for extract
                                                                  [target/compare/work]
  --results DIR     where to keep samples                         [target/compare/results]
  --out FILE        put the tables between the markers of this page, and plots next to it
";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Verify,
    Get,
    Extract,
    List,
    Compressed,
    Jobs,
    Library,
    Slices,
    Convert,
    Scaling,
    Memory,
    StartUp,
}

impl Operation {
    pub(crate) const ALL: [Self; 13] = [
        Self::Create,
        Self::Verify,
        Self::Get,
        Self::Extract,
        Self::List,
        Self::Compressed,
        Self::Jobs,
        Self::Library,
        Self::Slices,
        Self::Convert,
        Self::Scaling,
        Self::Memory,
        Self::StartUp,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Verify => "verify",
            Self::Get => "get",
            Self::Extract => "extract",
            Self::List => "list",
            Self::Compressed => "compressed",
            Self::Jobs => "jobs",
            Self::Library => "library",
            Self::Slices => "slices",
            Self::Convert => "convert",
            Self::Scaling => "scaling",
            Self::Memory => "memory",
            Self::StartUp => "startup",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) workloads: Vec<Workload>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) rounds: usize,
    pub(crate) peers: bool,
    pub(crate) members: Vec<u64>,
    pub(crate) python: String,
    pub(crate) ra_pack: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) work: PathBuf,
    pub(crate) results: PathBuf,
    pub(crate) out: Option<PathBuf>,
    /// Whether to report each run.
    pub(crate) progress: bool,
}

impl Options {
    /// Returns the defaults.
    pub(crate) fn new() -> Self {
        let home = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/compare");
        Self {
            workloads: Workload::SEVEN.to_vec(),
            operations: Operation::ALL[..4].to_vec(),
            rounds: 7,
            peers: true,
            members: vec![1_000, 10_000, 100_000, 1_000_000],
            python: "python3".to_owned(),
            ra_pack: PathBuf::from(env!("CARGO_BIN_EXE_ra-pack")),
            data: home.join("data"),
            work: home.join("work"),
            results: home.join("results"),
            out: None,
            progress: true,
        }
    }

    /// Parses the options; `None` if there are none, or help is requested.
    pub(crate) fn parse(arguments: &[String]) -> Result<Option<Self>, String> {
        let mut options = Self::new();
        let mut asked = false;
        let mut arguments = arguments.iter();
        while let Some(name) = arguments.next() {
            // `cargo bench` adds this one.
            if name == "--bench" {
                continue;
            }
            if name == "--help" || name == "-h" {
                return Ok(None);
            }
            asked = true;
            let value = arguments.next().ok_or(format!("`{name}` needs a value"))?;
            match name.as_str() {
                "--workload" if value == "all" => options.workloads = Workload::SEVEN.to_vec(),
                "--workload" => options.workloads = list(value, Workload::from_name)?,
                "--ops" if value == "all" => options.operations = Operation::ALL.to_vec(),
                "--ops" if value == "none" => options.operations.clear(),
                "--ops" => {
                    options.operations = list(value, |name| {
                        Operation::ALL.into_iter().find(|operation| operation.name() == name)
                    })?;
                }
                "--rounds" => options.rounds = number(value)?,
                "--peers" => {
                    options.peers = match value.as_str() {
                        "all" => true,
                        "none" => false,
                        _ => return Err(format!("`--peers {value}`: all or none")),
                    }
                }
                "--members" => options.members = list(value, |text| text.parse().ok())?,
                "--python" => options.python.clone_from(value),
                "--ra-pack" => options.ra_pack = absolute(value),
                "--data" => options.data = absolute(value),
                "--work" => options.work = absolute(value),
                "--results" => options.results = absolute(value),
                "--out" => options.out = Some(absolute(value)),
                _ => return Err(format!("unknown option `{name}`")),
            }
        }
        Ok(asked.then_some(options))
    }
}

fn list<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
    text.split(',').map(|word| read(word).ok_or(format!("unknown: `{word}`"))).collect()
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or(format!("not a number above 0: `{text}`"))
}

fn absolute(text: &str) -> PathBuf {
    std::path::absolute(text).unwrap_or_else(|_| PathBuf::from(text))
}
