//! Imports point down only, and each kind of line has one room.
//!
//! The two tables below are the whole rule: a new module is one line in [`ROWS`], a new room one
//! line in [`ROOMS`]. `snippets` proves that each kind of violation is seen.

mod snippets;
mod source;
mod tokens;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use source::Source;

/// What stands on what, highest first: a module sees the rows below its own, and itself.
const ROWS: &[(u8, &[&str])] = &[
    (8, &["cli"]),
    (7, &["ops"]),
    (6, &["archive", "pack"]),
    (5, &["fs"]),
    (4, &["error"]),
    (3, &["interchange", "finding", "manifest_lookup", "manifest_bisect"]),
    (2, &["ra", "ndl", "manifest"]),
    (1, &["allowance", "path", "digest", "parallel", "bisect", "by_name", "progress"]),
];

/// The two crate roots. They stand in no row: `lib` only declares and re-exports, `main` belongs
/// to the binary, as `cli` does.
const LIBRARY_ROOT: &str = "lib";
const BINARY_ROOT: &str = "main";

/// Which lines stand only where. A place is a module: `fs` is `src/fs.rs` and all of `src/fs/`.
const ROOMS: &[(&[Mark], &[&str])] = &[
    // Files.
    // `cli/files` has the lists of names and the manual pages, which are no part of any pack.
    (&[Import("std::fs")], &["fs", "cli/files"]),
    (&[Method("exists"), Method("try_exists"), Method("canonicalize")], &["fs"]),
    (
        &[Method("read_dir"), Method("symlink_metadata"), Import("walkdir"), Import("tempfile")],
        &["fs"],
    ),
    (&[Import("memmap2"), Import("rustix")], &["fs"]),
    // `Pack::map` hands on to its caller what `File::map` demands; the instructions for SHA-256 demand a processor
    // that has them; the binary links the unwinder, which is declared by an empty block.
    (&[Word("unsafe")], &["fs", "ops/open", "digest/sha256/x86", BINARY_ROOT]),
    // Formats.
    (&[Import("zip")], &["archive/zip/read_back", "interchange/npz"]),
    (&[Import("tar")], &["archive/tar"]),
    (&[Import("sha2"), Import("sha1"), Import("md5")], &["digest"]),
    (&[Import("lz4_flex")], &["ra/encoding"]),
    (&[Import("png")], &["interchange/png", "cli/report/png", "cli/report/picture"]),
    (&[Import("saphyr_parser")], &["ndl"]),
    (&[Import("serde_yaml")], &["ndl", "cli/output"]),
    // The command line.
    (
        &[
            Import("clap"),
            Import("clap_complete"),
            Import("clap_mangen"),
            Import("annotate_snippets"),
        ],
        &["cli"],
    ),
    (&[Import("indicatif"), Import("serde_json")], &["cli"]),
    (&[Import("ctrlc"), Import("signal_hook")], &["cli/signals"]),
    (&[Import("terminal_size")], &["cli/output"]),
    (&[Macro("print"), Macro("println"), Import("std::io::stdout")], &["cli/output"]),
    (&[Macro("eprint"), Macro("eprintln"), Import("std::io::stderr")], &["cli/output"]),
    (&[Word("ExitCode"), Import("std::process::exit")], &[BINARY_ROOT]),
    // Ways around the two tables.
    (&[Attribute("path"), Macro("include"), Import("std::process::abort")], &[]),
];

