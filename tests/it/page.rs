//! Support: blocks of documentation pages: files, findings, and commands with their output.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs};

use ra_pack::inspect::{ValidateOptions, validate_text};
use ra_pack::ndl;
use tempfile::TempDir;

use crate::python::Python;
use crate::slurm::Slurm;

/// A fenced block: the word after the fence, and the lines.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) kind: String,
    pub(crate) text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

/// Compares a part of a page with the generated text; `RA_PACK_WRITE_DOCS=1` writes it.
#[track_caller]
pub(crate) fn check(page: &str, shown: &str, now: &str) {
    static WRITING: Mutex<()> = Mutex::new(());
    if env::var_os("RA_PACK_WRITE_DOCS").is_none() {
        assert_eq!(
            shown, now,
            "{page}: `RA_PACK_WRITE_DOCS=1 cargo test generated -- --include-ignored` writes it"
        );
    } else if shown != now {
        let _held = WRITING.lock().unwrap();
        let (before, after) =
            read(page).split_once(shown).map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        fs::write(root().join(page), [&before, now, &after].concat()).unwrap();
    }
}

/// Compares a whole page with the generated text.
#[track_caller]
pub(crate) fn check_page(page: &str, now: &str) {
    check(page, &read(page), now);
}

/// Compares tables, which begin with a row that occurs once on the page.
#[track_caller]
pub(crate) fn check_tables(page: &str, tables: &str) {
    let text = read(page);
    let first = tables.lines().next().unwrap();
    let at = text.find(first).unwrap_or_else(|| panic!("{page} should have:\n\n{tables}"));
    let shown: Vec<_> = text[at..].split("\n\n").take(tables.split("\n\n").count()).collect();
    check(page, &format!("{}\n", shown.join("\n\n").trim_end()), tables);
}

/// Returns the findings of a document, one per line.
fn findings(text: &str) -> String {
    let report = validate_text(text.as_bytes(), &ValidateOptions::default());
    let findings = report.findings.into_iter().map(|mut finding| {
        finding.member = None;
        finding.to_string() + "\n"
    });
    findings.collect()
}

/// Returns the blocks of a page in order.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(kind), None) => {
                open = Some(Block { kind: kind.to_owned(), text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text = format!("{}{line}\n", block.text),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block without an end");
    blocks
}

/// A command and its output.
#[derive(Debug)]
struct Shown {
    command: String,
    output: String,
}

fn session(text: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => {
                shown.push(Shown { command: command.to_owned(), output: String::new() });
            }
            None => {
                let last = shown.last_mut().expect("output follows a command");
                last.output.push_str(line);
                last.output.push('\n');
            }
        }
    }
    shown
}

/// Temporary directory to run commands in.
#[derive(Debug)]
pub(crate) struct Home {
    directory: TempDir,
    path: String,
    /// The web server of the hosts on the page.
    proxy: Option<String>,
    /// Working directory after the last command, as in a shell.
    at: RefCell<PathBuf>,
    /// A cluster of one machine, if the page needs one.
    slurm: RefCell<Option<Slurm>>,
}

impl Home {
    /// Creates a directory with copies of the examples that pages name.
    pub(crate) fn new() -> Self {
        let binary = assert_cmd::cargo::cargo_bin!("ra-pack");
        let binaries = binary.parent().unwrap().display();
        // The Python of the tests has the modules that pages use.
        let python = env::var("RA_PACK_TEST_PYTHON").unwrap_or_default();
        let python =
            Path::new(&python).parent().map_or(String::new(), |bin| bin.display().to_string());
        let path = format!("{binaries}:{python}:{}", env::var("PATH").unwrap_or_default());
        // References contain this path, and pages show their size: it has one length in any environment.
        let directory = TempDir::new_in("/tmp").unwrap();
        let at = RefCell::new(directory.path().to_owned());
        let home = Self { directory, path, proxy: None, at, slurm: RefCell::new(None) };
        for example in ["experiment", "import", "ocean", "profiles", "readers"]
            .map(|name| format!("examples/{name}"))
        {
            home.copy(&example, &example);
        }
        home
    }

