//! A contestant: its commands, their expected results, and its label in a table.

use std::path::{Path, PathBuf};

/// The group of a contestant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ours,
    /// The baseline.
    Limit,
    Peer,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Ours, Self::Limit, Self::Peer];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Limit => "limit",
            Self::Peer => "peer",
        }
    }
}

/// The expected result of a run.
#[derive(Debug, Clone)]
pub(crate) enum Check {
    /// The command succeeds.
    Success,
    /// The zip, the uncompressed tar or the tree has every file, byte for byte.
    Zip,
    Tar,
    Tree,
    /// The output is the file of this round, byte for byte.
    Same(Vec<PathBuf>),
    /// This command accepts the result.
    Accepted(Vec<String>),
    /// The command rejects this archive after a byte of its content is flipped.
    Refuses(PathBuf),
    /// The HDF5 or npz file has as many arrays as the workload.
    Arrays(&'static str),
}

/// A file that must exist before the rounds, and the command that makes it.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) file: PathBuf,
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Contestant {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// A note for readers of the table.
    pub(crate) what: String,
    /// Required programs, and Python modules as `py:numpy`.
    pub(crate) needs: Vec<&'static str>,
    pub(crate) prepared: Vec<Prepared>,
    /// A command that runs before each round and is not measured.
    pub(crate) before: Option<Vec<String>>,
    /// The commands, one for each round in turn.
    pub(crate) commands: Vec<Vec<String>>,
    /// The output of a run; removed before the next.
    pub(crate) out: Option<PathBuf>,
    /// Whether `out` is a directory that must exist.
    pub(crate) into: bool,
    pub(crate) check: Check,
}

impl Contestant {
    pub(crate) fn new(name: impl Into<String>, kind: Kind, command: Vec<String>) -> Self {
        Self {
            name: name.into(),
            kind,
            what: String::new(),
            needs: Vec::new(),
            prepared: Vec::new(),
            before: None,
            commands: vec![command],
            out: None,
            into: false,
            check: Check::Success,
        }
    }

    pub(crate) fn what(mut self, what: impl Into<String>) -> Self {
        self.what = what.into();
        self
    }

    pub(crate) fn needs(mut self, needs: &[&'static str]) -> Self {
        self.needs = needs.to_vec();
        self
    }

    pub(crate) fn after(mut self, prepared: Prepared) -> Self {
        self.prepared.push(prepared);
        self
    }

    pub(crate) fn makes(mut self, out: impl AsRef<Path>, check: Check) -> Self {
        self.out = Some(out.as_ref().to_owned());
        self.check = check;
        self
    }

    pub(crate) fn into_directory(mut self, out: impl AsRef<Path>) -> Self {
        self.into = true;
        self.makes(out, Check::Tree)
    }
}

/// Makes a command from its words.
macro_rules! words {
    ($($word:expr),* $(,)?) => { vec![$(std::ffi::OsString::from($word).into_string().unwrap()),*] };
}
pub(crate) use words;

/// Makes a shell command, which refers to the arguments as `$1`, `$2`, …
pub(crate) fn shell(line: &str, arguments: &[&Path]) -> Vec<String> {
    let mut command = words!["sh", "-ec", line, "sh"];
    command.extend(arguments.iter().map(|path| path.to_str().unwrap().to_owned()));
    command
}