/// How a kind of line is known.
#[derive(Debug, Clone, Copy)]
enum Mark {
    /// This path or one below it, imported or written out.
    Import(&'static str),
    /// This identifier or keyword, anywhere.
    Word(&'static str),
    /// A call of this macro.
    Macro(&'static str),
    /// A call of a method of this name.
    Method(&'static str),
    /// An attribute of this name.
    Attribute(&'static str),
}
use Mark::{Attribute, Import, Macro, Method, Word};

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Import(path) => write!(f, "`{path}`"),
            Word(word) => write!(f, "`{word}`"),
            Macro(name) => write!(f, "`{name}!`"),
            Method(name) => write!(f, "`.{name}()`"),
            Attribute(name) => write!(f, "`#[{name}]`"),
        }
    }
}

/// A line that breaks a rule.
#[derive(Debug)]
struct Violation {
    file: String,
    line: usize,
    what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

fn row(module: &str) -> Option<u8> {
    ROWS.iter().find(|(_, modules)| modules.contains(&module)).map(|(row, _)| *row)
}

/// Checks a whole source tree, given as paths below `src` and texts.
fn check<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Violation> {
    let sources: Vec<_> = files.map(|(file, text)| Source::parse(file, text)).collect();
    let test_modules: BTreeSet<_> = sources.iter().flat_map(Source::test_modules).collect();
    let is_test_code = |source: &&Source| {
        let module = source.module();
        (1..=module.len()).any(|len| test_modules.contains(&module[..len].join("/")))
    };
    let mut violations = Vec::new();
    for source in sources.iter().filter(|source| !is_test_code(source)) {
        check_directions(source, &mut violations);
        check_rooms(source, &mut violations);
    }
    violations
}

fn check_directions(source: &Source, violations: &mut Vec<Violation>) {
    let mut report = |line, what| {
        violations.push(Violation { file: source.file().to_owned(), line, what });
    };
    let own = source.module().first().map_or("", String::as_str);
    if own == LIBRARY_ROOT {
        for line in source.lines_of_word("fn") {
            report(line, "`lib.rs` holds no logic: give this function a module".to_owned());
        }
        return;
    }
    let own_row = row(own);
    if own_row.is_none() && own != BINARY_ROOT {
        report(1, format!("module `{own}` is in no row: list it in `ROWS`"));
        return;
    }
    let in_binary = own == BINARY_ROOT || own == "cli";
    for (line, path) in source.paths() {
        let within_crate = path[0] == "crate" || (path[0] == "ra_pack" && !in_binary);
        if !within_crate {
            continue;
        }
        let target = path.get(1).map_or("*", String::as_str);
        if target == own {
            continue;
        }
        let shown = path.join("::");
        if in_binary && target != "cli" {
            report(line, format!("`{shown}`: the command sees the library only as `ra_pack::`"));
        } else if target == "*" {
            report(line, format!("`{shown}` names the whole crate: name the module"));
        } else if let (Some(own_row), Some(target_row)) = (own_row, row(target)) {
            if target_row > own_row {
                report(line, format!("`{shown}` points up, from row {own_row} to {target_row}"));
            } else if target_row == own_row {
                report(line, format!("`{shown}` points sideways, within row {own_row}"));
            }
        } else if own_row.is_some() {
            report(line, format!("`{shown}`: `{target}` is in no row: name the module it is in"));
        }
    }
}

fn check_rooms(source: &Source, violations: &mut Vec<Violation>) {
    let module = source.module().join("/");
    for (marks, places) in ROOMS {
        let is_at_home = |place: &&str| match module.strip_prefix(place) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        };
        if places.iter().any(is_at_home) {
            continue;
        }
        for mark in *marks {
            let lines = match mark {
                Import(path) => source.lines_of_path(path),
                Word(word) => source.lines_of_word(word),
                Macro(name) => source.lines_of_macro(name),
                Method(name) => source.lines_of_method(name),
                Attribute(name) => source.lines_of_attribute(name),
            };
            for line in lines {
                let what = if places.is_empty() {
                    format!("{mark} has no place here")
                } else {
                    format!("{mark} stands only in src/{}", places.join(", src/"))
                };
                violations.push(Violation { file: source.file().to_owned(), line, what });
            }
        }
    }
}

fn read_sources(directory: &Path, below: &str, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read_sources(&entry.path(), &format!("{name}/"), files);
        } else if Path::new(&name).extension().is_some_and(|extension| extension == "rs") {
            files.push((name, fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

#[test]
fn imports_point_down_and_every_room_is_kept() {
    let mut files = Vec::new();
    read_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut files);
    for expected in ["lib.rs", "main.rs", "path.rs", "digest/mod.rs"] {
        assert!(files.iter().any(|(file, _)| file == expected), "src/{expected} was not read");
    }
    let violations = check(files.iter().map(|(file, text)| (file.as_str(), text.as_str())));
    let report: Vec<_> = violations.iter().map(Violation::to_string).collect();
    assert!(report.is_empty(), "{} violations:\n  {}", report.len(), report.join("\n  "));
}

#[test]
fn every_module_is_in_one_row() {
    let modules: Vec<_> = ROWS.iter().flat_map(|(_, modules)| *modules).collect();
    let distinct: BTreeSet<_> = modules.iter().collect();
    assert_eq!(distinct.len(), modules.len());
    assert!(ROWS.windows(2).all(|pair| pair[0].0 > pair[1].0), "rows stand highest first");
}

#[test]
fn the_page_for_contributors_draws_the_rows() {
    let blocks = crate::page::blocks(&crate::page::read("CONTRIBUTING.md"));
    let drawn = blocks.iter().find(|block| block.kind == "text").unwrap();
    let drawn: Vec<_> = drawn.text.split_whitespace().filter(|word| *word != "|").collect();
    let rows: Vec<_> = ROWS
        .iter()
        .flat_map(|(row, modules)| {
            std::iter::once(row.to_string()).chain(modules.iter().map(ToString::to_string))
        })
        .collect();
    assert_eq!(drawn, rows);
}
