//! Archives that `verify` accepts without a warning are read the same by other tools: the installed readers unpack the
//! same names, kinds and contents as `ra_pack::extract`.
//!
//! Run all families of changed archives, and random ones, which take minutes, after changes to what is accepted:
//!
//! ```sh
//! RA_PACK_LONG=1 cargo test --test it differential -- --include-ignored
//! ```

mod tar;
mod zip;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ra_pack::verify::VerifyOptions;
use ra_pack::write::ExtractOptions;
use ra_pack::{extract, verify};
use tempfile::TempDir;

use crate::foreign::{complaint, installed};

/// Entry after unpacking.
#[derive(PartialEq, Eq)]
pub(super) enum Node {
    File(Vec<u8>),
    Directory,
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(bytes) => {
                let start = String::from_utf8_lossy(bytes.get(..20).unwrap_or(bytes));
                write!(f, "a file of {} bytes, {start:?}", bytes.len())
            }
            Self::Directory => f.write_str("a directory"),
            Self::Link => f.write_str("a link"),
            Self::Special => f.write_str("a special file"),
        }
    }
}

/// Entries below a directory, by path.
pub(super) type Tree = BTreeMap<String, Node>;

/// Result of a reader.
pub(super) struct Unpacked {
    pub(super) reader: &'static str,
    pub(super) tree: Tree,
    /// Error message, if it failed.
    pub(super) refusal: Option<String>,
}

/// A shell command that unpacks `$1` into the directory `$2`.
struct Reader {
    name: &'static str,
    line: &'static str,
    endings: &'static [&'static str],
}

const READERS: [Reader; 5] = [
    Reader { name: "unzip", line: "unzip -qqo \"$1\" -d \"$2\"", endings: &[".zip"] },
    Reader { name: "7z", line: "7z x -y -bd -bso0 -o\"$2\" \"$1\"", endings: &[".zip", ".tar"] },
    Reader {
        name: "bsdtar",
        line: "bsdtar -xf \"$1\" -C \"$2\"",
        endings: &[".zip", ".tar", ".tar.gz", ".tar.zst"],
    },
    // Without seeking, it reads the local headers.
    Reader {
        name: "bsdtar from a pipe",
        line: "cat \"$1\" | bsdtar -xf - -C \"$2\"",
        endings: &[".zip"],
    },
    Reader {
        name: "tar",
        line: "tar -xf \"$1\" -C \"$2\"",
        endings: &[".tar", ".tar.gz", ".tar.zst"],
    },
];

/// Installed readers.
pub(super) struct Readers {
    programs: Vec<&'static Reader>,
    python: Option<Python>,
}

impl Readers {
    pub(super) fn installed() -> Self {
        let program = |reader: &&Reader| reader.name.split(' ').next().unwrap();
        Self {
            programs: READERS.iter().filter(|reader| installed(&[program(reader)])).collect(),
            python: installed(&["python3"]).then(Python::start),
        }
    }

    /// Unpacks an archive with each reader that supports it.
    pub(super) fn unpack(&mut self, archive: &Path) -> Vec<Unpacked> {
        let name = archive.to_str().unwrap();
        let is_zstd = archive.extension().is_some_and(|end| end == "zst");
        let is_for_it = |reader: &&&Reader| reader.endings.iter().any(|end| name.ends_with(end));
        let mut all = Vec::new();
        for Reader { name, line, .. } in self.programs.iter().filter(is_for_it) {
            let into = TempDir::new().unwrap();
            let mut command = Command::new("sh");
            command.args(["-c", line, "sh"]).args([archive, into.path()]).stdin(Stdio::null());
            let refusal = complaint(&mut command).err();
            all.push(Unpacked { reader: name, tree: tree(into.path()), refusal });
        }
        if let Some(python) = self.python.as_mut().filter(|_| !is_zstd) {
            let into = TempDir::new().unwrap();
            let refusal = python.unpack(archive, into.path());
            all.push(Unpacked { reader: "python", tree: tree(into.path()), refusal });
        }
        all
    }
}

/// Python's `zipfile` and `tarfile`, in one process for all archives.
struct Python {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

const UNPACK: &str = r#"
import sys, tarfile, zipfile
for line in sys.stdin:
    archive, into = line.rstrip("\n").split("\t")
    try:
        kind = zipfile.ZipFile if archive.endswith(".zip") else tarfile.open
        with kind(archive) as file:
            file.extractall(into)
        print("ok", flush=True)
    except Exception as error:
        print(repr(error), flush=True)
"#;

impl Python {
    fn start() -> Self {
        let mut child = Command::new("python3")
            .args(["-W", "ignore", "-X", "utf8", "-c", UNPACK])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn unpack(&mut self, archive: &Path, into: &Path) -> Option<String> {
        writeln!(self.input, "{}\t{}", archive.display(), into.display()).unwrap();
        let mut said = String::new();
        self.output.read_line(&mut said).unwrap();
        (said != "ok\n").then_some(said)
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Unpacks an archive, if `verify` gives neither errors nor warnings.
pub(super) fn ours(archive: &Path) -> Option<Tree> {
    let options = VerifyOptions { jobs: Some(1), ..VerifyOptions::default() };
    verify(archive, &options).ok().filter(|report| report.findings.is_empty())?;
    let into = TempDir::new().unwrap();
    let options = ExtractOptions { jobs: Some(1), ..ExtractOptions::default() };
    let report = extract(archive, into.path(), &options).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    Some(tree(into.path()))
}

/// Returns the differences between a reader's result and ours, if there are any.
pub(super) fn difference(ours: &Tree, theirs: &Unpacked) -> Option<String> {
    let Unpacked { reader, tree, refusal } = theirs;
    let names = ours.keys().chain(tree.keys().filter(|name| !ours.contains_key(*name)));
    let mut differences: Vec<String> = names
        .filter(|name| ours.get(*name) != tree.get(*name))
        .map(|name| format!("{name:?} is {:?}, for us {:?}", tree.get(name), ours.get(name)))
        .collect();
    differences.extend(refusal.as_ref().map(|said| format!("it fails: {said}")));
    (!differences.is_empty()).then(|| format!("{reader}: {}", differences.join("; ")))
}

fn tree(directory: &Path) -> Tree {
    let mut all = Tree::new();
    let mut below = vec![(directory.to_owned(), String::new())];
    while let Some((directory, prefix)) = below.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            // A name that is not UTF-8 always differs from ours.
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type().unwrap();
            let node = if kind.is_dir() {
                below.push((entry.path(), format!("{name}/")));
                Node::Directory
            } else if kind.is_symlink() {
                Node::Link
            } else if kind.is_file() {
                Node::File(fs::read(entry.path()).unwrap())
            } else {
                Node::Special
            };
            all.insert(name, node);
        }
    }
    all
}
