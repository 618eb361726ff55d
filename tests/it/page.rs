//! Pages of documentation as what they show: files, findings, and commands with their output.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A fenced block: the word behind the fence, and the lines.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) kind: String,
    pub(crate) text: String,
}

pub(crate) fn read(page: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap()
}

/// The blocks of a page in their order.
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

/// A command and the output that stands below it.
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

/// A directory to run commands in, gone when dropped.
#[derive(Debug)]
pub(crate) struct Home {
    directory: TempDir,
    path: String,
    /// Where the last command ended, as in a shell.
    at: RefCell<PathBuf>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let binary = assert_cmd::cargo::cargo_bin!("ra-pack");
        let binaries = binary.parent().unwrap().display();
        let path = format!("{binaries}:{}", std::env::var("PATH").unwrap_or_default());
        let directory = TempDir::new().unwrap();
        let at = RefCell::new(directory.path().to_owned());
        Self { directory, path, at }
    }

    /// One with a copy of `examples/experiment` in it.
    pub(crate) fn with_sample() -> Self {
        let home = Self::new();
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
        let into = home.file("examples/experiment");
        let copied = Command::new("cp").arg("-r").arg(sample).arg(into).status();
        assert!(copied.unwrap().success());
        home
    }

    /// Runs every command of a page; answers how many there were.
    pub(crate) fn run_all(&self, page: &str) -> usize {
        let blocks = blocks(&read(page));
        let sessions = blocks.iter().filter(|block| block.kind == "console");
        sessions.map(|block| self.run(&block.text)).sum()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// Runs the commands of a console block; answers how many there were.
    pub(crate) fn run(&self, text: &str) -> usize {
        let shown = session(text);
        let ended = tempfile::NamedTempFile::new().unwrap();
        for Shown { command, output } in &shown {
            // As on a terminal, where both outputs of every part of a command are seen.
            let ran = Command::new("sh")
                .args(["-c", &format!("exec 2>&1\n{command}\npwd > \"$0\"")])
                .arg(ended.path())
                .env("PATH", &self.path)
                .env("LC_ALL", "C.UTF-8")
                .env_remove("TERM")
                .env_remove("SOURCE_DATE_EPOCH")
                .current_dir(&*self.at.borrow())
                .output()
                .unwrap();
            *self.at.borrow_mut() = fs::read_to_string(ended.path()).unwrap().trim_end().into();
            let printed = String::from_utf8_lossy(&ran.stdout);
            assert_eq!(timeless(printed.trim_end()), timeless(output.trim_end()), "{command}");
        }
        shown.len()
    }
}

/// A text in which how long something took does not matter.
fn timeless(text: &str) -> String {
    let lines = text.lines().map(|line| match line.rsplit_once(", ") {
        Some((before, time)) if time.ends_with(" s)") => format!("{before}, some time)"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
