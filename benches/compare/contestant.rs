//! A competitor: what it runs, what that must leave behind, and what it stands for in a table.

use std::path::{Path, PathBuf};

/// Whom the figures are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ours,
    /// The bare work.
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

/// What must be right after a run.
#[derive(Debug, Clone)]
pub(crate) enum Check {
    /// It succeeded.
    Success,
    /// The zip, the plain tar or the tree holds every file, byte for byte.
    Zip,
    Tar,
    Tree,
    /// What was got are the bytes of the file that the round asked for.
    Same(Vec<PathBuf>),
    /// This command, which looks at what was made, succeeds.
    Accepted(Vec<String>),
    /// It refuses this archive once a byte of the content has been flipped.
    Refuses(PathBuf),
    /// The scientific container of this kind holds as many arrays.
    Arrays(&'static str),
    /// The list of digests has as many lines as there are files.
    Lines,
}

/// A file that must be there before the rounds; its command makes it once.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) file: PathBuf,
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Contestant {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// What a reader of the table has to know.
    pub(crate) what: String,
    /// Programs that must be installed, and modules of Python, written `py:numpy`.
    pub(crate) needs: Vec<&'static str>,
    pub(crate) prepared: Vec<Prepared>,
    /// Run before each round, not measured.
    pub(crate) before: Option<Vec<String>>,
    /// One for each round in turn.
    pub(crate) commands: Vec<Vec<String>>,
    /// What a run makes: removed before the next.
    pub(crate) out: Option<PathBuf>,
    /// `out` is a directory that must be there.
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

/// A command from its words.
macro_rules! words {
    ($($word:expr),* $(,)?) => { vec![$(std::ffi::OsString::from($word).into_string().unwrap()),*] };
}
pub(crate) use words;

/// A line of the shell, which refers to the other words as `$1`, `$2`, …
pub(crate) fn shell(line: &str, arguments: &[&Path]) -> Vec<String> {
    let mut command = words!["sh", "-ec", line, "sh"];
    command.extend(arguments.iter().map(|path| path.to_str().unwrap().to_owned()));
    command
}