    fn copy(&self, from: &str, to: &str) {
        let (from, to) = (root().join(from), self.file(to));
        assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
    }

    fn file(&self, name: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// Answers the requests of commands to any `http` host with the server at this address.
    pub(crate) fn with_server(mut self, address: &str) -> Self {
        self.proxy = Some(format!("http://{address}"));
        self
    }

    /// Runs Python programs of the tests that write the files a page begins with.
    pub(crate) fn prepare(&self, python: &Python, programs: &[&str]) {
        for program in programs {
            let program = root().join(program);
            let ran = python.command().arg(program).current_dir(self.directory.path()).output();
            let ran = ran.unwrap();
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        }
    }

    /// Runs the commands of a page and reads its descriptions, in order, and checks the outputs on the page.
    pub(crate) fn show(&self, page: &str) {
        let text = read(page);
        if page.starts_with("docs/spec/") {
            self.copy("tests/vectors", "vectors");
        }
        if text.contains("$ sbatch ") {
            *self.slurm.borrow_mut() = Some(Slurm::start(&self.path));
        }
        let blocks = blocks(&text);
        for (at, Block { kind, text }) in blocks.iter().enumerate() {
            let shown = blocks.get(at + 1).filter(|next| next.kind == "text");
            match (&**kind, named(text, kind)) {
                ("console", _) => self.run(page, text),
                ("python" | "sh", Some(name)) => fs::write(self.file(name), text).unwrap(),
                // A file of a directory: its coordinates may be in other files.
                ("yaml", Some(name)) => {
                    assert_eq!(ndl::parse(text.as_bytes()).findings, [], "{text}");
                    fs::write(self.file(name), text).unwrap();
                }
                ("yaml", None) => match shown {
                    Some(shown) => check(page, &shown.text, &findings(text)),
                    None => assert_eq!(findings(text), "", "{text}"),
                },
                ("text", _) => assert_eq!(blocks[at - 1].kind, "yaml", "{text}"),
                _ => {}
            }
        }
    }

    /// Runs the commands of a console block.
    fn run(&self, page: &str, text: &str) {
        let ended = tempfile::NamedTempFile::new().unwrap();
        for Shown { command, output } in session(text) {
            // Collects both outputs of all parts of a command, as on a terminal.
            let ran = Command::new("sh")
                .args(["-c", &format!("exec 2>&1\n{command}\npwd > \"$0\"")])
                .arg(ended.path())
                .envs(self.slurm.borrow().iter().map(Slurm::variable))
                .env("PATH", &self.path)
                .env("LC_ALL", "C.UTF-8")
                .env("http_proxy", self.proxy.as_deref().unwrap_or_default())
                .env_remove("TERM")
                .env_remove("SOURCE_DATE_EPOCH")
                .current_dir(&*self.at.borrow())
                .output()
                .unwrap();
            *self.at.borrow_mut() = fs::read_to_string(ended.path()).unwrap().trim_end().into();
            let printed = String::from_utf8_lossy(&ran.stdout);
            if timeless(printed.trim_end()) != timeless(output.trim_end()) {
                let now =
                    format!("$ {command}\n{}", printed.trim_end()).trim_end().to_owned() + "\n";
                check(page, &format!("$ {command}\n{output}"), &now);
            }
        }
    }
}

/// Returns the file name of a description or a program. Scripts have it in their second line.
fn named<'t>(text: &'t str, kind: &str) -> Option<&'t str> {
    let end = if kind == "python" { "py" } else { kind };
    let name = text.lines().find(|line| !line.starts_with("#!"))?.strip_prefix("# ")?;
    (Path::new(name).extension()? == end).then_some(name)
}

/// Removes durations and dates of verifications from a text.
fn timeless(text: &str) -> String {
    const DATED: &str = "last good ";
    let lines = text.lines().map(|line| match (line.rsplit_once(", "), line.split_once(DATED)) {
        (Some((before, time)), _) if time.ends_with(" s)") => format!("{before})"),
        (_, Some((before, dated))) => format!("{before}{DATED}{}", &dated["2026-01-01".len()..]),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
